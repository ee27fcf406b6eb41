"""Figures of more than two classes, checked through what is drawn."""

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from rocscope.errors import InputError, OneClassError, ScoreError, ShapeError
from rocscope.plotting.multiclass import (
    _to_plane,
    plot_class_calibrations,
    plot_class_rocs,
    plot_confusion,
    plot_pairwise_auc,
    plot_simplex,
    regions,
)

matplotlib.use("Agg")


def rows_of(n=90, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    proba = rng.dirichlet(np.ones(k), n)
    proba[np.arange(n), y] += 0.4
    return y, proba / proba.sum(axis=1, keepdims=True)


def predictions(k=3):
    y, proba = rows_of(k=k)
    return rs.multiclass.MulticlassPredictions(np.array(list("abcdefgh"))[y], {"one": proba, "two": proba[::-1]})


def test_a_confusion_matrix_shows_counts_and_shades_of_its_shares():
    matrix = predictions().confusion("one")
    for shares, expected in {
        "row": matrix.row_shares,
        "column": matrix.column_shares,
        "none": matrix.counts / matrix.n,
    }.items():
        ax = plot_confusion(matrix, shares=shares)
        np.testing.assert_array_equal(ax.images[0].get_array(), expected)
        assert [text.get_text() for text in ax.texts] == [str(count) for count in matrix.counts.ravel()]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("Actual class", "Predicted class")
    with pytest.raises(InputError, match="'column'"):
        plot_confusion(matrix, shares="rows")


def test_cells_without_a_value_are_empty():
    matrix = rs.multiclass.ConfusionMatrix(
        [[3, 1, 0], [0, 2, 0], [0, 0, 0]], classes=["$a_1$", "b", "_c"], rows="actual"
    )
    ax = plot_confusion(matrix)
    assert np.isnan(np.asarray(ax.images[0].get_array().filled(np.nan))[2]).all()
    ax.figure.canvas.draw()


def test_pairwise_aucs_show_the_matrix():
    auc = rs.multiclass.multiclass_auc(predictions(), model="one")
    ax = plot_pairwise_auc(auc, ax=Figure().subplots())
    np.testing.assert_array_equal(np.ma.filled(ax.images[0].get_array(), np.nan), auc.matrix)
    texts = [text.get_text() for text in ax.texts]
    assert texts[0] == ""
    assert texts[1] == f"{auc.matrix[0, 1]:.3f}"


@pytest.mark.every(4)
@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_each_class_has_its_panel_with_the_curve_of_every_model(k):
    preds = predictions(k)
    figure = plot_class_rocs(preds)
    panels = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert len(panels) == k
    for ax, cls in zip(panels, preds.classes, strict=True):
        binary = preds.binary(cls)
        drawn = {line.get_label(): line.get_xydata() for line in ax.lines if line.get_gid() == "rocscope-curve"}
        for model in preds.models:
            curve = rs.roc(binary.counts(model))
            np.testing.assert_allclose(drawn[model], np.column_stack([curve.x, curve.y]))
            assert f"{curve.auc:.3f}" in ax.get_title(loc="left")
    figure.canvas.draw()


@pytest.mark.parametrize("plot", [plot_class_rocs, plot_class_calibrations])
def test_a_class_without_cases_is_named_and_leaves_no_empty_panel(plot):
    y, proba = rows_of()
    preds = rs.multiclass.MulticlassPredictions(y[y != 1], proba[y != 1], classes=range(3))
    figure = plot(preds, figure=Figure())
    assert [ax.get_title(loc="left")[0] for ax in figure.axes] == ["0", "2", "t"][: len(figure.axes)]
    assert figure.get_supxlabel() == "No cases, or no cases of other classes: 1"
    assert all(ax.lines for ax in figure.axes)
    alone = rs.multiclass.MulticlassPredictions(y[y == 1], proba[y == 1], classes=range(3))
    with pytest.raises(OneClassError, match="cases of two or more classes"):
        plot_class_rocs(alone, figure=Figure())


def test_calibration_of_each_class_is_its_curve_and_band():
    preds = predictions(3).select(models=["one"])
    figure = plot_class_calibrations(preds, method="pav", figure=Figure())
    curves = rs.multiclass.multiclass_calibration_curves(preds, method="pav")
    assert len(figure.axes) == len(curves) == 4
    for ax, curve in zip(figure.axes, curves.values(), strict=True):
        drawn = [line.get_xydata() for line in ax.lines if line.get_gid() == "rocscope-curve"]
        np.testing.assert_allclose(drawn[0], np.column_stack([curve.x, curve.y]))
        assert ax.collections


def test_panels_fill_their_rows_where_they_can():
    widths = {
        k: len({ax.get_subplotspec().colspan.start for ax in plot_class_rocs(predictions(k)).axes})
        for k in (2, 3, 5, 7)
    }
    assert widths == {2: 2, 3: 3, 5: 3, 7: 4}


@pytest.mark.parametrize("columns", [0, False, -1])
def test_the_number_of_columns_is_at_least_1(columns):
    with pytest.raises(InputError, match="columns: expected a whole number"):
        plot_class_rocs(predictions(3), columns=columns, figure=Figure())


def test_no_panel_without_a_model():
    preds = predictions(3)
    with pytest.raises(InputError, match="at least one"):
        plot_class_rocs(preds, models=[])


def test_corners_and_centre_of_the_simplex():
    points = _to_plane([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])
    sides = np.linalg.norm(points[[0, 1, 2]] - points[[1, 2, 0]], axis=1)
    np.testing.assert_allclose(sides, 1)
    np.testing.assert_allclose(np.linalg.norm(points[:3] - points[3], axis=1), 1 / np.sqrt(3))
    with pytest.raises(ShapeError, match="three classes"):
        _to_plane([[0.5, 0.5]])


def test_regions_fill_the_triangle_and_know_who_decides():
    filled = regions(lambda proba: proba.argmax(axis=1), steps=30)
    a, b, c = (filled.points[filled.triangles[:, corner]] for corner in range(3))
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    assert len(area) == 900
    assert area.sum() == pytest.approx(np.sqrt(3) / 4)
    assert np.bincount(filled.decided).tolist() == pytest.approx([300, 300, 300], abs=10)  # ties on the border


def test_the_simplex_shows_rows_by_class_and_the_regions_of_a_decision():
    preds = predictions().select(models=["one"])
    ax = plot_simplex(preds)
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines if not line.get_label().startswith("_")}
    for index, cls in enumerate(preds.classes):
        expected = _to_plane(preds.probabilities()[preds.y_true == index])
        np.testing.assert_allclose(drawn[cls], expected)
    cost = rs.multiclass.CostMatrix([[0, 1, 1], [9, 0, 9], [1, 1, 0]], classes="abc", rows="actual")
    for decision in (cost, rs.multiclass.class_weights(preds), rs.multiclass.class_weights(preds, objective=cost)):
        filled = plot_simplex(preds, decision=decision).collections[0].get_array()
        decide = (
            decision.predict_index
            if isinstance(decision, type(rs.multiclass.class_weights(preds)))
            else decision.decide
        )
        np.testing.assert_array_equal(filled, regions(decide).decided)


def test_many_rows_are_thinned_evenly():
    y, proba = rows_of(n=900)
    ax = plot_simplex(rs.multiclass.MulticlassPredictions(y, proba), max_points=90)
    assert sum(len(line.get_xydata()) for line in ax.lines if not line.get_label().startswith("_")) == 90


def test_the_simplex_needs_three_classes_and_probabilities():
    with pytest.raises(ShapeError, match="three classes"):
        plot_simplex(predictions(4).select(models=["one"]))
    with pytest.raises(ScoreError, match="predicted labels only"):
        plot_simplex(rs.multiclass.MulticlassPredictions([0, 1, 2], decisions=[0, 1, 2]))


def test_panels_of_calibration_show_all_rows_of_all_classes():
    y, proba = rows_of(150)
    # Only the first class has probabilities above a half.
    proba = np.column_stack([proba[:, 0] * 0.9, 0.1 * (1 - proba[:, 0]), 1 - proba[:, 0] * 0.8 - 0.1])
    preds = rs.multiclass.MulticlassPredictions(y, proba, normalize=True)
    figure = plot_class_calibrations(preds, bins=4, figure=Figure())
    low, high = figure.axes[0].get_xlim()
    chance = preds.probabilities()
    assert low <= chance.min() and chance.max() <= high
    assert all(ax.get_xlim() == (low, high) for ax in figure.axes)
