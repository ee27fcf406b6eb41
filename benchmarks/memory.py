"""Peak memory of one task, measured in a process of its own.

``python memory.py TASK FOLDER`` loads the columns in FOLDER and prints by how many bytes the peak resident set
(``ru_maxrss``) grows while the task runs: what is claimed beside the columns, by NumPy, by compiled loops or otherwise.
A first run on few rows loads and compiles what it needs.
"""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from inputs import Input, make


def growth(task: str, data: Input, folder: Path) -> int:
    """Return the bytes that a task claims beside its columns."""
    for name in ("y", "score", "weight"):
        column = getattr(data, name)
        if column is not None:
            np.save(folder / f"{name}.npy", column)
    command = [sys.executable, __file__, task, str(folder), data.kind]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    for file in folder.glob("*.npy"):
        file.unlink()
    return int(found.stdout)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(task_name: str, folder: str, kind: str) -> None:
    from tasks import TASKS

    task = next(task for task in TASKS if task.name == task_name)
    columns = {file.stem: np.load(file) for file in Path(folder).glob("*.npy")}
    task.ours(make(kind, 60_000, 0.5))
    before = _peak()
    task.ours(Input(kind, 0.5, columns["y"], columns["score"], columns.get("weight")))
    print(_peak() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
