"""What all curves share: points, interpolation, frames, JSON, and which input they take."""

import json
from fractions import Fraction
from math import inf, isnan, nan

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from extremes import BOTH_CLASSES
from rocscope.curves.curve import Curve
from rocscope.errors import InputError, MissingDependencyError, OneClassError
from strategies import both_paths, probabilities, samples, taking, whole_weights

CURVES = {
    "roc": (rs.roc, lambda p: p.fpr, lambda p: p.tpr),
    "det": (rs.det, lambda p: p.fpr, lambda p: 1 - p.tpr),
    "lift_chart": (rs.lift_chart, lambda p: p.depth, lambda p: p.tp),
    "gain": (rs.gain, lambda p: p.depth, lambda p: p.tpr),
    "lift": (rs.lift, lambda p: p.depth, lambda p: p.tpr / p.depth if p.depth else nan),
    "precision_recall": (rs.precision_recall, lambda p: p.tpr, lambda p: p.tp / (p.tp + p.fp) if p.depth else nan),
}
every_curve = pytest.mark.parametrize("name", CURVES)
Y, SCORE = [1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]


@pytest.mark.every(5)
@both_paths
@every_curve
@given(sample=samples(dtype=np.float32, weight=whole_weights))
def test_points(path, name, sample):
    function, x, y = CURVES[name]
    expected = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    with taking(path):
        curve = function(sample.y, sample.score, sample_weight=sample.weight)
        np.testing.assert_allclose(curve.x, [float(x(point)) for point in expected], rtol=1e-15)
        np.testing.assert_allclose(curve.y, [float(y(point)) for point in expected], rtol=1e-15)
    assert curve.threshold.tolist() == [point.threshold for point in expected]


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["roc", "det", "lift_chart", "gain"])
@given(sample=samples(), x=st.fractions(0, 1, max_denominator=12))
def test_at_lies_on_the_straight_lines(name, sample, x):
    function, abscissa, ordinate = CURVES[name]
    points = oracle.points(oracle.rows(sample.y, sample.score))
    curve = function(sample.y, sample.score)
    corners = [(Fraction(float(abscissa(point))), ordinate(point)) for point in points]
    assert curve.at(float(x)) == pytest.approx(float(oracle.height(corners, Fraction(float(x)))), abs=1e-12)
    assert curve.at([float(x), 2.0, -1.0, nan])[0] == curve.at(float(x))
    assert np.isnan(curve.at([2.0, -1.0, nan])).all()


@pytest.mark.every(4)
@every_curve
@given(sample=samples())
def test_at_every_point_of_its_own(name, sample):
    """Of several points of one x the last counts; on the precision–recall curve the first, the highest."""
    curve = CURVES[name][0](sample.y, sample.score)
    first = name == "precision_recall"
    for x in set(curve.x.tolist()) - {0.0}:
        expected = curve.y[curve.x == x][0 if first else -1]
        assert curve.at(x) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", ["roc", "lift_chart", "gain"])
@given(sample=samples(weight=whole_weights))
def test_area(name, sample):
    function, x, y = CURVES[name]
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    curve = function(sample.y, sample.score, sample_weight=sample.weight)
    assert curve.area() == pytest.approx(float(oracle.area([(x(p), y(p)) for p in points])), rel=1e-14)


@every_curve
def test_counts_and_confusion_matrices_are_input_too(name):
    function = CURVES[name][0]
    counts = rs.ThresholdCounts.from_scores(Y, SCORE)
    assert np.array_equal(function(counts).y, function(Y, SCORE).y, equal_nan=True)
    point = counts.at(0.5)
    crisp = function(point)
    assert crisp.threshold.tolist() == [inf, 1, 0]
    assert np.array_equal(crisp.y, function(Y, np.array(SCORE) >= 0.5).y, equal_nan=True)


@every_curve
def test_predictions_of_one_model_are_input_too(name):
    function = CURVES[name][0]
    preds = rs.Predictions(Y, {"a": SCORE}, sample_weight=[1, 2, 1, 1, 2])
    assert np.array_equal(function(preds).y, function(Y, SCORE, sample_weight=[1, 2, 1, 1, 2]).y, equal_nan=True)
    assert list(function(rs.Predictions(Y, {"a": SCORE, "b": SCORE}))) == ["a", "b"]


@every_curve
@pytest.mark.parametrize("option", ["y_score", "pos_label", "sample_weight"])
def test_nothing_beside_counts_is_ignored(name, option):
    counts = rs.ThresholdCounts.from_scores(Y, SCORE)
    for counted in (counts, counts.at(0.5), rs.Predictions(Y, SCORE)):
        kind = type(counted).__name__
        with pytest.raises(InputError, match=rf"^{option}: expected no {option} .* with {kind}, got .*; omit {option}"):
            CURVES[name][0](counted, **{option: [1] * 5})


@every_curve
def test_scores_are_needed(name):
    with pytest.raises(InputError, match=r"^y_score: expected scores as .*, got only a list as y_true; pass"):
        CURVES[name][0](Y)


@every_curve
def test_labels_and_weights_are_options(name):
    function = CURVES[name][0]
    named = function(["b", "b", "a", "b", "a"], SCORE, pos_label="b", sample_weight=[1, 2, 1, 1, 2])
    plain = function([*Y, 1, 0], [*SCORE, 0.6, 0.2])
    assert np.array_equal(named.y, plain.y, equal_nan=True)


@pytest.mark.parametrize(("name", "y"), [(n, y) for n in ("roc", "det") for y in (0, 1)] + [("gain", 0), ("lift", 0)])
def test_one_class_is_not_enough(name, y):
    with pytest.raises(OneClassError, match="among 2 rows"):
        CURVES[name][0]([y, y], [1, 2])


def test_one_class_that_is_enough():
    assert rs.precision_recall([1, 1], [1, 2]).average_precision == 1.0
    assert rs.gain([1, 1], [1, 2]).y.tolist() == [0, 0.5, 1]
    assert rs.lift_chart([0, 0], [1, 2]).y.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "score",
    [
        [5, -(2**63), -(2**63) + 1, -(2**63) + 2],
        [2**63 - 1, 2**63 - 2, 3, 4],
        [2**53 + 1, 2**53, 1, 2],
        [-(2**53) - 1, -(2**53), 1, 2],
    ],
)
def test_thresholds_stay_distinct_beyond_2_to_the_53(score):
    curve = rs.roc([1, 0, 1, 0], np.array(score))
    assert curve.threshold.tolist() == [inf, *sorted(score, reverse=True)]
    assert json.loads(json.dumps(curve.to_dict()))["threshold"] == [None, *sorted(score, reverse=True)]


def test_thresholds_keep_the_type_of_float_scores():
    for dtype in (np.float16, np.float32, np.float64):
        assert rs.roc([1, 0], np.array([0.1, 0.2], dtype)).threshold.dtype == dtype
    assert rs.roc([1, 0], [2**53, 1]).threshold.dtype == np.float64


@every_curve
@pytest.mark.parametrize("table", ["perfect", "uint64 ends", "booleans", "float16 ends"])
def test_json_and_html_of_extremes(name, table):
    curve = CURVES[name][0](BOTH_CLASSES[table].y, BOTH_CLASSES[table].score)
    plain = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert plain["threshold"][0] is None
    assert len(plain[curve.x_name]) == len(plain[curve.y_name]) == curve.x.size
    html = curve._repr_html_()
    assert html.count("<polyline") == 2
    assert f">{curve.title}</text>" in html
    assert ("AUC " in html) == (name == "roc")
    assert "nan" not in html
    assert "\n" not in repr(curve)


@every_curve
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(name, backend):
    curve = CURVES[name][0](Y, SCORE)
    frame = nw.from_native(curve.to_frame(backend), eager_only=True)
    assert frame.implementation is nw.Implementation.from_backend(backend)
    assert frame.columns == [curve.x_name, curve.y_name, "threshold"]
    np.testing.assert_array_equal(frame[curve.y_name].to_numpy(), curve.y)


def test_frames_of_libraries_that_are_not_there(monkeypatch):
    def fail(*args, **kwargs):
        raise ModuleNotFoundError("No module named 'polars'")

    with pytest.raises(InputError, match="expected one of 'pandas', 'polars', 'pyarrow'"):
        rs.roc(Y, SCORE).to_frame("panda")
    monkeypatch.setattr(nw, "from_dict", fail)
    with pytest.raises(MissingDependencyError, match=r"polars to be installed; run pip install 'rocscope\[polars\]'"):
        rs.roc(Y, SCORE).to_frame("polars")


def test_arrays_cannot_be_written():
    curve = rs.roc(Y, SCORE)
    for column in (curve.x, curve.y, curve.threshold):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_a_plain_curve():
    curve = Curve([0.0, 1.0], [2.0, 4.0], [inf, 0.0])
    assert (curve.at(0.5), curve.area(), repr(curve)) == (3.0, 3.0, "Curve(2 points)")
    assert curve.at(1.0) == 4.0
    assert isnan(curve.at(1.1))


@given(sample=samples(score=probabilities, dtype=np.float64))
def test_areas_that_mean_nothing_are_refused(sample):
    for curve in (rs.lift(sample.y, sample.score), rs.calibration_curve(sample.y, sample.score)):
        with pytest.raises(InputError, match="has no meaning"):
            curve.area()
