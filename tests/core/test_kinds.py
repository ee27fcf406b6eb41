"""What rows stand for is said once, kept by all that is made of them, and refused where a function cannot use it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from rocscope.core.predictions import EXPECTED, KNOWS_NO_GROUPS, REFUSED, kinds_of
from rocscope.errors import InputError, WeightError

RNG = np.random.default_rng(3)
N = 300
SCORE = RNG.random(N)
Y = RNG.random(N) < 0.1 + 0.4 * SCORE
WEIGHT = RNG.integers(1, 5, N)
CAMPAIGN = rs.Campaign(population=1000, unit_cost=1, unit_benefit=10, capacity=100)


def trial():
    treated = RNG.random(N) < 0.5
    return rs.outcomes.from_experiment(Y, treated, SCORE, benefit=10, cost=1)


def asked_functions():
    """The names with which the source asks for kinds."""
    for path in Path(rs.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name == "require_kinds" and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value
            if isinstance(node, ast.keyword) and node.arg == "inference" and isinstance(node.value, ast.Constant):
                yield node.value.value


def test_every_function_that_asks_is_in_the_table_and_every_row_of_it_is_asked():
    assert set(REFUSED) | set(KNOWS_NO_GROUPS) <= set(asked_functions())
    assert {kind for refused in REFUSED.values() for kind in refused} <= set(EXPECTED)


@pytest.mark.parametrize("weights", ["auto", "frequency", "sampling", "money"])
def test_selections_segments_and_counts_keep_what_weights_stand_for(weights):
    rows = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights=weights, segment=np.arange(N) % 2)
    kind = {"auto": "sampling"}.get(weights, weights)
    parts = [rows, rows.select(SCORE > 0.5), rows.by_segment()[0], rows.counts(), rows.counts() + rows.counts()]
    assert [kinds_of(part) for part in parts] == [{kind}] * len(parts)
    assert kinds_of({"a": rows, "b": rs.Predictions(Y, SCORE)}) == {kind}


def test_frequencies_are_whole_and_said_in_the_repr():
    assert "weights='frequency'" in repr(rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="frequency"))
    with pytest.raises(WeightError, match="expected whole numbers of equal rows, got fractions"):
        rs.Predictions(Y, SCORE, sample_weight=WEIGHT / 2, weights="frequency")


def test_counts_of_frequencies_are_rows_and_those_of_sampling_weights_are_refused_where_rows_are_needed():
    counted = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="frequency")
    repeated = rs.auc_interval(np.repeat(Y, WEIGHT), np.repeat(SCORE, WEIGHT))
    for data in (counted, counted.counts()):
        found = rs.auc_interval(data)
        assert (found.value, found.low, found.high) == pytest.approx((repeated.value, repeated.low, repeated.high))
    sampled = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="sampling")
    with pytest.raises(WeightError, match="pass the rows with sample_weight"):
        rs.auc_interval(sampled.counts())


@pytest.mark.parametrize(
    "of",
    [
        lambda rows: rs.plan_campaign(rows, CAMPAIGN),
        lambda rows: rs.allocate({"a": rows, "b": rows}, rs.Context(), capacity=20),
        lambda rows: rs.profit(rows, CAMPAIGN),
        rs.gain,
        rs.lift,
        lambda rows: rs.choose(rows, subject_to="cases <= 20"),
        lambda rows: rs.choose(rows, subject_to="depth <= .2"),
        rs.inference.threshold_table,
    ],
    ids=["plan_campaign", "allocate", "profit", "gain", "lift", "cases", "depth", "threshold_table"],
)
def test_functions_of_cases_refuse_rows_in_money_and_counts_of_them(of):
    money = trial().in_money()
    for data in (money, money.counts()):
        with pytest.raises(InputError, match=r"rows that count cases, got rows in money.*trial\.p"):
            of(data)


def test_weighted_rows_cannot_be_exchanged():
    both = {"a": SCORE, "b": SCORE[::-1]}
    for weights in ("frequency", "sampling"):
        rows = rs.Predictions(Y, both, sample_weight=WEIGHT, weights=weights)
        with pytest.raises(InputError, match="permutation test: expected rows that count alike"):
            rs.inference.compare_curves(rows)
