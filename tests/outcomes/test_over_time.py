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


def concordance_by_hand(time, event, score, horizon):
    def uncensored(until):
        g = Fraction(1)
        for u in sorted({t for t, e in zip(time, event, strict=True) if e == 0 and t < until}):
            ended = sum(t == u and e == 0 for t, e in zip(time, event, strict=True))
            g *= 1 - Fraction(ended, ended + sum(t > u for t in time))
        return g

    right = total = Fraction(0)
    for ti, ei, si in zip(time, event, score, strict=True):
        if ei != 1 or ti > horizon:
            continue
        for tj, ej, sj in zip(time, event, score, strict=True):
            free_for_longer = tj > ti or (tj == ti and ej == 0)  # events come before censorings
            weight = 1 / uncensored(ti) ** 2 if free_for_longer else 0
            if not free_for_longer and ej == 2:
                weight = 1 / (uncensored(ti) * uncensored(tj))
            total += weight
            right += weight * ((si > sj) + Fraction(si == sj, 2))
    return right / total


@pytest.mark.parametrize("seed", range(15))
def test_concordance_with_ties_and_competing_risks_equals_all_pairs_in_fractions(seed):
    rng = np.random.default_rng(seed)
    time, event, score = rng.integers(1, 9, 25), rng.integers(0, 3, 25), rng.integers(0, 6, 25)
    time[0], event[1], time[1] = 9, 1, 2
    expected = concordance_by_hand(time.tolist(), event.tolist(), score.tolist(), 6)
    assert concordance(time, event, score, 6).estimates["score"].value == pytest.approx(float(expected), rel=1e-13)


def test_a_row_censored_at_the_time_of_an_event_is_free_of_it():
    """The event at 1 is ranked right with all three others, that at 2 wrong with the last."""
    found = concordance([1, 1, 2, 3], [1, 0, 1, 0], [0.9, 0.4, 0.5, 0.6], 2.5).estimates["score"].value
    # One of three rows that outlive 1 was censored there: the pair of the event at 2 counts (3/2)² = 2.25.
    assert found == pytest.approx(3 / (3 + 2.25))


def test_a_pair_is_needed_and_codes_of_events_are_said():
    with pytest.raises(InputError, match="expected a pair of an event and a row that is free of it for longer"):
        concordance([1, 1], [1, 1], [0.9, 0.4], 2)
    for codes in ([2, 1, 2], ["alive", "dead", "alive"]):
        with pytest.raises(InputError, match=r"event_codes=\[1, 2\] for 1 censored and 2 the event"):
            at_horizon([1, 2, 3], codes, [0.9, 0.4, 0.1], 2)
    plain = at_horizon([1, 2, 3], [0, 1, 0], [0.9, 0.4, 0.1], 2)
    for codes, event in (([1, 2], [1, 2, 1]), (["alive", "dead"], ["alive", "dead", "alive"])):
        coded = at_horizon([1, 2, 3], event, [0.9, 0.4, 0.1], 2, event_codes=codes)
        assert (coded.y_true == plain.y_true).all() and (coded.sample_weight == plain.sample_weight).all()


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
    with pytest.raises(InputError, match="events by then"):
        concordance([1, 2, 3], [0, 0, 1], [3, 2, 1], 2)
