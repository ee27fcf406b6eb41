"""Options that many commands share: each command has the option, or a reason why it needs none."""

import itertools
import json

import numpy as np
import pytest

import rocscope as rs
from rocscope.cli.app import COMMANDS, app

OPTIONS = ("--level", "--groups", "--fold", "--segment", "--target-prevalence")
NO_ROWS = "reads no rows with outcomes"
STORED = "uses what the plan stores"
WITHOUT = {
    **{(command, option): NO_ROWS for command in ("demo", "page") for option in OPTIONS},
    **{("validate", option): "describes columns, and computes no metric" for option in OPTIONS},
    **{("apply", option): NO_ROWS for option in ("--level", "--groups", "--fold")},
    **{(command, "--target-prevalence"): STORED for command in ("apply", "verify", "outcomes")},
    **{(command, "--fold"): "a plan has no folds" for command in ("verify", "outcomes", "monitor")},
    ("report", "--level"): "all intervals of the page have a level of 95%",
    ("explore", "--level"): "all intervals of the page have a level of 95%",
    ("explore", "--groups"): "the column is chosen on the page",
    ("choose", "--fold"): "the choice is validated on folds of its own",
    ("choose", "--segment"): "one threshold for all rows; campaign --segment divides cases among segments",
    ("campaign", "--fold"): "the choice is validated on folds of its own",
    ("campaign", "--target-prevalence"): "--response-rate",
    ("outcomes", "--groups"): "a list has one row for each customer",
    ("verify", "--level"): "compares numbers, and prints no interval",
    ("compare", "--segment"): "rocscope.segments.compare_segments",
    ("gate", "--level"): "a rule states its level: 'auc >= 0.8 at 90%'",
    ("gate", "--fold"): "rules are about all rows",
    ("gate", "--segment"): "the table [segments] in the file of rules",
    ("gate", "--target-prevalence"): "the table [costs] in the file of rules",
    ("calibrate", "--segment"): "one recalibrator for all rows",
    ("monitor", "--groups"): "the tests need rows in order, and no groups",
    ("drift", "--level"): "prints p-values and bounds",
    ("drift", "--groups"): "rocscope.drift tests single rows",
    ("drift", "--fold"): "compares two files",
    ("drift", "--target-prevalence"): "the prevalence is that of the two files",
}


def options_of(command):
    names = set()
    for argument in app[command].assemble_argument_collection():
        names |= set(argument.names)
    return names


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_an_option_or_a_reason(command):
    has = [option for option in OPTIONS if option in options_of(command)]
    print(f"{command:10}", *(("x" if option in has else "·").center(len(option)) for option in OPTIONS))
    lacks = {option for name, option in WITHOUT if name == command}
    assert {*has} | lacks == {*OPTIONS}
    assert not lacks.intersection(has), "a reason for an option that exists"


@pytest.fixture
def visits(tmp_path):
    """Forty patients with five equal visits, so that the rows are worth a fifth of their number."""
    rng = np.random.default_rng(4)
    y = rng.random(40) < 0.4
    score = np.round(rng.beta(2 + 3 * y, 4), 3)
    columns = {"y": y.astype(int), "s": score, "patient": np.arange(40), "fold": np.arange(40) % 4}
    path = tmp_path / "visits.csv"
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines += [",".join(map(str, row))] * 5
    path.write_text("\n".join(lines))
    return path


CAMPAIGN = ("--population", "1000", "--unit-cost", "1", "--unit-benefit", "3")
INTERVALS = {
    "summary": lambda content: content["summary"]["rows"][0]["estimates"]["auc"],
    "choose": lambda content: content["interval"],
    "campaign": lambda content: content["interval"],
    "calibrate": lambda content: content["figures"]["as they are"]["estimates"]["brier"],
}


def expected(command, rows, level):
    if command == "summary":
        return rs.summary(rows, level=level)["s"]["auc"]
    if command == "choose":
        return rs.choose(rows).interval(level)
    if command == "campaign":
        return rs.plan_campaign(rows, rs.Campaign(1000, 1, 3), level=level).profit
    return rs.calibration.calibration_report(rows, level=level, draws=199)["brier"]


@pytest.mark.parametrize("command", INTERVALS)
def test_level_and_groups_reach_the_intervals(run, visits, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rows = rs.read(visits, label="y", scores="s", groups="patient")
    widths = []
    for level, groups in itertools.product((None, 0.5), (None, "patient")):
        typed = [command, visits, "--label", "y", "--score", "s", "--json"]
        typed += CAMPAIGN if command == "campaign" else []
        typed += ["--force"] if command == "calibrate" else []
        typed += ["--level", str(level)] if level else []
        typed += ["--groups", groups] if groups else []
        code, out, err = run(*typed)
        assert code == 0, err
        content = json.loads(out)
        found = INTERVALS[command](content)
        widths.append(found["high"] - found["low"])
        if groups:
            truth = expected(command, rows, level or 0.95)
            assert (found["low"], found["high"]) == pytest.approx((truth.low, truth.high), rel=1e-9)
        if "verdict" in content and command in ("choose", "campaign"):
            assert f"({100 * (level or 0.95):g}% CI [" in content["verdict"]
    apart, together, apart_half, together_half = widths
    assert together > 1.5 * apart
    assert apart > 2 * apart_half
    assert together > 2 * together_half


def test_a_plan_remembers_its_groups(run, visits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("choose", visits, "--label", "y", "--score", "s", "--groups", "patient", "--level", "0.9", "-o", "plan.json")
    plan = rs.load_plan("plan.json")
    assert (plan.read_with["groups"], plan.on_new_cases.level) == ("patient", 0.9)
    code, out, _ = run("verify", "plan.json", visits, "--json")
    assert (code, json.loads(out)["verified"]) == (0, True)


def test_calibrate_uses_the_folds_of_a_column(run, visits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("calibrate", visits, "--label", "y", "--score", "s", "--fold", "fold", "--json")
    rows = rs.read(visits, label="y", scores="s", fold="fold")
    refitted = rs.calibration.recalibrate(rows, cv="fold").predictions
    brier = json.loads(out)["figures"]["recalibrated, out of sample"]["estimates"]["brier"]["value"]
    assert (code, brier) == (0, pytest.approx(rs.calibration.brier(refitted), rel=1e-12))


NOTES = {
    (500, 100): "the capacity is 500 of 100 cases, so it does not limit anything",
    (2, 10_000): "the capacity is 2 of 10,000 cases; a capacity is a number of cases, neither a share nor in thousands",
    (0.2, 200): "the capacity is 0.2 of 200 cases; a capacity is a number of cases",
    (20, 100): None,
    (100, 100): None,
    (0, 10_000): None,
}


@pytest.mark.every(2)
@pytest.mark.parametrize(("capacity", "cases"), NOTES)
def test_a_capacity_that_is_hardly_meant_has_a_note(run, visits, capacity, cases):
    rows = rs.read(visits, label="y", scores="s")
    decision = rs.choose(rows, subject_to=f"cases <= {capacity}", population=cases)
    offer = rs.Campaign(cases, 1, 3, capacity=capacity)
    plan = rs.plan_campaign(rows, offer)
    parts = rs.Predictions(rows.y_true, rows.scores, segment=np.arange(rows.n) % 2)
    allocation, actions = rs.allocate(parts, offer), rs.allocate(parts, actions={"letter": offer})
    noted = NOTES[capacity, cases]
    for result in (decision, plan, allocation, actions):
        found = [note for note in result.notes if note.code == "capacity"]
        assert len(found) == (noted is not None)
        assert all(note.startswith(noted) for note in found)
    of_choice = ("--capacity", str(capacity), "--population", str(cases))
    for typed in (("choose", *of_choice), ("campaign", *of_choice, "--unit-cost", "1", "--unit-benefit", "3")):
        command, *options = typed
        code, out, err = run(command, visits, "--label", "y", "--score", "s", *options)
        printed = " ".join(f"{out} {err}".replace("│", " ").split())
        assert (code, (noted or "the capacity is") in printed) == (0, noted is not None)
        code, out, _ = run(command, visits, "--label", "y", "--score", "s", *options, "--json")
        of_capacity = [note for note in json.loads(out)["notes"] if note.startswith("the capacity is")]
        assert (code, len(of_capacity)) == (0, noted is not None)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("summary", "--groups", "patient", "--memory", "1 GB"), "--memory and --groups: expected only one"),
        (("report", "--fold", "fold", "--memory", "1 GB"), "--memory and --fold: expected only one"),
        (("choose", "--level", "95"), "--level: expected a"),
        (("choose", "--groups", "patients"), "groups"),
        (("calibrate", "--fold", "fold", "--folds", "5"), "--fold and --folds: expected only one"),
        (
            ("campaign", *CAMPAIGN, "--id", "patient", "--groups", "fold", "--select", "list.csv"),
            "--groups: expected the column of --id, 'patient', with --select, got 'fold'; add --apply-to",
        ),
    ],
)
def test_refusals(run, visits, tmp_path, monkeypatch, typed, message):
    monkeypatch.chdir(tmp_path)
    command, *options = typed
    code, _, err = run(command, visits, "--label", "y", "--score", "s", *options)
    assert code == 2
    assert message in err
