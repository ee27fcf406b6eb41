"""rocscope monitor: its state between runs, its exit code, and what it refuses."""

import json

import numpy as np
import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file of labels, scores of which positives are as far above as asked, and weights; return its name."""
    rng = np.random.default_rng(0)

    def file(name, skill=1.2, rows=400):
        label = rng.random(rows) < 0.3
        score = 1 / (1 + np.exp(-(rng.normal(size=rows) + skill * (2 * label - 1))))
        lines = [f"{int(y)},{s:.5f},{1 + i % 3}" for i, (y, s) in enumerate(zip(label, score, strict=True))]
        (tmp_path / name).write_text("\n".join(["y,a,w", *lines]) + "\n")
        return name

    return file


@pytest.fixture
def watch(run, write):
    """Save a decision; return a function that monitors it on a file and returns exit code, JSON and stderr."""
    run("choose", write("past.csv"), "--label", "y", "--score", "a", "-o", "decision.json")

    def look(name, *options, state="s.json"):
        code, out, err = run("monitor", "decision.json", name, "--label", "y", "--state", state, "--json", *options)
        return code, json.loads(out), err

    return look


def test_monitor_keeps_its_state_and_fails_once_beyond_doubt(run, write, watch):
    options = ("--label", "y", "--state", "s.json", "--fail-if", "error > .25")
    for day in range(2):
        code, out, _ = run("monitor", "decision.json", write("good.csv"), *options, "--when", f"day {day}")
        assert code == 0
        assert "precision" in out
    codes = [run("monitor", "decision.json", write("bad.csv", 0.2), *options, "--when", f"bad {i}") for i in range(4)]
    assert [code for code, _, _ in codes][-1] == 1
    assert "Failed: --fail-if error > 0.25 is true since about" in codes[-1][2]
    code, content, _ = watch("good.csv", "--fail-if", "error > .25")
    assert (code, content["looks"], content["n"]) == (1, 7, 2800)
    assert content["alarm"]["limit"] == "error > 0.25"
    code, _, err = run("monitor", "decision.json", "good.csv", *options[:-1], "error > .3")
    assert code == 2
    assert "--state" in err


def test_a_file_is_counted_once_unless_again_is_asked_for(write, watch):
    write("monday.csv")
    assert watch("monday.csv", "--when", "monday")[1]["n"] == 400
    code, content, err = watch("monday.csv", "--when", "monday")
    assert (code, content["n"], content["looks"]) == (0, 400, 1)
    assert "counted in batch 1 and are omitted; --again counts them again" in err
    code, content, err = watch("monday.csv", "--when", "monday", "--again")
    assert (code, content["n"], err) == (0, 800, "")
    assert watch("monday.csv", "--when", "tuesday")[1]["n"] == 1200, "the same rows under another name are others"


def test_rows_of_an_earlier_day_are_counted_to_that_day(write, watch, tmp_path):
    days = [f"2026-03-0{day}" for day in (1, 2, 4, 5)]
    for day in days:
        watch(write(f"{day}.csv"), "--when", day)
    watch(write("late.csv", rows=90), "--when", days[1])
    watch(write("between.csv", rows=80), "--when", "2026-03-03")
    blocks = json.loads((tmp_path / "s.json").read_text())["blocks"]
    assert [(each["when"], sum(each["cells"])) for each in blocks] == list(zip(days, (400, 570, 400, 400), strict=True))


def test_weights_are_so_many_rows_and_have_to_be_whole(run, write, watch, tmp_path):
    (head, *lines) = (tmp_path / write("rows.csv")).read_text().splitlines()
    repeated = [line for line in lines for _ in range(int(line[-1]))]
    (tmp_path / "repeated.csv").write_text("\n".join([head, *repeated]) + "\n")
    _, weighted, _ = watch("rows.csv", "--weight", "w", "--fail-if", "cost > .2")
    _, counted, _ = watch("repeated.csv", "--fail-if", "cost > .2", state="other.json")
    assert weighted["n"] == counted["n"] == len(repeated)
    assert weighted["wealth"] == pytest.approx(counted["wealth"])
    for name, found in weighted["interval"].items():
        same = counted["interval"][name]
        assert [found["value"], found["low"]] == pytest.approx([same["value"], same["low"]]), name
    (tmp_path / "halves.csv").write_text("y,a,w\n1,.5,.5\n0,.4,1\n")
    code, _, err = run("monitor", "decision.json", "halves.csv", "-l", "y", "--weight", "w", "--state", "new.json")
    assert code == 2 and "whole numbers" in err and not (tmp_path / "new.json").exists()


def test_an_allocation_is_monitored_and_its_volume_known_before_labels(run, tmp_path):
    """By hand: the saved plan's rule of each segment, applied to the rows of the file."""
    rng = np.random.default_rng(1)
    lines = ["y,a,branch"]
    for _ in range(400):
        label = rng.random() < 0.3
        lines.append(f"{int(label)},{rng.integers(1, 4) + label},{rng.choice(['n', 's'])}")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    costs = ("--population", "400", "--unit-cost", "1", "--unit-benefit", "3")
    rows = ("rows.csv", "--label", "y", "--score", "a", "--segment", "branch")
    assert run("campaign", *rows, *costs, "-o", "plan.json")[0] == 0
    cells = [line.split(",") for line in lines[1:]]
    rules = {part["segment"]: part["rules"] for part in json.loads((tmp_path / "plan.json").read_text())["segments"]}
    acted = [float(score) >= rules[branch][0]["threshold"] for _, score, branch in cells]
    labels = [label == "1" for label, _, _ in cells]
    state = ("--state", "s.json", "--segment", "branch", "--json")
    (tmp_path / "new.csv").write_text("\n".join(line.split(",", 1)[1] for line in lines) + "\n")
    code, out, _ = run("monitor", "plan.json", "new.csv", "--unlabelled", *state)
    content = json.loads(out)
    assert (code, content["n"], content["volume"]["value"]) == (0, 0, sum(acted) / 400)
    assert content["planned_volume"] == pytest.approx(sum(acted) / 400)
    content = json.loads(run("monitor", "plan.json", "rows.csv", "--label", "y", *state)[1])
    found = sum(a and y for a, y in zip(acted, labels, strict=True))
    assert content["interval"]["tpr"]["value"] == pytest.approx(found / sum(labels))
    assert content["interval"]["cost"]["value"] == pytest.approx((sum(acted) - 3 * found) / 400)
    code, out, err = run("monitor", "plan.json", "new.csv", "--unlabelled", *state[:-1], "--when", "Tue")
    assert "Share of 800 cases without labels that were acted on: " in err


def test_labelled_rows_replace_the_rows_without_labels_of_their_period(run, write, watch, tmp_path):
    for month, rows in (("october", 200), ("november", 150)):
        lines = (tmp_path / write(f"{month}.csv", rows=rows)).read_text().splitlines()
        scores = [line.split(",")[1] for line in lines]
        (tmp_path / f"{month}_scores.csv").write_text("\n".join(scores) + "\n")
        unlabelled = ("--unlabelled", "--state", "s.json", "--when", month, "--json")
        code, out, _ = run("monitor", "decision.json", f"{month}_scores.csv", *unlabelled)
        assert code == 0
    assert json.loads(out)["volume"]["n"] == 350
    options = ("--label", "y", "--state", "s.json", "--when", "october")
    code, _, err = run("monitor", "decision.json", "november.csv", *options)
    assert code == 2
    assert "expected 200 rows, because 200 cases without labels have the name 'october', got 150 rows" in err
    content = watch("october.csv", "--when", "october")[1]
    assert (content["n"], content["volume"]["n"]) == (200, 150)
    assert "volume" not in watch("november.csv", "--when", "november")[1]
    for month in ("october", "november"):
        watch(f"{month}.csv", "--when", month, state="alone.json")
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
