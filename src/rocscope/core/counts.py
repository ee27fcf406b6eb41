"""ThresholdCounts: positives and negatives of one model at every distinct score, from which all curves are computed.

`CumulativeCounts` is the base of exact counts and of counts in ranges of the score: it has true and false positives at
some thresholds. `OperatingPoint` is the confusion matrix at one threshold, with its rates.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import cleandoc, unwrap
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, is_moderate, ranks_there
from rocscope._base.contract import made_by_contract
from rocscope._base.exact_sums import UNIT, Sums, scale_of
from rocscope._base.formatting import threshold_text
from rocscope._base.public_names import reach
from rocscope.core.ranking import Levels, Pairs, Ranking, collapse, count_at_least, rank, running_sums, unsigned_zeros
from rocscope.core.result import ComparedByValue, Result, html_table, jsonable, number
from rocscope.errors import InputError, OneClassError, ScoreError, ShapeError, WeightError


class _Rate(property):
    """A metric of `rocscope.metrics` as a property of a point. It skips input checks, as the counts are checked."""

    def __init__(self, metric: Callable[..., Any]) -> None:
        metric = unwrap(metric)
        words = cleandoc(metric.__doc__ or "").partition("\n\nExamples\n")[0]  # these call the function
        super().__init__(lambda point: float(metric(point.tp, point.fp, point.fn, point.tn)), doc=words)


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(ComparedByValue):
    """True and false positives and negatives of a classifier at one threshold.

    Parameters
    ----------
    tp, fp, fn, tn : int or float
        Counts of at least 0; sums of weights if rows are weighted.
    threshold : float, optional
        Cases are predicted positive iff ``score >= threshold``; NaN for a crisp classifier.
    weights : str
        Kind of the weights; see `CumulativeCounts`.
    dependent : bool
        True if some of the counted rows belong to the same group or case.
    next_score : float, optional
        The next lower score in the data; −∞ if there is none, NaN if unknown. Any threshold above it, up to
        `threshold`, has the same counts.

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
    def threshold_text(self) -> str:
        """The threshold as a short decimal number that gives the same counts.

        Examples
        --------
        >>> OperatingPoint(tp=8, fp=1, fn=2, tn=9, threshold=2 / 3, next_score=0.5).threshold_text
        '0.6666'
        """
        return threshold_text(self.threshold, self.next_score)

    @property
    def informedness(self) -> float:
        """Alias of `youden`; the counterpart of `markedness`."""
        return self.youden

    def macro_average(self, mean: Literal["arithmetic", "geometric", "harmonic"] = "arithmetic") -> float:
        """Mean of tpr and tnr; see `rocscope.metrics.macro_average`."""
        return float(metrics.macro_average(self.tp, self.fp, self.fn, self.tn, mean=mean))

    def f_score(self, beta: float = 1) -> float:
        """F_β; see `rocscope.metrics.f_score`."""
        return float(metrics.f_score(self.tp, self.fp, self.fn, self.tn, beta=beta))

    def weighted_accuracy(self, *, w_tp: float = 1, w_fp: float = 1, w_fn: float = 1, w_tn: float = 1) -> float:
        """Weight of the correct cells divided by the weight of all cells; see `rocscope.metrics.weighted_accuracy`."""
        weights = {"w_tp": w_tp, "w_fp": w_fp, "w_fn": w_fn, "w_tn": w_tn}
        return float(metrics.weighted_accuracy(self.tp, self.fp, self.fn, self.tn, **weights))

    def at_prevalence(self, target_prevalence: float, n: float = 1) -> "OperatingPoint":
        """Return the expected counts among `n` cases at another prevalence.

        The rates within each class stay the same; precision, npv, lift and accuracy change.

        Raises
        ------
        InputError
            If the prevalence is not between 0 and 1, or if `n` is negative.

        Examples
        --------
        >>> OperatingPoint(tp=8, fp=1, fn=2, tn=9).at_prevalence(0.5, n=1000)
        OperatingPoint(tp=400, fp=50, fn=100, tn=450)
        """
        if not 0 <= target_prevalence <= 1:
            raise InputError("target_prevalence", expected="a share from 0 to 1", got=repr(target_prevalence))
        n_pos, n_neg = target_prevalence * n, (1 - target_prevalence) * n
        tp, fp, fn, tn = n_pos * self.tpr, n_neg * self.fpr, n_pos * self.fnr, n_neg * self.tnr
        return replace(self, tp=tp, fp=fp, fn=fn, tn=tn)

    def to_dict(self) -> dict[str, Any]:
        """Return counts, threshold and rates, safe for JSON (NaN and infinity become None).

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
"""Names of the rates of an OperatingPoint: all metrics that need no options."""

for _name in RATES:
    setattr(OperatingPoint, _name, _Rate(metrics.METRICS[_name]))


class CumulativeCounts(Result):
    """True and false positives at some thresholds, and the totals. Base class of exact counts and counts in ranges.

    Curves are computed from these counts. Functions that need every level call `require_levels`, functions that need
    the vertices of the ROC hull call `on_hull`, and functions that need concordant pairs call `pairs`. These methods
    raise an InexactCountsError if the counts are not exact enough.

    Attributes
    ----------
    threshold : array of k scores, strictly decreasing
    cumulative : pair of arrays of k + 1
        True and false positives from (0, 0) on.
    holds_levels : bool
        True if every distinct score is a threshold.
    holds_hull : bool
        True if every vertex of the exact ROC hull is at a threshold.
    attained : ThresholdCounts
        Counts with these thresholds as the only levels. Each of their points is on the exact curve.
    best_case : ThresholdCounts
        Counts with a ROC hull that the exact curve never exceeds.
    weights : str
        Kind of the weights, as listed in `core.predictions`; "cases" if counts are numbers of cases.
    dependent : bool
        True if some of the counted rows belong to the same group or case. Counts do not contain the groups. Intervals
        from such counts treat rows as independent and are marked as not reliable.
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
        """Return a data frame with one row per threshold and its confusion matrix: threshold, tp, fp, fn, tn.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}

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
        """Return the counts with another kind of weights and mark of dependent rows."""
        check.settle(self, weights=weights, dependent=dependent)  # some counts are frozen
        return self

    def point_of(self, tp: float, fp: float, fn: float, tn: float, threshold: float) -> OperatingPoint:
        """Return an operating point with the kind of weights and the mark of dependent rows of these counts."""
        return OperatingPoint(tp, fp, fn, tn, threshold, self.weights, self.dependent)

    def with_next_score(self, point: OperatingPoint) -> OperatingPoint:
        """Return the point with `next_score` set, which gives its threshold a short text."""
        if math.isinf(point.threshold):
            return point
        return replace(point, next_score=self.score_below(point.threshold))

    def score_below(self, threshold: float) -> float:  # noqa: ARG002
        """Return the highest score below a threshold; −∞ if there is none, NaN if not every score is known."""
        return float("nan")

    @property
    def tp(self) -> Array:
        """Positives at or above each threshold."""
        return self.cumulative[0][1:]

    @property
    def fp(self) -> Array:
        """Negatives at or above each threshold."""
        return self.cumulative[1][1:]

    @cached_property
    def remaining(self) -> tuple[Array, Array]:
        """False and true negatives, starting at (n_pos, n_neg); one more point than thresholds."""
        tp, fp = self.cumulative
        return self.n_pos - tp, self.n_neg - fp

    @property
    def fn(self) -> Array:
        """Positives below each threshold."""
        return self.remaining[0][1:]

    @property
    def tn(self) -> Array:
        """Negatives below each threshold."""
        return self.remaining[1][1:]

    def exact_sums_at(self, index: Array) -> Sums:
        """Return true and false positives at increasing points of `cumulative`, in multiples of `exact_unit`.

        The sums are not rounded, so points can be compared exactly.
        """
        tp, fp = self.cumulative
        return tp[index].tolist(), fp[index].tolist()

    @cached_property
    def exact_totals(self) -> tuple[int, int]:
        """Positives and negatives in multiples of `exact_unit`."""
        (n_pos,), (n_neg,) = self.exact_sums_at(np.array([len(self)]))
        return n_pos, n_neg

    @cached_property
    def strict_cumulative(self) -> tuple[Array, Array]:
        """Counts that increase wherever `cumulative` does."""
        return self.cumulative

    @property
    def exact_unit(self) -> int:
        """The number of units of `exact_sums_at` in a count of 1."""
        return 1

    @property
    def n_pos(self) -> float:
        """Number of positives (sum of their weights)."""
        return self._totals[0]

    @property
    def n_neg(self) -> float:
        """Number of negatives (sum of their weights)."""
        return self._totals[1]

    @property
    def n(self) -> float:
        """Number of rows (sum of all weights)."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> float:
        """Share of positives in the sample."""
        return self.n_pos / self.n

    def require_both_classes(self, what: str) -> None:
        """Raise OneClassError unless there are positives and negatives."""
        if not (self.n_pos and self.n_neg):
            missing = "negatives" if self.n_pos else "positives"
            raise OneClassError(what, expected="both classes", got=f"no {missing} among {number(self.n)} rows")

    def require_cases(self) -> None:
        """Raise unless the counts are whole numbers of cases, not sums of sampling weights or of money."""
        pos, neg = self.cumulative
        whole = all(counts.dtype.kind != "f" or not (counts % 1).any() for counts in (pos, neg))
        if self.weights in ("cases", "frequency", "priced") and whole:
            return
        raise WeightError(
            "counts",
            expected="whole numbers, because sums of weights do not show the number of rows",
            hint="pass the rows with sample_weight (Predictions)",
        )

    def require_levels(self, what: str) -> "ThresholdCounts":
        """Return the counts of every distinct score, or raise InexactCountsError."""
        raise NotImplementedError

    def on_hull(self, what: str = "ROC hull") -> "ThresholdCounts":
        """Return points that include all vertices of the ROC hull, or raise InexactCountsError."""
        raise NotImplementedError

    @property
    def moderate(self) -> "Self":
        """The counts, in units of a power of two if products of them might leave the range of floats."""

        return self

    def pairs(self) -> Pairs:
        """Count concordant and tied pairs of a positive and a negative."""
        raise NotImplementedError

    def at(self, threshold: float) -> OperatingPoint:
        """Return the operating point that predicts positive iff ``score >= threshold``.

        The comparison is exact: a threshold is not rounded to the type of the scores.

        Raises
        ------
        InexactCountsError
            If the threshold lies within a range of scores; the message names the nearest exact thresholds.

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
    """Numbers of positives and negatives at each distinct score, from which every curve is computed.

    Parameters
    ----------
    threshold : array of k scores, strictly decreasing
    pos, neg : arrays of k counts
        Positives and negatives with exactly that score: integers, or floats if rows are weighted. Levels with no
        positives and no negatives are omitted.

    Raises
    ------
    ShapeError, ScoreError, WeightError
        If lengths differ, if thresholds do not strictly decrease, or if a count is negative or not finite.

    Notes
    -----
    ``a + b`` contains the counts of two samples together. So chunks, files, threads and streams can be counted
    separately and added. Only counts are stored; curves compute rates from them.

    Weighted rows are kept, so that small weights are not lost next to large ones. Hulls and best points are determined
    from exact sums, and reported values are rounded once.

    For large unweighted data, the object keeps one sorted integer per row, as wide as the score. Its arrays are made on
    first access; the AUC and the hull do not need them.

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
            raise ShapeError("pos and neg", expected="a count above 0", got="only zeros")
        self._ranking: Ranking = Levels(unsigned_zeros(scores)[used], counts[0][used], counts[1][used])

    @classmethod
    def from_ranking(cls, ranking: Ranking) -> "ThresholdCounts":
        """Wrap levels that are already ranked."""
        counts = cls.__new__(cls)
        counts._ranking = ranking
        return counts

    @classmethod
    def from_scores(
        cls, y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> "ThresholdCounts":
        """Count the labels at each distinct score.

        Parameters
        ----------
        y_true : array of n labels
            {0, 1}, {-1, 1} or {False, True}. Other labels need `pos_label`.
        y_score : array of n scores
            Higher scores mean more positive. The type is kept: float32, float64 and integers are never cast.
        pos_label : label, optional
            The positive label.
        sample_weight : array of n weights, optional
            Non-negative. An integer weight counts as that number of equal rows.

        Raises
        ------
        ShapeError, LabelError, ScoreError, WeightError
            If the columns have different lengths or contain invalid values.

        Notes
        -----
        The time is O(n log n), for one sort of an integer per row.

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
        """Count columns that have already been checked."""
        return cls.from_ranking(rank(positive, scores, weight))

    @classmethod
    def from_point(cls, point: OperatingPoint) -> "ThresholdCounts":
        """Return the two levels, 1 and 0, of a classifier known only by its confusion matrix.

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
        """The k distinct scores, strictly decreasing, in their original type."""
        return check.read_only(self._ranking.thresholds())

    @property
    def pos(self) -> Array:
        """Positives at each level."""
        return self._levels.pos

    @property
    def neg(self) -> Array:
        """Negatives at each level."""
        return self._levels.neg

    @cached_property
    def cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """True and false positives, starting at (0, 0); one more point than levels."""
        tp, fp = self._ranking.cumulative()
        return check.read_only(tp), check.read_only(fp)

    @cached_property
    def remaining(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False and true negatives, starting at (n_pos, n_neg). Summed from the lowest score, to keep small weights."""
        if not self._ranking.weighted:
            return super().remaining
        fn, tn = self._ranking.remaining()
        return check.read_only(fn), check.read_only(tn)

    @cached_property
    def strict_cumulative(self) -> tuple[Array, Array]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Counts that increase wherever the exact sums do, even by less than the rounding of `cumulative`."""
        if not self._ranking.weighted:
            return super().strict_cumulative
        return running_sums((self.pos > 0).astype(np.intp)), running_sums((self.neg > 0).astype(np.intp))

    def exact_sums_at(self, index: Array) -> Sums:
        """Return true and false positives at increasing points of `cumulative`, in multiples of `exact_unit`."""
        if not self._ranking.weighted:
            return super().exact_sums_at(index)
        tp, fp = self._ranking.exact_sums_at(self._ranking.codes_at(index[index > 0] - 1))
        return (tp, fp) if index.size == len(tp) else (tp[1:], fp[1:])

    @property
    def exact_unit(self) -> int:
        """The number of units of `exact_sums_at` in a count of 1."""
        return UNIT if self._ranking.weighted else 1

    @cached_property
    def _totals(self) -> tuple[float, float]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._ranking.totals()

    @property
    def ranking(self) -> Ranking:
        """The levels as a stream of blocks, for single-pass algorithms."""
        return self._ranking

    def points(self) -> Iterator[tuple[Array, Array]]:
        """Yield cumulative true and false positives in blocks.

        The first block begins with (0, 0). Every later block begins with the last point of the previous block, so that
        each difference of neighbouring points lies within a block. A block is valid until the next one is requested.

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
        """The counts unchanged: every level is a point of the exact curve."""
        return self

    @property
    def best_case(self) -> "ThresholdCounts":  # pyright: ignore[reportIncompatibleVariableOverride]
        """The counts unchanged: no point is missing."""
        return self

    def require_levels(self, what: str) -> "ThresholdCounts":  # noqa: ARG002
        """Return the counts unchanged: every level is known."""
        return self

    def on_hull(self, what: str = "ROC hull") -> "ThresholdCounts":  # noqa: ARG002
        """Return the counts unchanged: their points include all vertices of the hull."""
        return self

    @property
    def moderate(self) -> "ThresholdCounts":
        """The counts, in units of a power of two if products of them might leave the range of floats."""
        if not self._ranking.weighted or is_moderate(self.n):
            return self
        exponent = -np.frexp(self.n)[1]
        levels = Levels(self.threshold, np.ldexp(self.pos, exponent), np.ldexp(self.neg, exponent))
        return ThresholdCounts.from_ranking(levels).as_sums("sampling")  # no longer numbers of cases

    @property
    def is_exact(self) -> bool:
        """True if counts are 64-bit integers, which allows exact integer arithmetic for hulls."""
        return isinstance(self.n, int) and self.n_pos * self.n_neg < 2**63

    def probabilities(self, what: str) -> Array:
        """Return the thresholds as probabilities; raise ScoreError if one is outside 0 to 1 by more than rounding."""
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
        """Return the highest score below a threshold, −∞ if there is none.

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
        """Count concordant and tied pairs of a positive and a negative.

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
        """Lower and upper bound of the AUC, which are equal for exact counts.

        Examples
        --------
        >>> ThresholdCounts([0.9, 0.6, 0.4, 0.2], [1, 1, 1, 0], [0, 0, 1, 1]).auc_bounds
        (0.9166666666666666, 0.9166666666666666)
        """
        self.require_both_classes("AUC")
        area = self.pairs().auc()
        return area, area

    def _weighted_pairs(self) -> Pairs:
        """Return pairs in units of a power of two, for weights whose products overflow."""
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
    """Return a type that represents the thresholds of both exactly."""
    mine, theirs = counts.threshold.dtype, other.threshold.dtype
    common = np.promote_types(mine, theirs)
    widest_integer = max((dtype.itemsize for dtype in (mine, theirs) if dtype.kind != "f"), default=0)
    if common.kind == "f" and widest_integer > common.itemsize // 2:
        raise ScoreError(
            "cannot merge counts",
            expected="scores of one type",
            got=f"{mine} and {theirs}",
            hint="no type holds both exactly; convert the scores to one type first",
        )
    return common
