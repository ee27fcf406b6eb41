"""Monitored quantities: means over the cells at a threshold, and limits on them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.errors import InputError
from rocscope.figures.conditions import Condition
from rocscope.figures.figure import Figure
from rocscope.figures.registry import figure_named, known

CELLS = ("tp", "fp", "fn", "tn")
_CLASSES = POSITIVES, NEGATIVES = (0, 2), (1, 3)
SHOWN = ("tpr", "fpr", "precision", "depth", "error")
"""Shares that are always monitored; others only if a limit names them."""

RANKED = {"auc": "auc", "excess_events": "calibration"}
"""Monitored figures of scores, with their display names."""


@dataclass(frozen=True)
class CellMean:
    """A mean over some of the cells tp, fp, fn, tn, such as the cost per case or the precision.

    With a `prevalence` it is the mean at that class mix, whatever the mix of the cases.

    Examples
    --------
    >>> precision = cell_means(Context())["precision"]
    >>> precision.of(np.array([30, 10, 5, 55]))
    (0.75, 40.0)
    >>> cell_means(Context(), prevalence=0.5)["precision"].of(np.array([30, 10, 5, 55]))
    (0.8478..., 40.0)
    """

    name: str
    used: tuple[int, ...]
    values: tuple[float, ...]
    prevalence: float | None = None

    @property
    def mixed(self) -> bool:
        """Whether it depends on a class mix that is fixed."""
        return self.prevalence is not None and not any(set(self.used) <= {*own} for own in (POSITIVES, NEGATIVES))

    def counts(self, cells: Array) -> Array:
        """Return the cells in the denominator."""
        return cells[..., list(self.used)]

    def of(self, cells: Array) -> tuple[float, float]:
        """Return the mean (NaN without cases) and its number of cases."""
        counts = self.counts(cells)
        n = float(counts.sum())
        if self.mixed:
            rates = (cells[own[0]] / total if (total := cells[list(own)].sum()) else np.nan for own in _CLASSES)
            return self.at_rates(*rates), n
        return (float(counts @ np.array(self.values) / n) if n else np.nan), n

    def at_rates(self, tpr: float, fpr: float) -> float:
        """Return the mean at the fixed class mix for given rates; NaN without cases."""
        assert self.prevalence is not None
        share = self.prevalence, 1 - self.prevalence
        cells = np.array([share[0] * tpr, share[1] * fpr, share[0] * (1 - tpr), share[1] * (1 - fpr)])
        counts = self.counts(cells)
        return float(counts @ np.array(self.values) / counts.sum()) if counts.sum() else np.nan


def cell_means(context: Context, names: Iterable[str] = SHOWN, prevalence: float | None = None) -> dict[str, CellMean]:
    """Return the cost per case in a context, and shares of cases, by name."""
    parts = {name: known(name).parts for name in names if name != "cost"}  # pyright: ignore[reportOptionalMemberAccess]
    everyone = (1,) * len(CELLS)
    means = {}
    for name, (top, bottom) in ({"cost": (tuple(context.costs.values()), everyone)} | parts).items():  # pyright: ignore[reportGeneralTypeIssues]
        used = tuple(i for i, counted in enumerate(bottom) if counted)
        means[name] = CellMean(name, used, tuple(float(top[i]) for i in used), prevalence)
    return means


def limit_of(text: str, *, of_decision: bool) -> Condition:
    """Parse a limit such as ``cost > .35``, which a monitored figure should not exceed.

    Examples
    --------
    >>> limit_of("Sensitivity < 80 %", of_decision=True), limit_of("calibration > 0", of_decision=False)
    (Condition('tpr < 0.8'), Condition('calibration > 0'))
    """
    limit, *more = Condition.read(text, "fail_if", "cost > .35")
    if more or limit.level is not None or limit.model is not None:
        expected = "one condition without a level and a model, such as 'cost > .35'"
        raise InputError("fail_if", expected=expected, got=repr(text), hint="pass each limit by itself")

    def suits(figure: Figure) -> bool:
        share = figure.unit == "share" and figure.parts is not None and set(figure.parts[0]) == {0, 1}
        return figure.name in RANKED or (of_decision and (share or figure.name == "cost"))

    expected = "the cost, a mean over cases such as 'precision', 'auc' or 'calibration'"
    figure = figure_named(limit.quantity, "fail_if", expected=expected, suits=suits)
    return replace(limit, quantity=RANKED.get(figure.name, figure.name))
