"""The workbench in a real browser: filters, parts, what is asked for, the address, and the keyboard."""

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from bench_cases import bench_of, rows, served
from report_browser import Opened

pytest.importorskip("starlette", reason="the workbench is not installed (rocscope[explore])")
pytest.importorskip("uvicorn", reason="the workbench is not installed (rocscope[explore])")
AXE = Path(__file__).parents[2] / "client/node_modules/axe-core/axe.min.js"
PREDS = rows()
AGE = PREDS.columns["age"]


class Live(Opened):
    """The page of a workbench that is served."""

    def __init__(self, page, serving):
        super().__init__(page, None)
        self.address = serving.address

    def open(self, fragment=""):
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector("#models tbody tr")
        return self.quiet()

    def until(self, said, seconds=60):
        """Wait until something is so; the page's policy lets no test evaluate text."""
        end = time.monotonic() + seconds
        while not said():
            assert time.monotonic() < end, self.page.text_content("main")[:500]
            self.page.wait_for_timeout(50)
        return self

    def quiet(self):
        """Wait until nothing is counted or computed."""
        return self.until(
            lambda: self.page.text_content(".few") != "Counting …" and self.status() != "Computing …"
        ).settle()

    def status(self):
        return self.page.text_content("#demand [role=status]")

    def where(self, condition):
        self.page.fill("#where", condition)
        self.page.press("#where", "Enter")
        self.page.wait_for_timeout(50)
        return self.quiet()

    @property
    def size(self):
        return self.page.get_attribute(".size", "title")


def sizes(preds):
    return f"{preds.n_pos:,} positives, {preds.n_neg:,} negatives"


@pytest.fixture(scope="module")
def serving():
    with served(bench_of(rows=PREDS)) as serving:
        yield serving


@pytest.fixture(scope="module")
def browser_page(chromium):
    context = chromium.new_context(viewport={"width": 1400, "height": 2600})
    yield context.new_page()
    context.close()


@pytest.fixture
def live(browser_page, serving):
    page = Live(browser_page, serving)
    yield page.open()
    assert page.messages == []
    assert {url.rpartition("/")[0].partition("?")[0] + "/" for url in page.requests if url.startswith("http")} == {
        serving.address
    }


def test_a_condition_is_applied_said_kept_in_the_address_and_undone(live):
    assert live.size == sizes(PREDS)
    live.where("age > 50")
    assert live.size == sizes(PREDS.select(AGE > 50))
    decision = rs.choose(PREDS.select(AGE > 50))
    assert live.page.get_attribute("#roc [data-role=point]", "data-at").split(" ") == pytest.approx(
        [str(decision.point.fpr), str(decision.point.tpr)]
    )
    live.until(lambda: "where=age" in live.page.url)
    link = live.page.url
    live.where("age >")
    assert live.page.text_content("#where-said").startswith("where='age >': syntax error at ")  # or near, or end of
    assert live.size == sizes(PREDS.select(AGE > 50))
    live.page.click("button:text-is('All rows')")
    live.until(lambda: live.size == sizes(PREDS))
    assert live.page.text_content("#where-said") == ""
    live.until(lambda: "where=" not in live.page.url)
    live.page.click("text=Undo")
    live.until(lambda: live.page.input_value("#where") == "age > 50")
    live.until(lambda: live.size == sizes(PREDS.select(AGE > 50)))
    live.page.goto("about:blank")
    live.page.goto(link)
    live.until(lambda: live.page.query_selector(".size") is not None and live.size == sizes(PREDS.select(AGE > 50)))
    live.quiet()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_a_refused_condition_is_no_step_and_nothing_is_said_of_rows_that_are_not_shown(live):
    live.where("age > 50")
    live.until(lambda: "where=age" in live.page.url)
    live.where("age >")
    live.page.wait_for_timeout(600)  # longer than a pause
    assert "where=age+%3E+50" in live.page.url
    assert live.page.locator(".heading .size").nth(1).text_content() == "Rows where age > 50"
    assert live.decision()["notes"] == ["of the rows where age > 50"]
    assert live.page.text_content(".few") == ""  # it is said once
    live.page.click("#demand button:text-is('Rates at this threshold')")
    live.until(lambda: "precision" in live.page.text_content("#demand .found"))
    for expected in ("age > 50", ""):
        live.page.click("text=Undo")
        live.until(lambda expected=expected: live.page.input_value("#where") == expected)
        assert live.quiet().page.text_content("#where-said") == ""
    assert live.page.is_hidden("button:text-is('Undo')")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_newest_of_many_conditions_is_shown(live):
    for least in range(20, 60):
        live.page.fill("#where", f"age > {least}")
        live.page.press("#where", "Enter")
    live.until(lambda: live.size == sizes(PREDS.select(AGE > 59)))
    live.page.wait_for_timeout(300)
    assert live.size == sizes(PREDS.select(AGE > 59))
    live.where("")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_rows_are_split_by_any_column_and_the_address_keeps_it(live):
    live.page.select_option("#slice", "2")
    live.until(lambda: live.size == sizes(PREDS.select(PREDS.segment == "south")))
    assert live.page.locator(".heading .size").nth(1).text_content() == "Rows of segment south"
    live.page.select_option("#split", "age")
    live.until(lambda: live.page.locator("#slice option").count() > 30)
    assert live.page.input_value("#split") == "age"
    assert "?by=age" in live.page.url
    live.page.reload()
    live.until(lambda: live.page.locator("#slice option").count() > 30)
    live.quiet()
    live.page.select_option("#split", "region" if "region" in live.page.text_content("#split") else "segment")
    live.until(lambda: live.page.locator("#slice option").count() == 8)
    live.quiet()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_intervals_and_calibration_come_after_the_counts(live):
    interval = rs.auc_interval(PREDS, model="new")
    live.page.click("button:text-is('All measures')")
    live.until(lambda: f"[{interval.low:.3f}, {interval.high:.3f}]" in live.page.text_content("#models"))
    assert "higher than" in live.page.text_content("#comparisons")
    live.page.click("#calibration button:text-is('LOESS')")
    live.until(lambda: "slope" in live.page.text_content("#calibration .caption"))
    assert re.search(r"new: slope \d|slope \d", live.page.text_content("#calibration .caption"))


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize(
    ("button", "found"),
    [
        ("Rates at this threshold", "precision"),
        ("Statistical tests", "Differences in cost per case"),
        ("Validation report", "Discrimination"),
    ],
)
def test_what_takes_long_is_told_when_it_is_asked_for(live, button, found):
    live.page.click(f"#demand button:text-is('{button}')")
    live.until(lambda: found in live.page.text_content("#demand .found"))
    assert re.search(r"(^|[ [])-\d", live.page.inner_text("#demand .found")) is None  # but with a minus sign
    live.where("age > 40")
    live.until(lambda: live.page.text_content("#demand .found") == "")
    live.where("")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_band_that_is_asked_for_is_drawn(live):
    before = live.save_chart("roc", "SVG").read_text(encoding="utf-8").count("<path")
    live.page.click("#demand button:text-is('Confidence band')")
    live.until(lambda: "95% confidence band for the whole ROC curve" in live.status())
    assert live.settle().save_chart("roc", "SVG").read_text(encoding="utf-8").count("<path") == before + 1


def test_the_list_of_the_plan_is_saved(live):
    live.set(cost_fn=4)
    live.page.select_option("#list-column", "age")
    text = live.download("#demand button:text-is('Save list')").read_text(encoding="utf-8")
    decision = rs.choose(PREDS, rs.Context(cost_fn=4))
    chosen = np.flatnonzero(decision.predict(PREDS))
    lines = [line.split(",") for line in text.splitlines()]
    assert lines[0] == ["row", "age", "score"]
    assert sorted(int(row) for row, _, _ in lines[1:]) == chosen.tolist()
    live.set(list_most=5)
    few = live.download("#demand button:text-is('Save list')").read_text(encoding="utf-8")
    assert few.splitlines() == text.splitlines()[:6]
    assert (
        json.loads(live.download("text=Save decision").read_text(encoding="utf-8"))["threshold"] == decision.threshold
    )


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_whole_workbench_by_keyboard_alone(live):
    """From the top Tab reaches everything that can be used, each with a name, and Enter or Space works it."""
    names = live.tab_through()
    live.page.focus("#where")
    live.page.keyboard.type("age > 60")
    live.page.keyboard.press("Enter")
    live.until(lambda: live.size == sizes(PREDS.select(AGE > 60)))
    for wanted in (
        "Cost of a false positive",
        "Threshold",
        "Options",
        "Export",
        "Confidence band",
        "Save list",
        "Statistical tests",
    ):
        assert any(wanted in name for name in names), wanted
    live.page.focus("#demand button:text-is('Rates at this threshold')")
    live.page.keyboard.press("Space")
    live.until(lambda: "tpr" in live.page.text_content("#demand .found"))
    live.page.focus("button:text-is('All rows')")
    live.page.keyboard.press("Enter")
    live.until(lambda: live.size == sizes(PREDS))


@pytest.mark.slow(reason="further views of the page in a browser")
def test_two_tabs_do_not_take_each_others_turns(chromium, serving, live):
    context = chromium.new_context()
    other = Live(context.new_page(), serving).open("#where=age+%3E+70")
    other.until(lambda: other.size == sizes(PREDS.select(AGE > 70)))
    live.where("age > 30")
    assert live.size == sizes(PREDS.select(AGE > 30))
    assert other.size == sizes(PREDS.select(AGE > 70))
    context.close()
    live.where("")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_it_says_when_the_server_has_ended(chromium):
    context = chromium.new_context()
    with served(bench_of(rows=PREDS)) as serving:
        page = Live(context.new_page(), serving).open()
    page.page.fill("#where", "age > 30")
    page.page.press("#where", "Enter")
    page.until(lambda: "The workbench has stopped" in page.page.text_content("#where-said"))
    context.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_files_are_compared_beside_each_other(chromium):
    march, april = rows(seed=1).select(models=["new"]), rows(seed=2).select(models=["new"])
    context = chromium.new_context()
    with served(bench_of(march=march, april=april)) as serving:
        page = Live(context.new_page(), serving).open()
        page.until(lambda: "higher than" in page.page.text_content("#comparisons"))
        p = rs.compare({"march": march, "april": april})["march", "april"].p_value
        assert ("< 0.001" if p < 0.001 else f"{p:.3f}") in page.page.text_content("#comparisons")
    context.close()


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm ci in client)")
def test_axe_reports_nothing(chromium, serving):
    context = chromium.new_context(bypass_csp=True)
    page = Live(context.new_page(), serving).open()
    page.page.click("#demand button:text-is('Statistical tests')")
    page.until(lambda: "Differences" in page.page.text_content("#demand .found"))
    page.page.add_script_tag(path=AXE)
    found = page.page.evaluate("async () => (await axe.run()).violations")
    assert [f"{item['id']}: {node['html'][:120]}" for item in found for node in item["nodes"]] == []
    context.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_condition_stands_on_the_page_and_in_the_decision(live):
    live.where("age > 50")
    assert live.page.locator(".heading .size").nth(1).text_content() == "Rows where age > 50"
    assert live.decision()["notes"] == ["of the rows where age > 50"]
    live.where("")
    assert live.decision()["notes"] == []
