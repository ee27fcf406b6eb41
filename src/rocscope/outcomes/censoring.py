"""Inverse-probability-of-censoring weights, and a test whether censoring depends on the score.

G(u) is the probability of remaining uncensored until time u. A row with an event at u ≤ t, where t is the horizon, has
the weight 1/G(u−). A row that is still at risk after t has the weight 1/G(t). Without covariates, G is the Kaplan–Meier
estimate, with censoring as the event. With covariates x, G(u|x) = exp(−Λ(u)·exp(βx)) is Cox's model of censoring: β
maximises the partial likelihood, and Λ is Breslow's estimate. Only censorings by the horizon are used, because the
weights do not depend on later censorings.

G is estimated from the rows. Each row therefore also influences a metric through the weights of other rows;
`CensoringWeights` gives the formula. `AtRisk` contains the rows at risk of being censored, the partial likelihood and
its residuals. `ScoreTest` tests with these residuals whether censoring depends on the score.

References
----------
Cox 1972, J. R. Stat. Soc. B 34:187–220; Breslow 1974, Biometrics 30:89–99; Lin & Wei 1989, J. Am. Stat. Assoc.
84:1074–1078 (residuals and robust variance); Gerds & Schumacher 2006, Biometrical J. 48:1029–1040 (weights).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rocscope._base import special
from rocscope._base.arrays import Array, Booleans, Indices, in_threads, pieces_of
from rocscope._base.grouping import sum_by
from rocscope._base.radix import levels_of_rows
from rocscope.core import Predictions, independent_units
from rocscope.inference.variance import EstimatedWeights, stratum_of_moves
from rocscope.kernels import SMALL
from rocscope.kernels.samples import find_places

_PIECE = 1 << 20  # rows per task of a thread
_CELLS = 2  # cells of the lookup table per distinct time: 1 takes a third longer, 4 is not faster
_MOST_STEPS = 50  # steps of Newton's method; about 5 are usual from a start of 0
_LAST_GAIN = 1e-12  # gain in log-likelihood per unit of weight below which the next step does not change any digit
_DEPENDENT = 0.05  # p-value below which censoring counts as dependent on a score


def _count_below(ascending: Array, values: Array) -> Indices:
    """Return for each value the number of smaller entries of `ascending`, which is sorted and has no duplicates."""
    if values.size < SMALL or ascending.size < 2:
        return np.searchsorted(ascending, values)
    # A table of equally wide cells gives the position in `ascending`, which is faster than bisection.
    cells = _CELLS * ascending.size
    scale = cells / (ascending[-1] - ascending[0])
    if not np.isfinite(scale):
        return np.searchsorted(ascending, values)
    cell = np.minimum((ascending - ascending[0]) * scale, cells - 1).astype(np.intp)
    starts = np.concatenate([[0], np.bincount(cell, minlength=cells).cumsum()])
    places = np.empty(values.size, np.intp)

    def find(piece: slice) -> None:
        find_places(ascending, starts, scale, values[piece], places[piece])

    in_threads(find, pieces_of(values.size, _PIECE))
    return places


class PartialLikelihood(NamedTuple):
    """Cox's partial likelihood of censoring at given coefficients β, with k censoring times and p covariates.

    Attributes
    ----------
    coefficients : array of p
        Coefficients β; p may be 0.
    value : float
        Logarithm of the partial likelihood.
    score : array of p
        Gradient of `value` with respect to β.
    information : p × p array
        Negative Hessian of `value`.
    risk : array of N
        exp(βx) of each row.
    hazard : array of k
        Increments of Breslow's estimate Λ.
    at_risk : array of k
        Weighted sum S₀ of `risk` over the rows at risk at each censoring time.
    mean : k × p array
        Mean covariates of the rows at risk, weighted by `risk`.
    """

    coefficients: Array
    value: float
    score: Array
    information: Array
    risk: Array
    hazard: Array
    at_risk: Array
    mean: Array


@dataclass(frozen=True, eq=False)
class AtRisk:
    """Rows at risk of being censored at each of the k distinct censoring times up to a horizon.

    If an event and a censoring have the same time, the event comes first. A row with an event at time u is therefore
    not at risk of being censored at u.

    Attributes
    ----------
    reached : array of N
        Number of censoring times at which each row is at risk. Every row is at risk from the first time on.
    censored : array of N
        True for a row that is censored up to the horizon. It is censored at the last time at which it is at risk.
    time : array of k
        Distinct censoring times in increasing order.
    """

    reached: Indices
    censored: Booleans
    time: Array

    @classmethod
    def of(cls, time: Array, event: Array, horizon: float) -> "AtRisk":
        """Return the rows at risk, given the time and the kind of event of each row (0: censored)."""
        censored = (event == 0) & (time <= horizon)
        distinct = np.unique(time[censored])
        reached = np.full(time.size, distinct.size)
        by_then = np.flatnonzero(time <= horizon)
        reached[by_then] = _count_below(distinct, time[by_then]) + censored[by_then]
        return cls(reached, censored, distinct)

    def until(self, horizon: float) -> "AtRisk":
        """Return the rows at risk with a shorter horizon."""
        last = int(np.searchsorted(self.time, horizon, side="right"))
        if last == self.time.size:
            return self
        return AtRisk(np.minimum(self.reached, last), self.censored & (self.reached <= last), self.time[:last])

    def hazard(self, weight: Array | None) -> Array:
        """Return the hazard of being censored at each censoring time, without covariates."""
        at_risk = np.bincount(self.reached, weight, 1 + self.time.size)[::-1].cumsum()[-2::-1]
        n_censored = np.bincount(
            self.reached[self.censored], None if weight is None else weight[self.censored], 1 + self.time.size
        )[1:]
        return np.divide(n_censored, at_risk, out=np.zeros(self.time.size), where=at_risk > 0)

    def likelihood(self, covariates: Array, coefficients: Array, weight: Array) -> PartialLikelihood:
        """Compute the partial likelihood at given coefficients; tied censorings are treated as by Breslow."""
        linear = covariates @ coefficients
        risk = np.exp(linear)
        with_ones = np.column_stack([np.ones(risk.size), covariates])
        sums = self.sum_at_risk((weight * risk)[:, None] * with_ones)
        at_risk, mean = sums[:, 0], sums[:, 1:]
        occupied = at_risk > 0  # a bootstrap sample may lack some of the times
        mean[occupied] /= at_risk[occupied, None]
        ended = np.where(self.censored, weight, 0.0)
        n_censored = np.bincount(self.reached, ended, 1 + self.time.size)[1:]
        hazard = np.divide(n_censored, at_risk, out=np.zeros(self.time.size), where=occupied)
        log_at_risk = np.log(at_risk, out=np.zeros(self.time.size), where=occupied)
        # Sum over times of the mean squares of the rows at risk. Summing by rows avoids a matrix for each time.
        squares = (covariates.T * (weight * risk * self.cumulative(hazard))) @ covariates
        return PartialLikelihood(
            coefficients,
            value=float(ended @ linear - n_censored @ log_at_risk),
            score=ended @ covariates - n_censored @ mean,
            information=squares - (mean.T * n_censored) @ mean,
            risk=risk,
            hazard=hazard,
            at_risk=at_risk,
            mean=mean,
        )

    def fit(self, covariates: Array, weight: Array) -> PartialLikelihood:
        """Maximise the partial likelihood by Newton's method, starting from coefficients of 0."""
        current = self.likelihood(covariates, np.zeros(covariates.shape[1]), weight)
        for _ in range(_MOST_STEPS if covariates.size else 0):
            # Use a pseudo-inverse, because covariates may be collinear in a bootstrap sample.
            step = np.linalg.pinv(current.information, hermitian=True) @ current.score
            gain = current.score @ step
            following = self.likelihood(covariates, current.coefficients + step, weight)
            if gain <= _LAST_GAIN * weight.sum():
                return following
            while following.value < current.value:  # the likelihood is concave, so a shorter step increases it
                step = step / 2
                following = self.likelihood(covariates, current.coefficients + step, weight)
            current = following
        return current

    def sum_at_risk(self, values: Array) -> Array:
        """Sum `values` (N × m) over the rows at risk at each censoring time; return a k × m array."""
        by_last_time = sum_by(self.reached, values, 1 + self.time.size)
        return by_last_time[::-1].cumsum(axis=0)[::-1][1:]

    def cumulative(self, steps: Array) -> Array:
        """Sum `steps` (k, or k × m), for each row, over the censoring times at which the row is at risk."""
        return np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])[self.reached]

    def residuals(self, fitted: PartialLikelihood, values: Array) -> Array:
        """Return the sum over censoring times k of values_k·dM(k) for each row; `values` is a k × m array.

        Here dM(k) = 1{censored at k} − 1{at risk at k}·exp(βx)·hazard_k is the martingale increment of the row.
        """
        result = -fitted.risk[:, None] * self.cumulative(values * fitted.hazard[:, None])
        result[self.censored] += values[self.reached[self.censored] - 1]
        return result

    def score_residuals(self, fitted: PartialLikelihood, covariates: Array) -> Array:
        """Return the score residual Σ_k (x − x̄_k)·dM(k) of each row (N × p)."""
        martingale = self.residuals(fitted, np.ones((self.time.size, 1)))
        return covariates * martingale - self.residuals(fitted, fitted.mean)


@dataclass(frozen=True, eq=False, kw_only=True)
class CensoringWeights(EstimatedWeights):
    """Weights 1/G, where the probability G of remaining uncensored is estimated by Kaplan–Meier or Cox's model.

    Attributes
    ----------
    parts : tuple of pairs
        For each stratum, the indices of its rows and an `AtRisk`.
    covariates : N × p array
        Covariates of Cox's model; p is 0 for the Kaplan–Meier estimate.
    known : array of N
        True for rows whose outcome at the horizon is known and used; all other rows have weight 0.
    max_weight : float
        Upper limit of the weights; larger weights are set to this limit.

    Notes
    -----
    Let mᵢ be the influence of row i if the weights are fixed, and rᵢ = exp(βxᵢ). For the censoring time k, let h(k) be
    the hazard, S₀(k) the sum of rᵢ over the rows at risk, and B(k) the sum of mᵢ·rᵢ over the rows at risk. Let D = Σᵢ
    mᵢ·∂log wᵢ/∂β, I the information matrix, and sⱼ the score residual of row j. Because log wᵢ = Λ(uᵢ)·rᵢ, the
    influence of row j through the weights is Σ_k B(k)/S₀(k)·dMⱼ(k) + D′I⁻¹sⱼ. For the Kaplan–Meier estimate, log wᵢ =
    −Σ log(1 − h(k)). In this case, B(k) is divided by 1 − h(k), and the second term is 0.
    """

    parts: tuple[tuple[Indices | slice, AtRisk], ...]
    covariates: Array
    known: Booleans
    max_weight: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:
        """Return the weight of each row if the rows have the given frequencies: 1/G if its outcome is known, else 0."""
        weight = np.empty(self.size)
        for rows, at_risk in self.parts:
            if self.covariates.shape[1]:
                fitted = self._fit(rows, at_risk, frequency)
                weight[rows] = np.exp(fitted.risk * at_risk.cumulative(fitted.hazard))
            else:
                hazard = at_risk.hazard(None if frequency is None else frequency[rows])
                weight[rows] = inverse_probability(hazard).take(at_risk.reached, mode="clip")
        if self.max_weight < np.inf:
            weight = np.minimum(weight, self.max_weight)
        return weight * self.known

    def through_weights(self, moves: Array) -> Array:
        """Return the influence of each row on a metric through the weights of the other rows."""
        through = np.empty(moves.shape)
        weight = self.estimate(self.base)
        depends = (weight > 0) & (weight < self.max_weight)  # reduced weights are constant, so no row influences them
        for rows, at_risk in self.parts:
            x, fitted = self.covariates[rows], self._fit(rows, at_risk, self.base)
            moved = (depends[rows] * fitted.risk)[:, None] * moves[rows]
            scale = fitted.at_risk if x.shape[1] else (1 - fitted.hazard) * fitted.at_risk
            by_hazard = at_risk.sum_at_risk(moved)
            by_hazard = np.divide(by_hazard, scale[:, None], out=np.zeros(by_hazard.shape), where=scale[:, None] > 0)
            slope = x * at_risk.cumulative(fitted.hazard)[:, None]
            slope -= at_risk.cumulative(fitted.mean * fitted.hazard[:, None])
            by_coefficients = np.linalg.pinv(fitted.information, hermitian=True) @ (slope.T @ moved)
            through[rows] = at_risk.residuals(fitted, by_hazard)
            through[rows] += at_risk.score_residuals(fitted, x) @ by_coefficients
        return through

    def _fit(self, rows: Indices | slice, at_risk: AtRisk, frequency: Array | None) -> PartialLikelihood:
        weight = np.ones(self.size) if frequency is None else frequency.astype(np.float64)
        return at_risk.fit(self.covariates[rows], weight[rows])


def inverse_probability(hazard: Array) -> Array:
    """Return 1/G after 0, 1, 2, … censoring times, given the hazard at each time; 0 if G is 0."""
    with np.errstate(divide="ignore"):
        inverse = 1 / np.concatenate([[1.0], np.cumprod(1 - hazard)])
    inverse[~np.isfinite(inverse)] = 0
    return inverse


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """Test whether censoring up to a horizon depends on the score, within strata or given covariates.

    The rank of the score is added as a covariate to Cox's model of censoring. The score test of its coefficient rejects
    if censoring depends on the score. The variance is computed from sums over independent units. With several models,
    the smallest p-value is multiplied by the number of models (Bonferroni).

    Attributes
    ----------
    rows : Predictions
        Rows with the scores of one or more models.
    weights : CensoringWeights
        Weights with the strata or covariates of the model of censoring.
    """

    rows: Predictions
    weights: CensoringWeights

    @cached_property
    def p_value(self) -> float:
        """P-value of the hypothesis that censoring does not depend on the score."""
        n, m = len(self.rows), len(self.rows.models)
        p = self.weights.covariates.shape[1]
        ranks = [levels_of_rows(score)[1] / n for score in self.rows.scores.values()]
        columns = np.column_stack([self.weights.covariates, *ranks])
        weight = np.ones(n) if self.weights.base is None else self.weights.base.astype(np.float64)
        frequency = None if self.rows.frequency is None else weight
        if frequency is None:
            weight = weight / weight.max()  # so that squares of extreme weights do not overflow
        moves = np.empty((n, m))
        for part, at_risk in self.weights.parts:
            x, w = columns[part], weight[part]
            given = at_risk.fit(x[:, :p], w).coefficients if p else np.empty(0)
            coefficients = np.append(given, np.zeros(m))
            fitted = at_risk.likelihood(x, coefficients, w)
            residuals = at_risk.score_residuals(fitted, x)
            # Part of the score that remains after estimating the other coefficients.
            explained = np.linalg.pinv(fitted.information[:p, :p], hermitian=True) @ fitted.information[:p, p:]
            moves[part] = w[:, None] * (residuals[:, p:] - residuals[:, :p] @ explained)
        units = stratum_of_moves(moves, independent_units(self.rows), frequency)
        error = np.sqrt(np.diag(units.covariance))
        z = np.divide(moves.sum(axis=0), error, out=np.zeros(m), where=error > 0)
        return min(1.0, m * 2 * float(special.ndtr(-np.abs(z).max())))

    @property
    def reason(self) -> str:
        """Reason why intervals are unreliable, if censoring depends on the score; otherwise an empty string."""
        if self.p_value >= _DEPENDENT:
            return ""
        cause = f"censoring depends on the score (p = {self.p_value:.2g})"
        return f"{cause}: pass the variables that censoring depends on as censoring= or strata="
