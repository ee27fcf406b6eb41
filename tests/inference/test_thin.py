"""Intervals and tests of areas where data are thin, by simulation; the full grid, which the docs show, with --slow."""

from math import sqrt

import numpy as np
import pytest
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

import rocscope as rs
from rocscope.inference.estimate import max_t
from rocscope.inference.statistics import average_precision, brier, fpr_at, partial_area, tpr_at
from thin_cases import DESIGNS, Thin, shift, simulate

pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
REDUCED = [
    Thin(0.9, 10, 100),
    Thin(0.97, 20, 200, 2.0),
    Thin(0.8, 50, 50),
    Thin(0.9, 10, 100, kind="tied"),
    Thin(0.7, 20, 200, kind="weights"),
    Thin(0.7, 40, 160, kind="groups of one label", units=20),
    Thin(0.7, 20, 200, kind="mean of folds", units=10),
]


def check_design(design, samples):
    """Whether an interval covers at least 93% or says that it is unreliable, and is not wider than it need be."""
    covered, reliable, width = simulate(design, samples)
    print(f"{design}: covers {100 * covered:.1f}%, reliable {100 * reliable:.0f}%, width {width:.3f}")
    slack = 3 * sqrt(0.07 * 0.93 / samples)
    assert covered >= 0.93 - slack or reliable <= 0.05
    if not design.may_be_wide:
        assert covered <= 0.98 + slack
    if min(design.n_pos, design.n_neg) >= 50 and design.area <= 0.9 and not design.units:
        assert width <= 1.03


@pytest.mark.every(4)
@pytest.mark.parametrize("design", REDUCED, ids=str)
def test_areas_are_covered(design):
    check_design(design, 150)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_areas_are_covered_in_full(design):
    check_design(design, 2000)


def test_the_grid_is_as_wide_as_promised():
    assert len(DESIGNS) >= 54
    assert {design.n_pos for design in DESIGNS} >= {5, 10, 20, 200}
    assert {design.n_neg for design in DESIGNS} >= {20, 1000, 10_000}
    assert {design.spread for design in DESIGNS} == {0.5, 1.0, 2.0}
    assert len({design.kind for design in DESIGNS}) == 7


def models(rng, n_pos, n_neg, areas, spread=1.0, common=0.3):
    """Scores of some models of the same rows, which share a part of their variance."""
    label = np.arange(n_pos + n_neg) < n_pos
    noise = np.sqrt(common) * rng.normal(size=label.size)
    scale = np.where(label, spread, 1.0)
    return rs.Predictions(
        label,
        {
            f"m{i}": scale * (noise + np.sqrt(1 - common) * rng.normal(size=label.size)) + label * shift(area, spread)
            for i, area in enumerate(areas)
        },
    )


def rejections(samples, n_pos, n_neg, areas, p_value, spread=1.0):
    rng = np.random.default_rng([samples, n_pos, n_neg, *(int(1000 * area) for area in areas)])
    return np.mean([p_value(models(rng, n_pos, n_neg, areas, spread)) <= 0.05 for _ in range(samples)])


PAIRS = [
    (areas, spread, sizes)
    for sizes in ((10, 100), (10, 1000), (20, 1000), (50, 50), (50, 500), (100, 200))
    for areas in ((0.6, 0.6), (0.8, 0.8), (0.9, 0.9), (0.7, 0.8), (0.85, 0.95), (0.98, 0.995))
    for spread in (0.5, 1.0, 2.0)
]


def check_pair(areas, spread, sizes, samples):
    """Whether the interval of a difference holds it; prints a line of the table in docs/guide/intervals.md."""
    rng = np.random.default_rng([*sizes, *(int(1000 * area) for area in areas), int(10 * spread)])
    covered, width, reliable = {"auto": 0, "delong": 0}, {"auto": 0.0, "delong": 0.0}, 0
    for _ in range(samples):
        preds = models(rng, *sizes, areas, spread)
        for method in covered:
            difference = rs.compare(preds, method=method)[0].difference
            covered[method] += areas[1] - areas[0] in difference
            width[method] += difference.high - difference.low
            reliable += method == "auto" and difference.reliable
    share, other = (100 * covered[method] / samples for method in covered)
    wider = width["auto"] / width["delong"]
    print(
        f"\n| {areas[0]} and {areas[1]} | ×{spread:g} | {sizes[0]} + {sizes[1]:,} | {share:.1f} | "
        f"{100 * reliable / samples:.0f} | {other:.1f} | {wider:.2f} |"
    )
    assert share >= 93 - 300 * sqrt(0.07 * 0.93 / samples) or reliable <= 0.05 * samples
    if min(sizes) >= 50 and max(areas) <= 0.9:
        assert wider <= 1.08


@pytest.mark.every(2)
@pytest.mark.parametrize(("areas", "spread", "sizes"), [((0.85, 0.95), 1.0, (10, 100)), ((0.8, 0.8), 2.0, (50, 50))])
def test_differences_are_covered(areas, spread, sizes):
    check_pair(areas, spread, sizes, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("areas", "spread", "sizes"), PAIRS)
def test_differences_are_covered_in_full(areas, spread, sizes):
    check_pair(areas, spread, sizes, 2000)


def halves(preds):
    """Each of two models on rows of its own."""
    part = np.arange(len(preds)) % 2
    return {model: preds.select(part == i, models=[model]) for i, model in enumerate(preds.models)}


TESTS = {
    "paired": ((0.8, 0.8), lambda p: rs.compare(p)[0].p_value),
    "unpaired": ((0.8, 0.8), lambda p: rs.compare(halves(p))[0].p_value),
    "superiority": ((0.75, 0.8), lambda p: rs.compare(p, test="superiority", margin=0.05)[0].p_value),
    "noninferiority": ((0.85, 0.8), lambda p: rs.compare(p, test="noninferiority", margin=0.05)[0].p_value),
    "equivalence": ((0.75, 0.8), lambda p: rs.compare(p, test="equivalence", margin=0.05)[0].p_value),
    "omnibus": ((0.8, 0.8, 0.8), lambda p: rs.compare(p).omnibus.p_value),
    "max-t": ((0.8, 0.8, 0.8), lambda p: min(pair.adjusted_p_value for pair in rs.compare(p, adjust="max-t"))),
}
SIZES = ((10, 100), (10, 1000), (20, 200), (50, 50), (100, 400))


def check_size(name, sizes, samples):
    areas, p_value = TESTS[name]
    found = rejections(samples, *sizes, areas, p_value)
    print(f"{name}, {sizes[0]} + {sizes[1]}: rejects {100 * found:.1f}% of {samples} samples without a difference")
    assert found <= 0.055 + 3 * sqrt(0.05 * 0.95 / samples)


@pytest.mark.every(7)
@pytest.mark.parametrize("name", TESTS)
def test_tests_keep_their_size(name):
    check_size(name, (15, 60), 80)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", TESTS)
def test_tests_keep_their_size_in_full(name, sizes):
    check_size(name, sizes, 2000)


def check_power(samples, n_pos, n_neg, areas):
    """Whether the test finds at least 95% of what DeLong's finds, where that one keeps its size."""
    rng = np.random.default_rng([samples, n_pos])
    found = {"auto": 0, "delong": 0}
    for _ in range(samples):
        preds = models(rng, n_pos, n_neg, areas)
        for method in found:
            found[method] += rs.compare(preds, method=method)[0].p_value <= 0.05
    ratio = found["auto"] / found["delong"]
    print(f"{n_pos} + {n_neg}: DeLong's finds {100 * found['delong'] / samples:.0f}%, ratio {ratio:.3f}")
    assert ratio >= 0.95


def test_little_power_is_lost():
    check_power(100, 60, 120, (0.7, 0.87))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(50, 50), (100, 100), (100, 400), (200, 200)], ids=str)
def test_little_power_is_lost_in_full(sizes):
    check_power(1000, *sizes, (0.7, 0.7 + 1 / sqrt(sizes[0])))


@pytest.mark.parametrize("statistic", [None, "average_precision", "brier"])
def test_where_no_row_differs_one_is_added_each_way(statistic):
    """Bonett & Price 2012: two rows more, which differ by as much as rows do."""
    preds = models(np.random.default_rng(0), 60, 50, (0.8,))
    score = 1 / (1 + np.exp(-preds.scores["m0"]))
    options = {} if statistic is None else {"statistic": statistic}
    pair = rs.compare(rs.Predictions(preds.y_true, {"a": score, "b": score.copy()}), **options)[0]
    assert (pair.difference.value, pair.p_value) == (0, 1)
    assert "one row added for each model" in pair.method
    assert pair.difference.reliable
    assert pair.difference.low == pytest.approx(-pair.difference.high)
    if statistic is None:
        # In each class two rows more, which differ by as much as placements of its rows do.
        above = preds.scores["m0"][preds.y_true][:, None] > preds.scores["m0"][~preds.y_true]
        of_pos, of_neg = (2 * (np.ptp(above.mean(axis=axis)) / above.shape[1 - axis]) ** 2 for axis in (1, 0))
        df = (of_pos + of_neg) ** 2 / (of_pos**2 / 59 + of_neg**2 / 49)
        assert pair.difference.high == pytest.approx(stats.t.ppf(0.975, df) * sqrt(of_pos + of_neg))


def overrides(samples, n, share, statistic):
    """Return how often reliable intervals hold the difference of a model and its copy with a few scores overridden."""

    def draw(rng, n):
        risk = special.expit(1.5 * rng.standard_normal(n) - 1.2)
        other = np.where(rng.random(n) < share, 0.01, risk)
        return rs.Predictions(rng.random(n) < risk, {"a": risk, "b": other})

    population = draw(np.random.default_rng(1), 300_000)
    values = [(statistic or rs.auc)(population.counts(model)) for model in "ab"]
    rng, held, reliable = np.random.default_rng(2), 0, 0
    for _ in range(samples):
        found = rs.compare(draw(rng, n), **({} if statistic is None else {"statistic": statistic}))[0].difference
        reliable += found.reliable
        held += found.reliable and values[1] - values[0] in found
    print(f"{share:g} of {n} overridden: {held} of {reliable} reliable intervals of {samples} hold")
    return held, reliable


@pytest.mark.parametrize("statistic", [None, brier()], ids=["AUC", "Brier score"])
def test_few_overridden_scores_are_allowed_for(statistic):
    """Without a row each way 60 to 70% of such intervals held."""
    held, reliable = overrides(60, 300, 0.01, statistic)
    assert reliable >= 48
    assert held >= (0.93 - 2 * sqrt(0.05 * 0.95 / reliable)) * reliable


@pytest.mark.slow
@pytest.mark.parametrize("n, share", [(300, 0.01), (300, 0.003), (2000, 0.002)])
@pytest.mark.parametrize("statistic", [None, brier(), average_precision(), partial_area(max_fpr=0.1)], ids=str)
def test_few_overridden_scores_are_allowed_for_in_full(n, share, statistic):
    held, reliable = overrides(1000, n, share, statistic)
    assert reliable >= 800
    assert held >= (0.93 - 2 * sqrt(0.05 * 0.95 / reliable)) * reliable


def parts(samples, n_pos, n_neg, statistic):
    """Return how often reliable intervals hold a part of a curve, and how often equal models differ in it."""
    rng, held, differ, reliable = np.random.default_rng([n_pos, n_neg]), 0, 0, 0
    truth = statistic(models(np.random.default_rng(0), 200 * n_pos, 200 * n_neg, (0.85,)).counts())
    for _ in range(samples):
        pair = rs.compare(models(rng, n_pos, n_neg, (0.85, 0.85)), statistic=statistic)
        estimate = pair.estimates["m0"]
        reliable += estimate.reliable
        held += estimate.reliable and truth in estimate
        differ += pair[0].difference.reliable and pair[0].p_value <= 0.05
    print(f"{statistic.name}, {n_pos} + {n_neg}: {held} of {reliable} hold, {differ} of {samples} equal models differ")
    return held, differ, reliable


PARTS = [
    (45, 300, partial_area(min_tpr=0.9)),
    (200, 100, partial_area(max_fpr=0.05)),
    (100, 1000, fpr_at(0.95)),
    (50, 500, tpr_at(0.01)),
]


@pytest.mark.every(2)
@pytest.mark.parametrize("n_pos, n_neg, statistic", PARTS, ids=str)
def test_parts_of_curves_hold_with_few_rows_in_them(n_pos, n_neg, statistic):
    """With first-order moves as few as 78% of intervals held, and up to 16% of equal models differed."""
    held, differ, reliable = parts(60, n_pos, n_neg, statistic)
    assert reliable >= 48
    assert held >= (0.93 - 2 * sqrt(0.05 * 0.95 / reliable)) * reliable
    assert differ <= (0.055 + 2 * sqrt(0.05 * 0.95 / 60)) * 60


@pytest.mark.slow
@pytest.mark.parametrize("n_pos, n_neg, statistic", PARTS, ids=str)
def test_parts_of_curves_hold_with_few_rows_in_them_in_full(n_pos, n_neg, statistic):
    held, differ, reliable = parts(1000, n_pos, n_neg, statistic)
    assert reliable >= 800
    assert held >= (0.93 - 2 * sqrt(0.05 * 0.95 / reliable)) * reliable
    assert differ <= (0.055 + 2 * sqrt(0.05 * 0.95 / 1000)) * 1000


def test_a_difference_has_the_doubts_of_both_estimates():
    preds = models(np.random.default_rng(0), 30, 300, (0.8, 0.8))
    pair = rs.compare(preds, statistic=partial_area(min_tpr=0.9))
    assert "only 3 rows expected above the threshold" in pair.estimates["m0"].reason
    assert pair[0].difference.reason == pair.estimates["m0"].reason


def test_equivalence_is_two_one_sided_tests():
    preds = models(np.random.default_rng(1), 200, 200, (0.8, 0.805), common=0.8)
    both = rs.compare(preds, test="equivalence", margin=0.06)[0]
    above = rs.compare(preds, test="noninferiority", margin=0.06)[0]
    turned = rs.Predictions(preds.y_true, {"m1": preds.scores["m1"], "m0": preds.scores["m0"]})
    below = rs.compare(turned, test="noninferiority", margin=0.06)[0]
    assert both.p_value == pytest.approx(max(above.p_value, below.p_value), rel=1e-6)
    inner = rs.compare(preds, level=0.9)[0].difference
    assert (both.p_value < 0.05) == (inner.low > -0.06 and inner.high < 0.06)
    assert "equivalence by 0.06" in repr(both)


def test_p_values_and_intervals_agree():
    rng = np.random.default_rng(2)
    for n_pos, n_neg in ((6, 30), (15, 60), (60, 60)):
        pair = rs.compare(models(rng, n_pos, n_neg, (0.7, 0.85)))[0]
        ends = rs.compare(models(np.random.default_rng(2), 6, 30, (0.7, 0.85)), level=0.95)[0]
        assert (pair.p_value < 0.05) == (0 not in pair.difference)
        assert 0 <= ends.p_value <= 1


def test_max_t_is_between_none_and_bonferroni():
    preds = models(np.random.default_rng(3), 60, 90, (0.7, 0.75, 0.85), common=0.7)
    single, together, holm = (rs.compare(preds, adjust=how) for how in ("none", "max-t", "holm"))
    for one, two in zip(single, together, strict=True):
        assert one.p_value <= two.adjusted_p_value <= min(3 * one.p_value, 1) + 0.005
    assert min(p.adjusted_p_value for p in together) <= min(p.adjusted_p_value for p in holm) + 0.005


def test_the_omnibus_test_is_hotellings_with_the_least_of_welchs_degrees_of_freedom():
    preds = models(np.random.default_rng(3), 300, 400, (0.75, 0.78, 0.81))
    found = rs.compare(preds).omnibus
    y = preds.y_true.astype(bool)
    # placements: the share of the other class that a row beats, ties count half
    of_pos, of_neg = [], []
    for score in preds.scores.values():
        beats = np.sign(score[y][:, None] - score[~y][None, :]) / 2 + 0.5
        of_pos.append(beats.mean(axis=1))
        of_neg.append(beats.mean(axis=0))
    parts = [np.cov(each) / len(each[0]) for each in (of_pos, of_neg)]
    sizes = [len(of_pos[0]) - 1, len(of_neg[0]) - 1]

    def welch(i, j):
        of_class = [part[i, i] + part[j, j] - 2 * part[i, j] for part in parts]
        return sum(of_class) ** 2 / sum(v**2 / m for v, m in zip(of_class, sizes, strict=True))

    df = min(welch(i, j) for i, j in ((0, 1), (0, 2), (1, 2)))
    auc = np.mean(of_pos, axis=1)
    d, contrast = auc[1:] - auc[0], np.array([[-1, 1, 0], [-1, 0, 1]])
    squared = d @ np.linalg.solve(contrast @ sum(parts) @ contrast.T, d)
    assert (found.df, found.df_error) == (2, pytest.approx(df - 1))
    assert found.statistic == pytest.approx(squared * (df - 1) / (2 * df))
    assert found.p_value == pytest.approx(stats.f.sf(found.statistic, 2, df - 1))


def test_a_model_that_ranks_like_another_leaves_the_omnibus_test_as_it_is():
    scores = dict(models(rng := np.random.default_rng(8), 300, 400, (0.7, 0.75, 0.85)).scores)
    y = rs.Predictions(np.arange(700) < 300, scores).y_true
    a, b, c = scores.values()
    twin = np.exp(a)
    pair = rs.compare(rs.Predictions(y, {"a": a, "c": c}))[0]
    for alike in ({"a": a, "twin": twin, "c": c}, {"c": c, "a": a, "twin": twin}, {"a": a, "c": c, "twin": twin}):
        found = rs.compare(rs.Predictions(y, alike)).omnibus
        assert found.df == 1
        # With one contrast left F is the square of Welch's t, so the p-value is that of the pair.
        assert found.p_value == pytest.approx(pair.p_value, rel=1e-6)
    three = rs.compare(rs.Predictions(y, {"a": a, "b": b, "c": c})).omnibus
    four = rs.compare(rs.Predictions(y, {"a": a, "b": b, "c": c, "twin": twin})).omnibus
    assert (four.df, four.df_error) == (2, pytest.approx(three.df_error))
    assert (four.statistic, four.p_value) == (pytest.approx(three.statistic), pytest.approx(three.p_value))
    # Weights and groups go other ways to the covariance.
    for rows in ({"sample_weight": rng.uniform(0.5, 2, 700)}, {"groups": np.arange(700) // 2}):
        three = rs.compare(rs.Predictions(y, {"a": a, "b": b, "c": c}, **rows)).omnibus
        four = rs.compare(rs.Predictions(y, {"a": a, "twin": twin, "b": b, "c": c}, **rows)).omnibus
        assert four.df == three.df == 2
        assert four.p_value == pytest.approx(three.p_value)
    same = rs.compare(rs.Predictions(y, {"a": a, "twin": twin, "again": 2 * a})).omnibus
    assert (same.df, same.statistic, same.p_value) == (0, 0, 1)


def test_an_adjusted_p_value_is_never_below_its_own():
    # no draw of 100,000 reaches a normal statistic of 10: without the floor the adjusted p-value would be 0
    p = np.array([1e-23, 1e-22, 0.6])
    adjusted = max_t(p, np.eye(3), one_sided=False)
    assert (adjusted >= p).all()
    assert adjusted[:2].tolist() == [1e-23, 1e-22]


def test_one_positive_has_an_omnibus_test_adjusted_for_all_pairs():
    rng = np.random.default_rng(0)
    y = np.append(1, np.zeros(30, int))
    result = rs.compare(rs.Predictions(y, {name: rng.normal(size=31) for name in "abc"}), adjust="max-t")
    smallest = min(pair.p_value for pair in result.pairs)
    # Šidák's adjustment for three pairs, as nothing is known of their correlations
    expected = pytest.approx(1 - (1 - smallest) ** 3, abs=0.01)
    assert result.omnibus.p_value == expected
    assert min(pair.adjusted_p_value for pair in result.pairs) == expected


def test_the_omnibus_test_of_many_rows_is_delongs():
    preds = models(np.random.default_rng(4), 400, 600, (0.8, 0.82, 0.84), common=0.5)
    result = rs.compare(preds)
    contrast = np.array([[-1, 1, 0], [-1, 0, 1]])
    auc = np.array([each.value for each in result.estimates.values()])
    difference, spread = contrast @ auc, contrast @ result.covariance @ contrast.T
    chi2 = difference @ np.linalg.solve(spread, difference)
    assert result.omnibus.p_value == pytest.approx(stats.chi2.sf(chi2, 2), rel=0.1)
    assert rs.compare(models(np.random.default_rng(5), 20, 20, (0.8, 0.8))).omnibus is None


def test_pooled_folds_of_other_scales_are_warned_about():
    rng = np.random.default_rng(6)
    label, fold = rng.random(300) < 0.4, np.arange(300) % 5
    score = label + rng.normal(size=300)
    with pytest.warns(rs.errors.RocscopeWarning, match="different score scales"):
        rs.auc_interval(rs.Predictions(label, score + 5 * fold, fold=fold))


@pytest.mark.filterwarnings("error")
def test_pooled_folds_of_one_scale_are_not():
    rng = np.random.default_rng(7)
    label, fold = rng.random(300) < 0.4, np.arange(300) % 5
    found = rs.auc_interval(rs.Predictions(label, label + rng.normal(size=300), fold=fold))
    assert "pooled over 5 folds" in found.method


def test_few_groups_are_said_to_be_few():
    rng = np.random.default_rng(8)
    label, group = rng.random(90) < 0.4, np.arange(90) % 9
    found = rs.auc_interval(label, label + rng.normal(size=90), groups=group)
    assert found.reason == "only 9 groups of equal size, fewer than 10"
    assert not found.to_dict()["reliable"]


def check_cross_validation(n, features, samples):
    """Whether the AUC of cross-validated logistic regressions that is reliable holds the mean AUC of the models."""
    rng = np.random.default_rng([n, features])
    slope = np.full(features, 1.1 / np.sqrt(features))
    held, reliable = [], []
    grid = np.linspace(0, 1, 21)
    line, other = rng.normal(size=(2, 100_000))
    happens = rng.random(line.size) < special.expit(1.1 * line - 0.8)
    areas = [rs.auc(happens, share * line + np.sqrt(1 - share**2) * other) for share in grid]
    for _ in range(samples):
        x, fold = rng.normal(size=(n, features)), np.arange(n) % 5
        y = rng.random(n) < special.expit(x @ slope - 0.8)
        score, truths = np.empty(n), []
        for k in range(5):
            model = LogisticRegression().fit(x[fold != k], y[fold != k])
            score[fold == k] = model.decision_function(x[fold == k])
            of_model = model.coef_[0]
            share = of_model @ slope / np.sqrt(of_model @ of_model * (slope @ slope))
            truths.append(np.interp(share, grid, areas))
        found = rs.auc_interval(rs.Predictions(y, score, fold=fold))
        held.append(np.mean(truths) in found)
        reliable.append(found.reliable)
    return np.mean(held), np.mean(reliable)


@pytest.mark.parametrize(("positives", "factor"), [(60, 1.5), (150, 1.5), (300, 1.25), (1500, 1.05)])
@pytest.mark.parametrize("folds", ["pooled", "mean"])
def test_the_variance_of_an_area_over_folds_counts_shared_training_rows(positives, factor, folds):
    rng = np.random.default_rng(positives)
    label, fold = np.arange(4 * positives) < positives, np.arange(4 * positives) % 2
    preds = rs.Predictions(label, label + rng.normal(size=label.size), fold=fold)
    parts = [label * 0 == 0] if folds == "pooled" else [fold == 0, fold == 1]
    errors = [
        rs.auc_interval(label[part], preds.scores["score"][part], method="delong").standard_error for part in parts
    ]
    expected = np.sqrt(factor * np.sum(np.square(errors))) / len(parts)
    found = rs.auc_interval(preds, folds=folds, method="delong")
    assert found.standard_error == pytest.approx(expected, rel=1e-12)
    assert f"variance times {factor:.3g} for shared training rows" in found.method


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000])
def test_areas_of_folds_hold_the_mean_of_the_models(n):
    held, reliable = check_cross_validation(n, 20, 400)
    assert held >= 0.93 - 3 * sqrt(0.07 * 0.93 / 400)
    assert reliable == 1
