"""Compiled loops over sorted rows without weights, and over cumulative counts: pairs, hull and precision.

A *key* contains the ordered bits of a score and a label (see `parts.pack`). A *level* is a distinct score.
"""

import numpy as np

from rocscope.kernels.kernel import Kernel

SLICE = 1 << 12
"""Number of rows whose data fit in the first-level cache."""


@Kernel
def ordered(b, top, kind):
    """Return the ordered bits of a score: an unsigned integer that increases with the score.

    `b` contains the bits of the score, and `top` only the highest bit. `kind` is 0 for unsigned, 1 for signed and 2 for
    floating-point scores. -0.0 is treated as 0.0.
    """
    if kind == 0:
        return b
    if kind == 1:
        return b ^ top
    # Floats are stored as sign and magnitude, so the order of negative floats is reversed. In plain Python ~b is
    # -b - 1, and adding top + top = 2^width makes it positive; in integers of this width the sum adds 0. The bits of
    # -0.0 are `top`, which equals 0.0 | top.
    return b | top if b <= top else ~b + top + top


@Kernel
def scan(keys, last, tp, rows, code, block_tp, block_fp):
    """Count rows cumulatively from `keys[last]` downwards, until the block has no space for another level.

    Each row overwrites the counts of its level, which avoids a branch. Returns the number of levels in the block, the
    index of the next row, and the numbers of positives and of rows so far.
    """
    one = keys.dtype.type(1)
    # This value differs from the first score.
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
    """Return the numbers of levels, of positives and of rows, given sorted keys."""
    one = keys.dtype.type(1)
    levels = 1
    pos = np.int64(keys[0] & one)
    for i in range(1, keys.size):
        # The score differs if a bit above the lowest bit differs; the lowest bit is the label.
        levels += np.int64((keys[i] ^ keys[i - 1]) > one)
        pos += np.int64(keys[i] & one)
    return levels, pos, keys.size


@Kernel
def count_pairs(tp, fp, block_tp, block_fp):
    """Return the number of concordant pairs and of tied pairs, for the negatives in a block of cumulative counts.

    `tp` and `fp` are the numbers of positives and negatives before the block.
    """
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
    """Return the number of keys with a positive label. The loop is vectorised, and it loads the keys into the cache."""
    one = keys.dtype.type(1)
    n_pos = np.int32(0)
    for i in range(keys.size):
        n_pos += np.int32(keys[i] & one)
    return np.int64(n_pos)


@Kernel
def count_key_pairs(keys):
    """Return the numbers of concordant pairs, of concordant or tied pairs, and of negatives, given increasing keys.

    Among equal scores, negatives come first. So each negative before a positive has a lower or an equal score. The loop
    has no branches. Each slice is first loaded into the cache, so that the loop over rows does not wait for memory.
    """
    one = keys.dtype.type(1)
    concordant, not_above, neg, below, previous = 0, 0, 0, 0, keys[0]
    for start in range(0, keys.size, SLICE):
        own = keys[start : start + SLICE]
        # Counting the positives also loads the slice into the cache.
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
    """Extend an upper hull by a block of points, and return the index of its last vertex.

    The hull is a stack of (tp, fp, code). Its last vertex is at index `top`. A vertex is dropped if it is on or below
    the line from the previous vertex to the next point, so no three vertices are on one line. Only a corner can be a
    vertex: the step to a corner goes up, and the next step goes right. Corners are selected first, without a branch,
    which halves the time.
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
    """Write the isotonic fit at each level after one row is added there: a negative (`low`) or a positive (`high`).

    Levels are in increasing order of scores. For each level, there are two linked lists: the pooled blocks of all lower
    levels, and the pooled blocks of all higher levels. The added row changes only a few of the nearest blocks.
    """
    k = pos.size
    left_pos, left_total, left_next = pos.copy(), total.copy(), np.empty(k, np.int64)
    for i in range(k):
        j = i - 1
        # Pool adjacent violators: a/n >= b/m is compared as a·m >= b·n, which is exact for integers.
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
        # Pool the neighbouring blocks with the added row until none violates the order.
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
    """Count how often each unit was drawn in each sample. `out` has one row per sample and one column per unit.

    Rows are divided into blocks of `size` rows. In sample r, `number[r, b]` rows are drawn from block b. `place[r]`
    contains the drawn rows as indices within their block. `unit[i]` is the unit of row i.
    """
    seen = np.zeros(size, np.int64)
    for r in range(place.shape[0]):
        j = 0
        for block in range(number.shape[1]):
            for _ in range(number[r, block]):
                seen[place[r, j]] += 1
                j += 1
            start = block * size
            # Counting block by block keeps the counters in the cache; they are reset to 0 for the next block.
            for i in range(min(size, unit.size - start)):
                out[r, unit[start + i]] += seen[i]
                seen[i] = 0


@Kernel
def tally_right(number, place, size, row, above, not_below, reached, right):
    """For each sample, add twice the number of concordant pairs plus the number of tied pairs to `right`.

    Samples are drawn as in `tally`, starting at row `row`. The rows are first the positives and then the negatives,
    each in decreasing order of scores. For each negative, `above` is the number of positives with a higher score, and
    `not_below` is the number of positives with a higher or equal score. `reached` receives the number of drawn
    positives before each positive. Its last entry is the number of all drawn positives.
    """
    seen = np.zeros(size, np.int32)
    for r in range(place.shape[0]):
        own_place, own_reached, n_pos = place[r], reached[r], reached.shape[1] - 1
        draw, first, total = np.uint64(0), row, 0
        for n_drawn in number[r]:
            end = draw + np.uint64(n_drawn)
            while draw < end:  # an unsigned index needs no test for negative values, which saves a third of the time
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
    """For each row of counts, write twice the number of concordant pairs plus the number of tied pairs."""
    for r in range(pos.shape[0]):
        above = pos[r, 0] * 0
        total = above * neg[r, 0]
        for level in range(pos.shape[1]):
            total += neg[r, level] * (2 * above + pos[r, level])
            above += pos[r, level]
        right[r] = total


@Kernel
def farthest(tp, fp, ends, start_tp, start_fp, up, right):
    """Return the largest distance between the points (fp, tp) and the lines to which they belong.

    Line i starts at (`start_fp[i]`, `start_tp[i]`) and has the scales `up[i]` and `right[i]`. All points before
    `ends[i + 1]` that do not belong to an earlier line belong to line i.
    """
    # The scales contain the slope of the line, so no division is necessary here.
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
    """Write, for each number in `wanted`, the index of the first point with tp / n_pos + fp / n_neg ≥ this number.

    The numbers in `wanted` increase. Returns the number of indices that were written.
    """
    reached = 0
    first = 0
    end = tp[tp.size - 1] / n_pos + fp[tp.size - 1] / n_neg
    while reached < wanted.size and wanted[reached] <= end:
        last = tp.size - 1
        # The wanted numbers increase, so the search continues from the last index.
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
    """Return the sum over all levels of the precision times the number of positives at the level.

    `before` is the number of positives before the first level.
    """
    gained = 0.0
    for i in range(tp.size):
        # In average precision, the precision at a level counts once for each positive at the level.
        gained += (tp[i] - before) * (tp[i] / (tp[i] + fp[i]))
        before = tp[i]
    return gained
