"""Public names: loaded when they are first used, and suggested when an unknown one is asked for.

`attach` gives a package its names in public_names.txt, which `.ci/public_names.py` writes from the stubs.
`register` and `reach` let results call modules of higher layers, such as `curve.plot()`, without importing them.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import get_data
from typing import Any, Literal, NoReturn

import lazy_loader

Above = Literal[
    "plotting",
    "calibration",
    "auc_intervals",
    "choosing",
    "plan_application",
    "plan_verification",
    "gpu_ranking",
    "by_segment",
    "class_monitoring",
    "plan_monitoring",
]

_loaders: dict[Above, Callable[[], Any]] = {}


def register(what: Above, load: Callable[[], Any]) -> None:
    """Register how a module is loaded on first use."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Return a registered module."""
    return _loaders[what]()


_ROOT = "rocscope"
_NO_LIBRARY = "Other names"
_ALIKE = 0.75  # difflib's ratio: "rocc" finds "roc", and "gamma" does not find "gain"


@cache
def text_of(name: str) -> str:
    """Return a text file of this folder, also from a zip."""
    return (get_data("rocscope._base", name) or b"").decode()


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package : str
        The package's `__name__`.

    Returns
    -------
    tuple
        As `lazy_loader.attach`, but that the error for an unknown name states where it is, or what does its job.
    """
    entries = [line.split() for line in text_of("public_names.txt").splitlines()]
    by_module = {module: names for home, module, *names in entries if home == package}
    load, names, public = lazy_loader.attach(package, by_module.pop(".", None), by_module)

    def find(name: str) -> Any:
        try:
            return load(name)
        except AttributeError:
            # Python itself asks for __path__, and for a module before `from package import module` loads it.
            if name.startswith("__") or (package != _ROOT and find_spec(f"{package}.{name}")):
                raise
        return refuse(name)

    refuse = refusing(package, public)
    return find, names, public


def refusing(package: str, public: Sequence[str]) -> Callable[[str], NoReturn]:
    """Return the `__getattr__` of a module that has only what is in it."""

    def refuse(name: str) -> NoReturn:
        advice = "" if name.startswith("__") else _advice(package, name, public)
        raise AttributeError(f"{package} has no {name!r}{advice}", name=name)

    return refuse


@cache
def other_names() -> dict[str, dict[str, str]]:
    """Return our equivalent for names of other libraries, by library and name.

    Examples
    --------
    >>> other_names()["scikit-learn"]["roc_auc_score"]
    'rs.auc(y, s)'
    """
    import tomllib

    return tomllib.loads(text_of("other_names.toml"))


def _advice(package: str, name: str, public: Sequence[str]) -> str:
    """Suggest where a name is, what it is called here, or which names are similar."""
    from difflib import get_close_matches

    if name in import_module(_ROOT).__all__:
        return f"; it is rs.{name}"
    for topic in _topics():
        if name in getattr(import_module(f"{_ROOT}.{topic}"), "__all__", ()):
            return f"; it is rs.{topic}.{name}"
    for library, calls in other_names().items():
        for theirs, ours in calls.items():
            if theirs.casefold() == name.casefold():
                return f"; use {ours}" + (f" for {library}'s {theirs}" if library != _NO_LIBRARY else "")
    by_case = {word.casefold(): word for word in public}
    if package == _ROOT and _is_topic(name) and name not in by_case:  # such as compat, which is no public name
        return f"; `import rocscope.{name}` first"
    close = get_close_matches(name.casefold(), of_one_kind(name, by_case), n=3, cutoff=_ALIKE)
    short = package.replace(_ROOT, "rs", 1)
    return f"; did you mean {' or '.join(f'{short}.{by_case[word]}' for word in close)}?" if close else ""


def of_one_kind(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that may be meant: a plot is not a threshold, however similar their names.

    Examples
    --------
    >>> of_one_kind("plot", ["lot", "plot_roc"]), of_one_kind("lots", ["lot", "plot_roc"])
    (['plot_roc'], ['lot'])
    """
    is_plot = name.casefold().startswith("plot")
    return [word for word in known if word.casefold().startswith("plot") == is_plot]


@cache
def _topics() -> tuple[str, ...]:
    """Return the public names that are packages."""
    return tuple(filter(_is_topic, import_module(_ROOT).__all__))


def _is_topic(name: str) -> bool:
    spec = find_spec(f"{_ROOT}.{name}")
    return spec is not None and spec.submodule_search_locations is not None
