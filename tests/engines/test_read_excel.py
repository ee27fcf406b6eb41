"""Spreadsheets hold what a CSV file of the same cells does, to the last bit; what cannot be told is refused."""

import random
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pytest

import rocscope as rs
from rocscope import cli
from rocscope.errors import (
    ColumnError,
    EngineError,
    InputError,
    LabelError,
    MissingDependencyError,
    ScoreError,
    collected_warnings,
)

pytest.importorskip("python_calamine")

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write(path, **sheets):
    """Write a workbook by hand, so that no library's idea of a cell comes between."""
    names = list(sheets)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for n in range(len(names))
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n + 1}" r:id="r{n}"/>' for n, name in enumerate(names))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="sheet{n}.xml"/>' for n in range(len(names))
        )
        + "</Relationships>",
    }
    for n, rows in enumerate(sheets.values()):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        parts[f"xl/sheet{n}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def write_csv(path, rows):
    texts = (
        "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
        for row in rows
        for cell in row
    )
    width = len(rows[0])
    path.write_text("\n".join(",".join(next(texts) for _ in range(width)) for _ in rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(25))
def test_the_same_cells_give_the_same_predictions_as_in_csv(tmp_path, seed):
    draw = random.Random(seed)
    kinds = {
        "whole": lambda: draw.randint(-5, 5),
        "large": lambda: draw.choice([2**53, 2**53 - 1, 7]),
        "tied": lambda: draw.choice([0.1, 0.2, 0.1 + 0.2, 0.3]),
        "tiny": lambda: draw.choice([5e-324, 1e-300, 1.0]),
        "some whole": lambda: draw.choice([1.0, 2.5, -3.0]),
    }
    names = draw.sample(list(kinds), 3)
    gaps = draw.choice([(), (None,), (None, "NA"), ("NA", "#N/A")])
    rows = [
        [draw.choice(["no", "yes"]), *(draw.choice([*gaps, *[kinds[name]() for _ in range(9)]]) for name in names)]
        for _ in range(40)
    ]
    rows = [["y", *names], ["no", *[1] * 3], ["yes", *[2] * 3], *rows]
    options = {"label": "y", "scores": names, "pos_label": "yes", "missing": "drop"}
    ours = rs.read(write(tmp_path / "rows.xlsx", Tabelle1=rows), **options)
    theirs = rs.read(write_csv(tmp_path / "rows.csv", rows), **options)
    assert ours.source.rows_dropped == theirs.source.rows_dropped
    for name in names:
        assert np.array_equal(ours.scores[name], theirs.scores[name]), name
        assert ours.counts(name) == theirs.counts(name)
    counts = rs.read_counts(tmp_path / "rows.xlsx", **options)
    assert counts == {name: ours.counts(name) for name in names}


def test_labels_weights_filters_and_several_files(tmp_path):
    head = ["bought", "s", "w", "region"]
    write(tmp_path / "1.xlsx", a=[head, [True, 0.9, 2, "north"], [False, 0.1, 1, "south"]], empty=[])
    write(tmp_path / "2.xlsx", b=[head, [False, 0.5, 3, "north"]])
    found = rs.read(tmp_path / "*.xlsx", label="bought", scores="s", weight="w", where="region = 'north'")
    assert (found.scores["s"].tolist(), found.sample_weight.tolist(), found.n_pos) == ([0.9, 0.5], [2, 3], 2)
    with (tmp_path / "1.xlsx").open("rb") as stream:
        assert rs.read(stream, label="bought", scores="s", format="excel").n == 2


@pytest.mark.parametrize(
    ("sheets", "options", "error", "message"),
    [
        (
            {"a": [["y"], [1]], "b": [["y"], [0]]},
            {},
            EngineError,
            "one sheet with data, got the sheets 'a', 'b'",
        ),
        ({"a": []}, {}, EngineError, "expected one sheet with data, got only empty sheets"),
        ({"a": [["y", "t"], [1, 2]]}, {}, ColumnError, "expected one of 'y', 't'"),
        ({"a": [["y", "s"], [1, "high"], [0, 0.5]]}, {}, ScoreError, "expected numbers"),
        ({"a": [["y", "s"], [1, 0.5]]}, {"decimal": ","}, InputError, "decimal: expected no value for excel files"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path, sheets, options, error, message):
    write(tmp_path / "rows.xlsx", **sheets)
    with pytest.raises(error, match=message):
        rs.read(tmp_path / "rows.xlsx", label="y", scores="s", **options)


def test_what_is_no_spreadsheet_is_named(tmp_path):
    (tmp_path / "rows.xlsx").write_text("y,s\n1,2\n")
    with pytest.raises(EngineError, match=r"rows\.xlsx: "):
        rs.read(tmp_path / "rows.xlsx", label="y", scores="s")


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    write(tmp_path / "rows.xlsx", a=[["y", "s"], [1, 0.5]])
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingDependencyError, match=r"rocscope\[excel\]"):
        rs.read(tmp_path / "rows.xlsx", label="y", scores="s")


def test_the_command_line_reads_them(tmp_path, capsys):
    rows = [["bought", "model"], *[["yes", 0.9], ["no", 0.2], ["no", 0.3]] * 3]
    write(tmp_path / "rows.xlsx", Kunden=rows)
    assert cli.run([str(tmp_path / "rows.xlsx"), "--md"]) == 0
    assert "Guessed: --label bought --score model --pos-label yes" in capsys.readouterr().err


def write_at(path, places, sheet="xl/worksheets/sheet1.xml"):
    """Write a workbook of one sheet whose cells have references, as Excel writes them."""
    by_row = {}
    for place, value in places.items():
        by_row.setdefault(int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")), []).append((place, value))
    rows = []
    for number, cells in by_row.items():
        kinds = ["n" if isinstance(value, int) else "str" for _, value in cells]
        texts = "".join(
            f'<c r="{place}" t="{kind}"><v>{value}</v></c>' for kind, (place, value) in zip(kinds, cells, strict=True)
        )
        rows.append(f'<row r="{number}">{texts}</row>')
    write(path, a=[["y"]])
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts["xl/_rels/workbook.xml.rels"] = parts["xl/_rels/workbook.xml.rels"].replace(
        b"sheet0.xml", b"worksheets/sheet1.xml"
    )
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"/xl/sheet1", b"/xl/worksheets/sheet1")
    del parts["xl/sheet0.xml"]
    parts[sheet] = f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(rows)}</sheetData></worksheet>'.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return path


TABLE = (
    {"A1": "y", "B1": "s"} | {f"A{row}": row % 2 for row in range(2, 502)} | {f"B{row}": row for row in range(2, 502)}
)


@pytest.mark.parametrize(
    ("stray", "words"),
    [
        ({"XFD1048576": 1}, "only 1,003 filled cells up to column XFD and row 1,048,576; delete cells"),
        ({"ZZZ5000": 1}, "up to column ZZZ and row 5,000"),
    ],
)
def test_a_stray_cell_far_away_is_refused_before_memory_is_asked_for(tmp_path, stray, words):
    with pytest.raises(EngineError, match=words):
        rs.read(write_at(tmp_path / "rows.xlsx", TABLE | stray), label="y", scores="s")


def test_cells_apart_are_read_where_their_rectangle_is_small(tmp_path):
    assert rs.read(write_at(tmp_path / "a.xlsx", TABLE), label="y", scores="s").n == 500
    with pytest.raises(LabelError, match="missing or infinite"):
        rs.read(write_at(tmp_path / "b.xlsx", TABLE | {"AAA600": 1}), label="y", scores="s")


def test_a_part_that_unpacks_to_very_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rocscope.engines.tables._MOST_UNPACKED", 1 << 20)
    path = write_at(tmp_path / "rows.xlsx", TABLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", b" " * (1 << 22))
    with pytest.raises(EngineError, match=r"sharedStrings.xml: .*, got 4,194,304 bytes compressed to"):
        rs.read(path, label="y", scores="s")


def test_a_sheet_is_named_and_rows_around_its_table_are_skipped(tmp_path, capsys):
    rows = [["Mai 2024", None], [None, None], ["y", "s"], [1, "90 %"], [0, "25 %"], ["Summe", None]]
    path = write(tmp_path / "rows.xlsx", Info=[["a"]], Kunden=rows)
    with collected_warnings() as notes:
        with pytest.raises(EngineError, match=r"got 'Summe, '; pass skip_footer=1"):
            rs.read(path, label="y", scores="s", table="Kunden")
        read = rs.read(path, label="y", scores="s", table="Kunden", skip_footer=1)
    assert notes == [f"{path}: skipped 2 rows above the column names"]
    assert read.scores["s"].tolist() == [0.9, 0.25]
    assert rs.read(path, label="y", scores="s", table="Kunden", skip_rows=2, skip_footer=1).n == 2
    with pytest.raises(EngineError, match=r"got the sheets 'Info', 'Kunden'; name a sheet with table= \(--sheet\)"):
        rs.read(path, label="y", scores="s")
    assert (
        cli.run(["summary", str(path), "--label", "y", "--score", "s", "--sheet", "Kunden", "--skip-footer", "1"]) == 0
    )
    write(path, a=[["y", "s"], [1, "2,687"], [0, "4,561"]])
    with pytest.raises(InputError, match=r"2687 or 2\.687; convert the cells of this column to numbers"):
        rs.read(path, label="y", scores="s")
