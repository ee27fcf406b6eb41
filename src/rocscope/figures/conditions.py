"""Conditions on performance measures, with one grammar for constraints, gates and monitoring limits.

quantity[(model)] <|<=|>|>= bound[%] [at level [confidence]]
quantity(b) - quantity(a) < bound          difference between two models
lower <= quantity <= upper                 lower and upper bound
condition and condition                    both conditions; a comma also means "and"
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope.core import decimal
from rocscope.errors import InputError

Sign = Literal[">=", "<=", ">", "<"]

RELATIONS: dict[str, Callable[..., Any]] = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_WRITTEN = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<="}
_TURNED = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_SLACK = 1e-12
"""Relative tolerance for rounding errors at the bound. It is far smaller than the effect of one case in 10¹¹ cases."""

_NUMBER = r"[-+−]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+−]?\d+)?\s*%?"
_NAME = r"[A-Za-z][^<>=≤≥()]*?"
_TERM = rf"({_NAME})\s*\(([^()]+)\)"
_SIGN = r"\s*(>=|<=|=>|=<|≥|≤|>|<)\s*"
_FORM = re.compile(
    rf"\s*(?:({_NUMBER}){_SIGN})?(?:{_TERM}(?:\s*[-−]\s*{_TERM})?|({_NAME}))"
    rf"(?:{_SIGN}({_NUMBER}))?(?:\s+(?:at|with)\s+({_NUMBER})(?:\s+confidence)?)?\s*"
)
# The pattern takes time in proportion to the square of a text: some milliseconds for one of this length.
_LONGEST = 1_000
_AND = re.compile(r"(?:\s+and\s+|\s*,\s+)(?![^()]*\))", re.IGNORECASE)

# The rate that a percentage of a count means.
_RATE_OF_COUNT = {"cases": "depth", "tp": "tpr", "fp": "fpr", "fn": "fnr", "tn": "tnr"}

# What people write that has no meaning here, and what to write.
_FIXES = {
    r"==": "for an exact value, write two bounds: 'tpr >= .8 and tpr <= .8'",
    r"[<>=]\s*\d{1,3}(,\d{3})+": "write a number without commas, such as 1000 or 1_000",
    r"\bper\s+(hour|day|week|month|year)\b": "omit the period, and pass the number of cases in it as population=",
}


@held_to_contract
@dataclass(frozen=True)
class Condition:
    """Lower or upper bound on a performance measure, or on its difference between two models.

    Attributes
    ----------
    quantity : str
        Name of the measure.
    relation : {">=", "<=", ">", "<"}
        Relation between the measure and the bound.
    bound : float
        Smallest or largest accepted value.
    level : float, optional
        Confidence level. If set, a limit of the confidence interval must satisfy the bound.
    model : str, optional
        Name of the model.
    minus : str, optional
        For a difference, the name of the model whose measure is subtracted.

    Examples
    --------
    >>> Condition.read("auc(b) - auc(a) < -1% at 95%")
    (Condition('auc(b) - auc(a) < -0.01 at 95%'),)
    >>> Condition.read(".8 <= recall <= .9 and fpr < 5%")
    (Condition('recall >= 0.8'), Condition('recall <= 0.9'), Condition('fpr < 0.05'))
    """

    quantity: str
    relation: Sign
    bound: float
    level: float | None = None
    model: str | None = None
    minus: str | None = None

    @classmethod
    def read(cls, text: Any, subject: str = "condition", example: str = "tpr >= 0.9") -> tuple[Self, ...]:
        """Parse a text with one or more conditions.

        Parameters
        ----------
        text : str
            Conditions, joined by "and".
        subject : str
            Start of the error message.
        example : str
            Valid text in the error message.

        Raises
        ------
        InputError
            If the text is not valid. The message starts with `subject` and contains `example`.

        Examples
        --------
        >>> from rocscope.decisions import Constraint
        >>> Constraint.read("tpr >= .9 and cases <= 800")
        (Constraint('tpr >= 0.9'), Constraint('cases <= 800'))
        """
        if isinstance(text, str) and len(text) > _LONGEST:
            raise InputError(subject, expected=f"at most {_LONGEST:,} characters", got=f"{len(text):,} characters")
        parts = _AND.split(text) if isinstance(text, str) else [""]
        conditions: list[Self] = []
        for part in parts:
            of_part = cls._of_part(part, subject)
            if not of_part:
                hints = [hint for pattern, hint in _FIXES.items() if re.search(pattern, str(text))]
                expected, hint = f"a text such as {example!r}", "; ".join(hints)
                raise InputError(subject, expected=expected, got=check.shown(text), hint=hint)
            conditions += of_part
        return tuple(conditions)

    @classmethod
    def _of_part(cls, text: str, subject: str) -> Sequence[Self]:
        match = _FORM.fullmatch(text)
        if match is None:
            return ()
        below, turned, quantity, model, other, minus, alone, sign, bound, level = match.groups()
        if other is not None and other.casefold() != quantity.casefold():
            expected = "a difference between two models in the same metric, such as 'auc(b) - auc(a) < 0'"
            raise InputError(subject, expected=expected, got=repr(text.strip()))
        model = model and model.strip()
        minus = minus and minus.strip()
        asked = None if level is None else _number(level)

        # A bound on the left, as in "0.8 <= recall", is the same bound on the right with its sign turned.
        ends = [(sign, bound)]
        if below is not None:
            ends.insert(0, (_TURNED[_WRITTEN.get(turned, turned)], below))
        conditions = []
        for sign, bound in ends:
            if bound is not None:
                relation = cast(Sign, _WRITTEN.get(sign, sign))
                rate = _RATE_OF_COUNT.get((quantity or alone).strip().casefold())
                if rate and bound.endswith("%"):
                    expected, hint = "a number of cases as the bound", f"for a share, write '{rate} {relation} {bound}'"
                    raise InputError(subject, expected=expected, got=repr(text.strip()), hint=hint)
                conditions.append(cls(quantity or alone, relation, _number(bound), asked, model, minus))
        return conditions

    @property
    def upwards(self) -> bool:
        """True if the bound is a lower bound."""
        return ">" in self.relation

    def holds(self, value: Any) -> Any:
        """Return True if a number, or each number of an array, satisfies the bound; False for NaN.

        Parameters
        ----------
        value : float or array
            Value of the metric.

        Examples
        --------
        >>> from rocscope.decisions import Constraint
        >>> Constraint.parse("tpr >= .9").holds(np.array([0.95, 0.8, np.nan])).tolist()
        [True, False, False]
        """
        slack = _SLACK * max(1.0, abs(self.bound))
        inwards = self.upwards == (self.relation in (">=", "<="))
        return RELATIONS[self.relation](value, self.bound - slack if inwards else self.bound + slack)

    def beyond_doubt(self, estimate: Any) -> bool:
        """Return True if an estimate satisfies the bound; if `level` is set, the whole interval must satisfy it.

        Parameters
        ----------
        estimate : Estimate
            Value with its interval.
        """
        end = estimate.low if self.upwards else estimate.high
        return bool(RELATIONS[self.relation](estimate.value if self.level is None else end, self.bound))

    def closest(self, values: Array) -> int | None:
        """Return the index of the value that is closest to satisfying the bound; None if all values are NaN.

        Parameters
        ----------
        values : array
            Values of the metric.

        Examples
        --------
        >>> from rocscope.decisions import Constraint
        >>> Constraint.parse("tpr >= .9").closest(np.array([0.5, 0.8, np.nan]))
        1
        """
        if np.isnan(values).all():
            return None
        return int(np.nanargmax(values) if self.upwards else np.nanargmin(values))

    def is_closer(self, value: float, other: float) -> bool:
        """Return True if the first of two values is closer to satisfying the bound.

        Parameters
        ----------
        value, other : float
            Values of the metric.

        Examples
        --------
        >>> from rocscope.decisions import Constraint
        >>> Constraint.parse("tpr >= .9").is_closer(0.8, 0.5)
        True
        """
        return value > other if self.upwards else value < other

    @property
    def surely(self) -> str:
        """Confidence level as text, such as " at 95%"; empty if there is no level."""
        return "" if self.level is None else f" at {100 * self.level:.10g}%"

    def __str__(self) -> str:
        bound = int(self.bound) if self.bound == int(self.bound) else self.bound
        of, less = (f"({name})" if name else "" for name in (self.model, self.minus))
        less = f" - {self.quantity}{less}" if less else ""
        return f"{self.quantity}{of}{less} {self.relation} {bound!r}{self.surely}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def _number(text: str) -> float:
    """Convert the text of a number or of a percentage to a number.

    Examples
    --------
    >>> _number("5 %"), _number("1_000"), _number("−.5")
    (0.05, 1000, -0.5)
    """
    digits = text.replace("−", "-").replace("_", "").rstrip("% ")
    exact = decimal(float(digits)) / (100 if text.endswith("%") else 1)
    return int(exact) if exact.denominator == 1 else float(exact)
