"""Compiled radix sort of rows: pack rows into keys, divide the keys into parts, and sort each part by digits."""

import numpy as np

from rocscope.kernels.kernel import Kernel
from rocscope.kernels.ranks import SLICE, ordered

TWO_DIGITS = 1 << 19
"""Number of rows that two digits of eleven bits can separate."""


@Kernel
def widen(bits, kind, ends):
    """Update the minimum and maximum ordered bits: `ends[0]` for scores with highest bit 0, `ends[1]` for bit 1."""
    top = np.uint64(1) << np.uint64(bits.itemsize * 8 - 1)
    for i in range(bits.size):
        code = ordered(np.uint64(bits[i]), top, kind)
        half = np.int64(code >= top)
        ends[half, 0] = min(ends[half, 0], code)
        ends[half, 1] = max(ends[half, 1], code)


@Kernel
def find_buckets(bits, kind, ends, shift, bucket):
    """Write the bucket of each score: its ordered bits without the `shift` lowest bits.

    The first buckets contain scores with highest bit 0, between the two values in `ends[0]`. The next buckets contain
    scores with highest bit 1, between the two values in `ends[1]`. A score outside its range is in the nearest bucket.
    """
    top = np.uint64(1) << np.uint64(bits.itemsize * 8 - 1)
    first, last, upper_first, upper_last = ends[0, 0], ends[0, 1], ends[1, 0], ends[1, 1]
    # The second half of the buckets follows the first without a gap, however far apart the scores are.
    before = last - first + np.uint64(1)
    for i in range(bits.size):
        code = ordered(np.uint64(bits[i]), top, kind)
        lower = min(max(code >> shift, first), last) - first
        upper = min(max(code >> shift, upper_first), upper_last) - upper_first + before
        bucket[i] = upper if code >= top else lower


@Kernel
def make_keys(begin, end, bits, positive, kind, keys):
    """Write the key of each row from `begin` to `end` (see `pack`). Without labels, write only the ordered bits."""
    top = np.uint64(1) << np.uint64(bits.itemsize * 8 - 1)
    bits = bits[begin:end]
    for i in range(bits.size):
        code = ordered(np.uint64(bits[i]), top, kind)
        if positive is None:
            keys[i] = code
        else:
            keys[i] = (code << np.uint64(1)) | np.uint64(positive[np.uint64(begin) + np.uint64(i)])


@Kernel
def has_top(b, top, kind):
    """Return True if the highest ordered bit of a score is 1; see `ranks.ordered`."""
    if kind == 0:
        return b >= top
    # Signed integers and floats that are not negative have a highest bit of 0, and -0.0 is `top` itself.
    return b < top if kind == 1 else b <= top


@Kernel
def pack(bits, positive, kind, keys):
    """Write a key for each row: the ordered bits of the score without the top bit, and the label as the lowest bit.

    Keys of scores with top bit 0 are written from the front of `keys`, keys of scores with top bit 1 from the back.
    Returns the number of keys at the front. If a slice contains both kinds, each key is written to both ends of the
    free space. This avoids a branch, which the processor would mispredict half of the time.
    """
    top = bits.dtype.type(1) << bits.dtype.type(bits.itemsize * 8 - 1)
    own = np.empty(SLICE, keys.dtype)
    low, high = 0, keys.size
    for start in range(0, bits.size, SLICE):
        rows = bits[start : start + SLICE]
        # With narrow integers, one instruction counts more rows; a slice has at most 4,096 rows.
        n_upper = np.int32(0)
        for i in range(rows.size):
            n_upper += np.int32(has_top(rows[i], top, kind))
        if n_upper == rows.size:
            high -= n_upper
            make_keys(start, start + rows.size, bits, positive, kind, keys[high:])
        elif n_upper == 0:
            make_keys(start, start + rows.size, bits, positive, kind, keys[low:])
            low += rows.size
        else:
            make_keys(start, start + rows.size, bits, positive, kind, own)
            for i in range(rows.size):
                # Only one of the two copies is kept; a later row overwrites the other copy.
                keys[low] = keys[high - 1] = own[i]
                is_upper = np.int64(has_top(rows[i], top, kind))
                low += 1 - is_upper
                high -= is_upper
    return low


@Kernel
def find_parts(bits, kind, ends, shift, part, where, sizes):
    """Write the part to which each score belongs, and count the rows of each part.

    Steps that do not depend on other rows are separate loops over each slice. The compiler vectorises these loops,
    which halves the time.
    """
    for start in range(0, bits.size, SLICE):
        own = where[start : start + SLICE]
        find_buckets(bits[start : start + SLICE], kind, ends, shift, own)
        for i in range(own.size):
            p = part[np.uint64(own[i])]
            own[i] = p
            sizes[np.uint64(p)] += np.uint64(1)


@Kernel
def deal(bits, positive, weight, kind, where, filled, codes, signed):
    """Copy rows to their parts, and update the next free position of each part.

    With weights, the ordered bits and the weight of each row are written; the weight of a negative row has a minus
    sign. Without weights, keys are written (see `pack`). Without labels, only the ordered bits are written.
    """
    keys = np.empty(SLICE, codes.dtype)
    for start in range(0, bits.size, SLICE):
        own = where[start : start + SLICE]
        if weight is None:
            make_keys(start, start + own.size, bits, positive, kind, keys)
        else:
            make_keys(start, start + own.size, bits, None, kind, keys)
        for i in range(own.size):
            p = np.uint64(own[i])
            k = filled[p]
            filled[p] = k + np.uint64(1)
            codes[k] = keys[i]
            if weight is not None:  # a branch on the class would be mispredicted half of the time
                row = np.uint64(start + i)
                signed[k] = weight[row] * (2 * np.int8(positive[row]) - 1)


@Kernel
def begin_digits(keys, lowest, shift, begin):
    """Write the start position for each value of an eleven-bit digit. Return True if the keys differ in this digit."""
    begin[:] = 0
    for i in range(keys.size):
        begin[np.uint64((keys[i] - lowest) >> shift) & np.uint64(2047)] += 1
    total = 0
    alike = False
    for d in range(begin.size):
        size = begin[d]
        # If all keys have the same digit, no row would move, so this pass is skipped.
        alike |= size == keys.size
        begin[d] = total
        total += size
    return not alike


@Kernel
def deal_digits(keys, values, lowest, shift, begin, spare, spare_values):
    """Copy keys and their values to the next position for their digit."""
    for i in range(keys.size):
        d = np.uint64((keys[i] - lowest) >> shift) & np.uint64(2047)
        k = begin[d]
        begin[d] = k + np.uint64(1)
        spare[k] = keys[i]
        if values is not None:
            spare_values[k] = values[i]


@Kernel
def sort_digits(keys, values, spare, spare_values, lowest, first, bits):
    """Sort rows by eleven-bit digits of `keys - lowest`, starting at bit `first`."""
    # The least significant digit comes first; every pass is stable, so it keeps the order of the lower digits.
    begin = np.empty(2048, np.uint64)
    source, source_values, target, target_values = keys, values, spare, spare_values
    moves = 0
    for done in range(first, bits, 11):
        shift = keys.dtype.type(done)
        if begin_digits(source, lowest, shift, begin):
            deal_digits(source, source_values, lowest, shift, begin, target, target_values)
            source, target = target, source
            source_values, target_values = target_values, source_values
            moves += 1
    # After an odd number of passes the rows lie in the spare arrays.
    if moves % 2 == 1:
        for i in range(keys.size):
            keys[i] = source[i]
            if values is not None:
                values[i] = source_values[i]


@Kernel
def insert_rows(keys, values):
    """Sort nearly sorted rows by insertion. Stop and return False if this needs more moves than there are rows."""
    moves = 0
    for i in range(1, keys.size):
        key = keys[i]
        if keys[i - 1] > key:
            k = i
            while k > 0 and keys[k - 1] > key:
                keys[k] = keys[k - 1]
                if values is not None:
                    values[k], values[k - 1] = values[k - 1], values[k]
                k -= 1
            keys[k] = key
            moves += i - k
            # This keeps the cost linear: with more moves, another radix pass is faster.
            if moves > keys.size:
                return False
    return True


@Kernel
def sort_rows(keys, values):
    """Sort rows stably by key in place. `values` has one value for each row, or is None.

    Rows are first sorted by the leading bits of the keys, and then by insertion. If insertion needs too many moves,
    rows are sorted by all bits. If the rows fit in the cache, this takes less than half the time of a comparison sort.
    """
    if keys.size == 0:
        return
    lowest = highest = keys[0]
    for i in range(keys.size):  # loops compile faster than NumPy's functions
        lowest = min(lowest, keys[i])
        highest = max(highest, keys[i])
    spread = np.uint64(highest - lowest)
    bits = 0
    while spread > np.uint64(0):
        spread >>= np.uint64(1)
        bits += 1
    # 22 leading bits make 2^22 buckets, at least eight for each row: few rows are left to move by insertion.
    first = max(bits - 11 * (2 if keys.size <= TWO_DIGITS else 3), 0)
    spare = np.empty_like(keys)
    if values is None:  # noqa: SIM108 (which branch holds is known when this is compiled)
        spare_values = None
    else:
        spare_values = np.empty_like(values)
    while True:  # a loop with a single call, so `sort_digits` is compiled once
        sort_digits(keys, values, spare, spare_values, lowest, first, bits)
        if first == 0 or insert_rows(keys, values):
            return
        first = 0
