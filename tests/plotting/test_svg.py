"""plotting.svg: one element that can stand inside a page under a strict policy."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from rocscope.plotting import svg
from rocscope.plotting.theme import _plain_style

NAME = "<script>alert('1 & 2')</script>"
SPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def predictions():
    random = np.random.default_rng(0)
    y = random.random(60) < 0.5
    return rs.Predictions(y, {NAME: np.clip(random.random(60) * 0.6 + 0.3 * y, 0, 1), "cost in $": random.random(60)})


@pytest.fixture(scope="module")
def picture(predictions):
    return svg(rs.plotting.plot_three(predictions, figure=Figure((12, 5))), title="a < b & c")


def test_it_is_one_element_without_prolog_that_any_reader_parses(picture):
    assert picture.startswith("<svg ")
    assert picture.endswith("</svg>")
    assert ElementTree.fromstring(picture).tag == f"{SPACE}svg"


def test_text_stays_text_and_is_escaped(picture):
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(picture).iter(f"{SPACE}text")]
    assert any(text.startswith(NAME) for text in texts)
    assert any(text.startswith("cost in $ (AUC") for text in texts)
    assert {"ROC curve", "Lift chart", "Calibration plot", "Predicted probability"} <= set(texts)
    assert sum(text.startswith("score ≥") for text in texts) == 2
    assert "<script" not in picture


def test_the_title_is_its_accessible_name(picture):
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root[0].tag == f"{SPACE}title"
    assert root[0].text == "a < b & c"


def test_nothing_in_it_needs_a_style_a_date_or_the_network(picture):
    root = ElementTree.fromstring(picture)
    assert not any(element.tag.endswith(("style", "metadata", "script")) for element in root.iter())
    assert not any("style" in element.attrib for element in root.iter())
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert "xlink" not in picture
    references = re.findall(r"(?:href=\"|url\()([^\")]*)", picture)
    assert references
    assert all(reference.startswith("#") for reference in references)


def ids(picture):
    return [element.get("id") for element in ElementTree.fromstring(picture).iter() if element.get("id")]


def test_ids_are_unique_in_a_page_and_every_reference_finds_its_own(picture, predictions):
    other = svg(rs.plotting.plot_roc(predictions, ax=Figure().subplots()))
    assert len(set(ids(picture))) == len(ids(picture))
    assert not set(ids(picture)) & set(ids(other))
    assert set(re.findall(r"(?:href=\"|url\()#([^\")]*)", picture)) == set(ids(picture))


def test_the_same_figure_gives_the_same_string_under_any_prefix_that_is_wanted(predictions):
    first, second, named = (
        svg(rs.plotting.plot_roc(predictions, ax=Figure().subplots()), prefix=prefix) for prefix in (None, None, "roc-")
    )
    assert first == second
    assert all(name.startswith("roc-") for name in ids(named))


def test_of_axes_in_a_part_of_a_figure_the_whole_figure_is_taken():
    figure = Figure()
    left, right = figure.subfigures(1, 2)
    left.suptitle("left")
    right.suptitle("right")
    picture = svg(left.subplots())
    assert ">left</text>" in picture
    assert ">right</text>" in picture


@pytest.mark.parametrize(
    ("style", "attributes"),
    [
        ("", {}),
        ("fill: none; stroke: #000000", {"fill": "none", "stroke": "#000000"}),
        ("font: 10px 'A', sans-serif", {"font-size": "10px", "font-family": "'A', sans-serif"}),
        (
            "font: italic 700 8.3px serif; text-anchor: start",
            {
                "font-style": "italic",
                "font-weight": "700",
                "font-size": "8.3px",
                "font-family": "serif",
                "text-anchor": "start",
            },
        ),
    ],
)
def test_style_attributes_become_plain_ones(style, attributes):
    assert _plain_style(style) == attributes
