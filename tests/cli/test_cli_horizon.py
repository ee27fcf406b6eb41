"""--time, --event and --horizon: commands on censored follow-up say what Python says of the rows at the horizon."""

import json

import numpy as np
import pandas as pd
import pytest

import rocscope as rs
from outcome_cases import cohort

TIME, EVENT, SCORES = cohort(12, 500, competing=True)
AT = ("--time", "years", "--event", "status", "--horizon", "0.6", "--score", "a", "--score", "b")
ROWS = rs.outcomes.at_horizon(TIME, EVENT, SCORES, 0.6)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    rows = zip(TIME.tolist(), EVENT.tolist(), *(score.tolist() for score in SCORES.values()), strict=True)
    path.write_text("years,status,a,b\n" + "".join(f"{','.join(map(repr, row))}\n" for row in rows))
    return path


def test_summary_choose_and_report(run, table, tmp_path):
    code, out, _ = run("summary", table, *AT, "--json")
    found = json.loads(out)
    expected = rs.auc_interval(ROWS, model="a")
    model = next(each for each in found["models"] if each["name"] == "a")
    assert code == 0 and model["auc"]["half"] == pytest.approx(expected.value, rel=1e-12)
    assert model["auc_interval"]["low"] == pytest.approx(expected.low, rel=1e-9)
    code, out, _ = run("choose", table, *AT, "--cost-fn", "4", "--json")
    decision = rs.choose(ROWS, rs.Context(cost_fn=4))
    assert code == 0 and json.loads(out)["threshold"] == decision.threshold
    assert run("report", table, *AT, "-o", tmp_path / "report.html")[0] == 0


def test_compare_tests_at_the_horizon(run, table):
    code, out, _ = run("compare", table, *AT, "--json")
    pair = json.loads(out)["auc"]["pairs"][0]
    assert code == 0 and pair["p_value"] == pytest.approx(rs.compare(ROWS)["a", "b"].p_value, rel=1e-9)


@pytest.mark.parametrize("codes", [(1, 2, 3), ("alive", "dead", "other"), (False, True, None)])
def test_event_codes_say_which_value_is_which(run, table, codes):
    """Numbers, texts and booleans, in files and in memory."""
    competing = codes[2] is not None
    event = EVENT if competing else np.minimum(EVENT, 1)
    columns = {"years": TIME, "status": np.array(codes, object if competing else bool)[event], **SCORES}
    frame = pd.DataFrame(columns)
    frame["status"] = frame["status"].infer_objects()
    frame.to_csv(table, index=False)
    given = [code for code in codes if code is not None]
    code, out, _ = run("summary", table, *AT, "--json", "--event-codes", ",".join(map(str, given)))
    expected = rs.auc(rs.outcomes.at_horizon(TIME, event, SCORES, 0.6), model="a")
    model = next(each for each in json.loads(out)["models"] if each["name"] == "a")
    assert code == 0 and model["auc"]["half"] == pytest.approx(expected, rel=1e-12)
    options = {"time": "years", "event": "status", "horizon": 0.6, "scores": ["a", "b"], "event_codes": given}
    assert rs.auc(rs.engines.read_at_horizon(frame, **options), model="a") == expected


def test_folds_of_a_follow_up(run, table):
    rows = rs.engines.read_at_horizon(
        {"years": TIME, "status": EVENT, "part": np.arange(500) % 2, **SCORES},
        time="years",
        event="status",
        horizon=0.6,
        scores=["a", "b"],
        fold="part",
    )
    np.testing.assert_array_equal(rows.fold, np.arange(500) % 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (AT[:4], "expected all three options, got no --horizon"),
        ((*AT, "--label", "a"), "expected no --label"),
        ((*AT, "--event-codes", "1,2"), "only the event_codes 1, 2, got other values: 0"),
        (("--label", "status", "--event-codes", "1,2"), "--event-codes: expected --event"),
        (("--time", "yeers", *AT[2:]), "years"),
        ((*AT[:4], "--horizon", "99", *AT[6:]), "use --horizon 4.286 or less"),
    ],
)
def test_what_is_wrong_is_one_line(run, table, arguments, said):
    code, out, err = run("summary", table, *arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1


def test_covariates_of_censoring_are_columns(run, table):
    age = np.random.default_rng(0).normal(size=TIME.size)
    pd.read_csv(table).assign(age=age).to_csv(table, index=False)
    code, out, _ = run("summary", table, *AT, "--json", "--censoring", "age")
    expected = rs.auc(rs.outcomes.at_horizon(TIME, EVENT, SCORES, 0.6, censoring={"age": age}), model="a")
    model = next(each for each in json.loads(out)["models"] if each["name"] == "a")
    assert code == 0 and model["auc"]["half"] == pytest.approx(expected, rel=1e-12)
    assert expected != rs.auc(ROWS, model="a")
