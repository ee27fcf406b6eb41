"""The charts are there when the page has loaded, for whoever takes a picture of it then."""

import rocscope as rs
from report_browser import predictions

AT_LOAD = """addEventListener("load", () => {
  const canvas = document.querySelector("#roc canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let coloured = 0;
  for (let i = 0; i < data.length; i += 4) {
    const rgb = [data[i], data[i + 1], data[i + 2]];
    coloured += data[i + 3] > 0 && Math.max(...rgb) - Math.min(...rgb) > 60;
  }
  window.atLoad = [coloured, document.querySelectorAll("#roc [data-role=point], #gain [data-role=point]").length];
});"""


def test_the_charts_are_drawn_when_the_page_has_loaded(chromium, tmp_path):
    path = rs.Report(predictions(rows=300)).save(tmp_path / "report.html")
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.add_init_script(AT_LOAD)
    page.goto(path.as_uri())
    coloured, points = page.evaluate("atLoad")
    assert coloured > 500
    assert points == 2
    page.close()
