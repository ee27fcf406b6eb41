"""A drag draws the same curves as a file of them has, keeps what stays, and what is out of sight follows at a pause."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, page_of, predictions

PREDS = predictions()
page = page_of(lambda: rs.Report(PREDS, context=rs.Context(cost_fn=3)))

PIXELS = """({chart, points}) => {
  const canvas = document.querySelector(`#${chart} canvas`);
  const ratio = canvas.width / document.querySelector(`#${chart} svg[role=img]`).viewBox.baseVal.width;
  const pen = canvas.getContext("2d");
  return points.map(([x, y]) => [...pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data]);
}"""


def curve_of(svg, model):
    """The points of a model's curve in a saved picture, in its pixels, and its colour."""
    root = ET.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    left, top = map(float, re.findall(r"[\d.]+", root.find(f"{name}g").get("transform")))
    curve = next(part for part in root.iter(f"{name}path") if part.get("data-name") == model)
    points = np.array([left, top]) + np.array(re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", curve.get("d")), float)
    return points, [int(curve.get("stroke")[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize(
    ("chart", "view", "columns"),
    [
        ("roc", None, ("fpr", "tpr")),
        ("gain", "gain", ("depth", "tpr")),
        ("gain", "count", ("depth", "tp")),
        ("money", "profit", ("depth", "profit")),
    ],
)
def test_a_curve_in_other_units_goes_through_its_numbers(page, fresh, chart, view, columns):
    page.set(cost_fn=12, prevalence=8)
    if view:
        page.view(view)
    page.page.wait_for_timeout(700)  # names are written at a pause
    model = page.page.text_content(".pick[aria-pressed=true]")
    points, colour = curve_of(page.save_chart(chart, "SVG").read_text(encoding="utf-8"), model)
    header, *lines = page.save_chart(chart, "CSV").read_text(encoding="utf-8").splitlines()
    assert tuple(header.split(",")[:2]) == columns
    numbers = np.array([line.split(",")[:2] for line in lines], float)
    assert points.shape == numbers.shape
    for pixels, values in zip(points.T, numbers.T, strict=True):
        slope, start = np.polyfit(values, pixels, 1)
        assert np.abs(start + slope * values - pixels).max() <= 0.006  # pictures have two digits after the point
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    middles = ((points[1:] + points[:-1]) / 2)[steps < 40]
    seen = np.array(page.page.evaluate(PIXELS, {"chart": chart, "points": middles.tolist()}), int)
    near = np.abs(seen[:, :3] - colour).max(axis=1) < 60
    assert near.mean() > 0.9  # the canvas has the curve where the file has it, but for what lies over it


@pytest.mark.slow(reason="further views of the page in a browser")
def test_a_drag_keeps_the_elements_that_it_moves(page, fresh):
    mark = "window.kept = [...document.querySelectorAll('#roc [data-role], #money [data-role], .verdict strong')]"
    page.page.evaluate(mark)
    before = page.page.text_content(".verdict")
    page.set(cost_fn=3.5)
    assert page.page.text_content(".verdict") != before
    assert page.page.evaluate("kept.every((element) => element.isConnected)")


COUNT_DRAWINGS = """() => {
  window.drawn = [];
  const {clearRect} = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    drawn.push(this.canvas.closest(".card").id);
    return clearRect.apply(this, box);
  };
}"""


def test_costs_and_thresholds_move_points_and_draw_no_curve_again(page, fresh):
    model = page.page.text_content(".pick[aria-pressed=true]")
    page.page.evaluate(COUNT_DRAWINGS)
    places = [page.mark("roc", "point")]
    page.set(cost_fn=3.5)
    places.append(page.mark("roc", "point"))
    assert page.page.evaluate("drawn") == []
    page.set(threshold=0.6)  # the model is now one that was chosen, and stays when others are cheaper
    page.page.evaluate("() => { drawn.length = 0; }")
    for threshold in (0.5, 0.4):
        page.set(threshold=threshold)
        places.append(page.mark("roc", "point"))
    assert page.page.evaluate("drawn") == []
    assert len(set(map(tuple, places))) == 4
    assert page.page.text_content(".pick[aria-pressed=true]") == model
    page.set(prevalence=5)
    assert "gain" in page.page.evaluate("drawn")  # which has the prevalence in its axes


@pytest.mark.slow(reason="further views of the page in a browser")
def test_what_is_out_of_sight_follows_when_there_is_a_pause(chromium, tmp_path):
    report = rs.Report(PREDS, context=rs.Context(cost_fn=3))
    with opened(chromium, report, tmp_path, viewport={"width": 1400, "height": 700}) as page:
        said = page.page.text_content("#metrics .caption"), page.page.text_content("#cell-tp")
        page.set(cost_fn=30)
        page.page.wait_for_function(
            "(said) => document.querySelector('#metrics .caption').textContent !== said[0]"
            " && document.querySelector('#cell-tp').textContent !== said[1]",
            arg=said,
        )
        assert "fn=30" in page.page.url
        point = rs.choose(PREDS, rs.Context(cost_fn=30)).point
        found = page.page.get_attribute("#cell-tp", "data-value")
        assert float(found) == pytest.approx(1000 * point.tp / point.n)
        assert page.messages == []
