"""Lift chart and profit where only some customers have a label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.result import Band
from rocscope.curves.curve import Curve
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError, LabelError, WeightError

_REACH = "as far as labels reach"
_SAMPLED = "Horvitz–Thompson"


class PartialLiftChart(Curve):
    """Number of positives found (y) by share of all rows contacted (x), labelled or not.

    Made by `rocscope.decisions.partial_lift_chart`.

    Attributes
    ----------
    method : str
        ``"as far as labels reach"`` or ``"Horvitz–Thompson"``.
    n : int
        Number of rows; `n_labelled` of them have a label.
    reach : float
        Depth to which the chart is known.
    standard_error : array
        Of y; 0 where every label is known.
    """

    _content = ("method", "n", "n_labelled", "reach")

    title = "lift chart of partly known outcomes"
    x_name = "depth"
    y_name = "tp"

    def __init__(
        self, depth: Array, found: Array, threshold: Array, standard_error: Array, *, method: str, n: int, labelled: int
    ) -> None:
        super().__init__(depth, found, threshold)
        self.standard_error = check.read_only(standard_error)
        self.method, self.n, self.n_labelled = method, n, labelled
        self.reach = float(depth[-1])

    def band(self, level: float = 0.95) -> Band:
        """Return the normal interval around each point, clipped to the number of rows contacted."""
        half = special.ndtri((1 + check.check_share(level, "level")) / 2) * self.standard_error
        low, high = np.maximum(self.y - half, 0), np.minimum(self.y + half, self.x * self.n)
        return Band(self.x, low, high, level, self.method)

    def profit(self, campaign: Campaign) -> "PartialProfitCurve":
        """Return the profit of a campaign where this chart is known.

        Raises
        ------
        InputError
            If the campaign names a response rate: with labels known in part, rows cannot be re-weighted to it.
        """
        return PartialProfitCurve(self, campaign)

    def columns(self) -> dict[str, Array]:
        return super().columns() | {"standard_error": self.standard_error}

    def _facts(self) -> str:
        return f"{self.method}, {self.n_labelled} of {self.n} rows labelled, known to depth {self.reach:.4g}"


class PartialProfitCurve(Curve):
    """Profit of a campaign (y) by share of customers contacted (x), for partially known outcomes.

    Attributes
    ----------
    chart : PartialLiftChart
    campaign : Campaign
    """

    title = "profit curve of partly known outcomes"
    x_name = "depth"
    y_name = "profit"

    def __init__(self, chart: PartialLiftChart, campaign: Campaign) -> None:
        if campaign.response_rate is not None:
            raise InputError(
                "campaign",
                expected="no response_rate, since it cannot be known from labels of a part",
                got=repr(campaign.response_rate),
            )
        self.chart, self.campaign = chart, campaign
        self._scale = campaign.population / chart.n
        size = campaign.population * chart.x
        super().__init__(chart.x, campaign.profit(size, self._scale * chart.y), chart.threshold)

    def band(self, level: float = 0.95) -> Band:
        """Return the interval of the profit, from that of the responders."""
        found = self.chart.band(level)
        size = self.campaign.population * self.x
        low, high = (self.campaign.profit(size, self._scale * end) for end in (found.low, found.high))
        return Band(self.x, low, high, level, self.chart.method)

    def best(self) -> dict[str, Any]:
        """Return depth, size, threshold and profit of the best known point within the capacity.

        `at_reach` is true where it is the deepest known: more contacts may pay, but no label says so.
        """
        size = self.campaign.population * self.x
        capacity = self.campaign.capacity
        allowed = size <= (np.inf if capacity is None else capacity * (1 + 1e-12))
        best = int(np.argmax(np.where(allowed, self.y, -np.inf)))
        return {
            "depth": float(self.x[best]),
            "size": float(size[best]),
            "threshold": self.threshold[best].item(),
            "profit": float(self.y[best]),
            "at_reach": best == self.x.size - 1 and self.chart.reach < 1,
            "method": self.chart.method,
        }

    def _facts(self) -> str:
        best = self.best()
        return f"{self.chart.method}, best known depth={best['depth']:.4g}, profit={best['profit']:,.6g}"


@contract
def partial_lift_chart(y_true: Any, y_score: Any, *, inclusion: Any = None, pos_label: Any = None) -> PartialLiftChart:
    """Compute a lift chart when only some rows have a label.

    Parameters
    ----------
    y_true : array of n labels
        None or NaN where the outcome is not known.
    y_score : array of n scores
        Of all rows.
    inclusion : number or array of n probabilities, optional
        The probability with which each row was drawn for labelling. Without it, only the rows down to the first one
        without a label are used.
    pos_label : label, optional

    Returns
    -------
    PartialLiftChart

    Raises
    ------
    LabelError
        If no row has a label.
    WeightError
        If a labelled row has an inclusion probability that is not above 0 and at most 1.

    Notes
    -----
    A row without a label still counts in depth. Without `inclusion` the chart ends before the first score with an
    unlabelled row. With it, the number of positives to a depth is estimated by Σ y/π over labelled rows, whose variance
    is estimated by Σ y(1 − π)/π², as for rows that are drawn independently of each other.

    References
    ----------
    Vuk & Curk 2006, §5: the number of all potential customers is often unknown; Horvitz & Thompson 1952, "A
    generalization of sampling without replacement from a finite universe", JASA 47.

    Examples
    --------
    >>> chart = partial_lift_chart([1, 0, 1, None, 1], [5, 4, 3, 2, 1])
    >>> chart
    PartialLiftChart(as far as labels reach, 4 of 5 rows labelled, known to depth 0.6)
    >>> chart.y
    array([0., 1., 1., 2.])
    >>> partial_lift_chart([1, None, 0, None, 1], [5, 4, 3, 2, 1], inclusion=0.5).y
    array([0., 2., 2., 2., 2., 4.])
    """
    check.check_same_index(y_true=y_true, y_score=y_score, inclusion=inclusion)
    labels = check.check_column(y_true, "y_true")
    scores = check.check_scores(y_score, labels.size)
    known = ~check.missing(labels)
    if not known.any():
        raise LabelError("y_true", expected="some labels", got="none", hint="without outcomes nothing can be said")
    positive = np.zeros(labels.size)
    positive[known] = check.check_labels(_plain(labels[known]), pos_label)
    weight = np.ones(labels.size) if inclusion is None else _weights(inclusion, known)
    order = np.argsort(scores, kind="stable")[::-1]
    starts = np.flatnonzero(np.concatenate(([True], scores[order][1:] != scores[order][:-1])))

    def per_level(column: Array) -> Array:
        return np.add.reduceat(column[order].astype(np.float64), starts)

    rows, unknown = per_level(np.ones(labels.size)), per_level(~known)
    found = per_level(positive * weight)
    variance = per_level(positive * weight * (weight - 1))
    end = starts.size
    if inclusion is None and unknown.any():
        end = int(np.argmax(unknown > 0))
    columns = (np.concatenate(([0.0], np.cumsum(column)[:end])) for column in (rows, found, variance))
    depth, found, variance = columns
    return PartialLiftChart(
        depth / labels.size,
        found,
        np.concatenate(([np.inf], scores[order][starts][:end].astype(np.float64))),
        np.sqrt(variance),
        method=_REACH if inclusion is None else _SAMPLED,
        n=labels.size,
        labelled=int(known.sum()),
    )


def _plain(labels: Array) -> Array:
    """Return labels in their own type if None among them had made them objects."""
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def _weights(inclusion: Any, known: NDArray[np.bool_]) -> Array:
    """Return 1/π for labelled rows and 1 for the others, which carry no outcome."""
    single = np.ndim(inclusion) == 0
    column = np.full(known.size, inclusion) if single else check.check_column(inclusion, "inclusion", known.size)
    if column.dtype.kind not in "iuf":
        raise WeightError("inclusion", expected="probabilities", got=f"values of type {column.dtype}")
    weight = np.ones(known.size)
    labelled = column[known].astype(np.float64)
    if not ((labelled > 0) & (labelled <= 1)).all():
        bad = labelled[~((labelled > 0) & (labelled <= 1))][0]
        raise WeightError("inclusion", expected="probabilities above 0 and at most 1 of labelled rows", got=f"{bad:g}")
    weight[known] = 1 / labelled
    return weight
