"""Files are written whole or not at all; and the parts that Windows has otherwise, as far as Linux can try them."""

import errno
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import rocscope
from readers import WRITERS
from rocscope import cli
from rocscope._base import atomic_write
from rocscope._base.atomic_write import check_writable, remove_unfinished, unfinished, write_file
from rocscope.cli import console
from rocscope.errors import InputError

PACKAGE = Path(rocscope.__file__).parent


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


def _write_with(barrier: threading.Barrier, path: Path, content: str) -> str | None:
    """Write when all writers are ready; return what was written, or None where another writer was first."""
    barrier.wait()
    try:
        write_file(path, content)
    except InputError as error:
        assert "exists already" in str(error)
        return None
    return content


@pytest.mark.every(2)
@pytest.mark.parametrize("hard_links", [True, False])
def test_of_writers_that_do_not_force_exactly_one_succeeds(tmp_path, monkeypatch, hard_links):
    if not hard_links:
        monkeypatch.setattr(os, "link", lambda *paths: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
    barrier = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        for round_ in range(250):
            path = tmp_path / f"{round_}.txt"
            texts = [f"writer {writer}" * 500 for writer in range(4)]
            written = list(pool.map(_write_with, [barrier] * 4, [path] * 4, texts))
            (text,) = filter(None, written)
            assert path.read_text() == text
    assert len(list(tmp_path.iterdir())) == 250


def test_an_overwritten_file_keeps_its_mode_and_attributes(tmp_path):
    path = write_file(tmp_path / "a.txt", "old")
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.origin", b"audit")
    except (AttributeError, OSError):
        marked = False
    else:
        marked = True
    old = path.stat()
    os.utime(path, (0, 0))
    new = write_file(path, "new", force=True).stat()
    assert (new.st_mode, new.st_uid, new.st_gid) == (old.st_mode, old.st_uid, old.st_gid)
    assert new.st_mtime >= old.st_mtime - 1
    assert not marked or os.getxattr(path, "user.origin") == b"audit"


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "expected the name of a file, got a folder"), ("missing/a.txt", "expected an existing folder")],
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
    with pytest.raises(InputError, match=f"could not be written: {os.strerror(number)}"):
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


def test_what_is_unfinished_goes_though_a_call_fails_on_the_way(tmp_path, monkeypatch):
    real, failed = os.open, []

    def fail_once(*arguments, **options):
        if failed:
            return real(*arguments, **options)
        failed.append(arguments)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with unfinished(tmp_path / "folder") as folder:
        folder.mkdir()
        (folder / "stream").touch()
        monkeypatch.setattr("os.open", fail_once)
    assert failed
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_writes_files():
    writes = re.compile(r"""\.write_(text|bytes)\(|open\([^)]*["'][wax]""")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if writes.search(path.read_text(encoding="utf-8"))
    }
    assert found == {
        "_base/atomic_write.py",
        "engines/opening.py",
    }  # the second spools a stream to a temporary file


def test_a_stream_of_another_file_is_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write, "_FORBIDDEN", ":")
    with pytest.raises(InputError, match=r"expected a name without ':', got a\.txt:b\.json"):
        check_writable(tmp_path / "a.txt:b.json")


class Left:
    """A stdout whose flush fails."""

    def __init__(self, number):
        self.number = number

    def flush(self):
        raise OSError(self.number, os.strerror(self.number))


def test_a_reader_that_leaves_is_no_fault_there_either(monkeypatch):
    monkeypatch.setattr(console, "READER_HAS_LEFT", (errno.EPIPE, errno.EINVAL))
    for number in (errno.EPIPE, errno.EINVAL):
        monkeypatch.setattr("sys.stdout", Left(number))
        with console.written():
            pass
    monkeypatch.setattr("sys.stdout", Left(errno.ENOSPC))
    with pytest.raises(InputError, match="stdout could not be written: No space left"), console.written():
        pass


def holders(path):
    """Return by what this process has a file open, or one in a folder: descriptors, and mappings into memory."""
    held = [str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    held += [line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    place = str(path.resolve())  # texts: paths of some thousand mappings take a second
    return [each for each in held if each == place or each.startswith(f"{place}{os.sep}")]


@pytest.fixture
def watched(monkeypatch):
    """Return what was open as it was replaced or removed, which Windows refuses; and how often that was looked at."""
    replace, remove, found = Path.replace, atomic_write._remove, []

    def watched_replace(self, target):
        found.append([*holders(self), *holders(target)])
        return replace(self, target)

    def watched_remove(path):
        found.append(holders(path))
        remove(path)

    monkeypatch.setattr(Path, "replace", watched_replace)
    monkeypatch.setattr(atomic_write, "_remove", watched_remove)
    return found


@pytest.mark.every(6)
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is open is asked of Linux")
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_open_when_it_is_replaced_or_removed(tmp_path, watched, name):
    table = pa.table({"y": [1, 0, 1, 0] * 50, "s": [0.9, 0.5, 0.4, 0.1] * 50})
    path = tmp_path / name
    WRITERS[name](table, path)
    format = {".csv": "csv", ".tsv": "tsv", ".json": "jsonl", ".jsonl": "jsonl", ".parquet": "parquet"}
    format = next((format[suffix] for suffix in path.suffixes if suffix in format), "arrow")
    columns = {"label": "y", "scores": ["s"], "format": format}
    with path.open("rb") as stream:
        predictions = rocscope.read(stream, **columns)
    with path.open("rb") as stream:
        rocscope.read_counts(stream, **columns)
    rocscope.calibration.recalibrate(predictions, "platt").recalibrators["s"].save(tmp_path / "platt.json")
    if format in ("csv", "tsv", "jsonl"):
        rocscope.read(path, **columns, encoding="latin-1")
    arguments = ["calibrate", path, "--format", format, "-s", "s", "--apply", tmp_path / "platt.json"]
    out = path if format in ("csv", "parquet") and path.suffix in (".csv", ".parquet") else tmp_path / "out.csv"
    assert cli.run([*map(str, arguments), "-o", str(out), "--force"]) == 0
    assert len(watched) >= 6
    assert watched == [[]] * len(watched)


WRITERS_OF_COMMANDS = {
    "report": "report scores.csv -o OUT",
    "page": "page -o OUT",
    "choose": "choose scores.csv -o OUT",
    "choose, a figure": "choose scores.csv --plot OUT",
    "campaign": "campaign scores.csv --population 9 --unit-cost 1 --unit-benefit 3 -o OUT",
    "campaign, a list": "campaign scores.csv --id y --population 9 --unit-cost 1 --unit-benefit 3 --select OUT",
    "apply": "apply plan.json scores.csv -o OUT",
    "calibrate": "calibrate scores.csv --label y --score a -o OUT",
    "calibrate, rows": "calibrate scores.csv --score a --apply recalibrator.json -o OUT",
    "gate": "gate scores.csv --guess --rules rules.toml --junit OUT",
    "monitor": "monitor plan.json scores.csv --guess --state OUT",
}
STARTS = {
    ".html": b"<!doctype html>", ".json": b"{", ".xml": b"<", ".parquet": b"PAR1", ".png": b"\x89PNG", ".pdf": b"%PDF",
    ".svg": b"<svg",
}  # fmt: skip


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", WRITERS_OF_COMMANDS)
def test_a_file_has_the_format_that_its_ending_names_or_the_hint_works(run, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text("y,a\n" + "1,.9\n0,.8\n1,.7\n0,.2\n1,.3\n0,.1\n" * 5)
    Path("rules.toml").write_text('rules = ["auc(a) >= 0.5"]\n')
    assert run("choose", "scores.csv", "-o", "plan.json")[0] == 0
    assert run("calibrate", "scores.csv", "--label", "y", "--score", "a", "-o", "recalibrator.json")[0] == 0
    arguments = WRITERS_OF_COMMANDS[kind].split()
    written = set()
    for ending in (".html", ".json", ".csv", ".PNG", ".xlsx", ".parquet", ".xml", ".gz"):
        name = f"x{ending}"
        if name in written:
            continue
        code, _, err = run(*(name if argument == "OUT" else argument for argument in arguments))
        if code:
            assert code == 2 and not Path(name).exists()
            assert f"got the ending {ending.lower()}; write " in err or "a name that ends in one of .svg" in err, err
            hint = re.search(r"; write (\S+)$", err.strip())
            name = hint[1] if hint else "x.svg"
            if name in written:
                continue
            assert run(*(name if argument == "OUT" else argument for argument in arguments))[0] == 0
        written.add(name)
        content, suffix = Path(name).read_bytes(), Path(name).suffix.lower()
        start = STARTS.get(suffix, content[: content.find(b",") + 1])
        assert content.lower().startswith(start.lower()), (name, content[:20])
        if suffix == ".csv":
            assert content and not re.search(rb"[<{]|PNG|PAR1", content[:100])
