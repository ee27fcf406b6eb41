"""Titanic: who survived, by status, age and sex."""

import numpy as np

from rocscope.datasets.dataset import Dataset

# Status, age, sex; how many survived, how many died.
_COUNTS = [
    ("first", "adult", "male", 57, 118),
    ("first", "adult", "female", 140, 4),
    ("first", "child", "male", 5, 0),
    ("first", "child", "female", 1, 0),
    ("second", "adult", "male", 14, 154),
    ("second", "adult", "female", 80, 13),
    ("second", "child", "male", 11, 0),
    ("second", "child", "female", 13, 0),
    ("third", "adult", "male", 75, 387),
    ("third", "adult", "female", 76, 89),
    ("third", "child", "male", 13, 35),
    ("third", "child", "female", 14, 17),
    ("crew", "adult", "male", 192, 670),
    ("crew", "adult", "female", 20, 3),
]


def make() -> Dataset:
    """One row for each person whom the table counts, survivors of a group before its dead."""
    rows = np.array(
        [
            (*group, survived)
            for *group, yes, no in _COUNTS
            for survived, count in (("yes", yes), ("no", no))
            for _ in range(count)
        ]
    )
    status, age, sex, survived = rows.T.copy()
    return Dataset(
        name="titanic",
        X={"status": status, "age": age, "sex": sex},
        y=survived,
        positive="yes",
        description="Everyone aboard the Titanic; class: whether the person survived.",
        source='R. J. MacG. Dawson, The "unusual episode" data revisited, Journal of Statistics Education '
        "3(3), 1995, from the report of the British Board of Trade, 1912.",
    )
