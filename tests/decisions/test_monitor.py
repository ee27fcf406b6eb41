"""A monitor: counts and bets against their definitions, restarts, machines, and how often it is wrong or late."""

import json
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from monitor_cases import alarms, rows_needed
from rocscope.decisions import Monitor
from rocscope.errors import InputError
from rocscope.inference.confidence_sequence import BETS, _log_wealth, _stakes, asymptotic_reach, mean_interval

CONTEXT = rs.Context(cost_fp=1, cost_fn=4)


def decision(threshold=0.5):
    counts = rs.ThresholdCounts([0.9, threshold, 0.2], [5, 5, 1], [0, 2, 12])
    return rs.choose(counts, CONTEXT)


def stream(rng, n, rate=0.3, skill=1.0):
    label = rng.random(n) < rate
    return label, 1 / (1 + np.exp(-(rng.normal(size=n) + skill * (2 * label - 1))))


def test_wealth_is_that_of_the_bets_one_by_one():
    rng = np.random.default_rng(0)
    row = rng.choice([0.0, 1.0, 4.0], size=40)
    values, counts = np.unique(row, return_counts=True)
    for bound in (0.5, 1.3):
        expected = np.mean([np.prod(1 - t + t * row / bound) for t in BETS])
        assert np.exp(_log_wealth(values, counts, bound, 0.0, BETS)) == pytest.approx(expected, rel=1e-12)


def test_evidence_is_a_stake_spread_over_beginnings():
    rng = np.random.default_rng(1)
    watch = rs.monitor(decision(), fail_if="error > .2")
    errors, starts = [], []
    for _ in range(6):
        label, score = stream(rng, 60)
        starts.append(len(errors))
        errors += list(label != (score >= watch.rule["threshold"]))
        watch.update(label, score)
    row = np.array(errors, float)
    parts = _stakes(len(starts))
    grown = [np.mean([np.prod(1 - t + t * row[start:] / 0.2) for t in BETS]) for start in starts]
    assert watch.wealth["error > 0.2"] == pytest.approx(parts @ grown + 1 - parts.sum(), rel=1e-9)


def test_stakes_are_never_more_than_one():
    assert 0.97 < _stakes(10**6).sum() < 1


@given(st.lists(st.integers(0, 30), min_size=2, max_size=3), st.floats(0.5, 0.99))
def test_the_ends_of_an_interval_are_where_bets_pay(counts, level):
    values, counts = np.arange(len(counts), dtype=float), np.array(counts)
    low, high = mean_interval(values, counts, level)
    assert 0 <= low <= high <= values[-1]
    if counts.sum():
        assert low - 1e-8 <= values @ counts / counts.sum() <= high + 1e-8
    if low > 1e-6:
        assert np.exp(_log_wealth(values, counts, low, 0.0)) == pytest.approx(2 / (1 - level), rel=1e-4)
    mirrored = mean_interval(values[-1] - values, counts, level)
    assert mirrored == pytest.approx((values[-1] - high, values[-1] - low), abs=1e-7)


def test_quantities_are_those_of_the_point():
    label, score = stream(np.random.default_rng(2), 500)
    watch = rs.monitor(decision()).update(label, score)
    point = rs.ThresholdCounts.from_scores(label, score).at(watch.rule["threshold"])
    found = watch.interval
    for name in ("tpr", "fpr", "precision", "depth", "error"):
        assert found[name].value == pytest.approx(getattr(point, name))
        assert found[name].low < found[name].value < found[name].high
    assert found["cost"].value == pytest.approx(CONTEXT.cost(point) / 500)
    assert found["auc"].value == pytest.approx(rs.auc(label, score), abs=1e-12)
    assert found["calibration"].value == pytest.approx(label.mean() - score.mean())


def test_state_survives_a_restart_and_is_small():
    rng = np.random.default_rng(3)
    options = {"fail_if": ("cost > 2", "calibration > .3", "auc < .6")}
    through, restarted = rs.monitor(decision(), **options), rs.monitor(decision(), **options)
    for day in range(30):
        label, score = stream(rng, 300)
        through.update(label, score, when=f"day {day}")
        text = json.dumps(restarted.update(label, score, when=f"day {day}").to_dict(), allow_nan=False)
        restarted = Monitor.from_dict(json.loads(text))
    assert len(text) < 250_000
    assert through.to_dict() == restarted.to_dict()
    assert repr(through) == repr(restarted)


def test_machines_add_up():
    rng = np.random.default_rng(4)
    first, second, whole = (rs.monitor(decision(), fail_if="cost > 2") for _ in range(3))
    for day in range(5):
        parts = [stream(rng, 100), stream(rng, 100)]
        for watch, part in zip((first, second), parts, strict=True):
            watch.update(*part, when=day)
        whole.update(*(np.concatenate(column) for column in zip(*parts, strict=True)), when=day)
    merged = first.merge(second)
    assert merged.n == whole.n == 1000
    assert {k: e.to_dict() for k, e in merged.interval.items()} == {k: e.to_dict() for k, e in whole.interval.items()}
    assert merged.wealth == pytest.approx(whole.wealth)
    with pytest.raises(InputError, match="equal rules"):
        first.merge(rs.monitor(decision(), fail_if="cost > 3"))


def test_merged_looks_keep_their_names_and_are_judged_anew():
    options = {"fail_if": "error > .5"}
    wrong = np.zeros(100, int), np.full(100, 0.99)  # every one of them is a false alarm
    right = np.zeros(100, int), np.full(100, 0.01)
    first, second = rs.monitor(decision(), **options), rs.monitor(decision(), **options)
    first.update(*right, when="Mon")
    for day in ("Mon", "Tue", "Wed"):
        second.update(*wrong, when=day)
    assert (first.alarm, second.alarm.when, second.alarm.since) == (None, "Mon", "Mon")
    merged = first.merge(second)
    assert (merged.looks, merged.n) == (4, 400)
    # block by block: Monday has 100 rows of each, Tuesday and Wednesday those of the second only
    blocks = merged.to_dict()["blocks"]
    assert [block["when"] for block in blocks] == ["Mon", "Tue", "Wed"]
    assert [sum(block["cells"]) for block in blocks] == [200, 100, 100]
    assert (merged.alarm.when, merged.alarm.n, merged.alarm.since) == ("Wed", 400, "Tue")
    # neither is changed, and the other way round is the same evidence
    assert (first.n, second.n, first.alarm) == (100, 300, None)
    turned = second.merge(first)
    assert (turned.wealth, turned.alarm) == (merged.wealth, merged.alarm)
    harmless = first.merge(rs.monitor(decision(), **options).update(*right, when="Tue"))
    assert harmless.alarm is None


def test_scores_that_are_no_probabilities_on_one_machine_are_none_in_the_merged_monitor():
    probabilities, scores = (rs.monitor(decision()).update([0, 1, 1], [0.1, 0.9, top]) for top in (0.8, 1.5))
    assert "calibration" in probabilities.interval
    for merged in (probabilities.merge(scores), scores.merge(probabilities)):
        assert "calibration" not in merged.interval


def test_an_alarm_says_since_when_and_stays():
    rng = np.random.default_rng(5)
    watch = rs.monitor(decision(), fail_if="error > .25")
    for day in range(28):
        watch.update(*stream(rng, 200, skill=1.2 if day < 7 else 0.4), when=f"day {day}")
    assert watch.alarm.limit == "error > 0.25"
    assert watch.alarm.since in {"day 6", "day 7", "day 8"}
    assert 1400 < watch.alarm.n <= 2400
    assert watch.alarm.value > 0.25
    assert "ALARM error > 0.25 is true since about day" in repr(watch)


def test_calibration_and_ranks_raise_alarms_of_their_own():
    rng = np.random.default_rng(6)
    label, score = stream(rng, 3000, rate=0.5, skill=0.1)
    watch = rs.monitor("calibration", fail_if="calibration < -0.02").update(label, np.clip(score + 0.2, 0, 1))
    assert watch.alarm.limit == "calibration < -0.02"
    assert rs.monitor("auc", fail_if="auc < .75").update(label, score).alarm.limit == "auc < 0.75"
    assert rs.monitor("auc", fail_if="auc < .3").update(label, score).alarm is None


TIED = rs.ThresholdCounts([2, 1], [3, 1], [1, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.monitor(decision(), fail_if="cost above 3"), "a text such as"),
        (lambda: rs.monitor(decision(), fail_if="profit > 3"), "one of"),
        (lambda: rs.monitor(decision(), fail_if="f1 < .5"), r"got 'f1' \(a metric of one threshold"),
        (lambda: rs.monitor(decision(), fail_if="auc < .5 and cost > 1"), "pass several conditions as a list"),
        (lambda: rs.monitor(decision(), fail_if="cost > 7"), "between 0 and 4"),
        (lambda: rs.monitor("auc", fail_if="cost > 1"), r"got 'cost' \(a metric that needs the costs"),
        (lambda: rs.monitor("calibration", fail_if="calibration > 0").update([1, 0], [3.0, -2.0]), "probabilities"),
        (lambda: rs.monitor(decision(), level=95), "level"),
        (lambda: Monitor.from_dict({"format": "other"}), "state of a monitor"),
        (lambda: Monitor.from_dict({"format": "rocscope monitor", "version": 1}), "state of a monitor"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def check_false_alarms(streams, looks):
    for values, share in (([0, 1], [0.7, 0.3]), ([0, 1, 5], [0.8, 0.1, 0.1])):
        bound = float(np.dot(values, share))
        raised = alarms(values, share, share, bound=bound, change=0, looks=looks, rows=1, streams=streams)
        found = np.isfinite(raised).mean()
        print(f"values {values}, {looks:,} looks: {100 * found:.1f}% of {streams:,} streams raise a false alarm")
        assert found <= 0.05 + 3 * sqrt(0.05 * 0.95 / streams) * (streams < 2000)


def test_false_alarms_are_rare():
    check_false_alarms(500, 1000)


@pytest.mark.slow
def test_false_alarms_are_rare_in_full():
    check_false_alarms(2000, 10_000)


def check_delay(streams, changes):
    for values, before, after in (
        ([0, 1], [0.7, 0.3], [0.6, 0.4]),
        ([0, 1, 5], [0.8, 0.1, 0.1], [11 / 15, 2 / 15, 2 / 15]),
    ):
        bound, needed = float(np.dot(values, before)), rows_needed(values, before, after)
        for change in changes:
            looks = int(change + 8 * needed) // 20
            raised = alarms(
                values, before, after, bound=bound, change=change, looks=looks, rows=20, streams=streams, seed=1
            )
            late = np.minimum(raised, 20 * looks)[raised > change] - change
            print(f"values {values}: change after {change:,} rows found in {late.mean():.0f}; {needed:.0f} at best")
            assert late.mean() <= 2 * needed


def test_a_rise_by_a_third_is_found_soon():
    check_delay(200, (0, 1400))


@pytest.mark.slow
def test_a_rise_by_a_third_is_found_soon_in_full():
    check_delay(2000, (0, 400, 1400, 5000))


def check_streams_are_covered(streams, step):
    """Whether intervals hold at every look, one in so many rows, and how wide they are beside those of a single one."""
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(streams):
        label = rng.random(2000) < 0.3
        counts = np.cumsum(label)
        for n in range(20, 2001, step):
            low, high = mean_interval(np.array([0, 1]), np.array([n - counts[n - 1], counts[n - 1]]), 0.95)
            if not low <= 0.3 <= high:
                missed += 1
                break
    low, high = mean_interval(np.array([0, 1]), np.array([1400, 600]), 0.95)
    print(f"{100 * missed / streams:.1f}% missed; width {(high - low) / (2 * 1.96 * sqrt(0.21 / 2000)):.2f} × fixed n")
    assert missed / streams <= 0.05 + 3 * sqrt(0.05 * 0.95 / streams) * (streams < 500)
    assert (high - low) / (2 * 1.96 * sqrt(0.21 / 2000)) < 1.8


def test_intervals_hold_at_every_look():
    check_streams_are_covered(40, 120)


@pytest.mark.slow
def test_intervals_hold_at_every_look_in_full():
    check_streams_are_covered(1000, 40)


def test_the_asymptotic_reach_is_that_of_its_source():
    """Waudby-Smith et al. (2024), eq. 2 with their ρ for the best width at a given n."""
    n, alpha = 500, 0.05
    rho2 = (-2 * np.log(alpha) + np.log(-2 * np.log(alpha) + 1)) / n
    expected = sqrt(2 * (n * rho2 + 1) / (n**2 * rho2) * np.log(sqrt(n * rho2 + 1) / alpha)) * sqrt(n)
    assert asymptotic_reach(n, 1 - alpha) == pytest.approx(expected)
    assert asymptotic_reach(n, 1e-200) == pytest.approx(asymptotic_reach(n, 1e-9), rel=1e-6), "α is 1 in floats"
