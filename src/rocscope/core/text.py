"""Numbers as one line of facts shows them."""

from numbers import Integral


def number(value: float) -> str:
    """Return a whole number in full, any other to six digits.

    Examples
    --------
    >>> number(12_345_678), number(1 / 3)
    ('12345678', '0.333333')
    """
    return str(value) if isinstance(value, Integral) else f"{value:.6g}"
