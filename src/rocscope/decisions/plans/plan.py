"""Plan: the common base of decisions, campaign plans and allocations, which are saved and applied alike."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope._base.atomic_write import write_file
from rocscope._base.json_format import Format
from rocscope._base.registry import reach
from rocscope.core.result import Result
from rocscope.decisions.models import size_of
from rocscope.decisions.plans.outcomes import PlanOutcomes, Promise
from rocscope.errors import InputError


class Plan(Result):
    """The cases to act on, the reason, and the expected result.

    `rocscope.choose`, `rocscope.plan_campaign` and `rocscope.allocate` make plans; `rocscope.load_plan` reads them.

    Examples
    --------
    >>> from rocscope import Context, ThresholdCounts, choose
    >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
    >>> isinstance(decision, Plan), decision.select([0.5, 0.95, 0.9], ["x", "y", "z"]).tolist()
    (True, ['y', 'z'])
    """

    file_format: ClassVar[Format]

    @property
    def needs(self) -> tuple[str, ...]:
        """The models whose scores are needed; none if everybody or nobody is acted on."""
        raise NotImplementedError

    @property
    def models(self) -> tuple[str, ...]:
        """The models it refers to."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns with amounts used as costs or benefits."""
        return ()

    @property
    def by_segment(self) -> bool:
        """Whether it needs the segment of each case."""
        return False

    @property
    def several_actions(self) -> bool:
        """Whether `assign` gives each case one of several actions."""
        return False

    def assign(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Array:  # noqa: ARG002
        """Return the action of each case; only a plan of several actions has one."""
        raise InputError("plan", expected="one of several actions", got=type(self).__name__, hint="use select")

    def rows(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> NDArray[np.intp]:
        """Return the indices of the rows to act on, best first; see `select`."""
        raise NotImplementedError

    def reviewed(self, scores: Any, ids: Any = None, *, random_state: Any = 0) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the indices of the rows to review, best first; empty without a review action."""
        return np.zeros(0, np.intp)

    @property
    def promise(self) -> Promise:
        """What it expects of the cases that are acted on."""
        raise NotImplementedError

    def gains(self, positive: Array, amounts: Mapping[str, Array], segment: Any = None) -> Array:
        """Return what acting on each row brings, above leaving it, whether it is positive being known."""
        raise NotImplementedError

    def strata(self, scores: Any, segment: Any = None) -> NDArray[np.intp]:  # noqa: ARG002
        """Return a number for each case, the same for those that hashes choose among; −1 where scores decide."""
        return np.full(size_of(scores), -1)

    def said(self, chosen: int, cases: int) -> str:
        """Return one sentence on how many cases are acted on, and why."""
        return f"Act on {chosen:,} of {cases:,} cases"

    def select(self, scores: Any, ids: Any = None, *, segment: Any = None, random_state: Any = 0) -> Array:
        """Return the identifiers of the cases to act on, best first.

        Parameters
        ----------
        scores : array of n scores, or mapping from model name to array, Predictions, data frame
        ids : array of n identifiers, optional
            Returned as they are. Ties are broken by their hashes, so that the order of the rows does not matter. By
            default the numbers of the rows.
        segment : array of n segments, optional
            For an allocation; those of the Predictions by default.
        random_state : int, Generator, RandomState or None
            Another one breaks ties differently.

        Returns
        -------
        array
            Exactly as many as are planned, where the plan is made for a number.

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
        """Apply the plan to new cases, whose labels are not needed.

        Parameters
        ----------
        source : array of scores, mapping, Predictions, data frame, path, or whatever else `rocscope.read` takes
        ids : str or array, optional
            Column of the identifiers, or the identifiers themselves; by default rows are numbered from 0.
        scores : str, sequence of str, or mapping from model name to column, optional
            Where the columns of scores are called otherwise than the models.
        segment : str or array, optional
            Column of the segments, for an allocation.
        keep : sequence of str
            Further columns of the list.
        where : str, optional
            Condition in SQL: apply the plan to these rows only.
        random_state : see `select`
        every_row : bool
            List all cases in their order, with the decision about each, in place of those to act on.
        label : str, optional
            Column of the true labels, for the outcome of each case (true or false, positive or negative).
        pos_label : scalar, optional
            The positive label, where labels are not 0/1, -1/1 or true/false.
        **layout
            How a file is written: `format`, `decimal`, `delimiter`, `encoding`, `table`; see `rocscope.read`.

        Returns
        -------
        AppliedPlan
            The list, best first, as a frame (`to_frame`) or a CSV file (`save`), and one sentence on what was done.

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
        options = {"scores": scores, "segment": segment, "keep": keep, "where": where, "random_state": random_state}
        options |= {"every_row": every_row, "label": label, "pos_label": pos_label}
        return reach("applying").apply_plan(self, source, ids, **options, **layout)

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
    ) -> PlanOutcomes:
        """Hold what acting by the plan has brought against what it promised.

        Parameters
        ----------
        source : data frame, path, or whatever else `rocscope.read` takes
            The list that the plan was applied to, with outcomes. Hashes of the identifiers tell who was acted on.
        ids, scores, segment, where, random_state, **layout : see `apply`
        label : str
            Column of the outcomes; missing where they are not known, as those of people who were not contacted may be.
        acted : str, optional
            Column that says who was acted on, where that was not as planned; ``"all"`` for a list of those alone. Of
            several actions, the column of the action that each case got.
        pos_label : label, optional
            The positive one; needed unless labels are 0/1, −1/1 or true/false.
        level : float

        Returns
        -------
        PlanOutcomes
            The gain achieved and promised, and the effect of acting where hashes chose among equal cases.

        Examples
        --------
        >>> from rocscope import Campaign, ThresholdCounts, plan_campaign
        >>> plan = plan_campaign(ThresholdCounts([3, 2], [2, 1], [1, 4]), Campaign(8, unit_cost=1, unit_benefit=3))
        >>> answers = {"client": list("abcd"), "score": [3, 3, 2, 2], "bought": [0, 1, None, None]}
        >>> found = plan.outcomes(answers, "client", label="bought")
        >>> found.acted, found.gain.value, found.promised_gain, found.rate.value
        (1, 2.0, 1.0, 1.0)
        """
        named = {"label": label, "acted": acted, "scores": scores, "segment": segment, "where": where}
        asked = named | {"pos_label": pos_label, "level": level, "random_state": random_state}
        return reach("applying").outcomes(self, source, ids, **asked, **layout)

    def verify(self, data: Any, **columns: Any) -> Any:
        """Check every claim of the plan against data, independently of the code that made it.

        Parameters
        ----------
        data : Predictions, counts, or a file, frame, relation or table
            The rows that the plan was made of, or counts of them.
        **columns
            Of a file, frame, relation or table: `label`, and what else `rocscope.read` takes. `scores` are the models
            of the plan by default; of a plan for segments `segment` is needed.

        Returns
        -------
        Verification
            Its `trace` holds the steps of the proof.
        """
        raise NotImplementedError

    def _labelled(self, data: Any, columns: dict[str, Any]) -> Any:
        """Return data for `verify`, read from a source where columns are named."""
        return reach("applying").labelled(self, data, **columns) if columns else data

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Write the plan as JSON; an existing file is replaced, unless `force` is False."""
        return write_file(path, self.to_json(), force=force)

    def to_json(self) -> str:
        """Return the text of the file that `save` writes."""
        return self.file_format.text(self.stored())

    def stored(self) -> dict[str, Any]:
        """Return the content of the file."""
        return self.to_dict()
