"""Groups are a fact of the rows: what is given with the Predictions is as good as what is given with each call."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB

import rocscope as rs
from rocscope.core.predictions import independent_units
from rocscope.errors import InputError, PairingError, RocscopeWarning

N, K = 120, 30
RNG = np.random.default_rng(5)
GROUP = np.array([f"patient {i}" for i in np.repeat(np.arange(K), N // K)])
LABEL = np.repeat(RNG.random(K) < 0.5, N // K).astype(int)
NOISE = np.repeat(RNG.normal(size=(2, K)), N // K, axis=1)
SCORES = {name: LABEL + 1.3 * NOISE[i] + 0.4 * RNG.normal(size=N) for i, name in enumerate("ab")}
PLAIN = rs.Predictions(LABEL, SCORES)
GROUPED = rs.Predictions(LABEL, SCORES, groups=GROUP)
COST = rs.Context(cost_fn=3)
QUICK = {"replicates": 60, "progress": False}
CURVE = rs.roc(LABEL, SCORES["a"])


FIRST = np.arange(N) < N // 2


def of_two_samples(predictions, groups=None):
    arms = {name: predictions.select(rows, models=[name]) for name, rows in (("a", FIRST), ("b", ~FIRST))}
    return rs.compare(arms, groups=None if groups is None else {"a": groups[FIRST], "b": groups[~FIRST]})


USES = {
    "auc_interval": lambda p, **groups: rs.auc_interval(p, model="a", **groups),
    "compare": rs.compare,
    "compare by the bootstrap": lambda p, **groups: rs.compare(p, statistic=rs.auc, **QUICK, **groups),
    "compare, unpaired": of_two_samples,
    "bootstrap": lambda p, **groups: rs.bootstrap(p.select(models=["a"]), rs.auc, **QUICK, **groups),
    "bootstrap, BCa": lambda p, **groups: rs.bootstrap(
        p, lambda counts: rs.auc(counts["b"]) - rs.auc(counts["a"]), method="bca", **QUICK, **groups
    ),
    "band": lambda p, **groups: rs.inference.band(
        CURVE, grid=[0.1, 0.5], data=p.select(models=["a"]), **QUICK, **groups
    ),
    "compare_costs": lambda p, **groups: rs.inference.compare_costs(p, COST, thresholds=0.5, **groups),
    "optimism": lambda p, **groups: rs.evaluation.optimism(p, COST, cv=3, repeats=1, **QUICK, **groups),
}


@pytest.mark.parametrize("name", USES)
def test_groups_of_the_rows_are_used_as_if_they_were_given(name):
    use = USES[name]
    found = use(GROUPED).to_dict()
    assert found == use(PLAIN, groups=GROUP).to_dict()
    assert found != use(PLAIN).to_dict()
    assert f"{K} groups" in str(found) or f"{K // 2} groups" in str(found)


@pytest.mark.parametrize("name", sorted(USES.keys() - {"compare, unpaired"}))
def test_groups_given_come_first_and_false_is_none(name):
    use, others = USES[name], np.arange(N) // 2
    assert use(GROUPED, groups=others).to_dict() == use(PLAIN, groups=others).to_dict()
    assert use(GROUPED, groups=False).to_dict() == use(PLAIN).to_dict()
    assert use(PLAIN, groups=False).to_dict() == use(PLAIN).to_dict()


def test_rows_that_go_together_make_intervals_wider():
    def width(estimate):
        return estimate.high - estimate.low

    for use in (USES["auc_interval"], USES["bootstrap"]):
        assert width(use(GROUPED)) > 1.3 * width(use(PLAIN))
    differences = [rs.compare(p)[0].difference for p in (GROUPED, PLAIN)]
    assert width(differences[0]) > 1.3 * width(differences[1])


def test_paired_arms_bring_their_groups():
    def arms(groups):
        return {name: rs.Predictions(LABEL, SCORES[name], groups=groups) for name in "ab"}

    assert rs.compare(arms(GROUP), paired=True).to_dict() == rs.compare(GROUPED).to_dict()
    assert rs.compare(arms(GROUP), paired=True, groups=False).to_dict() == rs.compare(PLAIN).to_dict()
    with pytest.raises(PairingError, match="expected the same groups in both models, got different groups in row 0"):
        rs.compare({"a": arms(GROUP)["a"], "b": arms(GROUP[::-1])["b"]}, paired=True)
    with pytest.raises(PairingError, match="expected groups in both models or in neither"):
        rs.compare({"a": arms(GROUP)["a"], "b": arms(None)["b"]}, paired=True)


def test_a_group_in_both_of_two_samples_is_found_in_the_rows():
    odd = np.arange(N) % 2 == 1
    arms = {name: GROUPED.select(rows, models=[name]) for name, rows in (("a", odd), ("b", ~odd))}
    with pytest.raises(
        PairingError, match=f"each group in one sample, got {K} groups in two samples, such as 'patient 0'"
    ):
        rs.compare(arms)
    plain = {name: PLAIN.select(rows, models=[name]) for name, rows in (("a", odd), ("b", ~odd))}
    assert rs.compare(arms, groups=False).to_dict() == rs.compare(plain).to_dict()


def test_calibration_intervals_draw_groups():
    predictions = [rs.Predictions(LABEL, 1 / (1 + np.exp(-SCORES["a"])), groups=groups) for groups in (GROUP, None)]
    grouped, plain = (rs.calibration.calibration_report(each, draws=99) for each in predictions)
    for name in ("brier", "slope", "observed_over_expected", "ici"):
        assert grouped[name].value == plain[name].value
    assert grouped["brier"].high - grouped["brier"].low > 1.3 * (plain["brier"].high - plain["brier"].low)
    assert "design effect" in grouped["ici"].method
    z, of_rows = (abs(each.tests["spiegelhalter"].statistic) for each in (grouped, plain))
    assert z < 0.9 * of_rows  # by the root of the design effect
    alone = rs.calibration.calibration_report(predictions[0], draws=99, groups=False)
    assert alone.to_dict() == plain.to_dict()


TESTS = {
    "mann_whitney": lambda p: rs.inference.mann_whitney(p.select(models=["a"])),
    "mcnemar": lambda p: rs.inference.mcnemar(p, 0.5),
    "compare_curves": lambda p: rs.inference.compare_curves(p, **QUICK),
}


@pytest.mark.parametrize("name", TESTS)
def test_groups_of_one_row_are_rows_and_others_are_used(name):
    alone = TESTS[name](rs.Predictions(LABEL, SCORES, groups=np.arange(N)))
    plain, grouped = TESTS[name](PLAIN), TESTS[name](GROUPED)
    assert grouped.difference.reliable
    assert alone.p_value == plain.p_value != grouped.p_value


def test_unpaired_permutation_of_groups_is_flagged():
    arms = {name: GROUPED.select(rows, models=[name]) for name, rows in (("a", FIRST), ("b", ~FIRST))}
    with pytest.warns(RocscopeWarning, match="ignores groups and treats all rows as independent"):
        assert rs.inference.compare_curves(arms, **QUICK).difference.reason.startswith("rows of a group")


def test_mcnemar_of_groups_is_the_t_test_of_the_delete_one_group_jackknife():
    uneven = np.arange(N) ** 2 // 400  # 36 groups of 1 to 20 rows
    test = rs.inference.mcnemar(rs.Predictions(LABEL, SCORES, groups=uneven), 0.5)
    right = [(SCORES[model] >= 0.5) == LABEL for model in "ab"]
    change = np.append(right[1].astype(int) - right[0], [1, -1])  # with Bonett & Price's rows
    group = np.append(uneven, [1000, 1001])
    without = np.array([change[group != k].mean() for k in np.unique(group)])
    u = without.size
    error = np.sqrt((u - 1) / u * ((without - change.mean()) ** 2).sum())
    assert test.difference.value == change[:-2].mean()
    assert test.difference.standard_error == pytest.approx(error, rel=1e-12)
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(change[:-2].mean()) / error, test.df), rel=1e-9)
    assert f"{u} groups" in test.method


@pytest.mark.parametrize("labels", [LABEL, np.arange(N) % 3 > 0], ids=["of groups", "of rows"])
def test_the_rank_test_of_groups_rejects_where_the_interval_excludes_a_half(labels):
    rows = rs.Predictions(labels, SCORES["a"], groups=GROUP)
    test = rs.inference.mann_whitney(rows)
    touching = rs.auc_interval(rows, level=1 - test.p_value)
    assert min(abs(touching.low - 0.5), abs(touching.high - 0.5)) < 1e-9
    with pytest.raises(InputError, match="method, for rows in groups"):
        rs.inference.mann_whitney(rows, method="exact")


def test_curves_of_groups_are_compared_by_exchanging_whole_groups():
    rng, k, m = np.random.default_rng(1), 8, 4
    label, group = rng.random(k * m) < 0.5, np.repeat(np.arange(k), m)
    ranks = [rng.normal(size=k)[group] + 0.2 * rng.normal(size=k * m) + label for _ in "ab"]
    ranks = np.array([rank.argsort().argsort() for rank in ranks])

    def between_curves(swapped):
        """Return the sum over k of the differences in errors with the k lowest ranks called negative."""
        first, second = np.where(swapped[group], ranks[::-1], ranks)
        # Exchanged ranks may tie, which the test breaks at random: the mean over some ways.
        ways = []
        for _ in range(1 if not swapped.any() else 40):
            right = [label[np.lexsort((rng.random(k * m), rank))].cumsum() for rank in (first, second)]
            ways.append(2 * abs(right[0] - right[1]).sum())
        return np.array(ways)

    patterns = [np.array(list(np.binary_repr(i, k)), int) > 0 for i in range(2**k)]
    observed = between_curves(np.zeros(k, bool))[0]
    exact = np.mean([(between_curves(pattern) >= observed).mean() for pattern in patterns])
    rows = rs.Predictions(label, dict(zip("ab", ranks, strict=True)), groups=group)
    p_value = rs.inference.compare_curves(rows, replicates=4000, progress=False).p_value
    assert p_value == pytest.approx(exact, abs=0.03)
    assert rs.inference.compare_curves(rs.Predictions(label, rows.scores), **QUICK).p_value < exact / 3


def test_comparisons_of_several_classes_take_equal_rows_of_a_group_as_one_row_with_their_number_as_weight():
    rng, k = np.random.default_rng(4), 60
    times, label = rng.integers(1, 6, k), np.arange(k) % 3
    proba = {model: rng.dirichlet([1, 1, 1], k) for model in "ab"}
    row, multi = np.repeat(np.arange(k), times), rs.multiclass
    repeated = multi.MulticlassPredictions(label[row], {m: p[row] for m, p in proba.items()}, groups=row)
    weighted = multi.MulticlassPredictions(label, proba, sample_weight=times, weights="sampling")
    costs = [
        multi.compare_multiclass_costs(rows, multi.CostMatrix.errors([0, 1, 2]))[0] for rows in (repeated, weighted)
    ]
    of_groups, of_rows = (test.difference.standard_error for test in costs)
    assert of_rows < of_groups < 1.1 * of_rows  # the jackknife's moves
    for test in (multi.compare_multiclass_auc(repeated)[0], costs[0]):
        t = test.difference.value / test.difference.standard_error
        assert test.p_value == pytest.approx(2 * stats.t.sf(abs(t), test.df), rel=1e-9)
        assert test.df < k


@pytest.mark.slow
@pytest.mark.parametrize("constant", [False, True])
def test_equal_models_with_an_effect_of_each_group_are_rejected_in_5_percent(constant):
    rng, group, p_values = np.random.default_rng(5), np.repeat(np.arange(40), 10), []
    for _ in range(500):
        label = (rng.random(40) < 0.4)[group] if constant else rng.random(400) < 0.4
        effects = [rng.normal(size=40)[group] for _ in range(3)]
        scores = {model: label + effect + rng.normal(size=400) for model, effect in zip("ab", effects, strict=False)}
        rows = rs.Predictions(label, scores, groups=group)
        chance = rs.inference.mann_whitney(rs.Predictions(label, effects[2] + rng.normal(size=400), groups=group))
        curves = rs.inference.compare_curves(rows, replicates=99, progress=False)
        p_values.append([rs.inference.mcnemar(rows, 0.5).p_value, chance.p_value, curves.p_value])
    size = (np.array(p_values) <= 0.05).mean(axis=0)
    assert (size <= 0.055 + 2 * np.sqrt(0.05 * 0.95 / 500)).all(), size


def test_repeats_are_no_new_data_whatever_the_groups():
    twice = {name: np.tile(column, 2) for name, column in SCORES.items()}
    repeated = rs.Predictions(np.tile(LABEL, 2), twice, row=np.tile(np.arange(N), 2), groups=np.tile(GROUP, 2))
    assert independent_units(repeated).max() + 1 == K
    assert independent_units(repeated, groups=False).max() + 1 == N
    assert f"{K} groups" in rs.auc_interval(repeated, model="a").method
    with pytest.raises(InputError, match=r"groups: expected the same group in all rows of a case, got \d+ rows"):
        rs.auc_interval(repeated, model="a", groups=np.arange(2 * N))


def test_evaluate_keeps_the_groups_that_it_split_by():
    X, patient = np.column_stack(list(SCORES.values())), np.roll(GROUP, 1)
    predictions = rs.evaluate(GaussianNB(), X, LABEL, cv=3, repeats=2, groups=patient, progress=False)
    assert predictions.groups.tolist() == patient[predictions.row].tolist()
    assert f"{K} groups" in rs.auc_interval(predictions).method
    assert rs.auc_interval(predictions, groups=False).method.endswith(
        f"{N} groups, pooled over 6 folds, for the average of their models, variance times 1.5 for shared training rows"
    )
    fitted = rs.evaluation.from_estimator(GaussianNB().fit(X, LABEL), X, LABEL, groups=patient)
    assert fitted.groups.tolist() == patient.tolist()


def test_recalibration_keeps_groups_in_one_fold():
    result = rs.calibration.recalibrate(GROUPED, "platt", cv=3)
    assert result.predictions.groups.tolist() == GROUP.tolist()
    codes = np.unique(GROUP, return_inverse=True)[1]
    folds = list(GroupKFold(3).split(LABEL, LABEL, codes))
    given = [rs.calibration.recalibrate(each, "platt", cv=folds).predictions.scores["a"] for each in (GROUPED, PLAIN)]
    assert given[0].tolist() == given[1].tolist()
    with pytest.raises(InputError, match="training and test groups without overlap"):
        rs.calibration.recalibrate(GROUPED, "platt", cv=KFold(3, shuffle=True, random_state=0))


def test_groups_stay_with_their_rows():
    preds = rs.Predictions(LABEL, SCORES, groups=GROUP, fold=np.arange(N) % 2, segment=LABEL)
    assert preds.select(LABEL == 1).groups.tolist() == GROUP[LABEL == 1].tolist()
    assert preds.by_fold()[1].groups.tolist() == GROUP[1::2].tolist()
    assert preds.by_segment()[0].groups.tolist() == GROUP[LABEL == 0].tolist()
    assert (preds.n_groups, preds.to_dict()["n_groups"], PLAIN.to_dict()["n_groups"]) == (K, K, None)
    several = rs.multiclass.MulticlassPredictions(
        np.arange(N) % 3, np.full((N, 3), 1 / 3), groups=GROUP, classes=[0, 1, 2]
    )
    assert several.binary(1).groups.tolist() == GROUP.tolist()
    assert several.select(LABEL == 1).groups.tolist() == GROUP[LABEL == 1].tolist()
    assert several.to_dict()["n_groups"] == K


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "groups: expected one entry per label"),
        ([None] * N, f"groups: .*got {N} missing values, the first in"),
    ],
)
def test_columns_that_are_no_groups(groups, message):
    with pytest.raises(InputError, match=message):
        rs.Predictions(LABEL, SCORES, groups=groups)


def test_read_takes_a_column_of_groups():
    table = {"y": LABEL, "patient": GROUP, **SCORES}
    read = rs.read(table, label="y", scores=["a", "b"], groups="patient")
    assert read.groups.tolist() == GROUP.tolist()
    assert rs.compare(read).to_dict() == rs.compare(GROUPED).to_dict()
    lacking = table | {"patient": [None, *GROUP[1:]]}
    with pytest.raises(InputError, match="groups 'patient' of the dict: expected a finite value in every row"):
        rs.read(lacking, label="y", scores=["a", "b"], groups="patient")
    assert len(rs.read(lacking, label="y", scores=["a", "b"], groups="patient", missing="drop")) == N - 1


@pytest.mark.parametrize(
    ("groups", "equal_in_group", "reason"),
    [(40, False, ""), (60, True, ""), (40, True, "only 2 groups expected above the threshold, fewer than 2.5")],
)
def test_a_part_of_a_curve_is_reliable_if_enough_groups_have_rows_outside(groups, equal_in_group, reason):
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(groups), 40)
    y = np.arange(group.size) % 2 == 0
    score = (rng.normal(size=groups)[group] if equal_in_group else rng.normal(size=group.size)) + y
    # At a fpr of .05, one negative in 20 is above the threshold: all rows of 2 or 3 groups, or rows of most groups.
    preds = rs.Predictions(y, {"a": score}, groups=group)
    figure = rs.inference.statistics.partial_area(max_fpr=0.05)
    found = rs.inference.estimate_of(preds, figure, model="a")
    assert found.reason == reason
