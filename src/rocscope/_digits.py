"""Numbers without digits that mean nothing."""

import math


def about(value: float) -> str:
    """Return an expected number without digits that nobody can act on: whole from 100 on, of three digits below.

    Examples
    --------
    >>> about(785.6163868), about(8), about(1 / 3)
    ('786', '8', '0.333')
    """
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"


def rounded(number: float, error: float) -> str:
    """Return a number to the second digit of its error.

    Examples
    --------
    >>> rounded(785.6163868, 41.3), rounded(15234.5, 21_300), rounded(0.42137, 0.0713), rounded(2, 0)
    ('786', '15,000', '0.421', '2')
    """
    if not (math.isfinite(number) and math.isfinite(error) and error > 0):
        return f"{number:,.4g}"
    digits = 1 - math.floor(math.log10(error))
    return f"{round(number, digits) + 0.0:,.{max(digits, 0)}f}"
