"""Campaigns: profit at every threshold, deciles, break-even, references; and outcomes known in part."""

import itertools
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from rocscope import Campaign, ThresholdCounts
from rocscope.errors import InputError, LabelError, OneClassError, WeightError
from strategies import samples, whole_weights

amounts = st.sampled_from([0, 0.1, 0.3, 1, 2.5, 7])
rates = st.none() | st.sampled_from([0.01, 0.2, 0.5])
campaigns = st.builds(
    Campaign,
    population=st.sampled_from([100, 1000.0]),
    unit_cost=amounts,
    unit_benefit=amounts,
    fixed_cost=amounts,
    response_rate=rates,
    capacity=st.none() | st.sampled_from([0, 10, 50.5, 99]),
)


def shares(point, campaign):
    """Depth and share of the population that responds among those contacted."""
    rate = campaign.response_rate
    share = (point.tp + point.fn) / point.n if rate is None else oracle.exact(rate)
    found = share * point.tpr
    return found + (1 - share) * point.fpr, found


def profit_of(point, campaign):
    depth, found = shares(point, campaign)
    money = oracle.exact(campaign.unit_benefit) * found - oracle.exact(campaign.unit_cost) * depth
    return oracle.exact(campaign.population) * money - oracle.exact(campaign.fixed_cost)


def rules(points, campaign, limit):
    """Give what each threshold within a limit loses, its size and itself; and each lot between two that fills it."""
    population = oracle.exact(campaign.population)
    at = [(-profit_of(p, campaign), shares(p, campaign)[0] * population) for p in points]
    for (loss, size), point in zip(at, points, strict=True):
        if size <= limit:
            yield loss, size, point.threshold if point.fn or point.tn else -inf
    for (loss, size), (other, more) in itertools.product(at, at):
        if size < limit < more:
            yield loss + (limit - size) / (more - size) * (other - loss), limit, inf


@given(sample=samples(weight=whole_weights), campaign=campaigns)
def test_profit_at_every_threshold_and_the_best(sample, campaign):
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    curve = rs.profit(sample.counts(), campaign)
    assert curve.y.tolist() == pytest.approx([float(profit_of(p, campaign)) for p in points], abs=1e-9)
    assert curve.x.tolist() == pytest.approx([float(shares(p, campaign)[0]) for p in points], abs=1e-12)
    limit = oracle.exact(campaign.population if campaign.capacity is None else campaign.capacity)
    best = curve.best()
    profit, size, threshold = min(rules(points, campaign, limit))
    assert (curve.hull_profit, best.size) == (float(-profit), float(size))
    assert best.profit == pytest.approx(curve.at(best.depth), abs=1e-9)
    if not curve.hull_rule.randomized:
        assert best.threshold == threshold


@given(sample=samples(weight=whole_weights), campaign=campaigns, steps=st.integers(1, 12))
def test_the_table_adds_up(sample, campaign, steps):
    rows = rs.profit(sample.counts(), campaign).table(steps)
    points = oracle.points(oracle.rows(sample.y, sample.score, sample.weight))
    corners = [(shares(p, campaign)[0], p.tpr) for p in points]
    for step, row in enumerate(rows):
        depth = Fraction(step, steps)
        gain = max(y for x, y in corners if x == depth) if any(x == depth for x, _ in corners) else None
        gain = oracle.height(corners, depth) if gain is None else gain
        assert row.depth == float(depth)
        assert row.cumulative_gain == float(gain)
        assert row.size == float(depth * oracle.exact(campaign.population))
        assert row.responders + row.non_responders == pytest.approx(row.size, abs=1e-9)
    assert sum(row.gain for row in rows) == pytest.approx(1)
    assert [row.depth for row in rows] == sorted({row.depth for row in rows})


COUNTS = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
CAMPAIGN = Campaign(population=10_000, unit_cost=1, unit_benefit=10, fixed_cost=500)


def test_break_even_depths_are_where_the_profit_is_0():
    curve = rs.profit(COUNTS, CAMPAIGN)
    assert len(curve.break_even_depths) == 2
    assert [curve.at(depth) for depth in curve.break_even_depths] == pytest.approx([0, 0], abs=1e-9)
    never = rs.profit(COUNTS, Campaign(population=10_000, unit_cost=1, unit_benefit=1, fixed_cost=500))
    assert (never.break_even_depths, never.worthwhile, never.best().threshold) == ([], False, inf)
    touching = Campaign(population=1000, unit_cost=1, unit_benefit=10, fixed_cost=200)
    assert rs.profit(COUNTS, touching).break_even_depths[0] == 0.1


def test_random_and_perfect_mailing():
    curve = rs.profit(COUNTS, CAMPAIGN)
    assert curve.random.at(0.4) == 0.4 * (10_000 * (0.05 * 10 - 1)) - 500
    assert curve.perfect.at(0.05) == 500 * 10 - 500 - 500
    assert curve.perfect.at(0.02) == pytest.approx(200 * 9 - 500)
    depth = np.linspace(0, 1, 21)
    assert (curve.perfect.at(depth) >= curve.at(depth) - 1e-9).all()


def test_the_iso_profit_line_touches_the_lift_chart_at_the_best_point():
    line, chart = rs.profit(COUNTS, CAMPAIGN).iso_profit_line(), rs.lift_chart(COUNTS)
    best = rs.profit(COUNTS, CAMPAIGN).best()
    assert line.at(best.depth) == pytest.approx(chart.at(best.depth))
    assert all(line.at(x) >= y - 1e-9 for x, y in zip(chart.x, chart.y, strict=True))
    assert line.slope == CAMPAIGN.context.lift_slope(COUNTS.n)
    zero = rs.profit(COUNTS, CAMPAIGN).iso_profit_line(0)
    assert CAMPAIGN.profit(10_000 * 0.3, 10_000 * zero.at(0.3) / COUNTS.n) == pytest.approx(0, abs=1e-9)
    elsewhere = Campaign(population=10, unit_cost=1, unit_benefit=2, response_rate=0.1)
    with pytest.raises(InputError, match="iso-profit line: expected a campaign without response_rate"):
        rs.profit(COUNTS, elsewhere).iso_profit_line()


def test_the_best_profit_is_the_lowest_cost():
    for rate in (None, 0.02):
        campaign = Campaign(population=1, unit_cost=1, unit_benefit=10, response_rate=rate)
        best = rs.profit(COUNTS, campaign).best()
        decision = rs.choose(COUNTS, campaign.context)
        assert (best.threshold, best.profit) == (decision.threshold, pytest.approx(-decision.expected_cost))


def test_models_and_campaigns_compared():
    worse = ThresholdCounts([3, 2, 1], [20, 15, 15], [80, 185, 685])
    dear = Campaign(population=10_000, unit_cost=5, unit_benefit=10)
    plan = rs.plan_campaign({"good": COUNTS, "worse": worse}, {"cheap": CAMPAIGN, "dear": dear})
    assert [(offer.model, offer.campaign) for offer in plan.offers] == list(plan.curves)
    assert (plan.best.model, plan.best.campaign, plan.best.best.profit) == ("good", "cheap", 1500)
    assert plan.best.perfect_profit >= plan.best.best.profit >= plan.best.random_profit
    what, brings = plan.verdict.split(". Expect ")
    assert what == "Contact the 1,000 customers whose good score is 3 or more (10.00% of 10,000) in campaign cheap"
    assert brings.startswith(
        f"300 responders and a profit of {plan.on_new_cases.rounded[0]} on new customers (95% CI ["
    )
    assert "; apparent 1,500). Acting pays with probability " in brings
    hopeless = rs.plan_campaign(COUNTS, Campaign(population=10, unit_cost=5, unit_benefit=1, fixed_cost=7))
    assert hopeless.verdict == "Contact nobody. No campaign pays, because the best campaign has a profit of -7."
    assert hopeless.to_dict()["worthwhile"] is False


TIED = ThresholdCounts([5, 4, 3], [60, 80, 10], [140, 320, 390])
CUSTOMERS = np.repeat([5, 4, 3], [200, 400, 400])


@pytest.mark.parametrize(
    ("capacity", "size", "profit", "verdict"),
    [
        (
            300,
            300,
            500,
            "Contact the 300 customers with the highest score, down to 4, ties at random (30.00% of 1,000). Expect 80 ",
        ),
        (
            150,
            150,
            300,
            "Contact the 150 customers with the highest score, down to 5, ties at random (15.00% of 1,000). Expect 45 ",
        ),
        (
            200,
            200,
            400,
            "Contact the 200 customers whose score is 5 or more (20.00% of 1,000). Expect 60 ",
        ),
        (900, 600, 800, "Contact the 600 customers whose score is 4 or more (60.00% of 1,000). Expect 140 "),
    ],
)
def test_a_capacity_within_a_tie_is_filled_by_lot(capacity, size, profit, verdict):
    campaign = Campaign(1000, 1, 10, capacity=capacity)
    plan = rs.plan_campaign(TIED, campaign)
    assert (plan.best.best.size, plan.best.best.profit) == (size, profit)
    assert plan.verdict.startswith(f"{verdict}responders and a profit of ")
    decision = rs.choose(TIED, campaign.context, subject_to=f"cases <= {capacity}", randomized=True)
    assert -1000 * decision.expected_cost == pytest.approx(profit, rel=1e-12)
    for ids in (np.arange(1000), [f"c{i}" for i in range(1000)]):
        chosen = plan.select(CUSTOMERS, ids)
        assert len(set(chosen)) == len(chosen) == size == decision.predict(CUSTOMERS, ids).sum()
    position = dict(zip(ids, CUSTOMERS, strict=True))
    ranked = [position[each] for each in chosen]
    assert ranked == sorted(CUSTOMERS.tolist(), reverse=True)[:size]
    assert sorted(plan.select(CUSTOMERS[::-1], ids[::-1])) == sorted(chosen)


@given(seed=st.integers(0, 10_000), capacity=st.integers(1, 60))
def test_the_plan_counts_the_customers_of_its_list(seed, capacity):
    rng = np.random.default_rng(seed)
    score = rng.permutation(60)
    y = rng.random(60) < score / 90
    y[:2] = False, True
    plan = rs.plan_campaign(y, score, Campaign(60, 2, 9, capacity=capacity))
    listed = plan.rows(score) if plan.worthwhile else score.argsort()[::-1][: int(plan.depth * 60)]
    row = plan.best.best
    assert sorted(score[listed]) == sorted(score)[60 - int(row.size) :]
    assert (row.responders, row.profit) == pytest.approx((y[listed].sum(), 9 * y[listed].sum() - 2 * row.size))
    assert row.threshold in (score[listed].min(initial=99), -inf, inf)


def test_a_campaign_is_not_given_up_because_the_first_customers_did_not_respond():
    """Half of the twelve best customers respond, but not the two with the highest scores; a contact pays from .1."""
    y = np.array([0, 0, *[1] * 6, *[0] * 4, *[0] * 88])
    plan = rs.plan_campaign(y, np.arange(100, 0, -1), Campaign(100, 1, 10, capacity=2))
    assert (plan.worthwhile, plan.best.best.size, plan.best.best.responders) == (True, 2, 0)
    assert plan.curve.hull_profit == pytest.approx(10 * 2 * 6 / 8 - 2)
    assert len(plan.select(np.arange(100))) == 2


def test_as_many_as_planned_of_a_list_with_other_scores():
    plan = rs.plan_campaign(TIED, Campaign(1000, 1, 10, capacity=300))
    few, many = (np.repeat([5, 4, 3], [each, 300, 700 - each]) for each in (10, 500))
    assert np.sort(few[plan.select(few)])[::-1].tolist() == [5] * 10 + [4] * 290
    assert many[plan.select(many)].tolist() == [5] * 300
    assert np.bincount(np.repeat([3], 1000)[plan.select(np.repeat([3], 1000))]).tolist() == [0, 0, 0, 300]
    assert len(plan.select([5] * 100)) == 30
    assert len(plan.select([5] * 5000)) == 300, "not above the capacity"
    none = rs.plan_campaign(TIED, Campaign(1000, 5, 1))
    assert none.select(CUSTOMERS).size == 0
    everybody = rs.plan_campaign(TIED, Campaign(1000, 0, 1))
    assert everybody.select([-99.0, 3]).tolist() == [1, 0]
    said = "Contact 1,000 customers with any score (100.00% of 1,000). Expect 150 responders and "
    assert everybody.verdict.startswith(said)


def test_without_a_lot_a_decision_says_what_it_would_save():
    context = Campaign(1000, 1, 10).context
    decision = rs.choose(TIED, context, subject_to="cases <= 150")
    assert (decision.rule, decision.expected_cost, decision.lot_cost) == ("never", 0, -0.3)
    assert "0.3 less per case with randomized=True" in repr(decision)
    assert rs.choose(TIED, context, subject_to="cases <= 200").lot_cost is None
    assert rs.choose(TIED, context, subject_to="precision >= .3").lot_cost is None


def test_a_lot_that_saves_nothing_is_not_mentioned():
    # acting pays (the cheapest threshold costs less than 0), but nobody may be acted on: by lot or not, that costs 0
    decision = rs.choose(TIED, Campaign(1000, 1, 10).context, subject_to="cases <= 0")
    assert (decision.rule, decision.expected_cost, decision.lot_cost) == ("never", 0, None)
    assert decision.hull_cost < 0


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.choose(TIED, subject_to="mcc >= .3", randomized=True),
            InputError,
            r"randomized: expected bounds with >= or <= and without a level, on a metric .*, got mcc >= 0.3; omit",
        ),
        (
            lambda: rs.choose(TIED, criterion="f1", subject_to="tpr >= .3", randomized=True),
            InputError,
            "randomized: expected a criterion that is linear in the counts, .*, got f1",
        ),
        (
            lambda: rs.choose(TIED, subject_to=["tpr >= .9", "fpr <= .1"], randomized=True),
            InputError,
            "no threshold of any model satisfies tpr >= 0.9 and fpr <= 0.1",
        ),
        (lambda: rs.profit(COUNTS), InputError, "campaign: expected a Campaign, got None"),
        (
            lambda: rs.profit(ThresholdCounts([1], [0], [3]), CAMPAIGN),
            OneClassError,
            "responders, got no responders among",
        ),
        (lambda: rs.profit(COUNTS, CAMPAIGN).table(0), InputError, "steps: expected a whole number of at least 1"),
        (lambda: rs.plan_campaign(COUNTS, {}), InputError, "campaigns: expected a Campaign, or a mapping"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_labels_that_reach_to_a_depth():
    labels, scores = [1, 0, 1, 1, None, 0, 1], [9, 8, 7, 6, 6, 5, 4]
    chart = rs.decisions.partial_lift_chart(labels, scores)
    assert (chart.x.tolist(), chart.y.tolist()) == ([0, 1 / 7, 2 / 7, 3 / 7], [0, 1, 1, 2])
    assert (chart.threshold.tolist(), chart.method) == ([inf, 9, 8, 7], "as far as labels reach")
    curve = chart.profit(Campaign(population=70, unit_cost=1, unit_benefit=3))
    assert curve.y.tolist() == [0, 20, 10, 30]
    assert curve.best() == {
        "depth": 3 / 7,
        "size": 30.0,
        "threshold": 7.0,
        "profit": 30.0,
        "at_reach": True,
        "method": "as far as labels reach",
    }
    capped = chart.profit(Campaign(population=70, unit_cost=1, unit_benefit=3, capacity=20))
    assert (capped.best()["size"], capped.best()["at_reach"]) == (10, False)


@given(sample=samples(dtype=np.int64))
def test_with_every_label_it_is_the_lift_chart(sample):
    whole, known = rs.lift_chart(sample.y, sample.score), rs.decisions.partial_lift_chart(sample.y, sample.score)
    sampled = rs.decisions.partial_lift_chart(sample.y.astype(float), sample.score, inclusion=1.0)
    for chart in (known, sampled):
        assert chart.x.tolist() == pytest.approx(whole.x.tolist())
        assert chart.y.tolist() == whole.y.tolist()
    assert not sampled.standard_error.any()


def test_the_sampled_estimate_and_its_variance_are_unbiased_over_all_samples():
    """Every one of the 2^6 subsets that may be labelled, each with its probability."""
    labels, scores = np.array([1, 0, 1, 1, 0, 1]), np.array([5, 5, 4, 3, 2, 1])
    chances = np.array([0.9, 0.5, 0.3, 0.7, 0.2, 0.6])
    truth = rs.lift_chart(labels, scores).y
    mean, square, variance = 0.0, 0.0, 0.0
    for drawn in itertools.product([False, True], repeat=6):
        if not any(drawn):
            mass = float(np.prod(1 - chances))
            square = square + mass * truth.astype(float) ** 2
            continue
        seen = np.where(drawn, labels.astype(float), nan)
        chart = rs.decisions.partial_lift_chart(seen, scores, inclusion=chances)
        mass = float(np.prod(np.where(drawn, chances, 1 - chances)))
        mean = mean + mass * chart.y
        square = square + mass * (chart.y - truth) ** 2
        variance = variance + mass * chart.standard_error**2
    assert mean == pytest.approx(truth)
    assert variance == pytest.approx(square)


def test_the_band_of_a_sampled_chart():
    chart = rs.decisions.partial_lift_chart([1, nan, 1, nan], [4, 3, 2, 1], inclusion=[0.8, 0.8, 0.5, 0.5])
    band, money = chart.band(0.9), chart.profit(Campaign(population=4, unit_cost=1, unit_benefit=2)).band(0.9)
    assert (band.low <= chart.y).all() or (band.high < chart.y).any()
    assert band.low.min() >= 0
    assert (band.high <= chart.x * 4).all()
    assert money.low.tolist() == (2 * band.low - 4 * chart.x).tolist()
    assert band.method == "Horvitz–Thompson"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.decisions.partial_lift_chart([None, None], [1, 2]),
            LabelError,
            "y_true: expected at least one label, got no labels",
        ),
        (
            lambda: rs.decisions.partial_lift_chart([1, None], [1, 2], inclusion=0),
            WeightError,
            "above 0 and at most 1 .*got 0",
        ),
        (
            lambda: rs.decisions.partial_lift_chart([1, None], [1, 2], inclusion=["a", "b"]),
            WeightError,
            "probabilities, got",
        ),
        (
            lambda: rs.decisions.partial_lift_chart(["yes", None], [1, 2]),
            LabelError,
            "name the positive class, such as pos_label=",
        ),
        (
            lambda: rs.decisions.partial_lift_chart([1, None], [2, 1]).profit(
                Campaign(population=5, unit_cost=1, unit_benefit=1, response_rate=0.1)
            ),
            InputError,
            "campaign: expected a campaign without a response_rate",
        ),
    ],
)
def test_partial_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_campaigns_of_different_capacities_have_a_profit_and_a_plot():
    labels = np.arange(1000) < 50
    counts = ThresholdCounts.from_scores(labels, np.random.default_rng(0).normal(labels * 1.0))
    plan = rs.plan_campaign(counts, {"a": Campaign(1000, 1, 10), "b": Campaign(1000, 2, 20, capacity=50)})
    # Of two campaigns of which one is hopeless, the interval is that of the other.
    alone = rs.plan_campaign(counts, Campaign(1000, 2, 20, capacity=50))
    hopeless = rs.plan_campaign(counts, {"a": Campaign(1000, 9, 10), "b": Campaign(1000, 2, 20, capacity=50)})
    assert plan.profit.low < plan.profit.value < plan.profit.high
    assert hopeless.profit.value == pytest.approx(alone.profit.value, rel=0.02)
    assert plan.plot() is not None


def test_one_customer_is_not_several_and_a_list_by_score_is_not_drawn_at_random():
    counts = ThresholdCounts([2, 1], [3, 1], [1, 5])
    one = rs.plan_campaign(counts, Campaign(10, 1, 10, capacity=1))
    assert one.verdict.startswith(
        "Contact the 1 customer with the highest score, down to 2, ties at random (10.00% of 10). Expect 0.75 "
        "responders and "
    )
    tied = rs.plan_campaign(ThresholdCounts([1], [4], [6]), Campaign(10, 1, 10, capacity=2))
    first = tied.verdict.partition(". Expect ")[0]
    assert first == "Contact the 2 customers with the highest score, ties at random (20.00% of 10)"
