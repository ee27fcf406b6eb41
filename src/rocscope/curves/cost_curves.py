"""Cost curve, Brier curve, and decision curve (net benefit against threshold probability).

Cost curves and Brier curves show the expected cost for all prevalences and costs. The cost curve uses the best
threshold for each condition. The Brier curve uses the threshold that is optimal for calibrated probabilities.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import Context, ThresholdCounts
from rocscope.curves.curve import Curve, cumulative, for_each_model, scalar
from rocscope.errors import InputError
from rocscope.geometry.hull import pool
from rocscope.sample import counts_of


class CostCurve(Curve):
    """Cost curve: normalised expected cost of the best threshold (y) against the probability cost of positives (x).

    Computed by `rocscope.cost_curve`, whose Notes define x and y. Each threshold has a straight line from its fpr at
    x = 0 to its fnr at x = 1. The curve is the lower envelope of these lines. It is the dual of the ROC hull.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each score.
    fpr, fnr : arrays with one entry per threshold
        Heights of the lines at x = 0 and at x = 1, in order of decreasing threshold.
    """

    title = "cost curve"
    x_name = "probability_cost"
    y_name = "normalised_cost"

    def __init__(self, counts: ThresholdCounts) -> None:
        counts.require_both_classes(self.title)
        self.counts = counts
        tp, fp = cumulative(pool(counts))
        rise, run = np.diff(tp) / counts.n_pos, np.diff(fp) / counts.n_neg
        # Two neighbouring points on the hull have the same cost if (1 − x)/x is the slope of the segment between them.
        border = run / (rise + run)
        fpr, fnr = fp / counts.n_neg, (counts.n_pos - tp) / counts.n_pos
        x = np.concatenate(([0.0], border, [1.0]))
        owner = np.concatenate((np.arange(tp.size), [tp.size - 1]))
        threshold = np.concatenate(([np.inf], pool(counts).threshold.astype(np.float64)))
        super().__init__(x, x * fnr[owner] + (1 - x) * fpr[owner], threshold[owner])

    def recount(self, counts: ThresholdCounts) -> "CostCurve":
        """Return a cost curve for other counts, such as the counts of a bootstrap replicate.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.
        """
        return CostCurve(counts)

    @property
    def fpr(self) -> Array:
        """False-positive rate at each threshold. The cost line of the threshold has this height at x = 0."""
        return cumulative(self.counts)[1] / self.counts.n_neg

    @property
    def fnr(self) -> Array:
        """False-negative rate at each threshold. The cost line of the threshold has this height at x = 1."""
        return (self.counts.n_pos - cumulative(self.counts)[0]) / self.counts.n_pos

    @staticmethod
    def probability_cost(context: Context, prevalence: float) -> float:
        """Return the x of a context: 1/(1 + m), where m is the slope of its iso-performance lines in ROC space.

        Parameters
        ----------
        context : Context
            Costs.
        prevalence : float
            Share of positives.

        Examples
        --------
        >>> CostCurve.probability_cost(Context(cost_fp=1, cost_fn=2), prevalence=1 / 3)
        0.5
        """
        return 1 / (1 + context.slope(prevalence))

    @property
    def trivial(self) -> Curve:
        """Cost of the better trivial classifier, which predicts no case or every case positive: min(x, 1 − x)."""
        return Curve([0.0, 0.5, 1.0], [0.0, 0.5, 0.0], [np.inf, np.inf, -np.inf])

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


@for_each_model
@contract
def cost_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> Any:
    """Compute the cost curve: expected cost of the best threshold, for all prevalences and cost ratios.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true`, and scores or a mapping from model name to scores as `y_score`. Alternatively, pass
        Predictions, ThresholdCounts, or a mapping from model name to such data as `y_true`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    CostCurve or Curves
        The curve of one model. If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    OneClassError
        If the data contain only one class.

    See Also
    --------
    brier_curve, hull, choose

    Notes
    -----
    The costs of correct predictions are first subtracted from cost_fn and cost_fp. For a prevalence π,
    x = π·cost_fn / (π·cost_fn + (1 − π)·cost_fp). The expected cost divided by the largest possible expected cost is
    y = x·fnr + (1 − x)·fpr. The area under the curve is the mean of y if x is uniformly distributed.

    References
    ----------
    Drummond & Holte 2006, "Cost curves: an improved method for visualizing classifier performance", Machine
    Learning 65.

    Examples
    --------
    >>> curve = cost_curve([1, 0, 1, 0], [4, 3, 2, 1])
    >>> curve.x, curve.y
    (array([0. , 0. , 0.5, 1. , 1. ]), array([0.  , 0.  , 0.25, 0.  , 0.  ]))
    """
    return CostCurve(counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


class BrierCurve(Curve):
    """Brier curve: expected loss (y) against the cost proportion (x), which is used as the threshold.

    Computed by `rocscope.curves.brier_curve`. A case is predicted positive if and only if its probability is at least
    x. The curve jumps at each probability that occurs, and has two points there. The first point has the loss at this
    x, and the second point has the loss just above it.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability.
    """

    title = "Brier curve"
    x_name = "cost_proportion"
    y_name = "loss"

    def __init__(self, counts: ThresholdCounts) -> None:
        self.counts = counts
        self._scores = scores = counts.probabilities(self.title)[::-1]
        tp, fp = (column[::-1] for column in cumulative(counts))  # at or above each score, in increasing order
        edges = np.concatenate(([0.0], scores, [1.0]))
        x = np.repeat(edges, 2)[1:-1]
        tp, fp = np.repeat(tp, 2), np.repeat(fp, 2)
        loss = 2 * ((1 - x) * (counts.n_pos - tp) + x * fp) / counts.n
        super().__init__(x, loss, x)

    def recount(self, counts: ThresholdCounts) -> "BrierCurve":
        """Return a Brier curve for other counts, such as the counts of a bootstrap replicate.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.
        """
        return BrierCurve(counts)

    def at(self, x: Any) -> Any:
        """Return the loss at each cost proportion in `x`; NaN outside 0 to 1.

        Examples
        --------
        At the cost proportion 0.5, the probability 0.8 of the positive and 0.4 of the negative are on the right side.
        At 0.9, the positive is missed, which costs 2 · (1 − 0.9) for one of two cases:

        >>> brier_curve([1, 0], [0.8, 0.4]).at([0.5, 0.9]).round(6)
        array([0. , 0.1])
        """
        wanted = np.asarray(x, dtype=np.float64)
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        below = np.searchsorted(self._scores, wanted, side="left")
        loss = 2 * ((1 - wanted) * (self.counts.n_pos - tp[below]) + wanted * fp[below]) / self.counts.n
        return scalar(np.where((wanted >= 0) & (wanted <= 1), loss, np.nan))

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


@for_each_model
@contract
def brier_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> BrierCurve:
    """Compute the Brier curve: expected loss of decisions from the probabilities, for all cost ratios.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    BrierCurve or Curves
        The curve. The area under it is the Brier score.
        If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    InputError
        If the data are invalid; see `ThresholdCounts.from_scores`.
    ScoreError
        If a score is not between 0 and 1.

    See Also
    --------
    cost_curve, brier

    Notes
    -----
    The threshold is x = cost_fp/(cost_fp + cost_fn), which is optimal for calibrated probabilities. The loss is y =
    2·[(1 − x)·fn + x·fp]/n. The best possible loss for this x is 2·c, where c is the expected cost of the best
    threshold at the prevalence of the sample. The difference between the loss and the best possible loss is due to
    miscalibration.

    References
    ----------
    Hernández-Orallo, Flach & Ferri 2011, "Brier curves: a new cost-based visualisation of classifier performance",
    ICML.

    Examples
    --------
    >>> curve = brier_curve([1, 0], [0.8, 0.4])
    >>> round(curve.area(), 12), curve.at(0.4), curve.at(0.5)
    (0.1, 0.4, 0.0)
    """
    return BrierCurve(counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


class NetBenefitCurve(Curve):
    """Decision curve: net benefit (y) against the threshold probability (x) at or above which a case is treated.

    Computed by `rocscope.net_benefit`.

    Attributes
    ----------
    counts : ThresholdCounts
        Numbers of positives and negatives at each probability.
    prevalence : float
        Share of positives for which the net benefit is computed.
    standardized : bool
        True if the net benefit is divided by its largest possible value, the prevalence.
    harm : float
        Cost of computing the risk of a case, in true positives per case.
    """

    title = "decision curve"
    x_name = "threshold_probability"
    y_name = "net_benefit"

    def __init__(
        self,
        counts: ThresholdCounts,
        threshold: Array,
        *,
        target_prevalence: float | None,
        standardized: bool,
        harm: float = 0,
    ) -> None:
        counts.require_both_classes(self.title)
        self._scores = counts.probabilities(self.title)[::-1]
        self.counts, self.standardized, self._target, self.harm = counts, standardized, target_prevalence, harm
        self.prevalence = counts.prevalence if target_prevalence is None else target_prevalence
        super().__init__(threshold, self._net_benefit(threshold), threshold)

    def recount(self, counts: ThresholdCounts) -> "NetBenefitCurve":
        """Return a decision curve for other counts, such as the counts of a bootstrap replicate.

        Parameters
        ----------
        counts : ThresholdCounts
            Numbers of positives and negatives at each score.
        """
        how = {"target_prevalence": self._target, "standardized": self.standardized, "harm": self.harm}
        return NetBenefitCurve(counts, self.x, **how)

    def _rates(self, threshold: Array) -> tuple[Array, Array]:
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        level = np.searchsorted(self._scores, threshold, side="left")
        return tp[level] / self.counts.n_pos, fp[level] / self.counts.n_neg

    def _weigh(self, threshold: Array, tpr: Any, fpr: Any) -> Array:
        harm = threshold / (1 - threshold)
        benefit = self.prevalence * tpr - (1 - self.prevalence) * fpr * harm
        return benefit / self.prevalence if self.standardized else benefit

    def _net_benefit(self, threshold: Array) -> Array:
        harm = self.harm / self.prevalence if self.standardized else self.harm
        return self._weigh(threshold, *self._rates(threshold)) - harm

    def at(self, x: Any) -> Any:
        """Return the net benefit at each threshold probability in `x`, without interpolation.

        Parameters
        ----------
        x : float or array
            Threshold probabilities, from 0 up to but not including 1.

        Returns
        -------
        float or array
            Net benefit at each x; NaN for other x.

        Raises
        ------
        InputError
            If a value is 2 or more, such as a percentage.

        Examples
        --------
        >>> net_benefit([1, 1, 0, 0], [0.8, 0.6, 0.6, 0.2]).at(0.5)
        0.25
        """
        check.refuse_percentages(x, "x")
        wanted = np.asarray(x, dtype=np.float64)
        inside = (wanted >= 0) & (wanted < 1)
        return scalar(np.where(inside, self._net_benefit(np.where(inside, wanted, 0.5)), np.nan))

    @property
    def treat_all(self) -> Curve:
        """Net benefit of treating all cases."""
        return Curve(self.x, self._weigh(self.x, 1.0, 1.0), np.full(self.x.size, -np.inf))

    @property
    def treat_none(self) -> Curve:
        """Net benefit of treating no case: 0."""
        return Curve(self.x, np.zeros(self.x.size), np.full(self.x.size, np.inf))

    @property
    def interventions_avoided(self) -> Curve:
        """Net reduction in unnecessary treatments per 100 cases, compared with treating all cases.

        Notes
        -----
        The value is 100·(net benefit − net benefit of treating all)·(1 − x)/x, with net benefits that are not
        standardized. Each missed positive is subtracted as (1 − x)/x unnecessary treatments.
        """
        spared = self.y - self.treat_all.y
        if self.standardized:
            spared = spared * self.prevalence
        # At a threshold probability of 0 all cases are treated, so no treatment is avoided.
        odds = np.where(self.x > 0, self.x / (1 - self.x), 1.0)
        return Curve(self.x, 100 * spared / odds, self.threshold)

    def _columns(self) -> dict[str, Array]:
        """Return the columns of the table: points, net benefits of treating all or no cases, avoided treatments."""
        references = {"treat_all": self.treat_all.y, "treat_none": self.treat_none.y}
        return super()._columns() | references | {"interventions_avoided_per_100": self.interventions_avoided.y}

    def area(self) -> float:
        raise InputError("the area under a decision curve has no meaning", hint="compare it at your own threshold")

    def _facts(self) -> str:
        kind = "standardized, " if self.standardized else ""
        return f"{kind}prevalence={self.prevalence:.4g}, {super()._facts()}"


@for_each_model
@contract
def net_benefit(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    threshold: Any = None,
    target_prevalence: float | None = None,
    standardized: bool = False,
    harm: float | Mapping[str, float] = 0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Compute the decision curve: net benefit of treating the cases at or above each threshold probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one or more models
        Pass labels as `y_true`, and probabilities or a mapping from model name to probabilities as `y_score`.
        Alternatively, pass Predictions, ThresholdCounts, or a mapping from model name to such data as `y_true`.
        `rocscope.sample` describes these five parameters.
    threshold : float or array, optional
        One or more threshold probabilities, from 0 to below 1, in increasing order. By default, 0.01, 0.02, …, 0.99.
    target_prevalence : float, optional
        Share of positives in the population where the model will be used. By default, the share in the sample.
    standardized : bool
        If True, the net benefit is divided by the prevalence, so that the largest possible value is 1.
    harm : float, or mapping from model name to float
        Cost of computing the risk of a case, such as the cost of a test, in true positives per case. It is subtracted
        from the net benefit. For example, pass 0.02 if finding one positive is worth 50 tests.

    Returns
    -------
    NetBenefitCurve or Curves
        The curve of one model. If the data contain several models and `model` is None, the curves of all models.

    Raises
    ------
    ScoreError
        If a score is not between 0 and 1.
    InputError
        If a threshold is below 0 or not below 1, or if the data are invalid (see `ThresholdCounts.from_scores`).

    See Also
    --------
    choose, calibration_curve

    Notes
    -----
    At a threshold probability x and a prevalence π, the net benefit is π·tpr − (1 − π)·fpr·x/(1 − x), in true positives
    per case. At the prevalence of the sample, it equals tp/n − fp/n·x/(1 − x). The threshold x is optimal if a missed
    positive costs (1 − x)/x times as much as an unnecessary treatment. Scores are not recalibrated, so miscalibration
    lowers the net benefit.

    References
    ----------
    Vickers & Elkin 2006, "Decision curve analysis", Med. Decis. Making 26; Kerr et al. 2016, J. Clin. Oncol. 34
    (standardized net benefit).

    Examples
    --------
    >>> curve = net_benefit([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=[0.2, 0.5])
    >>> curve.y
    array([0.4375, 0.    ])
    """
    if target_prevalence is not None:
        check.check_share(target_prevalence, "target_prevalence")
    grid = np.arange(1, 100) / 100 if threshold is None else _grid(threshold)

    lost = harm.get(str(model), 0) if isinstance(harm, Mapping) else harm
    check.check_number(lost, "harm", "a number of true positives per case of at least 0", least=0)
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return NetBenefitCurve(counts, grid, target_prevalence=target_prevalence, standardized=standardized, harm=lost)


def _grid(threshold: Any) -> Array:
    grid = check.check_numbers([threshold] if check.is_number(threshold) else threshold, "threshold")
    if not ((grid >= 0) & (grid < 1)).all() or (np.diff(grid) <= 0).any():
        raise InputError(
            "threshold", expected="probabilities from 0 to below 1, in increasing order", got=repr(grid[:5].tolist())
        )
    return grid
