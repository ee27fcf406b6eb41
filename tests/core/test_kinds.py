"""What rows stand for is said once, kept by all that is made of them, and refused where a function cannot use it."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from rocscope.core.predictions import EXPECTED, KNOWS_NO_GROUPS, REFUSED, kinds_of
from rocscope.errors import InputError, WeightError
from rocscope.workbench.session import CancelToken, DataSource

RNG = np.random.default_rng(3)
N = 300
SCORE = RNG.random(N)
Y = RNG.random(N) < 0.1 + 0.4 * SCORE
WEIGHT = RNG.integers(1, 5, N)
CAMPAIGN = rs.Campaign(population=1000, unit_cost=1, unit_benefit=10, capacity=100)


def trial():
    treated = RNG.random(N) < 0.5
    return rs.outcomes.from_experiment(Y, treated, SCORE, benefit=10, cost=1)


def asked_functions():
    """The names with which the source asks for kinds."""
    for path in Path(rs.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name == "require_kinds" and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value
            if isinstance(node, ast.keyword) and node.arg == "inference" and isinstance(node.value, ast.Constant):
                yield node.value.value


def test_every_function_that_asks_is_in_the_table_and_every_row_of_it_is_asked():
    assert set(REFUSED) | set(KNOWS_NO_GROUPS) <= set(asked_functions())
    assert {kind for refused in REFUSED.values() for kind in refused} <= set(EXPECTED)


@pytest.mark.parametrize("weights", ["auto", "frequency", "sampling", "money"])
def test_selections_segments_and_counts_keep_what_weights_stand_for(weights):
    rows = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights=weights, segment=np.arange(N) % 2)
    kind = {"auto": "sampling"}.get(weights, weights)
    parts = [rows, rows.select(SCORE > 0.5), rows.by_segment()[0], rows.counts(), rows.counts() + rows.counts()]
    parts += [rows.counts(by="segment"), rows.counts().at(0.5), rs.roc(rows).counts.attained]
    sums = {"sums"} if kind in ("sampling", "money") else set()
    assert [kinds_of(part) - sums for part in parts] == [{kind}] * len(parts)
    assert kinds_of(rows) == {kind} and kinds_of(rows.counts()) == {kind} | sums
    assert kinds_of({"a": rows, "b": rs.Predictions(Y, SCORE)}) == {kind}


def test_frequencies_are_whole_and_said_in_the_repr():
    assert ", frequency weights)" in repr(rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="frequency"))
    with pytest.raises(WeightError, match="expected whole numbers, got fractions"):
        rs.Predictions(Y, SCORE, sample_weight=WEIGHT / 2, weights="frequency")


def test_counts_of_frequencies_are_rows_and_those_of_sampling_weights_are_refused_where_rows_are_needed():
    counted = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="frequency")
    repeated = rs.auc_interval(np.repeat(Y, WEIGHT), np.repeat(SCORE, WEIGHT))
    for data in (counted, counted.counts()):
        found = rs.auc_interval(data)
        assert (found.value, found.low, found.high) == pytest.approx((repeated.value, repeated.low, repeated.high))
    sampled = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="sampling")
    with pytest.raises(WeightError, match="pass the rows instead: Predictions"):
        rs.auc_interval(sampled.counts())


@pytest.mark.parametrize(
    "of",
    [
        lambda rows: rs.plan_campaign(rows, CAMPAIGN),
        lambda rows: rs.allocate({"a": rows, "b": rows}, rs.Context(), capacity=20),
        lambda rows: rs.profit(rows, CAMPAIGN),
        rs.gain,
        rs.lift,
        lambda rows: rs.choose(rows, subject_to="cases <= 20"),
        lambda rows: rs.choose(rows, subject_to="depth <= .2"),
        rs.inference.threshold_table,
    ],
    ids=["plan_campaign", "allocate", "profit", "gain", "lift", "cases", "depth", "threshold_table"],
)
def test_functions_of_cases_refuse_rows_in_money_and_counts_of_them(of):
    money = trial().in_money()
    for data in (money, money.counts()):
        with pytest.raises(
            InputError, match=r"weights that are numbers of cases, got weights that are amounts of money.*trial\.p"
        ):
            of(data)


def test_weighted_rows_cannot_be_exchanged():
    both = {"a": SCORE, "b": SCORE[::-1]}
    for weights in ("frequency", "sampling"):
        rows = rs.Predictions(Y, both, sample_weight=WEIGHT, weights=weights)
        with pytest.raises(InputError, match="permutation test: expected rows of equal weight"):
            rs.inference.compare_curves(rows)


@pytest.mark.parametrize("weights", ["auto", "frequency", "sampling"])
def test_commands_take_what_weights_stand_for(run, tmp_path, weights):
    path = tmp_path / "rows.csv"
    lines = [f"{y:d},{score!r},{weight}" for y, score, weight in zip(Y, SCORE.tolist(), WEIGHT.tolist(), strict=True)]
    path.write_text("y,a,w\n" + "\n".join(lines) + "\n")
    columns = ["--label", "y", "--score", "a", "--weight", "w"]
    code, out, err = run("summary", path, *columns, "--weights", weights, "--json", "--fail-if", "auc < 0 at 95%")
    assert code == 0, err
    expected = rs.auc_interval(rs.read(path, label="y", scores="a", weight="w", weights=weights))
    gate = json.loads(out)["gates"][0]["estimate"]
    assert (gate["low"], gate["high"]) == pytest.approx((expected.low, expected.high))
    repeated = rs.auc_interval(np.repeat(Y, WEIGHT), np.repeat(SCORE, WEIGHT))
    assert (gate["low"] == pytest.approx(repeated.low)) == (weights == "frequency")


def test_commands_refuse_weights_without_a_column_and_counts_of_sampling_weights(run, tmp_path):
    path = tmp_path / "rows.csv"
    rules = tmp_path / "rules.toml"
    rules.write_text('rules = ["auc > 0"]\n')
    path.write_text("y,a,w\n1,0.9,2\n0,0.4,1\n1,0.3,2\n0,0.2,3\n")
    columns = ["--label", "y", "--score", "a", "--weights", "sampling"]
    options = {"campaign": ["--population", "4", "--unit-cost", "1", "--unit-benefit", "3"], "gate": ["--rules", rules]}
    for command in ("summary", "choose", "compare", "calibrate", "explore", "campaign", "gate"):
        code, _, err = run(command, path, *columns, *options.get(command, []))
        assert (code, "--weights: expected --weight with" in err) == (2, True), f"{command}: {err}"
    code, _, err = run("summary", path, *columns, "--weight", "w", "--memory", "1 GB")
    assert (code, "and --weights sampling: expected only one of these options" in err) == (2, True), err


def test_what_weights_stand_for_is_shown_and_kept_by_the_workbench():
    rows = rs.Predictions(Y, SCORE, sample_weight=WEIGHT, weights="frequency")
    assert repr(rows.counts()).endswith(", frequency weights)")
    assert "frequency" in rows._repr_html_()
    source = DataSource.of("", rows)
    assert source.rows(None, None).weights == "frequency"
    assert set(source.counts(None, None, CancelToken())) == {"score"}


def numbers(result):
    """All numbers of a result, in order."""
    if isinstance(result, dict):
        return [number for value in result.values() for number in numbers(value)]
    if isinstance(result, list | tuple):
        return [number for value in result for number in numbers(value)]
    return [result] if isinstance(result, int | float) and not isinstance(result, bool) else []


FREQUENT = {
    "summary": lambda rows: {name: vars(e) for name, e in rs.summary(rows, threshold=0.5)["a"].estimates.items()},
    "choose": lambda rows: rs.choose(rows, rs.Context(cost_fn=4)).to_dict(),
    "calibration_curve": lambda rows: rs.calibration_curve(rows).to_dict(),
    "net_benefit": lambda rows: rs.net_benefit(rows).y.tolist(),
    "plan_campaign": lambda rows: rs.plan_campaign(rows, CAMPAIGN).to_dict(),
    "auc_interval": lambda rows: vars(rs.auc_interval(rows)),
}


@pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
@pytest.mark.parametrize("name", FREQUENT)
def test_frequencies_give_what_repeated_rows_give(name):
    row = np.repeat(np.arange(N), WEIGHT)
    weighted = rs.Predictions(Y, {"a": SCORE}, sample_weight=WEIGHT, weights="frequency")
    repeated = rs.Predictions(Y[row], {"a": SCORE[row]})
    of_weights, of_rows = (numbers(FREQUENT[name](rows)) for rows in (weighted, repeated))
    assert len(of_rows) > 3
    np.testing.assert_allclose(of_weights, of_rows, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "of",
    [
        lambda *rows, **weights: rs.outcomes.concordance(*rows, 4, **weights).estimates["score"],
        lambda *rows, **weights: rs.outcomes.over_time(*rows, [2, 4], **weights).at[4].estimates["score"],
    ],
    ids=["concordance", "over_time"],
)
def test_frequencies_of_censored_rows_give_what_repeated_rows_give(of):
    time, event = np.arange(N) % 7 + 1.0, (np.arange(N) % 3 > 0).astype(int)
    row = np.repeat(np.arange(N), WEIGHT)
    weighted = of(time, event, SCORE, sample_weight=WEIGHT, weights="frequency")
    repeated = of(time[row], event[row], SCORE[row])
    found, expected = ([estimate.value, estimate.low, estimate.high] for estimate in (weighted, repeated))
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    # Student's t has the degrees of freedom of the rows as given, which makes the interval .3% wider.
    assert found == pytest.approx(expected, rel=5e-4)
    sampled = of(time, event, SCORE, sample_weight=WEIGHT, weights="sampling")
    assert sampled.value == pytest.approx(repeated.value)
    assert sampled.low < repeated.low
