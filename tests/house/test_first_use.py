"""Whatever is used first in a process works: each display, plot, topic and command in a process of its own.

A submodule is an attribute of its package once anything has imported it, so a test in one process after others shows
nothing. Here one process loads the libraries that we use, nothing of ours, and forks for each case.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rocscope as rs
from rocscope._base.answers import text_of
from rocscope.cli.app import COMMANDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

LIBRARIES = (
    "numpy numba scipy.stats scipy.optimize matplotlib.pyplot sklearn.metrics sklearn.calibration pyarrow cyclopts rich"
)

FORKING = """
import gc, importlib, json, os, sys, traceback, warnings

cases, folder, libraries = json.load(sys.stdin)
for name in libraries.split():
    importlib.import_module(name)
assert not any(name.partition(".")[0] == "rocscope" for name in sys.modules)
os.chdir(folder)
gc.disable()
outcomes = {}
for name, code in cases.items():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            names = {}
            warnings.simplefilter("ignore")
            exec(code, names)
            outcome = ["", names.get("kind", "")]
        except BaseException:
            outcome = [traceback.format_exc()[-1500:], ""]
        os.write(writing, json.dumps(outcome).encode())
        os._exit(0)
    os.close(writing)
    outcomes[name] = json.loads(os.read(reading, 100_000) or '["the process died", ""]')
    os.close(reading)
    os.waitpid(child, 0)
print(json.dumps(outcomes))
"""


def first_in_a_process(cases, folder):
    """Run each piece of code in a process of its own; return the `kind` that each has set."""
    run = subprocess.run(
        [sys.executable, "-c", FORKING],
        input=json.dumps([cases, str(folder), LIBRARIES]),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MPLBACKEND": "agg"},
    )
    outcomes = json.loads(run.stdout)
    failed = {name: error for name, (error, _) in outcomes.items() if error}
    assert not failed, "\n\n".join(f"{name}\n{error}" for name, error in failed.items())
    assert outcomes.keys() == cases.keys()
    return [kind for _, kind in outcomes.values()]


DATA = """
from sklearn.dummy import DummyClassifier
import rocscope as rs
y, s = [1, 1, 0, 1, 0, 0] * 5, [0.9, 0.6, 0.5, 0.4, 0.2, 0.3] * 5
ids = list(range(len(y)))
preds = rs.Predictions(y, {"a": s, "b": s[::-1]})
campaign = rs.Campaign(population=300, unit_cost=1, unit_benefit=5, capacity=90)
classes = rs.multiclass.MulticlassPredictions(y, [[1 - p, p] for p in s])
by_row = rs.Campaign(population=300, unit_cost=1, unit_benefit='margin')
"""
PLOTTED = [
    "rs.roc(y, s)",
    "rs.det(y, s)",
    "rs.precision_recall(y, s)",
    "rs.gain(y, s)",
    "rs.lift(y, s)",
    "rs.lift_chart(y, s)",
    "rs.profit(y, s, campaign=campaign)",
    "rs.plan_campaign(rs.Predictions(y, s, columns={'margin': ids}), by_row).curve",
    "rs.hull(preds)",
    "rs.cost_curve(y, s)",
    "rs.curves.brier_curve(y, s)",
    "rs.net_benefit(y, s)",
    "rs.curves.Curves({'a': rs.roc(y, s)})",
    "rs.calibration_curve(y, s)",
    "rs.calibration_curve(y, s, method='pav')",
    "rs.calibration_curve(y, s, method='loess')",
    "rs.calibration.miscalibration_cost(y, s)",
    "rs.inference.smooth_roc(y, s, method='kernel')",
    "rs.evaluation.average_curve(rs.Predictions(y, s, fold=[0, 1, 2] * 10))",
    "rs.evaluation.optimism(preds, replicates=50)",
    "rs.evaluation.optimism(preds, replicates=50).distribution",
    "rs.evaluation.learning_curve(DummyClassifier(), [[value] for value in s], y, cv=3, sizes=[12])",
    "rs.multiclass.reject_curve(classes, rs.multiclass.CostMatrix.errors([0, 1]))",
    "rs.decisions.partial_lift_chart(y, s)",
    "rs.decisions.partial_lift_chart(y, s).profit(campaign)",
    "rs.plan_campaign(preds.counts('a'), campaign)",
    "rs.drift(rs.Predictions(y, s), s[:9])",
    "rs.Predictions(y, s, segment=['a', 'b'] * 15).counts(by='segment')",
    "rs.outcomes.over_time([1, 2, 3, 4, 5, 6] * 5, y, s, [2, 4])",
    "rs.outcomes.from_experiment(y, [1, 0] * 15, s).qini()",
    "rs.outcomes.from_experiment(y, [1, 0] * 15, s).by_decile(parts=2)",
]

SHORT = (
    "rs.roc",
    "rs.hull",
    "rs.calibration_curve(y, s)",
    "rs.evaluation.average",
    "rs.plan",
    "rs.drift",
    "rs.outcomes",
)
"""Beginnings of the calls that are always tried, one for each module that draws."""

# What has no result of its own to plot: bases, and curves that only others show.
NOT_RESULTS = {"Curve", "CountCurve", "CountedRoc"}


def with_plot():
    """Return the names of public classes that have `plot`, or inherit it."""
    bases, names = {}, {"Curve"}
    for path in Path(rs.__file__).parent.rglob("*.py"):
        if path.parent.name in ("compat", "plotting"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {getattr(base, "id", "") for base in node.bases}
                if any(isinstance(part, ast.FunctionDef) and part.name == "plot" for part in node.body):
                    names.add(node.name)
    for _ in bases:
        names |= {name for name, above in bases.items() if above & names}
    return {name for name in names if name[0] != "_"} - NOT_RESULTS


def plot_cases():
    return {call: f"{DATA}\nresult = {call}\nresult.plot()\nkind = type(result).__name__" for call in PLOTTED}


EXAMPLE = """
import doctest, io, sys, types
from {package} import {name} as public
__import__("matplotlib").use("agg")
finder = doctest.DocTestFinder(recurse=False)
module = public.__name__ if isinstance(public, types.ModuleType) else public.__module__
names = dict(vars(sys.modules[module])) if module in sys.modules else {{}}
(test,) = finder.find(public, {name!r}, globs=names, module=False)
log = io.StringIO()
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
failed = doctest.DocTestRunner(optionflags=flags).run(test, out=log.write).failed
assert not failed, log.getvalue()
"""


def public_names():
    """Return the package and name of everything public."""
    for line in text_of("public_names.txt").splitlines():
        package, _, *names = line.split()
        for name in names:
            yield package, name


def example_cases(package_of):
    cases = {}
    for package, name in public_names():
        if package_of(package):
            cases[f"{package}.{name}"] = EXAMPLE.format(package=package, name=name)
    return cases


DISPLAYED = """
from rocscope.compat.displays import {display} as Display
from sklearn.linear_model import LogisticRegression
y, s = [1, 1, 0, 1, 0, 0] * 5, [0.9, 0.6, 0.5, 0.4, 0.2, 0.3] * 5
{call}
"""
DISPLAY_CALLS = (
    "Display.from_predictions(y, s)",
    "Display.from_estimator(LogisticRegression().fit([[value] for value in s], y), [[value] for value in s], y)",
    "Display.from_predictions(y, s).curve.plot()",
)


def display_cases(calls):
    cases = {}
    for display in ("RocCurveDisplay", "PrecisionRecallDisplay", "DetCurveDisplay", "CalibrationDisplay"):
        for call in calls:
            cases[f"{display}: {call}"] = DISPLAYED.format(display=display, call=call)
    return cases


# Each is run in a folder with the files that the calls before it have written.
LINES = """
demo -o demo --force
validate s.csv
summary s.csv -l y -s a
report s.csv -l y -s a -o report.html
page -o page.html
choose s.csv -l y -s a -o decision.json
campaign s.csv -l y -s a --population 300 --unit-cost 1 --unit-benefit 5 -o plan.json
apply plan.json s.csv -o list.csv --every-row -l y
outcomes plan.json s.csv -l y --acted all
verify decision.json s.csv -l y
compare s.csv -l y -s a -s b
gate s.csv -l y -s a --rules rules.toml
calibrate s.csv -l y -s a -o calibrator.json
monitor decision.json s.csv -l y --state state.json
drift s.csv s.csv -l y -s a
"""
RUN = """
from rocscope.cli import run
assert run({words!r}) == 0
"""


def command_cases(folder):
    """Return the commands, and write the files that they read."""
    rows = "1,0.9,0.1\n1,0.6,0.2\n0,0.5,0.3\n0,0.4,0.4\n1,0.4,0.5\n0,0.2,0.6\n"
    (folder / "s.csv").write_text("y,a,b\n" + rows * 6)
    (folder / "rules.toml").write_text('rules = ["auc >= 0.5"]\n')
    return {line: RUN.format(words=line.split()) for line in LINES.strip().splitlines()}


def test_what_comes_first_works(tmp_path):
    """One of each kind, in one process that forks; all of them with --slow."""
    plots, commands = plot_cases(), command_cases(tmp_path)
    cases = {call: plots[call] for call in PLOTTED if call.startswith(SHORT)}
    cases |= display_cases(DISPLAY_CALLS[:1])
    topics = example_cases(lambda package: package != "rocscope")
    cases |= {name: topics[name] for name in {name.rpartition(".")[0]: name for name in reversed(topics)}.values()}
    cases |= {line: run for line, run in commands.items() if line.startswith("compare")}
    first_in_a_process(cases, tmp_path)


@pytest.mark.slow(reason="what starts other programs")
def test_every_plot_comes_first(tmp_path):
    assert not with_plot() ^ set(first_in_a_process(plot_cases(), tmp_path))


@pytest.mark.slow(reason="what starts other programs")
def test_every_display_and_public_name_comes_first(tmp_path):
    first_in_a_process(display_cases(DISPLAY_CALLS) | example_cases(lambda _: True), tmp_path)


@pytest.mark.slow(reason="what starts other programs")
def test_every_command_comes_first(tmp_path):
    commands = command_cases(tmp_path)
    names = [line.split()[0] for line in commands]
    assert names == [name for name in COMMANDS if name != "explore"]  # which runs until it is stopped
    first_in_a_process(commands, tmp_path)
