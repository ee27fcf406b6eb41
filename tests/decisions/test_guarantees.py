"""Thresholds with a guarantee: p-values and the family of tests by their definitions, and violations by simulation."""

import numpy as np
import pytest
from scipy import stats

import rocscope as rs
from guarantee_designs import Design, simulate
from rocscope.inference import learn_then_test

RNG = np.random.default_rng(0)
SCORE = RNG.normal(size=800)
LABEL = RNG.random(800) < 1 / (1 + np.exp(0.5 - 2.5 * SCORE))
ROWS = rs.Predictions(LABEL, SCORE)


def by_definition(p_values, starts, errors, order):
    """Return the hypotheses that a fallback procedure rejects, one after the other."""
    rejected, carried = set(), 0.0
    for place in order:
        carried += sum(error for start, error in zip(starts, errors, strict=True) if start == place)
        if carried > 0 and p_values[place] <= carried:
            rejected.add(place)
        else:
            carried = 0.0
    return rejected


class TestTests:
    def test_p_value_of_a_share_is_binomial(self):
        counted, n = np.array([0, 3, 45, 50]), np.array([5, 3, 50, 50])
        np.testing.assert_allclose(
            learn_then_test.p_of_share(counted, n, 0.8), stats.binom.sf(counted - 1, n, 0.8), atol=1e-12
        )

    def test_p_value_of_a_mean_is_the_inverse_of_the_capital_of_three_gamblers(self):
        values, bound, n = np.array([0, 0.2, 1, 0]), 0.2, 100
        cases = np.repeat(values, [70, 12, 3, 15])
        capitals = []
        for variance in (0.16, 0.08, 0.04):
            stake, capital = min((2 * np.log(250) / (n * variance)) ** 0.5, 0.9 / 0.8), 1.0
            for case in cases:
                capital *= 1 + stake * (bound - case)
            capitals.append(capital)
        found = learn_then_test.p_of_mean(np.array([[70, 60], [12, 0], [3, 40], [15, 0]]), values, bound)
        np.testing.assert_allclose(found, [1 / np.mean(capitals), 1.0])

    def test_p_value_of_a_mean_of_two_values_is_binomial(self):
        found = learn_then_test.p_of_mean(np.array([[40, 50], [10, 0]]), np.array([0, 1]), 0.3)
        np.testing.assert_allclose(found, stats.binom.cdf([10, 0], 50, 0.3))
        assert learn_then_test.p_of_mean(np.array([4, 1]), np.array([0, 1]), 1.0) == 0
        assert learn_then_test.p_of_mean(np.array([5, 0]), np.array([0, 1]), 0.0) == 1

    @pytest.mark.parametrize("chance", [(0.8, 0.0, 0.2), (0.3, 0.625, 0.075), (0.55, 0.3125, 0.1375)])
    def test_p_value_of_a_mean_is_valid_at_the_bound(self, chance):
        counts = np.random.default_rng(4).multinomial(300, chance, 40_000).T
        p_values = learn_then_test.p_of_mean(counts, np.array([0, 0.2, 1]), 0.2)
        for error in (0.2, 0.05, 0.004):
            assert (p_values <= error).mean() <= error + 3 * (error / 40_000) ** 0.5

    def test_rejections_are_those_of_the_fallback_procedure(self):
        rng = np.random.default_rng(1)
        n = 64
        for _ in range(20):
            p_values = rng.random(n) ** 6
            depth = np.arange(1, n + 1)
            found = learn_then_test.admitted(p_values, depth, np.array([n]), 0.3, "deeper")
            starts = [3, 7, 15, 31]
            assert set(np.flatnonzero(found)) == by_definition(
                p_values, starts, [0.24, 0.048, 0.0096, 0.0024], range(n)
            )
            both = learn_then_test.admitted(p_values, depth, np.array([n]), 0.3, "both")
            starts = [int(np.ceil(n * step / 7)) - 1 for step in range(1, 7)]
            one = by_definition(p_values, starts, [0.025] * 6, range(n))
            assert set(np.flatnonzero(both)) == one | by_definition(p_values, starts, [0.025] * 6, range(n - 1, -1, -1))

    def test_matrices_are_tested_row_by_row(self):
        p_values = np.random.default_rng(2).random((5, 40)) ** 8
        depth = np.broadcast_to(np.arange(1, 41), (5, 40))
        together = learn_then_test.admitted(p_values, depth, np.full((5, 1), 40), 0.2, "shallower")
        for row, found in zip(p_values, together, strict=True):
            alone = learn_then_test.admitted(row, depth[0], np.array([40]), 0.2, "shallower")
            assert (found == alone).all()

    def test_error_rate_of_uniform_p_values(self):
        p_values = np.random.default_rng(3).random((20_000, 30))
        depth = np.broadcast_to(np.arange(1, 31), p_values.shape)
        found = learn_then_test.admitted(p_values, depth, np.full((20_000, 1), 30), 0.05, "both")
        assert found.any(axis=1).mean() <= 0.05


class TestChoice:
    @pytest.mark.parametrize(
        ("bound", "broken"),
        {
            "precision >= .8": "a threshold whose true precision is below 0.8 is chosen",
            "npv >= .8": "a threshold whose true npv is below 0.8 is chosen",
            "accuracy >= .7": "a threshold whose true accuracy is below 0.7 is chosen",
            "cost <= 1": "a threshold whose true cost is above 1 is chosen",
            "tpr >= .9": "a threshold whose true tpr is below 0.9 is chosen",
            "fpr <= .1": "a threshold whose true fpr is above 0.1 is chosen",
            "depth <= .3": "a threshold whose true depth is above 0.3 is chosen",
            "cases <= 300": "the number of selected cases in the next list is above 300",
        }.items(),
    )
    def test_choice_states_its_guarantee_and_is_verified(self, bound, broken):
        context = rs.Context(cost_fn=5)
        plan = rs.choose(ROWS, context, subject_to=bound + " at 95%")
        assert [note for note in plan.notes if "guarantee" in note] == [
            f"guaranteed: {broken} in at most 5% of samples"
        ]
        assert plan.verify(ROWS).verified
        plain = rs.choose(ROWS, context, subject_to=bound)
        assert plan.expected_cost >= plain.expected_cost

    def test_threshold_that_only_the_sample_admits_is_not_chosen(self):
        plain = rs.choose(ROWS, criterion="tpr", subject_to="precision >= .9")
        sure = rs.choose(ROWS, criterion="tpr", subject_to="precision >= .9 at 95%")
        assert sure.threshold > plain.threshold
        point = sure.point
        assert stats.binom.sf(point.tp - 1, point.tp + point.fp, 0.9) <= 0.05

    def test_several_models_share_the_error(self):
        alone = rs.choose(ROWS, criterion="tpr", subject_to="precision >= .85 at 95%")
        two = rs.Predictions(LABEL, {"a": SCORE, "b": -SCORE})
        assert rs.choose(two, criterion="tpr", subject_to="precision >= .85 at 95%").point.tp <= alone.point.tp

    def test_groups_weights_and_other_prevalences_are_refused(self):
        groups = np.arange(800) // 2
        with pytest.raises(rs.errors.InputError, match="independent rows"):
            rs.choose(rs.Predictions(LABEL, SCORE, groups=groups), subject_to="precision >= .8 at 95%")
        weighted = rs.Predictions(LABEL, SCORE, sample_weight=RNG.random(800))
        with pytest.raises(rs.errors.WeightError, match="whole counts"):
            rs.choose(weighted, subject_to="accuracy >= .6 at 95%")
        with pytest.raises(rs.errors.InputError, match="got target_prevalence="):
            rs.choose(ROWS, rs.Context(target_prevalence=0.1), subject_to="precision >= .5 at 95%")

    def test_a_bound_beyond_reach_is_answered_with_what_is_reached(self):
        # A threshold fixed in advance is tested alone, all of them together with less of an error rate for each.
        fixed = r"highest precision at 95% of a threshold fixed in advance is"
        with pytest.raises(rs.errors.InfeasibleError, match=fixed):
            rs.choose(ROWS, subject_to="precision >= .9999 at 95%")
        with pytest.raises(rs.errors.InfeasibleError, match="lowest cost in the sample is"):
            rs.choose(ROWS, rs.Context(cost_fn=5), subject_to="cost <= .001 at 95%")

    def test_figures_without_a_test_are_refused(self):
        with pytest.raises(rs.errors.InputError, match="precision, npv, accuracy"):
            rs.choose(ROWS, subject_to="f1 >= .5 at 95%")


class TestViolations:
    def test_one_design(self):
        broken, reached = simulate(Design.draw(1), 12, seed=1, quantities=("precision",), population=100_000)
        assert broken["precision"] <= 0.2
        assert reached["precision"] >= 0.9 * reached["bonferroni"]

    @pytest.mark.slow("12 designs of 1,000 samples")
    @pytest.mark.parametrize("number", range(12))
    def test_all_designs(self, number):
        broken, reached = simulate(Design.draw(number), 1000, seed=number)
        assert all(share <= 0.05 + 2 * (0.05 * 0.95 / 1000) ** 0.5 for share in broken.values())
        assert reached["precision"] >= 0.9 * max(reached["bonferroni"], reached["fixed sequence"])
