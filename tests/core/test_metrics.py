"""Every metric against its definition in fractions, and against scikit-learn where both mean the same."""

from fractions import Fraction
from inspect import signature
from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk

from metric_oracles import ORACLES, mean, precision, tnr, tpr
from rocscope import OperatingPoint, metrics
from rocscope.errors import InputError
from strategies import counts

tables = st.tuples(counts, counts, counts, counts).filter(any)


def harmonic(a, b):
    return 0 if a == b == 0 else 1 / mean(1 / a, 1 / b) if a and b else 0


def test_every_metric_has_a_definition():
    assert set(ORACLES) == set(metrics.METRICS)


@pytest.mark.parametrize("name", ORACLES)
@given(cells=tables)
def test_definitions(name, cells):
    try:
        expected = float(ORACLES[name].definition(*cells))
    except ZeroDivisionError:
        value = float(metrics.METRICS[name](*cells))
        assert isnan(value) or (value == inf and name in {"lr_positive", "lr_negative", "odds_ratio"})
    else:
        assert float(metrics.METRICS[name](*cells)) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", metrics.METRICS)
@given(table=st.lists(tables, min_size=1, max_size=6))
def test_one_definition_serves_numbers_arrays_and_matrices(name, table):
    metric = metrics.METRICS[name]
    one_by_one = [float(metric(*cells)) for cells in table]
    columns = np.array(table).T
    np.testing.assert_array_equal(metric(*columns), one_by_one)
    matrix = metric(*(np.stack([column, column]) for column in columns))
    np.testing.assert_array_equal(matrix, [one_by_one, one_by_one])


AT_PREVALENCE = [
    name for name, metric in metrics.METRICS.items() if "target_prevalence" in signature(metric).parameters
]


@pytest.mark.parametrize("name", AT_PREVALENCE)
@given(cells=st.tuples(*[st.integers(1, 12)] * 4), prevalence=st.sampled_from([0.01, 0.25, 0.5, 0.9]))
def test_target_prevalence_weighs_the_classes(name, cells, prevalence):
    """The metric of a table whose classes are repeated until their shares are right."""
    tp, fp, fn, tn = cells
    positive, negative = Fraction(str(prevalence)), 1 - Fraction(str(prevalence))
    weighed = [
        positive * Fraction(tp, tp + fn),
        negative * Fraction(fp, fp + tn),
        positive * Fraction(fn, tp + fn),
        negative * Fraction(tn, fp + tn),
    ]
    scale = np.lcm.reduce([cell.denominator for cell in weighed])
    expected = metrics.METRICS[name](*(int(cell * int(scale)) for cell in weighed))
    found = metrics.METRICS[name](*cells, target_prevalence=prevalence)
    assert float(found) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)
    own = metrics.METRICS[name](*cells, target_prevalence=(tp + fn) / sum(cells))
    assert float(own) == pytest.approx(float(metrics.METRICS[name](*cells)), rel=1e-12, abs=1e-12)


SAME_AS_SKLEARN = {
    "tpr": sk.recall_score,
    "precision": sk.precision_score,
    "accuracy": sk.accuracy_score,
    "error": sk.zero_one_loss,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "f_score": sk.f1_score,
    "jaccard": sk.jaccard_score,
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", SAME_AS_SKLEARN)
@given(cells=st.tuples(*[st.integers(1, 6)] * 4))
def test_scikit_learn_agrees(name, cells):
    tp, fp, fn, tn = cells
    y, predicted = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn]), np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    assert float(metrics.METRICS[name](*cells)) == pytest.approx(SAME_AS_SKLEARN[name](y, predicted), rel=1e-13)


@given(cells=st.tuples(*[st.integers(1, 6)] * 4))
def test_scikit_learn_agrees_on_likelihood_ratios(cells):
    tp, fp, fn, tn = cells
    y, predicted = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn]), np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    ratios = (metrics.lr_positive(*cells), metrics.lr_negative(*cells))
    assert ratios == pytest.approx(sk.class_likelihood_ratios(y, predicted), rel=1e-13)


@given(cells=tables, beta=st.sampled_from([0.5, 1, 2, 3]))
def test_f_score_is_a_weighted_harmonic_mean(cells, beta):
    value = float(metrics.f_score(*cells, beta=beta))
    tp, fp, fn, _ = cells
    if not tp:
        assert isnan(value) if fp == fn == 0 else value == 0
        return
    weight = Fraction(str(beta)) ** 2
    expected = (1 + weight) / (1 / precision(*cells) + weight / tpr(*cells))
    assert value == pytest.approx(float(expected), rel=1e-14)


@given(cells=st.tuples(*[st.integers(0, 12)] * 4).filter(lambda c: c[0] + c[2] and c[1] + c[3]))
def test_means_of_both_rates(cells):
    rates = tpr(*cells), tnr(*cells)
    means = [float(metrics.macro_average(*cells, mean=kind)) for kind in ("harmonic", "geometric", "arithmetic")]
    assert means == pytest.approx([float(harmonic(*rates)), sqrt(rates[0] * rates[1]), float(mean(*rates))])


@given(cells=tables, weights=st.tuples(*[st.integers(0, 5)] * 4))
def test_weighted_accuracy(cells, weights):
    tp, fp, fn, tn = (weight * cell for weight, cell in zip(weights, cells, strict=True))
    value = metrics.weighted_accuracy(*cells, **dict(zip(("w_tp", "w_fp", "w_fn", "w_tn"), weights, strict=True)))
    assert isnan(value) if not tp + fp + fn + tn else float(value) == (tp + tn) / (tp + fp + fn + tn)


@pytest.mark.parametrize("size", [1, 3, 5, 7, 11, 10**3, 10**9, 2**53])
@pytest.mark.parametrize("other", [1, 7, 10**6])
def test_a_perfect_table_scores_exactly_1(size, other):
    for name in ("accuracy", "mcc", "kappa", "f_score", "youden", "markedness"):
        assert metrics.METRICS[name](size, 0, 0, other) == 1.0


@pytest.mark.parametrize("name", ["mcc", "kappa", "odds_ratio"])
def test_products_of_large_counts_do_not_overflow(name):
    large, small = (metrics.METRICS[name](*(np.int64(cell) * scale for cell in (6, 1, 2, 3))) for scale in (2**58, 1))
    assert large == pytest.approx(small, rel=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda: metrics.precision(1, 1, 1, 1, target_prevalence=1.5),
        lambda: metrics.macro_average(1, 1, 1, 1, mean="quadratic"),
        lambda: metrics.f_score(1, 1, 1, 1, beta=0),
        lambda: metrics.f_score(1, 1, 1, 1, beta=nan),
        lambda: OperatingPoint(1, 1, 1, 1).at_prevalence(2),
    ],
)
def test_options_that_make_no_sense(call):
    with pytest.raises(InputError, match=r"expected .*, got .*"):
        call()
