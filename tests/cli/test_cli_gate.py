"""`rocscope gate`, and `--fail-if` of every command that computes figures."""

import json
import pickle
import re
from xml.etree import ElementTree

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.inference import statistics

N = 400
RNG = np.random.default_rng(3)
Y = (RNG.random(N) < 0.4).astype(int)
OLD, NEW = (np.round(1 / (1 + np.exp(-(pull * (Y - 0.5) + RNG.normal(size=N)))), 4) for pull in (1, 2))
REGION = RNG.choice(["n", "s"], N)
PREDS = rs.Predictions(Y, {"old": OLD, "new": NEW}, segment=REGION)
COSTS = rs.Context(cost_fn=3)
KNOWN = ("scores.csv", "--label", "y", "--score", "old", "--score", "new")


@pytest.fixture
def gate(run, tmp_path):
    """Write rows and rules, and run the gate."""
    rows = "\n".join(f"{y},{a},{b},{r}" for y, a, b, r in zip(Y, OLD, NEW, REGION, strict=True))
    (tmp_path / "scores.csv").write_text(f"y,old,new,region\n{rows}\n")

    def call(rules, *arguments):
        (tmp_path / "rules.toml").write_text(rules)
        return run("gate", *KNOWN, "--rules", "rules.toml", *arguments)

    return call


def difference(statistic, **options):
    return rs.compare(PREDS, statistic=statistic, **options)["old", "new"].difference


ORACLES = {
    "auc(new) >= .5 at 90%": lambda: rs.auc_interval(PREDS, model="new", level=0.9),
    "auc(new) - auc(old) > 0": lambda: difference("auc"),
    "auc(old) - auc(new) < 0": lambda: rs.compare(PREDS.select(models=["new", "old"]))["new", "old"].difference,
    "brier(new) < .3 at 95%": lambda: rs.inference.estimate_of(PREDS, "brier", model="new"),
    "slope(new) > .5": lambda: rs.inference.estimate_of(PREDS, "slope", model="new"),
    "ici(new) < .5 at 95%": lambda: rs.summary(PREDS.select(models=["new"]))["new"]["ici"],
    "recall(new) > .2 at 95%": lambda: rs.inference.rate_intervals(PREDS.counts("new").at(0.5))["tpr"],
    "mcc(new) > 0 at 95%": lambda: rs.inference.estimate_of(PREDS, statistics.at(0.5, "mcc"), model="new"),
    "tpr(new) - tpr(old) > -1 at 90%": lambda: difference(statistics.at(0.5, "tpr"), level=0.9),
    "cost(new) < 3 at 95%": lambda: rs.inference.estimate_of(PREDS, statistics.cost_at(0.5, COSTS), model="new"),
    "cost(new) - cost(old) < 3": lambda: difference(statistics.cost_at(0.5, COSTS)),
    "lift@10%(new) > 1": lambda: rs.inference.estimate_of(PREDS, statistics.lift_at(0.1), model="new"),
}


def test_every_kind_of_figure_is_what_the_library_estimates(gate):
    code, out, _ = gate(f"threshold = 0.5\nrules = {json.dumps(list(ORACLES))}\n[costs]\ncost_fn = 3\n", "--json")
    content = json.loads(out)
    assert (code, content["passed"], len(content["rules"])) == (0, True, len(ORACLES))
    for rule, (text, oracle) in zip(content["rules"], ORACLES.items(), strict=True):
        expected = oracle()
        (found,) = rule["estimates"]
        assert [found["value"], found["low"], found["high"]] == pytest.approx(
            [expected.value, expected.low, expected.high], rel=1e-9
        ), text


def test_a_level_does_not_change_the_prevalence_of_a_figure(gate):
    rules = ["ici(new) < 0.5", "ici(new) < 0.5 at 95%", "ece(old) < 0.5", "ece(old) < 0.5 at 95%"]
    _, out, _ = gate(f"rules = {json.dumps(rules)}\n[costs]\ntarget_prevalence = 0.05\n", "--json")
    values = [rule["estimates"][0]["value"] for rule in json.loads(out)["rules"]]
    assert values[::2] == pytest.approx(values[1::2])


def test_a_level_asks_for_the_whole_interval(gate):
    area = rs.auc_interval(PREDS, model="old")
    between = (area.low + area.value) / 2
    assert gate(f'rules = ["auc(old) >= {between}"]')[0] == 0
    code, out, err = gate(f'rules = ["auc(old) >= {between} at 95%"]')
    assert code == 1 and "failed" in out and err.startswith("Failed: auc(old) >= ")


def test_rules_that_name_no_model_hold_for_each_and_in_each_segment(gate):
    rules = (
        'threshold = {old = 0.5, new = 0.4}\nrules = ["auc >= .5"]\n[segments]\nregion = ["tpr > .1 and fpr < .9"]\n'
    )
    content = json.loads(gate(rules, "--json")[1])["rules"]
    assert [(each["rule"], each["segment"]) for each in content[:2]] == [
        ("auc(old) >= 0.5", None),
        ("auc(new) >= 0.5", None),
    ]
    assert len(content) == 6
    for each in content[2:]:
        name = each["segment"].removeprefix("region = ")
        model, threshold = ("old", 0.5) if "(old)" in each["rule"] else ("new", 0.4)
        point = PREDS.by_segment()[name].counts(model).at(threshold)
        assert [found["value"] for found in each["estimates"]] == [point.tpr, point.fpr]


def test_small_segments_are_named_and_left_out(gate):
    rules = 'min_rows = 300\nrules = ["auc > .5"]\n[segments]\nregion = ["auc > .99"]\n'
    code, _, err = gate(rules)
    assert (code, err) == (0, "Skipped segments with fewer than 300 rows: region = n, region = s\n")


def test_a_gate_that_judges_nothing_fails(gate):
    rules = 'min_rows = 300\n[segments]\nregion = ["auc > .5"]\n'
    code, out, err = gate(rules)
    assert code == 1 and out.startswith("No rule was checked\n")
    assert err.endswith("region = n, region = s\nFailed: no rule was checked, because all segments have too few rows\n")
    assert json.loads(gate(rules, "--json")[1])["passed"] is False


def test_markdown_and_junit(gate, tmp_path):
    rules = 'rules = ["auc(new) > .5", "auc(old) > .99"]'
    code, out, err = gate(rules, "--md", "--junit", "gate.xml")
    lines = out.splitlines()
    assert code == 1 and lines[0] == "**1 of 2 rules failed**"
    assert lines[2] == "| rule | segment | estimate | result |" and lines[5].endswith("| **failed** |")
    assert "JUnit: gate.xml" in err
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is not None for case in suite] == [False, True]


def test_the_threshold_and_costs_of_a_plan(run, gate, tmp_path):
    decision = rs.choose(PREDS, COSTS)
    decision.save(tmp_path / "plan.json")
    point = decision.point
    rules = f'plan = "plan.json"\nrules = ["cost({decision.model}) <= {decision.expected_cost + 1e-9}", "tpr >= .1"]'
    (tmp_path / "one.toml").write_text(rules)
    gate(rules)
    code, out, _ = run("gate", "scores.csv", "--label", "y", "--rules", "one.toml", "--json")
    found = [each["estimates"][0]["value"] for each in json.loads(out)["rules"]]
    assert (code, found) == (0, pytest.approx([decision.expected_cost, point.tpr]))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ('rules = ["auc >= .8 or so"]', "a text such as"),
        ('rules = ["auk >= .8"]', "did you mean 'auc'"),
        ('rule = ["auc >= .8"]', "rules.toml: rule: expected one of 'rules'"),
        ("", "rules.toml: expected rules"),
        ("rules = [", "a TOML file of rules"),
        ('rules = ["tpr(new) >= .8"]', "a threshold for new, got no threshold"),
        ('rules = ["auc(other) >= .8"]', "models from ['old', 'new']"),
        ('rules = ["auc(new) - brier(old) >= .8"]', "difference between two models in the same metric"),
        ('threshold = 0.5\nrules = ["cases(new) >= .8 at 95%"]', "a rate, such as depth"),
        ('threshold = "high"\nrules = ["tpr >= .8"]', "threshold: expected a number"),
        ('plan = "nowhere.json"\nrules = ["tpr >= .8"]', "nowhere.json"),
        ("[segments]\nregions = ['auc > .5']", "regions"),
    ],
)
def test_rules_that_are_not_understood(gate, rules, message):
    code, out, err = gate(rules)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


MAILING = ("--population", "1000", "--unit-cost", "1", "--unit-benefit", "5")


@pytest.mark.parametrize(
    "command", ["summary", "choose", "calibrate", "campaign --population 9 --unit-cost 1 --unit-benefit 2"]
)
def test_a_figure_that_is_not_known_is_refused_before_the_file_is_looked_for(run, command):
    name, *options = command.split()
    code, _, err = run(name, "nowhere.csv", "--label", "y", "--score", "s", *options, "--fail-if", "nonsense < 1")
    assert code == 2
    assert "nonsense" in err and "nowhere.csv" not in err


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("command", "kept", "broken"),
    [
        (("summary", *KNOWN, "--no-detail"), "auc < .5", "auc(old) < .99"),
        (("choose", *KNOWN, "--cost-fn", "3"), "cost > 1 at 95%", "cost > .01 at 95%"),
        (("choose", *KNOWN), "precision < .2", "tpr > .1"),
        (("choose", *KNOWN, "--capacity", "100", "--randomized"), "fpr > .9", "tpr > .1"),
        (("campaign", *KNOWN[:5], *MAILING), "profit < 0 at 90%", "contacts > 10"),
        (("campaign", *KNOWN[:5], *MAILING, "--segment", "region"), "profit < 0 at 90%", "cases > 10"),
        (("calibrate", *KNOWN[:5], "--force"), "ece > .5", "brier > .01"),
        (("compare", *KNOWN), "auc < .5", "brier > .01"),
    ],
)
def test_fail_if(run, gate, command, kept, broken):
    gate('rules = ["auc > 0"]')
    assert run(*command, "--fail-if", kept)[0] == 0
    code, out, err = run(*command, "--fail-if", broken)
    assert code == 1 and out and err.splitlines()[-1].startswith("Failed: ")
    code, out, err = run(*command, "--fail-if", "nonsense > 1")
    assert (code, out) == (2, "") and "nonsense" in err


def test_a_saved_decision_is_judged_on_new_rows(run, gate, tmp_path):
    """Its model, threshold and costs are those of the file; rules may look at parts of the rows too."""
    gate('rules = ["auc > 0"]')
    run("choose", *KNOWN, "--cost-fn", "3", "-o", "plan.json")
    decision = rs.Decision.load(tmp_path / "plan.json")
    turned = "\n".join(f"{1 - y},{a},{b},{r}" for y, a, b, r in zip(Y, OLD, NEW, REGION, strict=True))
    (tmp_path / "turned.csv").write_text(f"y,old,new,region\n{turned}\n")
    limit = 1.5 * decision.expected_cost
    (tmp_path / "one.toml").write_text(
        f'plan = "plan.json"\nrules = ["cost <= {limit}"]\n[segments]\nregion = ["tpr >= .1"]\n'
    )
    asked = ("--label", "y", "--rules", "one.toml", "--json")
    assert run("gate", "scores.csv", *asked)[0] == 0
    code, out, err = run("gate", "turned.csv", *asked)
    found = json.loads(out)["rules"]
    assert code == 1 and re.match(r"Failed: cost <= \S+ is not true: ", err)
    assert [each["segment"] for each in found] == [None, "region = n", "region = s"]
    turned_point = rs.ThresholdCounts.from_scores(1 - Y, PREDS.scores[decision.model]).at(decision.threshold)
    assert found[0]["estimates"][0]["value"] == pytest.approx(COSTS.cost(turned_point) / N)


@pytest.mark.parametrize(("named", "words"), [(True, None), (False, ("no", "yes"))])
def test_fitted_models_in_files_are_judged_by_their_scores(run, tmp_path, named, words):
    """With and without names of features; with labels 0 and 1, and with words."""
    X = np.column_stack([OLD, NEW]).round(3)
    y = Y if words is None else np.array(words)[Y]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    new, old = LogisticRegression().fit(frame if named else X, y), DecisionTreeClassifier(max_depth=3).fit(X, y)
    joblib.dump(new, tmp_path / "new.joblib")
    (tmp_path / "old.pkl").write_bytes(pickle.dumps(old))
    frame.assign(y=y, region=REGION).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "rules.toml").write_text('rules = ["auc >= .5"]\n[segments]\nregion = ["brier < .3"]\n')
    asked = ["--label", "y", "--rules", "rules.toml", "--json", *([] if words is None else ["--pos-label", "yes"])]
    code, out, err = run("gate", "new.joblib", "old.pkl", "rows.csv", *asked)
    assert (code, err) == (0, "")
    found = {(each["rule"], each["segment"]): each["estimates"][0]["value"] for each in json.loads(out)["rules"]}
    given = frame if named else X
    scores = {"new": new.predict_proba(given)[:, 1], "old": old.predict_proba(X)[:, 1]}
    expected = {}
    for model, score in scores.items():
        expected[f"auc({model}) >= 0.5", None] = rs.auc(Y, score)
        for region in "ns":
            own = region == REGION
            expected[f"brier({model}) < 0.3", f"region = {region}"] = ((score - Y)[own] ** 2).mean()
    assert found == pytest.approx(expected)
    (tmp_path / "part.csv").write_text("y,a,region\n1,1,n\n0,2,s\n")
    for files, message in {
        ("new.joblib", "part.csv"): "model 'new': expected a column 'b' in the data, got no such column",
        ("rules.toml", "rows.csv"): "rules.toml: expected a model file (.pkl, .pickle, .joblib), got another file",
        ("old.pkl",): "old.pkl: expected a data file, got a model file",
        ("none.pkl", "rows.csv"): "none.pkl: expected a fitted model that was saved with joblib or pickle",
    }.items():
        if named or "new" not in message:
            code, out, err = run("gate", *files, *asked)
            assert (code, out) == (2, "") and message in err
