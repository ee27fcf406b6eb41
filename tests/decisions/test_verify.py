"""Decisions of every kind are proved by an oracle, verified from their files, and refuted where they were changed."""

import ast
import json
import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import decision_oracle
import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Context, Decision, OperatingPoint, Predictions, Review, ThresholdCounts
from rocscope.errors import ColumnError, InfeasibleError, InputError, OneClassError, StoredError
from rocscope.ranges import BinnedCounts
from strategies import counted, in_parts, tied_scores

COSTS = (0, 0.1, 1, 3, 20)


def sample(rng):
    """Draw the tied scores of one to three models, some of them weighted."""
    y, scores = tied_scores(rng)
    n = y.size
    kind = rng.integers(0, 4)
    dtype = rng.choice([np.int64, np.float32, np.float64])
    weights = (None, None, rng.integers(0, 4, n), rng.choice([0.1, 0.3, 1.0, 1e-3], n))
    weight = weights[kind]
    if weight is not None:
        weight[:2] = 1
    return Predictions(y.astype(int), {m: s.astype(dtype) for m, s in scores.items()}, sample_weight=weight)


def decided(rng, preds):
    """Return a decision of any kind."""
    target = None if rng.random() < 0.5 else float(rng.choice([0.01, 0.2, 0.5]))
    context = Context(target, float(rng.choice(COSTS)), float(rng.choice(COSTS)), -float(rng.integers(0, 2)))
    kind, negate = rng.integers(0, 5), bool(rng.random() < 0.3)
    models = rs.hull(preds, negate=negate)
    n = preds.n
    bound = str(rng.choice([f"cases <= {round(n / 3, 2)}", "tpr >= 0.6", "precision >= 0.5", "fpr <= 0.4", "tp >= 1"]))
    population = None if rng.random() < 0.5 else 1000
    if kind == 0:
        return rs.choose(models, context)
    if kind == 1:
        return rs.choose(models, context, subject_to=bound, population=population)
    if kind == 2:
        names = ("accuracy", "youden", "ks", "f1", "f2", "mcc", "lift@0.3", "closest_topleft", "precision", "fpr")
        return rs.choose(
            models, context, criterion=str(rng.choice(names)), subject_to=[bound] * int(rng.integers(0, 2))
        )
    if kind == 3:
        return rs.choose(models, context, subject_to=bound, population=population, randomized=True)
    capacity = None if rng.random() < 0.5 else int(rng.integers(0, n))
    return rs.choose(preds, context, review=Review(float(rng.choice([0, 0.1, 1])), capacity))


def feasible(rng):
    """Return a sample and a decision of it, passing over those whose constraints none meets."""
    while True:
        preds = sample(rng)
        with suppress(InfeasibleError, InputError):
            return preds, decided(rng, preds)


@in_parts(25, 10_000)
def test_every_decision_is_proved_and_verified_from_its_file(cases, part, tmp_path):
    rng, kinds = np.random.default_rng([0, part]), set()
    for _ in counted(cases):
        preds, decision = feasible(rng)
        path = tmp_path / "decision.json"
        path.write_text(decision.to_json())
        for data in (preds, {name: preds.counts(name) for name in preds.models}):
            proof = prove(decision, data)
            assert proof.holds, (decision, proof)
            assert proof.left_open == ()
            verified = Decision.load(path).verify(data)
            assert verified.verified, (decision, verified)
        kinds.add((decision.rule, decision.criterion))
    print(f"{cases} decisions of {len(kinds)} kinds verified, from rows and from counts")
    assert {rule for rule, _ in kinds} >= {"score >= threshold", "always", "never", "act, review or leave"}


Y = np.repeat([1, 0, 1, 0, 1, 0], [60, 14, 80, 320, 10, 390])
A = np.repeat([5, 4, 3], [74, 400, 400])
PREDS = Predictions(Y, {"a": A, "b": A * 7 % 5})
PLAIN = rs.choose(PREDS, Context(0.2, cost_fn=4), population=1000)
BOUND = rs.choose(PREDS, Context(cost_fn=8), subject_to="cases <= 100")
LOT = rs.choose(PREDS, Context(cost_fn=8), subject_to="cases <= 100", randomized=True)
LOOK = rs.choose(PREDS, Context(cost_fp=10, cost_fn=30), review=Review(3, 200))
F1 = rs.choose(PREDS, criterion="f1")


def point(decision, **cells):
    """Return the decision with other counts, of the same totals where only tp and fp are named."""
    at = replace(decision.point, **cells)
    return replace(decision, point=replace(at, fn=decision.point.n_pos - at.tp, tn=decision.point.n_neg - at.fp))


def at(decision, threshold):
    """Return the decision at another threshold, with the counts that it has there, and its cost."""
    there = PREDS.counts(decision.model).at(threshold)
    cost = decision.context.expected_cost(there.tpr, there.fpr, there.prevalence)
    return replace(decision, point=there, expected_cost=cost, criterion_value=cost, slope_interval=None, tied=())


def context(decision, **costs):
    return replace(decision, context=replace(decision.context, **costs))


def mixed(weight):
    """Return the decision by lot with another weight, and the counts and the cost that follow."""
    lot = replace(LOT.lot, weights=(1 - weight, weight))
    n_pos, n_neg = LOT.point.n_pos, LOT.point.n_neg
    tp, fp = n_pos * lot.tpr, n_neg * lot.fpr
    there = OperatingPoint(tp, fp, n_pos - tp, n_neg - fp, LOT.threshold)
    cost = LOT.context.expected_cost(lot.tpr, lot.fpr, there.prevalence)
    return replace(LOT, lot=lot, point=there, expected_cost=cost, criterion_value=cost)


TAMPERED = {
    "another threshold": lambda: replace(PLAIN, point=replace(PLAIN.point, threshold=5)),
    "another threshold, with its counts and costs": lambda: at(PLAIN, 3 if PLAIN.threshold != 3 else 5),
    "nobody, with counts and costs": lambda: at(PLAIN, np.inf),
    "another model": lambda: replace(PLAIN, model="b"),
    "one more true positive": lambda: point(PLAIN, tp=PLAIN.point.tp + 1),
    "one false positive fewer": lambda: point(PLAIN, fp=PLAIN.point.fp - 1),
    "ten times the rows": lambda: replace(PLAIN, point=PLAIN.point.at_prevalence(PLAIN.point.prevalence, 8740)),
    "a lower cost": lambda: replace(PLAIN, expected_cost=0.3, criterion_value=0.3, hull_cost=0.3),
    "a worse alternative of all": lambda: replace(PLAIN, treat_all_cost=2.0),
    "a worse alternative of none": lambda: replace(PLAIN, treat_none_cost=2.0),
    "a worse default": lambda: replace(PLAIN, default_cost=2.0),
    "other counts at the default": lambda: replace(PLAIN, default_point=replace(PLAIN.default_point, tp=149, fn=1)),
    "cheaper misses": lambda: context(PLAIN, cost_fn=2),
    "another prevalence": lambda: context(PLAIN, target_prevalence=0.5),
    "a wider interval": lambda: replace(PLAIN, slope_interval=(0.0, 1e6)),
    "a narrower interval": lambda: replace(
        PLAIN, slope_interval=(PLAIN.slope_interval[0], PLAIN.slope_interval[0] * 1.01)
    ),
    "a choice as good": lambda: replace(PLAIN, tied=("b at 3",)),
    "a reversed rule": lambda: replace(PLAIN, negated=True),
    "another criterion": lambda: replace(PLAIN, criterion="accuracy", criterion_value=PLAIN.per_thousand.accuracy),
    "another value of the criterion": lambda: replace(F1, criterion_value=0.9),
    "a constraint that it does not keep": lambda: replace(PLAIN, subject_to=("cases <= 100",)),
    "a constraint that was not its own": lambda: replace(BOUND, subject_to=("cases <= 50",)),
    "no constraint": lambda: replace(BOUND, subject_to=(), lot_cost=None),
    "what a lot would cost": lambda: replace(BOUND, lot_cost=BOUND.expected_cost - 0.5),
    "another population": lambda: replace(BOUND, population=10_000),
    "a weight of the lot": lambda: mixed(LOT.lot.exact_weight / 2),
    "a lot that takes too many": lambda: mixed((1 + LOT.lot.exact_weight) / 2),
    "a share of the lot": lambda: replace(LOT, lot=replace(LOT.lot, at_most=Fraction(1, 3))),
    "a cheaper review": lambda: replace(LOOK, review=replace(LOOK.review, review=Review(1, 200))),
    "a smaller capacity": lambda: replace(LOOK, review=replace(LOOK.review, review=Review(3, 20))),
    "a lower cost with reviews": lambda: replace(LOOK, expected_cost=1.0, criterion_value=1.0),
    "a bound of the best": lambda: replace(PLAIN, best_cost_interval=(0.0, 0.1)),
}


def test_what_is_not_tampered_with_holds():
    for decision in (PLAIN, BOUND, LOT, LOOK, F1):
        assert decision.verify(PREDS).verified, decision.verify(PREDS)
        assert prove(decision, PREDS).holds, prove(decision, PREDS)
    assert LOT.lot.randomized and BOUND.lot_cost is not None and PLAIN.slope_interval is not None


def test_a_randomised_rule_that_saves_nothing_is_refuted():
    chosen = rs.choose(PREDS, F1.context, criterion="f1", subject_to="cases <= 100")
    changed = replace(chosen, lot_cost=chosen.expected_cost)
    for found in (prove(changed, PREDS), changed.verify(PREDS)):
        assert [claim.partition(":")[0] for claim in found.refuted] == ["lot_cost"]


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_refused_though_the_file_is_sealed_anew(kind, tmp_path):
    path = TAMPERED[kind]().save(tmp_path / "decision.json")
    try:
        verified = Decision.load(path).verify(PREDS)
    except StoredError:
        return
    assert not verified.verified


@pytest.mark.parametrize("check", [prove, Decision.verify], ids=["oracle", "verify"])
def test_at_least_twenty_kinds_are_found_by_counting_and_not_by_the_file(check, tmp_path):
    found = 0
    for kind, tampered in TAMPERED.items():
        try:
            changed = Decision.load(tampered().save(tmp_path / f"{kind}.json"))
        except StoredError:
            continue
        result = check(changed, PREDS)
        found += bool(result.refuted)
    assert found >= 20


@pytest.mark.parametrize("review", [Review(3, 200), Review(300), Review(1, 0)], ids=["pays", "too dear", "no capacity"])
@pytest.mark.parametrize(
    "change",
    [{"tied": ("b at 3",)}, {"tied": ("b",)}, {"subject_to": ("cases <= 800",)}, {"subject_to": ("cases <= 1e9",)}],
    ids=str,
)
def test_a_changed_tie_or_constraint_of_a_review_is_refuted(review, change, tmp_path):
    decision = rs.choose(PREDS, LOOK.context, review=review)
    assert decision.verify(PREDS).verified
    saved = replace(decision, **change).save(tmp_path / "decision.json")
    refuted = Decision.load(saved).verify(PREDS).refuted
    assert [text.partition(":")[0] for text in refuted] == list(change)


def test_the_ties_of_an_unneeded_review_are_compared_in_any_order_of_the_models():
    models = {"a": PREDS.counts("a"), "b": PREDS.counts("b"), "c": PREDS.counts("a")}
    decision = rs.choose(models, Context(cost_fn=4), review=Review(300))
    assert decision.tied == ("a at 4", "c", "c at 4")
    for order in ("abc", "cab", "bca"):
        data = {name: models[name] for name in order}
        assert decision.verify(data).verified
        for tied in ((), ("c", "c at 4"), ("b", "c", "c at 4"), ("a at 4", "c", "c"), ("a at 4", "c", "c at 3")):
            assert not replace(decision, tied=tied).verify(data).verified, (order, tied)


def test_a_choice_that_is_as_good_is_verified_as_a_tie():
    """Among equal models the first given is chosen; the plan may have been made in another order."""
    models = {"a": PREDS.counts("a"), "c": PREDS.counts("a")}
    other = rs.choose(dict(reversed(models.items())), Context(cost_fn=4))
    found = other.verify(models)
    assert (other.model, found.verified, found.ties) == ("c", True, ("a at 5", "a at 4", "c", "c at 4"))
    worse = replace(other, point=models["c"].at(3), expected_cost=1.0, criterion_value=1.0)
    assert not worse.verify(models).verified


def test_a_label_that_was_changed_is_noticed():
    for row in (0, 100, 873):
        changed = Y.copy()
        changed[row] = 1 - changed[row]
        assert not PLAIN.verify(Predictions(changed, PREDS.scores)).verified
    better = {"a": PREDS.counts("a"), "b": PREDS.counts("b"), "c": ThresholdCounts.from_scores(Y, Y)}
    assert any("no other threshold is better by min_cost: c at 1 is" in each for each in prove(PLAIN, better).refuted)
    assert any(each.startswith("cost of the best choice: stored ") for each in PLAIN.verify(better).refuted)


def test_a_function_cannot_be_asked_again_from_a_file(tmp_path):
    own = rs.choose(PREDS, criterion=lambda tp, fp, fn, tn: tp - fp)
    assert own.verify(PREDS).verified, "it is still there"
    read = Decision.load(own.save(tmp_path / "decision.json"))
    with pytest.raises(InputError, match=r"criterion: expected the name of a criterion, got '<lambda>'"):
        read.verify(PREDS)
    assert prove(own, PREDS).left_open == ("that it is best by <lambda>",)


def test_files_of_the_report_have_their_own_words():
    by_hand = replace(
        at(PLAIN, 5), criterion="chosen by hand", criterion_value=np.nan, subject_to=("at most 9 of 1000 cases",)
    )
    assert not by_hand.verify(PREDS).verified
    assert replace(by_hand, subject_to=("at most 999 of 1000 cases",)).verify(PREDS).verified
    kept = replace(at(PLAIN, 5), notes=("among the thresholds in the report; at most 0.01 per case above the optimum",))
    found = kept.verify(PREDS)
    assert (found.verified, found.remarks) == (False, kept.notes)
    tied = rs.choose({"a": PREDS.counts("a"), "c": PREDS.counts("a")}, Context(cost_fn=4))
    unnamed = replace(tied, tied=()).verify({"a": PREDS.counts("a"), "c": PREDS.counts("a")})
    assert (unnamed.verified, unnamed.ties) == (True, ("a at 4", "c", "c at 4"))


def test_of_ranges_of_the_score_the_bounds_are_verified():
    merged = BinnedCounts.from_counts(ThresholdCounts.from_scores(Y, A + np.arange(Y.size) % 7 / 7)).merge([0, 6, 12])
    binned = BinnedCounts(merged.low, merged.high, merged.pos, merged.neg)
    decision = rs.choose(binned, Context(cost_fn=4))
    assert decision.best_cost_interval is not None
    rows = Predictions(Y, A + np.arange(Y.size) % 7 / 7)
    verified = decision.verify(rows)
    assert verified.verified
    assert verified.remarks == (decision.notes[0],)
    assert decision.verify(binned).verified
    assert prove(decision, rows).left_open == (f"that it is best: {decision.notes[0]}",)
    assert not replace(decision, best_cost_interval=(0.0, 0.1)).verify(rows).verified


@pytest.mark.parametrize(
    ("score", "weight"),
    [
        (2**60 + np.arange(6), None),
        (np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], np.float32), None),
        (np.array([0, 1, 1, 2, 3, 3], np.uint8), [1e-300, 1, 2, 1e300, 3, 1e10]),
        (np.array([-0.0, 0.0, 1, 1, 2, 3]), [0.1, 0.2, 0, 0.3, 0.3, 0]),
    ],
)
def test_scores_and_weights_of_any_size(score, weight):
    rows = Predictions([0, 1, 0, 1, 1, 0], score, sample_weight=weight)
    for context in (Context(), Context(cost_fn=3), Context(0.01, cost_fp=1e-200, cost_fn=1e-199)):
        decision = rs.choose(rows, context)
        assert decision.verify(rows).verified, decision.verify(rows)
        assert prove(decision, rows).holds, prove(decision, rows)
        if math.isfinite(decision.threshold):
            moved = replace(decision, point=replace(decision.point, threshold=score.max().item()))
            assert decision.threshold == score.max() or not prove(moved, rows).holds
            assert decision.threshold == score.max() or not moved.verify(rows).verified


AMOUNTS = Predictions(Y, PREDS.scores, columns={"amount": 1 + np.arange(Y.size) % 7 * 2.5})


@pytest.mark.parametrize(
    "aim", [{}, {"subject_to": "cases <= 300"}, {"criterion": "f1"}, {"subject_to": ["tpr >= .5", "depth <= .5"]}]
)
def test_what_costs_differ_in_from_row_to_row_is_verified(aim, tmp_path):
    saved = rs.choose(AMOUNTS, Context(0.3, cost_fn="amount", cost_fp=2), **aim).save(tmp_path / "decision.json")
    decision = Decision.load(saved)
    assert decision.verify(AMOUNTS).verified, decision.verify(AMOUNTS)
    assert prove(decision, AMOUNTS).holds, prove(decision, AMOUNTS)
    dearer = Predictions(Y, PREDS.scores, columns={"amount": AMOUNTS.columns["amount"] + (np.arange(Y.size) == 0)})
    assert "treat_none_cost" in "".join(decision.verify(dearer).refuted), "one amount is another"
    there = AMOUNTS.counts(decision.model).at(5)
    moved = replace(decision, point=there)
    assert decision.threshold == 5 or not moved.verify(AMOUNTS).verified
    for other in (LOT, LOOK):
        with pytest.raises(InputError, match="equal costs in all rows"):
            replace(other, context=decision.context).verify(AMOUNTS)
    with pytest.raises(ColumnError, match="cost_fn: expected rows with a column 'amount'"):
        decision.verify(PREDS)
    with pytest.raises(InputError, match="rows"):
        decision.verify({name: AMOUNTS.counts(name) for name in "ab"})


def test_bounds_with_a_level_are_proved():
    sure = rs.choose(PREDS, Context(cost_fn=3), subject_to="tpr >= .5 at 95%")
    assert sure.verify(PREDS).verified and prove(sure, PREDS).proves
    worse = at(sure, np.inf)
    assert "subject_to" in " ".join(prove(worse, PREDS).refuted)
    assert "constraint: stored tpr >= 0.5 at 95%" in " ".join(worse.verify(PREDS).refuted)
    least = rs.choose(PREDS, Context(cost_fp=9), subject_to="tpr >= .5 at 95%")
    assert least.verify(PREDS).verified and not at(least, 5).verify(PREDS).verified
    assert prove(least, PREDS).proves and not prove(at(least, 5), PREDS).holds


@pytest.mark.parametrize(
    ("context", "options"),
    [
        (Context(cost_fn=8), {"subject_to": "cases <= 500", "population": 5000, "randomized": True}),
        (Context(0.005), {"criterion": "accuracy"}),
        (Context(cost_fp=0), {}),
        (Context(cost_fp=0, cost_fn=2), {"subject_to": "cases <= 500"}),
        (Context(), {"criterion": "fpr"}),
        (Context(0.02), {"criterion": "tpr", "subject_to": ["cases <= 600", "fpr <= 0.9"]}),
        *((Context(cost_fp=9), {"subject_to": f"tpr >= {rate} at 95%"}) for rate in (0.35, 0.88)),
    ],
)
def test_kinds_that_the_search_seldom_draws_are_proved(context, options):
    decision = rs.choose(PREDS, context, **options)
    assert prove(decision, PREDS).proves, prove(decision, PREDS)
    assert decision.verify(PREDS).verified, decision.verify(PREDS)


def test_bounds_with_a_level_are_proved_at_their_border():
    """The limit of each of two models has level 97.5%: a bound between that and the one of 95% tells them apart."""
    n, k = 150, PREDS.counts("a").at(5).tp
    alone, of_two = (stats.beta.ppf(alpha, k, n - k + 1) for alpha in (0.05, 0.025))
    for rate, kept in (((alone + of_two) / 2, False), (of_two * 0.999, True)):
        decision = rs.choose(PREDS, Context(cost_fp=9), subject_to=f"tpr >= {rate:.6f} at 95%")
        assert prove(decision, PREDS).proves
        assert (decision.threshold == 5) == kept


def test_the_first_threshold_of_all_false_alarms_is_taken_though_it_is_no_vertex():
    counts = ThresholdCounts([3, 2, 1], [1, 1, 1], [1, 2, 0])
    decision = rs.choose(counts, Context(cost_fp=-1, cost_fn=0))
    assert decision.threshold == 2
    assert prove(decision, counts).proves


def test_reviews_leave_a_tie_between_acting_and_leaving():
    """One of two cases at the score 2 is looked at; acting on the other would cost as much as leaving it."""
    counts = ThresholdCounts([3, 2, 1], [2, 1, 0], [0, 1, 2])
    decision = rs.choose(counts, Context(), review=Review(0.1, 1))
    assert (decision.point.tp, decision.point.fp) == (2, 0)
    assert prove(decision, counts).holds


def test_a_campaign_is_a_context_too():
    assert rs.choose(PREDS, Campaign(1000, 1, 10)).verify(PREDS).verified


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"b": PREDS.counts("b")}, ColumnError, r"^model: expected one of \['b'\], got 'a'$"),
        ({"a": ThresholdCounts([1], [3], [0])}, OneClassError, "both classes"),
        ("rows.csv", InputError, "^data: expected Predictions"),
    ],
)
def test_data_that_will_not_do(data, error, message):
    with pytest.raises(error, match=message):
        PLAIN.verify(data)


def test_nothing_is_shared_with_what_chooses():
    """Metrics, rows and errors may be; hulls, touching lines, costs of contexts and constraints may not."""
    shared = set()
    for path in Path(decision_oracle.__file__).parent.glob("*.py"):
        body = [node for node in ast.parse(path.read_text()).body if not isinstance(node, ast.If)]
        shared |= {node.module for node in body if isinstance(node, ast.ImportFrom)}
    own = {name for name in shared if name.startswith("rocscope")}
    allowed = ("errors", "metrics", "sample", "_base.arrays")
    assert all(name.removeprefix("rocscope.").startswith(allowed) for name in own), own


def test_the_command_line_counts_again(run, scores, tmp_path):
    columns = ("--label", "y", "--score", "a", "--score", "b")
    run("choose", scores, *columns, "--cost-fn", "2", "-o", "decision.json")
    code, out, err = run("verify", "decision.json", scores, *columns)
    assert (code, err) == (0, "")
    assert "Verified: 28 numbers from 6 rows agree" in out
    code, out, _ = run("verify", "decision.json", scores, *columns, "--json", "--memory", "1 GB")
    assert (code, json.loads(out)["verified"]) == (0, True)
    replace(Decision.load(tmp_path / "decision.json"), treat_all_cost=9.0).save(tmp_path / "changed.json")
    code, out, err = run("verify", "changed.json", scores, *columns)
    assert (code, out, err) == (1, "Refuted: treat_all_cost: stored 9, recomputed 0.5.\n", "")
    code, _, err = run("verify", "decision.json", scores, "--label", "y", "--score", "b")
    assert (code, err.count("\n")) == (2, 1)
    (tmp_path / "decision.json").write_text(
        (tmp_path / "decision.json").read_text().replace('cost_fn": 2', 'cost_fn": 3')
    )
    assert run("verify", "decision.json", scores, *columns)[0] == 2
