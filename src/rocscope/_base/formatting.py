"""Format numbers with a sensible number of digits."""

import math
import re
import struct
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

_LEAST_P = 0.0001
"""Smallest p-value that is shown. The normal approximation is not accurate for smaller p-values."""


def about(value: float) -> str:
    """Format an expected number of cases: as an integer if it is at least 100, otherwise with three digits.

    Examples
    --------
    >>> about(785.6163868), about(8), about(1 / 3)
    ('786', '8', '0.333')
    """
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def counted(number: float, noun: str) -> str:
    """Format an expected number of cases, followed by a noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "case"), counted(1500, "case"), counted(0.25, "case")
    ('1 case', '1,500 cases', '0.25 cases')
    >>> counted(1, "entry"), counted(2, "entry"), counted(0, "class"), counted(3, "survey")
    ('1 entry', '2 entries', '0 classes', '3 surveys')
    """
    if number != 1:
        noun = re.sub("(?<![aeiou])y$", "ie", noun) + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{about(number)} {noun}"


def to_its_error(number: float, error: float) -> str:
    """Round a number to the second significant digit of its standard error.

    Examples
    --------
    >>> [to_its_error(*pair) for pair in ((785.6163868, 41.3), (15234.5, 21_300), (0.42137, 0.0713), (2, 0))]
    ['786', '15,000', '0.421', '2']
    """
    if not (math.isfinite(number) and math.isfinite(error) and error > 0):
        return f"{number:,.4g}"
    digits = 1 - math.floor(math.log10(error))
    return f"{round(number, digits) + 0.0:,.{max(digits, 0)}f}"


def alike(*numbers: float) -> list[str]:
    """Format numbers with the same number of decimals. The largest number has four significant digits.

    Examples
    --------
    >>> alike(0.4073, 0.338, 0.5139), alike(-0.07296, -0.1), alike(15_234.5, 9), alike(0.0)
    (['0.4073', '0.3380', '0.5139'], ['-0.0730', '-0.1000'], ['15,234', '9'], ['0.000'])
    """
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0)
    decimals = 3 - math.floor(math.log10(largest)) if largest else 3
    return [f"{number:,.{max(decimals, 0)}f}" for number in numbers]


def in_currency(amount: str, currency: str) -> str:
    """Add a currency to an amount. A sign such as € comes before the amount, a code such as CHF after it.

    Examples
    --------
    >>> in_currency("-1,500", "€"), in_currency("1,500", "CHF"), in_currency("1,500", "")
    ('-€1,500', '1,500 CHF', '1,500')
    """
    if not currency:
        return amount
    if currency[-1].isalpha():
        return f"{amount} {currency}"
    return f"-{currency}{amount[1:]}" if amount.startswith("-") else f"{currency}{amount}"


def chance(share: float) -> str:
    """Format a probability from a simulation. It is never shown as exactly 0 or 1."""
    return "above 99.9%" if share > 0.999 else "below 0.1%" if share < 0.001 else f"{100 * share:.3g}%"


def p_value(p: float) -> str:
    """Format a p-value for a table.

    Examples
    --------
    >>> p_value(0.034321), p_value(3e-9), p_value(math.nan)
    ('0.0343', '<0.0001', 'undefined')
    """
    return f"<{_LEAST_P:g}" if p < _LEAST_P else known(p, ".3g")


# Least significant digits of a threshold that has as many, because new scores may fall between two known scores.
_THRESHOLD_DIGITS = 4
# With this many significant digits any two float64 numbers differ.
_DOUBLE_DIGITS = 17


def threshold_text(threshold: Any, next_score: float = math.nan) -> str:
    """Format a threshold as the shortest decimal with at least four digits that gives the same decisions.

    Parameters
    ----------
    threshold : float
        Cases are predicted positive if ``score >= threshold``.
    next_score : float, optional
        Highest score below the threshold; −∞ if there is none. By default, the largest number below the threshold that
        the type of the threshold can represent.

    Notes
    -----
    The text is a number t with ``next_score < t <= threshold``. If both numbers are float32, this is also true after t
    is rounded to float32. NumPy rounds t in this way when it compares t with a float32 array.

    Examples
    --------
    >>> threshold_text(1 / 3, 0.25), threshold_text(0.99952886, 0.9995287), threshold_text(2 / 3, -math.inf)
    ('0.3333', '0.9995288', '0.6666')
    >>> threshold_text(0.35, 0.2), threshold_text(0.1 + 0.2), threshold_text(0.10000000149011612)
    ('0.35', '0.30000000000000004', '0.1')
    """
    if hasattr(threshold, "item"):
        threshold = threshold.item()
    if not math.isfinite(threshold) or (isinstance(threshold, int) and abs(threshold) > 2**53):
        return str(threshold)
    narrow = as_float32(threshold) == threshold
    if math.isnan(next_score):
        next_score = _before_in_32_bits(threshold) if narrow else math.nextafter(threshold, -math.inf)
    narrow = narrow and as_float32(next_score) == next_score
    whole_digits = len(str(abs(int(threshold))))
    for digits in range(max(_THRESHOLD_DIGITS, whole_digits), _DOUBLE_DIGITS):
        # Rounding to the nearest decimal may lead above the score; rounding down does not.
        nearest = float(f"{threshold:.{digits}g}")
        lower = float(Context(digits, ROUND_FLOOR).plus(Decimal(threshold)))
        for value in (nearest, lower):
            is_between = next_score < value <= threshold
            if is_between and not (narrow and as_float32(value) <= next_score):
                return repr(value).removesuffix(".0")
    return repr(float(threshold)).removesuffix(".0")


def as_float32(value: float) -> float:
    """Return the nearest float32 number. NumPy is not used, because the command line prints errors without it.

    Examples
    --------
    >>> as_float32(0.1), as_float32(1e300)
    (0.10000000149011612, inf)
    """
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _before_in_32_bits(value: float) -> float:
    """Return the largest float32 number below a number."""
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    if value == 0:
        return -(2.0**-149)
    return struct.unpack("<f", struct.pack("<i", bits - 1 if value > 0 else bits + 1))[0]


def known(value: float, digits: str) -> str:
    """Format a number, or "undefined" for NaN.

    Examples
    --------
    >>> known(0.5, ".4f"), known(math.nan, ".4f")
    ('0.5000', 'undefined')
    """
    return "undefined" if math.isnan(value) else format(value, digits)


def direction(auc: float) -> str:
    """Return a hint for an AUC below 1/2 that lower scores may indicate positives. Otherwise, return an empty text."""
    return " (below 1/2: do lower scores mean positive?)" if auc < 0.5 else ""
