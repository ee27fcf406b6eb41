"""A table of thresholds: the counts and rates of each, with confidence intervals, to be read or exported."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope import metrics
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope.core.result import Result, frame_of, html_table, jsonable
from rocscope.core.rows import require_distinct
from rocscope.inference.influence.units import require_whole
from rocscope.inference.proportions import ShareMethod, proportion_interval, share_of
from rocscope.sample import counts_of

_CELLS = ("tp", "fp", "fn", "tn")
_RATES = ("tpr", "tnr", "precision", "npv")
_MOST_SHOWN = 20  # rows in a notebook: a choice


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(Result):
    """What each threshold gives; made by `threshold_table`.

    Attributes
    ----------
    columns : dict from name to array
        ``threshold``; the counts ``tp``, ``fp``, ``fn`` and ``tn``; ``tpr`` (sensitivity), ``tnr`` (specificity),
        ``precision`` and ``npv``, each with ``_low`` and ``_high``; and ``youden``. Rates of no cases are NaN.
    level : float
        Confidence level of each interval alone.
    method : str

    Examples
    --------
    >>> threshold_table([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2]).columns["tp"]
    array([1, 2, 2, 3, 3])
    """

    columns: dict[str, Array]
    level: float
    method: str

    def __len__(self) -> int:
        return self.columns["threshold"].size

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row a threshold, as a frame of "pandas", "polars" or "pyarrow", which write CSV or Excel."""
        return frame_of(self.columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the table, safe for JSON."""
        return jsonable({"columns": self.columns, "level": self.level, "method": self.method})

    def __repr__(self) -> str:
        return f"ThresholdTable({len(self)} thresholds, {100 * self.level:g} % intervals, {self.method})"

    def _repr_html_(self) -> str:
        rows = zip(*(column[:_MOST_SHOWN] for column in self.columns.values()), strict=True)
        return html_table(([f"{value:.4g}" for value in row] for row in rows), head=tuple(self.columns))


@answering
def threshold_table(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    thresholds: Any = None,
    method: ShareMethod = "wilson",
    level: float = 0.95,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ThresholdTable:
    """Compute counts, sensitivity, specificity and predictive values of thresholds, with confidence intervals.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        Labels and scores, Predictions, ThresholdCounts, OperatingPoint, bins or a sketch; see `rocscope.sample`.
    thresholds : array, optional
        The thresholds; every distinct score when left out, in decreasing order.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        Of the intervals; each is for one rate at one threshold that was fixed beforehand, of independent rows.
    level : float

    Returns
    -------
    ThresholdTable

    Raises
    ------
    OneClassError
        If there is one class only.
    WeightError
        If the counts are not whole numbers.

    Examples
    --------
    >>> table = threshold_table([1, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.2], thresholds=[0.5, 0.3])
    >>> table
    ThresholdTable(2 thresholds, 95 % intervals, wilson)
    >>> table.columns["tpr"].round(3), table.columns["tpr_low"].round(3)
    (array([0.667, 1.   ]), array([0.208, 0.439]))
    """
    require_distinct(y_true, "a table of thresholds")
    counts = counts_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    counts.require_both_classes("a table of thresholds")
    require_whole(counts.pos, counts.neg)
    level = check.check_level(level)
    if thresholds is None:
        cut, cells = counts.threshold, [getattr(counts, cell) for cell in _CELLS]
    else:
        cut = check.check_numbers(thresholds, "thresholds")
        points = [counts.at(each) for each in cut.tolist()]
        cells = [np.array([getattr(point, cell) for point in points]) for cell in _CELLS]
    columns = {"threshold": np.asarray(cut), **dict(zip(_CELLS, map(np.asarray, cells), strict=True))}
    for rate in _RATES:
        counted, n = share_of(rate, *cells)
        low, high = proportion_interval(counted, n, method=method, level=level)
        columns |= {rate: metrics.METRICS[rate](*cells), f"{rate}_low": low, f"{rate}_high": high}
    columns["youden"] = metrics.youden(*cells)
    return ThresholdTable({name: check.read_only(column) for name, column in columns.items()}, level, method)
