"""Compiled loops over matrices with one sample in each row and one distinct score in each column."""

import numpy as np

from rocscope.kernels.kernel import Kernel

BINS = 256
"""Largest number of bins in the search for a quantile of distances; at most one per level. 1,024 took longer."""


@Kernel
def isotonic(pos, total, fitted):
    """Write, for each sample, the isotonic regression of the share of positives, by pooling adjacent violators."""
    levels = pos.shape[1]
    happened, size, share, end = np.empty(levels), np.empty(levels), np.empty(levels), np.empty(levels, np.int64)
    for sample in range(pos.shape[0]):
        blocks = 0
        for level in range(levels):
            a, n = pos[sample, level], total[sample, level]
            # Equal shares are pooled too. Cross products of shares could overflow.
            while blocks > 0 and share[blocks - 1] >= a / n:
                blocks -= 1
                a += happened[blocks]
                n += size[blocks]
            happened[blocks], size[blocks], share[blocks], end[blocks] = a, n, a / n, level + 1
            blocks += 1
        first = 0
        for block in range(blocks):
            fitted[sample, first : end[block]] = share[block]
            first = end[block]


@Kernel
def excess(pos, total, at, own, regret):
    """Write, for each sample and each proportion in `at`, the cost of a choice minus the lowest possible cost.

    The choice is to act on column `own` and all later columns. The lowest cost is the minimum over all first columns.
    """
    for sample in range(pos.shape[0]):
        for point in range(at.size):
            cost = least = here = 0.0
            for level in range(pos.shape[1]):
                if level == own[point]:
                    here = cost
                a = pos[sample, level]
                cost += (1 - at[point]) * a - at[point] * (total[sample, level] - a)
                least = min(least, cost)
            regret[sample, point] = (cost if own[point] == pos.shape[1] else here) - least


@Kernel
def combine(values, rows, parts, combined):
    """Write weighted sums for each sample: combined[sample, c] = Σ_t parts[t, c] · values[sample, rows[t, c]]."""
    for sample in range(combined.shape[0]):
        for level in range(combined.shape[1]):
            total = 0.0
            for term in range(rows.shape[0]):
                total += parts[term, level] * values[sample, rows[term, level]]
            combined[sample, level] = total


@Kernel
def successes(uniform, trials, chances, exact, drawn):
    """Write quantiles of binomial distributions at the probabilities in `uniform`, one table for each row of `chances`.

    `uniform` has one row per level, so that samples are neighbours in memory. Chances are used where `exact` is True.
    """
    samples = uniform.shape[1]
    at, rare_count = np.empty(samples), np.empty(samples)
    for level in range(trials.size):
        for curve in range(chances.shape[0]):
            if not exact[curve, level]:
                continue
            # The rarer outcome of a trial is counted, so that its probabilities are summed from 0. If failures are
            # rarer, the number of failures is the quantile at 1 - u.
            flipped = chances[curve, level] > 0.5
            rare = 1 - chances[curve, level] if flipped else chances[curve, level]
            odds, highest = rare / (1 - rare), 0.0
            for sample in range(samples):
                at[sample] = 1 - uniform[level, sample] if flipped else uniform[level, sample]
                rare_count[sample] = 0
                highest = max(highest, at[sample])
            probability = cumulative = (1 - rare) ** trials[level]
            count = 0.0
            while count < trials[level] and highest > cumulative and probability > 0:
                for sample in range(samples):
                    # The quantile is the number of cumulative chances below u, counted without a branch.
                    rare_count[sample] += at[sample] > cumulative
                # P(k) = P(k - 1) · odds · (n - k + 1) / k, from P(0) = (1 - p)^n on.
                count += 1
                probability = probability * odds * (trials[level] - count + 1) / count
                cumulative += probability
            for sample in range(samples):
                drawn[curve, sample, level] = trials[level] - rare_count[sample] if flipped else rare_count[sample]


@Kernel
def selected(distance, size, bin_of, reached, held, row):
    """Return the smallest distance d for which more than `row` rows have a distance ≤ d, and the number of these rows.

    If there is none, return the largest distance.
    """
    chosen = 0
    # Sizes may be sums of rounded weights: a total within 1e-9 of the row counts as equal to it.
    while chosen < reached.size - 1 and reached[chosen] <= row + 1e-9:
        chosen += 1
    while chosen > 0 and reached[chosen] == reached[chosen - 1]:
        chosen -= 1  # past the last row: go back to the last bin that is not empty
    before, count = reached[chosen - 1] if chosen > 0 else 0.0, 0
    for level in range(distance.size):
        if bin_of[level] == chosen:
            held[count] = level
            count += 1
    # A bin contains few levels, so repeated selection of the smallest distance is faster than sorting.
    last = -1.0
    while count > 0:
        nearest = 0
        for i in range(1, count):
            if distance[held[i]] < distance[held[nearest]]:
                nearest = i
        last = distance[held[nearest]]
        before += size[held[nearest]]
        if before > row + 1e-9:
            break
        count -= 1
        held[nearest] = held[count]
    return last, before


@Kernel
def quantiles(distance, size, shares, quantile):
    """Write, for each sample, quantiles of distances, interpolated between neighbouring distances (type 7).

    `distance` and `size` have one row for each sample. `size` is the number of rows, or their weight, with a distance.
    Rows are first counted in bins of the distance (`reached`), so that only one bin is searched for each quantile.
    """
    levels = distance.shape[1]
    bin_of, held, reached = np.empty(levels, np.int64), np.empty(levels, np.int64), np.empty(min(BINS, levels))
    bins = reached.size  # `held` is memory for `selected`
    for sample in range(distance.shape[0]):
        most = distance[sample].max()
        scale = bins / most if most > 0 else 0.0
        reached[:] = 0
        for level in range(levels):
            # The largest distance belongs to the last bin; NaN converts to the least integer.
            bin_of[level] = min(max(int(distance[sample, level] * scale), 0), bins - 1)
            reached[bin_of[level]] += size[sample, level]
        for i in range(1, bins):
            reached[i] += reached[i - 1]
        for i in range(shares.size):
            # Type 7 of Hyndman & Fan 1996: the quantile q of n rows lies at q·(n - 1), between its neighbours.
            # Weights may sum to less than one row, and `below` may exceed `place` by 1e-9: both are clipped.
            place = shares[i] * max(reached[bins - 1] - 1, 0.0)
            below = np.floor(place + 1e-9)
            low, rows = selected(distance[sample], size[sample], bin_of, reached, held, below)
            high = low  # most often the next row has the same distance
            if rows <= below + 1 + 1e-9:
                high, _ = selected(distance[sample], size[sample], bin_of, reached, held, below + 1)
            quantile[sample, i] = low + min(max(place - below, 0.0), 1.0) * (high - low)


@Kernel
def find_places(ascending, starts, scale, values, places):
    """Write, for each value, how many of the distinct numbers in `ascending` are below it.

    The range is divided into cells of equal width, and only one cell is searched for each value. `starts` contains, for
    each cell, how many numbers in `ascending` are below the cell.
    """
    first, last = ascending[0], starts.size - 2
    for i in range(values.size):
        # Values outside the range use the first or the last cell.
        cell = np.int64(max(min((values[i] - first) * scale, last), 0))
        low, high = starts[cell], starts[cell + 1]
        while low < high:
            middle = (low + high) >> 1
            if ascending[middle] < values[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low
