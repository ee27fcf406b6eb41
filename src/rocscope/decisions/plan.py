"""Plan: the base class of decisions, campaign plans and allocations.

A plan is a rule that selects the cases to act on, together with a forecast of their outcomes. A plan can be applied to
new cases (`select`, `apply`), saved to a file (`save`) and checked against its data (`verify`). Later, `outcomes`
compares the forecast (`Promise`) with the actual outcomes; the formulas are in `rocscope.outcomes.plan_outcomes`.

The fields of decision files are described in docs/guide/decisions/decision-json.md. JSON has no infinite numbers, so an
infinite threshold is stored as null. The sign of the infinite threshold follows from the other fields.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.atomic_write import JSON, write_file
from rocscope._base.formatting import chance, in_currency
from rocscope._base.json_format import Fields, Format, FormatUpgrade, is_number
from rocscope._base.public_names import reach
from rocscope.core import CELLS, Context, OperatingPoint, Result, jsonable
from rocscope.core.applying import size_of
from rocscope.decisions.generalization import ChosenEstimate
from rocscope.decisions.randomized import HullVertex, RandomizedRule, Review, Reviewing
from rocscope.errors import InputError, RocscopeError
from rocscope.inference.expected_costs import FOLD_VARIANCE

# Bootstrap replicates for the value on new cases in a plan's sentence and file and on the page. They also give the
# probability that a model is the best; its standard error with 1,000 replicates is at most √(0.25/1000) = 1.6 points.
# The time grows with the number of rows. Above 20,000 rows, 200 replicates take a few tenths of a second, and the
# probability is rarely near one half.
_REPLICATES, _REPLICATES_OF_MANY_ROWS, _MANY_ROWS = 1000, 200, 20_000


def replicates_for(point: OperatingPoint) -> int:
    """Return the number of bootstrap replicates for a plan whose rule is an operating point of its sample."""
    return _REPLICATES if point.n_pos + point.n_neg <= _MANY_ROWS else _REPLICATES_OF_MANY_ROWS


class Promise(NamedTuple):
    """Forecast of the outcomes of the new cases on which a plan acts.

    Attributes
    ----------
    rate : float
        Share of positives among the cases acted on.
    gain : float
        Mean gain per case acted on, relative to not acting on this case.
    fixed : float
        Fixed costs in total; they do not depend on the number of cases.
    error : float
        Standard error of `gain`, due to the sampling error of the sample from which the plan was made.
    """

    rate: float
    gain: float
    fixed: float = 0.0
    error: float = 0.0

    def on_new_cases(
        self, estimated: "Promise | None", cells: Any, point: OperatingPoint, context: Context, depth: float
    ) -> "Promise":
        """Return a forecast that is corrected for new cases, because the sample itself gives optimistic numbers.

        Parameters
        ----------
        estimated : Promise or None
            Forecast with the gain of the plan's estimate, which is corrected for the choice among several models.
        cells : tuple of four numbers, or None
            True positives, false positives, positives and negatives among the held-out cases.
        point : OperatingPoint
            Counts of the sample, used without held-out cases.
        context : Context
            Costs and prevalence of the new cases.
        depth : float
            Share of the sample on which the plan acts.

        Notes
        -----
        With prevalence π, the odds of the rate are π·tpr/((1 − π)·fpr). The logarithm of these odds has variance 1/tp +
        1/fp. The variance due to random folds and half the optimism of the sample are added as in `ChosenEstimate`. The
        mean gain per case acted on is the gain per held-out case, divided by the plan's depth in the sample. The depth
        among held-out cases is not used, because it can differ from the plan's depth. Near the best depth, such a
        difference hardly changes the total gain, but it changes the mean gain per case acted on.

        The result has the gain of `estimated`; the difference between the two gains is added to its standard error.
        """
        if cells is None:
            cells = point.tp, point.fp, point.n_pos, point.n_neg
        tp, fp, n_pos, n_neg = map(float, cells)
        rate, gain, error = self.rate, self.gain, self.error
        if tp > 0 and fp > 0:
            prevalence = context.prevalence(point.prevalence)
            hit, alarm = float(context.miss_cost), float(context.false_alarm_cost)
            positives, negatives = prevalence * tp / n_pos, (1 - prevalence) * fp / n_neg
            rate = positives / (positives + negatives)
            gain = (positives * hit - negatives * alarm) / depth
            variance = FOLD_VARIANCE * ((hit + alarm) * rate * (1 - rate)) ** 2 * (1 / tp + 1 / fp)
            error = math.hypot(math.sqrt(variance), (self.gain - gain) / 2)
        if estimated is None:
            return Promise(rate, gain, self.fixed, error)
        return estimated._replace(rate=rate, error=math.hypot(error, gain - estimated.gain))


class Note(str):
    """Note for the reader of a plan: a string with the attributes `code` and `parameters`.

    Programs can read `code` and `parameters`. A saved plan contains only the text of its notes.
    """

    code: str
    parameters: dict[str, Any]

    def __new__(cls, code: str, text: str, **parameters: Any) -> "Note":
        note = super().__new__(cls, text)
        note.code, note.parameters = code, parameters
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.code, str(self)), self.parameters


# A capacity below this share of the cases is probably meant as a share, or in thousands.
_SMALLEST_CAPACITY = 0.001
_NO_LIMIT = "so it does not limit anything; check the population and the capacity"
_NOT_A_SHARE = "a capacity is a number of cases, neither a share nor in thousands"


def notes_on_capacity(capacity: float, cases: float) -> tuple[Note, ...]:
    """Return a note if a capacity exceeds the number of cases or is far below it; otherwise an empty tuple."""
    text = f"the capacity is {capacity:,.10g} of {cases:,.10g} cases"
    if capacity > cases:
        return (Note("capacity", f"{text}, {_NO_LIMIT}"),)
    if 0 < capacity < max(1.0, _SMALLEST_CAPACITY * cases):
        return (Note("capacity", f"{text}; {_NOT_A_SHARE}"),)
    return ()


class Plan(Result):
    """A rule that selects the cases to act on, with a forecast of the result.

    `rocscope.choose`, `rocscope.plan_campaign` and `rocscope.allocate` return plans; `rocscope.load_plan` reads them
    from files.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose
    >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
    >>> isinstance(decision, Plan), decision.select([0.5, 0.95, 0.9], ["x", "y", "z"]).tolist()
    (True, ['y', 'z'])
    """

    file_format: ClassVar[Format]
    not_in_older_files: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Names of derived numbers that older files do not contain, by field."""

    level: float = 0.95
    """Confidence level of the forecast for new cases."""

    by_segment: bool = False
    """True if the plan needs the segment of each case."""

    planned_number: int | None = None
    """Number of cases to act on in the plan's population; None if the plan has no population."""

    several_actions: ClassVar[bool] = False
    """True if the plan selects one of several actions for each case; `assign` then returns these actions."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the models whose scores are needed to apply the plan.

        Empty if the plan acts on everybody or nobody.
        """
        raise NotImplementedError

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models of the plan."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that contain the costs or benefits of each row.

        Empty if these are equal for all rows.
        """
        return ()

    def assign(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Array:  # noqa: ARG002
        """Return the action for each case; available only for a plan with several actions.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Plan.select`

        Raises
        ------
        InputError
            If the plan has a single action. If the segments are missing or unknown.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, allocate
        >>> counts = ThresholdCounts([2, 1], [3, 1], [1, 3])
        >>> actions = {"letter": Campaign(8, unit_cost=1, unit_benefit=4), "call": Campaign(8, 3, 10)}
        >>> allocate(counts, actions=actions).assign([2, 1])
        array(['call', ''], dtype='<U6')
        """
        raise InputError("plan", expected="a plan with several actions", got=type(self).__name__, hint="use select")

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Indices:
        """Return the indices of the rows to act on, best first; `select` describes the parameters.

        Parameters
        ----------
        scores, ids, segment, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]))
        >>> decision.rows([0.5, 0.95, 0.9]).tolist()
        [1, 2]
        """
        raise NotImplementedError

    def reviewed(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> Indices:  # noqa: ARG002
        """Return the indices of the rows to review, best first; empty if the plan has no review.

        Parameters
        ----------
        scores, ids, random_state : see `Plan.select`

        Examples
        --------
        >>> from rocscope import Context, Review, ThresholdCounts, choose
        >>> counts = ThresholdCounts([3, 2, 1], [3, 2, 0], [0, 2, 3])
        >>> decision = choose(counts, Context(cost_fp=5, cost_fn=5), review=Review(cost=1))
        >>> decision.reviewed([1, 2, 3, 2]).tolist()
        [1, 3]
        """
        return np.zeros(0, np.intp)

    @cached_property
    def promise(self) -> Promise:
        """Forecast of the outcomes of the new cases on which the plan acts."""
        raise NotImplementedError

    @cached_property
    def on_new_cases(self) -> ChosenEstimate | None:
        """Estimate of the profit, cost or criterion on new cases, with an interval; None if it cannot be computed.

        The estimate is None if the plan was made from sums of weights, or was saved by an earlier version. Only the
        value in the sample is available then.
        """
        try:
            estimate = self._new_cases()
        except RocscopeError:
            return None
        return None if math.isnan(estimate.value) else estimate

    def _new_cases(self) -> ChosenEstimate:
        """Return the estimate for new cases; raise an error if it cannot be computed."""
        raise NotImplementedError

    @cached_property
    def read_with(self) -> dict[str, Any]:
        """Command-line options for reading the rows, such as the label column; empty for a plan made in Python."""
        return {}

    @property
    def verdict(self) -> str:
        """The recommendation as text: the action, the number of cases, and the expected result."""
        return self.sentence()

    def sentence(self, currency: str = "") -> str:
        """Return the recommendation as text, with amounts in a currency such as "€" or "CHF".

        Parameters
        ----------
        currency : str
            Unit of the amounts.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> counts = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
        >>> plan_campaign(counts, Campaign(1000, unit_cost=1, unit_benefit=10)).sentence("€")
        'Contact the 100 customers whose score is 3 or more (10.00% of 1,000). Expect 30 responders and a profit of €200
        on new customers (95% CI [€110, €310]; apparent €200). Acting pays with probability above 99.9%.'
        """
        raise NotImplementedError

    def _expected(self, name: str, apparent: float, currency: str = "", cases: str = "cases") -> str:
        """Return the expected value on new cases as text or, if it is unknown, the value in the sample."""
        estimate = self.on_new_cases
        if estimate is None:
            return f"{name} of {in_currency(f'{apparent:,.4g}', currency)} (apparent, because no new {cases} were used)"
        return estimate.sentence(name, currency, cases)

    def _certainty(self, *, pays: bool = True) -> str:
        """Return the last sentences: the probability that acting pays, and why the interval may be unreliable."""
        estimate = self.on_new_cases
        if estimate is None:
            return ""
        known = pays and not math.isnan(estimate.acting)
        probability = f" Acting pays with probability {chance(estimate.acting)}." if known else ""
        return probability + (f" The interval is not reliable: {estimate.reason}." if estimate.reason else "")

    def _repr_html_(self) -> str:
        sentence = "" if self.verdict in repr(self) else f"<p>{escape(self.verdict)}</p>"
        return sentence + super()._repr_html_()

    def gains(self, positive: Array, amounts: Mapping[str, Array], segment: Any = None) -> Array:
        """Return the gain from acting on each row relative to not acting.

        Parameters
        ----------
        positive : array of n booleans
            True for positive rows.
        amounts : mapping from column name to array of n numbers
            Costs or benefits that differ between rows.
        segment : array of n segments, optional
            Segment of each row, for an allocation.
        """
        raise NotImplementedError

    def strata(self, scores: Any, segment: Any = None) -> Indices:  # noqa: ARG002
        """Return the stratum number of each case.

        A stratum contains cases with equal scores from which the plan selects by hash. The number is −1 if the score
        alone decides on the case.

        Parameters
        ----------
        scores, segment : see `select`

        Raises
        ------
        ColumnError
            If the scores are a table without columns.
        """
        return np.full(size_of(scores), -1)

    def said(self, chosen: int, cases: int) -> str:
        """Return a sentence with the number of cases to act on and the rule that selects these cases.

        Parameters
        ----------
        chosen, cases : int
            Number of cases to act on, and number of all cases.
        """
        return f"Act on {chosen:,} of {cases:,} cases"

    def select(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Array:
        """Return the identifiers of the cases to act on, best first.

        Parameters
        ----------
        scores : array of n scores, mapping from model name to array, Predictions, or data frame
            Scores of the new cases. A data frame or mapping contains one column per model of the plan.
        ids : array of n identifiers, optional
            Identifiers to return; by default row numbers. Hashes of the identifiers decide among equal scores, so the
            order of the rows does not matter.
        segment : array of n segments, optional
            Segment of each case, needed for an allocation. By default, the segments of the Predictions.
        random_state : int, Generator, RandomState or None
            Random seed for the selection among equal scores.

        Returns
        -------
        array of identifiers
            If the plan fixes the number of cases to act on, the array contains exactly this number of identifiers.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> campaign = Campaign(population=6, unit_cost=1, unit_benefit=10, capacity=1)
        >>> plan = plan_campaign(ThresholdCounts([3, 2], [1, 1], [1, 3]), campaign)
        >>> plan.select([3, 2, 3, 2, 2, 2], ["a", "b", "c", "d", "e", "f"])
        array(['c'], dtype='<U1')
        """
        options = {} if segment is None else {"segment": segment}
        chosen = self.rows(scores, ids, random_state=random_state, **options)
        return chosen if ids is None else np.asarray(ids)[chosen]

    def apply(
        self,
        source: Any,
        ids: Any = None,
        *,
        scores: str | Sequence[str] | Mapping[str, str] | None = None,
        segment: Any = None,
        keep: Sequence[str] = (),
        where: str | None = None,
        random_state: Any = 0,
        every_row: bool = False,
        label: str | None = None,
        pos_label: Any = None,
        **layout: Any,
    ) -> Any:
        """Apply the plan to new cases. The labels of these cases are not needed.

        Parameters
        ----------
        source : array of scores, mapping, Predictions, data frame, path, or any other source of `rocscope.read`
            Scores of the new cases, with any further columns.
        ids : str or array, optional
            Name of the identifier column, or the identifiers themselves; by default row numbers from 0.
        scores : str, sequence of str, or mapping from model name to column, optional
            Names of the score columns. By default, the names of the models.
        segment : str or array, optional
            Name of the segment column, or the segments themselves; needed for an allocation.
        keep : sequence of str
            Names of further columns to copy to the result.
        where : str, optional
            SQL condition. The plan is applied only to rows that satisfy this condition.
        random_state : int, Generator, RandomState or None
            Random seed for the selection among equal scores.
        every_row : bool
            If True, return all cases in their original order, with the decision for each case. By default, only the
            cases to act on are returned.
        label : str, optional
            Name of the column with the true labels, allowed only with `every_row`. Adds the outcome of each case, such
            as "false positive".
        pos_label : scalar, optional
            The positive label. By default, the label 1 or true; labels other than 0/1, -1/1 or true/false need
            `pos_label`.
        **layout
            Format of a file: `format`, `decimal`, `delimiter`, `encoding`, `table`; see `rocscope.read`.

        Returns
        -------
        AppliedPlan
            The cases to act on, best first. `to_frame` returns a data frame, `save` writes a CSV file, and `note`
            states the number of selected cases.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
        >>> decision.apply({"client": ["007", "008"], "score": [0.95, 0.5]}, ids="client")
        AppliedPlan(Act on 1 of 2 cases: score >= 0.9)
        >>> decided = decision.apply({"bought": [0, 1], "score": [0.95, 0.5]}, every_row=True, label="bought")
        >>> decided.columns["outcome"].tolist()
        ['false positive', 'false negative']
        """
        layout |= {"scores": scores, "segment": segment, "keep": keep, "where": where, "random_state": random_state}
        layout |= {"every_row": every_row, "label": label, "pos_label": pos_label}
        return reach("plan_application").apply_plan(self, source, ids, **layout)

    def outcomes(
        self,
        source: Any,
        ids: Any = None,
        *,
        label: str | None = None,
        acted: str | None = None,
        scores: Any = None,
        segment: Any = None,
        where: str | None = None,
        pos_label: Any = None,
        level: float = 0.95,
        random_state: Any = 0,
        **layout: Any,
    ) -> Any:
        """Compare the plan's actual outcomes with its forecast.

        Parameters
        ----------
        source : data frame, path, or any other source that `rocscope.read` accepts
            The cases to which the plan was applied, with their outcomes. To find the cases that were acted on, the plan
            is applied again; pass the same identifiers as before.
        ids, scores, segment, where, random_state, **layout
            As in `apply`.
        label : str
            Name of the column with the outcomes. Unknown outcomes are missing values. For example, the response of a
            person who was not contacted is unknown.
        acted : str, optional
            Name of the column that marks the cases acted on; needed if the plan was not followed. For a plan with
            several actions, the column contains the action of each case. Pass ``"all"`` if `source` contains only cases
            that were acted on. The argument is required if `source` may contain only such cases, for example if it has
            exactly the planned number of customers.
        pos_label : label, optional
            The positive label. By default, the label 1 or true; labels other than 0/1, −1/1 or true/false need
            `pos_label`.
        level : float
            Confidence level of the intervals.

        Returns
        -------
        PlanOutcomes
            The achieved and the promised gain. If a hash decided among cases with equal scores, the result also
            contains the effect of acting.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> plan = plan_campaign(ThresholdCounts([3, 2], [2, 1], [1, 4]), Campaign(8, unit_cost=1, unit_benefit=3))
        >>> answers = {"client": list("abcd"), "score": [3, 3, 2, 2], "bought": [0, 1, None, None]}
        >>> outcomes = plan.outcomes(answers, "client", label="bought")
        >>> outcomes.acted, outcomes.gain.value, round(outcomes.promised_gain, 9), outcomes.rate.value
        (1, 2.0, 1.0, 1.0)
        """
        layout |= {"label": label, "acted": acted, "scores": scores, "segment": segment, "where": where}
        layout |= {"pos_label": pos_label, "level": level, "random_state": random_state}
        return reach("plan_application").outcomes(self, source, ids, **layout)

    def verify(self, data: Any, **columns: Any) -> Any:
        """Compute the plan again from its data, and compare each stored number with the recomputed number.

        Parameters
        ----------
        data : Predictions, counts, or a file, data frame, relation or table
            The rows from which the plan was made, or their counts at each threshold. The data must contain all models
            that were compared. For an allocation, pass Predictions with segments, or a mapping from segment to data.
        **columns
            For a file, data frame, relation or table: `label` and further arguments of `rocscope.read`. By default,
            `scores` are the names of the plan's models. A plan for segments needs `segment`.

        Returns
        -------
        Verification
            The verdict, with the stored and the recomputed value of each number.

        Raises
        ------
        InputError
            If the plan cannot be computed again because the rows lack a model or a column, or because the criterion is
            a function.

        Notes
        -----
        If another threshold has the same cost as the plan, the plan passes the check and the tie is reported.

        Examples
        --------
        >>> from rocscope import Context, ThresholdCounts, choose
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2])
        >>> choose(counts, Context(cost_fn=2)).verify(counts)
        Verification(7 rows, 27 numbers verified, tied with score at -inf)
        """
        data = reach("plan_application").labelled(self, data, **columns) if columns else data
        return reach("plan_verification").verify(self, data)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Write the plan to a JSON file.

        If the file exists, it is overwritten; with `force=False` an error is raised.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written, or the file exists and `force` is False.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope import ThresholdCounts, choose, load_plan
        >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]))
        >>> with TemporaryDirectory() as folder:
        ...     path = decision.save(f"{folder}/decision.json")
        ...     path.name, load_plan(path).threshold
        ('decision.json', 0.9)
        """
        return write_file(path, self.to_json(), force=force, endings=JSON)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a plan of this class that was saved with `save`; `rocscope.load_plan` loads plans of every class.

        Parameters
        ----------
        path : str or path
            Name of the file.

        Raises
        ------
        StoredError
            If the file does not exist, has a newer format version, is incomplete, or was changed after saving. Also if
            it contains another object.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from rocscope import Decision, ThresholdCounts, choose
        >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]))
        >>> with TemporaryDirectory() as folder:
        ...     Decision.load(decision.save(f"{folder}/decision.json")).threshold
        0.9
        """
        fields = cls.file_format.read(path)
        return cls.of_fields(fields).checked(fields)

    @classmethod
    def of_fields(cls, fields: Fields) -> Self:
        """Read a plan from the fields of a file, without checking the derived fields.

        Parameters
        ----------
        fields : Fields
            Fields of the file.
        """
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the plan as JSON text, as written by `save`.

        Examples
        --------
        >>> import json
        >>> from rocscope import ThresholdCounts, choose
        >>> json.loads(choose(ThresholdCounts([2, 1], [1, 0], [0, 1])).to_json())["threshold"]
        2
        """
        return self.file_format.text(self.stored() | self._not_derived())

    def stored(self) -> dict[str, Any]:
        """Return the fields of the plan's file, except the forecast for new cases."""
        return self.to_dict()

    def _not_derived(self) -> dict[str, Any]:
        """Return fields with the reading options and, if known, with the estimate and the forecast for new cases."""
        options = {"read_with": self.read_with} if self.read_with else {}
        estimate = self.on_new_cases
        if estimate is None:
            return options
        facts = {name: getattr(estimate, name) for name in (*_ESTIMATE_NUMBERS, "method", "reason")}
        try:
            promise = self.promise._asdict()
        except InputError:  # a plan with reviews
            promise = None
        return jsonable({"on_new_cases": facts, "promise": promise}) | options

    def checked(self, fields: Fields) -> Self:
        """Raise an error if a derived field of a file contradicts this plan.

        Return the plan with its stored forecast.

        Parameters
        ----------
        fields : Fields
            Fields of the file.
        """
        content, optional = fields.content, dict(self.not_in_older_files)
        if "on_new_cases" not in content and "promise" not in content:  # files of earlier versions have neither
            optional[""] = ("on_new_cases", "promise")
        if "on_new_cases" in content:
            inner = fields.inner("on_new_cases", "an estimate")
            facts: dict[str, Any] = {name: inner.number_or_nan(name) for name in _ESTIMATE_NUMBERS}
            facts |= {name: inner.text(name) for name in ("method", "reason")}
            vars(self)["on_new_cases"] = ChosenEstimate(**facts)
            if content.get("promise") is not None:
                inner = fields.inner("promise", "a rate and a gain")
                vars(self)["promise"] = Promise(*map(inner.number_or_nan, Promise._fields))
        if "read_with" in content:
            vars(self)["read_with"] = fields.take("read_with", dict, "options by name")
        fields.require_same(fields.make("", self.stored) | self._not_derived(), optional)
        return self


def set_level(plan: Plan, level: float) -> None:
    """Set the confidence level of a new plan's forecast."""
    vars(plan)["level"] = check.check_level(level)


_ESTIMATE_NUMBERS = ("value", "low", "high", "level", "n", "standard_error", "apparent", "acting")


# The decision file

# Version 1 had `where` for `subject_to`; versions 1 and 2 had neither randomised rules nor reviews.
_UPGRADES = {
    1: FormatUpgrade(renamed={"where": "subject_to"}),
    2: FormatUpgrade(added={"lot": None, "lot_cost": None, "review": None}),
}
_HINT = "make the decision again with rocscope.choose and save it"
FORMAT = Format("rocscope.decision", 3, "a decision", _HINT, _UPGRADES)

# Tolerance for the difference of rates between the stored counts (floats) and the randomised rule (fractions).
_SLACK = 1e-9

_COSTS = ("expected_cost", "default_cost", "hull_cost", "treat_all_cost", "treat_none_cost")


def arguments(fields: Fields) -> dict[str, Any]:
    """Read the arguments of a `Decision` from the fields of a file, and check their types and ranges."""
    best_costs = None
    if "best_cost_interval" in fields.content:
        best_costs = tuple(fields.column("best_cost_interval", size=2, order="not falling").tolist())
    negated = fields.take("negated", bool, "true or false")
    model = fields.text("model")
    point = replace(_point(fields, "point", negated), next_score=_next_score(fields))
    population = fields.optional_number("population")
    if population is not None and population <= 0:
        fields.refuse("population", "a number above 0")
    return {
        "model": model,
        "point": point,
        "context": fields.make("context", Context, **fields.take("context", dict, "a prevalence and four costs")),
        "default_point": _point(fields, "default_point"),
        **{name: fields.number(name) for name in _COSTS},
        "criterion": fields.text("criterion"),
        "criterion_value": fields.number_or_nan("criterion_value"),
        "slope_interval": fields.optional("slope_interval", lambda name: _slopes(fields, name)),
        "negated": negated,
        "subject_to": fields.texts("subject_to"),
        "population": population,
        "tied": fields.texts("tied"),
        "notes": fields.texts("notes"),
        "best_cost_interval": best_costs,
        "lot": fields.optional("lot", lambda name: _rule_of_point(fields, name, point, model, negated)),
        "lot_cost": fields.optional_number("lot_cost"),
        "review": fields.optional("review", lambda name: _review(fields, name, model, negated)),
    }


def _next_score(fields: Fields) -> float:
    """Return the next lower score: −∞ if there is no lower score (null), NaN if the field is missing."""
    if "next_score" not in fields.content:
        return math.nan
    score = fields.optional_number("next_score")
    return -math.inf if score is None else score


def _slopes(fields: Fields, name: str) -> tuple[float, float]:
    """Return two slopes in order; null as the second one means infinity."""
    slopes = fields.content.get(name)
    if isinstance(slopes, list) and len(slopes) == 2:
        low = slopes[0]
        high = math.inf if slopes[1] is None else slopes[1]
        if is_number(low) and (high == math.inf or is_number(high)) and 0 <= low <= high:
            return low, high
    return fields.refuse(name, "two slopes of at least 0 in ascending order")


def _point(fields: Fields, name: str, negated: bool = False) -> OperatingPoint:
    """Return the counts and the threshold of a point; the sign of an infinite threshold (null) follows from them."""
    inner = fields.inner(name, "the counts of a point")
    cells = {cell: inner.number(cell, 0) for cell in CELLS}
    threshold = inner.optional_number("threshold")
    if threshold is None:
        nobody = not cells["tp"] and not cells["fp"]
        threshold = math.inf if nobody != negated else -math.inf
    point = fields.make(name, OperatingPoint, **cells, threshold=threshold, next_score=_next_score(inner))
    return point if 0 < point.prevalence < 1 else fields.refuse(name, "counts of both classes")


def _rule_of_point(fields: Fields, name: str, point: OperatingPoint, model: str, negated: bool) -> RandomizedRule:
    """Read a randomised rule, and check that it agrees with the decision's point, model and threshold."""
    rule, inner = read_rule(fields, name), fields.inner(name, "a rule")
    if (rule.second.model, rule.second.negated, rule.second.threshold) != (model, negated, point.threshold):
        decided = check.shown(f"{model} at {point.threshold}")
        inner.refuse("second", f"the model and threshold of the decision, {decided}")
    for rate, of_point in ((rule.tpr, point.tpr), (rule.fpr, point.fpr)):
        if not math.isclose(rate, of_point, abs_tol=_SLACK):
            inner.refuse("exact", "a weight that reproduces the counts of the point")
    return rule


def _review(fields: Fields, name: str, model: str, negated: bool) -> Reviewing:
    inner = fields.inner(name, "the cost of a review, and the cases to review")
    review = inner.make("review", Review, **inner.take("review", dict, "a cost and a capacity"))
    rule = _rule_of_point(inner, "rule", _point(inner, "point"), model, negated)
    return Reviewing(review, rule, None if review.capacity is None else inner.share("exact"))


# Parts that the files of several plans have


def read_rule(fields: Fields, name: str) -> RandomizedRule:
    """Read a rule of two thresholds from the fields of a file."""
    inner = fields.inner(name, "two thresholds and the weight of the second")
    exact = inner.inner("exact", "fractions")
    ends = []
    for end in ("first", "second"):
        vertex = inner.inner(end, "a threshold of a model")
        negated = vertex.take("negated", bool, "true or false")
        ends.append(HullVertex(vertex.text("model"), _point(inner, end, negated), negated=negated))
    first, second = ends
    return RandomizedRule.between(first, second, exact.share("weight"), exact.optional("at_most", exact.share))
