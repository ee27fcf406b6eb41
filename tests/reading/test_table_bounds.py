"""Rows around the table of an export: titles, sep= lines, comments, totals, and files without names."""

import pytest

import rocscope as rs
from rocscope.engines.description import guess
from rocscope.errors import EngineError, InputError, collected_warnings

pytestmark = pytest.mark.usefixtures("one_database")

ROWS = "y;p\n1;0.9\n0;0.25\n1;0.75\n0;0.6\n"
COLUMNS = {"label": "y", "scores": "p"}
SCORES = [0.9, 0.25, 0.75, 0.6]


def write(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "above",
    [
        "",
        "sep=;\n",
        "\n\n",
        "Campaign May 2024\n",
        "Campaign, May 2024, all of it\n\n",
        "Campaign;\nAs of 2024-05-31;\n;\n",
        "# exported by a; program\n# of b; and c; and d\n",
        '"A title, quoted"\n',
    ],
)
def test_rows_above_the_names_are_skipped_with_a_note(tmp_path, above, end):
    path = write(tmp_path / "rows.csv", (above + ROWS).replace("\n", end))
    with collected_warnings() as notes:
        assert rs.read(path, **COLUMNS).scores["p"].tolist() == SCORES
        assert guess(path).label == "y"
    said = [f"{path}: skipped {above.count(chr(10))} line"] if above.strip() and not above.startswith("sep") else []
    assert [note[: len(start)] for note, start in zip(notes, said, strict=bool(said))] == said


def test_rows_are_skipped_by_number_and_a_malformed_file_is_not_searched(tmp_path):
    path = write(tmp_path / "rows.csv", "a;b\nc;d\n" + ROWS)
    assert rs.read(path, **COLUMNS, skip_rows=2).scores["p"].tolist() == SCORES
    with pytest.raises(rs.errors.ColumnError, match="'a', 'b'"):
        rs.read(path, **COLUMNS)
    write(path, "y;p\n1;0.9;7\n0;0.25\n1;0.75\n")
    with pytest.raises(EngineError, match="line 2"):
        rs.read(path, **COLUMNS)


@pytest.mark.parametrize("last", ["Total;17\n", "Summe:;\n", ";Gesamt\n\n", "4 rows\n", "# end\n", "TOTAL;1;2\n"])
def test_a_row_of_totals_is_named_and_left_out_only_when_asked(tmp_path, last):
    path = write(tmp_path / "rows.csv", ROWS + last)
    with pytest.raises(EngineError, match=r"got '.*'; pass skip_footer=1 \(--skip-footer 1\)"):
        rs.read(path, **COLUMNS)
    assert rs.read(path, **COLUMNS, skip_footer=1).scores["p"].tolist() == SCORES


def test_a_value_that_other_rows_have_too_is_no_total(tmp_path):
    path = write(tmp_path / "rows.csv", "brand;y;p\ntotal;1;.9\nother;0;.4\ntotal;0;.3\n")
    assert rs.read(path, **COLUMNS).n == 3
    write(path, "brand;y;p\nshell;1;.9\nother;0;.4\ntotal;0;.3\n")
    with pytest.raises(EngineError, match="skip_footer"):
        rs.read(path, **COLUMNS)
    assert rs.read(path, **COLUMNS, skip_footer=0).n == 3


@pytest.mark.parametrize("rows", ["1;0.9\n0;0.25\n1;0.75\n", "yes;0,9\nno;0,25\nyes;0,75\n", "K01;90 %\nK02;25 %\n"])
def test_a_file_without_names_is_refused_with_the_fix(tmp_path, rows):
    path = write(tmp_path / "rows.csv", rows)
    with pytest.raises(EngineError, match=r"expected column names in the first row, got the values '.*\(--no-header\)"):
        rs.read(path, label="column1", scores="column2")
    with collected_warnings():
        facts = rs.engines.describe(path, header=False)
    assert (facts.rows, facts["column2"].maximum) == (rows.count("\n"), 0.9)


def test_numbers_may_be_names(tmp_path):
    path = write(tmp_path / "rows.csv", "y,0.1,0.5,0.9\n1,3,4,5\n0,1,2,3\n")
    assert rs.read(path, label="y", scores=["0.1", "0.9"]).n == 2


@pytest.mark.parametrize("start", ["<!DOCTYPE html>", "  <html><body>", "<table><tr>", '<?xml version="1.0"?>'])
def test_a_web_page_that_is_named_csv_is_refused_in_words(tmp_path, start):
    path = write(tmp_path / "rows.csv", f"{start}\n<td>y</td><td>p</td>\n")
    with pytest.raises(EngineError, match="expected CSV text, got a web page or XML; in Excel choose"):
        rs.read(path, **COLUMNS)


def test_text_files_are_csv_by_their_content(tmp_path):
    path = write(tmp_path / "rows.txt", ROWS.replace(";", "\t"))
    assert rs.read(path, **COLUMNS).scores["p"].tolist() == SCORES
    write(tmp_path / "rows.csv", ROWS)
    assert rs.read(tmp_path, **COLUMNS).n == 4  # in a folder, a text is a note
    for name in ("skip_rows", "skip_footer"):
        with pytest.raises(InputError, match=f"{name}: expected a whole number of rows"):
            rs.read(path, **COLUMNS, **{name: -1})
