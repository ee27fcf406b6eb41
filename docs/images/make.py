"""Make the pictures of the report that the documentation shows: `python docs/images/make.py` (needs Chromium)."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

import rocscope as rs

HERE = Path(__file__).parent
SEEN: ViewportSize = {"width": 1440, "height": 1060}


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
        page.screenshot(path=HERE / name)
        page.close()


def as_it_opens(page: Page) -> None:
    page.wait_for_selector("#models tbody tr")


def lift_and_benefit(page: Page) -> None:
    page.click("button:text-is('Lift')")
    page.click("text=Net benefit")


def classes(page: Page) -> None:
    page.click("#classes .pick >> nth=2")
    page.click("#roc button:text-is('95% band')")


if __name__ == "__main__":
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        picture(chromium, loans(), "report.png", as_it_opens)
        picture(chromium, many(), "report-dark.png", lift_and_benefit, scheme="dark")
        picture(chromium, irises(), "report-classes.png", classes)
        chromium.close()
