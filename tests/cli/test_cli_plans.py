"""`rocscope apply`, and lists of new customers from `rocscope campaign`, as their users type them."""

import json

import numpy as np
import pytest

import rocscope as rs

MAILING = ("--population", "400", "--unit-cost", "1", "--unit-benefit", "10", "--capacity", "120")


@pytest.fixture
def files(tmp_path):
    """Write a pilot whose answers are known, next month's list, and plans; return the list by client."""
    rng = np.random.default_rng(0)
    score, branch = rng.integers(0, 9, 400), rng.choice(["n", "s"], 400)
    y = (rng.random(400) < 0.05 + 0.05 * score).astype(int)
    lines = [f"{i},{label},{s},{b}" for i, (label, s, b) in enumerate(zip(y, score, branch, strict=True))]
    (tmp_path / "pilot.csv").write_text("client,y,a,branch\n" + "\n".join(lines) + "\n")
    score, ids = rng.integers(0, 9, 300), [f"{i:04d}" for i in rng.permutation(300)]
    rows = [f"{i},{s},{b},x{i}" for i, s, b in zip(ids, score, rng.choice(["n", "s"], 300), strict=True)]
    (tmp_path / "next.csv").write_text("client,a,branch,note\n" + "\n".join(rows) + "\n")
    return dict(zip(ids, score.tolist(), strict=True))


def listed(path):
    heading, *rows = path.read_text().split()
    return heading, rows


def test_a_campaign_is_saved_and_applied_to_the_next_list(run, files, tmp_path):
    known = ("campaign", "pilot.csv", "--label", "y", "--score", "a", *MAILING)
    code, _, err = run(*known, "-o", "plan.json")
    assert (code, err.splitlines()[-1]) == (0, "Plan: plan.json")
    code, out, err = run("apply", "plan.json", "next.csv", "--id", "client", "-o", "list.csv")
    assert (code, out) == (0, "")
    assert err == "Contact 90 of 300 customers (30.00% by a; 120 of 400 were planned). List: list.csv\n"
    heading, chosen = listed(tmp_path / "list.csv")
    assert (heading, len(chosen), len(set(chosen))) == ('"client"', 90, 90)
    scores = [files[each] for each in chosen]
    assert scores == sorted(files.values(), reverse=True)[:90]
    plan = rs.load_plan(tmp_path / "plan.json")
    assert plan.select(list(files.values()), list(files)).tolist() == chosen
    code, _, err = run(*known, "--select", "also.csv", "--id", "client", "--apply-to", "next.csv")
    assert (code, listed(tmp_path / "also.csv")[1]) == (0, chosen)
    code, out, _ = run("apply", "plan.json", "next.csv", "--id", "client", "--keep", "note", "--where", "branch = 'n'")
    assert out.splitlines()[0] == '"client","note"'
    assert all(line.split(",")[1] == "x" + line.split(",")[0] for line in out.splitlines()[1:])
    code, out, _ = run("apply", "plan.json", "next.csv", "--json")
    content = json.loads(out)
    assert (content["n"], len(content["columns"]["row"])) == (300, 90)


def test_decisions_and_allocations_are_applied_too(run, files, tmp_path):
    known = ("pilot.csv", "--label", "y", "--score", "a")
    run("choose", *known, "--cost-fn", "3", "-o", "decision.json")
    threshold = rs.load_plan(tmp_path / "decision.json").threshold
    code, out, err = run("apply", "decision.json", "next.csv", "--id", "client")
    assert set(out.split()[1:]) == {each for each, score in files.items() if score >= threshold}
    assert err == f"Act on {len(out.split()) - 1} of 300 cases: a >= {threshold:g}.\n"
    run("campaign", *known, *MAILING, "--segment", "branch", "-o", "branches.json")
    code, out, err = run("apply", "branches.json", "next.csv", "--id", "client", "--segment", "branch")
    assert (code, len(out.split()) - 1) == (0, 90)
    assert run("apply", "branches.json", "next.csv", "--id", "client") == (code, out, err)
    saved = tmp_path / "branches.json"
    plan = rs.load_plan(saved)
    plan.read_with.clear()  # as of a plan made in Python
    plan.save(saved)
    code, _, err = run("apply", "branches.json", "next.csv", "--id", "client")
    assert (code, err) == (
        2,
        "rocscope: --segment: expected the column of the segments of this plan, got no --segment\n",
    )


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("apply", "plan.json", "next.csv", "--id", "clint"), "id of next.csv: expected one of 'client'"),
        (("apply", "plan.json", "nowhere.csv"), "nowhere.csv"),
        (("apply", "next.csv", "next.csv"), "next.csv: expected a plan as JSON"),
        (("apply", "nowhere.json", "next.csv"), "nowhere.json cannot be read as a plan file"),
        (("apply", "plan.json", "next.csv", "--score", "note"), "score 'note' of next.csv: expected numbers"),
    ],
)
def test_apply_refuses_in_one_line(run, files, arguments, message):
    run("campaign", "pilot.csv", "--label", "y", "--score", "a", *MAILING, "-o", "plan.json")
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
