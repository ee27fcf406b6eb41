"""Averages over folds: hand computation, the laws that they obey, and what they refuse."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from scipy import stats

import rocscope as rs
from band_cases import CASES, study
from rocscope.errors import InputError, OneClassError, RocscopeWarning, WeightError
from strategies import costly, samples

KINDS = ("roc", "gain", "lift", "precision_recall")
WITH_AREA = ("roc", "gain", "precision_recall")

kinds = st.sampled_from([*KINDS, "lift_chart"])
methods = st.sampled_from(["vertical", "threshold", "pooled"])

# Three folds by hand. a: 9+ 8+ 6− 3+ 2−   b: 7− 6+ 6− 4+ 1−   c: 9+ 5− 5+ 2− (ties 6 in b, 5 in c)
A = [(9, 1), (8, 1), (6, 0), (3, 1), (2, 0)]
B = [(7, 0), (6, 1), (6, 0), (4, 1), (1, 0)]
C = [(9, 1), (5, 0), (5, 1), (2, 0)]
SCORE, LABEL = (np.array(column) for column in zip(*A, *B, *C, strict=True))
FOLD = np.array(["a"] * 5 + ["b"] * 5 + ["c"] * 4)


def three_folds():
    return rs.Predictions(LABEL, SCORE, fold=FOLD)


def copies(sample, folds, weight=None):
    """The same rows in each of several folds."""
    weight = None if weight is None else np.tile(weight, folds)
    fold = np.repeat(np.arange(folds), sample.y.size)
    return rs.Predictions(np.tile(sample.y, folds), np.tile(sample.score, folds), fold=fold, sample_weight=weight)


def fractions(numbers):
    return [Fraction(number).limit_denominator(1000) for number in numbers]


@st.composite
def fold_samples(draw):
    """Two to four folds of different rows, each with both classes."""
    parts = draw(st.lists(samples(most=10), min_size=2, max_size=4))
    y, score = (np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "score"))
    return rs.Predictions(y, score, fold=np.repeat(np.arange(len(parts)), [part.y.size for part in parts]))


def test_vertical_average_by_hand():
    # tpr of a: 2/3 to fpr 1/2, 1 from there on. b: 0 at 0 and 1/3; through the tie to (2/3, 1/2), then 1.
    # c: 1/2 at 0, through the tie to (1/2, 1), then 1.
    x = [Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)]
    a = [Fraction(2, 3), Fraction(2, 3), Fraction(2, 3), Fraction(1), Fraction(1)]
    b = [Fraction(0), Fraction(0), Fraction(0), Fraction(1, 4), Fraction(1)]
    c = [Fraction(1, 2), Fraction(3, 4), Fraction(5, 6), Fraction(1), Fraction(1)]
    expected = [sum(values) / 3 for values in zip(a, b, c, strict=True)]
    assert expected == [Fraction(7, 18), Fraction(17, 36), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
    average = rs.evaluation.average_curve(three_folds())
    places = [float(place) for place in x]
    assert fractions(average.at(places)) == expected
    assert set(fractions(average.x)) == {Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)}
    assert fractions(rs.evaluation.average_curve(three_folds(), grid=places).y) == expected
    spread = stats.tstd([2 / 3, 0, 1 / 2]) / 3**0.5 * stats.t.ppf(0.975, 2)
    assert (average.y[:2].tolist(), average.band.low[1]) == ([0, pytest.approx(7 / 18)], 0)
    assert average.band.high[1] == pytest.approx(min(1, 7 / 18 + spread))
    narrow = rs.evaluation.average_curve(three_folds(), level=0.5).band
    assert narrow.low[1] == pytest.approx(7 / 18 - stats.tstd([2 / 3, 0, 1 / 2]) / 3**0.5 * stats.t.ppf(0.75, 2))


def test_threshold_average_by_hand():
    # At 6: a has tp 2 of 3, fp 1 of 2; b tp 1 of 2, fp 2 of 3; c tp 1 of 2, fp 0 of 2.
    average = rs.evaluation.average_curve(three_folds(), method="threshold")
    assert average.threshold.tolist() == [np.inf, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    at_six = average.threshold.tolist().index(6)
    assert fractions([average.x[at_six], average.y[at_six]]) == [Fraction(7, 18), Fraction(5, 9)]
    at_seven = at_six - 1  # a: 2/3 and 0; b: 0 and 1/3; c: 1/2 and 0
    assert fractions([average.x[at_seven], average.y[at_seven]]) == [Fraction(1, 9), Fraction(7, 18)]
    assert average.at((1 / 9 + 7 / 18) / 2) == pytest.approx((7 / 18 + 5 / 9) / 2)
    some = rs.evaluation.average_curve(three_folds(), method="threshold", grid=[5.5, 6.5])
    assert some.threshold.tolist() == [np.inf, 6.5, 5.5]
    assert fractions(some.x[1:]) == [Fraction(1, 9), Fraction(7, 18)]
    error = stats.sem([1 / 2, 2 / 3, 0]) * stats.t.ppf(0.75, 2)
    assert rs.evaluation.average_curve(three_folds(), method="threshold", level=0.5).x_band.high[
        at_six
    ] == pytest.approx(7 / 18 + error)


def test_average_by_false_positives_by_hand():
    # Just enough rows for 1, 2, 3 false positives. a: 2, 3, then all 3. b: 0, 1 + all of the tie = 1, 2.
    # c: the first one comes with the whole tie of a positive and a negative, so 2 positives; then 2, 2.
    average = rs.evaluation.average_curve(three_folds(), method="false_positives")
    assert average.x.tolist() == [0, 1, 2, 3, 3]
    assert fractions(average.y) == [Fraction(n, 3) for n in (0, 2 + 0 + 2, 3 + 1 + 2, 3 + 2 + 2, 3 + 2 + 2)]
    assert (average.x_name, average.y_name) == ("fp", "tp")
    assert average.areas.mean.value == pytest.approx((5 / 6 + 2.5 / 6 + 3.5 / 4) / 3)


def test_precision_and_lift_are_averaged_by_counts():
    # At recall 3/4 the first fold is between (tp 1, fp 2) and (tp 2, fp 2): tp 3/2, so precision 3/7.
    y, score = [1, 0, 0, 1, 1, 1], [4, 3, 2, 1, 4, 3]
    preds = rs.Predictions(y, score, fold=[1, 1, 1, 1, 2, 2])
    precision = rs.evaluation.average_curve(preds, "precision_recall")
    first = rs.precision_recall(y[:4], score[:4]).at(0.75)
    assert first == pytest.approx(3 / 7)
    assert precision.at(0.75) == pytest.approx((3 / 7 + 1) / 2)
    lift = rs.evaluation.average_curve(
        rs.Predictions([1, 0, 0, 1] * 2, [4, 3, 2, 1] * 2, fold=[1] * 4 + [2] * 4), "lift"
    )
    assert lift.at(3 / 8) == pytest.approx((1 / 2) / (3 / 8))


def test_lift_charts_are_averaged_in_counts():
    # At a depth of 40%: 2 of 5 rows in a and b, 1.6 of 4 in c, whose tie holds one positive in two rows.
    average = rs.evaluation.average_curve(three_folds(), "lift_chart")
    assert average.at(0.4) == pytest.approx(np.mean([2, 1 / 2, 1 + 0.6 / 2]))
    assert average.at(1) == pytest.approx((3 + 2 + 2) / 3)
    charts = [rs.lift_chart(part) for part in three_folds().by_fold().values()]
    assert average.area() == pytest.approx(np.mean([chart.area() for chart in charts]))
    pooled = rs.evaluation.average_curve(three_folds(), "lift_chart", method="pooled")
    assert pooled.at(1) == 7
    gain = rs.evaluation.average_curve(three_folds(), "gain", method="pooled")
    np.testing.assert_allclose(pooled.y, 7 * gain.y)
    # The jackknife by hand at a depth of 1: positives of all rows without one fold, for 14 rows.
    without = 14 * np.array([4 / 9, 5 / 9, 5 / 10])
    error = np.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    assert pooled.band.low[-1] == pytest.approx(max(0, 7 - stats.t.ppf(0.975, 2) * error))
    labels = [line.get_label() for line in average.plot(Figure().subplots()).lines]
    assert "chance" in labels
    assert "perfect" not in labels


def test_threshold_average_of_precision_mixes_all_folds_alike():
    # Thresholds 4 and 1. First fold: (tp, fp) from (1, 0) to (2, 2); second: (1, 0) to (2, 0).
    preds = rs.Predictions([1, 0, 0, 1, 1, 1], [4, 1, 1, 1, 4, 1], fold=[1, 1, 1, 1, 2, 2])
    average = rs.evaluation.average_curve(preds, "precision_recall", method="threshold")
    assert average.x.tolist() == [0, 0.5, 1]
    assert average.at(0.75) == pytest.approx((1.5 / 2.5 + 1) / 2)
    x, y = average.drawn()
    assert y[np.searchsorted(x, 0.75)] == pytest.approx(0.8)


@costly
@given(samples(most=12), kinds, methods)
def test_one_fold_is_its_curve(sample, kind, method):
    curve = getattr(rs, kind)(sample.y, sample.score)
    average = rs.evaluation.average_curve(copies(sample, 1), kind, method=method)
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(average.at(x), curve.at(x), rtol=1e-12, atol=1e-12)
    if method == "threshold":
        assert average.x.tolist() == curve.x.tolist()
        np.testing.assert_array_equal(average.y, curve.y)
    assert average.band is None


@costly
@given(
    samples(most=12), st.integers(2, 4), st.sampled_from(KINDS), st.sampled_from(["vertical", "threshold", "pooled"])
)
def test_identical_folds_give_their_curve_with_a_band_of_no_width(sample, folds, kind, method):
    curve = getattr(rs, kind)(sample.y, sample.score)
    average = rs.evaluation.average_curve(copies(sample, folds), kind, method=method)
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(average.at(x), curve.at(x), rtol=1e-12, atol=1e-12)
    known = ~np.isnan(average.band.low)
    np.testing.assert_allclose(average.band.low[known], average.band.high[known], atol=1e-12)
    assert known.any()


@costly
@given(fold_samples(), st.sampled_from(["roc", "gain"]))
def test_area_under_the_vertical_average_is_the_mean_of_areas(preds, kind):
    average = rs.evaluation.average_curve(preds, kind)
    areas = [getattr(rs, kind)(part).area() for part in preds.by_fold().values()]
    assert average.area() == pytest.approx(np.mean(areas), abs=1e-12)
    assert average.areas.mean.value == pytest.approx(np.mean(areas), abs=1e-12)
    assert average.areas.pooled.value == pytest.approx(getattr(rs, kind)(preds.select(models=["score"])).area())


@costly
@given(fold_samples(), st.sampled_from(KINDS), st.lists(st.floats(0.01, 1), min_size=1, max_size=5))
def test_vertical_average_is_the_mean_of_the_folds_anywhere(preds, kind, x):
    average = rs.evaluation.average_curve(preds, kind)
    values = [getattr(rs, kind)(part).at(x) for part in preds.by_fold().values()]
    np.testing.assert_allclose(average.at(x), np.mean(values, axis=0), rtol=1e-12)


@costly
@given(fold_samples(), st.sampled_from(["vertical", "threshold", "false_positives"]))
def test_every_point_lies_between_those_of_the_folds(preds, method):
    average = rs.evaluation.average_curve(preds, method=method)
    assert (np.diff(average.x) >= 0).all()
    assert (np.diff(average.y) >= -1e-12).all()
    assert (average.band.low <= average.y).all()
    assert (average.y <= average.band.high).all()
    assert (average.folds_at == len(average.folds)).all()


@costly
@given(samples(most=12, weight=st.integers(1, 3)), st.sampled_from(KINDS), st.sampled_from(["vertical", "threshold"]))
def test_weights_are_repeated_rows(sample, kind, method):
    repeated = (np.repeat(column, sample.weight) for column in (sample.y, sample.score, np.arange(sample.y.size) % 1))
    y, score, fold = repeated
    weighted = rs.Predictions(sample.y, sample.score, sample_weight=sample.weight, fold=np.zeros(sample.y.size))
    one, other = (
        rs.evaluation.average_curve(each, kind, method=method)
        for each in (weighted, rs.Predictions(y, score, fold=fold))
    )
    np.testing.assert_allclose(one.y, other.y)


def test_calibration_has_the_same_bins_in_all_folds():
    score = [0.1, 0.3, 0.6, 0.8, 0.2, 0.4, 0.7, 0.9]
    preds = rs.Predictions([0, 1, 0, 1, 0, 0, 1, 1], score, fold=[1, 1, 1, 1, 2, 2, 2, 2])
    by_bin = rs.evaluation.average_curve(preds, "calibration", method="threshold", bins=2)
    assert by_bin.x == pytest.approx([(0.2 + 0.3) / 2, (0.7 + 0.8) / 2])
    assert by_bin.y == pytest.approx([(0.5 + 0) / 2, (0.5 + 1) / 2])
    vertical = rs.evaluation.average_curve(preds, "calibration", bins=2)
    assert vertical.at(0.5) == pytest.approx((0.5 + 0.4) / 2)
    assert vertical.folds_at.tolist() == [1, 2, 2, 1]
    assert by_bin.areas is None
    pooled = rs.evaluation.average_curve(preds, "calibration", method="pooled", bins=2)
    assert pooled.y.tolist() == rs.calibration_curve(preds.y_true, preds.scores["score"], bins=2).y.tolist()


def test_pooled_band_is_the_jackknife_over_folds():
    average = rs.evaluation.average_curve(three_folds(), method="pooled")
    left_out = [rs.roc(three_folds().select(fold != FOLD)).at(average.x) for fold in "abc"]
    error = np.sqrt(2 / 3 * ((left_out - np.mean(left_out, axis=0)) ** 2).sum(axis=0))
    high = average.pooled.at(average.x) + stats.t.ppf(0.975, 2) * error
    np.testing.assert_allclose(average.band.high, np.minimum(high, 1))
    assert average.band.method == "jackknife over folds"


def test_repeats_are_no_new_data():
    once = rs.Predictions(LABEL, SCORE, fold=FOLD, repeat=np.zeros(LABEL.size), row=np.arange(LABEL.size))
    again = {"repeat": np.repeat([0, 1], LABEL.size), "row": np.tile(np.arange(LABEL.size), 2)}
    fold = np.concatenate([FOLD, np.char.add(FOLD, "2")])
    twice = rs.Predictions(np.tile(LABEL, 2), np.tile(SCORE, 2), fold=fold, **again)
    single, double = (rs.evaluation.average_curve(each, level=0.5) for each in (once, twice))
    np.testing.assert_allclose(single.y, double.y)
    width = double.band.high - double.y
    expected = (single.band.high - single.y) * (2 * 2 / 5) ** 0.5  # s² of six folds divides by 5, not by 4
    np.testing.assert_allclose(width, np.minimum(expected, width.max()), atol=1e-12)
    assert "2 repeats as one" in double.band.method
    assert "groups of cases" in rs.evaluation.average_curve(twice, method="pooled").band.method


def test_repeated_holdouts_have_the_corrected_variance():
    # Three holdouts of 4 of 6 cases: s²·(1/3 + (2/3)/(1/3)).
    case = np.array([0, 1, 2, 3, 2, 3, 4, 5, 0, 1, 4, 5])
    label, score = case % 2, np.array([3, 4, 1, 2, 2, 1, 3, 4, 1, 4, 2, 3])
    split = np.repeat([0, 1, 2], 4)
    average = rs.evaluation.average_curve(
        rs.Predictions(label, score, fold=split, repeat=split, row=case), grid=[0.5], level=0.5
    )
    areas = [rs.roc(label[split == k], score[split == k]).at(0.5) for k in range(3)]
    reach = stats.t.ppf(0.75, 2) * np.std(areas, ddof=1) * (1 / 3 + 2) ** 0.5
    assert average.band.low[0] == pytest.approx(max(np.mean(areas) - reach, 0))
    assert "Nadeau & Bengio" in average.band.method
    unnamed = rs.evaluation.average_curve(rs.Predictions(label, score, fold=split, row=case), grid=[0.5], level=0.5)
    assert unnamed.band.low == average.band.low


def test_a_fold_of_one_class_is_named_and_not_lost():
    preds = rs.Predictions([1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 1], fold=["a", "a", "b", "b", "c", "c"])
    with pytest.warns(RocscopeWarning, match="1 of 3 folds have no ROC curve.*fold c: .*no negatives"):
        average = rs.evaluation.average_curve(preds)
    assert list(average.folds) == ["a", "b"]
    assert "no negatives" in average.undefined["c"]
    assert "2 of 3 folds" in repr(average)
    assert average.areas.mean.value == 1
    assert average.areas.pooled.value == rs.auc(preds)
    assert list(rs.evaluation.average_curve(preds, "gain").folds) == ["a", "b", "c"]


pytestmark = pytest.mark.filterwarnings("ignore:AUC:rocscope.errors.RocscopeWarning")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"kind": "det"}, InputError, "^kind: expected one of 'roc'"),
        ({"method": "mean"}, InputError, "one of 'pooled'"),
        ({"kind": "gain", "method": "false_positives"}, InputError, "kind='roc'"),
        ({"method": "pooled", "grid": [0.5]}, InputError, "grid"),
        ({"grid": [np.nan]}, InputError, "finite"),
        ({"level": 95}, InputError, "level"),
        ({"model": "other"}, rs.errors.ColumnError, "score"),
        ({"kind": "calibration"}, rs.errors.ScoreError, "probabilities"),
        ({"kind": "calibration", "strategy": "distinct"}, InputError, "strategy"),
    ],
)
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        rs.evaluation.average_curve(three_folds(), **options)


def test_folds_must_be_there_and_have_curves():
    with pytest.raises(InputError, match="no fold column"):
        rs.evaluation.average_curve(rs.Predictions([1, 0], [2, 1]))
    with pytest.raises(OneClassError, match="no fold has a ROC curve"):
        rs.evaluation.average_curve(rs.Predictions([1, 0], [2, 1], fold=[1, 2]))
    broken = rs.Predictions(LABEL, SCORE, fold=FOLD, sample_weight=np.full(LABEL.size, 0.5))
    with pytest.raises(WeightError, match="expected integer weights"):
        rs.evaluation.average_curve(broken, method="false_positives")


@pytest.mark.parametrize("kind", [*KINDS, "lift_chart", "calibration"])
@pytest.mark.parametrize("method", ["vertical", "threshold", "pooled"])
def test_the_result_is_plain_data_and_a_figure(kind, method):
    score = SCORE / 10
    average = rs.evaluation.average_curve(rs.Predictions(LABEL, score, fold=FOLD), kind, method=method, bins=3)
    data = json.loads(json.dumps(average.to_dict(), allow_nan=False))
    assert set(data["folds"]) == {"a", "b", "c"}
    assert (data["areas"] is not None) == (kind in WITH_AREA)
    assert average.to_frame("polars").columns[-3:] == ["low", "high", "folds"]
    ax = average.plot(Figure().subplots())
    assert sum(line.get_gid() == "rocscope-fold" for line in ax.lines) == 3
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any("3 folds" in label for label in labels)
    assert any("interval" in label or "95%" in label for label in labels)
    if kind == "roc":
        assert any("mean of folds" in label and "pooled" in label for label in labels)
    assert "svg" in average._repr_html_()


def test_a_float32_score_keeps_its_type_and_large_data_are_thinned():
    rng = np.random.default_rng(0)
    score = rng.random(60_000, dtype=np.float32)
    preds = rs.Predictions(rng.random(score.size) < score, score, fold=np.arange(score.size) % 3)
    average = rs.evaluation.average_curve(preds, method="threshold")
    assert average.threshold.dtype == np.float32
    assert average.x.size == 20_001
    vertical = rs.evaluation.average_curve(preds)
    assert vertical.area() == pytest.approx(vertical.areas.mean.value, abs=1e-4)


def test_bands_hold_the_curve_of_a_fixed_model_in_small():
    found = study(CASES["a fixed model, 10 folds of 50"], 12)
    assert min(found.values()) >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_bands_hold_the_true_curve(name):
    found = study(CASES[name], 400)
    print(name, found)
    assert min(found.values()) >= (0.92 if name.startswith("a fixed") else 0.85)
