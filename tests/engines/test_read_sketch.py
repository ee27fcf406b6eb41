"""read_sketch: any source in one pass, checked as `read_counts` checks it, and the same counts where they fit."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope.errors import LabelError, ScoreError, WeightError
from sketch_cases import bounds_hold


def rows(n=300, seed=0):
    generator = np.random.default_rng(seed)
    y = (generator.random(n) < 0.4).astype(np.int8)
    a = np.round(generator.normal(size=n) + y, 1)
    columns = {"y": y, "a": a, "b": generator.random(n).astype(np.float32), "w": np.arange(n) % 3}
    return columns | {"g": np.where(generator.random(n) < 0.5, "n", "s")}


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"segment": "g"}, {"where": "a > 0"}])
def test_it_gives_what_read_counts_gives(tmp_path, options):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(rows()), path, row_group_size=100)
    found = rs.engines.read_sketch(path, label="y", scores=["a", "b"], **options)
    exact = rs.read_counts(path, label="y", scores=["a", "b"], **options)
    if "segment" in options:
        assert [list(found)] * 2 == [list(of) for of in exact.values()]
        found = {(m, g): e for g, of in found.items() for m, e in of.items()}
        exact = {(m, g): e for m, of in exact.items() for g, e in of.items()}
    else:
        assert found.source == exact.source
    assert {name: sketch.binned().counts() for name, sketch in found.items()} == exact


def test_many_rows_in_little_memory(tmp_path):
    path = tmp_path / "rows.parquet"
    columns = rows(120_000)
    pq.write_table(pa.table(columns), path, row_group_size=60_000)
    seen = []
    found = rs.engines.read_sketch(path, label="y", scores="b", memory=20_000, progress=lambda *done: seen.append(done))
    bounds_hold(found["b"].binned(), rs.ThresholdCounts.from_scores(columns["y"], columns["b"]))
    assert seen[-1] == (120_000, 120_000)


def test_bad_rows_are_refused():
    columns = rows()
    for error, change in (
        (LabelError, {"y": np.arange(300)}),
        (ScoreError, {"a": np.where(np.arange(300) == 7, np.nan, columns["a"])}),
        (WeightError, {"w": np.full(300, 0.5)}),
    ):
        with pytest.raises(error):
            rs.engines.read_sketch(columns | change, label="y", scores="a", weight="w")
    with pytest.raises(rs.errors.InputError, match="missing"):
        rs.engines.read_sketch(columns, label="y", scores="a", missing="ignore")
