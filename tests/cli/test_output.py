"""Files are written whole or not at all."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rocscope
from rocscope._output import check_writable, remove_unfinished, unfinished, write_file
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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])  # on Windows, a file that another has open
def test_a_failed_write_leaves_no_half_file(tmp_path, monkeypatch, number):
    def refuse(self, target):
        raise OSError(number, os.strerror(number))

    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(InputError, match=f"could not be written: got {os.strerror(number)}"):
        write_file(tmp_path / "a.txt", "text", force=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]


def test_lines_end_as_they_do_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr("os.linesep", "\r\n")
    assert write_file(tmp_path / "a.txt", "a\nb\n").read_bytes() == b"a\nb\n"


def test_the_command_line_runs_where_signals_of_unix_are_not_known(tmp_path):
    script = (
        "import signal\nfor name in ('SIGHUP', 'SIGTERM'):\n    delattr(signal, name)\n"
        "from rocscope.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"rocscope {rocscope.__version__}\n")


def test_a_link_stays_one_and_a_device_what_it_is(tmp_path):
    write_file(tmp_path / "a.txt", "first")
    (tmp_path / "link").symlink_to("a.txt")
    write_file(tmp_path / "link", "second", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "second"
    with pytest.raises(InputError, match="expected the name of a file, got a device or a pipe"):
        check_writable(os.devnull, force=True)


def test_what_is_unfinished_goes_when_the_process_is_told_to_end(tmp_path):
    with unfinished(tmp_path / "folder") as folder, unfinished(tmp_path / "file") as file:
        (folder / "deeper").mkdir(parents=True)
        file.touch()
        remove_unfinished()
        assert list(tmp_path.iterdir()) == []


def test_nothing_else_writes_files():
    package = Path(rocscope.__file__).parent
    writes = re.compile(r"""\.write_(text|bytes)\(|open\([^)]*["'][wax]""")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if writes.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"_output.py", "engines/sources/files.py"}  # the second spools a stream to a temporary file
