"""Monitor plans in use: campaign plans, allocations with one or several actions, reviews and randomised rules.

A plan assigns one of a few treatments to each case (`Treatment`): act, do not act, or review. The costs of a treatment
may differ between segments and actions. The rows are counted in cells, one cell for each pair of a treatment and a
class. `rocscope.inference.confidence_sequence` computes means over these cells, in the same way as means over tp, fp,
fn and tn of a decision.

The treatment of a case does not depend on other cases. It depends on the thresholds of the plan and, within a tie or
between two thresholds, on the hash of the case's identifier. The rows of a batch are therefore independent, as the
confidence sequence requires, and batches may be small. In contrast, `Plan.select` acts on exactly the planned number of
cases. If scores drift, the number of treated cases differs from the planned number; `Monitor.volume` shows the
difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import held_to_contract
from rocscope._base.json_format import Fields, StoredText
from rocscope.core import Context, Predictions
from rocscope.core.applying import scores_of, size_of
from rocscope.decisions.allocating import ActionAllocation
from rocscope.decisions.allocation import Allocation
from rocscope.decisions.campaign import CampaignPlan
from rocscope.decisions.decision import Decision
from rocscope.decisions.loading import load_plan
from rocscope.decisions.monitoring import CellMonitor, Monitor
from rocscope.errors import InputError
from rocscope.figures.registry import known
from rocscope.inference import confidence_sequence as sequence

# Index of a positive and of a negative among tp, fp, fn and tn. A reviewed case counts as treated correctly.
_ACTED, _LEFT, _REVIEWED = (0, 1), (2, 3), (0, 3)


@dataclass(frozen=True)
class Treatment:
    """Treatment of cases by a plan, with its costs.

    Attributes
    ----------
    cells : tuple of 2 int
        Cells in which a treated positive and a treated negative are counted: 0 for tp, 1 for fp, 2 for fn, 3 for tn.
    costs : tuple of 2 float
        Cost of a treated positive and of a treated negative; 0 if the costs differ between rows.
    """

    cells: tuple[int, int]
    costs: tuple[float, float]


@held_to_contract
class PlanMonitor(CellMonitor):
    """Monitor of a plan in use; for methods and attributes see `Monitor`.

    Returned by `rocscope.monitor` and `Monitor.load`.

    Attributes
    ----------
    plan : CampaignPlan, Allocation, ActionAllocation or Decision
        The monitored plan.

    Examples
    --------
    >>> from rocscope import Campaign, ThresholdCounts, monitor, plan_campaign
    >>> plan = plan_campaign(ThresholdCounts([2, 1], [30, 10], [10, 50]), Campaign(100, unit_cost=1, unit_benefit=4))
    >>> watch = monitor(plan, fail_if="precision < .5")
    >>> watch.update([1, 0, 1, 1] * 50, [2, 2, 1, 2] * 50).interval["precision"].value  # two of three contacts respond
    0.6666666666666666
    >>> watch.planned_volume, watch.interval["cost"].value  # contacts cost 1, and 100 of 200 customers bring 4
    (0.4, -1.25)
    """

    def __init__(self, plan: Any, limits: Sequence[str], level: float) -> None:
        self.plan, self.level, self.target_prevalence = plan, check.check_level(level), None
        self.rule = {"plan": plan.to_json()}
        self.limits = tuple(sequence.limit_of(text, of_decision=True) for text in limits)
        self._treatments, self._index = _treatments_of(plan)
        quantities = [limit.quantity for limit in self.limits]
        names = dict.fromkeys((*(() if plan.columns else ("cost",)), *sequence.SHOWN, *quantities))
        if isinstance(plan, Decision) and plan.review is not None and not plan.review.review.is_perfect:
            # The rows do not contain the reviewer's decision about a case, only the average cost of such cases is
            # known.
            names = {"cost": None}
            if others := [quantity for quantity in quantities if quantity != "cost"]:
                hint = "omit it, because rows do not contain the reviewer's decisions"
                raise InputError(
                    "fail_if", expected="only cost with imperfect reviews", got=", ".join(others), hint=hint
                )
        cells = np.array([treatment.cells for treatment in self._treatments]).ravel()
        costs = np.array([treatment.costs for treatment in self._treatments]).ravel()
        self._means = {}
        for name in names:
            if name in sequence.RANKED.values() or (name == "cost" and plan.columns):
                expected = "a metric that is a mean over cases (such as 'precision')"
                raise InputError(
                    "fail_if", expected=expected, got=name, hint="to monitor the AUC, use rocscope.monitor('auc', …)"
                )
            values, used = costs, np.ones(cells.size)
            if name != "cost":
                values, used = np.array(known(name).parts)[:, cells]  # pyright: ignore[reportOptionalMemberAccess]
            self._means[name] = sequence.CellMean.over(name, values, used)
        self._chosen_on = None
        self._shares = [
            ("class mix", np.arange(0, cells.size, 2).tolist(), list(range(cells.size))),
            ("tpr", np.flatnonzero(cells == 0).tolist(), np.arange(0, cells.size, 2).tolist()),
            ("fpr", np.flatnonzero(cells == 1).tolist(), np.arange(1, cells.size, 2).tolist()),
        ]
        self._begin(cells.size)

    @property
    def planned_volume(self) -> float:
        """Expected share of cases that the plan acts on."""
        if isinstance(self.plan, CampaignPlan):
            return float(self.plan.depth) if self.plan.worthwhile else 0.0
        if isinstance(self.plan, Decision):
            return self.plan.expected(1).depth
        return float(self.plan.allocations[0].cases.sum() / self.plan.population.sum())

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, y_true: Any, y_score: Any = None, *, ids: Any = None, segment: Any = None, **options: Any
    ) -> "PlanMonitor":
        """Add a batch of labelled rows, and test the limits.

        Parameters
        ----------
        y_true, y_score, **options : see `Monitor.update`
        ids : array of n identifiers, optional
            Identifiers of the rows. Ties are broken by their hashes, as in `Plan.select`. By default, the row numbers.
        segment : array of n segments
            Segment of each row; needed only if the plan is an allocation.
        """
        if isinstance(y_true, Predictions):
            segment = y_true.segment if segment is None else segment
            options["sample_weight"] = y_true.sample_weight
            y_true, y_score = y_true.y_true, y_true.scores
        super().update(y_true, self._treated(y_score, ids, segment), **options)
        return self

    def update_unlabelled(self, y_score: Any, *, when: Any = None, ids: Any = None, segment: Any = None) -> "Monitor":
        """Add a batch of cases without labels; see `Monitor.update_unlabelled`. `ids` and `segment` as in `update`."""
        return super().update_unlabelled(self._treated(y_score, ids, segment), when=when)

    def _treated(self, scores: Any, ids: Any, segment: Any) -> Array:
        """Return the scores that the plan uses, with the index of the treatment of each case as the last column."""
        places = _places(self.plan, scores, ids, segment)
        index = self._index[places]
        columns = scores_of(list(self.plan.needs), scores).values() if self.plan.needs else ()
        return np.column_stack([*columns, index]).astype(float)

    def _rows(self, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        positive = check.check_labels(y_true, pos_label)
        if positive.size != len(y_score):
            raise InputError("y_true", expected=f"{len(y_score):,} labels", got=f"{positive.size:,}")
        return positive, y_score, check.check_weights(sample_weight, positive.size)

    def _score(self, y_score: Any, n: int | None = None) -> Any:  # noqa: ARG002
        return y_score

    def _predicted(self, score: Any) -> Any:
        acted = np.array([treatment.cells == _ACTED for treatment in self._treatments])
        return acted[score[:, -1].astype(int)]

    def _count(self, label: Any, score: Any, weight: Any) -> sequence.LookBlock:
        return self._block_of(2 * score[:, -1].astype(int) + ~label, weight)

    @classmethod
    def of_fields(cls, fields: Fields) -> "PlanMonitor":
        """Return the monitor stored in a JSON object, which contains the text of the plan's file."""
        text = StoredText(fields.inner("rule", "a plan").text("plan"), "plan")
        plan = fields.make("rule", load_plan, text)
        monitor = fields.make("limits", cls, plan, fields.texts("limits"), fields.number("level"))
        monitor._restore(fields)
        return monitor


def monitor_plan(plan: Any, limits: Sequence[str], level: float, target_prevalence: Any) -> PlanMonitor:
    """Return a new monitor of a plan, to which no rows were added; see `rocscope.monitor`."""
    if target_prevalence is not None:
        expected = "None for plans other than a decision with one threshold"
        raise InputError("target_prevalence", expected=expected, got=repr(target_prevalence))
    return PlanMonitor(plan, limits, level)


def _treatments_of(plan: Any) -> tuple[list[Treatment], Indices]:
    """Return the treatments of a plan, and an array that maps the results of `_places` to treatments."""
    if isinstance(plan, Allocation | ActionAllocation):
        by_place = _costs_by_segment(plan)
    else:
        context = plan.campaign.context if isinstance(plan, CampaignPlan) and not plan.columns else Context()
        if isinstance(plan, Decision) and not plan.columns:
            context = plan.context
        costs = context.costs
        by_place = [Treatment(_LEFT, (costs["fn"], costs["tn"])), Treatment(_ACTED, (costs["tp"], costs["fp"]))]
        if isinstance(plan, Decision) and plan.review is not None:
            by_place.append(Treatment(_REVIEWED, plan.review.review.costs(costs)))
        return by_place, np.arange(len(by_place))
    treatments = list(dict.fromkeys(treatment for segment in by_place for treatment in segment))
    number = {treatment: i for i, treatment in enumerate(treatments)}
    return treatments, np.array([[number[treatment] for treatment in segment] for segment in by_place])


def _costs_by_segment(plan: Allocation | ActionAllocation) -> list[list[Treatment]]:
    """Return the treatments in each segment: first no action, then the actions in the order of the plan."""
    by_segment = []
    for segment in range(plan.names.size):
        first = plan.allocations[0].terms.of(segment)
        cost_pos, cost_neg = first.miss, first.rest
        treatments = [Treatment(_LEFT, (float(cost_pos), float(cost_neg)))]
        for place in plan.allocations:
            # Changes of the costs by this action, relative to the previous action.
            unit = place.terms.of(segment)
            cost_pos, cost_neg = cost_pos - unit.hit, cost_neg + unit.alarm
            treatments.append(Treatment(_ACTED, (float(cost_pos), float(cost_neg))))
        by_segment.append(treatments)
    return by_segment


def _places(plan: Any, scores: Any, ids: Any, segment: Any) -> Any:
    """Return the treatment of each case (0: no action, 1, 2, …: actions, review); for allocations also its segment."""
    if isinstance(plan, CampaignPlan):
        return plan.rule.predict(scores, ids).astype(int) if plan.worthwhile else np.zeros(size_of(scores), int)
    if isinstance(plan, Decision):
        # Without planned numbers of cases, each case is decided separately.
        if plan.review is not None:
            plan = replace(plan, review=replace(plan.review, share=None))
        if plan.lot is not None:
            plan = replace(plan, lot=replace(plan.lot, at_most=None))
        said = plan.predict(scores, ids)
        return np.where(said == "act", 1, np.where(said == "review", 2, 0)) if plan.review else said.astype(int)
    first = plan.allocations[0]
    cases = first.listed(scores, segment)
    identifiers = np.arange(cases.code.size) if ids is None else np.asarray(ids)
    place = np.zeros(cases.code.size, int)
    names = list(first.keys)
    for i, index in enumerate(cases.segments.tolist()):
        rows = np.flatnonzero(cases.code == i)
        columns = {model: column[rows] for model, column in cases.scores.items()}
        for allocation in plan.allocations:
            place[rows] += allocation.rule(names[index]).predict(columns, identifiers[rows])
    return cases.segments[cases.code], place
