"""Local server of the workbench, for browsers on this machine only.

GET returns the page, and POST answers requests of the page. Both require a secret token. Order of the file: the guard,
which rejects all other requests; the two routes; and the server with its address.
"""

import json
import logging
import secrets
import signal
import socket
import threading
import webbrowser
from asyncio import CancelledError, wrap_future
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette import applications, requests, responses, routing, types

from rocscope.errors import InputError, RocscopeError
from rocscope.report.page import as_json
from rocscope.workbench.answers import ASIDE, answer, facts, live_page
from rocscope.workbench.session import CancelToken, RequestQueue, RowSelection, Session, SupersededError

MOST_ASKED = 1 << 16
"""Maximum size of a request in bytes."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Reject all requests without the token, and all requests from other pages.

    Another web site can make a browser send requests to this address, and can point its own name to this address. But
    it does not have the token, and the headers Origin and Host show where the request comes from.
    """

    def __init__(self, app: types.ASGIApp, address: str, token: str) -> None:
        self.app, self.address, self.token = app, address, token

    async def __call__(self, scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        """Pass an accepted request on to the application. Answer 403 to all other requests."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._is_ours(scope)):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await responses.PlainTextResponse("Forbidden\n", 403, _HEADERS)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _is_ours(self, scope: types.Scope) -> bool:
        sent: list[tuple[bytes, bytes]] = list(scope["headers"])

        def values(header: bytes) -> list[str]:
            return [value.decode("latin-1") for name, value in sent if name == header]

        # Host differs if another name points to this address (DNS rebinding); the other headers differ for other sites.
        right_host = values(b"host") == [self.address]
        right_origin = values(b"origin") in ([], [f"http://{self.address}"])
        same_site = values(b"sec-fetch-site") in ([], ["none"], ["same-origin"])
        token = scope["path"].removeprefix("/").partition("/")[0]
        # This comparison takes the same time for every token.
        right_token = secrets.compare_digest(token.encode(), self.token.encode())
        return right_token and right_host and right_origin and same_site


class Endpoints:
    """Functions that answer requests. They compute in other threads, so that the server can accept further requests.

    Parameters
    ----------
    session : Session
        Models and rows that the page shows.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.queue = RequestQueue()

    async def page(self, request: requests.Request) -> responses.Response:
        """Return the page. If the address names a column, rows are split by this column."""

        def job(token: CancelToken) -> tuple[str | None, str]:
            content = facts(self.session, request.query_params.get("by") or None, token)
            return content["by"], live_page(content)

        try:
            by, page = await wrap_future(self.queue.begin(job))
        except RocscopeError as error:
            return responses.PlainTextResponse(f"{error}\n", 400, _HEADERS)
        # Compute the first request of the page while the browser loads it.
        rows = RowSelection(by=by)
        self.queue.begin(lambda token: self.session.outlines(rows, token))
        return responses.HTMLResponse(page, headers=_HEADERS)

    async def ask(self, request: requests.Request) -> responses.Response:
        """Answer a request of the page."""
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_ASKED:
                    return _error_response("too long", 413)
        except requests.ClientDisconnect:
            logging.getLogger(__name__).warning("a request of the page was interrupted, and is ignored")
            return _error_response("interrupted", 400)
        try:
            question = json.loads(body)
            # JSON can escape half of a surrogate pair. Such a text has no UTF-8, so neither the query nor the answer
            # could contain it.
            json.dumps(question, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            surrogate = f"{error.object[error.start]!a}"
            return _error_response(f"expected text in Unicode, got the lone surrogate {surrogate}", 400)
        except (ValueError, RecursionError):
            question = None
        if not isinstance(question, dict):
            return _error_response("expected a request as a JSON object", 400)
        return await self._answer(cast(dict[str, Any], question))

    async def _answer(self, question: dict[str, Any]) -> responses.Response:
        def job(token: CancelToken) -> str:
            return as_json(answer(self.session, question, token))

        lane = str(question.get("lane") or "")
        aside = question.get("what") in ASIDE
        try:
            content = await wrap_future(self.queue.begin(job, lane=lane, aside=aside))
        except (SupersededError, CancelledError):
            return _error_response("replaced by a newer request")
        except (RocscopeError, MemoryError) as error:
            return _error_response(str(error) or "not enough memory")
        return responses.Response(content, media_type="application/json", headers=_HEADERS)

    @asynccontextmanager
    async def open(self, _app: applications.Starlette) -> AsyncIterator[None]:
        """Keep the threads running while the server runs."""
        # Read the rows while the browser starts.
        self.queue.begin(self.session.prepare, aside=True)
        self.queue.begin(lambda token: facts(self.session, None, token))
        yield
        self.queue.close()


def application(endpoints: Endpoints, address: str, token: str) -> applications.Starlette:
    """Return the workbench as an ASGI application. The page is at http://address/token/.

    Parameters
    ----------
    endpoints : Endpoints
        Functions that answer requests.
    address : str
        Host and port, in the form that browsers send.
    token : str
        Secret text that is part of the address of the page.
    """
    routes = [
        routing.Route(f"/{token}/", endpoints.page, methods=["GET"]),
        routing.Route(f"/{token}/ask", endpoints.ask, methods=["POST"]),
    ]
    app = applications.Starlette(routes=routes, lifespan=endpoints.open, exception_handlers={Exception: _failed})
    app.add_middleware(Guard, address=address, token=token)
    return app


def _error_response(error: str, code: int = 200) -> responses.Response:
    """Return a response with an error message. The code is 200 for wrong input, which is not a server error."""
    return responses.Response(as_json({"error": error}), code, _HEADERS, "application/json")


async def _failed(_request: requests.Request, error: Exception) -> responses.Response:
    return _error_response(f"internal error: {type(error).__name__}: {error}", 500)


# Seconds to wait for running requests when the server stops.
_SECONDS_TO_END = 1


class _Server(uvicorn.Server):
    """A server that stops without an error when Ctrl-C is pressed, even during a computation."""

    def __init__(self, config: uvicorn.Config, queue: RequestQueue) -> None:
        super().__init__(config)
        self._queue = queue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel all running requests, and stop the server. Cancelled requests get an answer."""
        self._queue.end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs. Restore the previous handlers afterwards."""
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
    """Server of a workbench, with the address of the page and methods to run and stop the server.

    Parameters
    ----------
    session : Session
        Models and rows that the page shows.
    port : int
        Port of the server. The default, 0, uses any free port.

    Raises
    ------
    InputError
        If another program uses the port.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self.socket.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            self.socket.close()
            hint = "omit the port to use any free port"
            raise InputError("port", expected="a free port", got=f"{port} ({error})", hint=hint) from None
        self.socket.listen(128)
        self.host = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.token = secrets.token_urlsafe(24)
        options: dict[str, Any] = {"log_level": "error", "access_log": False, "ws": "none", "server_header": False}
        endpoints = Endpoints(session)
        app = application(endpoints, self.host, self.token)
        config = uvicorn.Config(app, lifespan="on", timeout_graceful_shutdown=_SECONDS_TO_END, **options)
        self._server = _Server(config, endpoints.queue)

    @property
    def address(self) -> str:
        """URL of the page. Everyone on this machine who knows the URL can see the data."""
        return f"http://{self.host}/{self.token}/"

    def run(self, *, browser: bool, tell: Callable[[str], Any]) -> None:
        """Run the server until Ctrl-C is pressed."""
        tell(f"Workbench: {self.address} (Ctrl-C ends it)")
        if browser:
            webbrowser.open(self.address)
        try:
            self._server.run(sockets=[self.socket])
        finally:
            self.socket.close()

    def end(self) -> None:
        """Stop the server. Call this from another thread."""
        self._server.should_exit = True
