"""Turns: of requests that follow each other fast only the newest is worth its work."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Protocol


class SupersededError(Exception):
    """A newer request took the place of this one, or nobody waits any more."""


@dataclass(frozen=True)
class Turn:
    """One request's time: anyone who works for it asks now and then whether to go on."""

    _over: Event = field(default_factory=Event)

    def __call__(self, _done: int = 0, _total: int | None = None) -> None:
        """Raise SupersededError where the turn is over; the form is that of `progress=`."""
        if self._over.is_set():
            raise SupersededError

    def end(self) -> None:
        """End the turn."""
        self._over.set()


class Job(Protocol):
    """What is to be done in a turn."""

    def __call__(self, turn: Turn) -> Any:
        """Do it, and ask the turn on the way."""
        ...


class Turns:
    """Two threads, one for what is shown and one for what is asked beside it, and the newest request of each lane."""

    def __init__(self) -> None:
        self._threads = {aside: ThreadPoolExecutor(1, "rocscope-workbench") for aside in (False, True)}
        self._newest: dict[str, Turn] = {}
        self._going: dict[int, Turn] = {}
        self._lock = Lock()

    def begin(self, job: Job, *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Do a job; one that has a lane ends the turn of the one before it there."""
        turn = Turn()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].end()
            if lane:
                self._newest[lane] = turn
            self._going[id(turn)] = turn
            return self._threads[aside].submit(self._take, turn, job, lane)

    def _take(self, turn: Turn, job: Job, lane: str) -> Any:
        try:
            turn()
            return job(turn)
        finally:
            with self._lock:
                del self._going[id(turn)]
                if self._newest.get(lane) is turn:
                    del self._newest[lane]

    def close(self) -> None:
        """End all turns, and the threads."""
        with self._lock:
            for turn in self._going.values():
                turn.end()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)
