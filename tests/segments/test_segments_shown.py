"""Report and workbench show the same segments, however the rows were given."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope.core.context import Context
from rocscope.report.model import by_counts, by_rows
from rocscope.workbench.session import CancelToken, DataSource, Session

ROLES = {"label": "y", "scores": "s", "segment": "g"}


def shown(slices):
    return [(part.name, part.models[0].n_pos, part.models[0].n_neg) for part in slices.made], slices.warnings


def in_workbench(path, weight, memory):
    bench = Session([DataSource.of("", path, **ROLES, weight=weight, memory=memory)])
    parts, warnings = bench.parts(None, CancelToken()) if memory is None else bench.parts("g", CancelToken())
    return [name for kind, name in parts if kind == "segment"], warnings


@pytest.mark.every(5)
@pytest.mark.parametrize(("segments", "weight"), [(90, None), (3, "w"), (40, None), (41, "w")])
def test_the_same_segments_by_one_rule(tmp_path, segments, weight):
    rng = np.random.default_rng(segments)
    n = 30 * segments
    g = np.sort(rng.integers(0, segments, n) ** 2 // segments)
    y, s, w = rng.random(n) < 0.4, rng.random(n).round(2), rng.integers(1, 9, n)
    y[g == 0] = True  # the largest segment
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": y, "s": s, "g": g, "w": w}), path)
    preds = rs.Predictions(y, s, segment=g, sample_weight=w if weight else None)
    counted = {"score": preds.counts(by="segment")}
    of_rows, of_counts = shown(by_rows(preds, Context())), shown(by_counts(counted, Context(), lambda _: True))
    assert of_rows[0] == of_counts[0]
    said = [text for text in of_rows[1] if "segment" in text and "a class is missing" in text]
    assert len(said) == 1
    sizes = np.bincount(g, preds.sample_weight)
    names = np.unique(g)
    most = names[np.argsort(-sizes[names], kind="stable")[: 39 if names.size > 40 else 40]]
    expected = [str(name) for name in sorted(most.tolist()) if name]
    rest = np.isin(g, most, invert=True)
    if names.size > 40 and 0 < y[rest].sum() < rest.sum():
        expected.append(f"others ({names.size - 39} segments)")
    for found, warnings in (
        ([name for name, *_ in of_rows[0]], of_rows[1]),
        in_workbench(path, weight, None),
        in_workbench(path, weight, "1 GB"),
    ):
        assert found == expected
        assert said[0] in warnings
