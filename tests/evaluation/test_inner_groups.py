"""Groups and weights reach the folds and fits inside a model, with and without metadata routing, or it is said."""

import contextlib
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocscope as rs
from rocscope.errors import InputError, ModelError, RocscopeWarning
from rocscope.estimators import ClassWeightClassifier, HullClassifier, Search, ThresholdClassifier

GROUPED, NEAREST = GroupKFold(4), KNeighborsClassifier(1)


def noise(groups=300, size=4, seed=0):
    """Labels of groups that have nothing to do with their rows, which lie near each other."""
    rng = np.random.default_rng(seed)
    label, centre = rng.integers(0, 2, groups), rng.normal(size=(groups, 2))
    group = np.repeat(np.arange(groups), size)
    order = rng.permutation(group.size)
    X = centre[group] + 1e-3 * rng.normal(size=(group.size, 2))
    return X[order], label[group][order], group[order]


def search(model=NEAREST, cv=GROUPED):
    name = next(iter(model.get_params(deep=False).keys() & {"n_neighbors", "C", "var_smoothing"}))
    return GridSearchCV(model, {name: [model.get_params()[name]]}, cv=cv)


NESTINGS = {
    "search": search(),
    "our search": Search({"near": NEAREST, "search": search()}, cv=3),
    "our search of thresholds": Search({"a": ThresholdClassifier(NEAREST, cv=2)}, criterion="auc", cv=3),
    "threshold in a pipeline": make_pipeline(StandardScaler(), ThresholdClassifier(NEAREST, cv=4)),
    "search in a pipeline": make_pipeline(StandardScaler(), search()),
    "threshold": ThresholdClassifier(NEAREST, cv=4),
    "threshold of a search": ThresholdClassifier(search(), cv=3),
    "hull": HullClassifier([("a", NEAREST), ("b", search())], cv=3),
    "class weights": ClassWeightClassifier(NEAREST, cv=GroupKFold(3)),
}
ROUTED = {
    **NESTINGS,
    "calibration": CalibratedClassifierCV(NEAREST, cv=GROUPED),
    "tuned threshold": TunedThresholdClassifierCV(NEAREST, cv=GROUPED),
    "search in a search": GridSearchCV(search(), {"estimator__n_neighbors": [1]}, cv=GROUPED),
    "threshold in a search": GridSearchCV(ThresholdClassifier(NEAREST, cv=2), {"cv": [2]}, cv=GROUPED),
    "calibration of a threshold": CalibratedClassifierCV(ThresholdClassifier(NEAREST, cv=2), cv=GROUPED),
    "threshold of a calibration": ThresholdClassifier(CalibratedClassifierCV(NEAREST, cv=GROUPED), cv=2),
}


def inner_accuracy(fitted):
    """How good a fitted model looked in its own folds."""
    if hasattr(fitted, "best_score_"):
        return fitted.best_score_
    if hasattr(fitted, "steps"):
        return inner_accuracy(fitted.steps[-1][1])
    if not hasattr(fitted, "predictions_"):  # a calibration: of one's neighbour it should have learned nothing
        return 0.5 + np.ptp(fitted.predict_proba(np.random.default_rng(0).normal(size=(500, 2)))[:, 1]) / 2
    preds = fitted.predictions_
    if hasattr(preds, "classes"):
        return preds.confusion().accuracy
    return preds.counts(preds.models[0]).at(0.5).accuracy


COMMON = ("our search", "threshold in a pipeline", "search in a pipeline")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("routing", "names"),
    [
        (False, COMMON),
        (True, ("tuned threshold", "search in a search", "threshold in a search")),
        pytest.param(False, NESTINGS, marks=pytest.mark.slow),
        pytest.param(True, ROUTED, marks=pytest.mark.slow),
    ],
)
def test_no_group_leaks_through_any_nesting(routing, names):
    """The nearest row of the same group would tell the label: outside and inside, models know no more than a coin."""
    X, y, groups = noise(600, 2)
    for name in sorted(names):
        model = ROUTED[name]
        with config_context(enable_metadata_routing=routing), warnings.catch_warnings():
            warnings.simplefilter("error")
            outer = rs.auc(rs.evaluate(model, X, y, cv=3, groups=groups))
            last = model.steps[-1][0] + "__" if hasattr(model, "steps") and not routing else ""
            inner = inner_accuracy(model.fit(X, y, **{f"{last}groups": groups}))
        print(f"{name}, routing {routing}: AUC {outer:.3f} outside, accuracy {inner:.3f} inside")
        assert abs(outer - 0.5) < 0.08, name  # the standard error is 0.02
        assert abs(inner - 0.5) < 0.08, name


def test_folds_without_groups_would_leak():
    X, y, groups = noise()
    assert rs.evaluate(NEAREST, X, y, cv=3).point().accuracy > 0.95
    with pytest.warns(
        RocscopeWarning, match=r"model 'GridSearchCV': the inner folds of GridSearchCV\(cv=4\) have .*; use a splitter"
    ):
        rs.evaluate(search(cv=4), X, y, cv=3, groups=groups)


TORN = {
    "stack": (StackingClassifier([("a", NEAREST), ("b", GaussianNB())], cv=3), r"StackingClassifier\(cv=3\)"),
    "stack of a search": (StackingClassifier([("a", search(cv=3))], cv=2), r"StackingClassifier\(cv=2\)"),
    "calibration": (
        make_pipeline(StandardScaler(), CalibratedClassifierCV(NEAREST)),
        r"CalibratedClassifierCV\(cv=None\)",
    ),
    "search out of reach": (VotingClassifier([("a", search(cv=3))], voting="soft"), r"GridSearchCV\(cv=3\)"),
    "ours out of reach": (GridSearchCV(ThresholdClassifier(NEAREST, cv=2), {}, cv=GROUPED), r"Threshold.*cv=2\)"),
    "search in ours": (ThresholdClassifier(search(cv=2), cv=2), r"GridSearchCV\(cv=2\)"),
}


@pytest.mark.every(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TORN)
def test_inner_folds_that_part_groups_are_warned_about_and_leak_nothing_outside(name):
    model, said = TORN[name]
    X, y, groups = noise(400, 2)
    with pytest.warns(RocscopeWarning, match=f"the inner folds of {said} have the same groups in training and test"):
        preds = rs.evaluate(model, X, y, cv=2, groups=groups)
    assert abs(preds.point().accuracy - 0.5) < 0.09  # the standard error is 0.025


def test_our_inner_folds_keep_groups_or_refuse():
    X, y, groups = noise(40)
    fitted = ThresholdClassifier(NEAREST, cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    for part in fitted.predictions_.by_fold().values():
        assert np.unique(groups[part.row]).size == 1
    with pytest.raises(InputError, match="training and test groups without overlap"):
        ThresholdClassifier(NEAREST, cv=[(range(80), range(80, 160))]).fit(X, y, groups=groups)


class Weighed(GaussianNB):
    """Keeps the weights that it was fitted with."""

    seen = ()

    def fit(self, X, y, sample_weight=None):
        Weighed.seen += (sample_weight,)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("a", Weighed()), ("b", LogisticRegression())]),
        StackingClassifier([("a", Weighed())], cv=2),
        ThresholdClassifier(VotingClassifier([("a", Weighed())], voting="soft"), cv=2),
        make_pipeline(StandardScaler(), VotingClassifier([("a", Weighed())])),
        CalibratedClassifierCV(Weighed(), cv=2),
    ],
    ids=["vote", "stack", "threshold", "pipeline", "calibration"],
)
def test_weights_reach_votes_stacks_and_pipelines(model):
    Weighed.seen = ()
    X, y, _ = noise(20)
    options = {"response": "predict"} if not hasattr(model, "predict_proba") else {}
    preds = rs.evaluate(model, X, y, cv=2, sample_weight=1.0 + np.arange(80), **options)
    assert not preds.source.unweighted
    assert Weighed.seen and all(weight is not None and np.ptp(weight) > 0 for weight in Weighed.seen)


def test_a_vote_of_models_without_weights_gets_none():
    X, y, _ = noise(20)
    vote = VotingClassifier([("a", GaussianNB()), ("b", NEAREST)], voting="soft")
    with pytest.warns(RocscopeWarning, match="sample weights are fitted without weights: VotingC"):
        rs.evaluate(vote, X, y, cv=2, sample_weight=np.ones(80))


def test_other_ways_to_name_models_and_folds():
    X, y, groups = noise(40)
    pairs = [("near", NEAREST), ("bayes", GaussianNB())]
    preds = rs.evaluate(pairs, X, y, cv=0.25, groups=groups, random_state=np.random.RandomState(3))
    assert preds.models == ["near", "bayes"]
    assert preds.source.protocol == "holdout of 25%, stratified" and len(preds) == 40
    assert ThresholdClassifier(GaussianNB(), cv=0.25).fit(X, y).predictions_.n == 40
    for call in (
        lambda: rs.evaluate(NEAREST, X, y, cv="prefit"),
        lambda: ThresholdClassifier(NEAREST, cv="prefit").fit(X, y),
    ):
        with pytest.raises(
            InputError,
            match=r"cv: expected folds .* fitted, got 'prefit'; for fitted models, pass .*from_estimator",
        ):
            call()


def test_the_hint_names_what_keeps_groups_from_the_splitter():
    X, y, groups = noise(20)
    tuned = TunedThresholdClassifierCV(GaussianNB(), cv=GroupKFold(2))
    said = {"vote": r"set_config\(enable_metadata_routing=True\)", "stack": "StackingClassifier does not pass groups"}
    models = {
        "vote": VotingClassifier([("a", tuned)]),
        "stack": StackingClassifier([("a", GaussianNB())], cv=GroupKFold(2)),
    }
    for name, model in models.items():
        with contextlib.suppress(ModelError), pytest.warns(RocscopeWarning, match=said[name]):
            rs.evaluate({name: model}, X, y, cv=2, groups=groups)
    with pytest.raises(ModelError, match="only supported if enable_metadata_routing=True"):  # scikit-learn's own hint
        rs.evaluate(tuned, X, y, cv=2, groups=groups)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(early_stopping=True, max_iter=2),
        make_pipeline(GradientBoostingClassifier(n_estimators=2, n_iter_no_change=2)),
    ],
    ids=["histograms", "pipeline"],
)
def test_early_stopping_that_parts_groups_is_named(model):
    X, y, groups = noise(400, 2)
    with pytest.warns(RocscopeWarning, match=r"BoostingClassifier\(.*\) splits groups; turn early stopping off"):
        preds = rs.evaluate(model, X, y, cv=2, groups=groups)
    assert abs(preds.point().accuracy - 0.5) < 0.09
    with warnings.catch_warnings():
        warnings.simplefilter("error", RocscopeWarning)
        rs.evaluate(model, X, y, cv=2)
        rs.evaluate(HistGradientBoostingClassifier(max_iter=2), X, y, cv=2, groups=groups)
