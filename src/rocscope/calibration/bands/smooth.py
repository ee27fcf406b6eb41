"""Pointwise confidence bands of smooth calibration curves: LOESS with its bias, and splines."""

import numpy as np

from rocscope._types import Array
from rocscope.calibration.loess import loess_fit
from rocscope.calibration.outcomes import Outcomes
from rocscope.inference.intervals import normal_quantile

_SPAN = 2 / 3
_ROWS_OF_SPAN = 300


def loess_limits(sample: Outcomes, x: Array, level: float) -> tuple[Array, Array]:
    """Return limits of the true curve at each x from a local quadratic fit: z standard errors and its own bias.

    Notes
    -----
    The span is ⅔·min(1, (300/n)^⅕), so that the bias shrinks with more rows. What the fit makes of a pilot curve of
    half that span, less the pilot, is taken for its bias. The variance is that of a binomial share of as many rows as
    the weights at x are worth, two successes and two failures added, so it is never 0.
    """
    rows = float(sample.effective.sum())
    span = _SPAN * min(1.0, (_ROWS_OF_SPAN / rows) ** 0.2)
    fit, pilot = loess_fit(sample, span, 2), loess_fit(sample, span / 2, 2)
    known = fit.outcomes
    weights = fit.weights_at(x)
    value = weights @ known.pos
    guess = pilot.at_levels(pilot.outcomes.pos).clip(0, 1)
    bias = np.abs(weights @ (guess * known.total) - pilot.at(x, pilot.outcomes.pos).clip(0, 1))
    worth = 1 / ((weights * known.total) ** 2 @ (1 / known.effective))
    share = (worth * value.clip(0, 1) + 2) / (worth + 4)
    reach = normal_quantile(level) * np.sqrt(share * (1 - share) / worth) + bias
    return (value - reach).clip(0, 1), (value + reach).clip(0, 1)
