"""Compare models by their mean AUC over segments, where segments are the sampling units."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import contract
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError
from rocscope.inference.estimate import Comparison, Comparisons
from rocscope.inference.hypothesis import OF_ESTIMATES, Adjust, Alternative, Hypothesis, Test, compare_each_two
from rocscope.inference.influence.units import OverFolds
from rocscope.sample import refusal
from rocscope.segments.data import counted_by_segment, segments_of
from rocscope.segments.levels import SegmentWeight
from rocscope.segments.means import SegmentMeans
from rocscope.segments.segmented_counts import SegmentedCounts, areas_of


@contract
def compare_segments(
    models: Predictions | Mapping[str, SegmentedCounts],
    *,
    weight: SegmentWeight = "n",
    folds: OverFolds | None = None,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
) -> Comparisons:
    """Compare the mean AUC over segments between models: second − first, with segments as sampling units.

    Parameters
    ----------
    models : Predictions with segments, or mapping from model name to SegmentedCounts
        As `read_counts` gives them. Models of the same rows in the same segments.
    weight : {"n", "n_pos", None}
        What a segment counts: its rows (GAUC), its positives (wuAUC), or as much as any other.
    folds : {"pooled", "mean"}, optional
        See `SegmentedCounts.mean_auc`.
    alternative, test, margin, level, adjust : see `compare`

    Returns
    -------
    Comparisons
        One Comparison for each pair of models.

    Raises
    ------
    InputError
        If there are fewer than two models.
    PairingError
        If models have other segments, or other numbers of positives and negatives in them.
    OneClassError
        If no segment has both classes.

    Notes
    -----
    A paired t-test of the differences d of k segments, which may depend within segments in any way: mean Σwd/Σw, the
    variance of leaving out each segment (CR3), (k − 1)/k·Σ(w(d − mean)/(Σw − w))², and (Σw)²/Σw² − 1 degrees of
    freedom. Of weights None it is the paired t-test over users or queries of the field. Segments without both classes
    are left out, and counted in the method. Marked as not reliable where segments are worth fewer than 10 of equal
    weight.

    References
    ----------
    Bell & McCaffrey 2002, Surv. Methodol. 28:169–181 (CR3);
    Smucker, Allan & Carterette 2007, CIKM:623–632 and Urbano, Lima & Hanjalic 2019, SIGIR:505–514 (which tests hold
    over queries: Student's t); Zhu et al. 2017, KDD, §4 (GAUC); Cochran 1977, Sampling Techniques, 3rd ed., §6.

    Examples
    --------
    Of three users, model b ranks two better than a, and one alike:

    >>> user = ["ann", "ann", "ann", "bob", "bob", "bob", "cy", "cy", "cy"]
    >>> scores = {"a": [2, 3, 1, 1, 2, 3, 3, 2, 1], "b": [3, 2, 1, 2, 1, 3, 3, 2, 1]}
    >>> preds = Predictions([1, 0, 0] * 3, scores, segment=user)
    >>> compare_segments(preds)["a", "b"]
    Comparison(b − a: 0.3333, 95 % interval -0.3838 to 1, p=0.184, two-sided, paired t over 3 segments weighted by rows;
    not reliable: only 3 segments of equal weight, fewer than 10)
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    segments = _by_model(models)
    areas, mass = zip(*(areas_of(each, weight, folds) for each in segments.values()), strict=True)
    means = SegmentMeans.of(np.stack(areas), mass[0], weight)

    def compare(i: int, j: int) -> Comparison:
        apart = means.values[j] - means.values[i]
        difference = replace(means, values=apart[None])
        error = difference.error(0) if np.ptp(apart) > 0 else 0.0
        reason = difference.doubt(error, "all segments differ alike") if apart.any() else ""
        method = "paired t over " + means.words
        found = hypothesis.wald(float(difference.mean[0]), error, means.k, method, df=means.df, bound=1)
        found = replace(found, reason=reason)
        return hypothesis.compare(names[i], names[j], found, df=means.df, method=method)

    names = list(segments)
    estimates = {name: means.estimate(i, level) for i, name in enumerate(names)}
    return compare_each_two("mean AUC over segments", estimates, means.covariance, compare, adjust)


def _by_model(models: Any) -> dict[str, SegmentedCounts]:
    found = segments_of(models) if isinstance(models, Predictions) else counted_by_segment(models)
    if not found or isinstance(models, SegmentedCounts):
        raise refusal("models", "Predictions with segments, or a mapping from model to SegmentedCounts", models)
    if len(found) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(found)}")
    return found
