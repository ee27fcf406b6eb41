"""Real data sets that need no download.

The breast cancer data are part of scikit-learn. All other data sets are generated from published rules or tables of
counts. Rows and columns have the order of the published files.
"""

import difflib

from rocscope._base.contract import contract
from rocscope._base.public_names import refusing
from rocscope.datasets.tables import TABLE, Dataset
from rocscope.errors import InputError

__all__ = ["Dataset", "load", "names"]
__getattr__ = refusing(__name__, __all__)


def names() -> list[str]:
    """Return the names of the data sets.

    Returns
    -------
    list of str
        Names in alphabetical order.

    See Also
    --------
    load

    Examples
    --------
    >>> names()
    ['car', 'monks-1', 'monks-2', 'monks-3', 'nursery', 'shuttle-landing-control',
     'tic_tac_toe', 'titanic', 'wdbc']
    """
    return list(TABLE)


@contract
def load(name: str) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        Name of the data set; see :func:`names`.

    Returns
    -------
    Dataset
        Data set with read-only arrays. To change a column, copy it first.

    Raises
    ------
    InputError
        If no data set has this name. The message lists all names.

    See Also
    --------
    names

    Examples
    --------
    >>> load("tic_tac_toe")
    Dataset('tic_tac_toe', n=958, attributes=9, class={'n': 332, 'p': 626}, positive='p')
    >>> load("monks-2").X["e"][:5]
    array([2, 4, 1, 1, 2])
    """
    if name not in TABLE:
        close = difflib.get_close_matches(str(name), TABLE, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]!r}?" if close else ""
        raise InputError("name", expected=f"one of {', '.join(TABLE)}", got=repr(name), hint=hint)
    facts = TABLE[name]
    columns, label = facts.make()
    dataset = Dataset(
        name=name, X=columns, y=label, positive=facts.positive, description=facts.description, source=facts.source
    )
    for column in (*dataset.X.values(), dataset.y):
        column.setflags(write=False)
    return dataset
