"""Qini and uplift curves with intervals."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.registry import reach
from rocscope.core.result import Result, frame_of
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.row_levels import RowLevels

UpliftKind = Literal["qini", "uplift"]


@dataclass(frozen=True, eq=False, repr=False)
class UpliftCurve(Result):
    """Additional responses from contacting the best-scored cases, by number contacted.

    Attributes
    ----------
    kind : {"qini", "uplift"}
    model : str
    contacted : array of k + 1
        Rows with a score of at least each distinct one; 0 first.
    gained : array of k + 1
        Responses added among them.
    area : Estimate
        Area between the curve and the straight line to its end, divided by n²: what the ranking adds per case, in the
        mean over all depths, to contacting the same number at random.
    coefficient : Estimate
        That area divided by the one of a perfect ranking: scikit-uplift's `qini_auc_score` and `uplift_auc_score`. NaN
        for responses other than 0 and 1.
    effect : Estimate
        Of contacting everybody, per case: the average treatment effect.

    Notes
    -----
    With the treated and controls n_t, n_c among those contacted and their responses y_t, y_c: the Qini curve is
    y_t − y_c·n_t/n_c, responses of the treated only; the uplift curve (y_t/n_t − y_c/n_c)·(n_t + n_c), of all. The
    whole area under a curve, per case, is `area` + `effect`/2 (of the Qini curve with what its end is per case);
    divided by the end of the uplift curve per case it is causalml's normalised `auuc_score`, but for 1/n.

    Examples
    --------
    >>> from rocscope.outcomes import from_experiment
    >>> curve = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]).qini()
    >>> curve.at(0.5), round(curve.effect.value, 4)
    (1.0, 0.3333)
    """

    kind: UpliftKind
    model: str
    contacted: Array
    gained: Array
    area: Estimate
    coefficient: Estimate
    effect: Estimate

    @property
    def depth(self) -> Array:
        """Share of the rows that are contacted."""
        return self.contacted / self.contacted[-1]

    def at(self, depth: float) -> float:
        """Return the additional responses at a share contacted, by linear interpolation."""
        return float(np.interp(depth, self.depth, self.gained))

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and the line of contacting at random; see `plotting.plot_uplift`."""
        return reach("plotting").plot_uplift(self, ax)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points as a table."""
        return frame_of({"contacted": self.contacted, "depth": self.depth, "gained": self.gained}, backend)

    def __repr__(self) -> str:
        return f"UpliftCurve({self.kind} of {self.model!r}, area over random {self.area.words})"


@dataclass(frozen=True, eq=False)
class Trial:
    """Responses and treatments with row weights, for cumulation along a ranking."""

    response: Array
    treated: NDArray[np.bool_]
    weight: Array

    def curve(self, score: Array, kind: UpliftKind) -> tuple[Array, Array]:
        """Return the numbers contacted and the additional responses, starting with nobody."""
        return self._cumulated(score, kind)[:2]

    def area_and_moves(self, score: Array, kind: UpliftKind) -> tuple[Array, Array]:
        """Return the area under the curve and its end, per case, with the influence of each row (n × 2).

        Notes
        -----
        A = Σ_k (V_k + V_{k−1})(N_k − N_{k−1})/2. Its derivative by what one row adds to the four running sums is the
        sum of those at all later levels, with ∂A/∂V_k = (N_{k+1} − N_{k−1})/2 and ∂A/∂N_k = (V_{k−1} − V_{k+1})/2.
        """
        contacted, gained, ranked, slopes = self._cumulated(score, kind)
        n, total = contacted[-1], gained[-1]
        area = float(((gained[1:] + gained[:-1]) * np.diff(contacted)).sum()) / 2
        beyond_n, beyond_v = np.append(contacted[2:], n), np.append(gained[2:], -total)  # ∂A/∂N at the end: (V + V₋₁)/2
        by_v, by_n = (beyond_n - contacted[:-1]) / 2, (gained[:-1] - beyond_v) / 2
        end = np.zeros(by_v.size)
        end[-1] = 1
        moves = np.empty((score.size, 2))
        for j, (of_v, of_n) in enumerate(((by_v, by_n), (end, np.zeros(end.size)))):
            by_sum = [np.cumsum((of_v * slope + of_n * counts)[::-1])[::-1] for slope, counts in slopes]
            of_response, of_number = ranked.of_rows(*by_sum[:2]), ranked.of_rows(*by_sum[2:])
            moves[:, j] = self.weight * (self.response * of_response + of_number)
        values = np.array([area / n**2, total / n])
        share = (self.weight / n)[:, None]
        return values, moves / [n**2, n] - share * values * [2, 1]

    def _cumulated(self, score: Array, kind: UpliftKind) -> tuple[Array, Array, RowLevels, list[tuple[Array, int]]]:
        """Return N and V of each level, the rows' levels, and ∂V by y_t, y_c, n_t, n_c and whether N counts it."""
        ranked = RowLevels.of(self.treated, score)
        by_arm = (ranked.counts(amount) for amount in (self.weight * self.response, self.weight))
        (y_t, y_c), (n_t, n_c) = (map(np.cumsum, arms) for arms in by_arm)
        one, other = (np.divide(1, n, out=np.zeros(n.size), where=n > 0) for n in (n_t, n_c))
        if kind == "qini":
            gained = y_t - y_c * n_t * other
            slopes = [np.ones(n_t.size), -n_t * other, -y_c * other, y_c * n_t * other**2]
        else:
            n, uplift = n_t + n_c, y_t * one - y_c * other
            gained = uplift * n
            slopes = [n * one, -n * other, uplift - n * y_t * one**2, uplift + n * y_c * other**2]
        contacted = np.insert(n_t + n_c, 0, 0.0)
        return contacted, np.insert(gained, 0, 0.0), ranked, list(zip(slopes, (0, 0, 1, 1), strict=True))

    def perfect(self, kind: UpliftKind) -> Array:
        """Return the score of a perfect ranking, as scikit-uplift defines it for binary responses."""
        response, treated = self.response == 1, self.treated
        if kind == "qini":
            return np.where(response, np.where(treated, 1, -1), 0)
        lost, idle = (response & ~treated).sum(), (~response & treated).sum()
        return 2 * (response == treated) + (response if lost > idle else treated)
