"""Commands guess what is not named, and a saved plan is asked for nothing twice: a marketer's cycle, without Python."""

import csv
import json

import numpy as np
import pytest

import rocscope as rs
from marketing_cases import EXPORTS, export


@pytest.mark.parametrize("country", EXPORTS)
def test_a_marketers_cycle_takes_eight_commands_that_repeat_nothing(run, tmp_path, country):
    kind = EXPORTS[country]
    client, bought, score = kind["columns"]
    export(tmp_path / "pilot.csv", kind, seed=1)
    export(tmp_path / "next.csv", kind, seed=2, known=False)
    scores, answers = export(tmp_path / "answers.csv", kind, seed=2)
    lines = [
        "pilot.csv",
        f"campaign pilot.csv --id {client} --population 400 --unit-cost 2 --unit-benefit 9 --budget 200 -o plan.json",
        "verify plan.json pilot.csv",
        "apply plan.json next.csv -o list.csv",
        "outcomes plan.json answers.csv --json",
        "monitor plan.json answers.csv --state state.json --json",
        "report pilot.csv -o report.html",
    ]
    assert len(lines) <= 8
    printed = {}
    for line in lines:
        code, out, err = run(*line.split())
        assert code == 0, err
        printed[line.split()[0]] = out
        if line.startswith(("pilot", "campaign", "report")):
            guess = f"Guessed: --label {bought} --score {score} --pos-label {kind['answers'][0]}"
            assert guess + (" --decimal ," if country == "German" else "") in err
    # By hand: the budget pays for 100 contacts, of those with the highest scores.
    best = np.argsort(-scores, kind="stable")[:100]
    with (tmp_path / "list.csv").open() as file:
        assert {row[client] for row in csv.DictReader(file)} == {f"C{number:03}" for number in best}
    result = json.loads(printed["outcomes"])
    assert (result["n"], result["acted"]) == (400, 100)
    assert result["gain"]["value"] == pytest.approx(9 * answers[best].sum() - 200)
    assert json.loads(printed["monitor"])["n"] == 400


@pytest.mark.parametrize("command", ["choose", "campaign"])
def test_a_plan_of_segments_rows_and_marks_is_verified_without_options(run, tmp_path, command):
    rng = np.random.default_rng(0)
    lines = [f"{'pq'[label]};0,{score};{'ab'[part]}" for label, score, part in rng.integers(0, [2, 9, 2], (80, 3))]
    (tmp_path / "rows.csv").write_text("kind;s;part\n" + "\n".join([*lines, "p;x;c"]) + "\n")
    options = ["--label", "kind", "--pos-label", "q", "--score", "s", "--decimal", ",", "--where", "part <> 'c'"]
    money = ["--population", "80", "--unit-cost", "1", "--unit-benefit", "3", "--segment", "part"]
    made = run(command, "rows.csv", *options, *(money if command == "campaign" else []), "-o", "plan.json")
    assert made[0] == 0, made[2]
    code, _, err = run("verify", "plan.json", "rows.csv")
    assert (code, err) == (0, "")
    read_with = json.loads((tmp_path / "plan.json").read_text())["read_with"]
    known = {"label": "kind", "pos_label": "q", "score": ["s"], "decimal": ",", "where": "part <> 'c'"}
    assert read_with == known | ({"segment": "part"} if command == "campaign" else {})
    assert rs.load_plan(tmp_path / "plan.json").to_json() == (tmp_path / "plan.json").read_text()
    # What is typed counts, not what the plan was made with.
    code, _, err = run("verify", "plan.json", "rows.csv", "--label", "part")
    assert (code, "q" in err) == (2, True)


def test_options_of_a_plan_are_options_by_name(run, scores, tmp_path):
    run("choose", scores, "-l", "y", "-s", "a", "-o", "plan.json")
    plan = rs.load_plan(tmp_path / "plan.json")
    vars(plan)["read_with"] = ["label"]
    plan.save(tmp_path / "plan.json")
    assert "read_with: expected options by name" in run("verify", "plan.json", scores)[2]


def test_every_command_guesses_and_gate_and_monitor_when_asked(run, scores, tmp_path):
    (tmp_path / "rules.toml").write_text('rules = ["auc(a) >= 0.5"]\n')
    guess = "Guessed: --label y --score a --score b\n"
    for command in ("summary", "compare", "choose", "report", "campaign"):
        money = ["--population", "9", "--unit-cost", "1", "--unit-benefit", "2"] if command == "campaign" else []
        code, _, err = run(command, scores, *money)
        assert (code, err.startswith(guess)) == (0, True), err
    code, _, err = run("summary", scores, "--label", "y")
    assert (code, err.startswith("Guessed: --score a --score b\n")) == (0, True)
    code, _, err = run("gate", scores, "--rules", "rules.toml")
    assert (code, err.endswith("got no name; pass --label\n")) == (2, True)
    code, _, err = run("gate", scores, "--rules", "rules.toml", "--guess")
    assert (code, err.startswith(guess)) == (0, True)
    # A plan made in Python does not name the label; its scores are never guessed.
    rs.choose(rs.read(scores, label="y", scores="a")).save(tmp_path / "plan.json")
    watch = ("monitor", "plan.json", scores, "--state", "s.json")
    code, _, err = run(*watch)
    assert (code, err.endswith("got no name; pass --label\n")) == (2, True)
    code, _, err = run(*watch, "--guess")
    assert (code, err.startswith("Guessed: --label y\n")) == (0, True), err
    # For gate, too, the scores of the plan come before guessed scores.
    (tmp_path / "of_plan.toml").write_text('plan = "plan.json"\nrules = ["auc >= 0", "tpr >= 0"]\n')
    code, out, err = run("gate", scores, "--rules", "of_plan.toml", "--guess", "--json")
    assert (code, err) == (0, "Guessed: --label y\n")
    area, rate = (rule["estimates"][0]["value"] for rule in json.loads(out)["rules"])
    only_a = rs.read(scores, label="y", scores="a").counts()
    assert (area, rate) == (rs.auc(only_a), only_a.at(rs.load_plan("plan.json").threshold).tpr)
    (tmp_path / "kinds.csv").write_text("kind,p_a,p_b,p_c\n" + "a,0.8,0.1,0.1\nb,0.1,0.8,0.1\nc,0.2,0.2,0.6\n" * 5)
    code, _, err = run("choose", "kinds.csv")
    assert (code, "--proba: expected --label kind --proba 'p_*', got no --proba; add these options" in err) == (
        2,
        True,
    ), err


@pytest.mark.parametrize(
    ("options", "contacts"),
    [
        (("--budget", "50"), 25),
        (("--budget", "51", "--fixed-cost", "10"), 20),
        (("--budget", "51", "--capacity", "7"), 7),
    ],
)
def test_a_budget_without_segments_pays_for_contacts(run, tmp_path, options, contacts):
    export(tmp_path / "rows.csv", EXPORTS["American"], seed=3)
    money = ("--population", "400", "--unit-cost", "2", "--unit-benefit", "90")
    code, out, err = run("campaign", "rows.csv", *money, *options, "--json")
    assert code == 0, err
    assert json.loads(out)["offers"][0]["best"]["size"] == pytest.approx(contacts)


def test_a_budget_that_pays_for_nothing_is_refused(run, scores):
    money = ("--population", "9", "--unit-benefit", "9", "--unit-cost")
    code, _, err = run("campaign", scores, *money, "2", "--budget", "1")
    assert (code, "--budget: expected at least" in err) == (
        2,
        True,
    )
    code, _, err = run("campaign", scores, *money, "0", "--budget", "1")
    assert (code, "--unit-cost: expected a cost above 0 with --budget, got 0" in err) == (2, True)


def test_a_file_without_column_names_is_read_as_the_refusal_says(run, tmp_path):
    (tmp_path / "rows.csv").write_text("1,0.9\n0,0.2\n1,0.6\n")
    code, _, err = run("validate", "rows.csv")
    assert (code, "--no-header" in err) == (2, True)
    code, out, _ = run("validate", "rows.csv", "--no-header", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 3)
    for name, text in {"points.csv": "1,0.9\n0,0.2\n1,0.6\n", "commas.csv": "1;0,9\n0;0,2\n1;0,6\n"}.items():
        (tmp_path / name).write_text(text)
        columns = ("--label", "column1", "--score", "column2", "--no-header", "--json")
        code, out, _ = run("choose", name, *columns)
        assert (code, json.loads(out)["threshold"]) == (0, 0.6)


def test_the_help_of_gate_names_the_tables_of_rules(run):
    words = " ".join(run("gate", "--help")[1].split())
    assert "The cost needs a table [costs]" in words
    assert "in a table [segments]" in words
