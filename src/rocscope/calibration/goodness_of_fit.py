"""Tests of the hypothesis that a model is calibrated."""

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.calibration.bins import binned
from rocscope.calibration.distances import DRAWS, grouped, miscalibration
from rocscope.calibration.outcomes import Outcomes, Shift, evidence
from rocscope.core.result import Result
from rocscope.core.rows import refuse_repeats

_ROUNDING = 1e-12  # draws that equal the sample count as equal, whatever the order of their sums


@dataclass(frozen=True)
class CalibrationTest(Result):
    """Result of a calibration test: statistic, p-value, method and caveats.

    Attributes
    ----------
    statistic, p_value : float
    method, note : str
    """

    statistic: float
    p_value: float
    method: str
    note: str = ""

    def __repr__(self) -> str:
        return f"CalibrationTest(statistic={self.statistic:.6g}, p_value={self.p_value:.4g}, {self.method})"


@contract
def spiegelhalter_test(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CalibrationTest:
    """Test whether the Brier score is consistent with calibration, two-sided (Spiegelhalter's z).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
        Weights are those of a sample; ThresholdCounts count rows.

    Returns
    -------
    CalibrationTest
        NaN where every probability is 0, 1/2 or 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    z = Σ w(y − p)(1 − 2p) / √(Σ w²(1 − 2p)² p(1 − p)), standard normal for a calibrated model; with groups the variance
    is multiplied by their design effect. Errors of opposite sign may cancel.

    References
    ----------
    Spiegelhalter 1986, "Probabilistic prediction in patient management and clinical trials", Stat. Med. 5:421–433.

    Examples
    --------
    >>> round(spiegelhalter_test([1, 0, 0, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.2]).statistic, 6)
    0.0
    """
    refuse_repeats(y_true, "Spiegelhalter's test")
    sample = _outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    score, tilt = sample.score, 1 - 2 * sample.score
    squares = sample.total if sample.squares is None else sample.squares
    variance = sample.design_effect * float(squares @ (tilt**2 * score * (1 - score)))
    z = float((sample.pos - score * sample.total) @ tilt) / variance**0.5 if variance else nan
    return CalibrationTest(z, 2 * float(ndtr(-abs(z))), "Spiegelhalter's z")


def _outcomes(y_true: Any, y_score: Any, **which: Any) -> Outcomes:
    """Return outcomes with weights and groups taken into account; outcomes are returned unchanged."""
    return y_true if isinstance(y_true, Outcomes) else evidence(y_true, y_score, **which).outcomes


@contract
def hosmer_lemeshow_test(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    bins: int = 10,
    fitted_on_same_rows: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationTest:
    """Test calibration by the observed and expected events in bins of similar size (Hosmer–Lemeshow).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
        Weights are those of a sample; ThresholdCounts count rows.
    bins : int
        A tie is never split, so there may be fewer.
    fitted_on_same_rows : bool
        True where the model was fitted to these rows: two degrees of freedom fewer.

    Returns
    -------
    CalibrationTest
        Statistic, degrees of freedom and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    χ² = Σ (events − expected)² / (expected (1 − expected/rows)), with as many degrees of freedom as bins; weighted rows
    of a bin count as the independent rows that they are worth, (Σw)²/Σw². The
    result depends on the bins; it has little power in small samples, finds the smallest fault in large ones, and
    does not say what is wrong. Given for comparison with published work: prefer `miscalibration_test`.

    References
    ----------
    Hosmer & Lemeshow 1980, Commun. Stat. Theory Methods 9:1043–1069. On its weaknesses: Hosmer, Hosmer, le Cessie &
    Lemeshow 1997, Stat. Med. 16:965–980.

    Examples
    --------
    >>> hosmer_lemeshow_test([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5], bins=2)
    CalibrationTest(statistic=0.666667, p_value=0.7165, Hosmer–Lemeshow, 2 bins)
    """
    refuse_repeats(y_true, "Hosmer–Lemeshow test")
    sample = _outcomes(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    gathered = binned(sample, bins=bins, strategy="quantile")
    total, mean_score, share = gathered.filled()
    rows = gathered.effective[gathered.total > 0]
    excess, variance = rows * (share - mean_score), rows * mean_score * (1 - mean_score)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.where(excess == 0, 0.0, excess**2 / variance).sum())
    freedom = total.size - 2 * fitted_on_same_rows
    p_value = float(chdtrc(freedom, statistic)) if freedom > 0 else nan
    return CalibrationTest(
        statistic,
        p_value,
        f"Hosmer–Lemeshow, {total.size} bins",
        "depends on the bins; weak in small samples, too strict in large ones",
    )


@contract
def miscalibration_test(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    draws: int = DRAWS,
    random_state: Any = 0,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationTest:
    """Test whether the miscalibration component of the Brier score exceeds its expectation under calibration (CORP).

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
        Weights are those of a sample; ThresholdCounts count rows.
    draws : int
        How often labels are drawn from the probabilities.
    random_state : int, Generator, RandomState or None
    target_prevalence : float, optional
        Share of positives where the probabilities are meant to hold; the sample's own when left out.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each.

    Returns
    -------
    CalibrationTest
        Statistic and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    The p-value is the rank of the miscalibration among those of labels drawn from the probabilities, so its level is
    exact in samples of any size. It sees every departure from calibration that keeps the order. Above 640 distinct
    probabilities neighbouring rows are gathered first, for the sample and for the draws alike. The interval of the
    miscalibration in `calibration_report` rests on the same draws: it excludes 0 exactly where this test rejects.
    Weights and groups (by their design effect), and a target prevalence, make it valid in large samples only.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> miscalibration_test([0, 1] * 50, [0.1, 0.2] * 50).p_value
    0.001
    """
    refuse_repeats(y_true, "the test of calibration")
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    sample = grouped(known.outcomes)
    rng, shift = check.check_random_state(random_state), Shift.of(known.outcomes, target_prevalence)
    drawn = sample.draw(shift.in_sample(sample.score), check.check_whole(draws, "draws"), rng)
    observed = float(miscalibration(sample, sample.pos[None], shift)[0])
    above = int((miscalibration(sample, drawn, shift) >= observed - _ROUNDING).sum())
    return CalibrationTest(observed, (1 + above) / (1 + draws), f"CORP miscalibration, {draws} draws")
