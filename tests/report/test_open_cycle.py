"""A marketer's cycle on the open page, without Python: pilot, plan, next list, answers, in at most twelve clicks."""

import csv

import numpy as np
import pytest

import rocscope as rs
from marketing_cases import EXPORTS, export
from report_open import open_page_offline as open_page_offline

MOST_CLICKS = 12


class Marketer:
    """A person at the page, whose clicks are counted."""

    def __init__(self, page):
        self.page = page.page
        self.download = page.download
        self.clicks = 0
        self.page.goto("about:blank")
        self.page.goto(page.path.as_uri())

    def click(self, selector):
        self.clicks += 1
        self.page.click(selector)

    def choose(self, *files):
        self.clicks += 1
        with self.page.expect_file_chooser() as chosen:
            self.page.click("#choose")
        chosen.value.set_files([str(file) for file in files])

    def save(self, selector):
        self.clicks += 1
        return self.download(selector)

    def type(self, field, *values):
        """Type values into a field and the next ones."""
        self.click(field)
        for value in values:
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(str(value))
            self.page.keyboard.press("Tab")

    def figures(self):
        self.page.wait_for_selector("#plan dl dd")
        terms = self.page.locator("#plan dl dt").all_text_contents()
        return dict(zip(terms, self.page.locator("#plan dl dd").all_text_contents(), strict=True))


@pytest.mark.every(2)
@pytest.mark.parametrize("country", EXPORTS)
def test_a_marketers_cycle_takes_at_most_twelve_clicks(page, run, tmp_path, country):
    kind = EXPORTS[country]
    export(tmp_path / "pilot.csv", kind, seed=1)
    export(tmp_path / "next.csv", kind, seed=2, known=False)
    scores, bought = export(tmp_path / "answers.csv", kind, seed=2)
    marketer = Marketer(page)
    marketer.choose(tmp_path / "pilot.csv")
    marketer.page.wait_for_selector("#show:not([disabled])")
    marketer.click("#show")
    marketer.page.wait_for_selector("#models tbody tr.best")
    marketer.click("#details > summary")
    marketer.type("#population", 400, 100, 2, 9)  # population, capacity, cost of a contact, benefit of a response
    marketer.page.wait_for_function("document.querySelector('#unit-benefit').value === '9'")
    (tmp_path / "plan.json").write_bytes(marketer.save("text=Save decision").read_bytes())
    marketer.click("text=Change columns or file")
    marketer.choose(tmp_path / "plan.json", tmp_path / "next.csv")
    assert "Responses" not in marketer.figures()
    drawn = marketer.save("#save-list").read_text(encoding="utf-8")
    marketer.choose(tmp_path / "plan.json", tmp_path / "answers.csv")
    marketer.page.wait_for_selector("#plan dt:text-is('Responses')")
    figures = marketer.figures()
    assert marketer.clicks <= MOST_CLICKS
    print(country, marketer.clicks, figures)

    # The command line needs no options for the same plan, and agrees.
    code, _, err = run("verify", tmp_path / "plan.json", tmp_path / "pilot.csv")
    assert code == 0, err
    plan = rs.load_plan(tmp_path / "plan.json")
    assert plan.context.cost_fp == 2 and plan.context.cost_fn == 7
    acted = np.flatnonzero(scores >= plan.threshold)
    ranked = acted[np.argsort(-scores[acted], kind="stable")]
    assert 50 < len(acted) <= 130
    client = kind["columns"][0]
    assert [row[client] for row in csv.DictReader(drawn.splitlines())] == [f"C{number:03}" for number in ranked]
    assert figures["Act on"] == f"{len(acted)} of 400"
    assert figures["Responses"] == f"{bought[acted].sum()} of {len(acted)}"
    gain = 9 * bought[acted].sum() - 2 * len(acted)
    assert float(figures["Gain over acting on nobody"].replace("\u2212", "-")) == gain


def test_a_plan_alone_waits_for_its_list_and_other_plans_are_refused(page, tmp_path):
    fresh = Marketer(page).page
    kind = EXPORTS["American"]
    export(tmp_path / "next.csv", kind, seed=2)
    y, score = [1, 0, 1, 0], [0.9, 0.2, 0.7, 0.6]
    preds = rs.Predictions(y, {"score": score})
    rs.choose(preds).save(tmp_path / "plan.json")
    fresh.set_input_files("#files", tmp_path / "plan.json")
    fresh.wait_for_selector("#open [role=status]:has-text('plan.json is open. Now choose the list')")
    fresh.set_input_files("#files", tmp_path / "next.csv")
    fresh.wait_for_selector("#plan:has-text('plan.json applied to next.csv')")
    randomized = rs.choose(
        rs.Predictions(y, {"score": score}), subject_to="cases <= 1.5", population=4, randomized=True
    )
    randomized.save(tmp_path / "randomized.json")
    fresh.set_input_files("#files", tmp_path / "randomized.json")
    fresh.wait_for_selector(".trouble:has-text('expected a decision by one threshold')")
    fresh.set_input_files("#files", [tmp_path / "plan.json", tmp_path / "randomized.json"])
    fresh.wait_for_selector(".trouble:has-text('apply it with: rocscope apply')")
