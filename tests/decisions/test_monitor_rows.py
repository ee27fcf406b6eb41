"""What a monitor counts: ranks at any scores, each batch once, late labels on their day, weights; and why it alarms."""

import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pytest

import rocscope as rs
from monitor_cases import rank_alarms, rank_rows_needed
from rocscope.decisions import Monitor
from rocscope.errors import InputError, RocscopeWarning


def stream(rng, n, rate=0.3, skill=1.0):
    label = rng.random(n) < rate
    return label, 1 / (1 + np.exp(-(rng.normal(size=n) + skill * (2 * label - 1))))


def crowded(kind, logit):
    return 1 / (1 + np.exp(-logit - kind)) if abs(kind) == 12 else logit + kind


@pytest.mark.parametrize("kind", [-20, -8, 0, 8, 20, 1e6, -12, 12], ids=str)
def test_the_auc_is_right_wherever_scores_are_crowded(kind):
    rng = np.random.default_rng(0)
    label = rng.random(8000) < 0.3
    score = crowded(kind, rng.normal(size=8000) + label)
    watch = rs.monitor("auc")
    for start in range(0, 8000, 1000):
        watch.update(label[start : start + 1000], score[start : start + 1000], when=start)
    assert watch._ranking.start.size <= 2048
    assert watch.interval["auc"].value == pytest.approx(rs.auc(label, score), abs=1e-4)
    assert Monitor.from_dict(watch.to_dict()).to_dict() == watch.to_dict()


def test_ranges_of_two_monitors_add_up_wherever_each_was_narrow():
    rng = np.random.default_rng(1)
    label = rng.random(12_000) < 0.5
    score = np.where(np.arange(12_000) < 6000, rng.random(12_000), 1e6 + rng.random(12_000)) + 0.3 * label
    halves = [rs.monitor("auc").update(label[rows], score[rows]) for rows in (slice(None, 6000), slice(6000, None))]
    both, turned = halves[0].merge(halves[1]), halves[1].merge(halves[0])
    assert both.n == 12_000
    for merged in (both, turned):
        assert merged.interval["auc"].value == pytest.approx(rs.auc(label, score), abs=1e-4)


def test_a_batch_is_counted_once():
    rng = np.random.default_rng(2)
    label, score = stream(rng, 200)
    watch = rs.monitor("calibration").update(label, score, when="Mon")
    before = watch.to_dict()
    with pytest.warns(RocscopeWarning, match=r"counted in batch 1 and are omitted; again=True"):
        watch.update(label[::-1], score[::-1], when="Mon")
    assert watch.to_dict() == before
    assert watch.update(label, score, when="Tue").n == 400, "the same numbers on another day are other rows"
    assert watch.update(label, score, when="Mon", again=True).n == 600
    with pytest.raises(InputError, match="got the batch Mon in both monitors"):
        watch.merge(rs.monitor("calibration").update(label, score, when="Mon"))


def test_late_labels_keep_their_day():
    rng = np.random.default_rng(3)
    late, in_time = (rs.monitor("calibration", fail_if="calibration > .2") for _ in range(2))
    days = [f"2026-01-0{day}" for day in range(1, 7)]
    batches = {day: stream(rng, 200) for day in days}
    for day, (label, score) in batches.items():
        in_time.update(label, score, when=day)
        late.update(label[:100], score[:100], when=day)
    for day in reversed(days):
        late.update(batches[day][0][100:], batches[day][1][100:], when=day)
    assert [block.n for block in late._blocks] == [block.n for block in in_time._blocks]
    assert late.wealth == pytest.approx(in_time.wealth)
    unseen = late.update([1, 0], [0.5, 0.5], when="2026-01-03T12:00")
    assert [block.n for block in unseen._blocks][2] == 202, "a day between two that were seen"


def test_a_weight_is_so_many_rows():
    rng = np.random.default_rng(4)
    label, score = stream(rng, 150)
    weight = rng.integers(0, 4, 150)
    weighted = rs.monitor("auc", fail_if="calibration > .1").update(label, score, sample_weight=weight)
    repeated = rs.monitor("auc", fail_if="calibration > .1").update(np.repeat(label, weight), np.repeat(score, weight))
    assert weighted.n == repeated.n
    assert weighted.wealth == pytest.approx(repeated.wealth)
    for name, found in weighted.interval.items():
        assert (found.value, found.low) == pytest.approx((repeated.interval[name].value, repeated.interval[name].low))
    with pytest.raises(InputError, match="whole numbers"):
        weighted.update(label, score, sample_weight=np.full(150, 0.5))


@pytest.mark.parametrize(
    ("cause", "rate", "skill"), [("class mix", 0.7, 1.2), ("fpr", 0.3, 0.3)], ids=["class mix", "skill"]
)
def test_an_alarm_names_its_cause(cause, rate, skill):
    rng = np.random.default_rng(5)
    decision = rs.choose(rs.Predictions(*stream(rng, 5000, skill=1.2)), rs.Context(cost_fn=3))
    watch = rs.monitor(decision, fail_if="depth > .45")
    for day in range(20):
        watch.update(*(stream(rng, 200, skill=1.2) if day < 8 else stream(rng, 200, rate, skill)), when=day)
    assert watch.alarm.since in (7, 8)
    assert cause in watch.alarm.cause
    assert ("class mix" in watch.alarm.cause) == (cause == "class mix")


def test_a_prevalence_that_varies_is_noted():
    rng = np.random.default_rng(6)
    steady, varying = rs.monitor("auc"), rs.monitor("auc")
    for day in range(30):
        steady.update(*stream(rng, 100), when=day)
        varying.update(*stream(rng, 100, rate=0.3 + 0.15 * np.sin(day)), when=day)
    assert steady.notes == ()
    assert "Limits on tpr, fpr and auc remain valid" in varying.notes[0]


def check_false_alarms(streams, looks):
    for skill in (0.5, 1.2, 2.0):
        for upwards in (False, True):
            raised, _ = rank_alarms(
                skill, skill, rate=0.3, change=0, looks=looks, rows=100, streams=streams, upwards=upwards
            )
            found = np.isfinite(raised).mean()
            print(f"AUC {'>' if upwards else '<'}, skill {skill}: {100 * found:.1f}% of {streams:,} streams")
            assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / streams)


def test_false_alarms_of_the_auc_are_rare():
    check_false_alarms(100, 15)


@pytest.mark.slow
def test_false_alarms_of_the_auc_are_rare_in_full():
    check_false_alarms(2000, 60)


def check_delay(streams, changes):
    for skill, later in ((1.2, 0.8), (1.2, 1.0), (0.8, 0.3)):
        needed = rank_rows_needed(skill, later, 0.3)
        for change in changes:
            looks = int(change + 8 * needed) // 50
            raised, since = rank_alarms(
                skill, later, rate=0.3, change=change, looks=looks, rows=50, streams=streams, seed=1
            )
            found = raised > change
            late = np.minimum(raised, 50 * looks)[found] - change
            near = np.abs(since[found] - change) <= 0.2 * change if change else since[found] <= 0.2 * raised[found]
            print(
                f"AUC falls by {skill - later:.1f} after {change:,}: found in {late.mean():.0f} rows, "
                f"{late.mean() / needed:.2f} × the fixed test's; {100 * near.mean():.0f}% tell when"
            )
            assert late.mean() <= 2 * needed
            assert near.mean() >= 0.5 - 2 * 0.5 / np.sqrt(near.size)


def test_a_fall_of_the_auc_is_found_soon_after_quiet_rows():
    check_delay(40, (4000,))


@pytest.mark.slow
def test_a_fall_of_the_auc_is_found_soon_in_full():
    check_delay(500, (0, 1400, 4000))


class Interrupted(BaseException):
    """What a signal raises, at any line."""


def update_until(watch, batch, line):
    """Update a monitor and interrupt it at a line of the package, counted from the call; return whether it was."""
    left = line

    def trace(frame, event, _):
        nonlocal left
        if "rocscope" not in frame.f_code.co_filename:
            return None
        left -= event == "line"
        if event == "line" and left < 0:
            raise Interrupted
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        watch.update(*batch, when="Tue")
    except Interrupted:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow(reason="every line"))])
@pytest.mark.parametrize("is_known", [False, True], ids=["new rows", "labels of known cases"])
def test_an_interrupted_update_changes_nothing_or_all_and_can_be_repeated(step, is_known):
    rng = np.random.default_rng(4)
    first, second = stream(rng, 120), stream(rng, 120)
    start = rs.monitor(rs.choose(*first), fail_if="auc < .6").update(*first, when="Mon")
    once = copy(start).update(*second, when="Tue").to_dict()
    if is_known:
        start.update_unlabelled(second[1], when="Tue")
    seen, line, interrupted = set(), 0, True
    while interrupted:
        watch = pickle.loads(pickle.dumps(start))
        interrupted = update_until(watch, second, line)
        assert watch.to_dict() in (start.to_dict(), once)
        seen.add(watch.n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RocscopeWarning)  # counted before, where the interruption came late
            assert watch.update(*second, when="Tue").to_dict() == once
        line += step
    assert seen == {120, 240}
    assert line > 200


def test_threads_may_update_one_monitor():
    watch = rs.monitor("calibration")
    rows = [([1, 0, 1, 0], [0.9, 0.1 + number / 1000, 0.8, 0.3]) for number in range(100)]
    with ThreadPoolExecutor(100) as pool:
        list(pool.map(lambda number: watch.update(*rows[number], when=number), range(100)))
    assert (watch.n, watch.looks) == (400, 100)
    assert Monitor.from_dict(watch.to_dict()).to_dict() == watch.to_dict()
