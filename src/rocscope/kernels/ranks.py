"""Compiled loops over ranked rows of weight 1 and points of counts: levels, hull, precision, distances from lines."""

import numpy as np

from rocscope.kernels.kernel import Kernel

SLICE = 1 << 12
"""Number of rows whose data fit the first-level cache."""


@Kernel
def ordered(b, top, kind):
    """Return the bits of a score as an integer of the same order; `top` is the highest bit, and -0.0 becomes 0.0.

    `kind` is 0 for unsigned, 1 for signed and 2 for floating-point scores.
    """
    if kind == 0:
        return b
    if kind == 1:
        return b ^ top
    # Floats order as sign and magnitude: negative ones are reversed. In plain Python ~b is -b - 1, to which
    # top + top = 2^width is missing; in integers of that width it adds 0. -0.0 has the bits `top`, as has 0.0 | top.
    return b | top if b <= top else ~b + top + top


@Kernel
def scan(keys, last, tp, rows, code, block_tp, block_fp):
    """Count cumulatively, downwards from `keys[last]`, until the block is full of distinct scores.

    A level is overwritten until its last row, which costs no branch. Returns the number of levels written, the index
    to go on from, and the positives and rows so far.
    """
    one = keys.dtype.type(1)
    # Differs from the first score whatever that is.
    previous = ~(keys[last] >> one)
    level = -1
    i = last
    while i >= 0:
        value = keys[i] >> one
        level += np.int64(value != previous)
        if level == code.size:
            break
        previous = value
        tp += np.int64(keys[i] & one)
        rows += 1
        code[level] = value
        block_tp[level] = tp
        block_fp[level] = rows - tp
        i -= 1
    return min(level + 1, code.size), i, tp, rows


@Kernel
def count_levels(keys):
    """Return the numbers of levels, positives and rows of sorted keys."""
    one = keys.dtype.type(1)
    levels = 1
    pos = np.int64(keys[0] & one)
    for i in range(1, keys.size):
        # More than the lowest bit, which is the label, differs.
        levels += np.int64((keys[i] ^ keys[i - 1]) > one)
        pos += np.int64(keys[i] & one)
    return levels, pos, keys.size


@Kernel
def count_pairs(tp, fp, block_tp, block_fp):
    """Return the concordant and tied pairs of the negatives in a block that starts after `tp` and `fp`."""
    concordant = 0
    tied = 0
    for i in range(len(block_tp)):
        neg = block_fp[i] - fp
        concordant += neg * tp
        tied += neg * (block_tp[i] - tp)
        tp = block_tp[i]
        fp = block_fp[i]
    return concordant, tied


@Kernel
def count_positives(keys):
    """Return the number of keys with a positive label; vectorised, which also loads the cache."""
    one = keys.dtype.type(1)
    n_pos = np.int32(0)
    for i in range(keys.size):
        n_pos += np.int32(keys[i] & one)
    return np.int64(n_pos)


@Kernel
def count_key_pairs(keys):
    """Return the concordant pairs of increasing keys, those plus the tied ones, and the number of negatives.

    At equal scores negatives come first, so that negatives before a positive are ranked below it or tied with it.
    Nothing is decided by a branch. A slice is read at once before that goes row by row, which would wait for memory.
    """
    one = keys.dtype.type(1)
    concordant, not_above, neg, below, previous = 0, 0, 0, 0, keys[0]
    for start in range(0, keys.size, SLICE):
        own = keys[start : start + SLICE]
        # Reads the slice in one sweep, which brings it to the cache.
        after = neg + own.size - count_positives(own)
        for i in range(own.size):
            key = own[i]
            is_neg = np.int64(~key & one)
            below = below if (key ^ previous) <= one else neg
            concordant += 0 if is_neg else below
            not_above += 0 if is_neg else neg
            neg += is_neg
            previous = key
        neg = after
    return concordant, not_above, neg


@Kernel
def push_hull(tp, fp, code, top, block_tp, block_fp, block_code):
    """Extend an upper hull, stored as a stack of (tp, fp, code) with its top at `top`, by a block of points.

    A vertex is dropped when the next point lies on or above the line through it, so no three are collinear. Only
    corners, reached upwards and left to the right, can be vertices: sorting them out first without a branch halves
    the time.
    """
    n = len(block_tp)
    corner = np.empty(n, np.int64)
    corners = 0
    before = tp[top]
    for i in range(n - 1):
        corner[corners] = i
        corners += (block_tp[i] > before) & (block_fp[i + 1] > block_fp[i])
        before = block_tp[i]
    corner[corners] = n - 1
    for j in range(corners + 1):
        i = corner[j]
        t = block_tp[i]
        f = block_fp[i]
        # Slopes are compared by products of counts, at most n_pos·n_neg: below 2^63 for up to 6·10^9 rows.
        while top > 0 and (tp[top] - tp[top - 1]) * (f - fp[top]) <= (t - tp[top]) * (fp[top] - fp[top - 1]):
            top -= 1
        top += 1
        tp[top] = t
        fp[top] = f
        code[top] = block_code[i]
    return top


@Kernel
def venn_abers(pos, total, low, high):
    """Write the isotonic fit of each level after adding one row to it: a negative (low) or a positive (high).

    Levels by increasing score. The blocks of all levels up to one, and of all levels from it, are kept as chains: a
    block points to the next one outwards. With the added row only a few of the nearest blocks pool.
    """
    k = pos.size
    left_pos, left_total, left_next = pos.copy(), total.copy(), np.empty(k, np.int64)
    for i in range(k):
        j = i - 1
        # Pool adjacent violators: shares a/n >= b/m are compared as a·m >= b·n, exactly for whole numbers.
        while j >= 0 and left_pos[j] * left_total[i] >= left_pos[i] * left_total[j]:
            left_pos[i] += left_pos[j]
            left_total[i] += left_total[j]
            j = left_next[j]
        left_next[i] = j
    right_pos, right_total, right_next = pos.copy(), total.copy(), np.empty(k, np.int64)
    for i in range(k - 1, -1, -1):
        j = i + 1
        while j < k and right_pos[i] * right_total[j] >= right_pos[j] * right_total[i]:
            right_pos[i] += right_pos[j]
            right_total[i] += right_total[j]
            j = right_next[j]
        right_next[i] = j
    for i in range(k):
        # The fit with one row more follows from the chains: pool the neighbours until they no longer violate the order.
        for label in range(2):
            p = pos[i] + label
            t = total[i] + 1
            left = i - 1
            right = i + 1
            pooling = True
            while pooling:
                pooling = False
                if left >= 0 and left_pos[left] * t >= p * left_total[left]:
                    p += left_pos[left]
                    t += left_total[left]
                    left = left_next[left]
                    pooling = True
                if right < k and p * right_total[right] >= right_pos[right] * t:
                    p += right_pos[right]
                    t += right_total[right]
                    right = right_next[right]
                    pooling = True
            if label == 0:
                low[i] = p / t
            else:
                high[i] = p / t


@Kernel
def tally(number, place, size, unit, out):
    """Count in each row of `out` how often each unit was drawn: `number` draws from each block of `size` rows.

    `place[r]` holds which rows of the blocks, one block after the other; `unit[i]` is the unit of row i of all.
    """
    seen = np.zeros(size, np.int64)
    for r in range(place.shape[0]):
        j = 0
        for block in range(number.shape[1]):
            for _ in range(number[r, block]):
                seen[place[r, j]] += 1
                j += 1
            start = block * size
            # Block by block, so that the counters stay in the cache; each is 0 again for the next.
            for i in range(min(size, unit.size - start)):
                out[r, unit[start + i]] += seen[i]
                seen[i] = 0


@Kernel
def tally_right(number, place, size, row, above, not_below, reached, right):
    """Add twice the concordant plus tied pairs of each sample of rows, drawn as `tally` says from row `row` on.

    Rows are the positives, then the negatives, both by decreasing score. `above` and `not_below` are, for each
    negative, the numbers of positives with a higher score, and with a score that is not lower. `reached` gets the
    number of positives drawn before each positive and, last, of all positives drawn. The counters stay in the nearest
    cache.
    """
    seen = np.zeros(size, np.int32)
    for r in range(place.shape[0]):
        own_place, own_reached, n_pos = place[r], reached[r], reached.shape[1] - 1
        draw, first, total = np.uint64(0), row, 0
        for n_drawn in number[r]:
            end = draw + np.uint64(n_drawn)
            while draw < end:  # unsigned: that no index counts from the end need not be asked, a third of the time
                seen[np.uint64(own_place[draw])] += 1
                draw += np.uint64(1)
            n_here = min(size, n_pos + above.size - first)
            pos_here = min(max(n_pos - first, 0), n_here)
            pos = own_reached[min(first, n_pos)]
            for i in range(pos_here):
                pos += seen[i]
                own_reached[first + i + 1] = pos
            own_neg = seen[pos_here:n_here]
            neg = first + pos_here - n_pos
            own_above, own_not_below = above[neg : neg + own_neg.size], not_below[neg : neg + own_neg.size]
            for i in range(own_neg.size):
                # 2·concordant + tied = (positives above) + (positives not below): no half is needed for ties.
                twice = np.int64(own_reached[own_above[i]]) + np.int64(own_reached[own_not_below[i]])
                total += np.int64(own_neg[i]) * twice
            seen[:] = 0
            first += n_here
        right[r] += total


@Kernel
def count_right(pos, neg, right):
    """Write for each row of counts twice the concordant plus tied pairs."""
    for r in range(pos.shape[0]):
        above = pos[r, 0] * 0
        total = above * neg[r, 0]
        for level in range(pos.shape[1]):
            total += neg[r, level] * (2 * above + pos[r, level])
            above += pos[r, level]
        right[r] = total


@Kernel
def farthest(tp, fp, ends, start_tp, start_fp, up, right):
    """Return the largest distance of points of counts from their lines, given starts and scales.

    The points before `ends[i + 1]` are of line i, or of one before it.
    """
    # The scales hold the slope of the line, so that the error needs no division here.
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
    """Write the first point at which tp / n_pos + fp / n_neg reaches each of increasing numbers.

    Returns how many of these are reached.
    """
    reached = 0
    first = 0
    end = tp[tp.size - 1] / n_pos + fp[tp.size - 1] / n_neg
    while reached < wanted.size and wanted[reached] <= end:
        last = tp.size - 1
        # The wanted numbers increase: the search goes on from the last place.
        while first < last:
            middle = (first + last) // 2
            if tp[middle] / n_pos + fp[middle] / n_neg < wanted[reached]:
                first = middle + 1
            else:
                last = middle
        level[reached] = first
        reached += 1
    return reached


@Kernel
def gain(tp, fp, before):
    """Return the sum of precisions weighted by the positives of each level, after `before`."""
    gained = 0.0
    for i in range(tp.size):
        # Average precision: the precision at a level counts once for each of its positives.
        gained += (tp[i] - before) * (tp[i] / (tp[i] + fp[i]))
        before = tp[i]
    return gained
