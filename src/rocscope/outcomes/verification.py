"""Verification bias: reweight verified rows to stand for those of their stratum that were not verified."""

from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.outcomes.share_weights import ShareWeights


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
    """Return partly labelled rows, with verified rows weighted for the unverified ones.

    Parameters
    ----------
    y_true : array of n labels
        What it holds in rows that are not verified does not count.
    verified : array of n of 0 and 1
        Whether the label of a row is known: the patient had the reference test, or the loan was granted.
    scores : array of n, or mapping from model name to array
    strata : array of n labels, optional
        What verification depended on, such as the result of the test: its share is observed in each.
    probability : array of n, optional
        The known probability of verification of each row, in place of `strata`.
    pos_label, groups, segment, columns : see `rocscope.Predictions`

    Returns
    -------
    Predictions
        Everything that takes Predictions takes them.

    Raises
    ------
    InputError
        If nobody of a stratum is verified, or a verified row had the probability 0.

    Notes
    -----
    A verified row has weight 1/π, others 0. This assumes that verification does not depend on the label beyond the
    strata (or the probability): with strata it is the correction of Begg & Greenes for all figures at once. Intervals
    allow for the shares being observed.

    References
    ----------
    Begg & Greenes 1983, Biometrics 39:207–215; Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47:663–685.

    Examples
    --------
    All with a high score were verified, and one in two of the others, who therefore counts twice:

    >>> preds = from_verified([1, 0, 0, 0], [1, 1, 1, 0], [0.9, 0.8, 0.2, 0.1], strata=["high", "high", "low", "low"])
    >>> preds.sample_weight.tolist()
    [1.0, 1.0, 2.0, 0.0]
    >>> preds.prevalence
    0.25
    """
    known = check.check_column(verified, "verified")
    if not np.isin(known, (0, 1)).all() or not known.any():
        raise InputError("verified", expected="0 and 1, and some of 1", got=check.shown(verified))
    known, n = known == 1, known.size
    labels = np.zeros(n, bool)
    labels[known] = check.check_labels(check.check_column(y_true, "y_true", n)[known], pos_label)
    options = {"groups": groups, "segment": segment, "columns": columns}
    if probability is not None:
        chance = check.check_numbers(probability, "probability", n)
        bad = known & ~((chance > 0) & (chance <= 1))
        if strata is not None or bad.any():
            got = "strata too" if strata is not None else check.count_and_first(bad, "verified rows with another")
            raise InputError("probability", expected="above 0 and up to 1 where verified, without strata", got=got)
        weight = np.divide(1, chance, out=np.zeros(n), where=known)
        return Predictions(labels, scores, sample_weight=weight, **options)
    code = np.zeros(n, np.intp) if strata is None else check.check_groups(strata, "strata", n)
    if (empty := np.bincount(code, known) == 0).any():
        raise InputError("strata", expected="verified rows in each", got=f"{empty.sum()} strata without any")
    note = "weighted for verification, which depends on the strata alone"
    weighting = ShareWeights(n, note, member=known, stratum=code, amount=known.astype(np.float64))
    return Predictions(labels, scores, sample_weight=weighting.estimate(None), weighting=weighting, **options)
