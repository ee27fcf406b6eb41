"""Every public function and segments: pooled, by segment, or refused in one wording; a segment is never a model."""

from collections.abc import Mapping

import numpy as np
import pytest

import rocscope as rs
from door_cases import (
    BESIDE_OTHER_DATA,
    CAMPAIGN,
    OF_A_POINT,
    OF_COUNTED_DATA,
    OF_ONE_MODEL,
    OF_ONE_OR_SEVERAL,
    OF_ROWS,
    OF_SEVERAL_CLASSES,
    OF_SEVERAL_MODELS,
    TABLES,
    A,
    B,
    N,
    Y,
    assert_alike,
    outcome,
)
from rocscope.errors import InputError, RocscopeError

pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")

SEGMENT = np.array(["north", "south", "west"])[np.arange(N) % 3]
ROWS = rs.Predictions(Y, A, segment=SEGMENT)
BOTH = rs.Predictions(Y, {"a": A, "b": B}, segment=SEGMENT)
SEGMENTS = ROWS.counts(by="segment")
BY_MODEL = {model: BOTH.counts(model, by="segment") for model in BOTH.models}
PARTS = ROWS.by_segment()

REFUSED = "a segment is a part of the rows, not a model; for all rows together, pass the Predictions, or .pooled()"
BY_SEGMENT = {
    "segments.compare_segments": (lambda data: rs.segments.compare_segments(data).to_dict(), BY_MODEL, BOTH),
    "allocate": (lambda data: rs.allocate(data, capacity=9).to_dict(), SEGMENTS, ROWS),
    "drift": (lambda data: rs.drift(data, data, replicates=9).to_frame().values.tolist(), SEGMENTS, SEGMENTS),
    "summary": (lambda data: _parts(rs.summary(data, by="segment")), SEGMENTS, ROWS),
    "Report": (lambda data: [each.name for each in rs.Report(data).data.slices], SEGMENTS, ROWS),
}
POOLED = sorted((OF_ONE_MODEL | OF_COUNTED_DATA | BESIDE_OTHER_DATA | OF_SEVERAL_MODELS).keys() - {"compare"})
NOT_POOLED = [
    *OF_ROWS,
    *OF_A_POINT,
    *OF_SEVERAL_CLASSES,
    "evaluation.compare_folds",
    "evaluation.practical_equivalence",
    "evaluation.compare_datasets",
    "evaluation.friedman",
]
CALLS = {name: call for table in TABLES for name, call in table.items()}


def _parts(summary):
    return [(row.part, row.n, row.n_pos, row.estimates["brier"].value) for row in summary]


def pooled(data):
    return {name: each.pooled() for name, each in data.items()} if isinstance(data, Mapping) else data.pooled()


def test_segments_are_no_mapping_of_models():
    assert not isinstance(SEGMENTS, Mapping)
    assert dict(SEGMENTS)["west"] == SEGMENTS["west"] == SEGMENTS.get("west") == list(SEGMENTS.values())[2]
    assert list(SEGMENTS.keys()) == ["north", "south", "west"]
    assert SEGMENTS.get("east") is None


@pytest.mark.every(9)
@pytest.mark.parametrize("name", POOLED)
def test_counts_by_segment_are_pooled(name):
    call = CALLS[name]
    expected = outcome(call, SEGMENTS.pooled())
    assert not isinstance(expected, str)
    assert_alike(outcome(call, SEGMENTS), expected)
    if name not in BESIDE_OTHER_DATA:
        assert_alike(outcome(call, {"score": SEGMENTS}), expected)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", [*OF_SEVERAL_MODELS, *sorted(OF_ONE_OR_SEVERAL)])
def test_models_that_were_counted_by_segment_are_pooled(name):
    expected = outcome(CALLS[name], pooled(BY_MODEL))
    assert not isinstance(expected, str)
    assert_alike(outcome(CALLS[name], BY_MODEL), expected)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", BY_SEGMENT)
def test_answers_by_segment_are_those_of_the_rows(name):
    call, segments, rows = BY_SEGMENT[name]
    assert_alike(outcome(call, segments), outcome(call, rows))
    assert not isinstance(outcome(call, segments), str)


@pytest.mark.parametrize("data", [SEGMENTS, PARTS, BY_MODEL], ids=["counts", "rows", "counts by model"])
@pytest.mark.parametrize("name", NOT_POOLED)
def test_segments_are_refused_in_one_wording(name, data):
    if data is PARTS and name in ("evaluation.compare_datasets", "evaluation.friedman"):
        return  # rows by segment may be data sets
    with pytest.raises(InputError) as caught:
        CALLS[name](data)
    assert REFUSED in str(caught.value) or str(caught.value).startswith("models to compare: expected two")


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"evaluation.compare_datasets", "evaluation.friedman"}))
def test_rows_by_segment_are_no_models(name):
    with pytest.raises(InputError, match=REFUSED.replace("(", r"\(").replace(")", r"\)")):
        CALLS[name](PARTS)


def test_no_threshold_of_a_segment_is_taken_for_that_of_a_model():
    context = rs.Context(cost_fn=3)
    assert rs.choose(SEGMENTS, context).to_dict() == rs.choose(SEGMENTS.pooled(), context).to_dict()
    assert rs.choose(SEGMENTS).model == "score"
    assert rs.hull(SEGMENTS).dominated == []
    assert "south" not in str(rs.plan_campaign(SEGMENTS, CAMPAIGN))


def test_models_by_segment_are_no_models():
    by_segment = {name: {"a": counts} for name, counts in SEGMENTS.items()}
    assert len(rs.allocate(by_segment).names) == 3
    for call in (rs.hull, rs.choose, lambda data: rs.auc(data, model="west")):
        with pytest.raises(InputError, match="a segment is a part of the rows, not a model"):
            call(by_segment)


COLUMNS = {
    "y_true of a curve": lambda data: rs.auc(data, np.arange(3)),
    "y_score of a curve": lambda data: rs.auc([1, 0, 1], data),
    "scores": lambda data: rs.Predictions([1, 0, 1], data),
    "sample_weight": lambda data: rs.roc([1, 0, 1], [3, 2, 1], sample_weight=data),
    "p-values": rs.inference.adjust_p_values,
    "a source": lambda data: rs.read(data, label="y", scores="a"),
    "a source to count": lambda data: rs.read_counts(data, label="y", scores="a"),
    "a source to sketch": lambda data: rs.engines.read_sketch(data, label="y", scores="a"),
    "a source to explore": rs.explore,
    "a source to describe": rs.engines.describe,
    "an estimator": lambda data: rs.evaluate(data, np.ones((N, 1)), Y),
    "attributes": lambda data: rs.evaluation.from_estimator(data, np.ones((N, 1)), Y),
    "labels of some": lambda data: rs.decisions.partial_lift_chart(data, np.arange(3)),
    "probabilities": lambda data: rs.decisions.act_by_row(data, rs.Context()),
    "a curve to draw": rs.plotting.plot_curve,
    "regions to draw": rs.plotting.plot_regions,
    "a matrix to draw": rs.plotting.plot_confusion,
    "areas to draw": rs.plotting.plot_pairwise_auc,
    "ranks to draw": rs.plotting.plot_critical_difference,
    "learning to draw": rs.plotting.plot_learning_curve,
    "times to draw": rs.plotting.plot_over_time,
    "uplift to draw": rs.plotting.plot_uplift,
    "uplift by part to draw": rs.plotting.plot_uplift_parts,
    "times to read": lambda data: rs.engines.read_at_horizon(data, time="t", event="e", horizon=1, scores="a"),
    "verified": lambda data: rs.outcomes.from_verified([1, 0, 1], data, [3, 2, 1]),
    "responses": lambda data: rs.outcomes.from_experiment(data, [1, 0, 1], [3, 2, 1]),
    "times": lambda data: rs.outcomes.at_horizon(data, [1, 0, 1], [3, 2, 1], 2),
    "times over horizons": lambda data: rs.outcomes.over_time(data, [1, 0, 1], [3, 2, 1], [1, 2]),
    "times to rank": lambda data: rs.outcomes.concordance(data, [1, 0, 1], [3, 2, 1], 2),
}


@pytest.mark.parametrize("data", [SEGMENTS, PARTS], ids=["counts", "rows"])
@pytest.mark.parametrize("what", COLUMNS)
def test_segments_are_no_columns_sources_or_results(what, data):
    """Names of segments that are numbers, as many as rows, were once taken for a column."""
    with pytest.raises(RocscopeError):
        COLUMNS[what](data)


def test_every_function_that_takes_data_has_its_cell():
    assert set(CALLS) - {*POOLED, *NOT_POOLED, *BY_SEGMENT} == {"compare"}  # of one model there is nothing to compare
