"""qualify: the checks that a validation team signs, run on the user's own machine.

Figures against slow exact arithmetic, ways of reading against each other, published figures, and changed decisions.
"""

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet

from rocscope import __version__
from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import write_file
from rocscope._base.contract import contract
from rocscope.core.context import Context
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, html_table
from rocscope.curves.rate_curves import auc, precision_recall, roc
from rocscope.decisions.choosing import choose
from rocscope.decisions.loading import load_plan
from rocscope.engines.reading import read_counts
from rocscope.errors import RocscopeError
from rocscope.inference.proportions import proportion_interval
from rocscope.report.model import fingerprint

_MOST_LISTED = 5  # failures of a check that are shown: a choice
_LIBRARIES = ("numpy", "scipy", "pyarrow", "duckdb", "numba")
_CONTEXT = Context(cost_fp=1, cost_fn=3)

Case = tuple[str, Any, str]
"""What was tried, its result (which goes into the digest), and the error; the last is empty if there is none."""


@dataclass(frozen=True)
class Check(Result):
    """One kind of check.

    Attributes
    ----------
    name, what : str
        What was compared with what.
    cases : int
    failures : tuple of str
        All that did not agree.
    digest : str
        Hash of all results: equal on two machines where these are, to ten digits.
    """

    _also = ("passed",)

    name: str
    what: str
    cases: int
    failures: tuple[str, ...]
    digest: str

    @property
    def passed(self) -> bool:
        """Whether something was tried and all of it agreed."""
        return self.cases > 0 and not self.failures


@dataclass(frozen=True, repr=False)
class Qualification(Result):
    """What the checks found, on which machine and with which versions.

    Attributes
    ----------
    checks : tuple of Check
    versions : dict from name to version
        Of rocscope, Python and the libraries beneath.
    machine, made : str
        System and processor; date and time in UTC.
    random_state : int
    """

    _also = ("passed",)

    checks: tuple[Check, ...]
    versions: dict[str, str]
    machine: str
    made: str
    random_state: int

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(each.passed for each in self.checks)

    def __repr__(self) -> str:
        failed = [each.name for each in self.checks if not each.passed]
        return f"Qualification({sum(each.cases for each in self.checks):,} cases, failed={failed})"

    def to_html(self) -> str:
        """Return the dossier as one page without scripts, with lines for signatures."""
        rows = [
            (each.name, each.what, f"{each.cases:,}", f"{len(each.failures):,}", each.digest) for each in self.checks
        ]
        failures = [f"{each.name}: {failure}" for each in self.checks for failure in each.failures[:_MOST_LISTED]]
        facts = {"made": self.made, "machine": self.machine, "seed": str(self.random_state)} | self.versions
        parts = [
            f"<h1>Qualification of rocscope {escape(self.versions['rocscope'])}</h1>",
            f"<p><strong>{'All checks passed.' if self.passed else 'Checks failed.'}</strong></p>",
            html_table(rows, ("check", "compared", "cases", "failures", "digest")),
            *(f"<p>{escape(failure)}</p>" for failure in failures),
            "<h2>Made with</h2>",
            html_table(facts.items()),
            "<h2>Signed</h2>",
            html_table([("Name", "", "Date", ""), ("Name", "", "Date", "")]),
        ]
        return _PAGE.format(body="\n".join(parts))

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the dossier; an existing file is replaced unless `force` is False."""
        return write_file(path, self.to_html(), force=force)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Qualification of rocscope</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #16202b; }}
body {{ max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid #ccd4dd; padding: .35rem .6rem; height: 1.6rem; }}
th, td {{ text-align: left; vertical-align: top; }}
td:last-child {{ font-family: ui-monospace, monospace; font-size: .85em; }}
</style>
<body>
{body}
</body>
</html>
"""


@contract
def qualify(cases: int = 500, *, random_state: int = 0) -> Qualification:
    """Check this installation: figures, readers, published values and the proof of decisions.

    Parameters
    ----------
    cases : int
        Samples drawn for each check; a tenth of them for those that write files.
    random_state : int

    Returns
    -------
    Qualification
        Counts of cases and failures with a digest for each check; `save` writes the dossier.

    Examples
    --------
    >>> qualify(20)
    Qualification(44 cases, failed=[])
    """
    check.check_whole(cases, "cases")
    rng, few = np.random.default_rng(random_state), max(1, cases // 10)
    with tempfile.TemporaryDirectory() as folder:
        checks = (
            _checked(
                "figures", "areas, costs and hulls against sums over all pairs in fractions", _figures(rng, cases)
            ),
            _checked("readers", "rows of five formats against the arrays written", _readers(rng, few, Path(folder))),
            _checked("published", "values printed in papers and manuals", _published()),
            _checked("proofs", "decisions, and each with one number changed", _proofs(rng, few, Path(folder))),
        )
    known = {"rocscope": __version__, "Python": platform.python_version()} | dict(map(_version, _LIBRARIES))
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return Qualification(checks, known, machine, datetime.now(UTC).isoformat(timespec="seconds"), random_state)


def _checked(name: str, what: str, cases: Iterator[Case]) -> Check:
    digest, count, failures = hashlib.sha256(), 0, []
    for tried, result, wrong in cases:
        count += 1
        shown = [f"{each:.10g}" if isinstance(each, float) else str(each) for each in np.atleast_1d(result).tolist()]
        digest.update(f"{tried}: {shown}\n".encode())
        failures += [f"{tried}: {wrong}"] if wrong else []
    return Check(name, what, count, tuple(failures), digest.hexdigest()[:16])


def _version(library: str) -> tuple[str, str]:
    try:
        return library, version(library)
    except PackageNotFoundError:
        return library, "not installed"


def _sample(rng: np.random.Generator) -> tuple[Array, Array, Array | None]:
    """Return labels of both classes, scores with ties, and weights or None."""
    n = int(rng.integers(2, 13))
    y = np.append(rng.integers(0, 2, n), [0, 1])
    scores = rng.integers(0, int(rng.integers(1, 9)) + 1, n + 2) / 8
    return y, scores, [None, rng.integers(1, 5, n + 2), rng.random(n + 2)][int(rng.integers(3))]


def _figures(rng: np.random.Generator, cases: int) -> Iterator[Case]:
    for number in range(cases):
        y, scores, weights = _sample(rng)
        w = [Fraction(1)] * y.size if weights is None else [Fraction(float(each)) for each in weights]
        positive, negative = ([(Fraction(float(s)), w[i]) for i, s in enumerate(scores) if y[i] == c] for c in (1, 0))
        n_pos, n_neg = (sum(weight for _, weight in each) for each in (positive, negative))
        won = sum(a * b * (Fraction(s > t) + Fraction(s == t, 2)) for s, a in positive for t, b in negative)
        area = won / (n_pos * n_neg)
        points = [
            tuple(sum((b for t, b in each if t >= cut), Fraction(0)) for each in (positive, negative))
            for cut in [*{s for s, _ in positive + negative}, Fraction(2)]
        ]
        least = min(3 * (n_pos - tp) + fp for tp, fp in points) / (n_pos + n_neg)
        found = auc(y, scores, sample_weight=weights)
        counts = ThresholdCounts.from_scores(y, scores, sample_weight=weights)
        cost = choose(counts, _CONTEXT).expected_cost
        exact = found == float(area) if weights is None else abs(found - area) <= 1e-12
        hull = roc(counts).hull()
        lowest = min(3 * (1 - tpr) * n_pos + fpr * n_neg for tpr, fpr in zip(hull.tpr, hull.fpr, strict=True))
        wrong = [] if exact else [f"AUC {found!r}, exactly {float(area)!r}"]
        wrong += [] if abs(cost - least) <= 1e-12 else [f"cost {cost!r}, exactly {float(least)!r}"]
        wrong += [] if abs(float(lowest / (n_pos + n_neg)) - least) <= 1e-12 else ["the hull has another cost"]
        yield f"sample {number}", [found, cost], "; ".join(wrong)


def _readers(rng: np.random.Generator, cases: int, folder: Path) -> Iterator[Case]:
    writers: dict[str, Callable[[pa.Table, Path], Any]] = {
        "csv": csv.write_csv,
        "tsv": lambda table, path: csv.write_csv(table, path, csv.WriteOptions(delimiter="\t")),
        "jsonl": lambda table, path: write_file(path, "\n".join(map(json.dumps, table.to_pylist())), force=True),
        "parquet": parquet.write_table,
        "arrow": lambda table, path: feather.write_feather(table, str(path)),
    }
    for number in range(cases):
        n = int(rng.integers(20, 200))
        scores = [rng.normal(size=n), rng.random(n), rng.integers(-(2**53), 2**53, n)][number % 3]
        y = np.append(rng.integers(0, 2, n - 2), [0, 1])
        expected = fingerprint({"score": ThresholdCounts.from_scores(y, scores)})
        table = pa.table({"y": y, "score": scores})
        for suffix, write in writers.items():
            path = folder / f"rows.{suffix}"
            write(table, path)
            read: Any = read_counts(path, label="y", scores="score")
            found = fingerprint(read)
            yield f"rows {number}, {suffix}", found, "" if found == expected else "other counts"


_HANLEY = Predictions(  # normal and abnormal cases by rating 1 to 5
    np.repeat([0, 1], [58, 51]), np.repeat([1, 2, 3, 4, 5] * 2, [33, 6, 6, 11, 2, 3, 2, 2, 11, 33])
)
_PUBLISHED: dict[str, tuple[Callable[[], Any], tuple[float, ...], float]] = {
    "Hanley & McNeil 1982, Table I: area": (lambda: [auc(_HANLEY)], (0.893,), 5e-4),
    "scikit-learn's manual, roc_auc_score": (lambda: [auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])], (0.75,), 0),
    "scikit-learn's manual, average_precision_score": (
        lambda: [precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).average_precision], (0.83,), 5e-3
    ),
    "Newcombe 1998, Wilson, 81 of 263": (lambda: proportion_interval(81, 263), (0.2553, 0.3662), 5e-5),
    "Newcombe 1998, Wilson, 15 of 148": (lambda: proportion_interval(15, 148), (0.0624, 0.1605), 5e-5),
    "Newcombe 1998, Wilson, 0 of 20": (lambda: proportion_interval(0, 20), (0, 0.1611), 5e-5),
    "Newcombe 1998, exact, 81 of 263": (
        lambda: proportion_interval(81, 263, method="clopper-pearson"), (0.2527, 0.3676), 5e-5
    ),
    "Newcombe 1998, exact, 1 of 29": (
        lambda: proportion_interval(1, 29, method="clopper-pearson"), (0.0009, 0.1776), 5e-5
    ),
}  # fmt: skip


def _published() -> Iterator[Case]:
    for name, (compute, printed, tolerance) in _PUBLISHED.items():
        found = [float(each) for each in compute()]
        agrees = all(abs(a - b) <= tolerance + 1e-12 for a, b in zip(found, printed, strict=True))
        yield name, found, "" if agrees else f"{found}, printed {printed}"


def _proofs(rng: np.random.Generator, cases: int, folder: Path) -> Iterator[Case]:
    for number in range(cases):
        n = int(rng.integers(20, 60))
        y = np.append(rng.integers(0, 2, n - 2), [0, 1])
        predictions = Predictions(y, {"a": rng.integers(0, 9, n) + y})
        decision = choose(predictions, _CONTEXT)
        path = decision.save(folder / "decision.json")
        proved = load_plan(path).verify(predictions).holds
        yield (
            f"decision {number}",
            [decision.threshold, decision.expected_cost],
            "" if proved else "its own claims are not proved",
        )
        for name in ("expected_cost", "threshold"):
            accepted = _accepts(path, name, predictions)
            yield f"decision {number}, another {name}", accepted, "accepted as proved" if accepted else ""


def _accepts(path: Path, name: str, predictions: Predictions) -> bool:
    """Return whether a saved decision with one number changed, and a checksum that fits, is taken for proved."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content[name] = 0.5 + (content[name] or 0)
    body = {key: value for key, value in content.items() if key not in ("format", "version", "checksum")}
    text = json.dumps(body, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    content["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    forged = write_file(path.with_name("forged.json"), json.dumps(content), force=True)
    with suppress(RocscopeError):
        return load_plan(forged).verify(predictions).proves
    return False
