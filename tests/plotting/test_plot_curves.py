"""curve.plot: what is drawn is the curve, on axes that say what it is."""

import subprocess
import sys
from itertools import combinations
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from cycler import cycler
from matplotlib import colors, pyplot as plt
from matplotlib.figure import Figure

import rocscope as rs
from rocscope.core.result import Band
from rocscope.curves.curve import Curve
from rocscope.plotting import theme
from rocscope.plotting.curves import deviate, outline

matplotlib.use("Agg")

Y = np.array([1, 1, 0, 1, 0, 1, 0, 0, 1, 0])
S = np.array([0.95, 0.9, 0.8, 0.7, 0.55, 0.5, 0.5, 0.3, 0.2, 0.1])
MAKERS = [rs.roc, rs.lift_chart, rs.gain, rs.lift, rs.precision_recall, rs.det, rs.calibration_curve]


@pytest.fixture
def ax():
    return Figure().subplots()


def curves_on(ax):
    return [line for line in ax.lines if line.get_gid() == "rocscope-curve"]


def guides_on(ax):
    return {line.get_label(): line.get_xydata().tolist() for line in ax.lines if line.get_gid() == "rocscope-guide"}


@pytest.mark.parametrize("make", MAKERS)
def test_the_line_is_the_curve(make, ax):
    curve = make(Y, S)
    assert curve.plot(ax) is ax
    (line,) = curves_on(ax)
    points = np.column_stack(outline(curve, scale=deviate if make is rs.det else None))
    np.testing.assert_array_equal(line.get_xydata(), points)
    drawn = set(map(tuple, line.get_xydata()))
    assert {point for point in zip(curve.x, curve.y, strict=True) if np.isfinite(point).all()} <= drawn


@pytest.mark.parametrize(
    ("make", "x_label", "y_label"),
    [
        (rs.roc, "False-positive rate (1 − specificity)", "True-positive rate (sensitivity, recall)"),
        (rs.lift_chart, "Rate of positive predictions (share contacted)", "True positives (positives found)"),
        (rs.gain, "Rate of positive predictions (share contacted)", "True-positive rate (sensitivity, recall)"),
        (rs.lift, "Rate of positive predictions (share contacted)", "Lift (precision / prevalence)"),
        (rs.precision_recall, "Recall (true-positive rate)", "Precision (positive predictive value)"),
        (rs.det, "False-positive rate (1 − specificity)", "False-negative rate (miss rate)"),
        (rs.calibration_curve, "Predicted probability", "Observed share of positives"),
    ],
)
def test_axes_are_named_in_the_vocabulary_with_the_synonym(make, x_label, y_label, ax):
    make(Y, S).plot(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x_label, y_label)


@pytest.mark.parametrize(
    ("make", "guides"),
    [
        (rs.roc, {"chance": [[0, 0], [1, 1]]}),
        (rs.lift_chart, {"chance": [[0, 0], [1, 5]], "perfect": [[0, 0], [0.5, 5], [1, 5]]}),
        (rs.gain, {"chance": [[0, 0], [1, 1]], "perfect": [[0, 0], [0.5, 1], [1, 1]]}),
        (rs.lift, {"chance": [[0, 1], [1, 1]]}),
        (rs.precision_recall, {"chance (prevalence 0.5)": [[0, 0.5], [1, 0.5]]}),
        (rs.det, {}),
        (rs.calibration_curve, {"perfect": [[0, 0], [1, 1]]}),
    ],
)
def test_reference_lines_are_drawn_once(make, guides, ax):
    make(Y, S).plot(ax)
    make(Y, S[::-1]).plot(ax)
    assert guides_on(ax) == guides


def test_limits_are_the_natural_ends_with_a_little_margin(ax):
    rs.roc(Y, S).plot(ax)
    assert ax.get_xlim() == ax.get_ylim() == (-0.02, 1.02)
    assert ax.get_box_aspect() == 1


def test_limits_of_counts_grow_with_the_largest_curve(ax):
    rs.lift_chart(Y, S).plot(ax)
    rs.lift_chart(np.tile(Y, 3), np.tile(S, 3)).plot(ax)
    assert ax.get_ylim() == pytest.approx((-0.02 * 15, 1.02 * 15))


def test_det_axes_are_spaced_by_normal_deviates_and_labelled_in_percent(ax):
    counts = rs.ThresholdCounts.from_scores(np.tile(Y, 50), np.tile(S, 50))
    rs.det(counts).plot(ax)
    ax.figure.draw_without_rendering()
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert {"1%", "5%", "20%", "50%", "99%"} <= set(labels)
    transform = ax.xaxis.get_transform()
    assert transform.transform(np.array([0.5, 0.8413447460685429])) == pytest.approx([0, 1])
    assert ax.get_xlim() == (0.5 / counts.n_neg, 0.99)
    assert np.isfinite(ax.transData.transform([(0.0, 1.0), (1.0, 0.0)])).all()


def test_a_calibration_plot_joins_points_and_leaves_gaps_at_empty_bins(ax):
    curve = rs.calibration_curve([0, 1, 0, 1, 1], [0.05, 0.15, 0.55, 0.62, 0.95])
    curve.plot(ax)
    (line,) = curves_on(ax)
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, True, True, False, False, True, True, False]
    assert line.get_marker() == "o"


def rug_lanes(ax):
    return [artist for artist in ax.collections if artist.get_gid() == "rocscope-rug"]


def test_the_rug_has_positives_above_and_negatives_below_in_a_lane_for_each_model(ax):
    rs.calibration_curve(Y, S).plot(ax)
    rs.calibration_curve(Y, S**2).plot(ax)
    first_above, first_below, second_above, second_below = (
        np.array([path.vertices for path in lane.get_paths()]) for lane in rug_lanes(ax)
    )
    assert len(first_above) == len(set(S[Y == 1]))
    middle = np.sort(first_above[:, :4, 0].mean(axis=1))
    assert middle == pytest.approx(np.sort(S[Y == 1]), abs=1 / 200)
    assert first_above[..., 1].min() > 1
    assert first_below[..., 1].max() < 0
    assert second_above[..., 1].min() > first_above[..., 1].max()
    assert second_below[..., 1].max() < first_below[..., 1].min()
    low, high = ax.get_ylim()
    assert low < second_below[..., 1].min()
    assert second_above[..., 1].max() < high
    assert ax.get_yticks().tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_a_rug_has_at_most_one_tick_a_cell_and_shows_a_single_row_among_many(ax):
    random = np.random.default_rng(0)
    score = np.append(random.beta(2, 5, 50_000), 0.999)
    rs.calibration_curve(np.ones(score.size, int), score).plot(ax)
    above, below = rug_lanes(ax)
    heights = [np.ptp(path.vertices[:, 1]) for path in above.get_paths()]
    assert len(heights) <= 200
    assert not below.get_paths()
    assert min(heights) >= 0.25 * max(heights)
    assert max(heights) > min(heights)


def test_a_band_is_a_fill_whose_method_the_legend_names(ax):
    band = Band([0, 0.5, 1], [0.1, 0.3, 0.8], [0.4, 0.9, 1], level=0.9, method="bootstrap", simultaneous=True)
    rs.roc(Y, S).plot(ax, band=band, label="model")
    (fill,) = ax.collections
    corners = set(map(tuple, fill.get_paths()[0].vertices))
    assert {(0.0, 0.1), (0.5, 0.9), (1.0, 0.8)} <= corners
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["model", "90% simultaneous, bootstrap", "chance"]


def test_a_legend_names_the_area_of_a_roc_curve_and_every_reference_line(ax):
    named = rs.gain(Y, S).plot(Figure().subplots()).get_legend().get_texts()
    assert [text.get_text() for text in named] == ["chance", "perfect"]
    assert rs.lift(Y, S).plot(Figure().subplots()).get_legend().get_texts()[0].get_text() == "chance"
    (text, _) = rs.roc(Y, S).plot(ax).get_legend().get_texts()
    assert text.get_text() == f"AUC {rs.auc(Y, S):.3f}"
    assert rs.roc(Y, S).plot(Figure().subplots(), label="mine").get_legend().get_texts()[0].get_text() == "mine"


def test_keywords_go_to_the_line_by_any_of_their_names(ax):
    rs.roc(Y, S).plot(ax, c="red", ls=":", lw=4, zorder=9)
    (line,) = curves_on(ax)
    look = (line.get_color(), line.get_linestyle(), line.get_linewidth(), line.get_zorder())
    assert look == ("red", ":", 4, 9)


def test_a_legend_of_calibration_plots_stays_off_the_rug(ax):
    rs.calibration_curve(Y, S).plot(ax, label="model")
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent().transformed(ax.transData.inverted())
    assert box.y0 > -0.01
    assert box.y1 < 1.01


def test_a_curve_without_a_style_gets_axes_named_after_its_columns(ax):
    Curve([0, 1, 2], [3, 5, 4], [np.inf, 1, 0]).plot(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("X", "Y")
    assert curves_on(ax)[0].get_xydata().tolist() == [[0, 3], [1, 5], [2, 4]]


def test_without_axes_pyplot_gets_a_new_figure():
    ax = rs.roc(Y, S).plot()
    assert plt.get_fignums() == [ax.figure.number]


@pytest.mark.slow(reason="what starts other programs")
def test_settings_stay_and_pyplot_stays_out_when_axes_are_given():
    script = (
        "import sys, rocscope as rs, matplotlib;"
        "from matplotlib.figure import Figure;"
        "before = matplotlib.rcParams.copy();"
        "from rocscope.plotting import svg;"
        "svg(rs.plotting.plot_roc(rs.Predictions([1, 0, 1], [.9, .5, .2]), ax=Figure().subplots()));"
        "svg(rs.plotting.plot_three(rs.Predictions([1, 0, 1], [.9, .5, .2]), figure=Figure()));"
        "assert matplotlib.rcParams.copy() == before;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_rocscope_loads_no_matplotlib():
    script = "import sys, rocscope; rocscope.roc([1, 0], [2, 1]); assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("style", "paper"), [("default", "#ffffff"), ("dark_background", "#000000")])
def test_every_colour_has_a_contrast_on_the_paper_of_the_style(style, paper):
    with plt.style.context(style):
        palette = theme.palette()
    for colour in (*palette.hues, palette.muted, palette.ink):
        light, dark = sorted([luminance(colors.to_hex(colour)), luminance(paper)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


SEEN_WITHOUT = {  # Machado, Oliveira & Fernandes 2009, table 1, of severity 1
    "red cones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green cones": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue cones": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "nothing": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


def cielab(colour, matrix):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.array(XYZ) @ (np.array(matrix) @ linear).clip(0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(seen > 216 / 24389, np.cbrt(seen), (24389 / 27 * seen + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
@pytest.mark.parametrize("lacking", SEEN_WITHOUT)
def test_hues_are_apart_for_the_colour_blind(colours, lacking):
    seen = [cielab(hue, SEEN_WITHOUT[lacking]) for hue in colours.hues]
    least = min(np.linalg.norm(one - other) for one, other in combinations(seen, 2))
    assert least >= (22 if lacking == "nothing" else 13)


def test_twenty_five_models_have_looks_of_their_own_and_five_differ_without_colour():
    looks = [theme.line_look(i) for i in range(25)]
    assert len({(look["color"], look["linestyle"]) for look in looks}) == 25
    assert len({look["linestyle"] for look in looks[:5]}) == 5


STYLES = {
    "grayscale": ["#000000", "#666666", "#999999", "#b2b2b2"],  # its cycle is 0, .4, .6 and .7 of white
    "dark_background": ["#8dd3c7", "#feffb3", "#bfbbd9", "#fa8174"],
    "ggplot": ["#e24a33", "#348abd", "#988ed5", "#777777"],
}


@pytest.mark.parametrize("style", STYLES)
def test_lines_have_the_colours_of_the_style_sheet(style):
    scores = {name: [0.9, 0.8, 0.3, 0.1 * place] for place, name in enumerate("abcd", 1)}
    with plt.style.context(style):
        ax = rs.roc(rs.Predictions([1, 0, 1, 0], scores)).plot(Figure().subplots())
        text = colors.to_hex(plt.rcParams["text.color"])
        known = text != colors.to_hex(plt.rcParamsDefault["text.color"])
        ink = text if known else theme.LIGHT.ink
        assert [gridline.get_color() for gridline in ax.xaxis.get_gridlines()[:1]] == [theme.palette().grid]
    curves = [line for line in ax.lines if line.get_gid() == theme.CURVE]
    assert [line.get_color() for line in curves] == STYLES[style]
    assert len({line.get_linestyle() for line in curves} | {str(line._dash_pattern) for line in curves}) > 3
    assert {colors.to_hex(text.get_color()) for text in ax.get_legend().get_texts()} == {ink}


def test_lines_follow_a_cycle_and_a_width_of_the_user(ax):
    own = {"axes.prop_cycle": cycler(color=["red", "blue"], linestyle=["-", ":"]), "lines.linewidth": 3}
    with matplotlib.rc_context(own):
        looks = [theme.line_look(i) for i in range(3)]
    red, blue = ("#ff0000", "-"), ("#0000ff", ":")
    assert [(look["color"], look["linestyle"]) for look in looks] == [red, blue, red]
    assert {look["linewidth"] for look in looks} == {3}


def test_lines_of_a_short_cycle_of_colours_differ_by_their_dashes():
    with matplotlib.rc_context({"axes.prop_cycle": cycler(color=["red", "blue", "green", "black"])}):
        looks = {(look["color"], look["linestyle"]) for look in (theme.line_look(i) for i in range(20))}
    assert len(looks) == 20


def test_a_long_name_of_a_band_takes_several_lines(ax):
    method = "consistency band of 10 uniform bins, 999 draws"
    rs.calibration_curve(Y, S).plot(ax, band=Band([0, 1], [0, 0], [1, 1], level=0.95, method=method), label="model")
    label = ax.get_legend().get_texts()[1].get_text()
    assert label.split() == f"95% pointwise, {method}".split()
    assert max(map(len, label.splitlines())) <= 36


class ProfitCurve(Curve):
    """Stands in for any curve that brings its own reference lines."""

    x_name, y_name = "depth", "profit"
    random = Curve([0, 1], [-5, -20], [np.nan, np.nan])
    perfect = Curve([0, 0.4, 1], [-5, 40, -20], [np.nan, np.nan, np.nan])
    campaign = rs.Campaign(population=100, unit_cost=1, unit_benefit=2)

    def best(self):
        return SimpleNamespace(depth=0.5, profit=30, size=50)


def test_reference_curves_of_a_curve_are_drawn_under_its_style(ax):
    ProfitCurve([0, 0.5, 1], [-5, 30, -20], [np.inf, 0.5, 0.1]).plot(ax)
    assert guides_on(ax) == {"chance": [[0, -5], [1, -20]], "perfect": [[0, -5], [0.4, 40], [1, -20]]}
    assert ax.get_ylabel() == "Profit"
    assert ax.get_ylim()[0] < -20


class NetBenefitCurve(Curve):
    """Stands in for a decision curve, which falls without end."""

    x_name, y_name = "threshold_probability", "net_benefit"
    standardized, prevalence = False, 0.3
    treat_all = Curve([0, 0.99], [0.3, -70], [-np.inf, -np.inf])
    treat_none = Curve([0, 1], [0, 0], [np.inf, np.inf])


def test_a_decision_curve_shows_the_part_that_matters(ax):
    x = np.linspace(0, 0.999, 5000)
    curve = NetBenefitCurve(x, 0.3 - 0.1 * x / (1 - x), x)
    curve.plot(ax)
    assert ax.get_ylim() == pytest.approx((-0.045, 0.315))
    (line,) = curves_on(ax)
    seen = line.get_xydata()[line.get_ydata() > -0.2]
    assert len(seen) > 50
    shown = x[curve.y > -0.045]
    assert np.interp(shown, *seen.T) == pytest.approx(0.3 - 0.1 * shown / (1 - shown), abs=2e-4)
