"""Make the pictures of pages from the pages' own code: `python docs/images/pages.py [page …]`.

The sessions of a page are run in order, and so are comments `<!-- picture: … -->`, which hold code that readers do not
need to see. An image in `images/pages/` is then what the variable `ax` holds at that place.
"""

import doctest
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
from PIL import Image

import rocscope as rs

DOCS = Path(__file__).parents[1]
SESSION, HIDDEN = r"```pycon\n(?P<session>.*?)^```", r"<!-- picture:\n(?P<hidden>.*?)^-->"
PARTS = re.compile(rf"{SESSION}|{HIDDEN}|!\[.*?\]\((?P<image>\S*images/pages/\S+)\)", re.DOTALL | re.MULTILINE)


def pictures(page: Path) -> None:
    """Run a page and write its pictures."""
    names: dict[str, Any] = {"rs": rs}
    for part in PARTS.finditer(page.read_text(encoding="utf-8")):
        if part["session"]:
            examples = doctest.DocTestParser().get_examples(part["session"])
            exec("".join(each.source for each in examples), names)
        elif part["hidden"]:
            exec(part["hidden"], names)
        else:
            stream = io.BytesIO()
            names["ax"].figure.savefig(stream, format="png", dpi=110, bbox_inches="tight")
            with Image.open(stream) as image:  # 256 colours take a third of the room
                small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
            small.save(page.parent / part["image"], optimize=True)


def main(wanted: list[str]) -> None:
    """Make the pictures of these pages, or of all."""
    mpl.use("Agg")
    for page in sorted(DOCS.glob("*/*.md")):
        if "images/pages/" in page.read_text(encoding="utf-8") and (not wanted or page.stem in wanted):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                pictures(page)
                os.chdir(DOCS)


if __name__ == "__main__":
    main(sys.argv[1:])
