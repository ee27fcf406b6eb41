"""Real data sets that need no download.

Most of them follow from what was published about them, a few rules or a table of counts, and are generated
row by row; the breast cancer data come with scikit-learn. Rows and columns are in the order of the published
files.
"""

import difflib
from collections.abc import Callable
from functools import partial

from rocscope.datasets import car, monks, nursery, shuttle, tic_tac_toe, titanic, wdbc
from rocscope.datasets.dataset import Dataset
from rocscope.errors import InputError

__all__ = ["Dataset", "load", "names"]

_MAKERS: dict[str, Callable[[], Dataset]] = {
    "car": car.make,
    "monks-1": partial(monks.make, 1),
    "monks-2": partial(monks.make, 2),
    "monks-3": partial(monks.make, 3),
    "nursery": nursery.make,
    "shuttle-landing-control": shuttle.make,
    "tic_tac_toe": tic_tac_toe.make,
    "titanic": titanic.make,
    "wdbc": wdbc.make,
}


def names() -> list[str]:
    """Names of the data sets that :func:`load` knows.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> names()
    ['car', 'monks-1', 'monks-2', 'monks-3', 'nursery', 'shuttle-landing-control',
     'tic_tac_toe', 'titanic', 'wdbc']
    """
    return list(_MAKERS)


def load(name: str) -> Dataset:
    """One data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset
        Its arrays are read-only; copy a column to change it.

    Raises
    ------
    InputError
        If no data set has that name; the message lists those there are.

    Examples
    --------
    >>> load("tic_tac_toe")
    Dataset('tic_tac_toe', n=958, attributes=9, class={'n': 332, 'p': 626}, positive='p')
    >>> load("monks-2").X["e"][:5]
    array([2, 4, 1, 1, 2])
    """
    if name not in _MAKERS:
        close = difflib.get_close_matches(str(name), _MAKERS, n=1, cutoff=0.4)
        raise InputError(
            "name",
            expected=f"one of {', '.join(_MAKERS)}",
            got=repr(name),
            hint=f"did you mean {close[0]!r}?" if close else "",
        )
    dataset = _MAKERS[name]()
    for column in (*dataset.X.values(), dataset.y):
        column.setflags(write=False)
    return dataset
