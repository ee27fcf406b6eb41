"""A report on more than two classes: each against the rest, picked in the page, and all of them together."""

import json

import numpy as np
import pytest

import rocscope as rs
from report_browser import page_of
from rocscope.core.result import jsonable
from rocscope.errors import InputError, OneClassError
from rocscope.report.multiclass import multiclass_report
from rocscope.report.page import payload, render

CLASSES = ["setosa", "<b>versicolor", "عذراء"]
CONTEXT = rs.Context(cost_fp=1, cost_fn=3)


def several(rows=240, models=2, classes=CLASSES, seed=4, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), rows)
    near = np.eye(len(classes))[y]
    logits = {f"model {i + 1}": rng.normal(0, 1, near.shape) + (1 + 0.4 * i) * near for i in range(models)}
    proba = {name: np.exp(values) / np.exp(values).sum(axis=1, keepdims=True) for name, values in logits.items()}
    return rs.multiclass.MulticlassPredictions([classes[i] for i in y], proba, classes=classes, **options)


PREDS = several()


page = page_of(lambda: rs.Report(PREDS, context=CONTEXT, title="Classes"))


def pick(page, cls):
    page.page.select_option("#slice", label=cls)
    return page.settle()


@pytest.mark.every(3)
@pytest.mark.parametrize("cls", CLASSES)
def test_everything_moves_to_the_class_that_is_picked(page, cls):
    page.reset()
    pick(page, cls)
    rest = PREDS.binary(cls)
    best = rs.choose(rest, CONTEXT)
    point = best.point
    assert page.mark("roc", "point") == pytest.approx([point.fpr, point.tpr], abs=1e-12)
    depth = (point.tp + point.fp) / point.n
    assert page.mark("gain", "point") == pytest.approx([depth, point.tpr], abs=1e-12)
    page.view("profit")
    profit = 1000 * (3 * point.tp - point.fp) / point.n
    assert page.mark("money", "point") == pytest.approx([depth, profit], abs=1e-9)
    assert page.page.text_content("#models tr.best .pick") == best.model
    assert page.page.text_content(".verdict").startswith(f"{cls} against the rest: use {best.model}")
    assert page.page.text_content(".size").startswith(f"{rest.n_pos} of class {cls}, {rest.n_neg} others")
    assert float(page.page.input_value("#prevalence")) == pytest.approx(100 * rest.prevalence, rel=1e-3)
    difference = rs.compare(rest)[0].difference.value
    shown = page.page.text_content("#comparisons tbody td:nth-child(3)")
    assert float(shown) == pytest.approx(abs(difference), abs=1e-4)
    higher = max(rest.models, key=lambda model: rs.auc(rest.counts(model)))
    assert page.page.text_content("#comparisons tbody td:nth-child(1)") == higher


def test_another_class_starts_at_its_own_prevalence_and_best_point(page):
    page.reset()
    page.set(prevalence=5, threshold=0.9)
    pick(page, CLASSES[1])
    rest = PREDS.binary(CLASSES[1])
    assert float(page.page.input_value("#prevalence")) == pytest.approx(100 * rest.prevalence, rel=1e-3)
    best = rs.choose(rest, CONTEXT).point
    assert page.mark("roc", "point") == pytest.approx([best.fpr, best.tpr], abs=1e-12)


def test_the_matrix_of_all_classes_is_that_of_the_model_and_picks_classes(page):
    page.reset()
    for number, model in enumerate(PREDS.models):
        page.page.click(f"#models .pick:has-text('{model}')")
        matrix = PREDS.confusion(model)
        cells = page.settle().page.locator("#classes tbody td").all_text_contents()
        rows = np.array(cells).reshape(3, 7)
        assert rows[:, :3].astype(int).tolist() == matrix.counts.tolist()
        assert rows[:, 3].astype(int).tolist() == matrix.support.tolist()
        for column, name in enumerate(("recall", "precision", "f_score"), start=4):
            shown = [float(cell.rstrip("%")) / 100 for cell in rows[:, column]]
            assert shown == pytest.approx(matrix.per_class(name).tolist(), abs=6e-4)
        overview = page.page.locator(f"#overview tbody tr:nth-child({number + 1}) td").all_text_contents()
        assert overview[0] == model
        assert overview[1].startswith(f"{matrix.accuracy:.4f} [")
    page.page.click(f"#classes .pick:has-text('{CLASSES[2]}')")
    assert page.settle().page.input_value("#slice") == "2"
    assert page.page.locator("#classes .pick[aria-pressed=true]").text_content() == CLASSES[2]


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_class_is_in_the_link_and_can_be_undone(page):
    page.reset()
    for change in (lambda: pick(page, CLASSES[2]), lambda: page.set(cost_fn=7)):
        page.page.wait_for_timeout(600)  # what follows at once is undone with it
        change()
    page.page.wait_for_timeout(600)
    link, verdict = page.page.evaluate("location.href"), page.page.text_content(".verdict")
    other = page.page.context.new_page()
    other.goto(link)
    other.wait_for_selector("#roc [data-role=point]", state="attached")
    assert other.text_content(".verdict") == verdict
    assert other.input_value("#slice") == "2"
    other.close()
    page.page.click("text=Undo")
    page.page.click("text=Undo")
    assert page.page.input_value("#slice") == "0"


def test_the_saved_decision_says_which_class_is_positive(page):
    page.reset()
    pick(page, CLASSES[1])
    decision = rs.Decision.load(page.download("text=Save decision"))
    best = rs.choose(PREDS.binary(CLASSES[1]), CONTEXT)
    assert (decision.model, decision.threshold) == (best.model, best.threshold)
    assert f"positive: class {CLASSES[1]}, negative: all others" in decision.to_dict()["notes"]


def test_nothing_is_asked_for_or_said_and_names_stay_text(page):
    assert page.requests[:1] == [page.path.as_uri()]
    assert all(url.split("#")[0] == page.path.as_uri() for url in page.requests if not url.startswith("blob:"))
    assert page.messages == []
    assert page.page.query_selector_all("main b:text-is('versicolor')") == []


@pytest.mark.every(2)
@pytest.mark.parametrize(("models", "classes"), [(4, 3), (2, 12), pytest.param(20, 3, marks=pytest.mark.slow)])
def test_the_file_stays_small(models, classes):
    data = multiclass_report(several(rows=3000, models=models, classes=[f"class {i}" for i in range(classes)]))
    sizes = [
        len(json.dumps(model, separators=(",", ":")))
        for part in jsonable(payload(data))["slices"]
        for model in part["models"]
    ]
    assert max(sizes) <= 8_000
    assert len(render(data).encode()) <= 132_000 + 5_100 * models * classes


def test_a_class_without_cases_is_left_out_and_predicted_labels_have_no_calibration():
    labels = {"tree": np.array(["a", "b", "a", "b", "a", "b"])}
    proba = {"net": np.tile([0.5, 0.3, 0.2], (6, 1))}
    preds = rs.multiclass.MulticlassPredictions(
        ["a", "b", "a", "b", "b", "a"], proba, decisions=labels, classes=["a", "b", "c"], segment=[1] * 6
    )
    data = multiclass_report(preds)
    assert [part.name for part in data.slices] == ["a", "b"]
    assert "Omitted because a class is missing: class c (no positives)." in data.warnings
    assert any("segments are not shown" in warning for warning in data.warnings)
    models = {model.name: model for model in data.slices[0].models}
    assert models["tree"].calibration is None
    assert models["net"].calibration is not None
    assert len(render(data)) > 0


def test_one_class_only_is_refused():
    with pytest.raises(OneClassError, match="cases of at least two classes, got only class 'b'"):
        rs.Report(rs.multiclass.MulticlassPredictions(["b", "b"], [[0.2, 0.5, 0.3]] * 2, classes=["a", "b", "c"]))


def test_no_row_travels():
    html = rs.Report(several(rows=5000)).html
    assert "<circle" not in html
    assert len(html) < 156_000


def test_a_target_prevalence_is_refused():
    with pytest.raises(InputError, match="each class has its own prevalence"):
        rs.Report(PREDS, context=rs.Context(target_prevalence=0.2))


@pytest.mark.slow(reason="further views of the page in a browser")
def test_without_scripts_the_tables_are_there(chromium, tmp_path):
    report = rs.Report(PREDS, title="No script")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.save(tmp_path / "report.html").as_uri())
    assert page.text_content("noscript .verdict") == report.data.verdict
    matrices = page.locator("h2:has-text('confusion matrix') + div td").all_text_contents()
    counts = PREDS.confusion("model 1").counts
    assert matrices[:4] == [CLASSES[0], *map(str, counts[0])]
    context.close()
