"""The open page in a real browser and without a network: its figures, controls, report and saved rows."""

import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rocscope as rs
from report_browser import predictions
from report_open import count_in, open_page_offline as open_page_offline
from rocscope.errors import RocscopeError, collected_warnings
from rocscope.report.model import report_data
from rocscope.report.page import open_page, payload
from workbook_cases import write_workbook

AXE = Path(__file__).parents[2] / "client" / "node_modules" / "axe-core" / "axe.min.js"
LAYOUT = {"decimal": ".", "delimiter": None, "encoding": "utf-8"}


def roles(*scores, label="y", positive=None, weight=None, segment=None, fold=None):
    return {
        "label": label, "positive": positive, "scores": list(scores), "weight": weight, "segment": segment, "fold": fold
    }  # fmt: skip


def write(path, columns):
    """Write columns as CSV, each number as Python reads it back."""
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]), encoding="utf-8")
    return path


@pytest.mark.every(4)
@pytest.mark.parametrize(("rows", "models", "decimals"), [(12, 2, 1), (60, 3, 2), (400, 3, None), (3000, 2, 3)])
def test_intervals_and_tests_are_those_of_python(page, tmp_path, rows, models, decimals):
    preds = predictions(models=models, rows=rows, decimals=decimals)
    path = write(tmp_path / "s.csv", {"y": preds.y_true.astype(int)} | {m: s.tolist() for m, s in preds.scores.items()})
    found = count_in(page.page, path, roles(*preds.models), LAYOUT, intervals=True)["sure"]
    for model, mine in zip(preds.models, found["auc"], strict=True):
        with collected_warnings():
            own = rs.auc_interval(preds, model=model)
        assert [mine["value"], mine["low"], mine["high"]] == pytest.approx([own.value, own.low, own.high], abs=1e-10)
        assert mine["method"] == own.method
    with collected_warnings():
        pairs = rs.compare(preds)
    for mine, own in zip(found["comparisons"]["rows"], pairs, strict=True):
        ends = [own.difference.value, own.difference.low, own.difference.high, own.p_value, own.adjusted_p_value]
        assert mine[2:] == pytest.approx(ends, abs=1e-10)
    assert found["comparisons"]["method"].startswith("Welch t of placements")


def test_weights_that_repeat_rows_have_the_interval_of_repeated_rows(page, tmp_path):
    preds = predictions(models=2, rows=200, decimals=2)
    times = np.arange(200) % 4
    columns = {"y": preds.y_true.astype(int), "w": times} | {m: s.tolist() for m, s in preds.scores.items()}
    path = write(tmp_path / "s.csv", columns)
    found = count_in(page.page, path, roles(*preds.models, weight="w"), LAYOUT, intervals=True)["sure"]
    weighted = rs.Predictions(preds.y_true, preds.scores, sample_weight=times, weights="frequency")
    for model, mine in zip(preds.models, found["auc"], strict=True):
        own = rs.auc_interval(weighted, model=model)
        assert [mine["low"], mine["high"]] == pytest.approx([own.low, own.high], abs=1e-10)
    own = rs.compare(weighted)[0]
    assert found["comparisons"]["rows"][0][5] == pytest.approx(own.p_value, abs=1e-10)


@pytest.mark.every(3)
@pytest.mark.parametrize(("rows", "decimals"), [(60, 1), (3000, 3), (9000, None)])
def test_calibration_is_that_of_python(page, tmp_path, rows, decimals):
    preds = predictions(models=1, rows=rows, decimals=decimals)
    scores = preds.scores["model 1"]
    path = write(tmp_path / "s.csv", {"y": preds.y_true.astype(int), "s": scores.tolist()})
    mine = count_in(page.page, path, roles("s"), LAYOUT)["levels"][0]["calibration"]
    own = payload(report_data(rs.Predictions(preds.y_true, {"s": scores})))["slices"][0]["models"][0]["calibration"]
    for ours, theirs in zip(mine["bins"], own["bins"], strict=True):
        assert list(ours.values()) == pytest.approx([theirs[name] for name in ("x", "y", "low", "high", "n")], rel=1e-3)
    assert mine["smooth"]["y"] == pytest.approx(own["smooth"]["y"], abs=6e-4)
    assert mine["rug"] == own["rug"]
    for name in ("brier", "slope", "intercept", "ece"):
        number = np.nan if mine["numbers"][name] is None else mine["numbers"][name]
        assert number == pytest.approx(own["numbers"][name], rel=1e-3, nan_ok=True)


@pytest.mark.slow(reason="further views of the page in a browser")
def test_segments_and_folds_are_counted_apart_and_many_as_others(page, tmp_path):
    rows = 600
    preds = predictions(models=1, rows=rows)
    segment = [f"s{min(i // 8, 59)}" for i in range(rows)]
    columns = {"y": preds.y_true.astype(int), "s": preds.scores["model 1"].tolist(), "g": segment}
    path = write(tmp_path / "s.csv", columns | {"fold": np.arange(rows) % 3})
    found = count_in(page.page, path, roles("s", segment="g", fold="fold"), LAYOUT)
    parts = {"segment": np.array(segment), "fold": np.arange(rows) % 3}
    own = report_data(rs.Predictions(preds.y_true, {"s": columns["s"]}, **parts))
    assert [(part["kind"], part["name"]) for part in found["parts"]] == [(p.kind, p.name) for p in own.views]
    left_out = [warning for warning in own.warnings if warning.startswith("Left out")]
    assert [warning for warning in found["warnings"] if warning.startswith("Left out")] == left_out


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("y,s\n1,0.5\n0,x\n", {}, "score 's' of bad.csv: expected numbers, got text, such as 'x' in row 1"),
        ("y,s\n1,1\n0,2\n2,3\n", {}, "expected labels 0/1, -1/1 or False/True, got the labels 0, 1, 2 (2"),
        ("y,s\na,1\nb,2\n", {}, "expected labels 0/1, -1/1 or False/True, got the labels 'a', 'b'"),
        (
            "y,s\na,1\nb,2\nc,3\n",
            {"positive": "a"},
            "labels of two classes, got the labels 'b', 'c', 'a' ('c' first occurs",
        ),
        (
            "y,s\n1,\n0,\n",
            {},
            "bad.csv: expected at least one row without missing or infinite values",
        ),
        ("y,s\n", {}, "bad.csv: expected at least one row, got no rows"),
        ("y,s,w\n1,1,-1\n0,2,1\n", {"weight": "w"}, "got 1 negative, missing or infinite weight, in row 0"),
        (
            "y,s\n1,18446744073709551617\n0,0.5\n",
            {},
            "float64 represents exactly, got 18446744073709551617",
        ),
        ("y,s,s\n1,1,2\n", {}, "expected one column named 's', got 2 columns"),
        ("y,t\n1,1\n", {}, "expected one of 'y', 't', got 's'"),
    ],
)
def test_what_python_refuses_is_refused_in_the_same_words(page, tmp_path, text, asked, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert said in count_in(page.page, path, roles("s", **asked), LAYOUT)["error"]
    with pytest.raises(RocscopeError) as error:
        options = {"pos_label": asked.get("positive"), "weight": asked.get("weight")}
        rs.read_counts(path, label="y", scores=["s"], missing="drop", **options)
    assert said.removeprefix("score 's' of bad.csv").removeprefix("bad.csv") in str(error.value)


@pytest.fixture
def scores(tmp_path):
    preds = predictions(models=2, rows=900)
    label = np.where(preds.y_true, "bought", "no")
    missing = [*preds.scores["model 2"].tolist()[:-1], ""]
    region = np.array(["north", "south", "west"])[np.arange(900) % 3]
    columns = {"id": np.arange(900), "outcome": label, "region": region, "fold": np.arange(900) % 4}
    return write(tmp_path / "scores.csv", columns | {"logit": preds.scores["model 1"].tolist(), "tree": missing})


def report_of(page, path):
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    page.page.set_input_files("#files", path)
    page.page.click("#show")
    page.page.wait_for_selector("#models tbody tr")
    page.page.wait_for_selector("#comparisons tbody td", state="attached")
    return page.settle()


def columns_of(page, path):
    fresh = fresh_page(page)
    fresh.set_input_files("#files", path)
    fresh.wait_for_selector("#show")
    return fresh


def test_what_columns_are_for_is_guessed_and_can_be_changed(page, scores):
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    page.page.set_input_files("#files", scores)
    page.page.wait_for_selector("#show")
    uses = {row: page.page.input_value(f"[aria-label='Use of {row}']") for row in ("id", "outcome", "region", "fold")}
    assert uses == {"id": "", "outcome": "label", "region": "segment", "fold": "fold"}
    assert page.page.input_value("#positive") == "bought"
    page.page.select_option("[aria-label='Use of tree']", "")
    page.page.select_option("[aria-label='Use of id']", "label")
    assert page.page.input_value("[aria-label='Use of outcome']") == ""
    page.page.select_option("[aria-label='Use of outcome']", "label")
    page.page.click("#show")
    page.page.wait_for_selector("#models tbody tr")
    assert page.page.locator("#models .pick").all_text_contents() == ["logit"]


def test_the_report_is_that_of_python_and_can_be_saved(page, scores, tmp_path):
    report_of(page, scores)
    asked = {
        "label": "outcome",
        "scores": ["logit", "tree"],
        "pos_label": "bought",
        "segment": "region",
        "fold": "fold",
    }
    preds = rs.read(scores, missing="drop", **asked)
    data = report_data(preds, title="scores.csv")
    best = rs.choose(preds)
    assert page.mark("roc", "point") == pytest.approx([best.point.fpr, best.point.tpr], abs=1e-12)
    assert "1 row was omitted" in page.page.text_content(".notes")
    assert data.provenance["hash"] in page.page.text_content(".provenance")
    decision = rs.Decision.load(page.download("text=Save decision"))
    assert (decision.model, decision.threshold, decision.expected_cost) == (
        best.model,
        best.threshold,
        best.expected_cost,
    )
    page.set(cost_fn=5)
    saved = tmp_path / "saved.html"
    saved.write_bytes(page.download("text=Save report").read_bytes())
    other = page.page.context.new_page()
    said = []
    other.on("console", lambda message: said.append(message.text))
    other.on("pageerror", lambda error: said.append(str(error)))
    other.goto(saved.as_uri())
    other.wait_for_selector("#models tbody tr")
    assert other.text_content(".verdict") == page.page.text_content(".verdict")
    assert other.input_value("#cost-fn") == "5"
    assert other.locator("#slice option").all_text_contents() == [part.name for part in data.views]
    assert said == []
    other.close()
    assert saved.stat().st_size <= 270_000


@pytest.mark.every(3)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_rows_are_saved_with_their_decisions_and_errors(page, scores, tmp_path, suffix):
    frame = pl.read_csv(scores, schema_overrides={"fold": pl.Utf8}).rename({"outcome": "decision"})
    path = tmp_path / f"rows{suffix}"
    path.write_text(scores.read_text(encoding="utf-8").replace("outcome", "decision"), encoding="utf-8")
    if suffix != ".csv":
        frame.write_parquet(path) if suffix == ".parquet" else frame.write_ndjson(path)
    fresh = columns_of(page, path)
    fresh.select_option("[aria-label='Use of decision']", "label")
    fresh.select_option("#positive", "bought")
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    decision = rs.Decision.load(page.download("text=Save decision"))
    saved = pl.read_csv(page.download("button:text-is('Save rows')"), infer_schema=False)
    assert saved.columns == ["id", "decision", "region", "fold", "logit", "tree", "decision_", "outcome"]
    own = pl.read_csv(scores, infer_schema=False)
    if suffix == ".csv":
        assert saved.drop("decision_", "outcome").rename({"decision": "outcome"}).equals(own)
    assert saved["logit"].cast(float).to_list() == own["logit"].cast(float).to_list()
    chosen = own[decision.model].cast(float)
    expected = [
        None if score is None else "positive" if score >= decision.threshold else "negative" for score in chosen
    ]
    assert saved["decision_"].to_list() == expected
    kinds = {("positive", True): "true positive", ("positive", False): "false positive"}
    kinds |= {("negative", True): "false negative", ("negative", False): "true negative"}
    outcomes = [kinds.get((made, y == "bought")) for made, y in zip(expected, own["outcome"], strict=True)]
    assert saved["outcome"].to_list() == outcomes


@pytest.mark.slow(reason="further views of the page in a browser")
def test_back_from_the_report_columns_can_be_changed(page, scores):
    report_of(page, scores)
    page.page.click("text=Change columns or file")
    assert page.page.locator("#models").count() == 0
    page.page.select_option("[aria-label='Use of tree']", "")
    page.page.click("#show")
    page.page.wait_for_selector("#models tbody tr")
    assert page.page.locator("#models .pick").all_text_contents() == ["logit"]


@pytest.mark.slow(reason="further views of the page in a browser")
def test_several_files_are_compared_with_each_other(page, scores, tmp_path):
    other = tmp_path / "march.csv"
    other.write_text("\n".join(scores.read_text().splitlines()[:500]))
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    page.page.set_input_files("#files", [scores, other])
    page.page.select_option("[aria-label='Use of tree']", "")
    page.page.click("#show")
    page.page.wait_for_selector("#models tbody tr")
    assert sorted(page.page.locator("#models .pick").all_text_contents()) == ["march", "scores"]


@pytest.mark.slow(reason="further views of the page in a browser")
def test_reading_can_be_cancelled_and_an_error_is_said(page, tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("y,s\n" + "1,0.25\n0,0.75\n" * 1_000_000)
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    page.page.set_input_files("#files", path)
    page.page.wait_for_selector("#show")
    page.page.select_option("[aria-label='Use of s']", "score")
    page.page.click("#show")
    page.page.click("text=Cancel")
    page.page.wait_for_selector("progress", state="detached")
    assert page.page.locator("#models").count() == 0
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 this is none")
    page.page.set_input_files("#files", broken)
    page.page.wait_for_selector(".trouble:not(:empty)")
    said = "expected a complete Parquet file, got an incomplete Parquet file; copy or write the file again."
    assert page.page.text_content(".trouble") == f"broken.parquet: {said}"


def fresh_page(page):
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    return page.page


@pytest.mark.slow(reason="further views of the page in a browser")
def test_columns_of_a_wide_file_are_found_by_their_names(page, tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"x{i}" for i in range(3_000)]
    rows = [",".join(["y", *names]), *(",".join([str(i % 2)] + [f"{i / 7 % 1:.3f}"] * 3_000) for i in range(1, 9))]
    path.write_text("\n".join(rows))
    fresh = columns_of(page, path)
    assert fresh.locator("#columns tbody tr").count() == 200
    assert fresh.is_disabled("#show")  # attributes are no models
    fresh.fill("[aria-label='Find columns']", "X2999")
    assert fresh.locator("#columns tbody tr").count() == 1
    fresh.select_option("[aria-label='Use of x2999']", "score")
    fresh.fill("[aria-label='Find columns']", "")
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    assert fresh.locator("#models tbody tr").count() == 1


def test_an_example_opens_with_one_click(page):
    fresh = fresh_page(page)
    fresh.click("#example")
    fresh.wait_for_selector("#models tbody tr.best")
    assert fresh.text_content("h1") == "example.csv"
    assert fresh.locator("#models .pick").all_text_contents() == ["new model", "old model"]


def test_the_report_button_says_why_it_is_disabled(page, scores):
    fresh = fresh_page(page)
    fresh.set_input_files("#files", scores)
    fresh.wait_for_selector("#show")
    assert fresh.text_content("#why") == "" and fresh.is_enabled("#show")
    for model in ("logit", "tree"):
        fresh.select_option(f"[aria-label='Use of {model}']", "")
    assert fresh.text_content("#why") == "Choose at least one score column to continue." and fresh.is_disabled("#show")
    fresh.select_option("[aria-label='Use of outcome']", "")
    assert fresh.text_content("#why") == "Choose the label column to continue."


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_layout_is_shown_beside_an_error_with_three_rows(page, tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("prüfung;y;p\n1;1;0,5\n2;0;0,25\n3;1;0,75\n4;0;0,1\n".encode("cp850"))
    fresh = fresh_page(page)
    fresh.set_input_files("#files", path)
    fresh.wait_for_selector(".trouble:not(:empty)")
    fresh.wait_for_selector("#columns tbody tr >> nth=2")
    assert fresh.locator("#columns tbody tr").count() == 3
    fresh.select_option("label:has-text('Encoding') select", "windows-1252")
    fresh.wait_for_selector(".trouble:not(:empty)")
    assert fresh.locator("label:has-text('Decimal mark') select").is_visible()


def test_a_german_export_goes_from_drop_to_decision_in_two_clicks(page, tmp_path):
    """Semicolons, decimal commas and Windows-1252 are found; ja is positive, though it is the more frequent class."""
    rng = np.random.default_rng(1)
    y = rng.random(300) < 0.6
    scores = (rng.normal(0, 1, 300) + y).round(3)
    lines = [
        f"{row};{'ja' if hit else 'nein'};{str(score).replace('.', ',')};Süd"
        for row, (hit, score) in enumerate(zip(y, scores, strict=True))
    ]
    path = tmp_path / "export.csv"
    path.write_bytes("\r\n".join(["Größe;Käufer;Prognose;Gebiet", *lines]).encode("cp1252"))
    fresh = columns_of(page, path)
    assert fresh.input_value("#positive") == "ja"
    assert "Windows-1252" in fresh.text_content("label:has-text('Encoding') option:first-child")
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    assert "export.csv: the text is not UTF-8 and is read as Windows-1252." in fresh.text_content("main:not(#open)")
    decision = rs.Decision.load(page.download("text=Save decision"))
    best = rs.choose(rs.Predictions(y, {"Prognose": scores}))
    assert (decision.threshold, decision.expected_cost) == (best.threshold, best.expected_cost)


def test_a_sheet_and_the_rows_of_its_table_are_chosen(page, tmp_path):
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.4
    scores = (rng.normal(0, 1, 200) + y).round(3).tolist()
    rows = [["bought", "score"], *zip(np.where(y, "yes", "no").tolist(), scores, strict=True)]
    customers = [["Campaign May", None], *map(list, rows), ["Total", 1.5]]
    path = tmp_path / "export.xlsx"
    write_workbook(path, {"Notes": [["made by hand", "x"]], "Customers": customers}, random.Random(1))
    fresh = fresh_page(page)
    fresh.set_input_files("#files", path)
    fresh.wait_for_selector(".trouble:has-text(\"got 'Notes', 'Customers'; choose one under File format\")")
    fresh.select_option("label:has-text('Sheet') select", "Customers")
    fresh.wait_for_selector(".trouble:has-text(\"got 'Total, 1.5'\")")
    fresh.fill("label:has-text('Rows below the table') input", "1")
    fresh.keyboard.press("Tab")
    fresh.wait_for_selector("#show:not([disabled])")
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    assert "export.xlsx: skipped 1 row above the column names" in fresh.text_content("main:not(#open)")
    decision = rs.Decision.load(page.download("text=Save decision"))
    best = rs.choose(rs.Predictions(y, {"score": scores}))
    assert (decision.threshold, decision.expected_cost) == (best.threshold, best.expected_cost)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("two", "guess"), [(("Good", "Poor"), "Poor"), (("good", "bad"), "bad"), (("2-Good", "1-Bad"), "1-Bad")]
)
def test_the_positive_class_of_text_books_comes_out_right(page, tmp_path, two, guess):
    path = tmp_path / "s.csv"
    path.write_text(
        "outcome,s100b\n" + "".join(f"{two[i % 3 == 0]},{0.1 + (i % 3 == 0) + i / 97:.3f}\n" for i in range(60))
    )
    fresh = columns_of(page, path)
    assert fresh.input_value("#positive") == guess
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    assert fresh.locator(".direction").is_hidden()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_an_ambiguous_positive_class_is_asked_and_the_other_one_is_one_click_away(page, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("result,s\n" + "".join(f"{'won' if i % 3 else 'lost'},{i % 3 + i / 97:.3f}\n" for i in range(60)))
    fresh = columns_of(page, path)
    assert fresh.input_value("#positive") == "" and fresh.is_disabled("#show")
    assert fresh.text_content("#why").startswith("Choose the positive class")
    fresh.select_option("#positive", "lost")
    fresh.click("#show")
    fresh.wait_for_selector("#models tbody tr.best")
    assert "AUC is below 0.5" in fresh.text_content(".direction")
    page.settle()
    below = float(fresh.text_content("#models tbody tr td >> nth=1").split()[0])
    fresh.click(".direction button")
    fresh.wait_for_selector(f"#models tbody tr.best:has-text('{1 - below:.3f}')")
    assert fresh.locator(".direction").is_hidden()


@pytest.mark.slow(reason="further views of the page in a browser")
def test_the_whole_open_page_by_keyboard_alone(page, scores):
    """A file is chosen, its columns are changed, and its report is used and saved without a pointer."""
    page.page.on("filechooser", lambda _: None)  # dialogs are caught from some time after somebody listens
    page.page.goto("about:blank")
    page.page.goto(page.path.as_uri())
    press = page.page.keyboard.press
    press("Tab")
    page.page.wait_for_selector("#choose:focus")
    with page.page.expect_file_chooser() as chosen:
        press("Enter")
    chosen.value.set_files(scores)
    page.page.wait_for_selector("#show:focus")
    assert {"Use of logit", "Use of tree", "Positive class", "Show the report"} <= set(page.tab_through())
    page.page.focus("[aria-label='Use of tree']")
    page.page.keyboard.type("not used")
    page.page.focus("#show")
    press("Enter")
    page.page.wait_for_selector("#models tbody tr")
    names = page.tab_through()
    assert {"Save report", "Save decision", "Threshold on the ROC curve", "Change columns or file"} <= set(names)
    assert page.page.locator("#models .pick").all_text_contents() == ["logit"]
    page.page.focus("button:text-is('Save report')")
    with page.page.expect_download():
        press("Space")
    page.page.focus("button:text-is('Change columns or file')")
    press("Enter")
    page.page.wait_for_selector("#show:focus")


@pytest.mark.slow(reason="further views of the page in a browser")
def test_nothing_is_asked_for_or_said(page, scores):
    page.requests.clear()
    report_of(page, scores)
    local = (page.path.as_uri(), "blob:", "about:", "data:")
    assert all(url.startswith(local) for url in page.requests)
    assert page.messages == []
    policy = page.page.get_attribute("meta[http-equiv]", "content")
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy and "unsafe" not in policy
    tried = "() => fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert page.page.evaluate(tried) == "refused"
    page.messages.clear()  # of what was just refused


@pytest.mark.slow(reason="further views of the page in a browser")
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (npm ci in client)")
def test_axe_reports_nothing(chromium, page, scores):
    context = chromium.new_context(bypass_csp=True)
    bare = context.new_page()
    bare.goto(page.path.as_uri())
    bare.set_input_files("#files", scores)
    bare.wait_for_selector("#show")
    bare.add_script_tag(path=AXE)
    found = bare.evaluate("async () => (await axe.run()).violations")
    assert [f"{item['id']}: {node['html'][:120]}" for item in found for node in item["nodes"]] == []
    context.close()


def test_the_page_is_small():
    assert len(open_page().encode()) <= 290_000
