"""The table of kinds: rows of every kind, every public function that takes data, and the oracle of each cell."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier

import door_cases as door
import rocscope as rs
from rocscope.errors import RocscopeError, RocscopeWarning
from rocscope.multiclass import CostMatrix, MulticlassPredictions
from rocscope.outcomes import at_horizon, concordance, from_experiment, from_verified, over_time
from rocscope.ranges import BinnedCounts, CountsSketch

RNG = np.random.default_rng(11)
N = 80
Y = RNG.random(N) < 0.45
SCORES = {
    "a": np.round(0.02 + 0.96 * (RNG.random(N) + 0.6 * Y) / 1.7, 2),
    "b": np.round(0.02 + 0.96 * (RNG.random(N) + 0.3 * Y) / 1.4, 1),
}
SEGMENT = np.array(["north", "south"])[np.arange(N) % 2]
FOLD = np.arange(N) % 5
SAMPLING = RNG.integers(1, 12, N) / 4
FREQUENCY = RNG.integers(1, 4, N)
TIME = np.round(RNG.exponential(2, N), 1) + 0.1
EVENT = RNG.choice(2, N, p=[0.4, 0.6])
COMPETING = np.where(RNG.random(N) < 0.2, 2, EVENT)
TREATED = RNG.random(N) < 0.5
VERIFIED = RNG.random(N) < np.where(SEGMENT == "north", 0.8, 0.5)
CLASSES = RNG.integers(0, 3, N)
PROBA = {name: 0.6 * RNG.dirichlet(np.ones(3), N) + 0.4 * np.eye(3)[CLASSES] for name in "ab"}
CAMPAIGN = rs.Campaign(population=1000, unit_cost=1, unit_benefit=5)
CONTEXT = rs.Context(cost_fn=5)
COST = CostMatrix.errors(range(3))
FACTORS = (0.01, 100)
ONCE, TWICE, REPEATED = np.arange(N), np.tile(np.arange(N), 2), np.repeat(np.arange(N), FREQUENCY)


# Functions, by the name under which users find them; of a function of one model, of the first


def of_first(call):
    return lambda data: call(data, model="a")


def first(data):
    return data.select(models=["a"]) if hasattr(data, "select") else {"a": data["a"]}


def drawn(plot):
    """Return a function that draws data and returns the lines drawn."""
    return lambda data: door.lines(plot(data, ax=Figure().subplots()))


def by_segment(method):
    return lambda data: method(data.counts("a", by="segment"))


def limited(segments):
    return rs.allocate(segments, CONTEXT, capacity=100, population=1000)


def three(data):
    return {"x": data, "y": data, "z": data}


OF_BINARY = {
    **{name: of_first(call) for name, call in (door.OF_ONE_MODEL | door.OF_COUNTED_DATA).items()},
    **{name: (lambda data, call=call: call(first(data))) for name, call in door.BESIDE_OTHER_DATA.items()},
    **door.OF_SEVERAL_MODELS,
    **door.OF_ROWS,
    **door.OF_RESULTS_OR_ROWS,
    "decisions.in_money": lambda data: rs.auc_interval(rs.decisions.in_money(data, CONTEXT), model="a"),
    "choose, interval": lambda data: rs.choose(data, CONTEXT).interval(replicates=5),
    "choose for a Campaign": lambda data: rs.choose(data, CAMPAIGN),
    "choose, capacity": lambda data: rs.choose(data, subject_to="depth <= 0.2"),
    "plan_campaign, interval": lambda data: rs.plan_campaign(data, CAMPAIGN).interval(replicates=5),
    "evaluation.average_curve": lambda data: rs.evaluation.average_curve(first(data)),
    "evaluation.compare_datasets": lambda data: rs.evaluation.compare_datasets(three(data)),
    "evaluation.friedman": lambda data: rs.evaluation.friedman(three(data)),
    "inference.planning.Pilot": rs.inference.planning.Pilot.of,
    "hull, best": lambda data: rs.hull(data).best(CONTEXT),
    "allocate a mapping": lambda data: rs.allocate(
        {"x": first(data), "y": first(data)}, CONTEXT, capacity=100, population=1000
    ),
}
OF_ROWS = {
    "allocate": lambda data: limited(first(data)),
    "segments.compare_segments": rs.segments.compare_segments,
    "inference.rate_intervals": lambda data: rs.inference.rate_intervals(data.point("a", threshold=0.5)),
    "inference.joint_region": lambda data: rs.inference.joint_region(data.point("a", threshold=0.5)),
    "inference.compare_errors": lambda data: rs.inference.compare_errors(*[data.point(m, threshold=0.5) for m in "ab"]),
    "Predictions.by_segment": lambda data: {
        name: rs.auc_interval(part, model="a") for name, part in data.by_segment().items()
    },
    "SegmentedCounts.auc": by_segment(lambda counts: counts.auc()),
    "SegmentedCounts.best": by_segment(lambda counts: counts.best()),
    "SegmentedCounts.mean_auc": by_segment(lambda counts: counts.mean_auc()),
    "SegmentedCounts.differing": by_segment(lambda counts: counts.differing()),
    "SegmentedCounts.pooled": by_segment(lambda counts: rs.auc_interval(counts.pooled())),
    "SegmentedCounts, allocate": by_segment(lambda counts: limited(counts)),
}

OF_FOLLOW_UP = {
    "outcomes.over_time": lambda data: over_time(**data, horizons=[1.0, 2.0]),
    "outcomes.concordance": lambda data: concordance(**data, horizon=2.0),
    "outcomes.concordance, last": lambda data: concordance(**data, horizon=data["time"].max()),
    "outcomes.at_horizon": lambda data: rs.compare(at_horizon(**data, horizon=2.0)),
    "plotting.plot_over_time": lambda data: drawn(rs.plotting.plot_over_time)(over_time(**data, horizons=[1.0, 2.0])),
}


def experiment(data):
    return from_experiment(**data, benefit=10.0, cost=1.0)


OF_EXPERIMENTS = {
    "outcomes.from_experiment": experiment,
    "Experiment.qini": lambda data: experiment(data).qini("a"),
    "Experiment.uplift": lambda data: experiment(data).uplift("a"),
    "Experiment.compare": lambda data: experiment(data).compare(),
    "Experiment.by_decile": lambda data: experiment(data).by_decile("a", parts=3),
    "Experiment.uplift_at": lambda data: experiment(data).uplift_at(0.3, "a"),
    "Experiment.in_money": lambda data: rs.choose(experiment(data).in_money()).expected_cost,
    "Experiment.priced": lambda data: rs.choose(*experiment(data).priced()).expected_cost,
    "Experiment.plan": lambda data: experiment(data).plan(CAMPAIGN),
    "Experiment.plan, interval": lambda data: experiment(data).plan(CAMPAIGN).interval(replicates=5),
    "plotting.plot_uplift": lambda data: drawn(rs.plotting.plot_uplift)(experiment(data).qini("a")),
    "plotting.plot_uplift_parts": lambda data: drawn(rs.plotting.plot_uplift_parts)(
        experiment(data).by_decile("a", parts=3)
    ),
}


def of_one_or_both(name):
    """Return a function of several classes with what it needs: two models where it compares."""
    call = getattr(rs.multiclass, name)
    needs = {
        "reject_curve": (COST,),
        "compare_multiclass_costs": (COST,),
        "multiclass_conditions": ("accuracy >= 0.5",),
    }
    needs = needs.get(name, ())
    both = name in ("compare_multiclass_auc", "compare_multiclass_costs", "recalibrate_classes")
    return lambda data: call(data, *needs) if both else call(data, *needs, model="a")


def panels(plot, data):
    """Return the axes of a figure with a panel for each class."""
    return plot(data.select(models=["a"]), figure=Figure()).axes


def simplex(data, ax):
    return rs.plotting.plot_simplex(data, model="a", ax=ax)


OF_SEVERAL_CLASSES = {
    **{name: of_one_or_both(name.partition(".")[2]) for name in door.OF_SEVERAL_CLASSES if name.startswith("multi")},
    "multiclass.recalibrate_classes": lambda data: rs.multiclass.recalibrate_classes(data, cv=2, method="temperature"),
    "plotting.plot_class_rocs": lambda data: door.lines(*panels(rs.plotting.plot_class_rocs, data)),
    "plotting.plot_class_calibrations": lambda data: door.lines(*panels(rs.plotting.plot_class_calibrations, data)),
    "plotting.plot_simplex": lambda data: [
        sorted({tuple(point) for point in line})
        for line in drawn(simplex)(data)  # equal rows are one point
    ],
    "MulticlassPredictions.confusion": lambda data: data.confusion("a"),
    "MulticlassPredictions.top_k_accuracy": lambda data: data.top_k_accuracy(2, "a"),
}


TREE = {"tree": DecisionTreeClassifier(max_depth=2, random_state=0)}


def of_models(call, **options):
    """Return a function that fits a tree, which takes the same splits whatever factor weights have."""
    return lambda data: call(TREE, **data, **options)


def values_of_evaluation(models, **data):
    return rs.auc_interval(rs.evaluate(models, cv=3, **data))


OF_MODELS = {
    "evaluate": of_models(values_of_evaluation),
    "evaluation.bootstrap_632": of_models(rs.evaluation.bootstrap_632, replicates=5),
    "evaluation.learning_curve": of_models(rs.evaluation.learning_curve, steps=2),
    "evaluation.from_estimator": lambda data: rs.auc_interval(
        rs.evaluation.from_estimator({"tree": TREE["tree"].fit(data["X"], data["y"])}, **data)
    ),
    "evaluation.nested_cross_validation": lambda data: rs.evaluation.nested_cross_validation(
        TREE | {"stump": DecisionTreeClassifier(max_depth=1, random_state=0)}, **data, cv=3, repeats=1
    ),
}

WITHOUT_ROWS = {
    **dict.fromkeys(("decisions.load_plan", "calibration.load_recalibrator"), "reads a file"),
    **dict.fromkeys(("read", "read_at_horizon", "read_counts", "read_sketch"), "makes rows of a file"),
    **dict.fromkeys(("engines.describe", "explore", "workbench.explore"), "describes or serves a file"),
    **dict.fromkeys(("monitor", "decisions.monitor"), "of a decision, whose rows come later"),
    **dict.fromkeys(("decisions.mixture", "decisions.act_by_row"), "of a point, or of probabilities without labels"),
    **dict.fromkeys(("decisions.correct_probabilities", "multiclass.shift_prior"), "of probabilities without labels"),
    "decisions.partial_lift_chart": "of columns, without weights",
    "inference.adjust_p_values": "of p-values",
    "inference.pool": "of estimates",
    "calibration.recalibrator": "is fitted to columns later",
    **dict.fromkeys(("plotting.svg", "plotting.plot_curve", "plotting.plot_regions"), "draws what was computed"),
    **dict.fromkeys(("plotting.plot_learning_curve", "plotting.plot_critical_difference"), "draws what was computed"),
    **dict.fromkeys(("plotting.plot_confusion", "plotting.plot_pairwise_auc"), "draws what was computed"),
    **dict.fromkeys(
        ("plotting.plot_campaign", "plotting.plot_drift", "plotting.plot_segments"), "draws what was computed"
    ),
    "plotting.plot_isometrics": "draws lines of equal value, without data",
    **dict.fromkeys(("scorer", "evaluation.scorer"), "of a model that is fitted later"),
    "load_plan": "reads a file",
    "describe": "describes a file",
    "outcomes.from_verified": "makes rows: the kinds of verified rows are made by it",
}
"""Public functions that take no rows, and why."""


# What a result states

SUMS = {
    "n",
    "n_pos",
    "n_neg",
    "tp",
    "fp",
    "fn",
    "tn",
    "pos",
    "neg",
    "contacted",
    "gained",
    "counts",
    "support",
    "lift_area",
    "n_treated",
    "confusion",
}
"""Names of sums of weights, which grow with the weights."""
WIDTHS = {"low", "high", "standard_error", "p_value", "statistic", "reliable", "reason", "method", "df"}
WIDTHS |= {"adjusted_p_value", "in_the_large_error", "intercept_error", "slope_error", "covariance", "ece_debiased"}
WIDTHS |= {"d", "u", "q", "u_p", "df_error", "s_z", "s_p", "spiegelhalter_z", "of_pos", "of_neg", "limits"}
"""Names of what depends on how many independent rows there are."""


def leaves(value, path=()):
    """Yield each number, flag and text of a result, with its path."""
    value = value.to_dict() if hasattr(value, "to_dict") else value
    value = value.tolist() if hasattr(value, "tolist") else value
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from leaves(part, (*path, place))
    else:
        yield path, value if value is None or isinstance(value, int | float | str) else repr(value)


@dataclass
class Outcome:
    """What a function answers: facts by path, or a refusal; and what it warns of."""

    facts: dict[tuple, Any] = field(default_factory=dict)
    refusal: str = ""
    failure: str = ""
    warned: str = ""


def outcome(call, data):
    """Return what a function answers; errors that are not rocscope's are failures."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = Outcome(facts=dict(leaves(call(data))))
        except RocscopeError as error:
            made = Outcome(refusal=str(error))
        except Exception as error:  # noqa: BLE001 (which is what is looked for)
            made = Outcome(failure=f"{type(error).__name__}: {error}")
    pyplot.close("all")
    for warning in caught:
        if not issubclass(warning.category, RocscopeWarning | DeprecationWarning):
            made.failure = made.failure or f"{warning.category.__name__}: {warning.message}"
    made.warned = "; ".join(str(w.message) for w in caught if issubclass(w.category, RocscopeWarning))
    return made


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def near(value, other, tolerance):
    if not (is_number(value) and is_number(other)):
        return value == other
    both_nan = value != value and other != other
    return both_nan or value == other or abs(value - other) <= tolerance * max(abs(value), abs(other), 1e-3)


def unnumbered(text):
    """Return a text without its numbers, which a result has as facts too."""
    return re.sub(r"[-+]?\d[\d,]*(\.\d*)?(e[-+]?\d+)?|\.\d+", "#", text) if isinstance(text, str) else text


# Oracles: each compares an answer with that to a reference, and returns the differences


def without(facts, *names):
    return {path: value for path, value in facts.items() if not {*names} & {*path}}


def equal(found, expected, tolerance=1e-9):
    """Every fact is equal."""
    different = [f"{path} only here" for path in found.keys() - expected.keys()]
    for path, value in expected.items():
        if not near(unnumbered(found.get(path)), unnumbered(value), tolerance):
            different.append(f"{path}: {found.get(path)!r}, expected {value!r}")
    return different


def roughly_equal(found, expected):
    """As `equal`, up to a correction of small samples such as n/(n − 1), and to words for the method."""
    # Rows are tested by likelihood or by p(1 − p), groups by the variance of their sums, which is another one where
    # probabilities are not calibrated. The page draws few samples for its test, and its smooth band ends so near to 0
    # that the correction is a large share of it.
    words = ("method", "n_groups", "u_p", "s_z", "s_p", "spiegelhalter", "spiegelhalter_z", "numbers", "smooth")
    return equal(without(found, *words), without(expected, *words), 0.06)


def values_equal(found, expected):
    """Every fact is equal but those of how sure it is, and the numbers of rows."""
    not_compared = WIDTHS | SUMS | {"n_groups", "note"}
    return equal(without(found, *not_compared), without(expected, *not_compared), 1e-5)


def overlapping(found, expected):
    """Estimates that rest on few draws, made in another order, are within each other's intervals, or nearly."""
    different = []
    for path, value in expected.items():
        low, high = (found.get((*path[:-1], end)) for end in ("low", "high"))
        if path[-1:] == ("value",) and is_number(value) and is_number(low) and is_number(high):
            reach = high - low
            if reach > 0 and not low - reach <= value <= high + reach:
                different.append(f"{path}: {low:.4g} to {high:.4g} without {value:.4g}")
    return different


def scaled(factor=None):
    """Return the oracle of weights with a factor: sums are multiplied by it, and nothing else changes.

    Without one, sums may have any factor, but the same.
    """

    def compare(found, expected):
        factors = {} if factor is None else {factor}
        different = [f"{path} only here" for path in found.keys() - expected.keys()]
        for path, value in expected.items():
            other = found.get(path)
            if near(unnumbered(other), unnumbered(value), 1e-6):
                continue
            is_sum = SUMS & {*path} or not any(isinstance(part, str) for part in path)  # the latter of a drawn line
            if is_sum and is_number(value) and is_number(other) and other:
                factors = factors or {value / other}
                if any(near(value, other * known, 1e-6) for known in factors):
                    continue
            different.append(f"{path}: {other!r}, expected {value!r}")
        return different

    return compare


def not_narrower(found, expected):
    """Values are equal, and intervals hardly narrower, unless the result is said not to be reliable."""
    different = values_equal(found, expected)
    different = [text for text in different if not re.match(r"\(\d+, \d+, \d+\)", text)]  # lines of doubled sums
    for path, high in expected.items():
        estimate, ends = path[:-1], ((*path[:-1], "low"), (*path[:-1], "high"))
        if path[-1:] != ("high",) or found.get((*estimate, "reliable")) is False:
            continue
        limits = [facts.get(end) for facts in (found, expected) for end in ends]
        if all(map(is_number, limits)) and limits[1] - limits[0] < 0.85 * (high - limits[2]):
            different.append(f"{estimate}: from {limits[0]:.4g} to {limits[1]:.4g}, expected {limits[2:]}")
    return different


@dataclass
class Kind:
    """Data of a kind, and the references that answers to them are compared with."""

    data: Any
    oracles: list[tuple[Any, Callable[[dict, dict], list[str]]]]


FEW_DRAWS = {
    *("bootstrap", "inference.band", "inference.compare_costs", "evaluation.optimism"),
    *("choose, interval", "plan_campaign, interval", "Experiment.plan, interval"),
    *("multiclass.recalibrate_classes", "multiclass.class_weights"),
    *("evaluate", "evaluation.bootstrap_632", "evaluation.learning_curve", "evaluation.nested_cross_validation"),
}
"""Functions that draw rows, or deal them to folds: equal rows in another form are drawn in another order."""


def verdict(name, call, kind):
    """Return "right", "refused", or what is wrong with a function of data of a kind."""
    answer = outcome(call, kind.data)
    if answer.failure:
        return answer.failure
    compared = 0
    for reference, compare in kind.oracles:
        expected = outcome(call, reference)
        if name == "calibration.spiegelhalter_test" and compare is roughly_equal:
            compare = values_equal
        if name in FEW_DRAWS and not compare.__qualname__.startswith("scaled"):
            compare = overlapping
        if expected.failure:
            return f"reference: {expected.failure}"
        if expected.refusal and not answer.refusal:
            continue  # such as folds, which only these rows have
        compared += 1
        if answer.refusal:
            of_factor = compare.__qualname__.startswith("scaled")
            if of_factor and unnumbered(expected.refusal) != unnumbered(answer.refusal):
                return f"refuses {answer.refusal!r}, but with a factor {expected.refusal or 'answers'!r}"
        elif different := compare(answer.facts, expected.facts):
            if compare is not_narrower and "independent" in answer.warned:
                continue
            return f"{len(different)} differ, such as {different[0]}"
    if answer.refusal:
        return (
            "refused"
            if re.search("expected|pass |see ", answer.refusal)
            else f"refusal in other words: {answer.refusal}"
        )
    return "right" if compared else "nothing to compare with"


# Kinds


def rows(place=ONCE, scores=SCORES, **columns):
    """Return rows of two models at some places of the data."""
    made = {name: score[place] for name, score in scores.items()}
    return rs.Predictions(Y[place], made, segment=SEGMENT[place], **columns)


def of_factors(make, exact=True, factors=FACTORS):
    """Return a kind of weighted rows, which are compared with rows of other factors."""
    return Kind(make(1), [(make(factor), scaled(factor if exact else None)) for factor in factors])


def counts_of(data, made=lambda counts: counts):
    return {model: made(data.counts(model)) for model in data.models}


def sketch(score):
    made = CountsSketch()
    made.update(Y, score)
    return made


def trial(**columns):
    return from_experiment(Y, TREATED, SCORES, segment=SEGMENT, benefit=10, cost=1, **columns)


def sampled(factor=1, **columns):
    return rows(sample_weight=factor * SAMPLING, weights="sampling", **columns)


def in_money(factor=1, weights="money"):
    gain = trial().priced()[0].columns["gain"]
    return rs.Predictions(gain > 0, SCORES, sample_weight=factor * abs(gain), weights=weights, segment=SEGMENT)


def priced(weights="priced"):
    made = trial().priced()[0]
    return rs.Predictions(made.y_true, SCORES, weights=weights, columns=made.columns, segment=SEGMENT)


def at_two(factor=1, event=EVENT, **options):
    weights = {"sample_weight": np.full(N, float(factor)), "weights": "sampling"}
    return at_horizon(TIME, event, SCORES, 2.0, segment=SEGMENT, **weights, **options)


def verified(factor=1):
    probability = np.where(SEGMENT == "north", 0.8, 0.5) * factor
    return from_verified(Y, VERIFIED, SCORES, probability=probability, segment=SEGMENT)


def shares(strata):
    """Return rows verified in strata, or with the shares of the strata as known probabilities."""
    if strata:
        return from_verified(Y, VERIFIED, SCORES, strata=SEGMENT, segment=SEGMENT)
    north = SEGMENT == "north"
    probability = np.where(north, VERIFIED[north].mean(), VERIFIED[~north].mean())
    return from_verified(Y, VERIFIED, SCORES, probability=probability, segment=SEGMENT)


def of_trial(factor=1, **columns):
    return trial(sample_weight=np.full(N, float(factor)), weights="sampling", **columns).in_money()


PLAIN = rows()
EXPANDED = rows(REPEATED)
CRISP = {name: (score >= 0.5).astype(float) for name, score in SCORES.items()}
OTHERS = {f"m{i:02}": RNG.permutation(SCORES["a"]) for i in range(10)}
SHARE = np.where(SEGMENT == "north", 0.5, 0.4)

BINARY_KINDS = {
    "plain": Kind(PLAIN, [(rows(sample_weight=np.ones(N, int), weights="frequency"), equal), (rows(), equal)]),
    "frequency": Kind(rows(sample_weight=FREQUENCY, weights="frequency"), [(EXPANDED, equal)]),
    "sampling": of_factors(sampled),
    "estimated: horizon": of_factors(at_two),
    "estimated: competing": of_factors(lambda factor: at_two(factor, COMPETING), factors=(1 / 128, 128)),
    "estimated: horizon by strata": of_factors(lambda factor: at_two(factor, strata=SEGMENT)),
    "estimated: verified, known": Kind(verified(), [(verified(0.01), scaled(100)), (verified(0.5), scaled(2))]),
    "estimated: verified, strata": Kind(shares(True), [(shares(False), values_equal)]),
    "money: experiment": of_factors(of_trial, exact=False),
    "money: experiment, strata": of_factors(lambda factor: of_trial(factor, strata=SEGMENT), exact=False),
    "money: experiment, share": of_factors(lambda factor: of_trial(factor, share=SHARE), exact=False),
    "money: experiment, groups": of_factors(lambda factor: of_trial(factor, groups=ONCE // 2), exact=False),
    "money": Kind(in_money(), [(in_money(f), scaled(f)) for f in FACTORS] + [(in_money(1, "sampling"), values_equal)]),
    "priced": Kind(priced(), [(priced("auto"), equal)]),
    "groups of one row": Kind(rows(groups=ONCE), [(PLAIN, roughly_equal)]),
    "groups": Kind(rows(TWICE, groups=TWICE), [(PLAIN, not_narrower)]),
    "folds": Kind(
        rows(fold=FOLD),
        [(rows(fold=FOLD, sample_weight=np.ones(N, int), weights="frequency"), equal), (PLAIN, values_equal)],
    ),
    "twelve models": Kind(rows(scores=SCORES | OTHERS), [(rows(scores=SCORES | OTHERS, groups=ONCE), values_equal)]),
    "repeats": Kind(rows(TWICE, row=TWICE, repeat=ONCE.repeat(2) % 2), [(PLAIN, not_narrower)]),
}
SAMPLES = {name: rows(scores={"a": score}) for name, score in SCORES.items()}
COUNT_KINDS = {
    "labels only": Kind({name: PLAIN.point(name, threshold=0.5) for name in SCORES}, [(rows(scores=CRISP), equal)]),
    "counts": Kind(counts_of(PLAIN), [(PLAIN, equal)]),
    "counts of frequencies": Kind(counts_of(rows(sample_weight=FREQUENCY, weights="frequency")), [(EXPANDED, equal)]),
    "counts of sampling weights": of_factors(lambda factor: counts_of(sampled(factor))),
    "counts of whole sampling weights": Kind(counts_of(sampled(4)), [(counts_of(sampled(400)), scaled(100))]),
    "counts of money": Kind(
        counts_of(in_money()), [(counts_of(in_money(factor)), scaled(factor)) for factor in FACTORS]
    ),
    "bins": Kind(counts_of(PLAIN, BinnedCounts.from_counts), [(PLAIN, equal)]),
    "sketch": Kind({name: sketch(score) for name, score in SCORES.items()}, [(PLAIN, equal)]),
    "counts of groups": Kind(counts_of(rows(TWICE, groups=TWICE)), [(PLAIN, not_narrower)]),
    "counts of repeats": Kind(counts_of(rows(TWICE, row=TWICE)), [(PLAIN, not_narrower)]),
    "bins of groups": Kind(counts_of(rows(TWICE, groups=TWICE), BinnedCounts.from_counts), [(PLAIN, not_narrower)]),
    "labels of groups": Kind(
        {name: rows(TWICE, groups=TWICE).point(name, threshold=0.5) for name in SCORES},
        [(rows(scores=CRISP), not_narrower)],
    ),
    "two samples": Kind(SAMPLES, [(counts_of(PLAIN), equal), (dict(SAMPLES), equal)]),
}


def follow_up(place=ONCE, event=EVENT, scores=SCORES, **columns):
    made = {name: score[place] for name, score in scores.items()}
    return {"time": TIME[place], "event": event[place], "scores": made, **columns}


def sampled_follow_up(factor=1, **columns):
    return follow_up(sample_weight=factor * SAMPLING, weights="sampling", **columns)


FOLLOW_UP_KINDS = {
    "plain": Kind(follow_up(), [(follow_up(sample_weight=np.ones(N, int), weights="frequency"), equal)]),
    "frequency": Kind(follow_up(sample_weight=FREQUENCY, weights="frequency"), [(follow_up(REPEATED), equal)]),
    "sampling": of_factors(sampled_follow_up),
    "competing": of_factors(lambda factor: sampled_follow_up(factor, event=COMPETING)),
    "competing excluded": of_factors(lambda factor: sampled_follow_up(factor, event=COMPETING, competing="exclude")),
    "strata": of_factors(lambda factor: sampled_follow_up(factor, strata=SEGMENT)),
    "groups of one row": Kind(follow_up(groups=ONCE), [(follow_up(), roughly_equal)]),
    "groups": Kind(follow_up(TWICE, groups=TWICE), [(follow_up(), not_narrower)]),
    "twelve models": Kind(
        follow_up(scores=SCORES | OTHERS), [(follow_up(scores=SCORES | OTHERS, groups=ONCE), values_equal)]
    ),
}


def treatment(place=ONCE, **columns):
    made = {name: score[place] for name, score in SCORES.items()}
    return {"response": Y[place].astype(int), "treated": TREATED[place], "scores": made, **columns}


def sampled_treatment(factor=1, **columns):
    return treatment(sample_weight=factor * SAMPLING, weights="sampling", **columns)


EXPERIMENT_KINDS = {
    "plain": Kind(treatment(), [(treatment(sample_weight=np.ones(N, int), weights="frequency"), equal)]),
    "frequency": Kind(treatment(sample_weight=FREQUENCY, weights="frequency"), [(treatment(REPEATED), equal)]),
    "sampling": of_factors(sampled_treatment),
    "strata": of_factors(lambda factor: sampled_treatment(factor, strata=SEGMENT)),
    "share": of_factors(lambda factor: sampled_treatment(factor, share=SHARE)),
    "groups of one row": Kind(treatment(groups=ONCE), [(treatment(), roughly_equal)]),
    "groups": Kind(treatment(TWICE, groups=TWICE), [(treatment(), not_narrower)]),
}


def classes(place=ONCE, **columns):
    made = {name: proba[place] for name, proba in PROBA.items()}
    return MulticlassPredictions(CLASSES[place], made, **columns)


CLASS_KINDS = {
    "plain": Kind(classes(), [(classes(sample_weight=np.ones(N, int), weights="frequency"), equal)]),
    "frequency": Kind(classes(sample_weight=FREQUENCY, weights="frequency"), [(classes(REPEATED), equal)]),
    "sampling": of_factors(lambda factor: classes(sample_weight=factor * SAMPLING, weights="sampling")),
    "groups of one row": Kind(classes(groups=ONCE), [(classes(), roughly_equal)]),
    "groups": Kind(classes(TWICE, groups=TWICE), [(classes(), not_narrower)]),
    "repeats": Kind(classes(TWICE, row=TWICE), [(classes(), not_narrower)]),
    "folds": Kind(classes(fold=FOLD), [(classes(fold=9 - FOLD), equal), (classes(), values_equal)]),
}


def attributes(place=ONCE, **columns):
    return {"X": np.column_stack([SCORES["a"], SCORES["b"]])[place], "y": Y[place], **columns}


MODEL_KINDS = {
    "plain": Kind(attributes(), [(attributes(sample_weight=np.ones(N)), equal)]),
    "sampling": of_factors(lambda factor: attributes(sample_weight=factor * SAMPLING), factors=(1 / 128, 128)),
    "groups of one row": Kind(attributes(groups=ONCE), [(attributes(groups=[f"g{i:03}" for i in ONCE]), equal)]),
}

KIND_TABLES = {
    "rows of two classes": (BINARY_KINDS, OF_BINARY | OF_ROWS),
    "counts and samples": (COUNT_KINDS, OF_BINARY),
    "follow-up": (FOLLOW_UP_KINDS, OF_FOLLOW_UP),
    "experiments": (EXPERIMENT_KINDS, OF_EXPERIMENTS),
    "several classes": (CLASS_KINDS, OF_SEVERAL_CLASSES),
    "models to fit": (MODEL_KINDS, OF_MODELS),
}
