"""What the workbench answers is what rocscope says of the same rows, whoever reads them."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from bench_cases import bench_of, rows
from rocscope.engines.opening import open_source
from rocscope.errors import InputError, MissingDependencyError, RocscopeError
from rocscope.report.model import report_data
from rocscope.report.page import as_json, payload
from rocscope.sample import samples_of
from rocscope.workbench import session as data_source
from rocscope.workbench.answers import answer, facts
from rocscope.workbench.session import CancelToken, DataSource, RowSelection, Session

PREDS = rows()
COSTS = {"target_prevalence": None, "cost_fp": 1, "cost_fn": 3, "cost_tp": 0, "cost_tn": 0}
ROLES = {"label": "y", "scores": ["old", "new"]}


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "rows.parquet"
    columns = {"y": PREDS.y_true, **PREDS.scores, "age": PREDS.columns["age"], "region": PREDS.segment}
    pq.write_table(pa.table(columns | {"fold": PREDS.fold}), path)
    return str(path)


def test_columns_are_held_as_they_are_fetched(tmp_path):
    path = tmp_path / "all kinds.parquet"
    columns = {
        "flag": pa.array([True, None, False, True]),
        "small": pa.array([1, 2, None, -3], pa.int8()),
        "large": pa.array([2**63, 1, 2, 2**64 - 1], pa.uint64()),
        "score": pa.array([0.1, None, float("nan"), -0.0], pa.float32()),
        "name": pa.array(["a", None, "b", "é"]),
        "day": pa.array([0, 1, None, 2], pa.date32()),
        "price": pa.array([None, "1.20", "3.40", "0.05"]).cast(pa.decimal128(9, 2)),
    }
    for table in (pa.table(columns), pa.table(columns).slice(0, 0)):
        pq.write_table(table, path, row_group_size=1)
        with open_source(str(path)) as files:
            expected = files.fetch(list(columns))
            for names in ([*columns], ["score", "flag"], ["large"], ["name"]):
                held = files.held()
                found = held.fetch(names)
                assert found.equals(expected.select(names)) or found.to_pydict() | {"score": 0} == (
                    expected.select(names).to_pydict() | {"score": 0}  # no NaN equals itself
                )
                assert [field.type for field in found.schema] == [expected.schema.field(name).type for name in names]
            kept = held.fetch(["small"], "small > 0")
            assert kept.to_pydict() == {"small": [1, 2][: len(table)]}


def test_models_are_ranked_at_the_same_time(monkeypatch):
    both, rank = Barrier(2, timeout=20), rs.Predictions.counts

    def waiting(preds, model=None):
        both.wait()  # passes when the other one is ranked too
        return rank(preds, model)

    monkeypatch.setattr(rs.Predictions, "counts", waiting)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda sample: sample.points, samples_of(PREDS).values()))
    assert [each.n for each in found] == [PREDS.n, PREDS.n]


def asked(bench, what, **question):
    return answer(bench, {"what": what, **question}, CancelToken())


def without_calibration(part):
    return part | {"models": [model | {"calibration": None, "auc": model["auc"]["value"]} for model in part["models"]]}


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "where",
    [
        None,
        "age > 50",
        "age > 50 OR region = 'west'",
        "1 = 1 -- every row",
        "age - 50",
        "nullif(region, 'west') = 'north'",
        "age > (SELECT 50)",
    ],
)
@pytest.mark.parametrize("held", [True, False], ids=["held", "counted"])
def test_counts_are_those_of_the_reader(parquet, where, held):
    bench = Session([DataSource.of("", parquet, **ROLES, memory=None if held else "1 GB")])
    found = bench.counts(RowSelection(where), CancelToken())
    expected = rs.read_counts(parquet, where=where, **ROLES)
    assert found.keys() == expected.keys()
    for model, counts in expected.items():
        for name in ("threshold", "pos", "neg"):
            ours, theirs = getattr(found[model], name), getattr(counts, name)
            assert ours.dtype == theirs.dtype
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("held", [True, False], ids=["held", "counted"])
def test_a_filter_on_all_rows_holds_beside_the_readers_own(parquet, held):
    made = DataSource.of("", parquet, **ROLES, where="region <> 'west' -- no west", memory=None if held else "1 GB")
    found = Session([made]).counts(RowSelection("age > 50 -- old"), CancelToken())["old"]
    wanted = (PREDS.segment != "west") & (PREDS.columns["age"] > 50)
    assert (found.n_pos, found.n) == (int(PREDS.y_true[wanted].sum()), int(wanted.sum()))
    with pytest.raises(RocscopeError, match="syntax error"):
        Session([made]).counts(RowSelection("true) OR (true"), CancelToken())


def test_the_page_gets_what_a_report_has(parquet, monkeypatch):
    monkeypatch.setattr("rocscope.report.model.MOST_EXACT", 0)  # all thresholds: test_workbench_exact.py
    preds = rs.read(parquet, segment="region", fold="fold", **ROLES)
    bench = Session([DataSource.of("", parquet, fold="fold", **ROLES)])
    report = payload(report_data(preds))
    found = facts(bench, "region", CancelToken())
    assert [(part["kind"], part["name"]) for part in found["slices"]] == [
        (part["kind"], part["name"]) for part in report["slices"]
    ]
    assert found["columns"] == ["y", "old", "new", "age", "region", "fold"]
    for part in report["slices"]:
        which = {"by": "region", "kind": part["kind"], "name": part["name"]}
        counted = asked(bench, "counts", **which)
        assert without_calibration(counted) | {"comparisons": 0} == without_calibration(part) | {"comparisons": 0}
        for ours, theirs in zip(counted["models"], part["models"], strict=True):
            assert {name: ours["calibration"][name] for name in ("bins", "rug")} == {
                name: theirs["calibration"][name] for name in ("bins", "rug")
            }
    sure = asked(bench, "intervals", by="region")
    whole = report["slices"][0]
    assert sure["comparisons"] == whole["comparisons"]
    assert [model["calibration"] for model in whole["models"]] == sure["calibration"]
    for ours, theirs in zip(sure["auc"], whole["models"], strict=True):
        assert ours["low"] == pytest.approx(theirs["auc"]["low"], abs=1e-3)
    as_json(sure), as_json(found)


def test_a_return_to_any_condition_shown_before_reads_nothing_and_few_are_held(parquet, monkeypatch):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    conditions = [None, *(f"age > {least}" for least in range(30, 35))]

    def told():
        rows = [{"where": where, "kind": "all", "name": "all rows"} for where in conditions]
        return [as_json([asked(bench, "counts", **each), asked(bench, "intervals", **each)]) for each in rows]

    first = told()
    assert len(set(first)) == len(conditions)
    assert len(bench._filtered) == 2
    monkeypatch.setattr(DataSource, "rows", None)  # whoever reads would fail
    assert told() == first


def test_a_data_frame_of_pandas_is_a_source():
    frame = PREDS.to_frame()
    made = DataSource.of("", frame, label="y_true", scores=["old"])
    found = Session([made]).counts(RowSelection(None), CancelToken())["old"]
    assert (found.n_pos, found.n) == (int(frame["y_true"].sum()), len(frame))


def test_rows_split_by_many_values_show_the_largest_and_by_one_class_none():
    preds = rs.Predictions(
        np.arange(400) % 2, np.arange(400), columns={"cell": np.arange(400) // 4, "side": np.arange(400) % 2}
    )
    bench = Session([DataSource.of("", preds)])
    found = facts(bench, "cell", CancelToken())
    assert len(found["slices"]) == 41
    assert found["slices"][-1]["name"] == "others (61 segments)"
    assert "39 largest" in found["warnings"][0]
    assert len(facts(bench, "side", CancelToken())["slices"]) == 1
    assert "a class is missing" in facts(bench, "side", CancelToken())["warnings"][0]
    counted = answer(
        bench, {"what": "counts", "by": "cell", "kind": "segment", "name": "others (61 segments)"}, CancelToken()
    )
    assert counted["models"][0]["n_levels"] == 244


def test_what_cannot_split_rows_is_said_and_the_page_comes_without():
    preds = rs.Predictions([0, 1] * 600, np.arange(1200), columns={"id": np.arange(1200)})
    found = facts(Session([DataSource.of("", preds)]), "id", CancelToken())
    assert (found["by"], len(found["slices"])) == (None, 1)
    assert "expected at most 1,000 segments, got 1,200" in found["warnings"][0]


def test_counted_rows_are_split_too_but_not_listed(parquet):
    bench = Session([DataSource.of("", parquet, memory="1 GB", **ROLES)])
    found = facts(bench, "region", CancelToken())
    assert [part["name"] for part in found["slices"]] == ["all rows", "north", "south", "west"]
    assert not found["lists"]
    counted = bench.counts(RowSelection("age > 40", "region", "segment", "south"), CancelToken())["new"]
    wanted = (PREDS.columns["age"] > 40) & (PREDS.segment == "south")
    assert (counted.n, counted.n_pos) == (wanted.sum(), PREDS.y_true[wanted].sum())
    with pytest.raises(InputError, match="rows in memory, got rows that were only counted"):
        asked(bench, "list", model="old", threshold=0.5)


def test_rates_at_a_point_are_those_of_rate_intervals(parquet):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    (sheet,) = asked(bench, "point", model="new", threshold=0.5, context=COSTS | {"target_prevalence": 0.1})
    point = PREDS.counts("new").at(0.5)
    expected = rs.inference.rate_intervals(point, target_prevalence=0.1)
    assert [row["rate"] for row in sheet["rows"]] == list(expected)
    assert sheet["rows"][0]["95% CI"] == f"[{expected['tpr'].low:.2%}, {expected['tpr'].high:.2%}]"
    (everybody,) = asked(bench, "point", model="new", threshold="everybody", context=COSTS)
    assert everybody["rows"][0]["value"] == "100.00%"


def test_tests_are_those_of_compare_and_of_costs(parquet):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    areas, differences, costs = asked(bench, "tests", context=COSTS)
    assert [row["model"] for row in areas["rows"]] == ["old", "new"]
    unfolded = rs.Predictions(PREDS.y_true, PREDS.scores)  # the roles name no column of folds
    pair = rs.compare(unfolded)["old", "new"]
    assert differences["rows"][0]["difference"] == f"{pair.difference.value:.4f}"
    cost = rs.inference.compare_costs(unfolded, rs.Context(cost_fn=3), thresholds="cheapest")["old", "new"]
    assert costs["rows"][0]["difference"] == f"{cost.difference.value:.4g}"
    sheets = asked(bench, "validation", context=COSTS)
    whole = rs.summary(unfolded, rs.Context(cost_fn=3))
    assert [sheet["rows"] for sheet in sheets] == [whole.sheet(sheet["title"].lower()) for sheet in sheets]


def test_a_band_goes_around_the_whole_curve_and_can_be_given_up(parquet):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    found = asked(bench, "band", model="new")
    expected = rs.inference.band(rs.roc(PREDS, model="new"), simultaneous=True, grid=np.linspace(0, 1, 101))
    assert found["low"] == expected.low.tolist()
    assert "sup-t" in found["method"]


def test_files_are_compared_as_separate_samples():
    march, april = rows(seed=1), rows(seed=2)
    bench = bench_of(march=march, april=april)
    assert list(bench.counts(RowSelection(), CancelToken())) == ["march: old", "march: new", "april: old", "april: new"]
    found = asked(bench, "intervals")
    pairs = {(i, j): numbers for i, j, *numbers in found["comparisons"]["rows"]}
    assert set(pairs) == {(0, 1), (2, 3), (0, 2), (1, 3)}
    across = rs.compare({"m": march.select(models=["new"]), "a": april.select(models=["new"])})["m", "a"]
    within = rs.compare(march)["old", "new"]
    assert pairs[1, 3][3] == pytest.approx(across.p_value, rel=1e-3)
    assert pairs[0, 1][3] == pytest.approx(within.p_value, rel=1e-3)
    ps = [numbers[3] for numbers in pairs.values()]
    assert [numbers[4] for numbers in pairs.values()] == pytest.approx(
        rs.inference.adjust_p_values(ps).tolist(), rel=1e-3
    )
    alone = bench_of(march=march.select(models=["new"]), april=april.select(models=["new"]))
    assert list(alone.counts(RowSelection(), CancelToken())) == ["march", "april"]
    assert len(asked(alone, "tests", context=COSTS)) == 2


@pytest.mark.parametrize("threshold", [0.31, 0.5, "nobody", "everybody"])
def test_the_list_has_whom_the_decision_takes_best_first(parquet, threshold):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    text = asked(bench, "list", model="new", threshold=threshold, column="age", where="age < 60")
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == ["row", "age", "score"]
    kept = PREDS.columns["age"] < 60
    scores, ages = PREDS.scores["new"][kept], PREDS.columns["age"][kept]
    cut = {"nobody": np.inf, "everybody": -np.inf}.get(threshold, threshold)
    numbers = [int(row) for row, _, _ in lines[1:]]
    assert sorted(numbers) == np.flatnonzero(scores >= cut).tolist()
    assert [float(score) for _, _, score in lines[1:]] == sorted(scores[scores >= cut].tolist(), reverse=True)
    assert [float(age) for _, age, _ in lines[1:]] == ages[numbers].tolist()


def test_a_list_of_at_most_so_many_draws_lots_among_equal_scores(parquet):
    bench = Session([DataSource.of("", parquet, **ROLES)])
    question = {"model": "new", "threshold": 0.2}
    every = asked(bench, "list", **question).splitlines()[1:]
    few = asked(bench, "list", most=7, **question).splitlines()[1:]
    assert few == every[:7] == asked(bench, "list", most=7, **question).splitlines()[1:]
    assert asked(bench, "list", most=0, **question) == "row,score\n"
    assert [float(line.split(",")[-1]) for line in every] == sorted(
        (float(line.split(",")[-1]) for line in every), reverse=True
    )


def test_weights_have_counts_and_no_intervals():
    weighted = rs.Predictions(PREDS.y_true, PREDS.scores, sample_weight=np.linspace(0.5, 2, len(PREDS)))
    bench = Session([DataSource.of("", weighted)])
    found = asked(bench, "counts")
    expected = payload(report_data(weighted))["slices"][0]
    assert without_calibration(found) | {"comparisons": 0} == without_calibration(expected) | {"comparisons": 0}
    assert asked(bench, "counts", where="age_ > 1" if "age_" in bench.columns else "old > 0.1")["models"]


def test_names_that_columns_share_are_kept_apart():
    preds = rs.Predictions([0, 1, 1, 0], {"y_true": [1, 2, 3, 4], "fold": [4, 3, 2, 1]}, fold=[0, 1, 0, 1])
    bench = Session([DataSource.of("", preds)])
    assert bench.columns == ["y_true", "fold", "y_true_", "fold_"]
    assert list(bench.counts(RowSelection("fold_ >= 0"), CancelToken())) == ["y_true", "fold"]


@pytest.mark.parametrize("source", ["-", io.BytesIO(b"")])
def test_what_can_be_read_once_is_refused(source):
    with pytest.raises(InputError, match="expected data that can be read several times"):
        rs.explore(source, label="y", scores="s")


def test_predictions_know_their_columns():
    with pytest.raises(InputError, match="label: expected no value with Predictions"):
        rs.explore(PREDS, label="y")
    with pytest.raises(InputError, match="source: expected at least one"):
        rs.explore({})


def test_without_the_libraries_it_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "rocscope.workbench.server", raising=False)
    with pytest.raises(
        MissingDependencyError, match=r"uvicorn is not installed; run pip install 'rocscope\[explore\]'"
    ):
        rs.explore(PREDS)


def test_a_file_beyond_memory_is_counted(parquet, monkeypatch):
    monkeypatch.setattr(data_source, "memory_limit", lambda _memory: 1000)
    assert not DataSource.of("", parquet, **ROLES).held
    assert DataSource.of("", PREDS).held
