"""Experiments: against scikit-uplift, what rows in money add up to, leaving rows out, and a null effect."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from outcome_cases import mailing
from rocscope.errors import InputError
from rocscope.inference import statistics
from rocscope.inference.expected_costs import compare_costs
from rocscope.outcomes import from_experiment
from rocscope.outcomes.verification import ShareWeights

REFERENCE = json.loads((Path(__file__).parent.parent / "reference" / "scikit_uplift.json").read_text())["cases"]


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: str(case["seed"]))
def test_figures_of_scikit_uplift(case):
    response, treated, score = mailing(case["seed"], case["n"], case["share"], case["ties"])
    found = from_experiment(response, treated, score)
    for kind, curve in (("qini", found.qini()), ("uplift", found.uplift())):
        places = np.searchsorted(curve.contacted, case["contacted"])
        np.testing.assert_allclose(curve.gained[places], case[kind], rtol=1e-12, atol=1e-11)
        assert curve.coefficient.value == pytest.approx(case[f"{kind}_auc_score"], rel=1e-11)


def test_the_whole_area_is_the_normalised_one_of_causalml():
    response, treated, score = mailing(1, 2000)
    curve = from_experiment(response, treated, score).uplift()
    rows = np.interp(np.arange(2001), curve.contacted, curve.gained)
    expected = rows.sum() / 2001 / abs(rows[-1])  # its auuc_score
    assert (curve.area.value + curve.effect.value / 2) / curve.effect.value == pytest.approx(expected, abs=1e-3)


def test_the_end_of_the_uplift_curve_is_the_difference_of_means_with_its_error():
    response, treated, score = mailing(4, 1500, 0.3)
    arms = response[treated == 1], response[treated == 0]
    effect = from_experiment(response, treated, score).uplift().effect
    assert effect.value == pytest.approx(arms[0].mean() - arms[1].mean(), rel=1e-13)
    error = np.sqrt(sum(arm.var() / arm.size for arm in arms))
    assert effect.standard_error == pytest.approx(error * np.sqrt(1500 / 1499), rel=1e-12)


def jackknife(figure, n):
    """Return standard errors by leaving each row out."""
    values = np.array([figure(np.arange(n) != row) for row in range(n)])
    return np.sqrt((n - 1) * values.var(axis=0))


@pytest.mark.every(5)
@pytest.mark.parametrize("design", ["plain", "strata", "known"])
@pytest.mark.parametrize("kind", ["qini", "uplift"])
def test_standard_errors_are_those_of_leaving_rows_out(kind, design):
    n = 300
    response, treated, score = mailing(5, n, 0.4, ties=True, effect=0.3)
    part = np.random.default_rng(1).integers(0, 2, n)

    def figures(kept):
        options = {"plain": {}, "strata": {"strata": part[kept]}, "known": {"share": np.where(part, 0.3, 0.5)[kept]}}
        curve = getattr(from_experiment(response[kept], treated[kept], score[kept], **options[design]), kind)()
        return curve.area, curve.coefficient, curve.effect

    found = figures(np.ones(n, bool))
    expected = jackknife(lambda kept: [each.value for each in figures(kept)], n)
    np.testing.assert_allclose([each.standard_error for each in found], expected, rtol=0.03)


def test_rows_in_money_add_up_to_the_effect_and_choose_the_most_profitable_depth():
    response, treated, score = mailing(6, 800, 0.3, ties=True)
    found = from_experiment(response, treated, {"a": score}, benefit=40, cost=2)
    money, effect = found.in_money(), found.uplift().effect.value
    gain = money.columns["gain"]
    assert gain.sum() == pytest.approx(800 * (40 * effect - 2), rel=1e-12)
    profit = {t: gain[score >= t].sum() for t in np.unique(score)} | {np.inf: 0.0}
    assert profit[rs.choose(money).threshold] == max(profit.values())
    unit = money.sample_weight / np.abs(gain)
    np.testing.assert_allclose(unit, unit[0])


def test_priced_rows_keep_capacities_in_cases_and_cost_the_profit():
    response, treated, score = mailing(6, 800, 0.3, ties=True)
    place = np.where(np.arange(800) % 2, "north", "south")
    rows, context = from_experiment(response, treated, score, benefit=40, cost=2, segment=place).priced()
    gain = rows.columns["gain"]
    within = [gain[score >= t].sum() for t in np.unique(score) if (score >= t).sum() <= 200]
    decision = rs.choose(rows, context, subject_to="cases <= 200")
    assert decision.expected_cost == pytest.approx(-max(within) / 800, rel=1e-12)
    assert not decision.interval().reliable  # its constraint is taken as given, and this is said
    free = rs.choose(rows, context)
    assert free.expected_cost < free.interval().value  # what was chosen on these rows looks better than it is
    assert list(rows.by_segment()) == ["north", "south"]


def test_what_a_row_does_through_the_share_is_the_derivative_by_how_often_it_counts():
    rng, n, step = np.random.default_rng(2), 30, 1e-6
    member, amount = rng.integers(0, 2, n) == 1, rng.normal(size=n)
    weights = ShareWeights(n, "", member=member, stratum=np.arange(n) % 2, amount=amount, cost=0.4)
    moves = rng.normal(size=(n, 2))
    for row in range(n):
        up, down = (weights.estimate(1 + side * step * (np.arange(n) == row)) for side in (1, -1))
        expected = np.log(up / down) / (2 * step) @ moves
        np.testing.assert_allclose(weights.through_weights(moves)[row], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("strata", [False, True])
def test_intervals_of_rows_in_money_allow_for_the_observed_share(strata):
    n = 250
    response, treated, score = mailing(7, n, 0.4, effect=0.3)
    part = np.random.default_rng(3).integers(0, 2, n) if strata else np.zeros(n, int)

    def money(kept):
        return from_experiment(response[kept], treated[kept], score[kept], strata=part[kept]).in_money(
            benefit=10, cost=1
        )

    def profit(tp, fp, fn, tn):
        return (tp - fp) / (tp + fp + fn + tn)

    of = statistics.at(0.5, profit)
    rows = money(np.ones(n, bool))
    found = rs.inference.estimate_of(rows, of)
    given = rs.Predictions(rows.y_true, rows.scores, sample_weight=rows.sample_weight)  # p as if it were known
    assert rs.inference.estimate_of(given, of).standard_error > 1.05 * found.standard_error
    expected = jackknife(lambda kept: rs.inference.estimate_of(money(kept), of).value, n)
    assert found.standard_error == pytest.approx(float(expected), rel=0.03)


def test_models_are_compared_on_the_same_rows():
    response, treated, score = mailing(8, 1000)
    noise = np.random.default_rng(0).random(1000)
    found = from_experiment(response, treated, {"noise": noise, "model": score})
    for normalized in (False, True):
        pair = found.compare("uplift", normalized=normalized)["noise", "model"]
        each = [getattr(found.uplift(m), "coefficient" if normalized else "area") for m in ("noise", "model")]
        assert pair.difference.value == pytest.approx(each[1].value - each[0].value, rel=1e-12)
        assert pair.difference.standard_error < np.hypot(*(one.standard_error for one in each))


def test_parts_of_the_ranking_and_arms():
    response, treated, score = mailing(9, 1000, ties=True)
    found = from_experiment(response, treated, score)
    table = found.by_decile(parts=5)
    assert sum(part.n for part in table.parts) == 1000
    top = table.parts[0]
    rows = score >= np.sort(score)[::-1][top.n - 1]
    assert rows.sum() == top.n  # a tie is not split
    expected = response[rows & (treated == 1)].mean() - response[rows & (treated == 0)].mean()
    assert top.uplift.value == pytest.approx(expected) and top.uplift.low < expected < top.uplift.high
    assert table.to_frame("polars").height == len(table.parts)
    arms = np.where(treated == 1, np.where(score > 0.5, "mail", "call"), "none")
    by_arm = from_experiment(response, arms, score, control="none")
    kept = arms != "call"
    alone = from_experiment(response[kept], treated[kept], score[kept])
    assert list(by_arm) == ["call", "mail"] and by_arm["mail"].qini().area == alone.qini().area


@pytest.mark.parametrize("kind", ["qini", "uplift"])
def test_a_perfect_ranking_has_the_largest_area(kind):
    # 2 treated responders, 1 treated row without response, 1 control of each kind.
    response, treated = [1, 1, 0, 0, 1], [1, 1, 1, 0, 0]
    curve = getattr(from_experiment(response, treated, [5, 1, 4, 2, 3]), kind)()
    perfect = curve.perfect
    assert perfect.coefficient.value == 1
    assert perfect.area.value * curve.coefficient.value == pytest.approx(curve.area.value)
    # Qini: treated responders first, control responders last. Uplift: controls without response come second.
    expected = {"qini": ([0, 2, 4, 5], [0, 2, 2, 0.5]), "uplift": ([0, 2, 3, 4, 5], [0, 2, 3, 8 / 3, 5 / 6])}[kind]
    np.testing.assert_allclose((perfect.contacted, perfect.gained), expected)


def test_amounts_have_curves_and_no_perfect_ranking():
    response, treated, score = mailing(9, 500)
    curve = from_experiment(response * 7.5, treated, score).qini()
    assert curve.area.value == pytest.approx(7.5 * from_experiment(response, treated, score).qini().area.value)
    assert np.isnan(curve.coefficient.value) and "other than 0 and 1" in curve.coefficient.reason
    with pytest.raises(InputError, match="for responses of 0 and 1"):
        _ = curve.perfect
    assert curve.at(1) == pytest.approx(curve.gained[-1])
    axes = curve.plot(Figure().subplots())
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.gained)


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="name of the control arm"):
        from_experiment([1, 0], ["a", "b"], [1, 2])
    with pytest.raises(InputError, match="treated rows and controls in each stratum"):
        from_experiment([1, 0, 1], [1, 0, 1], [1, 2, 3], strata=[0, 0, 1])
    with pytest.raises(InputError, match="above 0 and below 1"):
        from_experiment([1, 0, 1], [1, 0, 1], [1, 2, 3], share=1.0)
    with pytest.raises(InputError, match="one of the arms"):
        from_experiment([1, 0, 1], ["a", "b", "a"], [1, 2, 3], control="c")


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_intervals_of_the_qini_area_cover(share, effect):
    """93 to 98% of 400 experiments of 2,000 rows, of the area in 200 times as many rows."""
    big = [from_experiment(*mailing(10_000 + k, 100_000, share, effect=effect)).qini().area.value for k in range(8)]
    truth, held = np.mean(big), 0
    for seed in range(400):
        held += truth in from_experiment(*mailing(seed, 2000, share, effect=effect)).qini().area
    assert 0.92 <= held / 400 <= 0.985


def test_too_few_responses_are_said_also_where_none_was_seen():
    """Of 20 treated rows of 400 none above a half responded: the next mailing may have one, worth 20 times 100."""
    treated, score = np.arange(400) % 20 == 0, np.linspace(0, 1, 400)
    response = np.where(treated, score < 0.2, np.arange(400) % 5 == 1)
    experiment = from_experiment(response, treated, {"a": score, "b": -score}, share=0.05, benefit=100)
    assert experiment.qini("a").area.reason == "only 4 responses in an arm, fewer than 10"
    found = compare_costs(*experiment.priced(), thresholds=0.5).estimates["a"]
    assert "rows determine the variance" in found.reason
    none = from_experiment(response * ~treated, treated, {"a": score, "b": -score}, share=0.05, benefit=100)
    found = compare_costs(*none.priced(), thresholds=0.5).estimates["a"]
    assert found.reason == "only 0 responses in an arm, fewer than 10"
    assert "only 4 responses in an arm" in rs.choose(*experiment.priced()).interval().reason
    often = from_experiment(np.tile(response, 50), np.tile(treated, 50), np.tile(score, 50), share=0.05)
    assert often.qini().area.reliable


def by_hand(response, treated, inverse, weight):
    """Return the difference of the arms' means, each row weighted by its weight over the share of its arm."""
    totals = {arm: [Fraction(0), Fraction(0)] for arm in (0, 1)}
    for y, t, over, times in zip(response, treated, inverse, weight, strict=True):
        totals[t][0] += Fraction(times) * over * int(y)
        totals[t][1] += Fraction(times) * over
    return totals[1][0] / totals[1][1] - totals[0][0] / totals[0][1]


@pytest.mark.parametrize("design", ["strata", "known", "weighted strata"])
def test_the_uplift_of_a_part_is_the_inverse_probability_mean_in_fractions(design):
    n, part = 400, np.random.default_rng(0).integers(0, 3, 400)
    response, treated, score = mailing(5, n, 0.4, effect=0.3)
    weight = np.random.default_rng(1).integers(1, 5, n) if "weighted" in design else np.ones(n, int)
    known = [Fraction(2, 5), Fraction(1, 4), Fraction(1, 2)]
    options, shares = {"share": np.array([0.4, 0.25, 0.5])[part]}, known
    if "strata" in design:
        options, shares = {"strata": part, "sample_weight": weight, "weights": "sampling"}, []
        for code in range(3):
            of_code = part == code
            shares.append(Fraction(int(weight[of_code & (treated == 1)].sum()), int(weight[of_code].sum())))
    inverse = [1 / (shares[c] if t else 1 - shares[c]) for c, t in zip(part, treated, strict=True)]
    trial = from_experiment(response, treated, score, **options)
    order = np.argsort(-score)
    depth = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    found = trial.by_decile(parts=4).parts
    for place, quarter in enumerate(found):
        rows = order[(depth * 4).astype(int) == place]
        assert quarter.n == rows.size
        expected = by_hand(*([column[i] for i in rows] for column in (response, treated, inverse, weight.tolist())))
        assert quarter.uplift.value == pytest.approx(float(expected), rel=1e-12)
        assert quarter.treated - quarter.control == pytest.approx(float(expected), rel=1e-12)
    curve = trial.uplift()
    for k in (0.25, 1):
        if design == "weighted strata" and k < 1:
            continue  # a row is then cut in two
        rows = order[: int(k * n)]
        expected = by_hand(*([column[i] for i in rows] for column in (response, treated, inverse, weight.tolist())))
        assert trial.uplift_at(k).value == pytest.approx(float(expected), rel=1e-12)
    assert trial.uplift_at(1).value == pytest.approx(curve.effect.value, rel=1e-12)
    assert trial.uplift_at(1).standard_error == pytest.approx(curve.effect.standard_error, rel=0.02)


def test_without_an_effect_shares_that_differ_give_no_uplift():
    """Half of those of the first kind respond and a tenth of the others, treated or not; .8 and .2 are treated."""
    counts = {(1, 1): (160, 80), (1, 0): (40, 20), (0, 1): (40, 4), (0, 0): (160, 16)}  # (kind, treated): n, responses
    kind, treated, response = [], [], []
    for (of_kind, arm), (n, responses) in counts.items():
        kind += [of_kind] * n
        treated += [arm] * n
        response += [1] * responses + [0] * (n - responses)
    columns = response, treated, np.zeros(400)
    plain = from_experiment(*columns).by_decile().parts[0].uplift
    assert plain.value == pytest.approx(84 / 200 - 36 / 200)
    for options in ({"strata": kind}, {"share": np.where(kind, 0.8, 0.2)}):
        (part,) = from_experiment(*columns, **options).by_decile().parts
        assert part.uplift.value == pytest.approx(0, abs=1e-15) and part.control == pytest.approx(0.3)
        assert 0 in part.uplift and part.uplift.reliable


@pytest.mark.every(4)
@pytest.mark.parametrize("design", ["strata", "known", "groups", "grouped strata", "sampling"])
def test_standard_errors_of_parts_are_those_of_leaving_units_out(design):
    n = 300
    response, treated, score = mailing(5, n, 0.4, effect=0.3)
    rng = np.random.default_rng(1)
    part, group = rng.integers(0, 2, n), np.arange(n) % 30 if "group" in design else np.arange(n)
    columns = {"strata": {"strata": part}, "known": {"share": np.where(part, 0.3, 0.5)}, "groups": {"groups": group}}
    columns["grouped strata"] = {"strata": part, "groups": group}
    columns["sampling"] = {"sample_weight": rng.lognormal(0, 0.4, n)}
    top = np.argsort(-score)[:150]

    def uplift(kept):
        # The part is held fixed: its rows have the score 1.
        options = {name: column[kept] for name, column in columns[design].items()}
        high = np.isin(np.arange(n), top)[kept]
        return from_experiment(response[kept], treated[kept], high, **options).by_decile(parts=2).parts[0].uplift

    found = uplift(np.ones(n, bool))
    if "groups" in columns[design]:
        values = np.array([uplift(group != code).value for code in range(30)])
        expected = np.sqrt(29 * values.var())
        assert found.method.startswith("influence, 30 groups") or found.method == "influence"
    else:
        expected = jackknife(lambda kept: uplift(kept).value, n)
    assert found.standard_error == pytest.approx(float(expected), rel=0.04)


def test_what_makes_the_uplift_of_a_part_unreliable_is_said():
    response, treated, score = mailing(9, 400)
    first = np.arange(400) < 200
    trial = from_experiment(response, treated, score, strata=first)
    assert trial.by_decile(parts=20).parts[-1].uplift.reason.endswith("responses in an arm, fewer than 10")
    few = from_experiment(response, treated, score, groups=np.arange(400) % 6).uplift_at(0.5)
    assert few.reason.endswith("groups of equal size, fewer than 10")
    alone = from_experiment([1, 0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0, 0], np.arange(7)).uplift_at(1)
    assert alone.reason == "only 3 independent rows in an arm, fewer than 5"
    empty = from_experiment([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1]).uplift_at(0.5)
    assert np.isnan(empty.value) and empty.reason == "an arm is missing"
    for k in (0, 1.5, "half"):
        with pytest.raises(InputError, match="a share above 0 and up to 1"):
            trial.uplift_at(k)


def test_a_tie_counts_in_part_and_plain_rows_have_newcombe_s_interval():
    """Of scores 2, 1, 1, 1, 1, 0 the best half holds the first row and half of each row of the tie."""
    response, treated = [1, 1, 0, 0, 1, 1], [1, 1, 1, 0, 0, 0]
    trial = from_experiment(response, treated, [2, 1, 1, 1, 1, 0])
    expected = (1 + Fraction(1, 2)) / 2 - Fraction(1, 2)
    assert trial.uplift_at(0.5).value == pytest.approx(float(expected))
    assert trial.uplift_at(0.5).method == "Newcombe"
    # Newcombe 1998, table II, contrast (a): 56/70 − 48/80, method 10: .0524 to .3339.
    response, treated = [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, [1] * 70 + [0] * 80
    uplift = from_experiment(response, treated, np.arange(150)).uplift_at(1)
    assert [round(end, 4) for end in (uplift.low, uplift.high)] == [0.0524, 0.3339]


def test_frequencies_are_equal_rows_and_sampling_weights_only_ratios():
    response, treated, score = mailing(3, 300, 0.4, ties=True, effect=0.3)
    rng = np.random.default_rng(4)
    times, part, group = rng.integers(0, 4, 300), rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    columns = {"strata": part, "groups": group, "benefit": 40, "cost": 2}
    rows = np.repeat(np.arange(300), times)
    expanded = {name: column[rows] if np.ndim(column) else column for name, column in columns.items()}
    expected = from_experiment(response[rows], treated[rows], score[rows], **expanded)
    found = from_experiment(response, treated, score, sample_weight=times, weights="frequency", **columns)
    campaign = rs.Campaign(population=1000, unit_cost=2, unit_benefit=40, capacity=300)
    assert found.n == times.sum() and found.uplift_at(0.3) == expected.uplift_at(0.3)
    assert found.qini().area == expected.qini().area and found.plan(campaign) == expected.plan(campaign)

    weight = rng.lognormal(0, 0.7, 300)
    first, second = (
        from_experiment(response, treated, score, sample_weight=factor * weight, **columns) for factor in (1, 100)
    )
    for figure in (lambda e: e.uplift_at(0.3), lambda e: e.qini().area, lambda e: e.by_decile(parts=3).parts[1].uplift):
        one, other = figure(first), figure(second)
        for name in ("value", "low", "high", "standard_error"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)
    assert first.plan(campaign).threshold == second.plan(campaign).threshold
    assert rs.choose(first.in_money()).threshold == rs.choose(second.in_money()).threshold
    with pytest.raises(InputError, match="whole numbers"):
        from_experiment(response, treated, score, sample_weight=weight, weights="frequency")
    with pytest.raises(InputError, match="weights"):
        from_experiment(response, treated, score, sample_weight=weight, weights="money")


@pytest.mark.parametrize("weighted", [False, True])
def test_a_plan_brings_what_its_customers_bring_in_fractions(weighted):
    """The best threshold within the capacity is found by trying all, and no plan brings more than all responses."""
    response, treated, score = mailing(6, 500, 0.5, ties=True, effect=0.3)
    weight = np.random.default_rng(2).integers(1, 4, 500) if weighted else np.ones(500, int)
    trial = from_experiment(response, treated, {"a": score, "b": -score}, sample_weight=weight, weights="sampling")
    campaign = rs.Campaign(population=9000, unit_cost=2, unit_benefit=40, capacity=2000, fixed_cost=50)
    plan = trial.plan(campaign)
    share = Fraction(int(weight[treated == 1].sum()), int(weight.sum()))
    gain = [w * (40 * y * (1 / share if t else -1 / (1 - share)) - 2) for w, y, t in zip(
        weight.tolist(), response.tolist(), treated.tolist(), strict=True)]  # fmt: skip
    profits = {}
    for threshold in np.unique(score):
        rows = np.flatnonzero(score >= threshold)
        if 9000 * weight[rows].sum() <= 2000 * weight.sum():
            profits[threshold] = sum((gain[i] for i in rows), Fraction(0)) * 9000 / int(weight.sum())
    assert plan.model == "a" and profits[plan.threshold] == max(profits.values())
    assert -plan.total_cost == pytest.approx(float(max(profits.values())), rel=1e-9)
    assert plan.point.depth * 9000 <= 2000
    responses = Fraction(int(weight[(treated == 1) & (response == 1)].sum()), int(weight[treated == 1].sum()))
    assert -plan.total_cost <= 40 * responses * 9000
    assert plan.verify(trial.priced(benefit=40, cost=2)[0]).verified
    assert plan.select({"a": score}).size == np.count_nonzero(score >= plan.threshold)


def test_rows_of_an_experiment_go_to_no_campaign_but_its_own():
    response, treated, score = mailing(6, 500, effect=0.3)
    trial = from_experiment(response, treated, score, benefit=40, cost=2)
    campaign = rs.Campaign(population=9000, unit_cost=2, unit_benefit=40)
    for rows in (trial.in_money(), trial.priced()[0]):
        for refused in (
            lambda rows=rows: rs.plan_campaign(rows, campaign),
            lambda rows=rows: rs.choose(rows, campaign),
            lambda rows=rows: rs.profit(rows, campaign),
            lambda rows=rows: rs.allocate({"x": rows, "y": rows}, campaign, capacity=2000),
            lambda rows=rows: rs.plan_campaign(rows.counts(), campaign),
        ):
            with pytest.raises(InputError, match=r"trial\.plan\(campaign\)"):
                refused()
    assert trial.priced()[0].weight_kind == "priced"
    within = rs.choose(*trial.priced(), subject_to="cases <= 200")
    assert within.point.tp + within.point.fp <= 200


def test_a_campaign_that_does_not_pay_contacts_nobody_and_wrong_ones_say_why():
    response, treated, score = mailing(6, 500, effect=0.3)
    trial = from_experiment(response, treated, score)
    nobody = trial.plan(rs.Campaign(9000, 2, 40, fixed_cost=1e7))
    assert nobody.rule == "never" and "does not cover the fixed cost" in str(nobody.notes[0])
    assert trial.plan(rs.Campaign(9000, 2, 40, capacity=0)).rule == "never"
    with pytest.raises(rs.errors.OneClassError, match="contact nobody"):
        trial.plan(rs.Campaign(9000, 500, 40))
    with pytest.raises(InputError, match="the experiment contains the responses"):
        trial.plan(rs.Campaign(9000, 2, 40, response_rate=0.1))
    with pytest.raises(InputError, match="pass the amounts as the response"):
        trial.plan(rs.Campaign(9000, 2, "amount"))
    with pytest.raises(InputError, match="expected a Campaign"):
        trial.plan(rs.Context())


@pytest.mark.parametrize("kind", ["qini", "uplift"])
def test_a_band_is_the_interval_of_the_uplift_times_the_contacts(kind):
    response, treated, score = mailing(8, 1000)
    trial = from_experiment(response, treated, {"a": score, "b": -score})
    curve = getattr(trial, kind)("a")
    band = curve.band()
    rows = score >= np.sort(score)[::-1][299]
    times = rows.sum() if kind == "uplift" else treated[rows].sum()
    place = int(np.flatnonzero(np.isclose(band.x, 0.3))[0])
    at = trial.uplift_at(0.3, "a")
    assert (band.low[place], band.high[place]) == pytest.approx((times * at.low, times * at.high))
    assert at.value * times == pytest.approx(curve.at(0.3))
    axes = curve.plot(Figure().subplots())
    getattr(trial, kind)("b").plot(axes)
    curves = [line for line in axes.lines if line.get_gid() == "uplift"]
    assert len({line.get_color() for line in curves}) == 2
    assert [line.get_label() for line in axes.lines].count("at random") == 1 and len(axes.collections) == 2
    assert not curve.plot(Figure().subplots(), level=None).collections


def test_deciles_of_plain_rows_have_newcombe_s_interval():
    """In the first half, 5 of 10 treated rows and none of 10 controls respond."""
    response, treated = [1, 0, 0, 0] * 5 + [0] * 20, [1, 1, 0, 0] * 10
    trial = from_experiment(response, treated, range(40, 0, -1))
    first, second = (part.uplift for part in trial.by_decile(parts=2).parts)
    z = 1.959963984540054
    share, reach = (0.5 + z**2 / 20) / (1 + z**2 / 10), z * (0.025 + z**2 / 400) ** 0.5 / (1 + z**2 / 10)
    most_of_none = z**2 / (10 + z**2)
    low = 0.5 - ((0.5 - (share - reach)) ** 2 + most_of_none**2) ** 0.5
    assert (first.low, first.high) == pytest.approx((low, share + reach))
    assert first == trial.uplift_at(0.5)
    assert (second.low, second.high) == pytest.approx((-most_of_none, most_of_none))


def test_parts_are_drawn_with_their_intervals():
    response, treated, score = mailing(9, 1000)
    table = from_experiment(response, treated, score).by_decile(parts=5)
    axes = table.plot(Figure().subplots())
    assert [bar.get_height() for bar in axes.patches] == [part.uplift.value for part in table.parts]
    drawn = [tuple(lines.get_segments()[0][:, 1]) for lines in axes.collections]
    assert drawn == [(part.uplift.low, part.uplift.high) for part in table.parts]


def parted(design, seed, n, effect=0.15):
    """Return the columns of an experiment with different shares, in clusters of shared treatment, or weighted."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    x = np.clip(0.7 * rng.random(n) + 0.3 * kind * rng.random(n), 0, 1)
    share = np.where(kind, 0.7, 0.2)
    base = np.where(kind, 0.5, 0.15)
    treated = rng.random(n) < share
    options = {"strata": {"strata": kind}, "share": {"share": share}}.get(design, {})
    if design == "clusters":
        options = {"groups": rng.integers(0, 60, n)}
        treated = (rng.permutation(60) < 30)[options["groups"]]
        base = 0.1 + 0.25 / (1 + np.exp(-1.2 * rng.normal(size=60)))[options["groups"]]
    response = rng.random(n) < base + effect * treated * x
    if design == "sampling":  # those of the second kind were drawn half as often as the others
        kept = (kind == 0) | (rng.random(n) < 0.5)
        options = {"strata": kind[kept], "sample_weight": np.where(kind, 2.0, 1.0)[kept], "weights": "sampling"}
        x, treated, response = x[kept], treated[kept], response[kept]
    return (response.astype(int), treated.astype(int), x), options


@pytest.mark.slow
@pytest.mark.parametrize("design", ["strata", "share", "clusters", "sampling"])
def test_intervals_of_parts_cover(design):
    """93 to 98% of the intervals of fifths, and of the best .3, in 500 experiments of 6,000 rows."""
    rng, m = np.random.default_rng(10**6), 1_000_000
    kind = rng.integers(0, 2, m)
    x = np.sort(np.clip(0.7 * rng.random(m) + 0.3 * kind * rng.random(m), 0, 1))[::-1]
    truth, top, held, held_top = 0.15 * x.reshape(5, -1).mean(axis=1), 0.15 * x[: 3 * m // 10].mean(), 0, 0
    for seed in range(500):
        columns, options = parted(design, seed, 6000)
        trial = from_experiment(*columns, **options)
        held += np.array([t in part.uplift for t, part in zip(truth, trial.by_decile(parts=5).parts, strict=True)])
        held_top += top in trial.uplift_at(0.3)
    assert 0.93 <= held.mean() / 500 <= 0.98 and held.min() / 500 >= 0.92
    assert 0.93 <= held_top / 500 <= 0.98
