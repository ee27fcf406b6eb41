"""Fail where the built site has a dead link or a reference that is not a link, lacks a page, or its search misses one.

python .ci/check_site.py build/site
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "site"))
import pages


class Page(HTMLParser):
    """What a page links to, what it can be linked at, and its references that are not links."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.rubrics: list[str] = []
        self.unlinked: list[str] = []
        self._rubric = self._link = self._reference = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep links and anchors."""
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        classes = given.get("class", "").split()
        self._rubric = "rubric" in classes
        self._link |= tag == "a"
        if tag == "code" and "xref" in classes and not self._link:
            self._reference = True
            self.unlinked.append("")

    def handle_endtag(self, tag: str) -> None:
        """Notice the ends of links and references."""
        self._link &= tag != "a"
        self._reference &= tag != "code"

    def handle_data(self, data: str) -> None:
        """Keep the small headings and the texts of references."""
        if self._reference:
            self.unlinked[-1] += data
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

    for name in pages.result_classes().values():
        if not (site / "api" / "names" / f"{pages.file_name(name)}.html").exists():
            yield f"{name}: no page"


def references_without_link(site: Path) -> Iterator[str]:
    """Complain of references to names of ours that lead nowhere."""
    for path in sorted(site.glob("api/**/*.html")):
        for text in read(path).unlinked:
            if pages.long_name(text.removesuffix("()")):
                yield f"{path.relative_to(site)}: {text} is not a link"


def missed_searches(site: Path) -> Iterator[str]:
    """Complain of terms for which the site's own search shows another page first; needs Node."""
    wanted = {term: page for page, terms in pages.SEARCHED.items() for term in terms}
    if shutil.which("node") is None:
        print("the search is not checked: there is no Node")
        return
    script = Path(__file__).with_name("search_site.js")
    printed = subprocess.run(["node", script, site, *wanted], check=True, capture_output=True, text=True).stdout
    for term, page in json.loads(printed).items():
        if page != wanted[term]:
            yield f"search for {term!r}: {page} comes first, not {wanted[term]}"


def main() -> None:
    """Check a built site."""
    site = Path(sys.argv[1]).resolve()
    found = [*dead_links(site), *names_without_page(site), *references_without_link(site), *missed_searches(site)]
    print("\n".join([*found, f"{len(list(site.rglob('*.html')))} pages, {len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
