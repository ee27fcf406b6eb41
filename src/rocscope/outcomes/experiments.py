"""Uplift from randomised experiments: additional responses caused by a treatment, as curves and in money.

In an experiment, randomly selected rows are treated (contacted), and the other rows are controls. No row is observed
both with and without treatment, so the uplift is estimated from groups of rows. Among the rows with at least a given
score, let n_t be the number of treated rows and y_t their number of responses. Let n_c and y_c be the same numbers of
the controls:

- The Qini curve is y_t − y_c·n_t/n_c: the additional responses of the treated rows.
- The uplift curve is (y_t/n_t − y_c/n_c)·(n_t + n_c): the additional responses if all these rows were treated.

The straight line from the origin to the end of a curve corresponds to random contacts. Areas are measured between the
curve and this line.

`from_experiment` returns an `Experiment`. Its methods return curves, comparisons of models, a table by decile, the plan
of a campaign, and Predictions weighted by amounts of money for `rocscope.choose`. If the share of treated rows is
estimated, its error influences every metric through the weights (`ShareWeights`). Intervals account for this error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import frexp, isnan, nan
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Booleans, Indices
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.public_names import reach
from rocscope.core import Band, Campaign, Context, Predictions, Provenance, Result, Weights, decimal, model_name, number
from rocscope.core.predictions import is_table, take
from rocscope.decisions.choosing import problem_of
from rocscope.decisions.constraints import Constraint
from rocscope.decisions.decision import Decision, Question
from rocscope.errors import InputError, OneClassError
from rocscope.figures.influence import PLAIN
from rocscope.inference import estimate as inference
from rocscope.inference.influence_estimates import Values, compare_values, estimate_value
from rocscope.inference.proportions import mover_difference, wilson_interval
from rocscope.inference.variance import RowLevels, leave_one_out_factor, stratum_of_moves
from rocscope.outcomes.verification import ShareWeights

UpliftKind = Literal["qini", "uplift"]

_BAND_DEPTHS = [step / 50 for step in range(1, 51)]
"""Depths at which a band is computed; between these depths, the band is linear."""


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class UpliftCurve(Result):
    """Qini curve or uplift curve: additional responses against the number of contacted rows.

    Rows are contacted in order of decreasing scores.

    Attributes
    ----------
    kind : {"qini", "uplift"}
        Kind of the curve.
    model : str
        Name of the model.
    contacted : array of k + 1
        Number of rows (or sum of weights) with scores of at least each of k distinct scores; the first entry is 0.
    gained : array of k + 1
        Additional responses of the contacted rows.
    area : Estimate
        Area between the curve and the straight line to its end, divided by n². It is the mean, over all depths, of the
        additional responses per case compared with contacting the same number of rows at random.
    coefficient : Estimate
        The area divided by the area of a perfect ranking, as `qini_auc_score` and `uplift_auc_score` in scikit-uplift.
        It is NaN for responses other than 0 and 1.
    effect : Estimate
        Additional responses per case if all rows are contacted: the average treatment effect.

    Notes
    -----
    Among the contacted rows, n_t rows are treated and have y_t responses, and n_c rows are controls and have y_c
    responses. The Qini curve is y_t − y_c·n_t/n_c: the additional responses of the treated rows. The uplift curve is
    (y_t/n_t − y_c/n_c)·(n_t + n_c): the additional responses if all contacted rows were treated. The total area under
    the uplift curve, divided by n², is `area` + `effect`/2. For the Qini curve, replace `effect` by the last value of
    the curve divided by n. For the uplift curve, the total area divided by `effect` is causalml's normalised
    `auuc_score`, up to a term of 1/n.

    Examples
    --------
    >>> from rocscope.outcomes import from_experiment
    >>> curve = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]).qini()
    >>> curve.at(0.5), round(curve.effect.value, 4)
    (1.0, 0.3333)
    """

    _content = ("kind", "model", "contacted", "gained", "area", "coefficient", "effect")

    kind: UpliftKind
    model: str
    contacted: Array
    gained: Array
    area: inference.Estimate
    coefficient: inference.Estimate
    effect: inference.Estimate
    _experiment: "Experiment | None" = field(default=None, compare=False)

    @property
    def depth(self) -> Array:
        """Share of the rows that is contacted at each point of the curve."""
        return self.contacted / self.contacted[-1]

    @property
    def perfect(self) -> "UpliftCurve":
        """Curve of a perfect ranking, by scikit-uplift's definition; its coefficient is 1.

        It ranks treated responders first and responders among the controls last. It is defined only for responses of 0
        and 1.
        """
        experiment = self._experiment
        if experiment is None or not experiment._is_binary:
            expected = "a curve returned by Experiment.uplift() or Experiment.qini(), for responses of 0 and 1"
            raise InputError("perfect", expected=expected)
        ranked = replace(experiment, scores={"perfect": experiment._trial.perfect(self.kind)})
        return ranked._curve(self.kind, None, self.area.level)

    def at(self, depth: float) -> float:
        """Return the additional responses if the share `depth` of the rows is contacted, by linear interpolation.

        Examples
        --------
        Half of the six rows are the first three. One of their two treated rows responds, and the control does not:

        >>> from rocscope.outcomes import from_experiment
        >>> curve = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]).qini()
        >>> curve.at(0.5)
        1.0
        """
        return float(np.interp(depth, self.depth, self.gained))

    def band(self, level: float = 0.95) -> Band:
        """Return pointwise confidence intervals of the curve at 50 depths.

        Parameters
        ----------
        level : float
            Confidence level.

        Raises
        ------
        InputError
            If the curve was not returned by `Experiment.uplift` or `Experiment.qini`.

        Notes
        -----
        At each depth, the interval of `Experiment.uplift_at` is multiplied by the number of contacted rows. For a Qini
        curve, it is multiplied by the number of treated rows.

        Examples
        --------
        >>> curve = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).uplift()
        >>> curve.band()
        Band(50 points, 95% pointwise, Newcombe)
        """
        if self._experiment is None:
            raise InputError("band", expected="a curve returned by Experiment.uplift() or Experiment.qini()")
        return self._experiment.band_of(self.kind, self.model, check.check_level(level))

    def plot(self, ax: Any = None, *, level: float | None = 0.95, label: str | None = None) -> Any:
        """Plot the curve, its band and the line of random contacts; see `plotting.plot_uplift`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        level : float or None
            Confidence level of the band. None draws no band.
        label : str, optional
            Legend label.
        """
        return reach("plotting").plot_uplift(self, ax, level=level, label=label)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the points of the curve as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Raises
        ------
        MissingDependencyError
            If this library is not installed.

        Examples
        --------
        >>> from rocscope.outcomes import from_experiment
        >>> from_experiment([1, 0, 0, 0], [1, 0, 1, 0], [4, 3, 2, 1]).qini().to_frame()
           contacted  depth  gained
        0        0.0   0.00     0.0
        1        1.0   0.25     1.0
        2        2.0   0.50     1.0
        3        3.0   0.75     1.0
        4        4.0   1.00     1.0
        """
        return check.frame_of({"contacted": self.contacted, "depth": self.depth, "gained": self.gained}, backend)

    def __repr__(self) -> str:
        return f"UpliftCurve({self.kind} of {self.model!r}, area over random {self.area.words})"


@dataclass(frozen=True, eq=False)
class Trial:
    """Responses, treatments and row weights, with methods to compute uplift curves."""

    response: Array
    treated: Booleans
    weight: Array

    def area_and_moves(self, score: Array, kind: UpliftKind) -> tuple[Array, Array]:
        """Return the area under the curve and its last value, per case, with the influence of each row (n × 2).

        Notes
        -----
        The points (N_k, V_k) of the curve are those of `cumulated`. The area is A = Σ_k (V_k + V_{k−1})(N_k −
        N_{k−1})/2. A row contributes to the four cumulative sums y_t, y_c, n_t and n_c at its own score and at all
        lower scores. Therefore, the derivative of A is a sum over these scores, with ∂A/∂V_k = (N_{k+1} − N_{k−1})/2
        and ∂A/∂N_k = (V_{k−1} − V_{k+1})/2.
        """
        contacted, gained, ranked, slopes = self.cumulated(score, kind)
        n, total = contacted[-1], gained[-1]
        area = float(((gained[1:] + gained[:-1]) * np.diff(contacted)).sum()) / 2

        def moves_of(by_gained: Array, by_contacted: Array) -> Array:
            """Return the influence of each row on a metric, given the derivatives of the metric by V and N."""
            # A row's contribution to a running sum remains in the sum at all later levels.
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
        # Per case: A/n² and V/n; the denominators also depend on every row.
        values = np.array([area / n**2, total / n])
        moves = np.column_stack([of_area / n**2, of_end / n])
        return values, moves - (self.weight / n)[:, None] * values * [2, 1]

    def cumulated(self, score: Array, kind: UpliftKind) -> tuple[Array, Array, RowLevels, list[Array]]:
        """Return the points (N, V) of the curve, the ranking of the rows, and the derivatives of V at each point.

        N is the number of contacted rows (sum of weights), and V the number of additional responses. The four
        derivatives of V are with respect to y_t, y_c, n_t and n_c; see `UpliftCurve`. The first point of the curve is
        (0, 0), with no row contacted. It does not depend on any row, so it has no derivatives.
        """
        ranked = RowLevels.of(self.treated, score)
        # Sums over treated rows come first: treated rows are the positives of `ranked`.
        y_t, y_c = (np.cumsum(count) for count in ranked.counts(self.weight * self.response))
        n_t, n_c = (np.cumsum(count) for count in ranked.counts(self.weight))
        # An arm without rows so far contributes 0: set its 1/n to 0.
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
        """Return scores that rank the rows perfectly, by scikit-uplift's definition for binary responses."""
        response, treated = self.response == 1, self.treated
        if kind == "qini":
            return np.where(response, np.where(treated, 1, -1), 0)
        # Treated responders and controls without response come first. Of the two other kinds, the rarer one comes last.
        control_responders = self.weight[response & ~treated].sum()
        treated_silent = self.weight[~response & treated].sum()
        second = response if control_responders > treated_silent else treated
        return 2 * (response == treated) + second


@dataclass(frozen=True)
class UpliftPart(Result):
    """Mean responses of controls and treated rows in a part of the ranking, and their difference (the uplift).

    Attributes
    ----------
    n : int
        Number of rows in the part.
    control : float
        Mean response of the controls.
    treated : float
        Mean response of the treated rows.
    uplift : Estimate
        Difference in mean response, with its interval; see `Experiment.uplift_at`.

    Examples
    --------
    >>> part = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).by_decile(parts=2).parts[0]
    >>> part.n, part.control, part.treated
    (18, 0.5, 0.5)
    """

    n: int
    control: float
    treated: float
    uplift: inference.Estimate


@made_by_contract
@dataclass(frozen=True, repr=False)
class UpliftTable(Result):
    """Uplift in successive parts of a ranking, such as deciles, starting with the highest scores.

    Attributes
    ----------
    parts : tuple of UpliftPart
        Uplift of each part, highest scores first.

    Examples
    --------
    >>> table = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, range(36)).by_decile(parts=2)
    >>> [part.uplift.value for part in table.parts]
    [0.0, 0.0]
    """

    parts: tuple[UpliftPart, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per part of the ranking.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        In the first half, 5 of 10 treated rows and 0 of 10 controls respond:

        >>> from rocscope.outcomes import from_experiment
        >>> response, treated = ([1, 0, 0, 0] * 5 + [0] * 20), [1, 1, 0, 0] * 10
        >>> from_experiment(response, treated, range(40, 0, -1)).by_decile(parts=2).to_frame().round(2)
           part   n  control  treated  value   low  high
        0     1  20      0.0      0.5    0.5  0.12  0.76
        1     2  20      0.0      0.0    0.0 -0.28  0.28
        """
        columns: dict[str, Any] = {"part": list(range(1, len(self.parts) + 1))}
        for name in ("n", "control", "treated"):
            columns[name] = [getattr(part, name) for part in self.parts]
        for name in ("value", "low", "high"):
            columns[name] = [getattr(part.uplift, name) for part in self.parts]
        return check.frame_of(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Plot the uplift in each part with its interval; see `plotting.plot_uplift_parts`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        """
        return reach("plotting").plot_uplift_parts(self, ax)

    def __repr__(self) -> str:
        shown = ", ".join(f"{part.uplift.value:.3g}" for part in self.parts)
        return f"UpliftTable(uplift from the top: {shown})"


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Result):
    """Randomised experiment: responses, treatments and scores of n rows.

    Returned by `rocscope.outcomes.from_experiment`.

    Attributes
    ----------
    n : int
        Number of rows with a weight above 0. A row with the frequency weight w is stored as w rows.
    response : array of n
        Response of each row.
    treated : array of n
        True for treated rows, False for controls.
    scores : mapping from model name to array of n
        Scores of each model.
    share : array of n, or None
        Known probability of treatment of each row; None if it is estimated by the share of treated rows in each
        stratum.
    stratum : array of n integers
        Index of the stratum of each row.
    benefit : float
        Benefit of a response.
    cost : float
        Cost of a contact.
    groups, segment, sample_weight : array of n, or None
        Group, segment and weight of each row.

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
    sample_weight: Array | None = None

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.scores)

    @property
    def n(self) -> int:
        """Number of rows with a weight above 0."""
        return self.response.size

    @property
    def n_treated(self) -> int:
        """Number of treated rows."""
        return int(self.treated.sum())

    def qini(self, model: str | None = None, *, level: float = 0.95) -> UpliftCurve:
        """Compute the Qini curve of a model: additional responses of the treated rows; see `UpliftCurve`.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model of the experiment.
        level : float
            Confidence level.

        Examples
        --------
        Two of three treated rows and none of three controls respond, so the last point of the curve is 2:

        >>> experiment = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1])
        >>> experiment.qini().gained.tolist()
        [0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]
        """
        return self._curve("qini", model, level)

    def uplift(self, model: str | None = None, *, level: float = 0.95) -> UpliftCurve:
        """Compute the uplift curve of a model: additional responses if all contacted rows were treated.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model of the experiment.
        level : float
            Confidence level.

        Examples
        --------
        If all six rows were treated, four of them would respond:

        >>> experiment = from_experiment([1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1])
        >>> experiment.uplift().gained.tolist()
        [0.0, 1.0, 2.0, 1.5, 2.0, 3.333333333333333, 4.0]
        """
        return self._curve("uplift", model, level)

    def compare(
        self,
        kind: UpliftKind = "qini",
        *,
        normalized: bool = False,
        level: float = 0.95,
        adjust: inference.Adjust = "holm",
    ) -> inference.Comparisons:
        """Compare the areas of all models (above the line of random contacts), with paired tests.

        Parameters
        ----------
        kind : {"qini", "uplift"}
            Curve whose areas are compared.
        normalized : bool
            If True, compare the coefficients (areas divided by the area of a perfect ranking).
        level, adjust : see `rocscope.compare`

        Raises
        ------
        InputError
            If `kind` is unknown.

        Examples
        --------
        >>> experiment = from_experiment([1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9, {"a": range(36), "b": range(36, 0, -1)})
        >>> [pair.second for pair in experiment.compare()]
        ['b']
        """
        check.check_choice("kind", kind, ("qini", "uplift"))
        column = 1 if normalized else 0
        values, moves = [], []
        for score in self.scores.values():
            figures, moves_of_figures = self._figures(kind, score)
            values.append(figures[column])
            moves.append(moves_of_figures[:, column])
        quantity = f"{kind} {'coefficient' if normalized else 'area over random'}"
        sample = self._values(tuple(self.models), np.array(values), np.column_stack(moves))
        return compare_values(sample, quantity, inference.Hypothesis(level=level), adjust, PLAIN)

    def by_decile(self, model: str | None = None, *, parts: int = 10, level: float = 0.95) -> "UpliftTable":
        """Estimate the uplift in each decile of the ranking, starting with the highest scores.

        Rows with equal scores are in the same part. See `uplift_at` for the estimate and its interval.

        Parameters
        ----------
        model, level : see `qini`
        parts : int
            Number of parts; 10 for deciles.

        Examples
        --------
        One in four rows of stratum "a" is treated, and one in two rows of stratum "b". The treatment has no effect.
        Without weights, the mean responses of the two arms would differ by 1/2 − 1/3:

        >>> response, treated = [0, 0, 0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 1, 1, 0, 0]
        >>> from_experiment(response, treated, [1] * 8, strata=list("aaaabbbb")).by_decile().parts[0].uplift.value
        0.0
        """
        above, level_weight, tie = self._ranking(model)
        # A tie belongs to the part that contains its middle; parts without rows are skipped.
        depth = (above + level_weight / 2)[tie] / level_weight.sum()
        part = np.unique((depth * check.check_whole(parts, "parts")).astype(int), return_inverse=True)[1]
        level = check.check_level(level)
        return UpliftTable(tuple(self._uplift_part(part == i, level) for i in range(int(part.max()) + 1)))

    def uplift_at(self, k: float, model: str | None = None, *, level: float = 0.95) -> inference.Estimate:
        """Estimate the uplift per contacted row if the top share k of the rows is contacted.

        Parameters
        ----------
        k : float
            Share of the rows (or of their weight), above 0 and up to 1. If rows with equal scores are only partly in
            this share, they are included with the corresponding fraction.
        model, level : see `qini`

        Returns
        -------
        Estimate
            Additional responses per contacted row, with a confidence interval.

        Raises
        ------
        InputError
            If k is 0 or negative, or above 1.

        Notes
        -----
        The uplift is the mean response of the treated rows minus the mean response of the controls. With sampling
        weights, or if treatment probabilities differ between rows, the means are weighted. The weight of a row is then
        its sampling weight divided by the probability of its arm (Hájek's estimate). For responses of 0 and 1 with
        equal weights, the interval is Newcombe's interval, which combines the Wilson intervals of both arms. Any other
        interval is computed from the influence of each row or group on the uplift. It includes the influence on
        estimated treatment probabilities. The interval is marked as unreliable if an arm has too few rows, groups or
        responses.

        References
        ----------
        Newcombe 1998, Stat. Med. 17:873–890.

        Examples
        --------
        In the top half, both treated rows and one of the two controls responded:

        >>> trial = from_experiment([1, 1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1])
        >>> trial.uplift_at(0.5).value
        0.5
        """
        share = check.check_number(k, "k", "a share above 0 and up to 1", above=0)
        if share > 1:
            hint = f"write {share:g}% as {share / 100:g}"
            raise InputError("k", expected="a share above 0 and up to 1", got=f"{share:g}", hint=hint)
        return self._uplift_part(self._inside(share, model), check.check_level(level)).uplift

    def band_of(self, kind: UpliftKind, model: str, level: float) -> Band:
        """Compute the band of a curve; see `UpliftCurve.band`.

        Parameters
        ----------
        kind : {"qini", "uplift"}
            Curve of the band.
        model : str
            Name of the model.
        level : float
            Confidence level.
        """
        weight = self._trial.weight
        counted = weight if kind == "uplift" else weight * self.treated
        insides = [self._inside(share, model) for share in _BAND_DEPTHS]
        uplifts = [self._uplift_part(inside, level).uplift for inside in insides]
        contacts = np.array([counted @ inside for inside in insides])
        depth = np.array([weight @ inside for inside in insides]) / weight.sum()
        low, high = np.array([(uplift.low, uplift.high) for uplift in uplifts]).T
        return Band(depth, contacts * low, contacts * high, level, uplifts[-1].method)

    def in_money(self, *, benefit: float | None = None, cost: float | None = None) -> Predictions:
        """Return the rows weighted by money, as input for decisions.

        A row is positive if contacting it gains money, and negative if contacting it loses money. Its weight is the
        amount.

        Parameters
        ----------
        benefit : float, optional
            Benefit of a response; by default the benefit given to `from_experiment`.
        cost : float, optional
            Cost of a contact; by default the cost given to `from_experiment`.

        Returns
        -------
        Predictions
            Input for `choose`, `hull`, curves and other functions, with equal costs of both errors (the default). The
            column "gain" contains the signed amounts.

        Raises
        ------
        InputError
            If the benefit or the cost is missing or invalid.

        Notes
        -----
        The gain of a row with response y is benefit·y·(w/p − (1 − w)/(1 − p)) − cost. Here w is 1 for a treated row and
        0 for a control, and p is the treatment probability in its stratum. The expected value is the gain from
        contacting such a row. The sum over all n rows is benefit·n·(average treatment effect) − n·cost. Intervals
        account for the estimation of p.

        Examples
        --------
        Half of the rows are treated. Therefore, a response of a treated row counts twice, and a response of a control
        is subtracted twice:

        >>> experiment = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1], benefit=10, cost=1)
        >>> experiment.in_money().columns["gain"].tolist()
        [19.0, -1.0, -21.0, -1.0]
        """
        gain, weighting = self._gain(benefit, cost)
        weight = np.abs(gain) * self._row_weight
        # Scale by a power of two to about 1; such scaling is exact.
        weight = np.ldexp(weight, -frexp(weight.mean())[1])
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
        """Return the rows with a cost column, and the context that names this column, as input for `choose`.

        Parameters
        ----------
        benefit, cost : see `in_money`

        Returns
        -------
        Predictions
            Rows with the columns "gain" and "loss".
        Context
            Costs of the rows. Pass both results to `choose`, for example with a capacity. The expected cost is minus
            the profit per case.

        Raises
        ------
        InputError
            If the benefit or the cost is missing or invalid.

        Notes
        -----
        Contacting a row costs −gain (see `in_money`); not contacting it costs 0. Intervals treat the treatment
        probabilities as known. If they are estimated, the intervals are slightly too wide. A row is positive if
        contacting it gains money. This label is not a response, so `plan_campaign` and `allocate` raise an error for
        these rows; use `plan` for a campaign.

        Examples
        --------
        Only one of four rows is contacted, with a gain of 19:

        >>> from rocscope import choose
        >>> experiment = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1], benefit=10, cost=1)
        >>> choose(*experiment.priced()).expected_cost
        -4.75
        """
        gain, _ = self._gain(benefit, cost)
        context = Context(cost_tp="loss", cost_fp="loss", cost_fn=0, cost_tn=0)
        columns = {"gain": gain, "loss": -gain}
        source = Provenance(("experiment",), self.n, doubt=self._shortage(self._row_weight))
        labels: dict[str, Any] = {"groups": self.groups, "segment": self.segment, "columns": columns}
        labels |= {"sample_weight": self.sample_weight, "source": source}
        return Predictions(gain > 0, self.scores, weights="priced", **labels), context

    def plan(self, campaign: Campaign) -> Decision:
        """Plan a campaign: choose the model and threshold with the highest profit, within the campaign's capacity.

        Parameters
        ----------
        campaign : Campaign
            Population, capacity and amounts of the campaign. Its cost of a contact and benefit of a response are used
            instead of the amounts given to `from_experiment`.

        Returns
        -------
        Decision
            ``decision.select(customers)`` lists the customers to contact. The profit before the fixed cost is
            −`total_cost`. ``decision.interval()`` estimates minus the profit per new customer; the interval accounts
            for the choice of the threshold on these rows.

        Raises
        ------
        InputError
            If `response_rate` of the campaign is set, or `unit_benefit` is the name of a column.
        OneClassError
            If no response of a treated row gains more than the cost of a contact.

        Notes
        -----
        The gain of a contact is defined in `in_money`. It does not include responses that would also occur without a
        contact. If the profit does not exceed the fixed cost, no customer is contacted.

        Examples
        --------
        The treated row with the highest score responded. It represents two rows, so its gain is 2·10 − 1. The next row
        loses 1:

        >>> trial = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1])
        >>> decision = trial.plan(Campaign(population=1000, unit_cost=1, unit_benefit=10, capacity=300))
        >>> decision.threshold, decision.total_cost
        (4, -4750.0)
        """
        if not isinstance(campaign, Campaign):
            raise InputError("campaign", expected="a Campaign", got=check.shown(campaign))
        if isinstance(campaign.unit_benefit, str):
            hint = "pass the amounts as the response: from_experiment(amounts, …), and unit_benefit=1"
            raise InputError("campaign", expected="a number as unit_benefit", got=repr(campaign), hint=hint)
        if campaign.response_rate is not None:
            hint = "omit response_rate, because the experiment contains the responses"
            raise InputError("campaign", expected="response_rate=None", got=repr(campaign), hint=hint)
        rows, context = self.priced(benefit=campaign.unit_benefit, cost=campaign.unit_cost)
        if not rows.n_pos:
            expected = "a treated row with a gain above the cost of a contact"
            raise OneClassError("plan", expected=expected, got="no such row", hint="contact nobody")
        constraints = () if campaign.capacity is None else (Constraint.capacity(campaign.capacity),)
        problem = problem_of(rows, Question(context, subject_to=constraints, population=campaign.population))
        return problem.unless_too_costly(problem.decide(), campaign)

    def _gain(self, benefit: float | None, cost: float | None) -> tuple[Array, ShareWeights]:
        """Return the gain from contacting each row, and the weights by which the gain depends on the treated share."""
        benefit = self.benefit if benefit is None else float(check.check_number(benefit, "benefit"))
        cost = self.cost if cost is None else float(check.check_number(cost, "cost"))
        amount = benefit * self.response * np.where(self.treated, 1.0, -1.0)
        gain = amount / self._share_of_arm - cost
        if not (gain != 0).any():
            raise InputError(
                "benefit and cost", expected="amounts with a gain or loss for some row", got=f"{benefit:g} and {cost:g}"
            )
        return gain, self._weighting(amount, cost)

    def _weighting(self, amount: Array, cost: float) -> ShareWeights:
        note = "weighted by the share treated"
        known = {"base": self.sample_weight, "member": self.treated, "stratum": self.stratum}
        return ShareWeights(self.n, note, amount=amount, cost=cost, **known)

    @cached_property
    def _row_weight(self) -> Array:
        return np.ones(self.n) if self.sample_weight is None else self.sample_weight

    @cached_property
    def _share_of_arm(self) -> Array:
        """Probability of each row's own arm: known, or estimated in its stratum."""
        share = self.share
        if share is None:
            share = self._weighting(np.ones(self.n), 0.0).share(self.sample_weight)[0][self.stratum]
        return np.where(self.treated, share, 1 - share)

    @property
    def _is_weighted(self) -> bool:
        """True if treatment probabilities differ between rows, so that they do not cancel in ratios."""
        return bool(self.stratum.any()) if self.share is None else bool(np.ptp(self.share))

    @cached_property
    def _group(self) -> Indices | None:
        group = None if self.groups is None else check.check_groups(self.groups, "groups", self.n)
        return None if group is None or group.max() == self.n - 1 else group  # groups of one row each are single rows

    @cached_property
    def _trial(self) -> Trial:
        """Responses and weights of the rows; if treatment probabilities differ, the weights correct for this."""
        weight = self._row_weight
        if self._is_weighted:
            share = self._share_of_arm
            mean = np.average(np.where(self.treated, share, 1 - share), weights=weight)
            weight = weight * np.where(self.treated, mean, 1 - mean) / share
        return Trial(self.response, self.treated, weight)

    def _figures(self, kind: UpliftKind, score: Array) -> tuple[Array, Array]:
        """Return area, coefficient and effect of a model (see `UpliftCurve`), and the influence of each row (n × 3)."""
        trial = self._trial
        (area, end), moves = trial.area_and_moves(score, kind)
        # The area under the line of contacting at random is half of the height of its end.
        over_random, moves_over_random = area - end / 2, moves[:, 0] - moves[:, 1] / 2
        coefficient, moves_of_coefficient = nan, np.full(self.n, nan)
        if self._is_binary:
            (best, _), moves_of_best = trial.area_and_moves(trial.perfect(kind), kind)
            most = best - end / 2
            moves_of_most = moves_of_best[:, 0] - moves_of_best[:, 1] / 2
            coefficient = over_random / most
            moves_of_coefficient = (moves_over_random - coefficient * moves_of_most) / most
        values = np.array([over_random, coefficient, end])
        return values, np.column_stack([moves_over_random, moves_of_coefficient, moves[:, 1]])

    @cached_property
    def _is_binary(self) -> bool:
        return bool(np.isin(self.response, (0, 1)).all())

    def _values(self, names: tuple[str, ...], values: Array, moves: Array) -> Values:
        weight, group = self._row_weight, self._group
        notes = []
        if group is not None:
            notes.append(f"{group.max() + 1} groups")
        elif self.sample_weight is not None:
            notes.append("sampling weights")
        if self.share is None and self._is_weighted:
            weighting = self._weighting(np.ones(self.n), 0.0)
            moves = weighting.moves(moves)
            notes.append(weighting.note)
        elif self._is_weighted:
            notes.append("weighted by known shares")
        stratum = stratum_of_moves(moves, group, None, _effective(weight))
        shortage, grouped = self._shortage(weight), group is not None
        return Values(names, values, stratum, self.n, ", ".join(notes), shortage=shortage, grouped=grouped)

    def _shortage(self, weight: Array) -> str:
        """Return the reason why intervals are unreliable, if an arm has too few responses; otherwise empty text."""
        responses = [_effective((weight * self.response)[self.treated == arm]) for arm in (False, True)]
        return inference.few(min(responses), inference.FEW_EVENTS, "responses in an arm")

    def _curve(self, kind: UpliftKind, model: str | None, level: float) -> UpliftCurve:
        name = model_name(self.models, model)
        trial, score = self._trial, self.scores[name]
        values, moves = self._figures(kind, score)
        contacted, gained, *_ = trial.cumulated(score, kind)
        sample = self._values(("area", "coefficient", "effect"), values, moves)
        area, coefficient, effect = (estimate_value(sample, i, check.check_level(level), PLAIN) for i in range(3))
        if isnan(values[1]):
            coefficient = replace(coefficient, reason="undefined for responses other than 0 and 1")
        return UpliftCurve(kind, name, contacted, gained, area, coefficient, effect, self)

    def _ranking(self, model: str | None) -> tuple[Array, Array, Indices]:
        """Return the weight above and at each distinct score in decreasing order, and each row's index of its score."""
        tie = np.unique(-self.scores[model_name(self.models, model)], return_inverse=True)[1]
        weight = np.bincount(tie, self._row_weight)
        return np.cumsum(weight) - weight, weight, tie

    def _inside(self, share: float, model: str | None) -> Array:
        """Return 1 for rows in the top share, 0 for rows below, and a fraction for tied rows at the limit."""
        above, weight, tie = self._ranking(model)
        # The share is read as a decimal, so that .7 of 10 rows is exactly 7.
        contacted = float(decimal(share) * Fraction(float(weight.sum())))
        return np.clip((contacted - above) / weight, 0.0, 1.0)[tie]

    def _uplift_part(self, inside: Array, level: float) -> UpliftPart:
        """Estimate the uplift in a part of the ranking; `inside` is the fraction of each row that is in the part.

        Notes
        -----
        Within the part, let hᵢ be the weight of row i divided by the total weight of its arm, and ȳ the mean response
        of this arm. The influence of the row on ȳ is hᵢ(yᵢ − ȳ). The factor √(u/(u − 1)), for u independent units in
        the arm, makes the sum of squared influences equal to the usual variance s²/u if all weights are equal.
        """
        n, weight = float(inside.sum()), self._trial.weight * inside
        arms = [np.flatnonzero((weight > 0) & (self.treated == arm)) for arm in (False, True)]
        means = [float(np.average(self.response[rows], weights=weight[rows])) if rows.size else nan for rows in arms]
        control, treated = means
        part = UpliftPart(
            int(np.count_nonzero(inside)), control, treated, inference.Estimate(nan, nan, nan, level, "", n)
        )
        if not all(rows.size for rows in arms):
            return replace(part, uplift=replace(part.uplift, method="no interval", reason="an arm is missing"))

        is_plain = self._is_binary and self._group is None and self.sample_weight is None and not self._is_weighted
        if is_plain:
            # A tie that counts in part makes the shares h unequal: the variance is p(1 − p)·Σh², as for 1/Σh² equal
            # rows.
            rows_of_arm = [_effective(inside[rows]) for rows in arms]
            z = inference.normal_quantile(level)
            first, second = (
                inference.Estimate(mean, *wilson_interval(mean, rows, z), level, "Wilson", rows)
                for mean, rows in zip(means, rows_of_arm, strict=True)
            )
            too_few = inference.few(min(rows_of_arm), inference.FEW_ROWS, "independent rows in an arm")
            return replace(part, uplift=replace(mover_difference(first, second, "Newcombe", n), reason=too_few))

        moves, units = np.zeros(self.n), []
        for rows, mean, sign in zip(arms, means, (-1, 1), strict=True):
            share = weight[rows] / weight[rows].sum()
            group = None if self._group is None else np.unique(self._group[rows], return_inverse=True)[1]
            moves[rows] = sign * share * (self.response[rows] - mean)
            if self.share is not None or not self._is_weighted:
                # The influence through estimated shares is first-order, so the direct influence is first-order too.
                moves[rows] *= leave_one_out_factor(share, group)
            share_of_unit = share if group is None else np.bincount(group, share)
            if share_of_unit.size > 1:
                moves[rows] *= (share_of_unit.size / (share_of_unit.size - 1)) ** 0.5
            units.append(_effective(share_of_unit))
        sample = self._values(("uplift",), np.array([treated - control]), moves[:, None])
        too_few = (
            inference.few(min(units), inference.FEW_ROWS, "independent rows in an arm") if self._group is None else ""
        )
        shortage = inference.few_groups(min(units) if sample.grouped else None) or too_few or self._shortage(weight)
        uplift = estimate_value(replace(sample, n=n, shortage=shortage), 0, level, PLAIN)
        return replace(part, uplift=uplift)

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
    sample_weight: Any = None,
    weights: Weights = "auto",
) -> Any:
    """Make an `Experiment` from the rows of a randomised experiment, for uplift curves and decisions.

    Parameters
    ----------
    response : array of n
        Response of each row: 0 or 1, or an amount.
    treated : array of n of 0 and 1
        1 for treated rows, 0 for controls. If `control` is given, the name of the arm of each row.
    scores : array of n, or mapping from model name to array
        Scores of one or more models; rows with higher scores are contacted first.
    share : float or array of n, optional
        Known probability of treatment. By default, it is estimated by the share of treated rows in each stratum.
        Metrics then have a smaller variance than with known probabilities.
    strata : array of n labels, optional
        Stratum of each row. Treatment was randomised separately in each stratum, possibly with different probabilities.
    control : label, optional
        Name of the control arm, if there are several treatments. Each treatment is compared with this arm.
    benefit : float
        Benefit of a response, for `Experiment.in_money`.
    cost : float
        Cost of a contact, for `Experiment.in_money`.
    groups : array of n labels, optional
        Group of each row; rows of the same group are dependent.
    segment : array of n labels, optional
        Segment of each row; decisions may treat segments separately.
    sample_weight : array of n weights, optional
        Weight of each row, at least 0. Rows with weight 0 are omitted.
    weights : {"auto", "frequency", "sampling"}
        Meaning of the weights; see `rocscope.Predictions`. A row with frequency weight w is replaced by w equal rows.

    Returns
    -------
    Experiment, or dict from arm to Experiment
        The experiment. If `control` is given, one experiment for each treatment arm.

    Raises
    ------
    InputError
        If a stratum has no treated rows or no controls, or `share` is not between 0 and 1.

    See Also
    --------
    plot_uplift, plan_campaign

    Notes
    -----
    Treatment must have been randomised within strata. If treatment probabilities differ between rows, the rows are
    weighted by (mean probability of the arm)/(probability of the row's arm). Intervals are computed from the influence
    of each row on a metric. The influence of a row includes its influence on estimated treatment probabilities.

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
    check.check_choice("weights", weights, ("auto", "frequency", "sampling"))
    if control is not None:
        if share is not None:
            hint = "omit share, because it is estimated in each stratum"
            raise InputError("share", expected="None with control=", got=check.shown(share), hint=hint)
        labels = {"strata": strata, "groups": groups, "segment": segment, "sample_weight": sample_weight}
        return _by_arm(amounts, arm, scores, control, labels, benefit=benefit, cost=cost, weights=weights)

    code = np.zeros(n, np.intp) if strata is None else check.check_groups(strata, "strata", n)
    if share is not None:
        share = np.full(n, share) if np.ndim(share) == 0 else share
        share = check.check_numbers(share, "share", n)
    columns: dict[str, Any] = {"groups": groups, "segment": segment, "sample_weight": sample_weight}
    rows = Predictions(arm == 1, scores, weights=weights, **columns)  # checks them
    weight, place = rows.sample_weight, np.arange(n)
    if weight is not None:
        if weights == "auto" and is_table(weight, rows.y_true, amounts, *rows.scores.values()):
            weights = "frequency"
        place = np.repeat(place, weight.astype(np.intp) if weights == "frequency" else weight > 0)
        weight = None if weights == "frequency" else weight[place].astype(np.float64)
    amounts, arm, share = amounts[place], arm[place], take(share, place)
    code = np.unique(code[place], return_inverse=True)[1]
    if not np.isin(arm, (0, 1)).all() or np.unique(arm).size < 2:
        hint = "for named arms pass the name of the control arm as control="
        if np.unique(arm).size > 2:
            hint = "pass the arms second: rs.outcomes.from_experiment(y, treated, s)"
        raise InputError("treated", expected="both values 0 and 1", got=check.shown(treated), hint=hint)
    if share is None:
        n_treated = np.bincount(code, arm == 1)
        lacking = (n_treated == 0) | (n_treated == np.bincount(code))
        if lacking.any():
            got = f"{lacking.sum()} strata with only treated rows or only controls"
            raise InputError("strata", expected="treated rows and controls in each stratum", got=got)
    elif not ((share > 0) & (share < 1)).all():
        raise InputError("share", expected="probabilities above 0 and below 1", got=check.shown(share))
    return Experiment(
        response=amounts,
        treated=arm == 1,
        scores={model: score[place] for model, score in rows.scores.items()},
        share=share,
        stratum=code,
        benefit=check.check_number(benefit, "benefit"),
        cost=check.check_number(cost, "cost"),
        groups=take(rows.groups, place),
        segment=take(rows.segment, place),
        sample_weight=weight,
    )


def _effective(weight: Array) -> float:
    """Return Kish's effective sample size (Σw)²/Σw²; for weights of 0 and 1 it is the number of ones."""
    # A product with @ would return only True for a mask, not the number of rows.
    return float(weight.sum()) ** 2 / float((weight * weight).sum() or 1)


def _by_arm(
    response: Array, arm: Array, scores: Any, control: Any, labels: Mapping[str, Any], **options: Any
) -> dict[Any, Experiment]:
    """Return one experiment for each treatment arm, with the rows of this arm and of the control arm."""
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
        experiments[name] = from_experiment(response[kept], arm[kept] == name, scores, **of_kept, **options)
    return experiments
