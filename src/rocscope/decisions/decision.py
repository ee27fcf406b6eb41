"""Decision: the chosen model and threshold, the cost, and the range of costs for which the choice is optimal.

`choose` answers a `Question` with a `Decision`. A decision contains only numbers and text, so it can be saved to a
file. An interval also needs the data, which a new decision keeps in `Decision.sampling_model`. A copied decision and a
decision read from a file have no data.

A choice is optimal for a range of slopes m of the iso-performance line. Let r be the cost of a false alarm divided by
the cost of a miss, and π the prevalence. Because m = r·(1 − π)/π, the range of slopes can be converted to a range of
cost ratios r or of prevalences π.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import made_by_contract
from rocscope._base.formatting import about, counted, in_currency
from rocscope._base.hashed_order import hashes_of
from rocscope._base.json_format import Fields
from rocscope._base.progress import Progress
from rocscope.core import CELLS, Campaign, Context, CumulativeCounts, OperatingPoint, html_table, jsonable
from rocscope.core.applying import predict, scores_of, size_of
from rocscope.core.context import cost_of
from rocscope.core.counts import RATES
from rocscope.decisions.constraints import Constraint, Function
from rocscope.decisions.generalization import ChosenEstimate, CostOrCriterion
from rocscope.decisions.model_hull import UncertainContext
from rocscope.decisions.plan import FORMAT, Plan, Promise, arguments, replicates_for
from rocscope.decisions.randomized import HullVertex, RandomizedRule, Review, Reviewing, whose
from rocscope.decisions.sampling_model import SamplingModel, as_given
from rocscope.errors import InputError

Interval = tuple[float, float]

# Criteria of thresholds that are not an optimum: set by the user in a report or workbench, or by
# `ThresholdClassifier(shrinkage=)`.
GIVEN_THRESHOLDS = ("chosen by hand", "shrunk min_cost")


@dataclass(frozen=True)
class Question:
    """Arguments of `choose`, except the data.

    `choosing.problem_of` combines a question with data.
    """

    context: Context | Campaign | UncertainContext | None = None
    criterion: str | Function | None = None
    subject_to: str | Constraint | Sequence[str | Constraint] = ()
    population: float | None = None
    randomized: bool = False
    review: Review | None = None


@made_by_contract
@dataclass(frozen=True, repr=False)
class Decision(Plan):
    """The model and threshold that were chosen for given costs.

    `rocscope.choose` returns a decision; `Decision.load` reads a decision from a file.

    Attributes
    ----------
    model : str
        Name of the model to use.
    point : OperatingPoint
        The threshold, with the counts tp, fp, fn and tn of the sample.
    context : Context
        Costs and target prevalence.
    expected_cost : float
        Expected cost per case at the target prevalence.
    default_point, default_cost : OperatingPoint, float
        Counts and expected cost of the same model at the default threshold of 0.5. If the counts at 0.5 are unknown,
        the next known threshold above 0.5 is used.
    hull_cost, treat_all_cost, treat_none_cost : float
        Expected cost per case of three alternatives: the best threshold of any model without constraints, acting on
        everybody, and acting on nobody.
    criterion, criterion_value : str, float
        Criterion that was optimised, and its value. For ``"min_cost"`` the value is the expected cost.
    slope_interval : (low, high) or None
        Lowest and highest slope of the iso-performance line for which the decision is optimal under the constraints.
        None if this range was not computed, or if costs differ between rows.
    negated : bool
        True if cases with ``score < threshold`` are predicted positive, instead of cases with ``score >= threshold``.
    subject_to : tuple of str
        Constraints on the choice.
    population : float or None
        Number of cases on which the classifier will be used.
    tied : tuple of str
        Other choices that are equally good; `tie_break` explains the selection.
    notes : tuple of str
        Notes for the user, for example that one action is optimal for all scores.
    best_cost_interval : (low, high) or None
        Guaranteed bounds on the expected cost of the best threshold. Needed if the counts are for bins of scores,
        because only the ends of bins can be compared. None if all thresholds were compared.
    lot : RandomizedRule or None
        Randomised rule between two thresholds; None for a single threshold. With a randomised rule, `model` and
        `threshold` are the model and threshold with more positive predictions, and `point` contains expected counts.
    lot_cost : float or None
        Expected cost per case of the best randomised rule, if this rule is cheaper than the decision under the
        constraints.
    review : Reviewing or None
        Rule that selects cases for review; None without reviews. With reviews, tp and fp in `point` count only the
        cases that are acted on.
    question : Question or None
        Arguments of `rocscope.choose`. In a decision read from a file, the question contains at most the review that
        was offered.
    _make_sampling_model : function without arguments, or None
        Returns the `sampling_model`. The function is called when the sampling model is first needed.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose
    >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2])
    >>> decision = choose(counts, Context(cost_fp=1, cost_fn=5, target_prevalence=0.1), population=1000)
    >>> decision
    Decision(model='score', threshold=0.9, expected_cost=0.25, accuracy=0.95)
    >>> decision.in_population, decision.treat_none_cost
    (OperatingPoint(tp=50, fp=0, fn=50, tn=900, threshold=0.9), 0.5)
    >>> decision.prevalence_interval, decision.rule
    ((0.0, 0.2105263157894737), 'score >= threshold')
    """

    file_format = FORMAT
    not_in_older_files = dict.fromkeys(("point", "default_point", "per_thousand", "in_population"), RATES)

    model: str
    point: OperatingPoint
    context: Context
    expected_cost: float
    default_point: OperatingPoint
    default_cost: float
    hull_cost: float
    treat_all_cost: float
    treat_none_cost: float
    criterion: str = "min_cost"
    criterion_value: float = math.nan
    slope_interval: Interval | None = None
    negated: bool = False
    subject_to: tuple[str, ...] = ()
    population: float | None = None
    tied: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    best_cost_interval: Interval | None = None
    lot: RandomizedRule | None = None
    lot_cost: float | None = None
    review: Reviewing | None = None
    question: Question | None = field(default=None, compare=False)
    _make_sampling_model: Callable[[], SamplingModel] | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self) | {"_make_sampling_model": None}
        state.pop("sampling_model", None)
        if self.question is not None and callable(self.question.criterion):
            state["question"] = None  # a criterion that is a function cannot be pickled in general
        return state

    @cached_property
    def sampling_model(self) -> SamplingModel | None:
        """Sampling model for `interval`, with the data of the choice.

        None for a copy or a decision read from a file.
        """
        return None if self._make_sampling_model is None else self._make_sampling_model()

    def interval(
        self,
        level: float = 0.95,
        *,
        of: CostOrCriterion = "cost",
        replicates: int = 2000,
        random_state: Any = 0,
        progress: Progress = None,
    ) -> ChosenEstimate:
        """Return the expected cost per case on new cases, with a confidence interval.

        The interval accounts for the choice of the model and threshold on the same data.

        Parameters
        ----------
        level : float
            Confidence level.
        of : "cost" or "criterion"
            Quantity to estimate: the expected cost, or the criterion that the choice maximises.
        replicates : int
            Number of bootstrap samples. The model and threshold are chosen again in each sample.
        random_state, progress : see `rocscope.bootstrap`

        Raises
        ------
        InputError
            If the decision was read from a file or copied, because such a decision has no data.
        WeightError
            If the counts are sums of weights, because the number of rows is then unknown.

        Notes
        -----
        `ChosenEstimate` describes the method and its measured coverage. `plan_campaign(…).profit`,
        `rocscope.evaluation.optimism` and `rocscope.inference.compare_costs` use the same method.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([3, 2, 1], [60, 30, 10], [40, 160, 200]), Context(cost_fn=3))
        >>> decision.expected_cost, decision.interval().acting > 0.99
        (0.32, True)
        """
        if self.sampling_model is None:
            hint = "call rocscope.choose with the data again"
            got = "a decision that was copied or read from a file"
            raise InputError("interval", expected="a decision with its data", got=got, hint=hint)
        return self.sampling_model.estimate(
            level=level, quantity=of, replicates=replicates, random_state=random_state, progress=progress
        )

    @property
    def threshold(self) -> float:
        """Lowest score that is predicted positive; ∞ if nobody is positive, −∞ if everybody is positive."""
        return self.point.threshold

    @property
    def rule(self) -> str:
        """Text of the decision rule.

        A comparison with the threshold, "by lot" (randomised), "always" (everybody positive), "never" (nobody positive)
        or "act, review or leave" (with reviews).
        """
        if self.review is not None:
            return "act, review or leave"
        if self.lot is not None:
            return "by lot"
        if math.isinf(self.threshold):
            return "always" if (self.threshold < 0) != self.negated else "never"
        return "score < threshold" if self.negated else "score >= threshold"

    @property
    def trivial(self) -> str:
        """Text "everybody positive, …" or "nobody positive, …".

        An empty string if the decision depends on the score.
        """
        words = {"always": "everybody positive, whatever the scores", "never": "nobody positive, whatever the scores"}
        return words.get(self.rule, "")

    @property
    def offered_review(self) -> Review | None:
        """The review that was offered but does not pay for any case; None otherwise."""
        return None if self.review is not None or self.question is None else self.question.review

    @property
    def regret(self) -> float:
        """Expected cost per case minus the cost of the best threshold of any model; negative only with reviews."""
        return self.expected_cost - self.hull_cost

    @property
    def regrets(self) -> dict[str, float]:
        """Expected cost per case minus the cost of each alternative; negative if the decision is cheaper."""
        others = {"hull": self.hull_cost, "treat_all": self.treat_all_cost, "treat_none": self.treat_none_cost}
        others["default_threshold"] = self.default_cost
        return {name: self.expected_cost - cost for name, cost in others.items()}

    @property
    def prevalence(self) -> float:
        """Prevalence for costs and expected counts: the target prevalence or, by default, the sample's prevalence."""
        return self.context.prevalence(self.point.prevalence)

    @property
    def per_thousand(self) -> OperatingPoint:
        """Expected counts among 1,000 cases at the target prevalence."""
        return self.expected(1000)

    @property
    def in_population(self) -> OperatingPoint | None:
        """Expected counts in the population, if its size is given."""
        return None if self.population is None else self.expected(self.population)

    def expected(self, cases: float) -> OperatingPoint:
        """Return the expected counts among a number of cases at the target prevalence.

        Parameters
        ----------
        cases : float
            Number of cases.

        Examples
        --------
        The sample has a tpr of 3/4 and an fpr of 1/3. With a prevalence of 10%, 100 of 1,000 cases are positive:

        >>> from rocscope import Context, ThresholdCounts, choose
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2])
        >>> point = choose(counts, Context(cost_fn=20, target_prevalence=0.1)).expected(1000)
        >>> round(point.tp), round(point.fp), round(point.fn), round(point.tn)
        (75, 300, 25, 600)
        """
        return self.point.at_prevalence(self.prevalence, cases)

    @property
    def total_cost(self) -> float | None:
        """Expected cost of the whole population, if its size is given."""
        return None if self.population is None else self.expected_cost * self.population

    @property
    def prevalence_interval(self) -> Interval | None:
        """Range of prevalences for which the decision is optimal at the given costs.

        Notes
        -----
        Each end m of `slope_interval` corresponds to the prevalence π = r/(r + m), where r is the cost ratio. The set
        of thresholds that satisfy the constraints is assumed not to depend on the prevalence.
        """
        if self.slope_interval is None or not 0 < (ratio := self.context.cost_ratio) < math.inf:
            return None
        low, high = self.slope_interval
        return (ratio / (ratio + high), ratio / (ratio + low))

    @property
    def cost_ratio_interval(self) -> Interval | None:
        """Range of cost ratios for which the decision is optimal at the given prevalence."""
        if self.slope_interval is None:
            return None
        odds = self.prevalence / (1 - self.prevalence)
        return (self.slope_interval[0] * odds, self.slope_interval[1] * odds)

    @property
    def tie_break(self) -> str:
        """The equally good choices, and the rule that selected one of them."""
        if not self.tied:
            return "no tie"
        return f"as good: {'; '.join(self.tied)}. Taken: fewest positive predictions, then the model given first"

    def predict(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[Any]:
        """Predict the positive cases or, for a decision with reviews, the action for each case.

        Parameters
        ----------
        scores : array of n scores, mapping from model name to array, Predictions, or data frame
            Scores of the cases. A mapping or data frame contains one column per model.
        ids : array of n identifiers, optional
            Identifiers of the cases; by default row positions. In a randomised rule, hashes of the identifiers replace
            random numbers.
        random_state : int, Generator, RandomState or None
            Random seed of a randomised rule.

        Returns
        -------
        array of n booleans or strings
            True for positive cases. With reviews, "act", "review" or "leave" for each case.

        Raises
        ------
        ColumnError
            If the scores of the chosen model are missing. This error is not raised if everybody or nobody is positive.
        ScoreError
            If a score is missing or infinite.
        InputError
            If an identifier occurs twice.

        Notes
        -----
        If a randomised rule uses a limit on the number of cases exactly, its share of the cases in `scores` is selected
        exactly; see `RandomizedRule.predict`.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
        >>> decision.predict([0.95, 0.6, 0.2])
        array([ True, False, False])
        """
        if self.review is not None:
            return self.review.predict(self._acting, scores, ids, random_state)
        if self.lot is not None:
            return self.lot.predict(scores, ids, random_state=random_state)
        if self.trivial:
            return np.full(size_of(scores), self.rule == "always")
        (column,) = scores_of([self.model], scores).values()
        return predict(column, self.threshold, self.negated)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.model, *self.needs)))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.context.columns

    @property
    def needs(self) -> tuple[str, ...]:
        looked = () if self.review is None else self.review.rule.models
        return () if self.trivial else tuple(dict.fromkeys((*self._acting.models, *looked)))

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Indices:  # noqa: ARG002
        said = self.predict(scores, ids, random_state=random_state)
        taken = np.flatnonzero(said if self.review is None else said == "act")
        if self.trivial:
            hashes_of(ids, said.size)  # raises for repeated identifiers
            return taken
        return self._acting.ordered(taken, scores, ids, random_state=random_state)

    def reviewed(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Indices:
        if self.review is None:
            return super().reviewed(scores, ids)
        looked = np.flatnonzero(self.predict(scores, ids, random_state=random_state) == "review")
        return self.review.rule.ordered(looked, scores, ids, random_state=random_state)

    @cached_property
    def promise(self) -> Promise:
        if self.review is not None:
            hint = "call rocscope.choose without review="
            raise InputError("outcomes", expected="a plan without reviews", got=repr(self), hint=hint)
        point, idle = self.expected(1), self.treat_none_cost
        depth = point.tp + point.fp
        if not depth:
            return Promise(math.nan, 0.0)
        apparent, estimated = Promise(point.tp / depth, (idle - self.expected_cost) / depth), None
        estimate = self.on_new_cases if self._judged_by_cost else None
        if estimate is not None:
            estimated = Promise(apparent.rate, (idle - estimate.value) / depth, 0.0, estimate.standard_error / depth)
        if self.context.columns:
            return estimated or apparent
        cells = None if self.sampling_model is None else self.sampling_model.held_out_cells()
        return apparent.on_new_cases(estimated, cells, self.point, self.context, depth)

    def _new_cases(self) -> ChosenEstimate:
        of: CostOrCriterion = "cost" if self._judged_by_cost else "criterion"
        return self.interval(self.level, of=of, replicates=replicates_for(self.point), progress=False)

    def sentence(self, currency: str = "") -> str:
        others = {"acting on nobody": self.treat_none_cost, "acting on everybody": self.treat_all_cost}
        if self.trivial:
            what = "act on everybody" if self.rule == "always" else "act on nobody"
            del others[what.replace("act", "acting")]
        else:
            what = f"act on {self._cases_in_words}"
        if self.subject_to:
            what = f"Subject to {' and '.join(self.subject_to)}, {what}"
        what = what[0].upper() + what[1:]
        if not self._judged_by_cost:
            criterion = self._expected(self.criterion, self.criterion_value)
            return f"{what}. Expect {criterion}.{self._certainty(pays=False)}"
        other = min(others, key=others.__getitem__)
        against = f"against {in_currency(f'{others[other]:,.4g}', currency)} for {other}"
        cost = self._expected("a cost per case", self.expected_cost, currency)
        return f"{what}. Expect {cost}, {against}.{self._certainty(pays=not self.trivial)}"

    @property
    def next_score(self) -> float | None:
        """The next score below the threshold in the data, if known.

        Every threshold above this score, up to `threshold`, gives the same decisions.
        """
        return None if math.isnan(self.point.next_score) else self.point.next_score

    @property
    def _judged_by_cost(self) -> bool:
        return self.criterion in ("min_cost", *GIVEN_THRESHOLDS)

    @property
    def _cases_in_words(self) -> str:
        """Description of the cases to act on and to review, as part of a sentence."""
        acted = self.expected(1).depth
        number, rule = self._share_in_words(acted), self._acting
        if rule.at_most is not None and len(rule.models) == 1:
            text = f"the {number} {rule.best_in_words}"
        elif rule.randomized:
            text = f"{number} ({rule.in_words})"
        else:
            text = f"the {number} {whose(self.model, self.point.threshold_text, self.negated)}"
        if self.review is None:
            return text
        looked = self._share_in_words(self.review.point.at_prevalence(self.prevalence).depth - acted)
        return f"{text}, and review the next {looked}, down to {self.review.point.threshold_text}"

    def _share_in_words(self, share: float) -> str:
        if self.population is None:
            return f"{share:.2%} of cases"
        return f"{about(share * self.population)} of {counted(self.population, 'case')}"

    def gains(self, positive: Array, amounts: Mapping[str, Array], segment: Any = None) -> Array:  # noqa: ARG002
        tp, fp, fn, tn = (np.asarray(cost_of(cell, self.context, amounts), float) for cell in CELLS)
        return np.where(positive, fn - tp, tn - fp)

    def strata(self, scores: Any, segment: Any = None) -> Indices:
        if self.lot is None:
            return super().strata(scores, segment)
        return self.lot.strata(scores, by_number=self.lot.at_most is not None)

    def said(self, chosen: int, cases: int) -> str:
        of_score = f"{self.model} {'<' if self.negated else '>='} {self.point.threshold_text}"
        why = self.trivial or (self._acting.shares if self.review or self.lot else of_score)
        return f"{super().said(chosen, cases)}: {why}"

    @property
    def _acting(self) -> RandomizedRule:
        """The rule for acting; a threshold is a rule that decides all cases."""
        vertex = HullVertex(self.model, self.point, negated=self.negated)
        return self.lot or RandomizedRule.between(vertex, vertex, Fraction(1))

    @classmethod
    def of_fields(cls, fields: Fields) -> Self:
        question = None
        if "offered_review" in fields.content:
            offered = fields.take("offered_review", dict, "a cost and a capacity")
            question = Question(review=fields.make("offered_review", Review, **offered))
        return fields.make("", cls, **arguments(fields), question=question)

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as JSON-compatible data; infinite and undefined values become None.

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> choose(ThresholdCounts([2, 1], [1, 0], [0, 1])).to_dict()["threshold"]
        2
        """
        names = (
            "model threshold rule negated expected_cost default_cost hull_cost treat_all_cost treat_none_cost regret "
            "criterion criterion_value slope_interval cost_ratio_interval prevalence_interval prevalence subject_to "
            "population total_cost tied tie_break notes point default_point per_thousand in_population lot lot_cost "
            "review"
        )
        optional = ("best_cost_interval", "offered_review", "next_score")
        known = [name for name in optional if getattr(self, name) is not None]
        facts = {name: getattr(self, name) for name in (*names.split(), *known, "context")}
        return jsonable(facts | {"notes": list(map(str, self.notes))})

    def __repr__(self) -> str:
        facts = [self.trivial or f"model={self.model!r}, threshold={self.point.threshold_text}"]
        if self.criterion not in ("min_cost", "accuracy"):
            value = "" if math.isnan(self.criterion_value) else f"={self.criterion_value:.6g}"
            facts.append(f"{self.criterion}{value}")
        facts.append(f"expected_cost={self.expected_cost:.6g}")
        by_row = bool(self.context.columns)
        facts.append(f"depth={self.point.depth:.6g}" if by_row else f"accuracy={self.per_thousand.accuracy:.6g}")
        if self.review is not None:
            facts.append(("" if self.lot is None else f"act {self.lot.shares}, ") + repr(self.review))
        elif self.lot is not None:
            facts.append(repr(self.lot))
        elif self.lot_cost is not None:
            facts.append(f"{self.expected_cost - self.lot_cost:.6g} less per case with randomized=True")
        return f"Decision({', '.join([*facts, *self.notes])})"

    def _repr_html_(self) -> str:
        regrets = [(f"cost above {name.replace('_', ' ')}", f"{cost:.6g}") for name, cost in self.regrets.items()]
        return super()._repr_html_() + self.point._repr_html_() + html_table(regrets)


def at_threshold(
    decision: Decision, counts: CumulativeCounts, threshold: float, criterion: str, notes: tuple[str, ...] = ()
) -> Decision:
    """Return the decision with another threshold; `criterion` states the origin of this threshold."""
    point = counts.with_next_score(counts.at(threshold))
    return replace(
        decision,
        point=point,
        expected_cost=float(decision.context.exact_cost(point)),
        criterion=criterion,
        criterion_value=math.nan,
        slope_interval=None,
        tied=(),
        notes=notes,
        question=None,
        _make_sampling_model=lambda: as_given(decision.context, point, None, "the threshold was"),
    )
