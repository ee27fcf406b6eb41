"""recalibrate: probabilities for rows that the recalibrator has not seen; and recalibrators from a file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope.calibration.recalibration.base import FORMAT, Recalibrator
from rocscope.calibration.recalibration.log_linear import (
    BetaRecalibrator,
    PlattRecalibrator,
    ShiftRecalibrator,
    TemperatureRecalibrator,
)
from rocscope.calibration.recalibration.steps import (
    HistogramRecalibrator,
    IsotonicRecalibrator,
    VennAbersRecalibrator,
)
from rocscope.core.jsonable import jsonable
from rocscope.core.predictions import Predictions
from rocscope.core.result import Result
from rocscope.core.rows import require_distinct
from rocscope.core.text import number
from rocscope.errors import InputError

Array = NDArray[Any]
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
"""Every recalibrator by the name of its method."""


@dataclass(frozen=True, eq=False, repr=False)
class Recalibrated(Result):
    """Recalibrated probabilities, and the recalibrators for further rows.

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

    predictions: Predictions
    recalibrators: Mapping[str, Recalibrator]
    method: str
    out_of_sample: bool

    @property
    def note(self) -> str:
        """What to keep in mind when these probabilities are judged."""
        if self.out_of_sample:
            return "each row's probability comes from a fit to the other folds"
        return "fitted to the rows that it is applied to: their calibration looks better than that of new rows"

    def to_dict(self) -> dict[str, Any]:
        """Return the recalibrators and what was done (not the rows), safe for JSON."""
        fitted = {model: recalibrator.to_dict() for model, recalibrator in self.recalibrators.items()}
        return jsonable({"method": self.method, "note": self.note, "recalibrators": fitted})

    def __repr__(self) -> str:
        where = "out of sample" if self.out_of_sample else "fitted and applied to the same rows"
        return f"Recalibrated({self.method}, {where}, n={number(self.predictions.n)}, models={self.predictions.models})"


def recalibrator(method: Method, **parameters: Any) -> Recalibrator:
    """Recalibrator of a method, not fitted yet: a map from scores to probabilities.

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
    if method not in RECALIBRATORS:
        raise InputError("method", expected=check.one_of(str(method), list(RECALIBRATORS)), got=repr(method))
    made = RECALIBRATORS[method]()
    unknown = sorted(set(parameters) - set(made.get_params()))
    if unknown:
        raise InputError(f"{method} recalibration has no parameter {unknown[0]!r}", got=repr(parameters[unknown[0]]))
    return made.set_params(**parameters)


def recalibrate(
    predictions: Predictions,
    method: Method = "beta",
    *,
    cv: Any = 5,
    seed: int = 0,
    **parameters: Any,
) -> Recalibrated:
    """Recalibrate each model on the scores alone, each row by a fit to other rows.

    Parameters
    ----------
    predictions : Predictions
    method : {"beta", "platt", "isotonic", "temperature", "shift", "histogram", "venn-abers"}
        Platt, isotonic, histogram and Venn–Abers take scores of any range, the others probabilities.
    cv : int, "fold", splitter of scikit-learn, or None
        So many folds, each with about the same share of positives; the fold column; the folds of a splitter; or no
        folds: fitted and applied to the same rows, which the result says.
    seed : int
        Of the folds, where `cv` is a number.
    **parameters
        Of the recalibrator, such as ``bins`` of "histogram".

    Returns
    -------
    Recalibrated

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
    require_distinct(predictions, "recalibration")
    unfitted = {model: recalibrator(method, **parameters) for model in predictions.models}
    folds = None if cv is None else _folds(predictions, cv, seed)
    fitted = {model: one.fit_counts(predictions.counts(model)) for model, one in unfitted.items()}
    scores = {
        model: one.predict(predictions.scores[model])
        if folds is None
        else _crossed(predictions, model, folds, method, parameters)
        for model, one in fitted.items()
    }
    recalibrated = Predictions(
        predictions.y_true,
        scores,
        sample_weight=predictions.sample_weight,
        fold=predictions.fold,
        segment=predictions.segment,
        repeat=predictions.repeat,
        row=predictions.row,
    )
    return Recalibrated(recalibrated, fitted, method, folds is not None)


def _crossed(predictions: Predictions, model: str, folds: Array, method: Method, parameters: dict[str, Any]) -> Array:
    result = np.empty(len(predictions))
    for fold in np.unique(folds):
        test = folds == fold
        training = predictions.select(~test, models=[model])
        fitted = recalibrator(method, **parameters).fit_counts(training.counts())
        result[test] = fitted.predict(predictions.scores[model][test])
    return result


def _folds(predictions: Predictions, cv: Any, seed: int) -> Array:
    """Return the fold of each row."""
    if isinstance(cv, str):
        if cv != "fold" or predictions.fold is None:
            raise InputError("cv", expected="a fold column" if cv == "fold" else "'fold'", got=repr(cv))
        folds = np.unique(predictions.fold, return_inverse=True)[1]
    elif hasattr(cv, "split"):
        folds = _of_splitter(predictions, cv)
    else:
        folds = _stratified(predictions, cv, seed)
    if folds.max() == 0:
        raise InputError("cv", expected="at least two folds", got="one", hint="cv=None fits and applies to all rows")
    return folds


def _stratified(predictions: Predictions, cv: Any, seed: int) -> Array:
    rarer = int(min(predictions.y_true.sum(), (~predictions.y_true).sum()))
    if not isinstance(cv, int | np.integer) or not 2 <= cv <= rarer:
        expected = f"a number of folds from 2 to {rarer}, the rows of the rarer class" if rarer > 1 else "more rows"
        raise InputError("cv", expected=expected, got=repr(cv), hint="cv=None fits and applies to the same rows")
    from sklearn.model_selection import StratifiedKFold

    return _of_splitter(predictions, StratifiedKFold(int(cv), shuffle=True, random_state=seed))


def _of_splitter(predictions: Predictions, splitter: Any) -> Array:
    folds = np.full(len(predictions), -1)
    for fold, (_, test) in enumerate(splitter.split(np.zeros((len(predictions), 1)), predictions.y_true)):
        folds[test] = fold
    if (folds < 0).any():
        raise InputError("cv", expected="every row in one test fold", got=f"{(folds < 0).sum()} rows in none")
    return folds


def load_recalibrator(path: str | os.PathLike[str]) -> Recalibrator:
    """Read a recalibrator that its method `save` has written: JSON, of which nothing is executed.

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
    return made.restore(fields.inner("state", "what its fit has found"))
