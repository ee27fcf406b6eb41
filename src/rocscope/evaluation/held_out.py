"""Choosing on all folds but one and judging on that one; and what a choice of each fold's own would gain there.

Candidates: the models that a choice is made among, each setting of a search one of them.
"""

from collections.abc import Iterator, Mapping
from math import nan
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.grouping import masks_of
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.decisions.decision import Decision
from rocscope.decisions.generalization.threshold_choice import Rule, from_zero, pick
from rocscope.decisions.models import predict
from rocscope.errors import InputError, OneClassError
from rocscope.evaluation.fitting import named_models
from rocscope.evaluation.folds import fold_curves
from rocscope.inference.estimate import Estimate
from rocscope.inference.resampling.draws import Tally


def candidates(models: Any, seed: int) -> dict[str, Any]:
    """Return models by name, and in place of a search of scikit-learn its estimator at each of its settings.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> list(candidates({"near": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]})}, 0))
    ['near, n_neighbors=1', 'near, n_neighbors=5']
    """
    found: dict[str, Any] = {}
    for name, model in named_models(models).items():
        for setting in _settings(model, seed):
            told = [f"{parameter}={value!r}" for parameter, value in setting.items()]
            found[", ".join([name, *told])] = _at(model.estimator, setting) if setting else model
    return found


def _settings(model: Any, seed: int) -> list[dict[str, Any]]:
    """Return the settings of a search that is to be fitted; one without parameters of anything else."""
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    if hasattr(model, "param_grid"):
        return list(ParameterGrid(model.param_grid))
    if hasattr(model, "param_distributions") and isinstance(getattr(model, "n_iter", None), int):
        own = model.random_state
        return list(
            ParameterSampler(model.param_distributions, model.n_iter, random_state=seed if own is None else own)
        )
    return [{}]


def _at(estimator: Any, setting: dict[str, Any]) -> Any:
    from sklearn.base import clone

    copy: Any = clone(estimator)
    return copy.set_params(**{name: clone(value, safe=False) for name, value in setting.items()})


def held_out(
    predictions: Predictions,
    rule: Rule,
    decision: Decision,
    *,
    folds: Any,
    repeats: int,
    groups: Any,
    level: float,
    seed: int,
) -> tuple[Estimate, Estimate]:
    """Choose and judge in the folds of the predictions or, where they have none, in folds that are drawn.

    Each repeat of folds is a cross-validation of its own: their mean is steadier, and no surer, than one. The second
    estimate is that of Tibshirani & Tibshirani: the choice of all rows, worse by what the folds' own choices gain.
    """
    if predictions.fold is None:
        tallies = _tallies(predictions)
        runs = [
            (predictions, tallies, part)
            for part in _drawn(predictions, folds, repeats, independent_units(predictions, groups), seed)
        ]
        name = f"cross-validation, {folds} folds, {repeats} repeats"
    else:
        whole = predictions.by_repeat().values() if predictions.repeated else [predictions]
        runs = [(each, _tallies(each), _given(each)) for each in whole]
        name = f"cross-validation in the {sum(len(part) for _, _, part in runs)} folds given"
    found = [_judge(*run, rule, level) for run in runs]
    value = float(np.mean([each.value for each in found]))
    reach = float(np.sqrt(np.mean([(each.high - each.value) ** 2 for each in found])))
    n = predictions.n
    judged = Estimate(value, value - reach, value + reach, level, f"{name}, jackknife over folds", n)
    moved = float(np.mean([_with_fold_gains(*run, rule, decision) for run in runs]))
    return judged, Estimate(moved, nan, nan, level, f"Tibshirani & Tibshirani, {name}", n)


def _with_fold_gains(
    predictions: Predictions, tallies: Mapping[str, Tally], tests: list[Array], rule: Rule, decision: Decision
) -> float:
    """Return the worth of a choice less the mean, over folds, of what each fold's own best choice gains there."""
    said = predict(predictions.scores[decision.model], decision.threshold)
    weight = np.ones(len(predictions)) if predictions.sample_weight is None else predictions.sample_weight
    test, positive = np.stack(tests), predictions.y_true
    kinds = (said & positive, said & ~positive, positive, ~positive)
    cells = np.stack([test @ (weight * kind) for kind in kinds]).astype(np.float64)
    both = (cells[2:] > 0).all(axis=0)
    best = rule.choose({name: tally.counts(test[both].astype(np.int64)) for name, tally in tallies.items()})
    gains = rule.better_by(best.worth, rule.worth(*cells[:, both]))
    return float(rule.worth(*cells.sum(axis=1, keepdims=True))[0]) - rule.criterion.sign * float(np.nanmean(gains))


def _tallies(predictions: Predictions) -> dict[str, Tally]:
    return {
        model: Tally.of_rows(predictions.y_true, score, weight=predictions.sample_weight)
        for model, score in predictions.scores.items()
    }


def _given(predictions: Predictions) -> list[Array]:
    given = list(masks_of("fold", predictions.fold).values())
    if len(given) < 2:
        raise InputError("fold", expected="at least two folds", got="one", hint="leave the fold column out")
    return given


def _judge(
    predictions: Predictions, tallies: Mapping[str, Tally], tests: list[Array], rule: Rule, level: float
) -> fold_curves.Across:
    test = np.stack(tests)
    for mask in test:
        positive = predictions.y_true[~mask]
        if not positive.any() or positive.all():
            subject = "cross-validation of the choice"
            raise OneClassError(subject, expected="both classes outside every fold", got="one", hint="take fewer folds")
    choice = rule.choose({name: tally.counts((~test).astype(np.int64)) for name, tally in tallies.items()})
    cells = np.zeros((4, len(tests)))
    for number, tally in enumerate(tallies.values()):
        tp, fp = map(from_zero, tally.counts(test.astype(np.int64)))
        here = choice.model == number
        tp, fp, point = tp[here], fp[here], choice.point[here]
        cells[:, here] = [pick(tp, point), pick(fp, point), tp[:, -1], fp[:, -1]]
    total = cells.sum(axis=1, keepdims=True)
    return fold_curves.jackknife(rule.worth(*total), rule.worth(*(total - cells))[:, None], level)


def _drawn(predictions: Predictions, folds: Any, repeats: int, unit: Array | None, seed: int) -> Iterator[list[Array]]:
    """Yield the masks of stratified folds, or of folds of whole groups."""
    n = len(predictions)
    unit = np.arange(n) if unit is None else unit
    size = int(unit.max()) + 1
    if not 2 <= check.check_whole(folds, "cv") <= size:
        raise InputError("cv", expected=f"a number from 2 to {size}, that of independent cases", got=repr(folds))
    kind = np.bincount(unit, predictions.y_true, minlength=size) > 0
    check.check_whole(repeats, "repeats")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    for _ in range(repeats):
        order = rng.permutation(size)
        order = order[np.argsort(kind[order], kind="stable")]
        fold = np.empty(size, np.intp)
        fold[order] = np.arange(size) % folds
        yield [fold[unit] == number for number in range(folds)]
