"""Calibration report: all calibration measures with intervals, all tests, and the statistics of val.prob.

`calibration_report` joins the scoring rules, the distances and the tests of this package with their intervals.
`val_prob` computes the statistics of Harrell's val.prob in the R package rms, for comparison with R or with published
validations. `plotted_numbers` returns the numbers printed on a calibration plot.
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
from rocscope.calibration import distances
from rocscope.calibration.goodness_of_fit import CalibrationTest, p_value_of_calibration, spiegelhalter
from rocscope.calibration.intervals import DRAWS, ClosedForms
from rocscope.calibration.outcomes import Outcomes, Shift, evidence
from rocscope.calibration.scoring_rules import brier, decompose
from rocscope.core import Result, ThresholdCounts, html_table, number, require_kinds
from rocscope.curves.rate_curves import auc
from rocscope.errors import ColumnError
from rocscope.inference.estimate import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationReport(Result):
    """Calibration measures with intervals, tests of calibration, and notes.

    ``report["slope"]`` is the estimate of the slope.

    Attributes
    ----------
    estimates : dict from the name of a measure to Estimate
        Value and confidence interval of each measure.
    tests : dict from the name of a test to CalibrationTest
        Results of the tests of calibration.
    notes : tuple of str
        Limitations of the measures, such as undefined values.
    n : float
        Number of cases.
    """

    _content = ("n", "estimates", "tests", "notes")

    estimates: Mapping[str, Estimate]
    tests: Mapping[str, CalibrationTest]
    notes: tuple[str, ...]
    n: float

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            raise ColumnError("measure", expected=check.one_of(str(name), list(self.estimates)), got=repr(name))
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
    draws: int = DRAWS,
    random_state: Any = 0,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationReport:
    """Compute all calibration measures with confidence intervals, and tests of calibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.
    bins : int
        Number of bins for ECE, MCE and Murphy's decomposition.
    level : float
        Confidence level of the intervals.
    draws : int
        Number of simulated samples of labels for the miscalibration test. With 0, the report has no miscalibration test
        and no intervals of distances.
    random_state : int, Generator, RandomState or None
        Seed of the simulation.
    target_prevalence : float, optional
        Prevalence in the population where the model will be used. By default, the prevalence of the sample.
    groups : array of n labels, optional
        Group of each row, such as the patient. Rows of the same group are treated as dependent.

    Returns
    -------
    CalibrationReport
        Measures, tests and notes. Undefined measures are NaN. If a measure has no interval, its `method` states the
        reason.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    See Also
    --------
    calibration_curve, val_prob, summary

    Notes
    -----
    Distances (miscalibration, ICI, E50, E90, Emax, ECE, MCE) are above 0 even for calibrated models, because of
    sampling error. Their intervals are therefore computed by test inversion, with labels simulated from curves whose
    distance is known. The interval of the miscalibration contains 0 if and only if the miscalibration test does not
    reject. With estimated weights, such as weights for censoring, the intervals of distances are not reliable, and the
    miscalibration test is omitted.

    All other intervals have closed forms. Observed over expected has Wilson's interval. The slope and the intercepts
    have Wald's interval with the larger of two variances, model-based and sandwich. Scores have intervals from
    influence functions. The guide on calibration reports the coverage of the intervals in simulations.

    The debiased ECE, the smooth ECE, discrimination and uncertainty have no interval.

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
    forms = ClosedForms(data, shift, check.check_level(level))
    check.check_whole(draws, "draws", least=0)

    z_test = spiegelhalter(data, shift.target)
    ratios = {"observed_over_expected": forms.ratio(), "observed_minus_predicted": forms.difference()}
    estimates = forms.mean_scores() | ratios | forms.recalibration() | _without_interval(forms, bins, z_test)
    measured, drawn = distances.distance_estimates(data, forms, bins=bins, draws=draws, random_state=random_state)
    tests = {"spiegelhalter": z_test}
    if drawn is not None and data.weighting is None:
        tests["miscalibration"] = drawn
    return CalibrationReport(estimates | measured, tests, _notes(forms, estimates, bins), data.counts.n)


def _without_interval(forms: ClosedForms, bins: int, z_test: CalibrationTest) -> dict[str, Estimate]:
    """Return the measures that have no interval."""
    sample = forms.sample
    with_effective_rows = forms.evidence.outcomes_at(forms.shift.target)
    corp = decompose(sample)
    log_loss = decompose(sample, rule="log_loss")
    murphy = decompose(sample, method="murphy", bins=bins)
    values = {
        "brier_discrimination": corp.discrimination,
        "brier_uncertainty": corp.uncertainty,
        "log_loss_miscalibration": log_loss.miscalibration,
        "log_loss_discrimination": log_loss.discrimination,
        "log_loss_uncertainty": log_loss.uncertainty,
        "murphy_miscalibration": murphy.miscalibration,
        "murphy_discrimination": murphy.discrimination,
        "murphy_uncertainty": murphy.uncertainty,
        "ece_debiased": distances.calibration_error(with_effective_rows, bins=bins, debiased=True),
        "smooth_ece": distances.smooth_calibration_error(sample),
        "spiegelhalter_z": z_test.statistic,
    }
    return {name: forms.without(value, "no method is available") for name, value in values.items()}


def _notes(forms: ClosedForms, values: Mapping[str, Estimate], bins: int) -> tuple[str, ...]:
    notes = [f"ECE, MCE and Murphy's decomposition depend on the number of bins ({bins})"]
    if not 0 < forms.sample.prevalence < 1:
        notes.append("intercept and slope are undefined, because the data have one class only")
    elif isnan(values["slope"].low):
        notes.append(f"slope or intercept is undefined: {values['slope'].method.removeprefix('no interval: ')}")
    if np.isinf(values["log_loss"].value):
        notes.append("log loss is infinite: an observed outcome had the probability 0")
    return tuple(notes)


PLOTTED_NUMBERS = ("observed_over_expected", "intercept", "slope", "ici", "ece", "brier")


def plotted_numbers(counts: ThresholdCounts, target_prevalence: float | None = None) -> dict[str, float]:
    """Return the measures that are printed on a calibration plot, without intervals."""
    sample = Outcomes.of(counts).at(target_prevalence)
    expected = sample.mean(sample.score)
    cox = sample.recalibration
    return {
        "observed_over_expected": sample.prevalence / expected if expected > 0 else nan,
        "intercept": cox.intercept,
        "slope": cox.slope,
        "ici": min(sample.mean(distances.loess_distances(sample)), distances.farthest(sample)),
        "ece": distances.calibration_error(sample),
        "brier": brier(sample),
    }


@dataclass(frozen=True)
class ValProb(Result):
    """Statistics of the function val.prob in the R package rms.

    Attributes
    ----------
    dxy, c : float
        Somers' D, and the area under the ROC curve.
    r2 : float
        Nagelkerke's R² of the probabilities, without recalibration.
    d : float
        Discrimination index D, from the likelihood-ratio χ² per row.
    u : float
        Unreliability index U, from the likelihood-ratio χ² per row.
    q : float
        Quality index Q = D − U.
    u_p : float
        p-value of the hypothesis that the intercept is 0 and the slope is 1. It comes from a likelihood-ratio test. For
        sampling weights, estimated weights or groups, it comes from a score test instead.
    brier : float
        Brier score.
    intercept, slope : float
        Intercept and slope of logistic recalibration.
    emax, e90, eavg : float
        Maximum, 90th percentile and mean of the distances to the LOESS curve. The mean is the ICI.
    s_z, s_p : float
        Statistic and p-value of Spiegelhalter's test.
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
    """Compute the same statistics as the function val.prob in the R package rms.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Pass labels as `y_true` and scores as `y_score`. Alternatively, pass Predictions, ThresholdCounts, an
        OperatingPoint, BinnedCounts or a CountsSketch as `y_true`, and omit `y_score`. `rocscope.sample` describes
        these five parameters.

    Returns
    -------
    ValProb
        Measures of discrimination and calibration. If logistic recalibration has no solution, its statistics are NaN;
        see `cox_calibration`.

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
    index = distances.calibration_index(sample)
    z = spiegelhalter(data)

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
        brier=brier(sample),
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
