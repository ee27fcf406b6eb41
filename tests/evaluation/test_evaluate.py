"""evaluate: which rows models see, what comes back, and that it does not depend on who runs it."""

import pickle
import warnings
from unittest import mock

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope import protocols
from rocscope._base import progress as _progress
from rocscope.errors import ModelError, RocscopeWarning
from rocscope.estimators import ThresholdClassifier
from rocscope.protocols.splitters import SplitRows


class Seen(ClassifierMixin, BaseEstimator):
    """Scores a row by its first attribute, and keeps what it was fitted to and asked about."""

    calls = ()

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.training = X
        self.weight = sample_weight
        return self

    def predict_proba(self, X):
        Seen.calls += ((self.training, X, self.weight),)
        score = (np.asarray(X, float)[:, 0] / 1000).clip(0, 1)
        return np.column_stack([1 - score, score])


@pytest.fixture
def seen():
    """Calls of `Seen` in this test."""
    Seen.calls = ()
    return lambda: Seen.calls


@pytest.fixture(scope="module")
def noise():
    """Attributes that say nothing of 120 labels."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(120, 3)), rng.integers(0, 2, 120)


def numbered(n):
    """Rows that hold their own number, and labels."""
    return np.arange(n)[:, None], np.tile([0, 1], n // 2)


def test_selection_inside_the_folds_finds_nothing_in_noise():
    """A single data set may look better or worse than chance by chance; over many of them that averages out."""
    honest, leaking = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 200)), rng.integers(0, 2, 100)
        honest.append(rs.auc_interval(rs.evaluate(make_pipeline(SelectKBest(k=10), GaussianNB()), X, y, cv=5)))
        chosen = SelectKBest(k=10).fit_transform(X, y)
        leaking.append(rs.auc_interval(rs.evaluate(GaussianNB(), chosen, y, cv=5)))
    found = np.array([estimate.value for estimate in honest])
    assert abs(found.mean() - 0.5) < 3 * found.std(ddof=1) / found.size**0.5
    assert np.mean([0.5 in estimate for estimate in honest]) >= 0.75
    assert all(estimate.low > 0.5 for estimate in leaking)


CVS = {
    "folds": (5, 60),
    "many folds": (protocols.Folds(3, stratified=False), 60),
    "holdout": ("holdout", 20),
    "three parts": ("three_parts", 30),
    "leave one out": ("leave_one_out", 60),
    "time": (protocols.TimeOrder(3, gap=2), 45),
    "bootstrap": (protocols.OutOfBag(stratified=True), None),
    "rows": ([(range(30), range(30, 60)), (np.arange(60) < 40, np.arange(60) >= 50)], 40),
}


@pytest.mark.parametrize("name", CVS)
def test_no_row_is_judged_by_a_model_that_saw_it(name, seen):
    cv, size = CVS[name]
    X, y = numbered(60)
    preds = rs.evaluate(Seen(), X, y, cv=cv)
    for training, judged, _ in seen():
        assert not set(training[:, 0]) & set(judged[:, 0])
    assert size is None or len(preds) == size
    np.testing.assert_allclose(preds.scores["Seen"], X[preds.row, 0] / 1000)
    assert (preds.y_true == (y[preds.row] == 1)).all()
    assert preds.source.folds == len(seen())


def test_steps_of_a_pipeline_see_training_rows_only(noise):
    X, y = noise
    model = make_pipeline(StandardScaler(), KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), GaussianNB())
    fitted = []
    plain = StandardScaler.fit

    def watch(self, rows, *rest, **more):
        fitted.append({tuple(row) for row in np.asarray(rows)})
        return plain(self, rows, *rest, **more)

    model.steps[1][1].set_params(encode="onehot-dense")
    with mock.patch.object(StandardScaler, "fit", watch):
        preds = rs.evaluate(model, X, y, cv=4)
    for fold, part in preds.by_fold().items():
        assert not {tuple(row) for row in X[part.row]} & fitted[fold]


def test_rows_keep_their_place_and_every_repeat_holds_each_once(noise):
    X, y = noise
    preds = rs.evaluate({"lr": LogisticRegression(), "svm": LinearSVC()}, X, y, cv=4, repeats=2)
    assert (preds.y_true == y[preds.row]).all()
    for part in preds.by_repeat().values():
        assert part.row.tolist() == list(range(120))
        assert np.unique(part.fold).size == 4
    assert sorted(preds.by_fold()) == list(range(8))
    assert preds.repeated
    assert not preds.by_repeat()[0].repeated
    assert preds.source.responses == {"lr": "predict_proba", "svm": "decision_function"}


def test_repeats_draw_other_folds_and_a_seed_draws_the_same(noise):
    X, y = noise
    first = rs.evaluate(GaussianNB(), X, y, cv=4, repeats=2)
    one, two = (part.fold for part in first.by_repeat().values())
    assert (one != two - 4).any()
    assert (rs.evaluate(GaussianNB(), X, y, cv=4, repeats=2).fold == first.fold).all()
    assert (rs.evaluate(GaussianNB(), X, y, cv=4, repeats=2, random_state=1).fold != first.fold).any()


def test_folds_are_stratified_and_groups_stay_together(seen):
    X, y = np.arange(200)[:, None], np.r_[np.ones(20), np.zeros(180)].astype(int)
    for part in rs.evaluate(Seen(), X, y, cv=10).by_fold().values():
        assert part.n_pos == 2
    groups = np.arange(200) // 4
    for cv in (5, "holdout", "three_parts", "leave_one_out", "out_of_bag"):
        Seen.calls = ()
        rs.evaluate(Seen(), X, np.tile([0, 1], 100), cv=cv, groups=groups)
        for training, judged, _ in seen():
            assert not set(training[:, 0] // 4) & set(judged[:, 0] // 4)


@pytest.mark.parametrize(("n", "classes", "k"), [(100, 3, 5), (1_000, 100, 5), (37, 2, 10), (50, 12, 3)])
def test_stratified_folds_are_those_of_scikit_learn(n, classes, k):
    y = np.random.default_rng(n).integers(0, classes, n)
    sample = SplitRows(None, y, tuple(range(classes)), None)
    theirs = StratifiedKFold(k, shuffle=True, random_state=3)
    with warnings.catch_warnings(action="ignore"):  # of classes that are not in each fold
        expected = list(theirs.split(y, y))
    found = protocols.Folds(k, rare_classes="spread").parts(sample, 3)
    for part, (train, test) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part.train, train)
        np.testing.assert_array_equal(part.test, test)


def test_three_parts_are_segments(noise):
    X, y = noise
    parts = rs.evaluate(GaussianNB(), X, y, cv=protocols.ThreeParts(0.2, 0.3)).by_segment()
    assert {name: len(part) for name, part in parts.items()} == {"test": 36, "validation": 24}
    decision = rs.choose(parts["validation"], rs.Context(cost_fn=3))
    assert decision.predict(parts["test"]).size == 36


def test_time_only_runs_forward(seen):
    X, y = numbered(60)
    rs.evaluate(Seen(), X, y, cv="time_order")
    assert all(training.max() < judged.min() for training, judged, _ in seen())


TABLES = {
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc"), index=range(1000, 1120)),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc"), orient="row"),
    "pyarrow": lambda X: pa.table(dict(zip("abc", X.T, strict=True))),
    "sparse": scipy.sparse.coo_array,
}


@pytest.mark.parametrize("kind", TABLES)
def test_attributes_of_any_kind(kind, noise):
    X, y = noise
    model = make_pipeline(DecisionTreeClassifier(max_depth=3))
    expected = rs.evaluate(model, X, y, cv=3).scores["DecisionTreeClassifier"]
    table = TABLES[kind](X)
    if kind == "pyarrow":
        model = make_pipeline(rs_to_array(), *[step for _, step in model.steps])
    found = rs.evaluate(model, table, pd.Series(y), cv=3)
    np.testing.assert_array_equal(found.scores["DecisionTreeClassifier"], expected)


def rs_to_array():
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(lambda table: table.to_pandas().to_numpy())


def test_text_reaches_a_pipeline_as_it_is():
    from sklearn.feature_extraction.text import CountVectorizer

    text = ["good fine", "bad poor", "good", "bad", "fine good", "poor bad"] * 4
    preds = rs.evaluate(make_pipeline(CountVectorizer(), LogisticRegression()), text, ["y", "n"] * 12, pos_label="y")
    assert rs.auc(preds) == 1


@pytest.mark.parametrize("workers", [2, pytest.param(-1, id="all")])
def test_side_by_side_is_the_same(noise, workers):
    X, y = noise
    models = {"random": DummyClassifier(strategy="uniform"), "tree": DecisionTreeClassifier(max_features=1)}
    one = rs.evaluate(models, X, y, cv=3, repeats=2)
    with joblib.parallel_config("threading"):
        two = rs.evaluate(models, X, y, cv=3, repeats=2, n_jobs=workers)
    for name in models:
        np.testing.assert_array_equal(one.scores[name], two.scores[name])


@pytest.mark.slow(reason="what starts other programs")
def test_processes_give_the_same_and_models_are_not_changed(noise):
    X, y = noise
    model = DecisionTreeClassifier(max_features=1)
    one, two = (rs.evaluate(model, X, y, cv=2, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(*(preds.scores["DecisionTreeClassifier"] for preds in (one, two)))
    assert model.random_state is None
    assert not hasattr(model, "tree_")


def test_positive_is_what_pos_label_says(noise):
    X, y = noise
    named = np.where(y == 1, "yes", "no")
    models = {"p": LogisticRegression(), "d": LinearSVC(), "crisp": DecisionTreeClassifier(max_depth=2)}
    yes, no = (rs.evaluate(models, X, named, cv=3, pos_label=label) for label in ("yes", "no"))
    for name in ("p", "d"):
        assert rs.auc(no.counts(name)) == pytest.approx(rs.auc(yes.counts(name)))
    crisp = rs.evaluate(models["crisp"], X, named, cv=3, pos_label="yes", response="predict")
    assert set(crisp.scores["DecisionTreeClassifier"]) <= {0, 1}
    expected = yes.scores["crisp"] > 0.5
    assert ((crisp.scores["DecisionTreeClassifier"] == 1) == expected).all()


def test_a_regressor_is_judged_by_its_predictions_when_asked(noise):
    X, y = noise
    preds = rs.evaluate(LinearRegression(), X, y, cv=3, response="predict")
    assert preds.scores["LinearRegression"].dtype.kind == "f"


def test_several_classes(noise):
    X = noise[0]
    y = np.array(["a", "b", "c"])[np.arange(120) % 3]
    preds = rs.evaluate({"nb": GaussianNB(), "svm": LinearSVC()}, X, y, cv=5, repeats=2)
    assert isinstance(preds, rs.multiclass.MulticlassPredictions)
    assert preds.classes == ("a", "b", "c")
    assert list(preds.proba), list(preds.decisions) == (["nb"], ["svm"])
    assert preds.by_repeat()[1].row.tolist() == list(range(120))
    assert preds.binary("a").row.tolist() == preds.row.tolist()
    assert preds.source.responses == {"nb": "predict_proba", "svm": "predict"}


def test_a_class_that_training_lacks_has_probability_0():
    y = np.array([0, 1] * 10 + [2] * 4)
    preds = rs.evaluate(GaussianNB(), np.arange(24.0)[:, None], y, cv=[(range(20), range(20, 24))])
    assert preds.probabilities()[:, 2].tolist() == [0, 0, 0, 0]


def test_weights_reach_the_models_and_stay(seen, noise):
    X, y = noise
    weight = np.arange(1, 121)
    preds = rs.evaluate(make_pipeline(StandardScaler(), Seen()), X, y, cv=3, sample_weight=weight)
    assert (preds.sample_weight == weight[preds.row]).all()
    assert sorted(np.concatenate([call[2] for call in seen()])) == sorted(np.tile(weight, 2))
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=2)
    assert not rs.evaluate(search, X, y, cv=2, sample_weight=weight).source.unweighted
    with pytest.warns(RocscopeWarning, match="sample weights are fitted without weights: Kn"):
        preds = rs.evaluate({"Kn": KNeighborsClassifier(), "s": Seen()}, X, y, cv=2, sample_weight=weight)
    assert preds.source.unweighted == ("Kn",)


def test_metadata_routing_decides_where_weights_go(seen, noise):
    X, y = noise
    with config_context(enable_metadata_routing=True):
        asked = make_pipeline(StandardScaler(), Seen().set_fit_request(sample_weight=True))
        asked.steps[0][1].set_fit_request(sample_weight=False)
        rs.evaluate(asked, X, y, cv=3, sample_weight=np.ones(120))
        assert all(weight is not None for _, _, weight in seen())
        Seen.calls = ()
        not_asked = Seen().set_fit_request(sample_weight=False)
        with pytest.warns(RocscopeWarning, match="without weights: Seen"):
            rs.evaluate(not_asked, X, y, cv=3, sample_weight=np.ones(120))
        assert all(weight is None for _, _, weight in seen())


def test_names_of_models(noise):
    X, y = noise
    models = [GaussianNB(), make_pipeline(StandardScaler(), GaussianNB()), DecisionTreeClassifier()]
    assert rs.evaluate(models, X, y, cv=2).models == ["GaussianNB", "GaussianNB 2", "DecisionTreeClassifier"]


def test_progress_is_told_to_a_function_and_drawn_on_terminals_only(noise, capsys, monkeypatch):
    X, y = noise
    told = []
    rs.evaluate(GaussianNB(), X, y, cv=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    monkeypatch.setattr(_progress, "_BAR_AFTER", -1)
    for terminal, progress, bars in ((False, True, 0), (True, None, 1), (True, False, 0)):
        monkeypatch.setattr("sys.stderr.isatty", lambda shown=terminal: shown)
        with mock.patch.object(_progress, "_start_bar", wraps=_progress._start_bar) as start:
            rs.evaluate(GaussianNB(), X, y, cv=3, progress=progress)
        assert start.call_count == bars
    assert capsys.readouterr().out == ""


def test_fitted_models_are_judged_as_they_are(noise):
    X, y = noise
    models = {"nb": GaussianNB().fit(X[:80], y[:80]), "svm": LinearSVC().fit(X[:80], y[:80])}
    preds = rs.evaluation.from_estimator(models, X[80:], y[80:], segment=["s"] * 40)
    np.testing.assert_array_equal(preds.scores["nb"], models["nb"].predict_proba(X[80:])[:, 1])
    np.testing.assert_array_equal(preds.scores["svm"], models["svm"].decision_function(X[80:]))
    assert (preds.y_true == y[80:]).all()
    assert list(preds.by_segment()) == ["s"]
    positives = rs.evaluation.from_estimator(models["nb"], X[y == 1], y[y == 1])
    assert (positives.n_pos, positives.n_neg) == (int(y.sum()), 0)


def test_a_report_shows_folds_apart_unless_they_are_too_many(noise):
    X, y = noise
    few, many = (rs.Report(rs.evaluate(GaussianNB(), X, y, cv=cv)).data for cv in (3, "leave_one_out"))
    assert [part.name for part in few.slices] == ["0", "1", "2"]
    assert not many.slices
    assert "More than 50 folds are not shown separately (120 folds)" in many.warnings


class ByNumber(GaussianNB):
    """Takes classes 0, 1, 2, … only, as XGBoost does, and says it in its words."""

    def fit(self, X, y, sample_weight=None):
        classes = np.unique(y)
        if classes.tolist() != list(range(classes.size)):
            expected = f"Expected: {np.arange(classes.size)}, got {classes}"
            raise ValueError(f"Invalid classes inferred from unique values of `y`.  {expected}")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [1, 2], ["a", "b", "c"], [7, 3, 5]])
@pytest.mark.parametrize("wrapped", [ByNumber(), make_pipeline(StandardScaler(), ByNumber())])
def test_models_that_want_numbers_get_them(wrapped, labels):
    rng = np.random.default_rng(0)
    place = np.arange(90) % len(labels)
    X, y = rng.normal(size=(90, 2)) + place[:, None], np.array(labels)[place]
    pos_label = labels[0] if len(labels) == 2 else None
    plain = GaussianNB() if isinstance(wrapped, ByNumber) else make_pipeline(StandardScaler(), GaussianNB())
    preds = rs.evaluate({"m": wrapped, "plain": plain}, X, y, cv=3, pos_label=pos_label)
    assert (preds.decisions["m"] == preds.decisions["plain"]).all()
    of_model, of_plain = (preds.scores[name] if pos_label is not None else preds.proba[name] for name in preds.models)
    np.testing.assert_array_equal(of_model, of_plain)
    if pos_label is not None:
        tuned = [ThresholdClassifier(each, pos_label=pos_label, cv=3).fit(X, y) for each in (wrapped, plain)]
        assert (tuned[0].predict(X) == tuned[1].predict(X)).all()
        assert pickle.loads(pickle.dumps(tuned[0])).threshold_ == tuned[1].threshold_


def test_other_refusals_of_models_stay_theirs():
    with pytest.raises(ModelError, match="Priors must be non-negative"):
        rs.evaluate(GaussianNB(priors=[2, -1]), np.eye(4), ["a", "b", "a", "b"], cv=2, pos_label="a")
