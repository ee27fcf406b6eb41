"""Evaluation: what was done to make predictions, how models scored, and which failed where."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.result import Result
from rocscope.core.rows import Provenance
from rocscope.errors import InputError, warn


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
