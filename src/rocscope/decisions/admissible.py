"""Find the thresholds of all models that satisfy constraints, and the best of them by a criterion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.point import OperatingPoint
from rocscope.decisions.constraints import Constraint, at_mix
from rocscope.decisions.criteria import Criterion
from rocscope.decisions.model_hull import Hull
from rocscope.decisions.slope_ranges import HullVertex, SlopeRanges, slope_ranges
from rocscope.errors import InfeasibleError, InputError
from rocscope.geometry import Choices

_TIE = 1e-13  # relative: values that differ by less are equal but for the rounding of a few operations
_DESCRIBED = 5  # ties that are named: a choice


@dataclass(frozen=True)
class Admissible:
    """The admissible thresholds of each model; models without any are left out."""

    choices: tuple[Choices, ...]

    @cached_property
    def slope_ranges(self) -> SlopeRanges:
        """Which of them can ever have the lowest cost, and for which slopes."""
        return slope_ranges(self.choices)

    def highest(self, criterion: Criterion, target_prevalence: float | None) -> list[HullVertex]:
        """Return the best choice by a criterion, followed by equally good ones."""
        goodness = [criterion.goodness(at_mix(each.cells, target_prevalence)) for each in self.choices]
        best = max(values.max() for values in goodness)
        if best == -np.inf:
            raise InputError(f"criterion {criterion.name!r} is not defined at any threshold that may be chosen")
        enough = best - _TIE * max(1.0, abs(best)) if np.isfinite(best) else best
        tied = [
            _vertex(each, index)
            for each, values in zip(self.choices, goodness, strict=True)
            for index in np.flatnonzero(values >= enough)[:_DESCRIBED].tolist()
        ]
        return sorted(tied, key=lambda vertex: vertex.point.depth)

    @staticmethod
    def value_at(criterion: Criterion, point: OperatingPoint, target_prevalence: float | None) -> float:
        """Return the value of a criterion at one point."""
        cells = tuple(np.array([getattr(point, name)]) for name in ("tp", "fp", "fn", "tn"))
        return float(np.asarray(criterion.value(*at_mix(cells, target_prevalence)))[0])  # pyright: ignore[reportArgumentType]


def _vertex(choices: Choices, index: int) -> HullVertex:
    return HullVertex(choices.model, choices.point(index), negated=choices.negated)


def admissible(
    hull: Hull, constraints: tuple[Constraint, ...], target_prevalence: float | None, population: float | None
) -> Admissible:
    """Return the thresholds of a hull's models that satisfy all constraints.

    Raises
    ------
    InfeasibleError
        If there is none; it says how close any comes.
    """
    every = hull.every_choice

    def value(constraint: Constraint, choices: Choices) -> Array:
        return constraint.value(choices.cells, target_prevalence, population, len(every))

    kept = []
    for choices in every:
        allowed = np.ones(choices.index.size, dtype=bool)
        for constraint in constraints:
            allowed &= constraint.admits(choices.cells, target_prevalence, population, len(every))
        if allowed.all():
            kept.append(choices)
        elif allowed.any():
            kept.append(choices.take(np.flatnonzero(allowed)))
    if not kept:
        raise _infeasible(every, constraints, value)
    return Admissible(tuple(kept))


def _infeasible(
    every: Sequence[Choices], constraints: tuple[Constraint, ...], value: Callable[[Constraint, Choices], Array]
) -> InfeasibleError:
    subject = "no threshold of any model satisfies " + " and ".join(map(str, constraints))
    hints = []
    for constraint in constraints:
        others = [other for other in constraints if other is not constraint]
        closest = _closest(every, constraint, others, value)
        if closest:
            reached, choices, index = closest
            under = f"with {' and '.join(map(str, others))} " if others else ""
            extreme = "highest" if ">" in constraint.relation else "lowest"
            threshold = choices.point(index).threshold
            hints.append(
                f"{under}the {extreme} {constraint.quantity}{constraint.surely} is {reached:.6g} "
                f"({choices.model} at {threshold:.6g})"
            )
    return InfeasibleError(subject, hint="; ".join(hints) or "even one constraint less leaves none")


def _closest(
    every: Sequence[Choices],
    constraint: Constraint,
    others: list[Constraint],
    value: Callable[[Constraint, Choices], Array],
) -> tuple[float, Choices, int] | None:
    """Return the value closest to one constraint's bound where the others hold, and its threshold."""
    found: tuple[float, Choices, int] | None = None
    for choices in every:
        values = np.asarray(value(constraint, choices), dtype=np.float64).copy()
        for other in others:
            values[~other.holds(value(other, choices))] = np.nan
        index = constraint.closest(values)
        if index is None:
            continue
        candidate = (float(values[index]), choices, index)
        if found is None or constraint.is_closer(candidate[0], found[0]):
            found = candidate
    return found
