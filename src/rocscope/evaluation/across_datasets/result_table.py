"""One value per data set and model: what comparisons over data sets start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.rows import Rows
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError
from rocscope.evaluation.folds.fold_scores import fold_scores
from rocscope.evaluation.measures import Metric
from rocscope.sample import refusal

ROUNDING = 2.0**-44
"""Of the largest value: what is nearer is equal, as rounding of a difference touches the lowest of 52 bits."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A metric of m models on N data sets.

    Attributes
    ----------
    models : tuple of m names
    values : N × m array
    quantity : str
    sign : int
        −1 where a small value is good.
    """

    models: tuple[str, ...]
    values: Array
    quantity: str
    sign: int = 1


def result_table(results: Any, metric: Metric = "auc") -> ResultTable:
    """Return the table from arrays by model, a frame of a column a model, or predictions by data set.

    Raises
    ------
    InputError
        If there are fewer than two models or data sets.
    PairingError
        If models have different numbers of data sets, or data sets different models.
    ScoreError
        If a value is missing or infinite.
    """
    if check.is_frame(results):
        import narwhals as nw

        frame = nw.from_native(results, eager_only=True)
        results = {name: frame[name].to_numpy() for name in frame.columns}
    elif not hasattr(results, "items"):
        expected = "a mapping from model to values or from data set to Predictions, or a data frame"
        raise refusal("results", expected, results)
    if any(isinstance(value, Rows) for value in results.values()):
        table = _of_predictions(results, metric)
    else:
        table = _of_arrays(results)
    n, m = table.values.shape
    for what, number in (("models to compare", m), ("data sets", n)):
        if number < 2:
            raise InputError(what, expected="two or more", got=str(number))
    return ResultTable(table.models, check.read_only(table.values), table.quantity, table.sign)


def _of_arrays(results: Mapping[Any, Any]) -> ResultTable:
    columns = {str(name): np.asarray(values) for name, values in results.items()}
    if not columns:
        raise InputError("models to compare", expected="two or more", got="0")
    first = next(iter(columns))
    for name, values in columns.items():
        if values.ndim != 1:
            got = f"{values.ndim} dimensions"
            raise ShapeError(f"results[{name!r}]", expected="one value a data set", got=got, hint="average over folds")
        if values.size != columns[first].size:
            expected = f"{columns[first].size} values as of {first!r}"
            raise PairingError("results", expected=expected, got=f"{values.size} of {name!r}")
        if values.dtype.kind not in "iuf":
            raise ScoreError(f"results[{name!r}]", expected="numbers", got=f"values of type {values.dtype}")
        if not np.isfinite(values).all():
            got = check.count_and_first(~np.isfinite(values), "missing or infinite")
            hint = "leave out data sets that a model has no value for"
            raise ScoreError(f"results[{name!r}]", expected="finite values", got=got, hint=hint)
    return ResultTable(tuple(columns), np.column_stack(list(columns.values())).astype(np.float64), "score")


def _of_predictions(results: Mapping[Any, Any], metric: Metric) -> ResultTable:
    rows: list[Array] = []
    models, quantity, sign = None, "", 1
    for name, preds in results.items():
        if not isinstance(preds, Rows):
            raise InputError(f"results[{name!r}]", expected="predictions as of the others", got=type(preds).__name__)
        found = fold_scores(preds, metric)
        models, quantity, sign = models or found.models, found.quantity, found.sign
        if found.models != models:
            raise PairingError(f"results[{name!r}]", expected=f"the models {models}", got=f"{found.models}")
        rows.append(found.values.mean(axis=1))
    return ResultTable(models or (), np.array(rows), quantity, sign)
