"""The Spark engine's steps on partitions in lists: exact whatever the rows, and however they are dealt out."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from rocscope import Context, ThresholdCounts, choose
from rocscope.core.ranking import rank
from rocscope.engines import spark, spark_tasks
from rocscope.engines.columns import CountRequest
from rocscope.engines.spark import Input
from rocscope.engines.spark_tasks import Layout
from rocscope.errors import InputError, LabelError, RocscopeWarning, ScoreError, ShapeError, WeightError
from rocscope.geometry.hull import pool
from rocscope.kernels import Kernel, kernel
from rocscope.ranges.binned import BinnedCounts
from spark_stub import Session, partitions
from strategies import samples, taking, whole_weights

pytest.importorskip("pyspark", reason="pyspark is not installed (extra: spark)")

DTYPES = ("int8", "int16", "int32", "int64", "float32", "float64")
dealt = st.fixed_dictionaries(
    {"number": st.integers(1, 4), "rows_per_run": st.integers(1, 40), "levels_per_range": st.integers(1, 40)}
)
"""How rows are dealt out to partitions, runs and ranges."""


def counted(columns, *, number=3, levels_per_range=2**20, most_levels=100_000, most_bins=4, **options):
    """Count columns under the names that the workers know."""
    models = [name for name in columns if name.startswith("score")]
    layout = {"weighted": "weight" in columns, "segment": None, "pos_label": None, "drop": False} | options
    dtypes = {f"m{name[5:]}": str(np.asarray(columns[name]).dtype) for name in models}
    data = Input(
        partitions(columns, number),
        Layout([*dtypes.values()], **layout),
        dtypes,
        None if layout["segment"] is None else "string",
        {name: name for name in columns},
    )
    limits = {"_LEVELS_PER_RANGE": levels_per_range, "MOST_LEVELS": most_levels, "MOST_BINS": most_bins}
    with mock.patch.multiple(spark, **limits):
        return spark.answer(data, CountRequest("label", "score", pos_label=layout["pos_label"]), Session())


def columns_of(sample):
    """Name the columns of a sample as the workers do."""
    weight = {} if sample.weight is None else {"weight": sample.weight}
    return {"label": sample.y, "score0": sample.score} | weight


@given(st.sampled_from(DTYPES).flatmap(lambda dtype: samples(dtype=dtype, one_class=True)), dealt)
def test_few_levels_are_counted_one_by_one_in_their_own_type(sample, dealt):
    found = counted(columns_of(sample), **dealt)["m0"]
    assert isinstance(found, ThresholdCounts)
    assert found == sample.counts()
    assert found.threshold.dtype == sample.score.dtype


@given(samples(weight=whole_weights, one_class=True), dealt)
def test_whole_weights_are_counted_exactly(sample, dealt):
    assert counted(columns_of(sample), **dealt)["m0"] == sample.counts()


@given(samples(most=60), dealt, st.integers(1, 9))
def test_bins_lose_neither_area_nor_hull_nor_a_point_that_they_end_at(sample, dealt, most_bins):
    exact = sample.counts()
    found = counted(columns_of(sample), most_levels=0, most_bins=most_bins, **dealt)["m0"]
    assert isinstance(found, BinnedCounts)
    assert found.auc_fraction() == exact.pairs().fraction()
    assert set(pool(exact).threshold.tolist()) <= set(found.low.tolist())
    for low in found.low.tolist():
        assert found.at(low) == exact.at(low)
    for cost_fn in (0.3, 1, 8):
        chosen, best = (choose(counts, Context(cost_fn=cost_fn)) for counts in (found, exact))
        assert (chosen.point, chosen.expected_cost) == (best.point, best.expected_cost)


def test_bins_follow_the_curve_where_the_hull_does_not_need_them():
    score = np.random.default_rng(0).permutation(60_000) / 60_000
    label = np.random.default_rng(1).random(60_000) < score
    with taking("compiled"):
        found = counted({"label": label, "score0": score}, rows_per_run=9_000, levels_per_range=7_000, most_levels=0)
    coarse = found["m0"]
    with taking("compiled"):
        fine = counted({"label": label, "score0": score}, rows_per_run=9_000, most_levels=0, most_bins=500)["m0"]
    assert len(coarse) < 500 < len(fine) < 1_200
    exact = ThresholdCounts.from_scores(label, score).pairs().fraction()
    assert coarse.auc_fraction() == fine.auc_fraction() == exact
    along = fine.pos / fine.n_pos + fine.neg / fine.n_neg
    assert along.max() <= 2 / 500 + 1e-3


@given(samples(most=60), st.lists(st.sampled_from(["n", "s", "w"]), min_size=60, max_size=60), dealt, st.booleans())
def test_segments_are_counted_apart(sample, names, dealt, large):
    segment = np.array(names[: sample.y.size])
    column = pa.array(segment.tolist(), pa.large_string() if large else pa.string())
    found = counted(columns_of(sample) | {"segment": column}, segment=pa.string(), **dealt)
    assert list(found) == sorted(set(segment.tolist()))
    for name, counts in found.items():
        here = segment == name
        assert counts == ThresholdCounts.from_scores(sample.y[here], sample.score[here])
    first, *others = found.values()
    assert sum(others, first) == sample.counts()


@given(samples(most=40), st.lists(st.sampled_from([None, 0.5]), min_size=40, max_size=40), dealt)
def test_incomplete_rows_are_dropped_for_all_models_and_counted(sample, other, dealt):
    other = np.array(other[: sample.y.size], dtype=np.float64)
    columns = columns_of(sample) | {"score1": other}
    complete = ~np.isnan(other)
    if not complete.any():
        with pytest.raises(ShapeError, match="without missing"):
            counted(columns, drop=True, **dealt)
        return
    found = counted(columns, drop=True, **dealt)
    assert found["m0"] == ThresholdCounts.from_scores(sample.y[complete], sample.score[complete])
    assert (found.source.rows_read, found.source.rows_dropped) == (sample.y.size, int((~complete).sum()))


@pytest.mark.parametrize(
    ("labels", "pos_label", "positive"),
    [([1, -1, 1], None, [1, 0, 1]), ([2, 5, 2], "5", [0, 1, 0]), (["no", "yes", "no"], "yes", [0, 1, 0])],
)
def test_labels_are_named_as_elsewhere(labels, pos_label, positive):
    found = counted({"label": labels, "score0": [0.1, 0.2, 0.3]}, pos_label=pos_label)["m0"]
    assert found == ThresholdCounts.from_scores(positive, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"label": [0, 1, 0, 7]}, LabelError, "label 'label' of Spark DataFrame.*0, 1, 7"),
        ({"label": ["a", "b", "a", "a"]}, LabelError, "pos_label"),
        (
            {"label": [0, None, 0, 1]},
            LabelError,
            "1 missing or infinite label among 4 rows; pass missing='drop' to drop such rows",
        ),
        ({"score0": [0.1, np.nan, np.inf, 0.2]}, ScoreError, "score 'score0' of Spark DataFrame.*2 missing"),
        ({"weight": [1, -1, -2, 1]}, WeightError, "2 negative"),
        ({"weight": [0, 0, 0, 0]}, WeightError, "a sum from 1 to"),
        ({"weight": [2**62, 2**62, 1, 1]}, WeightError, "to 2\\^62"),
        ({"weight": [1, None, 1, 1]}, WeightError, "1 missing or infinite"),
        ({"segment": ["a", None, "b", "b"]}, InputError, "1 missing or infinite"),
    ],
)
def test_bad_rows_are_refused_in_one_line(columns, error, words):
    good = {"label": [0, 1, 0, 1], "score0": [0.1, 0.2, 0.3, 0.4]}
    with pytest.raises(error, match=words) as raised:
        counted(good | columns, segment=pa.string() if "segment" in columns else None)
    assert "\n" not in str(raised.value)


def test_a_score_of_half_the_rows_is_one_entry_of_each_run():
    score = np.where(np.arange(4_000) % 2, 0.5, np.arange(4_000) / 4_000)
    label = np.arange(4_000) % 3 == 0
    with mock.patch.object(spark, "_count_groups", side_effect=spark._count_groups) as counting:
        found = counted({"label": label, "score0": score}, rows_per_run=500)["m0"]
    [group] = counting.call_args.args[1]
    assert group.levels <= 2_000 + 12
    assert found == ThresholdCounts.from_scores(label, score)


def test_ranges_are_about_even_when_partitions_are_small_or_sorted():
    score = np.sort(np.random.default_rng(0).random(4_000))
    group = spark.GroupTotals(None, 0, "float64", 1, 1, 4_000, 40, [])
    for size in (40, 1_000):
        runs = [spark_tasks._run(0, rank(part > 0.5, part)) for part in np.split(score, 4_000 // size)]
        samples = [(np.frombuffer(run[4], "float64"), run[3]) for run in runs]
        with mock.patch.object(spark, "_LEVELS_PER_RANGE", 500):
            borders = spark._borders(replace(group, samples=samples))
        assert np.diff(np.searchsorted(score, [0, *borders, 1])).tolist() == pytest.approx([500] * 8, abs=70)


def test_a_loop_is_compiled_also_where_no_cache_can_be_kept():
    scope = {}
    exec("def twice(x):\n    return 2 * x", scope)  # of no file, as in a zip that is shipped to workers
    kernel._warn_of_compiling.cache_clear()
    with pytest.warns(RocscopeWarning, match="set NUMBA_CACHE_DIR"):
        assert Kernel(scope["twice"])(21) == 42
