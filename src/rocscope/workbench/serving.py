"""Serving: the workbench on a port of this machine, until it is told to end."""

import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from rocscope.workbench.bench import Bench
from rocscope.workbench.server import application

_SECONDS_TO_END = 3


class _Server(uvicorn.Server):
    """A server that ends at Ctrl-C as if that was what it is for."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals while it runs, and give them back to whoever had them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def end(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Serving:
    """A workbench that is served: its address, and its end.

    Parameters
    ----------
    bench : Bench
    """

    def __init__(self, bench: Bench) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(128)
        self.host = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.token = secrets.token_urlsafe(24)
        options: dict[str, Any] = {"log_level": "error", "access_log": False, "ws": "none", "server_header": False}
        app = application(bench, self.host, self.token)
        self._server = _Server(uvicorn.Config(app, lifespan="on", timeout_graceful_shutdown=_SECONDS_TO_END, **options))

    @property
    def address(self) -> str:
        """Where the page is; whoever knows it sees the data."""
        return f"http://{self.host}/{self.token}/"

    def run(self, *, browser: bool, tell: Callable[[str], Any]) -> None:
        """Serve until Ctrl-C."""
        tell(f"Workbench: {self.address} (Ctrl-C ends it)")
        if browser:
            webbrowser.open(self.address)
        try:
            self._server.run(sockets=[self.socket])
        finally:
            self.socket.close()

    def end(self) -> None:
        """End it, from another thread."""
        self._server.should_exit = True
