"""The pages of the reference: one for each public name, listed by topic in the order of the folder tree."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import rocscope as rs
from rocscope._base.public_names import other_names
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
WHOLE = {"metrics": "Metrics", "errors": "Errors"}  # topics without a list, each on one page
OURS = "warn, heard"  # what is in them and not for users


def topic_named(name: str) -> ModuleType:
    """Return the topic of such a name, such as `inference.planning`."""
    return import_module(f"rocscope.{name}".rstrip("."))


def members(name: str) -> list[str]:
    """Return what users may take from a topic, topics within it left out."""
    topic = topic_named(name)
    return sorted((key for key in topic.__all__ if not isinstance(getattr(topic, key), ModuleType)), key=str.lower)


def everyday() -> list[str]:
    """Return the words of every day: the public names of the package itself that are no topic."""
    return [name for name in rs.__all__ if not isinstance(getattr(rs, name), ModuleType)]


def public_names() -> Iterator[str]:
    """Yield each public name once, at the shortest place where it may be taken: `rocscope.auc`."""
    yield from (f"rocscope.{name}" for name in everyday())
    for topic in TOPICS:
        yield from (f"rocscope.{topic}.{name}" for name in members(topic) if name not in everyday())


def file_name(name: str) -> str:
    """Return the file of a name's page; some systems take `summary` and `Summary` for the same."""
    return re.sub(r"\.([A-Z])", r".class-\1", name)


def table(names: list[str]) -> str:
    """Return a table of names, each with the first line of what it says of itself, whose pages are made with it."""
    return "\n".join([".. autosummary::", "   :toctree: names", "", *(f"   ~{name}" for name in names), ""])


def module_list() -> str:
    """Return every module with the first line of its docstring, folder by folder."""
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
    """Return what to call here for each name of another library, as `rocscope.<name>` answers it."""
    lines: list[str] = []
    for library, calls in other_names().items():
        lines += [library, "-" * len(library), ""]
        lines += [line for name, call in calls.items() for line in (f"``{name}``", f"   ``{call}``", "")]
    return "\n".join(lines)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring; in reStructuredText `|g|` would be a substitution."""
    found = re.match(r'r?"""(.*?)(?:"""|\n)', path.read_text(encoding="utf-8"))
    return found[1].replace("|", r"\|") if found else ""


def titled(title: str, text: str) -> str:
    """Return a page of text under a title."""
    return f"{title}\n{'=' * len(title)}\n\n{text}\n"


def write_pages(folder: Path) -> None:
    """Write the lists of the reference into a folder; Sphinx makes the pages of the names that they have."""
    folder.mkdir(exist_ok=True)
    contents = [
        "everyday",
        "sample",
        *(topic.replace(".", "-") for topic in TOPICS),
        *WHOLE,
        "figures",
        "other-names",
        "modules",
    ]
    intro = "Every public name, by topic. :doc:`../README` finds one by the question that it answers."
    toctree = "\n".join([".. toctree::", "   :maxdepth: 1", "", *(f"   {each}" for each in contents)])
    pages = {"index": titled("Reference", f"{intro}\n\n{toctree}")}
    words = [f"rocscope.{name}" for name in everyday()]
    pages["everyday"] = titled("Words of every day", f"Taken from ``rocscope`` itself.\n\n{table(words)}")
    pages["sample"] = titled("Input data", ".. automodule:: rocscope.sample\n   :no-members:")
    for topic, title in TOPICS.items():
        module = f"rocscope.{topic}"
        own = [f"{module}.{name}" for name in members(topic) if name not in everyday()]
        shared = [name for name in members(topic) if name in everyday()]
        also = [f":doc:`rs.{name} <names/{file_name(f'rocscope.{name}')}>`" for name in shared]
        text = f".. automodule:: {module}\n   :no-members:\n\n.. py:currentmodule:: None\n\n{table(own) if own else ''}"
        text += f"\nWords of every day that belong here: {', '.join(also)}.\n" if also else ""
        pages[topic.replace(".", "-")] = titled(title, text)
    for topic, title in WHOLE.items():
        pages[topic] = titled(title, f".. automodule:: rocscope.{topic}\n   :members:\n   :exclude-members: {OURS}")
    pages["figures"] = titled("All figures", figure_list())
    pages["other-names"] = titled("Names in other libraries", other_names_list())
    pages["modules"] = titled("Modules", module_list())
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
