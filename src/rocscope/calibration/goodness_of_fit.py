"""Tests of the hypothesis that a model is calibrated: Spiegelhalter, Hosmer–Lemeshow, CORP, and Cox.

The CORP test compares the miscalibration component of the Brier score with its values in samples of labels that are
simulated from the probabilities.

Cox's logistic recalibration estimates an intercept and a slope, and tests that they are 0 and 1. The regression is
fitted by `rocscope.figures.logistic`. If rows are unweighted, or weights are frequencies, standard errors and the test
are derived from the likelihood, as in R's glm. Other weights have no likelihood. Their variance is computed from sums
over independent units (`Evidence.covariance_of_sums`), as for the intervals of a report.
"""

from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.intervals import DRAWS, ROUNDING, ClosedForms, grouped, rank_p_value
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, binned, evidence, pav_rows
from rocscope.core import Result, require_kinds
from rocscope.core.predictions import kinds_of
from rocscope.figures.logistic import CoxCalibration
from rocscope.inference.estimate import joined


@dataclass(frozen=True)
class CalibrationTest(Result):
    """Result of a test of calibration.

    Attributes
    ----------
    statistic, p_value : float
        Test statistic and p-value. A small p-value is evidence that the model is not calibrated.
    method : str
        Name of the test.
    note : str
        Limitations of the test for these data; empty if there are no limitations.
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
    """Test calibration with Spiegelhalter's two-sided z test, which is based on the Brier score.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.

    Returns
    -------
    CalibrationTest
        Statistic z and p-value. Both are NaN if every probability is 0, 1/2 or 1.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    hosmer_lemeshow_test, miscalibration_test

    Notes
    -----
    For labels y, probabilities p and weights w, z = Σ w(y − p)(1 − 2p) / √(Σ w²(1 − 2p)² p(1 − p)). For a calibrated
    model, z has a standard normal distribution. With weights or groups, the variance is computed from sums over
    independent units, and the p-value from Student's t distribution. The test can miss errors of opposite sign, because
    they cancel in the sum.

    References
    ----------
    Spiegelhalter 1986, "Probabilistic prediction in patient management and clinical trials", Stat. Med. 5:421–433.

    Examples
    --------
    >>> round(spiegelhalter_test([1, 0, 0, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.2]).statistic, 6)
    0.0
    """
    require_kinds("Spiegelhalter's test", y_true)
    return spiegelhalter(evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))


def spiegelhalter(data: Evidence, target_prevalence: float | None = None) -> CalibrationTest:
    """Return Spiegelhalter's test for evidence; with `target_prevalence`, classes are reweighted to it."""
    sample = data.outcomes_at(target_prevalence)
    score, tilt = sample.score, 1 - 2 * sample.score
    excess = float((sample.pos - score * sample.total) @ tilt)
    if data.counted or target_prevalence is not None:
        # With p(1 − p) the variance of a label; Σ w² in place of Σ w for weights.
        squares = sample.total if sample.squares is None else sample.squares
        variance = sample.design_effect * float(squares @ (tilt**2 * score * (1 - score)))
        freedom = inf
    else:
        # Weights may depend on the label, as those for censoring do, so that labels have another variance.
        covariance, freedom = data.covariance_of_sums((tilt * (1 - score))[None], (-tilt * score)[None])
        variance = float(covariance[0, 0])
    z = excess / variance**0.5 if variance > 0 else nan
    p_value = 2 * float(special.ndtr(-abs(z)) if freedom == inf else special.stdtr(freedom, -abs(z)))
    return CalibrationTest(z, p_value, "Spiegelhalter's z", data.doubt)


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
    """Test calibration with the Hosmer–Lemeshow test, which compares observed and expected events in bins.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.
    bins : int
        Number of bins with about equal numbers of rows. Tied probabilities are in the same bin, so there may be fewer
        bins.
    fitted_on_same_rows : bool
        Pass True if the model was fitted to these rows. The degrees of freedom are then reduced by two.

    Returns
    -------
    CalibrationTest
        Statistic χ² and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If the weights are estimated, for example for censoring. The variance of such weights depends on the label.

    See Also
    --------
    spiegelhalter_test, miscalibration_test

    Notes
    -----
    χ² = Σ (events − expected)² / (expected (1 − expected/rows)), summed over bins, with one degree of freedom per bin.
    With weights w, the number of rows in a bin is the effective number (Σw)²/Σw².

    The result depends on the bins. The test has little power in small samples and rejects negligible errors in large
    samples. It does not show the kind of miscalibration. Use this test only for comparison with published results, and
    `miscalibration_test` for all other purposes.

    References
    ----------
    Hosmer & Lemeshow 1980, Commun. Stat. Theory Methods 9:1043–1069. On its weaknesses: Hosmer, Hosmer, le Cessie &
    Lemeshow 1997, Stat. Med. 16:965–980.

    Examples
    --------
    >>> hosmer_lemeshow_test([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5], bins=2)
    CalibrationTest(statistic=0.666667, p_value=0.7165, Hosmer–Lemeshow, 2 bins)
    """
    require_kinds("Hosmer–Lemeshow test", y_true)
    data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample = data.outcomes
    cells = binned(sample, bins=bins, strategy="quantile")
    total, mean_score, share = cells.filled()
    rows = cells.effective[cells.total > 0]
    excess, variance = rows * (share - mean_score), rows * mean_score * (1 - mean_score)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.where(excess == 0, 0.0, excess**2 / variance).sum())
    freedom = total.size - 2 * fitted_on_same_rows
    p_value = float(special.chdtrc(freedom, statistic)) if freedom > 0 else nan
    note = joined(
        "depends on the bins, misses errors in small samples, and rejects negligible errors in large samples",
        data.doubt,
    )
    return CalibrationTest(statistic, p_value, f"Hosmer–Lemeshow, {total.size} bins", note)


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
    """Test calibration by simulation, with the miscalibration component of the Brier score (CORP) as the statistic.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters. Weights are treated as sampling weights. Counts in ThresholdCounts are numbers of rows.
    draws : int
        Number of simulated samples of labels.
    random_state : int, Generator, RandomState or None
        Seed of the simulation.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.

    Returns
    -------
    CalibrationTest
        Miscalibration component and p-value.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If the weights are estimated, for example for censoring. Simulated labels do not include the uncertainty of such
        weights.

    See Also
    --------
    spiegelhalter_test, calibration_error

    Notes
    -----
    Labels are simulated from the probabilities. The p-value is the share of simulated samples whose miscalibration is
    at least the observed one. The level of the test is therefore exact for any sample size. With weights, groups or a
    target prevalence, the test is only valid in large samples.

    The test detects every kind of miscalibration that keeps the order of the scores. If there are more than 640
    distinct probabilities, neighbouring probabilities are grouped in the data and in the simulation. The interval of
    the miscalibration in `calibration_report` uses the same simulation. It excludes 0 if and only if this test rejects.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> miscalibration_test([0, 1] * 50, [0.1, 0.2] * 50).p_value
    0.001
    """
    require_kinds("the test of calibration", y_true)
    data = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    return replace(drawn_test(data.outcomes, target_prevalence, draws, random_state), note=data.doubt)


def drawn_test(
    outcomes: Outcomes, target_prevalence: float | None = None, draws: int = DRAWS, random_state: Any = 0
) -> CalibrationTest:
    """Return the test of calibration with simulated labels; see `miscalibration_test`."""
    sample = grouped(outcomes)
    rng = check.check_random_state(random_state)
    shift = Shift.of(outcomes, target_prevalence)
    drawn = sample.draw(shift.in_sample(sample.score), check.check_whole(draws, "draws"), rng)
    observed = miscalibration(sample, sample.pos[None], shift)
    p_value = rank_p_value(miscalibration(sample, drawn, shift) >= observed - ROUNDING)
    return corp_test(observed, p_value, draws)


def corp_test(statistic: Array, p_value: Array, draws: int) -> CalibrationTest:
    """Return the test of calibration for a miscalibration and its p-value, both arrays of one number."""
    return CalibrationTest(statistic.item(), p_value.item(), f"CORP miscalibration, {draws} draws")


def miscalibration(sample: Outcomes, pos: Array, shift: Shift | None = None) -> Array:
    """Return the miscalibration for each sample of labels: Brier score minus Brier score of the PAV fit.

    For probabilities p, labels y and fitted values f, Σ (p − y)² − Σ (f − y)² = Σ (p² − 2·p·y − f² + 2·f·y). The
    squared labels cancel.
    """
    shift, score, total = shift or Shift(), sample.score, sample.total
    fitted = shift.of_chance(pav_rows(pos, total))
    weighted, rows = shift.of_counts(pos, total)
    of_score = np.vecdot(rows, score**2) - 2 * (weighted @ score)
    return (of_score + np.vecdot(fitted, 2 * weighted - rows * fitted)) / sample.n


# Logistic recalibration


@contract
def cox_calibration(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CoxCalibration:
    """Compute calibration in the large, calibration intercept and calibration slope by logistic recalibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    CoxCalibration
        Calibration in the large, intercept and slope, with standard errors. Values are NaN if the regression has no
        solution. This happens if a positive has probability 0 or a negative has probability 1. The slope is NaN if all
        probabilities are equal, and infinite if the probabilities separate the classes. `reason` states which case
        applies.

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_index, calibration_report

    Notes
    -----
    For probabilities p, the regression is logit P(y = 1) = a + b·logit(p) with intercept a and slope b. Probabilities
    of 0 and 1 with the correct label agree with any a and any b > 0, so they are omitted. Standard errors are derived
    from the likelihood, as in R's glm. With sampling weights, estimated weights or groups, there are two standard
    errors, and the larger is used. One is derived from the likelihood with the effective number of rows, and the other
    from the sandwich variance.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression", Biometrika 45:562–565. Van Calster et al.
    2016, "A calibration hierarchy for risk models", J. Clin. Epidemiol. 74:167–176.

    Examples
    --------
    At both probabilities, the observed odds are twice the predicted odds, so the intercept is log 2:

    >>> from rocscope import ThresholdCounts
    >>> cox = cox_calibration(ThresholdCounts([0.5, 0.2], [20, 10], [10, 20]))
    >>> round(cox.slope, 6), round(cox.intercept, 4), round(float(np.exp(cox.intercept)), 3)
    (1.0, 0.6931, 2.0)
    """
    require_kinds("Cox calibration", y_true)
    data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    data.outcomes.require_both_classes("logistic recalibration")
    if not data.counted:
        return ClosedForms(data, Shift(), 0.95).recalibrated
    if "sums" in kinds_of(data.counts):  # which do not tell how many rows weights stand for
        errors = dict.fromkeys(("in_the_large_error", "intercept_error", "slope_error"), nan)
        return replace(data.outcomes.recalibration, **errors)
    cox = data.outcomes.recalibration
    return replace(cox, reason=cox.reason or data.doubt)


def p_value_of_calibration(data: Evidence) -> float:
    """Return the p-value of the score test of the hypothesis that the intercept is 0 and the slope is 1.

    The score is s = Σ w(y − p)·(1, logit p), and the statistic is s′V⁻¹s. The variance V of s is computed from sums
    over independent units, so a common factor of all weights cancels. V has ν degrees of freedom. The statistic times
    (ν − 1)/(2ν) is therefore compared with an F distribution with 2 and ν − 1 degrees of freedom (Hotelling 1931).
    """
    sample = data.outcomes
    if np.isnan(sample.recalibration.intercept):
        return nan
    inside = (sample.score > 0) & (sample.score < 1)
    log_odds = special.logit(np.where(inside, sample.score, 0.5))
    spread = sample.mean(log_odds**2) ** 0.5
    columns = np.array([1.0 * inside, inside * log_odds / spread])
    score = columns @ (sample.pos - sample.score * sample.total)
    variance, freedom = data.covariance_of_sums(columns * (1 - sample.score), -columns * sample.score)
    statistic = score @ np.linalg.solve(variance, score)
    return float(special.fdtrc(2, freedom - 1, statistic * (freedom - 1) / (2 * freedom))) if freedom > 1 else nan
