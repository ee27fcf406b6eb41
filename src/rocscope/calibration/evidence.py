"""What an interval rests on: outcomes with the weights and groups of their rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.exact_sums import is_moderate
from rocscope.calibration.outcomes import Outcomes, pav_values
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.errors import WeightError
from rocscope.inference.influence.units import is_frequency
from rocscope.sample import sample_of

_LEAST = 2.0**-1074  # of floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """Outcomes, and how much sums over their rows vary.

    Attributes
    ----------
    counts : ThresholdCounts
    squares : array of 2 × k, optional
        Sums of squared weights of the positives and the negatives at each level, where weights are no numbers of rows.
    rows : tuple of arrays, optional
        Level, label (1 or 0), weight and group of each row, where rows are in groups.
    """

    counts: ThresholdCounts
    squares: Array | None = None
    rows: tuple[Array, Array, Array, Array] | None = None

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes, which know what their weights and groups are worth."""
        plain = Outcomes.of(self.counts)
        squares = None if self.squares is None else self.squares.sum(axis=0)
        if self.rows is None:
            return replace(plain, squares=squares)
        fitted = pav_values(plain)
        grouped = self.variance_of_sum(1 - fitted, -fitted)
        alone = replace(self, rows=None).variance_of_sum(1 - fitted, -fitted)
        return replace(plain, squares=squares, design_effect=max(grouped / alone, 1.0) if alone else 1.0)

    def variance_of_sum(self, of_positive: Any, of_negative: Any) -> float:
        """Return the variance of a weighted sum of terms of mean 0: that of a positive and of a negative at each level.

        Rows of one group are not taken as independent; their sums are, with the factor G/(G − 1) of few groups.
        """
        size = len(self.counts)
        terms = [np.broadcast_to(np.asarray(term, dtype=np.float64), size) for term in (of_positive, of_negative)]
        if self.rows is not None:
            level, label, weight, group = self.rows
            sums = np.bincount(group, weight * np.where(label, terms[0][level], terms[1][level]))
            return float(sums @ sums) * sums.size / max(sums.size - 1, 1)
        columns = (self.counts.pos, self.counts.neg) if self.squares is None else self.squares[:, ::-1]
        return float(sum(column[::-1] @ term**2 for column, term in zip(columns, terms, strict=True)))

    def counts_at(self, target_prevalence: float | None) -> ThresholdCounts:
        """Return as many rows, weighted so that the share `target_prevalence` of them is positive."""
        if target_prevalence is None:
            return self.counts
        counts, moved = self.counts, Outcomes.of(self.counts).at(target_prevalence)
        return ThresholdCounts(counts.threshold, moved.pos[::-1], moved.neg[::-1])

    @cached_property
    def groups(self) -> int | None:
        """How many groups the rows are in; None where each is by itself."""
        return None if self.rows is None else int(self.rows[3].max()) + 1


def evidence(
    y_true: Any,
    y_score: Any = None,
    *,
    model: str | None = None,
    groups: Any = None,
    probabilities: bool = True,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Evidence:
    """Return the evidence of labels and probabilities, counts or one model of Predictions.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.
        Whole weights are numbers of equal rows; of others each belongs to one row that stands for so many.
    groups : array of n labels, optional
        What rows belong together, such as the patient of each: then they are not taken as independent.
    probabilities : bool
        Whether to refuse scores that are none.

    Raises
    ------
    ScoreError
        If a score is not a probability.
    """
    data = sample_of(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight)
    if data.rows is None:
        if groups is not None:
            data.require_rows("groups")
        found = Evidence(data.counts)
    else:
        found = _of_rows(data.rows, independent_units(data.rows, groups), data.counts)
    if probabilities:
        found.counts.require_probabilities("scores")
    return found


def _of_rows(rows: Predictions, groups: Any, counts: ThresholdCounts) -> Evidence:
    (score,), weight = rows.scores.values(), rows.sample_weight
    used = slice(None) if weight is None else weight > 0
    squares = None
    if weight is not None and not is_frequency(weight, "auto"):
        if not is_moderate(total := weight.sum()):
            hint = "scale them, which changes nothing but their sum"
            raise WeightError("sample_weight", expected="a sum between 1e-100 and 1e100", got=f"{total:.3g}", hint=hint)
        with np.errstate(under="ignore"):
            square = np.maximum(weight[used] ** 2, _LEAST)  # so that no row is lost
        squared = ThresholdCounts.from_checked(rows.y_true[used], score[used], square)
        squares = np.array([squared.pos, squared.neg])[:, ::-1]
    if groups is None:
        return Evidence(counts, squares)
    code = check.check_groups(groups, "groups", len(rows))[used]
    level = np.searchsorted(counts.threshold[::-1], score[used])
    amount = np.ones(level.size) if weight is None else weight[used].astype(np.float64)
    return Evidence(counts, squares, (level, rows.y_true[used], amount, code))
