"""A file read by DuckDB, Arrow, pandas or Polars is the same rows, to the last bit; or one line says why not."""

import time
from collections import Counter

import pytest

from readers import counted
from reading_cases import WAYS, count_by, make_case, read_by, rule_for
from rocscope.errors import RocscopeError


def differences_of(case):
    """Yield what each way to read a file makes of it that is not what was written."""
    for way in WAYS:
        if rule_for(case, way):
            continue
        try:
            rows = read_by(case, way)
        except RocscopeError as error:
            yield f"{way}: {type(error).__name__}", str(error)
            continue
        if rows is not None and rows != case.rows:
            yield f"{way}: other rows", f"{rows} for {case.rows}"
    try:
        if count_by(case) != counted(*zip(*case.rows, strict=True)):
            yield "streamed: other counts", ""
    except RocscopeError as error:
        yield f"streamed: {type(error).__name__}", str(error)


def search(numbers, folder):
    """Return what differs by its kind, and the first example of each."""
    found, first = Counter(), {}
    for number in numbers:
        case = make_case(number, folder)
        for kind, detail in differences_of(case):
            found[kind] += 1
            first.setdefault(kind, f"case {number}, {case.path.name!r}, column {case.name!r}: {detail}")
        case.path.unlink()
    return found, first


MENDED = (
    58,  # a line break in a column's name, where lines end in CR LF
    91,  # a question mark in the name of a compressed file
    1063,  # whole numbers beyond int64, and "" among them
)


@pytest.mark.usefixtures("one_database")
def test_every_way_to_read_a_file_gives_the_rows_that_were_written(tmp_path):
    found, first = search((*range(25), *MENDED), tmp_path)
    assert not found, "\n".join(f"{kind} × {found[kind]}: {first[kind]}" for kind in found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
@pytest.mark.usefixtures("one_database")
def test_every_way_to_read_a_hundred_thousand_files_gives_the_rows_that_were_written(tmp_path, part):
    began = time.monotonic()
    found, first = search(range(part * 5_000, (part + 1) * 5_000), tmp_path)
    print(f"5,000 files, {sum(found.values())} differences, {time.monotonic() - began:.0f} s", flush=True)
    assert not found, "\n".join(f"{kind} × {found[kind]}: {first[kind]}" for kind in found)
