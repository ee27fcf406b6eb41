"""Search: candidates, the rule of one standard error, constraints, repeats, and what the winner is worth."""

from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope import Context
from rocscope.errors import InfeasibleError, InputError
from rocscope.estimators import Search
from rocscope.estimators.search import _approximate_splits, _first_within_error

RNG = np.random.default_rng(5)
Y = (RNG.random(240) < 0.3).astype(int)
X = RNG.normal(size=(240, 4)) + Y[:, None] * np.array([1.0, 0.6, 0, 0])
MODELS = {
    "bayes": GaussianNB(),
    "near": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}),
    "line": LogisticRegression(),
}


def figures(found):
    return {each.name: each.value for each in found.candidates_}


def test_candidates_have_the_figures_of_their_out_of_fold_scores():
    found = Search(MODELS, criterion="auc", cv=5).fit(X, Y)
    expected = {name: rs.auc(found.predictions_.counts(name)) for name in found.predictions_.models}
    assert figures(found) == pytest.approx(expected, abs=1e-12)
    assert list(expected) == ["bayes", *(f"near, n_neighbors={k}" for k in (1, 5, 25)), "line"]
    costs = Search(MODELS, context=Context(cost_fn=4), cv=5).fit(X, Y)
    chosen = {name: rs.choose(costs.predictions_.select(models=[name]), Context(cost_fn=4)) for name in expected}
    assert figures(costs) == pytest.approx({name: each.expected_cost for name, each in chosen.items()}, abs=1e-12)
    assert costs.threshold_ == chosen[costs.best_].threshold
    f1 = Search(MODELS, criterion="f1", cv=5).fit(X, Y)
    for name, value in figures(f1).items():
        best = rs.choose(f1.predictions_.select(models=[name]), criterion="f1")
        assert value == pytest.approx(best.criterion_value, abs=1e-12)


def test_the_first_candidate_within_a_standard_error_is_taken():
    simple = Search(MODELS, criterion="auc", cv=5, one_standard_error=True).fit(X, Y)
    best = Search(MODELS, criterion="auc", cv=5).fit(X, Y)
    within = [each.name for each in simple.candidates_ if each.worse_by <= each.standard_error]
    assert simple.best_ == within[0]
    assert best.best_ == max(best.candidates_, key=lambda each: each.value).name
    first, second = simple.candidates_[0], next(each for each in simple.candidates_ if each.worse_by == 0)
    # The variance of given scores: Search compares models on the same folds, so it does not increase it for folds.
    scores = rs.Predictions(Y, simple.predictions_.scores)
    pair = rs.compare(scores, statistic="auc", method="delong")[first.name, second.name]
    assert first.standard_error == pytest.approx(abs(pair.difference.value / pair.statistic), rel=0.02)


@pytest.mark.parametrize("models", [{"line": LogisticRegression(), "cv": GaussianNB()}, [LogisticRegression()]])
def test_parameters_of_listed_models_are_searched_and_models_replaced(models):
    search = Search(models, cv=3)
    name = next(iter(search.get_params().keys() & {"line", "LogisticRegression"}))
    outer = GridSearchCV(search, {f"{name}__C": [1e-9, 1.0], "context__cost_fn": [1, 2]}, cv=3).fit(X, Y)
    assert outer.best_estimator_.get_params().items() >= outer.best_params_.items()
    assert search.get_params()[f"{name}__C"] == LogisticRegression().C
    replaced = search.set_params(**{name: GaussianNB()}, repeats=2, cv=4)
    assert [type(model) for model in replaced.estimator.values()] == [GaussianNB] * len(models)
    assert (replaced.repeats, replaced.cv) == (2, 4)
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        search.set_params(other__C=1)


def test_results_have_the_names_that_scikit_learn_uses():
    found = Search(MODELS, context=Context(cost_fn=4), cv=5).fit(X, Y)
    results = found.cv_results_
    assert results["params"] == [{}, *({"n_neighbors": k} for k in (1, 5, 25)), {}]
    costs = [each.value for each in found.candidates_]
    assert results["mean_test_score"].tolist() == [-cost for cost in costs]
    assert results["rank_test_score"].tolist() == [1 + sum(other < cost for other in costs) for cost in costs]
    winner = results["candidate"].index(found.best_)
    assert found.best_params_ == results["params"][winner] and results["rank_test_score"][winner] == 1
    assert found.best_estimator_ is found.estimator_


def test_the_winner_is_fitted_to_all_rows_and_decides_at_its_threshold():
    found = Search(MODELS, context=Context(cost_fn=9), cv=5).fit(X, Y)
    again = found.estimator_.predict_proba(X)[:, 1] >= found.threshold_
    assert found.predict(X).tolist() == again.astype(int).tolist()
    ranked = Search(MODELS, criterion="brier", cv=5).fit(X, Y)
    assert np.isnan(ranked.threshold_) and ranked.decision_ is None
    assert ranked.predict(X).tolist() == ranked.estimator_.predict(X).tolist()


@pytest.mark.slow
def test_of_many_alike_the_best_is_not_taken_for_better():
    """Figures of 30 candidates that are all worth 0: the best looks good, its honest figure is 0 on average."""
    rng = np.random.default_rng(3)
    apparent, honest = [], []
    for _ in range(200):
        cases = rng.normal(size=(100, 30))
        values, moves = cases.mean(axis=0), (cases - cases.mean(axis=0)) / 100
        covariance = 100 / 99 * moves.T @ moves
        rule = partial(_first_within_error, covariance=covariance, one_standard_error=False)
        apparent.append(values[rule(values)[0]])
        honest.append(np.mean([held[rule(kept)[0]] for kept, held in _approximate_splits(values, moves)]))
    assert np.mean(apparent) > 0.15
    assert abs(np.mean(honest)) < 3 * np.std(honest) / 200**0.5 < 0.04


def test_constraints_leave_candidates_out():
    found = Search(MODELS, context=Context(), subject_to="tpr >= .9", cv=5).fit(X, Y)
    assert found.decision_.point.tpr >= 0.9
    models = {"prior": DummyClassifier(), "bayes": GaussianNB()}
    precise = Search(models, subject_to="precision >= .6", cv=5).fit(X, Y)
    left_out, taken = precise.candidates_
    assert precise.best_ == "bayes" and taken.worse_by == 0
    assert np.isnan(left_out.value) and np.isnan(left_out.worse_by)
    with pytest.raises(InfeasibleError):
        Search(GaussianNB(), subject_to=("tpr >= 1", "fpr <= 0"), cv=5).fit(X, Y)


def test_no_candidate_with_an_admissible_threshold_in_every_repeat_is_an_error():
    rng = np.random.default_rng(79)
    x = rng.normal(size=(24, 2))
    y = (x[:, 0] + 1.5 * rng.normal(size=24) > 0).astype(int)
    models = {"line": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
    search = Search(models, subject_to=("precision >= .8", "tpr >= .6"), cv=3)
    assert search.fit(x, y).best_ in models
    search.set_params(repeats=3)
    with pytest.raises(InfeasibleError, match=r"no candidate satisfies the constraints in each of \d repeats; loosen"):
        search.fit(x, y)


def test_repeats_end_where_the_interval_is_narrow_enough():
    once = Search(MODELS, criterion="auc", cv=5, repeats=4, max_width=1.0).fit(X, Y)
    all_of_them = Search(MODELS, criterion="auc", cv=5, repeats=3, max_width=1e-9).fit(X, Y)
    assert (once.repeats_, all_of_them.repeats_) == (1, 3)
    assert Search(MODELS, criterion="auc", cv=5).fit(X, Y).estimate_ == once.estimate_


def test_groups_stay_together_and_weights_count():
    groups = np.arange(240) // 4
    found = Search(MODELS, criterion="auc", cv=5).fit(X, Y, groups=groups)
    for fold in np.unique(found.predictions_.fold):
        inside = found.predictions_.fold == fold
        assert not set(groups[inside]) & set(groups[~inside])
    search = Search([GaussianNB(), LogisticRegression(C=1e6)], context=Context(cost_fn=3), cv=5)
    plain = figures(search.fit(X, Y))
    assert figures(search.fit(X, Y, sample_weight=np.full(240, 2.0))) == pytest.approx(plain, abs=0.01)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"criterion": "nothing"}, "nothing"),
        ({"criterion": "auc", "context": Context()}, "got a context"),
        ({"criterion": "auc", "subject_to": "tpr >= .9"}, "a threshold-free metric without context"),
        ({"repeats": 0}, "repeats"),
        ({"context": 3}, "a Context"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Search(GaussianNB(), **options).fit(X, Y)
