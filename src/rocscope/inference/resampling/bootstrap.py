"""Bootstrap intervals of any function of counts.

The acceleration of BCa: how skew the influence of single units on a statistic is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rocscope._base import special
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope._base.progress import Progress
from rocscope.core.counts import ThresholdCounts
from rocscope.core.result import jsonable
from rocscope.curves.roc_curve import auc
from rocscope.errors import InputError, warn
from rocscope.figures.registry import spelled, statistic_named
from rocscope.inference.estimate import Comparison, Comparisons, Estimate
from rocscope.inference.hypothesis import Adjust, Hypothesis, compare_each_two
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.reliability import FEW_RESAMPLED
from rocscope.inference.resampling.draws import (
    AREAS,
    Design,
    Statistic,
    Tally,
    counts_of,
    design_of_counts,
    design_of_rows,
    replicate,
    tally_all,
)
from rocscope.sample import Models, Sample, Samples, samples_of

_MOST_GROUPS = 1_000  # left out in turn at most, for the skewness that BCa needs


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out values of a statistic for the units (or groups) of one stratum, and their multiplicities."""

    values: Array
    frequency: Array


def leave_one_out(design: Design, statistic: Statistic) -> list[LeftOut]:
    """Return the leave-one-out values of each stratum, without undefined ones."""
    found = []
    for stratum in design.strata:
        values, frequency = _left_out(design, statistic, stratum)
        known = ~np.isnan(values).any(axis=1)
        found.append(LeftOut(values[known], frequency[known]))
    return found


def _acceleration(parts: Iterable[tuple[LeftOut, Array]]) -> float:
    """Return the acceleration of a linear combination of statistics, over all strata.

    Notes
    -----
    a = Σ d³ / (6·(Σ d²)^1.5), where d = (mean of the left-out values in the stratum) − (left-out value)
    (Davison & Hinkley 1997, §5.3). Zero where nothing varies.

    Examples
    --------
    >>> left_out = LeftOut(np.array([[1.0], [1.0], [4.0]]), np.array([1, 1, 1]))
    >>> _acceleration([(left_out, np.array([1.0]))])
    -0.06804138174397717
    """
    cubes = squares = 0.0
    for left_out, coefficients in parts:
        values, frequency = left_out.values @ coefficients, left_out.frequency
        if not frequency.any():
            continue
        deviation = frequency @ values / frequency.sum() - values
        squares += float(frequency @ deviation**2)
        cubes += float(frequency @ deviation**3)
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _left_out(design: Design, statistic: Statistic, stratum: slice) -> tuple[Array, Array]:
    """Return the statistic without each unit (or group) of a stratum, and the units' multiplicities."""
    units = np.flatnonzero(design.frequency[stratum]) + stratum.start
    frequency = design.frequency[units]
    if statistic.function is None and design.one_row_a_unit:
        tallied = tally_all(design, design.frequency[None, :])
        columns = [_areas_without_a_row(design.tallies[model], *counts) for model, counts in tallied.items()]
        return np.column_stack(columns)[units], frequency
    if units.size <= _MOST_GROUPS:
        removed = (np.arange(units.size), units)
        return _without(design, statistic, removed, units.size), frequency
    drawn = np.repeat(units, frequency)
    group = np.random.default_rng(0).permutation(drawn.size) % _MOST_GROUPS
    return _without(design, statistic, (group, drawn), _MOST_GROUPS), np.ones(_MOST_GROUPS, np.int64)


def _without(design: Design, statistic: Statistic, removed: tuple[Array, Array], groups: int) -> Array:
    group, unit = removed
    parts = []
    for first in range(0, groups, design.chunk):
        last = min(first + design.chunk, groups)
        kept = np.tile(design.frequency, (last - first, 1))
        mine = (group >= first) & (group < last)
        np.subtract.at(kept, (group[mine] - first, unit[mine]), 1)
        parts.append(statistic.of_matrices(tally_all(design, kept), design, compiled=False))
    return np.concatenate(parts)


def _areas_without_a_row(tally: Tally, pos: Array, neg: Array) -> Array:
    """Return the AUC without one row of each unit, (P·A − placement)/(P − 1), without recounting."""
    pos, neg = pos[0], neg[0]
    n_pos, n_neg = pos.sum(), neg.sum()
    tp, fp = np.cumsum(pos), np.cumsum(neg)
    of_positives = (2 * (n_neg - fp) + neg) / 2  # negatives that a positive of this level is ranked right against
    of_negatives = (2 * tp - pos) / 2
    right = pos @ of_positives
    target, weight = tally.of_units()
    credit = np.concatenate([of_positives, of_negatives])[target] * weight
    is_pos = target < tally.threshold.size
    with np.errstate(invalid="ignore", divide="ignore"):
        return (right - credit) / np.where(is_pos, (n_pos - weight) * n_neg, n_pos * (n_neg - weight))


Interval = Literal["percentile", "basic", "bca"]

INTERVALS = ("percentile", "basic", "bca")
_ASKED = ("auto", *INTERVALS)
_MOST_FAILED = 0.05  # of the replicates: those that failed may be the extreme ones


@dataclass(frozen=True, repr=False)
class BootstrapEstimate(Estimate):
    """An Estimate with its bootstrap replicates.

    Attributes
    ----------
    replicates : array
        The statistic of each replicate; NaN where it gave no number.
    failed : int
        How many gave none.
    """

    replicates: Array = field(default_factory=lambda: np.empty(0))
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the facts and the number of replicates, safe for JSON."""
        return jsonable(vars(self) | {"replicates": self.replicates.size})


@answering
def bootstrap(
    data: Models,
    statistic: str | Callable[[Any], Any],
    *,
    model: str | None = None,
    replicates: int = 2000,
    method: Interval | Literal["auto"] = "auto",
    level: float = 0.95,
    stratified: bool = False,
    groups: Any = None,
    weights: WeightKind = "auto",
    random_state: Any = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> BootstrapEstimate:
    """Compute a bootstrap interval of any statistic of counts.

    Parameters
    ----------
    data, model : data of one model, or Predictions of several
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`.
    statistic : function, or the name of a figure such as "auc"
        Of the ThresholdCounts where there is one model, and of a dict from model name to ThresholdCounts where there
        are several, which come from the same rows in every replicate; returns a number.
    replicates : int
    method : {"auto", "percentile", "basic", "bca"}
        Quantiles of the replicates; the same mirrored at the estimate; quantiles corrected for bias and skewness, which
        "auto" means for the AUC and figures by name. Of any other function it means "percentile": nothing says that
        the function moves smoothly when a row is left out.
    level : float
        Confidence level.
    stratified : bool
        Draw positives and negatives (or groups of each kind) apart, so that their numbers stay: for a sample that
        was collected so. Otherwise the class mix varies too.
    groups : array of n labels, optional
        The patient or customer that a row belongs to; whole groups are drawn. By default the groups of the
        Predictions; False draws rows one by one.
    weights : {"auto", "frequency", "sampling"}
        Whether a weight is a number of equal rows, each of which may be drawn; or one row, which brings its weight
        along, which is what "auto" means but for tables of counts; see `rocscope.auc_interval`.
    random_state : int, Generator, RandomState or None
        The same number gives the same replicates, whatever the number of threads.
    threads : int, optional
        All processors by default; only the statistic `rocscope.auc` gains by them.
    progress : bool, None or function
        None or True: a bar on stderr after a second, where that is a terminal; a function is called with the numbers
        of replicates done and in all.

    Returns
    -------
    BootstrapEstimate
        The statistic with its interval and replicates.

    Raises
    ------
    InputError
        If there are no replicates, the level means nothing, or no replicate gives a number.

    Warns
    -----
    RocscopeWarning
        If some replicates give NaN or lack a class: they are counted (`failed`) and left out. If all are equal.

    Notes
    -----
    Replicates are drawn as multinomial counts over ranked levels, never sorted again; `rocscope.auc` is recognised and
    takes no call for each. The acceleration of BCa comes from leaving out one unit at a time, in closed form for the
    AUC, and in at most 1,000 groups of units for anything else.

    How often 95 % intervals of the AUC cover, by simulation of binormal samples with areas of 0.6 to 0.95 and 50 to
    1,000 rows, stratified, 999 replicates:

    - "bca": 93.5 to 97.2 % with classes of equal size; with 10 % positives 86.4 % at worst (0.95, 5 among 50 rows) and
      92.7 to 95.6 % with 100 among 1,000.
    - "percentile": 92.8 to 95.5 % with classes of equal size from 100 rows on for areas up to 0.9; 88.5 % for 0.95 and
      25 of each class, 76.9 % for 0.95 and 5 positives among 50 rows.
    - "basic": 81.7 % for 0.95 and 25 of each class, 63.6 % for 0.95 and 5 among 50; not for rates near 0 or 1.

    Of an AUC, an interval that ends short of that of `auc_interval` by a tenth of its width says that it is not
    reliable. With 30 positives, 300 negatives and an AUC of 0.95, "percentile" covers 86 % and "bca" 89 %.

    Not valid for extremes (the largest score) and too short for what is chosen to be best on the same data: a best
    threshold is steadier in replicates than in truth.

    References
    ----------
    Efron & Tibshirani 1993, ch. 12–14; Davison & Hinkley 1997, §5.3 (acceleration of stratified samples).

    Examples
    --------
    >>> from rocscope import ThresholdCounts
    >>> counts = ThresholdCounts.from_scores([1, 1, 0, 1, 0, 1, 0, 0] * 5, list(range(40, 0, -1)))
    >>> bootstrap(counts, lambda c: c.at(20.5).accuracy, replicates=500)
    BootstrapEstimate(0.55, 95 % interval 0.4 to 0.7, bootstrap (percentile, 500 replicates), n=40)
    """
    statistic = spelled(statistic)
    named = isinstance(statistic, str)
    if named:
        figure, statistic = statistic_named(statistic)
        statistic = auc if figure.name == "auc" else statistic
    if not callable(statistic):
        hint = "such as rocscope.auc or lambda counts: counts.at(0.5).accuracy"
        raise InputError("statistic", expected="a function of counts", got=repr(statistic), hint=hint)
    level = check.check_level(level)
    check.check_choice("method", method, _ASKED)
    if method == "auto":
        method = "bca" if named or statistic is auc else "percentile"
    design = design_of(data, model, stratified=stratified, groups=groups, weights=weights)
    if named and len(design.tallies) > 1:
        got = f"{len(design.tallies)} models"
        raise InputError("statistic", expected="one model for a figure by its name", got=got, hint="pass model=")
    plan = AREAS if statistic is auc and len(design.tallies) == 1 else Statistic(_scalar(statistic, design), 1)
    observed = at_sample(design, plan)
    drawn = replicate(design, plan, replicates, random_state=random_state, threads=threads, progress=progress)
    left_out = leave_one_out(design, plan) if method == "bca" else []
    skew = _acceleration((part, np.ones(1)) for part in left_out)
    found = interval(observed[0], drawn[:, 0], method, level, design, skew)
    if plan is not AREAS or not found.reliable:
        return found
    from rocscope.inference.areas.auc import short_of  # these load SciPy, for which other callers need not wait
    from rocscope.inference.areas.placements import auc_sample

    size = auc_sample(samples_of(data, name="data").one(model), groups=groups, weights=weights).size(0)
    return replace(found, reason=size.reason or short_of(size, (found.low, found.high), level))


def design_of(
    data: Any, model: str | None = None, *, stratified: bool, groups: Any = None, weights: WeightKind = "auto"
) -> Design:
    """Return the resampling design of any data: common rows of all models if possible."""
    samples = samples_of(data, name="data")
    if samples.rows is not None and model is None:
        return design_of_rows(samples.rows, stratified=stratified, groups=groups, weights=weights)
    return design_of_sample(samples.one(model), stratified=stratified, groups=groups, weights=weights)


def design_of_sample(sample: Sample, *, stratified: bool, groups: Any, weights: WeightKind) -> Design:
    """Return the resampling design of one model's data."""
    rows = sample.rows if groups is None or groups is False else sample.require_rows("groups")
    if rows is None:
        return design_of_counts(sample.counts, stratified=stratified)
    return design_of_rows(rows, stratified=stratified, groups=groups, weights=weights)


def _scalar(statistic: Callable[[Any], Any], design: Design) -> Callable[[Any], Any]:
    if len(design.tallies) > 1:
        return statistic
    model = next(iter(design.tallies))
    return lambda counts: statistic(counts[model])


def at_sample(design: Design, statistic: Statistic) -> Array:
    """Return the statistic on the data themselves, so that its errors are raised here."""
    counts = {
        model: counts_of(design.tallies[model].threshold, pos[0], neg[0])
        for model, (pos, neg) in tally_all(design, design.frequency[None, :]).items()
    }
    found = [auc(each) for each in counts.values()] if statistic.function is None else statistic.function(counts)
    return np.atleast_1d(np.asarray(found, dtype=np.float64))


def interval(
    value: float, drawn: Array, method: Interval, level: float, design: Design, skew: float = 0.0
) -> BootstrapEstimate:
    """Return an estimate with an interval from replicates; undefined replicates are counted and dropped."""
    usable = drawn[~np.isnan(drawn)]
    failed = drawn.size - usable.size
    if not usable.size:
        raise InputError("statistic", expected="a number in some replicates", got=f"NaN in all {drawn.size}")
    if failed:
        warn(f"{failed} of {drawn.size} replicates gave no number and are left out of the interval")
    if usable.size > 1 and (usable == usable[0]).all():
        warn(f"all replicates are {usable[0]:g}: the bootstrap cannot say how sure that is")
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _bca_tails(value, usable, tails, skew)
    low, high = np.quantile(usable, tails, method=quantile_method(usable))
    if method == "basic":
        low, high = 2 * value - high, 2 * value - low
    facts = ", ".join(part for part in (method, f"{drawn.size} replicates", design.note) if part)
    spread = float(usable.std(ddof=1)) if usable.size > 1 and np.isfinite(usable).all() else float("nan")
    name = f"bootstrap ({facts})"
    return BootstrapEstimate(
        float(value),
        float(low),
        float(high),
        level,
        name,
        design.n,
        spread,
        _doubt(usable, drawn.size, design),
        replicates=check.read_only(drawn),
        failed=failed,
    )


def _doubt(usable: Array, drawn: int, design: Design) -> str:
    """Return why the interval is not reliable; empty if it is."""
    if usable.size > 1 and (usable == usable[0]).all():
        return "all replicates are equal"
    if usable.size < (1 - _MOST_FAILED) * drawn:
        return f"only {usable.size} of {drawn} replicates gave a number"
    few = design.smallest_class
    return f"a class has {few:g} rows only, fewer than {FEW_RESAMPLED}" if few < FEW_RESAMPLED else ""


def quantile_method(drawn: Array) -> Any:
    """Return NumPy's method for quantiles: interpolated, unless some replicates are infinite (thresholds, ratios)."""
    return "inverted_cdf" if np.isinf(drawn).any() else "linear"


def _bca_tails(value: float, usable: Array, tails: Array, skew: float) -> Array:
    """Return the probabilities at which BCa takes quantiles; replicates equal to the estimate count half."""
    below = ((usable < value).mean() + (usable <= value).mean()) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * usable.size), 1 - 1 / (2 * usable.size)))
    reach = bias + special.ndtri(tails)
    return special.ndtr(bias + reach / (1 - skew * reach))


def differences(
    arms: Samples,
    statistic: Callable[[ThresholdCounts], float],
    hypothesis: Hypothesis,
    adjust: Adjust,
    *,
    groups: Any = None,
    weights: WeightKind = "auto",
    replicates: int = 2000,
    method: Interval = "percentile",
    stratified: bool = False,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Comparisons:
    """Compare a statistic between models on the same rows, or between independent samples."""
    check.check_choice("method", method, INTERVALS)
    if arms.rows is not None:
        designs = [design_of_rows(arms.rows, stratified=stratified, groups=groups, weights=weights)]
    else:
        designs = [
            design_of_sample(arm, stratified=stratified, groups=groups.get(name), weights=weights)
            for name, arm in arms.items()
        ]
    names = list(arms)
    plans = [_each(statistic, design) for design in designs]
    seed, streams = check.seed_of(random_state), [None] if len(designs) == 1 else range(len(designs))
    values = np.concatenate([at_sample(*pair) for pair in zip(designs, plans, strict=True)])
    drawn = np.column_stack(
        [
            replicate(design, plan, replicates, random_state=seed, stream=own, threads=threads, progress=progress)
            for design, plan, own in zip(designs, plans, streams, strict=True)
        ]
    )
    left_out = [leave_one_out(*pair) if method == "bca" else [] for pair in zip(designs, plans, strict=True)]
    sample = _Sample(names, designs, values, drawn, left_out, method, hypothesis)
    known = drawn[~np.isnan(drawn).any(axis=1)]
    covariance = np.atleast_2d(np.cov(known, rowvar=False)) if len(known) > 1 else np.full((len(names),) * 2, np.nan)
    quantity = getattr(statistic, "__name__", "statistic").replace("<lambda>", "statistic")
    estimates = {name: sample.estimate(i) for i, name in enumerate(names)}
    return compare_each_two(quantity, estimates, covariance, sample.compare, adjust)


def _each(statistic: Callable[[ThresholdCounts], Any], design: Design) -> Statistic:
    if statistic is auc:
        return AREAS
    check.check_function(statistic, "statistic")
    return Statistic(lambda counts: [statistic(each) for each in counts.values()], len(design.tallies))


@dataclass(frozen=True)
class _Sample:
    """Values and replicates of m models, with a common design or one each."""

    names: list[str]
    designs: list[Design]
    values: Array
    drawn: Array
    left_out: list[list[LeftOut]]
    method: Interval
    hypothesis: Hypothesis

    @property
    def paired(self) -> bool:
        return len(self.designs) == 1

    def estimate(self, i: int) -> Estimate:
        return self._contrast({i: 1.0})

    def compare(self, i: int, j: int) -> Comparison:
        difference = self._contrast({i: -1.0, j: 1.0})
        method = f"bootstrap, {'paired' if self.paired else 'unpaired'}"
        return self.hypothesis.compare(self.names[i], self.names[j], difference, method=method)

    def _contrast(self, coefficients: dict[int, float]) -> Estimate:
        """Return a linear combination of the models' values with its interval."""
        used, factor = list(coefficients), np.array(list(coefficients.values()))
        value, drawn = float(self.values[used] @ factor), self.drawn[:, used] @ factor
        if self.paired:
            designs, full = self.designs, np.zeros(len(self.names))
            full[used] = factor
            parts = [(part, full) for part in self.left_out[0]]
        else:
            designs = [self.designs[i] for i in used]
            parts = [(part, np.array([c])) for i, c in coefficients.items() for part in self.left_out[i]]
        facts = replace(designs[0], n=sum(design.n for design in designs))
        return interval(value, drawn, self.method, self.hypothesis.level, facts, _acceleration(parts))
