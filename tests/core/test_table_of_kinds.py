"""The table of kinds × functions: each cell is right against an oracle, or refused in words."""

from collections import Counter

import numpy as np
import pytest

import rocscope as rs
from house.test_door import public
from kind_cases import KIND_TABLES, SCORES, WITHOUT_ROWS, N, in_money, trial, verdict


def test_every_public_function_has_a_row_in_the_table():
    named = {name for _, functions in KIND_TABLES.values() for name in functions} | WITHOUT_ROWS.keys()
    assert {name.removeprefix("engines.") for name in public()} - named == set()


@pytest.mark.parametrize("thinned", [28, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_each_cell_is_right_or_refused(thinned):
    rng = np.random.default_rng(thinned)
    wrong = {}
    for table, (kinds, functions) in KIND_TABLES.items():
        found = Counter()
        cells = [(kind, function) for kind in kinds for function in functions]
        for number in rng.permutation(len(cells))[: -(-len(cells) // thinned)]:
            kind, function = cells[number]
            stated = verdict(function, functions[function], kinds[kind])
            found[stated if stated in ("right", "refused") else "wrong"] += 1
            if stated not in ("right", "refused"):
                wrong[f"{function} of {kind}"] = stated
        print(f"{table}: {len(kinds)} kinds × {len(functions)} functions, {dict(found)}")
        assert found["right"] > 0
    assert wrong == {}


def test_money_is_counted_as_a_sum_by_hand():
    rows, gain = in_money(), trial().priced()[0].columns["gain"]
    profit = {(model, cut): gain[score >= cut].sum() for model, score in SCORES.items() for cut in {*score, np.inf}}
    best = max(profit.values())
    decision = rs.choose(rows)
    lost = np.maximum(gain, 0).sum() - best  # what perfect decisions would gain more
    assert decision.expected_cost * rows.n == pytest.approx(lost, rel=1e-12)
    assert rs.choose(*trial().priced()).expected_cost * N == pytest.approx(-best, rel=1e-12)
