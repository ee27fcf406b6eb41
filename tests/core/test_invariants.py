"""What leaves each metric and curve as it is: one table, in which none may be missing, and a property for each column.

Where the table says that something matters, an example must show it: so no entry can be left weaker than it is.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from metric_oracles import ORACLES, complement, reciprocal, same
from rocscope.curves.curve import Curve
from rocscope.metrics import METRICS
from strategies import Sample, both_paths, costs, prevalences, probabilities, samples, taking, whole_weights


@dataclass(frozen=True)
class View:
    """Traits of a curve.

    `mirror` takes its points to those of the curve on which the classes swap their roles. `scored` is whether the
    values of scores matter, beyond their order, and `scaled` whether the sum of weights does.
    """

    mirror: Callable | None
    mixed: bool
    scored: bool = False
    scaled: bool = False


VIEW = {
    "roc": View(lambda x, y: (1 - y, 1 - x), mixed=False),
    "det": View(lambda x, y: (y, x), mixed=False),
    "lift_chart": View(None, mixed=True, scaled=True),
    "gain": View(None, mixed=True),
    "lift": View(None, mixed=True),
    "precision_recall": View(None, mixed=True),
    "calibration_curve": View(None, mixed=True, scored=True),
    "hull": View(lambda x, y: (1 - y, 1 - x), mixed=False),
    "cost_curve": View(lambda x, y: (1 - x, y), mixed=False),
    "brier_curve": View(None, mixed=True, scored=True),
    "net_benefit": View(None, mixed=True, scored=True),
    "profit": View(None, mixed=True),
}

ELSEWHERE = {
    "miscalibration_cost": "a difference of two costs, with an interval; tested with it",
    "reject_curve": "of more than two classes; tested with their costs",
    "average_curve": "curves of folds, which counts do not tell apart; its laws are tested beside it",
    "partial_lift_chart": "counts alone do not give it: some rows have no label",
    "smooth_roc": "a model that is fitted, to some counts only; its laws are tested beside it",
}

CAMPAIGN = rs.Campaign(population=1000, unit_cost=1, unit_benefit=3, fixed_cost=20)


@cache
def public_functions():
    """Return the functions at the top and in the topics, by name."""
    topics = [topic for topic in map(partial(getattr, rs), rs.__all__) if hasattr(topic, "__all__")]
    members = [(name, getattr(home, name)) for home in (rs, *topics) for name in home.__all__]
    return {name: member for name, member in members if inspect.isfunction(member)}


def test_no_metric_is_missing():
    assert set(ORACLES) == set(METRICS)


def is_curve(function):
    """Whether a function makes a curve, or as many as there are models."""
    kind = get_type_hints(function).get("return")
    if kind is Any:
        return "The curve of one model. If the data contain several models" in (function.__doc__ or "")
    return inspect.isclass(kind) and issubclass(kind, Curve)


def test_no_curve_is_missing():
    curves = {name for name, function in public_functions().items() if is_curve(function)}
    assert set(VIEW) | set(ELSEWHERE) == curves


def metric_along(name):
    return lambda counts: METRICS[name](counts.tp, counts.fp, counts.fn, counts.tn)


def points_of(name):
    def points(counts):
        curve = rs.profit(counts, CAMPAIGN) if name == "profit" else public_functions()[name](counts)
        return np.stack([curve.x, curve.y])

    return points


QUANTITIES = {f"metric {name}": metric_along(name) for name in ORACLES} | {name: points_of(name) for name in VIEW}
QUANTITIES |= {"auc": lambda counts: np.array([rs.auc(counts, ties=ties) for ties in ("lower", "half", "upper")])}
every_metric = pytest.mark.parametrize("name", ORACLES)
every_view = pytest.mark.parametrize("name", VIEW)

forecasts = samples(score=probabilities, dtype=np.float64)
weighted_forecasts = samples(score=probabilities, dtype=np.float64, weight=whole_weights)
EXAMPLE = Sample(np.array([1, 1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.4, 0.2]))
cell = st.integers(0, 12)
tables = st.tuples(cell, cell, cell, cell).filter(any)
full_tables = st.tuples(*[st.integers(1, 12)] * 4)


def value(name, sample):
    return QUANTITIES[name](sample.counts())


def assert_same(first, second, names=QUANTITIES):
    """Compare quantities of two counts that a law calls equal, to the last bit."""
    for name in names:
        np.testing.assert_array_equal(QUANTITIES[name](first), QUANTITIES[name](second), err_msg=name)


def of_cells(name, cells):
    return float(METRICS[name](*cells))


def differ(first, second):
    return not np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)


# Laws that hold for all.


@both_paths
@given(sample=forecasts, data=st.data())
def test_the_order_of_rows_does_not_matter(path, sample, data):
    order = np.array(data.draw(st.permutations(range(sample.y.size))))
    with taking(path):
        assert_same(Sample(sample.y[order], sample.score[order]).counts(), sample.counts())


@both_paths
@given(sample=weighted_forecasts)
def test_whole_weights_are_repetitions(path, sample):
    repeated = Sample(np.repeat(sample.y, sample.weight), np.repeat(sample.score, sample.weight))
    with taking(path):
        assert_same(sample.counts(), repeated.counts())


@both_paths
@given(sample=forecasts, extra=st.lists(probabilities, min_size=1, max_size=3))
def test_rows_without_weight_change_nothing(path, sample, extra):
    padded = Sample(
        np.append(sample.y, [1, 0, 1][: len(extra)]),
        np.append(sample.score, extra),
        np.append(np.ones(sample.y.size, np.int64), [0] * len(extra)),
    )
    with taking(path):
        assert_same(padded.counts(), sample.counts())


@both_paths
@given(first=forecasts, second=samples(score=probabilities, dtype=np.float64, one_class=True))
def test_counts_of_parts_add_up(path, first, second):
    union = Sample(np.append(first.y, second.y), np.append(first.score, second.score))
    with taking(path):
        assert_same(first.counts() + second.counts(), union.counts())


# Laws that hold for some; the table says for which.

increasing = {
    "cubed": lambda s: s**3,
    "logarithm": lambda s: np.log1p(s) * 7 - 3,
    "whole": lambda s: (s * 100).astype(int),
}


@pytest.mark.every(5)
@both_paths
@pytest.mark.parametrize("transform", increasing)
@given(sample=forecasts)
def test_only_the_order_of_scores_matters(path, transform, sample):
    ordinal = [name for name in QUANTITIES if name not in VIEW or not VIEW[name].scored]
    with taking(path):
        assert_same(Sample(sample.y, increasing[transform](sample.score)).counts(), sample.counts(), ordinal)


@pytest.mark.parametrize("name", [name for name in VIEW if VIEW[name].scored])
def test_values_of_scores_matter(name):
    assert differ(value(name, EXAMPLE), value(name, Sample(EXAMPLE.y, EXAMPLE.score**3)))


def weighing(sample, positives, negatives):
    weight = np.ones(sample.y.size, np.int64) if sample.weight is None else sample.weight
    return Sample(sample.y, sample.score, weight * np.where(sample.y == 1, positives, negatives))


@given(sample=forecasts, factor=st.sampled_from([2, 7, 0.5]))
def test_the_sum_of_weights_matters_where_counts_are_shown(sample, factor):
    for name in QUANTITIES:
        scaled = differ(value(name, weighing(sample, factor, factor)), value(name, sample))
        assert scaled == (name in VIEW and VIEW[name].scaled), name


@every_metric
@given(cells=full_tables, factor=st.sampled_from([2, 9]))
def test_metrics_that_the_class_mix_leaves_as_they_are(name, cells, factor):
    tp, fp, fn, tn = cells
    if not ORACLES[name].mixed:
        assert of_cells(name, (tp, factor * fp, fn, factor * tn)) == pytest.approx(of_cells(name, cells), rel=1e-13)


@pytest.mark.parametrize("name", [name for name in ORACLES if ORACLES[name].mixed])
def test_metrics_that_the_class_mix_changes(name):
    assert differ(of_cells(name, (5, 1, 2, 9)), of_cells(name, (5, 2, 2, 18)))


@pytest.mark.parametrize("name", ["auc", *(name for name in VIEW if not VIEW[name].mixed)])
@given(sample=forecasts, factor=st.sampled_from([2, 7]))
def test_curves_that_the_class_mix_leaves_as_they_are(name, sample, factor):
    np.testing.assert_allclose(value(name, weighing(sample, 1, factor)), value(name, sample), rtol=1e-13)


@pytest.mark.parametrize("name", [name for name in VIEW if VIEW[name].mixed])
def test_curves_that_the_class_mix_changes(name):
    assert differ(value(name, EXAMPLE), value(name, weighing(EXAMPLE, 1, 3)))


@pytest.mark.every(4)
@every_metric
@given(cells=tables)
def test_metrics_when_the_classes_swap_roles(name, cells):
    if ORACLES[name].mirror is not None:
        other, change = ORACLES[name].mirror
        assert of_cells(name, cells) == pytest.approx(change(of_cells(other, cells[::-1])), abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("name", [name for name in ORACLES if ORACLES[name].mirror is None])
@pytest.mark.parametrize("change", [same, complement, reciprocal])
def test_metrics_without_a_mirror(name, change):
    some = [(5, 1, 2, 9), (3, 4, 1, 7), (8, 2, 6, 1)]
    for other in METRICS:
        assert any(differ(of_cells(name, cells), change(of_cells(other, cells[::-1]))) for cells in some)


def swapped(sample):
    return Sample(1 - sample.y, -sample.score)


@pytest.mark.parametrize("name", [name for name in VIEW if VIEW[name].mirror is not None])
@given(sample=forecasts)
def test_curves_when_the_classes_swap_roles(name, sample):
    mirrored = np.stack(VIEW[name].mirror(*value(name, sample)))[:, ::-1]
    np.testing.assert_allclose(value(name, swapped(sample)), mirrored, atol=1e-15)


@given(sample=forecasts)
def test_areas_when_classes_or_scores_are_turned_round(sample):
    counts, reverse = sample.counts(), Sample(sample.y, -sample.score).counts()
    for ties, other in (("lower", "upper"), ("half", "half"), ("upper", "lower")):
        assert rs.auc(swapped(sample).counts(), ties=ties) == rs.auc(counts, ties=ties)
        assert reverse.pairs().fraction(ties) == 1 - counts.pairs().fraction(other)


@pytest.mark.every(4)
@every_metric
@given(cells=tables)
def test_ranges(name, cells):
    found = of_cells(name, cells)
    assert np.isnan(found) or ORACLES[name].low <= found <= ORACLES[name].high


@pytest.mark.every(4)
@every_metric
@given(rates=st.tuples(*[st.integers(1, 9)] * 4))
def test_chance(name, rates):
    positive, negative, chosen, left = rates
    guess = (positive * chosen, negative * chosen, positive * left, negative * left)
    if ORACLES[name].chance is not None:
        assert of_cells(name, guess) == pytest.approx(ORACLES[name].chance, abs=1e-14)


@pytest.mark.parametrize("name", [name for name in ORACLES if ORACLES[name].chance is None])
def test_metrics_in_which_a_guess_can_score(name):
    guess = np.outer([3, 1], [1, 4])
    other = np.outer([1, 2], [5, 1])
    values = [of_cells(name, (t[0, 0], t[1, 0], t[0, 1], t[1, 1])) for t in (guess, other)]
    assert differ(*values)


@both_paths
@given(sample=forecasts, context=st.builds(rs.Context, prevalences, costs, costs))
def test_the_least_cost_is_not_above_that_of_any_point(path, sample, context):
    with taking(path):
        curve = rs.roc(sample.counts())
        best = curve.best(context)
    everywhere = context.expected_cost(curve.y, curve.x, sample.y.mean())
    assert context.expected_cost(best.tpr, best.fpr, sample.y.mean()) <= everywhere.min() + 1e-12
