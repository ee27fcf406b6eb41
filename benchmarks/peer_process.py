"""One contender in a process of its own: seconds and memory of its turns, and of the start before them.

``python peer_process.py NAME FOLDER SMALL TURNS SECONDS`` imports what the contender needs, lets it answer once for the
few rows in the folder SMALL (so that code is compiled and engines run), and then for those in FOLDER: TURNS times, but
for no new turn once SECONDS are over. Each line printed is one JSON object: first of the start, then one of each turn.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median

from memory import Watch, resident
from peers import PEERS, Peer
from timing import took


@dataclass(frozen=True)
class Limits:
    """How many turns a contender takes, when it begins no new one, and when it is stopped in the midst of one."""

    turns: int
    enough: float
    longest: float


@dataclass(frozen=True)
class Outcome:
    """What was measured of one contender on so many rows; without turns, `note` says why."""

    peer: Peer
    rows: int
    note: str = ""
    start: dict[str, float] | None = None
    turns: tuple[dict[str, float], ...] = ()

    @property
    def seconds(self) -> float:
        """Median over turns."""
        return median(turn["seconds"] for turn in self.turns)

    @property
    def growth(self) -> float:
        """Bytes that all turns claimed at most, beside libraries and what was given."""
        return max(turn["growth"] for turn in self.turns)

    @property
    def answer(self) -> float:
        """The area that it found."""
        return self.turns[-1]["answer"]


def run(peer: Peer, rows: int, folder: Path, small: Path, limits: Limits, **environment: str) -> Outcome:
    """Run a contender; it and all that it started is ended when it takes too long."""
    arguments = [peer.name, str(folder), str(small), str(limits.turns), str(limits.enough)]
    child = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"SPARK_LOCAL_DIRS": str(small)} | environment,
    )
    note = ""
    try:
        out, errors = child.communicate(timeout=limits.longest)
    except subprocess.TimeoutExpired:
        note = f"stopped after {limits.longest:g} s"
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
    if note:
        out, errors = child.communicate()
    elif child.returncode:
        note = "out of memory" if child.returncode == -signal.SIGKILL else "failed"
        print(errors[-2000:], file=sys.stderr)
    start, *turns = [json.loads(line) for line in out.splitlines() if line.startswith("{")] or [None]
    return Outcome(peer, rows, "" if turns else note, start, tuple(turns))


def main(name: str, folder: str, small: str, turns: str, enough: str) -> None:
    peer = next(peer for peer in PEERS if peer.name == name)
    imported = took(lambda: [import_module(module) for module in peer.modules]).seconds
    first = took(lambda: peer.answer(peer.given(Path(small)))).seconds
    print(json.dumps({"import": imported, "first": first, "resident": resident()}), flush=True)
    given = peer.given(Path(folder))
    watch = Watch()
    begin = time.perf_counter()
    for number in range(int(turns)):
        if number and time.perf_counter() - begin > float(enough):
            break
        turn = took(lambda: peer.answer(given))
        print(json.dumps({"seconds": turn.seconds, "answer": turn.answer, "growth": watch.growth()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
