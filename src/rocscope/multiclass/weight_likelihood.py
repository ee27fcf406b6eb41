"""Temperature and one bias per class by likelihood: class weights that do not chase single training rows."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import softmax

from rocscope._base.arrays import Array

_FLOOR = 1e-12
_BIAS_SPREAD = 10.0
_LARGEST_LOG = 700.0  # of a weight that float64 holds


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Probabilities made anew as softmax of (log p)/temperature + bias.

    Attributes
    ----------
    temperature : float
        Above 1 where the probabilities were too sure.
    bias : array of k numbers
        Sums to 0.
    """

    temperature: float
    bias: Array

    @property
    def class_weight(self) -> Array:
        """Weights w for which argmax of w·p is the most probable class after recalibration."""
        return _weights(self.bias * self.temperature)

    def balanced_weight(self, support: Array) -> Array:
        """Weights for the class of largest probability divided by its share; `support` is cases by class."""
        log_share = np.log(np.where(support > 0, support, support.sum()) / support.sum())
        return _weights((self.bias - log_share) * self.temperature)

    def probabilities(self, proba: Array) -> Array:
        """Return probabilities (n × k) made anew."""
        with np.errstate(divide="ignore"):
            score = np.log(proba, dtype=np.float64) / self.temperature + self.bias
        return softmax(score, axis=1)


def recalibrate(proba: Array, class_weight: Array, temperature: float) -> Array:
    """Return probabilities in proportion to (w·p)^(1/temperature)."""
    with np.errstate(divide="ignore"):
        score = np.log(proba * class_weight, dtype=np.float64) / temperature
    return softmax(score, axis=1)


def _weights(log_weight: Array) -> Array:
    """Return weights of geometric mean 1, as far as float64 holds them."""
    return np.exp((log_weight - log_weight.mean()).clip(-_LARGEST_LOG, _LARGEST_LOG))


def fit_recalibration(y: Array, proba: Array, weight: Array) -> Recalibration:
    """Return the temperature and the biases of greatest likelihood.

    Notes
    -----
    Convex in (1/temperature, bias); L-BFGS. A weak pull of the biases towards 0 (a normal prior of standard deviation
    10) keeps them finite where a class has no cases. Probabilities of 0 count as 1e-12, or as the least one above 0
    that occurs where that is less.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017 (temperature); Alexandari, Kundaje & Shrikumar 2020 (bias-corrected
    temperature scaling).
    """
    k = proba.shape[1]
    logp = _log(proba)
    weight = np.broadcast_to(weight, y.shape)
    n = weight.sum()
    observed = np.bincount(y, weight, k)
    own = np.take_along_axis(logp, y[:, np.newaxis], axis=1)[:, 0] @ weight

    def loss(parameters: Array) -> tuple[float, Array]:
        sharpness, bias = parameters[0], parameters[1:]
        score = logp * sharpness
        score += bias
        top = score.max(axis=1, keepdims=True)
        score -= top
        np.exp(score, out=score)
        total = score.sum(axis=1)
        log_total = np.log(total) + top[:, 0]
        score *= (weight / total)[:, np.newaxis]
        value = weight @ log_total - sharpness * own - observed @ bias + (bias @ bias) / (2 * _BIAS_SPREAD**2)
        slope = np.einsum("ij,ij->", score, logp) - own
        gradient = np.concatenate([[slope], score.sum(axis=0) - observed + bias / _BIAS_SPREAD**2])
        return float(value / n), gradient / n

    start = np.concatenate([[1.0], np.zeros(k)])
    bounds = [(1e-3, None), *[(None, None)] * k]
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    bias = found.x[1:] - found.x[1:].mean()
    return Recalibration(float(1 / found.x[0]), bias)


def _log(proba: Array) -> Array:
    positive = proba > 0
    if positive.all():
        return np.log(proba, dtype=np.float64)
    least = min(_FLOOR, float(proba[positive].min()))
    return np.log(np.where(positive, proba, least), dtype=np.float64)
