"""rocscope monitor: does a decision in use still keep its limits, judged at every look."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rocscope._base.atomic_write import check_writable
from rocscope._base.formatting import alike
from rocscope.cli import options as opt
from rocscope.cli.console import note, print_json, print_rows
from rocscope.errors import InputError

FAILED = 1


def monitor(
    decision: opt.SavedDecision,
    file: opt.File,
    /,
    *,
    state: str,
    rows: opt.SampleOptions = opt.SAMPLE,
    when: str | None = None,
    level: float = 0.95,
    fail_if: list[str] | None = None,
    json: opt.Json = False,
) -> int:
    """Take in new rows whose labels are known, and say whether a decision still keeps its limits.

    Run it as often as rows come, each row once: intervals and alarms hold at every look.

    Example: rocscope monitor decision.json new.parquet --label y --state s.json --fail-if "cost > .35"

    Parameters
    ----------
    state
        File that remembers what was seen; begun where it is not there.
    when
        What to call these rows, such as their date.
    level
        1 − the chance that limits which are kept ever raise an alarm.
    fail_if
        Exit with code 1 once this is beyond doubt: 'cost > .35', 'auc < .7', 'calibration > 0' (too many positives), …
    """
    rows.require(file, "label")
    check_writable(state, force=True)
    import rocscope as rs

    chosen = rs.Decision.load(decision)
    watch = _begin(state, chosen, fail_if or [], level)
    predictions = replace(rows, score=rows.score or [chosen.model]).predictions(file)
    watch.update(predictions, when=when)
    watch.save(state, force=True)
    if json:
        intervals = {name: each.to_dict() for name, each in watch.interval.items()}
        alarm = None if watch.alarm is None else watch.alarm.to_dict()
        print_json("monitor", {"n": watch.n, "looks": watch.looks, "interval": intervals, "alarm": alarm})
    else:
        headings = ("quantity", "so far", "interval", "method")
        lines = [[name, *_cells(each), each.method + each.doubt] for name, each in watch.interval.items()]
        looks = "1 look" if watch.looks == 1 else f"{watch.looks:,} looks"
        print_rows(f"{watch.n:,} rows in {looks}", headings, lines, left=("quantity", "method"))
    if watch.alarm is None:
        return 0
    note(f"Failed: {watch.alarm}")
    return FAILED


def _cells(estimate: Any) -> tuple[str, str]:
    value, low, high = alike(estimate.value, estimate.low, estimate.high)
    return value, f"{low} to {high}"


def _begin(state: str, chosen: Any, fail_if: list[str], level: float) -> Any:
    """Return the monitor that a file remembers, if it is of the same decision and limits; else a new one."""
    from rocscope.decisions import Monitor
    from rocscope.decisions import monitor as begin

    new = begin(chosen, fail_if=fail_if, level=level)
    if not Path(state).exists():
        return new
    known = Monitor.load(state)
    if (known.rule, known.limits, known.level) != (new.rule, new.limits, new.level):
        got = ", ".join(map(str, known.limits)) or "no limits"
        hint = "begin another state file, or give the same options"
        raise InputError(
            "--state", expected="a state of this decision, --fail-if and --level", got=f"another ({got})", hint=hint
        )
    return known
