"""Calibration of class probabilities: scores, calibration errors, calibration curves and recalibration.

Calibration errors and curves compare each class with all other classes ("classwise"), or evaluate the largest
probability of each row ("top label", also called confidence).

Recalibration is a linear map of log-probabilities, p' = softmax(W·log p + b). The matrix W is a multiple of the
identity (temperature scaling), diagonal (vector scaling) or full (Dirichlet calibration). The map is fitted by
penalised maximum likelihood; the penalty shrinks it towards unchanged probabilities. The optimiser is L-BFGS,
preconditioned by the Hessian.
"""

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import linalg, optimize, special

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.atomic_write import JSON, write_file
from rocscope._base.class_names import check_classes
from rocscope._base.contract import contract, made_by_contract
from rocscope._base.json_format import Format
from rocscope.calibration.curve import CalibrationCurve, calibration_curve
from rocscope.calibration.distances import calibration_error
from rocscope.calibration.outcomes import Outcomes, pav_values
from rocscope.calibration.scoring_rules import Decomposition, decompose
from rocscope.core import Predictions, Result, independent_units, require_kinds
from rocscope.errors import InputError
from rocscope.inference.estimate import Estimate
from rocscope.multiclass.confusion import check_probabilities
from rocscope.multiclass.predictions import MulticlassPredictions, predictions_of
from rocscope.protocols.splitters import SplitRows, splits_testing_once

Kind = Literal["classwise", "top-label"]


@contract
def multiclass_brier(
    y_true: Any, proba: Any = None, *, model: str | None = None, classes: Any = None, sample_weight: Any = None
) -> float:
    """Compute the multi-class Brier score.

    The score of a row is Σᵢ(pᵢ − yᵢ)² over the classes i, where pᵢ is the probability of class i and yᵢ is 1 for the
    true class, otherwise 0. The Brier score is the mean over rows.

    Parameters
    ----------
    y_true : array of n labels, or MulticlassPredictions
        True classes, or labels and predictions together.
    proba : n × k array of probabilities
        Predicted probabilities of the classes; omit if `y_true` is a MulticlassPredictions.
    model : str, optional
        Name of the model. By default, the only model of the predictions.
    classes, sample_weight : see `MulticlassPredictions`

    Returns
    -------
    float
        Score from 0 (best) to 2. For two classes it is twice the score of `rocscope.calibration.brier`.

    Raises
    ------
    InputError
        If the probabilities are missing or invalid; see `MulticlassPredictions`.

    See Also
    --------
    multiclass_log_loss, multiclass_decompose, rocscope.calibration.brier

    References
    ----------
    Brier 1950, Mon. Wea. Rev. 78:1–3.

    Examples
    --------
    >>> round(multiclass_brier(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]]), 4)
    0.4333
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    return _mean_score(preds, preds.probabilities(model), "brier")


@contract
def multiclass_log_loss(
    y_true: Any, proba: Any = None, *, model: str | None = None, classes: Any = None, sample_weight: Any = None
) -> float:
    """Compute the multi-class log loss: the mean of −log p, where p is the probability of the true class.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`

    Returns
    -------
    float
        Log loss; 0 is best. It is infinite if the true class of a row has probability 0.

    Raises
    ------
    InputError
        If the probabilities are missing or invalid; see `MulticlassPredictions`.

    See Also
    --------
    multiclass_brier, multiclass_decompose, rocscope.calibration.log_loss

    Examples
    --------
    >>> round(multiclass_log_loss([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 4)
    0.6931
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    return _mean_score(preds, preds.probabilities(model), "log_loss")


Score = Literal["brier", "log_loss", "rps"]


def row_scores(y: Array, chance: Array, score: Score) -> Array:
    """Return the score of each row; `multiclass_score` is the mean of these scores."""
    own = np.take_along_axis(chance, y[:, None], axis=1)[:, 0]
    if score == "log_loss":
        with np.errstate(divide="ignore"):
            return -np.log(own)
    if score == "rps":
        reached = y[:, None] <= np.arange(chance.shape[1])
        return ((chance.cumsum(axis=1) - reached) ** 2).sum(axis=1) / (chance.shape[1] - 1)
    # Σ_c (p_c − y_c)² = Σ_c p_c² − 2·p_true + 1
    return np.einsum("ij,ij->i", chance, chance) - 2 * own + 1


def _mean_score(preds: MulticlassPredictions, chance: Array, score: Score) -> float:
    return float(np.average(row_scores(preds.y_true, chance, score), weights=preds.sample_weight)) + 0.0


@contract
def multiclass_score(
    y_true: Any, proba: Any = None, rule: Score = "brier", *, model: str | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Brier score, log loss or ranked probability score with its confidence interval.

    Parameters
    ----------
    y_true, proba, model : see `multiclass_brier`
    rule : {"brier", "log_loss", "rps"}
        Score to estimate. "rps" is the ranked probability score for ordered classes, such as low, medium and high: the
        mean squared difference between cumulative probabilities and cumulative outcomes, from 0 (best) to 1.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Mean score over rows with a t interval. The interval accounts for weights, groups and repeats of the rows.

    Raises
    ------
    InputError
        If `rule` is unknown, or the model has no probabilities.

    See Also
    --------
    multiclass_brier, multiclass_log_loss, multiclass_figure

    References
    ----------
    Epstein 1969, J. Appl. Meteor. 8:985–987 (ranked probability score).

    Examples
    --------
    >>> multiclass_score([0, 1, 2], [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0, 0.5]], "rps").value
    0.125
    """
    check.check_choice("rule", rule, ("brier", "log_loss", "rps"))
    preds = predictions_of(y_true, proba)
    design = preds.design()
    values = row_scores(preds.y_true, preds.probabilities(model), rule)
    return design.mean(values[design.rows], check.check_level(level))


@contract
def multiclass_decompose(
    y_true: Any,
    proba: Any = None,
    *,
    rule: Literal["brier", "log_loss"] = "brier",
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> Decomposition:
    """Decompose a multi-class score into miscalibration − discrimination + uncertainty.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    rule : {"brier", "log_loss"}
        Score to decompose.

    Returns
    -------
    Decomposition
        The score and its three terms.

    Raises
    ------
    InputError
        If `rule` is unknown, or the model has no probabilities.

    See Also
    --------
    multiclass_brier, multiclass_log_loss, multiclass_calibration_error

    Notes
    -----
    The multi-class Brier score is the sum over classes of the Brier score of each class against all others. Each term
    is therefore the sum of the CORP terms of the classes, and is never negative. The log loss is not a sum over
    classes. To recalibrate the probabilities, each class is calibrated by PAV, and the values of a row are divided by
    their sum. The terms of the log loss may therefore be slightly negative.

    References
    ----------
    Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118.

    Examples
    --------
    >>> parts = multiclass_decompose([0, 1, 2], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]])
    >>> round(parts.score - parts.miscalibration + parts.discrimination - parts.uncertainty, 12)
    0.0
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    check.check_choice("rule", rule, ("brier", "log_loss"))
    chance = preds.probabilities(model)
    samples = [Outcomes.of(preds.binary(cls).counts(model)) for cls in preds.classes]
    if rule == "brier":
        parts = [decompose(sample) for sample in samples]
        numbers = [(part.score, part.miscalibration, part.discrimination, part.uncertainty) for part in parts]
        score, miscalibration, discrimination, uncertainty = np.sum(numbers, axis=0).tolist()
        return Decomposition(score, miscalibration, discrimination, uncertainty, rule, "CORP, classwise")
    fitted = np.empty_like(chance)
    for k, sample in enumerate(samples):
        fitted[:, k] = pav_values(sample)[np.searchsorted(sample.score, chance[:, k])]
    fitted /= fitted.sum(axis=1, keepdims=True)
    share = np.bincount(preds.y_true, preds.sample_weight, chance.shape[1]) / preds.n
    score, best = _mean_score(preds, chance, "log_loss"), _mean_score(preds, fitted, "log_loss")
    uncertainty = -float(np.sum(share[share > 0] * np.log(share[share > 0])))
    return Decomposition(score, score - best, uncertainty - best, uncertainty, rule, "PAV of each class, normalised")


@contract
def multiclass_calibration_error(
    y_true: Any,
    proba: Any = None,
    *,
    kind: Kind = "top-label",
    bins: int = 10,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> float:
    """Compute the expected calibration error (ECE) for several classes.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    kind : {"top-label", "classwise"}
        "top-label" compares the probability of the most probable class with the frequency at which this class is
        correct. "classwise" is the mean over classes of the calibration error of each class against all others.
    bins : int
        Number of bins of equal width.

    Returns
    -------
    float
        Expected calibration error, from 0 (best) to 1.

    Raises
    ------
    InputError
        If `kind` is unknown, or the model has no probabilities.

    See Also
    --------
    multiclass_calibration_curves, recalibrate_classes

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, ICML (top label); Kull et al. 2019, NeurIPS (classwise).

    Examples
    --------
    >>> proba = [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.75, 0.0, 0.25], [0.0, 0.25, 0.75]]
    >>> multiclass_calibration_error([0, 1, 2, 2], proba)
    0.0
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    check.check_choice("kind", kind, ("top-label", "classwise"))
    if kind == "top-label":
        return calibration_error(top_label(preds, model), bins=bins)
    return float(np.mean([calibration_error(preds.binary(cls).counts(model), bins=bins) for cls in preds.classes]))


def top_label(preds: MulticlassPredictions, model: str | None) -> Predictions:
    """Return two-class predictions: a row is positive if its most probable class is correct; score: its probability."""
    chance = preds.probabilities(model)
    first = chance.argmax(axis=1)
    score = np.take_along_axis(chance, first[:, None], axis=1)[:, 0]
    return Predictions(preds.y_true == first, score, sample_weight=preds.sample_weight, groups=preds.groups)


# Curves

TOP_LABEL = "top label"


@contract
def multiclass_calibration_curves(
    y_true: Any,
    proba: Any = None,
    *,
    model: str | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> dict[Any, CalibrationCurve]:
    """Compute the calibration curve of each class against all others, and of the most probable class.

    Parameters
    ----------
    y_true, proba, model, classes, sample_weight : see `multiclass_brier`
    **options
        Arguments of `rocscope.calibration_curve`, such as ``method`` and ``bins``.

    Returns
    -------
    dict from class to CalibrationCurve
        Calibration curve of each class, and under the key "top label" the curve of the most probable class. Bands are
        as in `rocscope.calibration_curve`.

    Raises
    ------
    InputError
        If the probabilities are missing or invalid; see `MulticlassPredictions`.

    See Also
    --------
    multiclass_calibration_error, plot_class_calibrations

    Examples
    --------
    >>> proba = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.5, 0.1, 0.4]]
    >>> curves = multiclass_calibration_curves(["a", "b", "c"], proba, method="pav")
    >>> list(curves), curves["top label"].y
    (['a', 'b', 'c', 'top label'], array([0.5, 0.5, 1. ]))
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    curves = {name: calibration_curve(preds.binary(name), model=model, **options) for name in preds.classes}
    return curves | {TOP_LABEL: calibration_curve(top_label(preds, model), **options)}


# Recalibration

Method = Literal["temperature", "vector", "dirichlet"]
METHODS = ("temperature", "vector", "dirichlet")
FORMAT = Format("rocscope.class_recalibrator", 1, "a recalibrator", "make one with multiclass.recalibrate_classes")

# Smallest probability before the logarithm; lower ones are raised to it. A choice: a certain error then costs 21 nats,
# not infinitely many.
_LEAST_PROBABILITY = 1e-9
_LARGEST_COEFFICIENT = 1e100  # so that products with logarithms are finite

# L-BFGS: with many rows, a fit to a subsample of 50,000 (every k-th row) comes first, so that few steps use all rows.
# The fit ends at this gradient of the mean loss; further steps do not change a printed digit.
_FIRST_ROWS = 50_000
_MOST_STEPS = 200
_LAST_STEPS = 12
_LEAST_GRADIENT = 1e-6

# The Hessian as a preconditioner saves time for up to 1,000 coefficients, and 4 million coefficients times rows.
_MOST_COEFFICIENTS = 1_000
_HESSIAN_CELLS = 4_000_000
_BLOCK = 4096  # rows with probabilities that fit into the CPU cache

# Candidate strengths of the penalty for cross-validation, from almost no change of probabilities to almost no penalty.
# A choice: for up to 20,000 rows; with more rows the strength matters less and fits take longer.
_STRENGTHS = (1000.0, 100.0, 10.0, 1.0)
_MOST_TRIED = 20_000
_FOLDS = 5


@made_by_contract
@dataclass(frozen=True, eq=False, repr=False)
class ClassRecalibrator(Result):
    """Fitted recalibration of class probabilities: softmax(W·log p + b).

    Returned by `rocscope.multiclass.recalibrate_classes` and `ClassRecalibrator.load`.

    Attributes
    ----------
    classes : tuple of k names
        Class names, in the order of the probability columns.
    method : {"temperature", "vector", "dirichlet"}
        Method by which the map was fitted.
    weight : k × k array
        Matrix W: a multiple of the identity ("temperature"), diagonal ("vector") or full ("dirichlet").
    intercept : array of k
        Intercepts b.

    Examples
    --------
    >>> half = ClassRecalibrator(("a", "b"), "temperature", np.eye(2) / 2, np.zeros(2))
    >>> half.predict([[0.8, 0.2]]).round(4)
    array([[0.6667, 0.3333]])
    """

    _content = ("classes", "method", "weight", "intercept")

    classes: tuple[Hashable, ...]
    method: str
    weight: Array
    intercept: Array

    def predict(self, proba: Any) -> Array:
        """Recalibrate class probabilities (n × k); columns of a data frame are matched by name.

        Parameters
        ----------
        proba : n × k array or data frame
            Class probabilities, with columns in the order of `classes`. Columns of a data frame are matched by name.

        Raises
        ------
        ShapeError
            If the number of columns is not the number of classes.
        ScoreError
            If a probability is missing or outside 0 to 1.

        Examples
        --------
        The logarithms of the probabilities are halved, so the odds 4 : 1 become 2 : 1:

        >>> ClassRecalibrator(("a", "b"), "temperature", np.eye(2) / 2, np.zeros(2)).predict([[0.8, 0.2]]).round(4)
        array([[0.6667, 0.3333]])
        """
        checked = check_probabilities(proba, None, self.classes, "proba").astype(np.float64)
        if not self.intercept.any() and (self.weight == np.eye(len(self.classes))).all():
            return checked
        return special.softmax(_logarithms(checked) @ self.weight.T + self.intercept, axis=1)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Save the recalibrator as a JSON file.

        Parameters
        ----------
        path : str or path
            Name of the file.
        force : bool
            If True, replace an existing file.

        Raises
        ------
        InputError
            If the file cannot be written, or the file exists and `force` is False.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> half = ClassRecalibrator(("a", "b"), "temperature", np.eye(2) / 2, np.zeros(2))
        >>> with TemporaryDirectory() as folder:
        ...     half.save(f"{folder}/half.json").name
        'half.json'
        """
        return write_file(path, FORMAT.text(self.to_dict()), force=force, endings=JSON)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ClassRecalibrator":
        """Load a recalibrator from a file written by `save`; the file is JSON and cannot execute code.

        Parameters
        ----------
        path : str or path
            Name of the file.

        Raises
        ------
        StoredError
            If the file cannot be read, or does not contain a class recalibrator.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> half = ClassRecalibrator(("a", "b"), "temperature", np.eye(2) / 2, np.zeros(2))
        >>> with TemporaryDirectory() as folder:
        ...     ClassRecalibrator.load(half.save(f"{folder}/half.json")).weight
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        fields = FORMAT.read(path)
        classes = fields.make("classes", check_classes, fields.take("classes", list, "the names of the classes"))
        size = len(classes)
        weight, intercept = fields.array("weight"), fields.array("intercept")
        if weight.shape != (size, size) or intercept.shape != (size,):
            fields.refuse("weight", expected=f"{size} × {size} numbers", got=f"shape {weight.shape}")
        for name, values in (("weight", weight), ("intercept", intercept)):
            if np.abs(values).max() > _LARGEST_COEFFICIENT:
                fields.refuse(name, expected=f"numbers from -{_LARGEST_COEFFICIENT:g} to {_LARGEST_COEFFICIENT:g}")
        made = cls(classes, fields.text("method"), weight, intercept)
        fields.require_same(fields.make("", made.to_dict))
        return made

    def __repr__(self) -> str:
        return f"ClassRecalibrator({self.method}, classes={list(self.classes)})"


@dataclass(frozen=True, eq=False, repr=False)
class RecalibratedClasses(Result):
    """Recalibrated probabilities, and recalibrators for new rows.

    Attributes
    ----------
    predictions : MulticlassPredictions
        The given rows with recalibrated probabilities. With cross-fitting, the probabilities of a row are computed by a
        recalibrator that was fitted to the other folds.
    recalibrators : dict from model name to ClassRecalibrator
        Recalibrator of each model, fitted to all rows.
    method : str
        Recalibration method.
    out_of_sample : bool
        True if the probabilities are cross-fitted.
    """

    _content = ("method", "out_of_sample", "recalibrators")

    predictions: MulticlassPredictions
    recalibrators: Mapping[str, ClassRecalibrator]
    method: str
    out_of_sample: bool

    def __repr__(self) -> str:
        where = "out of sample" if self.out_of_sample else "fitted and applied to the same rows"
        return f"RecalibratedClasses({self.method}, {where}, n={self.predictions.n:g})"


@contract
def recalibrate_classes(
    y_true: Any,
    proba: Any = None,
    *,
    method: Method = "dirichlet",
    strength: float | None = None,
    cv: Any = 5,
    random_state: Any = 0,
    classes: Any = None,
    sample_weight: Any = None,
) -> RecalibratedClasses:
    """Recalibrate the class probabilities of each model by cross-fitting.

    Parameters
    ----------
    y_true, proba, classes, sample_weight : see `multiclass_brier`
    method : {"dirichlet", "vector", "temperature"}
        "dirichlet" multiplies the vector of log-probabilities by a full matrix and adds an intercept per class.
        "vector" multiplies each log-probability by the factor of its class and adds an intercept per class.
        "temperature" divides all log-probabilities by one number.
    strength : float, optional
        Strength λ of the penalty. The penalised loss is the sum of the log losses of all rows plus λ/2·‖β‖². Here β
        contains the differences of all coefficients from the map that leaves the probabilities unchanged. By default, λ
        is chosen by cross-validation on the training rows. If the cross-validated gain is smaller than its standard
        error, the probabilities are not changed. With more than 20,000 rows, and for "temperature", the default is 1.
    cv : int, "fold", splits, or None
        Folds for cross-fitting, as in `rocscope.calibration.recalibrate`. None fits and applies the map to the same
        rows.
    random_state : int, Generator, RandomState or None
        Seed of the random folds.

    Returns
    -------
    RecalibratedClasses
        Cross-fitted probabilities, and recalibrators fitted to all rows.

    Raises
    ------
    InputError
        If no model has probabilities, the method is unknown, or a class is missing in a fold.

    See Also
    --------
    multiclass_calibration_error, recalibrate

    Notes
    -----
    The penalised loss is minimised by L-BFGS. Probabilities below 10⁻⁹ are replaced by 10⁻⁹. Models without
    probabilities are omitted.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017, ICML (temperature, vector); Kull et al. 2019, "Beyond temperature scaling:
    obtaining well-calibrated multi-class probabilities with Dirichlet calibration", NeurIPS.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.dirichlet([1, 1, 1], 2000)
    >>> label = np.array([rng.choice(3, p=row) for row in proba])
    >>> sharp = proba**2 / (proba**2).sum(axis=1, keepdims=True)
    >>> result = recalibrate_classes(label, sharp, method="temperature")
    >>> result, result.recalibrators["score"].weight.diagonal().round(1)
    (RecalibratedClasses(temperature, out of sample, n=2000), array([0.5, 0.5, 0.5]))
    """
    preds = predictions_of(y_true, proba, classes=classes, sample_weight=sample_weight)
    require_kinds("recalibration", preds)
    check.check_choice("method", method, METHODS)
    if strength is not None:
        check.check_number(strength, "strength", "a finite number of at least 0", least=0)
    if not preds.proba:
        raise InputError("predictions", expected="a model with probabilities", got="models with predicted labels only")
    # The penalty is scaled with the mean weight, so multiplying all weights by a factor changes nothing.
    relative = preds.relative_weight
    weight = np.ones(len(preds)) if relative is None else relative.astype(np.float64)
    split_rows = SplitRows(None, preds.y_true, tuple(preds.classes), independent_units(preds))
    splits = None if cv is None else splits_testing_once(cv, split_rows, preds.fold, check.seed_of(random_state))
    fitted, recalibrated = {}, {}
    for model, chance in preds.proba.items():
        rows = LabelledLogs(np.ascontiguousarray(_logarithms(chance).T), preds.y_true, weight)
        fitted[model] = _fit(preds.classes, rows, method, strength)
        if splits is None:
            recalibrated[model] = fitted[model].predict(chance)
            continue
        recalibrated[model] = np.empty_like(chance)
        for split in splits:
            one = _fit(preds.classes, rows.take(split.train), method, strength)
            recalibrated[model][split.test] = one.predict(chance[split.test])
    return RecalibratedClasses(preds.with_probabilities(recalibrated), fitted, method, splits is not None)


def _logarithms(chance: Array) -> Array:
    return np.log(np.maximum(chance, _LEAST_PROBABILITY))


def _fit(classes: tuple[Hashable, ...], rows: "LabelledLogs", method: str, strength: float | None) -> ClassRecalibrator:
    """Fit a recalibrator; with many rows, first fit it to a subsample, because the next fit then needs few steps."""
    size, n = rows.logs.shape
    # Coefficients: the logarithm of the factor; or the difference from the identity, with intercepts in the last
    # column.
    if method == "temperature":
        beta = np.zeros(1)
    elif method == "vector":
        beta = np.zeros((size, 2))
    else:
        beta = np.zeros((size, size + 1))
    if strength is None and method != "temperature" and n <= _MOST_TRIED:
        strength, beta = _strength(beta, rows)
        if strength == np.inf:
            return ClassRecalibrator(classes, method, np.eye(size), np.zeros(size))
    strength = 1.0 if strength is None else strength
    if n > _FIRST_ROWS:
        beta = _minimised(beta, rows.take(slice(None, None, n // _FIRST_ROWS)), strength)
        beta = _minimised(beta, rows, strength, most_steps=_LAST_STEPS)
    else:
        beta = _minimised(beta, rows, strength)
    matrix, intercept = _unpacked(beta, size)
    return ClassRecalibrator(classes, method, matrix if matrix.ndim == 2 else np.diag(matrix), intercept)


def _strength(beta: Array, rows: "LabelledLogs") -> tuple[float, Array]:
    """Return the penalty strength with the lowest held-out loss, and its mean coefficients over folds.

    The strength is infinite if the gain over unchanged probabilities is at most one standard error. To save time, the
    fit for a strength starts from the fit for the next stronger penalty, and all fits share one Hessian.
    """
    n, k = rows.label.size, len(rows.logs)
    if n < 2 * _FOLDS:
        return np.inf, beta
    fold = np.random.default_rng(0).permutation(np.arange(n) % _FOLDS)
    axes = _axes(beta, rows)
    gain = np.empty((len(_STRENGTHS), n))
    mean_over_folds = np.zeros((len(_STRENGTHS), *beta.shape))
    for number in range(_FOLDS):
        train, test = rows.take(fold != number), rows.take(fold == number)
        before = test.log_likelihoods(np.ones(k), np.zeros(k))
        fitted = beta
        for place, strength in enumerate(_STRENGTHS):
            fitted = _minimised(fitted, train, strength, axes=axes)
            mean_over_folds[place] += fitted / _FOLDS
            gain[place, fold == number] = test.weight * (test.log_likelihoods(*_unpacked(fitted, k)) - before)
    best = int(gain.sum(axis=1).argmax())
    if gain[best].sum() > gain[best].std() * n**0.5:
        return _STRENGTHS[best], mean_over_folds[best]
    return np.inf, beta


@dataclass(frozen=True)
class LabelledLogs:
    """Log-probabilities (k classes × n cases), and the class index and weight of each case.

    The linear predictors are matrix·log p + intercept. A one-dimensional `matrix` contains the diagonal of a diagonal
    matrix.
    """

    logs: Array
    label: Array
    weight: Array

    def take(self, rows: Any) -> "LabelledLogs":
        """Return the cases with the given row numbers, mask or slice."""
        return LabelledLogs(self.logs[:, rows], self.label[rows], self.weight[rows])

    def linear(self, matrix: Array, intercept: Array) -> Array:
        """Return the linear predictors (k × n), minus the largest linear predictor of each case."""
        linear = (matrix @ self.logs if matrix.ndim == 2 else matrix[:, None] * self.logs) + intercept[:, None]
        linear -= linear.max(axis=0)
        return linear

    def log_likelihoods(self, matrix: Array, intercept: Array) -> Array:
        """Return the log-probability of the true class of each case; probabilities below 10⁻⁹ are replaced by 10⁻⁹."""
        logs = special.log_softmax(self.linear(matrix, intercept), axis=0)
        return np.maximum(logs[self.label, np.arange(self.label.size)], np.log(_LEAST_PROBABILITY))

    def loss(self, matrix: Array, intercept: Array) -> tuple[float, Array, Array]:
        """Return the weighted sum of log losses, and its gradients by the matrix (or diagonal) and the intercepts."""
        value = 0.0
        by_matrix, by_intercept = np.zeros_like(matrix), np.zeros_like(intercept)
        for start in range(0, self.label.size, _BLOCK):
            block = self.take(slice(start, start + _BLOCK))
            row = np.arange(block.label.size)
            linear = block.linear(matrix, intercept)
            chance = np.exp(linear)
            sums = chance.sum(axis=0)
            value += block.weight @ (np.log(sums) - linear[block.label, row])
            # Gradient with respect to the linear predictors: weight·(p − 1[true class]).
            chance *= block.weight / sums
            chance[block.label, row] -= block.weight
            by_matrix += chance @ block.logs.T if matrix.ndim == 2 else np.einsum("ij,ij->i", chance, block.logs)
            by_intercept += chance.sum(axis=1)
        return float(value), by_matrix, by_intercept


Axes = tuple[Array, Array]


def _unpacked(beta: Array, size: int) -> tuple[Array, Array]:
    """Return the matrix (or its diagonal) and the intercepts that the coefficients `beta` stand for.

    `beta` is the logarithm of a common factor, or an array of differences from the identity matrix with the intercepts
    in the last column.
    """
    if beta.ndim == 1:
        return np.full(size, np.exp(beta[0])), np.zeros(size)
    matrix, intercept = beta[:, :-1], beta[:, -1]
    return (np.eye(size) + matrix if matrix.shape[1] == size else 1 + matrix[:, 0]), intercept


def _minimised(
    start: Array, rows: LabelledLogs, strength: float, *, axes: Axes | None = None, most_steps: int = _MOST_STEPS
) -> Array:
    """Return the coefficients β that minimise the penalised loss Σ w·loss + strength/2·‖β‖².

    β = 0 leaves the probabilities unchanged. The penalty shrinks all coefficients towards 0, including intercepts and
    the logarithm of a common factor. The optimiser searches for z in β = start + P·z, where P is the square root of the
    inverse Hessian; it then needs few steps. A search that ends after `most_steps` is not an error, because it still
    decreases the loss.
    """
    size, total = len(rows.logs), rows.weight.sum()
    axes = _axes(start, rows) if axes is None else axes
    root = None if axes is None else axes[0] / np.sqrt(axes[1] + strength / total)

    def beta_at(step: Array) -> Array:
        return start + (step if root is None else root @ step).reshape(start.shape)

    def loss(step: Array) -> tuple[float, Array]:
        beta = beta_at(step)
        value, by_matrix, by_intercept = rows.loss(*_unpacked(beta, size))
        if beta.ndim == 1:
            gradient = np.array([by_matrix.sum() * np.exp(beta[0])])  # chain rule: d factor/d β = factor
        else:
            gradient = np.column_stack([by_matrix, by_intercept])
        gradient = (gradient + strength * beta).ravel()
        penalty = 0.5 * strength * (beta * beta).sum()
        # Per unit of weight, so that the stopping criterion does not depend on the number of rows.
        return (value + penalty) / total, (gradient if root is None else gradient @ root) / total

    options: dict[str, Any] = {"maxiter": most_steps, "gtol": _LEAST_GRADIENT}
    return beta_at(optimize.minimize(loss, np.zeros(start.size), jac=True, method="L-BFGS-B", options=options).x)


def _axes(beta: Array, rows: LabelledLogs) -> Axes | None:
    """Return the eigenvectors and eigenvalues of the Hessian of the mean loss; None if it would take too long."""
    if beta.ndim == 1 or beta.size > _MOST_COEFFICIENTS:
        return None
    part = rows.take(slice(None, None, max(rows.label.size * beta.size // _HESSIAN_CELLS, 1)))
    chance = special.softmax(part.linear(*_unpacked(beta, len(rows.logs))), axis=0)
    ones = np.ones(part.label.size)
    # With covariates z of the classes, the block for classes i and j is Σ w·(pᵢ·1[i = j] − pᵢ·pⱼ)·zᵢzⱼ′.
    weighted, blocks = [], []
    for log, share in zip(part.logs, chance, strict=True):
        covariates = np.vstack([part.logs if beta.shape[1] > 2 else log, ones])
        weighted.append(share * covariates)
        blocks.append((part.weight * share * covariates) @ covariates.T)
    mixed = np.vstack(weighted)
    hessian = (linalg.block_diag(*blocks) - (part.weight * mixed) @ mixed.T) / part.weight.sum()
    curvature, vectors = np.linalg.eigh(hessian)
    return vectors, np.maximum(curvature, _LEAST_GRADIENT * curvature[-1])
