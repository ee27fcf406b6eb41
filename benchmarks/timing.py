"""How long a call takes."""

import time
from collections.abc import Callable


def best_of(call: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest time of some calls, after one that does not count."""
    call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)
