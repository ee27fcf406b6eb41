"""Outcomes at a time horizon from censored follow-up: weights, metrics over time, and the concordance index.

If a row is censored before the horizon t, its outcome at t is unknown. The other rows get
inverse-probability-of-censoring weights, so that they also represent the censored rows. Let G(u) be the probability of
remaining uncensored until time u, estimated by Kaplan–Meier. A row with an event at u ≤ t has the weight 1/G(u−). A row
that is still at risk after t has the weight 1/G(t). If an event and a censoring have the same time, the event comes
first. If censoring depends on covariates, `rocscope.outcomes.censoring` computes the weights by Cox's model or from
given probabilities.

G is estimated from the rows. Each row therefore also influences every metric through the weights of other rows;
`CensoringWeights` gives the formula. Intervals and tests include this influence.

`at_horizon` returns weighted Predictions. `over_time` estimates a metric at several horizons and its time average.
`concordance` estimates Uno's concordance index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.public_names import reach
from rocscope.core import Predictions, Provenance, Result, Weights, independent_units, model_name
from rocscope.errors import InputError, warn
from rocscope.figures.influence import Smooth, area
from rocscope.inference.estimate import Adjust, Comparisons, Estimate, Hypothesis
from rocscope.inference.influence_estimates import Values, compare_values, values_of_rows
from rocscope.inference.variance import Stratum, stratum_of_moves
from rocscope.outcomes.censoring import AtRisk, CensoringWeights, ScoreTest
from rocscope.outcomes.verification import GivenWeights

RowNumbers = Indices


Competing = Literal["negative", "exclude"]

_NOTE = "weighted for censoring"
_SAY_EVENT_CODES = "pass the codes, such as event_codes=[1, 2] for 1 = censored and 2 = event, as in R"
_EXTREME = 20.0  # above this weight, fewer than 5% remain under observation, and a few rows determine the result


@contract
def at_horizon(
    time: Any,
    event: Any,
    scores: Any,
    horizon: Any,
    *,
    event_codes: Sequence[Any] | None = None,
    competing: Competing = "negative",
    strata: Any = None,
    censoring: Any = None,
    max_weight: float | None = None,
    sample_weight: Any = None,
    weights: Weights = "auto",
    groups: Any = None,
    segment: Any = None,
    fold: Any = None,
    columns: Any = None,
) -> Any:
    """Convert censored survival data to Predictions with the outcome "event by the horizon".

    Rows are weighted to correct for censoring.

    Parameters
    ----------
    time : array of n times
        Time until the event or the end of observation, at least 0.
    event : array of n integers or booleans
        Kind of event: 0 for censored rows, 1 for the event of interest, 2 and above for competing events.
    event_codes : sequence, optional
        Values of `event`, if they are not 0, 1, 2, …: first the value for censored rows, then for the event of
        interest, then for each competing event. Examples are ``[1, 2]`` (as in R) and ``["alive", "dead"]``.
    scores : array of n, or mapping from model name to array
        Predicted risk of the event by the horizon, or any score that is higher for earlier events. With several
        horizons, an array may have one column per horizon.
    horizon : float, or sequence of float
        Horizon (or horizons): time by which the event is predicted, in the unit of `time`.
    competing : {"negative", "exclude"}
        Outcome of rows with a competing event by the horizon: "negative" makes them negatives, and "exclude" gives them
        weight 0.
    strata : array of n labels, optional
        Stratum of each row. The probability of censoring is estimated separately in each stratum.
    censoring : mapping from name to array of n, data frame, or array of n probabilities; optional
        Numeric covariates for Cox's model of censoring, as a mapping or a data frame. Or the known probability of each
        row to remain uncensored until its own time, or until the horizon if the horizon is earlier. With several
        horizons, the probabilities may have one column per horizon.
    max_weight : float, optional
        Upper limit of the censoring weights. A limit biases metrics but lowers their variance. If weights were reduced,
        a warning and a note report this.
    sample_weight, weights, groups, segment, fold, columns : see `rocscope.Predictions`
        Properties of the rows. `sample_weight` is multiplied by the censoring weights.

    Returns
    -------
    Predictions, or dict from horizon to Predictions
        Rows with the outcome at the horizon. Rows censored by the horizon have weight 0. If no row is censored by the
        horizon, the weights are `sample_weight`.

    Raises
    ------
    InputError
        If times or events are invalid, or no row is observed until the horizon. The message then names the last usable
        horizon.

    Warns
    -----
    RocscopeWarning
        If a censoring weight is above 20, or was reduced to `max_weight`.

    See Also
    --------
    over_time, concordance, read_at_horizon

    Notes
    -----
    Let G(u) be the probability of remaining uncensored until time u, estimated by Kaplan–Meier. With the horizon t, a
    row with an event at u ≤ t has the weight 1/G(u−), and a row that is still at risk after t has the weight 1/G(t). If
    an event and a censoring have the same time, the event comes first. The weighted ROC curve is the cumulative/dynamic
    ROC curve at t. Without `strata`, the weights sum to n. A weighted mean is therefore a weighted sum divided by n, as
    in Graf's Brier score.

    With covariates x, G(u|x) = exp(−Λ(u)·exp(βx)) is Cox's model of censoring, fitted to the censorings until t; Λ is
    Breslow's estimate. These weights sum to n only on average. A weighted mean is divided by the sum of the weights.

    Given the strata or covariates, censoring must be independent of the event. Intervals and tests account for the
    estimation of G; the bootstrap estimates G again in each replicate. A test at the 5% level checks whether censoring
    depends on the score in addition to the strata and covariates. If the test rejects, intervals are marked as
    unreliable. With several horizons, the test uses the last one. Known probabilities are not tested.

    References
    ----------
    Graf et al. 1999, Stat. Med. 18:2529–2545; Uno et al. 2007, J. Am. Stat. Assoc. 102:527–537; Blanche, Dartigues &
    Jacqmin-Gadda 2013, Stat. Med. 32:5381–5397.

    Examples
    --------
    One of five patients is censored at time 2, when four patients are at risk. Each of the three later patients has the
    weight 4/3:

    >>> preds = at_horizon([1, 2, 3, 4, 5], [1, 0, 1, 2, 0], [0.9, 0.5, 0.6, 0.3, 0.2], horizon=4)
    >>> preds.y_true.tolist(), (3 * preds.sample_weight).round(9).tolist()
    ([True, False, True, False, False], [3.0, 0.0, 4.0, 4.0, 4.0])
    >>> preds.prevalence
    0.466...

    If a patient's probability of remaining uncensored is known to be 2/3, the weight of this patient is 3/2 instead of
    4/3:

    >>> chance = [1, 1, 2 / 3, 0.75, 0.75]
    >>> at_horizon([1, 2, 3, 4, 5], [1, 0, 1, 2, 0], [0.9, 0.5, 0.6, 0.3, 0.2], 4, censoring=chance).sample_weight[2]
    np.float64(1.5)
    """
    times, kinds = follow_up_of(time, event, event_codes)
    horizons = horizons_of(horizon)
    n = times.size
    check.check_choice("competing", competing, ("negative", "exclude"))
    base = check.check_weights(sample_weight, n)
    code = None if strata is None else check.check_groups(strata, "strata", n)
    if max_weight is not None and not (check.is_number(max_weight) and max_weight >= 1):
        raise InputError("max_weight", expected="a number of at least 1", got=repr(max_weight))
    strata_rows: list[Indices | slice] = [slice(None)]
    if code is not None:
        strata_rows = [np.flatnonzero(code == number) for number in range(int(code.max()) + 1)]
    _require_follow_up([(times[rows], kinds[rows]) for rows in strata_rows], horizons[-1])
    if censoring is not None and strata is not None:
        hint = "pass the strata as 0/1 covariates in censoring="
        raise InputError("censoring", expected="either censoring or strata", got="both", hint=hint)
    by_name = isinstance(censoring, Mapping) or check.is_frame(censoring)
    covariates = _covariates_of(censoring, n) if by_name else np.empty((n, 0))
    note = f"{_NOTE} by Cox's model" if by_name else _NOTE
    at_risk = [AtRisk.of(times[rows], kinds[rows], horizons[-1]) for rows in strata_rows]
    labels = {"weights": weights, "groups": groups, "segment": segment, "fold": fold, "columns": columns}
    by_horizon = {}
    for column, until in enumerate(horizons):
        after = times > until
        known = after | (kinds == 1 if competing == "exclude" else kinds > 0)
        parts = tuple((rows, part.until(until)) for rows, part in zip(strata_rows, at_risk, strict=True))
        weighting: CensoringWeights | GivenWeights | None = None
        if censoring is not None and not by_name:
            given = _inverse_of_given(_column_at("censoring", censoring, column, len(horizons)), known)
            weighting = GivenWeights(n, f"{_NOTE} by given probabilities", base, given=given)
        elif any(part.time.size for _, part in parts):
            estimated = {"parts": parts, "covariates": covariates, "known": known}
            weighting = CensoringWeights(n, note, base, **estimated)
        if weighting is not None:
            weight, weighting = _weights(weighting, until, max_weight)
        else:  # the user's own weights
            weight = base if known.all() else np.where(known, 1 if base is None else base, 0)
        scores_then = _column_at("scores", scores, column, len(horizons))
        event_by_then = ~after & (kinds == 1)
        source = Provenance(("follow-up",), n, horizon=until)
        rows = Predictions(
            event_by_then, scores_then, sample_weight=weight, weighting=weighting, source=source, **labels
        )
        by_horizon[until] = rows
    # One test for all horizons: until the last one.
    last = by_horizon[horizons[-1]]
    test = ScoreTest(last, last.weighting)
    for rows in by_horizon.values():
        if isinstance(rows.weighting, CensoringWeights):
            rows.weighting = replace(rows.weighting, test=test)
    return by_horizon if np.ndim(horizon) else by_horizon[horizons[0]]


def horizons_of(horizon: Any) -> list[float]:
    """Return one or more horizons as a list, after checking that they are positive and increasing."""
    given = check.check_numbers(np.atleast_1d(np.asarray(horizon)), "horizon")
    if not given.size or (given <= 0).any() or (np.diff(given) <= 0).any():
        raise InputError("horizon", expected="one or more increasing times above 0", got=repr(horizon))
    return given.tolist()


def follow_up_of(time: Any, event: Any, event_codes: Sequence[Any] | None = None) -> tuple[Array, Array]:
    """Return the checked times, and the kind of event of each row: 0 censored, 1 event, 2 and above competing events.

    Examples
    --------
    >>> follow_up_of([3, 5, 4], ["alive", "dead", "dead"], ["alive", "dead"])[1].tolist()
    [0, 1, 1]
    """
    times = check.check_column(time, "time")
    if times.dtype.kind == "m":
        hint = "convert them to numbers, for example to days by time / numpy.timedelta64(1, 'D')"
        raise InputError("time", expected="numbers", got="time differences", hint=hint)
    if times.dtype != np.float64:
        times = check.check_numbers(times, "time")
    if times.size and not (times.min() >= 0 and times.max() < np.inf):  # a missing time fails both comparisons
        got = check.count_and_first(~(times >= 0) | (times == np.inf), "negative, missing or infinite time")
        raise InputError("time", expected="finite times of at least 0", got=got)
    kinds = check.check_column(event, "event", times.size)
    if event_codes is not None:
        return times, _decoded_events(kinds, event_codes)
    if kinds.dtype == np.bool_:
        return times, kinds.astype(np.int8)
    numbers = kinds.dtype.kind in "iuf" and bool((kinds >= 0).all())
    is_event = kinds == 1
    if not numbers or (kinds.dtype.kind == "f" and (kinds % 1 != 0).any()):
        expected = "0 (censored), 1 (the event), or 2 and above (competing events)"
    elif not is_event.any() or not ((kinds == 0).any() or is_event.all()):
        # R codes 1 for censored and 2 for the event. Read as event and competing event, no row would be censored.
        expected = "values that include 0 (censored) and 1 (the event)"
    else:
        return times, kinds
    raise InputError("event", expected=expected, got=check.listing(check.distinct(kinds)), hint=_SAY_EVENT_CODES)


def _decoded_events(event: Array, event_codes: Sequence[Any]) -> Array:
    """Return the position of each row's value in `event_codes`: 0 for censored, 1 for the event, and so on."""
    codes = check.check_column(event_codes, "event_codes")
    known = check.listing(codes.tolist())
    if codes.size < 2 or len(check.distinct(codes)) < codes.size:
        expected = "two or more different values (for censored, event and competing events)"
        raise InputError("event_codes", expected=expected, got=known)
    kinds = np.full(event.size, -1)
    for kind, code in enumerate(codes):
        kinds[np.asarray(event == code)] = kind
    if (unknown := kinds < 0).any():
        got = check.listing(check.distinct(event[unknown]))
        raise InputError("event", expected=f"only the event_codes {known}", got=f"other values: {got}")
    return kinds


def _require_follow_up(strata: list[tuple[Array, Array]], horizon: float) -> None:
    """Raise an InputError if the last row of a stratum is censored before or at the horizon."""
    ends, usable = [], []
    for time, event in strata:
        end = time.max()
        if end <= horizon and (event[time == end] == 0).any():
            ends.append(end)
            usable.append(time[time < end].max(initial=0))
    if not ends:
        return
    hint = f"use horizon={min(usable):g} or less" if min(usable) else "all rows end at this time"
    expected = f"a time below {min(ends):g} (when the observation of a stratum ends)"
    raise InputError("horizon", expected=expected, got=f"{horizon:g}", hint=hint)


def _covariates_of(censoring: Any, n: int) -> Array:
    """Return the covariates standardised to mean 0 and variance 1, so that Newton's method converges in few steps."""
    columns = check.frame_columns(censoring) if check.is_frame(censoring) else censoring
    matrix = np.empty((n, len(columns)))
    for number, (name, values) in enumerate(columns.items()):
        subject = f"censoring[{name!r}]"
        column = check.check_column(values, subject, n)
        if column.dtype.kind not in "biuf":
            hint = "encode k categories as k − 1 columns of 0/1, or pass them as strata="
            raise InputError(subject, expected="numbers", got=check.shown(values), hint=hint)
        numbers = check.check_numbers(column, subject)
        matrix[:, number] = (numbers - numbers.mean()) / (numbers.std() or 1)
    if not matrix.size or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        expected = "covariates that are not constant or collinear"
        raise InputError("censoring", expected=expected, got=check.listing(list(columns)))
    return matrix


def _inverse_of_given(probability: Any, known: Booleans) -> Array:
    """Return 1/probability for rows with a known outcome, and 0 for other rows."""
    numbers = check.check_numbers(probability, "censoring", known.size)
    impossible = known & ~((numbers > 0) & (numbers <= 1))
    if impossible.any():
        got = check.count_and_first(impossible, "other number")
        raise InputError("censoring", expected="named covariates or probabilities (above 0 and up to 1)", got=got)
    return np.divide(1, numbers, out=np.zeros(known.size), where=known)


def _weights(
    weighting: CensoringWeights | GivenWeights, horizon: float, max_weight: float | None
) -> tuple[Array, CensoringWeights | GivenWeights]:
    """Return the weights at a horizon, reduced to at most `max_weight`, and the object that estimates them."""
    weight = weighting.estimate(weighting.base)
    largest = weight.max()
    if max_weight is not None and largest > max_weight:
        cut = f"{int((weight > max_weight).sum()):,} weights"
        warn(f"{cut} for censoring by {horizon:g} were reduced to max_weight={max_weight:g}")
        note = f"{weighting.note}, {cut} reduced to {max_weight:g}"
        weighting = replace(weighting, note=note, max_weight=float(max_weight))
        weight = np.minimum(weight, max_weight)
    elif largest > _EXTREME:
        warn(
            f"weights for censoring by {horizon:g} reach {largest:.3g}: a few rows dominate the result; choose an "
            "earlier horizon, or limit the weights with max_weight="
        )
    return weight if weighting.base is None else weight * weighting.base, weighting


def _column_at(name: str, values: Any, column: int, horizons: int) -> Any:
    """Return the values for the horizon with this index; arrays may have one column per horizon."""
    if check.is_frame(values):
        return values
    if isinstance(values, Mapping):
        return {model: _column_at(name, of_model, column, horizons) for model, of_model in values.items()}
    if np.ndim(values) != 2:
        return values
    if np.shape(values)[1] != horizons:
        got = f"{np.shape(values)[1]} columns"
        raise InputError(name, expected=f"{horizons} columns, one per horizon", got=got)
    return np.asarray(values)[:, column]


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class OverTime(Result):
    """Metric of each model at several horizons, and its time average.

    Returned by `rocscope.outcomes.over_time`.

    Attributes
    ----------
    quantity : str
        Name of the metric.
    at : mapping from horizon to Comparisons
        Estimates for each model at the horizon, with a paired test for each pair of models.
    integrated : Comparisons
        Time average of the metric, computed by the trapezoidal rule from the first to the last horizon.

    Examples
    --------
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4])
    OverTime(AUC at 2 horizons from 2 to 4; mean over time: score 0.875)
    """

    quantity: str
    at: Mapping[float, Comparisons]
    integrated: Comparisons

    @property
    def horizons(self) -> list[float]:
        """Horizons in increasing order."""
        return list(self.at)

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.integrated.estimates)

    def of(self, model: str) -> list[Estimate]:
        """Return the estimates for a model, one per horizon.

        Parameters
        ----------
        model : str
            Name of the model.

        Raises
        ------
        ColumnError
            If the model is unknown.

        Examples
        --------
        >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
        >>> areas = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4])
        >>> [round(area.value, 3) for area in areas.of("score")]
        [0.75, 1.0]
        """
        model = model_name(self.models, model)
        return [comparisons.estimates[model] for comparisons in self.at.values()]

    def plot(self, ax: Any = None, *, label: str | Sequence[str] | None = None) -> Any:
        """Plot the metric of each model against the horizon, with intervals; see `plotting.plot_over_time`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        label : str or sequence of str, optional
            Legend labels, one per model.
        """
        return reach("plotting").plot_over_time(self, ax, label=label)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per model and horizon.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
        >>> areas = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4])
        >>> areas.to_frame()[["model", "horizon", "value"]].round(3)
           model  horizon  value
        0  score      2.0   0.75
        1  score      4.0   1.00
        """
        estimates = [estimate for model in self.models for estimate in self.of(model)]
        columns: dict[str, Any] = {
            "model": np.repeat(self.models, len(self.at)).tolist(),
            "horizon": self.horizons * len(self.models),
        }
        for name in ("value", "low", "high", "standard_error"):
            columns[name] = [getattr(estimate, name) for estimate in estimates]
        return check.frame_of(columns, backend)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {mean.value:.4g}" for name, mean in self.integrated.estimates.items())
        span = f"from {self.horizons[0]:g} to {self.horizons[-1]:g}"
        return f"OverTime({self.quantity} at {len(self.at)} horizons {span}; mean over time: {means})"


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
    """Estimate a metric at several horizons, and its time average, from censored survival data.

    Parameters
    ----------
    time, event, scores : see `at_horizon`
    horizons : sequence of float
        Two or more horizons in increasing order.
    statistic : one of `rocscope.inference.statistics`, optional
        Metric to estimate, such as ``statistics.brier()``, ``statistics.observed_to_expected()`` or
        ``statistics.net_benefit_at(0.2)``. By default, the AUC.
    level, adjust : see `rocscope.compare`
    **options
        Further arguments of `at_horizon`: event_codes, competing, strata, censoring, max_weight,
        sample_weight, weights, groups.

    Returns
    -------
    OverTime
        Estimates for each model with intervals, and paired tests between models.

    Raises
    ------
    InputError
        If the metric is undefined at a horizon. The message names the horizon.

    See Also
    --------
    at_horizon, concordance, plot_over_time

    Notes
    -----
    Let θ_k be the metric at horizon t_k, for k = 1, …, K. The time average is Σ_k (θ_k + θ_{k+1})·(t_{k+1} − t_k)/2,
    divided by t_K − t_1. The time average of the Brier score is the integrated Brier score. The variance of the time
    average is computed from the influences of the rows, averaged over the horizons.

    Examples
    --------
    >>> from rocscope.inference import statistics
    >>> time, event = [1, 2, 3, 4, 5, 6] * 5, [1, 1, 0, 1, 1, 0] * 5
    >>> brier = over_time(time, event, [0.9, 0.5, 0.6, 0.7, 0.3, 0.2] * 5, [2, 4], statistic=statistics.brier())
    >>> brier.of("score")[0]
    Estimate(0.2067, 95% CI [0.1423, 0.2902], n=30)
    """
    statistic = area() if statistic is None else statistic
    if not isinstance(statistic, Smooth):
        raise InputError("statistic", expected="one of rocscope.inference.statistics", got=check.shown(statistic))
    times, hypothesis = horizons_of(horizons), Hypothesis(level=level)
    if len(times) < 2:
        raise InputError(
            "horizons", expected="two or more horizons", got=f"{len(times)}", hint="for one horizon, use at_horizon"
        )
    rows = at_horizon(time, event, scores, times, **options)
    at: dict[float, Comparisons] = {}
    values = []
    for t, preds in rows.items():
        try:
            at_t = values_of_rows(preds, statistic, groups=None, folds=None)
        except InputError as error:
            raise type(error)(f"horizon {t:g}: {error}") from error
        at[t] = compare_values(at_t, f"{statistic.name} at {t:g}", hypothesis, adjust, statistic.scale)
        values.append(at_t)
    # Trapezoidal rule: each step counts half for the horizon at either end.
    step = np.diff(times) / (times[-1] - times[0])
    weight = (np.append(step, 0) + np.insert(step, 0, 0)) / 2
    # All horizons have the same rows, so the influence on the mean is the mean of the influences.
    first, last = values[0], values[-1].stratum
    mean = np.zeros(len(first.models))
    moves = np.zeros(last.moves.shape)
    for share, at_t in zip(weight, values, strict=True):
        mean += share * at_t.values
        moves += share * at_t.stratum.moves
    effective_units = min(at_t.stratum.effective_units for at_t in values)
    stratum = Stratum(moves, last.frequency, last.units, last.df, effective_units)
    over_horizons = Values(first.models, mean, stratum, first.n, values[-1].note, shortage=values[-1].shortage)
    over_horizons = replace(over_horizons, grouped=values[-1].grouped)
    quantity = f"mean {statistic.name} over time"
    return OverTime(statistic.name, at, compare_values(over_horizons, quantity, hypothesis, adjust, statistic.scale))


@contract
def concordance(
    time: Any, event: Any, scores: Any, horizon: float, *, level: float = 0.95, adjust: Adjust = "holm", **options: Any
) -> Comparisons:
    """Estimate Uno's concordance index of each model from censored survival data.

    Parameters
    ----------
    time, event, scores : see `at_horizon`
    horizon : float
        Horizon: only events up to this time are used.
    level, adjust : see `rocscope.compare`
    **options
        Further arguments of `at_horizon`: event_codes, competing, max_weight, sample_weight, weights, groups.
        With ``competing="exclude"``, a row with a competing event is used only in pairs with earlier events.

    Returns
    -------
    Comparisons
        Concordance index of each model with its interval, and a paired test for each pair of models.

    Raises
    ------
    InputError
        If `horizon` is not a single time, no event occurs by the horizon, or no pair of rows can be compared.

    See Also
    --------
    over_time, auc

    Notes
    -----
    The concordance index is the weighted share of pairs of rows that the scores rank correctly; tied scores count half.
    A pair consists of a row i with the event at Tᵢ ≤ t, where t is the horizon, and a row j with Tⱼ > Tᵢ. A row j that
    is censored at Tᵢ is also included. The weight of the pair is 1/G(Tᵢ−)²; see `at_horizon` for G. With
    ``competing="negative"``, a row i with the event and a row j with a competing event at Tⱼ ≤ Tᵢ also form a pair,
    with the weight 1/(G(Tᵢ−)·G(Tⱼ−)). The running time is O(n log² n).

    References
    ----------
    Uno et al. 2011, Stat. Med. 30:1105–1117; Wolbers et al. 2014, Biostatistics 15:526–539 (competing risks).

    Examples
    --------
    Three pairs contain the row with the event at 1; they are ranked correctly and have weight 1. The fourth pair
    contains the row with the event at 3 and is ranked wrongly. Its weight is (3/2)² = 2.25, because one of the three
    rows at risk at time 2 was censored. The index is 3/(3 + 2.25):

    >>> index = concordance([1, 2, 3, 4], [1, 0, 1, 0], [0.9, 0.4, 0.2, 0.3], horizon=3)
    >>> round(index.estimates["score"].value, 4)
    0.5714
    """
    if np.ndim(horizon):
        raise InputError("horizon", expected="one time", got=f"{np.size(horizon)} times")
    for name in ("censoring", "strata"):
        if options.get(name) is not None:
            hint = "call over_time for AUCs with these weights"
            raise InputError(name, expected="None", got="a value", hint=hint)
    (until,) = horizons_of(horizon)
    times, kinds = follow_up_of(time, event, options.get("event_codes"))
    # Only events need weights. Rows that are censored at the last event or later may therefore count as observed after
    # the horizon, so the horizon may exceed the end of the follow-up.
    outlived = (kinds == 0) & (times >= times[(kinds > 0) & (times <= until)].max(initial=0))
    observed = np.where(outlived, np.maximum(times, np.nextafter(until, np.inf)), times)
    preds = at_horizon(observed, event, scores, until, **options)
    if not preds.y_true.any():
        raise InputError("horizon", expected="a time by which events occur", got=f"{until:g} (before all events)")
    own_weight = np.ones(times.size) if preds.own_weight is None else preds.own_weight.astype(np.float64)
    weight = own_weight if preds.sample_weight is None else preds.sample_weight
    inverse = np.divide(weight, own_weight, out=np.zeros(times.size), where=own_weight > 0)
    case = own_weight * inverse * preds.y_true
    rank = np.unique(times, return_inverse=True)[1]
    competitor = (kinds > 1) & (times <= horizon)
    as_negatives = options.get("competing", "negative") == "negative"
    # A pair of an event at Tᵢ and a row with Tⱼ > Tᵢ has weight 1/G(Tᵢ−)²; both factors belong to the event. At equal
    # times events come first: a row censored at Tᵢ is known to be free of the event at Tᵢ.
    free_at_event = kinds == 0 if as_negatives else kinds != 1
    pairs = [_Pairs(case * inverse, own_weight, 2 * rank + free_at_event, 2, 0)]
    if competitor.any() and as_negatives:
        # A pair of the event and a competing event at Tⱼ ≤ Tᵢ has weight 1/(G(Tᵢ−)·G(Tⱼ−)). The key is −2·rank, plus 1
        # for competing events, so that the key of a competing event is larger than the key of an event exactly if Tⱼ ≤
        # Tᵢ.
        pairs.append(_Pairs(case, own_weight * inverse * competitor, competitor - 2 * rank, 1, 1))
    values = []
    moves = np.empty((times.size, len(preds.models)))
    by_weight = np.empty_like(moves)
    for column, score in enumerate(preds.scores.values()):
        value, moves[:, column], by_weight[:, column] = _concordance_and_moves(score, pairs)
        values.append(value)
    group, weighting = independent_units(preds), preds.weighting
    frequency = None if preds.frequency is None else own_weight
    note, doubt = "sampling weights" if frequency is None else "", ""
    if weighting is not None:
        group, note = weighting.units(group), weighting.note
        moves = moves + own_weight[:, None] * weighting.through_weights(by_weight)
        doubt = weighting.doubt
    rows = times.size if frequency is None else float(frequency.sum())
    stratum = stratum_of_moves(moves, group, frequency, rows)
    sample = Values(tuple(preds.models), np.array(values), stratum, stratum.units, note, shortage=doubt)
    return compare_values(sample, f"concordance up to {horizon:g}", Hypothesis(level=level), adjust)


class _Pairs(NamedTuple):
    """Pairs of rows in which the second row has the larger key.

    The weight of a pair is the product of the weight `first` of its first row and the weight `second` of its second
    row. These weights contain the censoring weight of the row, raised to `first_power` and `second_power`.
    """

    first: Array
    second: Array
    key: Array
    first_power: int
    second_power: int


def _concordance_and_moves(score: Array, kinds: list[_Pairs]) -> tuple[float, Array, Array]:
    """Return the weighted share of concordant pairs, the influence of each row, and its derivatives by log weights."""
    concordant, half_of_all = [], []
    for pairs in kinds:
        concordant.append(_concordant_weight(score, pairs))
        # With equal scores all pairs are tied, and each pair counts half.
        half_of_all.append(_concordant_weight(np.zeros(score.size), pairs))
    total = 2 * sum(float(as_first.sum()) for as_first, _ in half_of_all)
    if not total:
        got = "no such pair"
        raise InputError("horizon", expected="an event and a row that is observed for longer without it", got=got)
    value = sum(float(as_first.sum()) for as_first, _ in concordant) / total
    moves, by_weight = np.zeros(score.size), np.zeros(score.size)
    # The value is a ratio C/T, whose derivative is (dC − value·dT)/T.
    for pairs, (first, second), (half_first, half_second) in zip(kinds, concordant, half_of_all, strict=True):
        as_first = (first - 2 * value * half_first) / total
        as_second = (second - 2 * value * half_second) / total
        moves += as_first + as_second
        by_weight += pairs.first_power * as_first + pairs.second_power * as_second
    return value, moves, by_weight


def _concordant_weight(score: Array, pairs: _Pairs) -> tuple[Array, Array]:
    """Return for each row the weight of the concordant pairs in which it is the first row, and the second row.

    The binary digits of two different keys are equal up to some digit, which is 0 in the smaller and 1 in the larger
    key. For each digit position, the rows with equal preceding digits form a block. Within a block, rows with digit 0
    are paired with rows with digit 1. The rows are sorted once by score, and then stably by block. The running time is
    O(n log² n).
    """
    by_score = np.argsort(score, kind="stable")
    level = np.unique(score, return_inverse=True)[1][by_score]
    first, second = pairs.first[by_score], pairs.second[by_score]
    key = np.unique(pairs.key, return_inverse=True)[1][by_score]
    as_first, as_second = np.zeros(score.size), np.zeros(score.size)
    for digit in range(int(key.max()).bit_length()):
        leading = key >> (digit + 1)
        order = np.argsort(leading, kind="stable")
        is_larger = (key[order] >> digit) % 2 == 1
        larger = np.where(is_larger, second[order], 0.0)
        smaller = np.where(is_larger, 0.0, first[order])
        new_block = np.diff(leading[order], prepend=-1) != 0
        tie = np.cumsum(new_block | (np.diff(level[order], prepend=-1) != 0)) - 1
        starts = np.flatnonzero(new_block)
        # Concordant: the first row of the pair, which has the event earlier, has the higher score.
        as_first[order] += smaller * _weight_below(larger, starts, tie)
        smaller_in_block = np.add.reduceat(smaller, starts)[np.cumsum(new_block) - 1]
        as_second[order] += larger * (smaller_in_block - _weight_below(smaller, starts, tie))
    by_row = np.empty((2, score.size))
    by_row[:, by_score] = as_first, as_second
    return by_row[0], by_row[1]


def _weight_below(weight: Array, starts: Array, tie: Array) -> Array:
    """Return for each row the weight of lower scores in the same block, plus half the weight of tied scores."""
    of_tie = np.bincount(tie, weight)
    lower = np.cumsum(of_tie) - of_tie
    in_earlier_blocks = lower[tie[starts]]
    block_size = np.diff(np.append(starts, weight.size))
    return (lower + of_tie / 2)[tie] - np.repeat(in_earlier_blocks, block_size)
