"""What Python answers for a few samples and contexts, for the report's client to answer likewise.

`python tests/reference/report_fixtures/make.py` writes the files; tests/report/test_report_fixtures.py checks that they
are what this script makes, and client/test/fixtures.test.ts that the client agrees with them.
"""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import rocscope as rs
from rocscope.core.result import jsonable
from rocscope.curves.curve import cumulative
from rocscope.errors import InputError
from rocscope.geometry.hull import best_point, pool
from rocscope.geometry.thinning import thin
from rocscope.report.page import counts_column, scores_column

FOLDER = Path(__file__).parent

CONTEXTS = (
    rs.Context(),
    rs.Context(cost_fp=1, cost_fn=20, target_prevalence=0.005),
    rs.Context(cost_fp=0.1, cost_fn=0.3),
    rs.Context(cost_fp=2, cost_fn=1, target_prevalence=0.3),
    rs.Context(target_prevalence=0.5, cost_fp=1, cost_fn=3, cost_tp=-1, cost_tn=-0.5),
    rs.Context(cost_fp=0, cost_fn=1),
    rs.Context(cost_fp=1, cost_fn=0),
    rs.Context(cost_fp=-1, cost_fn=2),
)
BEST_POINTS = "best_points"
SAMPLES, CONTEXTS_OF_A_SAMPLE = 80, 4
COSTS_OF_ERRORS = (-2, 0, 0.1, 0.1, 0.3, 1, 1, 2, 20)
COSTS_OF_HITS = (-1, -0.5, 0, 0, 0, 0, 0.1)
PREVALENCES = (None, None, 0.005, 0.3, 0.5)
PROBABILITIES = (0.05, 0.2, 0.5, 0.8)
CAMPAIGN = rs.Campaign(population=10_000, unit_cost=1, unit_benefit=45, fixed_cost=2_000)


def samples() -> dict[str, dict[str, rs.ThresholdCounts]]:
    """Samples that hold what is easily got wrong."""
    rng = np.random.default_rng(7)
    y = rng.random(400) < 0.3
    good, poor = (rng.normal(y * gap, 1).round(1) for gap in (1.6, 0.8))
    weight = rng.integers(1, 5, y.size) / 4
    counts = rs.ThresholdCounts.from_scores
    return {
        "ties": {
            "a": counts([1, 1, 0, 1, 0, 0], [3, 3, 3, 2, 2, 1]),
            "b": counts([1, 1, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1]),
        },
        "two_models": {"good": counts(y, good), "poor": counts(y, poor)},
        "weights": {"weighted": counts(y, good, sample_weight=weight)},
        "tiny_weights": {"weighted": counts(y, good, sample_weight=weight * 2.0**-700)},
        "long_gaps": {"gaps": rs.ThresholdCounts([0.9, 0.5, 0.1], [5_000_000, 1, 999], [1, 3_000_000_000, 7])},
        "reversed": {"wrong": counts([0, 0, 1, 1], [4, 3, 2, 1])},
        "perfect": {"right": counts([1, 1, 0, 0], [0.4, 0.3, 0.2, 0.1])},
        "one_class": {"only": rs.ThresholdCounts([2.0, 1.0], [3, 1], [0, 0])},
    }


def case(models: dict[str, rs.ThresholdCounts]) -> dict[str, Any]:
    """Return what the browser receives, and what Python says about it."""
    both = all(counts.n_pos and counts.n_neg for counts in models.values())
    return {
        "models": [_packed(name, counts) for name, counts in models.items()],
        "rates": [_rates(counts) for counts in models.values()],
        "contexts": [_answer(models, context) for context in CONTEXTS] if both else [],
        "regions": _regions(models) if both else [],
        "profit": [_profit(counts) for counts in models.values()] if both else [],
        "net_benefit": [_net_benefit(counts) for counts in models.values()] if both else [],
    }


def _packed(name: str, counts: rs.ThresholdCounts) -> dict[str, Any]:
    hull = pool(counts)
    depth = np.concatenate([[0], counts.tp + counts.fp])
    vertices = np.searchsorted(depth, np.concatenate([[0], hull.tp + hull.fp]))
    return {
        "name": name,
        "threshold": scores_column(counts.threshold.tolist()),
        "tp": counts_column(counts.tp.tolist()),
        "fp": counts_column(counts.fp.tolist()),
        "hull": counts_column(vertices.tolist()),
    }


def _rates(counts: rs.ThresholdCounts) -> dict[str, Any]:
    points = [counts.at(np.inf), *(counts.at(threshold) for threshold in counts.threshold)]
    names = ("tpr", "fpr", "precision", "npv", "accuracy", "depth", "lift", "mcc")
    return jsonable({name: [getattr(point, name) for point in points] for name in names})


def _answer(models: dict[str, rs.ThresholdCounts], context: rs.Context) -> dict[str, Any]:
    best = rs.choose(models, context)
    alone = [best_point(counts, context) for counts in models.values()]
    return jsonable(
        {
            "context": {
                name: getattr(context, name)
                for name in ("target_prevalence", "cost_fp", "cost_fn", "cost_tp", "cost_tn")
            },
            "model": best.model,
            "point": [best.point.tp, best.point.fp],
            "expected_cost": best.expected_cost,
            "alone": [[point.tp, point.fp] for point in alone],
            "slope": [context.slope(counts.prevalence) for counts in models.values()],
            "probability_threshold": context.probability_threshold,
        }
    )


def _regions(models: dict[str, rs.ThresholdCounts]) -> list[dict[str, Any]]:
    vertices = rs.hull(models).vertices
    used = [vertex for vertex in vertices if vertex.slope_low < vertex.slope_high]
    return jsonable([{"tpr": v.point.tpr, "fpr": v.point.fpr, "low": v.slope_low, "high": v.slope_high} for v in used])


def _profit(counts: rs.ThresholdCounts) -> list[float]:
    return rs.profit(counts, CAMPAIGN).y.tolist()


def _net_benefit(counts: rs.ThresholdCounts) -> list[list[float]]:
    share = counts.prevalence
    tp, fp = cumulative(counts)
    return [(tp / counts.n_pos * share - fp / counts.n_neg * (1 - share) * p / (1 - p)).tolist() for p in PROBABILITIES]


def best_points() -> str:
    """Return the file of many small samples, each in a few contexts: costs of 0 and below, ties, weights, few points.

    A line a sample: thresholds, true and false positives and vertices of each model as the page receives them; then for
    each context what Python chooses, the model's number, the threshold, true and false positives; and whether one
    action is right whatever the scores.
    """
    rng = np.random.default_rng(13)
    return "[\n" + ",\n".join(_best_points_of_a_sample(rng) for _ in range(SAMPLES)) + "\n]\n"


def _best_points_of_a_sample(rng: np.random.Generator) -> str:
    n, most = int(rng.integers(4, 25)), int(rng.integers(2, 12))
    y = rng.permutation(np.arange(n) < rng.integers(1, n))
    weight = rng.integers(1, 9, n) / 8 if rng.random() < 0.4 else None
    scores = [(rng.random(n) * most + y).round() for _ in range(rng.integers(1, 4))]
    models = {str(i): rs.ThresholdCounts.from_scores(y, score, sample_weight=weight) for i, score in enumerate(scores)}
    content = {
        "models": [_thinned(counts, most) for counts in models.values()],
        "best": [_chosen(models, _context(rng)) for _ in range(CONTEXTS_OF_A_SAMPLE)],
    }
    return json.dumps(jsonable(content), separators=(",", ":"), allow_nan=False)


def _thinned(counts: rs.ThresholdCounts, most: int) -> list[list[float]]:
    kept, hull = thin(counts, most), pool(counts)
    vertices = np.searchsorted(kept.tp + kept.fp, np.concatenate([[0], hull.tp + hull.fp]))
    return [kept.threshold[1:].tolist(), kept.tp.tolist(), kept.fp.tolist(), vertices.tolist()]


def _context(rng: np.random.Generator) -> rs.Context:
    while True:
        prevalence = PREVALENCES[rng.integers(len(PREVALENCES))]
        kinds = (COSTS_OF_ERRORS, COSTS_OF_ERRORS, COSTS_OF_HITS, COSTS_OF_HITS)
        costs = (kind[rng.integers(len(kind))] for kind in kinds)
        with suppress(InputError):  # costs that reward both kinds of error are refused
            return rs.Context(prevalence, *costs)


def _chosen(models: dict[str, rs.ThresholdCounts], context: rs.Context) -> list[Any]:
    best = rs.choose(models, context)
    costs = (context.cost_fp, context.cost_fn, context.cost_tp, context.cost_tn)
    threshold = str(best.threshold) if math.isinf(best.threshold) else best.threshold
    answer = [int(best.model), threshold, best.point.tp, best.point.fp]
    return [[context.target_prevalence, *costs], answer, any(note.startswith("trivial") for note in best.notes)]


def text(models: dict[str, rs.ThresholdCounts]) -> str:
    """Return the file of a sample."""
    return json.dumps(case(models), indent=1, allow_nan=False) + "\n"


if __name__ == "__main__":
    for name, models in samples().items():
        (FOLDER / f"{name}.json").write_text(text(models), encoding="utf-8")
    (FOLDER / f"{BEST_POINTS}.json").write_text(best_points(), encoding="utf-8")
