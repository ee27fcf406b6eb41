"""calibration_report: all calibration measures with intervals, and the tests.

The figures of Harrell's val.prob, to compare with R or with published validations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from math import isnan, nan
from typing import Any

import numpy as np
from scipy.special import chdtrc, expit, logit, xlog1py, xlogy

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.logistic import ONE_CLASS, ClosedForms, CoxCalibration, cox_calibration, logarithmic, squared
from rocscope.calibration.outcomes import Evidence, Outcomes, Shift, binned, evidence
from rocscope.calibration.scores import (
    DRAWS,
    DRAWS_ALONG,
    CalibrationTest,
    Distances,
    brier,
    calibration_error,
    calibration_index,
    decompose,
    distances,
    grouped,
    miscalibration,
    miscalibration_test,
    smooth_calibration_error,
    spiegelhalter_test,
)
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import refuse_repeats
from rocscope.core.result import Result, html_table, number
from rocscope.curves.rate_curves import auc
from rocscope.errors import ColumnError
from rocscope.inference.estimate import FEW_ROWS, Estimate, few
from rocscope.inference.proportions import normal_quantile

_PARTS = ("discrimination", "uncertainty")
_QUANTILES = {"e50": 0.5, "e90": 0.9}
_NO_WIDTH = 1e-9  # of an interval: then no label that was drawn changed the number


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
    tests: Mapping[str, CalibrationTest]
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
    draws: int = DRAWS,
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
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    bins : int
        Of ECE, MCE and Murphy's decomposition.
    level : float
        Confidence level.
    draws : int
        Of labels, for the test of miscalibration; 0 leaves it out, and the intervals of distances.
    random_state : int, Generator, RandomState or None
    target_prevalence : float, optional
        Share of positives where the model will be used; the sample's own when left out.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: then they are not taken as independent.

    Returns
    -------
    CalibrationReport
        NaN for what is undefined; what has no interval states why in its method.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    Distances (miscalibration, ICI, E50, E90, Emax, ECE, MCE) are above 0 by chance alone, so their intervals invert
    tests: labels are drawn from curves whose distance is known (`rocscope.calibration.logistic`), and 0 is
    in the interval of miscalibration exactly where its test does not reject. Others are closed forms: Wilson for
    observed over expected, Wald with the larger of model-based and sandwich variances for slope and intercepts, and
    influence functions for scores. Coverage by simulation is in docs/guide/calibration.md.

    ECE less its bias, smooth ECE, and the parts of decompositions other than miscalibration have no interval here.

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
    refuse_repeats(y_true, "calibration report")
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    shift = Shift.of(known.outcomes, target_prevalence)
    forms = ClosedForms(known, shift, check.check_level(level))
    estimates = _in_closed_form(forms) | _plain(forms, bins)
    check.check_whole(draws, "draws", least=0)
    distances, p_value = distance_estimates(known, forms, bins=bins, draws=draws, random_state=random_state)
    tests = {"spiegelhalter": _spiegelhalter(forms)}
    if draws:
        of_draws = grouped(known.outcomes)
        statistic = float(miscalibration(of_draws, of_draws.pos[None], shift)[0])
        tests["miscalibration"] = CalibrationTest(statistic, p_value, f"CORP miscalibration, {draws} draws")
    return CalibrationReport(estimates | distances, tests, _notes(forms, estimates, bins), known.counts.n)


PLOTTED_NUMBERS = ("observed_over_expected", "intercept", "slope", "ici", "ece", "brier")


def plotted_numbers(counts: ThresholdCounts, target_prevalence: float | None = None) -> dict[str, float]:
    """Return the numbers beside a calibration plot, as in the report, without intervals."""
    sample = Outcomes.of(counts).at(target_prevalence)
    expected, nothing = sample.mean(sample.score), CoxCalibration(nan, nan, nan, nan, nan, nan)
    cox = cox_calibration(sample) if 0 < sample.prevalence < 1 else nothing
    ratio = sample.prevalence / expected if expected > 0 else nan
    index = min(sample.mean(distances(sample)), _farthest(sample))
    found = (ratio, cox.intercept, cox.slope, index, calibration_error(sample), brier(sample))
    return dict(zip(PLOTTED_NUMBERS, found, strict=True))


def distance_estimates(
    known: Evidence,
    forms: ClosedForms,
    *,
    bins: int = 10,
    draws: int = DRAWS,
    draws_along: int = DRAWS_ALONG,
    common: bool = False,
    coarse: bool = False,
    random_state: Any = 0,
) -> tuple[dict[str, Estimate], float]:
    """Return distances from calibration with intervals from test inversion, and the p-value of the miscalibration.

    With `common`, those of `rocscope.calibration.scores.Distances` that it names less common are left out. With
    `coarse`, draws are of a quarter as many groups of neighbouring rows.
    """
    sample, level = forms.sample, forms.level
    index = calibration_index(sample)
    values = {"brier_miscalibration": decompose(sample).miscalibration}
    values |= {name: getattr(index, name) for name in ("ici", "e50", "e90")}
    values["ece"] = calibration_error(sample, bins=bins)
    if not common:
        values |= {
            "emax": index.emax,
            "ici_quadratic": calibration_index(sample, convention="austin").ici,
            "ece_equal_mass": calibration_error(sample, bins=bins, strategy="quantile"),
            "mce": calibration_error(sample, bins=bins, norm="max"),
        }
    farthest = _farthest(sample)
    values = {name: min(value, farthest) for name, value in values.items()}
    if not draws:
        return {name: forms.without(value, "no draws asked for") for name, value in values.items()}, float("nan")
    if not 0 < sample.prevalence < 1:
        return {name: forms.without(value, ONE_CLASS) for name, value in values.items()}, _one_class(known, draws)
    unseen = 1 - (1 - level) ** (1 / known.outcomes.effective.sum())  # a share that so many cases leave open unseen
    levels = grouped(known.outcomes, coarse=True, bins=bins) if coarse else grouped(known.outcomes)
    found = Distances(levels, forms.shift, bins, common)
    limits = found.inverted(level=level, draws=draws, draws_along=draws_along, random_state=random_state)
    estimates = {}
    for name, value in values.items():
        key = name.removeprefix("brier_")
        low, high = min(float(limits.low[key]), value), max(float(limits.high[key]), value)
        if name == "e50":
            low = min(low, _half_off(sample, level))
        if high - low < _NO_WIDTH:
            low, high = low * (1 - unseen), min(high + unseen, farthest)
        method = f"inverted test, {draws} draws" + _facts(known.outcomes)
        estimates[name] = forms.of(value, low, high, method, float("nan"))
    cases = _cases_expected(known, sample, [*_QUANTILES.values()])
    for (name, share), expected in zip(_QUANTILES.items(), cases, strict=True):
        if estimates[name].reliable:
            what = f"cases expected where {100 * share:.0f} % of the probabilities are"
            estimates[name] = replace(estimates[name], reason=few(expected, FEW_ROWS, what))
    return estimates, float(limits.p_value["miscalibration"])


_BINS_OF_HALF = 10  # of equal size, to see whether half of the rows are off


def _half_off(sample: Outcomes, level: float) -> float:
    """Return a lower confidence limit of the median distance, seen in bins of equal size.

    LOESS spreads a narrow bump over rows that are calibrated, which the median of its distances then shows and tests
    along smooth curves do not doubt. Of half of the bins each must be that far off by itself.
    """
    found = binned(sample, bins=_BINS_OF_HALF, strategy="quantile")
    filled = found.total > 0
    off, chance, rows = (found.share - found.x)[filled], found.share[filled], found.effective[filled]
    least = np.abs(off) - normal_quantile(level) * np.sqrt(chance * (1 - chance) / np.maximum(rows, 1))
    order = np.argsort(-least)
    half = np.searchsorted(np.cumsum(found.total[filled][order]), sample.n / 2)
    return max(float(least[order][min(half, order.size - 1)]), 0.0)


def _cases_expected(known: Evidence, sample: Outcomes, shares: list[float]) -> list[float]:
    """Return the cases expected among given shares of the rows, from the most certain on.

    The quantile of the distances is decided by this share of the rows, and by few outcomes where these are the rows of
    the smallest variance p(1 − p).
    """
    variance = sample.score * (1 - sample.score)
    order = np.argsort(variance)
    rows = known.outcomes.effective[order]
    reached, cases = np.cumsum(rows), np.cumsum(variance[order] * rows)
    places = np.searchsorted(reached, np.array(shares) * rows.sum(), side="right")
    return np.append(0.0, cases)[places].tolist()


def _farthest(sample: Outcomes) -> float:
    """Return the largest possible distance between a probability and the truth, which LOESS may exceed."""
    return float(np.maximum(sample.score, 1 - sample.score).max())


def _one_class(known: Evidence, draws: int) -> float:
    return miscalibration_test(known.counts, draws=draws).p_value


def _facts(sample: Outcomes) -> str:
    return f", design effect {sample.design_effect:.3g}" if sample.design_effect > 1 else ""


def _in_closed_form(forms: ClosedForms) -> dict[str, Estimate]:
    """Return the measures that have an interval in closed form."""
    score = forms.sample.score
    brier = forms.mean(*squared(score), most=1.0, name="influence function")
    return {
        "brier": brier,
        "scaled_brier": forms.scaled_brier(brier),
        "log_loss": forms.mean(*logarithmic(score), most=float("inf"), name="influence function"),
        "observed_over_expected": forms.ratio(),
        "observed_minus_predicted": forms.difference(),
    } | forms.recalibration()


def _plain(forms: ClosedForms, bins: int) -> dict[str, Estimate]:
    """Return the measures that are shown without an interval."""
    sample, found = forms.sample, {}
    wholes = {
        "brier": decompose(sample),
        "log_loss": decompose(sample, rule="log_loss"),
        "murphy": decompose(sample, method="murphy", bins=bins),
    }
    for name, whole in wholes.items():
        parts = _PARTS if name == "brier" else ("miscalibration", *_PARTS)
        found |= {f"{name}_{part}": getattr(whole, part) for part in parts}
    found |= {
        "ece_debiased": calibration_error(sample, bins=bins, debiased=True),
        "smooth_ece": smooth_calibration_error(sample),
        "spiegelhalter_z": _spiegelhalter(forms).statistic,
    }
    return {name: forms.without(value, "shown as it is") for name, value in found.items()}


def _spiegelhalter(forms: ClosedForms) -> CalibrationTest:
    """Return the test with what weights and groups are worth, which outcomes at another prevalence do not say."""
    return spiegelhalter_test(forms.evidence.outcomes if forms.shift.target is None else forms.sample)


def _notes(forms: ClosedForms, values: Mapping[str, Estimate], bins: int) -> tuple[str, ...]:
    notes = [f"ECE, MCE and Murphy's parts depend on the bins ({bins})"]
    if not 0 < forms.sample.prevalence < 1:
        notes.append("one class only: intercept and slope are undefined")
    elif isnan(values["slope"].low):
        notes.append(f"slope or intercept do not exist: {values['slope'].method.removeprefix('no interval: ')}")
    if np.isinf(values["log_loss"].value):
        notes.append("log loss is infinite: something happened that was given the probability 0")
    return tuple(notes)


@dataclass(frozen=True)
class ValProb(Result):
    """The statistics that val.prob of R's rms prints.

    Attributes
    ----------
    dxy, c : float
        Somers' D and the area under the ROC curve.
    r2 : float
        Nagelkerke's, of the probabilities as they are.
    d, u, q : float
        Discrimination of the probabilities as they are and unreliability per row, in likelihood ratio χ², and their
        difference, the quality index.
    u_p : float
        p-value of the hypothesis that intercept and slope are 0 and 1.
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
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.

    Returns
    -------
    ValProb
        Those of logistic recalibration are NaN where it does not exist (see `cox_calibration`).

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    Notes
    -----
    R² and D are those that rms 6.5 prints: of the probabilities as they are, not of what recalibration makes of them.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §10.9; function val.prob of the R package rms.

    Examples
    --------
    >>> found = val_prob([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    >>> round(found.c, 4), round(found.brier, 4)
    (0.8889, 0.1667)
    """
    refuse_repeats(y_true, "val.prob")
    known = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    sample, area = Outcomes.of(known.counts), auc(known.counts)
    cox, index, z = cox_calibration(sample), calibration_index(sample), spiegelhalter_test(known.outcomes)
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = expit(cox.intercept + cox.slope * logit(sample.score))
    n, own, null = sample.n, _deviance(sample, sample.score), _deviance(sample, np.full(fitted.size, sample.prevalence))
    best = _deviance(sample, fitted) if np.isfinite(cox.intercept) else nan
    d, u = (null - own - 1) / n, (own - best - 2) / n
    with np.errstate(over="ignore"):  # a probability of 0 of what happened has no bound
        r2 = float(np.expm1((own - null) / n) / np.expm1(-null / n))
    return ValProb(
        dxy=2 * area - 1,
        c=area,
        r2=r2,
        d=d,
        u=u,
        q=d - u,
        u_p=float(chdtrc(2, own - best)),
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
