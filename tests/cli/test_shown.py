"""What every command prints: tables for 80 and for 160 columns with no number broken or cut, and JSON by its schema."""

import io
import json
import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rocscope.cli import app, console

NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?%?(?!\w)")
MODELS = ("gradient boosting", "logistic regression", "tree")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows of three models with long names, of segments, and of three classes."""
    draw = np.random.default_rng(1)
    where = tmp_path_factory.mktemp("widths")
    y = (draw.random(200) < 0.3).astype(int)
    scores = [1 / (1 + np.exp(-(y * pull - 1 + draw.normal(size=200)))) for pull in (2, 1, 1.5)]
    lines = [",".join(("customer_id", "outcome", "region", "amount", *MODELS))]
    for i in range(200):
        amount = round(1234567 * draw.random(), 2)
        lines.append(
            f"{1000 + i},{y[i]},{'north' if i % 3 else 'south'},{amount}," + ",".join(f"{s[i]:.5f}" for s in scores)
        )
    (where / "rows.csv").write_text("\n".join(lines) + "\n")
    (where / "rules.toml").write_text('rules = ["auc >= 0 at 95%", "brier < 1"]\n[segments]\nregion = ["auc >= 0"]\n')
    (where / "of_classes.toml").write_text('rules = ["macro_f1 >= 0 at 95%", "brier < 2"]\n')
    classes = ["setosa", "versicolor", "virginica"]
    lines = ["kind," + ",".join(f"p_{name}" for name in classes)]
    for name in draw.choice(classes, 90):
        p = draw.dirichlet([1 + 3 * (each == name) for each in classes])
        lines.append(f"{name}," + ",".join(map(repr, p.tolist())))
    (where / "classes.csv").write_text("\n".join(lines) + "\n")
    return where


OF_ROWS = ("rows.csv", "-l", "outcome", *(word for name in MODELS for word in ("-s", name)))
OF_CLASSES = ("classes.csv", "-l", "kind", "--proba", "p_*")
COMMANDS = {
    "summary by segment": ("summary", *OF_ROWS, "--segment", "region"),
    "summary of classes": ("summary", "classes.csv", "-l", "kind", "--proba", "p_*"),
    "guess": ("rows.csv",),
    "validate": ("validate", "rows.csv"),
    "choose": ("choose", *OF_ROWS, "--cost-fn", "20", "--population", "1e6", "-o", "decision.json", "--force"),
    "choose weights": ("choose", *OF_CLASSES, "-o", "weights.json", "--force"),
    "verify": ("verify", "decision.json", *OF_ROWS, "--trace"),
    "monitor": ("monitor", "decision.json", "rows.csv", "-l", "outcome", "--state", "state.json"),
    "monitor classes": ("monitor", "weights.json", *OF_CLASSES, "--state", "state.json", "--fail-if", "error > .9"),
    "drift": ("drift", "rows.csv", "rows.csv", "-l", "outcome", "-s", "tree", "--threshold", ".5"),
    "drift by segment": ("drift", "rows.csv", "rows.csv", "-l", "outcome", "-s", "tree", "--segment", "region"),
    "compare": ("compare", *OF_ROWS, "--at-context", "--fail-if", "auc < 0"),
    "compare classes": ("compare", *OF_CLASSES[:3], "--proba", "a=p_*", "--proba", "b=p_*"),
    "gate": ("gate", *OF_ROWS, "--rules", "rules.toml"),
    "gate classes": ("gate", *OF_CLASSES, "--rules", "of_classes.toml"),
    "choose gate": ("choose", *OF_ROWS, "--fail-if", "cost > 99 at 90%"),
    "campaign": ("campaign", *OF_ROWS, "--population", "1e6", "--unit-cost", "1", "--unit-benefit", "45"),
    "branches": (
        "campaign", *OF_ROWS, "--population", "1e6", "--unit-cost", "1", "--unit-benefit", "45", "--segment", "region",
        "--capacity", "30000",
    ),
    "apply": ("apply", "decision.json", "rows.csv", "--id", "customer_id"),
    "apply weights": ("apply", "weights.json", "classes.csv", "--proba", "p_*"),
    "outcomes": ("outcomes", "decision.json", "rows.csv", "--id", "customer_id"),
    "calibrate classes": ("calibrate", *OF_CLASSES, "-m", "temperature", "-o", "classes.json", "--force"),
    "calibrate": ("calibrate", "rows.csv", "-l", "outcome", "-s", "tree", "-o", "calibrator.json", "--force"),
}  # fmt: skip
OF_WEIGHTS = ("monitor classes", "apply weights")
OF_PLANS = ("verify", "monitor", "apply", "outcomes", *OF_WEIGHTS)


@pytest.fixture
def tables(run, folder, monkeypatch):
    """Run a command once, and return what prints its tables on a terminal of some width."""
    made = []
    monkeypatch.setattr(console, "print_table", lambda table: made.append(table))

    def of(command):
        made.clear()
        monkeypatch.chdir(folder)
        if command in OF_PLANS:
            (folder / "state.json").unlink(missing_ok=True)
            assert run(*COMMANDS["choose weights" if command in OF_WEIGHTS else "choose"])[0] == 0
            made.clear()
        code, _, err = run(*COMMANDS[command])
        assert (code, bool(made)) == (0, True), err
        return shown

    def shown(width):
        stream = io.StringIO()
        terminal = Console(file=stream, width=width, force_terminal=True, color_system=None)
        for table in made:
            table.title = None
            for part in console._fitting(deepcopy(table), terminal):
                terminal.print(part)
        return stream.getvalue()

    return of


@pytest.mark.every(5)
@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.startswith("apply")])
def test_no_line_is_too_wide_and_no_number_is_broken(tables, command):
    shown = tables(command)
    numbers = sorted(set(NUMBER.findall(shown(1_000))))
    for width in (80, 160):
        out = shown(width)
        assert max(map(len, out.splitlines())) <= width
        assert sorted(set(NUMBER.findall(out))) == numbers
        assert "…" not in out
        for line in out.splitlines() if "summary" in command else ():
            assert len(re.findall(r"\d \[-?\d\S*, -?\d\S*\]", line)) == line.count("[") == line.count("]")
        assert not re.search(r"e-1\d", out), "a digit that rounding left"


SCHEMA = Path(__file__).parents[2] / "docs" / "guide" / "json-output.schema.json"


def closed(schema):
    """Return a schema under which every field that there is must be one that it names."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {name: closed(each) for name, each in schema.items()}
    return (
        {"additionalProperties": False} | inside if schema.get("type") == "object" and "required" in schema else inside
    )


@pytest.fixture(scope="module")
def validators():
    """What checks JSON by the schema of the docs: as it stands, and with every field that it does not name refused."""
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator.check_schema(schema)
    kinds = [name for name in schema["$defs"] if name.partition("_")[0] in schema["properties"]["command"]["enum"]]
    strict = closed(schema["$defs"])
    for name in kinds:
        strict[name]["properties"] |= schema["properties"]
    return validator(schema), validator({**schema, "$defs": strict})


def test_the_schema_has_every_command_with_json(run):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    printing = {name for name in app.COMMANDS if "--json" in run(name, "--help")[1]}
    assert printing == set(schema["properties"]["command"]["enum"])


@pytest.mark.every(5)
@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "guess"])
def test_json_is_what_the_schema_in_the_docs_says(run, folder, monkeypatch, validators, command):
    monkeypatch.chdir(folder)
    if command in OF_PLANS:
        (folder / "state.json").unlink(missing_ok=True)
        assert run(*COMMANDS["choose weights" if command in OF_WEIGHTS else "choose"])[0] == 0
    code, out, err = run(*COMMANDS[command], "--json", *(["--no-detail"] if "summary" in command else []))
    assert code == 0, err
    printed = json.loads(out)
    for validator in validators:
        validator.validate(printed)
    for name in printed:
        less = {key: value for key, value in printed.items() if key != name}
        assert not validators[1].is_valid(less | {"rows_": 1})
