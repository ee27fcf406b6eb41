"""calibration_report: every number of calibration, with intervals, and the tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import isnan, nan
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.cox import CoxCalibration, cox_calibration
from rocscope.calibration.discrepancy import calibration_error, calibration_index, smooth_calibration_error
from rocscope.calibration.goodness import (
    CalibrationTest,
    hosmer_lemeshow_test,
    miscalibration_test,
    spiegelhalter_test,
)
from rocscope.calibration.outcomes import Outcomes, outcomes
from rocscope.calibration.scores import decompose
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, html_table, number
from rocscope.core.rows import require_distinct
from rocscope.errors import ColumnError, InputError, OneClassError
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.units import is_frequency
from rocscope.inference.resampling.design import design_of_counts, design_of_rows
from rocscope.inference.resampling.draws import Design, Statistic, replicate
from rocscope.sample import sample_of

_GROUPS, _ENDS = 2048, 256
_PARTS = ("miscalibration", "discrimination", "uncertainty")
_DISTANCES = ("miscalibration", "discrimination", "ici", "e50", "e90", "emax", "ece", "mce", "chi2")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationReport(Result):
    """Numbers of calibration by name, each an Estimate; the tests; and what to keep in mind.

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


def calibration_report(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    bins: int = 10,
    replicates: int = 200,
    level: float = 0.95,
    draws: int = 999,
    random_state: Any = 0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationReport:
    """Every number of calibration with a bootstrap interval, and the tests of calibration.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
    bins : int
        Of ECE, MCE, Murphy's decomposition and Hosmer–Lemeshow.
    replicates : int
        Of the bootstrap; 0 leaves the intervals out.
    level : float
        Confidence level.
    draws : int
        Of labels, for the test of miscalibration.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    CalibrationReport
        NaN for what is undefined, with a note that says why.

    Raises
    ------
    ScoreError
        If a score is not a probability.

    Notes
    -----
    Rows are drawn as multinomial counts; above about 2,500 distinct probabilities neighbouring rows are gathered
    first, in the replicates only. Distances grow by resampling, so their intervals are mirrored at the estimate
    ("basic") and cut at 0; all others are quantiles of the replicates. Weights that are no numbers of rows need
    the rows, which are then drawn with their weights. Of rows with groups whole groups are drawn; the tests take rows
    as independent all the same, and a warning says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(500)
    >>> report = calibration_report(rng.random(500) < score, score)
    >>> report
    CalibrationReport(brier=0.1628, ici=0.0107, slope=1.019, 26 numbers, n=500)
    >>> 1 in report["slope"], report.tests["miscalibration"].p_value > 0.05
    (True, True)
    """
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    require_distinct(data.rows, "calibration report")
    counts = data.counts
    sample = outcomes(counts)
    check.check_level(level)
    values = _numbers(sample, bins)
    design = _design(sample, data.rows) if replicates else None
    seed = check.seed_of(random_state)
    drawn = _replicates(design, bins, len(values), replicates, seed)
    estimates = {
        name: _estimate(name, value, column, level, counts.n)
        for (name, value), column in zip(values.items(), drawn.T, strict=True)
    }
    tests = {
        "spiegelhalter": spiegelhalter_test(sample),
        "hosmer_lemeshow": hosmer_lemeshow_test(sample, bins=bins),
        "miscalibration": miscalibration_test(sample, draws=draws, random_state=seed),
    }
    return CalibrationReport(estimates, tests, _notes(sample, values, bins, design), counts.n)


def _numbers(sample: Outcomes, bins: int) -> dict[str, float]:
    decompositions = {
        "brier": decompose(sample),
        "log_loss": decompose(sample, rule="log_loss"),
        "murphy": decompose(sample, method="murphy", bins=bins),
    }
    found = {name: decompositions[name].score for name in ("brier", "log_loss")}
    for name, whole in decompositions.items():
        found |= {f"{name}_{part}": getattr(whole, part) for part in _PARTS}
    cox, index = _cox(sample), calibration_index(sample)
    found |= {
        "observed_minus_predicted": sample.prevalence - sample.mean(sample.score),
        "in_the_large": cox.in_the_large,
        "intercept": cox.intercept,
        "slope": cox.slope,
        "ici": index.ici,
        "e50": index.e50,
        "e90": index.e90,
        "emax": index.emax,
        "ece": calibration_error(sample, bins=bins),
        "ece_equal_mass": calibration_error(sample, bins=bins, strategy="quantile"),
        "ece_debiased": calibration_error(sample, bins=bins, debiased=True),
        "mce": calibration_error(sample, bins=bins, norm="max"),
        "smooth_ece": smooth_calibration_error(sample),
        "spiegelhalter_z": spiegelhalter_test(sample).statistic,
        "hosmer_lemeshow_chi2": hosmer_lemeshow_test(sample, bins=bins).statistic,
    }
    return found


def _cox(sample: Outcomes) -> CoxCalibration:
    try:
        return cox_calibration(sample)
    except OneClassError:
        return CoxCalibration(nan, nan, nan, nan, nan, nan)


def _design(sample: Outcomes, predictions: Predictions | None) -> Design | None:
    """Return what is drawn: counts of few groups, or weighted rows; None for weights without their rows."""
    weight = None if predictions is None else predictions.sample_weight
    if predictions is not None and (predictions.grouped or not (weight is None or is_frequency(weight, "auto"))):
        return design_of_rows(predictions, stratified=False, groups=None, weights="auto")
    if not (np.array([sample.pos, sample.total]) % 1 == 0).all():
        return None
    groups = sample.pooled(_GROUPS, ends=_ENDS)
    columns = (column[::-1].astype(np.int64) for column in (groups.pos, groups.neg))
    return design_of_counts(ThresholdCounts(groups.score[::-1], *columns), stratified=False)


def _replicates(design: Design | None, bins: int, size: int, replicates: int, seed: int) -> Array:
    if design is None:
        return np.full((1, size), nan)
    if replicates < 1:
        raise InputError("replicates", expected="a number of at least 0", got=repr(replicates))

    def numbers(counts: Mapping[str, ThresholdCounts]) -> list[float]:
        return list(_numbers(outcomes(next(iter(counts.values()))), bins).values())

    return replicate(design, Statistic(numbers, size), replicates, random_state=seed)


def _estimate(name: str, value: float, drawn: Array, level: float, n: float) -> Estimate:
    """Return the interval between quantiles of the replicates, mirrored and cut at 0 for what cannot be below."""
    usable = drawn[~np.isnan(drawn)]
    if isnan(value) or not usable.size:
        return Estimate(value, nan, nan, level, "no interval", n)
    tail = (1 - level) / 2
    low, high = (float(np.quantile(usable, share, method="inverted_cdf")) for share in (tail, 1 - tail))
    method = "percentile"
    if any(part in name for part in _DISTANCES):
        low, high, method = max(2 * value - high, 0.0), max(2 * value - low, 0.0), "basic"
    spread = float(np.std(usable)) if np.isfinite(usable).all() else nan
    return Estimate(value, low, high, level, f"bootstrap ({method}, {drawn.size} replicates)", n, spread)


def _notes(sample: Outcomes, values: Mapping[str, float], bins: int, design: Design | None) -> tuple[str, ...]:
    notes = [f"ECE, MCE, Murphy's parts and Hosmer–Lemeshow depend on the bins ({bins})"]
    if not 0 < sample.prevalence < 1:
        notes.append("one class only: intercept and slope are undefined")
    elif isnan(values["slope"]) or isnan(values["intercept"]):
        notes.append(
            "slope or intercept do not exist: one distinct probability, certain ones that were wrong, or no overlap"
        )
    if np.isinf(values["log_loss"]):
        notes.append("log loss is infinite: something happened that was given the probability 0")
    if design is None:
        notes.append("no intervals: none asked for, or weights that are no numbers of rows (pass the rows)")
    return tuple(notes)
