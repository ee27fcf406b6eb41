"""Labels of several classes, and the predictions of one or more models for the same rows.

All functions of `rocscope.multiclass` take `MulticlassPredictions`, which stores classes as indices and probabilities
as n × k arrays with columns in the order of `classes`. `predictions_of` makes a `MulticlassPredictions` from labels and
probabilities.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rocscope._base import class_names, validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import SEGMENTS
from rocscope.core import Predictions, Provenance, Weights, html_table, independent_units, model_name
from rocscope.core.predictions import Rows
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError
from rocscope.inference.variance import RowDesign
from rocscope.multiclass import confusion
from rocscope.multiclass.confusion import ConfusionMatrix
from rocscope.sample import is_segmented, kind_of


class MulticlassPredictions(Rows):
    """True labels of several classes, with the class probabilities or predicted labels of one or more models.

    Parameters
    ----------
    y_true : array of n labels
        True classes.
    proba : n × k array, array of n labels, data frame with one column per class, or mapping from model name to these
        Class probabilities (two-dimensional) or predicted labels (one-dimensional). A single array or data frame is
        stored as one model named "score".
    decisions : array of n labels, or mapping from model name to array, optional
        Labels predicted by the models. A model may have both probabilities and predicted labels. A single array belongs
        to the only model with probabilities; without such a model, to a model named "label".
    classes : sequence of k labels, optional
        Class of each probability column. Columns of data frames are matched by name. By default, the column names of a
        data frame, the categories of categorical labels (pandas, Polars Enum), or otherwise the sorted labels, as in
        scikit-learn.
    sample_weight : array of n weights, optional
        Weights of the rows.
    weights : {"auto", "frequency", "sampling"}
        Meaning of the weights; see `Predictions`. "auto" is the same as "sampling".
    fold, segment, groups, repeat, row : array of n labels, optional
        Fold, segment, group, repeat and identifier of each row; see `Predictions`.
    normalize : bool
        If True, divide the probabilities of each row by their sum.
    source : Provenance, optional
        Source of the rows; set by `rocscope.read`.

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        If a class has no probability column, the columns of a data frame are not the classes, two models have the same
        name, or the probabilities of a row do not sum to 1 within 1e-5.

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
        weights: Weights = "auto",
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
        actual = class_names.label_column(y_true, "y_true")
        n = actual.size
        given, labels = _models(proba, decisions, actual)
        predicted = {
            model: class_names.label_column(values, f"decisions[{model!r}]", n) for model, values in labels.items()
        }
        self.classes = _classes(classes, given, labels, y_true, [actual, *predicted.values()])
        self.y_true = check.read_only(class_names.class_index(actual, self.classes, "y_true"))
        self.proba: dict[str, Array] = {}
        self.decisions: dict[str, Array] = {}
        for model, values in given.items():
            matrix = confusion.check_probabilities(values, n, self.classes, f"proba[{model!r}]", normalize=normalize)
            self.proba[model] = check.read_only(matrix)
        for model, column in predicted.items():
            index = class_names.class_index(column, self.classes, f"decisions[{model!r}]")
            self.decisions[model] = check.read_only(index)
        self.models = list(self.proba | self.decisions)
        self._keep(n, sample_weight, weights, source, None, **own_columns)

    @property
    def support(self) -> Array:
        """Number of cases of each class; with row weights, the sum of the weights."""
        total = np.bincount(self.y_true, self.sample_weight, len(self.classes))
        whole = self.sample_weight is None or self.sample_weight.dtype.kind == "i"
        return total.astype(np.int64) if whole else total

    @property
    def n(self) -> float:
        """Number of rows; with row weights, the sum of the weights."""
        return self.support.sum().item()

    def __len__(self) -> int:
        return self.y_true.size

    def probabilities(self, model: str | None = None) -> Array:
        """Return the class probabilities of a model (n × k).

        Parameters
        ----------
        model : str, optional
            Name of the model; may be omitted if there is only one.

        Raises
        ------
        ScoreError
            If the model only predicts labels.
        """
        name = model_name(self.models, model)
        if name not in self.proba:
            raise ScoreError(f"model {name!r}", expected="probabilities", got="predicted labels only")
        return self.proba[name]

    def predicted(self, model: str | None = None) -> Array:
        """Return the index of the class that a model predicts for each row.

        The class is the predicted label if `decisions` contains the model, otherwise the most probable class.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model of the predictions.

        Raises
        ------
        ColumnError
            If the model is unknown, or if there are several models and none is named.

        Examples
        --------
        >>> p = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
        >>> MulticlassPredictions(["a", "b"], p, classes=["a", "b", "c"]).predicted()
        array([0, 2])
        """
        name = model_name(self.models, model)
        return self.decisions[name] if name in self.decisions else self.proba[name].argmax(axis=1)

    def confusion(self, model: str | None = None) -> ConfusionMatrix:
        """Return the confusion matrix of a model.

        Intervals of the confusion matrix account for the weights, groups and repeats of the rows.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model of the predictions.

        Examples
        --------
        >>> p = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
        >>> MulticlassPredictions(["a", "b"], p, classes=["a", "b", "c"]).confusion().counts
        array([[1, 0, 0],
               [0, 0, 1],
               [0, 0, 0]])
        """
        return ConfusionMatrix.from_index(self.y_true, self.predicted(model), self.classes, self.design())

    def design(self, groups: Any = None) -> RowDesign:
        """Return the weights and groups of the rows, for estimating variances.

        Parameters
        ----------
        groups : array of n labels, optional
            Group of each case. By default, the groups of the predictions.

        Raises
        ------
        InputError
            If `groups` does not have one label per case.
        """
        return RowDesign.of(len(self), self.sample_weight, independent_units(self, groups), self.weights)

    def top_k_accuracy(self, k: int, model: str | None = None) -> float:
        """Return the share of rows whose true class is among the k most probable classes.

        Equally probable classes are ranked in the order of `classes`.

        Parameters
        ----------
        k : int
            Number of classes.
        model : str, optional
            Name of the model. By default, the only model of the predictions.

        Raises
        ------
        InputError
            If `k` is not a whole number from 1 to the number of classes.

        Examples
        --------
        >>> MulticlassPredictions([0, 1, 2], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.5, 0.3, 0.2]]).top_k_accuracy(2)
        0.6666666666666666
        """
        return float(np.average(self.in_top(k, model), weights=self.sample_weight))

    def in_top(self, k: int, model: str | None = None) -> Array:
        """Return a Boolean per row: True if the true class is among the k most probable classes.

        Parameters
        ----------
        k : int
            Number of classes.
        model : str, optional
            Name of the model. By default, the only model of the predictions.

        Raises
        ------
        InputError
            If `k` is not a whole number from 1 to the number of classes.

        Examples
        --------
        >>> preds = MulticlassPredictions([0, 1, 2], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.5, 0.3, 0.2]])
        >>> preds.in_top(2)
        array([ True,  True, False])
        """
        if not isinstance(k, int | np.integer) or not 1 <= k <= len(self.classes):
            raise InputError("k", expected=f"a whole number from 1 to {len(self.classes)}", got=repr(k))
        proba = self.probabilities(model)
        own = np.take_along_axis(proba, self.y_true[:, np.newaxis], axis=1)
        earlier = np.arange(len(self.classes)) < self.y_true[:, np.newaxis]
        return ((proba > own) | ((proba == own) & earlier)).sum(axis=1) < k

    def binary(self, cls: Any) -> Predictions:
        """Return two-class predictions: one class is positive, and all other classes are negative.

        The score of a model is its probability of the class. For a model that only predicts labels, the score is 1 if
        it predicts the class, otherwise 0.

        Raises
        ------
        LabelError
            If the class is unknown.

        Examples
        --------
        >>> p = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
        >>> MulticlassPredictions(["a", "b"], p, classes=["a", "b", "c"]).binary("a").counts()
        ThresholdCounts(n_pos=1, n_neg=1, levels=2)
        """
        index = class_names.position(cls, self.classes)
        decisions = {model: column == index for model, column in self.decisions.items()}
        scores = {model: column.astype(np.int8) for model, column in decisions.items()}
        scores |= {model: proba[:, index] for model, proba in self.proba.items()}
        scores = {model: scores[model] for model in self.models}
        return Predictions(self.y_true == index, scores, decisions=decisions, **self.row_columns())

    def pooled(self, groups: Any = None) -> Predictions:
        """Return two-class predictions with n·k rows, one for each pair of a case and a class.

        A row is positive if the class is the true class of the case, and its score is the probability of the class.
        Metrics of this sample are micro-averages. The k rows of a case are in the same group. If the cases have groups,
        all rows of the cases of a group are in the same group.

        Parameters
        ----------
        groups : array of n labels, optional
            Group of each case. By default, the groups of the predictions.

        Raises
        ------
        InputError
            If `groups` does not have one label per case.

        Examples
        --------
        >>> preds = MulticlassPredictions(["a", "b"], [[0.7, 0.3], [0.6, 0.4]])
        >>> preds.pooled().counts().tp.tolist()
        [1, 1, 2, 2]
        """
        k, unit = len(self.classes), independent_units(self, groups)
        unit = np.arange(len(self)) if unit is None else unit
        label = (self.y_true == np.arange(k)[:, np.newaxis]).ravel()
        scores = {model: proba.T.ravel() for model, proba in self.proba.items()}
        weight = None if self.sample_weight is None else np.tile(self.sample_weight, k)
        return Predictions(label, scores, sample_weight=weight, weights=self.weights, groups=np.tile(unit, k))

    def pair(self, a: Any, b: Any) -> Predictions:
        """Return two-class predictions for the rows of classes `a` and `b`, with `a` as the positive class.

        The score is the probability of `a`. The AUC is Hand & Till's A(a|b), which may differ from A(b|a).

        Parameters
        ----------
        a, b : labels
            Two different classes.

        Raises
        ------
        LabelError
            If a class is unknown, or if both classes are equal.
        ShapeError
            If no row belongs to one of the two classes.

        Examples
        --------
        >>> preds = MulticlassPredictions(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
        >>> pair = preds.pair("a", "c")
        >>> pair.y_true.tolist(), pair.scores["score"].tolist()
        ([True, False], [0.7, 0.5])
        """
        first, second = class_names.position(a, self.classes), class_names.position(b, self.classes)
        rows = (self.y_true == first) | (self.y_true == second)
        if first == second:
            raise LabelError("pair", expected="two different classes", got=f"{a!r} twice")
        if not rows.any():
            raise ShapeError("pair", expected=f"rows of class {a!r} or {b!r}", got="no such row")
        return self.select(rows).binary(a)

    def _take(self, rows: Any, models: Sequence[str]) -> "MulticlassPredictions":
        picked = object.__new__(MulticlassPredictions)
        picked.classes, picked.models = self.classes, list(models)
        picked.y_true = check.read_only(self.y_true[rows])
        picked.proba = {name: check.read_only(self.proba[name][rows]) for name in models if name in self.proba}
        decided = [name for name in models if name in self.decisions]
        picked.decisions = {name: check.read_only(self.decisions[name][rows]) for name in decided}
        vars(picked).update(self.row_columns(rows))
        return picked

    def with_probabilities(self, proba: Mapping[str, Array]) -> "MulticlassPredictions":
        """Return the same rows with the probabilities (n × k) of other models.

        Parameters
        ----------
        proba : mapping from model name to n × k array
            Class probabilities of the other models.

        Examples
        --------
        >>> preds = MulticlassPredictions(["a", "b"], [[0.7, 0.3], [0.6, 0.4]])
        >>> preds.with_probabilities({"new": np.array([[0.9, 0.1], [0.2, 0.8]])}).confusion().counts.tolist()
        [[1, 0], [0, 1]]
        """
        new = self.select(models=[])
        new.models = list(proba)
        for name, values in proba.items():
            matrix = confusion.check_probabilities(values, len(self), self.classes, name)
            new.proba[name] = check.read_only(matrix)
        return new

    def __repr__(self) -> str:
        weights = f", {self.weights} weights" if self.weights != "auto" else ""
        return f"MulticlassPredictions(n={self.n:g}, classes={list(self.classes)}, models={self.models}{weights})"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count:,g}") for name, count in zip(self.classes, self.support, strict=True)]
        return html_table(rows, ("class", "rows")) + super()._repr_html_()


def predictions_of(
    y_true: Any, proba: Any = None, *, name: str = "predictions", classes: Any = None, sample_weight: Any = None
) -> MulticlassPredictions:
    """Return a MulticlassPredictions unchanged, or make one from labels and probabilities.

    Raises
    ------
    InputError
        If labels are passed without probabilities, or a MulticlassPredictions with further columns.
    """
    columns = {"proba": proba, "classes": classes, "sample_weight": sample_weight}
    if isinstance(y_true, MulticlassPredictions):
        for argument, column in columns.items():
            if column is not None:
                hint = f"omit {argument}, because the predictions contain it"
                raise InputError(argument, expected="None with MulticlassPredictions", got=kind_of(column), hint=hint)
        return y_true
    if proba is None:
        hint = "pass rocscope.multiclass.MulticlassPredictions(y_true, proba)"
        hint = SEGMENTS if is_segmented(y_true) else hint
        raise InputError(name, expected="MulticlassPredictions", got=kind_of(y_true), hint=hint)
    return MulticlassPredictions(y_true, proba, classes=classes, sample_weight=sample_weight)


def _models(proba: Any, decisions: Any, actual: Array) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the probabilities of each model (as arrays or data frames), and the predicted labels of each model."""
    probabilities: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    for name, given in _by_text("proba", proba, ("score",)).items():
        values = given if check.is_frame(given) else check.as_array(given)
        if getattr(values, "ndim", 2) != 1:
            probabilities[name] = values
            continue
        if values.dtype.kind == "f" and not np.isin(values, actual).all() and (values % 1 != 0).any():
            hint = "for two classes use rocscope.Predictions; for several classes pass one column per class"
            raise ShapeError(
                f"proba[{name!r}]", expected="one column per class, or labels", got="one score per row", hint=hint
            )
        labels[name] = given
    decided = _by_text("decisions", decisions, list(probabilities) if len(probabilities) == 1 else ("label",))
    if not (probabilities or labels or decided):
        raise ShapeError("proba", expected="probabilities or predicted labels of at least one model", got="no model")
    twice = labels.keys() & decided.keys()
    if twice:
        raise InputError("decisions", expected="one array of labels per model", got=f"two arrays of {min(twice)!r}")
    return probabilities, labels | decided


def _by_text(what: str, values: Any, alone: Sequence[str]) -> dict[str, Any]:
    given = check.by_name(values, () if values is None else alone)
    named = {str(name): value for name, value in given.items()}
    if len(named) < len(given):
        raise InputError(what, expected="a different name for each model", got="two models with the same name")
    return named


def _classes(
    classes: Any, given: dict[str, Any], labels: dict[str, Any], y_true: Any, columns: list[Array]
) -> tuple[Hashable, ...]:
    """Return the given classes, or by default the classes in the column names and labels."""
    frame = next((values for values in given.values() if check.is_frame(values)), None)
    as_given = (y_true, *labels.values())
    if frame is None or classes is not None or class_names.ordered_categories(*as_given):
        return class_names.classes_of(classes, as_given, columns)
    # Column names are text; a label with the same text keeps its type.
    by_text = {str(label): label for label in class_names.distinct_labels(*columns)}
    named = [by_text.get(str(name), str(name)) for name in check.frame_columns(frame)]
    return class_names.check_classes(named, "columns")
