"""The pages for those who come from another tool: our side of each table says what the other said of the same rows."""

import ast
import csv
import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

import rocscope as rs
from rocscope.inference import statistics

ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

PAGES = sorted(
    page
    for page in (ROOT / "docs" / "coming-from").glob("*.md")
    if "both say" in page.read_text(encoding="utf-8") and page.stem != "index"
)
THERE = json.loads((ROOT / "tests/reference/coming_from/there.json").read_text(encoding="utf-8"))
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (\S+) \|$", re.MULTILINE)
SESSION = re.compile(r"^```pycon\n(.*?)^```", re.DOTALL | re.MULTILINE)


def names_of(page):
    """What the session at the top of a page leaves."""
    names = {"rs": rs}
    exec("\n".join(line[4:] for line in SESSION.findall(page)[0].splitlines()), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_sides_of_a_table_say_the_same(page):
    text = page.read_text(encoding="utf-8")
    names, there = names_of(text), THERE[page.stem]["values"]
    rows = ROW.findall(text)
    assert {left for left, _, _ in rows} == set(there)
    for left, right, shown in rows:
        ast.parse(right, mode="eval")
        here = eval(right, names)
        assert here == pytest.approx(there[left], rel=1e-7, abs=1e-12), (left, right)
        assert shown == f"{there[left]:.4g}", left


def net_benefit_of_dcurves(time, event, risk, threshold, horizon):
    """Return net benefit as dcurves defines it: by the Kaplan–Meier curve of the rows at or above the threshold."""
    treated, free = risk >= threshold, 1.0
    for moment in np.unique(time[treated & (event == 1) & (time <= horizon)]):
        at_risk = treated & (time >= moment)
        free *= 1 - ((time == moment) & (event == 1) & at_risk).sum() / at_risk.sum()
    return treated.mean() * (1 - free - free * threshold / (1 - threshold))


def test_net_benefit_under_censoring_is_that_of_dcurves_by_strata_only():
    opposite_signs = 0
    for seed in (21, 43, 60, 126, 177):
        rng = np.random.default_rng(seed)
        time, event, risk = rng.integers(1, 9, 12), rng.integers(0, 2, 12), np.round(rng.random(12), 1)
        there = net_benefit_of_dcurves(time, event, risk, 0.5, 5)
        of_strata = rs.outcomes.at_horizon(time, event, risk, 5, strata=(risk >= 0.5).astype(int))
        assert statistics.net_benefit_at(0.5)(of_strata.counts()) == pytest.approx(there)
        here = statistics.net_benefit_at(0.5)(rs.outcomes.at_horizon(time, event, risk, 5).counts())
        opposite_signs += here * there < 0
    assert opposite_signs == 5


def test_events_come_before_censorings_of_the_same_time():
    """After time 1 three patients are at risk of being censored and one is: the other two count 3/2 each."""
    rows = rs.outcomes.at_horizon([1, 1, 2, 3], [1, 0, 1, 0], [4, 3, 2, 1], 2)
    assert rows.sample_weight.tolist() == pytest.approx([1, 0, 3 / 2, 3 / 2])


def test_log_loss_is_not_clipped():
    assert rs.calibration.log_loss([1, 0], [0.0, 0.5]) == np.inf
    assert np.isfinite(metrics.log_loss([1, 0], [0.0, 0.5]))


def test_smooth_areas_beside_that_of_proc():
    """pROC 1.18.0, auc(smooth(roc(aSAH$outcome, aSAH$s100b))): 0.7400129."""
    with (ROOT / "tests/reference/proc/asah.csv").open() as file:
        rows = list(csv.DictReader(file))
    outcome, score = [row["outcome"] == "1" for row in rows], [float(row["s100b"]) for row in rows]
    areas = [rs.inference.smooth_roc(outcome, score, fit=fit).auc for fit in ("ml", "ls")]
    assert areas == pytest.approx([0.7333, 0.7383], abs=5e-5)
    page = (ROOT / "docs/coming-from/proc.md").read_text(encoding="utf-8")
    assert all(f".{round(area * 1e4)}" in page for area in areas)


def test_interventions_avoided_are_per_100_cases():
    """At a threshold of 1/2, one of the two positives and one negative are treated in place of all four."""
    curve = rs.net_benefit([1, 1, 0, 0], [0.9, 0.2, 0.6, 0.1], threshold=[0.5])
    assert curve.interventions_avoided.y.tolist() == [100 * ((1 - 1) / 4 - (2 - 2) / 4)]
    calibrated = rs.net_benefit([1, 1, 0, 0], [0.9, 0.8, 0.6, 0.1], threshold=[0.5])
    assert calibrated.interventions_avoided.y.tolist() == [25]


def test_changing_one_import_gives_the_same_values():
    imports = re.compile(r"`from (rocscope\.compat\.\w+) import ([\w, ]+)`")
    text = (ROOT / "docs/coming-from/scikit-learn.md").read_text(encoding="utf-8")
    names = [(module, name) for module, line in imports.findall(" ".join(text.split())) for name in line.split(", ")]
    assert {name for _, name in names} == {"roc_auc_score", "roc_curve", "RocCurveDisplay"}
    y, score = [0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.8]
    for module, name in names:
        here, there = getattr(import_module(module), name), getattr(metrics, name)
        if isinstance(here, type):
            assert issubclass(here, there)
        else:
            for ours, theirs in zip(np.atleast_1d(here(y, score)), np.atleast_1d(there(y, score)), strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_packages_of_an_index_are_installed_once_released():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for line in page.read_text(encoding="utf-8").splitlines():
            if re.search(r"pip install \S*rocscope", line):
                assert "once released" in line, (page.name, line)
