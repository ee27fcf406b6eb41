"""Rows at a horizon: against R, brute force in fractions, derivatives of the weights, and data without censoring."""

import json
from contextlib import nullcontext
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

import rocscope as rs
from outcome_cases import cohort
from rocscope.errors import InputError, RocscopeWarning
from rocscope.inference import statistics
from rocscope.inference.expected_costs import compare_costs
from rocscope.inference.influence_estimates import values_of_rows
from rocscope.kernels import SMALL
from rocscope.outcomes import at_horizon, censoring, concordance

REFERENCE = json.loads((Path(__file__).parent.parent / "reference" / "risk_regression.json").read_text())


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: str(case["seed"]))
@pytest.mark.parametrize("figure", ["auc", "brier"])
def test_figures_of_risk_regression(case, figure):
    time, event, scores = cohort(case["seed"], case["n"], case["competing"], case["ties"])
    preds = at_horizon(time, event, scores, case["horizon"])
    options = {"method": "delong"} if figure == "auc" else {"statistic": statistics.brier()}
    found = rs.compare(preds, **options)
    a, b, (difference, error, p_value) = case[figure]
    rel = {"auc": 1e-3, "brier": 2e-2 if case["ties"] else 1e-3}[figure]
    for name, (value, its_error) in zip("ab", (a, b), strict=True):
        assert found.estimates[name].value == pytest.approx(value, abs=1e-10)
        assert found.estimates[name].standard_error == pytest.approx(its_error, rel=rel)
    estimate = found["a", "b"].difference
    assert estimate.value == pytest.approx(difference, abs=1e-10)
    assert estimate.standard_error == pytest.approx(error, rel=rel)
    z = abs(estimate.value) / estimate.standard_error
    assert 2 * special.ndtr(-z) == pytest.approx(p_value, rel=3e-2 if case["ties"] else 2e-3)


def by_hand(time, event, score, horizon, weight, competing):
    """Return AUC and Brier score in fractions, from the definitions alone."""

    def uncensored(until, before):
        g = Fraction(1)
        for u in sorted(set(time)):
            if u > until or (before and u == until):
                break
            ended = sum(v for t, e, v in zip(time, event, weight, strict=True) if t == u and e == 0)
            at_risk = ended + sum(v for t, v in zip(time, weight, strict=True) if t > u)
            g *= 1 - Fraction(ended, at_risk) if at_risk else 1
        return g

    cases, controls = [], []
    for t, e, s, v in zip(time, event, score, weight, strict=True):
        if t > horizon:
            controls.append((s, v / uncensored(horizon, before=False)))
        elif e == 1:
            cases.append((s, v / uncensored(t, before=True)))
        elif e == 2 and competing == "negative":
            controls.append((s, v / uncensored(t, before=True)))
    right = sum(w * v * ((s > c) + Fraction(s == c, 2)) for s, w in cases for c, v in controls)
    total = sum(w for _, w in cases) * sum(v for _, v in controls)
    loss = sum(w * (1 - s) ** 2 for s, w in cases) + sum(v * c**2 for c, v in controls)
    return right / total, loss / (sum(w for _, w in cases) + sum(v for _, v in controls))


@pytest.mark.parametrize("competing", ["negative", "exclude"])
@pytest.mark.parametrize("seed", range(12))
def test_small_samples_with_ties_equal_the_definition_in_fractions(seed, competing):
    rng = np.random.default_rng(seed)
    n = 14
    time, event = rng.integers(1, 7, n), rng.integers(0, 3, n)
    time[0], event[1:3], time[1:3] = 7, [1, 2], 2
    score = [Fraction(int(k), 8) for k in rng.integers(1, 8, n)]
    weight = [int(w) for w in rng.integers(1, 4, n)]
    auc, brier = by_hand(time.tolist(), event.tolist(), score, 4, weight, competing)
    preds = at_horizon(time, event, [float(s) for s in score], 4, competing=competing, sample_weight=weight)
    assert rs.auc(preds) == pytest.approx(float(auc), rel=1e-13)
    assert rs.calibration.brier(preds) == pytest.approx(float(brier), rel=1e-13)


@pytest.mark.every(4)
@pytest.mark.parametrize("design", ["plain", "ties", "strata", "weights", "exclude", "cut", "clusters"])
def test_standard_errors_are_those_of_the_derivative_by_the_weight_of_each_row(design):
    """Each row's weight is changed a little and all weights are estimated anew: no formula for the correction."""
    n, step = 60, 1e-5
    time, event, scores = cohort(5, n, competing=True, ties=design == "ties")
    rng = np.random.default_rng(1)
    base = rng.uniform(0.5, 2, n) if design == "weights" else np.ones(n)
    options = {"strata": rng.integers(0, 2, n)} if design == "strata" else {}
    options |= {"competing": "exclude"} if design == "exclude" else {}
    options |= {"max_weight": 1.3} if design == "cut" else {}
    groups = rng.integers(0, 25, n) if design == "clusters" else np.arange(n)
    known = {} if design in ("plain", "ties") else {"sample_weight": base * 1.25}  # no whole numbers

    def values(weight):
        preds = at_horizon(time, event, scores["a"], 0.7, sample_weight=weight, **options)
        return np.array([rs.auc(preds), rs.calibration.brier(preds), statistics.at(0.5, "precision")(preds.counts())])

    expected = np.zeros(3)
    with pytest.warns(RocscopeWarning) if design == "cut" else nullcontext():
        moves = np.empty((n, 3))
        for row in range(n):
            change = 1.25 * base * (1 + step * (np.arange(n) == row))
            back = 1.25 * base * (1 - step * (np.arange(n) == row))
            moves[row] = (values(change) - values(back)) / (2 * step)
        sums = np.array([moves[groups == group].sum(axis=0) for group in np.unique(groups)])
        expected = np.sqrt((sums**2).sum(axis=0) * len(sums) / (len(sums) - 1))
        grouped = {"groups": groups} if design == "clusters" else {}
        preds = at_horizon(time, event, scores["a"], 0.7, **options, **known, **grouped)
    of = (statistics.area(), statistics.brier(), statistics.at(0.5, "precision"))
    samples = [values_of_rows(preds, statistic, groups=None, folds=None) for statistic in of]
    found = [np.sqrt(sample.covariance[0, 0]) for sample in samples]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    if design != "clusters":
        assert rs.auc_interval(preds, method="delong").standard_error == pytest.approx(expected[0], rel=1e-4)


def test_without_censoring_figures_are_the_ordinary_ones_to_the_last_bit():
    time, event, scores = cohort(3, 200, competing=True)
    event[event == 0] = 1
    preds = at_horizon(time, event, scores, 0.7, event_codes=[0, 1, 2])
    plain = rs.Predictions((time <= 0.7) & (event == 1), scores)
    assert preds.sample_weight is None and preds.weighting is None
    assert repr(rs.compare(preds)) == repr(rs.compare(plain))
    assert rs.auc_interval(preds, model="a") == rs.auc_interval(plain, model="a")
    left_out = at_horizon(time, event, scores, 0.7, event_codes=[0, 1, 2], competing="exclude")
    kept = (event == 1) | (time > 0.7)
    found, expected = (rs.auc_interval(each, model="a") for each in (left_out, plain.select(kept)))
    assert (found.value, found.low, found.high, found.n) == (expected.value, expected.low, expected.high, expected.n)


def test_numbers_of_rows_as_weights_are_repeated_rows():
    time, event, scores = cohort(8, 80, competing=True, ties=True)
    times = np.random.default_rng(2).integers(1, 4, 80)
    weighted = at_horizon(time, event, scores, 0.7, sample_weight=times, weights="frequency")
    repeated = at_horizon(*(np.repeat(each, times) for each in (time, event)), np.repeat(scores["a"], times), 0.7)
    for statistic in (statistics.area(), statistics.brier()):
        one = rs.inference.estimate_of(weighted, statistic, model="a")
        other = rs.inference.estimate_of(repeated, statistic)
        assert (one.value, one.standard_error) == pytest.approx((other.value, other.standard_error), rel=1e-12)


def test_weights_add_up_to_the_rows():
    time, event, scores = cohort(4, 150, competing=True, ties=True)
    for preds in at_horizon(time, event, scores, [0.3, 0.6, 0.9]).values():
        assert preds.n == pytest.approx(150, rel=1e-14)


def test_several_horizons_are_those_one_by_one():
    time, event, scores = cohort(4, 150, competing=True)
    both = {"a": np.column_stack([scores["a"], scores["a"] ** 0.5])}
    found = at_horizon(time, event, both, [0.3, 0.6])
    for place, (horizon, preds) in enumerate(found.items()):
        alone = at_horizon(time, event, both["a"][:, place], horizon)
        np.testing.assert_array_equal(preds.sample_weight, alone.sample_weight)
        assert rs.auc_interval(preds).high == pytest.approx(rs.auc_interval(alone).high, rel=1e-12)


def test_the_bootstrap_estimates_weights_anew():
    time, event, scores = cohort(6, 400, censoring=0.8)
    preds = at_horizon(time, event, scores["a"], 0.8)
    options = {"replicates": 800, "random_state": 1}
    exact = rs.inference.estimate_of(preds, statistics.excess_events()).standard_error
    drawn = rs.bootstrap(preds, statistics.excess_events(), **options).standard_error
    known = rs.Predictions(preds.y_true, preds.scores, sample_weight=preds.sample_weight)
    fixed = rs.bootstrap(known, statistics.excess_events(), **options).standard_error
    assert drawn == pytest.approx(exact, rel=0.07)
    assert abs(fixed / exact - 1) > abs(drawn / exact - 1)


def test_a_segment_and_rows_in_money_keep_what_estimation_does():
    time, event, scores = cohort(9, 300, censoring=1.0)
    place = np.where(np.arange(300) % 3 == 0, "north", "south")
    preds = at_horizon(time, event, scores, 0.8, segment=place, strata=place)
    inside = place == "north"
    alone = at_horizon(time[inside], event[inside], {k: s[inside] for k, s in scores.items()}, 0.8)
    of = statistics.brier()
    segment = rs.inference.estimate_of(preds.by_segment()["north"], of, model="a")
    expected = rs.inference.estimate_of(alone, of, model="a")
    assert segment.value == pytest.approx(expected.value, rel=1e-12)
    few = sqrt(300 / 299 * 99 / 100)  # the factor n/(n − 1) of all rows, not of the segment's
    assert segment.standard_error == pytest.approx(expected.standard_error * few, rel=1e-12)
    context = rs.Context(cost_fn=4)
    cost = compare_costs(preds, context, thresholds=0.4).estimates["a"]
    smooth = rs.inference.estimate_of(preds, statistics.cost_at(0.4, context), model="a")
    assert (cost.value, cost.standard_error) == pytest.approx((smooth.value, smooth.standard_error), rel=1e-6)


def test_one_event_has_an_interval_that_says_that_it_is_one():
    preds = at_horizon([0.5, 0.6, 1, 2, 3, 4], [0, 1, 0, 0, 0, 1], [1, 3.5, 2, 5, 3, 4], 2.5)
    found = rs.auc_interval(preds)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert "fewer than 5 rows of a class" in found.reason


def test_what_is_wrong_is_said():
    time, event, score = [1.0, 2, 3, 4], [1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(InputError, match=r"below 4.*use horizon=3 or less"):
        at_horizon(time, event, score, 5)
    with pytest.raises(InputError, match="competing events"):
        at_horizon(time, [1, 0, -1, 0], score, 2)
    with pytest.raises(InputError, match="times of at least 0"):
        at_horizon([-1, 2, 3, 4], event, score, 2)
    with pytest.raises(InputError, match=r"below 3.*use horizon=1 or less"):
        at_horizon([1, 3, 5, 6], [1, 0, 1, 0], score, 9, strata=[0, 0, 1, 1])
    with pytest.raises(InputError, match="2 columns, one per horizon"):
        at_horizon(time, event, np.ones((4, 3)), [1, 2])
    with pytest.raises(InputError, match="increasing times above 0"):
        at_horizon(time, event, score, [2, 1])
    with pytest.warns(RocscopeWarning, match="were reduced"):
        cut = at_horizon(time, event, score, 3, max_weight=1.2)
    assert (
        cut.sample_weight.max() == 1.2 and "reduced to 1.2" in rs.inference.estimate_of(cut, statistics.area()).method
    )


EVENTS = np.array([1, 0, 2, 1, 0, 1, 0, 0])


@pytest.mark.parametrize(
    ("event", "codes"),
    [
        (EVENTS, [0, 1, 2]),
        (EVENTS + 1, [1, 2, 3]),
        (EVENTS + 1.0, [1, 2, 3]),
        (np.array(["alive", "dead", "other"])[EVENTS], ["alive", "dead", "other"]),
        (pd.Categorical(np.array(["alive", "dead", "other"])[EVENTS]), ["alive", "dead", "other"]),
    ],
    ids=["0 1 2", "1 2 3", "floats", "texts", "categorical"],
)
def test_coded_events_are_the_decoded_ones(event, codes):
    time, score = np.arange(1.0, 9), np.arange(8.0)[::-1]
    coded = at_horizon(time, event, score, 7, event_codes=codes)
    plain = at_horizon(time, EVENTS, score, 7)
    np.testing.assert_array_equal(coded.y_true, plain.y_true)
    np.testing.assert_array_equal(coded.sample_weight, plain.sample_weight)
    of_plain = concordance(time, EVENTS, score, 7).estimates["score"]
    assert concordance(time, event, score, 7, event_codes=codes).estimates["score"] == of_plain


@pytest.mark.parametrize("codes", [None, [False, True]])
def test_booleans_say_whether_the_event_happened(codes):
    time, score = np.arange(1.0, 9), np.arange(8.0)[::-1]
    found = at_horizon(time, EVENTS == 1, score, 7, event_codes=codes)
    expected = at_horizon(time, (EVENTS == 1).astype(int), score, 7)
    np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)


def test_events_without_a_meaning_ask_for_their_codes():
    """R codes 1 for censored and 2 for the event, which would be the event and a competing one: AUC .334 for .647."""
    time, score = np.arange(1.0, 9), np.arange(8.0)[::-1]
    for event in ((EVENTS == 1) + 1, (EVENTS == 1) * 2, np.zeros(8, int), np.where(EVENTS == 1, "dead", "alive")):
        for function in (at_horizon, concordance):
            with pytest.raises(InputError, match=r"event: expected .*0.*event_codes=\[1, 2\]"):
                function(time, event, score, 7)
    with pytest.raises(InputError, match="only the event_codes 0, 1, got other values: 2"):
        at_horizon(time, EVENTS, score, 7, event_codes=[0, 1])
    for codes in ([1], [1, 1]):
        with pytest.raises(InputError, match="two or more different values"):
            at_horizon(time, EVENTS, score, 7, event_codes=codes)


def test_records_and_time_differences_name_the_fix():
    y = np.array([(True, 1.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])
    for given in ((y, y["event"]), (y["time"], y)):
        with pytest.raises(InputError, match=r"pass one column: y\['event'\], y\['time'\]"):
            at_horizon(*given, [0.2, 0.1], 1)
    assert at_horizon(y["time"], y["event"], [0.2, 0.1], 1).prevalence == 0.5
    days = np.array([1, 2], "timedelta64[D]")
    with pytest.raises(InputError, match=r"time / numpy\.timedelta64\(1, 'D'\)"):
        at_horizon(days, y["event"], [0.2, 0.1], 1)
    assert at_horizon(days / np.timedelta64(1, "D"), y["event"], [0.2, 0.1], 1).prevalence == 0.5


def test_a_horizon_at_the_end_is_usable_where_the_last_rows_have_the_event():
    """With the rows censored at 2 and the events at 1 and 3 all rows are positive: (1 + 2)/(1 + 2) rows in weight."""
    preds = at_horizon([1, 2, 3], [1, 0, 1], [0.9, 0.5, 0.2], 3)
    assert preds.sample_weight.tolist() == [1, 0, 2] and preds.prevalence == 1


def test_folds_are_kept():
    time, event, scores = cohort(5, 90)
    fold = np.arange(90) % 3
    preds = at_horizon(time, event, scores["a"], 0.6, fold=fold)
    np.testing.assert_array_equal(preds.fold, fold)
    for name, part in preds.by_fold().items():
        inside = fold == int(name)
        plain = rs.Predictions(preds.y_true[inside], scores["a"][inside], sample_weight=preds.sample_weight[inside])
        assert rs.auc(part) == rs.auc(plain)


def test_calibration_allows_for_the_estimation():
    time, event, scores = cohort(12, 500, competing=True)
    preds = at_horizon(time, event, scores["a"], 0.6)
    grouped = rs.Predictions(
        preds.y_true, preds.scores, sample_weight=preds.sample_weight, weighting=preds.weighting, groups=range(500)
    )
    ratio = rs.calibration.calibration_report(preds).estimates["observed_over_expected"]
    brier = rs.calibration.calibration_report(preds).estimates["brier"]
    smooth = {name: getattr(statistics, name)() for name in ("observed_to_expected", "brier")}
    expected = {name: rs.inference.estimate_of(preds, each) for name, each in smooth.items()}
    assert ratio.standard_error == pytest.approx(expected["observed_to_expected"].standard_error, rel=2e-3)
    assert brier.standard_error == pytest.approx(expected["brier"].standard_error, rel=2e-3)
    assert rs.calibration.calibration_report(grouped).estimates["brier"].standard_error == pytest.approx(
        brier.standard_error
    )
    known = rs.Predictions(preds.y_true, preds.scores, sample_weight=preds.sample_weight)
    ignored = rs.calibration.calibration_report(known).estimates["observed_over_expected"].standard_error
    assert abs(ignored / ratio.standard_error - 1) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("competing", [False, True])
@pytest.mark.parametrize(("n", "censoring"), [(60, 2.0), (200, 0.5), (400, 2.0)])
def test_intervals_of_the_area_cover(n, censoring, competing):
    """93% or more of those that are reliable, with 8 to 150 events and 20 to 60% censored."""
    time, event, scores = cohort(0, 400_000, competing, censoring=1e9)
    truth, held, reliable = rs.auc((time <= 0.5) & (event == 1), scores["a"]), 0, 0
    for seed in range(1, 1001):
        preds = at_horizon(*cohort(seed, n, competing, censoring=censoring), 0.5)
        found = rs.auc_interval(preds, model="a")
        reliable += found.reliable
        held += found.reliable and truth in found
    assert reliable > 500 and held / reliable >= 0.93


@pytest.mark.parametrize("spread", ["even", "crowded", "whole numbers", "one number", "huge"])
def test_places_of_many_times_are_those_of_numpy(spread):
    rng = np.random.default_rng(1)
    values = {
        "even": rng.random(SMALL),
        "crowded": rng.random(SMALL) ** 40,
        "whole numbers": rng.integers(0, 50, SMALL).astype(float),
        "one number": np.full(SMALL, 3.0),
        "huge": np.append(rng.random(SMALL) * 1e308, [0, 5e-324]),
    }[spread]
    among = np.unique(rng.choice(values, SMALL // 3))
    np.testing.assert_array_equal(censoring._count_below(among, values), np.searchsorted(among, values))
