"""rocscope gate: rules that the figures of models have to keep, for continuous integration."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

from cyclopts import Parameter

from rocscope._base.atomic_write import write_file
from rocscope._base.formatting import about
from rocscope.cli import options as opt
from rocscope.cli.console import markdown_table, note, print_json, print_rows, write
from rocscope.cli.fitted_models import split_files, with_scores
from rocscope.cli.gates import Gate, Judge, JudgedGate, gates_of, judged_by, outcome
from rocscope.errors import InputError

_HEADINGS = ("rule", "segment", "found", "result")
_COSTS = ("target_prevalence", "cost_fp", "cost_fn", "cost_tp", "cost_tn")


@dataclass(frozen=True)
class Rules:
    """What a file of rules says.

    Attributes
    ----------
    everywhere : list of Gate
        Conditions on all rows.
    by_segment : dict from column to list of Gate
        Conditions on each part of the rows that has one value of a column.
    threshold : number, mapping from model to number, or "costs"; None where a plan says it
    plan : str or None
        File of a decision, whose threshold and costs are taken.
    costs : dict
    min_rows : int
        Segments of fewer rows are not judged.
    """

    everywhere: list[Gate]
    by_segment: dict[str, list[Gate]]
    threshold: Any = None
    plan: str | None = None
    costs: dict[str, float] = field(default_factory=dict)
    min_rows: int = 1

    @classmethod
    def read(cls, path: str) -> "Rules":
        """Read a TOML file, and refuse what is not understood."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            got = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"--rules {path}", expected="a TOML file of rules", got=str(got)) from error
        known = ("rules", "segments", "threshold", "plan", "costs", "min_rows")
        _require(path, content, known, "")
        kinds = {"segments": dict, "costs": dict, "plan": str, "min_rows": int, "threshold": (int, float, str, dict)}
        for name, kind in kinds.items():
            if name in content and (not isinstance(content[name], kind) or isinstance(content[name], bool)):
                words = {"plan": "the name of a file", "min_rows": "a number of rows"}.get(name, f"a [{name}] table")
                words = "a number, a number for each model, or 'costs'" if name == "threshold" else words
                raise InputError(f"{path}: {name}", expected=words, got=repr(content[name]))
        _require(path, content.get("costs", {}), _COSTS, "costs.")
        segments = {column: _gates(path, texts, column) for column, texts in content.get("segments", {}).items()}
        everywhere = _gates(path, content.get("rules", []), "rules")
        if not everywhere and not any(segments.values()):
            raise InputError(path, expected='rules, such as rules = ["auc >= 0.8 at 95 %"]', got="none")
        others = {name: content[name] for name in ("threshold", "plan", "costs", "min_rows") if name in content}
        return cls(everywhere, segments, **others)

    def context(self, decision: Any) -> Any:
        """Return costs and class mix: those of the rules, else those of the plan."""
        from rocscope import Context

        if self.costs or decision is None:
            return Context(**self.costs)
        return decision.context

    def thresholds(self, models: list[str], context: Any, decision: Any) -> dict[str, float]:
        """Return the threshold of each model."""
        given = self.threshold
        if given is None:
            return {} if decision is None else {decision.model: decision.threshold}
        if given == "costs":
            odds = context.false_alarm_cost / (context.false_alarm_cost + context.miss_cost)
            return dict.fromkeys(models, float(odds))
        if isinstance(given, str) or (
            isinstance(given, Mapping) and not all(_is_number(each) for each in given.values())
        ):
            raise InputError("threshold", expected="a number, a number for each model, or 'costs'", got=repr(given))
        if isinstance(given, Mapping):
            return {str(model): float(each) for model, each in given.items()}
        return dict.fromkeys(models, float(given))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require(path: str, content: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    from rocscope._base import validation as check

    for name in content:
        if name not in known:
            raise InputError(f"{path}: {prefix}{name}", expected=check.one_of(name, list(known)), got=repr(name))


def _gates(path: str, texts: Any, name: str) -> list[Gate]:
    if not isinstance(texts, list):
        expected = 'a list of conditions, such as ["auc >= 0.8"]'
        raise InputError(f"{path}: {name}", expected=expected, got=repr(texts))
    return gates_of(texts, f"{path}: {name}", required=True)


def gate(
    file: opt.File,
    /,
    *others: opt.File,
    rows: opt.CountOptions = opt.COUNTS,
    rules: str,
    groups: Annotated[str | None, Parameter(group=opt.COLUMNS)] = None,
    junit: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    markdown: Annotated[opt.Flag, Parameter(name="--md")] = False,
    json: opt.Json = False,
    force: opt.Force = False,
) -> int:
    """Check that the figures of models keep rules, and exit with code 1 if one is broken.

    Example: rocscope gate scores.csv --label y --score old --score new --rules rules.toml --md --junit gate.xml

    The rules are a TOML file: rules = ["auc >= 0.8 at 95 %", "auc(new) - auc(old) >= -0.01 at 95 %"], with threshold
    or plan for figures of one threshold, [costs] for cost, and [segments] with rules for each part of the rows. With
    'at 95 %' the whole interval has to keep the bound. A rule that names no model holds for each.

    Fitted scikit-learn models may come first, in files of pickle or joblib. Each scores the rows of the last file, and
    is called by the name of its own: rocscope gate new.pkl old.pkl rows.csv --label y --rules rules.toml. Loading such
    a file runs the code in it.

    Parameters
    ----------
    rules
        File of the rules.
    groups
        Column of the patient or customer that several rows belong to.
    junit
        Also write the results as JUnit XML to this file.
    markdown
        Print a Markdown table, as a comment on a pull request.
    """
    if json and markdown:
        raise InputError("--json and --md", expected="one of them")
    asked = Rules.read(rules)
    opt.require_output(junit, force=force)
    models, file = split_files([file, *others])
    rows.require(file, "label", *(() if asked.plan or models else ("scores",)), groups=groups)
    for column in asked.by_segment:
        rows.require(file, segment=column)
    from rocscope.decisions import Decision
    from rocscope.sample import samples_of

    decision = None if asked.plan is None else Decision.load(Path(rules).parent / asked.plan)
    if decision is not None and not models:
        rows = replace(rows, score=rows.score or list(decision.needs or decision.models))
    source: Any = file
    if models:
        if rows.score:
            raise InputError("--score", expected="none beside models in files", got=", ".join(rows.score))
        source = with_scores(models, file, rows, [rows.label, rows.weight, groups, *asked.by_segment])
        rows = replace(rows, score=list(models), **dict.fromkeys(rows.reading))
    judged, skipped = [], []
    for part, segment, rules_of_part in _parts(asked, source, rows, groups):
        size = next(iter(samples_of(part).values())).points.n
        if segment and size < asked.min_rows:
            skipped.append(segment)
            continue
        context = asked.context(decision)
        judge = Judge(part, {}, context)
        judge = replace(judge, thresholds=asked.thresholds(judge.models, context, decision))
        judged += judged_by(rules_of_part, judge.models, judge.estimate, segment)
    lines = [(each.gate.text, each.segment, each.found, "failed" if each.failed else "passed") for each in judged]
    if json:
        print_json("gate", {"rules": [_content(each) for each in judged], "passed": not any(e.failed for e in judged)})
    elif markdown:
        write(_markdown(judged, lines) + "\n")
    else:
        print_rows(_title(judged), _HEADINGS, lines, left=_HEADINGS)
    if skipped:
        note(f"Not judged, with fewer than {about(asked.min_rows)} rows: {', '.join(skipped)}")
    if junit is not None:
        note(f"JUnit: {write_file(junit, _junit(judged), force=force)}")
    return outcome(judged)


def _parts(asked: Rules, file: Any, rows: Any, groups: str | None) -> Iterator[tuple[Any, str, list[Gate]]]:
    """Yield all rows, and the rows of each segment, with the rules that are for them."""
    own = {} if groups is None else {"groups": groups}
    if asked.everywhere:
        known = own or not isinstance(file, str)
        yield rows.predictions(file, **own) if known else rows.sample(file), "", asked.everywhere
    for column, gates in asked.by_segment.items():
        every = rows.predictions(file, segment=column, **own)
        for name, part in every.by_segment().items():
            yield part, f"{column} = {name}", gates


def _title(judged: list[JudgedGate]) -> str:
    broken = sum(each.failed for each in judged)
    return f"{broken} of {len(judged)} rules are broken" if broken else f"All {len(judged)} rules are kept"


def _markdown(judged: list[JudgedGate], lines: list[tuple[str, ...]]) -> str:
    marked = [
        [f"`{rule}`", segment, found, f"**{each}**" if each == "failed" else each]
        for rule, segment, found, each in lines
    ]
    return f"**{_title(judged)}**\n\n{markdown_table(list(_HEADINGS), marked)}"


def _content(judged: JudgedGate) -> dict[str, Any]:
    from rocscope.core.result import jsonable

    estimates = [each.to_dict() for each in judged.estimates]
    content = {"rule": judged.gate.text, "segment": judged.segment or None, "passed": not judged.failed}
    return jsonable(content | {"estimates": estimates})


def _junit(judged: list[JudgedGate]) -> str:
    """Return a test suite with a case for each rule, as CI servers read it."""
    failures = str(sum(each.failed for each in judged))
    suite = ElementTree.Element(
        "testsuite", name="rocscope gate", tests=str(len(judged)), failures=failures, errors="0"
    )
    for each in judged:
        case = ElementTree.SubElement(suite, "testcase", classname=each.segment or "all rows", name=each.gate.text)
        if each.failed:
            ElementTree.SubElement(case, "failure", message=each.found).text = f"{each.named}: {each.found}"
        else:
            ElementTree.SubElement(case, "system-out").text = each.found
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
