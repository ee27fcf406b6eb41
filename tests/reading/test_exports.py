"""Generated exports are read as they were written, by Python, the command line and the open page, or refused by all.

What is written is known to the generator, and whether a column has a second reading is decided here by formatting the
other number again, so that no pattern of the readers is used.
"""

import csv
import io
import json
import random
import shutil
import subprocess
import zipfile
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from rocscope import cli
from rocscope.engines.columns import numbers
from rocscope.engines.formats import FileLayout
from rocscope.engines.opening import open_source
from rocscope.errors import RocscopeError, ScoreError, collected_warnings
from workbook_cases import write_workbook

pytestmark = pytest.mark.usefixtures("one_database")

CLIENT = Path(__file__).parents[2] / "client"
# Decimal mark and mark between thousands.
MARKS = [(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", "\u202f"), (",", "\u00a0"), (",", " ")]
UNITS = [("", ""), ("", ""), ("", " %"), ("", "%"), ("", " €"), ("$", ""), ("EUR ", ""), ("", "\u00a0CHF")]
MINUS = [("-", ""), ("\u2212", ""), ("(", ")"), ("", "-")]
ABOVE = ["", "", "", "Campaign May 2024\n", "Campaign\nAs of 31 May\n\n", "\n", "sep={}\n", "# made by hand\n"]
BELOW = ["", "", "", "", "Total{}{}{}\n", "Summe:{}{}{}\n"]
REASONS = (
    "numbers that can be read in only one way",
    "data in the last row",
    "one sheet with data",
)


def formatted(value, marks, unit, minus):
    """Write a number as a spreadsheet of some country does."""
    decimal, thousands = marks
    text = f"{abs(value):,}" if thousands else f"{abs(value)}"
    text = text.replace(",", "t").replace(".", decimal).replace("t", thousands)
    text = f"{unit[0]}{text}{unit[1]}"
    return f"{minus[0]}{text}{minus[1]}" if value < 0 else text


def has_other_reading(texts):
    """Return whether both decimal marks make numbers of all texts, and not the same ones."""
    plain = ["".join(sign for sign in text if sign in "0123456789.,") for text in texts]

    def fits(text, decimal):
        thousands = "." if decimal == "," else ","
        whole, mark, fraction = text.partition(decimal)
        digits = whole.replace(thousands, "")
        if not digits.isdigit() or (mark and not fraction.isdigit()):
            return False
        return whole == digits or f"{int(digits):,}".replace(",", thousands) == whole

    both = all(fits(text, ".") and fits(text, ",") for text in plain)
    return both and any("." in text or "," in text for text in plain)


def make_export(number, folder):
    """Write an export, and return its path, its numbers, its decimal mark, and the reason why it is refused."""
    draw = random.Random(number)
    marks, unit, minus, delimiter = (draw.choice(list_) for list_ in (MARKS, UNITS, MINUS, ";,\t|"))
    places, largest = draw.choice([(2, 1), (4, 1), (2, 50_000), (0, 50_000), (3, 900)])
    lowest = -largest if draw.random() < 0.3 else 0
    if places == 3 and draw.random() < 0.5:
        lowest = 2
    values = [Decimal(draw.randint(lowest * 10**places, largest * 10**places)).scaleb(-places) for _ in range(30)]
    texts = [formatted(value, marks, unit, minus) for value in values]
    above, below = draw.choice(ABOVE), draw.choice(BELOW)
    end = draw.choice(["\n", "\r\n"])
    table = io.StringIO()
    writer = csv.writer(table, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["customer", "bought", "score", "town"])
    for row, text in enumerate(texts):
        writer.writerow([f"K{row:03}", ("yes", "no")[row % 2 or row % 3 == 0], text, "Ulm"])
    text = above.format(delimiter) + table.getvalue() + below.format(*[delimiter] * 3)
    encoding = draw.choice(["utf-8", "utf-8-sig", "cp1252", "utf-16"])
    path = folder / f"export{number}.csv"
    try:
        path.write_bytes(text.replace("\n", end).encode(encoding))
    except UnicodeEncodeError:
        path.write_bytes(text.replace("\n", end).encode())
    reason = REASONS[1] if below else REASONS[0] if has_other_reading(texts) else ""
    scale = Decimal(1) / 100 if "%" in unit[1] else Decimal(1)
    return path, [float(value * scale) for value in values], marks[0], reason


def make_workbook(number, folder):
    """Write a workbook, and return its path, its numbers, what the page is told of it, and reasons for a refusal."""
    draw = random.Random(number)
    marks, unit, minus = draw.choice(MARKS), draw.choice(UNITS), draw.choice(MINUS)
    places, largest = draw.choice([(2, 1), (2, 50_000), (0, 50_000), (3, 900)])
    values = [Decimal(draw.randint(0, largest * 10**places)).scaleb(-places) for _ in range(30)]
    texts = [formatted(value, marks, unit, minus) for value in values]
    typed = draw.random() < 0.5
    cells = [
        (float(value) if places else int(value)) if typed else text for value, text in zip(values, texts, strict=True)
    ]
    yes, no = draw.choice([("yes", "no"), (True, False), ("ja & gern", "n\u00f6")])
    rows = [["customer", "bought", "score", "day"]]
    for row, cell in enumerate(cells):
        rows.append([f"K{row:03}", no if row % 2 or row % 3 == 0 else yes, cell, (45_000 + row,)])
    title = draw.choice(
        [[], [], [["Campaign May 2024", None, None, None]], [["As of", "31 May", None, None], [None] * 4]]
    )
    total = draw.choice([[], [], [], [["Total", None, 17, None]]])
    table = [*title, *rows, *total]
    other = draw.choice([{}, {}, {"Notes": []}, {"Notes <1>": [["a"]]}])
    write_workbook(path := folder / f"workbook{number}.xlsx", {"Customers": table, **other}, draw)
    reason = REASONS[2] if any(other.values()) else REASONS[1] if total else ""
    if not reason and not typed and has_other_reading(texts):
        reason = REASONS[0]
    named = {"sheet": "Customers", "skipFooter": len(total)}
    scale = Decimal(1) / 100 if "%" in unit[1] and not typed else Decimal(1)
    ambiguous = not typed and has_other_reading(texts)
    return path, [float(value * scale) for value in values], named, reason, REASONS[0] if ambiguous else ""


def read_by_python(path, other="bought", **layout):
    """Return the scores and another column of a file, or the reason why it is refused."""
    try:
        with collected_warnings(), open_source(path, FileLayout(**layout)) as source:
            table = source.fetch([other, "score"])
            column = numbers(table.column("score"), "score", ScoreError, decimal=source.decimal)
            return [[float(value) for value in column.values], list(map(str, table.column(other).to_pylist()))]
    except RocscopeError as error:
        return str(error)


@pytest.fixture(scope="module")
def read_by_page(tmp_path_factory):
    """Return the function by which the open page reads files."""
    esbuild = CLIENT / "node_modules" / ".bin" / "esbuild"
    if not (esbuild.exists() and shutil.which("node")):
        pytest.skip("the client is not installed (npm ci in client/)")
    made = tmp_path_factory.mktemp("page") / "tables.mjs"
    command = [esbuild, CLIENT / "src" / "count" / "tables.ts", "--bundle", "--platform=node", "--format=esm"]
    subprocess.run([*command, f"--outfile={made}"], check=True, capture_output=True)
    script = f"""
        import {{ openTable }} from '{made.as_uri()}';
        import {{ readFileSync }} from 'node:fs';
        const answers = [];
        for (const [path, layout, other] of JSON.parse(await new Response(process.stdin).text())) {{
          try {{
            const file = new File([readFileSync(path)], path.split('/').pop());
            const table = await openTable(file, {{ decimal: null, delimiter: null, encoding: null, ...layout }});
            const rows = await table.read({{ numbers: ['score'], names: [other] }}, () => undefined);
            const {{ classes, codes }} = rows.texts(other, other);
            const scores = [...rows.numbers('score', 'score').values].map(Number);
            answers.push([scores, [...codes].map((code) => classes[code])]);
          }} catch (error) {{
            answers.push(error.message);
          }}
        }}
        console.log(JSON.stringify(answers));
    """

    def read(asked):
        command = ["node", "--input-type=module", "-e", script]
        done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return read


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_exports_are_read_as_they_were_written_or_refused_by_all(tmp_path, capsys, read_by_page, every):
    exports = [make_export(number, tmp_path) for number in range(0, 400, every)]
    by_page = read_by_page([(str(path), {}, "bought") for path, *_ in exports])
    # Naming the decimal mark, or leaving the last row out, settles how a file is read.
    layouts = [(decimal, 1 if reason == REASONS[1] else None) for _, _, decimal, reason in exports]
    named = read_by_page(
        [
            (str(path), {"decimal": decimal} | ({"skipFooter": 1} if skip else {}), "bought")
            for (path, *_), (decimal, skip) in zip(exports, layouts, strict=True)
        ]
    )
    differences = []
    for (path, values, decimal, reason), (_, skip), page, page_named in zip(
        exports, layouts, by_page, named, strict=True
    ):
        python = read_by_python(path)
        expected = [values, [("yes", "no")[row % 2 or row % 3 == 0] for row in range(len(values))]]
        if reason:
            if isinstance(python, list) or isinstance(page, list) or reason not in python or reason not in page:
                differences.append((path.name, reason, python, page))
            if read_by_python(path, decimal=decimal, skip_footer=skip) != expected:
                differences.append((path.name, "named", decimal))
        elif not python == page == expected:
            differences.append((path.name, values[:3], python, page))
        if page_named != expected:
            differences.append((path.name, "named", decimal, page_named, values[:3]))
    refused = sum(1 for *_, reason in exports if reason)
    print(f"{len(exports)} exports, {refused} refused, {len(differences)} differences")
    assert differences == [], "\n".join(str(difference)[:300] for difference in differences)
    assert 0.2 < refused / len(exports) < 0.6
    for path, values, _, reason in exports[:: max(1, 40 // every)]:
        code = cli.run(["validate", str(path), "--label", "bought", "--score", "score", "--json"])
        out, err = capsys.readouterr()
        assert (code == 2) == bool(reason), err
        if reason:
            assert reason in err
        else:
            facts = {column["name"]: column for column in json.loads(out)["columns"]}
            assert (facts["score"]["minimum"], facts["score"]["maximum"]) == (min(values), max(values))


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_workbooks_are_read_as_they_were_written_or_refused_by_both(tmp_path, read_by_page, every):
    pytest.importorskip("python_calamine")
    books = [make_workbook(number, tmp_path) for number in range(0, 200, every)]
    by_page = read_by_page([(str(path), {}, "day") for path, *_ in books])
    named = read_by_page([(str(path), layout, "day") for path, _, layout, *_ in books])
    differences = []
    for (path, values, layout, *reasons), page, page_named in zip(books, by_page, named, strict=True):
        python = read_by_python(path, "day")
        python_named = read_by_python(path, "day", table=layout["sheet"], skip_footer=layout["skipFooter"])
        days = [str(date(2023, 3, 15) + timedelta(row)) for row in range(len(values))]
        both = [(reasons[0], python, page), (reasons[1], python_named, page_named)]
        for reason, by_python, by_client in both:
            if reason and not (reason in by_python and reason in by_client):
                differences.append((path.name, reason, by_python, by_client))
            elif not reason and not by_python == by_client == [values, days]:
                differences.append((path.name, values[:3], by_python, by_client))
    refused = sum(1 for *_, reason, _ in books if reason)
    print(f"{len(books)} workbooks, {refused} refused, {len(differences)} differences")
    assert differences == [], "\n".join(str(difference)[:300] for difference in differences)
    assert 0.2 < refused / len(books) < 0.8


def test_a_stray_cell_and_a_part_that_unpacks_to_very_much_are_refused_by_both(tmp_path, read_by_page):
    pytest.importorskip("python_calamine")
    plain, stray, packed = (tmp_path / f"{name}.xlsx" for name in ("plain", "stray", "packed"))
    write_workbook(plain, {"a": [["score", "day"], [1, 2]]}, random.Random(1))
    rows = '<row r="1"><c r="A1" t="str"><v>score</v></c></row><row r="9"><c r="XFD1048576"><v>1</v></c></row>'
    with zipfile.ZipFile(plain) as book, zipfile.ZipFile(stray, "w", zipfile.ZIP_DEFLATED) as other:
        for part in book.namelist():
            sheet = f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
            other.writestr(part, sheet if "sheet1" in part else book.read(part))
    content = bytearray(plain.read_bytes())
    size_unpacked = content.index(b"PK\x01\x02") + 24
    content[size_unpacked : size_unpacked + 4] = (1 << 29).to_bytes(4, "little")
    packed.write_bytes(content)
    by_page = read_by_page([(str(path), {}, "day") for path in (stray, packed)])
    by_python = [read_by_python(path, "day").replace(f"{tmp_path}/", "") for path in (stray, packed)]
    assert by_page == by_python
    assert "filled cells up to column XFD and row 1,048,576; delete cells outside the table" in by_page[0]
    assert "expected a table of usual size, got 536,870,912 bytes compressed to" in by_page[1]
