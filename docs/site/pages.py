"""Write the pages of the reference: one page for each public name, listed by topic."""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import rocscope as rs
from rocscope._base.answers import tables
from rocscope.figures.registry import FIGURES

TOPICS = {
    "engines": "Engines",
    "ranges": "Ranges",
    "curves": "Curves",
    "segments": "Segments",
    "inference": "Inference",
    "inference.statistics": "Statistics",
    "inference.planning": "Planning a study",
    "calibration": "Calibration",
    "decisions": "Decisions",
    "outcomes": "Censored outcomes and experiments",
    "multiclass": "More than two classes",
    "evaluation": "Judging models on new rows",
    "protocols": "How rows are split",
    "estimators": "Estimators for scikit-learn",
    "plotting": "Figures",
    "datasets": "Data sets",
}
WHOLE = {"metrics": "Metrics", "errors": "Errors"}  # topics that have one page with all their names
# Names in these modules that are not for users.
OURS = "warn, collected_warnings, without_warnings, listing, one_of, brief"


SEARCHED = {
    "install": ["install", "installation", "pip"],
    "glossary": ["cutoff", "cut-off", "cutpoint", "sensitivity", "specificity", "recall"],
    "course/5-class-balance": ["undersampling", "imbalanced", "class imbalance"],
    "course/6-hull": ["iso-performance", "MetaCost"],
    "course/4-area": ["spam"],
    "api/names/rocscope.lift_chart": ["lift chart"],
    "api/names/rocscope.auc_interval": ["DeLong", "Hanley"],
    "api/names/rocscope.net_benefit": ["net benefit", "dca", "decision curve", "decision curve analysis"],
    "api/names/rocscope.plotting.plot_isometrics": ["isometrics", "isometric"],
    "api/names/rocscope.multiclass.multiclass_auc": ["multiclass AUC", "micro average", "micro-average"],
    "api/names/rocscope.multiclass.class-ConfusionMatrix": ["confusion matrix"],
    "api/names/rocscope.curves.rate_curves.class-RocCurve": ["partial AUC"],
    "api/inference-planning": ["sample size", "power"],
}
"""Search terms for each page; the search shows the page first for these terms."""


def topic_named(name: str) -> ModuleType:
    """Return the module of a topic, such as `inference.planning`."""
    return import_module(f"rocscope.{name}".rstrip("."))


def members(name: str) -> list[str]:
    """Return the public names of a topic, without the topics inside it."""
    topic = topic_named(name)
    return sorted((key for key in topic.__all__ if not isinstance(getattr(topic, key), ModuleType)), key=str.lower)


def everyday() -> list[str]:
    """Return the public names of the package itself, without topics."""
    return [name for name in rs.__all__ if not isinstance(getattr(rs, name), ModuleType)]


def public_names() -> Iterator[str]:
    """Yield the shortest import path of each public name, such as `rocscope.auc`."""
    yield from (f"rocscope.{name}" for name in everyday())
    for topic in TOPICS:
        yield from (f"rocscope.{topic}.{name}" for name in members(topic) if name not in everyday())


def _classes() -> dict[str, type]:
    """Return a mapping from name to class for the documented classes of all modules that are not public names."""
    public = {name.rpartition(".")[2] for name in public_names()}
    classes: dict[str, type] = {}
    for module in walk_packages(rs.__path__, "rocscope."):
        if module.name.startswith(("rocscope._", "rocscope.compat")) or module.name.endswith("__main__"):
            continue
        try:
            members_of_module = vars(import_module(module.name))
        except ImportError:  # of an extra that is not installed
            continue
        for name, member in members_of_module.items():
            ours = inspect.isclass(member) and member.__module__.startswith("rocscope.")
            if ours and not name.startswith("_") and name not in public and member.__doc__:
                classes[name] = member
    return classes


def _documentation(owner: object) -> Iterator[str]:
    """Yield the docstrings of a function, or of a class and its public methods and properties."""
    yield inspect.getdoc(owner) or ""
    if inspect.isclass(owner):
        yield from (inspect.getdoc(member) or "" for name, member in inspect.getmembers(owner) if name[0] != "_")


def _mentions(text: str) -> set[str]:
    """Return words of a docstring that may be class names: types in Returns and Attributes, and names in backticks."""
    types = []
    for section in re.findall(r"^(?:Returns|Attributes)\n-+\n(.*?)(?=^\w+\n--|\Z)", text, re.DOTALL | re.MULTILINE):
        fields = (line for line in section.splitlines() if not line.startswith(" "))
        types.extend(field.partition(" : ")[2] or field for field in fields)
    return set(re.findall(r"\b[A-Z]\w+", " ".join(types))) | set(re.findall(r"`([A-Z]\w+)", text))


NOT_RESULTS = {"Array", "Choices", "Figure", "Samples", "Table", "Tree", "Widget"}
"""Words that are also names of private classes of rocscope, but that mean something else in docstrings."""


@cache
def result_classes() -> dict[str, str]:
    """Return a mapping from name to full name for the classes that public functions return or mention."""
    classes = _classes()
    results: dict[str, str] = {}
    waiting = [getattr(topic_named(owner.partition(".")[2]), last) for owner, _, last in _parts(public_names())]
    while waiting:
        for text in _documentation(waiting.pop()):
            for name in sorted(_mentions(text) - results.keys() - NOT_RESULTS):
                if name in classes:
                    results[name] = f"{classes[name].__module__}.{name}"
                    waiting.append(classes[name])
    return dict(sorted(results.items(), key=lambda item: item[0].lower()))


def _parts(names: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    return (name.rpartition(".") for name in names)


@cache
def long_names() -> dict[str, str]:
    """Return a mapping from the last part of a name to the full name, for all names with a page."""
    names = [*public_names(), *result_classes().values()]
    return {name.rpartition(".")[2]: name for name in reversed(names)}


def long_name(reference: str) -> str | None:
    """Return the full name for a reference such as `decisions.mixture`; None if it is not a name of rocscope.

    Examples
    --------
    >>> long_name("plotting.plot_roc"), long_name("Decision.interval"), long_name("threshold")
    ('rocscope.plotting.plot_roc', 'rocscope.Decision.interval', None)
    """
    parts = reference.removeprefix("rocscope.").removeprefix("rs.").split(".")
    while parts and parts[0] in rs.__all__ and isinstance(getattr(rs, parts[0]), ModuleType):
        parts = parts[1:]  # a topic, whose names may also be at the top level
    if not parts or parts[0] not in long_names():
        return None
    return ".".join([long_names()[parts[0]], *parts[1:]])


def file_name(name: str) -> str:
    """Return the file name of the page of a name; some file systems do not distinguish `summary` and `Summary`."""
    return re.sub(r"\.([A-Z])", r".class-\1", name)


def table(names: list[str]) -> str:
    """Return a table of names with the first lines of their docstrings; Sphinx makes their pages from the table."""
    return "\n".join([".. autosummary::", "   :toctree: names", "", *(f"   ~{name}" for name in names), ""])


def module_list() -> str:
    """Return a list of all modules by folder, with the first lines of their docstrings."""
    package, lines = Path(rs.__file__).parent, []
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        name = ".".join(("rocscope", *folder.relative_to(package).parts))
        lines += [name, "-" * len(name), "", first_line(folder / "__init__.py"), ""]
        files = (path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py")
        lines += [line for path in files for line in (f"``{path.stem}``", f"   {first_line(path)}", "")]
    return "\n".join(lines)


def figure_list() -> str:
    """Return a table of all figures: their names, what they are computed from, and whether high or low is good."""
    needs = {
        "cells": "the four counts",
        "ranks": "the ranking",
        "probabilities": "probabilities",
        "costs": "a Context",
    }
    good = {1: "high", -1: "low", 0: "—"}
    lines = [".. list-table::", "   :header-rows: 1", ""]
    lines += _table_row("name", "computed from", "good", "other names")
    for figure in FIGURES.values():
        lines += _table_row(f"``{figure.name}``", needs[figure.needs], good[figure.sign], ", ".join(figure.aliases))
    return "\n".join(lines)


def _table_row(first: str, *others: str) -> list[str]:
    return [f"   * - {first}", *(f"     - {cell}" for cell in others)]


def other_names_list() -> str:
    """Return a list of names of other libraries, with the call to use in rocscope."""
    lines: list[str] = []
    for library, calls in tables()["names"].items():
        lines += [library, "-" * len(library), ""]
        lines += [line for name, call in calls.items() for line in (f"``{name}``", f"   ``{call}``", "")]
    return "\n".join(lines)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring; in reStructuredText `|g|` would be a substitution."""
    found = re.match(r'r?"""(.*?)(?:"""|\n)', path.read_text(encoding="utf-8"))
    return found[1].replace("|", r"\|") if found else ""


def titled(title: str, text: str) -> str:
    """Return a page that consists of a title and a text."""
    return f"{title}\n{'=' * len(title)}\n\n{text}\n"


def write_pages(folder: Path) -> None:
    """Write the lists of names into a folder; Sphinx makes the pages of these names."""
    folder.mkdir(exist_ok=True)
    contents = [
        "everyday",
        "sample",
        *(topic.replace(".", "-") for topic in TOPICS),
        "results",
        *WHOLE,
        "figures",
        "other-names",
        "modules",
    ]
    intro = "All public names by topic. To find a name by the question that it answers, see :doc:`../README`."
    toctree = "\n".join([".. toctree::", "   :maxdepth: 1", "", *(f"   {each}" for each in contents)])
    pages = {"index": titled("Reference", f"{intro}\n\n{toctree}")}
    words = [f"rocscope.{name}" for name in everyday()]
    pages["everyday"] = titled("Most used names", f"Import them from ``rocscope`` itself.\n\n{table(words)}")
    pages["sample"] = titled("Input data", ".. automodule:: rocscope.sample\n   :no-members:")
    for topic, title in TOPICS.items():
        module = f"rocscope.{topic}"
        own = [f"{module}.{name}" for name in members(topic) if name not in everyday()]
        shared = [name for name in members(topic) if name in everyday()]
        also = [f":doc:`rs.{name} <names/{file_name(f'rocscope.{name}')}>`" for name in shared]
        text = f".. automodule:: {module}\n   :no-members:\n\n.. py:currentmodule:: None\n\n{table(own) if own else ''}"
        text += f"\nMost used names that belong to this topic: {', '.join(also)}.\n" if also else ""
        pages[topic.replace(".", "-")] = titled(title, text)
    returned = "Classes of the objects that functions return. You do not create these objects yourself."
    pages["results"] = titled("Results", f"{returned}\n\n{table([*result_classes().values()])}")
    for topic, title in WHOLE.items():
        pages[topic] = titled(title, f".. automodule:: rocscope.{topic}\n   :members:\n   :exclude-members: {OURS}")
    pages["figures"] = titled("All figures", figure_list())
    pages["other-names"] = titled("Names in other libraries", other_names_list())
    pages["modules"] = titled("Modules", module_list())
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
