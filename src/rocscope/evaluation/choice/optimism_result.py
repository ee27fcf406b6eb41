"""Optimism: the result of asking what a choice costs that was made on the rows on which it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocscope.core.result import Result, html_table
from rocscope.decisions.decision import Decision
from rocscope.evaluation.choice.threshold_distribution import ThresholdDistribution
from rocscope.inference.estimate import Estimate
from rocscope.inference.resampling.bootstrap import BootstrapEstimate


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Result):
    """How good a chosen threshold looks, how good it is likely to be, and how sure the choice is.

    Made by `rocscope.evaluation.optimism`.

    Attributes
    ----------
    decision : Decision
        The choice on all rows.
    quantity : str
        What was chosen by: "expected cost", which is better the lower it is, or a criterion.
    apparent : Estimate
        Of the chosen threshold on the rows it was chosen on; the interval takes the threshold as given.
    cross_validated : Estimate
        Of thresholds chosen on the other folds, over all held-out rows together.
    corrected : Estimate
        The apparent value less its optimism; not reliable where that is more than a tenth of what is left.
    fold_corrected : Estimate
        The apparent value less what each fold's own best choice gains there (Tibshirani & Tibshirani); no interval.
    optimism : float
        By how much a choice looks better on its own rows than on others, in units of the quantity.
    expected_loss : Estimate
        By how much the chosen threshold is expected to be worse than the truly best one; the interval is where the
        stated share of replicates lies.
    threshold : BootstrapEstimate
        The chosen threshold, and those of the replicates that choose the same model.
    models : mapping from model to float
        The share of replicates in which each is chosen.
    """

    decision: Decision
    quantity: str
    apparent: Estimate
    cross_validated: Estimate
    corrected: Estimate
    optimism: float
    fold_corrected: Estimate
    expected_loss: Estimate
    threshold: BootstrapEstimate
    models: Mapping[str, float]

    @property
    def estimate(self) -> Estimate:
        """The figure to report: the corrected one where it is reliable, and else the cross-validated one."""
        return self.corrected if self.corrected.reliable else self.cross_validated

    @property
    def distribution(self) -> ThresholdDistribution:
        """Which thresholds are chosen when the sample is drawn again."""
        return ThresholdDistribution(self.decision.model, self.threshold, self.threshold.replicates)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the distribution of the chosen threshold with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
        **line
            For the outline of the histogram, as in ``Axes.plot``.

        Returns
        -------
        Axes
        """
        return self.distribution.plot(ax, **line)

    def __repr__(self) -> str:
        chosen = self.threshold
        return (
            f"Optimism({self.quantity}: apparent {self.apparent.value:.4g}, cross-validated "
            f"{self.cross_validated.value:.4g}, corrected {self.corrected.value:.4g}{self.corrected.doubt}; "
            f"{self.decision.model} at "
            f"{chosen.value:.4g}, {100 * chosen.level:g} % interval {chosen.low:.4g} to {chosen.high:.4g})"
        )

    def _repr_html_(self) -> str:
        rows = {
            f"{self.quantity}, apparent": self.apparent,
            f"{self.quantity}, cross-validated": self.cross_validated,
            f"{self.quantity}, corrected": self.corrected,
            f"{self.quantity}, corrected by folds": self.fold_corrected,
            "expected loss against the best threshold": self.expected_loss,
            f"threshold of {self.decision.model}": self.threshold,
        }
        shares = ", ".join(f"{model} {share:.1%}" for model, share in self.models.items())
        return html_table(
            [
                *((name, *each.cells, each.method) for name, each in rows.items()),
                ("chosen in replicates", shares, "", ""),
            ],
            ("", "value", f"{100 * self.threshold.level:g} % interval", "method"),
        )
