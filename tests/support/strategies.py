"""What hypothesis draws: few distinct values, so that ties abound, and both ways through the library."""

from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest
from hypothesis import settings, strategies as st

from rocscope import Context, ThresholdCounts, kernels
from rocscope._base import arrays as columns

DTYPES = ["bool", "float16", "float32", "float64", ">f4", ">f8"]
DTYPES += [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]

costly = settings(max_examples=min(100, settings.default.max_examples))
"""A search whose cases take some hundredths of a second: a hundred of them at most, in long runs too."""

both_paths = pytest.mark.parametrize("path", ["small", "compiled"])
"""NumPy and plain Python, as small inputs take, and the compiled loops, as large ones do."""


@contextmanager
def taking(path):
    """Send inputs of any size down one of the two paths."""
    large = path == "compiled"
    with (
        mock.patch.object(kernels, "SMALL", 0 if large else kernels.SMALL),
        mock.patch.object(kernels, "few", (lambda _rows: False) if large else kernels.few),
        mock.patch.object(columns, "MOST_SORTED", 0 if large else columns.MOST_SORTED),
    ):
        yield


@dataclass(frozen=True)
class Sample:
    """Labels, scores and perhaps weights."""

    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None = None

    def counts(self):
        return ThresholdCounts.from_scores(self.y, self.score, sample_weight=self.weight)


def _both_classes(labels):
    return 0 < sum(labels) < len(labels)


@st.composite
def samples(draw, *, score=None, dtype=np.int64, weight=None, most=30, one_class=False):
    """Draw a Sample of up to `most` rows; `weight` is a strategy for one weight."""
    labels = st.lists(st.integers(0, 1), min_size=1 if one_class else 2, max_size=most)
    y = draw(labels if one_class else labels.filter(_both_classes))
    n = len(y)
    values = draw(st.lists(st.integers(-4, 4) if score is None else score, min_size=n, max_size=n))
    mass = None
    if weight is not None:
        mass = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
        labels_left = np.array(y)[mass > 0]
        if not (labels_left.size if one_class else _both_classes(labels_left)):
            mass = mass + 1
    return Sample(np.array(y), np.array(values, dtype=dtype), mass)


whole_weights = st.integers(0, 3)
float_weights = st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0, 2.5, 1e-3])
probabilities = st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.55, 0.7, 0.9, 1.0])
counts = st.integers(0, 12)
"""One cell of a confusion matrix."""

costs = st.sampled_from([0, 0.1, 0.2, 0.3, 1, 1.5, 2, 8, 20, 100])
prevalences = st.none() | st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.9])


decision_contexts = st.builds(
    Context,
    st.one_of(st.none(), st.sampled_from([0.1, 0.5])),
    st.sampled_from([1, 0.3, 2]),
    st.sampled_from([1, 5]),
    st.sampled_from([0, -1]),
)
"""Contexts of cost_fp, cost_fn and cost_tp, with and without a target prevalence."""


def tied_scores(rng, rows=40, names="abc", lift=2):
    """Draw labels of both classes, and the tied scores of one model or more: positives score up to `lift` − 1 more."""
    n = int(rng.integers(4, rows))
    y = rng.random(n) < rng.uniform(0.1, 0.7)
    y[:2] = [True, False]
    levels = int(rng.integers(1, 8))
    drawn = names[: rng.integers(1, len(names) + 1)]
    return y, {name: rng.integers(0, levels + 1, n) + y * rng.integers(0, lift, n) for name in drawn}


def in_parts(few, every, parts=10):
    """Parametrise a search by the number of its cases and the part they are: few, or slowly every one of them."""
    slow = pytest.mark.slow(reason="long searches")
    every_part = [pytest.param(every // parts, part, id=f"part{part}", marks=slow) for part in range(parts)]
    return pytest.mark.parametrize(("cases", "part"), [pytest.param(few, 0, id="few"), *every_part])


def counted(cases):
    """Count the cases of a search, and say how far it is where it is a long one."""
    for number in range(cases):
        if number and number % 100 == 0:
            print(f"{number} of {cases}", flush=True)
        yield number
