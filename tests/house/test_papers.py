"""The papers' tables: their learner, their data, and the scripts that print them."""

import csv
import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import entropy
from sklearn.naive_bayes import CategoricalNB
from sklearn.utils.estimator_checks import check_estimator

import rocscope as rs

FOLDER = Path(__file__).parents[2] / "examples" / "papers"


@pytest.fixture(scope="module", autouse=True)
def papers():
    """The modules of the scripts, which import each other by their plain names."""
    sys.path.insert(0, str(FOLDER))
    names = ("data", "naive_bayes", "loess_bayes", "multiway_tree", "program_roc", "running", "rows")
    names += ("vuk_curk_2006", "lachiche_flach_2003")
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(FOLDER))


def options(folder, **others):
    return SimpleNamespace(
        **{"data": None, "seeds": 1, "quick": True, "jobs": 1, "offline": True, "output": folder}
        | {"tree": "multiway", "bayes": "loess"}
        | others
    )


slowly = pytest.mark.slow(reason="other estimators in scikit-learn's checks")


@pytest.mark.filterwarnings("ignore:.*check_array_api_input.*")
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("naive_bayes", "BinnedNaiveBayes"),
        pytest.param("loess_bayes", "LoessNaiveBayes", marks=slowly),  # 20 s
        pytest.param("multiway_tree", "MultiwayTree", marks=slowly),
    ],
)
def test_the_learners_pass_scikit_learns_checks(papers, module, name):
    check_estimator(getattr(getattr(papers, module), name)())


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=4, max_size=30)


@given(codes)
def test_naive_bayes_of_names_is_scikit_learns_with_one_more_value(papers, rows):
    table = np.array(rows)
    X, y = table[:, :2], table[:, 2]
    ours = papers.naive_bayes.BinnedNaiveBayes(nominal=[True, True]).fit(X, y)
    seen = [np.unique(column) for column in X.T]
    compact = np.column_stack([np.searchsorted(values, column) for values, column in zip(seen, X.T, strict=True)])
    theirs = CategoricalNB(min_categories=[values.size + 1 for values in seen]).fit(compact, y)
    k = theirs.classes_.size
    # Laplace's rule for the classes too, which scikit-learn does not apply.
    prior = (theirs.class_count_ + 1) / (len(y) + k)
    expected = theirs.predict_joint_log_proba(compact) - theirs.class_log_prior_ + np.log(prior)
    expected = np.exp(expected - expected.max(axis=1, keepdims=True))
    np.testing.assert_allclose(ours.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


def test_bins_hold_equally_many_rows_and_missing_values_are_a_category(papers):
    X = np.array([[0.0], [1], [2], [3], [np.nan], [np.nan]])
    model = papers.naive_bayes.BinnedNaiveBayes(bins=2).fit(X, [0, 0, 1, 1, 1, 1])
    assert model.edges_.tolist() == [[2]]
    # Per class (support + 3 values + 1): low, high, missing of class 0: 2, 0, 0; of class 1: 0, 2, 2.
    share = np.array([[3 / 6, 1 / 6, 1 / 6], [1 / 8, 3 / 8, 3 / 8]]) * np.array([[3 / 8], [5 / 8]])
    expected = share / share.sum(axis=0)
    np.testing.assert_allclose(model.predict_proba([[-9], [9], [np.nan]]), expected.T)


def test_bins_are_learned_from_training_rows_only(papers):
    X = np.random.default_rng(0).normal(size=(50, 1))
    y = np.arange(50) % 2
    model = papers.naive_bayes.BinnedNaiveBayes().fit(X[:25], y[:25])
    assert set(model.edges_.ravel()) <= set(X[:25].ravel())


def test_a_class_that_training_rows_lack_is_known_when_named(papers):
    model = papers.naive_bayes.BinnedNaiveBayes(nominal=[True], classes=range(3)).fit([[0], [1]], [0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict_proba([[0]]) > 0).all()


def bent(p):
    if p > 0.9:
        return 1 / (1 + 9 ** -(10 * (p - 0.9) + 1))
    return 1 / (1 + 9 ** (10 * (0.1 - p) + 1)) if p < 0.1 else p


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=6, max_size=30))
def test_loess_is_a_weighted_line_at_each_value(papers, rows):
    x, y = np.array(rows, float).T
    values = np.unique(x)
    if values.size < 2:
        return
    kinds = np.unique(y)
    count = np.array([[((x == v) & (y == c)).sum() for c in kinds] for v in values], float)
    found = papers.loess_bayes.local_shares(values, count, values, 1.0)
    for v, shares in zip(values, found, strict=True):
        weight = (1 - (np.abs(x - v) / np.abs(x - v).max()) ** 3) ** 3
        reach = np.unique(x[weight > 0]).size  # one value, and the line has no slope
        expected = [
            bent(np.polynomial.Polynomial.fit(x, y == c, min(reach, 2) - 1, w=np.sqrt(weight))(v)) for c in kinds
        ]
        np.testing.assert_allclose(shares, np.array(expected) / sum(expected), atol=1e-6)


def test_loess_looks_at_its_window_only(papers):
    # Half of ten rows is five; the window of the least value ends behind the sixth, whose own weight is 0.
    x, count = np.arange(10.0), np.column_stack([np.ones(10), np.zeros(10)])
    shares = papers.loess_bayes.local_shares
    least = shares(x, count, x, 0.5)[0]
    for row, changes in ((4, True), (5, False), (9, False)):
        other = count.copy()
        other[row] = other[row, ::-1]
        assert bool(shares(x, other, x, 0.5)[0, 0] != least[0]) is changes
    # Three rows of one value step over the last that is wanted, and the window holds all rows.
    count[6] = [2, 1]
    other = count.copy()
    other[8] = other[8, ::-1]
    assert shares(x, other, x, 0.5)[0, 0] != shares(x, count, x, 0.5)[0, 0]


@given(codes)
def test_naive_bayes_of_shares_is_the_product_that_starts_again_from_nothing(papers, rows):
    table = np.array(rows)
    X, y = table[:, :2], table[:, 2]
    model = papers.loess_bayes.LoessNaiveBayes(nominal=[True, True]).fit(X, y)
    classes = np.unique(y)
    prior = np.array([(y == c).mean() for c in classes])
    for row, found in zip([[0, 0], [1, 2], [3, 1]], model.predict_proba([[0, 0], [1, 2], [3, 1]]), strict=True):
        proba = prior.copy()
        for column, value in zip(X.T, row, strict=True):
            at = y[column == value]
            shares = [(at == c).mean() for c in classes] if at.size else np.full(classes.size, 1 / classes.size)
            proba = proba * shares / prior
            proba = proba / proba.sum() if proba.any() else np.full(classes.size, 1 / classes.size)
        np.testing.assert_allclose(found, proba, atol=1e-12)


def test_loess_and_trees_let_missing_values_say_nothing(papers):
    X, y = [[0.0, 1], [1, 1], [2, 2], [3, 2], [np.nan, 3]], [0, 0, 1, 1, 1]
    model = papers.loess_bayes.LoessNaiveBayes().fit(X, y)
    assert model.predict_proba([[np.nan, np.nan]])[0].tolist() == pytest.approx([0.4, 0.6])
    assert model.predict_proba([[-9, 1]]) == pytest.approx(model.predict_proba([[0, 1]]))


def test_a_multiway_tree_by_hand(papers):
    # x0 parts six rows into a: 2|0, b: 0|2, c: 1|1; then x1, a number, parts those of c.
    X = [[0, 5], [0, 6], [1, 5], [1, 6], [2, 5], [2, 8]]
    grown = papers.multiway_tree.MultiwayTree(nominal=[True, False]).fit(X, [0, 0, 1, 1, 0, 1])
    assert (grown.attribute_.tolist(), grown.width_.tolist()) == ([0, -1, -1, 1, -1, -1], [3, 0, 0, 2, 0, 0])
    assert (grown.first_[3], grown.cut_[3]) == (4, 6.5)
    assert grown.count_.tolist() == [[3, 3], [2, 0], [0, 2], [1, 1], [1, 0], [0, 1]]
    asked = [[0, 9], [1, 1], [2, 6], [2, 7], [3, 5], [np.nan, 5], [np.nan, np.nan]]
    assert grown.predict_proba(asked)[:, 1] == pytest.approx([0, 1, 0, 1, 0.5, 1 / 3, 0.5])


def test_a_missing_value_goes_down_every_branch_in_part(papers):
    # Of the fifth row, whose name is missing, three quarters go where three of four rows went.
    model = papers.multiway_tree.MultiwayTree(nominal=[True], m=0)
    model.fit([[0], [0], [0], [1], [np.nan]], [0, 0, 0, 1, 1])
    assert model.count_.tolist() == [[3, 2], [3, 0.75], [0, 1.25]]
    assert model.size_[1:].tolist() == [3, 1]


def test_pruning_by_hand(papers):
    def nodes(names, m):
        return papers.multiway_tree.MultiwayTree(nominal=[True], m=m).fit(names, [1, 1, 1, 1, 1, 0]).width_[0]

    # Shares 1/6 and 5/6, m = 2. A leaf of all expects 1 − (5 + 5/3)/8 = 1/6 of errors. Of one and five rows the leaves
    # expect 1/9 and 4/21, together 0.177; of three and three 1/15 and 4/15, together 1/6, which is no more.
    assert nodes([[0], [1], [1], [1], [1], [1]], 2) == 0
    assert nodes([[0], [0], [0], [1], [1], [1]], 2) == 2
    assert nodes([[0], [1], [1], [1], [1], [1]], 0) == 2


@given(codes)
def test_the_first_split_has_the_best_gain_ratio(papers, rows):
    table = np.array(rows)
    X, y = table[:, :2], table[:, 2]
    named = [True, False]
    tree = papers.multiway_tree.MultiwayTree(nominal=named, m=0).fit(X, y)

    def ratio(place):
        shares = np.array([[((place == b) & (y == c)).mean() for c in (0, 1)] for b in np.unique(place)])
        information = entropy(shares.sum(axis=0)) - sum(part.sum() * entropy(part / part.sum()) for part in shares)
        return information / entropy(shares.sum(axis=1)) if len(shares) > 1 else -1.0

    splits = [ratio(X[:, 0]), *(ratio(X[:, 1] >= cut) for cut in np.unique(X[:, 1])[1:])]
    if len(np.unique(y)) == 2 and max(splits) > 1e-9:
        a = tree.attribute_[0]
        chosen = X[:, 0] if a == 0 else X[:, 1] >= tree.cut_[0]
        if a >= 0:
            assert ratio(chosen) == pytest.approx(max(splits), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=40))
def test_the_thresholds_of_the_papers_program_are_the_most_accurate(papers, rows):
    score, y = np.array([row[0] for row in rows]) / 9, np.array([row[1] for row in rows])
    if y.all() or not y.any():
        return
    found = papers.program_roc.best_thresholds(rs.ThresholdCounts.from_scores(y, score))

    def right(threshold):
        return int(((score >= threshold) == y).sum())

    most = max(map(right, [np.inf, *score]))
    # Scores of 1 share their threshold with "nobody".
    assert all(right(threshold) == most or (threshold == 1 and right(np.inf) == most) for threshold in found)
    assert found == sorted(found, reverse=True)


def test_published_tables_are_as_handed_down(papers, shared):
    for name in ("vuk_curk_2006_table4.csv", "lachiche_flach_2003.csv"):
        assert (FOLDER / "published" / name).read_text() == (shared / "published" / name).read_text()


def test_every_published_row_has_its_task(papers):
    published = papers.rows.read_published
    assert {row["dataset"] for row in published("vuk_curk_2006_table4.csv")} == {t.label for t in papers.data.VUK_CURK}
    labels = [row["dataset"] for row in published("lachiche_flach_2003.csv")]
    assert labels == [task.label for task in papers.data.LACHICHE_FLACH]


def test_tasks_fit_the_manifest(papers, shared):
    with (shared / "data" / "MANIFEST.csv").open(newline="") as file:
        manifest = {row["file"]: row for row in reversed(list(csv.DictReader(file)))}
    for task in (*papers.data.VUK_CURK, *papers.data.LACHICHE_FLACH):
        facts = manifest[f"{task.name}.csv"]
        assert task.target in facts["target"].split(";"), task.label
        table = papers.data.load(task, shared / "data", network=False)
        assert table.source == "file"
        if "(missing)" not in facts["classes"]:
            assert table.y.size == int(facts["rows"])
        if task.positive:
            assert table.classes[1] == task.positive


def test_generated_data_equal_the_files(papers, shared):
    for task in papers.data.VUK_CURK:
        if task.name not in papers.data.datasets.names():
            continue
        file, generated = (papers.data.load(task, folder, network=False) for folder in (shared / "data", None))
        np.testing.assert_array_equal(file.X, generated.X)
        np.testing.assert_array_equal(file.y, generated.y)
        assert generated.source == "rocscope.datasets"


def test_no_target_and_no_identifier_is_an_attribute(papers, tmp_path):
    (tmp_path / "flare2.csv").write_text("area,common,moderate,severe\n1,0,0,0\n2,1,0,0\n1,0,1,\n")
    moderate, severe = (t for t in papers.data.LACHICHE_FLACH if t.label in ("flare2 moderate", "flare2 severe"))
    table = papers.data.load(moderate, tmp_path, network=False)
    assert (table.X.shape, table.nominal.tolist(), table.classes) == ((3, 1), [True], ("0", "1"))
    assert papers.data.load(severe, tmp_path, network=False).y.size == 2  # a row without a class is left out


def test_numbers_names_and_missing_values(papers, tmp_path):
    rows = [f"{i / 2},{'xyz'[i % 3]},{'' if i == 3 else 1 + i % 2}.0,{'+-'[i % 2]}" for i in range(12)]
    (tmp_path / "crx.csv").write_text("\n".join(["number,name,code,class", *rows, ",x,1,+"]).replace(",.0", ",") + "\n")
    task = next(t for t in papers.data.VUK_CURK if t.name == "crx")
    table = papers.data.load(task, tmp_path, network=False)
    assert table.nominal.tolist() == [False, True, True]
    assert np.isnan(table.X[3, 2])
    assert np.isnan(table.X[12, 0])
    assert table.X[12, 2] == table.X[0, 2]  # 1 and 1.0 are one value
    assert table.indicators().shape == (13, 1 + 4 + 3)


def test_what_is_missing_is_said(papers, tmp_path):
    task = next(t for t in papers.data.VUK_CURK if t.name == "bupa")
    with pytest.raises(papers.data.NotFoundError, match=r"no bupa\.csv in the folder; not in rocscope"):
        papers.data.load(task, tmp_path)
    (tmp_path / "bupa.csv").write_text("mcv,selector\n1,2\n")
    with pytest.raises(papers.data.NotFoundError, match="no column 'class'"):
        papers.data.load(task, tmp_path)
    (tmp_path / "bupa.csv").write_text("mcv,class\n1,yes\n2,no\n")
    with pytest.raises(papers.data.NotFoundError, match="the classes no, yes, not '2'"):
        papers.data.load(task, tmp_path)


def test_openml_is_asked_last_and_may_be_away(papers, monkeypatch):
    import pandas as pd
    from sklearn import datasets

    frame = pd.DataFrame({"a01": [1, 1], "a03": pd.Categorical(["u", "v"])})
    answer = SimpleNamespace(data=frame, target=pd.Series(["b", "g"], dtype="category"))
    monkeypatch.setattr(datasets, "fetch_openml", lambda name, **_: answer)
    task = next(t for t in papers.data.VUK_CURK if t.name == "ionosphere")
    table = papers.data.load(task)
    assert (table.source, table.X.shape, table.y.tolist()) == ("OpenML", (2, 1), [0, 1])

    def away(name, **_):
        raise OSError("no route to host")

    monkeypatch.setattr(datasets, "fetch_openml", away)
    with pytest.raises(papers.data.NotFoundError, match=r"OpenML did not answer \(OSError\)"):
        papers.data.load(task)


def test_a_row_agrees_where_another_seed_might_have_given_it(papers):
    row = papers.rows.Row("x", 1000, {"change": [0.01, 0.02, 0.03]}, {"change": 0.05})
    _, high = row.interval()
    # t(0.975; 2) = 4.3027, s = 0.01, √(1 + 1/3).
    assert high == pytest.approx(0.02 + 4.302653 * 0.01 * np.sqrt(4 / 3))
    assert row.agrees
    assert not papers.rows.Row("x", 1000, {"change": [0.02, 0.02]}, {"change": 0.05}).agrees
    assert papers.rows.Row("x", 10, {"change": [0.02]}, {"change": 0.05}).agrees is None


@pytest.mark.slow(reason="long searches")
def test_vuk_and_curk_from_the_data_that_rocscope_has(papers, monkeypatch, tmp_path, capsys):
    """The reduced form of the reproduction: three data sets whose thresholds matter, one seed, five inner folds."""
    script = papers.vuk_curk_2006
    labels = ("tic_tac_toe", "shuttle-landing-control", "monks-2", "promoters")
    monkeypatch.setattr(script, "VUK_CURK", [task for task in script.VUK_CURK if task.label in labels])
    script.main(options(tmp_path))
    printed = capsys.readouterr().out
    assert "promoters: no folder given; not in rocscope.datasets; not on OpenML in this form" in printed
    content = json.loads((tmp_path / "vuk_curk_2006.json").read_text())
    assert list(content["missing"]) == ["promoters"]
    bayes = [row for row in content["rows"] if row["name"].endswith("naive Bayes")]
    assert len(content["rows"]) == 6
    for row in bayes:
        assert abs(row["difference"]["auc"]) <= 0.03
        assert row["ours"]["change"] > 0
    assert (tmp_path / "vuk_curk_2006_figure_09.png").stat().st_size > 10_000
    assert not (tmp_path / "vuk_curk_2006_figure_10.png").exists()


def test_lachiche_and_flach_from_the_data_that_rocscope_has(papers, monkeypatch, tmp_path, capsys):
    script = papers.lachiche_flach_2003
    monkeypatch.setattr(script, "LACHICHE_FLACH", [t for t in script.LACHICHE_FLACH if t.label in ("car", "glass")])
    script.main(options(tmp_path))
    content = json.loads((tmp_path / "lachiche_flach_2003.json").read_text())
    assert "glass" in content["missing"]
    assert "Not run, because the data are missing" in capsys.readouterr().out
    (row,) = content["rows"]["greedy"]
    assert row["difference"]["default"] == pytest.approx(0, abs=0.5)
    assert row["ours"]["change"] == pytest.approx(3.5, abs=0.7)


@pytest.mark.slow
def test_the_whole_of_table_4(papers, shared, tmp_path):
    papers.vuk_curk_2006.main(options(tmp_path, data=shared / "data", seeds=20, quick=False, jobs=2))
    content = json.loads((tmp_path / "vuk_curk_2006.json").read_text())
    summary, rows = content["summary"], {row["name"]: row for row in content["rows"]}
    assert abs(summary["all"]["ours"] - 0.008) <= 0.004
    assert summary["correlation"] >= 0.9
    assert min(rows["ionosphere, naive Bayes"]["seeds"]["change"]) > 0
    for name in ("tic_tac_toe", "shuttle-landing-control", "adult_sample", "monks-2", "ionosphere"):
        assert rows[f"{name}, naive Bayes"]["ours"]["change"] > 0
    assert all((tmp_path / f"vuk_curk_2006_figure_{n}.png").exists() for n in ("09", "10", "11"))


@pytest.mark.slow
def test_the_whole_of_lachiche_and_flach(papers, shared, tmp_path):
    papers.lachiche_flach_2003.main(options(tmp_path, data=shared / "data", seeds=20, quick=False, jobs=2))
    summary = json.loads((tmp_path / "lachiche_flach_2003.json").read_text())["summary"]
    greedy = summary["greedy"]
    assert summary["training rows"]["off"] < greedy["off"]
    assert 0.4 <= greedy["gain"] <= 2.2
    assert (greedy["clear_rows"], greedy["same_sign"] >= 13) == (18, True)
