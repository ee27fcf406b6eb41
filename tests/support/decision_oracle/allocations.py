"""Proof of an allocation: counts of each segment, and a linear program over all thresholds."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from decision_oracle.findings import Findings, Proof
from decision_oracle.objective import CELLS, ParsedBound, quotient
from rocscope._base.arrays import Array
from rocscope.errors import InputError
from rocscope.metrics import METRICS
from rocscope.sample import samples_of

_NEAR = 1e-7  # relative, of sums that a linear program finds in floats
STEP = 1e-5  # of the limit, by which it is moved for the marginal value
_PARTS = 10_000  # amounts are in ten-thousandths


@dataclass(frozen=True)
class CountedLevels:
    """Counts at or above every score of one model in one segment, starting with nobody."""

    threshold: Array
    tp: Array
    fp: Array

    @classmethod
    def of(cls, score: Array, positive: Array, negative: Array) -> "CountedLevels":
        kept = positive + negative > 0
        level, place = np.unique(score[kept], return_inverse=True)
        sums = (np.bincount(place, each[kept], level.size) for each in (positive, negative))
        tp, fp = (np.append(0.0, np.cumsum(each[::-1])) for each in sums)
        return cls(level[::-1], tp, fp)

    def at(self, threshold: float) -> int:
        return int(np.count_nonzero(self.threshold >= threshold))


def verify_allocation(plan: Any, data: Any) -> Proof:
    """Check all claims of an allocation against data."""
    found = Findings()
    levels = by_segment(data, plan.models, plan.amounts)
    names = list(plan.keys)
    if not same_segments(found, names, levels):
        return told(found, levels)
    counted = counted_of(found, plan, levels)
    costs = unit_costs(plan)  # by segment: what tp, fp, fn, tn cost, and what a positive and a negative take
    spent, used = spent_and_used(counted, costs)
    scale = _NEAR * max(1.0, abs(spent))
    found.near("cost", plan.cost, spent, scale)
    if plan.amounts is not None:
        _amounts(found, plan, data, costs)
    limit = None if plan.limit is None else float(plan.limit)
    if limit is not None:
        found.holds("limit", used <= limit + _NEAR * max(1.0, limit), f"{used:.9g} are taken")
    differences_of(found, plan, counted, costs)
    floors = floors_of(found, plan, names, counted, costs)
    every = [levels[name] for name in names]
    least = _program(every, counted, costs, limit, plan.max_difference, floors)
    found.holds("no other allocation is cheaper", plan.cost <= least + scale, f"one costs {least:.9g}")
    free = least if not (plan.max_difference or floors) else _program(every, counted, costs, limit, {})
    found.near("price", plan.price, max(plan.cost - free, 0.0), 2 * scale)
    _marginal(found, plan, every, counted, costs, limit, free)
    return told(found, levels)


def unit_costs(plan: Any) -> list[tuple[float, float, tuple[float, float, float, float], float]]:
    """Per segment: cases per positive and negative row, costs of the four cells, and use of the budget."""
    found = []
    for term in plan.terms.distinct:
        cells = (term.miss - term.hit, term.rest + term.alarm, term.miss, term.rest)
        tp, fp, fn, tn = map(float, cells)
        found.append((float(term.pos), float(term.neg), (tp, fp, fn, tn), float(term.use)))
    return [found[kind] for kind in plan.terms.index.tolist()]


def same_segments(found: Findings, names: list[Any], levels: Mapping[Hashable, Any]) -> bool:
    """Return whether the plan and the data have the same segments; refute the plan if not."""
    if strange := sorted(map(str, set(names) ^ set(levels))):
        found.holds("segments", False, f"not in both are {', '.join(strange[:5])}")
    return not strange


def spent_and_used(counted: Iterable[tuple[float, ...]], costs: Iterable[tuple[Any, ...]]) -> tuple[float, float]:
    """Return what the cases of all segments cost, and how much of the limit those acted on take."""
    spent, used = 0.0, 0.0
    for (tp, fp, n_pos, n_neg), (pos, neg, cells, use) in zip(counted, costs, strict=True):
        spent += pos * (cells[0] * tp + cells[2] * (n_pos - tp)) + neg * (cells[1] * fp + cells[3] * (n_neg - fp))
        used += use * (pos * tp + neg * fp)
    return spent, used


def told(found: Findings, levels: Mapping[Hashable, dict[str, CountedLevels]]) -> Proof:
    n = sum(float(next(iter(each.values())).tp[-1] + next(iter(each.values())).fp[-1]) for each in levels.values())
    seen = sum(each.tp.size for models in levels.values() for each in models.values())
    return found.proof(n, seen)


def _amounts(found: Findings, plan: Any, data: Any, costs: Any) -> None:
    """Check that costs are those that make rows of a part of a positive cost what each row does."""
    amounts, (gain, left, weight) = plan.amounts, _gains(data, plan.amounts)
    wide = gain.max() <= amounts.hit + _NEAR and -gain.min() <= amounts.alarm + _NEAR
    found.holds("amounts: hit and alarm", bool(wide), "a row gains or loses more")
    idle = 0.0 if hasattr(amounts.given, "unit_benefit") else float(weight @ left) / float(weight.sum()) / _PARTS
    found.near("amounts: left", amounts.left, idle, _NEAR * max(1.0, abs(idle)))
    found.near("amounts: rows", amounts.rows, float(weight.sum()), _NEAR * amounts.rows)
    scale = _NEAR * max(1.0, abs(amounts.hit), abs(amounts.alarm)) / _PARTS
    for pos, neg, (tp, fp, fn, tn), _ in costs:
        said = (fn - tp - amounts.hit / _PARTS, fp - tn - amounts.alarm / _PARTS, fn - idle, tn - idle)
        right = pos == neg and all(abs(each) <= scale for each in said)
        found.holds("amounts: costs of a case", right, "they are others")


def _gains(data: Any, amounts: Any) -> tuple[Array, Array, Array]:
    """Return what acting on each row gains, and what leaving it costs, in ten-thousandths; and the weights."""
    if not hasattr(data, "y_true"):
        raise InputError("data", expected="Predictions with segments, where costs are columns", got="counts")
    context = amounts.given.context if hasattr(amounts.given, "unit_benefit") else amounts.given
    columns = {}
    for cell in CELLS:
        cost = getattr(context, f"cost_{cell}")
        if isinstance(cost, str) and cost not in data.columns:
            raise InputError("data", expected=f"a column {cost!r}", got="none")
        columns[cell] = np.asarray(data.columns[cost] if isinstance(cost, str) else cost, float) * _PARTS
    acted, left = (np.where(data.y_true, columns[yes], columns[no]) for yes, no in (("tp", "fp"), ("fn", "tn")))
    weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
    return left - acted, left, weight


def by_segment(data: Any, models: tuple[str, ...], amounts: Any = None) -> dict[Hashable, dict[str, CountedLevels]]:
    """Return the levels of each model in each segment, from rows or counts by segment.

    Where there are amounts, each row is counted by parts: as a positive with its gain above the largest loss, and as a
    negative with what it lacks of the largest gain.
    """
    if hasattr(data, "y_true"):
        if data.segment is None:
            raise InputError("data", expected="Predictions with segments", got="none")
        weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
        positive, negative = data.y_true * weight, ~data.y_true * weight
        if amounts is not None:
            gain, _, _ = _gains(data, amounts)
            positive, negative = weight * (gain + amounts.alarm), weight * (amounts.hit - gain)
        levels: dict[Hashable, dict[str, CountedLevels]] = {}
        for name in dict.fromkeys(data.segment.tolist()):
            own = np.array([each == name for each in data.segment.tolist()])
            given = {model: data.scores[model][own] for model in models if model in data.scores}
            levels[name] = {
                model: CountedLevels.of(each, positive[own], negative[own]) for model, each in given.items()
            }
    elif isinstance(data, Mapping):
        levels = {name: _of_counts(each, f"data[{name!r}]") for name, each in data.items()}
    else:
        raise InputError(
            "data", expected="Predictions with segments, or a mapping from segment to models", got=str(type(data))
        )
    if missing := [model for model in models if all(model not in each for each in levels.values())]:
        raise InputError("model", expected=f"scores of {missing[0]!r}", got="none")
    return levels


def _of_counts(data: Any, name: str) -> dict[str, CountedLevels]:
    every = {
        model: sample.points.require_levels("verification") for model, sample in samples_of(data, name=name).items()
    }
    return {
        model: CountedLevels(each.threshold, *(np.append(0.0, axis.astype(float)) for axis in (each.tp, each.fp)))
        for model, each in every.items()
    }


def counted_of(
    found: Findings, plan: Any, levels: Mapping[Hashable, dict[str, CountedLevels]]
) -> list[tuple[float, float, float, float]]:
    """Check the counts of each segment, and return the expected counts of its rule."""
    counted = []
    for name in plan.keys:
        rule, own = plan.rule(name), levels[name]
        n_pos, n_neg = (float(axis[-1]) for axis in (next(iter(own.values())).tp, next(iter(own.values())).fp))
        tp = fp = 0.0
        wrong = []
        for share, end in zip(rule.weights, rule.ends, strict=True):
            if end.model not in own and np.isfinite(end.threshold):
                raise InputError("model", expected=f"scores of {end.model!r} in segment {name!r}", got="none")
            each = own.get(end.model) or next(iter(own.values()))  # everybody is everybody by any model
            at = each.at(end.threshold)
            cells = (each.tp[at], each.fp[at], n_pos - each.tp[at], n_neg - each.fp[at])
            said = (end.point.tp, end.point.fp, end.point.fn, end.point.tn)
            wrong += [a for a, b in zip(said, cells, strict=True) if abs(a - b) > 1e-9 * max(1.0, abs(b))]
            wrong += [] if np.isinf(end.threshold) or end.threshold in each.threshold else ["threshold"]
            tp, fp = tp + float(share) * float(each.tp[at]), fp + float(share) * float(each.fp[at])
        found.holds(f"counts of {name}", not wrong, "others were counted")
        counted.append((tp, fp, n_pos, n_neg))
    return counted


def differences_of(found: Findings, plan: Any, counted: Any, costs: Any) -> None:
    """Check how far segments differ in each rate that is bounded."""
    for rate, most in plan.max_difference.items():
        rates = [each for each in (rate_of(rate, *row) for row in zip(counted, costs, strict=True)) if each is not None]
        apart = max(rates) - min(rates) if rates else 0.0
        found.holds(f"difference of {rate}", apart <= most + 1e-6, f"it is {apart:.6g}")


_Floors = list[tuple[int, ParsedBound]]


def floors_of(found: Findings, plan: Any, names: list[Any], counted: Any, costs: Any) -> _Floors:
    """Check the constraints that segments keep by themselves, and return them by the number of the segment."""
    floors = []
    for segment, text in plan.subject_to:
        bound = ParsedBound.of(text)
        if bound is None or not bound.linear or (segment is not None and segment not in names):
            found.left_open.append(f"constraint {text}")
            continue
        for i in range(len(names)) if segment is None else [names.index(segment)]:
            tp, fp, *totals = counted[i]
            over = beyond(bound, np.array([tp]), np.array([fp]), totals, costs[i])
            if over is not None:
                floors.append((i, bound))
                held = bool(over[0] <= 1e-6 * max(1.0, abs(bound.most)))
                found.holds(f"{text} in {names[i]}", held, f"not so, by {over[0]:.6g}")
    return floors


def beyond(bound: ParsedBound, tp: Array, fp: Array, totals: Any, costs: Any) -> Array | None:
    """Return how far counts are beyond a bound, linear in them; None where the segment has no such figure."""
    (pos, neg, *_), (n_pos, n_neg) = costs, totals
    if (bound.quantity in ("tpr", "fnr") and not n_pos) or (bound.quantity in ("fpr", "tnr") and not n_neg):
        return None
    cells = pos * tp, neg * fp, pos * (n_pos - tp), neg * (n_neg - fp)
    shares = [cell / sum(cells) for cell in cells]
    parts = quotient(bound.quantity, *shares)
    if parts is not None:
        return bound.sign * (parts[0] - bound.most * parts[1])
    if bound.quantity == "cases" or bound.quantity in CELLS:
        value = cells[0] + cells[1] if bound.quantity == "cases" else cells[CELLS.index(bound.quantity)]
    else:
        value = METRICS[bound.quantity](*cells)
    return bound.sign * (value - bound.most)


def rate_of(name: str, counts: tuple[float, ...], costs: tuple[Any, ...]) -> float | None:
    tp, fp, n_pos, n_neg = counts
    if name == "depth":
        pos, neg, *_ = costs
        return (pos * tp + neg * fp) / (pos * n_pos + neg * n_neg)
    found, total = (tp, n_pos) if name == "tpr" else (fp, n_neg)
    return found / total if total else None


def _program(
    levels: list[dict[str, CountedLevels]],
    counted: Any,
    costs: Any,
    limit: float | None,
    differences: Mapping[str, float],
    floors: _Floors = (),  # pyright: ignore[reportArgumentType]
) -> float:
    """Return the lowest cost of all allocations, over all thresholds of all models in each segment."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    cost, use, segment, rates, idle = [], [], [], {name: [] for name in differences}, 0.0
    for i, (models, (_, _, n_pos, n_neg), own) in enumerate(zip(levels, counted, costs, strict=True)):
        pos, neg, cells, take = own
        idle += pos * cells[2] * n_pos + neg * cells[3] * n_neg
        for each in models.values():
            cost.append(pos * (cells[0] - cells[2]) * each.tp + neg * (cells[1] - cells[3]) * each.fp)
            use.append(take * (pos * each.tp + neg * each.fp))
            segment.append(np.full(each.tp.size, i))
            for name, rows in rates.items():
                values = [rate_of(name, (a, b, n_pos, n_neg), own) for a, b in zip(each.tp, each.fp, strict=True)]
                rows.append(np.array([np.nan if value is None else value for value in values]))
    spent, where = np.concatenate(cost), np.concatenate(segment)
    size, extra = spent.size, len(rates)
    column, row, value, most, number = [], [], [], [], 0
    if limit is not None:
        column, row, value = [np.arange(size)], [np.zeros(size, int)], [np.concatenate(use)]
        most, number = [limit], 1
    for j, (name, parts) in enumerate(rates.items()):
        rate = np.concatenate(parts)
        for i in range(len(levels)):
            own = np.flatnonzero((where == i) & ~np.isnan(rate))
            if own.size:
                for sign, bound in ((1, differences[name]), (-1, 0.0)):
                    column += [own, np.array([size + j])]
                    row += [np.full(own.size, number), np.array([number])]
                    value += [sign * rate[own], np.array([-float(sign)])]
                    most.append(bound)
                    number += 1
    for i, bound in floors:
        own, (_, _, *totals) = np.flatnonzero(where == i), counted[i]
        tp, fp = (np.concatenate([getattr(each, axis) for each in levels[i].values()]) for axis in ("tp", "fp"))
        over = beyond(bound, tp, fp, totals, costs[i])
        assert over is not None
        scale = max(1.0, abs(bound.most))
        column.append(own)
        row.append(np.full(own.size, number))
        value.append(over / scale)
        most.append(0.0)
        number += 1
    bounds: dict[str, Any] = {}
    if number:
        entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
        bounds = {"A_ub": coo_array(entries, shape=(number, size + extra)), "b_ub": most}
    each = coo_array((np.ones(size), (where, np.arange(size))), shape=(len(levels), size + extra))
    largest = float(np.abs(spent).max()) or 1.0
    goal = np.append(spent / largest, np.zeros(extra))
    solved = linprog(goal, **bounds, A_eq=each, b_eq=np.ones(len(levels)), method="highs")
    return np.inf if solved.fun is None else float(solved.fun) * largest + idle


def _marginal(
    found: Findings, plan: Any, levels: Any, counted: Any, costs: Any, limit: float | None, free: float
) -> None:
    """Check the saving from one more unit of the budget: the difference of two programs."""
    if (plan.max_difference or plan.subject_to) and np.isnan(plan.marginal):
        found.holds("marginal: none beside bounds on segments", True, "")
        return
    if limit is None:
        found.near("marginal", plan.marginal, 0.0, 1e-12)
        return
    step = STEP * max(1.0, limit)
    saved = (free - _program(levels, counted, costs, limit + step, {})) / step
    slack = 1e-3 * max(1.0, abs(saved))
    if abs(saved - plan.marginal) <= slack:
        found.holds("marginal", True, "")
    else:
        found.left_open.append(f"marginal: {saved:.6g} was found, not {plan.marginal:.6g}")
