"""The page as its readers meet it: offline, hostile names, links, keyboard, exports, readers of every kind."""

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, page_of, predictions

PREDS = predictions(rows=400, decimals=2)
AXE = Path(__file__).parents[2] / "client/node_modules/axe-core/axe.min.js"
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://x")',
    "نموذج الغابة العشوائية",
    "模型\u2028甲 & 'b' \"c\"",
    "x" * 300,
]


page = page_of(lambda: rs.Report(PREDS, title="Page", context=rs.Context(cost_fn=3, target_prevalence=0.2)))


@pytest.fixture(autouse=True)
def fresh(request):
    if "page" in request.fixturenames:
        request.getfixturevalue("page").reset()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_without_a_network_nothing_is_asked_for_and_nothing_is_said(chromium, tmp_path):
    rng = np.random.default_rng(0)
    preds = rs.Predictions(rng.random(300) < 0.4, {name: rng.random(300) for name in HOSTILE})
    report = rs.Report(preds, title=HOSTILE[0], notes=HOSTILE[1] + "\n" + HOSTILE[3])
    with opened(chromium, report, tmp_path) as page:
        page.page.on("dialog", lambda dialog: pytest.fail(f"a name was run as a script: {dialog.message}"))
        page.show_data()
        for name in ("lift", "pr", "benefit"):
            page.view(name)
        page.page.click("#roc .menu summary")
        for text in ("95% band", "PAV", "Population"):
            page.page.click(f"button:text-is('{text}')")
        page.save_chart("roc", "SVG")
        page.settle()
        assert page.requests == [page.path.as_uri()]
        assert page.messages == []
        assert page.page.query_selector_all("main img, main script") == []
        assert page.page.text_content("h1") == HOSTILE[0]
        assert {row.text_content() for row in page.page.query_selector_all(".pick")} == set(HOSTILE)


def test_the_policy_lets_nothing_else_run(page):
    policy = page.page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    script = "const tag = document.createElement('script'); tag.textContent = 'window.ran = true';"
    assert page.page.evaluate("() => {" + script + " document.head.append(tag); return window.ran ?? false; }") is False
    assert any("Content Security Policy" in message for message in page.messages)
    page.messages.clear()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_a_link_opens_the_same_view(chromium, page, tmp_path):
    page.set(cost_fp=0.3, cost_fn=7, prevalence=12.5, population=5000, capacity=900, currency="€")
    page.view("lift")
    page.page.click("#roc .menu summary")
    page.page.click("button:text-is('95% band')")
    page.page.click(".right-costs summary")
    page.page.select_option("#threshold-by", "depth")
    page.page.select_option("#models tbody tr:nth-child(2) select", "ghost")
    page.page.click("#models tbody tr:nth-child(3) .pick")
    page.set(threshold=10)
    page.page.wait_for_timeout(500)
    link = page.page.evaluate("location.href")
    assert "#" in link
    seen = [page.page.text_content(part) for part in (".verdict", "#models tbody", "#gain", "#confusion", "#deciles")]
    other = page.page.context.new_page()
    other.goto(link)
    other.wait_for_selector("#roc [data-role=point]", state="attached")
    assert [
        other.text_content(part) for part in (".verdict", "#models tbody", "#gain", "#confusion", "#deciles")
    ] == seen
    other.wait_for_timeout(500)
    assert other.evaluate("location.href") == link
    other.close()


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize(
    "fragment", ["#fp=-3&fn=abc&prevalence=7&model=nobody&slice=99&gain=none&sort=x", "#%%%", "#looks=x:y"]
)
def test_a_broken_link_falls_back_to_what_is_valid(page, fragment):
    other = page.page.context.new_page()
    errors = []
    other.on("pageerror", lambda error: errors.append(str(error)))
    other.goto(page.path.as_uri() + fragment)
    other.wait_for_selector("#models tbody tr")
    assert other.text_content(".verdict") == page.settle().page.text_content(".verdict")
    assert errors == []
    other.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_undo_and_reset(page):
    page.page.wait_for_timeout(500)  # changes that follow each other closely are undone as one
    start = page.page.text_content(".verdict")
    page.set(cost_fn=9)
    page.page.wait_for_timeout(500)
    changed = page.page.text_content(".verdict")
    page.set(cost_fn=40)
    page.page.wait_for_timeout(500)
    page.page.click("text=Undo")
    assert page.page.text_content(".verdict") == changed != start
    page.page.click("h1")
    page.page.keyboard.press("Control+z")
    assert page.page.text_content(".verdict") == start


def test_the_keyboard_reaches_everything(page):
    assert "Threshold on the ROC curve" in page.tab_through()  # of those with a name and a mark of where it is
    page.page.focus("#roc .handle")
    before = page.mark("roc", "point")
    page.page.keyboard.press("ArrowRight")
    after = page.settle().mark("roc", "point")
    assert after != before and after[0] >= before[0] and after[1] >= before[1]
    model = page.page.text_content(".pick[aria-pressed=true]")
    page.page.keyboard.press("ArrowDown")
    assert page.settle().page.text_content(".pick[aria-pressed=true]") != model
    page.page.keyboard.press("Escape")
    assert page.settle().mark("roc", "point") == before
    said = page.page.get_attribute("#roc .handle", "aria-valuetext")
    assert "true positive rate" in said


def test_dragging_on_the_charts(page):
    def drag(chart, start, to):
        box = page.page.locator(f"#{chart} .plot").bounding_box()
        page.page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
        page.page.mouse.down()
        page.page.mouse.move(box["x"] + to[0] * box["width"], box["y"] + to[1] * box["height"], steps=4)
        page.page.mouse.up()
        page.settle()

    drag("gain", (0.3, 0.5), (0.7, 0.5))
    first = page.mark("gain", "point")
    assert 0.5 < first[0] < 0.8
    page.view("profit")
    drag("money", (0.7, 0.5), (0.4, 0.5))
    assert 0.2 < page.mark("money", "point")[0] < first[0]
    drag("metrics", (0.3, 0.5), (0.6, 0.5))
    cost = page.page.input_value("#cost-fn")
    drag("winners", (0.5, 0.4), (0.4, 0.4))
    assert page.page.input_value("#cost-fn") != cost
    page.reset()
    page.set(cost_fn=1, prevalence=50)
    cost = page.page.input_value("#cost-fn")
    (x0, y0), (x1, y1) = (page.mark("roc", "iso", end) for end in ("data-from", "data-to"))
    frame = page.page.locator("#roc .plot canvas").bounding_box()
    wide, high = frame["width"] - 60, frame["height"] - 72
    spot = (frame["x"] + 46 + (0.2 * x0 + 0.8 * x1) * wide, frame["y"] + 30 + (1 - 0.2 * y0 - 0.8 * y1) * high)
    page.page.mouse.move(*spot)
    page.page.mouse.down()
    page.page.mouse.move(spot[0], spot[1] + 15, steps=3)
    page.page.mouse.up()
    assert page.settle().page.input_value("#cost-fn") != cost  # the line of equal cost was turned


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("view", "chart", "curve"),
    [("gain", "gain", rs.gain), ("lift", "gain", rs.lift), ("pr", "gain", rs.precision_recall), (None, "roc", rs.roc)],
)
def test_csv_equals_to_frame(page, view, chart, curve):
    page.page.click("button:text-is('sample')")
    if view:
        page.view(view)
    model = page.page.text_content(".pick[aria-pressed=true]")
    text = page.save_chart(chart, "CSV").read_text(encoding="utf-8")
    frame = curve(PREDS.counts(model)).to_frame()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == list(frame.columns)
    found = np.array([[float(cell) if cell else np.nan for cell in row] for row in rows[1:]])
    np.testing.assert_array_equal(found, frame.to_numpy(dtype=float))


@pytest.mark.every(6)
@pytest.mark.parametrize("chart", ["roc", "gain", "money", "calibration", "metrics", "winners"])
def test_svg_opens_alone(page, chart, tmp_path):
    text = page.save_chart(chart, "SVG").read_text(encoding="utf-8")
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    drawn = [part for part in root.iter() if part.tag.endswith(("}path", "}rect", "}text"))]
    assert len(drawn) > 10
    assert "class=" not in text and "var(" not in text and "href" not in text
    path = tmp_path / "chart.svg"
    path.write_text(text, encoding="utf-8")
    other = page.page.context.new_page()
    messages = []
    other.on("console", lambda message: messages.append(message.text))
    other.goto(path.as_uri())
    assert other.evaluate("document.documentElement.getBoundingClientRect().width") > 200
    assert messages == []
    other.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_smooth_curve_has_a_band_on_demand(page):
    page.page.click("button:text-is('LOESS')")
    model = page.page.text_content(".pick[aria-pressed=true]")
    rows = list(csv.DictReader(io.StringIO(page.save_chart("calibration", "CSV").read_text(encoding="utf-8"))))
    band = rs.calibration_curve(PREDS.counts(model), method="loess").confidence_band()
    for edge, expected in (("low", band.low), ("high", band.high)):
        found = [float(row[edge]) for row in rows]
        assert found == pytest.approx(
            np.interp([float(row["score"]) for row in rows], band.x, expected).clip(0, 1), abs=2e-3
        )
    bare = page.save_chart("calibration", "SVG").read_text(encoding="utf-8")
    page.page.click("#calibration button:text-is('95% band')")
    assert page.page.get_attribute("#roc button:text-is('95% band')", "aria-pressed") == "true"
    banded = page.settle().save_chart("calibration", "SVG").read_text(encoding="utf-8")
    assert banded.count('opacity="0.18"') == bare.count('opacity="0.18"') + 1
    page.page.click("button:text-is('PAV')")
    assert page.page.locator("#calibration button:text-is('95% band')").is_hidden()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_few_cases_are_said_where_they_are_shown(chromium, tmp_path):
    segment = np.where(np.arange(len(PREDS)) < 20, "small", "large")
    preds = rs.Predictions(PREDS.y_true, PREDS.scores, segment=segment)
    with opened(chromium, rs.Report(preds), tmp_path) as page:
        assert page.page.text_content(".few") == ""
        page.page.select_option("#slice", label="small")
        assert (
            page.settle().page.text_content(".few")
            == "Small sample: fewer than 10 cases of a class. Rates are uncertain."
        )
        best = rs.choose(preds.by_segment()["small"]).point
        said = page.page.text_content("#confusion .caption")
        assert said.startswith("Small sample: ")
        assert f"{best.fn} false negatives" in said


def test_png_export(page):
    assert page.save_chart("roc", "PNG").read_bytes().startswith(b"\x89PNG\r\n")


def test_the_table_of_models_as_csv_and_sorted(page):
    page.page.click(".sort:text-is('AUC')")
    saved = page.save_chart("models", "CSV").read_text()
    found = [row["model"] for row in csv.DictReader(io.StringIO(saved))]
    assert found == sorted(PREDS.models, key=lambda model: -rs.auc(PREDS.counts(model)))
    page.page.click(".sort:text-is('AUC')")
    assert page.page.get_attribute("#models th:nth-child(3)", "aria-sort") == "ascending"


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm ci in client)")
@pytest.mark.parametrize(("classes", "schemes"), [(2, ("light", "dark")), (3, ("dark",))])
def test_axe_reports_nothing(chromium, tmp_path, classes, schemes):
    proba = np.column_stack([PREDS.scores["model 1"] * 0.9, PREDS.scores["model 1"] * 0.1, 1 - PREDS.scores["model 1"]])
    several = rs.multiclass.MulticlassPredictions(np.arange(len(PREDS)) % 3, {"a": proba, "b": proba[:, [1, 0, 2]]})
    report = rs.Report(PREDS if classes == 2 else several, notes="n")
    with opened(chromium, report, tmp_path, bypass_csp=True) as page:
        page.show_data()
        page.page.click("button:text-is('LOESS')")
        page.page.add_script_tag(path=AXE)
        for scheme in schemes:
            page.page.emulate_media(color_scheme=scheme)
            page.settle()
            found = page.page.evaluate("async () => (await axe.run()).violations")
            assert [f"{item['id']}: {node['html'][:120]}" for item in found for node in item["nodes"]] == [], scheme


@pytest.mark.slow(reason="further views of the page in a browser")
def test_one_polite_live_region_that_waits(page):
    assert page.page.locator("[aria-live], [role=status], [role=alert]").count() == 1
    page.set(cost_fn=55)
    now = page.page.text_content("[aria-live]")
    page.page.wait_for_timeout(900)
    assert page.page.text_content("[aria-live]") == page.page.text_content(".verdict") != now


@pytest.mark.slow(reason="further views of the page in a browser")
def test_no_width_makes_the_page_scroll_sideways(chromium, tmp_path):
    with opened(chromium, rs.Report(PREDS), tmp_path) as page:
        for width in (360, 768, 1280, 3840):
            page.page.set_viewport_size({"width": width, "height": 900})
            page.page.wait_for_timeout(900)  # names, and charts out of sight, follow at a pause
            assert page.page.evaluate("document.documentElement.scrollWidth") <= width
            cut = page.page.evaluate(
                """() => [...document.querySelectorAll(".plot > svg > g text")].filter((text) => {
                    const box = text.getBoundingClientRect(), plot = text.closest(".plot").getBoundingClientRect();
                    return box.left < plot.left - 12 || box.right > plot.right + 12;
                }).map((text) => text.textContent)"""
            )
            assert cut == [], width


@pytest.mark.slow(reason="further views of the page in a browser")
def test_forced_colours_reduced_motion_and_print(chromium, tmp_path):
    options = {"forced_colors": "active", "reduced_motion": "reduce"}
    with opened(chromium, rs.Report(PREDS), tmp_path, **options) as page:
        assert page.page.evaluate("getComputedStyle(document.querySelector('button')).transitionDuration") == "0s"
        page.page.emulate_media(media="print", forced_colors="none")
        assert page.page.locator("#cost-fn-range").is_hidden()
        assert page.page.locator("#cost-fn").is_visible()
        assert page.page.locator(".verdict").is_visible()
        assert page.messages == []


@pytest.mark.slow(reason="further views of the page in a browser")
def test_without_scripts_the_verdict_and_the_models_are_there(chromium, tmp_path):
    report = rs.Report(PREDS, title="No script")
    path = report.save(tmp_path / "report.html")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.text_content("noscript .verdict") == report.data.verdict
    rows = page.locator("noscript tbody").nth(0).locator("tr")
    assert rows.count() == len(PREDS.models)
    shown = " ".join(page.locator("noscript tbody").all_text_contents())
    assert all(model in shown for model in PREDS.models) and "O/E" in shown
    context.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_segments_and_folds_can_be_picked(chromium, tmp_path):
    rows = len(PREDS)
    preds = rs.Predictions(PREDS.y_true, PREDS.scores, segment=np.arange(rows) % 2, fold=np.arange(rows) % 3)
    with opened(chromium, rs.Report(preds), tmp_path) as page:
        labels = page.page.locator("#slice option").all_text_contents()
        assert labels == ["all rows", "0", "1", "0", "1", "2"]
        page.page.select_option("#slice", "2")
        best = rs.choose(preds.by_segment()[1]).point
        assert page.settle().mark("roc", "point") == pytest.approx([best.fpr, best.tpr], abs=1e-12)
