"""Gates: conditions (`--fail-if`) under which a command exits with 1, for continuous integration."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocscope.errors import InputError

if TYPE_CHECKING:
    from rocscope.figures.conditions import Condition
    from rocscope.inference.estimate import Estimate

_EXAMPLE = "auc(b)-auc(a)<-0.01 at 95%"


@dataclass(frozen=True)
class Gate:
    """Conditions on figures of models that fail a command where all of them hold.

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

    @classmethod
    def parse(cls, text: str) -> "Gate":
        """Read a text such as ``auc(b)-auc(a)<-0.01 at 95%`` or ``auc(a)<0.8 and brier(a)>.2``."""
        from rocscope.figures.conditions import Condition

        gate = cls(text, Condition.read(text, "--fail-if", _EXAMPLE))
        for each in gate.conditions:
            if each.model is None:
                raise InputError(
                    "--fail-if", expected=f"a condition such as {_EXAMPLE!r}", got=f"{text!r}, without a model"
                )
            if each.level is not None and not 0 < each.level < 1:
                raise InputError("--fail-if", expected="a level between 0 and 100 %", got=f"{100 * each.level:g} %")
            if each.minus == each.model:
                raise InputError("--fail-if", expected="two different models", got=repr(text))
        return gate

    def fails(self, estimates: "list[Estimate]") -> bool:
        """Return whether all conditions hold; one whose estimate is undefined counts as if it did."""
        pairs = zip(self.conditions, estimates, strict=True)
        return all(condition.beyond_doubt(each) or _is_undefined(condition, each) for condition, each in pairs)

    def to_dicts(self, estimates: "list[Estimate]") -> list[dict[str, Any]]:
        """Return the gate and its outcome, with each estimate that it asks for, safe for JSON."""
        from rocscope.core.result import jsonable

        outcome = {"condition": self.text, "failed": self.fails(estimates)}
        return [jsonable(outcome | {"estimate": estimate.to_dict()}) for estimate in estimates]


def _is_undefined(condition: "Condition", estimate: "Estimate") -> bool:
    end = estimate.low if condition.upwards else estimate.high
    judged = estimate.value if condition.level is None else end
    return judged != judged
