"""optimism: what it costs to choose a threshold, and a model, on the rows on which they are judged."""

from dataclasses import replace
from math import nan
from typing import Any, cast

import numpy as np

from rocscope import _validation as check
from rocscope._progress import Progress
from rocscope._types import Array
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.rows import Rows
from rocscope.decisions.certainty.threshold_choice import Rule
from rocscope.decisions.choosing import choose
from rocscope.decisions.criteria import Function, criterion_of
from rocscope.decisions.uncertain import UncertainContext
from rocscope.errors import InputError
from rocscope.evaluation.choice.candidates import candidates
from rocscope.evaluation.choice.held_out import held_out
from rocscope.evaluation.choice.optimism_result import Optimism
from rocscope.evaluation.choice.replicates import Observed, Replicates, draw
from rocscope.evaluation.evaluating import evaluate
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.resampling.bootstrap import BootstrapEstimate, design_of
from rocscope.inference.resampling.draws import Design
from rocscope.sample import rows_of

_MOST = 0.1
"""The share that optimism may have of the corrected value, so that a fifth of it is no more than 2 %."""

_SEEN = 2 ** (-1 / 3)
"""The part of the optimism of a best point that the bootstrap sees: docs/guide/evaluation/price-of-choosing.md."""


def optimism(
    data: Any,
    context: Context | UncertainContext | None = None,
    *,
    criterion: str | Function | None = None,
    X: Any = None,
    y: Any = None,
    cv: Any = 10,
    repeats: int = 10,
    replicates: int = 2000,
    stratified: bool = False,
    groups: Any = None,
    weights: WeightKind = "auto",
    level: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> Optimism:
    """Price of choosing a threshold, and a model, on the rows on which they are judged.

    Parameters
    ----------
    data : Predictions, or estimators with X and y
        Estimators as `rocscope.evaluate` takes them: their scores are then out of fold. A search of scikit-learn stands
        for its settings, each of them a model to choose; its own folds and scores are not used.
    context, criterion : see `rocscope.choose`
        What is chosen by: lowest expected cost, or a criterion.
    X, y : see `rocscope.evaluate`
        For estimators only.
    cv : int, or whatever else `rocscope.evaluate` takes for estimators
        Folds that estimators are judged in; or that the choice is cross-validated in, where Predictions have none of
        their own.
    repeats : int
        Of that cross-validation.
    replicates : int
        Of the bootstrap.
    stratified, groups, weights : see `rocscope.bootstrap`
    level : float
        Confidence level.
    random_state, progress : see `rocscope.evaluate`

    Raises
    ------
    OneClassError
        If a class is missing, or the rows outside a fold have one class.
    InputError
        See `rocscope.choose`; also if estimators come without X and y, or there is one fold only.

    Warns
    -----
    RocscopeWarning
        If some replicates lack a class: they are left out.

    Notes
    -----
    In each replicate model and threshold are chosen anew. The worth of that choice in the replicate less its worth in
    the sample (signed so that more is better) is Efron's optimism. Where a best point is chosen on a jagged curve, and
    so errs by n^(−2/3), its mean sees only 2^(−1/3) of the true optimism, and is divided by that. The corrected value
    is the apparent one less optimism; its interval is that of the chosen threshold taken as given, moved alike.
    Expected loss is the mean of (best worth in the sample) − (worth there of the replicate's choice). By
    simulation it is 0.6 to 1.4 times the true one; where scores are all different, rather too large.

    By simulation of binormal samples of 50 to 400 rows (docs/guide/evaluation/price-of-choosing.md) the apparent cost
    is too low by 3 to 31 %, the corrected one by 7 % at most, and the cross-validated one is off by 2 % at most. The
    correction misses up to a fifth of the optimism, so where that is more than a tenth of the corrected value this is
    not reliable, and `estimate` is the cross-validated one.

    `fold_corrected` takes no replicates: it adds what the best model and threshold of each fold, chosen on the fold
    itself, gains there. Folds of few rows gain too much, so that it is on the safe side.

    The scores are taken as given. Scores of rows that a model was fitted to are too good whatever threshold is chosen;
    pass out-of-fold predictions (`rocscope.evaluate`), or estimators.

    A threshold interval that is wide where expected loss is small means that many thresholds will do.

    O(replicates · levels): about a second for 2,000 replicates of 10,000 rows with as many scores.

    References
    ----------
    Efron & Gong 1983, Am. Stat. 37:36–48; Harrell, Lee & Mark 1996, Stat. Med. 15:361–387 (optimism); Kim & Pollard
    1990, Ann. Stat. 18:191–219 (cube-root rate); Tibshirani & Tibshirani 2009, Ann. Appl. Stat. 3:822–829; Fluss,
    Faraggi & Reiser 2005, Biom. J. 47:458–472 (how Youden's threshold varies).

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 1, 0, 1, 0, 0, 1, 0] * 4, list(range(40, 0, -1)))
    >>> found = optimism(preds, Context(cost_fn=2), replicates=200)
    >>> found.decision.threshold, round(found.apparent.value, 3), found.corrected.value > found.apparent.value
    (5, 0.475, True)
    """
    check.check_level(level)
    seed = check.seed_of(random_state)
    predictions = _predictions(data, X, y, cv, seed, progress)
    decision = choose(predictions, context, criterion=criterion)
    rule = Rule(criterion_of(criterion or ("accuracy" if context is None else "min_cost")), decision.context)
    design = design_of(predictions, stratified=stratified, groups=groups, weights=weights)
    sample = Observed.of(design, rule, decision)
    judged, by_folds = held_out(
        predictions, sample.rule, decision, folds=cv, repeats=repeats, groups=groups, level=level, seed=seed
    )
    drawn = draw(design, sample, replicates, seed, progress)
    in_sample = sample.at(sample.worth, drawn)
    gained = float(sample.rule.better_by(drawn.worth, in_sample).mean()) / _SEEN
    loss = np.abs(sample.apparent - in_sample)
    moved = -rule.criterion.sign * gained
    of_choice = drawn.worth_of_choice

    def estimate(value: float, values: Array, method: str) -> Estimate:
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        facts = ", ".join(part for part in (method, f"{replicates} replicates", design.note) if part)
        return Estimate(value, float(low), float(high), level, f"bootstrap ({facts})", design.n)

    return Optimism(
        decision=decision,
        quantity="expected cost" if rule.criterion.name == "min_cost" else rule.criterion.name,
        apparent=estimate(sample.apparent, of_choice, "percentile, threshold as given"),
        cross_validated=judged,
        corrected=replace(
            estimate(sample.apparent + moved, of_choice + moved, "percentile, moved by the optimism"),
            reason=_doubt(gained, sample.apparent + moved),
        ),
        fold_corrected=by_folds,
        optimism=gained,
        expected_loss=estimate(float(loss.mean()), loss, "mean and quantiles"),
        threshold=_threshold(sample, drawn, level, design),
        models={model: float((drawn.model == number).mean()) for number, model in enumerate(sample.models)},
    )


def _doubt(optimism: float, corrected: float) -> str:
    """Return why a corrected value is not to be trusted: the correction is off by up to a fifth."""
    if optimism <= _MOST * abs(corrected):
        return ""
    share = f"{optimism / abs(corrected):.0%} of it" if corrected else "all of it"
    return f"optimism is {share}; take cross_validated"


def _threshold(sample: Observed, drawn: Replicates, level: float, design: Design) -> BootstrapEstimate:
    """Return the threshold chosen, among those of the replicates that choose its model: always observed scores."""
    same = drawn.model == sample.model
    values = sample.at(sample.thresholds, drawn)[same]
    chosen = float(sample.thresholds[sample.model][sample.point])
    spread = float(values.std(ddof=1)) if values.size > 1 and np.isfinite(values).all() else nan
    low = high = nan
    if values.size:
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(values, tails, method="inverted_cdf").tolist()
    note = ", ".join(part for part in (f"{values.size} replicates", design.note) if part)
    name = f"bootstrap (percentile, {note})"
    return BootstrapEstimate(chosen, low, high, level, name, design.n, spread, replicates=check.read_only(values))


def _predictions(data: Any, X: Any, y: Any, cv: Any, seed: int, progress: Progress) -> Predictions:
    if X is None and y is None:
        if hasattr(data, "fit"):
            raise InputError("X and y", expected="both beside estimators", got="none", hint="optimism(model, X=X, y=y)")
        return rows_of(data, name="data")
    if isinstance(data, Rows):
        raise InputError("X and y", expected="none beside Predictions", got="one", hint="leave them out")
    found = evaluate(candidates(data, seed), X, y, cv=cv, random_state=seed, progress=progress)
    if hasattr(found, "classes"):
        raise InputError("y", expected="two classes", got="more", hint="use predictions.binary(cls)")
    return cast(Predictions, found)
