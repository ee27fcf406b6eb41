"""How often intervals under censoring and of experiments hold the truth, and paired tests reject what is true.

Run with ``python benchmarks/simulations/outcomes.py --samples 500``. A line for each design: coverage, coverage given
reliable, how often reliable; for tests how often they reject at 5%.
"""

import argparse
import warnings
from collections import defaultdict
from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

import rocscope as rs
from rocscope.errors import InputError, RocscopeWarning
from rocscope.inference import estimate_of, statistics
from rocscope.inference.expected_costs import compare_costs
from rocscope.outcomes import at_horizon, from_experiment

HORIZON = 1.0
# Strength of the predictor for an AUC of about .6, .8 and .97; with noise of the second half of the score.
STRENGTH = {0.6: 0.42, 0.8: 1.2, 0.97: 4.0}


def follow_up(rng, n, auc, share, censored, *, competing=False, clusters=0, dependent=0.0):
    """Return time, event, two equally good scores, and groups: a `share` of events until the horizon, uncensored.

    The log hazard of censoring rises by `dependent` with each unit of the predictor.
    """
    b = STRENGTH[auc]
    group = np.arange(n) % clusters if clusters else None
    x = rng.standard_normal(n)
    if group is not None:
        x = (x + rng.standard_normal(clusters)[group]) / np.sqrt(2)
    rate = np.exp(b * x + _level(b, share))
    time = rng.exponential(1 / rate)
    other = rng.exponential(1 / 0.2, n) if competing else np.full(n, np.inf)
    end = rng.exponential(np.exp(-dependent * x) / -np.log1p(-censored)) if censored else np.full(n, np.inf)
    event = np.where(end < np.minimum(time, other), 0, np.where(time <= other, 1, 2))
    scores = {name: x + 0.4 / b * rng.standard_normal(n) for name in "ab"}
    chances = {name: 1 / (1 + np.exp(-(np.log(share / (1 - share)) + b * score))) for name, score in scores.items()}
    return np.minimum(np.minimum(time, other), end), event, chances, group


@cache
def _level(b, share):
    """Return the logarithm of the rate at a predictor of 0 that gives the share of events."""
    x = ndtri((np.arange(4000) + 0.5) / 4000)
    return brentq(lambda level: -np.expm1(-np.exp(b * x + level)).mean() - share, -60, 20)


def of_follow_up(rng, samples, n, auc, share, censored, **design):
    """Return for each figure whether it holds the truth and is reliable, and p-values of equal models."""
    big = follow_up(rng, 400_000, auc, share, 0, competing=design.get("competing", False))
    whole = at_horizon(*big[:3], HORIZON, event_codes=[0, 1, 2])
    figures = {"Brier(t)": statistics.brier(), "O/E(t)": statistics.observed_to_expected()}
    truth = {"AUC(t)": rs.auc(whole, model="a")}
    truth |= {name: each(whole.counts("a")) for name, each in figures.items()}
    found, p_values = defaultdict(list), []
    for _ in range(samples):
        time, event, scores, group = follow_up(rng, n, auc, share, censored, **design)
        try:
            preds = at_horizon(time, event, scores, HORIZON, event_codes=[0, 1, 2], groups=group)
            estimates = {"AUC(t)": rs.auc_interval(preds, model="a")}
            estimates |= {name: estimate_of(preds, each, model="a") for name, each in figures.items()}
            p_values.append(rs.compare(preds)[0].p_value)
        except InputError:  # no event, or all censored
            continue
        for name, each in estimates.items():
            found[name].append((truth[name] in each, each.reliable))
    return found, p_values


def mailing(rng, n, response, share, effect, *, drawn=True):
    """Return responses (or their chances), treatment and scores: of what contact adds, or of nothing."""
    x = rng.random(n)
    treated = rng.random(n) < share
    chance = response * (1 + effect * treated * (2 * x - 0.5))
    answer = (rng.random(n) < chance).astype(int) if drawn else chance
    return answer, treated.astype(int), {name: x + 0.3 * rng.standard_normal(n) for name in "ab"}


def of_mailings(rng, samples, n, response, share, effect):
    """Return the same for areas and for the profit of contacting scores from a half on."""
    big = _figures(from_experiment(*mailing(rng, 400_000, response, share, effect, drawn=False), **MONEY))
    found, p_values = defaultdict(list), []
    for _ in range(samples):
        experiment = from_experiment(*mailing(rng, n, response, share, effect), **MONEY)
        for name, each in _figures(experiment).items():
            found[name].append((big[name].value in each, each.reliable))
        p_values.append(experiment.compare()[0].p_value)
    return found, p_values


MONEY = {"benefit": 100, "cost": 1}


def _figures(experiment):
    profit = compare_costs(*experiment.priced(), thresholds=0.5).estimates["a"]
    return {"Qini": experiment.qini("a").area, "AUUC": experiment.uplift("a").area, "profit": profit}


def report(design, found, p_values):
    for name, cases in found.items():
        held, reliable = np.array(cases).T.astype(bool)
        given = f"{100 * held[reliable].mean():5.1f}" if reliable.any() else "    –"
        print(f"{design:<62} {name:<10} {100 * held.mean():5.1f} {given} {100 * reliable.mean():5.0f}", flush=True)
    if p_values:
        print(f"{design:<62} {'paired':<10} rejects {100 * np.nanmean(np.array(p_values) < 0.05):.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--kind", choices=["follow-up", "mailing"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", RocscopeWarning)
    rng = np.random.default_rng(0)
    if options.kind != "mailing":
        sizes = [(80, 0.1), (300, 0.1), (400, 0.5)]  # 8, 30 and 200 events
        designs = [(*size, auc, censored, {}) for size, auc, censored in product(sizes, STRENGTH, (0.1, 0.4, 0.7))]
        designs += [(400, 0.3, auc, 0.4, {"competing": True}) for auc in STRENGTH]
        designs += [(n, 0.3, 0.8, 0.4, {"dependent": slope}) for n in (200, 500) for slope in (0.2, 0.5, 1.0)]
        designs += [(400, 0.3, auc, 0.4, {"clusters": k}) for auc, k in ((0.8, 40), (0.97, 40), (0.8, 15))]
        for n, share, auc, censored, more in designs:
            what = ", ".join(["", *(f"{key} {value}" for key, value in more.items())])
            name = f"n {n}, {100 * share:g}% events, {100 * censored:g}% censored, AUC {auc:g}{what}"
            report(name, *of_follow_up(rng, options.samples, n, auc, share, censored, **more))
    if options.kind != "follow-up":
        for response, share, effect in product((0.01, 0.2), (0.1, 0.5, 0.9), (0.0, 1.0)):
            for n in (5000, 30_000) if response == 0.01 and share != 0.5 else (5000,):
                name = f"mailing of {n:,}, response {100 * response:g}%, treated {share:g}, effect {effect:g}"
                report(name, *of_mailings(rng, options.samples, n, response, share, effect))


if __name__ == "__main__":
    main()
