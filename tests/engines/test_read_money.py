"""Reading in money: what a source counts by a context whose costs are its columns."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope import Context, ThresholdCounts
from rocscope.decisions import in_money
from rocscope.engines.columns import CountRequest
from rocscope.engines.spark import ROW_COSTS_HINT
from rocscope.errors import InputError, OneClassError, WeightError

AMOUNT = np.array([500, 3, 40, 7, 120, 60, 8, 30], float)
Y = np.array([1, 1, 0, 0, 1, 0, 0, 1])
SCORE = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
FRAUD = Context(cost_fn="amount", cost_fp=5, cost_tp=5)


def test_read_and_read_counts_take_the_columns_of_a_context():
    rows = {"y": Y, "a": SCORE, "amount": AMOUNT, "w": np.arange(8) % 2 + 1.0}
    read = rs.read(rows, label="y", scores="a", weight="w", columns=["amount"])
    assert read.columns["amount"].tolist() == AMOUNT.tolist()
    kept = rs.read(rows, label="y", scores="a", columns=["amount"], where="amount > 10")
    assert kept.columns["amount"].tolist() == AMOUNT[AMOUNT > 10].tolist()
    counted = rs.read_counts(rows, label="y", scores="a", weight="w", context=FRAUD)["a"]
    money = in_money(read, FRAUD).counts()
    assert (rs.choose(counted).threshold, counted.threshold.tolist()) == (
        rs.choose(read, FRAUD).threshold,
        money.threshold.tolist(),
    )
    assert counted.pos / counted.n == pytest.approx(money.pos / money.n, rel=1e-15)
    gaps = rows | {"amount": np.where(AMOUNT == 7, np.nan, AMOUNT)}
    with pytest.raises(InputError, match=r"columns 'amount'.*expected a finite value.*in row 3"):
        rs.read(gaps, label="y", scores="a", columns=["amount"])
    with pytest.raises(InputError, match=r"columns 'amount'.*expected a finite value.*in row 3"):
        rs.read_counts(gaps, label="y", scores="a", context=FRAUD)
    assert len(rs.read(gaps, label="y", scores="a", columns="amount", missing="drop")) == 7
    by = rs.read_counts(rows | {"s": ["x", "y"] * 4}, label="y", scores="a", segment="s", context=FRAUD)
    assert isinstance(by["x"], ThresholdCounts)


def test_counts_in_money_need_a_column():
    with pytest.raises(InputError, match="a context with the name of a column as a cost"):
        rs.read_counts({"y": Y, "a": Y, "amount": AMOUNT}, label="y", scores="a", context=Context())


@pytest.mark.every(5)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", [0.003, 0.1, 0.97])
def test_at_a_target_prevalence_counts_in_money_are_those_of_the_rows(target, weighted, tmp_path):
    """Of several batches, of a file with gaps, and by segment."""
    rng = np.random.default_rng(4)
    n = 150_000
    y, score = rng.random(n) < 0.3, rng.integers(0, 500, n).astype(np.float32)
    rows = {"y": y, "a": score + y, "amount": np.round(rng.lognormal(2, 1, n), 2), "w": rng.integers(0, 3, n)}
    rows["amount"][::7] = np.nan
    pq.write_table(pa.table(rows | {"s": np.arange(n) % 3}), path := tmp_path / "rows.parquet", row_group_size=20_000)
    context = Context(target, cost_fn="amount", cost_fp=5, cost_tp=3)
    options = {"label": "y", "scores": "a", "weight": "w" if weighted else None, "missing": "drop"}
    read = rs.read(path, **options, columns=["amount"])
    money = in_money(read, context).counts()
    counted = rs.read_counts(path, **options, context=context)
    assert counted.source.rows_dropped == -(-n // 7)
    assert counted["a"].threshold.tolist() == money.threshold.tolist()
    for name in ("pos", "neg"):
        ours, theirs = getattr(counted["a"], name), getattr(money, name)
        assert ours / ours.sum() == pytest.approx(theirs / theirs.sum(), rel=1e-12)
    assert counted["a"].n_pos / counted["a"].n_neg == pytest.approx(money.n_pos / money.n_neg, rel=1e-12)
    assert rs.choose(counted).threshold == rs.choose(read, context).threshold
    by = rs.read_counts(path, **options, context=context, segment="s")
    assert sum(part.n_pos for part in by.values()) == pytest.approx(counted["a"].n_pos, rel=1e-12)


def test_a_target_prevalence_of_what_is_read_once_and_of_one_class():
    lines = b"y,a,amount\n1,3,9\n0,2,9\n0,1,9\n"
    context = Context(0.5, cost_fn="amount", cost_fp=1)
    counts = rs.read_counts(io.BytesIO(lines), format="csv", label="y", scores="a", context=context)["a"]
    assert (counts.n_pos / counts.n_neg, counts.pos.size) == (9, 3)
    with pytest.raises(OneClassError, match="target_prevalence: expected both classes in the data, got only"):
        rs.read_counts({"y": Y * 0, "a": SCORE, "amount": AMOUNT}, label="y", scores="a", context=context)
    with pytest.raises(InputError, match=r"columns 'amount'.*in row 3"):
        gaps = np.where(AMOUNT == 7, np.nan, AMOUNT)
        rs.read_counts({"y": Y, "a": SCORE, "amount": gaps}, label="y", scores="a", context=context)


def test_whole_counts_in_money_are_not_taken_for_rows():
    rows = {"y": Y, "a": SCORE, "amount": AMOUNT * 1024}
    counted = rs.read_counts(rows, label="y", scores="a", context=Context(cost_fn="amount", cost_fp=512))["a"]
    with pytest.raises(InputError, match="numbers of cases"):
        rs.auc_interval(counted)


def test_batches_of_a_large_source_add_cents_exactly():
    rng = np.random.default_rng(3)
    n = 300_000
    y, score = rng.random(n) < 0.3, rng.integers(0, 500, n).astype(np.float32)
    rows = {"y": y, "a": score, "lost": np.full(n, 0.3), "spent": np.full(n, 0.1)}
    counts = rs.read_counts(rows, label="y", scores="a", context=Context(cost_fn="lost", cost_fp="spent"))["a"]
    plain = ThresholdCounts.from_scores(y, score)
    assert rs.choose(counts).threshold == rs.choose(plain, Context(cost_fn=3)).threshold
    assert rs.roc(counts).hull().threshold.tolist() == rs.roc(plain).hull().threshold.tolist()


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["polars", "ibis"])
@pytest.mark.parametrize("target", [None, 0.1])
def test_lazy_frames_and_tables_count_in_money_where_they_are(kind, target):
    rng = np.random.default_rng(5)
    n = 5_000
    rows = {
        "y": rng.integers(0, 2, n),
        "a": rng.integers(0, 50, n) / 8,
        "amount": np.round(rng.lognormal(2, 1, n), 2),
        "spent": rng.integers(0, 9, n),
        "w": rng.integers(0, 3, n),
        "s": rng.integers(0, 2, n),
    }
    context = Context(target, cost_fn="amount", cost_fp="spent", cost_tp=0.1)
    for options in ({}, {"weight": "w"}, {"segment": "s"}):
        asked = {"label": "y", "scores": "a", "context": context} | options
        ours, plain = rs.read_counts(lazily(kind, rows), **asked), rs.read_counts(rows, **asked)
        for part in ("a",) if "a" in plain else plain:
            assert ours[part].threshold.tolist() == plain[part].threshold.tolist()
            for side in ("pos", "neg"):
                assert getattr(ours[part], side) == pytest.approx(getattr(plain[part], side), rel=1e-12, abs=0)


def lazily(kind, rows):
    if kind == "polars":
        return pytest.importorskip("polars").LazyFrame(rows)
    return pytest.importorskip("ibis").memtable(pa.table(rows))


def test_what_cannot_be_counted_in_money_elsewhere_says_so():
    gaps = np.where(AMOUNT == 7, np.nan, AMOUNT)
    lazy = lazily("polars", {"y": Y, "a": SCORE, "amount": gaps, "text": list("abcdefgh"), "none": Y * 0})
    with pytest.raises(InputError, match=r"columns 'amount'.*1 missing or infinite value among 8 rows"):
        rs.read_counts(lazy, label="y", scores="a", context=FRAUD)
    assert rs.read_counts(lazy, label="y", scores="a", context=FRAUD, missing="drop").source.rows_dropped == 1
    with pytest.raises(InputError, match=r"columns 'text'.*expected numbers"):
        rs.read_counts(lazy, label="y", scores="a", context=Context(cost_fn="text"))
    with pytest.raises(WeightError, match="expected at least one weight above 0"):
        rs.read_counts(lazy, label="y", scores="a", context=Context(cost_fn="none", cost_fp=0), missing="drop")
    with pytest.raises(InputError, match="tol and context: expected only one of these arguments"):
        rs.read_counts(lazy, label="y", scores="a", context=FRAUD, tol=1e-3)
    with pytest.raises(InputError, match="Spark DataFrame"):
        CountRequest("y", "a", context=FRAUD).refuse("Spark DataFrame", context=ROW_COSTS_HINT)
