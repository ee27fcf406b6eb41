"""The benchmark beside others runs on few rows, with whatever is installed, and says what could not be done."""

import importlib
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import oracle

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE = "before\n<!-- written by make bench-peers -->\nold\n<!-- end of what make bench-peers writes -->\nafter\n"
QUICK = ("rocscope", "scikit-learn", "SciPy", "polars-ds", "rocscope, file", "DuckDB", "Polars")  # to start

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmarks are not beside these tests")


@pytest.fixture
def bench(monkeypatch):
    """Import a module of the benchmarks, and leave none of them behind: their names are common ones."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in [name for name, module in sys.modules.items() if str(BENCHMARKS) in str(vars(module).get("__file__"))]:
        del sys.modules[name]


@pytest.fixture
def few(bench):
    """Return 300 rows of which many tie, and their exact area."""
    data = bench("inputs").make("ties", 300, 0.5)
    data = bench("inputs").Input("ties", 0.5, data.y, data.score.astype(np.float32), None)
    return data, oracle.pairs(oracle.rows(data.y, data.score)).auc()


@pytest.mark.slow(reason="benchmarks of peers")
def test_a_run_fills_the_page_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    command = [sys.executable, str(BENCHMARKS / "bench_peers.py"), "--rows", "2000", "--turns", "2"]
    subprocess.run([*command, "--only", "DuckDB", "Polars", "--page", str(page)], check=True)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    for name in ("DuckDB (", "Polars ("):
        cells = next(line.split("|") for line in text.splitlines() if line.startswith(f"| {name}"))
        assert cells[2].endswith("ms ") and cells[4].endswith("MB ") and cells[5] == " none "
    assert (tmp_path / "images" / "peers.png").stat().st_size > 10_000


@pytest.mark.every(3)
@pytest.mark.parametrize("name", QUICK)
def test_contenders_find_the_exact_area(name, bench, few, tmp_path):
    peer = next(peer for peer in bench("peers").PEERS if peer.name == name)
    if peer.missing:
        pytest.skip(f"not installed: {peer.missing}")
    data, truth = few
    bench("bench_peers").write(data, tmp_path / "few")
    assert peer.answer(peer.given(tmp_path / "few")) == pytest.approx(float(truth), abs=1e-12)


def test_the_exact_area_is_that_of_all_pairs(bench, few):
    data, truth = few
    assert bench("bench_peers").exact(data) == truth


def test_who_takes_too_long_is_stopped(bench, few, tmp_path):
    peers, process = bench("peers"), bench("peer_process")
    bench("bench_peers").write(few[0], tmp_path / "few")
    outcome = process.run(peers.PEERS[0], 300, tmp_path / "few", tmp_path / "few", process.Limits(1, 0, 0.01))
    assert (outcome.turns, outcome.note) == ((), "stopped after 0.01 s")
    assert bench("bench_peers").too_large(outcome, 10**6) == outcome.note


def test_who_would_not_fit_into_memory_is_not_asked(bench):
    peer, outcome = bench("peers").PEERS[1], bench("peer_process").Outcome
    frugal, greedy = (
        outcome(peer, 1000, turns=({"seconds": 1.0, "answer": 0.5, "growth": growth},)) for growth in (0, 1e12)
    )
    assert bench("bench_peers").too_large(frugal, 10**4) == ""
    assert bench("bench_peers").too_large(greedy, 10**7).startswith("needs about ")


def test_the_table_says_what_was_not_done(bench):
    ours, theirs, other = bench("peers").PEERS[:3]
    outcome, write = bench("peer_process").Outcome, bench("peers_page")
    start = {"import": 0.5, "first": 2.0, "resident": 1e8}

    def done(peer, rows, seconds, answer):
        turns = tuple({"seconds": second, "answer": answer, "growth": 5e6} for second in seconds)
        return outcome(peer, rows, "", start, turns)

    outcomes = [
        done(ours, 100, [0.01, 0.02, 9.0], 0.5),
        done(theirs, 100, [0.05], 0.5 + 2**-30),
        outcome(other, 100, "missing: scipy"),
        done(ours, 1000, [0.1], 0.5),
        outcome(theirs, 1000, "stopped after 3 s"),
        outcome(other, 1000, "missing: scipy"),
    ]
    machine = {"system": "Linux", "machine": "x", "cores": 2, "memory": 2**34, "simd": [], "load": 3.0, "numpy": "2"}
    text = write.tables(outcomes, {100: Fraction(1, 2), 1000: Fraction(1, 2)}, machine, 1.5)
    assert "| rocscope (`auc`) | 20 ms | 100 ms | 1.0 | 5 MB | none |" in text
    assert "| 50 ms | stopped after 3 s | 2.5 (10²) | 5 MB | 9e-10 |" in text
    assert "| SciPy (`mannwhitneyu`) | missing | missing |  |  |  |" in text
    assert "busy machine" in text and "NumPy 2." in text
    assert "busy" not in write.tables([], {}, machine | {"load": 0.1}, None)


def test_a_page_without_markers_is_left_as_it_is(bench, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no markers\n")
    with pytest.raises(SystemExit, match="to write between"):
        bench("peers_page").rewrite(page, "text", [])
    assert page.read_text() == "no markers\n"


@pytest.mark.parametrize(("rows", "text"), [(1, "10⁰"), (10**8, "10⁸"), (2000, "2,000"), (110, "110")])
def test_powers_of_ten_are_written_as_such(rows, text, bench):
    assert bench("peers_page").power(rows) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.00004, "0.040 ms"), (0.0032, "3.2 ms"), (0.043, "43 ms"), (3.28, "3.3 s"), (52.8, "53 s"), (0.3504, "350 ms")],
)
def test_durations_keep_two_digits(seconds, text, bench):
    assert bench("peers_page").duration(seconds) == text
