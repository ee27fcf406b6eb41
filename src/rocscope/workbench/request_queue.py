"""Turns: of requests that follow each other fast only the newest is worth its work."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Protocol

from rocscope.engines.sources.database import interruptible
from rocscope.errors import EngineError

_BETWEEN = 0.02
"""Seconds between two looks at the clock: too few to be felt, too many to take time."""


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

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Interrupt the SQL of what is done in here when the turn is over, or after some seconds.

        Raises
        ------
        EngineError
            If the time was over.
        """
        done, late = Event(), Event()
        with interruptible() as interrupt:

            def watch() -> None:
                end = monotonic() + seconds
                while not done.wait(_BETWEEN):  # again and again: a query that has not begun yet hears nothing
                    if self._over.is_set() or monotonic() > end:
                        late.set()
                        with suppress(Exception):  # of a connection that was closed meanwhile
                            interrupt()

            watching = Thread(target=watch, name="rocscope-workbench-watch", daemon=True)
            watching.start()
            try:
                yield
            except EngineError:
                if not late.is_set():
                    raise
                self()
                hint = "narrow the condition down, or filter the file before"
                raise EngineError("where", expected=f"an answer within {seconds:g} s", got="none", hint=hint) from None
            finally:
                done.set()
                watching.join()


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
        self._ended = False

    def begin(self, job: Job, *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Do a job; one that has a lane ends the turn of the one before it there."""
        turn = Turn()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].end()
            if lane:
                self._newest[lane] = turn
            self._going[id(turn)] = turn
            if self._ended:
                turn.end()
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

    def end(self) -> None:
        """End all turns, and those that begin from now on."""
        with self._lock:
            self._ended = True
            for turn in self._going.values():
                turn.end()

    def close(self) -> None:
        """End all turns, and the threads."""
        self.end()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)
