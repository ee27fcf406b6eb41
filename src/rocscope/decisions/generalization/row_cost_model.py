"""What rows of different costs cost under a choice: as it was chosen among thresholds, or as it is given."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.core.row_costs import PARTS
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.generalization.candidates import Option, Options
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.cost_draws import CostsOfRows
from rocscope.decisions.generalization.resampling import InSample
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.decisions.row_costs import PricedRows
from rocscope.inference.means import MeanSample, sample_of_means
from rocscope.inference.resampling.draws import Design


@dataclass(frozen=True)
class Bill:
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

    def options(self) -> Options:
        """Return the thresholds of all models of the rows in money, with what they cost."""
        models, (left, added) = self.priced.rows.models, self._parts
        share: Any = self.priced.stakes.weight
        share = 1 / left.size if share is None else share / share.sum()
        at_stake, least = (np.abs(added) * share).sum(), ((left + np.minimum(added, 0)) * share).sum()
        rule = Rule(criterion_of("min_cost"), Context(), models=len(models))
        each = (Option(model, model, rule, times=float(at_stake), fixed=float(least) + self.fixed) for model in models)
        return Options(tuple(each), idle=0.0 if self.only_added else None)

    def of_choice(self, design: Design, options: Options, sample: InSample) -> CostsOfRows:
        """Return the costs of the thresholds of each option."""

        def acts(points: list[Array]) -> list[Array]:
            chosen = zip(options.each, points, strict=True)
            return [
                self._acts(option.model, design.tallies[option.model].threshold, int(at[0])) for option, at in chosen
            ]

        return CostsOfRows(options, self.means(acts(sample.points), acts(sample.acting)), self.least, sample.option)

    def _acts(self, model: str, threshold: Array, point: int) -> Array:
        return self.priced.acts(model, threshold[point - 1] if point else inf)

    def means(self, chosen: list[Array], acting: list[Array]) -> MeanSample:
        """Return mean costs of acting on shares of rows, what others cost more than nobody, and what nobody costs."""
        left, added = self._parts
        values = np.column_stack([*(left + added * acts for acts in chosen), *(added * acts for acts in acting), left])
        return sample_of_means(self.priced.rows, values, self.priced.context.target_prevalence, None, "auto")

    def as_given(self, acts: Array, why: str, level: float, seed: int) -> ChosenEstimate:
        """Return the cost of a rule that is not chosen anew, and why: of acting on so much of each row."""
        law = CostsOfRows(self.options(), self.means([acts], [acts]), self.least, 0)
        value, added = float(law.means.mean[0]) + self.fixed, float(law.means.mean[1]) + self.fixed
        return ChosenEstimate.of_draws(
            np.maximum(value + law.off(0, seed), law.least),
            level=level,
            value=value,
            method=f"{law.note}, as given",
            n=law.n,
            reason=", and ".join(doubt for doubt in (why, law.doubt) if doubt),
            apparent=value,
            acting=float((added + law.off(1, seed) < 0).mean()),
        )
