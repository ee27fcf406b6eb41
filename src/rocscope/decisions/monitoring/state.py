"""The state of a monitor as it is stored: what each of its fields must be."""

import math
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.json_format import Fields, Format
from rocscope.decisions.decision import Decision
from rocscope.decisions.monitoring.confidence_sequence import BETS, LookBlock
from rocscope.errors import InputError

FORMAT = Format("rocscope.monitor", 1, "a state of a monitor", "begin a new one with rocscope.monitor")

_COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")
_LARGEST = 1e150
_MOST_ROWS = 2.0**53


def rule_of(decision: Decision) -> dict[str, Any]:
    """Return what a monitor remembers of a decision; one with lots or reviews has no answer of its own to each row."""
    if decision.lot is not None or decision.review is not None:
        hint = "choose without randomized and review"
        raise InputError("decision", expected="one without lots and reviews", got=repr(decision), hint=hint)
    context = decision.context
    costs = {name: getattr(context, name) for name in _COSTS}
    infinite = math.isinf(decision.threshold)
    return {
        "model": decision.model,
        "threshold": None if infinite else decision.threshold,
        "kind": decision.rule if infinite else "threshold",
        "negated": decision.negated,
        "costs": costs,
    }


def rule_of_fields(fields: Fields) -> dict[str, Any]:
    """Return which rows are positive and what errors cost; all empty where only scores are watched."""
    rule = fields.inner("rule", "the rule of a decision")
    costs = rule.inner("costs", "four costs")
    kind = rule.content.get("kind", ...)
    if kind is None:
        if rule.content != (bare := dict.fromkeys(("model", "threshold", "kind")) | {"negated": False, "costs": {}}):
            rule.refuse("kind", f"{bare} without a kind", str(rule.content)[:80])
        return bare
    if kind not in ("threshold", "always", "never"):
        rule.refuse("kind", "'threshold', 'always' or 'never'")
    return {
        "model": rule.text("model"),
        "threshold": rule.number("threshold") if kind == "threshold" else rule.take("threshold", type(None), "null"),
        "kind": kind,
        "negated": rule.take("negated", bool, "true or false"),
        "costs": {name: costs.number(name, -_LARGEST, _LARGEST) for name in _COSTS},
    }


def are_probabilities(fields: Fields, limits: tuple[str, ...]) -> bool:
    """Return whether all scores so far were probabilities, as they are where calibration has a limit."""
    found = fields.take("probabilities", bool, "true or false")
    if not found and any(limit.startswith("calibration") for limit in limits):
        fields.refuse("probabilities", "true, for a limit of the calibration")
    return found


def blocks_of_fields(fields: Fields, limits: tuple[str, ...]) -> list[LookBlock]:
    """Return the blocks of rows, with bets against these limits."""
    return [_block(each, limits) for each in fields.objects("blocks")]


def _block(block: Fields, limits: tuple[str, ...]) -> LookBlock:
    cells = counts_of(block, "cells", size=4)
    n = cells.sum()
    residuals = block.column("residuals", -float(n), float(n), size=3)
    if not (0 <= residuals[0] <= n and abs(residuals[1]) <= residuals[0] and 0 <= residuals[2] <= residuals[0]):
        block.refuse("residuals", "rows, a sum and a sum of squares of differences of probabilities")
    bets = block.inner("bets", "what was won by limit")
    strange = [name for name in bets.content if name not in limits]
    if strange:
        bets.refuse(strange[0], "a limit of this monitor", "none")
    won = {name: bets.column(name, -2 * float(n), 2 * float(n), size=BETS.size) for name in bets.content}
    return LookBlock(when_of(block, "when"), cells, residuals, won)


def counts_of(fields: Fields, name: str, *, size: int = -1) -> Array:
    """Return a list of counts."""
    counts = fields.column(name, 0, _MOST_ROWS, size=size)
    if (counts % 1).any():
        fields.refuse(name, "whole numbers")
    return counts.astype(np.int64)


def ranking_of_fields(fields: Fields, blocks: list[LookBlock]) -> dict[str, list[Any]]:
    """Return the counts at coarse scores, which are of the rows of the blocks."""
    inner = fields.inner("ranking", "counts by score")
    score = inner.column("score")
    pos, neg = (counts_of(inner, name, size=score.size) for name in ("pos", "neg"))
    cells = sum((block.cells for block in blocks), np.zeros(4, np.int64))
    if not (score[:-1] > score[1:]).all():
        inner.refuse("score", "numbers that are falling")
    if (pos.sum(), neg.sum()) != (cells[0] + cells[2], cells[1] + cells[3]):
        inner.refuse("pos", "the rows of the blocks", f"{pos.sum()} positives and {neg.sum()} negatives")
    return {"score": score.tolist(), "pos": pos.tolist(), "neg": neg.tolist()}


def alarm_of_fields(fields: Fields) -> dict[str, Any] | None:
    """Return the arguments of the alarm that was raised, if one was."""
    if fields.content.get("alarm", ...) is None:
        return None
    alarm = fields.inner("alarm", "an alarm or null")
    value, wealth = alarm.optional_number("value"), alarm.optional_number("wealth")
    return {
        "limit": alarm.text("limit"),
        "n": alarm.whole("n"),
        "when": when_of(alarm, "when"),
        "since_n": alarm.whole("since_n"),
        "since": when_of(alarm, "since"),
        "value": math.nan if value is None else value,
        "wealth": math.nan if wealth is None else wealth,
    }


def when_of(fields: Fields, name: str) -> Any:
    """Return what a look was called."""
    value = fields.content.get(name, ...)
    return value if value is None or isinstance(value, str | int | float) else fields.refuse(name, "a name or null")
