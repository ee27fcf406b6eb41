"""Prior shift: re-weighted counts, corrected probabilities, and the prevalence of cases without labels."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import rocscope as rs
from rocscope import ThresholdCounts
from rocscope.errors import InputError, OneClassError, ScoreError
from strategies import probabilities, samples, whole_weights

shares = st.sampled_from([0.01, 0.2, 0.5, 0.9])


@given(sample=samples(weight=whole_weights), share=shares)
def test_reweighted_counts_have_the_rates_of_the_sample_at_the_new_prevalence(sample, share):
    counts = sample.counts()
    moved = rs.decisions.reweight(counts, share)
    assert (moved.prevalence, moved.n) == (pytest.approx(share), pytest.approx(counts.n))
    assert rs.roc(moved).auc == pytest.approx(rs.roc(counts).auc)
    threshold = counts.threshold[0]
    expected = counts.at(threshold).at_prevalence(share)
    assert moved.at(threshold).precision == pytest.approx(expected.precision)
    assert moved.at(threshold).accuracy == pytest.approx(expected.accuracy)


@given(probability=st.lists(probabilities, min_size=1), before=shares, after=shares)
def test_correction_is_bayes_rule_and_can_be_undone(probability, before, after):
    corrected = rs.decisions.correct_probabilities(probability, train_prevalence=before, target_prevalence=after)
    given_ = np.array(probability)
    with np.errstate(divide="ignore"):
        odds = given_ / (1 - given_) * (after / (1 - after)) / (before / (1 - before))
        assert corrected / (1 - corrected) == pytest.approx(odds)
    back = rs.decisions.correct_probabilities(corrected, train_prevalence=after, target_prevalence=before)
    assert back == pytest.approx(given_)


def drawn(prevalence, size, seed):
    """Scores of a model that is calibrated at one half, of cases of another class mix: densities 2s and 2 − 2s."""
    rng = np.random.default_rng(seed)
    label = rng.random(size) < prevalence
    return np.where(label, np.sqrt(rng.random(size)), 1 - np.sqrt(rng.random(size)))


def saerens(probability, prior, steps=20_000):
    """The EM algorithm as it is published, eq. 2.9."""
    share = prior
    for _ in range(steps):
        positive, negative = share / prior * probability, (1 - share) / (1 - prior) * (1 - probability)
        share = np.mean(positive / (positive + negative))
    return share


@pytest.mark.every(3)
@pytest.mark.parametrize("prevalence", [0.05, 0.3, 0.8])
def test_the_estimate_is_what_em_converges_to(prevalence):
    scores = drawn(prevalence, 500, seed=1)
    estimate = rs.decisions.estimate_prevalence(scores, train_prevalence=0.5)
    assert estimate.value == pytest.approx(saerens(scores, 0.5), abs=1e-6)
    assert estimate.low < estimate.value < estimate.high
    assert prevalence in estimate


def test_the_interval_holds_what_the_likelihood_ratio_test_accepts():
    scores = drawn(0.3, 200, seed=3)
    estimate = rs.decisions.estimate_prevalence(scores, train_prevalence=0.5, level=0.9)

    def likelihood(share):
        return np.log(2 * share * scores + 2 * (1 - share) * (1 - scores)).sum()

    for end in (estimate.low, estimate.high):
        drop = 2 * (likelihood(estimate.value) - likelihood(end))
        assert drop == pytest.approx(stats.chi2(1).ppf(0.9), abs=1e-6)


def test_ends_of_the_scale():
    none = rs.decisions.estimate_prevalence(np.full(50, 0.01), train_prevalence=0.5)
    assert (none.value, none.low) == (0, 0)
    assert 0 < none.high < 0.1
    everybody = rs.decisions.estimate_prevalence(np.ones(20), train_prevalence=0.5)
    assert (everybody.value, everybody.high) == (1, 1)
    assert rs.decisions.estimate_prevalence([0.0, 1.0, 1.0], train_prevalence=0.5).value == pytest.approx(2 / 3)


def test_the_confusion_matrix_corrects_the_share_of_positive_predictions():
    labelled = ThresholdCounts([1, 0], [80, 20], [10, 90])
    scores = [1] * 31 + [0] * 69
    estimate = rs.decisions.estimate_prevalence(scores, method="confusion", labelled=labelled)
    assert estimate.value == pytest.approx((0.31 - 0.1) / (0.8 - 0.1))
    assert rs.decisions.estimate_prevalence([0] * 9, method="confusion", labelled=labelled).value == 0
    assert rs.decisions.estimate_prevalence([1] * 9, method="confusion", labelled=labelled).value == 1


def coverage(method, runs, seed=5):
    """How often the interval holds the truth, and the mean error over its standard error."""
    rng = np.random.default_rng(seed)
    held = 0
    for run in range(runs):
        label = rng.random(400) < 0.5
        score = np.where(label, np.sqrt(rng.random(400)), 1 - np.sqrt(rng.random(400)))
        labelled = ThresholdCounts.from_scores(label, score)
        options = {"train_prevalence": 0.5} if method == "em" else {"labelled": labelled}
        held += 0.25 in rs.decisions.estimate_prevalence(drawn(0.25, 400, run), method=method, **options)
    return held / runs


@pytest.mark.parametrize("method", ["em", "confusion"])
def test_coverage_of_the_interval(method):
    """Of 200 intervals at 95%, fewer than 181 hold the truth once in 500 times."""
    assert coverage(method, 200) >= 181 / 200


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "confusion"])
def test_coverage_of_the_interval_in_full(method):
    """Of 4000, the standard error of the share is 0.0034."""
    assert coverage(method, 4000) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: rs.decisions.reweight(ThresholdCounts([1], [1], [0]), 0.5),
            OneClassError,
            "another prevalence: expected both classes",
        ),
        (lambda: rs.decisions.reweight(ThresholdCounts([1], [1], [1]), 50), InputError, "write 5% as 0.05"),
        (
            lambda: rs.decisions.correct_probabilities([1.2], train_prevalence=0.5, target_prevalence=0.1),
            ScoreError,
            "probability: expected probabilities from 0 to 1, got 1 value outside this range, such as 1.2",
        ),
        (lambda: rs.decisions.estimate_prevalence([0.5]), InputError, "train_prevalence: expected a share"),
        (
            lambda: rs.decisions.estimate_prevalence([0.5], method="guess"),
            InputError,
            "method: expected 'em' or 'confusion'",
        ),
        (
            lambda: rs.decisions.estimate_prevalence([0.5], method="confusion"),
            InputError,
            "labelled: expected labels and scores if method='confusion', got None",
        ),
        (
            lambda: rs.decisions.estimate_prevalence([0.5], train_prevalence=0.5, level=95),
            InputError,
            "level: expected a share",
        ),
        (
            lambda: rs.decisions.estimate_prevalence(
                [1.0], method="confusion", labelled=ThresholdCounts([1, 0], [1, 1], [1, 1])
            ),
            InputError,
            "threshold=0.5: expected a tpr above the fpr, got tpr 0.5 and fpr 0.5",
        ),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("repeats", [25, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["em", "confusion"])
def test_the_sampling_error_of_the_labelled_rows_is_included(method, repeats):
    # Binormal scores; probabilities are calibrated at 5%, which is estimated by the share of 1,000 labelled rows.
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(repeats):
        labels, new = rng.random(1000) < 0.05, rng.random(1500) < 0.1
        odds = [np.exp(1.5 * rng.normal(1.5 * each) - 1.125) * 0.05 / 0.95 for each in (labels, new)]
        known, coming = (each / (1 + each) for each in odds)
        labelled = ThresholdCounts.from_scores(labels, known)
        estimate = rs.decisions.estimate_prevalence(coming, method=method, labelled=labelled, threshold=0.1)
        covered += estimate.low <= 0.1 <= estimate.high
    assert abs(covered / repeats - 0.95) < 3 * np.sqrt(0.05 * 0.95 / repeats)


def test_the_class_mix_of_few_labelled_rows_widens_the_interval():
    labelled, few = ThresholdCounts([1, 0], [50, 50], [100, 800]), ThresholdCounts([1, 0], [5, 5], [10, 80])
    scores = np.array([0.4] * 300 + [0.02] * 700)
    wide, narrow = (rs.decisions.estimate_prevalence(scores, labelled=counts) for counts in (few, labelled))
    given = rs.decisions.estimate_prevalence(scores, train_prevalence=0.1)
    assert wide.value == narrow.value == given.value
    assert wide.low < narrow.low < given.low < given.high < narrow.high < wide.high
