"""drift: distances and their bounds, PSI by hand, p-values against all divisions of the rows, and by simulation."""

import json
from fractions import Fraction
from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

import rocscope as rs
from binning import binned_samples, bins_of
from rocscope import ThresholdCounts
from rocscope.errors import InputError, ScoreError
from rocscope.inference import adjust_p_values, estimate_of
from rocscope.outcomes.drift import exact_ks_p_value
from rocscope.ranges import BinnedCounts, CountsSketch
from sketch_cases import sketch_of, streams
from strategies import costly, samples


def share_above(scores, threshold):
    return Fraction(sum(score >= threshold for score in scores), len(scores))


def distance(one, other):
    """Look at every threshold."""
    return max(abs(share_above(one, t) - share_above(other, t)) for t in {*one, *other})


def split(sample):
    score, y = sample.score.tolist(), sample.y.astype(bool).tolist()
    return score, [s for s, p in zip(score, y, strict=True) if p], [s for s, p in zip(score, y, strict=True) if not p]


def holds(bounds, exact):
    return Fraction(bounds.low) <= exact <= Fraction(bounds.high)


def difference(sample, other):
    return other.counts().pairs().fraction() - sample.counts().pairs().fraction()


@given(samples(), samples())
def test_of_exact_counts_they_are_the_distances(one, other):
    found = rs.drift(one.counts(), other.counts())
    for bounds, mine, theirs in zip((found.ks, found.ks_pos, found.ks_neg), split(one), split(other), strict=True):
        exact = distance(mine, theirs)
        assert holds(bounds, exact) and bounds == pytest.approx((float(exact),) * 2)
    assert holds(found.auc_difference, difference(one, other))
    assert found.prevalence_difference == other.counts().prevalence - one.counts().prevalence


@given(binned_samples(), binned_samples())
def test_of_bins_the_bounds_hold(one, other):
    found = rs.drift(one[1], other[1])
    for bounds, mine, theirs in zip(
        (found.ks, found.ks_pos, found.ks_neg), split(one[0]), split(other[0]), strict=True
    ):
        assert holds(bounds, distance(mine, theirs))
    assert holds(found.auc_difference, difference(one[0], other[0]))


@pytest.mark.slow(reason="long searches")
@costly
@given(streams(most=400), streams(most=400))
def test_of_sketches_the_bounds_hold(one, other):
    (y, score), (other_y, other_score) = one, other
    if score.dtype != other_score.dtype:
        score, other_score = (column.astype(np.float64) for column in (score, other_score))
    found = rs.drift(sketch_of(y, score), sketch_of(other_y, other_score))
    exact = rs.drift(ThresholdCounts.from_scores(y, score), ThresholdCounts.from_scores(other_y, other_score))
    for name in ("ks", "ks_pos", "ks_neg", "auc_difference"):
        wide, narrow = getattr(found, name), getattr(exact, name)
        assert wide.low <= narrow.high and narrow.low <= wide.high


@given(samples(), st.data())
def test_a_sample_may_not_have_drifted_from_itself(sample, data):
    starts = [data.draw(st.sets(st.integers(0, len(sample.counts()) - 1))) for _ in range(2)]
    found = rs.drift(*(bins_of(sample, each) for each in starts))
    assert found.ks.low == 0 and found.auc_difference.low <= 0 <= found.auc_difference.high


def test_counts_beyond_32_bits():
    one = BinnedCounts([2, 1], [2, 1], [2**40, 0], [0, 2**40])
    other = BinnedCounts([2, 1], [2, 1], [0, 2**40], [2**40, 0])
    assert rs.drift(one, other).ks_pos == (1, 1)
    assert rs.drift(one, other).auc_difference == (-1, -1)


def test_a_class_that_is_missing_is_undefined():
    one = ThresholdCounts([2, 1], [1, 1], [0, 0])
    found = rs.drift(one, ThresholdCounts([2, 1], [1, 0], [0, 1]))
    assert (found.ks_neg, found.auc_difference) == (None, None)
    assert "ks_neg undefined" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["ks_neg"] is None
    assert found._repr_html_().count("<tr>") == 6


def test_what_cannot_be_compared_is_refused():
    counts = ThresholdCounts([2, 1], [1, 1], [0, 1])
    with pytest.raises(ScoreError, match="the same data type"):
        rs.drift(counts, ThresholdCounts([0.5], [1], [1]))
    with pytest.raises(InputError, match="current: expected Predictions"):
        rs.drift(counts, "scores.csv")
    with pytest.raises(ScoreError, match="scores of the model 'score'"):
        rs.drift(counts, {"a": [1, 2], "b": [2, 1]})
    with pytest.raises(InputError, match="current: expected Predictions with segments, or a mapping"):
        rs.drift(rs.Predictions([1, 0], [1, 2], segment=[1, 2]), [1, 2], by="segment")


def test_days_add_up_to_all_rows():
    generator = np.random.default_rng(0)
    days, rows = [], []
    for _ in range(3):
        y = generator.random(1500) < 0.2
        rows.append((y, generator.normal(size=1500) + y))
        days.append(CountsSketch(4e4))
        days[-1].update(*rows[-1])
    whole = days[0]
    for day in days[1:]:
        whole = whole + day
    low, high = whole.binned().auc_bounds
    y, score = (np.concatenate(column) for column in zip(*rows, strict=True))
    assert low <= rs.auc(y, score) <= high < low + 0.01
    today = rs.drift(whole, days[-1])
    assert today.ks.low < 0.04 and today.ks.high - today.ks.low < 0.02


def index(*shares):
    """PSI of pairs of shares, in plain Python."""
    return sum((q - p) * log(q / p) for p, q in shares)


@pytest.mark.parametrize(
    ("reference", "current", "bins", "shares"),
    [
        # Four quarters, whose shares become .1, .2, .3 and .4.
        ([1, 2, 3, 4] * 5, [1] * 2 + [2] * 4 + [3] * 6 + [4] * 8, 4, [(0.25, q) for q in (0.1, 0.2, 0.3, 0.4)]),
        # Nobody is left in the first half: half a row of ten. The score 1.5 belongs to the upper bin, 0 to the lower.
        ([1, 2], [1.5] * 10, 2, [(0.5, 0.05), (0.5, 1.0)]),
        # Six of ten rows are equal: of three quantiles two coincide. Nobody of the reference is above 7: half a row.
        ([1, 2, 3, 7, 7, 7, 7, 7, 7, 7], [0, 2, 7, 9], 4, [(0.3, 0.5), (0.7, 0.25), (0.05, 0.25)]),
    ],
)
def test_psi_of_three_tables_by_hand(reference, current, bins, shares):
    labels = np.arange(len(reference)) % 2
    found = rs.drift(rs.Predictions(labels, np.array(reference, float)), np.array(current, float), bins=bins)
    assert found.psi == pytest.approx(index(*shares), abs=1e-12)


def every_division(first, second, statistic):
    """Share of all ways to choose the first rows among the pooled ones whose statistic is at least as large."""
    pooled, observed, many = first + second, statistic(first, second), []
    for chosen in combinations(range(len(pooled)), len(first)):
        one = [pooled[i] for i in chosen]
        other = [score for i, score in enumerate(pooled) if i not in chosen]
        many.append(statistic(one, other) >= observed)
    return Fraction(sum(many), len(many))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_the_exact_p_value_is_that_of_all_divisions_with_ties(first, second):
    counts = [np.bincount(scores, minlength=5) for scores in (first, second)]
    assert exact_ks_p_value(*counts) == pytest.approx(float(every_division(first, second, distance)), abs=1e-12)


def test_the_exact_p_value_is_scipys_without_ties():
    rng = np.random.default_rng(1)
    for shift, n, m in ((0, 30, 50), (1.5, 60, 41)):
        y, score, new = rng.random(n) < 0.5, rng.normal(size=n), rng.normal(shift, size=m)
        expected = stats.ks_2samp(score, new, method="exact")
        found = rs.drift(rs.Predictions(y, score), new, replicates=1)
        assert found.ks_p == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.ks.low == pytest.approx(expected.statistic)
        assert found.wasserstein == pytest.approx(stats.wasserstein_distance(score, new))


def test_simulated_p_values_approach_those_of_all_divisions():
    first, second = [1, 2, 2, 3, 5], [2, 4, 5, 5, 6]

    def psi(one, other):
        return rs.drift(rs.Predictions([0, 1, 0, 1, 1], one), other, bins=2, replicates=0).psi + 1e-12

    found = rs.drift(rs.Predictions([0, 1, 0, 1, 1], first), second, bins=2, replicates=20_000)
    assert found.psi_p == pytest.approx(float(every_division(first, second, psi)), abs=0.015)


def test_above_ten_thousand_rows_the_distance_is_tested_by_simulation():
    rng = np.random.default_rng(5)
    reference = rs.Predictions(rng.random(8000) < 0.3, rng.normal(size=8000))
    new = rng.normal(0.03, size=8000)
    asymptotic = stats.ks_2samp(reference.scores["score"], new, method="asymp").pvalue
    assert rs.drift(reference, new).ks_p == pytest.approx(asymptotic, abs=0.05)
    assert rs.drift(reference, new + 1).ks_p == 1 / 1000


def rejected(samples, seed, replicates=199):
    """Shares of samples without drift with p-values of KS and PSI below .05; scores with and without ties."""
    rng = np.random.default_rng(seed)
    below = []
    for number in range(samples):
        n, m = (300, 200) if number % 2 else (150, 400)
        scores = rng.normal(size=n + m)
        if number % 4 > 1:
            scores = scores.round(1)
        reference, options = rs.Predictions(np.arange(n) % 2, scores[:n]), {"replicates": replicates, "figures": ()}
        found = rs.drift(reference, scores[n:], random_state=number, **options)
        below.append([found.ks_p < 0.05 + 1e-9, found.psi_p < 0.05 + 1e-9])
    return np.mean(below, axis=0)


def test_p_values_are_seldom_small_without_drift():
    assert (rejected(60, seed=2, replicates=99) < 0.17).all()


@pytest.mark.slow(reason="full simulation")
def test_p_values_are_uniform_without_drift():
    ks, psi = rejected(2000, seed=3)
    assert 0.04 <= ks <= 0.06 and 0.04 <= psi <= 0.06


def guide_samples(rng, odds=1.0, shift=0.0):
    """Samples of the guide's sizes; the odds of the event change within the same scores of each class."""
    reference = rng.normal(size=2000)
    y = rng.random(2000) < special.expit(1.2 * reference - 1.5)
    pool = rng.normal(shift, size=6000)
    label = rng.random(6000) < special.expit(1.2 * pool - 1.5)
    keep = np.flatnonzero(label | (rng.random(6000) < 1 / odds))[:1500]
    return rs.Predictions(y, reference), rs.Predictions(label[keep], pool[keep])


def test_a_prior_shift_breaks_the_same_risk_and_a_covariate_shift_the_same_scores():
    rng = np.random.default_rng(6)
    prior = rs.drift(*guide_samples(rng, odds=2.0), figures=())
    assert prior.risk_p < 0.001 < 0.05 < prior.classes_p
    covariate = rs.drift(*guide_samples(rng, shift=0.5), figures=())
    assert covariate.classes_p < 0.001 < 0.05 < covariate.risk_p


@pytest.mark.slow(reason="full simulation")
def test_the_test_of_the_same_risk_has_its_level_and_power_at_the_sizes_of_the_guide():
    rng = np.random.default_rng(7)
    rate = {}
    for name, odds, shift in (("level", 1.0, 0.5), ("power", 1.5, 0.0)):
        p = [rs.drift(*guide_samples(rng, odds, shift), figures=(), replicates=1).risk_p for _ in range(200)]
        rate[name] = np.mean(np.array(p) < 0.05)
    assert rate["level"] <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
    assert rate["power"] >= 0.8


def test_labels_change_no_distance_of_scores_and_figures_are_those_of_expected():
    reference, current = (rows.select(np.arange(len(rows)) < 300) for rows in guide_samples(np.random.default_rng(8)))
    scores = current.scores["score"]
    found = rs.drift(reference, current, threshold=0.5, replicates=9)
    blind = rs.drift(reference, {"score": scores}, replicates=9)
    for name in ("ks", "ks_p", "psi", "psi_p", "wasserstein"):
        assert getattr(found, name) == getattr(blind, name)
    assert np.isnan([blind.risk_p, blind.classes_p, blind.prevalence_difference]).all()
    cases = rs.expected(reference, scores)
    assert blind.figures["auc"].expected.value == pytest.approx(rs.auc(cases), abs=1e-12)
    assert blind.figures["auc"].observed is None
    assert found.figures["auc"].observed == estimate_of(current, "auc")
    precision = reference.point(threshold=0.5).precision
    assert found.figures["precision at 0.5"].reference.value == pytest.approx(precision)
    again = rs.drift(reference, cases, replicates=9)
    assert again.psi == blind.psi and again.figures["auc"].expected.value == pytest.approx(rs.auc(cases), abs=1e-12)


def test_segments_of_scores_without_labels_are_compared_with_adjusted_p_values():
    rng = np.random.default_rng(9)
    segment = np.repeat(["north", "south", "west"], [60, 50, 40])
    reference = rs.Predictions(rng.random(150) < 0.4, rng.normal(size=150), segment=segment)
    new, where = rng.normal(0.4, size=90), np.repeat(["south", "west", "east"], 30)
    parts = {name: new[where == name] for name in ("south", "west", "east")}
    found = rs.drift(reference, parts, by="segment", adjust="bh", replicates=99)
    assert (found.names.tolist(), found.only_reference.tolist()) == (["south", "west"], ["north"])
    assert found.only_current.tolist() == ["east"]
    alone = [rs.drift(reference.by_segment()[name], new[where == name], replicates=99) for name in ("south", "west")]
    assert [part.psi_p for part in found.parts] == [part.psi_p for part in alone]
    np.testing.assert_array_equal(found.adjusted_ks_p, adjust_p_values([part.ks_p for part in alone], "bh"))
    frame = found.to_frame()
    assert frame["ks"].tolist() == [part.ks.low for part in alone]
    assert frame["auc_difference"].isna().all()


def test_weights_that_are_no_numbers_of_rows_have_distances_and_no_p_values():
    weighted = rs.Predictions([0, 1, 1, 0], [1, 2, 3, 4], sample_weight=[1, 2, 1, 1], weights="sampling")
    repeated = rs.Predictions([0, 1, 1, 1, 0], [1, 2, 2, 3, 4])
    current = rs.Predictions([0, 1], [2, 3])
    found, equal = rs.drift(weighted, current), rs.drift(repeated, current, replicates=0)
    assert np.isnan([found.ks_p, found.psi_p, found.classes_p]).all()
    assert (found.ks, found.psi, found.auc_difference) == (equal.ks, equal.psi, equal.auc_difference)
    frequent = rs.Predictions([0, 1, 1, 0], [1, 2, 3, 4], sample_weight=[1, 2, 1, 1], weights="frequency")
    assert rs.drift(frequent, current, replicates=9).ks_p == rs.drift(repeated, current, replicates=9).ks_p


def test_the_command_takes_a_file_with_labels_or_without(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference, current = (rows.select(np.arange(len(rows)) < 200) for rows in guide_samples(np.random.default_rng(10)))
    segment = np.where(np.arange(200) % 2, "north", "south")
    for name, rows in (("old", reference), ("new", current), ("blind", current)):
        header = "a,region" + ",y" * (name != "blind")
        lines = [f"{s!r},{r}" for s, r in zip(rows.scores["score"].tolist(), segment, strict=True)]
        if name != "blind":
            lines = [f"{line},{int(y)}" for line, y in zip(lines, rows.y_true, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    options = ("--label", "y", "--score", "a", "--json")
    expected = json.loads(json.dumps(rs.drift(reference, current).to_dict()))
    printed = json.loads(run("drift", "old.csv", "new.csv", *options)[1])
    assert {name: printed[name] for name in expected} == expected
    blind = json.loads(run("drift", "old.csv", "blind.csv", *options, "--plot", "drift.svg")[1])
    assert (blind["psi_p"], blind["risk_p"]) == (expected["psi_p"], None)
    assert (tmp_path / "drift.svg").read_text().startswith("<svg")
    parts = json.loads(run("drift", "old.csv", "blind.csv", *options, "--segment", "region")[1])
    north = segment == "north"
    assert parts["names"] == ["north", "south"]
    alone = rs.drift(reference.select(north), current.scores["score"][north])
    assert parts["parts"][0]["psi"] == alone.psi
    code, _, err = run("drift", "old.csv", "blind.csv", "--label", "y")
    assert code == 0 and "--score a" in err  # the guess
