"""The answers that the client is tested against are Python's own."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "reference" / "report_fixtures"


def _make():
    spec = importlib.util.spec_from_file_location("report_fixtures", FOLDER / "make.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = _make()
SAMPLES = MAKE.samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_file_is_what_python_says(name):
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == MAKE.text(SAMPLES[name])


def test_no_file_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(SAMPLES)
