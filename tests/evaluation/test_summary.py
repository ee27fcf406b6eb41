"""rs.summary: the numbers that other functions give, in five domains, with words that say how they were made."""

import json
import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope.errors import ColumnError, InputError, RocscopeError, RocscopeWarning
from rocscope.evaluation.summary import DOMAINS, MEASURES


def simulated(n=400, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n)
    return rng.random(n) < score, score, rng


@pytest.fixture(scope="module")
def found():
    label, score, rng = simulated()
    segment = rng.integers(0, 2, label.size)
    preds = rs.Predictions(label, {"a": score, "b": score**1.5}, segment=segment)
    return preds, rs.summary(preds, rs.Context(cost_fn=3), by="segment")


def test_every_row_has_every_measure_with_an_interval(found):
    _, summary = found
    assert [(row.model, row.part) for row in summary] == [(m, p) for m in "ab" for p in ("all", "0", "1")]
    for row in summary:
        assert list(row.estimates) == list(MEASURES)
        treated_by_none = row.estimates["treat_none"]
        assert treated_by_none.value == 0
        for name, estimate in row.estimates.items():
            if estimate is treated_by_none:  # 0 whatever the data
                continue
            assert estimate.low < estimate.high, name
            assert estimate.low <= estimate.value <= estimate.high, name
            assert estimate.level == 0.95


def test_numbers_are_those_of_their_functions(found):
    preds, summary = found
    row, counts = summary["a"], preds.counts("a")
    report = rs.calibration.calibration_report(preds, model="a")
    for name in ("brier", "scaled_brier", "log_loss", "slope", "ici", "e90", "ece", "observed_over_expected"):
        assert row[name].to_dict() == report[name].to_dict()
    assert row["auc"].to_dict() == rs.auc_interval(preds, model="a").to_dict()
    decision = rs.choose({"a": counts}, rs.Context(cost_fn=3))
    assert row.threshold == decision.threshold
    assert row["expected_cost"].value == pytest.approx(decision.expected_cost, rel=1e-12)
    rates = rs.inference.rate_intervals(counts.at(row.threshold))
    for name in ("tpr", "tnr", "precision", "npv", "accuracy"):
        assert (row[name].value, row[name].low, row[name].high) == pytest.approx(
            (rates[name].value, rates[name].low, rates[name].high), rel=1e-9
        )
    point = counts.at(row.threshold)
    assert row["net_benefit"].value == pytest.approx((point.tp - point.fp / 3) / counts.n, rel=1e-12)
    lost = rs.calibration.miscalibration_cost(preds, model="a").interval(rs.Context(cost_fn=3), draws=99)
    assert row["miscalibration_cost"].to_dict() == lost.to_dict()
    assert 0 <= lost.low < lost.high


def test_a_part_is_the_summary_of_its_rows_at_the_threshold_of_all(found):
    preds, summary = found
    part = preds.select(preds.segment == 1, models=["b"])
    alone = rs.summary(part)["b"]
    for name in ("slope", "ici", "brier", "auc"):
        assert summary["b", 1][name].to_dict() == alone[name].to_dict()
    assert summary["b", 1].threshold == summary["b"].threshold


@pytest.mark.parametrize(("parts", "draws"), [(20, 999), (21, 99)])
def test_distances_of_many_parts_take_fewer_draws(parts, draws):
    rng = np.random.default_rng(parts)
    score = np.tile([0.2, 0.4, 0.7], 8 * parts)
    preds = rs.Predictions(rng.random(score.size) < score, score, segment=np.arange(score.size) // 24)
    summary = rs.summary(preds, by="segment")
    assert summary.rows[0]["ici"].method == "inverted test, 999 draws"
    for row in summary.rows[1:]:
        if not np.isnan(row["ici"].low):
            assert row["ici"].method == f"inverted test, {draws} draws"
            assert row["ici"].low <= row["ici"].value <= row["ici"].high


def test_target_prevalence_is_that_of_weighted_classes():
    label, score, _ = simulated()
    weight = np.where(label, 0.1 / label.mean(), 0.9 / (1 - label.mean()))
    moved = rs.summary(rs.Predictions(label, score), rs.Context(target_prevalence=0.1))["score"]
    weighted = rs.summary(rs.Predictions(label, score, sample_weight=weight))["score"]
    for name, estimate in weighted.estimates.items():
        assert moved[name].value == pytest.approx(estimate.value, rel=1e-9), name


def test_what_cannot_be_had_says_why():
    label, score, _ = simulated(60)
    logits = rs.summary(rs.Predictions(label, score * 5))["score"]
    assert "not probabilities" in logits["slope"].method
    assert logits["auc"].low < logits["auc"].high
    one = rs.summary(rs.Predictions([1, 1, 1], [0.2, 0.4, 0.9]))["score"]
    assert "one class" in one["auc"].method
    assert "one class" in one["ici"].method
    apart = rs.summary(rs.Predictions([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]))["score"]
    assert "separate the classes" in apart["slope"].method
    single = rs.summary(rs.Predictions([1], [0.5]))["score"]
    for row in (logits, one, apart, single):
        assert json.dumps(row.to_dict(), allow_nan=False)
        assert all(math.isnan(e.low) or e.low < e.high for e in row.estimates.values())


def test_thin_data_say_so():
    rng = np.random.default_rng(4)
    score = rng.random(60)
    label = np.arange(60) < 5
    summary = rs.summary(rs.Predictions(label, score))
    row = summary["score"]
    assert not row["slope"].reliable
    assert row["slope"].reason.startswith("only 5 observed or expected cases of a class")
    assert any("; slope; " in mark and "5 observed or expected cases of a class" in mark for mark in summary.marks)
    assert not row["brier"].reliable
    enough = rs.summary(rs.Predictions(np.arange(60) % 2, score))["score"]
    assert enough["brier"].reliable


@pytest.mark.parametrize("by", [None, "segment"])
def test_each_mark_is_explained_once(run, tmp_path, by):
    rng = np.random.default_rng(4)
    label, score, segment = np.arange(30) % 5 == 0, rng.random(30).round(3), np.arange(30) % 3
    preds = rs.Predictions(label, {"a": score, "b": score**2}, segment=segment)
    summary = rs.summary(preds, by=by)
    marked = set()
    for domain in DOMAINS:
        for line in summary.table(domain):
            marked |= {heading for heading, text in line.items() if text.endswith("†")}
    matches = [re.fullmatch(r"† (.*): not reliable \((.*)\)", mark) for mark in summary.marks]
    figures, reasons = [match[1] for match in matches], [match[2] for match in matches]
    assert {figure for line in figures for figure in line.split("; ")} == marked
    assert len({re.sub(r"\d+( to \d+)?", "", reason) for reason in reasons}) == len(reasons)
    assert summary.notes[-len(reasons) :] == summary.marks
    path = tmp_path / "rows.csv"
    rows = zip(label.astype(int), score, score**2, segment, strict=True)
    path.write_text("y,a,b,part\n" + "".join(f"{y},{a},{b},p{part}\n" for y, a, b, part in rows))
    typed = ["--label", "y", "--score", "a", "--score", "b", *(["--segment", "part"] if by else [])]
    _, _, err = run("summary", path, *typed)
    assert set(summary.marks) <= set(err.splitlines())
    assert set(summary.marks) <= set(rs.Report(preds).data.warnings) or by


def test_counts_give_what_rows_give_and_parts_need_rows():
    label, score, _ = simulated(120)
    preds = rs.Predictions(label, {"m": score})
    counted = rs.summary({"m": preds.counts()})["m"]
    rows = rs.summary(preds)["m"]
    for name, estimate in rows.estimates.items():
        assert (counted[name].value, counted[name].high) == pytest.approx(
            (estimate.value, estimate.high), rel=1e-9, nan_ok=True
        )
    with pytest.raises(InputError, match="by='segment'"):
        rs.summary(preds.counts(), by="segment")
    with pytest.raises(InputError, match="segment"):
        rs.summary(preds, by="segment")
    with pytest.raises(ColumnError, match="expected 'm', got 'n'"):
        rs.summary(preds)["n"]


def test_tables_words_and_frames(found):
    _, summary = found
    assert [line["model"] for line in summary.table("calibration")] == list("aaabbb")
    assert {measure.domain for measure in MEASURES.values()} == set(DOMAINS)
    assert not re.search(r"-0\.?0*[\],]", str([summary.sheet(domain) for domain in DOMAINS]))
    assert rs.__version__ in summary.methods
    assert summary.tripod["23a"]
    assert summary.tripod["14"]
    assert summary.tripod == {
        "12d": False, "12e": True, "14": True, "15": True, "21": True, "23a": True, "23b": False
    }  # fmt: skip
    label, score, rng = simulated(50)
    plain = rs.Predictions(label, score)
    weighted = rs.Predictions(label, score, sample_weight=rng.random(50) + 0.5)
    ticked = {name for name, done in rs.summary(plain).tripod.items() if done}
    # Equal costs by default are nobody's reason for a threshold, and a number comes without its reason.
    assert ticked == {"12e", "21"}
    costs = rs.Context(cost_fn=4)
    thresholds = (None, "costs", 0.3)
    ticks = {at: rs.summary(plain, costs, threshold=at).tripod["15"] for at in thresholds}
    assert ticks == {None: True, "costs": True, 0.3: False}
    assert not rs.summary(plain, threshold="costs").tripod["15"]
    assert not rs.summary(weighted).tripod["21"]
    frame = summary.to_frame("polars")
    assert frame.shape == (6 * len(MEASURES), 8)
    assert json.dumps(summary.to_dict(), allow_nan=False)
    assert summary._repr_html_().count("<table>") == len(DOMAINS)


SCORES = {
    "sharp": lambda y, rng: 1 / (1 + np.exp(-20 * (rng.normal(size=y.size) + y))),
    "nearly perfect": lambda y, rng: np.where(y == 1, 1 - 1e-12 * rng.random(y.size), 1e-12 * rng.random(y.size)),
    "perfect": lambda y, _: y * 1.0,
    "tiny": lambda y, rng: rng.random(y.size) * 1e-300,
    "logits": lambda y, rng: 3 * rng.normal(size=y.size) + y,
    "one": lambda y, _: np.full(y.size, 0.3),
}
WEIGHTS = {
    "none": lambda y, _: None,
    "usual": lambda y, rng: rng.random(y.size) + 0.5,
    "any": lambda y, rng: 10.0 ** rng.uniform(-100, 100, y.size),
    "decay": lambda y, _: 0.5 ** (10 * np.arange(y.size)),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", SCORES)
def test_scores_and_weights_of_any_size_raise_nothing_of_numpy(scores, weights):
    """Not even where its user has it raise whatever is rounded to 0."""
    rng = np.random.default_rng(0)
    for n in (4, 40):
        y = np.arange(n) % 2
        weight = WEIGHTS[weights](y, rng)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RocscopeWarning)
            try:
                summary = rs.summary(rs.Predictions(y, SCORES[scores](y, rng), sample_weight=weight))
            except RocscopeError:
                continue
            json.dumps(summary.to_dict(), allow_nan=False)


def test_scaled_brier_next_to_1_keeps_its_interval():
    """The value rounds to 1, what it lacks to that does not."""
    y, score = np.array([1, 1, 0, 0, 1, 0]), np.array([1, 1, 1e-12, 2e-12, 1, 3e-12])
    estimate = rs.summary(rs.Predictions(y, score))[0].estimates["scaled_brier"]
    assert 0.999 < estimate.low <= estimate.value == estimate.high == 1


def test_folds_become_means_deviations_intervals_and_seconds():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + 0.8 * y[:, None]
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3, random_state=0)}
    preds = rs.evaluate(models, X, y, cv=5)
    found = rs.summary(preds, by="fold")
    assert [row.model for row in found.over_folds] == ["bayes", "tree"]
    for row in found.over_folds:
        areas = [rs.auc(part, model=row.model) for part in preds.by_fold().values()]
        low, high = stats.t.interval(0.95, 4, np.mean(areas), np.std(areas, ddof=1) / 5**0.5)
        assert (row["auc"].value, row["auc"].low, row["auc"].high) == pytest.approx((np.mean(areas), low, high))
        assert row.deviations["auc"] == pytest.approx(np.std(areas, ddof=1))
        theirs = cross_val_score(models[row.model], X, y, cv=splits_of(preds))
        assert row["accuracy"].value == pytest.approx(theirs.mean())
        assert row.fit_seconds == np.mean([fit for fit, _ in preds.source.seconds[row.model]]) > 0
        assert 0 < row.predict_seconds < 1
        assert "shared training rows" in row["auc"].method
        with pytest.raises(ColumnError, match="auc"):
            row["aucc"]
    assert found.over_folds[0].folds == 5
    assert {"fit, s", "predict, s", "AUC"} <= set(found.fold_table("discrimination")[0])
    assert "fit, s" in found._repr_html_()
    assert rs.summary(rs.evaluate(models, X, y, cv=5), by="fold").to_dict() == found.to_dict()
    assert rs.summary(preds).over_folds == ()
    assert any("folds share training rows" in note for note in rs.summary(preds)["tree"].notes)


def splits_of(preds):
    rows = preds.row
    return [(rows[preds.fold != k], rows[preds.fold == k]) for k in range(5)]


def test_folds_that_were_given_have_no_seconds_and_folds_of_one_class_no_area():
    y, fold = np.array([1, 0, 1, 0, 1, 1]), [0, 0, 1, 1, 2, 2]
    found = rs.summary(rs.Predictions(y, [0.9, 0.2, 0.6, 0.7, 0.8, 0.4], fold=fold), by="fold").over_folds[0]
    assert np.isnan(found.fit_seconds)
    assert (found["auc"].value, found["auc"].n) == (0.5, 2)
    assert "fit, s" not in found.line(["auc"])


Y, RISK = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [0.9, 0.3, 0.1, 0.8, 0.3, 0.2, 0.2, 0.1, 0.1, 0.0]


def utility(row):
    return [row[name].value for name in ("tpr", "precision", "net_benefit", "treat_all", "treat_none")]


def test_threshold_is_fixed_beforehand():
    preds = rs.Predictions(Y, {"a": RISK, "b": [1 - p for p in RISK]})
    # at .2: 2 of 3 found, 4 false alarms, which weigh .2/.8 = 1/4: (2 - 4/4)/10; all: 3/10 - 7/10/4
    expected = [2 / 3, 2 / 6, 0.1, 0.125, 0]
    given = rs.summary(preds, threshold={"b": 0.5, "a": 0.2})
    assert utility(given["a"]) == pytest.approx(expected)
    # at .5: 2 of 3 found, 6 false alarms, which weigh 1: (2 - 6)/10; all: 3/10 - 7/10
    assert utility(given["b"]) == pytest.approx([2 / 3, 2 / 8, -0.4, -0.4, 0])
    assert "at a threshold that was fixed beforehand (a 0.2, b 0.5)" in given.methods
    assert "optimistic" not in given.methods
    # acting in vain costs 1 + .5, leaving a positive 6 - 0: t = 1.5/7.5
    context = rs.Context(cost_fp=1, cost_tn=-0.5, cost_fn=6)
    costs = rs.summary(preds, context, threshold="costs")
    assert utility(costs["a"]) == pytest.approx(expected)
    assert costs["a"].threshold == 0.2
    assert costs["a"].threshold_source == "costs"
    assert costs["a"]["expected_cost"].value == pytest.approx((4 * 1 - 3 * 0.5 + 1 * 6) / 10)
    note = "threshold 0.2 from the costs, fixed beforehand; net benefit weighs false positives by 0.25"
    assert costs["a"].notes[0] == note
    # a context says what a false positive weighs, at another threshold too: (2 - 2 * .25)/10 at .3
    assert utility(rs.summary(preds, context, threshold=0.3)["a"])[2:] == pytest.approx([0.15, 0.125, 0])
    cheapest = rs.summary(preds, context)
    assert cheapest["a"].threshold_source == "cheapest"
    assert "chosen on the same rows" in cheapest["a"].notes[0]
    optimistic = "optimistic, because the threshold has the lowest expected cost on the same data (a 0.3, b "
    assert optimistic in cheapest.methods


@pytest.mark.parametrize("weights", [None, np.arange(1, 401) % 3 + 1])
@pytest.mark.parametrize("target", [None, 0.1])
def test_net_benefit_is_that_of_the_decision_curve_and_its_references(weights, target):
    label, score, _ = simulated()
    preds = rs.Predictions(label, score.astype(np.float32), sample_weight=weights)
    curve = rs.net_benefit(preds, target_prevalence=target)
    t = 0.3
    context = rs.Context(cost_fp=t, cost_fn=1 - t, target_prevalence=target)
    row = rs.summary(preds, context, threshold="costs")["score"]
    pi = (label.mean() if weights is None else np.average(label, weights=weights)) if target is None else target
    assert row["treat_all"].value == pytest.approx(pi - (1 - pi) * t / (1 - t))
    assert row["net_benefit"].value == pytest.approx(curve.at(t))
    assert row["treat_none"].value == 0
    assert math.isnan(row["treat_all"].low) == (target is not None)  # a given prevalence is not estimated


def test_the_methods_give_the_odds_that_net_benefit_uses():
    preds = rs.Predictions(Y, {"a": RISK, "b": [1 - p for p in RISK]})
    # Without costs, net benefit at the threshold .4 weighs a false positive by .4/.6.
    fixed = rs.summary(preds, threshold=0.4)
    said = "(a 0.4, b 0.4). Net benefit weighs a false positive by 0.4/0.6. The expected cost is 1 for a false positive"
    assert said in fixed.methods
    at = preds.counts("a").at(0.4)
    assert fixed["a"]["net_benefit"].value == pytest.approx((at.tp - at.fp * 0.4 / 0.6) / 10)
    several = rs.summary(preds, threshold={"a": 0.4, "b": 0.2}).methods
    assert "by 0.4/0.6 (a). Net benefit weighs a false positive by 0.2/0.8 (b)." in several
    for threshold in (0.4, "costs", "cheapest"):
        methods = rs.summary(preds, rs.Context(cost_fn=4), threshold=threshold).methods
        said = "Net benefit weighs a false positive by 0.25. The expected cost is 1 for a false positive and 4 for a"
        assert said in methods
    # At a threshold of scores that are no probabilities, a false positive weighs what equal costs make it.
    assert "by 1. The expected cost" in rs.summary(Y, np.multiply(RISK, 9), threshold=2).methods


def test_the_methods_name_the_horizon():
    time = [1, 2, 3, 4, 5, 6, 7, 8]
    rows = rs.outcomes.at_horizon(time, [1, 0, 1, 2, 0, 1, 0, 0], [0.9, 0.5, 0.6, 0.3, 0.2, 0.3, 0.4, 0.1], horizon=4)
    assert "Outcome: the event by the horizon 4, weighted for censoring." in rs.summary(rows, threshold=0.4).methods
    complete = rs.outcomes.at_horizon(time, [1] * 8, [0.9, 0.5, 0.6, 0.3, 0.2, 0.3, 0.4, 0.1], horizon=4)
    assert "Outcome: the event by the horizon 4. Disc" in rs.summary(complete.select(complete.y_true >= 0)).methods
    assert "Outcome" not in rs.summary(Y, RISK).methods


def test_decisions_have_a_net_benefit_whatever_the_scores():
    # 2 of 3 found at 2 false alarms, which weigh 1/4; treating all: 3 of 10 at 7 false alarms.
    decided = np.array(Y) * 0
    decided[np.flatnonzero(Y)[:2]] = 1
    decided[np.flatnonzero(np.array(Y) == 0)[:2]] = 1
    row = rs.summary(rs.Predictions(Y, np.multiply(RISK, 9), decisions=decided), rs.Context(cost_fn=4))["score"]
    values = [row[name].value for name in ("net_benefit", "treat_all", "treat_none")]
    assert values == pytest.approx([(2 - 2 / 4) / 10, (3 - 7 / 4) / 10, 0])
    assert math.isnan(row["brier"].value)


def test_parts_are_at_the_threshold_given(found):
    preds, _ = found
    by = rs.summary(preds, threshold=0.25, by="segment")
    for part, data in preds.by_segment().items():
        point = data.counts("a").at(0.25)
        assert by["a", part]["tpr"].value == point.tpr
        assert by["a", part]["net_benefit"].value == pytest.approx((point.tp - point.fp / 3) / point.n)
        assert by["a", part].threshold == 0.25


@pytest.mark.parametrize(
    ("threshold", "context", "message"),
    [
        ({"a": 0.2}, None, r"threshold: expected thresholds of the models \['a', 'b'\], got thresholds of \['a'\]"),
        (
            {"a": 0.2, "b": 0.1, "c": 0.1},
            None,
            r"expected thresholds of the models \['a', 'b'\], got thresholds of \['a', 'b', 'c'\]",
        ),
        (math.nan, None, "threshold: expected a finite number, or one for each model, got nan"),
        ("cost", None, "threshold: expected one of 'costs', 'cheapest' .*, got 'cost'"),
        ("costs", rs.Context(cost_fn=0), 'threshold="costs": expected costs .* all negative is always right'),
    ],
)
def test_threshold_that_cannot_be(threshold, context, message):
    with pytest.raises(RocscopeError, match=message):
        rs.summary(rs.Predictions(Y, {"a": RISK, "b": RISK}), context, threshold=threshold)


def test_costs_give_no_threshold_of_scores_that_are_no_probabilities():
    logits = rs.Predictions(Y, {"a": [5 * p - 2 for p in RISK]})
    with pytest.raises(RocscopeError, match='threshold="costs": expected probabilities'):
        rs.summary(logits, threshold="costs")
    assert rs.summary(logits, threshold=-1.0)["a"]["tpr"].value == 2 / 3


def test_metrics_are_flat_and_finite(found):
    preds, _ = found
    one = rs.summary(preds.select(models=["a"])).metrics()
    interval = rs.auc_interval(preds, model="a")
    assert (one["auc"], one["auc_low"], one["auc_high"]) == (interval.value, interval.low, interval.high)
    assert one["brier"] == pytest.approx(rs.calibration.brier(preds, model="a"))
    assert all(math.isfinite(value) and type(value) is float for value in one.values())
    both = rs.summary(preds).metrics()
    assert both["a/auc_low"] == one["auc_low"]
    assert both["b/auc"] == rs.auc(preds, model="b")
    parts = rs.summary(preds, by="segment")
    part = parts.rows[-1].part
    assert parts.metrics()[f"a/{part}/auc"] == parts["a", part]["auc"].value
    assert "slope" not in rs.summary([0, 1, 1], [3, 4, 5]).metrics(), "of no probabilities"


def test_comparisons_are_a_frame():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(60, 3))
    pairs = rs.compare(rng.integers(0, 2, 60), dict(zip("abc", scores.T, strict=True)))
    frame = pairs.to_frame()
    assert frame[["first", "second"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    last = frame.iloc[-1]
    assert last["difference"] == pytest.approx(pairs.estimates["c"].value - pairs.estimates["b"].value)
    assert (last["p_value"], last["adjusted_p_value"]) == (pairs[2].p_value, pairs[2].adjusted_p_value)
    assert last["low"] < last["difference"] < last["high"]
    assert pairs.to_frame("polars").columns == list(frame.columns)
