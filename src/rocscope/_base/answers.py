"""Answers for names of other libraries: the call, argument or attribute to use in rocscope.

The file answers.toml contains the answers. A name is looked up by its spelling, without case, underscores and words
such as plot_ and _score. A name that the file does not contain is recognised by its words, as a concept of the field.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any

_ROOT = "rocscope"
# Tables in which one key contains several names with the same answer, separated by spaces.
_GROUPED = ("fillers", "libraries", "plot_arguments", "options", "values")
_GROUPED_BY_OWNER = ("names", "arguments", "attributes")


@cache
def text_of(name: str) -> str:
    """Return the text of a file in this folder. This also works if the package is in a zip file."""
    return (get_data("rocscope._base", name) or b"").decode()


@cache
def tables() -> dict[str, Any]:
    """Return the content of answers.toml: what to use for names, arguments and attributes of other libraries.

    Examples
    --------
    >>> tables()["names"]["yardstick"]["roc_auc"], tables()["attributes"]["RocCurve"]["roc_auc"]
    ('rs.auc(y, s)', '.auc')
    """
    import tomllib

    by_table = tomllib.loads(text_of("answers.toml"))
    for name in _GROUPED:
        by_table[name] = _by_name(by_table[name])
    for name in _GROUPED_BY_OWNER:
        by_table[name] = {owner: _by_name(table) for owner, table in by_table[name].items()}
    return by_table


def _by_name(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with one entry per name. In an answer, {name} is replaced by the name."""
    filled_in = {name: answer for names, answer in table.items() for name in names.split()}
    return {name: use.replace("{name}", name) if isinstance(use, str) else use for name, use in filled_in.items()}


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
    waiting, fillers = [_WORD.findall(name)], tables()["fillers"]
    while waiting:
        words = waiting.pop(0)
        spelled = spelling("".join(words))
        if not spelled:
            continue
        yield spelled
        if spelled.endswith("s"):
            yield spelled[:-1]
        if words[0].casefold() in fillers and words[1:] not in waiting:
            waiting.append(words[1:])
        if words[-1].casefold() in fillers and words[:-1] not in waiting:
            waiting.append(words[:-1])


_TOKEN = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_LONG = 6  # letters of a word that is recognised within another: "cutoff" in "findcutoff", but not "class"


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case.

    Examples
    --------
    >>> words_of("findBestF1_score")
    ['find', 'best', 'f1', 'score']
    """
    return [token.casefold() for token in _TOKEN.findall(name)]


@cache
def _meanings() -> dict[str, str]:
    """Return a mapping from each word, such as "cutoff", to the word that concepts use, such as "threshold"."""
    meanings: dict[str, str] = {}
    for word, others in tables()["words"].items():
        meanings |= dict.fromkeys([word, *others.split()], word)
    return meanings


@cache
def _concepts(table: str) -> list[tuple[list[str], str]]:
    """Return the words and the answer of each concept in a table. Concepts with the most words come first."""
    concepts = [(words.split(), answer) for words, answer in tables()[table].items()]
    return sorted(concepts, key=lambda concept: -len(concept[0]))


@cache
def vocabulary() -> frozenset[str]:
    """Return all words that concepts contain, and all filler words. Other words in a name may be typing errors."""
    concepts = " ".join([*tables()["concepts"], *tables()["of_multiclass"]])
    return frozenset([*_meanings(), *tables()["fillers"], *concepts.split()])


def concept_for(name: str, table: str = "concepts") -> str:
    """Return the answer for the concept that the words of a name describe. Return an empty text if there is none.

    Examples
    --------
    >>> concept_for("youden_optimal_cutpoint"), concept_for("nothing")
    ("rs.choose(y, s, criterion='youden')", '')
    """
    spelled = spelling(name)
    words = {synonym: word for synonym, word in _meanings().items() if len(synonym) >= _LONG and synonym in spelled}
    for word in words_of(name):
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
def calls_by_spelling() -> dict[str, str]:
    """Return a mapping from the normalised spelling of names of other libraries and of rocscope to the call to use."""
    calls: dict[str, str] = {}
    for names in tables()["names"].values():
        for theirs, ours in names.items():
            calls.setdefault(spelling(theirs), ours)
    for line in text_of("public_names.txt").splitlines():
        home, module, *names = line.split()
        for name in names if module != "." else []:
            calls.setdefault(spelling(name), f"{home.replace(_ROOT, 'rs', 1)}.{name}")
    return calls


@cache
def example_of(function: str) -> str:
    """Return the first answer that is a call of a function. Return an empty text if there is none.

    Examples
    --------
    >>> example_of("concordance")
    'rs.outcomes.concordance(time, event, s, horizon)'
    """
    call = re.compile(rf"rs(?:\.\w+)*\.{re.escape(function)}\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
    listed = (tables()[name] for name in ("positional", "constructors", "concepts", "of_multiclass"))
    for table in (*listed, *tables()["names"].values()):
        for answer in table.values():
            if example := call.search(answer):
                return example[0]
    return ""


def as_hint(answer: str) -> str:
    """Return a hint: "use" and an answer. An answer that is an instruction is returned unchanged.

    Examples
    --------
    >>> as_hint("rs.auc(y, s)"), as_hint("omit this argument: the result is exact")
    ('use rs.auc(y, s)', 'omit this argument: the result is exact')
    """
    return answer if answer.startswith(("omit ", "for ")) else f"use {answer}"


_PLACE = re.compile(r"\{(value|1-value|range|share|repr)(\d?):([^}]*)\}")


def filled(answer: str, value: Any = None) -> str:
    """Return an answer with the given value in its places.

    ``{value:0.1}`` is the place of a value, ``{1-value:0.95}`` that of its complement, and ``{value1:5}`` that of the
    second of several values. ``{value:[0.5]}`` is the place of a list, ``{share:0.1}`` that of a share or a percentage,
    and ``{repr:1}`` that of any value. ``{range:0.1}`` is the place of the highest false positive rate in a range,
    which contains specificities if it begins or ends at 1. A place keeps its default if the value is of another kind.

    Examples
    --------
    >>> filled("level={1-value:0.95}", 0.1), filled("max_fpr={range:0.1}", [1, 0.8]), filled("{value:2}")
    ('level=0.9', 'max_fpr=0.2', '2')
    >>> filled("--target-prevalence {value:0.1}", "10%"), filled("--label {value:COLUMN}", "y")
    ('--target-prevalence 0.1', '--label y')
    >>> filled("--cost-fp {value0:1} --cost-fn {value1:5}", "2,7"), filled(".at({value:[0.1]})", [0.2, 0.3])
    ('--cost-fp 2 --cost-fn 7', '.at([0.2, 0.3])')
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    several = value.split(",") if isinstance(value, str) and "," in value else value
    parts = list(several) if isinstance(several, list | tuple) else []
    numbers = [number for number in map(_number, parts) if number is not None]

    def place(match: re.Match[str]) -> str:
        kind, position, default = match.groups()
        given = value
        if default.startswith("["):
            return (f"[{_number(value):.12g}]" if _number(value) is not None else "") or _listing(parts) or default
        if position and (parts or position == "0"):  # one value alone is the second, such as a ratio of costs
            given = parts[int(position)] if int(position) < len(parts) else None
        elif numbers and kind == "range":
            given = 1 - min(numbers) if max(numbers) == 1 else max(numbers)
        if kind == "repr":
            return default if given is None else repr(given)
        number = _number(given)
        if isinstance(given, bool) and default in ("True", "False"):
            return str(given)
        if kind == "share" and number is not None and number > 1:
            number /= 100
        if number is not None:
            return f"{1 - number if kind == '1-value' else number:.12g}"
        is_text = isinstance(given, str) and bool(given) and _number(default) is None
        return str(given) if is_text else default

    return _PLACE.sub(place, answer)


def _listing(values: Sequence[Any]) -> str:
    """Return values as Python writes them. Return an empty text for many values, unless their steps are equal."""
    if len(values) <= 10:
        texts = [f"{value:.12g}" if isinstance(value, float) else repr(value) for value in values]
        return f"[{', '.join(texts)}]" if values else ""
    numbers = [number for number in map(_number, values) if number is not None]
    step = (numbers[-1] - numbers[0]) / (len(values) - 1) if len(numbers) == len(values) else float("nan")
    is_even = all(abs(number - numbers[0] - place * step) < 1e-9 for place, number in enumerate(numbers))
    return f"np.linspace({numbers[0]:.6g}, {numbers[-1]:.6g}, {len(values)})" if is_even else ""


def _number(value: Any) -> float | None:
    """Return a number or the text of one, such as "10%", as a number. Return None for other values."""
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    number = re.fullmatch(r"(?:\w+=)?([-+]?[\d.]+(?:e[-+]?\d+)?)(%?)", text)
    try:
        return None if number is None else float(number[1]) / (100 if number[2] else 1)
    except ValueError:  # such as 1.2.3
        return None


def reading(name: str, table: Any, typed: Iterable[Any]) -> str:
    """Return the call that reads the columns of a table that were typed: as texts, in lists, or in a formula.

    The first column contains the labels, unless only the second one has two values.
    """
    texts = [text for value in typed for text in (value if isinstance(value, list | tuple) else [value])]
    words = [word for text in texts if isinstance(text, str) for word in (text, *re.findall(r"[\w.]+", text))]
    columns = list(dict.fromkeys(word for word in words if word in list(table.columns)))
    columns = columns or [text for text in texts if isinstance(text, str)]
    if len(columns) < 2:
        return f"rs.read({name}, label={repr(*columns) if columns else '...'}, scores=[...])"
    if not _has_two_values(table, columns[0]) and _has_two_values(table, columns[1]):
        columns[:2] = columns[1::-1]
    label, *scores = columns
    return f"rs.read({name}, label={label!r}, scores={scores})"


def _has_two_values(table: Any, column: str) -> bool:
    """Return whether the first rows of a column of a table contain two values at most."""
    try:
        return len(set(table[column][:_ROWS_SEEN])) <= 2
    except Exception:  # noqa: BLE001 (a table of another library, whatever it says)
        return False


_ROWS_SEEN = 1000


def with_data(hint: str, made: str) -> str:
    """Return a hint for labels and scores with a call that makes Predictions in place of them.

    Examples
    --------
    >>> with_data("use rs.roc(y, s).plot()", "rs.evaluate(model, X, y)")
    'use rs.roc(rs.evaluate(model, X, y)).plot()'
    """
    hint = hint.replace("rs.ThresholdCounts.from_scores(y, s)", f"{made}.counts()")
    hint = re.sub(r"rs\.Predictions\(y, [sp]\)", made, hint)
    return re.sub(r"(?<!Predictions)\(y, [sp](?=[,)])", f"({made}", hint)


def for_typed(name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return the call for a name of another library with its arguments. Return an empty text if there is none.

    Examples
    --------
    >>> for_typed("performance", ["mxe"], {}), for_typed("performance", ["auc"], {"fpr_stop": 0.2})
    ('rs.calibration.log_loss(y, p)', 'rs.roc(y, s).partial_auc(max_fpr=0.2)')
    """
    answer_by_word = tables()["typed"].get(spelling(name), {})
    values = [*positional, *named.values()]
    texts = [value for value in values if isinstance(value, str)]
    # An argument with its value comes before the argument, and both before the values.
    words = [f"{argument}_{value}" for argument, value in named.items() if isinstance(value, str)]
    numbers = numbers_in([*positional, named.get("x")])
    given = {spelling(word): numbers for word in (*words, *texts, "_".join(texts))}
    given |= {spelling(argument): numbers_in([value]) for argument, value in named.items()}
    if numbers := numbers_in(positional):
        given |= {"number": numbers} | ({"numbers": numbers} if len(numbers) > 1 else {})
    for words_of_key, answer in answer_by_word.items():
        for word in map(spelling, words_of_key.split()):
            if word in given:
                return filled(answer, given[word])
    if "criterion" in answer_by_word:  # a function that chooses a threshold by the measure that an argument names
        measures = [named[word] for word in ("metric", "criterion", "methods", "method") if word in named]
        chosen = next((_criterion(name) for name in measures if isinstance(name, str)), "")
        return f"rs.choose(y, s, {chosen})" if chosen else ""
    calls = (call_for(word) for word in ["_".join(texts), *texts]) if "measure" in answer_by_word else ()
    return next(filter(None, calls), "")


def _criterion(name: str) -> str:
    """Return the arguments of rs.choose for the name of a measure, without the explanation that follows them."""
    meant = [f"criterion={name!r}" for name in [*value_meant(name), name]]
    answer = for_value("choose", "criterion", name, name, ["criterion", "context"])
    return re.split(r", (?:the|where|which|whose)| for ", answer or meant[0])[0]


def numbers_in(values: Iterable[Any]) -> list[float]:
    """Return the numbers among values and in lists among them."""
    parts = [part for value in values for part in (value if isinstance(value, list | tuple) else [value])]
    return [part for part in parts if isinstance(part, int | float) and not isinstance(part, bool)]


def is_library(name: str) -> bool:
    """Return whether a name is that of another library, or of a module that is usually imported under this name."""
    return spelling(name) in {spelling(library) for library in (*tables()["names"], *tables()["libraries"])}


def call_for(name: str) -> str:
    """Return the call to use for a name of another library. Return an empty text if there is none.

    Examples
    --------
    >>> call_for("plotRocCurve"), call_for("logloss"), call_for("nothing")
    ('rs.roc(y, s).plot()', 'rs.calibration.log_loss(y, p)', '')
    """
    for names in tables()["names"].values():  # in this spelling: ROCAUC draws in yellowbrick, and roc_auc is a number
        if name in names:
            return names[name]
    calls = calls_by_spelling()
    is_plot = any(tables()["fillers"].get(word.casefold()) == "plot" for word in _WORD.findall(name))
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


def value_meant(value: str) -> list[str]:
    """Return what another library's value of an option, such as method="sigmoid", is called in rocscope.

    Examples
    --------
    >>> value_meant("sigmoid"), value_meant("nothing")
    (['platt'], [])
    """
    by_word = {spelling(theirs): ours for theirs, ours in tables()["values"].items()}
    return by_word.get(spelling(value), [])


def concept_call(name: str) -> str:
    """Return the call for the concept that a name describes.

    A name with "multiclass" gives a call for several classes. A name with "plot" gives a call that draws.

    Examples
    --------
    >>> concept_call("cumulative_gains_chart"), concept_call("MulticlassBrierLoss")
    ('rs.gain(y, s).plot()', 'rs.multiclass.multiclass_brier(y, probabilities)')
    """
    meant = {_meanings().get(word) for word in words_of(name)}
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


def arguments_of(function: str) -> Mapping[str, Any]:
    """Return the answers for arguments of a function.

    Methods of all curves share the answers of the class Curve. Functions that read a table share those of `read`.
    """
    by_function = tables()["arguments"]
    same = "read" if function in ("read_counts", "explore") else f"Curve.{function.rpartition('.')[2]}"
    shared = by_function.get(same, {}) if "." in function or same == "read" else {}
    return {**shared, **by_function.get(function, {})}


def answers_by_spelling(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from the normalised spelling of each name in a table to its answer."""
    return {spelled: table[name] for spelled, name in by_spelling(table).items()}


def for_value(function: str, argument: str, value: Any, kind: str, known: Sequence[str]) -> str:
    """Return what to use for an argument with its value, such as ``curve='PR'``. Return an empty text if not known.

    The `kind` is the value itself if it is a text, or else a word such as "number".

    Examples
    --------
    >>> for_value("auc", "curve", "PR", "PR", []), for_value("auc", "label", 1, "number", ["y_true", "pos_label"])
    ('rs.precision_recall(y, s).average_precision', 'pos_label=')
    """
    words = [f"{argument}_{kind}", f"{argument}_text" if isinstance(value, str) else argument]
    return _argument_answer(function, map(spelling, words), known) if spelling(kind) else ""


def with_given(answer: str, options: Mapping[str, Any]) -> str:
    """Return an answer with what was passed in place of the values of its example. Numbers may have other names.

    Examples
    --------
    >>> with_given("rs.choose(y, s, rs.Context(cost_fp=2, cost_fn=5))", {"fn_cost": 9})
    'rs.choose(y, s, rs.Context(cost_fp=2, cost_fn=9))'
    """
    for name, value in options.items():
        example = re.search(rf"(?<=\b{re.escape(name)}=)'(\w+)'", answer)
        if example is not None and isinstance(value, str) and example[1] not in value_meant(value):
            answer = answer.replace(example[0], repr(value))
        owners = [tables()["arguments"][owner] for owner in ("Context", "Campaign")]
        fields = [answers_by_spelling(fields).get(spelling(name), "=") for fields in owners]
        for argument in {f"{name}=", *fields} - {"="} if _number(value) is not None else ():
            answer = re.sub(rf"(?<=\b{re.escape(argument)})[\d.]+", filled("{value:1}", value), answer)
    return answer


def for_argument(function: str, unknown: str, known: Sequence[str]) -> str:
    """Return what to use instead of an unknown argument of a function. Return an empty text if nothing is known."""
    spelled = by_spelling(known)
    if spelling(unknown) in spelled:
        return f"{spelled[spelling(unknown)]}="
    return _argument_answer(function, spellings(unknown), known) or _field_answer(unknown, known)


def _field_answer(unknown: str, known: Sequence[str]) -> str:
    """Return an object to pass, if a function takes a Context or a Campaign and the argument is one of its fields."""
    objects = {
        "context": ("Context", "a Context: rs.Context(cost_fp=1, cost_fn=5)"),
        "campaign": ("Campaign", "a Campaign: rs.Campaign(population=1000, unit_cost=1, unit_benefit=5)"),
    }
    for argument, (owner, answer) in objects.items():
        if argument in known and spelling(unknown) in answers_by_spelling(tables()["arguments"][owner]):
            return answer
    return ""


_SHORTEST_PART = 4  # letters of a part of an argument's name that is looked up by itself: "level", but not "fp"


def for_parts(function: str, unknown: str, known: Sequence[str]) -> str:
    """Return what to use instead of an argument, from the last or the first words of its name."""
    # The last words of a name say what it is: conf_interval_level is a level. The first words say so less often.
    words = unknown.strip("_").split("_")
    ends = [spelling("".join(words[start:])) for start in range(1, len(words))]
    starts = [spelling("".join(words[:end])) for end in range(len(words) - 1, 0, -1)]
    spelled = by_spelling(known)
    argument = next((f"{spelled[part]}=" for part in ends if part in spelled), "")
    parts = [part for part in (*ends, *starts) if len(part) >= _SHORTEST_PART]
    answer = argument or _argument_answer(function, parts, known)
    if not answer and "plot" in function:
        answer = next((use for use in tables()["plot_arguments"]["any_other"] if _suits(use, known)), "")
    return answer


def _argument_answer(function: str, words: Iterable[str], known: Sequence[str]) -> str:
    """Return the answer for the first known word. Answers for the function take precedence over general answers."""
    of_plots = tables()["plot_arguments"] if "plot" in function else {}
    searched = (arguments_of(function), of_plots, tables()["arguments"]["any"])
    by_words = [answers_by_spelling(table) for table in searched]
    spelled_words = list(words)
    # A general answer must not be a call of the same function.
    own, same = by_words[0], rf"rs\.(?:\w+\.)*{function}\([^()]*\)"
    for by_word in by_words:
        for word in spelled_words:
            answer = by_word.get(word, ())
            # A general hint may name an argument; use it only if this function has the argument.
            uses = [answer] if isinstance(answer, str) else answer
            suiting = [use for use in uses if _suits(use, known) and (by_word is own or not re.fullmatch(same, use))]
            if suiting:
                return _of_curve(function, suiting[0])
    return ""


def _of_curve(function: str, answer: str) -> str:
    """Return an answer about any curve with the curve that was asked for in place of the ROC curve."""
    answer = answer.replace("{function}", example_of(function).partition("(")[0])
    made = f"rs.{function}(y, s)" if is_curve(function) else tables()["curves"].get(function.partition(".")[0], "")
    return re.sub(r"rs\.roc\(y, s\)(?=\.(?:plot|to_frame)\(|$)", made, answer) if made else answer


def _suits(advice: str, known: Sequence[str]) -> bool:
    """Return False if a hint begins with an argument, such as ``level=``, that the function does not have."""
    argument, sign, _ = advice.partition("=")
    return not sign or not argument.isidentifier() or argument in known
