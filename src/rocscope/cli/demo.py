"""rocscope demo: the example of Vuk & Curk (2006), §7, from data to report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_rows, table_bytes

if TYPE_CHECKING:
    from rocscope._base.arrays import Array

FOLDS = 10  # as in the paper
SETS = ("tic_tac_toe", "wdbc")
MODELS = ["naive Bayes", "tree"]
PUBLISHED = {("tic_tac_toe", "naive Bayes"): (0.695, 0.752, 0.403)}
_HEADINGS = ("data", "model", "AUC", "at 0.5", "at best", "best threshold", "in the paper")


def demo(
    *,
    folder: Annotated[Path, Parameter(alias="-o")] = Path("demo"),
    random_state: int = 0,
    force: opt.Force = False,
) -> None:
    """Cross-validate naive Bayes and a decision tree on tic-tac-toe and wdbc, and write the report.

    Parameters
    ----------
    folder
        Where the files go.
    random_state
        Seed of the folds.
    """
    import pyarrow as pa

    from rocscope import Report, read
    from rocscope.report.model import report_data

    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in SETS:
        content = table_bytes(pa.table(cross_validated(name, random_state)), "parquet")
        source = write_file(folder / f"{name}.parquet", content, force=force)
        predictions = read(source, label="label", scores=MODELS, fold="fold")
        rows += [_row(name, model) for model in report_data(predictions, title=name).models]
        page = Report(predictions, title=f"{name}: ten-fold cross-validated")
        note(f"Predictions: {source}   Report: {page.save(folder / f'{name}.html', force=force)}")
    print_rows("Accuracy at threshold 0.5 and at the best threshold", _HEADINGS, rows, left=_HEADINGS)


def _row(name: str, model: Any) -> list[str]:
    published = PUBLISHED.get((name, model.name))
    return [
        name,
        model.name,
        f"{model.auc['half']:.3f}",
        f"{model.default.accuracy:.1%}",
        f"{model.best.accuracy:.1%}",
        f"{model.best.threshold:.3f}",
        "{:.1%}, {:.1%}, {:.3f}".format(*published) if published else "",
    ]


def cross_validated(name: str, random_state: int) -> "dict[str, Array]":
    """Return labels, folds and the out-of-fold probabilities of both models."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from rocscope.datasets import load

    data = load(name)
    label = (data.y == data.positive).astype(np.int8)
    features = np.column_stack([np.unique(column, return_inverse=True)[1] for column in data.X.values()])
    numeric = all(column.dtype.kind == "f" for column in data.X.values())
    if numeric:
        features = np.column_stack(list(data.X.values()))
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=random_state).split(features, label))
    fold = np.zeros(label.size, np.int8)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    scores = {
        model: np.asarray(cross_val_predict(learner, features, label, cv=folds, method="predict_proba"))[:, 1]
        for model, learner in _learners(numeric, random_state).items()
    }
    return {"label": label, "fold": fold} | scores


def _learners(numeric: bool, random_state: int) -> dict[str, Any]:
    """Naive Bayes over categories or five equal-frequency bins, fitted in each fold; a tree with leaves of at least
    two.
    """
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    bayes = CategoricalNB(min_categories=5)
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=random_state)
    if numeric:
        bins = KBinsDiscretizer(5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
        return {"naive Bayes": make_pipeline(bins, bayes), "tree": tree}
    return {"naive Bayes": bayes, "tree": make_pipeline(OneHotEncoder(handle_unknown="ignore"), tree)}
