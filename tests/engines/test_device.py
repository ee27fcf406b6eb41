"""Tensors as data: what NumPy has no type for, gradients, and ranking where they are, by a path that NumPy runs too."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope._base import arrays
from rocscope.engines.device import DeviceScores
from rocscope.errors import LabelError, ScoreError, ShapeError
from strategies import samples

try:
    import torch
except ImportError:
    torch = None

LIBRARIES = [
    pytest.param(np, id="numpy"),
    pytest.param(torch, id="torch", marks=pytest.mark.skipif(torch is None, reason="torch is not installed")),
]
TYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8"]
LABELS = ["int64", "bool", "float32"]
Y, SCORE = np.array([1, 0, 1, 0, 1]), np.array([0.75, 0.25, 0.25, 0.5, -0.0])


def tensor_of(library, array):
    return array if library is np else torch.from_numpy(array.copy())


@pytest.fixture
def ranked_there(monkeypatch):
    """Rank arrays of the host as those of a device are."""
    monkeypatch.setattr(arrays, "RANK_ANYWHERE", True)


def there(library, y, score):
    """The counts that the path of a device gives, and those of arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "RANK_ANYWHERE", True)
        found = rs.ThresholdCounts.from_scores(tensor_of(library, y), tensor_of(library, score))
    assert isinstance(found.ranking, DeviceScores)
    return found, rs.ThresholdCounts.from_scores(y, score)


@pytest.mark.parametrize("library", LIBRARIES)
@given(sample=samples(one_class=True), dtype=st.sampled_from(TYPES), labels=st.sampled_from(LABELS))
def test_counts_are_those_of_arrays(library, sample, dtype, labels):
    y, score = sample.y.astype(labels), np.abs(sample.score).astype(dtype)
    found, expected = there(library, y, score)
    if expected.n_pos and expected.n_neg:
        for ties in ("half", "lower", "upper"):
            assert found.pairs().auc(ties) == expected.pairs().auc(ties)
        assert found.pairs().fraction() == expected.pairs().fraction()
    assert (found.n_pos, found.n_neg, len(found)) == (expected.n_pos, expected.n_neg, len(expected))
    assert found == expected
    assert found.threshold.dtype == expected.threshold.dtype


@pytest.mark.parametrize("library", LIBRARIES)
def test_curves_hulls_and_points(library, ranked_there):
    rng = np.random.default_rng(1)
    y, score = rng.random(500) < 0.4, rng.normal(size=500).round(1)
    expected = rs.ThresholdCounts.from_scores(y.tolist(), score.tolist())
    tensors = tensor_of(library, y), tensor_of(library, score)
    assert rs.auc(*tensors) == rs.auc(expected)
    assert rs.roc(*tensors).hull().y.tolist() == rs.roc(expected).hull().y.tolist()
    counts = rs.ThresholdCounts.from_scores(*tensors)
    assert counts.at(0.3) == expected.at(0.3)
    assert rs.choose(counts).to_dict() == rs.choose(expected).to_dict()
    assert counts + expected == expected + expected
    assert [np.concatenate(axis).tolist() for axis in zip(*counts.points(), strict=True)] == [
        np.concatenate(axis).tolist() for axis in zip(*expected.points(), strict=True)
    ]


@pytest.mark.parametrize("library", LIBRARIES)
def test_zeros_of_either_sign_are_one_level(library):
    found, expected = there(library, np.array([1, 0]), np.array([-0.0, 0.0]))
    assert found == expected
    assert not np.signbit(found.threshold).any()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("y", "score", "error", "words"),
    [
        ([1, 0, 2], [1.0, 2.0, 3.0], LabelError, "2 first occurs in row 2"),
        ([1, 0, 1], [1.0, np.nan, 3.0], ScoreError, "1 missing or infinite score, in row 1"),
        ([1, 0], [1.0, 2.0, 3.0], ShapeError, "one entry per label"),
        ([1, 0], [[1.0, 2.0], [3.0, 4.0]], ShapeError, "one-dimensional"),
        ([], [], ShapeError, "at least one row"),
    ],
)
def test_what_cannot_be_used_is_refused_as_of_arrays(library, y, score, error, words, ranked_there):
    with pytest.raises(error, match=words):
        rs.ThresholdCounts.from_scores(tensor_of(library, np.array(y)), tensor_of(library, np.array(score)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_not_ranked_there_is_copied(library, ranked_there):
    y, score = tensor_of(library, Y), tensor_of(library, SCORE)
    expected = rs.ThresholdCounts.from_scores(Y.tolist(), SCORE.tolist())
    assert rs.ThresholdCounts.from_scores(y, score, pos_label=1) == expected
    assert rs.ThresholdCounts.from_scores(y, score, sample_weight=[1] * 5) == expected
    assert rs.ThresholdCounts.from_scores(Y.tolist(), score) == expected
    assert rs.ThresholdCounts.from_scores(y, tensor_of(library, SCORE > 0.3)).n == 5
    assert rs.Predictions(y, {"a": score}).counts() == expected


@pytest.mark.skipif(torch is None, reason="torch is not installed")
class TestTorch:
    """What PyTorch's tensors bring beside numbers."""

    def test_gradients_and_types_that_numpy_has_not(self):
        y, score = torch.from_numpy(Y), torch.from_numpy(SCORE)
        expected = rs.auc(Y, SCORE)
        for kind in (torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float64):
            assert rs.auc(y, score.to(kind)) == expected
        assert rs.auc(y.float().requires_grad_(), score.clone().requires_grad_()) == expected
        assert rs.auc(y, torch.nn.Parameter(score)) == expected
        assert rs.auc(y, torch._neg_view(-score)) == expected
        assert rs.auc(y, score.to_sparse()) == expected

    def test_numbers_of_bfloat16_stay_what_they_are(self):
        score = torch.tensor([0.1, 0.2, 0.3]).bfloat16()
        threshold = rs.ThresholdCounts.from_scores([1, 0, 1], score).threshold
        assert threshold.dtype == np.float32
        assert torch.equal(torch.from_numpy(threshold.copy()).flip(0).bfloat16(), score)

    def test_every_column_may_be_a_tensor(self):
        y, score = torch.from_numpy(Y), torch.from_numpy(SCORE).requires_grad_()
        weight, group = torch.tensor([1.0, 2, 1, 2, 1], requires_grad=True), torch.tensor([1, 1, 2, 2, 2])
        preds = rs.Predictions(y, {"a": score}, sample_weight=weight, segment=group, columns={"amount": weight})
        assert preds.counts() == rs.ThresholdCounts.from_scores(Y, SCORE, sample_weight=[1.0, 2, 1, 2, 1])
        assert list(preds.by_segment()) == [1, 2]
        assert preds.columns["amount"].tolist() == [1, 2, 1, 2, 1]

    def test_probabilities_of_classes(self):
        proba = torch.softmax(torch.randn(30, 3, generator=torch.Generator().manual_seed(0), requires_grad=True), 1)
        found = rs.multiclass.multiclass_auc(torch.arange(30) % 3, proba)
        assert repr(found) == repr(rs.multiclass.multiclass_auc(np.arange(30) % 3, proba.detach().numpy()))

    def test_memory_is_shared(self):
        score = torch.rand(100)
        assert np.shares_memory(arrays.as_array(score), score.numpy())
