"""Costs that differ between rows, and the sampling model that estimates the cost of a choice on new cases.

Costs that differ between rows: given the label of a row, the gain from acting is g = (cost of not acting) − (cost of
acting). A row *in money* is positive if g > 0, negative if g < 0, and has the absolute value of g as its weight. A
wrong decision is to act if g < 0, or not to act if g > 0. Its cost exceeds the unavoidable cost of the row by this
weight. Curves, hulls and tangents can therefore be computed from rows in money with the usual methods.

The sampling model: a `SamplingModel` contains the data and the candidates of a choice. `Generalization` repeats the
choice in cross-validation folds and bootstrap replicates to estimate its cost on new cases. The candidates are all
thresholds of a hull (`choosing.ChoiceProblem`), or thresholds for rows with different costs (`model_of_rows`). For a
fixed rule, the choice is not repeated (`as_given`).
"""

import operator
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
from rocscope.core import CELLS, Campaign, Context, OperatingPoint, Predictions, ThresholdCounts, model_name
from rocscope.core.applying import predict
from rocscope.core.context import PARTS, Stakes, cost_of, rows_in_money
from rocscope.core.predictions import require_kinds
from rocscope.decisions import generalization
from rocscope.decisions.constraints import Constraint, criterion_of, share_bound
from rocscope.decisions.generalization import Candidate, Candidates, ChosenEstimate, CostOrCriterion
from rocscope.decisions.model_hull import UncertainContext
from rocscope.decisions.plan import Note
from rocscope.decisions.randomized import Review, Reviewing
from rocscope.errors import InputError, RocscopeError
from rocscope.geometry import hull as geometry
from rocscope.geometry.hull import Choices, TangentPoint
from rocscope.inference.estimate import FEW_EVENTS, Comparisons, Estimate, few, joined
from rocscope.inference.expected_costs import UnseenAmounts, compare_costs, sample_of_means
from rocscope.inference.resampling import BootstrapEstimate, Design
from rocscope.sample import Samples, rows_of, samples_of

# Constants found by simulation: 95% intervals of cost cover the true value in at least 93% of samples in every design
# of tests/decisions/generalization/interval_cases.py, and intervals of regret in at least 92.2%.
#
# Standard error of the choice of a threshold, as a share of its optimism.
ERROR_OF_CHOICE = 0.5
# Shares of the optimism of the model, and of the threshold, by which the best of a replicate is too good.
REPLICATE_MODEL_SHARE = 0.75
REPLICATE_THRESHOLD_SHARE = 0.25
# Share h of deviations in a replicate that the choice of a model sees. The bias of the correction is at most .04 s at ½
# and .12 s at 1, for two models whose difference has the standard error s.
DEVIATION_SHARE = 0.5


# Costs that differ by row.


@dataclass(frozen=True, eq=False)
class PricedRows:
    """Rows with costs that differ between rows.

    Methods return the cost of a threshold and the cheapest threshold.
    """

    rows: Predictions
    context: Context

    @cached_property
    def stakes(self) -> Stakes:
        """Gain from acting on each row, and cost of not acting on it."""
        return Stakes.of(self.rows, self.context)

    @cached_property
    def in_money(self) -> Predictions:
        """The rows in money; see the function `in_money`."""
        return self.stakes.rows(self.rows, self.context)

    def cheapest(self, options: Sequence[Choices]) -> TangentPoint:
        """Return the cheapest threshold.

        Of equally cheap thresholds, return the threshold with the fewest positive rows, then the first threshold.
        """
        order = [option.model for option in options]
        in_money = []
        # For each threshold in money, the index of the first threshold that selects the same rows.
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
        """Return True for rows whose score reaches the threshold."""
        return predict(self.rows.scores[model], threshold)

    def cost(self, model: str, threshold: float) -> float:
        """Return the cost per case at a threshold."""
        return self.stakes.cost(self.acts(model, threshold))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on rows with an unusual effect of acting: no effect, a loss on a positive, or a gain on a negative."""
        gain, positive = self.stakes.gain, self.rows.y_true
        unusual = {
            "makes no difference": gain == 0,
            "on a positive loses": positive & (gain < 0),
            "on a negative gains": ~positive & (gain > 0),
        }
        notes = []
        for what, rows in unusual.items():
            if rows.any():
                text = f"acting {what} in {rows.sum():,} of {rows.size:,} rows"
                notes.append(Note("unusual_rows", text, acting=what, rows=int(rows.sum())))
        return tuple(notes)


def _thresholds_in_money(choices: Choices, money: ThresholdCounts) -> tuple[Choices, Array]:
    """Return the points of the rows in money at given thresholds, and the first threshold of each point."""
    levels = choices.counts.threshold
    # Every score in money is also a score of the rows; scores without any amount at stake are missing.
    has_money = np.zeros(levels.size + 1, np.intp)
    has_money[levels.size - np.searchsorted(levels[::-1], money.threshold)] = 1
    index, first = np.unique(np.cumsum(has_money)[choices.index], return_index=True)
    return Choices(choices.model, money, index), first


@contract
def in_money(predictions: Any, context: Context | Campaign) -> Predictions:
    """Convert rows with different costs to rows that are weighted by money.

    A returned row is positive if acting on it is a gain. Its weight is the amount of this gain or loss.

    Parameters
    ----------
    predictions : Predictions
        Rows, with the columns of costs whose names are in the context.
    context : Context or Campaign
        Costs; at least one of them is the name of a column.

    Returns
    -------
    Predictions
        All rows for which acting is a gain or a loss. Weights are in units of about the mean gain or loss, so that they
        are not mistaken for numbers of rows.

    Raises
    ------
    ColumnError
        If a cost column of the context is missing.
    InputError
        If acting is neither a gain nor a loss for any row.

    See Also
    --------
    act_by_row, choose

    Notes
    -----
    Given the label of a row, the gain from acting is g = (cost of not acting) − (cost of acting). For each row on the
    wrong side of a threshold, the absolute value of g is lost, in addition to unavoidable costs. Curves, hulls, bands
    and tests of the returned rows therefore measure money, if you use the default costs of 1 : 1. With a target
    prevalence, positive and negative rows are first weighted so that their shares match this prevalence.

    Amounts with up to four decimals are added exactly.

    Examples
    --------
    The rows are two frauds of 500 and 3, and a correct payment of 40. Stopping a payment costs 5, so stopping the fraud
    of 3 does not pay:

    >>> preds = Predictions([1, 1, 0], [0.9, 0.6, 0.4], columns={"amount": [500, 3, 40]})
    >>> money = in_money(preds, Context(cost_fn="amount", cost_tp=5, cost_fp=5))
    >>> money.y_true.tolist(), (money.sample_weight / money.sample_weight[0] * 495).round(6).tolist()
    ([True, False, False], [495.0, 2.0, 5.0])
    """
    rows = rows_of(predictions)
    require_kinds("in_money", rows)
    return rows_in_money(rows, Context.given(context))


@contract
def act_by_row(
    probability: Any,
    context: Context | Campaign,
    columns: Mapping[str, Any] | None = None,
    *,
    review: Review | None = None,
) -> Array:
    """Return True for the cases on which acting has a positive expected gain, if costs differ between cases.

    Parameters
    ----------
    probability : array of n calibrated probabilities
        Probability that each case is positive.
    context : Context or Campaign
        Costs, as numbers or as names of columns.
    columns : mapping from name to array of n numbers, optional
        The columns that the context names.
    review : Review, optional
        Allow review as a third action. The capacity of the review is the largest number of these cases to review.

    Returns
    -------
    array of n booleans, or of n strings
        True for the cases to act on. With a review, "act", "review" or "leave" for each case.

    Raises
    ------
    InputError
        If a value is not a probability, or if the context has a target prevalence. `correct_probabilities` computes
        probabilities for another prevalence.
    ColumnError
        If a cost column of the context is missing.

    See Also
    --------
    in_money, compare_row_rule

    Notes
    -----
    With probability p, the rule acts iff p·(cost_fn − cost_tp) > (1 − p)·(cost_fp − cost_tn). A case is reviewed if a
    review has a lower expected cost than acting and than not acting. With a capacity, the cases with the largest saving
    are reviewed. If the probabilities are calibrated, no threshold on the score has a lower expected cost. Otherwise,
    use `compare_row_rule` to estimate the cost of the rule.

    Examples
    --------
    >>> act_by_row([0.1, 0.1], Context(cost_fn="amount", cost_tp=5, cost_fp=5), {"amount": [40, 60]})
    array([False,  True])
    >>> act_by_row([0.1, 0.5, 0.9], Context(cost_fn="loss", cost_fp=9), {"loss": [9, 9, 9]}, review=Review(cost=2))
    array(['leave', 'review', 'act'], dtype='<U6')
    """
    context = Context.given(context)
    p = check.check_probabilities(check.check_scores(probability, name="probability"), "probability")
    if context.target_prevalence is not None:
        hint = "pass probabilities from rocscope.decisions.correct_probabilities instead of a target_prevalence"
        raise InputError("context", expected="a context without target_prevalence", got=repr(context), hint=hint)
    known = Predictions(np.zeros(p.size, bool), p, columns=columns).columns
    cost = {cell: np.asarray(cost_of(cell, context, known)) for cell in CELLS}
    acts = np.asarray(p * (cost["fn"] - cost["tp"]) > (1 - p) * (cost["fp"] - cost["tn"]))
    if review is None:
        return acts
    positive, negative = review.costs(cost)
    unreviewed = np.where(acts, p * cost["tp"] + (1 - p) * cost["fp"], p * cost["fn"] + (1 - p) * cost["tn"])
    saved = unreviewed - (p * positive + (1 - p) * negative)
    reviewed = saved > 0
    if review.capacity is not None:
        reviewed[np.argsort(-saved, kind="stable")[int(review.capacity) :]] = False
    return np.where(reviewed, "review", np.where(acts, "act", "leave"))


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
    """Compare the cost of one threshold for all rows with the cost of `act_by_row`, on the same rows.

    Parameters
    ----------
    predictions : Predictions of calibrated probabilities
        Rows, with the columns of costs whose names are in the context.
    context : Context or Campaign
        Costs, as numbers or as names of columns.
    model : str, optional
        Name of the model. Required if the predictions contain several models.
    threshold : float, optional
        Threshold for all rows. By default, the cheapest threshold on these rows; its cost is then optimistic.
    level : float
        Confidence level of the intervals.
    groups : see `rocscope.inference.compare_costs`

    Returns
    -------
    Comparisons
        Expected cost per case of two rules. The rule with one threshold has the name of the model. The rule
        `act_by_row` has this name followed by " row by row". A difference below 0 means that `act_by_row` is cheaper.

    Raises
    ------
    InputError, ColumnError
        As in `act_by_row`.

    See Also
    --------
    act_by_row, compare_costs

    Examples
    --------
    Acting on all rows costs 4 per row. In half of the rows p·amount is above 4. Acting only on these rows costs 2 per
    row:

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
    """A choice that is repeated in cross-validation folds and bootstrap replicates, to estimate its value on new cases.

    `quantity` is the value to estimate: the expected cost or the criterion of the choice. A loss is a cost, or a
    criterion with its sign chosen so that lower is better.
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
        """Return the value of the choice on new cases, with a confidence interval."""
        chosen, held_out = self.sample.number, self.held_out
        draws, _ = self._draws(held_out.cells, chosen)
        values = self._sign * (self._sign * draws + self._model_optimism)
        undefined = float(np.isnan(values).mean())
        limit = self.candidates.members[chosen].rule.limit or inf
        reason = self.cost_draws.doubt or few(limit * self.cost_draws.n, FEW_EVENTS, "rows within the capacity")
        if not reason and held_out.failed[chosen]:
            reason = f"no threshold satisfies the constraints in {held_out.failed[chosen]:.0%} of the folds"
        if not reason and undefined:
            reason = f"{self.candidates.criterion.name} is undefined in {undefined:.0%} of the draws"
        times = f"{held_out.repeats} times" if held_out.repeats > 1 else "once"
        method = f"choice repeated in {held_out.folds} folds, {times}, and in {len(self.replicates.cells)} replicates"
        return ChosenEstimate.of_draws(
            values,
            level=self.level,
            value=self._sign * (float(self._loss(held_out.cells)[chosen]) + self._model_optimism),
            method=joined(method, self.cost_draws.note),
            n=self.cost_draws.n,
            reason=reason,
            apparent=self._sign * float(self._loss(self.sample.cells)[chosen]),
            regret=self._regret(),
            models=self._probability_of_best(),
            acting=self._probability_of_acting(),
        )

    def apparent(self) -> Estimate:
        """Return the value in the sample, with the bootstrap percentile interval for the fixed threshold."""
        chosen = self.sample.number
        drawn = self.candidates.members[chosen].value(self.replicates.cells[:, chosen], self.quantity)
        low, high = np.nanquantile(drawn, self._tails).tolist()
        method = self._bootstrap_method("percentile, threshold as given", len(drawn))
        value = self._sign * float(self._loss(self.sample.cells)[chosen])
        return Estimate(value, low, high, self.level, method, self.design.n, float(np.nanstd(drawn)))

    def threshold(self) -> BootstrapEstimate:
        """Return the chosen threshold, with an interval from the replicates in which the same candidate is chosen."""
        chosen = self.sample.number
        candidate = self.candidates.members[chosen]
        thresholds = candidate.thresholds(self.design.tallies[candidate.model].threshold)
        points = self.replicates.point[self.replicates.number == chosen]
        values = thresholds[points.astype(np.intp)]
        low = high = spread = np.nan
        if values.size:
            # Quantiles are not interpolated, so that the ends are observed thresholds.
            low, high = np.quantile(values, self._tails, method="inverted_cdf").tolist()
        if values.size > 1 and np.isfinite(values).all():
            spread = float(values.std(ddof=1))
        value = float(thresholds[int(self.sample.points[chosen][0])])
        method = self._bootstrap_method("percentile", values.size)
        return BootstrapEstimate(value, low, high, self.level, method, self.design.n, spread, replicates=values)

    def _bootstrap_method(self, interval: str, replicates: int) -> str:
        return f"bootstrap ({joined(interval, f'{replicates} replicates', self.design.note)})"

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.level) / 2, (1 + self.level) / 2]

    @property
    def _sign(self) -> int:
        """Sign that converts a loss to a value: 1 if lower values are better, −1 otherwise."""
        return 1 if self.quantity == "cost" else -self.candidates.criterion.sign

    def _loss(self, cells: Array) -> Array:
        return self._sign * self.candidates.values(cells, self.quantity)

    @property
    def _optimism(self) -> Array:
        """Optimism of each candidate's threshold: held-out loss minus apparent loss."""
        return np.maximum(self._loss(self.held_out.cells) - self._loss(self.sample.cells), 0)

    @cached_property
    def _model_optimism(self) -> float:
        """Optimism due to choosing the best of several models.

        For the best model of each replicate, this is the mean loss over all replicates minus the loss in this
        replicate. The choice is made after deviations from the mean are multiplied by `DEVIATION_SHARE` = h. The result
        is divided by h.

        For two models whose difference is d with the standard error s, this gives s/h·φ(d/(h·s)). Its expectation is
        s·φ(δ/(s·√(1 + h²)))/√(1 + h²) if the true difference is δ. The optimism itself is s·φ(δ/s).
        """
        drawn, goodness = self._loss(self.replicates.cells), self._goodness(self.replicates.acting)
        mean = np.nanmean(goodness, axis=0)
        best = self._first_best(mean + DEVIATION_SHARE * (goodness - mean))[:, None]
        deviation = np.take_along_axis(drawn - np.nanmean(drawn, axis=0), best, axis=1)
        return max(-float(np.nanmean(deviation)) / DEVIATION_SHARE, 0.0)

    def _draws(self, cells: Array, number: int) -> tuple[Array, Array]:
        """Return draws of a candidate's value and of the value of acting on nobody.

        The variance includes the error of the choice.
        """
        threshold_error = (ERROR_OF_CHOICE * self._optimism[number]) ** 2
        error = threshold_error + self._model_optimism**2 + float(self._excess_losses.var())
        return self.cost_draws.draws(number, cells[number], float(np.nan_to_num(error)), self.quantity, self.seed)

    @cached_property
    def _excess_losses(self) -> Array:
        """Loss of the sample's choice minus loss of the best choice in each replicate, corrected for optimism."""
        drawn, chosen = self.replicates, self.sample.number
        lowest = np.full(len(drawn.cells), np.nan)
        for number, candidate in enumerate(self.candidates.members):
            is_best = drawn.number == number
            # Each choice uses up the limit itself, so its cases have no marginal cost.
            again = replace(candidate, marginal=0.0)
            lowest[is_best] = self._sign * again.value(drawn.chosen[is_best], self.quantity)
        excess = self._loss(drawn.cells)[:, chosen] - lowest
        excess = excess[np.isfinite(excess)]
        excess -= REPLICATE_THRESHOLD_SHARE * self._optimism[chosen] + REPLICATE_MODEL_SHARE * self._model_optimism
        return np.maximum(excess, 0) if excess.size else np.zeros(1)

    def _regret(self) -> Estimate | None:
        if self.quantity == "cost" and not self.candidates.by_cost_alone:
            return None
        losses = self._excess_losses
        low, high = np.quantile(losses, self._tails).tolist()
        method = f"bootstrap, {losses.size} replicates"
        return Estimate(float(losses.mean()), low, high, self.level, method, self.cost_draws.n)

    def _goodness(self, cells: Array) -> Array:
        """Return the values by which candidates are compared; higher is better."""
        return self.candidates.criterion.sign * self.candidates.values(cells, "criterion")

    def _first_best(self, goodness: Array) -> Any:
        """Return the index of the best candidate along the last axis; candidates with the value NaN are never best."""
        return np.where(np.isnan(goodness), -np.inf, goodness).argmax(axis=-1)

    def _probability_of_best(self) -> dict[str, float]:
        """Return the share of replicates in which each model is the best, corrected for the optimism of each model."""
        drawn = self._goodness(self.replicates.acting)
        optimism = self._goodness(self.held_out.acting) - self._goodness(self.sample.acting)
        error = np.random.default_rng([self.seed, 6]).standard_normal(drawn.shape)
        best = self._first_best(drawn + optimism * (1 + ERROR_OF_CHOICE * error))
        shares = {}
        for number, candidate in enumerate(self.candidates.members):
            shares[candidate.label] = float((best == number).mean())
        return shares

    def _probability_of_acting(self) -> float:
        """Return the probability that the choice costs less than acting on nobody (or less than `Candidates.idle`)."""
        if self.candidates.members[0].rule.context.columns:
            return np.nan
        if self.quantity != "cost":
            return replace(self, quantity="cost")._probability_of_acting()
        number = self.sample.number
        if not self.sample.cells[number, :2].any():
            # If nobody is acted on, use the best candidate with some positive prediction.
            number = int(self._first_best(self._goodness(self.held_out.acting)))
        values, nobody = self._draws(self.held_out.acting, number)
        idle = nobody if self.candidates.idle is None else self.candidates.idle
        return float((values + self._model_optimism < idle).mean())


@dataclass(frozen=True)
class RowCostModel:
    """Costs that differ between rows, multiplied by `times`, plus `fixed`.

    With `only_added`, costs are relative to acting on nobody.
    """

    priced: PricedRows
    times: float = 1.0
    fixed: float = 0.0
    only_added: bool = False

    @cached_property
    def _costs(self) -> tuple[Array, Array]:
        """Cost of not acting on each row, and the cost of acting minus the cost of not acting."""
        stakes, scale = self.priced.stakes, self.times / PARTS
        left = stakes.left * (0.0 if self.only_added else scale)
        return left, -stakes.gain * scale

    @cached_property
    def least(self) -> float:
        """Lower bound on the mean cost: the lowest possible cost of any row."""
        left, added = self._costs
        return float((left + np.minimum(added, 0)).min()) + self.fixed

    @cached_property
    def candidates(self) -> Candidates:
        """One candidate per model: its thresholds on the rows in money.

        On rows in money, the expected loss at a threshold is the share of the total weight on the wrong side of the
        threshold. The cost per case is this share times the mean weight, plus the mean unavoidable cost.
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
        """Return draws of the cost of each candidate at its chosen threshold."""

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
        """Return draws of the mean costs of rules, given the probability with which each rule acts on each row.

        The first means are the costs of the `chosen` rules. Then follow the costs of the `acting` rules minus the cost
        of acting on nobody, and finally the cost of acting on nobody.
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

        # Large amounts that the sample happens not to hold add to the moments of each mean.
        classes = []
        for in_class, share_of_class in ((rows.y_true, share), (~rows.y_true, None if share is None else 1 - share)):
            if share_of_class is None:
                share_of_class = weight[in_class].sum() / weight.sum()
            classes.append((in_class, share_of_class / max(in_class.sum(), 1)))
        unseen = UnseenAmounts.of(values, np.abs(added), classes)
        doubt = means.doubt or unseen.doubt
        if not doubt and chosen[number].min() < chosen[number].max():  # else nobody or everybody, whatever comes
            doubt = few(float(unseen.bearing[number]), FEW_EVENTS, "rows have amounts")
        facts = means.n, joined("costs of each row", means.note), doubt
        return generalization.DrawsOfRows(*facts, self.candidates, means, self.least, number, unseen.moments)

    def estimate_of(self, acts: Array, reason: str, level: float, seed: int) -> ChosenEstimate:
        """Return the cost of a fixed rule, given the probability of acting on each row.

        `reason` states why the rule is not chosen again.
        """
        model = self._draws([acts], [acts], 0)
        cost, extra_cost, _ = model.means.mean
        values = np.maximum(cost + model.deviations(0, seed) + self.fixed, model.least)
        nobody = values - (extra_cost + model.deviations(1, seed) + self.fixed)
        reasons = ", and ".join(part for part in (reason, model.doubt) if part)
        facts: dict[str, Any] = {"method": f"{model.note}, as given", "n": model.n, "reason": reasons}
        return ChosenEstimate.of_fixed_rule(float(cost) + self.fixed, values, nobody, level=level, **facts)


@dataclass(frozen=True)
class SamplingModel:
    """The data and the candidates of a choice, or a fixed rule.

    Attributes
    ----------
    samples : Samples or None
        Data of all models. If costs differ between rows and the choice minimises cost, these are rows in money.
    candidates : Candidates or None
        Candidates among which the choice is made.
    row_costs : RowCostModel or None
        Costs of the rows, if costs differ between rows.
    fixed : function of (level, number of replicates, seed), or None
        Returns the cost of a fixed rule, which is estimated without repeating the choice. A criterion is still
        estimated from `candidates`.
    uncertain : UncertainContext or None
        Distribution of the context of new cases. Candidates are compared at its mean.
    """

    samples: Samples | None = None
    candidates: Candidates | None = None
    row_costs: RowCostModel | None = None
    fixed: Callable[[float, int, int], ChosenEstimate] | None = None
    uncertain: UncertainContext | None = None

    def estimate(self, *, quantity: CostOrCriterion = "cost", **options: Any) -> ChosenEstimate:
        """Estimate the cost or the criterion of the choice on new cases.

        The options are the parameters of `generalization`.
        """
        check.check_choice("of", quantity, ("cost", "criterion"))
        if not self.fixed or (self.candidates and quantity == "criterion"):
            return self.generalization(quantity=quantity, **options).estimate()
        if quantity != "cost":
            hint = "omit of=, because only the cost of a fixed rule can be estimated"
            raise InputError("of", expected="'cost'", got=repr(quantity), hint=hint)
        level = check.check_level(options.get("level", 0.95))
        replicates = check.check_whole(options.get("replicates", 2000), "replicates")
        return self.fixed(level, replicates, check.seed_of(options.get("random_state", 0)))

    def held_out_cells(self) -> Array | None:
        """Return tp, fp, n_pos and n_neg of the choice on held-out cases, or None if the choice cannot be repeated."""
        if self.fixed or self.samples is None or self.candidates is None:
            return None
        try:
            design = generalization.design_of_all(self.samples, 0)
            sample = generalization.in_sample(design, self.candidates)
            return generalization.cross_validate(design, self.candidates.by_rank(sample), 0).cells[sample.number]
        except RocscopeError:  # counts are sums of weights, or some fold lacks a class
            return None

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
        """Repeat the choice in cross-validation folds and bootstrap replicates."""
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
        candidates = candidates.by_rank(sample)  # with a limit, the cases with the highest scores are acted on
        held_out = generalization.cross_validate(design, candidates, seed, folds, repeats)
        drawn = generalization.bootstrap_choice(design, candidates, sample, replicates, seed, progress)
        if self.row_costs is not None and candidates.criterion.name == "min_cost":
            cost_draws = self.row_costs.draws(design, sample, stratified)
        else:
            doubt = generalization.few_of_a_class(design.smallest_class) or design.doubt
            parts = design, candidates, sample, drawn, stratified, self.uncertain
            cost_draws = generalization.DrawsOfCounts(design.n, design.note, doubt, *parts)
        return Generalization(design, candidates, sample, held_out, drawn, cost_draws, quantity, level, seed)


def model_of_rows(row_costs: RowCostModel, acts: Array, reason: str = "") -> SamplingModel:
    """Return the sampling model for a choice that minimises cost, if costs differ between rows.

    The choice is not repeated if a `reason` is given, or if the same action is optimal for all rows.
    """
    money = row_costs.priced.in_money
    if not reason and 0 < money.n_pos < money.n:
        return SamplingModel(samples_of(money), row_costs.candidates, row_costs)

    def estimate(level: float, _replicates: int, seed: int) -> ChosenEstimate:
        return row_costs.estimate_of(acts, reason, level, seed)

    return SamplingModel(row_costs=row_costs, fixed=estimate)


def largest_share_of(
    constraints: tuple[Constraint, ...], cases: Fraction
) -> tuple[float | None, tuple[Constraint, ...]]:
    """Return the largest share of `cases` that the constraints allow, and the remaining constraints.

    If all constraints are upper bounds on the number or share of cases, the share replaces all constraints. Otherwise
    the share is None, and all constraints remain.
    """
    shares = [share_bound(constraint, cases) for constraint in constraints if constraint.relation == "<="]
    known = [share for share in shares if share is not None]
    if len(known) < len(constraints):
        return None, constraints
    return (float(min(known)) if known else None), ()


def as_given(
    context: Context,
    acted: OperatingPoint,
    review: Reviewing | None,
    what: str = "the randomised rule was",
    uncertain: UncertainContext | None = None,
) -> SamplingModel:
    """Return the sampling model for a fixed rule, such as a randomised rule or a rule with reviews.

    Notes
    -----
    The draws are from Jeffreys' posterior. In each class, the shares of the actions are Dirichlet(counts + ½). The
    prevalence is the target prevalence of the context or else Beta(n_pos + ½, n_neg + ½). If the context is uncertain,
    costs and prevalence are drawn from their distributions.
    """
    reason = f"the interval ignores how {what if review is None else 'the reviews were'} chosen"

    # Numbers of positives and of negatives that are acted on, reviewed, and left.
    counts = [[acted.tp, acted.fn], [acted.fp, acted.tn]]
    if review is not None:
        looked = review.point  # the cases that are acted on or reviewed
        reviewed = max(looked.tp - acted.tp, 0), max(looked.fp - acted.fp, 0)
        counts = [[acted.tp, reviewed[0], looked.fn], [acted.fp, reviewed[1], looked.tn]]
    n_pos, n_neg = float(sum(counts[0])), float(sum(counts[1]))

    def mean_cost(cost: Mapping[str, Any], prevalence: Any, shares: Sequence[Any]) -> Any:
        """Return the mean cost per case, given the costs of outcomes and the shares of actions in each class."""
        of_review = ((), ()) if review is None else [(amount,) for amount in review.review.costs(cost)]
        costs = (cost["tp"], *of_review[0], cost["fn"]), (cost["fp"], *of_review[1], cost["tn"])
        positive, negative = (sum(map(operator.mul, *of_class)) for of_class in zip(costs, shares, strict=True))
        return prevalence * positive + (1 - prevalence) * negative

    def estimate(level: float, replicates: int, seed: int) -> ChosenEstimate:
        # Draws are cheap here, so draw ten times the number for stable ends of the interval.
        rng, size = np.random.default_rng([seed, 3]), 10 * replicates
        prevalence: Any = rng.beta(n_pos + generalization.PRIOR, n_neg + generalization.PRIOR, size)
        costs, share = context.costs, context.target_prevalence
        if uncertain is not None:
            costs, share = uncertain.draw(rng, size)
        if share is not None:
            prevalence = share
        nobody = prevalence * costs["fn"] + (1 - prevalence) * costs["tn"]
        shares = [rng.dirichlet(np.array(of_class) + generalization.PRIOR, size).T for of_class in counts]
        draws = mean_cost(costs, prevalence, shares)
        of_sample = [np.array(counts[0]) / n_pos, np.array(counts[1]) / n_neg]
        value = float(mean_cost(context.costs, context.prevalence(n_pos / (n_pos + n_neg)), of_sample))
        facts: dict[str, Any] = {"method": "Jeffreys, as given", "n": n_pos + n_neg, "reason": reason}
        return ChosenEstimate.of_fixed_rule(value, draws, nobody, level=level, **facts)

    return SamplingModel(fixed=estimate)
