"""Nested cross-validation: the published algorithm step by step, variances by all pairs, and coverage by simulation."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedGroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from nested_cases import CONTRASTS, DESIGNS, Discriminant, SelectedBayes, nested_values, study
from rocscope.errors import InputError, ModelError, RocscopeWarning, ScoreError
from rocscope.evaluation.fitting import task_of
from rocscope.evaluation.measures import measure_of
from rocscope.evaluation.nested import FoldFigure, interval
from rocscope.inference import estimate_of, statistics
from rocscope.inference.estimate import Hypothesis
from rocscope.multiclass import CostMatrix

MODELS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
CONTEXT = rs.Context(cost_fn=3, cost_tn=0.5)
MIXED = rs.Context(target_prevalence=0.2, cost_fn=4)


def nested(models, X, y, **options):
    return rs.evaluation.nested_cross_validation(models, X, y, **{"cv": 4, "repeats": 2, "progress": False} | options)


def data(n=80, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) + 0.7 * y[:, None], y


def right(model, X, y):
    return np.asarray(model.predict(X) == y, float)


def squared(model, X, y):
    return (model.predict_proba(X)[:, 1] - y) ** 2


def surprise(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y])


def cost(model, X, y):
    return np.array([[0.5, 1.0], [3.0, 0.0]])[y, model.predict(X)]


def as_published(loss, X, y, split, repeats, folds):
    """The R code of Bates, Hastie & Tibshirani, with the loop over pairs as it stands there; folds of equal size."""
    a, b, inner_errors, outer_means = [], [], [], []
    for repeat in range(repeats):
        fold = split[repeat]
        held = {}
        for f1, f2 in combinations(range(folds), 2):
            train = (fold != f1) & (fold != f2)
            for tested, left in ((f1, f2), (f2, f1)):
                held[tested, left] = loss(train, fold == tested)
        outer = []
        for f1 in range(folds):
            e_out = loss(fold != f1, fold == f1)
            e_bar = np.concatenate([held[f2, f1] for f2 in range(folds) if f2 != f1])
            a.append((e_bar.mean() - e_out.mean()) ** 2)
            b.append(e_out.var(ddof=1) / e_out.size)
            outer.append(e_out)
        inner_errors.append(np.concatenate(list(held.values())))
        outer_means.append(np.concatenate(outer).mean())
    bias = (1 + ((folds - 2) / folds) ** 1.5) * (np.mean(inner_errors) - np.mean(outer_means))
    return np.mean(inner_errors) - bias, np.mean(np.array(a)) - np.mean(b), np.mean(b)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("metric", "loss"), [("accuracy", right), ("brier", squared), ("log_loss", surprise), (CONTEXT, cost)]
)
def test_it_is_the_published_algorithm(metric, loss):
    X, y = data()
    models = {"bayes": GaussianNB(), "two": GaussianNB(var_smoothing=0.5)}
    found = nested(models, X, y, metric=metric)
    preds = rs.evaluate(models, X, y, cv=4, repeats=2)
    split = [part.fold - 4 * number for number, part in enumerate(preds.by_repeat().values())]

    def of(name):
        def fitted(train, test):
            return loss(clone(models[name]).fit(X[train], y[train]), X[test], y[test])

        return fitted

    losses = {"bayes": of("bayes"), "two": of("two"), "difference": lambda *rows: of("two")(*rows) - of("bayes")(*rows)}
    for name, each in losses.items():
        value, excess, within = as_published(each, X, y, split, 2, 4)
        inflation = np.clip(np.sqrt(max(0, excess) / (within / 3)), 1, 2)
        estimate = found[0].difference if name == "difference" else found.estimates[name]
        assert estimate.value == pytest.approx(value, rel=1e-10)
        assert estimate.standard_error == pytest.approx(inflation * np.sqrt(within / 4), rel=1e-10)
        reach = stats.norm.ppf(0.975) * estimate.standard_error
        assert (estimate.low, estimate.high) == pytest.approx((value - reach, value + reach))
    covariance = found.covariance
    assert covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] == pytest.approx(
        found[0].difference.standard_error ** 2
    )


def figure(metric, y, group=None, weight=None):
    return FoldFigure.of(metric, task_of(np.zeros((len(y), 1)), y, None, weight, "auto"), group)


def test_the_variance_of_an_area_has_no_bias():
    # Two models that score a positive alike with one of these pairs and a negative with one of those, all samples of
    # two and two: the mean of the estimates is the covariance of the areas.
    high, low = [(1, 2), (2, 0), (3, 3)], [(0, 1), (1, 1), (2, 3), (2, 0)]
    found, rows = figure("auc", np.array([1, 1, 0, 0])), np.arange(4)
    samples = [np.array(each).T for each in product(high, high, low, low)]
    areas = np.array([[found.value(rows, score) for score in sample] for sample in samples])
    mean = np.mean([found.covariance(rows, list(sample)) for sample in samples], axis=0)
    assert np.allclose(mean, np.cov(areas.T, bias=True), rtol=1e-12)


def test_the_variance_of_an_area_of_all_disjoint_pairs():
    y, score = np.array([1, 1, 1, 0, 0]), np.array([3.0, 1.0, 2.0, 2.0, 0.0])
    right = (score[:3, None] > score[3:]) + 0.5 * (score[:3, None] == score[3:])
    apart = [right[i, k] * right[j, m] for i, j in permutations(range(3), 2) for k, m in permutations(range(2), 2)]
    expected = right.mean() ** 2 - np.mean(apart)
    assert figure("auc", y).covariance(np.arange(5), [score])[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["auc", "brier", "accuracy", MIXED])
def test_values_are_those_of_the_metric_and_variances_those_of_groups_and_weights(metric):
    rng = np.random.default_rng(2)
    n, y = 300, rng.integers(0, 2, 300)
    weight, score = rng.random(n) + 0.5, np.round(rng.random(n), 2)
    group = np.arange(n)  # of one row each, which is what rows are
    seen = score if metric == "auc" else (score - y) ** 2
    rows = np.arange(n)
    single, grouped = (figure(metric, y, g).covariance(rows, [seen, seen[::-1].copy()]) for g in (None, group))
    assert np.allclose(single, grouped, rtol=0.02)
    twice = figure(metric, np.repeat(y, 2), np.repeat(group, 2))
    assert np.allclose(
        twice.covariance(np.arange(2 * n), [np.repeat(seen, 2), np.repeat(seen[::-1], 2)]), grouped, rtol=1e-9
    )
    weighted = figure(metric, y, None, weight)
    (even,) = figure(metric, y, None, np.ones(n)).covariance(rows, [seen]).ravel()
    assert even == pytest.approx(single[0, 0], rel=0.02)
    if metric == "auc":
        assert weighted.value(rows, seen) == pytest.approx(rs.auc(y, score, sample_weight=weight))
        expected = rs.auc_interval(y, score, sample_weight=weight, method="delong").standard_error ** 2
        assert weighted.covariance(rows, [seen])[0, 0] == pytest.approx(expected)
    elif metric == "brier":
        assert weighted.value(rows, seen) == pytest.approx(rs.calibration.brier(y, score, sample_weight=weight))
    elif metric is MIXED:
        parts = [np.average(seen[y == label], weights=weight[y == label]) for label in (0, 1)]
        assert weighted.value(rows, seen) == pytest.approx(0.8 * parts[0] + 0.2 * parts[1])


@pytest.mark.every(4)
@pytest.mark.parametrize("metric", ["auc", "accuracy", "error", "brier", "log_loss", CONTEXT, MIXED])
def test_values_of_folds_are_those_of_evaluate(metric):
    X, y = data()
    models = {"bayes": GaussianNB(), "margin": LinearSVC(random_state=0)}
    if metric in ("brier", "log_loss"):
        models.pop("margin")
    found = nested(models, X, y, metric=metric, repeats=1)
    preds = rs.evaluate(models, X, y, cv=4)
    rows = [np.flatnonzero(preds.fold == k) for k in range(4)]
    pairs = [(np.setdiff1d(preds.row, [*rows[k], *rows[j]]), rows[j]) for k, j in permutations(range(4), 2)]
    without_two = rs.evaluate(models, X, y, cv=pairs)
    measure = measure_of(metric, several_classes=False)
    for name, estimate in found.estimates.items():
        response = preds.source.responses[name]
        outer, inner = (
            np.mean([measure.of(part.select(models=[name]), response) for part in each.by_fold().values()])
            for each in (preds, without_two)
        )
        assert estimate.value == pytest.approx(outer - (inner - outer) * 0.5**1.5, rel=1e-10)
    assert list(found.estimates) == list(models)
    assert len(found) == len(models) * (len(models) - 1) // 2
    for estimate in found.estimates.values():
        assert estimate.low < estimate.value < estimate.high
        assert "nested 4-fold cross-validation, stratified, inflation" in estimate.method
    if metric == "error":
        other = nested(models, X, y, metric="accuracy", repeats=1)
        assert found.estimates["bayes"].value == pytest.approx(1 - other.estimates["bayes"].value)
        assert found[0].difference.value == pytest.approx(-other[0].difference.value)


def test_several_classes_and_their_costs():
    X, y = data(90, 3)
    ones = CostMatrix([[0, 1, 1], [1, 0, 1], [1, 1, 0]], classes=[0, 1, 2])
    by_cost, error = (nested(MODELS, X, y, metric=metric) for metric in (ones, "error"))
    assert by_cost.estimates["tree"].value == pytest.approx(error.estimates["tree"].value)
    assert by_cost[0].p_value == pytest.approx(error[0].p_value)
    for metric in ("brier", "log_loss"):
        assert nested(GaussianNB(), X, y, metric=metric).estimates["GaussianNB"].low > 0


def test_groups_stay_together_and_count_once():
    X, y = data(60)
    groups = np.arange(120) // 2
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    found = nested(KNeighborsClassifier(1), X, y, metric="accuracy", groups=groups).estimates
    given = nested(
        KNeighborsClassifier(1), X, y, metric="accuracy", groups=groups, cv=StratifiedGroupKFold(4), repeats=1
    )
    for estimate in (*found.values(), *given.estimates.values()):
        assert estimate.value < 0.95  # a neighbour that is the row itself would have none wrong
        assert estimate.standard_error > 0.9 * np.sqrt(estimate.value * (1 - estimate.value) / 60)


def test_models_like_each_other_differ_by_nothing():
    X, y = data()
    found = nested({"a": GaussianNB(), "b": GaussianNB()}, X, y)[0]
    assert (found.difference.value, found.difference.low, found.difference.high, found.p_value) == (0, 0, 0, 1)
    perfect = nested(GaussianNB(), X + 20 * y[:, None], y).estimates["GaussianNB"]
    assert (perfect.value, perfect.reliable) == (1, False)


def test_an_event_of_probability_zero_leaves_no_interval():
    X, y = data(40)
    found = nested(DecisionTreeClassifier(random_state=0), X, y, metric="log_loss").estimates["DecisionTreeClassifier"]
    assert np.isinf(found.value)
    assert np.isnan(found.low)
    assert "had probability 0" in found.reason


def test_the_number_of_fits_is_told_before():
    X, y = data(24)
    heard = []
    nested(MODELS, X, y, cv=3, repeats=4, progress=lambda *told: heard.append(told))
    assert heard[0] == (1, 2 * 4 * 6)
    assert heard[-1] == (48, 48)
    with pytest.warns(RocscopeWarning, match="each model is fitted 1,002 times"):
        nested(SelectedBayes(2), X, y, cv=3, repeats=167)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"metric": "ks"}, InputError, "metric: expected .*auc.* costs, got 'ks'"),
        ({"metric": lambda preds: 1.0}, InputError, "mean over rows"),
        ({"metric": "nonsense"}, InputError, "nonsense"),
        ({"cv": 2, "repeats": 1}, InputError, "three or more folds"),
        ({"cv": "time_order", "repeats": 1}, InputError, "three or more folds"),
        ({"cv": ShuffleSplit(4), "repeats": 1}, InputError, "three or more folds"),
        ({"cv": "leave_one_out", "repeats": 1}, InputError, "at least 2 rows .*use fewer folds"),
        ({"cv": 20, "repeats": 1, "y": np.repeat([0, 1], [60, 20])}, InputError, "fewer in fold 0"),
        ({"level": 1}, InputError, "level"),
        ({"repeats": 0}, InputError, "repeats"),
        ({"adjust": "max-t"}, InputError, "adjust"),
    ],
)
def test_what_is_refused(options, error, words):
    X, y = data()
    with pytest.raises(error, match=words):
        nested(Discriminant(), X, options.pop("y", y), **options)


def test_what_models_lack_is_said():
    X, y = data()
    with pytest.raises(ScoreError, match="probabilities"):
        nested(LinearSVC(), X, y, metric="brier")
    with pytest.raises(ModelError, match="bins"):
        nested(GaussianNB(priors=["bins"]), X, y)
    with pytest.warns(RocscopeWarning, match="is omitted; "):
        found = nested({"good": GaussianNB(), "bad": GaussianNB(priors=["bins"])}, X, y)
    assert list(found.estimates) == ["good"]


@pytest.mark.parametrize(
    ("metric", "smooth"),
    [
        ("f1", statistics.at(0.5, "f1")),
        ("recall", statistics.at(0.5, "tpr")),
        ("average precision", statistics.average_precision()),
        (statistics.net_benefit_at(0.2), statistics.net_benefit_at(0.2)),
    ],
)
def test_any_smooth_figure_has_the_values_and_variances_of_its_influences(metric, smooth):
    """In each fold as `estimate_of` has them, less the bias; in groups too, and with weights, which are no counts."""
    X, y = data(150)
    found = nested({"one": Discriminant(), "two": GaussianNB()}, X, y, metric=metric, repeats=2)
    assert list(found.estimates) == ["one", "two"]
    assert all(each.low < each.value < each.high for each in found.estimates.values())
    rng = np.random.default_rng(2)
    score, group, weight = rng.random(150), np.arange(150) // 5, rng.integers(1, 4, 150)
    rows = np.arange(150)
    for groups, weights in ((None, None), (group, None), (None, weight)):
        of_fold = figure(metric, y, groups, weights)
        seen = (score >= 0.5) * 1.0 if of_fold.of_decisions else score
        preds = rs.Predictions(y == 1, score, sample_weight=weights, weights="sampling", groups=groups)
        expected = estimate_of(preds, smooth)
        bias = smooth.linearise(preds.counts()).bias / 150
        assert of_fold.value(rows, seen) == pytest.approx(expected.value - bias)
        (variance,) = of_fold.covariance(rows, [seen]).ravel()
        assert variance**0.5 == pytest.approx(expected.standard_error, rel=0.02)
    assert figure(metric, y).ends == (smooth.scale.low, smooth.scale.high)


def test_directions_and_margins_may_be_asked_for():
    X, y = data()
    less = nested(MODELS, X, y, alternative="less")[0]
    assert 1 - less.p_value == pytest.approx(nested(MODELS, X, y, alternative="greater")[0].p_value)
    assert nested(MODELS, X, y, test="noninferiority", margin=0.5)[0].p_value < 0.01


@pytest.mark.parametrize("name", DESIGNS)
def test_the_short_way_of_the_simulation_is_the_function(name):
    design = DESIGNS[name]
    X, y = design.sample(design.n, np.random.default_rng(5))
    found = nested(design.models, X, y, metric=design.metric)
    preds = rs.evaluate(design.models, X, y, cv=4, repeats=2)
    splits = [part.fold - 4 * number for number, part in enumerate(preds.by_repeat().values())]
    values = nested_values(design, X, y, splits)
    for contrast, estimate in zip(CONTRASTS, (*found.estimates.values(), found[0].difference), strict=True):
        expected = interval(values, contrast, Hypothesis(), y.size, "")
        assert (estimate.value, estimate.standard_error) == pytest.approx(
            (expected.value, expected.standard_error), rel=1e-9, abs=1e-12
        )


@pytest.mark.slow
def test_noise_that_selection_finds_is_held_in_small():
    found = study(DESIGNS["selection on noise"], 30, cv=5, repeats=2)
    assert found[:, :, 0].mean() >= 0.85
    assert found[:, 0, 3].mean() > 1.1


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_intervals_hold_the_truth(name):
    held = study(DESIGNS[name], 300)[:, :, 0].mean(axis=0)
    print(name, held)
    assert (held >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / 300)).all()
