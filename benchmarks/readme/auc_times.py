"""Print the processor time that each tool of README's comparison takes for the AUC of a million scores.

python benchmarks/readme/auc_times.py [python-with-the-peers]

The data are 10⁶ distinct float64 scores, half of the rows positive. Each tool runs in a process of its own, with one
thread per library; the time is the median of five calls after one that does not count, without imports and input.
`python-with-the-peers` is an interpreter that has Orange3 and rtichoke; pROC needs `Rscript`. What is not installed is
printed as "not measured".
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 1_000_000
ROCSCOPE = "import rocscope as rs; call = lambda: rs.auc(y, s)"
SKLEARN = "from sklearn.metrics import roc_auc_score; call = lambda: roc_auc_score(y, s)"
ORANGE = """
from Orange.data import DiscreteVariable, Domain
from Orange.evaluation import AUC, Results
results = Results(domain=Domain([], DiscreteVariable("y", values=("0", "1"))), actual=y, row_indices=np.arange(y.size),
                  predicted=(s > 0.5)[None].astype(float), probabilities=np.c_[1 - s, s][None])
call = lambda: AUC(results)[0]
"""
# rtichoke has no AUC; this is the table of rates at 101 thresholds that all of its curves are drawn from.
RTICHOKE = "import rtichoke; call = lambda: rtichoke.prepare_performance_data({'m': s}, y).height"
TIMED = """
import sys, time
from statistics import median
import numpy as np
y, s = np.load(sys.argv[1] + "/y.npy"), np.load(sys.argv[1] + "/s.npy")
{setup}
answer, times = call(), []
for _ in range(5):
    begin = time.process_time(); call(); times.append(time.process_time() - begin)
print(f"{{median(times):.3f}} s (answer {{answer:.9g}})")
"""
PROC = """
suppressMessages(library(pROC)); folder <- commandArgs(TRUE)[1]
s <- readBin(file.path(folder, "s.bin"), "double", n = 1e9)
y <- readBin(file.path(folder, "y.bin"), "integer", n = 1e9)
call <- function() as.numeric(auc(roc(y, s, quiet = TRUE, direction = "<")))
answer <- call(); times <- replicate(5, sum(system.time(call())[c("user.self", "sys.self")]))
cat(sprintf("%.3f s (answer %.9g)\n", median(times), answer))
"""


def write_data(folder: Path) -> None:
    """Write labels and scores for Python and for R."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.5).astype(np.int32)
    s = 1 / (1 + np.exp(-rng.normal(y - 0.5, 1)))
    np.save(folder / "y.npy", y)
    np.save(folder / "s.npy", s)
    y.tofile(folder / "y.bin")
    s.tofile(folder / "s.bin")


def main() -> None:
    """Run each tool in turn."""
    peers = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    programs = {
        "rocscope": [sys.executable, "-c", TIMED.format(setup=ROCSCOPE)],
        "scikit-learn": [sys.executable, "-c", TIMED.format(setup=SKLEARN)],
        "Orange": [peers, "-c", TIMED.format(setup=ORANGE)],
        "rtichoke, no AUC: table of 101 thresholds": [peers, "-c", TIMED.format(setup=RTICHOKE)],
        "pROC": ["Rscript", "-e", PROC],
    }
    threads = dict.fromkeys(("OMP", "OPENBLAS", "NUMBA"), "1")
    settings = os.environ | {f"{name}_NUM_THREADS": one for name, one in threads.items()} | {"POLARS_MAX_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        for name, command in programs.items():
            try:
                run = subprocess.run([*command, folder], env=settings, capture_output=True, text=True, check=True)
                print(f"{name}: {run.stdout.strip()}", flush=True)
            except (OSError, subprocess.CalledProcessError) as error:
                reason = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
                print(f"{name}: not measured ({reason})", flush=True)


if __name__ == "__main__":
    main()
