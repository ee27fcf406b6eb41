"""MulticlassPredictions: labels of several classes and the predictions of one or more models, row by row."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import SEGMENTS
from rocscope.core.predictions import Predictions, Provenance, Rows, model_name
from rocscope.core.result import html_table
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError
from rocscope.multiclass.confusion import (
    ConfusionMatrix,
    check_classes,
    check_probabilities,
    class_index,
    distinct_labels,
    label_column,
    position,
)
from rocscope.sample import is_segmented, kind_of


class MulticlassPredictions(Rows):
    """Labels and the class probabilities, or predicted labels, of one or more models.

    Parameters
    ----------
    y_true : array of n labels
    proba : n × k array, array of n labels, data frame with a column a class, or mapping from model name to these
        Probabilities of the classes, or predicted labels. An array or a frame alone is one model named "score".
    decisions : array of n labels, or mapping from model name to array, optional
        Labels that models predict themselves: beside their probabilities, or alone. An array alone is of the only
        model with probabilities, or else of one named "label".
    classes : sequence of k labels, optional
        The class of each column, in this order. When left out: the names of a frame's columns; for arrays the
        labels that occur, sorted, as scikit-learn orders them.
    sample_weight : array of n weights, optional
    fold, segment, repeat, row : array of n labels, optional
        See `Predictions`.
    normalize : bool
        Divide each row of non-negative numbers by its sum.
    source : Provenance, optional
        Where the rows came from; `rocscope.read` fills it in.

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        If a class has no column, columns stand in another order than `classes`, names repeat, or rows do not sum
        to 1 within 1e-5.

    Examples
    --------
    >>> preds = MulticlassPredictions(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    >>> preds
    MulticlassPredictions(n=3, classes=['a', 'b', 'c'], models=['score'])
    >>> preds.confusion().counts.tolist()
    [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    >>> preds.binary("c").counts().tp
    array([1, 1, 1])
    """

    _content = ("n", "classes", "support", "models", "n_groups", "source")

    def __init__(
        self,
        y_true: Any,
        proba: Any = None,
        *,
        decisions: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        fold: Any = None,
        segment: Any = None,
        groups: Any = None,
        repeat: Any = None,
        row: Any = None,
        normalize: bool = False,
        source: Provenance | None = None,
    ) -> None:
        own_columns = {"fold": fold, "segment": segment, "groups": groups, "repeat": repeat, "row": row}
        check.check_same_index(
            y_true=y_true, proba=proba, decisions=decisions, sample_weight=sample_weight, **own_columns
        )
        actual = label_column(y_true, "y_true")
        n = actual.size
        given, crisp = _models(proba, decisions)
        named = {model: names for model, (_, names) in given.items() if names is not None}
        self.classes = _classes(classes, named, actual, [*crisp.values()])
        for model, names in named.items():
            _check_order(names, self.classes, model)
        self.y_true = check.read_only(class_index(actual, self.classes, "y_true"))
        self.proba: dict[str, Array] = {}
        self.decisions: dict[str, Array] = {}
        for model, (values, _) in given.items():
            matrix = check_probabilities(values, n, len(self.classes), f"proba[{model!r}]", normalize=normalize)
            self.proba[model] = check.read_only(matrix)
        for model, values in crisp.items():
            column = label_column(values, f"decisions[{model!r}]", n)
            self.decisions[model] = check.read_only(class_index(column, self.classes, f"decisions[{model!r}]"))
        self.models = list(self.proba | self.decisions)
        self._keep(n, sample_weight, source, **own_columns)

    @property
    def support(self) -> Array:
        """Cases of each class (sums of weights)."""
        total = np.bincount(self.y_true, self.sample_weight, len(self.classes))
        whole = self.sample_weight is None or self.sample_weight.dtype.kind == "i"
        return total.astype(np.int64) if whole else total

    @property
    def n(self) -> float:
        """Number of rows (sum of their weights)."""
        return self.support.sum().item()

    def __len__(self) -> int:
        return self.y_true.size

    def probabilities(self, model: str | None = None) -> Array:
        """Return the n × k probabilities of a model.

        Raises
        ------
        ScoreError
            If the model predicts labels only.
        """
        name = model_name(self.models, model)
        if name not in self.proba:
            raise ScoreError(f"model {name!r}", expected="probabilities", got="predicted labels only")
        return self.proba[name]

    def predicted(self, model: str | None = None) -> Array:
        """Return the index of a model's predicted class: its own decision, or the most probable class."""
        name = model_name(self.models, model)
        return self.decisions[name] if name in self.decisions else self.proba[name].argmax(axis=1)

    def confusion(self, model: str | None = None) -> ConfusionMatrix:
        """Return the confusion matrix of a model."""
        return ConfusionMatrix.from_index(self.y_true, self.predicted(model), self.classes, self.sample_weight)

    def top_k_accuracy(self, k: int, model: str | None = None) -> float:
        """Return the share of rows whose class is among the k most probable; ties are broken by class order.

        Examples
        --------
        >>> MulticlassPredictions([0, 1, 2], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.5, 0.3, 0.2]]).top_k_accuracy(2)
        0.6666666666666666
        """
        if not isinstance(k, int | np.integer) or not 1 <= k <= len(self.classes):
            raise InputError("k", expected=f"a whole number from 1 to {len(self.classes)}", got=repr(k))
        proba = self.probabilities(model)
        own = np.take_along_axis(proba, self.y_true[:, np.newaxis], axis=1)
        earlier = np.arange(len(self.classes)) < self.y_true[:, np.newaxis]
        ahead = ((proba > own) | ((proba == own) & earlier)).sum(axis=1)
        return float(np.average(ahead < k, weights=self.sample_weight))

    def binary(self, cls: Any) -> Predictions:
        """Return one class against the rest, with its probability (or 1/0 for predicted labels) as score."""
        found = position(cls, self.classes)
        own = {model: column == found for model, column in self.decisions.items()}
        return self._as_predictions(found, slice(None), own)

    def pair(self, a: Any, b: Any) -> Predictions:
        """Return the rows of two classes, with `a` positive and its probability as score.

        Its AUC is Hand & Till's A(a|b), which `pair(b, a)` need not equal.
        """
        first, second = position(a, self.classes), position(b, self.classes)
        rows = (self.y_true == first) | (self.y_true == second)
        if first == second:
            raise LabelError("pair", expected="two different classes", got=f"{a!r} twice")
        if not rows.any():
            raise ShapeError("pair", expected=f"rows of class {a!r} or {b!r}", got="none")
        return self._as_predictions(first, rows, {})

    def _as_predictions(self, cls: int, rows: Any, own: dict[str, Array]) -> Predictions:
        crisp = {model: (column[rows] == cls).astype(np.int8) for model, column in self.decisions.items()}
        soft = {model: proba[rows, cls] for model, proba in self.proba.items()}
        scores = {model: (crisp | soft)[model] for model in self.models}
        return Predictions(self.y_true[rows] == cls, scores, decisions=own, **self.row_columns(rows))

    def _take(self, rows: Any, models: Sequence[str]) -> "MulticlassPredictions":
        picked = object.__new__(MulticlassPredictions)
        picked.classes, picked.models = self.classes, list(models)
        picked.y_true = check.read_only(self.y_true[rows])
        picked.proba = {name: check.read_only(self.proba[name][rows]) for name in models if name in self.proba}
        own = {name: self.decisions[name][rows] for name in models if name in self.decisions}
        picked.decisions = {name: check.read_only(column) for name, column in own.items()}
        vars(picked).update(self.row_columns(rows))
        return picked

    def with_probabilities(self, proba: Mapping[str, Array]) -> "MulticlassPredictions":
        """Return the same rows with n × k probabilities of other models."""
        new = self.select(models=[])
        new.models = list(proba)
        new.proba = {
            name: check.read_only(check_probabilities(each, len(self), len(self.classes), name, normalize=False))
            for name, each in proba.items()
        }
        return new

    def __repr__(self) -> str:
        return f"MulticlassPredictions(n={self.n:g}, classes={list(self.classes)}, models={self.models})"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count:,g}") for name, count in zip(self.classes, self.support, strict=True)]
        return html_table(rows, ("class", "rows")) + super()._repr_html_()


def predictions_of(
    y_true: Any, proba: Any = None, *, name: str = "predictions", classes: Any = None, sample_weight: Any = None
) -> MulticlassPredictions:
    """Return predictions unchanged, or make them of labels and probabilities; raise for anything else."""
    columns = {"proba": proba, "classes": classes, "sample_weight": sample_weight}
    if isinstance(y_true, MulticlassPredictions):
        for beside in (each for each, column in columns.items() if column is not None):
            hint = "they hold it already; leave it out"
            raise InputError(beside, expected="none beside MulticlassPredictions", got="one", hint=hint)
        return y_true
    if proba is None:
        hint = "of labels and probabilities make rocscope.multiclass.MulticlassPredictions(y_true, proba)"
        hint = SEGMENTS if is_segmented(y_true) else hint
        raise InputError(name, expected="MulticlassPredictions", got=kind_of(y_true), hint=hint)
    return MulticlassPredictions(y_true, proba, classes=classes, sample_weight=sample_weight)


def _models(proba: Any, decisions: Any) -> tuple[dict[str, tuple[Any, list[str] | None]], dict[str, Any]]:
    """Return probabilities by model with column names (from frames), and predicted labels."""
    soft = {name: _values(value) for name, value in _by_text("proba", proba, ("score",)).items()}
    alone = {name: values for name, (values, _) in soft.items() if values.ndim == 1}
    soft = {name: value for name, value in soft.items() if name not in alone}
    crisp = _by_text("decisions", decisions, list(soft) if len(soft) == 1 else ("label",))
    if not (soft or alone or crisp):
        raise ShapeError("proba", expected="probabilities or predicted labels of at least one model", got="none")
    if twice := alone.keys() & crisp.keys():
        raise InputError("decisions", expected="labels of each model once", got=f"two of {min(twice)!r}")
    return soft, alone | {name: check.check_column(values, "decisions") for name, values in crisp.items()}


def _by_text(what: str, values: Any, alone: Sequence[str]) -> dict[str, Any]:
    given = check.by_name(values, () if values is None else alone)
    named = {str(name): value for name, value in given.items()}
    if len(named) < len(given):
        raise InputError(what, expected="a different name for each model", got="names that are equal")
    return named


def _values(values: Any) -> tuple[Any, list[str] | None]:
    """Return a frame as matrix and column names; anything else as an array."""
    if check.is_frame(values):
        columns = check.frame_columns(values)
        if not columns:
            raise ShapeError("proba", expected="one column per class", got="a data frame without columns")
        return np.column_stack([*columns.values()]), [str(name) for name in columns]
    return check.as_array(values), None


def _classes(classes: Any, named: dict[str, list[str]], actual: Array, predicted: list[Array]) -> tuple[Hashable, ...]:
    """Return the given classes, or those in columns and labels."""
    if classes is not None:
        return check_classes(classes)
    if named:
        columns = check_classes(next(iter(named.values())), "columns")
        by_text = {str(label): label for label in check.distinct(actual)}
        return tuple(by_text.get(str(column), column) for column in columns)
    return check_classes(distinct_labels(actual, *predicted))


def _check_order(names: list[str], classes: tuple[Hashable, ...], model: str) -> None:
    """Raise for a frame whose columns are not the classes in order."""
    expected = [str(cls) for cls in classes]
    if names != expected:
        same = sorted(names) == sorted(expected)
        raise LabelError(
            f"columns of proba[{model!r}]",
            expected=f"the classes in their order, {check.listing(expected)}",
            got=check.listing(names),
            hint="the order differs: select the columns in the order of the classes" if same else "",
        )
