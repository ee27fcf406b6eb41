"""Numbers with marks: cases that Python shares with the open page, each number written out by hand."""

import csv
import json
import re
from pathlib import Path

import pytest

import rocscope as rs
from rocscope.engines.columns import numbers
from rocscope.engines.formats import FileLayout
from rocscope.engines.opening import open_source
from rocscope.errors import RocscopeError, ScoreError, collected_warnings

pytestmark = pytest.mark.usefixtures("one_database")

CASES = json.loads((Path(__file__).parents[1] / "reference" / "numeral_cases.json").read_text(encoding="utf-8"))


def write(path, columns, delimiter=";"):
    """Write columns of texts beside labels that alternate; shorter columns end in missing values."""
    rows = max(map(len, columns.values()))
    padded = [[*values, *["NA"] * (rows - len(values))] for values in columns.values()]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["y", *columns])
        for row, cells in enumerate(zip(*padded, strict=True)):
            writer.writerow([row % 2, *cells])
    return path


@pytest.mark.parametrize("options", [{}, {"decimal": "."}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."}])
@pytest.mark.parametrize("delimiter", [";", *(pytest.param(mark, marks=pytest.mark.slow) for mark in ",\t")])
def test_a_column_is_read_in_the_one_way_that_fits_or_refused(tmp_path, delimiter, options):
    cases = {f"c{number}": case for number, case in enumerate(CASES) if case.get("options", {}) == options}
    path = write(tmp_path / "numbers.csv", {name: case["values"] for name, case in cases.items()}, delimiter)
    with open_source(path, FileLayout(**options, delimiter=delimiter if not options else None)) as source:
        refused = {name: case["refused"] for name, case in cases.items() if "refused" in case}
        for name, message in refused.items():
            with pytest.raises(RocscopeError, match=re.escape(message)):
                numbers(source.fetch([name]).column(0), name, ScoreError, decimal=source.decimal)
        kept = {name: case for name, case in cases.items() if name not in refused}
        with collected_warnings() as notes:
            table = source.fetch([*kept])
        for name, case in kept.items():
            with collected_warnings() as late_notes:
                column = numbers(table.column(name), name, ScoreError, decimal=source.decimal)
            present = column.values if column.missing is None else column.values[~column.missing]
            assert present.tolist() == case["numbers"], case
            own_notes = [*late_notes, *(note for note in notes if f"column {name!r}" in note)]
            assert bool(own_notes) == case.get("noted", True), (case, own_notes)


def test_a_condition_and_a_late_value_see_the_numbers(tmp_path):
    values = [f"{i % 7 + 100}" for i in range(12_000)] + ["1.234,5"] + ["7"] * 5
    path = write(tmp_path / "numbers.csv", {"s": values})
    with collected_warnings():
        assert rs.read(path, label="y", scores="s").scores["s"].max() == 1234.5
        assert rs.read(path, label="y", scores="s", where="s > 1000 OR s = 7").n == 6
        assert rs.read_counts(path, label="y", scores="s")["s"].threshold[0] == 1234.5


def test_only_the_columns_that_are_used_must_be_clear(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("y;s;amount\n1;0,5;2.687\n0;0,25;1.200\n1;0,75;999\n0;0,1;1.000\n")
    with collected_warnings() as notes:
        assert rs.read(path, label="y", scores="s").n == 4
        facts = rs.engines.describe(path)
    assert notes == [f"{path}: column 's': '0,1' is read as 0.1"]
    assert [column.name for column in facts.columns] == ["y", "s"]
    assert "1.000" in facts.problems[0]
