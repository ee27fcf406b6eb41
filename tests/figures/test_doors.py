"""Every figure at every door: the right value, by fractions of the four counts or scikit-learn, or one refusal."""

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import rocscope as rs
from decision_oracle import prove
from metric_oracles import ORACLES
from rocscope.core.result import jsonable
from rocscope.errors import ColumnError, InputError, ScoreError
from rocscope.evaluation.comparison import fold_scores
from rocscope.evaluation.summary import MEASURES
from rocscope.figures.conditions import Condition
from rocscope.figures.registry import FIGURES, known
from rocscope.inference import statistics

RNG = np.random.default_rng(8)
N = 120
Y = np.arange(N) % 3 == 0
SCORES = {
    name: np.clip(np.round(0.35 + 0.25 * Y + RNG.normal(0, spread, N), 1), 0.1, 0.9)
    for name, spread in {"a": 0.2, "b": 0.35}.items()
}
PREDS = rs.Predictions(Y.astype(int), SCORES, fold=np.arange(N) // 3 % 4)
COSTS = rs.Context(cost_fn=3)
NAMES = [*FIGURES, "f1", "f2", "lift@0.4", "gain@0.4", "precision@0.4"]


def cells(y, yes):
    return tuple(Fraction(int(each.sum())) for each in (y & yes, ~y & yes, y & ~yes, ~y & ~yes))


def over(top, bottom):
    return Fraction(top) / bottom if bottom else math.nan


def within(depth, value):
    """A figure among the share of cases with the highest scores, as a criterion has it: NaN for thresholds below."""
    return lambda tp, fp, fn, tn: (
        value(tp, tp + fn, tp + fp + fn + tn) if tp + fp <= depth * (tp + fp + fn + tn) else math.nan
    )


# The names that a registry has beside the metrics, or for them with other options.
OF_CELLS = {name: oracle for name, oracle in ORACLES.items() if name in FIGURES} | {
    "cases": lambda tp, fp, fn, tn: tp + fp,
    "tp": lambda tp, fp, fn, tn: tp,
    "fp": lambda tp, fp, fn, tn: fp,
    "fn": lambda tp, fp, fn, tn: fn,
    "tn": lambda tp, fp, fn, tn: tn,
    "ks": ORACLES["youden"],
    "closest_topleft": lambda tp, fp, fn, tn: math.hypot(fp / (fp + tn), fn / (tp + fn)),
    "f1": ORACLES["f_score"],
    "f2": lambda tp, fp, fn, tn: over(5 * tp, 5 * tp + fp + 4 * fn),
    "lift@0.4": within(Fraction(2, 5), lambda tp, n_pos, n: tp / n_pos / Fraction(2, 5)),
    "gain@0.4": within(Fraction(2, 5), lambda tp, n_pos, n: tp / n_pos),
    "precision@0.4": within(Fraction(2, 5), lambda tp, n_pos, n: tp / (n * Fraction(2, 5))),
    "cost": lambda tp, fp, fn, tn: (fp + 3 * fn) / (tp + fp + fn + tn),
    "net_benefit": lambda tp, fp, fn, tn: (tp - fp / Fraction(3)) / (tp + fp + fn + tn),
}


def cut(y, score):
    """Where the highest 40% end: how many positives lie above, with a share of those of the level that is cut."""
    left, found = Fraction(2, 5) * len(y), Fraction(0)
    for level in sorted(set(score), reverse=True):
        here = int((score == level).sum())
        taken = min(left, Fraction(here))
        found += taken * int(y[score == level].sum()) / here
        left -= taken
    return found


def recalibrated(y, score):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Setting penalty=None")  # of scikit-learn 1.8, at an infinite C
        return LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(logit(score)[:, None], y)


def ece(y, score):
    parts = [np.isclose(np.minimum(np.floor(score * 10 + 1e-9), 9), each) for each in range(10)]
    return sum(abs(y[part].mean() - score[part].mean()) * part.mean() for part in parts if part.any())


def index(y, score, name):
    return getattr(rs.calibration.calibration_index(y.astype(int), score), name)


OF_SCORES = {
    "auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
    "ks": lambda y, score: max(float(OF_CELLS["ks"](*cells(y, score >= t))) for t in score),
    "lift@0.4": lambda y, score: cut(y, score) / int(y.sum()) / Fraction(2, 5),
    "gain@0.4": lambda y, score: cut(y, score) / int(y.sum()),
    "precision@0.4": lambda y, score: cut(y, score) / (len(y) * Fraction(2, 5)),
    "brier": sk.brier_score_loss,
    "log_loss": sk.log_loss,
    "scaled_brier": lambda y, score: 1 - sk.brier_score_loss(y, score) / (y.mean() * (1 - y.mean())),
    "discrimination_slope": lambda y, score: score[y].mean() - score[~y].mean(),
    "observed_over_expected": lambda y, score: y.sum() / score.sum(),
    "excess_events": lambda y, score: (y - score).mean(),
    "in_the_large": lambda y, score: brentq(lambda a: (Y - expit(a + logit(score))).sum(), -9, 9, xtol=1e-14),
    "intercept": lambda y, score: recalibrated(y, score).intercept_[0],
    "slope": lambda y, score: recalibrated(y, score).coef_[0, 0],
    "ici": lambda y, score: index(y, score, "ici"),  # a local regression: compared with R elsewhere
    "e50": lambda y, score: index(y, score, "e50"),
    "e90": lambda y, score: index(y, score, "e90"),
    "ece": ece,
    "brier_miscalibration": lambda y, score: (
        sk.brier_score_loss(y, score)
        - sk.brier_score_loss(y, IsotonicRegression().fit(score, y).predict(score))
    ),
}  # fmt: skip

CRITERIA = set(OF_CELLS) - {"prevalence", "cases", "net_benefit"}
OF_FOUR = {name for name in OF_CELLS if "@" not in name} - {"ks", "cost", "net_benefit"}
CONSTRAINTS = OF_FOUR | {"cost", "net_benefit"}
CURVED = {name for name, oracle in ORACLES.items() if oracle.curved} | {"closest_topleft"}
NO_DIRECTION = {"prevalence", "cases", "observed_over_expected", "excess_events", "in_the_large", "intercept", "slope"}
OF_COSTS = {"cost", "net_benefit", "miscalibration_cost"}
NOT_SMOOTH = {"ks", "in_the_large", "ici", "e50", "e90", "ece", "brier_miscalibration"}
WATCHED = {"tpr", "fnr", "fpr", "tnr", "precision", "npv", "accuracy", "error", "depth", "prevalence", "jaccard"}


def tables(score):
    """Counts at each threshold, nobody and everybody included."""
    return [cells(Y, score >= t) for t in (np.inf, *sorted(set(score)), -np.inf)]


def at_half(name, model="a"):
    return float(OF_CELLS[name](*cells(Y, SCORES[model] >= 0.5)))


def refused(call, subject, got, kind=InputError):
    """Check the one line that says what is expected, and what kind of figure was given."""
    with pytest.raises(kind) as raised:
        call()
    message = str(raised.value)
    words = ("a figure", "a metric", "the cost")
    assert message.startswith(tuple(f"{subject}: expected {word}" for word in words)), message
    assert f"got {got!r} (a metric" in message
    assert "\n" not in message


def test_every_figure_is_in_the_table():
    assert set(NAMES) == set(OF_CELLS) | set(OF_SCORES) | OF_COSTS


def test_no_name_means_two_figures():
    names = [(name, figure) for figure in FIGURES.values() for name in (figure.name, *figure.aliases)]
    for name, figure in names:
        for form in (name, name.upper(), name.title(), name.replace(" ", "_"), name.replace("_", " ")):
            assert known(form) is figure


@pytest.mark.parametrize("name", NAMES)
def test_criterion(name):
    if name not in CRITERIA:
        refused(lambda: rs.choose(PREDS, COSTS, criterion=name), "criterion", name)
        return
    values = [OF_CELLS[name](*each) for score in SCORES.values() for each in tables(score)]
    best = {1: max, -1: min}[known(name).sign](float(value) for value in values if value == value)
    if name in ("lr_positive", "odds_ratio"):  # infinite where no negative is predicted positive
        best = math.inf if any(tp and not fp for s in SCORES.values() for tp, fp, _, _ in tables(s)) else best
    assert rs.choose(PREDS, COSTS, criterion=name).criterion_value == pytest.approx(best, abs=1e-12)


def bounded(name):
    """A bound that some thresholds keep, and which, with their counts."""
    every = [each for score in SCORES.values() for each in tables(score)]
    values = [OF_CELLS[name](*each) for each in every]
    bound = float(np.median([float(value) for value in values if value == value])) - 0.001
    return f"{name} >= {bound!r}", [each for each, value in zip(every, values, strict=True) if value >= bound]


@pytest.mark.parametrize("name", NAMES)
def test_constraint(name):
    if name not in CONSTRAINTS:
        refused(lambda: rs.choose(PREDS, COSTS, subject_to=f"{name} >= .5"), "constraint", name)
        return
    text, kept = bounded(name)
    decision = rs.choose(PREDS, COSTS, subject_to=text)
    assert decision.expected_cost == pytest.approx(float(min(OF_CELLS["cost"](*each) for each in kept)))
    found = OF_CELLS[name](*(Fraction(getattr(decision.point, cell)) for cell in ("tp", "fp", "fn", "tn")))
    assert Condition.read(text)[0].holds(float(found))


@pytest.mark.parametrize("name", sorted(CONSTRAINTS))
def test_constraint_of_a_randomised_rule(name):
    text, _ = bounded(name)
    if name in CURVED:
        with pytest.raises(InputError, match=r"randomized: .*linear in the counts, got .*; omit"):
            rs.choose(PREDS, COSTS, subject_to=text, randomized=True)
        return
    decision = rs.choose(PREDS, COSTS, subject_to=text, randomized=True)
    found = OF_CELLS[name](*(Fraction(getattr(decision.point, cell)) for cell in ("tp", "fp", "fn", "tn")))
    assert float(found) >= Condition.read(text)[0].bound - 1e-9
    assert decision.expected_cost <= rs.choose(PREDS, COSTS, subject_to=text).expected_cost + 1e-12
    proof = prove(decision, PREDS)
    assert proof.refuted == ()
    assert bool(proof.left_open) == (name in OF_COSTS)
    assert decision.verify(PREDS).verified


@pytest.mark.parametrize("name", sorted(CONSTRAINTS - CURVED - OF_COSTS))
def test_a_randomised_rule_that_breaks_its_bound_is_refuted(name):
    text, _ = bounded(name)
    decision = rs.choose(PREDS, COSTS, subject_to=text, randomized=True)
    value = OF_CELLS[name](*(Fraction(getattr(decision.point, cell)) for cell in ("tp", "fp", "fn", "tn")))
    broken = f"{name} >= {1.01 * float(value)!r}"
    changed = replace(decision, subject_to=(broken,))
    assert any(broken in claim for claim in prove(changed, PREDS).refuted)
    assert not changed.verify(PREDS).verified


@pytest.mark.parametrize("name", NAMES)
def test_metric(name):
    if name in NO_DIRECTION | OF_COSTS:
        refused(lambda: fold_scores(PREDS, name), "metric", name)
        return
    folds = list(PREDS.by_fold().values())
    if name in OF_FOUR:
        expected = [[OF_CELLS[name](*cells(f.y_true, f.scores[m] >= 0.5)) for f in folds] for m in SCORES]
    else:
        expected = [[OF_SCORES[name](f.y_true, f.scores[m]) for f in folds] for m in SCORES]
    expected = np.array(expected, float)
    if not np.isfinite(expected).all():
        with pytest.raises(ScoreError, match=f"{name} of 'a' in fold 3: expected a number"):
            fold_scores(PREDS, name)
        return
    found = fold_scores(PREDS, name)
    assert (found.quantity, found.sign) == (name, known(name).sign)
    np.testing.assert_allclose(found.values, expected, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_statistic(name):
    call = {"compare": lambda **more: rs.compare(PREDS, statistic=name, **more)}
    call["bootstrap"] = lambda **more: rs.bootstrap(PREDS, name, model="a", **more)
    call["estimate_of"] = lambda: rs.inference.estimate_of(PREDS, name, model="a")
    if name not in OF_SCORES:
        for each in call.values():
            refused(each, "statistic", name)
        return
    few = {"replicates": 20, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = call["compare"](**(few if name in NOT_SMOOTH else {}))
        drawn = call["bootstrap"](**few)
    for model, estimate in compared.estimates.items():
        assert estimate.value == pytest.approx(float(OF_SCORES[name](Y, SCORES[model])), abs=1e-6)
    assert drawn.value == pytest.approx(float(OF_SCORES[name](Y, SCORES["a"])), abs=1e-6)
    if name in NOT_SMOOTH:
        with pytest.raises(InputError, match=r"call rocscope\.bootstrap for your own function"):
            call["estimate_of"]()
    else:
        assert call["estimate_of"]().value == pytest.approx(float(OF_SCORES[name](Y, SCORES["a"])), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_statistic_at_a_threshold(name):
    if name not in OF_FOUR or known(name).unit == "cases":
        refused(lambda: statistics.at(0.5, name), "metric", name)
        return
    assert statistics.at(0.5, name)(PREDS.counts("a")) == pytest.approx(at_half(name))


@pytest.mark.parametrize("name", NAMES)
def test_limit_of_a_monitor(name):
    chosen = rs.choose(PREDS.select(models=["a"]), COSTS)
    begin = {"auc": "auc", "excess_events": "calibration"}.get(name, name)
    if name not in WATCHED | {"cost", "auc", "excess_events"}:
        refused(lambda: rs.monitor(chosen, fail_if=f"{name} > .5"), "fail_if", name)
        return
    watch = rs.monitor(chosen, fail_if=f"{name.upper()} > .999").update(PREDS.select(models=["a"]))
    if name in OF_SCORES:
        expected = OF_SCORES[name](Y, SCORES["a"])
    else:
        expected = OF_CELLS[name](*cells(Y, SCORES["a"] >= chosen.threshold))
    assert watch.interval[begin].value == pytest.approx(float(expected), abs=2e-3 if name == "auc" else 1e-12)
    again = type(watch).from_dict(jsonable(watch.to_dict()))
    assert again.interval[begin] == watch.interval[begin]


@pytest.mark.every(7)
@pytest.mark.parametrize("name", NAMES)
def test_gate_of_the_command_line(name, run, tmp_path):
    lines = [f"{int(y)},{a},{b}" for y, a, b in zip(Y, SCORES["a"], SCORES["b"], strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["y,a,b", *lines]))
    options = ("--label", "y", "--score", "a", "--score", "b", *["--at-context", "--cost-fn", "3"] * (name == "cost"))
    if name == "cost":
        value = rs.inference.compare_costs(PREDS, COSTS).estimates["a"].value
    elif name in OF_SCORES:
        value = float(OF_SCORES[name](Y, SCORES["a"]))
    else:
        code, out, err = run("compare", "s.csv", *options, "--fail-if", f"{name}(a) < 0")
        assert (code, out) == (2, "")
        assert "--fail-if: expected a metric of the whole ranking" in err
        assert f"got {name!r} (a metric" in err
        return
    if name in NOT_SMOOTH and name != "ks":  # a bootstrap, of which one is enough
        return
    for bound, expected in ((value + 1e-4, 0), (value - 1e-4, 1)):
        assert run("compare", "s.csv", *options, "--fail-if", f"{name}(a) > {bound!r}")[0] == expected


@pytest.mark.parametrize("name", NAMES)
def test_row_of_a_summary(name):
    row = table()["a"]
    own = "expected_cost" if name == "cost" else name
    if own not in MEASURES:
        with pytest.raises(ColumnError, match=r"measure: expected one of .*, got "):
            row[name]
        return
    spellings = (own, *known(name).aliases, name.upper())
    assert all(row[each] is row[own] for each in spellings)
    if name == "miscalibration_cost":
        return
    threshold = row.threshold
    if name == "net_benefit":
        tp, fp, _, _ = cells(Y, SCORES["a"] >= threshold)
        expected = (tp - fp / Fraction(3)) / N
    elif name in OF_SCORES:
        expected = OF_SCORES[name](Y, SCORES["a"])
    else:
        expected = OF_CELLS[name](*cells(Y, SCORES["a"] >= threshold))
    assert row[own].value == pytest.approx(float(expected), abs=1e-6)


@cache
def table():
    return rs.summary(PREDS, COSTS)


@pytest.mark.parametrize("name", NAMES)
def test_mean_over_classes(name):
    matrix = rs.multiclass.ConfusionMatrix.from_labels(Y.astype(int), (SCORES["a"] >= 0.5).astype(int))
    if name not in OF_FOUR:
        refused(lambda: matrix.per_class(name), "metric", name)
        return
    yes = SCORES["a"] >= 0.5
    expected = [float(OF_CELLS[name](*cells(~Y, ~yes))), float(OF_CELLS[name](*cells(Y, yes)))]
    assert matrix.per_class(name).tolist() == pytest.approx(expected)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", [name for name in NAMES if known(name).at_mix(Fraction(1, 3))])
def test_lines_are_those_of_the_figure(name):
    for y in (Y, np.arange(N) % 5 > 2):
        for score in SCORES.values():
            for tp, fp, fn, tn in (cells(y, score >= t) for t in score):
                lines = known(name).at_mix((tp + fn) / N)
                rates = tp / (tp + fn), fp / (fp + tn), 1
                top, bottom = (sum(Fraction(w) * x for w, x in zip(line, rates, strict=True)) for line in lines)
                value = OF_CELLS[name](tp, fp, fn, tn) / (N if known(name).unit == "cases" else 1)
                assert (top / bottom == value) if bottom else value != value
