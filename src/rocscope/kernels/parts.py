"""Compiled radix sort of unweighted rows: pack into keys, partition, sort by digits."""

import numpy as np

from rocscope.kernels.kernel import Kernel
from rocscope.kernels.ranks import SLICE, ordered

TWO_DIGITS = 1 << 19
"""Number of rows that two digits of eleven bits can separate."""


@Kernel
def widen(bits, kind, ends):
    """Extend the minimum and maximum ordered bits of scores whose highest bit is 0, and of the others."""
    top = np.uint64(1) << np.uint64(bits.itemsize * 8 - 1)
    for i in range(bits.size):
        code = ordered(np.uint64(bits[i]), top, kind)
        half = np.int64(code >= top)
        ends[half, 0] = min(ends[half, 0], code)
        ends[half, 1] = max(ends[half, 1], code)


@Kernel
def find_buckets(bits, kind, ends, shift, bucket):
    """Write the bucket of each score: its ordered bits without the `shift` lowest.

    Buckets go from the first end of scores whose highest bit is 0 to the second, then so for others; scores outside the
    range are in the first or last bucket.
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
    """Write the key of each row from `begin` to `end` (see `pack`); without labels, its ordered bits."""
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
    """Return whether the highest ordered bit of a score is 1; see `ranks.ordered`."""
    if kind == 0:
        return b >= top
    # Signed integers and floats that are not negative have a highest bit of 0, and -0.0 is `top` itself.
    return b < top if kind == 1 else b <= top


@Kernel
def pack(bits, positive, kind, keys):
    """Write the ordered bits of each score with its label as lowest bit.

    The bits of a score take its whole width, so the top one makes room for the label: scores whose top bit is 0 are
    written from the front of `keys`, the others from the back. Returns the border. If a slice has both classes, each
    key is written to both ends of the free space: a branch would be predicted wrongly half of the time.
    """
    top = bits.dtype.type(1) << bits.dtype.type(bits.itemsize * 8 - 1)
    own = np.empty(SLICE, keys.dtype)
    low, high = 0, keys.size
    for start in range(0, bits.size, SLICE):
        rows = bits[start : start + SLICE]
        # Narrow integers: one instruction counts more rows, and a slice has 4,096 at most.
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
                # Only one of the two places is claimed; the other is written again by a later row.
                keys[low] = keys[high - 1] = own[i]
                is_upper = np.int64(has_top(rows[i], top, kind))
                low += 1 - is_upper
                high -= is_upper
    return low


@Kernel
def find_parts(bits, kind, ends, shift, part, where, sizes):
    """Write the part of each score, and count the rows of each part.

    Steps that do not depend on other rows have separate loops, slice by slice: the compiler vectorises them, which
    halves the time.
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
    """Copy rows to their parts, advancing each part's fill position.

    Writes ordered bits, and weights, negative for negatives; without weights the keys of rows (see `pack`), which
    without labels the bits are already.
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
            if weight is not None:  # which class it is asks for no branch: it would be guessed wrong half of the time
                row = np.uint64(start + i)
                signed[k] = weight[row] * (2 * np.int8(positive[row]) - 1)


@Kernel
def begin_digits(keys, lowest, shift, begin):
    """Write the start of each digit of eleven bits; return whether the keys differ in it."""
    begin[:] = 0
    for i in range(keys.size):
        begin[np.uint64((keys[i] - lowest) >> shift) & np.uint64(2047)] += 1
    total = 0
    alike = False
    for d in range(begin.size):
        size = begin[d]
        # A digit that all keys share would move no row: its pass is left out.
        alike |= size == keys.size
        begin[d] = total
        total += size
    return not alike


@Kernel
def deal_digits(keys, values, lowest, shift, begin, spare, spare_values):
    """Copy keys, and their values, to the positions of their digit, advancing these."""
    for i in range(keys.size):
        d = np.uint64((keys[i] - lowest) >> shift) & np.uint64(2047)
        k = begin[d]
        begin[d] = k + np.uint64(1)
        spare[k] = keys[i]
        if values is not None:
            spare_values[k] = values[i]


@Kernel
def sort_digits(keys, values, spare, spare_values, lowest, first, bits):
    """Sort rows by eleven-bit digits of the keys above `lowest`, from digit `first` on."""
    # Least significant digit first: every pass is stable, so it keeps the order of the lower digits.
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
    """Insertion sort for nearly sorted rows; return False if it would need more moves than there are rows."""
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
            # The cost stays linear: beyond this another radix pass is cheaper.
            if moves > keys.size:
                return False
    return True


@Kernel
def sort_rows(keys, values):
    """Sort rows stably by key; each has a value, unless `values` is None.

    Sorting by the leading bits leaves few rows to be moved; where these are many, rows are sorted by all bits. While
    they fit the processor's cache, that takes less than half of the time of a sort by comparison.
    """
    if keys.size == 0:
        return
    lowest = highest = keys[0]
    for i in range(keys.size):  # loops take the compiler less time than what NumPy has for them
        lowest = min(lowest, keys[i])
        highest = max(highest, keys[i])
    spread = np.uint64(highest - lowest)
    bits = 0
    while spread > np.uint64(0):
        spread >>= np.uint64(1)
        bits += 1
    # 22 leading bits make 2^22 buckets, at least eight for a row: few rows are left to be moved by insertion.
    first = max(bits - 11 * (2 if keys.size <= TWO_DIGITS else 3), 0)
    spare = np.empty_like(keys)
    if values is None:  # noqa: SIM108 (which branch holds is known when this is compiled)
        spare_values = None
    else:
        spare_values = np.empty_like(values)
    while True:  # one call alone, which is compiled once
        sort_digits(keys, values, spare, spare_values, lowest, first, bits)
        if first == 0 or insert_rows(keys, values):
            return
        first = 0
