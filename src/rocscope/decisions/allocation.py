"""The allocation file: terms, counts and thresholds of each segment."""
# MERGED-DOC: """Allocation of a shared budget to cases of several segments, and its cost."""

import math
import os
from collections.abc import Hashable
from dataclasses import dataclass
from dataclasses import fields as fields_of
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import deal, listed, numbered
from rocscope._base.json_format import Fields, Format
from rocscope._base.validation import frame_of
from rocscope.core.context import PARTS
from rocscope.core.counts import OperatingPoint
from rocscope.core.predictions import Predictions
from rocscope.core.result import jsonable, number
from rocscope.decisions.allocation_intervals import AllocationSource, RowAmounts, columns_of, interval_of, refitted
from rocscope.decisions.apportionment import RATES, ListedCases, SegmentShares, SegmentUnitCosts, UnitCosts, rate_of
from rocscope.decisions.constraints import scores_of, size_of
from rocscope.decisions.generalization import ChosenEstimate
from rocscope.decisions.plan import Plan, Promise, read_fraction
from rocscope.decisions.randomized import (
    NEAR,
    UNIT,
    Hashes,
    HullVertex,
    Part,
    RandomizedRule,
    draw,
    hashes_of,
    in_units,
    rounded_to,
)
from rocscope.decisions.verification.allocations import verify_allocation
from rocscope.decisions.verification.findings import Verification
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate
from rocscope.inference.proportions import of_share
from rocscope.segments.levels import SegmentLevels

FORMAT = Format("rocscope.allocation", 1, "an allocation", "allocate anew with rocscope.allocate and save that")
_NAMES = (str, int, float, bool)


def content(points: SegmentLevels, parts: SegmentShares, terms: SegmentUnitCosts) -> dict[str, Any]:
    """Return the content that `read` needs, safe for JSON, with fractions as texts."""
    names = listed(points.names)
    if not all(type(name) in _NAMES for name in names):
        raise InputError("save", expected="segments named by texts or numbers", got=type(names[0]).__name__)
    counts = zip(points.n_pos.tolist(), points.n_neg.tolist(), terms.kind.tolist(), names, strict=True)
    segments = [
        {"name": name, "terms": kind, "n_pos": pos, "n_neg": neg, "parts": []} for pos, neg, kind, name in counts
    ]
    for segment, at, share in zip(parts.segment.tolist(), parts.point.tolist(), parts.share, strict=True):
        part: dict[str, Any] = {"share": str(share)}
        if at >= 0:
            score, tp, fp = (axis[at : at + 1].tolist()[0] for axis in (points.threshold, points.tp, points.fp))
            everybody = tp == segments[segment]["n_pos"] and fp == segments[segment]["n_neg"]
            part |= {
                "model": points.models[points.model[at]],
                "score": None if everybody else score,
                "tp": tp,
                "fp": fp,
            }
        segments[segment]["parts"].append(part)
    every = [{field.name: str(getattr(term, field.name)) for field in fields_of(UnitCosts)} for term in terms.every]
    return {"models": points.models, "terms": every, "fixed": str(terms.fixed), "segments": segments}


def read(fields: Fields) -> tuple[SegmentLevels, SegmentShares, SegmentUnitCosts]:
    """Return points, shares and terms from a file, checked for type and range."""
    models = list(fields.texts("models"))
    every = [
        UnitCosts(**{each.name: fraction(term, each.name) for each in fields_of(UnitCosts)})
        for term in fields.objects("terms")
    ]
    segments = fields.objects("segments")
    if not models or not every or not segments:
        fields.refuse("segments", "models, terms and segments")
    kind = np.array([each.whole("terms") for each in segments], np.intp)
    if kind.max() >= len(every):
        fields.refuse("terms", "terms of each segment")
    columns: dict[str, list[Any]] = {name: [] for name in ("score", "model", "tp", "fp")}
    start, owner, point, shares = [0], [], [], []
    for i, segment in enumerate(segments):
        own = segment.objects("parts")
        for part in own:
            owner.append(i)
            shares.append(read_fraction(part, "share"))
            point.append(_add(part, models, columns))
        if not own or sum(shares[len(shares) - len(own) :], Fraction(0)) != 1:
            segment.refuse("parts", "shares whose sum is 1")
        start.append(len(columns["tp"]))
    totals = (_counts([each.number(name, 0) for each in segments]) for name in ("n_pos", "n_neg"))
    score, model, tp, fp = columns.values()
    levels = SegmentLevels(
        np.array(start),
        _column(score),
        _counts(tp),
        _counts(fp),
        *totals,
        names=_column([_name(each) for each in segments]),
        models=models,
        model=np.array(model, np.intp),
    )
    parts = SegmentShares(np.array(owner), np.array(point), shares)
    return levels, parts, SegmentUnitCosts(every, kind, fraction(fields, "fixed"))


def differences(fields: Fields) -> dict[str, float]:
    """Return the largest difference of each rate."""
    found = fields.inner("max_difference", "a difference by rate")
    unknown = [name for name in found.content if name not in RATES]
    return (
        found.refuse(unknown[0], f"one of {', '.join(RATES)}")
        if unknown
        else {name: found.number(name, 0, 1) for name in found.content}
    )


def constraints(fields: Fields) -> tuple[tuple[Any, str], ...]:
    """Return the constraints of segments; none where a file has none."""
    if "subject_to" not in fields.content:
        return ()
    every = fields.objects("subject_to")
    return tuple(
        (None if each.content.get("segment") is None else _name(each, "segment"), each.text("constraint"))
        for each in every
    )


def fraction(fields: Fields, name: str) -> Fraction:
    """Return a number stored as the text of a fraction."""
    return fields.make(name, Fraction, fields.text(name))


def _name(segment: Fields, key: str = "name") -> Any:
    name = segment.content.get(key)
    known = type(name) in _NAMES and not (isinstance(name, float) and not math.isfinite(name))
    return name if known else segment.refuse(key, "a text or a number")


def _add(part: Fields, models: list[str], columns: dict[str, list[Any]]) -> int:
    """Add a part's point to the columns and return its index; −1 for nobody."""
    if "model" not in part.content:
        return -1
    model = part.text("model")
    if model not in models:
        part.refuse("model", f"one of {', '.join(models)}")
    score = part.optional_number("score")  # none where everybody is taken
    columns["score"].append(0 if score is None else score)
    columns["model"].append(models.index(model))
    for name in ("tp", "fp"):
        columns[name].append(part.number(name, 0))
    return len(columns["tp"]) - 1


def _column(values: list[Any]) -> Any:
    """Return values as an array without converting them."""
    if len({type(each) for each in values}) == 1:
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _counts(values: list[Any]) -> Any:
    whole = all(type(each) is int for each in values)
    return np.array(values, np.int64 if whole else np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Plan):
    """A threshold for each segment, jointly optimal within one budget.

    Made by `rocscope.allocate`.

    Attributes
    ----------
    cost : float
        Expected cost of all cases together.
    price : float
        What bounds on the differences between segments cost: how much less the best allocation without them does.
    marginal : float
        What one case more of the capacity, or one unit more of the budget, would save; NaN under such bounds.
    fixed_cost : float
        Of campaigns, which is paid in any case.
    limit : Fraction or None
        The capacity, or what the budget leaves for contacts.
    max_difference : dict from rate to number
    subject_to : tuple of (segment, constraint)
        What a segment keeps by itself; all of them, where the segment is None.
    source : AllocationSource or None
        The data; None where the allocation was read from a file.
    amounts : RowAmounts or None
        Costs that differ from row to row. There is then no tpr and fpr, and the counts of the rules are of rows that
        are part positive, part negative.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, allocate
    >>> segments = {"n": ThresholdCounts([2, 1], [3, 1], [1, 5]), "s": ThresholdCounts([2, 1], [2, 1], [2, 5])}
    >>> allocation = allocate(segments, Context(cost_fn=5), capacity=5)
    >>> allocation.marginal  # of the south's upper four each second saves 5, each other costs 1
    2.0
    """

    file_format = FORMAT

    _points: SegmentLevels
    _parts: SegmentShares
    _terms: SegmentUnitCosts
    cost: float
    price: float
    marginal: float
    fixed_cost: float
    limit: Fraction | None
    in_money: bool
    max_difference: dict[str, float]
    subject_to: tuple[tuple[Hashable, str], ...] = ()
    source: AllocationSource | None = None
    amounts: RowAmounts | None = None

    @property
    def names(self) -> Array:
        """The segments in order."""
        return self._points.names

    @property
    def profit(self) -> float:
        """Expected profit relative to acting on nobody, after fixed costs."""
        return -self.cost - self.fixed_cost

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """Expected true and false positives of each segment, in the sample."""
        parts, segments = self._parts, self.names.size
        some, share = parts.point >= 0, np.array([float(each) for each in parts.share])
        tp, fp = (
            np.bincount(parts.segment[some], share[some] * axis[parts.point[some]], segments)
            for axis in (self._points.tp, self._points.fp)
        )
        return tp, fp

    def _rate(self, name: str) -> Array:
        if self.amounts is not None and name != "depth":
            return np.full(self.names.size, np.nan)
        return rate_of(name, self._points, self._terms, np.arange(self.names.size), *self.counts)

    @property
    def tpr(self) -> Array:
        """Expected true-positive rate of each segment; NaN without positives."""
        return self._rate("tpr")

    @property
    def fpr(self) -> Array:
        """Expected false-positive rate of each segment; NaN without negatives."""
        return self._rate("fpr")

    @property
    def depth(self) -> Array:
        """Expected share of each segment that is predicted positive."""
        return self._rate("depth")

    @property
    def cases(self) -> Array:
        """Expected number of positive predictions in each segment."""
        return self._cases(*self.counts)

    def _cases(self, tp: Array, fp: Array) -> Array:
        pos, neg = (self._terms.column(name, np.arange(self.names.size)) for name in ("pos", "neg"))
        return pos * tp + neg * fp

    def difference(self, rate: str) -> float:
        """Return the largest difference between segments in "tpr", "fpr" or "depth"; NaN where none has the rate."""
        check.check_choice("rate", rate, ("tpr", "fpr", "depth") if self.amounts is None else ("depth",))
        found = self._rate(rate)
        return float(np.ptp(found[~np.isnan(found)])) if not np.isnan(found).all() else math.nan

    @cached_property
    def _begin(self) -> NDArray[np.intp]:
        return self._parts.segment.searchsorted(np.arange(self.names.size + 1))

    def rule(self, name: Hashable) -> RandomizedRule:
        """Return the rule of a segment: one threshold, or several that each decide a share of its cases."""
        if check.check_label(name, "name") not in self._points.keys:
            raise InputError("name", expected="that of a segment that was allocated to", got=check.shown(name))
        return self._rule(self._points.keys[name])

    def rules(self, name: Hashable) -> tuple[Part, ...]:
        """Return the thresholds of a segment's rule with the share of cases each decides."""
        return self.rule(name).parts

    def _rule(self, segment: int) -> RandomizedRule:
        parts = range(self._begin[segment], self._begin[segment + 1])
        ends = tuple(self._end(segment, int(self._parts.point[i])) for i in parts)
        return RandomizedRule(ends, tuple(self._parts.share[i] for i in parts))

    def _end(self, segment: int, at: int) -> HullVertex:
        """Return a point as a model's threshold; −1 is nobody."""
        points = self._points
        n_pos, n_neg = (axis[segment : segment + 1].tolist()[0] for axis in (points.n_pos, points.n_neg))
        if at < 0:
            return HullVertex(points.models[0], OperatingPoint(0, 0, n_pos, n_neg, np.inf))
        tp, fp, threshold = (axis[at : at + 1].tolist()[0] for axis in (points.tp, points.fp, points.threshold))
        threshold = -np.inf if (tp, fp) == (n_pos, n_neg) else threshold
        counts = OperatingPoint(tp, fp, max(n_pos - tp, 0), max(n_neg - fp, 0), threshold)
        return HullVertex(points.models[points.model[at]], counts)

    def predict(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.bool_]:
        """Return which cases are predicted positive: exactly the planned share of each segment.

        Parameters
        ----------
        scores : array of n scores, or mapping from model name to array, Predictions, data frame
        ids : array of n identifiers, optional
            Their hashes break ties; by default the numbers of the rows.
        segment : array of n segments
            Those of the Predictions by default.
        random_state : int, Generator, RandomState or None
            Another one hashes differently.

        Raises
        ------
        InputError
            If there is no segment column, or one of its segments was not allocated to.

        Notes
        -----
        All cases that are passed are drawn together. Numbers of segments are rounded so that their sum is the planned
        one, rounded down, and never beyond the share that the capacity is of all cases; of a budget each is rounded
        down. Ties are broken as by `Decision.predict`. Where the list has more or fewer cases at a threshold than the
        sample, the next best scores fill the number.
        """
        listed_cases = self.listed(scores, segment)
        most = self.numbers(listed_cases)
        return self.drawn(listed_cases, most, hashes_of(ids, listed_cases.code.size, random_state))

    def listed(self, scores: Any, segment: Any = None) -> ListedCases:
        """Return the cases of a list by segment, with the scores that the rules need."""
        column = scores.segment if segment is None and isinstance(scores, Predictions) else segment
        if column is None:
            raise InputError("segment", expected="the segment of each case", got="none")
        column = check.check_column(column, "segment", size_of(scores))
        named, code = numbered("segment", column)
        known = self._points.keys
        unknown = [name for name in listed(named) if name not in known]
        if unknown:
            raise InputError("segment", expected="segments that were allocated to", got=check.listing(unknown))
        segments = np.array([known[name] for name in listed(named)])
        return ListedCases(segments, code, scores_of(self._models(segments.tolist()), scores))

    def drawn(self, cases: ListedCases, most: Array, hashes: Hashes) -> NDArray[np.bool_]:
        """Return the best cases of each segment, so many; segments with one threshold are handled together."""
        segments, code, columns = cases.segments, cases.code, cases.scores
        chosen, parts = np.zeros(code.size, bool), self._begin[segments]
        alone, point = self._begin[segments + 1] == parts + 1, self._parts.point[parts]
        model = np.append(self._points.model, 0)[point]

        def drawn_from(own: Array, draw_own: Any) -> None:
            chosen[own] = draw_own(lambda rows: hashes(own[rows]))

        for name, column in columns.items():
            own = np.flatnonzero((alone & (model == self._points.models.index(name)))[code])
            drawn_from(own, partial(draw, column[own], code[own], most))
        several = np.flatnonzero(~alone[code])
        rows, bounds = deal(code[several], several, most.size)
        for i in np.flatnonzero(~alone & (most > 0)).tolist():
            own = rows[bounds[i] : bounds[i + 1]]
            within = {name: column[own] for name, column in columns.items()}
            drawn_from(own, partial(self._rule(int(segments[i])).draw, int(most[i]), within))
        return chosen

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.intp]:
        """Return the rows that `predict` finds positive, in input order: segments share no ranking.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
        >>> allocation = allocate({"n": north, "s": south})
        >>> allocation.select([2, 2, 1, 1, 2, 1], list("abcdef"), segment=list("nnnnss"))
        array(['a', 'b'], dtype='<U1')
        """
        return np.flatnonzero(self.predict(scores, ids, segment=segment, random_state=random_state))

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self._points.models)

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The segments' names in the form used for lookup."""
        return tuple(self._points.keys)

    @property
    def unit_costs(self) -> list[tuple[float, float, tuple[float, float, float, float], float]]:
        """Per segment: cases per positive and negative row, costs of the four cells, and use of the budget."""
        found = []
        for term in self._terms.every:
            cells = (term.miss - term.hit, term.rest + term.alarm, term.miss, term.rest)
            tp, fp, fn, tn = map(float, cells)
            found.append((float(term.pos), float(term.neg), (tp, fp, fn, tn), float(term.use)))
        return [found[kind] for kind in self._terms.kind.tolist()]

    def verify(self, data: Any, **columns: Any) -> Verification:
        """Check every claim of the allocation against data: Predictions with segments, or models by segment.

        All counts are made anew. A linear program over all thresholds of all segments says what is cheapest.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [3, 1], [1, 3]), ThresholdCounts([2, 1], [1, 1], [1, 5])
        >>> allocate({"n": north, "s": south}, capacity=3).verify({"n": north, "s": south}).proves
        True
        """
        return verify_allocation(self, self._labelled(data, columns))

    @property
    def needs(self) -> tuple[str, ...]:
        models = dict.fromkeys(
            self._points.models[i] for i in self._points.model[self._parts.point[self._parts.point >= 0]]
        )
        return tuple(models) or (self._points.models[0],)

    @property
    def by_segment(self) -> bool:
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.amounts is None else columns_of(self.amounts.given)

    @property
    def promise(self) -> Promise:
        every, (tp, _) = np.arange(self.names.size), self.counts
        left = float(self._terms.total("left", every, self._points.n_pos, self._points.n_neg))
        cases = float(self.cases.sum())
        found = float((self._terms.column("pos", every) * tp).sum()) if self.amounts is None else math.nan
        return Promise(found / cases, (left - self.cost) / cases, self.fixed_cost) if cases else Promise(math.nan, 0.0)

    def gains(self, positive: Array, amounts: Any, segment: Any = None) -> Array:
        if self.amounts is not None:
            return self.amounts.gains(positive, amounts) / PARTS
        code = np.array([self._points.keys[name] for name in listed(segment)], np.intp)
        hit, alarm = (self._terms.column(name, code) for name in ("hit", "alarm"))
        return float(self._terms.largest) * np.where(positive, hit, -alarm)

    def strata(self, scores: Any, segment: Any = None) -> NDArray[np.intp]:
        column = scores.segment if segment is None and isinstance(scores, Predictions) else segment
        named, code = numbered("segment", check.check_column(column, "segment", size_of(scores)))
        columns, found = scores_of(self._models(list(range(self.names.size))), scores), np.full(code.size, -1)
        for i, name in enumerate(listed(named)):
            own = np.flatnonzero(code == i)
            within = self.rule(name).strata({model: each[own] for model, each in columns.items()}, by_number=True)
            found[own] = within + found.max(initial=-1) + 1
        return found

    def said(self, chosen: int, cases: int) -> str:
        expected = f"{number(round(float(self.cases.sum()), 9))} were planned in {self.names.size} segments"
        return f"{super().said(chosen, cases)}: {expected}"

    def interval(self, level: float = 0.95, *, random_state: Any = 0, **_: Any) -> ChosenEstimate:
        """Return the expected cost on new cases of the same segments, with an interval.

        Parameters
        ----------
        level : float
        random_state : int, Generator, RandomState or None
            Draws the folds.

        Notes
        -----
        Thresholds are chosen anew on nine tenths of the cases and applied to the rest: ten folds, five times. As
        exactly the planned number is acted on, what is found beyond the limit counts at its marginal value. Weighted or
        grouped rows, several models of counts and a plan from a file have an interval for the thresholds as given,
        which is not `reliable`. See `rocscope.decisions.allocation.new_cases.interval_of` for the formula.
        """
        found = refitted([self], self.source, self.limit, check.seed_of(random_state))
        return interval_of(self, [self], level, found)

    @property
    def totals(self) -> tuple[Array, Array]:
        """Positives and negatives of each segment, in the sample."""
        return self._points.totals

    @property
    def terms(self) -> SegmentUnitCosts:
        """Costs, gains and use of the limit for a case of each segment."""
        return self._terms

    def difference_interval(self, rate: str, level: float = 0.95) -> Estimate:
        """Return how far segments differ in a rate on new cases, with an interval for the thresholds as they are.

        Parameters
        ----------
        rate : {"tpr", "fpr", "depth"}
        level : float

        Notes
        -----
        Each of m segments has Wilson's interval at level 1 − (1 − level)/m, so that all hold together; the difference
        of the highest and the lowest rate then lies between max(0, max low − min high) and max high − min low. Segments
        without cases of the class have no rate. Weighted rows count as so many cases.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, allocate
        >>> north, south = ThresholdCounts([2, 1], [30, 10], [10, 30]), ThresholdCounts([2, 1], [10, 10], [10, 50])
        >>> allocate({"n": north, "s": south}).difference_interval("tpr")
        Estimate(0.75, 95 % interval 0.374 to 0.8694, Wilson at once, n=60)
        """
        value, rates, points = self.difference(rate), self._rate(rate), self._points
        totals = {"tpr": points.n_pos, "fpr": points.n_neg}.get(rate, points.n_pos + points.n_neg)
        rates, totals, level = rates[known := ~np.isnan(rates)], totals[known], check.check_level(level)
        low, high = of_share(rates * totals, totals, "wilson", 1 - (1 - level) / max(rates.size, 1))
        ends = max(float(low.max() - high.min()), 0.0), float(high.max() - low.min())
        return Estimate(value, *ends, level=level, method="Wilson at once", n=float(totals.sum()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Allocation":
        """Read an allocation that `save` wrote; see `rocscope.load_plan`."""
        fields = FORMAT.read(path)
        found = cls.of_fields(fields)
        fields.require_same(fields.make("", found.stored))
        return found

    @classmethod
    def of_fields(cls, fields: Fields) -> "Allocation":
        """Return what the fields of a file say, which `stored` may say otherwise."""
        exact = fields.inner("exact", "terms, counts and thresholds")
        points, parts, terms = fields.make("exact", read, exact)
        if fields.number("fixed_cost") != float(terms.fixed):
            fields.refuse("fixed_cost", f"{float(terms.fixed):g}, as under exact")
        numbers: dict[str, Any] = {name: fields.number(name) for name in ("cost", "price", "fixed_cost")}
        marginal = fields.optional_number("marginal")
        limit = None if exact.content.get("limit") is None else fraction(exact, "limit")
        in_money = fields.take("in_money", bool, "true or false")
        if in_money and limit is None:
            fields.refuse("in_money", "a limit beside it")
        return cls(
            points,
            parts,
            terms,
            **numbers,
            marginal=math.nan if marginal is None else marginal,
            limit=limit,
            in_money=in_money,
            max_difference=differences(fields),
            amounts=RowAmounts.read(fields.inner("amounts", "costs by row")) if "amounts" in fields.content else None,
            subject_to=constraints(fields),
        )

    def stored(self) -> dict[str, Any]:
        exact = content(self._points, self._parts, self._terms)
        limit = None if self.limit is None else str(self.limit)
        amounts = {} if self.amounts is None else {"amounts": jsonable(self.amounts.stored())}
        return self.to_dict() | {"in_money": self.in_money, "exact": exact | {"limit": limit}} | amounts

    def _models(self, segments: list[int]) -> list[str]:
        if len(self._points.models) == 1:
            return self._points.models
        return list(dict.fromkeys(part.model for segment in segments for part in self._rule(segment).parts))

    def planned(self, cases: ListedCases) -> list[int]:
        """Return how many cases each segment's rule takes of a list on average, in multiples of 1/`UNIT`."""
        return cases.planned(self._points, self._parts, self._terms, self._begin)

    def numbers(self, cases: ListedCases, *, down: bool = False) -> Array:
        """Return the number of cases to select in each segment; all rounded down, or with the sum that is planned."""
        planned = self.planned(cases)
        if self.in_money or down:
            return np.array([(each + NEAR) // UNIT for each in planned])
        total = sum(planned)
        if self.limit is not None:
            in_sample = self._terms.total("cases", np.arange(self.names.size), self._points.n_pos, self._points.n_neg)
            most = in_units(self.limit * int(cases.sizes.sum()) / in_sample)
            if total > most + NEAR:
                planned, total = [each * most // total for each in planned], most
        return np.array(rounded_to((total + NEAR) // UNIT, planned))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per segment: its rule and the expected results.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        tp, _ = self.counts
        columns = {
            "segment": self.names,
            "rule": np.array([self._rule(segment).shares for segment in range(self.names.size)]),
            "cases": self.cases,
            "tp": self._terms.column("pos", np.arange(self.names.size)) * (tp if self.amounts is None else np.nan),
            "tpr": self.tpr,
            "fpr": self.fpr,
            "depth": self.depth,
        }
        return frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return cost, price and the rules of all segments, safe for JSON."""
        names = ("cost", "price", "marginal", "profit", "fixed_cost", "max_difference")
        limit = None if self.limit is None else float(self.limit)
        columns = [self.names, self.cases, self.tpr, self.fpr, self.depth]
        rows = [
            dict(zip(("segment", "cases", "tpr", "fpr", "depth", "rules"), (*row, rules), strict=True))
            for *row, rules in zip(
                *(column.tolist() for column in columns), map(self._plain, range(len(self.names))), strict=True
            )
        ]
        kept = [{"segment": name, "constraint": text} for name, text in self.subject_to]
        asked = {"subject_to": kept} if kept else {}
        return jsonable({name: getattr(self, name) for name in names} | asked | {"limit": limit, "segments": rows})

    def _plain(self, segment: int) -> list[dict[str, Any]]:
        parts = self._rule(segment).parts
        return [{"share": float(each.share), "model": each.model, "threshold": each.threshold} for each in parts]

    def __repr__(self) -> str:
        segments = f"{self.names.size} segment{'s' * (self.names.size != 1)}"
        facts = [segments, f"{number(round(float(self.cases.sum()), 9))} cases", f"cost={self.cost:.6g}"]
        if self.max_difference or self.subject_to:
            facts.append(f"price of bounds={self.price:.6g}")
        if self.marginal > 0:
            facts.append(f"one {'unit' if self.in_money else 'case'} more saves {self.marginal:.6g}")
        return f"Allocation({', '.join(facts)})"
