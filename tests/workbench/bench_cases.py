"""The workbench, served for a test: requests as sockets send them, and a bench of a few rows."""

import json
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import numpy as np

import rocscope as rs
from rocscope.workbench.session import DataSource, Session


def rows(n=600, seed=0, decimals=2):
    """Return two models of tied probabilities, with a region, a fold and an age."""
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.3
    scores = {
        name: (1 / (1 + np.exp(1 - gain * y - random.normal(0, 1, n)))).round(decimals)
        for name, gain in (("old", 1.2), ("new", 1.8))
    }
    region = np.array(["north", "south", "west"])[random.integers(0, 3, n)]
    columns = {"age": random.integers(20, 90, n)}
    return rs.Predictions(y, scores, segment=region, fold=random.integers(0, 4, n), columns=columns)


def bench_of(**sources):
    """Return a bench of one nameless or several named sources."""
    return Session([DataSource.of(name if len(sources) > 1 else "", each) for name, each in sources.items()])


@contextmanager
def served(bench):
    """Serve a bench, and yield what knows its address."""
    from rocscope.workbench.server import Serving

    serving = Serving(bench)
    thread = threading.Thread(target=serving.run, kwargs={"browser": False, "tell": lambda _line: None})
    thread.start()
    try:
        yield serving
    finally:
        serving.end()
        thread.join(20)
        assert not thread.is_alive()


def request(serving, path, body=None, method="GET", **headers):
    """Send a request as it stands, and return its status and its text; None leaves a header out."""
    with closing(HTTPConnection(serving.host, timeout=60)) as connection:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Host": serving.host} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        try:
            text = answer.read().decode()
        except ConnectionResetError:  # refused before what was sent had been read, and the rest of the answer is lost
            if answer.status < 400:
                raise
            text = ""
        return answer.status, text, answer.headers


def ask(serving, what, **more):
    """Ask what the page would ask."""
    status, text, _ = request(serving, f"/{serving.token}/ask", {"what": what, **more}, "POST")
    assert status == 200, text
    return json.loads(text)
