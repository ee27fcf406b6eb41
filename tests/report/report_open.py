"""The open page in a real browser: what its tests share."""

import base64
from pathlib import Path
from typing import Any

import pytest

from report_browser import Opened
from rocscope.report.page import open_page

_ASKING = """
  const file = new File([Uint8Array.from(atob(text), (char) => char.charCodeAt(0))], name);
  const source = document.getElementById("worker-script").textContent;
  window.counting ??= new Worker(URL.createObjectURL(new Blob([source])));
  const ask = (question) => new Promise((resolve) => {
    const id = (window.asked = (window.asked ?? 0) + 1);
    const hear = ({data}) => {
      if (data.id !== id || "progress" in data) return;
      counting.removeEventListener("message", hear);
      resolve(data);
    };
    counting.addEventListener("message", hear);
    counting.postMessage({id, question});
  });
"""
_COUNT = (
    "async ({name, text, roles, layout, intervals}) => {"
    + _ASKING
    + """
  const found = await ask({ask: "count", files: [file], layout, roles});
  if (found.error) return found;
  const slice = await ask({ask: "slice", part: 0});
  if (slice.error) return {...found.answer, one_class: slice.error};
  const levels = ({name, thresholdText, levels, calibration}) => ({
    name, calibration,
    threshold: thresholdText ?? [...levels.threshold].slice(1),
    tp: [...levels.tp].slice(1), fp: [...levels.fp].slice(1), hull: [...levels.hull],
  });
  const sure = intervals ? (await ask({ask: "intervals", part: 0})).answer : null;
  return {...found.answer, levels: slice.answer.models.map(levels), sure};
}"""
)
_DECIDE = (
    "async ({name, text, roles, layout, model, threshold}) => {"
    + _ASKING
    + """
  const found = await ask({ask: "rows", files: [file], layout, roles, model, threshold});
  return found.error ? found : {rows: await found.answer.text()};
}"""
)


def write_page(folder: Path) -> Path:
    """Write the open page and return its path."""
    path = folder / "open.html"
    path.write_text(open_page(), encoding="utf-8")
    return path


def count_in(page: Any, path: Path, roles: dict[str, Any], layout: dict[str, Any], *, intervals: bool = False) -> Any:
    """Return what the page's worker makes of a file."""
    text = base64.b64encode(path.read_bytes()).decode()
    asked = {"name": path.name, "text": text, "roles": roles, "layout": layout, "intervals": intervals}
    return page.evaluate(_COUNT, asked)


def decided_in(page: Any, path: Path, roles: dict[str, Any], layout: dict[str, Any], decision: Any) -> Any:
    """Return the text of the rows that the page saves with what a decision says of each."""
    text = base64.b64encode(path.read_bytes()).decode()
    asked = {"name": path.name, "text": text, "roles": roles, "layout": layout}
    return page.evaluate(_DECIDE, asked | {"model": decision.model, "threshold": decision.threshold})["rows"]


@pytest.fixture(scope="module", name="page")
def open_page_offline(chromium, tmp_path_factory):
    path = write_page(tmp_path_factory.mktemp("open"))
    context = chromium.new_context(viewport={"width": 1400, "height": 2600})
    context.set_offline(True)
    opened = Opened(context.new_page(), path)
    opened.page.goto(path.as_uri())
    yield opened
    context.close()
