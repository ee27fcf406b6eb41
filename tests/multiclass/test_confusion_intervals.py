"""Intervals of confusion matrices against SciPy's Wilson, drawing rows and copies of rows."""

import numpy as np
import pytest
from scipy.stats import binomtest

import rocscope as rs
from rocscope.errors import InputError, LabelError
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


OTHERS = {
    "kappa": ({}, lambda t: tables.kappa(t)),
    "quadratic_kappa": ({}, lambda t: tables.kappa(t, "quadratic")),
    "mcc": ({}, tables.mcc),
    "balanced_accuracy": ({}, tables.STATISTICS["balanced_accuracy"]),
    "macro_f1": ({}, tables.STATISTICS["macro_f1"]),
    "jaccard": ({"of": "b"}, lambda t: tables.per_class(t, "jaccard")[1]),
    "precision": ({"averaging": "weighted"}, lambda t: tables.averaged(t, "precision", "weighted")),
    "specificity": ({"averaging": "micro"}, lambda t: tables.averaged(t, "specificity", "micro")),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", OTHERS)
def test_other_statistics_vary_as_those_of_drawn_rows(name):
    options, statistic = OTHERS[name]
    estimate = TABLE.interval(name, **options)
    rows = np.repeat(np.arange(9), TABLE.counts.ravel())
    rng = np.random.default_rng(7)
    drawn = [statistic(np.bincount(rng.choice(rows, rows.size), minlength=9).reshape(3, 3)) for _ in range(2000)]
    assert estimate.value == pytest.approx(statistic(TABLE.counts))
    assert estimate.standard_error == pytest.approx(np.std(drawn), rel=0.07)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.025)
    assert estimate.reliable


@pytest.mark.parametrize("name", OTHERS)
def test_the_influence_is_the_change_by_one_more_case(name):
    options, statistic = OTHERS[name]
    averaging, counts = options.get("averaging"), tables.with_half_rows(TABLE.counts)
    metric = name
    if not options:
        averaging, metric = tables.averaged_metric(name)
    weight = None if metric in ("mcc", "kappa", "quadratic_kappa") else np.full(3, 1 / 3)
    if "of" in options:
        weight = np.array([0.0, 1.0, 0.0])
    elif averaging == "weighted":
        weight = counts.sum(axis=1) / counts.sum()
    elif averaging == "micro":
        weight = np.ones(3)
    influence = tables.influence(counts, metric, averaging, weight)
    expected = np.empty((3, 3))
    for i, j in np.ndindex(3, 3):
        more, less = counts.copy(), counts.copy()
        more[i, j] += 1e-4
        less[i, j] -= 1e-4
        expected[i, j] = counts.sum() * (statistic(more) - statistic(less)) / 2e-4
    shares = counts / counts.sum()
    np.testing.assert_allclose(influence - (shares * influence).sum(), expected, atol=1e-4)


@pytest.mark.parametrize("name", ["balanced_accuracy", "kappa", "mcc", "macro_f1"])
def test_a_perfect_table_is_not_certain(name):
    estimate = rs.multiclass.ConfusionMatrix(np.diag([5, 5, 5])).interval(name)
    assert (estimate.value, estimate.high) == (1, 1)
    assert 0.3 < estimate.low < 0.75
    assert rs.multiclass.ConfusionMatrix(np.diag([500] * 3)).interval(name).low > 0.98


def test_balanced_accuracy_of_small_classes_is_covered():
    # Recalls of .9 in classes of 60, 30 and 5 rows.
    rng = np.random.default_rng(0)
    hits = rng.binomial([60, 30, 5], 0.9, (400, 3))
    covered = 0
    for a, b, c in hits.tolist():
        matrix = rs.multiclass.ConfusionMatrix([[a, 60 - a, 0], [30 - b, b, 0], [5 - c, 0, c]], rows="actual")
        estimate = matrix.interval("balanced_accuracy")
        covered += estimate.low <= 0.9 <= estimate.high
    assert covered >= 400 * (0.93 - 2 * np.sqrt(0.93 * 0.07 / 400))


def grouped(n_groups=40, size=5, seed=0):
    """Return labels and predictions of groups that are right or wrong together."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups) % 3, size)
    wrong = np.repeat(rng.random(n_groups) < 0.3, size)
    return y, np.where(wrong, (y + 1) % 3, y), np.repeat(np.arange(n_groups), size)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "kappa", "mcc", "macro_f1"])
def test_intervals_allow_for_groups_and_repeats(name):
    y, predicted, group = grouped()
    plain = rs.multiclass.MulticlassPredictions(y, decisions=predicted).confusion().interval(name)
    by_group = rs.multiclass.MulticlassPredictions(y, decisions=predicted, groups=group).confusion().interval(name)
    once = rs.multiclass.MulticlassPredictions(y[::5], decisions=predicted[::5]).confusion().interval(name)
    assert by_group.value == plain.value == once.value
    assert by_group.high - by_group.low > 1.9 * (plain.high - plain.low)
    # The rows of a group are copies: 40 groups are 40 rows, with a t of 39 degrees of freedom.
    assert (by_group.low, by_group.high) == pytest.approx((once.low, once.high), abs=0.035)
    assert "40 groups" in by_group.method
    repeat = np.tile(np.arange(5), 40)
    repeats = rs.multiclass.MulticlassPredictions(y, decisions=predicted, repeat=repeat, row=group).confusion()
    assert (repeats.interval(name).low, repeats.interval(name).high) == (by_group.low, by_group.high)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "kappa", "mcc", "macro_f1"])
@pytest.mark.parametrize("factor", [0.01, 1, 100])
def test_a_factor_on_all_weights_changes_no_interval(name, factor):
    y, predicted, _ = grouped(size=3)
    weight = np.random.default_rng(1).integers(1, 5, y.size)
    matrix = rs.multiclass.ConfusionMatrix.from_labels(y, predicted, sample_weight=weight * factor)
    once = rs.multiclass.ConfusionMatrix.from_labels(y, predicted, sample_weight=weight).interval(name)
    scaled = matrix.interval(name)
    assert [scaled.value, scaled.low, scaled.high] == pytest.approx([once.value, once.low, once.high], rel=1e-6)
    assert (scaled.n, "sampling weights" in scaled.method) == (y.size, True)


def test_frequencies_are_rows():
    y, predicted, _ = grouped(size=1)
    weight = np.random.default_rng(1).integers(1, 4, y.size)
    options = {"sample_weight": weight, "weights": "frequency"}
    matrix = rs.multiclass.MulticlassPredictions(y, decisions=predicted, **options).confusion()
    repeated = rs.multiclass.ConfusionMatrix.from_labels(np.repeat(y, weight), np.repeat(predicted, weight))
    for name in ("accuracy", "kappa"):
        assert matrix.interval(name) == repeated.interval(name)


def test_many_classes_take_little_memory_and_time():
    counts = np.random.default_rng(0).integers(0, 3, (1000, 1000)) + np.diag(np.full(1000, 900))
    estimate = rs.multiclass.ConfusionMatrix(counts, rows="actual").interval("macro_f1")
    assert 0 < estimate.standard_error < 1e-3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"statistic": "kapa"}, InputError, "did you mean 'kappa'"),
        ({"statistic": "recall"}, InputError, r"pass of= \(one of 'a', 'b', 'c'\)"),
        ({"statistic": "recall", "of": "d"}, LabelError, "one of 'a'"),
        ({"statistic": "recall", "of": "a", "averaging": "macro"}, InputError, "got both"),
        ({"statistic": "accuracy", "level": 95}, InputError, "0.95"),
    ],
)
def test_bad_input_is_named(options, error, message):
    with pytest.raises(error, match=message):
        TABLE.interval(**options)


def test_fractional_weights_have_no_interval():
    with pytest.raises(InputError, match="sums of weights; compute the matrix from rows"):
        rs.multiclass.ConfusionMatrix([[1.5, 0], [0, 2.5]]).interval("accuracy")
    with pytest.raises(InputError, match="a denominator above 0"):
        rs.multiclass.ConfusionMatrix([[1, 0], [0, 0]]).interval("recall", of=1)
    with pytest.raises(InputError, match="undefined"):
        rs.multiclass.ConfusionMatrix([[4, 0], [0, 0]]).interval("mcc")
