"""Compiled loop for more than two classes."""

from rocscope.kernels.kernel import Kernel


@Kernel
def ranks_sum(pos, neg):
    """Sum over `neg` the number of `pos` below it and not above it; both are increasing."""
    # Twice the Mann-Whitney statistic: a tie counts 1 and a concordant pair 2, so that the sum is a whole number.
    below = 0
    not_above = 0
    total = 0
    for value in neg:
        while below < len(pos) and pos[below] < value:
            below += 1
        not_above = max(not_above, below)
        while not_above < len(pos) and pos[not_above] <= value:
            not_above += 1
        total += below + not_above
    return total
