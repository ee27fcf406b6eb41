"""Compiled loops over rows of many segments: sort rows into slots, and count levels by segment."""

import numpy as np

from rocscope.kernels.kernel import Kernel
from rocscope.kernels.ranks import ordered


@Kernel
def count(slot, shift, sizes):
    """Count the entries of each slot, and add the counts to `sizes`. The `shift` lowest bits of slots are ignored."""
    for i in range(slot.size):
        # An unsigned index needs no test for negative values.
        sizes[np.uint64(slot[i] >> shift)] += 1


@Kernel
def deal(slot, values, filled, dealt):
    """Copy values to their slots in stable order. `filled[s]` is the next free index of slot s."""
    for i in range(slot.size):
        s = np.uint64(slot[i])
        k = np.uint64(filled[s])
        dealt[k] = values[i]
        filled[s] += 1


@Kernel
def deal_rows(slot, bits, kind, shift, filled, rest, codes):
    """Copy rows to buckets, as `deal` copies values. Slots in a bucket differ only in their `shift` lowest bits.

    Writes the lowest bits of each slot to `rest`, and the ordered bits of each score to `codes`.
    """
    top = bits.dtype.type(1) << bits.dtype.type(bits.itemsize * 8 - 1)
    for i in range(slot.size):
        bucket = np.uint64(slot[i] >> shift)
        k = np.uint64(filled[bucket])
        filled[bucket] += 1
        # The `shift` lowest bits of the slot, which the bucket does not determine.
        rest[k] = np.uint64(slot[i]) - (bucket << np.uint64(shift))
        codes[k] = ordered(bits[i], top, kind)


@Kernel
def mark(values, low, there):
    """Set `there[value - low]` to True for each value."""
    for i in range(values.size):
        there[values[i] - low] = True


@Kernel
def count_pairs(codes, bounds, below, not_above):
    """Write, for each segment, the number of concordant pairs and the number of concordant or tied pairs.

    `codes` is explained in `merge`. The next element is selected without a branch, because the processor would
    mispredict half of the branches.
    """
    for segment in range(below.size):
        i, middle, end = bounds[2 * segment], bounds[2 * segment + 1], bounds[2 * segment + 2]
        j = middle
        total = 0
        tied = 0
        while i < middle and j < end:
            value = codes[i]
            if value == codes[j]:
                first, first_neg = i, j
                while i < middle and codes[i] == value:
                    i += 1
                while j < end and codes[j] == value:
                    j += 1
                total += (j - first_neg) * (middle - i)
                tied += (j - first_neg) * (i - first)
            else:
                # Advance past the smaller code. If it is a negative, all remaining positives are above it.
                passed = np.int64(value < codes[j])
                i += passed
                total += (1 - passed) * (middle - i)
                j += 1 - passed
        below[segment] = total
        not_above[segment] = total + tied


@Kernel
def merge(codes, bounds, code, tp, fp, start):
    """Write the distinct codes of each segment in decreasing order, with cumulative counts.

    `start` receives the index of the first code of each segment. In `codes`, the codes of the positives of a segment
    (slot 2·segment) increase, and so do the codes of its negatives (slot 2·segment + 1). Returns the number of distinct
    codes.
    """
    size = 0
    for segment in range(start.size - 1):
        start[segment] = size
        i, no_pos = bounds[2 * segment + 1] - 1, bounds[2 * segment]
        j, no_neg = bounds[2 * segment + 2] - 1, bounds[2 * segment + 1]
        pos = 0
        neg = 0
        while i >= no_pos or j >= no_neg:
            value = codes[i] if j < no_neg or (i >= no_pos and codes[i] >= codes[j]) else codes[j]
            while i >= no_pos and codes[i] == value:
                i -= 1
                pos += 1
            while j >= no_neg and codes[j] == value:
                j -= 1
                neg += 1
            code[size] = value
            tp[size] = pos
            fp[size] = neg
            size += 1
    start[start.size - 1] = size
    return size


@Kernel
def hulls(up, right, start, kept, first):
    """Write the vertices of the upper hull of each segment, and return the number of vertices.

    `first` receives the index of the first vertex of each hull. Each hull starts at (0, 0), which is not written. The
    points of a segment are ordered from left to right, and the last point is the highest.
    """
    size = 0
    for segment in range(len(start) - 1):
        bottom = size
        first[segment] = size
        for i in range(start[segment], start[segment + 1]):
            while size > bottom:
                j = kept[size - 1]
                y, x = up[j], right[j]
                # The origin is not stored; y * 0 is 0 in the type of y.
                below, left = y * 0, x * 0
                if size - 1 > bottom:
                    below, left = up[kept[size - 2]], right[kept[size - 2]]
                # The last vertex stays if the slope decreases there; the test is exact for integers.
                if (y - below) * (right[i] - x) > (up[i] - y) * (x - left):
                    break
                size -= 1
            kept[size] = i
            size += 1
    first[len(start) - 1] = size
    return size
