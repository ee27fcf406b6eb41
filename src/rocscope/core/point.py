"""OperatingPoint: a classifier at one threshold, as four counts."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc, unwrap
from typing import Any, Literal

from rocscope import metrics
from rocscope._base import validation as check
from rocscope.core.result import ComparedByValue, html_table, jsonable, number
from rocscope.errors import InputError


class _Rate(property):
    """A metric of `rocscope.metrics` as a property of a point, whose counts are checked: it needs no contract."""

    def __init__(self, metric: Callable[..., Any]) -> None:
        metric = unwrap(metric)
        words = cleandoc(metric.__doc__ or "").partition("\n\nExamples\n")[0]  # these call the function
        super().__init__(lambda point: float(metric(point.tp, point.fp, point.fn, point.tn)), doc=words)


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(ComparedByValue):
    """True and false positives and negatives of a classifier at one threshold.

    Parameters
    ----------
    tp, fp, fn, tn : int or float
        Counts (sums of weights where rows are weighted), each at least 0.
    threshold : float, optional
        Cases are predicted positive iff ``score >= threshold``; NaN for a crisp classifier.

    Raises
    ------
    InputError
        If a count is negative or not a number.

    Notes
    -----
    Each rate is a property and a function of `rocscope.metrics`; 0/0 is NaN.

    Examples
    --------
    >>> point = OperatingPoint(tp=300, fp=500, fn=200, tn=99_000)
    >>> point.tpr, point.precision, point.error
    (0.6, 0.375, 0.007)
    """

    tp: float
    fp: float
    fn: float
    tn: float
    threshold: float = float("nan")

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            count = getattr(self, name)
            if not (check.is_number(count) and 0 <= count < float("inf")):
                raise InputError(name, expected="a finite count of at least 0", got=repr(count))

    tpr = _Rate(metrics.tpr)
    fnr = _Rate(metrics.fnr)
    fpr = _Rate(metrics.fpr)
    tnr = _Rate(metrics.tnr)
    prevalence = _Rate(metrics.prevalence)
    depth = _Rate(metrics.depth)
    precision = _Rate(metrics.precision)
    npv = _Rate(metrics.npv)
    accuracy = _Rate(metrics.accuracy)
    error = _Rate(metrics.error)
    balanced_accuracy = _Rate(metrics.balanced_accuracy)
    break_even = _Rate(metrics.break_even)
    jaccard = _Rate(metrics.jaccard)
    lift = _Rate(metrics.lift)
    youden = _Rate(metrics.youden)
    markedness = _Rate(metrics.markedness)
    mcc = _Rate(metrics.mcc)
    kappa = _Rate(metrics.kappa)
    lr_positive = _Rate(metrics.lr_positive)
    lr_negative = _Rate(metrics.lr_negative)
    odds_ratio = _Rate(metrics.odds_ratio)

    @property
    def n_pos(self) -> float:
        """Positives: tp + fn."""
        return self.tp + self.fn

    @property
    def n_neg(self) -> float:
        """Negatives: fp + tn."""
        return self.fp + self.tn

    @property
    def n(self) -> float:
        """All cases."""
        return self.n_pos + self.n_neg

    @property
    def informedness(self) -> float:
        """Another name for `youden`; the counterpart of `markedness`."""
        return self.youden

    def macro_average(self, mean: Literal["arithmetic", "geometric", "harmonic"] = "arithmetic") -> float:
        """Mean of tpr and tnr; see `rocscope.metrics.macro_average`."""
        return float(metrics.macro_average(self.tp, self.fp, self.fn, self.tn, mean=mean))

    def f_score(self, beta: float = 1) -> float:
        """F_β; see `rocscope.metrics.f_score`."""
        return float(metrics.f_score(self.tp, self.fp, self.fn, self.tn, beta=beta))

    def weighted_accuracy(self, *, w_tp: float = 1, w_fp: float = 1, w_fn: float = 1, w_tn: float = 1) -> float:
        """Weight of the correct cells over the weight of all; see `rocscope.metrics.weighted_accuracy`."""
        weights = {"w_tp": w_tp, "w_fp": w_fp, "w_fn": w_fn, "w_tn": w_tn}
        return float(metrics.weighted_accuracy(self.tp, self.fp, self.fn, self.tn, **weights))

    def at_prevalence(self, target_prevalence: float, n: float = 1) -> "OperatingPoint":
        """Return the expected counts among `n` cases if the share `target_prevalence` is positive.

        The rates within each class stay; precision, npv, lift and accuracy change.

        Raises
        ------
        InputError
            If the prevalence is not from 0 to 1 or `n` is negative.

        Examples
        --------
        >>> OperatingPoint(tp=8, fp=1, fn=2, tn=9).at_prevalence(0.5, n=1000)
        OperatingPoint(tp=400, fp=50, fn=100, tn=450)
        """
        if not 0 <= target_prevalence <= 1:
            raise InputError("target_prevalence", expected="a share from 0 to 1", got=repr(target_prevalence))
        n_pos, n_neg = target_prevalence * n, (1 - target_prevalence) * n
        return OperatingPoint(n_pos * self.tpr, n_neg * self.fpr, n_pos * self.fnr, n_neg * self.tnr, self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Return counts, threshold and rates, safe for JSON (NaN and infinity become None)."""
        counts = {name: getattr(self, name) for name in ("threshold", "tp", "fp", "fn", "tn")}
        return jsonable(counts | {name: getattr(self, name) for name in RATES})

    def __repr__(self) -> str:
        shown = ["tp", "fp", "fn", "tn", *(["threshold"] if self.threshold == self.threshold else [])]
        return f"OperatingPoint({', '.join(f'{name}={number(getattr(self, name))}' for name in shown)})"

    def _repr_html_(self) -> str:
        rows = (("predicted positive", self.tp, self.fp), ("predicted negative", self.fn, self.tn))
        return html_table([(name, *map(number, counts)) for name, *counts in rows], ("", "positive", "negative"))


RATES = tuple(name for name, member in vars(OperatingPoint).items() if type(member) is _Rate)
"""Names of the properties of an OperatingPoint that are rates."""
