"""The command line as its users type it: output, exit codes, one line for each fault."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import rocscope as rs


def test_summary_prints_a_table_on_stdout_and_the_verdict_on_stderr(run, scores):
    code, out, err = run("summary", scores, "--label", "y", "--score", "a", "--score", "b")
    assert code == 0
    assert "0.8333" in out
    assert "83.33%" in out
    said = [line for line in err.splitlines(keepends=True) if not line.startswith("† ")]
    assert err.count("† AUC: not reliable (fewer than 5 rows of a class (3))\n") == 1
    assert "".join(said) == "b: AUC 0.2222 (below 1/2: do lower scores mean positive?)\n" + (
        "Best: a at threshold 0.6, apparent cost 0.1667 per case, accuracy 83.33% (66.67% at 0.5).\n"
    )


def test_summary_json_is_one_versioned_object(run, scores):
    code, out, err = run("summary", scores, "--label", "y", "--score", "a", "--json")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert (content["version"], content["command"]) == (1, "summary")
    assert content["models"][0]["points"] == {
        "threshold": [None, 0.9, 0.6, 0.5, 0.4, 0.2],
        "tp": [0, 1, 2, 2, 3, 3],
        "fp": [0, 0, 0, 1, 2, 3],
    }


def test_markdown_escapes_what_would_break_the_table(run, tmp_path):
    (tmp_path / "odd.csv").write_text('y,"a|b"\n1,0.9\n0,0.1\n')
    code, out, _ = run("summary", "odd.csv", "--label", "y", "--score", "a|b", "--md")
    assert code == 0
    assert out.splitlines()[2].startswith("| a\\|b | 1.0000 [")


def test_costs_and_prevalence_reach_the_decision(run, scores):
    _, out, _ = run("summary", scores, "--label", "y", "--score", "a", "--json", "--cost-fn", "10")
    assert json.loads(out)["decision"]["threshold"] == 0.4


def test_options_come_from_the_command_line_then_the_environment_then_the_settings(run, scores, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.rocscope]\nlabel = "y"\nscore = ["b"]\n')
    _, out, _ = run("summary", scores, "--json")
    assert json.loads(out)["decision"]["model"] == "b"
    (tmp_path / "rocscope.toml").write_text('label = "y"\n[summary]\nscore = ["a"]\n')
    _, out, _ = run("summary", scores, "--json")
    assert json.loads(out)["decision"]["model"] == "a"
    _, out, _ = run("summary", scores, "--json", ROCSCOPE_SCORE="b")
    assert json.loads(out)["decision"]["model"] == "b"
    _, out, _ = run("summary", scores, "--json", "--score", "a", ROCSCOPE_SCORE="b")
    assert json.loads(out)["decision"]["model"] == "a"


def test_report_is_written_once_and_kept_unless_forced(run, scores, tmp_path):
    arguments = ("report", scores, "--label", "y", "--score", "a", "-o", "out.html")
    assert run(*arguments) == (0, "", "Report: out.html\n")
    first = (tmp_path / "out.html").read_text()
    assert first.startswith("<!doctype html>")
    code, _, err = run(*arguments)
    assert code == 2
    assert "out.html exists already" in err
    assert run(*arguments, "--force")[0] == 0


def test_report_goes_to_stdout_on_request(run, scores):
    code, out, err = run("report", scores, "--label", "y", "--score", "a", "-o", "-")
    assert (code, err) == (0, "")
    assert out.startswith("<!doctype html>")


def test_hostile_names_stay_text_in_the_report(run, tmp_path):
    names = ['<script>alert("1")</script>', "quote\"'name", "emoji 🎯", "x" * 300]
    columns = {"y": [1, 0, 1, 0]} | {name: [0.9, 0.4, 0.3, 0.1] for name in names}
    parquet.write_table(pa.table(columns), tmp_path / "odd.parquet")
    scores = [part for name in names for part in ("--score", name)]
    code, out, _ = run("report", "odd.parquet", "--label", "y", *scores, "-o", "-", "--title", "</title><b>")
    assert code == 0
    assert "<script>alert" not in out
    assert "</title><b>" not in out
    assert "🎯" in out


def test_validate_says_what_a_file_holds(run, scores):
    code, out, _ = run("validate", scores)
    assert code == 0
    assert "6 rows" in out
    code, out, _ = run("validate", scores, "--json")
    assert json.loads(out)["rows"] == 6


@pytest.mark.slow(reason="what starts other programs")
def test_demo_repeats_the_paper(run):
    code, out, err = run("demo", "--folder", "d")
    assert code == 0
    assert "naive Bayes" in out
    assert "69.5%, 75.2%, 0.403" in out
    assert sorted(path.name for path in Path("d").iterdir()) == [
        "tic_tac_toe.html",
        "tic_tac_toe.parquet",
        "wdbc.html",
        "wdbc.parquet",
    ]
    assert "d/wdbc.html" in err


def _bad_files(folder):
    good = "y,s\n1,0.9\n0,0.1\n"
    (folder / "good.csv").write_text(good)
    (folder / "one_class.csv").write_text("y,s\n1,0.9\n1,0.1\n")
    (folder / "three.csv").write_text("y,s\n1,0.9\n0,0.1\n2,0.5\n")
    (folder / "text.csv").write_text("y,s\n1,high\n0,low\n")
    (folder / "nan.csv").write_text("y,s\n1,nan\n0,0.1\n")
    (folder / "weight.csv").write_text("y,s,w\n1,0.9,-1\n0,0.1,1\n")
    (folder / "quote.csv").write_text('y,s\n1,0.9\n0,"0.1\n1,0.7\n')
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("y,s\n")
    (folder / "corrupt.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    (folder / "folder").mkdir()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one_class.csv", "--label", "y", "--score", "s"), "expected both classes, got no negatives"),
        (("three.csv", "--label", "y", "--score", "s"), "got 0, 1, 2"),
        (("text.csv", "--label", "y", "--score", "s"), "expected numbers"),
        (("nan.csv", "--label", "y", "--score", "s"), "1 missing or infinite score, in row 0"),
        (("weight.csv", "--label", "y", "--score", "s", "--weight", "w"), "1 negative"),
        (("good.csv", "--label", "y", "--score", "sc"), "did you mean 's'"),
        (("good.csv", "--label", "y", "--score", "s", "--where", "s >"), "where"),
        (("good.csv", "--label", "y", "--score", "s", "--where", "s > 5"), "at least one row"),
        (("good.csv", "--label", "y", "--score", "s", "--target-prevalence", "5"), "between 0 and 1"),
        (("quote.csv", "--label", "y", "--score", "s"), "quote.csv"),
        (("empty.csv", "--label", "y", "--score", "s"), "empty.csv"),
        (("header.csv", "--label", "y", "--score", "s"), "at least one row"),
        (("corrupt.parquet", "--label", "y", "--score", "s"), "corrupt.parquet"),
        (("folder", "--label", "y", "--score", "s"), "folder"),
        (("missing.csv", "--label", "y", "--score", "s"), "missing.csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, arguments, message):
    _bad_files(tmp_path)
    code, out, err = run("summary", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("rocscope: ")


def test_an_unwritable_output_is_refused_before_the_work(run, scores):
    code, _, err = run("report", "does-not-exist.csv", "--label", "y", "-o", "no/such/folder.html")
    assert code == 2
    assert "expected an existing folder" in err


def test_an_internal_error_is_one_line_and_exit_code_101(run, scores, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("rocscope.report.model.report_data", broken)
    code, _, err = run("summary", scores, "--label", "y", "--score", "a")
    assert code == 101
    assert err.count("\n") == 1
    assert "internal error: RuntimeError: two lines" in err


def test_all_worked_rankings_through_the_command_line(run, tmp_path):
    examples = json.loads(
        (Path(__file__).parents[1] / "reference" / "worked_examples.json").read_text(encoding="utf-8")
    )
    for case in examples["ranking"]:
        path = tmp_path / f"{case['name']}.parquet"
        parquet.write_table(pa.table({"y": case["y"], "s": np.array(case["score"])}), path)
        _, out, _ = run("summary", path, "--label", "y", "--score", "s", "--json")
        model = json.loads(out)["models"][0]
        points = [
            dict(zip(("threshold", "tp", "fp"), row, strict=True))
            for row in zip(*model["points"].values(), strict=True)
        ]
        hull = [
            dict(zip(("threshold", "tp", "fp"), row, strict=True)) for row in zip(*model["hull"].values(), strict=True)
        ]
        assert points == case["points"]
        assert hull == case["hull"]
        for ties, key in (("half", "auc"), ("lower", "auc_lower"), ("upper", "auc_upper")):
            assert model["auc"][ties] == float(Fraction(case[key]))
        assert model["hull_area"] == float(Fraction(case["hull_area"]))
        assert model["lift_area"]["trapezoid"] == float(Fraction(case["lift_area_trapezoid_in_positives"]))
        assert model["lift_area"]["step"] == float(Fraction(case["lift_area_step_in_positives"]))
        assert model["best"]["accuracy"] == float(Fraction(case["best_accuracy"]))
        assert {key: model["best"][key] for key in ("threshold", "tp", "fp")} in case["best_accuracy_at"]


def test_the_open_page_is_written_once_or_to_stdout(run, tmp_path):
    assert run("page") == (0, "", "Page: open.html\n")
    page = (tmp_path / "open.html").read_text(encoding="utf-8")
    assert run("page", "-o", "-") == (0, f"{page}\n", "")
    code, _, err = run("page")
    assert code == 2
    assert "open.html exists already" in err


def test_segments_that_name_single_cases_are_refused_by_the_name_of_their_column(run, tmp_path):
    rows = "".join(f"{i % 2},0.{i},u{i}\n" for i in range(1001))
    (tmp_path / "users.csv").write_text("y,a,user\n" + rows)
    code, _, err = run("report", "users.csv", "--label", "y", "--score", "a", "--segment", "user", "-o", "-")
    assert code == 2
    assert "--segment 'user': expected at most 1,000 segments, got 1,001" in err


def test_a_report_has_the_segments_and_folds_that_were_named(run, tmp_path):
    (tmp_path / "parts.csv").write_text(
        "y,a,fold,region\n" + "1,0.9,1,north\n0,0.1,1,south\n0,0.2,2,north\n1,0.8,2,south\n"
    )
    arguments = ("report", "parts.csv", "--label", "y", "--score", "a", "--segment", "region", "--fold", "fold")
    code, out, err = run(*arguments, "-o", "-")
    assert code == 0, err
    assert '"north"' in out
    code, _, err = run(*arguments, "--memory", "1 GB", "-o", "other.html")
    assert code == 2
    assert "and --fold: expected only one" in err


@pytest.mark.every(4)
@pytest.mark.parametrize("command", ["summary", "report", "choose", "compare", "campaign", "calibrate"])
def test_the_example_of_each_command_runs(run, scores, command):
    heading, *rows = scores.read_text().splitlines()
    scores.write_text("\n".join([heading, *rows * 5]))
    _, out, _ = run(command, "--help", COLUMNS="1000")
    example = next(line for line in out.splitlines() if "Example: " in line).partition("Example: rocscope ")[2]
    words = shlex.split(example.partition(", then")[0])
    code, _, err = run(*(scores if word.startswith(("scores.", "old.")) else word for word in words))
    assert code in (0, 1), err


def test_the_help_says_what_each_command_is_for(run):
    assert re.search("campaign +Find the number of customers", run("--help")[1])


def test_the_help_names_the_table_of_pyproject(run):
    assert "[tool.rocscope]" in run("--help")[1]


def test_a_column_that_is_not_named_is_asked_for_as_it_is_typed(run, scores, tmp_path):
    (tmp_path / "rules.toml").write_text('rules = ["auc > 0"]\n')
    gate = ("gate", scores, "--rules", "rules.toml")  # it guesses only where that is asked for
    assert run(*gate)[2].endswith("got no name; pass --label\n")
    assert run(*gate, "--label", "y")[2].endswith("got no name; pass --score\n")


def test_summary_at_a_threshold_fixed_beforehand(run, scores):
    given = ("summary", scores, "--label", "y", "--score", "a", "--score", "b", "--json")
    preds = rs.read(scores, label="y", scores=["a", "b"])
    for typed, costs, threshold, context in (
        (["--threshold", "0.4"], [], 0.4, None),
        (["--threshold", "a=0.4", "--threshold", "b=0.6"], [], {"a": 0.4, "b": 0.6}, None),
        (["--threshold=costs"], ["--cost-fn", "4"], "costs", rs.Context(cost_fn=4)),
    ):
        code, out, _ = run(*given, *typed, *costs)
        assert code == 0
        expected = rs.summary(preds, context, threshold=threshold)
        assert json.loads(out)["summary"] == json.loads(json.dumps(expected.to_dict()))
    code, _, err = run(*given[:-1], "--threshold", "0.4")
    assert code == 0
    assert "a: threshold 0.4, fixed beforehand; net benefit weighs false positives by 0.666667." in err
    for typed, message in (
        (["--threshold", "high"], "--threshold: expected a number, MODEL=NUMBER"),
        (["--threshold", "0.1", "--threshold", "0.2"], "--threshold: expected a number, MODEL=NUMBER"),
        (["--threshold", "a=0.1"], "expected thresholds of the models ['a', 'b'], got thresholds of ['a']"),
        (
            ["--threshold", "0.1", "--no-detail"],
            "--threshold and --no-detail: expected only one",
        ),
    ):
        code, _, err = run(*given, *typed)
        assert code == 2
        assert message in err
