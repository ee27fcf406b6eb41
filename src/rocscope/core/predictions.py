"""Predictions: labels and the scores of one or more models, row by row.

`Rows` is the base of `Predictions` and `MulticlassPredictions`: weights, folds, groups, segments and selection.
`Provenance` holds the source of rows and the number of rows dropped. `CountedModels` holds the counts of each model and
their `Provenance`.

Most functions accept every kind of rows. `REFUSED` lists the other functions, the kinds that they do not accept, and
the calls to use instead. Functions check their rows with `require_kinds`. The kinds of rows:

- repeats: a case has several rows, as after repeated cross-validation.
- groups: rows of the same group, such as rows of one patient, are not independent.
- sampling: the weight of a row is the number of cases of a population that the row represents.
- estimated: weights were estimated, to correct for censoring, partial verification or unequal treatment.
- expected: each case is one positive and one negative row, weighted by the class probabilities (`rocscope.expected`).
- money: a row is labelled positive if acting on it brings a gain. Its weight is the amount at stake (`in_money`).
- priced: labels are the same as for money. Each row counts as one case, and the gain is in a column
  (`Experiment.priced`).
- frequency: the weight of a row is the number of equal rows that the row represents.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, cast, overload

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.grouping import Parts, parts
from rocscope._base.public_names import reach
from rocscope.core.counts import CumulativeCounts, OperatingPoint, ThresholdCounts
from rocscope.core.result import Answering, Result, html_table, number
from rocscope.errors import ColumnError, InputError, ShapeError, WeightError, brief, warn


@dataclass(frozen=True, repr=False)
class Provenance(Result):
    """Source of predictions: names of files, the row filter, and the numbers of rows read and dropped.

    Parameters
    ----------
    origin : tuple of str
        Names of the files read, or the type of the table, such as "pandas DataFrame".
    rows_read : int
        Number of rows in the source that satisfy `where`.
    rows_dropped : int
        Number of rows that were dropped because a value was missing or infinite.
    where : str or None
        Row filter as an SQL condition.
    doubt : str
        Reason why intervals of costs are not reliable for rows from this source. Empty if the intervals are reliable.
    horizon : float or None
        For follow-up data, the time by which the event is predicted.

    Examples
    --------
    >>> Provenance(("scores.csv",), rows_read=100, rows_dropped=3, where="region = 'EU'")
    Provenance(scores.csv, where "region = 'EU'", rows_read=100, rows_dropped=3)
    """

    origin: tuple[str, ...]
    rows_read: int
    rows_dropped: int = 0
    where: str | None = None
    doubt: str = ""
    horizon: float | None = None
    folds = 1
    """Number of cross-validation folds; 1 if the models were not cross-validated here."""

    @property
    def name(self) -> str:
        """Name of the first file, and the number of further files."""
        return brief(self.origin)

    def __repr__(self) -> str:
        condition = "" if self.where is None else f", where {self.where!r}"
        return f"Provenance({self.name}{condition}, rows_read={self.rows_read}, rows_dropped={self.rows_dropped})"


class CountedModels(dict[Any, Any]):
    """Dictionary with the ThresholdCounts of each model, or with one such dictionary for each segment.

    Attributes
    ----------
    source : Provenance or None
        Source of the rows, and the numbers of rows read and dropped.

    Examples
    --------
    >>> CountedModels({"a": 1}, Provenance(("scores.parquet",), rows_read=3)).source
    Provenance(scores.parquet, rows_read=3, rows_dropped=0)
    """

    def __init__(self, by_name: dict[Any, Any], source: Provenance | None = None) -> None:
        super().__init__(by_name)
        self.source = source


Weights = Literal["auto", "frequency", "sampling", "money", "priced"]
WEIGHTS = ("auto", "frequency", "sampling", "money", "priced")

# Rows of the longest table of counts. More rows are taken for cases, without a sort that would take longer than the
# intervals themselves.
_LONGEST_TABLE = 100_000


def is_table(weight: Array, positive: Array, *scores: Array) -> bool:
    """Return True if weighted rows are almost certainly a table of counts.

    The weight of a row of such a table is the number of cases with this label and these scores. The result is True if
    all weights are 0 or 1. It is also True if all weights are whole numbers, no two rows have the same label and
    scores, and at least half of the distinct scores occur with both labels. Rows that are single cases hardly ever have
    these properties.
    """
    if weight.dtype.kind == "f" and (weight % 1).any():
        return False
    if weight.max() <= 1:
        return True
    if positive.size > _LONGEST_TABLE:
        return False
    # Rows that share a score in all models share it in the first. Half of the scores with both labels are a third of
    # the rows, so that with fewer ties the sort by all columns, which takes several times as long, is not needed.
    first = np.sort(scores[0])
    if 3 * np.count_nonzero(first[1:] == first[:-1]) < positive.size:
        return False
    order = np.lexsort((positive, *scores))
    same_score = np.logical_and.reduce([score[order][1:] == score[order][:-1] for score in scores])
    same_label = positive[order][1:] == positive[order][:-1]
    if (same_score & same_label).any():
        return False
    # Rows are distinct, so that a score with both labels is one pair of neighbours, and takes two rows.
    with_both_labels = int(same_score.sum())
    distinct_scores = positive.size - with_both_labels
    return 2 * with_both_labels >= distinct_scores


class Rows(Result):
    """Base class of labelled rows, with optional weights, folds, repeats, segments and groups.

    Attributes
    ----------
    sample_weight, fold, repeat, segment, groups, row : array of n entries, or None
        Rows of the same patient or other group have the same label in `groups`. Rows of the same case have the same
        case number in `row`.
    weights : {"auto", "frequency", "sampling", "money", "priced"}
        Meaning of `sample_weight`; see `Predictions`.
    weighting : EstimatedWeights or None
        Method by which `sample_weight` was estimated; None if the weights were not estimated.
    source : Provenance or None
        Source of the rows.
    """

    weights: Weights
    sample_weight: Array | None
    fold: Array | None
    repeat: Array | None
    segment: Array | None
    groups: Array | None
    row: Array | None
    weighting: Any
    source: Provenance | None
    models: Any

    def _keep(
        self, n: int, sample_weight: Any, weights: Weights, source: Provenance | None, weighting: Any, **columns: Any
    ) -> None:
        """Check and store the columns."""
        check.check_choice("weights", weights, WEIGHTS)
        if not (weighting is None or hasattr(weighting, "estimate")):
            expected = "an EstimatedWeights from rocscope.outcomes, or None"
            raise InputError("weighting", expected=expected, got=check.shown(weighting))
        self.weights, self.weighting = weights, weighting
        weight = check.check_weights(sample_weight, n)
        own = weight if weighting is None else weighting.base
        if weights == "frequency" and own is not None and own.dtype.kind == "f" and (own % 1).any():
            hint = "if a row represents several cases of a population, use weights='sampling'"
            raise WeightError("weights='frequency'", expected="whole numbers", got="fractions", hint=hint)
        self.sample_weight = None if weight is None else check.read_only(weight)
        for name, column in columns.items():
            setattr(self, name, None if column is None else check.read_only(check.check_column(column, name, n)))
        if self.groups is not None:
            check.check_present(self.groups, "groups", InputError)
        self.source = source

    def row_columns(self, rows: Any = slice(None)) -> dict[str, Any]:
        """Return the given `rows` of all columns, and the source, as arguments of the constructor."""
        columns = {name: take(getattr(self, name), rows) for name in ("sample_weight", *_COLUMNS)}
        weighting = None if self.weighting is None else self.weighting.take(rows)
        return columns | {"weights": self.weights, "weighting": weighting, "source": self.source}

    def __len__(self) -> int:
        raise NotImplementedError

    def select(self, rows: Any = None, *, models: Sequence[str] | None = None) -> Self:
        """Return the rows for which a mask is True, with the scores of the named models.

        Parameters
        ----------
        rows : array of n booleans, optional
            True for the rows to select. By default, all rows.
        models : sequence of str, optional
            Names of the models to keep. By default, all models.

        Raises
        ------
        ShapeError
            If no row is selected, or the mask does not have one entry for each row.
        ColumnError
            If a model is unknown.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> Predictions([1, 0, 1], [3, 2, 1]).select([True, True, False])
        Predictions(n=2, n_pos=1, n_neg=1, models=['score'])
        """
        mask = slice(None) if rows is None else row_mask(rows, len(self))
        kept = self.models if models is None else [model_name(self.models, model) for model in models]
        return self._take(mask, kept)

    def _take(self, rows: Any, models: Sequence[str]) -> Self:
        """Return the rows given by a mask, a slice or indices, with the scores of the named models."""
        raise NotImplementedError

    @property
    def own_weight(self) -> Array | None:
        """Weights given by the user. An estimated weight is this weight times an estimated factor."""
        if self.weighting is None:
            return self.sample_weight
        base, index = self.weighting.base, self.weighting.index
        return base if base is None or index is None else base[index]

    @property
    def weight_kind(self) -> str:
        """Kind of the weights, such as "sampling"; "cases" if each row is one case."""
        if self.weights in ("money", "priced"):
            return "priced" if self.sample_weight is None else self.weights
        if self.weighting is not None:
            return self.weighting.kind
        if self.sample_weight is None:
            return "cases"
        return "sampling" if self.frequency is None else "frequency"

    @property
    def relative_weight(self) -> Array | None:
        """Weights of the rows. If only ratios of weights matter, the mean of the weights above 0 is scaled to 1."""
        weight = self.sample_weight
        if weight is None or self.frequency is not None:
            return weight
        return weight / weight[weight > 0].mean()

    @cached_property
    def frequency(self) -> Array | None:
        """Number of equal rows that each row represents; None if weights have another meaning."""
        weight = self.own_weight
        return weight if self.weights == "frequency" or (self.weights == "auto" and self._is_table) else None

    @property
    def _is_table(self) -> bool:
        """True if the weights look like the frequencies of a table of counts."""
        return False

    @cached_property
    def repeated(self) -> bool:
        """True if a case has several rows, as after repeated cross-validation. Rows of one case are not independent."""
        return self.row is not None and np.unique(self.row).size < self.row.size

    @cached_property
    def n_groups(self) -> int | None:
        """Number of groups; None if the rows have no groups."""
        return None if self.groups is None else len(check.distinct(self.groups))

    @property
    def grouped(self) -> bool:
        """True if a group has several rows. Rows of one group are not independent."""
        return self.groups is not None and self.n_groups != self.groups.size

    @property
    def dependent(self) -> bool:
        """True if several rows belong to the same group or case."""
        return self.grouped or self.repeated

    def by_segment(self) -> Parts[Self]:
        """Return a mapping from each segment to the rows of this segment.

        Rows are selected when a segment is looked up.

        Raises
        ------
        InputError
            If the segment column is missing.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> preds = Predictions([1, 0, 1, 0], [4, 3, 2, 1], segment=["n", "n", "s", "s"])
        >>> list(preds.by_segment()), preds.by_segment()["s"].scores["score"]
        (['n', 's'], array([2, 1]))
        """
        return self._by("segment")

    def by_fold(self) -> Parts[Self]:
        """Return a mapping from each fold to the rows of this fold. Folds of different repeats are distinct.

        Examples
        --------
        >>> from rocscope import Predictions
        >>> preds = Predictions([1, 0, 1, 0], [4, 3, 2, 1], fold=[0, 0, 1, 1])
        >>> preds.by_fold()[1].scores["score"]
        array([2, 1])
        """
        return self._by("fold")

    def by_repeat(self) -> Parts[Self]:
        """Return a mapping from each repeat to the rows of this repeat. Each case occurs once in a repeat.

        Examples
        --------
        Both repeats contain the cases "a" and "b":

        >>> from rocscope import Predictions
        >>> preds = Predictions([1, 0, 1, 0], [4, 3, 2, 1], row=["a", "b", "a", "b"], repeat=[0, 0, 1, 1])
        >>> preds.by_repeat()[1].scores["score"]
        array([2, 1])
        """
        return self._by("repeat")

    def _by(self, name: str) -> Parts[Self]:
        return parts(name, getattr(self, name), lambda rows: self._take(rows, self.models))


_COLUMNS = ("fold", "repeat", "segment", "groups", "row")


def independent_units(rows: Rows, groups: Any = None) -> Indices | None:
    """Return the index of each row's independent unit; None if all rows are independent.

    Each group is one unit. `groups` replaces the groups of the rows. If `groups` is False, or if there are no groups,
    each case is one unit. All rows of a case belong to the same unit, because repeats are not new data.

    Raises
    ------
    InputError
        If rows of the same case are in different groups.
    """
    groups = rows.groups if groups is None else groups
    case = check.check_groups(rows.row, "row", len(rows)) if rows.repeated else None
    if groups is None or groups is False:
        return case
    unit = check.check_groups(groups, "groups", len(rows))
    if case is not None:
        of_case = np.empty_like(unit)
        of_case[case] = unit
        if (parted := of_case[case] != unit).any():
            got = check.count_and_first(parted, "row", " whose case is also in another group")
            raise InputError("groups", expected="the same group in all rows of a case", got=got)
    return unit


def model_name(models: Sequence[str], model: Any) -> str:
    """Return the name of the model; `model` may be None if there is only one model."""
    if model is None and len(models) == 1:
        return models[0]
    if model is None:
        hint = f"name the model: model={models[0]!r}"
        raise ColumnError("model", expected=f"one of {list(models)}", got="no name", hint=hint)
    if not isinstance(model, str) or model not in models:
        raise ColumnError("model", expected=check.one_of(str(model), models), got=check.shown(model))
    return model


def row_mask(rows: Any, n: int) -> Array:
    """Return `rows` as a mask with `n` entries. At least one entry must be True."""
    mask = check.check_column(rows, "rows", n)
    if mask.dtype != np.bool_:
        raise ShapeError("rows", expected="a mask of True and False", got=f"values of type {mask.dtype}")
    if not mask.any():
        raise ShapeError("rows", expected="a mask that is True for at least one row", got="only False")
    return mask


def take(column: Array | None, mask: Any) -> Array | None:
    """Return the selected rows of an optional column."""
    return None if column is None else column[mask]


class Predictions(Rows, metaclass=Answering):
    """Labels and scores of the same rows, with their weights, folds, segments and groups.

    Parameters
    ----------
    y_true : array of n labels
        {0, 1}, {-1, 1} or {False, True}. Other labels need `pos_label`.
    scores : array of n scores, mapping from model name to array, or data frame with one column per model
        Scores of each model. An array is stored as one model named "score". Higher scores must indicate positives.
    pos_label : label, optional
        The positive label.
    sample_weight : array of n weights, optional
        Weight of each row, at least 0.
    weights : {"auto", "frequency", "sampling", "money", "priced"}
        Meaning of `sample_weight`:

        - "frequency": number of equal rows that the row represents, a whole number.
        - "sampling": number of cases of a population that the row represents. Only ratios of weights matter.
        - "money": amount at stake in the row; see `in_money`.
        - "priced": same as "sampling", for labels that state whether acting brings a gain; see `Experiment.priced`.
        - "auto": "frequency" if all weights are 0 or 1, or if the rows are a table of counts (whole weights, no two
          equal rows, most scores with both labels). Otherwise "sampling".

        The meaning changes intervals and tests. It does not change the values of metrics. If sampling weights of 1 to
        20 are treated as frequencies, 95% intervals contain the true value only 29 to 83% of the time.
    fold : array of n labels, optional
        Cross-validation fold of each row.
    segment : array of n labels, optional
        Segment of each row, such as a country. Rows with a missing segment form one segment named None.
    groups : array of n labels, optional
        Group of each row, such as a patient. Intervals, tests, bands and the bootstrap treat groups, not rows, as
        independent units.
    repeat : array of n labels, optional
        Repeat of the evaluation to which each row belongs.
    row : array of n labels, optional
        Case number of each row. If a case has several rows, intervals and tests treat cases, not rows, as independent
        units.
    decisions : array of n labels, or mapping from model name to array, optional
        Labels predicted by each model. They need not come from a threshold on the scores. Metrics and costs use these
        labels if no threshold is given.
    columns : mapping from name to array of n numbers, optional
        Further numeric columns, such as the amount at stake in each row. A `Context` can use the name of such a column
        as a cost.
    weighting : EstimatedWeights, optional
        Method by which `sample_weight` was estimated, set by `rocscope.outcomes`. Intervals and tests allow for the
        estimation.
    source : Provenance, optional
        Source of the rows, set by `rocscope.read`.

    Raises
    ------
    ShapeError, LabelError, ScoreError, WeightError
        If the columns have different lengths or contain invalid values.

    Notes
    -----
    Arrays that need no conversion are not copied, so do not modify these arrays afterwards.

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
        weights: Weights = "auto",
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
        others = {"sample_weight": sample_weight, "decisions": decisions, "columns": columns, **own_columns}
        check.check_same_index(y_true=y_true, scores=scores, **others)
        self.y_true = check.read_only(check.check_labels(y_true, pos_label, scores=scores))
        n = self.y_true.size
        models = _score_columns(scores)
        if not models:
            raise ShapeError("scores", expected="at least one model", got="no models")
        self.scores = {
            name: check.read_only(check.check_scores(column, n, f"scores[{name!r}]" if len(models) > 1 else name))
            for name, column in models.items()
        }
        if not isinstance(columns, Mapping | None):
            raise InputError("columns", expected="a mapping from names to arrays", got=check.shown(columns))
        self.columns = {
            str(name): check.read_only(check.check_numbers(column, f"columns[{name!r}]", n))
            for name, column in check.by_name(columns or {}, ()).items()
        }
        own = check.by_name(decisions, () if decisions is None else self._one_model(decisions))
        self.decisions = {
            self._model(str(name)): check.read_only(_decided(labels, y_true, pos_label, f"decisions[{name!r}]"))
            for name, labels in own.items()
        }
        self._keep(n, sample_weight, weights, source, weighting, **own_columns)

    @property
    def _is_table(self) -> bool:
        weight = self.own_weight
        return weight is not None and is_table(weight, self.y_true, *self.scores.values())

    @property
    def models(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Names of the models, in the order given."""
        return list(self.scores)

    @property
    def n_pos(self) -> float:
        """Number of positive rows, or the sum of their weights."""
        return self._total(self.y_true)

    @property
    def n_neg(self) -> float:
        """Number of negative rows, or the sum of their weights."""
        return self._total(~self.y_true)

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.n_pos + self.n_neg

    @property
    def prevalence(self) -> float:
        """Share of positives among all rows."""
        return self.n_pos / self.n

    def _total(self, rows: Booleans) -> float:
        return int(rows.sum()) if self.sample_weight is None else self.sample_weight[rows].sum().item()

    def __len__(self) -> int:
        return self.y_true.size

    @overload
    def counts(self, model: str | None = None) -> ThresholdCounts: ...
    @overload
    def counts(self, model: str | None = None, *, by: Literal["segment", "fold", "repeat"]) -> Any: ...
    def counts(self, model: str | None = None, *, by: str | None = None) -> Any:
        """Count the positives and negatives at each distinct score of a model.

        Each call sorts the scores again.

        Parameters
        ----------
        model : str, optional
            Name of the model. It may be omitted if there is only one model.
        by : {"segment", "fold", "repeat"}, optional
            Count the positives and negatives separately in each segment, fold or repeat.

        Returns
        -------
        ThresholdCounts or SegmentedCounts
            SegmentedCounts if `by` is given.

        Raises
        ------
        ColumnError
            If the model is unknown, or if several models exist and none is named.

        Examples
        --------
        >>> preds = Predictions([1, 0, 1], {"a": [0.9, 0.5, 0.5], "b": [0.2, 0.1, 0.3]})
        >>> preds.counts("a").pos, preds.counts("a").neg
        (array([1, 1]), array([0, 1]))
        """
        if by is not None:
            return reach("by_segment").count_by(self, self._model(model), by)
        counts = ThresholdCounts.from_checked(self.y_true, self.scores[self._model(model)], self.sample_weight)
        return counts.as_sums(self.weight_kind, self.dependent)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with the labels (1 or 0), the scores of each model, and all other columns.

        The column ``MODEL_decision`` contains the labels predicted by a model.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Raises
        ------
        InputError
            If two columns would have the same name, for example if there are folds and a model named "fold".

        Examples
        --------
        >>> Predictions([1, 0], {"a": [0.9, 0.5]}, segment=["x", "y"]).to_frame()
           y_true    a segment
        0       1  0.9       x
        1       0  0.5       y
        """
        rows = {name: getattr(self, name) for name in ("sample_weight", *_COLUMNS)}
        rows = {name: column for name, column in rows.items() if column is not None}
        decisions = {f"{model}_decision": decided.astype(np.int64) for model, decided in self.decisions.items()}
        parts = ({"y_true": self.y_true.astype(np.int64)}, self.scores, rows, decisions, self.columns)
        table: dict[str, Any] = {}
        for part in parts:
            if repeated := table.keys() & part:
                got = f"two columns named {min(repeated)!r}"
                raise InputError("to_frame", expected="columns with different names", got=got)
            table |= part
        return check.frame_of(table, backend)

    def point(self, model: str | None = None, *, threshold: float | None = None) -> OperatingPoint:
        """Return the confusion matrix of a model at a threshold, or of the labels that the model predicted.

        Parameters
        ----------
        model : str, optional
            Name of the model. It may be omitted if there is only one model.
        threshold : float, optional
            Predict positive if the score is at least this number. By default, use `decisions`.

        Raises
        ------
        ColumnError
            If the model is unknown, if there are several models and none is named, or if neither a threshold nor
            decisions of the model are given.

        Examples
        --------
        >>> preds = Predictions([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], decisions=[1, 0, 0, 0])
        >>> preds.point(threshold=0.5)
        OperatingPoint(tp=1, fp=1, fn=1, tn=1, threshold=0.5)
        >>> preds.point()
        OperatingPoint(tp=1, fp=0, fn=1, tn=2)
        """
        name = self._model(model)
        if threshold is not None:
            return self.counts(name).at(threshold)
        if name not in self.decisions:
            hint = "pass threshold=, or pass decisions= to Predictions"
            raise ColumnError(f"decisions of {name!r}", expected="predicted labels", got="only scores", hint=hint)
        positive = self.decisions[name]
        cells = ((positive, self.y_true), (positive, ~self.y_true), (~positive, self.y_true), (~positive, ~self.y_true))
        totals = (self._total(decided & actual) for decided, actual in cells)
        return OperatingPoint(*totals, weights=self.weight_kind, dependent=self.dependent)

    def _model(self, model: str | None) -> str:
        return model_name(self.models, model)

    def _one_model(self, decisions: Any) -> list[str]:
        if len(self.models) > 1 and not isinstance(decisions, Mapping):
            expected = "a mapping from model name to labels, because there are several models"
            raise InputError("decisions", expected=expected, got=check.shown(decisions))
        return self.models

    def _take(self, rows: Any, models: Sequence[str]) -> "Predictions":
        scores = {name: self.scores[name][rows] for name in models}
        own = {name: self.decisions[name][rows] for name in models if name in self.decisions}
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Predictions(self.y_true[rows], scores, decisions=own, columns=columns, **self.row_columns(rows))

    def __repr__(self) -> str:
        totals = ", ".join(f"{name}={number(getattr(self, name))}" for name in ("n", "n_pos", "n_neg"))
        weights = f", {self.weights} weights" if self.weights != "auto" else ""
        return f"Predictions({totals}, models={self.models}{weights})"

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
        if self.weights != "auto":
            facts |= {"weights": self.weights}
        if self.n_groups is not None:
            facts |= {"groups": number(self.n_groups)}
        if self.source is not None:
            facts |= {"source": self.source.name, "rows dropped": number(self.source.rows_dropped)}
        return facts


def with_groups(predictions: Predictions, groups: Any) -> Predictions:
    """Return predictions with the given groups. None keeps the groups of the predictions, and False removes them."""
    if groups is None:
        return predictions
    columns: dict[str, Any] = predictions.row_columns() | {"groups": None if groups is False else groups}
    given = {"decisions": predictions.decisions, "columns": predictions.columns}
    return Predictions(predictions.y_true, predictions.scores, **given, **columns)


def _decided(labels: Any, y_true: Any, pos_label: Any, name: str) -> Booleans:
    """Return predicted labels as booleans. Every predicted label must occur in `y_true`."""
    actual = check.check_column(y_true, "y_true")
    own = check.check_column(labels, name, actual.size)
    if pos_label is None and own.dtype == actual.dtype == np.bool_:
        return own
    rows = [*range(actual.size)] * 2
    return check.check_labels(np.concatenate([actual, own]), pos_label, name, rows)[actual.size :]


def _score_columns(scores: Any) -> dict[str, Any]:
    """Return a mapping from model name to scores, given an array, a mapping or a data frame."""
    given = check.frame_columns(scores) if check.is_frame(scores) else check.by_name(scores, ("score",))
    named = {str(name): column for name, column in given.items()}
    if len(named) < len(given):
        raise InputError("scores", expected="models whose names differ as text", got=check.shown(list(given)))
    return named


# Kinds of rows, and the functions that do not take them

EXPECTED = {
    "repeats": ("one row per case", "several rows per case (repeated evaluation)"),
    "groups": ("independent rows", "rows in groups"),
    "sampling": ("rows of equal weight", "sampling weights"),
    "frequency": ("rows of equal weight", "frequency weights"),
    "estimated": ("rows of equal weight", "estimated weights"),
    "expected": ("observed labels", "probabilities of the labels (from rs.expected)"),
    "money": ("weights that are numbers of cases", "weights that are amounts of money"),
    "priced": ("labels that state who responds", "labels that state whether acting brings a gain"),
    "sums": ("numbers of cases", "sums of weights, which do not show the number of cases"),
}
"""Texts for "expected" and "got" in the error of a function that does not accept a kind of rows."""

_TRIAL = "call trial.plan(campaign), where trial is the experiment"
_CASES = {"money": "pass the amounts as a column: call rs.choose(*trial.priced()), or use Context(cost_fn='amount')"}
_CAMPAIGN = {"money": _TRIAL, "priced": _TRIAL}
_ONE_ROW_A_CASE = {"repeats": "pass one repeat: predictions.by_repeat()[0]"}
_INDEPENDENT = dict.fromkeys(
    ("repeats", "groups"), "omit the confidence level; or omit the groups, if the rows are independent"
)
_ESTIMATED = {"estimated": "use val_prob(…).u_p or spiegelhalter_test, which account for estimated weights"}
_ALIKE = ("sampling", "estimated", "money")
_SUMS = (*_ALIKE, "expected")
_PAIRED_COSTS = dict.fromkeys(_ALIKE, "use rs.inference.compare_costs, which accepts weights")
_EXCHANGED = dict.fromkeys(("frequency", *_ALIKE), "use rs.compare, which accepts weights")
_CLOSED_FORMS = {"expected": "call rocscope.inference.estimate_of, which includes the uncertainty of the reference"}
_LABELLED = {"expected": "wait for the labels, or use the labelled reference data"}
_ROWS_OF_WEIGHTS = {"sums": "pass the rows instead: Predictions(…, sample_weight=…)"}
_BOOTSTRAP = "call rocscope.bootstrap with the rows: Predictions(…, sample_weight=…)"

# Expected cases are calibrated as the reference is that gave their probabilities. Tests need actual labels.
_TESTS_OF_LABELS = ("Cox calibration", "recalibration", "Wilcoxon–Mann–Whitney test")
_TESTS_OF_CALIBRATION = ("calibration report", "val.prob", "Spiegelhalter's test")

# Labels are drawn from the probabilities with a variance that does not depend on their weight. Weights for censoring
# increase the variance.
_TESTS_BY_DRAWS = ("the test of calibration", "Hosmer–Lemeshow test")

REFUSED: dict[str, dict[str, str]] = {
    "summary": _ONE_ROW_A_CASE | _CASES | _ROWS_OF_WEIGHTS,
    **dict.fromkeys(("gain", "lift", "cases and depth"), _CASES),
    "pilot": _ONE_ROW_A_CASE | _CASES,
    "in_money": {"frequency": "repeat the rows instead, or pass the context to rs.choose"},
    **dict.fromkeys(("plan_campaign", "choose for a Campaign", "allocate", "profit"), _CAMPAIGN),
    **dict.fromkeys(("the paired permutation test", "the permutation test"), _ONE_ROW_A_CASE | _EXCHANGED | _LABELLED),
    "a table of thresholds": _ONE_ROW_A_CASE | _CASES | _CLOSED_FORMS,
    "bootstrap": _CLOSED_FORMS,
    "a constraint with a level": _INDEPENDENT | _CASES | _LABELLED,
    "drift": _ONE_ROW_A_CASE | _LABELLED,
    "McNemar's test": _ONE_ROW_A_CASE | _LABELLED | _PAIRED_COSTS,
    "rates of a point": {"sums": _BOOTSTRAP},
    "an interval from counts": {},
    "prevalence from labelled rows": _ONE_ROW_A_CASE | dict.fromkeys((*_ALIKE, "sums"), _BOOTSTRAP),
    **dict.fromkeys(_TESTS_OF_LABELS, _ONE_ROW_A_CASE | _LABELLED),
    **dict.fromkeys(_TESTS_OF_CALIBRATION, _ONE_ROW_A_CASE | _LABELLED | _ROWS_OF_WEIGHTS),
    **dict.fromkeys(_TESTS_BY_DRAWS, _ONE_ROW_A_CASE | _LABELLED | _ROWS_OF_WEIGHTS | _ESTIMATED),
    **dict.fromkeys(("a band of calibration", "an estimate from counts"), _ROWS_OF_WEIGHTS),
}
"""Kinds of rows that each function does not accept, and the calls to use instead. All others refuse only repeats."""

KNOWS_NO_GROUPS = frozenset(
    (
        "the permutation test",
        "drift",
        "a table of thresholds",
        "pilot",
        "prevalence from labelled rows",
        *("an interval from counts", "an estimate from counts", "rates of a point"),
    )
)
"""Functions that treat rows of the same group as independent. They warn and mark their results as not reliable."""


def kinds_of(data: Any, asked: Iterable[str] = tuple(EXPECTED)) -> set[str]:
    """Return the kinds of the given rows or counts; `data` may be a mapping from names to rows or counts.

    Only the kinds in `asked` are checked, because repeats and groups are found by sorting the rows.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> rows = Predictions([1, 0, 1], [3, 2, 1], sample_weight=[1, 2.5, 1], groups=["x", "x", "y"])
    >>> sorted(kinds_of(rows)), sorted(kinds_of(rows.counts()))
    (['groups', 'sampling'], ['groups', 'sampling', 'sums'])
    """
    if isinstance(data, Mapping) and not isinstance(data, Rows | CumulativeCounts):
        return set[str]().union(*(kinds_of(part, asked) for part in cast(Mapping[Any, Any], data).values()))
    if not isinstance(data, Rows):
        # Counts, points and counts by segment are sums of weights, unless each weight is a number of cases.
        kind = getattr(data, "weights", "cases")
        kinds = {kind} if isinstance(kind, str) else set[str]()
        if kinds & {*_SUMS}:
            kinds.add("sums")
        if getattr(data, "dependent", False):
            kinds.add("groups")
        return kinds.intersection(asked)
    return {kind for kind in asked if _are_of_kind(data, kind)}


def _are_of_kind(rows: Rows, kind: str) -> bool:
    if kind == "repeats":
        return rows.repeated
    if kind == "groups":
        return rows.grouped
    return rows.weight_kind == kind


def require_kinds(function: str, *data: Any) -> str:
    """Raise an error if a function does not accept the kinds of the data; warn if the function ignores their groups.

    Returns
    -------
    str
        Reason why the result is not reliable. Empty if the result is reliable.

    Raises
    ------
    InputError
        If the function does not accept a kind of the data. The message names the call to use instead.
    """
    refused = REFUSED.get(function, _ONE_ROW_A_CASE)
    asked = [*refused, "groups"] if function in KNOWS_NO_GROUPS else refused
    kinds = set[str]().union(*(kinds_of(part, asked) for part in data))
    for kind, answer in refused.items():
        if kind in kinds:
            expected, got = EXPECTED[kind]
            raise InputError(function, expected=expected, got=got, hint=answer)
    if "groups" not in kinds or function not in KNOWS_NO_GROUPS:
        return ""
    warn(f"{function} ignores groups and treats all rows as independent, so its interval is too narrow")
    return "rows of a group or case are treated as independent"
