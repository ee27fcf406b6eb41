"""Batches whose labels come later: the labelled rows replace them exactly, whatever comes between, or are refused."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from rocscope.decisions import Monitor
from rocscope.decisions.monitoring import FORMAT
from rocscope.errors import InputError, RocscopeWarning

COUNTS = rs.ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695])
PLANS = {
    "decision": rs.choose(COUNTS, rs.Context(cost_fn=9)),
    "campaign with a lot": rs.plan_campaign(COUNTS, rs.Campaign(1000, unit_cost=1, unit_benefit=20, capacity=150)),
    "review": rs.choose(COUNTS, rs.Context(cost_fp=5, cost_fn=5), review=rs.Review(cost=0.5)),
}
NAMES = ("2026-01", "2026-02", "2026-03", "spring")
BATCHES = st.lists(st.tuples(st.booleans(), st.integers(1, 3)), min_size=1, max_size=8)


@st.composite
def events(draw):
    """Draw batches by name, and an order of events in which the unlabelled cases of a batch precede its labels.

    A batch has events "cases" (its scores without labels), "labels", or both.
    """
    batches = {name: draw(BATCHES) for name in draw(st.permutations(NAMES))[: draw(st.integers(1, 4))]}
    kinds = {name: draw(st.sampled_from([("cases",), ("labels",), ("cases", "labels")])) for name in batches}
    order = draw(st.permutations([name for name in batches for _ in kinds[name]]))
    left = {name: list(kinds[name]) for name in batches}
    return batches, [(left[name].pop(0), name) for name in order]


@pytest.mark.parametrize("kind", PLANS)
@given(drawn=events(), saved=st.booleans())
def test_labelled_rows_replace_their_unlabelled_batch_to_the_bit(kind, drawn, saved):
    batches, order = drawn
    watch = rs.monitor(PLANS[kind], fail_if="precision < .2")
    for event, name in order:
        label, score = zip(*batches[name], strict=True)
        if event == "cases":
            watch.update_unlabelled(score, when=name)
        else:
            watch.update(label, score, when=name)
        if saved:
            watch = Monitor.from_dict(json.loads(json.dumps(watch.to_dict())))
    labelled = [name for event, name in order if event == "labels"]
    alone = rs.monitor(PLANS[kind], fail_if="precision < .2")
    for name in labelled:
        alone.update(*zip(*batches[name], strict=True), when=name)
    waiting = [name for event, name in order if event == "cases" and name not in labelled]
    for name in waiting:
        alone.update_unlabelled([score for _, score in batches[name]], when=name)
    assert FORMAT.text(watch.to_dict()) == FORMAT.text(alone.to_dict())
    assert watch.volume.n == sum(len(batches[name]) for name in waiting)


def batch(seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.2, rng.integers(1, 4, n) + rng.random(n)


@pytest.fixture
def watch():
    return rs.monitor(PLANS["decision"])


def test_several_files_of_one_name_are_replaced_together(watch):
    (label, score), (more, others) = batch(1), batch(2, 90)
    watch.update_unlabelled(score, when="May").update_unlabelled(others, when="May")
    together = np.concatenate([label, more]), np.concatenate([score, others])
    assert (
        watch.update(*together, when="May").to_dict()
        == rs.monitor(PLANS["decision"]).update(*together, when="May").to_dict()
    )


def test_a_weighted_row_replaces_as_many_cases(watch):
    watch.update_unlabelled([3, 3, 1], when="May")
    with pytest.raises(InputError, match=r"expected 3 rows, because 3 cases without labels .* got 2 rows"):
        watch.update([1, 0], [3, 1], when="May")
    assert watch.update([1, 0], [3, 1], sample_weight=[2, 1], when="May").volume.n == 0


def test_another_number_of_rows_is_refused_and_changes_nothing(watch):
    label, score = batch(3, 1200)
    before = watch.update_unlabelled(score, when="May").to_dict()
    with pytest.raises(
        InputError, match=r"rows: expected 1,200 rows, because .* 'May', got 1,100 rows; add the labels"
    ):
        watch.update(label[:1100], score[:1100], when="May")
    assert watch.to_dict() == before
    assert watch.update(label[:1100], score[:1100], when="June").volume.n == 1200, "another name, another batch"
    assert watch.update(label, score).volume.n == 1200, "rows without a name replace nothing"


def test_labels_of_a_batch_that_has_labels_are_refused(watch):
    label, score = batch(4)
    before = watch.update_unlabelled(score, when="May").update(label, score, when="May").to_dict()
    with pytest.raises(
        InputError, match="rows: expected rows whose labels are not known yet, got other labels for the"
    ):
        watch.update(~label, score[::-1], when="May")
    with pytest.warns(RocscopeWarning, match="counted in batch 1 and are omitted"):
        watch.update(label, score, when="May")
    with pytest.warns(RocscopeWarning, match="already counted with labels"):
        watch.update_unlabelled(score[::-1], when="May")
    assert watch.to_dict() == before
    # Further rows of the same month are late labels, and equal scores may belong to other rows.
    assert watch.update(*batch(5), when="May").n == 400
    assert watch.update(~label, score, when="May", again=True).n == 600
    assert watch.update(~label, score, when="June").n == 800


def test_labels_on_another_machine_replace_the_batch_when_monitors_are_merged(watch):
    label, score = batch(6)
    here = watch.update_unlabelled(score, when="May").update_unlabelled(score[:50], when="June")
    there = rs.monitor(PLANS["decision"]).update(label, score, when="May")
    for both in (here.merge(there), there.merge(here)):
        assert (both.n, both.volume.n) == (200, 50)
    with pytest.raises(InputError, match="got the batch June in both monitors"):
        here.merge(rs.monitor(PLANS["decision"]).update_unlabelled(score[:50], when="June"))


def test_states_of_the_first_format_are_read(watch, tmp_path):
    """They contain no digests of scores, and only the sum of all cases without labels."""
    label, score = batch(7)
    watch.update(label, score, when="April").update_unlabelled(score, when="May")
    content = watch.to_dict()
    for look in (*content["looks"], *content["volume"]["looks"]):
        for name in ("scores", "acting", "left"):
            look.pop(name, None)
    path = tmp_path / "state.json"
    path.write_text(FORMAT.text(content))
    older = Monitor.load(path)
    assert older.volume == watch.volume
    assert older.update(label, score, when="May").volume.n == 0
