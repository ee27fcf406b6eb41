"""The intervals of the library, by kind of design, each with the truth that it ought to hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from designs import CURVES, Amounts, Chances, Folds, Ranks

import rocscope as rs
from rocscope.calibration import calibration_report, cox_calibration
from rocscope.inference import statistics
from rocscope.inference.estimate import Estimate
from rocscope.inference.expected_costs import compare_costs

Found = Mapping[str, Estimate]

AREAS = ("auto", "sure", "logit", "delong", "newcombe")
OF_RANKS = {
    "partial AUC, fpr ≤ .1": statistics.partial_area(max_fpr=0.1),
    "average precision": statistics.average_precision(),
    "tpr at fpr .1": statistics.tpr_at(0.1),
    "fpr at tpr .9": statistics.fpr_at(0.9),
    "lift at depth .1": statistics.lift_at(0.1),
}
AT_THRESHOLD = ("tpr", "fpr", "precision", "npv", "accuracy", "f1", "youden", "lr_positive", "odds_ratio", "mcc")
BOOTSTRAPS = ("percentile", "bca")
ROWS = 600_000  # of the population that truths are of


class Judge:
    """The truths of a design, and its intervals of a sample."""

    def __init__(self, design: Any, bootstrap: bool = False) -> None:
        self.design, self.bootstrap = design, bootstrap
        self.truth: dict[str, float] = {}
        self.threshold = float("nan")
        truths = {Ranks: self._of_ranks, Chances: self._of_chances, Amounts: self._of_amounts}
        if type(design) in truths:  # folds have a truth for each sample
            truths[type(design)]()

    @property
    def _times(self) -> int:
        return max(200, ROWS // self.design.n)

    def intervals(self, rng: np.random.Generator) -> tuple[Found, Mapping[str, float]]:
        """Return the intervals of a new sample, and the truths."""
        design = self.design
        if isinstance(design, Folds):
            sample, truth = design.fitted(rng)
            found = {f"AUC over folds, {folds}": rs.auc_interval(sample, folds=folds) for folds in ("pooled", "mean")}
            return found, dict.fromkeys(found, truth)
        sample = design.draw(rng)
        if isinstance(design, Chances):
            report = calibration_report(sample, draws=199, random_state=int(rng.integers(2**31)))
            return {name: e for name, e in report.estimates.items() if name in self.truth}, self.truth
        if isinstance(design, Amounts):
            found = compare_costs(sample, rs.Context(cost_fn="amount"), thresholds=1.5)
            return {"cost of rows": found.estimates["a"], "difference of costs": found[0].difference}, self.truth
        return self._ranked(sample), self.truth

    def _ranked(self, sample: rs.Predictions) -> Found:
        alone = sample.groups is None and sample.sample_weight is None
        methods = [method for method in AREAS if alone or method != "sure"]
        found = {f"AUC, {method}": rs.auc_interval(sample, method=method) for method in methods}
        found |= {name: rs.inference.estimate_of(sample, each) for name, each in self._smooth().items()}
        if self.bootstrap:
            for method in BOOTSTRAPS:
                found[f"AUC, bootstrap {method}"] = rs.bootstrap(sample, rs.auc, replicates=500, method=method)
        return found

    def _smooth(self) -> Mapping[str, Any]:
        at = {f"{name} at a threshold": statistics.at(self.threshold, name) for name in AT_THRESHOLD}
        return OF_RANKS | at

    def _of_ranks(self) -> None:
        counts = self.design.draw(np.random.default_rng([7, self.design.n]), self._times).counts()
        fpr = counts.fp / counts.n_neg
        self.threshold = float(counts.threshold[np.searchsorted(fpr, 0.1)])
        self.truth = {name: each(counts) for name, each in self._smooth().items()}
        names = [*AREAS, *(f"bootstrap {method}" for method in BOOTSTRAPS)]
        self.truth |= {f"AUC, {name}": rs.auc(counts) for name in names}

    def _of_chances(self) -> None:
        population = self.design.draw(np.random.default_rng(8), self._times)
        score = population.scores["score"]
        chance = CURVES[self.design.curve](score)
        apart, events = np.abs(chance - score), float(chance.mean())
        brier = float((chance * (1 - score) ** 2 + (1 - chance) * score**2).mean())
        cox = cox_calibration(population)
        self.truth = {
            "brier": brier,
            "scaled_brier": 1 - brier / (events * (1 - events)),
            "log_loss": float(-(chance * np.log(score) + (1 - chance) * np.log1p(-score)).mean()),
            "observed_over_expected": events / float(score.mean()),
            "observed_minus_predicted": events - float(score.mean()),
            "in_the_large": cox.in_the_large,
            "intercept": cox.intercept,
            "slope": cox.slope,
            "ici": float(apart.mean()),
            "ici_quadratic": float(apart.mean()),
            "e50": float(np.quantile(apart, 0.5)),
            "e90": float(np.quantile(apart, 0.9)),
            "ece": _binned(chance - score, np.clip(score * 10, 0, 9).astype(int)),
            "ece_equal_mass": _binned(chance - score, np.argsort(np.argsort(score)) * 10 // score.size),
        }
        if self.design.curve != "bump":
            self.truth["brier_miscalibration"] = float((apart**2).mean())

    def _of_amounts(self) -> None:
        population = self.design.draw(np.random.default_rng(9), 4 * self._times)
        mean = self.design.shape / (self.design.shape - 1)  # of the amounts, which a sample's tail hardly shows
        missed = {}
        for model, score in population.scores.items():
            called, label = score >= 1.5, population.y_true
            missed[model] = float((called & ~label).mean() + mean * (label & ~called).mean())
        self.truth = {"cost of rows": missed["a"], "difference of costs": 0.0}


def _binned(excess: np.ndarray, cell: np.ndarray) -> float:
    return float(np.abs(np.bincount(cell, excess)).sum() / excess.size)
