"""Every result that is a table has `to_frame`; the others are listed with what they are instead."""

import inspect
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB

import rocscope as rs
from rocscope.core.result import Result

NOT_TABLES = {
    "a base class": "Result ComparedByValue Rows Plan WithReason",
    "one number, or a number with its interval": (
        "Estimate ChosenEstimate BootstrapEstimate CalibrationIndex FigureDrift Bootstrap632 Corrected Alarm"
    ),
    "one test, or a few numbers of one sample": (
        "Comparison Omnibus CalibrationTest Decomposition CoxCalibration CalibrationReport ValProb Drift Optimism"
        " PracticalComparison RankComparison StudyPlan UpliftPart PlanOutcomes Areas Average Verification"
    ),
    "one row of a table": (
        "OperatingPoint HullVertex SummaryRow FoldsRow CampaignRow ColumnFacts Failure CandidateThreshold"
        " SearchCandidate Offer Check"
    ),
    "a decision or a rule": (
        "Decision RandomizedRule Review Reviewing SegmentPlan ActionAllocation ClassWeights RegionMap JointRegion"
    ),
    "an input: costs, or where rows are from": "Context Campaign CostMatrix Provenance",
    "counts that are still being collected, whose .binned() is a table": "CountsSketch",
    "a function of scores": "CalibrationFunction Recalibrated ClassRecalibrator",
    "rows of several classes, whose scores are a matrix for each model": "MulticlassPredictions RecalibratedClasses",
    "a matrix of pairs of classes": "MulticlassAuc",
    "rows with a treatment, whose tables are .by_decile() and .uplift()": "Experiment",
}
NAMES = {name for names in NOT_TABLES.values() for name in names.split()}


def _public_results():
    """Return the results that importing every public name defines, without those of the report's own layout."""
    for topic in [rs, *(getattr(rs, name) for name in rs.__all__)]:
        for name in getattr(topic, "__all__", ()) if inspect.ismodule(topic) else ():
            getattr(topic, name)
    for loaded_late in ("decisions.verification", "outcomes.plan_outcomes"):  # when a plan is verified or followed
        import_module(f"rocscope.{loaded_late}")
    waiting, kinds = [Result], set()
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        is_public = kind.__module__.startswith("rocscope.") and not kind.__module__.startswith("rocscope.report")
        if is_public:
            kinds.add(kind)
    return kinds


def test_every_result_is_a_frame_or_listed_as_no_table():
    kinds = _public_results()
    with_frame = {kind.__name__ for kind in kinds if hasattr(kind, "to_frame")}
    names = {kind.__name__ for kind in kinds}
    assert len(with_frame) > 35
    assert names - with_frame - NAMES == set(), "give it to_frame, or list it in NOT_TABLES"
    assert NAMES & with_frame == set()
    assert names >= NAMES, "listed, but no result"


RNG = np.random.default_rng(5)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 2)) + Y[:, None]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
SCORING = ["roc_auc", "accuracy"]


def test_scores_of_folds_are_those_of_scikit_learn():
    models = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    frame = rs.evaluate(models, X, Y, cv=FOLDS, scoring=SCORING, return_train_score=True).source.to_frame()
    assert frame["model"].tolist() == ["bayes"] * 3 + ["logistic"] * 3
    assert frame["fold"].tolist() == [0, 1, 2] * 2
    assert (frame["fit_time"] > 0).all()
    for name, model in models.items():
        theirs = cross_validate(model, X, Y, cv=FOLDS, scoring=SCORING, return_train_score=True)
        of_model = frame[frame["model"] == name]
        for column in ("test_roc_auc", "test_accuracy", "train_roc_auc", "train_accuracy"):
            np.testing.assert_allclose(of_model[column], theirs[column])


def test_folds_are_numbered_over_repeats_as_in_the_rows():
    predictions = rs.evaluate(GaussianNB(), X, Y, cv=3, repeats=2, scoring="accuracy")
    frame = predictions.source.to_frame()
    rows = pd.DataFrame({"fold": predictions.fold, "repeat": predictions.repeat}).drop_duplicates()
    assert sorted(zip(frame["fold"], frame["repeat"], strict=True)) == sorted(rows.itertuples(index=False, name=None))
    decided = predictions.to_frame()
    assert np.allclose(
        frame["test_accuracy"],
        (decided["y_true"] == decided["GaussianNB_decision"]).groupby(decided["fold"]).mean(),
    )


class FailingOnce(GaussianNB):
    """Fails in the fold whose training rows lack row 0."""

    def fit(self, X, y):
        if X[0, 0] != FIRST:
            raise ValueError("no first row")
        return super().fit(X, y)


FIRST = X[0, 0]


@pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")
def test_a_failed_fold_is_nan():
    predictions = rs.evaluate(FailingOnce(), X, Y, cv=3, scoring="accuracy", error_score=np.nan)
    frame = predictions.source.to_frame()
    [failure] = predictions.source.failures
    undefined = frame[["fit_time", "score_time", "test_accuracy"]].isna()
    assert undefined.all(axis=1).tolist() == [fold == failure.fold for fold in range(3)]
    assert undefined.any(axis=1).sum() == 1


def test_rows_are_read_back_from_their_frame():
    scores = {"a": RNG.random(60), "b": RNG.random(60)}
    weight, segment = RNG.random(60), np.array(["x", "y", "z"] * 20)
    rows = rs.Predictions(Y, scores, sample_weight=weight, segment=segment, columns={"amount": weight * 2})
    for backend in ("pandas", "polars", "pyarrow"):
        again = rs.read(
            rows.to_frame(backend), label="y_true", scores=["a", "b"], weight="sample_weight",
            segment="segment", columns=["amount"],
        )  # fmt: skip
        assert (again.y_true == rows.y_true).all()
        assert all((again.scores[name] == scores[name]).all() for name in scores)
        assert (again.sample_weight == weight).all() and (again.segment == segment).all()
        assert (again.columns["amount"] == weight * 2).all()


def test_two_columns_of_one_name_are_refused():
    rows = rs.Predictions(Y, {"fold": X[:, 0]}, fold=Y)
    with pytest.raises(rs.errors.InputError, match="columns with different names, got two columns named 'fold'"):
        rows.to_frame()


def test_counts_at_each_threshold_are_counted_rows():
    scores = RNG.integers(0, 6, 60) / 5
    frame = rs.Predictions(Y, scores).counts().to_frame()
    for row in frame.itertuples():
        acted = scores >= row.threshold
        counted = [(acted & (Y == 1)).sum(), (acted & (Y == 0)).sum(), (~acted & (Y == 1)).sum()]
        assert [row.tp, row.fp, row.fn, row.tn] == [*counted, (~acted & (Y == 0)).sum()]
    assert frame["threshold"].tolist() == sorted(set(scores), reverse=True)


def test_a_campaign_and_a_description_are_tables_of_their_parts():
    plan = rs.plan_campaign(Y, X[:, 0], rs.Campaign(population=1000, unit_cost=1, unit_benefit=5))
    frame = plan.to_frame()
    assert frame["size"].tolist() == [step.size for step in plan.steps]
    assert frame["profit"].tolist() == [step.profit for step in plan.steps]
    described = rs.engines.describe({"bought": Y, "score": X[:, 0]}).to_frame("polars")
    assert described["name"].to_list() == ["bought", "score"]
    assert described["distinct"].to_list() == [2, len(set(X[:, 0]))]


def test_a_table_of_folds_needs_a_summary_by_fold():
    predictions = rs.evaluate(GaussianNB(), X, Y, cv=3)
    assert rs.summary(predictions, by="fold").fold_table()
    with pytest.raises(rs.errors.InputError, match=r"fold_table: .*; call rs\.summary\(predictions, by='fold'\)"):
        rs.summary(predictions).fold_table()
