"""One place draws: every list of people is the same, person by person, whichever door it comes from."""

import csv
import io
from hashlib import blake2b

import numpy as np
import pytest

import rocscope as rs
from rocscope import Campaign, Context, Predictions
from rocscope._base.hashed_order import hashes_of
from rocscope.workbench.answers import answer
from rocscope.workbench.session import CancelToken, DataSource, Session


def by_hand(scores, ids, number):
    """Return the identifiers of the best scores, best first; equal ones in the order of their hashes."""
    digest = {each: blake2b(each.encode(), digest_size=8, key=bytes(8)).digest() for each in ids}
    return [each for _, each in sorted(zip(-scores, ids, strict=True), key=lambda p: (p[0], digest[p[1]]))][:number]


def generated(rng):
    """Draw a list of customers with tied scores, a campaign with a capacity, and the plan of it that is worthwhile."""
    while True:
        n = int(rng.integers(20, 300))
        scores = rng.integers(0, int(rng.integers(2, 12)), n)
        y = (rng.random(n) < 0.1 + 0.6 * scores / (scores.max() or 1)).astype(int)
        if 0 < y.sum() < n and len(set(scores.tolist())) > 1:
            ids = np.char.add("c", rng.permutation(n).astype(str))
            campaign = Campaign(n, unit_cost=1, unit_benefit=float(rng.choice([2, 5, 20])), capacity=rng.integers(1, n))
            rows = Predictions(y, {"a": scores}, groups=ids, segment=np.repeat("all", n))
            plan = rs.plan_campaign(rows, campaign)
            if plan.worthwhile:
                return rows, ids, campaign, plan


def page_list(rows, plan, number):
    """Return the identifiers of the list that the workbench's page saves."""
    threshold = plan.best.best.threshold
    question = {"what": "list", "model": "a", "column": "groups", "most": number, "context": None}
    question["threshold"] = {np.inf: "nobody", -np.inf: "everybody"}.get(threshold, threshold)
    text = answer(Session([DataSource.of("", rows)]), question, CancelToken())
    return [line["groups"] for line in csv.DictReader(io.StringIO(text))]


def test_lists_of_page_plan_decision_allocation_and_rule_are_equal():
    rng = np.random.default_rng(0)
    for _ in range(60):
        rows, ids, campaign, plan = generated(rng)
        scores = rows.scores["a"]
        chosen = plan.select(rows, ids).tolist()
        assert chosen == by_hand(scores, ids.tolist(), len(chosen))
        assert chosen == page_list(rows, plan, len(chosen))
        limit = f"cases <= {campaign.capacity}"
        decision = rs.choose(rows, campaign.context, subject_to=limit, population=len(rows), randomized=True)
        assert set(ids[decision.predict(rows, ids)]) == set(chosen)
        assert set(rs.allocate(rows, campaign).select(rows, ids)) == set(chosen)
        assert ids[plan.rule.select(len(chosen), rows, ids)].tolist() == chosen
        order = rng.permutation(len(rows))
        assert plan.select(scores[order], ids[order]).tolist() == chosen


def test_reviews_fill_their_capacity_with_the_best_scores():
    rng = np.random.default_rng(1)
    for _ in range(50):
        rows, ids, _, _ = generated(rng)
        capacity = int(rng.integers(1, len(rows)))
        decision = rs.choose(rows, Context(cost_fp=5, cost_fn=5), review=rs.Review(1, capacity))
        said = decision.predict(rows, ids)
        if decision.review is not None:
            assert (said == "review").sum() <= capacity
        acted, looked = (int((said == word).sum()) for word in ("act", "review"))
        best = by_hand(rows.scores["a"], ids.tolist(), acted + looked)
        if decision.lot is None or decision.lot.at_most is not None:
            assert set(ids[said == "act"]) == set(best[:acted])


@pytest.mark.parametrize("kind", [str, int, float, "05d", object])
def test_an_identifier_draws_the_same_whatever_a_reader_made_of_it(kind):
    numbers = [123, 7, 40, 0, 10**15, 99_000]
    ids = [f"{each:05d}" for each in numbers] if kind == "05d" else np.array(numbers).astype(kind)
    rows = np.arange(len(numbers))
    expected = [int.from_bytes(blake2b(str(n).encode(), digest_size=8, key=bytes(8)).digest(), "big") for n in numbers]
    assert hashes_of(ids, len(numbers))(rows).tolist() == expected


def test_identifiers_are_returned_as_written_and_told_apart():
    counts = rs.ThresholdCounts([2, 1], [3, 1], [1, 3])
    plan = rs.plan_campaign(counts, Campaign(8, 1, 10, capacity=2))
    ids = ["00123", "123", "7", "a", "-3", "1.5", "1e3", "x"]
    chosen = plan.select([2] * 8, ids)
    assert chosen.size == 2 and set(chosen.tolist()) <= set(ids)
    assert sorted(chosen) == sorted(plan.select([2] * 8, ids[::-1]))
    few = plan.select([2, 2, 2, 2], ["00123", "0042", "007", "8"]).tolist()
    assert [int(each) for each in few] == plan.select([2, 2, 2, 2], [123.0, 42.0, 7.0, 8.0]).tolist()
