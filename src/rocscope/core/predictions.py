"""Predictions: labels and the scores of one or more models, row by row."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.registry import reach
from rocscope.core.counts import ThresholdCounts
from rocscope.core.point import OperatingPoint
from rocscope.core.result import html_table, number
from rocscope.core.rows import Provenance, Rows, model_name
from rocscope.errors import ColumnError, InputError, ShapeError


class Predictions(Rows):
    """Labels and scores of the same rows, with their weights, folds, segments and groups.

    Parameters
    ----------
    y_true : array of n labels
        {0, 1}, {-1, 1} or {False, True}; any two with `pos_label`.
    scores : array of n scores, mapping from model name to array, or data frame with a column a model
        An array is one model named "score". Higher means more positive.
    pos_label : label, optional
        The positive one.
    sample_weight : array of n weights, optional
        Non-negative.
    fold, segment : array of n labels, optional
        The cross-validation fold, and the part to be shown by itself, that a row belongs to. Rows without a segment
        are one, called None.
    groups : array of n labels, optional
        Rows that belong together, such as those of one patient: intervals, tests, bands and the bootstrap then count
        groups, unless they are told otherwise.
    repeat, row : array of n labels, optional
        The repeat of the evaluation, and the case that a row is of, such as its place in the data: equal wherever one
        case occurs. Where cases occur more than once, intervals and tests count cases.
    decisions : array of n labels, or mapping from model name to array, optional
        The labels that models give themselves, which need not be a cut of their scores at 1/2, nor any cut. Crisp
        metrics and costs are of these, where no threshold is asked for.
    columns : mapping from name to array of n numbers, optional
        What else is known of the rows, such as the amount that is at stake: what a `Context` may name as a cost.
    weighting : EstimatedWeights, optional
        How `sample_weight` was estimated; `rocscope.outcomes` fills it in, and intervals and tests allow for it.
    source : Provenance, optional
        Where the rows came from; `rocscope.read` fills it in. A selection keeps that of the rows it was taken from.

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        If the columns do not fit each other or hold what cannot be ranked.

    Notes
    -----
    Columns are not copied where they can be used as they are; do not write to them afterwards.

    Examples
    --------
    >>> preds = Predictions([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}, segment=["x", "x", "y", "y"])
    >>> preds
    Predictions(n=4, n_pos=2, n_neg=2, models=['a', 'b'])
    >>> preds.counts("a").tp
    array([1, 1, 2, 2])
    >>> list(preds.by_segment())
    ['x', 'y']
    >>> Predictions([1, 0, 1], [0.9, 0.3, 0.2], decisions=[1, 1, 1]).point()
    OperatingPoint(tp=2, fp=1, fn=0, tn=0)
    """

    _content = ("n", "n_pos", "n_neg", "prevalence", "models", "n_groups", "source")

    def __init__(
        self,
        y_true: Any,
        scores: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        fold: Any = None,
        segment: Any = None,
        groups: Any = None,
        repeat: Any = None,
        row: Any = None,
        decisions: Any = None,
        columns: Any = None,
        weighting: Any = None,
        source: Provenance | None = None,
    ) -> None:
        own_columns = {"fold": fold, "segment": segment, "groups": groups, "repeat": repeat, "row": row}
        check.check_same_index(
            y_true=y_true,
            scores=scores,
            sample_weight=sample_weight,
            decisions=decisions,
            columns=columns,
            **own_columns,
        )
        self.y_true = check.read_only(check.check_labels(y_true, pos_label))
        n = self.y_true.size
        models = _score_columns(scores)
        if not models:
            raise ShapeError("scores", expected="at least one model", got="none")
        self.scores = {
            name: check.read_only(check.check_scores(column, n, f"scores[{name!r}]" if len(models) > 1 else name))
            for name, column in models.items()
        }
        if not isinstance(columns, Mapping | None):
            raise InputError("columns", expected="a mapping from name to array", got=check.shown(columns))
        self.columns = {
            str(name): check.read_only(check.check_numbers(column, f"columns[{name!r}]", n))
            for name, column in check.by_name(columns or {}, ()).items()
        }
        own = check.by_name(decisions, () if decisions is None else self._one_model(decisions))
        self.decisions = {
            self._model(str(name)): check.read_only(_decided(labels, y_true, pos_label, f"decisions[{name!r}]"))
            for name, labels in own.items()
        }
        self._keep(n, sample_weight, source, weighting, **own_columns)

    @property
    def models(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Names of the models, in the order given."""
        return list(self.scores)

    @property
    def n_pos(self) -> float:
        """Number of positive rows (sum of their weights)."""
        return self._total(self.y_true)

    @property
    def n_neg(self) -> float:
        """Number of negative rows (sum of their weights)."""
        return self._total(~self.y_true)

    @property
    def n(self) -> float:
        """Number of rows (sum of their weights)."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return self.n_pos / self.n

    def _total(self, rows: NDArray[np.bool_]) -> float:
        return int(rows.sum()) if self.sample_weight is None else self.sample_weight[rows].sum().item()

    def __len__(self) -> int:
        return self.y_true.size

    @overload
    def counts(self, model: str | None = None) -> ThresholdCounts: ...
    @overload
    def counts(self, model: str | None = None, *, by: Literal["segment", "fold", "repeat"]) -> Any: ...
    def counts(self, model: str | None = None, *, by: str | None = None) -> Any:
        """Rank the scores of a model, which may be left out when there is only one, and return its counts.

        Each call ranks anew. With `by`, of each segment, fold or repeat: a `rocscope.segments.SegmentedCounts`.

        Raises
        ------
        ColumnError
            If there is no such model, or several and none was named.
        """
        if by is not None:
            return reach("segments").count_by(self, self._model(model), by)
        return ThresholdCounts.from_checked(self.y_true, self.scores[self._model(model)], self.sample_weight)

    def point(self, model: str | None = None, *, threshold: float | None = None) -> OperatingPoint:
        """Return the confusion matrix of a model: of its own decisions, or at a threshold.

        Raises
        ------
        ColumnError
            If there is no such model, several and none was named, or it brought no decisions and no threshold is given.
        """
        name = self._model(model)
        if threshold is not None:
            return self.counts(name).at(threshold)
        if name not in self.decisions:
            hint = "ask for a threshold, or pass decisions= to Predictions"
            raise ColumnError(f"decisions of {name!r}", expected="its own labels", got="scores only", hint=hint)
        positive = self.decisions[name]
        cells = ((positive, self.y_true), (positive, ~self.y_true), (~positive, self.y_true), (~positive, ~self.y_true))
        return OperatingPoint(*(self._total(decided & actual) for decided, actual in cells))

    def _model(self, model: str | None) -> str:
        return model_name(self.models, model)

    def _one_model(self, decisions: Any) -> list[str]:
        if len(self.models) > 1 and not isinstance(decisions, Mapping):
            raise InputError("decisions", expected="a mapping from model to labels", got="labels of no model named")
        return self.models

    def _take(self, rows: Any, models: Sequence[str]) -> "Predictions":
        scores = {name: self.scores[name][rows] for name in models}
        own = {name: self.decisions[name][rows] for name in models if name in self.decisions}
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Predictions(self.y_true[rows], scores, decisions=own, columns=columns, **self.row_columns(rows))

    def __repr__(self) -> str:
        totals = ", ".join(f"{name}={number(getattr(self, name))}" for name in ("n", "n_pos", "n_neg"))
        return f"Predictions({totals}, models={self.models})"

    def _repr_html_(self) -> str:
        return html_table(self._facts().items())

    def _facts(self) -> dict[str, str]:
        facts = {
            "rows": number(len(self)),
            "positives": number(self.n_pos),
            "negatives": number(self.n_neg),
            "models": ", ".join(self.models),
        }
        if self.decisions:
            facts |= {"decide themselves": ", ".join(self.decisions)}
        if self.n_groups is not None:
            facts |= {"groups": number(self.n_groups)}
        if self.source is not None:
            facts |= {"source": self.source.name, "rows dropped": number(self.source.rows_dropped)}
        return facts


def with_groups(predictions: Predictions, groups: Any) -> Predictions:
    """Return predictions with other groups; None keeps them, False removes them."""
    if groups is None:
        return predictions
    columns: dict[str, Any] = predictions.row_columns() | {"groups": None if groups is False else groups}
    given = {"decisions": predictions.decisions, "columns": predictions.columns}
    return Predictions(predictions.y_true, predictions.scores, **given, **columns)


def _decided(labels: Any, y_true: Any, pos_label: Any, name: str) -> NDArray[np.bool_]:
    """Return a boolean array of decisions; their labels must be among those of the rows."""
    actual = check.check_column(y_true, "y_true")
    own = check.check_column(labels, name, actual.size)
    if pos_label is None and own.dtype == actual.dtype == np.bool_:
        return own
    rows = [*range(actual.size)] * 2
    return check.check_labels(np.concatenate([actual, own]), pos_label, name, rows)[actual.size :]


def _score_columns(scores: Any) -> dict[str, Any]:
    """Return scores by model name from an array, a mapping or any data frame."""
    given = check.frame_columns(scores) if check.is_frame(scores) else check.by_name(scores, ("score",))
    named = {str(name): column for name, column in given.items()}
    if len(named) < len(given):
        raise InputError("scores", expected="a different name for each model", got="names that are equal as text")
    return named
