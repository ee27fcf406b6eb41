"""Decision curve: net benefit of acting on a predicted risk, against the risk from which one acts."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts
from rocscope.curves.curve import Curve, cumulative, scalar
from rocscope.curves.several import of_one_or_several
from rocscope.errors import InputError


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
    harm : float
        Of finding out the risk, in true positives a case.
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
        counts.require_probabilities(self.title)
        self.counts, self.standardized, self._target, self.harm = counts, standardized, target_prevalence, harm
        self.prevalence = counts.prevalence if target_prevalence is None else target_prevalence
        super().__init__(threshold, self._net_benefit(threshold), threshold)

    def recount(self, counts: ThresholdCounts) -> "NetBenefitCurve":
        """Return the curve that is made in the same way from other counts, such as those of a resample."""
        how = {"target_prevalence": self._target, "standardized": self.standardized, "harm": self.harm}
        return NetBenefitCurve(counts, self.x, **how)

    def _rates(self, threshold: Array) -> tuple[Array, Array]:
        tp, fp = (column[::-1] for column in cumulative(self.counts))
        level = np.searchsorted(self.counts.threshold[::-1].astype(np.float64), threshold, side="left")
        return tp[level] / self.counts.n_pos, fp[level] / self.counts.n_neg

    def _weigh(self, threshold: Array, tpr: Any, fpr: Any) -> Array:
        harm = threshold / (1 - threshold)
        benefit = self.prevalence * tpr - (1 - self.prevalence) * fpr * harm
        return benefit / self.prevalence if self.standardized else benefit

    def _net_benefit(self, threshold: Array) -> Array:
        harm = self.harm / self.prevalence if self.standardized else self.harm
        return self._weigh(threshold, *self._rates(threshold)) - harm

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
    threshold: Any = None,
    target_prevalence: float | None = None,
    standardized: bool = False,
    harm: float | Mapping[str, float] = 0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Decision curve: net benefit of treating cases whose predicted risk is at least a threshold probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model, or of several
        In any form; see `rocscope.sample`.
    threshold : float or array, optional
        One threshold probability between 0 and 1, or several, increasing; by default 0.01, 0.02, …, 0.99.
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.
    standardized : bool
        Divide by the prevalence, so that a perfect model has 1.
    harm : float, or mapping from model name to one
        Of finding out the risk, in true positives a case, taken off the net benefit: 0.02 where one would test 50
        patients to find one positive.

    Returns
    -------
    NetBenefitCurve, or Curves of several models of which none is named

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
    >>> curve = net_benefit([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=[0.2, 0.5])
    >>> curve.y
    array([0.4375, 0.    ])
    """
    if target_prevalence is not None:
        check.check_share(target_prevalence, "target_prevalence")
    grid = np.arange(1, 100) / 100 if threshold is None else _grid(threshold)

    def make(name: str | None, counts: ThresholdCounts) -> NetBenefitCurve:
        lost = harm.get(str(name), 0) if isinstance(harm, Mapping) else harm
        check.check_number(lost, "harm", "a number of true positives a case of at least 0", least=0)
        how: Any = {"target_prevalence": target_prevalence, "standardized": standardized, "harm": lost}
        return NetBenefitCurve(counts, grid, **how)

    return of_one_or_several(make, y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)


def _grid(threshold: Any) -> Array:
    grid = check.check_numbers([threshold] if check.is_number(threshold) else threshold, "threshold")
    if not ((grid > 0) & (grid < 1)).all() or (np.diff(grid) <= 0).any():
        raise InputError("threshold", expected="increasing probabilities between 0 and 1", got=repr(grid[:5].tolist()))
    return grid
