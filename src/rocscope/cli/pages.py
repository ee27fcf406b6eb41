"""rocscope report, page and explore: the interactive page as a file, without data, and over live rows."""
# MERGED-DOC: """rocscope demo: the example of Vuk & Curk (2006), §7, from data to report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_rows, table_bytes, write_text
from rocscope.errors import InputError

if TYPE_CHECKING:
    from rocscope._base.arrays import Array


@opt.for_two_classes(
    "--score",
    "--pos-label",
    "--review-cost",
    "--review-capacity",
    instead="the page shows each class against the rest",
)
def report(
    file: opt.File,
    /,
    *,
    rows: opt.ClassOptions = opt.CLASSES,
    fold: opt.Fold = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    looks: opt.ReviewOptions = opt.REVIEW,
    output: Annotated[str, opt.OUTPUT] = "report.html",
    title: str | None = None,
    notes: str | None = None,
    force: opt.Force = False,
) -> None:
    """Write a report that opens offline in any browser.

    Example: rocscope report scores.parquet --label y --score a --score b -o report.html

    Parameters
    ----------
    segment
        Column of the segment, such as a region.
    output
        File to write; - for stdout.
    title
        Title of the report, after which files saved from it are named; the file's name without its ending by default.
    notes
        A paragraph to put under the title.
    """
    opt.require_output(output, force=force)
    parts = {name: column for name, column in {"fold": fold, "segment": segment}.items() if column}
    if parts and rows.memory:
        raise InputError("--memory", expected="neither --fold nor --segment with it: they need rows")
    rows.require(file, "label", "scores", fold=fold, segment=segment)
    context, review = costs.context(), looks.review()
    if rows.has_classes:
        predictions = rows.classes(file, **parts)
    else:
        predictions = rows.predictions(file, **parts) if parts else rows.sample(file)
    from rocscope.report import Report
    from rocscope.report.model import require_segments

    if segment and not rows.has_classes:
        require_segments(predictions, f"--segment {segment!r}")
    page = Report(predictions, context=context, title=title or Path(file).stem, notes=notes or "", review=review)
    if output == "-":
        write_text(page.html)
    else:
        note(f"Report: {page.save(output, force=force)}")


def explore(
    file: opt.File,
    /,
    *others: opt.File,
    rows: opt.CountOptions = opt.COUNTS,
    fold: opt.Fold = None,
    segment: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    costs: opt.CostOptions = opt.COSTS,
    title: str | None = None,
    browser: Annotated[opt.Flag, Parameter(negative="--no-browser")] = True,
) -> None:
    """Explore any number of rows in the browser, with SQL filters, segments, tests and bands; Ctrl-C ends it.

    Of several files, such as last month's and this one, the models stand beside each other.

    Example: rocscope explore march.parquet april.parquet --label y --score a

    Parameters
    ----------
    segment
        Column that rows are split by first; the page can take any other.
    title
        Title of the page; the names of the files by default.
    browser
        Open the browser; the address is printed anyway.
    """
    files = (file, *others)
    for each in files:
        if each == "-":
            raise InputError("-", expected="a file: it is read at every question", got="stdin")
        rows.require(each)
    context = costs.context()
    from rocscope.workbench.exploring import explore as open_workbench

    sources: Any = file if len(files) == 1 else _named(files)
    options: dict[str, Any] = {"pos_label": rows.pos_label, "memory": rows.memory, "fold": fold, "segment": segment}
    page = {"title": title or ", ".join(Path(each).name for each in files), "context": context, "browser": browser}
    open_workbench(sources, scores=rows.score, **rows.arguments, **options, **page)


def _named(files: tuple[str, ...]) -> dict[str, str]:
    """Return the files by name, or by path if names coincide."""
    stems = [Path(each).stem for each in files]
    names = stems if len(set(stems)) == len(files) else list(files)
    if len(set(names)) < len(names):
        raise InputError("files", expected="different files", got=", ".join(files))
    return dict(zip(names, files, strict=True))


def page(*, output: Annotated[str, opt.OUTPUT] = "open.html", force: opt.Force = False) -> None:
    """Write an offline page that makes a report of any file dropped on it, in any browser.

    Example: rocscope page -o open.html

    Parameters
    ----------
    output
        File to write; - for stdout.
    """
    opt.require_output(output, force=force)
    from rocscope.report.page import open_page

    if output == "-":
        write_text(open_page())
    else:
        note(f"Page: {write_file(output, open_page(), force=force)}")


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
