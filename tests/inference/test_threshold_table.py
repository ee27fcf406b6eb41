"""The table of thresholds against the intervals of each point alone, and as it is exported."""

import numpy as np
import pandas as pd
import pytest

import rocscope as rs
from rocscope.errors import OneClassError, WeightError
from rocscope.inference import rate_intervals, threshold_table

RNG = np.random.default_rng(3)
Y = RNG.random(60) < 0.4
S = (RNG.random(60) + 0.4 * Y).round(1)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "jeffreys"])
@pytest.mark.parametrize("thresholds", [None, [0.95, 0.5, 0.3]])
def test_every_row_has_the_rates_and_intervals_of_its_point(method, thresholds):
    table = threshold_table(Y, S, thresholds=thresholds, method=method, level=0.9).to_frame()
    counts = rs.ThresholdCounts.from_scores(Y, S)
    assert table.threshold.tolist() == (counts.threshold.tolist() if thresholds is None else thresholds)
    for row in table.itertuples():
        point = counts.at(row.threshold)
        assert (row.tp, row.fp, row.fn, row.tn) == (point.tp, point.fp, point.fn, point.tn)
        assert row.youden == pytest.approx(point.youden)
        for name, estimate in rate_intervals(point, method=method, level=0.9).items():
            if name in ("tpr", "tnr", "precision", "npv"):
                found = [getattr(row, name + end) for end in ("", "_low", "_high")]
                assert found == pytest.approx([estimate.value, estimate.low, estimate.high], nan_ok=True)


def test_it_is_exported_and_read_back(tmp_path):
    table = threshold_table(Y, S)
    assert len(table) == np.unique(S).size
    table.to_frame().to_csv(tmp_path / "table.csv", index=False)
    assert pd.read_csv(tmp_path / "table.csv").shape == (len(table), 18)
    assert table.to_frame("polars").columns == list(table.columns)
    assert table.to_dict()["columns"]["tp"][-1] == Y.sum()
    assert table._repr_html_().count("<tr>") == min(len(table), 20) + 1


def test_what_has_no_binomial_counts_is_refused():
    with pytest.raises(OneClassError, match="a table of thresholds"):
        threshold_table([1, 1], [0.2, 0.3])
    with pytest.raises(WeightError, match="expected numbers of cases"):
        threshold_table(Y, S, sample_weight=np.full(60, 0.5))
