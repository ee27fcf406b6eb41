"""The pages for those who come from another tool: our side of each table says what the other said of the same rows."""

import ast
import json
import re
from pathlib import Path

import pytest

import rocscope as rs

ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

PAGES = sorted(
    page
    for page in (ROOT / "docs" / "coming-from").glob("*.md")
    if "both say" in page.read_text(encoding="utf-8") and page.stem != "index"
)
THERE = json.loads((ROOT / "tests/reference/coming_from/there.json").read_text(encoding="utf-8"))
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (\S+) \|$", re.MULTILINE)
SESSION = re.compile(r"^```pycon\n(.*?)^```", re.DOTALL | re.MULTILINE)


def names_of(page):
    """What the session at the top of a page leaves."""
    names = {"rs": rs}
    exec("\n".join(line[4:] for line in SESSION.findall(page)[0].splitlines()), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_sides_of_a_table_say_the_same(page):
    text = page.read_text(encoding="utf-8")
    names, there = names_of(text), THERE[page.stem]["values"]
    rows = ROW.findall(text)
    assert {left for left, _, _ in rows} == set(there)
    for left, right, shown in rows:
        ast.parse(right, mode="eval")
        here = eval(right, names)
        assert here == pytest.approx(there[left], rel=1e-7, abs=1e-12), (left, right)
        assert shown == f"{there[left]:.4g}", left
