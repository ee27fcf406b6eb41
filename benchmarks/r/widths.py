"""Widths and coverage of intervals, compared with pROC, survey, rms and riskRegression in R.

Run ``python benchmarks/r/widths.py --samples 100``. On Debian, ``apt-get install r-cran-proc r-cran-survey r-cran-rms
r-cran-riskregression`` installs the packages. Prints a row for each design: the coverage of both 95% intervals, and the
median width of the interval of rocscope divided by the median width of the interval of R.
"""

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

import rocscope as rs
from rocscope.errors import RocscopeWarning
from rocscope.inference import Estimate, estimate_of, statistics
from rocscope.outcomes import at_horizon

Rng = np.random.Generator
Columns = Mapping[str, Any]
LARGE = 1_000_000  # rows of the sample that stands for the population


@dataclass(frozen=True)
class Design:
    """Samples of one kind, and the interval of one figure.

    Attributes
    ----------
    figure : str
        Name of the figure; widths.R has its interval in R under this name.
    package : str
        R package of that interval.
    interval : function of the columns of a sample
        Interval of rocscope.
    n : int
        Number of rows.
    share : float
        Share of positives.
    auc : float
        AUC of the scores, which are normal.
    """

    figure: str
    package: str
    interval: Callable[[pd.DataFrame], Estimate]
    n: int
    share: float
    auc: float

    def __str__(self) -> str:
        return f"{self.figure} - n {self.n:,}, {100 * self.share:g}% positive, AUC {self.auc:g}"

    def draw(self, rng: Rng, n: int) -> pd.DataFrame:
        """Draw n rows: labels y, scores a and b, groups g, weights w, and follow-up."""
        y = rng.random(n) < self.share
        distance = np.sqrt(2) * ndtri(self.auc)
        common, *own = rng.standard_normal((3, n))
        # For a threshold of 0.5 to cut both classes, scores of positives lie around half of the distance.
        a, b = (distance * (y - 0.5) + 0.5 + np.sqrt(0.5) * (common + part) for part in own)
        rows = pd.DataFrame({"y": y.astype(int), "a": a, "b": b, "w": 1.0})
        rows["g"] = rng.integers(0, 60, n)
        if "groups" in self.figure:
            rows["a"] += rng.standard_normal(n)[rows["g"]] / 2 if n < LARGE else rng.standard_normal(n) / 2
        if "weighted" in self.figure:
            # Rows with low scores are drawn less often, and count more.
            kept = rng.random(n) < np.where(a > 0.5, 1, 0.4)
            rows = rows.assign(w=np.where(a > 0.5, 1, 2.5))[kept]
        if self.probabilities:
            logit = 1.2 * rng.standard_normal(n) + np.log(self.share / (1 - self.share))
            rows["a"], rows["y"] = expit(logit), (rng.random(n) < expit(logit)).astype(int)
        if "horizon" in self.figure:
            time = rng.exponential(-1 / np.log1p(-rows["a"]))
            end = rng.exponential(2, n) if n < LARGE else np.full(n, np.inf)
            rows["time"], rows["event"] = np.minimum(time, end), (time <= end).astype(int)
        return rows

    @property
    def probabilities(self) -> bool:
        """Whether the score is the probability of a positive, or of an event before the horizon."""
        return any(part in self.figure for part in ("Brier", "calibration", "horizon"))


def predictions(rows: pd.DataFrame, **options: Any) -> rs.Predictions:
    return rs.Predictions(rows["y"], {"a": rows["a"], "b": rows["b"]}, **options)


def followed(rows: pd.DataFrame) -> rs.Predictions:
    return at_horizon(rows["time"], rows["event"], rows["a"], 1.0)


def of_figure(figure: Any, **columns: str) -> Callable[[pd.DataFrame], Estimate]:
    """Return the interval of a figure of model a; `columns` are the columns of groups and weights."""

    def interval(rows: pd.DataFrame) -> Estimate:
        options = {name: rows[column] for name, column in columns.items()}
        if "sample_weight" in options:
            options["weights"] = "sampling"
        return estimate_of(predictions(rows, **options), figure, model="a")

    return interval


def designs() -> list[Design]:
    """Return all designs."""
    at_half = statistics.at(0.5, "tpr")
    area = of_figure(statistics.area())
    found = [Design("AUC", "pROC", area, *size) for size in ((250, 0.2, 0.75), (330, 0.1, 0.9), (1100, 0.1, 0.65))]
    difference = "difference of AUC"
    found += [
        Design(difference, "pROC", lambda rows: rs.compare(predictions(rows))[0].difference, *size)
        for size in ((400, 0.25, 0.8), (1000, 0.5, 0.7))
    ]
    for name, figure in (
        ("partial AUC, fpr up to 0.1", statistics.partial_area(max_fpr=0.1)),
        ("tpr at fpr 0.1", statistics.tpr_at(0.1)),
        ("fpr at tpr 0.9", statistics.fpr_at(0.9)),
    ):
        found.append(Design(name, "pROC", of_figure(figure), 600, 0.3, 0.8))
    found += [
        Design("tpr of groups", "survey", of_figure(at_half, groups="g"), 800, 0.3, 0.8),
        Design("tpr of weighted rows", "survey", of_figure(at_half, sample_weight="w"), 800, 0.3, 0.8),
        Design("Brier score", "riskRegression", of_figure(statistics.brier()), 400, 0.3, 0.8),
        Design("calibration slope", "rms", of_figure(statistics.calibration_slope()), 500, 0.3, 0.8),
        Design("calibration intercept", "rms", of_figure(statistics.calibration_intercept()), 500, 0.3, 0.8),
        Design("AUC at a horizon", "riskRegression", lambda rows: rs.auc_interval(followed(rows)), 400, 0.3, 0.8),
        Design(
            "Brier score at a horizon",
            "riskRegression",
            lambda rows: estimate_of(followed(rows), statistics.brier()),
            400,
            0.3,
            0.8,
        ),
    ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RocscopeWarning)
    ours: dict[str, np.ndarray] = {}
    truth: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for design in designs():
            rng = np.random.default_rng(1)
            truth[str(design)] = design.interval(design.draw(rng, LARGE)).value
            samples = [design.draw(rng, design.n).assign(sample=number) for number in range(options.samples)]
            pd.concat(samples).to_csv(Path(folder, f"{design}.csv"), index=False)
            ours[str(design)] = np.array([(found.low, found.high) for found in map(design.interval, samples)])
        subprocess.run(["Rscript", str(Path(__file__).with_suffix(".R")), folder], check=True)
        print(
            "| figure | package | covers, R | covers, rocscope | ratio of widths |",
            "|---|---|---:|---:|---:|",
            sep="\n",
        )
        for design in designs():
            name = str(design)
            theirs = np.loadtxt(Path(folder, f"{name}.limits"))
            shares = [
                100 * np.mean((low <= truth[name]) & (truth[name] <= high)) for low, high in (theirs.T, ours[name].T)
            ]
            ratio = np.median(np.ptp(ours[name], axis=1)) / np.median(np.ptp(theirs, axis=1))
            print(f"| {name} | {design.package} | {shares[0]:.1f} | {shares[1]:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
