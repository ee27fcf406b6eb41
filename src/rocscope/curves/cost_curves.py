"""Decision curve (net benefit against threshold probability) and cost curve.

Cost space: expected cost against the operating condition, as lower envelope and as Brier curve.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core import Context, ThresholdCounts
from rocscope.curves.curve import Curve, cumulative, of_one_or_several, scalar
from rocscope.errors import InputError
from rocscope.geometry.hull import pool
from rocscope.sample import counts_of


class CostCurve(Curve):
    """Normalised expected cost of the best threshold (y) against the probability cost of positives (x).

    Computed by `rocscope.cost_curve`. Each threshold is a straight line from its fpr at x = 0 to its fnr at x = 1. The
    curve is the lower envelope of these lines, which is the dual of the ROC hull.

    Attributes
    ----------
    counts : ThresholdCounts
    fpr, fnr : arrays with one entry per threshold
        Heights of the lines at x = 0 and x = 1, in order of decreasing threshold.
    """

    title = "cost curve"
    x_name = "probability_cost"
    y_name = "normalised_cost"

    def __init__(self, counts: ThresholdCounts) -> None:
        counts.require_both_classes(self.title)
        self.counts = counts
        tp, fp = cumulative(pool(counts))
        rise, run = np.diff(tp) / counts.n_pos, np.diff(fp) / counts.n_neg
        # Two neighbours on the hull cost the same where the slope (1 − x)/x is that of the segment between them.
        border = run / (rise + run)
        fpr, fnr = fp / counts.n_neg, (counts.n_pos - tp) / counts.n_pos
        x = np.concatenate(([0.0], border, [1.0]))
        owner = np.concatenate((np.arange(tp.size), [tp.size - 1]))
        threshold = np.concatenate(([np.inf], pool(counts).threshold.astype(np.float64)))
        super().__init__(x, x * fnr[owner] + (1 - x) * fpr[owner], threshold[owner])

    def recount(self, counts: ThresholdCounts) -> "CostCurve":
        """Return the curve for other counts, such as a resample."""
        return CostCurve(counts)

    @property
    def fpr(self) -> Array:
        """False-positive rate of each threshold: the height of its line at x = 0."""
        return cumulative(self.counts)[1] / self.counts.n_neg

    @property
    def fnr(self) -> Array:
        """False-negative rate of each threshold: the height of its line at x = 1."""
        return (self.counts.n_pos - cumulative(self.counts)[0]) / self.counts.n_pos

    @staticmethod
    def probability_cost(context: Context, prevalence: float) -> float:
        """Return the position of a context on the x axis: x = 1/(1 + m) for the slope m of its iso-performance line.

        Examples
        --------
        >>> CostCurve.probability_cost(Context(cost_fp=1, cost_fn=2), prevalence=1 / 3)
        0.5
        """
        return 1 / (1 + context.slope(prevalence))

    @property
    def trivial(self) -> Curve:
        """Cost of the better trivial classifier (nobody or everybody positive), min(x, 1 − x)."""
        return Curve([0.0, 0.5, 1.0], [0.0, 0.5, 0.0], [np.inf, np.inf, -np.inf])

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


@contract
def cost_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> Any:
    """Compute the cost curve: expected cost of the best threshold for every prevalence and cost ratio.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model, or of several
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`.

    Returns
    -------
    CostCurve, or Curves if there are several models and `model` is not given

    Raises
    ------
    InputError
        See `ThresholdCounts.from_scores`; OneClassError if one class is missing.

    See Also
    --------
    brier_curve, hull, choose

    Notes
    -----
    x = π·cost_fn / (π·cost_fn + (1 − π)·cost_fp), where costs of correct predictions are subtracted first, and
    y = x·fnr + (1 − x)·fpr, the expected cost divided by its maximum. The area is the expected normalised cost if x is
    uniformly distributed.

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
    how = {"model": model, "pos_label": pos_label, "sample_weight": sample_weight}
    return of_one_or_several(lambda _, counts: CostCurve(counts), y_true, y_score, **how)


class BrierCurve(Curve):
    """Expected loss (y) of acting on the probabilities, by cost proportion (x).

    Computed by `rocscope.curves.brier_curve`. A case is predicted positive iff its probability is at least x. The curve
    jumps at the probabilities of cases and has two points there: the first is the value at this x, the second the value
    just above it.

    Attributes
    ----------
    counts : ThresholdCounts
    """

    title = "Brier curve"
    x_name = "cost_proportion"
    y_name = "loss"

    def __init__(self, counts: ThresholdCounts) -> None:
        self.counts = counts
        self._scores = scores = counts.probabilities(self.title)[::-1]
        tp, fp = (column[::-1] for column in cumulative(counts))  # at or above the first score, the second, …
        edges = np.concatenate(([0.0], scores, [1.0]))
        x = np.repeat(edges, 2)[1:-1]
        tp, fp = np.repeat(tp, 2), np.repeat(fp, 2)
        loss = 2 * ((1 - x) * (counts.n_pos - tp) + x * fp) / counts.n
        super().__init__(x, loss, x)

    def recount(self, counts: ThresholdCounts) -> "BrierCurve":
        """Return the curve for other counts, such as a resample."""
        return BrierCurve(counts)

    def at(self, x: Any) -> Any:
        """Return the loss at a cost proportion."""
        wanted = np.asarray(x, dtype=np.float64)
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        below = np.searchsorted(self._scores, wanted, side="left")
        loss = 2 * ((1 - wanted) * (self.counts.n_pos - tp[below]) + wanted * fp[below]) / self.counts.n
        return scalar(np.where((wanted >= 0) & (wanted <= 1), loss, np.nan))

    def _facts(self) -> str:
        return f"area={self.area():.6g}, n_pos={self.counts.n_pos:g}, n_neg={self.counts.n_neg:g}"


@contract
def brier_curve(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> BrierCurve:
    """Compute the Brier curve: expected loss of acting on the probabilities, for every cost ratio.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        `y_true` is labels, with scores as `y_score`; or it is Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch, without `y_score`. See `rocscope.sample`, also for the other parameters.

    Returns
    -------
    BrierCurve
        Its area is the Brier score.

    Raises
    ------
    ScoreError
        If a score is not a probability; see also `ThresholdCounts.from_scores`.

    See Also
    --------
    cost_curve, brier

    Notes
    -----
    y = 2·[(1 − x)·fn + x·fp]/n at the threshold x = cost_fp/(cost_fp + cost_fn). The difference from the lower envelope
    (twice the cost of the cost curve at the prevalence of the sample) is the loss from miscalibration.

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
    """Net benefit (y) against the threshold probability (x) from which a case is treated.

    Computed by `rocscope.net_benefit`.

    Attributes
    ----------
    counts : ThresholdCounts
    prevalence : float
        Share of positives for which the curve is computed.
    standardized : bool
        True if net benefit is divided by its largest value, the prevalence.
    harm : float
        Cost of determining the risk, in true positives per case.
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
        """Return the curve for other counts, such as a resample."""
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
        """Return the net benefit at a threshold probability, computed from the counts without interpolation.

        Examples
        --------
        >>> net_benefit([1, 1, 0, 0], [0.8, 0.6, 0.6, 0.2]).at(0.5)
        0.25
        """
        wanted = np.asarray(x, dtype=np.float64)
        inside = (wanted >= 0) & (wanted < 1)
        return scalar(np.where(inside, self._net_benefit(np.where(inside, wanted, 0.5)), np.nan))

    @property
    def treat_all(self) -> Curve:
        """Net benefit of treating everybody."""
        return Curve(self.x, self._weigh(self.x, 1.0, 1.0), np.full(self.x.size, -np.inf))

    @property
    def treat_none(self) -> Curve:
        """Net benefit of treating nobody: 0."""
        return Curve(self.x, np.zeros(self.x.size), np.full(self.x.size, np.inf))

    @property
    def interventions_avoided(self) -> Curve:
        """Treatments avoided per 100 cases compared with treating everybody, at the same number of missed positives.

        Notes
        -----
        100·(net benefit − net benefit of treating all)·(1 − x)/x, not standardized.
        """
        spared = self.y - self.treat_all.y
        if self.standardized:
            spared = spared * self.prevalence
        # At a threshold probability of 0 everybody is treated: none is avoided.
        odds = np.where(self.x > 0, self.x / (1 - self.x), 1.0)
        return Curve(self.x, 100 * spared / odds, self.threshold)

    def columns(self) -> dict[str, Array]:
        """Return the points with both references."""
        references = {"treat_all": self.treat_all.y, "treat_none": self.treat_none.y}
        return super().columns() | references | {"interventions_avoided_per_100": self.interventions_avoided.y}

    def area(self) -> float:
        raise InputError("the area under a decision curve has no meaning", hint="compare it at the threshold of use")

    def _facts(self) -> str:
        kind = "standardized, " if self.standardized else ""
        return f"{kind}prevalence={self.prevalence:.4g}, {super()._facts()}"


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
    """Compute the decision curve: net benefit of treating cases at or above each threshold probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model, or of several
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`.
    threshold : float or array, optional
        One or several increasing threshold probabilities, from 0 to below 1; by default 0.01, 0.02, …, 0.99.
    target_prevalence : float, optional
        Share of positives where the model will be used; by default the share in the sample.
    standardized : bool
        If True, divide net benefit by the prevalence, so that a perfect model has 1.
    harm : float, or mapping from model name to float
        Cost of determining the risk, in true positives per case; it is subtracted from the net benefit. Example: 0.02
        if testing 50 patients is worth finding one positive.

    Returns
    -------
    NetBenefitCurve, or Curves if there are several models and `model` is not given

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If a threshold is not from 0 to below 1; see also `ThresholdCounts.from_scores`.

    See Also
    --------
    choose, calibration_curve

    Notes
    -----
    NB(x) = π·tpr − (1 − π)·fpr·x/(1 − x), in true positives per case; at the prevalence of the sample it is
    tp/n − fp/n·x/(1 − x). Treating cases with a risk of at least x means that a missed positive costs (1 − x)/x times
    as much as an unnecessary treatment. Scores are not recalibrated, so miscalibration lowers the net benefit.

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

    def make(name: str | None, counts: ThresholdCounts) -> NetBenefitCurve:
        lost = harm.get(str(name), 0) if isinstance(harm, Mapping) else harm
        check.check_number(lost, "harm", "a number of true positives per case of at least 0", least=0)
        how: Any = {"target_prevalence": target_prevalence, "standardized": standardized, "harm": lost}
        return NetBenefitCurve(counts, grid, **how)

    return of_one_or_several(make, y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)


def _grid(threshold: Any) -> Array:
    grid = check.check_numbers([threshold] if check.is_number(threshold) else threshold, "threshold")
    if not ((grid >= 0) & (grid < 1)).all() or (np.diff(grid) <= 0).any():
        raise InputError(
            "threshold", expected="increasing probabilities from 0 to below 1", got=repr(grid[:5].tolist())
        )
    return grid
