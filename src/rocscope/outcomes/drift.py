"""Drift: compare the scores of a current sample with a reference, and estimate the effect of a change on metrics.

The distances between the two samples do not need labels. Let F(s) be the share of reference rows with scores of at most
s, and G(s) the share of current rows. The Kolmogorov–Smirnov distance is the largest absolute difference between F and
G. The Wasserstein distance is the integral of the absolute difference. The population stability index (PSI) uses bins
that end at quantiles of the reference scores. It is the sum over bins of (q − p)·ln(q/p), where p is the share of
reference rows in the bin and q the share of current rows.

Every p-value comes from a permutation test: without drift, all ways to divide the pooled rows into two samples of the
same sizes are equally likely. The test is exact for the Kolmogorov–Smirnov distance with up to 10,000 rows in both
samples together. Otherwise random divisions are drawn.

`rocscope.expected` estimates the effect of a change on metrics. If the current rows have labels, its two assumptions
are tested.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import inf, isnan, nan
from typing import Any, Literal

import numpy as np

from rocscope._base import special, validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.grouping import sum_by
from rocscope._base.public_names import reach
from rocscope._base.radix import encode
from rocscope.core import Predictions, Result, html_table, require_kinds
from rocscope.errors import InputError, OneClassError, ScoreError
from rocscope.inference import estimate as inference, statistics
from rocscope.inference.influence_estimates import estimate_of
from rocscope.outcomes.expected import ExpectedPredictions, expected, scores_of_model
from rocscope.ranges.binned import BinnedCounts, Bounds, rounded
from rocscope.sample import BySegment, Sample, kind_of, samples_of
from rocscope.segments.by_segment import array_of

_MOST_ROWS = 2**31  # rows of a sample; products of larger numbers do not fit into 64 bits
_EXACT_ROWS = (
    10_000  # rows of both samples; the exact p-value then takes 0.1 s, and its time grows with the square of the rows
)
_SIMULATED_ROWS = 10**9  # rows of both samples; the largest number that NumPy can draw from
_SIMULATED_LEVELS = 1_000  # groups of neighbouring scores in simulated divisions; 999 divisions take .2 s
_EXPECTED_ROWS = 10**6  # rows of the current sample for which expected metrics take a few seconds
_TIE = 1e-12  # divisions with a PSI that is equal up to rounding count as equal
_COLUMNS = ("ks", "ks_p", "psi", "psi_p", "wasserstein", "ks_pos", "ks_neg", "auc_difference", "prevalence_difference")
_AT_THRESHOLD = ("tpr", "fpr", "precision", "accuracy")


@dataclass(frozen=True)
class FigureDrift(Result):
    """Reference value, expected value and observed value of a metric.

    Returned by `rocscope.drift` in `Drift.figures`.

    Attributes
    ----------
    reference : Estimate
        Metric of the reference.
    expected : Estimate
        Expected metric of the current rows, if the share of positives at each score has not changed; see
        `rocscope.expected`.
    observed : Estimate or None
        Metric computed from the labels of the current rows; None without labels.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> rows = Predictions([0, 0, 1, 0, 1, 1] * 20, [1, 2, 3, 4, 5, 6] * 20)
    >>> figure = drift(rows, [3, 4, 5], replicates=9).figures["auc"]
    >>> round(figure.reference.value, 4), figure.observed
    (0.8889, None)
    """

    reference: inference.Estimate
    expected: inference.Estimate
    observed: inference.Estimate | None


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result):
    """Distances between the scores of a current sample and a reference, with p-values and metrics.

    Returned by `rocscope.drift`. A `Bounds` contains a lower and an upper bound, which are equal for exact counts.

    Attributes
    ----------
    ks : Bounds
        Kolmogorov–Smirnov distance: the largest difference between the samples in the share of cases with scores of at
        least a threshold.
    ks_p : float
        P-value of the Kolmogorov–Smirnov distance; NaN if it cannot be computed from binned counts, or if `replicates`
        is 0.
    psi : float
        Population stability index; NaN if it cannot be computed from binned counts.
    psi_p : float
        P-value of the population stability index; NaN as for `ks_p`.
    wasserstein : float
        Wasserstein distance in units of the scores; NaN if it cannot be computed from binned counts.
    bin_ends : array of at most b − 1 scores
        Highest score in each bin of the PSI, except the last bin. None if binned counts do not contain single scores.
    reference_share : array of b shares
        Share of the reference rows in each bin of the PSI; None as for `bin_ends`.
    current_share : array of b shares
        Share of the current rows in each bin of the PSI; None as for `bin_ends`.
    ks_pos : Bounds or None
        Kolmogorov–Smirnov distance between the scores of the positives; None without labels or positives.
    ks_neg : Bounds or None
        Kolmogorov–Smirnov distance between the scores of the negatives; None without labels or negatives.
    auc_difference : Bounds or None
        AUC of the current sample minus AUC of the reference; None without labels, or if a sample has only one class.
    prevalence_difference : float
        Prevalence of the current sample minus prevalence of the reference; NaN without labels.
    risk_p : float
        P-value of the hypothesis that the share of positives at each score is the same in both samples; NaN without
        labels.
    classes_p : float
        P-value of the hypothesis that the scores of each class have the same distribution in both samples. It is twice
        the smaller of the p-values of `ks_pos` and `ks_neg`. NaN without labels.
    figures : dict from name to FigureDrift
        Reference, expected and observed value of each metric.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> drift(Predictions([0, 1, 0, 1], [1, 2, 3, 4]), [3, 4, 5, 6], bins=2, replicates=0).bin_ends
    array([2])
    """

    ks: Bounds
    ks_p: float = nan
    psi: float = nan
    psi_p: float = nan
    wasserstein: float = nan
    bin_ends: Array | None = None
    reference_share: Array | None = None
    current_share: Array | None = None
    ks_pos: Bounds | None = None
    ks_neg: Bounds | None = None
    auc_difference: Bounds | None = None
    prevalence_difference: float = nan
    risk_p: float = nan
    classes_p: float = nan
    figures: dict[str, FigureDrift] = field(default_factory=dict)

    def plot(self, ax: Any = None) -> Any:
        """Plot the share of both samples in each bin of the PSI; see `rocscope.plotting.plot_drift`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        """
        return reach("plotting").plot_drift(self, ax)

    def __repr__(self) -> str:
        return f"Drift({', '.join(f'{name} {words}' for name, words in self.facts().items())})"

    def _repr_html_(self) -> str:
        return html_table(self.facts().items())

    def facts(self) -> dict[str, str]:
        """Return the results as formatted text, by name."""
        facts = {"ks": _in_words(self.ks) + _p_in_words(self.ks_p)}
        if not isnan(self.psi):
            facts["psi"] = f"{self.psi:.4g}" + _p_in_words(self.psi_p)
            facts["wasserstein"] = f"{self.wasserstein:.4g}"
        if not isnan(self.prevalence_difference):
            facts["ks_pos"] = _in_words(self.ks_pos)
            facts["ks_neg"] = _in_words(self.ks_neg)
            facts["auc_difference"] = _in_words(self.auc_difference)
        if not isnan(self.risk_p):
            facts["same risk at each score"] = f"p={self.risk_p:.3g}"
        if not isnan(self.classes_p):
            facts["same scores within each class"] = f"p={self.classes_p:.3g}"
        for name, figure in self.figures.items():
            words = f"{figure.reference.value:.4g} in the reference, {figure.expected.value:.4g} expected"
            facts[name] = words if figure.observed is None else f"{words}, {figure.observed.value:.4g} observed"
        return facts


@dataclass(frozen=True, eq=False, repr=False)
class SegmentDrift(Result):
    """Drift in each segment that occurs in both samples.

    Returned by `rocscope.drift`.

    Attributes
    ----------
    names : array of k segments
        Names of the segments that occur in both samples.
    parts : tuple of k Drift
        Result for each segment.
    adjusted_ks_p : array of k p-values
        P-values of the Kolmogorov–Smirnov distances, adjusted for the number of segments.
    adjusted_psi_p : array of k p-values
        P-values of the population stability indices, adjusted for the number of segments.
    only_reference : array of segments
        Segments that occur only in the reference.
    only_current : array of segments
        Segments that occur only in the current sample.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> rows = Predictions([0, 1, 0, 1], [1, 2, 3, 4], segment=["a", "a", "b", "b"])
    >>> drift(rows, {"a": [1, 2], "c": [5]}, by="segment")
    SegmentDrift(1 segments, largest ks 0, 1 only in the reference, 1 only in the current sample)
    """

    names: Array
    parts: tuple[Drift, ...]
    adjusted_ks_p: Array
    adjusted_psi_p: Array
    only_reference: Array
    only_current: Array

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> rows = Predictions([0, 1, 0, 1], [1, 2, 3, 4], segment=["a", "a", "b", "b"])
        >>> drift(rows, {"a": [1, 2], "b": [5, 6]}, by="segment").to_frame()[["segment", "ks"]]
          segment   ks
        0       a  0.0
        1       b  1.0
        """
        columns: dict[str, Any] = {"segment": self.names}
        for name in _COLUMNS:
            columns[name] = np.array([_low_end(getattr(part, name)) for part in self.parts])
        columns |= {"adjusted_ks_p": self.adjusted_ks_p, "adjusted_psi_p": self.adjusted_psi_p}
        return check.frame_of(columns, backend)

    def __repr__(self) -> str:
        largest = max(part.ks.low for part in self.parts)
        lost = f"{self.only_reference.size} only in the reference, {self.only_current.size} only in the current sample"
        return f"SegmentDrift({self.names.size} segments, largest ks {largest:.4g}, {lost})"


def _low_end(value: Bounds | float | None) -> float:
    if isinstance(value, Bounds):
        return value.low
    return nan if value is None else value


def _in_words(bounds: Bounds | None) -> str:
    if bounds is None:
        return "undefined"
    low, high = (f"{end:.6g}" for end in bounds)
    return low if low == high else f"from {low} to {high}"


def _p_in_words(p: float) -> str:
    return "" if isnan(p) else f" (p={p:.3g})"


@contract
def drift(
    reference: Any,
    current: Any,
    *,
    model: str | None = None,
    by: Literal["segment"] | None = None,
    bins: int = 10,
    figures: Sequence[str] = ("auc",),
    threshold: float | None = None,
    adjust: inference.PValueAdjust = "holm",
    replicates: int = 999,
    random_state: Any = 0,
) -> Any:
    """Compare the scores of a current sample with the scores of a labelled reference.

    Parameters
    ----------
    reference : Predictions, ThresholdCounts, BinnedCounts or CountsSketch
        Labelled reference, such as the test data of the model.
    current : the same types, array of m scores, or mapping from model name to array
        Current rows of the same model, with or without labels. An array contains scores without labels.
    model : str, optional
        Name of the model. By default, the only model of the reference.
    by : {"segment"}, optional
        If "segment", compare the samples within each segment. Both samples must be Predictions with segments, or
        mappings from segment to data or scores. Two `SegmentedCounts` are always compared by segment. If only one
        sample is a `SegmentedCounts`, all its segments are merged.
    bins : int
        Number of bins of the PSI; the bins end at quantiles of the reference scores.
    figures : list of str
        Names of metrics, such as ``"auc"``, to estimate for the current rows; see `rocscope.expected`.
    threshold : float, optional
        Threshold at which tpr, fpr, precision and accuracy are also estimated.
    adjust : {"holm", "bh", "none"}
        Adjustment of p-values for the number of segments.
    replicates : int
        Number of random divisions of the pooled rows for a p-value. With 0, p-values and metrics are omitted.
    random_state : int, Generator, RandomState or None
        Seed of the random divisions.

    Returns
    -------
    Drift
        Distances, p-values and metrics.
    SegmentDrift
        A Drift for each segment, with ``by="segment"`` or for two `SegmentedCounts`.

    Raises
    ------
    ScoreError
        If the scores of the two samples have different data types.

    See Also
    --------
    expected, monitor, plot_drift

    Notes
    -----
    A bin of the PSI contains the scores above one quantile of the reference, up to and including the next quantile.
    Equal scores are always in the same bin. If a sample has no row in a bin, it is treated as if it had half a row in
    this bin. The usual limits of .1 and .25 ignore the sample sizes. Without drift, the PSI of samples of n and m rows
    is about (1/n + 1/m)·χ², where χ² has one degree of freedom less than the number of bins.

    P-values are computed only for independent rows without weights, or with frequency weights, and not for binned
    counts. If the samples have more than 10,000 rows together, p-values come from `replicates` random divisions of the
    pooled rows, after the scores were merged into 1,000 groups. These p-values are at least 1/(replicates + 1).

    The hypothesis of the same risk at each score is tested with Cox's calibration intercept and slope. The labels of
    the current rows are compared with probabilities from the calibrated reference. The test is a score test with two
    degrees of freedom; its variance includes the error of the probabilities. This test and the expected metrics are
    computed for up to a million current rows.

    References
    ----------
    Schröer & Trenkler 1995, Comput. Stat. Data Anal. 20:185–202 (exact, with ties); Yurdakul 2018, "Statistical
    properties of population stability index"; Cox 1958, Biometrika 45:562–565.

    Examples
    --------
    On Monday, 3, 3 and 4 of ten cases had the scores .9, .5 and .1; on Tuesday, 2, 5 and 3 of ten cases:

    >>> from rocscope import ThresholdCounts
    >>> monday = ThresholdCounts([0.9, 0.5, 0.1], pos=[3, 2, 0], neg=[0, 1, 4])
    >>> tuesday = ThresholdCounts([0.9, 0.5, 0.1], pos=[1, 3, 1], neg=[1, 2, 2])
    >>> drift(monday, tuesday, bins=3, replicates=0)
    Drift(ks 0.1, psi 0.1715, wasserstein 0.08, ks_pos 0.4, ks_neg 0.4, auc_difference -0.38)
    """
    check.check_whole(bins, "bins", 2)
    check.check_whole(replicates, "replicates", 0)
    tests = _Tests(bins, replicates, check.seed_of(random_state))
    if by is not None or (isinstance(reference, BySegment) and isinstance(current, BySegment)):
        return _by_segment(reference, current, model, adjust, tests)
    known = samples_of(reference, name="reference").one(model)
    require_kinds("drift", known.data)
    new, labelled = _current_sample(current, known)
    compared = tests.of(known.bins, new.bins, labelled)
    named: dict[str, Any] = {name: name for name in figures}
    if threshold is not None:
        named |= {f"{name} at {threshold:g}": statistics.at(threshold, name) for name in _AT_THRESHOLD}
    if isnan(compared.ks_p) or new.bins.n > _EXPECTED_ROWS or not (named or labelled):
        return compared
    return _with_figures(compared, known, new, labelled, named, tests.seed)


def _current_sample(current: Any, known: Sample) -> tuple[Sample, bool]:
    """Return the current sample, and whether it has labels; rows without labels are stored as negatives."""
    if isinstance(current, ExpectedPredictions):
        current = current.unlabelled_scores
    parts: list[Any] = list(current.values()) if isinstance(current, Mapping) else [current]
    if check.is_frame(current) or all(isinstance(part, list | tuple) or hasattr(part, "__array__") for part in parts):
        scores = scores_of_model(current, known.name)[1]
        return samples_of(Predictions(np.zeros(scores.size, np.bool_), scores)).one(None), False
    samples = samples_of(current, name="current")
    sample = samples.one(known.name if known.name in samples else None)
    require_kinds("drift", sample.data)
    return sample, True


# Distances and their p-values


@dataclass(frozen=True)
class _Tests:
    """Settings of a comparison: number of bins of the PSI, number of random divisions for p-values, and seed."""

    bins: int
    replicates: int
    seed: int

    def of(self, reference: BinnedCounts, current: BinnedCounts, labelled: bool) -> Drift:
        """Compute the distances between two samples, with p-values."""
        if reference.low.dtype != current.low.dtype:
            got = f"{reference.low.dtype} and {current.low.dtype}"
            raise ScoreError("scores", expected="the same data type in both samples", got=got)
        if self.replicates and not {reference.weights, current.weights} <= {"cases", "frequency"}:
            # With weights that are not frequencies the number of rows is unknown, so there are no p-values.
            return replace(self, replicates=0).of(reference, current, labelled)
        ks = _distance(reference, current, reference.pos + reference.neg, current.pos + current.neg)
        assert ks is not None
        levels = _common_levels(reference, current)
        of_classes = self._of_classes(reference, current, levels) if labelled else {}
        if levels is None:
            return Drift(ks, **of_classes)
        first, second = _rows_at(levels, reference, "all"), _rows_at(levels, current, "all")
        end, rows, other_rows = rows_in_bins(first, second, self.bins)
        used = rows + other_rows > 0
        apart = abs(first.cumsum() / first.sum() - second.cumsum() / second.sum())
        return Drift(
            ks,
            ks_p=self.ks_p_value(first, second),
            psi=float(stability_index(first, second, self.bins)),
            psi_p=self.simulated_p_value(partial(stability_index, bins=self.bins), first, second),
            wasserstein=float(apart[:-1] @ np.diff(levels.astype(np.float64))),
            bin_ends=levels[end[used]][:-1],
            reference_share=rows[used] / rows.sum(),
            current_share=other_rows[used] / other_rows.sum(),
            **of_classes,
        )

    def _of_classes(self, reference: BinnedCounts, current: BinnedCounts, levels: Array | None) -> dict[str, Any]:
        """Compute the distances within each class, and one p-value for both classes."""
        of_pos = _distance(reference, current, reference.pos, current.pos)
        of_neg = _distance(reference, current, reference.neg, current.neg)
        facts: dict[str, Any] = {"ks_pos": of_pos, "ks_neg": of_neg}
        facts["prevalence_difference"] = current.prevalence - reference.prevalence
        if of_pos is not None and of_neg is not None:
            low, high = _area_bounds(reference)
            other_low, other_high = _area_bounds(current)
            facts["auc_difference"] = _outward(other_low - high, other_high - low)
            if levels is not None:
                pos_p = self.ks_p_value(_rows_at(levels, reference, "pos"), _rows_at(levels, current, "pos"))
                neg_p = self.ks_p_value(_rows_at(levels, reference, "neg"), _rows_at(levels, current, "neg"))
                # Bonferroni's correction for two tests.
                facts["classes_p"] = float(np.minimum(1, 2 * np.minimum(pos_p, neg_p)))
        return facts

    def ks_p_value(self, first: Array, second: Array) -> float:
        """Return the p-value of the Kolmogorov–Smirnov distance, given the numbers of rows at each score."""
        if self.replicates and first.sum() + second.sum() <= _EXACT_ROWS:
            return exact_ks_p_value(first, second)
        return self.simulated_p_value(_gap, first, second)

    def simulated_p_value(self, statistic: Callable[[Array, Array], Array], first: Array, second: Array) -> float:
        """Return the p-value of a statistic from random divisions of the pooled rows.

        It is the share of divisions with at least the observed statistic. The observed division is included, so that
        the p-value is never 0.
        """
        pooled = first + second
        if not self.replicates or pooled.sum() > _SIMULATED_ROWS:
            return nan
        last = np.unique(np.searchsorted(pooled.cumsum(), pooled.sum() * _GROUP_ENDS))
        first = np.diff(first.cumsum()[last], prepend=0)
        second = np.diff(second.cumsum()[last], prepend=0)
        pooled = first + second
        # Drawing row by row is faster if few rows are equal.
        method = "count" if pooled.sum() < 20 * pooled.size else "marginals"
        rng = np.random.default_rng(self.seed)
        drawn = rng.multivariate_hypergeometric(pooled, first.sum(), size=self.replicates, method=method)
        at_least = statistic(drawn, pooled - drawn) >= statistic(first, second) - _TIE
        return (1 + int(at_least.sum())) / (1 + self.replicates)


_GROUP_ENDS = np.arange(1, _SIMULATED_LEVELS + 1) / _SIMULATED_LEVELS * (1 - 1e-12)


def _common_levels(reference: BinnedCounts, current: BinnedCounts) -> Array | None:
    """Return all distinct scores of both samples in increasing order; None if the scores are binned."""
    if not (np.array_equal(reference.low, reference.high) and np.array_equal(current.low, current.high)):
        return None
    return np.union1d(reference.low, current.low)


def _rows_at(levels: Array, counts: BinnedCounts, kind: Literal["all", "pos", "neg"]) -> Array:
    """Return the number of rows of a sample (or of one class) at each score in `levels`."""
    rows = np.zeros(levels.size, np.int64)
    rows[np.searchsorted(levels, counts.low)] = counts.pos + counts.neg if kind == "all" else getattr(counts, kind)
    return rows


def _gap(first: Array, second: Array) -> Array:
    """Return the Kolmogorov–Smirnov distance times the product of both sample sizes, which is a whole number."""
    n, m = first.sum(axis=-1, keepdims=True), second.sum(axis=-1, keepdims=True)
    return abs(first.cumsum(axis=-1) * m - second.cumsum(axis=-1) * n).max(axis=-1)


def exact_ks_p_value(first: Array, second: Array) -> float:
    """Return the exact p-value of the Kolmogorov–Smirnov distance between two samples, with ties.

    The p-value is the share of all divisions of the pooled rows with at least the observed distance.

    Parameters
    ----------
    first, second : arrays of k integers
        Number of rows of each sample at each of k common scores, in increasing order of the scores.

    Notes
    -----
    The rows are assigned to the two samples one after another, in increasing order of the scores. After each row,
    `chance[i]` is the probability that i rows were assigned to the first sample and that the distance was smaller than
    the observed distance at all scores so far.

    Examples
    --------
    There are 6 ways to choose two of four rows. In 2 of these ways the samples are completely separated, as here:

    >>> round(exact_ks_p_value(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1])), 6)
    0.333333
    """
    if first.sum() > second.sum():
        first, second = second, first
    n, m = int(first.sum()), int(second.sum())
    if not n:
        return nan
    largest = int(_gap(first, second))
    is_end = np.zeros(n + m + 1, np.bool_)
    is_end[(first + second).cumsum()] = True
    of_first = np.arange(n + 1)
    chance = np.zeros(n + 1)
    chance[0] = 1.0
    reached = 0.0
    for rows in range(n + m):
        of_second = rows - of_first
        left = n + m - rows
        to_first = chance * ((n - of_first) / left)
        chance = chance * ((m - of_second) / left)
        chance[1:] += to_first[:-1]
        if is_end[rows + 1]:
            far = abs(of_first * m - (rows + 1 - of_first) * n) >= largest
            reached += float(chance[far].sum())
            chance[far] = 0.0
    return min(reached, 1.0)


def rows_in_bins(first: Array, second: Array, bins: int) -> tuple[Array, Array, Array]:
    """Return the index of the last score in each bin, and the number of rows of both samples in each bin.

    Bin k ends at the lowest score at which the cumulative share of the first sample is at least k/bins. Leading axes
    contain separate pairs of samples.

    Examples
    --------
    >>> rows_in_bins(np.array([2, 3, 1]), np.array([1, 1, 4]), bins=2)
    (array([1, 2]), array([5, 1]), array([2, 4]))
    """
    reached, other = first.cumsum(axis=-1), second.cumsum(axis=-1)
    total = reached[..., -1:]
    ends = [(reached * bins >= k * total).argmax(axis=-1) for k in range(1, bins)]
    ends.append(np.full_like(ends[0], first.shape[-1] - 1))
    end = np.stack(ends, axis=-1)
    rows = np.diff(np.take_along_axis(reached, end, -1), prepend=0, axis=-1)
    return end, rows, np.diff(np.take_along_axis(other, end, -1), prepend=0, axis=-1)


def stability_index(first: Array, second: Array, bins: int) -> Array:
    """Return the population stability index, given the number of rows of both samples at each score; see `drift`.

    Examples
    --------
    The shares of the two bins change from .5 and .5 to .2 and .8. The index is .3·ln(.5/.2) + .3·ln(.8/.5):

    >>> round(float(stability_index(np.array([5, 5]), np.array([2, 8]), bins=2)), 4)
    0.4159
    """
    _, rows, other_rows = rows_in_bins(first, second, bins)
    # If one sample has no rows in a bin, count half a row. Bins without rows of both samples, from equal quantiles, are
    # skipped.
    share = np.maximum(rows, 0.5) / rows.sum(axis=-1, keepdims=True)
    other_share = np.maximum(other_rows, 0.5) / other_rows.sum(axis=-1, keepdims=True)
    parts = (other_share - share) * np.log(other_share / share)
    return np.where(rows + other_rows > 0, parts, 0.0).sum(axis=-1)


def _area_bounds(binned: BinnedCounts) -> tuple[Fraction, Fraction]:
    low, high = binned.right_bounds
    total = 2 * int(binned.n_pos) * int(binned.n_neg)
    return Fraction(low, total), Fraction(high, total)


def _distance(one: BinnedCounts, other: BinnedCounts, rows: Array, other_rows: Array) -> Bounds | None:
    """Return bounds of the Kolmogorov–Smirnov distance; None if a sample has no rows."""
    total, other_total = int(rows.sum()), int(other_rows.sum())
    if not (total and other_total):
        return None
    at = np.unique(np.concatenate([encode(end) for end in (one.low, one.high, other.low, other.high)]))

    # Rows at or above each end of a bin: the rows of the bin are certainly above its low end and possibly above its
    # high end. Counts are multiplied by the total of the other sample, so that shares are compared as whole numbers.
    def reached(binned: BinnedCounts, count: Array, factor: int) -> tuple[Array, Array]:
        summed = np.append(0, np.cumsum(count))
        if max(total, other_total) >= _MOST_ROWS:
            summed = summed.astype(object)  # Python's integers
        bins = binned.low.size
        sure = summed[bins - np.searchsorted(encode(binned.low)[::-1], at)] * factor
        possible = summed[bins - np.searchsorted(encode(binned.high)[::-1], at)] * factor
        return sure, possible

    sure, possible = reached(one, rows, other_total)
    other_sure, other_possible = reached(other, other_rows, total)
    least = max(0, (sure - other_possible).max(), (other_sure - possible).max())
    most = max((possible - other_sure).max(), (other_possible - sure).max())
    pairs = total * other_total
    return _outward(Fraction(int(least), pairs), Fraction(int(most), pairs))


def _outward(low: Fraction, high: Fraction) -> Bounds:
    return Bounds(rounded(low, -inf), rounded(high, inf))


# Expected metrics, and the test of the same risk at each score


def _with_figures(
    compared: Drift, known: Sample, new: Sample, labelled: bool, named: dict[str, Any], seed: int
) -> Drift:
    """Add expected metrics and, if the current rows have labels, observed metrics and the p-value `risk_p`."""
    counts = new.counts
    of_classes = np.column_stack([counts.pos, counts.neg]).astype(np.int64)
    scores = np.repeat(counts.threshold, of_classes.sum(axis=1))
    try:
        cases = expected(known.data, {known.name: scores}, random_state=seed)
    except OneClassError:
        return compared
    figures = {}
    for name, statistic in named.items():
        observed = estimate_of(new.data, statistic) if labelled and counts.n_pos and counts.n_neg else None
        figures[name] = FigureDrift(estimate_of(known.data, statistic), estimate_of(cases, statistic), observed)
    if not labelled:
        return replace(compared, figures=figures)
    positive = np.repeat(np.tile([1, 0], len(counts)), of_classes.ravel())
    return replace(compared, figures=figures, risk_p=_risk_p_value(cases, positive))


def _risk_p_value(cases: ExpectedPredictions, positive: Array) -> float:
    """Test whether the labels agree with the expected probabilities, and return the p-value; see Notes of `drift`."""
    weighting = cases.weighting
    chance = weighting.chance
    # Without this limit, a single probability near 0 or 1 could determine the result.
    least = 0.5 / chance.size
    logit = special.logit(chance.clip(least, 1 - least))
    design = np.column_stack([np.ones(chance.size), logit - logit.mean()])
    score = design.T @ (positive - chance)
    of_labels = design.T @ (design * (chance * (1 - chance))[:, np.newaxis])
    moves = weighting.replicates @ sum_by(weighting.cell, design, weighting.replicates.shape[1])
    variance = of_labels + moves.T @ moves / (len(moves) - 1)
    freedom = np.linalg.matrix_rank(variance, hermitian=True)
    return float(special.chdtrc(freedom, score @ np.linalg.pinv(variance, hermitian=True) @ score))


# Segments


def _by_segment(
    reference: Any, current: Any, model: str | None, adjust: inference.PValueAdjust, tests: _Tests
) -> SegmentDrift:
    """Compare the two samples within each segment that occurs in both."""
    known, new = _parts(reference, "reference"), _parts(current, "current")
    names = [name for name in known if name in new]
    if not names:
        raise InputError("segments", expected="at least one segment that occurs in both samples", got="no such segment")
    parts: list[Drift] = []
    for name in names:
        one = samples_of(known[name], name="reference").one(model)
        other, labelled = _current_sample(new[name], one)
        parts.append(tests.of(one.bins, other.bins, labelled))
    return SegmentDrift(
        array_of(names),
        tuple(parts),
        _adjusted([part.ks_p for part in parts], adjust),
        _adjusted([part.psi_p for part in parts], adjust),
        array_of([name for name in known if name not in new]),
        array_of([name for name in new if name not in known]),
    )


def _parts(data: Any, name: str) -> dict[Hashable, Any]:
    """Return the data of each segment by its name."""
    if isinstance(data, Predictions):
        return dict(data.by_segment())
    if not isinstance(data, BySegment | Mapping):
        expected = "Predictions with segments, or a mapping from segment to data"
        raise InputError(name, expected=expected, got=kind_of(data))
    return dict(data)


def _adjusted(p_values: list[float], adjust: inference.PValueAdjust) -> Array:
    p = np.array(p_values)
    known = ~np.isnan(p)
    if known.any():
        p[known] = inference.adjust_p_values(p[known], adjust)
    return p
