"""rocscope calibrate: a recalibrator learned, shown out of sample, written, and applied to another file."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import rocscope as rs
from rocscope import cli
from rocscope.evaluation.summary import cell


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `rocscope calibrate` with arguments in a folder with two files; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(0)
    score = rng.random(400)
    label = (rng.random(400) < score**2).astype(int)
    csv.write_csv(pa.table({"y": label, "m": score, "text": ["a, b"] * 400}), tmp_path / "old.csv")
    csv.write_csv(pa.table({"id": [7, 8, 9], "m": [0.1, 0.5, 0.9]}), tmp_path / "new.csv")

    def call(*arguments):
        code = cli.run(["calibrate", *map(str, arguments)])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call


def test_learning_shows_what_it_does_out_of_sample(run, tmp_path):
    code, out, err = run("old.csv", "--label", "y", "--score", "m", "-o", "calibrator.json")
    assert code == 0
    assert "as they are" in out
    assert "recalibrated, out of sample" in out
    assert err == "Recalibrator: calibrator.json (beta, fitted to all rows)\n"
    preds = rs.read(tmp_path / "old.csv", label="y", scores="m")
    expected = rs.calibration.recalibrate(preds, "beta")
    loaded = rs.calibration.load_recalibrator(tmp_path / "calibrator.json")
    assert loaded.to_dict() == expected.recalibrators["m"].to_dict()
    assert f"{rs.calibration.brier(expected.predictions.counts()):.4f}" in out


def test_applying_keeps_every_column_and_adds_one(run, tmp_path):
    run("old.csv", "--label", "y", "--score", "m", "--method", "isotonic", "-o", "calibrator.json")
    code, out, err = run("new.csv", "--score", "m", "--apply", "calibrator.json")
    assert (code, err) == (0, "")
    fitted = rs.calibration.load_recalibrator(tmp_path / "calibrator.json")
    (tmp_path / "out.csv").write_text(out)
    table = csv.read_csv(tmp_path / "out.csv").to_pydict()
    assert table == {"id": [7, 8, 9], "m": [0.1, 0.5, 0.9], "m_calibrated": fitted.predict([0.1, 0.5, 0.9]).tolist()}
    options = ("--score", "m", "--apply", "calibrator.json", "-o", "out.parquet", "--column", "p")
    code, _, err = run("new.csv", *options, "--target-prevalence", 0.01)
    assert (code, err) == (0, "3 rows with the new column p: out.parquet\n")
    adjusted = parquet.read_table(tmp_path / "out.parquet").column("p").to_pylist()
    assert adjusted == fitted.adjust_to(0.01).predict([0.1, 0.5, 0.9]).tolist()


def test_json_holds_both_reports(run):
    options = ("old.csv", "--label", "y", "--score", "m", "--method", "platt", "--json", "-o", "c.json")
    code, out, _ = run(*options)
    content = json.loads(out)
    assert code == 0
    assert (content["command"], content["method"], content["file"]) == ("calibrate", "platt", "c.json")
    before, after = content["figures"].values()
    assert before["estimates"]["brier"]["value"] > after["estimates"]["brier"]["value"]


def test_figures_and_gates_are_those_of_the_written_recalibrator_at_the_target_prevalence(run, tmp_path):
    options = (
        "old.csv",
        "--label",
        "y",
        "--score",
        "m",
        "-o",
        "c.json",
        "--target-prevalence",
        0.05,
        "--json",
        "--force",
    )
    _, out, _ = run(*options)
    figures = json.loads(out)["figures"]
    preds = rs.read(tmp_path / "old.csv", label="y", scores="m")
    before = rs.calibration.calibration_report(preds, target_prevalence=0.05, draws=199)
    assert figures["as they are"] == json.loads(json.dumps(before.to_dict()))
    # The fit to all rows at 5%, judged on rows at 5%, differs from cross-validation by little; at 37% it is 0.14.
    fitted = rs.calibration.load_recalibrator(tmp_path / "c.json")
    adjusted = rs.Predictions(preds.y_true, fitted.predict(preds.scores["m"]))
    brier = rs.calibration.calibration_report(adjusted, target_prevalence=0.05, draws=0)["brier"].value
    assert figures["recalibrated, out of sample"]["estimates"]["brier"]["value"] == pytest.approx(brier, abs=0.002)
    for condition, code in (("brier < .05", 1), ("brier > .05", 0), ("brier < .05 at 99%", 1), ("auc > .8", 1)):
        assert run(*options, "--fail-if", condition)[0] == code
    for condition, message in (("average_precision < .5", "--fail-if"), ("brier(z) > .1", "models from ['m']")):
        code, _, err = run(*options, "--fail-if", condition)
        assert code == 2
        assert message in err


def test_scores_that_are_no_probabilities_have_nothing_to_compare_with(run, tmp_path):
    (tmp_path / "logits.csv").write_text("y,m\n" + "".join(f"{int(i % 3 == 0)},{i - 30}\n" for i in range(60)))
    code, out, err = run("logits.csv", "--label", "y", "--score", "m", "--method", "platt", "-o", "c.json")
    assert code == 0
    assert "as they are" not in out
    assert err.startswith("The scores are not probabilities")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old.csv", "--apply", "c.json"], "--score: expected one column, got 0 columns"),
        (
            ["old.csv", "--label", "y", "--score", "m", "--score", "y"],
            "got 2 columns; name only one column, such as --score m",
        ),
        (["old.csv", "--label", "y", "--score", "m", "--method", "magic"], "method: expected one of"),
        (["old.csv", "--label", "y", "--score", "m", "-o", "old.csv"], "old.csv: expected a name that ends in .json"),
        (["new.csv", "--score", "m", "--apply", "old.csv"], "old.csv: expected a recalibrator as JSON"),
        (["new.csv", "--score", "m", "--apply", "none.json"], "none.json cannot be read as a recalibrator file"),
        (["none.csv", "--label", "y", "--score", "m"], "none.csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_columns_that_are_not_there_or_there_already(run):
    run("old.csv", "--label", "y", "--score", "m", "-o", "calibrator.json")
    for options, message in (
        (("--score", "z"), "score of new.csv: expected one of 'id', 'm', got 'z'"),
        (("--score", "m", "--column", "id"), "new.csv already has a column 'id'; choose another name"),
    ):
        code, _, err = run("new.csv", *options, "--apply", "calibrator.json")
        assert code == 2
        assert message in err


def test_summary_and_report_show_the_calibration_block(run, tmp_path):
    preds = rs.read(tmp_path / "old.csv", label="y", scores="m")
    page = rs.Report(preds)
    block = page.to_dict()["models"][0]["calibration"]
    assert block["numbers"]["brier"] == rs.calibration.brier(preds.counts())
    assert ">Calibration</h2>" in page.html
    found = rs.summary(preds)["m"]
    for name in ("ici", "slope", "observed_over_expected"):
        assert f'<td dir="auto">{cell(found[name])}</td>' in page.html
    logits = rs.Predictions(preds.y_true, preds.scores["m"] * 10)
    assert ">Calibration</h2>" not in rs.Report(logits).html
