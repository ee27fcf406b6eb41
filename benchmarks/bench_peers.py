"""Exact AUC of float32 scores by rocscope and by others, in one run: time, peak memory, and how far off each answer is.

``make bench-peers`` measures 10⁵, 10⁶ and 10⁷ rows and writes table and plot into docs/benchmarks.md; without
``--page`` the table is only printed. ``--large`` adds 10⁸ rows (about 2 GB of temporary files) for those whose memory
suffices.
Each contender works in a process of its own (`peer_process`). Whoever is not installed is listed as missing:
``pip install 'rocscope[bench]'`` has them all (PyTorch among them, which is large), and Spark needs Java 17.
"""

import argparse
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from inputs import Input, make
from machine import available, environment
from peer_process import Limits, Outcome, run
from peers import PARQUET, PEERS, Peer
from peers_page import NAMES, power, rewrite, tables

SIZES = [10**5, 10**6, 10**7]
WARM = 100_000
GROUP = 1 << 17  # about as many rows as DuckDB writes into one, so that engines can share the work


def write(data: Input, folder: Path) -> None:
    """Write labels and scores as arrays and as one Parquet file, whose labels are int8."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    np.save(folder / "y.npy", data.y)
    np.save(folder / "score.npy", data.score)
    table = pa.table({"y": data.y.astype(np.int8), "score": data.score})
    pq.write_table(table, folder / PARQUET, compression="zstd", row_group_size=GROUP)


def exact(data: Input) -> Fraction:
    """Count pairs in whole numbers: for each positive, the negatives below it twice, and those that tie with it."""
    positive, negative = (np.sort(data.score[data.y == label]) for label in (1, 0))
    sides = (int(np.searchsorted(negative, positive, side).sum()) for side in ("left", "right"))
    return Fraction(sum(sides), 2 * positive.size * negative.size)


def too_large(before: Outcome | None, rows: int) -> str:
    """Return why a contender is not asked, judging by what it did with fewer rows, or nothing."""
    if before is None:
        return ""
    if not before.turns:
        return before.note
    needed = (before.growth / before.rows + 2 * 12) * rows  # 12 bytes a row are given, some of them twice
    return f"needs about {needed / 1e9:.0f} GB" if rows >= 10**7 and needed > available() else ""


def measure(rows: int, peers: Sequence[Peer], before: dict[Peer, Outcome], limits: Limits, folder: Path) -> Fraction:
    """Let everybody answer for so many rows, putting what they did in the place of what they did before."""
    small, large = folder / "small", folder / str(rows)
    if not small.exists():
        write(make("float32", WARM, 0.5), small)
    data = make("float32", rows, 0.5)
    write(data, large)
    truth = exact(data)
    del data
    for peer in peers:
        note = f"missing: {peer.missing}" if peer.missing else too_large(before.get(peer), rows)
        before[peer] = Outcome(peer, rows, note) if note else run(peer, rows, large, small, limits)
        told = note or before[peer].note or f"{before[peer].seconds:.3f} s"
        print(f"{power(rows)} rows, {peer.name}: {told}", flush=True)
    for file in large.iterdir():
        file.unlink()
    return truth


def compile_seconds(folder: Path) -> float | None:
    """Return the seconds of rocscope's first answer where nothing was compiled before."""
    cache = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
    start = run(PEERS[0], WARM, folder / "small", folder / "small", Limits(1, 0, 600), **cache).start
    return start["first"] if start else None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+", default=SIZES)
    parser.add_argument("--large", action="store_true", help="also 10⁸ rows")
    parser.add_argument("--only", nargs="+", choices=[peer.name for peer in PEERS], help="only these contenders")
    parser.add_argument("--turns", type=int, default=5, help="repeats, of which the median counts")
    parser.add_argument("--enough", type=float, default=60, help="seconds after which no new repeat begins")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a contender is stopped")
    parser.add_argument("--page", type=Path, help="Markdown file to write table and plot into, between its markers")
    options = parser.parse_args(arguments)

    peers = [peer for peer in PEERS if options.only is None or peer.name in options.only]
    sizes = sorted({*options.rows, *([10**8] if options.large else [])})
    machine: dict[str, Any] = environment(NAMES)
    limits = Limits(options.turns, options.enough, options.limit)
    latest: dict[Peer, Outcome] = {}
    outcomes: list[Outcome] = []
    truths: dict[int, Fraction] = {}
    with tempfile.TemporaryDirectory(prefix="rocscope-bench-", ignore_cleanup_errors=True) as name:
        for rows in sizes:
            truths[rows] = measure(rows, peers, latest, limits, Path(name))
            outcomes += latest.values()
        compiled = compile_seconds(Path(name)) if PEERS[0] in peers else None
    text = tables(outcomes, truths, machine, compiled)
    print(f"\n{text}")
    if options.page:
        rewrite(options.page, text, outcomes)


if __name__ == "__main__":
    main()
