"""Numbers in the formats of people and spreadsheets: 1.234,50 €, 84 %, 1'234.50, (12.00), −3.

Every value of a column is matched against numerals with a decimal point and against numerals with a decimal comma.
Thousands separators are spaces, apostrophes, and the comma or point that is not the decimal mark. The decimal mark
alone therefore determines every value. If only one decimal mark fits all values, the column is read with it. If both
fit, and a value contains a point or a comma, as in 2,687, the column has two readings, and none is guessed.

The patterns are in the syntax of RE2 (DuckDB). The open page has the same patterns (client/src/constants.ts), and its
`numerals.ts` has the same rules as this module; both are tested on the same cases.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

NA_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "None", ".")
"""Words for a missing value in text files."""
SPACE = "[ \t\u00a0\u2009\u202f]"
_MARKS = {",": ",", ".": r"\.", " ": SPACE, "'": "['\u2019]"}
THOUSANDS = tuple(_MARKS)
"""Thousands separators, as passed in `thousands=`; a space represents all kinds of spaces."""
CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₺₩₪]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|TRY"
    "|kr|zł|Kč|Ft|Fr)"
)
_AMOUNT = "(?:<c><s>*)?<n><s>*(?:%|<c>)?"
_SIGN = "[+\u2212-]"
FORM = f"<s>*(?:{_SIGN}?<s>*{_AMOUNT}|<c><s>*{_SIGN}<s>*<n><s>*(?:%|<c>)?|[(]<s>*{_AMOUNT}<s>*[)]|{_AMOUNT}<s>*-)<s>*"
"""Pattern of a numeral: a number <n> with spaces <s>, a sign or brackets, and a currency <c> or per cent."""
BODY = "[.,]?[0-9](?:[0-9.,'\u2019 \t\u00a0\u2009\u202f]*[0-9.,])?(?:[eE][+-]?[0-9]+)?"
"""Pattern of the digits and marks of a numeral, from the first to the last."""
NEGATIVE = f"^[^0-9.,]*[(\u2212-]|-{SPACE}*$"
"""Pattern of a minus or bracket in front of a numeral, or a minus after it."""


def pattern(decimal: str, thousands: str | None = None) -> str:
    """Return the pattern of numerals with a decimal mark, and with any or one given thousands separator.

    Examples
    --------
    >>> [bool(re.fullmatch(pattern(","), text)) for text in ("1.234,50 €", "(84 %)", "1,234.50", "0.5")]
    [True, True, False, False]
    """
    return FORM.replace("<n>", number(decimal, thousands)).replace("<c>", CURRENCY).replace("<s>", SPACE)


def number(decimal: str, thousands: str | None = None) -> str:
    """Return the pattern of digits with marks, without sign and unit."""
    marks = [_MARKS[thousands]] if thousands else [mark for name, mark in _MARKS.items() if name != decimal]
    groups = "|".join(f"(?:{mark}[0-9]{{3}})+" for mark in marks)
    point = _MARKS[decimal]
    whole = f"(?:[1-9][0-9]{{0,2}}(?:{groups})|[0-9]+)"
    return f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"


NUMBERS = {mark: number(mark) for mark in ".,"}
NUMERALS = {mark: pattern(mark) for mark in ".,"}
_MISSING = {"", *NA_WORDS}


def is_numeral(text: str) -> bool:
    """Return True if a text is a number, with any marks."""
    return any(re.fullmatch(form, text) for form in NUMERALS.values())


def may_be_numerals(values: Sequence[str], decimal: str | None) -> bool:
    """Return True if all non-missing values fit one decimal mark."""
    present = [value for value in values if value.strip() not in _MISSING]
    marks = [decimal] if decimal else list(NUMERALS)
    return any(all(re.fullmatch(NUMERALS[mark], value) for value in present) for mark in marks)


def settles_point(values: Sequence[str]) -> bool:
    """Return True if a value proves that points are decimal marks, as 0.5 does; 2.687 may be 2687."""
    return any(not re.fullmatch(NUMERALS[","], value) for value in values if value.strip() not in _MISSING)


@dataclass(frozen=True)
class Reading:
    """Reading of a column of numbers, or the reason why there is none.

    Attributes
    ----------
    expression : str
        SQL of the number; empty for a column that remains unchanged.
    decimal : str
        Decimal mark; empty if no value has a point or a comma.
    note : str
        An example value, with the number as which it is read.
    expected, got, hint : str
        Parts of the error for a column with two readings or with different units; `expected` is empty without an error.
    """

    expression: str = ""
    decimal: str = ""
    note: str = ""
    expected: str = ""
    got: str = ""
    hint: str = ""


def readings(
    relation: "DuckDBPyRelation", columns: Mapping[str, str], *, decimal: str | None, thousands: str | None, plain: str
) -> dict[str, Reading]:
    """Return the reading of each column of text.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        Relation with the columns as text.
    columns : mapping from key to column, in SQL
    decimal, thousands : str or None
        Known decimal mark and thousands separator.
    plain : str
        Numeric columns that have no marks except this decimal mark remain unchanged.
    """
    marks = [decimal] if decimal else list(NUMERALS)
    fields: list[str] = []
    for column in columns.values():
        value, body = _present(column), f"regexp_extract({column}, {_quoted(BODY)})"
        plain_numeral = rf"[+-]?([0-9]+[{plain}]?[0-9]*|[{plain}][0-9]+)([eE][+-]?[0-9]+)?" if plain else "[+-]?[0-9]+"
        unit = f"regexp_extract({value}, {_quoted('%|' + CURRENCY)})"
        fields += [f"bool_and(regexp_full_match({value}, {_quoted(pattern(mark, thousands))}))" for mark in marks]
        fields += [
            f"bool_and(regexp_full_match(trim({value}), {_quoted(plain_numeral)}))",
            f"list(DISTINCT {unit} ORDER BY {unit}) FILTER ({value} IS NOT NULL)",
            f"min({value}) FILTER (regexp_matches({body}, '[.,]'))",
            f"min({value}) FILTER (NOT regexp_full_match({value}, '[0-9]+'))",
            f"bool_or(regexp_matches({body}, '[eE.]'))",
            f"bool_or(regexp_matches({body}, '[eE,]'))",
        ]
    row = relation.aggregate(", ".join(fields)).fetchall()[0]
    width = len(row) // len(columns)
    by_key: dict[str, Reading] = {}
    for number, (key, column) in enumerate(columns.items()):
        facts = row[width * number : width * (number + 1)]
        fitting = [mark for mark, fits in zip(marks, facts, strict=False) if fits]
        is_plain, units, marked, example, point, comma = facts[len(marks) :]
        has_fraction = {".": point, ",": comma}
        by_key[key] = _reading(column, fitting, is_plain, units or [], marked, example, has_fraction)
    return by_key


def _reading(
    column: str,
    fitting: Sequence[str],
    is_plain: bool,
    units: Sequence[str],
    marked: str | None,
    example: str | None,
    has_fraction: Mapping[str, bool],
) -> Reading:
    """Return the reading of a column, given the decimal marks that fit and examples of values with marks."""
    if not fitting:
        return Reading()
    if len(fitting) > 1 and marked is not None:
        mark = "," if "," in marked else "."
        other = "." if mark == "," else ","
        whole, fraction = number_of(marked, other), number_of(marked, mark)
        option = f"for {{}} pass {{}}={mark!r} (--{{}} {mark})"
        hint = "; ".join((option.format(whole, *["thousands"] * 2), option.format(fraction, *["decimal"] * 2)))
        got = f"{marked.strip()!r}, which is {whole} or {fraction}"
        return Reading(expected="numbers that can be read in only one way", got=got, hint=hint)
    if is_plain:
        return Reading()
    currencies = sorted({*units} - {"", "%"})
    if "%" in units and len(units) > 1:
        others = "some with " + " and ".join(currencies) if currencies else "some without"
        return Reading(expected="a % after every number or after none", got=others)
    if len(currencies) > 1:
        return Reading(expected="one currency", got=" and ".join(currencies))
    decimal = fitting[0]
    kind = "DOUBLE" if has_fraction[decimal] or "%" in units else "BIGINT"
    note = f"{(example or '').strip()!r} is read as {number_of(example or '', decimal)}"
    return Reading(_number(column, decimal, kind), decimal if marked is not None else "", note)


def number_of(text: str, decimal: str) -> str:
    """Return the plain numeral of a text.

    Examples
    --------
    >>> number_of("(1.234,50 €)", ","), number_of("84.5 %", ".")
    ('-1234.50', '0.845')
    """
    body = re.search(BODY, text)
    plain = re.sub(rf"[^0-9eE{decimal}+-]", "", body[0] if body else "").replace(decimal, ".")
    if "%" in text:
        plain = f"{float(f'{plain}e-2'):.15g}"
    return ("-" if re.search(NEGATIVE, text) else "") + plain


def _present(column: str) -> str:
    """Return the SQL of a value that is null for words that mean a missing value."""
    words = ", ".join(map(_quoted, sorted(_MISSING)))
    return f"CASE WHEN trim({column}) NOT IN ({words}) THEN {column} END"


def _number(column: str, decimal: str, kind: str) -> str:
    """Return the SQL of a number; see `number_of`."""
    value = _present(column)
    digits = f"regexp_replace(regexp_extract({value}, {_quoted(BODY)}), '[^0-9eE{decimal}+-]', '', 'g')"
    sign = f"CASE WHEN regexp_matches({value}, {_quoted(NEGATIVE)}) THEN '-' ELSE '' END"
    # An exponent, unlike a division, gives the nearest float.
    exponent = f"CASE WHEN contains({value}, '%') THEN 'e-2' ELSE '' END"
    return f"CAST({sign} || replace({digits}, {_quoted(decimal)}, '.') || {exponent} AS {kind})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
