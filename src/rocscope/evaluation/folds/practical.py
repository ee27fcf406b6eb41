"""How probably is one model better, worse, or as good for all practical purposes: the Bayesian correlated t-test."""

from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from typing import Any

from scipy import stats

from rocscope import _validation as check
from rocscope.evaluation.folds.compare_folds import corrected_covariance
from rocscope.evaluation.folds.fold_scores import FoldScores, fold_scores
from rocscope.evaluation.measures import Metric
from rocscope.inference.estimate import Comparison, Comparisons
from rocscope.inference.hypothesis import Hypothesis

_METHOD = "Bayesian correlated t"


@dataclass(frozen=True, repr=False)
class PracticalComparison(Comparison):
    """What the folds say of second − first, as probabilities.

    Parameters
    ----------
    first, second, difference, statistic, p_value, method, … : see `Comparison`
        The interval is a credible one; there is no statistic and no p-value.
    rope : float
        Differences from −rope to rope are too small to matter.
    first_better, equivalent, second_better : float
        Probabilities that second − first is below −rope, within, and above rope; they sum to 1.

    Examples
    --------
    >>> from rocscope.inference import Estimate
    >>> gain = Estimate(0.02, 0.0, 0.04, level=0.95, method="Bayesian correlated t", n=10)
    >>> PracticalComparison("a", "b", gain, nan, nan, gain.method, rope=0.01, equivalent=0.2, second_better=0.8)
    PracticalComparison(b − a: 0.02, 95 % interval 0 to 0.04; a better 0, equivalent (±0.01) 0.2, b better 0.8)
    """

    rope: float = 0.0
    first_better: float = 0.0
    equivalent: float = 0.0
    second_better: float = 0.0

    def __repr__(self) -> str:
        return (
            f"PracticalComparison({self.second} − {self.first}: {self.difference.words}; {self.first} better "
            f"{self.first_better:.3g}, equivalent (±{self.rope:g}) {self.equivalent:.3g}, "
            f"{self.second} better {self.second_better:.3g})"
        )


def practical_equivalence(
    scores: Any,
    rope: float,
    *,
    metric: Metric = "auc",
    test_share: float | None = None,
    level: float = 0.95,
) -> Comparisons:
    """Probabilities that one model is better, worse, or practically equivalent, from the folds of one data set.

    Parameters
    ----------
    scores, metric, test_share : see `compare_folds`
    rope : float
        Region of practical equivalence: differences from −rope to rope are too small to matter, such as 0.01 for
        accuracy. At 0 only better and worse are left.
    level : float
        Of the credible intervals.

    Returns
    -------
    Comparisons
        Of `PracticalComparison`.

    Raises
    ------
    InputError
        If rope is negative, or the share of test rows is not known.

    Notes
    -----
    With a flat prior, the mean difference in the population has a Student distribution with n − 1 degrees of freedom
    around the mean of the n folds, of scale √(s²·(1/n + ρ)) as in Nadeau & Bengio's test (`compare_folds`): the
    numbers are those of its p-values, but say what is asked. Where folds do not differ at all the probability is 1 on
    the side where their difference lies, and one half on each side for a difference of 0 without a rope.

    References
    ----------
    Corani & Benavoli 2015, Mach. Learn. 100:285–304; Benavoli, Corani, Demšar & Zaffalon 2017, JMLR 18:1–36.

    Examples
    --------
    >>> accuracy = {"tree": [0.80, 0.75, 0.70, 0.75], "bayes": [0.90, 0.80, 0.85, 0.85]}
    >>> found = practical_equivalence(accuracy, rope=0.01, test_share=0.25)["tree", "bayes"]
    >>> found
    PracticalComparison(bayes − tree: 0.1, 95 % interval 0.0007698 to 0.1992; tree better 0.0193,
    equivalent (±0.01) 0.0122, bayes better 0.968)
    """
    hypothesis = Hypothesis(level=level)
    check.check_number(rope, "rope", "a number of at least 0", least=0)
    found = fold_scores(scores, metric, test_share)
    n = found.values.shape[1]
    covariance = corrected_covariance(found)
    pairs = [_pair(found, i, j, float(rope), hypothesis) for i, j in combinations(range(len(found.models)), 2)]
    estimates = {
        name: hypothesis.wald(float(found.values[i].mean()), sqrt(covariance[i, i]), n, _METHOD, df=n - 1)
        for i, name in enumerate(found.models)
    }
    return Comparisons(found.quantity, estimates, covariance, pairs, "none")


def _pair(found: FoldScores, i: int, j: int, rope: float, hypothesis: Hypothesis) -> PracticalComparison:
    mean, spread = found.mean_difference(i, j)
    n = found.values.shape[1]
    below, above = (_tail(sign * mean - rope, spread, n - 1) for sign in (-1, 1))
    if not rope and not spread and not mean:
        below = above = 0.5
    difference = hypothesis.wald(mean, spread, n, _METHOD, df=n - 1)
    return PracticalComparison(
        found.models[i],
        found.models[j],
        difference,
        nan,
        nan,
        _METHOD,
        df=n - 1,
        rope=rope,
        first_better=below,
        equivalent=max(1 - below - above, 0.0) if rope else 0.0,
        second_better=above,
    )


def _tail(excess: float, spread: float, df: int) -> float:
    """Return the probability of more than 0 around an excess."""
    return float(stats.t.cdf(excess / spread, df)) if spread else float(excess > 0)
