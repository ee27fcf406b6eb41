"""Load the data sets of both papers from a folder of CSV files, from rocscope or from OpenML."""

import csv
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope import datasets

Array = NDArray[Any]

MOST_NOMINAL = 10
"""A numeric column with at most this number of distinct values is treated as nominal."""

_BRIDGES = ("T-OR-D", "MATERIAL", "SPAN", "REL-L", "TYPE")
_FLARE = ("common", "moderate", "severe")
_COLIC = ("surgical_lesion", "site", "type", "subtype", "code")
_COLIC_UNUSED = ("hospital_number", "lesion_1", "lesion_2", "lesion_3", "cp_data", "outcome")


@dataclass(frozen=True)
class Task:
    """A data set and the column that is predicted.

    Parameters
    ----------
    label : str
        Name of the row in the published table.
    name : str
        Name of the file without ``.csv``, and of the data set in `rocscope.datasets`.
    target : str
        Column of the class.
    positive : str, optional
        Positive class, if there are two classes.
    unused : sequence of str
        Columns that must not be used: identifiers, other targets, and columns that the program of the paper ignored.
    openml : str
        Name of the data set on OpenML, version 1; empty if OpenML does not have the same rows.
    """

    label: str
    name: str
    target: str = "class"
    positive: str = ""
    unused: Sequence[str] = ()
    openml: str = ""


# The positive classes were chosen so that our thresholds match the published thresholds.
VUK_CURK = (
    Task("tic_tac_toe", "tic_tac_toe", positive="p"),
    Task("shuttle-landing-control", "shuttle-landing-control", positive="1"),
    Task("adult_sample", "adult_sample", positive=">50K"),
    Task("monks-1", "monks-1", positive="0"),
    Task("monks-2", "monks-2", positive="0"),
    Task("monks-3", "monks-3", positive="0"),
    Task("promoters", "promoters", positive="pp"),
    Task("ionosphere", "ionosphere", positive="g", unused=("a1", "a2", "a01", "a02"), openml="ionosphere"),
    Task("voting", "voting", positive="republican", openml="vote"),
    Task("heart_disease", "heart_disease", positive="1"),
    Task("bupa", "bupa", positive="2"),
    Task("crx", "crx", positive="-", openml="credit-approval"),
    Task("titanic", "titanic", positive="yes"),
    Task(
        "wdbc",
        "wdbc",
        positive="M",
        unused=tuple(
            f"se_{part}"
            for part in (
                *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"),
                *("concave points", "symmetry", "fractal dimension"),
            )
        ),
    ),
)

LACHICHE_FLACH = (
    Task("audiology", "audiology", openml="audiology"),
    *(
        Task(f"bridges2 {t.lower()}", "bridges2", t, unused=("IDENTIF", "LOCATION", *(o for o in _BRIDGES if o != t)))
        for t in _BRIDGES
    ),
    Task("car", "car"),
    Task("credit (crx)", "crx", openml="credit-approval"),
    Task("dermatology", "dermatology", openml="dermatology"),
    Task("ecoli", "ecoli", openml="ecoli"),
    Task("flag religion", "flag"),
    *(Task(f"flare2 {t}", "flare2", t, unused=tuple(other for other in _FLARE if other != t)) for t in _FLARE),
    Task("glass", "glass", openml="glass"),
    *(
        Task(
            f"horse-colic {t.removesuffix('_lesion')}",
            "horse-colic",
            t,
            unused=(*_COLIC_UNUSED, *(other for other in _COLIC if other != t)),
        )
        for t in _COLIC
    ),
    Task("segmentation", "segmentation", openml="segment"),
    Task("mushroom", "mushroom", openml="mushroom"),
    Task("nursery", "nursery"),
    Task("post-operative", "post-operative", openml="postoperative-patient-data"),
    Task("vote", "voting", openml="vote"),
)


@dataclass(frozen=True, eq=False)
class Table:
    """Attributes (as numbers) and classes of the rows of one task.

    Parameters
    ----------
    X : n × d array of float
        Numbers, or codes of names (integers from 0); NaN if the value is missing.
    nominal : boolean array of d columns
        Columns that contain codes.
    y : n integers
        Index of the class of each row in `classes`. If the task has a positive class, its index is 1.
    classes : tuple of str
    source : str
        Source of the data.

    Notes
    -----
    The whole file, training and test rows, determines which columns are nominal and which names they have. The classes
    are not used for this purpose, and nothing is estimated.
    """

    X: Array
    nominal: NDArray[np.bool_]
    y: NDArray[np.intp]
    classes: tuple[str, ...]
    source: str

    def indicators(self) -> Array:
        """Return the numeric columns, and a column of 0 and 1 for each name, for a binary tree."""
        columns = [self.X[:, ~self.nominal]]
        for codes in self.X[:, self.nominal].T:
            columns.append(codes[:, None] == np.unique(codes[~np.isnan(codes)]))
            columns.append(np.isnan(codes)[:, None])
        return np.column_stack(columns).astype(np.float32)


class NotFoundError(Exception):
    """No source has the data set. The message contains the reason for each source."""


def load(task: Task, folder: Path | None = None, *, network: bool = True) -> Table:
    """Return the table of a task from the first source that has the data.

    Raises
    ------
    NotFoundError
        If the folder, rocscope and OpenML do not have the data.
    """
    reasons = []
    for source in (lambda: _of_folder(task, folder), lambda: _of_rocscope(task), lambda: _of_openml(task, network)):
        found = source()
        if not isinstance(found, str):
            return found
        reasons.append(found)
    raise NotFoundError("; ".join(reasons))


def _of_folder(task: Task, folder: Path | None) -> Table | str:
    if folder is None:
        return "no folder given"
    path = folder / f"{task.name}.csv"
    if not path.is_file():
        return f"no {path.name} in the folder"
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    if task.target not in header:
        return f"no column {task.target!r} in {path.name}"
    columns = dict(zip(header, map(np.array, zip(*rows, strict=True)), strict=True))
    return _table(task, columns, "file")


def _of_rocscope(task: Task) -> Table | str:
    if task.name not in datasets.names():
        return "not in rocscope.datasets"
    data = datasets.load(task.name)
    return _table(task, {**data.X, task.target: data.y}, "rocscope.datasets")


def _of_openml(task: Task, network: bool) -> Table | str:
    if not task.openml:
        return "not on OpenML in this form"
    if not network:
        return "OpenML not asked"
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")  # the answer below says so
            data = fetch_openml(task.openml, version=1, as_frame=True, parser="auto", n_retries=1, delay=0.1)
    except Exception as error:  # noqa: BLE001  what a network can raise has no end
        return f"OpenML did not answer ({type(error).__name__})"
    columns = {name: data.data[name].astype(object).to_numpy() for name in data.data.columns}
    return _table(task, {**columns, task.target: data.target.to_numpy()}, "OpenML")


def _table(task: Task, columns: Mapping[str, Array], source: str) -> Table | str:
    text = {name: np.array(["" if v is None or v != v else str(v) for v in c.tolist()]) for name, c in columns.items()}
    labels = text.pop(task.target)
    kept = labels != ""
    used = [column[kept] for name, column in text.items() if name not in task.unused]
    classes, y = np.unique(labels[kept], return_inverse=True)
    if task.positive:
        if task.positive not in classes or classes.size != 2:
            return f"{source} has the classes {', '.join(classes)}, not {task.positive!r} and one other"
        classes = np.sort(classes)[np.argsort(np.sort(classes) == task.positive)]
        y = labels[kept] == task.positive
    encoded = [_encode(column) for column in used]
    X = np.column_stack([values for values, _ in encoded])
    nominal = np.array([is_name for _, is_name in encoded])
    return Table(X, nominal, y.astype(np.intp), tuple(classes.tolist()), source)


def _encode(column: Array) -> tuple[Array, bool]:
    """Return the numbers or the codes of a column, and whether the column is nominal."""
    values, code = np.unique(column, return_inverse=True)
    try:
        numbers = np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        numbers = None
    if numbers is not None and np.unique(numbers[~np.isnan(numbers)]).size > MOST_NOMINAL:
        return numbers[code], False
    codes = np.arange(values.size, dtype=np.float64)
    if numbers is not None:  # "1" and "1.0" are the same name
        codes = np.unique(numbers, return_inverse=True)[1].astype(np.float64)
    codes[values == ""] = np.nan
    codes -= np.nanmin(codes, initial=codes.size)
    return codes[code], True
