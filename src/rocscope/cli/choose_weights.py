"""What `rocscope choose` does with more than two classes."""

import re
from typing import Any

from rocscope._numerals import alike
from rocscope.cli.console import note, print_records
from rocscope.errors import InputError

_REQUIREMENT = re.compile(r"\s*recall\s*\((?P<cls>.+)\)\s*(?:>=|≥)\s*(?P<share>[\d.]+)\s*(?P<percent>%?)\s*")


def choose_weights(
    predictions: Any, criterion: str | None, cost_matrix: str | None, cost_rows: Any, subject_to: list[str]
) -> Any:
    """Choose class weights."""
    from rocscope.multiclass.costs.file import read_costs
    from rocscope.multiclass.weights.choosing import class_weights

    objective: Any = criterion or "accuracy"
    if cost_matrix is not None:
        if criterion is not None:
            raise InputError("--criterion and --cost-matrix", expected="one of them")
        objective = read_costs(cost_matrix, predictions.classes, rows=cost_rows)
    least = dict(_requirement(text, predictions.classes) for text in subject_to)
    return class_weights(predictions, objective=objective, min_recall=least or None)


def print_weights(decision: Any) -> None:
    """Print class weights, and say what they change."""
    print_records(f"Class weights for {decision.model}, {decision.method}", _weights(decision))
    value, at_one = alike(decision.value, decision.value_at_one)
    note(f"{decision.objective}: {value}; with equal weights {at_one}")


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
