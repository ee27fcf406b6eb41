"""Intervals of confusion matrices against SciPy's Wilson and against drawing rows."""

import numpy as np
import pytest
from scipy.stats import binomtest

import rocscope as rs
from rocscope.errors import InputError, LabelError, RocscopeWarning
from rocscope.multiclass import confusion as tables

TABLE = rs.multiclass.ConfusionMatrix([[20, 5, 4], [0, 15, 7], [13, 4, 60]], classes="abc", rows="actual")


@pytest.mark.parametrize(
    ("options", "hits", "n"),
    [
        ({"statistic": "accuracy"}, 95, 128),
        ({"statistic": "error"}, 33, 128),
        ({"statistic": "recall", "of": "a"}, 20, 29),
        ({"statistic": "precision", "of": "a"}, 20, 33),
        ({"statistic": "specificity", "of": "b"}, 97, 106),
        ({"statistic": "fpr", "of": "b"}, 9, 106),
    ],
)
def test_proportions_have_wilsons_interval(options, hits, n):
    estimate = TABLE.interval(**options, level=0.9)
    expected = binomtest(hits, n).proportion_ci(0.9, method="wilson")
    assert estimate.value == pytest.approx(hits / n)
    assert (estimate.low, estimate.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (estimate.n, estimate.method) == (n, "Wilson")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("options", "statistic"),
    [
        ({"statistic": "kappa"}, tables.kappa),
        ({"statistic": "mcc"}, tables.mcc),
        ({"statistic": "f_score", "averaging": "macro"}, tables.STATISTICS["macro_f1"]),
        ({"statistic": "jaccard", "of": "b"}, lambda t: tables.per_class(t, "jaccard")[1]),
    ],
)
def test_everything_else_is_bootstrapped_as_rows_would_be(options, statistic):
    estimate = TABLE.interval(**options, replicates=4000)
    rows = np.repeat(np.arange(9), TABLE.counts.ravel())
    rng = np.random.default_rng(7)
    drawn = [statistic(np.bincount(rng.choice(rows, rows.size), minlength=9).reshape(3, 3)) for _ in range(4000)]
    assert estimate.value == pytest.approx(statistic(TABLE.counts))
    assert estimate.standard_error == pytest.approx(np.std(drawn), rel=0.06)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.01)
    assert estimate == TABLE.interval(**options, replicates=4000)


def test_replicates_without_a_value_are_counted():
    rare = rs.multiclass.ConfusionMatrix([[8, 0], [0, 1]])
    with pytest.warns(RocscopeWarning, match="of 500 replicates gave no value"):
        assert rare.interval("kappa", replicates=500).value == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"statistic": "kapa"}, InputError, "did you mean 'kappa'"),
        ({"statistic": "recall"}, InputError, r"needs of= \(one of 'a', 'b', 'c'\)"),
        ({"statistic": "recall", "of": "d"}, LabelError, "one of 'a'"),
        ({"statistic": "recall", "of": "a", "averaging": "macro"}, InputError, "got both"),
        ({"statistic": "accuracy", "level": 95}, InputError, "0.95"),
        ({"statistic": "mcc", "replicates": 1}, InputError, "at least 2"),
    ],
)
def test_bad_input_is_named(options, error, message):
    with pytest.raises(error, match=message):
        TABLE.interval(**options)


def test_fractional_weights_have_no_interval():
    with pytest.raises(InputError, match="how many rows"):
        rs.multiclass.ConfusionMatrix([[1.5, 0], [0, 2.5]]).interval("accuracy")
    with pytest.raises(InputError, match="cases that it is a share of"):
        rs.multiclass.ConfusionMatrix([[1, 0], [0, 0]]).interval("recall", of=1)
    with pytest.raises(InputError, match="undefined"):
        rs.multiclass.ConfusionMatrix([[4, 0], [0, 0]]).interval("mcc")
