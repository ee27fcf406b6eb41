"""Workbooks written by hand, so that no library decides what a cell is."""

import zipfile
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def write_workbook(path, sheets, draw):
    """Write sheets of cells as some program does: with shared texts or not, with places of cells or not."""
    shared = {} if draw.random() < 0.5 else None
    placed, prefix = draw.random() < 0.7, draw.choice(["", "", "x:"])

    def cell(value, place):
        at = f' r="{place}"' if placed else ""
        if value is None:
            return f'<c{at} s="2"/>' if draw.random() < 0.5 or not placed else ""
        if isinstance(value, bool):
            return f'<c{at} t="b"><v>{value:d}</v></c>'
        if isinstance(value, tuple):
            return f'<c{at} s="1"><v>{value[0]}</v></c>'
        if not isinstance(value, str):
            return f"<c{at}><v>{value!r}</v></c>"
        if shared is None:
            return f'<c{at} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        return f'<c{at} t="s"><v>{shared.setdefault(value, len(shared))}</v></c>'

    parts = {}
    first_row, first_column = (draw.choice([1, 4]), draw.choice("AC")) if placed else (1, "A")
    for number, rows in enumerate(sheets.values(), 1):
        lines = []
        for above, row in enumerate(rows):
            line = first_row + above
            cells = "".join(cell(value, f"{chr(ord(first_column) + at)}{line}") for at, value in enumerate(row))
            lines.append(f'<row r="{line}">{cells}</row>')
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet><sheetData>{''.join(lines)}</sheetData></worksheet>"
    names = [f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)]
    parts["xl/workbook.xml"] = f"<workbook><sheets>{''.join(names)}</sheets></workbook>"
    parts["xl/styles.xml"] = (
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]d/\\ mmm\\ yy"/></numFmts>'
        f'<cellXfs><xf numFmtId="0"/><xf numFmtId="{draw.choice([14, 164])}"/><xf numFmtId="10"/></cellXfs>'
        "</styleSheet>"
    )
    if shared:
        texts = [f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared]
        parts["xl/sharedStrings.xml"] = f"<sst>{''.join(texts)}</sst>"
    for name, text in parts.items():
        marked = (
            text.replace("</", f"</{prefix}").replace("<", f"<{prefix}").replace(f"<{prefix}/{prefix}", f"</{prefix}")
        )
        space = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
        parts[name] = marked.replace(">", f' {space}="{MAIN}" xmlns:r="{OFFICE}">', 1)
    links = [
        f'<Relationship Id="r{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    ]
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(links)}</Relationships>'
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    parts["[Content_Types].xml"] = (
        f'<Types xmlns="{PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="{kind}"/></Types>'
    )
    link = f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    parts["_rels/.rels"] = f'<Relationships xmlns="{PACKAGE}/relationships">{link}</Relationships>'
    with zipfile.ZipFile(path, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
