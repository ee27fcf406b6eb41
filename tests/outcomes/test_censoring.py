"""Censoring that depends on covariates: against R, derivatives, repeated rows, and by simulation."""

import numpy as np
import pytest

import rocscope as rs
from outcome_cases import cohort
from rocscope.errors import InputError
from rocscope.inference import estimate_of, statistics
from rocscope.outcomes import at_horizon, concordance, over_time

# R 4.2.2, survival 3.5-3 and riskRegression 2022.11.28, of the rows of `table_of_r`. Follow-up was cut at the horizon
# first, as only censorings by then are used: d$ev[time > 4.05] <- 1; d$time <- pmin(time, 5.05). Then
# coxph(Surv(time, ev == 0) ~ x1 + x2, d, ties = "breslow"), weights exp(basehaz * exp(beta x)), and
# Score(list(score), Surv(time, ev) ~ x1 + x2, d, times = 4.05, cens.model = "cox", conservative = FALSE).
SUM_OF_WEIGHTS = 60.819405284805008
AUC, ERROR_OF_AUC, BRIER_BY_N = 0.48640520951992526, 0.092424670943799747, 0.33367323041531288


def table_of_r():
    i = np.arange(60)
    covariates = {"x1": (i * 13) % 17 / 17, "x2": (i * 7) % 5 < 2}
    time, event = 1 + (i * 37) % 61 / 10 + 0.001 * i, ((i * 11) % 10 < 5).astype(int)
    return time, event, ((i * 29) % 31 + 1) / 33, covariates


def test_figures_of_r():
    time, event, score, covariates = table_of_r()
    preds = at_horizon(time, event, score, 4.05, censoring=covariates)
    total = preds.sample_weight.sum()
    assert total == pytest.approx(SUM_OF_WEIGHTS, rel=1e-9)
    found = rs.auc_interval(preds, method="delong")
    assert found.value == pytest.approx(AUC, rel=1e-9)
    assert found.standard_error == pytest.approx(ERROR_OF_AUC, rel=1e-9)
    assert "weighted for censoring by Cox's model" in found.method
    # riskRegression divides by n, and rocscope by the sum of the weights.
    assert rs.calibration.brier(preds) * total / 60 == pytest.approx(BRIER_BY_N, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"competing": "exclude"}, {"max_weight": 1.6}], ids=str)
def test_standard_errors_are_those_of_the_derivative_by_the_weight_of_each_row(options, recwarn):
    n, step = 40, 1e-5
    time, event, scores = cohort(5, n, competing=True, ties=True)
    rng = np.random.default_rng(1)
    options = options | {"censoring": {"u": rng.normal(size=n), "v": rng.integers(0, 2, n)}}

    def values(weight):
        preds = at_horizon(time, event, scores["a"], 0.7, sample_weight=weight, **options)
        return np.array([rs.auc(preds), rs.calibration.brier(preds)])

    moves = np.empty((n, 2))
    for row in range(n):
        up, down = (1.25 * (1 + side * step * (np.arange(n) == row)) for side in (1, -1))
        moves[row] = (values(up) - values(down)) / (2 * step)
    expected = np.sqrt((moves**2).sum(axis=0) * n / (n - 1))
    preds = at_horizon(time, event, scores["a"], 0.7, **options)
    estimates = rs.auc_interval(preds, method="delong"), estimate_of(preds, statistics.brier())
    found = [estimate.standard_error for estimate in estimates]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_rows_that_are_drawn_several_times_are_repeated_rows():
    time, event, scores = cohort(8, 80, ties=True)
    x, times = np.random.default_rng(3).normal(size=80), np.random.default_rng(2).integers(1, 4, 80)
    preds = at_horizon(time, event, scores["a"], 0.7, censoring={"x": x})
    repeated = (np.repeat(column, times) for column in (time, event, scores["a"]))
    expected = at_horizon(*repeated, 0.7, censoring={"x": np.repeat(x, times)}).sample_weight
    found = np.repeat(preds.weighting.estimate(times.astype(float)), times)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_horizons_one_by_one_and_frames_give_the_same_weights():
    pd = pytest.importorskip("pandas")
    time, event, scores = cohort(4, 150, competing=True)
    x = pd.DataFrame({"x": np.random.default_rng(3).normal(size=150)})
    for horizon, preds in at_horizon(time, event, scores, [0.3, 0.6], censoring=x).items():
        alone = at_horizon(time, event, scores, horizon, censoring={"x": 10 * x["x"] + 3})
        np.testing.assert_allclose(preds.sample_weight, alone.sample_weight, rtol=1e-9)


def test_given_probabilities_are_inverted_where_the_outcome_is_known():
    time, event, score = [1, 2, 3, 4, 5], [1, 0, 1, 2, 0], [0.9, 0.5, 0.6, 0.3, 0.2]
    preds = at_horizon(time, event, score, 4, censoring=[1, 0.1, 0.5, 0.8, 0.4])
    assert preds.sample_weight.tolist() == [1, 0, 2, 1.25, 2.5] and preds.weight_kind == "estimated"
    # Horvitz and Thompson's weights are known: the variance is that of the plain sums.
    other = rs.Predictions(preds.y_true, score, sample_weight=preds.sample_weight, weights="sampling")
    assert rs.calibration.brier(preds) == rs.calibration.brier(other)
    both = at_horizon(time, event, score, [3, 4], censoring=np.column_stack([np.full(5, 0.5), np.full(5, 0.25)]))
    assert [part.sample_weight[0] for part in both.values()] == [2, 4]


def test_what_is_wrong_is_said():
    time, event, score = [1, 2, 3, 4], [1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1]
    for given, said in (
        ([0.5, 0.5, 0, 0.5], "named covariates or probabilities"),
        ({"x": [1, 1, 1, 1]}, "not constant or collinear"),
        ({"x": ["a", "b", "a", "b"]}, r"censoring\['x'\]: expected numbers.*columns of 0/1"),
        ({"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}, "not constant or collinear"),
    ):
        with pytest.raises(InputError, match=said):
            at_horizon(time, event, score, 3, censoring=given)
    with pytest.raises(InputError, match="either censoring or strata"):
        at_horizon(time, event, score, 3, censoring={"x": [1, 0, 0, 1]}, strata=[0, 1, 1, 1])
    for options in ({"censoring": {"x": [1, 0, 0, 1]}}, {"strata": [0, 1, 1, 0]}):
        with pytest.raises(InputError, match=r"call over_time for AUCs with these weights"):
            concordance(time, event, score, 3, **options)


def patients(rng, n, censored=True):
    """Return patients whose censoring depends on one of two predictors, the calibrated risk by time 1, and it."""
    x, z = rng.normal(size=(2, n))
    log_hazard = -0.6 + 0.7 * z + 0.7 * x
    time = rng.exponential(np.exp(-log_hazard))
    end = rng.exponential(1.6 * np.exp(-0.8 * z)) if censored else np.full(n, np.inf)
    return np.minimum(time, end), (time <= end).astype(int), 1 - np.exp(-np.exp(log_hazard)), {"z": z}


def coverage(runs, n=600):
    """Return the share of intervals that hold the truth, by model of censoring, and how often they are reliable."""
    rng = np.random.default_rng(0)
    time, _, risk, _ = patients(rng, 1_000_000, censored=False)
    happened = time <= 1
    truths = [rs.auc(happened, risk), np.mean((happened - risk) ** 2), 1.0]
    held, reliable = np.zeros((2, 3)), np.zeros((2, 3))
    for _ in range(runs):
        time, event, risk, covariates = patients(rng, n)
        for place, options in enumerate(({"censoring": covariates}, {})):
            preds = at_horizon(time, event, risk, 1, **options)
            of = (statistics.brier(), statistics.observed_to_expected())
            estimates = [rs.auc_interval(preds), *(estimate_of(preds, figure) for figure in of)]
            reliable[place] += [estimate.reliable for estimate in estimates]
            # Given reliable with the model; all without it, as none is reliable there.
            counted = [estimate.reliable or place == 1 for estimate in estimates]
            held[place] += [
                part and truth in estimate for part, truth, estimate in zip(counted, truths, estimates, strict=True)
            ]
    return held[0] / reliable[0], held[1] / runs, reliable / runs


@pytest.mark.filterwarnings("ignore:weights for censoring")
@pytest.mark.parametrize("runs", [40, pytest.param(600, marks=pytest.mark.slow)])
def test_intervals_cover_with_the_model_and_are_not_reliable_without_it(runs):
    with_model, without, reliable = coverage(runs)
    slack = 3 * np.sqrt(0.05 * 0.95 / runs) if runs < 600 else 0
    assert ((with_model >= 0.93 - slack) & (with_model <= 0.98 + slack)).all()
    assert without.min() < 0.85 and (reliable[0] > 0.85).all() and (reliable[1] < 0.05).all()


@pytest.mark.parametrize("design", ["plain", "few", "strata", "model", "weights", "two scores", "ties", "groups"])
@pytest.mark.parametrize("runs", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_test_of_dependence_holds_its_level(runs, design):
    rng = np.random.default_rng(11)
    n = 100 if design == "few" else 200
    rejected = 0
    for _ in range(runs):
        x = rng.normal(size=n)
        z = (x + rng.normal(size=n) > 0).astype(int) if design in ("strata", "model") else np.zeros(n)
        group = np.arange(n) % 40
        x = x + rng.normal(size=40)[group] if design == "groups" else x
        frailty = np.exp(0.7 * rng.normal(size=40))[group] if design == "groups" else 1
        event_time, end = rng.exponential(np.exp(-x)), rng.exponential(2 * frailty * np.exp(-z))
        time, event = np.minimum(event_time, end), (event_time <= end).astype(int)
        time = np.ceil(time * 8) / 8 if design == "ties" else time
        noisy = x + 0.5 * rng.normal(size=(2, n))
        scores = {"a": noisy[0]} | ({"b": noisy[1]} if design == "two scores" else {})
        options = {
            "strata": {"strata": z},
            "model": {"censoring": {"z": z}},
            "weights": {"sample_weight": rng.uniform(0.5, 3, n)},
            "groups": {"groups": group},
        }.get(design, {})
        rejected += at_horizon(time, event, scores, 0.7, **options).weighting.test.p_value < 0.05
    assert rejected / runs <= (0.07 if runs > 60 else 0.15)
    assert rejected / runs >= (0.03 if runs > 60 else 0)


def test_dependence_on_the_score_is_a_reason_of_every_interval():
    time, event, risk, covariates = patients(np.random.default_rng(1), 400)
    scores = {"a": risk, "b": 1 - (1 - risk) * np.linspace(0.2, 1, 400)}
    preds = at_horizon(time, event, scores, 1)
    found = [
        *rs.compare(preds).estimates.values(),
        rs.compare(preds)[0].difference,
        rs.compare(preds, statistic=statistics.brier())[0].difference,
        estimate_of(preds, statistics.brier(), model="a"),
        estimate_of(preds, statistics.at(0.5, "tpr"), model="a"),
        rs.calibration.calibration_report(preds, model="a", draws=0)["slope"],
        over_time(time, event, scores, [0.5, 1]).integrated.estimates["a"],
        concordance(time, event, scores, 1).estimates["a"],
        rs.bootstrap(preds.select(models=["a"]), lambda counts: counts.at(0.5).tpr, replicates=20),
    ]
    assert all("censoring depends on the score" in estimate.reason for estimate in found)
    rows = at_horizon(time, event, scores, 1, censoring=covariates)
    assert rs.auc_interval(rows, model="a").reliable
