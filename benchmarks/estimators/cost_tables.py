"""Tables of two classes for the benchmarks of estimators: of a folder, of scikit-learn and rocscope, and generated.

`unused_tables` reads 27 others, on which no constant of an estimator was chosen.
"""

import csv
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets

sys.path.append(str(Path(__file__).parents[2] / "examples" / "papers"))

from data import LACHICHE_FLACH, VUK_CURK, NotFoundError, Task, load

Array = NDArray[Any]

RARE = 20
"""Rows that each class must have."""

_ONE_AGAINST_REST = (
    Task("car vgood", "car", positive="vgood"),
    Task("nursery very_recom", "nursery", positive="very_recom"),
    Task("ecoli im", "ecoli", positive="im"),
    Task("glass 1", "glass", positive="1"),
    Task("glass 7", "glass", positive="7"),
    Task("segmentation WINDOW", "segmentation", positive="WINDOW"),
    Task("dermatology 4", "dermatology", positive="4"),
    Task("flag 1", "flag", positive="1"),
)

# File in the archive of the package pydataset, target, and columns that are identifiers or tell the target.
_UNUSED: dict[str, tuple[str, str]] = {
    "COUNT/medpar": ("died", "provnum age80"),
    "COUNT/rwm1984": ("outwork", ""),
    "Ecdat/Benefits": ("ui", ""),
    "Ecdat/Computers": ("premium", ""),
    "Ecdat/Hdma": ("deny", ""),
    "Ecdat/Males": ("union", "nr"),
    "Ecdat/Mroz": ("work", "hoursw wagew hearnw wageww"),
    "Ecdat/OFP": ("privins", ""),
    "Ecdat/Participation": ("lfp", ""),
    "Ecdat/Schooling": ("enroll76", ""),
    "Ecdat/Treatment": ("treat", "re78"),
    "Ecdat/UnempDur": ("censor1", "censor2 censor3 censor4 spell"),
    "Ecdat/Wages": ("union", ""),
    "Ecdat/Workinghours": ("owned", "mortgage"),
    "KMsurv/kidtran": ("delta", "obs"),
    "KMsurv/pneumon": ("hospital", "chldage"),
    "MASS/Aids2": ("status", "death"),
    "MASS/biopsy": ("class", "ID"),
    "MASS/Pima.te": ("type", ""),
    "Zelig/mid": ("conflict", ""),
    "Zelig/turnout": ("vote", ""),
    "gap/PD": ("pd", "id"),
    "gap/nep499": ("status", "ID id"),
    "pscl/vote92": ("rep", "dem vote"),
    "psych/bfi": ("gender", ""),
    "survival/flchain": ("death", "futime chapter"),
    "survival/nwtco": ("rel", "edrel seqno in.subcohort"),
}
_MOST_NAMES = 30


def unused_tables(archive: Path) -> dict[str, tuple[Array, Array]]:
    """Return the tables of `resources.tar.gz` in the package pydataset: numbers, and indicators of names."""
    found: dict[str, tuple[Array, Array]] = {}
    with tarfile.open(archive) as files:
        member = {"/".join(Path(path).with_suffix("").parts[-2:]): path for path in files.getnames()}
        for name, (target, dropped) in _UNUSED.items():
            content = files.extractfile(member[name])
            assert content is not None
            frame = pd.read_csv(content, low_memory=False).iloc[:, 1:].dropna(subset=target)
            y = frame.pop(target)
            texts = frame.select_dtypes(exclude="number").nunique()
            unlike = texts.index[texts > _MOST_NAMES]
            frame = frame.drop(columns=[*dropped.split(), *unlike], errors="ignore")
            columns = pd.get_dummies(frame).to_numpy(np.float64)
            empty = np.isnan(columns).all(axis=0)
            found[Path(name).name] = columns[:, ~empty], (y == y.max()).to_numpy().astype(np.intp)
    return found


def tables(folder: Path | None) -> dict[str, tuple[Array, Array]]:
    """Return attributes (numbers, and indicators of names) and labels 0/1 of each table, by its name."""
    found = _of_folder(folder) if folder else {}
    for name, (columns, y) in {**_of_sklearn(), **_generated()}.items():
        found[name] = np.asarray(columns, np.float64), np.asarray(y, np.intp)
    return {name: each for name, each in found.items() if np.bincount(each[1], minlength=2).min() >= RARE}


def _of_folder(folder: Path) -> dict[str, tuple[Array, Array]]:
    with (folder / "MANIFEST.csv").open(newline="") as file:
        facts = [row for row in csv.DictReader(file) if row["target"] and row["positive_class"]]
    others = [Task(row["name"], row["name"], row["target"], row["positive_class"]) for row in facts]
    found: dict[str, tuple[Array, Array]] = {}
    for task in (*VUK_CURK, *LACHICHE_FLACH, *others, *_ONE_AGAINST_REST):
        name = task.label if task in _ONE_AGAINST_REST else task.name
        try:
            table = load(replace(task, positive="") if task in _ONE_AGAINST_REST else task, folder, network=False)
        except NotFoundError:
            continue
        y = table.y if task not in _ONE_AGAINST_REST else np.array(table.classes)[table.y] == task.positive
        if name not in found and len(np.unique(y)) == 2:
            wide = len(table.y) > 1000 and table.X.shape[1] > 80  # indicators would be hundreds of columns
            found[name] = (table.X if wide else table.indicators()).astype(np.float64), y.astype(np.intp)
    return found


def _of_sklearn() -> dict[str, tuple[Array, Array]]:
    digits, wine, iris = (
        load(return_X_y=True) for load in (datasets.load_digits, datasets.load_wine, datasets.load_iris)
    )
    disease, progress = datasets.load_diabetes(return_X_y=True)
    return {
        "digits 8": (digits[0], digits[1] == 8),
        "digits 3": (digits[0], digits[1] == 3),
        "digits odd": (digits[0], digits[1] % 2),
        "wine 1": (wine[0], wine[1] == 1),
        "iris versicolor": (iris[0], iris[1] == 1),
        "diabetes upper fifth": (disease, progress > np.quantile(progress, 0.8)),
    }


def _generated() -> dict[str, tuple[Array, Array]]:
    made: dict[str, Callable[[np.random.Generator], tuple[Array, Array]]] = {
        "log-normal": _log_normal,
        "noise": lambda rng: (rng.normal(size=(1500, 10)), rng.random(1500) < 0.3),
        "weak": lambda rng: _binormal(rng, 0.4, 0.5),
        "rare": lambda rng: _binormal(rng, 1.5, 0.05),
        "heavy tails": lambda rng: _linear(rng.standard_t(2, (1500, 8)), rng),
        "checkers": _checkers,
        "moons": lambda _: datasets.make_moons(1500, noise=0.35, random_state=0),
        "rare clusters": lambda _: datasets.make_classification(
            2500, 20, n_informative=5, weights=[0.93], class_sep=0.8, random_state=1
        ),
        "flipped labels": lambda _: datasets.make_classification(1500, 12, n_informative=4, flip_y=0.3, random_state=2),
    }
    return {name: make(np.random.default_rng(7)) for name, make in made.items()}


def _binormal(rng: np.random.Generator, shift: float, prevalence: float, n: int = 2500) -> tuple[Array, Array]:
    y = rng.random(n) < prevalence
    return rng.normal(size=(n, 5)) + shift * y[:, None] * np.array([1, 0.5, 0.25, 0, 0]), y


def _linear(x: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    return x, rng.random(len(x)) < 1 / (1 + np.exp(1.5 - x[:, 0] - 0.5 * x[:, 1]))


def _log_normal(rng: np.random.Generator) -> tuple[Array, Array]:
    x = np.exp(1.5 * rng.normal(size=(1500, 8)))
    return x, rng.random(1500) < 1 / (1 + np.exp(1 - np.log(x[:, :3]).sum(axis=1) / 2))


def _checkers(rng: np.random.Generator) -> tuple[Array, Array]:
    x = rng.uniform(-2, 2, (1500, 4))
    return x, (np.floor(x[:, 0]) + np.floor(x[:, 1])) % 2 == (rng.random(1500) < 0.1)
