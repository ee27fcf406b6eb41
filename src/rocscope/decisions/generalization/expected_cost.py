"""The honest range of a choice: judged on cases that it was not made on, with the error that the choosing adds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.decisions.generalization.candidates import Options, design_of_all
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.cost_draws import PRIOR, CostsOfCounts, CostsOfRows
from rocscope.decisions.generalization.resampling import (
    FOLDS,
    HeldOut,
    InSample,
    Redrawn,
    drawn_again,
    held_out,
    in_sample,
)
from rocscope.decisions.generalization.row_cost_model import Bill
from rocscope.inference.estimate import Estimate
from rocscope.inference.resampling.draws import Design
from rocscope.sample import Samples, samples_of

_ERROR_OF_CHOICE = 0.5
_OF_MODELS = 0.75
_JAGGED = 0.25


@dataclass(frozen=True)
class Grounds:
    """What a choice was made on: the data of all models, and what was chosen among by which rule.

    Where costs differ from row to row these are rows in money, and `bill` tells what each row costs.
    """

    samples: Samples
    options: Options
    bill: Bill | None = None

    def interval(self, *, level: float, replicates: int, random_state: Any, progress: Progress) -> ChosenEstimate:
        """Return the cost of the choice, in the unit of its options, on cases that it was not made on."""
        check.check_level(level)
        check.check_whole(replicates, "replicates")
        for name, counts in self.samples.points().items():
            counts.require_both_classes(f"interval with {name!r}")
        seed = check.seed_of(random_state)
        design = design_of_all(self.samples, seed)
        sample = in_sample(design, self.options)
        judged = held_out(design, self.options, seed)
        drawn = drawn_again(design, self.options, sample, replicates, seed, progress)
        counted = CostsOfCounts(design, self.options, sample, drawn)
        law = counted if self.bill is None else self.bill.of_choice(design, self.options, sample)
        return _Found(design, self.options, sample, judged, drawn, law, level, seed).estimate()


@dataclass(frozen=True)
class PricedGrounds:
    """The same where costs differ from row to row.

    Attributes
    ----------
    bill : Bill
    acts : array of n shares
        How much of each row is acted on.
    why : str
        Why it is not chosen anew, if it is not.
    """

    bill: Bill
    acts: Array
    why: str = ""

    def interval(self, *, level: float, replicates: int, random_state: Any, progress: Progress) -> ChosenEstimate:
        """Return the cost of the choice; as it is given, also where one action is right in all rows."""
        money = self.bill.priced.in_money
        if not self.why and 0 < money.n_pos < money.n:
            grounds = Grounds(samples_of(money), self.bill.options(), self.bill)
            return grounds.interval(level=level, replicates=replicates, random_state=random_state, progress=progress)
        check.check_level(level)
        check.check_whole(replicates, "replicates")
        return self.bill.as_given(self.acts, self.why, level, check.seed_of(random_state))


@dataclass(frozen=True)
class AsGiven:
    """A rule that is not chosen anew: what cases of each class it gives each of several actions, and what they cost.

    Attributes
    ----------
    classes : two pairs of tuples
        Counts of positives by action and what each of them costs; the same of negatives.
    target_prevalence : float or None
    why : str
        Why it is not chosen anew.
    """

    classes: tuple[tuple[tuple[float, ...], tuple[float, ...]], tuple[tuple[float, ...], tuple[float, ...]]]
    target_prevalence: float | None
    why: str

    def interval(self, *, level: float, replicates: int, random_state: Any, progress: Progress) -> ChosenEstimate:  # noqa: ARG002
        """Return the cost of the rule, in `replicates` times ten draws from Jeffreys' posterior."""
        check.check_level(level)
        rng = np.random.default_rng([check.seed_of(random_state), 3])
        draws = 10 * check.check_whole(replicates, "replicates")
        n_pos, n_neg = (float(sum(counts)) for counts, _ in self.classes)
        prevalence = rng.beta(n_pos + PRIOR, n_neg + PRIOR, draws)
        prevalence = prevalence if self.target_prevalence is None else self.target_prevalence
        own = n_pos / (n_pos + n_neg) if self.target_prevalence is None else self.target_prevalence
        drawn, means = [], []
        for counts, costs in self.classes:
            drawn.append(rng.dirichlet(np.array(counts) + PRIOR, draws) @ np.array(costs))
            means.append(float(np.dot(counts, costs) / sum(counts)))
        values = prevalence * drawn[0] + (1 - prevalence) * drawn[1]
        value = own * means[0] + (1 - own) * means[1]
        idle = prevalence * self.classes[0][1][-1] + (1 - prevalence) * self.classes[1][1][-1]
        return ChosenEstimate.of_draws(
            values,
            level=level,
            value=value,
            method="Jeffreys, as given",
            n=n_pos + n_neg,
            reason=self.why,
            apparent=value,
            acting=float((values < idle).mean()),
        )


@dataclass(frozen=True)
class _Found:
    """What the parts say, put together."""

    design: Design
    options: Options
    sample: InSample
    judged: HeldOut
    drawn: Redrawn
    law: CostsOfCounts | CostsOfRows
    level: float
    seed: int

    def estimate(self) -> ChosenEstimate:
        """Return the cost of the choice with all that is said of it."""
        often = f"{self.judged.repeats} times" if self.judged.repeats > 1 else "once"
        method = f"chosen anew in {FOLDS} folds, {often}, and {len(self.drawn.cost)} replicates"
        return ChosenEstimate.of_draws(
            self._values(),
            level=self.level,
            value=self._value,
            method=", ".join(part for part in (method, self.law.note) if part),
            n=self.law.n,
            reason=self._doubt(),
            apparent=float(self.sample.cost[self.sample.option]),
            regret=self._regret(),
            models=self._models(),
            acting=self._acting(),
        )

    @cached_property
    def _judged_cost(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.array(
                [option.cost(*cells) for option, cells in zip(self.options.each, self.judged.chosen, strict=True)]
            )

    @property
    def _optimism(self) -> Array:
        return np.maximum(self._judged_cost - self.sample.cost, 0)

    @property
    def _value(self) -> float:
        return float(self._judged_cost[self.sample.option]) + _OF_MODELS * self._luck

    @cached_property
    def _luck(self) -> float:
        """How much less the best of several models costs in replicates than in the sample that they are drawn from."""
        best = self._first(self.drawn.acting)[:, None]
        moved = self.drawn.cost - self.drawn.cost.mean(axis=0)
        return max(-float(np.nanmean(np.take_along_axis(moved, best, axis=1))), 0.0)

    def _values(self) -> Array:
        """Return costs of the choice in proportion to how well they agree with the held-out cases."""
        number = self.sample.option
        values, _ = self._drawn(number, self.judged.chosen[number])
        return values + _OF_MODELS * self._luck

    def _acting(self) -> float:
        """Return the probability that the choice costs less than nobody does, or else the best that acts."""
        number = self.sample.option
        if not self.sample.cells[number, :2].any():
            number = self._first(self._honest)
        values, nobody = self._drawn(number, self.judged.acting[number])
        idle = nobody if self.options.idle is None else self.options.idle
        return float((values + _OF_MODELS * self._luck < idle).mean())

    def _drawn(self, number: int, cells: Array) -> tuple[Array, Array]:
        """Return costs of an option and of nobody, drawn with the error that choosing adds."""
        error = (_ERROR_OF_CHOICE * self._optimism[number]) ** 2 + self._luck**2 + float(self._beyond.var())
        return self.law.draws(number, cells, error, self.seed)

    @cached_property
    def _beyond(self) -> Array:
        """What the choice costs more than the best of each replicate, less what that one owes to the replicate."""
        number = self.sample.option
        beyond = self.drawn.cost[:, number] - self.drawn.least
        beyond = beyond[np.isfinite(beyond)] - _JAGGED * self._optimism[number] - _OF_MODELS * self._luck
        return np.maximum(beyond, 0) if beyond.size else np.zeros(1)

    def _regret(self) -> Estimate | None:
        rule = self.options.each[0].rule
        if rule.criterion.name != "min_cost" or rule.constraints or rule.limit is not None:
            return None
        low, high = np.quantile(self._beyond, [(1 - self.level) / 2, (1 + self.level) / 2])
        method = f"bootstrap, {self._beyond.size} replicates"
        return Estimate(float(self._beyond.mean()), float(low), float(high), self.level, method, self.law.n)

    @cached_property
    def _honest(self) -> Array:
        """Worth of the best of each option that acts, where it was not chosen."""
        with np.errstate(invalid="ignore"):
            return np.array(
                [each.worth(*cells) for each, cells in zip(self.options.each, self.judged.acting, strict=True)]
            )

    def _first(self, worth: Array) -> Any:
        """Return which option is best, along the last axis; one that cannot act never is."""
        goodness = self.options.sign * worth
        return np.where(np.isnan(goodness), -np.inf, goodness).argmax(axis=-1)

    def _models(self) -> dict[str, float]:
        """Return how often each option is the best in replicates, at its own threshold and with its own optimism."""
        optimism = self._honest - self.sample.worth_of_acting
        error = np.random.default_rng([self.seed, 6]).standard_normal(self.drawn.acting.shape)
        best = self._first(self.drawn.acting + optimism * (1 + _ERROR_OF_CHOICE * error))
        return {option.label: float((best == n).mean()) for n, option in enumerate(self.options.each)}

    def _doubt(self) -> str:
        failed = self.judged.failed[self.sample.option]
        return self.law.doubt or (f"nothing could be chosen in {failed:.0%} of the folds" if failed else "")
