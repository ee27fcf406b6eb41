"""What `bench_peers` writes: tables in Markdown, and the plot of seconds against rows."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from peer_process import Outcome
from scipy.optimize import isotonic_regression

from rocscope.plotting import theme

BEGIN, END = "<!-- written by make bench-peers -->", "<!-- end of what make bench-peers writes -->"
PICTURE = Path("images", "peers.png")
GROUPS = {False: "From arrays in memory", True: "From one Parquet file"}
NAMES = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "duckdb": "DuckDB", "polars": "Polars"}
NAMES |= {"numba": "numba", "scikit-learn": "scikit-learn", "torchmetrics": "torchmetrics", "torch": "PyTorch"}
NAMES |= {"polars-ds": "polars-ds", "pyarrow": "PyArrow", "pyspark": "PySpark"}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(rows: int) -> str:
    """Write a power of ten as one, and any other number as it is."""
    digits = str(rows)
    return f"10{str(len(digits) - 1).translate(SUPERSCRIPTS)}" if digits.strip("0") == "1" else f"{rows:,}"


def duration(seconds: float) -> str:
    """Write seconds in a unit that leaves a number from 1 to 999, to two digits at least."""
    value, unit = (seconds, "s") if seconds >= 1 else (1e3 * seconds, "ms")
    return f"{value:.{max(0, 1 - int(np.floor(np.log10(value))))}f} {unit}"


def tables(
    outcomes: Sequence[Outcome], truths: dict[int, Fraction], machine: dict[str, Any], compiled: float | None
) -> str:
    """Return everything that stands between the markers."""
    parts = [_machine(machine)]
    for reads_parquet in GROUPS:
        group = [outcome for outcome in outcomes if outcome.peer.reads_parquet == reads_parquet]
        if group:
            parts.append(_table(GROUPS[reads_parquet], group, truths))
    parts += [_starts(outcomes, compiled)]
    return "\n\n".join(parts)


def rewrite(page: Path, text: str, outcomes: Sequence[Outcome]) -> None:
    """Put tables and plot between the markers of a page, and the picture beside it."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} has no lines {BEGIN} and {END} to write between")
    picture = page.parent / PICTURE
    picture.parent.mkdir(exist_ok=True)
    draw(outcomes, picture)
    shown = f"![Seconds against rows, rocscope and others]({PICTURE.as_posix()})"
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{shown}\n\n{END}{after}", encoding="utf-8")


def _machine(machine: dict[str, Any]) -> str:
    libraries = ", ".join(f"{NAMES[key]} {machine[key]}" for key in NAMES if key in machine)
    simd = f" (NumPy uses {', '.join(machine['simd'])})" if machine["simd"] else ""
    size = f"{machine['memory'] / 2**30:.0f} GiB"
    described = f"{machine['system']}, {machine['machine']}, {machine['cores']} cores{simd}, {size}. {libraries}."
    paragraphs = [described]
    if machine["load"] > 0.5:
        paragraphs.append(
            f"**Taken on a busy machine** (load {machine['load']:.1f} on {machine['cores']} cores before it began): "
            "times are too long, and ratios are rough."
        )
    return "\n\n".join(fill(paragraph, 120) for paragraph in paragraphs)


def _by_peer(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    return [[o for o in outcomes if o.peer == peer] for peer in dict.fromkeys(o.peer for o in outcomes)]


def _table(title: str, group: Sequence[Outcome], truths: dict[int, Fraction]) -> str:
    """Return the time by rows; of the most rows that were done also ratio, memory and error."""
    sizes = list(truths)
    largest = f"{power(sizes[-1])} rows"
    head = [title, *(f"{power(rows)} rows" for rows in sizes), "time relative to rocscope", "memory", "error"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    first = {outcome.rows: outcome for outcome in group if outcome.peer.package == "rocscope" and outcome.turns}
    for line in _by_peer(group):
        name = f"{line[0].peer.name.partition(',')[0]} ({line[0].peer.asked})"
        missing = line[0].note.startswith("missing")
        notes = ["missing" if missing else o.note.removeprefix("needs about ") for o in line]
        times = [duration(o.seconds) if o.turns else note for o, note in zip(line, notes, strict=True)]
        done = [outcome for outcome in line if outcome.turns]
        lines.append(f"| {' | '.join([name, *times, *_last(done, first, truths, sizes[-1])])} |")
    return "\n".join([*lines, "", f"The last three columns are for {largest}, or for the number of rows in brackets."])


def _last(done: Sequence[Outcome], first: dict[int, Outcome], truths: dict[int, Fraction], most: int) -> list[str]:
    """Return ratio, memory and error at the most rows that were done."""
    if not done:
        return ["", "", ""]
    last = done[-1]
    ratio = f"{last.seconds / first[last.rows].seconds:.1f}" if last.rows in first else ""
    if last.rows < most:
        ratio += f" ({power(last.rows)})"
    truth = truths[last.rows]
    off = "none" if last.answer == float(truth) else f"{float(abs(Fraction(last.answer) - truth)):.0e}"
    return [ratio, f"{last.growth / 1e6:,.0f} MB", off]


def _starts(outcomes: Sequence[Outcome], compiled: float | None) -> str:
    """Return what comes before the first answer, the median over processes."""
    lines = ["| start | import | first answer | memory after the first answer |", "|---|---:|---:|---:|"]
    for line in _by_peer(outcomes):
        starts = [outcome.start for outcome in line if outcome.start]
        if starts:
            imported, first, resident = (
                float(np.median([start[key] for start in starts])) for key in ("import", "first", "resident")
            )
            lines.append(
                f"| {line[0].peer.name} | {duration(imported)} | {duration(first)} | {resident / 1e6:,.0f} MB |"
            )
    if compiled is not None:
        lines += ["", f"With an empty cache of compiled code, rocscope's first answer took {duration(compiled)}."]
    return "\n".join(lines)


def draw(outcomes: Sequence[Outcome], picture: Path) -> None:
    """Save the plot: one panel for arrays, one for the file, each line named at its end."""
    from matplotlib import pyplot as plt

    groups = {key: [o for o in outcomes if o.turns and o.peer.reads_parquet == key] for key in GROUPS}
    groups = {key: group for key, group in groups.items() if group}
    with mpl.rc_context({"font.size": 10}):
        figure = theme.new_figure(4.6 * len(groups), 4.2)
        axes = figure.subplots(1, len(groups), sharex=True, sharey=True, squeeze=False)[0]
        for ax, (key, group) in zip(axes, groups.items(), strict=True):
            _panel(ax, GROUPS[key], _by_peer(group))
        _scales(axes, sorted({o.rows for o in outcomes}))
        for ax, group in zip(axes, groups.values(), strict=True):
            _name_lines(ax, _by_peer(group))
        figure.savefig(picture, dpi=160)
        plt.close(figure)


def _look(line: Sequence[Outcome]) -> dict[str, Any]:
    ours = line[0].peer.package == "rocscope"
    return {
        "color": theme.LIGHT.hues[0] if ours else theme.LIGHT.muted,
        "linewidth": 2.6 if ours else 1.3,
        "zorder": 3 if ours else 2,
    }


def _panel(ax: Any, title: str, lines: Sequence[Sequence[Outcome]]) -> None:
    theme.style_axes(ax)
    ax.set_title(title, loc="left", fontsize="medium")
    for line in lines:
        ax.loglog([o.rows for o in line], [o.seconds for o in line], marker="o", markersize=4, **_look(line))


def _scales(axes: Sequence[Any], sizes: Sequence[int]) -> None:
    """Name each size that was measured, and times at powers of ten."""
    axes[0].set_xlim(sizes[0] / 1.3, sizes[-1] * 1.3)
    axes[0].set_ylabel("time of one answer, median of the repeats")
    for ax in axes:
        ax.set_xlabel("rows")
        ax.xaxis.set_major_locator(FixedLocator(list(sizes)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: power(round(rows))))
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda seconds, _: f"{seconds:g} s" if seconds >= 1 else f"{1e3 * seconds:g} ms")
        )


def _name_lines(ax: Any, lines: Sequence[Sequence[Outcome]]) -> None:
    """Write each name in the margin beside the line's end, moved as little as keeps names apart."""
    lines = sorted(lines, key=lambda line: line[-1].seconds)
    low, high = np.log10(ax.get_ylim())
    wanted = np.array([(np.log10(line[-1].seconds) - low) / (high - low) for line in lines])
    apart = 0.055 * np.arange(len(lines))
    places = isotonic_regression(wanted - apart).x + apart
    for line, place in zip(lines, places, strict=True):
        look = _look(line)
        ax.annotate(
            line[0].peer.name.partition(",")[0],
            xy=(line[-1].rows, line[-1].seconds),
            xytext=(1.04, place),
            textcoords="axes fraction",
            va="center",
            color=look["color"],
            weight="bold" if look["linewidth"] > 2 else "normal",
            arrowprops={"arrowstyle": "-", "color": theme.LIGHT.frame, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )
