"""Inverse-probability weights from observed shares by stratum, and their use against verification bias.

Suppose that only some rows have a verified label, and that verification depends only on a stratum, such as the result
of a test. Each verified row then represents 1/π rows, where π is the verified share of its stratum (Begg & Greenes
1983). `from_verified` returns rows with these weights.

`ShareWeights` contains the weights, and the influence of each row through the estimated shares. Experiments use the
same class with the treated share; a row can then also have an amount of money, minus a cost.
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
    """Weights abs(a/q − c), where q is the share of a stratum that is in the row's arm: p or 1 − p.

    Attributes
    ----------
    member : array of N
        True for rows in the arm with share p.
    stratum : array of N codes
    amount : array of N
        The a of the formula: 1 for plain weights, the signed amount for rows in money, 0 for rows without weight.
    cost : float
        The c of the formula, for rows in money.

    Notes
    -----
    ∂log wᵢ/∂p = −sᵢ·aᵢ/q² / (aᵢ/q − c), with sᵢ = 1 in the arm and −1 outside; the influence of row j on p is (1{j in
    the arm} − p)/n.
    """

    member: Booleans
    stratum: Indices
    amount: Array
    cost: float = 0.0

    def share(self, frequency: Array | None) -> tuple[Array, Array]:
        """Return the share of each stratum that is in the arm, and the number of rows of each stratum."""
        k = int(self.stratum.max()) + 1
        times = np.ones(self.size) if frequency is None else frequency
        total = np.bincount(self.stratum, times, k)
        inside = np.bincount(self.stratum, times * self.member, k)
        return np.divide(inside, total, out=np.zeros(k), where=total > 0), total

    def signed(self, frequency: Array | None) -> Array:
        """Return a/q − c of each row; 0 if no row of the arm was drawn."""
        share = self.share(frequency)[0][self.stratum]
        share_of_arm = np.where(self.member, share, 1 - share)
        return np.divide(self.amount, share_of_arm, out=np.zeros(self.size), where=share_of_arm > 0) - self.cost

    def estimate(self, frequency: Array | None) -> Array:
        """Return the weights for given row multiplicities."""
        return np.abs(self.signed(frequency))

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row through the weights of others."""
        share, total = self.share(self.base)
        p = share[self.stratum]
        share_of_arm = np.where(self.member, p, 1 - p)
        sign = np.where(self.member, 1.0, -1.0)
        signed = self.signed(self.base)
        # ∂log w/∂p of each row, then its sum with the moves over the rows of a stratum.
        slope = np.divide(-sign * self.amount, share_of_arm**2 * signed, out=np.zeros(self.size), where=signed != 0)
        by_share = np.column_stack([np.bincount(self.stratum, slope * column, share.size) for column in moves.T])
        return ((self.member - p) / total[self.stratum])[:, None] * by_share[self.stratum]


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
    """Return partly labelled data as Predictions, in which verified rows are weighted to represent the unverified rows.

    Parameters
    ----------
    y_true : array of n labels
        Labels; values of rows that are not verified are ignored.
    verified : array of n of 0 and 1
        1 if the label of a row is known, such as for a patient with the reference test, or a granted loan.
    scores : array of n, or mapping from model name to array
    strata : array of n labels, optional
        Variable that verification depended on, such as the test result. The verified share is estimated in each
        stratum.
    probability : array of n, optional
        Known probability of verification of each row, in place of `strata`.
    pos_label, groups, segment, columns : see `rocscope.Predictions`

    Returns
    -------
    Predictions
        Weighted rows; rows that are not verified have weight 0.

    Raises
    ------
    InputError
        If a stratum has no verified row, or a verified row has the probability 0.

    See Also
    --------
    expected

    Notes
    -----
    A verified row has weight 1/π, other rows 0. This assumes that, given the strata (or the probability), verification
    does not depend on the label. With strata, this is the correction of Begg & Greenes, for all metrics at once.
    Intervals allow for the estimation of the shares.

    References
    ----------
    Begg & Greenes 1983, Biometrics 39:207–215; Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47:663–685.

    Examples
    --------
    All rows with a high score were verified. Of the two other rows, one was verified, so it has weight 2:

    >>> preds = from_verified([1, 0, 0, 0], [1, 1, 1, 0], [0.9, 0.8, 0.2, 0.1], strata=["high", "high", "low", "low"])
    >>> preds.sample_weight.tolist()
    [1.0, 1.0, 2.0, 0.0]
    >>> preds.prevalence
    0.25
    """
    given = check.check_column(verified, "verified")
    if not np.isin(given, (0, 1)).all() or not given.any():
        raise InputError("verified", expected="0 and 1, and some of 1", got=check.shown(verified))
    known, n = given == 1, given.size
    labels = np.zeros(n, bool)
    labels[known] = check.check_labels(check.check_column(y_true, "y_true", n)[known], pos_label)
    options = {"groups": groups, "segment": segment, "columns": columns}
    if probability is not None:
        chance = check.check_numbers(probability, "probability", n)
        impossible = known & ~((chance > 0) & (chance <= 1))
        if strata is not None or impossible.any():
            got = "strata too"
            if strata is None:
                got = check.count_and_first(impossible, "verified rows with another")
            raise InputError("probability", expected="above 0 and up to 1 where verified, without strata", got=got)
        weight = np.divide(1, chance, out=np.zeros(n), where=known)
        return Predictions(labels, scores, sample_weight=weight, **options)
    code = np.zeros(n, np.intp) if strata is None else check.check_groups(strata, "strata", n)
    empty = np.bincount(code, known) == 0
    if empty.any():
        raise InputError("strata", expected="verified rows in each", got=f"{empty.sum()} strata without any")
    note = "weighted for verification, which depends on the strata alone"
    weighting = ShareWeights(n, note, member=known, stratum=code, amount=known.astype(np.float64))
    return Predictions(labels, scores, sample_weight=weighting.estimate(None), weighting=weighting, **options)
