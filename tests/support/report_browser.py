"""The report in a real browser, with the network cut: what tests of the page share."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rocscope as rs

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
REASON = "no Chromium on this machine (apt-get install chromium): the tests of the page in a browser are skipped"


@pytest.fixture(scope="session")
def chromium(driver):
    """A browser; tests are skipped where there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip(REASON)
    browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
    yield browser
    browser.close()


class Firefox:
    """A page in the machine's own Firefox, by its Marionette protocol: that of playwright's is another program."""

    def __init__(self, program: str, profile: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        with ExitStack() as opening:
            self._process = opening.enter_context(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            opening.callback(self._process.terminate)
            self._socket = opening.enter_context(self._connected(port))
            self._answers = opening.enter_context(self._socket.makefile("rb"))
            self._read()
            self._ask("WebDriver:NewSession", capabilities={})
            self._ask("WebDriver:SetTimeouts", script=120_000)
            self.close = opening.pop_all().close

    def _connected(self, port: int) -> socket.socket:
        until = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port))
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    def _read(self) -> Any:
        size = b"".join(iter(lambda: self._answers.read(1), b":"))
        return json.loads(self._answers.read(int(size)))

    def _ask(self, command: str, **parameters: object) -> Any:
        text = json.dumps([0, 1, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, found = self._read()
        assert error is None, error
        return found

    def resize(self, width: int, height: int) -> None:
        """Give the page this size; a window is larger by its frame and its tools."""
        frame = self.evaluate("() => [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._ask("WebDriver:SetWindowRect", width=width + frame[0], height=height + frame[1])

    def goto(self, url: str) -> None:
        self._ask("WebDriver:Navigate", url=url)

    def evaluate(self, function: str, argument: object = None) -> Any:
        """What a function of JavaScript, or the promise that it returns, gives."""
        call = f"Promise.resolve(({function})(arguments[0]))"
        script = f"{call}.then((found) => arguments[1]([found]), (error) => arguments[1](String(error)))"
        found = self._ask("WebDriver:ExecuteAsyncScript", script=script, args=[argument], sandbox=None)["value"]
        assert isinstance(found, list), found
        return found[0]


@pytest.fixture(scope="session")
def firefox(tmp_path_factory):
    """A page in Firefox; tests are skipped where there is none."""
    program = next(filter(None, map(shutil.which, ("firefox", "firefox-esr"))), None)
    if program is None:
        pytest.skip("no Firefox on this machine (apt-get install firefox-esr)")
    page = Firefox(program, tmp_path_factory.mktemp("firefox"))
    yield page
    page.close()


_SETTLED = """() => new Promise((done) => {
  let [still, frames, changed] = [0, 0, false];
  const watch = new MutationObserver(() => { changed = true; });
  watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const look = () => {
    still = changed ? 0 : still + 1;
    changed = false;
    if (still < 3 && frames++ < 120) return requestAnimationFrame(look);
    watch.disconnect();
    done();
  };
  requestAnimationFrame(look);
})"""
_TO_TOP = """() => {
    const top = document.createElement("a");
    top.tabIndex = -1;
    document.body.prepend(top);
    top.focus();
    top.remove();
}"""
_FOCUSED = """() => {
    const it = document.activeElement;
    const name = it.getAttribute("aria-label") ?? it.labels?.[0]?.textContent ?? it.textContent;
    return [it.tagName, (name || it.id).trim(), it.matches(":focus-visible")];
}"""
_USABLE = """() => [...document.querySelectorAll("button, select, input, textarea, summary, [tabindex='0']")]
    .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0).length"""


class Opened:
    """A report that is open, and what the browser said while it was."""

    def __init__(self, page, path: Path) -> None:
        self.page = page
        self.path = path
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))

    def open(self, fragment: str = "") -> "Opened":
        self.page.goto(self.path.as_uri() + fragment)
        self.page.wait_for_selector("#models tbody tr")
        return self.details()  # where some of the charts are

    def settle(self) -> "Opened":
        """Wait until what was changed is drawn, which may take several frames."""
        self.page.evaluate(_SETTLED)
        return self

    def set(self, **entries: object) -> "Opened":
        """Type into fields by their id (an underscore stands for a hyphen)."""
        for name, value in entries.items():
            self.page.fill(f"#{name.replace('_', '-')}", str(value))
        return self.settle()

    def mark(self, chart: str, role: str, name: str = "data-at") -> list[float]:
        """Where a mark of a chart stands, in the units of its axes."""
        text = self.page.get_attribute(f"#{chart} [data-role={role}]", name)
        return [float(part) for part in text.split(" ")]

    def tab_through(self, most: int = 250) -> list[str]:
        """Press Tab from the top of the page to its end, and return the names of all that can be used."""
        self.page.wait_for_timeout(500)  # undo is offered at a pause
        self.page.evaluate(_TO_TOP)
        names: list[str] = []
        for _ in range(most):
            self.page.keyboard.press("Tab")
            tag, name, sharp = self.page.evaluate(_FOCUSED)
            if tag == "BODY":
                assert len(names) == self.page.evaluate(_USABLE), names
                return names
            assert name, f"{tag} has no name"
            assert sharp, f"{name} does not show that it is focused"
            names.append(name)
        raise AssertionError(f"Tab does not come to an end: {names[-20:]}")

    def download(self, selector: str) -> Path:
        with self.page.expect_download() as started:
            self.page.click(selector)
        return Path(started.value.path())

    def view(self, name: str) -> "Opened":
        """Show another chart next to the ROC curve."""
        self.page.select_option("[aria-label=View]:visible", name)
        return self.settle()

    def details(self) -> "Opened":
        """Open what is below the first charts."""
        self.page.evaluate("document.querySelector('#details').open = true")
        return self.settle()

    def show_data(self) -> "Opened":
        """Show notes and data below the charts."""
        self.page.click(".export summary")
        self.page.click("button:text-is('Notes and data below the charts')")
        self.page.click(".export summary")
        return self.settle()

    def reset(self) -> "Opened":
        """Return to the state at the start, with all menus closed."""
        self.page.evaluate("document.querySelectorAll('details.menu').forEach((menu) => { menu.open = false; })")
        self.page.evaluate("history.replaceState(null, '', location.pathname); dispatchEvent(new Event('hashchange'))")
        return self.settle()

    def save_chart(self, chart: str, kind: str) -> Path:
        """Save a chart or a table by the id of its card."""
        self.page.evaluate("document.querySelector('.export').open = false")
        self.page.click(".export summary")
        return self.download(f".export [data-of={chart}]:text-is('{kind}')")

    def decision(self) -> dict:
        return json.loads(self.download("text=Save decision").read_text(encoding="utf-8"))


@contextmanager
def opened(chromium, report: rs.Report | Path, folder: Path, fragment: str = "", **options) -> Iterator[Opened]:
    """Save a report if it is not saved yet, cut the network and open the file."""
    path = report if isinstance(report, Path) else report.save(folder / "report.html", force=True)
    context = chromium.new_context(**({"viewport": {"width": 1400, "height": 2600}} | options))
    context.set_offline(True)
    try:
        yield Opened(context.new_page(), path).open(fragment)
    finally:
        context.close()


def page_of(report: Callable[[], rs.Report], **options) -> Any:
    """A fixture: the page of a report, open for all tests of a module."""

    @pytest.fixture(scope="module", name="page")
    def page(chromium, tmp_path_factory):
        with opened(chromium, report(), tmp_path_factory.mktemp("report"), **options) as page:
            yield page

    return page


@pytest.fixture
def fresh(page):
    """The page as it was at first."""
    page.reset()


@cache
def predictions(models: int = 3, rows: int = 3000, seed: int = 1, decimals: int | None = None) -> rs.Predictions:
    """Simulated probabilities of models of which several are the best somewhere."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    scores = {}
    for number in range(models):
        spread = 1 + 0.6 * (number % 3)
        logit = rng.normal(0, 1, rows) + y * rng.normal(2.1 - 0.2 * (number % 4), spread, rows)
        probability = 1 / (1 + np.exp(1.8 - 1.4 * logit))
        scores[f"model {number + 1}"] = probability if decimals is None else probability.round(decimals)
    return rs.Predictions(y, scores)
