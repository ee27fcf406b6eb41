"""Exports of many programs give the same counts on the open page as in Python, or are refused for the same reason."""

import re
import time
from collections import Counter

import pytest

import rocscope as rs
from export_cases import make_export
from report_open import count_in, write_page
from rocscope.errors import RocscopeError, collected_warnings
from rocscope.report.model import fingerprint


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    path = write_page(tmp_path_factory.mktemp("open"))
    page = chromium.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


def reason(message):
    """What was expected and found, without the name of the file and the advice, which names options in Python."""
    return re.sub(r"^.*?(?=expected |got )", "", message.split("; ")[0])


def difference(page, case):
    """Say what the page makes of a file that Python does not, and whether both count it."""
    found = count_in(page, case.path, case.roles, case.layout)
    try:
        with collected_warnings():
            counts = rs.read_counts(case.path, **case.asked)
    except RocscopeError as error:
        same = "error" in found and reason(found["error"]) == reason(str(error))
        return "" if same else f"Python: {error}; page: {found.get('error', 'counted')}", False
    if "error" in found:
        return f"Python: counted; page: {found['error']}", False
    same = found["provenance"]["hash"] == fingerprint(counts)
    same = same and found["provenance"]["rows_dropped"] == counts.source.rows_dropped
    return "" if same else "other counts", True


def compare(page, numbers, folder):
    differences, counted = [], Counter()
    for number in numbers:
        case = make_export(number, folder)
        said, both = difference(page, case)
        counted[both] += 1
        if said:
            differences.append(f"{case.path.name} {case.kinds}: {said}")
            print(differences[-1], flush=True)
        case.path.unlink()
        if number % 100 == 0:
            print(f"to {number}: {len(differences)} differences", flush=True)
    return differences, counted


def test_some_exports_are_counted_alike_or_refused_for_the_same_reason(page, tmp_path):
    differences, counted = compare(page, range(8), tmp_path)
    assert differences == []
    assert counted[True] >= 3 and counted[False] >= 1


@pytest.mark.slow
def test_two_thousand_exports_are_counted_alike_or_refused_for_the_same_reason(page, tmp_path):
    began = time.monotonic()
    differences, counted = compare(page, range(40, 2040), tmp_path)
    print(f"{counted[True]} counted, {counted[False]} refused by both, {time.monotonic() - began:.0f} s")
    assert differences == []
