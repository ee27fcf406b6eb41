"""The figures of Harrell's val.prob, for who compares with R or with published validations."""

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from scipy.special import chdtrc, expit, logit, xlog1py, xlogy

from rocscope._types import Array
from rocscope.calibration.cox import cox_calibration
from rocscope.calibration.discrepancy import calibration_index
from rocscope.calibration.goodness import spiegelhalter_test
from rocscope.calibration.intervals.evidence import evidence
from rocscope.calibration.outcomes import Outcomes
from rocscope.calibration.scores import brier
from rocscope.core.result import Result
from rocscope.core.rows import refuse_repeats
from rocscope.curves.roc_curve import auc


@dataclass(frozen=True)
class ValProb(Result):
    """What val.prob prints.

    Attributes
    ----------
    dxy, c : float
        Somers' D and the area under the ROC curve.
    r2 : float
        Nagelkerke's, of the probabilities as they are.
    d, u, q : float
        Discrimination of the probabilities as they are and unreliability per row, in likelihood ratio χ², and their
        difference, the quality index.
    u_p : float
        p-value of the hypothesis that intercept and slope are 0 and 1.
    brier, intercept, slope : float
    emax, e90, eavg : float
        Distances to the LOESS curve: largest, 90th percentile, mean (the ICI).
    s_z, s_p : float
        Spiegelhalter's test.
    """

    dxy: float
    c: float
    r2: float
    d: float
    u: float
    q: float
    u_p: float
    brier: float
    intercept: float
    slope: float
    emax: float
    e90: float
    eavg: float
    s_z: float
    s_p: float


def val_prob(
    y_true: Any, y_score: Any = None, *, model: str | None = None, pos_label: Any = None, sample_weight: Any = None
) -> ValProb:
    """Figures of val.prob: discrimination, unreliability, quality, calibration and its distances.

    Parameters
    ----------
    y_true, y_score, model, pos_label, sample_weight : data of one model
        In any form; see `rocscope.sample`.

    Returns
    -------
    ValProb
        Those of logistic recalibration are NaN where it does not exist (see `cox_calibration`).

    Raises
    ------
    OneClassError
        If one class is missing.
    ScoreError
        If a score is not a probability.

    Notes
    -----
    R² and D are those that rms 6.5 prints: of the probabilities as they are, not of what recalibration makes of them.

    References
    ----------
    Harrell 2015, Regression Modeling Strategies, 2nd ed., §10.9; function val.prob of the R package rms.

    Examples
    --------
    >>> found = val_prob([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    >>> round(found.c, 4), round(found.brier, 4)
    (0.8889, 0.1667)
    """
    refuse_repeats(y_true, "val.prob")
    counts = evidence(y_true, y_score, model=model, pos_label=pos_label, sample_weight=sample_weight).counts
    sample, area = Outcomes.of(counts), auc(counts)
    cox, index, z = cox_calibration(sample), calibration_index(sample), spiegelhalter_test(sample)
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = expit(cox.intercept + cox.slope * logit(sample.score))
    n, own, null = sample.n, _deviance(sample, sample.score), _deviance(sample, np.full(fitted.size, sample.prevalence))
    best = _deviance(sample, fitted) if np.isfinite(cox.intercept) else nan
    d, u = (null - own - 1) / n, (own - best - 2) / n
    with np.errstate(over="ignore"):  # a probability of 0 of what happened has no bound
        r2 = float(np.expm1((own - null) / n) / np.expm1(-null / n))
    return ValProb(
        dxy=2 * area - 1,
        c=area,
        r2=r2,
        d=d,
        u=u,
        q=d - u,
        u_p=float(chdtrc(2, own - best)),
        brier=brier(sample),
        intercept=cox.intercept,
        slope=cox.slope,
        emax=index.emax,
        e90=index.e90,
        eavg=index.ici,
        s_z=z.statistic,
        s_p=z.p_value,
    )


def _deviance(sample: Outcomes, chance: Array) -> float:
    return -2 * float(np.sum(xlogy(sample.pos, chance) + xlog1py(sample.neg, -chance)))
