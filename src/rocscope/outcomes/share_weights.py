"""Inverse-probability weights from observed shares by stratum: of the treated, or of the verified."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope.inference.influence.estimated_weights import EstimatedWeights


@dataclass(frozen=True, eq=False, kw_only=True)
class ShareWeights(EstimatedWeights):
    """Weights |a/q − c|, where q is the observed share of a stratum in a row's arm: p or 1 − p.

    Attributes
    ----------
    member : array of N
        Whether a row is in the arm of share p.
    stratum : array of N codes
    amount : array of N
        a: 1 for plain weights, what the row brings (signed) for rows in money, 0 for rows of no weight.
    cost : float
        c, of rows in money.

    Notes
    -----
    ∂log wᵢ/∂p = −sᵢ·aᵢ/q² / (aᵢ/q − c), with sᵢ = 1 in the arm and −1 out of it; row j moves p by (1{j in it} − p)/n.
    """

    member: NDArray[np.bool_]
    stratum: NDArray[np.intp]
    amount: Array
    cost: float = 0.0

    def share(self, frequency: Array | None) -> tuple[Array, Array]:
        """Return the share of each stratum in the arm, and the number of its rows."""
        k = int(self.stratum.max()) + 1
        given = np.ones(self.size) if frequency is None else frequency
        total = np.bincount(self.stratum, given, k)
        inside = np.bincount(self.stratum, given * self.member, k)
        return np.divide(inside, total, out=np.zeros(k), where=total > 0), total

    def signed(self, frequency: Array | None) -> Array:
        """Return a/q − c of each row; 0 if nobody of the arm was drawn."""
        share = self.share(frequency)[0][self.stratum]
        own = np.where(self.member, share, 1 - share)
        return np.divide(self.amount, own, out=np.zeros(self.size), where=own > 0) - self.cost

    def estimate(self, frequency: Array | None) -> Array:
        """Return the weights for given row multiplicities."""
        return np.abs(self.signed(frequency))

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row through the weights of others."""
        share, total = self.share(self.base)
        p = share[self.stratum]
        own, sign = np.where(self.member, p, 1 - p), np.where(self.member, 1.0, -1.0)
        signed = self.signed(self.base)
        slope = np.divide(-sign * self.amount, own**2 * signed, out=np.zeros(self.size), where=signed != 0)
        by_share = np.column_stack([np.bincount(self.stratum, slope * column, share.size) for column in moves.T])
        return ((self.member - p) / total[self.stratum])[:, None] * by_share[self.stratum]
