"""Three probabilities as a point in a triangle, and which class is decided where."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope.errors import ShapeError

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Where the three classes are certain."""


def to_plane(proba: Any) -> Array:
    """Return the points (n × 2) of triples of probabilities in the triangle of side 1.

    Examples
    --------
    >>> to_plane([[1, 0, 0], [0, 0.5, 0.5]]).round(3).tolist()
    [[0.0, 0.0], [0.75, 0.433]]
    """
    rows = np.asarray(check.as_array(proba), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ShapeError("simplex", expected="probabilities of three classes", got=f"shape {rows.shape}")
    return rows @ CORNERS


class Regions(NamedTuple):
    """Small triangles that fill the simplex: points (n × 2), corners (m × 3 indices), class index of each triangle."""

    points: Array
    triangles: Array
    decided: Array


def regions(decide: Callable[[Array], Array], steps: int = 60) -> Regions:
    """Return what is decided at the centre of each of ``steps²`` small triangles.

    Parameters
    ----------
    decide : function
        From probabilities (n × 3) to class indices.
    steps : int
        Triangles along a side.
    """
    first, second = (index.ravel() for index in np.indices((steps + 1, steps + 1)))
    inside = first + second <= steps
    place = np.full((steps + 1, steps + 1), -1)
    place[first[inside], second[inside]] = np.arange(inside.sum())
    grid = np.column_stack([first, second, steps - first - second])[inside] / steps
    i, j = (index.ravel() for index in np.indices((steps, steps)))
    up, down = i + j < steps, i + j < steps - 1
    triangles = np.concatenate(
        [
            np.column_stack([place[i, j], place[i + 1, j], place[i, j + 1]])[up],
            np.column_stack([place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]])[down],
        ]
    )
    return Regions(to_plane(grid), triangles, np.asarray(decide(grid[triangles].mean(axis=1))))
