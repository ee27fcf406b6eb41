"""Monitor a decision in use: rows with known labels arrive in batches, and limits are tested after every batch.

A `Monitor` stores counts instead of rows. A block contains the rows of one or several batches. For each block, the
monitor stores the counts tp, fp, fn and tn at the threshold, sums of the residuals of probabilities, and the positives
and negatives in each range of scores.

From these counts, `confidence_sequence` computes intervals that are valid simultaneously after all batches. It also
computes an e-value (`wealth`) against each limit. With k limits, an alarm is raised when an e-value reaches k/(1 -
level). The probability that a false alarm is ever raised is at most 1 - level.

A batch is counted only once, because a digest of its rows is stored. Rows whose labels arrive late are counted in the
block of their day. A counted batch is called a look. Batches without labels are stored separately. When the labels of
such a batch are known, its labelled rows replace it.
"""

import hashlib
import math
import os
import sys
import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import JSON, write_file
from rocscope._base.contract import contract, held_to_contract
from rocscope._base.json_format import Fields, Format
from rocscope._base.public_names import reach
from rocscope.core import CELLS, Context, Predictions, Result, html_table, jsonable
from rocscope.core.applying import predict, scores_of
from rocscope.decisions.decision import Decision
from rocscope.decisions.loading import load_plan
from rocscope.decisions.plan import Plan
from rocscope.errors import InputError, warn
from rocscope.figures.conditions import Condition
from rocscope.inference import confidence_sequence as sequence
from rocscope.inference.estimate import Estimate

# Looks

# Two batches without a name and with equal rows are taken as one from this number of rows on. Smaller batches may be
# equal by chance.
LEAST_RECOGNISED_ROWS = 100


@dataclass(frozen=True)
class Look:
    """A counted batch of rows.

    Attributes
    ----------
    when : str, number or None
        Name of the batch, such as a date.
    block : int
        Index of the block in which the rows were counted.
    digest : str
        Digest of the rows.
    scores : str
        Digest of the scores; empty in states of older versions.
    """

    when: Any
    block: int
    digest: str
    scores: str = ""


@dataclass(frozen=True)
class UnlabelledLook(Look):
    """A batch of cases without labels, with the numbers of cases that are acted on and not acted on."""

    acting: int = 0
    left: int = 0


def digests_of(label: Array, score: Array, weight: Array) -> tuple[str, str]:
    """Return a digest of rows, and a digest of their scores. Both do not depend on the order of the rows.

    For several classes, `score` has one column for each class.
    """
    order = np.lexsort((weight, label, *np.atleast_2d(score.T)))
    digest = hashlib.sha256(str(score.dtype).encode())
    digest.update(np.ascontiguousarray(score[order]).tobytes())
    scores = digest.hexdigest()[:16]
    for column in (label, weight):
        digest.update(np.ascontiguousarray(column[order]).tobytes())
    return digest.hexdigest()[:16], scores


def counted_before(looks: Sequence[Look], when: Any, digest: str, n: float) -> int | None:
    """Return the index of the equal batch that was already counted; None if the batch is new.

    Two batches are equal if their rows and their names are equal. Small batches without a name are always new, because
    they may be equal by chance.
    """
    known = [(look.digest, look.when) for look in looks]
    is_known = (digest, when) in known and (when is not None or n >= LEAST_RECOGNISED_ROWS)
    return known.index((digest, when)) if is_known else None


def has_labels(looks: list[Look], when: Any, scores: str) -> bool:
    """Return True if the batch with this name and these scores was counted with labels."""
    return when is not None and any((look.when, look.scores) == (when, scores) for look in looks)


def block_of(looks: list[Look], when: Any) -> int | None:
    """Return the index of the block in which rows of the day `when` are counted; None if a new block is needed.

    A new block is needed if the day is later than all days so far, or if days cannot be compared.

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
    day, days = _day(when), [_day(look.when) for look in looks]
    # Names such as "Mon" have no order, and numbers and dates cannot be compared: then the day of the batch is new.
    if day is None or None in days or len({type(value) for value in (day, *days)}) > 1:
        return None
    if day >= max(days):
        return None
    # Otherwise the batch belongs to the last earlier day.
    earlier = [(value, look.block) for value, look in zip(days, looks, strict=True) if value <= day]
    return max(earlier)[1] if earlier else 0


def _day(when: Any) -> Any:
    """Convert a number or an ISO 8601 date to a value that can be compared; return None for other names."""
    if isinstance(when, int | float):
        return float(when)
    try:
        return datetime.fromisoformat(when).replace(tzinfo=None)
    except (TypeError, ValueError):
        return None


# The stored state

FORMAT = Format("rocscope.monitor", 2, "a state of a monitor", "create a new monitor with rocscope.monitor")

SCORES_ONLY: dict[str, Any] = dict.fromkeys(("model", "threshold", "kind", "cells")) | {"negated": False, "costs": {}}
"""Rule of a monitor for scores without a threshold."""

_COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn")
# Largest cost, so that its square is a finite float.
LARGEST_COST = 1e150
# Up to this number float64 represents every whole number.
MOST_ROWS = 2.0**53


def rule_of(decision: Decision) -> dict[str, Any]:
    """Return the rule and costs that a monitor stores for a decision with one threshold."""
    infinite = math.isinf(decision.threshold)
    return {
        "model": decision.model,
        "threshold": None if infinite else decision.threshold,
        "kind": decision.rule if infinite else "threshold",
        "negated": decision.negated,
        "costs": {name: getattr(decision.context, name) for name in _COSTS},
        "cells": [float(getattr(decision.point, cell)) for cell in CELLS],
    }


def rule_of_fields(fields: Fields) -> dict[str, Any]:
    """Read the decision rule and costs of a stored state; `SCORES_ONLY` if only scores are monitored."""
    rule = fields.inner("rule", "the rule of a decision")
    costs = rule.inner("costs", "four costs")
    kind = rule.content.get("kind", ...)
    if kind is None:
        if rule.content != SCORES_ONLY:
            rule.refuse("kind", f"{SCORES_ONLY}", str(rule.content)[:80])
        return SCORES_ONLY
    if kind not in ("threshold", "always", "never"):
        rule.refuse("kind", "'threshold', 'always' or 'never'")
    return {
        "model": rule.text("model"),
        "threshold": rule.number("threshold") if kind == "threshold" else rule.take("threshold", type(None), "null"),
        "kind": kind,
        "negated": rule.take("negated", bool, "true or false"),
        "costs": {name: costs.number(name, -LARGEST_COST, LARGEST_COST) for name in _COSTS},
        "cells": rule.column("cells", 0, size=4).tolist(),
    }


def blocks_of_fields(fields: Fields, limits: tuple[str, ...], size: int) -> list[sequence.LookBlock]:
    """Read the blocks of a stored state: `size` counts per block, sums of residuals, and bets against the limits."""
    blocks = []
    for block in fields.objects("blocks"):
        cells = block.wholes("cells", MOST_ROWS, size=size)
        most = float(cells.sum())
        residuals = block.column("residuals", -most, most, size=3)
        n, total, squares = residuals
        # Residuals of probabilities lie within ±1, so their sum and the sum of their squares lie within ±n.
        if not (0 <= n <= most and abs(total) <= n and 0 <= squares <= n):
            block.refuse("residuals", "a number of rows, a sum and a sum of squares of residuals")
        bets = block.inner("bets", "the logarithm of the wealth by limit")
        unknown = [name for name in bets.content if name not in limits]
        if unknown:
            bets.refuse(unknown[0], "a limit of this monitor", "another limit")
        # Each row multiplies the wealth by a factor between e⁻² and e².
        log_wealth = {name: bets.column(name, -2 * most, 2 * most, size=sequence.BETS.size) for name in bets.content}
        blocks.append(sequence.LookBlock(when_of(block, "when"), cells, residuals, log_wealth))
    return blocks


def look_of_fields(look: Fields) -> tuple[Any, int, str, str]:
    """Read the attributes of a `Look`."""
    scores = look.text("scores") if "scores" in look.content else ""
    return when_of(look, "when"), look.whole("block"), look.text("digest"), scores


def unlabelled_of_fields(fields: Fields) -> list[UnlabelledLook]:
    """Read the batches without labels of a stored state."""
    total = fields.wholes("counts", MOST_ROWS, size=2).tolist()
    looks: list[UnlabelledLook] = []
    for look in fields.objects("looks"):
        # Older states contain only the sum of all batches, which is then assigned to the first batch.
        counts = [0, 0] if looks else total
        if "acting" in look.content:
            counts = [look.whole("acting"), look.whole("left")]
        looks.append(UnlabelledLook(*look_of_fields(look), *counts))
    return looks


def looks_of_fields(fields: Fields, blocks: int) -> list[Look]:
    """Read the counted batches of a stored state."""
    stored = fields.objects("looks")
    looks = [Look(*look_of_fields(look)) for look in stored]
    if any(look.block >= blocks for look in looks):
        fields.refuse("looks", f"block numbers below {blocks}", "a larger number")
    return looks


def ranking_of_fields(fields: Fields, blocks: list[sequence.LookBlock]) -> dict[str, Any]:
    """Read the counts in each range of scores, by block, and check that they add up to the counts of the block."""
    inner = fields.inner("ranking", "counts by score")
    low = inner.column("low", order="rising")
    high = inner.column("high", size=low.size)
    bits = inner.wholes("bits", 63, size=low.size)
    if (low > high).any() or (high[:-1] >= low[1:]).any():
        inner.refuse("high", "disjoint ranges in increasing order")
    stored = inner.objects("blocks")
    if len(stored) != len(blocks):
        inner.refuse("blocks", f"{len(blocks)} blocks", str(len(stored)))
    counts = []
    for block, expected in zip(stored, blocks, strict=True):
        at = block.wholes("at", low.size - 1, order="rising")
        pos, neg = (block.wholes(name, MOST_ROWS, size=at.size) for name in ("pos", "neg"))
        tp, fp, fn, tn = expected.cells
        if (pos.sum(), neg.sum()) != (tp + fn, fp + tn):
            block.refuse("pos", "the counts of the block", f"{pos.sum()} positives and {neg.sum()} negatives")
        counts.append({"at": at.astype(np.intp), "pos": pos, "neg": neg})
    return {"low": low, "high": high, "bits": bits.astype(np.uint64), "blocks": counts}


def alarm_of_fields(fields: Fields) -> "Alarm | None":
    """Read the alarm of a stored state; None if no alarm was raised."""
    if fields.content.get("alarm", ...) is None:
        return None
    alarm = fields.inner("alarm", "an alarm or null")
    times = alarm.whole("n"), when_of(alarm, "when"), alarm.whole("since_n"), when_of(alarm, "since")
    numbers = alarm.number_or_nan("value"), alarm.number_or_nan("wealth")
    return Alarm(alarm.text("limit"), *times, *numbers, alarm.text("cause"))


def check_when(when: Any) -> Any:
    """Return the name of a batch; raise an error if it is neither a text nor a number."""
    if when is None or isinstance(when, str) or (check.is_number(when) and abs(when) <= sys.float_info.max):
        return when
    raise InputError("when", expected="a text or a finite number", got=check.shown(when))


def when_of(fields: Fields, name: str) -> Any:
    """Read the name of a batch from a stored state."""
    value = fields.content.get(name, ...)
    return value if value is None or isinstance(value, str | int | float) else fields.refuse(name, "a name or null")


# The monitor

# From this number of rows on, the mean residual is taken as normally distributed.
MANY_ROWS = 100


@dataclass(frozen=True)
class Alarm(Result):
    """Significant evidence that a monitored metric has crossed a limit.

    Attributes
    ----------
    limit : str
        The condition that raised the alarm, such as "cost > 0.35".
    n : int
        Number of rows at the time of the alarm.
    when : str, number or None
        Name of the last batch before the alarm.
    since_n : int
        Estimated time of the change, as the number of rows before the change. The estimate is the median of the
        evidence for each possible time.
    since : str, number or None
        Name of the first batch after the change.
    value : float
        Estimate of the metric since the change.
    wealth : float
        E-value against the limit. If the limit is never crossed, the probability of ever reaching an e-value of 20 is
        at most 1/20. Values below 1 are evidence that the limit is not crossed.
    cause : str
        Names of metrics that changed significantly at the time of the change (class mix, tpr, fpr or calibration);
        empty if no metric changed significantly.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose, monitor
    >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
    >>> watch = monitor(decision, fail_if="cost > .35").update([1, 0] * 150, [0.1, 0.1] * 150, when="Mon")
    >>> print(watch.alarm)  # half of the cases are missed
    cost > 0.35 is true since about Mon: 0.5 (alarm at 300 rows; tpr (0.5 → 0))
    """

    limit: str
    n: int
    when: Any
    since_n: int
    since: Any
    value: float
    wealth: float
    cause: str = ""

    def __str__(self) -> str:
        after = f"row {self.since_n + 1:,}" if self.since is None else str(self.since)
        began = "from the first row on" if self.since is None and not self.since_n else f"since about {after}"
        cause = f"; {self.cause}" if self.cause else ""
        return f"{self.limit} is true {began}: {self.value:.4g} (alarm at {self.n:,} rows{cause})"


@held_to_contract
class Monitor:
    """Monitor of a decision in use, with intervals and alarms that are valid after every batch.

    `rocscope.monitor` returns a new monitor; `Monitor.load` reads a monitor from a file.

    Attributes
    ----------
    level : float
        Confidence level. The probability that a false alarm is ever raised is at most 1 − level.
    target_prevalence : float or None
        Share of positives at which cost, error, depth and precision are estimated. None means the share of positives
        among the rows.
    limits : tuple of Condition
        Conditions that raise an alarm.
    n : int
        Number of labelled rows so far.
    looks : int
        Number of batches so far.
    alarm : Alarm or None
        The first alarm that was raised; later updates do not change this alarm.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose, monitor
    >>> watch = monitor(choose(ThresholdCounts([2, 1], [3, 1], [1, 5]), Context(cost_fn=5)))
    >>> watch.update([1, 0, 1], [2, 1, 2])  # two true positives and a true negative
    Monitor(n=3, 1 looks, cost 0, 95% CI [0, 4.418], no alarm)
    """

    def __init__(
        self, rule: dict[str, Any], limits: Sequence[str], level: float, target_prevalence: float | None = None
    ) -> None:
        self.rule, self.level, self.target_prevalence = rule, check.check_level(level), target_prevalence
        of_decision = rule["kind"] is not None
        self.limits = tuple(sequence.limit_of(text, of_decision=of_decision) for text in limits)
        named = [limit.quantity for limit in self.limits if limit.quantity not in sequence.RANKED.values()]
        context = Context(target_prevalence, **rule["costs"])
        self._means = {}
        if of_decision:
            shown = dict.fromkeys((*sequence.SHOWN, *named))
            self._means = sequence.cell_means(context, shown, context.target_prevalence)
        self._chosen_on = None if rule["cells"] is None else np.array(rule["cells"])
        self._shares = sequence.SHARES_OF_CELLS
        self._begin(len(sequence.CELLS))

    # The quantities that are means over rows, computed from counts in cells.
    _means: dict[str, sequence.CellMean]
    # Counts of the rows on which the decision was chosen, and the rates whose change may explain an alarm.
    _chosen_on: Array | None
    _shares: sequence.Shares

    def _begin(self, size: int) -> None:
        """Check the bounds of the limits, and initialise an empty monitor with `size` counts per block."""
        for limit in self.limits:
            low, high = self._range(limit.quantity)
            # A bound at an end of the possible range is always kept or always broken, so it cannot be tested.
            if not low < limit.bound < high:
                raise InputError("fail_if", expected=f"a bound between {low:g} and {high:g}", got=repr(str(limit)))
        self._size = size
        self._unlabelled: list[UnlabelledLook] = []
        self.alarm: Alarm | None = None
        self._looks: list[Look] = []
        self._blocks: list[sequence.LookBlock] = []
        self._ranking = sequence.RankCounts()
        self._probabilities = True
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _range(self, quantity: str) -> tuple[float, float]:
        """Return the smallest and the largest possible value of a metric."""
        if quantity in self._means:
            values = self._means[quantity].values
            return min(values), max(values)
        return (0, 1) if quantity == "auc" else (-1, 1)  # the calibration is a mean of residuals

    def watches_as(self, other: "Monitor") -> bool:
        """Return True if another monitor has the same rule, limits, level and target prevalence.

        Parameters
        ----------
        other : Monitor
            Monitor to compare.
        """
        same = ("rule", "limits", "level", "target_prevalence")
        return all(getattr(self, name) == getattr(other, name) for name in same)

    @property
    def n(self) -> int:
        """Number of labelled rows so far."""
        return sum(block.n for block in self._blocks)

    @property
    def looks(self) -> int:
        """Number of batches so far."""
        return len(self._looks)

    def update(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        when: Any = None,
        again: bool = False,
    ) -> "Monitor":
        """Add labelled rows and test the limits.

        Parameters
        ----------
        y_true : array of n labels, or Predictions
            True labels of the rows. Predictions contain labels, scores and weights.
        y_score : array of n scores, or mapping or data frame with a column for the decision's model
            Scores of the rows.
        pos_label : label, optional
            The positive label. By default, the label 1 or true; labels other than 0/1, −1/1 or true/false need
            `pos_label`.
        sample_weight : array of n whole numbers, optional
            Number of equal rows that each row represents.
        when : str or number, optional
            Name of the batch, such as a date. An alarm names the batch in which the change began. If labels of a
            batch arrive late, name the earlier batch: the rows are then added to it. If cases with this name were
            added by `update_unlabelled`, the labelled rows replace all of them.
        again : bool
            If True, count the batch even if a batch with the same rows and the same `when` was already counted.

        Returns
        -------
        Monitor
            This monitor. If the batch was already counted, the monitor does not change and a warning is issued.

        Raises
        ------
        InputError
            If the number of rows differs from the number of unlabelled cases with the same name. Also if a batch of at
            least 100 rows with the same name and the same scores was counted with other labels, and `again` is False.

        Notes
        -----
        Pass each row once, when its label becomes known. The order of rows must not depend on the label. For example,
        if frauds are known earlier than other outcomes, wait until all labels of a day are known. Batches of fewer than
        100 rows without `when` are always counted, because small batches may be equal by chance.

        Several threads may update the same monitor. If a call fails or is interrupted, the monitor does not change and
        the call can be repeated.
        """
        label, score, weight = self._rows(y_true, y_score, pos_label, sample_weight)
        check.require_whole_weights(weight)
        weight = np.ones(label.size, np.int64) if weight is None else weight
        when = check_when(when)
        digest, scores = digests_of(label, score, weight)
        n = int(weight.sum())
        with self._lock:
            before = counted_before(self._looks, when, digest, n)
            if before is None and not again and n >= LEAST_RECOGNISED_ROWS and has_labels(self._looks, when, scores):
                got = f"other labels for the {n:,} scores of {when!r}"
                hint = "keep the first labels; if these are other rows with equal scores, add them under another name"
                raise InputError("rows", expected="rows whose labels are not known yet", got=got, hint=hint)
            if before is None or again:
                after = copy(self)
                after._unlabelled = self._still_unlabelled(when, n)
                # Work on copies, because counting replaces entries of these lists and changes the arrays of ranks.
                after._looks, after._blocks = [*self._looks], [*self._blocks]
                after._ranking = self._ranking.copied()
                after._add(label, score, weight, Look(when, 0, digest, scores))
                # The assignment is one step of the interpreter, which an interruption cannot split.
                vars(self).update(after.__getstate__())
                return self
        warn(f"these rows were already counted in batch {before + 1} and are omitted; again=True counts them again")
        return self

    def _still_unlabelled(self, when: Any, n: int) -> list[UnlabelledLook]:
        """Return the batches without labels after n labels of the batch `when` are known."""
        replaced = [look for look in self._unlabelled if when is not None and look.when == when]
        cases = sum(look.acting + look.left for look in replaced)
        if replaced and cases != n:
            expected = f"{cases:,} rows, because {cases:,} cases without labels have the name {when!r}"
            hint = "add the labels of all these cases together, or add these rows under another name"
            raise InputError("rows", expected=expected, got=f"{n:,} rows", hint=hint)
        return [look for look in self._unlabelled if look not in replaced]

    def update_unlabelled(self, y_score: Any, *, when: Any = None) -> "Monitor":
        """Add cases without labels. These cases are used only to estimate `volume`, the share of cases acted on.

        When the labels are known, pass all rows of the batch with the same name to `update`. The rows then replace the
        unlabelled cases, and the state is the same as if only the labelled rows had been added.

        Parameters
        ----------
        y_score : array of n scores, or mapping or data frame with a column for the decision's model
            Scores of the cases.
        when : str or number, optional
            Name of the batch. A batch with the same rows and name is counted only once. Without a name, labelled rows
            cannot replace the cases.

        Raises
        ------
        InputError
            If the monitor watches scores or classes, and not a decision or plan.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose, monitor
        >>> watch = monitor(choose(ThresholdCounts([2, 1], [3, 1], [1, 5]), Context(cost_fn=5)))
        >>> watch.planned_volume, watch.update_unlabelled([2, 1, 1, 1] * 50, when="Mon").volume
        (0.4, Estimate(0.25, 95% CI [0.157, 0.3636], n=200))

        Later, the labels of Monday are known:

        >>> watch = watch.update([1, 0, 0, 0] * 50, [2, 1, 1, 1] * 50, when="Mon")
        >>> watch.n, watch.volume.n
        (200, 0)
        """
        if not self._means or "classes" in self.rule:
            expected = "a monitor of a decision or plan"
            raise InputError("monitor", expected=expected, got="a monitor of scores or classes")
        score = self._score(y_score)
        acted = self._predicted(score)
        digests, acting = digests_of(acted, score, np.ones(acted.size)), int(acted.sum())
        look = UnlabelledLook(check_when(when), 0, *digests, acting, acted.size - acting)
        with self._lock:
            if has_labels(self._looks, look.when, look.scores):
                warn("these rows were already counted with labels and are omitted")
            elif counted_before(self._unlabelled, look.when, look.digest, acted.size) is not None:
                warn("these rows were already counted for the volume and are omitted")
            else:
                self._unlabelled = [*self._unlabelled, look]
        return self

    @property
    def volume(self) -> Estimate:
        """Share of the unlabelled cases that are acted on, with a confidence sequence.

        `planned_volume` is the planned share. The interval is valid simultaneously after all batches, until labelled
        rows replace a batch. Then a new sequence of intervals begins.
        """
        acting = sum(look.acting for look in self._unlabelled)
        left = sum(look.left for look in self._unlabelled)
        n = acting + left
        ends = sequence.mean_interval(np.array([0.0, 1.0]), np.array([left, acting]), self.level) if n else (0.0, 1.0)
        value = acting / n if n else math.nan
        return Estimate(value, *ends, self.level, "confidence sequence by bets", n, reason="" if n else "no rows")

    @property
    def planned_volume(self) -> float:
        """Share of cases on which the decision acts, in the sample from which the decision was made."""
        cells = self._chosen_on
        return math.nan if cells is None else float((cells[0] + cells[1]) / cells.sum())

    def _rows(self, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return validated labels, scores and weights."""
        if isinstance(y_true, Predictions):
            positive, y_score, sample_weight = y_true.y_true, y_true.scores, y_true.sample_weight
        else:
            check.check_same_index(y_true=y_true, y_score=y_score)
            positive = check.check_labels(y_true, pos_label)
        return positive, self._score(y_score, positive.size), check.check_weights(sample_weight, positive.size)

    def _add(self, label: Array, score: Array, weight: Array, look: Look) -> None:
        """Count rows in the block of their day, and test the limits."""
        counted = self._count(label, score, weight)
        block = block_of(self._looks, look.when)
        if block is None:
            if sequence.begins(self._blocks):
                self._blocks.append(sequence.LookBlock.empty(look.when, self._size))
            block = len(self._blocks) - 1
        self._blocks[block] = self._blocks[block].plus(counted)
        if score.ndim == 1:  # probabilities of several classes cannot be ranked together
            self._ranking.add(block, score, weight * label, weight * ~label)
        self._looks.append(replace(look, block=block))
        self._judge(look.when)

    def _score(self, y_score: Any, n: int | None = None) -> Any:
        if isinstance(y_score, dict) and len(y_score) == 1 and self.rule["model"] is None:
            (y_score,) = y_score.values()
        if self.rule["model"] is not None:
            (y_score,) = scores_of([self.rule["model"]], y_score).values()
        return check.check_scores(y_score, n)

    def _count(self, label: Any, score: Any, weight: Any) -> sequence.LookBlock:
        predicted = self._predicted(score)
        cells = [label & predicted, ~label & predicted, label & ~predicted, ~label & ~predicted]
        block = sequence.LookBlock(None, np.array([weight[mask].sum() for mask in cells]), np.zeros(3), {})
        of_calibration = [limit for limit in self.limits if limit.quantity == "calibration"]
        probabilities = self._probabilities and check.are_probabilities(score)
        if not probabilities and of_calibration:
            raise InputError("scores", expected="probabilities (for the limit on calibration)", got="other numbers")
        self._probabilities = probabilities
        if probabilities:
            residual = label - score.astype(np.float64).clip(0, 1)
            block.residuals = np.array([weight.sum(), residual @ weight, residual**2 @ weight])
            block.bets = {str(limit): sequence.bets_on_residuals(residual, weight, limit) for limit in of_calibration}
        return block

    def _predicted(self, score: Any) -> Any:
        rule = self.rule
        if rule["threshold"] is None:
            return np.full(score.size, rule["kind"] == "always")
        return predict(score, rule["threshold"], rule["negated"])

    @property
    def _cells(self) -> Any:
        return sequence.total(self._blocks, self._size).cells

    @property
    def interval(self) -> dict[str, Estimate]:
        """All metrics with confidence sequences: intervals that are valid simultaneously after all batches.

        Notes
        -----
        Cost, error and rates have betting confidence sequences (Waudby-Smith & Ramdas). These are valid for any number
        of rows if the mean is constant. The AUC and the calibration have asymptotic confidence sequences. The
        calibration is the observed minus the expected number of positives per case. It is available if all scores are
        probabilities.
        """
        cells, intervals = self._cells, {}
        for name, mean in self._means.items():
            value, n = mean.of(cells)
            ends = sequence.interval_of(mean, cells, self.level)
            reason = "no rows" if np.isnan(value) else ""
            method = "confidence sequence by bets" + (", class mix given" if mean.mixed else "")
            intervals[name] = Estimate(value, *ends, self.level, method, n, reason=reason)
        ranked = {"auc": self._ranking.auc(self.level), "calibration": self._calibration()}
        return intervals | {name: estimate for name, estimate in ranked.items() if estimate is not None}

    def _calibration(self) -> Estimate | None:
        n, total, squares = sum((block.residuals for block in self._blocks), np.zeros(3))
        if not self._probabilities or n < 2:
            return None
        mean = total / n
        error = sqrt(max(squares / n - mean**2, 0.0) / n)
        reach = sequence.asymptotic_reach(n, self.level) * error
        method, reason = "asymptotic confidence sequence", "" if n >= MANY_ROWS else f"fewer than {MANY_ROWS} rows"
        return Estimate(mean, mean - reach, mean + reach, self.level, method, n, error, reason)

    @property
    def wealth(self) -> dict[str, float]:
        """E-value against each of k limits; an alarm is raised if an e-value reaches k/(1 − level).

        An e-value is the wealth after betting against the limit, starting from 1. As long as the limit is not crossed,
        bets at fair odds gain nothing on average. The probability of ever reaching an e-value of 5 is then at most 1/5.
        """
        return {str(limit): self._evidence(limit).wealth if self._blocks else 1.0 for limit in self.limits}

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about the validity of alarms, such as a prevalence that varies more than by chance."""
        if self.target_prevalence is not None:
            return ()
        # Cells of positives and of negatives alternate.
        by_class = np.array([block.cells.reshape(-1, 2).sum(axis=0) for block in self._blocks]).reshape(-1, 2)
        note = sequence.varying_prevalence(by_class)
        return (note,) if note else ()

    def _evidence(self, limit: Condition) -> sequence.Betting:
        if limit.quantity == "auc":
            rows = np.array([block.n for block in self._blocks])
            return sequence.spread(self._ranking.evidence(limit.bound, limit.upwards), rows)
        return sequence.evidence_of(self._blocks, limit, self._means.get(limit.quantity))

    def _judge(self, when: Any) -> None:
        """Set the alarm if the wealth against a limit is high enough. An earlier alarm is not replaced."""
        if self.alarm is not None:
            return
        for limit in self.limits:
            betting = self._evidence(limit)
            # Ville's inequality, with the error probability divided among the limits (Bonferroni).
            if betting.wealth >= len(self.limits) / (1 - self.level):
                self.alarm = self._alarm(limit, betting, when)
                return

    def _alarm(self, limit: Condition, betting: sequence.Betting, when: Any) -> Alarm:
        since, mean = betting.since, self._means.get(limit.quantity)
        later = self._blocks[since:]
        if limit.quantity == "auc":
            value = self._ranking.area(since)
        elif mean is None:
            n, total, _ = sum((block.residuals for block in later), np.zeros(3))
            value = total / n
        else:
            value, _ = mean.of(sequence.total(later, self._size).cells)
        before = sum(block.n for block in self._blocks[:since])
        cause = sequence.causes_of(self._blocks, since, self._chosen_on, self._shares)
        began = self._blocks[since].when
        return Alarm(str(limit), self.n, when, before, began, float(value), betting.wealth, cause)

    def merge(self, other: "Monitor") -> "Monitor":
        """Return a monitor with the rows of two monitors that have the same rule and limits.

        Parameters
        ----------
        other : Monitor
            Monitor of other rows.

        Raises
        ------
        InputError
            If the two monitors differ in rule, limits or level, or if both monitors counted the same batch.

        Notes
        -----
        For each block, the e-values of the two monitors are multiplied. The limits are tested again on the combined
        rows. Cases without labels are omitted if the other monitor contains the same batch with labels.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose, monitor
        >>> decision = choose(ThresholdCounts([2, 1], [1, 0], [0, 1]))
        >>> first, second = monitor(decision), monitor(decision)
        >>> _ = first.update([1, 0], [2, 1])
        >>> _ = second.update([1], [1])
        >>> first.merge(second).n
        3
        """
        if not self.watches_as(other):
            got = "different rules, limits or levels"
            raise InputError("monitors to merge", expected="equal rules, limits and levels", got=got)
        for looks, others in ((self._looks, other._looks), (self._unlabelled, other._unlabelled)):
            for look in others:
                if counted_before(looks, look.when, look.digest, 0 if look.when is None else 1) is not None:
                    got = f"the batch {look.when} in both monitors"
                    raise InputError("monitors to merge", expected="different batches", got=got)
        both = Monitor.from_dict(self.to_dict())
        for number, block in enumerate(other._blocks):
            if number == len(both._blocks):
                both._blocks.append(sequence.LookBlock.empty(block.when, self._size))
            both._blocks[number] = both._blocks[number].plus(block)
        both._ranking.merge(other._ranking)
        both._probabilities = self._probabilities and other._probabilities
        both._looks, both.alarm = self._looks + other._looks, None
        unlabelled = self._unlabelled + other._unlabelled
        both._unlabelled = [look for look in unlabelled if not has_labels(both._looks, look.when, look.scores)]
        if both._blocks:
            both._judge(both._blocks[-1].when)
        return both

    def to_dict(self) -> dict[str, Any]:
        """Return the full state as JSON-compatible data. The state contains counts, but no rows.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose, monitor
        >>> state = monitor(choose(ThresholdCounts([2, 1], [1, 0], [0, 1])), fail_if="tpr < .5").to_dict()
        >>> state["limits"], state["level"], state["alarm"]
        (['tpr < 0.5'], 0.95, None)
        """
        content: dict[str, Any] = {
            "rule": self.rule,
            "limits": [str(limit) for limit in self.limits],
            "level": self.level,
            "looks": [vars(look) for look in self._looks],
            "alarm": None if self.alarm is None else vars(self.alarm),
            "probabilities": self._probabilities,
            "blocks": [block.to_dict() for block in self._blocks],
            "ranking": self._ranking.to_dict(),
        }
        if self.target_prevalence is not None:
            content["target_prevalence"] = self.target_prevalence
        if self._unlabelled:
            counts = [sum(look.acting for look in self._unlabelled), sum(look.left for look in self._unlabelled)]
            content["volume"] = {"looks": [vars(look) for look in self._unlabelled], "counts": counts}
        return jsonable(content)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Monitor":
        """Restore a monitor from the result of `to_dict`.

        Parameters
        ----------
        content : dict
            Result of `to_dict`.

        Raises
        ------
        StoredError
            If the content is not the state of a monitor.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose, monitor
        >>> monitored = monitor(choose(ThresholdCounts([2, 1], [1, 0], [0, 1])))
        >>> _ = monitored.update([1, 0], [2, 1])
        >>> Monitor.from_dict(monitored.to_dict()).n
        2
        """
        return cls._of(Fields(content, "state of a monitor", FORMAT.hint))

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the state to a JSON file. If the file exists, it is overwritten; with `force=False` an error is raised.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope import ThresholdCounts, choose, monitor
        >>> monitored = monitor(choose(ThresholdCounts([2, 1], [1, 0], [0, 1])))
        >>> with TemporaryDirectory() as folder:
        ...     monitored.save(f"{folder}/monitor.json").name
        'monitor.json'
        """
        return write_file(path, FORMAT.text(self.to_dict()), force=force, endings=JSON)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Monitor":
        """Load a monitor that was saved with `save`.

        Parameters
        ----------
        path : str or path
            Name of the file.

        Raises
        ------
        StoredError
            If the file cannot be read, has an unknown format version, is incomplete, or was changed after saving.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope import ThresholdCounts, choose, monitor
        >>> monitored = monitor(choose(ThresholdCounts([2, 1], [1, 0], [0, 1]))).update([1, 0], [2, 1])
        >>> with TemporaryDirectory() as folder:
        ...     Monitor.load(monitored.save(f"{folder}/monitor.json")).n
        2
        """
        fields = FORMAT.read(path)
        monitor = cls._of(fields)
        fields.require_same(fields.make("", monitor.to_dict), {"looks": ("scores", "acting", "left")})
        return monitor

    @classmethod
    def _of(cls, fields: Fields) -> "Monitor":
        rule = fields.take("rule", dict, "the rule of a decision")
        if "classes" in rule:
            return reach("class_monitoring").ClassMonitor.of_fields(fields)
        if "plan" in rule:
            return reach("plan_monitoring").PlanMonitor.of_fields(fields)
        level, limits = fields.number("level"), fields.texts("limits")
        mix = fields.number("target_prevalence", 0, 1) if "target_prevalence" in fields.content else None
        monitor = fields.make("limits", cls, rule_of_fields(fields), limits, level, mix)
        monitor._probabilities = fields.take("probabilities", bool, "true or false")
        if not monitor._probabilities and any(limit.quantity == "calibration" for limit in monitor.limits):
            fields.refuse("probabilities", "true (needed for a limit on calibration)")
        monitor._restore(fields)
        monitor._ranking.add_dict(ranking_of_fields(fields, monitor._blocks))
        return monitor

    def _restore(self, fields: Fields) -> None:
        """Restore the blocks, the counted batches and the alarm of a stored state."""
        self._blocks = blocks_of_fields(fields, fields.texts("limits"), self._size)
        self._looks = looks_of_fields(fields, len(self._blocks))
        if "volume" in fields.content:
            self._unlabelled = unlabelled_of_fields(fields.inner("volume", "batches without labels"))
        self.alarm = alarm_of_fields(fields)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {estimate.words}" for name, estimate in self._shown().items())
        alarm = "no alarm" if self.alarm is None else f"ALARM {self.alarm}"
        return f"Monitor(n={self.n:,}, {self.looks:,} looks, {shown or 'no rows'}, {alarm})"

    def _shown(self) -> dict[str, Estimate]:
        watched = {limit.quantity for limit in self.limits}
        intervals = self.interval if self.n else {}
        limited = {name: estimate for name, estimate in intervals.items() if name in watched}
        return limited or dict(list(intervals.items())[:1])

    def _repr_html_(self) -> str:
        intervals = self.interval if self.n else {}
        rows = [(name, f"{it.value:.4g}", f"[{it.low:.4g}, {it.high:.4g}]") for name, it in intervals.items()]
        return f"<p>{escape(repr(self))}</p>{html_table(rows)}"


class CellMonitor(Monitor):
    """Base class of monitors that count other outcomes than tp, fp, fn and tn, without AUC and calibration."""

    def _block_of(self, cell: Array, weight: Any) -> sequence.LookBlock:
        """Return a block, given the index of the outcome of each row."""
        return sequence.LookBlock(None, np.bincount(cell, weight, self._size).astype(np.int64), np.zeros(3), {})

    def to_dict(self) -> dict[str, Any]:
        """Return the full state as JSON-compatible data. The state contains counts, but no rows."""
        of_scores = ("probabilities", "ranking")
        return {name: value for name, value in super().to_dict().items() if name not in of_scores}


@contract
def monitor(
    what: Any, *, fail_if: str | Sequence[str] = (), level: float = 0.95, target_prevalence: float | None = None
) -> Monitor:
    """Monitor a decision, or the AUC and calibration of scores, with intervals and alarms valid after every batch.

    Parameters
    ----------
    what : any plan, ClassWeights, path of a saved plan, "auc" or "calibration"
        What to monitor:

        - a Decision: cost per case, tpr, fpr, precision, depth, error, AUC and calibration are monitored;
        - "auc" or "calibration": only the AUC and the calibration of the scores are monitored;
        - any other plan (campaign, allocation, reviews, randomised rule): the same metrics as for a Decision, except
          AUC and calibration. If costs differ between rows, only rates are monitored, because such costs have no upper
          bound. A reviewed case counts as classified correctly;
        - ClassWeights: the error and the recall of each class are monitored. If the weights were chosen for a cost
          matrix, the cost is also monitored.
    fail_if : str or sequence of str
        Conditions that raise an alarm, such as "cost > .35", "precision < .5", "npv < 90%" or "auc < .7". The condition
        "calibration > 0" means more positives than expected. Any metric that is a mean over rows may be used. For
        several classes, name the class, as in "recall(cat) < .8" or "precision(cat) < .5".
    level : float
        Confidence level of the intervals. The probability that a false alarm is ever raised is at most 1 − level.
    target_prevalence : float, optional
        Share of positives at which cost, error, depth, precision and similar metrics are estimated. By default, the
        share among the new rows. With a target prevalence, alarms are valid even if the prevalence of the rows changes,
        provided that the rates within each class are constant.

    Returns
    -------
    Monitor
        A monitor without rows. Add rows with `Monitor.update`.

    Raises
    ------
    InputError
        If `what` cannot be monitored, or if `target_prevalence` is given for "auc", "calibration" or ClassWeights.

    See Also
    --------
    load_plan, drift

    Notes
    -----
    If an ordinary test is repeated every day, it eventually gives a false alarm. The intervals and alarms of a monitor
    are based on e-values: the wealth from bets at fair odds against a claim. If the claim is true, the wealth is
    unlikely to ever become large, however often you look.

    By default, costs refer to the prevalence of the new rows, not to the prevalence for which the decision was made.

    References
    ----------
    Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1–27; Ramdas, Grünwald, Vovk & Shafer 2023, Stat. Sci. 38:576–601.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose
    >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
    >>> watch = monitor(decision, fail_if="cost > .35")
    >>> for day in ("Mon", "Tue", "Wed"):
    ...     watch = watch.update([1, 0] * 50, [0.95, 0.1, 0.3, 0.2] * 25, when=day)  # half of the positives are missed
    >>> watch.alarm is None
    True
    >>> for day in ("Thu", "Fri"):
    ...     watch = watch.update([1, 0] * 50, [0.1, 0.1] * 50, when=day)  # all positives are missed
    >>> print(watch.alarm)
    cost > 0.35 is true since about Thu: 0.5 (alarm at 500 rows; tpr (0.5 → 0), calibration (0.113 → 0.4))
    """
    limits = [fail_if] if isinstance(fail_if, str) else list(fail_if)
    if isinstance(what, str) and what in sequence.RANKED.values():
        if target_prevalence is not None:
            raise InputError("target_prevalence", expected=f"None with {what!r}", got=repr(target_prevalence))
        return Monitor(SCORES_ONLY, limits, level)
    decision = load_plan(what) if isinstance(what, str | os.PathLike) else what
    if isinstance(decision, Plan):
        if isinstance(decision, Decision) and not (decision.lot or decision.review or decision.columns):
            return Monitor(rule_of(decision), limits, level, target_prevalence)
        return reach("plan_monitoring").monitor_plan(decision, limits, level, target_prevalence)
    return reach("class_monitoring").ClassMonitor(decision, limits, level, target_prevalence)
