"""Compiled loop for more than two classes."""

from rocscope.kernels.kernel import Kernel


@Kernel
def ranks_sum(pos, neg):
    """Return twice the number of pairs with pos < neg, plus the number of ties, for two increasing arrays."""
    # A tied pair counts 1 and a pair with pos < neg counts 2, so the sum is an integer.
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
