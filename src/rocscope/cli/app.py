"""The list of commands, and the text of error messages.

Each command is registered by the name of its module, so only the module of the typed command is imported. Errors of the
library contain names of Python arguments. `as_typed` replaces these names by options of the command line.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts
from cyclopts import App, CycloptsError, Parameter
from cyclopts.config import Env

from rocscope import __version__
from rocscope._base import answers as foreign
from rocscope.cli import options as opt
from rocscope.cli.console import note
from rocscope.errors import InputError, RocscopeError

if TYPE_CHECKING:
    from cyclopts.help import DefaultFormatter, HelpPanel

COMPLETION = "--install-completion"
_Shell = Literal["bash", "zsh", "fish", "powershell"]
# Files that a shell reads when it starts.
_STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


def _offer_completion(app: App) -> None:
    """Add the option --install-completion. Call this only if needed, because it slows the start by 10%."""

    def install(*, shell: _Shell | None = None, yes: Annotated[bool, Parameter(show_default=False)] = False) -> int:
        """Set up tab completion of commands and options in your shell. rocscope asks before it writes files.

        Parameters
        ----------
        shell
            Shell to set up. By default, the shell that runs this command.
        yes
            Write the files without asking.
        """
        shell = shell or _detected_shell()
        script = _script(shell, app.name[0])
        startup = ""
        if shell == "powershell":
            startup = " and add a line to your PowerShell profile"
        elif shell in _STARTUP:
            startup = f" and add a line to {Path.home() / _STARTUP[shell]}"
        note(f"Completion for {shell}: write {script}{startup}")
        if not yes:
            if sys.stdin is None or not sys.stdin.isatty():
                hint = "add --yes, because rocscope can ask only in a terminal"
                raise InputError(COMPLETION, expected="--yes", got="no --yes", hint=hint)
            if input("Continue? [y/N] ").strip().casefold() not in ("y", "yes"):
                note("Nothing was written.")
                return 0
        app.install_completion(shell=shell, output=script)
        note(f"Files written. Open a new {shell} to use the completion.")
        return 0

    app.command(install, name=COMPLETION)


def _detected_shell() -> _Shell:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        return detect_shell()
    except ShellDetectionError:
        hint = "name your shell with --shell"
        raise InputError("--shell", expected="bash, zsh, fish or powershell", got="another shell", hint=hint) from None


def _script(shell: _Shell, name: str) -> Path:
    """Return the file in which the shell looks for completions. Unlike the function of cyclopts, create no folders."""
    if shell == "bash":
        return Path.home() / f".local/share/bash-completion/completions/{name}"
    if shell == "fish":
        return Path.home() / f".config/fish/completions/{name}.fish"
    if shell == "powershell":
        from cyclopts.completion.install import get_default_completion_path

        return get_default_completion_path(shell, name)
    # Oh My Zsh loads completions from its own folder.
    folder = os.environ.get("ZSH_CUSTOM", "")
    if not folder and os.environ.get("ZSH"):
        folder = os.environ["ZSH"] + "/custom"
    if not folder or not Path(folder).is_dir():
        folder = Path.home() / ".zsh"
    return Path(folder) / f"completions/_cyclopts_{name}"


class _HelpFormatter:
    """Format of `--help`. Lines of a paragraph are joined, so that only the width of the terminal wraps them.

    cyclopts keeps the line breaks of docstrings. Its formatter is imported only if help is printed.
    """

    @cached_property
    def _default(self) -> "DefaultFormatter":
        from cyclopts.help import DefaultFormatter

        return DefaultFormatter()

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:
        self._default.render_usage(console, options, usage)

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        _join_lines(description)
        self._default.render_description(console, options, description)

    def __call__(self, console: Any, options: Any, panel: "HelpPanel") -> None:
        for entry in panel.entries:
            _join_lines(entry.description)
        self._default(console, options, panel)


def _join_lines(description: Any) -> None:
    """Replace single line breaks, and the indentation after them, by spaces."""
    text = description.primary_renderable
    text.plain = re.sub(r"(?<!\n)\n *(?!\n|\Z)", " ", text.plain)


# The module of each command's function, in the order of --help.
COMMANDS = {
    "demo": "performance",
    "validate": "checks",
    "summary": "performance",
    "report": "performance",
    "page": "performance",
    "explore": "performance",
    "choose": "decisions",
    "campaign": "decisions",
    "apply": "decisions",
    "outcomes": "decisions",
    "verify": "checks",
    "compare": "performance",
    "gate": "gate",
    "calibrate": "checks",
    "monitor": "checks",
    "drift": "checks",
}


app = App(
    name="rocscope",
    version=f"rocscope {__version__}",
    version_flags="--version",
    help="Compute ROC curves, lift charts, calibration plots and the best threshold from labels and scores.\n\n"
    "'rocscope FILE' guesses which columns are labels and scores, prints its guess, and shows a summary.",
    help_epilogue="You can also set options in environment variables, such as ROCSCOPE_LABEL for --label. You can also "
    r"set them in rocscope.toml, or in the table \[tool.rocscope] of pyproject.toml. Options that you type take "
    "precedence.",
    usage="Usage: rocscope COMMAND, or rocscope FILE",
    help_format="rich",
    help_formatter=_HelpFormatter(),
    default_parameter=Parameter(negative=()),
    group_arguments=opt.FILES,
    group_parameters=opt.OPTIONS,
    config=[
        Env("ROCSCOPE_", command=False, show=False),
        opt.read_settings,
        opt.refuse_for_more_classes,
        opt.refuse_grouped_counts,
    ],
    print_error=False,
    exit_on_error=False,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for name, module in COMMANDS.items():
    # cyclopts imports the module when the command is typed or listed.
    app.command(f"rocscope.cli.{module}:{name}", name=name)


def list_commands() -> None:
    """Load the first help line of each command, and the completion option, for `rocscope --help`."""
    if COMPLETION not in app:
        _offer_completion(app)
    for name in COMMANDS:
        _ = app[name].help


# Minimum similarity (difflib's ratio) of a suggestion: "--lable" suggests "--label", "--metric" not "--memory".
_CLOSE = 0.75
_OF_STREAM = "rocscope {} - --format csv --label y --score a"
_NUMBERS: dict[Any, str] = {float: "a number", int: "a whole number"}


def usage(error: CycloptsError, arguments: Sequence[str]) -> str:
    """Return the message of a usage error for the typed arguments. The hint names the command's --help."""
    command = " ".join(("rocscope", *(error.command_chain or ())))
    return f"{_with_files(_usage_message(error, arguments), arguments)}; see {command} --help"


# Options before files, with the order of these files in time; for all other files it is 1.
_ORDER = {"--reference": 0, "--ref": 0, "--baseline": 0, "--expected": 0, "--current": 2, "--cur": 2, "--actual": 2}
# Options that a suggested command takes over from the typed one.
_KEPT = ("--label", "-l", "--score", "-s", "--weight", "--pos-label", "--where", "--threshold", "--segment")


def _with_files(message: str, arguments: Sequence[str]) -> str:
    """Return a message in which suggested commands contain the files and the columns that were typed.

    Files replace FILE, PLAN, REFERENCE and CURRENT. A suggested call of Python reads the file.
    """
    files = [argument for argument in arguments if _is_file(argument)]
    tables = [file for file in files if not file.endswith(".json")]
    pairs = list(pairwise(arguments))
    option_before = {value: option for option, value in pairs}
    in_time = sorted(tables, key=lambda file: _ORDER.get(option_before.get(file, ""), 1))
    typed = {"PLAN": [file for file in files if file not in tables]}
    typed |= {"FILE": tables, "REFERENCE": in_time, "CURRENT": in_time[1:]}

    @cache
    def columns() -> tuple[list[str], list[str]]:  # reading a file takes longer than all other answers
        return _columns_of(tables[0], [value for _, value in pairs]) if tables else ([], [])

    def command(suggested: re.Match[str]) -> str:
        name, places, rest = suggested.groups()
        places = re.sub("[A-Z]+", lambda word: shlex.quote(next(iter(typed[word[0]]), word[0])), places)
        known = list(app[name].assemble_argument_collection()) if name in app else []
        options = _names_of(known)
        kept = [(option, _quoted(value)) for option, value in pairs if option in _KEPT and option in options]
        if arguments[0] not in COMMANDS or arguments[0] == name:
            kept += _translated(name, known, arguments)
        if name == "compare" and sum(option in ("--score", "-s") for option, _ in kept) == 1:  # it needs two models
            kept = [(option, value) for option, value in kept if option not in ("--score", "-s")]
        is_named = not {"--score", "-s"}.isdisjoint(dict(kept))
        if name in ("calibrate", "drift") and not is_named and len(columns()[1]) > 1:
            kept.append(("--score", columns()[1][0]))  # these commands need one model
        for option, value in kept:
            text = f"{option} {value}".rstrip()
            if f"{option} " in f"{rest} ":  # an example, such as --threshold 0.5
                rest = re.sub(rf"{option} ('[^']*'|\S+)", lambda _, text=text: text, rest)
            else:
                places += f" {text}"
        return f"rocscope {name}{places}{rest}"

    message = re.sub(r"rocscope ([a-z]+)((?: (?:FILE|PLAN|REFERENCE|CURRENT)\b)+)((?: --[^;,]*)?)", command, message)
    start, python, call = message.partition("Python: ")
    if not python or not tables:
        return message
    labels = [value for option, value in pairs if option in ("--label", "-l")] or columns()[0]
    scores = [value for option, value in pairs if option in ("--score", "-s")] or columns()[1]
    # A comparison needs all models, and other calls are shown for one.
    shown = ", ".join(map(repr, scores if "{'a'" in call else scores[:1])) or "..."
    label = repr(labels[0]) if labels else "..."
    read = f"rs.read({tables[0]!r}, label={label}, scores=[{shown}])"
    call = call.replace("rs.ThresholdCounts.from_scores(y, s)", f"{read}.counts()")
    call = re.sub(r"rs\.Predictions\(y, (?:[sp]|\{[^}]*\})\)", lambda _: read, call)
    return start + python + re.sub(r"\(y, (?:[sp]|\{[^}]*\})(?=[,)])", lambda _: f"({read}", call)


def _translated(command: str, known: Sequence[Any], arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Return the typed options, with their values, as options of a command that is suggested."""
    options, translated = _names_of(known), []
    for typed in _typed_options(arguments):
        answer = typed if typed in options else _option_for(command, typed, options, arguments).partition(", ")[0]
        if any(answer in argument.names and argument.token_count()[0] for argument in known):
            answer = _with_value(answer, typed, arguments)
            if " " not in answer:
                continue
        option, _, value = answer.partition(" ")
        argument = next((argument for argument in known if option in argument.names), None)
        if argument is not None and option not in _KEPT and value in (argument.get_choices() or [value]):
            translated.append((argument.names[0], value))
    return translated


def _columns_of(file: str, but: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of a text file that may contain labels, and those that may contain scores."""
    from rocscope.engines import formats

    try:
        values = formats.first_values(formats.find_files(file, None), formats.FileLayout())
    except (RocscopeError, OSError):
        return [], []
    several = {name: texts for name, texts in values.items() if name not in but and len(texts) > 2}
    number = re.compile(r"-?[\d.]+(e-?\d+)?")
    scores = [name for name, texts in several.items() if all(map(number.fullmatch, texts))]
    return [name for name, texts in values.items() if len(texts) == 2 and name not in but], scores


def _usage_message(error: CycloptsError, arguments: Sequence[str]) -> str:
    message = str(error).partition(" Available commands:")[0].rstrip(".")
    if isinstance(error, cyclopts.UnknownCommandError):
        message = message.replace("Unknown command", "Neither a command nor a file:")
        first, *others = error.unused_tokens or [""]
        words = takewhile(lambda token: not token.startswith("-") and not _is_file(token), others)
        answer = _command_for(" ".join([first, *words]), arguments)
        return f"{message.partition('. Did you mean')[0]}; {answer}" if answer else message
    if isinstance(error, cyclopts.UnusedCliTokensError):
        return _too_many(error, arguments)
    in_place_of_file = re.match(r"""Invalid value "(?:\(')?(--?[A-Za-z][\w-]*)""", message)
    if in_place_of_file and error.command_chain:  # as in drift --reference FILE
        command, typed = " ".join(error.command_chain), in_place_of_file[1]
        return _no_such_option(command, typed, app[command].assemble_argument_collection(), arguments)
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        command = " ".join(error.command_chain or ())
        known = app[command].assemble_argument_collection() if command else ()
        options = _names_of(known)
        unknown = [typed for typed in _typed_options(arguments) if typed not in options]
        if command and unknown:  # such as --customers, which is why --population is missing
            return _no_such_options(command, unknown, known, arguments)
        name = error.keyword or error.argument.name
        kind = "a value" if name.startswith("-") else "a file"
        message = f"{name}: expected {kind}, got no {kind.removeprefix('a ')}{_example(error, arguments)}"
        if name == "FILE" and error.command_chain and not any(map(_is_file, arguments)):
            message += f"; for standard input: {_OF_STREAM.format(error.command_chain[0])}"
        return message
    if isinstance(error, cyclopts.UnknownOptionError):
        command, known = " ".join(error.command_chain or ()), error.argument_collection or ()
        typed, options = error.token.keyword or error.token.value, _names_of(known)
        others = [other for other in _typed_options(arguments) if other not in (*options, typed)]
        return _no_such_options(command, [typed, *others], known, arguments)
    if isinstance(error, cyclopts.CoercionError) and error.token is not None and error.target_type in _NUMBERS:
        name = error.token.keyword or "number"
        return str(opt.not_a_number(name, error.token.value, _NUMBERS[error.target_type]))
    if isinstance(error, cyclopts.CoercionError) and error.token is not None:
        known = app[" ".join(error.command_chain or ())].assemble_argument_collection() if error.command_chain else ()
        answer = _for_value(error.token.keyword or "", error.token.value, known)
        if answer:
            return f"{message.partition('. Did you mean')[0]}; {foreign.as_hint(answer)}"
    return message


def _for_value(option: str, value: str, known: Iterable[Any]) -> str:
    """Return what to type for an option with the value of another tool, such as --method sigmoid."""
    listed = foreign.tables()["option_values"]
    answer = _suiting(listed.get(f"{option} {value}") or listed.get(option, ()), _names_of(known))
    choices = next((argument.get_choices() for argument in known if option in argument.names), None) or ()
    meant = [f"{option} {word}" for word in foreign.value_meant(value) if word in choices]
    return foreign.filled(answer, value) or next(iter(meant), "")


def _suiting(answers: str | Sequence[str], options: Sequence[str]) -> str:
    """Return the first of several answers that is an option of the command, or no option."""
    for answer in [answers] if isinstance(answers, str) else answers:
        option = re.match(r"--[\w-]+", answer)
        if option is None or option[0] in options:
            return answer
    return ""


def _command_for(typed: str, arguments: Sequence[str]) -> str:
    """Return a hint for a first argument that is neither a command nor a file. It may be empty."""
    if typed == "-":
        return f"for standard input: {_OF_STREAM.format('summary')}"
    answer = foreign.concept_for(typed, "commands")
    if not answer and not typed.startswith("-"):
        call = foreign.call_for(typed) or foreign.concept_call(typed)
        answer = f"Python: {call}" if call.startswith("rs.") else ""
    if typed.startswith("-"):
        is_report = any(argument.endswith((".html", ".htm")) for argument in arguments)
        options = _names_of(app["summary"].assemble_argument_collection())
        of_report = "rocscope report FILE --output report.html" if is_report else ""
        answer = of_report or _option_for("summary", typed, options, arguments) or answer
    return foreign.as_hint(answer) if answer else ""


def _typed_options(arguments: Sequence[str]) -> list[str]:
    """Return the names of the typed options."""
    names = dict.fromkeys(argument.partition("=")[0] for argument in arguments if re.match("--?[A-Za-z]", argument))
    return [name for name in names if name != "--guess"]  # which a file without a command implies


def _no_such_options(command: str, typed: Iterable[str], known: Sequence[Any], arguments: Sequence[str]) -> str:
    return "; ".join(_no_such_option(command, option, known, arguments) for option in typed)


def _no_such_option(command: str, typed: str, known: Iterable[Any], arguments: Sequence[str]) -> str:
    """Return the message for an option that a command does not have."""
    options = _names_of(known)
    # A known word of another tool comes before a similar spelling: --group-by means --segment, not --groups.
    answer = _option_for(command, typed, options, arguments)
    if answer:
        takes_value = any(answer in argument.names and argument.token_count()[0] for argument in known)
        answer = _with_value(answer, typed, arguments) if takes_value else answer
        answer = _for_value(*answer.split(" ", 1), known) or answer if answer.count(" ") == 1 else answer
        return f"{typed}: no such option; {foreign.as_hint(answer)}"
    close = get_close_matches(typed, options, cutoff=_CLOSE)
    # An option of the same letters in another order comes first: --lable means --label rather than --table.
    close.sort(key=lambda option: sorted(option) != sorted(typed))
    if close:
        return f"{typed}: no such option (did you mean {close[0]}?)"
    of_command = foreign.concept_for(typed, "commands")
    return f"{typed}: no such option" + (f"; {foreign.as_hint(of_command)}" if of_command else "")


def _with_value(option: str, typed: str, arguments: Sequence[str]) -> str:
    """Return an option with the value that was typed after another option, such as --optimize recall."""
    value = _value_after(typed, arguments)
    if not value:
        return option
    if option == "--criterion":
        from rocscope.figures.registry import known

        meant = (known(name) for name in (value, *foreign.value_meant(value)))
        figure = next(filter(None, meant), None)
        if figure is None or figure.cells is None:
            return f"{option} youden"
        # Alone, this rate is largest if all cases are predicted positive.
        limit = " --subject-to 'precision >= 0.5'" if figure.name == "tpr" else ""
        return f"--criterion {figure.name}{limit}"
    share = foreign.filled("{value:}", value) if value.endswith("%") else value
    values = value.split(",") if option == "--score" else [share]
    return " ".join(f"{option} {_quoted(part)}" for part in values)


def _quoted(value: str) -> str:
    """Return a value as it is typed in a shell, with double quotes if it contains single quotes."""
    return f'"{value}"' if "'" in value and not set('"$`\\!') & set(value) else shlex.quote(value)


def _value_after(typed: str, arguments: Sequence[str]) -> str:
    """Return the value that was typed after an option, or an empty text."""
    from rocscope.engines.formats import exists

    joined = [argument.partition("=")[2] for argument in arguments if argument.startswith(f"{typed}=")]
    following = arguments[arguments.index(typed) + 1 :] if typed in arguments else ()
    value = next(iter([*joined, *following]), "")
    return "" if value.startswith("-") or exists(value) else value


def _too_many(error: cyclopts.UnusedCliTokensError, arguments: Sequence[str]) -> str:
    """Return the message for arguments after the last argument of a command, such as a second file."""
    unexpected = error.unused_tokens or []
    message = f"unexpected argument {' '.join(map(repr, unexpected))}"
    pattern = "put it in quotes, such as 'part-*.csv'"
    if not all(map(_is_file, unexpected)):
        return f"{message}; name columns by options, such as --label y --score p; if you typed a pattern, {pattern}"
    first = next(filter(_is_file, arguments), "FILE")
    explore = shlex.join(["rocscope", "explore", first, *unexpected])
    alone = "" if error.command_chain == ("compare",) else f"use one file at a time: rocscope {unexpected[0]}; "
    parts = f"to read the parts of one table name a pattern and {pattern}"
    return f"{message}; {alone}to compare files use {explore}; {parts}"


def _is_file(text: str) -> bool:
    from rocscope.engines.formats import names_file

    return not text.startswith("-") and names_file(text)


def _example(error: CycloptsError, arguments: Sequence[str]) -> str:
    """Return a hint with the example of the command's help. If a plan is missing, also return how to make it."""
    command = app[" ".join(error.command_chain or ())]
    example = re.search(r"Example: (rocscope .*)", command.help)
    hint = f"; for example: {example[1]}" if example else ""
    file = next(filter(_is_file, arguments), "")
    if file:  # its columns are guessed or typed
        hint = re.sub(r" --(?:label|score|id) \S+", "", hint)
        places = iter(("FILE", "CURRENT"))
        files = 2 if error.command_chain == ("drift",) else 1
        hint = hint.replace("decision.json ", "plan.json ")
        hint = re.sub(r"\w+\.(?:csv|parquet)", lambda _: next(places), hint, count=files)
        hint = hint.replace(" plan.json ", " PLAN ")
    if example and ".json " in example[1] and file and Path(file).suffix.lower() != ".json":
        hint += f"; to make a plan: rocscope choose {shlex.quote(file)} -o plan.json"
    return hint


def _names_of(arguments: Iterable[Any]) -> list[str]:
    """Return the names of all options among the arguments of a command."""
    names: list[str] = []
    for argument in arguments:
        if argument.parse:
            names += argument.names
    return names


def _option_for(command: str, typed: str, options: Sequence[str], arguments: Sequence[str]) -> str:
    """Return what to type instead of another tool's option and its value, or an empty text."""
    value = _value_after(typed, arguments)
    by_value = foreign.tables()["option_values"]
    of_command = _suiting(by_value.get(f"{typed} {value}", ()), options) or by_value.get(f"{command} {typed}")
    if of_command:
        return foreign.filled(of_command, value)
    of_others = foreign.tables()["options"]
    by_spelling = foreign.by_spelling(of_others)
    for spelled in foreign.spellings(typed):
        answer = _suiting(of_others.get(by_spelling.get(spelled, ""), ()), options)
        if answer:
            return foreign.filled(answer.replace("COMMAND", command), value)
    condition = _condition_for(command, typed, options, value)
    if condition:
        return condition
    # Words of other libraries for arguments of Python are known too: y_pred= is y_score=, which is --score here.
    in_python = ""
    for table in ("any", "Context", "Campaign"):
        answers = foreign.answers_by_spelling(foreign.tables()["arguments"][table]).get(foreign.spelling(typed), ())
        for answer in [answers] if isinstance(answers, str) else answers:
            argument = answer.partition("=")[0]
            option = (_OTHER_NAMES | _OF_ARRAYS).get(argument, f"--{argument.replace('_', '-')}")
            if option in options:
                used = foreign.filled(answer, value).partition(", such as")[0].removeprefix(f"{argument}=")
                return f"{option} {used}" if re.match(r"[\w-]", used) else option + used
            if not in_python and answer.startswith(("rs.", "omit this argument")):
                in_python = foreign.filled(answer, value).replace("this argument", "this option")
    return f"Python: {in_python}" if in_python.startswith("rs.") else in_python


def _condition_for(command: str, typed: str, options: Sequence[str], value: str) -> str:
    """Return the criterion or the condition that an option with the name of a metric means: --youden or --min-auc."""
    limit = re.fullmatch(r"--(?:(min|max|target|at)[-_])?(\w+?)(?:[-_](?:ci|interval|score|value|curve))?", typed)
    # The registry imports NumPy, which takes longer than all other answers.
    if limit is None or not foreign.concept_for(limit[2]):
        return ""
    from rocscope.figures.registry import known

    figure = known(limit[2])
    if figure is None:
        return ""
    if limit[1] is None:
        printed = "omit this option: all figures are printed; --json adds more" if command == "summary" else ""
        return f"--criterion {figure.name}" if "--criterion" in options else printed
    is_largest = limit[1] == "max"
    if command == "gate":
        rule = f"{figure.name} {'<=' if is_largest else '>='} {{value:0.7}}"
        return foreign.filled(f'the rule "{rule}" in the file of --rules', value)
    if "--subject-to" in options:
        sign, example = ("<=", 0.1) if is_largest else (">=", 0.9)
        return foreign.filled(f"--subject-to '{figure.name} {sign} {{value:{example}}}'", value)
    condition = f"--fail-if '{figure.name} {'>' if is_largest else '<'} {{value:0.7}}'"
    return foreign.filled(condition, value) if "--fail-if" in options else ""


# Options whose name differs from the argument of the library.
_OTHER_NAMES = {"scores": "--score", "fail_if": "--fail-if", "cv": "--folds", "constraint": "--subject-to"}
_OF_ARRAYS = {"y_true": "--label", "y_score": "--score", "sample_weight": "--weight"}
# Hints for Python and the command line, such as "delimiter= (--delimiter)", of which only the option is kept.
_BOTH = re.compile(r"""\b\w+(?:=(?:'[^']*'|"[^"]*"|\[[^\]]*\]|[\w.]+)?)? \((--[^)]+)\)""")
# A call in Python, which is kept, or an argument with or without a value, such as "missing='drop'".
_GIVEN = re.compile(r"""\brs\.[\w.]+\((?:[^()]|\([^()]*\))*\)|\b(\w+)=(?:(['"])(.*?)\2|([\w.-]+))?""")
# An alternative that only Python has, such as ", or cv=rocscope.protocols.Folds(10, rare_classes='spread')".
_ONLY_PYTHON = re.compile(r",? or (?:use )?\w+=rocscope\.[\w.]+\([^()]*\)")


def as_typed(message: str, arguments: Sequence[str]) -> str:
    """Return an error message in which names of Python arguments are replaced by options of the command line.

    Examples
    --------
    >>> as_typed("score 'a': expected numbers; leave such rows out with missing='drop'", ["summary"])
    "score 'a': expected numbers; leave such rows out with --missing drop"
    >>> as_typed("target_prevalence: expected a share above 0 and below 1, got 2.0", ["choose"])
    '--target-prevalence: expected a share above 0 and below 1, got 2.0'
    >>> as_typed("scores: expected probabilities; use rs.calibration.recalibrate(p, method='platt')", ["calibrate"])
    "--score: expected probabilities; use rs.calibration.recalibrate(p, method='platt')"
    >>> as_typed('where="a > 1": expected rows, got none', ["summary"])
    "--where 'a > 1': expected rows, got none"
    """
    options = _options_of(arguments)

    def option(match: re.Match[str]) -> str:
        name, _, text, word = match.groups()
        if name not in options:
            return match[0]
        value = word if text is None else text
        if value is None or value == "True":
            return options[name]
        return f"{options[name]} {_quoted(value)}"

    message = _BOTH.sub(r"\1", _ONLY_PYTHON.sub("", message))
    subject, colon, rest = message.partition(": ")
    if subject in options and colon:
        subject = options[subject]
    unknown = re.match(r"(.*, got '([^']*)')(?:; .*)?$", rest)
    if unknown and subject in options.values():  # the value of another tool, which it calls differently
        listed = foreign.tables()["option_values"]
        several = listed.get(f"{subject} ,", ()) if {",", "."} < set(unknown[2]) else ()  # not a decimal comma
        answer = _suiting(listed.get(f"{subject} {unknown[2]}") or several, list(options.values()))
        if not answer and unknown[0] == unknown[1]:
            answer = next((f"{subject} {word}" for word in foreign.value_meant(unknown[2])), "")
        rest = f"{unknown[1]}; {foreign.as_hint(foreign.filled(answer, unknown[2]))}" if answer else rest
        arguments = [typed for typed in arguments if typed not in (subject, unknown[2], f"{subject}={unknown[2]}")]
    rest = _GIVEN.sub(option, rest)
    if any(map(_is_file, arguments)):
        rest = _with_files(rest.replace("; use rs.", "; Python: rs."), arguments)
    return _GIVEN.sub(option, subject) + colon + rest


def _options_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return a mapping from names of Python arguments to the options of the typed command."""
    command = arguments[0] if arguments else ""
    if not command.isalpha() or command not in app:
        return {}
    options = {}
    for argument in app[command].assemble_argument_collection():
        if argument.name.startswith("--"):
            options[argument.name.removeprefix("--").replace("-", "_")] = argument.name
    for name, option in _OTHER_NAMES.items():
        if option in options.values():
            options.setdefault(name, option)
    return options
