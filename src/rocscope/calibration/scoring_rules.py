"""Proper scoring rules (Brier score and log loss), and the decomposition of their means.

A proper scoring rule is a mean loss per row that the true probabilities minimise. Recalibration by PAV (pool adjacent
violators, the algorithm of isotonic regression) or by bins shows how much of the loss is miscalibration.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.outcomes import Outcomes, Strategy, binned, outcomes, pav_values
from rocscope.core import Result
from rocscope.errors import InputError

ScoringRule = Literal["brier", "log_loss"]


@contract
def brier(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the Brier score: the mean squared difference between probability and outcome (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    float
        Brier score, from 0 to 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    log_loss, decompose

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3. Brier's sum over both classes is twice this value.

    Examples
    --------
    >>> round(brier([0, 1, 1], [0.2, 0.2, 0.9]), 3)
    0.23
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return mean_score(sample, sample.score, "brier")


@contract
def log_loss(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Compute the log loss: the mean of −log(probability of the observed outcome) (0 is best).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    float
        Log loss; infinite if an observed outcome had the probability 0.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    brier

    Examples
    --------
    >>> round(log_loss([0, 1], [0.5, 0.25]), 4)
    1.0397
    """
    sample = outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return mean_score(sample, sample.score, "log_loss")


def squared_errors(chance: Any) -> tuple[Any, Any]:
    """Return the squared error of a positive and of a negative for predicted probabilities."""
    return (1 - chance) ** 2, chance**2


def log_losses(chance: Any) -> tuple[Any, Any]:
    """Return the log loss of a positive and of a negative for predicted probabilities."""
    with np.errstate(divide="ignore"):
        return -np.log(chance), -np.log(1 - chance)


_LOSSES = {"brier": squared_errors, "log_loss": log_losses}


def mean_score(sample: Outcomes, chance: Array | float, rule: str) -> float:
    """Return the mean loss over rows if `chance` is predicted."""
    return mean_loss(sample, *_LOSSES[rule](chance))


def mean_loss(sample: Outcomes, of_positive: Any, of_negative: Any) -> float:
    """Return the mean over rows of the losses of a positive and of a negative at each distinct probability."""
    with np.errstate(invalid="ignore"):
        total_pos = np.where(sample.pos > 0, of_positive * sample.pos, 0.0)  # an infinite loss of no row is 0
        total_neg = np.where(sample.neg > 0, of_negative * sample.neg, 0.0)
    return float(np.sum(total_pos + total_neg)) / sample.n


@dataclass(frozen=True)
class Decomposition(Result):
    """Decomposition of a mean score into miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score : float
        Mean score of the probabilities. For "murphy", each probability is replaced by the mean of its bin.
    miscalibration : float
        Decrease of the mean score by recalibration; 0 for a calibrated model. Murphy calls it reliability.
    discrimination : float
        Score of predicting the prevalence for every case, minus score after recalibration. Murphy calls it resolution.
    uncertainty : float
        Mean score of predicting the prevalence for every case.
    rule : str
        Name of the score: "brier" or "log_loss".
    method : str
        Method of recalibration.
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
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    rule : {"brier", "log_loss"}
        Score to decompose.
    method : {"corp", "murphy"}
        Method of recalibration. "corp" is isotonic regression (PAV). "murphy" replaces each probability by the share of
        positives in its bin.
    bins, strategy : see `rocscope.calibration_curve`
        Bins for "murphy". Use ``strategy="distinct"`` for Murphy's original decomposition.

    Returns
    -------
    Decomposition
        Mean score, miscalibration, discrimination and uncertainty.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    brier, calibration_curve

    Notes
    -----
    Let S be the mean score, p the probabilities, r the recalibrated probabilities and ō the prevalence. Miscalibration
    is S(p) − S(r), and discrimination is S(ō) − S(r). With "corp", both are at least 0, and no bins have to be chosen.
    With "murphy", p is the mean probability of the bin, so the components and the mean score depend on the bins. The
    mean score equals the mean score of the original probabilities only if each bin contains a single probability.

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
    check.check_choice("rule", rule, list(_LOSSES))
    if check.check_text("method", method) == "corp":
        return _decompose(sample, pav_values(sample), rule, "CORP")
    if method == "murphy":
        cells = binned(sample, bins=bins, strategy=strategy)
        total, x, share = cells.filled()
        label = "distinct" if strategy == "distinct" else f"{total.size} {strategy}"
        cases = Outcomes(x, share * total, (1 - share) * total)
        return _decompose(cases, share, rule, f"Murphy, {label} bins (depends on the bins)")
    raise InputError("method", expected="'corp' or 'murphy'", got=repr(method))


def _decompose(sample: Outcomes, recalibrated: Array, rule: str, method: str) -> Decomposition:
    score = mean_score(sample, sample.score, rule)
    best = mean_score(sample, recalibrated, rule)
    uncertainty = mean_score(sample, sample.prevalence, rule)
    # Neither difference is below 0, except by rounding.
    return Decomposition(score, max(score - best, 0.0), max(uncertainty - best, 0.0), uncertainty, rule, method)
