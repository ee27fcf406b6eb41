"""Read numbers in the notation of people and spreadsheets: 1.234,50 €, 84 %, 1'234.50, (12.00), −3.

A *numeral* is the text of a number. Thousands separators are spaces, apostrophes, and the comma or point that is not
the decimal mark. The decimal mark therefore determines the value of every numeral in a column. Each column is read once
with a decimal point and once with a decimal comma. If only one of them fits all values, the column is read with it. If
both fit and a value has a point or a comma, such as 2,687, the column is ambiguous, and an error is raised.

The patterns are in the syntax of RE2 (DuckDB). The open page has the same patterns (client/src/constants.json) and the
same rules (`numerals.ts`). Both are tested on the same cases.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

NA_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "None", ".")
"""Words that mean a missing value in text files."""
SPACE = "[ \t\u00a0\u2009\u202f]"
_MARKS = {",": ",", ".": r"\.", " ": SPACE, "'": "['\u2019]"}
THOUSANDS = tuple(_MARKS)
"""Pattern of each thousands separator that `thousands=` accepts. A space matches all kinds of spaces."""
CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₺₩₪]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|TRY"
    "|kr|zł|Kč|Ft|Fr)"
)
_AMOUNT = "(?:<c><s>*)?<n><s>*(?:%|<c>)?"
_SIGN = "[+\u2212-]"
FORM = f"<s>*(?:{_SIGN}?<s>*{_AMOUNT}|<c><s>*{_SIGN}<s>*<n><s>*(?:%|<c>)?|[(]<s>*{_AMOUNT}<s>*[)]|{_AMOUNT}<s>*-)<s>*"
"""Pattern of a numeral: a number <n> with spaces <s>, a sign or brackets, and a currency <c> or a percent sign."""
BODY = "[.,]?[0-9](?:[0-9.,'\u2019 \t\u00a0\u2009\u202f]*[0-9.,])?(?:[eE][+-]?[0-9]+)?"
"""Pattern of a numeral from its first to its last digit."""
NEGATIVE = f"^[^0-9.,]*[(\u2212-]|-{SPACE}*$"
"""Pattern of a minus or bracket before a numeral, or of a minus after it."""


def pattern(decimal: str, thousands: str | None = None) -> str:
    """Return the pattern of numerals with the given decimal mark and thousands separator (by default, any).

    Examples
    --------
    >>> [bool(re.fullmatch(pattern(","), text)) for text in ("1.234,50 €", "(84 %)", "1,234.50", "0.5")]
    [True, True, False, False]
    """
    return FORM.replace("<n>", number(decimal, thousands)).replace("<c>", CURRENCY).replace("<s>", SPACE)


def number(decimal: str, thousands: str | None = None) -> str:
    """Return the pattern of numerals without sign and unit."""
    marks = [_MARKS[thousands]] if thousands else [mark for name, mark in _MARKS.items() if name != decimal]
    groups = "|".join(f"(?:{mark}[0-9]{{3}})+" for mark in marks)
    point = _MARKS[decimal]
    whole = f"(?:[1-9][0-9]{{0,2}}(?:{groups})|[0-9]+)"
    return f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"


NUMBERS = {mark: number(mark) for mark in ".,"}
NUMERALS = {mark: pattern(mark) for mark in ".,"}
_MISSING = {"", *NA_WORDS}


def is_numeral(text: str) -> bool:
    """Return True if a text is a numeral with any decimal mark and thousands separator."""
    # Most names of columns have no digit. To compile the patterns takes longer than to read a small file.
    return re.search("[0-9]", text) is not None and any(re.fullmatch(form, text) for form in NUMERALS.values())


def may_be_numerals(values: Sequence[str], decimal: str | None) -> bool:
    """Return True if all values that are not missing are numerals with the same decimal mark."""
    present = [value for value in values if value.strip() not in _MISSING]
    marks = [decimal] if decimal else list(NUMERALS)
    return any(all(re.fullmatch(NUMERALS[mark], value) for value in present) for mark in marks)


def settles_point(values: Sequence[str]) -> bool:
    """Return True if a value shows that points are decimal marks. 0.5 shows this, 2.687 does not."""
    return any(not re.fullmatch(NUMERALS[","], value) for value in values if value.strip() not in _MISSING)


@dataclass(frozen=True)
class Reading:
    """How to read a column of numerals, or the reason why the column cannot be read.

    Attributes
    ----------
    expression : str
        SQL expression that converts the text to a number. Empty if the column remains unchanged.
    decimal : str
        Decimal mark. Empty if no value has a point or a comma.
    note : str
        An example of a value and the number as which it is read.
    expected, got, hint : str
        Parts of the error for a column that is ambiguous or has different units. `expected` is empty if there is no
        error.
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
    """Determine how to read each column of text.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        Relation with the columns as text.
    columns : mapping from key to SQL name of a column
    decimal, thousands : str or None
        Decimal mark and thousands separator, if known.
    plain : str
        Decimal mark that DuckDB reads itself. Columns with only this mark remain unchanged.
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
    """Return how to read a column, given the decimal marks that fit all its values and examples of values."""
    if not fitting:
        return Reading()
    if len(fitting) > 1 and marked is not None:
        mark = "," if "," in marked else "."
        other = "." if mark == "," else ","
        whole, fraction = number_of(marked, other), number_of(marked, mark)
        option = f"for {{}} pass {{}}={mark!r} (--{{}} {mark})"
        hint = "; ".join((option.format(whole, *["thousands"] * 2), option.format(fraction, *["decimal"] * 2)))
        got = f"{marked.strip()!r}, which may be {whole} or {fraction}"
        return Reading(expected="numbers that can be read in only one way", got=got, hint=hint)
    if is_plain:
        return Reading()
    currencies = sorted({*units} - {"", "%"})
    if "%" in units and len(units) > 1:
        others = "some numbers with % and some " + (f"with {' and '.join(currencies)}" if currencies else "without")
        return Reading(expected="a % after all numbers or after none", got=others)
    if len(currencies) > 1:
        return Reading(expected="amounts in one currency", got=f"amounts in {' and '.join(currencies)}")
    decimal = fitting[0]
    kind = "DOUBLE" if has_fraction[decimal] or "%" in units else "BIGINT"
    note = f"{(example or '').strip()!r} is read as {number_of(example or '', decimal)}"
    return Reading(_number(column, decimal, kind), decimal if marked is not None else "", note)


def number_of(text: str, decimal: str) -> str:
    """Return a numeral as plain digits with a decimal point, given its decimal mark.

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
    """Return an SQL expression for a column in which words for missing values are replaced by NULL."""
    words = ", ".join(map(_quoted, sorted(_MISSING)))
    return f"CASE WHEN trim({column}) NOT IN ({words}) THEN {column} END"


def _number(column: str, decimal: str, kind: str) -> str:
    """Return an SQL expression that converts a column of numerals to numbers; see `number_of`."""
    value = _present(column)
    digits = f"regexp_replace(regexp_extract({value}, {_quoted(BODY)}), '[^0-9eE{decimal}+-]', '', 'g')"
    sign = f"CASE WHEN regexp_matches({value}, {_quoted(NEGATIVE)}) THEN '-' ELSE '' END"
    # An exponent, unlike a division, gives the nearest float.
    exponent = f"CASE WHEN contains({value}, '%') THEN 'e-2' ELSE '' END"
    return f"CAST({sign} || replace({digits}, {_quoted(decimal)}, '.') || {exponent} AS {kind})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
