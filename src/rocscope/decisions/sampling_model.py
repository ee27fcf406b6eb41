"""Costs that differ by row: the best threshold, and the rule that uses each row's own costs."""
# MERGED-DOC: """Value of a chosen threshold on new cases: cross-validated, with an interval that includes the error
# of choosing."""
# MERGED-DOC: """Costs that differ by row: what each threshold, or a given rule, costs on resampled rows."""
# MERGED-DOC: """SamplingModel: the data and the candidates of a choice, from which its value on new cases is
# estimated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core.context import CELLS, PARTS, Context, Stakes, cost_of, decimal, rows_in_money
from rocscope.core.counts import OperatingPoint, ThresholdCounts
from rocscope.core.predictions import Predictions, model_name
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.constraints import Constraint, Criterion, criterion_of, predict
from rocscope.decisions.generalization import (
    FOLDS,
    PRIOR,
    REPEATS,
    Candidate,
    Candidates,
    ChosenEstimate,
    CostOrCriterion,
    DrawsOfCounts,
    DrawsOfRows,
    FixedRule,
    HeldOut,
    InSample,
    Replicates,
    Rule,
    bootstrap_choice,
    cross_validate,
    design_of_all,
    in_sample,
)
from rocscope.decisions.model_hull import Hull
from rocscope.decisions.plan import Note
from rocscope.decisions.randomized import Reviewing
from rocscope.errors import InputError, ScoreError
from rocscope.geometry import Choices, TangentPoint, all_choices, touching
from rocscope.geometry.hull import label
from rocscope.inference.estimate import FEW_EVENTS, Comparisons, Estimate, few
from rocscope.inference.expected_costs import ParetoTail, compare_costs, sample_of_means
from rocscope.inference.resampling import BootstrapEstimate, Design
from rocscope.inference.variance import WeightKind
from rocscope.sample import Samples, rows_of, samples_of


@dataclass(frozen=True, eq=False)
class PricedRows:
    """Rows with their own costs, and the costs of thresholds on them."""

    rows: Predictions
    context: Context

    @cached_property
    def stakes(self) -> Stakes:
        """The amount at stake in each row."""
        return Stakes.of(self.rows, self.context)

    @cached_property
    def in_money(self) -> Predictions:
        """The rows in money; see the function of this name."""
        return self.stakes.rows(self.rows, self.context)

    def cheapest(self, options: Sequence[Choices]) -> TangentPoint:
        """Return the cheapest of some thresholds; among equals the one with fewest positive rows, then the first."""
        priced = {each.model: (each, *_in_money(each, self.in_money.counts(each.model))) for each in options}
        found = touching([money for _, money, _ in priced.values()], Context())
        order = list(priced)
        touches: list[TangentPoint] = []
        for touch in (found, *found.tied):
            choices, _, first = priced[touch.choices.model]
            touches.append(TangentPoint(choices, first[touch.index].item()))

        def fewest(touch: TangentPoint) -> tuple[Fraction, int]:
            return touch.choices.depth(touch.index), order.index(touch.choices.model)

        best, *others = sorted(touches, key=fewest)
        return replace(best, tied=tuple(others))

    def acts(self, model: str, threshold: float) -> NDArray[np.bool_]:
        """Return the rows that a threshold acts on."""
        return predict(self.rows.scores[model], threshold)

    def cost(self, model: str, threshold: float) -> float:
        """Return the cost per case of a threshold."""
        return self.stakes.cost(self.acts(model, threshold))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on rows in which acting does not what costs usually suggest."""
        gain, positive = self.stakes.gain, self.rows.y_true
        unusual = {
            "makes no difference": gain == 0,
            "on a positive loses": positive & (gain < 0),
            "on a negative gains": ~positive & (gain > 0),
        }
        notes = []
        for what, rows in unusual.items():
            if rows.any():
                text = f"in {rows.sum():,} of {rows.size:,} rows acting {what}"
                notes.append(Note("unusual_rows", text, acting=what, rows=int(rows.sum())))
        return tuple(notes)


def _in_money(choices: Choices, money: ThresholdCounts) -> tuple[Choices, Array]:
    """Return thresholds as points of the same rows weighted by money, and the position where each is first reached."""
    levels = choices.counts.threshold
    priced = np.zeros(levels.size + 1, np.intp)
    priced[levels.size - np.searchsorted(levels[::-1], money.threshold)] = 1  # every level in money is one of the rows
    index, first = np.unique(np.cumsum(priced)[choices.index], return_index=True)
    return Choices(choices.model, money, index), first


@contract
def in_money(predictions: Any, context: Context | Campaign) -> Predictions:
    """Convert rows into money: positive if acting gains, weighted by the amount at stake.

    Parameters
    ----------
    predictions : Predictions
        With the columns that the context names.
    context : Context

    Returns
    -------
    Predictions
        Of the rows in which acting makes a difference. The weights have a unit of their own, about the mean of the
        amount at stake, so that no interval takes whole amounts for numbers of rows.

    Raises
    ------
    ColumnError
        If the rows lack a column of the context.
    InputError
        If acting makes no difference in any row.

    Notes
    -----
    Acting on a row gains g = (cost of leaving it) − (cost of acting on it), given its label. Acting on the rows
    that a threshold selects loses ``|g|`` in each that is on its wrong side, in addition to unavoidable losses. So
    every curve, hull, band and test of these rows is one in money, at costs of 1 : 1, the default. At a target
    prevalence positive and negative labels are given their shares first.

    Amounts of up to four decimals are added exactly, as the decimals that they are.

    Examples
    --------
    A fraud of 500 and one of 3; stopping a payment to look at it costs 5, also where that is all that there is to lose:

    >>> preds = Predictions([1, 1, 0], [0.9, 0.6, 0.4], columns={"amount": [500, 3, 40]})
    >>> money = in_money(preds, Context(cost_fn="amount", cost_tp=5, cost_fp=5))
    >>> money.y_true.tolist(), (money.sample_weight / money.sample_weight[0] * 495).round(6).tolist()
    ([True, False, False], [495.0, 2.0, 5.0])
    """
    return rows_in_money(rows_of(predictions), Context.given(context))


@contract
def act_by_row(
    probability: Any, context: Context | Campaign, columns: Mapping[str, Any] | None = None
) -> NDArray[np.bool_]:
    """Return the cases on which acting has a positive expected gain, with costs that differ by case.

    Parameters
    ----------
    probability : array of n calibrated probabilities
        Of the positive class, among the cases that are decided on.
    context : Context
    columns : mapping from name to array of n numbers, optional
        Those that the context names.

    Returns
    -------
    bool array of shape (n,)

    Raises
    ------
    InputError
        If a score is no probability, or the context has a target prevalence, at which they would be others: see
        `correct_probabilities`.
    ColumnError
        If a column of the context is not there.

    Notes
    -----
    Acts iff p·(cost_fn − cost_tp) > (1 − p)·(cost_fp − cost_tn). No threshold on the score can do better where the
    probabilities are right; where they are not, `compare_row_rule` shows what it costs.

    Examples
    --------
    >>> act_by_row([0.1, 0.1], Context(cost_fn="amount", cost_tp=5, cost_fp=5), {"amount": [40, 60]})
    array([False,  True])
    """
    context = Context.given(context)
    score = check.check_scores(probability, name="probability")
    if not ((score >= 0) & (score <= 1)).all():
        hint = "recalibrate the scores first (rocscope.calibration.recalibrate)"
        raise ScoreError("probability", expected="probabilities from 0 to 1", got=check.shown(score), hint=hint)
    if context.target_prevalence is not None:
        hint = "give the probabilities at that prevalence: rocscope.decisions.correct_probabilities"
        raise InputError("context", expected="no target_prevalence", got=repr(context), hint=hint)
    known = Predictions(np.zeros(score.size, bool), score, columns=columns).columns
    tp, fp, fn, tn = (cost_of(cell, context, known) for cell in CELLS)
    p = score.astype(np.float64)
    return np.asarray(p * (np.asarray(fn) - tp) > (1 - p) * (np.asarray(fp) - tn))


@contract
def compare_row_rule(
    predictions: Predictions,
    context: Context | Campaign,
    *,
    model: str | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    groups: Any = None,
    weights: WeightKind = "auto",
) -> Comparisons:
    """Compare one threshold for all rows with the rule that uses each row's costs, on the same rows.

    Parameters
    ----------
    predictions : Predictions of calibrated probabilities
        With the columns that the context names.
    context : Context
    model : str, optional
        Which, where there are several.
    threshold : float, optional
        By default the cheapest on these rows, which flatters it.
    level, groups, weights : see `rocscope.inference.compare_costs`

    Returns
    -------
    Comparisons
        Expected cost per case of the model at the threshold and, with " row by row", by `act_by_row`; their
        difference is below 0 where the latter is cheaper.

    Raises
    ------
    InputError, ColumnError
        As `act_by_row` does.

    Examples
    --------
    Of four rows to act on all costs 4 a row; to act on the two of which p·amount is above 4, 2:

    >>> preds = Predictions([1, 0, 1, 0] * 9, [0.6, 0.6, 0.3, 0.3] * 9, columns={"amount": [9, 1, 20, 1] * 9})
    >>> found = compare_row_rule(preds, Context(cost_fn="amount", cost_tp=4, cost_fp=4))
    >>> found["score", "score row by row"].difference
    Estimate(-2, 95 % interval -2.663 to -1.337, z, paired, n=36)
    """
    rows = rows_of(predictions)
    name = model_name(rows.models, model)
    score, counts = rows.scores[name], rows.counts(name)
    own = act_by_row(score, context, rows.columns)
    if threshold is None:
        threshold = PricedRows(rows, Context.given(context)).cheapest([all_choices(name, counts)]).point.threshold
    fixed = predict(score, counts.at(threshold).threshold)
    decided = {name: fixed, f"{name} row by row": own}
    both = Predictions(
        rows.y_true, dict.fromkeys(decided, score), decisions=decided, columns=rows.columns, **rows.row_columns()
    )
    return compare_costs(both, context, level=level, groups=groups, weights=weights)


# Chosen by simulation: with these, 95 % intervals of cost hold the truth in 93 % of samples or more in every design
# of
# tests/decisions/generalization/interval_cases.py, and those of regret in 92.2 % or more.
_ERROR_OF_CHOICE = 0.5
_OF_MODELS = 0.75
_JAGGED = 0.25


@dataclass(frozen=True)
class Generalization:
    """A choice on the sample, cross-validated and bootstrapped, and its consequences for new cases.

    `quantity` is what the choice is judged by: its expected cost, or the criterion it was chosen by. Losses are costs,
    or the criterion with the sign that makes less better.
    """

    design: Design
    candidates: Candidates
    sample: InSample
    held_out: HeldOut
    replicates: Replicates
    law: DrawsOfCounts | DrawsOfRows
    quantity: CostOrCriterion
    level: float
    seed: int

    def estimate(self) -> ChosenEstimate:
        """Return the value of the choice on new cases, with an interval."""
        draws = self._draws(self.held_out.cells)
        values = self._sign * (self._sign * draws[0] + self._gain_of_best)
        undefined = float(np.isnan(values).mean())
        found, repeats = self.held_out, self.held_out.repeats
        often = f"{repeats} times" if repeats > 1 else "once"
        method = f"chosen anew in {found.folds} folds, {often}, and {len(self.replicates.cells)} replicates"
        reasons = [
            self.law.doubt,
            f"nothing could be chosen in {found.failed[self._number]:.0%} of the folds"
            * bool(found.failed[self._number]),
            f"{self.candidates.criterion.name} is not defined in {undefined:.0%} of the draws" * bool(undefined),
        ]
        return ChosenEstimate.of_draws(
            values,
            level=self.level,
            value=self._sign * (float(self._held_out_loss[self._number]) + self._gain_of_best),
            method=", ".join(part for part in (method, self.law.note) if part),
            n=self.law.n,
            reason=next(filter(None, reasons), ""),
            apparent=self._sign * float(self._apparent_loss[self._number]),
            regret=self._regret(),
            models=self._probability_of_best(),
            acting=self._probability_of_acting(),
        )

    def apparent(self) -> Estimate:
        """Return the value on the rows used to choose, with the percentile interval of the fixed threshold."""
        drawn = self.candidates.each[self._number].value(self.replicates.cells[:, self._number], self.quantity)
        low, high = np.nanquantile(drawn, self._tails).tolist()
        method = self._bootstrap("percentile, threshold as given")
        value = self._sign * float(self._apparent_loss[self._number])
        return Estimate(value, low, high, self.level, method, self.design.n, float(np.nanstd(drawn)))

    def threshold(self) -> BootstrapEstimate:
        """Return the chosen threshold, and those of replicates that choose the same candidate."""
        chosen, number, found = self.candidates.each[self._number], self._number, self.replicates
        threshold = chosen.thresholds(self.design.tallies[chosen.model].threshold)
        values = threshold[found.point[found.number == number].astype(np.intp)]
        low = high = spread = np.nan
        if values.size:  # always thresholds that were observed
            low, high = np.quantile(values, self._tails, method="inverted_cdf").tolist()
        if values.size > 1 and np.isfinite(values).all():
            spread = float(values.std(ddof=1))
        value = float(threshold[int(self.sample.points[number][0])])
        method = self._bootstrap("percentile", values.size)
        return BootstrapEstimate(value, low, high, self.level, method, self.design.n, spread, replicates=values)

    def _bootstrap(self, what: str, replicates: int | None = None) -> str:
        used = len(self.replicates.cells) if replicates is None else replicates
        parts = (what, f"{used} replicates", self.design.note)
        return f"bootstrap ({', '.join(part for part in parts if part)})"

    @property
    def _number(self) -> int:
        return self.sample.number

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.level) / 2, (1 + self.level) / 2]

    @property
    def _sign(self) -> int:
        """1 if lower values are better, −1 otherwise: value = sign × loss."""
        return 1 if self.quantity == "cost" else -self.candidates.criterion.sign

    def _loss(self, cells: Array) -> Array:
        return self._sign * self.candidates.values(cells, self.quantity)

    @cached_property
    def _apparent_loss(self) -> Array:
        return self._loss(self.sample.cells)

    @cached_property
    def _held_out_loss(self) -> Array:
        return self._loss(self.held_out.cells)

    @property
    def _optimism(self) -> Array:
        """Optimism of each candidate's threshold on its own rows."""
        return np.maximum(self._held_out_loss - self._apparent_loss, 0)

    @cached_property
    def _gain_of_best(self) -> float:
        """How much lower the cost of the best of several models is in replicates than in the sample."""
        best = self._first(self._worth(self.replicates.acting))[:, None]
        drawn = self._loss(self.replicates.cells)
        moved = np.take_along_axis(drawn - np.nanmean(drawn, axis=0), best, axis=1)
        return max(-float(np.nanmean(moved)), 0.0)

    def _draws(self, cells: Array, number: int | None = None) -> tuple[Array, Array]:
        """Return draws of the values of a candidate and of nobody, including selection error."""
        number = self._number if number is None else number
        error = (_ERROR_OF_CHOICE * self._optimism[number]) ** 2 + self._gain_of_best**2 + float(self._beyond.var())
        return self.law.draws(number, cells[number], float(np.nan_to_num(error)), self.quantity, self.seed)

    @cached_property
    def _beyond(self) -> Array:
        """Excess loss of the choice over the best of each replicate, corrected for the replicate's optimism."""
        found, least = self.replicates, np.full(len(self.replicates.cells), np.nan)
        for number, candidate in enumerate(self.candidates.each):
            here = found.number == number
            least[here] = self._sign * candidate.value(found.chosen[here], self.quantity)
        beyond = self._loss(found.cells)[:, self._number] - least
        beyond = beyond[np.isfinite(beyond)] - _JAGGED * self._optimism[self._number] - _OF_MODELS * self._gain_of_best
        return np.maximum(beyond, 0) if beyond.size else np.zeros(1)

    def _regret(self) -> Estimate | None:
        if self.quantity == "cost" and not self.candidates.by_cost_alone:
            return None
        low, high = np.quantile(self._beyond, self._tails)
        method = f"bootstrap, {self._beyond.size} replicates"
        return Estimate(float(self._beyond.mean()), float(low), float(high), self.level, method, self.law.n)

    def _worth(self, cells: Array) -> Array:
        """Return the value by which candidates are compared; more is better."""
        return self.candidates.criterion.sign * self.candidates.values(cells, "criterion")

    @cached_property
    def _held_out_worth(self) -> Array:
        """Value of each candidate's best threshold on held-out cases."""
        return self._worth(self.held_out.acting)

    def _first(self, worth: Array) -> Any:
        """Return the index of the best candidate along the last axis; candidates that cannot act are never best."""
        return np.where(np.isnan(worth), -np.inf, worth).argmax(axis=-1)

    def _probability_of_best(self) -> dict[str, float]:
        """Return how often each is best in replicates, at its own threshold and corrected for its own optimism."""
        drawn = self._worth(self.replicates.acting)
        optimism = self._held_out_worth - self._worth(self.sample.acting)
        error = np.random.default_rng([self.seed, 6]).standard_normal(drawn.shape)
        best = self._first(drawn + optimism * (1 + _ERROR_OF_CHOICE * error))
        return {candidate.label: float((best == n).mean()) for n, candidate in enumerate(self.candidates.each)}

    def _probability_of_acting(self) -> float:
        """Return the probability that the choice costs less than acting on nobody, or than the best alternative."""
        if self.candidates.each[0].rule.context.columns:
            return np.nan
        if self.quantity != "cost":
            return replace(self, quantity="cost")._probability_of_acting()
        number = self._number
        if not self.sample.cells[number, :2].any():
            number = int(self._first(self._held_out_worth))
        values, nobody = self._draws(self.held_out.acting, number)
        idle = nobody if self.candidates.idle is None else self.candidates.idle
        return float((values + self._gain_of_best < idle).mean())


@dataclass(frozen=True)
class RowCostModel:
    """Rows with costs of their own: of `times` as many cases, with what is `fixed` beside; or only what acting adds."""

    priced: PricedRows
    times: float = 1.0
    fixed: float = 0.0
    only_added: bool = False

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """What leaving and acting on each row costs, the latter beyond the former."""
        stakes, scale = self.priced.stakes, self.times / PARTS
        return stakes.left * (0.0 if self.only_added else scale), -stakes.gain * scale

    @cached_property
    def least(self) -> float:
        """The mean cannot be below what the cheapest row would cost at best."""
        left, added = self._parts
        return float((left + np.minimum(added, 0)).min()) + self.fixed

    @cached_property
    def candidates(self) -> Candidates:
        """The thresholds of all models of the rows in money, with what they cost."""
        models, (left, added) = self.priced.rows.models, self._parts
        share: Any = self.priced.stakes.weight
        share = 1 / left.size if share is None else share / share.sum()
        at_stake, least = (np.abs(added) * share).sum(), ((left + np.minimum(added, 0)) * share).sum()
        rule = Rule(criterion_of("min_cost"), Context(), models=len(models))
        each = (
            Candidate(model, model, rule, times=float(at_stake), fixed=float(least) + self.fixed) for model in models
        )
        return Candidates(tuple(each), idle=0.0 if self.only_added else None)

    def draws(self, design: Design, sample: InSample, stratified: bool, weights: WeightKind) -> DrawsOfRows:
        """Return draws of the cost of the threshold that is chosen for each candidate."""

        def acts(points: list[Array]) -> list[Array]:
            chosen = zip(self.candidates.each, points, strict=True)
            return [self._acts(each.model, design.tallies[each.model].threshold, int(at[0])) for each, at in chosen]

        return self._drawn(acts(sample.points), acts(sample.acting_points), sample.number, stratified, weights)

    def _drawn(
        self,
        chosen: list[Array],
        acting: list[Array],
        number: int,
        stratified: bool = False,
        weights: WeightKind = "auto",
    ) -> DrawsOfRows:
        """Return draws of what acting on shares of rows costs, and what acting on others costs more than nobody."""
        left, added = self._parts
        values = np.column_stack([*(left + added * acts for acts in chosen), *(added * acts for acts in acting), left])
        rows, share = self.priced.rows, self.priced.context.target_prevalence
        share = rows.prevalence if stratified and share is None else share
        means, amounts = sample_of_means(rows, values, share, None, weights), np.abs(added)
        weight = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        unseen, doubt = np.zeros((values.shape[1], 2)), means.doubt
        for own, of_class in ((rows.y_true, share), (~rows.y_true, None if share is None else 1 - share)):
            tail = ParetoTail.of(amounts[own])
            if tail is None:
                continue
            each = (weight[own].sum() / weight.sum() if of_class is None else of_class) / own.sum()
            bears = (np.abs(values[own]) >= amounts[own, None] / 2) & (amounts[own, None] > 0)
            for i, column in enumerate(values[own].T):
                sign = np.sign(column[bears[:, i]].sum())
                found = tail.unseen(column, bears[:, i].sum() / np.count_nonzero(amounts[own]))
                unseen[i] += found * [each**2, sign * each**3]
            sure = chosen[number].min() == chosen[number].max()  # nobody or everybody, whatever comes
            few_bear = "" if sure else few(float(bears[:, number].sum()), FEW_EVENTS, "rows bear amounts")
            doubt = doubt or tail.doubt or few_bear
        return DrawsOfRows(self.candidates, means, self.least, number, unseen, doubt)

    def _acts(self, model: str, threshold: Array, point: int) -> Array:
        return self.priced.acts(model, threshold[point - 1] if point else inf)

    def given(self, acts: Array, why: str) -> FixedRule:
        """Return the rule of acting on so much of each row, as it is given."""

        def draw(_replicates: int, seed: int) -> tuple[Array, Array]:
            values, added = (mean + found.off(number, seed) for number, mean in enumerate(found.means.mean[:2]))
            values = np.maximum(values + self.fixed, found.least)
            return values, values - (added + self.fixed)

        found = self._drawn([acts], [acts], 0)
        why = ", and ".join(doubt for doubt in (why, found.doubt) if doubt)
        return FixedRule(float(found.means.mean[0]) + self.fixed, draw, f"{found.note}, as given", found.n, why)


@dataclass(frozen=True)
class SamplingModel:
    """The data that a choice was made on, and its candidates; or a rule that is taken as given.

    Attributes
    ----------
    samples : Samples or None
        The data of all models; rows in money where costs differ from row to row and cost decides.
    candidates : Candidates or None
        What was chosen among.
    row_costs : RowCostModel or None
        What each row costs, where that differs.
    fixed : function without arguments, or None
        Returns the rule whose cost is not estimated by choosing anew.
    """

    samples: Samples | None = None
    candidates: Candidates | None = None
    row_costs: RowCostModel | None = None
    fixed: Callable[[], FixedRule] | None = None

    def estimate(self, *, quantity: CostOrCriterion = "cost", **options: Any) -> ChosenEstimate:
        """Return the cost (in the candidates' unit) or criterion of the choice on new cases.

        The options are those of `generalization`.
        """
        check.check_choice("of", quantity, ("cost", "criterion"))
        if self.fixed and not (self.candidates and quantity == "criterion"):
            return self._as_given(quantity, **options)
        return self.generalization(quantity=quantity, **options).estimate()

    def _as_given(
        self, quantity: CostOrCriterion, *, level: float = 0.95, replicates: int = 2000, random_state: Any = 0, **_: Any
    ) -> ChosenEstimate:
        if quantity != "cost":
            raise InputError("of", expected="'cost' for a rule that is taken as given", got=repr(quantity))
        assert self.fixed is not None
        level = check.check_level(level)
        check.check_whole(replicates, "replicates")
        return self.fixed().estimate(level, replicates, check.seed_of(random_state))

    def generalization(
        self,
        *,
        level: float = 0.95,
        replicates: int = 2000,
        random_state: Any = 0,
        quantity: CostOrCriterion = "cost",
        folds: int = FOLDS,
        repeats: int = REPEATS,
        stratified: bool = False,
        weights: WeightKind = "auto",
        progress: Progress = None,
    ) -> Generalization:
        """Return the choice repeated in folds and replicates."""
        samples, candidates = self.samples, self.candidates
        assert samples is not None
        assert candidates is not None
        level = check.check_level(level)
        check.check_whole(replicates, "replicates")
        for name, counts in samples.points().items():
            counts.require_both_classes(f"interval with {name!r}")
        seed = check.seed_of(random_state)
        design = design_of_all(samples, seed, stratified=stratified, weights=weights)
        sample = in_sample(design, candidates)
        judged = cross_validate(design, candidates, seed, folds, repeats)
        drawn = bootstrap_choice(design, candidates, sample, replicates, seed, progress)
        law: Any = DrawsOfCounts(design, candidates, sample, drawn, stratified)
        if self.row_costs is not None and candidates.criterion.name == "min_cost":
            law = self.row_costs.draws(design, sample, stratified, weights)
        return Generalization(design, candidates, sample, judged, drawn, law, quantity, level, seed)


def model_of_hull(
    hull: Hull,
    criterion: Criterion,
    context: Context,
    constraints: tuple[Constraint, ...] = (),
    population: float | None = None,
    limit: float | None = None,
) -> SamplingModel:
    """Return the sampling model of a choice among all thresholds of a hull."""
    every = [(model, negated) for model in hull.models for negated in ((False, True) if hull.negate else (False,))]
    line = criterion.equivalent(context) if criterion.equivalent else Context()
    scale = max(map(abs, line.costs.values())) or 1.0
    rule = Rule(criterion, context, scale, constraints, population, len(every), limit)
    candidates = (Candidate(label(model, negated), model, rule, negated) for model, negated in every)
    return SamplingModel(hull.samples, Candidates(tuple(candidates)))


def model_of_rows(row_costs: RowCostModel, acts: Array, why: str = "") -> SamplingModel:
    """Return the sampling model of a choice of lowest cost where costs differ from row to row.

    The choice is taken as fixed if a reason `why` is given, or if one action is right in all rows.
    """
    money = row_costs.priced.in_money
    if not why and 0 < money.n_pos < money.n:
        return SamplingModel(samples_of(money), row_costs.candidates, row_costs)
    return SamplingModel(row_costs=row_costs, fixed=lambda: row_costs.given(acts, why))


def limit_of(constraints: tuple[Constraint, ...], cases: Fraction) -> tuple[float | None, tuple[Constraint, ...]]:
    """Return the share of cases that a lot may fill, where constraints bound nothing else, and what is left of them."""
    if not all(each.quantity in ("cases", "depth") and each.relation == "<=" for each in constraints):
        return None, constraints
    shares = [decimal(each.bound) / (cases if each.quantity == "cases" else 1) for each in constraints]
    return (float(min(shares)) if shares else None), ()


def as_given(
    context: Context, acted: OperatingPoint, review: Reviewing | None, what: str = "lots are"
) -> SamplingModel:
    """Return the sampling model of a fixed randomised rule or rule with reviews."""
    of = context.costs
    positives: _Actions = (acted.tp, acted.fn), (of["tp"], of["fn"])
    negatives: _Actions = (acted.fp, acted.tn), (of["fp"], of["tn"])
    why = f"{what} taken as given, not as chosen"
    if review is not None:
        looked, look = review.point, review.review.cost
        positives = (acted.tp, max(looked.tp - acted.tp, 0), looked.fn), (of["tp"], of["tp"] + look, of["fn"])
        negatives = (acted.fp, max(looked.fp - acted.fp, 0), looked.tn), (of["fp"], of["tn"] + look, of["tn"])
        why = "reviews are taken as given, not as chosen"
    return SamplingModel(fixed=lambda: _actions_as_given((positives, negatives), context.target_prevalence, why))


_Actions = tuple[tuple[float, ...], tuple[float, ...]]
"""Of one class: how many cases get each of several actions, and what each action costs; the last is to do nothing."""


def _actions_as_given(classes: tuple[_Actions, _Actions], target_prevalence: float | None, why: str) -> FixedRule:
    """Return the fixed rule with draws of its cost: each class ~ Dirichlet(counts + ½), prevalence ~ Beta(n_pos + ½,
    …).
    """
    n_pos, n_neg = (float(sum(counts)) for counts, _ in classes)

    def draw(replicates: int, seed: int) -> tuple[Array, Array]:
        rng, many = np.random.default_rng([seed, 3]), 10 * replicates
        prevalence: Any = rng.beta(n_pos + PRIOR, n_neg + PRIOR, many)
        prevalence = prevalence if target_prevalence is None else target_prevalence
        drawn = [rng.dirichlet(np.array(counts) + PRIOR, many) @ np.array(costs) for counts, costs in classes]
        nobody = prevalence * classes[0][1][-1] + (1 - prevalence) * classes[1][1][-1]
        return prevalence * drawn[0] + (1 - prevalence) * drawn[1], nobody

    own = n_pos / (n_pos + n_neg) if target_prevalence is None else target_prevalence
    means = [float(np.dot(counts, costs) / sum(counts)) for counts, costs in classes]
    return FixedRule(own * means[0] + (1 - own) * means[1], draw, "Jeffreys, as given", n_pos + n_neg, why)
