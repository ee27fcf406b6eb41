"""Make the pictures that the guide shows: `python docs/images/make.py` (those of pages need Chromium).

The names of some may be given. Each stays as it is until this is run again, and is looked at before it is kept.
"""

import contextlib
import doctest
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

import rocscope as rs
from rocscope.report.page import open_page

HERE = Path(__file__).parent
CAMPAIGN = HERE.parent / "tutorials" / "campaign-cycle.md"
SEEN: ViewportSize = {"width": 1440, "height": 900}


def scored(rng: np.random.Generator, y: np.ndarray, far: float, wide: float) -> np.ndarray:
    """Probabilities of a model that puts positives so far from negatives, and spreads them so wide."""
    return 1 / (1 + np.exp(1.9 - 1.3 * (rng.normal(0, 1, y.size) + y * rng.normal(far, wide, y.size))))


def loans() -> rs.Report:
    """Three models of which two are the best somewhere, on simulated applicants of two regions."""
    rng = np.random.default_rng(7)
    y = rng.random(4000) < 0.28
    strengths = {"Gradient boosting": (2.2, 1.0), "Logistic regression": (1.9, 1.5), "Naive Bayes": (1.6, 0.9)}
    scores = {name: scored(rng, y, *strength) for name, strength in strengths.items()}
    preds = rs.Predictions(y, scores, segment=np.where(rng.random(y.size) < 0.3, "north", "south"))
    context = rs.Context(cost_fp=1, cost_fn=8, target_prevalence=0.1)
    notes = "A false positive is a good customer turned away; a false negative is a default."
    return rs.Report(preds, context=context, title="Loan defaults, hold-out year", notes=notes)


def tic_tac_toe() -> rs.Report:
    """The two models of `rocscope demo`."""
    from rocscope.cli.performance import cross_validated

    columns = cross_validated("tic_tac_toe", 0)
    scores = {name: columns[name] for name in ("naive Bayes", "tree")}
    preds = rs.Predictions(columns["label"], scores, fold=columns["fold"])
    return rs.Report(preds, title="tic_tac_toe: ten-fold cross-validated")


def many() -> rs.Report:
    """Twenty models, most of which are nowhere the best."""
    rng = np.random.default_rng(1)
    y = rng.random(8000) < 0.3
    scores = {f"model {i + 1}": scored(rng, y, 2.1 - 0.2 * (i % 4), 1 + 0.6 * (i % 3)) for i in range(20)}
    return rs.Report(rs.Predictions(y, scores), context=rs.Context(cost_fn=5), title="Twenty models")


def irises() -> rs.Report:
    """Three classes told apart by two measurements of a flower."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    data: Any = load_iris()
    learners = {"Logistic regression": LogisticRegression(), "Random forest": RandomForestClassifier(random_state=0)}
    proba = {
        name: cross_val_predict(learner, data.data[:, :2], data.target, cv=10, method="predict_proba")
        for name, learner in learners.items()
    }
    classes = [str(name) for name in data.target_names]
    preds = rs.multiclass.MulticlassPredictions([classes[i] for i in data.target], proba, classes=classes)
    return rs.Report(preds, title="Irises by their sepals")


def keep(png: bytes, name: str) -> None:
    """Write a picture with 256 colours, which takes a third of the room and looks the same."""
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def keep_figure(figure: Figure, name: str) -> None:
    """Write a figure of matplotlib's."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    keep(stream.getvalue(), name)


def averages(name: str) -> None:
    """Ten folds averaged in four ways."""
    rng = np.random.default_rng(1)
    y = rng.random(1000) < 0.35
    preds = rs.Predictions(y, {"logistic": scored(rng, y, 1.35, 1.0)}, fold=np.arange(y.size) % 10)
    figure = Figure(figsize=(9, 8.6), layout="constrained")
    ways: list[dict[str, Any]] = [{"method": "vertical"}, {"method": "threshold"}, {"method": "false_positives"}]
    ways += [{"kind": "precision_recall"}]
    for ax, way in zip(figure.subplots(2, 2).flat, ways, strict=True):
        rs.evaluation.average_curve(preds, **way).plot(ax=ax)
    keep_figure(figure, name)


def calibrations(name: str) -> None:
    """Bins, PAV, LOESS beside a spline, and two models."""
    rng = np.random.default_rng(0)
    risk = rng.beta(1, 3, 1500)
    died = rng.random(1500) < risk
    higher = 1 / (1 + (1 / risk - 1) * np.exp(-0.4))
    figure = Figure(figsize=(13.5, 11.5), layout="constrained")
    axes = figure.subplots(2, 2).flat
    one, two = rs.Predictions(died, {"risk": risk}), rs.Predictions(died, {"new": risk, "old": higher})
    rs.plotting.plot_calibration(one, ax=axes[0])
    rs.plotting.plot_calibration(one, method="pav", simultaneous=True, ax=axes[1])
    rs.plotting.plot_calibration(one, method=("loess", "spline"), limits=(0, 0.8), ax=axes[2])
    rs.plotting.plot_calibration(two, method="loess", ax=axes[3])
    keep_figure(figure, name)


def learning(name: str) -> None:
    """Three learners of the breast cancer data by the number of training rows."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    x, y = load_breast_cancer(return_X_y=True)
    models = {"logistic": make_pipeline(StandardScaler(), LogisticRegression()), "naive Bayes": GaussianNB()}
    models |= {"tree": DecisionTreeClassifier(random_state=0)}
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    curve = rs.evaluation.learning_curve(models, x, y == 0, metric="auc", sizes="geometric", repeats=20, random_state=0)
    curve.plot(ax=figure.subplots())
    keep_figure(figure, name)


def choosing(name: str) -> None:
    """How sure the threshold is that the guide's page chooses."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = load_breast_cancer(return_X_y=True)
    preds = rs.evaluate(make_pipeline(StandardScaler(), LogisticRegression()), x, y, cv=10)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    rs.evaluation.optimism(preds, rs.Context(cost_fp=5)).plot(ax=figure.subplots())
    keep_figure(figure, name)


def picture(
    browser: Browser,
    report: rs.Report,
    name: str,
    prepare: Callable[[Page], None],
    scheme: Literal["light", "dark"] = "light",
) -> None:
    """Save what is seen of a report once it was prepared."""
    with tempfile.TemporaryDirectory() as folder:
        path = report.save(Path(folder) / "report.html")
        page = browser.new_page(viewport=SEEN, color_scheme=scheme)
        page.goto(path.as_uri())
        prepare(page)
        page.mouse.move(0, 0)
        page.wait_for_timeout(800)
        keep(page.screenshot(), name)
        page.close()


def campaign_cycle(browser: Browser, name: str) -> None:
    """The campaign manager's tutorial on the open page: the plan of step 5, applied to the answers in step 9."""
    session = CAMPAIGN.read_text(encoding="utf-8").split("```pycon\n")[1].split("```")[0]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for example in doctest.DocTestParser().get_examples(session):
            exec(example.source, globals())  # writes pilot.csv and answers.csv
        Path("open.html").write_text(open_page(), encoding="utf-8")
        page = browser.new_page(viewport={"width": 920, "height": 900})
        page.goto(Path("open.html").resolve().as_uri())
        page.set_input_files("#files", "pilot.csv")
        page.click("#show:not([disabled])")
        page.click("#details > summary")
        page.click("#population")
        for value in ("400", "100", "2", "9"):  # then the capacity, the cost of a contact and the benefit of a response
            page.keyboard.press("Control+A")
            page.keyboard.type(value)
            page.keyboard.press("Tab")
        with page.expect_download() as saved:
            page.click("text=Save decision")
        saved.value.save_as("plan.json")
        page.click("text=Change columns or file")
        page.set_input_files("#files", ["plan.json", "answers.csv"])
        page.wait_for_selector("#plan dt:text-is('Responses')")
        page.mouse.move(0, 0)
        keep(page.locator("#plan").screenshot(), name)
        page.close()


def as_it_opens(page: Page) -> None:
    page.wait_for_selector("#models tbody tr")


def net_benefit(page: Page) -> None:
    page.select_option("[aria-label=View]:visible", "benefit")


def classes(page: Page) -> None:
    page.click("#classes .pick >> nth=2")
    page.click("#roc .menu summary")
    page.click("#roc button:text-is('95% band')")
    page.keyboard.press("Escape")


CHARTS = {
    "averages-over-folds.png": averages,
    "calibration.png": calibrations,
    "learning-curve.png": learning,
    "price-of-choosing.png": choosing,
}
REPORTS: dict[str, tuple[Callable[[], rs.Report], Callable[[Page], None], Literal["light", "dark"]]] = {
    "first-screen.png": (tic_tac_toe, as_it_opens, "light"),
    "report.png": (loans, as_it_opens, "light"),
    "report-dark.png": (many, net_benefit, "dark"),
    "report-classes.png": (irises, classes, "light"),
}
PAGES = {"campaign-cycle.png": campaign_cycle}


def main(wanted: list[str]) -> None:
    """Make the pictures of these names, or all."""
    for name in wanted or CHARTS:
        if name in CHARTS:
            CHARTS[name](name)
    screens = [name for name in wanted or [*REPORTS, *PAGES] if name in REPORTS or name in PAGES]
    if not screens:
        return
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name in screens:
            if name in PAGES:
                PAGES[name](chromium, name)
            else:
                report, prepare, scheme = REPORTS[name]
                picture(chromium, report(), name, prepare, scheme)
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:])
