"""Samples of segments whose true costs are known, and how often the interval of an allocation holds them."""

import numpy as np

import rocscope as rs

SEGMENTS = {"n": (0.5, 0.3, 1.2), "s": (0.3, 0.2, 1.2), "w": (0.2, 0.1, 0.8)}  # share, prevalence, means apart
ACTIONS = {"letter": rs.Campaign(1000, 1, 4), "call": rs.Campaign(1000, 5, 12)}
DESIGNS = {
    "no limit": {"context": rs.Context(cost_fn=4)},
    "capacity of a sixth": {"context": rs.Campaign(1000, 1, 6), "capacity": 170},
    "budget": {"context": rs.Campaign(1000, 1, 6, 50), "budget": 300},
    "equal tpr": {"context": rs.Campaign(1000, 1, 6, capacity=250), "max_difference": {"tpr": 0.05}},
    "floors": {"context": rs.Campaign(1000, 1, 6), "capacity": 250, "subject_to": "tpr >= .3"},
    "two actions": {"actions": ACTIONS, "budget": 500},
}
MANY = 100_000


def sample(rng, n):
    """Draw rows of three segments, the shares of which are fixed."""
    segment = np.repeat(list(SEGMENTS), [round(share * n) for share, *_ in SEGMENTS.values()])
    prevalence, apart = np.array([SEGMENTS[name][1:] for name in segment]).T
    y = rng.random(segment.size) < prevalence
    return rs.Predictions(y, {"a": np.round(rng.normal(size=y.size) + apart * y, 2)}, segment=segment)


def truths(rng):
    """Return the true share of positives among the best cases of each segment, by how many they are."""
    found = {}
    for name, (_, prevalence, apart) in SEGMENTS.items():
        y = rng.random(MANY) < prevalence
        order = np.argsort(-(rng.normal(size=MANY) + apart * y))
        found[name] = np.concatenate([[0.0], np.cumsum(y[order]) / MANY])
    return found


def true_cost(plan, found):
    """Return what acting on the planned share of each segment truly costs, best cases first."""
    cost = 0.0
    for i, place in enumerate(getattr(plan, "places", (plan,))):
        for g, name in enumerate(place.names.tolist()):
            pos, neg, (tp, fp, fn, tn), _ = place.unit_costs[g]
            n = sum(each[g] for each in place.totals)
            depth = float(place.depth[g])
            hits, share = found[name][round(depth * MANY)], found[name][-1]
            cost += n * pos * (tp * hits + fn * (share - hits)) + n * neg * (
                fp * (depth - hits) + tn * (1 - share - depth + hits)
            )
        assert i == 0 or np.all(place.depth <= plan.places[i - 1].depth + 1e-9)
    return cost


def covered(name, samples, n=600, seed=0):
    """Return how often the interval of a design holds the true cost, and how often it is reliable."""
    rng = np.random.default_rng([seed, n])
    found, held, reliable, apparent = truths(rng), [], [], []
    for _ in range(samples):
        plan = rs.allocate(sample(rng, n), **DESIGNS[name])
        interval, truth = plan.interval(), true_cost(plan, found)
        held.append(truth in interval)
        reliable.append(interval.reliable)
        apparent.append((plan.cost - truth, interval.value - truth))
    bias = np.mean(apparent, axis=0)
    print(
        f"{name}, {n} rows: covers {np.mean(held):.1%} of {samples} samples, reliable {np.mean(reliable):.0%}, "
        f"bias {bias[1]:.4g}, apparent {bias[0]:.4g}",
        flush=True,
    )
    return np.mean(held)


if __name__ == "__main__":
    import sys

    for design in DESIGNS:
        for rows in (200, 600):
            covered(design, int(sys.argv[1]), rows)
