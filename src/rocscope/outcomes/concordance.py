"""Uno's concordance index for censored times: whether cases with earlier events have higher scores."""

from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.rows import independent_units
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparisons
from rocscope.inference.hypothesis import Adjust, Hypothesis
from rocscope.inference.influence.estimating import Values, compare_values
from rocscope.inference.influence.units import stratum_of_moves, times_of
from rocscope.outcomes.horizons import at_horizon, follow_up_of


@contract
def concordance(
    time: Any,
    event: Any,
    scores: Any,
    horizon: float,
    *,
    level: float = 0.95,
    adjust: Adjust = "holm",
    **options: Any,
) -> Comparisons:
    """Compute Uno's concordance index of each model up to a horizon, with intervals and paired tests.

    Parameters
    ----------
    time, event, scores : see `at_horizon`
    horizon : float
        Events up to this time count.
    level, adjust : see `rocscope.compare`
    **options
        Of `at_horizon`: competing, strata, max_weight, sample_weight, groups. With ``competing="exclude"`` rows with a
        competing event count until it only.

    Returns
    -------
    Comparisons

    Notes
    -----
    The share of pairs that the scores rank right, a tie counting half: of a row i with the event at Tᵢ ≤ t and a row j
    with Tⱼ > Tᵢ, weighted by 1/G(Tᵢ−)²; and, with competing="negative", of i and a row j with a competing event at
    Tⱼ ≤ Tᵢ, weighted by 1/(G(Tᵢ−)·G(Tⱼ−)). O(n log² n).

    References
    ----------
    Uno et al. 2011, Stat. Med. 30:1105–1117; Wolbers et al. 2014, Biostatistics 15:526–539 (competing risks).

    Examples
    --------
    Of four pairs of known order three are ranked right. The fourth, of the event at 3, counts (3/2)² = 2.25, for one of
    three rows at risk was censored before; 3/(3 + 2.25) is:

    >>> found = concordance([1, 2, 3, 4], [1, 0, 1, 0], [0.9, 0.4, 0.2, 0.3], horizon=3)
    >>> round(found.estimates["score"].value, 4)
    0.5714
    """
    preds = at_horizon(time, event, scores, horizon, **options)
    if isinstance(preds, dict):
        raise InputError("horizon", expected="one time", got=f"{len(preds)} of them")
    times, kinds = follow_up_of(time, event)
    if not preds.y_true.any():
        raise InputError("horizon", expected="events by then", got="none")
    rank = np.unique(times, return_inverse=True)[1]
    own = np.ones(times.size) if options.get("sample_weight") is None else np.asarray(options["sample_weight"], float)
    weight = own if preds.sample_weight is None else preds.sample_weight
    inverse = np.divide(weight, own, out=np.zeros(times.size), where=own > 0)
    case, pairs = inverse * preds.y_true, []
    pairs.append((own * case * inverse, own, rank, (2, 0)))
    if (other := (kinds > 1) & (times <= horizon)).any() and options.get("competing", "negative") == "negative":
        pairs.append((own * case, own * inverse * other, other - 2 * rank, (1, 1)))
    values, moves = [], np.empty((2, times.size, len(preds.models)))
    for j, score in enumerate(preds.scores.values()):
        value, *moves[:, :, j] = _value_and_moves(score, pairs)
        values.append(value)
    code, weighting = independent_units(preds), preds.weighting
    counted = times_of(own, None, "auto", preds.y_true, *preds.scores.values())
    note = "sampling weights" if counted is None else ""
    total = moves[0]
    if weighting is not None:
        code, note = weighting.units(code), weighting.note
        total = total + own[:, None] * weighting.through_weights(moves[1])
    stratum = stratum_of_moves(total, code, counted, times.size)
    sample = Values(tuple(preds.models), np.array(values), stratum, stratum.units, note)
    return compare_values(sample, f"concordance up to {horizon:g}", Hypothesis(level=level), adjust)


PairTerms = tuple[Array, Array, Array, tuple[int, int]]


def _value_and_moves(score: Array, pairs: list[PairTerms]) -> tuple[float, Array, Array]:
    """Return the share of concordant pairs, and the influence of rows, directly and through weights.

    Each kind of pairs has the amounts of rows as the first of a pair and as the second, the key by which the second is
    larger, and the power in which each amount contains the row's weight.
    """
    counted = [(*_ranked_right(score, *each[:3]), *_ranked_right(np.zeros(score.size), *each[:3])) for each in pairs]
    total = 2 * sum(float(first.sum()) for _, _, first, _ in counted)  # of pairs that are all tied half is right
    value = sum(float(right.sum()) for right, _, _, _ in counted) / total
    own, by_weight = np.zeros(score.size), np.zeros(score.size)
    for (right, lost, first, second), (*_, powers) in zip(counted, pairs, strict=True):
        as_first, as_second = (right - 2 * value * first) / total, (lost - 2 * value * second) / total
        own += as_first + as_second
        by_weight += powers[0] * as_first + powers[1] * as_second
    return value, own, by_weight


def _ranked_right(score: Array, first: Array, second: Array, key: Array) -> tuple[Array, Array]:
    """Return, for each row, the weight of concordant pairs in which it is the earlier, and the later one.

    Two keys differ first in one binary digit: pairs are counted there, each digit by one pass in the order of scores.
    """
    by_score = np.argsort(score, kind="stable")
    level = np.unique(score, return_inverse=True)[1][by_score]
    first, second = first[by_score], second[by_score]
    key = np.unique(key, return_inverse=True)[1][by_score]
    as_first, as_second = np.zeros(score.size), np.zeros(score.size)
    for digit in range(int(key.max()).bit_length()):
        order = np.argsort(key >> (digit + 1), kind="stable")
        block, tie = (key >> (digit + 1))[order], level[order]
        later = (key[order] >> digit) % 2 == 1
        amounts = np.where(later, second[order], 0.0), np.where(later, 0.0, first[order])
        new_block = np.diff(block, prepend=-1) != 0
        tied = np.cumsum(new_block | (np.diff(tie, prepend=-1) != 0)) - 1
        below, above = (_halved(amount, np.flatnonzero(new_block), tied) for amount in amounts)
        of_block = np.add.reduceat(amounts[1], np.flatnonzero(new_block))[np.cumsum(new_block) - 1]
        as_first[order] += amounts[1] * below
        as_second[order] += amounts[0] * (of_block - above)
    found = np.empty(score.size), np.empty(score.size)
    found[0][by_score], found[1][by_score] = as_first, as_second
    return found


def _halved(amount: Array, starts: Array, tied: Array) -> Array:
    """Return, for each row, the weight of lower rows of the same block plus half that of ties."""
    of_tie = np.bincount(tied, amount)
    lower = np.cumsum(of_tie) - of_tie
    before = lower[tied[starts]]  # what earlier blocks hold
    size = np.diff(np.append(starts, amount.size))
    return (lower + of_tie / 2)[tied] - np.repeat(before, size)
