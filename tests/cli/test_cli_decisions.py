"""`rocscope choose` and `rocscope campaign` as their users type them."""

import json
import re
import shutil

import numpy as np
import pytest

import rocscope as rs
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
    assert code == 0
    assert err.startswith("Act on the 500 of 600 cases whose a score is 0.4 or more. Expect a cost per case of ")
    rows = [[cell.strip() for cell in line.strip("│ ").split("│")] for line in out.splitlines() if "│" in line]
    assert ["model", "a"] in rows
    assert ["positive if", "score >= 0.4"] in rows
    assert ["false positives", "2", "333", "200"] in rows
    assert ["this decision", "0.3333", "+0", "200"] in rows
    assert ["nobody positive", "5", "+4.667", "3,000"] in rows
    assert ["on the rows used for the choice", "0.3333"] in rows
    assert ["not reliable", "a class has 3 rows only, fewer than 10"] in rows
    assert any(row[0] == "expected cost per case" and "95% CI [" in row[1] for row in rows)


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
    assert content["interval"]["low"] <= content["interval"]["value"] <= content["interval"]["high"]
    assert set(content["interval"]["models"]) == {"a", "b"}


def test_the_saved_decision_predicts(run, scores, tmp_path):
    arguments = ("choose", scores, *COLUMNS, "--capacity", "1", "--population", "6", "-o", "decision.json")
    code, _, err = run(*arguments)
    assert (code, err.splitlines()[1:]) == (0, ["Decision: decision.json"])
    assert Decision.load(tmp_path / "decision.json").predict([0.9, 0.89]).tolist() == [True, False]
    code, _, err = run(*arguments)
    assert (code, "decision.json exists already" in err) == (2, True)
    code, out, _ = run(*arguments[:-1], "-")
    assert json.loads(out) == json.loads((tmp_path / "decision.json").read_text())


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("suffix", "extra"), [("svg", ()), ("png", ("--subject-to", "tpr >= 0.5")), ("pdf", ("--cost-tp", "9"))]
)
def test_choose_draws(run, scores, tmp_path, suffix, extra):
    code, _, err = run("choose", scores, *COLUMNS, *extra, "--plot", f"roc.{suffix}")
    assert (code, err.splitlines()[1:]) == (0, [f"Figure: roc.{suffix}"])
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"roc.{suffix}").read_bytes().startswith(start)


def test_a_figure_is_as_wide_as_a_column(run, scores, tmp_path):
    for width in ("85", "178"):
        assert run("choose", scores, *COLUMNS, "--plot", f"{width}.svg", "--plot-width", width)[0] == 0
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', (tmp_path / f"{width}.svg").read_text())
        assert float(box[1]) == pytest.approx(float(width) / 25.4 * 72, abs=0.01)
        assert float(box[2]) > 6 / 7 * float(box[1]), "no room for the legend"


def test_a_figure_for_latex_needs_one(run, scores, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    code, _, err = run("choose", scores, *COLUMNS, "--plot", "roc.pgf")
    assert (code, "(xelatex, lualatex, pdflatex) for a .pgf file, got no such program; write a .pdf" in err) == (
        2,
        True,
    )
    assert not (tmp_path / "roc.pgf").exists()


@pytest.mark.skipif(not shutil.which("xelatex"), reason="LaTeX is not installed")
def test_a_figure_for_latex(run, scores, tmp_path):
    assert run("choose", scores, *COLUMNS, "--plot", "roc.pgf")[0] == 0
    assert (tmp_path / "roc.pgf").read_text().startswith("%% Creator: Matplotlib, PGF backend")


def test_conditions_in_one_text(run, scores):
    options = ("--label", "y", "--score", "a", "--json", "--subject-to")
    code, out, _ = run("choose", scores, *options, ".5 <= Recall <= 1 and fpr < 50%")
    assert (code, json.loads(out)["subject_to"]) == (0, ["tpr >= 0.5", "tpr <= 1", "fpr < 0.5"])


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
        (("--subject-to", "lots"), "--subject-to: expected a text such as 'tpr >= 0.9', got 'lots'"),
        (("--population", "-5"), "population: expected a number of cases above 0, got -5.0"),
        (("--cost-fn", "nan"), "--cost-fn: expected a finite number, or the name of a column of the rows, got nan"),
        (("--target-prevalence", "5"), "--target-prevalence: expected a share above 0 and below 1, got 5.0; write 5%"),
        (("--criterion", "fun"), "criterion: expected one of 'fn', 'fnr', 'tpr', "),
        (("--plot", "roc.gif"), "--plot: expected a name that ends in one of .svg, .png, .pdf, .pgf, got roc.gif"),
        (
            ("--plot", "roc.svg", "--plot-width", "8"),
            "--plot-width: expected a width from 40 to 1000 millimetres, got 8",
        ),
        (("--cost-fp", "-1", "--cost-fn", "-1"), "which rewards errors of both kinds"),
        (("-o", "no/such/folder.json"), "expected an existing folder"),
    ],
)
def test_choose_refuses_in_one_line(run, scores, arguments, message):
    code, out, err = run("choose", scores, *COLUMNS, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_campaign_prints_the_table_of_the_paper(run, customers):
    code, out, err = run("campaign", customers, "--label", "y", "--score", "score", *CAMPAIGN)
    assert code == 0
    assert "0.1 │ 30.0% │      30.0% │ 3.000 │   100,000 │      3,000 │         97,000 │   15,000" in out
    assert "-570,000" in out
    assert re.search("probability that acting pays +│ 6", out)
    assert err.startswith("Contact the 100,000 customers whose score is 10 or more (10.00% of 1,000,000). Expect ")
    assert "; apparent 15,000). Acting pays with probability 6" in err


def test_campaign_of_several_models(run, scores, tmp_path):
    arguments = ("--population", "60", "--unit-cost", "1", "--unit-benefit", "4", "--steps", "3")
    code, out, _ = run("campaign", scores, *COLUMNS, *arguments, "--json", "--plot", "profit.svg")
    content = json.loads(out)
    assert [offer["model"] for offer in content["offers"]] == ["a", "b"]
    assert (code, content["best"]["best"]["profit"], len(content["table"])) == (0, 70, 4)
    assert content["interval"]["apparent"] == 70
    assert (tmp_path / "profit.svg").read_text().startswith("<svg")
    _, out, _ = run("campaign", scores, *COLUMNS, *arguments)
    assert "of a perfect model" in out


@pytest.fixture
def clients(tmp_path):
    """A thousand customers with three scores, whose identifiers are no row numbers."""
    score = np.repeat([5, 4, 3], [200, 400, 400])
    label = np.concatenate([[1] * pos + [0] * (n - pos) for pos, n in ((60, 200), (80, 400), (10, 400))])
    rows = [f"c{i * 7919 % 1000:03},{y},{s}" for i, (y, s) in enumerate(zip(label, score, strict=True))]
    path = tmp_path / "clients.csv"
    path.write_text("client,y,score\n" + "\n".join(rows) + "\n")
    return path, {row[:4]: int(row[-1]) for row in rows}


MAILING = ("--population", "1000", "--unit-cost", "1", "--unit-benefit", "10", "--capacity", "300")


def test_campaign_writes_the_list_of_the_customers_to_contact(run, clients, tmp_path):
    path, score = clients
    arguments = (
        "campaign",
        path,
        "--label",
        "y",
        "--score",
        "score",
        *MAILING,
        "--id",
        "client",
        "--select",
        "out.csv",
    )
    code, _, err = run(*arguments)
    assert (code, err.splitlines()[1]) == (0, "List of 300 customers: out.csv")
    heading, *chosen = (tmp_path / "out.csv").read_text().replace('"', "").split()
    assert (heading, len(set(chosen))) == ("client", 300)
    assert [score[each] for each in chosen] == [5] * 200 + [4] * 100
    code, _, err = run(*arguments)
    assert (code, "out.csv exists already" in err) == (2, True)
    run(*arguments, "--force")
    assert (tmp_path / "out.csv").read_text().replace('"', "").split() == [heading, *chosen]
    run(*arguments, "--force", "--random-state", "1")
    assert (tmp_path / "out.csv").read_text().replace('"', "").split() != [heading, *chosen]
    code, _, err = run(*arguments[:-4], "--select", "other.csv")
    assert (code, err) == (
        2,
        "rocscope: --select: expected --id with the column of customer identifiers, got no --id\n",
    )


def test_choose_draws_lots_where_asked_and_says_what_they_would_save(run, clients):
    path, _ = clients
    costs = ("--cost-fn", "0", "--cost-tp", "-9")
    arguments = ("choose", path, "--label", "y", "--score", "score", *costs, "--capacity", "150")
    _, out, _ = run(*arguments)
    assert "best randomised rule (--randomized) │     -0.3" in out
    _, out, _ = run(*arguments, "--randomized")
    assert "0.25 × nobody + 0.75 × score≥5 of score" in out
    assert re.search("positive if +│ 0.25 × nobody", out)


def test_choose_with_a_third_action(run, clients, tmp_path):
    path, _ = clients
    costs = ("--cost-fn", "30", "--cost-fp", "10", "--review-cost", "3", "--review-capacity", "100")
    arguments = ("choose", path, "--label", "y", "--score", "score", *costs)
    code, out, _ = run(*arguments, "-o", "decision.json")
    assert code == 0
    assert re.search("positive if +│ 0.5 × nobody", out)
    assert "score≥5 of score" in out
    said = Decision.load(tmp_path / "decision.json").predict(np.repeat([5, 4, 3], [200, 400, 400]))
    assert (said == "review").sum() == 100
    # Nobody is predicted positive without a review if reviews are nearly free.
    _, out, _ = run(*arguments[:6], "--cost-fn", "100", "--cost-fp", "100", "--review-cost", "0.1")
    assert re.search("positive if +│ nobody ", out)
    assert re.search("otherwise review if +│ everybody ", out)
    code, _, err = run(*arguments[:-4], "--review-capacity", "9")
    assert (code, err) == (
        2,
        "rocscope: --review-capacity: expected --review-cost in the same command, got no --review-cost\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--population", "-4", "--unit-cost", "1", "--unit-benefit", "2"),
            "population: expected a number of customers",
        ),
        (("--population", "4", "--unit-cost", "-1", "--unit-benefit", "2"), "--unit-cost: expected an amount"),
        ((*CAMPAIGN, "--response-rate", "0"), "--response-rate: expected a share above 0 and below 1"),
    ],
)
def test_campaign_refuses_in_one_line(run, scores, arguments, message):
    code, out, err = run("campaign", scores, *COLUMNS, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_half_is_shown_only_where_it_is_a_threshold_of_the_scores(run, tmp_path):
    rows = [(1, 0.9), (0, 0.4), (1, 0.6), (0, 0.7)]
    for name, factor in (("chances.csv", 1), ("points.csv", 100)):
        (tmp_path / name).write_text("y,a\n" + "".join(f"{label},{score * factor}\n" for label, score in rows))
        shown = factor == 1
        for command in ("summary", "choose"):
            _, out, err = run(command, name, "--label", "y", "--score", "a")
            assert ("threshold 0.5" in out, " at 0.5)" in err) == (
                (shown, False) if command == "choose" else (False, shown)
            )
        page = run("report", name, "--label", "y", "--score", "a", "-o", "-")[1]
        assert (" at 0.5)" in page) == shown


def test_an_area_below_one_half_has_a_hint_and_is_not_turned(run, tmp_path):
    (tmp_path / "turned.csv").write_text("y,a,b\n1,.1,.9\n0,.4,.1\n1,.6,.8\n0,.7,.3\n1,.2,.7\n0,.9,.2\n")
    hint = "a: AUC 0.1111 (below 1/2: do lower scores mean positive?)"
    columns = ("turned.csv", "--label", "y", "--score", "a", "--score", "b")
    for command in ("summary", "compare"):
        code, out, err = run(command, *columns)
        assert (code, hint in err, "b: AUC" in err, "0.1111" in out) == (0, True, False, True)
    assert hint in run("report", *columns, "-o", "-")[1]
    curve = rs.roc([1, 0, 1, 0, 1, 0], [0.1, 0.4, 0.6, 0.7, 0.2, 0.9])
    assert repr(curve).startswith("RocCurve(auc=0.111111 (below 1/2: do lower scores mean positive?), n_pos=3")
    assert repr(rs.ranges.BinnedCounts.from_counts(curve.counts)).endswith(
        "auc=0.111111 (below 1/2: do lower scores mean positive?))"
    )
    assert "below" not in repr(rs.roc([1, 0], [0.9, 0.1]))


@pytest.fixture
def payments(tmp_path):
    path = tmp_path / "payments.csv"
    amount = [500, 3, 40, 7, 120.5, 60, 8, 3.5]
    rows = zip([1, 1, 0, 0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], amount, strict=True)
    path.write_text("y,s,amount\n" + "".join(f"{y},{s},{a}\n" for y, s, a in rows))
    return path


def test_costs_that_are_columns(run, payments, tmp_path):
    columns = ("choose", payments, "--label", "y", "--score", "s", "--cost-fn", "amount", "--cost-fp", "5")
    code, out, err = run(*columns, "--cost-tp", "5", "-o", "d.json", "--plot", "roc.svg")
    assert (code, err.splitlines()[1:]) == (0, ["Decision: d.json", "Figure: roc.svg"])
    assert "amounts may have no finite mean" in out
    rows = [[cell.strip() for cell in line.strip("│ ").split("│")] for line in out.splitlines() if "│" in line]
    assert ["positive if", "score >= 0.5"] in rows
    assert ["this decision", "3.562", "+0"] in rows, "five are stopped, and 3.5 is lost"
    assert ["note", "acting on a positive loses in 2 of 8 rows"] in rows
    assert Decision.load(tmp_path / "d.json").context.cost_fn == "amount"
    code, out, err = run("verify", "d.json", payments, "--label", "y", "--score", "s")
    assert (code, out.startswith("Verified: "), err) == (0, True, ""), "the note is made again"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("choose", "--cost-fn", "amont"), "payments.csv: expected one of 'y', 's', 'amount' (did you mean"),
        (("choose", "--cost-fn", "amount", "--negate"), "--negate: expected costs that are the same in every row"),
        (("choose", "--cost-fn", "amount", "--memory", "1 GB"), "--memory: expected costs that are the same"),
        (("choose", "--cost-fn", "amount", "--randomized"), "--randomized: expected a context with equal costs"),
        (
            ("report", "--cost-fn", "amount"),
            "--cost-fn: expected a number, got the column 'amount'; enter a number, because",
        ),
        (
            ("summary", "--cost-tp", "amount"),
            "--cost-tp: expected a number, got the column 'amount'; enter a number, because",
        ),
        (
            ("compare", "--cost-fn", "amount"),
            "--cost-fn: expected a number, got the column 'amount'; enter a number, because",
        ),
    ],
)
def test_costs_that_are_columns_are_refused_where_they_cannot_be_taken(run, payments, arguments, words):
    command, *options = arguments
    code, out, err = run(command, payments, "--label", "y", "--score", "s", *options)
    assert (code, out) == (2, "")
    assert words in err


def test_a_campaign_whose_responses_bring_a_column(run, payments, tmp_path):
    arguments = ("campaign", payments, "--label", "y", "--score", "s", "--population", "8", "--unit-cost", "5")
    code, out, err = run(*arguments, "--unit-benefit", "amount", "--select", "out.csv", "--id", "s", "--steps", "2")
    assert code == 0, "five are contacted for 25; three of them bring 500, 3 and 120.5"
    assert "5 customers whose s score is 0.5 or more (62.50% of 8). Expect 3 responders and a profit of " in err
    assert "; apparent 600)" in err, "598.5, to two digits of the width of the interval"
    assert (tmp_path / "out.csv").read_text().split() == ['"s"', "0.9", "0.8", "0.7", "0.6", "0.5"]
    assert all(f" {profit} " in out for profit in (483, 587)), "of four and of all eight"
    code, _, err = run(*arguments, "--unit-benefit", "margin")
    assert (code, "--unit-benefit (a number or a column) of" in err) == (2, True)


def test_campaign_is_spread_over_segments(run, clients, tmp_path):
    path, score = clients
    lines = path.read_text().splitlines()
    rows = [f"{line},{'north' if i % 3 else 'south'}" for i, line in enumerate(lines[1:])]
    (tmp_path / "branches.csv").write_text("\n".join([f"{lines[0]},branch", *rows]) + "\n")
    columns = ("--label", "y", "--score", "score", "--segment", "branch")
    arguments = ("campaign", "branches.csv", *columns, *MAILING)
    code, out, err = run(*arguments, "--id", "client", "--select", "out.csv")
    assert code == 0
    assert err.splitlines()[0].startswith("Act on 300 cases (")
    assert err.splitlines()[1] == "List of 300 customers: out.csv"
    assert "│ north   │ " in out
    chosen = (tmp_path / "out.csv").read_text().replace('"', "").split()[1:]
    assert len(set(chosen)) == 300
    assert all(score[each] >= 4 for each in chosen)
    code, out, _ = run(*arguments, "--max-difference", "depth=0", "--json", "--memory", "1 GB")
    content = json.loads(out)
    assert (code, content["max_difference"]) == (0, {"depth": 0.0})
    assert [each["depth"] for each in content["segments"]] == pytest.approx([0.3, 0.3])
    _, _, err = run(*arguments, "--max-difference", "depth=0")
    assert "\nThe constraints on segments reduce the profit in the sample by " in err
    code, out, _ = run(*arguments, "--subject-to", "cases >= 150", "--json")
    assert (code, [segment["cases"] for segment in json.loads(out)["segments"]]) == (0, pytest.approx([150, 150]))
    for wrong, message in (
        (("--max-difference", "depth"), "--max-difference: expected a rate and a number"),
        (("--max-difference", "size=1"), "--max-difference: expected "),
        (("--budget", "5"), "--budget: expected a capacity or a budget, got both"),
        (("--plot", "x.svg"), "--plot and --segment: expected only one of these options, got both"),
    ):
        code, _, err = run(*arguments, *wrong)
        assert (code, err.count("\n")) == (2, 1)
        assert message in err, err
    code, _, err = run("campaign", path, "--label", "y", "--score", "score", *MAILING, "--subject-to", "tpr >= 0.2")
    assert (code, err) == (2, "rocscope: --subject-to: expected --segment in the same command, got no --segment\n")
