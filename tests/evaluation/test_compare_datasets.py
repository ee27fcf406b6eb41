"""Comparisons of learners over several data sets, and the critical-difference diagram."""

import json
from itertools import pairwise, permutations, product
from math import inf, nan, sqrt
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from scipy import stats
from statsmodels.stats.multitest import multipletests

import rocscope as rs
from rocscope.errors import InputError, PairingError, ScoreError, ShapeError

matplotlib.use("Agg")

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "learner_comparison.json").read_text())
DEMSAR = REFERENCE["demsar_2006"]
TABLE = dict(zip(DEMSAR["models"], np.transpose(DEMSAR["auc"]), strict=True))

small_tables = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=3, max_size=12).map(np.array)
large_tables = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=11, max_size=16).map(np.array)
few_rows = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=4).map(np.array)


def test_ranks_and_tests_of_demsars_example():
    found = rs.evaluation.friedman(TABLE)
    assert [round(rank, 3) for rank in found.mean_rank.values()] == DEMSAR["mean_rank"]
    n, m = found.ranks.shape
    uncorrected = 12 * n / (m * (m + 1)) * (sum(r**2 for r in found.mean_rank.values()) - m * (m + 1) ** 2 / 4)
    assert round(uncorrected, 2) == DEMSAR["chi2_without_tie_correction"]
    f = (n - 1) * uncorrected / (n * (m - 1) - uncorrected)
    assert round(f, 2) == DEMSAR["f_without_tie_correction"]
    assert found.statistic > uncorrected
    for level, expected in DEMSAR["critical_difference"].items():
        assert round(rs.evaluation.friedman(TABLE, level=float(level)).critical_difference, 2) == expected


def test_critical_values_are_the_published_ones():
    for m, q in enumerate(DEMSAR["q_0.05"], start=2):
        if m < 3:
            continue
        values = {str(i): np.arange(6) + i for i in range(m)}
        found = rs.evaluation.friedman(values).critical_difference / sqrt(m * (m + 1) / 36)
        assert found == pytest.approx(q, abs=2e-3)


@given(few_rows)
def test_few_data_sets_have_the_exact_p_value(values):
    """The oracle deals the ranks of every data set out in every order, one after the other."""
    found = rs.evaluation.friedman(dict(zip("abc", values.T, strict=True)))
    ranks = stats.rankdata(-values, axis=1)
    dealt = np.array([np.sum(rows, axis=0) for rows in product(*(list(permutations(row)) for row in ranks))])
    expected = ((dealt**2).sum(axis=1) >= (ranks.sum(axis=0) ** 2).sum()).mean()
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert found.f_p_value == found.p_value


def test_two_data_sets_that_agree_are_one_case_of_six():
    found = rs.evaluation.friedman({"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.7, 0.6]})
    assert (found.f_statistic, found.p_value, found.f_p_value) == (inf, pytest.approx(1 / 6), pytest.approx(1 / 6))


@pytest.mark.slow
def test_the_exact_test_holds_its_level():
    """Of 150 samples of five data sets without a difference at most 5% (and three standard errors) are found."""
    rng = np.random.default_rng(0)
    for models in ("abc", "abcd"):
        found = [
            rs.evaluation.friedman(dict(zip(models, rng.random((len(models), 5)), strict=True))) for _ in range(150)
        ]
        exact, approximate = (np.mean([p(each) <= 0.05 for each in found]) for p in (lambda r: r.p_value, _by_f))
        print(f"{len(models)} models, 5 data sets: {exact:.1%} by the exact p, {approximate:.1%} by F")
        assert exact <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)


def _by_f(found):
    n, m = found.ranks.shape
    return stats.f.sf(found.f_statistic, m - 1, (m - 1) * (n - 1))


def test_ranks_tie_within_rounding():
    found = rs.evaluation.friedman({"a": [0.1 + 0.2, 5.0], "b": [0.3, 4.0], "c": [0.2, 3.0]})
    assert found.ranks.tolist() == [[1.5, 1.5, 3], [1, 2, 3]]


@given(large_tables)
def test_friedman_equals_scipy_and_iman_davenport_the_anova_of_ranks(values):
    found = rs.evaluation.friedman(dict(zip("abcd", values.T, strict=True)))
    ranks = found.ranks
    if not np.ptp(ranks):
        assert (found.statistic, found.p_value) == (0, 1)
        return
    expected = stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    n, m = ranks.shape
    between = n * ((ranks.mean(axis=0) - (m + 1) / 2) ** 2).sum()
    residual = ((ranks - (m + 1) / 2) ** 2).sum() - between
    if residual > 1e-9:
        f = (between / (m - 1)) / (residual / ((m - 1) * (n - 1)))
        assert found.f_statistic == pytest.approx(f)
        assert found.f_p_value == pytest.approx(stats.f.sf(f, m - 1, (m - 1) * (n - 1)))
    else:
        assert found.f_statistic == inf


@given(small_tables)
def test_ranks_of_errors_are_those_of_their_negatives(values):
    columns = dict(zip("abcd", values.T, strict=True))
    losses = {name: -column for name, column in columns.items()}
    np.testing.assert_array_equal(
        rs.evaluation.friedman(columns).ranks, rs.evaluation.friedman(losses, larger_is_better=False).ranks
    )


@given(small_tables)
def test_groups_are_the_largest_runs_within_the_critical_difference(values):
    found = rs.evaluation.friedman(dict(zip("abcd", values.T, strict=True)), level=0.5)
    order = sorted(found.mean_rank, key=found.mean_rank.get)
    runs = {tuple(order[i:j]) for i in range(4) for j in range(i + 2, 5)}
    close = {run for run in runs if found.mean_rank[run[-1]] - found.mean_rank[run[0]] <= found.critical_difference}
    largest = {run for run in close if not any(set(run) < set(other) for other in close)}
    assert set(found.groups) == largest
    assert all(found.mean_rank[a[0]] <= found.mean_rank[b[0]] for a, b in pairwise(found.groups))


def test_nemenyi_says_of_pairs_what_the_critical_difference_says():
    found = rs.evaluation.friedman(TABLE, level=0.9)
    for pair in found.pairs:
        apart = abs(found.mean_rank[pair.second] - found.mean_rank[pair.first]) > found.critical_difference
        assert apart == (pair.p_value < 0.1) == (0 not in pair.difference)
    # The studentised range of two groups is the normal distribution, so of more it can only be stricter.
    assert all(pair.p_value >= 2 * stats.norm.sf(pair.statistic) for pair in found.pairs)


def test_wilcoxon_of_demsars_example():
    found = rs.evaluation.compare_datasets(TABLE)["C4.5", "C4.5+m"]
    assert found.statistic == DEMSAR["wilcoxon_first_two"]["smaller_sum"]
    d = TABLE["C4.5+m"] - TABLE["C4.5"]
    expected = stats.wilcoxon(np.round(d, 9), zero_method="zsplit")
    assert found.p_value == expected.pvalue == pytest.approx(2 * stats.norm.sf(2.54), rel=0.02)


@pytest.mark.parametrize("case", REFERENCE["r_wilcoxon"]["cases"])
def test_signed_ranks_and_their_interval_equal_r(case):
    d = np.array(case["d"])
    found = rs.evaluation.compare_datasets({"a": np.ones(d.size), "b": 1 + d}, level=case["level"]).pairs[0]
    assert found.p_value == pytest.approx(case["p"])
    assert min(found.statistic, d.size * (d.size + 1) / 2 - found.statistic) == min(
        case["v"], d.size * (d.size + 1) / 2 - case["v"]
    )
    interval = [found.difference.value, found.difference.low, found.difference.high]
    np.testing.assert_allclose(interval, [case["estimate"], case["low"], case["high"]], atol=1e-9)


@pytest.mark.parametrize(
    ("how", "shift", "side"),
    [
        ({"alternative": "greater"}, 0, "greater"),
        ({"alternative": "less"}, 0, "less"),
        ({"test": "superiority", "margin": 0.5}, 0.5, "greater"),
        ({"test": "noninferiority", "margin": 1}, -1, "greater"),
        ({"test": "equivalence", "margin": 1}, 1, "less"),
    ],
)
def test_one_sided_signed_ranks_equal_scipy(how, shift, side):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=12), rng.normal(0.4, 1, 12)
    found = rs.evaluation.compare_datasets({"a": a, "b": b}, **how).pairs[0]
    assert found.p_value == pytest.approx(stats.wilcoxon(b - a - shift, alternative=side).pvalue)


def test_intervals_of_many_and_of_few_data_sets():
    rng = np.random.default_rng(0)
    many = rs.evaluation.compare_datasets({"a": np.zeros(80), "b": rng.normal(0.3, 1, 80)}).pairs[0]
    assert many.difference.low < many.difference.value < many.difference.high < inf
    assert (0 in many.difference) == (many.p_value > 0.05)
    few = rs.evaluation.compare_datasets({"a": [0, 0, 0, 0, 0], "b": [1, 2, 3, 4, 5]}).pairs[0]
    assert (few.difference.low, few.difference.high) == (-inf, inf)
    assert few.to_dict()["difference"]["low"] is None


def test_equal_differences_tie_although_binary_fractions_do_not():
    a, b = np.array([0.1, 0.2, 0.5, 0.7]), np.array([0.2, 0.3, 0.6, 0.8])
    assert len(set(b - a)) > 1
    expected = stats.wilcoxon([5, 5, 5, 5], zero_method="zsplit")
    assert rs.evaluation.compare_datasets({"a": a, "b": b}).pairs[0].p_value == expected.pvalue
    none = rs.evaluation.compare_datasets({"a": [0.1 + 0.2, 0.5], "b": [0.3, 0.5]}).pairs[0]
    assert none.p_value == 1
    assert rs.evaluation.compare_datasets({"a": [0, 0], "b": [0, 0]}).pairs[0].difference.value == 0


def test_holm_corrects_for_the_number_of_pairs():
    result = rs.evaluation.compare_datasets(TABLE)
    expected = multipletests([pair.p_value for pair in result], method="holm")[1]
    np.testing.assert_allclose([pair.adjusted_p_value for pair in result], expected, rtol=1e-12)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_are_taken(frame):
    library = pytest.importorskip(frame)
    assert rs.evaluation.friedman(library.DataFrame(TABLE)).statistic == rs.evaluation.friedman(TABLE).statistic


def test_predictions_by_data_set_are_averaged_over_folds():
    rng = np.random.default_rng(0)
    data, expected = {}, {"a": [], "b": []}
    for name in ("iris", "wine", "glass"):
        y, fold = np.tile([0, 1], 20), np.repeat([0, 1], 20)
        scores = {model: y + rng.normal(size=40) for model in "ab"}
        data[name] = rs.Predictions(y, scores, fold=fold)
        for model in "ab":
            expected[model].append(np.mean([rs.auc(y[fold == f], scores[model][fold == f]) for f in (0, 1)]))
    found, by_hand = rs.evaluation.compare_datasets(data), rs.evaluation.compare_datasets(expected)
    assert found.pairs[0].difference.value == pytest.approx(by_hand.pairs[0].difference.value)
    assert (found.quantity, by_hand.quantity) == ("auc", "score")
    with pytest.raises(PairingError, match="wine"):
        rs.evaluation.compare_datasets({"iris": data["iris"], "wine": rs.Predictions(y, {"a": y, "c": y}, fold=fold)})


def test_results_show_themselves():
    found = rs.evaluation.friedman(TABLE)
    assert repr(found).startswith("RankComparison(mean ranks: C4.5 3.143")
    assert "<th>C4.5+m+cf</th><td>1.96429</td>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["mean_rank"]["C4.5+m"] == 2
    hostile = rs.evaluation.friedman({"<b>": [1, 2], "b": [2, 3], "c": [3, 1]})
    assert "<b>" not in hostile._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        found.ranks[0, 0] = 9


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: rs.evaluation.friedman({"a": [1, 2], "b": [2, 1]}),
            InputError,
            "two models, use compare_datasets",
        ),
        (
            lambda: rs.evaluation.friedman({"a": [1], "b": [2], "c": [3]}),
            InputError,
            "data sets: expected two or more data sets, got 1",
        ),
        (
            lambda: rs.evaluation.compare_datasets({"a": [1, 2], "b": [1]}),
            PairingError,
            "length 2 as for 'a', got length 1 for 'b'",
        ),
        (lambda: rs.evaluation.compare_datasets({"a": [1, 2], "b": [1, nan]}), ScoreError, "infinite value, in row 1"),
        (lambda: rs.evaluation.compare_datasets({"a": [[1, 2]], "b": [[1, 2]]}), ShapeError, "averages over folds"),
        (lambda: rs.evaluation.compare_datasets({"a": ["x", "y"], "b": [1, 2]}), ScoreError, "numbers"),
        (lambda: rs.evaluation.compare_datasets({}), InputError, "two or more models, got 0"),
        (lambda: rs.evaluation.compare_datasets([1, 2]), InputError, "got a list"),
        (lambda: rs.evaluation.compare_datasets(TABLE, zeros="keep"), InputError, "split"),
        (lambda: rs.evaluation.friedman(TABLE, level=95), InputError, "0.95"),
    ],
)
def test_bad_input_is_told_in_one_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_diagram_shows_ranks_groups_and_the_critical_difference():
    found = rs.evaluation.friedman({"a": [9, 8, 7, 9], "b": [8, 7, 6, 8], "c": [7, 6, 5, 8.5]})
    ax = rs.plotting.plot_critical_difference(found, ax=Figure().subplots())
    lines = {line.get_gid(): line for line in ax.lines if line.get_gid()}
    assert np.ptp(lines["critical-difference"].get_xdata()) == pytest.approx(found.critical_difference)
    assert list(lines["group-0"].get_xdata()) == [1, 2.25]
    assert list(lines["group-1"].get_xdata()) == [2.25, 2.75]
    feet = [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "model"]
    assert feet == [1, 2.25, 2.75]
    assert ax.get_xlim() == (1, 3)


def test_the_diagram_takes_hostile_names_equal_ranks_and_many_models():
    tied = {"$x_1": [1, 1], "_hidden": [1, 1], "c" * 80: [1, 1]}
    ax = rs.plotting.plot_critical_difference(rs.evaluation.friedman(tied))
    ax.figure.canvas.draw()
    many = {f"m{i}": np.random.default_rng(i).normal(size=30) for i in range(15)}
    ranked = rs.evaluation.friedman(many | {"best": np.full(30, 9.0)})
    ax = rs.plotting.plot_critical_difference(ranked)
    ax.figure.canvas.draw()
    low, high = sorted(ax.get_xlim())
    assert low <= min(ranked.mean_rank.values()) and high >= max(ranked.mean_rank.values())


def test_a_loss_is_ranked_from_the_smallest():
    data = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y, fold = np.tile([0, 1], 20), np.repeat([0, 1], 20)
        good, bad, worse = (np.clip(y * s + (1 - s) / 2 + rng.normal(0, 0.05, 40), 0, 1) for s in (0.8, 0.4, 0.1))
        data[str(seed)] = rs.Predictions(y, {"good": good, "bad": bad, "worse": worse}, fold=fold)
    assert rs.evaluation.friedman(data, metric="brier").mean_rank == {"good": 1, "bad": 2, "worse": 3}
    assert rs.evaluation.friedman(data, metric="brier", larger_is_better=True).mean_rank == {
        "good": 3,
        "bad": 2,
        "worse": 1,
    }
