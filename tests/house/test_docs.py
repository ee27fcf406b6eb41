"""What the documentation says: links lead somewhere, names exist, sessions print what is shown."""

import doctest
import inspect
import re
import runpy
import shlex
from pathlib import Path

import pytest

import rocscope as rs
from rocscope import cli

ROOT = Path(__file__).parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = {page: str(page.relative_to(ROOT)) for page in PAGES}
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
pages = pytest.mark.parametrize("page", PAGES, ids=NAMES.get)


NUMBER = re.compile(r"\d+\.?\d*(?:e-?\d+)?")


class Nearly(doctest.OutputChecker):
    """The same words, and numbers within a hundredth: other releases of the libraries differ in the last digits."""

    def check_output(self, want, got, optionflags):
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (want, got)]
        words = [" ".join(NUMBER.sub("#", text).split()) for text in (want, got)]
        return words[0] == words[1] and numbers[0] == pytest.approx(numbers[1], rel=0.01)


def links(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [link for link in LINK.findall(text) if not re.match(r"https?:|mailto:", link)]


def blocks(page, language):
    return [body for _, name, body in BLOCK.findall(page.read_text(encoding="utf-8")) if name == language]


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_every_link_leads_to_a_file_and_a_heading(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("start", ["README.md", "docs/README.md"])
def test_every_page_of_the_docs_is_reached_by_links(start):
    found, coming = set(), [ROOT / start]
    while coming:
        page = coming.pop()
        if page in NAMES and page not in found:
            found.add(page)
            coming += [page.parent.joinpath(link.partition("#")[0]).resolve() for link in links(page)]
    assert {page for page in PAGES if ROOT / "docs" in page.parents} - {ROOT / "docs" / "index.md"} <= found


def chapters():
    """Return the text of each chapter of the index that is about a topic."""
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## [^`\n]*`rs\.(\w+)`\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("topic", [name for name in rs.__all__ if hasattr(getattr(rs, name), "__all__")])
def test_the_index_has_every_public_name_in_the_chapter_of_its_topic(topic):
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    chapter = chapters().get(topic, text)
    for name in getattr(rs, topic).__all__:
        assert re.search(rf"`{'rs.' if name in rs.__all__ else ''}{name}\b", chapter), name


def test_the_index_has_every_word_of_every_day():
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert set(rs.__all__) <= set(re.findall(r"`rs\.(\w+)", text))


def test_the_files_that_contributing_names_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    known = [
        f"/{path.relative_to(ROOT)}"
        for folder in ("src", "client", "tests")
        for path in (ROOT / folder).rglob("*.[pt][ys]")
    ]
    for name in re.findall(r"`([\w./]+\.(?:py|ts))\b", text):
        assert any(path.endswith(f"/{name}") for path in known) or (ROOT / name).exists(), name


def test_every_module_says_what_is_in_it_in_one_line():
    # the list of modules is made with the site; what it shows of each is the first line of its docstring
    reference = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
    listed, package = reference["module_list"](), Path(rs.__file__).parent
    for path in package.rglob("*.py"):
        line = reference["first_line"](path)
        if path.name != "__init__.py":
            assert line.endswith(".") and len(line) <= 117, path
            assert f"``{path.stem}``\n   {line}\n" in listed


def test_every_public_name_shows_what_it_returns_and_an_example():
    reference = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
    assert {topic for topic in rs.__all__ if hasattr(getattr(rs, topic), "__all__")} <= set(reference["TOPICS"])
    for name in reference["public_names"]():
        owner, _, last = name.rpartition(".")
        each = getattr(reference["topic_named"](owner.removeprefix("rocscope").lstrip(".")), last)
        assert not lacking(each), (name, lacking(each))
    assert not {name: lacking(metric) for name, metric in rs.metrics.METRICS.items() if lacking(metric)}
    assert all(name in rs.metrics.__doc__ for name in rs.metrics.METRICS)


def lacking(public):
    """The sections that a public function or class should have and lacks."""
    due = ("Returns", "Examples") if inspect.isfunction(public) else ("Examples",)
    return [each for each in due if not re.search(rf"^ *{each}\n *-{{7,8}}$", public.__doc__, re.MULTILINE)]


@pages
def test_names_in_the_docs_exist(page):
    text = page.read_text(encoding="utf-8")
    old = {"brier", "compare_groups"} if page.stem == "upgrading" else {"md"}
    assert {name for name in re.findall(r"\brs\.(\w+)\b", text) if not hasattr(rs, name)} <= old


PROGRAMS = [page for page in PAGES if blocks(page, "python")]
FITS = "programs of the docs that fit models for seconds"
SLOW = {
    "docs/guide/engines/spark.md": "programs of the docs that start a JVM",
    "docs/guide/evaluation/evaluation.md": FITS,
    "docs/guide/estimators.md": FITS,
}
SLOW_SESSIONS = dict.fromkeys(
    ["docs/stories/figures.md", "docs/tutorials/ml-engineer.md", "docs/guide/evaluation/evaluation.md"], FITS
)


def some_slow(pages, slow):
    """Parametrise by page, and mark as slow the pages that `slow` gives a reason for."""
    marks = {page: pytest.mark.slow(reason=slow[NAMES[page]]) for page in pages if NAMES[page] in slow}
    return pytest.mark.parametrize(
        "page", [pytest.param(page, marks=marks.get(page, ())) for page in pages], ids=NAMES.get
    )


@some_slow(PROGRAMS, SLOW)
def test_programs_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = re.findall(r"^<!-- before:\n(.*?)^-->", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names = {"rs": rs}
    for body in [*before, *blocks(page, "python")]:
        exec(body, names)


@some_slow(PAGES, SLOW_SESSIONS)
def test_sessions_print_what_is_shown(page, tmp_path, monkeypatch):
    sessions = "\n\n".join(blocks(page, "pycon"))
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(sessions, {"rs": rs}, NAMES[page], NAMES[page], 0)
    runner = doctest.DocTestRunner(Nearly())
    shown = []
    assert runner.run(test, out=shown.append).failed == 0, "".join(shown)
    assert bool(test.examples) == bool(sessions)
    if "tutorials" in page.parts:
        for command in re.findall(
            r"^\$ rocscope (.*)$", "\n".join(blocks(page, "console")).replace("\\\n", ""), re.MULTILINE
        ):
            assert cli.run(shlex.split(command)) == 0, command


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "tutorials" and page.stem != "index"])
def test_a_tutorial_takes_ten_lines_and_five_minutes(page):
    """From file to decision, which follows the block that makes the file; 200 words a minute are slow."""
    _, to_decision, *_ = blocks(page, "pycon")
    assert len(re.findall(r"^(>>>|\.\.\.) ", to_decision, re.MULTILINE)) <= 10
    assert len(page.read_text(encoding="utf-8").split()) <= 5 * 200


def test_results_have_pages_and_short_names_are_understood():
    reference = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
    results = reference["result_classes"]()
    assert {"RocCurve", "LiftChart", "Hull", "CampaignPlan", "Summary", "LearningCurve"} <= set(results)
    assert not set(results) & {name.rpartition(".")[2] for name in reference["public_names"]()}
    meant = {
        "auc": "rocscope.auc",
        "plotting.plot_roc": "rocscope.plotting.plot_roc",
        "Decision.interval": "rocscope.Decision.interval",
        "RocCurve.hull": "rocscope.curves.rate_curves.RocCurve.hull",
        "threshold": None,
        "scipy.stats.wilcoxon": None,
    }
    assert {short: reference["long_name"](short) for short in meant} == meant
