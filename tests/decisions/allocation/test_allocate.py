"""One budget for many segments, against the linear program over all thresholds of all segments, solved by HiGHS."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

import rocscope as rs
from decision_oracle import prove
from rocscope import Campaign, Context, Predictions, ThresholdCounts
from rocscope._base.hashed_order import hashes_of
from rocscope.decisions import Allocation
from rocscope.errors import InfeasibleError, InputError, PairingError
from rocscope.ranges import BinnedCounts
from strategies import counted, in_parts, tied_scores

GAP = 1e-9
RATES = ("tpr", "fpr", "depth")
WORDS = {"equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"], "demographic_parity": ["depth"]}


def sample(rng):
    """Draw tied scores of one or two models in one to four segments, some of them of one class."""
    y, scores = tied_scores(rng, rows=60, names="ab", lift=3)
    n = y.size
    weight = None if rng.random() < 0.8 else rng.integers(1, 4, n) / rng.choice([2, 10])
    return Predictions(y.astype(int), scores, segment=rng.integers(0, rng.integers(1, 5), n), sample_weight=weight)


def points_of(preds, segment):
    """Return the counts of every threshold of every model in a segment, by brute force over rows."""
    inside = preds.segment == segment
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    found = {(0.0, 0.0)}
    for score in preds.scores.values():
        for cut in set(score[inside].tolist()):
            yes = inside & (score >= cut)
            found.add((weight[yes & preds.y_true].sum(), weight[yes & ~preds.y_true].sum()))
    return np.array(sorted(found)).T


def asked(rng, preds, segments):
    """Return what is passed, and for each segment what a positive and a negative count, gain, cost and take."""
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    sizes = {g: [weight[(preds.segment == g) & (preds.y_true == y)].sum() for y in (True, False)] for g in segments}
    n_pos, n_neg = (sum(size[i] for size in sizes.values()) for i in (0, 1))
    cost, benefit = float(rng.choice([0.5, 1, 2])), float(rng.choice([1, 3, 10]))
    kind = rng.integers(0, 4)
    if kind == 0:
        context = Context(cost_fp=float(rng.choice([0, 0.5, 1, 3])), cost_fn=float(rng.choice([0, 1, 2, 20])))
        return context, {}, dict.fromkeys(segments, (1, 1, context, 1)), 0
    if kind == 1:
        context = Context(0.2, cost_fp=float(rng.choice([0.5, 1])), cost_fn=float(rng.choice([1, 2, 20])))
        up, right = 0.2 * 1000 / n_pos, 0.8 * 1000 / n_neg
        return context, {"population": 1000}, dict.fromkeys(segments, (up, right, context, 1)), 0
    if kind == 2:
        campaign = Campaign(500, cost, benefit, fixed_cost=3)
        scale = 500 / (n_pos + n_neg)
        return campaign, {}, dict.fromkeys(segments, (scale, scale, campaign.context, cost)), 3
    campaigns = {g: Campaign(int(rng.integers(10, 200)), cost * (1 + g % 2), benefit) for g in segments}
    each = {g: campaigns[g].population / sum(sizes[g]) for g in segments}
    return campaigns, {}, {g: (each[g], each[g], campaigns[g].context, campaigns[g].unit_cost) for g in segments}, 0


def floors_of(rng, segments):
    """Draw constraints of segments: quantity, relation and bound, by segment, and what is passed to allocate."""
    drawn = {
        g: (str(rng.choice(["tpr", "fnr", "fpr", "depth", "cases", "precision"])), str(rng.choice([">=", "<="])))
        for g in segments
        if rng.random() < 0.6
    }
    found = {
        g: (*pair, float(rng.choice([0.1, 0.3, 0.6])) * (5 if pair[0] == "cases" else 1)) for g, pair in drawn.items()
    }
    return found, {g: f"{name} {sign} {bound}" for g, (name, sign, bound) in found.items()}


def floor_row(name, sign, bound, u, v, tp, fp, p, n):
    """Return a row of the program and its limit, or None where the segment has no such figure."""
    if (name in ("tpr", "fnr") and not p) or (name == "fpr" and not n):
        return None
    acted = u * tp + v * fp
    if name == "precision":
        row, most = u * tp - bound * acted, 0.0
    else:
        cases = u * p + v * n
        row = {
            "tpr": tp / (p or 1),
            "fnr": -tp / (p or 1),
            "fpr": fp / (n or 1),
            "depth": acted / cases,
            "cases": acted,
        }[name]
        most = bound - 1 if name == "fnr" else bound
    return (row, most) if sign == "<=" else (-row, -most)


def least(preds, segments, terms, limit, budget, bounds, floors=()):
    """Return the lowest cost of all mixtures of thresholds in all segments: any two segments are held together."""
    columns = [(g, tp, fp) for g in segments for tp, fp in zip(*points_of(preds, g), strict=True)]
    segment, tp, fp = (np.array(column, dtype=float) for column in zip(*columns, strict=True))
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    total = {g: [weight[(preds.segment == g) & (preds.y_true == y)].sum() for y in (True, False)] for g in segments}
    take, cost = np.zeros(segment.size), np.zeros(segment.size)
    rates = {name: np.full(segment.size, np.nan) for name in RATES}
    base = 0.0
    for g in segments:
        own, (u, v, context, use), (p, n) = segment == g, terms[g], total[g]
        cost[own] = (
            u * (context.cost_tp - context.cost_fn) * tp[own] + v * (context.cost_fp - context.cost_tn) * fp[own]
        )
        base += u * p * context.cost_fn + v * n * context.cost_tn
        take[own] = (use if budget else 1) * (u * tp[own] + v * fp[own])
        rates["depth"][own] = (u * tp[own] + v * fp[own]) / (u * p + v * n)
        rates["tpr"][own] = tp[own] / p if p else np.nan
        rates["fpr"][own] = fp[own] / n if n else np.nan
    rows, most = ([], []) if limit is None else ([take], [limit])
    for name, bound in bounds.items():
        value = np.nan_to_num(rates[name])
        known = [g for g in segments if not np.isnan(rates[name][segment == g]).any()]
        for g in known:
            for h in known:
                if g != h:
                    rows.append(value * (segment == g) - value * (segment == h))
                    most.append(bound)
    for g in floors:
        (u, v, *_), own = terms[g], segment == g
        found = floor_row(*floors[g], u, v, np.where(own, tp, 0), np.where(own, fp, 0), *total[g])
        if found is not None:
            rows.append(found[0])
            most.append(found[1])
    each = [segment == g for g in segments]
    solved = linprog(cost, rows or None, most or None, each, np.ones(len(segments)), method="highs")
    return np.inf if solved.fun is None else solved.fun + base


def gap(rng):
    """Return by how much the program's optimum differs from ours in one generated case, whose draws are checked."""
    preds = sample(rng)
    segments = np.unique(preds.segment).tolist()
    context, options, terms, fixed = asked(rng, preds, segments)
    weight = np.ones(len(preds)) if preds.sample_weight is None else preds.sample_weight
    all_cases = sum(
        terms[g][1 - y] * weight[(preds.segment == g) & (preds.y_true == y)].sum() for g in segments for y in (0, 1)
    )
    campaigns = isinstance(context, Campaign | dict)
    budget = campaigns and rng.random() < 0.4
    limit = None if rng.random() < 0.2 else float(round(rng.uniform(0, 0.8) * all_cases))
    bounds = {}
    if rng.random() < 0.5:
        word = str(rng.choice(list(WORDS)))
        bounds = dict.fromkeys(WORDS[word], 0.0)
        options["max_difference"] = word
        if rng.random() < 0.6:
            bounds = {str(name): float(rng.choice([0, 0.1, 0.3])) for name in rng.choice(RATES, 2, replace=False)}
            options["max_difference"] = bounds
    if limit is not None:
        options["budget" if budget else "capacity"] = limit + fixed * budget
    floors, options["subject_to"] = floors_of(rng, segments) if rng.random() < 0.3 else ({}, ())
    best = least(preds, segments, terms, limit, budget, bounds, floors)
    if best == np.inf:
        with pytest.raises(InfeasibleError, match="no allocation within the limit satisfies "):
            rs.allocate(preds, context, **options)
        return 0.0
    found = rs.allocate(preds, context, **options)
    free = best if not (bounds or floors) else least(preds, segments, terms, limit, budget, {})
    assert found.price == pytest.approx(best - free, abs=GAP * max(1, abs(best)))
    for name, most in bounds.items():
        assert found.difference(name) <= most + GAP
    if limit is not None:
        use = np.array([terms[g][3] if budget else 1 for g in segments])
        assert (found.cases * use).sum() <= limit + GAP * max(1, limit)
    if preds.sample_weight is None:
        check_draws(rng, preds, found, limit, budget, all_cases)
    return abs(found.cost - best) / max(1, abs(best))


def check_draws(rng, preds, found, limit, budget, all_cases):
    """Check that as many as planned are drawn, of each segment too, and the same again in another order."""
    ids = rng.permutation(len(preds))
    chosen = found.predict(preds, ids)
    planned = {g: found.depth[i] * (preds.segment == g).sum() for i, g in enumerate(found.names.tolist())}
    total = sum(planned.values())
    most = total if limit is None or budget else min(total, limit * len(preds) / all_cases)
    for g, number in planned.items():
        assert abs((chosen & (preds.segment == g)).sum() - number * (most / total if total else 0)) < 1 + 1e-6
    if not budget:
        assert chosen.sum() == int(most + 1e-6)
    order = rng.permutation(len(preds))
    shuffled = {name: score[order] for name, score in preds.scores.items()}
    again = found.select(shuffled, ids[order], segment=preds.segment[order])
    assert sorted(again.tolist()) == sorted(ids[chosen].tolist())


@in_parts(30, 10_000)
def test_no_allocation_of_randomised_rules_costs_less(cases, part):
    rng = np.random.default_rng([0, part])
    found = [gap(rng) for _ in counted(cases)]
    print(f"largest gap {max(found):.2g}")
    assert max(found) <= GAP


NORTH, SOUTH = (
    ThresholdCounts([3, 2, 1], [60, 30, 10], [40, 170, 690]),
    ThresholdCounts([3, 2, 1], [20, 30, 50], [80, 270, 550]),
)
BRANCHES = {"north": NORTH, "south": SOUTH}
CAMPAIGN = Campaign(2000, 1, 10)


def rows_of(counts):
    return np.repeat(np.tile([1, 0], len(counts)), np.column_stack([counts.pos, counts.neg]).ravel()), np.repeat(
        counts.threshold, counts.pos + counts.neg
    )


def as_rows():
    columns = [(*rows_of(counts), [name] * int(counts.n)) for name, counts in BRANCHES.items()]
    y, score, segment = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Predictions(y, {"a": score}, segment=segment)


def test_every_form_of_segments_gives_the_same():
    rows = as_rows()
    read = rs.read_counts(
        {"y": rows.y_true.astype(int), "a": rows.scores["a"], "b": rows.segment}, label="y", scores="a", segment="b"
    )
    exact = {name: BinnedCounts.from_counts(counts) for name, counts in BRANCHES.items()}
    twice = {name: {"a": counts, "b": counts} for name, counts in BRANCHES.items()}
    for segments in (rows, rows.counts(by="segment"), read, exact, rows.by_segment(), twice):
        found, expected = (facts(rs.allocate(each, CAMPAIGN, capacity=300)) for each in (segments, BRANCHES))
        assert found == expected


def facts(allocation):
    """Return what an allocation says, but not the names of its models."""
    content = allocation.to_dict()
    for each in content["segments"]:
        each["rules"] = [(rule["share"], rule["threshold"]) for rule in each["rules"]]
    return content


def test_compiled_and_plain_hulls_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    y, score = rng.random(4000) < 0.3, rng.integers(0, 300, (2, 4000))
    rows = Predictions(y, {"a": score[0] + 40 * y, "b": score[1] + 50 * y}, segment=rng.integers(0, 9, 4000))
    found = []
    for small in (1, 50_000):
        monkeypatch.setattr("rocscope.kernels.SMALL", small)
        for models in (["a"], ["a", "b"]):
            for bounds in (None, {"tpr": 0.1}):
                chosen = rs.allocate(rows.select(models=models), capacity=700, max_difference=bounds)
                found.append(chosen.to_dict())
    half = len(found) // 2
    assert found[:half] == found[half:]


def test_equal_segments_share_alike_and_one_segment_is_a_plan():
    both = rs.allocate({"a": NORTH, "b": NORTH}, CAMPAIGN)
    assert both.rules("a") == both.rules("b")
    alone = rs.allocate({"a": NORTH}, Campaign(1000, 1, 10, capacity=150))
    assert alone.profit == rs.plan_campaign(NORTH, Campaign(1000, 1, 10, capacity=150)).best.best.profit
    assert alone.to_frame()["rule"].tolist() == ["0.75 × score≥3 of score + 0.25 × score≥2 of score"]


@pytest.mark.parametrize(("capacity", "taken"), [(0, ""), (2, "a"), (3, "a"), (7, "ab"), (9, "abc")])
def test_of_steps_that_are_worth_the_same_those_of_the_first_segments_are_taken(capacity, taken):
    """Steps of one and of two positives in a tie with as many negatives each; the last one is taken in part."""
    segments = {name: ThresholdCounts([2, 1], [n, 0], [n, 9]) for name, n in zip("abcd", (1, 1, 2, 1), strict=True)}
    found = rs.allocate(segments, Context(cost_fn=3), capacity=capacity)
    assert [name for name in segments if found.tpr[list(segments).index(name)] == 1] == list(taken)
    assert found.cases.tolist() == [
        min(2 * n, max(capacity - before, 0)) for n, before in zip((1, 1, 2, 1), (0, 2, 4, 8), strict=True)
    ]
    assert found.marginal == 1


@pytest.mark.parametrize("capacity", [0, 1, 137, 300, 2000])
def test_exactly_as_many_as_there_is_capacity_for(capacity):
    rows = as_rows()
    plan = rs.allocate(rows, CAMPAIGN, capacity=capacity)
    ids = np.arange(2000)[::-1] + 10_000
    chosen = plan.select(rows, ids)
    assert len(set(chosen.tolist())) == min(capacity, 400)
    assert plan.select(rows, ids, random_state=1).tolist() != chosen.tolist() or capacity in (0, 300, 2000)
    more = Predictions(np.tile(rows.y_true, 3), {"a": np.tile(rows.scores["a"], 3)}, segment=["north"] * 6000)
    assert plan.predict(more).sum() <= 3 * capacity


def taken_by_hand(found, sample, rows, ids, most):
    """Return the cases that are taken of each segment of one threshold, and how many of each, one segment at a time."""
    planned, n = [], {g: int((rows.segment == g).sum()) for g in np.unique(rows.segment).tolist()}
    for g in n:
        inside, score = sample.segment == g, sample.scores["a"]
        above = [rule.share * int((inside & (score >= rule.threshold)).sum()) for rule in found.rules(g)]
        planned.append(sum(above, Fraction(0)) * n[g] / int(inside.sum()))
    total = min(sum(planned), most)
    planned = [each * total / (sum(planned) or 1) for each in planned]
    size = [int(each) for each in planned]
    for i in sorted(range(len(n)), key=lambda i: size[i] - planned[i])[: int(total) - sum(size)]:
        size[i] += 1
    lot, chosen = hashes_of(ids, len(rows))(np.arange(len(rows))), set()
    for g, number in zip(n, size, strict=True):
        own = np.flatnonzero(rows.segment == g).tolist()
        chosen |= set(sorted(own, key=lambda i: (-int(rows.scores["a"][i]), lot[i]))[:number])
    return chosen, dict(zip(n, size, strict=True))


@in_parts(15, 1_000)
def test_of_very_many_segments_those_cases_are_taken_that_are_of_each_alone(cases, part):
    rng = np.random.default_rng([1, part])
    for _ in counted(cases):
        several, n = int(rng.integers(2, 40)), int(rng.integers(80, 400))
        segment = np.concatenate([np.arange(several), rng.integers(0, several, n - several)])
        sample = Predictions(rng.random(n) < 0.4, {"a": rng.integers(0, 12, n)}, segment=segment)
        capacity = int(rng.integers(0, n))
        found = rs.allocate(sample, Context(cost_fn=2), capacity=capacity)
        m = int(rng.integers(20, 500))
        rows = Predictions(np.arange(m) > 9, {"a": rng.integers(0, 12, m)}, segment=rng.integers(0, several, m))
        ids = np.char.add("id", rng.permutation(m).astype(str))
        chosen = found.predict(rows, ids)
        expected, size = taken_by_hand(found, sample, rows, ids, Fraction(capacity * m, n))
        for g, number in size.items():
            own = np.flatnonzero(rows.segment == g)
            assert chosen[own].sum() == number
            assert len(found.rules(g)) == 2 or set(own[chosen[own]].tolist()) == expected & set(own.tolist())
        assert found.predict(rows).tolist() == found.predict(rows, np.arange(m)).tolist()


def test_what_costs_nothing_and_what_is_never_worth_it():
    assert rs.allocate(BRANCHES, Context(cost_fp=0)).depth.tolist() == [1, 1]
    assert rs.allocate(BRANCHES, Context(cost_fn=0)).depth.tolist() == [0, 0]
    assert rs.allocate(BRANCHES, Context(cost_fp=0, cost_fn=0)).depth.tolist() == [0, 0]
    assert rs.allocate(BRANCHES, Campaign(2000, 5, 1), budget=300).profit == 0


@pytest.mark.parametrize(
    "names", [["x", 1], np.array(["2020-01-01", "2020-01-02"], "M8[ns]"), [(1, 2), (1, 3)], [True, False]]
)
def test_segments_may_be_called_anything(names):
    segment = np.empty(4, object) if isinstance(names, list) else np.empty(4, names.dtype)
    segment[:] = [names[0], names[0], names[1], names[1]]
    rows = Predictions([1, 0, 1, 0], [2, 1, 2, 3], segment=segment)
    found = rs.allocate(rows, dict.fromkeys(names, Context()), capacity=1)
    assert found.rules(names[0])[0].threshold == 2
    assert found.predict(rows).tolist() == [True, False, False, False]
    assert len(found.to_dict()["segments"]) == len(found.to_frame()) == 2


def test_scores_of_any_type_are_compared_as_they_are():
    """Whole numbers that float64 would round stand beside floats, in another segment and of another model."""
    large = 2**60 + np.arange(4)
    whole, half = ThresholdCounts(large[::-1], [3, 1, 0, 0], [0, 0, 2, 4]), ThresholdCounts([0.5, 0.25], [3, 1], [1, 5])
    found = rs.allocate({"a": whole, "b": half}, Context())
    assert [found.rules(name)[0].threshold for name in "ab"] == [2**60 + 2, 0.5]
    both = rs.allocate({"a": {"m": whole, "n": ThresholdCounts([0.5, 0.25], [4, 0], [3, 3])}})
    assert both.rules("a")[0][1:3] == ("m", 2**60 + 2)
    assert both.predict({"m": large, "n": large * 0.0}, segment=["a"] * 4).tolist() == [False] * 3 + [True]
    weighted = rs.allocate({1: whole, 2: ThresholdCounts([0.5, 0.25], [0.3, 0.1], [0.1, 0.5])})
    assert [rule.threshold for name in (1, 2) for rule in weighted.rules(name)] == [2**60 + 2, 0.5]


def test_costs_of_any_size_and_segments_of_one_class():
    segments = {"no": ThresholdCounts([2, 1], [0, 0], [3, 4]), "yes": ThresholdCounts([1], [5], [0]), "both": NORTH}
    for scale in (1e-300, 1.0, 1e300):
        context = Context(cost_fp=scale, cost_fn=3 * scale)
        found = rs.allocate(segments, context, capacity=60, max_difference={"tpr": 0.5})
        share = 0.86 / 1.03  # of the segment with positives only, whose tpr is half of all above that of the other
        assert found.cases.tolist() == pytest.approx([0, 5 * share, 60 - 5 * share])
        assert np.isnan(found.tpr[0]) and np.isnan(found.fpr[1])


@in_parts(20, 2_000)
def test_segments_may_have_models_of_their_own(cases, part, tmp_path):
    """The lowest cost is that of the program over the thresholds of the models that each segment has."""
    rng = np.random.default_rng([3, part])
    for _ in counted(cases):
        preds = sample(rng)
        preds = Predictions(preds.y_true, preds.scores, segment=preds.segment)
        own = {
            g: each.select(models=rng.permutation(preds.models)[:1].tolist()) for g, each in preds.by_segment().items()
        }
        if rng.random() < 0.5:
            own[next(iter(own))] = preds.by_segment()[next(iter(own))]
        data = {g: {model: each.counts(model) for model in each.models} for g, each in own.items()}
        context, capacity = Context(cost_fn=float(rng.choice([1, 3, 9]))), int(rng.integers(0, len(preds)))
        plan = rs.allocate(data, context, capacity=capacity)
        cost, use, segment = [], [], []
        for g, each in own.items():
            tp, fp = points_of(Predictions(each.y_true, each.scores, segment=[g] * len(each)), g)
            cost += (fp + context.cost_fn * (each.y_true.sum() - tp)).tolist()
            use += (tp + fp).tolist()
            segment += [g] * tp.size
        each_segment = [np.array(segment) == g for g in own]
        best = linprog(cost, [use], [capacity], each_segment, np.ones(len(own)), method="highs").fun
        assert abs(plan.cost - best) <= GAP * max(1, abs(best))
        read = rs.load_plan(plan.save(tmp_path / "plan.json"))
        assert prove(read, data).holds, prove(read, data)
        assert read.verify(data).verified, read.verify(data)
        chosen = read.select(preds)
        assert chosen.tolist() == plan.select(preds).tolist()
        assert chosen.size == int(plan.cases.sum() + 1e-6)


def test_a_plan_for_nobody_is_read_and_applied(tmp_path):
    read = rs.load_plan(rs.allocate(BRANCHES, CAMPAIGN, capacity=0).save(tmp_path / "plan.json"))
    assert read.select([3, 2], segment=["north", "south"]).size == 0


def test_a_frame_and_its_line():
    plan = rs.allocate(BRANCHES, CAMPAIGN, capacity=300)
    frame = plan.to_frame("pyarrow").to_pydict()
    assert (frame["segment"], frame["cases"]) == (["north", "south"], [200.0, 100.0])
    assert repr(plan) == "Allocation(2 segments, 300 cases, cost=-650, one case more saves 0.5)"
    budget = rs.allocate(BRANCHES, Campaign(2000, 2, 20, fixed_cost=100), budget=500)
    assert (budget.cases.sum(), budget.profit) == (200, 20 * 80 - 500)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rs.allocate(NORTH), InputError, "^segments: expected Predictions with segments"),
        (lambda: rs.allocate({}), InputError, "^segments: expected .*, got an empty mapping$"),
        (lambda: rs.allocate(as_rows().select(models=["a"]), capacity=-1), InputError, "^capacity: expected a number"),
        (lambda: rs.allocate(Predictions([1, 0], [1, 2])), InputError, "there is no segment column"),
        (lambda: rs.allocate({"a": "x.csv"}), InputError, r"^segments\['a'\]: expected Predictions"),
        (lambda: rs.allocate(BRANCHES, Context(cost_fp=-1)), InputError, "a context with costly false positives"),
        (
            lambda: rs.allocate(BRANCHES, CAMPAIGN, capacity=1, budget=1),
            InputError,
            "^budget: expected a capacity or a budget",
        ),
        (lambda: rs.allocate(BRANCHES, budget=1), InputError, "^budget: expected campaigns with a unit cost"),
        (
            lambda: rs.allocate(BRANCHES, CAMPAIGN, population=9),
            InputError,
            "^population: expected a population or",
        ),
        (lambda: rs.allocate(BRANCHES, population=0), InputError, "^population: expected a number of cases above 0"),
        (
            lambda: rs.allocate(BRANCHES, {"north": CAMPAIGN}),
            InputError,
            "^context: expected a mapping with the se",
        ),
        (lambda: rs.allocate(BRANCHES, "cheap"), InputError, "^context: expected a Context or a Campaign"),
        (lambda: rs.allocate(BRANCHES, max_difference="parity"), InputError, "^max_difference: expected"),
        (lambda: rs.allocate(BRANCHES, max_difference={"tpr": -1}), InputError, "^max_difference of tpr: expected"),
        (lambda: rs.allocate(BRANCHES, max_difference=0.1), InputError, "^max_difference: expected a mapping"),
        (lambda: rs.allocate({"a": {"m": NORTH, "n": SOUTH}, "b": {"m": NORTH, "n": NORTH.at(2)}}), None, ""),
        (
            lambda: rs.allocate({"a": {"m": NORTH, "n": NORTH + NORTH}}),
            PairingError,
            "^'m' and 'n' are not paired: expected the same",
        ),
        (lambda: rs.allocate(BRANCHES).rules("west"), InputError, "^name: expected a segment"),
        (lambda: rs.allocate(BRANCHES).difference("mcc"), InputError, "^rate: expected"),
        (lambda: rs.allocate(BRANCHES).predict([1, 2]), InputError, "^segment: expected the segment of each case"),
        (lambda: rs.allocate(BRANCHES).predict([1], segment=["west"]), InputError, r"^segment: .*, got 'west'"),
    ],
)
def test_what_is_refused_says_why(call, error, message):
    if error is None:
        assert isinstance(call(), Allocation)
        return
    with pytest.raises(error, match=message):
        call()


FLOORS = {"n": ["tpr >= .9", "precision >= .1"], "s": "cases >= 150"}


def test_what_each_segment_keeps_is_saved_proved_and_told(tmp_path):
    campaign = Campaign(population=2000, unit_cost=1, unit_benefit=10)
    free = rs.allocate(BRANCHES, campaign, capacity=700)
    plan = rs.allocate(BRANCHES, campaign, capacity=700, subject_to={name: FLOORS[name[0]] for name in BRANCHES})
    north, south = (list(BRANCHES).index(next(name for name in BRANCHES if name[0] == each)) for each in "ns")
    assert plan.tpr[north] >= 0.9 - GAP and plan.cases[south] >= 150 - GAP
    assert plan.price == pytest.approx(plan.cost - free.cost)
    read = rs.load_plan(plan.save(tmp_path / "plan.json"))
    assert read.subject_to == plan.subject_to and read.to_json() == plan.to_json()
    assert read.verify(BRANCHES).verified
    found = prove(read, BRANCHES)
    assert found.proves and sum(" in " in claim and ">=" in claim for claim in found.proved) == 3
    assert rs.allocate(BRANCHES, campaign, subject_to="tpr >= 0").price == 0
    with pytest.raises(InfeasibleError, match=r"satisfies the constraints .*; a limit of at least"):
        rs.allocate(BRANCHES, campaign, capacity=10, subject_to="tpr >= .9")
    for wrong, message in (("auc >= .9", "a metric of one threshold"), ({"x": "tpr >= .9"}, "segments of the data")):
        with pytest.raises(InputError, match=message):
            rs.allocate(BRANCHES, campaign, subject_to=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [400, 10_000])
def test_the_interval_of_a_difference_covers_that_of_new_cases(cases):
    """The two upper scores are acted on in both segments whatever is drawn; their true rates are .5 and .3."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(cases):
        found = rng.binomial(100, [0.5, 0.3]).tolist()
        segments = {g: ThresholdCounts([2, 1], [k, 100 - k], [1, 900]) for g, k in zip("ab", found, strict=True)}
        plan = rs.allocate(segments, Context(cost_fn=5))
        interval = plan.difference_interval("tpr")
        assert interval.value == pytest.approx(abs(found[0] - found[1]) / 100)
        covered += 0.2 in interval
    assert covered / cases >= 0.95 - 3 * (0.05 * 0.95 / cases) ** 0.5


def test_a_bound_on_differences_is_said_to_hold_in_the_sample_only():
    """Wilson's intervals at 97.5% each: the largest differences of their ends are those on new cases."""
    north, south = ThresholdCounts([3, 2, 1], [30, 15, 5], [70, 185, 695]), ThresholdCounts([2, 1], [10, 10], [20, 110])
    plan = rs.allocate({"n": north, "s": south}, Context(cost_fn=9), max_difference={"tpr": 0.02})
    assert plan.difference("tpr") <= 0.02 + 1e-9
    ends = []
    z = stats.norm.ppf(1 - 0.025 / 2)
    for rate, n in zip(plan.tpr, (50, 20), strict=True):
        centre, half = rate + z**2 / (2 * n), z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
        ends.append(((centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)))
    (low_n, high_n), (low_s, high_s) = ends
    least, most = max(low_n - high_s, low_s - high_n, 0), max(high_n, high_s) - min(low_n, low_s)
    assert f"tpr difference on new cases: 95% CI [{least:.3g}, {most:.3g}]" in repr(plan)


def test_with_amounts_a_difference_of_depth_is_that_of_rows():
    """Its interval was of money in place of rows, and next to nothing wide."""
    rng = np.random.default_rng(1)
    label, segment = rng.random(200) < 0.3, np.repeat(["n", "s"], 100)
    columns = {"margin": rng.lognormal(3, 1, 200)}
    rows = rs.Predictions(label, {"m": label + rng.normal(size=200)}, segment=segment, columns=columns)
    plan = rs.allocate(rows, rs.Campaign(200, 4, "margin"), max_difference={"depth": 0.01})
    interval = plan.difference_interval("depth")
    assert interval.n == pytest.approx(200)
    assert interval.high > 0.1


@pytest.mark.parametrize("bound", ["tpr >= .8 at 95%", "mcc >= .5", "tpr > .5"])
def test_a_bound_that_allocate_cannot_keep_is_refused_without_naming_other_options(bound):
    counts = ThresholdCounts([2, 1], [3, 1], [1, 5])
    with pytest.raises(InputError, match=r"^subject_to: expected bounds") as refused:
        rs.allocate({"n": counts, "s": counts}, subject_to=bound)
    assert "randomized" not in str(refused.value)
