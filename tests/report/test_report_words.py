"""The page speaks to one audience at a time, in the same words everywhere."""

import pytest

import rocscope as rs
from report_browser import page_of, predictions
from rocscope.errors import InputError

PREDS = predictions(rows=300, decimals=2)
page = page_of(lambda: rs.Report(PREDS, audience="clinical"))
WORDS = {
    "learning": ("Gain curve", "True positive rate", "Precision", "Act if score ≥", "treating"),
    "clinical": ("Net benefit", "Sensitivity", "PPV", "Treat if risk ≥", "treating"),
    "marketing": ("Profit", "Responders reached", "Response rate", "Contact if score ≥", "contacting"),
}


@pytest.mark.usefixtures("fresh")
def test_each_audience_reads_its_own_words(page):
    parts = ".verdict, h2, #roc svg, #confusion dl, #cutoffs thead, #models thead"
    seen = f"[...document.querySelectorAll('{parts}')].map((part) => part.textContent).join()"
    for audience in ("clinical", "marketing", "learning"):
        page.page.evaluate(f"location.hash = 'words={audience}'")
        page.view({"clinical": "benefit", "marketing": "profit", "learning": "gain"}[audience])
        page.page.wait_for_timeout(900)  # tables out of sight follow at a pause
        text = page.page.evaluate(seen)
        assert all(word in text for word in WORDS[audience]), audience
        others = {word for key, words in WORDS.items() if key != audience for word in words[1:4]}
        assert [word for word in others if word in text] == [], audience


@pytest.mark.usefixtures("fresh")
def test_the_report_opens_with_the_chart_of_its_audience(page):
    assert page.page.locator("#money").is_visible()
    page.page.click(".right-costs summary")
    page.page.select_option("#words", "marketing")
    assert page.settle().page.input_value("[aria-label=View]:visible") == "profit"


def test_an_unknown_audience_is_refused():
    with pytest.raises(InputError, match="audience"):
        rs.Report(PREDS, audience="doctors")
