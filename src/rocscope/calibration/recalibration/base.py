"""Recalibrator: scores in, probabilities out; fitted on labels and scores, saved as JSON."""

import math
import os
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rocscope import _validation as check
from rocscope._output import write_file
from rocscope._stored import Fields, Format
from rocscope._types import Array
from rocscope.core.counts import ThresholdCounts

FORMAT = Format("rocscope.recalibrator", 1, "a recalibrator", "make one by Recalibrator.save or `rocscope calibrate`")

_SMALLEST, _CLOSEST, _LARGEST_SHIFT = 1e-300, 1e-16, 2000.0


class Recalibrator(BaseEstimator):
    """A map from scores to probabilities, with the interface of scikit-learn on one-dimensional scores.

    Attributes
    ----------
    prevalence_ : float
        Share of positives among the rows of the fit.
    shift_ : float
        Added to the log-odds for another prevalence; 0 until `adjust_to`.
    """

    method: ClassVar[str]
    is_strict: ClassVar[bool] = False
    """Whether different scores always get different probabilities, so that ROC and lift stay as they are."""

    _state: ClassVar[tuple[str, ...]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Fit to scores of shape (n,) or (n, 1) and labels 0/1, -1/1 or False/True.

        Raises
        ------
        ShapeError, LabelError, ScoreError, WeightError, OneClassError
            If the columns do not fit each other, or one class is missing.
        """
        return self.fit_counts(ThresholdCounts.from_scores(y, X, sample_weight=sample_weight))

    def fit_counts(self, counts: ThresholdCounts) -> Self:
        """Fit to counts, which hold all that labels and scores say."""
        counts.require_both_classes("recalibration")
        self._fit(counts)
        self.prevalence_, self.shift_ = counts.prevalence, 0.0
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Return the probability of each score."""
        return self._shifted(self._map(self._scores(X)))

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """Return the probabilities of both classes, the positive one in the second column."""
        positive = self.predict(X)
        return np.column_stack([1 - positive, positive])

    def adjust_to(self, target_prevalence: float) -> Self:
        """Return a copy for rows of which another share is positive, with scores distributed alike in each class.

        Notes
        -----
        The odds are multiplied by the ratio of the odds of the two prevalences (Saerens, Latinne & Decaestecker 2002).

        Examples
        --------
        >>> from rocscope.calibration.recalibration.steps import IsotonicRecalibrator
        >>> even = IsotonicRecalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1])
        >>> even.predict([2, 3]), even.adjust_to(0.1).predict([2, 3])
        (array([0.5, 0.5]), array([0.1, 0.1]))
        """
        check.check_share(target_prevalence, "target_prevalence")
        self._require_fit()
        other = copy(self)
        odds, odds_of_fit = (share / (1 - share) for share in (target_prevalence, self.prevalence_))
        other.shift_ = math.log(odds / odds_of_fit)
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return everything needed to use it again, safe for JSON."""
        self._require_fit()
        state = {name: np.asarray(getattr(self, name)).tolist() for name in ("prevalence_", "shift_", *self._state)}
        return {"method": self.method, "parameters": self.get_params(), "state": state}

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Write it as JSON, whole or not at all; `rocscope.calibration.load_recalibrator` reads it.

        Raises
        ------
        InputError
            If the file exists and `force` is False, or cannot be written.
        """
        return write_file(path, FORMAT.text(self.to_dict()), force=force)

    def restore(self, state: Fields) -> Self:
        """Take over what a fit has found, as `to_dict` gives it under "state"."""
        self.prevalence_ = state.number("prevalence_", _SMALLEST, 1 - _CLOSEST)
        self.shift_ = state.number("shift_", -_LARGEST_SHIFT, _LARGEST_SHIFT)
        self._restore(state)
        return self

    def _restore(self, state: Fields) -> None:
        """Take over what is named in `_state`, if it makes probabilities."""
        raise NotImplementedError

    def _fit(self, counts: ThresholdCounts) -> None:
        raise NotImplementedError

    def _map(self, scores: Array) -> Array:
        raise NotImplementedError

    def _scores(self, values: Any) -> Array:
        self._require_fit()
        return check.check_scores(values, name="X").astype(np.float64)

    def _shifted(self, chance: Array) -> Array:
        return chance if self.shift_ == 0 else special.expit(special.logit(chance) + self.shift_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "prevalence_")

    def _require_fit(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit with scores and labels first")
