"""The price of choosing: a slow oracle row by row, true costs of known distributions, and what is refused."""

import json
import warnings
from math import inf, nan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import rocscope as rs
from optimism_cases import Population, study
from rocscope.decisions.criteria import criterion_of
from rocscope.decisions.generalization.threshold_choice import Rule
from rocscope.errors import InputError, OneClassError, RocscopeWarning
from rocscope.evaluation.choice_optimism import Observed, draw
from rocscope.inference.resampling.bootstrap import design_of
from rocscope.metrics import METRICS
from strategies import decision_contexts, samples, whole_weights

CRITERIA = ["min_cost", "accuracy", "youden", "f1", "mcc"]
SEEN = 2 ** (-1 / 3)


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


@given(samples(most=15), decision_contexts, st.sampled_from(CRITERIA))
def test_the_rule_finds_the_best_threshold_as_choose_does(sample, context, criterion):
    assume(criterion != "mcc" or np.ptp(sample.score))  # of one level it is 0/0 at every threshold
    preds = rs.Predictions(sample.y, {"a": sample.score, "b": sample.score[::-1].copy()})
    decision = rs.choose(preds, context, criterion=criterion)
    design = design_of(preds, stratified=False)
    found = Observed.of(design, Rule(criterion_of(criterion), decision.context), decision)
    choice = found.rule.choose({name: t.counts(design.frequency[None]) for name, t in design.tallies.items()})
    assert choice.worth[0] == pytest.approx(best_by_rows(criterion, context, sample.y, preds.scores), abs=1e-12)
    assert found.apparent == pytest.approx(choice.worth[0], abs=1e-12)
    assert (found.models[choice.model[0]], found.thresholds[choice.model[0]][choice.point[0]]) == (
        decision.model,
        decision.threshold,
    )


@settings(max_examples=20)
@given(samples(most=12, weight=whole_weights), decision_contexts, st.sampled_from(CRITERIA))
def test_replicates_equal_a_slow_choice_on_rows_drawn_alike(sample, context, criterion):
    preds = rs.Predictions(sample.y, {"a": sample.score, "b": -sample.score}, sample_weight=sample.weight)
    decision = rs.choose(preds, context, criterion=criterion)
    design = design_of(preds, stratified=True)
    found = Observed.of(design, Rule(criterion_of(criterion), decision.context), decision)
    drawn = draw(design, found, 3, 7, False)
    order = np.argsort(~preds.y_true, kind="stable")  # the units of the design: positives first
    (seed,) = np.random.SeedSequence(7).spawn(1)
    counted = design.draw(np.random.Generator(np.random.SFC64(seed)), 3, False)
    for k in range(3):
        weight = np.zeros(sample.y.size)
        weight[order] = counted[k]
        best = best_by_rows(criterion, context, sample.y, preds.scores, weight)
        assert drawn.worth[k] == pytest.approx(best, abs=1e-12)
        score = preds.scores[found.models[drawn.model[k]]]
        threshold = found.thresholds[drawn.model[k]][drawn.point[k]]
        again = value_of(criterion, context, sample.y, score, threshold, weight)
        assert again == pytest.approx(best, abs=1e-12)
        in_sample = value_of(criterion, context, sample.y, score, threshold, sample.weight.astype(float))
        assert found.at(found.worth, drawn)[k] == pytest.approx(in_sample, abs=1e-12, nan_ok=True)


def test_the_result_is_what_the_replicates_say():
    preds, context = preds_of(), rs.Context(cost_fn=3)
    result = quick(preds, context)
    design, decision = design_of(preds, stratified=False), rs.choose(preds, context)
    found = Observed.of(design, Rule(criterion_of(None), context), decision)
    drawn = draw(design, found, 100, 0, False)
    there = found.at(found.worth, drawn)
    assert result.apparent.value == pytest.approx(decision.expected_cost)
    assert result.optimism == pytest.approx((there - drawn.worth).mean() / SEEN)
    assert result.corrected.value == pytest.approx(result.apparent.value + result.optimism)
    assert result.expected_loss.value == pytest.approx((there - decision.expected_cost).mean())
    assert result.threshold.replicates.tolist() == found.thresholds[0][drawn.point].tolist()
    assert set(result.threshold.replicates) <= {inf, *preds.scores["score"]}
    assert {result.threshold.low, result.threshold.high} <= set(result.threshold.replicates)


def test_cross_validation_in_given_folds_by_hand():
    # Fold a chooses 3, which finds none of the two positives of b; b chooses 1, with two false alarms in a.
    y, score, fold = [1, 1, 0, 0, 1, 1, 0, 0], [4, 3, 2, 1, 2, 1, 0, 0], list("aaaabbbb")
    result = quick(rs.Predictions(y, score, fold=fold), rs.Context(), stratified=True)
    assert result.cross_validated.value == pytest.approx((2 + 2) / 8)
    assert "2 folds given" in result.cross_validated.method
    # Leaving out one fold's rows leaves a cost of 2/4 either way, so the jackknife sees no spread.
    assert result.cross_validated.low == pytest.approx(0.5)


@pytest.mark.parametrize("coarse", [False, True])
def test_cross_validation_equals_a_slow_loop(coarse):
    fold = np.arange(120) % 4
    preds = preds_of(fold=fold, models=("a", "b"))
    if coarse:  # models of few levels and of many, each chosen in some folds
        scores = {"a": preds.scores["a"], "b": (2 * preds.scores["b"]).round()}
        preds = rs.Predictions(preds.y_true, scores, fold=fold)
    context = rs.Context(cost_fn=3)
    cost, models = 0.0, set()
    for k in range(4):
        chosen = rs.choose(preds.select(fold != k), context)
        models.add(chosen.model)
        held = preds.select(fold == k)
        cost += context.cost(held.counts(chosen.model).at(chosen.threshold))
    assert quick(preds, context).cross_validated.value == pytest.approx(cost / 120)
    assert models == {"a", "b"} or not coarse


def test_what_folds_gain_by_their_own_choice_equals_a_slow_loop():
    fold = np.arange(120) % 4
    preds = preds_of(fold=fold, models=("a", "b"))
    context = rs.Context(cost_fn=3, target_prevalence=0.4)
    result = quick(preds, context)
    chosen = result.decision
    gains = []
    for k in range(4):
        y, scores = preds.y_true[fold == k], {name: score[fold == k] for name, score in preds.scores.items()}
        own = value_of("min_cost", context, y, scores[chosen.model], chosen.threshold)
        gains.append(own - best_by_rows("min_cost", context, y, scores))
    assert result.fold_corrected.value == pytest.approx(result.apparent.value + np.mean(gains))
    assert "Tibshirani" in result.fold_corrected.method


def test_a_correction_that_is_large_gives_way_to_cross_validation():
    few, many = quick(preds_of(n=60), rs.Context()), quick(preds_of(n=3000), rs.Context())
    assert (few.estimate, few.corrected.reliable) == (few.cross_validated, False)
    assert "take cross_validated" in few.corrected.reason
    assert "not reliable" in repr(few)
    assert (many.estimate, many.corrected.reliable) == (many.corrected, True)


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


def test_repeats_never_judge_a_case_that_was_chosen_on():
    # Each case has the same score in both repeats; seen twice, the choice would know the answer.
    n = 60
    rng = np.random.default_rng(3)
    y, score = np.arange(n) % 2, rng.normal(size=n)
    fold = np.concatenate([np.arange(n) % 5, 5 + rng.permutation(n) % 5])
    twice = {"fold": fold, "repeat": np.repeat([0, 1], n), "row": np.tile(np.arange(n), 2)}
    preds = rs.Predictions(np.tile(y, 2), np.tile(score, 2), **twice)
    cost = 0
    for k in range(10):
        held = preds.select(fold == k)
        others = preds.select(~np.isin(preds.row, held.row))
        cost += rs.Context().cost(held.counts().at(rs.choose(others).threshold))
    result = quick(preds, rs.Context())
    assert result.cross_validated.value == pytest.approx(cost / (2 * n))
    assert "groups" in result.corrected.method


def test_several_models_are_part_of_the_choice():
    one, two = (quick(preds_of(models=names, seed=5), replicates=300) for names in ("a", "ab"))
    assert sum(two.models.values()) == pytest.approx(1)
    assert min(two.models.values()) > 0
    assert two.optimism > one.optimism
    assert two.threshold.replicates.size == pytest.approx(300 * two.models[two.decision.model])


def test_estimators_are_judged_out_of_fold():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    y = (x[:, 0] + rng.normal(size=90) > 0).astype(int)
    models = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    result = quick(models, X=x, y=y, cv=3)
    expected = quick(rs.evaluate(models, x, y, cv=3))
    assert result.to_dict() == expected.to_dict()
    assert "3 folds given" in result.cross_validated.method


def test_the_same_seed_gives_the_same_result_and_a_criterion_may_be_a_function():
    preds = preds_of()
    assert quick(preds, random_state=4).to_dict() == quick(preds, random_state=4).to_dict()
    by_name = quick(preds, criterion="f1")
    by_function = quick(preds, criterion=METRICS["f_score"])
    assert by_name.corrected.value == by_function.corrected.value
    assert (by_name.quantity, by_function.quantity) == ("f1", "f_score")
    assert by_name.corrected.value < by_name.apparent.value
    assert quick(preds).quantity == "accuracy"


def test_clusters_are_kept_together():
    preds = preds_of(n=60)
    groups = np.repeat(np.arange(20), 3)
    result = quick(preds, rs.Context(), groups=groups, cv=20)
    assert "20 groups" in result.corrected.method
    with pytest.raises(InputError, match="from 2 to 20"):
        quick(preds, rs.Context(), groups=groups, cv=21)


def test_a_perfect_model_has_no_optimism():
    preds = rs.Predictions([1] * 20 + [0] * 20, [1.0] * 20 + [0.0] * 20)
    result = quick(preds, rs.Context())
    assert (result.optimism, result.apparent.value, result.corrected.value, result.cross_validated.value) == (
        0,
        0,
        0,
        0,
    )
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
    with pytest.warns(RocscopeWarning, match="of 100 replicates gave no number"):
        quick(preds, rs.Context())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(preds, rs.Context(), stratified=True)


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        (GaussianNB(), {}, InputError, "X and y"),
        ("model", {}, InputError, "expected Predictions, .*got a str"),
        (None, {"X": [[1]], "y": [1]}, InputError, "beside Predictions"),
        (None, {"replicates": 0}, InputError, "at least 1"),
        (None, {"level": 2}, InputError, "level"),
        (None, {"criterion": "best"}, InputError, "criterion"),
        (None, {"cv": 1}, InputError, "from 2 to 120"),
        (None, {"repeats": 0}, InputError, "repeats"),
        (rs.Predictions([1, 1], [1, 2]), {}, OneClassError, "negatives"),
        (rs.Predictions([1, 0], [1, 2], fold=[1, 1]), {}, InputError, "at least two folds"),
        (
            rs.Predictions([1, 0, 0], [1, 2, 3], fold=[1, 2, 2]),
            {"stratified": True},
            OneClassError,
            "outside every fold",
        ),
    ],
)
def test_what_is_refused(data, options, error, words):
    with pytest.raises(error, match=words):
        quick(preds_of() if data is None else data, rs.Context() if "criterion" not in options else None, **options)


def test_the_result_is_plain_data_a_table_and_a_figure():
    result = quick(preds_of(models=("<a>", "b")), rs.Context(cost_fn=2))
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    figures = {"apparent", "cross_validated", "corrected", "fold_corrected", "expected_loss", "threshold"}
    assert set(data) >= {"decision", "models", *figures}
    assert repr(result).count("\n") == 0
    assert "apparent" in repr(result)
    assert "&lt;a&gt;" in result._repr_html_()
    ax = result.plot(Figure().subplots())
    labels = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "chosen in replicates" in labels
    assert "95 % interval" in labels
    assert ax.lines[0].get_ydata().max() == pytest.approx(result.distribution.y.max())
    assert nan not in data["models"].values()


def test_the_correction_removes_most_of_the_bias_in_small():
    found = {name: values.mean() for name, values in study(Population(1.0), 100, 60, replicates=100).items()}
    assert found["apparent"] < -0.04
    assert abs(found["corrected"]) < 0.5 * abs(found["apparent"])
    assert abs(found["cross_validated"]) < 0.5 * abs(found["apparent"])
    assert 0.7 < found["expected_loss"] / found["true_loss"] < 1.9


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1.0, 2.0])
@pytest.mark.parametrize("n", [100, 400])
def test_the_correction_removes_most_of_the_bias(shift, n):
    values = study(Population(shift), n, 600)
    found = {name: column.mean() for name, column in values.items()}
    print(found)
    assert abs(found["corrected"]) < 0.3 * abs(found["apparent"])
    assert abs(found["cross_validated"]) < 0.2 * abs(found["apparent"])
    assert 0.9 < found["expected_loss"] / found["true_loss"] < 1.5
    assert found["corrected_covers"] > found["apparent_covers"]


def test_progress_tells_a_function_of_the_bootstrap():
    heard = []
    predictions = rs.Predictions([1, 0, 1, 0, 1, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    rs.evaluation.optimism(predictions, cv=2, replicates=250, stratified=True, progress=lambda *at: heard.append(at))
    assert heard == [(done, len(heard)) for done in range(1, len(heard) + 1)]
    assert heard
