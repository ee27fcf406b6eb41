"""Cross-fitted recalibration, and loading of saved recalibrators."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope.calibration.recalibrators import (
    FORMAT,
    BetaRecalibrator,
    HistogramRecalibrator,
    IsotonicRecalibrator,
    PlattRecalibrator,
    Recalibrator,
    ShiftRecalibrator,
    TemperatureRecalibrator,
    VennAbersRecalibrator,
)
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result, number
from rocscope.core.rows import independent_units, refuse_repeats
from rocscope.errors import InputError
from rocscope.protocols.splits import Split, SplitRows
from rocscope.protocols.splitters import splits_testing_once
from rocscope.sample import rows_of

Method = Literal["platt", "isotonic", "beta", "temperature", "shift", "histogram", "venn-abers"]

RECALIBRATORS: dict[str, type[Recalibrator]] = {
    kind.method: kind
    for kind in (
        PlattRecalibrator,
        IsotonicRecalibrator,
        BetaRecalibrator,
        TemperatureRecalibrator,
        ShiftRecalibrator,
        HistogramRecalibrator,
        VennAbersRecalibrator,
    )
}
"""All recalibrators by method name."""


@dataclass(frozen=True, eq=False, repr=False)
class Recalibrated(Result):
    """Recalibrated probabilities, and the recalibrators to apply to new rows.

    Attributes
    ----------
    predictions : Predictions
        The same rows and models, with probabilities in place of scores.
    recalibrators : dict of Recalibrator
        For each model, fitted to all rows: for rows that come later.
    method : str
    out_of_sample : bool
        True where each row's probability comes from a recalibrator fitted without that row's fold.
    """

    _content = ("method", "note", "recalibrators")

    predictions: Predictions
    recalibrators: Mapping[str, Recalibrator]
    method: str
    out_of_sample: bool

    @property
    def note(self) -> str:
        """Caveats when these probabilities are evaluated."""
        if self.out_of_sample:
            return "each row's probability comes from a fit to the other folds"
        return "fitted to the rows that it is applied to: their calibration looks better than that of new rows"

    def __repr__(self) -> str:
        where = "out of sample" if self.out_of_sample else "fitted and applied to the same rows"
        return f"Recalibrated({self.method}, {where}, n={number(self.predictions.n)}, models={self.predictions.models})"


@contract
def recalibrator(method: Method, **parameters: Any) -> Recalibrator:
    """Return an unfitted recalibrator: a map from scores to probabilities.

    Parameters
    ----------
    method : {"beta", "platt", "isotonic", "temperature", "shift", "histogram", "venn-abers"}
    **parameters
        Of the method, such as ``bins`` of "histogram".

    Returns
    -------
    Recalibrator
        With the interface of scikit-learn on one-dimensional scores, `adjust_to` and `save`.

    Raises
    ------
    InputError
        If there is no such method, or it has no such parameter.

    Examples
    --------
    >>> recalibrator("histogram", bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1]).predict([1, 4])
    array([0.5, 1. ])
    """
    check.check_choice("method", method, list(RECALIBRATORS))
    made = RECALIBRATORS[method]()
    unknown = sorted(set(parameters) - set(made.get_params()))
    if unknown:
        raise InputError(f"{method} recalibration has no parameter {unknown[0]!r}", got=repr(parameters[unknown[0]]))
    return made.set_params(**parameters)


@contract
def recalibrate(
    predictions: Predictions,
    method: Method = "beta",
    *,
    cv: Any = 10,
    random_state: Any = 0,
    **parameters: Any,
) -> Recalibrated:
    """Recalibrate each model out of fold, using only its scores.

    Parameters
    ----------
    predictions : Predictions
    method : {"beta", "platt", "isotonic", "temperature", "shift", "histogram", "venn-abers"}
        Platt, isotonic, histogram and Venn–Abers take scores of any range, the others probabilities.
    cv : int, "fold", whatever else `rocscope.evaluate` takes as `cv`, or None
        So many folds, each with about the same share of positives and whole groups; the fold column; any splits that
        test each row once; or no folds: fitted and applied to the same rows, which the result says.
    random_state : int, Generator, RandomState or None
        Of the folds.
    **parameters
        Of the recalibrator, such as ``bins`` of "histogram".

    Returns
    -------
    Recalibrated
        Cross-fitted probabilities of the rows, and the recalibrator fitted to all rows.

    Raises
    ------
    InputError
        If there is no such method, no such folds, or a row occurs in several repeats: it would be in both parts of a
        fold. OneClassError if one class is missing.

    Notes
    -----
    Platt (with a slope above 0), beta, temperature and shift keep the order of scores, so within one fit ROC curve,
    AUC, gain and lift stay as they are; across folds the fits differ a little. Isotonic turns the ROC curve into its
    hull.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(1000)
    >>> preds = Predictions(rng.random(1000) < score**2, score)
    >>> result = recalibrate(preds, "beta")
    >>> result
    Recalibrated(beta, out of sample, n=1000, models=['score'])
    >>> result.recalibrators["score"].predict([0.5]).round(2)
    array([0.26])
    """
    predictions = rows_of(predictions)
    refuse_repeats(predictions, "recalibration")
    unfitted = {model: recalibrator(method, **parameters) for model in predictions.models}
    rows = SplitRows(None, predictions.y_true.astype(np.intp), (False, True), independent_units(predictions))
    splits = None if cv is None else splits_testing_once(cv, rows, predictions.fold, check.seed_of(random_state))
    fitted = {model: one.fit_counts(predictions.counts(model)) for model, one in unfitted.items()}
    scores = {
        model: one.predict(predictions.scores[model])
        if splits is None
        else _crossed(predictions, model, splits, method, parameters)
        for model, one in fitted.items()
    }
    kept = predictions.row_columns()
    recalibrated = Predictions(predictions.y_true, scores, columns=predictions.columns, **kept)
    return Recalibrated(recalibrated, fitted, method, splits is not None)


def _crossed(
    predictions: Predictions, model: str, splits: Sequence[Split], method: Method, parameters: dict[str, Any]
) -> Array:
    result = np.empty(len(predictions))
    for split in splits:
        training = np.zeros(len(predictions), np.bool_)
        training[split.train] = True
        counts = predictions.select(training, models=[model]).counts()
        fitted = recalibrator(method, **parameters).fit_counts(counts)
        result[split.test] = fitted.predict(predictions.scores[model][split.test])
    return result


@contract
def load_recalibrator(path: str | os.PathLike[str]) -> Recalibrator:
    """Load a recalibrator saved by its method `save`; JSON, and nothing in it is executed.

    Parameters
    ----------
    path : path of a file

    Returns
    -------
    Recalibrator

    Raises
    ------
    StoredError
        If the file cannot be read, or is not a recalibrator of a version that this one understands.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> fitted = recalibrator("isotonic").fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> with TemporaryDirectory() as folder:
    ...     loaded = load_recalibrator(fitted.save(f"{folder}/calibrator.json"))
    >>> loaded.predict([1, 2.5, 4])
    array([0. , 0.5, 1. ])
    """
    fields = FORMAT.read(path)
    parameters = fields.take("parameters", dict, "the parameters of its method")
    made = fields.make("method", recalibrator, fields.content.get("method"), **parameters)
    made.restore(fields.inner("state", "what its fit has found"))
    fields.require_same(made.to_dict())
    return made
