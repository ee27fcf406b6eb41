"""How often tests of equal models reject, and how often they find a difference, on designs drawn from a generator.

Run with ``python benchmarks/simulations/sizes.py``. Models are exchangeable; for the power one is made worse. A twin,
which ranks as the first model does, is there for the omnibus test. Prints the share of p-values below .05 for each test
and design: where models are equal (`size`, of tests that call themselves reliable), and where they are not (`power`),
beside that of DeLong's test, the peer where rows are independent and equal.
"""

import argparse
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from zlib import crc32

import numpy as np
from designs import FAMILIES, Ranks, Rng, apart, drawn_at_random

import rocscope as rs
from rocscope.errors import OneClassError, RocscopeWarning
from rocscope.inference import statistics

LEVEL = 0.05
PAIRS = {
    "AUC": {},
    "AUC, DeLong": {"method": "delong"},
    "partial AUC": {"statistic": statistics.partial_area(max_fpr=0.2)},
    "average precision": {"statistic": statistics.average_precision()},
    "tpr at fpr .1": {"statistic": statistics.tpr_at(0.1)},
}


@dataclass(frozen=True)
class Twins:
    """A design of ranks with several models: signal and own noise each, and of the first one a twin."""

    ranks: Ranks
    worse: float = 0.0

    def draw(self, rng: Rng) -> rs.Predictions:
        """Draw labels and the scores of three models and a twin; the second is worse by so much of the distance."""
        ranks, n = self.ranks, self.ranks.n
        label = np.arange(n) < np.clip(rng.binomial(n, ranks.n_pos / n), 2, n - 2)
        common, columns = FAMILIES[ranks.family](rng, n, label), {}
        if ranks.clusters:
            size = rng.lognormal(0, 1, ranks.clusters)
            columns["groups"] = rng.choice(size.size, n, p=size / size.sum())
            common = common + rng.standard_normal(size.size)[columns["groups"]]
        if ranks.weights:
            columns["sample_weight"] = rng.lognormal(0, 0.7, n)
        scores = {}
        for model in "abc":
            own = FAMILIES[ranks.family](rng, n, label)
            far = apart(ranks) * (1 - self.worse * (model == "b"))
            score = (common + own) / sqrt(2) + far * label
            edges = np.linspace(-1, apart(ranks) + 1, ranks.levels + 1)[1:-1]
            scores[model] = np.searchsorted(edges, score) * 1.0 if ranks.levels else score
        scores["twin"] = 2 * scores["a"] + 1
        return rs.Predictions(label, scores, **columns)


def found(sample: rs.Predictions, at: float) -> dict[str, tuple[float, bool]]:
    """Return the p-value of each test, and whether it calls itself reliable."""
    scores = {model: sample.scores[model] for model in "ab"}
    pair, of = rs.Predictions(sample.y_true, scores, sample_weight=sample.sample_weight, groups=sample.groups), {}
    for name, options in (PAIRS | {"tpr at a threshold": {"statistic": statistics.at(at, "tpr")}}).items():
        only = rs.compare(pair, **options)[0]
        of[name] = only.p_value, only.difference.reliable
    omnibus = rs.compare(sample).omnibus
    return of | {"omnibus with a twin": (omnibus.p_value, omnibus.reliable)}


def shares(design: Twins, samples: int) -> dict[str, tuple[float, float]]:
    """Return how often each test rejects, of equal models given that it is reliable, and how often it is that."""
    rng = np.random.default_rng([crc32(str(design).encode()), samples])
    at, each = apart(design.ranks) / 2, defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        for _ in range(samples):
            try:
                for name, (p_value, reliable) in found(design.draw(rng), at).items():
                    each[name].append((p_value <= LEVEL, reliable))
            except OneClassError:
                continue
    shown = {}
    for name, cases in each.items():
        rejects, reliable = (np.array(column, dtype=bool) for column in zip(*cases, strict=True))
        counted = rejects[reliable] if not design.worse else rejects
        shown[name] = float(counted.mean()) if counted.size else float("nan"), float(reliable.mean())
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--designs", type=int, default=20)
    parser.add_argument("--worse", type=float, default=0.25, help="of the distance of classes, for the power")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    ranks = drawn_at_random(1, options.designs)
    designs = [Twins(each, worse) for each in ranks for worse in (0.0, options.worse)]
    with ProcessPoolExecutor(options.processes) as pool:
        results = pool.map(partial(shares, samples=options.samples), designs)
        for design, of in zip(designs, results, strict=True):
            kind = "power" if design.worse else "size"
            for name, (rejects, reliable) in of.items():
                most = 0.055 + 2 * sqrt(0.05 * 0.95 / max(options.samples * reliable, 1))
                mark = "FAILS" if kind == "size" and reliable * options.samples >= 25 and rejects > most else ""
                print(
                    f"{design.ranks!s:<60} {kind:<6} {name:<22} {100 * rejects:5.1f} {100 * reliable:4.0f} {mark}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
