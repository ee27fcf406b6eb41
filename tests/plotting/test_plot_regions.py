"""The map of contexts, through what is drawn."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rocscope as rs
from rocscope import Context, ThresholdCounts

matplotlib.use("Agg")

MODELS = {
    "sharp": ThresholdCounts([3, 2, 1], [60, 10, 30], [2, 40, 58]),
    "wide": ThresholdCounts([2, 1], [90, 10], [30, 70]),
    "none": ThresholdCounts([2, 1], [10, 90], [20, 80]),
}


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
    for i, line in enumerate(each for each in ax.lines if str(each.get_gid()).startswith("border")):
        for ratio, prevalence in zip(*line.get_data(), strict=True):
            if np.ma.is_masked(prevalence):
                continue
            costs = [
                Context(cost_fp=ratio).expected_cost(vertex.tpr, vertex.fpr, prevalence)
                for vertex in drawn.vertices[i : i + 2]
            ]
            assert costs[0] == pytest.approx(costs[1])
    assert (ax.get_xlim(), ax.get_ylim()) == (pytest.approx((0.1, 10)), pytest.approx((0.1, 0.9)))


def test_hostile_names_and_a_new_figure():
    ax = rs.plotting.plot_regions(rs.hull({"$x_1": MODELS["sharp"], "_b": MODELS["wide"]}))
    ax.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) == 4
    plt.close("all")
