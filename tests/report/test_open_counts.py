"""The open page counts files of all kinds as Python does, to the last bit."""

import time

import numpy as np
import pytest

import rocscope as rs
from open_cases import make_case
from report_open import count_in, open_page_offline as open_page_offline, write_page
from rocscope.errors import RocscopeError
from rocscope.report.model import fingerprint

MENDED = (163, 756)  # an empty block of LZ4, a decimal that is missing


def difference(page, case):
    """Say what the page makes of a file that Python does not; nothing where both refuse it."""
    try:
        counts, refused = rs.read_counts(case.path, **case.asked), None
    except RocscopeError as error:
        counts, refused = {}, str(error)
    found = count_in(page, case.path, case.roles, case.layout)
    if refused is not None or "error" in found:
        both = refused is not None and "error" in found
        return "" if both else f"refused by one: {refused or found['error']}"
    if found["provenance"]["rows_dropped"] != counts.source.rows_dropped:
        return f"{found['provenance']['rows_dropped']} rows left out, by Python {counts.source.rows_dropped}"
    if case.kinds[-1] != "fractions" or "levels" not in found:
        return "" if found["provenance"]["hash"] == fingerprint(counts) or "levels" not in found else "other counts"
    for model, levels in zip(found["levels"], counts.values(), strict=True):
        exact = type(
            levels.threshold[0].item()
        )  # a whole float comes as its shortest digits, which Python takes for others
        if [exact(score) for score in model["threshold"]] != levels.threshold.tolist():
            return "other thresholds"
        hull = rs.roc(levels).hull().counts
        for mine, own, vertices in ((model["tp"], levels.tp, hull.tp), (model["fp"], levels.fp, hull.fp)):
            if not np.allclose(mine, own, rtol=1e-12, atol=0):
                return "other sums of weights"
            if not np.allclose(np.array([0, *mine])[model["hull"]], [0, *vertices], rtol=1e-12, atol=0):
                return "another hull"
    return ""


def search(page, numbers, folder):
    found = {}
    for number in numbers:
        case = make_case(number, folder)
        if said := difference(page, case):
            print(f"case {number}, {case.path.name}, {case.kinds}: {said}", flush=True)
            found[f"case {number}, {case.path.name}, {case.kinds}"] = said
        case.path.unlink()
    return found


def test_files_of_all_kinds_are_counted_as_python_counts_them(page, tmp_path):
    assert search(page.page, (*range(6), *MENDED), tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("browser", ["page", "firefox"])
def test_ten_thousand_files_are_counted_as_python_counts_them(browser, request, tmp_path):
    page = request.getfixturevalue(browser)
    if browser == "firefox":
        page.goto(write_page(tmp_path).as_uri())
    began, found = time.monotonic(), {}
    for first in range(100, 10_100, 500):
        found |= search(getattr(page, "page", page), range(first, first + 500), tmp_path)
        print(f"{first + 400} files, {len(found)} differences, {time.monotonic() - began:.0f} s", flush=True)
    assert found == {}
