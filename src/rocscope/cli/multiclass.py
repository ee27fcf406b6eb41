"""What `summary` and `choose` do with more than two classes."""

import re
from typing import Any

from rocscope.cli.console import markdown_table, note, print_json, print_table
from rocscope.errors import InputError

TWO_CLASS_COSTS = ("cost_fp", "cost_fn", "cost_tp", "cost_tn", "target_prevalence")
TWO_CLASS_CHOICES = ("at_most", "population", "negate", "plot")
COSTS_INSTEAD = "rocscope choose takes --cost-matrix"

_REQUIREMENT = re.compile(r"\s*recall\s*\((?P<cls>.+)\)\s*(?:>=|≥)\s*(?P<share>[\d.]+)\s*(?P<percent>%?)\s*")


def summarise(predictions: Any, *, title: str, detailed: bool, json: bool, markdown: bool) -> None:
    """Print how good each model is, and each class by the best one."""
    from rocscope.report.multiclass import by_class, multiclass_data, overview

    data = multiclass_data(predictions, title=title, detailed=detailed)
    if json:
        print_json("summary", data.to_dict())
        return
    tables = {f"{predictions.n:,g} cases of {len(predictions.classes)} classes": overview(data)}
    tables |= {f"Classes, by {model.name}": by_class(model) for model in data.models}
    if markdown:
        texts = [markdown_table(list(rows[0]), [list(row.values()) for row in rows]) for rows in tables.values()]
        print("\n\n".join(texts))
        return
    for heading, rows in tables.items():
        print_table(_table(heading, rows))
    undefined = data.best.undefined
    if undefined:
        note(f"Without cases, and left out of averages: {', '.join(map(str, undefined))}")
    note(data.verdict)


def choose_weights(
    predictions: Any,
    *,
    criterion: str | None,
    cost_matrix: str | None,
    cost_rows: str | None,
    subject_to: list[str],
    output: str | None,
    json: bool,
    force: bool,
) -> None:
    """Choose class weights and say what they change."""
    from rocscope.decisions import decision_file
    from rocscope.multiclass.costs.file import read_costs
    from rocscope.multiclass.weights.choosing import class_weights

    objective: Any = criterion or "accuracy"
    if cost_matrix is not None:
        if criterion is not None:
            raise InputError("--criterion and --cost-matrix", expected="one of them")
        objective = read_costs(cost_matrix, predictions.classes, rows=cost_rows)  # pyright: ignore[reportArgumentType]
    least = dict(_requirement(text, predictions.classes) for text in subject_to)
    decision = class_weights(predictions, objective=objective, min_recall=least or None)
    if output == "-":
        print(decision_file.seal(decision.to_dict(), "rocscope.class_weights"), end="")
    elif json:
        print_json("choose", decision.to_dict())
    else:
        print_table(_table(f"Class weights for {decision.model}, {decision.method}", _weights(decision)))
        note(f"{decision.objective}: {decision.value:.6g}; with equal weights {decision.value_at_one:.6g}")
    if output not in (None, "-"):
        note(f"Decision: {decision.save(output, force=force)}")


def _requirement(text: str, classes: tuple[Any, ...]) -> tuple[Any, float]:
    match = _REQUIREMENT.fullmatch(text)
    if not match:
        raise InputError("--subject-to", expected="a text such as 'recall(cat) >= 0.8'", got=repr(text))
    by_text = {str(cls): cls for cls in classes}
    share = float(match["share"]) / (100 if match["percent"] else 1)
    return by_text.get(match["cls"].strip(), match["cls"].strip()), share


def _weights(decision: Any) -> list[dict[str, str]]:
    matrix = decision.confusion
    recall, precision = matrix.recall.tolist(), matrix.precision.tolist()
    return [
        {
            "class": str(cls),
            "weight": f"{decision.weight[i]:.4g}",
            "cases": f"{matrix.support[i]:,g}",
            "predicted": f"{matrix.predicted[i]:,g}",
            "recall": f"{recall[i]:.2%}",
            "precision": f"{precision[i]:.2%}",
        }
        for i, cls in enumerate(decision.classes)
    ]


def _table(title: str, rows: list[dict[str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title)
    for i, heading in enumerate(rows[0]):
        table.add_column(heading, justify="right" if i else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    return table
