"""Calibration report: all measures with intervals, all tests, and the figures of val.prob.

`calibration_report` computes the measures of `rocscope.calibration.scores` with the intervals of
`rocscope.calibration.intervals`. `val_prob` computes the figures of Harrell's val.prob in the R package rms, for
comparison with R or with published validations. `plotted_numbers` returns the numbers printed on a calibration plot.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import isnan, nan
from typing import Any

import numpy as np
from scipy.special import chdtrc, expit, logit, xlog1py, xlogy

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration import intervals, scores
from rocscope.calibration.cox import p_value_of_calibration
from rocscope.calibration.outcomes import Outcomes, Shift, evidence
from rocscope.core import Result, ThresholdCounts, html_table, number, require_kinds
from rocscope.curves.rate_curves import auc
from rocscope.errors import ColumnError
from rocscope.inference.estimate import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationReport(Result):
    """Calibration measures by name, each an Estimate; the tests; and caveats.

    Attributes
    ----------
    estimates : dict of Estimate
    tests : dict of CalibrationTest
    notes : tuple of str
    n : float
    """

    _content = ("n", "estimates", "tests", "notes")

    estimates: Mapping[str, Estimate]
    tests: Mapping[str, scores.CalibrationTest]
    notes: tuple[str, ...]
    n: float

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            raise ColumnError("number", expected=check.one_of(str(name), list(self.estimates)), got=repr(name))
        return self.estimates[name]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self[name].value:.4g}" for name in ("brier", "ici", "slope"))
        return f"CalibrationReport({shown}, {len(self.estimates)} numbers, n={number(self.n)})"

    def _repr_html_(self) -> str:
        numbers = [(name, *estimate.cells) for name, estimate in self.estimates.items()]
        tests = [(test.method, f"p = {test.p_value:.3g}", "") for test in self.tests.values()]
        return f"{html_table([*numbers, *tests])}<ul>{''.join(f'<li>{escape(note)}</li>' for note in self.notes)}</ul>"


@contract
def calibration_report(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    bins: int = 10,
    level: float = 0.95,
    draws: int = scores.DRAWS,
    random_state: Any = 0,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationReport:
    """Compute all calibration statistics with intervals, and the tests of calibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        `y_true` is labels, with scores as `y_score`; or it is Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch, without `y_score`. See `rocscope.sample`, also for the other parameters.
    bins : int
        Number of bins for ECE, MCE and Murphy's decomposition.
    level : float
        Confidence level.
    draws : int
        Number of simulated samples of labels for the test of miscalibration. With 0, the test and the intervals of
        distances are omitted.
    random_state : int, Generator, RandomState or None
        Seed of the simulation.
    target_prevalence : float, optional
        Share of positives where the model will be used; by default the share in the sample.
    groups : array of n labels, optional
        Group of each row, such as its patient. Rows of a group are not treated as independent.

    Returns
    -------
    CalibrationReport
        Undefined measures are NaN. If a measure has no interval, its `method` states why.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_curve, val_prob, summary

    Notes
    -----
    Distances (miscalibration, ICI, E50, E90, Emax, ECE, MCE) are above 0 even for calibrated models, by chance. Their
    intervals therefore invert tests, with labels drawn from curves of known distance. The interval of miscalibration
    contains 0 exactly if its test does not reject. With estimated weights, such as for censoring, these intervals are
    not reliable, and the test is omitted. Other measures have closed forms: Wilson's interval for observed over
    expected, Wald's with the larger of model-based and sandwich variances for slope and intercepts, and influence
    functions for scores. The guide on calibration has the coverage in simulations.

    Bias-corrected ECE, smooth ECE, and the parts of decompositions other than miscalibration have no interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(500)
    >>> report = calibration_report(rng.random(500) < score, score)
    >>> report
    CalibrationReport(brier=0.1628, ici=0.01069, slope=1.019, 28 numbers, n=500)
    >>> 1 in report["slope"], 0 in report["ici"], report.tests["miscalibration"].p_value > 0.05
    (True, True, True)
    """
    require_kinds("calibration report", y_true)
    data = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    shift = Shift.of(data.outcomes, target_prevalence)
    forms = intervals.ClosedForms(data, shift, check.check_level(level))
    check.check_whole(draws, "draws", least=0)

    spiegelhalter = scores.spiegelhalter(data, shift.target)
    ratios = {"observed_over_expected": forms.ratio(), "observed_minus_predicted": forms.difference()}
    estimates = forms.mean_scores() | ratios | forms.recalibration() | _without_interval(forms, bins, spiegelhalter)
    distances, p_value = scores.distance_estimates(data, forms, bins=bins, draws=draws, random_state=random_state)
    tests = {"spiegelhalter": spiegelhalter}
    if draws and data.weighting is None:
        sample = scores.grouped(data.outcomes)
        statistic = float(scores.miscalibration(sample, sample.pos[None], shift)[0])
        tests["miscalibration"] = scores.CalibrationTest(statistic, p_value, f"CORP miscalibration, {draws} draws")
    return CalibrationReport(estimates | distances, tests, _notes(forms, estimates, bins), data.counts.n)


def _without_interval(
    forms: intervals.ClosedForms, bins: int, spiegelhalter: scores.CalibrationTest
) -> dict[str, Estimate]:
    """Return the measures that are shown without an interval."""
    sample = forms.sample
    with_effective_rows = forms.evidence.outcomes_at(forms.shift.target)
    brier = scores.decompose(sample)
    log_loss = scores.decompose(sample, rule="log_loss")
    murphy = scores.decompose(sample, method="murphy", bins=bins)
    values = {
        "brier_discrimination": brier.discrimination,
        "brier_uncertainty": brier.uncertainty,
        "log_loss_miscalibration": log_loss.miscalibration,
        "log_loss_discrimination": log_loss.discrimination,
        "log_loss_uncertainty": log_loss.uncertainty,
        "murphy_miscalibration": murphy.miscalibration,
        "murphy_discrimination": murphy.discrimination,
        "murphy_uncertainty": murphy.uncertainty,
        "ece_debiased": scores.calibration_error(with_effective_rows, bins=bins, debiased=True),
        "smooth_ece": scores.smooth_calibration_error(sample),
        "spiegelhalter_z": spiegelhalter.statistic,
    }
    return {name: forms.without(value, "not adjusted") for name, value in values.items()}


def _notes(forms: intervals.ClosedForms, values: Mapping[str, Estimate], bins: int) -> tuple[str, ...]:
    notes = [f"ECE, MCE and Murphy's parts depend on the bins ({bins})"]
    if not 0 < forms.sample.prevalence < 1:
        notes.append("one class only: intercept and slope are undefined")
    elif isnan(values["slope"].low):
        notes.append(f"slope or intercept do not exist: {values['slope'].method.removeprefix('no interval: ')}")
    if np.isinf(values["log_loss"].value):
        notes.append("log loss is infinite: an event occurred that had the probability 0")
    return tuple(notes)


PLOTTED_NUMBERS = ("observed_over_expected", "intercept", "slope", "ici", "ece", "brier")


def plotted_numbers(counts: ThresholdCounts, target_prevalence: float | None = None) -> dict[str, float]:
    """Return the numbers printed on a calibration plot, as in the report, without intervals."""
    sample = Outcomes.of(counts).at(target_prevalence)
    expected = sample.mean(sample.score)
    cox = sample.recalibration
    return {
        "observed_over_expected": sample.prevalence / expected if expected > 0 else nan,
        "intercept": cox.intercept,
        "slope": cox.slope,
        "ici": min(sample.mean(scores.distances(sample)), scores.farthest(sample)),
        "ece": scores.calibration_error(sample),
        "brier": scores.brier(sample),
    }


@dataclass(frozen=True)
class ValProb(Result):
    """The statistics that val.prob of R's rms prints.

    Attributes
    ----------
    dxy, c : float
        Somers' D and the area under the ROC curve.
    r2 : float
        Nagelkerke's R² of the probabilities, without recalibration.
    d, u, q : float
        Discrimination index D and unreliability index U, both from likelihood-ratio χ² per row, and the quality index
        Q = D − U.
    u_p : float
        p-value of the hypothesis that the intercept is 0 and the slope is 1, by the likelihood-ratio test. For sampling
        weights, estimated weights or groups, the p-value is of a score test that allows for them.
    brier, intercept, slope : float
    emax, e90, eavg : float
        Distances to the LOESS curve: largest, 90th percentile, mean (the ICI).
    s_z, s_p : float
        Spiegelhalter's test.
    """

    dxy: float
    c: float
    r2: float
    d: float
    u: float
    q: float
    u_p: float
    brier: float
    intercept: float
    slope: float
    emax: float
    e90: float
    eavg: float
    s_z: float
    s_p: float


@contract
def val_prob(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> ValProb:
    """Compute the statistics of rms's val.prob: discrimination, unreliability, quality and calibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        `y_true` is labels, with scores as `y_score`; or it is Predictions, ThresholdCounts, an OperatingPoint,
        BinnedCounts or a CountsSketch, without `y_score`. See `rocscope.sample`, also for the other parameters.

    Returns
    -------
    ValProb
        Statistics of logistic recalibration are NaN if its fit does not exist (see `cox_calibration`).

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_report

    Notes
    -----
    As in rms 6.5, R² and D are computed from the probabilities, not from recalibrated probabilities.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §10.9; function val.prob of the R package rms.

    Examples
    --------
    >>> statistics = val_prob([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    >>> round(statistics.c, 4), round(statistics.brier, 4)
    (0.8889, 0.1667)
    """
    require_kinds("val.prob", y_true)
    data = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample, area = Outcomes.of(data.counts), auc(data.counts)
    sample.require_both_classes("logistic recalibration")
    cox = sample.recalibration
    index = scores.calibration_index(sample)
    z = scores.spiegelhalter(data)

    # Deviances (−2 log-likelihood) of the probabilities, of the prevalence for all, and after recalibration. D and U
    # are likelihood ratio χ² less their degrees of freedom, per row; weights have the deviance of a mean row, and the
    # degrees of freedom are those of an effective one.
    n, rows = sample.n, data.outcomes.effective_rows
    own = _deviance(sample, sample.score)
    null = _deviance(sample, np.full(sample.score.size, sample.prevalence))
    best = nan
    if np.isfinite(cox.intercept):
        with np.errstate(divide="ignore", invalid="ignore"):
            recalibrated = expit(cox.intercept + cox.slope * logit(sample.score))
        best = _deviance(sample, recalibrated)
    d, u = (null - own) / n - 1 / rows, (own - best) / n - 2 / rows
    # Where weights are no numbers of rows there is no likelihood: a score test takes its place.
    u_p = float(chdtrc(2, own - best)) if data.counted else p_value_of_calibration(data)
    with np.errstate(over="ignore"):  # a probability of 0 of what happened has no bound
        r2 = float(np.expm1((own - null) / n) / np.expm1(-null / n))
    return ValProb(
        dxy=2 * area - 1,
        c=area,
        r2=r2,
        d=d,
        u=u,
        q=d - u,
        u_p=u_p,
        brier=scores.brier(sample),
        intercept=cox.intercept,
        slope=cox.slope,
        emax=index.emax,
        e90=index.e90,
        eavg=index.ici,
        s_z=z.statistic,
        s_p=z.p_value,
    )


def _deviance(sample: Outcomes, chance: Array) -> float:
    return -2 * float(np.sum(xlogy(sample.pos, chance) + xlog1py(sample.neg, -chance)))
