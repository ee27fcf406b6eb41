"""Columns with an index: rows are compared by position, so that two orders are refused, never mixed up."""

import numpy as np
import pandas as pd
import pytest

import rocscope as rs
from rocscope.decisions.prior_shift import partial_lift_chart
from rocscope.errors import PairingError

LABELS = pd.Series([0, 1, 1, 0, 1, 0], index=list("abcdef"))
SCORES = pd.Series([0.1, 0.9, 0.8, 0.3, 0.7, 0.2], index=LABELS.index)
TURNED = SCORES.sort_values()

DOORS = {
    "auc": lambda y, s: rs.auc(y, s),
    "auc_weight": lambda y, s: rs.auc(y, LABELS.to_numpy(), sample_weight=s),
    "roc": lambda y, s: rs.roc(y, s),
    "counts": lambda y, s: rs.ThresholdCounts.from_scores(y, s),
    "predictions": lambda y, s: rs.Predictions(y, s),
    "models": lambda y, s: rs.Predictions(y, {"a": s.to_numpy(), "b": s}),
    "frame": lambda y, s: rs.Predictions(y, s.to_frame("a")),
    "two models": lambda y, s: rs.Predictions(y.to_numpy(), {"a": s.loc[y.index], "b": s}),
    "groups": lambda y, s: rs.Predictions(y, y.to_numpy(), groups=s),
    "columns": lambda y, s: rs.Predictions(y, y.to_numpy(), columns={"amount": s}),
    "calibration_curve": lambda y, s: rs.calibration_curve(y, s),
    "summary of rows": lambda y, s: rs.calibration.brier(y, s),
    "monitor": lambda y, s: rs.monitor("auc").update(y, s),
    "partial labels": lambda y, s: partial_lift_chart(y, s),
    "confusion": lambda y, s: rs.multiclass.ConfusionMatrix.from_labels(y, LABELS.loc[s.index]),
    "classes": lambda y, s: rs.multiclass.MulticlassPredictions(y, {"a": pd.DataFrame({0: 1 - s, 1: s})}),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_indexes_in_another_order_are_refused_with_the_fix(door):
    DOORS[door](LABELS, SCORES)
    with pytest.raises(
        PairingError, match=r"expected the same index as \w+.*got '\w' instead of '\w' in row \d.*to_numpy\(\).*\.loc\["
    ):
        DOORS[door](LABELS, TURNED)


def test_the_fixes_that_the_error_names_give_the_right_figure():
    assert rs.auc(LABELS, TURNED.loc[LABELS.index]) == 1
    assert rs.auc(LABELS.to_numpy(), SCORES) == rs.auc(LABELS, SCORES.to_numpy()) == 1
    assert rs.auc(LABELS.reset_index(drop=True), SCORES.reset_index(drop=True)) == 1


def test_equal_indexes_need_not_be_the_same_object_nor_of_one_type():
    labels, scores = LABELS.set_axis(range(6)), SCORES.set_axis(np.arange(6.0))
    assert rs.auc(labels, scores) == 1
    missing = [np.nan, 1, 2, 3, 4, 5]
    assert rs.auc(LABELS.set_axis(missing), SCORES.set_axis(missing)) == 1


def test_coordinates_of_xarray_are_an_index():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    labels, turned = (xarray.DataArray.from_series(column.rename_axis("id")) for column in (LABELS, TURNED))
    assert rs.auc(labels, turned.sel(id=labels.id)) == 1
    with pytest.raises(PairingError, match="expected the same index as y_true"):
        rs.auc(labels, turned)
    assert rs.auc(xarray.DataArray(LABELS.to_numpy()), xarray.DataArray(SCORES.to_numpy())) == 1


def test_frames_may_have_numbers_as_names_of_columns():
    frame = pd.DataFrame({0: 1 - SCORES, 1: SCORES})
    assert rs.Predictions(LABELS, frame).models == ["0", "1"]
    assert rs.auc(rs.Predictions(LABELS, frame), model="1") == 1
    assert rs.multiclass.MulticlassPredictions(LABELS, frame).classes == (0, 1)
