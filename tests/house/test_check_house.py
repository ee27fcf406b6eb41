"""The check of the house: each of its rules can fail, and says where."""

import importlib.util
import sys
from pathlib import Path

import pytest

import rocscope

SCRIPT = Path(__file__).parents[2] / ".ci/check_house.py"
if not SCRIPT.is_file():
    pytest.skip("the check is not beside the tests", allow_module_level=True)
SPEC = importlib.util.spec_from_file_location("check_house", SCRIPT)
house = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(house)


def complaints(root, files):
    """Return what the check says of a tree of files with such contents."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return house.complaints(root, list(files))


def test_a_house_in_order_has_no_complaints(tmp_path):
    files = {f"src/rocscope/core/{letter}.py": "x = 1\n" * 125 for letter in "abcdefghijklmnopqrstuvwxyz"}
    files |= {"client/package.json": "{}", "tests/reference/a.csv": "1", "docs/images/a.png": "", "tests/long.json": ""}
    files |= {
        "src/rocscope/b.py": ('"""A docstring."""\n' + "# A comment.\n\nx = 1\n") * 800,
        "src/rocscope/report/bundles/report.css": "x\n" * 900,
    }
    assert complaints(tmp_path, files) == []


BROKEN = {
    "long": ({"tests/a.py": "x = 1\n" * 801}, "tests/a.py: 801 lines of code, more than 800; split it"),
    "long client": ({"client/src/a.ts": "x\n" * 801}, "client/src/a.ts: 801 lines of code, more than 800"),
    "stray": ({"s.parquet": ""}, "s.parquet: a data file outside tests/, examples/, docs/; move it there"),
    "stray in the package": ({"src/rocscope/datasets/a.csv": ""}, "src/rocscope/datasets/a.csv: a data file outside"),
}
INIT = {f"src/rocscope/{folder}__init__.py": "" for folder in ("", "a/")}
CIRCLES = {
    "names": {"a/b.py": "from rocscope.c import x", "c.py": "from rocscope.a.b import y"},
    "modules": {"a/b.py": "import rocscope.c", "c.py": "from rocscope.a import b"},
    "in a function": {"a/b.py": "from rocscope.c import x", "c.py": "def f():\n    from rocscope.a.b import y"},
    "relative": {"a/b.py": "from ..c import x", "c.py": "from .a import b"},
    "beside": {"a/b.py": "from .c import x", "a/c.py": "from . import b"},
    "three": {"a/b.py": "import rocscope.c", "c.py": "import rocscope.d", "d.py": "import rocscope.a.b"},
    "by name": {
        "a/b.py": "import rocscope.c",
        "c.py": "from importlib import import_module as i\nimport importlib\nimportlib.import_module('rocscope.a.b')",
    },
    "lazily": {
        "a/__init__.pyi": "from .b import y as y",
        "a/b.py": "import rocscope.c",
        "c.py": "from rocscope.a import y",
    },
    "a topic": {"a/__init__.py": "from rocscope.c import x", "c.py": "from rocscope.a import y"},
    "for the type checker": {
        "a/b.py": "from rocscope.c import x",
        "c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rocscope.a.b import y",
    },
    "when no checker": {
        "a/b.py": "from rocscope.c import x",
        "c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from rocscope.a.b import y",
    },
}
STRAIGHT = {
    "a lazy name of elsewhere": {
        "__init__.pyi": "from .c import x as x",
        "a/b.py": "from rocscope import x, __version__",
        "c.py": "x = 1",
    },
}


@pytest.mark.parametrize(("files", "message"), BROKEN.values(), ids=BROKEN)
def test_each_rule_can_fail(tmp_path, files, message):
    found = complaints(tmp_path, files)
    assert len(found) == 1
    assert found[0].startswith(message)


@pytest.mark.parametrize("files", CIRCLES.values(), ids=CIRCLES)
def test_circles_of_imports_are_found(tmp_path, files):
    found = complaints(tmp_path, INIT | {f"src/rocscope/{name}": text for name, text in files.items()})
    assert len(found) == 1
    assert found[0].startswith("import circle: rocscope")


@pytest.mark.parametrize("files", STRAIGHT.values(), ids=STRAIGHT)
def test_what_is_no_circle_is_none(tmp_path, files):
    assert complaints(tmp_path, INIT | {f"src/rocscope/{name}": text for name, text in files.items()}) == []


measure_code = sys.modules["measure_code"]


@pytest.fixture(scope="module")
def packages():
    """The measures of each package."""
    return measure_code.by_package(Path(rocscope.__file__).parent)


@pytest.fixture(scope="module")
def total(packages):
    return sum(packages.values(), measure_code.Measure())


def test_code_lines_are_lines_with_code(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""A module."""\n\nimport math\n\n# Why.\nx = [  # a remark\n    math.pi,\n]\n\ny = "found"\nfound = 1\n'
    )
    own = measure_code.measure(path)
    assert (own.code, own.imports, own.comments, own.vague_names) == (6, 1, 1, 1)


def test_imports_are_a_small_part_of_the_code(total):
    """The aim is 6%, which neighbours of this size reach; this limit may only get smaller."""
    assert total.imports <= 0.06 * total.code


def test_names_say_what_they_hold(total):
    assert total.vague_names <= 300


@pytest.mark.parametrize("package", ["geometry", "inference", "calibration", "decisions", "kernels"])
def test_numerical_code_is_commented(packages, package):
    assert packages[package].comments * 40 >= packages[package].code
