"""The map of contexts, through what is drawn."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from rocscope import Context, ThresholdCounts
from rocscope.errors import InputError

matplotlib.use("Agg")

MODELS = {
    "sharp": ThresholdCounts([3, 2, 1], [60, 10, 30], [2, 40, 58]),
    "wide": ThresholdCounts([2, 1], [90, 10], [30, 70]),
    "none": ThresholdCounts([2, 1], [10, 90], [20, 80]),
}


def test_a_threshold_is_named_where_it_is_best():
    """By the slope of the iso-performance line there, ratio · (1 − π)/π, which lies between those of its vertex."""
    hull = rs.hull(MODELS)
    ax = rs.plotting.plot_regions(hull, ax=Figure().subplots())
    vertices = {f"score ≥ {each.point.threshold_text}": each for each in hull.region_map().vertices}
    named = [text for text in ax.texts if text.get_gid() == "field" and text.get_text() in vertices]
    assert len(named) >= 2
    for text in named:
        (ratio, prevalence), vertex = text.get_position(), vertices[text.get_text()]
        assert vertex.slope_low < ratio * (1 - prevalence) / prevalence < vertex.slope_high


def test_every_region_has_the_colour_of_the_best_model():
    hull = rs.hull(MODELS)
    ax = rs.plotting.plot_regions(hull, ax=Figure().subplots())
    fields = [each for each in ax.collections if each.get_gid().startswith("region")]
    handles, labels = ax.get_legend_handles_labels()
    assert labels == ["nobody positive", "sharp", "wide", "everybody positive"]
    colour_of = {name: tuple(handle.get_facecolor()[0]) for handle, name in zip(handles, labels, strict=True)}
    for ratio, prevalence in [(0.01, 0.02), (0.5, 0.2), (3, 0.7), (0.02, 0.9), (20, 0.05)]:
        best = hull.best(Context(prevalence, cost_fp=ratio))
        (field,) = (each for each in fields if each.get_paths()[0].contains_point((ratio, prevalence)))
        trivial = {0: "nobody positive", best.point.n: "everybody positive"}
        name = trivial.get(best.point.tp + best.point.fp, best.model)
        assert tuple(field.get_facecolor()[0]) == colour_of[name]


def test_borders_are_where_neighbours_cost_the_same():
    hull = rs.hull(MODELS)
    drawn = hull.region_map(np.logspace(-1, 1, 9), np.linspace(0.1, 0.9, 9))
    ax = rs.plotting.plot_regions(drawn, ax=Figure().subplots())
    borders = [each for each in ax.lines if str(each.get_gid()).startswith("border")]
    assert borders
    for line in borders:
        i = int(line.get_gid().partition("-")[2])
        for ratio, prevalence in zip(*line.get_data(), strict=True):
            if np.ma.is_masked(prevalence):
                continue
            costs = [
                Context(cost_fp=ratio).expected_cost(vertex.tpr, vertex.fpr, prevalence)
                for vertex in drawn.vertices[i : i + 2]
            ]
            assert costs[0] == pytest.approx(costs[1])
    assert (ax.get_xlim(), ax.get_ylim()) == (pytest.approx((0.1, 10)), pytest.approx((0.1, 0.9)))


def test_lines_stay_out_where_thresholds_are_too_many_to_be_told_apart():
    levels = np.arange(400)
    pos, neg = np.exp(-levels / 60) * 1e6, np.exp((levels - 400) / 60) * 1e6
    hull = rs.hull({"fine": ThresholdCounts(400 - levels, pos.astype(int) + 1, neg.astype(int) + 1)})
    ax = rs.plotting.plot_regions(hull, ax=Figure().subplots())
    assert len(hull.vertices) > 300
    assert len([each for each in ax.collections if each.get_gid().startswith("region")]) == 3  # nobody, fine, everybody
    assert len(ax.lines) < 10


def test_hostile_names_and_a_new_figure():
    ax = rs.plotting.plot_regions(rs.hull({"$x_1": MODELS["sharp"], "_b": MODELS["wide"]}))
    ax.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) == 4


@pytest.mark.parametrize("models", [["sharp"], ["sharp", "wide"], ["none", "wide"]])
def test_the_share_to_look_at_is_that_of_the_choice_with_a_review(models):
    hull = rs.hull({model: MODELS[model] for model in models})
    ratio, prevalence = np.array([0.03, 0.4, 1.0, 7.0]), np.array([0.02, 0.3, 0.9])
    for cost in (0, 0.004, 0.1, 0.6):
        looked = hull.region_map(ratio, prevalence, review=rs.Review(cost)).looked
        for (i, share), (j, alarm) in itertools.product(enumerate(prevalence), enumerate(ratio)):
            chosen = rs.choose(hull, Context(share, cost_fp=alarm), review=rs.Review(cost))
            acted = chosen.point.at_prevalence(share).depth
            wider = acted if chosen.review is None else chosen.review.point.at_prevalence(share).depth
            assert looked[i, j] == pytest.approx(wider - acted, abs=1e-12)


def test_where_cases_are_worth_a_look_is_hatched():
    ax = rs.plotting.plot_regions(rs.hull(MODELS), ax=Figure().subplots(), review=rs.Review(0.05))
    assert ax.get_legend_handles_labels()[1][-2:] == ["look closer at some", "at more than 10%"]
    (hatched,) = (each for each in ax.collections if each.get_gid() == "looked")
    looked = rs.hull(MODELS).region_map(review=rs.Review(0.05)).looked
    some, many = hatched.get_paths()
    assert len(some.vertices) and len(many.vertices)
    drawn = rs.hull(MODELS).region_map()
    for i, j in itertools.product(range(5, 121, 20), range(5, 121, 20)):
        place = drawn.cost_ratio[j], drawn.prevalence[i]
        near = looked[i - 1 : i + 2, j - 1 : j + 2]
        if (near > 0.1).all() or (near <= 0.1).all():
            assert many.contains_point(place) == (near > 0.1).all()
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda hull: hull.region_map(review=rs.Review(1, capacity=3)), "review: expected a Review without a capacity"),
        (lambda hull: hull.region_map(review=0.1), "review: expected a Review without a capacity, got 0.1"),
        (
            lambda hull: rs.plotting.plot_regions(hull.region_map(), review=rs.Review(1)),
            "review: expected no review with a RegionMap",
        ),
    ],
)
def test_reviews_that_a_map_cannot_take(call, words):
    with pytest.raises(InputError, match=words):
        call(rs.hull(MODELS))
