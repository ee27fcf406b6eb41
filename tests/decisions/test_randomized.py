"""Rules by lot against the linear program over all randomised rules, solved by HiGHS."""

import numpy as np
import pytest
from scipy.optimize import linprog

import rocscope as rs
from rocscope import Campaign, Context, Predictions, Review
from rocscope.errors import InfeasibleError, InputError
from strategies import counted, in_parts, tied_scores

GAP = 1e-9
SEARCHED = in_parts(40, 10_000)


def sample(rng):
    """Draw the tied scores of one to three models, of both classes."""
    y, scores = tied_scores(rng)
    return Predictions(y.astype(int), scores)


def thresholds(preds):
    """Return true and false positive rate of every threshold of every model, by brute force over rows."""
    rates = {(0.0, 0.0)}
    for score in preds.scores.values():
        for cut in set(score.tolist()):
            yes = score >= cut
            rates.add((yes[preds.y_true].mean(), yes[~preds.y_true].mean()))
    return np.array(sorted(rates)).T


def least(objective, bounds):
    """Return the lowest objective of a mixture of points, or None; bounds are (what each point has, at most)."""
    rows, most = [row for row, _ in bounds] or None, [limit for _, limit in bounds] or None
    solved = linprog(objective, A_ub=rows, b_ub=most, A_eq=[np.ones(objective.size)], b_eq=[1], method="highs")
    return solved.fun if solved.status == 0 else None


def quantities(tpr, fpr, share, cases):
    depth = share * tpr + (1 - share) * fpr
    return {
        "cases": cases * depth,
        "tp": cases * share * tpr,
        "fp": cases * (1 - share) * fpr,
        "tpr": tpr,
        "fpr": fpr,
        "fnr": 1 - tpr,
        "accuracy": share * tpr + (1 - share) * (1 - fpr),
    }


def quotients(tpr, fpr, share):
    """Return figures that are quotients of two lines in the rates, with both."""
    tp, fp = share * tpr, (1 - share) * fpr
    fn, tn = share - tp, 1 - share - fp
    return {
        "precision": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "jaccard": (tp, tp + fp + fn),
        "kappa": (2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (tn + fn)),
    }


def bounded(rng, values):
    """Draw one or two constraints, as texts and for the program."""
    texts, rows = [], []
    for name in rng.choice(list(values), int(rng.integers(1, 3)), replace=False):
        low, high = values[name].min(), values[name].max()
        bound = round(float(rng.uniform(low, high)), int(rng.integers(0, 4)))
        at_most = bool(rng.random() < 0.6)
        texts.append(f"{name} {'<=' if at_most else '>='} {bound}")
        sign = 1 if at_most else -1
        rows.append((sign * values[name], sign * bound))
    return texts, rows


def gap(rng):
    """Return by how much the program's optimum differs from ours, of one generated case; 0 if both are infeasible."""
    preds = sample(rng)
    target = None if rng.random() < 0.5 else float(rng.choice([0.01, 0.2, 0.5]))
    context = Context(target, cost_fp=float(rng.choice([0, 0.5, 1, 3])), cost_fn=float(rng.choice([1, 2, 20])))
    population = None if rng.random() < 0.5 else 1000
    tpr, fpr = thresholds(preds)
    share = preds.prevalence if target is None else target
    values = quantities(tpr, fpr, share, population or preds.n)
    texts, rows = bounded(rng, values)
    straight = len(texts)
    for name, (top, bottom) in quotients(tpr, fpr, share).items():
        if rng.random() < 0.15:
            bound = round(float(rng.uniform(0, 1)), 2)
            texts.append(f"{name} >= {bound}")
            rows.append((bound * bottom - top, 0.0))
    objective = share * context.cost_fn * (1 - tpr) + (1 - share) * context.cost_fp * fpr
    best = least(objective, rows)
    try:
        decision = rs.choose(preds, context, subject_to=texts, population=population, randomized=True)
    except InfeasibleError:
        trivial = objective[[0, -1]]  # of nobody and everybody, of whom a quotient has no value
        assert best is None or (len(texts) > straight and np.isclose(trivial, best).any()), texts
        return 0.0, False
    except InputError as error:
        assert str(error).startswith("bounds: expected a best rule with two thresholds, got three")
        return 0.0, True
    assert best is not None, texts
    point = decision.point
    for text in texts[straight:]:
        name, _, bound = text.split()
        top, bottom = quotients(point.tpr, point.fpr, share)[name]
        assert top >= float(bound) * bottom - GAP
    if len(texts) > straight and not decision.lot:  # a best rule there need not be: fewer and fewer are acted on
        assert decision.expected_cost >= best - GAP
        return 0.0, False
    for text, (_, most) in zip(texts[:straight], rows, strict=False):
        sign = 1 if "<=" in text else -1
        at = quantities(point.tpr, point.fpr, share, population or preds.n)[text.split()[0]]
        assert sign * at <= most + GAP * max(1, abs(most)), text
    return abs(decision.expected_cost - best) / max(1, abs(best)), False


@SEARCHED
def test_no_randomised_rule_of_all_models_is_cheaper(cases, part):
    """Of 10,000 generated cases the largest gap was 2.1e-14; 200 had bounds that only three thresholds meet."""
    rng = np.random.default_rng([0, part])
    found = [gap(rng) for _ in counted(cases)]
    print(f"largest gap {max(each for each, _ in found):.2g}, among three thresholds {sum(t for _, t in found)}")
    assert max(each for each, _ in found) <= GAP
    assert sum(three for _, three in found) <= 0.05 * cases


def drawn(rng):
    """Check a plan of one generated campaign: its profit, and that it is drawn exactly and the same."""
    preds = sample(rng).select(models=["a"])
    rate = None if rng.random() < 0.5 else 0.2
    capacity = int(rng.integers(0, preds.n + 1))
    campaign = Campaign(preds.n, float(rng.choice([0, 1, 2])), float(rng.choice([1, 3, 10])), 0, rate, capacity)
    tpr, fpr = thresholds(preds)
    share = preds.prevalence if rate is None else rate
    depth = share * tpr + (1 - share) * fpr
    loss = campaign.population * (campaign.unit_cost * depth - campaign.unit_benefit * share * tpr)
    best = least(loss, [(campaign.population * depth, capacity)])
    plan = rs.plan_campaign(preds, campaign)
    row = plan.best.best
    assert plan.curve.hull_profit == pytest.approx(-best, abs=GAP * max(1, abs(best)))
    # The list is by rank, so its profit lies on the curve.
    by_rank = -np.interp(row.size, campaign.population * depth, loss)
    assert row.profit == pytest.approx(by_rank, abs=GAP * max(1, abs(by_rank)))
    ids = rng.permutation(preds.n)
    chosen = plan.select(preds, ids)
    planned = int(row.size + 1e-9) if plan.worthwhile else 0
    assert len(set(chosen.tolist())) == planned <= capacity
    order = rng.permutation(preds.n)
    assert plan.select(preds.scores["a"][order], ids[order]).tolist() == chosen.tolist()
    return row.size


@SEARCHED
def test_no_randomised_campaign_brings_more_and_every_plan_is_drawn_exactly(cases, part):
    rng = np.random.default_rng([1, part])
    sent = sum(drawn(rng) > 0 for _ in counted(cases))
    print(f"{cases} plans, {sent} of them contact somebody")
    assert sent > cases / 2


def third(rng):
    """Return by how much the program over pairs of nested thresholds of each model differs; check what is drawn."""
    preds = sample(rng)
    context = Context(None, cost_fp=float(rng.choice([1, 4])), cost_fn=float(rng.choice([2, 9])))
    capacity = None if rng.random() < 0.3 else int(rng.integers(0, preds.n))
    reader = (1.0, 1.0) if rng.random() < 0.5 else tuple(rng.integers(60, 101, 2) / 100)
    review = Review(float(rng.choice([0, 0.25, 1, 2])), capacity, *reader)
    losses = []
    for score in preds.scores.values():
        cuts = [np.inf, *sorted(set(score.tolist()), reverse=True)]
        pairs = [(high, low) for i, high in enumerate(cuts) for low in cuts[i:]]
        cost, looks = [], []
        for high, low in pairs:
            act, look = score >= high, (score < high) & (score >= low)
            leave = score < low
            errors = context.cost_fp * (act & ~preds.y_true) + context.cost_fn * (leave & preds.y_true)
            missed = (1 - review.sensitivity) * context.cost_fn * preds.y_true
            disturbed = (1 - review.specificity) * context.cost_fp * ~preds.y_true
            cost.append((errors + (review.cost + missed + disturbed) * look).mean())
            looks.append(look.sum())
        losses.append(least(np.array(cost), [] if capacity is None else [(np.array(looks), capacity)]))
    decision = rs.choose(preds, context, review=review)
    ids = rng.permutation(preds.n)
    said = decision.predict(preds, ids)
    if decision.review is not None and capacity is not None:
        planned = preds.n * (decision.review.rule.expected(preds.prevalence).depth - decision.point.depth)
        assert (said == "review").sum() == pytest.approx(planned, abs=1e-6)
        assert (said == "review").sum() <= capacity
        order = rng.permutation(preds.n)
        shuffled = decision.predict({name: score[order] for name, score in preds.scores.items()}, ids[order])
        assert (shuffled == said[order]).all()
    return abs(decision.expected_cost - np.min(np.array(losses, dtype=float))), decision.review is not None


@SEARCHED
def test_no_mixture_of_two_thresholds_for_three_actions_is_cheaper(cases, part):
    rng = np.random.default_rng([2, part])
    found = [third(rng) for _ in counted(cases)]
    print(f"largest gap {max(each for each, _ in found):.2g}, with reviews {sum(used for _, used in found)}")
    assert max(each for each, _ in found) <= GAP
    assert sum(used for _, used in found) >= cases / 4


COUNTS = rs.ThresholdCounts([5, 4, 3, 2], [60, 80, 10, 0], [14, 320, 390, 126])
LIST = np.repeat([5, 4, 3, 2], [74, 400, 400, 126])


@pytest.mark.parametrize(
    ("capacity", "looks", "cost"), [(None, 400, 1.64), (200, 200, 2.24), (500, 400, 1.64), (0, 0, 2.84)]
)
def test_a_tie_is_looked_at_as_far_as_there_is_capacity(capacity, looks, cost):
    """A look at a case of score 4, of which a fifth are positive, saves 3 of the 6 that leaving it costs."""
    decision = rs.choose(COUNTS, Context(cost_fp=10, cost_fn=30), review=Review(3, capacity))
    assert decision.expected_cost == cost
    said = decision.predict(LIST)
    crowded = np.repeat([5, 4], [10, 990])
    if not looks:
        assert decision.review is None
        assert said.tolist() == (LIST == 5).tolist()
        return
    assert ((said == "act").sum(), (said == "review").sum()) == (74, looks)
    assert (LIST[said == "review"] == 4).all()
    assert (decision.predict(crowded) == "review").sum() == min(990, capacity or 990)


@pytest.mark.parametrize("options", [{"subject_to": "tpr >= .5"}, {"criterion": "f1"}, {"randomized": True}])
def test_a_review_stands_alone(options):
    with pytest.raises(InputError, match="review cannot be combined with a criterion, a constraint or randomisation"):
        rs.choose(COUNTS, review=Review(1), **options)
    with pytest.raises(InputError, match="review cost: expected an amount of at least 0, got -1"):
        Review(-1)


def test_an_infeasible_request_tells_what_a_randomised_rule_costs():
    counts = rs.ThresholdCounts([3, 2, 1], [2, 5, 3], [0, 10, 10])
    asked = {"context": Context(cost_fn=3), "subject_to": ["tpr >= .4", "fpr <= .3"]}
    best = rs.choose(counts, **asked, randomized=True)
    with pytest.raises(
        InfeasibleError, match=rf"pass randomized=True .* at a cost of {best.expected_cost:.6g} per case"
    ):
        rs.choose(counts, **asked)
    with pytest.raises(InfeasibleError) as error:
        rs.choose(counts, subject_to=["tpr >= .9", "fpr <= .1"])
    assert "randomised" not in str(error.value)
