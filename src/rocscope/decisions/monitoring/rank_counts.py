"""RankCounts: positives and negatives in few ranges of the score, from which a monitor estimates AUCs.

Every score is a level of its own until there are many. Then ranges of few rows become one, with aligned ends in the
order of the floats: half of all floats, a quarter, and so on. So of two ranges of two
monitors one holds the other, or they are apart, and both add up. Crowded scores keep narrow ranges, wherever they lie.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocscope._base.arrays import Array
from rocscope.decisions.monitoring.confidence_sequence import asymptotic_reach, mixture_evidence
from rocscope.inference.estimate import Estimate
from rocscope.inference.planning.power import auc_variance

_MOST_LEVELS = 2048  # ranges of scores: half of it is what joining down to pairs of more than a 512th of the rows needs
_LEAST_SHARE = 1 / 512  # of the rows: what is joined has at most this, so that the AUC is within 1/1024
_SIGN, _WIDEST = np.uint64(1 << 63), 63
_PRIOR = 20  # rows of the smaller class that the variance of normal scores at the limit counts for
_ENOUGH = 20  # rows of each class, from which on the limit theorem is leaned on


def _keys(score: Array) -> NDArray[np.uint64]:
    """Return whole numbers that are in the order of the scores.

    Examples
    --------
    >>> np.argsort(_keys(np.array([0.5, -2.0, 0.0, -0.0, 1e300]))).tolist()
    [1, 2, 3, 0, 4]
    """
    bits = (score.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


class RankCounts:
    """Positives and negatives by block of rows and by range of scores."""

    def __init__(self) -> None:
        self.start = np.zeros(0, np.uint64)
        self.bits = np.zeros(0, np.uint64)
        self.low, self.high = np.zeros(0), np.zeros(0)
        self.pos, self.neg = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64)

    def add(self, block: int, score: Array, pos: Array, neg: Array) -> None:
        """Count so many positives and negatives at each score, in a block."""
        self._add(block, score.astype(np.float64) + 0.0, score.astype(np.float64) + 0.0, 0, pos, neg)

    def _add(self, block: int, low: Array, high: Array, bits: Any, pos: Array, neg: Array) -> None:
        key = _keys(low)
        bits = np.broadcast_to(np.asarray(bits, np.uint64), key.shape)
        place = self._place(key)
        new = (place < 0) | (self.bits[np.maximum(place, 0)] < bits if self.start.size else True)
        if new.any():
            starts, first = np.unique(key[new] >> bits[new] << bits[new], return_index=True)
            self._insert(starts, bits[new][first], low[new][first], high[new][first])
            place = self._place(key)
        while len(self.pos) <= block:
            none = np.zeros(self.start.size, np.int64)
            self.pos, self.neg = np.vstack([self.pos, none]), np.vstack([self.neg, none])
        np.add.at(self.pos[block], place, pos)
        np.add.at(self.neg[block], place, neg)
        np.minimum.at(self.low, place, low)
        np.maximum.at(self.high, place, high)
        if self.start.size > _MOST_LEVELS:
            self._join()

    def _place(self, key: Array) -> NDArray[np.intp]:
        """Return the range of each key; −1 where none holds it."""
        if not self.start.size:
            return np.full(key.shape, -1)
        place = np.searchsorted(self.start, key, side="right") - 1
        inside = (place >= 0) & ((key ^ self.start[place]) >> self.bits[place] == 0)
        return np.where(inside, place, -1)

    def _insert(self, start: Array, bits: Array, low: Array, high: Array) -> None:
        """Have further ranges; a wide one takes in those that lie in it."""
        begun = np.concatenate([self.start, start])
        order = np.argsort(begun, kind="stable")
        begun, width = begun[order], np.concatenate([self.bits, bits])[order]
        none = np.zeros((len(self.pos), start.size), np.int64)
        columns = [np.hstack([each, none])[:, order] for each in (self.pos, self.neg)]
        ends = [np.concatenate(pair)[order] for pair in ((self.low, low), (self.high, high))]
        self._set(begun, width, ends[0], ends[1], columns)

    def _set(self, start: Array, bits: Array, low: Array, high: Array, columns: list[Array]) -> None:
        """Keep ranges in order, those within a wider one joined to it."""
        last = start | ((np.uint64(1) << bits) - np.uint64(1))
        first = np.flatnonzero(np.concatenate([[True], start[1:] > np.maximum.accumulate(last)[:-1]]))
        self.bits = np.maximum.reduceat(bits, first)
        self.start = start[first] >> self.bits << self.bits
        self.low, self.high = np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)
        self.pos, self.neg = (
            np.add.reduceat(each, first, axis=1) if len(each) else np.zeros((0, first.size), np.int64)
            for each in columns
        )

    def _join(self) -> None:
        """Join ranges of few rows, the closest first."""
        share, rows = _LEAST_SHARE, (self.pos + self.neg).sum(axis=0)
        start, bits = self.start.copy(), self.bits.copy()
        while start.size > _MOST_LEVELS // 2:
            for width in np.arange(1, _WIDEST + 1, dtype=np.uint64):
                prefix = start >> width
                first = np.flatnonzero(np.concatenate([[True], prefix[1:] != prefix[:-1]]))
                held, size = np.add.reduceat(rows, first), np.diff(np.append(first, start.size))
                joined = (size > 1) & (held <= share * rows.sum())
                if joined.any():
                    of_group = np.repeat(joined, size)
                    begins = ~of_group
                    begins[first] = True
                    kept = np.flatnonzero(begins)
                    rows = np.add.reduceat(rows, kept)
                    start = np.where(of_group, prefix << width, start)[kept]
                    bits = np.where(of_group, width, bits)[kept]
            share *= 2
        place = np.searchsorted(start, self.start, side="right") - 1
        first = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
        self.low, self.high = np.minimum.reduceat(self.low, first), np.maximum.reduceat(self.high, first)
        self.pos, self.neg = (np.add.reduceat(each, first, axis=1) for each in (self.pos, self.neg))
        self.start, self.bits = start, bits

    def merge(self, other: "RankCounts") -> None:
        """Count what another one counted, block by block."""
        for block, (pos, neg) in enumerate(zip(other.pos, other.neg, strict=True)):
            self._add(block, other.low, other.high, other.bits, pos, neg)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data: of each block only the ranges that it has rows in."""
        blocks = []
        for pos, neg in zip(self.pos, self.neg, strict=True):
            there = np.flatnonzero(pos + neg)
            blocks.append({"at": there.tolist(), "pos": pos[there].tolist(), "neg": neg[there].tolist()})
        ranges = {"low": self.low.tolist(), "high": self.high.tolist(), "bits": self.bits.tolist()}
        return ranges | {"blocks": blocks}

    def add_dict(self, content: dict[str, Any]) -> None:
        """Add the counts of another one, given as plain data."""
        low, high = np.array(content["low"], float), np.array(content["high"], float)
        bits = np.array(content["bits"], np.uint64)
        for block, each in enumerate(content["blocks"]):
            at, pos, neg = (np.array(each[name], np.int64) for name in ("at", "pos", "neg"))
            self._add(block, low[at], high[at], bits[at], pos, neg)

    def auc(self, level: float) -> Estimate | None:
        """Return the AUC with an asymptotic confidence sequence; None without both classes.

        Notes
        -----
        On the logit scale, with DeLong's variance and the reach of an asymptotic confidence sequence. Rows in one range
        of several scores count as ties; the interval is wider by what that may change.
        """
        pos, neg = self.pos.sum(axis=0), self.neg.sum(axis=0)
        n_pos, n_neg = int(pos.sum()), int(neg.sum())
        if not (n_pos and n_neg):
            return None
        area, of_pos, of_neg = map(float, _areas(pos, neg))
        method, n = "asymptotic confidence sequence, logit scale", float(n_pos + n_neg)
        usual = auc_variance(min(max(area, 1 - area), 1 - 1e-9), n_neg / n_pos) / n_pos
        variance = max(of_pos / n_pos + of_neg / n_neg, usual)
        if not (variance > 0 and 0 < area < 1):
            return Estimate(area, 0.0, 1.0, level, method, n, reason="the ranks do not vary yet")
        reach = asymptotic_reach(n, level) * np.sqrt(variance) / (area * (1 - area))
        low, high = special.expit(special.logit(area) + np.array([-reach, reach]))
        open_pairs = float((pos * neg)[self.low < self.high].sum() / (2 * n_pos * n_neg))
        few = min(n_pos, n_neg)
        reason = f"only {few} rows of one class" if few < _ENOUGH else ""
        ends = max(0.0, float(low) - open_pairs), min(1.0, float(high) + open_pairs)
        return Estimate(float(area), *ends, level, method, n, float(np.sqrt(variance)), reason)

    def evidence(self, bound: float, upwards: bool) -> Array:
        """Return the log evidence that the AUC of the rows from each block on is beyond a bound; 0 for few rows."""
        pos, neg = (each[::-1].cumsum(axis=0)[::-1] for each in (self.pos, self.neg))
        return auc_evidence(pos, neg, bound, upwards)

    def area(self, block: int) -> float:
        """Return the AUC of the rows from a block on."""
        return float(_areas(self.pos[block:].sum(axis=0), self.neg[block:].sum(axis=0))[0])


def auc_evidence(pos: Array, neg: Array, bound: float, upwards: bool) -> Array:
    """Return the log evidence that the AUC of the rows from each block on is beyond a bound; 0 for few rows.

    Parameters
    ----------
    pos, neg : array of … × blocks × levels
        Counts at rising levels of the rows from each block on, those of all rows first.
    bound : float
    upwards : bool

    Notes
    -----
    Normal, with DeLong's variance of a placement over all rows, as that of the rows since a change errs together with
    their area. It is shrunk towards that of normal scores at the bound (Obuchowski & McClish 1997) while rows are few.
    """
    n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
    enough = np.minimum(n_pos, n_neg) >= _ENOUGH
    area, of_pos, of_neg = _areas(pos[..., :1, :], neg[..., :1, :])
    usual = auc_variance(max(bound, 1 - bound), np.inf)
    placed = [_shrunk(of_pos, usual, n_pos), _shrunk(of_neg, auc_variance(max(bound, 1 - bound), 1) - usual, n_neg)]
    area = _areas(pos, neg)[0]
    variance = placed[0] / np.maximum(n_pos, 1) + placed[1] / np.maximum(n_neg, 1)
    excess = np.where(enough, area - bound, 0) * (1 if upwards else -1)
    return np.where(enough, mixture_evidence(excess, variance), 0.0)


def _shrunk(variance: Array, usual: float, n: Array) -> Array:
    return (n[..., :1] * variance + _PRIOR * usual) / (n[..., :1] + _PRIOR)


def _areas(pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Return the AUC of counts at rising levels, and the variances of the placements of positives and negatives."""
    n_pos, n_neg = (np.maximum(each.sum(axis=-1, keepdims=True), 1) for each in (pos, neg))
    below = (neg.cumsum(axis=-1) - neg / 2) / n_neg
    above = (n_pos - pos.cumsum(axis=-1) + pos / 2) / n_pos
    area = (pos * below).sum(axis=-1, keepdims=True) / n_pos
    of_pos = (pos * (below - area) ** 2).sum(axis=-1) / np.maximum(n_pos[..., 0] - 1, 1)
    of_neg = (neg * (above - area) ** 2).sum(axis=-1) / np.maximum(n_neg[..., 0] - 1, 1)
    return area[..., 0], of_pos, of_neg
