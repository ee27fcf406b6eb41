"""Memory that is claimed while something runs: by NumPy, by compiled loops, by a Java machine that was started.

``python memory.py TASK FOLDER KIND`` loads the columns in FOLDER and prints by how many bytes the peak of the resident
set grows while the task runs. A first run on few rows loads and compiles what it needs.
"""

import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
from inputs import Input, make

SELF = Path("/proc/self")


class Watch:
    """Growth of the resident set of this process and its descendants, from now on.

    Linux forgets past peaks when asked to; elsewhere growth counts from the highest peak so far, of this process alone.
    """

    def __init__(self) -> None:
        for process in _family():
            with suppress(OSError):
                (process / "clear_refs").write_text("5")
        self.before = resident()

    def growth(self) -> int:
        """Return how many bytes the peak lies above what was resident at first."""
        return _peak() - self.before


def resident() -> int:
    """Return the bytes that this process and its descendants hold now."""
    return _total("VmRSS") if SELF.exists() else _peak()


def growth(task: str, data: Input, folder: Path) -> int:
    """Return the bytes that a task claims beside its columns, in a process of its own."""
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
    if SELF.exists():
        return _total("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _family() -> list[Path]:
    """Return where Linux tells of this process and of its descendants."""
    found = [SELF] if SELF.exists() else []
    for process in found:
        for thread in process.glob("task/*/children"):
            with suppress(OSError):
                found += [Path("/proc", number) for number in thread.read_text().split()]
    return found


def _total(field: str) -> int:
    total = 0
    for process in _family():
        with suppress(OSError):
            lines = (process / "status").read_text().splitlines()
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
    return total


def main(task_name: str, folder: str, kind: str) -> None:
    from tasks import TASKS

    task = next(task for task in TASKS if task.name == task_name)
    columns = {file.stem: np.load(file) for file in Path(folder).glob("*.npy")}
    task.ours(make(kind, 60_000, 0.5))
    watch = Watch()
    task.ours(Input(kind, 0.5, columns["y"], columns["score"], columns.get("weight")))
    print(watch.growth())


if __name__ == "__main__":
    main(*sys.argv[1:])
