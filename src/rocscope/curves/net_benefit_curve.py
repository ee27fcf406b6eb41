"""Decision curve: net benefit of acting on a predicted risk, against the risk from which one acts."""

from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.curve import Curve, cumulative, scalar
from rocscope.errors import InputError
from rocscope.sample import counts_of


class NetBenefitCurve(Curve):
    """Net benefit (y) against the threshold probability (x) from which a case is treated.

    Made by `rocscope.net_benefit`.

    Attributes
    ----------
    counts : ThresholdCounts
    prevalence : float
        Share of positives that it is computed at.
    standardized : bool
        Whether net benefit is divided by its largest value, the prevalence.
    """

    title = "decision curve"
    x_name = "threshold_probability"
    y_name = "net_benefit"

    def __init__(
        self, counts: ThresholdCounts, threshold: Array, *, target_prevalence: float | None, standardized: bool
    ) -> None:
        counts.require_both_classes(self.title)
        counts.require_probabilities(self.title)
        self.counts, self.standardized, self._target = counts, standardized, target_prevalence
        self.prevalence = counts.prevalence if target_prevalence is None else target_prevalence
        super().__init__(threshold, self._net_benefit(threshold), threshold)

    def recount(self, counts: ThresholdCounts) -> "NetBenefitCurve":
        """Return the curve that is made in the same way from other counts, such as those of a resample."""
        return NetBenefitCurve(counts, self.x, target_prevalence=self._target, standardized=self.standardized)

    def _rates(self, threshold: Array) -> tuple[Array, Array]:
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        level = np.searchsorted(self.counts.threshold[::-1].astype(np.float64), threshold, side="left")
        return tp[level] / self.counts.n_pos, fp[level] / self.counts.n_neg

    def _weigh(self, threshold: Array, tpr: Any, fpr: Any) -> Array:
        harm = threshold / (1 - threshold)
        benefit = self.prevalence * tpr - (1 - self.prevalence) * fpr * harm
        return benefit / self.prevalence if self.standardized else benefit

    def _net_benefit(self, threshold: Array) -> Array:
        return self._weigh(threshold, *self._rates(threshold))

    def at(self, x: Any) -> Any:
        """Return the net benefit at a threshold probability, computed there and not between points."""
        wanted = np.asarray(x, dtype=np.float64)
        inside = (wanted > 0) & (wanted < 1)
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
        """Treatments spared for each 100 cases, against treating everybody, without one positive missed more.

        Notes
        -----
        100·(net benefit − that of treating all)·(1 − x)/x, of net benefit that is not standardized.
        """
        spared = self.y - self.treat_all.y
        if self.standardized:
            spared = spared * self.prevalence
        return Curve(self.x, 100 * spared * (1 - self.x) / self.x, self.threshold)

    def columns(self) -> dict[str, Array]:
        """Return the points with both references."""
        references = {"treat_all": self.treat_all.y, "treat_none": self.treat_none.y}
        return super().columns() | references | {"interventions_avoided_per_100": self.interventions_avoided.y}

    def area(self) -> float:
        raise InputError("a decision curve has no area that means anything", hint="compare it at the threshold of use")

    def _facts(self) -> str:
        kind = "standardized, " if self.standardized else ""
        return f"{kind}prevalence={self.prevalence:.4g}, {super()._facts()}"


def net_benefit(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    grid: Any = None,
    target_prevalence: float | None = None,
    standardized: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> NetBenefitCurve:
    """Decision curve: net benefit of treating cases whose predicted risk is at least a threshold probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
    grid : array, optional
        Increasing threshold probabilities between 0 and 1; by default 0.01, 0.02, …, 0.99.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.
    standardized : bool
        Divide by the prevalence, so that a perfect model has 1.

    Returns
    -------
    NetBenefitCurve

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If a threshold is not between 0 and 1; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    NB(x) = π·tpr − (1 − π)·fpr·x/(1 − x), in true positives a case: at the sample's prevalence tp/n − fp/n·x/(1 − x).
    Who acts from the risk x on says that a missed positive costs (1 − x)/x times a needless treatment. Computed at
    the scores as they are: a model that is not calibrated is judged for it.

    References
    ----------
    Vickers & Elkin 2006, "Decision curve analysis", Med. Decis. Making 26; Kerr et al. 2016, J. Clin. Oncol. 34
    (standardized net benefit).

    Examples
    --------
    >>> curve = net_benefit([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], grid=[0.2, 0.5])
    >>> curve.y
    array([0.4375, 0.    ])
    """
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if target_prevalence is not None:
        check.check_share(target_prevalence, "target_prevalence")
    if grid is None:
        grid = np.arange(1, 100) / 100
    else:
        grid = check.check_column(grid, "grid").astype(np.float64)
        if not ((grid > 0) & (grid < 1)).all() or (np.diff(grid) <= 0).any():
            raise InputError("grid", expected="increasing probabilities between 0 and 1", got=repr(grid[:5].tolist()))
    return NetBenefitCurve(counts, grid, target_prevalence=target_prevalence, standardized=standardized)
