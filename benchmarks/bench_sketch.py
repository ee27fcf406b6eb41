"""What a sketch costs and how much it leaves open: width of the AUC, memory and time for one pass over Parquet.

``python benchmarks/bench_sketch.py [ROWS] [KIND …]`` writes files of float32 scores and int8 labels (zstd), 10⁸ rows by
default, and reads each in a process of its own, after one that has the loops compiled. Beside the processor time
stands its ratio to that of decoding the two columns with Arrow and doing nothing, which a busy machine leaves as it is.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import took

KINDS = ("smooth", "skewed", "tied")
_GROUP = 1_000_000
_MEMORY = 16e6


def scores(kind, generator, y):
    """Return scores of overlapping classes: probabilities, a long tail, or a thousand distinct values."""
    logit = generator.standard_normal(y.size, np.float32) + y
    if kind == "skewed":
        return np.exp(4 * logit)
    probability = 1 / (1 + np.exp(-logit))
    return np.round(probability, 3) if kind == "tied" else probability


def write(path, kind, rows):
    generator = np.random.default_rng(KINDS.index(kind))
    schema = pa.schema({"score": pa.float32(), "label": pa.int8()})
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for first in range(0, rows, _GROUP):
            y = (generator.random(min(_GROUP, rows - first), np.float32) < 0.3).astype(np.int8)
            file.write_table(pa.table({"score": scores(kind, generator, y), "label": y}, schema))


def decode(path):
    """Print the processor time of reading both columns and keeping nothing, as a floor."""

    def read():
        with pq.ParquetFile(path) as file:
            sum(batch.num_rows for batch in file.iter_batches(2**18, use_threads=False))

    print(took(read).processor)


def measure(path, floor):
    import rocscope as rs

    reading = took(lambda: rs.engines.read_sketch(path, label="label", scores="score", memory=_MEMORY)["score"])
    sketch = reading.answer
    low, high = sketch.binned().auc_bounds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"{Path(path).stem:<8}{sketch.n:>12,}{high - low:>10.1e}{len(sketch.to_bytes()) / 1e6:>9.1f}"
        f"{peak / 1e6:>9.0f}{reading.seconds:>9.2f}{reading.processor:>9.2f}{reading.processor / floor:>9.1f}",
        flush=True,
    )


def main(rows, kinds):
    names = ("kind", "rows", "width", "MB kept", "peak MB", "wall s", "cpu s", "÷ decode")
    print(f"{names[0]:<8}{names[1]:>12}{names[2]:>10}" + "".join(f"{name:>9}" for name in names[3:]))
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder, "warm.parquet")
        write(warm, "smooth", 600_000)
        run(warm, quiet=True)
        for kind in kinds:
            path = Path(folder, f"{kind}.parquet")
            write(path, kind, rows)
            run(path)
            path.unlink()


def run(path, quiet=False):
    """Measure in processes of their own, so that no peak of one is another's."""
    command = [sys.executable, __file__]
    floor = subprocess.run([*command, "--decode", str(path)], check=True, capture_output=True, text=True).stdout
    output = subprocess.DEVNULL if quiet else None
    subprocess.run([*command, "--measure", str(path), floor], check=True, stdout=output)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--decode"]:
        decode(sys.argv[2])
    elif sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], float(sys.argv[3]))
    else:
        main(int(float(sys.argv[1])) if sys.argv[1:] else 10**8, sys.argv[2:] or KINDS)
