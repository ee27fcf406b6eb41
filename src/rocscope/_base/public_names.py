"""Public names of packages: import each name on first use, and suggest a name if an unknown name is used.

`attach` reads the names of a package from public_names.txt, which `.ci/public_names.py` writes from the stubs. With
`register` and `reach`, results can use modules of higher layers without importing them. An example is `curve.plot()`.
"""

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from opcode import opmap
from types import FrameType
from typing import Any, Literal, NoReturn

import lazy_loader

from rocscope._base import answers, typed_code

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
    """Register a function that imports a module when it is first needed."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Import a registered module, and return it."""
    return _loaders[what]()


_ROOT = "rocscope"
_ALIKE = 0.75  # difflib's ratio: "rocc" finds "roc", and "gamma" does not find "gain"
_VERY_ALIKE = 0.88  # of the many names of other libraries


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package : str
        The package's `__name__`.

    Returns
    -------
    tuple
        The same as `lazy_loader.attach`, but the error for an unknown name suggests a name.
    """
    entries = [line.split() for line in answers.text_of("public_names.txt").splitlines()]
    by_module = {module: names for home, module, *names in entries if home == package}
    load, names, public = lazy_loader.attach(package, by_module.pop(".", None), by_module)

    def find(name: str) -> Any:
        try:
            return load(name)
        except AttributeError:
            if name.startswith("__"):  # Python itself asks for __path__
                raise
        return refuse(name)

    refuse = refusing(package, public)
    return find, names, public


class _Topic:
    """Module whose call, such as rs.calibration(y, p), raises an error that names a function."""

    __name__: str

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        topics = answers.tables()["topics"]
        answer = topics.get(self.__name__.rpartition(".")[2], topics["any"])
        given = [*args, *options.values()]
        if tables := [value for value in given if _is_table(value)]:
            answer = answers.with_data(answer, answers.reading("data", tables[0], given))
        raise TypeError(f"{self.__name__} contains functions and cannot be called; {answers.as_hint(answer)}")


def refusing(package: str, public: Sequence[str]) -> Callable[[str], NoReturn]:
    """Return a `__getattr__` that always raises an error. The error suggests a public name."""

    # The class of a module with lazy names is lazy_loader's, which keeps a function that is named like its module.
    kind = type(sys.modules[package])
    if not issubclass(kind, _Topic):
        sys.modules[package].__class__ = type(kind.__name__, (_Topic, kind), {})

    @cache  # pytest and notebooks ask every module for the same names, and the search takes 10 ms
    def advice(name: str) -> str:
        return "" if name.startswith("__") else _advice(package, name, public)

    def refuse(name: str) -> NoReturn:
        asking = _asking_frame()
        code, position = asking.f_code, asking.f_lasti
        # Before `from package import module` loads the module, Python asks whether the package has the name.
        if code.co_name == "_handle_fromlist":
            raise AttributeError(name, name=name)
        words = [name, *typed_code.names_after(code, position)] if answers.is_library(name) else [name]
        # Of a name within another library, such as metrics.auc_score, only the last word says what is meant.
        hint = advice(words[-1]) or advice(name)
        if code.co_code[position] in _READING:
            typed = typed_code.call_after(code, position)
            call = answers.for_typed(words[-1], typed.positional, typed.named)
            hint = _with_data(f"; {answers.as_hint(call)}" if call else hint, typed, asking)
        message = f"{package} has no {'.'.join(words)!r}{hint}"
        # In `from package import name`, Python replaces the message of an AttributeError.
        if code.co_code[position] == opmap["IMPORT_FROM"]:
            raise ImportError(message, name=package)
        raise AttributeError(message, name=name)

    return refuse


def _asking_frame() -> FrameType:
    """Return the frame of the code that reads an unknown name of a package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals is globals() or frame.f_code.co_name == "__getattr__"):
        frame = frame.f_back
    return frame


_READING = {opmap[name] for name in ("LOAD_ATTR", "LOAD_METHOD") if name in opmap}


def unpacked_into() -> int | None:
    """Return the number of names into which the code that calls the caller unpacks a result. Return None otherwise."""
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    return code[frame.f_lasti + 1] if code[frame.f_lasti] == opmap["UNPACK_SEQUENCE"] else None


def _with_data(hint: str, typed: typed_code.TypedCall, frame: FrameType) -> str:
    """Return a hint for labels and scores with the model or the data frame that the code of a frame passes."""
    if "(model, X" in hint:
        return hint
    variables = [value.name for value in typed.arguments if isinstance(value, typed_code.Variable)]
    values = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in variables}
    models = [name for name, value in values.items() if callable(getattr(type(value), "fit", None))]
    tables = [name for name, value in values.items() if _is_table(value)]
    if models:
        is_fitted = hasattr(values[models[0]], "classes_")
        made = f"rs.evaluation.from_estimator({models[0]}, X, y)" if is_fitted else f"rs.evaluate({models[0]}, X, y)"
        hint = hint.replace("(y, predicted)", f"(y, {models[0]}.predict(X))")
    elif tables:
        made = answers.reading(tables[0], values[tables[0]], typed.arguments)
    else:
        return hint
    return answers.with_data(hint, made)


def _is_table(value: Any) -> bool:
    return hasattr(type(value), "columns") and hasattr(type(value), "dtypes")


def _advice(package: str, name: str, public: Sequence[str]) -> str:
    """Return a hint for an unknown name: its module, the name in rocscope, or similar names."""
    from difflib import get_close_matches

    own = f"of_{package.rpartition('.')[2]}"
    if own in answers.tables() and (call := answers.concept_for(name, own)):
        return f"; {answers.as_hint(call)}"
    if package == "rocscope.plotting" and f"plot_{name}" in public:
        return f"; use rs.plotting.plot_{name}(y, s)"
    if name in import_module(_ROOT).__all__:
        return f"; it is rs.{name}"
    is_foreign = any(name in names for names in answers.tables()["names"].values())
    for topic in () if is_foreign else _topics():
        if name in getattr(import_module(f"{_ROOT}.{topic}"), "__all__", ()):
            place = f"rs.{topic}.{name}"
            example = answers.tables()["constructors"].get(name) or answers.example_of(f"{topic}.{name}")
            used = f", or use {example}" if example else ""
            return f"; {answers.as_hint(example)}" if place in example else f"; it is {place}{used}"
    by_case = {word.casefold(): word for word in public}
    if package == _ROOT and _is_topic(name) and name not in by_case:  # such as compat, which is no public name
        return f"; `import rocscope.{name}` first"
    if call := answers.call_for(name):
        return f"; {answers.as_hint(call)}"
    call = answers.concept_call(name)
    if call and answers.vocabulary().issuperset(answers.words_of(name)):
        return f"; {answers.as_hint(call)}"
    close = get_close_matches(name.casefold(), answers.of_one_kind(name, by_case), n=3, cutoff=_ALIKE)
    if close:
        short = package.replace(_ROOT, "rs", 1)
        return f"; did you mean {' or '.join(f'{short}.{by_case[word]}' for word in close)}?"
    close = get_close_matches(
        answers.spelling(name), answers.of_one_kind(name, answers.calls_by_spelling()), n=1, cutoff=_VERY_ALIKE
    )
    if close:
        likely = answers.calls_by_spelling()[close[0]]
        return (
            f"; did you mean {likely}?"
            if re.fullmatch(r"[\w.]+(\(.*\))?[\w.()]*", likely)
            else f"; {answers.as_hint(likely)}"
        )
    return f"; {answers.as_hint(call)}" if call else ""


@cache
def _topics() -> tuple[str, ...]:
    """Return the public names of rocscope that are packages."""
    return tuple(filter(_is_topic, import_module(_ROOT).__all__))


def _is_topic(name: str) -> bool:
    spec = find_spec(f"{_ROOT}.{name}")
    return spec is not None and spec.submodule_search_locations is not None
