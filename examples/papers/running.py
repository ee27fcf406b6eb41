"""What both scripts share: their options, running trials on two cores with a bar, and printing a table."""

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
    """Return what the command line asks for; `choices` are more options, of which the first value is the default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of CSV files")
    parser.add_argument("--seeds", type=int, default=20, help="ways to cut into folds that are averaged (default 20)")
    parser.add_argument("--quick", action="store_true", help="one seed, and five folds within the training parts")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--offline", action="store_true", help="do not ask OpenML for what is missing")
    parser.add_argument("--output", type=Path, default=Path("paper-tables"), help="folder for JSON and figures")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, default=values[0])
    arguments = parser.parse_args()
    if arguments.data is not None and not arguments.data.is_dir():
        parser.error(f"--data: no folder {arguments.data}")
    if arguments.seeds < 1:
        parser.error("--seeds: at least 1")
    if arguments.quick:
        arguments.seeds = 1
    return arguments


def load_all(tasks: Iterable[Task], arguments: argparse.Namespace) -> tuple[dict[str, Table], dict[str, str]]:
    """Return the tables that were found, and why the others were not."""
    found, missing = {}, {}
    for task in tasks:
        try:
            found[task.label] = load(task, arguments.data, network=not arguments.offline)
        except NotFoundError as error:
            missing[task.label] = str(error)
    return found, missing


def folds(y: Array, splits: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield training and test rows; a class of fewer cases than folds is spread as far as it goes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        yield from StratifiedKFold(splits, shuffle=True, random_state=seed).split(y, y)


def fold_probabilities(model: Any, X: Array, y: Array, k: int, train: Array, test: Array) -> Array:
    """Return n × k probabilities of the test rows from a model of the training rows; 0 for classes not in these."""
    fitted = clone(model).fit(X[train], y[train])
    proba = np.zeros((test.size, k))
    proba[:, fitted.classes_] = fitted.predict_proba(X[test])
    return proba


def out_of_fold(model: Any, X: Array, y: Array, k: int, splits: int, seed: int) -> Array:
    """Return n × k probabilities of all rows, each from a model that was made without it."""
    proba = np.empty((y.size, k))
    for train, test in folds(y, splits, seed):
        proba[test] = fold_probabilities(model, X, y, k, train, test)
    return proba


def run_all(trial: Callable[..., Any], calls: Sequence[tuple], what: str, jobs: int) -> list[Any]:
    """Return the results of the calls, in their order, while a bar shows how many are done."""
    results: list[Any] = [None] * len(calls)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads beneath each process would only be in each other's way
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
    """Print columns, the first to the left and the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([line[0].ljust(len(first)), *others]).rstrip())


def print_missing(missing: dict[str, str]) -> None:
    """Name the data sets that were not found, and where they were looked for."""
    if missing:
        print("\nNot run, for want of data (see --data):")
        for name, reason in missing.items():
            print(f"  {name}: {reason}")


def save(content: dict[str, Any], path: Path) -> None:
    """Write JSON and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    print(f"\nWritten: {path}", file=sys.stderr)
