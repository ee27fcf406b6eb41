"""vus: volume under the ROC surface of three classes, with its interval."""

from math import sqrt
from typing import Any, Literal

import numpy as np

from rocscope import _validation as check
from rocscope._types import Array
from rocscope.core.rows import require_distinct
from rocscope.errors import InputError, OneClassError
from rocscope.inference.estimate import Estimate
from rocscope.multiclass.areas.volume import ordinal_volume, sampled_volume, triple_volume
from rocscope.multiclass.classes import check_classes, check_probabilities, class_index, label_column
from rocscope.multiclass.intervals import by_logit, share_of_pairs
from rocscope.multiclass.predictions import predictions_of

MOST_TRIOS = 20_000_000
"""Up to so many trios of probability triples are all looked at."""

_TRIOS_PER_ROW = 200


def vus(
    y_true: Any,
    score: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    method: Literal["auto", "exact", "sampled"] = "auto",
    random_state: Any = 0,
) -> Estimate:
    """Volume under the ROC surface: share of trios, one case of each of three classes, that are sorted right.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
    score : array of n scores, or n × 3 array of probabilities
        One score that should rise from the first class to the last; or the probabilities of the three classes.
    model : str, optional
        Which model of the predictions.
    classes : sequence of three labels, optional
        In their order, which matters for one score; sorted when left out.
    sample_weight : array of n weights, optional
        Numbers of equal rows.
    level : float
        Confidence level.
    method : {"auto", "exact", "sampled"}
        For probabilities: all trios, or 200 random ones about each row; "auto" takes all up to 20 million. One score
        is always exact.
    random_state : int, Generator, RandomState or None
        Of the random trios.

    Raises
    ------
    InputError
        If there are not three classes.
    OneClassError
        If one of them has no cases.

    Notes
    -----
    One score: a trio counts 1 if its scores rise strictly with the class, 1/2 if two neighbours tie, 1/6 if all
    three do; chance gives 1/6. O(n log n).

    Probabilities: a trio counts 1 if, of the six ways to assign its cases to the three corners of the simplex, the
    right one has the smallest sum of distances; ties share it. O(n₁·n₂·n₃).

    Both are U-statistics of three samples; the variance is the sum over classes of the variance of the share of
    right trios that a case is in, over the size of the class, and the interval is symmetric on the logit scale.
    Random trios add their own variance. Where the variance is 0 the interval is Wilson's for as many trios as the
    smallest class has cases.

    References
    ----------
    Mossman 1999, Med. Decis. Making 19:78–89; Dreiseitl, Ohno-Machado & Binder 2000, Med. Decis. Making 20:323–331;
    Nakas & Yiannoutsos 2004, Stat. Med. 23:3437–3449.

    Examples
    --------
    Of the 2·2·2 trios 6 rise strictly, and 2 tie at 5:

    >>> score = [1, 2, 3, 5, 5, 7]
    >>> vus(["low", "low", "mid", "mid", "high", "high"], score, classes=["low", "mid", "high"]).value
    0.875
    """
    check.check_level(level)
    check.check_choice("method", method, ("auto", "exact", "sampled"))
    require_distinct(y_true, "volume under the surface")
    groups, weights = _three_groups(y_true, score, model, classes, sample_weight)
    if groups[0].ndim == 1:
        volume = ordinal_volume(groups, weights)
    elif method == "exact" or (method == "auto" and np.prod([float(len(group)) for group in groups]) <= MOST_TRIOS):
        volume = triple_volume(groups, weights)
    else:
        volume = sampled_volume(groups, weights, _TRIOS_PER_ROW, check.check_random_state(random_state))
    name = "U-statistic" if not volume.sampling_variance else f"U-statistic of {volume.trios:,} random trios"
    smallest = min(float(weight.sum()) for weight in weights)
    standard_error = sqrt(volume.variance + volume.sampling_variance)
    n = sum(float(weight.sum()) for weight in weights)
    if not (standard_error > 0 and 0 < volume.value < 1):
        return share_of_pairs(volume.value, smallest, level, "trios", n)
    return by_logit(volume.value, standard_error, level, name, n)


def _three_groups(
    y_true: Any, score: Any, model: str | None, classes: Any, sample_weight: Any
) -> tuple[list[Array], list[Array]]:
    """Return the scores or triples, and the weights, of each of three classes in their order."""
    if score is None:
        preds = predictions_of(y_true, name="y_true", classes=classes, sample_weight=sample_weight)
        names, index, weight = preds.classes, preds.y_true, preds.sample_weight
        values = preds.probabilities(model)
    else:
        actual = label_column(y_true, "y_true")
        names = check_classes(check.distinct(actual) if classes is None else classes)
        index = class_index(actual, names, "y_true")
        weight = check.check_weights(sample_weight, actual.size)
        values = np.asarray(score)
        values = check.check_scores(values, actual.size, "score") if values.ndim == 1 else values
    if len(names) != 3:
        raise InputError("vus", expected="three classes", got=f"{len(names)}: {check.listing(names)}")
    if values.ndim != 1:
        values = check_probabilities(values, index.size, 3, "score").astype(np.float64)
    weight = np.ones(index.size) if weight is None else weight.astype(np.float64)
    masks = [(index == cls) & (weight > 0) for cls in range(3)]
    absent = [name for name, mask in zip(names, masks, strict=True) if not mask.any()]
    if absent:
        raise OneClassError("vus", expected="cases of all three classes", got=f"none of {check.listing(absent)}")
    return [values[mask] for mask in masks], [weight[mask] for mask in masks]
