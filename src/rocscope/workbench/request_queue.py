"""RequestQueue: compute requests in two threads, and cancel those that newer requests replace."""

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
    """Raised in a job that a newer request has replaced, or that nobody waits for."""


@dataclass(frozen=True)
class CancelToken:
    """Cancel one request: its job calls the token now and then, which raises once the request is cancelled."""

    _cancelled: Event = field(default_factory=Event)

    def __call__(self, _done: int = 0, _total: int | None = None) -> None:
        """Raise SupersededError where the token is over; the form is that of `progress=`."""
        if self._cancelled.is_set():
            raise SupersededError

    def cancel(self) -> None:
        """End the token."""
        self._cancelled.set()

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Interrupt the SQL of what is done in here when the token is over, or after some seconds.

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
                    if self._cancelled.is_set() or monotonic() > end:
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
    """What is to be done in a token."""

    def __call__(self, token: CancelToken) -> Any:
        """Do it, and ask the token on the way."""
        ...


class RequestQueue:
    """Two threads, one for counts that are shown and one for other questions, and the newest request of each lane."""

    def __init__(self) -> None:
        self._threads = {aside: ThreadPoolExecutor(1, "rocscope-workbench") for aside in (False, True)}
        self._newest: dict[str, CancelToken] = {}
        self._running: dict[int, CancelToken] = {}
        self._lock = Lock()
        self._ended = False

    def begin(self, job: Job, *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Do a job; one that has a lane ends the token of the one before it there."""
        token = CancelToken()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].cancel()
            if lane:
                self._newest[lane] = token
            self._running[id(token)] = token
            if self._ended:
                token.cancel()
            return self._threads[aside].submit(self._take, token, job, lane)

    def _take(self, token: CancelToken, job: Job, lane: str) -> Any:
        try:
            token()
            return job(token)
        finally:
            with self._lock:
                del self._running[id(token)]
                if self._newest.get(lane) is token:
                    del self._newest[lane]

    def end(self) -> None:
        """Cancel all requests, and those that begin from now on."""
        with self._lock:
            self._ended = True
            for token in self._running.values():
                token.cancel()

    def close(self) -> None:
        """Cancel all requests, and end the threads."""
        self.end()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)
