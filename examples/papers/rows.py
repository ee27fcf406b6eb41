"""One row of a published table beside what we found for it."""

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
    """Figures of one data set: ours by seed, and the published ones.

    Parameters
    ----------
    name : str
    n : int
        Cases of the data set.
    ours : mapping from figure to values, one a seed
    published : mapping from figure to value
    reason : str
        Why the change may disagree with the published one, where we have looked into it.
    unit : float
        What the figures count: 1 for shares, 100 for percent.
    """

    name: str
    n: int
    ours: Mapping[str, Sequence[float]]
    published: Mapping[str, float]
    reason: str = ""
    unit: float = 1.0

    def mean(self, figure: str) -> float:
        """Return our figure, averaged over seeds."""
        return float(np.mean(self.ours[figure]))

    def difference(self, figure: str) -> float:
        """Return our figure minus the published one."""
        return self.mean(figure) - self.published[figure]

    def interval(self, figure: str = "change") -> tuple[float, float]:
        """Return where one more way to cut into folds, as the publication is one, would put the figure (95%).

        The prediction interval of a normal sample, and never narrower than one case of the data set either way.
        """
        values = np.asarray(self.ours[figure])
        reach = 0.0
        if values.size > 1:
            reach = stats.t.ppf(0.975, values.size - 1) * values.std(ddof=1) * sqrt(1 + 1 / values.size)
        reach = float(max(reach, self.unit / self.n))
        return self.mean(figure) - reach, self.mean(figure) + reach

    @property
    def agrees(self) -> bool | None:
        """Whether the published change is one that another seed might have given; None with one seed of ours."""
        if len(self.ours["change"]) < 2:
            return None
        low, high = self.interval()
        return low <= self.published["change"] <= high

    @property
    def why(self) -> str:
        """The likely reason for a change that is not the published one."""
        return self.reason or ("no more than another seed of ours would change" if self.agrees else "reason not known")

    def to_dict(self) -> dict[str, Any]:
        """Return ours, theirs and what lies between, for JSON."""
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
    """Return the rows of a published table, as text."""
    with (PUBLISHED / name).open(newline="") as file:
        return list(csv.DictReader(file))


def print_signed_ranks(rows: Sequence[Row], default: str, chosen: str, what: str) -> None:
    """Print the signed-rank test of two figures over data sets, for the published ones and for ours."""
    for whose, figures in (
        ("published", [row.published for row in rows]),
        ("ours", [{name: row.mean(name) for name in (default, chosen)} for row in rows]),
    ):
        values = {name: [each[name] for each in figures] for name in (default, chosen)}
        found = rs.evaluation.compare_datasets(values).pairs[0]
        print(f"  {what}, {whose}: {found.difference.words}, Wilcoxon p={found.p_value:.3g}")


def print_correlation(rows: Sequence[Row]) -> float | None:
    """Print how our changes go with the published ones, and return their correlation; None for fewer than three."""
    if len(rows) < 3:
        return None
    found = float(np.corrcoef([row.mean("change") for row in rows], [row.published["change"] for row in rows])[0, 1])
    print(f"Correlation of the {len(rows)} changes with the published ones: {found:.3f}")
    return found


def print_disagreements(rows: Sequence[Row]) -> None:
    """List the rows whose published change no other seed of ours is likely to give, with the likely reason."""
    if not rows or len(rows[0].ours["change"]) < 2:
        print("\nWhich rows disagree by more than the choice of folds explains takes two seeds or more to tell.")
        return
    apart = [row for row in rows if not row.agrees]
    print(f"\nOn {len(apart)} of {len(rows)} rows another seed of ours would hardly give the published change:")
    for row in apart:
        low, high = row.interval()
        digits = 3 if row.unit == 1 else 1
        facts = f"published {row.published['change']:+.{digits}f}, ours {low:+.{digits}f} to {high:+.{digits}f}"
        print(f"  {row.name}: {facts}; {row.why}")
