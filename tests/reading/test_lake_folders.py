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
        with pytest.raises(EngineError, match=rf"got files of a {kind} table.*read a snapshot of the table"):
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


ROWS = pa.table({"label": [0, 1, 1, 0, 1], "score": [0.1, 0.9, 0.8, 0.2, 0.3], "id": range(5)})
KEPT = rs.Predictions([0, 1, 1, 0], {"score": [0.1, 0.9, 0.8, 0.2]})  # of id < 4


def _require_same(table):
    found = rs.read(table, label="label", scores=["score"])
    assert found.y_true.tolist() == KEPT.y_true.tolist()
    assert found.scores["score"].tolist() == KEPT.scores["score"].tolist()
    assert rs.read_counts(table, label="label", scores=["score"])["score"] == KEPT.counts()
    assert rs.read(table, label="label", scores=["score"], where="id < 2").n == 2


def test_a_delta_table_is_read_at_its_snapshot(tmp_path):
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")
    deltalake.write_deltalake(tmp_path / "table", ROWS)
    table = deltalake.DeltaTable(tmp_path / "table")
    table.delete("id >= 4")
    _require_same(table)
    _require_same(table.to_pyarrow_dataset())
    table.load_as_version(0)
    assert rs.read(table, label="label", scores=["score"]).n == 5
    with pytest.raises(EngineError, match=r"rocscope\.read\(deltalake\.DeltaTable\(folder\), …\)"):
        rs.read(tmp_path / "table", label="label", scores=["score"])


def test_an_iceberg_table_is_read_at_its_snapshot(tmp_path):
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
    sql = pytest.importorskip("pyiceberg.catalog.sql", reason="pyiceberg lacks SQLAlchemy", exc_type=ImportError)
    from pyiceberg.table import StaticTable

    catalog = sql.SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("of")
    table = catalog.create_table("of.scores", schema=ROWS.schema)
    table.append(ROWS)
    table.delete("id >= 4")
    _require_same(table)
    _require_same(table.scan())
    _require_same(StaticTable.from_metadata(table.metadata_location))
    catalog.close()


def test_an_arrow_dataset_is_read(tmp_path):
    import pyarrow.dataset as ds

    pq.write_table(ROWS.slice(0, 4), tmp_path / "a.parquet")
    _require_same(ds.dataset(tmp_path / "a.parquet"))
