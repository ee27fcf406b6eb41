"""Improve the errors of failed calls: name the argument of a wrong type, or suggest a known name.

Functions check the values of their arguments but not the types. If a call fails with an error of another library, the
types are compared with the annotations. This happens only after a failure, so successful calls take no extra time. If
all arguments match their annotations, the original error is raised.
"""

import inspect
import re
import types
from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Integral
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from rocscope._base import answers, typed_code
from rocscope.errors import InputError, RocscopeError, listing

_Call = TypeVar("_Call", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_MOST_WHOLE = 2**31  # largest whole number of an argument such as a number of bins; more is a mistake
_MOST_SHOWN = 120  # characters of a value shown in a message, as in `validation`


def contract(call: _Call) -> _Call:
    """Decorate a function, so that errors of other libraries are replaced by errors that name the wrong argument.

    If an argument is unknown or missing, a hint on what to call instead is added to Python's TypeError.

    Examples
    --------
    >>> @contract
    ... def double(number: int):
    ...     return number * 2 + 0
    >>> double(4)
    8
    >>> double("4")
    Traceback (most recent call last):
    rocscope.errors.InputError: number: expected a whole number, got '4'
    >>> double(numbr=4)
    Traceback (most recent call last):
    TypeError: double() got an unexpected keyword argument 'numbr'; did you mean number=?
    """

    return cast(_Call, _explained(call, lambda args, options: _broken(call, args, options), _instead))


def made_by_contract(cls: _Class) -> _Class:
    """Decorate a dataclass, so that errors about unknown arguments state what to pass. Put it above ``@dataclass``."""
    cls.__init__ = _explained(cls.__init__, lambda *_: None, _instead)
    return cls


def held_to_contract(cls: _Class) -> _Class:
    """Decorate a class by applying `contract` to its constructor and its public methods."""
    # hasattr would also find the method of the metaclass
    if not any("__getattr__" in vars(kind) for kind in cls.__mro__):
        cls.__getattr__ = _refuse_attribute
    if not hasattr(cls, "__getitem__"):
        cls.__getitem__ = _refuse_item
        if not hasattr(cls, "__len__"):
            cls.__len__, cls.__bool__ = _refuse_length, lambda _: True
    elif "__getitem__" in vars(cls):
        cls.__getitem__ = _with_hints(cls.__getitem__)
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__post_init__"):
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(cls, name, type(member)(contract(member.__func__)))
        elif inspect.isfunction(member):
            setattr(cls, name, _of_fields(cls, member) if name == "__post_init__" else contract(member))
    return cls


def _refuse_attribute(result: Any, name: str) -> Any:
    raise MissingAttributeError(type(result), name)


def _with_hints(get: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Wrap a `__getitem__`, so that the error for an unknown key names what to use."""

    @wraps(get)
    def held(result: Any, key: Any) -> Any:
        try:
            return get(result, key)
        except RocscopeError:
            raise
        except (KeyError, TypeError):
            raise MissingItemError(type(result), key) from None

    return held


def _of_fields(cls: type, check: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a `__post_init__` for a dataclass that checks the types of the fields if the original one fails."""
    return _explained(check, lambda args, _: _refusal(vars(args[0]), _hints(cls)))


def _explained(
    call: Callable[..., Any],
    refusal: Callable[[Sequence[Any], Mapping[str, Any]], InputError | None],
    instead: Callable[[Callable[..., Any], Sequence[Any], Mapping[str, Any]], str] | None = None,
) -> Callable[..., Any]:
    """Wrap a function, so that errors of other libraries are replaced by errors that name the wrong argument.

    If no argument is wrong, the original error is raised. If an argument is unknown or missing, the hint that `instead`
    returns is added to the message of Python.
    """

    @wraps(call)
    def held(*args: Any, **options: Any) -> Any:
        try:
            return call(*args, **options)
        except InputError as error:
            advised = _with_advice(call, error, args, options) if instead is not None else error
            if advised is error:
                raise
            raise advised from None
        except RocscopeError:
            raise
        except Exception as error:
            within = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            unexpected = _UNEXPECTED.search(str(error))
            passed_on = unexpected[1] if unexpected is not None and unexpected[1] in options else ""
            if instead is not None and (passed_on or (isinstance(error, TypeError) and not within)):
                # A function that was called within this one has perhaps added its hint; Python's messages have none.
                advice = (
                    ""
                    if "; " in str(error)
                    else instead(call, args, {passed_on: options[passed_on], **options} if passed_on else options)
                )
                raise TypeError(f"{error}{advice}") from None
            refused = refusal(args, options)
            if refused is None:
                raise
            raise (_with_advice(call, refused, args, options) if instead is not None else refused) from error

    return held


_OF_MODELS = ("predictions", "data", "reference")
"""Arguments that take Predictions or counts, for which labels are often passed."""


def _with_advice(
    call: Callable[..., Any], error: InputError, args: Sequence[Any], options: Mapping[str, Any]
) -> InputError:
    """Return an error with a hint on what to use in place of a value. Return the same error if there is no hint."""
    unknown = _UNEXPECTED.search(str(error))
    if unknown is not None and unknown[1] in options:
        advice = _instead(call, args, {unknown[1]: options[unknown[1]]})
        return type(error)(f"{str(error).partition('; ')[0]}{advice}")
    name = str(error).partition(":")[0]
    by_position = dict(zip(inspect.signature(call).parameters, args, strict=False))
    given = {**by_position, **options}
    # The name of a measure is an argument with another name, such as figure= of scorer.
    texts = [text for text in given.values() if isinstance(text, str) and f"got {text!r}" in str(error)]
    value = given.get(name, next(iter(texts), None))
    function = call.__qualname__.removesuffix(".__init__")
    kinds = (_kind_of(value), "text" if isinstance(value, str) else "")
    own = answers.arguments_of(function)
    by_word = {**answers.answers_by_spelling(own), **own}
    words = [f"{name}_{kind}" for kind in kinds] + [answers.spelling(f"{name}_{kind}") for kind in kinds if kind]
    of_kind = next((answers.filled(by_word[word], value) for word in words if word in by_word), "")
    taking = of_kind or _argument_taking(call, function, name, value, by_position)
    is_general = name in (*_OF_MODELS, "context", "y_true") and not (_is_ours(value) or isinstance(value, Mapping))
    if of_kind or (taking and is_general):  # these hints replace the general one
        return type(error)(f"{str(error).partition('; ')[0]}; {answers.as_hint(taking)}")
    return type(error)(f"{error}; {answers.as_hint(taking)}") if taking and taking not in str(error) else error


def _argument_taking(
    call: Callable[..., Any], function: str, name: str, value: Any, by_position: Mapping[str, Any]
) -> str:
    """Return what to use for a value that was passed as another argument, such as strategy='quantile' for bins."""
    if name == "y_true" and isinstance(value, str):  # the name of a column, or a formula
        return "for columns of a data frame use rs.read(data, label=..., scores=[...]), and pass its result"
    if name == "y_true" and _kind_of(value) == "matrix":  # features, or probabilities before the labels
        made, example = "rs.evaluate(model, X, y)", answers.example_of(function)
        of_model = made if function == "Predictions" else re.sub(r"\(y, [sp]\b", f"({made}", example)
        return "" if of_model == example else f"{example} with the labels first, or for a model {of_model}"
    if name in ("groups", "segment", "fold", "sample_weight", "repeat") and isinstance(value, str):
        return f"the column itself: {name}=df[{value!r}]"
    if name == "y_true" and hasattr(value, "predict"):
        return "rs.evaluation.from_estimator(model, X, y), and pass its result"
    if name == "y" and isinstance(value, str) and "X" in by_position:
        columns = f"df.drop(columns={value!r}), df[{value!r}]"
        return f"columns of a data frame: {answers.example_of(function).replace('X, y', columns)}"
    example = answers.example_of(function) if hasattr(value, "predict") else ""
    if "model" in example:  # a model that was passed as another argument
        return example
    if name in by_position and not isinstance(value, str):
        is_misplaced = isinstance(value, int | float) or callable(value) or _is_ours(value)
        # A column, or a table, in place of Predictions.
        is_misplaced = is_misplaced or name in (*_OF_MODELS, "context", "what") or function.startswith("plot_")
        return answers.filled(answers.tables()["positional"].get(function, "")) if is_misplaced else ""
    if not isinstance(value, str):
        return ""
    known = inspect.signature(call).parameters
    if re.search("[<>]", value) and "subject_to" in known and name != "subject_to":
        return f"subject_to={value!r}"
    if name == "threshold":
        return "a number, such as threshold=rs.choose(y, s, criterion='youden').threshold"
    if name == "criterion":
        return "".join(f"criterion={meant!r}" for meant in answers.value_meant(value)[:1])
    taking = _taking_text(call, value)
    return taking or (f"criterion={value!r}" if "criterion" in known and name in ("context", "y_score") else "")


def _kind_of(value: Any) -> str:
    """Return a text, or the kind of another value, as in the key of an answer for an argument with such a value."""
    if isinstance(value, str):
        return value
    array = _array(value)
    kinds = {0: "number" if isinstance(value, int | float) else "", 1: "column", 2: "matrix"}
    return "" if array is None else kinds.get(array.ndim, "")


def _taking_text(call: Callable[..., Any], value: Any) -> str:
    """Return the argument that accepts a text, such as strategy='quantile'. Return an empty text if several do."""
    if not isinstance(value, str) or len(value) == 1:  # such as a separator
        return ""
    meant = [value, *answers.value_meant(value)]
    accepting: dict[str, str] = {}
    for name, hint in _hints(call).items():
        for text in _literals(hint):
            if text in meant and text != "auto":
                accepting[name] = text
    return "".join(f"{name}={text!r}" for name, text in accepting.items()) if len(accepting) == 1 else ""


def _literals(hint: Any) -> list[Any]:
    """Return the values of all Literals in an annotation."""
    origin, parts = _origin_and_parts(hint)
    if origin is Literal:
        return list(parts)
    return [value for part in parts if origin in (Union, types.UnionType) for value in _literals(part)]


def _broken(call: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> InputError | None:
    try:
        declared = inspect.signature(call)
        given = declared.bind(*args, **options).arguments
    except TypeError:  # too many or too few arguments, which Python reports itself
        return None
    left_out = {name for name, value in given.items() if value is None and declared.parameters[name].default is None}
    return _refusal({name: value for name, value in given.items() if name not in left_out}, _hints(call))


def _hints(of: Any) -> dict[str, Any]:
    try:
        return get_type_hints(of)
    except NameError:  # names for type checkers only
        return {}


def _refusal(given: Mapping[str, Any], hints: Mapping[str, Any]) -> InputError | None:
    for name, value in given.items():
        hint = hints.get(name, Any)
        expected = in_words(hint)
        suits = fits(value, hint)
        if hint is Any and name in _OF_ANY:
            expected, suiting = _OF_ANY[name]
            suits = suiting(value)
        if _length(value) >= _MOST_WHOLE:
            expected, suits = "a length that fits in memory", False
        if not suits:
            text = " ".join(repr(value).split())
            got = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
            return InputError(name, expected=expected, got=got)
    return None


def fits(value: Any, hint: Any) -> bool:
    """Return True if a value matches an annotation. The entries of arrays are not checked.

    Examples
    --------
    >>> fits(3, float), fits("x", float | None), fits("a", Literal["a", "b"]), fits([1, "a"], Sequence[str])
    (True, False, True, False)
    """
    origin, parts = _origin_and_parts(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if hint is Any or isinstance(hint, TypeVar) or hint is None or hint is type(None):
        return value is None or hint not in (None, type(None))
    if origin is not None:
        return _fits_origin(value, origin, parts)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) < _MOST_WHOLE
    if hint is float:
        return isinstance(value, float | int | np.floating | np.integer) and _is_float(value)
    try:
        return isinstance(value, hint)
    except TypeError:  # a protocol that cannot be checked at run time
        return True


def _origin_and_parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the origin and the arguments of an annotation. Aliases such as NDArray are resolved."""
    origin, parts = get_origin(hint), get_args(hint)
    return _origin_and_parts(origin.__value__[parts]) if hasattr(origin, "__value__") else (origin, parts)


def _fits_origin(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    if origin is np.ndarray:
        return hasattr(value, "__array__") and _dimensions(value) is not None
    if origin is Callable:  # a class is also callable, but passing it instead of an instance is a mistake
        return callable(value) and not isinstance(value, type)
    try:
        if not isinstance(value, origin) or (isinstance(value, str) and origin in (Sequence, Iterable)):
            return False
    except TypeError:
        return True
    if issubclass(origin, Mapping) and len(parts) == 2:
        return all(fits(key, parts[0]) and fits(item, parts[1]) for key, item in cast(Mapping[Any, Any], value).items())
    if origin in (Sequence, Iterable, list, tuple) and parts and 0 <= _length(value) < _MOST_WHOLE:
        inner = [part for part in parts if part is not ...]
        return all(any(fits(item, part) for part in inner) for item in value)
    return _length(value) < _MOST_WHOLE and not (origin is Iterable and _dimensions(value) == 0)


def _is_float(value: Any) -> bool:
    try:
        return type(value) is not bool and float(value) == float(value)
    except (OverflowError, ValueError):
        return False


def _length(value: Any) -> int:
    """Return the length of a value. Return -1 if it has no length."""
    try:
        return len(value)
    except OverflowError:
        return _MOST_WHOLE
    except Exception:  # noqa: BLE001 (of another library, whatever it says)
        return -1


def _array(value: Any) -> np.ndarray | None:
    """Return a value as a NumPy array. Return None if NumPy cannot convert it."""
    try:
        return None if _length(value) >= _MOST_WHOLE else np.asarray(value)
    except Exception:  # noqa: BLE001 (of another library, whatever it says)
        return None


def _dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array of numbers. Return None for other values."""
    array = _array(value)
    return array.ndim if array is not None and array.dtype.kind in "biuf" else None


def _is_array(value: Any) -> bool:
    """Return True if a value is a column, a table, or a mapping in which all values are columns or tables."""
    if isinstance(value, Mapping):
        return all(map(_is_array, cast(Mapping[Any, Any], value).values()))
    array = _array(value)
    return array is not None and array.ndim > 0


_ARRAY = ("an array whose rows have equal lengths", _is_array)


def _is_number_or_array(value: Any) -> bool:
    """Return True for a number or a one-dimensional array of numbers. Return False for lists and data frames."""
    return fits(value, float) or (hasattr(value, "__array__") and _dimensions(value) in (0, 1))


_ONE_OR_MORE = ("a number or a column of numbers", lambda value: _dimensions(value) in (0, 1))
_NUMBERS = ("a number or an array of numbers", _is_number_or_array)
_SHARES = ("a share for each class", lambda value: _dimensions(value) == 1)
_OF_ANY: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "ax": ("a Matplotlib Axes", lambda value: hasattr(value, "add_line")),
    "figure": ("a Matplotlib Figure", lambda value: hasattr(value, "add_axes")),
    "classes": ("the classes in order", lambda value: isinstance(value, Iterable)),
    "proba": ("a table with one column per class", lambda rows: isinstance(rows, Mapping) or _dimensions(rows) == 2),
    "cls": ("one class", lambda value: not _dimensions(value)),
    "train_prior": _SHARES,
    "target_prior": _SHARES,
    **dict.fromkeys(("X", "y", "sample_weight", "score", "scores", "matrix", "counts"), _ARRAY),
    **dict.fromkeys(("horizon", "horizons", "inclusion", "share"), _ONE_OR_MORE),
    **dict.fromkeys(("x", "size", "responders", "tpr", "fpr", "threshold", "cost"), _NUMBERS),
}
"""For parameters that accept several types or types of other libraries: a description, and a function that checks."""


_WORDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    None: "None",
    type(None): "None",
    Hashable: "a name",
}
_OF_ORIGINS = {np.ndarray: "an array of numbers", Callable: "a function", Mapping: "a mapping"}


def in_words(hint: Any) -> str:
    """Return the description of an annotation for an error message.

    Examples
    --------
    >>> in_words(float | None), in_words(Literal["a", "b"]), in_words(Sequence[str])
    ('a number or None', "'a' or 'b'", 'a sequence in which each item is a text')
    """
    origin, parts = _origin_and_parts(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(in_words, parts)))
    if origin is Literal:
        return " or ".join(map(repr, parts)) if len(parts) <= 3 else f"one of {listing(parts, 10)}"
    if hint in _WORDS:
        return _WORDS[hint]
    if origin in (Sequence, list, tuple):
        return f"a sequence in which each item is {in_words(parts[0])}" if parts else "a sequence"
    if origin in _OF_ORIGINS:
        return _OF_ORIGINS[origin]
    name = getattr(origin or hint, "__name__", str(hint))
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


PASS_PREDICTIONS = "for labels and scores pass rs.Predictions(y, {'a': s, 'b': s}) as the first argument"
_ALIKE = 0.75  # as of names, see `rocscope._base.public_names`


_LABELS_AND_SCORES = ("y_true", "y_pred", "y_score", "scores", "proba")
_UNEXPECTED = re.compile(r"(?:unexpected keyword argument|got the parameter) '(\w+)'")


def _instead(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    """Return a hint on what to call if arguments do not match the signature of a function."""
    parameters = inspect.signature(function).parameters.values()
    known = [item.name for item in parameters if item.name != "self" and item.kind != item.VAR_KEYWORD]
    unknown = [word for word in options if word not in known]
    name = _name_of_call(function, arguments)
    made = answers.tables()["constructors"].get(name)
    if made and (not unknown or unknown[0] in _LABELS_AND_SCORES):
        return f"; {answers.as_hint(made)}"
    if sum(hasattr(value, "predict") for value in arguments) > 1 and "y_score" in known:
        return f"; use rs.{name}(rs.evaluate({{'a': model, 'b': model}}, X, y))"
    by_position = _for_positions(name, known, arguments, options)
    if by_position:
        return f"; {answers.as_hint(answers.with_given(by_position, options))}"
    if unknown:
        hints = {word: _for_unknown(function, name, known, word, options) for word in unknown}
        # A function may pass some of its arguments to another one, and these are not unknown.
        passes_on = any(item.kind == item.VAR_KEYWORD for item in parameters)
        several = _costs_of(unknown, known, options) or ("" if passes_on else _together(hints))
        if several or not hints[unknown[0]]:
            return f"; {several}" if several else _takes(name, known)
        renamed = {word: re.match(r"use (\w+)=", hint) for word, hint in hints.items()}
        # The other arguments of a plot may be options of Matplotlib's lines.
        of_plots = answers.answers_by_spelling(answers.tables()["plot_arguments"])
        others = [
            f"{word}: {hints[word]}"
            for word, match in renamed.items()
            if word != unknown[0]
            and (answers.spelling(word) in of_plots if name.endswith(".plot") else match and match[1] in known)
        ]
        return f"; {'; '.join([hints[unknown[0]], *others])}"
    if known[:1] == ["tp"]:
        return f"; call rs.ThresholdCounts.from_scores(y, s).at(0.5), which has .{name}"
    if any(hasattr(value, "predict") for value in arguments):
        return "; for a fitted model use rs.evaluation.from_estimator(model, X, y), and pass its result"
    if "y_score" in known:
        return "; pass labels and scores; for several models pass a mapping: (y, {'a': s, 'b': s})"
    if known[:1] == ["source"]:
        return "; for labels and scores use rs.Predictions(y, s)"
    if known[:1] == ["point"]:
        return "; for labels and scores pass rs.Predictions(y, s).counts().at(0.5)"
    if known[:1] in (["predictions"], ["data"], ["curve"]):
        return f"; {PASS_PREDICTIONS}"
    return _takes(name, known)


def _name_of_call(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """Return the name of a function or of a class. For a drawing of a curve, return the method of this curve."""
    name = function.__qualname__.removesuffix(".__init__")
    return f"{type(arguments[0]).__name__}.plot" if name == "plot_curve" and arguments else name


def _costs_of(unknown: Sequence[str], known: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return a hint with a Context of all costs and prevalences that were passed by name, if they are two or more."""
    by_word = answers.answers_by_spelling(answers.tables()["arguments"]["Context"])
    fields: dict[str, str] = {}
    for word in unknown:
        field = by_word.get(answers.spelling(word), "").partition(",")[0]
        field = f"{word}=" if word in _FIELDS else field
        name, sign, value = answers.filled(field, options[word]).partition("=")
        if sign and name in _FIELDS and isinstance(options[word], int | float):
            fields[name] = value or f"{options[word]!r}"
    if len(fields) < 2:
        return ""
    costs = ", ".join(f"{name}={value}" for name, value in fields.items())
    if "cost_fp" in known:
        return f"use {costs}"
    return f"use context=rs.Context({costs})" if "context" in known else f"use rs.choose(y, s, rs.Context({costs}))"


_FIELDS = ("target_prevalence", "cost_fp", "cost_fn", "cost_tp", "cost_tn")


def _together(hints: Mapping[str, str]) -> str:
    """Return one hint for several arguments that have other names or are to be omitted. Return "" for other hints."""
    renamed = [hint.removeprefix("use ") for hint in hints.values() if _RENAMED.fullmatch(hint)]
    omitted = [word for word, hint in hints.items() if hint.startswith("omit this argument")]
    if len(hints) < 2 or len(renamed) + len(omitted) < len(hints):
        return ""
    use = [f"use {' and '.join(dict.fromkeys(renamed))}"] if renamed else []
    return "; ".join([*use, *(hints[word].replace("this argument", f"{word}=", 1) for word in omitted)])


_OTHER = re.compile(r"\{(\w+)=([^}]*)\}")  # in an answer, the place of another argument's value, with its default
_RENAMED = re.compile(r"use \w+=(?:[\w.'-]*|\[[\d., ]*\])")


def _for_unknown(
    function: Callable[..., Any], name: str, known: Sequence[str], unknown: str, options: Mapping[str, Any]
) -> str:
    """Return a hint on what to use instead of an unknown argument. Return an empty text if nothing is known."""
    value = options[unknown]
    answer = _with_value(function, name, answers.for_value(name, unknown, value, _kind_of(value), known), value)
    own = answers.answers_by_spelling(answers.arguments_of(name)).get(answers.spelling(unknown), "")
    taking = _taking_text(function, value)
    answer = answer or (taking if taking.startswith(str(own).partition("=")[0]) else "")
    answer = answer or _with_value(function, name, answers.for_argument(name, unknown, known), value)
    if not answer and (close := _close(unknown, known, "{}=")):
        return close.removeprefix("; ")
    answer = answer or answers.calls_by_spelling().get(answers.spelling(unknown), "")
    answer = answer or _with_value(function, name, answers.for_parts(name, unknown, known), value)
    given = {option: value for option, value in options.items() if option in known or not isinstance(value, str)}
    answer = answers.with_given(answer.replace("{name}", unknown), given)
    answer = _OTHER.sub(lambda place: str(options.get(place[1], place[2])), answer)
    return answers.as_hint(answer) if answer else ""


_OF_FIGURES = ("criterion", "figure", "metric", "scoring", "statistic")
"""Arguments that take the name of a measure."""


def _with_value(function: Callable[..., Any], function_name: str, answer: str, value: Any) -> str:
    """Return an answer with the given value: in its places, or after an argument such as "bins=" that accepts it."""
    answer = answers.filled(answer, value)
    name = answer.removesuffix("=")
    if name != answer and isinstance(value, str):
        of_value = answers.for_value(function_name, name, value, value, [name])
        if of_value:
            return answers.filled(of_value, value)
        value = next(iter(answers.value_meant(value)), value) if name in _OF_FIGURES else value
    hint = _hints(function).get(name, Any)
    takes_column = name in _LABELS_AND_SCORES and (hint is Any or not fits(value, hint))
    if takes_column and isinstance(value, str | int | float):  # perhaps the positive label
        is_label = name == "y_true" and "pos_label" in inspect.signature(function).parameters
        return f"pos_label={value!r}" if is_label else ""
    is_short = isinstance(value, int | float) or (isinstance(value, str | list) and len(repr(value)) <= _MOST_SHOWN)
    if name == answer or not is_short:
        return answer
    # Most other arguments without a type accept columns.
    if hint is Any and name not in ("cv", "error_score", "pos_label", "random_state", "scoring", "source"):
        return answer
    return f"{answer}{value!r}" if fits(value, hint) else answer


def _takes(function: str, known: Sequence[str]) -> str:
    """Return a hint with the arguments of a function, and a call of it that the answers contain."""
    if not known:
        return "; call it without arguments"
    example = answers.example_of(function)
    return f"; it takes {', '.join(known)}" + (f"; for example {example}" if example else "")


def _for_positions(function: str, known: Sequence[str], arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    """Return what to use if the types of arguments show what is meant: a table, or labels in place of a model."""
    has_model = any(hasattr(value, "predict") for value in arguments)
    data = [*arguments, *(value for option, value in options.items() if option != "X")]
    tables = [value for value in data if hasattr(value, "columns") and not _is_ours(value)]
    if tables and not has_model and "X" not in known and known[:1] != ["source"]:
        # The names of two columns are often passed too: auc(table, "y", "p") or auc(table, estimate="p", truth="y").
        of_scores = {option: "y_true=" not in answers.for_argument(function, option, known) for option in options}
        passed = [*arguments, *(options[option] for option in sorted(of_scores, key=of_scores.__getitem__))]
        return f"for a data frame use {answers.reading('data', tables[0], passed)}, and pass its result"
    if known[:2] == ["models", "X"] and arguments and not has_model and not hasattr(arguments[0], "fit"):
        return "for labels and scores use rs.summary(y, s), or with a model rs.evaluate(model, X, y)"
    # Python's error is about the positions, or about the names: only the former has an answer here.
    if any(name not in known for name in options):
        return ""
    of_labels = answers.filled(answers.tables()["positional"].get(function, ""), answers.numbers_in(arguments))
    of_model = "rs.evaluation.from_estimator(model, X, y)"
    return re.sub(r"rs\.Predictions\(y, [sp]\)", of_model, of_labels) if has_model else of_labels


def _is_ours(value: Any) -> bool:
    """Return whether a value is of a class of rocscope; results also have `columns`."""
    return type(value).__module__.partition(".")[0] == "rocscope"


class MissingAttributeError(AttributeError):
    """Error for an unknown attribute of a result. The message is built only when it is read."""

    def __str__(self) -> str:
        owner, name = self.args
        message = f"{owner.__name__} has no {name!r}"
        of_model = f"for a model of this name, use {_items(owner, name)}; " if "['a']" in _items(owner) else ""
        typed = typed_code.call_in(self.__traceback__, name)
        hint = "" if name.startswith("_") else _hint_for(owner, name, typed) or of_model + _listed(owner)
        return f"{message}; {hint}" if hint else message


class MissingItemError(TypeError, KeyError):
    """Error for a result that is indexed, or unpacked as in ``fpr, tpr, thresholds = roc(y, s)``.

    Because it is a KeyError, NumPy does not take the result for a sequence. The message is built only when it is read.
    """

    def __str__(self) -> str:
        owner, key = self.args
        items = _items(owner, key)
        if isinstance(key, str):
            hint = f"use .{key}" if key in dir(owner) else _hint_for(owner, key)
            # A key that is no attribute is perhaps the name of a model.
            hint = hint or (f"use {items}" if items else _listed(owner))
            return f"{owner.__name__} has no item [{key!r}]; {hint}"
        if isinstance(key, float) and hasattr(owner, "at"):
            return f"{owner.__name__} has no item [{key!r}]; use .at({key!r})"
        if isinstance(key, list) and hasattr(owner, "to_frame"):
            columns = ".metrics()" if hasattr(owner, "metrics") else f".to_frame()[{key!r}]"
            return f"{owner.__name__} has no columns {key!r}; use {columns}"
        table = ", or .to_frame() for a data frame" if hasattr(owner, "to_frame") else ""
        return f"{owner.__name__} cannot be indexed or unpacked; use {items or '.to_dict()'}{table}"


def _items(owner: type, key: Any = None) -> str:
    """Return what to use for an item of a result, which may be named like a model."""
    unpacked = answers.tables()["unpacked"]
    use = next((unpacked[kind.__name__] for kind in owner.__mro__ if kind.__name__ in unpacked), "")
    return use.replace("['a']", f"[{key!r}]") if isinstance(key, str) else use


def _refuse_item(result: Any, key: Any) -> NoReturn:
    raise MissingItemError(type(result), key)


def _refuse_length(result: Any) -> NoReturn:
    owner = type(result)
    length = next((f".{name}" for name in ("n", "n_pos") if name in _public_names(owner)), "")
    length = "len(result.to_frame())" if hasattr(owner, "to_frame") else length or "result.to_dict()"
    raise TypeError(f"{owner.__name__} has no length; use {length}")


def _public_names(owner: type) -> list[str]:
    """Return the names of the public attributes of a class, with those of its fields."""
    fields = [name for kind in owner.__mro__ for name in vars(kind).get("__annotations__", ())]
    return sorted({word for word in (*dir(owner), *fields) if not word.startswith("_")})


def _listed(owner: type) -> str:
    """Return a hint with all attributes of a class."""
    values = "all values are in .to_dict(); " if hasattr(owner, "to_dict") else ""
    return f"{values}it has .{', .'.join(_public_names(owner))}"


def _hint_for(owner: type, name: str, typed: typed_code.TypedCall | None = None) -> str:
    """Return a hint on what to use instead of an unknown attribute. Return an empty text if nothing is known."""
    known = _public_names(owner)
    typed = typed or typed_code.TypedCall()
    answer = answers.for_typed(name, typed.positional, typed.named)
    answer = answer or _for_attribute(owner, name, answers.by_spelling(known))
    if answer:
        return answers.as_hint(answers.filled(_on_result(owner, answer), answers.numbers_in(typed.arguments)))
    if hasattr(owner, "get_params"):
        return "an estimator has fitted attributes after .fit(X, y)"
    close = _close(name, known, ".{}").removeprefix("; ")
    call = "" if close else _on_result(owner, answers.concept_call(name))
    return close or (answers.as_hint(call) if call else "")


def _for_attribute(owner: type, name: str, known: Mapping[str, str]) -> str:
    """Return what to use instead of an unknown attribute of a result. Return an empty text if nothing is known."""
    if answers.spelling(name) in known:
        return f".{known[answers.spelling(name)]}"
    form = ("table",) if hasattr(owner, "to_frame") else ()
    of_owner = [answers.tables()["attributes"].get(kind.__name__, {}) for kind in owner.__mro__]
    # The table of the class itself comes first. Estimators have the methods of scikit-learn, for which answers about
    # results would be wrong.
    is_estimator = hasattr(owner, "get_params")
    of_all = [answers.tables()["attributes"][kind] for kind in (*form, "any")]
    by_word = ChainMap(*map(answers.answers_by_spelling, of_owner if is_estimator else [*of_owner, *of_all]))
    for word in answers.spellings(name):
        if word in by_word:
            return by_word[word]
        if word in known:
            return f".{known[word]}"
    call = "" if is_estimator else answers.call_for(name).partition(", or of ")[0]  # no other data than the result's
    is_bare = re.fullmatch(r"rs(\.\w+)+", call)  # a function of rocscope of this name, without its arguments
    called = (answers.concept_call(name) or answers.example_of(call.rpartition(".")[2])) if is_bare else ""
    return _on_result(owner, called or call)


def _on_result(owner: type, call: str) -> str:
    """Return a call with what the result has in place of what makes it, such as .tpr of an operating point."""
    for kind in owner.__mro__:
        start, instead = answers.tables()["made_by"].get(kind.__name__, ("", ""))
        if start and f"{start}." in call:
            return call.replace(f"{start}.", f"{instead}.")
    is_data = any(kind.__name__ == "Predictions" for kind in owner.__mro__)
    if not is_data:
        return call
    call = call.replace("rs.ThresholdCounts.from_scores(y, s)", "predictions.counts()")
    scores = r"(?:[sp]|\{'a': s, 'b': p\})"
    of_data = re.sub(rf"rs\.Predictions\(y, {scores}\)|(?<=\()y, {scores}(?=[,)])", "predictions", call)
    return call if of_data == "predictions" else of_data


def _close(name: str, known: Iterable[str], shown: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, answers.of_one_kind(name, known), n=3, cutoff=_ALIKE)
    return f"; did you mean {' or '.join(map(shown.format, close))}?" if close else ""
