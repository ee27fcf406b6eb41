"""The drop-in functions against scikit-learn: its own tests by substitution, and equality on generated data."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as theirs

from rocscope.compat import sklearn as ours

CURVES = ["roc_curve", "precision_recall_curve", "det_curve", "confusion_matrix_at_thresholds"]
SCORES = ["roc_auc_score", "average_precision_score"]
NAMES = [name for name in CURVES + SCORES if hasattr(theirs, name)]

SUBSTITUTE = """
import sys
import pytest
from rocscope.compat import sklearn as ours
from sklearn.metrics.tests import test_ranking

for name in {names!r}:
    original = getattr(test_ranking, name)
    setattr(test_ranking, name, getattr(ours, name))
    if original in test_ranking.CURVE_FUNCS:
        test_ranking.CURVE_FUNCS[test_ranking.CURVE_FUNCS.index(original)] = getattr(ours, name)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--pyargs", "sklearn.metrics.tests.test_ranking"]))
"""

rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=40).filter(
    lambda entries: len({label for label, _, _ in entries}) == 2
)


def _same(mine, reference):
    if isinstance(reference, tuple):
        for left, right in zip(mine, reference, strict=True):
            assert left.dtype == right.dtype
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-15)
    else:
        assert type(mine) is type(reference) or isinstance(mine, float)
        assert mine == pytest.approx(reference, abs=1e-12)


@pytest.mark.slow(reason="tests of other libraries")
def test_scikit_learns_own_tests_pass_by_substitution(tmp_path):
    """None is left out."""
    run = subprocess.run(
        [sys.executable, "-c", SUBSTITUTE.format(names=NAMES)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert " passed" in run.stdout


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
@given(rows=rows, dtype=st.sampled_from([np.float32, np.float64, np.int64]), weighted=st.booleans())
def test_equal_to_scikit_learn_on_tied_and_weighted_rows(name, rows, dtype, weighted):
    label, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    options = {"sample_weight": weight} if weighted else {}
    _same(
        getattr(ours, name)(label, score.astype(dtype), **options),
        getattr(theirs, name)(label, score.astype(dtype), **options),
    )


@pytest.mark.parametrize("name", [name for name in CURVES if name != "confusion_matrix_at_thresholds"])
@pytest.mark.parametrize("drop", [True, False])
def test_intermediate_points_are_dropped_alike(name, drop):
    rng = np.random.default_rng(1)
    label, score = rng.integers(0, 2, 300), rng.integers(0, 60, 300) / 60
    _same(
        getattr(ours, name)(label, score, drop_intermediate=drop),
        getattr(theirs, name)(label, score, drop_intermediate=drop),
    )


@pytest.mark.parametrize("max_fpr", [0.01, 0.3, 1, 1.0, None])
def test_partial_areas(max_fpr):
    rng = np.random.default_rng(2)
    label, score = rng.integers(0, 2, 200), rng.integers(0, 30, 200)
    _same(ours.roc_auc_score(label, score, max_fpr=max_fpr), theirs.roc_auc_score(label, score, max_fpr=max_fpr))


def _outcome(function, arguments, options):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = function(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - whatever scikit-learn raises is what is compared
            result = (type(error), str(error))
    return result, [(warning.category, str(warning.message)) for warning in heard]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([0, 0], [0.1, 0.2]), {}),
        (([1, 1], [0.1, 0.2]), {}),
        (([0, 1], [np.nan, 0.2]), {}),
        (([0, 1], [0.1]), {}),
        (([], []), {}),
        ((["a", "b"], [0.1, 0.2]), {}),
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [-1.0, 1.0]}),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [0.0, 1.0]}),
        (([0, 1], [0.1, 0.2]), {"no_such_option": 1}),
        (([0, 1],), {}),
        (([0, 1], ["x", "y"]), {}),
        (([0, 1], [0.1, 0.2]), {"max_fpr": 0}),
        (([0, 1], [0.1, 0.2]), {"max_fpr": 1.5}),
        (([0, 1], [0.1, 0.2]), {"average": "no such"}),
        (([0, 1], [0.1, 0.2]), {"drop_intermediate": "yes"}),
        (([0, 1], [0.1, 0.2]), {"pos_label": 0}),
        (([0, 1], [0.1, 0.2]), {"pos_label": 2}),
        (([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]]), {}),
    ],
)
def test_warnings_and_errors_are_scikit_learns(name, arguments, options):
    mine, mine_heard = _outcome(getattr(ours, name), arguments, options)
    reference, reference_heard = _outcome(getattr(theirs, name), arguments, options)
    assert mine_heard == reference_heard
    np.testing.assert_equal(mine, reference)


def test_signatures_and_names_are_scikit_learns():
    import inspect

    for name in NAMES:
        assert inspect.signature(getattr(ours, name)) == inspect.signature(getattr(theirs, name))
        assert getattr(ours, name).__name__ == name


def test_what_does_not_rank_is_scikit_learns_own():
    for name in ("auc", "brier_score_loss", "log_loss", "class_likelihood_ratios"):
        assert getattr(ours, name) is getattr(theirs, name)


def test_usable_as_a_scorer():
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    features, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(max_iter=10_000)
    scores = [
        cross_val_score(
            model, features[:, :4], y, cv=3, scoring=theirs.make_scorer(score, response_method="predict_proba")
        )
        for score in (ours.roc_auc_score, theirs.roc_auc_score)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-12)
