"""Expected figures: exact values where each score has its own share, variances by hand, and coverage by simulation."""

import numpy as np
import pytest

import rocscope as rs
from expected_designs import Design, simulate
from rocscope.inference import estimate_of, statistics
from rocscope.outcomes.expected import prevalences

SCORE = np.repeat([0.0, 1.0, 2.0], [200, 100, 100])
LABEL = np.concatenate([np.arange(200) < 20, np.arange(100) < 30, np.arange(100) < 80])
REFERENCE = rs.Predictions(LABEL, SCORE)
NEW = np.repeat([0.0, 1.0, 2.0], [60, 90, 150])
RISK = np.array([0.1, 0.3, 0.8])


def expected(**options):
    return rs.expected(REFERENCE, NEW, **options)


class TestValues:
    def test_counts_are_shares_of_the_reference_times_new_cases(self):
        counts = expected().counts()
        assert counts.threshold.tolist() == [2, 1, 0]
        np.testing.assert_allclose(counts.pos, [120, 27, 6], atol=1e-6)
        np.testing.assert_allclose(counts.neg, [30, 63, 54], atol=1e-6)
        assert counts.weights == "expected"

    def test_reference_expects_itself(self):
        same = rs.expected(REFERENCE, SCORE)
        assert rs.auc(same) == pytest.approx(rs.auc(REFERENCE), abs=1e-8)
        assert same.n_pos == pytest.approx(REFERENCE.n_pos, abs=1e-6)

    def test_functions_of_predictions_take_expected_cases(self):
        cases, context = expected(), rs.Context(cost_fn=3)
        by_hand = rs.ThresholdCounts([2.0, 1.0, 0.0], [120, 27, 6], [30, 63, 54])
        decision = rs.choose(cases, context)
        assert decision.threshold == rs.choose(by_hand, context).threshold
        assert decision.expected_cost == pytest.approx(rs.choose(by_hand, context).expected_cost, abs=1e-8)
        assert rs.roc(cases).auc == pytest.approx(rs.roc(by_hand).auc, abs=1e-8)
        assert rs.gain(cases).at(0.5) == pytest.approx(rs.gain(by_hand).at(0.5), abs=1e-8)
        campaign = rs.Campaign(population=1000, unit_cost=1, unit_benefit=2, capacity=300)
        planned = rs.plan_campaign(cases, campaign)
        same = rs.plan_campaign(by_hand, campaign)
        assert planned.best.best.profit == pytest.approx(same.best.best.profit, abs=1e-6)
        assert planned.profit.value == pytest.approx(same.profit.value, abs=0.5 * same.profit.standard_error)
        assert rs.summary(cases, context)[0].estimates["auc"].low < rs.auc(by_hand)

    def test_report_contains_expected_figures_but_no_test_of_labels(self):
        # The test of calibration draws labels, and expected cases have none.
        reference = rs.Predictions(LABEL, SCORE / 4 + 0.1)
        report = rs.Report(rs.expected(reference, NEW / 4 + 0.1))
        model = report.data.to_dict()["models"][0]
        assert model["n_pos"] == pytest.approx(153, abs=1e-5)
        assert model["calibration"]["numbers"]["p_value"] is None
        assert model["calibration"]["numbers"]["observed_over_expected"] == pytest.approx(153 / 127.5)

    @pytest.mark.parametrize(
        ("assume", "stated"), [("risk", "same risk at each score"), ("classes", "same scores within each class")]
    )
    def test_report_states_the_assumption_of_expected_cases(self, assume, stated):
        # Two of the eight new scores are outside the range of the reference.
        cases = rs.expected(REFERENCE, [-1.0, 0, 0, 1, 1, 2, 2, 3], assume=assume)
        report = rs.Report(cases)
        assert report.to_dict()["provenance"]["labels"] == f"expected, from a labelled reference with the {stated}"
        assert report.data.provenance["scores_outside_the_reference"] == "25%"
        assert stated in report.html
        assert "labels" not in rs.Report(REFERENCE).data.provenance

    @pytest.mark.parametrize(
        "function",
        [
            lambda cases: rs.bootstrap(cases, "auc", replicates=100),
            lambda cases: rs.choose(cases, subject_to="tpr >= .9 at 95%"),
            rs.inference.mann_whitney,
            rs.inference.threshold_table,
            rs.calibration.recalibrate,
        ],
    )
    def test_what_needs_labels_is_refused_with_an_answer(self, function):
        with pytest.raises(rs.errors.InputError, match=r"rs\.expected\); \w+"):
            function(expected())

    def test_expected_cases_are_no_reference(self):
        with pytest.raises(rs.errors.InputError, match="labelled rows"):
            rs.expected(expected(), NEW)

    def test_scores_of_another_model_are_refused(self):
        with pytest.raises(rs.errors.ScoreError, match="'a'"):
            rs.expected(rs.Predictions(LABEL, {"a": SCORE}), {"b": NEW})
        with pytest.raises(rs.errors.ScoreError, match="pass the column of the scores"):
            rs.expected(REFERENCE, {"risk": NEW, "age": NEW})

    def test_bounds_of_scores_outside_the_reference(self):
        # One in four cases lies above, where the risk is from .8 to 1, and one below, where it is from 0 to .1.
        cases = rs.expected(REFERENCE, [-1.0, 0.0, 2.0, 3.0])
        assert (cases.below, cases.above, cases.outside) == (0.25, 0.25, 0.5)
        low, high = cases.bounds(lambda counts: counts.prevalence)
        assert low == pytest.approx((0 + 0.1 + 0.8 + 0.8) / 4, abs=1e-6)
        assert high == pytest.approx((0.1 + 0.1 + 0.8 + 1) / 4, abs=1e-6)
        assert "50%" in repr(cases)

    def test_venn_abers_bounds_hold_the_value(self):
        rng = np.random.default_rng(0)
        score = rng.random(500)
        cases = rs.expected(
            rs.Predictions(rng.random(500) < score, score), rng.random(300), method="venn-abers", replicates=2
        )
        low, high = cases.bounds("auc")
        assert low < rs.auc(cases) < high


class TestVariance:
    """At the threshold 1 precision is Σqp/Σq over the scores 1 and 2, with q the share of new cases."""

    SHARE = np.array([90, 150]) / 240
    OF_REFERENCE = (SHARE**2 * RISK[1:] * (1 - RISK[1:]) / 100).sum()

    def error(self, **options):
        return estimate_of(expected(replicates=500, **options), statistics.at(1, "precision")).standard_error

    def test_of_the_population(self):
        precision = self.SHARE @ RISK[1:]
        of_cases = (self.SHARE * (RISK[1:] - precision) ** 2).sum() / 240
        assert self.error() == pytest.approx((self.OF_REFERENCE + of_cases) ** 0.5, rel=0.1)

    def test_of_these_cases(self):
        of_labels = (self.SHARE * RISK[1:] * (1 - RISK[1:])).sum() / 240
        assert self.error(estimand="cases") == pytest.approx((self.OF_REFERENCE + of_labels) ** 0.5, rel=0.1)

    def test_variance_of_few_replicates_is_unbiased(self):
        cases = expected(replicates=3)
        weighting = cases.weighting
        of_replicates = weighting.replicates[:, weighting.cell].mean(axis=1)
        variance = of_replicates.var(ddof=1) + weighting.chance.var() / 300
        prevalence = estimate_of(cases, statistics.at(-100.0, "precision"))
        assert prevalence.standard_error**2 == pytest.approx(variance, rel=0.01)

    def test_groups_of_equal_cases_count_once(self):
        groups = np.arange(300) // 2
        precision = self.SHARE @ RISK[1:]
        of_cases = (self.SHARE * (RISK[1:] - precision) ** 2).sum() / 120
        assert self.error(groups=groups) == pytest.approx((self.OF_REFERENCE + of_cases) ** 0.5, rel=0.1)

    def test_spline_has_the_error_of_its_influence(self):
        # Influence of the maximum likelihood fit: (yⱼ − pⱼ)·xⱼ′·I⁻¹·Σᵢ pᵢ(1 − pᵢ)xᵢ/m on the expected prevalence.
        rng = np.random.default_rng(1)
        score, new = rng.normal(size=600), rng.normal(0.5, 0.7, 5000)
        label = rng.random(600) < 1 / (1 + np.exp(1 - score))
        cases = rs.expected(rs.Predictions(label, score), new, replicates=300)
        fitted = cases.recalibrator
        columns, at_new = fitted._columns(score), fitted._columns(new)
        chance, new_chance = fitted.predict(score), fitted.predict(new)
        information = (columns * chance * (1 - chance)) @ columns.T
        direction = np.linalg.solve(information, at_new @ (new_chance * (1 - new_chance)) / 5000)
        moves = (label - chance) * (direction @ columns)
        variance = moves @ moves + new_chance.var() / 5000
        prevalence = estimate_of(cases, statistics.at(-100.0, "precision"))
        assert prevalence.standard_error == pytest.approx(variance**0.5, rel=0.12)


class TestPriorShift:
    def test_prevalence_is_the_maximum_of_the_likelihood(self):
        rng = np.random.default_rng(2)
        chance = rng.random((2, 50))
        alone = [rs.decisions.estimate_prevalence(row, train_prevalence=0.4).value for row in chance]
        together = prevalences(chance, np.array([0.4, 0.4]), np.ones(50))
        np.testing.assert_allclose(together, alone, atol=1e-8)

    def test_expected_prevalence_is_the_estimated_one(self):
        cases = expected(assume="classes")
        chance = cases.recalibrator.predict(NEW)
        assert cases.prevalence == pytest.approx(
            rs.decisions.estimate_prevalence(chance, train_prevalence=REFERENCE.prevalence).value, abs=1e-6
        )
        assert cases.assumption == "same scores within each class"

    def test_error_of_the_prevalence_is_its_spread(self):
        # Samples of cases from a mixture of known classes, with a reference that is too large to matter.
        rng = np.random.default_rng(3)
        of_class = {True: np.array([0.1, 0.3, 0.6]), False: np.array([0.7, 0.2, 0.1])}
        counts = rs.ThresholdCounts([2, 1, 0], [600000, 300000, 100000], [100000, 200000, 700000])
        values, errors = [], []
        for _ in range(40):
            positive = rng.random(200) < 0.2
            new = np.where(positive, rng.choice(3, 200, p=of_class[True]), rng.choice(3, 200, p=of_class[False]))
            cases = rs.expected(counts, new, assume="classes", replicates=5)
            prevalence = estimate_of(cases, statistics.at(-1, "precision"))
            values.append(prevalence.value)
            errors.append(prevalence.standard_error)
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.25)
        assert np.mean(values) == pytest.approx(0.2, abs=0.02)


class TestCoverage:
    def test_one_design(self):
        covered, bias = simulate(Design.draw(3), samples=12, seed=3, replicates=30)
        assert (covered >= 0.7).all()
        assert (np.abs(bias) < 3 / 12**0.5).all()

    @pytest.mark.slow("20 designs of 500 samples")
    @pytest.mark.parametrize("number", range(20))
    def test_all_designs(self, number):
        # Coverage from 93 to 98%, plus or minus two standard errors of a share of 500 samples.
        covered, bias = simulate(Design.draw(number), samples=500, seed=number, replicates=40)
        assert (covered >= 0.93 - 2 * (0.93 * 0.07 / 500) ** 0.5).all()
        assert (covered <= 0.98 + 2 * (0.98 * 0.02 / 500) ** 0.5).all()
        assert (np.abs(bias) < 0.2).all()
