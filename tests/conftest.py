"""What every test may use: `--slow`, the published data beside the checkout, and how hypothesis searches."""

from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).parents[1].parent / "shared"

settings.register_profile("short", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run full simulations and long searches")


def pytest_configure(config):
    settings.load_profile("long" if config.getoption("--slow") else "short")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    items[:] = [item for item in items if not item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("--slow"):
        terminalreporter.write_line(
            "Tests marked slow (full simulations) were left out; `make test-slow` or --slow runs them."
        )


@pytest.fixture(scope="session")
def shared():
    """The directory of papers and published data; tests that need it are skipped elsewhere."""
    if not SHARED.is_dir():
        pytest.skip("the published data are not beside this checkout (../shared)")
    return SHARED
