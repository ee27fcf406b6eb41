"""Loops over points beside lines."""

from rocscope.kernels.kernel import Kernel


@Kernel
def farthest(tp, fp, start_tp, start_fp, up, right):
    """Return how far points of counts lie at most from a line through a start, where a count moves them so far."""
    worst = 0.0
    for i in range(tp.size):
        error = abs(up * (tp[i] - start_tp) - right * (fp[i] - start_fp))
        worst = max(worst, error)
    return worst
