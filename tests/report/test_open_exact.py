"""Every number of the open page equals Python's at random states: the page has all rows, so nothing is nearest."""

import numpy as np
import pytest

from exact_cases import PREDS, check_state
from report_open import open_page_offline as open_page_offline


@pytest.fixture(scope="module")
def report(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "exact.csv"
    columns = [PREDS.y_true.astype(int).tolist(), *(scores.tolist() for scores in PREDS.scores.values())]
    lines = [",".join(map(repr, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([",".join(["label", *PREDS.models]), *lines]))
    page.page.set_input_files("#files", path)
    page.page.wait_for_selector("#show:not([disabled])")
    page.page.click("#show")
    page.page.wait_for_selector("#models tbody tr.best")
    return page.details()


def test_numbers_of_a_random_state_are_exact(report):
    assert check_state(report, np.random.default_rng(2), has_rows=True) > 1000


@pytest.mark.slow(reason="random states of the page in a browser")
def test_numbers_of_many_random_states_are_exact(report):
    rng = np.random.default_rng(54)
    numbers = sum(check_state(report, rng, has_rows=True) for _ in range(25))
    print(f"{numbers} numbers")
    assert numbers > 5000
