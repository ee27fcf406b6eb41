"""Gates: conditions on results under which a command fails, for continuous integration."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocscope.errors import InputError

if TYPE_CHECKING:
    from rocscope.inference.estimate import Estimate

_TERM = r"(?P<{0}_quantity>[a-z]+)\((?P<{0}_model>[^()]+)\)"
_NUMBER = r"[-+−]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_CONDITION = re.compile(
    r"\s*" + _TERM.format("first") + r"(\s*[-−]\s*" + _TERM.format("second") + r")?"
    rf"\s*(?P<sign><=|>=|<|>)\s*(?P<bound>{_NUMBER})(\s+at\s+(?P<percent>{_NUMBER})\s*%)?\s*"
)
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXAMPLE = '"auc(b)-auc(a)<-0.01 at 95%" or "auc(a)<0.8"'


@dataclass(frozen=True)
class Gate:
    """A condition that fails: a quantity of a model, or the difference of two, is beyond a bound.

    With a level the whole confidence interval must lie beyond the bound; without, the estimate.

    Examples
    --------
    >>> from rocscope.inference.estimate import Estimate
    >>> gate = parse_gate("auc(b)-auc(a) < -0.01 at 95%")
    >>> gate.quantity, gate.model, gate.minus, gate.bound, gate.level
    ('auc', 'b', 'a', -0.01, 0.95)
    >>> gate.fails(Estimate(-0.03, -0.05, -0.005, level=0.95, method="DeLong", n=100))
    False
    """

    text: str
    quantity: str
    model: str
    minus: str | None
    sign: str
    bound: float
    level: float | None

    def fails(self, estimate: "Estimate") -> bool:
        """Say whether an estimate fails the gate; one that is undefined does."""
        judged = estimate.value
        if self.level is not None:
            judged = estimate.high if self.sign.startswith("<") else estimate.low
        return judged != judged or _SIGNS[self.sign](judged, self.bound)

    def to_dict(self, estimate: "Estimate") -> dict[str, Any]:
        """Return the gate and its outcome, safe for JSON."""
        from rocscope.core.result import jsonable

        return jsonable({"condition": self.text, "failed": self.fails(estimate), "estimate": estimate.to_dict()})


def parse_gate(text: str) -> Gate:
    """Read a condition such as ``auc(b)-auc(a)<-0.01 at 95%``."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise InputError("--fail-if", expected=f"a condition such as {_EXAMPLE}", got=repr(text))
    quantity, other = found["first_quantity"], found["second_quantity"]
    if other not in (None, quantity):
        raise InputError("--fail-if", expected="a difference of one quantity", got=f"{quantity} and {other}")
    level = None if found["percent"] is None else _number(found["percent"]) / 100
    if level is not None and not 0 < level < 1:
        raise InputError("--fail-if", expected="a level between 0 and 100 %", got=found["percent"] + " %")
    minus = None if other is None else found["second_model"].strip()
    return Gate(text, quantity, found["first_model"].strip(), minus, found["sign"], _number(found["bound"]), level)


def _number(text: str) -> float:
    return float(text.replace("−", "-"))
