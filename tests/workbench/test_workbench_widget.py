"""The widget: what is set in Python is on the page, and what is set on the page is in Python."""

import json
import math
import time

import pytest

import rocscope as rs
from bench_cases import bench_of, rows
from rocscope.errors import InputError, RocscopeError
from rocscope.report.page import client

pytest.importorskip("anywidget", reason="the widget is not installed (rocscope[notebook])")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PREDS = rows()


@pytest.fixture
def widget():
    from rocscope.workbench import Widget

    made = Widget(bench_of(rows=PREDS))
    yield made
    made.close()


def test_it_starts_at_the_best_point_and_follows_the_context(widget):
    assert widget.decision == rs.choose(PREDS, rs.Context())
    assert (widget.threshold, widget.model, widget.where) == (None, None, "")
    widget.context = rs.Context(cost_fn=20, target_prevalence=0.02)
    assert widget.context == rs.Context(cost_fn=20, target_prevalence=0.02)
    assert widget.decision == rs.choose(PREDS, rs.Context(cost_fn=20, target_prevalence=0.02))


@pytest.mark.parametrize("threshold", [0.3, 0.5, math.inf, -math.inf])
def test_a_threshold_by_hand_is_a_decision_that_holds(widget, threshold, tmp_path):
    widget.model = "old"
    widget.threshold = threshold
    assert widget.threshold == threshold
    found = widget.decision
    assert found.point == PREDS.counts("old").at(threshold)
    assert found.criterion == "chosen by hand"
    assert found.hull_cost == rs.choose(PREDS).expected_cost
    found.save(tmp_path / "decision.json")
    assert rs.Decision.load(tmp_path / "decision.json").verify(PREDS).verified


def test_a_decision_that_was_made_elsewhere_can_be_shown(widget):
    decision = rs.choose(PREDS, rs.Context(cost_fp=4))
    widget.decision = decision
    assert (widget.model, widget.threshold) == (decision.model, decision.threshold)
    assert widget.context.cost_fp == 4
    assert widget.decision.expected_cost == decision.expected_cost


def test_the_decision_and_a_picture_stay_without_a_kernel(widget):
    widget.context = rs.Context(cost_fn=5)
    content, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in content
    assert content["text/html"].startswith(widget.decision._repr_html_())
    assert content["text/html"].count("<path") > 5  # the picture with its curves


def test_a_condition_holds_for_the_decision_too(widget):
    widget.where = "age > 50"
    assert widget.decision == rs.choose(PREDS.select(PREDS.columns["age"] > 50), rs.Context())
    with pytest.raises(RocscopeError, match="syntax error"):
        widget.where = "age >"
    assert widget.where == "age > 50"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("threshold", "0.5", "threshold: expected a number"),
        ("threshold", math.nan, "threshold: expected a number"),
        ("threshold", True, "threshold: expected a number"),
        ("model", "other", "model: expected one of"),
        ("context", rs.Context(cost_fn="age"), "context: expected costs that are numbers"),
        ("decision", rs.choose({"other": PREDS.counts("old")}), "decision: expected a decision for one of the models"),
    ],
)
def test_what_means_nothing_is_refused(widget, name, value, said):
    with pytest.raises(InputError, match=said):
        setattr(widget, name, value)


def test_questions_of_the_page_are_answered_as_by_the_server(widget, monkeypatch):
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    for number, question in enumerate([{"what": "counts"}, {"what": "nothing"}, None, 3]):
        widget._asked(widget, {"id": number, "question": question}, [])
    end = time.monotonic() + 60
    while len(sent) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    by_id = {content["id"]: content for content in sent}
    assert [model["name"] for model in by_id[0]["answer"]["models"]] == ["old", "new"]
    assert "what: expected one of" in by_id[1]["error"]
    assert by_id.keys() == {0, 1}


_NOTEBOOK = """<!doctype html><div id="cell"></div><script type="module">
const heard = {};
const state = { _page: await (await fetch("page.html")).text(), _view: await (await fetch("view.json")).json() };
window.asked = [];
window.model = {
  get: (name) => { window.viewed ||= name === "_view"; return state[name]; },
  set: (name, value) => (state[name] = value),
  save_changes: () => (window.saved = JSON.stringify(state._view)),
  send: (content) => window.asked.push(content),
  on: (event, use) => (heard[event] = use),
  off: (event) => delete heard[event],
};
window.tell = (content) => heard["msg:custom"](content);
window.show = (view) => { state._view = view; heard["change:_view"](); };
const widget = (await import("./widget.js")).default;
window.end = widget.render({ model: window.model, el: document.getElementById("cell") });
</script>"""


class Notebook:
    """A notebook's side of the widget, played by a page whose model is answered by the real one."""

    def __init__(self, page, widget, answered):
        self.page, self.widget, self.answered, self.done = page, widget, answered, 0
        self.problems = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.goto("http://notebook.test/")
        self.frame = page.frame_locator("iframe")
        # The frame asks for the view once it listens; what is typed before is replaced by this view.
        self.until(lambda: self.frame.locator("#models tbody tr").count() == 2 and page.evaluate("() => window.viewed"))

    def until(self, said):
        """Hand questions and answers over until something is so."""
        end = time.monotonic() + 90
        while not said():
            assert time.monotonic() < end, self.problems
            for content in self.page.evaluate("() => window.asked?.splice(0) ?? []"):
                self.widget._asked(self.widget, content, [])
            while self.done < len(self.answered):
                self.page.evaluate("(content) => window.tell(content)", self.answered[self.done])
                self.done += 1
            self.page.wait_for_timeout(30)

    def until_saved(self, text):
        """Have Python know what the page saved, once that holds a text."""
        self.until(lambda: text in self.page.evaluate("() => window.saved ?? ''"))
        self.widget._view = json.loads(self.page.evaluate("() => window.saved"))

    def show(self, **changed):
        """Set something in Python, which the page hears of."""
        for name, value in changed.items():
            setattr(self.widget, name, value)
        self.page.evaluate("(view) => window.show(view)", self.widget._view)

    def ask_for(self, where):
        """Type a condition."""
        self.frame.locator("#where").fill(where)
        self.frame.locator("#where").press("Enter")


@pytest.fixture
def notebook(chromium, widget, monkeypatch):
    files = {
        "": ("text/html", _NOTEBOOK),
        "page.html": ("text/plain", widget._page),
        "view.json": ("application/json", json.dumps(widget._view)),
        "widget.js": ("text/javascript", client("widget.js")),
    }
    context = chromium.new_context(viewport={"width": 1200, "height": 1400})

    def served(route):
        kind, body = files.get(route.request.url.rpartition("/")[2], ("text/plain", ""))
        route.fulfill(content_type=kind, body=body)

    context.route("http://notebook.test/*", served)
    answered = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: answered.append(content))
    yield (made := Notebook(context.new_page(), widget, answered))
    assert made.problems == []
    context.close()


def test_the_page_in_its_frame_and_python_hear_of_each_other(notebook, widget):
    page, frame, until = notebook.page, notebook.frame, notebook.until
    frame.locator("#cost-fn").fill("7")
    notebook.until_saved('"cost_fn":7')
    assert widget.context == rs.Context(cost_fn=7)
    assert widget.decision == rs.choose(PREDS, rs.Context(cost_fn=7))
    notebook.show(threshold=0.6)
    until(lambda: frame.locator("#threshold").input_value() == "0.6")
    notebook.show(where="age > 50")
    n_pos = PREDS.select(PREDS.columns["age"] > 50).n_pos
    until(lambda: f"{n_pos} positives" in frame.locator(".size").first.get_attribute("title"))
    frame.locator("#threshold-range").focus()
    page.keyboard.press("End")
    notebook.until_saved('"threshold":"everybody"')
    frame.locator("#split").select_option("age")
    until(lambda: frame.locator("#slice option").count() > 30)
    page.evaluate("() => window.end()")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_python_knows_the_condition_of_the_rows_that_are_shown(notebook, widget):
    frame = notebook.frame
    notebook.ask_for("age > 50")
    notebook.until_saved('"where":"age > 50"')
    notebook.ask_for("age >")
    notebook.until(lambda: "syntax error" in frame.locator("#where-said").text_content())
    frame.locator("#cost-fn").fill("8")
    notebook.until_saved('"cost_fn":8')
    assert widget.where == "age > 50"
    notebook.show(context=rs.Context(cost_fn=8, cost_fp=2))
    notebook.until(lambda: frame.locator("#cost-fp").input_value() == "2")
    assert frame.locator("#where").input_value() == "age >"
    notebook.ask_for("age > 30")
    notebook.until_saved('"where":"age > 30"')
