"""Proof of a campaign plan: every threshold is recounted, and the best depth found on its hull."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from decision_oracle.findings import Findings, Proof
from decision_oracle.levels import CountsAt, EveryThreshold
from decision_oracle.objective import SLACK
from rocscope._base.arrays import Array
from rocscope.errors import ColumnError
from rocscope.sample import Models, Sample, samples_of

_NEAR = 1e-9  # relative, of sums in floats


@dataclass(frozen=True)
class _Profits:
    """Depth, share of responders found, and profit at every threshold of a model, starting with nobody."""

    rule: EveryThreshold
    campaign: Any
    depth: Array
    gain: Array
    profit: Array
    rate: float

    @classmethod
    def of(cls, rule: EveryThreshold, sample: Sample, campaign: Any) -> "_Profits":
        tp, fp, _, _ = rule.cells
        n_pos, n_neg = (total / rule.unit for total in rule.totals)
        rate, gain = campaign.response_rate or n_pos / (n_pos + n_neg), tp / n_pos
        depth = rate * gain + (1 - rate) * fp / n_neg
        if isinstance(campaign.unit_benefit, str):
            worth = _brought(rule, sample, campaign) / (n_pos + n_neg)
        else:
            worth = campaign.unit_benefit * rate * gain
        profit = campaign.population * (worth - campaign.unit_cost * depth) - campaign.fixed_cost
        return cls(rule, campaign, depth, gain, profit, rate)

    @property
    def envelope(self) -> tuple[Array, Array]:
        """Vertices of the upper hull of profit over depth: the maximum over randomised rules."""
        chain: list[tuple[float, float]] = []
        for x, y in zip(self.depth.tolist(), self.profit.tolist(), strict=True):
            while chain and x - chain[-1][0] <= 0 and y >= chain[-1][1]:
                chain.pop()
            while len(chain) > 1 and _left_of(chain[-2], chain[-1], (x, y)):
                chain.pop()
            chain.append((x, y))
        xs, ys = zip(*chain, strict=True)
        return np.array(xs), np.array(ys)

    def best(self) -> float:
        """Return the highest expected profit of a randomised rule within the capacity."""
        x, y = self.envelope
        most = self.campaign.capacity
        limit = 1.0 if most is None else min(most / self.campaign.population, 1.0)
        return float(max(y[x <= limit].max(), np.interp(limit, x, y)))


def _left_of(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def _brought(rule: EveryThreshold, sample: Sample, campaign: Any) -> Array:
    """Return the total benefit of the responses at or above each threshold, starting with nobody."""
    rows = sample.require_rows("verification of benefits that differ from row to row")
    if campaign.unit_benefit not in rows.columns:
        expected = f"rows with a column {campaign.unit_benefit!r}"
        raise ColumnError("unit_benefit", expected=expected, got=f"{list(rows.columns)}")
    (score,) = rows.scores.values()
    weight = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
    order = np.argsort(score, kind="stable")[::-1]
    order = order[weight[order] > 0]
    money = np.cumsum(np.where(rows.y_true, rows.columns[campaign.unit_benefit], 0.0)[order] * weight[order])
    ends = np.append(np.flatnonzero(np.diff(score[order])), order.size - 1)
    assert ends.size + 1 == rule.tp.size
    return np.append(0.0, money[ends])


def verify_campaign(plan: Any, data: Models) -> Proof:
    """Check all claims of a campaign plan against data."""
    samples = samples_of(data, name="data")
    rules = {name: EveryThreshold.of(name, sample) for name, sample in samples.items()}
    found = Findings()
    for offer in plan.offers:
        if offer.model not in rules:
            raise ColumnError("model", expected=f"one of {list(samples)}", got=repr(offer.model))
    pairs = [(offer.model, offer.campaign) for offer in plan.offers]
    expected = {(model, name) for model, _ in pairs for name in plan.campaigns}
    found.holds("offers", sorted(pairs) == sorted(expected), "not one of each model in each campaign")
    highest = {}
    for offer in plan.offers:
        if offer.campaign in plan.campaigns:
            campaign = plan.campaigns[offer.campaign]
            name = f"{offer.model} in {offer.campaign}"
            if isinstance(campaign.unit_benefit, str) and campaign.response_rate is not None:
                found.left_open.append(f"{name}: benefits by row at another response rate")
                continue
            profits = _Profits.of(rules[offer.model], samples[offer.model], campaign)
            _offer(found, name, offer, profits)
            highest[name] = profits.best()
            if offer == plan.best:
                _table(found, plan.steps, profits)
                own = highest[name]
                near = _NEAR * max(1.0, float(np.abs(profits.profit).max()))
                found.holds("worthwhile", plan.worthwhile == (own > 0) or abs(own) <= near, f"the profit is {own:.9g}")
    if f"{plan.best.model} in {plan.best.campaign}" in highest:
        high, own = max(highest.values()), highest[f"{plan.best.model} in {plan.best.campaign}"]
        found.holds("best", own >= high - _NEAR * max(1.0, abs(high)), f"another offer brings {high:.9g}")
    _rule(found, plan, rules)
    left = [model for model in rules if model not in {model for model, _ in pairs}]
    found.left_open.extend(f"that {model} is no better: it has no offer" for model in left)
    own, seen = rules[plan.best.model], sum(rule.tp.size for rule in rules.values())
    n = sum(own.totals) / own.unit
    return found.proof(n, seen)


def _offer(found: Findings, name: str, offer: Any, profits: _Profits) -> None:
    """Check the best use of one model in one campaign."""
    best, campaign = offer.best, profits.campaign
    scale = _NEAR * max(1.0, float(np.abs(profits.profit).max()))
    high = profits.best()
    hull_profit = float(np.interp(best.depth, *profits.envelope))
    held = abs(hull_profit - high) <= scale
    found.holds(f"{name}: no depth is more profitable", held, f"one brings {high:.9g} instead of {hull_profit:.9g}")
    profit = float(np.interp(best.depth, profits.depth, profits.profit))
    found.holds(f"{name}: profit at depth {best.depth:.6g}", abs(profit - best.profit) <= scale, f"{profit:.9g}")
    limit = campaign.capacity
    found.holds(f"{name}: capacity", limit is None or best.size <= limit * (1 + _NEAR), "more are contacted")
    first = int(np.flatnonzero(profits.depth >= best.depth - _NEAR)[0])
    last = profits.depth.size - 1
    level = {0: np.inf, last: -np.inf}.get(first) or profits.rule.level[first - 1]
    found.holds(f"{name}: threshold", best.threshold == level, f"it is {level:.6g}, not {best.threshold:.6g}")
    _counts(found, name, best, profits)
    d = best.depth
    per_head = _worth_per_head(profits)
    if per_head is None:
        found.left_open.append(f"{name}: random and perfect profit")
    else:
        cost = campaign.unit_cost * d
        for what, said, worth in (
            ("random_profit", offer.random_profit, per_head * d),
            ("perfect_profit", offer.perfect_profit, per_head * min(d / profits.rate, 1.0)),
        ):
            found.near(f"{name}: {what}", said, campaign.population * (worth - cost) - campaign.fixed_cost, scale)
    _break_even(found, name, offer.break_even_depths, profits)


def _worth_per_head(profits: _Profits) -> float | None:
    """Return the total benefit per customer of the population, if every response has the same benefit."""
    benefit = profits.campaign.unit_benefit
    return None if isinstance(benefit, str) else benefit * profits.rate


def _counts(found: Findings, name: str, row: Any, profits: _Profits) -> None:
    """Check the numbers of customers in a row with known depth and profit."""
    campaign = profits.campaign
    benefit = campaign.unit_benefit
    if isinstance(benefit, str) or not benefit:
        at = np.flatnonzero(np.abs(profits.depth - row.depth) <= _NEAR)
        if not at.size:
            found.left_open.append(f"{name}: responders, between two thresholds")
            return
        gain = float(profits.gain[at[0]])
        if benefit == 0:
            gain = min(max(row.cumulative_gain, float(profits.gain[at].min())), float(profits.gain[at].max()))
    else:
        money = row.profit + campaign.fixed_cost + campaign.unit_cost * campaign.population * row.depth
        gain = money / (campaign.population * profits.rate * benefit)
    size = campaign.population * row.depth
    by_row = isinstance(benefit, str)
    expected = {"size": size, "responders": campaign.population * profits.rate * gain}
    expected["non_responders"] = size - expected["responders"]
    if not by_row:
        expected |= {"gain": gain, "cumulative_gain": gain, "lift": gain / row.depth if row.depth else 0.0}
    else:
        found.left_open.append(f"{name}: gain, in money")
    for what, value in expected.items():
        found.near(f"{name}: {what}", getattr(row, what), value, 1e-7 * max(1.0, abs(value)))


def _break_even(found: Findings, name: str, said: tuple[float, ...], profits: _Profits) -> None:
    """Check the depths at which the profit is 0."""
    x, y = profits.depth, profits.profit
    scale = _NEAR * max(1.0, float(np.abs(y).max()))
    zero = all(abs(np.interp(each, x, y)) <= 10 * scale for each in said)
    crossings = int(np.count_nonzero((y[:-1] * y[1:] < 0) & (np.minimum(abs(y[:-1]), abs(y[1:])) > scale)))
    held = zero and len(said) >= crossings and sorted(set(said)) == list(said)
    found.holds(f"{name}: break_even_depths", held, f"{crossings} were found, or others")


def _table(found: Findings, steps: Any, profits: _Profits) -> None:
    """Check the table by steps of depth; a step may split a tie."""
    if isinstance(profits.campaign.unit_benefit, str):
        found.left_open.append("table: benefits by row")
        return
    population, before = profits.campaign.population, 0.0
    for i, row in enumerate(steps):
        depth = i / max(len(steps) - 1, 1)
        gain, profit = (float(np.interp(depth, profits.depth, axis)) for axis in (profits.gain, profits.profit))
        responders = population * profits.rate * gain
        expected = {"depth": depth, "gain": gain - before, "cumulative_gain": gain, "profit": profit}
        expected |= {"lift": gain / depth if depth else 0.0, "size": population * depth, "responders": responders}
        expected["non_responders"] = population * depth - responders
        before = gain
        wrong = [
            name
            for name, value in expected.items()
            if abs(getattr(row, name) - value) > 1e-7 * max(1.0, abs(value), population * 1e-3)
        ]
        at = min(int(np.searchsorted(profits.depth, depth - SLACK)), profits.depth.size - 1)
        inside = row.threshold == (profits.rule.level[at - 1] if at else np.inf)
        found.holds(f"table: depth {depth:.6g}", not wrong and inside, f"another {', '.join(wrong) or 'threshold'}")


def _rule(found: Findings, plan: Any, rules: dict[str, EveryThreshold]) -> None:
    """Check the thresholds of the best offer, their counts and shares."""
    best, campaign = plan.best, plan.campaign
    rate, depths = None, []
    for end in plan.rule.ends:
        rule = rules.get(end.model)
        if rule is None or end.negated or end.model != best.model:
            found.holds("rule: model", False, f"it is of {end.model}, not of {best.model}")
            return
        at, (n_pos, n_neg) = rule.at(end.threshold, False), rule.totals
        found.next_score("rule", end.point, rule.next_score(end.threshold))
        for cell, said, count in (
            ("tp", end.point.tp, at.tp),
            ("fp", end.point.fp, at.fp),
            ("fn", end.point.fn, n_pos - at.tp),
            ("tn", end.point.tn, n_neg - at.fp),
        ):
            found.equal(f"rule: {cell} at {end.threshold:.6g}", said, count / rule.unit)
        rate = None if isinstance(campaign.unit_benefit, str) else campaign.response_rate
        depths.append(_depth(rule, at, rate))
    depth = float(sum(share * each for share, each in zip(plan.rule.weights, depths, strict=True)))
    found.equal("rule: depth", float(plan.depth), depth)
    found.equal("best: depth", best.best.depth, depth)
    found.holds("best: threshold", plan.rule.second.threshold == best.best.threshold, "that of the rule is another")
    found.holds("rule: order", depths[0] <= depths[1] + _NEAR, "the second threshold takes fewer")


def _depth(rule: EveryThreshold, at: CountsAt, rate: float | None) -> float:
    tpr, fpr = (float(each) for each in rule.rates(at))
    share = rule.totals[0] / sum(rule.totals) if rate is None else rate
    return share * tpr + (1 - share) * fpr
