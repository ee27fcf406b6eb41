"""read_counts of very many segments: what their rows give in memory, however they come."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope.errors import InputError


@pytest.mark.parametrize("memory", [None, "300 kB", 1])
@pytest.mark.parametrize("kind", ["whole", "far apart", "negative", "text", "text that comes late"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_many_segments_in_many_batches(tmp_path, kind, memory, weight):
    generator = np.random.default_rng(3)
    n = 30_000
    user = generator.integers(0, 40 if memory else 2_000, n)
    names = {
        "whole": user,
        "far apart": user * 2**50,
        "negative": user - 5,
        "text": np.char.add("user ", user.astype(str)),
        "text that comes late": np.char.add("user ", (user + np.arange(n) // 3_000).astype(str)),
    }
    y, s = generator.random(n) < 0.4, generator.standard_normal(n).round(1).astype(np.float32)
    table = pa.table({"y": y, "s": s, "g": names[kind], "w": generator.integers(1, 4, n) / 4})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4_000)
    found = rs.read_counts(tmp_path, label="y", scores="s", segment="g", weight=weight, memory=memory)
    mass = None if weight is None else table["w"].to_numpy()
    whole = rs.Predictions(y, s, segment=names[kind], sample_weight=mass).counts(by="segment")
    assert list(found) == list(whole)
    np.testing.assert_array_equal(found.auc(), whole.auc())
    assert found.source.rows_read == n


def test_a_segment_without_weight_is_refused():
    rows = {"y": [0, 1, 1], "s": [1, 2, 3], "w": [0, 1, 1], "g": ["a", "b", "b"]}
    with pytest.raises(InputError, match="expected a weight above 0, got only zeros"):
        rs.read_counts(rows, label="y", scores="s", weight="w", segment="g")
