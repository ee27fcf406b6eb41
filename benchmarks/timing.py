"""How long a call takes: once, at best of some, or in the median of turns with others."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


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
