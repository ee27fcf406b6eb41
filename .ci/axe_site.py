"""Check pages of the built site with axe, light and dark, on a screen and on a phone, and find what is cut off.

python .ci/axe_site.py build/site [pictures]     (a folder for a picture of each; needs Chromium and `npm ci` in client)
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AXE = Path(__file__).parents[1] / "client" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = {
    "home": "index.html",
    "install": "install.html",
    "tutorial": "tutorials/marketer.html",
    "guide": "guide/calibration.html",
    "gallery": "gallery/index.html",
    "one-of-gallery": "gallery/decisions/who_wins_where.html",
    "reference": "api/names/rocscope.class-Decision.html",
    "coming-from": "coming-from/proc.html",
    "glossary": "glossary.html",
    "speed": "benchmarks.html",
    "papers": "stories/papers.html",
    "try-it": "try-it.html",
    "how-it-works": "how-it-works.html",
    "search": "search.html?q=threshold",
}
SIZES = {"screen": (1280, 900), "phone": (390, 844)}
MOST_COLUMNS = 5
"""A table with more may be moved sideways in its box on a phone."""
CUT = """(most) => [document.documentElement, ...document.querySelectorAll("pre, .pst-scrollable-table-container")]
    .filter((each) => innerWidth > 1000 || each.querySelectorAll(":scope > table th").length <= most)
    .map((each) => [each.scrollWidth - each.clientWidth, each.textContent.trim().slice(0, 50)])
    .filter(([beyond]) => beyond > 1).map(([beyond, text]) => `${beyond} px cut off: ${text}`)"""


def findings(browser: Any, site: Path, pictures: Path | None) -> Iterator[str]:
    """Yield what axe finds on each page, and what is wider than its place."""
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            window = {"width": width, "height": height}
            context = browser.new_context(viewport=window, color_scheme=scheme, offline=True)
            for name, path in PAGES.items():
                page = context.new_page()
                file, *question = path.partition("?")
                page.goto((site / file).as_uri() + "".join(question))
                page.wait_for_timeout(400)
                where = f"{path} ({scheme}, {width} px)"
                page.add_script_tag(path=AXE)
                for each in page.evaluate("async () => (await axe.run()).violations"):
                    yield from (f"{where}: {each['id']}: {node['target']}" for node in each["nodes"])
                yield from (f"{where}: {' '.join(each.split())}" for each in page.evaluate(CUT, MOST_COLUMNS))
                if pictures is not None:
                    page.screenshot(path=pictures / f"{name}-{size}-{scheme}.png", full_page=name != "glossary")
                page.close()
            context.close()


def main() -> None:
    """Check a built site. Without the tools this fails in CI (the variable `CI` is set) and is skipped elsewhere."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if program is None or sync_playwright is None or not AXE.exists():
        print("SKIPPED: axe did not check the site. Install Chromium and playwright, and run `npm ci` in client.")
        sys.exit(bool(os.environ.get("CI")))
    site, pictures = Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        found = list(findings(browser, site, pictures))
    views = len(PAGES) * len(SIZES) * 2
    print("\n".join([*found, f"{len(PAGES)} pages in {views} views: {len(found)} findings"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
