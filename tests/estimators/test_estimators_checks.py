"""scikit-learn's own checks of estimators, with the failures that are meant."""

import warnings

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import rocscope as rs

OTHER_CHOICE = {"check_classifiers_train": "the purpose: predict is not the sign of the score, nor the argmax of p"}
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)  # fitted in a tenth of a regression's time
LINE = LogisticRegression()
MODELS = [("line", LINE), ("tree", TREE)]


def slowly(*case):
    """Leave a case to the slow tests: another estimator of the kinds beside it, which takes three seconds."""
    return pytest.param(*case, marks=pytest.mark.slow(reason="other estimators in scikit-learn's checks"))


CASES = [
    (rs.estimators.ThresholdClassifier(TREE, cv=3), OTHER_CHOICE),
    slowly(rs.estimators.ThresholdClassifier(GaussianNB(), criterion="youden", cv=3), OTHER_CHOICE),
    slowly(rs.estimators.ThresholdClassifier(LINE, cv=3), OTHER_CHOICE),
    (rs.estimators.HullClassifier([("bayes", GaussianNB()), ("tree", TREE)], cv=3), OTHER_CHOICE),
    slowly(rs.estimators.HullClassifier(MODELS, cv=3), OTHER_CHOICE),
    (rs.estimators.ClassWeightClassifier(TREE, cv=3), OTHER_CHOICE),
    slowly(rs.estimators.ClassWeightClassifier(GaussianNB(), objective="macro_f1", cv=3), OTHER_CHOICE),
    slowly(rs.estimators.ClassWeightClassifier(LINE, cv=3), OTHER_CHOICE),
    (rs.estimators.SmoothedTreeClassifier(), {}),
    slowly(rs.estimators.SmoothedTreeClassifier(smoothing="m", m=5), {}),
    (rs.estimators.AUCTreeClassifier(), {}),
    (rs.estimators.ResampledClassifier(LINE), {}),
    slowly(rs.estimators.ResampledClassifier(GaussianNB(), "over"), {}),
]


@pytest.mark.every(8)
@pytest.mark.parametrize(("estimator", "expected"), CASES, ids=lambda case: type(case).__name__)
def test_scikit_learns_checks_pass(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks feed infinities and strings, and NumPy and joblib comment on them
        results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = {each["check_name"]: str(each["exception"]) for each in results if each["status"] == "failed"}
    assert failed == {}
    assert {each["check_name"] for each in results if each["status"] == "xfail"} <= set(expected)
    skipped = {each["check_name"] for each in results if each["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}, "which runs only where SCIPY_ARRAY_API is set"
    assert sum(each["status"] == "passed" for each in results) > 40
