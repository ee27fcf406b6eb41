"""Inverse-probability weights that are estimated from shares in strata, and the correction of verification bias.

Suppose that only some rows have a verified label, and that verification depends only on the stratum of a row, such as a
test result. Then each verified row represents 1/π rows, where π is the share of verified rows in its stratum (Begg &
Greenes 1983). `from_verified` returns rows with these weights.

`ShareWeights` contains the weights and computes the influence of each row through the estimated shares. Experiments use
the same class with the share of treated rows. In an experiment, a row can also have an amount of money, minus a cost.
`GivenWeights` contains weights from probabilities that are known.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract
from rocscope.core import Predictions
from rocscope.errors import InputError
from rocscope.inference.variance import EstimatedWeights


@dataclass(frozen=True, eq=False, kw_only=True)
class ShareWeights(EstimatedWeights):
    """Weights abs(a/q − c) of rows in strata with two arms.

    Here p is the share of a stratum's rows in the first arm. The probability q of a row's own arm is p in the first arm
    and 1 − p in the second arm.

    Attributes
    ----------
    member : array of N
        True for rows in the first arm.
    stratum : array of N integers
        Index of the stratum of each row.
    amount : array of N
        Amount a of each row: 1 for inverse-probability weights, the signed amount for rows in money, 0 for rows without
        weight.
    cost : float
        Cost c, for rows in money.

    Notes
    -----
    The derivative of the logarithm of a weight is ∂log wᵢ/∂p = −sᵢ·aᵢ/q² / (aᵢ/q − c), where sᵢ is 1 in the first arm
    and −1 in the second. The influence of row j on p is (1{j in the first arm} − p)/n, where n is the number of rows in
    the stratum.
    """

    member: Booleans
    stratum: Indices
    amount: Array
    cost: float = 0.0

    def share(self, frequency: Array | None) -> tuple[Array, Array]:
        """Return the share of the first arm in each stratum, and the number of rows of each stratum."""
        k = int(self.stratum.max()) + 1
        times = np.ones(self.size) if frequency is None else frequency
        total = np.bincount(self.stratum, times, k)
        inside = np.bincount(self.stratum, times * self.member, k)
        return np.divide(inside, total, out=np.zeros(k), where=total > 0), total

    def signed(self, frequency: Array | None) -> Array:
        """Return a/q − c of each row; −c if a bootstrap sample has no row of the row's arm."""
        share = self.share(frequency)[0][self.stratum]
        share_of_arm = np.where(self.member, share, 1 - share)
        return np.divide(self.amount, share_of_arm, out=np.zeros(self.size), where=share_of_arm > 0) - self.cost

    def estimate(self, frequency: Array | None) -> Array:
        """Return the weight of each row if the rows have the given frequencies."""
        return np.abs(self.signed(frequency))

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row on a metric through the weights of the other rows."""
        share, total = self.share(self.base)
        p = share[self.stratum]
        share_of_arm = np.where(self.member, p, 1 - p)
        sign = np.where(self.member, 1.0, -1.0)
        signed = self.signed(self.base)
        # ∂log w/∂p of each row, then its sum with the moves over the rows of a stratum.
        slope = np.divide(-sign * self.amount, share_of_arm**2 * signed, out=np.zeros(self.size), where=signed != 0)
        by_share = np.column_stack([np.bincount(self.stratum, slope * column, share.size) for column in moves.T])
        return ((self.member - p) / total[self.stratum])[:, None] * by_share[self.stratum]


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenWeights(EstimatedWeights):
    """Weights from probabilities that the user gives, which are not estimated from the rows.

    Attributes
    ----------
    given : array of N
        Weight of each row: 1/probability if its outcome is known, otherwise 0.
    max_weight : float
        Upper limit of the weights; larger weights are set to this limit.
    """

    given: Array
    max_weight: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:  # noqa: ARG002
        """Return the weights; they do not depend on the frequencies of the rows."""
        return np.minimum(self.given, self.max_weight)

    def through_weights(self, moves: Array) -> Array:
        """Return zeros, because no row influences the weights of other rows."""
        return np.zeros(moves.shape)


@contract
def from_verified(
    y_true: Any,
    verified: Any,
    scores: Any,
    *,
    strata: Any = None,
    probability: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    segment: Any = None,
    columns: Any = None,
) -> Predictions:
    """Correct for verification bias: weight the rows with known labels so that they represent all rows.

    Parameters
    ----------
    y_true : array of n labels
        Labels; the labels of unverified rows are ignored.
    verified : array of n of 0 and 1
        1 if the label of a row is known, for example if a patient had the reference test or a loan was granted.
    scores : array of n, or mapping from model name to array
        Scores of one or more models.
    strata : array of n labels, optional
        Variable on which verification depended, such as the test result. The probability of verification is estimated
        by the share of verified rows in each stratum.
    probability : array of n, optional
        Known probability of verification of each row; replaces `strata`.
    pos_label, groups, segment, columns : see `rocscope.Predictions`

    Returns
    -------
    Predictions
        All rows with weights; unverified rows have weight 0.

    Raises
    ------
    InputError
        If a stratum has no verified row, or a verified row has the probability 0.

    See Also
    --------
    expected

    Notes
    -----
    The weight of a verified row is 1/π, where π is its probability of verification. The correction assumes that
    verification does not depend on the label among rows of the same stratum (or with the same probability). With
    strata, this is the correction of Begg & Greenes, applied to all metrics. Intervals include the error of the
    estimated probabilities.

    References
    ----------
    Begg & Greenes 1983, Biometrics 39:207–215; Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47:663–685.

    Examples
    --------
    Both rows with a high score were verified. Only one of the two other rows was verified; its weight is 2:

    >>> preds = from_verified([1, 0, 0, 0], [1, 1, 1, 0], [0.9, 0.8, 0.2, 0.1], strata=["high", "high", "low", "low"])
    >>> preds.sample_weight.tolist()
    [1.0, 1.0, 2.0, 0.0]
    >>> preds.prevalence
    0.25
    """
    given = check.check_column(verified, "verified")
    if not np.isin(given, (0, 1)).all() or not given.any():
        raise InputError("verified", expected="values 0 and 1, at least one of them 1", got=check.shown(verified))
    known, n = given == 1, given.size
    labels = np.zeros(n, bool)
    labels[known] = check.check_labels(check.check_column(y_true, "y_true", n)[known], pos_label)
    options = {"groups": groups, "segment": segment, "columns": columns}
    if probability is not None:
        chance = check.check_numbers(probability, "probability", n)
        impossible = known & ~((chance > 0) & (chance <= 1))
        if strata is not None or impossible.any():
            expected, got = "either probability or strata", "both"
            if strata is None:
                expected = "numbers above 0 and up to 1 for verified rows"
                got = check.count_and_first(impossible, "verified row", " with another number")
            raise InputError("probability", expected=expected, got=got)
        weight = np.divide(1, chance, out=np.zeros(n), where=known)
        weighting = GivenWeights(n, "weighted for verification by given probabilities", given=weight)
        return Predictions(labels, scores, sample_weight=weight, weighting=weighting, **options)
    code = np.zeros(n, np.intp) if strata is None else check.check_groups(strata, "strata", n)
    empty = np.bincount(code, known) == 0
    if empty.any():
        raise InputError(
            "strata",
            expected="a verified row in each stratum",
            got=f"{empty.sum()} strat{'um' if empty.sum() == 1 else 'a'} without a verified row",
        )
    note = "weighted for verification, which depends on the strata alone"
    weighting = ShareWeights(n, note, member=known, stratum=code, amount=known.astype(np.float64))
    return Predictions(labels, scores, sample_weight=weighting.estimate(None), weighting=weighting, **options)
