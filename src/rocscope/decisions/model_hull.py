"""The convex hull across models: which models and thresholds can be optimal, and in which contexts."""

import math
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.contract import answering
from rocscope.core.context import Context
from rocscope.core.counts import CumulativeCounts
from rocscope.core.result import jsonable
from rocscope.curves.curve import Curve
from rocscope.curves.profit_curve import Campaign
from rocscope.decisions.randomized.randomized_rule import RandomizedRule, mixture_on
from rocscope.decisions.randomized.review import Review
from rocscope.decisions.regions import RegionMap, region_map
from rocscope.decisions.slope_ranges import HullVertex, SlopeRanges, slope_ranges
from rocscope.decisions.uncertain_context import Envelope, UncertainContext, adaptive_cost
from rocscope.errors import InexactCountsError, InputError, PairingError
from rocscope.geometry import Choices, TangentPoint, all_choices, needs_every_threshold, negation, pool, touching
from rocscope.sample import Counted, Labels, Models, Samples, Scores, samples_of, with_scores

_SAME_PREVALENCE = 1e-9  # of samples whose models were scored on the same rows: rounding alone


class Hull(Curve):
    """Upper convex hull of the ROC curves of several models: true-positive (y) against false-positive rate (x).

    Made by `rocscope.hull`.

    Attributes
    ----------
    counts : dict from model name to ThresholdCounts or BinnedCounts
    vertices : tuple of HullVertex
        From "nobody positive" to "everybody positive", each with its owner, threshold and slope interval. The two
        corners belong to the first model; any model attains them.
    negate : bool
        Whether models were also used with their decisions reversed.
    samples : Samples
        The data that it was made of, with their rows where these are known.
    """

    title = "ROC hull"
    x_name = "fpr"
    y_name = "tpr"

    def __init__(
        self,
        counts: Mapping[str, CumulativeCounts],
        choices: tuple[Choices, ...],
        *,
        negate: bool,
        samples: Samples | None = None,
    ) -> None:
        self.counts = dict(counts)
        self.samples = samples_of(self.counts) if samples is None else samples
        self.negate = negate
        self._choices = choices
        self.slope_ranges: SlopeRanges = slope_ranges(choices)
        self.vertices = self._with_corners()
        x, y, threshold = ([getattr(v, name) for v in self.vertices] for name in ("fpr", "tpr", "threshold"))
        super().__init__(x, y, threshold)

    def _with_corners(self) -> tuple[HullVertex, ...]:
        vertices = list(self.slope_ranges.vertices)
        first, *others = self.counts
        nobody, everybody = self._choices[0].point(0), self._choices[0].point(-1)
        if vertices[0].point.tp or vertices[0].point.fp:
            vertices.insert(0, HullVertex(first, nobody, math.inf, math.inf, tied=tuple(others)))
        if vertices[-1].point.fn or vertices[-1].point.tn:
            vertices.append(HullVertex(first, everybody, 0.0, 0.0, tied=tuple(others)))
        return tuple(vertices)

    @property
    def models(self) -> list[str]:
        """Names of all models, in the order given."""
        return list(self.counts)

    @property
    def contenders(self) -> list[str]:
        """Models that are optimal (or tied) for some slope, other than at a corner."""
        inner = [v for v in self.vertices if 0 < v.point.tp + v.point.fp < v.point.n]
        named = {name for vertex in inner for name in (vertex.label, *vertex.tied)}
        sure = {model for model in self.models if named & {model, f"not {model}"}}
        return [model for model in self.models if model in sure or self._may_contend(model)]

    def _may_contend(self, model: str) -> bool:
        """Whether bins of a model may hide a point outside the known hull."""
        if self.counts[model].holds_hull:
            return False
        others = {name: counts.attained for name, counts in self.counts.items()}
        return model in hull(others | {model: self.counts[model].best_case}).contenders

    @property
    def is_exact(self) -> bool:
        """Whether no model can have a point outside this hull; False only for binned counts."""
        return all(counts.holds_hull for counts in self.counts.values())

    @property
    def holds_levels(self) -> bool:
        """Whether every level of every model is known."""
        return all(counts.holds_levels for counts in self.counts.values())

    @cached_property
    def outer(self) -> "Hull":
        """A hull that no model can exceed: this one, unless binned counts leave points unknown."""
        return self if self.is_exact else hull({name: counts.best_case for name, counts in self.counts.items()})

    @property
    def area_bounds(self) -> tuple[float, float]:
        """Bounds of the area under the hull of all thresholds."""
        return super().area(), Curve.area(self.outer)

    def cost_bounds(self, context: Context | Campaign | None = None) -> tuple[float, float]:
        """Return bounds of the lowest expected cost over all thresholds of all models."""
        return self.outer.expected_cost(context), self.expected_cost(context)

    @property
    def dominated(self) -> list[str]:
        """Models that are never better than the others and the two trivial decisions, at any prevalence and costs."""
        return [model for model in self.models if model not in self.contenders]

    @property
    def prevalence(self) -> float | None:
        """Share of positives in the sample; None if models have samples with different shares."""
        shares = [counts.prevalence for counts in self.counts.values()]
        return shares[0] if max(shares) - min(shares) <= _SAME_PREVALENCE else None

    def totals(self, context: Context) -> tuple[float, float]:
        """Return the numbers of positives and negatives that determine a context's default prevalence.

        Raises
        ------
        PairingError
            If the models come from samples of different prevalence and the context does not name one.
        """
        if context.target_prevalence is None and self.prevalence is None:
            shares = ", ".join(f"{name}: {counts.prevalence:.4g}" for name, counts in self.counts.items())
            raise PairingError(
                "models",
                expected="samples of one prevalence",
                got=shares,
                hint="name the one that counts: Context(target_prevalence=…)",
            )
        first = next(iter(self.counts.values()))
        return first.n_pos, first.n_neg

    def whole_totals(self, context: Context) -> tuple[int, int]:
        """Return the same as exact integers."""
        self.totals(context)
        return next(iter(self.counts.values())).whole_totals

    def best(self, context: Context | Campaign | None = None) -> HullVertex:
        """Return the vertex of lowest expected cost in a context, or of highest accuracy without one.

        Of equally good points the one with fewest positive predictions is taken, then the model given first. Where a
        cost of 0 or below rewards false alarms alone, it may be a threshold that is no vertex.

        Raises
        ------
        InputError
            If the context rewards errors of both kinds.
        PairingError
            If the models come from samples of different prevalence and the context does not name one.
        """
        context = Context.given(context)
        touch = self.touching(context)
        point, choices = touch.point, touch.choices
        for vertex in self.vertices:
            if (vertex.model, vertex.negated, vertex.point) == (choices.model, choices.negated, point):
                return vertex
        slope = context.slope(point.prevalence)
        equal = tuple(other.choices.label for other in touch.tied if other.rates == touch.rates)
        return HullVertex(choices.model, point, slope, slope, choices.negated, equal)

    def touching(self, context: Context) -> TangentPoint:
        """Return where the iso-performance line of a context touches the hull, with all ties."""
        choices = self._choices if not needs_every_threshold(context) else self.every_choice
        return touching(choices, context, self.whole_totals(context))

    @property
    def every_choice(self) -> tuple[Choices, ...]:
        """All thresholds of all models, and of their negations if allowed."""
        return tuple(
            choice
            for name, counts in self.counts.items()
            for choice in (
                all_choices(name, counts),
                *([negation(name, counts)] if self.negate and len(counts) > 1 else []),
            )
        )

    def regions(self) -> tuple[HullVertex, ...]:
        """Return the best model and threshold for each range of slopes, from steepest to flattest.

        The intervals tile the slopes from infinity to 0; at a border both neighbours cost the same.

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [1, 1, 2])
        >>> [(v.threshold, v.slope_low, v.slope_high) for v in hull({"a": counts}).regions()]
        [(inf, 2.0, inf), (0.9, 1.0, 2.0), (0.6, 0.5, 1.0), (-inf, 0.0, 0.5)]
        """
        return self.slope_ranges.vertices

    def region_map(self, cost_ratio: Any = None, prevalence: Any = None, *, review: Review | None = None) -> RegionMap:
        """Return which vertex is best for each pair of cost ratio and prevalence.

        Parameters
        ----------
        cost_ratio : array of r ratios above 0, optional
            Cost of a false alarm over cost of a miss; by default from 1/1000 to 1000.
        prevalence : array of p shares between 0 and 1, optional
            By default from 0.001 to 0.999.
        review : Review, optional
            A closer look as a third action, at a price in misses and without a capacity: the map then says what share
            of cases is worth it.
        """
        every = [choices for choices in self.every_choice if not choices.negated]
        return region_map(self.slope_ranges, cost_ratio, prevalence, review, every)

    def expected_cost(self, context: "Context | Campaign | UncertainContext | None" = None) -> float:
        """Return the expected cost per case of the best vertex for each context.

        In an uncertain context that is the cost of a user who will know the context when the time comes, integrated
        exactly over the slope intervals; a choice that is made now costs `choose(hull, context).expected_cost`.
        """
        if isinstance(context, UncertainContext):
            n_pos, n_neg = self.totals(context.mean)
            return adaptive_cost(Envelope.of(self.slope_ranges), context, n_pos / (n_pos + n_neg))
        context = Context.given(context)
        return float(context.exact_cost(self.best(context).point))

    def mixture(self, **target: Any) -> RandomizedRule:
        """Return the random combination of two neighbouring vertices that meets a target; see `decisions.mixture`.

        Parameters
        ----------
        fpr, tpr, depth, at_most : float
            Exactly one of them; `at_most` counts cases of a `population`.
        population, target_prevalence : float, optional

        Examples
        --------
        >>> from rocscope import ThresholdCounts
        >>> counts = ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [1, 1, 2])
        >>> hull({"a": counts}).mixture(tpr=0.875)
        RandomizedRule(0.5 × score≥0.6 of a + 0.5 × everybody, tpr=0.875, fpr=0.75)
        """
        return mixture_on(self.vertices, **target)

    def add(self, model: str, counts: Counted) -> "Hull":
        """Return the hull with one more model, which equals a new computation at the cost of that model alone."""
        if model in self.counts:
            raise InputError(f"model {model!r} is in the hull already", hint="give it another name")
        (added,) = samples_of({model: counts}, name="counts").points().values()
        more = _choices(model, added, self.negate)
        return Hull(self.counts | {model: added}, self._choices + more, negate=self.negate)

    @cached_property
    def _area(self) -> float:
        return super().area()

    def area(self) -> float:
        """Return the area under the hull, an upper bound for the AUC of any combination of these models.

        Raises
        ------
        InexactCountsError
            If bins leave it open; see `area_bounds`.
        """
        if not self.is_exact:
            low, high = self.area_bounds
            hint = "use .area_bounds, or count the rows exactly"
            raise InexactCountsError("area under the hull", got=f"one from {low:.9g} to {high:.9g}", hint=hint)
        return self._area

    def columns(self) -> dict[str, Array]:
        """Return one row per vertex."""
        return super().columns() | {
            name: np.array([getattr(vertex, name) for vertex in self.vertices])
            for name in ("model", "negated", "slope_low", "slope_high")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return models and vertices, safe for JSON."""
        names = ("title", "models", "contenders", "dominated")
        facts = {name: getattr(self, name) for name in names}
        area = {"area": self.area()} if self.is_exact else {"area_bounds": self.area_bounds}
        return jsonable(facts | area | {"vertices": self.vertices})

    def __reduce__(self) -> Any:
        return partial(hull, negate=self.negate), (self.counts,)

    def _facts(self) -> str:
        low, high = self.area_bounds
        area = f"area={low:.6g}" if self.is_exact else f"area from {low:.6g} to {high:.6g}"
        return f"{area}, {len(self.vertices)} vertices, models={self.contenders}" + (
            f", dominated={self.dominated}" if self.dominated else ""
        )


@answering
def hull(
    models: Models | Labels,
    y_score: Scores | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    negate: bool = False,
) -> Hull:
    """Compute the convex hull of the ROC curves of one or several models, with the owner of each vertex.

    Parameters
    ----------
    models, y_score, pos_label, sample_weight : data of one or several models
        Predictions, labels and scores, or a mapping of counts or points by model name; see `rocscope.sample`. Ranges of
        the score give the hull of the points that they tell, and `Hull.outer` what may lie beyond.
    negate : bool
        Whether a model below the diagonal may be used with its decisions reversed; such vertices say so.

    Returns
    -------
    Hull
        Vertices with model, threshold and slopes, best first.

    Raises
    ------
    OneClassError
        If a sample holds one class only.
    InputError
        If there is no model.

    Notes
    -----
    Decided in exact whole numbers for unweighted data. After ranking: one pass over the levels of each model. Models
    need not come from the same rows; where their samples differ in prevalence, a context has to name one.

    References
    ----------
    Provost & Fawcett 2001, "Robust classification for imprecise environments"; Hernández-Orallo 2004, ROC analysis of
    crisp and soft classifiers.

    Examples
    --------
    A valve that is to be opened in 500 of 100,000 cases:

    >>> from rocscope import OperatingPoint
    >>> valve = hull({
    ...     "c1": OperatingPoint(tp=300, fp=500, fn=200, tn=99_000),
    ...     "c2": OperatingPoint(tp=0, fp=0, fn=500, tn=99_500),
    ...     "c3": OperatingPoint(tp=400, fp=5400, fn=100, tn=94_100),
    ... })
    >>> valve
    Hull(area=0.887136, 4 vertices, models=['c1', 'c3'], dominated=['c2'])
    >>> valve.best(Context(cost_fp=100, cost_fn=2000)).model
    'c1'
    """
    models = with_scores(models, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return hull_of(samples_of(models), negate=negate)


def hull_of(samples: Samples, *, negate: bool = False) -> Hull:
    """Return the hull of prepared data."""
    counts = samples.points()
    choices = tuple(choice for name, each in counts.items() for choice in _choices(name, each, negate))
    return Hull(counts, choices, negate=negate, samples=samples)


def _choices(model: str, counts: CumulativeCounts, negate: bool) -> tuple[Choices, ...]:
    """Return the hull of one model, and of its negation if requested."""
    counts.require_both_classes(f"hull of {model!r}")
    pooled = all_choices(model, pool(counts.attained))
    if not negate or len(counts) < 2:  # of a constant score the negation is everybody and nobody, as it is itself
        return (pooled,)
    return pooled, negation(model, counts.require_levels(f"hull with {model!r} negated"))
