"""rocscope compare: tables, JSON, and gates for continuous integration."""

import json
import re

import numpy as np
import pytest

import rocscope as rs
from rocscope.cli.gate import Gate
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate

RNG = np.random.default_rng(12)
LABEL = np.arange(120) % 3 == 0
SCORES = {"a": LABEL * 2 + RNG.normal(size=120), "b": LABEL + RNG.normal(size=120), "c x": RNG.normal(size=120)}
PATIENT = np.arange(120) // 2


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "models.csv"
    columns = {"y": LABEL.astype(int), **SCORES, "id": PATIENT, "k": np.arange(120) % 5}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n")
    return path


ARGUMENTS = ("--label", "y", "--score", "a", "--score", "b", "--score", "c x")
PREDS = rs.Predictions(LABEL, SCORES, fold=np.arange(120) % 5)


def test_tables_of_models_and_of_pairs(run, table):
    code, out, err = run("compare", table, *ARGUMENTS)
    assert (code, err) == (0, "")
    expected = rs.compare(rs.Predictions(LABEL, SCORES))  # the command names no column of folds
    for name, estimate in expected.estimates.items():
        assert f"{estimate.value:.4f}" in out
        assert f"[{estimate.low:.4f}, {estimate.high:.4f}]" in out
        assert name in out
    for pair in expected:
        assert f"{pair.second} − {pair.first}" in out
        for p in (pair.p_value, pair.adjusted_p_value):
            assert ("<0.0001" if p < 0.0001 else f"{p:.3g}") in out


def test_json_is_the_comparison(run, table):
    code, out, _ = run("compare", table, *ARGUMENTS, "--json", "--groups", "id", "--level", "0.9")
    content = json.loads(out)
    assert (code, content["version"], content["command"], content["gates"]) == (0, 1, "compare", [])
    expected = rs.compare(rs.Predictions(LABEL, SCORES), groups=PATIENT, level=0.9).to_dict()
    assert content["auc"]["pairs"][0]["difference"] == pytest.approx(expected["pairs"][0]["difference"])
    assert "60 groups" in content["auc"]["estimates"]["a"]["method"]


def test_costs_are_compared_at_a_context(run, table):
    _, out, _ = run("compare", table, *ARGUMENTS, "--json", "--at-context", "--cost-fn", "5")
    expected = rs.inference.compare_costs(PREDS, rs.Context(cost_fn=5))
    found = json.loads(out)["cost"]["pairs"]
    assert [pair["p_value"] for pair in found] == pytest.approx([pair.p_value for pair in expected])
    code, out, _ = run("compare", table, *ARGUMENTS, "--at-context")
    assert code == 0
    assert "Differences in expected cost" in out


def test_folds_are_averaged_on_request(run, table):
    _, out, _ = run("compare", table, *ARGUMENTS, "--json", "--fold", "k", "--folds", "mean")
    expected = rs.compare(PREDS, folds="mean")["a", "b"]
    assert json.loads(out)["auc"]["pairs"][0]["difference"]["value"] == pytest.approx(expected.difference.value)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("auc(b)-auc(a)<-0.01 at 95%", 1),
        ("auc(b) - auc(a) <= -0.01 at 99.99%", 0),
        ("auc(a)-auc(b)>0 at 90%", 1),
        ("auc(a)-auc(b)<0 at 90%", 0),
        ("auc(a)<0.8", 0),
        ("auc(c x)<0.8", 1),
        ("auc(a)>0.8 at 95%", 1),
        ("auc(b)>=0.99", 0),
        ("auc(b)<0.2 and auc(a)>0", 0),
    ],
)
def test_gates(run, table, condition, code):
    result = rs.compare(PREDS)["a", "b"].difference
    assert result.high < -0.01 < rs.compare(PREDS, level=0.9999)["a", "b"].difference.high  # what the cases rest on
    found, out, err = run("compare", table, *ARGUMENTS, "--fail-if", condition)
    assert found == code
    assert "auc" in out.lower()
    assert (f"Failed: --fail-if {condition} " in err) == bool(code)


def test_several_gates_are_all_reported(run, table):
    code, out, err = run(
        "compare", table, *ARGUMENTS, "--json", "--at-context",
        "--fail-if", "cost(b)-cost(a)>0", "--fail-if", "auc(a)<0.5", "--fail-if", "auc(b)<1",
    )  # fmt: skip
    assert code == 1
    assert [gate["failed"] for gate in json.loads(out)["gates"]] == [True, False, True]
    assert re.findall(r"Failed: --fail-if (.*?) is true: ", err) == ["cost(b)-cost(a)>0", "auc(b)<1"]


def test_warnings_are_one_line_on_stderr(run, tmp_path):
    (tmp_path / "constant.csv").write_text("y,a,b\n1,4,4\n1,4,4\n0,4,4\n0,4,4\n")
    code, _, err = run("compare", "constant.csv", "--label", "y", "--score", "a", "--score", "b")
    assert code == 0
    assert "Warning: the variance of the AUC difference between 'a' and 'b' is 0 or undefined" in err
    assert all(line.startswith("Warning: ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fail-if", "auc(a)<0.8 at 195%"), "above 0% and below 100%"),
        (("--fail-if", "auc(a)-cost(b)<0"), "difference between two models in the same metric"),
        (("--fail-if", "cost(a)>1"), "--at-context"),
        (("--fail-if", "auc(z)<1"), "a model name, one of 'a', 'b', 'c x', got 'z'"),
        (("--fail-if", "auc(a)-auc(a)<1"), "two different"),
        (("--level", "95"), "0.95"),
        (("--alternative", "better"), "alternative"),
        (("--groups", "patient"), "patient"),
        (("--folds", "mean"), "fold column"),
    ],
)
def test_faults_are_one_line_and_code_2(run, table, arguments, message):
    code, out, err = run("compare", table, *ARGUMENTS, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_one_model_cannot_be_compared(run, table):
    code, _, err = run("compare", table, "--label", "y", "--score", "a")
    assert code == 2
    assert "two or more" in err


def test_an_undefined_estimate_fails_every_gate():
    gate = Gate.parse("auc(a) > 0.5 at 95%")
    assert gate.fails([Estimate(np.nan, np.nan, np.nan, 0.95, "none", 0)])
    with pytest.raises(InputError, match="a text such as"):
        Gate.parse("auc(a) > 0.5 at 95% or so")
