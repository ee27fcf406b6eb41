"""Curves of several models: by name, and in one figure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, frame_of, jsonable
from rocscope.curves.curve import Curve
from rocscope.sample import counts_of, samples_of


class Curves(Mapping[str, Curve], Result):
    """The curves of several models, each under the name of its model.

    Examples
    --------
    >>> from rocscope import Predictions, cost_curve
    >>> curves = cost_curve(Predictions([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 2, 3, 1]}))
    >>> curves
    Curves(a=CostCurve(area=0.125, n_pos=2, n_neg=2), b=CostCurve(area=0, n_pos=2, n_neg=2))
    >>> curves["a"].at(0.5)
    0.25
    """

    def __init__(self, curves: Mapping[str, Curve]) -> None:
        self._curves = dict(curves)

    def __getitem__(self, model: str) -> Any:
        return self._curves[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw all curves with matplotlib in one figure, each named in the legend; return its Axes."""
        for model, curve in self._curves.items():
            ax = curve.plot(ax, label=model, **line)
        return ax

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points of all curves as one data frame, with the column "model"."""
        columns = {model: curve.columns() for model, curve in self._curves.items()}
        names = next(iter(columns.values()))
        joined = {name: np.concatenate([each[name] for each in columns.values()]) for name in names}
        model = np.repeat(list(columns), [each["threshold"].size for each in columns.values()])
        return frame_of({"model": model} | joined, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all curves, safe for JSON."""
        return jsonable(self._curves)

    def __repr__(self) -> str:
        return f"Curves({', '.join(f'{model}={curve!r}' for model, curve in self._curves.items())})"


def of_one_or_several(
    make: Callable[[str | None, ThresholdCounts], Curve],
    y_true: Any,
    y_score: Any,
    *,
    model: str | None,
    pos_label: Any,
    sample_weight: Any,
) -> Any:
    """Return the curve of one model, or `Curves` of data that hold several of which none is named."""
    named = model is not None or y_score is not None or sample_weight is not None
    names = y_true.models if isinstance(y_true, Predictions) else y_true if isinstance(y_true, Mapping) else ()
    if named or len(names) < 2:
        return make(model, counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight))
    counts = samples_of(y_true, pos_label=pos_label).counts()
    return Curves({name: make(name, each) for name, each in counts.items()})
