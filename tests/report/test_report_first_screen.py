"""The first screen answers at a glance: few numbers, controls and words, and no number of another state."""

import re

import pytest

import rocscope as rs
from report_browser import opened
from rocscope.cli.performance import cross_validated

MOST_NUMBERS, MOST_CONTROLS, MOST_WORDS = 30, 20, 110
SEEN = """() => {
  const inside = (box) => box.width > 1 && box.height > 1 && box.top < innerHeight && box.bottom > 0;
  const shown = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.closest(".unseen")
    && inside(element.getBoundingClientRect());
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const parent = node.parentElement;
    if (!parent.closest("script, style, option") && shown(parent) && inside(range.getBoundingClientRect())) {
      texts.push(node.data);
    }
  }
  for (const list of document.querySelectorAll("select")) if (shown(list)) texts.push(list.selectedOptions[0].text);
  for (const field of document.querySelectorAll("input[type=number]")) if (shown(field)) texts.push(field.value);
  const controls = [...document.querySelectorAll("button, select, input, summary, [role=slider]")].filter(shown);
  return [texts.join(" "), controls.length];
}"""


@pytest.fixture(scope="module")
def demo():
    """Labels, folds and probabilities of the models of the demonstration."""
    columns = cross_validated("tic_tac_toe", 0)
    scores = {name: columns[name] for name in ("naive Bayes", "tree")}
    return rs.Predictions(columns["label"], scores, fold=columns["fold"])


@pytest.fixture(scope="module", name="page")
def demo_page(chromium, demo, tmp_path_factory):
    report = rs.Report(demo, title="tic_tac_toe: ten-fold cross-validated")
    view = {"width": 1440, "height": 900}
    with opened(chromium, report, tmp_path_factory.mktemp("demo"), viewport=view) as page:
        yield page


def test_few_numbers_controls_and_words_are_on_the_first_screen(page):
    page.reset()
    page.page.wait_for_timeout(700)  # names of curves are written at a pause
    text, controls = page.page.evaluate(SEEN)
    numbers = len(re.findall(r"\d[\d.,]*", text))
    words = len(re.findall(r"[^\W\d_][\w'’-]*", text))
    print(f"{numbers} numbers, {controls} controls, {words} words")
    assert "AUC" in text and "ROC curve" in text and "Calibration" not in text
    assert numbers <= MOST_NUMBERS
    assert controls <= MOST_CONTROLS
    assert words <= MOST_WORDS


def test_the_tiles_say_what_python_says(page, demo):
    page.reset()
    decision = rs.choose(demo)
    tiles = page.page.locator(".verdict > div").all_text_contents()
    assert tiles[0].startswith(f"Use {decision.model}, clear choice")
    assert tiles[1].startswith(f"Act if score ≥ {decision.threshold:.4g}, ")
    value, low, high = decision.interval(replicates=1000, progress=False).rounded
    assert tiles[2].startswith(f"Cost per new case {value} [{low}, {high}], saves 80% compared with treating everybody")
    assert tiles[3].startswith("Best model in > 99.9%, of resamples")


def test_another_state_is_never_described_as_the_one_shown(page, demo):
    page.reset()
    page.set(cost_fn=30)
    decision = rs.choose(demo, rs.Context(cost_fn=30))
    tiles = page.page.locator(".verdict > div")
    cost = tiles.nth(2).text_content()
    assert cost.startswith(f"Cost per case, on these rows {decision.expected_cost:.4g}")
    assert "[" not in cost
    assert tiles.nth(3).get_attribute("class") == "stale"
    assert "at the best threshold for costs 1 and 1, prevalence 65.3%" in tiles.nth(3).text_content()
    assert "stale" in page.page.get_attribute("#decision", "class")
    page.reset()
    assert "stale" not in page.page.get_attribute("#decision", "class")
