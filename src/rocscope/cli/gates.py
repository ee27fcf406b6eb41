"""Gates: conditions (`--fail-if`) under which a command exits with 1, for continuous integration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rocscope.cli.console import note
from rocscope.errors import InputError

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.inference.estimate import Estimate

FAILED = 1
_EXAMPLE = "auc(b)-auc(a)<-0.01 at 95%"


@dataclass(frozen=True)
class Gate:
    """Conditions on figures of models: where all of them hold a command fails, or fails where one that is required not.

    With a level the whole confidence interval must lie beyond the bound; without, the estimate.

    Examples
    --------
    >>> from rocscope.inference.estimate import Estimate
    >>> gate = Gate.parse("auc(b)-auc(a) < -0.01 at 95%")
    >>> gate.conditions
    (Condition('auc(b) - auc(a) < -0.01 at 95 %'),)
    >>> gate.fails([Estimate(-0.03, -0.05, -0.005, level=0.95, method="DeLong", n=100)])
    False
    """

    text: str
    conditions: "tuple[Condition, ...]"
    required: bool = False

    @classmethod
    def parse(cls, text: Any, subject: str = "--fail-if", *, required: bool = False) -> "Gate":
        """Read a text such as ``auc(b)-auc(a)<-0.01 at 95%``, ``brier > .2`` or ``auc(a)<0.8 and brier(a)>.2``."""
        from rocscope.figures.conditions import Condition

        gate = cls(str(text), Condition.read(text, subject, _EXAMPLE), required)
        for each in gate.conditions:
            if each.level is not None and not 0 < each.level < 1:
                raise InputError(subject, expected="a level between 0 and 100 %", got=f"{100 * each.level:g} %")
            if each.minus is not None and each.minus == each.model:
                raise InputError(subject, expected="two different models", got=repr(text))
        return gate

    def over(self, models: Sequence[str]) -> "list[Gate]":
        """Return a gate for each model where a condition names none; else itself."""
        if all(each.model for each in self.conditions):
            return [self]
        named = (tuple(replace(each, model=each.model or model) for each in self.conditions) for model in models)
        if len(models) == 1:
            return [replace(self, conditions=next(named))]
        return [replace(self, text=" and ".join(map(str, every)), conditions=every) for every in named]

    def fails(self, estimates: "Sequence[Estimate]") -> bool:
        """Return whether the gate fails; it does where an estimate is undefined that could decide it."""
        pairs = list(zip(self.conditions, estimates, strict=True))
        if self.required:
            return not all(condition.beyond_doubt(each) for condition, each in pairs)
        return all(condition.beyond_doubt(each) or _is_undefined(condition, each) for condition, each in pairs)


def _is_undefined(condition: "Condition", estimate: "Estimate") -> bool:
    end = estimate.low if condition.upwards else estimate.high
    judged = estimate.value if condition.level is None else end
    return judged != judged


@dataclass(frozen=True)
class JudgedGate:
    """A gate and what it was judged by."""

    gate: Gate
    estimates: "tuple[Estimate, ...]"
    segment: str = ""

    @property
    def failed(self) -> bool:
        """Whether the command fails by it."""
        return self.gate.fails(self.estimates)

    @property
    def found(self) -> str:
        """The estimates in words."""
        words = (each.words + (f" ({each.reason})" if each.value != each.value else "") for each in self.estimates)
        return "; ".join(dict.fromkeys(words))

    @property
    def named(self) -> str:
        """The gate, and the segment that it is about."""
        return self.gate.text + (f" in {self.segment}" if self.segment else "")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the gate and its outcome with the estimates used, safe for JSON."""
        from rocscope.core.result import jsonable

        outcome = {"condition": self.gate.text, "failed": self.failed}
        outcome |= {"segment": self.segment} if self.segment else {}
        return [jsonable(outcome | {"estimate": estimate.to_dict()}) for estimate in self.estimates]


def judged_by(
    gates: Iterable[Gate], models: Sequence[str], estimate: "Callable[[Condition], Estimate]", segment: str = ""
) -> list[JudgedGate]:
    """Judge gates, each for every model where it names none."""
    every = [each for gate in gates for each in gate.over(models)]
    return [JudgedGate(gate, tuple(map(estimate, gate.conditions)), segment) for gate in every]


def outcome(judged: Iterable[JudgedGate]) -> int:
    """Print which gates failed, and return the exit code."""
    failed = [each for each in judged if each.failed]
    for each in failed:
        note(f"Failed: {each.named}: {each.found}")
    return FAILED if failed else 0


def gates_json(judged: Iterable[JudgedGate]) -> dict[str, Any]:
    """Return what the JSON of a command says of its gates."""
    return {"gates": [content for each in judged for content in each.to_dicts()]}
