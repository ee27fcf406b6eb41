"""SegmentedCounts: the answers for all segments are those of a loop over the rows of each, to the last bit."""

from dataclasses import replace
from fractions import Fraction
from math import fsum, isnan, nan
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.core.context import nearest
from rocscope.errors import ColumnError, InputError, OneClassError, ScoreError, WeightError
from rocscope.geometry.hull import best_point
from rocscope.segments import SegmentedCounts
from rocscope.segments.by_segment import of_segments
from rocscope.segments.levels import CountedSegments, SegmentLevels
from strategies import DTYPES, both_paths, float_weights, probabilities, samples, taking, whole_weights

COLUMNS = {
    "numbers": lambda names: np.array(names) - 3,
    "text": lambda names: np.array([f"user {name}" for name in names]),
    "objects": lambda names: np.array([f"ü{name}" for name in names], object),
    "far apart": lambda names: np.array(names, np.int64) * 2**60,
    "mixed": lambda names: np.array([name if name % 2 else f"u{name}" for name in names] + [None], object)[:-1],
    "one row a segment": lambda names: np.arange(len(names))[::-1],
    "dates": lambda names: np.datetime64("2026-01-01") + np.array(names),
}
CELLS = ("tp", "fp", "fn", "tn")


@st.composite
def drawn_rows(draw, **options):
    """Draw rows with a segment each, as Predictions."""
    sample = draw(samples(one_class=True, **options))
    names = draw(st.lists(st.integers(0, 5), min_size=sample.y.size, max_size=sample.y.size))
    segment = draw(st.sampled_from(sorted(COLUMNS)).map(COLUMNS.get))(names)
    weight = sample.weight
    if weight is not None:
        heaviest = [weight[segment == name].max() for name in segment]
        sample = replace(sample, weight=np.where(np.array(heaviest) > 0, weight, 2))
    return rs.Predictions(sample.y, sample.score, sample_weight=sample.weight, segment=segment)


def one_by_one(preds, function, needs=("n_pos", "n_neg")):
    """What a function says of the rows of each segment, found row by row; NaN where classes are missing."""
    values = []
    for name in preds.by_segment():
        mask = np.array([each == name for each in preds.segment.tolist()])
        if preds.segment.dtype.kind == "M":
            mask = preds.segment == name
        weight = None if preds.sample_weight is None else preds.sample_weight[mask]
        counts = rs.ThresholdCounts.from_scores(preds.y_true[mask], preds.scores["score"][mask], sample_weight=weight)
        values.append(function(counts) if all(getattr(counts, each) for each in needs) else nan)
    return np.array(values, np.float64)


def assert_same(found, expected):
    np.testing.assert_array_equal(np.asarray(found, np.float64), expected, strict=True)


MEASURES = {
    "auc": (lambda segmented: segmented.auc(), rs.auc, ("n_pos", "n_neg")),
    "auc, lower": (lambda segmented: segmented.auc("lower"), lambda c: rs.auc(c, ties="lower"), ("n_pos", "n_neg")),
    "ks": (lambda segmented: segmented.ks(), lambda c: rs.roc(c).ks, ("n_pos", "n_neg")),
    "average precision": (
        lambda segmented: segmented.average_precision(),
        lambda c: rs.precision_recall(c).average_precision,
        ("n_pos",),
    ),
    "n_pos": (lambda segmented: segmented.n_pos, lambda c: c.n_pos, ()),
}


@pytest.mark.every(2)
@both_paths
@given(preds=drawn_rows(score=st.integers(0, 3)) | drawn_rows(weight=whole_weights) | drawn_rows(weight=float_weights))
def test_answers_are_those_of_a_loop_to_the_last_bit(path, preds):
    with taking(path):
        segmented = preds.counts(by="segment")
        for ask, function, needs in MEASURES.values():
            assert_same(ask(segmented), one_by_one(preds, function, needs))


@pytest.mark.every(2)
@both_paths
@given(dtype=st.sampled_from(DTYPES), data=st.data())
def test_every_type_of_score(path, dtype, data):
    low = 0 if "u" in dtype or dtype == "bool" else -4
    preds = data.draw(drawn_rows(score=st.integers(low, 4), dtype=dtype))
    with taking(path):
        segmented = preds.counts(by="segment")
        assert_same(segmented.auc(), one_by_one(preds, rs.auc))
        for name, part in preds.by_segment().items():
            assert segmented[name] == part.counts()
            assert segmented[name].threshold.dtype == part.counts().threshold.dtype


@both_paths
@given(preds=drawn_rows(score=probabilities, dtype=np.float64) | drawn_rows(score=probabilities, dtype=np.float32))
def test_calibration_of_every_segment(path, preds):
    with taking(path):
        segmented = preds.counts(by="segment")
        assert_same(segmented.brier(), one_by_one(preds, rs.calibration.brier, ()))
        expected = [
            sum(Fraction(score.item()) for score in part.scores["score"]) for part in preds.by_segment().values()
        ]
        for ratio, total, n_pos in zip(segmented.observed_over_expected(), expected, segmented.n_pos, strict=True):
            assert isnan(ratio) if total == 0 else ratio == pytest.approx(float(n_pos / total), rel=1e-14)


@both_paths
@given(
    preds=drawn_rows() | drawn_rows(weight=float_weights) | drawn_rows(score=st.integers(-128, 127), dtype="int8"),
    threshold=st.sampled_from([-1e300, -129, -4, -0.5, 0, -0.0, 1, 1 + 1e-12, 3, 127, 127.5, 1e300]),
)
def test_cells_at_a_threshold(path, preds, threshold):
    with taking(path):
        found = preds.counts(by="segment").at(threshold)
        for cell in CELLS:
            assert_same(found[cell], one_by_one(preds, lambda c: getattr(c.at(threshold), cell), ()))  # noqa: B023


CONTEXTS = [
    None,
    rs.Context(),
    rs.Context(cost_fn=3.7, cost_fp=0.1),
    rs.Context(cost_fp=0),
    rs.Context(cost_fn=0),
    rs.Context(cost_fp=-1, cost_fn=0),
    rs.Context(cost_fp=-1, cost_fn=1, cost_tp=-2),
    rs.Context(0.3, cost_fn=1, cost_fp=2),
    rs.Context(1 / 3, cost_fn=1 / 7, cost_fp=1e-9, cost_tp=-0.25, cost_tn=1e5),
    rs.Context(cost_fp=1, cost_fn=1, cost_tp=1, cost_tn=1),
    rs.Context(cost_fp=1e-300, cost_fn=1e300),
    rs.Campaign(population=100, unit_cost=1, unit_benefit=5),
]


@pytest.mark.every(2)
@both_paths
@given(
    preds=drawn_rows() | drawn_rows(weight=float_weights) | drawn_rows(score=st.integers(-2, 2), dtype="int64"),
    context=st.sampled_from(CONTEXTS),
)
def test_the_cheapest_threshold_of_every_segment(path, preds, context):
    given = rs.Context.given(context)

    def of(name):
        def value(counts):
            point = best_point(counts, given)
            return nearest(given.exact_cost(point)) if name == "cost" else getattr(point, name)

        return value

    with taking(path):
        found = preds.counts(by="segment").best(context)
        for name, column in found.items():
            assert_same(column, one_by_one(preds, of(name)))


@both_paths
@given(
    preds=drawn_rows(score=st.integers(0, 3)) | drawn_rows(weight=float_weights) | drawn_rows(dtype="float32"),
    context=st.sampled_from([rs.Context(), rs.Context(cost_fn=3), rs.Campaign(100, 1, 3)]),
    capacity=st.none() | st.integers(0, 20),
    bounds=st.sampled_from([None, None, {"depth": 0.5}]),
)
def test_one_budget_is_spread_as_over_the_counts_of_each(path, preds, context, capacity, bounds):
    asked = {"capacity": capacity, "max_difference": bounds}
    with taking(path), mock.patch("rocscope.segments.levels._ROWS_AT_ONCE", 3):
        segmented = preds.counts(by="segment")
        found = rs.allocate(segmented, context, **asked).to_dict()
        assert found == rs.allocate(dict(segmented), context, **asked).to_dict()


def test_thresholds_that_floats_would_round_stay_whole():
    preds = rs.Predictions([1, 0, 1, 0], [2**60 + 1, 2**60, 3, 4], segment=[1, 1, 2, 2])
    assert preds.counts(by="segment").best()["threshold"].tolist() == [2**60 + 1, np.inf]


@both_paths
def test_auc_against_pairs(path):
    rng = np.random.default_rng(3)
    y, score, user = rng.integers(0, 2, 300), rng.integers(0, 9, 300), rng.integers(0, 40, 300)
    with taking(path):
        found = rs.Predictions(y, score, segment=user).counts(by="segment").auc()
    for name, value in zip(np.unique(user), found, strict=True):
        pos, neg = (score[(user == name) & (y == label)] for label in (1, 0))
        right = sum(Fraction(int(a > b) * 2 + int(a == b), 2) for a in pos for b in neg)
        assert isnan(value) if not pos.size * neg.size else value == float(right / (pos.size * neg.size))


@both_paths
@given(preds=drawn_rows(score=st.integers(0, 3)))
def test_segments_that_were_counted_apart_answer_alike(path, preds):
    with taking(path):
        whole = preds.counts(by="segment")
        apart = of_segments({name: {"score": counts} for name, counts in whole.items()}, None)
        assert isinstance(apart._rows, SegmentLevels) or path != "small"
        for ask in ("auc", "ks", "average_precision"):
            assert_same(getattr(apart, ask)(), getattr(whole, ask)())
        assert all(apart[name] == whole[name] for name in whole)
        assert apart.pooled() == whole.pooled()


@both_paths
@given(
    preds=drawn_rows(score=st.integers(0, 3)) | drawn_rows(weight=float_weights),
    counted=st.sampled_from(["rows", "sums", "parts"]),
    data=st.data(),
)
def test_some_of_the_segments_are_those_of_their_rows(path, preds, counted, data):
    with taking(path):
        segmented = preds.counts(by="segment")
        kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(segmented), max_size=len(segmented))))
        if counted != "rows":
            by_name = {name: {"score": counts} for name, counts in segmented.items()}
            segmented = (
                of_segments(by_name, None)
                if counted == "sums"
                else SegmentedCounts(segmented.names, CountedSegments(list(segmented.values())))
            )
        if not kept.any():
            with pytest.raises(InputError, match=r"kept: expected .* booleans, at least one of them True"):
                segmented.select(kept)
            return
        some = segmented.select(kept)
        assert list(some) == [name for name, chosen in zip(segmented, kept, strict=True) if chosen]
        assert all(some[name] == segmented[name] for name in some)
        assert_same(some.auc(), segmented.auc()[kept])
        assert_same(some.n_pos, segmented.n_pos[kept].astype(float))
        assert some.pooled() == sum(list(some.values())[1:], next(iter(some.values())))


def test_many_blocks_of_segments(monkeypatch):
    monkeypatch.setattr("rocscope.segments.levels._ROWS_AT_ONCE", 7)
    rng = np.random.default_rng(5)
    preds = rs.Predictions(
        rng.integers(0, 2, 200), rng.integers(0, 5, 200), segment=rng.integers(0, 60, 200) ** 2 // 60
    )
    assert_same(preds.counts(by="segment").auc(), one_by_one(preds, rs.auc))


def test_sums_of_a_large_segment_are_those_of_its_own_counts():
    rng = np.random.default_rng(7)
    n = 60_000
    preds = rs.Predictions(rng.random(n) < 0.3, rng.random(n), segment=np.arange(n) < 55_000)
    segmented = preds.counts(by="segment")
    parts = preds.by_segment().values()
    assert_same(segmented.average_precision(), [rs.precision_recall(part).average_precision for part in parts])
    assert_same(segmented.brier(), [rs.calibration.brier(part) for part in parts])


@both_paths
@given(preds=drawn_rows(weight=st.just(2)) | drawn_rows())
def test_parts_are_the_rows_that_masks_find(path, preds):
    with taking(path):
        for name, part in preds.by_segment().items():
            mask = np.array([each == name for each in preds.segment.tolist()])
            if preds.segment.dtype.kind == "M":
                mask = preds.segment == name
            own = preds.select(mask)
            for column in ("y_true", "segment", "sample_weight"):
                np.testing.assert_array_equal(getattr(part, column), getattr(own, column))
            np.testing.assert_array_equal(part.scores["score"], own.scores["score"])


def test_weights_of_segments_are_summed_without_loss_whatever_the_scores_are():
    rng = np.random.default_rng(3)
    y, segment, weight = rng.random(4000) < 0.4, rng.integers(0, 30, 4000), 10 ** rng.uniform(-9, 0, 4000)
    preds = rs.Predictions(y, {"a": rng.integers(0, 9, 4000), "b": y}, segment=segment, sample_weight=weight)
    for model in "ab":
        segmented = preds.counts(model, by="segment")
        for own, found in ((y, segmented.n_pos), (~y, segmented.n_neg)):
            assert found.tolist() == [fsum(weight[own & (segment == g)].tolist()) for g in range(30)]
    assert rs.segments.compare_segments(preds)["a", "b"].difference.n == 30


def test_as_many_segments_as_a_byte_tells():
    preds = rs.Predictions(np.tile([0, 1], 256), np.arange(512), segment=np.arange(256, dtype=np.uint8).repeat(2))
    assert [part.scores["score"].tolist() for part in preds.by_segment().values()] == np.arange(512).reshape(
        -1, 2
    ).tolist()
    assert preds.counts(by="segment").n.tolist() == [2] * 256


def test_a_mapping_of_what_is_made_when_asked_for():
    preds = rs.Predictions([1, 0, 1], {"a": [3, 2, 1], "b": [1, 2, 3]}, segment=["x", "x", "y"])
    segmented, parts = preds.counts("b", by="segment"), preds.by_segment()
    for found in (segmented, parts):
        assert (list(found), len(found), "x" in found, "z" in found) == (["x", "y"], 2, True, False)
        with pytest.raises(KeyError, match="z"):
            found["z"]
    assert parts["x"].models == ["a", "b"]
    assert segmented["x"] == parts["x"].counts("b")
    assert segmented.to_dict()["n_pos"] == [1, 1]
    assert segmented.to_frame("pyarrow").column("auc").to_pylist()[0] == 0


def test_mean_auc_by_hand():
    """Three users: 2 rows of AUC 1, 3 of AUC 1/2, 4 (3 positives) of AUC 2/3; one of one class."""
    user = np.repeat(["a", "b", "c", "d"], [2, 3, 4, 2])
    y = [1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1]
    score = [2, 1, 3, 2, 1, 4, 3, 2, 1, 1, 2]
    segmented = rs.Predictions(y, score, segment=user).counts(by="segment")
    assert segmented.mean_auc("n").value == pytest.approx(float((2 + Fraction(3, 2) + Fraction(8, 3)) / 9))
    assert segmented.mean_auc("n_pos").value == pytest.approx((1 + 2 / 2 + 3 * 2 / 3) / 6)
    plain = segmented.mean_auc(None)
    assert plain.value == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert plain.standard_error == pytest.approx(np.std([1, 1 / 2, 2 / 3], ddof=1) / np.sqrt(3))
    reach = (
        4.302652729749464 * plain.standard_error / (plain.value * (1 - plain.value))
    )  # t with 2 df on the logit scale
    odds = plain.value / (1 - plain.value) * np.exp([-reach, reach])
    assert [plain.low, plain.high] == pytest.approx((odds / (1 + odds)).tolist())
    assert "1 of one class omitted" in plain.method
    assert not plain.reliable
    assert segmented.one_class.tolist() == ["d"]


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda preds: preds.counts(by="fold"), InputError, "there is no fold column"),
        (lambda preds: preds.counts(by="user"), InputError, "by: expected"),
        (lambda preds: preds.counts("b", by="segment"), ColumnError, "model: expected"),
        (lambda preds: preds.counts(by="segment").auc("all"), InputError, "ties: expected"),
        (lambda preds: preds.counts(by="segment").mean_auc("rows"), InputError, "weight: expected"),
        (lambda preds: preds.counts(by="segment").mean_auc(level=95), InputError, "level: expected"),
        (lambda preds: preds.counts(by="segment").mean_auc(), OneClassError, "mean AUC: expected a segment with both"),
        (lambda preds: preds.counts(by="segment").brier(), ScoreError, "probabilities from 0 to 1"),
        (
            lambda preds: preds.counts(by="segment").observed_over_expected(),
            ScoreError,
            "2 values outside this range",
        ),
        (lambda preds: preds.counts(by="segment").best("cheap"), InputError, "context: expected a Context"),
        (lambda preds: preds.counts(by="segment").best(rs.Context(cost_fn="sum")), InputError, "the same in every row"),
        (
            lambda preds: preds.counts(by="segment").best(rs.Context(cost_fn=-1, cost_fp=-1)),
            InputError,
            "rewards errors of both kinds",
        ),
        (lambda preds: preds.counts(by="segment").at("high"), ScoreError, "threshold: expected a number"),
    ],
)
def test_errors(ask, error, words):
    with pytest.raises(error, match=words):
        ask(rs.Predictions([1, 0], [3, 2], segment=["x", "y"]))


def test_a_segment_without_weight_is_refused():
    preds = rs.Predictions([1, 0, 1], [3, 2, 1], sample_weight=[1.0, 2.0, 0.0], segment=[1, 1, 2])
    with pytest.raises(WeightError, match="expected at least one weight above 0, got only zeros"):
        preds.counts(by="segment")
