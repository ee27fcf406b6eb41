"""The answers that the client is tested against are Python's own."""

import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "reference" / "report_fixtures"


def _make():
    spec = importlib.util.spec_from_file_location("report_fixtures", FOLDER / "make.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = _make()
SAMPLES = MAKE.samples()


def assert_same(made, kept):
    """Equal but for the last digits, which the order of an addition decides."""
    if isinstance(made, dict):
        assert made.keys() == kept.keys()
        for key, value in made.items():
            assert_same(value, kept[key])
    elif isinstance(made, list):
        for one, other in zip(made, kept, strict=True):
            assert_same(one, other)
    else:
        assert kept == (pytest.approx(made, rel=1e-12, abs=1e-15) if isinstance(made, float) else made)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_file_is_what_python_says(name):
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert_same(json.loads(MAKE.text(SAMPLES[name])), kept)


def test_best_points_are_what_python_says():
    kept = json.loads((FOLDER / f"{MAKE.BEST_POINTS}.json").read_text(encoding="utf-8"))
    assert json.loads(MAKE.best_points()) == kept
    assert sum(len(sample["best"]) for sample in kept) >= 200


def test_no_file_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*SAMPLES, MAKE.BEST_POINTS}
