"""Every concept and example of the five papers stands on a page, or on the list of what is not here and why.

`tests/reference/concepts_of_the_papers.csv` has a row for each: the text, the concept, the page, and terms of the page
that a reader would search for. The sessions of these pages are run by `test_docs.py`.
"""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

with (ROOT / "tests/reference/concepts_of_the_papers.csv").open(encoding="utf-8", newline="") as file:
    CONCEPTS = list(csv.DictReader(file))


def searchable(text):
    return re.sub(r"\s+", " ", text).lower()


def test_each_concept_is_listed_once():
    names = [row["concept"] for row in CONCEPTS]
    assert len(names) == len(set(names)) > 70


@pytest.mark.parametrize("page", sorted({row["page"] for row in CONCEPTS}))
def test_a_page_has_the_concepts_that_are_listed_for_it(page):
    text = searchable((ROOT / "docs" / page).read_text(encoding="utf-8"))
    missing = []
    for row in CONCEPTS:
        terms = [searchable(term) for term in row["terms"].split("; ")]
        if row["page"] == page and not all(term in text for term in terms):
            missing.append(row["concept"])
    assert not missing, f"docs/{page} lacks the terms of: {', '.join(missing)}"
