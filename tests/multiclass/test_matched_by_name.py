"""Classes are matched by name: labels, data frames, matrices, priors and plans in any order give the same result."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rocscope as rs
from rocscope.errors import InputError, LabelError, ScoreError, ShapeError
from rocscope.multiclass import shift_prior

MC = rs.multiclass
CLASSES = ("cat", "dog", "emu", "fox")
COSTS = pd.DataFrame(
    [[0, 1, 4, 2], [3, 0, 1, 5], [2, 6, 0, 1], [7, 1, 2, 0]], index=list(CLASSES), columns=list(CLASSES)
)
PRIOR = {"cat": 0.1, "dog": 0.4, "emu": 0.2, "fox": 0.3}


def rows(n=80, seed=0):
    """Return labels and the probabilities of two models, as frames with a column for each class."""
    rng = np.random.default_rng(seed)
    y = np.array(CLASSES)[rng.integers(0, 4, n)]
    frames = {}
    for model in ("a", "b"):
        values = rng.dirichlet(np.ones(4), n) + 0.5 * (y[:, None] == np.array(CLASSES))
        frames[model] = pd.DataFrame(values / values.sum(axis=1, keepdims=True), columns=list(CLASSES))
    return y, frames


def frame(values, names):
    return pd.DataFrame(np.asarray(values), columns=list(names))[list(CLASSES)].to_numpy()


def table(values, names):
    return pd.DataFrame(np.asarray(values), list(names), list(names)).loc[list(CLASSES), list(CLASSES)].to_numpy()


def column(values, names):
    return pd.Series(np.asarray(values), list(names))[list(CLASSES)].to_numpy()


def ends(estimate):
    return [estimate.value, estimate.low, estimate.high]


def statistics(preds, costs):
    matrix = preds.confusion("a")
    names = ("accuracy", "balanced_accuracy", "macro_f1", "kappa", "mcc")
    values = [x for name in names for x in ends(matrix.interval(name))]
    return [*values, *table(matrix.counts, matrix.classes).ravel(), preds.top_k_accuracy(2, "a")]


def areas(preds, costs):
    auc = MC.multiclass_auc(preds, model="a")
    values = [x for name in ("hand_till", "aunp", "au1p", "ovo_weighted") for x in ends(auc.interval(name))]
    weighted = [auc.one_vs_rest(PRIOR).value, auc.one_vs_one(dict(reversed(PRIOR.items()))).value]
    return [*values, *weighted, *np.nan_to_num(table(auc.matrix, auc.classes)).ravel()]


def comparisons(preds, costs):
    area = MC.compare_multiclass_auc(preds)["a", "b"]
    cost = MC.compare_multiclass_costs(preds, costs)["a", "b"]
    return [area.p_value, *ends(area.difference), *ends(cost.difference)]


def curve(preds, costs):
    curve = MC.reject_curve(preds, costs, model="a")
    return [curve.at(x) for x in (0.1, 0.5, 1, 2)]


def expected(preds, costs):
    matrix = preds.confusion("a")
    return [costs.total(matrix), costs.expected(matrix), costs.expected(matrix, target_prior=PRIOR)]


def decisions(preds, costs):
    proba = pd.DataFrame(preds.probabilities("a"), columns=list(preds.classes))
    decided = np.array(costs.classes)[costs.decide(proba)]
    return [*(CLASSES.index(cls) for cls in decided), *frame(costs.risks(proba), costs.classes).ravel()]


def shifted(preds, costs):
    proba = pd.DataFrame(preds.probabilities("a"), columns=list(preds.classes))
    return frame(shift_prior(proba, PRIOR, dict.fromkeys(CLASSES, 0.25)), preds.classes).ravel()


def chosen(objective, preds, costs):
    objective = costs if objective == "costs" else objective
    plan = MC.class_weights(preds, model="a", objective=objective, method="smooth")
    proba = pd.DataFrame(preds.probabilities("a"), columns=list(preds.classes))
    return [plan.value, *column(plan.weight, plan.classes), *(CLASSES.index(cls) for cls in plan.predict(proba))]


def recall_of_a_class(preds, costs):
    plan = MC.class_weights(preds, model="a", min_recall={"emu": 0.9}, method="coordinate")
    return [plan.confusion.recall[plan.classes.index("emu")] >= 0.9]


def calibration(preds, costs):
    parts = MC.multiclass_decompose(preds, model="a")
    values = [parts.score, parts.miscalibration, parts.discrimination, MC.multiclass_log_loss(preds, model="a")]
    values += [MC.multiclass_calibration_error(preds, model="a", kind=kind) for kind in ("top-label", "classwise")]
    curves = MC.multiclass_calibration_curves(preds, model="a", method="pav")
    return [*values, *(x for cls in (*CLASSES, "top label") for x in curves[cls].y)]


def recalibrated(method, preds, costs):
    result = MC.recalibrate_classes(preds, method=method, strength=1.0, cv=None)
    again = result.recalibrators["a"].predict(pd.DataFrame(preds.probabilities("a"), columns=list(preds.classes)))
    assert np.allclose(again, result.predictions.probabilities("a"))
    return frame(again, preds.classes).ravel()


FIGURES = ("macro_f1", "weighted_precision", "micro", "au1p", "brier", "log_loss", "top_2_accuracy")
PRECISIONS = ("macro_average_precision", "micro_average_precision", "weighted_average_precision")


def figures(preds, costs):
    estimates = [MC.multiclass_figure(preds, measure=name, model="a") for name in (*FIGURES, *PRECISIONS)]
    judged = MC.multiclass_conditions(preds, "macro_f1(a) >= .5 at 95%, brier(b) < .9, weighted_recall(b) > .9")
    return [*(x for estimate in estimates for x in ends(estimate)), *(gate.holds for gate in judged)]


def scores(preds, costs):
    values = [x for rule in ("brier", "log_loss") for x in ends(MC.multiclass_score(preds, rule=rule, model="b"))]
    return [*values, MC.multiclass_brier(preds, model="b")]


def tables(preds, costs):
    # A matrix of a frame, whose rows and columns are in two other orders.
    counts = pd.DataFrame(preds.confusion("a").counts, list(preds.classes), list(preds.classes))
    matrix = MC.ConfusionMatrix(counts.loc[list(costs.classes), list(CLASSES)], classes=preds.classes, rows="actual")
    assert matrix == preds.confusion("a")
    names = np.array(preds.classes)
    labels = names[preds.y_true], names[preds.predicted("a")]
    assert MC.ConfusionMatrix.from_labels(*labels, classes=preds.classes) == matrix
    report = matrix.to_frame().set_index("class").loc[[*CLASSES, "macro avg", "weighted avg"]].to_numpy()
    cells = [count for cls in CLASSES for count in (matrix.binary(cls).tp, matrix.binary(cls).fp)]
    of_dog = ends(matrix.interval("precision", of="dog"))
    return [*report.ravel(), *cells, *of_dog, matrix.micro("precision"), matrix.weighted("jaccard").value]


def parts(preds, costs):
    pairs = [preds.pair("cat", "fox").counts("a"), preds.binary("emu").counts("b"), preds.pooled().counts("a")]
    return [counts.pairs().auc() for counts in pairs]


def searched(preds, costs):
    plan = MC.class_weights(preds, model="a", objective=costs, method="greedy")
    bounds = {"min_recall": {"emu": 0.5}, "subject_to": "macro_precision >= .5"}
    bound = MC.class_weights(preds, model="a", method="coordinate", **bounds)
    met = bound.confusion.recall[bound.classes.index("emu")] >= 0.5, bound.confusion.macro("precision").value >= 0.5
    return [plan.value, *column(plan.weight, plan.classes), *met]


def used(preds, costs):
    """A plan of classes in one order, verified and monitored on rows whose classes are in another."""
    y, frames = rows()
    plan = MC.class_weights(y, frames["a"][list(costs.classes)], objective=costs, classes=costs.classes)
    assert plan.verify(preds.select(models=["a"])) == {}
    watch = rs.monitor(plan, fail_if=["recall(dog) < .1", "cost > 5"])
    watch.update(y, frames["a"][list(preds.classes)])
    return [plan.value, watch.n, *(watch.promised[f"recall({cls})"] for cls in CLASSES)]


RESULTS = {
    "figures": figures,
    "scores": scores,
    "tables": tables,
    "parts": parts,
    "weights by a search": searched,
    "plans": used,
    "statistics": statistics,
    "areas": areas,
    "comparisons": comparisons,
    "reject curve": curve,
    "expected cost": expected,
    "decisions": decisions,
    "shifted priors": shifted,
    "weights for accuracy": partial(chosen, "accuracy"),
    "weights for costs": partial(chosen, "costs"),
    "least recall": recall_of_a_class,
    "calibration": calibration,
    "temperature": partial(recalibrated, "temperature"),
    "dirichlet": partial(recalibrated, "dirichlet"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_the_order_of_classes_changes_no_result(name):
    y, frames = rows()
    result, rng = RESULTS[name], np.random.default_rng(len(name))
    base = result(MC.MulticlassPredictions(y, frames, classes=CLASSES), MC.CostMatrix(COSTS, rows="actual"))
    for _ in range(3):
        first, second, third, fourth = (rng.permutation(CLASSES).tolist() for _ in range(4))
        preds = MC.MulticlassPredictions(y, {m: values[second] for m, values in frames.items()}, classes=first)
        costs = MC.CostMatrix(COSTS.loc[third, fourth], rows="actual")
        assert result(preds, costs) == pytest.approx(base, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", ["comparisons", "reject curve", "expected cost", "decisions", "weights for costs"])
def test_other_classes_are_refused(name):
    y, frames = rows()
    costs = MC.CostMatrix.errors(["cat", "dog", "emu", "gnu"])
    with pytest.raises(LabelError, match=r"expected the classes .*, got "):
        RESULTS[name](MC.MulticlassPredictions(y, frames), costs)


def test_no_public_function_is_left_out():
    source = Path(__file__).read_text(encoding="utf-8")
    used = {name for name in MC.__all__ if f"MC.{name}(" in source or f"MC.{name}." in source or f" {name}(" in source}
    assert used == set(MC.__all__) - {"ClassRecalibrator"}  # which `recalibrate_classes` makes


OTHER = ["cat", "dog", "emu", "gnu"]
REFUSED = {
    "columns": lambda preds, plan, proba: MC.MulticlassPredictions(["cat", "dog"], proba[:2], classes=CLASSES),
    "plan": lambda preds, plan, proba: plan.predict(proba),
    "rows of a plan": lambda preds, plan, proba: plan.verify(MC.MulticlassPredictions(["gnu", "cat"], proba[:2])),
    "rows of a monitor": lambda preds, plan, proba: rs.monitor(plan, fail_if="error > .9").update(["cat"], proba[:1]),
    "recalibrator": lambda preds, plan, proba: (
        MC.recalibrate_classes(preds, method="temperature", cv=None).recalibrators["a"].predict(proba)
    ),
    "prior": lambda preds, plan, proba: shift_prior(
        preds.probabilities("a"), PRIOR, dict.fromkeys(OTHER, 0.25), classes=preds.classes
    ),
    "weights": lambda preds, plan, proba: MC.multiclass_auc(preds, model="a").one_vs_rest(dict.fromkeys(OTHER, 1)),
    "recalls": lambda preds, plan, proba: MC.class_weights(preds, model="a", min_recall={"gnu": 0.5}),
    "matrix": lambda preds, plan, proba: MC.ConfusionMatrix(
        pd.DataFrame(np.eye(4), OTHER, OTHER), classes=CLASSES, rows="actual"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_are_not_the_classes_are_refused(name):
    y, frames = rows()
    preds = MC.MulticlassPredictions(y, frames)
    plan = MC.class_weights(preds, model="a")
    with pytest.raises(LabelError, match=r"expected the classes 'cat', 'dog', .*, got .*'gnu'"):
        REFUSED[name](preds, plan, frames["a"].set_axis(OTHER, axis=1))


def test_the_volume_of_a_frame_is_matched_by_name():
    rng = np.random.default_rng(0)
    y, proba = np.array(["a", "b", "c"] * 10), pd.DataFrame(rng.dirichlet(np.ones(3), 30), columns=list("abc"))
    base = MC.vus(y, proba, classes="abc")
    assert ends(MC.vus(y, proba[["c", "a", "b"]], classes="abc")) == ends(base)
    assert ends(MC.vus(MC.MulticlassPredictions(y, proba[["c", "a", "b"]]))) == pytest.approx(ends(base))


def test_a_plan_and_a_recalibrator_match_frames_by_name(tmp_path):
    y, frames = rows()
    preds = MC.MulticlassPredictions(y, frames["a"])
    plan = MC.class_weights(preds, objective=MC.CostMatrix(COSTS, rows="actual"))
    MC.ClassWeights.save(plan, tmp_path / "plan.json")
    loaded = MC.ClassWeights.load(tmp_path / "plan.json")
    other = frames["a"][["fox", "cat", "emu", "dog"]]
    assert loaded.predict(other).tolist() == plan.predict(preds.probabilities()).tolist()
    assert loaded.predict(pl.from_pandas(other)).tolist() == loaded.predict(other).tolist()
    with pytest.raises(LabelError, match=r"columns of proba: expected the classes .*, got the classes 'cat', 'dog'"):
        plan.predict(other[["cat", "dog"]])


def test_a_cost_matrix_of_other_order_or_names():
    proba = [[0.9, 0.1], [0.2, 0.8]]
    preds = MC.MulticlassPredictions(["a", "b"], proba, classes=["a", "b"])
    costs = MC.CostMatrix([[0, 1], [5, 0]], classes=["b", "a"], rows="actual")
    right = MC.CostMatrix([[0, 5], [1, 0]], classes=["a", "b"], rows="actual")
    assert MC.reject_curve(preds, costs).at(0.3) == MC.reject_curve(preds, right).at(0.3)
    with pytest.raises(LabelError, match="expected the classes 'a', 'b', got the classes 'cat', 'dog'"):
        MC.reject_curve(preds, MC.CostMatrix.errors(["cat", "dog"]))
    with pytest.raises(LabelError, match="a name for each row and column"):
        MC.CostMatrix([[0, 1], [5, 0]], rows="actual")


def test_a_crosstab_names_its_classes():
    y, predicted = ["b", "a", "c", "a"], ["a", "a", "b", "b"]
    crosstab = pd.crosstab(pd.Series(y), pd.Series(predicted))  # no case is predicted as c
    expected = MC.ConfusionMatrix.from_labels(y, predicted)
    assert MC.ConfusionMatrix(crosstab.loc[["c", "a", "b"]], rows="actual") == expected
    with pytest.raises(LabelError, match="without an index"):
        MC.ConfusionMatrix(pl.DataFrame({"a": [1, 0], "b": [0, 1]}))
    with pytest.raises(LabelError, match="columns of cost"):
        MC.CostMatrix(crosstab, classes="abc", rows="actual")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordered_categories_keep_their_order(library):
    names, order = ["low", "mid", "high", "mid", "low"], ["low", "mid", "high"]
    if library == "pandas":
        y = pd.Series(pd.Categorical(names, categories=order, ordered=True))
    else:
        y = pl.Series(names, dtype=pl.Enum(order))
    matrix = MC.ConfusionMatrix.from_labels(y, ["low", "high", "high", "mid", "low"])
    assert matrix.classes == ("low", "mid", "high")
    # One case of five is one step off: 1 − 1·5/Σ aᵢ·(i − j)²·pⱼ with margins 2, 2, 1 and 2, 1, 2.
    assert matrix.kappa("quadratic") == pytest.approx(1 - 5 / (2 * (1 + 2 * 4) + 2 * (2 + 2) + 1 * (2 * 4 + 1)))
    proba = np.eye(3)[[0, 2, 2, 1, 0]]
    assert MC.MulticlassPredictions(y, proba).confusion() == matrix
    assert MC.MulticlassPredictions(y, pd.DataFrame(proba, columns=order)[["mid", "low", "high"]]).classes == (*order,)
    with pytest.warns(rs.errors.RocscopeWarning, match="the variance of the estimate 1 is 0"):
        assert MC.vus(y, [1, 2, 3, 2, 1]).value == 1


def test_one_dimensional_scores_labels_of_two_dimensions_and_logits_are_answered():
    with pytest.raises(ShapeError, match=r"got one score per row.*rocscope\.Predictions"):
        MC.MulticlassPredictions([0, 1, 1, 0], [0.2, 0.8, 0.9, 0.3])
    assert MC.MulticlassPredictions([0.0, 1.0, 2.0], [0.0, 2.0, 2.0]).confusion().accuracy == pytest.approx(2 / 3)
    with pytest.raises(ShapeError, match=r"one label per row, got shape \(2, 3\).*argmax.*each column"):
        MC.MulticlassPredictions(np.array([[1, 0, 1], [0, 1, 0]]), np.full((2, 3), 1 / 3))
    costs = MC.CostMatrix.errors("abc")
    with pytest.raises(ScoreError, match=r"softmax\(logits, axis=1\)"):
        costs.decide([[2.0, -1.0, 0.5]])
    with pytest.raises(ScoreError, match=r"sum to 1 .*softmax"):
        costs.risks([[2.0, 1.0, 0.5]])
    with pytest.raises(ScoreError, match="missing"):
        costs.decide([[np.nan, 0.5, 0.5]])


@pytest.mark.parametrize("bad", [[-0.2, 1.2], [np.nan, 1.0], [0.5, 0.6], [1.0]])
def test_priors_are_shares(bad):
    with pytest.raises(InputError, match="target_prior: expected"):
        shift_prior([[0.5, 0.5]], [0.5, 0.5], bad)
    with pytest.raises(InputError, match=r"train_prior: expected|classes: expected"):
        shift_prior([[0.5, 0.5]], bad, [0.5, 0.5])


def test_priors_by_class_need_the_names_of_the_columns():
    with pytest.raises(InputError, match="the class of each column"):
        shift_prior([[0.5, 0.5]], {"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5})
    with pytest.raises(LabelError, match="target_prior: expected the classes 'a', 'b', got the classes 'a', 'c'"):
        shift_prior([[0.5, 0.5]], {"a": 0.5, "b": 0.5}, {"a": 0.5, "c": 0.5}, classes="ab")
    with pytest.raises(ScoreError, match="1 row without one"):
        shift_prior([[1.0, 0.0]], [0.5, 0.5], [0.0, 1.0])


def test_text_and_numbers_are_told_apart():
    with pytest.raises(LabelError, match="because text and numbers differ"):
        MC.MulticlassPredictions(["0", "1", "0"], np.full((3, 2), 0.5), classes=[0, 1])
    with pytest.raises(InputError, match="'quadratic'"):
        MC.ConfusionMatrix.from_labels([0, 1], [0, 1]).kappa("cubic")
