"""Figure: a named performance measure, with what it needs and whether high values are good."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from rocscope.core.counts import ThresholdCounts
from rocscope.figures.influence import Smooth

Needs = Literal["cells", "ranks", "probabilities", "costs"]
Unit = Literal["share", "ratio", "cases", "money", "number"]
FourNumbers = tuple[Any, Any, Any, Any]
"""One number for each of tp, fp, fn and tn."""

LinearForm = tuple[Any, Any, Any]
"""Weights of tpr, of fpr and of 1."""

_WORDS = {
    "cells": "a figure of one threshold",
    "ranks": "a figure of the whole ranking, the same at every threshold",
    "probabilities": "a figure of probabilities, the same at every threshold",
    "costs": "a figure of the costs in a Context",
}


@dataclass(frozen=True)
class Figure:
    """A named measure of a classifier.

    Attributes
    ----------
    name, title : str
        What it is called in code, and in tables.
    needs : {"cells", "ranks", "probabilities", "costs"}
        What it is computed from: the four counts at a threshold, the order of the scores, probabilities, or the four
        counts and what they cost.
    sign : {1, -1, 0}
        1 where a large value is good, −1 where a small one is, 0 where neither is.
    unit : {"share", "ratio", "cases", "money", "number"}
    ideal : float, optional
        The value of a perfect model, where there is one for all data.
    aliases : tuple of str
        Other names: of scikit-learn's scorers, of pROC, of textbooks. Case, underscores and hyphens make no difference.
    cells : function of tp, fp, fn and tn, optional
        Its value at a threshold, for numbers and arrays alike.
    counts : function of ThresholdCounts, optional
        Its value for a whole ranking.
    smooth : function without arguments that returns a Smooth, optional
        The same with its influence function, from which its interval has a closed form.
    parts : two times four numbers, optional
        Where its value is one sum of the four counts over another, their weights in both: of precision, tp/(tp + fp),
        they are (1, 0, 0, 0) and (1, 1, 0, 0).
    lines : function from a prevalence to two lines, optional
        Where its value is one line in tpr and fpr over another: the weights of tpr, of fpr and of 1 in both.
    """

    name: str
    title: str
    needs: Needs
    sign: int = 1
    unit: Unit = "share"
    ideal: float | None = None
    aliases: tuple[str, ...] = ()
    cells: Callable[..., Any] | None = None
    counts: Callable[[ThresholdCounts], float] | None = None
    smooth: Callable[[], Smooth] | None = None
    parts: tuple[FourNumbers, FourNumbers] | None = None
    lines: Callable[[Fraction], tuple[LinearForm, LinearForm]] | None = None

    @property
    def words(self) -> str:
        """The kind of figure, for errors.

        Examples
        --------
        >>> Figure("auc", "AUC", "ranks").words
        "'auc', a figure of the whole ranking, the same at every threshold"
        """
        return f"{self.name!r}, {_WORDS[self.needs]}"

    def value(self, counts: ThresholdCounts) -> float:
        """Return its value for a whole ranking."""
        if self.counts is None and self.smooth is not None:
            counts.require_both_classes(self.title)
            return self.smooth()(counts)
        assert self.counts is not None
        return float(self.counts(counts))

    def at_mix(self, share: Fraction) -> tuple[LinearForm, LinearForm] | None:
        """Return the two lines in tpr and fpr whose quotient it is at a prevalence.

        Notes
        -----
        With tp = π·tpr, fn = π·(1 − tpr), fp = (1 − π)·fpr and tn = (1 − π)·(1 − fpr), a sum of weights w of the four
        counts is π·(w_tp − w_fn)·tpr + (1 − π)·(w_fp − w_tn)·fpr + π·w_fn + (1 − π)·w_tn.

        Examples
        --------
        Of precision they are tp = π·tpr, and tp + fp = π·tpr + (1 − π)·fpr:

        >>> precision = Figure("precision", "precision", "cells", parts=((1, 0, 0, 0), (1, 1, 0, 0)))
        >>> precision.at_mix(Fraction(1, 4))
        ((Fraction(1, 4), 0, 0), (Fraction(1, 4), Fraction(3, 4), 0))
        """
        if self.lines is not None:
            return self.lines(share)
        return None if self.parts is None else (line(self.parts[0], share), line(self.parts[1], share))


def line(weights: FourNumbers, share: Any) -> LinearForm:
    """Express a weighted sum of the four counts per case as a line in tpr and fpr, at a prevalence.

    Examples
    --------
    The share of correct predictions where half of the cases are positive is 0.5·tpr − 0.5·fpr + 0.5:

    >>> line((1, 0, 0, 1), 0.5)
    (0.5, -0.5, 0.5)
    """
    tp, fp, fn, tn = weights
    pair = share * (tp - fn), (1 - share) * (fp - tn), share * fn + (1 - share) * tn
    return tuple(each if each else 0 for each in pair)  # pyright: ignore[reportReturnType]
