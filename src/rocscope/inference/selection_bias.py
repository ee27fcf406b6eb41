"""What a threshold costs that was chosen on the same rows: between what it looks like and what it costs others."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions
from rocscope.core.row_costs import rows_in_money
from rocscope.core.rows import independent_units
from rocscope.geometry import best_point
from rocscope.inference.error_rates import predict

_FOLDS = 10
_REPEATS = 5
_MANY = 100_000  # rows from which on one repeat says the same as five


def chosen_and_crossed(
    predictions: Predictions, context: Context, groups: object
) -> tuple[dict[str, NDArray[np.bool_]], list[dict[str, NDArray[np.bool_]]]]:
    """Return which rows each model predicts positive at its cheapest threshold of all rows; and of the other folds.

    Rows of a group are in one fold. The folds are the same in every call.
    """
    whole = predict(predictions, _cheapest(predictions, context))
    unit = independent_units(predictions, groups)
    code = np.arange(len(predictions)) if unit is None else unit
    many, rng = int(code.max()) + 1, np.random.default_rng(0)
    crossed = []
    for _ in range(_REPEATS if len(predictions) < _MANY else 1):
        fold = (rng.permutation(many) % min(_FOLDS, many))[code]
        said = {model: np.zeros(len(predictions), bool) for model in predictions.models}
        for number in range(int(fold.max()) + 1):
            out = fold == number
            kept = predictions.select(~out)
            if not 0 < kept.n_pos < kept.n:
                continue
            for model, predicted in predict(predictions.select(out), _cheapest(kept, context)).items():
                said[model][out] = predicted
        crossed.append(said)
    return whole, crossed


def _cheapest(predictions: Predictions, context: Context) -> dict[str, float]:
    if context.columns:
        predictions, context = rows_in_money(predictions, context), Context()
        if not 0 < predictions.n_pos < predictions.n:
            return dict.fromkeys(predictions.models, -inf if predictions.n_pos else inf)
    return {model: best_point(predictions.counts(model), context).threshold for model in predictions.models}


def between(chosen: Array, crossed: list[Array]) -> Array:
    """Return each row's cost with the best threshold: a quarter by its own choice, three by that of the other folds.

    Near the best threshold costs rise with the square of the distance and vary like a random walk W along it. Then what
    is chosen looks better than the best by E max(W(t) − t²) and is worse by E argmax² (Kim & Pollard 1990, "Cube root
    asymptotics", Ann. Stat. 18:191–219); as the former scales with a factor c of t² by c^(−1/3) and has the derivative
    −E argmax², it is three times the latter.
    """
    return (chosen + 3 * np.mean(crossed, axis=0)) / 4


def error_of_choice(correction: Array) -> Array:
    """Return the standard error that the choice adds to a cost, from how much `between` is above what it looks like.

    Both are of the order n^(−2/3) and, by simulation, in the proportion of 2 to 3.
    """
    return correction * 2 / 3
