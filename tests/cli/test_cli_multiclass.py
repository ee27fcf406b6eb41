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
    accuracy = table.confusion(best).interval("accuracy")
    ends = f"[{accuracy.low:.1%}, {accuracy.high:.1%}]"
    assert err == f"Most accurate: {best}, {accuracy.value:.2%} of 90 cases (95% CI {ends}).\n"


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
    value, at_one = f"{expected.value:.4f}", f"{expected.value_at_one:.4f}"
    assert f". In the sample, the accuracy is {value}, compared with {at_one} for equal weights.\n" in err
    code, out, _ = run("choose", *ROWS, "-o", "-")
    assert json.loads(out)["format"] == "rocscope.class_weights"


def test_choose_takes_criterion_constraints_and_costs(run, table, tmp_path):
    _, out, _ = run("choose", *ROWS, "--criterion", "macro_f1", "--subject-to", "recall(high) >= 95%", "--json")
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
        (
            ("summary", *ROWS, "--score", "p_low"),
            "--score: expected two classes, got --proba for several classes",
        ),
        (("summary", *ROWS, "--cost-fn", "3"), "use rocscope choose with --cost-matrix"),
        (("report", *ROWS, "--target-prevalence", "0.1"), "each class has its own prevalence"),
        (("choose", *ROWS, "--population", "9"), "--population"),
        (("choose", *ROWS, "--subject-to", "tpr >= 0.9"), "recall(cat) >= 0.8"),
        (("choose", *ROWS, "--subject-to", "recall(cat) >= 0.9"), "got 'cat'"),
        (("choose", *ROWS, "--cost-matrix", "no.csv"), "a CSV file of costs"),
        (("choose", *ROWS, "--cost-matrix", "no.csv", "--criterion", "accuracy"), "only one of these"),
        (("choose", "rows.csv", "--label", "y", "--score", "p_low", "--cost-matrix", "c.csv"), "also --proba"),
        (("choose", "rows.csv", "--label", "y", "--predicted", "tree"), "predicted labels only"),
        (("summary", "rows.csv", "--label", "y", "--proba", "a=p_*", "--proba", "a=p_*"), "a different name for each"),
        (("summary", "rows.csv", "--label", "y", "--proba", "q_*"), "at least two columns that match 'q_*'"),
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
        (",low,medium,high\nlow,0,1,2\nmedium,1,0,1\nhigh,1,1,0\n", "because the matrix is not symmetric"),
        ("", "columns of"),
    ],
)
def test_faults_in_a_cost_file_are_named(run, table, tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    code, _, err = run("choose", *ROWS, "--cost-matrix", "costs.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


@pytest.fixture
def two_models(tmp_path, table):
    """Write the probabilities of two models, of which the second is blurred, with pairs of rows as groups."""
    sharp = table.probabilities("score")
    flat = np.round(0.7 * sharp + 0.3 * np.roll(sharp, 1, axis=0), 6)
    lines = ["y,g,h," + ",".join(f"{model}_{name}" for model in ("a", "b") for name in NAMES)]
    for i, label in enumerate(table.y_true):
        values = map(repr, [*sharp[i].tolist(), *flat[i].tolist()])
        lines.append(f"{table.classes[label]},{i // 2},{'ns'[i % 2]}," + ",".join(values))
    (tmp_path / "two.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "costs.csv").write_text(",low,medium,high\nlow,0,1,2\nmedium,1,0,1\nhigh,9,1,0\n")
    return ("two.csv", "--label", "y", "--proba", "a=a_*", "--proba", "b=b_*", "--normalize")


def test_compare_gives_areas_and_costs_of_models(run, two_models, tmp_path):
    preds = rs.read(tmp_path / "two.csv", label="y", proba={"a": "a_*", "b": "b_*"}, normalize=True, groups="g")
    options = ("--groups", "g", "--cost-matrix", "costs.csv", "--cost-rows", "actual")
    code, out, err = run("compare", *two_models, *options, "--json")
    content = json.loads(out)
    areas = rs.multiclass.compare_multiclass_auc(preds)
    matrix = rs.multiclass.CostMatrix([[0, 1, 2], [1, 0, 1], [9, 1, 0]], classes=NAMES, rows="actual")
    costs = rs.multiclass.compare_multiclass_costs(preds, matrix)
    assert (code, content["auc"], content["cost"]) == (0, areas.to_dict(), costs.to_dict())
    gates = ("--fail-if", "auc(b) - auc(a) < 0", "--fail-if", "aunp(a) < .99 at 90%", "--fail-if", "cost(b) < 0")
    code, out, err = run("compare", *two_models, *options, *gates)
    assert (code, "hand_till, 90 rows" in out, "cost per case, 90 rows" in out) == (1, True, True)
    auc = rs.multiclass.multiclass_auc(preds, model="a")
    difference = areas["a", "b"].difference.words
    first, second, *_ = err.splitlines()
    assert first == f"Failed: --fail-if auc(b) - auc(a) < 0 is true: {difference}"
    assert second.startswith("Failed: --fail-if aunp(a) < .99 at 90% is true: ")
    assert auc.interval("aunp", level=0.9).words in err
    assert "cost" not in err
    for option, words in [
        (("--fail-if", "cost(a) > 1"), "add --cost-matrix to compare costs"),
        (("--fail-if", "brier(a) > 1"), "an AUC or, with --cost-matrix, on the cost"),
        (("--fail-if", "auc(c) > 1"), "got 'c'"),
        (("--cost-fn", "2"), "use --cost-matrix for costs"),
    ]:
        code, _, err = run("compare", *two_models, *option)
        assert (code, words in err) == (2, True), err


def test_gate_judges_figures_of_classes_by_name(run, two_models, tmp_path):
    preds = rs.read(tmp_path / "two.csv", label="y", proba={"a": "a_*", "b": "b_*"}, normalize=True)
    figure = rs.multiclass.multiclass_figure
    rules = ["macro_f1(a) >= 0 at 95%", "brier(b) < .01", "auc(b) - auc(a) > -1 at 90%", "quadratic_kappa >= -1"]
    (tmp_path / "rules.toml").write_text(
        f"rules = {json.dumps(rules)}\nmin_rows = 40\n[segments]\ng = ['auc > 2']\nh = ['accuracy(b) > 0']\n"
    )
    code, out, err = run("gate", *two_models, "--rules", "rules.toml", "--json")
    judged = json.loads(out)["rules"]
    assert (code, [rule["passed"] for rule in judged]) == (1, [True, False, True, True, True, True, True])
    assert judged[0]["estimates"] == [figure(preds, measure="macro_f1", model="a").to_dict()]
    assert judged[1]["estimates"] == [figure(preds, measure="brier", model="b").to_dict()]
    difference = rs.multiclass.compare_multiclass_auc(preds, level=0.9)["a", "b"].difference
    assert judged[2]["estimates"] == [difference.to_dict()]
    assert [rule["rule"].partition(" ")[0] for rule in judged[3:5]] == ["quadratic_kappa(a)", "quadratic_kappa(b)"]
    assert [rule["segment"] for rule in judged[5:]] == ["h = n", "h = s"]
    right = (preds.probabilities("b").argmax(axis=1) == preds.y_true)[::2].mean()
    assert judged[5]["estimates"][0]["value"] == pytest.approx(right)
    assert err.startswith("Skipped segments with fewer than 40 rows: g = 0, g = 1")
    assert "Failed: brier(b) < .01 is not true" in err
    for rule, words in [
        ("brier(b) - brier(a) < 1", "an AUC (only differences between AUCs have a test"),
        ("tpr > .5", "expected one of"),
        ("accuracy(c) > .5", "got 'c'"),
    ]:
        (tmp_path / "rules.toml").write_text(f"rules = ['{rule}']\n")
        code, _, err = run("gate", *two_models, "--rules", "rules.toml")
        assert (code, words in err) == (2, True), err
    (tmp_path / "rules.toml").write_text("rules = ['accuracy > .5']\nthreshold = 0.5\n")
    assert "rules without threshold, plan and costs" in run("gate", *two_models, "--rules", "rules.toml")[2]


def test_a_file_alone_is_a_summary_of_the_classes_that_its_columns_name(run, table, tmp_path):
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    (tmp_path / "named.csv").write_text(
        "\n".join([f"seg,{lines[0]}", *(f"{'NS'[i % 2]},{line}" for i, line in enumerate(lines[1:]))])
    )
    code, out, err = run("named.csv")
    assert (code, err.splitlines()[0]) == (0, "Guessed: --label y --proba 'p_*'")
    assert f"{rs.multiclass.multiclass_auc(table, model='score').hand_till.value:.4f} [" in out
    assert run("summary", "named.csv", "--label", "y", "--proba", "p_*")[1] == out
    assert run("named.csv", "--label", "seg")[2].startswith("Guessed: --score p_low --score p_medium")
    code, _, err = run("named.csv", "--threshold", ".5")
    assert (code, "expected data of two classes, got data of several classes" in err) == (2, True)


def test_validate_checks_the_columns_of_the_classes(run, table, tmp_path):
    code, out, err = run("validate", *ROWS)
    assert (code, err) == (0, "")
    (tmp_path / "bad.csv").write_text("y,p_a,p_b,p_c\na,.5,.5,.5\nb,.1,.8,.1\nc,.1,.1,.8\n")
    code, out, err = run("validate", "bad.csv", "--label", "y", "--proba", "p_*")
    assert (code, "Problem: " in err, "rows that sum to 1" in err) == (2, True, True)
    code, out, _ = run("validate", "bad.csv", "--label", "y", "--proba", "p_*", "--json")
    (problem,) = json.loads(out)["problems"]
    assert "--normalize" in problem or "normalize" in problem
    assert run("validate", "bad.csv", "--label", "y", "--proba", "p_*", "--normalize")[0] == 0
    code, _, err = run("validate", "bad.csv", "--proba", "p_*")
    assert (code, "label" in err) == (2, True)


def test_calibrate_fits_a_recalibrator_of_classes_and_applies_it(run, table, tmp_path):
    table = table.select(models=["score"])
    code, out, err = run("calibrate", *ROWS, "--predicted", "tree", "--method", "temperature", "-o", "c.json")
    fitted = rs.multiclass.recalibrate_classes(table, method="temperature", cv=10)
    assert (code, err) == (0, "Recalibrator: c.json (temperature, fitted to all rows)\n")
    recalibrator = rs.multiclass.ClassRecalibrator.load(tmp_path / "c.json")
    assert recalibrator.to_dict() == fitted.recalibrators["score"].to_dict()
    for preds in (table, fitted.predictions):
        assert f"{rs.multiclass.multiclass_brier(preds):.4f}" in out
        assert f"{rs.multiclass.multiclass_calibration_error(preds, kind='classwise'):.4f}" in out
    gates = ("--fail-if", "log_loss < .01", "--fail-if", "brier > 0 at 95%")
    code, out, err = run("calibrate", *ROWS, "--json", "-o", "d.json", *gates)
    assert (code, err.startswith("Failed: --fail-if brier > 0 at 95% is true: ")) == (1, True)
    after = json.loads(out)["figures"]["recalibrated, out of sample"]
    loss = rs.multiclass.multiclass_score(rs.multiclass.recalibrate_classes(table, cv=10).predictions, rule="log_loss")
    assert (after["n"], after["estimates"]["log_loss"]) == (90, loss.to_dict())

    # New rows without labels, with the classes in another order.
    (tmp_path / "new.csv").write_text("id,p_high,p_low,p_medium\n7,.7,.2,.1\n8,.2,.5,.3\n")
    code, out, err = run("calibrate", "new.csv", "--proba", "p_*", "--apply", "c.json", "--column", "q_*")
    head, *lines = [line.split(",") for line in out.replace('"', "").splitlines()]
    assert (code, head) == (0, ["id", "p_high", "p_low", "p_medium", *(f"q_{name}" for name in recalibrator.classes)])
    rows = [dict(zip(head, map(float, line), strict=True)) for line in lines]
    expected = recalibrator.predict([[row[f"p_{name}"] for name in recalibrator.classes] for row in rows])
    assert [[row[f"q_{name}"] for name in recalibrator.classes] for row in rows] == expected.tolist()
    code, _, err = run("calibrate", "new.csv", "--proba", "p_*", "--apply", "c.json", "-o", "new2.csv")
    assert err == "2 rows with the new column p_*_calibrated: new2.csv\n"
    for option, words in [
        (("--column", "q"), "--column: expected a pattern with one *"),
        (("--column", "p_*"), "a column 'p_"),
        (("--proba", "b=p_*"), "--proba: expected one model, got 2 models"),
        (("--target-prevalence", ".5"), "shift_prior"),
    ]:
        code, _, err = run("calibrate", "new.csv", "--proba", "p_*", "--apply", "c.json", *option)
        assert (code, words in err) == (2, True), err
    code, _, err = run("calibrate", *ROWS, "--method", "beta", "-o", "e.json")
    assert (code, "dirichlet" in err) == (2, True)


@pytest.fixture(scope="module")
def digits():
    """Return the rows of 10 digits with a model's probabilities, and a cost matrix by name in another order."""
    from sklearn.datasets import load_digits
    from sklearn.naive_bayes import GaussianNB

    x, y = load_digits(return_X_y=True)
    proba = np.round(0.9 * GaussianNB(var_smoothing=0.1).fit(x[:800], y[:800]).predict_proba(x[800:]) + 0.01, 6)
    names = [f"d{digit}" for digit in range(10)]
    lines = ["id,y," + ",".join(f"p_{name}" for name in names)]
    for i, (digit, row) in enumerate(zip(y[800:], proba.tolist(), strict=True)):
        lines.append(f"{i},d{digit}," + ",".join(map(str, row)))
    order = [*names[5:], *names[:5]]
    # To miss a nine costs eight times as much as any other error.
    price = {digit: "8" if digit == "d9" else "1" for digit in order}
    rows = [[actual, *("0" if actual == to else price[actual] for to in order)] for actual in order]
    costs = [",".join(row) for row in [["", *order], *rows]]
    return lines, costs, y[800:], proba / proba.sum(axis=1, keepdims=True)


def test_the_story_of_the_digits(run, digits, tmp_path):
    lines, costs, y, proba = digits
    (tmp_path / "digits.csv").write_text("\n".join(lines[:601]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join([lines[0], *lines[601:]]) + "\n")
    (tmp_path / "costs.csv").write_text("\n".join(costs) + "\n")
    options = ("--label", "y", "--proba", "p_*", "--normalize")
    code, out, _ = run("summary", "digits.csv", *options)
    right = (proba[:600].argmax(axis=1) == y[:600]).mean()
    assert (code, f"{right:.4f} [" in out) == (0, True)

    by_cost = ("--cost-matrix", "costs.csv", "--cost-rows", "actual")
    code, out, err = run("choose", "digits.csv", *options, *by_cost, "-o", "plan.json")
    plan = rs.multiclass.ClassWeights.load(tmp_path / "plan.json")
    assert (code, plan.value < plan.value_at_one) == (0, True)
    prices = 1 - np.eye(10) + 7 * (np.arange(10) == 9)[:, None] * (1 - np.eye(10))
    decided = np.array([int(cls[1]) for cls in plan.predict(proba[:600])])
    assert plan.value == pytest.approx(prices[y[:600], decided].mean())

    code, out, _ = run("verify", "plan.json", "digits.csv", *options)
    assert (code, out) == (0, "Verified: all numbers from 600 rows agree.\n")
    (tmp_path / "fewer.csv").write_text("\n".join(lines[:600]) + "\n")
    code, out, _ = run("verify", "plan.json", "fewer.csv", *options)
    assert (code, "Refuted: value is" in out) == (1, True)

    code, out, err = run("apply", "plan.json", "new.csv", "--proba", "p_*", "--normalize", "--id", "id")
    listed = [line.split(",") for line in out.splitlines()]
    assert (code, listed[0]) == (0, ['"id"', '"predicted"'])
    assert [cls for _, cls in listed[1:]] == plan.predict(proba[600:]).tolist()
    assert [int(row) for row, _ in listed[1:]] == list(range(600, len(y)))
    assert "Class predicted for 397 cases" in err
    code, _, err = run("apply", "plan.json", "costs.csv", "--proba", "d*")
    assert (code, "--proba: expected the classes" in err) == (2, True)

    # The new rows cost what was promised, and are counted once; then every digit is taken for the next one.
    watch = ("monitor", "plan.json", "new.csv", *options, "--state", "state.json", "--fail-if", "cost > .6")
    code, out, _ = run(*watch, "--when", "monday", "--json")
    content = json.loads(out)
    paid = prices[y[600:], np.array([int(cls[1]) for cls in plan.predict(proba[600:])])].mean()
    assert (code, content["n"]) == (0, 397)
    assert content["interval"]["cost"]["value"] == pytest.approx(paid)
    assert content["promised"]["cost"] == pytest.approx(plan.value)
    code, out, err = run(*watch, "--when", "monday")
    assert (code, "397 rows in 1 batch" in out, "counted in batch 1" in err) == (0, True, True)
    worse = [lines[0]]
    for line in lines[601:]:
        row, digit, rest = line.split(",", 2)
        worse.append(f"{row},d{(int(digit[1]) + 1) % 10},{rest}")
    (tmp_path / "worse.csv").write_text("\n".join(worse) + "\n")
    code, _, err = run(*watch[:2], "worse.csv", *watch[3:], "--when", "tuesday")
    assert (code, "Failed: --fail-if cost > 0.6 is true since about tuesday" in err) == (1, True)


def test_a_plan_gets_the_columns_that_it_needs(run, table, scores):
    run("choose", *ROWS, "-o", "weights.json")
    run("choose", "scores.csv", "-l", "y", "-s", "a", "-o", "decision.json")
    for command in (("verify",), ("apply",), ("monitor", "--state", "s.json")):
        label = () if command[0] == "apply" else ("-l", "y")
        code, _, err = run(command[0], "weights.json", "rows.csv", *label, *command[1:])
        assert (code, "--proba: expected the columns of class probabilities" in err) == (2, True)
        code, _, err = run(command[0], "decision.json", "rows.csv", *label, "--proba", "p_*", *command[1:])
        assert (code, "--proba: expected a plan for several classes, got a plan for two classes" in err) == (2, True)
    code, _, err = run("monitor", "weights.json", *ROWS, "--state", "s.json", "--target-prevalence", ".5")
    assert (code, "--target-prevalence: expected two classes, got --proba for several classes" in err) == (
        2,
        True,
    )
    code, out, _ = run("verify", "weights.json", *ROWS, "--json")
    assert json.loads(out) | {"version": 1} == json.loads(out)
    assert (code, json.loads(out)["verified"], json.loads(out)["n"]) == (0, True, 90)
