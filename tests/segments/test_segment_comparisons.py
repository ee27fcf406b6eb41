"""Comparing models over segments, and segments with the rest: closed forms, enumeration and simulated size."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

import rocscope as rs
from rocscope.errors import InputError, OneClassError, PairingError, WeightError
from rocscope.inference import adjust_p_values
from rocscope.segments import compare_segments, segmented_counts as differences


def rows_in_segments(seed, segments=40, least=4, most=15, areas=(0.3, 0.9), **columns):
    """Rows of segments of these sizes, with two models."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(segments), rng.integers(least, most + 1, segments))
    y = rng.random(user.size) < 0.4
    scores = {name: np.round(rng.normal(size=user.size) + gain * y, 1) for name, gain in zip("ab", areas, strict=True)}
    return rs.Predictions(y, scores, segment=user, **columns)


def areas_of(preds):
    """Both areas of each segment of both classes, by a loop over segments; and the rows and the positives of each."""
    parts = [part for part in preds.by_segment().values() if part.n_pos and part.n_neg]
    return np.array([(*(rs.auc(part, model=model) for model in "ab"), part.n, part.n_pos) for part in parts]).T


def test_of_equal_weights_it_is_the_paired_t_test():
    preds = rows_in_segments(1)
    a, b, *_ = areas_of(preds)
    found = compare_segments(preds, weight=None)["a", "b"]
    expected = stats.ttest_rel(b, a)
    interval = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.statistic == pytest.approx(expected.statistic)
    assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high))
    assert (found.df, found.difference.n) == (a.size - 1, a.size)
    assert "of one class omitted" in found.method
    assert found.difference.reliable
    one_sided = compare_segments(preds, weight=None, alternative="greater")["a", "b"]
    assert one_sided.p_value == pytest.approx(stats.ttest_rel(b, a, alternative="greater").pvalue)


@pytest.mark.parametrize(("weight", "column"), [("n", 2), ("n_pos", 3)])
def test_weighted_means_by_hand(weight, column):
    preds = rows_in_segments(2)
    found = areas_of(preds)
    a, b, mass = found[0], found[1], found[column]
    result = compare_segments(preds, weight=weight)
    mean = np.average(b - a, weights=mass)
    without = [np.average(np.delete(b - a, i), weights=np.delete(mass, i)) for i in range(a.size)]
    variance = (a.size - 1) / a.size * ((np.array(without) - mean) ** 2).sum()
    assert result["a", "b"].difference.value == pytest.approx(mean)
    assert result["a", "b"].difference.standard_error == pytest.approx(variance**0.5)
    for model in "ab":
        own = preds.counts(model, by="segment").mean_auc(weight)
        assert result.estimates[model] == own
    contrast = np.array([-1, 1])
    assert contrast @ result.covariance @ contrast == pytest.approx(variance)


def test_counts_by_model_are_taken_as_files_give_them():
    preds = rows_in_segments(3)
    by_model = {model: preds.counts(model, by="segment") for model in preds.models}
    assert compare_segments(by_model)["a", "b"] == compare_segments(preds)["a", "b"]


def test_models_that_rank_alike_differ_by_nothing():
    preds = rows_in_segments(4)
    same = rs.Predictions(preds.y_true, {"a": preds.scores["a"], "b": preds.scores["a"] * 2}, segment=preds.segment)
    found = compare_segments(same)["a", "b"]
    assert (found.difference.low, found.difference.high, found.p_value) == (0, 0, 1)
    assert found.difference.reliable


def test_margins_and_three_models():
    preds = rows_in_segments(5)
    three = rs.Predictions(preds.y_true, preds.scores | {"c": preds.scores["b"][::-1]}, segment=preds.segment)
    for adjust in ("holm", "bh", "max-t", "none"):
        found = compare_segments(three, adjust=adjust)
        assert all(pair.adjusted_p_value >= pair.p_value for pair in found)
    equal = compare_segments(preds, test="noninferiority", margin=0.5)["a", "b"]
    assert equal.p_value < 0.001


ONE, TWO = (rs.Predictions([1, 0] * many, [1, 2] * many, segment=np.repeat([1, 2], 2)[: 2 * many]) for many in (1, 2))
PREDS = rows_in_segments(6)


@pytest.mark.parametrize(
    ("models", "error", "words"),
    [
        (PREDS.select(models=["a"]), InputError, "models to compare: expected two or more models, got 1"),
        ({"a": PREDS.counts("a"), "b": PREDS.counts("b")}, InputError, "models: expected Predictions with segments"),
        (PREDS.counts("a", by="segment"), InputError, "models: expected Predictions with segments"),
        (3, InputError, "models: expected Predictions with segments"),
        (rs.Predictions([1, 0], {"a": [1, 2], "b": [1, 2]}), InputError, "there is no segment column"),
        (
            {"a": PREDS.counts("a", by="segment"), "b": rows_in_segments(7, segments=39).counts("b", by="segment")},
            PairingError,
            "expected the same segments",
        ),
        (
            {"a": PREDS.counts("a", by="segment"), "b": rows_in_segments(7).counts("b", by="segment")},
            PairingError,
            "the same numbers of positives and negatives in each segment",
        ),
        (rs.Predictions([1, 0], {"a": [1, 2], "b": [1, 2]}, segment=[1, 2]), OneClassError, "a segment with both"),
    ],
)
def test_what_is_refused(models, error, words):
    with pytest.raises(error, match=words):
        compare_segments(models)


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["n", "n_pos", None])
def test_size_of_the_comparison_in_full(weight):
    assert rejected(weight, 2_000) < 0.065


def test_size_of_the_comparison():
    assert rejected("n", 100) < 0.13


def rejected(weight, times):
    """How often two models as good as each other are found to differ at 5%, over users whose rows depend."""
    found = 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        user = np.repeat(np.arange(60), np.ceil(np.exp(rng.normal(1.5, 0.8, 60))).astype(int) + 1)
        y = rng.random(user.size) < 0.4
        taste = rng.normal(size=60)[user]
        scores = {name: rng.normal(size=user.size) + y * (0.7 + 0.5 * taste) for name in "ab"}
        found += compare_segments(rs.Predictions(y, scores, segment=user), weight=weight)["a", "b"].p_value <= 0.05
    return found / times


def arrangements(n_pos, n_neg):
    """Segments in which ranks 1, 2, … are dealt to the classes in every way once."""
    places = range(n_pos + n_neg)
    labels = [np.isin(places, chosen) for chosen in combinations(places, n_pos)]
    return np.concatenate(labels), np.tile(places, len(labels)), len(labels)


@pytest.mark.parametrize("shapes", [[(3, 3)], [(2, 4)], [(2, 4), (3, 3), (1, 3), (5, 2)]])
def test_variance_is_that_of_all_arrangements_of_ranks(shapes):
    """(P + N + 1)/(12PN), Mann & Whitney's, where each arrangement is there once."""
    columns, variances, segment = [], [], 0
    for shape in shapes:
        y, score, many = arrangements(*shape)
        columns.append((y, score, segment + np.repeat(np.arange(many), sum(shape))))
        variances += [(sum(shape) + 1) / (12 * shape[0] * shape[1])] * many
        segment += many
    y, score, segment = (np.concatenate(column) for column in zip(*columns, strict=True))
    found = rs.Predictions(y, score, segment=segment).counts(by="segment").differing()
    np.testing.assert_allclose(found.standard_error**2, variances, rtol=1e-12)
    np.testing.assert_allclose(found.rest, (found.auc.size * 0.5 - found.auc) / (found.auc.size - 1), atol=0.02)
    assert found.spread**2 <= 2 * max(variances) / len(variances)  # nothing, but that squares are shared by one less
    assert not found.found.size


@given(seed=st.integers(0, 10**6))
def test_scatter_of_placements(seed):
    rng = np.random.default_rng(seed)
    y, score = rng.random(12) < 0.5, rng.integers(0, 5, 12)
    segmented = rs.Predictions(y, score, segment=np.zeros(12)).counts(by="segment")
    (found,) = np.concatenate(segmented._rows.in_pieces(differences.scatter))
    if y.any() and not y.all():
        right = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
        expected = [((right.mean(axis) - right.mean()) ** 2).sum() for axis in (1, 0)]
        assert found == pytest.approx([*expected, (right == 0.5).sum()])


def test_one_segment_that_is_worse_is_found_and_drawn_towards_the_rest():
    preds = rows_in_segments(8, segments=50, least=30, most=80, areas=(2, 2))
    scores = np.where(preds.segment == 7, -preds.scores["a"], preds.scores["a"])
    found = rs.Predictions(preds.y_true, scores, segment=preds.segment).counts(by="segment").differing()
    assert found.found.tolist() == [7]
    assert found.auc[7] < found.shrunken[7] < found.rest[7]
    np.testing.assert_array_equal(found.adjusted_p_value, adjust_p_values(found.p_value))
    frame = found.to_frame()
    assert frame["segment"][0] == 7
    assert frame["p_value"].is_monotonic_increasing
    excess = (found.auc - np.average(found.auc, weights=1 / (found.standard_error**2 + found.spread**2))) ** 2
    weights = 1 / (found.standard_error**2 + found.spread**2)
    assert (weights * excess).sum() == pytest.approx(found.auc.size - 1, rel=1e-6)  # Paule & Mandel's equation
    assert "b" not in repr(found)
    assert "<table>" in found._repr_html_()
    assert found.to_dict()["spread"] == found.spread


def test_whole_weights_are_equal_rows():
    preds = rows_in_segments(9)
    times = np.random.default_rng(0).integers(1, 4, len(preds))
    score = preds.scores["a"]
    weighted = rs.Predictions(preds.y_true, score, sample_weight=times, segment=preds.segment)
    rows = np.repeat(np.arange(len(preds)), times)
    repeated = rs.Predictions(preds.y_true[rows], score[rows], segment=preds.segment[rows])
    found, expected = (each.counts(by="segment").differing(adjust="bh") for each in (weighted, repeated))
    for name in ("auc", "rest", "standard_error", "shrunken", "p_value", "adjusted_p_value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)


def test_segments_that_all_rank_perfectly():
    found = rs.Predictions([1, 1, 0, 0] * 3, [4, 3, 2, 1] * 3, segment=np.repeat([1, 2, 3], 4)).counts(by="segment")
    result = found.differing()
    assert result.p_value.tolist() == [1, 1, 1]
    assert result.shrunken.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("preds", "options", "error", "words"),
    [
        (PREDS, {"adjust": "max-t"}, InputError, "adjust: expected"),
        (PREDS, {"level": 5}, InputError, "level: expected"),
        (
            rs.Predictions([1, 0], [1, 2], segment=[1, 1]),
            {},
            InputError,
            "expected two or more segments with both classes, got 1",
        ),
        (
            rs.Predictions([1, 0] * 2, [1, 2] * 2, segment=[1, 1, 2, 2]),
            {},
            InputError,
            "two positives and two negatives",
        ),
        (
            rs.Predictions(TWO.y_true, TWO.scores, segment=TWO.segment, sample_weight=[0.5, 1, 1, 1]),
            {},
            WeightError,
            "whole numbers",
        ),
    ],
)
def test_what_cannot_be_held_against_the_rest(preds, options, error, words):
    with pytest.raises(error, match=words):
        preds.counts(preds.models[0], by="segment").differing(**options)


DESIGNS = [
    (50, 2, 20, 0.3, 0.8),
    (50, 20, 60, 0.5, 0.95),
    (300, 2, 10, 0.5, 0.9),
    (300, 2, 60, 0.2, 0.5),
    (10, 30, 60, 0.5, 0.95),
    (10, 5, 20, 0.5, 0.8),
    (300, 2, 60, 0.3, 0.97),
]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_nothing_is_found_where_segments_do_not_differ_in_full(design):
    found = falsely_found(design, 1_000)
    assert max(found.values()) < 0.075, found


def test_nothing_is_found_where_segments_do_not_differ():
    assert max(falsely_found(DESIGNS[1], 60).values()) < 0.15


def falsely_found(design, times):
    """How often any of segments of one area is found to differ at 5%, by the way p-values are adjusted."""
    segments, least, most, share, area = design
    found = dict.fromkeys(("holm", "bh"), 0)
    for seed in range(times):
        rng = np.random.default_rng(seed)
        segment = np.repeat(np.arange(segments), rng.integers(least, most + 1, segments))
        y = rng.random(segment.size) < share
        score = np.round(rng.normal(size=segment.size) + y * np.sqrt(2) * stats.norm.ppf(area), 1)
        p = rs.Predictions(y, score, segment=segment).counts(by="segment").differing().p_value
        for adjust in found:
            found[adjust] += (adjust_p_values(p[~np.isnan(p)], adjust) <= 0.05).any()
    return {adjust: many / times for adjust, many in found.items()}


@pytest.mark.parametrize("weight", [None, 2])
def test_drift_of_every_segment_at_once(weight):
    first, second = (rows_in_segments(seed, segments=25, least=2, most=9).select(models=["a"]) for seed in (11, 12))
    if weight:
        first, second = (
            rs.Predictions(each.y_true, each.scores, segment=each.segment, sample_weight=np.full(len(each), weight))
            for each in (first, second)
        )
    second = second.select(second.segment > 3)
    found = rs.drift(first.counts(by="segment"), second.counts(by="segment"), replicates=9)
    assert found.only_reference.tolist() == [0, 1, 2, 3]
    assert not found.only_current.size
    ours, theirs, frame = first.by_segment(), second.by_segment(), found.to_frame()
    for i, name in enumerate(found.names.tolist()):
        expected = rs.drift(ours[name], theirs[name], replicates=0)
        for quantity in ("ks", "ks_pos", "ks_neg"):
            bounds, value = getattr(expected, quantity), frame[quantity][i]
            assert np.isnan(value) if bounds is None else bounds.low <= value <= bounds.high
        area = expected.auc_difference
        assert np.isnan(frame["auc_difference"][i]) if area is None else found.parts[i].auc_difference == area
        assert frame["prevalence_difference"][i] == pytest.approx(expected.prevalence_difference)
    assert "21 segments" in repr(found)
    assert len(frame) == 21


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            ONE.counts(by="segment"),
            rs.Predictions([1, 0], [1, 2], segment=[5, 5]).counts(by="segment"),
            "got no such segment",
        ),
        (ONE.counts(by="segment"), PREDS.counts("a", by="segment"), "the same data type in both samples"),
    ],
)
def test_drift_of_segments_that_do_not_fit(first, second, words):
    with pytest.raises(InputError, match=words):
        rs.drift(first, second)


def test_a_summary_of_counts_by_segment():
    preds = rows_in_segments(13, segments=3, least=30, most=40)
    probable = {name: 1 / (1 + np.exp(-score)) for name, score in preds.scores.items()}
    preds = rs.Predictions(preds.y_true, probable, segment=preds.segment)
    segmented = {model: preds.counts(model, by="segment") for model in preds.models}
    found, expected = rs.summary(segmented, by="segment"), rs.summary(preds, by="segment")
    for row, own in zip(found, expected, strict=True):
        assert (row.model, row.part, row.n, row.threshold) == (own.model, own.part, own.n, own.threshold)
        assert row["auc"] == own["auc"]
    assert rs.summary(segmented["a"])["score"]["auc"] == expected["a"]["auc"]


def test_a_summary_refuses_what_names_single_cases():
    many = rs.Predictions([1, 0] * 1001, np.arange(2002), segment=np.arange(2002) // 2)
    for data in (many, many.counts(by="segment")):
        with pytest.raises(InputError, match="at most 1,000 segments, got 1,001 segments"):
            rs.summary(data, by="segment")


@pytest.mark.parametrize("weight", [None, [1, 2, 1, 3, 1, 1], [0.5, 1, 1, 1, 1, 1]])
def test_all_rows_together(weight):
    preds = rs.Predictions([1, 0, 1, 0, 1, 0], [3, 1, 2, 2, 4, 0], sample_weight=weight, segment=[1, 1, 2, 2, 2, 1])
    assert preds.counts(by="segment").pooled() == preds.counts()


def test_groups_that_cross_segments_are_flagged_and_others_are_not():
    preds = rows_in_segments(2)
    segment = np.unique(preds.segment, return_inverse=True)[1]
    reasons = []
    for groups in (segment // 2, 2 * segment + np.arange(segment.size) % 2, np.arange(segment.size) % 40):
        rows = rs.Predictions(preds.y_true, preds.scores, segment=segment, groups=groups)
        counts = rows.counts("a", by="segment")
        own = [counts.mean_auc().reason, counts.select(counts.n > 0).mean_auc().reason]
        reasons.append([*own, compare_segments(rows)["a", "b"].difference.reason])
    crossing = ["rows of the same group are in different segments, so segments are not independent"] * 3
    assert reasons == [crossing, [""] * 3, crossing]


def test_few_segments_with_a_low_area_decide_their_mean_and_its_interval():
    def mean_auc(areas):
        """Return the mean over segments of 10 positives and 10 negatives with these areas, in tenths."""
        y, segment = np.tile(np.repeat([1, 0], 10), areas.size), np.repeat(np.arange(areas.size), 20)
        score = np.concatenate([np.r_[np.arange(10) < area, np.zeros(10)] for area in areas])
        return rs.Predictions(y, score, segment=segment).counts(by="segment").mean_auc(None)

    even = mean_auc(np.tile([8, 9], 20))
    reach = stats.t.ppf(0.975, 39) * even.standard_error / (even.value * (1 - even.value))
    assert (even.low, even.high) == pytest.approx(special.expit(special.logit(even.value) + reach * np.array([-1, 1])))
    one_low = mean_auc(np.r_[np.full(39, 10), 0])
    assert one_low.reason == "only 2.2 segments that determine the variance, fewer than 4"
    assert one_low.low < 0.88  # with 39 degrees of freedom on the plain scale .962
