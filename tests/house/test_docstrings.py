"""What a public docstring must contain: its parameters, the errors it raises, an example, and where to read on."""

import ast
import inspect
import re
import runpy
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from rocscope import errors

docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed (rocscope[docs])")
ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)
REFERENCE = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
ERRORS = {name for name, error in vars(errors).items() if inspect.isclass(error) and name.endswith("Error")}
CONVERTS = re.compile(
    r"(from|to|by|as|with|predict|select|read|load|save)(_\w+)?"
    r"|(fit|merge|apply|assign|interval|best|table|counts|point|rows|at|\w+_at)"
)

# These classes have a page because another page mentions them. rocscope passes them between its modules.
BETWEEN_MODULES = {
    "Corrected", "FoldsRow", "FormatUpgrade", "Measure", "ParetoTail", "RowAmounts",
    "SegmentLevels", "SegmentShares", "SegmentUnitCosts", "UnitCosts",
}  # fmt: skip
# An example would have to build arguments that only rocscope has. Users call `at`, `from_scores`, the constructor or
# `Decision.predict` instead.
WITHOUT_EXAMPLE = {
    "ConfusionMatrix.from_index",
    "Reviewing.predict",
    "ThresholdCounts.exact_sums_at",
    "ThresholdCounts.from_ranking",
}
# The call of `mean` in this method raises an error only with training=True, which the method does not pass.
RAISES_NOTHING = {"LearningCurve.to_dict"}


def public():
    """Return the functions, classes and methods on the site by name. The metrics share the text of their page."""
    found = {}
    for name in [*REFERENCE["public_names"](), *REFERENCE["result_classes"]().values()]:
        owner, _, last = name.rpartition(".")
        thing = inspect.unwrap(getattr(import_module(owner), last))
        found[thing] = name
        for key in dir(thing) if inspect.isclass(thing) else ():
            method = inspect.unwrap(getattr(getattr(thing, key), "__func__", getattr(thing, key)))
            is_ours = inspect.isfunction(method) and method.__module__.startswith("rocscope")
            if is_ours and not key.startswith("_") and "<" not in method.__qualname__ and method.__doc__:
                found.setdefault(method, method.__qualname__)
    return {name: thing for thing, name in found.items()}


@cache
def sections(thing):
    """Return the sections of a docstring."""
    return docscrape.NumpyDocString(inspect.cleandoc(thing.__doc__))


@cache
def tree(function):
    """Return the syntax tree of a function."""
    return ast.parse(dedent(inspect.getsource(function))).body[0]


def calls(line):
    """Return the calls in a statement."""
    return [node for node in ast.walk(line) if isinstance(node, ast.Call)]


def raised(function, helpers=True):
    """Return the errors that a function raises itself, or in the functions of rocscope that it calls first."""
    own = [node.exc for node in ast.walk(tree(function)) if isinstance(node, ast.Raise) and node.exc is not None]
    names = {ast.unparse(getattr(error, "func", error)).rpartition(".")[2] for error in own} & ERRORS
    steps = [line for line in tree(function).body if not isinstance(line, ast.Expr | ast.ImportFrom) or calls(line)]
    for call in calls(steps[0]) if helpers and steps else ():
        helper = called(call, function)
        names |= raised(helper, helpers=False) if helper is not None else set()
    return names


def called(call, function):
    """Return the function of rocscope that is called; None if it is of another library or known only when it runs."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    scope = function.__globals__
    if owner in ("self", "cls"):
        found = getattr(scope.get(function.__qualname__.partition(".")[0]), name, None)
    else:
        found = getattr(scope.get(owner), name, None) if owner else scope.get(name)
    found = inspect.unwrap(getattr(found, "__func__", found))
    return found if inspect.isfunction(found) and found.__module__.startswith("rocscope") else None


def unexplained(thing):
    """Return the parameters that are neither in a section nor named in the text."""
    kinds = thing.__mro__ if inspect.isclass(thing) else [thing]
    documented = [kind for kind in kinds if kind.__module__.startswith("rocscope") and kind.__doc__]
    entries = [entry for kind in documented for part in ("Parameters", "Attributes") for entry in sections(kind)[part]]
    explained = {name.strip("* ") for entry in entries for name in entry.name.split(",")}
    if inspect.isclass(thing) and not sections(thing)["Parameters"]:
        return []  # users do not create it: the page shows its attributes
    given = inspect.signature(thing).parameters
    missing = []
    for name, parameter in given.items():
        by_key = parameter.kind is parameter.VAR_KEYWORD and explained - set(given)  # such as fpr= or depth=
        unused = name in ("self", "cls") or name.startswith("_")
        if not (unused or name in explained or by_key or re.search(rf"`\**{name}`", thing.__doc__)):
            missing.append(name)
    return missing


def lacking(name, thing):
    """Return what a docstring lacks."""
    lacks = [f"parameter {parameter}" for parameter in unexplained(thing)]
    if inspect.isclass(thing):
        return lacks
    due = set() if name in RAISES_NOTHING else raised(thing)
    if due and not sections(thing)["Raises"] and not any(error in thing.__doc__ for error in due):
        lacks.append(f"Raises {due}")
    due_example = CONVERTS.fullmatch(thing.__name__) and thing.__qualname__ not in WITHOUT_EXAMPLE
    if due_example and not sections(thing)["Examples"]:
        lacks.append("Examples")
    if thing.__qualname__ == thing.__name__ and not sections(thing)["See Also"]:
        lacks.append("See Also")
    return lacks


def test_a_docstring_explains_parameters_errors_and_what_to_read_next():
    found = {name: lacking(name, thing) for name, thing in public().items()}
    lacks = {name for name, missing in found.items() if missing}
    owners = {name.rpartition(".")[0] for name in lacks}
    assert owners == BETWEEN_MODULES, {name: found[name] for name in lacks}
    assert len(found) > 700


def test_see_also_names_exist():
    for name, thing in public().items():
        for link in (link for links, _ in sections(thing)["See Also"] for link, _ in links):
            path = REFERENCE["long_name"](link)
            module, _, last = (path or f"{thing.__module__}.{link}").rpartition(".")
            assert path or last in vars(import_module(module)), (name, link)
