"""Lazy frames and a real database against the same rows ranked here."""

import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import postgres
import rocscope as rs
from rocscope.errors import ColumnError, EngineError, InputError, LabelError, ScoreError, ShapeError, WeightError


@pytest.fixture(scope="module")
def database():
    """Connect to a PostgreSQL server that lives as long as these tests."""
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (pip install 'rocscope[sql]')")
    programs = postgres.find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server on this machine (apt-get install postgresql)")
    with postgres.server(programs) as port:
        connection = ibis.postgres.connect(host="127.0.0.1", port=port, user="tester", database="postgres")
        yield connection
        connection.disconnect()


def _polars(table, request):
    return pl.from_arrow(table).lazy()


def _dask(table, request):
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return frames.from_pandas(table.to_pandas(types_mapper=_pandas_type), npartitions=3)


def _pandas_type(kind):
    import pandas as pd

    return pd.ArrowDtype(kind)


def _postgres(table, request):
    database = request.getfixturevalue("database")
    name = f"t{len(database.list_tables())}"
    database.create_table(name, table)
    return database.table(name)


WAYS = {"Polars": _polars, "Dask": _dask, "PostgreSQL": _postgres}
every_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def lazily(request):
    """Put a table of Arrow's where a way keeps it."""

    def put(way, table):
        return WAYS[way](table, request)

    return put


def _table(n=400, seed=0, **columns):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    table = {
        "y": y.astype(np.int16),
        "tied": rng.integers(-3, 4, n).astype(np.int32) + y,
        "single": (rng.normal(size=n) + y).astype(np.float32),
        "double": np.round(rng.normal(size=n) + y, 2) + 0.0,
        "long": rng.integers(-5, 5, n) * 10**18 // 7 + y,
        "w": rng.integers(0, 4, n).astype(np.int16),
        "region": np.where(rng.random(n) < 0.3, "north", "south"),
    }
    return pa.table(table | columns)


SCORES = ["tied", "single", "double", "long"]


def _ranked(table, score, rows=slice(None), weight=None):
    columns = [table.column(name).to_numpy()[rows] for name in ("y", score)]
    weights = None if weight is None else table.column(weight).to_numpy()[rows]
    return rs.ThresholdCounts.from_scores(*columns, sample_weight=weights)


@every_way
def test_counts_are_those_of_the_rows(way, lazily):
    table = _table()
    found = rs.read_counts(lazily(way, table), label="y", scores=SCORES)
    for score in SCORES:
        assert found[score] == _ranked(table, score)
        assert found[score].threshold.dtype == table.column(score).to_numpy().dtype
    assert (found.source.rows_read, found.source.rows_dropped) == (400, 0)


@every_way
def test_weights_and_segments(way, lazily):
    table = _table()
    found = rs.read_counts(lazily(way, table), label="y", scores={"a": "tied"}, weight="w", segment="region")
    assert list(found) == ["north", "south"]
    for region, counts in found.items():
        rows = table.column("region").to_numpy(zero_copy_only=False) == region
        assert counts == _ranked(table, "tied", rows, "w")


@pytest.mark.every(3)
@every_way
def test_segments_are_summed_by_one_query(way, lazily):
    table = _table()
    rng = np.random.default_rng(1)
    table = table.append_column("user", pa.array(rng.integers(0, 60, 400)))
    y, user = (table.column(name).to_numpy() for name in ("y", "user"))
    found = rs.read_counts(lazily(way, table), label="y", scores=["double", "tied"], segment="user")
    for score in ("double", "tied"):
        expected = rs.Predictions(y, table.column(score).to_numpy(), segment=user).counts(by="segment")
        assert list(found[score]) == list(expected)
        assert all(found[score][name] == expected[name] for name in expected)
        assert found[score].pooled() == expected.pooled()
        for ask in ("auc", "ks", "average_precision", "n_pos", "n_neg"):
            ours, theirs = (getattr(each, ask) for each in (found[score], expected))
            np.testing.assert_array_equal(*(each() if callable(each) else each for each in (ours, theirs)))


@pytest.mark.every(3)
@every_way
def test_missing_values_are_refused_or_left_out(way, lazily):
    table = _table()
    score = [None if row == 7 else value for row, value in enumerate(table.column("double").to_pylist())]
    score[3] = float("nan")
    table = table.set_column(3, "double", pa.array(score))
    assert table.column_names[3] == "double"
    with pytest.raises(ScoreError, match="finite value in every row, got 2 missing or infinite scores among 400 rows"):
        rs.read_counts(lazily(way, table), label="y", scores=["double", "tied"])
    found = rs.read_counts(lazily(way, table), label="y", scores=["double", "tied"], missing="drop")
    rows = ~np.isin(np.arange(400), [3, 7])
    assert found["tied"] == _ranked(table, "tied", rows)
    assert found["double"] == _ranked(table, "double", rows)
    assert found.source.rows_dropped == 2


@pytest.mark.every(5)
@every_way
@pytest.mark.parametrize("tol", [1e-2, 0])
def test_ranges_instead_of_scores(way, lazily, tol):
    table = _table()
    found = rs.read_counts(lazily(way, table), label="y", scores=SCORES, tol=tol)
    for score in SCORES:
        exact = _ranked(table, score)
        low, high = found[score].auc_bounds
        assert low <= rs.auc(exact) <= high
        if isinstance(found[score], rs.ThresholdCounts):
            assert found[score] == exact
        else:
            assert high - low <= tol + 1e-15
            assert np.isin(found[score].threshold, exact.threshold).all()


@every_way
def test_text_labels_truth_values_and_decimals(way, lazily):
    if way == "Dask":
        pytest.skip("Dask: pandas holds decimals as objects here")
    table = _table()
    bought = np.where(table.column("y").to_numpy(), "yes", "no")
    cents = pa.compute.cast(pa.compute.round(table.column("double"), 2), pa.decimal128(9, 2))
    table = table.append_column("bought", pa.array(bought)).append_column("cents", cents)
    table = table.append_column("truth", pa.array(bought == "yes"))
    source = lazily(way, table)
    exact = _ranked(table, "double")
    assert rs.read_counts(source, label="bought", scores="cents", pos_label="yes")["cents"] == exact
    assert rs.read_counts(source, label="truth", scores="double")["double"] == exact
    with pytest.raises(LabelError, match="pos_label"):
        rs.read_counts(source, label="bought", scores="cents")


BAD = {
    "a third label": ({"label": "tied", "scores": "single"}, LabelError, "label 'tied' of .* table: "),
    "text for scores": ({"label": "y", "scores": "region"}, ScoreError, "expected numbers, got values of type String"),
    "no such column": ({"label": "y", "scores": "singel"}, ColumnError, "'single'"),
    "a condition in SQL": ({"label": "y", "scores": "tied", "where": "w > 1"}, InputError, "filter the table itself"),
    "bins of weights": (
        {"label": "y", "scores": "tied", "weight": "w", "tol": 0.1},
        InputError,
        "tol and weight: expected only one",
    ),
    "too many scores": ({"label": "y", "scores": "single", "memory": 640}, EngineError, "at most 10 distinct .*tol="),
    "negative weights": ({"label": "y", "scores": "single", "weight": "tied"}, WeightError, "weights of at least 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_questions(case, lazily):
    arguments, error, message = BAD[case]
    for way in ("Polars", "PostgreSQL"):
        with pytest.raises(error, match=message) as caught:
            rs.read_counts(lazily(way, _table()), **arguments)
        assert "\n" not in str(caught.value)


@every_way
def test_no_rows(way, lazily):
    with pytest.raises(ShapeError, match="at least one row, got no rows"):
        rs.read_counts(lazily(way, _table().slice(0, 0)), label="y", scores="tied")


@pytest.mark.slow(reason="what starts other programs")
def test_a_database_that_goes_away(database):
    import ibis

    programs = postgres.find_programs()
    with postgres.server(programs) as port:
        connection = ibis.postgres.connect(host="127.0.0.1", port=port, user="tester", database="postgres")
        connection.create_table("t", _table())
        source = connection.table("t")
        assert rs.read_counts(source, label="y", scores="tied")["tied"].n == 400
    with pytest.raises(EngineError, match=r"^ibis table: .*connection") as caught:
        rs.read_counts(source, label="y", scores="tied")
    assert "\n" not in str(caught.value)
    connection.con.close()


def test_rows_stay_where_they_are(database, monkeypatch):
    """What is fetched has at most as many entries as there are distinct scores, labels or totals."""
    fetched = []
    database.create_table("large", _table(5_000))
    source = database.table("large")
    original = type(database).to_pyarrow_batches

    def watched(self, *args, **kwargs):
        reader = original(self, *args, **kwargs)
        table = reader.read_all()
        fetched.append(table.num_rows)
        return table.to_reader()

    monkeypatch.setattr(type(database), "to_pyarrow_batches", watched)
    counts = rs.read_counts(source, label="y", scores="tied")["tied"]
    assert fetched
    assert max(fetched) == len(counts) < 10


def test_numeric_nan_of_postgres_is_missing(database):
    database.raw_sql("CREATE TABLE with_nan AS SELECT * FROM (VALUES (1, 0.5), (0, 'NaN'::numeric), (0, 0.25)) t(y, s)")
    source = database.table("with_nan")
    for read in (rs.read, rs.read_counts):
        with pytest.raises(ScoreError, match=r"1 missing or infinite score"):
            read(source, label="y", scores="s")
    assert rs.read(source, label="y", scores="s", missing="drop").scores["s"].tolist() == [0.5, 0.25]
    assert rs.read_counts(source, label="y", scores="s", missing="drop")["s"].n == 2
