"""The card of the decision: the range of its cost, how sure it is, and who is acted on, looked at and left."""

import re

import numpy as np
import pytest

import rocscope as rs
from report_browser import opened, predictions
from rocscope.errors import InputError
from rocscope.report import model as card
from rocscope.report.model import report_data
from rocscope.report.page import render

PREDS = predictions(rows=400, decimals=2)
CONTEXT = rs.Context(cost_fn=3)


def shown(predictions, context=CONTEXT, **options):
    data = report_data(predictions, context=context, **options)
    assert data.decided is not None
    tables = dict(data.decided.tables(data.decision))
    return data, tables, " ".join(data.decided.captions(data.decision))


def test_the_card_draws_what_the_decision_knows():
    data, tables, said = shown(PREDS)
    decision = rs.choose(PREDS, CONTEXT)
    interval = decision.on_new_cases
    assert data.decided.interval == interval
    costs = [interval.value, decision.expected_cost, decision.treat_all_cost]
    low, high = interval.low, interval.high
    ends = min(low, *costs), max(high, *costs)
    first, *others = tables["Expected cost per case"]
    drawn = [first.low, first.high, first.at, *(bar.at for bar in others)]
    assert drawn == pytest.approx(np.interp([low, high, *costs], ends, (4, 96)))
    assert [bar.what for bar in others] == ["on the rows used for the choice", "everybody positive"], (
        "nobody is further off"
    )
    assert first.says == "{} [{}, {}]".format(*interval.rounded)
    chances = {bar.what: bar.high for bar in tables["Probability that"]}
    assert chances == {f"{model} is the best": 100 * p for model, p in interval.models.items()} | {
        "acting pays": 100 * interval.acting
    }
    assert f"Regret, relative to the best choice: {interval.doubts['regret, relative to the best choice']}." in said
    assert interval.words in repr(interval)


@pytest.mark.every(3)
@pytest.mark.parametrize("capacity", [None, 15, 60])
def test_zones_are_as_wide_as_what_is_predicted(capacity):
    review = rs.Review(0.4, capacity)
    data, tables, said = shown(PREDS, review=review)
    decision = rs.choose(PREDS, CONTEXT, review=review)
    predicted = decision.predict(PREDS)
    bars = tables["Share of cases to"]
    assert [bar.what.split(":")[0] for bar in bars] == ["act", "review", "leave"]
    for bar, action in zip(bars, ("act", "review", "leave"), strict=True):
        assert bar.high - bar.low == pytest.approx(100 * np.mean(predicted == action), abs=0.26)  # whole cases
    assert [bars[0].low, bars[0].high, bars[1].high, bars[2].high] == [0, bars[1].low, bars[2].low, 100]
    assert f"the cost per case is {decision.expected_cost:.4g} instead of {data.decision.expected_cost:.4g}." in said
    assert data.decision == rs.choose(PREDS, CONTEXT), "the page goes on without it"


@pytest.mark.parametrize(
    ("highest", "context", "what"),
    [
        (0.3, CONTEXT, ["act: score ≥ 0.4", "leave: all others"]),
        (0.6, rs.Context(cost_fp=1000), ["act: nobody", "leave: everybody"]),
        (0.6, rs.Context(cost_fp=0, cost_tn=1), ["act: everybody"]),
    ],
)
def test_without_a_review_some_are_acted_on_and_the_others_left(highest, context, what):
    preds = rs.Predictions(np.tile([1, 1, 1, 0, 0, 0], 9), np.tile([0.5, 0.4, 0.5, 0.3, 0.2, highest], 9))
    _, tables, _ = shown(preds, context)
    assert [bar.what for bar in tables["Share of cases to"]] == what


def test_what_cannot_be_said_is_left_out_and_why(monkeypatch):
    weighted = rs.ThresholdCounts([0.9, 0.5, 0.1], [2.5, 1.5, 0.5], [0.5, 1.5, 3.5])
    _, tables, said = shown(weighted, review=rs.Review(100))
    assert list(tables) == ["Share of cases to"]
    assert "There is no interval: " in said
    assert "pass the rows instead: Predictions" in said
    assert "No case is worth a review at a cost of 100." in said
    assert "no interval above 200,000 rows" in shown(PREDS, detailed=False)[2]
    monkeypatch.setattr(card, "MOST_ROWS", 399)
    assert "no interval above 200,000 rows" in shown(PREDS)[2]
    few = rs.Predictions([1, 0, 1, 0, 1, 1], [6, 5, 4, 3, 2, 1])
    assert "Not reliable: a class has 2 rows only, fewer than 10." in shown(few)[2]


def test_more_than_two_classes_have_no_review():
    classes = rs.multiclass.MulticlassPredictions(["a", "b", "c"] * 4, np.full((12, 3), 1 / 3), classes=["a", "b", "c"])
    with pytest.raises(InputError, match=r"^review: expected None for more than two classes, got"):
        rs.Report(classes, review=rs.Review(1))
    assert 'id="decision"' not in rs.Report(classes).html


def test_names_are_text_and_the_policy_holds_for_the_card():
    hostile = rs.Predictions(PREDS.y_true, {"<b>": PREDS.scores["model 1"], "</table>": PREDS.scores["model 2"]})
    (found,) = re.findall(r'<section class="card wide" id="decision">.*?</section>', render(report_data(hostile)), re.S)
    assert "&lt;/table&gt; is the best" in found
    assert "<b>" not in found
    assert not re.search(r"\s(style|on\w+)=|<(script|style|img|a)\b", found)


def test_the_page_has_it_among_its_cards_and_readers_without_scripts_too(chromium, tmp_path):
    report = rs.Report(PREDS, context=CONTEXT, review=rs.Review(0.4, 60))
    with opened(chromium, report, tmp_path) as page:
        texts = page.page.locator("main .grid #decision tbody th").all_text_contents()
        first, dot = (page.page.locator(f"#decision {each}").first.bounding_box() for each in ("rect", "circle"))
        assert first["x"] < dot["x"] + dot["width"] / 2 < first["x"] + first["width"]
        assert page.messages == []
    tables = report.data.decided.tables(report.data.decision)
    assert texts == [bar.what for _, bars in tables for bar in bars]
    plain = chromium.new_context(java_script_enabled=False).new_page()
    plain.goto(page.path.as_uri())
    assert plain.locator("#decision tbody th").all_text_contents() == texts


def test_the_command_line_offers_a_look(run, scores, tmp_path):
    columns = (scores, "--label", "y", "--score", "a")
    code, _, err = run("report", *columns, "--review-cost", "0.1", "--review-capacity", "2")
    assert code == 0, err
    assert "review: 0.3333 × score≥0.6 of a + 0.6667 × score≥0.4 of a" in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )
    code, _, err = run("report", *columns, "--review-capacity", "2", "--force")
    assert (code, err) == (
        2,
        "rocscope: --review-capacity: expected --review-cost in the same command, got no --review-cost\n",
    )
