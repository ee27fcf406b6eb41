"""What weights mean where nobody says it: one row of a sample, unless they can hardly be anything but counts."""

import numpy as np
import pytest

import rocscope as rs
from rocscope.core.predictions import is_table
from rocscope.errors import WeightError

RNG = np.random.default_rng(5)
TABLE = np.array([1, 0] * 5), np.repeat(np.arange(5.0), 2), np.array([1, 9, 3, 8, 5, 5, 7, 2, 9, 1])


def test_a_table_of_counts_and_weights_of_zero_and_one_are_numbers_of_rows():
    label, score, weight = TABLE
    assert is_table(weight, label, score)
    assert not is_table(weight / 2, label, score)
    assert is_table(weight % 2, label[::-1] * 0 + np.arange(10) % 2, RNG.random(10))
    twice = np.append(label, 1), np.append(score, 4.0)
    assert not is_table(np.append(weight, 2), *twice), "two rows alike are cases"
    assert not is_table(weight, label, RNG.random(10)), "scores of one label each are those of cases"
    found = rs.auc_interval(label, score, sample_weight=weight)
    rows = rs.auc_interval(np.repeat(label, weight), np.repeat(score, weight))
    assert (found.low, found.high) == pytest.approx((rows.low, rows.high), rel=1e-12)


def test_the_name_of_the_method_says_what_weights_were_taken_for():
    label, score, weight = TABLE
    said = rs.Predictions(label, score, sample_weight=weight, weights="sampling")
    assert "sampling weights" in rs.auc_interval(said).method
    assert "sampling weights" not in rs.auc_interval(label, score, sample_weight=weight).method
    assert "sampling weights" in rs.auc_interval(label, RNG.random(10), sample_weight=weight).method


def test_beside_estimated_weights_the_users_own_count_rows_where_they_are_frequencies():
    _, score, weight = TABLE

    def rows(**weights):
        time = [1, 1, 3, 3, 2, 3, 1, 3, 2, 3]
        return rs.outcomes.at_horizon(time, [1, 0] * 5, score, 2.5, **weights)

    counted = rows(sample_weight=weight, weights="frequency")
    assert counted.frequency.tolist() == weight.tolist() != counted.sample_weight.tolist()
    assert counted.select(np.arange(10) > 7).frequency.tolist() == [9, 1]
    assert rows(sample_weight=weight, weights="sampling").frequency is None
    assert rows(weights="frequency").frequency is None
    with pytest.raises(WeightError, match="expected whole numbers, got fractions"):
        rows(sample_weight=weight / 2, weights="frequency")


def drawn(n):
    """Rows of a population drawn with unequal chances, and the whole weights that undo it; calibrated at p."""
    weight = RNG.integers(1, 21, n)
    p = RNG.beta(2, 2, n)
    return RNG.random(n) < p, p, weight


@pytest.mark.slow
def test_intervals_cover_and_tests_hold_their_level_with_whole_sampling_weights():
    """Taken for numbers of rows, intervals covered 29 to 83%, and tests rejected 57 to 100% of calibrated models."""
    label, p, _ = drawn(1_000_000)
    truth, runs = rs.auc(label, p), 400
    covered, rejected = 0, dict.fromkeys(("spiegelhalter", "hosmer"), 0)
    for _ in range(runs):
        label, p, weight = drawn(300)
        found = rs.auc_interval(label, p, sample_weight=weight)
        covered += found.low <= truth <= found.high
        data = {"sample_weight": weight}
        rejected["spiegelhalter"] += rs.calibration.spiegelhalter_test(label, p, **data).p_value < 0.05
        rejected["hosmer"] += rs.calibration.hosmer_lemeshow_test(label, p, **data).p_value < 0.05
    error = (0.05 * 0.95 / runs) ** 0.5
    print(f"covers {covered / runs:.3f}; rejects {', '.join(f'{k} {v / runs:.3f}' for k, v in rejected.items())}")
    assert covered / runs >= 0.95 - 2.5 * error
    assert all(count / runs <= 0.055 + 2.5 * error for count in rejected.values())
