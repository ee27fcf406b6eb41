"""Plans of all kinds: saved, read, and applied to arrays, frames and files, with the same people chosen every time."""

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import rocscope as rs
from rocscope import Campaign, Context, Predictions
from rocscope.errors import ColumnError, InputError, ScoreError, ShapeError, StoredError

N = 400
RNG = np.random.default_rng(0)
SCORE = RNG.integers(0, 9, N)
SEGMENT = np.array(list("ns"))[RNG.integers(0, 2, N)]
PREDS = Predictions(
    (RNG.random(N) < 0.1 + 0.08 * SCORE).astype(int), {"a": SCORE}, segment=SEGMENT, columns={"worth": SCORE + 1.5}
)
IDS = [f"{i:05d}" for i in RNG.permutation(N)]
MAILING = Campaign(N, 1, 5, capacity=77)
PLANS = {
    "threshold": rs.choose(PREDS, Context(cost_fn=4)),
    "everybody": rs.choose(PREDS, Context(cost_fp=0)),
    "nobody": rs.choose(PREDS, Context(cost_fn=0)),
    "randomised": rs.choose(PREDS, Context(cost_fn=4), subject_to="cases <= 100", randomized=True),
    "rate": rs.choose(PREDS, Context(cost_fn=4), subject_to="fpr <= .1", randomized=True),
    "negated": rs.choose(rs.hull({"a": Predictions(~PREDS.y_true, {"a": SCORE}).counts()}, negate=True), Context()),
    "review": rs.choose(PREDS, Context(cost_fn=5, cost_fp=5), review=rs.Review(1, 50)),
    "by row": rs.choose(PREDS, Context(cost_fn="worth")),
    "campaign": rs.plan_campaign(PREDS, MAILING),
    "campaigns": rs.plan_campaign(PREDS, {"dear": Campaign(900, 3, 9, 5, 0.2, 50), "cheap": Campaign(900, 1, 9, 5)}),
    "no campaign": rs.plan_campaign(PREDS, Campaign(N, 1, 5, fixed_cost=1e6)),
    "worth by row": rs.plan_campaign(PREDS, Campaign(N, 2, "worth", capacity=33)),
    "allocation": rs.allocate(PREDS, MAILING),
    "budget": rs.allocate(PREDS, {"n": Campaign(200, 2, 9, 5), "s": Campaign(200, 1, 5)}, budget=120),
    "parity": rs.allocate(PREDS, Context(cost_fn=3), max_difference="equalized_odds"),
}


def options(plan):
    return {"segment": SEGMENT} if plan.by_segment else {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the same list as CSV and as Parquet, where identifiers became floats."""
    place = tmp_path_factory.mktemp("lists")
    table = pa.table({"client": IDS, "a": SCORE, "seg": SEGMENT, "note": [f"n{i}" for i in range(N)]})
    pa.csv.write_csv(table, place / "list.csv")
    floats = table.set_column(0, "client", pa.array([float(each) for each in IDS]))
    pa.parquet.write_table(floats, place / "list.parquet")
    return place


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_read_as_it_was_saved_and_chooses_the_same_cases(name, tmp_path):
    plan = PLANS[name]
    read = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert type(read) is type(plan) and read.to_json() == plan.to_json() and repr(read) == repr(plan)
    assert read.select({"a": SCORE}, IDS, **options(plan)).tolist() == plan.select(PREDS, IDS, **options(plan)).tolist()
    assert type(plan).load(tmp_path / "plan.json").to_dict() == plan.to_dict()


@pytest.mark.every(4)
@pytest.mark.parametrize("name", PLANS)
def test_the_list_is_the_same_from_arrays_files_and_frames(name, folder):
    plan = PLANS[name]
    expected = plan.select(PREDS, IDS, **options(plan)).tolist()
    ways = {
        "csv": plan.apply(folder / "list.csv", "client", segment="seg"),
        "parquet": plan.apply(str(folder / "list.parquet"), "client", segment="seg"),
        "polars": plan.apply(
            pl.read_csv(folder / "list.csv", infer_schema=False).cast({"a": int}), "client", segment="seg"
        ),
        "pandas": plan.apply(pa.csv.read_csv(folder / "list.csv").to_pandas(), IDS, segment="seg"),
        "rows": plan.apply(PREDS, IDS),
        "renamed": plan.apply({"id": IDS, "b": SCORE, "seg": SEGMENT}, "id", scores={"a": "b"}, segment="seg"),
    }
    for way, found in ways.items():
        acted = found.columns.get("action", np.repeat("act", len(found))) == "act"
        assert [int(each) for each in found.ids[acted]] == [int(each) for each in expected], way
    assert ways["csv"].ids[: len(expected)].tolist() == expected  # with their leading zeros
    assert f"{len(expected):,} of {N}" in ways["csv"].note or not expected


def test_exactly_as_many_as_planned_and_why_fewer():
    plan = PLANS["campaign"]
    assert len(plan.apply(SCORE)) == 77
    few = plan.apply(SCORE[:100], IDS[:100])
    assert len(few) == 19
    assert few.note == "Contact 19 of 100 customers (19.25% by a; 77 of 400 were planned)"
    assert len(plan.apply(np.tile(SCORE, 3))) == 77  # the capacity stays
    assert PLANS["no campaign"].apply(SCORE).note.startswith("Contact nobody of 400 customers")


def test_a_list_keeps_columns_and_says_who_is_reviewed(folder, tmp_path):
    plan = PLANS["review"]
    found = plan.apply(folder / "list.csv", "client", keep=["note", "seg"])
    said = plan.predict(SCORE, IDS)
    assert list(found.columns) == ["client", "note", "seg", "action"]
    by_id = dict(zip(found.ids, found.columns["action"], strict=True))
    assert by_id == {i: word for i, word in zip(IDS, said, strict=True) if word != "leave"}
    where = {i: f"n{row}" for row, i in enumerate(IDS)}
    assert found.columns["note"].tolist() == [where[i] for i in found.ids]
    lines = found.save(tmp_path / "list.csv").read_text().splitlines()
    assert lines[0] == '"client","note","seg","action"' and len(lines) == 1 + len(found)
    assert found.to_frame("polars").shape == (len(found), 4)


def test_a_condition_limits_the_cases(folder):
    found = PLANS["campaign"].apply(folder / "list.csv", "client", where="seg = 'n'")
    north = SEGMENT == "n"
    assert set(found.ids) <= set(np.array(IDS)[north]) and len(found) == int(77 / 400 * north.sum())


def test_the_interval_of_an_allocation_without_its_data_is_that_of_independent_cells():
    rng, plan = np.random.default_rng(3), replace(PLANS["allocation"], source=None)
    found = plan.interval()
    (tp, fp), (n_pos, n_neg) = plan.counts, (plan.points.n_pos, plan.points.n_neg)
    drawn = []
    for _ in range(4000):
        cost = 0.0
        for cells in zip(tp, fp, n_pos - tp, n_neg - fp, strict=True):
            n = round(sum(cells))
            hits, alarms, _, _ = rng.multinomial(n, np.array(cells) / sum(cells))
            cost += -4 * hits + alarms
        drawn.append(cost)
    assert found.value == pytest.approx(plan.cost, rel=1e-12)
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.05)
    assert not found.reliable and found.low < found.value < found.high


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: PLANS["campaign"].apply({"b": [1]}),
            ColumnError,
            "scores: expected a column 'a' with the scores of model 'a', got no such column",
        ),
        (lambda: PLANS["campaign"].apply({"a": [1.0, np.nan]}), ScoreError, "expected a finite score in every row"),
        (lambda: PLANS["campaign"].apply({"a": [1, 2]}, [7]), ShapeError, "ids: expected one entry"),
        (lambda: PLANS["campaign"].apply({"a": [1, 2], "i": [7, 7]}, "i"), InputError, "ids: .*'7' twice"),
        (lambda: PLANS["campaign"].apply({"a": [1, 2]}, "id"), ColumnError, "ids of the dict"),
        (
            lambda: PLANS["allocation"].apply({"a": [1, 2]}),
            InputError,
            "segment: expected the name of the column with the segments",
        ),
        (lambda: rs.load_plan("nowhere.json"), StoredError, "nowhere.json cannot be read as a plan file"),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_plan_that_was_read_says_that_its_data_are_not_there(tmp_path):
    read = rs.load_plan(PLANS["campaign"].save(tmp_path / "plan.json"))
    with pytest.raises(InputError, match="plan: expected a plan with its data, got a plan from a file"):
        read.interval()
    with pytest.raises(InputError, match="a plan with its data"):
        _ = read.curve
    (tmp_path / "other.json").write_text('{"format": "rocscope.other"}')
    with pytest.raises(StoredError, match=r"rocscope.decision \| rocscope.campaign_plan \| rocscope.allocation"):
        rs.load_plan(tmp_path / "other.json")
    with pytest.raises(InputError, match="expected texts or numbers as segment names"):
        rs.allocate({(1, 2): PREDS.counts()}).to_json()


@pytest.mark.parametrize("name", PLANS)
def test_every_row_has_its_decision_and_outcome(name):
    plan, rows = PLANS[name], {"client": IDS, "a": SCORE, "answer": PREDS.y_true}
    found = plan.apply(rows, "client", **options(plan), every_row=True, label="answer")
    assert found.ids.tolist() == IDS
    decided = np.array(found.columns["decision"])
    acted, looked = np.flatnonzero(decided == "positive"), np.flatnonzero(decided == "review")
    assert {*acted, *looked} == set(found.rows.tolist())
    kinds = {(True, 1): "true positive", (True, 0): "false positive", (False, 1): "false negative"}
    outcome = [
        "" if made == "review" else kinds.get((made == "positive", y), "true negative")
        for made, y in zip(decided, PREDS.y_true, strict=True)
    ]
    assert found.columns["outcome"].tolist() == outcome
    with pytest.raises(InputError, match="every_row"):
        plan.apply(rows, "client", **options(plan), label="answer")


@pytest.mark.parametrize("source", [[0.9, 0.4], {"score": [0.9, 0.4], "bought": [1, 0]}])
def test_misspelt_options_of_a_plan_are_refused_with_the_names_that_exist(source):
    decision = rs.choose([1, 0, 1, 0], [0.9, 0.3, 0.6, 0.2])
    with pytest.raises(InputError, match=r"one of 'format'.*did you mean 'every_row'.*got 'every_rows'"):
        decision.apply(source, every_rows=True)
    with pytest.raises(InputError, match=r"did you mean 'delimiter'.*got 'delimeter'"):
        decision.apply(source, delimeter=";")
    plan = rs.plan_campaign([1, 0, 1, 0], [0.9, 0.3, 0.6, 0.2], campaigns=rs.Campaign(4, unit_cost=1, unit_benefit=3))
    with pytest.raises(InputError, match=r"did you mean 'encoding'.*got 'encodings'"):
        plan.outcomes({"score": [0.9], "bought": [1]}, label="bought", encodings="utf-8")


def test_a_file_that_promises_more_than_the_rows_is_refuted(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.random(800) < 0.2
    preds = rs.Predictions(y.astype(int), {"a": rng.normal(y * 1.2)})
    for plan in (rs.plan_campaign(preds, Campaign(800, 1, 6)), rs.choose(preds, rs.Context(cost_fn=4))):
        estimate = plan.on_new_cases
        read = rs.load_plan(plan.save(tmp_path / "plan.json"))
        assert (read.on_new_cases.value, read.promise) == (estimate.value, plan.promise)
        assert read.verify(preds).verified
        vars(read)["on_new_cases"] = replace(estimate, value=estimate.high + estimate.standard_error)
        (refuted,) = read.verify(preds).refuted
        assert refuted.startswith("value on new cases: stored ")
        assert "the stored value is not in the interval [" in refuted
        vars(read)["on_new_cases"] = replace(estimate, value=(estimate.value + estimate.high) / 2)
        verified = read.verify(preds)
        assert verified.verified
        assert any("from other folds; the stored value is in the interval [" in str(one) for one in verified.checks)
