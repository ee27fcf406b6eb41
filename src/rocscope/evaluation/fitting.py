"""Get scores or class probabilities from a fitted model."""
# MERGED-DOC: """Task: checked labels and attributes that the fits of all models share.
#
# Attributes of any kind: how many rows they have, and some of the rows.
# """
# MERGED-DOC: """Route weights and groups to the `fit` of a model, under the names that it takes them by."""
# MERGED-DOC: """Evaluation: what was done to make predictions, how models scored, and which failed where."""
# MERGED-DOC: """Fit a clone of a model to training rows, and score test rows.
#
# Running the fits of all models on all splits, one after the other or side by side, with the same result.
# """
# MERGED-DOC: """Assemble the scores of splits into predictions."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import Parameter, signature
from math import nan
from time import perf_counter
from typing import Any, Literal, NoReturn, Self, TypeGuard, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress, track
from rocscope.core.predictions import Predictions, Provenance
from rocscope.core.result import Result
from rocscope.errors import InputError, LabelError, ModelError, ShapeError, warn
from rocscope.multiclass.confusion import class_index, factorized, label_column
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.protocols.splitters import Split, SplitRows, splits_of

Response = Literal["auto", "predict_proba", "decision_function", "predict"]

LABELS = "labels"
"""The response of a model of two classes that has neither probabilities nor a decision function: 1 or 0 a row."""

RESPONSES = ("auto", "predict_proba", "decision_function", "predict")


class AskedOnce:
    """A fitted model that answers once for each table, and remembers: scores, labels and scorers ask the same.

    Parameters
    ----------
    model : fitted estimator
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._answers: dict[tuple[str, int], tuple[Any, Any]] = {}

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self.model)  # whose name stands in messages

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "_answers"):  # asked before they are set, as by pickle
            raise AttributeError(name)
        own = getattr(self.model, name)
        if name not in RESPONSES:
            return own

        @wraps(own)
        def ask(X: Any) -> Any:
            place = name, id(X)
            if place not in self._answers:
                self._answers[place] = own(X), X  # a table that is kept has its id for itself
            return self._answers[place][0]

        return ask


def response_of(model: Any, wanted: str, known: Sequence[str]) -> str | None:
    """Return the method that provides scores: the requested one, or the first known one that the model has."""
    return next((method for method in (known if wanted == "auto" else (wanted,)) if hasattr(model, method)), None)


def score(
    fitted: Any, name: str, X: Any, classes: Sequence[Hashable], positive: int | None, wanted: str
) -> tuple[Array, str]:
    """Return a fitted model's scores for rows, and the method used.

    `positive` is the place of the positive class, or None where each class has an entry.
    """
    known = ("predict_proba", "decision_function" if positive is not None else "predict")
    response = response_of(fitted, wanted, known)
    if response is None and wanted == "auto" and hasattr(fitted, "predict") and not _is_regressor(fitted):
        return positive_scores(fitted, X, classes, positive or 0, "predict"), LABELS
    if response is None and wanted != "auto":
        raise ModelError(f"model {name!r}", expected=wanted, got="a model without it")
    if response is None:
        hint = "response='predict' takes its predicted labels"
        raise ModelError(f"model {name!r}", expected=" or ".join(known), got="a model with neither", hint=hint)
    if positive is None:
        return class_scores(fitted, X, classes, response), response
    scores = positive_scores(fitted, X, classes, positive, response)
    return check.check_scores(scores, name=f"{response} of {name!r}"), response


def positive_scores(fitted: Any, X: Any, classes: Sequence[Hashable], positive: int, response: str) -> Array:
    """Return one score per row; a model fitted without the positive class gives it probability 0."""
    values = np.asarray(getattr(fitted, response)(X))
    label = classes[positive]
    if response == "predict":
        return values if _is_regressor(fitted) else np.asarray(values == label).astype(np.int8)
    known = list(getattr(fitted, "classes_", classes))
    if label not in known:
        return np.zeros(len(values))
    place = known.index(label)
    if values.ndim == 2:
        return values[:, place]
    return values if place == len(known) - 1 else -values


def own_labels(fitted: Any, X: Any, classes: Sequence[Hashable]) -> Array | None:
    """Return a fitted model's own labels for rows; None if they are not the classes."""
    if not hasattr(fitted, "predict") or _is_regressor(fitted):
        return None
    labels = np.asarray(fitted.predict(X))
    if labels.ndim == 2 and labels.shape[1] == 1:  # as some boosting libraries give them
        labels = labels[:, 0]
    known = labels.ndim == 1 and set(factorized(labels)[0]) <= set(classes)
    return labels if known else None


def _is_regressor(fitted: Any) -> bool:
    from sklearn.base import is_regressor

    return is_regressor(fitted)


def class_scores(fitted: Any, X: Any, classes: Sequence[Hashable], response: str = "predict_proba") -> Array:
    """Return a probability per class, 0 for classes missing in fitting; or the predicted labels."""
    if response == "decision_function":
        expected = "predict_proba or predict for more than two classes"
        raise InputError("response", expected=expected, got="'decision_function'")
    values = np.asarray(getattr(fitted, response)(X))
    if response == "predict":
        return values
    known = list(getattr(fitted, "classes_", classes))
    if known == list(classes):
        return values
    full = np.zeros((len(values), len(classes)), values.dtype)
    full[:, [classes.index(label) for label in known]] = values
    return full


def attributes(X: Any, n: int) -> Any:
    """Return attributes of n rows in a form for `rows_of`: a sparse matrix, a frame of any library, or an array."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not _is_frame(X):
        X = _array(X)
    rows = X.shape[0]
    if rows != n:
        raise ShapeError("X", expected=f"one row per label ({n})", got=str(rows), hint="X and y must have equal rows")
    return X


def _array(values: Any) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError("X", expected="a table", got="rows of different lengths") from error
    if array.ndim == 0:
        raise ShapeError("X", expected="a table of attributes", got=type(values).__name__)
    return array


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") or hasattr(X, "__dataframe__") or hasattr(X, "column_names")


def rows_of(X: Any, index: Array) -> Any:
    """Return rows in the order of `index`, in the same kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> rows_of(pd.DataFrame({"a": [1, 2, 3]}), np.array([2, 0])).a.tolist()
    [3, 1]
    """
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[index]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[index.tolist()].to_native()


@dataclass(frozen=True)
class Task:
    """Settings shared by all fits.

    `labels` are as the user gave them and `positive` is the place of the positive class among `classes`, or None
    where each class has a score. `decided` states whether models are asked for labels, too. `scorers` judge each
    fitted model. `arguments` are those of the `fit` of each model beside rows and labels. Where there is no seed,
    models keep their own random state.
    """

    X: Any
    labels: Array
    classes: tuple[Any, ...]
    positive: int | None
    weight: Array | None
    response: str | Mapping[str, str] = "auto"
    seed: int | None = None
    decided: bool = True
    scorers: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class TestRows:
    """Attributes, labels and weights of the rows that a fold tests."""

    __test__ = False  # no test of pytest

    X: Any
    labels: Array
    weight: Array | None
    positive: Any = None


def task_of(
    X: Any,
    y: Any,
    pos_label: Any,
    sample_weight: Any,
    response: Response | Mapping[str, Response],
    seed: int | None = None,
    known: Sequence[Any] = (),
) -> Task:
    """Check the data; `known` are classes that y need not contain."""
    for each in response.values() if isinstance(response, Mapping) else [response]:
        check.check_choice("response", each, RESPONSES)
    labels = label_column(y, "y")
    classes: tuple[Any, ...] = tuple(check.distinct(np.array([*factorized(labels)[0], *known], object)))
    if len(classes) == 1:
        raise LabelError("y", expected="two classes or more", got=f"only {labels.tolist()[0]!r}")
    if len(classes) > 2 and pos_label is not None:
        hint = "leave it out: predictions.binary(cls) is one class against the rest"
        raise LabelError("pos_label", expected="none for more than two classes", got=repr(pos_label), hint=hint)
    positive = None
    if len(classes) == 2:
        positive = int(np.argmax(check.check_labels(list(classes), pos_label, "y")))
    weight = check.check_weights(sample_weight, labels.size)
    return Task(attributes(X, labels.size), labels, classes, positive, weight, response, seed)


def response_for(task: Task, model: str) -> str:
    """Return what the scores of a model are asked to be."""
    return task.response if isinstance(task.response, str) else task.response.get(model, "auto")


def sample_of(task: Task, groups: Any = None) -> SplitRows:
    """Return what protocols need to know about the data."""
    codes = None if groups is None else check.check_groups(groups, "groups", task.labels.size)
    return SplitRows(task.X, class_index(task.labels, task.classes, "y"), task.classes, codes)


_STOPS_BEYOND = 10_000
"""Rows from which on scikit-learn's histogram boosting stops early unless told otherwise."""


def fit_arguments(
    models: Mapping[str, Any], weight: Array | None, groups: Array | None = None
) -> dict[str, dict[str, Any]]:
    """Return the arguments that pass weights and groups to each model's `fit`.

    Raises
    ------
    ModelError
        If metadata routing is on and a part of a model does not state whether it asks for them.

    Warns
    -----
    RocscopeWarning
        Of models that take no weights, and of inner folds that tear groups apart.
    """
    given = {name: each for name, each in (("sample_weight", weight), ("groups", groups)) if each is not None}
    found = {name: _arguments(name, model, given) if given else {} for name, model in models.items()}
    if without := unweighted(found, weight):
        warn(f"fitted without the sample weights, which they do not take: {', '.join(without)}")
    if groups is None:
        return found
    for name, model in models.items():
        torn = list(_tearing(model, _brings(found[name], groups)))
        if torn:
            hint = _hint(model)
            warn(f"model {name!r}: groups are in training and test of its inner folds, {', '.join(torn)}; {hint}")
        for each in _stopping(model, groups.size):
            hint = "the rows that it stops by hold groups of the training rows; turn early stopping off"
            warn(f"model {name!r}: {each} parts groups; {hint}")
    return found


def unweighted(arguments: Mapping[str, Mapping[str, Any]], weight: Array | None) -> tuple[str, ...]:
    """Return the models whose fit does not receive the weights."""
    return () if weight is None else tuple(name for name, own in arguments.items() if not _brings(own, weight))


def _brings(arguments: Mapping[str, Any], column: Array | None) -> bool:
    return any(each is column for each in arguments.values())


def _routes() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing"))


def _arguments(name: str, model: Any, given: Mapping[str, Array]) -> dict[str, Any]:
    """Return the arguments according to scikit-learn's metadata routing, in which the model declares its requests."""
    if _routes():
        return _routed(name, model, given)
    own = {"sample_weight": _weight_name(model), "groups": _groups_name(model)}
    return {taken: column for what, column in given.items() if (taken := own[what])}


def _routed(name: str, model: Any, given: Mapping[str, Array]) -> dict[str, Any]:
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="rocscope.evaluate").add(model=model, method_mapping=mapping)
    found: dict[str, Any] = {}
    for what, column in given.items():
        try:
            found |= process_routing(router, "fit", **{what: column})["model"]["fit"]
        except TypeError:  # no part of it asks for them
            continue
        except ValueError as error:
            raise ModelError(f"model {name!r}: {str(error).splitlines()[0]}") from error
    return found


def _weight_name(model: Any) -> str | None:
    if steps := getattr(model, "steps", None):
        return _of_last(steps, _weight_name)
    taken = signature(model.fit).parameters
    if "sample_weight" in taken:
        return "sample_weight"
    if not any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return None
    inner = getattr(model, "estimator", None)  # of a search, which hands its arguments to what it fits
    if inner is not None:
        return _weight_name(inner)
    members = list(_members(model))  # of a vote or a stack, which hands them to all
    return "sample_weight" if members and all(_weight_name(each) == "sample_weight" for each in members) else None


def _groups_name(model: Any) -> str | None:
    if steps := getattr(model, "steps", None):
        return _of_last(steps, _groups_name)
    search = hasattr(model, "refit") and _asks_for_groups(getattr(model, "cv", None))
    return "groups" if search or "groups" in signature(model.fit).parameters else None


def _of_last(steps: Any, name_of: Any) -> str | None:
    inner = name_of(steps[-1][1])
    return inner and f"{steps[-1][0]}__{inner}"


def _asks_for_groups(splitter: Any) -> bool:
    """Whether a scikit-learn splitter keeps groups together."""
    if not hasattr(splitter, "get_metadata_routing"):
        return False
    return splitter.get_metadata_routing().split.requests.get("groups") is True


def _tearing(model: Any, reached: bool) -> Iterator[str]:
    """Yield the nested models whose own folds split groups; `reached` is True if groups are passed to the model."""
    cv = getattr(model, "cv", "prefit")
    keeps = getattr(model, "keeps_groups", False)
    if cv != "prefit" and not (reached and (keeps or _asks_for_groups(cv))):
        yield f"{type(model).__name__}(cv={cv!r})"
    members = list(_members(model))
    for place, inner in enumerate(members):
        last = hasattr(model, "steps") and place == len(members) - 1
        yield from _tearing(inner, reached and (keeps or last or _routes()))


def _hint(model: Any) -> str:
    """Return what would keep groups together: a splitter for them may be there, but groups do not reach it."""
    for each in _everywhere(model):
        if _asks_for_groups(getattr(each, "cv", None)):
            if _routes() or hasattr(each, "final_estimator"):
                return f"{type(each).__name__} passes no groups on to its splitter; pass the pairs of rows as its cv"
            return "sklearn.set_config(enable_metadata_routing=True) lets groups reach its splitter"
    return "give it a splitter for groups, such as GroupKFold, in a place that groups reach"


def _stopping(model: Any, n: int) -> Iterator[str]:
    """Yield the models in a model that hold out single rows to stop by."""
    for each in _everywhere(model):
        early = getattr(each, "early_stopping", False)
        if early is True or (early == "auto" and n > _STOPS_BEYOND):
            yield f"{type(each).__name__}(early_stopping={early!r})"
        elif getattr(each, "n_iter_no_change", None) is not None and not hasattr(each, "early_stopping"):
            yield f"{type(each).__name__}(n_iter_no_change={each.n_iter_no_change!r})"


def _everywhere(model: Any) -> Iterator[Any]:
    """Yield a model and all that it is made of."""
    yield model
    for inner in _members(model):
        yield from _everywhere(inner)


def _members(model: Any) -> Iterator[Any]:
    """Yield the models that a model consists of."""
    named = [*(getattr(model, "estimators", None) or ()), *(getattr(model, "steps", None) or ())]
    alone = [getattr(model, name, None) for name in ("estimator", "final_estimator")]
    yield from (each for each in [*(each[1] for each in named), *alone] if hasattr(each, "fit"))


@dataclass(frozen=True)
class Failure(Result):
    """A model that failed to fit or to give scores in one fold.

    Attributes
    ----------
    model : str
    fold, repeat : int
        From 0; folds are numbered on through all repeats.
    error : str
        Kind and first line of the model's own error.
    training_rows : int, optional
        Where it was fitted to some of the training rows only.
    """

    model: str
    fold: int
    repeat: int
    error: str
    training_rows: int | None = None

    def __str__(self) -> str:
        rows = "" if self.training_rows is None else f", {self.training_rows} training rows"
        return f"model {self.model!r}, fold {self.fold}, repeat {self.repeat}{rows}: {self.error}"


@dataclass(frozen=True, repr=False)
class Evaluation(Provenance):
    """Source of predictions made by `rocscope.evaluate`.

    Attributes
    ----------
    protocol : str
        How rows were split.
    folds, repeats : int
        Fits of each model, and how often the whole protocol was drawn anew.
    responses : mapping from model name to "predict_proba", "decision_function", "predict" or "labels"
        What the scores are; "labels" are those of a model that has nothing else.
    failures : tuple of Failure
        Of the models that are left out of the predictions.
    unweighted : tuple of str
        Models that were fitted without the sample weights because they take none.
    seconds : mapping from model name to pairs of float
        What each fold took to fit, and to predict; no part of `to_dict`, as no two runs take the same.
    scores : mapping from name of a scorer to mapping from model name to tuple of float
        One value a fold, where `scoring` was asked for.
    losses : tuple of str
        Scorers for which a small value is good.
    """

    _content = (
        *("origin", "rows_read", "rows_dropped", "where"),
        *("protocol", "folds", "repeats", "responses", "failures", "unweighted", "scores", "losses"),
    )

    protocol: str = ""
    folds: int = 1
    repeats: int = 1
    responses: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    unweighted: tuple[str, ...] = ()
    seconds: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict, compare=False)
    scores: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    losses: tuple[str, ...] = ()

    def cv_results(self) -> dict[str, Array]:
        """Return times and values of `scoring`, with the keys of `GridSearchCV.cv_results_`; a model a row.

        Examples
        --------
        >>> done = Evaluation(("2 folds",), 4, folds=2, scores={"f1": {"a": (0.5, 1.0), "b": (1.0, 1.0)}})
        >>> found = done.cv_results()
        >>> found["model"], found["mean_test_f1"], found["rank_test_f1"]
        (array(['a', 'b'], dtype=object), array([0.75, 1.  ]), array([2, 1]))
        """
        models = list(self.responses) or list(next(iter(self.scores.values()), ()))
        found = {"model": np.array(models, object)}
        for place, what in enumerate(("fit", "score")):
            seconds = [[both[place] for both in self.seconds.get(model, ())] or [nan] for model in models]
            found |= {f"mean_{what}_time": np.mean(seconds, axis=1), f"std_{what}_time": np.std(seconds, axis=1)}
        for name, of_models in self.scores.items():
            values = np.array([of_models[model] for model in models])
            found |= {f"split{fold}_test_{name}": column for fold, column in enumerate(values.T)}
            mean = values.mean(axis=1)
            lost = np.where(np.isnan(mean), np.inf, mean if name in self.losses else -mean)
            rank = 1 + (lost[:, None] > lost).sum(axis=1)
            found |= {f"mean_test_{name}": mean, f"std_test_{name}": values.std(axis=1), f"rank_test_{name}": rank}
        return found

    def __repr__(self) -> str:
        failed = sorted({failure.model for failure in self.failures})
        return f"Evaluation({self.protocol}, repeats={self.repeats}, folds={self.folds}, failed={failed})"


def scores_of(
    scored: Sequence[Any], scorers: Iterable[str], models: Sequence[str]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the values of scorers by name, model and fold; NaN where one failed.

    Raises
    ------
    InputError
        If a scorer failed wherever it was asked.

    Warns
    -----
    RocscopeWarning
        Of each scorer and model without a value in some fold.
    """
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for scorer in scorers:
        values = {model: [each.values[scorer] for each in scored if each.model == model] for model in models}
        failed = {model: [value for value in own if isinstance(value, str)] for model, own in values.items()}
        if all(len(failed[model]) == len(values[model]) for model in models):
            raise InputError(f"scoring {scorer!r}: {failed[models[0]][0]}")
        for model, errors in failed.items():
            if errors:
                warn(f"scoring {scorer!r} of model {model!r} is NaN in {len(errors)} folds: {errors[0]}")
        found[scorer] = {m: tuple(nan if isinstance(v, str) else v for v in own) for m, own in values.items()}
    return found


_WANTS_NUMBERS = "Invalid classes inferred from unique values of `y`"
"""XGBoost's message for labels other than 0, 1, 2, …, which searches repeat."""


@dataclass(frozen=True)
class Scored:
    """Scores of a split's test rows (n or n × k), and the model's own labels.

    `seconds` are those of the fit, and of all that was asked of it. `values` are those of the scorers, or why there is
    none.
    """

    model: str
    split: Split
    scores: Array
    response: str
    decisions: Array | None = None
    seconds: tuple[float, float] = (0.0, 0.0)
    values: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """Place and error of a failed fit."""

    failure: Failure
    cause: Exception


def named_models(models: Any) -> dict[str, Any]:
    """Return models by name, from a mapping, pairs or class names; duplicates are numbered.

    Raises
    ------
    InputError
        If there is none, or one is no estimator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> list(named_models([DummyClassifier(), DummyClassifier()]))
    ['DummyClassifier', 'DummyClassifier 2']
    """
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
        if len(named) < len(models):
            raise InputError("models", expected="a different name for each", got="names that are equal as text")
    else:
        each = list(models) if isinstance(models, list | tuple) else [models]
        pairs = [model if _is_pair(model) else (class_name(model), model) for model in each]
        named = dict(zip(_distinct([name for name, _ in pairs]), (model for _, model in pairs), strict=True))
    if not named:
        raise InputError("models", expected="at least one model", got="none")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "fit"):
            got = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            hint = "make an instance of it" if isinstance(model, type) else ""
            raise InputError(f"models[{name!r}]", expected="an estimator with fit", got=got, hint=hint)
    return named


def _is_pair(model: Any) -> bool:
    return isinstance(model, tuple) and len(model) == 2 and isinstance(model[0], str)


def class_name(model: Any) -> str:
    """Return the name of a model's class; for a pipeline, that of its last step."""
    while getattr(model, "steps", None) and not isinstance(model, type):
        model = model.steps[-1][1]
    return type(model).__name__


def _distinct(names: Sequence[str]) -> list[str]:
    return [f"{name} {k}" if (k := names[: i + 1].count(name)) > 1 else name for i, name in enumerate(names)]


def attempt(name: str, model: Any, task: Task, split: Split) -> Scored | Failed:
    """Fit and score, but return errors: one failing model must not stop the others."""
    try:
        return fit_and_score(name, model, task, split)
    except Exception as error:  # noqa: BLE001 (a model may raise anything)
        said = f"{type(error).__name__}: {first_line(error)}"
        return Failed(Failure(name, split.fold, split.repeat, said, split.training_rows), error)


def fit_and_score(name: str, model: Any, task: Task, split: Split) -> Scored:
    """Fit a clone of a model to the training rows and score the test rows; errors get a note with their place."""
    try:
        begin = perf_counter()
        fitted = AskedOnce(fit(name, model, task, split))
        between = perf_counter()
        X = rows_of(task.X, split.test)
        scores, response = score(fitted, name, X, task.classes, task.positive, response_for(task, name))
        decisions = own_labels(fitted, X, task.classes) if task.decided else None
    except Exception as error:
        error.add_note(f"while {name} was cross-validated, in fold {split.fold}")
        raise
    scored = Scored(name, split, scores, response, decisions)
    values = _values(fitted, scored, X, task) if task.scorers else {}
    return replace(scored, seconds=(between - begin, perf_counter() - between), values=values)


def _values(fitted: Any, scored: Scored, X: Any, task: Task) -> dict[str, float | str]:
    """Return what each scorer says of a fitted model, or its error: one scorer must not lose the others."""
    rows = TestRows(
        X,
        task.labels[scored.split.test],
        None if task.weight is None else task.weight[scored.split.test],
        None if task.positive is None else task.classes[task.positive],
    )
    found: dict[str, float | str] = {}
    for name, scorer in task.scorers.items():
        try:
            found[name] = scorer(fitted, scored, rows)
        except Exception as error:  # noqa: BLE001 (a scorer may raise anything)
            found[name] = f"{type(error).__name__}: {first_line(error)}"
    return found


def first_line(error: Exception) -> str:
    """Return the first line of an error message."""
    return (str(error).strip() or "no message").splitlines()[0]


def fit(name: str, model: Any, task: Task, split: Split | None = None) -> Any:
    """Return a clone of a model fitted to a split's training rows, or to all rows."""
    from sklearn.base import clone
    from sklearn.utils.validation import _check_method_params

    copy: Any = clone(model)
    arguments = task.arguments.get(name, {})
    if split is None:
        return _fitted(copy, task.X, task.labels, arguments)
    if task.seed is not None:
        _set_seeds(copy, np.random.SeedSequence(task.seed, spawn_key=split.key))
    own = _check_method_params(task.X, dict(arguments), indices=split.train) if arguments else {}
    return _fitted(copy, rows_of(task.X, split.train), task.labels[split.train], own)


def _fitted(model: Any, X: Any, labels: Array, arguments: Mapping[str, Any]) -> Any:
    """Return a fitted model; one that requires classes 0, 1, 2, … is wrapped to translate labels."""
    try:
        return model.fit(X, labels, **arguments)
    except ValueError as error:
        if _WANTS_NUMBERS not in str(error):
            raise
    classes, code = np.unique(labels, return_inverse=True)
    return Numbered(model.fit(X, code, **arguments), classes)


class Numbered:
    """A fitted model with numbered classes that answers with the original labels.

    Parameters
    ----------
    model : classifier fitted to 0, …, k − 1
    classes : array of k labels
    """

    def __init__(self, model: Any, classes: Array) -> None:
        self.model = model
        self.classes_ = classes

    def predict(self, X: Any) -> Array:
        """Return the model's label for each row."""
        return self.classes_[np.asarray(self.model.predict(X), dtype=np.intp)]

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # asked before it is set, as by pickle
            raise AttributeError(name)
        return getattr(self.model, name)


def _set_seeds(model: Any, seeds: np.random.SeedSequence) -> None:
    """Seed every random part of a model that has no seed."""
    parameters = model.get_params(deep=True)
    open_ = sorted(n for n, v in parameters.items() if n.rpartition("__")[2] == "random_state" and v is None)
    model.set_params(**dict(zip(open_, (int(s) >> 1 for s in seeds.generate_state(len(open_))), strict=True)))


@dataclass(frozen=True)
class Fitting:
    """Models, the rows for fitting and evaluation, and how fits run."""

    models: Mapping[str, Any]
    task: Task
    sample: SplitRows
    n_jobs: int | None = None
    progress: Progress = False

    @classmethod
    def of(cls, models: Any, task: Task, groups: Any, n_jobs: int | None, progress: Progress) -> Self:
        """Check the common arguments of functions that fit models; see `rocscope.evaluate`."""
        named = named_models(models)
        groups = None if groups is None else check.check_column(groups, "groups", task.labels.size)
        sample = sample_of(task, groups)
        return cls(named, replace(task, arguments=fit_arguments(named, task.weight, groups)), sample, n_jobs, progress)

    def splits(self, cv: Any, repeats: int = 1) -> tuple[list[Split], str]:
        """Return the splits for any `cv`, and a description of the protocol."""
        return splits_of(cv, self.sample, repeats, self.task.seed)

    def run(self, splits: Iterable[Split], what: str, work: Callable[..., Any] = attempt) -> list[Any]:
        """Apply `work` to each split and model, and return the results in order."""
        from sklearn.utils.parallel import Parallel, delayed

        if self.n_jobs == 0:
            raise InputError("n_jobs", expected="a number of processes, or -1 for one on each core", got="0")
        calls = [(name, model, self.task, split) for split in splits for name, model in self.models.items()]
        done: Any = Parallel(n_jobs=self.n_jobs, return_as="generator")(delayed(work)(*call) for call in calls)
        return list(track(done, len(calls), self.progress, what))


def without_failures(results: Sequence[Any], models: Iterable[str]) -> tuple[list[Any], list[Failed], list[str]]:
    """Return the results of models that never failed, the failures, and the names of those models.

    Raises
    ------
    ModelError
        If every model failed.
    """
    failed = [result for result in results if isinstance(result, Failed)]
    lost = {each.failure.model for each in failed}
    kept = [name for name in models if name not in lost]
    if not kept:
        raise_first(failed)
    for name in sorted(lost):
        own = [each.failure for each in failed if each.failure.model == name]
        warn(f"left out, failed in {len(own)} fits: {own[0]}; see predictions.source.failures")
    return [r for r in results if not isinstance(r, Failed) and r.model not in lost], failed, kept


def raise_first(failed: Sequence[Failed]) -> NoReturn:
    """Raise the first failure if no results are left."""
    more = f" (and {len(failed) - 1} more failures)" if len(failed) > 1 else ""
    raise ModelError(f"{failed[0].failure}{more}") from failed[0].cause


def candidates_of(models: Any, seed: int | None) -> dict[str, Any]:
    """Return models by name; a scikit-learn search is replaced by its estimator at each setting.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> list(candidates_of({"near": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]})}, 0))
    ['near, n_neighbors=1', 'near, n_neighbors=5']
    """
    found: dict[str, Any] = {}
    for name, model in named_models(models).items():
        for setting in _settings(model, seed):
            told = [f"{parameter}={value!r}" for parameter, value in setting.items()]
            found[", ".join([name, *told])] = _at(model.estimator, setting) if setting else model
    return found


def _settings(model: Any, seed: int | None) -> list[dict[str, Any]]:
    """Return the settings that a search will fit; raises for anything but a search over parameters."""
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    if hasattr(model, "param_grid"):
        return list(ParameterGrid(model.param_grid))
    if hasattr(model, "param_distributions") and isinstance(getattr(model, "n_iter", None), int):
        own = model.random_state
        return list(
            ParameterSampler(model.param_distributions, model.n_iter, random_state=seed if own is None else own)
        )
    return [{}]


def _at(estimator: Any, setting: dict[str, Any]) -> Any:
    from sklearn.base import clone

    copy: Any = clone(estimator)
    return copy.set_params(**{name: clone(value, safe=False) for name, value in setting.items()})


Judged = Predictions | MulticlassPredictions


def assembled(
    task: Task,
    splits: Sequence[Split],
    scored: Sequence[Scored],
    models: Sequence[str],
    segment: Array | None = None,
    groups: Array | None = None,
    source: Any = None,
) -> Judged:
    """Return the predictions of all splits, sorted by repeat and row, with index columns."""
    sizes = [split.test.size for split in splits]
    row = np.concatenate([split.test for split in splits])
    repeat = np.repeat([split.repeat for split in splits], sizes)
    order = np.lexsort((row, repeat))
    row = row[order]
    parts = [split.names for split in splits if split.names is not None]
    if segment is not None:
        segment = segment[row]
    elif parts:
        segment = np.concatenate(parts)[order]
    columns = {
        "sample_weight": None if task.weight is None else task.weight[row],
        "fold": np.repeat([split.fold for split in splits], sizes)[order],
        "repeat": repeat[order],
        "row": row,
        "segment": segment,
        "groups": None if groups is None else groups[row],
        "source": source,
    }
    scores = {name: np.concatenate([each.scores for each in scored if each.model == name])[order] for name in models}
    own = {name: [each.decisions for each in scored if each.model == name] for name in models}
    decisions = {name: np.concatenate(labels)[order] for name, labels in own.items() if _all_decide(labels)}
    return predictions_of(task, task.labels[row], scores, decisions, columns)


def _all_decide(labels: Sequence[Array | None]) -> TypeGuard[Sequence[Array]]:
    return all(each is not None for each in labels)


def predictions_of(
    task: Task, labels: Array, scores: Mapping[str, Array], decisions: Mapping[str, Array], columns: Mapping[str, Any]
) -> Judged:
    """Return predictions of two or more classes."""
    if task.positive is not None:
        positive = task.classes[task.positive]
        own = {name: np.asarray(given == positive) for name, given in decisions.items()}
        return Predictions(np.asarray(labels == positive), scores, decisions=own, **columns)
    crisp = {name: values for name, values in scores.items() if values.ndim == 1}
    soft = {name: values for name, values in scores.items() if values.ndim == 2}
    own = {**crisp, **decisions}
    return MulticlassPredictions(labels, soft, decisions=own, classes=cast(Any, task.classes), **columns)


def judged(scored: Scored, task: Task) -> Judged:
    """Return the predictions of one model in one split."""
    rows = scored.split.test
    weight = None if task.weight is None else task.weight[rows]
    return of_one(task, task.labels[rows], scored, weight)


def of_one(task: Task, labels: Array, scored: Scored, weight: Array | None) -> Judged:
    """Return the predictions of one model."""
    decisions = {} if scored.decisions is None else {scored.model: scored.decisions}
    return predictions_of(task, labels, {scored.model: scored.scores}, decisions, {"sample_weight": weight})
