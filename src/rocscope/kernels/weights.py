"""Compiled loops over weighted rows: compensated sums, pairs, and the convex hull."""

import numpy as np

from rocscope.kernels.kernel import Kernel

MARGIN = 2.0**-44
"""Upper bound of the relative error of sums of 10⁹ weights, and of differences between such sums; see `push_hull`."""

LEAST = 1e-290
"""Upper bound of the error that underflow causes in products of shares."""


@Kernel
def two_sum(a, b):
    """Return a + b and the exact rounding error of this sum (Knuth). For integers, the error is 0."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@Kernel
def running(weights, sums):
    """Write the cumulative sums of weights, corrected for rounding errors."""
    # The difference is 0 in the type of the weights, because compiled variables do not change their type. A second sum
    # adds the errors of all steps (Ogita, Rump & Oishi 2005, "Accurate sum and dot product", algorithm Sum2).
    total, left = weights[0] - weights[0], weights[0] - weights[0]
    for i in range(weights.size):
        total, rest = two_sum(total, weights[i])
        left += rest
        sums[i] = total + left


@Kernel
def sum_level(codes, signed, last):
    """Add the weights of all rows with the same code as row `last`, separately for positives and negatives.

    Returns the index of the row before these rows, and the two sums. The class of a row is not tested by a branch,
    because the processor would mispredict half of the branches.
    """
    zero = signed[last] - signed[last]
    code = codes[last]
    pos = max(signed[last], zero)
    neg = max(-signed[last], zero)
    i = last - 1
    # Most levels of a continuous score are a single row, which needs no sum.
    if i < 0 or codes[i] != code:
        return i, pos, neg
    pos_rest, neg_rest = zero, zero
    while i >= 0 and codes[i] == code:
        pos, rest = two_sum(pos, max(signed[i], zero))
        pos_rest += rest
        neg, rest = two_sum(neg, max(-signed[i], zero))
        neg_rest += rest
        i -= 1
    return i, pos + pos_rest, neg + neg_rest


@Kernel
def scan(codes, signed, last, sums, code, block_tp, block_fp, steps):
    """Add weights cumulatively, as `ranks.scan` counts rows. The weight of a negative row has a minus sign.

    `sums` contains the true and false positives so far, each followed by its rounding error. `steps` receives 1 for a
    score with only positives, 2 for a score with only negatives, and 3 for a score with both. It shows this even if the
    weights are too small to change the sums.
    """
    tp, tp_rest, fp, fp_rest = sums[0], sums[1], sums[2], sums[3]
    level = 0
    i = last
    while i >= 0 and level < code.size:
        code[level] = codes[i]
        i, pos, neg = sum_level(codes, signed, i)
        tp, rest = two_sum(tp, pos)
        tp_rest += rest
        fp, rest = two_sum(fp, neg)
        fp_rest += rest
        block_tp[level] = tp + tp_rest
        block_fp[level] = fp + fp_rest
        # The weights of the level are tested, because rounding may remove a small weight from a large sum.
        steps[level] = (pos > 0) + 2 * (neg > 0)
        level += 1
    sums[0], sums[1], sums[2], sums[3] = tp, tp_rest, fp, fp_rest
    return level, i


@Kernel
def sum_rows(codes, signed, code, pos, neg):
    """Write the sums of weights of each distinct code in decreasing order, and return the number of codes."""
    level = 0
    i = codes.size - 1
    while i >= 0:
        code[level] = codes[i]
        i, pos[level], neg[level] = sum_level(codes, signed, i)
        level += 1
    return level


@Kernel
def count_pairs(codes, signed, scale_pos, scale_neg, sums):
    """Add the weights of concordant pairs, tied pairs, positives and negatives to `sums`, each with its rounding error.

    Weights are multiplied by a scale, so that no product overflows.
    """
    (right, right_rest), (tied, tied_rest) = (sums[0, 0], sums[0, 1]), (sums[1, 0], sums[1, 1])
    (tp, tp_rest), (fp, fp_rest) = (sums[2, 0], sums[2, 1]), (sums[3, 0], sums[3, 1])
    i = codes.size - 1
    while i >= 0:
        i, pos, neg = sum_level(codes, signed, i)
        pos *= scale_pos
        neg *= scale_neg
        # Positives above the level are concordant with its negatives; those within it are tied.
        right, rest = two_sum(right, neg * (tp + tp_rest))
        right_rest += rest
        product = neg * pos
        if product > 0:  # never true for a single row, so this branch is predicted well
            tied, rest = two_sum(tied, product)
            tied_rest += rest
        tp, rest = two_sum(tp, pos)
        tp_rest += rest
        fp, rest = two_sum(fp, neg)
        fp_rest += rest
    sums[0, 0], sums[0, 1], sums[1, 0], sums[1, 1] = right, right_rest, tied, tied_rest
    sums[2, 0], sums[2, 1], sums[3, 0], sums[3, 1] = tp, tp_rest, fp, fp_rest


@Kernel
def push_hull(tp, fp, code, top, block_tp, block_fp, block_code, steps, scale_pos, scale_neg):
    """Extend an upper hull as `ranks.push_hull` does, but drop only points that are certainly below the hull.

    A point is certainly below the hull if this is true whatever the rounding errors of the sums. The result contains
    all vertices and perhaps some other points. The scales make the totals about 1.
    """
    n = len(block_tp)
    corner = np.empty(n, np.int64)
    corners = 0
    for i in range(n - 1):
        corner[corners] = i
        # A point can be a vertex only if the step to it goes up and the next step goes right; this needs no branch.
        corners += (steps[i] & 1) & (steps[i + 1] >> 1)
    corner[corners] = n - 1
    for j in range(corners + 1):
        i = corner[j]
        t = block_tp[i]
        f = block_fp[i]
        along_tp = t * scale_pos
        along_fp = f * scale_neg
        while top > 0:
            up = (tp[top] - tp[top - 1]) * scale_pos
            right = (fp[top] - fp[top - 1]) * scale_neg
            next_up = (t - tp[top]) * scale_pos
            next_right = (f - fp[top]) * scale_neg
            # The error of a difference of two sums is at most e = MARGIN·tp or MARGIN·fp. The error of the
            # cross product is then at most (up + next_up)·e_fp + (right + next_right)·e_tp + e_tp·e_fp.
            off = (up + next_up) * along_fp + (right + next_right) * along_tp + MARGIN * along_tp * along_fp
            if not next_up * right - up * next_right > MARGIN * off + LEAST:
                break
            top -= 1
        top += 1
        tp[top] = t
        fp[top] = f
        code[top] = block_code[i]
    return top


@Kernel
def add_whole(bits, bounds, sums):
    """Add the weights of the rows from `bounds[k + 1]` to `bounds[k]` to `sums[k]`. `bits` has the bits of weights.

    For each class and each group of four exponents, one integer is the sum of the lower halves of the digits, and
    another integer is the sum of the upper halves. These integers do not overflow with up to 2³³ rows.
    """
    for k in range(bounds.size - 1):
        for i in range(bounds[k + 1], bounds[k]):
            # IEEE 754 binary64: sign, 11 bits of exponent, 52 digits.
            exponent = (bits[i] >> 52) & 2047
            digits = bits[i] & ((1 << 52) - 1)
            # Normal numbers have a leading 1 that is not stored; the exponents 0 and 1 have the same unit, 2^-1074.
            if exponent > 0:
                digits |= 1 << 52
                exponent -= 1
            group = sums[k, np.int64(bits[i] < 0), exponent >> 2]
            # 27 digits shifted by at most 3 are below 2^30, so the sum of 2^33 such numbers is below 2^63.
            group[0] += (digits & ((1 << 27) - 1)) << (exponent & 3)
            group[1] += (digits >> 27) << (exponent & 3)
