"""Every chart says what is under the pointer, or at the handle that the keyboard has."""

import re

import pytest

import rocscope as rs
from report_browser import page_of, predictions

PREDS = predictions(rows=400, decimals=2)
page = page_of(lambda: rs.Report(PREDS))


def reading(page, chart, across=0.4):
    """Return what a chart says of a place within it."""
    plot = page.page.locator(f"#{chart} .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.page.mouse.move(box["x"] + across * box["width"], box["y"] + 0.4 * box["height"])
    return page.settle().page.text_content(f"#{chart} .reading")


def counts_at(page, text):
    """Return the point of the current model at the threshold that a reading names."""
    threshold = float(re.search(r"score ≥ ([\d.]+)", text)[1])
    return PREDS.counts(page.page.text_content(".pick[aria-pressed=true]")).at(threshold)


def test_a_curve_says_threshold_coordinates_and_counts(page):
    page.reset()
    text = reading(page, "roc")
    point = counts_at(page, text)
    rates = re.search(r"true positive rate ([\d.]+)%, false positive rate ([\d.]+)%", text)
    assert [float(rate) / 100 for rate in rates.groups()] == pytest.approx([point.tpr, point.fpr], abs=6e-4)
    assert f"{point.tp} true, {point.fp} false positives" in text
    text = reading(page, "gain")
    point = counts_at(page, text)
    assert f"share predicted positive {100 * (point.tp + point.fp) / point.n:.1f}%" in text


def test_each_chart_has_a_reading(page):
    page.reset()
    expected = {"calibration": "observed", "metrics": "Recall", "winners": "cost ratio"}
    for chart, word in expected.items():
        assert word in reading(page, chart), chart
    for view, word in {"profit": "profit", "benefit": "net benefit"}.items():
        page.view(view)
        assert word in reading(page, "money")
    page.page.mouse.move(0, 0)
    assert page.settle().page.locator("#money .reading").is_hidden()


def test_the_keyboard_has_the_reading_of_its_handle(page):
    page.reset()
    page.page.keyboard.press("Tab")
    page.page.focus("#roc .handle")
    page.page.keyboard.press("ArrowRight")
    x, y = page.settle().mark("roc", "point")
    text = page.page.text_content("#roc .reading")
    point = counts_at(page, text)
    assert [point.fpr, point.tpr] == pytest.approx([x, y])
