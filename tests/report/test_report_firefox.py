"""In Firefox the report shows the same texts and marks as in Chromium and draws its curves; the open page counts."""

import pytest

import rocscope as rs
from report_browser import page_of, predictions
from report_open import write_page
from test_open_counts import MENDED, search

PREDS = predictions()
page = page_of(lambda: rs.Report(PREDS, context=rs.Context(cost_fn=3)))

STATES = (
    "",
    "#fp=2&fn=9",
    "#prevalence=0.07&view=profit",
    "#threshold=0.3&view=benefit",
    "#words=clinical&calibration=smooth",
)

SHOWN = """async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  document.querySelector("#details").open = true;
  await pause(900);  // charts out of sight and names of curves are drawn at a pause
  const visible = [...document.querySelectorAll("main *")].filter((element) => element.checkVisibility());
  return {
    text: visible.flatMap((element) => [...element.childNodes]).filter((node) => node.nodeType === 3)
      .map((node) => node.textContent.trim()).filter(Boolean),
    marks: visible.filter((element) => element.dataset.at)
      .map((element) => `${element.closest("[id]").id} ${element.dataset.role}: ${element.dataset.at}`),
  };
}"""

COLOURED = """async (chart) => {
  const stroke = document.querySelector(`#${chart} [data-role=point]`).getAttribute("fill");
  const canvas = document.querySelector(`#${chart} canvas`);
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(stroke.slice(at, at + 2), 16));
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const off = (i) => Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b);
  let pixels = 0;
  for (let i = 0; i < data.length; i += 4) pixels += data[i + 3] > 200 && off(i) < 60;
  return pixels;
}"""


@pytest.mark.every(2)
@pytest.mark.parametrize("state", STATES)
def test_firefox_shows_the_same_texts_and_marks(firefox, page, state):
    page.page.goto("about:blank")
    page.open(state)
    expected = page.page.evaluate(SHOWN)
    firefox.goto("about:blank")
    firefox.resize(**page.page.viewport_size)
    firefox.goto(page.path.as_uri() + state)
    shown = firefox.evaluate(SHOWN)
    assert shown["text"] == expected["text"]
    assert shown["marks"] == expected["marks"]
    assert len(expected["text"]) > 100
    assert len(expected["marks"]) > 5


@pytest.mark.parametrize(("chart", "view"), [("roc", "gain"), ("gain", "gain"), ("money", "profit")])
def test_firefox_draws_the_curves(firefox, page, chart, view):
    firefox.goto("about:blank")
    firefox.goto(f"{page.path.as_uri()}#view={view}")
    firefox.evaluate(SHOWN)
    assert firefox.evaluate(COLOURED, chart) > 300


def test_the_open_page_counts_files_as_python_counts_them(firefox, tmp_path):
    firefox.goto(write_page(tmp_path).as_uri())
    assert search(firefox, (*range(0, 100, 12), *MENDED), tmp_path) == {}
