"""How sure decisions and plans are: slow choices fold by fold, exact limits, and true costs of known populations."""

import json
import pickle
from math import inf, nan, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from interval_cases import OF_COST, OF_PROFIT, RARE, SINGLE, Cases, covered
from scipy import stats

import rocscope as rs
from rocscope._base.formatting import to_its_error
from rocscope.decisions import Constraint
from rocscope.decisions.generalization import DrawsOfRows, cross_validate, design_of_all, in_sample
from rocscope.decisions.sampling_model import Generalization
from rocscope.errors import InfeasibleError, InputError, OneClassError, WeightError
from rocscope.inference.expected_costs import MeanSample
from strategies import costly, decision_contexts, samples

QUICK = {"replicates": 200, "progress": False}

aims = st.sampled_from(
    [
        {},
        {"criterion": "f1"},
        {"criterion": "youden"},
        {"subject_to": "tpr >= 0.5"},
        {"subject_to": ["fpr <= 0.5", "cases <= 9"]},
        {"subject_to": "cases <= 4", "randomized": True},
        {"subject_to": "tpr >= 0.2 at 80%"},
    ]
)


def rows_of(n=200, seed=0, models=("a",), shift=1.0, **columns):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return rs.Predictions(y, {name: rng.normal(size=n) + shift * y for name in models}, **columns)


def found(data, context=None, **aim):
    decision = rs.choose(data, context, **aim)
    model = decision.sampling_model
    return decision, model.candidates and design_of_all(model.samples, 0), model.candidates


@pytest.mark.parametrize("difference", [0.0, 0.5, 1.0])
def test_optimism_of_the_better_of_two_models(difference):
    """Two normal losses with a difference of standard error 1: the formula of the docstring, with h = 1/2."""

    class Drawn(Generalization):
        def _loss(self, cells):
            return cells

        def _goodness(self, cells):
            return -cells

    losses = np.random.default_rng(1).normal([0, difference], sqrt(0.5), (400_000, 2))
    drawn = Drawn(
        **dict.fromkeys(Generalization.__dataclass_fields__)
        | {"replicates": SimpleNamespace(cells=losses, acting=losses)}
    )
    assert drawn._model_optimism == pytest.approx(2 * stats.norm.pdf(2 * difference), abs=0.01)


@costly
@given(samples(most=15), decision_contexts, aims)
def test_what_is_judged_is_what_was_chosen(sample, context, aim):
    preds = rs.Predictions(sample.y, {"a": sample.score, "b": -sample.score})
    try:
        decision, design, candidates = found(preds, context, **aim)
    except InfeasibleError:
        assume(False)
    assume(candidates)  # a mix of two models is taken as given
    here = in_sample(design, candidates)
    assert candidates.values(here.cells, "cost")[here.number] == pytest.approx(decision.expected_cost, abs=1e-12)
    if not decision.lot:
        assert candidates.members[here.number].label == decision.model
        assert here.cells[here.number].tolist() == [
            decision.point.tp,
            decision.point.fp,
            decision.point.n_pos,
            decision.point.n_neg,
        ]


def test_held_out_cells_equal_a_slow_choice_in_every_fold():
    preds, context = rows_of(60, models=("a", "b")), rs.Context(cost_fn=3)
    decision, design, candidates = found(preds, context)
    judged = cross_validate(design, candidates, 5)
    rng = np.random.default_rng([5, 1])
    order = np.argsort(~preds.y_true, kind="stable")  # the units of the design: positives first
    y = preds.y_true[order]
    cells = np.zeros((2, 4))
    for _ in range(5):
        drawn = rng.permutation(60)
        drawn = drawn[np.argsort(y[drawn], kind="stable")]
        fold = np.empty(60, int)
        fold[drawn] = np.arange(60) % 10
        for k, (number, model) in ((k, each) for k in range(10) for each in enumerate("ab")):
            score = preds.scores[model][order]
            threshold = rs.choose(rs.ThresholdCounts.from_scores(y[fold != k], score[fold != k]), context).threshold
            said, truth = score[fold == k] >= threshold, y[fold == k]
            cells[number] += (said & truth).sum(), (said & ~truth).sum(), truth.sum(), (~truth).sum()
    assert judged.cells == pytest.approx(cells / 5)
    assert decision.interval(**QUICK, random_state=5).reliable


@pytest.mark.parametrize("data", ["rows", "counts", "models apart", "frequencies", "groups"])
def test_folds_and_replicates_are_of_all_rows(data):
    preds = rows_of(120, models=("a", "b"))
    counts = {model: preds.counts(model) for model in "ab"}
    data = {
        "rows": preds,
        "counts": counts["a"],
        "models apart": counts,
        "frequencies": rs.Predictions(preds.y_true, preds.scores, sample_weight=1 + np.arange(120) % 3),
        "groups": rs.Predictions(preds.y_true, preds.scores, groups=np.arange(120) // 2),
    }[data]
    decision, design, candidates = found(data, rs.Context(cost_fn=3))
    judged = cross_validate(design, candidates, 0)
    here = in_sample(design, candidates)
    assert judged.cells[:, 2:] == pytest.approx(here.cells[:, 2:])
    interval = decision.interval(**QUICK)
    assert interval.low < interval.value < interval.high
    assert interval.apparent == pytest.approx(decision.expected_cost)
    assert interval.regret.low >= 0
    json.dumps(interval.to_dict(), allow_nan=False)


def test_counts_of_a_model_say_as_much_as_its_rows():
    preds = rows_of()
    alone, counted = (rs.choose(data).interval(**QUICK) for data in (preds, {"a": preds.counts("a")}))
    assert alone == counted


def test_frequencies_are_rows_and_groups_of_equal_rows_are_not():
    preds = rows_of(150)
    weight = 1 + np.arange(150) % 3
    many = np.repeat(np.arange(150), weight)
    repeated = rs.Predictions(preds.y_true[many], preds.scores["a"][many])
    weighted = rs.Predictions(preds.y_true, preds.scores["a"], sample_weight=weight, weights="frequency")
    grouped = rs.Predictions(preds.y_true[many], preds.scores["a"][many], groups=many)
    width = {}
    for name, data in {"weighted": weighted, "repeated": repeated, "grouped": grouped, "alone": preds}.items():
        interval = rs.evaluation.optimism(data, rs.Context(cost_fn=2), **QUICK).estimate
        width[name] = interval.high - interval.low
    assert width["weighted"] == pytest.approx(width["repeated"], rel=0.2)
    assert width["grouped"] > 1.15 * width["repeated"]


def test_many_scores_and_many_rows_are_drawn_in_few():
    rng = np.random.default_rng(0)
    n = 30_000
    y = rng.random(n) < 0.2
    preds = rs.Predictions(y, {"a": rng.normal(size=n) + y, "b": rng.normal(size=n) + 1.2 * y})
    decision, design, candidates = found(preds, rs.Context(cost_fn=3))
    assert design.frequency.size == 1000
    assert all(tally.threshold.size < 10_000 for tally in design.tallies.values())
    here = in_sample(design, candidates)
    assert candidates.values(here.cells, "cost")[here.number] == pytest.approx(decision.expected_cost, abs=1e-12)
    interval = decision.interval(**QUICK)
    point = decision.point
    cost = (3 * (point.fn / n) + point.fp / n) - interval.apparent
    assert cost == pytest.approx(0, abs=1e-12)
    spread = np.sqrt((9 * point.fn / n + point.fp / n - interval.apparent**2) / n)
    assert interval.standard_error == pytest.approx(spread, rel=0.1)
    assert interval.acting == interval.models["b"] == 1
    alone = rs.choose(preds.select(models=["b"]), rs.Context(cost_fn=3)).interval(**QUICK)
    assert (alone.low, alone.high) == pytest.approx((interval.low, interval.high), abs=0.3 * spread)


def test_nobody_and_everybody_cost_what_they_do():
    preds = rows_of(200, shift=0.0)
    nobody = rs.choose(preds, rs.Context(0.1, cost_fp=1000, cost_fn=2)).interval(**QUICK)
    assert (nobody.value, nobody.low, nobody.high) == pytest.approx((0.2,) * 3)
    assert nobody.acting < 0.05
    everybody = rs.choose(preds, rs.Context(0.1, cost_tn=2)).interval(**QUICK)
    assert (everybody.value, everybody.low, everybody.high) == pytest.approx((0.9,) * 3)
    assert everybody.acting == 1


def test_a_rule_that_is_not_chosen_anew_says_so():
    counts = rs.ThresholdCounts([5, 4, 3], [60, 80, 10], [140, 320, 390])
    review = rs.choose(counts, rs.Context(cost_fn=30, cost_fp=10), review=rs.Review(3, 100))
    lots = rs.choose(counts, rs.Context(cost_fn=3), subject_to="tpr >= 0.6", randomized=True)
    for decision in (review, lots):
        interval = decision.interval(**QUICK)
        assert interval.value == pytest.approx(decision.expected_cost)
        assert interval.low < interval.value < interval.high
        assert not interval.reliable
        assert "the interval ignores how the" in interval.reason
    point = lots.point
    spread = np.sqrt((9 * point.fn / 1000 + point.fp / 1000 - lots.expected_cost**2) / 1000)
    assert lots.interval().standard_error == pytest.approx(spread, rel=0.1)


def test_a_plan_has_the_interval_of_its_profit():
    counts = rs.ThresholdCounts([5, 4, 3], [60, 80, 10], [140, 320, 390])
    for capacity in (None, 300, 150):
        plan = rs.plan_campaign(counts, rs.Campaign(1000, 1, 10, capacity=capacity), level=0.9)
        assert plan.profit.apparent == pytest.approx(plan.best.best.profit)
        assert plan.profit.low < plan.profit.value < plan.profit.high
        assert plan.profit.level == 0.9
    decision = rs.choose(counts, rs.Campaign(1000, 1, 10).context).interval(**QUICK)
    profit = rs.plan_campaign(counts, rs.Campaign(1000, 1, 10, fixed_cost=600)).interval(**QUICK)
    assert (profit.low, profit.high) == pytest.approx((-1000 * decision.high - 600, -1000 * decision.low - 600))
    assert profit.regret.value == pytest.approx(1000 * decision.regret.value)
    assert 0.9 < profit.acting < 1, "a profit above 0 is not sure"
    both = rs.plan_campaign(counts, {"x": rs.Campaign(1000, 1, 10), "y": rs.Campaign(1000, 1, 8)}).interval(**QUICK)
    assert set(both.models) == {"score in x", "score in y"}
    assert both.models["score in x"] == pytest.approx(both.acting)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tpr >= .9 at 95%", "tpr >= 0.9 at 95%"),
        ("sensitivity ≥ 90% at 0.95", "tpr >= 0.9 at 95%"),
        ("fpr <= 5% at 97.5%", "fpr <= 0.05 at 97.5%"),
    ],
)
def test_a_constraint_with_a_level(text, said):
    assert str(Constraint.parse(text)) == said
    assert Constraint.parse(said) == Constraint.parse(text)


@costly
@given(
    samples(most=40),
    st.sampled_from(["tpr >= 0.5 at 90%", "fpr <= 0.6 at 80%", "tnr >= 0.3 at 95%", "fnr <= 0.7 at 90%"]),
    st.integers(1, 3),
)
def test_a_limit_admits_what_a_binomial_test_does(sample, text, models):
    rate, relation, bound, _, level = text.split()
    alpha = (1 - float(level.rstrip("%")) / 100) / models
    preds = rs.Predictions(sample.y, {f"m{i}": sample.score for i in range(models)})
    counts = rs.ThresholdCounts.from_scores(sample.y, sample.score)
    costs = []
    for threshold in [inf, *np.unique(sample.score)]:
        point = counts.at(threshold)
        cells = {"tpr": (point.tp, point.n_pos), "fnr": (point.fn, point.n_pos)}
        k, n = (cells | {"fpr": (point.fp, point.n_neg), "tnr": (point.tn, point.n_neg)})[rate]
        test = stats.binomtest(k, n, float(bound), alternative="greater" if relation == ">=" else "less")
        sure = threshold == inf or not (point.fn or point.tn)  # of everybody and nobody the rates are known
        kept = (k / n >= float(bound) if relation == ">=" else k / n <= float(bound)) if sure else test.pvalue <= alpha
        if kept:
            costs.append(float(rs.Context(cost_fn=2).exact_cost(point)))
    decision = rs.choose(preds, rs.Context(cost_fn=2), subject_to=text)
    assert decision.expected_cost == pytest.approx(min(costs))
    assert decision.subject_to == (text,)


def missed_rates(samples, models, seed=0):
    """How often the true tpr of a threshold is below 0.8 that was chosen to have it at 90%."""
    rng, misses = np.random.default_rng(seed), 0
    for _ in range(samples):
        rows = Cases(150, (1.0,) * models).sample(rng)
        threshold = rs.choose(rows, rs.Context(cost_fp=3), subject_to="tpr >= .8 at 90%").threshold
        misses += stats.norm.sf(threshold - 1) < 0.8
    return misses / samples


@pytest.mark.every(2)
@pytest.mark.parametrize("models", [1, 4])
def test_a_limit_holds_for_the_threshold_that_is_chosen(models):
    assert missed_rates(150, models) <= 0.1 + 3 * np.sqrt(0.09 / 150)


@pytest.mark.slow
@pytest.mark.parametrize("models", [1, 4])
def test_a_limit_holds_for_the_threshold_that_is_chosen_in_many_samples(models):
    assert 0.02 < missed_rates(3000, models, seed=1) <= 0.1 + 3 * np.sqrt(0.09 / 3000)


WEIGHTED = rs.Predictions([1, 0, 1, 0] * 20, np.arange(80), sample_weight=np.full(80, 0.5))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: Constraint.parse("f1 >= .5 at 95%"),
            InputError,
            "expected a bound with >= or <= on tpr, fnr,",
        ),
        (lambda: Constraint.parse("tpr > .5 at 95%"), InputError, "a bound with >= or <= on tpr, fnr,"),
        (lambda: Constraint.parse("tpr >= .5 at 20%"), InputError, "expected 50% or more .such as 95%., got 20%"),
        (
            lambda: Constraint.parse("tpr >= .5 at 95"),
            InputError,
            "level: expected a number above 0 and below 1, got 95",
        ),
        (lambda: Constraint.parse("tpr >= .5 at noon"), InputError, "expected a text such as 'tpr >= 0.9'"),
        (
            lambda: rs.choose(WEIGHTED, subject_to="tpr >= .5 at 95%"),
            WeightError,
            "expected whole counts, got fractional counts",
        ),
        (
            lambda: rs.choose(rows_of(groups=np.arange(200) // 2), subject_to="tpr >= .5 at 95%"),
            InputError,
            "constraint with a level: expected independent rows, got rows in groups",
        ),
        (
            lambda: rs.choose(rows_of(), subject_to="tpr >= .5 at 95%", randomized=True),
            InputError,
            "randomized: expected bounds with >= or <= and without a level, on",
        ),
        (
            lambda: rs.choose(rows_of(), subject_to=["tpr >= .99 at 95%", "fpr <= .2 at 95%"]),
            InfeasibleError,
            r"the highest tpr at 95% is 0\.",
        ),
        (lambda: pickle.loads(pickle.dumps(rs.choose(rows_of()))).interval(), InputError, "a decision with its data"),
        (lambda: rs.choose(rows_of()).interval(95), InputError, "level: expected a number above 0 and below 1"),
        (lambda: rs.choose(rows_of()).interval(replicates=0), InputError, "replicates: expected a whole number"),
        (lambda: rs.choose(WEIGHTED.counts()).interval(), WeightError, "pass the rows instead: Predictions"),
        (lambda: rs.plan_campaign(rows_of(), rs.Campaign(10, 1, 2), level=2), InputError, "level: expected"),
        (
            lambda: rs.plan_campaign(rs.ThresholdCounts([1], [3], [0]), rs.Campaign(10, 1, 2)).profit,
            OneClassError,
            "interval",
        ),
    ],
)
def test_refusals(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_thin_data_say_so():
    interval = rs.choose(rs.ThresholdCounts([2, 1], [3, 2], [2, 30])).interval(**QUICK)
    assert not interval.reliable
    assert "a class has 5 rows only" in interval.reason
    assert "not reliable" in repr(interval)


def test_numbers_without_digits_that_mean_nothing():
    assert to_its_error(785.6163868, 41.3) == "786"
    assert [to_its_error(each, 0.0713) for each in (0.42137, -0.0001, nan)] == ["0.421", "0.000", "nan"]
    assert repr(rs.choose(rows_of()).interval(**QUICK)).startswith("ChosenEstimate(0.")


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "name",
    [
        "1.0, all different, 100 rows",
        "2% of 1,000 positive",
        "five equal models, 100 rows",
        "profit, 30% of 100 respond",
        "profit, 10% of 200 respond",
        "amounts of 1, 400 rows",
    ],
)
def test_intervals_cover_the_true_cost(name):
    """If 93% are covered, fewer than 15 of 20 samples are in one of 500 runs."""
    assert min(covered(name, 20)) >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_COST | OF_PROFIT)
def test_intervals_cover_the_true_cost_in_many_samples(name):
    cost, regret = covered(name, 1000)
    slack = 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert 0.93 - slack <= cost <= 0.98 + slack
    assert regret >= 0.93 - slack
    if name in SINGLE | RARE:
        assert regret <= 0.98 + slack


@pytest.mark.parametrize("number", [0, 1])
def test_what_acting_adds_varies_as_its_own_mean_does(number):
    """Means are of two candidates, of what each adds to the cost of nobody, and of nobody; all vary differently."""
    variances = np.array([1.0, 4, 9, 16, 25])
    means = MeanSample(np.array([5.0, 6, -2, -1, 7]), np.diag(variances), 100, np.zeros((1, 5)), np.ones(1))
    costs = [SimpleNamespace(value=lambda cells, quantity, cost=cost: cost) for cost in means.mean[:2]]
    draws = DrawsOfRows(means.n, "", "", SimpleNamespace(members=costs), means, -inf, number, np.zeros((5, 2)))
    values, nobody = draws.draws(number, None, 0.5, "cost", 0)
    for drawn, mean, variance in (
        (values, means.mean[number], variances[number]),
        (values - nobody, means.mean[number] - 7, variances[2 + number]),
    ):
        spread = sqrt(1.05 * variance + 0.5)
        assert drawn.mean() == pytest.approx(mean, abs=0.03 * spread)
        assert drawn.std() == pytest.approx(spread, rel=0.02)
