"""A printed threshold can be typed back: it decides as the threshold that was chosen."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from rocscope._base.formatting import threshold_text

CASES = json.loads((Path(__file__).parents[1] / "reference" / "threshold_texts.json").read_text())


def scores_of(rng, dtype, number):
    """Return scores of one of four kinds: spread, close to 1, near each other, or of any size."""
    uniform = rng.random(30)
    kinds = (uniform, 1 - uniform**6, 0.7 + uniform * 1e-7, (uniform - 0.5) * 10.0 ** rng.integers(-6, 9))
    return kinds[number % len(kinds)].astype(dtype)


def decimals_up_to(score, digits):
    """Return the largest decimal of some significant digits that is not above a score."""
    size = math.floor(math.log10(abs(score))) + 1 - digits
    step = Fraction(10) ** size
    return math.floor(Fraction(score) / step) * step


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_thousand_printed_thresholds_decide_as_the_chosen_ones(dtype):
    rng = np.random.default_rng(53)
    for number in range(500):
        score, label = scores_of(rng, dtype, number), np.arange(30) % 2
        counts = rs.ThresholdCounts.from_scores(label, score)
        chosen = counts.with_next_score(counts.at(rng.choice(score)))
        typed = float(chosen.threshold_text)
        again = counts.at(typed)
        assert (again.tp, again.fp) == (chosen.tp, chosen.fp), chosen
        # In the type of the scores too, where NumPy rounds the typed number.
        assert (score >= typed).sum() == (score >= dtype(typed)).sum() == chosen.tp + chosen.fp
        assert np.float32(typed) > np.float32(chosen.next_score) or dtype is np.float64


def test_no_shorter_decimal_of_four_or_all_whole_digits_lies_between():
    rng = np.random.default_rng(54)
    for number in range(300):
        low, high = np.unique(scores_of(rng, np.float64, number))[-2:].tolist()
        text = threshold_text(high, low)
        assert low < float(text) <= high
        digits = len(text.split("e")[0].lstrip("-0.").replace(".", ""))
        for fewer in range(max(4, len(str(int(abs(high))))), digits):
            assert decimals_up_to(high, fewer) <= Fraction(low), (high, low, text)


@pytest.mark.parametrize(("threshold", "next_score", "text"), CASES)
def test_examples_that_the_page_shares(threshold, next_score, text):
    following = {None: math.nan, "none": -math.inf}.get(next_score, next_score)
    assert threshold_text(threshold, following) == text


def test_everything_that_names_a_threshold_names_one_that_works(tmp_path):
    rng = np.random.default_rng(55)
    label = rng.random(400) < 0.4
    score = 1 / (1 + np.exp(-(label + rng.normal(size=400))))
    predictions = rs.Predictions(label, {"a": score})
    decision = rs.choose(predictions, rs.Context(cost_fn=3))
    text = decision.point.threshold_text
    assert len(text) < len(repr(decision.threshold))
    assert (score >= float(text)).sum() == (score >= decision.threshold).sum()
    report = rs.Report(predictions, rs.Context(cost_fn=3))
    loaded = rs.Decision.load(decision.save(tmp_path / "decision.json"))
    for shown in (repr(decision), decision.verdict, repr(loaded), loaded.verdict, report.data.verdict, report.html):
        assert text in shown
    assert repr(loaded) == repr(decision)
