"""Fitted models in files, and their scores of the rows of another file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rocscope._base.arrays import Array
from rocscope._base.progress import attended
from rocscope.errors import InputError, LabelError, ModelError, ScoreError, one_of

ENDINGS = (".pkl", ".pickle", ".joblib")


def split_files(files: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the files of models, by their names without the ending, and the file of the rows, which is the last one.

    Examples
    --------
    >>> split_files(["out/new.pkl", "out/old.joblib", "rows.csv"])
    ({'new': 'out/new.pkl', 'old': 'out/old.joblib'}, 'rows.csv')
    """
    *models, rows = files
    for file in models:
        if Path(file).suffix.lower() not in ENDINGS:
            expected = f"a fitted model ({', '.join(ENDINGS)}) before the file of the rows"
            raise InputError(file, expected=expected, got="another file")
    if Path(rows).suffix.lower() in ENDINGS:
        raise InputError(rows, expected="the file of the rows after the models", got="a model")
    named = {Path(file).stem: file for file in models}
    if len(named) < len(models):
        raise InputError("models", expected="files of different names", got=", ".join(models))
    return named, rows


def with_scores(models: dict[str, str], file: str, rows: Any, others: Sequence[str | None]) -> dict[str, Array]:
    """Return the columns of a file, and as further columns the scores of fitted models.

    Parameters
    ----------
    models : mapping from name to file
    file : str
    rows : RowOptions
    others : sequence of str or None
        Columns that are no features: the label, the weight, segments and groups.

    Raises
    ------
    ModelError
        If a file holds no fitted model of two classes, or the model cannot score the rows; the message names it.
    """
    from rocscope.engines.sources.opening import open_source

    fitted = {name: _loaded(path) for name, path in models.items()}
    with attended(f"Reading {file}"), open_source(file, rows.layout) as source:
        names = list(dict.fromkeys(source.columns))
        table = source.fetch(names, rows.where)
        content = {name: _typed(table.column(name), name, source.decimal) for name in names}
    features = {name: column for name, column in content.items() if name not in others}
    return content | {name: _scores(name, model, features, rows.pos_label) for name, model in fitted.items()}


def _loaded(path: str) -> Any:
    try:
        import joblib  # a library that scikit-learn needs, so that it is there wherever its models are

        return joblib.load(path)
    except ModuleNotFoundError as error:
        raise ModelError(f"{path}: {error.name} is not installed", hint=f"pip install {error.name}") from None
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(path, expected="a fitted model, saved with joblib or pickle", got=got) from error


def _typed(column: Any, name: str, decimal: str) -> Array:
    """Return numbers, with NaN for missing ones, where a column holds numbers, and else what it holds."""
    import numpy as np

    from rocscope.engines.sources import columns

    try:
        found = columns.numbers(column, name, ScoreError, decimal=decimal)
    except ScoreError:
        return columns.objects(column)
    return found.values if found.missing is None else np.where(found.missing, np.nan, found.values)


def _scores(name: str, model: Any, features: dict[str, Array], pos_label: str | None) -> Array:
    """Return the scores of one model: for the columns that it was fitted to, or all where it knows no names."""
    import numpy as np

    from rocscope.core.result import frame_of
    from rocscope.engines.sources.columns import written
    from rocscope.evaluation.scoring import score

    classes = list(getattr(model, "classes_", ()))
    if len(classes) != 2:
        got = f"{len(classes)} classes" if classes else f"a {type(model).__name__}"
        raise ModelError(f"model {name!r}", expected="a fitted model of two classes", got=got)
    label = 1 if pos_label is None else written(pos_label, np.asarray(classes).dtype)
    if label not in classes:
        raise LabelError("--pos-label", expected=one_of(str(pos_label), list(map(str, classes))), got=repr(pos_label))
    named = getattr(model, "feature_names_in_", None)
    wanted = list(features) if named is None else list(map(str, named))
    if missing := [column for column in wanted if column not in features]:
        raise ModelError(f"model {name!r}", expected=f"a column {missing[0]!r}", got="none")
    try:
        own = {column: features[column] for column in wanted}
        given: Any = np.column_stack(list(own.values())) if named is None else frame_of(own, "pandas")
        return score(model, name, given, classes, classes.index(label), "auto")[0]
    except ModelError:
        raise
    except Exception as error:
        got = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(f"model {name!r}", expected="scores of these rows", got=got) from error
