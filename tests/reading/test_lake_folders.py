"""Folders of Delta Lake, Iceberg and Hudi hold files of deleted rows too: they are refused, never read as they lie."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope.errors import EngineError

LAYOUTS = {
    "Delta Lake": ("_delta_log/00000000000000000001.json", "part-{}.parquet"),
    "Delta Lake, partitioned": ("_delta_log/00000000000000000001.json", "day=2026-11-0{}/part.parquet"),
    "Iceberg": ("metadata/00001-a1b2.metadata.json", "data/part-{}.parquet"),
    "Hudi": (".hoodie/hoodie.properties", "part-{}.parquet"),
}


@pytest.fixture(params=LAYOUTS)
def lake(request, tmp_path):
    """A table of which one file was replaced by another that turns its labels around."""
    marker, part = LAYOUTS[request.param]
    table = tmp_path / "table"
    for version in (0, 1):
        file = table / part.format(version)
        file.parent.mkdir(parents=True, exist_ok=True)
        label = (np.arange(400) % 2) ^ version
        pq.write_table(pa.table({"label": label, "score": np.arange(400) % 2 / 2}), file)
    (table / marker).parent.mkdir(parents=True)
    (table / marker).write_text("{}")
    return request.param.split(",")[0], table


def test_a_folder_a_pattern_and_a_single_file_are_refused(lake):
    kind, table = lake
    for source in (table, str(table / "**" / "*.parquet"), next(table.rglob("*.parquet"))):
        with pytest.raises(EngineError, match=rf"got files of a {kind} table.*read one snapshot and pass it on"):
            rs.read(source, label="label", scores=["score"], format="parquet")
        with pytest.raises(EngineError, match=kind):
            rs.read_counts(source, label="label", scores=["score"], format="parquet")


def test_the_command_line_refuses_them_in_one_line(lake, run):
    kind, table = lake
    code, out, err = run("summary", next(table.rglob("*.parquet")), "--label", "label", "--score", "score")
    assert code == 2
    assert not out
    assert kind in err
    assert len(err.strip().splitlines()) == 1


def test_folders_beside_a_table_are_read(tmp_path):
    pq.write_table(pa.table({"label": [0, 1], "score": [0.1, 0.9]}), tmp_path / "a.parquet")
    (tmp_path / "other" / "_delta_log").mkdir(parents=True)
    assert rs.auc(rs.read(tmp_path / "a.parquet", label="label", scores=["score"])) == 1
