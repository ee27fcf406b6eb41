"""calibration_curve: the calibration plot by bins, PAV, LOESS or a spline."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.calibration.bands.smooth import loess_limits
from rocscope.calibration.bins import Strategy, binned
from rocscope.calibration.intervals.evidence import evidence
from rocscope.calibration.loess import DEFAULT_SPAN, Degree, LoessFit, loess_fit
from rocscope.calibration.outcomes import Outcomes, Shift, outcomes
from rocscope.calibration.pav import pav_blocks, pav_fit
from rocscope.calibration.results import Basis, BinnedCalibrationCurve, CalibrationCurve, PavCalibrationCurve
from rocscope.calibration.spline import SplineFit, spline_fit
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError

Method = Literal["bins", "pav", "loess", "spline"]


def calibration_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    method: Method = "bins",
    bins: int = 10,
    strategy: Strategy = "uniform",
    edges: Any = None,
    span: float | None = None,
    degree: Degree = 1,
    knots: int = 5,
    target_prevalence: float | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """Calibration plot: how often an event happened that was predicted with about this probability.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
    method : {"bins", "pav", "loess", "spline"}
        Shares in bins, as in the papers; isotonic regression, the CORP reliability diagram, which has no bins to
        choose; local linear regression, the papers' choice for small samples; logistic regression on a spline of
        the logit, which is smooth and stays within 0 and 1.
    bins : int
        How many bins, for the first two strategies.
    strategy : {"uniform", "quantile", "distinct"}
        Bins of equal width; of about equally many rows, where a tie is never split (so there may be fewer); or
        one for each distinct score.
    edges : array, optional
        Increasing bin edges that cover all scores, in place of a strategy.
    span : float, optional
        Share of the rows in each window of LOESS; by default ⅔ for lines and ¾ for parabolas.
    degree : {1, 2}
        Lines, as R's lowess and val.prob fit, or parabolas, as R's loess and Austin & Steyerberg (2019).
    knots : int
        Of the spline, 3 to 7.
    target_prevalence : float, optional
        Share of positives where the model will be used: classes are weighted to it.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: bands then do not take them as independent.

    Returns
    -------
    CalibrationCurve
        With the bands `consistency_band()` and `confidence_band()`; of bins also with `interval()`.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    InputError
        If an option makes no sense; see also `ThresholdCounts.from_scores`.

    Notes
    -----
    Bins are ``[low, high)``, the last one closed; a point stands at the mean score of its bin, and an empty bin is a
    gap (NaN). What bins show depends on the bins; PAV has no such choice. LOESS is not iterated for robustness and
    may leave [0, 1]. O(k) after ranking.

    References
    ----------
    Vuk & Curk 2006, §6. Dimitriadis, Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic
    classifiers", PNAS 118:e2016191118. Cleveland 1979, JASA 74:829–836.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.x, curve.y
    (array([0.2, 0.7]), array([0.5, 0.5]))
    >>> curve = calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], method="pav")
    >>> curve.x, curve.y
    (array([0.1, 0.3, 0.6, 0.8]), array([0. , 0.5, 0.5, 1. ]))
    """
    known = evidence(y_true, y_score, model=model, groups=groups, pos_label=pos_label, sample_weight=sample_weight)
    sample = known.outcomes
    shift, counts = Shift.of(sample, target_prevalence), known.counts_at(target_prevalence)
    check.check_text("method", method)
    plain = replace(sample, squares=None, design_effect=1.0) if counts is known.counts else outcomes(counts)
    if method == "bins":
        cells = binned(plain, bins=bins, strategy=strategy, edges=edges)
        name = _name(cells.total.size, strategy, edges)
        return BinnedCalibrationCurve(counts, name, Basis(sample, shift, cells.of), cells)
    if method == "pav":
        return PavCalibrationCurve(counts, Basis(sample, shift, pav_fit), pav_blocks(counts))
    if method == "loess":
        span = DEFAULT_SPAN.get(degree, 1.0) if span is None else span
        basis = Basis(sample, shift, partial(loess_fit, span=span, degree=degree), _loess_limits)
        return _smooth(counts, plain, f"LOESS, {'quadratic, ' if degree == 2 else ''}span {span:.3g}", basis)
    if method == "spline":
        basis = Basis(sample, shift, partial(spline_fit, knots=knots), SplineFit.limits)
        return _smooth(counts, plain, f"logistic spline, {knots} knots", basis)
    raise InputError("method", expected="'bins', 'pav', 'loess' or 'spline'", got=repr(method))


def _loess_limits(fit: LoessFit, level: float) -> tuple[Array, Array]:
    return loess_limits(fit.outcomes, fit.x, level)


def _smooth(counts: ThresholdCounts, sample: Outcomes, name: str, basis: Basis) -> CalibrationCurve:
    fit = basis.fit(sample)
    return CalibrationCurve(counts, name, basis, fit.x, fit.values(fit.outcomes.pos))


def _name(size: int, strategy: str, edges: Any) -> str:
    return f"{size} given bins" if edges is not None else f"{size} {strategy} bins"
