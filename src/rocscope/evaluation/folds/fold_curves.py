"""Fold curves: one curve for each fold that has one, the reason where a fold has none, and the curve of all rows."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from rocscope import _validation as check
from rocscope._parts import masks_of
from rocscope._types import Array
from rocscope.calibration.bins import Strategy
from rocscope.calibration.methods import calibration_curve
from rocscope.calibration.results import BinnedCalibrationCurve
from rocscope.core.counts import ThresholdCounts
from rocscope.core.predictions import Predictions
from rocscope.core.rows import independent_units
from rocscope.curves.curve import CountCurve, Curve
from rocscope.curves.lift_curves import gain, lift
from rocscope.curves.precision_recall_curve import precision_recall
from rocscope.curves.roc_curve import roc
from rocscope.errors import OneClassError, ShapeError, WeightError, warn
from rocscope.evaluation.folds.across import Spread

Kind = Literal["roc", "gain", "lift", "precision_recall", "calibration"]
Make = Callable[[ThresholdCounts], Curve]

_GROUPS = 20
KINDS: tuple[Kind, ...] = get_args(Kind)
_MAKE: dict[str, Callable[[ThresholdCounts], CountCurve]] = {
    "roc": roc,
    "gain": gain,
    "lift": lift,
    "precision_recall": precision_recall,
}


@dataclass(frozen=True)
class FoldCurves:
    """The curves of one model.

    Attributes
    ----------
    curves : dict from fold to Curve
    undefined : dict from fold to str
        Why a fold has no curve.
    pooled : Curve
        Of the rows of all folds together.
    make : function from ThresholdCounts to Curve
    predictions : Predictions of one model
    masks : dict from fold to mask
        The rows of each fold, also of those without a curve.
    """

    curves: dict[Hashable, Any]
    undefined: dict[Hashable, str]
    pooled: Any
    make: Make
    predictions: Predictions
    masks: dict[Hashable, Array]

    @cached_property
    def spread(self) -> Spread:
        """How sure a mean of the curves is."""
        return Spread.of(self.of_those_defined(), len(self.curves))

    @cached_property
    def without_each(self) -> list[Any] | None:
        """The pooled curve when each fold in turn is left out; None where one of them cannot be drawn."""
        parts = list(self._parts())
        if len(parts) < 2:
            return None
        try:
            return [self.make(self.predictions.select(~mask).counts()) for mask in parts]
        except (OneClassError, ShapeError, WeightError):
            return None

    def _parts(self) -> Iterable[Array]:
        """Return the rows to leave out: of each fold or, where cases occur more than once, of a group of cases."""
        unit = independent_units(self.predictions) if self.predictions.repeated else None
        if unit is None:
            return self.masks.values()
        group = np.random.default_rng(0).permutation(int(unit.max()) + 1)[unit] % _GROUPS
        return (group == number for number in range(_GROUPS))

    @property
    def without_name(self) -> str:
        """What a band calls the jackknife."""
        return f"jackknife over {_GROUPS} groups of cases" if self.predictions.repeated else "jackknife over folds"

    def of_those_defined(self) -> Predictions:
        """Return the rows of the folds that have a curve."""
        if not self.undefined:
            return self.predictions
        return self.predictions.select(np.any([self.masks[fold] for fold in self.curves], axis=0))


def fold_curves(predictions: Predictions, kind: Kind, *, bins: int, strategy: Strategy) -> FoldCurves:
    """Return the curves of the folds; calibration curves all have the bins of the pooled one.

    Raises
    ------
    OneClassError
        If no fold has the curve.

    Warns
    -----
    RocscopeWarning
        If some folds have none.
    """
    check.check_choice("curve", kind, KINDS)
    masks = dict(masks_of("fold", predictions.fold))
    counts = predictions.counts()
    make: Make = _MAKE[kind] if kind in _MAKE else _in_bins_of(counts, bins, strategy)
    pooled = make(counts)
    curves, undefined = {}, {}
    for fold, mask in masks.items():
        try:
            curves[fold] = make(predictions.select(mask).counts())
        except (OneClassError, WeightError) as error:
            undefined[fold] = str(error)
    if not curves:
        first = next(iter(undefined.values()))
        raise OneClassError(f"no fold has a {pooled.title}", hint=f"the first: {first}")
    if undefined:
        listed = "; ".join(f"fold {fold}: {reason}" for fold, reason in undefined.items())
        message = (
            f"{len(undefined)} of {len(masks)} folds have no {pooled.title} and are left out of its mean ({listed})"
        )
        warn(message)
    return FoldCurves(curves, undefined, pooled, make, predictions, masks)


def _in_bins_of(counts: ThresholdCounts, bins: int, strategy: Strategy) -> Make:
    check.check_choice("strategy", strategy, ("uniform", "quantile"))
    pooled = calibration_curve(counts, bins=bins, strategy=strategy)
    assert isinstance(pooled, BinnedCalibrationCurve)
    return lambda each: calibration_curve(each, edges=pooled.edges)
