"""The trees: leaves by hand, splits against a search cut by cut, and the hull of a tree's leaves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.tree import DecisionTreeClassifier, export_text

import rocscope as rs
from rocscope.estimators.trees import best_split


def area_of_two_leaves(left, right):
    """AUC of a split of two classes: each side's rows have its share of positives as their score."""
    (neg_left, pos_left), (neg_right, pos_right) = left, right
    share = [pos / (neg + pos) for neg, pos in (left, right)]
    wins = sum(
        pos * neg * (1.0 if own > other else 0.5 if own == other else 0.0)
        for own, pos in zip(share, (pos_left, pos_right), strict=True)
        for other, neg in zip(share, (neg_left, neg_right), strict=True)
    )
    return wins / ((neg_left + neg_right) * (pos_left + pos_right))


def slow_area(left, right):
    """Mean over pairs of classes of the area on the rows of the pair; a side without such rows has no leaf."""
    areas = []
    for a, b in combinations(range(len(left)), 2):
        sides = [(left[a], left[b]), (right[a], right[b])]
        areas.append(0.5 if any(sum(side) == 0 for side in sides) else area_of_two_leaves(*sides))
    return sum(areas) / len(areas)


def slow_split(X, y, weight, classes):
    """Try every cut of every column, one by one."""
    best = None
    for feature in range(X.shape[1] if len(classes) > 1 else 0):
        for low, high in zip(np.unique(X[:, feature])[:-1], np.unique(X[:, feature])[1:], strict=True):
            goes_left = X[:, feature] <= low
            left, right = (
                [int(weight[rows & (y == cls)].sum()) for cls in classes] for rows in (goes_left, ~goes_left)
            )
            key = (round(slow_area(left, right), 12), min(sum(left), sum(right)), -feature, -low)
            if best is None or key > best[0]:
                best = (key, feature, (low + high) / 2)
    return best


tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, k - 1), st.integers(1, 3)),
        min_size=2,
        max_size=14,
    )
)


@given(tables)
def test_the_split_is_the_one_that_a_search_cut_by_cut_finds(rows):
    *columns, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    X, classes = np.column_stack(columns).astype(float), np.unique(y)
    counts = (y[:, None] == classes) * weight[:, None].astype(float)
    found, wanted = best_split(X, counts, 1), slow_split(X, y, weight, classes)
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert (round(found.auc, 12), found.feature, found.threshold) == (wanted[0][0], *wanted[1:])


@given(tables)
def test_whole_weights_equal_repeated_rows(rows):
    *columns, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    X = np.column_stack(columns).astype(float)
    again = np.repeat(np.arange(len(y)), weight)
    weighted = rs.estimators.AUCTreeClassifier(min_samples_leaf=2).fit(X, y, sample_weight=weight)
    repeated = rs.estimators.AUCTreeClassifier(min_samples_leaf=2).fit(X[again], y[again])
    for name in ("feature", "threshold", "counts"):
        assert np.array_equal(
            getattr(weighted.tree_, name), getattr(repeated.tree_, name), equal_nan=name == "threshold"
        )


@given(tables)
def test_a_full_tree_separates_what_can_be_separated(rows):
    *columns, y, _ = (np.array(column) for column in zip(*rows, strict=True))
    X = np.column_stack(columns).astype(float)
    model = rs.estimators.AUCTreeClassifier(smoothing="none").fit(X, y)
    proba = model.predict_proba(X)
    for row in range(len(y)):
        same = (X[row] == X).all(axis=1)
        assert proba[row] == pytest.approx([np.mean(y[same] == cls) for cls in model.classes_])


def test_the_area_of_a_split_of_two_classes_is_that_of_its_roc_curve():
    X, y = np.array([[1.0], [2], [3], [4], [5], [6]]), np.array([0, 0, 1, 0, 1, 1])
    model = rs.estimators.AUCTreeClassifier(max_depth=1, smoothing="none").fit(X, y)
    assert rs.auc(y, model.predict_proba(X)[:, 1]) == pytest.approx(5 / 6, abs=1e-15)
    assert model.tree_.auc[0] == pytest.approx(5 / 6, abs=1e-15)
    assert model.tree_.threshold[0] == 2.5
    assert repr(model.tree_) == "Tree(2 leaves, depth=1)"


def test_it_goes_on_where_no_single_split_helps():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    model = rs.estimators.AUCTreeClassifier().fit(X, y)
    assert model.tree_.auc[0] == 0.5
    assert model.score(X, y) == 1
    assert (model.get_depth(), model.get_n_leaves()) == (2, 4)


def test_limits_of_growth_are_kept():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    model = rs.estimators.AUCTreeClassifier(max_depth=4, min_samples_leaf=10).fit(X, y)
    assert model.get_depth() == 4
    assert np.bincount(model.apply(X))[model.tree_.feature < 0].min() >= 10
    assert rs.estimators.AUCTreeClassifier(max_depth=0).fit(X, y).get_n_leaves() == 1


def test_neighbouring_floats_are_still_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2)]])
    assert rs.estimators.AUCTreeClassifier().fit(X, [0, 1]).predict(X).tolist() == [0, 1]
    assert rs.estimators.AUCTreeClassifier().fit([[-1.7e308], [1.7e308]], [0, 1]).predict(
        [[-1e308], [1e308]]
    ).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": -1}, "max_depth: expected None or at least 0, got -1"),
        ({"min_samples_leaf": "two"}, "min_samples_leaf: expected a weight of at least 0, got 'two'"),
        (
            {"smoothing": "laplac"},
            "smoothing: expected one of 'laplace', 'm', 'none' .did you mean 'laplace'.., got 'laplac'",
        ),
        ({"smoothing": "m", "m": -1}, "m: expected a number of at least 0, got -1"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    kinds = (
        [rs.estimators.AUCTreeClassifier, rs.estimators.SmoothedTreeClassifier]
        if "smoothing" in parameters
        else [rs.estimators.AUCTreeClassifier]
    )
    for kind in kinds:
        with pytest.raises(rs.errors.InputError, match=message):
            kind(**parameters).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("sample_weight", [None, "random"])
@pytest.mark.parametrize(("smoothing", "m"), [("laplace", 2.0), ("m", 3.0), ("none", 2.0)])
def test_smoothed_leaves_equal_the_formula_counted_row_by_row(smoothing, m, sample_weight):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.choice(["a", "b", "c"], 80)
    weight = np.ones(80) if sample_weight is None else rng.integers(1, 5, 80).astype(float)
    model = rs.estimators.SmoothedTreeClassifier(smoothing=smoothing, m=m, max_depth=3, random_state=0)
    plain = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y, sample_weight=weight)
    model.fit(X, y, sample_weight=weight)
    assert np.array_equal(model.apply(X), plain.apply(X))
    mix = np.array([weight[y == cls].sum() for cls in "abc"]) / weight.sum()
    for leaf in np.unique(plain.apply(X)):
        rows = plain.apply(X) == leaf
        counts = np.array([weight[rows & (y == cls)].sum() for cls in "abc"])
        wanted = {
            "laplace": (counts + 1) / (counts.sum() + 3),
            "m": (counts + m * mix) / (counts.sum() + m),
            "none": counts / counts.sum(),
        }[smoothing]
        assert model.predict_proba(X[rows]) == pytest.approx(np.tile(wanted, (rows.sum(), 1)))
    assert np.array_equal(model.predict(X), np.array(list("abc"))[model.predict_proba(X).argmax(axis=1)])


def test_laplace_ranks_an_unpruned_tree_better():
    """As Provost & Domingos report: pure leaves of one row tie with pure leaves of many unless they are smoothed."""
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.3).astype(int)
    X = np.round(rng.normal(size=(3000, 4)) + 0.7 * y[:, None], 1)
    train, test = slice(0, 1500), slice(1500, None)
    auc = {
        kind: rs.auc(
            y[test],
            rs.estimators.SmoothedTreeClassifier(smoothing=kind, min_samples_leaf=3, random_state=0)
            .fit(X[train], y[train])
            .predict_proba(X[test])[:, 1],
        )
        for kind in ("none", "laplace")
    }
    assert auc["laplace"] > auc["none"] + 0.01


def test_rules_are_printed_as_scikit_learn_prints_them():
    # Two clean splits, on which both trees agree.
    X = np.array([[1, 9], [2, 1], [3, 4], [4, 7], [5, 2], [6, 3]])
    y = np.array(["no", "no", "yes", "yes", "no", "no"])
    tree = rs.estimators.AUCTreeClassifier().fit(X, y)
    other = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert tree.tree_.feature.tolist() == other.tree_.feature.clip(-1).tolist()
    assert tree.export_text() == export_text(other)
    named = {"feature_names": ["a", "b"], "decimals": 1}
    assert tree.export_text(**named) == export_text(other, **named)
    with pytest.raises(rs.errors.InputError, match="expected 2 names, one per feature, got 1"):
        tree.export_text(["a"])


def test_importances_are_the_shares_of_the_area_that_splits_add():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=200) > 0).astype(int)
    tree = rs.estimators.AUCTreeClassifier(max_depth=3, smoothing="none").fit(X, y)
    # Scores by the order of the leaves, in which each split puts the side with more positives first.
    order = np.zeros(len(tree.tree_.feature))
    share = tree.tree_.counts[:, 1] / tree.tree_.counts.sum(axis=1)
    for node in np.flatnonzero(tree.tree_.feature >= 0):
        left, right = tree.tree_.left[node], tree.tree_.right[node]
        step = 3.0 ** -tree.tree_.depth[node] * (1 if share[left] > share[right] else -1)
        order[left], order[right] = order[node] + step, order[node] - step
    area = rs.auc(y, order[tree.apply(X)]) - 0.5
    is_split = tree.tree_.feature >= 0
    pairs = tree.tree_.counts[is_split].prod(axis=1)
    added = (tree.tree_.auc[is_split] - 0.5) * pairs / tree.tree_.counts[0].prod()
    assert added.sum() == pytest.approx(area)
    expected = [added[tree.tree_.feature[is_split] == j].sum() / area for j in range(3)]
    np.testing.assert_allclose(tree.feature_importances_, expected)
    assert rs.estimators.AUCTreeClassifier(max_depth=0).fit(X, y).feature_importances_.tolist() == [0, 0, 0]
