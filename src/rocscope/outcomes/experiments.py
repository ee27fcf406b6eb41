"""Uplift from controlled experiments: who responds because of the contact, as curves and in money.

In an experiment some rows are treated (contacted) at random and others are not. Nobody is seen both ways, so uplift is
estimated from groups: among the n_t treated and n_c controls down to a score, with responses y_t and y_c,

- the Qini curve is y_t − y_c·n_t/n_c, additional responses of the treated;
- the uplift curve is (y_t/n_t − y_c/n_c)·(n_t + n_c), additional responses if all were treated.

Areas are taken over the straight line from the origin to the end of the curve, which is contacting at random.

`from_experiment` returns an `Experiment`; its methods give curves, comparisons, a table by deciles, and Predictions
whose weights are amounts of money, for `rocscope.choose`. Where the treated share is estimated, it influences every
figure through the weights (`ShareWeights`), and intervals include that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import frexp, isnan, nan
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract
from rocscope._base.public_names import reach
from rocscope.core import Context, Predictions, Provenance, Result, model_name, number
from rocscope.errors import InputError
from rocscope.figures.influence import PLAIN
from rocscope.inference.estimate import FEW_EVENTS, Adjust, Comparisons, Estimate, Hypothesis, few
from rocscope.inference.influence_estimates import Values, compare_values, estimate_value
from rocscope.inference.proportions import mover_difference, proportion
from rocscope.inference.variance import RowLevels, stratum_of_moves
from rocscope.outcomes.verification import ShareWeights

UpliftKind = Literal["qini", "uplift"]


@dataclass(frozen=True, eq=False, repr=False)
class UpliftCurve(Result):
    """Additional responses from contacting the best-scored cases, by number contacted.

    Attributes
    ----------
    kind : {"qini", "uplift"}
    model : str
    contacted : array of k + 1
        Rows with a score of at least each distinct one; 0 first.
    gained : array of k + 1
        Responses added among them.
    area : Estimate
        Area between the curve and the straight line to its end, divided by n²: what the ranking adds per case, in the
        mean over all depths, to contacting the same number at random.
    coefficient : Estimate
        That area divided by the one of a perfect ranking: scikit-uplift's `qini_auc_score` and `uplift_auc_score`. NaN
        for responses other than 0 and 1.
    effect : Estimate
        Of contacting everybody, per case: the average treatment effect.

    Notes
    -----
    With the treated and controls n_t, n_c among those contacted and their responses y_t, y_c: the Qini curve is
    y_t − y_c·n_t/n_c, responses of the treated only; the uplift curve (y_t/n_t − y_c/n_c)·(n_t + n_c), of all. The
    whole area under a curve, per case, is `area` + `effect`/2 (of the Qini curve with what its end is per case);
    divided by the end of the uplift curve per case it is causalml's normalised `auuc_score`, but for 1/n.

    Examples
    --------
    >>> from rocscope.outcomes import from_experiment
    >>> curve = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]).qini()
    >>> curve.at(0.5), round(curve.effect.value, 4)
    (1.0, 0.3333)
    """

    kind: UpliftKind
    model: str
    contacted: Array
    gained: Array
    area: Estimate
    coefficient: Estimate
    effect: Estimate

    @property
    def depth(self) -> Array:
        """Share of the rows that are contacted."""
        return self.contacted / self.contacted[-1]

    def at(self, depth: float) -> float:
        """Return the additional responses at a share contacted, by linear interpolation."""
        return float(np.interp(depth, self.depth, self.gained))

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and the line of contacting at random; see `plotting.plot_uplift`."""
        return reach("plotting").plot_uplift(self, ax)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points as a table."""
        return check.frame_of({"contacted": self.contacted, "depth": self.depth, "gained": self.gained}, backend)

    def __repr__(self) -> str:
        return f"UpliftCurve({self.kind} of {self.model!r}, area over random {self.area.words})"


@dataclass(frozen=True, eq=False)
class Trial:
    """Responses and treatments with row weights, for cumulation along a ranking."""

    response: Array
    treated: Booleans
    weight: Array

    def area_and_moves(self, score: Array, kind: UpliftKind) -> tuple[Array, Array]:
        """Return the area under the curve and its end, per case, with the influence of each row (n × 2).

        Notes
        -----
        A = Σ_k (V_k + V_{k−1})(N_k − N_{k−1})/2. Its derivative by what one row adds to the four running sums is the
        sum of those at all later levels, with ∂A/∂V_k = (N_{k+1} − N_{k−1})/2 and ∂A/∂N_k = (V_{k−1} − V_{k+1})/2.
        """
        contacted, gained, ranked, slopes = self.cumulated(score, kind)
        n, total = contacted[-1], gained[-1]
        area = float(((gained[1:] + gained[:-1]) * np.diff(contacted)).sum()) / 2

        def moves_of(by_gained: Array, by_contacted: Array) -> Array:
            """Return the move of each row on a figure with these derivatives by V and N at each level."""
            # What a row adds to a running sum remains in it at all later levels.
            by_sum = []
            for slope, counts_rows in zip(slopes, (0, 0, 1, 1), strict=True):
                at_level = by_gained * slope + by_contacted * counts_rows
                by_sum.append(np.cumsum(at_level[::-1])[::-1])
            of_response = ranked.to_rows(by_sum[0], by_sum[1])
            of_number = ranked.to_rows(by_sum[2], by_sum[3])
            return self.weight * (self.response * of_response + of_number)

        # At the last level the formulas hold with N₊₁ = N and V₊₁ = −V: ∂A/∂N is then (V + V₋₁)/2.
        next_contacted, next_gained = np.append(contacted[2:], n), np.append(gained[2:], -total)
        of_area = moves_of((next_contacted - contacted[:-1]) / 2, (gained[:-1] - next_gained) / 2)
        is_last = np.zeros(gained.size - 1)
        is_last[-1] = 1
        of_end = moves_of(is_last, np.zeros(is_last.size))
        # Per case: A/n² and V/n, whose denominators grow with every row.
        values = np.array([area / n**2, total / n])
        moves = np.column_stack([of_area / n**2, of_end / n])
        return values, moves - (self.weight / n)[:, None] * values * [2, 1]

    def cumulated(self, score: Array, kind: UpliftKind) -> tuple[Array, Array, RowLevels, list[Array]]:
        """Return N contacted and V gained, the rows' levels, and the derivatives of V by y_t, y_c, n_t and n_c.

        N (a sum of weights) and V have one entry more than there are levels: they start at (0, 0), with nobody
        contacted. No row moves that point, so it has no derivatives.
        """
        ranked = RowLevels.of(self.treated, score)
        # Sums over the treated come first: they are the positives of `ranked`.
        y_t, y_c = (np.cumsum(count) for count in ranked.counts(self.weight * self.response))
        n_t, n_c = (np.cumsum(count) for count in ranked.counts(self.weight))
        # An arm without rows so far adds nothing: its 1/n is taken as 0.
        inverse_t = np.divide(1, n_t, out=np.zeros(n_t.size), where=n_t > 0)
        inverse_c = np.divide(1, n_c, out=np.zeros(n_c.size), where=n_c > 0)
        n = n_t + n_c
        if kind == "qini":
            gained = y_t - y_c * n_t * inverse_c
            slopes = [np.ones(n.size), -n_t * inverse_c, -y_c * inverse_c, y_c * n_t * inverse_c**2]
        else:
            uplift = y_t * inverse_t - y_c * inverse_c
            gained = uplift * n
            slopes = [n * inverse_t, -n * inverse_c, uplift - n * y_t * inverse_t**2, uplift + n * y_c * inverse_c**2]
        return np.insert(n, 0, 0.0), np.insert(gained, 0, 0.0), ranked, slopes

    def perfect(self, kind: UpliftKind) -> Array:
        """Return the score of a perfect ranking, as scikit-uplift defines it for binary responses."""
        response, treated = self.response == 1, self.treated
        if kind == "qini":
            return np.where(response, np.where(treated, 1, -1), 0)
        # Treated responders and silent controls first. Of the others, the kind with fewer rows comes last.
        control_responders = (response & ~treated).sum()
        treated_silent = (~response & treated).sum()
        second = response if control_responders > treated_silent else treated
        return 2 * (response == treated) + second


@dataclass(frozen=True)
class UpliftPart(Result):
    """Responses of control and treated rows in a part of the ranking, and their difference.

    Examples
    --------
    >>> part = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).by_decile(parts=2).parts[0]
    >>> part.n, part.control, part.treated
    (18, 0.5, 0.5)
    """

    n: int
    control: float
    treated: float
    uplift: Estimate


@dataclass(frozen=True, repr=False)
class UpliftTable(Result):
    """Parts of a ranking, from the top.

    Examples
    --------
    >>> table = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).by_decile(parts=2)
    >>> [part.uplift.value for part in table.parts]
    [0.0, 0.0]
    """

    parts: tuple[UpliftPart, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a table with one row per part."""
        columns: dict[str, Any] = {"part": list(range(1, len(self.parts) + 1))}
        for name in ("n", "control", "treated"):
            columns[name] = [getattr(part, name) for part in self.parts]
        for name in ("value", "low", "high"):
            columns[name] = [getattr(part.uplift, name) for part in self.parts]
        return check.frame_of(columns, backend)

    def __repr__(self) -> str:
        shown = ", ".join(f"{part.uplift.value:.3g}" for part in self.parts)
        return f"UpliftTable(uplift from the top: {shown})"


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Result):
    """Responses, treatments and scores of the same rows.

    Attributes
    ----------
    response : array of n
    treated : array of n
    scores : mapping from model name to array of n
    share : array of n, or None
        The known probability of treatment; None where the share of each stratum is observed.
    stratum : array of n codes
    benefit, cost : float
        What a response brings and what a contact costs, for `in_money`.
    groups, segment : array of n, or None

    Examples
    --------
    >>> from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1])
    Experiment(n=6, treated=3, models=['score'])
    """

    _content = ("n", "n_treated", "models", "benefit", "cost")

    response: Array
    treated: Booleans
    scores: Mapping[str, Array]
    share: Array | None
    stratum: Indices
    benefit: float
    cost: float
    groups: Array | None
    segment: Array | None

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.scores)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.response.size

    @property
    def n_treated(self) -> int:
        """Number of treated rows."""
        return int(self.treated.sum())

    def qini(self, model: str | None = None, *, level: float = 0.95) -> UpliftCurve:
        """Return a model's Qini curve: additional responses among the treated; see `UpliftCurve`."""
        return self._curve("qini", model, level)

    def uplift(self, model: str | None = None, *, level: float = 0.95) -> UpliftCurve:
        """Return a model's uplift curve: additional responses from treating everybody down to a score."""
        return self._curve("uplift", model, level)

    def compare(
        self, kind: UpliftKind = "qini", *, normalized: bool = False, level: float = 0.95, adjust: Adjust = "holm"
    ) -> Comparisons:
        """Compare all models' areas over random on the same rows; if normalized, their coefficients.

        Examples
        --------
        >>> experiment = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, {"a": range(36), "b": range(36, 0, -1)})
        >>> [pair.second for pair in experiment.compare()]
        ['b']
        """
        check.check_choice("kind", kind, ("qini", "uplift"))
        trial = self._trial()
        column = 1 if normalized else 0
        values, moves = [], []
        for score in self.scores.values():
            figures, moves_of_figures = self._figures(trial, kind, score)
            values.append(figures[column])
            moves.append(moves_of_figures[:, column])
        quantity = f"{kind} {'coefficient' if normalized else 'area over random'}"
        sample = self._values(tuple(self.models), np.array(values), np.column_stack(moves))
        return compare_values(sample, quantity, Hypothesis(level=level), adjust, PLAIN)

    def by_decile(self, model: str | None = None, *, parts: int = 10, level: float = 0.95) -> "UpliftTable":
        """Return the responses of both arms and the uplift with its interval, in parts of the ranking from the top.

        Rows of one score stay together. Intervals of responses of 0 and 1 are put together from Wilson's of both arms.
        """
        score = self.scores[model_name(self.models, model)]
        tie = np.unique(-score, return_inverse=True)[1]
        ranked_above = np.concatenate([[0], np.cumsum(np.bincount(tie))])
        # A tie belongs to the part that its middle rank falls into; parts without rows are skipped.
        depth = (ranked_above[:-1] + ranked_above[1:])[tie] / (2 * self.n)
        part = np.unique((depth * check.check_whole(parts, "parts")).astype(int), return_inverse=True)[1]
        level = check.check_level(level)
        return UpliftTable(tuple(self._uplift_part(part == i, level) for i in range(int(part.max()) + 1)))

    def in_money(self, *, benefit: float | None = None, cost: float | None = None) -> Predictions:
        """Return rows in money: positive if contacting gains, weighted by the amount.

        Parameters
        ----------
        benefit, cost : float, optional
            What a response brings, and what a contact costs; by default as given to `from_experiment`.

        Returns
        -------
        Predictions
            For `choose`, `hull`, curves and all else at costs of 1 : 1, the default. The column "gain" has the amounts.

        Notes
        -----
        A row gains benefit·y·(w/p − (1 − w)/(1 − p)) − cost, with the share p treated (of its stratum): in the mean
        what contacting a row like it gains. Its sum over all rows is n times the effect, in money, less the costs.
        Intervals allow for the estimation of p.

        Examples
        --------
        Half is treated, so a response of a treated row counts twice and one of a control is taken off twice:

        >>> experiment = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1], benefit=10, cost=1)
        >>> experiment.in_money().columns["gain"].tolist()
        [19.0, -1.0, -21.0, -1.0]
        """
        gain, weighting = self._gain(benefit, cost)
        # Scaled by a power of two to about 1, which is exact.
        exponent = frexp(np.abs(gain).mean())[1]
        weight = np.ldexp(np.abs(gain), -exponent)
        return Predictions(
            gain > 0,
            self.scores,
            sample_weight=weight,
            weights="money",
            weighting=weighting if self.share is None else None,
            groups=self.groups,
            segment=self.segment,
            columns={"gain": gain},
        )

    def priced(self, *, benefit: float | None = None, cost: float | None = None) -> tuple[Predictions, Context]:
        """Return rows with their own costs, and the context that names the columns.

        Returns
        -------
        Predictions, Context
            For `choose` with capacities and its `Decision.interval`. Expected costs are the profit per case with its
            sign changed.

        Notes
        -----
        Contacting a row costs −gain, see `in_money`; leaving it costs nothing. Intervals take the share treated as
        known, which makes them slightly too wide where it is observed.

        Examples
        --------
        Of four cases the best is contacted, who brings 19:

        >>> from rocscope import choose
        >>> experiment = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1], benefit=10, cost=1)
        >>> choose(*experiment.priced()).expected_cost
        -4.75
        """
        gain, _ = self._gain(benefit, cost)
        context = Context(cost_tp="loss", cost_fp="loss", cost_fn=0, cost_tn=0)
        columns = {"gain": gain, "loss": -gain}
        source = Provenance(("experiment",), self.n, doubt=self._shortage)
        labels: dict[str, Any] = {"groups": self.groups, "segment": self.segment, "columns": columns}
        return Predictions(gain > 0, self.scores, weights="money", source=source, **labels), context

    def _gain(self, benefit: float | None, cost: float | None) -> tuple[Array, ShareWeights]:
        """Return the gain of contacting each row, and its dependence on the share treated."""
        benefit = self.benefit if benefit is None else float(check.check_number(benefit, "benefit"))
        cost = self.cost if cost is None else float(check.check_number(cost, "cost"))
        amount = benefit * self.response * np.where(self.treated, 1.0, -1.0)
        weighting = self._weighting(amount, cost)
        if self.share is None:
            gain = weighting.signed(None)
        else:
            gain = amount / np.where(self.treated, self.share, 1 - self.share) - cost
        if not (gain != 0).any():
            raise InputError("benefit and cost", expected="some gain or loss", got=f"{benefit:g} and {cost:g}")
        return gain, weighting

    def _weighting(self, amount: Array, cost: float) -> ShareWeights:
        note = "weighted by the share treated"
        return ShareWeights(self.n, note, member=self.treated, stratum=self.stratum, amount=amount, cost=cost)

    @property
    def _is_weighted(self) -> bool:
        """Whether shares differ between rows, so that they do not cancel in ratios."""
        return bool(self.stratum.any()) if self.share is None else bool(np.ptp(self.share))

    def _trial(self) -> Trial:
        """Return the rows, each arm weighted to the mean share treated where shares differ between rows."""
        weight = np.ones(self.n)
        if self._is_weighted:
            share = self.share
            if share is None:
                share = self._weighting(weight, 0.0).share(None)[0][self.stratum]
            mean = share.mean()
            weight = np.where(self.treated, mean / share, (1 - mean) / (1 - share))
        return Trial(self.response, self.treated, weight)

    def _figures(self, trial: Trial, kind: UpliftKind, score: Array) -> tuple[Array, Array]:
        """Return area over random, coefficient and effect of a model, with the moves of each row (n × 3)."""
        (area, end), moves = trial.area_and_moves(score, kind)
        # The line of contacting at random encloses half of the end.
        over_random, moves_over_random = area - end / 2, moves[:, 0] - moves[:, 1] / 2
        coefficient, moves_of_coefficient = nan, np.full(self.n, nan)
        if np.isin(self.response, (0, 1)).all():
            (best, _), moves_of_best = trial.area_and_moves(trial.perfect(kind), kind)
            most = best - end / 2
            moves_of_most = moves_of_best[:, 0] - moves_of_best[:, 1] / 2
            coefficient = over_random / most
            moves_of_coefficient = (moves_over_random - coefficient * moves_of_most) / most
        values = np.array([over_random, coefficient, end])
        return values, np.column_stack([moves_over_random, moves_of_coefficient, moves[:, 1]])

    def _values(self, names: tuple[str, ...], values: Array, moves: Array) -> Values:
        note = ""
        if self.share is None and self._is_weighted:
            weighting = self._weighting(np.ones(self.n), 0.0)
            note, moves = weighting.note, weighting.moves(moves)
        group = None if self.groups is None else check.check_groups(self.groups, "groups", self.n)
        stratum = stratum_of_moves(moves, group, None, self.n)
        if group is not None:
            note = f"{stratum.units:g} groups"
        grouped = group is not None
        return Values(names, values, stratum, self.n, note, shortage=self._shortage, grouped=grouped)

    @property
    def _shortage(self) -> str:
        """Whether an arm has too few responses; amounts count as the equal ones that would vary as much."""
        responses = []
        for arm in (False, True):
            response = self.response[self.treated == arm]
            # Kish's effective number, (Σy)²/Σy²; of responses of 0 and 1 it is their number.
            responses.append(float(response.sum()) ** 2 / float(response @ response or 1))
        return few(min(responses), FEW_EVENTS, "responses in an arm")

    def _curve(self, kind: UpliftKind, model: str | None, level: float) -> UpliftCurve:
        name = model_name(self.models, model)
        trial, score = self._trial(), self.scores[name]
        values, moves = self._figures(trial, kind, score)
        contacted, gained, *_ = trial.cumulated(score, kind)
        sample = self._values(("area", "coefficient", "effect"), values, moves)
        area, coefficient, effect = (estimate_value(sample, i, check.check_level(level), PLAIN) for i in range(3))
        if isnan(values[1]):
            coefficient = replace(coefficient, reason="responses other than 0 and 1 have no perfect ranking")
        return UpliftCurve(kind, name, contacted, gained, area, coefficient, effect)

    def _uplift_part(self, rows: Booleans, level: float) -> UpliftPart:
        n = int(rows.sum())
        control = self.response[rows & ~self.treated]
        treated = self.response[rows & self.treated]
        mean_control = float(control.mean()) if control.size else nan
        mean_treated = float(treated.mean()) if treated.size else nan
        if not (control.size and treated.size):
            uplift = Estimate(nan, nan, nan, level, "no interval", n, reason="an arm is missing")
        elif np.isin(self.response[rows], (0, 1)).all():
            share_of_control = proportion(float(control.sum()), control.size, level=level)
            share_of_treated = proportion(float(treated.sum()), treated.size, level=level)
            uplift = mover_difference(share_of_control, share_of_treated, "Newcombe", n)
        else:
            error = (control.var(ddof=1) / control.size + treated.var(ddof=1) / treated.size) ** 0.5
            difference = float(treated.mean() - control.mean())
            uplift = Hypothesis(level=level).wald(difference, float(error), n, "Wald")
        return UpliftPart(n, mean_control, mean_treated, uplift)

    def __repr__(self) -> str:
        return f"Experiment(n={number(self.n)}, treated={number(self.n_treated)}, models={self.models})"


@contract
def from_experiment(
    response: Any,
    treated: Any,
    scores: Any,
    *,
    share: Any = None,
    strata: Any = None,
    control: Any = None,
    benefit: float = 1.0,
    cost: float = 0.0,
    groups: Any = None,
    segment: Any = None,
) -> Any:
    """Return an experiment with random treatment, for uplift curves and decisions.

    Parameters
    ----------
    response : array of n
        0 and 1, or an amount.
    treated : array of n of 0 and 1
        Or, with `control`, the name of each row's arm.
    scores : array of n, or mapping from model name to array
        By which contacts would be ranked; higher is contacted first.
    share : float or array of n, optional
        The known probability of treatment. By default the share observed in each stratum, which varies less.
    strata : array of n labels, optional
        Parts in which treatment was drawn separately, perhaps with other shares.
    control : label, optional
        The arm that was left alone, where there are several others; each is then compared with it.
    benefit, cost : float
        What a response brings, and what a contact costs, for `Experiment.in_money`.
    groups, segment : array of n labels, optional
        Rows that belong together, and parts of the data that decisions treat separately.

    Returns
    -------
    Experiment, or with `control` a dict from arm to Experiment

    Raises
    ------
    InputError
        If a stratum lacks an arm, or a share is not between 0 and 1.

    Notes
    -----
    Contact must have been given at random within strata. Where shares differ between rows, each arm is weighted to the
    mean share. Intervals follow from how each row moves a figure, also through the observed shares.

    References
    ----------
    Radcliffe 2007, Direct Marketing Analytics J. 14–21 (Qini); Gutierrez & Gérardy 2017, PMLR 67:1–13 (AUUC).

    Examples
    --------
    >>> experiment = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1])
    >>> experiment.qini().gained.tolist()
    [0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    """
    amounts = check.check_numbers(response, "response")
    n = amounts.size
    arm = check.check_column(treated, "treated", n)
    if control is not None:
        if share is not None:
            hint = "shares are then observed, in each stratum"
            raise InputError("share", expected="none with several arms", hint=hint)
        labels = {"strata": strata, "groups": groups, "segment": segment}
        return _by_arm(amounts, arm, scores, control, labels, benefit=benefit, cost=cost)
    if not np.isin(arm, (0, 1)).all() or np.unique(arm).size < 2:
        hint = "name the arm that was left alone: control="
        raise InputError("treated", expected="0 and 1, both of them", got=check.shown(treated), hint=hint)
    code = np.zeros(n, np.intp) if strata is None else check.check_groups(strata, "strata", n)
    if share is None:
        n_treated = np.bincount(code, arm == 1)
        lacking = (n_treated == 0) | (n_treated == np.bincount(code))
        if lacking.any():
            got = f"{lacking.sum()} without one of them"
            raise InputError("strata", expected="treated and controls in each", got=got)
    else:
        if np.ndim(share) == 0:
            share = np.full(n, check.check_share(share, "share"))
        else:
            share = check.check_numbers(share, "share", n)
        if not ((share > 0) & (share < 1)).all():
            raise InputError("share", expected="probabilities between 0 and 1", got=check.shown(share))
    rows = Predictions(arm == 1, scores, groups=groups, segment=segment)  # checks them
    benefit = check.check_number(benefit, "benefit")
    cost = check.check_number(cost, "cost")
    return Experiment(amounts, arm == 1, rows.scores, share, code, benefit, cost, rows.groups, rows.segment)


def _by_arm(
    response: Array, arm: Array, scores: Any, control: Any, labels: Mapping[str, Any], **money: float
) -> dict[Any, Experiment]:
    """Return an experiment of each treatment arm against the control."""
    names = np.unique(arm).tolist()
    if check.check_label(control, "control") not in names:
        raise InputError("control", expected=f"one of the arms {check.listing(names)}", got=repr(control))
    rows = Predictions(arm == control, scores)
    columns = {}
    for name, column in labels.items():
        if column is not None:
            columns[name] = check.check_column(column, name, arm.size)
    experiments = {}
    for name in names:
        if name == control:
            continue
        kept = np.isin(arm, (name, control))
        of_kept = {key: column[kept] for key, column in columns.items()}
        scores = rows.select(kept).scores
        experiments[name] = from_experiment(response[kept], arm[kept] == name, scores, **of_kept, **money)
    return experiments
