"""Axes fit the data: they end where the scores do, have powers of ten for rare positives, and keep their marks."""

import numpy as np
import pytest

import rocscope as rs
from report_browser import page_of
from rocscope.report.model import calibration_block

ROWS = 20_000
rng = np.random.default_rng(3)
LABELS = rng.random(ROWS) < 0.004
SCORES = 1 / (1 + np.exp(6.5 - 1.2 * (rng.normal(0, 1, ROWS) + 2 * LABELS)))
RARE = rs.Predictions(LABELS, {"model": SCORES})

TICKS = "(id) => [...document.querySelectorAll(`#${id} svg[role=img] > g:first-child text`)].map((e) => e.textContent)"
BROKEN = """() => [...document.querySelectorAll("main svg *")].flatMap((element) => [...element.attributes]
    .filter(({ name, value }) => !name.startsWith("data-") && /NaN|Infinity/.test(value))
    .map(({ name, value }) => `${element.outerHTML.slice(0, 80)} ${name}=${value}`))"""
ASTRAY = """() => [...document.querySelectorAll(".plot circle")].filter((circle) => {
  const [dot, plot] = [circle.getBoundingClientRect(), circle.closest(".plot").getBoundingClientRect()];
  return dot.bottom < plot.top || dot.top > plot.bottom || dot.right < plot.left || dot.left > plot.right;
}).map((circle) => circle.outerHTML)"""

page = page_of(lambda: rs.Report(RARE, context=rs.Context(cost_fn=100)))


def test_axes_of_probabilities_end_where_the_scores_do(page):
    page.reset()
    ticks = page.page.evaluate(TICKS, "calibration")
    end = np.quantile(SCORES, 0.995)
    across = [float(text) for text in ticks if text.replace(".", "").isdigit()]
    assert end <= max(across) < 5 * end
    page.page.click("#calibration button:text-is('0–1')")
    assert "1" in page.settle().page.evaluate(TICKS, "calibration")


def test_rare_positives_are_drawn_over_powers_of_ten(page):
    page.reset()
    ticks = page.page.evaluate(TICKS, "gain")
    assert {"0.1%", "1%", "10%", "100%"} <= set(ticks)
    depth, found = page.mark("gain", "point")
    best = rs.choose(RARE, rs.Context(cost_fn=100)).point
    assert [depth, found] == pytest.approx([(best.tp + best.fp) / ROWS, best.tpr])
    page.set(prevalence=30)
    assert "0.1%" not in page.page.evaluate(TICKS, "gain")


def test_bins_hold_equally_many_rows_where_one_would_hold_most():
    block = calibration_block(RARE.counts("model"), bins_only=True)
    sizes = [row["n"] for row in block["bins"]]
    assert len(sizes) == 10
    assert max(sizes) - min(sizes) <= 2
    even = calibration_block(rs.Predictions(LABELS, {"a": rng.random(ROWS)}).counts("a"), bins_only=True)
    assert [row["x"] for row in even["bins"]] == pytest.approx(np.arange(0.05, 1, 0.1), abs=0.01)


@pytest.mark.parametrize("state", ["fp=0&fn=0", "fp=3&fn=0", "fp=1e6&fn=1&view=profit", "view=benefit&fp=0&fn=0"])
def test_no_attribute_is_not_a_number_and_no_mark_leaves_its_plot(page, state):
    page.page.goto("about:blank")
    page.open(f"#{state}")
    assert page.page.evaluate(BROKEN) == []
    assert page.page.evaluate(ASTRAY) == []
    assert page.messages == []
