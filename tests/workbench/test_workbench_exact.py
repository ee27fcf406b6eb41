"""Every number of the workbench equals Python's at random states: it has all rows, so nothing is nearest."""

import numpy as np
import pytest

from bench_cases import bench_of, served
from exact_cases import PREDS, check_state
from report_browser import Opened

pytest.importorskip("starlette", reason="the workbench is not installed (rocscope[explore])")
pytest.importorskip("uvicorn", reason="the workbench is not installed (rocscope[explore])")


@pytest.fixture(scope="module")
def live(chromium):
    context = chromium.new_context(viewport={"width": 1400, "height": 2600})
    with served(bench_of(rows=PREDS)) as serving:
        page = Opened(context.new_page(), None)
        page.page.goto(serving.address)
        page.page.wait_for_selector("#models tbody tr.best")
        yield page.details()
    context.close()


def test_numbers_of_a_random_state_are_exact(live):
    assert check_state(live, np.random.default_rng(2), has_rows=True) > 1000


@pytest.mark.slow(reason="random states of the page in a browser")
def test_numbers_of_many_random_states_are_exact(live):
    rng = np.random.default_rng(55)
    numbers = sum(check_state(live, rng, has_rows=True) for _ in range(25))
    print(f"{numbers} numbers")
    assert numbers > 5000
