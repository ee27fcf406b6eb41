"""The price of choosing: a slow oracle row by row, true costs of known distributions, and what is refused."""

import json
import warnings
from math import inf, nan

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import rocscope as rs
from rocscope.decisions.constraints import criterion_of
from rocscope.decisions.generalization import bootstrap_choice, design_of_all, in_sample
from rocscope.errors import InputError, OneClassError, RocscopeWarning
from rocscope.metrics import METRICS
from strategies import costly, decision_contexts, samples, whole_weights

CRITERIA = ["min_cost", "accuracy", "youden", "f1", "mcc"]


def value_of(criterion, context, y, score, threshold, weight=None):
    """The worth of a threshold by looking at every row."""
    weight = np.ones(len(y)) if weight is None else weight
    said = np.asarray(score) >= threshold
    cells = [weight[(y == truth) & (said == call)].sum() for truth, call in ((1, 1), (0, 1), (1, 0), (0, 0))]
    if criterion == "min_cost":
        return float(context.exact_cost(rs.OperatingPoint(*cells)))
    point = rs.OperatingPoint(*cells)
    share = context.target_prevalence
    point = point if share is None else point.at_prevalence(share, 1000)
    cells = [np.float64(getattr(point, name)) for name in ("tp", "fp", "fn", "tn")]
    return float(criterion_of(criterion).value(*cells))


def best_by_rows(criterion, context, y, scores, weight=None):
    """The best worth that any threshold of any model has, by trying them all."""
    sign = -1 if criterion == "min_cost" else 1
    worth = [
        value_of(criterion, context, y, score, threshold, weight)
        for score in scores.values()
        for threshold in [inf, *np.unique(score)]
    ]
    return sign * np.nanmax(sign * np.array(worth))


def preds_of(n=120, seed=0, models=("score",), **columns):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return rs.Predictions(y, {name: rng.normal(size=n) + y for name in models}, **columns)


def quick(data, context=None, **options):
    return rs.evaluation.optimism(data, context, **{"replicates": 100, "repeats": 1, "progress": False} | options)


def resampled(preds, decision, replicates=0, seed=0, **options):
    """The design of a decision, its candidates, the choice in the sample and, if asked for, in replicates."""
    candidates = decision.sampling_model.candidates
    design = design_of_all(decision.sampling_model.samples, seed, **options)
    sample = in_sample(design, candidates)
    drawn = bootstrap_choice(design, candidates, sample, replicates, seed, False) if replicates else None
    return design, candidates, sample, drawn


@given(samples(most=15), decision_contexts, st.sampled_from(CRITERIA))
def test_the_engine_finds_the_best_threshold_as_choose_does(sample, context, criterion):
    assume(criterion != "mcc" or np.ptp(sample.score))  # of one level it is 0/0 at every threshold
    preds = rs.Predictions(sample.y, {"a": sample.score, "b": sample.score[::-1].copy()})
    decision = rs.choose(preds, context, criterion=criterion)
    design, candidates, found, _ = resampled(preds, decision)
    value = candidates.values(found.cells, "criterion")[found.number]
    assert value == pytest.approx(best_by_rows(criterion, context, sample.y, preds.scores), abs=1e-12)
    chosen = candidates.members[found.number]
    level = design.tallies[chosen.model].threshold
    threshold = chosen.thresholds(level)[found.points[found.number][0]]
    assert (chosen.model, threshold) == (decision.model, decision.threshold)


@costly
@given(samples(most=12, weight=whole_weights), decision_contexts, st.sampled_from(CRITERIA))
def test_replicates_equal_a_slow_choice_on_rows_drawn_alike(sample, context, criterion):
    preds = rs.Predictions(
        sample.y, {"a": sample.score, "b": -sample.score}, sample_weight=sample.weight, weights="frequency"
    )
    decision = rs.choose(preds, context, criterion=criterion)
    design, candidates, found, drawn = resampled(preds, decision, 3, 7, stratified=True)
    order = np.argsort(~preds.y_true, kind="stable")  # the units of the design: positives first
    (seed,) = np.random.SeedSequence(7).spawn(1)
    counted = design.draw(np.random.Generator(np.random.SFC64(seed)), 3, False)
    for k in range(3):
        weight = np.zeros(sample.y.size)
        weight[order] = counted[k]
        best = best_by_rows(criterion, context, sample.y, preds.scores, weight)
        chosen = candidates.members[drawn.number[k]]
        assert chosen.value(drawn.chosen[k], "criterion") == pytest.approx(best, abs=1e-12, nan_ok=True)
        score = preds.scores[chosen.model]
        threshold = chosen.thresholds(design.tallies[chosen.model].threshold)[int(drawn.point[k])]
        again = value_of(criterion, context, sample.y, score, threshold, weight)
        assert again == pytest.approx(best, abs=1e-12, nan_ok=True)
        there = value_of(criterion, context, sample.y, preds.scores[decision.model], decision.threshold, weight)
        value = candidates.members[found.number].value(drawn.cells[k, found.number], "criterion")
        assert value == pytest.approx(there, abs=1e-12, nan_ok=True)


def test_the_result_is_what_the_engine_says():
    preds, context = preds_of(), rs.Context(cost_fn=3)
    result = quick(preds, context)
    decision = rs.choose(preds, context)
    design, candidates, _, drawn = resampled(preds, decision, 100)
    assert result.apparent.value == pytest.approx(decision.expected_cost)
    there = candidates.members[0].value(drawn.cells[:, 0], "cost")
    assert (result.apparent.low, result.apparent.high) == tuple(np.quantile(there, [0.025, 0.975]))
    assert result.optimism == pytest.approx(result.estimate.value - decision.expected_cost)
    assert result.corrected == result.cross_validated == result.estimate
    assert result.expected_loss == result.estimate.regret
    threshold = candidates.members[0].thresholds(design.tallies["score"].threshold)
    assert result.threshold.replicates.tolist() == threshold[drawn.point.astype(int)].tolist()
    assert set(result.threshold.replicates) <= {inf, -inf, *preds.scores["score"]}
    assert {result.threshold.low, result.threshold.high} <= set(result.threshold.replicates)
    by_f1 = quick(preds, criterion="f1")
    assert by_f1.optimism > 0
    assert by_f1.optimism == pytest.approx(by_f1.apparent.value - by_f1.estimate.value)


def test_folds_of_the_predictions_change_nothing():
    preds = preds_of()
    folded = preds_of(fold=np.arange(120) % 4)
    assert quick(preds, rs.Context()).estimate == quick(folded, rs.Context()).estimate
    assert quick(preds, rs.Context(), cv=5).estimate != quick(preds, rs.Context()).estimate


def test_a_search_stands_for_its_settings():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = rng.normal(size=(60, 2)) + y[:, None]
    inner = Pipeline([("scale", "passthrough"), ("near", KNeighborsClassifier())])
    grid = {"scale": [StandardScaler()], "near__n_neighbors": [3, 9]}
    names = [f"near, near__n_neighbors={k}, scale=StandardScaler()" for k in (3, 9)]
    by_hand = [make_pipeline(StandardScaler(), KNeighborsClassifier(k)) for k in (3, 9)]
    found = quick({"near": GridSearchCV(inner, grid), "bayes": GaussianNB()}, X=x, y=y, cv=3)
    expected = quick(dict(zip([*names, "bayes"], [*by_hand, GaussianNB()], strict=True)), X=x, y=y, cv=3)
    assert found.to_dict() == expected.to_dict()
    drawn = RandomizedSearchCV(KNeighborsClassifier(), {"n_neighbors": range(1, 20)}, n_iter=4)
    assert len(quick(drawn, X=x, y=y, cv=3).models) == 4


def test_entries_of_one_case_are_kept_together():
    # Each case has the same score in both repeats; seen twice, the choice would know the answer.
    n = 60
    rng = np.random.default_rng(3)
    y, score = np.arange(n) % 2, rng.normal(size=n)
    fold = np.concatenate([np.arange(n) % 5, 5 + rng.permutation(n) % 5])
    twice = {"fold": fold, "repeat": np.repeat([0, 1], n), "row": np.tile(np.arange(n), 2)}
    result = quick(rs.Predictions(np.tile(y, 2), np.tile(score, 2), **twice), rs.Context())
    once = quick(rs.Predictions(y, score), rs.Context())
    assert "60 groups" in result.estimate.method
    assert result.estimate.value == pytest.approx(once.estimate.value, abs=0.05)
    width = [each.estimate.high - each.estimate.low for each in (once, result)]
    assert width[1] == pytest.approx(width[0], rel=0.25)


def test_several_models_are_part_of_the_choice():
    found = [[quick(preds_of(seed=k, models=names)) for k in range(10)] for names in ("a", "abcdef")]
    one, six = (np.mean([each.optimism for each in part]) for part in found)
    assert six > one
    two = quick(preds_of(models="ab", seed=5), replicates=300)
    assert sum(two.models.values()) == pytest.approx(1)
    assert min(two.models.values()) > 0
    assert 0 < two.threshold.replicates.size < 300


def test_estimators_are_judged_out_of_fold():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    y = (x[:, 0] + rng.normal(size=90) > 0).astype(int)
    models = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    result = quick(models, X=x, y=y, cv=3)
    expected = quick(rs.evaluate(models, x, y, cv=3))
    assert result.to_dict() == expected.to_dict()


def test_the_same_seed_gives_the_same_result_and_a_criterion_may_be_a_function():
    preds = preds_of()
    assert quick(preds, random_state=4).to_dict() == quick(preds, random_state=4).to_dict()
    by_name = quick(preds, criterion="f1")
    by_function = quick(preds, criterion=METRICS["f_score"])
    assert by_name.estimate.value == by_function.estimate.value
    assert (by_name.quantity, by_function.quantity) == ("f1", "f_score")
    assert by_name.estimate.value < by_name.apparent.value
    assert quick(preds).quantity == "accuracy"


def test_clusters_are_kept_together():
    preds = preds_of(n=60)
    groups = np.repeat(np.arange(20), 3)
    result = quick(preds, rs.Context(), groups=groups, cv=20)
    assert "20 groups" in result.estimate.method
    assert result.to_dict() == quick(preds_of(n=60, groups=groups), rs.Context(), cv=20).to_dict()


def test_a_perfect_model_has_no_optimism():
    preds = rs.Predictions([1] * 20 + [0] * 20, [1.0] * 20 + [0.0] * 20)
    result = quick(preds, rs.Context())
    assert (result.optimism, result.apparent.value, result.estimate.value) == (0, 0, 0)
    assert (result.threshold.low, result.threshold.high) == (1, 1)
    assert result.distribution.y.sum() == pytest.approx(1)


def test_nobody_positive_is_a_legal_choice():
    preds = rs.Predictions([1] * 5 + [0] * 45, np.tile([0.1, 0.2, 0.3, 0.4, 0.5], 10))
    result = quick(preds, rs.Context(), stratified=True)
    assert result.threshold.value == inf
    assert result.distribution.nobody > 0.5
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["threshold"]["value"] is None
    result.plot(Figure().subplots())


def test_replicates_of_one_class_are_counted():
    preds = rs.Predictions([1, 1] + [0] * 10, np.arange(12.0), fold=np.arange(12) % 2)
    with pytest.warns(RocscopeWarning, match="of 100 replicates, which are omitted"):
        quick(preds, rs.Context())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(preds, rs.Context(), stratified=True)


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        (GaussianNB(), {}, InputError, "X and y"),
        ("model", {}, InputError, "expected Predictions, .*got a str"),
        (None, {"X": [[1]], "y": [1]}, InputError, "None if data is Predictions"),
        (None, {"replicates": 0}, InputError, "at least 1"),
        (None, {"level": 2}, InputError, "level"),
        (None, {"criterion": "best"}, InputError, "criterion"),
        (None, {"cv": 1}, InputError, "cv: expected 2 folds or more"),
        (None, {"repeats": 0}, InputError, "repeats"),
        (rs.Predictions([1, 1], [1, 2]), {}, OneClassError, "negatives"),
    ],
)
def test_what_is_refused(data, options, error, words):
    with pytest.raises(error, match=words):
        quick(preds_of() if data is None else data, rs.Context() if "criterion" not in options else None, **options)


def test_the_result_is_plain_data_a_table_and_a_figure():
    result = quick(preds_of(models=("<a>", "b")), rs.Context(cost_fn=2))
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    figures = {"apparent", "estimate", "optimism", "expected_loss", "threshold"}
    assert set(data) >= {"decision", "models", *figures}
    assert repr(result).count("\n") == 0
    assert "apparent" in repr(result)
    assert "&lt;a&gt;" in result._repr_html_()
    ax = result.plot(Figure().subplots())
    labels = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "chosen in replicates" in labels
    assert "95% CI" in labels
    assert ax.lines[0].get_ydata().max() == pytest.approx(result.distribution.y.max())
    assert nan not in data["models"].values()


def test_progress_tells_a_function_of_the_bootstrap():
    heard = []
    predictions = rs.Predictions([1, 0, 1, 0, 1, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    rs.evaluation.optimism(predictions, cv=2, replicates=250, stratified=True, progress=lambda *at: heard.append(at))
    assert heard == [(done, len(heard)) for done in range(1, len(heard) + 1)]
    assert heard
