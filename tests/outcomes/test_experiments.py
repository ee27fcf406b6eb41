"""Experiments: against scikit-uplift, what rows in money add up to, leaving rows out, and a null effect."""

import json
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


def test_amounts_have_curves_and_no_perfect_ranking():
    response, treated, score = mailing(9, 500)
    curve = from_experiment(response * 7.5, treated, score).qini()
    assert curve.area.value == pytest.approx(7.5 * from_experiment(response, treated, score).qini().area.value)
    assert np.isnan(curve.coefficient.value) and "perfect" in curve.coefficient.reason
    assert curve.at(1) == pytest.approx(curve.gained[-1])
    axes = curve.plot(Figure().subplots())
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.gained)


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="name the arm"):
        from_experiment([1, 0], ["a", "b"], [1, 2])
    with pytest.raises(InputError, match="treated and controls in each"):
        from_experiment([1, 0, 1], [1, 0, 1], [1, 2, 3], strata=[0, 0, 1])
    with pytest.raises(InputError, match="between 0 and 1"):
        from_experiment([1, 0, 1], [1, 0, 1], [1, 2, 3], share=1.0)
    with pytest.raises(InputError, match="one of the arms"):
        from_experiment([1, 0, 1], ["a", "b", "a"], [1, 2, 3], control="c")


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_intervals_of_the_qini_area_cover(share, effect):
    """93 to 98 % of 400 experiments of 2,000 rows, of the area in 200 times as many rows."""
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
    assert "rows make up the variance" in found.reason
    none = from_experiment(response * ~treated, treated, {"a": score, "b": -score}, share=0.05, benefit=100)
    found = compare_costs(*none.priced(), thresholds=0.5).estimates["a"]
    assert found.reason == "only 0 responses in an arm, fewer than 10"
    assert "only 4 responses in an arm" in rs.choose(*experiment.priced()).interval().reason
    often = from_experiment(np.tile(response, 50), np.tile(treated, 50), np.tile(score, 50), share=0.05)
    assert often.qini().area.reliable
