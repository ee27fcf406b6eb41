"""Recalibrators against scikit-learn, closed forms and slow definitions; what they keep, and their files."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit
from scipy.stats import beta as beta_law
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold

import rocscope as rs
from rocscope import kernels
from rocscope.calibration.recalibration import RECALIBRATORS
from rocscope.errors import InputError, OneClassError, ScoreError
from strategies import costly

METHODS = sorted(RECALIBRATORS)
STRICT = ("beta", "platt", "shift", "temperature")
samples = st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(1, 4)), min_size=2, max_size=40).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)


def columns(rows):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    return label.astype(int), score / 10, weight


def simulated(n=400, seed=0, power=2.0):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 1.5, n)
    return (rng.random(n) < score**power).astype(int), score


@pytest.mark.parametrize("weighted", [False, True])
def test_platt_equals_scikit_learn(weighted):
    label, score = simulated()
    score = 8 * score - 3
    weight = np.random.default_rng(1).uniform(0.5, 2, label.size) if weighted else None
    reference = _SigmoidCalibration().fit(score, label, sample_weight=weight)
    platt = rs.calibration.recalibrator("platt").fit(score, label, sample_weight=weight)
    assert platt.predict(score) == pytest.approx(reference.predict(score), abs=1e-5)


def test_platt_minimises_the_loss_of_its_smoothed_targets():
    label, score = simulated(100)
    target = np.where(label, (label.sum() + 1) / (label.sum() + 2), 1 / ((1 - label).sum() + 2))

    def loss(line):
        linear = line[0] + line[1] * score
        return np.sum(np.logaddexp(0, linear) - target * linear)

    best = minimize(loss, [0, 1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000}).x
    platt = rs.calibration.recalibrator("platt").fit(score, label)
    assert [platt.intercept_, platt.slope_] == pytest.approx(best.tolist(), abs=1e-5)


@given(samples)
@costly
def test_isotonic_equals_scikit_learn(rows):
    label, score, weight = columns(rows)
    reference = IsotonicRegression(out_of_bounds="clip").fit(score, label, sample_weight=weight)
    between = np.linspace(0, 1, 57)
    isotonic = rs.calibration.recalibrator("isotonic").fit(score, label, sample_weight=weight)
    assert isotonic.predict(between) == pytest.approx(reference.predict(between), abs=1e-12)


@pytest.mark.parametrize(("pos", "neg"), [((3.0, 2.0), (1.0, 4.0)), ((2.0, 1.0), (1.5, 2.5)), ((4.0, 4.0), (2.0, 6.0))])
def test_beta_finds_the_closed_form_of_its_paper(pos, neg):
    """Kull et al. 2017, §3: beta laws in each class give a = α1 − α0, b = β0 − β1, c = ln B(α0, β0)/B(α1, β1)."""
    score = np.linspace(0.005, 0.995, 199)
    densities = (beta_law.pdf(score, *law) for law in (pos, neg))
    counts = rs.ThresholdCounts(score[::-1], *(100 * density[::-1] for density in densities))
    fit = rs.calibration.recalibrator("beta").fit_counts(counts)
    assert fit.slopes_ == pytest.approx([pos[0] - neg[0], neg[1] - pos[1]], abs=1e-8)
    odds_by_class = counts.n_pos / counts.n_neg  # numbers on the grid, so the prior is known
    assert fit.intercept_ == pytest.approx(betaln(*neg) - betaln(*pos), abs=1e-8)
    assert odds_by_class == pytest.approx(1, abs=0.02)


def test_beta_never_bends_downwards():
    """Where the likeliest a is below 0 it is held at 0, and the likeliest b is found again."""
    score = np.linspace(0.01, 0.99, 99)
    chance = expit(-0.5 * np.log(score) - 1.5 * np.log(1 - score) - 1)
    counts = rs.ThresholdCounts(score[::-1], 50 * chance[::-1], 50 * (1 - chance)[::-1])
    fit = rs.calibration.recalibrator("beta").fit_counts(counts)
    assert fit.slopes_[0] == 0
    column, pos, total = -np.log(1 - score), 50 * chance, np.full(99, 50.0)

    def loss(line):
        linear = line[0] + line[1] * column
        return np.sum(total * np.logaddexp(0, linear) - pos * linear)

    best = minimize(loss, [0, 1], method="BFGS", options={"gtol": 1e-9}).x
    assert [fit.intercept_, fit.slopes_[1]] == pytest.approx(best.tolist(), abs=1e-5)
    reversed_scores = rs.calibration.recalibrator("beta").fit([0.1, 0.2, 0.3, 0.8], [1, 1, 0, 0])
    assert reversed_scores.predict([0.1, 0.9]) == pytest.approx([0.5, 0.5])


def test_temperature_and_shift_minimise_log_loss():
    label, score = simulated()
    for method, family in (("temperature", lambda x, at: x * at), ("shift", lambda x, at: x + at)):
        fitted = rs.calibration.recalibrator(method).fit(score, label)
        found = rs.calibration.log_loss(label, fitted.predict(score))
        best = minimize(
            lambda x, f=family: rs.calibration.log_loss(label, expit(f(x[0], logit(score)))), [0.5], tol=1e-10
        ).fun
        assert found == pytest.approx(best, abs=1e-9)
    assert rs.calibration.recalibrator("shift").fit(score, label).predict(score).mean() == pytest.approx(label.mean())


def test_histogram_gives_the_share_of_each_bin():
    label, score = simulated(100)
    curve = rs.calibration_curve(label, score, bins=5, strategy="quantile")
    fitted = rs.calibration.recalibrator("histogram", bins=5).fit(score, label)
    assert fitted.predict(curve.x) == pytest.approx(curve.y)
    assert fitted.predict([-1, 2]) == pytest.approx(curve.y[[0, -1]])


def slow_venn_abers(score, label, weight, at):
    """The definition: isotonic regression with the row added as a negative and as a positive."""
    pair = []
    for added in (0, 1):
        columns = (np.append(column, value) for column, value in ((score, at), (label, added), (weight, 1)))
        x, y, w = columns
        pair.append(IsotonicRegression().fit(x, y, sample_weight=w).predict([at])[0])
    return pair


@given(samples)
@costly
def test_venn_abers_equals_its_definition(rows):
    label, score, weight = columns(rows)
    fitted = rs.calibration.recalibrator("venn-abers").fit(score, label, sample_weight=weight)
    at = np.array([0.0, 0.05, 0.1, 0.35, 0.4, 0.5, 0.72, 0.9, 1.0])
    expected = np.array([slow_venn_abers(score, label, weight, value) for value in at])
    low, high = fitted.predict_interval(at)
    assert low == pytest.approx(expected[:, 0], abs=1e-12)
    assert high == pytest.approx(expected[:, 1], abs=1e-12)
    assert (low < high).all()
    assert fitted.predict(at) == pytest.approx(high / (1 - low + high))


def test_compiled_venn_abers_equals_python():
    rng = np.random.default_rng(0)
    total = rng.integers(1, 5, 500)
    pos = rng.binomial(total, np.linspace(0.1, 0.9, 500))
    results = [np.empty((2, 500)) for _ in range(2)]
    for kernel, result in zip((kernels.ranks.venn_abers, kernels.ranks.venn_abers.python), results, strict=True):
        kernel(pos, total, *result)
    assert np.array_equal(*results)


@pytest.mark.parametrize("method", STRICT)
def test_strict_methods_leave_roc_and_lift_as_they_are(method):
    label, score = simulated()
    fitted = rs.calibration.recalibrator(method).fit(score, label)
    before, after = (rs.ThresholdCounts.from_scores(label, s) for s in (score, fitted.predict(score)))
    assert fitted.is_strict
    assert np.array_equal(before.tp, after.tp)
    assert np.array_equal(before.fp, after.fp)
    assert rs.auc(before) == rs.auc(after)


@given(samples)
@costly
def test_isotonic_turns_the_roc_curve_into_its_hull(rows):
    label, score, weight = columns(rows)
    predicted = rs.calibration.recalibrator("isotonic").fit(score, label, sample_weight=weight).predict(score)
    hull = rs.roc(label, score, sample_weight=weight).hull()
    after = rs.roc(label, predicted, sample_weight=weight)
    assert np.array_equal(after.x, hull.x)
    assert np.array_equal(after.y, hull.y)


@pytest.mark.parametrize("method", METHODS)
def test_whole_weights_equal_repeated_rows(method):
    label, score = simulated(120)
    weight = np.random.default_rng(1).integers(0, 4, 120)
    weighted = rs.calibration.recalibrator(method).fit(score, label, sample_weight=weight)
    repeated = rs.calibration.recalibrator(method).fit(np.repeat(score, weight), np.repeat(label, weight))
    assert weighted.predict(score) == pytest.approx(repeated.predict(score), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_scikit_learn_interface(method):
    label, score = simulated()
    fitted = clone(rs.calibration.recalibrator(method)).fit(score[:, None], label)
    assert fitted.predict_proba(score).sum(axis=1) == pytest.approx(1)
    assert fitted.predict_proba(score)[:, 1] == pytest.approx(fitted.predict(score[:, None]))
    assert type(fitted)().get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).predict(score)


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_recalibrator_is_the_same_bit_for_bit(method, tmp_path):
    label, score = simulated()
    fitted = rs.calibration.recalibrator(method).fit(score, label).adjust_to(0.07)
    loaded = rs.calibration.load_recalibrator(fitted.save(tmp_path / "calibrator.json"))
    assert type(loaded) is type(fitted)
    assert np.array_equal(loaded.predict(score), fitted.predict(score))
    assert loaded.adjust_to(0.5).shift_ == fitted.adjust_to(0.5).shift_


@pytest.mark.parametrize("method", METHODS)
def test_adjusting_multiplies_the_odds(method):
    label, score = simulated()
    fitted = rs.calibration.recalibrator(method).fit(score, label)
    before, after = fitted.predict(score), fitted.adjust_to(0.01).predict(score)
    ratio = (0.01 / 0.99) / (label.mean() / (1 - label.mean()))
    assert after * (1 - before) == pytest.approx(ratio * before * (1 - after), rel=1e-6)
    certain = (before <= 0) | (before >= 1)
    assert np.array_equal(after[certain], before[certain])
    assert fitted.predict(score) == pytest.approx(before)
    assert fitted.adjust_to(label.mean()).predict(score) == pytest.approx(before)


class TestCrossing:
    def test_each_row_is_recalibrated_by_the_other_folds(self):
        label, score = simulated(200)
        preds = rs.Predictions(label, {"a": score, "b": score**3}, fold=np.arange(200) % 4)
        result = rs.calibration.recalibrate(preds, "isotonic", cv="fold")
        for fold in range(4):
            test = preds.fold == fold
            expected = rs.calibration.recalibrator("isotonic").fit(score[~test], label[~test]).predict(score[test])
            assert result.predictions.scores["a"][test] == pytest.approx(expected)
        assert result.out_of_sample
        assert result.predictions.models == ["a", "b"]
        assert "other folds" in result.note
        everything = rs.calibration.recalibrator("isotonic").fit(score, label)
        assert result.recalibrators["a"].predict(score) == pytest.approx(everything.predict(score))

    def test_fitting_and_judging_the_same_rows_is_said(self):
        label, score = simulated(200)
        result = rs.calibration.recalibrate(rs.Predictions(label, score), "beta", cv=None)
        assert not result.out_of_sample
        assert "same rows" in repr(result)
        assert "better than on new rows" in result.note
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["method"] == "beta"

    def test_isotonic_on_the_same_rows_looks_perfect_and_out_of_sample_does_not(self):
        label, score = simulated(300)
        preds = rs.Predictions(label, score)
        same, crossed = (
            rs.calibration.decompose(
                rs.calibration.recalibrate(preds, "isotonic", cv=cv).predictions.counts()
            ).miscalibration
            for cv in (None, 5)
        )
        assert same == pytest.approx(0, abs=1e-12)
        assert crossed > 1e-3

    def test_recalibration_improves_what_is_wrong(self):
        preds = rs.Predictions(*simulated(3000))
        before = rs.calibration.calibration_error(preds.counts())
        for method in ("beta", "isotonic", "venn-abers", "histogram"):
            assert (
                rs.calibration.calibration_error(rs.calibration.recalibrate(preds, method).predictions.counts())
                < before / 2
            )

    def test_splitters_and_weights_and_segments(self):
        label, score = simulated(100)
        preds = rs.Predictions(label, score, sample_weight=np.ones(100) * 2.5, segment=np.arange(100) % 2)
        result = rs.calibration.recalibrate(preds, "platt", cv=KFold(4))
        assert result.predictions.n == 250
        assert np.array_equal(result.predictions.segment, preds.segment)
        again = rs.calibration.recalibrate(preds, "platt", cv=KFold(4))
        assert np.array_equal(result.predictions.scores["score"], again.predictions.scores["score"])

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            (1, "cv: expected a whole number of at least 2, got 1"),
            (0, "cv: expected a whole number of at least 2, got 0"),
            (3.5, "cv: expected a number of folds, .*, got float"),
            (10, "cv: expected at least 10 rows of each class for 10 folds, got fewer rows of .*; use cv=2"),
            ("folds", "cv: expected one of .*, got 'folds'"),
            ("fold", "there is no fold column; pass fold= to Predictions"),
            ("out_of_bag", "cv: expected every row in one test fold, got . rows in no test fold and 0 rows in several"),
            (
                [([0, 1], [2]), ([4, 2], [3, 5])],
                "every row in one test fold, got 3 rows in no test fold and 0 rows in several",
            ),
            (
                [([0, 1], [2, 3, 4, 5]), ([2, 3], [0, 1, 5])],
                "got 0 rows in no test fold and 1 rows in several .cv: given rows",
            ),
            (
                [([0, 2], [1, 3, 4, 5])],
                "cv: fold 0: expected training rows of two or more classes, got training rows of the class True only",
            ),
        ],
    )
    def test_folds_that_make_no_sense(self, cv, message):
        preds = rs.Predictions([1, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        with pytest.raises(InputError, match=message):
            rs.calibration.recalibrate(preds, cv=cv)


class TestBadInput:
    @pytest.mark.parametrize("method", METHODS)
    def test_one_class(self, method):
        with pytest.raises(OneClassError, match="recalibration"):
            rs.calibration.recalibrator(method).fit([0.1, 0.2], [1, 1])

    @pytest.mark.parametrize("method", METHODS)
    def test_all_scores_equal_give_the_prevalence(self, method):
        predicted = rs.calibration.recalibrator(method).fit([0.8] * 8, [1, 1, 1, 1, 1, 1, 0, 0]).predict([0.8])
        assert predicted[0] == pytest.approx(0.75, abs=0.06)

    @pytest.mark.parametrize("method", ["beta", "temperature"])
    def test_separated_classes_have_no_finite_fit(self, method):
        with pytest.raises(InputError, match=r"separate the classes.*platt"):
            rs.calibration.recalibrator(method).fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])

    @pytest.mark.parametrize("method", ["beta", "temperature", "shift"])
    def test_scores_that_are_no_probabilities(self, method):
        with pytest.raises(ScoreError, match="1 value outside this range"):
            rs.calibration.recalibrator(method).fit([0.1, 1.2], [0, 1])

    @pytest.mark.parametrize("method", METHODS)
    def test_missing_scores_are_refused_when_predicting(self, method):
        fitted = rs.calibration.recalibrator(method).fit(*simulated()[::-1])
        with pytest.raises(ScoreError, match="missing"):
            fitted.predict([0.5, math.nan])

    def test_methods_and_parameters_that_are_not_there(self):
        with pytest.raises(InputError, match="did you mean 'isotonic'"):
            rs.calibration.recalibrator("isotone")
        with pytest.raises(InputError, match="expected no parameters, got the parameter 'bins'"):
            rs.calibration.recalibrator("platt", bins=3)
        with pytest.raises(InputError, match="target_prevalence"):
            rs.calibration.recalibrator("platt").fit([1, 2, 3, 4], [0, 1, 0, 1]).adjust_to(5)

    @pytest.mark.parametrize(
        "content",
        [
            "not json",
            "[1, 2]",
            '{"format": "sklearn", "version": 1}',
            '{"format": "rocscope recalibrator", "version": 99}',
            '{"format": "rocscope recalibrator", "version": 1}',
            '{"format": "rocscope recalibrator", "version": 1, "method": "pickle", "parameters": {}, "state": {}}',
            '{"format": "rocscope recalibrator", "version": 1, "method": "platt", "parameters": {}, "state": {}}',
            '{"format": "rocscope recalibrator", "version": 1, "method": "platt", "parameters": {"x": 1}, "state": {}}',
            '{"format": "rocscope recalibrator", "version": 1, "method": "platt", "parameters": {}, "state":'
            ' {"prevalence_": 0.5, "shift_": 0, "slope_": NaN, "intercept_": 0}}',
        ],
    )
    def test_a_file_from_elsewhere(self, content, tmp_path):
        path = tmp_path / "calibrator.json"
        path.write_text(content)
        with pytest.raises(InputError):
            rs.calibration.load_recalibrator(path)

    def test_a_file_that_is_not_there_and_one_that_is_there_already(self, tmp_path):
        with pytest.raises(InputError, match="No such file"):
            rs.calibration.load_recalibrator(tmp_path / "none.json")
        fitted = rs.calibration.recalibrator("platt").fit([1, 2, 3, 4], [0, 1, 0, 1])
        path = fitted.save(tmp_path / "calibrator.json")
        with pytest.raises(InputError, match="exists already"):
            fitted.save(path, force=False)
        assert fitted.save(path) == path
