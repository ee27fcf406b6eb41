"""Ranges of scores split until the AUC is known, with NumPy in the place of a database."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.engines.sql import MOST_SPANS, SpanCounts, refine
from rocscope.errors import EngineError


class Rows:
    """Answers questions about ranges, and counts them."""

    def __init__(self, y, score):
        self.y, self.score, self.questions = np.asarray(y, bool), score, 0

    def ask(self, spans):
        assert 1 <= len(spans) <= MOST_SPANS
        self.questions += 1
        key = np.full(self.score.size, -1.0)
        span_of = np.full(self.score.size, -1)
        for number, span in enumerate(spans):
            inside = (self.score >= span.low) & (self.score <= span.high)
            part = _part(self.score[inside], span)
            span_of[inside], key[inside] = number, part
        cells = {}
        for number in sorted({*span_of} - {-1}):
            for part in np.unique(key[span_of == number]):
                cells[number, part] = (span_of == number) & (key == part)
        columns = [
            (self.score[rows].min(), self.score[rows].max(), self.y[rows].sum(), (~self.y[rows]).sum(), number)
            for (number, _), rows in cells.items()
        ]
        low, high, pos, neg, span = zip(*columns, strict=True)
        types = (self.score.dtype, self.score.dtype, np.int64, np.int64, np.intp)
        return SpanCounts(*(np.array(c, kind) for c, kind in zip((low, high, pos, neg, span), types, strict=True)))


def _part(score, span):
    if span.parts is None:
        return np.unique(score, return_inverse=True)[1]
    exact = score.astype(object if score.dtype.kind == "i" else np.longdouble)
    share = (exact - span.low) / (exact[:1] * 0 + span.high - span.low)
    return np.floor((share * span.parts).astype(float))


def _refined(y, score, tol, most=10_000):
    rows = Rows(y, score)
    return refine(rows.ask, score.min().item(), score.max().item(), tol=tol, most=most, subject="scores"), rows


STREAMS = {
    "smooth": lambda rng, y: rng.normal(size=y.size) + y,
    "tied": lambda rng, y: rng.integers(0, 5, y.size) + 1.0 * y,
    "heavy tails": lambda rng, y: np.exp(rng.normal(scale=30, size=y.size) + y),
    "an outlier": lambda rng, y: np.where(np.arange(y.size) == 0, 1e300, rng.random(y.size) + 0.2 * y),
    "two clusters": lambda rng, y: np.where(rng.random(y.size) < 0.5, 1.0, np.nextafter(1.0, 2)),
    "extremes": lambda rng, y: np.where(y, 1, -1) * rng.choice([1.7e308, 5e-324, 1.0], y.size),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("tol", [0.1, 1e-3, 0])
def test_bounds_hold_and_are_as_narrow_as_asked(stream, tol):
    rng = np.random.default_rng(1)
    y = rng.random(1_500) < 0.3
    score = STREAMS[stream](rng, y)
    binned, _ = _refined(y, score, tol)
    low, high = binned.auc_bounds
    assert low <= rs.auc(y, score) <= high
    assert high - low <= tol + 1e-15
    exact = rs.ThresholdCounts.from_scores(y, score)
    ends = np.searchsorted(-exact.threshold, -binned.threshold)
    np.testing.assert_array_equal(exact.tp[ends], binned.tp)
    np.testing.assert_array_equal(exact.fp[ends], binned.fp)


@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(-9, 9)), min_size=2, max_size=60).filter(
        lambda rows: len({y for y, _ in rows}) == 2
    ),
    far=st.sampled_from([1, 2**55, 10**17]),
    tol=st.sampled_from([0, 0.01, 0.2]),
    most=st.sampled_from([64, 200]),
)
def test_whole_numbers_of_any_size(rows, far, tol, most):
    y, score = (np.array(column) for column in zip(*rows, strict=True))
    score = score.astype(np.int64) * far
    binned, _ = _refined(y, score, tol, most)
    low, high = binned.auc_bounds
    assert low <= rs.auc(y, score) <= high
    assert high - low <= tol + 1e-15


def test_few_questions_do():
    rng = np.random.default_rng(2)
    y = rng.random(3_000) < 0.5
    _, rows = _refined(y, rng.normal(size=y.size) + y, tol=1e-2, most=1_000)
    assert rows.questions <= 6


def test_too_little_memory_says_how_far_it_came():
    rng = np.random.default_rng(3)
    y = rng.random(2_000) < 0.5
    with pytest.raises(
        EngineError, match=r"expected an AUC with an error of at most 0 \(tol\), got an error of up to 0\.0"
    ):
        _refined(y, rng.random(y.size), tol=0, most=50)
