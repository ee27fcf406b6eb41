"""`rocscope choose` and `rocscope campaign` as their users type them."""

import json

import numpy as np
import pytest

from rocscope import Decision

COLUMNS = ("--label", "y", "--score", "a", "--score", "b")


@pytest.fixture
def customers(tmp_path):
    """The sample of the paper's mail campaign: ten deciles of customers, a hundredth of whom respond."""
    found = [30, 20, 15, 13, 7, 5, 4, 4, 2, 0]
    label = np.concatenate([[1] * pos + [0] * (1000 - pos) for pos in found])
    score = np.repeat(np.arange(10, 0, -1), 1000)
    path = tmp_path / "customers.csv"
    path.write_text("y,score\n" + "".join(f"{y},{s}\n" for y, s in zip(label, score, strict=True)))
    return path


CAMPAIGN = ("--population", "1e6", "--unit-cost", "1", "--unit-benefit", "45", "--fixed-cost", "20000")


def test_choose_prints_decision_counts_and_costs(run, scores):
    code, out, err = run("choose", scores, *COLUMNS, "--cost-fn", "10", "--population", "600")
    assert (code, err) == (0, "")
    rows = [[cell.strip() for cell in line.strip("│ ").split("│")] for line in out.splitlines() if "│" in line]
    assert ["model", "a"] in rows
    assert ["positive iff", "score >= 0.4"] in rows
    assert ["false positives", "2", "333.333", "200"] in rows
    assert ["this decision", "0.333333", "+0", "200"] in rows
    assert ["nobody positive", "5", "+4.667", "3,000"] in rows


def test_choose_json_is_the_decision(run, scores):
    code, out, _ = run("choose", scores, *COLUMNS, "--criterion", "f1", "--subject-to", "fpr <= 0.4", "--json")
    content = json.loads(out)
    assert (code, content["command"], content["criterion"], content["subject_to"]) == (
        0,
        "choose",
        "f1",
        ["fpr <= 0.4"],
    )
    assert (content["model"], content["threshold"]) == ("a", 0.6)


def test_the_saved_decision_predicts(run, scores, tmp_path):
    arguments = ("choose", scores, *COLUMNS, "--at-most", "1", "--population", "6", "-o", "decision.json")
    code, _, err = run(*arguments)
    assert (code, err) == (0, "Decision: decision.json\n")
    assert Decision.load(tmp_path / "decision.json").predict([0.9, 0.89]).tolist() == [True, False]
    code, _, err = run(*arguments)
    assert (code, "decision.json exists already" in err) == (2, True)
    code, out, _ = run(*arguments[:-1], "-")
    assert json.loads(out) == json.loads((tmp_path / "decision.json").read_text())


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
@pytest.mark.parametrize("extra", [(), ("--subject-to", "tpr >= 0.5"), ("--cost-tp", "9")])
def test_choose_draws(run, scores, tmp_path, suffix, extra):
    code, _, err = run("choose", scores, *COLUMNS, *extra, "--plot", f"roc.{suffix}")
    assert (code, err) == (0, f"Figure: roc.{suffix}\n")
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"roc.{suffix}").read_bytes().startswith(start)


def test_a_model_below_the_diagonal_negated(run, scores):
    _, out, _ = run("choose", scores, "--label", "y", "--score", "b", "--negate", "--json")
    content = json.loads(out)
    assert (content["negated"], content["rule"]) == (True, "score < threshold")


def test_a_trivial_decision_says_so(run, scores):
    code, out, _ = run("choose", scores, *COLUMNS, "--cost-fp", "0")
    assert code == 0
    assert "trivial: at these costs all positive is right whatever the scores" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--subject-to", "tpr >= 2"), "no threshold of any model satisfies tpr >= 2; the highest tpr is 1 (a at 0.4)"),
        (("--subject-to", "lots"), "constraint: expected a text such as 'tpr >= 0.9', got 'lots'"),
        (("--population", "-5"), "population: expected a number of cases above 0, got -5.0"),
        (("--cost-fn", "nan"), "cost_fn: expected a finite number, got nan"),
        (("--target-prevalence", "5"), "target_prevalence: expected a share between 0 and 1, got 5.0; write 5 %"),
        (("--criterion", "fun"), "criterion: expected one of 'min_cost', "),
        (("--plot", "roc.gif"), "--plot: expected a name that ends in one of .svg, .png, .pdf, got roc.gif"),
        (("--cost-fp", "-1", "--cost-fn", "-1"), "which rewards errors of both kinds"),
        (("-o", "no/such/folder.json"), "expected a folder that exists"),
    ],
)
def test_choose_refuses_in_one_line(run, scores, arguments, message):
    code, out, err = run("choose", scores, *COLUMNS, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_campaign_prints_the_table_of_the_paper(run, customers):
    code, out, err = run("campaign", customers, "--label", "y", "--score", "score", *CAMPAIGN)
    assert code == 0
    assert "0.1 │ 30.0% │      30.0% │ 3.000 │   100,000 │      3,000 │  97,000 │   15,000" in out
    assert "-570,000" in out
    assert err == (
        "Contact the 100,000 customers (10.00%) that score scores 10 or more: 3,000 responders, profit 15,000.\n"
    )


def test_campaign_of_several_models(run, scores, tmp_path):
    arguments = ("--population", "60", "--unit-cost", "1", "--unit-benefit", "4", "--steps", "3")
    code, out, _ = run("campaign", scores, *COLUMNS, *arguments, "--json", "--plot", "profit.svg")
    content = json.loads(out)
    assert [offer["model"] for offer in content["offers"]] == ["a", "b"]
    assert (code, content["best"]["best"]["profit"], len(content["table"])) == (0, 70, 4)
    assert (tmp_path / "profit.svg").read_text().startswith("<svg")
    _, out, _ = run("campaign", scores, *COLUMNS, *arguments)
    assert "of a perfect model" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--population", "-4", "--unit-cost", "1", "--unit-benefit", "2"),
            "population: expected a number of customers",
        ),
        (("--population", "4", "--unit-cost", "-1", "--unit-benefit", "2"), "unit_cost: expected an amount"),
        ((*CAMPAIGN, "--response-rate", "0"), "response_rate: expected a share between 0 and 1"),
    ],
)
def test_campaign_refuses_in_one_line(run, scores, arguments, message):
    code, out, err = run("campaign", scores, *COLUMNS, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
