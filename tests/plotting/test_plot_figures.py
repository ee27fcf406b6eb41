"""Figures in one call: what they show is what the curves say, and nothing covers anything else."""

import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rocscope as rs
from rocscope.calibration.report import plotted_numbers
from rocscope.errors import ColumnError, InputError, OneClassError, ScoreError
from rocscope.geometry import hull
from rocscope.plotting import theme

matplotlib.use("Agg")

HOSTILE = [
    "<script>alert('x')</script>",
    "🚀 rocket 模型",
    "x" * 150 + "A" + "x" * 150,
    "x" * 150 + "B" + "x" * 150,
    "cost $x_1$ in $_",
    "_private",
    "two\nlines {} \\alpha \x07",
    "",
    "عربي",
]


def simulated(names=("a", "b"), n=120, seed=0):
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.4
    y[:2] = 0, 1
    return rs.Predictions(y, {name: (random.random(n) + 0.2 * i * y) / (1 + 0.2 * i) for i, name in enumerate(names)})


PREDICTIONS = simulated()


def lines_on(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def legend_of(owner):
    """Return the first lines of a legend's texts; those below are statistics."""
    return [text.get_text().splitlines()[0] for text in owner.get_texts() if text.get_text()]


def diamond_on(ax):
    (line,) = (line for line in ax.lines if line.get_marker() == "D")
    return line


def circles_on(ax):
    return [line.get_xydata().tolist()[0] for line in ax.lines if line.get_marker() == "o" and line.get_xydata().size]


def iso_line_on(ax):
    (line,) = (line for line in ax.lines if line.get_label() == "iso-performance line")
    return line


@pytest.mark.parametrize("context", [None, rs.Context(cost_fp=1, cost_fn=5), rs.Context(target_prevalence=0.1)])
def test_roc_figure_shows_what_the_curves_say(context):
    marks = {"hull": True, "iso_line": True, "thresholds": [0.5]}
    ax = rs.plotting.plot_roc(PREDICTIONS, context=context, **marks, ax=Figure().subplots())
    curves = {name: rs.roc(PREDICTIONS.counts(name)) for name in PREDICTIONS.models}
    for line, hull_line, curve in zip(
        lines_on(ax, "rocscope-curve"), lines_on(ax, "rocscope-hull"), curves.values(), strict=True
    ):
        assert line.get_xydata().tolist() == np.column_stack([curve.x, curve.y]).tolist()
        hull = curve.hull()
        assert hull_line.get_xydata().tolist() == np.column_stack([hull.x, hull.y]).tolist()
        assert hull_line.get_color() == line.get_color()
    decision = rs.choose(PREDICTIONS, context)
    assert diamond_on(ax).get_xydata().tolist() == [[decision.point.fpr, decision.point.tpr]]
    expected = curves[decision.model].iso_performance_line(context)
    assert iso_line_on(ax).get_slope() == expected.slope
    assert iso_line_on(ax).get_xy1() == (expected.x, expected.y)
    halves = [PREDICTIONS.counts(name).at(0.5) for name in PREDICTIONS.models]
    assert circles_on(ax) == [[point.fpr, point.tpr] for point in halves]
    goal = "best accuracy" if context is None else "lowest cost"
    assert legend_of(ax.get_legend()) == [
        *(f"{name} (AUC {curve.auc:.3f})" for name, curve in curves.items()),
        "convex hull",
        "iso-performance line",
        f"{goal}: {decision.model}, score ≥ {decision.point.threshold_text}",
        "threshold 0.5",
        "chance",
    ]


def test_lift_chart_figure_shows_what_the_charts_say():
    context = rs.Context(cost_fn=3)
    ax = rs.plotting.plot_lift_chart(PREDICTIONS, context=context, iso_line=True, ax=Figure().subplots())
    charts = {name: rs.lift_chart(PREDICTIONS.counts(name)) for name in PREDICTIONS.models}
    for line, chart in zip(lines_on(ax, "rocscope-curve"), charts.values(), strict=True):
        assert line.get_xydata().tolist() == np.column_stack([chart.x, chart.y]).tolist()
    decision = rs.choose(PREDICTIONS, context)
    assert diamond_on(ax).get_xydata().tolist() == [[decision.point.depth, decision.point.tp]]
    assert iso_line_on(ax).get_slope() == charts[decision.model].iso_performance_line(context).slope


@pytest.mark.parametrize("ties", ["lower", "upper"])
def test_steps_of_ties_enclose_the_area_in_the_legend(ties):
    tied = rs.Predictions([1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
    at_ends = {"ties": ties}
    for ax, curve, area in (
        (rs.plotting.plot_roc(tied, ax=Figure().subplots(), **at_ends), rs.roc(tied), rs.auc(tied, ties=ties)),
        (rs.plotting.plot_lift_chart(tied, ax=Figure().subplots(), **at_ends), rs.lift_chart(tied), None),
    ):
        (steps,) = (line for line in ax.lines if line.get_label().startswith("ties as"))
        x, y = steps.get_path().vertices.T
        drawn = np.trapezoid(y, x)
        if area is None:  # for the lift chart, by hand: 0 + 1 + 2 + 2 + 3 or one further, in sixths and a third
            area = {"lower": (0 + 1 + 2 + 2 * 2 + 3) / 6, "upper": (1 + 2 + 2 + 2 * 3 + 3) / 6}[ties]
            assert ties == "upper" or area == pytest.approx(curve.area("step"))
        assert drawn == pytest.approx(area)
        assert f"(area {area:.3g})" in steps.get_label() or f"(area {area:.3f})" in steps.get_label()
        assert (steps.get_label() == f"ties as errors (area {area:.3f})") == (ties == "lower")


def test_other_ties_are_refused():
    with pytest.raises(InputError, match="ties: expected one of 'half', 'lower', 'upper'"):
        rs.plotting.plot_roc(PREDICTIONS, ties="none", ax=Figure().subplots())


def test_at_a_target_prevalence_a_lift_chart_has_the_best_point_without_a_line():
    context = rs.Context(target_prevalence=0.01, cost_fn=50)
    ax = rs.plotting.plot_lift_chart(PREDICTIONS, context=context, iso_line=True, ax=Figure().subplots())
    best = rs.choose(PREDICTIONS, context).point
    assert diamond_on(ax).get_xydata().tolist() == [[best.depth, best.tp]]
    assert "iso-performance line" not in legend_of(ax.get_legend())


def test_calibration_figure_passes_its_bins_on():
    ax = rs.plotting.plot_calibration(PREDICTIONS, bins=4, strategy="quantile", ax=Figure().subplots())
    for line, name in zip(lines_on(ax, "rocscope-curve"), PREDICTIONS.models, strict=True):
        curve = rs.calibration_curve(PREDICTIONS.counts(name), bins=4, strategy="quantile")
        assert line.get_xydata().tolist() == np.column_stack([curve.x, curve.y]).tolist()


def test_several_calibration_curves_lie_over_each_other_above_one_rug():
    ax = rs.plotting.plot_calibration(
        PREDICTIONS, models=["a"], method=["bins", "pav", "loess"], band="consistency", ax=Figure().subplots()
    )
    counts = PREDICTIONS.counts("a")
    for line, method in zip(lines_on(ax, "rocscope-curve"), ("bins", "pav", "loess"), strict=True):
        curve = rs.calibration_curve(counts, method=method)
        assert line.get_xydata() == pytest.approx(np.column_stack([curve.x, curve.y]), nan_ok=True)
    labels = legend_of(ax.get_legend())
    assert {"10 uniform bins", "PAV", "LOESS, span 0.667"} <= set(labels)
    assert "95% pointwise, consistency band of PAV" in " ".join(text_of(ax).split())
    assert sum(artist.get_gid() == "rocscope-rug" for artist in ax.collections) == 2
    assert ax.get_ylim()[1] > 1.05  # the rug is in sight


def test_calibration_curves_of_several_models_and_methods_are_told_apart():
    ax = rs.plotting.plot_calibration(PREDICTIONS, method=("bins", "spline"), ax=Figure().subplots())
    labels = legend_of(ax.get_legend())
    assert [f"{name}, 10 uniform bins" in labels for name in PREDICTIONS.models] == [True] * len(PREDICTIONS.models)
    with pytest.raises(InputError, match="band: expected one of 'confidence', 'consistency', 'none', got 'prediction'"):
        rs.plotting.plot_calibration(PREDICTIONS, band="prediction", ax=Figure().subplots())


@pytest.mark.parametrize(("models", "lanes"), [(1, 2), (3, 6), (4, 0)])
def test_rugs_are_drawn_while_there_is_room(models, lanes):
    ax = rs.plotting.plot_calibration(simulated(tuple("abcd"[:models])), ax=Figure().subplots())
    assert sum(artist.get_gid() == "rocscope-rug" for artist in ax.collections) == lanes


def test_of_many_models_only_the_best_has_its_hull_drawn():
    predictions = simulated(tuple("abcd"))
    ax = rs.plotting.plot_roc(predictions, hull=True, ax=Figure().subplots())
    (line,) = lines_on(ax, "rocscope-hull")
    hull = rs.roc(predictions.counts(rs.choose(predictions).model)).hull()
    assert line.get_xydata().tolist() == np.column_stack([hull.x, hull.y]).tolist()


def test_models_are_drawn_in_the_order_that_is_asked_for():
    ax = rs.plotting.plot_calibration(PREDICTIONS, models=["b", "a"], band="none", ax=Figure().subplots())
    assert legend_of(ax.get_legend())[:2] == ["b", "a"]


def test_counts_of_one_model_need_no_name():
    ax = rs.plotting.plot_roc(PREDICTIONS.counts("a"), ax=Figure().subplots())
    assert legend_of(ax.get_legend())[0].startswith("score (AUC ")


@pytest.mark.parametrize("plot", [rs.plotting.plot_roc, rs.plotting.plot_lift_chart])
def test_by_default_there_are_only_the_curve_the_reference_lines_and_the_best_point(plot):
    ax = plot(PREDICTIONS, models=["a"], ax=Figure().subplots())
    point = rs.choose(PREDICTIONS.counts("a")).point
    guides = ["chance", "perfect"][: len(lines_on(ax, "rocscope-guide"))]
    (curve,) = lines_on(ax, "rocscope-curve")
    drawn = [line for line in ax.lines if len(line.get_xydata())]
    assert drawn == [*lines_on(ax, "rocscope-guide"), curve, diamond_on(ax)]
    assert legend_of(ax.get_legend()) == [curve.get_label(), f"best accuracy: score ≥ {point.threshold_text}", *guides]


def test_roc_curves_of_several_models_have_chance_as_their_only_reference():
    ax = rs.roc(PREDICTIONS).plot(Figure().subplots())
    areas = [rs.auc(PREDICTIONS.counts(name)) for name in PREDICTIONS.models]
    assert legend_of(ax.get_legend()) == [f"a (AUC {areas[0]:.3f})", f"b (AUC {areas[1]:.3f})", "chance"]
    assert len(ax.lines) == 3


LABELLED = {
    "Curves.plot": lambda label: rs.roc(PREDICTIONS).plot(Figure().subplots(), label=label),
    "plot_roc": lambda label: rs.plotting.plot_roc(PREDICTIONS, label=label, ax=Figure().subplots()),
    "plot_lift_chart": lambda label: rs.plotting.plot_lift_chart(PREDICTIONS, label=label, ax=Figure().subplots()),
    "plot_calibration": lambda label: rs.plotting.plot_calibration(PREDICTIONS, label=label, ax=Figure().subplots()),
    "OverTime.plot": lambda label: rs.outcomes.over_time(
        [1, 2, 3, 4, 5, 6] * 5,
        [1, 1, 0, 1, 1, 0] * 5,
        {name: [9, 5, 6, 7, 3, 2] * 5 for name in "ab"},
        [2, 4],
    ).plot(Figure().subplots(), label=label),
}


@pytest.mark.parametrize("plot", LABELLED.values(), ids=LABELLED)
def test_each_model_has_the_label_that_is_passed(plot):
    ax = plot(["first", "second"])
    shown = [entry for entry in legend_of(ax.get_legend()) if entry in ("first", "second", "a", "b")]
    assert shown == ["first", "second"]
    with pytest.raises(InputError, match="label: expected 2 labels, one per model, got 1; pass a list of labels"):
        plot("both")


def test_given_thresholds_are_marked_and_named():
    ax = rs.plotting.plot_roc(PREDICTIONS, models=["a"], thresholds=[0.25, 0.75], ax=Figure().subplots())
    points = [PREDICTIONS.counts("a").at(threshold) for threshold in (0.25, 0.75)]
    assert circles_on(ax) == [[point.fpr, point.tpr] for point in points]
    assert {text.get_text() for text in ax.texts} >= {"0.25", "0.75"}
    assert "given thresholds" in legend_of(ax.get_legend())


def test_each_segment_has_a_panel_with_its_curve_and_the_curve_of_all():
    segment = np.arange(len(PREDICTIONS.y_true)) % 3
    preds = rs.Predictions([*PREDICTIONS.y_true, 1], [*PREDICTIONS.scores["a"], 0.5], segment=[*segment, 3])
    figure = preds.counts(by="segment").plot(Figure(), columns=2)
    together = rs.roc(preds)
    assert len(figure.axes) == 3
    for number, ax in enumerate(figure.axes):
        rows = segment == number
        curve = rs.roc(PREDICTIONS.y_true[rows], PREDICTIONS.scores["a"][rows])
        (line,) = lines_on(ax, "rocscope-curve")
        assert line.get_xydata().tolist() == np.column_stack([curve.x, curve.y]).tolist()
        assert ax.lines[-1].get_xydata().tolist() == np.column_stack([together.x, together.y]).tolist()
        assert ax.get_title(loc="left") == f"{number}: AUC {curve.auc:.3f}"
    assert figure.get_supxlabel() == "Without positives or without negatives: 3"
    with pytest.raises(OneClassError, match="segments: expected a segment with both classes"):
        rs.Predictions([1, 0], [1, 2], segment=[0, 1]).counts(by="segment").plot(Figure())


def test_nobody_positive_is_said_in_words():
    counts = rs.ThresholdCounts.from_scores([0, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5])
    ax = rs.plotting.plot_roc(counts, ax=Figure().subplots())
    assert "best accuracy: nobody positive" in legend_of(ax.get_legend())


@pytest.mark.every(3)
@pytest.mark.parametrize("plot", [rs.plotting.plot_roc, rs.plotting.plot_lift_chart, rs.plotting.plot_calibration])
def test_a_legend_beside_a_new_figure_covers_nothing_and_is_not_cut_off(plot):
    ax = plot(simulated(HOSTILE))
    figure = ax.figure
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 > ax.get_window_extent().x1
    tight = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert tight.x0 >= 0
    assert tight.y0 >= 0
    assert tight.x1 <= width
    assert tight.y1 <= height
    assert ax.get_window_extent().width > 300


def test_a_legend_inside_or_none_when_axes_are_given():
    inside = rs.plotting.plot_roc(PREDICTIONS, ax=Figure().subplots())
    assert inside.get_legend()._loc == 0
    assert rs.plotting.plot_roc(PREDICTIONS, legend="none", ax=Figure().subplots()).get_legend() is None


def test_labels_of_marks_stay_inside_and_apart():
    ax = rs.plotting.plot_roc(PREDICTIONS, models=["b"], thresholds=np.linspace(0.1, 0.9, 17))
    frame = ax.get_window_extent()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 8
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.every(4)
@pytest.mark.parametrize("models", [1, 2, 3, 7])
def test_three_views_are_of_one_size_with_one_legend_below(models):
    predictions = simulated(tuple(f"model {i}" for i in range(models)))
    everything = {"hull": True, "iso_line": True, "thresholds": [0.5]}
    figure = rs.plotting.plot_three(predictions, title="Three views", **everything)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["ROC curve", "Lift chart", "Calibration plot"]
    sizes = [ax.get_window_extent().bounds[1:] for ax in figure.axes]
    assert sizes[1] == pytest.approx(sizes[0], abs=0.5)
    assert sizes[2] == pytest.approx(sizes[0], abs=0.5)
    assert all(len(lines_on(ax, "rocscope-curve")) == models for ax in figure.axes)
    (legend,) = figure.legends
    assert len(legend_of(legend)) == models + 6
    assert legend.get_window_extent().y1 < min(ax.get_tightbbox().y0 for ax in figure.axes)
    tight = figure.get_tightbbox()
    assert tight.x0 >= 0
    assert tight.y0 >= 0
    assert tight.x1 <= figure.get_figwidth()
    assert tight.y1 <= figure.get_figheight()


def test_three_views_of_hostile_names_keep_every_model_apart():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = rs.plotting.plot_three(
            simulated(HOSTILE), title="<b>Costs in $ and $_2</b>", figure=Figure((13, 6), layout="tight")
        )
        figure.draw_without_rendering()
    entries = legend_of(figure.legends[0])
    models = entries[: len(HOSTILE)]
    assert len(set(models)) == len(HOSTILE)
    assert models[0].startswith("<script>alert('x')</script> (AUC ")
    assert models[2].split(" (AUC")[0] + " (2)" == models[3].split(" (AUC")[0]
    assert models[4].startswith(r"cost \$x_1\$ in \$_ (AUC ")
    assert models[5].strip().startswith("_private")
    assert all(len(label) < 60 for label in models)


def test_names_stay_distinct_also_when_they_differ_only_in_case_of_length():
    labels = theme.names(["m" * 40, "m" * 41, "m" * 42])
    assert len(set(labels)) == 3


def test_text_keeps_what_the_fonts_of_the_user_have():
    assert theme.plain("naïve Bayes – λ=½") == "naïve Bayes – λ=½"
    with matplotlib.rc_context({"font.family": ["cmr10"]}):
        assert theme.plain("aλ") in {"a?", "a□"}


def test_five_rows_and_many_rows_make_the_same_figure():
    few = rs.plotting.plot_three(rs.Predictions([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.3, 0.2]), figure=Figure())
    many = rs.plotting.plot_three(simulated(("score",), n=20_000), figure=Figure())
    assert len(few.axes) == len(many.axes) == 3
    for ax in many.axes:
        assert sum(len(line.get_xydata()) for line in ax.lines) < 4_000


def test_a_figure_asks_for_the_hull_of_each_model_once(monkeypatch):
    passes = []
    once = hull._pool_levels
    monkeypatch.setattr(hull, "_pool_levels", lambda levels: passes.append(levels) or once(levels))
    rs.plotting.plot_three(simulated(("a", "b"), n=300), figure=Figure())
    sample = [levels for levels in passes if levels.threshold.size > 100]
    assert len(sample) == 2


@pytest.mark.parametrize(
    "plot", [rs.plotting.plot_roc, rs.plotting.plot_lift_chart, rs.plotting.plot_calibration, rs.plotting.plot_three]
)
def test_models_that_are_not_there_are_named_with_the_closest(plot):
    with pytest.raises(ColumnError, match="expected 'model', got 'modell'"):
        plot({"model": PREDICTIONS.counts("a")}, models=["modell"])
    with pytest.raises(InputError, match="at least one"):
        plot(PREDICTIONS, models=[])
    assert not plt.get_fignums()


def test_what_a_view_needs_is_asked_for_before_anything_is_drawn():
    with pytest.raises(OneClassError):
        rs.plotting.plot_roc(rs.Predictions([1, 1], [0.2, 0.3]))
    with pytest.raises(ScoreError, match="probabilities"):
        rs.plotting.plot_three(rs.Predictions([1, 0], [5.0, 3.0]))
    assert not plt.get_fignums()


def test_a_legend_of_another_place_is_refused():
    with pytest.raises(InputError, match="one of 'inside', 'beside', 'below', 'none'"):
        rs.plotting.plot_roc(PREDICTIONS, legend="outside")
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", sorted(set(rs.plotting.__all__) - {"plot_isometrics"}))  # draws no data
def test_what_cannot_be_drawn_is_refused_in_words(name):
    with pytest.raises(InputError, match=r"expected .*, got an int"):
        getattr(rs.plotting, name)(1)


def text_of(ax):
    return "\n".join(text.get_text() for text in ax.get_legend().get_texts())


def test_statistics_of_calibration_stand_in_the_legend_and_not_on_the_curves():
    ax = rs.plotting.plot_calibration(PREDICTIONS, models=["a"], ax=Figure().subplots())
    numbers = plotted_numbers(PREDICTIONS.counts("a"))
    assert f"O/E {numbers['observed_over_expected']:.2f}, slope {numbers['slope']:.2f}" in text_of(ax)
    assert f"ICI {numbers['ici']:.3f}, Brier {numbers['brier']:.3f}" in text_of(ax)
    assert {text.get_text() for text in ax.texts} == {"positives", "negatives"}
    ax = rs.plotting.plot_calibration(PREDICTIONS, models=["a"], statistics=False, ax=Figure().subplots())
    assert "O/E" not in text_of(ax)


def test_calibration_shows_the_part_of_the_axes_in_which_risks_occur():
    rng = np.random.default_rng(0)
    low, wide = rng.uniform(0, 0.07, 3000), rng.uniform(0, 1, 3000)
    y = rng.random(3000) < low
    ax = rs.plotting.plot_calibration(y, low, ax=Figure().subplots())
    assert [round(end, 4) for end in ax.get_xlim()] == [-0.0016, 0.0816]
    assert ax.get_yticks().tolist() == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    ax = rs.plotting.plot_calibration(y, low, limits=(0, 0.5), ax=Figure().subplots())
    assert ax.get_xlim() == pytest.approx((-0.01, 0.51))
    ax = rs.calibration_curve(y, low).plot(Figure().subplots())
    assert ax.get_xlim()[1] == pytest.approx(0.0816)
    rs.calibration_curve(rng.random(3000) < wide, wide).plot(ax)
    assert ax.get_xlim() == pytest.approx((-0.02, 1.02))
    rugs = [each for each in ax.collections if each.get_gid() == "rocscope-rug"]
    tops = [each.get_transform().transform(each.get_paths()[0].vertices)[:, 1].min() for each in rugs[::2]]
    top = ax.transData.transform((0, 1))[1]
    assert all(top < each < top + 0.2 * ax.bbox.height for each in tops), "the first rug moves with the limits"
    heights = [np.concatenate([part.vertices for part in each.get_paths()])[:, 1] for each in rugs]
    for above, below in zip(heights[::2], heights[1::2], strict=True):
        assert above.min() > 1 and below.max() < 0
        assert below.max() == pytest.approx(1 - above.min()), "ticks of negatives hang down as far from the axes"


def test_a_hull_shows_its_models_and_the_owner_and_threshold_of_its_vertices():
    y = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, 0] * 3)
    models = {"a": np.arange(30.0)[::-1] / 30, "b": (np.arange(30) * 7 % 30) / 30}
    hull = rs.hull(y, models)
    ax = hull.plot(Figure().subplots())
    assert legend_of(ax.get_legend()) == [
        "hull of 2 models", *(f"{name} (AUC {rs.auc(y, scores):.3f})" for name, scores in models.items()), "chance",
    ]  # fmt: skip
    colours = {line.get_label()[0]: line.get_color() for line in ax.lines if line.get_label()[:1] in ("a", "b")}
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [tuple(dot.get_xydata()[0]) for dot in dots] == [(vertex.fpr, vertex.tpr) for vertex in hull.vertices]
    assert [dot.get_color() for dot in dots] == [colours[vertex.model] for vertex in hull.vertices]
    thresholds = {f"{vertex.threshold:.3f}" for vertex in hull.vertices}
    assert 0 < len(ax.texts) <= 8
    assert {text.get_text() for text in ax.texts} <= thresholds


def test_a_campaign_shows_plan_capacity_and_interval():
    campaign = rs.Campaign(population=1000, unit_cost=1, unit_benefit=5, capacity=300)
    plan = rs.plan_campaign(PREDICTIONS, campaign)
    ax = plan.plot(Figure().subplots())
    best = plan.best.best
    marks = [tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "D"]
    assert (best.depth, best.profit) in marks
    assert len(marks) == len(PREDICTIONS.models)
    (capacity,) = [line for line in ax.lines if line.get_label() == "capacity 300"]
    assert capacity.get_xdata()[0] == 0.3
    (interval,) = [line for line in ax.lines if line.get_marker() == "_"]
    assert interval.get_xydata().tolist() == [[best.depth, plan.profit.low], [best.depth, plan.profit.high]]
    assert "95% CI of the plan's profit" in legend_of(ax.get_legend())


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", lambda fpr, tpr, share: share * tpr + (1 - share) * (1 - fpr)),
        ("precision", lambda fpr, tpr, share: share * tpr / (share * tpr + (1 - share) * fpr)),
        ("f1", lambda fpr, tpr, share: 2 * share * tpr / (share * tpr + (1 - share) * fpr + share)),
    ],
)
def test_a_metric_is_constant_along_its_isometrics(metric, value):
    """The lines of these three metrics are straight, so that contours on a grid meet them to its square."""
    ax = rs.plotting.plot_isometrics(metric, target_prevalence=0.2, lines=[0.3, 0.6, 0.8], ax=Figure().subplots())
    (lines,) = ax.collections
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        inside = path.vertices[(path.vertices > 0.02).all(axis=1)]
        assert len(inside) > 20
        assert value(*inside.T, 0.2) == pytest.approx(level, abs=2e-3)


def test_isometrics_belong_to_a_figure_of_one_threshold():
    with pytest.raises(rs.errors.InputError, match="a metric of the whole ranking"):
        rs.plotting.plot_isometrics("auc")
