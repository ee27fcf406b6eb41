"""A monitor at a fixed class mix: evidence against its definition, and false alarms where prevalence swings."""

from math import sqrt

import numpy as np
import pytest

import rocscope as rs
from rocscope.decisions import Monitor
from rocscope.errors import InputError, StoredError
from rocscope.inference.confidence_sequence import (
    BETS_OF_CLASS,
    LookBlock,
    cell_means,
    evidence_of,
    limit_of,
    mean_interval,
    spread,
)

CONTEXT = rs.Context(cost_fp=1, cost_fn=4)
TPR, FPR, PREVALENCE = 0.8, 0.2, 0.3
COST = PREVALENCE * (1 - TPR) * 4 + (1 - PREVALENCE) * FPR
DECISION = rs.choose(rs.ThresholdCounts([0.9, 0.5, 0.2], [5, 5, 1], [0, 2, 12]), CONTEXT)


def watched(cells, limit, **options):
    """Return a monitor that has counted cells, look by look."""
    watch = rs.monitor(DECISION, fail_if=limit, **options)
    for number, each in enumerate(cells):
        watch.update([1, 0, 1, 0], [0.9, 0.9, 0.1, 0.1], sample_weight=each, when=number)
    return watch


def blocks_of(cells):
    return [LookBlock(None, np.array(each), np.zeros(3), {}) for each in cells]


@pytest.mark.every(6)
@pytest.mark.parametrize("text", ["cost > .3", "cost < .6", "error > .2", "precision < .8", "depth > .5", "npv < .7"])
def test_evidence_is_the_least_product_over_the_line(text):
    """By a fine grid over the means of both classes that keep the limit."""
    rng, limit = np.random.default_rng(len(text)), limit_of(text, of_decision=True)
    mean = cell_means(CONTEXT, [limit.quantity], 0.25)[limit.quantity]
    cells = [rng.multinomial(60, share) for share in rng.dirichlet(np.ones(4) * 4, 3)]
    sign, gain = (1 if limit.upwards else -1), np.zeros(4)
    gain[list(mean.used)] = sign * (np.array(mean.values) - limit.bound)
    grown = []
    for start in range(3):
        counts, best = np.sum(cells[start:], axis=0), np.inf
        for first in np.linspace(*np.sort(gain[[0, 2]]), 4001)[1:-1]:
            second = min(-first * 0.25 / 0.75, gain[[1, 3]].max())
            if second <= gain[[1, 3]].min() and np.ptp(gain[[1, 3]]):
                continue  # no mean of negatives is low enough
            wealth = []
            for own, bound in (([0, 2], first), ([1, 3], second)):
                values = gain[own]
                if np.ptp(values):
                    odds = (values - values.min()) / (bound - values.min())
                    wealth.append(np.mean(np.prod((1 + BETS_OF_CLASS[:, None] * (odds - 1)) ** counts[own], axis=1)))
                else:
                    wealth.append(1.0)
            best = min(best, np.prod(wealth))
        grown.append(np.log(best))
    expected = spread(np.array(grown), np.array([sum(each) for each in cells]))
    assert evidence_of(blocks_of(cells), limit, mean).wealth == pytest.approx(expected.wealth, rel=2e-3)


def test_figures_are_those_at_the_class_mix():
    cells = np.array([30, 20, 10, 140])
    tpr, fpr = 0.75, 0.125
    found = watched([cells], "cost > .5", target_prevalence=0.6).interval
    expected = {
        "cost": 0.6 * 0.25 * 4 + 0.4 * fpr,
        "tpr": tpr,
        "fpr": fpr,
        "precision": 0.6 * tpr / (0.6 * tpr + 0.4 * fpr),
        "depth": 0.6 * tpr + 0.4 * fpr,
        "error": 0.6 * (1 - tpr) + 0.4 * fpr,
    }
    assert {name: found[name].value for name in expected} == pytest.approx(expected)
    plain = watched([cells], "cost > .5").interval
    assert (found["tpr"], found["auc"]) == (plain["tpr"], plain["auc"])
    ends = [mean_interval(np.array([1, 0]), cells[own], 0.975) for own in ([0, 2], [1, 3])]
    assert found["cost"].low == pytest.approx(0.6 * (1 - ends[0][1]) * 4 + 0.4 * ends[1][0])
    assert found["precision"].high == pytest.approx(0.6 * ends[0][1] / (0.6 * ends[0][1] + 0.4 * ends[1][0]))


def swinging(rng, looks, rows=50, tpr=TPR, fpr=FPR):
    """Return the cells of looks whose prevalence wanders about its mean for some twenty looks at a time."""
    wander, cells = 0.0, []
    for _ in range(looks):
        wander = 0.95 * wander + 0.3 * rng.normal()
        n_pos = rng.binomial(rows, PREVALENCE * np.exp(wander) / (1 - PREVALENCE + PREVALENCE * np.exp(wander)))
        tp, fp = rng.binomial(n_pos, tpr), rng.binomial(rows - n_pos, fpr)
        cells.append([tp, fp, n_pos - tp, rows - n_pos - fp])
    return cells


def alarmed(cells, limit, prevalence=None):
    """Whether a stream raises an alarm at any look."""
    mean = cell_means(CONTEXT, [limit.quantity], prevalence)[limit.quantity]
    merged = [np.sum(cells[at : at + 4], axis=0) for at in range(0, len(cells), 4)]
    return any(evidence_of(blocks_of(merged[:n]), limit, mean).wealth >= 20 for n in range(1, len(merged) + 1))


def check_false_alarms(streams, looks):
    rng, limit, found = np.random.default_rng(4), limit_of(f"cost > {COST}", of_decision=True), np.zeros(2)
    for _ in range(streams):
        cells = swinging(rng, looks)
        found += [alarmed(cells, limit, PREVALENCE), alarmed(cells, limit)]
    share = found / streams
    print(f"{streams} streams: {100 * share[0]:.1f}% false alarms at a fixed class mix, {100 * share[1]:.1f}% if not")
    assert share[0] <= 0.05 + 2 * sqrt(0.05 * 0.95 / streams) < share[1]


@pytest.mark.slow
def test_false_alarms_are_rare_however_prevalence_swings():
    check_false_alarms(60, 60)


@pytest.mark.slow
def test_false_alarms_are_rare_however_prevalence_swings_in_full():
    check_false_alarms(2000, 200)


def test_a_change_within_the_classes_is_found():
    rng, limit = np.random.default_rng(5), limit_of(f"cost > {COST}", of_decision=True)
    assert all(alarmed(swinging(rng, 60, tpr=0.6, fpr=0.3), limit, PREVALENCE) for _ in range(20))


def test_it_is_saved_and_merged_and_named_on_the_command_line(run, tmp_path):
    cells = swinging(np.random.default_rng(6), 30)
    watch = watched(cells, "cost > .5", target_prevalence=0.3)
    read = Monitor.load(watch.save(tmp_path / "state.json"))
    assert read.to_dict() == watch.to_dict() and read.wealth == watch.wealth and not watch.notes
    parts = [watched(each, "cost > .5", target_prevalence=0.3) for each in (cells[:15], cells[15:])]
    assert parts[0].merge(parts[1]).interval["cost"] == watch.interval["cost"]
    with pytest.raises(InputError, match="monitors to merge"):
        watch.merge(watched(cells, "cost > .5"))
    with pytest.raises(InputError, match="target_prevalence: expected None with"):
        rs.monitor("auc", target_prevalence=0.3)
    with pytest.raises(InputError, match="target_prevalence"):
        rs.monitor(DECISION, target_prevalence=1.5)
    with pytest.raises(StoredError, match="target_prevalence"):
        Monitor.from_dict(watch.to_dict() | {"target_prevalence": "half"})
    DECISION.save(tmp_path / "d.json")
    (tmp_path / "rows.csv").write_text("y,score\n" + "1,0.9\n0,0.1\n1,0.1\n" * 40)
    asked = ("monitor", "d.json", "rows.csv", "--label", "y", "--state", "s.json", "--fail-if", "cost > 3")
    code, out, err = run(*asked, "--target-prevalence", "0.5", "--score", "score")
    assert code == 0, err
    assert "class mix given" in out
    code, _, err = run(*asked, "--score", "score")
    assert code == 2 and "--target-prevalence" in err
