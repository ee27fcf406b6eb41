"""Every control of the graphical widgets of 2006 has its place on the page, at most two clicks away.

Vuk & Curk (2006, section 7) added "graphical components (called widgets)" to Orange: the ROC curve, ROC performance
analysis, the lift chart and the calibration plot. What their users could set is on the left; on the right is what does
it here, as clicks: opening a list and choosing from it are two, a field or a slider is one.
"""

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, page_of, predictions
from test_report_classes import several

pytestmark = pytest.mark.usefixtures("fresh")

PREDS = predictions(rows=600, decimals=2)
REGION = np.array(["north", "south"])[np.arange(600) % 2]
PARTS = rs.Predictions(PREDS.y_true, PREDS.scores, fold=np.arange(600) % 5, segment=REGION)

CLICK, CHOOSE, TYPE, SLIDE = "click", "choose", "type", "slide"
CLICKS = {CLICK: 1, CHOOSE: 2, TYPE: 1, SLIDE: 1}

ROC = {
    "choice of classifiers": [(CHOOSE, "[aria-label='How to show model 2']", "hide")],
    "convex curve of each classifier": [(CLICK, "#roc .menu summary"), (CLICK, "#roc button:text-is('Hulls')")],
    "test sets": [(CHOOSE, "#slice", "1")],
    "curves of folds shown apart": [(CHOOSE, "#roc [aria-label=Folds]", "each")],
    "curves of folds averaged vertically": [(CHOOSE, "#roc [aria-label=Folds]", "vertical")],
    "curves of folds averaged by threshold": [(CHOOSE, "#roc [aria-label=Folds]", "threshold")],
    "curves of folds merged": [(CHOOSE, "#roc [aria-label=Folds]", "none")],
    "band around the curve": [(CLICK, "#roc .menu summary"), (CLICK, "#roc button:text-is('95% band')")],
    "save the graph": [(CLICK, ".export summary"), (CLICK, ".export [data-of=roc]:text-is('SVG')")],
}
ANALYSIS = {
    "cost of a false positive": [(SLIDE, "#cost-fp-range")],
    "cost of a false negative": [(TYPE, "#cost-fn", "7")],
    "prior probability of the target class": [(SLIDE, "#prevalence-range")],
    "prior probability computed from the data": [(TYPE, "#prevalence", "5"), (CLICK, "button:text-is('sample')")],
    "costs of right decisions": [(CLICK, ".right-costs summary"), (TYPE, "#cost-tp", "-1")],
    "threshold": [(SLIDE, "#threshold-range")],
    "best threshold": [(SLIDE, "#threshold-range"), (CLICK, "button:text-is('best')")],
}
LIFT = {
    "lift in counts, with hull and performance line": [(CHOOSE, "#gain [aria-label=View]", "count")],
    "lift as a factor": [(CHOOSE, "#gain [aria-label=View]", "lift")],
    "another classifier in front": [(CLICK, "#models .pick:has-text('model 3')")],
    "save the points": [(CLICK, ".export summary"), (CLICK, ".export [data-of=gain]:text-is('CSV')")],
}
CALIBRATION = {
    "smooth curve": [(CLICK, "#calibration button:text-is('LOESS')")],
    "isotonic curve": [(CLICK, "#calibration button:text-is('PAV')")],
    "curve of each fold": [(CHOOSE, "#calibration [aria-label=Folds]", "each")],
    "test sets": [(CHOOSE, "#slice", "2")],
}
ALWAYS = {
    "default threshold (0.5) point": "#roc [data-role=half]",
    "performance line": "#roc [data-role=iso]",
    "point of the threshold": "#gain [data-role=point]",
    "costs of true positives and true negatives": ".right-costs summary",
    "confusion matrix at the threshold": "#cell-tp",
}
WIDGETS = {"ROC": ROC, "analysis": ANALYSIS, "lift": LIFT, "calibration": CALIBRATION}
EVERY = {f"{widget}: {name}": how for widget, controls in WIDGETS.items() for name, how in controls.items()}


page = page_of(lambda: rs.Report(PARTS))


PAUSE = 900  # milliseconds, until charts that are out of sight have followed


def act(page, how, selector, value=None):
    if how == CLICK:
        page.page.click(selector)
    elif how == CHOOSE:
        page.page.select_option(selector, value)
    elif how == TYPE:
        page.page.fill(selector, value)
    else:
        box = page.page.locator(selector).bounding_box()
        page.page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)


def seen(page):
    """Return what the page shows: its marks, words and choices, and how many lines each chart draws."""
    return page.page.evaluate(
        """() => [
            [...document.querySelectorAll(".verdict, .caption, #models, .size")].map((e) => e.textContent),
            [...document.querySelectorAll("[data-role]")].map((e) => e.outerHTML),
            [...document.querySelectorAll("[aria-pressed]")].map((e) => e.getAttribute("aria-pressed")),
            [...document.querySelectorAll("select")].map((e) => e.value),
            location.hash,
        ]"""
    )


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize("control", EVERY)
def test_a_control_of_2006_is_at_most_two_clicks_away(page, control):
    steps = EVERY[control]
    assert sum(CLICKS[how] for how, *_ in steps) <= 2
    unchanged = control.endswith(("merged", "from the data", "best threshold"))  # back where the page began
    if unchanged:
        page.page.wait_for_timeout(PAUSE)
    before = seen(page)
    if steps[-1][1].endswith(("('SVG')", "('CSV')")):
        act(page, *steps[0])
        assert page.download(steps[1][1]).stat().st_size > 500
        return
    for step in steps:
        act(page, *step)
        page.settle()
    for _ in range(100):  # of 50 ms: numbers that follow at a pause take their time on a busy machine
        page.page.wait_for_timeout(50)
        if (seen(page)[:4] == before[:4]) == unchanged:
            return
    assert (seen(page)[:4] == before[:4]) == unchanged


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.parametrize("mark", ALWAYS)
def test_what_was_switched_on_in_2006_is_always_there(page, mark):
    assert page.page.locator(ALWAYS[mark]).count() >= 1


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_target_class_is_chosen_in_two_clicks(chromium, tmp_path):
    with opened(chromium, rs.Report(several()), tmp_path) as page:
        before = seen(page)
        page.page.select_option("#slice", index=1)
        assert seen(page.settle()) != before


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_whole_report_by_keyboard_alone(page):
    """Tab reaches every control, each with a name and a mark of where it is; arrow keys and Enter work them."""
    page.page.locator("#segments").scroll_into_view_if_needed()
    page.page.wait_for_selector("#segments .pick")  # they are counted when they are seen
    assert "Threshold on the ROC curve" in page.tab_through()
    page.page.focus("#cost-fn-range")
    before = seen(page)
    for _ in range(30):
        page.page.keyboard.press("ArrowRight")
    assert seen(page.settle())[0] != before[0]
    page.page.focus("#roc .handle")
    page.page.keyboard.press("ArrowLeft")
    assert page.settle().page.locator("button:text-is('best')").is_visible()
    page.page.keyboard.press("Escape")
    assert not page.settle().page.locator("button:text-is('best')").is_visible()
