"""Public names of packages: import each name on first use, and suggest a name if an unknown name is used.

`attach` reads the names of a package from public_names.txt, which `.ci/public_names.py` writes from the stubs. The file
answers.toml contains the call to use in rocscope, for names of other libraries and for concepts of the field. A concept
is recognised by the words of a name. With `register` and `reach`, results can use modules of higher layers without
importing them. An example is `curve.plot()`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from opcode import opmap
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
    """Register a function that imports a module when it is first needed."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Import a registered module, and return it."""
    return _loaders[what]()


_ROOT = "rocscope"
_ALIKE = 0.75  # difflib's ratio: "rocc" finds "roc", and "gamma" does not find "gain"
_VERY_ALIKE = 0.88  # of the many names of other libraries


@cache
def text_of(name: str) -> str:
    """Return the text of a file in this folder. This also works if the package is in a zip file."""
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
    def advice(name: str) -> str:
        return "" if name.startswith("__") else _advice(package, name, public)

    def refuse(name: str) -> NoReturn:
        message = f"{package} has no {name!r}{advice(name)}"
        if _is_from_import():
            raise ImportError(message, name=package)
        raise AttributeError(message, name=name)

    return refuse


def _is_from_import() -> bool:
    """Return True within `from package import name`. There, Python replaces the message of an AttributeError."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals is globals() or frame.f_code.co_name == "__getattr__"):
        frame = frame.f_back
    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


@cache
def answers() -> dict[str, Any]:
    """Return the content of answers.toml: what to use for names, arguments and attributes of other libraries.

    Examples
    --------
    >>> answers()["names"]["scikit-learn"]["roc_auc_score"], answers()["attributes"]["RocCurve"]["roc_auc"]
    ('rs.auc(y, s)', '.auc')
    """
    import tomllib

    return tomllib.loads(text_of("answers.toml"))


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def spelling(name: str) -> str:
    """Return the normalised spelling of a name: lower case, without underscores and points.

    Examples
    --------
    >>> spelling("ci.auc"), spelling("rocCurve_")
    ('ciauc', 'roccurve')
    """
    return re.sub(r"[\W_]", "", name).casefold()


def spellings(name: str) -> Iterator[str]:
    """Yield the normalised spelling of a name, and then its spelling without words such as plot_ and _score.

    Examples
    --------
    >>> list(spellings("plot_roc_curves"))
    ['plotroccurves', 'plotroccurve', 'roccurves', 'roccurve', 'plotroc', 'roc']
    """
    waiting, fillers = [_WORD.findall(name)], answers()["fillers"]
    while waiting:
        words = waiting.pop(0)
        whole = spelling("".join(words)) if words else ""
        if not whole:
            continue
        yield whole
        if whole.endswith("s"):
            yield whole[:-1]
        if words[0].casefold() in fillers and words[1:] not in waiting:
            waiting.append(words[1:])
        if words[-1].casefold() in fillers and words[:-1] not in waiting:
            waiting.append(words[:-1])


_TOKEN = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_LONG = 6  # letters of a word that is recognised within another: "cutoff" in "findcutoff", but not "class"


@cache
def _meanings() -> dict[str, str]:
    """Return a mapping from each word, such as "cutoff", to the word that concepts use, such as "threshold"."""
    meanings: dict[str, str] = {}
    for word, others in answers()["words"].items():
        meanings |= dict.fromkeys([word, *others.split()], word)
    return meanings


@cache
def _concepts(table: str) -> list[tuple[list[str], str]]:
    """Return the words and the answer of each concept in a table. Concepts with the most words come first."""
    concepts = [(words.split(), answer) for words, answer in answers()[table].items()]
    return sorted(concepts, key=lambda concept: -len(concept[0]))


@cache
def _vocabulary() -> frozenset[str]:
    """Return all words that concepts contain, and all filler words. Other words in a name may be typing errors."""
    concepts = " ".join([*answers()["concepts"], *answers()["of_multiclass"]])
    return frozenset([*_meanings(), *answers()["fillers"], *concepts.split()])


def concept_for(name: str, table: str = "concepts") -> str:
    """Return the answer for the concept that the words of a name describe. Return an empty text if there is none.

    Examples
    --------
    >>> concept_for("youden_optimal_cutpoint"), concept_for("nothing")
    ("rs.choose(y, s, criterion='youden')", '')
    """
    spelled = spelling(name)
    words = {synonym: word for synonym, word in _meanings().items() if len(synonym) >= _LONG and synonym in spelled}
    for token in _TOKEN.findall(name):
        word = token.casefold()
        singular = word if word in _meanings() else word.removesuffix("s")
        words |= {word: word, singular: _meanings().get(singular, singular)}
    meant = {*words, *words.values()}
    for concept, answer in _concepts(table):
        if all(word in meant or (len(word) >= _LONG and word in spelled) for word in concept):
            return answer
    return ""


def by_spelling(known: Iterable[str]) -> dict[str, str]:
    """Return a mapping from normalised spelling to name. If several names have the same spelling, use the first."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(spelling(name), name)
    return names


@cache
def _calls_by_spelling() -> dict[str, str]:
    """Return a mapping from the normalised spelling of names of other libraries and of rocscope to the call to use."""
    calls: dict[str, str] = {}
    for names in answers()["names"].values():
        for theirs, ours in names.items():
            calls.setdefault(spelling(theirs), ours)
    for line in text_of("public_names.txt").splitlines():
        home, module, *names = line.split()
        for name in names if module != "." else []:
            calls.setdefault(spelling(name), f"{home.replace(_ROOT, 'rs', 1)}.{name}")
    return calls


def as_hint(answer: str) -> str:
    """Return a hint: "use" and an answer. An answer that is an instruction is returned unchanged.

    Examples
    --------
    >>> as_hint("rs.auc(y, s)"), as_hint("omit this argument: the result is exact")
    ('use rs.auc(y, s)', 'omit this argument: the result is exact')
    """
    return answer if answer.startswith(("omit ", "for ")) else f"use {answer}"


def call_for(name: str) -> str:
    """Return the call to use for a name of another library. Return an empty text if there is none.

    Examples
    --------
    >>> call_for("plotRocCurve"), call_for("logloss"), call_for("nothing")
    ('rs.roc(y, s).plot()', 'rs.calibration.log_loss(y, p)', '')
    """
    calls = _calls_by_spelling()
    is_plot = any(answers()["fillers"].get(word.casefold()) == "plot" for word in _WORD.findall(name))
    for index, word in enumerate(spellings(name)):
        if index and is_plot and f"plot{word}" in calls:
            return calls[f"plot{word}"]
        if word in calls:
            return _drawn(calls[word]) if index and is_plot else calls[word]
    return ""


def _drawn(call: str) -> str:
    """Return the call that draws a curve, for an area that of its curve; other calls are returned unchanged."""
    call = {
        "rs.auc(y, s)": "rs.roc(y, s)",
        "rs.precision_recall(y, s).average_precision": "rs.precision_recall(y, s)",
    }.get(call, call)
    return f"{call}.plot()" if re.fullmatch(rf"rs\.(?:{_CURVES})\(y, [sp]\)", call) else call


def is_curve(name: str) -> bool:
    """Return whether a function of rocscope returns a curve, which can be drawn."""
    return name in _CURVES.split("|")


_CURVES = "roc|gain|lift|hull|precision_recall|det|calibration_curve|net_benefit|cost_curve"


def _advice(package: str, name: str, public: Sequence[str]) -> str:
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
        return f"; {as_hint(call)}"
    call = concept_call(name)
    tokens = [token.casefold() for token in _TOKEN.findall(name)]
    if call and _vocabulary().issuperset(tokens):
        return f"; {as_hint(call)}"
    close = get_close_matches(name.casefold(), of_one_kind(name, by_case), n=3, cutoff=_ALIKE)
    if close:
        short = package.replace(_ROOT, "rs", 1)
        return f"; did you mean {' or '.join(f'{short}.{by_case[word]}' for word in close)}?"
    close = get_close_matches(spelling(name), of_one_kind(name, _calls_by_spelling()), n=1, cutoff=_VERY_ALIKE)
    if close:
        likely = _calls_by_spelling()[close[0]]
        return (
            f"; did you mean {likely}?" if re.fullmatch(r"[\w.]+(\(.*\))?[\w.()]*", likely) else f"; {as_hint(likely)}"
        )
    return f"; {as_hint(call)}" if call else ""


def value_meant(value: str) -> list[str]:
    """Return what another library's value of an option, such as method="sigmoid", is called in rocscope.

    Examples
    --------
    >>> value_meant("sigmoid"), value_meant("nothing")
    (['platt'], [])
    """
    by_word = {spelling(theirs): ours for theirs, ours in answers()["values"].items()}
    return by_word.get(spelling(value), [])


def concept_call(name: str) -> str:
    """Return the call for the concept that a name describes.

    A name with "multiclass" gives a call for several classes. A name with "plot" gives a call that draws.

    Examples
    --------
    >>> concept_call("cumulative_gains_chart"), concept_call("MulticlassBrierLoss")
    ('rs.gain(y, s).plot()', 'rs.multiclass.multiclass_brier(y, probabilities)')
    """
    meant = {_meanings().get(token.casefold()) for token in _TOKEN.findall(name)}
    call = (concept_for(name, "of_multiclass") if "multiclass" in meant else "") or concept_for(name)
    return _drawn(call) if "plot" in meant else call


def of_one_kind(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names of the same kind. If `name` begins with "plot", these are names of plots, else all others.

    Examples
    --------
    >>> of_one_kind("plot", ["lot", "plot_roc"]), of_one_kind("lots", ["lot", "plot_roc"])
    (['plot_roc'], ['lot'])
    """
    is_plot = name.casefold().startswith("plot")
    return [word for word in known if word.casefold().startswith("plot") == is_plot]


@cache
def _topics() -> tuple[str, ...]:
    """Return the public names of rocscope that are packages."""
    return tuple(filter(_is_topic, import_module(_ROOT).__all__))


def _is_topic(name: str) -> bool:
    spec = find_spec(f"{_ROOT}.{name}")
    return spec is not None and spec.submodule_search_locations is not None
