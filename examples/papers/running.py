"""Functions of both scripts: options, parallel trials with a progress bar, and printed tables."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data import NotFoundError, Table, Task, load
from joblib import Parallel, delayed
from numpy.typing import NDArray
from rich.progress import Progress
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

Array = NDArray[Any]


def options(description: str | None, **choices: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line. `choices` are additional options; the first value is the default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of CSV files")
    parser.add_argument("--seeds", type=int, default=20, help="number of random divisions into folds (default 20)")
    parser.add_argument("--quick", action="store_true", help="use one seed and five inner folds")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--offline", action="store_true", help="do not download missing data sets from OpenML")
    parser.add_argument("--output", type=Path, default=Path("paper-tables"), help="folder for JSON and figures")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, default=values[0])
    arguments = parser.parse_args()
    if arguments.data is not None and not arguments.data.is_dir():
        parser.error(f"--data: the folder {arguments.data} does not exist")
    if arguments.seeds < 1:
        parser.error(f"--seeds: expected at least 1, got {arguments.seeds}")
    if arguments.quick:
        arguments.seeds = 1
    return arguments


def load_all(tasks: Iterable[Task], arguments: argparse.Namespace) -> tuple[dict[str, Table], dict[str, str]]:
    """Return the tables that were found, and for each missing table the reason."""
    found, missing = {}, {}
    for task in tasks:
        try:
            found[task.label] = load(task, arguments.data, network=not arguments.offline)
        except NotFoundError as error:
            missing[task.label] = str(error)
    return found, missing


def folds(y: Array, splits: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield training and test rows. If a class has fewer cases than folds, some test folds do not contain it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        yield from StratifiedKFold(splits, shuffle=True, random_state=seed).split(y, y)


def fold_probabilities(model: Any, X: Array, y: Array, k: int, train: Array, test: Array) -> Array:
    """Return n × k probabilities of the test rows; they are 0 for classes that are not in the training rows."""
    fitted = clone(model).fit(X[train], y[train])
    proba = np.zeros((test.size, k))
    proba[:, fitted.classes_] = fitted.predict_proba(X[test])
    return proba


def out_of_fold(model: Any, X: Array, y: Array, k: int, splits: int, seed: int) -> Array:
    """Return n × k out-of-fold probabilities of all rows."""
    proba = np.empty((y.size, k))
    for train, test in folds(y, splits, seed):
        proba[test] = fold_probabilities(model, X, y, k, train, test)
    return proba


def run_all(trial: Callable[..., Any], calls: Sequence[tuple], what: str, jobs: int) -> list[Any]:
    """Run the calls in parallel with a progress bar, and return their results in the order of the calls."""
    results: list[Any] = [None] * len(calls)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads in each process would compete for the same cores
    with Progress(transient=True) as bar:
        row = bar.add_task(what, total=len(calls))
        work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for place, result in work(delayed(_numbered)(i, trial, call) for i, call in enumerate(calls)):
            results[place] = result
            bar.advance(row)
    return results


def _numbered(place: int, trial: Callable[..., Any], call: tuple) -> tuple[int, Any]:
    return place, trial(*call)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns. The first column is aligned to the left, and the other columns to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([line[0].ljust(len(first)), *others]).rstrip())


def print_missing(missing: dict[str, str]) -> None:
    """Print the data sets that were not found, with the reason."""
    if missing:
        print("\nNot run, because the data are missing (see --data):")
        for name, reason in missing.items():
            print(f"  {name}: {reason}")


def save(content: dict[str, Any], path: Path) -> None:
    """Write the content as JSON, and print the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    print(f"\nWritten: {path}", file=sys.stderr)
