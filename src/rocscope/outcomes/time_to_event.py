"""Inverse-probability-of-censoring weights, and the variance due to estimating them."""
# MERGED-DOC: """Binary outcomes at a time horizon from censored data, weighted by inverse probability of
# censoring."""
# MERGED-DOC: """Time-dependent figures over several horizons: intervals, their mean, and paired tests of models."""
# MERGED-DOC: """Uno's concordance index for censored times: whether cases with earlier events have higher scores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array, in_threads, pieces_of
from rocscope._base.contract import contract
from rocscope._base.public_names import reach
from rocscope._base.validation import frame_of
from rocscope.core.predictions import Predictions, independent_units, model_name
from rocscope.core.result import Result
from rocscope.errors import InputError, warn
from rocscope.figures.influence import Smooth, area
from rocscope.inference.estimate import Adjust, Comparisons, Estimate, Hypothesis
from rocscope.inference.influence_estimates import Values, compare_values, values_of_rows
from rocscope.inference.variance import EstimatedWeights, Stratum, frequencies_of, stratum_of_moves
from rocscope.kernels import SMALL
from rocscope.kernels.samples import find_places

RowNumbers = NDArray[np.intp]
_PIECE = 1 << 20  # rows that a thread takes at a time
_CELLS = 2  # for each distinct time, in which times are looked up: with 1 it takes a third longer, with 4 no less


@dataclass(frozen=True, eq=False)
class CensoringCurve:
    """Kaplan–Meier estimate of remaining uncensored in one stratum, as a function of row multiplicities.

    At tied times events come before censorings: a row with an event at u is not at risk of being censored at u.

    Attributes
    ----------
    happened, event_time : arrays
        Rows with an event of any kind by the last horizon, and its time.
    passed : array
        How many of the distinct censoring times come before each event.
    censored, censored_at : arrays
        Rows censored by the last horizon, and when.
    time, ended : arrays
        The distinct censoring times, and how many rows end at each.
    """

    happened: RowNumbers
    event_time: Array
    passed: RowNumbers
    censored: RowNumbers
    censored_at: Array
    time: Array
    ended: RowNumbers

    @cached_property
    def place(self) -> RowNumbers:
        """Which of the distinct times each censored row has."""
        return _places(self.time, self.censored_at)

    @classmethod
    def of(cls, time: Array, event: Array, until: float, rows: NDArray[np.bool_] | None) -> "CensoringCurve":
        """Return the curve of some rows, for horizons up to `until`."""

        def ended(piece: slice) -> list[RowNumbers]:
            by_then = time[piece] <= until
            if rows is not None:
                by_then &= rows[piece]
            none = event[piece] == 0
            return [np.flatnonzero(by_then & kind) + piece.start for kind in (none, ~none)]

        found = in_threads(ended, pieces_of(time.size, _PIECE))
        censored, happened = (np.concatenate([*each, np.empty(0, np.intp)]) for each in zip(*found, strict=True))
        event_time, censored_at = time[happened], time[censored]
        at, ended_at = np.unique(censored_at, return_counts=True)
        return cls(happened, event_time, _places(at, event_time), censored, censored_at, at, ended_at)

    def reached(self, horizon: float) -> int:
        """Return the number of distinct censoring times up to a horizon."""
        return int(np.searchsorted(self.time, horizon, side="right"))

    def fill(self, weight: Array, inverse: Array) -> None:
        """Write the weights of events from 1/G after none, one, … of the censoring times; later events get the last."""

        def write(piece: slice) -> None:
            weight[self.happened[piece]] = inverse.take(self.passed[piece], mode="clip")

        in_threads(write, pieces_of(self.happened.size, _PIECE))

    def hazard(self, frequency: Array | None, total: float) -> tuple[Array, Array]:
        """Return the hazard of censoring at each time, h(u) = d(u)/Y(u), and the number at risk, Y(u)."""
        k = self.time.size
        ended = self.ended if frequency is None else np.bincount(self.place, frequency[self.censored], k)
        happened = np.bincount(self.passed, None if frequency is None else frequency[self.happened], k + 1)
        beyond = total - ended.sum() - happened.sum()
        at_risk = _from_each_on(ended) + _from_each_on(happened)[1:] + beyond
        return np.divide(ended, at_risk, out=np.zeros(k), where=at_risk > 0), at_risk


def _places(ascending: Array, values: Array) -> RowNumbers:
    """Return how many of some distinct numbers are below each value."""
    if values.size < SMALL or ascending.size < 2:
        return np.searchsorted(ascending, values)
    cells = _CELLS * ascending.size
    scale = cells / (ascending[-1] - ascending[0])
    if not np.isfinite(scale):
        return np.searchsorted(ascending, values)
    cell = np.minimum((ascending - ascending[0]) * scale, cells - 1).astype(np.intp)
    starts = np.concatenate([[0], np.bincount(cell, minlength=cells).cumsum()])
    places = np.empty(values.size, np.intp)
    in_threads(
        lambda piece: find_places(ascending, starts, scale, values[piece], places[piece]),
        pieces_of(values.size, _PIECE),
    )
    return places


def _from_each_on(values: Array) -> Array:
    return values[::-1].cumsum(axis=0)[::-1]


def inverse_probability(hazard: Array) -> Array:
    """Return 1/G after none, one, … of the censoring times; 0 once nobody is at risk."""
    with np.errstate(divide="ignore"):
        inverse = 1 / np.concatenate([[1.0], np.cumprod(1 - hazard)])
    inverse[~np.isfinite(inverse)] = 0
    return inverse


@dataclass(frozen=True, eq=False, kw_only=True)
class CensoringWeights(EstimatedWeights):
    """Weights 1/G at a horizon, with the Kaplan–Meier estimate G of remaining uncensored.

    Attributes
    ----------
    horizon : float
    curves : tuple of CensoringCurve
        One a stratum.
    stratum : array of N codes, or None
    beyond : array of N
        Whether a row is observed beyond the horizon.
    excluded : array, or None
        Rows that have no weight although their outcome is known.
    most : float
        Largest weight; larger ones are cut to it.

    Notes
    -----
    log wᵢ = −Σ log(1 − h(u)) over the censoring times u that row i outlived, with h(u) = d(u)/Y(u). With B(u) the sum
    of the moves of all rows whose weight rests on u, row j moves the estimate through the weights by
    Σ_u B(u)/((1 − h(u))·Y(u)) · (1{j censored at u} − 1{j at risk at u}·h(u)).
    """

    horizon: float
    curves: tuple[CensoringCurve, ...]
    stratum: NDArray[np.intp] | None
    beyond: NDArray[np.bool_]
    excluded: RowNumbers | None = None
    most: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:
        """Return 1/G where the outcome is known, for given row multiplicities."""
        inverses = []
        for curve, total in zip(self.curves, self._totals(frequency), strict=True):
            hazard = curve.hazard(frequency, total)[0][: curve.reached(self.horizon)]
            inverses.append(np.minimum(inverse_probability(hazard), self.most))
        after = np.array([inverse[-1] for inverse in inverses])
        found = self.beyond * (after[0] if self.stratum is None else after[self.stratum])
        for curve, inverse in zip(self.curves, inverses, strict=True):
            curve.fill(found, inverse)
        if self.excluded is not None:
            found[self.excluded] = 0
        return found

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row through the weights of others."""
        through = np.zeros(moves.shape)
        for number, (curve, total) in enumerate(zip(self.curves, self._totals(self.base), strict=True)):
            beyond = np.flatnonzero(self.beyond if self.stratum is None else self.beyond & (self.stratum == number))
            last, by_then = curve.reached(self.horizon), np.flatnonzero(curve.event_time <= self.horizon)
            hazard, at_risk = (each[:last, None] for each in curve.hazard(self.base, total))
            happened, passed = curve.happened[by_then], curve.passed[by_then]
            uncut = inverse_probability(hazard[:, 0]) < self.most
            resting = (moves[happened] * uncut[passed, None]).T
            rest = np.column_stack([np.bincount(passed, each, last + 1) for each in resting])
            rest[last] += moves[beyond].sum(axis=0) * uncut[last]
            scale = (1 - hazard) * at_risk
            step = np.divide(_from_each_on(rest)[1:], scale, out=np.zeros((last, moves.shape[1])), where=scale > 0)
            drift = np.concatenate([np.zeros((1, moves.shape[1])), np.cumsum(step * hazard, axis=0)])
            through[happened] = -drift[passed]
            ended = np.flatnonzero(curve.place < last)
            place = curve.place[ended]
            through[curve.censored[ended]] = step[place] - drift[place + 1]
            through[beyond] = -drift[last]
        return through

    def _totals(self, frequency: Array | None) -> list[float]:
        """Return the number of rows in each stratum."""
        if self.stratum is None:
            return [self.size if frequency is None else frequency.sum()]
        return np.bincount(self.stratum, frequency, len(self.curves)).tolist()


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
    `rocscope.inference.variance.EstimatedWeights`; the bootstrap estimates it anew in each draw.

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


@dataclass(frozen=True, eq=False, repr=False)
class OverTime(Result):
    """A figure of each model at several horizons, and its time average.

    Attributes
    ----------
    quantity : str
    at : mapping from horizon to Comparisons
        Estimates of the models at a horizon, and the paired tests of each two.
    integrated : Comparisons
        Of the mean over time, by the trapezoidal rule from the first horizon to the last.

    Examples
    --------
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> found = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4])
    >>> found
    OverTime(AUC at 2 horizons from 2 to 4; mean over time: score 0.875)
    """

    quantity: str
    at: Mapping[float, Comparisons]
    integrated: Comparisons

    @property
    def horizons(self) -> list[float]:
        """The times, ascending."""
        return list(self.at)

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.integrated.estimates)

    def of(self, model: str) -> list[Estimate]:
        """Return a model's estimates, one per horizon."""
        model = model_name(self.models, model)
        return [found.estimates[model] for found in self.at.values()]

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure of each model against time with its intervals; see `plotting.plot_over_time`."""
        return reach("plotting").plot_over_time(self, ax)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a table with one row per model and horizon."""
        rows = [(model, t, e) for model in self.models for t, e in zip(self.at, self.of(model), strict=True)]
        columns = {"model": [model for model, _, _ in rows], "horizon": [t for _, t, _ in rows]}
        for name in ("value", "low", "high", "standard_error"):
            columns[name] = [getattr(e, name) for _, _, e in rows]
        return frame_of(columns, backend)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {each.value:.4g}" for name, each in self.integrated.estimates.items())
        first, last = self.horizons[0], self.horizons[-1]
        return (
            f"OverTime({self.quantity} at {len(self.at)} horizons from {first:g} to {last:g}; mean over time: {means})"
        )


@contract
def over_time(
    time: Any,
    event: Any,
    scores: Any,
    horizons: Any,
    *,
    statistic: Smooth | None = None,
    level: float = 0.95,
    adjust: Adjust = "holm",
    **options: Any,
) -> OverTime:
    """Compute a figure at several horizons with intervals, its time average, and paired tests of models.

    Parameters
    ----------
    time, event, scores : see `at_horizon`
    horizons : sequence of float
        Two or more, ascending.
    statistic : one of `rocscope.inference.statistics`, optional
        The AUC by default; ``statistics.brier()``, ``observed_to_expected()``, ``net_benefit_at(0.2)`` and all others.
    level, adjust : see `rocscope.compare`
    **options
        Of `at_horizon`: competing, strata, max_weight, sample_weight, groups.

    Returns
    -------
    OverTime

    Notes
    -----
    The mean over time is Σ_k (θ_k + θ_{k+1})·(t_{k+1} − t_k)/2 divided by t_K − t_1; of the Brier score it is the
    integrated Brier score. Its variance follows from the moves of the rows, which are summed over the horizons.

    Examples
    --------
    >>> from rocscope.inference import statistics
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> found = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4], statistic=statistics.brier())
    >>> found.of("score")[0]
    Estimate(0.2067, 95 % interval 0.1423 to 0.2902, influence, n=30)
    """
    statistic = area() if statistic is None else statistic
    if not isinstance(statistic, Smooth):
        raise InputError("statistic", expected="one of rocscope.inference.statistics", got=check.shown(statistic))
    times, hypothesis = horizons_of(horizons), Hypothesis(level=level)
    if len(times) < 2:
        raise InputError("horizons", expected="two or more", got=f"{len(times)}", hint="use at_horizon for one")
    rows = at_horizon(time, event, scores, times, **options)
    values = {t: values_of_rows(preds, statistic, groups=None, folds=None, weights="auto") for t, preds in rows.items()}
    found = {
        t: compare_values(each, f"{statistic.name} at {t:g}", hypothesis, adjust, statistic.scale)
        for t, each in values.items()
    }
    mean = _mean(list(values.values()), _trapezoid(np.array(times)))
    together = compare_values(mean, f"mean {statistic.name} over time", hypothesis, adjust, statistic.scale)
    return OverTime(statistic.name, found, together)


def _trapezoid(time: Array) -> Array:
    """Return trapezoidal weights for the time average from the first to the last horizon."""
    step = np.diff(time) / (time[-1] - time[0])
    return (np.append(step, 0) + np.insert(step, 0, 0)) / 2


def _mean(values: list[Values], weight: Array) -> Values:
    """Return a weighted mean of values on the same rows, and the influence of the rows."""
    first, last = values[0], values[-1].stratum
    value = sum((w * each.values for w, each in zip(weight, values, strict=True)), np.zeros(len(first.models)))
    moves = sum((w * each.stratum.moves for w, each in zip(weight, values, strict=True)), np.zeros(last.moves.shape))
    stratum = Stratum(moves, last.frequency, last.units, last.df, min(each.stratum.effective_units for each in values))
    return Values(first.models, value, stratum, first.n, values[-1].note, grouped=values[-1].grouped)


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
    counted = frequencies_of(own, None, "auto", preds.y_true, *preds.scores.values())
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
