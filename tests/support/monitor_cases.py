"""Streams that a monitor looks at very often: its evidence by a recursion, for thousands of streams at once."""

import numpy as np
from scipy import stats

from rocscope.inference.confidence_sequence import (
    BETS,
    BLOCKS_BEFORE_GROWTH,
    LEAST_BLOCK_ROWS,
    _areas,
    _stakes,
    _start_of_change,
    auc_evidence,
)

LEVELS = np.linspace(-2, 2, 15)  # between 16 levels of a score


def changes(gain, before, after, *, change, looks, rows, streams, level=0.95, seed=0):
    """Return after how many rows each stream raises an alarm (infinity: never), and since when.

    Each look brings `rows` rows of kinds with the probabilities `before`, and from row `change` on `after`; `gain` is
    the log wealth that a row of each kind multiplies each bet by (bets × kinds).
    """
    rng = np.random.default_rng(seed)
    raised, since = np.full(streams, np.inf), np.full(streams, np.nan)
    active, grown, first, last = np.arange(streams), np.ones((streams, 0, BETS.size)), [], 0
    for n in range(0, looks * rows, rows):
        if not first or last >= max(LEAST_BLOCK_ROWS, n / BLOCKS_BEFORE_GROWTH):
            grown, first, last = np.pad(grown, ((0, 0), (0, 1), (0, 0)), constant_values=1.0), [*first, n], 0
        drawn = rng.multinomial(rows, before if n < change else after, size=active.size)
        grown *= np.exp(drawn @ gain.T)[:, None]
        last += rows
        stakes, each = _stakes(len(first)), grown.mean(axis=2)
        found = each @ stakes + 1 - stakes.sum() >= 1 / (1 - level)
        raised[active[found]] = n + rows
        with np.errstate(divide="ignore"):
            place = _start_of_change(np.log(each[found]), np.diff([*first, n + rows]))
        since[active[found]] = np.array(first)[place]
        active, grown = active[~found], grown[~found]
        if not active.size:
            break
    return raised, since


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
        if begun == 0 or n - last >= max(LEAST_BLOCK_ROWS, n / BLOCKS_BEFORE_GROWTH):
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


def shares(skill):
    """Return how often a positive and a negative have each level, for normal scores that far apart."""
    return [np.diff(stats.norm.cdf(np.r_[-np.inf, LEVELS, np.inf], loc=loc)) for loc in (skill / 2, -skill / 2)]


def auc_of(skill):
    pos, neg = shares(skill)
    return float(pos @ (neg.cumsum() - neg / 2))


def rank_alarms(skill, later, *, rate, change, looks, rows, streams, upwards=False, level=0.95, seed=0):
    """Return after how many rows each stream raises an alarm (infinity: never), and since when.

    The limit is the AUC before the change. Each look brings `rows` rows.
    """
    rng, bound = np.random.default_rng(seed), auc_of(skill)
    pos, neg = (np.zeros((streams, 0, LEVELS.size + 1), np.int64) for _ in range(2))
    raised, since = np.full(streams, np.inf), np.full(streams, np.nan)
    first, last = [], 0
    for n in range(0, looks * rows, rows):
        if not first or last >= max(LEAST_BLOCK_ROWS, n / BLOCKS_BEFORE_GROWTH):
            pos, neg = (np.pad(each, ((0, 0), (0, 1), (0, 0))) for each in (pos, neg))
            first, last = [*first, n], 0
        active = np.flatnonzero(np.isinf(raised))
        if not active.size:
            break
        n_pos = rng.binomial(rows, rate, size=active.size)
        of_class = zip((n_pos, rows - n_pos), shares(skill if n < change else later), strict=True)
        new = [rng.multinomial(number, share) for number, share in of_class]
        pos[active] += new[0][:, None]  # the rows from each block on
        neg[active] += new[1][:, None]
        last += rows
        grown = auc_evidence(pos[active], neg[active], bound, upwards)
        stakes = _stakes(len(first))
        wealth = np.exp(np.minimum(grown, 700)) @ stakes + 1 - stakes.sum()
        found = wealth >= 1 / (1 - level)
        raised[active[found]] = n + rows
        since[active[found]] = np.array(first)[_start_of_change(grown[found], np.diff([*first, n + rows]))]
    return raised, since


def rank_rows_needed(skill, later, rate, error=0.05, power=0.95):
    """Return how many rows the one-sided z test of the AUC needs that knows when the change was."""
    n = 10**6
    spreads = []
    for each in (skill, later):
        pos, neg = shares(each)
        _, of_pos, of_neg = _areas(np.round(pos * n * rate), np.round(neg * n * (1 - rate)))
        spreads.append(np.sqrt(of_pos / rate + of_neg / (1 - rate)))
    reach = stats.norm.ppf(1 - error) * spreads[0] + stats.norm.ppf(power) * spreads[1]
    return (reach / (auc_of(later) - auc_of(skill))) ** 2
