"""The hull across models: owners, slope ranges, best points, negations, increments."""

from fractions import Fraction
from math import inf

import pytest
from hypothesis import assume, given, strategies as st

import oracle
import rocscope as rs
from model_cases import all_points, cases_of, contexts, several
from rocscope import Context, OperatingPoint, ThresholdCounts
from rocscope.errors import InputError, OneClassError, PairingError
from strategies import both_paths, samples, taking, whole_weights


def rates(point):
    return Fraction(point.fp) / Fraction(point.n_neg), Fraction(point.tp) / Fraction(point.n_pos)


@both_paths
@given(preds=several(weight=whole_weights))
def test_vertices_are_what_gift_wrapping_of_all_points_finds(path, preds):
    with taking(path):
        hull = rs.hull(preds)
    origin, *others = sorted(all_points(preds), key=lambda point: (point.tp + point.fp, point.tp))
    wrapped = oracle.hull([origin, *others])
    assert [(v.point.tp, v.point.fp) for v in hull.vertices] == [(point.tp, point.fp) for point in wrapped]
    assert hull.area() == pytest.approx(float(oracle.roc_area(wrapped)), rel=1e-12)


@given(preds=several(weight=whole_weights))
def test_each_vertex_is_what_its_owner_gives(preds):
    cases = cases_of(preds)
    for vertex in rs.hull(preds).vertices:
        for model in (vertex.model, *vertex.tied):
            points = oracle.points(cases[model])
            assert (vertex.point.tp, vertex.point.fp) in [(point.tp, point.fp) for point in points]
        own = oracle.at(cases[vertex.model], vertex.threshold)
        assert (own.tp, own.fp) == (vertex.point.tp, vertex.point.fp)


@given(preds=several())
def test_zones_tile_the_slopes_and_neighbours_cost_the_same_at_borders(preds):
    hull = rs.hull(preds)
    regions, borders = hull.regions(), hull.slope_ranges.borders
    assert (regions[0].slope_high, regions[-1].slope_low) == (inf, 0)
    for left, right, border in zip(regions, regions[1:], borders, strict=False):
        assert left.slope_low == right.slope_high == float(border)
        (x0, y0), (x1, y1) = rates(left.point), rates(right.point)
        assert border * x0 - y0 == border * x1 - y1
    assert all(region.has_zone for region in regions)
    assert list(borders) == sorted(set(borders), reverse=True)


@given(preds=several(), context=contexts)
def test_best_is_never_beaten_and_stands_in_its_zone(preds, context):
    hull = rs.hull(preds)
    best = hull.best(context)
    share = Fraction(preds.n_pos, preds.n)
    cost = min(oracle.expected_cost(context, point.tpr, point.fpr, share) for point in all_points(preds))
    assert context.exact_cost(best.point) == cost
    assert hull.expected_cost(context) == float(cost)
    assert best.slope_low <= float(oracle.slope(context, share)) <= best.slope_high


@given(preds=several(), context=contexts)
def test_dominated_models_are_never_the_only_best(preds, context):
    hull = rs.hull(preds)
    assert sorted(hull.contenders + hull.dominated) == sorted(preds.models)
    share = Fraction(preds.n_pos, preds.n)

    def least(models):
        points = [point for model in models for point in oracle.points(cases_of(preds)[model])]
        corners = [oracle.Point(inf, 0, 0, preds.n_pos, preds.n_neg), oracle.Point(0, preds.n_pos, preds.n_neg, 0, 0)]
        both = [*points, *(oracle.Point(p.threshold, *map(Fraction, (p.tp, p.fp, p.fn, p.tn))) for p in corners)]
        return min(oracle.expected_cost(context, point.tpr, point.fpr, share) for point in both)

    assert least(hull.contenders) == least(preds.models)


@given(preds=several(weight=whole_weights))
def test_adding_a_model_equals_computing_the_hull_anew(preds):
    first, *others = preds.models
    hull = rs.hull({first: preds.counts(first)})
    for model in others:
        hull = hull.add(model, preds.counts(model))
    assert hull.vertices == rs.hull(preds).vertices
    assert hull.dominated == rs.hull(preds).dominated


@given(sample=samples())
def test_negation_is_the_hull_of_the_reversed_scores(sample):
    hull = rs.hull({"a": sample.counts()}, negate=True)
    reverse = ThresholdCounts.from_scores(sample.y, -sample.score)
    both = rs.hull({"a": sample.counts(), "reversed": reverse})
    assert [(v.point.tp, v.point.fp) for v in hull.vertices] == [(v.point.tp, v.point.fp) for v in both.vertices]
    for vertex in hull.vertices:
        below = sample.score < vertex.threshold
        predicted = below if vertex.negated else ~below
        assert (predicted & (sample.y == 1)).sum() == vertex.point.tp
        assert (predicted & (sample.y == 0)).sum() == vertex.point.fp
        assert vertex.label == ("not a" if vertex.negated else "a")


def test_a_model_below_the_diagonal_is_useful_negated_only():
    wrong = ThresholdCounts.from_scores([0, 0, 1, 1], [4, 3, 2, 1])
    assert rs.hull(wrong).area() == 0.5
    assert rs.hull(wrong).dominated == ["score"]
    negated = rs.hull(wrong, negate=True)
    assert (negated.area(), negated.contenders, negated.best().label) == (1.0, ["score"], "not score")
    decision = rs.choose(negated)
    assert decision.rule == "score < threshold"
    assert decision.predict([4, 3, 2, 1]).tolist() == [False, False, True, True]


@given(cells=st.lists(st.tuples(*[st.integers(1, 9)] * 4), min_size=2, max_size=4))
def test_samples_of_different_size_are_compared_by_their_rates(cells):
    models = {str(i): OperatingPoint(*cell) for i, cell in enumerate(cells)}
    shares = {point.prevalence for point in models.values()}
    hull = rs.hull(models)
    if max(shares) - min(shares) > 1e-9:
        with pytest.raises(PairingError, match=r"expected samples with the same prevalence, .*target_prevalence"):
            hull.best(Context())
    context = Context(target_prevalence=0.25, cost_fn=3)
    corners = [OperatingPoint(0, 0, 1, 1), OperatingPoint(1, 1, 0, 0)]
    cost = min(context.exact_cost(point) for point in [*models.values(), *corners])
    assert context.exact_cost(hull.best(context).point) == cost


def test_mixed_scorers_and_crisp_classifiers():
    scorer = ThresholdCounts.from_scores([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    hull = rs.hull({"scorer": scorer, "crisp": OperatingPoint(tp=2, fp=1, fn=0, tn=2)})
    assert hull.vertices[-2].model == "scorer"
    assert hull.vertices[-2].tied == ("crisp",)
    assert hull.contenders == ["scorer", "crisp"]


@given(preds=several(), data=st.data())
def test_the_region_map_holds_the_best_vertex_of_each_context(preds, data):
    hull = rs.hull(preds)
    ratios = data.draw(st.lists(st.sampled_from([0.01, 0.3, 1, 2.7, 40]), min_size=1, max_size=3))
    prevalences = data.draw(st.lists(st.sampled_from([0.01, 0.2, 0.55, 0.9]), min_size=1, max_size=3))
    drawn = hull.region_map(ratios, prevalences)
    for row, prevalence in enumerate(prevalences):
        for column, ratio in enumerate(ratios):
            context = Context(prevalence, cost_fp=ratio)
            slopes = [float(border) for border in hull.slope_ranges.borders]
            assume(all(abs(context.slope(0.5) / border - 1) > 1e-9 for border in slopes))
            best = hull.best(context)
            assert drawn.model[row, column] == best.label
            assert drawn.threshold[row, column] == best.threshold


def test_borders_of_the_map_cost_the_same_on_both_sides():
    hull = rs.hull(ThresholdCounts([3, 2, 1], [4, 2, 1], [1, 3, 9]))
    drawn = hull.region_map()
    for index in range(len(drawn.vertices) - 1):
        for ratio, prevalence in zip(drawn.cost_ratio[::40], drawn.border(index)[::40], strict=True):
            context = Context(cost_fp=ratio)
            costs = [context.expected_cost(v.tpr, v.fpr, prevalence) for v in drawn.vertices[index : index + 2]]
            assert costs[0] == pytest.approx(costs[1], rel=1e-12)


def test_refusals():
    counts = ThresholdCounts([2, 1], [1, 1], [1, 1])
    with pytest.raises(OneClassError, match="hull of 'a': expected both classes"):
        rs.hull({"a": ThresholdCounts([1], [1], [0])})
    with pytest.raises(InputError, match=r"^models\['a'\]: expected Predictions, .*got a list; for labels"):
        rs.hull({"a": [1, 2]})
    with pytest.raises(InputError, match=r"^y_score: expected scores as the second argument, .*got None"):
        rs.hull([1, 2])
    with pytest.raises(InputError, match="model 'a' is already in the hull; use another name"):
        rs.hull({"a": counts}).add("a", counts)
    with pytest.raises(InputError, match="prevalence: expected shares between 0 and 1"):
        rs.hull(counts).region_map(prevalence=[0, 0.5])
    with pytest.raises(InputError, match="cost_ratio: expected finite ratios above 0"):
        rs.hull(counts).region_map(cost_ratio=[-1])


def test_a_hull_is_a_curve_and_plain_data():
    hull = rs.hull({"<a>": ThresholdCounts([3, 2, 1], [4, 2, 1], [1, 3, 9])})
    assert hull.columns()["model"].tolist() == ["<a>"] * len(hull.vertices)
    assert hull.to_dict()["vertices"][0]["threshold"] is None
    assert "&lt;a&gt;" in hull._repr_html_()
    assert "\n" not in repr(hull)
    assert hull.region_map([1], [0.5]).to_dict()["index"] == [[2]]
