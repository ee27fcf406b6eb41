"""Compiled loops over rows of many segments: place them in slots, and count levels by segment."""

import numpy as np

from rocscope.kernels.kernel import Kernel
from rocscope.kernels.ranks import ordered


@Kernel
def count(slot, shift, sizes):
    """Count the entries of each slot into `sizes`, ignoring `shift` low bits."""
    for i in range(slot.size):
        # An unsigned index needs no test for places that are counted from the end.
        sizes[np.uint64(slot[i] >> shift)] += 1


@Kernel
def deal(slot, values, filled, dealt):
    """Copy values to their slots stably; slot s continues at `filled[s]`, which advances."""
    for i in range(slot.size):
        s = np.uint64(slot[i])
        k = np.uint64(filled[s])
        dealt[k] = values[i]
        filled[s] += 1


@Kernel
def deal_rows(slot, bits, kind, shift, filled, rest, codes):
    """Copy rows to buckets of slots that share all but the `shift` lowest bits, as `deal` does.

    Writes these bits of the slot, and the ordered ones of the score.
    """
    top = bits.dtype.type(1) << bits.dtype.type(bits.itemsize * 8 - 1)
    for i in range(slot.size):
        bucket = np.uint64(slot[i] >> shift)
        k = np.uint64(filled[bucket])
        filled[bucket] += 1
        # What the bucket does not say: the `shift` lowest bits of the slot.
        rest[k] = np.uint64(slot[i]) - (bucket << np.uint64(shift))
        codes[k] = ordered(bits[i], top, kind)


@Kernel
def mark(values, low, there):
    """Record which values occur, relative to `low`."""
    for i in range(values.size):
        there[values[i] - low] = True


@Kernel
def count_pairs(codes, bounds, below, not_above):
    """Write for each segment how many pairs have the negative below the positive, and how many not above it.

    Codes are as in `merge`. The next element is selected without a branch: the processor would mispredict half of them.
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
                # The smaller code is passed. Of a negative, all positives of this segment that are left are above it.
                passed = np.int64(value < codes[j])
                i += passed
                total += (1 - passed) * (middle - i)
                j += 1 - passed
        below[segment] = total
        not_above[segment] = total + tied


@Kernel
def merge(codes, bounds, code, tp, fp, start):
    """Write the levels of segments in decreasing order, counted from 0 in each, and the start of each segment.

    Codes of positives (slot 2·segment) and of negatives (the next slot) increase. Returns the number of levels.
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
    """Write the vertices of each segment's upper hull, starting at (0, 0), and the start of each.

    Points go to the right, and the last of a segment is the highest. Returns the number of vertices.
    """
    size = 0
    for segment in range(len(start) - 1):
        bottom = size
        first[segment] = size
        for i in range(start[segment], start[segment + 1]):
            while size > bottom:
                j = kept[size - 1]
                y, x = up[j], right[j]
                # The origin is not stored. y * 0 is a 0 of the same type.
                below, left = y * 0, x * 0
                if size - 1 > bottom:
                    below, left = up[kept[size - 2]], right[kept[size - 2]]
                # The last vertex stays if the slope falls there: without a division, this is exact for whole numbers.
                if (y - below) * (right[i] - x) > (up[i] - y) * (x - left):
                    break
                size -= 1
            kept[size] = i
            size += 1
    first[len(start) - 1] = size
    return size
