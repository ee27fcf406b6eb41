"""After any control moves, everything that the page shows is what Python says of that context."""

import re

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, page_of, predictions
from rocscope.curves.curve import cumulative
from rocscope.report.model import report_data

PREDS = predictions()
CONTEXTS = (
    rs.Context(),
    rs.Context(cost_fp=1, cost_fn=20),
    rs.Context(cost_fp=1, cost_fn=20, target_prevalence=0.02),
    rs.Context(cost_fp=7.5, cost_fn=3, target_prevalence=0.6),
    rs.Context(cost_fp=0.1, cost_fn=0.3, target_prevalence=0.3),
    rs.Context(cost_fp=3, cost_fn=0),
    rs.Context(cost_fp=0, cost_fn=2),
)


page = page_of(lambda: rs.Report(PREDS, title="linked"))


def show(page, context):
    page.reset()
    page.set(cost_fp=context.cost_fp, cost_fn=context.cost_fn)
    if context.target_prevalence is not None:
        page.set(prevalence=100 * context.target_prevalence)
    return page


def slope_of(page):
    (x0, y0), (x1, y1) = (page.mark("roc", "iso", end) for end in ("data-from", "data-to"))
    return (y1 - y0) / (x1 - x0) if x1 > x0 else np.inf


@pytest.mark.every(4)
@pytest.mark.parametrize("context", CONTEXTS, ids=repr)
def test_all_marks_agree_with_python(page, context):
    best = rs.choose(PREDS, context)
    show(page, context)
    share = context.prevalence(PREDS.prevalence)
    point = best.point

    assert page.mark("roc", "point") == pytest.approx([point.fpr, point.tpr], abs=1e-12)
    depth = share * point.tpr + (1 - share) * point.fpr
    assert page.mark("gain", "point") == pytest.approx([depth, point.tpr], abs=1e-12)
    profit = 1000 * (share * point.tpr * context.cost_fn - (1 - share) * point.fpr * context.cost_fp)
    page.view("profit")
    assert page.mark("money", "point") == pytest.approx([depth, profit], abs=1e-9)
    page.view("gain")
    assert slope_of(page) == pytest.approx(context.slope(PREDS.prevalence), rel=1e-3)

    expected = point.at_prevalence(share, 1000)
    for cell in ("tp", "fp", "fn", "tn"):
        assert float(page.page.get_attribute(f"#cell-{cell}", "data-value")) == pytest.approx(getattr(expected, cell))
    assert page.page.text_content("#models tr.best .pick") == best.model
    cost = page.page.text_content("#models tr.best td:nth-child(7)").replace("−", "-")
    assert float(cost) == pytest.approx(best.expected_cost, rel=1e-3, abs=1e-4)
    words = page.page.text_content(".verdict")
    if 0 < point.tp + point.fp < point.n:
        assert words.startswith(f"Use {best.model}")
        assert f"Act if score ≥ {point.threshold_text}" in words


@pytest.mark.every(7)
@pytest.mark.parametrize("context", CONTEXTS, ids=repr)
def test_no_curve_point_of_any_model_beats_the_touching_point(page, context):
    show(page, context)
    fpr, tpr = page.mark("roc", "point")
    lowest = context.expected_cost(tpr, fpr, PREDS.prevalence)
    for model in PREDS.models:
        tp, fp = cumulative(PREDS.counts(model))
        costs = context.expected_cost(tp / PREDS.n_pos, fp / PREDS.n_neg, PREDS.prevalence)
        assert lowest <= costs.min() + 1e-12


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_profit_curve_itself_changes_with_costs_and_prevalence(page):
    curves = []
    for context in CONTEXTS[:3]:
        show(page, context)
        svg = page.save_chart("money", "SVG").read_text(encoding="utf-8")
        curves.append({part.split('"')[0] for part in svg.split(' d="')[1:]})
    assert len({frozenset(paths) for paths in curves}) == 3
    assert len(curves[0] & curves[1] & curves[2]) <= 2  # what stays is the two axes


def test_a_threshold_set_by_hand_is_shown_everywhere_with_what_it_costs_more(page):
    show(page, rs.Context(cost_fn=4))
    page.set(threshold=0.6)
    page.page.click(".pick >> nth=0")
    model = page.page.text_content("#models tr .pick[aria-pressed=true]")
    page.set(threshold=0.6)
    counts = PREDS.counts(model)
    at = counts.at(0.6)
    assert page.mark("roc", "point") == pytest.approx([at.fpr, at.tpr], abs=1e-12)
    assert "more per case than the best choice" in page.page.text_content(".verdict")
    page.page.keyboard.press("Escape")
    page.page.click(".verdict")
    page.page.keyboard.press("Escape")
    best = rs.choose(PREDS, rs.Context(cost_fn=4)).point
    assert page.settle().mark("roc", "point") == pytest.approx([best.fpr, best.tpr], abs=1e-12)


@pytest.mark.every(2)
@pytest.mark.parametrize(("by", "index"), [("tpr", 1), ("fpr", 0)])
def test_the_threshold_may_be_set_by_a_rate(page, by, index):
    show(page, rs.Context())
    page.page.click(".right-costs summary")
    page.page.select_option("#threshold-by", by)
    page.page.click(".right-costs summary")
    page.set(threshold=40)
    assert page.mark("roc", "point")[index] == pytest.approx(0.4, abs=0.02)


@pytest.mark.slow(reason="further views of the page in a browser")
def test_campaign_entries_are_the_costs_in_other_words(page):
    show(page, rs.Context())
    page.set(population=10_000, unit_cost=1, unit_benefit=8, fixed_cost=500, currency="€")
    assert [float(page.page.input_value(f"#cost-{kind}")) for kind in ("fp", "fn")] == [1, 7]
    page.view("profit")
    campaign = rs.Campaign(population=10_000, unit_cost=1, unit_benefit=8, fixed_cost=500)
    best = max((rs.profit(PREDS.counts(model), campaign).best() for model in PREDS.models), key=lambda row: row.profit)
    assert page.mark("money", "point") == pytest.approx([best.depth, best.profit], rel=1e-9)
    page.set(capacity=500)
    limited = page.mark("money", "point")
    assert limited[0] <= 500 / 10_000 + 1e-12
    assert _most_within(campaign, 0.05) - limited[1] <= _stated_gap(page) * 10_000 + 1e-9


def _most_within(campaign, depth):
    """The largest profit of any threshold of any model that predicts no more than a share positive."""
    curves = [rs.profit(PREDS.counts(model), campaign) for model in PREDS.models]
    return max(curve.y[curve.x <= depth].max() for curve in curves)


def _stated_gap(page):
    """How far, per case, the page says that its answer may be from the best within the capacity."""
    found = re.search(r"at most €?([\d.e-]+) per case above the optimum", page.page.text_content(".verdict"))
    return float(found[1]) * (1 + 1e-3) if found else 0.0


@pytest.mark.every(8)
@pytest.mark.parametrize("capacity", [30, 200, 1000, 2500, 6000])
@pytest.mark.parametrize("prevalence", [None, 3])
def test_within_a_capacity_nothing_is_better_by_more_than_the_page_says(page, capacity, prevalence):
    show(page, rs.Context(cost_fp=1, cost_fn=7))
    page.view("profit")
    page.set(population=10_000, capacity=capacity, **({"prevalence": prevalence} if prevalence else {}))
    share = prevalence / 100 if prevalence else PREDS.prevalence
    gap = _stated_gap(page)
    assert gap <= 0.05
    found = page.mark("money", "point")[1] / 10_000
    for model in PREDS.models:
        tp, fp = cumulative(PREDS.counts(model))
        tpr, fpr = tp / PREDS.n_pos, fp / PREDS.n_neg
        gain = 7 * share * tpr - (1 - share) * fpr
        depth = share * tpr + (1 - share) * fpr
        assert gain[depth <= capacity / 10_000].max(initial=0) - found <= gap + 1e-12
    decision = page.decision()
    assert any(note.startswith("among the thresholds in the report") for note in decision["notes"]) == (gap > 0)


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_tenths_are_those_of_the_campaign(page):
    show(page, rs.Context())
    page.set(population=10_000, unit_cost=1, unit_benefit=8, fixed_cost=500)
    model = page.page.text_content("#models tr .pick[aria-pressed=true]")
    table = rs.profit(PREDS.counts(model), rs.Campaign(population=10_000, unit_cost=1, unit_benefit=8, fixed_cost=500))
    summary = next(entry for entry in report_data(PREDS).models if entry.name == model)
    slack = 2 * summary.deviation * 10_000 * 8  # what the points left out can be off, in money
    lines = page.save_chart("deciles", "CSV").read_text().splitlines()[1:]
    for line, row in zip(lines, table.table()[1:], strict=True):
        depth, gain, found, lift, size, responders, others, profit = map(float, line.split(","))
        assert [depth, size] == pytest.approx([row.depth, row.size])
        assert [gain, found, lift] == pytest.approx([row.gain, row.cumulative_gain, row.lift], abs=0.02)
        assert [responders, others] == pytest.approx([row.responders, row.non_responders], abs=10)
        assert profit == pytest.approx(row.profit, abs=slack)


@pytest.mark.slow(reason="further views of the page in a browser")
def test_net_benefit_at_the_probability_that_the_costs_imply(page):
    show(page, rs.Context(cost_fp=1, cost_fn=4))
    x, y = page.view("benefit").mark("money", "point")
    model = page.page.text_content("#models tr .pick[aria-pressed=true]")
    assert x == pytest.approx(0.2)
    assert y == pytest.approx(rs.net_benefit(PREDS.counts(model)).at(0.2), abs=0.002)
    page.reset()


def test_regions_are_those_of_the_hull_over_all_models(page):
    show(page, rs.Context(target_prevalence=0.4))
    lines = page.save_chart("winners", "CSV").read_text().splitlines()[1:]
    found = [line.split(",") for line in lines]
    assert [float(low) for _, low, _ in found] == pytest.approx([float(high) for _, _, high in found[1:]] + [0])
    hull = rs.hull(PREDS)
    for name, low, high in found:
        ratio = min(1e6, max(1e-6, np.sqrt(max(float(low), 1e-9) * min(float(high), 1e9))))
        vertex = hull.best(rs.Context(cost_fp=ratio, cost_fn=1, target_prevalence=0.4))
        trivial = vertex.point.tp + vertex.point.fp in (0, PREDS.n)
        assert trivial or name == vertex.model


@pytest.mark.every(4)
@pytest.mark.parametrize("context", CONTEXTS, ids=repr)
def test_the_saved_decision_is_one_that_python_loads(page, context):
    show(page, context)
    path = page.download("text=Save decision")
    loaded, made = rs.Decision.load(path).to_dict(), rs.choose(PREDS, context).to_dict()
    for name in ("tied", "tie_break", "notes"):
        assert name in loaded
        assert name in made
        del loaded[name], made[name]
    found, expected = _flat(loaded), _flat(made)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value)


def _flat(value, name=""):
    if isinstance(value, dict):
        return {key: item for part in value for key, item in _flat(value[part], f"{name}.{part}").items()}
    if isinstance(value, list):
        return {key: item for i, part in enumerate(value) for key, item in _flat(part, f"{name}[{i}]").items()}
    return {name: value}


@pytest.mark.slow(reason="further views of the page in a browser")
def test_a_model_that_decides_itself_has_its_point(chromium, tmp_path):
    """Where its labels are known, whatever the threshold in use is, and nowhere else."""
    own = {"tree": PREDS.scores[PREDS.models[0]] > np.median(PREDS.scores[PREDS.models[0]])}
    scores = {"tree": PREDS.scores[PREDS.models[0]]}
    preds = rs.Predictions(PREDS.y_true, scores, decisions=own)
    with opened(chromium, rs.Report(preds, title="decided"), tmp_path) as page:
        show(page, rs.Context(cost_fn=20))
        point = preds.point()
        assert page.mark("roc", "decided") == pytest.approx([point.fpr, point.tpr], abs=1e-12)
        said = f"Ring: the model's own decisions (TPR {100 * point.tpr:.1f}"
        assert said in page.page.text_content("#roc-text")


def test_a_model_of_scores_alone_has_none(page):
    assert page.page.locator("#roc [data-role=decided]").count() == 0
