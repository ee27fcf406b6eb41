"""SegmentedCounts: the counts of one model by segment, with figures, best thresholds and tests."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import kernels
from rocscope._base import validation as check
from rocscope._base.arrays import Array, Ties
from rocscope.core.context import Context, HasContext
from rocscope.core.counts import CumulativeCounts, ThresholdCounts
from rocscope.core.result import Result, frame_of, number
from rocscope.core.rows import Provenance
from rocscope.curves.rate_curves import PrecisionRecallCurve
from rocscope.curves.roc_curve import RocCurve
from rocscope.errors import InputError, ScoreError
from rocscope.inference.estimate import Estimate
from rocscope.sample import BySegment
from rocscope.segments.levels import SegmentLevels, SegmentWeight, quotients, ratios
from rocscope.segments.rows import SegmentRows, SortedSegments

if TYPE_CHECKING:
    from rocscope.inference.hypothesis import PValueAdjust
    from rocscope.inference.influence.units import OverFolds
    from rocscope.segments.differences import SegmentDifferences


# Calibration and intervals are imported where they are asked for: who counts a file does not wait for SciPy.

_MOST_PAIRS = 2.0**61  # so that twice as many, a tie counting one, fit 64 bits


class SegmentedCounts(BySegment, Result):
    """Counts of one model in many segments, created on access: ``segments[name]`` is a ThresholdCounts.

    Made by ``Predictions.counts(by="segment")`` and ``read_counts(…, segment=)``, by one sort of all rows. Methods
    return arrays in the order of `names`, with NaN where a segment lacks a class. Functions of models use the counts of
    all segments together, `pooled()`; `rocscope.allocate`, `rocscope.summary`, `rocscope.Report`,
    `rocscope.inference.drift` and `compare_segments` answer by segment.

    Attributes
    ----------
    names : array of the k segments, in their order
    source : Provenance or None

    Notes
    -----
    Each number is the one of the segment's own counts, exactly. Rows are kept as one integer each, as wide as
    the score, and one a segment; those with weights as they are, and a segment of them is ranked when it is asked for.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> user = ["ann", "ann", "ann", "bob", "bob", "cy"]
    >>> segments = Predictions([1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 5], segment=user).counts(by="segment")
    >>> segments
    SegmentedCounts(3 segments, n_pos=4, n_neg=2, 1 of one class)
    >>> segments["ann"].tp, segments.auc()
    (array([1, 1, 2]), array([0.5, 1. , nan]))
    >>> segments.mean_auc(weight="n").value, segments.one_class
    (0.7, array(['cy'], dtype='<U3'))
    """

    _content = ("names", "n_pos", "n_neg", "source")

    def __init__(
        self,
        names: Array,
        rows: SegmentRows,
        source: Provenance | None = None,
        in_folds: "Callable[[], InFolds] | None" = None,
    ) -> None:
        super().__init__(check.read_only(names), rows.counts)
        self._rows = rows
        self.source = source
        self._count_in_folds = in_folds

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        n_pos, n_neg = self._rows.totals
        return check.read_only(n_pos), check.read_only(n_neg)

    @property
    def sorted_rows(self) -> SortedSegments | None:
        """The rows of all segments, if they were sorted at once."""
        return self._rows if isinstance(self._rows, SortedSegments) else None

    def levels(self) -> SegmentLevels:
        """Return the levels of all segments in one table."""
        return SegmentLevels.joined(self._rows.in_pieces(lambda levels: levels))

    def hulls(self) -> SegmentLevels:
        """Return the levels that are vertices of their segment's ROC hull."""
        if self._rows.at_once:
            return SegmentLevels.joined(self._rows.in_pieces(lambda levels: levels.upper))
        return SegmentLevels.of_each([counts.on_hull("an allocation") for counts in self.values()]).upper

    def select(self, kept: NDArray[np.bool_]) -> "SegmentedCounts":
        """Return some of the segments.

        Parameters
        ----------
        kept : array of k truth values

        Raises
        ------
        InputError
            If it is none, or keeps no segment.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0, 1], [2, 2, 1, 3, 4], segment=[7, 7, 8, 8, 9]).counts(by="segment")
        >>> segments.select(segments.n > 1)
        SegmentedCounts(2 segments, n_pos=2, n_neg=2)
        """
        mask = np.asarray(kept)
        if mask.dtype != np.bool_ or mask.shape != self.names.shape or not mask.any():
            expected = f"{len(self)} truth values, of which one holds"
            raise InputError("kept", expected=expected, got=check.shown(kept), hint="such as segments.n >= 100")
        in_folds = None if self._count_in_folds is None else partial(_of_kept, self._count_in_folds, mask)
        return SegmentedCounts(self.names[mask], self._rows.take(np.flatnonzero(mask)), self.source, in_folds)

    def pooled(self) -> ThresholdCounts:
        """Return the counts of all segments pooled."""
        return self._rows.pooled()

    @property
    def n_pos(self) -> Array:
        """Positives of each segment (sums of their weights)."""
        return self._totals[0]

    @property
    def n_neg(self) -> Array:
        """Negatives of each segment (sums of their weights)."""
        return self._totals[1]

    @property
    def n(self) -> Array:
        """Rows of each segment (sums of their weights)."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> Array:
        """Share of positives in each segment."""
        return self.n_pos / self.n

    @cached_property
    def _has_both(self) -> NDArray[np.bool_]:
        return (self.n_pos > 0) & (self.n_neg > 0)

    @cached_property
    def _whole_pairs(self) -> bool:
        """Whether the pairs of every segment fit in 64 bits."""
        return (self.n_pos * self.n_neg.astype(float)).max() < _MOST_PAIRS

    @property
    def one_class(self) -> Array:
        """Segments without positives or without negatives, whose AUC is undefined."""
        return self.names[~self._has_both]

    def auc(self, ties: Ties = "half") -> Array:
        """Return the area under each segment's ROC curve; see `rocscope.auc` for `ties`.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> segments.auc(), segments.auc("upper")
        (array([0.5, 0. ]), array([1., 0.]))
        """
        check.check_choice("ties", ties, ("half", "lower", "upper"))
        return self._auc.copy() if ties == "half" else self._area(ties)

    @cached_property
    def _auc(self) -> Array:
        return self._area("half")

    def _area(self, ties: Ties) -> Array:
        credit = {"lower": 0, "half": 1, "upper": 2}[ties]
        rows = self._rows
        if isinstance(rows, SortedSegments) and rows.codes.size >= kernels.SMALL and self._whole_pairs:
            below, not_above = rows.pairs()
            return np.where(
                self._has_both,
                quotients((2 - credit) * below + credit * not_above, 2 * self.n_pos * self.n_neg),
                np.nan,
            )
        return self._answer(lambda levels: levels.area(credit), lambda counts: counts.pairs().auc(ties), self._has_both)

    def ks(self) -> Array:
        """Return each segment's Kolmogorov–Smirnov distance: its largest tpr − fpr, at least 0."""
        return self._answer(SegmentLevels.ks, lambda counts: RocCurve(counts).ks, self._has_both)

    def average_precision(self) -> Array:
        """Return the average precision of each segment with positives."""

        def of_counts(counts: CumulativeCounts) -> float:
            return PrecisionRecallCurve(counts).average_precision

        return self._answer(SegmentLevels.average_precision, of_counts, self.n_pos > 0, summed=True)

    def brier(self) -> Array:
        """Return the Brier score of each segment; ScoreError if a score is not a probability."""
        from rocscope.calibration.scores import brier

        return self._answer(SegmentLevels.brier, brier, np.ones(len(self), bool), summed=True)

    def observed_over_expected(self) -> Array:
        """Return each segment's observed/expected ratio: positives divided by the sum of probabilities.

        NaN where no positive was expected; ScoreError if a score is no probability.
        """
        from rocscope.calibration.outcomes import Outcomes

        def of_counts(counts: CumulativeCounts) -> float:
            known = counts.require_levels("O/E")
            known.require_probabilities("scores")
            return ratios(known.n_pos, Outcomes.of(known).weighed.sum()).item()

        return self._answer(SegmentLevels.observed_over_expected, of_counts, np.ones(len(self), bool), summed=True)

    def at(self, threshold: float) -> dict[Literal["tp", "fp", "fn", "tn"], Array]:
        """Return the four cells of each segment at a threshold.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> segments.at(2)["fp"]
        array([1, 1])
        """
        if not check.is_number(threshold):
            raise ScoreError("threshold", expected="a number", got=repr(threshold))
        if not isinstance(self._rows, SortedSegments):
            points = [counts.at(threshold) for counts in self.values()]
            names: tuple[Literal["tp", "fp", "fn", "tn"], ...] = ("tp", "fp", "fn", "tn")
            return {name: np.array([getattr(point, name) for point in points]) for name in names}
        tp, fp = self._rows.at_least(threshold)
        return {"tp": tp, "fp": fp, "fn": self.n_pos - tp, "tn": self.n_neg - fp}

    def best(self, context: Context | HasContext | None = None) -> dict[str, Array]:
        """Return each segment's threshold of lowest expected cost, its four cells and its cost per case.

        Parameters
        ----------
        context : Context, optional
            Costs and class mix; equal costs and the mix of each segment when left out.

        Returns
        -------
        dict of arrays of k
            "threshold", "tp", "fp", "fn", "tn" and "cost", as floats; NaN where a class is missing. Thresholds that
            float64 would round are Python integers.

        Raises
        ------
        InputError
            If errors of both kinds are rewarded, or a cost is a column of the rows.

        Notes
        -----
        Decided in whole numbers by the rule of `rocscope.choose`. A threshold of each segment, chosen on its own rows,
        is the more optimistic the fewer these are.

        Examples
        --------
        >>> from rocscope import Context, Predictions
        >>> segments = Predictions([1, 0, 1, 0], [2, 2, 1, 3], segment=[7, 7, 8, 8]).counts(by="segment")
        >>> best = segments.best(Context(cost_fn=5))
        >>> best["threshold"], best["cost"]
        (array([-inf, -inf]), array([0.5, 0.5]))
        """
        from rocscope.segments.best_thresholds import cheapest

        return cheapest(self._rows, self._has_both, Context.given(context))

    def mean_auc(
        self, weight: SegmentWeight = "n", *, folds: "OverFolds | None" = None, level: float = 0.95
    ) -> Estimate:
        """Compute the mean AUC over segments with both classes, with a confidence interval.

        Parameters
        ----------
        weight : {"n", "n_pos", None}
            The weight of a segment: its rows (GAUC), its positives (wuAUC), or the same for all.
        folds : {"pooled", "mean"}, optional
            With "mean", scores of a segment are compared within each fold only, and its area is the mean over these,
            weighted likewise. Otherwise all its scores are taken to be on one scale.
        level : float
            Confidence level.

        Raises
        ------
        OneClassError
            If no segment (or no segment in any fold) has both classes.
        InputError
            If there are no folds to take the mean over.

        Notes
        -----
        Segments are what is drawn at random, such as users; rows of one may depend on each other. The variance is that
        of leaving out each segment (CR3), with (Σw)²/Σw² − 1 degrees of freedom of Student's t. It is marked as not
        reliable where the segments are worth fewer than 10 of equal weight.

        References
        ----------
        Zhu et al. 2017, Optimized cost per click in Taobao display advertising, KDD, §4 (GAUC); Cochran 1977, Sampling
        Techniques, 3rd ed., §6.
        """
        from rocscope.segments.means import SegmentMeans

        level = check.check_level(level)
        area, mass = areas_of(self, weight, folds)
        return SegmentMeans.of(area[None], mass, weight).estimate(0, level)

    def differing(self, *, adjust: "PValueAdjust" = "holm", level: float = 0.95) -> "SegmentDifferences":
        """Test which segments differ in AUC from the rest, and shrink their areas towards the mean.

        Parameters
        ----------
        adjust : {"holm", "bh", "none"}
            How p-values allow for the number of segments: Holm's keeps the chance of any false finding below 1 − level,
            Benjamini–Hochberg's the share of false ones among the findings, and finds more.
        level : float
            Confidence level: adjusted p-values of at most 1 − level count as found.

        Raises
        ------
        InputError
            If fewer than two segments have both classes, or none has two rows of each.
        WeightError
            If weights are not whole numbers, which count as equal rows.

        Notes
        -----
        Each area is held against the mean of the others. Its variance is the exact one of a Mann–Whitney statistic of
        P positives and N negatives, (ξ₁₁ + (N − 1)ξ₁₀ + (P − 1)ξ₀₁)/(PN), with DeLong's components of the rows of all
        segments together: a small segment's own would be 0 where it ranks all rows right. Tails are those of a beta law
        of that mean and variance. Areas of segments are taken as normal about a mean with a spread τ (Paule–Mandel),
        and drawn to it, τ²/(τ² + variance) of the way left.

        Where segments did not differ, in ten designs of 10 to 1,000 segments of 2 to 60 rows with areas of 0.5 to 0.97,
        anything was found in at most 5 % of samples, by either way to adjust. Not valid where rows of a segment depend
        on each other (as repeated measurements do), where placements scatter otherwise in some segments at the same
        area, or, for `shrunken`, where true areas are far from normal, such as near 1. A segment found is the best or
        worst seen, whose area is further out than its true one: read `shrunken`.

        References
        ----------
        DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837–845; Lee 1990, U-Statistics, §1.3; Paule & Mandel 1982,
        J. Res. Natl. Bur. Stand. 87:377–385; Morris 1983, J. Am. Stat. Assoc. 78:47–55 (empirical Bayes).

        Examples
        --------
        Nine branches have an area of 0.625, the tenth one of 0.375:

        >>> import numpy as np
        >>> from rocscope import Predictions
        >>> branch = np.repeat([f"b{i}" for i in range(10)], 80)
        >>> y = np.tile(np.repeat([1, 0], 40), 10)
        >>> score = np.tile(np.repeat([2, 1, 2, 1], [30, 10, 20, 20]), 10)
        >>> score[-80:] = 3 - score[-80:]
        >>> found = Predictions(y, score, segment=branch).counts(by="segment").differing()
        >>> found, found.found.tolist()
        (SegmentDifferences(1 of 10 differ at 5 % (holm), spread of areas 0.0587), ['b9'])
        """
        from rocscope.inference.hypothesis import ADJUSTMENTS
        from rocscope.segments.differences import differences, scatter

        check.check_choice("adjust", adjust, ADJUSTMENTS)
        level = check.check_level(level)
        if self.n_pos.dtype.kind == "f":
            check.require_whole_weights(self.n_pos)
        sums = np.concatenate(self._rows.in_pieces(scatter))
        return differences(self.names, self.auc(), self.n_pos, self.n_neg, sums, adjust=adjust, level=level)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment: n_pos, n_neg, prevalence, auc, ks, average_precision.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        columns = {"segment": self.names, "n_pos": self.n_pos, "n_neg": self.n_neg, "prevalence": self.prevalence}
        numbers = {"auc": self.auc(), "ks": self.ks(), "average_precision": self.average_precision()}
        return frame_of(columns | numbers, backend)

    def _answer(
        self,
        of_levels: Callable[[SegmentLevels], Array],
        of_counts: Callable[[Any], float],
        known: NDArray[np.bool_],
        *,
        summed: bool = False,
    ) -> Array:
        """Return a figure of each `known` segment, from the levels of all or the counts of each.

        Sums over levels are rounded in blocks where a segment has many.
        """
        rows = self._rows
        if rows.at_once and self._whole_pairs:
            found = np.where(known, np.concatenate(rows.in_pieces(of_levels)), np.nan)
            again = np.flatnonzero(known & (self.n >= kernels.SMALL)) if summed else np.zeros(0, int)
        else:
            found, again = np.full(len(self), np.nan), np.flatnonzero(known)
        for segment in again.tolist():
            found[segment] = of_counts(self._make(segment))
        return found

    def __repr__(self) -> str:
        totals = f"n_pos={number(self.n_pos.sum().item())}, n_neg={number(self.n_neg.sum().item())}"
        lost = f", {self.one_class.size} of one class" if self.one_class.size else ""
        return f"SegmentedCounts({len(self)} segment{'s' * (len(self) != 1)}, {totals}{lost})"


InFolds = tuple[SegmentedCounts, NDArray[np.intp]]
"""Counts of each segment in each fold that it occurs in, and the place of that segment."""


def _of_kept(count: Callable[[], InFolds], kept: NDArray[np.bool_]) -> InFolds:
    parts, segment = count()
    return parts.select(kept[segment]), (np.cumsum(kept) - 1)[segment[kept[segment]]]


def areas_of(segments: SegmentedCounts, weight: SegmentWeight, folds: "OverFolds | None" = None) -> tuple[Array, Array]:
    """Return the area of each segment, and what it weighs; see `SegmentedCounts.mean_auc`."""
    if weight is not None:
        check.check_choice("weight", weight, ("n", "n_pos"))
    if folds is not None:
        check.check_choice("folds", folds, ("pooled", "mean"))
    even = np.ones(len(segments))
    if folds != "mean":
        return segments.auc(), even if weight is None else getattr(segments, weight).astype(np.float64)
    if segments._count_in_folds is None:
        hint = "such as those of rocscope.evaluate(…, segment=)"
        raise InputError("folds='mean'", expected="segments of Predictions with a fold column", got="none", hint=hint)
    parts, segment = segments._count_in_folds()
    area, mass = areas_of(parts, weight)
    known = ~np.isnan(area)
    total, moment = (np.bincount(segment[known], each[known], len(segments)) for each in (mass, mass * area))
    with np.errstate(invalid="ignore"):
        return moment / total, even if weight is None else total
