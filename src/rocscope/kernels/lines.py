"""Compiled loops over the points of a curve: areas, and distances from lines."""

from rocscope.kernels.kernel import Kernel


@Kernel
def farthest(tp, fp, ends, start_tp, start_fp, up, right):
    """Return how far points of counts lie at most from their lines, each from a start, where a count moves them so far.

    The points before `ends[i + 1]` are of line i, or of one before it.
    """
    worst = 0.0
    first = 0
    for line in range(up.size):
        last = min(ends[line + 1], tp.size)
        for i in range(first, last):
            error = abs(up[line] * (tp[i] - start_tp[line]) - right[line] * (fp[i] - start_fp[line]))
            worst = max(worst, error)
        first = max(first, last)
    return worst


@Kernel
def reach(tp, fp, n_pos, n_neg, wanted, level):
    """Write the first point where tp / n_pos + fp / n_neg, which never falls, is as large as each of rising numbers.

    Returns how many of these are reached.
    """
    found = 0
    first = 0
    end = tp[tp.size - 1] / n_pos + fp[tp.size - 1] / n_neg
    while found < wanted.size and wanted[found] <= end:
        last = tp.size - 1
        while first < last:
            middle = (first + last) // 2
            if tp[middle] / n_pos + fp[middle] / n_neg < wanted[found]:
                first = middle + 1
            else:
                last = middle
        level[found] = first
        found += 1
    return found


@Kernel
def gain(tp, fp, before):
    """Return the sum of precisions, each as often as positives come in with its level, `before` being there already."""
    gained = 0.0
    for i in range(tp.size):
        gained += (tp[i] - before) * (tp[i] / (tp[i] + fp[i]))
        before = tp[i]
    return gained
