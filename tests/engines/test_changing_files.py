"""Sources that change, never end, or hold damaged pages are refused; none gives a number of some of its rows."""

import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope import engines
from rocscope.engines import opening
from rocscope.errors import EngineError, InputError

LINES = "y,s\n" + "1,.9\n0,.1\n" * 500


def grown(path):
    with path.open("a") as file:
        file.write("1,.5\n")


def shrunk(path):
    os.truncate(path, len(LINES[:504]))


def replaced(path):
    facts = path.stat()
    other = path.with_name("other.csv")
    other.write_text(LINES.replace(".9", ".8"))
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", [grown, shrunk, replaced])
@pytest.mark.parametrize("call", [rs.read, rs.read_counts])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, change, call):
    path = tmp_path / "rows.csv"
    path.write_text(LINES)
    whole = opening.open_csv

    def changing(*arguments):
        opened = whole(*arguments)
        change(path)
        return opened

    monkeypatch.setitem(opening._OPENERS, "csv", changing)
    with pytest.raises(
        EngineError, match=r"rows\.csv: .*that does not change while it is read, got a file that changed; read it again"
    ):
        call(path, label="y", scores="s")
    monkeypatch.undo()
    assert call(path, label="y", scores="s")


class Endless(io.RawIOBase):
    """A stream without an end, which remembers how much was taken."""

    def __init__(self, content):
        self.content, self.taken = content, 0

    def read(self, size=-1):
        self.taken += size
        assert self.taken < 2**26, "it is read on and on"
        return (self.content * (size // len(self.content) + 1))[:size]


@pytest.mark.parametrize(("format", "words"), [("csv", "text in lines"), ("tsv", "text in lines"), ("jsonl", "JSON")])
def test_an_endless_stream_of_one_line_is_refused_after_two_megabytes(format, words):
    stream = Endless(b"\0")
    with pytest.raises(EngineError, match=rf"expected {words}.*, got 2,097,152 bytes without a"):
        rs.read(stream, label="y", scores="s", format=format)
    assert stream.taken < 2**22


def test_an_endless_stream_leaves_room_on_the_disk(monkeypatch):
    free = iter(range(2**28 + 2**23, 0, -(2**20)))
    monkeypatch.setattr(opening.shutil, "disk_usage", lambda folder: opening.shutil._ntuple_diskusage(0, 0, next(free)))
    with pytest.raises(EngineError, match=r"temporary file in .*: no disk space left after .* bytes; set TMPDIR"):
        rs.read(Endless(b"1,.5\n"), label="y", scores="s", format="csv")


@pytest.fixture(params=[{}, {"data_page_version": "2.0", "use_dictionary": False}], ids=["v1", "v2"])
def damaged(tmp_path, request):
    """Write a table with page checksums, and the same file with a bit flipped in a page of scores."""
    rng = np.random.default_rng(0)
    table = pa.table({"y": np.arange(5000) % 2, "s": rng.random(5000), "region": ["n", "s"] * 2500})
    whole, other = tmp_path / "whole.parquet", tmp_path / "damaged.parquet"
    pq.write_table(table, whole, write_page_checksum=True, compression="none", **request.param)
    column = pq.read_metadata(whole).row_group(0).column(1)
    content = bytearray(whole.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start + column.total_compressed_size // 2] ^= 1
    other.write_bytes(content)
    return whole, other


@pytest.mark.parametrize("where", [None, "region = 'n'"])
@pytest.mark.parametrize("call", [rs.read, rs.read_counts])
def test_a_flipped_bit_in_a_page_with_a_checksum_is_refused(damaged, call, where):
    whole, other = damaged
    assert call(whole, label="y", scores="s", where=where)
    with pytest.raises(EngineError, match=r"damaged.parquet: .*could not verify page integrity"):
        call(other, label="y", scores="s", where=where)


def test_pages_without_checksums_are_not_read_twice(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": [0, 1], "s": [0.1, 0.9]}), path)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    assert rs.read(path, label="y", scores="s", where="s > 0").n == 2


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_header_above_the_limit_of_a_field_is_read(tmp_path, delimiter):
    names = ["y", "s", *(f"attribute {number:0500}" for number in range(300))]
    rows = [delimiter.join([first, ".5", *["0"] * 300]) for first in "10"]
    (tmp_path / "wide.csv").write_text("\n".join([delimiter.join(names), *rows]) + "\n")
    assert rs.read(tmp_path / "wide.csv", label="y", scores="s").n == 2


def test_a_header_longer_than_the_start_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("rocscope.engines.formats.LOOKED_AT", 100)
    names = ["y", "s", *(f"attribute {number}" for number in range(40))]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *[",".join([y, *["1"] * 41]) for y in "10"]]))
    assert engines.describe(tmp_path / "wide.csv").rows == 2
    with opening.open_source(tmp_path / "wide.csv") as opened:
        assert list(opened.columns) == names


def test_a_long_condition_is_refused_at_once():
    with pytest.raises(InputError, match="constraint: expected at most 1,000 characters, got 50,008 characters"):
        rs.choose([0, 1], [0.1, 0.9], subject_to="tpr" + " " * 50_000 + ">= .9")
