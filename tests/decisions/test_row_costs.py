"""Costs that differ from row to row, against brute force over rows in fractions of the amounts as they are written."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate

import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Context, Decision, Predictions
from rocscope.decisions import act_by_row, compare_row_rule, in_money
from rocscope.errors import ColumnError, InfeasibleError, InputError, OneClassError, ScoreError
from strategies import counted, in_parts

CELLS = ("tp", "fp", "fn", "tn")


def exact(amount):
    return Fraction(repr(float(amount)))


def drawn_context(rng, n):
    """Draw a context in which each cost is a number or a column: few decimals, so that ties abound, or many."""
    costs, columns = {}, {}
    for cell in CELLS:
        kind = rng.random()
        digits = int(rng.choice([0, 1, 2, 9]))
        low = -3 if kind < 0.3 else 0
        if rng.random() < 0.6:
            columns[cell] = np.round(rng.uniform(low, 6, n), digits)
            costs[f"cost_{cell}"] = cell
        else:
            costs[f"cost_{cell}"] = round(float(rng.uniform(low, 6)), digits)
    target = None if rng.random() < 0.6 else float(rng.choice([0.01, 0.2, 0.5]))
    try:
        return Context(target, **costs), columns
    except InputError:  # errors of both kinds are rewarded
        return drawn_context(rng, n)


def drawn_rows(rng):
    n = int(rng.integers(3, 30))
    y = rng.random(n) < rng.uniform(0.1, 0.8)
    y[:2] = [True, False]
    scores = {m: rng.integers(0, rng.integers(1, 9), n) + y * rng.integers(0, 2, n) for m in "ab"[: rng.integers(1, 3)]}
    context, columns = drawn_context(rng, n)
    weight = None if rng.random() < 0.5 else rng.integers(0, 4, n) / float(rng.choice([1, 8]))
    if weight is not None:
        weight[:2] = 1
    return Predictions(y, scores, sample_weight=weight, columns=columns), context


def mean_cost(preds, context, acts):
    """Return the cost per case of acting on some rows, in fractions."""
    share, cost, total = context.target_prevalence, {}, {}
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    for label in (True, False):
        cost[label] = total[label] = Fraction(0)
        for i in np.flatnonzero(preds.y_true == label):
            of = getattr(context, f"cost_{('t' if acts[i] == label else 'f') + ('p' if acts[i] else 'n')}")
            cost[label] += exact(weight[i]) * exact(preds.columns[of][i] if isinstance(of, str) else of)
            total[label] += exact(weight[i])
    if share is None:
        return (cost[True] + cost[False]) / (total[True] + total[False])
    return exact(share) * cost[True] / total[True] + (1 - exact(share)) * cost[False] / total[False]


def every_rule(preds):
    """Return what each threshold of each model acts on, those of fewest rows first."""
    for order, (model, score) in enumerate(preds.scores.items()):
        for cut in [np.inf, *sorted(set(score.tolist()), reverse=True)]:
            acts = score >= cut
            weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
            yield model, acts, (float(weight[acts].sum()), order)


def check_one(rng):
    preds, context = drawn_rows(rng)
    if not context.columns:
        return False
    found = [(mean_cost(preds, context, acts), tie, model, acts) for model, acts, tie in every_rule(preds)]
    try:
        decision = rs.choose(preds, context)
    except InputError as error:
        assert "rewards errors of both kinds" in str(error) or "depend on the action in at least one row" in str(error)
        return False
    least, _, model, acts = min(found, key=lambda each: each[:2])
    largest = max(map(abs, (cost for cost, *_ in found)))
    assert decision.expected_cost == pytest.approx(float(least), rel=1e-12, abs=1e-12 * float(1 + largest))
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    took = decision.predict(preds)
    assert float(mean_cost(preds, context, took)) == pytest.approx(float(least), rel=1e-12, abs=1e-12)
    point = decision.point
    cells = [weight[(took == t) & (preds.y_true == y)].sum() for t, y in [(1, 1), (1, 0), (0, 1), (0, 0)]]
    assert [point.tp, point.fp, point.fn, point.tn] == cells, "counts are those of the rows"
    plain = all(np.round(column, 4).tolist() == column.tolist() for column in preds.columns.values())
    if plain and all(round(cost, 4) == cost for cost in vars(context).values() if isinstance(cost, float)):
        kept = weight > 0
        assert (decision.model, took[kept].tolist()) == (model, acts[kept].tolist()), (
            "the tie rule holds, by exact sums"
        )
    for name, rule in (("treat_all_cost", True), ("treat_none_cost", False)):
        cost = float(mean_cost(preds, context, np.full(len(preds), rule)))
        assert getattr(decision, name) == pytest.approx(cost, rel=1e-12, abs=1e-12)
    at_half = preds.scores[decision.model] >= 0.5
    assert decision.default_cost == pytest.approx(float(mean_cost(preds, context, at_half)), rel=1e-12, abs=1e-12)
    assert decision.hull_cost == decision.expected_cost
    assert prove(decision, preds).holds, prove(decision, preds)
    assert decision.verify(preds).verified, decision.verify(preds)
    gain = [mean_cost(preds, context, np.arange(len(preds)) == i) for i in range(len(preds))]
    nobody = mean_cost(preds, context, np.zeros(len(preds), bool))
    return any((nobody - each) * (1 if y else -1) < 0 for each, y in zip(gain, preds.y_true, strict=True))


@in_parts(15, 2_000)
def test_no_threshold_of_any_model_is_cheaper_by_brute_force_over_rows(cases, part):
    rng = np.random.default_rng([0, part])
    lost = sum(check_one(rng) for _ in counted(cases))
    print(f"{cases} cases, in {lost} acting loses in some row")
    assert lost > cases / 4, "among them are rows on which acting loses"


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=25),
    st.tuples(*[st.sampled_from([0, 0.1, 0.3, 1, 2.5, 20])] * 2, *[st.sampled_from([0, -0.2, -4])] * 2),
    st.sampled_from([None, 0.01, 0.3]),
    st.booleans(),
)
def test_constant_amounts_decide_as_the_plain_context(rows, costs, target, weighted):
    y, a, b = (np.array(column) for column in zip((True, 3, 2), (False, 2, 2), *rows, strict=True))
    fp, fn, tp, tn = costs
    plain = Context(target, cost_fp=fp, cost_fn=fn, cost_tp=tp, cost_tn=tn)
    columns = {cell: np.full(y.size, cost) for cell, cost in zip(("fp", "fn", "tp", "tn"), costs, strict=True)}
    by_row = Context(target, cost_fp="fp", cost_fn="fn", cost_tp="tp", cost_tn="tn")
    weight = np.arange(y.size) % 3 + 1 if weighted else None
    preds = Predictions(y, {"a": a, "b": b}, sample_weight=weight, columns=columns)
    if not (plain.miss_cost or plain.false_alarm_cost):
        with pytest.raises(InputError, match="depend on the action in at least one row"):
            rs.choose(preds, by_row)
        return
    expected, found = rs.choose(preds, plain), rs.choose(preds, by_row)
    assert (found.model, found.point) == (expected.model, expected.point)
    for name in ("expected_cost", "default_cost", "hull_cost", "treat_all_cost", "treat_none_cost"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12, abs=1e-12)
    if plain.miss_cost and plain.false_alarm_cost:
        assert found.tied == expected.tied


def test_constraints_count_rows_and_the_cost_is_in_money():
    rng = np.random.default_rng(1)
    for _ in range(150):
        preds, context = drawn_rows(rng)
        if not context.columns:
            continue
        preds = Predictions(preds.y_true, preds.scores, columns=preds.columns)
        most, share = int(rng.integers(0, len(preds))), round(float(rng.uniform(0, 1)), 2)
        admitted = [
            mean_cost(preds, context, acts)
            for _, acts, _ in every_rule(preds)
            if acts.sum() <= most and acts[preds.y_true].mean() >= share
        ]
        bounds = [f"depth <= {most / len(preds)!r}", f"tpr >= {share}"]
        if context.target_prevalence is not None:
            bounds[0] = f"fpr <= {1}"
            admitted = [
                mean_cost(preds, context, acts)
                for _, acts, _ in every_rule(preds)
                if acts[preds.y_true].mean() >= share
            ]
        try:
            decision = rs.choose(preds, context, subject_to=bounds)
        except InfeasibleError:
            assert not admitted
            continue
        except InputError:
            continue
        assert decision.expected_cost == pytest.approx(float(min(admitted)), rel=1e-12, abs=1e-12)
        assert decision.regret >= -1e-12


AMOUNT = np.array([500, 3, 40, 7, 120, 60, 8, 30], float)
Y = np.array([1, 1, 0, 0, 1, 0, 0, 1])
PREDS = Predictions(
    Y,
    {"a": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], "b": [0.8, 0.1, 0.3, 0.2, 0.9, 0.7, 0.1, 0.6]},
    columns={"amount": AMOUNT},
    groups=[1, 1, 2, 2, 3, 3, 4, 4],
    segment=["x", "y"] * 4,
)
FRAUD = Context(cost_fn="amount", cost_fp=5, cost_tp=5)


def test_a_decision_tells_rows_and_money_and_comes_back_from_its_file(tmp_path):
    decision = rs.choose(PREDS, FRAUD)
    acts = decision.predict(PREDS)
    assert decision.expected_cost == np.where(acts, 5, AMOUNT * Y).mean()
    assert (decision.slope_interval, decision.prevalence_interval, decision.cost_ratio_interval) == (None, None, None)
    assert decision.notes == ("acting on a positive loses in 1 of 8 rows",)
    assert "accuracy" not in repr(decision), "which would say nothing of money"
    assert "expected_cost" in repr(decision)
    assert decision.to_dict()["context"]["cost_fn"] == "amount"
    assert Decision.load(decision.save(tmp_path / "decision.json")) == decision
    half = rs.choose(PREDS, FRAUD, population=1000)
    assert (half.total_cost, half.in_population.n) == (1000 * half.expected_cost, 1000)


def test_a_criterion_counts_rows_and_its_choice_is_priced():
    found, plain = rs.choose(PREDS, FRAUD, criterion="f1"), rs.choose(PREDS, criterion="f1")
    assert (found.model, found.point, found.criterion_value) == (plain.model, plain.point, plain.criterion_value)
    assert found.expected_cost == np.where(found.predict(PREDS), 5, AMOUNT * Y).mean() >= found.hull_cost


def of_amounts(n=400, amount=None, **columns):
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.3
    amount = rng.lognormal(3, 0.7, n) if amount is None else np.full(n, amount)
    return Predictions(y, {m: rng.normal(size=n) + y for m in "ab"}, columns={"amount": amount}, **columns)


@pytest.mark.parametrize("columns", [{}, {"groups": np.arange(400) // 2}, {"sample_weight": 1 + np.arange(400) % 2}])
@pytest.mark.parametrize("target", [None, 0.1])
def test_an_interval_is_of_the_cost_of_the_choice(columns, target):
    decision = rs.choose(of_amounts(**columns), replace(FRAUD, target_prevalence=target))
    found = decision.interval(replicates=200)
    assert found.apparent == pytest.approx(decision.expected_cost, rel=1e-12)
    assert found.low < found.apparent < found.value < found.high, "the choice flatters itself"
    assert sum(found.models.values()) == pytest.approx(1)
    assert found.regret.low <= found.regret.value <= found.regret.high < found.value


def test_the_same_amount_in_every_row_has_the_interval_of_the_number():
    preds = of_amounts(amount=30)
    ours, plain = (rs.choose(preds, Context(cost_fn=cost, cost_fp=5, cost_tp=5)).interval() for cost in ("amount", 30))
    assert (ours.value, ours.apparent) == pytest.approx((plain.value, plain.apparent), rel=0.01)
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=0.1 * (plain.high - plain.low))
    assert ours.regret.high == pytest.approx(plain.regret.high, rel=0.2)
    assert ours.reliable


def unseen_by_quadrature(cost, gain):
    """Return how much the sums of squares and cubes of costs lack of those that a Pareto tail of the gains has."""
    amounts = np.sort(gain)[::-1]
    k = int(np.sqrt(amounts.size))
    start = amounts[k]
    index = (1 - 0.75 / np.sqrt(k)) / np.mean(np.log(amounts[:k] / start))
    number = k * np.mean(cost >= gain / 2)
    end, large = start * (number / 0.5) ** (1 / index), cost[cost > start]
    return [
        max(
            integrate.quad(lambda x, j=j: number * index * start**index * x ** (j - 1 - index), start, end)[0]
            - (large**j).sum(),
            0,
        )
        for j in (2, 3)
    ]


def test_a_rule_that_is_not_chosen_anew_has_the_interval_of_hall():
    """Its ends as Hall 1992 writes them, JRSS-B 54:221-228, of what each row costs and of amounts that are not seen."""
    preds = of_amounts()
    decision = rs.choose(preds, FRAUD, subject_to="tpr >= .8")
    cost = np.where(decision.predict(preds), 5, preds.columns["amount"] * preds.y_true)
    n, mean = cost.size, cost.mean()
    second, third = unseen_by_quadrature(cost[preds.y_true], abs(preds.columns["amount"] - 5)[preds.y_true])
    variance = (cost.var(ddof=1) * n + second) / n**2
    skew = (((cost - mean) ** 3).sum() + third) / (((cost - mean) ** 2).sum() + second) ** 1.5
    at = [3 / skew * (np.cbrt(1 + skew * (z - skew / 6)) - 1) for z in (1.96, -1.96)]
    low, high = (mean - np.sqrt(variance) * each for each in at)
    found = decision.interval()
    assert (found.value, found.n) == (pytest.approx(mean), n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03 * (high - low))
    assert found.reason == "the choice by constraints or by a criterion other than cost is not repeated"


def test_a_few_large_amounts_make_an_interval_unreliable():
    found = rs.choose(PREDS, FRAUD).interval()
    assert found.low >= 0, "no row costs less"
    assert "amounts may have no finite mean" in found.reason


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rs.choose(PREDS.counts("a"), FRAUD), InputError, "rows"),
        (lambda: rs.choose(rs.hull(PREDS), FRAUD), InputError, "rows"),
        (lambda: rs.choose(Predictions(Y, AMOUNT), FRAUD), ColumnError, "expected rows with a column 'amount'"),
        (lambda: rs.choose(PREDS, FRAUD, randomized=True), InputError, "equal costs in all rows"),
        (lambda: rs.choose(PREDS, FRAUD, review=rs.Review(1)), InputError, "equal costs in all rows"),
        (lambda: rs.hull(PREDS).best(FRAUD), InputError, "in_money"),
        (lambda: rs.roc(PREDS, model="a").best(FRAUD), InputError, "in_money"),
        (lambda: rs.summary(PREDS, FRAUD), InputError, "rows|in_money"),
        (lambda: rs.Report(PREDS, context=FRAUD), InputError, "rows|in_money"),
        (lambda: FRAUD.cost(PREDS.counts("a").at(0.5)), InputError, "in_money"),
        (lambda: in_money(PREDS, Context(cost_fn="amont")), ColumnError, "cost_fn.*'amont'.*got the columns 'amount'"),
        (lambda: in_money(PREDS.counts("a"), FRAUD), InputError, "rows"),
        (lambda: in_money(PREDS, Context(0.5, cost_fn=0, cost_fp=0)), InputError, "depend on the action"),
        (lambda: in_money(PREDS, Context(cost_fn=-1, cost_fp=-1)), InputError, "rewards errors of both kinds"),
        (lambda: in_money(PREDS.select(Y == 1), Context(0.5, cost_fn="amount")), OneClassError, "both classes"),
        (lambda: Context(cost_fn=""), InputError, "a finite number, or the name"),
        (lambda: Predictions(Y, AMOUNT, columns=[1]), InputError, "a mapping"),
        (lambda: Predictions(Y, PREDS), InputError, "one-dimensional array, got Predictions"),
        (lambda: Predictions(Y, AMOUNT, columns={"x": ["a"] * 8}), InputError, r"columns\['x'\]: expected finite"),
        (lambda: Predictions(Y, AMOUNT, columns={"x": [1, np.nan] * 4}), InputError, r"columns\['x'\]"),
        (lambda: Predictions(Y, AMOUNT, columns={"x": [1] * 7}), InputError, r"columns\['x'\]: expected one entry"),
        (lambda: act_by_row([0.1, 2], FRAUD, {"amount": [1, 2]}), ScoreError, "probabilities from 0 to 1"),
        (lambda: act_by_row([0.1], Context(0.2), {}), InputError, "a context without target_prevalence"),
        (lambda: act_by_row([0.1], FRAUD), ColumnError, "'amount'"),
        (lambda: compare_row_rule(PREDS, FRAUD), ColumnError, "model"),
    ],
)
def test_what_cannot_take_money_of_rows_says_so_in_one_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_amounts_beyond_what_floats_add_are_refused():
    big = Predictions([1, 0], [2, 1], columns={"amount": [1e308, 1e308]})
    with pytest.raises(InputError, match="finite sum"), warnings.catch_warnings():
        warnings.simplefilter("error")
        rs.choose(big, FRAUD)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_amounts_of_any_size_choose_alike(scale):
    scaled = Predictions(Y, PREDS.scores, columns={"amount": AMOUNT * scale})
    decision = rs.choose(scaled, Context(cost_fn="amount", cost_fp=5 * scale, cost_tp=5 * scale))
    assert decision.point == rs.choose(PREDS, FRAUD).point
    assert decision.expected_cost / scale == pytest.approx(rs.choose(PREDS, FRAUD).expected_cost)


def test_rows_in_money_keep_what_they_are_beside_and_are_no_numbers_of_rows():
    money = in_money(PREDS, FRAUD)
    gain = np.where(Y == 1, AMOUNT - 5, -5)
    assert money.y_true.tolist() == (gain > 0).tolist()
    assert money.sample_weight / money.sample_weight[0] * 495 == pytest.approx(np.abs(gain))
    assert (money.sample_weight % 1).any(), "or intervals would take whole amounts for numbers of equal rows"
    assert (money.groups.tolist(), money.segment.tolist()) == (PREDS.groups.tolist(), PREDS.segment.tolist())
    point = rs.choose(money).point
    decision = rs.choose(PREDS, FRAUD)
    assert point.threshold == decision.threshold
    assert "sampling" in rs.auc_interval(Predictions(Y, AMOUNT, sample_weight=money.sample_weight)).method


def test_money_of_cents_breaks_ties_as_cents_do():
    """0.1 + 0.2 is 0.3: as floats it is more, and the threshold 1 would look cheaper."""
    preds = Predictions([1, 0, 1], [3, 2, 1], columns={"lost": [0.1, 0.3, 0.3], "spent": [0, 0.3, 0]})
    tenth = Predictions([1, 0, 1, 1], [3, 2, 1, 1], columns={"lost": [1, 0, 0.1, 0.2], "spent": [0, 0.3, 0, 0]})
    assert rs.choose(preds, Context(cost_fn="lost", cost_fp="spent")).threshold == 3
    assert rs.choose(tenth, Context(cost_fn="lost", cost_fp="spent")).threshold == 3


def test_compare_costs_takes_the_costs_of_rows():
    found = rs.inference.compare_costs(PREDS, FRAUD, thresholds=0.5, groups=False)
    for model, score in PREDS.scores.items():
        cost = np.where(score >= 0.5, 5, AMOUNT * Y)
        assert found.estimates[model].value == pytest.approx(cost.mean())
        assert found.estimates[model].standard_error == pytest.approx(cost.std(ddof=1) / 8**0.5)
    by_row = Context(cost_fn="fn", cost_fp="fp")
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    scores = {"a": rng.normal(y, 1), "b": rng.normal(y, 2)}
    preds = Predictions(y, scores, columns={"fn": np.full(300, 5), "fp": np.full(300, 1)})
    both = (by_row, Context(cost_fn=5))
    ours, plain = (rs.inference.compare_costs(preds, each, thresholds=1.0)["a", "b"].difference for each in both)
    assert (ours.value, ours.low) == pytest.approx((plain.value, plain.low), rel=1e-12)
    ours, plain = (rs.inference.compare_costs(preds, each)["a", "b"].difference for each in both)
    assert ours.value == pytest.approx(plain.value, abs=plain.standard_error / 2)  # other folds are drawn
    assert ours.standard_error == pytest.approx(plain.standard_error, rel=0.1)


def test_the_rule_of_each_row_is_best_for_right_probabilities_in_expectation():
    rng = np.random.default_rng(0)
    p, amount = rng.random(50), rng.uniform(0, 30, 50)
    acts = act_by_row(p, FRAUD, {"amount": amount})
    assert acts.tolist() == (p * (amount - 5) > (1 - p) * 5).tolist() == (p * amount > 5).tolist()
    expected = np.where(acts, 5, p * amount).sum()
    for cut in [*p, np.inf]:
        assert expected <= np.where(p >= cut, 5, p * amount).sum() + 1e-9
    plain = act_by_row(p, Context(cost_fp=1, cost_fn=3))
    assert plain.tolist() == (p > 0.25).tolist()


def test_the_rule_of_each_row_is_compared_with_one_threshold_on_the_same_rows():
    rng = np.random.default_rng(2)
    p = rng.random(4000)
    y, amount = rng.random(4000) < p, np.round(rng.lognormal(2, 1, 4000), 2)
    preds = Predictions(y, {"risk": p}, columns={"amount": amount})
    found = compare_row_rule(preds, FRAUD)
    decision = rs.choose(preds, FRAUD)
    pair = found["risk", "risk row by row"]
    own = np.where(p * amount > 5, 5, amount * y)
    fixed = np.where(decision.predict(preds), 5, amount * y)
    assert found.estimates["risk"].value == pytest.approx(decision.expected_cost)
    assert pair.difference.value == pytest.approx((own - fixed).mean())
    assert pair.difference.standard_error == pytest.approx((own - fixed).std(ddof=1) / 4000**0.5)
    assert pair.difference.high < 0
    at = compare_row_rule(preds, FRAUD, threshold=0.5)
    assert at.estimates["risk"].value == pytest.approx(np.where(p >= 0.5, 5, amount * y).mean())


def test_a_campaign_whose_benefit_is_a_column_is_decided_on():
    campaign = Campaign(population=8, unit_cost=5, unit_benefit="amount")
    found = rs.choose(PREDS, campaign)
    profit = {(m, cut): (AMOUNT * Y - 5)[s >= cut].sum() for m, s in PREDS.scores.items() for cut in [*s, np.inf]}
    acts = found.predict(PREDS)
    assert (AMOUNT * Y - 5)[acts].sum() == max(profit.values())


def test_everything_takes_rows_in_money():
    rng = np.random.default_rng(4)
    p = rng.random(400)
    y, amount = rng.random(400) < p, np.round(rng.lognormal(3, 1, 400), 2)
    scores = {"a": p, "b": np.clip(p + rng.normal(0, 0.2, 400), 0, 1)}
    money = in_money(Predictions(y, scores, columns={"amount": amount}, groups=np.arange(400) // 2), FRAUD)
    assert rs.compare(money)["a", "b"].difference.method.endswith("groups")
    assert rs.inference.band(rs.roc(money, model="a"), data=money.select(models=["a"]), replicates=20).low.size
    assert rs.hull(money).contenders
    assert rs.Report(money).data.decision.threshold == rs.choose(money).threshold
    kept = rs.calibration.recalibrate(money).predictions
    assert kept.columns["amount"].tolist() == money.columns["amount"].tolist()
