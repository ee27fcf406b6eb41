"""CountsSketch: its bounds hold on any stream, in any memory, merged in any order; exact while all scores fit."""

import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from binning import bands_hold
from rocscope import ThresholdCounts, kernels
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError, StoredError, WeightError
from rocscope.ranges import CountsSketch
from rocscope.ranges.sketch import CELL_BYTES, to_checked_bytes
from sketch_cases import (
    SMALLEST,
    bounds_hold,
    sketch_of,
    streams,
)
from strategies import DTYPES, both_paths, costly, taking

FLOATS = {"allow_nan": False, "allow_infinity": False}


@pytest.mark.every(2)
@both_paths
@given(stream=streams(), batch=st.integers(1, 3000))
def test_the_bounds_hold_on_any_stream_in_any_batches(path, stream, batch):
    y, score = stream
    batch = max(batch, y.size // 40)
    with taking(path):
        sketch = sketch_of(y, score, batch=batch)
        bounds_hold(sketch.binned(), ThresholdCounts.from_scores(y, score))
    assert len(sketch._cells) <= sketch.capacity


@pytest.mark.slow(reason="long searches")
@costly
@given(stream=streams(), data=st.data())
def test_the_bounds_hold_merged_in_any_order(stream, data):
    y, score = stream
    part = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=50))
    part = np.resize(part, y.size)
    parts = [sketch_of(y[part == i], score[part == i]) for i in range(5) if (part == i).any()]
    order = data.draw(st.permutations(parts))
    merged = order[0]
    for each in order[1:]:
        merged = merged + each if data.draw(st.booleans()) else each + merged
    bounds_hold(merged.binned(), ThresholdCounts.from_scores(y, score))


@costly
@given(stream=streams(most=500))
def test_the_envelope_holds_the_exact_curves(stream):
    y, score = stream
    binned, counts = sketch_of(y, score).binned(), ThresholdCounts.from_scores(y, score)
    for name in ("roc", "gain", "precision_recall"):
        bands_hold(binned.envelope(name), getattr(rs, name)(counts))


@given(stream=streams(most=60), weights=st.booleans(), data=st.data())
def test_counting_is_exact_and_the_same_in_any_order_while_all_scores_fit(stream, weights, data):
    y, score = stream
    weight = 1 + np.arange(y.size) % 3 if weights else None
    order = np.array(data.draw(st.permutations(range(y.size))))
    at = data.draw(st.integers(1, y.size - 1))
    here, there = order[:at], order[at:]
    merged = sketch_of(y[here], score[here], weight=None if weight is None else weight[here]) + sketch_of(
        y[there], score[there], weight=None if weight is None else weight[there]
    )
    whole = sketch_of(y, score, weight=weight)
    assert merged.to_bytes() == whole.to_bytes()
    if whole.n:
        assert whole.binned().counts() == ThresholdCounts.from_scores(y, score, sample_weight=weight)


@costly
@given(stream=streams())
def test_a_sketch_comes_back_from_its_bytes_and_goes_on(stream):
    y, score = stream
    half = y.size // 2
    sketch = sketch_of(y[:half], score[:half]) if half else CountsSketch(SMALLEST)
    twin = CountsSketch.from_bytes(sketch.to_bytes())
    for each in (sketch, twin):
        each.update(y[half:], score[half:])
    assert twin.to_bytes() == sketch.to_bytes()
    assert twin.binned() == sketch.binned()


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_the_bounds_of_the_pairs_are_attained(side):
    """So they can be neither wider nor narrower by one: of all rows that the cells can hold, these rank best, or worst.

    Forty cells from 8i to 8i + 7 have a negative at the one end and a positive at the other. In the middle one there
    are then cells of single scores: a positive one, a tie of both classes and a negative one.
    """
    ends = np.arange(0, 320, 8), np.arange(7, 320, 8)
    negatives, positives = ends if side == "upper" else ends[::-1]
    y, score = np.repeat([0, 1], 40), np.concatenate([negatives, positives])
    heavy_y, heavy = np.array([1, 1, 0, 0]), 8 * 20 + np.array([2, 3, 3, 5])
    sketch = CountsSketch(SMALLEST)
    sketch.update(y, score)
    assert len(sketch._cells) == 40
    sketch.update(heavy_y, heavy, np.full(4, 1000))
    binned = sketch.binned()
    assert (len(binned), len(sketch._cells)) == (40, 43)
    weight = np.repeat([1, 1000], [80, 4])
    label, score = np.concatenate([y, heavy_y]) == 1, np.concatenate([score, heavy])
    above = np.sign(score[label][:, np.newaxis] - score[~label]) + 1
    exact = int((above * weight[label][:, np.newaxis] * weight[~label]).sum())
    assert binned.right_bounds[side == "upper"] == exact
    assert binned.right_bounds[0] < binned.right_bounds[1]


def test_smooth_scores_are_counted_to_less_than_the_share_of_a_cell():
    generator = np.random.default_rng(3)
    y = generator.random(60_000) < 0.3
    for score in (generator.random(y.size), np.exp(4 * (generator.normal(size=y.size) + y))):
        sketch = CountsSketch(20_000)
        sketch.update(y, score.astype(np.float32))
        low, high = sketch.binned().auc_bounds
        assert high - low < 4 / sketch.capacity


def test_a_score_of_many_rows_keeps_its_point():
    generator = np.random.default_rng(4)
    score = np.where(generator.random(50_000) < 0.2, 0.5, generator.random(50_000))
    sketch = sketch_of(score < generator.random(score.size), score, batch=1000)
    binned = sketch.binned()
    assert ((binned.low == 0.5) & (binned.high == 0.5)).any()


def test_rows_that_gather_in_a_cell_made_before_are_told_apart_again():
    generator = np.random.default_rng(5)
    y = generator.random(50_000) < 0.5
    score = 0.3 + generator.normal(size=y.size) * np.where(np.arange(y.size) < 3000, 1, 1e-6)
    with taking("compiled"):
        low, high = sketch_of(y, score, memory=50_000, batch=1000).binned().auc_bounds
    assert high - low < 0.03


def test_memory_is_what_was_allowed():
    sketch = CountsSketch(1e5)
    generator = np.random.default_rng(6)
    for _ in range(12):
        with taking("compiled"):
            sketch.update(generator.random(1500) < 0.5, generator.normal(size=1500))
        kept = sum(column.nbytes for column in sketch._cells.columns())
        waiting = sum(array.nbytes for batch in sketch._pending for array in batch if array is not None)
        aside = sum(len(cells) for cells in sketch._aside) * CELL_BYTES
        assert kept + waiting + aside <= 1e5
    assert len(sketch.to_bytes()) <= 1e5


def test_a_caller_may_write_to_what_was_counted():
    y, score = np.array([1, 0]), np.array([0.9, 0.2])
    sketch = CountsSketch()
    sketch.update(y, score)
    y[:], score[:] = 0, 5.0
    assert sketch.binned().counts() == ThresholdCounts([0.9, 0.2], [1, 0], [0, 1])


@pytest.mark.every(4)
@both_paths
@pytest.mark.parametrize("dtype", DTYPES)
@costly
@given(data=st.data())
def test_any_type_of_score_is_kept(path, dtype, data):
    kind = np.dtype(dtype).kind
    score = data.draw(
        st.lists(st.integers(0 if kind in "ub" else -5, 1 if kind == "b" else 5), min_size=1, max_size=20)
    )
    y, score = np.arange(len(score)) % 2, np.array(score, dtype=dtype)
    with taking(path):
        sketch = CountsSketch()
        sketch.update(y, score)
        assert sketch.binned().counts() == ThresholdCounts.from_scores(y, score)


def test_signs_and_types():
    sketch = CountsSketch()
    sketch.update([1, 0, 1, 0], np.array([-1.5, -0.0, 0.0, 2.5], np.float32))
    assert sketch.binned().counts() == ThresholdCounts(np.array([2.5, 0, -1.5], np.float32), [0, 1, 1], [1, 1, 0])
    whole = CountsSketch()
    whole.update([1, 0, 1], np.array([-(2**63), 2**63 - 1, 0]))
    assert whole.binned().threshold.tolist() == [2**63 - 1, 0, -(2**63)]
    flags = CountsSketch(pos_label="yes")
    flags.update(["yes", "no"], [True, False])
    assert flags.binned().auc_fraction() == 1


def test_days_without_rows_add_nothing():
    day = CountsSketch()
    day.update([1, 0], [2.5, 1.5])
    empty = CountsSketch() + CountsSketch()
    assert (empty.n, CountsSketch.from_bytes(empty.to_bytes()).n) == (0, 0)
    assert (empty + day).to_bytes() == (day + empty).to_bytes() == day.to_bytes()


def test_sketches_of_different_positive_labels_do_not_add_up():
    plain, yes, no, one = (
        CountsSketch(),
        CountsSketch(pos_label="yes"),
        CountsSketch(pos_label="no"),
        CountsSketch(pos_label=1),
    )
    for sketch, labels in ((plain, [1, 0]), (yes, ["yes", "no"]), (no, ["yes", "no"]), (one, [1, 0])):
        sketch.update(labels, [0.9, 0.2])
    for first, second in ((yes, no), (yes, plain), (plain, yes)):
        with pytest.raises(LabelError, match="pos_label: expected the same label in both sketches"):
            first + second
    for first, second in ((yes, yes), (CountsSketch(), yes), (yes, CountsSketch())):
        total = first + second
        total.update(["yes"], [0.5])
        assert total.pos_label == "yes"
    assert (plain + one).pos_label == (one + plain).pos_label == 1


def test_what_a_sketch_says():
    sketch = CountsSketch()
    assert repr(sketch) == "CountsSketch(n_pos=0, n_neg=0)"
    sketch.update([1, 1], [2, 1])
    assert repr(sketch) == "CountsSketch(n_pos=2, n_neg=0)"
    sketch.update([0], [1])
    assert json.loads(json.dumps(sketch.to_dict()))["auc_bounds"] == [0.75, 0.75]
    assert sketch._repr_html_() == "<code>CountsSketch(n_pos=2, n_neg=1, auc=0.75)</code>"


def test_bad_batches_are_refused_whole():
    sketch = CountsSketch()
    sketch.update([1, 0], [0.5, 0.25])
    before = sketch.to_bytes()
    for error, batch in (
        (LabelError, ([1, 2], [0.5, 0.5])),
        (ScoreError, ([1, 0], [0.5, np.nan])),
        (ScoreError, ([1, 0], np.array([0.5, 0.25], np.float32))),
        (ShapeError, ([1, 0], [0.5])),
        (WeightError, ([1, 0], [0.5, 0.5], [0.5, 0.5])),
        (WeightError, ([1, 0], [0.5, 0.5], [-1, 1])),
        (WeightError, ([1, 0], [0.5, 0.5], [2**62, 2**62])),
    ):
        with pytest.raises(error):
            sketch.update(*batch)
    assert sketch.to_bytes() == before


def test_bad_questions_are_refused():
    with pytest.raises(InputError, match="4096"):
        CountsSketch(100)
    with pytest.raises(ShapeError, match="update first"):
        CountsSketch().binned()
    floats, whole = CountsSketch(), CountsSketch()
    floats.update([1], [0.5])
    whole.update([1], [1])
    with pytest.raises(ScoreError, match="float64"):
        floats + whole
    with pytest.raises(TypeError):
        floats + 1
    with pytest.raises(InputError, match="pos_label"):
        CountsSketch(pos_label=("a", "b")).to_bytes()


def test_strange_bytes_are_refused():
    sketch = CountsSketch()
    sketch.update([1, 0, 1], [3, 2, 1])
    data = sketch.to_bytes()
    newer = data[:16] + (2).to_bytes(4, "little") + data[20:]
    for strange, words in (
        (b"", "other data"),
        (b"PAR1" * 100, "other data"),
        ("text", "other data"),
        (data[:-1], "incomplete or changed"),
        (data[:40], "incomplete or changed"),
        (data + b"x", "incomplete or changed"),
        (newer, "version 2.*update rocscope"),
    ):
        with pytest.raises(StoredError, match=words):
            CountsSketch.from_bytes(strange)


@pytest.mark.parametrize("column", range(6))
def test_cells_that_no_sketch_has_are_refused(column):
    sketch = CountsSketch(SMALLEST)
    generator = np.random.default_rng(8)
    sketch.update(generator.random(2000) < 0.5, generator.normal(size=2000))
    sketch._flush()
    strange = [np.array(each) for each in sketch._cells.columns()]
    strange[column][3] = 2**62 + 12345 if column in (0, 4, 5) else 77 if column == 1 else -1
    facts = {name: getattr(sketch, name) for name in ("memory", "pos_label", "n_pos", "n_neg")}
    with pytest.raises(StoredError, match="cells"):
        CountsSketch.from_bytes(to_checked_bytes(facts | {"light": 0.1, "dtype": "f8"}, strange))


@given(st.data())
def test_no_changed_byte_goes_unnoticed(data):
    sketch = CountsSketch()
    sketch.update([1, 0, 1], [3.5, 2.5, 1.5])
    stored = bytearray(sketch.to_bytes())
    at = data.draw(st.integers(0, len(stored) - 1))
    stored[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(StoredError):
        CountsSketch.from_bytes(bytes(stored))


def test_compiled_batches_give_the_same_as_plain_ones():
    generator = np.random.default_rng(7)
    y, score = generator.random(30_000) < 0.5, generator.normal(size=30_000).astype(np.float32)
    plain = sketch_of(y, score, batch=10_000)
    with mock.patch.object(kernels, "SMALL", 0):
        assert sketch_of(y, score, batch=10_000).to_bytes() == plain.to_bytes()
