"""read_counts on a real Spark in this machine's JVM: the same counts as from arrays, and errors in one line."""

import re
import shutil
import sys
from decimal import Decimal
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from decisions.plans.test_tampering import plans
from rocscope.engines import spark as engine, spark_tasks
from rocscope.errors import ColumnError, EngineError, InputError, LabelError, ScoreError, ShapeError, WeightError
from rocscope.geometry.hull import pool
from rocscope.ranges.binned import BinnedCounts
from strategies import counted, in_parts

pytest.importorskip("pyspark", reason="pyspark is not installed (extra: spark)")
pytestmark = [
    # Spark leaves the sockets that it fetches rows through to be collected; older ones are heard.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 3_000
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "OFF",
    # A JVM of a minute is sooner done when it compiles once and lightly, verifies no classes, and runs no threads to
    # collect garbage.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory, request):
    """Spark on two cores, on loopback only."""
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine, which Spark needs")
    from pyspark.sql import SparkSession

    folder = str(tmp_path_factory.mktemp("spark"))
    settings = SETTINGS | {"spark.local.dir": folder, "spark.sql.warehouse.dir": folder}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", str(request.config.rootpath / "src"), prepend=":")
        spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        yield spark
        spark.stop()


@pytest.fixture(scope="module")
def table():
    """Every type of score, label and weight that Spark has and we take."""
    generator = np.random.default_rng(0)
    y = generator.random(ROWS) < 0.3
    score = generator.standard_normal(ROWS) + y
    return {
        "y": y.astype(np.int8),
        "name": np.where(y, "yes", "no"),
        "double": score,
        "float": score.astype(np.float32),
        "ties": np.round(score, 1),
        "short": np.round(score * 5).astype(np.int16),
        "long": 2**53 + np.round(score * 9).astype(np.int64),
        "flag": score > 0,
        "weight": generator.integers(0, 4, ROWS),
        "segment": generator.choice(["north", "south", "west"], ROWS),
    }


@pytest.fixture(scope="module")
def frame(session, table, tmp_path_factory):
    """The same in Spark, in three files."""
    folder = tmp_path_factory.mktemp("rows")
    decimals = pa.array([Decimal(f"{score:.2f}") for score in table["double"]], pa.decimal128(9, 2))
    holes = pa.array(np.where(np.arange(ROWS) % 7, table["double"], np.nan), mask=np.arange(ROWS) % 11 == 0)
    rows = pa.table(table | {"decimal": decimals, "holes": holes, "wide": decimals.cast(pa.decimal128(38, 9))})
    for part in range(3):
        pq.write_table(rows.slice(part * 1_000, 1_000), folder / f"{part}.parquet")
    return session.read.parquet(str(folder))


def counts_of(table, model, rows=slice(None), **options):
    return rs.ThresholdCounts.from_scores(table["y"][rows], table[model][rows], **options)


def test_models_of_every_type_in_one_job_are_counted_as_from_arrays(frame, table):
    models = ["double", "float", "ties", "short", "long", "flag"]
    found = rs.read_counts(frame, label="y", scores=[*models, "decimal"])
    assert list(found) == [*models, "decimal"]
    for model in models:
        expected = counts_of(table, model)
        assert found[model] == expected
        assert found[model].threshold.dtype == expected.threshold.dtype
    decimals = [float(f"{score:.2f}") for score in table["double"]]
    assert found["decimal"] == rs.ThresholdCounts.from_scores(table["y"], decimals)
    assert (found.source.name, found.source.rows_read, found.source.rows_dropped) == ("Spark DataFrame", ROWS, 0)


DECIMALS = {
    "zeros at the end": ("decimal(38,18)", ["0.5", "0.25", "0.1", "12345.678"]),
    "large and small": ("decimal(38,18)", ["0.123456789012345", "5.5", "123456789012.1", "-1"]),
    "64 bits": ("decimal(38,0)", [2**53 + 1, 2**53, -(2**63), 2**63 - 1]),
    "unsigned": ("decimal(38,0)", [2**63 + 1, 2**63, 0, 2**64 - 1]),
    "above 64 bits": ("decimal(38,0)", [2**64, 2**70, 3, -(2**80)]),
    "16 digits": ("decimal(38,18)", ["0.1234567890123456", "0.5", "0.25", "1"]),
    "one beyond float64": ("decimal(38,0)", [2**64 + 1, 2**64, 3, 5]),
    "no common type": ("decimal(38,0)", [2**53 + 1, 2**53, 2**64, -1]),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("case", DECIMALS)
def test_decimals_are_read_as_from_parquet_or_refused_with_the_same_reason(session, tmp_path, case):
    kind, values = DECIMALS[case]
    scale = int(kind.rpartition(",")[2][:-1])
    table = pa.table({"y": [1, 0, 1, 0], "s": pa.array([Decimal(value) for value in values], pa.decimal128(38, scale))})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=2)
    frame = session.read.parquet(str(tmp_path / "rows.parquet"))
    assert dict(frame.dtypes)["s"] == kind
    asked = {"label": "y", "scores": "s"}
    try:
        expected = rs.read_counts(tmp_path / "rows.parquet", **asked)["s"]
    except ScoreError as error:
        assert case in ("16 digits", "one beyond float64", "no common type")
        reason = re.sub(" in row .", "", str(error).partition("rows.parquet")[2])
        with pytest.raises(ScoreError, match=f"^score 's' of Spark DataFrame{re.escape(reason)}$"):
            rs.read_counts(frame.repartition(1), **asked)
        return
    # Python compares whole numbers and floats exactly, and rounds a decimal text to the nearest float.
    oracle = values if scale == 0 else map(float, values)
    assert expected.threshold.tolist() == sorted(oracle, reverse=True)
    found = rs.read_counts(frame.repartition(2), **asked)["s"]
    assert found == expected
    assert found.threshold.dtype == expected.threshold.dtype


def test_decimals_are_labels_and_weights_of_any_width(frame, table):
    wider = frame.selectExpr("*", "cast(y as decimal(38,18)) AS label", "cast(weight as decimal(38,0)) AS copies")
    found = rs.read_counts(wider, label="label", scores="wide", weight="copies")["wide"]
    decimals = [float(f"{score:.2f}") for score in table["double"]]
    assert found == rs.ThresholdCounts.from_scores(table["y"], decimals, sample_weight=table["weight"])


def test_weights_segments_and_named_labels(frame, table):
    asked = {"label": "name", "scores": {"a": "ties", "b": "short"}, "pos_label": "yes"}
    found = rs.read_counts(frame, weight="weight", segment="segment", **asked)
    for name, model in asked["scores"].items():
        assert list(found[name]) == ["north", "south", "west"]
        for segment, counts in found[name].items():
            rows = table["segment"] == segment
            assert counts == counts_of(table, model, rows, sample_weight=table["weight"][rows])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("limit", "weight"), [("MOST_GROUPS", None), ("MOST_GROUPS", "weight"), ("FEW_GROUPS", "weight")]
)
def test_more_segments_than_the_cluster_bins_come_to_the_driver(frame, table, monkeypatch, limit, weight):
    asked = {"label": "name", "pos_label": "yes", "scores": ["ties", "short"], "segment": "long", "weight": weight}
    where = "segment != 'west' AND weight > 0"
    monkeypatch.setattr(engine, limit, 3)
    monkeypatch.setattr(engine, "MOST_VALUES", 10**9 if limit == "FEW_GROUPS" else 0)
    monkeypatch.setattr(engine, "answer", None)
    found = rs.read_counts(frame, where=where, **asked)
    here = (table["segment"] != "west") & (table["weight"] > 0)
    local = {name: column[here] for name, column in table.items()}
    expected = rs.read_counts(local, **asked)
    for model in asked["scores"]:
        assert list(found[model]) == list(expected[model])
        assert dict(found[model]) == dict(expected[model])
        np.testing.assert_array_equal(found[model].auc(), expected[model].auc())
    assert (found.source.name, found.source.where) == ("Spark DataFrame", where)
    assert found.source.rows_read == here.sum()


def test_rows_are_filtered_by_sparks_sql_and_incomplete_ones_left_out(frame, table):
    found = rs.read_counts(frame, label="y", scores="holes", where="segment = 'west'", missing="drop")
    here = table["segment"] == "west"
    complete = here & (np.arange(ROWS) % 7 != 0) & (np.arange(ROWS) % 11 != 0)
    assert found["holes"] == counts_of(table, "double", complete)
    assert found.source.rows_read == here.sum()
    assert found.source.rows_dropped == (here & ~complete).sum()
    assert found.source.where == "segment = 'west'"


@pytest.fixture
def collected(frame):
    """What the driver was sent: the frames and their rows."""
    seen, collect = [], type(frame).collect

    def spy(self):
        rows = collect(self)
        seen.append((self, rows))
        return rows

    with mock.patch.object(type(frame), "collect", spy):
        yield seen


@pytest.mark.slow(reason="what starts other programs")
def test_many_levels_come_back_as_few_bins_through_one_shuffle(frame, table, collected):
    with mock.patch.multiple(engine, MOST_LEVELS=100, MOST_BINS=20, _LEVELS_PER_RANGE=500):
        found = rs.read_counts(frame, label="y", scores="double")["double"]
    exact = counts_of(table, "double")
    assert isinstance(found, BinnedCounts)
    assert found.auc_fraction() == exact.pairs().fraction()
    assert found.holds_hull
    assert set(pool(exact).threshold.tolist()) <= set(found.low.tolist())
    assert all(found.at(low) == exact.at(low) for low in found.low.tolist())
    survey, ranges = collected
    plan = ranges[0]._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
    assert plan.count("Exchange") == 1
    assert len(ranges[1]) == 6
    assert sum(len(row.sample or b"") for row in survey[1]) < ROWS * 8 / 20
    assert not {"score", "pos", "neg"} & set(survey[0].columns)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"scores": "array(double)"}, ScoreError, r"array<double>; extract one element first: column\[1\]"),
        ({"scores": "name"}, ScoreError, "got values of type string; cast the column to double first"),
        ({"scores": "nothing"}, ColumnError, "one of .*got 'nothing'"),
        ({"label": "array(double)"}, LabelError, "expected numbers, text or truth values"),
        ({"weight": "wide"}, WeightError, r"decimal\(38,9\); scale the weights to whole numbers, and cast"),
        ({"weight": "double"}, WeightError, "scale the weights to whole numbers, and cast the column to bigint"),
        ({"segment": "float"}, InputError, "got values of type float; cast the column to string first"),
        ({"format": "csv"}, InputError, "format: expected no value for a Spark DataFrame"),
        ({"memory": 10**9}, InputError, "Spark's settings"),
        ({"where": "nope > 1"}, EngineError, "`nope` cannot be resolved"),
        ({"where": "s > > 1"}, EngineError, "Syntax error at or near '>'"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_any_work(frame, collected, asked, error, words):
    wider = frame.selectExpr("*", "array(double) as `array(double)`")
    with pytest.raises(error, match=words) as raised:
        rs.read_counts(wider, **({"label": "y", "scores": "double"} | asked))
    assert "\n" not in str(raised.value)
    assert not collected


@pytest.mark.slow(reason="what starts other programs")
def test_vectors_are_refused_with_the_way_to_take_one_element(frame, table):
    from pyspark.ml.functions import array_to_vector, vector_to_array

    scored = frame.selectExpr("y", "array(-ties, ties) as both").select("y", array_to_vector("both").alias("raw"))
    with pytest.raises(ScoreError, match=r"type vector; extract one .*vector_to_array\(column\)\[1\]"):
        rs.read_counts(scored, label="y", scores="raw")
    taken = scored.withColumn("raw.1", vector_to_array("raw")[1])
    assert rs.read_counts(taken, label="y", scores="raw.1")["raw.1"] == counts_of(table, "ties")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("expression", "asked", "error", "words"),
    [
        ("if(double > 3, 7, y) as y2", {"label": "y2"}, LabelError, "label 'y2' of Spark DataFrame.*0, 1, 7"),
        ("holes as a", {"scores": "a"}, ScoreError, "missing or infinite; pass missing='drop' to drop such rows"),
        ("double as a", {"scores": "a", "where": "y > 5"}, ShapeError, "at least one row, got no rows"),
        ("raise_error('no luck') * 1.0D as a", {"scores": "a"}, EngineError, "no luck"),
    ],
)
def test_what_rows_turn_out_to_hold_is_told_in_one_line(session, frame, expression, asked, error, words):
    with pytest.raises(error, match=words) as raised:
        rs.read_counts(frame.selectExpr("*", expression), **({"label": "y", "scores": "double"} | asked))
    assert "\n" not in str(raised.value)
    assert session.sparkContext._jsc.getPersistentRDDs().isEmpty()


@pytest.mark.slow(reason="what starts other programs")
def test_workers_that_lack_rocscope_are_named(frame):
    lacking = mock.patch.object(spark_tasks, "rank_rows", lambda batches, layout: exec("import nothing_like_it"))
    words = "^Spark DataFrame: its Python workers cannot import nothing_like_it; docs/guide/engines/spark.md"
    with lacking, pytest.raises(EngineError, match=words):
        rs.read_counts(frame, label="y", scores="double")


def test_a_stopped_session_is_named(session, frame, monkeypatch):
    monkeypatch.setattr(session.sparkContext, "_jsc", None)  # as `stop` leaves it
    with pytest.raises(EngineError, match="expected a running Spark session, got a stopped session"):
        rs.read_counts(frame, label="y", scores="double")


@pytest.mark.slow(reason="what starts other programs")
def test_the_session_keeps_its_settings(session, frame):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    session.conf.set(name, "777")
    done = []
    rs.read_counts(frame, label="y", scores="ties", progress=lambda *rows: done.append(rows))
    assert session.conf.get(name) == "777"
    assert done == [(ROWS, ROWS)]


@pytest.mark.slow(reason="what starts other programs")
@in_parts(2, 500)
def test_a_plan_chooses_the_same_people_from_spark(cases, part, session):
    rng = np.random.default_rng([19, part])
    for number in counted(cases):
        pilot, made = plans(rng)
        plan, size = made[number % len(made)], int(rng.integers(5, 60))
        scores = {name: rng.choice(column, size) for name, column in pilot.scores.items()}
        ids, part_of = rng.permutation(10 * size)[:size], rng.choice(np.unique(pilot.segment), size)
        expected = plan.select(scores, ids, **({"segment": part_of} if plan.by_segment else {}))
        rows = list(zip(ids.tolist(), part_of.tolist(), *(each.tolist() for each in scores.values()), strict=True))
        listed = session.createDataFrame(rows, ["client", "part", *scores])
        found = plan.apply(listed, "client", **({"segment": "part"} if plan.by_segment else {}))
        acted = found.columns.get("action", np.repeat("act", len(found))) == "act"
        assert sorted(found.ids[acted].tolist()) == sorted(expected.tolist())
