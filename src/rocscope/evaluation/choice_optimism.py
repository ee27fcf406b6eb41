"""optimism: bias of the cost of a threshold, and a model, that were chosen on the same rows.

Candidates: the models that a choice is made among, each setting of a search one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope.core.context import Context
from rocscope.core.predictions import Predictions, with_groups
from rocscope.core.result import Result, html_table
from rocscope.core.rows import Rows
from rocscope.curves.curve import Curve
from rocscope.decisions.choosing import choose
from rocscope.decisions.criteria import Function
from rocscope.decisions.decision import Decision
from rocscope.decisions.generalization.chosen_estimate import ChosenEstimate
from rocscope.decisions.generalization.resampling import FOLDS, REPEATS
from rocscope.decisions.uncertain_context import UncertainContext
from rocscope.errors import InputError, warn
from rocscope.evaluation.evaluating import evaluate
from rocscope.evaluation.fitting import candidates_of
from rocscope.inference.estimate import Estimate
from rocscope.inference.influence.units import WeightKind
from rocscope.inference.resampling.bootstrap import BootstrapEstimate
from rocscope.sample import rows_of

_FEWEST_BINS = 12  # of a histogram: fewer hide its shape; a choice
_MOST_BINS = 60  # more are narrower than the eye tells apart; a choice


class ThresholdDistribution(Curve):
    """Share of replicates (y) whose threshold is around x.

    Attributes
    ----------
    x, y : arrays of b
        Middle of each bin, and the share of all replicates in it.
    edges : array of b + 1
    nobody : float
        Share of replicates in which predicting nobody positive is best.
    model : str
    threshold : array of b
        The same as x.
    chosen : Estimate
        The threshold chosen on the sample, with its interval.
    """

    _content = ("model", "edges", "nobody", "chosen")

    title = "distribution of the chosen threshold"
    x_name = "chosen_threshold"
    y_name = "share_of_replicates"

    def __init__(self, model: str, chosen: Estimate, replicates: Array) -> None:
        finite = replicates[np.isfinite(replicates)].astype(np.float64)
        self.model, self.chosen = model, chosen
        self.nobody = 1 - finite.size / max(replicates.size, 1)
        self.edges = _edges(finite)
        inside = np.histogram(finite, self.edges)[0] / max(replicates.size, 1)
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        super().__init__(middle, inside, middle)

    def area(self) -> float:
        raise InputError("a distribution of thresholds has no area that means anything")

    def drawn(self) -> tuple[Array, Array]:
        """Return the outline of the histogram."""
        return np.repeat(self.edges, 2), np.concatenate([[0.0], np.repeat(self.y, 2), [0.0]])


def _edges(values: Array) -> Array:
    """Return edges of equally wide bins, as many as the data support and the eye can distinguish."""
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = values.min(), values.max()
    if low == high:
        return low + np.array([-0.05, 0.05]) * (abs(low) or 1.0)
    bins = np.histogram_bin_edges(values, "fd").size - 1
    return np.linspace(low, high, int(np.clip(bins, _FEWEST_BINS, _MOST_BINS)) + 1)


@dataclass(frozen=True, eq=False, repr=False)
class Optimism(Result):
    """Apparent and expected performance of a chosen threshold, and the variability of the choice.

    Made by `rocscope.evaluation.optimism`.

    Attributes
    ----------
    decision : Decision
        The choice on all rows.
    quantity : str
        What was chosen by: "expected cost", which is better the lower it is, or a criterion.
    estimate : ChosenEstimate
        The quantity on new cases, with an interval that allows for the choice: what `Decision.interval` returns.
    apparent : Estimate
        Of the chosen threshold on the rows it was chosen on; the interval takes the threshold as given.
    optimism : float
        By how much the choice looks better on its own rows than on new cases, in units of the quantity.
    threshold : BootstrapEstimate
        The chosen threshold, and those of the replicates that choose the same model.
    """

    decision: Decision
    quantity: str
    estimate: ChosenEstimate
    apparent: Estimate
    optimism: float
    threshold: BootstrapEstimate
    _also = ("expected_loss", "models")

    @property
    def corrected(self) -> ChosenEstimate:
        """Same as `estimate`."""
        return self.estimate

    @property
    def cross_validated(self) -> ChosenEstimate:
        """Same as `estimate`."""
        return self.estimate

    @property
    def expected_loss(self) -> Estimate:
        """Expected loss relative to the truly best choice: the regret of `estimate`."""
        return cast(Estimate, self.estimate.regret)

    @property
    def models(self) -> Mapping[str, float]:
        """Probability that each model is best, at its chosen threshold."""
        return self.estimate.models

    @property
    def distribution(self) -> ThresholdDistribution:
        """Distribution of the chosen threshold over bootstrap replicates."""
        return ThresholdDistribution(self.decision.model, self.threshold, self.threshold.replicates)

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the distribution of the chosen threshold with matplotlib.

        Parameters
        ----------
        ax : Axes, optional
        **line
            For the outline of the histogram, as in ``Axes.plot``.

        Returns
        -------
        Axes
        """
        return self.distribution.plot(ax, **line)

    def __repr__(self) -> str:
        chosen = self.threshold
        return (
            f"Optimism({self.quantity}: apparent {self.apparent.value:.4g}, on new cases {self.estimate.words}"
            f"{self.estimate.doubt}; {self.decision.model} at "
            f"{chosen.value:.4g}, {100 * chosen.level:g} % interval {chosen.low:.4g} to {chosen.high:.4g})"
        )

    def _repr_html_(self) -> str:
        rows = {
            f"{self.quantity}, apparent": self.apparent,
            f"{self.quantity}, on new cases": self.estimate,
            "expected loss against the best threshold": self.expected_loss,
            f"threshold of {self.decision.model}": self.threshold,
        }
        return html_table(
            [
                *((name, *each.cells, each.method) for name, each in rows.items()),
                ("probability of being the best model", self.estimate.shares, "", ""),
            ],
            ("", "value", f"{100 * self.threshold.level:g} % interval", "method"),
        )


@contract
def optimism(
    data: Any,
    context: Context | UncertainContext | None = None,
    *,
    criterion: str | Function | None = None,
    X: Any = None,
    y: Any = None,
    cv: Any = FOLDS,
    repeats: int = REPEATS,
    replicates: int = 2000,
    stratified: bool = False,
    groups: Any = None,
    weights: WeightKind = "auto",
    level: float = 0.95,
    random_state: Any = 0,
    progress: Progress = None,
) -> Optimism:
    """Estimate the bias from choosing a threshold, and a model, on the rows on which they are evaluated.

    Parameters
    ----------
    data : Predictions, or estimators with X and y
        Estimators as `rocscope.evaluate` takes them: their scores are then out of fold. A search of scikit-learn stands
        for its settings, each of them a model to choose; its own folds and scores are not used.
    context, criterion : see `rocscope.choose`
        What is chosen by: lowest expected cost, or a criterion.
    X, y : see `rocscope.evaluate`
        For estimators only.
    cv : int, or whatever else `rocscope.evaluate` takes for estimators
        Number of folds that the choice is cross-validated in; of estimators, the folds that they are fitted in.
    repeats : int
        Repeats of the cross-validation of the choice.
    replicates : int
        Bootstrap replicates.
    stratified : bool
        Whether the class mix is fixed, rather than a chance of the sample.
    groups, weights : see `rocscope.bootstrap`
    level : float
        Confidence level.
    random_state, progress : see `rocscope.evaluate`

    Returns
    -------
    Optimism
        Its `estimate` equals ``rocscope.choose(data, context).interval()``; by a criterion,
        ``rocscope.choose(data, criterion=…).interval(of="criterion")``.

    Raises
    ------
    OneClassError
        If a class is missing.
    InputError
        See `rocscope.choose`; also if estimators come without X and y.

    Warns
    -----
    RocscopeWarning
        If some replicates lack a class: they are left out.

    Notes
    -----
    `ChosenEstimate` describes the estimate: the threshold is chosen anew on nine tenths of the rows and judged on the
    rest. docs/guide/evaluation/price-of-choosing.md has its measured bias and coverage.

    The folds of the predictions are not used: new folds are drawn, and keep groups and repeated entries of a case
    together.

    The scores are taken as given. Scores of rows that a model was fitted to are too good whatever threshold is chosen;
    pass out-of-fold predictions (`rocscope.evaluate`), or estimators.

    A threshold interval that is wide where expected loss is small means that many thresholds will do.

    O(replicates · levels), of at most 2,048 levels.

    References
    ----------
    Efron & Gong 1983, Am. Stat. 37:36–48; Kim & Pollard 1990, Ann. Stat. 18:191–219 (cube-root rate); Fluss,
    Faraggi & Reiser 2005, Biom. J. 47:458–472 (how Youden's threshold varies).

    Examples
    --------
    >>> preds = Predictions([1, 1, 0, 1, 0, 1, 0, 0, 1, 0] * 4, list(range(40, 0, -1)))
    >>> found = optimism(preds, Context(cost_fn=2), replicates=200)
    >>> found.decision.threshold, round(found.apparent.value, 3), found.estimate.value > found.apparent.value
    (5, 0.475, True)
    """
    predictions = _predictions(data, X, y, cv, check.seed_of(random_state), progress)
    decision = choose(with_groups(predictions, groups), context, criterion=criterion)
    assert decision.sampling_model is not None
    found = decision.sampling_model.generalization(
        quantity="criterion",
        level=level,
        replicates=replicates,
        random_state=random_state,
        folds=cv if X is None else FOLDS,
        repeats=repeats,
        stratified=stratified,
        weights=weights,
        progress=progress,
    )
    if missing := found.replicates.left_out:
        warn(f"{missing} of {replicates} replicates gave no number and are left out")
    estimate = found.estimate()
    less_is_better = found.candidates.criterion.sign < 0
    gained = estimate.value - estimate.apparent
    return Optimism(
        decision=decision,
        quantity="expected cost" if decision.criterion == "min_cost" else decision.criterion,
        estimate=estimate,
        apparent=found.apparent(),
        optimism=gained if less_is_better else -gained,
        threshold=found.threshold(),
    )


def _predictions(data: Any, X: Any, y: Any, cv: Any, seed: int, progress: Progress) -> Predictions:
    if X is None and y is None:
        if hasattr(data, "fit"):
            raise InputError("X and y", expected="both beside estimators", got="none", hint="optimism(model, X=X, y=y)")
        return rows_of(data, name="data")
    if isinstance(data, Rows):
        raise InputError("X and y", expected="none beside Predictions", got="one", hint="leave them out")
    found = evaluate(candidates_of(data, seed), X, y, cv=cv, random_state=seed, progress=progress)
    if hasattr(found, "classes"):
        raise InputError("y", expected="two classes", got="more", hint="use predictions.binary(cls)")
    return cast(Predictions, found)
