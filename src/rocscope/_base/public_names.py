"""Public names of packages: import each name on first use, and suggest a name if an unknown name is used.

`attach` reads the names of a package from public_names.txt, which `.ci/public_names.py` writes from the stubs. With
`register` and `reach`, results can use modules of higher layers without importing them. An example is `curve.plot()`.
"""

import dis
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from opcode import opmap
from operator import attrgetter
from types import FrameType
from typing import Any, Literal, NoReturn

import lazy_loader

from rocscope._base.answers import (
    answers,
    as_hint,
    call_for,
    calls_by_spelling,
    concept_call,
    concept_for,
    for_argument,
    for_value,
    of_one_kind,
    spelling,
    text_of,
    vocabulary,
    words_of,
)

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


class _Topic:
    """Module whose call, such as rs.calibration(y, p), raises an error that names a function."""

    __name__: str

    def __call__(self, *_args: Any, **_options: Any) -> NoReturn:
        topics = answers()["topics"]
        answer = topics.get(self.__name__.rpartition(".")[2], topics["any"])
        raise TypeError(f"{self.__name__} contains functions and cannot be called; {as_hint(answer)}")


def refusing(package: str, public: Sequence[str]) -> Callable[[str], NoReturn]:
    """Return a `__getattr__` that always raises an error. The error suggests a public name."""

    # The class of a module with lazy names is lazy_loader's, which keeps a function that is named like its module.
    kind = type(sys.modules[package])
    if not issubclass(kind, _Topic):
        sys.modules[package].__class__ = type(kind.__name__, (_Topic, kind), {})

    @cache  # pytest and notebooks ask every module for the same names, and the search takes 10 ms
    def advice(name: str, keywords: tuple[tuple[str, str | None], ...]) -> str:
        return "" if name.startswith("__") else _advice(package, name, public, dict(keywords))

    def refuse(name: str) -> NoReturn:
        asking = _asking_frame()
        message = f"{package} has no {name!r}{advice(name, tuple(_keywords_of_call(asking).items()))}"
        # In `from package import name`, Python replaces the message of an AttributeError.
        if asking.f_code.co_code[asking.f_lasti] == opmap["IMPORT_FROM"]:
            raise ImportError(message, name=package)
        raise AttributeError(message, name=name)

    return refuse


def _asking_frame() -> FrameType:
    """Return the frame of the code that reads an unknown name of a package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals is globals() or frame.f_code.co_name == "__getattr__"):
        frame = frame.f_back
    return frame


def _keywords_of_call(asking: FrameType) -> dict[str, str | None]:
    """Return the keyword arguments of the call of the name that a frame reads, such as ``rs.AUC(curve="PR")``.

    Python reads the name before the arguments. Therefore, this function searches for the call in the bytecode. The
    values of texts are known, all other values are None. The result is empty if the name is not called.
    """
    if not dis.opname[asking.f_code.co_code[asking.f_lasti]].startswith(("LOAD_ATTR", "LOAD_METHOD")):
        return {}
    code = [instruction for instruction in dis.get_instructions(asking.f_code) if instruction.opname != "CACHE"]
    reading = next((index for index, instruction in enumerate(code) if instruction.offset == asking.f_lasti), None)
    start = None if reading is None else _start_of(code[reading])
    if reading is None or start is None:
        return {}
    for index in range(reading + 1, len(code)):
        name = code[index].opname
        # The expression `rs.AUC(...)` starts where `rs.AUC` starts, and expressions in its arguments start later.
        if _start_of(code[index]) != start or not name.startswith(("CALL", "LOAD_ATTR", "LOAD_METHOD")):
            continue
        return _keywords_before(code[:index], asking.f_code.co_consts) if name.startswith("CALL") else {}
    return {}


def _start_of(instruction: dis.Instruction) -> tuple[int, int] | None:
    """Return the line and the column at which the expression of an instruction starts, or None if they are unknown."""
    places = instruction.positions
    if places is None or places.lineno is None or places.col_offset is None:
        return None
    return places.lineno, places.col_offset


def _keywords_before(code: Sequence[dis.Instruction], constants: Sequence[Any]) -> dict[str, str | None]:
    """Return the keyword arguments of the call that follows some bytecode. Their names are the last constant."""
    *loading, naming = [instruction for instruction in code if instruction.opname != "PRECALL"]  # of Python 3.11
    if naming.opname not in ("KW_NAMES", "LOAD_CONST") or naming.arg is None:
        return {}
    names = constants[naming.arg]
    if not isinstance(names, tuple):
        return {}
    keywords: dict[str, str | None] = dict.fromkeys(map(str, names))
    # A constant or a variable is loaded by one instruction. The value of the last keyword is loaded last.
    for name, load in zip(reversed(keywords), reversed(loading), strict=False):
        if not re.fullmatch(r"LOAD_(CONST|NAME|FAST|FAST_BORROW|GLOBAL|DEREF|SMALL_INT)", load.opname):
            break
        if load.opname == "LOAD_CONST" and isinstance(load.argval, str):
            keywords[name] = load.argval
    return keywords


_FUNCTION = re.compile(r"rs\.((?:\w+\.)*\w+)\(")


def _with_keywords(name: str, call: str, keywords: Mapping[str, str | None]) -> str:
    """Return the hint of a call to use, and hints for keyword arguments that the function of the call does not have.

    The answer for an argument with its value, such as ``curve='PR'``, replaces the call. So does an answer for several
    classes.
    """
    function = _FUNCTION.match(call)
    if function is None or not keywords:
        return as_hint(call)
    path = function[1]
    known = list(inspect.signature(attrgetter(path)(import_module(_ROOT))).parameters)
    hints = [as_hint(call)]
    for keyword, value in keywords.items():
        if keyword in known or re.search(rf"[(,] ?{keyword}[=,)]", call):
            continue
        last = path.rpartition(".")[2]
        of_value = for_value(last, keyword, value, known)
        answer = of_value or for_argument(last, keyword, known)
        if answer.startswith("rs.multiclass."):
            return as_hint(concept_for(name, "of_multiclass") or answer)
        if answer.startswith("omit this argument"):
            hints.append(answer.replace("this argument", f"{keyword}=", 1))
        elif of_value:
            return as_hint(of_value)
        elif answer:
            hints.append(f"for {keyword}=, {as_hint(answer)}")
    return "; ".join(hints)


def _advice(package: str, name: str, public: Sequence[str], keywords: Mapping[str, str | None]) -> str:
    """Return a hint for an unknown name: its module, the name in rocscope, or similar names."""
    from difflib import get_close_matches

    own = f"of_{package.rpartition('.')[2]}"
    if own in answers() and (call := concept_for(name, own)):
        return f"; {as_hint(call)}"
    if name in import_module(_ROOT).__all__:
        return f"; it is rs.{name}"
    is_foreign = any(name in names for names in answers()["names"].values())
    for topic in () if is_foreign else _topics():
        if name in getattr(import_module(f"{_ROOT}.{topic}"), "__all__", ()):
            return f"; it is rs.{topic}.{name}"
    by_case = {word.casefold(): word for word in public}
    if package == _ROOT and _is_topic(name) and name not in by_case:  # such as compat, which is no public name
        return f"; `import rocscope.{name}` first"
    if call := call_for(name):
        return f"; {_with_keywords(name, call, keywords)}"
    call = concept_call(name)
    if call and vocabulary().issuperset(words_of(name)):
        return f"; {_with_keywords(name, call, keywords)}"
    close = get_close_matches(name.casefold(), of_one_kind(name, by_case), n=3, cutoff=_ALIKE)
    if close:
        short = package.replace(_ROOT, "rs", 1)
        return f"; did you mean {' or '.join(f'{short}.{by_case[word]}' for word in close)}?"
    close = get_close_matches(spelling(name), of_one_kind(name, calls_by_spelling()), n=1, cutoff=_VERY_ALIKE)
    if close:
        likely = calls_by_spelling()[close[0]]
        return (
            f"; did you mean {likely}?" if re.fullmatch(r"[\w.]+(\(.*\))?[\w.()]*", likely) else f"; {as_hint(likely)}"
        )
    return f"; {as_hint(call)}" if call else ""


@cache
def _topics() -> tuple[str, ...]:
    """Return the public names of rocscope that are packages."""
    return tuple(filter(_is_topic, import_module(_ROOT).__all__))


def _is_topic(name: str) -> bool:
    spec = find_spec(f"{_ROOT}.{name}")
    return spec is not None and spec.submodule_search_locations is not None
