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
from decimal import Decimal
from pathlib import Path

import pytest

from rocscope import cli
from rocscope.engines.columns import numbers
from rocscope.engines.formats import FileLayout
from rocscope.engines.opening import open_source
from rocscope.errors import RocscopeError, ScoreError, heard

CLIENT = Path(__file__).parents[2] / "client"
# Decimal mark and mark between thousands.
MARKS = [(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", "\u202f"), (",", "\u00a0"), (",", " ")]
UNITS = [("", ""), ("", ""), ("", " %"), ("", "%"), ("", " €"), ("$", ""), ("EUR ", ""), ("", "\u00a0CHF")]
MINUS = [("-", ""), ("\u2212", ""), ("(", ")"), ("", "-")]
ABOVE = ["", "", "", "Campaign May 2024\n", "Campaign\nAs of 31 May\n\n", "\n", "sep={}\n", "# made by hand\n"]
BELOW = ["", "", "", "", "Total{}{}{}\n", "Summe:{}{}{}\n"]
REASONS = (
    "numbers that can be read in one way",
    "a row of the table at the end",
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


def read_by_python(path, decimal=None, skip_footer=None):
    """Return the scores of a file, or the reason why it is refused."""
    try:
        with heard(), open_source(path, FileLayout(decimal=decimal, skip_footer=skip_footer)) as source:
            table = source.fetch(["bought", "score"])
            column = numbers(table.column("score"), "score", ScoreError, decimal=source.decimal)
            assert table.column("bought").to_pylist()[:2] == ["no", "no"]
            return [float(value) for value in column.values]
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
        for (const [path, decimal] of JSON.parse(await new Response(process.stdin).text())) {{
          try {{
            const file = new File([readFileSync(path)], 'export.csv');
            const table = await openTable(file, {{ decimal, delimiter: null, encoding: null }});
            const rows = await table.read({{ numbers: ['score'], names: ['bought'] }}, () => undefined);
            answers.push([...rows.numbers('score', 'score').values].map(Number));
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


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_exports_are_read_as_they_were_written_or_refused_by_all(tmp_path, capsys, read_by_page, every):
    exports = [make_export(number, tmp_path) for number in range(0, 400, every)]
    by_page = read_by_page([(str(path), None) for path, *_ in exports])
    named = read_by_page([(str(path), decimal) for path, _, decimal, _ in exports])
    differences = []
    for (path, values, decimal, reason), page, page_named in zip(exports, by_page, named, strict=True):
        python = read_by_python(path)
        if reason:
            if isinstance(python, list) or isinstance(page, list) or reason not in python or reason not in page:
                differences.append((path.name, reason, python, page))
            # Naming the decimal mark, or leaving the last row out, settles it.
            if read_by_python(path, decimal, 1 if reason == REASONS[1] else None) != values:
                differences.append((path.name, "named", decimal))
        elif not python == page == values:
            differences.append((path.name, values[:3], python if isinstance(python, str) else python[:3], page))
        if reason != REASONS[1] and page_named != values:
            differences.append((path.name, "named", decimal, page_named, values[:3]))
    refused = sum(1 for *_, reason in exports if reason)
    print(f"{len(exports)} exports, {refused} refused, {len(differences)} differences")
    assert differences == [], "\n".join(map(str, differences))
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
