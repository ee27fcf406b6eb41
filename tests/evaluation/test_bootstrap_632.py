"""The .632 and .632+ bootstrap: the published formula by hand, and a slow computation of every part of it."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.errors import ColumnError, InputError, ModelError, RocscopeWarning
from rocscope.evaluation.learning import Corrected, _relative_overfitting

ERROR, SCORE = -1, 1


def test_the_formula_on_a_case_worked_by_hand():
    """err = .10, Err(1) = .30, γ = .50: R = .2/.4 = .5, w = .632/(1 − .368·.5) = .632/.816 = .774510.

    .632+ = (1 − w)·.10 + w·.30 = .10 + .2·.774510 = .254902; .632 = .0368 + .1896 = .2264.
    """
    found = Corrected.of(0.10, 0.30, 0.50, ERROR)
    assert found.relative_overfitting == pytest.approx(0.5)
    assert found.point632 == pytest.approx(0.2264)
    assert found.point632plus == pytest.approx(0.254902, abs=1e-6)
    assert found.point632plus == pytest.approx(0.2264 + 0.2 * (0.368 * 0.632 * 0.5) / (1 - 0.368 * 0.5))


def test_the_example_of_efron_and_tibshirani():
    """One nearest neighbour, labels that are noise: err = 0, Err(1) = γ = .5; .632 gives .316, .632+ gives .5."""
    found = Corrected.of(0.0, 0.5, 0.5, ERROR)
    assert found.point632 == pytest.approx(0.316)
    assert found.point632plus == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("apparent", "out_of_bag", "without", "rate", "plus"),
    [
        (0.2, 0.2, 0.5, 0.0, 0.2),
        (0.2, 0.1, 0.5, 0.0, 0.368 * 0.2 + 0.632 * 0.1),
        (0.2, 0.3, 0.1, 0.0, 0.368 * 0.2 + 0.632 * 0.3),
        (0.2, 0.6, 0.5, 1.0, 0.368 * 0.2 + 0.632 * 0.6 + 0.3 * 0.368),
    ],
    ids=["no overfitting", "better than apparent", "worse than nothing", "beyond no information"],
)
def test_outside_of_its_range(apparent, out_of_bag, without, rate, plus):
    found = Corrected.of(apparent, out_of_bag, without, ERROR)
    assert (found.relative_overfitting, found.point632plus) == (rate, pytest.approx(plus))
    mirrored = Corrected.of(1 - apparent, 1 - out_of_bag, 1 - without, SCORE)
    assert mirrored.relative_overfitting == pytest.approx(rate)
    assert mirrored.point632plus == pytest.approx(1 - plus)
    assert mirrored.point632 == pytest.approx(1 - found.point632)
    assert _relative_overfitting(apparent, out_of_bag, without) == rate


def test_what_is_not_defined_stays_so():
    assert np.isnan(Corrected.of(0.1, np.nan, 0.5, ERROR).point632plus)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 2))
    return x, (x[:, 0] + rng.normal(size=40) > 0.5).astype(int)


def left_out(x, y, model, replicates):
    """Return, for each bootstrap sample, the rows it left out and the scores they got, through evaluate."""
    preds = rs.evaluate(model, x, y, cv="out_of_bag", repeats=replicates)
    return [(part.row, part.scores[preds.models[0]]) for part in preds.by_repeat().values()]


def rate_of_all_pairs(y, score, loss):
    return np.mean([loss(label, value) for label in y for value in score])


def wrong(label, score):
    return float((score >= 0.5) != label)


def squared(label, score):
    return (score - label) ** 2


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("metric", "loss", "turned"), [("error", wrong, 0), ("brier", squared, 0), ("accuracy", wrong, 1)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_of_rows_is_efron_and_tibshirani_s(data, metric, loss, turned, weighted):
    """Equations 5, 15–17, 27 and 32, row by row and pair by pair; weights repeat labels, scores and losses."""
    x, y = data
    weight = np.random.default_rng(1).integers(1, 4, 40) if weighted else np.ones(40, int)
    model = KNeighborsClassifier(3)
    options = {"sample_weight": weight} if weighted else {}
    with pytest.warns(RocscopeWarning, match="without weights: KNeighbors") if weighted else no_warning():
        found = rs.evaluation.bootstrap_632(model, x, y, metric=metric, replicates=30, **options)[
            "KNeighborsClassifier"
        ]
    own = model.fit(x, y).predict_proba(x)[:, 1]
    apparent = np.average([loss(*pair) for pair in zip(y, own, strict=True)], weights=weight)
    by_row = [[] for _ in y]
    for rows, scores in left_out(x, y, KNeighborsClassifier(3), 30):
        for row, score in zip(rows, scores, strict=True):
            by_row[row].append(loss(y[row], score))
    judged = [row for row in range(40) if by_row[row]]
    out_of_bag = np.average([np.mean(by_row[row]) for row in judged], weights=weight[judged])
    gamma = rate_of_all_pairs(np.repeat(y, weight), np.repeat(own, weight), loss)
    expected = [apparent, out_of_bag, gamma]
    if turned:
        expected = [1 - value for value in expected]
    assert [found.apparent, found.out_of_bag, found.no_information] == pytest.approx(expected)
    overfitting = (out_of_bag - apparent) / (gamma - apparent)
    plus = 0.368 * apparent + 0.632 * out_of_bag
    plus += (out_of_bag - apparent) * 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    assert found.point632plus == pytest.approx(1 - plus if turned else plus)


class no_warning:  # noqa: N801 (stands in for pytest.warns)
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_auc_is_the_mean_over_samples_and_a_half_without_information(data):
    x, y = data
    found = rs.evaluation.bootstrap_632(GaussianNB(), x, y, replicates=25)["GaussianNB"]
    areas = [rs.auc(y[rows], scores) for rows, scores in left_out(x, y, GaussianNB(), 25)]
    assert found.replicates.tolist() == pytest.approx(areas)
    assert found.out_of_bag == pytest.approx(np.mean(areas))
    assert found.no_information == 0.5
    assert found.apparent == rs.auc(y, GaussianNB().fit(x, y).predict_proba(x)[:, 1])


def test_a_function_is_judged_as_its_name_is(data):
    x, y = data
    named = rs.evaluation.bootstrap_632({"nb": GaussianNB()}, x, y, metric="youden", replicates=10)["nb"]
    own = rs.evaluation.bootstrap_632(
        {"nb": GaussianNB()}, x, y, metric=lambda p: p.counts().at(0.5).youden, replicates=10
    )["nb"]
    assert own.to_dict() == named.to_dict()
    loss = rs.evaluation.bootstrap_632(
        {"nb": GaussianNB()}, x, y, metric=rs.calibration.brier, larger_is_better=False, replicates=10
    )["nb"]
    assert loss.apparent < loss.out_of_bag < loss.no_information


def test_it_corrects_what_a_tree_shows_on_its_own_rows():
    """A full tree is right on all its rows; .632+ comes closer than .632 to what is left of that on 1,000 new ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1120, 4))
    y = (x[:, 0] + rng.normal(size=1120) > 0).astype(int)
    x, later, y, truth = train_test_split(x, y, train_size=120, random_state=0, stratify=y)
    tree = DecisionTreeClassifier(random_state=0)
    found = rs.evaluation.bootstrap_632(tree, x, y, metric="accuracy", replicates=60)["DecisionTreeClassifier"]
    actual = np.mean(tree.fit(x, y).predict(later) == truth)
    assert found.apparent == 1
    assert abs(found.point632plus - actual) < 0.1 < found.point632 - actual < 0.2 < found.apparent - actual


def test_several_classes_and_decision_functions(data):
    x = data[0]
    y = np.array(["a", "b", "c"])[(x[:, 0] > 0).astype(int) + (x[:, 1] > 0)]
    for metric in ("auc", "accuracy", "error"):
        found = rs.evaluation.bootstrap_632({"nb": GaussianNB()}, x, y, metric=metric, replicates=10)["nb"]
        assert found.no_information == pytest.approx({"auc": 0.5}.get(metric, found.no_information))
        assert 0 < found.relative_overfitting < 0.5
    crisp = rs.evaluation.bootstrap_632(LinearSVC(), x, y == "a", metric="accuracy", replicates=5)["LinearSVC"]
    assert crisp.apparent == np.mean(LinearSVC(random_state=0).fit(x, y == "a").predict(x) == (y == "a"))


class Narrow(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        if np.unique(X[:, 0]).size < len(X):
            raise MemoryError
        return super().fit(X, y)


def test_a_failing_model_is_named_and_the_others_stay(data):
    x, y = data
    with pytest.warns(
        RocscopeWarning,
        match="is omitted; 4 fits failed, the first: model 'narrow', fold 0, repeat 0: MemoryE",
    ):
        result = rs.evaluation.bootstrap_632({"narrow": Narrow(), "nb": GaussianNB()}, x, y, replicates=4)
    assert list(result) == ["nb"]
    assert len(result.failures) == 4
    with pytest.raises(ModelError, match="no message"):
        rs.evaluation.bootstrap_632(Narrow(), x, y, replicates=4)


def test_shown_as_facts(data):
    x, y = data
    result = rs.evaluation.bootstrap_632({"<nb>": GaussianNB(), "lr": LogisticRegression()}, x, y, replicates=5)
    assert repr(result).startswith("Bootstrap632(auc, .632+: <nb> 0.")
    assert "&lt;nb&gt;" in result._repr_html_()
    assert "<nb>" not in result._repr_html_()
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert len(content["models"]["lr"]["replicates"]) == 5
    assert "apparent=" in repr(result["lr"])
    with pytest.raises(ValueError, match="read-only"):
        result["lr"].replicates[0] = 1


refused = {
    "metric": ({"metric": "aucc"}, InputError, "(did you mean 'auc'?), got 'aucc'; a Context, a CostMatrix"),
    "no replicates": ({"replicates": 0}, InputError, "replicates: expected a whole number of at least 1"),
    "half": ({"replicates": 2.5}, InputError, "replicates: expected a whole number"),
}


@pytest.mark.parametrize("case", refused)
def test_refusals(case, data):
    options, kind, message = refused[case]
    with pytest.raises(kind) as caught:
        rs.evaluation.bootstrap_632(GaussianNB(), *data, **options)
    assert message in str(caught.value)


def test_more_refusals(data):
    x, y = data
    with pytest.raises(InputError, match="expected one of 'micro_precision', 'macro_precision'"):
        rs.evaluation.bootstrap_632(GaussianNB(), x, np.arange(40) % 3, metric="precision")
    with pytest.raises(ColumnError, match="model: expected 'nb', got 'NB'"):
        rs.evaluation.bootstrap_632({"nb": GaussianNB()}, x, y, replicates=1)["NB"]
    with pytest.raises(InputError, match=r"bootstrap samples with two or more classes.*OutOfBag\(stratified=True\)"):
        rs.evaluation.bootstrap_632(GaussianNB(), np.zeros((2, 1)), [0, 1], replicates=3)
