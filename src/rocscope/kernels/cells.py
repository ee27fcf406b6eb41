"""Compiled loops of `CountsSketch`, which counts rows in nested cells of the score.

A score is represented by an unsigned integer that increases with the score (`ranks.ordered`). A *cell* is a set of
integers that differ only in their lowest `shift` bits. Cells are sorted by their first integer. A wide cell comes
before the cells inside it. The rows of a cell have scores between the lowest and the highest score of the cell.
"""

# pyright: basic
import numpy as np

from rocscope.kernels.kernel import Kernel

_DEEPEST = 130  # two for each of the 65 widths that nested cells of 64 bits can have
_TOP = 64  # the width, in bits, of the cell that holds every score


@Kernel
def count_levels(keys, high_bit, size, code, pos, neg):
    """Append the levels of sorted keys (see `parts.pack`) in decreasing order, and return the number of levels."""
    one = keys.dtype.type(1)
    previous = np.uint64(0)
    fresh = True
    for i in range(keys.size - 1, -1, -1):
        # A key contains the label instead of the highest bit of the score; `high_bit` restores this bit.
        value = np.uint64(keys[i] >> one) | high_bit
        positive = np.int64(keys[i] & one)
        if fresh or value != previous:
            code[size], pos[size], neg[size] = value, 0, 0
            size += 1
            previous = value
            fresh = False
        pos[size - 1] += positive
        neg[size - 1] += 1 - positive
    return size


@Kernel
def absorb(start, shift, pos, neg, low, high, code, code_pos, code_neg, per_pos, per_neg, most):
    """Add each level to the smallest cell that contains it, unless the mass of a wide cell would exceed `most`.

    Levels are given in descending order and processed in ascending order. Levels that are not added to a cell are moved
    to the end of their arrays. Returns the number of these levels.
    """
    path = np.empty(_DEEPEST, np.int64)
    depth = 0
    i = 0
    left = code.size
    for j in range(code.size - 1, -1, -1):
        c = code[j]
        # Scores ascend, so c - start is never negative; it has bits above the width only past the end of the cell.
        while depth > 0 and (c - start[path[depth - 1]]) >> np.uint64(shift[path[depth - 1]]):
            depth -= 1
        while i < start.size and start[i] <= c:
            if not (c - start[i]) >> np.uint64(shift[i]):
                path[depth] = i
                depth += 1
            i += 1
        if depth > 0:
            v = path[depth - 1]
            p = pos[v] + code_pos[j]
            n = neg[v] + code_neg[j]
            # A cell of one score cannot be split, so its mass is not limited.
            if shift[v] == 0 or p * per_pos + n * per_neg <= most:
                pos[v] = p
                neg[v] = n
                low[v] = min(low[v], c)
                high[v] = max(high[v], c)
                continue
        # The same arrays are read and written from the end; writing never overtakes reading.
        left -= 1
        code[left] = c
        code_pos[left] = code_pos[j]
        code_neg[left] = code_neg[j]
    return code.size - left


@Kernel
def coarsen(start, shift, pos, neg, low, high, sum_pos, sum_neg, per_pos, per_neg, light, grown):
    """Merge all cells inside each widest cell whose mass is at most `light`, and return the number of cells.

    For a cell that is already in the list, the limit is `grown`, so that evenly spread rows do not split the cell.
    `sum_pos` and `sum_neg` are cumulative sums that start at 0. The search starts from the smallest cell that contains
    all rows, and halves cells that are too heavy.
    """
    waiting = np.empty((_DEEPEST, 3), np.int64)
    begins = np.empty(_DEEPEST, np.uint64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], begins[0] = 0, start.size, _TOP, 0
    left = 1
    size = 0
    while left:
        left -= 1
        i, j, s, begin = waiting[left, 0], waiting[left, 1], waiting[left, 2], begins[left]
        if i == j:
            continue
        mass = (sum_pos[j] - sum_pos[i]) * per_pos + (sum_neg[j] - sum_neg[i]) * per_neg
        if mass > light or s == _TOP:
            s = max(shift[i], shift[j - 1])
            # The smallest cell around all of them: the bits in which its first and its last start agree.
            while s < _TOP and (start[i] ^ start[j - 1]) >> np.uint64(s):
                s += 1
            # A shift by all 64 bits is undefined; start ^ start is a 0 of the same type.
            begin = start[i] >> np.uint64(s) << np.uint64(s) if s < _TOP else start[i] ^ start[i]
        own = s == shift[i] and begin == start[i]
        joined = s < _TOP and mass <= (grown if own else light)
        start[size], shift[size] = (begin, s) if joined and j - i > 1 else (start[i], shift[i])
        pos[size], neg[size], low[size], high[size] = pos[i], neg[i], low[i], high[i]
        if joined or j - i == 1:
            for k in range(i + 1, j):
                pos[size] += pos[k]
                neg[size] += neg[k]
                low[size] = min(low[size], low[k])
                high[size] = max(high[size], high[k])
            size += 1
            continue
        size += own
        border = begin | (np.uint64(1) << np.uint64(s - 1))
        middle = i + own
        above = j
        while middle < above:
            k = (middle + above) // 2
            if start[k] < border:
                middle = k + 1
            else:
                above = k
        # The lower half is put on the stack last, so it is processed first: writing never overtakes reading.
        waiting[left, 0], waiting[left, 1], waiting[left, 2], begins[left] = middle, j, s - 1, border
        waiting[left + 1, 0], waiting[left + 1, 1], waiting[left + 1, 2], begins[left + 1] = (
            i + own,
            middle,
            s - 1,
            begin,
        )
        left += 2
    return size
