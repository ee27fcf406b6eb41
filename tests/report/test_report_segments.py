"""Segments side by side: each row is what Python says of the segment."""

import csv
import io

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, predictions

PREDS = predictions(rows=600, decimals=2)
REGION = np.array(["north", "south"])[np.arange(600) % 2]


def test_each_segment_has_its_own_decision_and_the_cost_of_the_common_one(chromium, tmp_path):
    preds = rs.Predictions(PREDS.y_true, PREDS.scores, segment=REGION)
    context = rs.Context(cost_fn=4)
    with opened(chromium, rs.Report(preds, context=context), tmp_path) as page:
        page.page.locator("#segments").scroll_into_view_if_needed()
        page.page.wait_for_selector("#segments tbody tr")
        text = page.settle().save_chart("segments", "CSV").read_text(encoding="utf-8")
        common = rs.choose(preds, context)
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["segment"] for row in rows] == ["north", "south"]
        for row in rows:
            part = preds.by_segment()[row["segment"]]
            counts = part.counts(common.model)
            best = rs.choose({common.model: counts}, context)
            assert float(row["threshold"]) == best.threshold
            assert float(row["cost"]) == pytest.approx(best.expected_cost)
            assert float(row["acted_on"]) == pytest.approx((best.point.tp + best.point.fp) / best.point.n)
            interval = rs.auc_interval(counts)
            found = [float(row[end]) for end in ("auc", "auc_low", "auc_high")]
            assert found == pytest.approx([interval.value, interval.low, interval.high], abs=1e-3)
            point = counts.at(common.threshold)
            cost = context.expected_cost(point.tpr, point.fpr, counts.prevalence)
            assert float(row["cost_at_common_threshold"]) == pytest.approx(cost, abs=0.02)
        second = page.page.locator("#segments .pick >> nth=1")
        second.scroll_into_view_if_needed()
        page.settle()  # coming into sight draws the table once more, and a click between the two would be lost
        second.click()
        page.page.wait_for_function("document.querySelector('#slice').value === '2'")
