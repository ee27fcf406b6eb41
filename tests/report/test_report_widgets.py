"""What the widgets of 2006 had, the page has too: hulls, the point at 0.5, counts, costs of right decisions, folds."""

import csv
import io

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, page_of, predictions
from rocscope.evaluation import average_curve
from rocscope.inference.proportions import proportion

pytestmark = pytest.mark.usefixtures("fresh")

PREDS = predictions(rows=600, decimals=2)
FOLDS = rs.Predictions(PREDS.y_true, PREDS.scores, fold=np.arange(600) % 5)


page = page_of(lambda: rs.Report(FOLDS))


def model_of(page):
    return page.page.text_content(".pick[aria-pressed=true]")


def paths(page, chart):
    return page.save_chart(chart, "SVG").read_text(encoding="utf-8").count("<path")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_point_at_a_half_is_marked(page):
    point = PREDS.counts(model_of(page)).at(0.5)
    assert page.mark("roc", "half") == pytest.approx([point.fpr, point.tpr], abs=1e-12)


@pytest.mark.slow(reason="further views of the page in a browser")
def test_each_model_has_its_own_hull_in_one_click(page):
    before = paths(page, "roc")
    page.page.click("#roc .menu summary")
    page.page.click("button:text-is('Hulls')")
    assert paths(page.settle(), "roc") == before + len(PREDS.models)


def test_the_lift_chart_is_in_counts_with_its_line_of_equal_cost(page):
    page.view("count")
    page.set(cost_fn=3)
    counts = PREDS.counts(model_of(page))
    best = rs.choose(PREDS, rs.Context(cost_fn=3)).point
    depth = (best.tp + best.fp) / best.n
    assert page.mark("gain", "point") == pytest.approx([depth, best.tp], abs=1e-9)
    (x0, y0), (x1, y1) = (page.mark("gain", "iso", end) for end in ("data-from", "data-to"))
    assert (y1 - y0) / (x1 - x0) == pytest.approx(counts.n * 1 / (1 + 3))
    chart = rs.curves.lift_chart(counts)
    rows = list(csv.reader(io.StringIO(page.save_chart("gain", "CSV").read_text(encoding="utf-8"))))[1:]
    assert [[float(x), float(y)] for x, y, _ in rows] == np.column_stack([chart.x, chart.y]).tolist()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_right_decisions_can_have_a_cost_and_it_is_seen(page):
    page.set(cost_fp=4, cost_fn=2)
    page.page.click(".right-costs summary")
    page.set(cost_tp=-1.5)
    assert page.page.text_content(".right-costs summary") == "Correct predictions: −1.5 and 0"
    decision = rs.choose(PREDS, rs.Context(cost_fp=4, cost_fn=2, cost_tp=-1.5))
    point = decision.point
    assert page.mark("roc", "point") == pytest.approx([point.fpr, point.tpr], abs=1e-12)
    assert page.decision()["expected_cost"] == pytest.approx(decision.expected_cost)
    page.page.click(".right-costs summary")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_folds_are_overlaid_and_averaged_with_their_band(page):
    before = paths(page, "roc")
    page.page.select_option("#roc [aria-label=Folds]", "each")
    page.page.wait_for_timeout(200)
    assert paths(page.settle(), "roc") == before + 5
    assert page.page.input_value("#calibration [aria-label=Folds]") == "each"
    for method in ("vertical", "threshold"):
        page.page.select_option("#roc [aria-label=Folds]", method)
        assert paths(page.settle(), "roc") == before + 5 + 2
        assert "mean of the folds" in page.page.text_content("#roc .caption")
    average = average_curve(FOLDS, model=model_of(page), grid=[0.1, 0.2])
    assert len(average.at([0.1])) == 1


def test_calibration_has_a_line_for_each_fold(page):
    page.page.select_option("#roc [aria-label=Folds]", "none")
    before = paths(page.settle(), "calibration")
    page.page.select_option("#calibration [aria-label=Folds]", "each")
    assert paths(page.settle(), "calibration") == before + 5


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize(
    "fragment", ["#fp=1e308&fn=1e308", "#fn=1e-320&tp=-1e300", "#prevalence=1e-308", "#population=1e308"]
)
def test_a_link_with_huge_numbers_makes_none_that_is_not_one(page, fragment):
    other = page.page.context.new_page()
    other.goto(page.path.as_uri() + fragment)
    other.wait_for_selector("#models tbody tr")
    assert "NaN" not in other.inner_text("main") and "∞" not in other.text_content(".verdict")
    other.close()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_on_a_phone_targets_are_large_and_the_verdict_stays_in_sight(chromium, page, tmp_path):
    with opened(chromium, page.path, tmp_path, viewport={"width": 390, "height": 844}) as page:
        small = page.page.evaluate(
            """() => [...document.querySelectorAll("button, select, summary, input:not([type=file])")]
                .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width)
                .map((e) => [e.getBoundingClientRect(), e])
                .filter(([box]) => Math.min(box.width, box.height) < 24)
                .map(([box, e]) => `${e.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""
        )
        assert small == []
        page.page.evaluate("document.querySelector('#calibration').scrollIntoView()")
        box = page.settle().page.locator(".verdict").bounding_box()
        assert 0 <= box["y"] < 844
        bar = page.page.locator(".bar").bounding_box()
        assert bar["height"] <= 844 / 3
        assert page.page.locator(".bar").bounding_box()["height"] <= 0.15 * 844


def test_intervals_have_their_method_in_a_tooltip(page):
    page.page.click("button:text-is('All measures')")
    said = page.page.get_attribute("#models .info", "aria-label")
    assert said.startswith("AUC with 95% confidence intervals: Wilson for ")
    assert page.page.locator("#models .bubble").is_hidden()
    page.page.focus("#models .info")
    assert page.page.text_content("#models .bubble:visible") == said


@pytest.mark.slow(reason="further views of the page in a browser")
def test_how_many_pairs_are_compared_is_said(chromium, tmp_path):
    y, scores = PREDS.y_true, PREDS.scores[PREDS.models[0]]
    many = "The 210 pairs of 21 models are not compared"
    for models, said in ((8, "Scroll the table to see all 28 pairs"), (21, many)):
        rng = np.random.default_rng(models)
        report = rs.Report(rs.Predictions(y, {f"m{i}": scores + rng.normal(0, 0.1, y.size) for i in range(models)}))
        with opened(chromium, report, tmp_path) as page:
            assert page.page.text_content("#comparisons > .caption").startswith(said)
            assert page.page.locator("#comparisons").is_visible()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_a_tooltip_stays_within_a_phone(chromium, tmp_path):
    with opened(chromium, rs.Report(PREDS), tmp_path, viewport={"width": 390, "height": 844}) as page:
        page.page.focus("#cutoffs .info")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_table_of_cut_offs_has_intervals_and_all_thresholds_as_csv(page):
    counts = PREDS.counts(model_of(page))
    rows = list(csv.DictReader(io.StringIO(page.save_chart("cutoffs", "CSV").read_text(encoding="utf-8"))))
    exact = {float(row["threshold"]): row for row in rows}
    assert len(rows) == len(counts.threshold) + 1
    for number, threshold in enumerate(counts.threshold[:-1].tolist()):
        row, point = exact[threshold], counts.at(threshold)
        assert [float(row[cell]) for cell in ("tp", "fp", "fn", "tn")] == [point.tp, point.fp, point.fn, point.tn]
        assert float(row["youden"]) == pytest.approx(point.tpr - point.fpr, abs=1e-12)
        for name, hits, n in (
            ("sensitivity", point.tp, counts.n_pos),
            ("specificity", point.tn, counts.n_neg),
            ("precision", point.tp, point.tp + point.fp),
        ):
            if number % 10:
                continue  # an interval here takes milliseconds
            own = proportion(hits, n, method="wilson")
            found = [float(row[f"{name}{end}"]) for end in ("", "_low", "_high")]
            assert found == pytest.approx([hits / n, own.low, own.high], abs=1e-9)
    assert float(rows[-1]["threshold"]) == -np.inf
    shown = page.page.text_content("#cutoffs tbody")
    assert "current" in shown and "largest Youden index" in shown
    page.set(prevalence=1)
    rows = list(csv.DictReader(io.StringIO(page.save_chart("cutoffs", "CSV").read_text(encoding="utf-8"))))
    assert {row["precision_low"] for row in rows} == {""}


def test_scrolling_over_a_chart_decides_nothing_and_the_handle_does(chromium, page, tmp_path):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(chromium, page.path, tmp_path, **phone) as page:
        touch = page.page.context.new_cdp_session(page.page)

        def swipe(start, to):
            for kind, points in (("Start", [start]), ("Move", [to]), ("End", [])):
                spots = [{"x": x, "y": y} for x, y in points]
                touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": spots})
            page.settle()

        before = page.page.text_content(".verdict"), page.mark("roc", "point")
        plot = page.page.locator("#roc .plot").bounding_box()
        middle = plot["x"] + plot["width"] / 2, plot["y"] + plot["height"] / 2
        swipe(middle, (middle[0] - 60, middle[1] - 40))
        assert (page.page.text_content(".verdict"), page.mark("roc", "point")) == before
        knob = page.page.locator("#roc .handle").bounding_box()
        start = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
        swipe(start, (start[0] + 80, start[1]))
        assert page.mark("roc", "point") != before[1]


def test_a_prevalence_that_is_none_is_refused_and_said(page):
    page.set(prevalence=20)
    for typed in ("100", "150", "0"):
        page.set(prevalence=typed)
        said = page.page.evaluate("document.querySelector('#prevalence').validationMessage")
        assert said == "A prevalence is above 0% and below 100%."
        assert page.page.get_attribute("#prevalence-range", "aria-valuetext") == "20.0%"
    page.set(prevalence=30)
    assert page.page.evaluate("document.querySelector('#prevalence').validity.valid")
