"""Seconds, memory and gaps between frames of the open page in Chromium, and what a drag over the report takes.

``python benchmarks/page/bench_page.py`` writes a CSV file of 10⁶ rows and a Parquet file of 10⁷, opens each from disk
in the open page, twice in a browser, and of the second time tells how long it takes from the choice of the file to its
columns, and from "Show the report" to the first chart; the peak of memory of the process that shows the page, in all
and without what Chromium needs for an empty one; the longest time without a frame; and what was asked for or said
meanwhile. Then it drags three sliders of a report of 20 models, and tells the milliseconds of script a step; and it
asks the workbench, over the same Parquet file in a process of its own, for its page and for conditions. ``--check``
fails beyond 2.5 s for the CSV file, 8 s and 1.2 GB for the Parquet file, 50 ms without a frame, 4 ms of script in 95
of 100 steps, 3 s to the first chart of the workbench, 1 s from a condition to its counts, and any request or message
of the open page.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from playwright.sync_api import Browser, Page, sync_playwright

import rocscope as rs
from rocscope.report.page import open_page

sys.path.append(str(Path(__file__).parents[1]))
from timing import fill_cache, touch_memory

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
CSV, PARQUET = 10**6, 10**7
MOST_SECONDS = {CSV: 2.5, PARQUET: 8.0}
MOST_BYTES, MOST_GAP, MOST_SCRIPT = 1.2e9, 50.0, 4.0
MOST_FIRST, MOST_REFRESH = 3.0, 1.0
CONDITIONS = (
    "age > 40",
    "age > 41 AND region <> 'north'",
    "region = 'south'",
    "age > 20",
    "age > 30",
    "region <> 'west'",
)
STEPS = 60
SLIDERS = ("#cost-fn-range", "#prevalence-range", "#threshold-range")

COUNTING = """() => {
  const log = window.counted = {began: 0, seconds: 0};
  const said = document.querySelector(".few");
  let counting = false;
  document.addEventListener("keydown", ({key}) => {
    if (key === "Enter") Object.assign(log, {began: performance.now(), seconds: 0});
  }, true);
  new MutationObserver(() => {
    const now = said.textContent === "Counting …";
    if (counting && !now) log.seconds = (performance.now() - log.began) / 1000;
    counting = now;
  }).observe(said, {subtree: true, childList: true, characterData: true});
}"""
WATCH = """() => {
  const log = window.watched = {chosen: 0, asked: 0, told: 0, drawn: 0, gap: 0, at: 0};
  document.addEventListener("change", (event) => event.target.id === "files" && (log.chosen = performance.now()), true);
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    if (log.chosen && now - last > log.gap) [log.gap, log.at] = [now - last, last];
    if (!log.told && document.querySelector("#show")) log.told = now;
    if (!log.drawn && document.querySelector("#roc [data-role=point]")) log.drawn = now;
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
WAIT = """(what) => new Promise((done) => {
  const look = () => (watched[what] ? done() : setTimeout(look, 50));
  look();
})"""  # to wait for a selector runs far more script, at each frame
SHOW = "() => { watched.asked = performance.now(); document.querySelector('#show').click(); }"


@dataclass(frozen=True)
class Opened:
    """What opening a file took, in seconds, bytes and milliseconds."""

    look: float
    count: float
    peak: int
    empty: int
    gap: float
    gap_at: float
    said: list[str]

    def met(self, rows: int) -> bool:
        """Whether this is within what is promised."""
        light = rows < PARQUET or self.peak <= MOST_BYTES
        return light and self.look + self.count <= MOST_SECONDS[rows] and self.gap <= MOST_GAP and not self.said


def write(folder: Path, rows: int) -> Path:
    """Write labels and two models' scores of that many rows, the numbers of CSV with six decimals."""
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.2
    scores = {
        name: 1 / (1 + np.exp(1 - gain * y - rng.normal(0, 1, rows))) for name, gain in (("old", 1.2), ("new", 1.8))
    }
    table = pa.table({"bought": y.astype(np.int8)} | {name: score.astype(np.float32) for name, score in scores.items()})
    if rows == PARQUET:
        path = folder / "ten million.parquet"
        regions = np.array(["north", "south", "east", "west", "islands"])
        table = table.append_column("age", pa.array(rng.integers(18, 90, rows).astype(np.int32)))
        table = table.append_column("region", pa.DictionaryArray.from_arrays(rng.integers(0, 5, rows), regions))
        pyarrow.parquet.write_table(table, path, row_group_size=10**6, compression="snappy")
        return path
    path = folder / "a million.csv"
    rounded = {name: score.round(6) for name, score in scores.items()}
    pyarrow.csv.write_csv(pa.table({"bought": table["bought"]} | rounded), path)
    return path


def processes(browser: Browser) -> Iterator[int]:
    """Process numbers of what shows pages."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    yield from (int(process["id"]) for process in found if process["type"] == "renderer")


def peak(browser: Browser) -> int:
    """Return the most memory, in bytes, that a process which shows a page has had so far."""

    def most(process: int) -> int:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    return max(map(most, processes(browser)))


def opened(driver: Any, program: str, page_file: Path, data: Path) -> Opened:
    """Open a file in a browser of its own that has done so before, as one in use has what it needs in memory."""
    fill_cache(data.parent)
    browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
    opened_in(browser, page_file, data)
    found = opened_in(browser, page_file, data)
    browser.close()
    return found


def opened_in(browser: Browser, page_file: Path, data: Path) -> Opened:
    """Open a file in a new page."""
    page, said = browser.new_page(viewport={"width": 1280, "height": 900}), list[str]()
    page.set_default_timeout(120_000)
    page.goto(page_file.as_uri())
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith("blob:") else None)
    empty = peak(browser)
    page.evaluate(WATCH)
    page.set_input_files("#files", data)
    page.evaluate(WAIT, "told")
    page.evaluate(SHOW)
    page.evaluate(WAIT, "drawn")
    page.wait_for_timeout(3000)  # how sure areas are comes after
    log = page.evaluate("watched")
    found = Opened(
        (log["told"] - log["chosen"]) / 1000,
        (log["drawn"] - log["asked"]) / 1000,
        peak(browser),
        empty,
        log["gap"],
        (log["at"] - log["asked"]) / 1000,
        said,
    )
    page.context.close()
    return found


def reports(driver: Any, program: str, page_file: Path, data: Path, rows: int, turns: int) -> bool:
    """Print what opening a file took each time, and judge the median."""
    opens = [opened(driver, program, page_file, data) for _ in range(turns)]
    opens.sort(key=lambda one: one.look + one.count)
    for one in opens:
        print(
            f"{rows:,} rows, {data.suffix}: columns {one.look:.2f} s, report {one.count:.2f} s, "
            f"{one.peak / 1e6:.0f} MB ({one.empty / 1e6:.0f} MB before), {one.gap:.0f} ms without a frame, "
            f"{one.gap_at:.2f} s after it was asked for, {len(one.said)} requests or messages"
        )
    return opens[turns // 2].met(rows)


def dragged(page: Page, control: str) -> tuple[float, float]:
    """Return median and 95th percentile of the milliseconds of script that a step of a slider takes."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # the thread's time, not that of the wall
    box = page.locator(control).bounding_box()
    assert box is not None

    def script() -> float:
        return next(
            one["value"] for one in session.send("Performance.getMetrics")["metrics"] if one["name"] == "ScriptDuration"
        )

    def wait() -> None:
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def move(step: int) -> None:
        page.mouse.move(box["x"] + box["width"] * (0.15 + 0.7 * step / STEPS), box["y"] + box["height"] / 2)
        wait()

    def times(act: Callable[[int], None]) -> list[float]:
        found: list[float] = []
        for step in range(STEPS):
            before = script()
            act(step)
            found.append(1000 * (script() - before))
        return sorted(found)

    move(0)
    page.mouse.down()
    for step in range(10):  # what is run the first time is compiled
        move(step)
    waiting = times(lambda _: wait())[STEPS // 2]  # is the benchmark's own script
    moving = times(move)
    page.mouse.up()
    return moving[STEPS // 2] - waiting, moving[int(0.95 * STEPS)] - waiting


def drags(driver: Any, program: str, folder: Path) -> Iterator[bool]:
    """Print and judge what drags over a report of 20 models take."""
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.3
    logits = {
        f"model {i}": rng.normal(0, 1, y.size) + y * rng.normal(2.1 - 0.2 * (i % 4), 1 + 0.6 * (i % 3), y.size)
        for i in range(20)
    }
    scores = {name: 1 / (1 + np.exp(1.8 - 1.4 * logit)) for name, logit in logits.items()}
    report = rs.Report(rs.Predictions(y, scores)).save(folder / "report.html")
    browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(report.as_uri())
    page.wait_for_selector("#models tbody tr")
    for control in SLIDERS:
        median, p95 = dragged(page, control)
        print(f"20 models, {control}: median {median:.1f} ms, p95 {p95:.1f} ms of script a step")
        yield p95 <= MOST_SCRIPT
    browser.close()


def workbench(driver: Any, program: str, data: Path) -> bool:
    """Print and judge how long the workbench takes to its first chart, and from a condition to its counts."""
    touch_memory(2 * 10**9)
    options = ["--label", "bought", "--score", "old", "--score", "new", "--no-browser"]
    command = [sys.executable, "-m", "rocscope", "explore", str(data), *options]
    browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            said = next(line for line in server.stdout if "http://" in line)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            page.goto(next(word for word in said.split() if word.startswith("http://")))
            while page.query_selector("#roc [data-role=point]") is None:  # to wait for a selector looks twice a second
                page.wait_for_timeout(20)
            first = time.perf_counter() - began
            page.wait_for_timeout(5000)  # how sure areas are comes after
            page.evaluate(COUNTING)
            refreshed: list[float] = []
            for condition in CONDITIONS:
                page.fill("#where", condition)
                page.press("#where", "Enter")
                while not (seconds := page.evaluate("() => window.counted.seconds")):
                    page.wait_for_timeout(50)
                refreshed.append(seconds)
                page.wait_for_timeout(3000)
        finally:
            server.terminate()
            browser.close()
    told = ", ".join(f"{seconds:.2f} s for {where}" for seconds, where in zip(refreshed, CONDITIONS, strict=True))
    print(f"workbench, {PARQUET:,} rows: first chart {first:.2f} s, then {told}")
    return first <= MOST_FIRST and max(refreshed) <= MOST_REFRESH


def main() -> int:
    """Run, print the figures, and say whether promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["csv", "parquet", "workbench", "drag"], help="one part of it")
    parser.add_argument("--turns", type=int, default=3, help="times that each file is opened; the median is judged")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        parser.error("no Chromium on this machine")
    kept: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="rocscope-bench-") as name, sync_playwright() as driver:
        folder = Path(name)
        page_file = folder / "open.html"
        page_file.write_text(open_page(), encoding="utf-8")
        for part, rows in (("csv", CSV), ("parquet", PARQUET)):
            live = part == "parquet" and options.only in (None, "workbench")
            if not live and options.only not in (None, part):
                continue
            data = write(folder, rows)
            if options.only in (None, part):
                kept.append(reports(driver, program, page_file, data, rows, options.turns))
            if live:
                kept.append(workbench(driver, program, data))
            data.unlink()
        if options.only in (None, "drag"):
            kept.extend(drags(driver, program, folder))
    return int(options.check and not all(kept))


if __name__ == "__main__":
    sys.exit(main())
