"""Shuttle landing control: rules that say when to land automatically."""

import numpy as np

from rocscope.datasets.dataset import Dataset
from rocscope.datasets.grid import combinations

_SIZES = {"stability": 2, "serr": 4, "sign": 2, "wind": 2, "magnitude": 4, "visibility": 2}

# The class, then one digit for each attribute; * is any value. No two rules contradict each other.
_RULES = [
    "2*****2",
    "12****1",
    "112***1",
    "111***1",
    "11322*1",
    "1****41",
    "214**11",
    "214**21",
    "214**31",
    "2131111",
    "2131121",
    "2131211",
    "2131221",
    "1131131",
    "2131231",
]


def make() -> Dataset:
    """Every situation that a rule decides; three of the 256 fall under none."""
    situation, _ = combinations({name: range(1, size + 1) for name, size in _SIZES.items()})
    attributes = np.column_stack(list(situation.values()))
    advice = np.zeros(len(attributes), dtype=np.int64)
    for decision, *conditions in _RULES:
        asked = [place for place, digit in enumerate(conditions) if digit != "*"]
        met = attributes[:, asked] == [int(conditions[place]) for place in asked]
        advice[met.all(axis=1)] = int(decision)
    decided = advice > 0
    return Dataset(
        name="shuttle-landing-control",
        X={name: values[decided] for name, values in situation.items()},
        y=advice[decided],
        positive=2,
        description="Situations of a space shuttle that is to land (serr: how large the error is); "
        "class: 1 advises against automatic control, 2 advises it.",
        source="D. Michie, The fifth generation's unbridged gap, in R. Herken (ed.), The Universal Turing "
        "Machine, Oxford University Press, 1988, 466-489; "
        "UCI Machine Learning Repository (CC BY 4.0), donor B. Cestnik, 1988.",
    )
