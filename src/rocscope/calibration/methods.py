"""calibration_curve: the calibration plot by bins, PAV, LOESS or a spline."""

from functools import partial
from typing import Any, Literal

from rocscope.calibration.bins import Strategy, binned
from rocscope.calibration.loess import loess_fit
from rocscope.calibration.outcomes import at_prevalence, outcomes
from rocscope.calibration.pav import pav_blocks, pav_fit
from rocscope.calibration.results import BinnedCalibrationCurve, CalibrationCurve, PavCalibrationCurve
from rocscope.calibration.spline import spline_fit
from rocscope.core.counts import ThresholdCounts
from rocscope.errors import InputError
from rocscope.sample import counts_of

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
    span: float = 2 / 3,
    knots: int = 5,
    target_prevalence: float | None = None,
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
    span : float
        Share of the rows in each window of LOESS.
    knots : int
        Of the spline, 3 to 7.
    target_prevalence : float, optional
        Share of positives where the model will be used: classes are weighted to it.

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
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    counts.require_probabilities("scores")
    counts = at_prevalence(counts, target_prevalence)
    if method == "bins":
        cells = binned(outcomes(counts), bins=bins, strategy=strategy, edges=edges)
        return BinnedCalibrationCurve(counts, _name(cells.total.size, strategy, edges), cells)
    if method == "pav":
        return PavCalibrationCurve(counts, lambda: pav_fit(outcomes(counts)), pav_blocks(counts))
    if method == "loess":
        return _smooth(counts, f"LOESS, span {span:.3g}", partial(loess_fit, span=span))
    if method == "spline":
        return _smooth(counts, f"logistic spline, {knots} knots", partial(spline_fit, knots=knots))
    raise InputError("method", expected="'bins', 'pav', 'loess' or 'spline'", got=repr(method))


def _smooth(counts: ThresholdCounts, name: str, prepare: Any) -> CalibrationCurve:
    fit = prepare(outcomes(counts))
    return CalibrationCurve(counts, name, lambda: fit, fit.x, fit.values(fit.outcomes.pos))


def _name(size: int, strategy: str, edges: Any) -> str:
    return f"{size} given bins" if edges is not None else f"{size} {strategy} bins"
