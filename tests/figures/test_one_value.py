"""Each figure has one value, wherever it is shown: the same number, or undefined in all places."""

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

import rocscope as rs
from rocscope.calibration.report import plotted_numbers
from rocscope.cli.gate import Gate, Judge, judge_gates
from rocscope.evaluation.summary import MEASURES
from rocscope.figures.conditions import Condition
from rocscope.figures.registry import FIGURES, in_context, known
from rocscope.inference import statistics
from rocscope.report.model import report_data
from rocscope.report.page import payload

THRESHOLD = 0.3
CONTEXT = rs.Context(cost_fp=1, cost_fn=4)
AT_DEPTHS = [f"{kind}@{depth}" for kind in ("gain", "lift", "precision") for depth in (0.05, 0.1, 0.2, 0.5)]
pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
NAMES = [*FIGURES, "f1", "f0.5", "f2", *AT_DEPTHS]
IN_SUMMARY = {"cost": "expected_cost"} | {name: name for name in MEASURES}


def simulated(n: int, seed: int, *, digits: int = 12, shift: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2 + 40 * (shift != 0), n).round(digits)
    label = (rng.random(n) < score**1.2).astype(int)
    label[:2] = 0, 1
    return label, score


@cache
def data_sets() -> dict[str, rs.Predictions]:
    features, label = load_breast_cancer(return_X_y=True)
    bayes = GaussianNB().fit(features[::2], label[::2]).predict_proba(features[1::2])[:, 1]
    forest = RandomForestClassifier(20, random_state=0).fit(features[::2], label[::2])
    of_forest = forest.predict_proba(features[1::2])[:, 1]
    half = label[1::2]
    of_forest[np.flatnonzero(half == 0)[0]] = 1.0  # a certain prediction that proved wrong
    few, few_scores = simulated(20, 1)
    rare, rare_scores = simulated(2000, 2, shift=1.0)
    ties, tied_scores = simulated(500, 3, digits=1)
    some, some_scores = simulated(300, 4)
    separable = np.repeat([0, 1], 30)
    sets = {
        "naive Bayes": (half, bayes),
        "forest": (half, of_forest),
        "separable": (separable, np.linspace(0.05, 0.95, 60)),
        "constant": (some, np.full(300, 0.4)),
        "20 rows": (few, few_scores),
        "rare events": (rare, rare_scores),
        "ties": (ties, tied_scores),
        "weighted": (some, some_scores),
    }
    predictions = {}
    for name, (y, score) in sets.items():
        weight = np.random.default_rng(5).uniform(0.5, 3, y.size) if name == "weighted" else None
        predictions[name] = rs.Predictions(y, {"a": score, "b": 0.25 + score / 2}, sample_weight=weight)
    return predictions


def own_function(data: rs.Predictions, name: str) -> Any:
    figure, counts = known(name), data.counts("a")
    assert figure is not None
    if figure.needs == "costs" and name != "miscalibration_cost":
        figure = in_context(figure, CONTEXT)
    if figure.needs == "cells" or (figure.needs == "costs" and figure.cells):
        point = counts.at(THRESHOLD)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(figure.cells(*(np.float64(cell) for cell in (point.tp, point.fp, point.fn, point.tn))))
    if name == "miscalibration_cost":
        return rs.calibration.miscalibration_cost(data, model="a").cost(CONTEXT)
    return figure.value(counts)


def point(data: rs.Predictions) -> dict[str, Any]:
    at = data.counts("a").at(THRESHOLD)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = {name: getattr(at, name) for name in NAMES if hasattr(at, name)}
        return {name: float(value() if callable(value) else value) for name, value in values.items()}


def summary(data: rs.Predictions) -> dict[str, Any]:
    row = rs.summary(data.select(models=["a"]), CONTEXT, threshold=THRESHOLD)["a"]
    return {name: row[shown].value for name, shown in IN_SUMMARY.items() if name in NAMES}


def frame(data: rs.Predictions) -> dict[str, Any]:
    table = rs.summary(data.select(models=["a"]), CONTEXT, threshold=THRESHOLD).to_frame()
    values = dict(zip(table["measure"], table["value"], strict=True))
    return {name: values[shown] for name, shown in IN_SUMMARY.items() if name in NAMES}


def estimate_of(data: rs.Predictions) -> dict[str, Any]:
    values = {}
    for name in NAMES:
        figure = known(name)
        if figure.smooth is not None:
            values[name] = rs.inference.estimate_of(data, name, model="a").value
        elif figure.needs == "cells" and figure.unit != "cases":
            values[name] = rs.inference.estimate_of(data, statistics.at(THRESHOLD, name), model="a").value
    return values


def compare(data: rs.Predictions) -> dict[str, Any]:
    smooth = [name for name in NAMES if known(name).smooth is not None]
    return {name: rs.compare(data, statistic=name).estimates["a"].value for name in smooth}


def judge(data: rs.Predictions, level: str) -> dict[str, Any]:
    judging = Judge(data, {"a": THRESHOLD, "b": THRESHOLD}, CONTEXT)
    values = {}
    for name in NAMES:
        if level and (known(name).unit == "cases" or name == "ks"):
            continue
        values[name] = judging.estimate(Condition.read(f"{name}(a) > 0{level}")[0]).value
    return values


def calibration_report(data: rs.Predictions) -> dict[str, Any]:
    report = rs.calibration.calibration_report(data, model="a", draws=0)
    return {name: report[name].value for name in NAMES if name in report.estimates}


def val_prob(data: rs.Predictions) -> dict[str, Any]:
    r = rs.calibration.val_prob(data, model="a")
    shown = {"auc": r.c, "brier": r.brier, "intercept": r.intercept, "slope": r.slope}
    return shown | {"ici": r.eavg, "e90": r.e90}


def cox(data: rs.Predictions) -> dict[str, Any]:
    fit = rs.calibration.cox_calibration(data, model="a")
    return {name: getattr(fit, name) for name in ("in_the_large", "intercept", "slope")}


def legend(data: rs.Predictions) -> dict[str, Any]:
    return plotted_numbers(data.counts("a"))


def page(data: rs.Predictions) -> dict[str, Any]:
    content = report_data(data, threshold=THRESHOLD).to_dict()
    return content["models"][0]["calibration"]["numbers"]


def threshold_table(data: rs.Predictions) -> dict[str, Any]:
    columns = rs.inference.threshold_table(data.select(models=["a"])).columns
    reached = np.flatnonzero(columns["threshold"] >= THRESHOLD)
    if not reached.size:
        return {}
    return {name: columns[name][reached[-1]] for name in NAMES if name in columns}


def rate_intervals(data: rs.Predictions) -> dict[str, Any]:
    estimates = rs.inference.rate_intervals(data.counts("a").at(THRESHOLD))
    return {name: estimates[name].value for name in NAMES if name in estimates}


PLACES: dict[str, Callable[[rs.Predictions], dict[str, Any]]] = {
    "point": point,
    "summary": summary,
    "frame": frame,
    "estimate_of": estimate_of,
    "compare": compare,
    "gate": lambda data: judge(data, ""),
    "gate at 95%": lambda data: judge(data, " at 95%"),
    "calibration_report": calibration_report,
    "val_prob": val_prob,
    "cox_calibration": cox,
    "legend": legend,
    "report JSON": page,
    "threshold_table": threshold_table,
    "rate_intervals": rate_intervals,
}


def written(path: Any, columns: dict[str, Any]) -> None:
    lines = [",".join(map(repr, row)) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")


def same(value: Any, expected: float) -> bool:
    """JSON has None for what is no finite number."""
    if value is None:
        return not math.isfinite(expected)
    return value == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def different(data: rs.Predictions, shown: dict[str, dict[str, Any]]) -> Iterator[str]:
    for place, values in shown.items():
        for name, value in values.items():
            expected = own_function(data, name)
            if not same(value, expected):
                yield f"{name}: {value} in {place}, {expected} by its own function"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "name", ["naive Bayes", "forest", "separable", "20 rows", "constant", "rare events", "weighted", "ties"]
)
def test_a_figure_has_one_value(name, record_property):
    data = data_sets()[name]
    shown = {}
    for place, values in PLACES.items():
        try:
            shown[place] = {figure: value for figure, value in values(data).items() if figure in NAMES}
        except rs.errors.InputError:
            if not (name == "weighted" and place in ("threshold_table", "rate_intervals")):
                raise
    cells = sum(map(len, shown.values()))
    record_property("cells", cells)
    print(f"{name}: {len(NAMES)} figures, {len(shown)} places, {cells} cells")
    assert list(different(data, shown)) == []


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["naive Bayes", "separable", "forest", "weighted"])
def test_the_commands_show_the_same_values(run, tmp_path, name):
    data = data_sets()[name]
    path, rules = tmp_path / "scores.csv", tmp_path / "rules.toml"
    weight = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
    lines = [
        f"{y:d},{a!r},{w!r}" for y, a, w in zip(data.y_true, data.scores["a"].tolist(), weight.tolist(), strict=True)
    ]
    path.write_text("y,a,w\n" + "\n".join(lines) + "\n")
    names = [figure for figure in NAMES if known(figure).needs in ("ranks", "probabilities", "cells")]
    conditions = [f"{figure} > -1e9" for figure in names]
    rules.write_text(f"rules = {json.dumps(conditions)}\nthreshold = {THRESHOLD}\n")
    source = [path, "--label", "y", "--score", "a"]
    if name == "weighted":
        source += ["--weight", "w"]
    fail_if = [part for condition in conditions for part in ("--fail-if", condition)]
    code, out, err = run("summary", *source, "--threshold", THRESHOLD, "--json", *fail_if)
    assert code < 2, err
    gates = {gate["condition"].split()[0]: gate["estimate"]["value"] for gate in json.loads(out)["gates"]}
    _, out, err = run("gate", *source, "--rules", rules, "--json")
    judged = {rule["rule"].split()[0]: rule["estimates"][0]["value"] for rule in json.loads(out)["rules"]}
    assert len(gates) == len(judged) == len(names), err
    print(f"{name}: {2 * len(names)} cells")
    assert list(different(data, {"--fail-if": gates, "gate": judged})) == []


DEGENERATE = {
    "separable": (np.repeat([0, 1], 30), np.linspace(0.05, 0.95, 60)),
    "constant": (np.arange(60) % 3 == 0, np.full(60, 0.4)),
    "only positives": (np.ones(60, int), np.linspace(0.05, 0.95, 60)),
    "only negatives": (np.zeros(60, int), np.linspace(0.05, 0.95, 60)),
    "certain and wrong": (np.arange(60) % 3 == 0, np.linspace(0, 1, 60)),
    "no probabilities": (np.arange(60) % 3 == 0, np.linspace(-5, 5, 60)),
    "nobody predicted positive": (np.arange(60) % 3 == 0, np.linspace(0.01, 0.1, 60)),
}
RELATIONS = (">= -1e300", "<= 1e300", ">= -1e300 at 95%", "<= 1e300 at 95%")


@pytest.mark.every(2)
@pytest.mark.parametrize("name", DEGENERATE)
def test_no_gate_passes_a_figure_that_is_undefined_or_diverges(name):
    """Any number satisfies these bounds, so that only what is no number fails."""
    data = rs.Predictions(DEGENERATE[name][0], {"a": DEGENERATE[name][1]})
    judging = Judge(data, {"a": THRESHOLD}, CONTEXT)
    outcomes = {"passed": 0, "failed": 0, "refused": 0}
    for figure in NAMES:
        undefined = _is_undefined(data, figure)
        # Other figures have bootstrap intervals, which take seconds and are undefined without a value.
        is_fast = known(figure).needs == "cells" or known(figure).smooth is not None
        for relation in RELATIONS if is_fast else RELATIONS[:2]:
            gate = Gate.parse(f"{figure} {relation}", "rules", required=True)
            try:
                (judged,) = judge_gates([gate], ["a"], judging.estimate)
            except rs.errors.InputError:
                outcomes["refused"] += 1
                continue
            outcomes["failed" if judged.failed else "passed"] += 1
            if undefined:
                assert judged.failed, f"{figure} {relation}: {judged.result}"
            elif "at" not in relation and math.isfinite(judged.estimates[0].value):
                assert not judged.failed, f"{figure} {relation}: {judged.result}"
    print(f"{name}: {sum(outcomes.values())} gates, {outcomes}")
    assert outcomes["passed"] > 0


def _is_undefined(data: rs.Predictions, name: str) -> bool:
    """By its own function; likelihood and odds ratios may be infinite, as no finite value is ideal."""
    if name == "excess_events":  # a mean over rows, which one class has too
        return not 0 <= data.scores["a"].min() <= data.scores["a"].max() <= 1
    try:
        value = own_function(data, name)
    except rs.errors.InputError:
        return True
    return math.isnan(value) or (math.isinf(value) and known(name).ideal is not None)


@pytest.mark.parametrize(
    ("name", "word"),
    [("separable", "separate"), ("forest", "has probability 0"), ("constant", "all probabilities are equal")],
)
def test_a_slope_that_does_not_exist_fails_every_gate_in_words(run, tmp_path, name, word):
    data = data_sets()[name]
    path, rules = tmp_path / "scores.csv", tmp_path / "rules.toml"
    written(path, {"y": data.y_true.astype(int), "a": data.scores["a"]})
    relations = (">= 0.8", "<= 1.2", ">= 0.8 at 95%", "<= 1e30 at 95%")
    fail_if = [part for relation in relations for part in ("--fail-if", f"slope {relation}")]
    code, _, err = run("summary", path, "--label", "y", "--score", "a", *fail_if)
    assert (code, err.count(word)) == (1, len(relations)), err
    for relation in relations:
        rules.write_text(f'rules = ["slope {relation}"]\n')
        code, out, _ = run("gate", path, "--label", "y", "--score", "a", "--rules", rules)
        assert (code, word in out) == (1, True), out


def test_an_infinite_slope_is_not_compared():
    data = data_sets()["separable"]
    compared = rs.compare(data, statistic="slope")["a", "b"]
    assert math.isnan(compared.difference.value)
    assert math.isnan(compared.p_value)


def test_slope_of_naive_bayes_is_that_of_r():
    """R 4: glm(y ~ qlogis(p), binomial) on the half that naive Bayes was not fitted to, without the certain rows."""
    data = data_sets()["naive Bayes"]
    cox = rs.calibration.cox_calibration(data, model="a")
    found = [cox.intercept, cox.slope, cox.intercept_error, cox.slope_error]
    assert found == pytest.approx([-0.2729656341, 0.1332860196, 0.32799317301, 0.02131933675], rel=1e-7)


def test_page_has_the_rounded_numbers():
    data = data_sets()["naive Bayes"]
    packed = payload(report_data(data))
    assert "0.1333" in json.dumps(packed)
