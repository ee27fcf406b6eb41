"""A monitor of class weights: counts, bets and alarms against their definitions and the monitor of two classes."""

import json

import numpy as np
import pytest
from scipy import stats

import rocscope as rs
from rocscope.decisions import Monitor
from rocscope.errors import InputError, LabelError
from rocscope.inference.confidence_sequence import BETS, _stakes
from rocscope.multiclass import ClassWeights, ConfusionMatrix, CostMatrix, MulticlassPredictions, class_weights

CLASSES = ("ant", "bee", "cat")
COSTS = np.array([[0, 2, 5], [1, 0, 1], [3, 1, 0]])
PRICES = CostMatrix(COSTS, classes=CLASSES, rows="actual")


def batch(rng, n, skill=2.0, share=(0.5, 0.3, 0.2)):
    """Return class indices and probabilities that favour the right class by exp(skill)."""
    y = rng.choice(3, n, p=share)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += skill
    proba = np.exp(logits)
    return y, proba / proba.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def plan():
    y, proba = batch(np.random.default_rng(0), 400)
    return class_weights(np.array(CLASSES)[y], proba, objective=PRICES)


def named(y):
    return np.array(CLASSES)[y]


def test_quantities_are_those_of_the_confusion_matrix_and_its_costs(plan):
    y, proba = batch(np.random.default_rng(1), 300)
    watch = rs.monitor(plan, fail_if=["precision(bee) < .1", "fpr(ant) > .9", "accuracy < .1"]).update(named(y), proba)
    decided = plan.predict_index(proba)
    expected = {"cost": COSTS[y, decided].mean(), "error": (y != decided).mean(), "accuracy": (y == decided).mean()}
    expected |= {f"recall({cls})": (decided == i)[y == i].mean() for i, cls in enumerate(CLASSES)}
    expected |= {"precision(bee)": (y == 1)[decided == 1].mean(), "fpr(ant)": (decided == 0)[y != 0].mean()}
    assert {name: estimate.value for name, estimate in watch.interval.items()} == pytest.approx(expected)
    assert watch.interval["recall(cat)"].n == (y == 2).sum()
    assert watch.promised["cost"] == pytest.approx(plan.value)
    assert watch.promised["recall(bee)"] == plan.confusion.recall[1]


def test_two_classes_are_monitored_as_a_decision_of_two_is():
    rng = np.random.default_rng(2)
    counts = rs.ThresholdCounts([0.9, 0.5, 0.2], [5, 5, 1], [0, 2, 12])
    decision = rs.choose(counts, rs.Context(cost_fp=1, cost_fn=4))
    of_two = rs.monitor(decision, fail_if=["cost > .9", "tpr < .8"])
    prices = CostMatrix([[0, 1], [4, 0]], classes=["no", "yes"], rows="actual")
    # Scores are 0.1 and 0.7, and both thresholds lie between: 1/(1 + 4), by the costs, that of probabilities.
    assert 0.1 < decision.threshold < 0.7
    table = ConfusionMatrix([[13, 1], [1, 10]], classes=["no", "yes"], rows="actual")
    plan = ClassWeights(("no", "yes"), np.ones(2), 1.0, prices, "cost", "smooth", 0.2, 0.2, table)
    of_classes = rs.monitor(plan, fail_if=["cost > .9", "recall(yes) < .8"])
    for day in range(6):
        y = rng.random(80) < 0.4
        score = np.where(rng.random(80) < 0.75 - 0.05 * day, y, ~y) * 0.6 + 0.1
        of_two.update(y, score, when=day)
        of_classes.update(np.where(y, "yes", "no"), np.column_stack([1 - score, score]), when=day)
    pairs = {"cost": "cost", "error": "error", "tpr": "recall(yes)"}
    for one, other in pairs.items():
        first, second = of_two.interval[one], of_classes.interval[other]
        assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high))
    assert list(of_two.wealth.values()) == pytest.approx(list(of_classes.wealth.values()))
    assert max(of_two.wealth.values()) > 40
    assert (of_two.alarm.n, of_two.alarm.since_n) == (of_classes.alarm.n, of_classes.alarm.since_n)
    assert of_two.notes == of_classes.notes == ()


def test_evidence_is_the_product_of_bets_row_by_row(plan):
    rng = np.random.default_rng(3)
    watch = rs.monitor(plan, fail_if=["cost > 1.2", "recall(cat) < .7"])
    paid, missed, starts, starts_of_cats = [], [], [], []
    for _ in range(4):
        y, proba = batch(rng, 60, skill=0.5)
        decided = plan.predict_index(proba)
        starts.append(len(paid))
        starts_of_cats.append(len(missed))
        paid += COSTS[y, decided].tolist()
        missed += (decided[y == 2] != 2).tolist()
        watch.update(named(y), proba)

    def wealth(values, bound, beginnings):
        gains = [np.mean([np.prod(1 - t + t * np.array(values[start:]) / bound) for t in BETS]) for start in beginnings]
        return _stakes(len(gains)) @ gains + 1 - _stakes(len(gains)).sum()

    assert watch.wealth["cost > 1.2"] == pytest.approx(wealth(paid, 1.2, starts), rel=1e-9)
    # A recall below 0.7 is a share of missed cases above 0.3.
    assert watch.wealth["recall(cat) < 0.7"] == pytest.approx(wealth(missed, 0.3, starts_of_cats), rel=1e-9)


def test_an_alarm_names_the_recall_that_fell_and_when(plan):
    rng = np.random.default_rng(4)
    watch = rs.monitor(plan, fail_if="cost > .35")
    for day in range(20):
        y, proba = batch(rng, 100)
        if day >= 10:
            # Bees look like ants from the tenth day on.
            proba[y == 1] = proba[y == 1][:, [1, 0, 2]]
        watch.update(named(y), proba, when=day)
    assert watch.alarm.since in (9, 10, 11)
    assert watch.alarm.cause.startswith("recall(bee) (0.")
    assert "share of" not in watch.alarm.cause


@pytest.mark.parametrize("limit", ["error > .3", "recall(cat) < .8"])
def test_false_alarms_at_the_limit_are_few(plan, limit):
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(40):
        watch = rs.monitor(plan, fail_if=limit)
        for _ in range(10):
            y = np.repeat([0, 1, 2], [20, 20, 40])
            rng.shuffle(y)
            wrong = rng.random(80) < (0.3 if limit.startswith("error") else 0.2)
            decided = np.where(wrong, (y + 1) % 3, y)
            watch.update(named(y), np.eye(3)[decided])
        alarms += watch.alarm is not None
    # 5% allowed: more than 6 of 40 have a probability of 0.3% at most.
    assert alarms <= 6


def test_rows_are_matched_by_name_and_a_batch_is_counted_once(plan):
    y, proba = batch(np.random.default_rng(6), 150)
    order = [2, 0, 1]
    frame = {CLASSES[i]: proba[:, i] for i in order}
    import pandas as pd

    one = rs.monitor(plan).update(named(y), proba)
    other = rs.monitor(plan).update(named(y), pd.DataFrame(frame))
    third = MulticlassPredictions(named(y), proba[:, order], classes=[CLASSES[i] for i in order])
    assert one.to_dict() == other.to_dict() == rs.monitor(plan).update(third).to_dict()
    with pytest.warns(rs.errors.RocscopeWarning, match="counted in batch 1"):
        one.update(third)
    # The same confusion matrix of other rows is another batch.
    one.update(named(y), np.eye(3)[plan.predict_index(proba)] * 0.5 + proba * 0.5)
    assert (one.n, one.looks) == (300, 2)
    weighted = rs.monitor(plan).update(named(y), proba, sample_weight=np.full(150, 3))
    assert (weighted.n, weighted.interval["error"].value) == (450, other.interval["error"].value)


def test_state_survives_a_restart_and_machines_add_up(plan, tmp_path):
    rng = np.random.default_rng(7)
    through, first, second = (rs.monitor(plan, fail_if=["cost > 3", "recall(ant) < .2"]) for _ in range(3))
    for day in range(3):
        parts = [batch(rng, 60), batch(rng, 60)]
        first.update(named(parts[0][0]), parts[0][1], when=day)
        second.update(named(parts[1][0]), parts[1][1], when=day)
        through.update(named(np.concatenate([y for y, _ in parts])), np.concatenate([p for _, p in parts]), when=day)
        first = Monitor.load(first.save(tmp_path / "state.json"))
    assert isinstance(first, type(second))
    both = first.merge(second)
    assert (both.n, both.looks) == (360, 6)
    assert both.interval["cost"].to_dict() == through.interval["cost"].to_dict()
    assert both.wealth == pytest.approx(through.wealth)
    content = json.loads((tmp_path / "state.json").read_text())
    assert len(content["blocks"][0]["cells"]) == 9
    assert "ranking" not in content


def test_a_class_mix_that_swings_is_noted(plan):
    rng = np.random.default_rng(8)
    watch = rs.monitor(plan)
    mixes = []
    for day in range(12):
        share = (0.3, 0.5, 0.2) if day % 2 else (0.5, 0.3, 0.2)
        y, proba = batch(rng, 120, share=share)
        mixes.append(np.bincount(y, minlength=3))
        watch.update(named(y), proba)
    chi2, p, freedom, _ = stats.chi2_contingency(np.array(mixes))
    assert p < 0.001
    (note,) = watch.notes
    assert f"varies {np.sqrt(chi2 / freedom):.2g} times" in note
    assert "Limits on recalls remain valid" in note


def test_what_cannot_be_monitored_is_refused_with_the_way_on(plan, tmp_path):
    accuracy = class_weights(*[np.array(["a", "b", "a", "b"]), np.eye(2)[[0, 1, 0, 1]]])
    for what, limit, words in [
        (plan, "recall(dog) < .5", "'ant', 'bee', 'cat'"),
        (plan, "macro_f1 < .5", "recall\\(cat\\) < .8"),
        (plan, "recall < .5", "a metric of one class"),
        (plan, "cost(ant) > .5", "a metric of one class"),
        (plan, "cost > 7", "a bound between 0 and 5"),
        (plan, "error > .5 at 95%", "without a level"),
        (accuracy, "cost > .5", "with a cost matrix"),
    ]:
        with pytest.raises((InputError, LabelError), match=words):
            rs.monitor(what, fail_if=limit)
    with pytest.raises(InputError, match="recalls do not depend on class shares"):
        rs.monitor(plan, target_prevalence=0.5)
    with pytest.raises(InputError, match="pos_label"):
        rs.monitor(plan).update(["ant"], [[1.0, 0, 0]], pos_label="ant")
    with pytest.raises(LabelError, match="classes of the rows"):
        rs.monitor(plan).update(MulticlassPredictions(["ant", "dog"], [[1.0, 0], [0, 1]]))
    with pytest.raises(InputError, match="what: expected a Decision, ClassWeights"):
        rs.monitor(7)
    with pytest.raises(InputError, match="monitor: expected a monitor of a decision or plan"):
        rs.monitor(plan).update_unlabelled([[1.0, 0, 0]])
    assert rs.monitor(plan.save(tmp_path / "weights.json")).rule == rs.monitor(plan).rule
