"""The page "Upgrading from 0.1": each new name works, and each old one raises the error that the page states."""

import re
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs
from rocscope.cli import run

PAGE = Path(__file__).parents[2] / "docs" / "upgrading.md"
if not PAGE.is_file():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

TEXT = PAGE.read_text(encoding="utf-8")
CALLS = re.findall(r"^\| `((?:rs|matrix|curve)\..+?)` \| `(.+?)` \| `(.+?)` \|$", TEXT, re.MULTILINE)
OPTIONS = re.findall(r"^\| `(\w+) (--[\w-]+)` \| `(\w+ --[\w-]+)` \| `(.+?)` \|$", TEXT, re.MULTILINE)
MOVED = [
    (name, topic)
    for topic, names in re.findall(r"^\| `rs\.(\w+)` \| ((?:`\w+`(?:, )?)+) \|$", TEXT, re.MULTILINE)
    for name in re.findall(r"\w+", names)
]


@pytest.fixture(scope="module")
def here():
    """Return the names that the page's calls use: labels, probabilities, patients, predictions and a matrix."""
    y = np.tile([0, 1, 1, 0], 15)
    p = np.random.default_rng(1).random(60)
    scores = {"a": p, "b": np.roll(p, 1)}
    return {
        "rs": rs, "y": y, "p": p, "patient": np.arange(60) // 2, "preds": rs.Predictions(y, scores),
        "folds": rs.Predictions(y, p, fold=np.arange(60) // 4 % 3), "both": np.c_[1 - p, p],
        "matrix": rs.multiclass.ConfusionMatrix.from_labels(y, p > 0.5), "curve": rs.calibration_curve(y, p),
    }  # fmt: skip


def test_the_page_has_all_tables():
    assert (len(MOVED), len(CALLS), len(OPTIONS)) == (75, 24, 6)


@pytest.mark.parametrize(("name", "topic"), MOVED)
def test_a_moved_name_is_in_its_subpackage(name, topic):
    assert hasattr(getattr(rs, topic), name)
    with pytest.raises(AttributeError, match=rf"^rocscope has no '{name}'; (it is|use) rs\.{topic}\.{name}"):
        getattr(rs, name)


@pytest.mark.parametrize(("old", "new", "error"), CALLS)
def test_a_renamed_call_works_and_the_old_one_raises_the_stated_error(old, new, error, here):
    assert eval(new, dict(here)) is not None
    with pytest.raises((AttributeError, TypeError, ValueError), match=re.escape(error)):
        eval(old, dict(here))


@pytest.mark.parametrize(("command", "option", "new", "error"), OPTIONS)
def test_a_renamed_option_is_listed_and_the_old_one_is_refused(command, option, new, error, capsys):
    command_now, option_now = new.split()
    assert run([command, "scores.csv", option, "3"]) == 2
    assert error in capsys.readouterr().err
    run([command_now, "--help"])
    assert f"{option_now} " in capsys.readouterr().out
