"""What every test may use: `--slow`, the published data beside the checkout, and how hypothesis searches."""

import atexit
import gc
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from report_browser import chromium as chromium, firefox as firefox, fresh as fresh

SHARED = Path(__file__).parents[1].parent / "shared"

LEFT_OUT = pytest.StashKey[Counter]()
"""How many tests marked slow were left out, by reason."""

settings.register_profile("short", deadline=None, max_examples=15, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run full simulations and long searches")


def pytest_configure(config):
    settings.load_profile("long" if config.getoption("--slow") else "short")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    turns, left_out = Counter(), {}
    for item in items:
        if slow := item.get_closest_marker("slow"):
            left_out[item] = slow.kwargs.get("reason", "full simulations")
        elif every := item.get_closest_marker("every"):
            function = item.nodeid.partition("[")[0]
            if turns[function] % every.args[0]:
                left_out[item] = "the other cases of a grid"
            turns[function] += 1
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=[*left_out])
    config.stash[LEFT_OUT] = Counter(left_out.values())


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among what is imported, then or later: half a second each, and statsmodels asks for many."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries complain at the end of objects that are left
    return found


def pytest_sessionfinish(session):
    """Hand over what a worker left out to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(LEFT_OUT, {}))


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter, config):
    if left_out := config.stash.get(LEFT_OUT, None):
        why = ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())
        terminalreporter.write_line(f"Tests marked slow were left out ({why}); `make test-slow` or --slow runs them.")


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test drew with pyplot, which warns, and so fails a later test, of more than 20 open figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def shared():
    """The directory of papers and published data; tests that need it are skipped elsewhere."""
    if not SHARED.is_dir():
        pytest.skip("the published data are not beside this checkout (../shared)")
    return SHARED


@pytest.fixture(scope="session")
def driver():
    """The driver of browsers. Only one can run at a time, and starting it for each test file would take a minute."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        yield driver


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run `rocscope` with arguments in an empty folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    from rocscope import cli

    def call(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = cli.run([*map(str, arguments)])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call


@pytest.fixture
def one_database(monkeypatch):
    """One DuckDB reads all files: to start it takes as long as all else that is done with a small one."""
    import duckdb

    from rocscope.engines import tables

    with duckdb.connect(":memory:", config=dict(tables._CONFIG)) as connection:
        monkeypatch.setattr(tables, "connect", lambda _=(): connection.cursor())
        yield


@pytest.fixture
def scores(tmp_path):
    """Six rows of two models, the first of Vuk & Curk's Table 3."""
    path = tmp_path / "scores.csv"
    path.write_text("y,a,b\n1,0.9,0.1\n1,0.6,0.2\n0,0.5,0.3\n0,0.4,0.4\n1,0.4,0.5\n0,0.2,0.6\n")
    return path
