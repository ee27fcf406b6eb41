"""ThresholdCounts: numbers of positives and negatives at every distinct score of a model.

All curves are computed from these counts. `CumulativeCounts` has true and false positives at some thresholds. It is the
base class of exact counts and of counts in ranges of scores. `OperatingPoint` is the confusion matrix at one threshold,
with its rates.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import cleandoc, unwrap
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, cast

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, is_moderate, ranks_there
from rocscope._base.contract import made_by_contract
from rocscope._base.exact_sums import UNIT, Sums, scale_of
from rocscope._base.formatting import threshold_text
from rocscope._base.public_names import reach
from rocscope.core.ranking import Levels, Pairs, Ranking, collapse, count_at_least, rank, running_sums, unsigned_zeros
from rocscope.core.result import CallableFloat, ComparedByValue, Result, html_table, jsonable, number
from rocscope.errors import InputError, OneClassError, ScoreError, ShapeError, WeightError


class _Rate(property):
    """A metric of `rocscope.metrics` as a property of an OperatingPoint. It skips the checks of the metric's input."""

    def __init__(self, metric: Callable[..., Any]) -> None:
        metric = unwrap(metric)
        words = cleandoc(metric.__doc__ or "").partition("\n\nExamples\n")[0]  # these call the function
        super().__init__(lambda point: CallableFloat(metric(point.tp, point.fp, point.fn, point.tn)), doc=words)


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(ComparedByValue):
    """True and false positives and negatives of a classifier at one threshold.

    Parameters
    ----------
    tp, fp, fn, tn : int or float
        True positives, false positives, false negatives and true negatives, each at least 0. If rows are weighted, sums
        of weights.
    threshold : float, optional
        A case is predicted positive if ``score >= threshold``. NaN if the classifier has no threshold.
    weights : str
        Kind of the weights; "cases" if the counts are numbers of cases (see `CumulativeCounts`).
    dependent : bool
        True if some of the counted rows belong to the same group or case.
    next_score : float, optional
        Highest score in the data below `threshold`. −∞ if there is none, NaN if unknown. All thresholds above
        `next_score`, up to `threshold`, have the same counts.

    Raises
    ------
    InputError
        If a count is negative or not a number.

    Notes
    -----
    Each metric of `rocscope.metrics` that needs only the four counts is also a property. 0/0 is NaN.

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
    weights: str = field(default="cases", compare=False)
    dependent: bool = field(default=False, compare=False)
    next_score: float = field(default=float("nan"), compare=False)

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            count = getattr(self, name)
            if not (check.is_number(count) and 0 <= count < float("inf")):
                raise InputError(name, expected="a finite count of at least 0", got=repr(count))

    if TYPE_CHECKING:  # each metric of the four counts alone is a property; see below

        def __getattr__(self, name: str) -> float: ...

    @property
    def n_pos(self) -> float:
        """Number of positives, tp + fn."""
        return self.tp + self.fn

    @property
    def n_neg(self) -> float:
        """Number of negatives, fp + tn."""
        return self.fp + self.tn

    @property
    def n(self) -> float:
        """Number of all cases."""
        return self.n_pos + self.n_neg

    @property
    def threshold_text(self) -> str:
        """Text of a short decimal number that gives the same counts if it is used as the threshold.

        Examples
        --------
        >>> OperatingPoint(tp=8, fp=1, fn=2, tn=9, threshold=2 / 3, next_score=0.5).threshold_text
        '0.6666'
        """
        return threshold_text(self.threshold, self.next_score)

    @property
    def informedness(self) -> float:
        """Another name of `youden`."""
        return self.youden

    def macro_average(self, mean: Literal["arithmetic", "geometric", "harmonic"] = "arithmetic") -> float:
        """Return the mean of tpr and tnr; see `rocscope.metrics.macro_average`.

        Parameters
        ----------
        mean : {"arithmetic", "geometric", "harmonic"}
            Kind of the mean.

        Raises
        ------
        InputError
            If the kind of the mean is unknown.

        Examples
        --------
        The tpr is 1/4, and the tnr is 1:

        >>> point = OperatingPoint(tp=1, fp=0, fn=3, tn=5)
        >>> point.macro_average(), point.macro_average("geometric")
        (0.625, 0.5)
        """
        return float(metrics.macro_average(self.tp, self.fp, self.fn, self.tn, mean=mean))

    def f_score(self, beta: float = 1) -> float:
        """Return F_β; see `rocscope.metrics.f_score`.

        Parameters
        ----------
        beta : float
            Weight of the recall relative to the precision.

        Raises
        ------
        InputError
            If `beta` is not a positive number.

        Examples
        --------
        The precision is 1/2 and the recall is 1/4, so F₁ is 2 · (1/8) / (3/4):

        >>> round(OperatingPoint(tp=1, fp=1, fn=3, tn=5).f_score(), 4)
        0.3333
        """
        return float(metrics.f_score(self.tp, self.fp, self.fn, self.tn, beta=beta))

    def weighted_accuracy(self, *, w_tp: float = 1, w_fp: float = 1, w_fn: float = 1, w_tn: float = 1) -> float:
        """Return the weight of correct predictions divided by the total; see `rocscope.metrics.weighted_accuracy`.

        Parameters
        ----------
        w_tp, w_fp, w_fn, w_tn : float
            Weights of the four outcomes.

        Examples
        --------
        The correct predictions have the weight 2 · 1 + 5 of a total weight of 2 · (1 + 3) + 1 + 5:

        >>> OperatingPoint(tp=1, fp=1, fn=3, tn=5).weighted_accuracy(w_tp=2, w_fn=2)
        0.5
        """
        weights = {"w_tp": w_tp, "w_fp": w_fp, "w_fn": w_fn, "w_tn": w_tn}
        return float(metrics.weighted_accuracy(self.tp, self.fp, self.fn, self.tn, **weights))

    def at_prevalence(self, target_prevalence: float, n: float = 1) -> "OperatingPoint":
        """Return the expected counts among `n` cases at another prevalence.

        The true and false positive rates stay the same. Precision, npv, lift and accuracy change.

        Parameters
        ----------
        target_prevalence : float
            Share of positives, from 0 to 1.
        n : float
            Number of cases.

        Raises
        ------
        InputError
            If the prevalence is not between 0 and 1, or if `n` is negative.

        Examples
        --------
        >>> OperatingPoint(tp=8, fp=1, fn=2, tn=9).at_prevalence(0.5, n=1000)
        OperatingPoint(tp=400, fp=50, fn=100, tn=450)
        """
        check.check_proportion(target_prevalence, "target_prevalence")
        n_pos, n_neg = target_prevalence * n, (1 - target_prevalence) * n
        tp, fp, fn, tn = n_pos * self.tpr, n_neg * self.fpr, n_pos * self.fnr, n_neg * self.tnr
        return replace(self, tp=tp, fp=fp, fn=fn, tn=tn)

    def to_dict(self) -> dict[str, Any]:
        """Return counts, threshold and rates as a dictionary for JSON. NaN and infinity become None.

        Examples
        --------
        >>> rates = OperatingPoint(tp=1, fp=0, fn=1, tn=2).to_dict()
        >>> rates["tpr"], rates["accuracy"], rates["lr_positive"]
        (0.5, 0.75, None)
        """
        counts = {name: getattr(self, name) for name in ("threshold", "tp", "fp", "fn", "tn")}
        return jsonable(counts | {name: getattr(self, name) for name in RATES})

    def __repr__(self) -> str:
        shown = [f"{name}={number(getattr(self, name))}" for name in ("tp", "fp", "fn", "tn")]
        if self.threshold == self.threshold:
            shown.append(f"threshold={self.threshold_text}")
        return f"OperatingPoint({', '.join(shown)})"

    def _repr_html_(self) -> str:
        rows = (("predicted positive", self.tp, self.fp), ("predicted negative", self.fn, self.tn))
        return html_table([(name, *map(number, counts)) for name, *counts in rows], ("", "positive", "negative"))


RATES = tuple(name for name in metrics.METRICS if name not in vars(OperatingPoint))
"""Names of the metrics that are properties of an OperatingPoint: all metrics without options."""

for _name in RATES:
    setattr(OperatingPoint, _name, _Rate(metrics.METRICS[_name]))


class CumulativeCounts(Result):
    """True and false positives at some thresholds. Base class of exact counts and of counts in ranges of scores.

    All curves are computed from these counts. Some functions need the counts at every distinct score
    (`require_levels`), the vertices of the ROC hull (`on_hull`), or the concordant pairs (`pairs`). These methods raise
    an InexactCountsError if the counts are not exact enough.

    Attributes
    ----------
    threshold : array of k scores, strictly decreasing
    cumulative : pair of arrays of k + 1 counts
        True and false positives at each threshold, after a first point (0, 0).
    holds_levels : bool
        True if every distinct score is a threshold.
    holds_hull : bool
        True if every vertex of the exact ROC hull is at a threshold.
    attained : ThresholdCounts
        Counts that treat these thresholds as the only scores. Each of their points is on the exact ROC curve.
    best_case : ThresholdCounts
        Counts with a ROC hull that is never below the exact ROC curve.
    weights : str
        Kind of the weights, such as "sampling"; "cases" if the counts are numbers of cases.
    dependent : bool
        True if some of the counted rows belong to the same group or case. The counts do not contain the groups.
        Intervals from such counts treat rows as independent and are marked as not reliable.
    """

    weights: str = "cases"
    dependent: bool = False
    threshold: Array
    cumulative: tuple[Array, Array]
    holds_levels: bool
    holds_hull: bool
    attained: "ThresholdCounts"
    best_case: "ThresholdCounts"
    _totals: tuple[float, float]

    def __len__(self) -> int:
        return self.threshold.size

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with the confusion matrix at each threshold: threshold, tp, fp, fn and tn.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> ThresholdCounts([0.9, 0.4], pos=[2, 1], neg=[0, 3]).to_frame()
           threshold  tp  fp  fn  tn
        0        0.9   2   0   1   3
        1        0.4   3   3   0   0
        """
        tp, fp = self.cumulative
        columns = {"threshold": self.threshold, "tp": tp[1:], "fp": fp[1:]}
        return check.frame_of(columns | {"fn": tp[-1] - tp[1:], "tn": fp[-1] - fp[1:]}, backend)

    def as_sums(self, weights: str, dependent: bool = False) -> Self:
        """Set the attributes `weights` and `dependent`, and return the counts.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([2, 1], [1.5, 0.5], [0, 2]).as_sums("sampling")
        >>> counts.weights, counts.dependent
        ('sampling', False)
        """
        check.set_fields(self, weights=weights, dependent=dependent)  # some counts are frozen
        return self

    def point_of(self, tp: float, fp: float, fn: float, tn: float, threshold: float) -> OperatingPoint:
        """Return an operating point with the attributes `weights` and `dependent` of these counts.

        Parameters
        ----------
        tp, fp, fn, tn : int or float
            Numbers of cases in the four cells.
        threshold : float
            Threshold of the point.

        Raises
        ------
        InputError
            If a number is negative.
        """
        return OperatingPoint(tp, fp, fn, tn, threshold, self.weights, self.dependent)

    def with_next_score(self, point: OperatingPoint) -> OperatingPoint:
        """Return a copy of the point with its `next_score`. `threshold_text` is then a short decimal.

        Parameters
        ----------
        point : OperatingPoint
            Point of these counts.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([0.9, 0.5123], [1, 1], [0, 1])
        >>> point = counts.with_next_score(counts.at(0.9))
        >>> point.next_score, point.threshold_text
        (0.5123, '0.9')
        """
        if math.isinf(point.threshold):
            return point
        return replace(point, next_score=self.score_below(point.threshold))

    def score_below(self, threshold: float) -> float:  # noqa: ARG002
        """Return the highest score below a threshold. Return −∞ if there is none, NaN if some scores are unknown.

        Parameters
        ----------
        threshold : float
            Threshold of the scores.
        """
        return float("nan")

    @property
    def tp(self) -> Array:
        """Number of positives with a score at or above each threshold."""
        return self.cumulative[0][1:]

    @property
    def fp(self) -> Array:
        """Number of negatives with a score at or above each threshold."""
        return self.cumulative[1][1:]

    @cached_property
    def remaining(self) -> tuple[Array, Array]:
        """False and true negatives at each threshold, after a first point (n_pos, n_neg)."""
        tp, fp = self.cumulative
        return self.n_pos - tp, self.n_neg - fp

    @property
    def fn(self) -> Array:
        """Number of positives with a score below each threshold."""
        return self.remaining[0][1:]

    @property
    def tn(self) -> Array:
        """Number of negatives with a score below each threshold."""
        return self.remaining[1][1:]

    def exact_sums_at(self, index: Array) -> Sums:
        """Return the exact true and false positives at given points of `cumulative`, as integers.

        `index` contains increasing indices. The integers are the exact sums times `exact_unit`. They are not rounded,
        so points can be compared exactly.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> ThresholdCounts([0.9, 0.6, 0.4], [1, 1, 1], [0, 0, 1]).exact_sums_at(np.array([0, 2]))
        ([0, 2], [0, 0])
        """
        tp, fp = self.cumulative
        return tp[index].tolist(), fp[index].tolist()

    @cached_property
    def exact_totals(self) -> tuple[int, int]:
        """Exact numbers of positives and negatives, multiplied by `exact_unit`."""
        (n_pos,), (n_neg,) = self.exact_sums_at(np.array([len(self)]))
        return n_pos, n_neg

    @cached_property
    def strict_cumulative(self) -> tuple[Array, Array]:
        """Two sequences that increase at the same thresholds as the exact true and false positives."""
        return self.cumulative

    @property
    def exact_unit(self) -> int:
        """Factor by which `exact_sums_at` multiplies counts."""
        return 1

    @property
    def n_pos(self) -> float:
        """Number of positives, or the sum of their weights."""
        return self._totals[0]

    @property
    def n_neg(self) -> float:
        """Number of negatives, or the sum of their weights."""
        return self._totals[1]

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        return self.n_pos / self.n

    def require_both_classes(self, what: str) -> None:
        """Raise OneClassError if positives or negatives are missing. `what` is the subject of the message."""
        if not (self.n_pos and self.n_neg):
            self._refuse_missing("negatives" if self.n_pos else "positives", what, expected="both classes")

    def require_positives(self, what: str, noun: str) -> None:
        """Raise OneClassError if positives, called `noun`, are missing. `what` is the subject of the message."""
        if not self.n_pos:
            self._refuse_missing(noun, what, expected=noun)

    def _refuse_missing(self, missing: str, what: str, *, expected: str) -> NoReturn:
        got = f"no {missing} among {number(self.n)} row{'s' * (self.n != 1)}"
        raise OneClassError(what, expected=expected, got=got)

    def require_cases(self) -> None:
        """Raise WeightError if the counts are not numbers of cases but sums of weights or amounts of money."""
        pos, neg = self.cumulative
        whole = all(counts.dtype.kind != "f" or not (counts % 1).any() for counts in (pos, neg))
        if self.weights in ("cases", "frequency", "priced") and whole:
            return
        got, hint = (
            "sums of weights, which do not show the number of cases",
            "pass the rows instead: Predictions(…, sample_weight=…)",
        )
        raise WeightError("counts", expected="numbers of cases", got=got, hint=hint)

    def require_levels(self, what: str) -> "ThresholdCounts":
        """Return the counts at every distinct score, or raise InexactCountsError if they are unknown.

        Parameters
        ----------
        what : str
            Start of the error message, such as "ROC hull".
        """
        raise NotImplementedError

    def on_hull(self, what: str = "ROC hull") -> "ThresholdCounts":
        """Return counts at all vertices of the ROC hull, or raise InexactCountsError if they are unknown.

        Parameters
        ----------
        what : str
            Start of the error message, such as "ROC hull".
        """
        raise NotImplementedError

    @property
    def moderate(self) -> "Self":
        """The counts, divided by a power of two if products of counts might leave the range of floats."""

        return self

    def pairs(self) -> Pairs:
        """Count the concordant and the tied pairs of a positive and a negative."""
        raise NotImplementedError

    def at(self, threshold: float) -> OperatingPoint:
        """Return the confusion matrix of the rule that predicts positive if ``score >= threshold``.

        The comparison is exact, because the threshold is not rounded to the type of the scores.

        Parameters
        ----------
        threshold : float
            Lowest score that is predicted positive.

        Raises
        ------
        InexactCountsError
            If the counts at this threshold are unknown. The message names the nearest thresholds with known counts.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> ThresholdCounts([0.9, 0.6, 0.4], [1, 1, 1], [0, 0, 1]).at(0.5)
        OperatingPoint(tp=2, fp=0, fn=1, tn=1, threshold=0.5)
        """
        if not check.is_number(threshold):
            raise ScoreError("threshold", expected="a number", got=repr(threshold))
        if isinstance(threshold, np.generic):  # whose comparisons would round
            threshold = cast(float, threshold.item())
        return self.point_of(*self._cells(threshold), threshold)

    def _cells(self, threshold: float) -> tuple[float, float, float, float]:
        """Return true and false positives, false and true negatives at a threshold."""
        raise NotImplementedError


# Of two totals of at least 1e-100: below, products may have lost digits to the end of float64's range.
_LEAST_PRODUCT = 1e-200


class ThresholdCounts(CumulativeCounts):
    """Numbers of positives and negatives at each distinct score. Every curve is computed from them.

    Parameters
    ----------
    threshold : array of k scores, strictly decreasing
        The distinct scores.
    pos, neg : arrays of k counts
        Number of positives and number of negatives with each score. Integers, or floats if rows are weighted. Scores
        with no positives and no negatives are dropped.

    Raises
    ------
    ShapeError, ScoreError, WeightError
        If lengths differ, if thresholds do not strictly decrease, or if a count is negative or not finite.

    Notes
    -----
    ``a + b`` returns the counts of two samples together. You can therefore count chunks, files or streams separately
    and add the counts.

    If rows are weighted, sums of weights are exact. The hull and the best threshold are found from these exact sums,
    and reported values are rounded once.

    For large unweighted data, the object stores one sorted integer per row, with the size of a score. The arrays of
    counts are computed on first access. The AUC and the hull do not need these arrays.

    Examples
    --------
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2])
    >>> counts.threshold, counts.pos, counts.neg
    (array([0.9, 0.6, 0.4, 0.2]), array([1, 1, 1, 0]), array([0, 0, 1, 1]))
    >>> counts.tp, counts.fp
    (array([1, 2, 3, 3]), array([0, 0, 1, 2]))
    """

    holds_levels = holds_hull = True
    _content = ("threshold", "pos", "neg")

    def __init__(self, threshold: Any, pos: Any, neg: Any) -> None:
        scores = check.check_scores(threshold, name="threshold")
        if (scores[1:] >= scores[:-1]).any():
            raise ScoreError("threshold", expected="strictly decreasing scores", got=repr(scores[:5].tolist()))
        counts = [_check_counts(values, name, scores.size) for name, values in (("pos", pos), ("neg", neg))]
        check.check_total("pos and neg", *counts)
        counts = [values.astype(np.float64 if values.dtype.kind == "f" else np.int64) for values in counts]
        if counts[0].dtype != counts[1].dtype:
            counts = [values.astype(np.float64) for values in counts]
        used = (counts[0] > 0) | (counts[1] > 0)
        if not used.any():
            raise ShapeError("pos and neg", expected="at least one count above 0", got="only zeros")
        self._ranking: Ranking = Levels(unsigned_zeros(scores)[used], counts[0][used], counts[1][used])

    @classmethod
    def from_ranking(cls, ranking: Ranking) -> "ThresholdCounts":
        """Return the counts of scores that are already ranked.

        Parameters
        ----------
        ranking : Ranking
            Result of `rank`.
        """
        counts = cls.__new__(cls)
        counts._ranking = ranking
        return counts

    @classmethod
    def from_scores(
        cls, y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> "ThresholdCounts":
        """Count the positives and negatives at each distinct score.

        Parameters
        ----------
        y_true : array of n labels
            {0, 1}, {-1, 1} or {False, True}. Other labels need `pos_label`.
        y_score : array of n scores
            Higher scores must indicate positives. Scores keep their type, such as float32.
        pos_label : label, optional
            The positive label.
        sample_weight : array of n weights, optional
            Weight of each row, at least 0. A row with weight 3 counts as three equal rows.

        Raises
        ------
        ShapeError, LabelError, ScoreError, WeightError
            If the columns have different lengths or contain invalid values.

        Notes
        -----
        The time is O(n log n), for one sort of n integers.

        Examples
        --------
        >>> counts = ThresholdCounts.from_scores([1, 0, 1], [0.9, 0.5, 0.5])
        >>> counts.threshold, counts.pos, counts.neg
        (array([0.9, 0.5]), array([1, 1]), array([0, 1]))
        """
        there = pos_label is None and sample_weight is None and ranks_there(y_score)
        if there and (ranked := reach("gpu_ranking").rank(y_true, y_score)) is not None:
            return cls.from_ranking(ranked)
        check.check_same_index(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        positive = check.check_labels(y_true, pos_label, scores=y_score)
        scores = check.check_scores(y_score, positive.size)
        return cls.from_checked(positive, scores, check.check_weights(sample_weight, positive.size))

    @classmethod
    def from_checked(cls, positive: Booleans, scores: Array, weight: Array | None = None) -> "ThresholdCounts":
        """Count the positives and negatives at each distinct score, without checks of the input.

        Parameters
        ----------
        positive : array of n booleans
            True for the positive rows.
        scores : array of n scores
            Scores of the rows.
        weight : array of n weights, optional
            Weights of the rows.

        Examples
        --------
        >>> ThresholdCounts.from_checked(np.array([True, False, True]), np.array([0.9, 0.6, 0.6])).pos
        array([1, 1])
        """
        return cls.from_ranking(rank(positive, scores, weight))

    @classmethod
    def from_point(cls, point: OperatingPoint) -> "ThresholdCounts":
        """Return counts of a classifier, given only its confusion matrix.

        Cases predicted positive get the score 1, cases predicted negative the score 0.

        Parameters
        ----------
        point : OperatingPoint
            Confusion matrix of the classifier.

        Examples
        --------
        >>> counts = ThresholdCounts.from_point(OperatingPoint(tp=300, fp=500, fn=200, tn=99_000))
        >>> counts.pairs().concordant, counts.tp
        (29700000, array([300, 500]))
        """
        return cls([1, 0], [point.tp, point.fn], [point.fp, point.tn]).as_sums(point.weights, point.dependent)

    @cached_property
    def _levels(self) -> Levels:
        levels = self._ranking.levels()
        if not levels.weighted:  # of weights only the rows know the exact sums
            self._ranking = levels
        threshold, pos, neg = (check.read_only(array) for array in (levels.threshold, levels.pos, levels.neg))
        return Levels(threshold, pos, neg)

    @cached_property
    def threshold(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The k distinct scores in their original type, strictly decreasing."""
        return check.read_only(self._ranking.thresholds())

    @property
    def pos(self) -> Array:
        """Number of positives with each score."""
        return self._levels.pos

    @property
    def neg(self) -> Array:
        """Number of negatives with each score."""
        return self._levels.neg

    @cached_property
    def cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True and false positives at each threshold, after a first point (0, 0)."""
        tp, fp = self._ranking.cumulative()
        return check.read_only(tp), check.read_only(fp)

    @cached_property
    def remaining(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False and true negatives at each threshold, after a first point (n_pos, n_neg).

        Weights are summed from the lowest score, so that small weights are not lost in a large sum.
        """
        if not self._ranking.weighted:
            return super().remaining
        fn, tn = self._ranking.remaining()
        return check.read_only(fn), check.read_only(tn)

    @cached_property
    def strict_cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Two sequences that increase at the same thresholds as the exact true and false positives.

        The values of `cumulative` are rounded, so they may be equal at such a point.
        """
        if not self._ranking.weighted:
            return super().strict_cumulative
        return running_sums((self.pos > 0).astype(np.intp)), running_sums((self.neg > 0).astype(np.intp))

    def exact_sums_at(self, index: Array) -> Sums:
        """Return the exact numbers of true and false positives at given points of `cumulative`.

        The numbers are integers: the sums of weights, multiplied by `exact_unit`.

        Parameters
        ----------
        index : array of int
            Indices of the points, in increasing order.
        """
        if not self._ranking.weighted:
            return super().exact_sums_at(index)
        tp, fp = self._ranking.exact_sums_at(self._ranking.codes_at(index[index > 0] - 1))
        return (tp, fp) if index.size == len(tp) else (tp[1:], fp[1:])

    @property
    def exact_unit(self) -> int:
        """Factor by which `exact_sums_at` multiplies counts."""
        return UNIT if self._ranking.weighted else 1

    @cached_property
    def _totals(self) -> tuple[float, float]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._ranking.totals()

    @property
    def ranking(self) -> Ranking:
        """The ranked scores with their counts, as a stream of blocks for single-pass algorithms."""
        return self._ranking

    def points(self) -> Iterator[tuple[Array, Array]]:
        """Yield true and false positives at each threshold in blocks, as pairs of arrays.

        The first block begins with the point (0, 0). Every later block begins with the last point of the previous
        block, so all neighbouring points are together in a block. A block is valid until the next block is requested.

        Examples
        --------
        >>> [(tp.tolist(), fp.tolist()) for tp, fp in ThresholdCounts([3, 2], [1, 1], [0, 2]).points()]
        [([0, 1, 2], [0, 0, 2])]
        """
        last_tp = last_fp = 0
        for block in self._ranking.blocks():
            tp, fp = np.concatenate([[last_tp], block.tp]), np.concatenate([[last_fp], block.fp])
            yield tp, fp
            last_tp, last_fp = tp[-1], fp[-1]

    @property
    def attained(self) -> "ThresholdCounts":  # pyright: ignore[reportIncompatibleVariableOverride]
        """The counts unchanged, because each of their points is on the exact curve."""
        return self

    @property
    def best_case(self) -> "ThresholdCounts":  # pyright: ignore[reportIncompatibleVariableOverride]
        """The counts unchanged, because no point of the exact curve is missing."""
        return self

    def require_levels(self, what: str) -> "ThresholdCounts":  # noqa: ARG002
        """Return the counts unchanged, because every distinct score is a threshold.

        Parameters
        ----------
        what : str
            Not used.
        """
        return self

    def on_hull(self, what: str = "ROC hull") -> "ThresholdCounts":  # noqa: ARG002
        """Return the counts unchanged, because their points include all vertices of the hull.

        Parameters
        ----------
        what : str
            Not used.
        """
        return self

    @property
    def moderate(self) -> "ThresholdCounts":
        """The counts, divided by a power of two if products of counts might leave the range of floats."""
        if not self._ranking.weighted or is_moderate(self.n):
            return self
        exponent = -np.frexp(self.n)[1]
        levels = Levels(self.threshold, np.ldexp(self.pos, exponent), np.ldexp(self.neg, exponent))
        return ThresholdCounts.from_ranking(levels).as_sums("sampling")  # no longer numbers of cases

    @property
    def is_exact(self) -> bool:
        """True if products of counts fit in 64-bit integers, so that hulls can be computed in exact arithmetic."""
        return isinstance(self.n, int) and self.n_pos * self.n_neg < 2**63

    def probabilities(self, what: str) -> Array:
        """Return the thresholds as probabilities. Raise ScoreError if a threshold is clearly below 0 or above 1.

        Parameters
        ----------
        what : str
            Start of the error message, such as "scores".

        Examples
        --------
        >>> ThresholdCounts([0.9, 0.6], [1, 1], [0, 1]).probabilities("scores")
        array([0.9, 0.6])
        """
        return check.check_probabilities(self.threshold, what, self.pos + self.neg)

    def _cells(self, threshold: float) -> tuple[float, float, float, float]:
        tp = fp = done = 0
        for block in self._ranking.blocks():
            scores = self._ranking.decode(block.code)
            level = count_at_least(scores, threshold)
            if level:
                tp, fp = block.tp[level - 1].item(), block.fp[level - 1].item()
            done += level
            if level < scores.size:
                break
        if not self._ranking.weighted:
            return tp, fp, self.n_pos - tp, self.n_neg - fp
        (above,), (false_above,) = self.exact_sums_at(np.array([done]))
        n_pos, n_neg = self.exact_totals
        return tp, fp, (n_pos - above) / UNIT, (n_neg - false_above) / UNIT

    def score_below(self, threshold: float) -> float:
        """Return the highest score below a threshold. Return −∞ if there is none.

        Parameters
        ----------
        threshold : float
            Threshold of the scores.

        Examples
        --------
        >>> counts = ThresholdCounts([0.9, 0.6], [1, 1], [0, 1])
        >>> counts.score_below(0.9), counts.score_below(0.6)
        (0.6, -inf)
        """
        for block in self._ranking.blocks():
            scores = self._ranking.decode(block.code)
            level = count_at_least(scores, threshold)
            if level < scores.size:
                return scores[level].item()
        return float("-inf")

    def pairs(self) -> Pairs:
        """Count the concordant and the tied pairs of a positive and a negative.

        Examples
        --------
        >>> ThresholdCounts([0.9, 0.6, 0.4, 0.2], [1, 1, 1, 0], [0, 0, 1, 1]).pairs()
        Pairs(concordant=5, tied=1, total=6)
        """
        if self._ranking.weighted:
            return self._weighted_pairs()
        total = self.n_pos * self.n_neg
        ranking = self._ranking if total < 2**63 else self._ranking.levels()
        return Pairs(*ranking.count_pairs(), total)

    @property
    def auc_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the AUC. Both are equal because the counts are exact.

        Examples
        --------
        >>> ThresholdCounts([0.9, 0.6, 0.4, 0.2], [1, 1, 1, 0], [0, 0, 1, 1]).auc_bounds
        (0.9166666666666666, 0.9166666666666666)
        """
        self.require_both_classes("AUC")
        area = self.pairs().auc()
        return area, area

    def _weighted_pairs(self) -> Pairs:
        """Return sums over weighted pairs, divided by a power of two if products of weights overflow."""
        right, tied, *totals = self._ranking.weigh_pairs(1.0, 1.0)
        if not (right + tied > _LEAST_PRODUCT and all(map(is_moderate, totals))):
            right, tied, *totals = self._ranking.weigh_pairs(*map(scale_of, self._totals))
        return Pairs(right, tied, totals[0] * totals[1])

    def __add__(self, other: object) -> "ThresholdCounts":
        if not isinstance(other, type(self)):
            return NotImplemented
        check.check_total("cannot merge counts", np.array([self.n]), np.array([other.n]))
        kind = _mergeable(self, other)
        if self._ranking.weighted or other._ranking.weighted:
            columns = zip(self._ranking.rows(), other._ranking.rows(), strict=True)
            score, signed = (np.concatenate(column) for column in columns)
            merged = ThresholdCounts.from_ranking(rank(signed > 0, score.astype(kind), np.abs(signed)))
        else:
            score = np.concatenate([self.threshold, other.threshold], dtype=kind)
            order = np.argsort(score, kind="stable")[::-1]
            pos = np.concatenate([self.pos, other.pos])[order]
            neg = np.concatenate([self.neg, other.neg])[order]
            merged = ThresholdCounts.from_ranking(collapse(score[order], pos, neg))
        weights = other.weights if self.weights == "cases" else self.weights
        return merged.as_sums(weights, self.dependent or other.dependent)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self._content)

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    @cached_property
    def _size(self) -> int:
        return sum(block.code.size for block in self._ranking.blocks())

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        totals = f"n_pos={number(self.n_pos)}, n_neg={number(self.n_neg)}, levels={len(self)}"
        weights = "" if self.weights == "cases" else f", {self.weights} weights"
        dependent = ", dependent rows" if self.dependent else ""
        return f"ThresholdCounts({totals}{weights}{dependent})"


def _check_counts(values: Any, name: str, n: int) -> Array:
    counts = check.check_column(values, name, n)
    if counts.dtype.kind not in "iuf":
        raise WeightError(name, expected="numbers", got=f"values of type {counts.dtype}")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise WeightError(name, expected="finite counts of at least 0", got=repr(counts[:5].tolist()))
    return counts


def _mergeable(counts: ThresholdCounts, other: ThresholdCounts) -> np.dtype[Any]:
    """Return a type that represents the thresholds of both counts exactly."""
    mine, theirs = counts.threshold.dtype, other.threshold.dtype
    common = np.promote_types(mine, theirs)
    widest_integer = max((dtype.itemsize for dtype in (mine, theirs) if dtype.kind != "f"), default=0)
    if common.kind == "f" and widest_integer > common.itemsize // 2:
        hint = "convert the scores to one type first, because no type represents the scores of both exactly"
        got = f"{mine} and {theirs}"
        raise ScoreError("cannot merge counts", expected="scores of the same type", got=got, hint=hint)
    return common
