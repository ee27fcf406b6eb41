"""Replicates of a choice: model and threshold chosen anew in each, and what they are worth there and in the sample."""

from dataclasses import dataclass

import numpy as np

from rocscope._progress import Progress
from rocscope._types import Array
from rocscope.decisions.certainty.threshold_choice import Rule, Tallied, from_zero
from rocscope.decisions.decision import Decision
from rocscope.errors import InputError, warn
from rocscope.inference.resampling.draws import Design, in_chunks, tally_all


@dataclass(frozen=True)
class Observed:
    """The observed sample: the worth of each point of each model, and which was chosen."""

    rule: Rule
    worth: tuple[Array, ...]
    thresholds: tuple[Array, ...]
    models: tuple[str, ...]
    model: int
    point: int

    @classmethod
    def of(cls, design: Design, rule: Rule, decision: Decision) -> "Observed":
        tallied = tally_all(design, design.frequency[None, :])
        worth = tuple(rule.worth_of_points(*map(from_zero, counts))[0] for counts in tallied.values())
        thresholds = tuple(
            np.concatenate([[np.inf], tally.threshold[:-1].astype(np.float64), [-np.inf]])
            for tally in design.tallies.values()
        )
        models = tuple(design.tallies)
        model = models.index(decision.model)
        exact = design.tallies[decision.model].threshold
        point = 0 if decision.threshold == np.inf else exact.size
        if np.isfinite(decision.threshold):
            point = 1 + int(np.flatnonzero(exact == decision.threshold)[0])
        scale = max((float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in worth), default=0.0)
        return cls(Rule(rule.criterion, rule.context, scale or 1.0), worth, thresholds, models, model, point)

    @property
    def apparent(self) -> float:
        """The worth of the choice on its own rows."""
        return float(self.worth[self.model][self.point])

    def at(self, values: tuple[Array, ...], drawn: "Replicates") -> Array:
        """Return for each replicate the entry of its point among those of its model."""
        found = np.empty(drawn.model.size)
        for number, column in enumerate(values):
            here = drawn.model == number
            found[here] = column[drawn.point[here]]
        return found

    def worth_of_choice(self, tallied: Tallied) -> Array:
        """Return what the threshold chosen on the sample is worth in each replicate."""
        pos, neg = tallied[self.models[self.model]]
        tp, fp = (counts[:, : self.point].sum(axis=1) for counts in (pos, neg))
        return self.rule.worth(tp, fp, pos.sum(axis=1), neg.sum(axis=1))


@dataclass(frozen=True)
class Replicates:
    """One entry a replicate: what was chosen, its worth there, and there of the sample's choice."""

    model: Array
    point: Array
    worth: Array
    worth_of_choice: Array


def draw(design: Design, sample: Observed, replicates: int, seed: int, progress: Progress) -> Replicates:
    compiled = design.worth_compiling(replicates)

    def work(rng: np.random.Generator, size: int) -> Array:
        tallied = tally_all(design, design.draw(rng, size, compiled))
        choice = sample.rule.choose(tallied)
        return np.column_stack([choice.model, choice.point, choice.worth, sample.worth_of_choice(tallied)])

    columns = in_chunks(work, replicates, design.chunk, seed=seed, threads=None, progress=progress)
    usable = ~np.isnan(columns).any(axis=1)
    if not usable.any():
        raise InputError("replicates", expected="some with both classes", got=f"none of {usable.size}")
    if not usable.all():
        message = f"{(~usable).sum()} of {usable.size} replicates gave no number and are left out"
        warn(message)
    model, point, worth, of_choice = columns[usable].T
    return Replicates(model.astype(np.intp), point.astype(np.intp), worth, of_choice)
