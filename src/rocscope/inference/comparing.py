"""compare: differences between several models, paired or not, with tests."""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.contract import answering
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.errors import InputError, PairingError
from rocscope.figures.influence import Smooth
from rocscope.figures.registry import spelled, statistic_named
from rocscope.inference.areas.differences import METHODS, compare_areas
from rocscope.inference.areas.placements import AucSample, auc_sample, sample_of_rows
from rocscope.inference.estimate import Comparisons
from rocscope.inference.hypothesis import OF_ESTIMATES, Adjust, Alternative, Hypothesis, Test
from rocscope.inference.influence.estimating import compare_statistics
from rocscope.inference.influence.units import OverFolds, WeightKind
from rocscope.inference.resampling.bootstrap import differences
from rocscope.sample import Labels, Models, Samples, Scores, samples_of, with_scores


@answering
def compare(
    predictions: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    paired: bool | None = None,
    alternative: Alternative = "two-sided",
    test: Test = "difference",
    margin: float = 0.0,
    level: float = 0.95,
    adjust: Adjust = "holm",
    groups: Any = None,
    folds: OverFolds | None = None,
    weights: WeightKind = "auto",
    method: str = "auto",
    statistic: str | Callable[[ThresholdCounts], Any] | None = None,
    **bootstrap: Any,
) -> Comparisons:
    """Compare the AUC, or another statistic, of models: differences (second − first) with intervals and tests.

    Parameters
    ----------
    predictions, y_score, pos_label, sample_weight : data of two or more models
        Labels and a mapping from model to scores, Predictions, or a mapping from model to data as accepted by other
        functions; see `rocscope.sample`. The first two hold models of the same rows: the comparison is paired. Data by
        model are separate samples: it is unpaired, unless `paired` says that the rows are the same.
    paired : bool, optional
        For a mapping of Predictions of the same rows in the same order.
    alternative : {"two-sided", "greater", "less"}
        What is to be shown of second − first: that it is not 0, above 0, or below 0.
    test : {"difference", "superiority", "noninferiority", "equivalence"}
        In place of an alternative: that it is above `margin`, above −`margin`, or within ±`margin` (two one-sided
        tests).
    margin : float
        For the last three.
    level : float
        Confidence level of all intervals, which are two-sided whatever the test. Equivalence at 5 % is what the
        interval of level 0.9 shows that lies within the margin.
    adjust : {"holm", "bh", "max-t", "none"}
        How adjusted p-values allow for the number of pairs; "max-t" by how the differences vary together.
    groups : array of n labels, or mapping from name to one, optional
        The patient or customer that a row belongs to. By default the groups of the Predictions; False takes every row
        as independent.
    folds, weights : see `auc_interval`
    method : {"auto", "delong"}
        "auto" holds its level in small samples; "delong" is the test of that name, as pROC has it. With a statistic
        that is bootstrapped, the bootstrap's method ("auto" is "percentile").
    statistic : name of a figure, one of `rocscope.inference.statistics`, or a function of ThresholdCounts, optional
        What to compare in place of the AUC, such as ``"brier"`` or ``statistics.partial_area(max_fpr=0.1)``, in closed
        form where there is one; any other by the bootstrap.
    **bootstrap
        Options of `rocscope.bootstrap`: replicates, stratified, random_state, threads, progress.

    Returns
    -------
    Comparisons
        One Comparison for each pair of models; ``[0]`` and ``["a", "b"]`` select one.

    Raises
    ------
    PairingError
        If rows that should be the same differ in number, label, weight, fold or group; if counts, which have no
        rows, are to be paired; or if a group is in both arms of an unpaired comparison.
    InputError
        If there are fewer than two models, or a level, margin or alternative means nothing.

    Warns
    -----
    RocscopeWarning
        Where folds are pooled whose scores are on scales of their own; see `auc_interval`.

    Notes
    -----
    "auto": Welch's t for the differences of placements; where few rows determine how much ranks vary its interval is
    drawn towards one that is put together from both areas' own intervals with the correlation of DeLong's covariance
    (Obuchowski's for groups; 0 for unpaired samples). See `rocscope.inference.areas.differences`. Two models that rank
    all rows alike differ by exactly 0. The statistic is the normal one of the same p-value.

    "delong": z = (D − D₀)/√(V₁ + V₂ − 2C); unpaired t = (D − D₀)/√(V₁ + V₂) with Satterthwaite's degrees of freedom,
    (V₁ + V₂)²/(V₁²/(n₁−1) + V₂²/(n₂−1)). Intervals are clipped to −1 and 1. With a statistic, se is the standard
    deviation of the replicates of D, and the interval is that of their quantiles.

    Three or more models of the same rows are also tested all at once: see `Comparisons.omnibus`.

    The test asks whether areas differ; two curves of one area may cross: see `compare_curves`.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997; Zou & Donner 2008, Stat. Med. 27:1693–1702 (MOVER);
    Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657–680 (equivalence).

    Examples
    --------
    >>> y = [1, 1, 0, 1, 0, 1, 0, 0]
    >>> preds = Predictions(y, {"a": [8, 7, 6, 5, 4, 3, 2, 1], "b": [8, 4, 3, 7, 2, 6, 5, 1]})
    >>> compare(preds)["a", "b"]
    Comparison(b − a: 0.125, 95 % interval -0.4562 to 0.6834, p=0.629, two-sided, Welch t of placements and MOVER of
    Wilson intervals, paired; not reliable: fewer than 5 rows of a class (4))
    >>> compare(preds, method="delong")["a", "b"].p_value
    0.583...
    """
    hypothesis = Hypothesis(alternative, test, margin, level)
    check.check_choice("adjust", adjust, OF_ESTIMATES)
    data = with_scores(predictions, y_score, pos_label=pos_label, sample_weight=sample_weight)
    arms, groups = _arms(data, paired, groups)
    statistic = spelled(statistic)
    if isinstance(statistic, str):
        figure, named = statistic_named(statistic)
        statistic = None if figure.name == "auc" else named
    if isinstance(statistic, Smooth):
        return compare_statistics(arms, statistic, hypothesis, adjust, groups=groups, folds=folds, weights=weights)
    if statistic is not None:
        if folds == "mean":
            raise InputError("folds='mean'", expected="none with a statistic of your own")
        bootstrap["method"] = "percentile" if method == "auto" else method
        return differences(arms, statistic, hypothesis, adjust, groups=groups, weights=weights, **bootstrap)
    if bootstrap:
        raise InputError("options of the bootstrap", expected="a statistic with them", got=", ".join(bootstrap))
    check.check_choice("method", method, METHODS)
    samples = _samples(arms, groups, folds, weights)
    return compare_areas(samples, hypothesis, adjust, method)


def _arms(predictions: Models, paired: bool | None, groups: Any) -> tuple[Samples, Any]:
    """Return the arms, with their rows if paired, and the groups of each."""
    arms = samples_of(predictions, name="predictions")
    if arms.rows is not None and paired is False:
        hint = "pass a mapping from name to Predictions to treat them as two samples"
        raise PairingError("models of the same rows", expected="a paired comparison", got="paired=False", hint=hint)
    if len(arms) < 2:
        raise InputError("models to compare", expected="two or more", got=f"{len(arms)}")
    if arms.rows is not None:
        return arms, groups
    return join_rows(arms, groups) if paired else (arms, _groups_of_arms(arms, groups))


def _samples(
    arms: Samples, groups: Any, folds: OverFolds | None, weights: WeightKind
) -> AucSample | dict[str, AucSample]:
    if arms.rows is not None:
        return sample_of_rows(arms.rows, groups=groups, folds=folds, weights=weights)
    return {name: auc_sample(arm, groups=groups.get(name), folds=folds, weights=weights) for name, arm in arms.items()}


def join_rows(arms: Samples, groups: Any = None) -> tuple[Samples, Any]:
    """Return models with separate rows as models of common rows, after checking that all rows agree."""
    rows = {name: arm.require_rows(f"a paired comparison with {name!r}", PairingError) for name, arm in arms.items()}
    groups = _by_arm(arms, groups)
    first_name, *others = rows
    first = rows[first_name]
    for name in others:
        data = rows[name]
        for what, ours, theirs in (
            ("label", first.y_true, data.y_true),
            ("weight", first.sample_weight, data.sample_weight),
            ("fold", first.fold, data.fold),
            ("row", first.row, data.row),
            ("group", groups[first_name], groups[name]),
        ):
            _require_same(what, ours, theirs, f"{first_name!r} and {name!r}")
    scores = {name: data.scores[data.models[0]] for name, data in rows.items()}
    joined = Predictions(first.y_true, scores, **first.row_columns())
    return samples_of(joined), groups[first_name]


def _require_same(what: str, ours: Any, theirs: Any, arms: str) -> None:
    if ours is None and theirs is None:
        return
    if ours is None or theirs is None:
        raise PairingError(f"{arms} are not paired", expected=f"a {what} in both or in neither", got="in one only")
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.size != theirs.size:
        raise PairingError(f"{arms} are not paired", expected="equally many rows", got=f"{ours.size} and {theirs.size}")
    if (ours != theirs).any():
        row = int((ours != theirs).argmax())
        hint = "bring the rows into one order first"
        raise PairingError(
            f"{arms} are not paired", expected=f"the same {what}s", got=f"others in row {row}", hint=hint
        )


def _by_arm(arms: Samples, groups: Any) -> dict[str, Any]:
    """Return the groups of each arm: those given, or those of its rows."""
    given = check.by_name(groups, arms)
    own = {name: None if arm.rows is None else arm.rows.groups for name, arm in arms.items()}
    return {name: own[name] if given.get(name) is None else given[name] for name in arms}


def _groups_of_arms(arms: Samples, groups: Any) -> Mapping[str, Any]:
    if not (groups is None or groups is False or isinstance(groups, Mapping)):
        raise InputError("groups", expected="a mapping from the name of each arm to its groups")
    of_arm = {name: each for name, each in _by_arm(arms, groups).items() if each is not None}
    for first, second in combinations([name for name, each in of_arm.items() if each is not False], 2):
        shared = np.intersect1d(of_arm[first], of_arm[second])
        if shared.size:
            raise PairingError(
                "an unpaired comparison",
                expected="each group in one arm only",
                got=f"{shared.size} in both, such as {shared.tolist()[0]!r}",
                hint="such arms are not independent; keep each group in one of them",
            )
    return of_arm
