"""What R's pROC answers, and the rows that it was asked about."""

import csv
from pathlib import Path

import numpy as np

import rocscope as rs

PROC = Path(__file__).parents[1] / "reference" / "proc"


def read_reference():
    data = {}
    with (PROC / "data.csv").open() as file:
        for row in csv.DictReader(file):
            data.setdefault(row["set"], []).append([float(row[name]) for name in ("label", "a", "b", "c")])
    with (PROC / "values.csv").open() as file:
        values = {(row["set"], row["quantity"]): float(row["value"]) for row in csv.DictReader(file)}
    sets = {}
    for name, rows in data.items():
        label, *scores = np.array(rows).T
        sets[name] = rs.Predictions(label, dict(zip("abc", scores, strict=True)))
    return sets, values


SETS, VALUES = read_reference()
