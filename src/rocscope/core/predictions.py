"""Predictions: labels and the scores of one or more models, row by row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.core.counts import ThresholdCounts
from rocscope.core.provenance import Provenance
from rocscope.core.result import html_table, number
from rocscope.core.rows import Rows, model_name, row_mask
from rocscope.errors import InputError, ShapeError


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
        The cross-validation fold, and the part to be shown by itself, that a row belongs to.
    groups : array of n labels, optional
        Rows that belong together, such as those of one patient: intervals, tests, bands and the bootstrap then count
        groups, unless they are told otherwise.
    repeat, row : array of n labels, optional
        The repeat of the evaluation, and the case that a row is of, such as its place in the data: equal wherever one
        case occurs. Where cases occur more than once, intervals and tests count cases.
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
        source: Provenance | None = None,
    ) -> None:
        self.y_true = check.read_only(check.check_labels(y_true, pos_label))
        n = self.y_true.size
        columns = _score_columns(scores)
        if not columns:
            raise ShapeError("scores", expected="at least one model", got="none")
        self.scores = {
            name: check.read_only(check.check_scores(column, n, f"scores[{name!r}]" if len(columns) > 1 else name))
            for name, column in columns.items()
        }
        self._keep(n, sample_weight, source, fold=fold, repeat=repeat, segment=segment, groups=groups, row=row)

    @property
    def models(self) -> list[str]:
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

    def counts(self, model: str | None = None) -> ThresholdCounts:
        """Rank the scores of a model, which may be left out when there is only one, and return its counts.

        Each call ranks anew, so that memory is the caller's to keep or to free.

        Raises
        ------
        ColumnError
            If there is no such model, or several and none was named.
        """
        return ThresholdCounts.from_checked(self.y_true, self.scores[self._model(model)], self.sample_weight)

    def _model(self, model: str | None) -> str:
        return model_name(self.models, model)

    def select(self, rows: Any = None, *, models: Sequence[str] | None = None) -> "Predictions":
        """Return the rows where a mask is true, of the models named; everything when both are left out.

        Raises
        ------
        ShapeError
            If no row is selected, or the mask does not have an entry a row.
        ColumnError
            If a model is not there.

        Examples
        --------
        >>> Predictions([1, 0, 1], [3, 2, 1]).select([True, True, False])
        Predictions(n=2, n_pos=1, n_neg=1, models=['score'])
        """
        mask = slice(None) if rows is None else row_mask(rows, len(self))
        chosen = self.models if models is None else [self._model(name) for name in models]
        scores = {name: self.scores[name][mask] for name in chosen}
        return Predictions(self.y_true[mask], scores, **self.row_columns(mask))

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
        if self.n_groups is not None:
            facts |= {"groups": number(self.n_groups)}
        if self.source is not None:
            facts |= {"source": self.source.name, "rows dropped": number(self.source.rows_dropped)}
        return facts


def _score_columns(scores: Any) -> dict[str, Any]:
    """Return scores by model name from an array, a mapping or any data frame."""
    if check.is_frame(scores):
        import narwhals as nw

        frame = nw.from_native(scores, eager_only=True)
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    given = check.by_name(scores, ("score",))
    named = {str(name): column for name, column in given.items()}
    if len(named) < len(given):
        raise InputError("scores", expected="a different name for each model", got="names that are equal as text")
    return named
