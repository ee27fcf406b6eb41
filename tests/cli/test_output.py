"""Files are written whole or not at all."""

import os
import re
from pathlib import Path

import pytest

import rocscope
from rocscope._output import check_writable, write_file
from rocscope.errors import InputError


def test_writes_text_and_bytes_and_leaves_nothing_else(tmp_path):
    assert write_file(tmp_path / "a.txt", "Grüße").read_bytes() == "Grüße".encode()
    assert write_file(tmp_path / "b.bin", b"\x00\xff").read_bytes() == b"\x00\xff"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.bin"]


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = write_file(tmp_path / "a.txt", "first")
    with pytest.raises(InputError, match=r"exists already; .*--force"):
        write_file(path, "second")
    assert path.read_text() == "first"
    assert write_file(path, "second", force=True).read_text() == "second"


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "expected the name of a file, got a folder"), ("missing/a.txt", "expected a folder that exists")],
)
def test_impossible_targets_are_named(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        check_writable(tmp_path / name)


def test_a_failed_write_leaves_no_half_file(tmp_path, monkeypatch):
    def full_disk(self, target):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(InputError, match="could not be written: got No space left on device"):
        write_file(tmp_path / "a.txt", "text")
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_writes_files():
    package = Path(rocscope.__file__).parent
    writes = re.compile(r"""\.write_(text|bytes)\(|open\([^)]*["'][wax]""")
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if writes.search(path.read_text())}
    assert found == {"_output.py", "engines/sources/files.py"}  # the second spools a stream to a temporary file
