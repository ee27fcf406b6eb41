"""Every number of the page equals Python's at random states, except those that it calls nearest or interpolated."""

import numpy as np
import pytest

import rocscope as rs
from exact_cases import PREDS, check_state, rates_at
from report_browser import page_of

page = page_of(lambda: rs.Report(PREDS, rs.Context(target_prevalence=0.05), title="exact"))


def test_numbers_of_a_random_state_are_exact(page):
    assert check_state(page, np.random.default_rng(1)) > 1000


@pytest.mark.slow(reason="random states of the page in a browser")
@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_many_random_states_are_exact(page, seed):
    rng = np.random.default_rng([53, seed])
    numbers = sum(check_state(page, rng) for _ in range(25))
    print(f"{numbers} numbers")
    assert numbers > 5000


def test_a_typed_threshold_stays_or_names_the_nearest_stored_one(page):
    page.reset()
    page.page.click(".pick >> nth=0")
    page.set(threshold=0.25)  # net benefit is drawn there, so that its counts are in the file
    page.page.keyboard.press("Tab")
    assert page.page.input_value("#threshold") == "0.25"
    assert page.page.text_content("#unstored") == ""
    model = page.page.text_content("#models tr .pick[aria-pressed=true]")
    tpr, fpr = rates_at(PREDS.scores[model], 0.25)
    assert page.settle().mark("roc", "point") == pytest.approx([fpr, tpr], abs=1e-12)
    page.set(threshold=0.25077)
    nearest = float(page.page.text_content("#unstored").removeprefix("nearest stored threshold "))
    tpr, fpr = rates_at(PREDS.scores[model], nearest)
    assert page.mark("roc", "point") == pytest.approx([fpr, tpr], abs=1e-12)
