"""What is typed: options of every command, faults in them, answered at once, and where defaults come from."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version

import pyarrow as pa
import pytest
from pyarrow import parquet

import rocscope
from rocscope.cli import app

COMMANDS = ("demo", "validate", "summary", "report", "choose", "campaign", "compare", "calibrate", "page")
OF_A_FILE = COMMANDS[1:-1]
CAMPAIGN = ("--population", "9", "--unit-cost", "1", "--unit-benefit", "2")
LIBRARIES = {"numpy", "pyarrow", "duckdb", "scipy", "sklearn", "matplotlib", "narwhals"}
END = "\0"
SCRIPT = f"""
import json, sys
from rocscope.cli import run
for arguments in json.loads(sys.argv[1]):
    print(run(arguments), end={END!r})
print(*{{name.partition(".")[0] for name in sys.modules}})
"""


def answers(folder, *typed, columns="80"):
    """Run commands in a process of their own; return what each prints and its code, stderr, and what was loaded."""
    environment = os.environ | {"COLUMNS": columns}
    command = [sys.executable, "-c", SCRIPT, json.dumps(typed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    *printed, loaded = done.stdout.split(END)
    return printed, done.stderr, set(loaded.split())


@pytest.fixture(scope="module")
def helps(tmp_path_factory):
    """The help of each command in 80 columns, which another process may have been shown in another width."""
    commands = [(name, "--help") for name in COMMANDS] + [("--help",), ()]
    printed, err, _ = answers(tmp_path_factory.mktemp("helps"), *commands)
    assert ({text[-1] for text in printed}, err) == ({"0"}, "")
    return dict(zip(commands, [text[:-1] for text in printed], strict=True))


@pytest.mark.every(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_terminal_and_says_something_of_every_option(helps, command):
    out = helps[command, "--help"]
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert ("Example: " in out) == (command != "demo")
    options = [line for line in lines if line.startswith(("│ --", "│ *  "))]
    assert options
    assert all(len(line.strip("│ ").split("  ")) > 1 for line in options), "an option without words"
    main, _, of_file = out.partition("╭─ Input file ─")
    assert "--delimiter" not in main
    assert of_file.count("╭─") == 0, "a panel after the options of the file"
    # These commands read no file of rows.
    assert ("--delimiter" in of_file) == (command not in ("demo", "page"))


def early_breaks(out, width):
    """Return the line breaks at which the next word would still fit on the line, and lines with repeated spaces."""
    breaks = []
    room, previous = width, ""
    for line in out.splitlines():
        entry = re.match(r"│ (?:\*  )? *(\S+(?: \S+)*) {2,}(?=\S)", line)
        if line.startswith("╭"):
            start, previous = None, ""
            continue
        if not line.startswith("│"):
            text, room = line.rstrip(), width
        elif entry and (start is None or entry.end() == start):
            # The text of an option begins where the text of the first option of the panel begins.
            start = entry.end()
            text, room, previous = line[start:-1].rstrip(), width - 2 - start, ""
        else:
            text = line[start:-1].rstrip()
        if previous and text and len(previous) + 1 + len(text.split()[0]) <= room:
            breaks.append(f"{previous} / {text}")
        if "  " in text:
            breaks.append(text)
        previous = text
    return breaks


@pytest.mark.every(2)
@pytest.mark.parametrize("width", [80, 120])
def test_help_breaks_lines_only_where_they_are_full(tmp_path, width):
    typed = [(name, "--help") for name in app.COMMANDS] + [("--help",)]
    printed, err, _ = answers(tmp_path, *typed, columns=str(width))
    assert ({text[-1] for text in printed}, err) == ({"0"}, "")
    assert [early_breaks(text[:-1], width) for text in printed] == [[]] * len(typed)
    # The check finds a break before a word that fits.
    panel = ["╭─ Options ─╮", "│ --guess  Guess.    │", "│          It works. │"]
    assert (early_breaks("\n".join(panel), 21), early_breaks("\n".join(panel), 25)) == ([], ["Guess. / It works."])


def test_help_names_every_command(helps):
    out = helps["--help",]
    assert helps[()] == out
    for command in COMMANDS:
        assert re.search(rf"│ {command} +[A-Z]", out)


@pytest.mark.slow(reason="what starts other programs")
def test_completion_is_written_only_after_it_was_shown_and_agreed_to(run, tmp_path, monkeypatch):
    home = {"HOME": str(tmp_path), "SHELL": "/bin/bash"}
    script = tmp_path / ".local/share/bash-completion/completions/rocscope"
    code, _, err = run("--install-completion", **home)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert f"write {script} and add a line to {tmp_path / '.bashrc'}" in err
    assert "expected --yes, got no --yes; add --yes, because" in err
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda _: True})())
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert run("--install-completion", **home)[2].endswith("Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []
    assert run("--install-completion", "--yes", **home)[0] == 0
    assert "--target-prevalence" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()


def test_version(run):
    import rocscope

    assert run("--version") == (0, f"rocscope {rocscope.__version__}\n", "")
    asked = subprocess.run([sys.executable, "-m", "rocscope", "--version"], capture_output=True, text=True)
    assert (asked.returncode, asked.stdout) == (0, f"rocscope {rocscope.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("summary",),
            "FILE: expected a file, got no file; for example: rocscope summary scores.parquet --label y --score a",
        ),
        (("sumary", "f.csv"), 'Neither a command nor a file: "sumary". Did you mean "summary"?'),
        (("summary", "f.csv", "--lable", "y"), "--lable: no such option (did you mean --label?)"),
        (("summary", "--lable", "y"), "--lable: no such option (did you mean --label?); see rocscope summary --help"),
        (
            ("summary", "a.csv", "b.csv"),
            "unexpected argument 'b.csv'; use one file at a time: rocscope b.csv; to compare files use rocscope explo",
        ),
        (("summary", "f.csv", "--label"), "--label: expected a value, got no value"),
        (("summary", "f.csv", "--missing", "skip"), '"skip" for --missing. Choose from: "error", "drop", "segment"'),
        (("summary", "f.csv", "--format", "xls"), '"xls" for --format'),
        (
            ("summary", "f.csv", "--target-prevalence", "much"),
            "--target-prevalence: expected a number, got 'much'; see",
        ),
        (("summary", "f.csv", "--json", "--md"), "--json and --md: expected only one of these options, got both"),
        (("campaign", "f.csv"), "--population: expected a value, got no value"),
        (("campaign", "f.csv", *CAMPAIGN, "--steps", "0"), "--steps"),
        (("choose", "f.csv", "--cost-rows", "columns"), '"columns" for --cost-rows'),
        (("calibrate", "f.csv", "--score", "s", "-o", "-"), "--output: expected the name of a file"),
        (("summary", "no*.csv"), "no*.csv: no file matches this pattern"),
        (("summary", "s3://bucket/f.csv"), "only local files are read"),
    ],
)
def test_a_fault_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("rocscope: ")
    assert message in err


WRONG = {
    "path": (("missing.csv", "--label", "y"), "missing.csv: no such file"),
    "option": (("missing.csv", "--label", "y", "--scroe", "s"), "--scroe"),
    "label": (("rows.csv", "--label", "z"), "label of rows.csv: expected one of 'y', 's', got 'z'"),
    "score": (
        ("rows.csv.gz", "--label", "y", "--score", "t"),
        "score of rows.csv.gz: expected one of 'y', 's', got 't'",
    ),
}


def test_what_is_wrong_is_answered_before_any_library_is_loaded(tmp_path):
    (tmp_path / "rows.csv").write_text("y,s\n1,0.9\n0,0.1\n")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    lines, messages = [], []
    for typed, message in WRONG.values():
        for command in OF_A_FILE:
            required = CAMPAIGN if command == "campaign" else ()
            required += ("--score", "s") if "--score" not in typed and command != "validate" else ()
            lines.append((command, *typed, *required))
            messages.append(message)
    codes, err, loaded = answers(tmp_path, *lines)
    assert codes == ["2"] * len(lines), err
    for typed, message, said in zip(lines, messages, err.splitlines(), strict=True):
        assert message in said, typed
    assert not loaded & LIBRARIES


SCORED = ("rows.csv", "--label", "y", "--score", "s")
VALUES = {
    "prevalence": (("choose", "--target-prevalence", "2"), "--target-prevalence: expected a share above 0 and below 1"),
    "percent": (("choose", "--target-prevalence", "5%"), "expected a number, got '5%'; write 0.05"),
    "grouped": (("choose", "--population", "10,000"), "--population: expected a number, got '10,000'; write 10000"),
    "points": (("choose", "--capacity", "1.000.000"), "--capacity: expected a number, got '1.000.000'; write 1000000"),
    "point": (("choose", "--population", "2.000"), "--population: expected a number, got '2.000'; write 2000"),
    "comma": (("choose", "--cost-fn", "1,50"), "--cost-fn: expected a number, got '1,50'; write 1.50"),
    "thousands": (("choose", "--cost-fn", "1,500"), "write 1.500 or 1500"),
    "euro": (("summary", "--cost-fn", "45€"), "--cost-fn: expected a number, got '45€'; write 45"),
    "share of cases": (("choose", "--capacity", "10%"), "--capacity: expected a number, got '10%'; see"),
    "column": (("choose", "--cost-fn", "abc"), "--cost-fn (a number or a column) of rows.csv: expected one of 'y'"),
    "no column": (("report", "--cost-fn", "abc"), "--cost-fn: expected a number, got the column"),
    "constraint": (("choose", "--subject-to", "sensitivty >= .9"), "--subject-to: expected one of 'sensitivity', "),
    "criterion": (("choose", "--criterion", "acuracy"), "(did you mean 'accuracy'?), got 'acuracy'"),
    "gate": (("compare", "--fail-if", "auc(t) < .7"), "--fail-if: expected a model name, 's', got 't'"),
    "figure": (("compare", "--fail-if", "acu(s) < .7"), "(did you mean 'auc'?), got 'acu'"),
    "positive": (("choose", "--pos-label", "ja"), "expected a value of column 'y': one of '0', '1', got 'ja'"),
    "force": (("choose", "-o", "old.json"), "old.json exists already; choose another name, or overwrite it"),
    "ending": (("choose", "-o", "rows.csv"), "rows.csv: expected a name that ends in .json, got the ending .csv"),
    "force that is not there": (("validate", "--force"), "--force: no such option; see rocscope validate --help"),
}  # fmt: skip


def test_a_wrong_value_is_answered_in_its_own_words_before_rows_are_read(tmp_path):
    """All that takes long is what reads rows and computes: libraries beyond NumPy, which only checks take."""
    (tmp_path / "rows.csv").write_text("y,s\n1,0.9\n0,0.1\n")
    (tmp_path / "old.json").write_text("{}")
    typed = [(command, *SCORED, *options) for (command, *options), _ in VALUES.values()]
    codes, err, loaded = answers(tmp_path, *typed)
    assert codes == ["2"] * len(VALUES), err
    for (fault, (_, message)), line in zip(VALUES.items(), err.splitlines(), strict=True):
        assert message in line, fault
        assert len(re.findall(r"'[^']*'", line.partition(", got ")[0])) <= 12, fault
    assert not loaded & (LIBRARIES - {"numpy"})


def test_a_failed_guess_does_without_what_it_does_not_need(tmp_path):
    (tmp_path / "rows.csv").write_text("kind,s\na,0.9\nb,0.1\nc,0.2\n")
    codes, err, loaded = answers(tmp_path, ("rows.csv",))
    assert (codes, "a column of rows.csv ('kind', 's'), got no name" in err) == (["2"], True)
    of_arrow = {"pandas"} if int(version("pyarrow").split(".")[0]) < 23 else set()  # which loads it to make arrays
    assert not loaded & ({"scipy", "sklearn", "pandas", "matplotlib"} - of_arrow)


@pytest.mark.slow(reason="what starts other programs")
def test_a_positive_label_that_differs_only_in_how_it_is_written_is_left_to_the_reader(tmp_path):
    (tmp_path / "rows.csv").write_text("y,s\nYES,0.9\nno,0.1\n\n")
    (tmp_path / "three.csv").write_text("y,s\nmaybe,0.9\nno,0.1\nyes,0.3\n")
    typed = ("--label", "y", "--score", "s", "--pos-label", "yes", "--no-detail")
    kept = ("summary", "three.csv", *typed, "--where", "y <> 'maybe'")
    codes, err, _ = answers(tmp_path, ("summary", "rows.csv", *typed), ("summary", "three.csv", *typed), kept)
    assert [code[-1] for code in codes] == ["2", "2", "0"]
    assert err.splitlines()[0].endswith("--pos-label: expected one of the labels 'YES', 'no', got 'yes'")
    assert "--pos-label: expected a value" not in err


def test_a_pipe_is_as_wide_as_it_is_told(run, scores, monkeypatch):
    widths = {}
    for columns in ("60", "150"):
        out = run("summary", scores, "--label", "y", "--score", "a", COLUMNS=columns)[1]
        widths[columns] = max(map(len, out.splitlines()))
    assert widths["60"] <= 60 < widths["150"] <= 150
    unknown, none = (run("summary", scores, "--label", "y", "--score", "a", COLUMNS=width)[1] for width in ("0", ""))
    assert unknown == none != ""


def test_validate_names_the_columns_that_a_guess_takes(run, tmp_path):
    rows = "".join(f"{i},{'yes' if i % 3 else 'no'},{i % 2},{(i * 7 % 20) / 20},{i % 4}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text(f"customer,bought,mailed,model,fold\n{rows}")
    out = run("validate", tmp_path / "rows.csv")[1]
    last = {line.split("│")[1].strip(): line.split("│")[-2].strip() for line in out.splitlines() if "│" in line}
    assert last["customer"] == ""
    assert last["bought"].startswith("label: ")
    assert (last["model"], last["fold"]) == ("probability", "fold")
    err = run("summary", tmp_path / "rows.csv", "--guess", "--no-detail")[2]
    assert "Guessed: --label bought --score model --pos-label yes" in err


def test_of_parquet_only_what_reads_its_names_is_loaded(tmp_path):
    parquet.write_table(pa.table({"y": [1, 0], "s": [0.9, 0.1]}), tmp_path / "rows.parquet")
    codes, err, loaded = answers(tmp_path, ("summary", "rows.parquet", "--label", "y", "--score", "t"))
    assert (codes, "score of rows.parquet: expected one of 'y', 's', got 't'" in err) == (["2"], True)
    assert not loaded & (LIBRARIES - {"numpy", "pyarrow"})


def test_any_option_may_stand_in_the_environment_or_in_the_settings(run, scores, tmp_path):
    columns = ("summary", scores, "--label", "y", "--score", "a", "--json")

    def threshold(*extra, **environment):
        return json.loads(run(*columns, *extra, **environment)[1])["decision"]["threshold"]

    assert threshold() == 0.6
    (tmp_path / "rocscope.toml").write_text("cost-fn = 10\nfolder = 'of another command'\n")
    assert threshold() == 0.4
    (tmp_path / "rocscope.toml").write_text("cost_fn = 10\n[summary]\ncost_fn = 1\n[report]\ntitle = 'x'\n")
    assert threshold() == 0.6
    assert threshold(ROCSCOPE_COST_FN="10") == 0.4
    assert threshold("--cost-fn", "1", ROCSCOPE_COST_FN="10") == 0.6


def test_several_columns_in_the_environment(run, scores):
    out = run("summary", scores, "--json", ROCSCOPE_LABEL="y", ROCSCOPE_SCORE="a b")[1]
    assert [model["name"] for model in json.loads(out)["models"]] == ["a", "b"]


@pytest.mark.parametrize("content", ["label = y", "label = " + "[" * 5_000], ids=["invalid", "nested"])
def test_settings_that_are_no_toml_are_named(run, scores, tmp_path, content):
    (tmp_path / "rocscope.toml").write_text(content)
    code, _, err = run("summary", scores)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("rocscope: rocscope.toml: expected valid TOML, got ")


@pytest.mark.parametrize(("line", "got"), [("labell = 'y'", "labell = 'y'"), ("label = {x = 1}", "label = {'x': 1}")])
def test_settings_of_a_command_that_it_does_not_take_are_refused(run, scores, tmp_path, line, got):
    (tmp_path / "rocscope.toml").write_text(f"[summary]\n{line}\n")
    code, _, err = run("summary", scores, "--label", "y", "--score", "a")
    expected = f"[summary] in rocscope.toml: expected an option of rocscope summary with its value, got {got}"
    assert (code, err) == (2, f"rocscope: {expected}\n")


def test_a_backend_that_matplotlib_lacks_is_one_line(scores, tmp_path):
    command = [sys.executable, "-m", "rocscope", "choose", str(scores), "-l", "y", "-s", "a", "--plot", "p.png"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "nosuch"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "rocscope: MPLBACKEND: expected a backend of Matplotlib, got 'nosuch'" in done.stderr


def test_settings_may_begin_with_a_mark_of_their_encoding_as_editors_of_windows_set_it(run, scores, tmp_path):
    (tmp_path / "rocscope.toml").write_bytes(b'\xef\xbb\xbflabel = "y"\r\nscore = ["a"]\r\n')
    assert run("summary", scores, "--json")[0] == 0


def test_settings_for_two_classes_may_stay_where_there_are_more(run, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p_a,p_b,p_c\na,.6,.2,.2\nb,.2,.6,.2\nc,.3,.3,.4\na,.5,.4,.1\n")
    (tmp_path / "rocscope.toml").write_text("cost_fn = 5\nscore = ['s']\n")
    arguments = ("summary", "rows.csv", "--label", "y", "--proba", "p_*", "--json", "--no-detail")
    assert run(*arguments)[0] == 0
    assert run(*arguments, ROCSCOPE_COST_FP="5")[0] == 0
    code, _, err = run(*arguments, "--cost-fn", "5")
    assert (code, "--cost-fn: expected two classes, got --proba for several classes" in err) == (2, True)


def test_a_closed_stdin_is_named(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)  # as Python has it after `<&-`
    code, out, err = run("summary", "-", "--format", "csv", "-l", "y", "-s", "a")
    assert (code, out) == (2, "")
    assert err == "rocscope: <stdin>: expected an open standard input, got a closed standard input\n"


def test_a_minus_reads_stdin(run, scores, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(scores.read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    code, out, err = run("summary", "-", "--format", "csv", "-l", "y", "-s", "a", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["decision"]["threshold"] == 0.6


def test_values_may_begin_with_a_minus(run, scores):
    columns = ("--label", "y", "--score", "a", "--json")
    assert run("summary", scores, *columns, "--where", "-a < 0")[0] == 0
    assert json.loads(run("choose", scores, *columns, "--cost-tp", "-2")[1])["context"]["cost_tp"] == -2


def test_no_color_is_honoured(run, scores, monkeypatch):
    arguments = ("summary", scores, "--label", "y", "--score", "a")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[1m" in run(*arguments, FORCE_COLOR="1", TERM="xterm")[1]
    plain = run(*arguments, NO_COLOR="1")[1]
    assert "\x1b[3" not in plain


def test_hints_can_be_typed(run, tmp_path):
    (tmp_path / "few.csv").write_text("y,s\n1,.9\n0,.2\n0,.4\n1,.3\n")
    of_file = ("few.csv", "--label", "y", "--score", "s")
    assert run("calibrate", *of_file)[2].endswith(" --folds 2, merge or omit rare classes\n")
    assert run("compare", *of_file)[2].endswith(" --score a --score b\n")
    assert '--where "s > \'a"' in run("summary", *of_file, "--where", "s > 'a")[2]


def test_a_campaign_on_two_rows_warns_of_no_division(run, tmp_path):
    (tmp_path / "two.csv").write_text("y,s\n1,.9\n0,.2\n")
    code, _, err = run("campaign", "two.csv", "--label", "y", "--score", "s", *CAMPAIGN)
    assert code == 0 and "Warning" not in err


ANSWERED = {
    "d.csv e.csv": "use one file at a time: rocscope e.csv; to compare files use rocscope explore d.csv e.csv;",
    "compare d.csv e.csv": "to compare files use rocscope explore d.csv e.csv;",
    "monitor d.csv e.csv": "for example: rocscope monitor PLAN d.csv --state s.json "
    '--fail-if "cost > .35"; to make a plan: rocscope choose d.csv -o plan.json;',
    "monitor d.csv e.csv --state s.json": "make a plan with rocscope choose d.csv -o plan.json",
    "choose d.csv --cost-matrix costs.csv": "for two classes use --cost-fp 1 --cost-fn 5",
    "choose d.csv --fp 1": "--fp: no such option; use --cost-fp 1;",
    "campaign d.csv": "for example: rocscope campaign d.csv --population 1e6",
    "drift d.csv": "for example: rocscope drift d.csv CURRENT;",
    "gate d.csv --min-auc 0.7": '--min-auc: no such option; use the rule "auc >= 0.7" in the file of --rules;',
    "summary d.csv --min-auc 0.7": "--min-auc: no such option; use --fail-if 'auc < 0.7';",
    "summary d.csv --maximize f1": "use rocscope choose d.csv --criterion f1;",
    "summary d.csv --target-fpr 0.05": "use rocscope choose d.csv --subject-to 'fpr <= 0.05';",
    "campaign d.csv --top 1000": "use --capacity 1000;",
    "choose d.csv --top 0.1": "use --subject-to 'depth <= 0.1';",
    "choose d.csv --metric auc": "use --criterion youden;",
    "summary d.csv --ci": "use --level 0.95, because intervals are always printed;",
    "report d.csv --dpi 300": "omit this option: the charts of a report are SVG",
    "summary d.csv --models a,b": "use --score a --score b;",
    "compare d.csv --correction fdr": "use --adjust bh;",
    "report d.csv --format pdf": "use rocscope report d.csv --output report.html, and print it to PDF",
    "validate-plan plan.json d.csv": "use rocscope verify plan.json d.csv;",
    "summary d.csv --threshold 0.2,0.6": "thresholds=[0.2,0.6])",
    "--file d.csv": "omit this option: rocscope summary d.csv;",
    "-i d.csv -o page.html": "use rocscope report d.csv --output page.html;",
    "-": "for standard input: rocscope summary - --format csv --label y --score a;",
}
FOLLOWED = {
    "calibration d.csv": ("use rocscope calibrate d.csv;", "calibrate d.csv -o map.json"),
    "psi d.csv e.csv": ("use rocscope drift d.csv e.csv;", "drift d.csv e.csv"),
    "summary d.csv e.csv": ("use one file at a time: rocscope e.csv;", "e.csv"),
    "summary": ("rocscope summary - --format csv --label y --score a;", "summary - --format csv --label y --score a"),
    "summary -i d.csv": ("omit this option: rocscope summary d.csv;", "summary d.csv"),
    "calibrate d.csv --n-bins 5": ("--n-bins: no such option; omit this option: ", "calibrate d.csv -o map.json"),
    "compare two.csv --score a,b": ("name each column: --score a --score b", "compare two.csv --score a --score b"),
    "summary d.csv --metrics auc,brier": ("omit this option: all figures are printed;", "summary d.csv"),
    "summary d.csv --auc": ("omit this option: all figures are printed;", "summary d.csv"),
    "summary d.csv --threshold 50%": ("; write 0.5", "summary d.csv --threshold 0.5"),
    "summary d.csv --threshold 0,5": ("; write 0.5", "summary d.csv --threshold 0.5"),
    "summary d.csv y a": ("such as --label y --score p;", "summary d.csv --label y --score a"),
    "choose d.csv --youden": ("use --criterion youden;", "choose d.csv --criterion youden"),
    "choose d.csv --target-recall .9": ("use --subject-to 'tpr >= 0.9';", "choose d.csv --subject-to tpr>=0.9"),
    "summary d.csv --n-bootstraps 100": ("omit this option: intervals do not need a bootstrap;", "summary d.csv"),
    "summary d.csv --format table": ("omit this option: tables are printed;", "summary d.csv"),
    "choose d.csv --at-precision .9": ("--subject-to 'precision >= 0.9'", "choose d.csv --subject-to precision>=0.6"),
    "choose d.csv --optimize recall": (
        "use --criterion tpr --subject-to 'precision >= 0.5';",
        "choose d.csv --criterion tpr --subject-to precision>=0.5",
    ),
    "choose d.csv --method youden": ("use --criterion youden;", "choose d.csv --criterion youden"),
    "summary d.csv --pos-class 1": ("use --pos-label 1;", "summary d.csv --pos-label 1"),
    "choose d.csv --min-precision 0.8": ("use --subject-to 'precision >= ", "choose d.csv --subject-to precision>=0.6"),
    "summary d.csv --optimal-threshold": ("no such option; use rocscope choose d.csv;", "choose d.csv"),
    "summary d.csv --auc-ci": ("omit this option: all figures are printed;", "summary d.csv"),
    "compare two.csv --scores a,b": ("use --score a --score b;", "compare two.csv --score a --score b"),
    "--list": ("use rocscope --help, which lists the commands;", "--help"),
    "summary d.csv --alpha 0.1": ("use --level 0.9;", "summary d.csv --level 0.9"),
    "summary d.csv --confidence 95%": ("use --level 0.95;", "summary d.csv --level 0.95"),
    "summary d.csv --event-level second": ("use --pos-label 1;", "summary d.csv --pos-label 1"),
    "summary d.csv --na-rm": ("use --missing drop;", "summary d.csv --missing drop"),
    "confusion-matrix d.csv --label y --threshold 0.4": (
        "use rocscope summary d.csv --label y --threshold 0.4, and add --json",
        "summary d.csv --label y --threshold 0.4 --json",
    ),
    "roc-test two.csv --label y": ("use rocscope compare two.csv --label y;", "compare two.csv --label y"),
    "calibrate-model two.csv -l y": ("rocscope calibrate two.csv -l y --score a;", "calibrate two.csv -l y --score a"),
    "choose d.csv --costs 2,7": ("use --cost-fp 2 --cost-fn 7;", "choose d.csv --cost-fp 2 --cost-fn 7"),
    "choose d.csv --min-precision=0.5": (
        "use --subject-to 'precision >= 0.5';",
        "choose d.csv --subject-to precision>=0.5",
    ),
    "choose d.csv --best-method youden": ("use --criterion youden;", "choose d.csv --criterion youden"),
    "choose d.csv --prevalence 10%": ("use --target-prevalence 0.1;", "choose d.csv --target-prevalence 0.1"),
    "choose d.csv --best-weights 1,0.2": (
        "use --cost-fn 1 --target-prevalence 0.2;",
        "choose d.csv --cost-fn 1 --target-prevalence 0.2",
    ),
    "campaign d.csv --customers 900": (
        "--customers: no such option; use --population 900;",
        "campaign d.csv --population 900 --unit-cost 1 --unit-benefit 9",
    ),
    "choose d.csv --max-fpr .1": ("use --subject-to 'fpr <= 0.1';", "choose d.csv --subject-to fpr<=0.1"),
    "choose d.csv --fp-cost 1 --fn-cost 5": (
        "use --cost-fp 1; --fn-cost: no such option; use --cost-fn 5;",
        "choose d.csv --cost-fp 1 --cost-fn 5",
    ),
    "threshold d.csv --fpr 0.4": (
        "use rocscope choose d.csv --subject-to 'fpr <= 0.4';",
        "choose d.csv --subject-to fpr<=0.4",
    ),
    "choose d.csv --criterion roc01": (
        "use rocscope choose d.csv --criterion closest_topleft",
        "choose d.csv --criterion closest_topleft",
    ),
    "summary d.csv --label y --threshold youden": (
        "use rocscope choose d.csv --label y --criterion youden, or without this option rocscope summary d.csv",
        "choose d.csv --label y --criterion youden",
    ),
    "choose d.csv -p a -t y": ("-p: no such option; use --score a; -t: no such option; use --label y;", "choose d.csv"),
    "choose d.csv --costs fp=3,fn=8": ("use --cost-fp 3 --cost-fn 8;", "choose d.csv --cost-fp 3 --cost-fn 8"),
    "choose d.csv --cost 8": ("use --cost-fp 1 --cost-fn 8;", "choose d.csv --cost-fp 1 --cost-fn 8"),
    "choose d.csv --utility 5": ("use --cost-tp -5,", "choose d.csv --cost-tp -5"),
    "metrics diff two.csv": ("use rocscope compare two.csv;", "compare two.csv"),
    "compare two.csv --p-adjust bonferroni": ("use --adjust holm;", "compare two.csv --adjust holm"),
    "report d.csv --format json": ("rocscope summary d.csv --json prints", "summary d.csv --json"),
    "summary d.csv --reference e.csv": ("use rocscope drift e.csv d.csv;", "drift e.csv d.csv"),
    "campaign d.csv --budget 5": (
        "rocscope campaign d.csv --budget 5 --population 1e6 --unit-cost 1 --unit-benefit 45;",
        "campaign d.csv --budget 5 --population 1e6 --unit-cost 1 --unit-benefit 45",
    ),
}


@pytest.mark.parametrize("typed", FOLLOWED)
def test_a_hint_is_followed_as_it_is_written(run, tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    rows = "y,a\n" + "1,.9\n0,.2\n0,.4\n1,.3\n1,.8\n0,.1\n" * 20
    for name in ("d.csv", "e.csv"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "two.csv").write_text("y,a,b\n" + "1,.9,.8\n0,.2,.3\n0,.4,.1\n1,.3,.7\n" * 20)
    hint, followed = FOLLOWED[typed]
    code, out, err = run(*typed.split())
    assert (code, out) == (2, "") and hint in err, err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    code, _, err = run(*followed.split())
    assert code == 0, err


IN_PYTHON = {
    "summary two.csv --label y --max-fpr 0.2": "partial_auc(max_fpr=0.2, standardized=True)",
    "summary two.csv --label y --score b --partial-auc 1,0.8": "partial_auc(max_fpr=0.2)",
    "compare two.csv --label y --metric average_precision": "statistic='average_precision'",
    "summary two.csv --label y --thresholds 0.1,0.2": "thresholds=[0.1,0.2]",
    "calibrate two.csv --label y --n-bins 5": "bins=5",
    "mcnemar two.csv --label y": "thresholds=0.5",
    "f1-score two.csv --label y": "f_score()",
    "f1-score two.csv": "f_score()",
    "det-curve two.csv --label y": "rs.det(",
}


@pytest.mark.parametrize("typed", IN_PYTHON)
def test_what_only_python_computes_is_answered_with_a_call_that_reads_the_file(run, tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text("y,a,b\n" + "1,.9,.8\n0,.2,.3\n0,.4,.1\n1,.3,.7\n" * 20)
    code, out, err = run(*typed.split())
    assert (code, out) == (2, "")
    call = re.search(r"Python: (rs\.(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?)(?:, or| compares|; see)", err)
    assert call is not None and IN_PYTHON[typed] in call[1], err
    assert f"scores=['{'b' if '--score b' in typed else 'a'}'" in call[1]
    assert eval(call[1], {"rs": rocscope}) is not None


@pytest.mark.parametrize("typed", ANSWERED)
def test_what_other_tools_accept_is_answered_with_a_command_that_works(run, tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    for name in ("d.csv", "e.csv"):
        (tmp_path / name).write_text("y,a\n" + "1,.9\n0,.2\n0,.4\n1,.3\n" * 5)
    code, out, err = run(*typed.split())
    assert (code, out) == (2, "")
    assert ANSWERED[typed] in err
    if "rocscope choose d.csv" in err:
        assert run("choose", "d.csv", "-o", "plan.json")[0] == 0
        assert run("monitor", "plan.json", "e.csv", "--guess", "--state", "s.json")[0] == 0
    if "--fail-if" in ANSWERED[typed] and typed.startswith("summary"):
        assert run("summary", "d.csv", "--guess", "--fail-if", "auc < 0.7")[0] in (0, 1)
