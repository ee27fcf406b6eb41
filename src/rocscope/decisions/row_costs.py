"""Costs that differ by row: the best threshold, and the rule that uses each row's own costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.core.context import CELLS, Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.row_costs import Stakes, cost_of, rows_in_money
from rocscope.core.rows import model_name
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.models import predict
from rocscope.errors import InputError, ScoreError
from rocscope.geometry import Choices, TangentPoint, all_choices, touching
from rocscope.inference.costs import compare_costs
from rocscope.inference.estimate import Comparisons
from rocscope.inference.influence.units import WeightKind
from rocscope.sample import rows_of


@dataclass(frozen=True, eq=False)
class PricedRows:
    """Rows with their own costs, and the costs of thresholds on them."""

    rows: Predictions
    context: Context

    @cached_property
    def stakes(self) -> Stakes:
        """The amount at stake in each row."""
        return Stakes.of(self.rows, self.context)

    @cached_property
    def in_money(self) -> Predictions:
        """The rows in money; see the function of this name."""
        return self.stakes.rows(self.rows, self.context)

    def cheapest(self, options: Sequence[Choices]) -> TangentPoint:
        """Return the cheapest of some thresholds; among equals the one with fewest positive rows, then the first."""
        priced = {each.model: (each, *_in_money(each, self.in_money.counts(each.model))) for each in options}
        found = touching([money for _, money, _ in priced.values()], Context())
        order = list(priced)
        touches: list[TangentPoint] = []
        for touch in (found, *found.tied):
            choices, _, first = priced[touch.choices.model]
            touches.append(TangentPoint(choices, first[touch.index].item()))

        def fewest(touch: TangentPoint) -> tuple[Fraction, int]:
            return touch.choices.depth(touch.index), order.index(touch.choices.model)

        best, *others = sorted(touches, key=fewest)
        return replace(best, tied=tuple(others))

    def acts(self, model: str, threshold: float) -> NDArray[np.bool_]:
        """Return the rows that a threshold acts on."""
        return predict(self.rows.scores[model], threshold)

    def cost(self, model: str, threshold: float) -> float:
        """Return the cost per case of a threshold."""
        return self.stakes.cost(self.acts(model, threshold))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the rows."""
        gain, positive = self.stakes.gain, self.rows.y_true
        said = {
            "in {} of {} rows acting makes no difference": gain == 0,
            "in {} of {} rows acting on a positive loses": positive & (gain < 0),
            "in {} of {} rows acting on a negative gains": ~positive & (gain > 0),
        }
        return tuple(note.format(f"{rows.sum():,}", f"{rows.size:,}") for note, rows in said.items() if rows.any())


def _in_money(choices: Choices, money: ThresholdCounts) -> tuple[Choices, Array]:
    """Return thresholds as points of the same rows weighted by money, and the position where each is first reached."""
    levels = choices.counts.threshold
    priced = np.zeros(levels.size + 1, np.intp)
    priced[levels.size - np.searchsorted(levels[::-1], money.threshold)] = 1  # every level in money is one of the rows
    index, first = np.unique(np.cumsum(priced)[choices.index], return_index=True)
    return Choices(choices.model, money, index), first


@contract
def in_money(predictions: Any, context: Context | Campaign) -> Predictions:
    """Convert rows into money: positive if acting gains, weighted by the amount at stake.

    Parameters
    ----------
    predictions : Predictions
        With the columns that the context names.
    context : Context

    Returns
    -------
    Predictions
        Of the rows in which acting makes a difference. The weights have a unit of their own, about the mean of the
        amount at stake, so that no interval takes whole amounts for numbers of rows.

    Raises
    ------
    ColumnError
        If the rows lack a column of the context.
    InputError
        If acting makes no difference in any row.

    Notes
    -----
    Acting on a row gains g = (cost of leaving it) − (cost of acting on it), given its label. Acting on the rows
    that a threshold selects loses ``|g|`` in each that is on its wrong side, in addition to unavoidable losses. So
    every curve, hull, band and test of these rows is one in money, at costs of 1 : 1, the default. At a target
    prevalence positive and negative labels are given their shares first.

    Amounts of up to four decimals are added exactly, as the decimals that they are.

    Examples
    --------
    A fraud of 500 and one of 3; stopping a payment to look at it costs 5, also where that is all that there is to lose:

    >>> preds = Predictions([1, 1, 0], [0.9, 0.6, 0.4], columns={"amount": [500, 3, 40]})
    >>> money = in_money(preds, Context(cost_fn="amount", cost_tp=5, cost_fp=5))
    >>> money.y_true.tolist(), (money.sample_weight / money.sample_weight[0] * 495).round(6).tolist()
    ([True, False, False], [495.0, 2.0, 5.0])
    """
    return rows_in_money(rows_of(predictions), Context.given(context))


@contract
def act_by_row(
    probability: Any, context: Context | Campaign, columns: Mapping[str, Any] | None = None
) -> NDArray[np.bool_]:
    """Return the cases on which acting has a positive expected gain, with costs that differ by case.

    Parameters
    ----------
    probability : array of n calibrated probabilities
        Of the positive class, among the cases that are decided on.
    context : Context
    columns : mapping from name to array of n numbers, optional
        Those that the context names.

    Returns
    -------
    bool array of shape (n,)

    Raises
    ------
    InputError
        If a score is no probability, or the context has a target prevalence, at which they would be others: see
        `correct_probabilities`.
    ColumnError
        If a column of the context is not there.

    Notes
    -----
    Acts iff p·(cost_fn − cost_tp) > (1 − p)·(cost_fp − cost_tn). No threshold on the score can do better where the
    probabilities are right; where they are not, `compare_row_rule` shows what it costs.

    Examples
    --------
    >>> act_by_row([0.1, 0.1], Context(cost_fn="amount", cost_tp=5, cost_fp=5), {"amount": [40, 60]})
    array([False,  True])
    """
    context = Context.given(context)
    score = check.check_scores(probability, name="probability")
    if not ((score >= 0) & (score <= 1)).all():
        hint = "recalibrate the scores first (rocscope.calibration.recalibrate)"
        raise ScoreError("probability", expected="probabilities from 0 to 1", got=check.shown(score), hint=hint)
    if context.target_prevalence is not None:
        hint = "give the probabilities at that prevalence: rocscope.decisions.correct_probabilities"
        raise InputError("context", expected="no target_prevalence", got=repr(context), hint=hint)
    known = Predictions(np.zeros(score.size, bool), score, columns=columns).columns
    tp, fp, fn, tn = (cost_of(cell, context, known) for cell in CELLS)
    p = score.astype(np.float64)
    return np.asarray(p * (np.asarray(fn) - tp) > (1 - p) * (np.asarray(fp) - tn))


@contract
def compare_row_rule(
    predictions: Predictions,
    context: Context | Campaign,
    *,
    model: str | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    groups: Any = None,
    weights: WeightKind = "auto",
) -> Comparisons:
    """Compare one threshold for all rows with the rule that uses each row's costs, on the same rows.

    Parameters
    ----------
    predictions : Predictions of calibrated probabilities
        With the columns that the context names.
    context : Context
    model : str, optional
        Which, where there are several.
    threshold : float, optional
        By default the cheapest on these rows, which flatters it.
    level, groups, weights : see `rocscope.inference.compare_costs`

    Returns
    -------
    Comparisons
        Expected cost per case of the model at the threshold and, with " row by row", by `act_by_row`; their
        difference is below 0 where the latter is cheaper.

    Raises
    ------
    InputError, ColumnError
        As `act_by_row` does.

    Examples
    --------
    Of four rows to act on all costs 4 a row; to act on the two of which p·amount is above 4, 2:

    >>> preds = Predictions([1, 0, 1, 0] * 9, [0.6, 0.6, 0.3, 0.3] * 9, columns={"amount": [9, 1, 20, 1] * 9})
    >>> found = compare_row_rule(preds, Context(cost_fn="amount", cost_tp=4, cost_fp=4))
    >>> found["score", "score row by row"].difference
    Estimate(-2, 95 % interval -2.663 to -1.337, z, paired, n=36)
    """
    rows = rows_of(predictions)
    name = model_name(rows.models, model)
    score, counts = rows.scores[name], rows.counts(name)
    own = act_by_row(score, context, rows.columns)
    if threshold is None:
        threshold = PricedRows(rows, Context.given(context)).cheapest([all_choices(name, counts)]).point.threshold
    fixed = predict(score, counts.at(threshold).threshold)
    decided = {name: fixed, f"{name} row by row": own}
    both = Predictions(
        rows.y_true, dict.fromkeys(decided, score), decisions=decided, columns=rows.columns, **rows.row_columns()
    )
    return compare_costs(both, context, level=level, groups=groups, weights=weights)
