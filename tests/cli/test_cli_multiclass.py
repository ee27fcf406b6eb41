"""`summary`, `report` and `choose` with more than two classes, as their users type them."""

import json

import numpy as np
import pytest

import rocscope as rs

NAMES = np.array(["low", "medium", "high"])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    proba = rng.dirichlet(np.ones(3), 90)
    proba[np.arange(90), y] += 0.4
    proba = np.round(proba / proba.sum(axis=1, keepdims=True), 6)
    proba[:, 2] = 1 - proba[:, :2].sum(axis=1)
    lines = ["y,p_low,p_medium,p_high,tree"]
    for label, row in zip(y, proba.tolist(), strict=True):
        lines.append(f"{NAMES[label]},{row[0]!r},{row[1]!r},{row[2]!r},{NAMES[(label + (row[0] > 0.5)) % 3]}")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    return rs.read(tmp_path / "rows.csv", label="y", proba="p_*", predicted="tree")


ROWS = ("rows.csv", "--label", "y", "--proba", "p_*")


def test_summary_prints_models_and_classes(run, table):
    code, out, err = run("summary", *ROWS, "--predicted", "tree")
    assert code == 0
    assert f"{table.confusion('score').accuracy:.4f} [" in out
    assert f"{rs.multiclass.multiclass_auc(table, model='score').hand_till.value:.4f} [" in out
    assert "Classes, by tree" in out
    best = max(table.models, key=lambda m: table.confusion(m).accuracy)
    assert err == f"Most accurate: {best}, {table.confusion(best).accuracy:.2%} of 90 cases.\n"


def test_summary_json_and_markdown(run, table):
    code, out, err = run("summary", *ROWS, "--json")
    content = json.loads(out)
    assert (code, err, content["classes"]) == (0, "", ["low", "medium", "high"])
    (model,) = content["models"]
    assert model["confusion"]["counts"] == table.confusion("score").counts.tolist()
    assert model["intervals"]["hand_till"]["level"] == 0.95
    code, out, _ = run("summary", *ROWS, "--md", "--no-detail")
    assert out.startswith("| model | accuracy |")
    assert "[" not in out


def test_report_is_one_offline_page_with_a_class_to_pick(run, table, tmp_path):
    code, _, err = run("report", *ROWS, "--predicted", "tree", "--cost-fn", "3", "-o", "out.html", "--title", "<b>rows")
    assert (code, err) == (0, "Report: out.html\n")
    page = (tmp_path / "out.html").read_text()
    assert page.count("<script") == 2
    assert '"kind":"class","name":"medium"' in page
    assert '"cost_fn":3' in page
    assert "<b>rows" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace(
        "http://www.w3.org/1999/xlink", ""
    ).replace("http-equiv", "")


def test_choose_writes_class_weights_that_load(run, table, tmp_path):
    code, out, err = run("choose", *ROWS, "-o", "weights.json")
    decision = rs.multiclass.ClassWeights.load(tmp_path / "weights.json")
    expected = rs.multiclass.class_weights(table, model="score")
    assert (code, decision.weight.tolist()) == (0, expected.weight.tolist())
    assert "Class weights for score, smooth" in out
    assert f"accuracy: {expected.value:.4f}; with equal weights {expected.value_at_one:.4f}\n" in err
    code, out, _ = run("choose", *ROWS, "-o", "-")
    assert json.loads(out)["format"] == "rocscope.class_weights"


def test_choose_takes_criterion_constraints_and_costs(run, table, tmp_path):
    _, out, _ = run("choose", *ROWS, "--criterion", "macro_f1", "--subject-to", "recall(high) >= 95 %", "--json")
    content = json.loads(out)
    assert (content["objective"], content["method"]) == ("macro_f1", "coordinate")
    counts = np.array(content["confusion"])
    assert counts[2, 2] / counts[2].sum() >= 0.95
    (tmp_path / "costs.csv").write_text(",high,low,medium\nlow,9,0,1\nhigh,0,8,2\nmedium,1,1,0\n")
    _, out, _ = run("choose", *ROWS, "--cost-matrix", "costs.csv", "--cost-rows", "actual", "--json")
    assert json.loads(out)["cost"] == [[0, 1, 9], [1, 0, 1], [8, 2, 0]]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("summary", *ROWS, "--score", "p_low"), "--score: expected none with --proba or --predicted"),
        (("summary", *ROWS, "--cost-fn", "3"), "rocscope choose takes --cost-matrix"),
        (("report", *ROWS, "--target-prevalence", "0.1"), "each class has a prevalence of its own"),
        (("choose", *ROWS, "--population", "9"), "--population"),
        (("choose", *ROWS, "--subject-to", "tpr >= 0.9"), "recall(cat) >= 0.8"),
        (("choose", *ROWS, "--subject-to", "recall(cat) >= 0.9"), "got 'cat'"),
        (("choose", *ROWS, "--cost-matrix", "no.csv"), "a CSV file of costs"),
        (("choose", *ROWS, "--cost-matrix", "no.csv", "--criterion", "accuracy"), "one of them"),
        (("choose", "rows.csv", "--label", "y", "--score", "p_low", "--cost-matrix", "c.csv"), "--proba too"),
        (("choose", "rows.csv", "--label", "y", "--predicted", "tree"), "predicted labels only"),
        (("summary", "rows.csv", "--label", "y", "--proba", "a=p_*", "--proba", "a=p_*"), "a different name for each"),
        (("summary", "rows.csv", "--label", "y", "--proba", "q_*"), "two columns or more like 'q_*'"),
    ],
)
def test_faults_are_one_line_and_exit_code_2(run, table, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",low,medium\nlow,0,1\nmedium,1,0\n", "columns of"),
        (",low,medium,high\nlow,0,1,1\nlow,0,1,1\nhigh,1,1,0\n", "rows of"),
        (",low,medium,high\nlow,0,1,x\nmedium,1,0,1\nhigh,1,1,0\n", "expected a number, got 'x'"),
        (",low,medium,high\nlow,0,1\nmedium,1,0,1\nhigh,1,1,0\n", "expected a number, got ''"),
        (",low,medium,high\nlow,0,1,2\nmedium,1,0,1\nhigh,1,1,0\n", "what the rows of a matrix are"),
        ("", "columns of"),
    ],
)
def test_faults_in_a_cost_file_are_named(run, table, tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    code, _, err = run("choose", *ROWS, "--cost-matrix", "costs.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
