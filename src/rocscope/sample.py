"""Convert the data arguments of public functions: labels and scores, counts, segments, and several models.

Functions of one model accept these types as ``y_true``:

- Labels, with scores as ``y_score``. Both are arrays of n entries, such as lists or columns of data frames. Labels are
  {0, 1}, {-1, 1} or {False, True}, or two values of any kind with ``pos_label``. High scores indicate positives.
  ``sample_weight`` is an array of n weights ≥ 0. Some functions require that scores are probabilities. Tensors of
  PyTorch and CuPy are accepted, also with gradients. bfloat16 is converted to float32 without loss.
- `Predictions`: labels and scores, with optional folds, segments and several models.
- `ThresholdCounts`: numbers of positives and negatives at each distinct score.
- `BinnedCounts` and `CountsSketch`: numbers of positives and negatives in ranges of the score. If the result depends on
  the scores within a range, an InexactCountsError states bounds of the result.
- `OperatingPoint`, or `ConfusionMatrix` of two classes: a classifier without scores. Its predictions are used as the
  scores 1 and 0.
- `SegmentedCounts`: numbers of positives and negatives by segment. Most functions pool the segments.
- A mapping from model name to any of these types.

If the data have several models, ``model`` is the name of one of them. A model without a name is called "score".

Functions of several models accept the same types. With labels, ``y_score`` can also be a mapping from model name to
scores. The context is the third argument after labels and scores, and the second argument after all other types:
``choose(y, scores, context)``, ``choose(predictions, context)``.

The result of ``preds.by_segment()`` is not accepted, because segments are not models. Functions that need rows do not
accept counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, Protocol

from rocscope._base.arrays import library_of
from rocscope._base.grouping import SEGMENTS, ByName, Parts
from rocscope.core import CumulativeCounts, OperatingPoint, Predictions, ThresholdCounts, model_name
from rocscope.errors import InputError
from rocscope.ranges import BinnedCounts, CountsSketch


class HardClassifier(Protocol):
    """Type of a classifier without scores, such as a `ConfusionMatrix` of two classes."""

    def as_point(self, pos_label: Any = None) -> OperatingPoint:
        """Return the counts of the confusion matrix as an OperatingPoint."""
        ...


class BySegment(ByName[CumulativeCounts]):
    """Base class of `rocscope.segments.SegmentedCounts`: the counts of one model by segment."""

    def pooled(self) -> ThresholdCounts:
        """Return the counts of all segments together."""
        raise NotImplementedError


Counted = CumulativeCounts | CountsSketch | OperatingPoint | HardClassifier | BySegment
Models = Predictions | Counted | Mapping[str, Predictions | Counted]


class SupportsArray(Protocol):
    """Type of objects that NumPy can convert to an array, such as series and tensors."""

    def __array__(self, *arguments: Any) -> Any: ...


Labels = Sequence[Any] | SupportsArray
Scores = Sequence[Any] | SupportsArray | Mapping[str, Any]

ANYTHING = "Predictions, counts (such as ThresholdCounts) or a mapping from model name to them"
NAMELESS = "score"
_ALONE = f"pass y_score, or pass one of these as y_true: {ANYTHING}"
_TABLE = "for a data frame use rs.read(data, label=..., scores=[...]), and pass its result"
_LABELS_FIRST = "pass the labels first, then the scores by model: (y_true, {'a': scores, 'b': scores})"
_OF_MODEL = "for a fitted model use rs.evaluation.from_estimator(model, X, y), and pass its result"
_KINDS = (CumulativeCounts, Predictions, OperatingPoint, CountsSketch, Mapping, BySegment)


@dataclass(frozen=True, eq=False)
class Sample:
    """Data of one model, converted from any accepted type.

    Attributes
    ----------
    name : str
        Name of the model.
    kind : str
        Type of the original data, for error messages.
    """

    name: str
    kind: str
    _source: Predictions | CumulativeCounts | BySegment
    _model: str | None = None

    @cached_property
    def rows(self) -> Predictions | None:
        """Predictions of this model; None if the data are counts."""
        if not isinstance(self._source, Predictions):
            return None
        return self._source if len(self._source.models) == 1 else self._source.select(models=[self._model or self.name])

    @property
    def data(self) -> Predictions | CumulativeCounts:
        """Predictions of this model if available, and otherwise its counts."""
        return self.points if self.rows is None else self.rows

    @property
    def points(self) -> CumulativeCounts:
        """Counts at each distinct score, or at the ends of score ranges for binned counts."""
        known = vars(self)  # not `cached_property`: before Python 3.12 models that are ranked at once wait for its lock
        if "_points" not in known:
            source = self._source
            if isinstance(source, Predictions):
                source = source.counts(self._model)
            known["_points"] = source.pooled() if isinstance(source, BySegment) else source
        return known["_points"]

    @property
    def counts(self) -> ThresholdCounts:
        """Numbers of positives and negatives at each distinct score.

        Raises
        ------
        InexactCountsError
            If the data are counts in score ranges.
        """
        return self.points.require_levels(_levels_of(self.name))

    @property
    def bins(self) -> BinnedCounts:
        """Counts in score ranges. If the counts of each distinct score are known, each range has a single score."""
        return self.points if isinstance(self.points, BinnedCounts) else BinnedCounts.from_counts(self.counts)

    def require_rows(self, what: str, error: type[InputError] = InputError) -> Predictions:
        """Return the predictions; raise an InputError if the data are counts."""
        return self.rows if self.rows is not None else _refuse_counts(what, self, error)

    @property
    def segmented(self) -> bool:
        """True if the original data are SegmentedCounts."""
        return isinstance(self._source, BySegment)


class Samples(dict[str, Sample]):
    """Data of one or more models; a dict from model name to Sample.

    Attributes
    ----------
    rows : Predictions or None
        Predictions of all models; None if the models may have different rows.
    kind : str
        Type of the original data, for error messages.
    """

    def __init__(self, samples: Mapping[str, Sample], rows: Predictions | None, kind: str) -> None:
        super().__init__(samples)
        self.rows, self.kind = rows, kind

    def one(self, model: str | None) -> Sample:
        """Return the data of the model with this name; None means the only model."""
        return self[model_name(list(self), model)]

    @property
    def segmented(self) -> bool:
        """True if the original data of any model are SegmentedCounts."""
        return any(sample.segmented for sample in self.values())

    @property
    def shared_rows(self) -> Predictions | None:
        """Predictions of all models for the same rows; None if the models have counts or different rows."""
        return self.one(None).rows if self.rows is None and len(self) == 1 else self.rows

    def points(self) -> dict[str, CumulativeCounts]:
        """Return the counts of each model, at distinct scores or at the ends of score ranges."""
        return {name: sample.points for name, sample in self.items()}

    def counts(self) -> dict[str, ThresholdCounts]:
        """Return the counts of each model at its distinct scores; raise an InexactCountsError for binned counts."""
        return {name: sample.counts for name, sample in self.items()}


def counts_of(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> ThresholdCounts:
    """Convert the data of one model to ThresholdCounts, the numbers of positives and negatives at each distinct score.

    Raises
    ------
    InputError
        If the data are invalid; see also `ThresholdCounts.from_scores`.
    ColumnError
        If there are several models and `model` is None. If no model has the name `model`.
    InexactCountsError
        If the data are counts in score ranges.

    Examples
    --------
    >>> counts_of(Predictions([1, 0, 1], {"a": [3, 2, 1], "b": [1, 2, 3]}), model="b").threshold
    array([3, 2, 1])
    >>> counts_of({"crisp": OperatingPoint(tp=3, fp=1, fn=2, tn=4)}).tp
    array([3, 5])
    """
    points = points_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    return points.require_levels(_levels_of(model or NAMELESS))


def points_of(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> CumulativeCounts:
    """Convert the data of one model to counts; binned counts are also accepted, unlike in `counts_of`.

    Examples
    --------
    >>> points_of(BinnedCounts([0.5, 0.1], [0.9, 0.4], pos=[3, 1], neg=[1, 3])).tp
    array([3, 4])
    """
    if _is_whole(y_true) or isinstance(y_score, Mapping):
        return sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight).points
    _require_scores(y_true, y_score, model)
    return ThresholdCounts.from_scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)


def sample_of(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> Sample:
    """Convert the data of one model to a Sample.

    Examples
    --------
    >>> sample_of([1, 0, 1], [3, 2, 1]).rows
    Predictions(n=3, n_pos=2, n_neg=1, models=['score'])
    >>> sample_of(OperatingPoint(tp=3, fp=1, fn=2, tn=4)).rows is None
    True
    """
    if isinstance(y_score, Mapping) and not _is_whole(y_true):  # of several models
        y_true = Predictions(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        y_score = pos_label = sample_weight = None
    if not _is_whole(y_true):
        _require_scores(y_true, y_score, model)
        rows = Predictions(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return Sample(NAMELESS, "labels and scores", rows, NAMELESS)
    _require_alone(y_true, y_score, pos_label, sample_weight)
    return samples_of(y_true, name="y_true", pos_label=pos_label).one(model)


def samples_of(models: Any, *, name: str = "models", pos_label: Any = None) -> Samples:
    """Convert the data of one or more models to Samples.

    Examples
    --------
    >>> samples = samples_of({"a": ThresholdCounts([2, 1], [1, 1], [0, 1]), "b": OperatingPoint(1, 0, 1, 1)})
    >>> {name: sample.counts.n for name, sample in samples.items()}, samples.rows
    ({'a': 3, 'b': 3}, None)
    """
    if isinstance(models, Samples):
        return models
    if isinstance(models, Predictions):
        samples = {model: Sample(model, "Predictions", models, model) for model in models.models}
        return Samples(samples, models, "Predictions of several models")
    if isinstance(models, Parts):  # what `by_segment()` returns is a mapping too, but of segments
        raise refusal(name, ANYTHING, models)
    if not isinstance(models, Mapping):
        return Samples({NAMELESS: _sample(NAMELESS, models, name, pos_label)}, None, kind_of(models))
    if not models:
        raise InputError(name, expected="at least one model", got="an empty mapping")
    samples = {str(key): _sample(str(key), data, f"{name}[{key!r}]", pos_label) for key, data in models.items()}
    if len(samples) < len(models):
        raise InputError(name, expected="models whose names differ as text", got=f"the names {list(models)}")
    return Samples(samples, None, "separate samples")


def with_scores(data: Any, y_score: Any = None, *, pos_label: Any = None, sample_weight: Any = None) -> Any:
    """Convert labels and scores to Predictions; return all other data unchanged.

    Examples
    --------
    >>> with_scores([1, 0, 1], {"a": [3, 2, 1]})
    Predictions(n=3, n_pos=2, n_neg=1, models=['a'])
    """
    if not _is_labels(data):
        _require_alone(data, y_score, pos_label, sample_weight)
        return data
    if y_score is None or _is_context(y_score):
        hint = "pass the context as the third argument: (y_true, y_score, context)"
        if hasattr(data, "columns"):
            hint = _TABLE
        elif y_score is None:
            hint = _ALONE
        got = "None" if y_score is None else kind_of(y_score)
        raise InputError("y_score", expected="scores as the second argument", got=got, hint=hint)
    return Predictions(data, y_score, pos_label=pos_label, sample_weight=sample_weight)


def with_context(
    data: Any, y_score: Any, context: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> tuple[Any, Any]:
    """Return the data as in `with_scores`, and the context.

    If the data are not labels, the context may be passed as `y_score`.

    Examples
    --------
    >>> with_context(OperatingPoint(tp=3, fp=1, fn=2, tn=4), "context", None)[1]
    'context'
    """
    if context is None and not _is_labels(data):
        y_score, context = None, y_score
    return with_scores(data, y_score, pos_label=pos_label, sample_weight=sample_weight), context


def rows_of(predictions: Any, *, name: str = "predictions") -> Predictions:
    """Return the predictions of all models for the same rows; raise an InputError if the data are counts.

    Examples
    --------
    >>> rows_of({"a": Predictions([1, 0, 1], [3, 2, 1])})
    Predictions(n=3, n_pos=2, n_neg=1, models=['score'])
    """
    samples = samples_of(predictions, name=name)
    return samples.shared_rows or _refuse_counts(name, samples)


def point_of(point: Any, *, name: str = "point") -> OperatingPoint:
    """Return the confusion matrix of a classifier without scores; raise an InputError for other data.

    Examples
    --------
    >>> point_of(OperatingPoint(tp=3, fp=1, fn=2, tn=4)).n
    10
    """
    if isinstance(point, OperatingPoint):
        return point
    if hasattr(point, "as_point"):
        return point.as_point()
    hint = "pass counts.at(threshold)"
    raise refusal(name, "an OperatingPoint, or a ConfusionMatrix of two classes", point, hint)


def refusal(name: str, expected: str, data: Any, hint: str = "", *, alone: bool = False) -> InputError:
    """Return the error for data of an unsupported type, with a hint on what to pass instead."""
    if is_segmented(data):
        hint = SEGMENTS
    elif hasattr(data, "binary"):
        hint = "call rs.multiclass.multiclass_auc(data), or pass one class against the rest: data.binary(label)"
    elif isinstance(getattr(data, "counts", None), CumulativeCounts):
        hint = "pass its .counts"
    got = f"only {kind_of(data)} as y_true" if alone else kind_of(data)
    return InputError(name, expected=expected, got=got, hint=hint)


def is_segmented(data: Any) -> bool:
    """Return True if the data are counts by segment, or a mapping with such counts."""
    parts: list[Any] = list(data.values()) if isinstance(data, Mapping) else []
    return isinstance(data, BySegment | Parts) or any(isinstance(part, BySegment) for part in parts)


def kind_of(data: Any) -> str:
    """Return the type of an object with an article, such as "a list", for error messages."""
    return "None" if data is None else with_article(type(data))


def with_article(kind: type) -> str:
    """Return the name of a type with an article, such as "an Estimate", for error messages."""
    return f"{'an' if kind.__name__[0] in 'AEIOUaeiou' else 'a'} {kind.__name__}"


def _refuse_counts(name: str, data: Sample | Samples, error: type[InputError] = InputError) -> NoReturn:
    hint = "pass Predictions, because counts do not contain single rows"
    raise error(name, expected="rows (Predictions)", got=data.kind, hint=SEGMENTS if data.segmented else hint)


def _sample(model: str, data: Any, name: str, pos_label: Any) -> Sample:
    kind = kind_of(data)
    if isinstance(data, Predictions):
        return Sample(model, kind, data, model_name(data.models, model if len(data.models) > 1 else None))
    if isinstance(data, CountsSketch):
        data = data.binned()
    if isinstance(data, CumulativeCounts):
        return Sample(model, kind, data.attained if data.holds_levels else data)
    if isinstance(data, OperatingPoint):
        data = ThresholdCounts.from_point(data)
    elif hasattr(data, "as_point"):
        data = ThresholdCounts.from_point(data.as_point(pos_label))
    if isinstance(data, ThresholdCounts | BySegment):
        return Sample(model, kind, data)
    if isinstance(data, Mapping):  # models of segments, as `read_sketch(segment=)` returns them
        raise InputError(name, expected=ANYTHING, got=kind, hint=SEGMENTS)
    raise refusal(name, ANYTHING, data, "for labels and scores, pass Predictions(y_true, y_score)")


def _is_whole(data: Any) -> bool:
    return isinstance(data, _KINDS) or hasattr(data, "as_point")


def _is_labels(data: Any) -> bool:
    if _is_whole(data):
        return False
    return isinstance(data, list | tuple) or hasattr(data, "__array__") or library_of(data) is not None


def _is_context(value: Any) -> bool:
    return hasattr(value, "cost_fp") or hasattr(value, "context")


def _require_scores(y_true: Any, y_score: Any, model: str | None) -> None:
    if hasattr(y_score, "predict"):
        raise InputError("y_score", expected="scores", got=kind_of(y_score), hint=_OF_MODEL)
    if y_score is None:
        hint = _TABLE if hasattr(y_true, "columns") else _ALONE
        hint = _OF_MODEL if hasattr(y_true, "predict") else hint
        raise refusal("y_score", "scores as the second argument", y_true, hint, alone=True)
    if model is not None:
        model_name([NAMELESS], model)


def _require_alone(counted: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> None:
    parts: list[Any] = list(counted.values()) if isinstance(counted, Mapping) else [counted]
    if pos_label is not None and any(hasattr(part, "as_point") for part in parts):
        pos_label = None
    rows = {"y_score": y_score, "pos_label": pos_label, "sample_weight": sample_weight}
    for name in (name for name, column in rows.items() if column is not None):
        holds_counts = not isinstance(counted, Mapping) or all(map(_is_whole, parts))
        hint = f"omit {name}" if holds_counts else _LABELS_FIRST
        if hasattr(counted, "predict") and not _is_whole(counted):
            hint = _OF_MODEL
        elif name == "y_score" and type(y_score) is type(counted):
            hint = _LABELS_FIRST
        expected = f"no {name} together with {type(counted).__name__}"
        raise InputError(name, expected=expected, got=kind_of(rows[name]), hint=hint)


def _levels_of(model: str) -> str:
    return "counts of every distinct score" + (f" of {model!r}" if model != NAMELESS else "")
