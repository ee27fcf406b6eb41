"""Thresholds of costs, moved towards the Bayes rule of recalibrated scores."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import rocscope as rs
from decision_oracle import prove
from rocscope.errors import InputError
from rocscope.estimators.classifiers import best_candidate

Tuned = rs.estimators.ThresholdClassifier


def sample(n=150, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def platt(z, y, weight):
    """Slope and intercept of Platt's sigmoid, by a search that knows nothing of how ours are found."""
    n_pos, n_neg = weight[y == 1].sum(), weight[y == 0].sum()
    target = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def surprise(line):
        eta = line[0] * z + line[1]
        return (weight * (np.logaddexp(0, eta) - target * eta)).sum()

    return minimize(surprise, [1.0, 0.0], method="BFGS", options={"gtol": 1e-10}).x


@pytest.mark.every(3)
@pytest.mark.parametrize("target_prevalence", [None, 0.05])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["probabilities", "distances"])
def test_the_threshold_lies_between_search_and_bayes_rule(model, weighted, target_prevalence):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size) if weighted else np.ones(y.size)
    given_weight = weight if weighted else None
    context = rs.Context(target_prevalence, cost_fn=7, cost_fp=2, cost_tp=1)
    tuned = Tuned(model, context=context, shrinkage=40).fit(X, y, sample_weight=given_weight)
    (score,) = tuned.predictions_.scores.values()
    search = rs.choose(tuned.predictions_, context)
    scale, back = (logit, expit) if isinstance(model, LogisticRegression) else (np.asarray, float)
    slope, intercept = platt(scale(score), y, weight)
    share = weight[y == 1].sum() / weight.sum()
    # Odds of acting, (fp − tn)/(fn − tp), carried from the class mix it is chosen for to that of the rows.
    wanted = logit(context.probability_threshold)
    if target_prevalence is not None:
        wanted += logit(share) - logit(target_prevalence)
    bayes = (wanted - intercept) / slope
    part = (y == 1).sum() / ((y == 1).sum() + 40)
    expected = back(part * scale(search.threshold) + (1 - part) * bayes)
    found = tuned.candidates_
    assert found["shrunk"].threshold == pytest.approx(expected, rel=1e-4)
    assert found["Bayes rule"].threshold == pytest.approx(back(bayes), rel=1e-4)
    assert found["search"].threshold == search.threshold
    assert tuned.decision_.threshold == tuned.threshold_
    assert min(search.threshold, back(bayes)) - 1e-6 <= expected <= max(search.threshold, back(bayes)) + 1e-6
    counts = tuned.predictions_.counts()
    assert tuned.decision_.point == counts.at(tuned.threshold_)
    assert tuned.decision_.regret >= 0
    if tuned.threshold_ != search.threshold:
        assert f"moved from {search.point.threshold_text}" in tuned.decision_.notes[0]


def test_such_a_decision_can_be_verified_saved_and_asked_how_sure_it_is(tmp_path):
    X, y = sample()
    tuned = Tuned(LogisticRegression(), context=rs.Context(cost_fn=9)).fit(X, y)
    found = tuned.decision_.verify(tuned.predictions_)
    assert found.verified
    assert found.remarks == tuned.decision_.notes
    assert prove(tuned.decision_, tuned.predictions_).left_open == ("that it is best by shrunk min_cost",)
    estimate = tuned.decision_.interval()
    assert estimate.low < tuned.decision_.expected_cost < estimate.high
    assert "the interval ignores how the threshold was chosen" in estimate.reason
    assert rs.Decision.load(tuned.decision_.save(tmp_path / "d.json")).threshold == tuned.threshold_


@pytest.mark.slow
@settings(max_examples=12)  # of twelve fits each
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.3, 0.9]), st.sampled_from([2, 50]))
def test_the_more_rows_the_nearer_to_the_search(seed, share, cost):
    X, y = sample(60, seed, share)
    if min(np.bincount(y, minlength=2)) < 2:
        return
    context = rs.Context(cost_fn=cost)
    fitted = [Tuned(LogisticRegression(), context=context, shrinkage=s, cv=3).fit(X, y) for s in (0, 1e-9, 1, 1e9)]
    assert fitted[0].candidates_ == {}
    thresholds = [fitted[0].threshold_, *(each.candidates_["shrunk"].threshold for each in fitted[1:])]
    assert thresholds[1] == pytest.approx(thresholds[0])
    if math.isfinite(thresholds[0]):
        inner = sorted((thresholds[0], thresholds[3]))
        assert inner[0] - 1e-9 <= thresholds[2] <= inner[1] + 1e-9
    else:
        assert set(thresholds) == {thresholds[0]}


def test_what_is_not_of_costs_alone_is_the_search():
    X, y = sample()
    for options in (
        {"shrinkage": 0},
        {"criterion": "f1"},
        {"context": rs.Context(cost_fn=3), "subject_to": "tpr >= .9"},
    ):
        assert Tuned(LogisticRegression(), **options).fit(X, y).decision_.notes == ()
    wrong = Tuned(LogisticRegression(), context=rs.Context(cost_fn=3), shrinkage=-1)
    with pytest.raises(InputError, match="shrinkage: expected a number of at least 0, got -1"):
        wrong.fit(X, y)


def test_scores_that_rank_the_wrong_way_keep_the_threshold_of_the_search():
    class Backwards(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    X, y = sample(share=0.5)
    tuned, search = (Tuned(Backwards(), context=rs.Context(cost_fn=1.5), shrinkage=s).fit(X, y) for s in (100, 0))
    assert tuned.threshold_ == search.threshold_


@pytest.mark.parametrize("target_prevalence", [None, 0.1])
def test_candidates_are_judged_where_other_folds_set_them(target_prevalence):
    """By hand: the search, everybody and nobody on each fold, in money; costs differ from ours by one factor."""
    X, y = sample(90, 3)
    context = rs.Context(target_prevalence, cost_fn=4, cost_fp=3)
    tuned = Tuned(LogisticRegression(), context=context, cv=4).fit(X, y)
    preds, share = tuned.predictions_, y.mean()
    aim = share if target_prevalence is None else target_prevalence
    money = np.where(y == 1, 4 * aim / share, 3 * (1 - aim) / (1 - share))
    rows = {name: np.zeros(y.size) for name in ("search", "everybody", "nobody")}
    for fold in range(4):
        test = preds.fold == fold
        odds = y[~test].mean() / (1 - y[~test].mean()) * (1 - share) / share  # the class mix of all rows counts
        rest = rs.Context(cost_fn=money[y == 1][0] / odds, cost_fp=money[y == 0][0])
        (score,) = preds.scores.values()
        threshold = rs.choose(y[~test], score[~test], rest).threshold
        said = {"search": score >= threshold, "everybody": score > -1, "nobody": score > 2}
        for name, positive in said.items():
            rows[name][test] = (money * (positive != (y == 1)))[test]
    unit = 1 / (4 * aim)
    found = tuned.candidates_
    for name, losses in rows.items():
        assert found[name].cost == pytest.approx(losses.mean() * unit)
    taken = next(name for name, each in found.items() if each.beyond == each.standard_error == 0)
    assert tuned.threshold_ == found[taken].threshold
    assert all(each.beyond > -2 * each.standard_error or not each.beyond for each in found.values())
    if taken in rows:
        difference = rows["search"] - rows[taken]
        assert found["search"].standard_error == pytest.approx(unit * np.sqrt(difference.var(ddof=1) / y.size))


def test_no_context_and_equal_costs_are_the_same_problem():
    X, y = sample()
    none, equal = (Tuned(LogisticRegression(), context=context).fit(X, y) for context in (None, rs.Context()))
    assert none.threshold_ == equal.threshold_ and none.candidates_ == equal.candidates_


def test_saturated_probabilities_and_attributes_that_say_nothing_do_no_harm():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(int)
    X = np.repeat(rng.normal(size=(400, 3)) + y[:, None], 80, axis=1)  # of which naive Bayes is far too sure
    tuned = Tuned(GaussianNB(), context=rs.Context(cost_fp=20)).fit(X, y)
    (score,) = tuned.predictions_.scores.values()
    assert ((score == 0) | (score == 1)).any()
    held_out = tuned.candidates_
    taken = min(held_out.values(), key=lambda each: abs(each.beyond) + each.standard_error)
    assert taken.cost <= min(held_out["everybody"].cost, held_out["nobody"].cost) + 1e-12
    assert tuned.decision_.expected_cost <= 0.1 * 1.5


def test_a_note_names_the_bayes_rule_only_where_it_moves_the_threshold():
    rng = np.random.default_rng(1)
    label, score = rng.random(300) < 0.3, rng.normal(size=300)
    predictions = rs.Predictions(label, score, fold=np.arange(300) % 5)
    search = rs.choose(predictions, rs.Context(cost_fn=3))
    chosen, _ = best_candidate(search, predictions, shrinkage=100.0, of_probabilities=False)
    assert chosen.threshold == -math.inf
    assert str(chosen.notes[0]) == f"everybody: moved from {search.point.threshold_text}"


@pytest.mark.parametrize("target_prevalence", [None, 0.05])
def test_calibrated_probabilities_need_no_chosen_threshold(target_prevalence):
    X, y = sample(n=400, seed=1)
    context = rs.Context(target_prevalence, cost_fn=7)

    def notes(model, X):
        return {note.code: note for note in Tuned(model, context=context).fit(X, y).decision_.notes}

    note = notes(LogisticRegression(), X)["fixed_rule_suffices"]
    wanted = logit(context.probability_threshold)
    if target_prevalence is not None:
        wanted += logit(y.mean()) - logit(target_prevalence)
    assert logit(note.parameters["threshold"]) == pytest.approx(wanted)
    # Copies of a feature make the probabilities of naive Bayes far too extreme.
    assert "fixed_rule_suffices" not in notes(GaussianNB(), np.repeat(X, 30, axis=1))
    assert "fixed_rule_suffices" not in notes(LinearSVC(), X)
