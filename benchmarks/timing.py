"""How long a call takes: once, at best of some, or in the median of turns with others."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from machine import memory


@dataclass(frozen=True)
class Took:
    """Seconds of one call by the clock, of the processor, and its answer."""

    seconds: float
    processor: float
    answer: Any


def touch_memory(size: int) -> None:
    """Touch so many bytes, and free them again, in a process of its own.

    A virtual machine may have given the memory that is free back to its host, which then takes seconds a gigabyte to
    give it again, to whoever asks first: nobody's work, and a second where a contender takes two.
    """
    subprocess.run([sys.executable, "-c", f"import numpy; numpy.ones({size}, 'u1')"], check=True)


def fill_cache(folder: Path) -> None:
    """Fill free memory with cached pages of an empty file in a folder, which go when the file does.

    For what must not be held up: memory that was touched and freed goes back to the host two seconds later, and all
    cores stand still for tenths of a second meanwhile. Cached pages stay, and are had at once by whoever asks.
    """
    file, piece = folder / "empty", bytearray(1 << 24)
    file.touch()
    os.truncate(file, memory())
    with file.open("rb", buffering=0) as pages:
        while pages.readinto(piece):
            pass


def took(call: Callable[[], Any]) -> Took:
    """Time one call."""
    begin, busy = time.perf_counter(), time.process_time()
    answer = call()
    return Took(time.perf_counter() - begin, time.process_time() - busy, answer)


def best_of(call: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest time of some calls, after one that does not count."""
    call()
    return min(took(call).seconds for _ in range(rounds))


def in_turns(calls: Mapping[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Return the median time of each call, which take turns, after one of each that does not count."""
    for call in calls.values():
        call()
    taken = [{name: took(call).seconds for name, call in calls.items()} for _ in range(turns)]
    return {name: median(each[name] for each in taken) for name in calls}
