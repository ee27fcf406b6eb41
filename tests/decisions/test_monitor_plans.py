"""Monitors of any plan: costs and rates against a count by hand, false alarms, the volume of actions, and files."""

import numpy as np
import pytest

import rocscope as rs
from rocscope import Campaign, Context, Predictions, Review, ThresholdCounts
from rocscope.decisions import Monitor
from rocscope.errors import InputError, StoredError
from rocscope.inference.confidence_sequence import mean_interval

COUNTS = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
CAMPAIGN = Campaign(1000, unit_cost=1, unit_benefit=10)
SEGMENTS = {"n": COUNTS, "s": ThresholdCounts([3, 2, 1], [10, 20, 10], [20, 80, 360])}
OWN_COSTS = {"n": Campaign(1000, 1, 10), "s": Campaign(500, 2, 9)}
ACTIONS = {"letter": CAMPAIGN, "call": Campaign(1000, 3, 19)}
REVIEW = rs.choose(COUNTS, Context(cost_fp=5, cost_fn=5), review=Review(cost=0.5))


def batch(seed, n=400):
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.2
    return label, np.minimum(rng.integers(1, 4, n) + label, 3), rng.choice(["n", "s"], n)


def cost_by_hand(plan, label, score, segment):
    """Return the mean cost per case, by the thresholds that each plan prints."""
    total = 0.0
    for positive, value, name in zip(label, score, segment, strict=True):
        if plan is REVIEW:
            reviewed = value >= plan.review.threshold and value < plan.threshold
            acted = value >= plan.threshold
            total += 0.5 if reviewed else 5 * (acted != positive)
        elif hasattr(plan, "campaign"):
            total += (1 - 10 * positive) * (value >= plan.rule.point.threshold)
        elif hasattr(plan, "actions"):
            reached = sum(value >= place.rules(name)[0].threshold for place in plan.places)
            total += [0, 1 - 10 * positive, 3 - 19 * positive][reached]
        else:
            unit_cost, benefit = (1, 10) if name == "n" else (2, 9)
            total += (unit_cost - benefit * positive) * (value >= plan.rules(name)[0].threshold)
    return total / label.size


PLANS = {
    "campaign": rs.plan_campaign(COUNTS, CAMPAIGN),
    "allocation": rs.allocate(SEGMENTS, OWN_COSTS),
    "actions": rs.allocate(SEGMENTS, actions=ACTIONS),
    "review": REVIEW,
}


@pytest.mark.parametrize("kind", PLANS)
def test_costs_and_rates_are_those_of_a_count_by_hand(kind, tmp_path):
    plan = PLANS[kind]
    label, score, segment = batch(1)
    watch = rs.monitor(plan, fail_if=["precision < .05"]).update(label, score, segment=segment, when="Mon")
    assert watch.n == 400
    assert watch.interval["cost"].value == pytest.approx(cost_by_hand(plan, label, score, segment))
    acted = np.zeros(400, bool)
    if kind == "review":
        acted = plan.predict(score) != "leave"
        assert watch.interval["tpr"].value == acted[label].mean()  # reviewed positives are treated correctly
        assert watch.interval["fpr"].value == (plan.predict(score) == "act")[~label].mean()
    elif kind == "campaign":
        acted = score >= plan.rule.point.threshold
        assert watch.interval["precision"].value == label[acted].mean()
        assert watch.interval["depth"].value == acted.mean()
    again = Monitor.load(watch.save(tmp_path / "state.json"))
    assert again.to_dict() == watch.to_dict()
    assert again.watches_as(watch)
    with pytest.warns(UserWarning, match="counted in batch 1"):
        assert again.update(label, score, segment=segment, when="Mon").n == 400
    other = rs.monitor(plan, fail_if=["precision < .05"]).update(*batch(2)[:2], segment=batch(2)[2], when="Tue")
    both = watch.merge(other)
    assert both.n == 800
    assert both.interval["cost"].value == pytest.approx(
        (watch.interval["cost"].value + other.interval["cost"].value) / 2
    )


def test_cases_between_two_thresholds_are_decided_by_the_hash_of_their_identifier():
    limited = rs.plan_campaign(COUNTS, Campaign(1000, unit_cost=1, unit_benefit=20, capacity=150))
    lot = rs.choose(COUNTS, Context(cost_fn=19), subject_to="depth <= .15", randomized=True)
    spread = rs.allocate(SEGMENTS, Campaign(1500, unit_cost=1, unit_benefit=20), capacity=180)
    label, score, segment = batch(3)
    ids = np.arange(400) + 17
    for plan, planned in ((limited, 0.15), (lot, 0.15), (spread, 0.12)):
        watch = rs.monitor(plan).update(label, score, ids=ids, segment=segment)
        # Many more cases than planned have the highest score: exactly the planned share would be fewer.
        assert planned < (score >= 3).mean() < watch.interval["depth"].value < (score >= 2).mean()
        shuffled = np.random.default_rng(0).permutation(400)
        other = rs.monitor(plan)
        other.update(label[shuffled], score[shuffled], ids=ids[shuffled], segment=segment[shuffled])
        assert other.interval == watch.interval
        assert watch.planned_volume == pytest.approx(planned)


def false_alarms(streams, seed=0):
    """Return the number of streams with an alarm, all of which keep their limit exactly."""
    rng = np.random.default_rng(seed)
    plan = rs.plan_campaign(COUNTS, Campaign(1000, unit_cost=1, unit_benefit=20, capacity=150))
    # Of 150 contacts 30 + 50/200 × 15 are expected to respond.
    bound = (150 - 20 * 33.75) / 1000
    alarms = 0
    positives, negatives = [0.03, 0.015, 0.005], [0.07, 0.185, 0.695]
    for _ in range(streams):
        watch = rs.monitor(plan, fail_if=f"cost > {bound}")
        for _ in range(8):
            cell = rng.choice(6, 250, p=[*positives, *negatives])
            watch.update(cell < 3, 3 - cell % 3, ids=rng.integers(0, 2**60, 250))
        alarms += watch.alarm is not None
    return alarms


@pytest.mark.parametrize(
    ("streams", "most"), [(20, 4), pytest.param(400, 30, marks=pytest.mark.slow)], ids=["few", "400"]
)
def test_a_stream_that_keeps_its_limit_seldom_raises_an_alarm(streams, most):
    """At a level of 95% at most 5% of streams do: 30 of 400 leave two standard errors, and 4 of 20 much more."""
    assert false_alarms(streams) <= most


def test_a_plan_that_gets_worse_raises_an_alarm_that_names_the_cause():
    watch = rs.monitor(PLANS["campaign"], fail_if="precision < .2")
    rng = np.random.default_rng(5)
    for day in range(20):
        score = np.repeat([3, 1], 100)
        label = rng.random(200) < np.where(score == 3, 0.3 if day < 10 else 0.05, 0.02)
        watch.update(label, score, when=day)
    assert watch.alarm is not None
    assert 9 <= watch.alarm.since <= 12
    assert "class mix" in watch.alarm.cause  # fewer respond


def test_the_volume_of_actions_is_known_before_labels_come(tmp_path):
    decision = rs.choose(COUNTS, Context(cost_fn=9))
    label, score, segment = batch(6)
    watch = rs.monitor(decision, fail_if="cost > 1")
    watch.update_unlabelled(score, when="Mon").update_unlabelled(score, when="Tue")
    acted = int(decision.predict(score).sum())
    low, high = mean_interval(np.array([0.0, 1.0]), np.array([2 * (400 - acted), 2 * acted]), 0.95)
    assert (watch.n, watch.looks, watch.alarm) == (0, 0, None)
    assert (watch.volume.value, watch.volume.low, watch.volume.high) == (acted / 400, low, high)
    assert watch.planned_volume == decision.point.depth
    with pytest.warns(UserWarning, match="already counted for the volume"):
        watch.update_unlabelled(score, when="Mon")
    loaded = Monitor.load(watch.update(label, score).save(tmp_path / "s.json"))
    assert (loaded.volume, loaded.n) == (watch.volume, 400)
    assert loaded.merge(rs.monitor(decision, fail_if="cost > 1").update_unlabelled(score)).volume.n == 1200
    # With labels, the interval of depth is the same.
    with_labels = rs.monitor(decision).update(label, score).update(label, score, again=True).interval["depth"]
    assert (with_labels.low, with_labels.high) == pytest.approx((low, high))
    plan = PLANS["allocation"]
    by_segment = rs.monitor(plan).update_unlabelled(score, segment=segment)
    acting = 0
    for name in "ns":
        acting += int((score[segment == name] >= plan.rules(name)[0].threshold).sum())
    assert by_segment.volume.value == acting / 400
    assert by_segment.planned_volume == pytest.approx(plan.cases.sum() / 1500)


def test_refusals():
    rng = np.random.default_rng(0)
    label = rng.random(100) < 0.4
    rows = Predictions(label, {"a": label + rng.normal(size=100)}, columns={"margin": rng.lognormal(size=100)})
    by_row = rs.plan_campaign(rows, Campaign(100, 1, "margin"))
    with pytest.raises(InputError, match=r"fail_if: expected a metric that is a mean over cases .such as 'precision'"):
        rs.monitor(by_row, fail_if="cost > 1")
    assert "cost" not in rs.monitor(by_row).update(rows).interval
    with pytest.raises(InputError, match="fail_if: expected a metric that is a mean over cases"):
        rs.monitor(PLANS["campaign"], fail_if="auc < .7")
    with pytest.raises(InputError, match="target_prevalence: expected None"):
        rs.monitor(PLANS["campaign"], target_prevalence=0.1)
    with pytest.raises(InputError, match="y_true: expected 3 labels, got 2"):
        rs.monitor(PLANS["campaign"]).update([1, 0], [1, 2, 3])
    with pytest.raises(InputError, match="segment: expected the segment of each case"):
        rs.monitor(PLANS["allocation"]).update([1, 0], [1, 2])
    with pytest.raises(InputError, match="monitor: expected a monitor of a decision or plan"):
        rs.monitor("auc").update_unlabelled([1, 2])


def test_an_update_that_fails_half_way_changes_no_count(monkeypatch):
    watch = rs.monitor(rs.choose(COUNTS, Context(cost_fn=9)), fail_if="cost > 1")
    label, score, _ = batch(7)
    watch.update(label, score, when="Mon")
    before = watch.to_dict()

    def fail(self, when):
        raise KeyboardInterrupt

    monkeypatch.setattr(Monitor, "_judge", fail)
    with pytest.raises(KeyboardInterrupt):
        watch.update(label[::-1], score, when="Tue")
    assert watch.to_dict() == before


def test_a_state_with_a_damaged_plan_is_refused_by_its_name(tmp_path):
    content = rs.monitor(PLANS["campaign"]).to_dict()
    content["rule"] = {"plan": content["rule"]["plan"].replace("unit_cost", "price")}
    with pytest.raises(StoredError, match="rule"):
        Monitor.from_dict(content)


def test_a_review_by_a_reader_who_may_be_wrong_costs_what_the_reader_misses():
    """Of 100 positives 80 are acted on after a look, and of 100 negatives 10: 1 + .2·5 and 1 + .1·5."""
    reader = Review(1, sensitivity=0.8, specificity=0.9)
    plan = rs.choose(rs.ThresholdCounts([2], [50], [50]), Context(cost_fp=5, cost_fn=5), review=reader)
    assert plan.expected_cost == pytest.approx(1 + 0.5 * (0.2 * 5 + 0.1 * 5))
    watch = rs.monitor(plan, fail_if="cost > 3").update([1, 0] * 100, [2, 2] * 100)
    assert watch.interval["cost"].value == pytest.approx(plan.expected_cost)
    with pytest.raises(InputError, match="only cost with imperfect reviews"):
        rs.monitor(plan, fail_if="precision < .2")
