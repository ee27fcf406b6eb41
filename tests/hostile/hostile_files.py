"""Files that should harm nobody: hand-made ones, and mutants of good files of ten formats."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import rocscope as rs

ROWS = 60
SHEET = """<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<dimension ref="{extent}"/><sheetData>{rows}</sheetData></worksheet>"""
BOOK = {
    "[Content_Types].xml": """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>""",
    "_rels/.rels": """<?xml version="1.0"?><Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>
</Relationships>""",
    "xl/workbook.xml": """<?xml version="1.0"?><workbook
 xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>
<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": """<?xml version="1.0"?><Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>
</Relationships>""",
}


def zipped(members, level=6):
    """Return a zip archive of members by name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def workbook(cells, extent="A1:B3"):
    """Return a spreadsheet whose cells are given by reference, row by row."""
    rows = ""
    for number, row in cells.items():
        values = ""
        for at, value in row.items():
            kind = ' t="str"' if isinstance(value, str) else ""
            values += f'<c r="{at}"{kind}><v>{value}</v></c>'
        rows += f'<row r="{number}">{values}</row>'
    return zipped(BOOK | {"xl/worksheets/sheet1.xml": SHEET.format(extent=extent, rows=rows)})


def table():
    generator = np.random.default_rng(5)
    label = generator.integers(0, 2, ROWS)
    return pa.table({"y": label, "a": (label + generator.normal(size=ROWS)).round(3), "b": generator.random(ROWS)})


def good_files():
    """Return a good file of each format, by its name."""
    rows = table()
    text, parquet, feather = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pa.csv.write_csv(rows, text)
    pa.parquet.write_table(rows, parquet)
    pa.feather.write_feather(rows, feather)
    csv = text.getvalue()
    records = rows.to_pylist()
    cells = {"1": {"A1": "y", "B1": "a", "C1": "b"}}
    for number, row in enumerate(records, 2):
        cells[f"{number}"] = {f"A{number}": row["y"], f"B{number}": row["a"], f"C{number}": row["b"]}
    label, score = rows["y"].to_numpy(), rows["a"].to_numpy()
    sketch = rs.engines.read_sketch({"y": label, "a": score}, label="y", scores="a")["a"]
    decision = rs.choose(rs.Predictions(label, {"a": score}), rs.Context(cost_fn=5))
    return {
        "scores.csv": csv,
        "scores.tsv": csv.replace(b",", b"\t"),
        "scores.csv.gz": gzip.compress(csv, mtime=0),
        "scores.zip": zipped({"scores.csv": csv}),
        "scores.xlsx": workbook(cells, f"A1:C{ROWS + 1}"),
        "scores.parquet": parquet.getvalue(),
        "scores.feather": feather.getvalue(),
        "scores.json": json.dumps(records).encode(),
        "scores.ndjson": "\n".join(map(json.dumps, records)).encode(),
        "counts.sketch": sketch.to_bytes(),
        "plan.json": decision.to_json().encode(),
    }


def mutant(content, seed):
    """Return content with a random fault: flipped, lost, doubled, zeroed, foreign or exchanged bytes."""
    generator = np.random.default_rng(seed)
    size = len(content)
    first, last = sorted(generator.integers(0, size + 1, 2).tolist())
    last = min(last, first + 64)
    kind = seed % 6
    if kind == 0:
        changed = np.frombuffer(content, np.uint8).copy()
        places = generator.integers(0, size, 1 + seed % 5)
        changed[places] ^= (1 << generator.integers(0, 8, places.size)).astype(np.uint8)
        return changed.tobytes()
    piece = {
        1: b"",
        2: content[first:last] * 50,
        3: bytes(last - first),
        4: generator.bytes(200),
        5: content[: last - first],
    }[kind]
    return content[:first] + piece + content[last:]


def hostile_files():
    """Return hand-made files by name."""
    few = b"y,a\n1,.5\n0,.6\n1,.9\n"
    parquet = good_files()["scores.parquet"]
    feather = good_files()["scores.feather"]
    far = {"1": {"A1": "y", "B1": "a"}, "2": {"A2": 1, "B2": 0.5}, "1048576": {"XFD1048576": 1}}
    deep = "[" * 100_000
    bomb = gzip.compress(b"y,a\n" + b"1,0.5\n" * 4_000_000)  # 24 MB in 60 KB
    endless = gzip.compress(b"y,a\n1," + b"0" * 30_000_000)
    entities = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lollollol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;">]>
<worksheet>&e;</worksheet>"""
    return {
        "nothing.csv": b"",
        "blank lines.csv": b"\n" * 5_000,
        "only a mark.csv": b"\xef\xbb\xbf",
        "zeros.csv": bytes(5_000_000),
        "no line end.csv": b"y,a\n1," + b"1" * 3_000_000,
        "long header.csv": b"y,a," + b"c" * 3_000_000 + b"\n1,.5,1\n0,.6,1\n",
        "many columns.csv": b"y,a" + b"".join(b",c%d" % k for k in range(2_000)) + b"\n1" + b",0" * 2_001,
        "many delimiters.csv": b"y,a\n" + b"," * 100_000 + b"\n",
        "open quote.csv": b'y,a\n1,"' + b"x\n" * 100_000,
        "quotes.csv": b"y,a\n1," + b'"' * 100_001 + b"\n",
        "utf-16.csv": few.decode().encode("utf-16"),
        "half utf-16.csv": few.decode().encode("utf-16")[:-1],
        "surrogates.csv": b"y,a,\xed\xa0\x80\n1,.5,1\n0,.6,2\n",
        "controls.csv": b"y,a\n1,\x1b[31m.5\n0,.6\x07\n",
        "nul.csv": b"y,a\n1,.5\x00\n0,.6\n",
        "carriage returns.csv": b"y,a\r1,.5\r0,.6\r",
        "digits.csv": b"y,a\n1," + b"9" * 50_000 + b"\n0,.6\n",
        "exponents.csv": b"y,a\n1,1e999999999\n0,1e-999999999\n",
        "random.csv": np.random.default_rng(1).bytes(100_000),
        "script.csv": b"y,a\n1,=cmd|'/c calc'!A0\n0,@SUM(1)\n",
        "path.csv": b"y,a\n1,/dev/zero\n0,http://localhost/x\n",
        "bomb.csv.gz": bomb,
        "endless.csv.gz": endless,
        "twice.csv.gz": gzip.compress(bomb),
        "cut.csv.gz": bomb[:1_000],
        "tail.csv.gz": gzip.compress(few) + b"tail",
        "empty.csv.gz": gzip.compress(b""),
        "no gzip.csv.gz": few,
        "bomb.zip": zipped({"scores.csv": b"y,a\n" + b"1,0.5\n" * 4_000_000}),
        "escape.zip": zipped({"../../escape.csv": few}),
        "nothing.zip": zipped({}),
        "nested.zip": zipped({"inner.zip": zipped({"scores.csv": few})}),
        "far cell.xlsx": workbook(far, "A1:XFD1048576"),
        "hidden far cell.xlsx": workbook(far, "A1:B2"),
        "large extent.xlsx": workbook({"1": {"A1": "y", "B1": "a"}, "2": {"A2": 1, "B2": 0.5}}, "A1:XFD1048576"),
        "no extent.xlsx": workbook({"1": {"A1": "y", "B1": "a"}, "2": {"A2": 1, "B2": 0.5}}, "nonsense"),
        "wrong cell.xlsx": workbook({"1": {"A1": "y", "ZZZZZ99999999": "a"}}),
        "entities.xlsx": zipped(BOOK | {"xl/worksheets/sheet1.xml": entities}),
        "no sheet.xlsx": zipped(BOOK),
        "no workbook.xlsx": zipped({"x": "y"}),
        "bomb.xlsx": zipped(BOOK | {"xl/worksheets/sheet1.xml": b" " * 50_000_000}),
        "no zip.xlsx": few,
        "footer.parquet": b"PAR1" + b"\xff" * 8 + b"\xff\xff\xff\x7fPAR1",
        "short.parquet": b"PAR1",
        "no footer.parquet": parquet[:-100] + b"PAR1",
        "twice.parquet": parquet + parquet,
        "zero pages.parquet": parquet[:4] + bytes(200) + parquet[204:],
        "random.parquet": b"PAR1" + np.random.default_rng(2).bytes(5_000) + b"PAR1",
        "short.feather": b"ARROW1\0\0",
        "footer.feather": feather[:-10] + b"\xff\xff\xff\x7fARROW1",
        "random.feather": b"ARROW1\0\0" + np.random.default_rng(3).bytes(5_000) + b"ARROW1",
        "deep.json": deep.encode(),
        "deep value.ndjson": b'{"y":1,"a":' + deep.encode() + b"\n",
        "long key.ndjson": b'{"' + b"k" * 3_000_000 + b'":1,"y":1,"a":2}\n',
        "many keys.ndjson": b"\n".join(json.dumps({"y": k % 2, f"k{k}": k}).encode() for k in range(2_000)),
        "mixed.ndjson": b'{"y":1,"a":.5}\n{"y":0,"a":0.5}\n[1]\n"x"\nnull\n',
        "numbers.json": b"[1,2,3]",
        "cut.ndjson": b'{"y":1,"a":0.5}\n{"y":0,"a"',
        "nothing.sketch": b"",
        "random.sketch": np.random.default_rng(4).bytes(5_000),
        "deep plan.json": deep.encode(),
        "no plan.json": b'{"kind": "decision", "model": 1}',
        "null plan.json": b"null",
    }


def commands_of(path):
    """Return what users do with a file."""
    if path.suffix == ".sketch":
        return [["sketch", str(path)]]
    if "plan" in path.name:
        data, chosen = str(path.with_name("scores.csv")), str(path.with_name("list.csv"))
        verify = ["verify", str(path), data, "--label", "y", "--score", "a"]
        return [["apply", str(path), data, "-o", chosen, "--force"], verify]
    return [["validate", str(path)], ["choose", str(path), "--label", "y", "--score", "a"]]


def written(folder, files):
    """Write files, with good scores beside them, and return their paths."""
    Path(folder, "scores.csv").write_bytes(good_files()["scores.csv"])
    paths = []
    for name, content in files.items():
        paths.append(Path(folder, name))
        paths[-1].write_bytes(content)
    return paths
