"""Fail where the built site has a dead link inside, or lacks the page of a public name.

python .ci/check_site.py build/site
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "site"))
import pages


class Page(HTMLParser):
    """What a page links to, what it can be linked at, and its words."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.rubrics: list[str] = []
        self._rubric = False

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep links and anchors."""
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self._rubric = "rubric" in given.get("class", "").split()

    def handle_data(self, data: str) -> None:
        """Keep the small headings."""
        if self._rubric:
            self.rubrics.append(data)
            self._rubric = False


@cache
def read(path: Path) -> Page:
    """Return what a page holds."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def dead_links(site: Path) -> Iterator[str]:
    """Complain of links that lead nowhere."""
    reports = {"open.html", "wdbc.html", "tic_tac_toe.html"}  # one program each, whose links are its own
    for path in sorted(site.rglob("*.html")):
        if path.name in reports or "_static" in path.parts:
            continue
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} leads nowhere"
            elif target.suffix != ".html" or target.name in reports:
                continue
            elif unquote(parts.fragment) not in read(target).anchors:
                yield f"{path.relative_to(site)}: {link} has no such place"


def names_without_page(site: Path) -> Iterator[str]:
    """Complain of public names without a page, or on whose page no example is."""
    for name in pages.public_names():
        path = site / "api" / "names" / f"{pages.file_name(name)}.html"
        if not path.exists():
            yield f"{name}: no page"
        elif "Examples" not in read(path).rubrics:
            yield f"{name}: no example"


def main() -> None:
    """Check a built site."""
    site = Path(sys.argv[1]).resolve()
    found = [*dead_links(site), *names_without_page(site)]
    print("\n".join([*found, f"{len(list(site.rglob('*.html')))} pages, {len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
