"""Figures in the conventions of val.prob and of Austin & Steyerberg, against R's lowess, loess and glm."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs

FOLDER = Path(__file__).parents[1] / "reference" / "calibration"


@pytest.fixture(params=["smooth", "tied", "rare"])
def reference(request):
    data = np.genfromtxt(FOLDER / f"{request.param}.csv", delimiter=",", names=True)
    with (FOLDER / f"{request.param}_r.csv").open() as file:
        figures = {row["name"]: float(row["value"]) for row in csv.DictReader(file)}
    return data["y"].astype(int), data["p"], figures


def several(figures, name, count):
    return [figures[f"{name}{place + 1}"] for place in range(count)]


def test_val_prob(reference):
    label, score, figures = reference
    found = rs.calibration.val_prob(label, score)
    names = ["C", "Dxy", "R2", "D", "U", "Q", "Brier", "Intercept", "Slope", "Sz"]
    own = ["c", "dxy", "r2", "d", "u", "q", "brier", "intercept", "slope", "s_z"]
    assert [getattr(found, name) for name in own] == pytest.approx([figures[name] for name in names], abs=1e-8)
    eavg, _, e90, emax = several(figures, "val", 4)
    assert [found.eavg, found.e90, found.emax] == pytest.approx([eavg, e90, emax], abs=1e-8)
    cox = rs.calibration.cox_calibration(label, score)
    assert cox.in_the_large == pytest.approx(figures["in_the_large"], abs=1e-8)
    assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(("convention", "name", "within"), [("val.prob", "val", 1e-8), ("austin", "austin", 1e-6)])
def test_index(reference, convention, name, within):
    label, score, figures = reference
    index = rs.calibration.calibration_index(label, score, convention=convention)
    found = [index.ici, index.e50, index.e90, index.emax]
    assert found == pytest.approx(several(figures, name, 4), abs=within)


@pytest.mark.parametrize(("degree", "name", "within"), [(1, "lowess", 1e-8), (2, "loess", 1e-6)])
def test_curves(reference, degree, name, within):
    from rocscope.calibration.outcomes import outcomes
    from rocscope.calibration.regression import DEFAULT_SPAN, loess_fit

    label, score, figures = reference
    fit = loess_fit(outcomes(label, score), DEFAULT_SPAN[degree], degree)
    at = score[np.round(np.linspace(1, score.size, 25)).astype(int) - 1]
    assert fit.at(at, fit.outcomes.pos) == pytest.approx(several(figures, name, 25), abs=within)


def test_one_decimal_scores_are_in_bins_of_their_own():
    curve = rs.calibration_curve([0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1], np.arange(11) / 10)
    assert (curve.pos + curve.neg).tolist() == [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
    assert curve.edges.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@pytest.mark.parametrize("bins", [5, 10, 20, 50, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_edges_are_the_decimals_that_they_are_meant_to_be(bins, dtype):
    edges = [float(f"{place / bins:.2f}") for place in range(bins + 1)]
    score = np.array(edges, dtype)
    curve = rs.calibration_curve(np.arange(bins + 1) % 2, score, bins=bins)
    assert (curve.pos + curve.neg).tolist() == [1] * (bins - 1) + [2]
    assert curve.edges.tolist() == score.tolist()
