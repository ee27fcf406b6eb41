"""One row of a published table, together with our results."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import rocscope as rs

PUBLISHED = Path(__file__).with_name("published")


@dataclass(frozen=True)
class Row:
    """Our results for one data set by seed, and the published results.

    Parameters
    ----------
    name : str
    n : int
        Cases of the data set.
    ours : mapping from name of a figure to values, one for each seed
    published : mapping from name of a figure to value
    reason : str
        Likely reason if our change differs from the published change; empty if not investigated.
    unit : float
        Unit of the figures: 1 for shares, 100 for percentages.
    """

    name: str
    n: int
    ours: Mapping[str, Sequence[float]]
    published: Mapping[str, float]
    reason: str = ""
    unit: float = 1.0

    def mean(self, figure: str) -> float:
        """Return the mean of our figure over the seeds."""
        return float(np.mean(self.ours[figure]))

    def difference(self, figure: str) -> float:
        """Return the mean of our figure minus the published figure."""
        return self.mean(figure) - self.published[figure]

    def interval(self, figure: str = "change") -> tuple[float, float]:
        """Return a 95% prediction interval of the figure for another seed, such as the seed of the publication.

        It is the prediction interval of a normal sample. Each half of the interval has at least the size of one case.
        """
        values = np.asarray(self.ours[figure])
        reach = 0.0
        if values.size > 1:
            reach = stats.t.ppf(0.975, values.size - 1) * values.std(ddof=1) * sqrt(1 + 1 / values.size)
        reach = float(max(reach, self.unit / self.n))
        return self.mean(figure) - reach, self.mean(figure) + reach

    @property
    def agrees(self) -> bool | None:
        """Whether the published change is in the prediction interval of our change; None if there is only one seed."""
        if len(self.ours["change"]) < 2:
            return None
        low, high = self.interval()
        return low <= self.published["change"] <= high

    @property
    def why(self) -> str:
        """The likely reason for the difference between our change and the published change."""
        return self.reason or ("within the variation between our seeds" if self.agrees else "reason not known")

    def to_dict(self) -> dict[str, Any]:
        """Return our results, the published results and their differences as a dictionary for JSON."""
        return {
            "name": self.name,
            "n": self.n,
            "ours": {figure: self.mean(figure) for figure in self.ours},
            "published": dict(self.published),
            "difference": {figure: self.difference(figure) for figure in self.published},
            "change_interval": self.interval(),
            "agrees": self.agrees,
            "why": self.why,
            "seeds": {figure: list(values) for figure, values in self.ours.items()},
        }


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of a published table. All values are strings."""
    with (PUBLISHED / name).open(newline="") as file:
        return list(csv.DictReader(file))


def print_signed_ranks(rows: Sequence[Row], default: str, chosen: str, what: str) -> None:
    """Print the signed-rank test of two figures over data sets, for the published results and for our results."""
    for whose, figures in (
        ("published", [row.published for row in rows]),
        ("ours", [{name: row.mean(name) for name in (default, chosen)} for row in rows]),
    ):
        values = {name: [each[name] for each in figures] for name in (default, chosen)}
        found = rs.evaluation.compare_datasets(values).pairs[0]
        print(f"  {what}, {whose}: {found.difference.words}, Wilcoxon p={found.p_value:.3g}")


def print_correlation(rows: Sequence[Row]) -> float | None:
    """Print and return the correlation of our changes and the published changes; None for fewer than three rows."""
    if len(rows) < 3:
        return None
    found = float(np.corrcoef([row.mean("change") for row in rows], [row.published["change"] for row in rows])[0, 1])
    print(f"Correlation of our {len(rows)} changes with the published changes: {found:.3f}")
    return found


def print_disagreements(rows: Sequence[Row]) -> None:
    """Print the rows whose published change is outside our prediction interval, with the likely reason."""
    if not rows or len(rows[0].ours["change"]) < 2:
        print("\nTo test whether our changes differ from the published changes, use two or more seeds.")
        return
    apart = [row for row in rows if not row.agrees]
    print(f"\nIn {len(apart)} of {len(rows)} rows, the published change is outside our 95% prediction interval:")
    for row in apart:
        low, high = row.interval()
        digits = 3 if row.unit == 1 else 1
        facts = f"published {row.published['change']:+.{digits}f}, ours {low:+.{digits}f} to {high:+.{digits}f}"
        print(f"  {row.name}: {facts}; {row.why}")
