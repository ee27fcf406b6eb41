"""What an evaluation did: the protocol, how each model scored, and which models failed where."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocscope.core.provenance import Provenance
from rocscope.core.result import Result


@dataclass(frozen=True)
class Failure(Result):
    """A model that could not be fitted, or gave no scores, in one fold.

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
    """Source of predictions that `rocscope.evaluate` made.

    Attributes
    ----------
    protocol : str
        How rows were split.
    folds, repeats : int
        Fits of each model, and how often the whole protocol was drawn anew.
    responses : mapping from model name to "predict_proba", "decision_function" or "predict"
        What the scores are.
    failures : tuple of Failure
        Of the models that are left out of the predictions.
    unweighted : tuple of str
        Models that were fitted without the sample weights because they take none.
    seconds : mapping from model name to pairs of float
        What each fold took to fit, and to predict; no part of `to_dict`, as no two runs take the same.
    """

    _content = (
        *("origin", "rows_read", "rows_dropped", "where"),
        *("protocol", "folds", "repeats", "responses", "failures", "unweighted"),
    )

    protocol: str = ""
    folds: int = 1
    repeats: int = 1
    responses: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    unweighted: tuple[str, ...] = ()
    seconds: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        failed = sorted({failure.model for failure in self.failures})
        return f"Evaluation({self.protocol}, repeats={self.repeats}, folds={self.folds}, failed={failed})"
