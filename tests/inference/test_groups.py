"""Groups are a fact of the rows: what is given with the Predictions is as good as what is given with each call."""

import warnings

import numpy as np
import pytest
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
    with pytest.raises(PairingError, match="expected the same groups, got others in row 0"):
        rs.compare({"a": arms(GROUP)["a"], "b": arms(GROUP[::-1])["b"]}, paired=True)
    with pytest.raises(PairingError, match="expected a group in both or in neither"):
        rs.compare({"a": arms(GROUP)["a"], "b": arms(None)["b"]}, paired=True)


def test_a_group_in_both_of_two_samples_is_found_in_the_rows():
    odd = np.arange(N) % 2 == 1
    arms = {name: GROUPED.select(rows, models=[name]) for name, rows in (("a", odd), ("b", ~odd))}
    with pytest.raises(PairingError, match=f"each group in one arm only, got {K} in both, such as 'patient 0'"):
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


INDEPENDENT = {
    "mann_whitney": lambda p: rs.inference.mann_whitney(p.select(models=["a"])),
    "mcnemar": lambda p: rs.inference.mcnemar(p, 0.5),
    "compare_curves": lambda p: rs.inference.compare_curves(p, **QUICK),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_what_knows_no_groups_says_so(name):
    with pytest.warns(RocscopeWarning, match="treats rows as independent and ignores groups"):
        found = INDEPENDENT[name](GROUPED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = INDEPENDENT[name](rs.Predictions(LABEL, SCORES, groups=np.arange(N)))
        plain = INDEPENDENT[name](PLAIN)
    assert found.p_value == alone.p_value == plain.p_value


def test_repeats_are_no_new_data_whatever_the_groups():
    twice = {name: np.tile(column, 2) for name, column in SCORES.items()}
    repeated = rs.Predictions(np.tile(LABEL, 2), twice, row=np.tile(np.arange(N), 2), groups=np.tile(GROUP, 2))
    assert independent_units(repeated).max() + 1 == K
    assert independent_units(repeated, groups=False).max() + 1 == N
    assert f"{K} groups" in rs.auc_interval(repeated, model="a").method
    with pytest.raises(InputError, match=r"groups: expected all entries of a case in one group, got \d+ entries"):
        rs.auc_interval(repeated, model="a", groups=np.arange(2 * N))


def test_evaluate_keeps_the_groups_that_it_split_by():
    X, patient = np.column_stack(list(SCORES.values())), np.roll(GROUP, 1)
    predictions = rs.evaluate(GaussianNB(), X, LABEL, cv=3, repeats=2, groups=patient, progress=False)
    assert predictions.groups.tolist() == patient[predictions.row].tolist()
    assert f"{K} groups" in rs.auc_interval(predictions).method
    assert rs.auc_interval(predictions, groups=False).method.endswith(
        f"{N} groups, pooled over 6 folds, shared training rows not counted"
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
    with pytest.raises(InputError, match="groups in both"):
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
    [([1, 2], "groups: expected one entry per label"), ([None] * N, f"groups: .*got {N} missing, the first in row 0")],
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
    with pytest.raises(InputError, match="groups 'patient' of dict of columns: expected a finite value in every row"):
        rs.read(lacking, label="y", scores=["a", "b"], groups="patient")
    assert len(rs.read(lacking, label="y", scores=["a", "b"], groups="patient", missing="drop")) == N - 1
