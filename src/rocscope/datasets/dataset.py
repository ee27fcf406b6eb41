"""Dataset: attributes, class and source of one data set."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope._base.arrays import Array
from rocscope._base.contract import held_to_contract
from rocscope._base.frames import frame_of

Columns = dict[str, Array]


@held_to_contract
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dataset:
    """Attributes and class of the rows of one data set.

    Parameters
    ----------
    name : str
        Name by which :func:`rocscope.datasets.load` knows it.
    X : dict of str to ndarray of shape (n,)
        The attributes, column by column: strings, small integers or floats.
    y : ndarray of shape (n,)
        The class of each row, as the published file writes it.
    target : str
        Name of the class column.
    positive : str, int or None
        The class usually taken as positive; None where there are more than two.
    description : str
        What a row is and what the class says of it.
    source : str
        Where the data were published, and by whom.

    Examples
    --------
    >>> from rocscope.datasets import load
    >>> titanic = load("titanic")
    >>> titanic
    Dataset('titanic', n=2201, attributes=3, class={'no': 1490, 'yes': 711}, positive='yes')
    >>> list(titanic.X)
    ['status', 'age', 'sex']
    >>> survived = titanic.y == titanic.positive
    >>> print(f"{survived[titanic.X['sex'] == 'female'].mean():.3f}")
    0.732
    """

    name: str
    X: Columns
    y: Array
    target: str = "class"
    positive: str | int | None = None
    description: str
    source: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Attributes and class as one data frame, the class last.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library whose frame is wanted.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            As many rows as the data set, in its order.

        Raises
        ------
        InputError
            If `backend` is none of the three.
        MissingDependencyError
            If that library is not installed.

        Examples
        --------
        >>> from rocscope.datasets import load
        >>> load("car").to_frame().iloc[[0, -1]]
             buying  maint  doors persons lug_boot safety  class
        0     vhigh  vhigh      2       2    small    low  unacc
        1727    low    low  5more    more      big   high  vgood
        """
        return frame_of({**self.X, self.target: self.y}, backend)

    def __repr__(self) -> str:
        classes, counts = np.unique(self.y, return_counts=True)
        by_class = dict(zip(classes.tolist(), counts.tolist(), strict=True))
        return (
            f"Dataset({self.name!r}, n={self.n}, attributes={len(self.X)}, "
            f"{self.target}={by_class}, positive={self.positive!r})"
        )
