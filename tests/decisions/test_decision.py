"""Decision: what it says of itself, and that its file comes back as it was or not at all."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
import rocscope as rs
from model_cases import all_points, contexts, several
from rocscope import Context, Decision, Predictions, Review, ThresholdCounts, choose
from rocscope.errors import ColumnError, InputError, ScoreError, StoredError

COUNTS = ThresholdCounts([0.9, 0.6, 0.4], [20, 10, 5], [5, 20, 140])
CONTEXT = Context(cost_fp=1, cost_fn=20, target_prevalence=0.005)


@given(preds=several(most=12), context=contexts)
def test_costs_of_the_alternatives(preds, context):
    decision = choose(preds, context)
    share = Fraction(preds.n_pos, preds.n)

    def cost(tpr, fpr):
        return pytest.approx(float(oracle.expected_cost(context, Fraction(tpr), Fraction(fpr), share)), abs=1e-12)

    assert decision.treat_all_cost == cost(1, 1)
    assert decision.treat_none_cost == cost(0, 0)
    assert decision.default_cost == cost(decision.default_point.tpr, decision.default_point.fpr)
    assert decision.regret == decision.regrets["hull"] == 0
    assert all(regret <= 0 for regret in decision.regrets.values())


@given(preds=several(most=12), context=contexts, criterion=st.sampled_from(["youden", "f1", "tpr", "tnr"]))
def test_regret_is_never_below_0(preds, context, criterion):
    assert choose(preds, context, criterion=criterion).regret >= 0


@given(preds=several(most=12), context=contexts, data=st.data())
def test_it_stays_the_best_within_its_intervals_and_only_there(preds, context, data):
    decision = choose(preds, context)
    low, high = decision.prevalence_interval
    assert low <= decision.prevalence * (1 + 1e-12)
    assert decision.prevalence <= high * (1 + 1e-12)
    trial = data.draw(st.sampled_from([0.01, 0.13, 0.37, 0.61, 0.97]))
    there = Context(trial, context.cost_fp, context.cost_fn)
    cost = min(oracle.expected_cost(there, point.tpr, point.fpr, None) for point in all_points(preds))
    own = oracle.expected_cost(there, *(rate(decision.point) for rate in (tpr, fpr)), None)
    assert (own == cost) == (low * (1 - 1e-12) <= trial <= high * (1 + 1e-12))
    least, most = decision.cost_ratio_interval
    dear = Context(decision.prevalence, trial, 1)
    cost = min(oracle.expected_cost(dear, point.tpr, point.fpr, None) for point in all_points(preds))
    own = oracle.expected_cost(dear, *(rate(decision.point) for rate in (tpr, fpr)), None)
    assert math.isclose(own, cost, rel_tol=1e-9) == (least * (1 - 1e-9) <= trial <= most * (1 + 1e-9))


def tpr(point):
    return Fraction(point.tp, point.n_pos)


def fpr(point):
    return Fraction(point.fp, point.n_neg)


def test_counts_per_thousand_and_in_a_population():
    decision = choose(COUNTS, CONTEXT, population=1_000_000)
    assert decision.per_thousand.n_pos == pytest.approx(5)
    assert decision.in_population.tp == pytest.approx(5000 * decision.point.tpr)
    assert decision.in_population.fp == pytest.approx(995_000 * decision.point.fpr)
    assert choose(COUNTS, CONTEXT).in_population is None


@pytest.mark.parametrize(
    ("context", "rule", "cost"),
    [
        (Context(cost_fp=1, cost_fn=1, cost_tp=2), "never", 35 / 200),
        (Context(cost_fp=0, cost_fn=5), "always", 0),
        (Context(cost_fp=-1, cost_fn=5), "always", -165 / 200),
        (Context(cost_fp=0, cost_fn=0), "never", 0),
    ],
)
def test_costs_that_make_one_action_right(context, rule, cost):
    decision = choose({"a": COUNTS, "b": COUNTS}, context)
    assert (decision.rule, decision.expected_cost) == (rule, cost)
    assert "right whatever the scores" in decision.notes[0]
    assert "right whatever the scores" in repr(decision)
    assert decision.predict([-1e300, 1e300]).tolist() == [rule == "always"] * 2
    assert decision.slope_interval is decision.prevalence_interval is None


def test_all_scores_equal():
    decision = choose(ThresholdCounts([1], [3], [7]))
    assert (decision.rule, decision.notes) == (
        "never",
        ("all scores of score are equal, so all cases get the same decision",),
    )


def test_how_a_tie_was_broken():
    tied = choose({"a": ThresholdCounts([2, 1], [2, 1], [1, 2]), "b": ThresholdCounts([9, 8], [2, 1], [1, 2])})
    assert (tied.model, tied.tied) == ("a", ("b",))
    border = choose(ThresholdCounts([3, 2, 1], [2, 1, 0], [0, 1, 2]))
    assert (border.threshold, border.tied) == (3, ("score at 2",))
    assert border.tie_break == "as good: score at 2. Taken: fewest positive predictions, then the model given first"
    assert choose(COUNTS, CONTEXT).tie_break == "no tie"


def test_prediction_compares_exactly():
    scores = np.array([0.1, 0.2, 0.3], np.float32)
    decision = choose(ThresholdCounts.from_scores([0, 1, 1], scores))
    assert decision.predict(scores).tolist() == [False, True, True]
    assert decision.predict({"other": [0, 0], "score": [0.2, 0.21]}).tolist() == [False, True]
    large = choose(ThresholdCounts.from_scores([0, 1], np.array([2**60, 2**60 + 1])))
    assert large.predict(np.array([2**60, 2**60 + 1])).tolist() == [False, True]
    assert large.predict(np.array([2.0**60, 2.0**61])).tolist() == [False, True]
    assert large.predict(np.array([1, 255], np.uint8)).tolist() == [False, False]


@pytest.mark.parametrize(
    ("scores", "kind", "message"),
    [
        ({"b": [1, 2]}, ColumnError, r"scores of model 'a': expected a column 'a', got the columns \['b'\]"),
        ([0.5, math.nan], ScoreError, "expected finite scores, got 1 missing or infinite score, in row 1"),
        (
            Predictions([0, 1], {"b": [1, 2]}),
            ColumnError,
            "scores of model 'a': expected a column 'a', got the columns",
        ),
    ],
)
def test_scores_refused(scores, kind, message):
    with pytest.raises(kind, match=message):
        choose({"a": COUNTS}).predict(scores)


MADE = {
    "by cost": lambda: choose(COUNTS, CONTEXT),
    "constrained": lambda: choose(COUNTS, CONTEXT, subject_to=["tpr >= .7", "depth <= 1"], population=1e6),
    "by criterion": lambda: choose({"ä": COUNTS, "b": COUNTS}, criterion="f1"),
    "never": lambda: choose(COUNTS, Context(cost_tp=5)),
    "always": lambda: choose(COUNTS, Context(cost_fp=0)),
    "nobody": lambda: choose(COUNTS, Context(cost_fp=1000)),
    "negated": lambda: choose(rs.hull(ThresholdCounts([2, 1], [1, 3], [3, 1]), negate=True)),
    "weighted": lambda: choose(ThresholdCounts([2, 1], [1.5, 0.1], [0.2, 2.5])),
    "by lot": lambda: choose(COUNTS, CONTEXT, subject_to="cases <= 30", population=200, randomized=True),
    "by lot with all": lambda: choose({"a": COUNTS, "b": COUNTS}, CONTEXT, subject_to="tnr <= .3", randomized=True),
    "a lot refused": lambda: choose(COUNTS, CONTEXT, subject_to="tpr >= .8"),
    "reviewed": lambda: choose(COUNTS, Context(cost_fp=10, cost_fn=30), review=Review(3, 20)),
    "all reviewed": lambda: choose(COUNTS, Context(cost_fp=10, cost_fn=30), review=Review(0)),
    "integers": lambda: choose(ThresholdCounts.from_scores([0, 1], np.array([2**60, 2**60 + 1]))),
}


@pytest.mark.parametrize("name", MADE)
def test_a_file_comes_back_as_it_was(name, tmp_path):
    decision = MADE[name]()
    path = decision.save(tmp_path / "decision.json")
    loaded = Decision.load(path)
    assert loaded.to_dict() == decision.to_dict()
    assert (loaded.threshold, type(loaded.threshold)) == (decision.threshold, type(decision.threshold))
    assert loaded.predict([0, 1, 2**61]).tolist() == decision.predict([0, 1, 2**61]).tolist()
    with pytest.raises(InputError, match="exists already"):
        decision.save(path, force=False)
    decision.save(path)


def saved(tmp_path):
    path = MADE["constrained"]().save(tmp_path / "decision.json")
    return path, json.loads(path.read_text())


def leaves(value, path=()):
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key], (*path, key))]
    if isinstance(value, list):
        return [leaf for i, each in enumerate(value) for leaf in leaves(each, (*path, i))]
    return [path]


@pytest.mark.slow(reason="long searches")
def test_no_value_can_be_edited_unseen(tmp_path):
    path, content = saved(tmp_path)
    for *parents, last in leaves(content):
        edited = json.loads(json.dumps(content))
        place = edited
        for key in parents:
            place = place[key]
        old = place[last]
        for new in ("x", None, True, -1.5, old * 1.001 + 0.001 if isinstance(old, int | float) else old):
            place[last] = new
            path.write_text(json.dumps(edited))
            if new == old and type(new) is type(old):
                Decision.load(path)
                continue
            with pytest.raises(StoredError) as error:
                Decision.load(path)
            assert "\n" not in str(error.value)


def test_no_field_can_be_left_out_or_added(tmp_path):
    path, content = saved(tmp_path)
    for name in content:
        path.write_text(json.dumps({key: value for key, value in content.items() if key != name}))
        with pytest.raises(StoredError):
            Decision.load(path)
    path.write_text(json.dumps(content | {"comment": "mine"}))
    with pytest.raises(StoredError, match="comment: expected a known field, got an unknown field; make"):
        Decision.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 4}, "expected a decision of version 3, got version 4, saved by a newer rocscope; update rocscope"),
        (
            {"version": 1},
            "subject_to: expected a field of this version, got a field of a newer",
        ),
        (
            {"version": 2},
            "lot: expected a field of this version, got a field of a newer",
        ),
        ({"version": "1"}, "expected a version number, got '1'"),
        ({"format": "other"}, 'expected JSON with "format": "rocscope.decision"'),
        ({"threshold": 0.55}, "threshold: expected 0.6, got 0.55; make the decision again"),
        ({"population": 0}, "population: expected a number above 0, got 0"),
        ({"model": "other"}, "expected the content that was saved, got content that was changed later"),
        ({"threshold": "0.5"}, "threshold: expected 0.6, got '0.5'"),
        ({"threshold": None}, "threshold: expected 0.6, got None"),
        ({"context": {"cost_fp": 1, "bonus": 2}}, "context: got .*bonus"),
        ({"point": {"tp": -1, "fp": 1, "fn": 1, "tn": 1}}, "point.tp: expected a number of at least 0, got -1"),
        ({"slope_interval": [3, 1]}, "slope_interval: expected two slopes of at least 0"),
        ({"tied": ["a", 1]}, "tied: expected a list of strings"),
        ({"regret": 0.5}, "regret: expected .*, got 0.5"),
    ],
)
def test_files_refused(tmp_path, change, message):
    path, content = saved(tmp_path)
    path.write_text(json.dumps(content | change))
    with pytest.raises(StoredError, match=message):
        Decision.load(path)


EARLIER = json.loads((Path(__file__).parents[1] / "reference" / "earlier_decisions.json").read_text())


@pytest.mark.parametrize("version", EARLIER["files"])
def test_files_of_earlier_versions_are_read(tmp_path, version):
    """The files were saved by `choose` of the named commits, from the rows beside them."""
    rows = Predictions(EARLIER["rows"]["y"], {name: EARLIER["rows"][name] for name in "ab"})
    selected = {"cost": 4, "bound": 2, "f1": 4, "everybody": 10}
    for name, content in EARLIER["files"][version].items():
        path = tmp_path / "decision.json"
        path.write_text(json.dumps(content))
        decision = rs.load_plan(path)
        assert decision.verify(rows).verified, (name, decision.verify(rows))
        assert decision.rows(rows).size == selected[name]
        assert len(decision.apply({"a": [9, 8, 5, 0]})) == (4 if name == "everybody" else 2)
        assert decision.subject_to == (("cases <= 3",) if name == "bound" else ())
        assert Decision.load(decision.save(tmp_path / "saved.json")) == decision
        assert json.loads((tmp_path / "saved.json").read_text())["version"] == 3


@pytest.mark.parametrize("version", EARLIER["files"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "b"}, "expected the content that was saved, got content that was changed later"),
        ({"lot": None}, "expected the content that was saved, got content that was changed later"),
        ({"checksum": None}, "expected the content that was saved, got content that was changed later"),
    ],
)
def test_changed_files_of_earlier_versions_are_refused(tmp_path, version, change, message):
    path = tmp_path / "decision.json"
    path.write_text(json.dumps(EARLIER["files"][version]["bound"] | change))
    with pytest.raises(StoredError, match=message):
        Decision.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": NaN}', "nonsense"])
def test_what_is_no_decision_at_all(tmp_path, text):
    path = tmp_path / "decision.json"
    path.write_text(text)
    with pytest.raises(StoredError):
        Decision.load(path)
    with pytest.raises(StoredError, match="cannot be read as a decision file: No such file"):
        Decision.load(tmp_path / "absent.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    with pytest.raises(StoredError, match="got a file that is not UTF-8 text"):
        Decision.load(tmp_path / "binary.json")


def test_acting_on_a_part_of_everybody_by_lot_is_loaded_again(tmp_path):
    counts = ThresholdCounts([2, 1], [3, 4], [1, 4])
    decision = choose(counts, Context(cost_fp=9, cost_fn=9, cost_tp=-1), review=Review(1, 3))
    looked = choose(ThresholdCounts([1], [6], [4]), Context(cost_fp=3, cost_fn=9), review=Review(0.5, 3))
    assert looked.threshold == -math.inf
    for each in (decision, looked):
        path = each.save(tmp_path / "decision.json", force=True)
        assert Decision.load(path).to_dict() == each.to_dict()


def test_a_constant_score_that_might_be_negated_is_no_fault():
    both = rs.hull({"a": ThresholdCounts([1], [3], [7]), "b": ThresholdCounts([2, 1], [2, 1], [1, 6])}, negate=True)
    assert choose(both, Context(cost_fn=3), subject_to="tpr >= 0.5").model == "b"
    assert choose(both, Context(cost_fp=-1, cost_fn=0)).threshold == -math.inf
