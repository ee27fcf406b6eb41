"""RequestQueue: of requests that follow each other fast only the newest is worth its work."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Protocol


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

    def begin(self, job: Job, *, lane: str = "", aside: bool = False) -> "Future[Any]":
        """Do a job; one that has a lane ends the token of the one before it there."""
        token = CancelToken()
        with self._lock:
            if lane in self._newest:
                self._newest[lane].cancel()
            if lane:
                self._newest[lane] = token
            self._running[id(token)] = token
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

    def close(self) -> None:
        """End all queue, and the threads."""
        with self._lock:
            for token in self._running.values():
                token.cancel()
        for threads in self._threads.values():
            threads.shutdown(wait=True, cancel_futures=True)
