"""Costs that differ by row, as weights: a case on which acting gains g has class sign(g) and weight |g|.

So costs that differ from row to row need no curve, hull or band of their own: the rows in money are rows like others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.core.context import CELLS, Context, decimal, nearest
from rocscope.core.predictions import Predictions
from rocscope.errors import ColumnError, InputError, OneClassError

PARTS = 10_000
"""Amounts are multiplied by this, so that amounts of up to four decimals are whole numbers with exact sums."""

UNIT = 2.0**-40
"""Unit of monetary weights that are summed in batches."""

_WHOLE = 2**53  # from here on float64 rounds some whole numbers


def cost_of(cell: str, context: Context, columns: Mapping[str, Array]) -> Any:
    """Return the cost of each row in a cell of the confusion matrix: a number, or a column."""
    cost = getattr(context, f"cost_{cell}")
    return column_of(f"cost_{cell}", cost, columns) if isinstance(cost, str) else cost


def column_of(argument: str, name: str, columns: Mapping[str, Array]) -> Array:
    """Return the column of the rows that an argument refers to."""
    if name not in columns:
        got = check.listing(list(columns)) or "no columns"
        hint = "Predictions(…, columns={name: amounts}), or rocscope.read(…, columns=[name])"
        raise ColumnError(argument, expected=f"the rows to have a column {name!r}", got=got, hint=hint)
    return columns[name]


def costs_of_rows(
    positive: NDArray[np.bool_], context: Context, columns: Mapping[str, Array], whole: bool = False
) -> tuple[Array, Array]:
    """Return the cost of each row if acted on and if left; optionally in ten-thousandths."""
    amounts = (np.asarray(cost_of(cell, context, columns), np.float64) for cell in CELLS)
    tp, fp, fn, tn = map(in_parts, amounts) if whole else amounts
    with np.errstate(over="ignore"):
        acted, left = np.where(positive, tp, fp), np.where(positive, fn, tn)
        spread = np.abs(acted).sum() + np.abs(left).sum()
    if not np.isfinite(spread):
        raise InputError("costs", expected="amounts with a finite sum", got=f"{list(context.columns)}")
    return acted, left


def in_parts(amount: Array) -> Array:
    """Return amounts in ten-thousandths, as whole numbers if they have at most four decimals."""
    with np.errstate(over="ignore"):
        parts = amount * PARTS
        whole = np.rint(parts)
    return np.where(whole / PARTS == amount, whole, parts)


@dataclass(frozen=True, eq=False)
class Stakes:
    """The amount at stake in each row.

    Attributes
    ----------
    acted, left : arrays of n costs
        Of acting on a row and of leaving it, in ten thousandths.
    weight : array of n weights, or None
        That of the row, times what its class counts at the target prevalence.
    """

    acted: Array
    left: Array
    weight: Array | None

    @classmethod
    def of(cls, rows: Predictions, context: Context) -> "Stakes":
        """Return the amounts at stake in rows.

        Raises
        ------
        ColumnError
            If the rows lack a column of the context.
        InputError
            If all errors that cost or bring something are rewarded.
        """
        acted, left = costs_of_rows(rows.y_true, context, rows.columns, whole=True)
        stakes = cls(acted, left, class_weights(rows, context))
        gain = np.where(rows.y_true, stakes.gain, -stakes.gain)
        if (gain <= 0).all() and all((gain[part] < 0).any() for part in (rows.y_true, ~rows.y_true)):
            raise InputError(
                "context",
                expected="errors to cost more than correct predictions",
                got=f"{context!r}, which rewards errors of both kinds in every row",
                hint="check the signs of the costs (gains are negative)",
            )
        return stakes

    @property
    def gain(self) -> Array:
        """Gain of acting on each row; negative for a loss."""
        return self.left - self.acted

    def cost(self, acts: NDArray[np.bool_]) -> float:
        """Return the cost per case of acting on some rows, for the sample or at the target prevalence."""
        cost, weight = np.where(acts, self.acted, self.left), self.weight
        total = cost.sum() / cost.size if weight is None else (cost * weight).sum() / weight.sum()
        return float(total / PARTS)

    def rows(self, predictions: Predictions, context: Context) -> Predictions:
        """Return rows as documented in `rocscope.decisions.in_money`."""
        gain = self.gain
        weight = np.abs(gain) if self.weight is None else np.abs(gain) * self.weight
        kept: Any = weight > 0
        if not kept.any():
            expected = "costs by which acting makes a difference in some row"
            raise InputError("context", expected=expected, got=repr(context))
        rows = predictions if kept.all() else predictions.select(kept)
        weight, gain = weight[kept], gain[kept]
        with np.errstate(over="ignore"):
            weight = np.ldexp(weight, -frexp(weight.mean())[1])  # rounds nothing, and leaves some weight below 1
        columns: dict[str, Any] = rows.row_columns() | {"sample_weight": weight}
        return Predictions(gain > 0, rows.scores, decisions=rows.decisions, columns=rows.columns, **columns)


def class_weights(rows: Predictions, context: Context) -> Array | None:
    """Return the weights of rows; for a target prevalence, each class is reweighted first."""
    weight, target = rows.sample_weight, context.target_prevalence
    if target is None:
        return weight
    scale = np.where(rows.y_true, *weights_of_classes(rows.n_pos, rows.n_neg, target))
    return scale if weight is None else scale * weight


def weights_of_classes(n_pos: float, n_neg: float, target: float) -> tuple[float, float]:
    """Return the weights of a positive and a negative row at a target prevalence, as whole numbers where possible."""
    if not (n_pos and n_neg):
        raise OneClassError("a target prevalence", expected="both classes", got="one")
    odds = decimal(target) / (1 - decimal(target)) * Fraction(n_neg) / Fraction(n_pos)
    if max(odds.numerator, odds.denominator) >= _WHOLE:
        return nearest(odds), 1.0
    return float(odds.numerator), float(odds.denominator)


def below_one(of_classes: tuple[float, float]) -> tuple[float, float]:
    """Scale two factors by a power of two to below 1, without rounding."""
    by = -frexp(max(of_classes))[1]
    return ldexp(of_classes[0], by), ldexp(of_classes[1], by)


def rows_in_money(predictions: Predictions, context: Context) -> Predictions:
    """Return rows as documented in `rocscope.decisions.in_money`."""
    return Stakes.of(predictions, context).rows(predictions, context)


def gains_in_batch(
    positive: NDArray[np.bool_],
    context: Context,
    columns: Mapping[str, Array],
    weight: Array | None,
    of_classes: tuple[float, float] | None = None,
) -> tuple[NDArray[np.bool_], Array]:
    """Return the sign of the gain and the amount at stake, in a unit in which all batches can be added.

    It is a power of two below which whole amounts of money do not lie, so that none is taken for a number of rows;
    and what rows of both classes count at a target prevalence is brought below 1.
    """
    acted, left = costs_of_rows(positive, context, columns, whole=True)
    gain = left - acted
    mass = np.abs(gain) * (UNIT if weight is None else UNIT * weight)
    if of_classes is not None:
        mass *= np.where(positive, *below_one(of_classes))
    return gain > 0, mass
