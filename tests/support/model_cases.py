"""Generated contexts and several models of the same rows, with the points that an oracle finds on them."""

import numpy as np
from hypothesis import strategies as st

import oracle
from rocscope import Context, Predictions
from strategies import costs, prevalences, samples

positive_costs = costs.filter(lambda cost: cost > 0)
contexts = st.builds(Context, prevalences, positive_costs, positive_costs)


@st.composite
def several(draw, *, weight=None, most=20):
    """Draw labels, the scores of two or three models, and perhaps weights."""
    first = draw(samples(weight=weight, most=most))
    column = st.lists(st.integers(-3, 3), min_size=first.y.size, max_size=first.y.size)
    others = draw(st.lists(column, min_size=1, max_size=2))
    scores = {"a": first.score} | {name: np.array(each) for name, each in zip("bc", others, strict=False)}
    return Predictions(first.y, scores, sample_weight=first.weight)


def cases_of(preds):
    return {m: oracle.rows(preds.y_true, preds.scores[m], preds.sample_weight) for m in preds.models}


def all_points(preds):
    return [point for cases in cases_of(preds).values() for point in oracle.points(cases)]
