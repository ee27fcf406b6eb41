"""Databases of DuckDB and SQLite: a table or view, by the library and the command line, never written to."""

import hashlib
import sqlite3
from contextlib import closing

import duckdb
import pytest

import rocscope as rs
from rocscope.errors import EngineError, InputError

LABEL = [0, 1, 1, 0, 1, 0]
HERE = rs.Predictions(LABEL, {"score": [0.1, 0.9, 0.8, 0.2, 0.3, 0.3]})
BOTH = {"label": "label", "scores": ["score"]}
TABLES = (
    'CREATE TABLE scores (label INTEGER, score DOUBLE PRECISION, "an id" INTEGER)',
    "CREATE TABLE other (a INTEGER)",
    'CREATE VIEW recent AS SELECT * FROM scores WHERE "an id" < 4',
)
FILLED = "INSERT INTO scores VALUES (0, 0.1, 0), (1, 0.9, 1), (1, 0.8, 2), (0, 0.2, 3), (1, 0.3, 4), (0, 0.3, 5)"


def _filled(folder, kind, tables=TABLES):
    path = folder / f"data.{kind}"
    opened = duckdb.connect(path) if kind == "duckdb" else sqlite3.connect(path)
    with closing(opened) as connection:
        for statement in (*tables, FILLED):
            connection.execute(statement)
        connection.commit() if kind == "sqlite" else None
    return path


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request, tmp_path):
    return _filled(tmp_path, request.param)


def test_a_table_and_a_view_are_read_and_left_alone(database):
    before = hashlib.sha256(database.read_bytes()).digest()
    found = rs.read(database, table="scores", **BOTH)
    assert found.y_true.tolist() == HERE.y_true.tolist()
    assert found.scores["score"].tolist() == HERE.scores["score"].tolist()
    assert rs.read_counts(database, table="scores", **BOTH)["score"] == HERE.counts()
    assert rs.read(database, table="recent", **BOTH).n == 4
    assert rs.read(database, table="scores", where='"an id" < 3 AND score > .5', **BOTH).n == 2
    assert hashlib.sha256(database.read_bytes()).digest() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_without_a_name_the_only_table_is_read(tmp_path):
    for kind in ("duckdb", "sqlite"):
        assert rs.read(_filled(tmp_path, kind, TABLES[:1]), **BOTH).n == 6


def test_tables_are_listed_where_none_is_named(database):
    with pytest.raises(
        InputError, match=r"^table: expected .*'other'.*'scores'.*got no name; pass its name as table= \(--table\)"
    ):
        rs.read(database, **BOTH)
    with pytest.raises(InputError, match=r"did you mean 'scores'\?\), got 'score'"):
        rs.read(database, table="score", **BOTH)
    with pytest.raises(InputError, match="table: expected no value for csv files"):
        rs.read(_csv(database.parent), table="scores", **BOTH)


def _csv(folder):
    path = folder / "a.csv"
    path.write_text("label,score\n1,2\n0,1\n")
    return path


def test_the_command_line_reads_a_table(database, run):
    code, out, err = run("summary", database, "--table", "scores", "-l", "label", "-s", "score", "--json")
    assert code == 0, err
    assert '"n_pos": 3' in out
    code, _, err = run(database, "--table", "recent")
    assert code == 0, err
    code, out, err = run("summary", database, "-l", "label", "-s", "score")
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_other_files_and_paths_of_views_are_refused(tmp_path):
    for kind in ("duckdb", "sqlite"):
        with pytest.raises(EngineError, match="database"):
            rs.read(_csv(tmp_path), format=kind, **BOTH)
    path = _filled(tmp_path, "duckdb", [*TABLES, f"CREATE VIEW away AS FROM read_csv('{_csv(tmp_path)}')"])
    with pytest.raises(EngineError, match="Cannot access file"):
        rs.read(path, table="away", **BOTH)


def test_a_schema_is_named_before_its_table(tmp_path):
    path = _filled(
        tmp_path, "duckdb", [*TABLES, "CREATE SCHEMA old", "CREATE TABLE old.scores AS SELECT 1 AS label, 2 AS score"]
    )
    assert rs.read(path, table="old.scores", **BOTH).n == 1


def test_values_of_sqlite_keep_what_they_are(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("CREATE TABLE t (label, score, mixed)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(0, 2**60 + 1, 0.5), (1, 2**60, "x"), (1, None, 1)])
        connection.commit()
    found = rs.read(tmp_path / "a.sqlite", missing="drop", **BOTH)
    assert found.scores["score"].tolist() == [2**60 + 1, 2**60]
    with pytest.raises(EngineError, match=r"a\.sqlite: "):
        rs.read(tmp_path / "a.sqlite", label="label", scores="mixed")
