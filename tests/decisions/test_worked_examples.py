"""Every worked example of the papers on curves and decisions, exactly, through the public interface.

`reference/worked_examples.json` holds the papers' figures, recomputed as fractions; each entry names its source.
"""

import json
from fractions import Fraction
from math import inf, isnan
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from rocscope.curves.curve import cumulative

COPY = Path(__file__).parents[1] / "reference" / "worked_examples.json"
EXAMPLES = json.loads(COPY.read_text(encoding="utf-8"))
DECISIONS = EXAMPLES["decisions"]

every_ranking = pytest.mark.parametrize("example", EXAMPLES["ranking"], ids=lambda example: example["name"])


def test_the_copy_is_the_published_file(shared):
    published = json.loads((shared / "worked_examples.json").read_text(encoding="utf-8"))
    assert published == EXAMPLES


def counts_of(example):
    return rs.ThresholdCounts.from_scores(example["y"], example["score"])


def corners(curve):
    """Threshold and counts of a curve's points, in the words of the file (infinity is null there)."""
    tp, fp = cumulative(curve.counts)
    columns = zip(curve.threshold.tolist(), tp.tolist(), fp.tolist(), strict=True)
    return [{"threshold": None if t == inf else t, "tp": p, "fp": n} for t, p, n in columns]


def is_exactly(value, fraction):
    return value == float(Fraction(fraction))


@every_ranking
def test_points(example):
    curve = rs.roc(example["y"], example["score"])
    assert (curve.counts.n_pos, curve.counts.n_neg) == (example["n_pos"], example["n_neg"])
    assert corners(curve) == example["points"]
    assert curve.x.tolist() == [point["fp"] / example["n_neg"] for point in example["points"]]
    assert curve.y.tolist() == [point["tp"] / example["n_pos"] for point in example["points"]]


@every_ranking
def test_each_point_is_what_its_threshold_predicts(example):
    counts = counts_of(example)
    for point in example["points"]:
        threshold = inf if point["threshold"] is None else point["threshold"]
        assert (counts.at(threshold).tp, counts.at(threshold).fp) == (point["tp"], point["fp"])


@every_ranking
@pytest.mark.parametrize(("ties", "key"), [("lower", "auc_lower"), ("half", "auc"), ("upper", "auc_upper")])
def test_auc(example, ties, key):
    assert counts_of(example).pairs().fraction(ties) == Fraction(example[key])
    assert is_exactly(rs.auc(example["y"], example["score"], ties=ties), example[key])
    assert is_exactly(rs.roc(example["y"], example["score"]).area(ties), example[key])


@every_ranking
def test_auc_value(example):
    assert rs.roc(example["y"], example["score"]).auc == example["auc_value"]


@every_ranking
def test_hull(example):
    hull = rs.roc(example["y"], example["score"]).hull()
    assert corners(hull) == example["hull"]
    assert hull.counts.pairs().fraction() == Fraction(example["hull_area"])
    assert is_exactly(hull.auc, example["hull_area"])


@every_ranking
def test_best_accuracy(example):
    decision = rs.choose(counts_of(example))
    places = [(place["threshold"], place["tp"], place["fp"]) for place in example["best_accuracy_at"]]
    assert is_exactly(decision.point.accuracy, example["best_accuracy"])
    assert (decision.threshold, decision.point.tp, decision.point.fp) == places[0]  # fewest positive predictions

    tp, fp = cumulative(counts_of(example))
    right = tp + example["n_neg"] - fp
    best = np.flatnonzero(right == right.max())
    curve = rs.roc(example["y"], example["score"])
    assert [(curve.threshold[i], tp[i], fp[i]) for i in best] == places


@every_ranking
def test_lift_chart(example):
    chart = rs.lift_chart(example["y"], example["score"])
    assert is_exactly(chart.area(), example["lift_area_trapezoid_in_positives"])
    assert is_exactly(chart.area("step"), example["lift_area_step_in_positives"])
    n_pos, n_neg = example["n_pos"], example["n_neg"]
    identity = (Fraction(n_pos**2, 2) + n_pos * n_neg * chart.counts.pairs().fraction()) / (n_pos + n_neg)
    assert identity == Fraction(example["lift_identity_check"])


@every_ranking
def test_lift_chart_has_the_hull_and_best_point_of_the_roc_curve(example):
    chart = rs.lift_chart(example["y"], example["score"])
    assert corners(chart.hull()) == example["hull"]
    assert chart.best() == rs.roc(example["y"], example["score"]).best()


VALVE = DECISIONS["nuclear_valve"]
VALVE_CONTEXT = rs.Context(cost_fp=VALVE["cost_fp"], cost_fn=VALVE["cost_fn"])
VALVE_POINTS = {
    name: rs.OperatingPoint(*(classifier[cell] for cell in ("tp", "fp", "fn", "tn")))
    for name, classifier in VALVE["classifiers"].items()
}


@pytest.mark.parametrize("name", VALVE_POINTS)
def test_nuclear_valve_costs(name):
    point = VALVE_POINTS[name]
    assert (point.n_pos, point.n_neg) == (VALVE["n_pos"], VALVE["n_neg"])
    assert VALVE_CONTEXT.cost(point) == VALVE["classifiers"][name]["total_cost"]
    worst = VALVE_CONTEXT.cost_fn * point.n_pos
    assert VALVE_CONTEXT.cost(point) / worst == VALVE["normalised_cost"][name]


def test_nuclear_valve_slope():
    assert VALVE_CONTEXT.slope(VALVE["n_pos"] / (VALVE["n_pos"] + VALVE["n_neg"])) == VALVE["slope"]


@pytest.mark.parametrize("name", ["c1", "c2"])
@pytest.mark.parametrize("metric", ["tpr", "fnr", "tnr", "fpr", "ppv", "npv", "macro_average"])
def test_nuclear_valve_metrics(name, metric):
    published = VALVE[f"{name}_metrics"][metric]
    value = getattr(VALVE_POINTS[name], {"ppv": "precision"}.get(metric, metric))
    value = value() if callable(value) else value
    assert isnan(value) if published == "undefined (NaN)" else value == published


def test_nuclear_valve_choice():
    models = {name: rs.ThresholdCounts.from_point(point) for name, point in VALVE_POINTS.items()}
    decision = rs.choose(models, VALVE_CONTEXT)
    assert decision.model == "c1"
    assert decision.expected_cost == pytest.approx(450_000 / 100_000, rel=1e-15)


@pytest.mark.parametrize("example", DECISIONS["slopes"])
def test_slopes(example):
    context = rs.Context(cost_fp=example["cost_fp"], cost_fn=example["cost_fn"])
    assert context.slope(1 / (1 + example["neg_per_pos"])) == example["slope"]


@pytest.mark.parametrize("model", ["M1", "M2"])
def test_costs_that_accuracy_hides(model):
    published = DECISIONS["tan_costs"]
    context = rs.Context(**{name: published[name] for name in ("cost_fp", "cost_fn", "cost_tp", "cost_tn")})
    point = rs.OperatingPoint(*(published[model][cell] for cell in ("tp", "fp", "fn", "tn")))
    assert point.accuracy == published[model]["accuracy"]
    assert context.cost(point) == published[model]["cost"]


@pytest.mark.parametrize("example", DECISIONS["lift_factor"])
def test_lift_factor(example):
    false_positives = example["size"] - example["tp"]
    missed = example["total_pos"] - example["tp"]
    rest = example["total"] - example["size"] - missed
    point = rs.OperatingPoint(example["tp"], false_positives, missed, rest)
    assert point.lift == pytest.approx(example["lift"], rel=1e-15)
    curve = rs.lift(rs.ThresholdCounts.from_point(point))
    assert curve.at(example["size"] / example["total"]) == pytest.approx(example["lift"], rel=1e-15)


@pytest.mark.parametrize("example", DECISIONS["random_guess"])
def test_guessing_positive_at_a_rate_lies_on_the_diagonal(example):
    guess = rs.OperatingPoint(
        30 * example["rate"], 70 * example["rate"], 30 * (1 - example["rate"]), 70 - 70 * example["rate"]
    )
    assert [guess.fpr, guess.tpr] == pytest.approx(example["point"], rel=1e-15)
    one_level = rs.roc([1, 1, 0, 0, 0], [7, 7, 7, 7, 7])
    assert [example["rate"], one_level.at(example["rate"])] == example["point"]
