"""Pieces of a source read at the same time, their results in the order of the pieces."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

from rocscope._base.threads import cores

_Batch = TypeVar("_Batch")
_Result = TypeVar("_Result")

_AHEAD = 2  # results of a piece that wait for their turn
_END = object()


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def in_order(
    pieces: Iterable[Callable[[], Generator[_Batch]]], work: Callable[[_Batch], _Result], threads: int | None = None
) -> Generator[_Result]:
    """Yield what `work` makes of each batch, in the order of the pieces.

    A thread reads a piece and works on its batches. As many pieces are under way as there are threads, and one more
    is begun only when the first of them is through, so that no more than a few batches are in memory. Close it where
    not everything is taken: a database can do nothing else while a piece of it is open.
    """
    threads = threads or cores()
    waiting = iter(pieces)
    lanes: deque[queue.Queue[Any]] = deque()
    stop = threading.Event()
    with ThreadPoolExecutor(threads, "rocscope") as pool:

        def begin() -> None:
            piece = next(waiting, None)
            if piece is not None:
                lanes.append(queue.Queue(_AHEAD))
                pool.submit(_run, piece, work, lanes[-1], stop)

        try:
            for _ in range(threads):
                begin()
            while lanes:
                while (result := lanes[0].get()) is not _END:
                    if isinstance(result, _Failure):
                        raise result.error
                    yield result
                lanes.popleft()
                begin()
        finally:
            stop.set()


def _run(
    piece: Callable[[], Generator[Any]], work: Callable[[Any], Any], lane: "queue.Queue[Any]", stop: threading.Event
) -> None:
    try:
        with closing(piece()) as batches:
            for batch in batches:
                if not _put(lane, work(batch), stop):
                    return
    except BaseException as error:  # noqa: BLE001 (raised again where results are taken)
        _put(lane, _Failure(error), stop)
    else:
        _put(lane, _END, stop)


def _put(lane: "queue.Queue[Any]", result: Any, stop: threading.Event) -> bool:
    """Wait for room in the lane, and return False if nobody takes from it any more."""
    while not stop.is_set():
        try:
            lane.put(result, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False
