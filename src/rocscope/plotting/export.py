"""A figure as SVG that can stand inside an HTML page."""

import hashlib
import io
import re
from typing import Any
from xml.etree import ElementTree

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from rocscope.plotting import theme

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_AS_TEXT: dict[Any, str] = {"svg.fonttype": "none", "svg.hashsalt": "rocscope"}
_FONT_SIZE = re.compile(r"([\d.]+px) ")


def svg(figure: Any, *, title: str = "", prefix: str | None = None) -> str:
    """Return a figure as one ``<svg>`` element.

    Parameters
    ----------
    figure : Figure or Axes
        Of an Axes the whole figure is taken.
    title : str
        Name of the picture for screen readers; escaped.
    prefix : str, optional
        What ids begin with; by default a hash of the picture, so that only equal pictures in a page share ids. Ids to
        which nothing refers are left out.

    Returns
    -------
    str
        Without XML prolog, metadata, style sheet, style attributes or any reference outside itself, so that a strict
        content-security policy lets it be drawn. Text stays text. The same figure always gives the same string.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> picture = svg(Figure(figsize=(1, 1)), title="a < b")
    >>> picture[:4], "<title>a &lt; b</title>" in picture
    ('<svg', True)
    """
    theme.require("figure", figure, FigureBase, Axes, made_by="pass what a plot_… function returned")
    stream = io.StringIO()
    with rc_context(_AS_TEXT):
        figure.get_figure().canvas.figure.savefig(stream, format="svg", metadata=_NO_METADATA)
    drawing = stream.getvalue()
    root = ElementTree.fromstring(drawing)
    _clean(root, prefix or f"r{hashlib.sha256(drawing.encode()).hexdigest()[:10]}-")
    _share_font(root)
    root.attrib |= {"xmlns": _SVG, "role": "img", "stroke-linejoin": "round", "stroke-linecap": "butt"}
    if title:
        name = ElementTree.Element("title")
        name.text = title
        root.insert(0, name)
    return ElementTree.tostring(root, encoding="unicode")


def _clean(root: ElementTree.Element, prefix: str) -> None:
    """Leave nothing but shapes and text, each with plain attributes, and the ids that one of them refers to."""
    used: set[str] = set()
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        for child in [child for child in element if child.tag.endswith(("}style", "}metadata"))]:
            element.remove(child)
        attributes = element.attrib
        attributes |= _plain_style(attributes.pop("style", ""))
        if _HREF in attributes:
            attributes["href"] = attributes.pop(_HREF)
        for name, value in attributes.items():
            if target := _target(name, value):
                used.add(target)
                attributes[name] = value.replace(f"#{target}", f"#{prefix}{target}")
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}{name}")


def _target(name: str, value: str) -> str:
    """Return the id that an attribute refers to, or nothing."""
    if name == "href" and value.startswith("#"):
        return value[1:]
    return value[5:-1] if value.startswith("url(#") else ""


def _share_font(root: ElementTree.Element) -> None:
    """State the fonts of the first text once, for the whole picture."""
    texts = [element.attrib for element in root.iter() if "font-family" in element.attrib]
    if texts:
        root.attrib["font-family"] = texts[0]["font-family"]
    for attributes in texts:
        if attributes["font-family"] == root.attrib["font-family"]:
            del attributes["font-family"]


def _plain_style(style: str) -> dict[str, str]:
    """Return a style attribute as attributes; `font`, which has no such form, as its parts."""
    declared = dict(entry.strip().split(": ", 1) for entry in style.split(";") if entry.strip())
    if "font" in declared:
        before, size, family = _FONT_SIZE.split(declared.pop("font"))
        declared |= {"font-size": size, "font-family": family}
        for word in before.split():
            declared["font-style" if word in {"italic", "oblique"} else "font-weight"] = word
    return declared
