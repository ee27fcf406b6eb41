"""Stored state of a monitor: types and ranges of its fields, and its looks, the batches of rows that it has counted."""

import hashlib
import math
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.json_format import Fields, Format
from rocscope.decisions.decision import Decision
from rocscope.decisions.monitoring.confidence_sequence import BETS, LookBlock
from rocscope.errors import InputError

_TOLD_APART = 100  # rows from which on two batches without a name are the same if all their rows are


@dataclass(frozen=True)
class Look:
    """A batch of rows: what it was called, the block that it was counted in, and a digest of its rows."""

    when: Any
    block: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return vars(self).copy()


def digest_of(positive: NDArray[np.bool_], score: Array, weight: Array) -> str:
    """Return a digest of rows that does not depend on their order."""
    order = np.lexsort((weight, positive, score))
    digest = hashlib.sha256(str(score.dtype).encode())
    for column in (score, positive, weight):
        digest.update(np.ascontiguousarray(column[order]).tobytes())
    return digest.hexdigest()[:16]


def counted_before(looks: list[Look], when: Any, digest: str, n: float) -> int | None:
    """Return which look counted this batch; None where none did.

    A batch is the same if its rows and its name are. Small batches without a name may be alike by chance.
    """
    if when is None and n < _TOLD_APART:
        return None
    same = (number for number, look in enumerate(looks) if (look.digest, look.when) == (digest, when))
    return next(same, None)


def block_of(looks: list[Look], when: Any) -> int | None:
    """Return the block of rows whose labels come late: that of their day; None where they are the newest.

    Examples
    --------
    >>> looks = [Look("2026-01-01", 0, ""), Look("2026-01-03", 1, "")]
    >>> block_of(looks, "2026-01-01"), block_of(looks, "2026-01-02"), block_of(looks, "2026-01-04")
    (0, 0, None)
    """
    if when is None or not looks:
        return None
    known = {look.when: look.block for look in looks}
    if when in known:
        return known[when]
    days, day = [_day(look.when) for look in looks], _day(when)
    if day is None or None in days or len({type(each) for each in (*days, day)}) > 1 or day >= max(days):
        return None  # the newest, or names such as "Mon", which are in no order
    _, block = max(
        ((each, look.block) for each, look in zip(days, looks, strict=True) if each <= day), default=(day, 0)
    )
    return block


def _day(when: Any) -> Any:
    """Return a number or a date in ISO 8601 as what has an order; None for other names."""
    if isinstance(when, int | float):
        return float(when)
    try:
        return datetime.fromisoformat(when).replace(tzinfo=None)
    except (TypeError, ValueError):
        return None


FORMAT = Format("rocscope.monitor", 2, "a state of a monitor", "begin a new one with rocscope.monitor")

SCORES_ONLY: dict[str, Any] = dict.fromkeys(("model", "threshold", "kind", "cells")) | {"negated": False, "costs": {}}
"""The rule where only scores are watched."""

_COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")
_LARGEST = 1e150  # whose squares are floats
_MOST_ROWS = 2.0**53  # that float64 counts one by one


def rule_of(decision: Decision) -> dict[str, Any]:
    """Return what a monitor stores of a decision; raises for randomised rules and reviews."""
    if decision.lot is not None or decision.review is not None:
        hint = "choose without randomized and review"
        raise InputError("decision", expected="one without lots and reviews", got=repr(decision), hint=hint)
    context, point = decision.context, decision.point
    costs = {name: getattr(context, name) for name in _COSTS}
    infinite = math.isinf(decision.threshold)
    return {
        "model": decision.model,
        "threshold": None if infinite else decision.threshold,
        "kind": decision.rule if infinite else "threshold",
        "negated": decision.negated,
        "costs": costs,
        "cells": [float(cell) for cell in (point.tp, point.fp, point.fn, point.tn)],
    }


def rule_of_fields(fields: Fields) -> dict[str, Any]:
    """Return the decision rule and costs; empty if only scores are monitored."""
    rule = fields.inner("rule", "the rule of a decision")
    costs = rule.inner("costs", "four costs")
    kind = rule.content.get("kind", ...)
    if kind is None:
        if rule.content != SCORES_ONLY:
            rule.refuse("kind", f"{SCORES_ONLY} without a kind", str(rule.content)[:80])
        return SCORES_ONLY
    if kind not in ("threshold", "always", "never"):
        rule.refuse("kind", "'threshold', 'always' or 'never'")
    return {
        "model": rule.text("model"),
        "threshold": rule.number("threshold") if kind == "threshold" else rule.take("threshold", type(None), "null"),
        "kind": kind,
        "negated": rule.take("negated", bool, "true or false"),
        "costs": {name: costs.number(name, -_LARGEST, _LARGEST) for name in _COSTS},
        "cells": rule.column("cells", 0, size=4).tolist(),
    }


def are_probabilities(fields: Fields, limits: tuple[str, ...]) -> bool:
    """Return whether all scores so far were probabilities, which a limit on calibration requires."""
    found = fields.take("probabilities", bool, "true or false")
    if not found and any(limit.startswith("calibration") for limit in limits):
        fields.refuse("probabilities", "true, for a limit of the calibration")
    return found


def blocks_of_fields(fields: Fields, limits: tuple[str, ...]) -> list[LookBlock]:
    """Return the blocks of rows, with the bets against these limits."""
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


def looks_of_fields(fields: Fields, blocks: int) -> list[Look]:
    """Return what was counted at each look."""
    looks = [Look(when_of(each, "when"), each.whole("block"), each.text("digest")) for each in fields.objects("looks")]
    if any(look.block >= blocks for look in looks):
        fields.refuse("looks", f"looks at {blocks} blocks", "others")
    return looks


def ranking_of_fields(fields: Fields, blocks: list[LookBlock]) -> dict[str, Any]:
    """Return the counts by range of scores, which are of the rows of each block."""
    inner = fields.inner("ranking", "counts by score")
    low = inner.column("low", order="rising")
    high = inner.column("high", size=low.size)
    bits = inner.column("bits", 0, 63, size=low.size)
    if (low > high).any() or (high[:-1] >= low[1:]).any():
        inner.refuse("high", "the ends of ranges in order")
    if (bits % 1).any():
        inner.refuse("bits", "whole numbers")
    each = inner.objects("blocks")
    if len(each) != len(blocks):
        inner.refuse("blocks", f"{len(blocks)} blocks", str(len(each)))
    found = [_ranked(block, low.size, cells.cells) for block, cells in zip(each, blocks, strict=True)]
    return {"low": low, "high": high, "bits": bits.astype(np.uint64), "blocks": found}


def _ranked(block: Fields, levels: int, cells: Array) -> dict[str, Array]:
    at = block.column("at", 0, levels - 1, order="rising")
    pos, neg = (counts_of(block, name, size=at.size) for name in ("pos", "neg"))
    if (at % 1).any():
        block.refuse("at", "whole numbers")
    if (pos.sum(), neg.sum()) != (cells[0] + cells[2], cells[1] + cells[3]):
        block.refuse("pos", "the rows of the block", f"{pos.sum()} positives and {neg.sum()} negatives")
    return {"at": at.astype(np.intp), "pos": pos, "neg": neg}


def alarm_of_fields(fields: Fields) -> dict[str, Any] | None:
    """Return the arguments of the alarm, if one was raised."""
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
        "cause": alarm.text("cause"),
    }


def check_when(when: Any) -> Any:
    """Return what a look is called."""
    if when is None or isinstance(when, str) or (check.is_number(when) and abs(when) <= sys.float_info.max):
        return when
    raise InputError("when", expected="a text or a finite number", got=check.shown(when))


def when_of(fields: Fields, name: str) -> Any:
    """Return the label of a look."""
    value = fields.content.get(name, ...)
    return value if value is None or isinstance(value, str | int | float) else fields.refuse(name, "a name or null")
