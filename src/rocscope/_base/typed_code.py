"""Read from the bytecode of a call what its writer typed: names of variables, texts and numbers.

Only errors use this module, to repeat in their hints what was typed. A name of another library is looked up before its
call, so its arguments are known only from the code that follows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from dis import Instruction, get_instructions, stack_effect
from types import CodeType, TracebackType
from typing import Any

_READS = ("LOAD_ATTR", "LOAD_METHOD")


@dataclass(frozen=True)
class Variable:
    """A variable that is passed to a call."""

    name: str


@dataclass(frozen=True)
class TypedCall:
    """Arguments of a call as they are written: texts, numbers, lists of them, and variables; None for all others."""

    positional: list[Any] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> list[Any]:
        """All arguments in order."""
        return [*self.positional, *self.named.values()]


def names_after(code: CodeType, position: int) -> list[str]:
    """Return the names that code reads next: metrics and auc in ``rs.sklearn.metrics.auc``.

    Parameters
    ----------
    code : code
        Code that reads an attribute.
    position : int
        Position in the code, such as `f_lasti` of a frame.
    """
    names: list[str] = []
    for step in _steps_after(code, position):
        if step.opname not in (*_READS, "EXTENDED_ARG"):
            break
        # A name such as from_scores is that of a constructor, which the class has.
        names += [step.argval] if step.opname in _READS and not step.argval.startswith("from_") else []
    return names


def call_after(code: CodeType, position: int) -> TypedCall:
    """Return the arguments of the call that follows the reading of an attribute.

    Examples
    --------
    >>> code = compile("library.coords(curve, 'best', levels=[0.9, 0.8])", "", "eval")
    >>> position = next(step.offset for step in get_instructions(code) if step.argval == "coords")
    >>> call_after(code, position)
    TypedCall(positional=[Variable(name='curve'), 'best'], named={'levels': [0.9, 0.8]})
    """
    stack: list[Any] = []
    keywords: tuple[str, ...] = ()
    within = False  # whether an argument has begun: before, attributes belong to the name that is called
    for step in _steps_after(code, position):
        if step.opname in _READS and not within:
            continue
        size = step.arg or 0
        if step.opname.startswith("LOAD_") and step.opname not in _READS:
            values = step.argval if "LOAD_FAST_" in step.opname and isinstance(step.argval, tuple) else [step.argval]
            is_constant = step.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            hidden = stack_effect(step.opcode, step.arg, jump=False) - len(values)  # before a function that is called
            stack += [None] * hidden + [value if is_constant else Variable(str(value)) for value in values]
            within = True
        elif step.opname == "KW_NAMES":
            keywords = code.co_consts[size]
        elif step.opname in ("CALL", "CALL_KW"):
            keywords = stack.pop() if step.opname == "CALL_KW" and stack else keywords
            # The call itself, whose callable was read before. If there are more names, the attribute is an argument.
            if len(keywords) <= len(stack) < size + 2:
                split = len(stack) - len(keywords)
                return TypedCall(stack[:split], dict(zip(keywords, stack[split:], strict=True)))
            stack[len(stack) - size - 2 :] = [None]
            keywords = ()
        elif step.opname in ("BUILD_LIST", "BUILD_TUPLE"):
            stack[len(stack) - size :] = [stack[len(stack) - size :]]
        elif step.opname == "LIST_EXTEND" and len(stack) > 1:
            stack[-2:] = [list(stack[-1]) if isinstance(stack[-1], tuple) else None]
        elif step.opname in _READS:
            stack[-1:] = [None] * (1 + stack_effect(step.opcode, step.arg, jump=False))
        elif step.opname not in ("PRECALL", "EXTENDED_ARG"):
            change = stack_effect(step.opcode, step.arg, jump=False)
            used = max(1 - change, 0)
            stack[len(stack) - used :] = [None] * (used + change)
            if len(stack) == 0 or step.opname.startswith(("STORE", "RETURN", "POP")):
                break
    return TypedCall()


def call_in(traceback: TracebackType | None, name: str) -> TypedCall:
    """Return the arguments of the call in which code read an attribute that raised an error."""
    places: list[TracebackType] = []
    while traceback is not None:
        places.append(traceback)
        traceback = traceback.tb_next
    for place in places[-2:-1]:  # the last place raised the error
        code = place.tb_frame.f_code
        if any(step.argval == name for step in get_instructions(code) if step.offset == place.tb_lasti):
            return call_after(code, place.tb_lasti)
    return TypedCall()


def _steps_after(code: CodeType, position: int) -> Iterator[Instruction]:
    return (step for step in get_instructions(code) if step.offset > position)
