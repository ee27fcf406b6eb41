"""Registry of performance measures by name, including their names in other libraries.

Each measure has one entry in `_TABLE`. Measures with a number in their name, such as f2 and lift@0.1, are created on
request. The second part of the file makes statistics with an influence function: metrics at a fixed threshold, cost and
net benefit.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.public_names import reach
from rocscope.core import Campaign, Context, ThresholdCounts, decimal
from rocscope.core.ranking import count_at_least
from rocscope.errors import InputError
from rocscope.figures import influence
from rocscope.figures.influence import Figure, FourNumbers, LinearForm, Scale, Smooth, TwoRates

_CELLS = ("tp", "fp", "fn", "tn")
_ONE: LinearForm = (0, 0, 1)
_ALL = "tp fp fn tn"


def _sums(parts: str) -> tuple[FourNumbers, FourNumbers]:
    """Parse the weights of the four counts in a text such as "tp / tp fp"."""
    top, bottom = (part.split() for part in parts.split("/"))
    weights = (tuple(int(cell in part) for cell in _CELLS) for part in (top, bottom))
    return tuple(weights)  # pyright: ignore[reportReturnType]


def _share(name: str, title: str, parts: str, *aliases: str, sign: int = 1, **options: Any) -> Figure:
    """Return a Figure for a share of cases."""
    ideal = None if sign == 0 or name == "depth" else int(sign > 0)
    sums = _sums(parts)
    return Figure(name, title, "cells", sign, "share", ideal, aliases, metrics.METRICS[name], parts=sums, **options)


def _cases(name: str, title: str, parts: str, *aliases: str, sign: int) -> Figure:
    """Return a Figure for a number of cases."""
    top, bottom = _sums(f"{parts} / {_ALL}")

    def count(*cells: Any) -> Any:
        return sum(cell for cell, counted in zip(cells, top, strict=True) if counted)

    return Figure(name, title, "cells", sign, "cases", None, aliases, count, parts=(top, bottom))


def _of_cells(name: str, title: str, *aliases: str, lines: Any = None, **options: Any) -> Figure:
    return Figure(name, title, "cells", aliases=aliases, cells=metrics.METRICS[name], lines=lines, **options)


def _closest_topleft(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    """Return the distance in ROC space from the perfect point (0, 1)."""
    return np.hypot(metrics.fpr(tp, fp, fn, tn), metrics.fnr(tp, fp, fn, tn))


def _ks(counts: ThresholdCounts) -> float:
    """Return the Kolmogorov–Smirnov statistic: the largest tpr − fpr over all thresholds."""
    return max(float(np.max(metrics.youden(counts.tp, counts.fp, counts.fn, counts.tn))), 0.0)


def _auc(counts: ThresholdCounts) -> float:
    counts.require_both_classes("AUC")
    return counts.pairs().auc("half")


def _calibrated(name: str, title: str, function: str, attribute: str = "", *aliases: str, **options: Any) -> Figure:
    """Return a Figure that is computed by a function of `rocscope.calibration`. By default, small values are good."""

    def value(counts: ThresholdCounts) -> float:
        summary = getattr(reach("calibration"), function)(counts)
        return getattr(summary, attribute) if attribute else summary

    fixed = {"sign": -1, "unit": "number", "ideal": 0} | options
    return Figure(name, title, "probabilities", aliases=aliases, counts=value, **fixed)  # pyright: ignore[reportArgumentType]


def _beyond_chance(share: Fraction) -> tuple[LinearForm, LinearForm]:
    """Return the numerator and the denominator of Cohen's kappa as linear functions of tpr and fpr.

    At the prevalence π, the numerator is 2π(1 − π)(tpr − fpr). The denominator is (1 − 2π)·(π·tpr + (1 − π)·fpr) + π.
    """
    height, skew = 2 * share * (1 - share), 1 - 2 * share
    return (height, -height, 0), (skew * share, skew * (1 - share), share)


def _log_odds(share: Array) -> Array:
    return np.log(share) - np.log1p(-share)


_HALVED = TwoRates(lambda x: x / 2, lambda x: x + 0.5)
_HALF = Fraction(1, 2)
_ABOVE_CHANCE: tuple[LinearForm, LinearForm] = ((1, -1, 0), _ONE)
_MEAN_OF_CLASSES: tuple[LinearForm, LinearForm] = ((_HALF, -_HALF, _HALF), _ONE)

_TABLE = (
    _share(
        "tpr", "TPR", "tp / tp fn", "sensitivity", "sens", "recall", "hit rate", "true positive rate", "detection rate",
    ),
    _share("fnr", "FNR", "fn / tp fn", "miss rate", "false negative rate", sign=-1),
    _share("fpr", "FPR", "fp / fp tn", "fall-out", "fallout", "false alarm rate", "false positive rate", sign=-1),
    _share("tnr", "TNR", "tn / fp tn", "specificity", "spec", "selectivity", "true negative rate"),
    _share("precision", "precision", "tp / tp fp", "ppv", "prec", "positive predictive value"),
    _share("npv", "NPV", "tn / fn tn", "negative predictive value"),
    _share("accuracy", "accuracy", f"tp tn / {_ALL}", "acc", mean_of_rows=True),
    _share("error", "error", f"fp fn / {_ALL}", "error rate", "misclassification rate", sign=-1, mean_of_rows=True),
    _share(
        "depth", "depth", f"tp fp / {_ALL}", "detection prevalence", "selection rate", "positive rate",
        "rate of positive predictions",
    ),
    _share("prevalence", "prevalence", f"tp fn / {_ALL}", "base rate", sign=0),
    _share("jaccard", "Jaccard", "tp / tp fp fn", "threat score", "critical success index"),
    _cases("cases", "cases", "tp fp", "predicted positives", "alarms", sign=0),
    _cases("tp", "TP", "tp", "true positives", "hits", sign=1),
    _cases("fp", "FP", "fp", "false positives", "false alarms", sign=-1),
    _cases("fn", "FN", "fn", "false negatives", "misses", sign=-1),
    _cases("tn", "TN", "tn", "true negatives", "correct rejections", sign=1),
    _of_cells(
        "youden", "Youden's J", "informedness", "youden's j", "youden index", "j index",
        lines=lambda _: _ABOVE_CHANCE, ideal=1, scale=influence.SIGNED, rates=TwoRates(np.positive, np.positive),
    ),
    _of_cells(
        "balanced_accuracy", "balanced accuracy", "bacc", "bal accuracy",
        lines=lambda _: _MEAN_OF_CLASSES, ideal=1, rates=_HALVED,
    ),
    _of_cells("macro_average", "macro average", lines=lambda _: _MEAN_OF_CLASSES, ideal=1, rates=_HALVED),
    _of_cells("weighted_accuracy", "weighted accuracy", ideal=1),
    _of_cells("break_even", "break-even", ideal=1),
    _of_cells("fowlkes_mallows", "Fowlkes–Mallows", "fowlkes mallows index", ideal=1),
    _of_cells(
        "mcc", "MCC", "matthews", "matthews correlation", "matthews_corrcoef", "phi",
        unit="number", ideal=1, scale=influence.SIGNED,
    ),
    _of_cells(
        "kappa", "kappa", "cohen kappa", "cohen's kappa", "cohen_kappa_score", "kap",
        lines=_beyond_chance, unit="number", ideal=1, scale=influence.SIGNED,
    ),
    _of_cells("markedness", "markedness", unit="number", ideal=1, scale=influence.SIGNED),
    _of_cells(
        "lift", "lift", "lift factor", unit="ratio",
        lines=lambda share: ((1, 0, 0), influence.line((1, 1, 0, 0), share)),
    ),
    _of_cells(
        "lr_positive", "LR+", "lr+", "dlr+", "positive_likelihood_ratio", unit="ratio",
        lines=lambda _: ((1, 0, 0), (0, 1, 0)), rates=TwoRates(np.log, np.exp),
    ),
    _of_cells(
        "lr_negative", "LR−", "lr-", "lr−", "dlr-", "neg_negative_likelihood_ratio", "negative_likelihood_ratio",
        unit="ratio", sign=-1, ideal=0, lines=lambda _: ((-1, 0, 1), (0, -1, 1)),
        rates=TwoRates(np.log, np.exp, missed=True),
    ),
    _of_cells(
        "odds_ratio", "odds ratio", "diagnostic odds ratio", "dor", unit="ratio", rates=TwoRates(_log_odds, np.exp),
    ),
    Figure(
        "closest_topleft", "distance from the top left", "cells", -1, "number", 0, ("closest.topleft",),
        _closest_topleft,
    ),
    Figure(
        "auc", "AUC", "ranks", ideal=1, counts=_auc, smooth=influence.area,
        aliases=("roc_auc", "roc_auc_score", "auroc", "area", "area under the curve", "c statistic", "concordance"),
    ),
    Figure(
        "average_precision", "average precision", "ranks", ideal=1, smooth=influence.average_precision,
        aliases=("ap", "average_precision_score"),
    ),
    Figure(
        "ks", "KS", "ranks", ideal=1, aliases=("kolmogorov-smirnov",), cells=metrics.youden, counts=_ks,
        lines=lambda _: _ABOVE_CHANCE,
    ),
    _calibrated(
        "brier", "Brier", "brier", "", "brier_score", "brier_score_loss", "neg_brier_score", "brier class",
        unit="share", smooth=influence.brier, mean_of_rows=True,
    ),
    _calibrated(
        "log_loss", "log loss", "log_loss", "", "neg_log_loss", "logloss", "mn log loss", "cross-entropy",
        smooth=influence.log_loss, mean_of_rows=True,
    ),
    Figure(
        "scaled_brier", "scaled Brier", "probabilities", 1, "number", 1, ("brier skill score", "bss", "ipa"),
        smooth=influence.scaled_brier,
    ),
    Figure(
        "discrimination_slope", "discrimination slope", "probabilities", 1, "number", 1, ("yates slope",),
        smooth=influence.discrimination_slope,
    ),
    Figure(
        "observed_over_expected", "O/E", "probabilities", 0, "ratio", 1,
        ("o/e", "observed_to_expected", "observed/expected"), smooth=influence.observed_to_expected,
    ),
    Figure(
        "excess_events", "observed − expected", "probabilities", 0, "number", 0, ("calibration",),
        smooth=influence.excess_events,
    ),
    _calibrated("in_the_large", "in the large", "cox_calibration", "in_the_large", "calibration in the large", sign=0),
    Figure(
        "intercept", "intercept", "probabilities", 0, "number", 0, ("calibration intercept",),
        smooth=influence.calibration_intercept,
    ),
    Figure(
        "slope", "slope", "probabilities", 0, "number", 1, ("calibration slope",),
        smooth=influence.calibration_slope,
    ),
    _calibrated("ici", "ICI", "calibration_index", "ici", "integrated calibration index"),
    _calibrated("e50", "E50", "calibration_index", "e50"),
    _calibrated("e90", "E90", "calibration_index", "e90"),
    _calibrated("ece", "ECE", "calibration_error", "", "expected calibration error"),
    _calibrated("brier_miscalibration", "miscalibration", "decompose", "miscalibration", "miscalibration"),
    Figure("cost", "cost per case", "costs", -1, "money", aliases=("expected_cost", "min_cost")),
    Figure("net_benefit", "net benefit", "costs", 1, "number"),
    Figure("miscalibration_cost", "cost of acting on p", "costs", -1, "money", 0),
)  # fmt: skip

FIGURES: dict[str, Figure] = {figure.name: figure for figure in _TABLE}
"""All measures by name, except measures with a number in their name, such as f2 and lift@0.1."""

_BETA = re.compile(r"f(\d+(?:\.\d+)?)")
_F1_ALIASES = ("f_score", "f measure", "f meas", "dice", "f1_score")
_AT_DEPTH = re.compile(r"(lift|gain|precision)@(0?\.\d+|1(?:\.0*)?|\d+(?:\.\d+)? ?%)")


def _f_score(text: str) -> Figure:
    """Return the Figure of F_β = (1 + β²)·tp / ((1 + β²)·tp + fp + β²·fn)."""
    beta, square = float(text), Fraction(text) ** 2
    if not beta > 0:
        raise InputError("beta", expected="a number above 0", got=text)

    def value(*cells: Any) -> Any:
        return metrics.f_score(*cells, beta=beta)

    parts = ((1 + square, 0, 0, 0), (1 + square, 1, square, 0))
    aliases = _F1_ALIASES if beta == 1 else ()
    return Figure(f"f{text}", f"F{text}", "cells", ideal=1, aliases=aliases, cells=value, parts=parts)


def _at_depth(kind: str, text: str) -> Figure:
    """Return the Figure of lift, gain or precision at a depth, which is a share of cases with the highest scores.

    For a threshold, only the positives at or above the threshold count, but the number of cases is still the depth. The
    result is NaN if the threshold selects more cases than the depth. The best threshold therefore selects the most
    positives within the depth.
    """
    depth = float(text.rstrip("% ")) / 100 if "%" in text else float(text)

    def value(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        n, tpr = tp + fp + fn + tn, metrics.tpr(tp, fp, fn, tn)
        scale = {"gain": 1.0, "lift": 1 / depth, "precision": (tp + fn) / n / depth}[kind]
        # Forgives the rounding of a share of n: twelve digits of it count.
        return np.where((tp + fp) <= depth * n * (1 + 1e-12), tpr * scale, np.nan)

    smooth = {"gain": influence.gain_at, "lift": influence.lift_at, "precision": influence.precision_at}[kind]
    name, unit = f"{kind}@{depth:g}", "ratio" if kind == "lift" else "share"
    return Figure(name, name, "ranks", unit=unit, cells=value, smooth=lambda: smooth(depth))


def _folded(name: str) -> str:
    return " ".join(re.sub(r"[_\s]|(?<=\w)-(?=\w)", " ", name.lower()).split())


_BY_NAME = {_folded(name): figure for figure in _TABLE for name in (figure.name, *figure.aliases)}
_BY_NAME |= {_folded(alias): _f_score("1") for alias in ("f1", *_F1_ALIASES)}


# What scikit-learn calls a score of a clustering is none of predictions, though the formula has the same name.
_SCORES_OF_CLUSTERINGS = {"fowlkes mallows score"}


def known(name: str) -> Figure | None:
    """Return the measure with a name, ignoring case; None if the name is unknown.

    Examples
    --------
    >>> [known(name).name for name in ("Hit_Rate", "roc_auc", "fall-out", "F0.5", "lift@10%")]
    ['tpr', 'auc', 'fpr', 'f0.5', 'lift@0.1']
    """
    folded = _folded(name)
    figure = _BY_NAME.get(folded)
    if figure is None and folded not in _SCORES_OF_CLUSTERINGS:
        figure = _BY_NAME.get(folded.removesuffix(" score"))
    if figure is not None:
        return figure
    if match := _BETA.fullmatch(folded):
        return _f_score(match[1])
    match = _AT_DEPTH.fullmatch(folded.replace(" ", ""))
    return _at_depth(*match.groups()) if match else None


def scorer_name(metric: Any) -> Any:
    """Return the name of the metric that a scikit-learn scorer computes; return other arguments unchanged.

    Raises
    ------
    InputError
        If the scorer has options that change the metric.

    Examples
    --------
    >>> scorer_name("f1"), scorer_name(len) is len
    ('f1', True)
    """
    function, options = getattr(metric, "_score_func", None), dict(getattr(metric, "_kwargs", {}))
    if function is None:
        return metric
    if function.__name__ == "fbeta_score":
        return f"f{options['beta']:g}"
    if options.pop("average", "binary") != "binary" or options.keys() - {"pos_label"}:
        hint = "pass the name of a metric; or call learning_curve(metric=), which accepts any scorer"
        expected = "a scorer without options"
        raise InputError(f"scorer of {function.__name__}", expected=expected, got=check.shown(metric), hint=hint)
    return function.__name__


def figure_named(name: Any, subject: str, *, expected: str, suits: Callable[[Figure], Any], hint: str = "") -> Figure:
    """Return the measure with a name. Raise an error if the caller does not support this measure.

    Parameters
    ----------
    name : str
        Name or alias of the measure.
    subject : str
        Name of the argument for error messages, such as ``"criterion"``.
    expected : str
        Description of the supported measures for error messages.
    suits : function
        Function of a Figure that returns True if the caller supports it.

    Raises
    ------
    InputError
        If the name is unknown, or if the measure is not supported.

    Examples
    --------
    >>> figure_named("sensitivity", "criterion", expected="a metric of one threshold", suits=lambda f: f.cells).name
    'tpr'
    >>> figure_named("auc", "criterion", expected="a metric of one threshold", suits=lambda f: f.cells)
    Traceback (most recent call last):
    ...
    rocscope.errors.InputError: criterion: expected a metric of one threshold, got 'auc' (a metric of the whole ranking)
    """
    name = scorer_name(name)
    figure = known(name) if isinstance(name, str) else None
    if figure is None:
        # Figures with a number in their name are not in the table: the message names some as examples.
        usable = [
            figure
            for figure in (*_TABLE[:7], *map(_f_score, "12"), *_TABLE[7:], _at_depth("lift", "0.1"))
            if suits(figure)
        ]
        names, aliases = [figure.name for figure in usable], [alias for figure in usable for alias in figure.aliases]
        listed = check.one_of(str(name), names, aliases)
        raise InputError(subject, expected=listed, got=check.shown(name), hint=hint)
    if not suits(figure):
        raise InputError(subject, expected=expected, got=figure.words, hint=hint)
    return figure


def statistic_named(name: str, subject: str = "statistic") -> tuple[Figure, Callable[[ThresholdCounts], float]]:
    """Return a measure of the whole ranking, and the function that computes it (a Smooth if possible).

    Examples
    --------
    >>> statistic_named("neg_brier_score")[1](ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])).__round__(3)
    0.025
    """
    expected = "a metric of the whole ranking (such as 'auc') or of probabilities (such as 'brier')"
    hint = "for a metric at a threshold, pass rocscope.inference.statistics.at(0.5, 'precision')"
    suits = ("ranks", "probabilities")
    figure = figure_named(name, subject, expected=expected, suits=lambda figure: figure.needs in suits, hint=hint)
    if figure.smooth is not None:
        return figure, figure.smooth()

    def statistic(counts: ThresholdCounts) -> float:
        return figure.value(counts)

    statistic.__name__ = figure.title
    return figure, statistic


def in_context(figure: Figure, context: Context) -> Figure:
    """Insert the costs of a context into the cost per case or the net benefit; return other measures unchanged.

    Notes
    -----
    The cost per case is Σ cost·count/n over tp, fp, fn and tn. The net benefit is (tp − odds·fp)/n, with the odds
    (cost_fp − cost_tn)/(cost_fn − cost_tp).

    Examples
    --------
    >>> cost = in_context(FIGURES["cost"], Context(cost_fn=5))
    >>> float(cost.cells(3, 2, 1, 4))  # 2 · 1 + 1 · 5 for 10 cases
    0.7
    """
    if figure.needs != "costs" or figure.name == "miscalibration_cost":
        return figure
    if context.columns or (figure.name == "net_benefit" and context.miss_cost <= 0):
        expected = "costs that are equal in all rows and lower for a true positive than for a false negative"
        raise InputError(figure.name, expected=expected, got=repr(context))
    if figure.name == "cost":
        top: FourNumbers = tuple(map(decimal, context.costs.values()))  # pyright: ignore[reportAssignmentType]
    else:
        top = (1, -context.false_alarm_cost / context.miss_cost, 0, 0)

    def value(*cells: Any) -> Any:
        return sum(float(cost) * cell for cost, cell in zip(top, cells, strict=True)) / sum(cells)

    return replace(figure, cells=value, parts=(top, (1, 1, 1, 1)))


_STEP = 1e-6  # near the cube root of float64's 10⁻¹⁶, where both errors of a central difference are small
_EXPECTED = "a metric of one threshold that is a rate or a ratio, such as 'precision'"


def _is_share_of_counts(figure: Figure) -> bool:
    return figure.needs == "cells" and figure.unit != "cases"


@contract
def at(threshold: float, metric: str | Callable[..., Any] = "accuracy") -> Smooth:
    """Return a metric of tp, fp, fn and tn at a fixed threshold, as a statistic.

    Parameters
    ----------
    threshold : float
        Threshold of the score. Cases with scores at or above it are predicted positive.
    metric : str or function of (tp, fp, fn, tn)
        Name of a metric, such as "precision", or a function. The value must not change if all four counts are
        multiplied by the same number.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If the metric is neither the name of a metric at a threshold nor a function.

    See Also
    --------
    cost_at, net_benefit_at, estimate_of

    Examples
    --------
    >>> at(2.5, "precision")(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    0.5
    """
    scale, parts, rates = influence.PLAIN, None, None
    metric = scorer_name(metric)
    if isinstance(metric, str):
        figure = figure_named(metric, "metric", expected=_EXPECTED, suits=_is_share_of_counts)
        name, function = figure.name, check.check_function(figure.cells, "metric")
        scale = figure.scale or _UNITS.get(figure.unit, influence.PLAIN)
        parts, rates = figure.parts, figure.rates
    else:
        name, function = getattr(metric, "__name__", "metric"), check.check_function(metric, "metric")
    return _at(threshold, name, function, scale, parts, rates)


_UNITS = {"share": influence.SHARE, "ratio": influence.RATIO}


def _at(
    threshold: float,
    name: str,
    function: Callable[..., Any],
    scale: Scale,
    parts: Any = None,
    rates: TwoRates | None = None,
) -> Smooth:
    def linearise(counts: ThresholdCounts) -> influence.Linear:
        pos, neg = counts.pos / float(counts.n), counts.neg / float(counts.n)
        reached = np.arange(len(counts)) < count_at_least(counts.threshold, threshold)
        cells = np.array([pos[reached].sum(), neg[reached].sum(), pos[~reached].sum(), neg[~reached].sum()])
        value, slope = _value_and_slopes(function, cells)
        of_pos, of_neg = (np.where(reached, slope[i], slope[i + 2]) for i in (0, 1))
        mean = float(pos @ of_pos + neg @ of_neg)

        def smoothed(rows: float) -> tuple[float, float]:
            more = (cells * rows + influence.SPARE) / (rows + 4 * influence.SPARE)
            value, slope = _value_and_slopes(function, more)
            return value, float(np.sqrt(max(more @ slope**2 - (more @ slope) ** 2, 0.0) / (rows + 4 * influence.SPARE)))

        trials = None
        if parts is not None and set(map(float, (*parts[0], *parts[1]))) <= {0.0, 1.0}:
            of = parts[1]
            trials = np.where(reached, of[0], of[2]), np.where(reached, of[1], of[3])
        return influence.Linear(value, of_pos - mean, of_neg - mean, trials, influence.Smoothed(cells, smoothed, rates))

    return Smooth(f"{name} at {threshold:g}", linearise, scale)


def _value_and_slopes(function: Callable[..., Any], cells: Array) -> tuple[float, Array]:
    """Return a metric and its derivatives with respect to tp, fp, fn and tn; zeros if they are not finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(*cells))
        slope = np.array([_slope(function, cells, i) for i in range(4)])
    return value, slope if np.isfinite(value) and np.isfinite(slope).all() else np.zeros(4)


def _slope(function: Callable[..., Any], cells: Array, i: int) -> float:
    """Return the numerical derivative with respect to count i: central, or one-sided if the count is 0."""
    step = np.zeros(4)
    step[i] = _STEP
    back = step if cells[i] > _STEP else 0 * step
    return float(function(*(cells + step)) - function(*(cells - back))) / (_STEP + back[i])


@contract
def cost_at(threshold: float, context: Context | Campaign | None = None) -> Smooth:
    """Return the expected cost per case at a fixed threshold, as a statistic.

    If the context has a target prevalence, the cost is computed for this prevalence.

    Parameters
    ----------
    threshold : float
        Threshold of the score. Cases with scores at or above it are predicted positive.
    context : Context or Campaign, optional
        Costs and prevalence. By default, each error costs 1.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If a campaign has a capacity or a fixed cost, because a context would ignore it.

    See Also
    --------
    net_benefit_at, at, compare_costs

    Examples
    --------
    >>> cost_at(2.5, Context(cost_fn=5))(ThresholdCounts([4, 3, 2, 1], [1, 0, 1, 0], [0, 1, 0, 1]))
    1.5
    """
    context = Context.given(context)
    costs = context.costs

    def cost(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        share = context.prevalence((tp + fn) / (tp + fp + fn + tn))
        of_pos = (costs["tp"] * tp + costs["fn"] * fn) / (tp + fn)
        return share * of_pos + (1 - share) * (costs["fp"] * fp + costs["tn"] * tn) / (fp + tn)

    return _at(threshold, "cost", cost, influence.PLAIN)


@contract
def net_benefit_at(threshold: float) -> Smooth:
    """Return the net benefit at a threshold probability t as a statistic: (tp − fp·t/(1 − t))/n.

    Returns
    -------
    Smooth
        Statistic to pass to `estimate_of` or ``compare(statistic=…)``.

    Raises
    ------
    InputError
        If `threshold` is not between 0 and 1.

    See Also
    --------
    cost_at, estimate_of, net_benefit

    Examples
    --------
    >>> net_benefit_at(0.5)(ThresholdCounts([0.9, 0.6, 0.2], [2, 1, 1], [0, 1, 3]))
    0.25
    """
    odds = check.check_share(threshold, "threshold") / (1 - threshold)

    def benefit(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (tp - odds * fp) / (tp + fp + fn + tn)

    return _at(threshold, "net benefit", benefit, influence.PLAIN)
