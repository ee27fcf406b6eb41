"""What weights mean where nobody says it: one row of a sample, unless they can hardly be anything but counts."""

from types import SimpleNamespace

import numpy as np
import pytest

import rocscope as rs
from rocscope.inference.variance import frequencies_of, is_frequency

RNG = np.random.default_rng(5)
TABLE = np.array([1, 0] * 5), np.repeat(np.arange(5.0), 2), np.array([1, 9, 3, 8, 5, 5, 7, 2, 9, 1])


def test_a_table_of_counts_and_weights_of_zero_and_one_are_numbers_of_rows():
    label, score, weight = TABLE
    assert is_frequency(weight, "auto", label, score)
    assert not is_frequency(weight / 2, "auto", label, score)
    assert is_frequency(weight % 2, "auto", label[::-1] * 0 + np.arange(10) % 2, RNG.random(10))
    twice = np.append(label, 1), np.append(score, 4.0)
    assert not is_frequency(np.append(weight, 2), "auto", *twice), "two rows alike are cases"
    assert not is_frequency(weight, "auto", label, RNG.random(10)), "scores of one label each are those of cases"
    found = rs.auc_interval(label, score, sample_weight=weight)
    rows = rs.auc_interval(np.repeat(label, weight), np.repeat(score, weight))
    assert (found.low, found.high) == pytest.approx((rows.low, rows.high), rel=1e-12)


def test_the_name_of_the_method_says_what_weights_were_taken_for():
    label, score, weight = TABLE
    assert "sampling weights" in rs.auc_interval(label, score, sample_weight=weight, weights="sampling").method
    assert "sampling weights" not in rs.auc_interval(label, score, sample_weight=weight).method
    assert "sampling weights" in rs.auc_interval(label, RNG.random(10), sample_weight=weight).method


def test_beside_estimated_weights_the_users_own_count_rows_where_they_are_frequencies():
    label, score, weight = TABLE
    own, none = SimpleNamespace(base=weight, index=None), SimpleNamespace(base=None, index=None)
    last = SimpleNamespace(base=weight, index=np.array([9, 8]))
    assert frequencies_of(weight / 7, own, "frequency", label, score).tolist() == weight.tolist()
    assert frequencies_of(weight / 7, last, "frequency", label[-2:], score[-2:]).tolist() == [1, 9]
    assert frequencies_of(weight / 7, own, "sampling", label, score) is None
    assert frequencies_of(weight / 7, none, "frequency", label, score) is None


def drawn(n):
    """Rows of a population drawn with unequal chances, and the whole weights that undo it; calibrated at p."""
    weight = RNG.integers(1, 21, n)
    p = RNG.beta(2, 2, n)
    return RNG.random(n) < p, p, weight


@pytest.mark.slow
def test_intervals_cover_and_tests_hold_their_level_with_whole_sampling_weights():
    """Taken for numbers of rows, intervals covered 29 to 83 %, and tests rejected 57 to 100 % of calibrated models."""
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
