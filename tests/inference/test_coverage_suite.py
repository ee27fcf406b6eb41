"""The public suite of designs (benchmarks/simulations), in a form that ends in seconds."""

import sys
from pathlib import Path

import numpy as np
import pytest

import rocscope as rs

SUITE = Path(__file__).parents[2] / "benchmarks" / "simulations"
pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="the benchmarks are not beside these tests")


@pytest.fixture
def suite(monkeypatch):
    """Import the modules of the suite, and leave none of them behind: their names are common ones."""
    monkeypatch.syspath_prepend(SUITE)
    before = set(sys.modules)
    import composed
    import designs
    import intervals
    import reported
    import simulate

    for module in (intervals, composed, reported):
        monkeypatch.setattr(module, "ROWS", 20_000)
    yield designs, intervals, simulate, composed, reported
    for name in ("designs", "intervals", "simulate", "composed", "reported"):
        if name not in before:
            del sys.modules[name]


def test_the_suite_covers_what_it_says(suite):
    designs, *_ = suite
    drawn = designs.drawn_at_random()
    assert len(drawn) == 40
    assert {each.family for each in designs.NAMED + drawn if isinstance(each, designs.Ranks)} == set(designs.FAMILIES)
    assert {each.curve for each in designs.NAMED if isinstance(each, designs.Chances)} == set(designs.CURVES)
    assert any(each.clusters for each in drawn)
    assert any(each.weights for each in drawn)
    assert any(each.levels for each in drawn)


def test_designs_have_the_area_that_they_say(suite):
    designs, *_ = suite
    for design in (designs.Ranks("t2", 0.8, 50, 500), designs.Ranks("normal", 0.9, 100, 300, clusters=40)):
        assert rs.auc(design.draw(np.random.default_rng(0), 30)) == pytest.approx(design.auc, abs=0.03)


@pytest.mark.parametrize("kind", ["Ranks", "Chances", "Amounts", "Folds"])
def test_intervals_cover_on_one_design_of_each_kind(suite, kind):
    designs, _, simulate, *_ = suite
    samples = {"Ranks": 40, "Chances": 8, "Amounts": 60, "Folds": 60}[kind]
    design = {
        "Ranks": designs.Ranks("normal", 0.75, 60, 60),
        "Chances": designs.Chances("calibrated", 0.3, 200),
        "Amounts": designs.Amounts(3.0, 300),
        "Folds": designs.Folds(300),
    }[kind]
    lines = simulate.simulate(design, samples)
    for line in lines:
        assert 0.95 - 4 * (0.05 * 0.95 / samples) ** 0.5 <= line.covers or line.reliable < 0.5, line
        assert line.width > 0
    text = simulate.page(lines)
    assert all(f"| {line.interval} |" in text for line in lines)


def test_composed_figures_cover_on_one_design_of_each_kind(suite):
    *_, composed, _ = suite
    designs = composed.drawn_at_random(0, 12)
    kinds = {type(design): design for design in designs}
    assert len(kinds) == 6
    for design in kinds.values():
        for line in composed.simulate(design, 8):
            assert line.covers >= 0.6 or line.reliable < 0.5, line


def test_reported_designs_have_a_figure_of_each_number(suite):
    *_, reported = suite
    cheap = {
        build().number: build for build in reported.DESIGNS if getattr(build, "func", build) is not reported.resampled
    }
    assert set(cheap) == set(range(1, 14)) - {8}
    for build in cheap.values():
        for line in reported.simulate(build, 2):
            assert line.samples == 2
            assert line.covers > 0 or not line.reliable, line
