"""Every number of a page at a random state, compared with Python's: by counting rows, or by a published formula."""

import csv
import re

import numpy as np
import pytest

import rocscope as rs
from report_browser import predictions

PREDS = predictions(models=3, rows=2000, seed=53)
TARGETS = (None, 0.05, 0.4)
POPULATION = 50_000


def rows_of(path):
    with path.open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def rates_at(score, threshold):
    """Return true and false positive rate where scores of at least a threshold are positive, by counting rows."""
    acted = score >= threshold
    return acted[PREDS.y_true].mean(), acted[~PREDS.y_true].mean()


def net_benefits(score, share):
    """Return net benefit at 1% to 99%, and that of treating all, by the formula of Vickers & Elkin 2006."""
    values = []
    for percent in range(1, 100):
        odds = (percent / 100) / (1 - percent / 100)
        tpr, fpr = rates_at(score, percent / 100)
        values += [share * tpr - (1 - share) * fpr * odds, share - (1 - share) * odds]
    return values


def gain_at(score, share, depth):
    """Return the share of positives among a share of cases, on the lines between all points of the curve."""
    levels = np.unique(score)[::-1]
    tpr, fpr = np.array([(0.0, 0.0), *(rates_at(score, level) for level in levels)]).T
    return np.interp(depth, share * tpr + (1 - share) * fpr, tpr)


def check_state(page, rng, has_rows=False):
    """Compare all numbers of one random state with Python, and return how many they were.

    A page that has the rows at hand has all thresholds: every prevalence, capacity and decile is exact.
    """
    target = TARGETS[rng.integers(len(TARGETS))]
    capacity = None
    if has_rows and rng.random() < 0.7:
        target = round(rng.uniform(0.02, 0.6), 3)
        capacity = int(rng.integers(500, POPULATION))
    context = rs.Context(target, cost_fp=round(rng.uniform(0.5, 5), 2), cost_fn=round(rng.uniform(0.5, 30), 2))
    share = context.prevalence(PREDS.prevalence)
    page.reset()
    prevalence = "none" if target is None else target
    state = f"fp={context.cost_fp}&fn={context.cost_fn}&prevalence={prevalence}&population={POPULATION}"
    state += "" if capacity is None else f"&capacity={capacity}"
    page.page.evaluate("(hash) => { location.hash = hash; }", state)
    page.settle()
    limit = {} if capacity is None else {"subject_to": f"cases <= {capacity}", "population": POPULATION}
    decision = rs.choose(PREDS, context, **limit)
    saved = page.decision()
    score = PREDS.scores[decision.model]
    numbers, expected = [], []

    # The decision, and the threshold that is printed, which decides equally if it is typed.
    assert saved["model"] == decision.model
    assert saved["next_score"] == decision.next_score
    numbers += [saved[name] for name in ("threshold", "expected_cost", "hull_cost", "treat_all_cost", "default_cost")]
    expected += [decision.threshold, decision.expected_cost, decision.hull_cost, decision.treat_all_cost]
    expected.append(decision.default_cost)
    typed = page.page.input_value("#threshold")
    assert typed == decision.point.threshold_text
    assert f"Act if score ≥ {typed}" in page.page.text_content(".verdict")
    assert rates_at(score, float(typed)) == rates_at(score, decision.threshold)
    cells = decision.point.at_prevalence(share, 1000)
    numbers += [float(page.page.get_attribute(f"#cell-{cell}", "data-value")) for cell in ("tp", "fp", "fn", "tn")]
    expected += [cells.tp, cells.fp, cells.fn, cells.tn]

    # Net benefit of the chart's data.
    page.view("benefit")
    for row in rows_of(page.save_chart("money", "CSV")):
        numbers += [float(row["net_benefit"]), float(row["treat_all"])]
    expected += net_benefits(score, share)

    # Deciles, except those that the note names.
    page.details().page.locator("#deciles").scroll_into_view_if_needed()
    note = page.settle().page.text_content("#deciles p.caption")
    approximate = {float(text) / 100 for text in re.findall(r"(\d+)(?:\.0)?%", note)}
    # The prevalences of the sample and of the report have theirs in the file.
    assert not approximate or (target == 0.4 and not has_rows)
    for row in rows_of(page.save_chart("deciles", "CSV")):
        if float(row["depth"]) not in approximate:
            numbers.append(float(row["cumulative gain"]))
            expected.append(gain_at(score, share, float(row["depth"])))

    # The campaign: as many contacts as the decision makes in the population.
    contacted = page.page.text_content("#campaign dl dd >> nth=0").replace(",", "")
    acted = cells.tp + cells.fp
    assert float(contacted) == pytest.approx(acted * POPULATION / 1000, rel=6e-4)  # four digits are shown
    assert not has_rows or page.page.text_content("#campaign p.caption") == ""

    # Cut-offs: the counts of each row.
    counts = PREDS.counts(decision.model)
    for row in rows_of(page.save_chart("cutoffs", "CSV")):
        point = counts.at(float(row["threshold"].replace("Infinity", "inf")))
        numbers += [float(row[name]) for name in ("tp", "fp", "fn", "tn", "sensitivity", "specificity")]
        expected += [point.tp, point.fp, point.fn, point.tn, point.tpr, point.tnr]
    assert numbers == pytest.approx(expected, rel=1e-9, abs=1e-11)
    return len(numbers)
