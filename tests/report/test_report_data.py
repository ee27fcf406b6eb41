"""What a report holds, how large it is, and what is refused: no browser needed."""

import base64
import json
import re
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rocscope as rs
from report_browser import predictions
from rocscope.errors import InputError, OneClassError
from rocscope.plotting import theme
from rocscope.report.model import MOST_POINTS, levels_read, outline, report_data, summarise
from rocscope.report.page import MOST_BYTES, counts_column, payload, render, scores_column
from strategies import both_paths, float_weights, samples, taking, whole_weights

DIST = Path(rs.__file__).parent / "report" / "bundles"
CLIENT = DIST.parent


def scores_of(column):
    if "text" in column:
        return [int(text) for text in column["text"]]
    ((kind, text),) = column.items()
    return np.frombuffer(base64.b64decode(text), {"f4": "<f4", "f8": "<f8"}[kind]).tolist()


def totals_of(column):
    if "f8" in column:
        return scores_of(column)
    steps, step, place = [], 0, 0
    for byte in base64.b64decode(column["steps"]):
        step |= (byte & 127) << place
        place += 7
        if byte < 128:
            steps.append(step)
            step = place = 0
    return list(accumulate(steps))


@given(st.lists(st.integers(0, 2**50), max_size=30))
def test_running_counts_come_out_as_they_went_in(steps):
    totals = list(accumulate(steps))
    assert totals_of(counts_column(totals)) == totals


@pytest.mark.parametrize(("total", "written"), [(127, b"\x7f"), (128, b"\x80\x01"), (16384, b"\x80\x80\x01")])
def test_a_step_takes_as_few_bytes_as_hold_it(total, written):
    # LEB128: 7 bits a byte, the highest bit says that more bytes follow
    assert base64.b64decode(counts_column([total])["steps"]) == written


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_scores_are_never_rounded(scores):
    if any(isinstance(score, int) and abs(score) > 2**53 for score in scores):
        scores = [int(score) for score in scores]
    assert scores_of(scores_column(scores)) == scores


@pytest.fixture(scope="module")
def large():
    """More rows than the page has points for, and the models of its payload."""
    preds = predictions(rows=20_000)
    return preds, payload(report_data(preds))["slices"][0]["models"]


def test_the_page_holds_the_counts_that_python_has(large):
    preds, models = large
    for model in models:
        counts = preds.counts(model["name"])
        threshold, tp, fp = scores_of(model["threshold"]), totals_of(model["tp"]), totals_of(model["fp"])
        assert len(threshold) == len(tp) == len(fp) <= 500
        assert [(p.tp, p.fp) for p in map(counts.at, threshold)] == list(zip(tp, fp, strict=True))
        tp, fp = np.array([0, *tp]), np.array([0, *fp])
        hull = rs.roc(counts).hull().counts
        vertices = totals_of(model["hull"])
        assert tp[vertices].tolist() == [0, *hull.tp]
        assert fp[vertices].tolist() == [0, *hull.fp]


def test_no_point_of_the_curve_is_further_off_than_stated(large):
    preds, models = large
    for model in models:
        curve = rs.roc(preds.counts(model["name"]))
        tpr, fpr = (
            np.array([0, *totals_of(model[name])]) / total for name, total in (("tp", preds.n_pos), ("fp", preds.n_neg))
        )
        drawn = np.interp(curve.x + curve.y, fpr + tpr, tpr - fpr)
        assert np.abs(drawn - (curve.y - curve.x)).max() / 2 <= model["deviation"] * 1.001


@both_paths
@given(data=st.data())
def test_an_outline_has_the_figures_of_the_summary(path, data):
    weight = data.draw(st.sampled_from([None, whole_weights, float_weights]))
    sample = data.draw(samples(weight=weight))
    with taking(path):
        drawn = outline("a", sample.counts(), bins=False)
    whole = summarise("a", sample.counts(), rs.Context(), calibrated=False)
    same = ("n_levels", "default", "points", "hull")
    assert [getattr(drawn, name) for name in same] == [getattr(whole, name) for name in same]
    for name in ("average_precision", "ks", "deviation"):
        assert getattr(drawn, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=1e-15)
    assert drawn.auc["half"] == pytest.approx(whole.auc["half"], rel=1e-12)


def test_rows_do_not_travel():
    preds = rs.Predictions([0, 1] * 5000, np.arange(10_000) / 10_000)
    model = payload(report_data(preds))["slices"][0]["models"][0]
    hull, read = rs.roc(preds.counts()).hull().threshold, levels_read(preds.counts(), None)
    assert len(scores_of(model["threshold"])) <= MOST_POINTS + len(hull) + len(read)
    assert len(read) <= 99 + 2 * 11


# Budgets: what is mailed must stay small.


def test_the_client_is_at_most_112_kb():
    bundles = {f"{page}.{kind}" for page in ("report", "open", "live") for kind in ("js", "css")}
    bundles |= {"worker.js", "widget.js"}
    assert {path.name for path in DIST.iterdir()} == {*bundles, "THIRD_PARTY.txt", "bom.cdx.json"}
    assert sum((DIST / name).stat().st_size for name in ("report.js", "report.css")) <= 112_101


def test_the_page_has_the_hues_that_are_tested_for_the_colour_blind():
    script = (DIST / "report.js").read_text(encoding="utf-8")
    for colours in (theme.LIGHT, theme.DARK):
        assert ",".join(f'"{hue}"' for hue in colours.hues) in script


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("models", "rows"),
    [(2, 300), (2, 20_000), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((2, 50_000), (20, 20_000)))],
)
def test_a_model_takes_at_most_8_kb_and_15_kb_with_all_that_is_said_of_it(models, rows):
    data = report_data(predictions(models=models, rows=rows))
    sizes = [len(json.dumps(model, separators=(",", ":"))) for model in payload(data)["slices"][0]["models"]]
    assert max(sizes) <= 8_000
    assert len(render(data).encode()) <= 112_101 + 15_000 * models


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("segments", "hint"),
    [(3, "3 segments or folds; omit the segment column, or models"), (0, "0 segments or folds; omit models")],
)
def test_a_report_over_the_limit_is_refused_and_says_what_to_drop(monkeypatch, segments, hint):
    assert MOST_BYTES == 5_000_000
    monkeypatch.setattr("rocscope.report.page.MOST_BYTES", 100_000)
    preds = predictions(models=2, rows=900)
    segment = np.arange(len(preds)) % segments if segments else None
    report = rs.Report(rs.Predictions(preds.y_true, preds.scores, segment=segment))
    with pytest.raises(InputError, match=f"at most 0.1 MB, got 0.. MB from 2 models and {hint}"):
        _ = report.html


def test_200_000_segments_are_refused_before_any_of_them_is_made():
    rows = np.arange(400_000)
    preds = rs.Predictions(rows % 2, rows / 400_000, segment=rows // 2)
    with pytest.raises(InputError, match="at most 1,000 segments, got 200,000"):
        rs.Report(preds)


@pytest.mark.slow(reason="large pages")
def test_200_models_work():
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.5
    report = rs.Report(rs.Predictions(y, {f"m{i}": rng.normal(y, 1) for i in range(200)}))
    assert len(report.html.encode()) < MOST_BYTES


# Bad input.


def test_zero_models_is_an_error_and_so_is_one_class():
    with pytest.raises(InputError, match="at least one model"):
        rs.Report({})
    with pytest.raises(OneClassError, match="score: expected both classes, got no negatives among 2 rows"):
        rs.Report(rs.Predictions([1, 1], [0.2, 0.4]))


def test_a_segment_of_one_class_is_left_out_and_said_so():
    preds = rs.Predictions([1, 0, 1, 0, 1, 1], [6, 5, 4, 3, 2, 1], segment=["a"] * 4 + ["b"] * 2)
    data = report_data(preds)
    assert [part.name for part in data.slices] == ["a"]
    assert "Omitted because a class is missing: segment b (no negatives)." in data.warnings


def test_small_cells_are_warned_about_wherever_they_are():
    preds = predictions(models=1, rows=4000)
    rare = rs.Predictions(preds.y_true, preds.scores, segment=np.arange(4000) < 20, fold=np.arange(4000) % 2)
    few = int(preds.y_true[:20].sum())
    data = report_data(rare)
    assert f"with fewer than 10 cases of a class: segment True ({few} positives)." in data.warnings[-2]
    assert data.warnings[-1].endswith("fewer than 10 cases apart: segment True.")
    assert report_data(predictions(models=1, rows=6_000)).warnings == []


def test_many_small_segments_are_one_line():
    preds = rs.Predictions([0, 1] * 60, np.arange(120), segment=np.repeat(np.arange(30), 4))
    few = next(warning for warning in report_data(preds).warnings if "fewer than 10 cases of a class" in warning)
    assert few.endswith("segment 7 (2 negatives) and 22 more.")


@pytest.mark.slow(reason="large pages")
def test_of_many_segments_the_largest_are_shown_and_the_rest_as_one():
    sizes = np.arange(20, 120)
    segment = np.repeat([f"s{i}" for i in range(100)], sizes)
    preds = predictions(models=1, rows=10_000).select(np.arange(10_000) < sizes.sum())
    data = report_data(rs.Predictions(preds.y_true, preds.scores, segment=segment))
    shown = [part.name for part in data.slices]
    assert shown[:-1] == sorted(f"s{i}" for i in range(61, 100))
    assert shown[-1] == "others (61 segments)"
    rest = data.slices[-1].models[0]
    mask = np.isin(segment, shown[:-1])
    assert (rest.n_pos, rest.n_neg) == (int(preds.y_true[~mask].sum()), int((~preds.y_true[~mask]).sum()))
    said = "The 39 largest segments are shown separately, all others are pooled (61 others)"
    assert said in data.warnings


@pytest.mark.every(2)
@pytest.mark.parametrize(("models", "groups", "small"), [(1, 44, False), (2, 3, True)])
def test_counts_by_group_are_shown_as_segments_of_rows_are(monkeypatch, models, groups, small):
    preds = predictions(models=models, rows=3_000)
    segment = np.random.default_rng(0).integers(0, groups, (2, 3_000)).max(axis=0)
    rows = rs.Predictions(preds.y_true, preds.scores, segment=segment)
    expected = report_data(rows, context=rs.Context(cost_fn=3))
    if not small:
        monkeypatch.setattr("rocscope.report.model.MOST_DETAILED", 100)
    data = report_data(
        {model: rows.counts(model, by="segment") for model in rows.models}, context=rs.Context(cost_fn=3)
    )
    assert len(data.slices) == min(groups, 40)
    for found, known in zip([data, *data.slices], [expected, *expected.slices], strict=True):
        detailed = small or all(model.n_levels <= 100 for model in found.models)
        left_out = {"auc_interval": None} if detailed else {"auc_interval": None, "calibration": None}
        for one, other in zip(found.models, known.models, strict=True):
            assert replace(one, **left_out).to_dict() == replace(other, **left_out).to_dict()
            assert (one.auc_interval is not None) == detailed
    assert [part.name for part in data.slices] == [part.name for part in expected.slices]
    told = [warning for warning in expected.warnings if "shown separately" in warning or "uncertain" in warning]
    assert set(told) <= set(data.warnings)
    assert rs.Report(rows.counts("model 1", by="segment")).data.decision.model == "score"


@pytest.mark.parametrize("name", [int, str, lambda i: (i, "mixed")[i % 2]])
def test_a_column_that_names_single_cases_is_refused_before_anything_is_computed(monkeypatch, name):
    def never(*_, **__):
        raise AssertionError("computed")

    monkeypatch.setattr("rocscope.report.model.choose", never)
    segment = np.array([name(i) for i in range(200_000)], dtype=object)
    segment = segment if name is int or segment[1] == "mixed" else segment.astype(str)
    preds = rs.Predictions(np.arange(200_000) % 2, np.arange(200_000) / 200_000, segment=segment)
    with pytest.raises(InputError, match=r"segment: expected at most 1,000 segments, got (200,000|100,001)"):
        rs.Report(preds)


def test_segments_and_folds_have_intervals_too():
    preds = predictions(rows=600)
    data = report_data(rs.Predictions(preds.y_true, preds.scores, segment=np.arange(600) % 2))
    part = preds.select(np.arange(600) % 2 == 1)
    interval = rs.auc_interval(part, model="model 2")
    assert data.slices[1].models[1].auc_interval == pytest.approx(
        {"value": interval.value, "low": interval.low, "high": interval.high, "method": interval.method}
    )


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    report = rs.Report(predictions(rows=50))
    with pytest.raises(InputError, match="exists already"):
        report.save(path, force=False)
    assert path.read_text() == "mine"
    assert report.save(path).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["</script>", "<!--", "\u2028", "العربية", "a" * 5000, ""])
def test_any_name_stays_inside_its_string(name):
    preds = predictions(rows=60)
    html = rs.Report(
        rs.Predictions(preds.y_true, {name: preds.scores["model 1"], "b": preds.scores["model 2"]}), title=name
    ).html
    island = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', html, re.DOTALL)
    assert island
    assert json.loads(island[1])["slices"][0]["models"][0]["name"] == name
    assert html.count("</script>") == 2


def test_scores_beyond_2_to_the_53_and_weights_are_kept_apart():
    big = 2**53
    counts = rs.ThresholdCounts.from_scores([1, 0, 1, 0], np.array([big + 3, big + 2, big + 1, big]))
    model = payload(report_data(counts))["slices"][0]["models"][0]
    assert scores_of(model["threshold"])[0] == big + 3
    weighted = rs.ThresholdCounts.from_scores([1, 0, 1], [3, 2, 1], sample_weight=[0.5, 0.25, 1.5])
    model = payload(report_data(weighted))["slices"][0]["models"][0]
    assert totals_of(model["tp"]) == [0.5, 0.5, 2.0]


def test_the_data_are_plain_and_versioned():
    plain = json.loads(json.dumps(report_data(predictions(rows=80), notes="n").to_dict(), allow_nan=False))
    assert plain["schema_version"] == 3
    assert plain["provenance"]["rows"] == 80
    assert len(plain["provenance"]["hash"]) == 16
    assert all(len(model["points"]["tp"]) <= MOST_POINTS + 1 for model in plain["models"])


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    html = rs.Report(predictions(rows=50), title='"><b>')._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in html
    assert "<b>" not in html


def test_where_rows_came_from_and_what_was_dropped_is_said(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,s\n1,0.9\n0,0.2\n1,\n0,0.4\n1,0.6\n")
    data = report_data(rs.read(path, label="y", scores=["s"], missing="drop"))
    assert "scores.csv" in data.provenance["source"]
    assert data.provenance["rows_dropped"] == 1
