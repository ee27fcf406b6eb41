"""RowAmounts: costs that differ from row to row, as rows that are part positive and part negative.

Acting on a row gains g, which lies between −a and h in all rows. Counted as a share (g + a)/(h + a) of a positive that
gains h, and for the rest as a negative that costs a, it gains as much, and is one case as before. So hulls, limits and
programs of segments need no second kind of counts: rows come twice, with weights g + a and h − g.
"""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.json_format import Fields
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.row_costs import PARTS, costs_of_rows
from rocscope.curves.profit_curve import Campaign
from rocscope.errors import InputError


@dataclass(frozen=True)
class RowAmounts:
    """What acting on rows gains, where that differs from row to row.

    Attributes
    ----------
    given : Context or Campaign
        With the names of columns as costs, or as benefit.
    hit, alarm : float
        The largest gain of acting on a row, and the largest loss, in ten-thousandths.
    left : float
        What leaving a row costs on average; 0 for a campaign.
    rows : float
        Rows, or the sum of their weights.
    """

    given: Context | Campaign
    hit: float
    alarm: float
    left: float
    rows: float

    @classmethod
    def of(cls, data: Any, given: Any) -> "RowAmounts | None":
        """Return the amounts of rows; None where costs are the same in every row.

        Raises
        ------
        InputError
            If columns are named beside what is no rows, or beside a target prevalence.
        """
        each = list(given.values()) if isinstance(given, dict) else [given]
        if not any(columns_of(one) for one in each):
            return None
        if len(each) > 1 or isinstance(given, dict):
            raise InputError("context", expected="one for all segments, where costs are columns", got=f"{len(each)}")
        if not isinstance(data, Predictions):
            raise InputError("segments", expected="Predictions with segments, where costs are columns", got="counts")
        if context_of(given).target_prevalence is not None:
            raise InputError("context", expected="no target prevalence, where costs are columns", got=repr(given))
        found = cls(given, 0.0, 0.0, 0.0, 0.0)
        gain, left = found.gains(data.y_true, data.columns, left=True)
        weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
        alarm = max(-float(gain.min()), 0.0)
        if isinstance(given, Campaign):
            alarm = max(alarm, float(np.rint(given.unit_cost * PARTS)))
        hit = float(gain.max())
        if hit + alarm <= 0:  # all rows lose as much: any wider range says the same
            hit, alarm = hit + PARTS, alarm if isinstance(given, Campaign) else alarm + PARTS
        mean = 0.0 if isinstance(given, Campaign) else float(weight @ left / weight.sum() / PARTS)
        return cls(given, hit, alarm, mean, float(weight.sum()))

    def gains(self, positive: Array, columns: Any, *, left: bool = False) -> Any:
        """Return what acting on each row gains, in ten-thousandths; also what leaving it costs, where that is asked."""
        acted, idle = costs_of_rows(positive, context_of(self.given), columns, whole=True)
        return (idle - acted, idle) if left else idle - acted

    @property
    def is_campaign(self) -> bool:
        """Whether leaving a case costs nothing, whatever a response would have brought."""
        return isinstance(self.given, Campaign)

    @cached_property
    def even(self) -> Context | Campaign:
        """Costs that are the same in every row of `doubled`."""
        hit, alarm = self.hit / PARTS, self.alarm / PARTS
        if isinstance(self.given, Campaign):
            return replace(self.given, unit_benefit=(self.hit + self.alarm) / PARTS)
        left = self.left
        return Context(cost_fp=left + alarm, cost_fn=left, cost_tp=left - hit, cost_tn=left)

    def doubled(self, rows: Predictions) -> Predictions:
        """Return each row as a positive and a negative, which share its weight."""
        gain = self.gains(rows.y_true, rows.columns)
        weight = 1.0 if rows.sample_weight is None else rows.sample_weight
        masses = np.concatenate([weight * (gain + self.alarm), weight * (self.hit - gain)])
        scores = {model: np.concatenate([score, score]) for model, score in rows.scores.items()}
        segment = None if rows.segment is None else np.concatenate([rows.segment, rows.segment])
        label = np.repeat([True, False], len(rows))
        return Predictions(label, scores, sample_weight=masses, segment=segment)

    def stored(self) -> dict[str, Any]:
        """Return the content of a file."""
        kind = "campaign" if isinstance(self.given, Campaign) else "context"
        return {kind: asdict(self.given)} | {name: getattr(self, name) for name in ("hit", "alarm", "left", "rows")}

    @classmethod
    def read(cls, fields: Fields) -> "RowAmounts":
        """Return what a file holds."""
        kind, make = ("campaign", Campaign) if "campaign" in fields.content else ("context", Context)
        given: Any = fields.make(kind, make, **fields.take(kind, dict, "costs, some of them columns"))
        if not columns_of(given):
            fields.refuse(kind, "costs, some of them columns")
        return cls(given, *(fields.number(name) for name in ("hit", "alarm", "left", "rows")))


def context_of(given: Any) -> Context:
    """Return the costs of a context or campaign."""
    return given.context if isinstance(given, Campaign) else Context.given(given)


def columns_of(given: Any) -> tuple[str, ...]:
    """Return the columns that a context or campaign names."""
    return given.columns if isinstance(given, Context) else context_of(given).columns if given is not None else ()
