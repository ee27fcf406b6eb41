"""Proper scores of probabilities, their decompositions, and the cost of miscalibration for decisions."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.bins import Strategy, binned
from rocscope.calibration.distances import DRAWS, DRAWS_ALONG, grouped
from rocscope.calibration.intervals import Direction, invert
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, evidence, outcomes, pav_values
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import Band, Result, number
from rocscope.curves.curve import Curve
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate
from rocscope.kernels import compiled_pays

ScoringRule = Literal["brier", "log_loss"]


@contract
def brier(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the Brier score: mean squared difference between probability and outcome (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.

    Returns
    -------
    float

    Raises
    ------
    ScoreError
        If a score is not a probability.

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3 (half of his sum over both classes).

    Examples
    --------
    >>> round(brier([0, 1, 1], [0.2, 0.2, 0.9]), 3)
    0.23
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _brier(sample, sample.score)


@contract
def log_loss(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the log loss: mean negative logarithm of the probability of the observed outcome (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.

    Returns
    -------
    float
        Infinite if something happened that was given the probability 0.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Examples
    --------
    >>> round(log_loss([0, 1], [0.5, 0.25]), 4)
    1.0397
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return _log_loss(sample, sample.score)


def _brier(sample: Outcomes, predicted: Array | float) -> float:
    return float(np.sum(sample.pos * (1 - predicted) ** 2 + sample.neg * predicted**2)) / sample.n


def _log_loss(sample: Outcomes, predicted: Array | float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        happened, did_not = sample.pos * np.log(predicted), sample.neg * np.log(1 - predicted)
    # what did not happen costs nothing, also at the probability 0: 0 · ∞ is 0 here
    happened[sample.pos == 0] = did_not[sample.neg == 0] = 0
    return -float(happened.sum() + did_not.sum()) / sample.n


_RULES = {"brier": _brier, "log_loss": _log_loss}


@dataclass(frozen=True)
class Decomposition(Result):
    """Decomposition of a mean score into miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score : float
        Mean score of the probabilities (Murphy's: of the mean probability of each bin).
    miscalibration : float
        What recalibration would gain; 0 for a calibrated model (Murphy: reliability).
    discrimination : float
        What the recalibrated model gains over predicting the prevalence for all (Murphy: resolution).
    uncertainty : float
        Score of predicting the prevalence for all.
    rule, method : str
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    rule: str
    method: str

    def __repr__(self) -> str:
        return (
            f"Decomposition({self.rule} {self.score:.6g} = miscalibration {self.miscalibration:.6g} − discrimination "
            f"{self.discrimination:.6g} + uncertainty {self.uncertainty:.6g}, {self.method})"
        )


@contract
def decompose(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    rule: ScoringRule = "brier",
    method: Literal["corp", "murphy"] = "corp",
    bins: int = 10,
    strategy: Strategy = "uniform",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Decomposition:
    """Decompose a mean score into miscalibration − discrimination + uncertainty.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    rule : {"brier", "log_loss"}
        The score.
    method : {"corp", "murphy"}
        What a calibrated model would say: isotonic regression (PAV), or the share of positives in each bin.
    bins, strategy : see `rocscope.calibration_curve`
        For Murphy's; his own is ``strategy="distinct"``.

    Returns
    -------
    Decomposition
        The three parts; the mean score is their sum with signs as above.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    With S the mean score, r the recalibrated probabilities and ō the prevalence, miscalibration is S(p) − S(r) and
    discrimination is S(ō) − S(r). With PAV neither can be negative, and nothing has to be chosen. With bins p is
    the mean probability of the bin, so parts and score depend on the bins, and the score is not that of the
    probabilities unless bins hold one probability each.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118, eq. 3–4. Murphy 1973, "A new vector partition of the
    probability score", J. Appl. Meteorol. 12:595–600.

    Examples
    --------
    >>> decompose([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    Decomposition(brier 0.225 = miscalibration 0.1 − discrimination 0.125 + uncertainty 0.25, CORP)
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    check.check_choice("rule", rule, list(_RULES))
    if check.check_text("method", method) == "corp":
        return _decompose(sample, pav_values(sample), rule, "CORP")
    if method == "murphy":
        cells = binned(sample, bins=bins, strategy=strategy)
        total, x, share = cells.filled()
        label = "distinct" if strategy == "distinct" else f"{total.size} {strategy}"
        return _decompose(Outcomes(x, share * total, total), share, rule, f"Murphy, {label} bins (depends on the bins)")
    raise InputError("method", expected="'corp' or 'murphy'", got=repr(method))


def _decompose(sample: Outcomes, recalibrated: Array, rule: str, method: str) -> Decomposition:
    mean_score = _RULES[rule]
    score, best = mean_score(sample, sample.score), mean_score(sample, recalibrated)
    uncertainty = mean_score(sample, sample.prevalence)
    # neither difference is below 0 but for rounding
    return Decomposition(score, max(score - best, 0.0), max(uncertainty - best, 0.0), uncertainty, rule, method)


class MiscalibrationCostCurve(Curve):
    """Cost of acting on the probabilities minus that of acting on their PAV values (y), by cost proportion (x).

    Made by `rocscope.calibration.miscalibration_cost`. At the proportion c a false positive costs 2c and a false
    negative 2(1 − c), as in `brier_curve`: acting from probability c on. It jumps at the probabilities.

    Attributes
    ----------
    counts : ThresholdCounts
        At the prevalence that it is for.

    Examples
    --------
    >>> from rocscope.calibration import miscalibration_cost
    >>> curve = miscalibration_cost([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> curve
    MiscalibrationCostCurve(area=0.06, n=4)
    >>> curve.at(0.2)  # no probability is on the wrong side of 0.2
    0.0
    """

    title = "cost of miscalibration"
    x_name = "cost_proportion"
    y_name = "loss"

    def __init__(self, known: Evidence, target_prevalence: float | None) -> None:
        self.counts: ThresholdCounts = known.counts_at(target_prevalence)
        self._known, self._shift = known, Shift.of(known.outcomes, target_prevalence)
        sample = Outcomes.of(self.counts)
        self._sample, self._fitted = sample, pav_values(sample)
        at = np.unique(np.concatenate([[0.0, 1.0], sample.score, self._fitted]))
        ends = (_excess(sample, self._fitted, at, side) for side in ("left", "right"))
        x, y = np.repeat(at, 2), np.stack(list(ends), axis=1).ravel()
        kept = np.append(True, (np.diff(x) > 0) | (np.diff(y) != 0))
        super().__init__(x[kept], y[kept], x[kept])

    def at(self, x: Any) -> Any:
        """Return the cost at a proportion; at a probability, that of acting on it."""
        wanted = np.atleast_1d(np.asarray(x, dtype=np.float64))
        found = np.where((wanted >= 0) & (wanted <= 1), _excess(self._sample, self._fitted, wanted, "left"), np.nan)
        return found if np.ndim(x) else float(found[0])

    def area(self) -> float:
        """Return the area: the miscalibration component of the Brier score."""
        return super().area()

    def cost(self, context: Context | Campaign | None = None) -> float:
        """Return the cost of acting on the probabilities instead of their PAV values, per case, in the context's units.

        Examples
        --------
        Of ten cases with the probability 0.6 four have the event; who acts on them, 4 times rightly, 6 wrongly, loses
        two errors in twenty cases:

        >>> from rocscope import Context, ThresholdCounts
        >>> curve = miscalibration_cost(ThresholdCounts([0.6, 0.2], [4, 2], [6, 8]))
        >>> round(curve.cost(Context()), 12), round(curve.cost(Context(cost_fp=55, cost_fn=45)), 12)
        (0.1, 7.5)
        """
        proportion, scale = _proportion(context)
        return float(self.at(proportion)) * scale

    def interval(
        self,
        context: Context | Campaign | None = None,
        *,
        level: float = 0.95,
        draws: int = DRAWS,
        random_state: Any = 0,
    ) -> Estimate:
        """Return that cost with an interval from test inversion (see `confidence_band`)."""
        options = {"level": level, "draws": draws, "random_state": random_state}
        return miscalibration_cost_at(self._known, self._shift.target, context, **options)

    def confidence_band(
        self, *, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0, points: int = 99
    ) -> Band:
        """Return a confidence band for the true cost at some proportions.

        Parameters
        ----------
        level : float
        draws : int
            Of labels, from the probabilities.
        random_state : int, Generator, RandomState or None
        points : int
            How many proportions, evenly between 0 and 1.

        Notes
        -----
        The cost found is above 0 by chance alone; the band inverts tests (`rocscope.calibration.intervals`).
        It allows for one wrong row at least, also where all rows are acted on, or none.
        """
        at = np.arange(1, points + 1) / (points + 1)
        found = self.at(at)
        low, high = _limits(self._known, self._shift, at, found, level, draws, random_state)
        method = f"inverted tests, {draws} draws"
        return Band(at, np.minimum(low, found), np.maximum(high, found), level, method)

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n={number(self.counts.n)}"


def miscalibration_cost_at(
    known: Evidence,
    target_prevalence: float | None,
    context: Context | Campaign | None,
    *,
    level: float,
    draws: int,
    random_state: Any,
    coarse: bool = False,
) -> Estimate:
    """Return the cost in a context with its interval, without the curve of all others; `coarse` as in `grouped`."""
    proportion, scale = _proportion(context)
    at, plain = np.array([proportion]), Outcomes.of(known.counts_at(target_prevalence))
    found = _costs(plain, Shift(), at)(plain.pos[None])["cost"][0]
    shift = Shift.of(known.outcomes, target_prevalence)
    low, high = _limits(known, shift, at, found, level, draws, random_state, coarse=coarse)
    value = float(found[0]) * scale
    low, high = min(float(low[0]) * scale, value), max(float(high[0]) * scale, value)
    return Estimate(value, low, high, level, f"inverted test, {draws} draws", known.counts.n)


def _limits(
    known: Evidence,
    shift: Shift,
    at: Array,
    found: Array,
    level: float,
    draws: int,
    random_state: Any,
    *,
    coarse: bool = False,
) -> tuple[Array, Array]:
    """Return limits of the costs found at some proportions."""
    level = check.check_level(level)
    check.check_whole(draws, "draws")
    known.outcomes.require_both_classes(f"an interval of the {MiscalibrationCostCurve.title}")
    sample = grouped(known.outcomes, coarse=coarse)
    options = {"level": level, "draws": draws, "draws_along": min(draws, DRAWS_ALONG)}
    curve = shift.of_chance(pav_values(sample))
    way = Direction(curve, _costs(sample, shift, at), _true_costs(sample, shift, at), reach=("cost",))
    limits = invert(sample, shift, [way], rng=check.check_random_state(random_state), **options)
    one_row = 2 * np.maximum(at, 1 - at) / sample.n
    return limits.low["cost"], np.maximum(limits.high["cost"], found + one_row)


def _proportion(context: Context | Campaign | None) -> tuple[float, float]:
    """Return the cost proportion of a context (equal costs by default), and the scale of its costs relative to the
    curve.
    """
    context = Context.given(context)
    harm, miss = float(context.false_alarm_cost), float(context.miss_cost)
    if not (harm >= 0 and miss >= 0 and harm + miss > 0):
        raise InputError("context", expected="errors that cost more than being right", got=repr(context))
    return harm / (harm + miss), (harm + miss) / 2


def _excess(sample: Outcomes, fitted: Array, at: Array, side: Any) -> Array:
    """Return the cost of acting on scores minus that of acting on fitted probabilities, on one side of proportions."""
    missed, spared = (np.append(0.0, np.cumsum(column)) for column in (sample.pos, sample.neg))
    n_neg = sample.neg.sum()

    def loss(first: Array) -> Array:
        return 2 * (at * (n_neg - spared[first]) + (1 - at) * missed[first]) / sample.n

    own, best = loss(np.searchsorted(sample.score, at, side)), loss(np.searchsorted(fitted, at, "left"))
    return np.maximum(own - best, 0.0)


def _costs(sample: Outcomes, shift: Shift, at: Array) -> Any:
    """Return what finds the costs of samples of labels: PAV values act from the level of least cost on."""

    def statistics(pos: Array) -> dict[str, Array]:
        weighted, rows = shift.of_counts(pos, sample.total)
        rows = np.broadcast_to(rows, weighted.shape)
        own, found = np.searchsorted(sample.score, at), np.empty((len(weighted), at.size))
        if compiled_pays(weighted.size):
            kernels.samples.excess(weighted, rows, at, own, found)
        else:
            for point, (proportion, level) in enumerate(zip(at, own, strict=True)):
                costs = (1 - proportion) * weighted - proportion * (rows - weighted)
                costs = np.cumsum(np.pad(costs, ((0, 0), (1, 0))), axis=1)
                found[:, point] = costs[:, level] - costs.min(axis=1)
        return {"cost": 2 * found / rows.sum(axis=1, keepdims=True)}

    return statistics


def _true_costs(sample: Outcomes, shift: Shift, at: Array) -> Any:
    def truth(chance: Array) -> dict[str, Array]:
        rows = np.broadcast_to(shift.of_counts(shift.in_sample(chance) * sample.total, sample.total)[1], chance.shape)
        beyond = chance[..., None] - at
        wrong = (sample.score[:, None] >= at) != (beyond >= 0)
        cost = rows[:, None] @ (wrong * np.abs(beyond))
        return {"cost": 2 * cost[:, 0] / rows.sum(axis=1, keepdims=True)}

    return truth


@contract
def miscalibration_cost(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> MiscalibrationCostCurve:
    """Compute the cost of acting on uncalibrated probabilities for every cost ratio.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: then they are not taken as independent.

    Returns
    -------
    MiscalibrationCostCurve

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    At cost proportion c who acts on p does so from p ≥ c on; PAV values are the best that any threshold on the same
    scores can do. The Brier score is the area under the loss of acting on p over all c (the Brier curve), so the area
    under this curve is its miscalibration part exactly.

    References
    ----------
    Hernández-Orallo, Flach & Ferri 2011, "Brier curves: a new cost-based visualisation of classifier performance",
    ICML; Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> from rocscope.calibration import decompose
    >>> label, score = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]
    >>> curve = miscalibration_cost(label, score)
    >>> round(curve.area(), 12), round(decompose(label, score).miscalibration, 12)
    (0.1, 0.1)
    """
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    return MiscalibrationCostCurve(known, target_prevalence)
