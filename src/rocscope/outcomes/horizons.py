"""Binary outcomes at a time horizon from censored data, weighted by inverse probability of censoring."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, warn
from rocscope.outcomes.censoring import CensoringCurve, CensoringWeights

Competing = Literal["negative", "exclude"]

_NOTE = "weighted for censoring"
_EXTREME = 20.0  # a weight from which on fewer than 5 % remain under observation, of whom a few rows decide


@contract
def at_horizon(
    time: Any,
    event: Any,
    scores: Any,
    horizon: Any,
    *,
    competing: Competing = "negative",
    strata: Any = None,
    max_weight: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    segment: Any = None,
    columns: Any = None,
) -> Any:
    """Return rows with the outcome "event by the horizon", weighted for censoring.

    Parameters
    ----------
    time : array of n times
        Until the event or the end of observation, from 0.
    event : array of n whole numbers
        0 censored, 1 the event of interest, 2 and above competing events.
    scores : array of n, or mapping from model name to array
        Risk by the horizon, or any score that is higher where the event comes earlier. With several horizons an array
        may have a column for each of them.
    horizon : float, or sequence of float
        The time by which the event is predicted.
    competing : {"negative", "exclude"}
        Whether a competing event by the horizon is a negative, or is left out.
    strata : array of n labels, optional
        Parts of the rows in which censoring may differ; it is estimated in each of them.
    max_weight : float, optional
        Cut larger weights to this one, which biases figures but lowers their variance. Results and a warning say so.
    sample_weight, groups, segment, columns : see `rocscope.Predictions`
        Weights are multiplied by those for censoring.

    Returns
    -------
    Predictions, or dict from horizon to Predictions
        Everything that takes Predictions takes them. Rows that are censored by the horizon have weight 0. Without
        such rows the weights are the user's own.

    Raises
    ------
    InputError
        If times or events mean nothing, or nobody is observed beyond the horizon; the last usable one is named.

    Warns
    -----
    RocscopeWarning
        If weights are above 20, or were cut to `max_weight`.

    Notes
    -----
    A row with an event at u ≤ t has weight 1/G(u−), a row still at risk after t has 1/G(t), with the Kaplan–Meier
    estimate G of remaining uncensored; at equal times events come before censorings. The weighted ROC curve is then
    the cumulative/dynamic one at t, and every other weighted figure is its version for censored data. Without
    `strata` the weights add up to n, so weighted means are sums divided by n, as in Graf's Brier score.

    Censoring must not depend on the event given the strata. Intervals and tests allow for the estimation of G: see
    `rocscope.inference.influence.estimated_weights`; the bootstrap estimates it anew in each draw.

    References
    ----------
    Graf et al. 1999, Stat. Med. 18:2529–2545; Uno et al. 2007, J. Am. Stat. Assoc. 102:527–537; Blanche, Dartigues &
    Jacqmin-Gadda 2013, Stat. Med. 32:5381–5397.

    Examples
    --------
    Of five patients one is censored at 2, when four are at risk, so that the three after her count 4/3 each:

    >>> preds = at_horizon([1, 2, 3, 4, 5], [1, 0, 1, 2, 0], [0.9, 0.5, 0.6, 0.3, 0.2], horizon=4)
    >>> preds.y_true.tolist(), (3 * preds.sample_weight).round(9).tolist()
    ([True, False, True, False, False], [3.0, 0.0, 4.0, 4.0, 4.0])
    >>> preds.prevalence
    0.466...
    """
    times, kinds = follow_up_of(time, event)
    n = times.size
    check.check_choice("competing", competing, ("negative", "exclude"))
    horizons = horizons_of(horizon)
    base = check.check_weights(sample_weight, n)
    code = None if strata is None else check.check_groups(strata, "strata", n)
    if max_weight is not None and not (check.is_number(max_weight) and max_weight >= 1):
        raise InputError("max_weight", expected="a number from 1", got=repr(max_weight))
    parts = [None] if code is None else [code == number for number in range(int(code.max()) + 1)]
    curves = tuple(CensoringCurve.of(times, kinds, horizons[-1], part) for part in parts)
    for curve, part in zip(curves, parts, strict=True):
        _require_follow_up(times if part is None else times[part], curve, horizons[-1])
    competitors = np.flatnonzero(kinds > 1) if competing == "exclude" else None
    found = {}
    for place, until in enumerate(horizons):
        beyond = times > until
        left_out = None if competitors is None else competitors[~beyond[competitors]]
        weighting = CensoringWeights(
            n, _NOTE, base, horizon=until, curves=curves, stratum=code, beyond=beyond, excluded=left_out
        )
        weight, weighting = _weights(weighting, max_weight)
        found[until] = Predictions(
            ~beyond & (kinds == 1),
            _scores_at(scores, place, len(horizons)),
            sample_weight=weight,
            weighting=weighting,
            groups=groups,
            segment=segment,
            columns=columns,
        )
    return found if np.ndim(horizon) else found[horizons[0]]


def horizons_of(horizon: Any) -> list[float]:
    """Return one horizon or several as an ascending list of positive times."""
    given = check.check_numbers(np.atleast_1d(np.asarray(horizon)), "horizon")
    if not given.size or (given <= 0).any() or (np.diff(given) <= 0).any():
        raise InputError("horizon", expected="a time above 0, or several, each once and in order", got=repr(horizon))
    return given.tolist()


def follow_up_of(time: Any, event: Any) -> tuple[Array, Array]:
    """Return times and kinds of event."""
    times, kinds = check.check_column(time, "time"), check.check_column(event, "event")
    times = check.check_numbers(times, "time") if times.dtype != np.float64 else times
    kinds = check.check_column(kinds.astype(np.int8) if kinds.dtype == np.bool_ else kinds, "event", times.size)
    if not (times.size == 0 or (times.min() >= 0 and times.max() < np.inf)):  # also where one is missing
        raise InputError("time", expected="finite times from 0", got=check.count_and_first(~(times >= 0), "others"))
    numbers = kinds.dtype.kind in "iuf" and bool((kinds >= 0).all())
    if not numbers or (kinds.dtype.kind == "f" and (kinds % 1 != 0).any()):
        expected = "0 (censored), 1 (the event), or 2 and above (competing events)"
        raise InputError("event", expected=expected, got=check.shown(event))
    return times, kinds


def _require_follow_up(time: Array, curve: CensoringCurve, horizon: float) -> None:
    """Raise if all rows of a stratum were censored before the horizon."""
    end = time.max()
    if not curve.time.size or end > horizon:
        return
    earlier = time[time < end]
    hint = f"the last usable one is horizon={earlier.max():g}" if earlier.size else "all rows end at that time"
    expected = f"a time at which someone is still observed, in each stratum, so below {end:g}"
    raise InputError("horizon", expected=expected, got=f"{horizon:g}", hint=hint)


def _weights(weighting: CensoringWeights, most: float | None) -> tuple[Array | None, CensoringWeights | None]:
    """Return the weights at a horizon, and how they were estimated; the user's own if nobody is censored before."""
    base, horizon = weighting.base, weighting.horizon
    if not any(curve.reached(horizon) for curve in weighting.curves):
        if weighting.excluded is None:
            return base, None
        kept = np.ones(weighting.size, np.int64) if base is None else base.copy()
        kept[weighting.excluded] = 0
        return kept, None
    weight = weighting.estimate(base)
    largest = weight.max()
    if most is not None and largest > most:
        cut = f"{int((weight > most).sum()):,} weights"
        warn(f"{cut} for censoring by {horizon:g} are above {most:g} and were cut")
        weighting = replace(weighting, note=f"{_NOTE}, {cut} cut to {most:g}", most=float(most))
        weight = np.minimum(weight, most)
    elif largest > _EXTREME:
        warn(
            f"weights for censoring by {horizon:g} reach {largest:.3g}: a few rows decide; choose an earlier "
            "horizon, or cut them with max_weight="
        )
    return weight if base is None else weight * base, weighting


def _scores_at(scores: Any, place: int, horizons: int) -> Any:
    """Return the scores for one of several horizons; an array may have a column for each."""
    if check.is_frame(scores):
        return scores
    if isinstance(scores, Mapping):
        return {name: _scores_at(column, place, horizons) for name, column in scores.items()}
    if np.ndim(scores) != 2:
        return scores
    if np.shape(scores)[1] != horizons:
        got = f"{np.shape(scores)[1]} columns"
        raise InputError("scores", expected=f"a column for each of {horizons} horizons", got=got)
    return np.asarray(scores)[:, place]
