"""Weights for censoring: the Kaplan–Meier estimate, Cox's model or given probabilities, and a test of dependence.

Here the "event" of the models is being censored. Only censorings by the horizon t are used; what happens later is not
needed for the weights, and may follow another law. A row with an event at u ≤ t has weight 1/G(u−), a row still at risk
after t has 1/G(t). Without covariates G is the Kaplan–Meier estimate. With covariates x, G(u|x) = exp(−Λ(u)·exp(βx)),
where β maximises the partial likelihood, and Λ is Breslow's estimate.

G is estimated, so a row also moves figures through the weights of others; `CensoringWeights.through_weights` has the
formula. `AtRisk` has the rows at risk of being censored, the partial likelihood and its residuals; `ScoreTest` applies
them to the scores.

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

_PIECE = 1 << 20  # rows that a thread takes at a time
_CELLS = 2  # for each distinct time, in which times are looked up: with 1 it takes a third longer, with 4 no less
_MOST_STEPS = 50  # of Newton's method; from 0 some 5 are usual
_LAST_GAIN = 1e-12  # gain in log-likelihood per unit of weight below which the next step changes no digit
_DEPENDENT = 0.05  # p-value below which censoring is taken to depend on a score


def _count_below(ascending: Array, values: Array) -> Indices:
    """Return how many of some distinct numbers are below each value."""
    if values.size < SMALL or ascending.size < 2:
        return np.searchsorted(ascending, values)
    # A table of equally wide cells says where in `ascending` to look, which is faster than bisection.
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
    """Cox's partial likelihood at some coefficients, with k censoring times and p covariates, which may be 0.

    Attributes
    ----------
    coefficients : array of p
    value : float
    score : array of p
    information : array of p × p
    risk : array of N
        exp(βx) of each row.
    hazard, at_risk : arrays of k
        Breslow's steps of Λ, and the weighted sum S₀ of `risk` over the rows at risk.
    mean : array of k × p
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
    """Rows at risk of being censored at each of the k distinct censoring times by a horizon.

    At tied times events come before censorings: a row with an event at u is not at risk of being censored at u.

    Attributes
    ----------
    reached : array of N
        Number of censoring times at which a row is at risk, which are the first ones.
    censored : array of N
        Whether a row is censored by the horizon, at the last of these times.
    time : array of k
    """

    reached: Indices
    censored: Booleans
    time: Array

    @classmethod
    def of(cls, time: Array, event: Array, horizon: float) -> "AtRisk":
        """Return who is at risk, given times and kinds of events (0: censored)."""
        censored = (event == 0) & (time <= horizon)
        distinct = np.unique(time[censored])
        reached = np.full(time.size, distinct.size)
        by_then = np.flatnonzero(time <= horizon)
        reached[by_then] = _count_below(distinct, time[by_then]) + censored[by_then]
        return cls(reached, censored, distinct)

    def until(self, horizon: float) -> "AtRisk":
        """Return the same until an earlier horizon."""
        last = int(np.searchsorted(self.time, horizon, side="right"))
        if last == self.time.size:
            return self
        return AtRisk(np.minimum(self.reached, last), self.censored & (self.reached <= last), self.time[:last])

    def hazard(self, weight: Array | None) -> Array:
        """Return the hazard of being censored at each time, without covariates; by default rows count once."""
        at_risk = np.bincount(self.reached, weight, 1 + self.time.size)[::-1].cumsum()[-2::-1]
        n_censored = np.bincount(
            self.reached[self.censored], None if weight is None else weight[self.censored], 1 + self.time.size
        )[1:]
        return np.divide(n_censored, at_risk, out=np.zeros(self.time.size), where=at_risk > 0)

    def likelihood(self, covariates: Array, coefficients: Array, weight: Array) -> PartialLikelihood:
        """Return the partial likelihood, in which tied censorings count as Breslow has them."""
        linear = covariates @ coefficients
        risk = np.exp(linear)
        with_ones = np.column_stack([np.ones(risk.size), covariates])
        sums = self.sum_at_risk((weight * risk)[:, None] * with_ones)
        at_risk, mean = sums[:, 0], sums[:, 1:]
        occupied = at_risk > 0  # not all times are in a sample of a bootstrap
        mean[occupied] /= at_risk[occupied, None]
        ended = np.where(self.censored, weight, 0.0)
        n_censored = np.bincount(self.reached, ended, 1 + self.time.size)[1:]
        hazard = np.divide(n_censored, at_risk, out=np.zeros(self.time.size), where=occupied)
        log_at_risk = np.log(at_risk, out=np.zeros(self.time.size), where=occupied)
        # The sum over times of mean squares of the rows at risk, summed by rows, which needs no matrix for each time.
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
        """Return the largest partial likelihood, by Newton's method from coefficients of 0."""
        current = self.likelihood(covariates, np.zeros(covariates.shape[1]), weight)
        for _ in range(_MOST_STEPS if covariates.size else 0):
            # A pseudo-inverse, as covariates may be collinear in a sample of a bootstrap.
            step = np.linalg.pinv(current.information, hermitian=True) @ current.score
            gain = current.score @ step
            following = self.likelihood(covariates, current.coefficients + step, weight)
            if gain <= _LAST_GAIN * weight.sum():
                return following
            while following.value < current.value:  # the likelihood is concave: a shorter step gains
                step = step / 2
                following = self.likelihood(covariates, current.coefficients + step, weight)
            current = following
        return current

    def sum_at_risk(self, values: Array) -> Array:
        """Return the sums of values (N × m) over the rows at risk at each time (k × m)."""
        by_last_time = sum_by(self.reached, values, 1 + self.time.size)
        return by_last_time[::-1].cumsum(axis=0)[::-1][1:]

    def cumulative(self, steps: Array) -> Array:
        """Return, for each row, the sum of steps (k, or k × m) over the times at which it is at risk."""
        return np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])[self.reached]

    def residuals(self, fitted: PartialLikelihood, values: Array) -> Array:
        """Return Σ_k values_k·dM(k) of each row, for `values` of k × m.

        The martingale of a row moves by dM(k) = 1{censored at k} − 1{at risk at k}·exp(βx)·hazard_k.
        """
        result = -fitted.risk[:, None] * self.cumulative(values * fitted.hazard[:, None])
        result[self.censored] += values[self.reached[self.censored] - 1]
        return result

    def score_residuals(self, fitted: PartialLikelihood, covariates: Array) -> Array:
        """Return s = Σ_k (x − x̄_k)·dM(k) of each row (N × p), whose weighted sum is the score."""
        martingale = self.residuals(fitted, np.ones((self.time.size, 1)))
        return covariates * martingale - self.residuals(fitted, fitted.mean)


@dataclass(frozen=True, eq=False, kw_only=True)
class CensoringWeights(EstimatedWeights):
    """Weights 1/G at a horizon, with the Kaplan–Meier estimate G of remaining uncensored, or with Cox's model.

    Attributes
    ----------
    horizon : float
    parts : tuple of pairs
        The rows of each stratum, and which of them are at risk.
    covariates : array of N × p
        p is 0 for the Kaplan–Meier estimate.
    known : array of N
        Whether the outcome of a row is known and counts; other rows have weight 0.
    max_weight : float
        Larger weights are cut to this one.

    Notes
    -----
    Let mᵢ be the moves of rows, rᵢ = exp(βxᵢ), h(k) the hazard and S₀(k) = Σ r over the rows at risk at censoring time
    k. With B(k) = Σ mᵢ·rᵢ over the rows that outlived k, D = Σᵢ mᵢ·∂log wᵢ/∂β and the information I, row j moves the
    estimate through the weights by Σ_k B(k)/S₀(k)·dMⱼ(k) + D′I⁻¹sⱼ, as log wᵢ = Λ(uᵢ)·rᵢ. For the Kaplan–Meier
    estimate log wᵢ = −Σ log(1 − h(k)), so that B(k) is divided by 1 − h(k) as well, and the second term is absent.
    """

    horizon: float
    parts: tuple[tuple[Indices | slice, AtRisk], ...]
    covariates: Array
    known: Booleans
    max_weight: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:
        """Return 1/G where the outcome is known, for given row multiplicities."""
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
        """Return the influence of each row through the weights of others."""
        through = np.empty(moves.shape)
        weight = self.estimate(self.base)
        depends = (weight > 0) & (weight < self.max_weight)  # weights that are cut depend on no row
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
    """Return 1/G after none, one, … of the censoring times; 0 once nobody is at risk."""
    with np.errstate(divide="ignore"):
        inverse = 1 / np.concatenate([[1.0], np.cumprod(1 - hazard)])
    inverse[~np.isfinite(inverse)] = 0
    return inverse


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenWeights(EstimatedWeights):
    """Weights from given probabilities of remaining uncensored, which no row moves.

    Attributes
    ----------
    horizon : float
    given : array of N
    max_weight : float
        Larger weights are cut to this one.
    """

    horizon: float
    given: Array
    max_weight: float = np.inf

    def estimate(self, frequency: Array | None) -> Array:  # noqa: ARG002
        """Return the weights, whatever the row multiplicities."""
        return np.minimum(self.given, self.max_weight)

    def through_weights(self, moves: Array) -> Array:
        """Return zeros."""
        return np.zeros(moves.shape)


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """Test whether censoring by a horizon depends on a score, within strata or given covariates.

    The score test of Cox's model of censoring: of the coefficient of the score's rank, which is 0 if censoring does not
    depend on it. Its variance is computed from sums over independent units. With several models the smallest p-value
    counts, multiplied by their number (Bonferroni).

    Attributes
    ----------
    rows : Predictions
    weights : CensoringWeights
    """

    rows: Predictions
    weights: CensoringWeights

    @cached_property
    def p_value(self) -> float:
        """The p-value of no dependence; computed once."""
        n, m = len(self.rows), len(self.rows.models)
        p = self.weights.covariates.shape[1]
        ranks = [levels_of_rows(score)[1] / n for score in self.rows.scores.values()]
        columns = np.column_stack([self.weights.covariates, *ranks])
        weight = np.ones(n) if self.weights.base is None else self.weights.base.astype(np.float64)
        frequency = None if self.rows.frequency is None else weight
        if frequency is None:
            weight = weight / weight.max()  # so that squares of extreme weights stay within floats
        moves = np.empty((n, m))
        for part, at_risk in self.weights.parts:
            x, w = columns[part], weight[part]
            given = at_risk.fit(x[:, :p], w).coefficients if p else np.empty(0)
            coefficients = np.append(given, np.zeros(m))
            fitted = at_risk.likelihood(x, coefficients, w)
            residuals = at_risk.score_residuals(fitted, x)
            # The part of the score that estimating the other coefficients leaves.
            explained = np.linalg.pinv(fitted.information[:p, :p], hermitian=True) @ fitted.information[:p, p:]
            moves[part] = w[:, None] * (residuals[:, p:] - residuals[:, :p] @ explained)
        units = stratum_of_moves(moves, independent_units(self.rows), frequency)
        error = np.sqrt(np.diag(units.covariance))
        z = np.divide(moves.sum(axis=0), error, out=np.zeros(m), where=error > 0)
        return min(1.0, m * 2 * float(special.ndtr(-np.abs(z).max())))

    @property
    def reason(self) -> str:
        """Why intervals are not reliable: that censoring depends on the score; empty if it may not."""
        if self.p_value >= _DEPENDENT:
            return ""
        cause = f"censoring depends on the score (p = {self.p_value:.2g})"
        return f"{cause}: pass what it depends on as censoring= or strata="
