"""Figures over horizons and Uno's concordance: against scikit-survival, brute force and derivatives."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from outcome_cases import cohort
from rocscope.errors import InputError
from rocscope.inference import statistics
from rocscope.outcomes import at_horizon, concordance, over_time

REFERENCE = json.loads((Path(__file__).parent.parent / "reference" / "scikit_survival.json").read_text())["cases"]


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: str(case["seed"]))
def test_figures_of_scikit_survival(case):
    time, event, scores = cohort(case["seed"], case["n"])
    time = time + 1e-7 * np.arange(time.size)  # no ties, in which it takes another side
    of_auc = over_time(time, event, scores, case["horizons"])
    of_brier = over_time(time, event, scores, case["horizons"], statistic=statistics.brier())
    assert [each.value for each in of_auc.of("a")] == pytest.approx(case["auc"], abs=1e-12)
    assert [each.value for each in of_brier.of("a")] == pytest.approx(case["brier"], abs=1e-12)
    assert of_brier.integrated.estimates["a"].value == pytest.approx(case["integrated_brier"], abs=1e-12)
    found = concordance(time, event, scores, 0.8)
    assert found.estimates["a"].value == pytest.approx(case["concordance"], abs=1e-12)


def test_each_horizon_and_pair_is_what_the_rows_at_the_horizon_say():
    time, event, scores = cohort(2, 200, competing=True)
    found = over_time(time, event, scores, [0.3, 0.7], statistic=statistics.net_benefit_at(0.3))
    alone = rs.compare(at_horizon(time, event, scores, 0.7), statistic=statistics.net_benefit_at(0.3))
    assert found.at[0.7]["a", "b"].p_value == pytest.approx(alone["a", "b"].p_value, rel=1e-12)
    frame = found.to_frame("polars")
    assert frame["value"].to_list()[1] == alone.estimates["a"].value and frame.height == 4


def derivative_errors(values, n):
    """Return standard errors from the change of values when the weight of each row changes."""
    step, moves = 1e-5, []
    for row in range(n):
        up, down = (1.25 * (1 + side * step * (np.arange(n) == row)) for side in (1, -1))
        moves.append((values(up) - values(down)) / (2 * step))
    return np.sqrt((np.array(moves) ** 2).sum(axis=0) * n / (n - 1))


@pytest.mark.every(2)
@pytest.mark.parametrize("competing", [False, True])
def test_standard_errors_are_those_of_the_derivative_by_the_weight_of_each_row(competing):
    n, times = 50, [0.3, 0.5, 0.8]
    time, event, scores = cohort(3, n, competing=competing, ties=competing)

    def values(weight):
        options = {"sample_weight": weight}
        mean = over_time(time, event, scores["a"], times, **options).integrated
        index = concordance(time, event, scores["a"], 0.8, **options)
        return np.array([each.estimates["score"].value for each in (mean, index)])

    expected = derivative_errors(values, n)
    found = [
        over_time(time, event, scores["a"], times).integrated.estimates["score"].standard_error,
        concordance(time, event, scores["a"], 0.8).estimates["score"].standard_error,
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def concordance_by_hand(time, event, score, horizon, competing="negative"):
    def uncensored(until):
        g = Fraction(1)
        for u in sorted({t for t, e in zip(time, event, strict=True) if e == 0 and t < until}):
            ended = sum(t == u and e == 0 for t, e in zip(time, event, strict=True))
            g *= 1 - Fraction(ended, ended + sum(t > u for t in time))
        return g

    # Events come before what else happens at a time, so that a row censored then is free of the event for longer.
    censored_kinds = {"negative": (0,), "exclude": (0, 2)}[competing]
    right = total = Fraction(0)
    for ti, ei, si in zip(time, event, score, strict=True):
        if ei != 1 or ti > horizon:
            continue
        for tj, ej, sj in zip(time, event, score, strict=True):
            if tj > ti or (tj == ti and ej in censored_kinds):
                weight = 1 / uncensored(ti) ** 2
            elif ej == 2 and competing == "negative":
                weight = 1 / (uncensored(ti) * uncensored(tj))
            else:
                continue
            total += weight
            right += weight * ((si > sj) + Fraction(si == sj, 2))
    return right / total


@pytest.mark.parametrize("competing", ["negative", "exclude"])
@pytest.mark.parametrize("seed", range(15))
def test_concordance_with_ties_and_competing_risks_equals_all_pairs_in_fractions(seed, competing):
    rng = np.random.default_rng(seed)
    time, event, score = rng.integers(1, 9, 25), rng.integers(0, 3, 25), rng.integers(0, 6, 25)
    time[0], event[1], time[1] = 9, 1, 2
    expected = concordance_by_hand(time.tolist(), event.tolist(), score.tolist(), 6, competing)
    found = concordance(time, event, score, 6, competing=competing).estimates["score"].value
    assert found == pytest.approx(float(expected), rel=1e-13)


def test_a_censoring_ranks_after_an_event_of_the_same_time():
    """The row censored at 1 has the highest score, so that its pair with the event at 1 is ranked wrong."""
    time, event, score = [1, 1, 2, 3, 4], [1, 0, 1, 0, 0], [4, 5, 3, 2, 1]
    # G(1−) = 1 and G(2−) = 3/4, so that the two pairs of the event at 2 count 16/9 each: (3 + 32/9)/(4 + 32/9).
    found = concordance(time, event, score, 4).estimates["score"].value
    assert found == pytest.approx(float(Fraction(59, 68)), rel=1e-14)
    # Of two events at 1 and six rows all pairs count once: with the row censored then 6 of 8, without it 5 of 6.
    found = concordance([1, 1, 1, 2, 3, 4], [1, 1, 0, 0, 0, 0], [6, 3, 5, 4, 2, 1], 3).estimates["score"].value
    assert found == 6 / 8


# R 4.2.2, survival 3.5-3:
# concordance(Surv(time, status) ~ score, timewt = "n/G2", reverse = TRUE, ymax = horizon), where
# i <- 0:199; time <- 1 + (i * 7) %% 5; status <- as.integer((i * 11) %% 10 < 4); score <- (i * 13) %% 17
OF_R = {2: 0.49979440069991254, 3: 0.49742105651468205, 5: 0.50575607085726282}


@pytest.mark.parametrize(("horizon", "expected"), OF_R.items())
def test_concordance_of_yearly_times_is_that_of_r(horizon, expected):
    i = np.arange(200)
    time, status, score = 1 + i * 7 % 5, (i * 11 % 10 < 4).astype(int), i * 13 % 17
    assert concordance(time, status, score, horizon).estimates["score"].value == pytest.approx(expected, rel=1e-13)


def test_without_censoring_concordance_is_harrells():
    rng = np.random.default_rng(4)
    time, score = rng.permutation(40), rng.normal(size=40)
    right = sum(score[i] > score[j] for i in range(40) for j in range(40) if time[i] < time[j])
    found = concordance(time, np.ones(40, int), score, 100)
    assert found.estimates["score"].value == pytest.approx(right / (40 * 39 / 2), rel=1e-14)


def test_a_figure_shows_each_model_with_its_intervals():
    time, event, scores = cohort(2, 200)
    found = over_time(time, event, scores, [0.3, 0.5, 0.8])
    axes = found.plot(Figure().subplots())
    first = axes.lines[0].get_xydata()
    np.testing.assert_allclose(first, np.column_stack([found.horizons, [each.value for each in found.of("a")]]))
    assert axes.get_ylabel() == "AUC" and len(axes.collections) == 2


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="two or more"):
        over_time([1, 2, 3], [1, 0, 1], [3, 2, 1], [1])
    with pytest.raises(InputError, match=r"one of rocscope\.inference\.statistics"):
        over_time([1, 2, 3], [1, 0, 1], [3, 2, 1], [1, 2], statistic="auc")
    with pytest.raises(InputError, match="a time by which events occur"):
        concordance([1, 2, 3], [0, 0, 1], [3, 2, 1], 2)
    with pytest.raises(InputError, match="horizon: expected an event and a row that is observed for longer"):
        concordance([1, 2, 3], [0, 0, 1], [3, 2, 1], 3)
    with pytest.raises(InputError, match=r"horizon 1: .* no positives"):
        over_time([2, 3, 4, 5], [1, 1, 0, 1], [3, 2, 1, 4], [1, 3])
    with pytest.raises(InputError, match=r"horizon 5: .* no negatives"):
        over_time([2, 3, 4, 5], [1, 1, 0, 1], [3, 2, 1, 4], [3, 5])


def test_concordance_goes_up_to_the_last_event():
    """Three pairs: 1 with 2 and 3, and 2 with 3, of which one is ranked wrong; the last event has nobody after it."""
    found = concordance([1, 2, 3], [1, 1, 1], [2, 3, 1], 3)
    assert found.estimates["score"].value == pytest.approx(2 / 3, rel=1e-15)


def test_numbers_of_the_migration_table():
    time, event, risk = [1, 2, 2, 3, 4, 5], [1, 1, 0, 1, 0, 0], [0.9, 0.6, 0.5, 0.7, 0.3, 0.2]
    assert statistics.net_benefit_at(0.5)(at_horizon(time, event, risk, 3.5).counts()) == pytest.approx(5 / 9)
    brier = over_time(time, event, risk, [2.5, 3.5, 4.5], statistic=statistics.brier())
    # riskRegression 2022.11.28, Score(…, metrics = "brier", summary = "ibs"): Brier scores, and .05407407407 at 4.5.
    of_r = [0.1661111111111, 0.0772222222222, 0.0661111111111]
    assert [estimate.value for estimate in brier.of("score")] == pytest.approx(of_r, rel=1e-11)
    assert brier.integrated.estimates["score"].value == pytest.approx((of_r[0] / 2 + of_r[1] + of_r[2] / 2) / 2)
    assert (of_r[0] + of_r[1]) / 4.5 == pytest.approx(0.05407407407)
    assert concordance(time, event, risk, 3).estimates["score"].value == pytest.approx(104 / 113)
    assert concordance(time, event, risk, 2.5).estimates["score"].value == pytest.approx(8 / 9)
