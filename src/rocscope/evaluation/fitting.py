"""Fit a clone of a model to training rows, and score test rows.

Running the fits of all models on all splits, one after the other or side by side, with the same result.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NoReturn, Self

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress, track
from rocscope.errors import InputError, ModelError, warn
from rocscope.evaluation.evaluation import Failure
from rocscope.evaluation.metadata_routing import fit_arguments
from rocscope.evaluation.scoring import AskedOnce, own_labels, score
from rocscope.evaluation.task import Task, TestRows, response_for, rows_of, sample_of
from rocscope.protocols.splits import Split, SplitRows
from rocscope.protocols.splitters import splits_of

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
