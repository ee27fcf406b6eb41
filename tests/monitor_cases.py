"""Streams that a monitor looks at very often: its evidence by a recursion, for thousands of streams at once."""

import numpy as np
from scipy import stats

from rocscope.decisions.monitoring.confidence_sequence import _GROWTH, _LEAST_ROWS, BETS, _stakes


def alarms(values, before, after, *, bound, change, looks, rows, streams, level=0.95, seed=0):
    """Return after how many rows each stream raises an alarm (infinity: never).

    Each look brings `rows` rows whose values have the probabilities `before`, and from row `change` on `after`.
    """
    rng = np.random.default_rng(seed)
    values = np.asarray(values, dtype=float)
    gain = np.log(1 - BETS[:, None] + BETS[:, None] * (values - values.min()) / (bound - values.min()))
    wealth, part = np.zeros((streams, BETS.size)), _stakes(1000)
    raised = np.full(streams, np.inf)
    n = last = begun = 0
    for _ in range(looks):
        if begun == 0 or n - last >= max(_LEAST_ROWS, n / _GROWTH):
            wealth += part[begun] / BETS.size
            begun, last = begun + 1, n
        wealth *= np.exp(rng.multinomial(rows, before if n < change else after, size=streams) @ gain.T)
        n += rows
        reached = wealth.sum(axis=1) + 1 - part[:begun].sum() >= 1 / (1 - level)
        raised[reached & np.isinf(raised)] = n
    return raised


def rows_needed(values, before, after, *, error=0.05, power=0.95):
    """Return how many rows the one-sided z test needs that knows when the change was."""
    values = np.asarray(values, dtype=float)
    means = [values @ share for share in (before, after)]
    spreads = [np.sqrt((values**2) @ share - mean**2) for share, mean in zip((before, after), means, strict=True)]
    reach = stats.norm.ppf(1 - error) * spreads[0] + stats.norm.ppf(power) * spreads[1]
    return (reach / (means[1] - means[0])) ** 2
