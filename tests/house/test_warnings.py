"""Warnings point to the line of the user's that they are about, however deep in the package they arise."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import rocscope as rs

SOURCE = Path(rs.__file__).parent
PERFECT = [1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1]
TWO = rs.Predictions(PERFECT[0], {"a": PERFECT[1], "b": np.square(PERFECT[1])})
FOLDS = rs.Predictions([1, 0, 1, 1], [4, 3, 2, 1], fold=["a", "a", "b", "b"])
ROWS = np.arange(40.0)[:, None], np.arange(40) % 3 == 0
WARNING = {
    "a function": lambda: rs.auc_interval(*PERFECT, method="delong"),
    "one that calls others": lambda: rs.compare(TWO),
    "one in replicates": lambda: rs.bootstrap(TWO.counts("a"), rs.auc, replicates=20),
    "of many classes": lambda: rs.multiclass.vus([0, 0, 1, 1, 2, 2], [3] * 6),
    "of folds": lambda: rs.evaluation.average_curve(FOLDS),
    "a method": lambda: rs.estimators.ThresholdClassifier(make_pipeline(KNeighborsClassifier()), cv=3).fit(
        *ROWS, sample_weight=np.ones(40)
    ),
}


@pytest.mark.parametrize("call", WARNING.values(), ids=WARNING)
def test_a_warning_names_the_file_and_line_of_the_call(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    for warning in caught:
        assert issubclass(warning.category, rs.errors.RocscopeWarning)
        assert warning.filename == __file__
        assert 0 <= warning.lineno - call.__code__.co_firstlineno <= 2


def test_nothing_warns_but_through_the_helper():
    found = [path for path in SOURCE.rglob("*.py") if re.search(r"warnings\.warn|stacklevel", path.read_text())]
    assert found == [SOURCE / "errors.py"]
