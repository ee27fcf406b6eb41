"""Proof of a decision: every claim is checked against data in which every threshold is recounted."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from decision_oracle.findings import CLOSE, Findings, Proof
from decision_oracle.levels import CountsAt, EveryThreshold
from decision_oracle.objective import (
    CELLS,
    LINEAR,
    AtPrevalence,
    CostObjective,
    ParsedBound,
    RowCostObjective,
    exact,
    goodness,
    least_by_lot,
    least_with_reviews,
    objective_of,
    of_all,
)
from rocscope._base.arrays import Array
from rocscope.errors import ColumnError
from rocscope.sample import Models, samples_of

_LOOSELY = 1e-7  # within which a linear program in floats tells no difference
_CLEARLY = Fraction(1, 10**9)  # by which an exact share is lower than one that was rounded
_DEFAULT = 0.5
_FEW, _MOST_TIED = 5, 10_000  # ties that a decision names, and that are compared with them
_BY_HAND = "chosen by hand"
_EVEN = ("youden", "ks", "balanced_accuracy", "macro_average")
_LOW_IS_GOOD = ("fnr", "fpr", "error", "lr_negative", "closest_topleft")
_LONG = 2**62  # products above it are made of Python's integers


def _extreme(pick: Callable[..., Any], up: Array, right: Array, scale: Fraction) -> float:
    """Return the largest or smallest of some slopes; for sums of weights as a fraction."""
    if up.dtype != object:
        slopes = up / right
        return float(slopes.max() if pick is max else slopes.min()) * float(scale)
    found = pick(Fraction(a, b) for a, b in zip(up.tolist(), right.tolist(), strict=True)) * scale
    try:
        return float(found)
    except OverflowError:
        return math.inf


def verify(decision: Any, data: Models) -> Proof:
    """Check all claims of a decision against data."""
    samples = samples_of(data, name="data")
    rules = {name: EveryThreshold.of(name, sample) for name, sample in samples.items()}
    mixtures = [decision.lot, None if decision.review is None else decision.review.rule]
    ends: list[Any] = [end for each in mixtures if each is not None for end in (each.first, each.second)]
    for model in (decision.model, *(end.model for end in ends)):
        if model not in rules:
            raise ColumnError("model", expected=f"one of {list(samples)}", got=repr(model))
    plain, objective = list(rules.values()), objective_of(decision.context, samples, rules)
    # Where costs differ from row to row no model is negated.
    with_negations = plain + [
        rule.negation for rule in plain if rule.level.size > 1 and isinstance(objective, CostObjective)
    ]
    negated = decision.negated or any(end.negated for end in ends)
    # Whether models might be negated, the file says only of those that were.
    tries = (
        _Claims(decision, rules, each, objective).check()
        for each in ((with_negations,) if negated else (plain, with_negations))
    )
    first = next(tries)
    found = first if not first.refuted else next((each for each in tries if not each.refuted), first)
    own, seen = rules[decision.model], sum(rule.tp.size for rule in plain)
    n = sum(own.totals) if own.unit == 1 else sum(own.totals) / own.unit
    return found.proof(n, seen)


class _Claims:
    """The claims of a decision, and the thresholds among which it was chosen."""

    def __init__(
        self,
        decision: Any,
        rules: dict[str, EveryThreshold],
        options: list[EveryThreshold],
        context: CostObjective | RowCostObjective,
    ) -> None:
        self.decision, self.rules, self.options, self.found = decision, rules, options, Findings()
        self.own, self.context = rules[decision.model], context
        self.measured = AtPrevalence(decision.context.target_prevalence, decision.population)
        read = [ParsedBound.of(text) for text in decision.subject_to]
        self.bounds = [bound for bound in read if bound is not None]

    def check(self) -> Findings:
        """Check all claims and return the results."""
        decision = self.decision
        self.counts()
        self.costs()
        self.told()
        if decision.review is not None:
            self.reviewed(decision.review)
        elif len(self.bounds) < len(decision.subject_to):
            self.found.left_open.append(f"constraints: {' and '.join(decision.subject_to)}")
        elif decision.lot is not None:
            self.drawn(decision.lot)
        else:
            self.chosen()
        return self.found

    def told(self) -> None:
        """Check the texts of a decision, and fields that its kind must not have."""
        decision, found = self.decision, self.found
        for note in decision.notes:
            code = getattr(note, "code", "")
            if code == "constant_score":
                levels = self.rules[note.parameters["model"]].level
                found.holds(note, levels.size == 1, "they differ")
            elif code in ("always_right", "not_admissible") and isinstance(self.context, CostObjective):
                right = decision.context.always_right
                found.holds(note, right == note.parameters["action"], "scores matter")
                found.holds("slope_interval: none", decision.slope_interval is None, "no slope makes scores matter")
            elif code == "no_review":
                self._no_review(note.parameters["review"])
        if decision.lot is not None or decision.review is not None:
            nothing = {"slope_interval": decision.slope_interval is None, "lot_cost": decision.lot_cost is None}
            nothing["tied"] = not decision.tied or decision.review is not None
            for name, empty in nothing.items():
                found.holds(f"{name}: none", empty, "a randomised rule or a review has none")
        of_some = bool(self._of_some())
        at = decision.default_point.threshold
        if decision.best_cost_interval is None and not of_some and at != _DEFAULT:
            found.holds("default_point: threshold", False, f"the default threshold is 0.5, not {at:.6g}")

    def _of_some(self) -> list[str]:
        """Return the notes that only ends of score ranges were compared."""
        return [note for note in self.decision.notes if getattr(note, "code", "") == "range_ends_compared"]

    def _no_review(self, review: Any) -> None:
        """Check that no review saves anything at its cost, within its capacity."""
        limit, rules = self._limit(review), self.rules.values()
        most = None if limit is None else float(limit)
        least = min(least_with_reviews(of_all(self.context), rule, review.cost, most) for rule in rules)
        held = self.decision.expected_cost <= least + 1e-5 * max(1.0, abs(least))
        self.found.holds("no review", held, f"one costs {least:.9g}")

    def _limit(self, review: Any) -> Fraction | None:
        """Return the share of the cases that can be looked at; None without a capacity."""
        if review.capacity is None:
            return None
        cases = exact(self.decision.population or sum(self.own.totals) / self.own.unit)
        return min(exact(review.capacity) / cases, Fraction(1))

    @cached_property
    def objective(self) -> CostObjective | RowCostObjective | None:
        """The objective, if it is linear in the counts."""
        zero, one = Fraction(0), Fraction(1)
        if self.decision.criterion in _EVEN:
            return CostObjective(Fraction(1, 2), zero, one, one, zero)
        costs = {"min_cost": self.context, "accuracy": CostObjective(self.context.share, zero, one, one, zero)}
        return costs.get(self.decision.criterion)

    @cached_property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Exact rates of the cases acted on."""
        decision = self.decision
        if decision.lot is not None:
            return self._mixed_rates(decision.lot)
        return self.own.rates(self.own.at(decision.threshold, decision.negated))

    def _mixed_rates(self, mixture: Any) -> tuple[Fraction, Fraction]:
        (up, right), (more, further) = (self._rates(end) for end in (mixture.first, mixture.second))
        weight = mixture.exact_weight
        return up + weight * (more - up), right + weight * (further - right)

    def _rates(self, end: Any) -> tuple[Fraction, Fraction]:
        rule = self.rules[end.model]
        return rule.rates(rule.at(end.threshold, end.negated))

    def _least(self) -> float:
        """Return the lowest cost of all thresholds, without constraints."""
        objective = self.context
        return float(min(self._cost_at(objective, rule, int(objective.losses(rule).argmin())) for rule in self.options))

    @staticmethod
    def _cost_at(objective: CostObjective | RowCostObjective, rule: EveryThreshold, index: int) -> Fraction:
        return objective.cost(rule, *rule.rates(CountsAt(int(rule.tp[index]), int(rule.fp[index]))))

    def counts(self) -> None:
        """Check all fields with the four counts."""
        decision = self.decision
        default = decision.default_point
        self._count("default_point", decision.model, default, default.threshold)
        reviewing = None if decision.review is None else decision.review.rule
        for claim, mixture in (("lot", decision.lot), ("review", reviewing)):
            for end in () if mixture is None else (mixture.first, mixture.second):
                self._count(claim, end.model, end.point, end.threshold, end.negated)
        if decision.lot is None:
            self._count("point", decision.model, decision.point, decision.threshold, decision.negated)
        else:
            self._mix("point", decision.lot, decision.point)
        if decision.review is not None:
            self._mix("review", decision.review.rule, decision.review.point)

    def _count(self, claim: str, model: str, point: Any, threshold: float, negated: bool = False) -> None:
        rule = self.rules[model]
        at, (n_pos, n_neg) = rule.at(threshold, negated), rule.totals
        self.found.next_score(claim, point, rule.next_score(threshold))
        for name, cell in zip(CELLS, (at.tp, at.fp, n_pos - at.tp, n_neg - at.fp), strict=True):
            self.found.equal(f"{claim}: {name} of {model} at {threshold:.6g}", getattr(point, name), cell / rule.unit)

    def _mix(self, claim: str, mixture: Any, point: Any) -> None:
        """Check expected counts in the sample."""
        rule = self.rules[mixture.second.model]
        for name, rate, total in zip(("tp", "fp"), self._mixed_rates(mixture), rule.totals, strict=True):
            self.found.equal(f"{claim}: expected {name}", getattr(point, name), float(rate * total / rule.unit))

    def costs(self) -> None:
        """Check the cost, and the costs of the alternatives."""
        decision, found, own = self.decision, self.found, self.own
        everybody, nobody = (Fraction(1), Fraction(1)), (Fraction(0), Fraction(0))
        default = own.rates(own.at(decision.default_point.threshold, False))
        rates = {"default_cost": default, "treat_all_cost": everybody, "treat_none_cost": nobody}
        if decision.review is None:
            rates["expected_cost"] = self.rates
        for name, (tpr, fpr) in rates.items():
            found.equal(name, getattr(decision, name), float(self.context.cost(own, tpr, fpr)))
        least = self._least()
        if decision.best_cost_interval is None:
            found.equal("hull_cost", decision.hull_cost, least)
        else:
            low, high = decision.best_cost_interval
            within = low - CLOSE <= least <= min(high, decision.hull_cost) + CLOSE
            found.holds("best_cost_interval", within, f"the best costs {least:.9g}")
        value = self._criterion_value()
        by_hand = decision.criterion == _BY_HAND or value is None or math.isnan(value)
        if value is not None and not (by_hand and math.isnan(decision.criterion_value)):
            found.equal("criterion_value", decision.criterion_value, value)

    def _criterion_value(self) -> float | None:
        decision, own = self.decision, self.own
        if decision.criterion == "min_cost":
            return decision.expected_cost
        n, share = sum(own.totals) / own.unit, float(self.context.positives(own))
        tpr, fpr = (float(rate) for rate in self.rates)
        shares = (share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr))
        tp, fp, fn, tn = (np.array([n * each]) for each in shares)
        value = goodness(decision.criterion, (tp, fp, fn, tn))
        return None if value is None else float(value[0])

    def chosen(self) -> None:
        """Check that no admissible threshold is better, the ties, and the ranges in which this holds."""
        decision, found = self.decision, self.found
        allowed = [(rule, self.measured.admitted(self.bounds, rule, len(self.options))) for rule in self.options]
        broken = [text for text, bound in zip(decision.subject_to, self.bounds, strict=True) if not self._keeps(bound)]
        found.holds("subject_to", not broken, f"not so: {' and '.join(broken)}")
        if not any(mask.any() for _, mask in allowed):  # no threshold keeps them, so none is better or worse
            return
        if said := self._of_some():
            found.left_open.append(f"that it is best: {said[0]}")
            return
        if self.objective is not None:
            self._cheapest(self.objective, [(rule, mask) for rule, mask in allowed if mask.any()])
        elif decision.criterion != _BY_HAND:
            self._best(allowed)
        if decision.slope_interval is not None:
            self._is_within(decision.slope_interval)
            ends = zip(("lowest", "highest"), decision.slope_interval, self._slopes(allowed), strict=True)
            for end, said, slope in ends:
                found.equal(f"slope_interval: {end}", said, slope)
        self._randomized_cost()

    def _is_within(self, slopes: tuple[float, float]) -> None:
        """Check that the slope of the objective is one of those for which the decision is best."""
        if isinstance(self.objective, CostObjective) and self.objective.hit > 0:
            share = self.objective.positives(self.own)
            slope = float((1 - share) * self.objective.alarm / (share * self.objective.hit))
            within = slopes[0] * (1 - CLOSE) <= slope <= slopes[1] * (1 + CLOSE)
            self.found.holds("slope_interval: holds the present slope", within, f"that is {slope:.9g}")

    def _randomized_cost(self) -> None:
        """Check the cost of the best randomised rule, if the decision states it."""
        decision, found, said = self.decision, self.found, self.decision.lot_cost
        if not self.bounds or self.objective is None or isinstance(self.context, RowCostObjective):
            if said is not None:
                found.holds(
                    "lot_cost: none", False, "no randomised rule is compared without linear objective and constraints"
                )
            return
        by_cost = decision.criterion == "min_cost" and all(bound.linear for bound in self.bounds)
        if said is None and not by_cost:
            return
        if not all(bound.linear for bound in self.bounds):
            found.left_open.append("lot_cost")
            return
        least = least_by_lot(of_all(self.context), self.options, self.bounds, self.measured)
        if said is not None and by_cost:
            found.equal("lot_cost", said, least)
            if said >= decision.expected_cost:
                found.holds("lot_cost: none", False, "no randomised rule is cheaper")
        elif said is not None:
            within = least - CLOSE * max(1.0, abs(least)) <= said < decision.expected_cost
            found.holds("lot_cost", within, f"none is below {least:.9g}")
        elif all(bound.quantity in LINEAR for bound in self.bounds):
            same = decision.expected_cost <= least + _LOOSELY * max(1.0, abs(least))
            found.holds("lot_cost: no randomised rule is cheaper", same, f"one costs {least:.9g}")

    def _keeps(self, bound: ParsedBound) -> bool:
        decision = self.decision
        rule = self._alone(decision.model, decision.threshold, decision.negated)
        return bool(self.measured.kept(bound, rule, len(self.options))[0])

    def _alone(self, model: str, threshold: float, negated: bool) -> EveryThreshold:
        """Return a single threshold of a model."""
        rule = self.rules[model]
        tp, fp = (np.array([count], rule.tp.dtype) for count in rule.at(threshold, negated))
        return replace(rule, tp=tp, fp=fp)

    def _cheapest(
        self, objective: CostObjective | RowCostObjective, allowed: list[tuple[EveryThreshold, Array]]
    ) -> None:
        decision, found, own = self.decision, self.found, objective.cost(self.own, *self.rates)
        ends: list[tuple[Fraction, EveryThreshold, int]] = []
        for rule, mask in allowed:
            losses, index = objective.losses(rule), np.flatnonzero(mask)
            least = objective.distinct(rule, index[losses[index] == losses[index].min()])
            ends += [
                (self._cost_at(objective, rule, i), rule, i) for i in dict.fromkeys((int(least[0]), int(least[-1])))
            ]
        cost, rule, index = min(ends, key=lambda end: end[0])
        better = f"{rule.named(index)} is: {float(cost):.9g} instead of {float(own):.9g}"
        found.holds(f"no other threshold is better by {decision.criterion}", own <= cost, better)
        equal = [(rule, index) for cost, rule, index in ends if cost == own]
        depth = self._depth(self.own, self.own.at(decision.threshold, decision.negated))
        fewer = any(self._depth(rule, CountsAt(int(rule.tp[i]), int(rule.fp[i]))) < depth for rule, i in equal)
        found.holds("none that is as good predicts fewer positive", not fewer, "one does")
        names = {self._as_good(rule, i) for rule, i in equal} - {""}
        if names and not decision.tied:  # which the report does not name
            found.left_open.append(f"that none is as good: {', '.join(sorted(names))}")
            return
        found.holds("tied", names == self._tied, f"as good are {sorted(names)}, not {sorted(decision.tied)}")

    @staticmethod
    def _depth(rule: EveryThreshold, at: CountsAt) -> Fraction:
        return Fraction(sum(at), sum(rule.totals))

    def _as_good(self, rule: EveryThreshold, index: int) -> str:
        """Return the name of an equally good choice; None for the decision itself."""
        decision = self.decision
        same = rule.rates(CountsAt(int(rule.tp[index]), int(rule.fp[index]))) == self.rates
        if same and (rule.model, rule.negated) == (decision.model, decision.negated):
            return ""
        return rule.label if same else rule.named(index)

    def _best(self, allowed: list[tuple[EveryThreshold, Array]]) -> None:
        """Check that no threshold is better by a non-linear criterion."""
        name, own = self.decision.criterion, self._criterion_value()
        if own is None:
            self.found.left_open.append(f"that it is best by {name}")
            return
        sign = -1 if name in _LOW_IS_GOOD else 1
        values = [np.asarray(goodness(name, self.measured.mix(rule)))[mask] for rule, mask in allowed]
        best = max(float(np.nanmax(np.append(sign * value, -np.inf))) for value in values)
        held = sign * own >= best - CLOSE * max(1.0, abs(best)) or sign * own == best
        self.found.holds(f"no other threshold is better by {name}", held, f"{sign * best:.9g} instead of {own:.9g}")
        if math.isfinite(best):
            depth = self._depth(self.own, self.own.at(self.decision.threshold, self.decision.negated))
            fewer = False
            for (rule, mask), value in zip(allowed, values, strict=True):
                for i in np.flatnonzero(mask)[sign * value >= best][:_FEW].tolist():
                    fewer |= self._depth(rule, CountsAt(int(rule.tp[i]), int(rule.fp[i]))) < depth * (1 - _CLEARLY)
            self.found.holds("none that is as good predicts fewer positive", not fewer, "one does")
        self._tied_by_value([rule for rule, _ in allowed], [mask for _, mask in allowed], values, sign, best)

    @property
    def _tied(self) -> set[str]:
        """The stated ties, with the scores that their written thresholds select."""
        said = self.decision.tied
        for rule in self.rules.values():
            said = [rule.renamed(text) for text in said]
        return set(said)

    def _tied_by_value(
        self, rules: list[EveryThreshold], masks: list[Array], values: list[Array], sign: int, best: float
    ) -> None:
        """Check that stated ties are ties, and that no clear tie is missing."""
        if not math.isfinite(best):
            return
        decision, reach = self.decision, max(1.0, abs(best))
        near: set[str] = set()
        equal: set[str] = set()
        own = f"{'not ' * decision.negated}{decision.model} at {decision.threshold}"
        for rule, mask, value in zip(rules, masks, values, strict=True):
            index = np.flatnonzero(mask)
            near |= {rule.named(int(i)) for i in index[sign * value >= best - CLOSE * reach][:_MOST_TIED]}
            equal |= {rule.named(int(i)) for i in index[sign * value >= best][:_FEW]}
        said = self._tied
        wrong = said - near
        if wrong and len(near) < _MOST_TIED:
            self.found.holds("tied", False, f"not as good are {sorted(wrong)}")
        elif not said and equal - {own}:
            self.found.holds("tied", False, f"as good are {sorted(equal - {own})}")
        elif said:
            self.found.holds("tied", True, "")

    def _slopes(self, allowed: list[tuple[EveryThreshold, Array]]) -> tuple[float, float]:
        """Return the slopes to the steepest point on the right and to the flattest point on the left."""
        own, low, high = self.own, 0.0, math.inf
        at = own.at(self.decision.threshold, self.decision.negated)
        for rule, mask in allowed:
            (n_pos, n_neg), (own_pos, own_neg) = rule.totals, own.totals
            up, right = rule.tp[mask], rule.fp[mask]
            if max(n_pos * own_pos, n_neg * own_neg) >= _LONG:
                up, right = up.astype(object), right.astype(object)
            up, right = up * own_pos - at.tp * n_pos, right * own_neg - at.fp * n_neg
            scale = Fraction(n_neg * own_neg, n_pos * own_pos)
            for side, pick in ((right > 0, max), (right < 0, min)):
                if side.any():
                    slope = _extreme(pick, up[side], right[side], scale)
                    low, high = (max(low, slope), high) if pick is max else (low, min(high, slope))
        return low, high

    def drawn(self, mixture: Any) -> None:
        """Check that a randomised rule satisfies the constraints and that none is better."""
        decision, found = self.decision, self.found
        rule, (tpr, fpr) = self.rules[mixture.second.model], self.rates
        share = self.context.positives(rule)
        if mixture.at_most is not None:
            found.equal("lot: at_most", float(mixture.at_most), float(share * tpr + (1 - share) * fpr))
        if not all(bound.linear for bound in self.bounds):
            found.left_open.append(f"constraints: {' and '.join(decision.subject_to)}")
            return
        for text, bound in zip(decision.subject_to, self.bounds, strict=True):
            first, second = (
                -float(self.measured.beyond(bound, self._alone(end.model, end.threshold, end.negated))[0])
                for end in (mixture.first, mixture.second)
            )
            room = first + mixture.weight * (second - first)
            scale = max(1.0, abs(bound.most), abs(first), abs(second))
            found.holds(text, room >= -CLOSE * scale, f"not so, by {-room:.9g}")
            full = bound.quantity in ("cases", "depth") and bound.relation == "<=" and abs(room) <= CLOSE * scale
            found.holds(f"{text}: filled", not full or mixture.at_most is not None, "at_most is missing")
        if self.objective is None:
            found.left_open.append(f"that it is best by {decision.criterion}")
            return
        own = float(self.objective.cost(rule, tpr, fpr))
        least = least_by_lot(of_all(self.objective), self.options, self.bounds, self.measured)
        found.least(f"no other randomised rule is better by {decision.criterion}", own, least)

    def reviewed(self, reviewing: Any) -> None:
        """Check the cost of a third action, and that no other use of it is cheaper."""
        found, own, look = self.found, self.own, exact(reviewing.review.cost)
        if self.decision.criterion != "min_cost":
            found.holds("criterion", False, "reviews are chosen by lowest cost")
        acting, looking = self.rates, self._mixed_rates(reviewing.rule)
        share, hit = self.context.positives(own), of_all(self.context).hit
        positives, negatives = share * (looking[0] - acting[0]), (1 - share) * (looking[1] - acting[1])
        cost = self.context.cost(own, *acting) + look * (positives + negatives) - hit * positives
        found.equal("expected_cost", self.decision.expected_cost, float(cost))
        limit = self._limit(reviewing.review)
        if limit is not None:
            found.equal("review: share of the capacity", float(reviewing.share or 0), float(limit))
            found.holds("review: capacity", float(positives + negatives - limit) <= CLOSE, "more are looked at")
        for model, rule in self.rules.items():
            least = least_with_reviews(of_all(self.context), rule, float(look), None if limit is None else float(limit))
            found.least(f"no other use of reviews of {model} is cheaper", float(cost), least)
