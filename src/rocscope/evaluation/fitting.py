"""Fit models to training rows and collect their scores for test rows.

All functions that fit models use this file: `evaluate`, `optimism`, learning curves, the bootstrap, nested
cross-validation, and the classifiers of `rocscope.estimators`. The file contains, in this order:

- Scores: find the method of a fitted model that returns scores, and select the column of the positive class.
- Task: check the labels, weights and features. Features are an array, a sparse matrix or a data frame.
- Routing: find the argument names for weights and groups in the `fit` of each model. Warn if a nested model splits
  groups.
- Evaluation: record how predictions were made, with times, scorer values and failures.
- Fits: clone, seed and fit each model, and score the test rows, in parallel if requested.
- Predictions: combine the scores of all splits.

The positive class is represented by its index among the sorted classes. If the index is None, there are more than two
classes, and the scores have one column per class.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import Parameter, signature
from time import perf_counter
from typing import Any, Literal, NoReturn, Self, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.class_names import class_index, factorized, label_column
from rocscope._base.progress import Progress, track
from rocscope.core import Predictions, Provenance, Result, Weights
from rocscope.errors import InputError, LabelError, ModelError, ShapeError, warn
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.protocols.splitters import Split, SplitRows, splits_of

Response = Literal["auto", "predict_proba", "decision_function", "predict"]

LABELS = "labels"
"""Response of a two-class model that only predicts labels. The scores are 1 for a positive label and 0 otherwise."""

RESPONSES = ("auto", "predict_proba", "decision_function", "predict")


# --- Scores of fitted models ---


class CachingModel:
    """Wrapper of a fitted model that caches the predictions for each table.

    Parameters
    ----------
    model : fitted estimator
        Model whose predictions are cached.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._results: dict[tuple[str, int], tuple[Any, Any]] = {}

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self.model)  # error messages then name the model's class

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "_results"):  # pickle asks for them before they are set
            raise AttributeError(name)
        attribute = getattr(self.model, name)
        if name not in RESPONSES:
            return attribute

        @wraps(attribute)
        def cached(X: Any) -> Any:
            key = name, id(X)
            if key not in self._results:
                # The table is kept too, so that no other table can get its id.
                self._results[key] = attribute(X), X
            return self._results[key][0]

        return cached


def response_of(model: Any, wanted: str, known: Sequence[str]) -> str | None:
    """Return the name of the method that computes scores; None if the model does not have the method.

    If `wanted` is "auto", return the first method of `known` that the model has.
    """
    for method in known if wanted == "auto" else (wanted,):
        if hasattr(model, method):
            return method
    return None


def score(
    fitted: Any, name: str, X: Any, classes: Sequence[Hashable], positive: int | None, wanted: str
) -> tuple[Array, str]:
    """Return the scores of a fitted model for the rows of X, and the name of the method that computed them.

    `positive` is the index of the positive class. If it is None, return one score per class.
    """
    known = ("predict_proba", "decision_function" if positive is not None else "predict")
    response = response_of(fitted, wanted, known)
    if response is None and wanted != "auto":
        raise ModelError(f"model {name!r}", expected=f"a model with {wanted}", got="a model without this method")
    if response is None:
        if hasattr(fitted, "predict") and not _is_regressor(fitted):
            return positive_scores(fitted, X, classes, positive or 0, "predict"), LABELS
        expected, hint = f"a model with {' or '.join(known)}", "pass response='predict' to use the predicted labels"
        raise ModelError(f"model {name!r}", expected=expected, got="a model without these methods", hint=hint)
    if positive is None:
        return class_scores(fitted, X, classes, response), response
    scores = positive_scores(fitted, X, classes, positive, response, name)
    return check.check_scores(scores, name=f"{response} of {name!r}"), response


def positive_scores(
    fitted: Any, X: Any, classes: Sequence[Hashable], positive: int, response: str, name: str | None = None
) -> Array:
    """Return the score of the positive class for each row; 0 if the model was fitted without the positive class."""
    values = np.asarray(getattr(fitted, response)(X))
    label = classes[positive]
    if response == "predict":
        return values if _is_regressor(fitted) else np.asarray(values == label).astype(np.int8)
    known = list(getattr(fitted, "classes_", classes))
    if label not in known:
        return np.zeros(len(values))
    column = known.index(label)
    if values.ndim == 2:
        values = values[:, column]
        if response == "predict_proba":
            subject = f"predict_proba of {name or type(fitted).__name__!r}"
            scores = check.check_scores(values, name=subject)
            values = check.check_probabilities(scores, subject).astype(scores.dtype)
        return values
    # High values of a decision function indicate the last class.
    return values if column == len(known) - 1 else -values


def predicted_labels(fitted: Any, X: Any, classes: Sequence[Hashable]) -> Array | None:
    """Return the labels that a fitted model predicts; None if a label is not one of the classes."""
    if not hasattr(fitted, "predict") or _is_regressor(fitted):
        return None
    labels = np.asarray(fitted.predict(X))
    if labels.ndim == 2 and labels.shape[1] == 1:  # some boosting libraries return a column
        labels = labels[:, 0]
    known = labels.ndim == 1 and set(factorized(labels)[0]) <= set(classes)
    return labels if known else None


def _is_regressor(fitted: Any) -> bool:
    from sklearn.base import is_regressor

    return is_regressor(fitted)


def class_scores(fitted: Any, X: Any, classes: Sequence[Hashable], response: str = "predict_proba") -> Array:
    """Return one probability per row and class, or the predicted labels if `response` is "predict".

    Classes that are absent from the training rows have probability 0.
    """
    if response == "decision_function":
        expected = "'predict_proba' or 'predict' for more than two classes"
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


# --- Data shared by all fits ---


def attributes(X: Any, n: int) -> Any:
    """Check that X has n rows. Return X as a sparse CSR matrix, a data frame or an array, for use with `take_rows`."""
    import narwhals as nw

    table = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(table, nw.LazyFrame):
        raise ShapeError("X", expected="rows in memory", got="a lazy frame", hint="pass X.collect()")
    if hasattr(X, "tocsr"):
        X = table = X.tocsr()
    elif not isinstance(table, nw.DataFrame | nw.Series):
        try:
            X = table = np.asarray(X)
        except ValueError as error:
            raise ShapeError("X", expected="rows of equal length", got="rows of different lengths") from error
        if X.ndim == 0:
            raise ShapeError("X", expected="a table of features", got=type(X.item()).__name__)
    rows = table.shape[0]
    if rows != n:
        raise ShapeError(
            "X", expected=f"{n} rows as in y", got=f"{rows} rows", hint="X and y must have the same number of rows"
        )
    return X


def take_rows(X: Any, index: Array) -> Any:
    """Return the rows with these positions, in the order of `index`, as a table of the same type.

    Examples
    --------
    >>> import pandas as pd
    >>> take_rows(pd.DataFrame({"a": [1, 2, 3]}), np.array([2, 0])).a.tolist()
    [3, 1]
    """
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[index]
    import narwhals as nw

    return nw.from_native(X, eager_only=True, allow_series=True)[index].to_native()


@dataclass(frozen=True)
class Task:
    """Data and settings shared by all fits.

    `positive` is the index of the positive class in `classes`. If it is None, there is one score per class.
    `with_labels` also predicts labels, `with_estimators` keeps the fitted models, and `with_training` also scores the
    training rows. `scorers` evaluate each fitted model. `arguments` has further arguments of `fit` for each model. If
    `seed` is None, models keep their own random state.
    """

    X: Any
    labels: Array
    classes: tuple[Any, ...]
    positive: int | None
    weight: Array | None
    response: str | Mapping[str, str] = "auto"
    seed: int | None = None
    with_labels: bool = True
    weights: Weights = "auto"
    scorers: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    with_estimators: bool = False
    with_training: bool = False


@dataclass(frozen=True)
class TestRows:
    """Features, labels and weights of the test rows of a fold."""

    __test__ = False  # prevents pytest from collecting this class, whose name begins with Test

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
    """Check the data and return the task. `known` lists classes that may not occur in y."""
    for method in response.values() if isinstance(response, Mapping) else [response]:
        check.check_choice("response", method, RESPONSES)
    labels = label_column(y, "y")
    occurring = [*factorized(labels)[0], *known]
    classes: tuple[Any, ...] = tuple(check.distinct(np.array(occurring, object)))
    if len(classes) == 1:
        raise LabelError("y", expected="two or more classes", got=f"only one class, {labels.tolist()[0]!r}")
    if len(classes) > 2 and pos_label is not None:
        hint = "omit pos_label, and compare one class with all others by predictions.binary(cls)"
        raise LabelError("pos_label", expected="None for more than two classes", got=repr(pos_label), hint=hint)
    positive = None
    if len(classes) == 2:
        positive = int(np.argmax(check.check_labels(list(classes), pos_label, "y")))
    weight = check.check_weights(sample_weight, labels.size)
    return Task(attributes(X, labels.size), labels, classes, positive, weight, response, seed)


def response_for(task: Task, model: str) -> str:
    """Return the requested response of a model, such as "predict_proba"."""
    return task.response if isinstance(task.response, str) else task.response.get(model, "auto")


def sample_of(task: Task, groups: Any = None) -> SplitRows:
    """Return the features, labels and groups as `SplitRows`, from which protocols make splits."""
    codes = None if groups is None else check.check_groups(groups, "groups", task.labels.size)
    return SplitRows(task.X, class_index(task.labels, task.classes, "y"), task.classes, codes)


# --- Routing of weights and groups ---

_STOPS_EARLY_ABOVE = 10_000
"""Number of rows above which scikit-learn's histogram boosting stops early if ``early_stopping="auto"``."""


def fit_arguments(
    models: Mapping[str, Any], weight: Array | None, groups: Array | None = None
) -> dict[str, dict[str, Any]]:
    """Return the keyword arguments for the `fit` of each model that pass weights and groups.

    Raises
    ------
    ModelError
        If metadata routing is enabled and a nested model has no request set for weights or groups.

    Warns
    -----
    RocscopeWarning
        If a model does not take weights, or if the inner folds of a model split groups.
    """
    given: dict[str, Array] = {}
    if weight is not None:
        given["sample_weight"] = weight
    if groups is not None:
        given["groups"] = groups
    arguments: dict[str, dict[str, Any]] = {name: {} for name in models}
    if given:
        arguments = {name: _arguments(name, model, given) for name, model in models.items()}
    if without := unweighted(arguments, weight):
        warn(f"models without support of sample weights are fitted without weights: {', '.join(without)}")
    if groups is None:
        return arguments
    for name, model in models.items():
        split = list(_splitting_groups(model, _is_argument(arguments[name], groups)))
        if split:
            hint = _hint_for_groups(model)
            inner = ", ".join(split)
            warn(f"model {name!r}: the inner folds of {inner} have the same groups in training and test; {hint}")
        for stopping in _stopping_early(model, groups.size):
            hint = "turn early stopping off, because its validation rows share groups with the training rows"
            warn(f"model {name!r}: {stopping} splits groups; {hint}")
    return arguments


def unweighted(arguments: Mapping[str, Mapping[str, Any]], weight: Array | None) -> tuple[str, ...]:
    """Return the names of the models whose `fit` does not receive the weights."""
    if weight is None:
        return ()
    return tuple(name for name, passed in arguments.items() if not _is_argument(passed, weight))


def _is_argument(arguments: Mapping[str, Any], column: Array) -> bool:
    return any(value is column for value in arguments.values())


def routes_metadata() -> bool:
    """Return True if scikit-learn's metadata routing is enabled."""
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing"))


def _arguments(name: str, model: Any, given: Mapping[str, Array]) -> dict[str, Any]:
    """Return the keyword arguments for the `fit` of one model that pass weights and groups."""
    arguments: dict[str, Any] = {}
    if not routes_metadata():
        for column_name, name_in in (("sample_weight", _weight_name), ("groups", _groups_name)):
            parameter = name_in(model)
            if column_name in given and parameter is not None:
                arguments[parameter] = given[column_name]
        return arguments
    from sklearn.utils import metadata_routing as routing

    mapping = routing.MethodMapping().add(caller="fit", callee="fit")
    router = routing.MetadataRouter(owner="rocscope.evaluate").add(model=model, method_mapping=mapping)
    for column_name, column in given.items():
        try:
            arguments |= routing.process_routing(router, "fit", **{column_name: column})["model"]["fit"]
        except TypeError:  # no part of the model requests this column
            continue
        except ValueError as error:
            raise ModelError(f"model {name!r}: {str(error).splitlines()[0]}") from error
    return arguments


def _weight_name(model: Any) -> str | None:
    """Return the name of the weights in the arguments of `fit`; None if the model does not take weights.

    This also works for pipelines, searches, and voting or stacking classifiers.
    """
    if steps := getattr(model, "steps", None):
        return _name_in_last_step(steps, _weight_name)
    parameters = signature(model.fit).parameters
    if "sample_weight" in parameters:
        return "sample_weight"
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    # A search passes **fit_params on to its estimator; a vote or a stack passes them to all its members.
    inner = getattr(model, "estimator", None)
    if inner is not None:
        return _weight_name(inner)
    members = list(_members(model))
    all_take_weights = all(_weight_name(member) == "sample_weight" for member in members)
    return "sample_weight" if members and all_take_weights else None


def _groups_name(model: Any) -> str | None:
    if steps := getattr(model, "steps", None):
        return _name_in_last_step(steps, _groups_name)
    is_search = hasattr(model, "refit") and _asks_for_groups(getattr(model, "cv", None))
    return "groups" if is_search or "groups" in signature(model.fit).parameters else None


def _name_in_last_step(steps: Any, name_in: Callable[[Any], str | None]) -> str | None:
    """Return the name ``step__argument`` with which a pipeline passes an argument to its last step."""
    name, last = steps[-1]
    inner = name_in(last)
    return inner and f"{name}__{inner}"


def _asks_for_groups(splitter: Any) -> bool:
    """Return True if a scikit-learn splitter keeps groups together."""
    if not hasattr(splitter, "get_metadata_routing"):
        return False
    return splitter.get_metadata_routing().split.requests.get("groups") is True


def _splitting_groups(model: Any, reached: bool) -> Iterator[str]:
    """Yield the nested models with inner folds that split groups; `reached` is True if the model receives groups."""
    cv = getattr(model, "cv", "prefit")
    keeps = getattr(model, "keeps_groups", False)
    if cv != "prefit" and not (reached and (keeps or _asks_for_groups(cv))):
        yield f"{type(model).__name__}(cv={cv!r})"
    members = list(_members(model))
    for i, inner in enumerate(members):
        last_step = hasattr(model, "steps") and i == len(members) - 1
        yield from _splitting_groups(inner, reached and (keeps or last_step or routes_metadata()))


def _hint_for_groups(model: Any) -> str:
    """Return the hint of a warning: how to keep groups together in the inner folds of a model."""
    for part in _parts(model):
        if _asks_for_groups(getattr(part, "cv", None)):
            if routes_metadata() or hasattr(part, "final_estimator"):
                return (
                    f"pass pairs of row numbers as cv, because {type(part).__name__} does not pass groups to a splitter"
                )
            return "call sklearn.set_config(enable_metadata_routing=True) to pass groups to the splitter"
    return "use a splitter for groups, such as GroupKFold, as the cv of the search or of the rocscope estimator"


def _stopping_early(model: Any, n: int) -> Iterator[str]:
    """Yield the nested models whose early stopping may split groups, because it holds out random rows."""
    for part in _parts(model):
        early = getattr(part, "early_stopping", False)
        if early is True or (early == "auto" and n > _STOPS_EARLY_ABOVE):
            yield f"{type(part).__name__}(early_stopping={early!r})"
        elif getattr(part, "n_iter_no_change", None) is not None and not hasattr(part, "early_stopping"):
            yield f"{type(part).__name__}(n_iter_no_change={part.n_iter_no_change!r})"


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and all models nested in it, recursively."""
    yield model
    for member in _members(model):
        yield from _parts(member)


def _members(model: Any) -> Iterator[Any]:
    """Yield the models nested directly in a model, such as the steps of a pipeline."""
    members = []
    for attribute in ("estimators", "steps"):
        members += [pair[1] for pair in getattr(model, attribute, None) or ()]
    members += [getattr(model, attribute, None) for attribute in ("estimator", "final_estimator")]
    for member in members:
        if hasattr(member, "fit"):
            yield member


# --- The record of an evaluation ---


@dataclass(frozen=True)
class Failure(Result):
    """Error of a model in one fold, while fitting or scoring.

    Attributes
    ----------
    model : str
        Name of the model.
    fold, repeat : int
        Number of the fold and of the repeat, from 0. Folds are numbered over all repeats.
    error : str
        Type and first line of the error.
    training_rows : int, optional
        Number of training rows, if the model was fitted to a subset of the training rows; otherwise None.
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
    """Record of how `rocscope.evaluate` made predictions.

    Attributes
    ----------
    protocol : str
        Description of the splits.
    folds, repeats : int
        Number of folds over all repeats, and number of repeats.
    responses : mapping from model name to "predict_proba", "decision_function", "predict" or "labels"
        Method that computed the scores; "labels" for a model that only predicts labels.
    failures : tuple of Failure
        Errors of models in single folds.
    unweighted : tuple of str
        Names of the models that do not take sample weights and were fitted without weights.
    seconds : mapping from model name to pairs of float
        Time to fit and time to predict in each fold, in seconds. `to_dict` omits the times, because they differ between
        runs.
    scores : mapping from name of a scorer to mapping from model name to tuple of float
        Value of each scorer in each fold; empty if `scoring` was omitted.
    losses : tuple of str
        Names of the scorers for which small values are good.
    training_scores : mapping like `scores`
        Values of the scorers on the training rows; empty unless ``return_train_score=True``.
    estimators : mapping from model name to tuple of fitted models
        Fitted models, one per fold; empty unless ``return_estimator=True``. `to_dict` omits the models.
    """

    _content = (
        *("origin", "rows_read", "rows_dropped", "where"),
        *("protocol", "folds", "repeats", "responses", "failures", "unweighted", "scores", "losses"),
        "training_scores",
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
    training_scores: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    estimators: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, compare=False)

    def cv_results(self) -> dict[str, Array]:
        """Return times and scorer values as a dict of arrays with one entry per model.

        The keys are the same as in scikit-learn's `GridSearchCV.cv_results_`.

        Examples
        --------
        >>> source = Evaluation(("2 folds",), 4, folds=2, scores={"f1": {"a": (0.5, 1.0), "b": (1.0, 1.0)}})
        >>> results = source.cv_results()
        >>> results["model"], results["mean_test_f1"], results["rank_test_f1"]
        (array(['a', 'b'], dtype=object), array([0.75, 1.  ]), array([2, 1]))
        """
        models = list(self.responses)
        if not models and self.scores:
            models = list(next(iter(self.scores.values())))
        results = {"model": np.array(models, object)}
        for column, name in enumerate(("fit", "score")):
            seconds = []
            for model in models:
                of_model = [both[column] for both in self.seconds.get(model, ())]
                seconds.append(of_model or [np.nan])
            results[f"mean_{name}_time"] = np.mean(seconds, axis=1)
            results[f"std_{name}_time"] = np.std(seconds, axis=1)
        for name, values_of_models in self.scores.items():
            values = np.array([values_of_models[model] for model in models])
            mean = _add_columns(results, f"test_{name}", values)
            # Rank 1 has the lowest loss; undefined values come last.
            loss = mean if name in self.losses else -mean
            loss = np.where(np.isnan(mean), np.inf, loss)
            results[f"rank_test_{name}"] = 1 + (loss[:, None] > loss).sum(axis=1)
        for name, values_of_models in self.training_scores.items():
            _add_columns(results, f"train_{name}", np.array([values_of_models[model] for model in models]))
        return results

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with times and scorer values, one row per model and fold.

        All values of a failed fit are NaN. The method `cv_results` returns means over folds.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> source = Evaluation(("2 folds",), 4, folds=2, scores={"f1": {"a": (0.5, 1.0)}}, responses={"a": "predict"})
        >>> source.to_frame()[["model", "fold", "repeat", "test_f1"]]
          model  fold  repeat  test_f1
        0     a     0       0      0.5
        1     a     1       0      1.0
        """
        failed = {(failure.model, failure.fold) for failure in self.failures}
        models = list(self.responses)
        seconds = np.full((len(models), self.folds, 2), np.nan)
        for index, model in enumerate(models):
            # Seconds are those of the fits that succeeded.
            finished = [fold for fold in range(self.folds) if (model, fold) not in failed]
            if model in self.seconds:
                seconds[index, finished] = self.seconds[model]
        # Every repeat has the same number of folds.
        folds = np.arange(self.folds)
        columns: dict[str, Any] = {
            "model": np.repeat(np.array(models, object), self.folds),
            "fold": np.tile(folds, len(models)),
            "repeat": np.tile(folds * self.repeats // self.folds, len(models)),
            "fit_time": seconds[:, :, 0].ravel(),
            "score_time": seconds[:, :, 1].ravel(),
        }
        for kind, scores in (("test", self.scores), ("train", self.training_scores)):
            for name, values in scores.items():
                columns[f"{kind}_{name}"] = np.concatenate([values[model] for model in models])
        return check.frame_of(columns, backend)

    def __repr__(self) -> str:
        failed = sorted({failure.model for failure in self.failures})
        return f"Evaluation({self.protocol}, repeats={self.repeats}, folds={self.folds}, failed={failed})"


def _add_columns(results: dict[str, Array], name: str, values: Array) -> Array:
    """Add columns with the value in each fold, the mean and the standard deviation to `results`. Return the mean."""
    for fold, column in enumerate(values.T):
        results[f"split{fold}_{name}"] = column
    results[f"mean_{name}"] = values.mean(axis=1)
    results[f"std_{name}"] = values.std(axis=1)
    return results[f"mean_{name}"]


def scores_of(
    fits: Sequence["Scored | Failed"], scorers: Iterable[str], models: Sequence[str], *, training: bool = False
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return a dict from scorer to a dict from model to the values in the folds; NaN if the scorer or the fit failed.

    Raises
    ------
    InputError
        If a scorer failed for every model and fold.

    Warns
    -----
    RocscopeWarning
        If a scorer has no value for a model in some folds.
    """
    results: dict[str, dict[str, tuple[float, ...]]] = {}
    for scorer in scorers:
        errors: dict[str, list[str]] = {}
        results[scorer] = {}
        for model in models:
            values = [fit.value_of(scorer, training) for fit in fits if fit.model == model]
            errors[model] = [value for value in values if isinstance(value, str)]
            results[scorer][model] = tuple(np.nan if isinstance(value, str) else value for value in values)
        if all(len(errors[model]) == len(results[scorer][model]) for model in models):
            message = errors[models[0]][0]
            hint = "for more than two classes pass 'roc_auc_ovr' or 'roc_auc_ovo'" if "multi_class" in message else ""
            raise InputError(f"scoring {scorer!r}: {message}", hint=hint)
        for model, messages in errors.items():
            if messages:
                warn(f"scoring {scorer!r} of model {model!r} is NaN in {len(messages)} folds: {messages[0]}")
    return results


# --- Fits ---

_WANTS_NUMBERS = "Invalid classes inferred from unique values of `y`"
"""Part of XGBoost's error message for labels other than 0, 1, 2, …."""


@dataclass(frozen=True)
class Scored:
    """Scores and predicted labels of one model for the test rows of a split.

    `scores` is an array of n, or of n × k for k classes. `seconds` has the time to fit and the time to predict.
    `values` has the value, or the error message, of each scorer.
    """

    model: str
    split: Split
    scores: Array
    response: str
    decisions: Array | None = None
    seconds: tuple[float, float] = (0.0, 0.0)
    values: Mapping[str, float | str] = field(default_factory=dict)
    training_values: Mapping[str, float | str] = field(default_factory=dict)
    estimator: Any = None

    def value_of(self, scorer: str, training: bool) -> float | str:
        """Return the value of a scorer on the test rows, or on the training rows if `training` is True."""
        return (self.training_values if training else self.values)[scorer]


@dataclass(frozen=True)
class Failed:
    """Failure of a fit, with the exception."""

    failure: Failure
    cause: Exception

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.failure.model

    def value_of(self, _scorer: str, _training: bool) -> str:
        """Return the error message, which replaces the value of every scorer."""
        return self.failure.error


def named_models(models: Any) -> dict[str, Any]:
    """Return a dict from name to model. Models without a name get their class name; equal names are numbered.

    Raises
    ------
    InputError
        If there is no model, or if one of the models is not an estimator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> list(named_models([DummyClassifier(), DummyClassifier()]))
    ['DummyClassifier', 'DummyClassifier 2']
    """
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
        if len(named) < len(models):
            raise InputError("models", expected="models whose names differ as text", got=f"the names {list(models)}")
    else:
        given = list(models) if isinstance(models, list | tuple) else [models]
        named = {}
        count: dict[str, int] = {}
        for model in given:
            name = class_name(model)
            if isinstance(model, tuple) and len(model) == 2 and isinstance(model[0], str):
                name, model = model
            count[name] = count.get(name, 0) + 1
            named[f"{name} {count[name]}" if count[name] > 1 else name] = model
    if not named:
        raise InputError("models", expected="one or more models", got="0 models")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "fit"):
            got = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            hint = f"pass an instance: {model.__name__}()" if isinstance(model, type) else ""
            raise InputError(f"models[{name!r}]", expected="an estimator with a method fit", got=got, hint=hint)
    return named


def class_name(model: Any) -> str:
    """Return the class name of a model. For a pipeline, return the class name of the last step."""
    while getattr(model, "steps", None) and not isinstance(model, type):
        model = model.steps[-1][1]
    return type(model).__name__


def attempt(name: str, model: Any, task: Task, split: Split) -> Scored | Failed:
    """Fit and score a model. If the model raises an error, return the failure, so that other models still run."""
    try:
        return fit_and_score(name, model, task, split)
    except Exception as error:  # noqa: BLE001 (a model may raise anything)
        message = f"{type(error).__name__}: {first_line(error)}"
        return Failed(Failure(name, split.fold, split.repeat, message, split.training_rows), error)


def fit_and_score(name: str, model: Any, task: Task, split: Split) -> Scored:
    """Fit a clone of a model to the training rows and score the test rows.

    If this raises an error, add the names of the model and the fold to the error.
    """
    try:
        begin = perf_counter()
        fitted = CachingModel(fit(name, model, task, split))
        fitted_at = perf_counter()
        scored = _scored_on(split.test, fitted, name, task, split)
    except Exception as error:
        error.add_note(f"while {name} was cross-validated, in fold {split.fold}")
        raise
    scored = replace(scored, seconds=(fitted_at - begin, perf_counter() - fitted_at))
    if task.with_training:
        scored = replace(scored, training_values=_scored_on(split.train, fitted, name, task, split).values)
    return replace(scored, estimator=fitted.model) if task.with_estimators else scored


def _scored_on(rows: Array, fitted: CachingModel, name: str, task: Task, split: Split) -> Scored:
    """Return the scores, predicted labels and scorer values of a fitted model for some rows."""
    X = take_rows(task.X, rows)
    scores, response = score(fitted, name, X, task.classes, task.positive, response_for(task, name))
    decisions = predicted_labels(fitted, X, task.classes) if task.with_labels else None
    scored = Scored(name, split, scores, response, decisions)
    if not task.scorers:
        return scored
    weight = None if task.weight is None else task.weight[rows]
    positive = None if task.positive is None else task.classes[task.positive]
    tested = TestRows(X, task.labels[rows], weight, positive)
    values: dict[str, float | str] = {}
    for scorer_name, scorer in task.scorers.items():
        # If a scorer fails, keep its error in place of its value, so that the values of the other scorers remain.
        try:
            values[scorer_name] = scorer(fitted, scored, tested)
        except Exception as error:  # noqa: BLE001 (a scorer may raise anything)
            values[scorer_name] = f"{type(error).__name__}: {first_line(error)}"
    return replace(scored, values=values)


def first_line(error: Exception) -> str:
    """Return the first line of an error message."""
    return (str(error).strip() or "no message").splitlines()[0]


def fit(name: str, model: Any, task: Task, split: Split | None = None) -> Any:
    """Return a clone of a model, fitted to the training rows of a split; without a split, to all rows."""
    from sklearn.base import clone
    from sklearn.utils.validation import _check_method_params

    copy: Any = clone(model)
    arguments = task.arguments.get(name, {})
    if split is None:
        return _fitted(copy, task.X, task.labels, arguments)
    if task.seed is not None:
        _set_seeds(copy, np.random.SeedSequence(task.seed, spawn_key=split.key))
    if arguments:
        arguments = _check_method_params(task.X, dict(arguments), indices=split.train)
    return _fitted(copy, take_rows(task.X, split.train), task.labels[split.train], arguments)


def _fitted(model: Any, X: Any, labels: Array, arguments: Mapping[str, Any]) -> Any:
    """Fit a model. If the model requires the classes 0, 1, 2, …, fit it to class numbers and wrap it."""
    try:
        return model.fit(X, labels, **arguments)
    except ValueError as error:
        if _WANTS_NUMBERS not in str(error):
            raise
    classes, code = np.unique(labels, return_inverse=True)
    return NumberedClasses(model.fit(X, code, **arguments), classes)


class NumberedClasses:
    """Wrapper of a model fitted to class numbers. It predicts the original labels.

    Parameters
    ----------
    model : classifier fitted to 0, …, k − 1
        Model whose predictions are translated.
    classes : array of k labels
        Original labels, in the order of the class numbers.
    """

    def __init__(self, model: Any, classes: Array) -> None:
        self.model = model
        self.classes_ = classes

    def predict(self, X: Any) -> Array:
        """Return the predicted original label of each row."""
        return self.classes_[np.asarray(self.model.predict(X), dtype=np.intp)]

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # pickle asks for it before it is set
            raise AttributeError(name)
        return getattr(self.model, name)


def _set_seeds(model: Any, seeds: np.random.SeedSequence) -> None:
    """Set each parameter `random_state` of a model and its nested models that is None."""
    unseeded = []
    for name, value in sorted(model.get_params(deep=True).items()):
        if name.rpartition("__")[2] == "random_state" and value is None:
            unseeded.append(name)
    # scikit-learn takes seeds below 2³¹, but the generated seeds have 32 bits: halve them.
    states = [int(state) >> 1 for state in seeds.generate_state(len(unseeded))]
    model.set_params(**dict(zip(unseeded, states, strict=True)))


@dataclass(frozen=True)
class Fitting:
    """Models, data and settings for fits over many splits."""

    models: Mapping[str, Any]
    task: Task
    sample: SplitRows
    n_jobs: int | None = None
    progress: Progress = False

    @classmethod
    def of(cls, models: Any, task: Task, groups: Any, n_jobs: int | None, progress: Progress) -> Self:
        """Check arguments and return the settings of the fits; for the arguments see `rocscope.evaluate`."""
        named = named_models(models)
        groups = None if groups is None else check.check_column(groups, "groups", task.labels.size)
        sample = sample_of(task, groups)
        task = replace(task, arguments=fit_arguments(named, task.weight, groups))
        return cls(named, task, sample, n_jobs, progress)

    def splits(self, cv: Any, repeats: int = 1) -> tuple[list[Split], str]:
        """Return the splits for an argument `cv`, and a description of the protocol; see `rocscope.evaluate`."""
        return splits_of(cv, self.sample, repeats, self.task.seed)

    def run(self, splits: Iterable[Split], what: str, work: Callable[..., Any] = attempt) -> list[Any]:
        """Apply the function `work` to each combination of split and model. Return the results in the same order."""
        from sklearn.utils.parallel import Parallel, delayed

        if self.n_jobs == 0:
            raise InputError("n_jobs", expected="a positive number, or -1 to use all cores", got="0")
        calls = []
        for split in splits:
            for name, model in self.models.items():
                calls.append(delayed(work)(name, model, self.task, split))
        results: Any = Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
        return list(track(results, len(calls), self.progress, what))


def without_failures(
    results: Sequence[Scored | Failed], models: Iterable[str], *, by_fold: bool = False
) -> tuple[list[Scored], list[Failed], list[str]]:
    """Return the results of models without a failure, all failures, and the names of the models without a failure.

    With `by_fold`, a model is kept if it succeeded in at least one fold. The results then cover only the folds in which
    all of these models succeeded.

    Raises
    ------
    ModelError
        If every model failed.
    """
    failed = [result for result in results if isinstance(result, Failed)]
    lost = {fit.model for fit in failed}
    if by_fold:
        lost -= {result.model for result in results if isinstance(result, Scored)}
    kept = [name for name in models if name not in lost]
    lost_folds = {fit.failure.fold for fit in failed if fit.model in kept}
    scored = [fit for fit in results if isinstance(fit, Scored) and fit.model in kept]
    scored = [fit for fit in scored if fit.split.fold not in lost_folds]
    if not scored:
        raise_first(failed)
    for name in dict.fromkeys(fit.model for fit in failed):
        failures = [fit.failure for fit in failed if fit.model == name]
        what = "is omitted" if name in lost else "is kept without the rows of failed folds"
        listed = f"{len(failures)} fits failed, the first: {failures[0]}"
        warn(f"model {name!r} {what}; {listed}; see predictions.source.failures")
    return scored, failed, kept


def raise_first(failed: Sequence[Failed]) -> NoReturn:
    """Raise a ModelError for the first failure, with the number of further failures."""
    more = f" (and {len(failed) - 1} more failures)" if len(failed) > 1 else ""
    raise ModelError(f"{failed[0].failure}{more}") from failed[0].cause


def candidates_of(models: Any, seed: int | None) -> dict[str, Any]:
    """Return a dict from name to model. A scikit-learn search is replaced by one model for each parameter setting."""
    return {name: model for name, (model, _) in candidates_with_settings(models, seed).items()}


def candidates_with_settings(models: Any, seed: int | None) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return a dict from name to a pair (model, parameter setting); see `candidates_of`.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> near = {"near": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]})}
    >>> {name: setting for name, (_, setting) in candidates_with_settings(near, 0).items()}
    {'near, n_neighbors=1': {'n_neighbors': 1}, 'near, n_neighbors=5': {'n_neighbors': 5}}
    """
    from sklearn.base import clone

    candidates: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, model in named_models(models).items():
        settings = _settings_of_search(model, seed)
        if settings is None:
            candidates[name] = (model, {})
            continue
        for setting in settings:
            text = [f"{parameter}={value!r}" for parameter, value in setting.items()]
            copy: Any = clone(model.estimator)
            # Parameter values may be estimators, which fits must not share.
            copy.set_params(**{parameter: clone(value, safe=False) for parameter, value in setting.items()})
            candidates[", ".join([name, *text])] = (copy if setting else model, setting)
    return candidates


def _settings_of_search(model: Any, seed: int | None) -> list[dict[str, Any]] | None:
    """Return the parameter settings that a search evaluates; None if the model is not a search."""
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    if hasattr(model, "param_grid"):
        return list(ParameterGrid(model.param_grid))
    if hasattr(model, "param_distributions") and isinstance(getattr(model, "n_iter", None), int):
        random_state = seed if model.random_state is None else model.random_state
        return list(ParameterSampler(model.param_distributions, model.n_iter, random_state=random_state))
    return None


# --- Predictions of all splits ---

AnyPredictions = Predictions | MulticlassPredictions


def assembled(
    task: Task,
    splits: Sequence[Split],
    scored: Sequence[Scored],
    models: Sequence[str],
    segment: Array | None = None,
    groups: Array | None = None,
    source: Evaluation | None = None,
    amounts: Mapping[str, Array] | None = None,
) -> AnyPredictions:
    """Return the predictions for the test rows of all splits, sorted by repeat and row.

    `amounts` contains the amounts of all rows that a `Context` with costs per row needs.
    """
    sizes = [split.test.size for split in splits]
    row = np.concatenate([split.test for split in splits])
    repeat = np.repeat([split.repeat for split in splits], sizes)
    order = np.lexsort((row, repeat))
    row = row[order]
    names = [split.names for split in splits if split.names is not None]
    if segment is not None:
        segment = segment[row]
    elif names:
        segment = np.concatenate(names)[order]
    columns: dict[str, Any] = {
        "sample_weight": None if task.weight is None else task.weight[row],
        "weights": task.weights,
        "fold": np.repeat([split.fold for split in splits], sizes)[order],
        "repeat": repeat[order],
        "row": row,
        "segment": segment,
        "groups": None if groups is None else groups[row],
        "source": source,
    }
    if amounts:
        columns["columns"] = {name: amount[row] for name, amount in amounts.items()}
    scores, decisions = {}, {}
    for name in models:
        of_model = [fold for fold in scored if fold.model == name]
        scores[name] = np.concatenate([fold.scores for fold in of_model])[order]
        labels = joined_labels(of_model)
        if labels is not None:
            decisions[name] = labels[order]
    return predictions_of(task, task.labels[row], scores, decisions, columns)


def joined_labels(scored: Sequence[Scored]) -> Array | None:
    """Return the labels that one model predicts in several splits; None if labels are missing in a split."""
    labels = [fold.decisions for fold in scored if fold.decisions is not None]
    return np.concatenate(labels) if len(labels) == len(scored) else None


def predictions_of(
    task: Task, labels: Array, scores: Mapping[str, Array], decisions: Mapping[str, Array], columns: Mapping[str, Any]
) -> AnyPredictions:
    """Return Predictions for two classes, or MulticlassPredictions for more than two classes."""
    if task.positive is not None:
        positive = task.classes[task.positive]
        is_positive = {name: np.asarray(given == positive) for name, given in decisions.items()}
        return Predictions(np.asarray(labels == positive), scores, decisions=is_positive, **columns)
    # Scores in one column are predicted labels, from models without probabilities.
    crisp = {name: values for name, values in scores.items() if values.ndim == 1}
    soft = {name: values for name, values in scores.items() if values.ndim == 2}
    classes = cast(Any, task.classes)
    return MulticlassPredictions(labels, soft, decisions=crisp | dict(decisions), classes=classes, **columns)


def predictions_of_split(scored: Scored, task: Task) -> AnyPredictions:
    """Return the predictions of one model for the test rows of one split."""
    rows = scored.split.test
    weight = None if task.weight is None else task.weight[rows]
    return predictions_of_model(task, task.labels[rows], scored, weight)


def predictions_of_model(task: Task, labels: Array, scored: Scored, weight: Array | None) -> AnyPredictions:
    """Return the predictions of one model for rows with these labels and weights."""
    decisions = {} if scored.decisions is None else {scored.model: scored.decisions}
    return predictions_of(task, labels, {scored.model: scored.scores}, decisions, {"sample_weight": weight})
