"""A constructor that is called with labels and scores names the call that makes the object."""

import re

import numpy as np
import pytest

import rocscope as rs
from rocscope._base.answers import tables
from rocscope.errors import ShapeError

CONSTRUCTORS = tables()["constructors"]
RNG = np.random.default_rng(1)
Y = RNG.integers(0, 2, 40)
DATA = {
    "rs": rs,
    "y": Y,
    "s": RNG.random(40) + Y / 2,
    "p": (RNG.random(40) + Y) / 2,
    "predicted": RNG.integers(0, 2, 40),
    "threshold": 0.5,
    "groups": np.arange(40) % 2,
    "probabilities": RNG.dirichlet([1, 1], 40),
    "current": rs.Predictions(Y, RNG.random(40)),
    "treated": np.arange(40) % 2,
    "time": np.arange(1, 41),
    "event": np.ones(40, int),
    "horizons": [10, 20],
}
# Users do not create objects of these classes, so only the names are answered.
NAMED_ONLY = ("Curve", "Drift", "Estimate", "Plan")


def class_named(name):
    for topic in (rs, rs.multiclass, rs.inference, rs.decisions, rs.ranges, rs.curves, rs.outcomes):
        if name in dir(topic):
            return getattr(topic, name)
    return (
        rs.inference.planning.Pilot if name == "Pilot" else type(rs.plan_campaign(Y, DATA["s"], rs.Campaign(9, 1, 2)))
    )


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_constructor_answers_with_a_call_that_works(name):
    cls, call = class_named(name), CONSTRUCTORS[name].partition(", which ")[0]
    assert cls.__name__ == name
    with pytest.raises((AttributeError, TypeError), match=re.escape(f"use {CONSTRUCTORS[name]}")):
        getattr(rs, name) if name in NAMED_ONLY else cls(DATA["y"], DATA["s"])
    made = eval(call, dict(DATA))
    if name == "ClassRecalibrator":
        made = next(iter(made.recalibrators.values()))
    assert isinstance(made, cls) or name == "BinnedCounts"


def test_names_of_labels_are_answered_too():
    with pytest.raises(TypeError, match=r"use rs\.multiclass\.ConfusionMatrix\.from_labels"):
        rs.multiclass.ConfusionMatrix(y_true=[1, 0], y_pred=[0, 1])
    with pytest.raises(ShapeError, match=r"got 2; for labels, call ConfusionMatrix.from_labels\(y_true, y_pred\)"):
        rs.multiclass.ConfusionMatrix(["a", "b"])
