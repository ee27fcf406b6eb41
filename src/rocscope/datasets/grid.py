"""Every combination of attribute values, and tables that grade them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope.datasets.dataset import Columns


def combinations(levels: Mapping[str, Sequence[Any]]) -> tuple[Columns, Columns]:
    """Every combination of levels, the last attribute varying fastest.

    Parameters
    ----------
    levels : dict of str to sequence
        The values that each attribute can take.

    Returns
    -------
    values, positions : dict of str to ndarray
        The value of each attribute in each combination, and the place of that value among its levels.

    Examples
    --------
    >>> values, positions = combinations({"size": ["small", "big"], "doors": [2, 4]})
    >>> values["size"], values["doors"]
    (array(['small', 'small', 'big', 'big'], dtype='<U5'), array([2, 4, 2, 4]))
    >>> positions["size"]
    array([0, 0, 1, 1])
    """
    indices = np.indices([len(values) for values in levels.values()]).reshape(len(levels), -1)
    positions = dict(zip(levels, indices, strict=True))
    return {name: np.asarray(levels[name])[positions[name]] for name in levels}, positions


def table(*pages: str) -> NDArray[np.int64]:
    """Array of one-digit numbers; blanks separate the rows of a page, and several pages add a first axis.

    Examples
    --------
    >>> table("001 112")
    array([[0, 0, 1],
           [1, 1, 2]])
    >>> table("001 112", "222 333").shape
    (2, 2, 3)
    """
    digits = np.array([[[int(digit) for digit in row] for row in page.split()] for page in pages])
    return digits if len(pages) > 1 else digits[0]
