"""What was typed, read from bytecode for the hints of errors: never an error of its own, whatever the code contains."""

import calendar
import dis
import inspect
import shlex
import statistics
import textwrap
from types import CodeType

import pytest

from rocscope._base import typed_code


def attributes_of(code: CodeType):
    """Yield every reading of an attribute in a piece of code and in the functions that it contains."""
    yield from ((code, step) for step in dis.get_instructions(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD"))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from attributes_of(constant)


@pytest.mark.parametrize("module", [calendar, shlex, statistics, textwrap], ids=lambda module: module.__name__)
def test_any_code_can_be_read(module):
    read = list(attributes_of(compile(inspect.getsource(module), "module.py", "exec")))
    assert len(read) > 20
    for code, step in read:
        assert typed_code.names_after(code, step.offset) is not None
        typed = typed_code.call_after(code, step.offset)
        assert all(isinstance(name, str) for name in typed.named), step


@pytest.mark.parametrize("call", ["outer(1, css=library.css)", "library.css(a, smooth=2 if c else 3, level=0.9)"])
def test_unknown_arguments_are_left_out(call):
    [(code, step)] = [read for read in attributes_of(compile(call, "", "eval")) if read[1].argval == "css"]
    assert typed_code.call_after(code, step.offset) == typed_code.TypedCall()
