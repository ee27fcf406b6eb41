"""Compiled loops for more than two classes."""

import numpy as np

from rocscope.kernels.kernel import Kernel


@Kernel
def ranks_sum(pos, neg):
    """Sum over `neg` the number of `pos` below it and not above it; both are increasing."""
    # Twice the Mann-Whitney statistic: a tie counts 1 and a concordant pair 2, so that the sum is a whole number.
    below = 0
    not_above = 0
    total = 0
    for value in neg:
        while below < len(pos) and pos[below] < value:
            below += 1
        not_above = max(not_above, below)
        while not_above < len(pos) and pos[not_above] <= value:
            not_above += 1
        total += below + not_above
    return total


@Kernel
def count_predicted(y, proba, weight, class_weight, counts):
    """Add the weight of each row to the cell of its class and of the first class with the largest w·p."""
    for row in range(y.size):
        best = -1.0
        chosen = 0
        for cls in range(proba.shape[1]):
            value = proba[row, cls] * class_weight[cls]
            # Strictly larger: of equal classes the first is predicted, as by `argmax`.
            if value > best:
                best = value
                chosen = cls
        counts[y[row], chosen] += weight[row]


@Kernel
def rivals(y, proba, class_weight, cls, cell, change):
    """Write for each row k times its class plus the first other class with the largest w·p, and that w·p/p_cls."""
    k = proba.shape[1]
    for row in range(y.size):
        best = -1.0
        chosen = 0
        for other in range(k):
            value = proba[row, other] * class_weight[other]
            if other != cls and value > best:
                best = value
                chosen = other
        cell[row] = y[row] * k + chosen
        own = proba[row, cls]
        # No weight makes a class the prediction where its probability is 0.
        change[row] = best / own if own > 0 else np.inf


@Kernel
def add_cells(cell, weight, counts):
    """Add the weight of each row to its cell."""
    for row in range(cell.size):
        counts[cell[row]] += weight[row]


@Kernel
def climb(order, cell, weight, cls, gain, support, least_hits, hits, predicted, lacking, value):
    """Change rows to `cls` in order; write the missing amount and the value after each.

    Without `gain` (no rows) the value is the sum of F1 over the classes with support.
    """
    k = support.size
    for i in range(order.size):
        row = order[i]
        amount = weight[row]
        y = cell[row] // k
        other = cell[row] % k
        # A row moves between two classes only: their old terms are subtracted and the new ones added.
        lack = lacking[i]
        total = value[i]
        for c in (cls, other):
            lack -= max(least_hits[c] - hits[c], 0.0)
            if gain.shape[0] == 0 and support[c] > 0:
                # F1 = 2·tp / (2·tp + fn + fp), which is 2·hits / (support + predicted).
                total -= 2 * hits[c] / (support[c] + predicted[c])
        hits[cls] += amount * (y == cls)
        hits[other] -= amount * (y == other)
        predicted[cls] += amount
        predicted[other] -= amount
        for c in (cls, other):
            lack += max(least_hits[c] - hits[c], 0.0)
            if gain.shape[0] == 0 and support[c] > 0:
                total += 2 * hits[c] / (support[c] + predicted[c])
        if gain.shape[0] > 0:
            total += amount * (gain[y, cls] - gain[y, other])
        lacking[i + 1] = lack
        value[i + 1] = total
