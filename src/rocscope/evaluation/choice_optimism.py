"""optimism: what it costs to choose a threshold, and a model, on the rows on which they are judged.

ThresholdDistribution: which thresholds are chosen when the sample is drawn again, as a histogram.

Optimism: the result of asking what a choice costs that was made on the rows on which it is judged.

Replicates of a choice: model and threshold chosen anew in each, and what they are worth there and in the sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.progress import Progress
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, html_table
from rocscope.core.rows import Rows
from rocscope.curves.curve import Curve
from rocscope.decisions.choosing import choose
from rocscope.decisions.criteria import Function, criterion_of
from rocscope.decisions.decision import Decision
from rocscope.decisions.generalization.threshold_choice import Rule, Tallied, from_zero
from rocscope.decisions.uncertain_context import UncertainContext
from rocscope.errors import InputError, warn
from rocscope.evaluation.evaluating import evaluate
from rocscope.evaluation.held_out import candidates, held_out
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.resampling.bootstrap import BootstrapEstimate, design_of
from rocscope.inference.resampling.draws import Design, in_chunks, tally_all
from rocscope.sample import rows_of

_FEWEST_BINS = 12
_MOST_BINS = 60


class ThresholdDistribution(Curve):
    """Share of replicates (y) that choose a threshold around x.

    Attributes
    ----------
    x, y : arrays of b
        Middle of each bin, and the share of all replicates in it.
    edges : array of b + 1
    nobody : float
        Share of replicates in which predicting nobody positive is best.
    model : str
    threshold : array of b
        The same as x.
    chosen : Estimate
        The threshold chosen on the sample, with its interval.
    """

    _content = ("model", "edges", "nobody", "chosen")

    title = "distribution of the chosen threshold"
    x_name = "chosen_threshold"
    y_name = "share_of_replicates"

    def __init__(self, model: str, chosen: Estimate, replicates: Array) -> None:
        finite = replicates[np.isfinite(replicates)].astype(np.float64)
        self.model, self.chosen = model, chosen
        self.nobody = 1 - finite.size / max(replicates.size, 1)
        self.edges = _edges(finite)
        inside = np.histogram(finite, self.edges)[0] / max(replicates.size, 1)
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        super().__init__(middle, inside, middle)

    def area(self) -> float:
        raise InputError("a distribution of thresholds has no area that means anything")

    def drawn(self) -> tuple[Array, Array]:
        """Return the outline of the histogram."""
        return np.repeat(self.edges, 2), np.concatenate([[0.0], np.repeat(self.y, 2), [0.0]])


def _edges(values: Array) -> Array:
    """Return the edges of equally wide bins: as many as there is detail for, within what an eye can tell apart."""
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = values.min(), values.max()
    if low == high:
        return low + np.array([-0.05, 0.05]) * (abs(low) or 1.0)
    bins = np.histogram_bin_edges(values, "fd").size - 1
    return np.linspace(low, high, int(np.clip(bins, _FEWEST_BINS, _MOST_BINS)) + 1)


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Result):
    """How good a chosen threshold looks, how good it is likely to be, and how sure the choice is.

    Made by `rocscope.evaluation.optimism`.

    Attributes
    ----------
    decision : Decision
        The choice on all rows.
    quantity : str
        What was chosen by: "expected cost", which is better the lower it is, or a criterion.
    apparent : Estimate
        Of the chosen threshold on the rows it was chosen on; the interval takes the threshold as given.
    cross_validated : Estimate
        Of thresholds chosen on the other folds, over all held-out rows together.
    corrected : Estimate
        The apparent value less its optimism; not reliable where that is more than a tenth of what is left.
    fold_corrected : Estimate
        The apparent value less what each fold's own best choice gains there (Tibshirani & Tibshirani); no interval.
    optimism : float
        By how much a choice looks better on its own rows than on others, in units of the quantity.
    expected_loss : Estimate
        By how much the chosen threshold is expected to be worse than the truly best one; the interval is where the
        stated share of replicates lies.
    threshold : BootstrapEstimate
        The chosen threshold, and those of the replicates that choose the same model.
    models : mapping from model to float
        The share of replicates in which each is chosen.
    """

    decision: Decision
    quantity: str
    apparent: Estimate
    cross_validated: Estimate
    corrected: Estimate
    optimism: float
    fold_corrected: Estimate
    expected_loss: Estimate
    threshold: BootstrapEstimate
    models: Mapping[str, float]

    @property
    def estimate(self) -> Estimate:
        """The figure to report: the corrected one where it is reliable, and else the cross-validated one."""
        return self.corrected if self.corrected.reliable else self.cross_validated

    @property
    def distribution(self) -> ThresholdDistribution:
        """Which thresholds are chosen when the sample is drawn again."""
        return ThresholdDistribution(self.decision.model, self.threshold, self.threshold.replicates)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the distribution of the chosen threshold with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
        **line
            For the outline of the histogram, as in ``Axes.plot``.

        Returns
        -------
        Axes
        """
        return self.distribution.plot(ax, **line)

    def __repr__(self) -> str:
        chosen = self.threshold
        return (
            f"Optimism({self.quantity}: apparent {self.apparent.value:.4g}, cross-validated "
            f"{self.cross_validated.value:.4g}, corrected {self.corrected.value:.4g}{self.corrected.doubt}; "
            f"{self.decision.model} at "
            f"{chosen.value:.4g}, {100 * chosen.level:g} % interval {chosen.low:.4g} to {chosen.high:.4g})"
        )

    def _repr_html_(self) -> str:
        rows = {
            f"{self.quantity}, apparent": self.apparent,
            f"{self.quantity}, cross-validated": self.cross_validated,
            f"{self.quantity}, corrected": self.corrected,
            f"{self.quantity}, corrected by folds": self.fold_corrected,
            "expected loss against the best threshold": self.expected_loss,
            f"threshold of {self.decision.model}": self.threshold,
        }
        shares = ", ".join(f"{model} {share:.1%}" for model, share in self.models.items())
        return html_table(
            [
                *((name, *each.cells, each.method) for name, each in rows.items()),
                ("chosen in replicates", shares, "", ""),
            ],
            ("", "value", f"{100 * self.threshold.level:g} % interval", "method"),
        )


@dataclass(frozen=True)
class Observed:
    """The observed sample: the worth of each point of each model, and which was chosen."""

    rule: Rule
    worth: tuple[Array, ...]
    thresholds: tuple[Array, ...]
    models: tuple[str, ...]
    model: int
    point: int

    @classmethod
    def of(cls, design: Design, rule: Rule, decision: Decision) -> "Observed":
        tallied = tally_all(design, design.frequency[None, :])
        worth = tuple(rule.worth_of_points(*map(from_zero, counts))[0] for counts in tallied.values())
        thresholds = tuple(
            np.concatenate([[np.inf], tally.threshold[:-1].astype(np.float64), [-np.inf]])
            for tally in design.tallies.values()
        )
        models = tuple(design.tallies)
        model = models.index(decision.model)
        exact = design.tallies[decision.model].threshold
        point = 0 if decision.threshold == np.inf else exact.size
        if np.isfinite(decision.threshold):
            point = 1 + int(np.flatnonzero(exact == decision.threshold)[0])
        scale = max((float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in worth), default=0.0)
        return cls(Rule(rule.criterion, rule.context, scale or 1.0), worth, thresholds, models, model, point)

    @property
    def apparent(self) -> float:
        """The worth of the choice on its own rows."""
        return float(self.worth[self.model][self.point])

    def at(self, values: tuple[Array, ...], drawn: "Replicates") -> Array:
        """Return for each replicate the entry of its point among those of its model."""
        found = np.empty(drawn.model.size)
        for number, column in enumerate(values):
            here = drawn.model == number
            found[here] = column[drawn.point[here]]
        return found

    def worth_of_choice(self, tallied: Tallied) -> Array:
        """Return what the threshold chosen on the sample is worth in each replicate."""
        pos, neg = tallied[self.models[self.model]]
        tp, fp = (counts[:, : self.point].sum(axis=1) for counts in (pos, neg))
        return self.rule.worth(tp, fp, pos.sum(axis=1), neg.sum(axis=1))


@dataclass(frozen=True)
class Replicates:
    """One entry a replicate: what was chosen, its worth there, and there of the sample's choice."""

    model: Array
    point: Array
    worth: Array
    worth_of_choice: Array


def draw(design: Design, sample: Observed, replicates: int, seed: int, progress: Progress) -> Replicates:
    compiled = design.worth_compiling(replicates)

    def work(rng: np.random.Generator, size: int) -> Array:
        tallied = tally_all(design, design.draw(rng, size, compiled))
        choice = sample.rule.choose(tallied)
        return np.column_stack([choice.model, choice.point, choice.worth, sample.worth_of_choice(tallied)])

    columns = in_chunks(work, replicates, design.chunk, seed=seed, threads=None, progress=progress)
    usable = ~np.isnan(columns).any(axis=1)
    if not usable.any():
        raise InputError("replicates", expected="some with both classes", got=f"none of {usable.size}")
    if not usable.all():
        message = f"{(~usable).sum()} of {usable.size} replicates gave no number and are left out"
        warn(message)
    model, point, worth, of_choice = columns[usable].T
    return Replicates(model.astype(np.intp), point.astype(np.intp), worth, of_choice)


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
