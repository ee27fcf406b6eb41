"""Cost of miscalibration: the extra cost of acting on the probabilities instead of recalibrated probabilities.

The probabilities are recalibrated by isotonic regression (PAV, pool adjacent violators). The confidence limits come
from test inversion (`rocscope.calibration.intervals`): the cost in a sample is above 0 even for a calibrated model.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.intervals import DRAWS, DRAWS_ALONG, Direction, grouped, invert
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, evidence, pav_values
from rocscope.core import Band, Campaign, Context, ThresholdCounts, number
from rocscope.curves.curve import Curve, for_each_model
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate


class MiscalibrationCostCurve(Curve):
    """Extra cost of acting on the probabilities instead of recalibrated probabilities (y), by cost proportion (x).

    `rocscope.calibration.miscalibration_cost` computes this curve. The probabilities are recalibrated by isotonic
    regression (PAV). At the cost proportion c, a false positive costs 2c and a false negative costs 2(1 − c), as in
    `brier_curve`. Cases with a probability of at least c are predicted positive. The curve jumps at the values of the
    probabilities. The area under the curve is the miscalibration component of the Brier score.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability, reweighted to the target prevalence.

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

    def __init__(self, data: Evidence, target_prevalence: float | None) -> None:
        self.counts: ThresholdCounts = data.counts_at(target_prevalence)
        self._data, self._shift = data, Shift.of(data.outcomes, target_prevalence)
        self._sample = Outcomes.of(self.counts)
        self._fitted = pav_values(self._sample)
        # The curve jumps at the probabilities: two points of one x, before and after.
        at = np.unique(np.concatenate([[0.0, 1.0], self._sample.score, self._fitted]))
        before = _excess_cost(self._sample, self._fitted, at, "left")
        after = _excess_cost(self._sample, self._fitted, at, "right")
        x, y = np.repeat(at, 2), np.column_stack([before, after]).ravel()
        kept = np.append(True, (np.diff(x) > 0) | (np.diff(y) != 0))
        super().__init__(x=x[kept], y=y[kept], threshold=x[kept])

    def at(self, x: Any) -> Any:
        """Return the extra cost per case at a cost proportion from 0 to 1; NaN outside this range.

        Rows whose probability equals the cost proportion are predicted positive.

        Parameters
        ----------
        x : float or array
            Cost proportions.

        Examples
        --------
        At the cost proportion 0.5, the probabilities 0.6 and 0.4 are on the wrong side. Acting on the PAV value 0.5 of
        both avoids one of these two errors in four cases, and an error costs 1:

        >>> from rocscope.calibration import miscalibration_cost
        >>> miscalibration_cost([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]).at([0.2, 0.5])
        array([0.  , 0.25])
        """
        wanted = np.atleast_1d(np.asarray(x, dtype=np.float64))
        cost = _excess_cost(self._sample, self._fitted, wanted, "left")
        cost = np.where((wanted >= 0) & (wanted <= 1), cost, np.nan)
        return cost if np.ndim(x) else float(cost[0])

    def cost(self, context: Context | Campaign | None = None) -> float:
        """Return the extra cost per case for the costs of a context, in units of these costs.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.

        Raises
        ------
        InputError
            If a cost differs between rows, or if the context rewards errors.

        Examples
        --------
        Four of the ten cases with probability 0.6 are positive. Predicting them positive makes 6 errors, and predicting
        them negative makes 4 errors. The difference is 2 errors in 20 cases:

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
        """Return the extra cost per case in a context, with an interval from test inversion; see `cost`.

        Parameters
        ----------
        context : Context or Campaign, optional
            Costs and prevalence. By default, each error costs 1.
        level : float
            Confidence level.
        draws : int
            Number of simulated samples.
        random_state : int, Generator, RandomState or None
            Seed of the simulated samples.

        Examples
        --------
        >>> from rocscope import Context
        >>> from rocscope.calibration import miscalibration_cost
        >>> curve = miscalibration_cost([0, 0, 1, 1] * 25, [0.1, 0.6, 0.4, 0.9] * 25)
        >>> estimate = curve.interval(Context(), draws=50)
        >>> estimate.value == curve.cost(Context()), estimate.low <= estimate.value <= estimate.high
        (True, True)
        """
        options = {"level": level, "draws": draws, "random_state": random_state}
        return miscalibration_cost_at(self._data, self._shift.target, context, **options)

    def confidence_band(
        self, *, level: float = 0.95, draws: int = DRAWS, random_state: Any = 0, points: int = 99
    ) -> Band:
        """Return a pointwise confidence band for the curve of the true cost.

        Parameters
        ----------
        level : float
            Confidence level.
        draws : int
            Number of simulated samples of labels.
        random_state : int, Generator, RandomState or None
            Seed of the simulation.
        points : int
            Number of evenly spaced cost proportions between 0 and 1.

        Notes
        -----
        The cost in a sample is above 0 even for a calibrated model, because of sampling error. The band is therefore
        computed by test inversion. The upper limit always allows for at least one error more than observed.
        """
        at = np.arange(1, points + 1) / (points + 1)
        cost = self.at(at)
        low, high = _cost_limits(self._data, self._shift, at, cost, level, draws, random_state)
        method = f"inverted tests, {draws} draws"
        return Band(at, np.minimum(low, cost), np.maximum(high, cost), level, method, note=self._data.doubt)

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n={number(self.counts.n)}"


def miscalibration_cost_at(
    data: Evidence,
    target_prevalence: float | None,
    context: Context | Campaign | None,
    *,
    level: float,
    draws: int,
    random_state: Any,
    coarse: bool = False,
) -> Estimate:
    """Return the miscalibration cost in a context with its interval, without computing the curve.

    For `coarse`, see `grouped`.
    """
    proportion, scale = _proportion(context)
    at, plain = np.array([proportion]), data.plain.at(target_prevalence)
    cost = _costs_of_labels(plain, Shift(), at)(plain.pos[None])["cost"][0]
    shift = Shift.of(data.outcomes, target_prevalence)
    low, high = _cost_limits(data, shift, at, cost, level, draws, random_state, coarse=coarse)
    value = float(cost[0]) * scale
    low, high = min(float(low[0]) * scale, value), max(float(high[0]) * scale, value)
    return Estimate(value, low, high, level, f"inverted test, {draws} draws", data.counts.n, reason=data.doubt)


def _proportion(context: Context | Campaign | None) -> tuple[float, float]:
    """Return the cost proportion of a context, and the factor that converts costs of the curve to its units."""
    context = Context.given(context)
    harm, miss = float(context.false_alarm_cost), float(context.miss_cost)
    if not (harm >= 0 and miss >= 0 and harm + miss > 0):
        raise InputError("context", expected="costs of errors above costs of correct decisions", got=repr(context))
    return harm / (harm + miss), (harm + miss) / 2


def _cost_limits(
    data: Evidence,
    shift: Shift,
    at: Array,
    cost: Array,
    level: float,
    draws: int,
    random_state: Any,
    *,
    coarse: bool = False,
) -> tuple[Array, Array]:
    """Return confidence limits of the miscalibration cost at the cost proportions `at`."""
    level = check.check_level(level)
    check.check_whole(draws, "draws")
    data.outcomes.require_both_classes(f"an interval of the {MiscalibrationCostCurve.title}")
    sample = grouped(data.outcomes, coarse=coarse)
    curve = shift.of_chance(pav_values(sample))
    of_labels, of_chances = _costs_of_labels(sample, shift, at), _costs_of_chances(sample, shift, at)
    direction = Direction(curve, of_labels, of_chances, reach=("cost",))
    rng = check.check_random_state(random_state)
    along = min(draws, DRAWS_ALONG)
    limits = invert(sample, shift, [direction], level=level, draws=draws, draws_along=along, rng=rng)
    # One more row may be wrong, also where no draw of labels changes the cost.
    one_row = 2 * np.maximum(at, 1 - at) / sample.effective_rows
    return limits.low["cost"], np.maximum(limits.high["cost"], cost + one_row)


def _excess_cost(sample: Outcomes, fitted: Array, at: Array, side: Any) -> Array:
    """Return the extra cost of acting on scores instead of fitted probabilities, at the cost proportions `at`.

    With `side` "left", rows whose score equals the cost proportion are predicted positive; with "right", negative. At
    the cost proportion c, the threshold t costs 2·(c·(negatives at or above t) + (1 − c)·(positives below t))/n.
    """
    missed = np.append(0.0, np.cumsum(sample.pos))
    spared = np.append(0.0, np.cumsum(sample.neg))
    n_neg = sample.neg.sum()

    def loss(first: Array) -> Array:
        return 2 * (at * (n_neg - spared[first]) + (1 - at) * missed[first]) / sample.n

    loss_of_scores = loss(np.searchsorted(sample.score, at, side))
    # The side matters for scores alone: a block whose fitted share is c costs the same whether it is acted on or not.
    least_loss = loss(np.searchsorted(fitted, at, "left"))
    return np.maximum(loss_of_scores - least_loss, 0.0)


def _costs_of_labels(sample: Outcomes, shift: Shift, at: Array) -> Callable[[Array], dict[str, Array]]:
    """Return a function that computes the miscalibration costs for samples of labels.

    Acting on PAV values has the same cost as the cheapest threshold of the scores.
    """

    def statistics(pos: Array) -> dict[str, Array]:
        weighted, rows = shift.of_counts(pos, sample.total)
        rows = np.broadcast_to(rows, weighted.shape)
        first = np.searchsorted(sample.score, at)
        excess = np.empty((len(weighted), at.size))
        if kernels.compiled_pays(weighted.size * at.size):
            kernels.samples.excess(weighted, rows, at, first, excess)
        else:
            for point, proportion in enumerate(at):
                costs = (1 - proportion) * weighted - proportion * (rows - weighted)
                costs = np.cumsum(np.pad(costs, ((0, 0), (1, 0))), axis=1)
                excess[:, point] = costs[:, first[point]] - costs.min(axis=1)
        return {"cost": 2 * excess / rows.sum(axis=1, keepdims=True)}

    return statistics


def _costs_of_chances(sample: Outcomes, shift: Shift, at: Array) -> Callable[[Array], dict[str, Array]]:
    """Return a function that computes the miscalibration costs for assumed curves of the true probability."""

    def statistics(chance: Array) -> dict[str, Array]:
        rows = shift.of_counts(shift.in_sample(chance) * sample.total, sample.total)[1]
        rows = np.broadcast_to(rows, chance.shape)
        benefit = chance[..., None] - at
        is_wrong = (sample.score[:, None] >= at) != (benefit >= 0)
        cost = rows[:, None] @ (is_wrong * np.abs(benefit))
        return {"cost": 2 * cost[:, 0] / rows.sum(axis=1, keepdims=True)}

    return statistics


@for_each_model
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
    """Compute the extra cost of acting on miscalibrated probabilities, for every cost ratio.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.

    Returns
    -------
    MiscalibrationCostCurve, or Curves for several models
        Extra cost per case by cost proportion.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    net_benefit, recalibrate

    Notes
    -----
    At the cost proportion c, a case is predicted positive if its probability p is at least c. With PAV values in place
    of p, this is the best decision that any threshold on these scores can achieve. The extra cost is the difference
    between the two. The Brier curve is the cost of acting on p as a function of c, and the area under it is the Brier
    score. The area under this curve is the miscalibration component of the Brier score.

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
    data = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    return MiscalibrationCostCurve(data, target_prevalence)
