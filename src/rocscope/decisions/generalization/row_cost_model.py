"""Costs that differ by row: what each threshold, or a given rule, costs on resampled rows."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.core.row_costs import PARTS
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.generalization.candidates import Candidate, Candidates
from rocscope.decisions.generalization.chosen_estimate import FixedRule
from rocscope.decisions.generalization.cost_draws import DrawsOfRows
from rocscope.decisions.generalization.resampling import InSample
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.decisions.row_costs import PricedRows
from rocscope.inference.costs import sample_of_means
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.pareto_tail import ParetoTail
from rocscope.inference.reliability import FEW_EVENTS, few
from rocscope.inference.resampling.draws import Design


@dataclass(frozen=True)
class RowCostModel:
    """Rows with costs of their own: of `times` as many cases, with what is `fixed` beside; or only what acting adds."""

    priced: PricedRows
    times: float = 1.0
    fixed: float = 0.0
    only_added: bool = False

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """What leaving and acting on each row costs, the latter beyond the former."""
        stakes, scale = self.priced.stakes, self.times / PARTS
        return stakes.left * (0.0 if self.only_added else scale), -stakes.gain * scale

    @cached_property
    def least(self) -> float:
        """The mean cannot be below what the cheapest row would cost at best."""
        left, added = self._parts
        return float((left + np.minimum(added, 0)).min()) + self.fixed

    @cached_property
    def candidates(self) -> Candidates:
        """The thresholds of all models of the rows in money, with what they cost."""
        models, (left, added) = self.priced.rows.models, self._parts
        share: Any = self.priced.stakes.weight
        share = 1 / left.size if share is None else share / share.sum()
        at_stake, least = (np.abs(added) * share).sum(), ((left + np.minimum(added, 0)) * share).sum()
        rule = Rule(criterion_of("min_cost"), Context(), models=len(models))
        each = (
            Candidate(model, model, rule, times=float(at_stake), fixed=float(least) + self.fixed) for model in models
        )
        return Candidates(tuple(each), idle=0.0 if self.only_added else None)

    def draws(self, design: Design, sample: InSample, stratified: bool, weights: WeightKind) -> DrawsOfRows:
        """Return draws of the cost of the threshold that is chosen for each candidate."""

        def acts(points: list[Array]) -> list[Array]:
            chosen = zip(self.candidates.each, points, strict=True)
            return [self._acts(each.model, design.tallies[each.model].threshold, int(at[0])) for each, at in chosen]

        return self._drawn(acts(sample.points), acts(sample.acting_points), sample.number, stratified, weights)

    def _drawn(
        self,
        chosen: list[Array],
        acting: list[Array],
        number: int,
        stratified: bool = False,
        weights: WeightKind = "auto",
    ) -> DrawsOfRows:
        """Return draws of what acting on shares of rows costs, and what acting on others costs more than nobody."""
        left, added = self._parts
        values = np.column_stack([*(left + added * acts for acts in chosen), *(added * acts for acts in acting), left])
        rows, share = self.priced.rows, self.priced.context.target_prevalence
        share = rows.prevalence if stratified and share is None else share
        means, amounts = sample_of_means(rows, values, share, None, weights), np.abs(added)
        weight = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        unseen, doubt = np.zeros((values.shape[1], 2)), means.doubt
        for own, of_class in ((rows.y_true, share), (~rows.y_true, None if share is None else 1 - share)):
            tail = ParetoTail.of(amounts[own])
            if tail is None:
                continue
            each = (weight[own].sum() / weight.sum() if of_class is None else of_class) / own.sum()
            bears = (np.abs(values[own]) >= amounts[own, None] / 2) & (amounts[own, None] > 0)
            for i, column in enumerate(values[own].T):
                sign = np.sign(column[bears[:, i]].sum())
                found = tail.unseen(column, bears[:, i].sum() / np.count_nonzero(amounts[own]))
                unseen[i] += found * [each**2, sign * each**3]
            sure = chosen[number].min() == chosen[number].max()  # nobody or everybody, whatever comes
            few_bear = "" if sure else few(float(bears[:, number].sum()), FEW_EVENTS, "rows bear amounts")
            doubt = doubt or tail.doubt or few_bear
        return DrawsOfRows(self.candidates, means, self.least, number, unseen, doubt)

    def _acts(self, model: str, threshold: Array, point: int) -> Array:
        return self.priced.acts(model, threshold[point - 1] if point else inf)

    def given(self, acts: Array, why: str) -> FixedRule:
        """Return the rule of acting on so much of each row, as it is given."""

        def draw(_replicates: int, seed: int) -> tuple[Array, Array]:
            values, added = (mean + found.off(number, seed) for number, mean in enumerate(found.means.mean[:2]))
            values = np.maximum(values + self.fixed, found.least)
            return values, values - (added + self.fixed)

        found = self._drawn([acts], [acts], 0)
        why = ", and ".join(doubt for doubt in (why, found.doubt) if doubt)
        return FixedRule(float(found.means.mean[0]) + self.fixed, draw, f"{found.note}, as given", found.n, why)
