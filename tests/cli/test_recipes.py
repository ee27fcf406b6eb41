"""The recipes of docs/guide, run as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rocscope
from rocscope import cli

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "recipes.md"
if not PAGE.is_file():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)
ALLOWED = {"MLFLOW_ALLOW_FILE_STORE": "true"}  # from 3.6 on files are refused without it; a database takes a minute
TEXT = PAGE.read_text(encoding="utf-8")


def recipe(heading, language):
    section = re.search(rf"^## [^\n]*{heading}[^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(3)
    for name, rows in (("scores.csv", 150), ("new.csv", 60)):
        y = (draw.random(rows) < 0.4).astype(int)
        old, new = (1 / (1 + np.exp(-(pull * y - 1 + draw.normal(size=rows)))) for pull in (1, 2))
        lines = [f"{a},{b:.4f},{c:.4f}" for a, b, c in zip(y, old, new, strict=True)]
        (tmp_path / name).write_text("\n".join(["y,old,new", *lines]) + "\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "rocscope").write_text(f"#!{sys.executable}\nfrom rocscope.cli import main\nmain()\n")
    (tools / "rocscope").chmod(0o755)
    return tmp_path


def run(folder, *command, **variables):
    package = Path(rocscope.__file__).parents[1]
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    before = os.environ.get("PYTHONPATH", "")
    environment = os.environ | {"PATH": path, "PYTHONPATH": f"{package}{os.pathsep}{before}", "MPLBACKEND": "Agg"}
    return subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True)


@pytest.mark.slow(reason="what starts other programs")
def test_the_gate_of_github_actions(folder, monkeypatch):
    script = re.search(r"- run: \|\n((?: {10}.*\n)+)", recipe("GitHub", "yaml"))[1]
    lines = [line.strip() for line in script.splitlines()]
    assert [line.split()[1] for line in lines] == ["compare", "summary", "report"]
    done = run(folder, "bash", "-e", "-c", "\n".join(lines), GITHUB_STEP_SUMMARY=str(folder / "summary.md"))
    assert done.returncode == 0, done.stderr
    assert (folder / "summary.md").read_text().startswith("| model | AUC |")
    assert (folder / "report.html").is_file()
    worse = lines[0].replace("-s old -s new", "-s new -s old").replace("auc(new)-auc(old)", "auc(old)-auc(new)")
    monkeypatch.chdir(folder)
    assert cli.run(shlex.split(worse)[1:]) == 1


@pytest.mark.slow(reason="what starts other programs")
def test_rules_for_a_comment_on_a_pull_request(folder):
    (folder / "rules.toml").write_text(recipe("Rules for a model", "toml"))
    done = run(folder, "bash", "-e", "-c", recipe("Rules for a model", "sh"))
    assert done.returncode == 0, (done.stderr, (folder / "comment.md").read_text())
    assert (folder / "comment.md").read_text().startswith("**All 5 rules passed**")
    assert "<testsuite " in (folder / "gate.xml").read_text()


@pytest.mark.slow(reason="what starts other programs")
def test_metrics_and_plots_of_dvc(folder):
    (folder / "evaluate.py").write_text(recipe("DVC", "py"))
    (folder / "dvc.yaml").write_text(recipe("DVC", "yaml"))
    done = run(folder, sys.executable, "evaluate.py")
    assert done.returncode == 0, done.stderr
    assert (folder / "roc.csv").read_text().startswith("fpr,tpr,threshold")
    assert '"auc": {"value": 0.' in (folder / "metrics.json").read_text()
    pytest.importorskip("dvc", reason="DVC is not installed")
    for command in (("init", "--no-scm"), ("repro",), ("metrics", "show"), ("plots", "show")):
        done = run(folder, sys.executable, "-m", "dvc", *command)
        assert done.returncode == 0, done.stderr


def test_a_run_of_mlflow(folder):
    pytest.importorskip("mlflow", reason="MLflow is not installed")
    (folder / "log.py").write_text(recipe("MLflow", "py"))
    done = run(folder, sys.executable, "log.py", MLFLOW_TRACKING_URI=(folder / "runs").as_uri(), **ALLOWED)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / "runs").rglob("artifacts/*")} == {"decision.json", "report.html"}


def test_a_nightly_job(folder, monkeypatch, capsys):
    once, comment, nightly = recipe("Nightly", "sh").splitlines()
    assert comment.startswith("# every night")
    monkeypatch.chdir(folder)
    for line in (once, nightly):
        assert cli.run(shlex.split(line)[1:]) == 0
    assert "60 rows in 1 batch\n" in capsys.readouterr().out
    alarming = nightly.replace("cost > 1.5", "cost > 0.0001").replace("seen", "other")
    assert cli.run(shlex.split(alarming)[1:]) == 1
