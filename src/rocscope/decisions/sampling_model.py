"""Costs that differ by row, and the sampling model from which the cost of a choice on new cases is estimated.

Costs that differ by row. Acting on a row gains g = (cost of leaving it) − (cost of acting on it), given its label. A
row is *in money* if it is labelled by the sign of g and weighted by |g|: acting where it loses, or not acting where it
would gain, costs |g| more than the unavoidable minimum. So curves, hulls and tangents of the rows in money need no
methods of their own.

The sampling model. A `SamplingModel` holds the data of a choice and its candidates, and estimates the cost of the
choice on new cases from `Generalization`: the choice repeated in folds and bootstrap replicates (see `generalization`).
There are three kinds of choice: among all thresholds of a hull (`model_of_hull`), and among thresholds for rows with
their own costs (`model_of_rows`). The cost of a given rule is estimated without choosing again (`as_given`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core import CELLS, Campaign, Context, OperatingPoint, Predictions, ThresholdCounts, decimal, model_name
from rocscope.core.context import PARTS, Stakes, cost_of, rows_in_money
from rocscope.core.predictions import require_kinds
from rocscope.decisions import generalization
from rocscope.decisions.constraints import Constraint, Criterion, criterion_of, predict
from rocscope.decisions.generalization import Candidate, Candidates, ChosenEstimate, CostOrCriterion, FixedRule
from rocscope.decisions.model_hull import Hull, UncertainContext
from rocscope.decisions.plan import Note
from rocscope.decisions.randomized import Reviewing
from rocscope.errors import InputError, RocscopeError
from rocscope.geometry import hull as geometry
from rocscope.geometry.hull import Choices, TangentPoint
from rocscope.inference.estimate import FEW_EVENTS, Comparisons, Estimate, few
from rocscope.inference.expected_costs import ParetoTail, compare_costs, sample_of_means
from rocscope.inference.resampling import BootstrapEstimate, Design
from rocscope.sample import Samples, rows_of, samples_of

# Found by simulation: with these, 95% intervals of cost hold the truth in 93% of samples or more in every design of
# tests/decisions/generalization/interval_cases.py, and those of regret in 92.2% or more.
#
# Standard error of the choice of a threshold, as a share of its optimism.
ERROR_OF_CHOICE = 0.5
# Shares of the optimism of the model, and of the threshold, by which the best of a replicate is too good.
REPLICATE_MODEL_SHARE = 0.75
REPLICATE_THRESHOLD_SHARE = 0.25


# Costs that differ by row.


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
        order = [option.model for option in options]
        in_money = []
        # For each threshold in money, the position of the first one of the rows that acts on the same of them.
        first_positions: dict[str, Array] = {}
        for option in options:
            counts = self.in_money.counts(option.model)
            thresholds, first_positions[option.model] = _thresholds_in_money(option, counts)
            in_money.append(thresholds)
        cheapest = geometry.touching(in_money, Context())
        touches: list[TangentPoint] = []
        for touch in (cheapest, *cheapest.tied):
            model = touch.choices.model
            position = first_positions[model][touch.index].item()
            touches.append(TangentPoint(options[order.index(model)], position))

        def fewest(touch: TangentPoint) -> tuple[Fraction, int]:
            return touch.choices.depth(touch.index), order.index(touch.choices.model)

        best, *others = sorted(touches, key=fewest)
        return replace(best, tied=tuple(others))

    def acts(self, model: str, threshold: float) -> Booleans:
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


def _thresholds_in_money(choices: Choices, money: ThresholdCounts) -> tuple[Choices, Array]:
    """Return thresholds as points of the same rows weighted by money, and the position where each is first reached."""
    levels = choices.counts.threshold
    # Every level in money is one of the rows; levels at which nothing is at stake are missing.
    has_money = np.zeros(levels.size + 1, np.intp)
    has_money[levels.size - np.searchsorted(levels[::-1], money.threshold)] = 1
    index, first = np.unique(np.cumsum(has_money)[choices.index], return_index=True)
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
    rows = rows_of(predictions)
    require_kinds("in_money", rows)
    return rows_in_money(rows, Context.given(context))


@contract
def act_by_row(probability: Any, context: Context | Campaign, columns: Mapping[str, Any] | None = None) -> Booleans:
    """Return the cases on which acting has a positive expected gain, with costs that differ by case.

    Parameters
    ----------
    probability : array of n calibrated probabilities
        Share of the positive class among the cases that are decided on.
    context : Context
    columns : mapping from name to array of n numbers, optional
        Those that the context names.

    Returns
    -------
    bool array of shape (n,)

    Raises
    ------
    InputError
        If a score is not a probability, or the context has a target prevalence, which changes probabilities: see
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
    p = check.check_probabilities(check.check_scores(probability, name="probability"), "probability")
    if context.target_prevalence is not None:
        hint = "give the probabilities at that prevalence: rocscope.decisions.correct_probabilities"
        raise InputError("context", expected="no target_prevalence", got=repr(context), hint=hint)
    known = Predictions(np.zeros(p.size, bool), p, columns=columns).columns
    cost = {cell: np.asarray(cost_of(cell, context, known)) for cell in CELLS}
    return np.asarray(p * (cost["fn"] - cost["tp"]) > (1 - p) * (cost["fp"] - cost["tn"]))


@contract
def compare_row_rule(
    predictions: Predictions,
    context: Context | Campaign,
    *,
    model: str | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    groups: Any = None,
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
    level, groups : see `rocscope.inference.compare_costs`

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

    >>> preds = Predictions([1, 0, 1, 0] * 60, [0.6, 0.6, 0.3, 0.3] * 60, columns={"amount": [9, 1, 20, 1] * 60})
    >>> comparisons = compare_row_rule(preds, Context(cost_fn="amount", cost_tp=4, cost_fp=4))
    >>> comparisons["score", "score row by row"].difference
    Estimate(-2, 95% CI [-2.254, -1.746], n=240)
    """
    rows = rows_of(predictions)
    name = model_name(rows.models, model)
    score, counts = rows.scores[name], rows.counts(name)
    by_row = act_by_row(score, context, rows.columns)
    if threshold is None:
        priced = PricedRows(rows, Context.given(context))
        threshold = priced.cheapest([geometry.all_choices(name, counts)]).point.threshold
    fixed = predict(score, counts.at(threshold).threshold)
    decided = {name: fixed, f"{name} row by row": by_row}
    both = Predictions(
        rows.y_true, dict.fromkeys(decided, score), decisions=decided, columns=rows.columns, **rows.row_columns()
    )
    return compare_costs(both, context, level=level, groups=groups)


# The choice on new cases.


@dataclass(frozen=True)
class Generalization:
    """A choice on the sample, cross-validated and bootstrapped, and its consequences for new cases.

    `quantity` is what the choice is judged by: its expected cost, or the criterion it was chosen by. Losses are costs,
    or the criterion with the sign that makes less better.
    """

    design: Design
    candidates: Candidates
    sample: generalization.InSample
    held_out: generalization.CrossValidated
    replicates: generalization.Replicates
    cost_draws: generalization.DrawsOfCounts | generalization.DrawsOfRows
    quantity: CostOrCriterion
    level: float
    seed: int

    def estimate(self) -> ChosenEstimate:
        """Return the value of the choice on new cases, with an interval."""
        chosen, held_out = self.sample.number, self.held_out
        draws, _ = self._draws(held_out.cells, chosen)
        values = self._sign * (self._sign * draws + self._model_optimism)
        undefined = float(np.isnan(values).mean())
        reason = self.cost_draws.doubt
        if not reason and held_out.failed[chosen]:
            reason = f"nothing could be chosen in {held_out.failed[chosen]:.0%} of the folds"
        if not reason and undefined:
            reason = f"{self.candidates.criterion.name} is not defined in {undefined:.0%} of the draws"
        times = f"{held_out.repeats} times" if held_out.repeats > 1 else "once"
        method = f"chosen anew in {held_out.folds} folds, {times}, and {len(self.replicates.cells)} replicates"
        return ChosenEstimate.of_draws(
            values,
            level=self.level,
            value=self._sign * (float(self._held_out_loss[chosen]) + self._model_optimism),
            method=", ".join(part for part in (method, self.cost_draws.note) if part),
            n=self.cost_draws.n,
            reason=reason,
            apparent=self._sign * float(self._apparent_loss[chosen]),
            regret=self._regret(),
            models=self._probability_of_best(),
            acting=self._probability_of_acting(),
        )

    def apparent(self) -> Estimate:
        """Return the value on the rows used to choose, with the percentile interval of the fixed threshold."""
        chosen = self.sample.number
        drawn = self.candidates.members[chosen].value(self.replicates.cells[:, chosen], self.quantity)
        low, high = np.nanquantile(drawn, self._tails).tolist()
        method = self._bootstrap_method("percentile, threshold as given", len(drawn))
        value = self._sign * float(self._apparent_loss[chosen])
        return Estimate(value, low, high, self.level, method, self.design.n, float(np.nanstd(drawn)))

    def threshold(self) -> BootstrapEstimate:
        """Return the chosen threshold, and the thresholds of replicates that choose the same candidate."""
        chosen = self.sample.number
        candidate = self.candidates.members[chosen]
        thresholds = candidate.thresholds(self.design.tallies[candidate.model].threshold)
        points = self.replicates.point[self.replicates.number == chosen]
        values = thresholds[points.astype(np.intp)]
        low = high = spread = np.nan
        if values.size:
            # Quantiles that are not interpolated, so that the ends are thresholds that were observed.
            low, high = np.quantile(values, self._tails, method="inverted_cdf").tolist()
        if values.size > 1 and np.isfinite(values).all():
            spread = float(values.std(ddof=1))
        value = float(thresholds[int(self.sample.points[chosen][0])])
        method = self._bootstrap_method("percentile", values.size)
        return BootstrapEstimate(value, low, high, self.level, method, self.design.n, spread, replicates=values)

    def _bootstrap_method(self, interval: str, replicates: int) -> str:
        parts = (interval, f"{replicates} replicates", self.design.note)
        return f"bootstrap ({', '.join(part for part in parts if part)})"

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
    def _model_optimism(self) -> float:
        """Optimism of the best of several models: how much lower its loss is in replicates than on average."""
        best = self._first_best(self._goodness(self.replicates.acting))[:, None]
        drawn = self._loss(self.replicates.cells)
        deviation = np.take_along_axis(drawn - np.nanmean(drawn, axis=0), best, axis=1)
        return max(-float(np.nanmean(deviation)), 0.0)

    def _draws(self, cells: Array, number: int) -> tuple[Array, Array]:
        """Return draws of the values of a candidate and of nobody, with the variance of choosing added."""
        threshold_error = (ERROR_OF_CHOICE * self._optimism[number]) ** 2
        error = threshold_error + self._model_optimism**2 + float(self._excess_losses.var())
        return self.cost_draws.draws(number, cells[number], float(np.nan_to_num(error)), self.quantity, self.seed)

    @cached_property
    def _excess_losses(self) -> Array:
        """Loss of the choice minus the loss of the best in each replicate, corrected for the replicate's optimism."""
        drawn, chosen = self.replicates, self.sample.number
        lowest = np.full(len(drawn.cells), np.nan)
        for number, candidate in enumerate(self.candidates.members):
            is_best = drawn.number == number
            # Every choice fills the limit by itself, so that its cases have no marginal cost.
            again = replace(candidate, marginal=0.0)
            lowest[is_best] = self._sign * again.value(drawn.chosen[is_best], self.quantity)
        excess = self._loss(drawn.cells)[:, chosen] - lowest
        excess = excess[np.isfinite(excess)]
        excess = (
            excess - REPLICATE_THRESHOLD_SHARE * self._optimism[chosen] - REPLICATE_MODEL_SHARE * self._model_optimism
        )
        return np.maximum(excess, 0) if excess.size else np.zeros(1)

    def _regret(self) -> Estimate | None:
        if self.quantity == "cost" and not self.candidates.by_cost_alone:
            return None
        losses = self._excess_losses
        low, high = np.quantile(losses, self._tails).tolist()
        method = f"bootstrap, {losses.size} replicates"
        return Estimate(float(losses.mean()), low, high, self.level, method, self.cost_draws.n)

    def _goodness(self, cells: Array) -> Array:
        """Return the value by which candidates are compared; more is better."""
        return self.candidates.criterion.sign * self.candidates.values(cells, "criterion")

    def _first_best(self, goodness: Array) -> Any:
        """Return the index of the best candidate along the last axis; candidates that cannot act are never best."""
        return np.where(np.isnan(goodness), -np.inf, goodness).argmax(axis=-1)

    def _probability_of_best(self) -> dict[str, float]:
        """Return how often each is best in replicates, at its own threshold and corrected for its own optimism."""
        drawn = self._goodness(self.replicates.acting)
        optimism = self._goodness(self.held_out.acting) - self._goodness(self.sample.acting)
        error = np.random.default_rng([self.seed, 6]).standard_normal(drawn.shape)
        best = self._first_best(drawn + optimism * (1 + ERROR_OF_CHOICE * error))
        shares = {}
        for number, candidate in enumerate(self.candidates.members):
            shares[candidate.label] = float((best == number).mean())
        return shares

    def _probability_of_acting(self) -> float:
        """Return the probability that the choice costs less than acting on nobody, or than the best alternative."""
        if self.candidates.members[0].rule.context.columns:
            return np.nan
        if self.quantity != "cost":
            return replace(self, quantity="cost")._probability_of_acting()
        number = self.sample.number
        if not self.sample.cells[number, :2].any():
            # Nobody is acted on: compare the candidate that is best if somebody has to be.
            number = int(self._first_best(self._goodness(self.held_out.acting)))
        values, nobody = self._draws(self.held_out.acting, number)
        idle = nobody if self.candidates.idle is None else self.candidates.idle
        return float((values + self._model_optimism < idle).mean())


@dataclass(frozen=True)
class RowCostModel:
    """Costs of rows, each with its own: multiplied by `times`, plus `fixed`; or only what acting adds to leaving."""

    priced: PricedRows
    times: float = 1.0
    fixed: float = 0.0
    only_added: bool = False

    @cached_property
    def _costs(self) -> tuple[Array, Array]:
        """Cost of leaving each row, and the extra cost of acting on it."""
        stakes, scale = self.priced.stakes, self.times / PARTS
        left = stakes.left * (0.0 if self.only_added else scale)
        return left, -stakes.gain * scale

    @cached_property
    def least(self) -> float:
        """The mean cannot be below what the cheapest row would cost at best."""
        left, added = self._costs
        return float((left + np.minimum(added, 0)).min()) + self.fixed

    @cached_property
    def candidates(self) -> Candidates:
        """The thresholds of all models of the rows in money, with their costs.

        In money a threshold costs the share of the amounts at stake on its wrong side; times the mean amount at stake,
        plus the unavoidable cost of each row, that is its cost per case.
        """
        models = self.priced.rows.models
        left, added = self._costs
        share: Any = self.priced.stakes.weight
        share = 1 / left.size if share is None else share / share.sum()
        at_stake = float((np.abs(added) * share).sum())
        unavoidable = float(((left + np.minimum(added, 0)) * share).sum())
        rule = generalization.Rule(criterion_of("min_cost"), Context(), models=len(models))
        members = [Candidate(model, model, rule, times=at_stake, fixed=unavoidable + self.fixed) for model in models]
        return Candidates(tuple(members), idle=0.0 if self.only_added else None)

    def draws(self, design: Design, sample: generalization.InSample, stratified: bool) -> generalization.DrawsOfRows:
        """Return draws of the cost of the threshold that is chosen for each candidate."""

        def acts_at(points: list[Array]) -> list[Array]:
            acts = []
            for candidate, point in zip(self.candidates.members, points, strict=True):
                levels, index = design.tallies[candidate.model].threshold, int(point[0])
                acts.append(self.priced.acts(candidate.model, levels[index - 1] if index else inf))
            return acts

        chosen, acting = acts_at(sample.points), acts_at(sample.acting_points)
        return self._draws(chosen, acting, sample.number, stratified)

    def _draws(
        self, chosen: list[Array], acting: list[Array], number: int, stratified: bool = False
    ) -> generalization.DrawsOfRows:
        """Return draws of the costs of rules, given the share of each row that each of them acts on.

        The means are the costs of the `chosen` rules, the extra costs of the `acting` ones relative to nobody, and the
        cost of nobody.
        """
        left, added = self._costs
        costs = [left + added * acts for acts in chosen]
        extra_costs = [added * acts for acts in acting]
        values = np.column_stack([*costs, *extra_costs, left])
        rows, share = self.priced.rows, self.priced.context.target_prevalence
        if stratified and share is None:
            share = rows.prevalence
        means = sample_of_means(rows, values, share, None)
        weight = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight

        # Large amounts that the sample happens not to hold: a Pareto tail fitted to the amounts of each class adds
        # second and third moments to each mean, in proportion to the share of the large amounts that it bears.
        amounts = np.abs(added)
        unseen, doubt = np.zeros((values.shape[1], 2)), means.doubt
        negative_share = None if share is None else 1 - share
        for in_class, share_of_class in ((rows.y_true, share), (~rows.y_true, negative_share)):
            tail = ParetoTail.of(amounts[in_class])
            if tail is None:
                continue
            if share_of_class is None:
                share_of_class = weight[in_class].sum() / weight.sum()
            weight_of_row = share_of_class / in_class.sum()
            at_stake = amounts[in_class, None]
            bears = (np.abs(values[in_class]) >= at_stake / 2) & (at_stake > 0)
            for i, column in enumerate(values[in_class].T):
                sign = np.sign(column[bears[:, i]].sum())
                moments = tail.unseen(column, bears[:, i].sum() / np.count_nonzero(at_stake))
                unseen[i] += moments * [weight_of_row**2, sign * weight_of_row**3]
            few_bear = ""
            if chosen[number].min() < chosen[number].max():  # else nobody or everybody, whatever comes
                few_bear = few(float(bears[:, number].sum()), FEW_EVENTS, "rows bear amounts")
            doubt = doubt or tail.doubt or few_bear
        return generalization.DrawsOfRows(self.candidates, means, self.least, number, unseen, doubt)

    def given(self, acts: Array, reason: str) -> FixedRule:
        """Return the rule of acting on given shares of the rows; it is not chosen again for a `reason`."""
        model = self._draws([acts], [acts], 0)
        cost, extra_cost, _ = model.means.mean

        def draw(_replicates: int, seed: int) -> tuple[Array, Array]:
            values = np.maximum(cost + model.deviations(0, seed) + self.fixed, model.least)
            return values, values - (extra_cost + model.deviations(1, seed) + self.fixed)

        reasons = ", and ".join(part for part in (reason, model.doubt) if part)
        return FixedRule(float(cost) + self.fixed, draw, f"{model.note}, as given", model.n, reasons)


@dataclass(frozen=True)
class SamplingModel:
    """The data that a choice was made on, and its candidates; or a rule that is taken as given.

    Attributes
    ----------
    samples : Samples or None
        The data of all models; rows in money where costs differ from row to row and cost decides.
    candidates : Candidates or None
        Candidates of the choice.
    row_costs : RowCostModel or None
        Cost of each row, if costs differ.
    fixed : function without arguments that returns a FixedRule, or None
        The cost is then for this rule, which is not chosen again; a criterion is still estimated from `candidates`.
    uncertain : UncertainContext or None
        The context of new cases is drawn from it; the candidates' cost is its mean.
    ranked : bool
        True if exactly as many cases are acted on as planned, those of the highest scores.
    """

    samples: Samples | None = None
    candidates: Candidates | None = None
    row_costs: RowCostModel | None = None
    fixed: Callable[[], FixedRule] | None = None
    uncertain: UncertainContext | None = None
    ranked: bool = False

    def estimate(self, *, quantity: CostOrCriterion = "cost", **options: Any) -> ChosenEstimate:
        """Return the cost (in the candidates' unit) or criterion of the choice on new cases.

        The options are as in `generalization`.
        """
        check.check_choice("of", quantity, ("cost", "criterion"))
        if self.fixed and not (self.candidates and quantity == "criterion"):
            return self._as_given(quantity, **options)
        return self.generalization(quantity=quantity, **options).estimate()

    def held_out_cells(self) -> Array | None:
        """Return tp, fp, n_pos and n_neg of the choice among held-out cases; None if it cannot be chosen again."""
        if self.fixed or self.samples is None or self.candidates is None:
            return None
        try:
            design = generalization.design_of_all(self.samples, 0)
            number = generalization.in_sample(design, self.candidates).number
            return generalization.cross_validate(design, self.candidates, 0).cells[number]
        except RocscopeError:  # sums of weights, or a class that some fold lacks
            return None

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
        folds: int = generalization.FOLDS,
        repeats: int = generalization.REPEATS,
        stratified: bool = False,
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
        design = generalization.design_of_all(samples, seed, stratified=stratified)
        sample = generalization.in_sample(design, candidates)
        if self.ranked:
            candidates = candidates.by_rank(sample)
        held_out = generalization.cross_validate(design, candidates, seed, folds, repeats)
        drawn = generalization.bootstrap_choice(design, candidates, sample, replicates, seed, progress)
        if self.row_costs is not None and candidates.criterion.name == "min_cost":
            cost_draws = self.row_costs.draws(design, sample, stratified)
        else:
            cost_draws = generalization.DrawsOfCounts(design, candidates, sample, drawn, stratified, self.uncertain)
        return Generalization(design, candidates, sample, held_out, drawn, cost_draws, quantity, level, seed)


def model_of_hull(
    hull: Hull,
    criterion: Criterion,
    context: Context,
    constraints: tuple[Constraint, ...] = (),
    population: float | None = None,
    limit: float | None = None,
) -> SamplingModel:
    """Return the sampling model of a choice among all thresholds of a hull."""
    line = criterion.equivalent(context) if criterion.equivalent else Context()
    scale = max(abs(cost) for cost in line.costs.values()) or 1.0
    directions = (False, True) if hull.negate else (False,)
    options = len(hull.models) * len(directions)
    rule = generalization.Rule(criterion, context, scale, constraints, population, options, limit)
    candidates: list[Candidate] = []
    for model in hull.models:
        names = [(geometry.label(model, negated), negated) for negated in directions]
        candidates += [Candidate(name, model, rule, negated) for name, negated in names]
    return SamplingModel(hull.samples, Candidates(tuple(candidates)))


def model_of_rows(row_costs: RowCostModel, acts: Array, reason: str = "") -> SamplingModel:
    """Return the sampling model of a choice of lowest cost where costs differ from row to row.

    The choice is taken as fixed if a `reason` is given, or if one action is right in all rows.
    """
    money = row_costs.priced.in_money
    if not reason and 0 < money.n_pos < money.n:
        return SamplingModel(samples_of(money), row_costs.candidates, row_costs)
    return SamplingModel(row_costs=row_costs, fixed=lambda: row_costs.given(acts, reason))


def largest_share_of(
    constraints: tuple[Constraint, ...], cases: Fraction
) -> tuple[float | None, tuple[Constraint, ...]]:
    """Return the largest share of `cases` that the constraints admit, and the constraints that it does not replace.

    If all constraints are upper bounds on the number or share of cases, the share replaces all of them. Otherwise it is
    None, and all constraints remain.
    """
    shares = []
    for constraint in constraints:
        if constraint.quantity not in ("cases", "depth") or constraint.relation != "<=":
            return None, constraints
        bound = decimal(constraint.bound)
        shares.append(bound / cases if constraint.quantity == "cases" else bound)
    return (float(min(shares)) if shares else None), ()


@dataclass(frozen=True)
class _Actions:
    """Actions on the cases of one class: how many get each, and its cost; the last one is to do nothing."""

    counts: tuple[float, ...]
    costs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Cost per case of the class."""
        return float(np.dot(self.counts, self.costs) / sum(self.counts))

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Draw the cost per case of the class: shares of the actions ~ Dirichlet(counts + ½)."""
        shares = rng.dirichlet(np.array(self.counts) + generalization.PRIOR, size)
        return np.sum([share * cost for share, cost in zip(shares.T, self.costs, strict=True)], axis=0)


def as_given(
    context: Context,
    acted: OperatingPoint,
    review: Reviewing | None,
    what: str = "lots are",
    uncertain: UncertainContext | None = None,
) -> SamplingModel:
    """Return the sampling model of a fixed randomised rule or rule with reviews.

    Notes
    -----
    Jeffreys' posterior: the shares of the actions in each class ~ Dirichlet(counts + ½), and the prevalence, unless the
    context names it, ~ Beta(n_pos + ½, n_neg + ½). Costs and prevalence of an uncertain context are drawn from it.
    """
    reason = f"{what} taken as given, not as chosen"
    if review is not None:
        reason = "reviews are taken as given, not as chosen"

    def actions(cost: Mapping[str, Any]) -> tuple[_Actions, _Actions]:
        """Return the actions on positives and on negatives."""
        if review is None:
            positives = _Actions((acted.tp, acted.fn), (cost["tp"], cost["fn"]))
            return positives, _Actions((acted.fp, acted.tn), (cost["fp"], cost["tn"]))
        # `looked` counts the cases that are acted on or reviewed.
        looked, (reviewed_positive, reviewed_negative) = review.point, review.review.costs(cost)
        tp, fp = max(looked.tp - acted.tp, 0), max(looked.fp - acted.fp, 0)
        positives = _Actions((acted.tp, tp, looked.fn), (cost["tp"], reviewed_positive, cost["fn"]))
        return positives, _Actions((acted.fp, fp, looked.tn), (cost["fp"], reviewed_negative, cost["tn"]))

    positives, negatives = actions(context.costs)
    n_pos, n_neg = float(sum(positives.counts)), float(sum(negatives.counts))
    target = context.target_prevalence

    def draw(replicates: int, seed: int) -> tuple[Array, Array]:
        # Draws are cheap here; ten times as many make the ends of the interval steady.
        rng, size = np.random.default_rng([seed, 3]), 10 * replicates
        prevalence: Any = rng.beta(n_pos + generalization.PRIOR, n_neg + generalization.PRIOR, size)
        costs, share = context.costs, target
        if uncertain is not None:
            costs, share = uncertain.draw(rng, size)
        if share is not None:
            prevalence = share
        positives, negatives = actions(costs)
        nobody = prevalence * positives.costs[-1] + (1 - prevalence) * negatives.costs[-1]
        of_positives, of_negatives = positives.draw(rng, size), negatives.draw(rng, size)
        return prevalence * of_positives + (1 - prevalence) * of_negatives, nobody

    def fixed() -> FixedRule:
        prevalence = n_pos / (n_pos + n_neg) if target is None else target
        value = prevalence * positives.mean + (1 - prevalence) * negatives.mean
        return FixedRule(value, draw, "Jeffreys, as given", n_pos + n_neg, reason)

    return SamplingModel(fixed=fixed)
