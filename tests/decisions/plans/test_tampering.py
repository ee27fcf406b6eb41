"""Every field of saved plans changed in ways that keep the file well-formed: nothing false is accepted as proved."""

import copy
import hashlib
import json
import math
import re
from contextlib import suppress
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Context, Predictions, Review
from rocscope.errors import InputError, RocscopeError, StoredError
from strategies import counted, in_parts, tied_scores

_PREMISES = {"level", "in_money"}  # what a plan was asked, of which rows tell nothing
_PREMISES |= {"on_new_cases", "promise"}  # estimates in random folds, which verify compares within their interval
_PREMISES |= {"verdict", "tie_break"}  # sentences, which are made again of the numbers
_NAMES = ("model", "threshold", "negated")  # another one may be the same rule: nobody is nobody by any model


def plans(rng):
    """Return rows and plans of all kinds that were made of them."""
    y, scores = tied_scores(rng)
    preds = Predictions(y.astype(int), scores, segment=np.arange(y.size) % 2)
    one = preds.select(models=preds.models[:1])
    n, cost = len(preds), Context(cost_fn=float(rng.choice([1, 3, 8])))
    made = [
        rs.choose(preds, cost),
        rs.choose(preds, cost, criterion=str(rng.choice(["f1", "mcc", "precision"]))),
        rs.choose(preds, cost, subject_to=f"cases <= {n // 3}", randomized=True),
        rs.choose(preds, cost, review=Review(0.2, n // 4)),
        rs.plan_campaign(one, Campaign(n, 1, 5, capacity=max(n // 3, 1))),
        rs.plan_campaign(preds, {"a": Campaign(900, 1, 5, 3), "b": Campaign(900, 3, 9, 0, 0.3)}),
    ]
    with suppress(RocscopeError):
        made.append(rs.choose(preds, cost, subject_to="tpr >= .5 at 80%"))
    with suppress(RocscopeError):
        made.append(rs.allocate(one, cost, capacity=max(n // 3, 1)))
    return preds, made


def leaves(content, path=()):
    """Yield the path of every value of a file."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(rng, value):
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 2]))
    if isinstance(value, float):
        return value * float(rng.choice([0.5, 0.9, 1.01, 2])) + float(rng.choice([0, 0.1]))
    if isinstance(value, str):
        return {"a": "b", "b": "a"}.get(value, "1/2" if "/" in value else value + "x")
    return 1.0 if value is None else value


def write(path, content):
    """Write a file whose checksum fits what it holds."""
    body = {name: value for name, value in content.items() if name not in ("format", "version", "checksum")}
    text = json.dumps(body, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
    path.write_text(json.dumps(content | {"checksum": hashlib.sha256(text.encode()).hexdigest()}))


def same(a, b):
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    return a == b


def selected(rule, preds):
    """Return the true and false positives of each part of a randomised rule."""
    chosen = [preds.scores[end.model] >= end.threshold for end in rule.ends]
    return [(int((each & preds.y_true).sum()), int((each & ~preds.y_true).sum())) for each in chosen]


def still_true(path, plan, other, preds):
    """Whether a changed plan says nothing false.

    It chooses the same people; or as many of each class, by a part of a randomised rule, which is as good by any claim;
    or it is right for the campaign that it names.
    """
    if path[0] == "campaigns":
        models = preds.select(models=list(dict.fromkeys(offer.model for offer in plan.offers)))
        return rs.plan_campaign(models, other.campaigns).to_dict() == other.to_dict()
    if path[0] == "lot" and path[-1] in _NAMES:
        return np.array_equal(*(selected(each.lot, preds) for each in (plan, other)))
    segment = {"segment": preds.segment} if plan.by_segment else {}
    return path[-1] in _NAMES and np.array_equal(plan.rows(preds, **segment), other.rows(preds, **segment))


@in_parts(1, 100)
def test_no_changed_claim_is_accepted_as_proved(cases, part, tmp_path):
    """Try about 130 changes to each of 8 plans per case, or every seventh change in a single case: 100,000 slowly."""
    rng, accepted, tried = np.random.default_rng([5, part]), [], 0
    for _ in counted(cases):
        preds, made = plans(rng)
        for plan in made:
            whole = json.loads(plan.save(tmp_path / "plan.json").read_text())
            proof = prove(plan, preds)
            assert proof.holds, (plan, proof)
            verified = rs.load_plan(tmp_path / "plan.json").verify(preds)
            assert verified.verified, (plan, verified)
            assert verified.n == len(preds)
            for path in list(leaves(whole))[:: 7 if cases == 1 else 1]:
                if path[0] in ("format", "version", "checksum") or _PREMISES & set(path):
                    continue
                content = copy.deepcopy(whole)
                place = content
                for key in path[:-1]:
                    place = place[key]
                value = place[path[-1]]
                place[path[-1]] = changed(rng, value)
                if same(value, place[path[-1]]):
                    continue
                write(tmp_path / "other.json", content)
                tried += 1
                with suppress(RocscopeError):  # refused by the reader, or by verify: any other error is a fault
                    read = rs.load_plan(tmp_path / "other.json")
                    if not still_true(path, plan, read, preds):
                        proved = {"oracle": prove(read, preds).proves, "verify": read.verify(preds).verified}
                        accepted += [(name, type(plan).__name__, path) for name, held in proved.items() if held]
    assert tried > 100
    assert accepted == []


@pytest.mark.parametrize(("number", "sentence"), [(0, "tie_break"), (4, "verdict")])
def test_plans_with_an_older_wording_are_verified_and_changed_numbers_are_refused(number, sentence, tmp_path):
    """The sentence of an older version is replaced by the sentence of this one; numbers must be those of the rows."""
    preds, made = plans(np.random.default_rng(3))
    plan = made[number]
    content = json.loads(plan.save(tmp_path / "plan.json").read_text())
    write(tmp_path / "older.json", content | {sentence: "an older wording"})
    older = rs.load_plan(tmp_path / "older.json")
    assert getattr(older, sentence) == getattr(plan, sentence) != "an older wording"
    assert older.verify(preds) == plan.verify(preds) and older.verify(preds).verified
    write(tmp_path / "no_text.json", content | {sentence: 1})
    with pytest.raises(StoredError, match=sentence):
        rs.load_plan(tmp_path / "no_text.json")

    # A number beside an older sentence is compared as before.
    place = (lambda plan: plan["best"]) if sentence == "verdict" else (lambda plan: plan["point"])
    for name, value in place(content).items():
        if type(value) in (int, float):
            changed = copy.deepcopy(content) | {sentence: "an older wording"}
            place(changed)[name] = value + 1
            write(tmp_path / "changed.json", changed)
            refused = []
            try:
                refused += rs.load_plan(tmp_path / "changed.json").verify(preds).refuted
            except StoredError as error:
                refused.append(str(error))
            assert refused, name


def test_segments_that_are_further_apart_than_promised_are_refuted():
    """Both positives of the first segment are found, and one of two in the second."""
    y, score = [1, 1, 0, 0, 1, 1, 0, 0, 0, 0], [0.9, 0.8, 0.2, 0.1, 0.9, 0.2, 0.3, 0.3, 0.3, 0.1]
    preds = Predictions(y, score, segment=np.repeat([0, 1], [4, 6]))
    plan = rs.allocate(preds, Context())
    assert prove(replace(plan, max_difference={"tpr": 0.5}), preds).refuted == ()
    assert prove(replace(plan, max_difference={"tpr": 0.4}), preds).refuted == ("difference of tpr: it is 0.5",)
    assert replace(plan, max_difference={"tpr": 0.5}).verify(preds).verified
    refuted = replace(plan, max_difference={"tpr": 0.4}).verify(preds).refuted
    assert "max_difference.tpr: stored 0.4, recomputed 0.5" in refuted


def test_verify_reads_every_source(tmp_path):
    preds, made = plans(np.random.default_rng(1))
    table = pa.table({"y": preds.y_true.astype(int), **preds.scores, "part": preds.segment, "no": preds.y_true})
    parquet.write_table(table, tmp_path / "rows.parquet")
    for plan in made:
        named = {"label": "y"} | ({"segment": "part"} if plan.by_segment else {})
        expected = plan.verify(preds)
        for source in (tmp_path / "rows.parquet", duckdb.from_arrow(table), table.to_pandas()):
            assert plan.verify(source, **named) == expected
        assert expected.checks and not expected.refuted
    assert str(made[0].verify(preds).checks[0]).startswith("model: stored ")
    with pytest.raises(InputError, match="segment: expected the name of the column with the segments"):
        made[-1].verify(table, label="y")


@pytest.mark.parametrize(
    ("number", "name", "value", "claim"),
    [
        (3, "criterion", "other", "criterion: reviews are chosen by lowest cost"),
        (1, "lot_cost", 0.1, "lot_cost: none: "),
    ],
)
def test_claims_that_nothing_supports_are_refuted(number, name, value, claim, tmp_path):
    preds, made = plans(np.random.default_rng(1))
    content = json.loads(made[number].to_json())
    write(tmp_path / "other.json", content | {name: value})
    changed = rs.load_plan(tmp_path / "other.json")
    assert any(each.startswith(claim) for each in prove(changed, preds).refuted)
    assert any(each.startswith(f"{name}: stored ") for each in changed.verify(preds).refuted)


@pytest.mark.parametrize(("name", "value"), [("tied", ["b at 0.5"]), ("subject_to", ["tpr >= 0.9"])])
def test_ties_and_constraints_that_a_review_never_had_are_refuted(name, value, tmp_path):
    preds, made = plans(np.random.default_rng(1))
    write(tmp_path / "other.json", json.loads(made[3].to_json()) | {name: value})
    assert made[3].review is not None
    assert rs.load_plan(tmp_path / "other.json").verify(preds).refuted == (f"{name}: stored {value}, recomputed []",)


def test_exit_codes_of_verify(run, tmp_path):
    rows = "\n".join(f"{int(i % 3 == 0 or i > 8)},{i}" for i in range(12))
    (tmp_path / "rows.csv").write_text(f"y,a\n{rows}\n")
    known = ("rows.csv", "--label", "y", "--score", "a")
    run("choose", *known, "--cost-fn", "3", "-o", "d.json")
    code, verdict, _ = run("verify", "d.json", *known)
    assert (code, re.sub(r"\d\d", "#", verdict)) == (0, "Verified: # numbers from # rows agree.\n")
    code, out, _ = run("verify", "d.json", *known, "--trace")
    assert (code, "stored" in out, out.endswith(verdict)) == (0, True, True)
    # A second model with the same scores is equally good.
    (tmp_path / "tied.csv").write_text("y,a,b\n" + "".join(f"{row},{row[2:]}\n" for row in rows.splitlines()))
    code, out, _ = run("verify", "d.json", "tied.csv", "--label", "y", "--score", "a", "--score", "b")
    assert (code, out.startswith(verdict[:-1] + " Equally good: b")) == (0, True), out
    code, _, err = run("verify", "d.json", "rows.csv", "--label", "y")
    assert (code, err) == (0, ""), "the plan names its model"
    mailing = ("--population", "12", "--unit-cost", "1", "--unit-benefit", "3", "--capacity", "5")
    run("campaign", *known, *mailing, "-o", "c.json")
    assert run("verify", "c.json", *known)[0] == 0
    (tmp_path / "other.csv").write_text(f"y,a\n1,0\n{rows[4:]}\n0,11\n")
    changed = ("verify", "c.json", "other.csv", "--label", "y")
    code, refuted, err = run(*changed)
    assert (code, refuted.startswith("Refuted: "), refuted.count("\n"), err) == (1, True, 1, "")
    assert run(*changed, "--json")[2] == refuted
    decision = rs.choose(
        rs.read(tmp_path / "rows.csv", label="y", scores="a"), criterion=lambda tp, fp, fn, tn: tp - fp
    )
    decision.save(tmp_path / "own.json")
    code, _, err = run("verify", "own.json", *known)
    assert code == 2 and "the name of a criterion" in err


def test_weighted_rows_are_counted_by_their_weights():
    weight = np.array([0.25, 1.5, 0.75, 2, 0.5, 1])
    preds = rs.Predictions([1, 1, 0, 1, 0, 0], [0.9, 0.7, 0.6, 0.5, 0.3, 0.1], sample_weight=weight)
    plan = rs.plan_campaign(preds, rs.Campaign(population=100, unit_cost=1, unit_benefit=3))
    assert prove(plan, preds).proves
    verified = plan.verify(preds)
    assert verified.verified
    assert verified.n == pytest.approx(weight.sum())
