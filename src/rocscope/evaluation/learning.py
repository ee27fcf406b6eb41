"""learning_curve: performance against the number of training rows.

LearningCurve: how good models are, by how many rows they were fitted to, run by run.
"""
# MERGED-DOC: """The .632 and .632+ bootstrap estimates of a metric."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope._base import validation as check
from rocscope._base.arrays import Array
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope._base.public_names import reach
from rocscope._base.validation import frame_of
from rocscope.core.predictions import model_name
from rocscope.core.result import Band, Result, html_table, jsonable, number
from rocscope.errors import ColumnError, InputError, warn
from rocscope.evaluation.fitting import (
    Failed,
    Failure,
    Fitting,
    Judged,
    Response,
    Scored,
    Task,
    judged,
    of_one,
    raise_first,
    task_of,
    without_failures,
)
from rocscope.evaluation.measures import Measure, Metric, measure_of
from rocscope.protocols.splitters import Holdout, OutOfBag, Split


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """Performance of models by number of training rows.

    Attributes
    ----------
    metric : str
    larger_is_better : bool
    size : array of k int
        Training rows.
    values : mapping from model name to array of runs × k
        The metric on the test rows of each run; NaN where it is not defined, or the model failed.
    fold, repeat : arrays of runs
    logarithmic : bool
        Whether sizes are spaced by factors, and drawn so.
    protocol : str
        How test rows were chosen.
    failures : tuple of Failure
    """

    metric: str
    larger_is_better: bool
    size: NDArray[np.intp]
    values: Mapping[str, Array]
    fold: NDArray[np.intp]
    repeat: NDArray[np.intp]
    logarithmic: bool
    protocol: str
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        check.settle(
            self, **{name: check.read_only(np.asarray(getattr(self, name))) for name in ("size", "fold", "repeat")}
        )
        check.settle(self, values={name: check.read_only(each) for name, each in self.values.items()})

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.values)

    @property
    def runs(self) -> int:
        """Number of runs of each size."""
        return self.fold.size

    def mean(self, model: str | None = None) -> Array:
        """Return the mean over runs at each size, over runs with a value."""
        values = self.values[model_name(self.models, model)]
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)

    def band(self, model: str | None = None, *, share: float = 0.8) -> Band:
        """Return limits that contain that share of further runs on these rows.

        Quantiles of (n + 1)·p among n runs, which hold one run more with just that probability if they are enough, nine
        for 80 %; of fewer, least and greatest. Runs share rows, so this is no confidence interval of the mean.
        """
        values = self.values[model_name(self.models, model)]
        tails = np.array([(1 - check.check_share(share, "share")) / 2, (1 + share) / 2])
        ends = np.full((2, self.size.size), np.nan)
        for column in np.flatnonzero(~np.isnan(values).all(axis=0)):
            ends[:, column] = np.nanquantile(values[:, column], tails, method="weibull")
        return Band(self.size, ends[0], ends[1], level=share, method=f"spread of {self.runs} runs")

    def plot(self, ax: Any = None, *, share: float | None = 0.8) -> Any:
        """Draw the mean of each model over sizes with its band; see `plotting.plot_learning_curve`."""
        return reach("plotting").plot_learning_curve(self, ax, share=share)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with one row per model, run and size: model, fold, repeat, size, value."""
        k, m = self.size.size, len(self.models)
        columns = {
            "model": np.repeat(self.models, self.runs * k),
            "fold": np.tile(np.repeat(self.fold, k), m),
            "repeat": np.tile(np.repeat(self.repeat, k), m),
            "size": np.tile(self.size, self.runs * m),
            "value": np.concatenate([values.ravel() for values in self.values.values()]),
        }
        return frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, values, their means and facts, safe for JSON."""
        return super().to_dict() | {"mean": jsonable({name: self.mean(name) for name in self.models})}

    def __repr__(self) -> str:
        ends = ", ".join(f"{name} {self.mean(name)[0]:.4g} to {self.mean(name)[-1]:.4g}" for name in self.models)
        return f"LearningCurve({self.metric}, {self.size[0]} to {self.size[-1]} rows: {ends}; {self.runs} runs)"

    def _repr_html_(self) -> str:
        rows = [(name, *(f"{value:.4g}" for value in self.mean(name))) for name in self.models]
        return super()._repr_html_() + html_table(rows, ("rows", *self.size))


Schedule = Literal["geometric", "arithmetic"]

_FEW = 10  # training rows at which a curve begins: a choice


@contract
def learning_curve(
    models: Any,
    X: Any,
    y: Any,
    *,
    sizes: Schedule | Sequence[float] = "geometric",
    steps: int = 8,
    metric: Metric = "auc",
    larger_is_better: bool | None = None,
    cv: Any = "holdout",
    repeats: int | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    response: Response = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> LearningCurve:
    """Estimate performance on unseen rows as a function of the number of training rows.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    sizes : {"geometric", "arithmetic"}, or increasing numbers of rows, or increasing shares of the training rows
        Equal factors, from 10 rows to all training rows; equal steps up to them.
    steps : int
        Number of sizes of a schedule.
    metric, larger_is_better : see `bootstrap_632`
    cv, repeats : see `evaluate`
        Each split is one run; left out, there are 20 repeats of a holdout or bootstrap and one of anything else.

    Returns
    -------
    LearningCurve

    Raises
    ------
    InputError
        If sizes do not increase, or are below the number of classes or above that of training rows.
    ModelError
        If every model fails at every size.

    Warns
    -----
    RocscopeWarning
        If a model fails at some sizes, where it has no value.

    Notes
    -----
    In a run all models and sizes have the same test rows, and each training set holds the smaller ones. Its rows are
    drawn so that classes keep their shares, but every set has a row of each class, which shifts the shares of very
    small sets.

    References
    ----------
    Tan, Steinbach & Kumar 2006, §4.5 (learning curves with arithmetic and geometric sampling).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> curve = learning_curve(GaussianNB(), rng.normal(size=(200, 3)) + y[:, None], y, steps=3, repeats=5)
    >>> curve.size
    array([ 10,  36, 133])
    >>> bool(curve.mean()[0] < curve.mean()[-1])
    True
    """
    task = task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    experiment = Fitting.of(models, task, groups, n_jobs, progress)
    measure = measure_of(metric, several_classes=task.positive is None, larger_is_better=larger_is_better)
    splits, title = experiment.splits(cv, _repeats(cv) if repeats is None else repeats)
    rows = _check_sizes(sizes, steps, min(split.train.size for split in splits), len(task.classes))
    nested = [part for split in splits for part in _nested(split, experiment.sample.y, rows, task.seed)]
    results = experiment.run(nested, "learning curve")
    values = {name: np.full((len(splits), rows.size), np.nan) for name in experiment.models}
    column = {size: place for place, size in enumerate(rows.tolist())}
    for result in results:
        if isinstance(result, Scored):
            place = column[result.split.train.size]
            values[result.model][result.split.fold, place] = measure.of(judged(result, task), result.response)
    failed = [result for result in results if isinstance(result, Failed)]
    if len(failed) == len(results):
        raise_first(failed)
    for name in experiment.models:
        own = [each.failure for each in failed if each.failure.model == name]
        if own:
            warn(f"no value from {len(own)} of {len(nested)} fits: {own[0]}")
        if len(own) == len(nested):
            del values[name]
    return LearningCurve(
        measure.name,
        measure.sign > 0,
        rows,
        values,
        np.array([split.fold for split in splits]),
        np.array([split.repeat for split in splits]),
        _by_factors(rows) if not isinstance(sizes, str) else sizes == "geometric",
        title,
        tuple(each.failure for each in failed),
    )


def _repeats(cv: Any) -> int:
    named = isinstance(cv, str) and cv in ("holdout", "out_of_bag")
    return 20 if named or isinstance(cv, Holdout | OutOfBag) else 1


def _check_sizes(sizes: Any, steps: int, most: int, least: int) -> NDArray[np.intp]:
    """Return the numbers of training rows in increasing order.

    Examples
    --------
    >>> _check_sizes("arithmetic", 4, 100, 2), _check_sizes("geometric", 4, 80, 2), _check_sizes([0.1, 1.0], 0, 80, 2)
    (array([ 25,  50,  75, 100]), array([10, 20, 40, 80]), array([ 8, 80]))
    """
    if isinstance(sizes, str):
        check.check_choice("sizes", sizes, ("geometric", "arithmetic"))
        check.check_whole(steps, "steps", 2)
        low = max(least, min(_FEW, most // 2))
        spaced = np.geomspace(low, most, steps) if sizes == "geometric" else np.linspace(most / steps, most, steps)
        return np.unique(np.maximum(np.rint(spaced), least).astype(np.intp))
    given = check.check_column(sizes, "sizes")
    if given.dtype.kind not in "iuf":
        raise InputError("sizes", expected="numbers of rows, or shares", got=f"values of type {given.dtype}")
    rows = np.rint(given * most) if given.dtype.kind == "f" and (given <= 1).all() else given
    if (rows % 1).any() or (np.diff(rows) <= 0).any() or rows[0] < least or rows[-1] > most:
        expected = f"increasing whole numbers from {least}, a row of each class, to {most}, the training rows"
        raise InputError("sizes", expected=expected, got=check.listing(rows.tolist()))
    return rows.astype(np.intp)


def _nested(split: Split, classes: NDArray[np.intp], sizes: NDArray[np.intp], seed: int | None) -> list[Split]:
    """Return the splits of one run, with nested training rows."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, split.fold)))
    order = split.train[_stratified_order(classes[split.train], rng)]
    return [replace(split, train=order[:size], training_rows=size) for size in sizes.tolist()]


def _stratified_order(classes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a row order whose every prefix is approximately stratified, starting with one row of each class."""
    place = np.empty(classes.size)
    for cls in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == cls))
        place[rows] = (np.arange(rows.size) + rng.random()) / rows.size
        place[rows[0]] -= 1
    return np.argsort(place, kind="stable")


def _by_factors(sizes: NDArray[np.intp]) -> bool:
    """Whether sizes are spaced more evenly on a log scale."""
    steps = [np.diff(spaced) for spaced in (np.log(sizes), sizes)]
    return sizes.size > 2 and bool(steps[0].std() / steps[0].mean() < steps[1].std() / steps[1].mean())


_KEPT = 0.632
"""About 1 − 1/e: the expected share of distinct rows in a bootstrap sample."""


@dataclass(frozen=True, eq=False, repr=False)
class Corrected(Result):
    """Bootstrap estimate of one model's performance.

    Attributes
    ----------
    apparent : float
        On the rows that the model was fitted to.
    out_of_bag : float
        On rows that its bootstrap samples left out; of models that saw 63 % of the rows.
    no_information : float
        If labels and scores had nothing to do with each other.
    relative_overfitting : float
        From 0 to 1: how far `out_of_bag` is on the way from `apparent` to `no_information`.
    point632, point632plus : float
        The estimates.
    replicates : array
        `out_of_bag` of each bootstrap sample; NaN where it is not defined.
    """

    apparent: float
    out_of_bag: float
    no_information: float
    relative_overfitting: float
    point632: float
    point632plus: float
    replicates: Array

    @classmethod
    def of(cls, apparent: float, out_of_bag: float, no_information: float, sign: int, replicates: Any = ()) -> Any:
        """Apply both rules; `sign` is −1 if smaller is better."""
        overfitting = _relative_overfitting(apparent, out_of_bag, no_information, sign)
        clipped = sign * max(sign * out_of_bag, sign * no_information)
        point632 = (1 - _KEPT) * apparent + _KEPT * out_of_bag
        share = (1 - _KEPT) * _KEPT * overfitting / (1 - (1 - _KEPT) * overfitting)
        plus = point632 + (clipped - apparent) * share
        columns = check.read_only(np.asarray(replicates, dtype=np.float64))
        return cls(apparent, out_of_bag, no_information, overfitting, point632, plus, columns)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value:.4g}" for name, value in vars(self).items() if name != "replicates")
        return f"Corrected({facts})"


def _relative_overfitting(apparent: float, out_of_bag: float, no_information: float, sign: int = -1) -> float:
    """Return the relative overfitting rate, from 0 (none) to 1 (no information).

    Examples
    --------
    Errors of 0.1 on its own rows and 0.3 on others, where 0.5 is without information:

    >>> round(_relative_overfitting(0.1, 0.3, 0.5), 12)
    0.5
    """
    loss, most = sign * (apparent - out_of_bag), sign * (apparent - no_information)
    if not (loss > 0 and most > 0):
        return 0.0 if loss == loss and most == most else np.nan
    return min(loss / most, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap632(Mapping[str, Corrected], Result):
    """Bootstrap estimates of performance by model name.

    Attributes
    ----------
    metric : str
    models : dict of Corrected
    failures : tuple of Failure
        Of models that are left out.
    """

    _content = ("metric", "models", "failures")

    metric: str
    models: Mapping[str, Corrected]
    failures: tuple[Failure, ...] = ()

    def __getitem__(self, name: str) -> Corrected:
        if name not in self.models:
            raise ColumnError("model", expected=check.one_of(str(name), list(self.models)), got=repr(name))
        return self.models[name]

    def __iter__(self) -> Any:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {corrected.point632plus:.4g}" for name, corrected in self.models.items())
        size = next(iter(self.models.values())).replicates.size
        return f"Bootstrap632({self.metric}, .632+: {values}; {number(size)} replicates)"

    def _repr_html_(self) -> str:
        names = ("apparent", "out_of_bag", "no_information", "relative_overfitting", "point632", "point632plus")
        rows = [(model, *(f"{getattr(each, name):.4g}" for name in names)) for model, each in self.models.items()]
        return super()._repr_html_() + html_table(rows, ("", *(name.replace("_", " ") for name in names)))


@contract
def bootstrap_632(
    models: Any,
    X: Any,
    y: Any,
    *,
    metric: Metric = "auc",
    larger_is_better: bool | None = None,
    replicates: int = 200,
    stratified: bool = False,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    response: Response = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> Bootstrap632:
    """Estimate performance on unseen rows by the .632 and .632+ bootstrap.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    metric : str, Context, CostMatrix or function
        "auc", "average_precision", "brier" or "log_loss" of the scores; a metric of `rocscope.metrics`, or the expected
        cost in a context, of the labels that models predict themselves. With more than two classes "auc" (Hand & Till)
        and the other averages of `multiclass_auc`, "brier", "log_loss", the statistics of `ConfusionMatrix.interval`,
        averages of a metric such as "macro_recall" or "weighted_precision", or the expected cost of a CostMatrix. Or a
        function of the Predictions of one model that returns a number, for weighted rows too.
    larger_is_better : bool, optional
        Of a function, where smaller is better: False; names know it.
    replicates : int
        Bootstrap samples; each model is fitted to each of them.
    stratified : bool
        Draw within each class.

    Returns
    -------
    Bootstrap632
        Apparent, out-of-bag, .632 and .632+ figures of each model.

    Raises
    ------
    InputError, ModelError
        See `evaluate`.

    Notes
    -----
    With A, the apparent value, B, the one out of bag, and G, the one without information:

    - R = (B − A)/(G − A), the relative overfitting rate; 0 where B or G is no worse than A, and at most 1.
    - .632 = 0.368·A + 0.632·B
    - .632+ = .632 + (B′ − A)·0.368·0.632·R/(1 − 0.368·R), where B′ is the better one of B and G (eq. 31 and 32). For
      B between A and G this is (1 − w)·A + w·B with w = 0.632/(1 − 0.368·R).

    All of it stays as it is when every number is subtracted from 1, so a metric that is better when higher needs no
    turning into a loss: only which of two numbers is the better depends on it. The AUC without information is 1/2.

    B is, for the mean of a loss over rows ("error", "accuracy", "brier", "log_loss"), the mean over rows of each
    one's mean loss in the samples that left it out (the leave-one-out bootstrap, eq. 15 to 17). Any other metric is
    computed in each sample from the rows that it left out, and averaged over samples (for the AUC: Sahiner, Chan &
    Hadjiiski 2008). G is the metric of all pairs of a label and a score (eq. 27), computed with weights, not pairs.

    The .632 rule is too good for models that fit their own rows perfectly; .632+ is made for them.

    References
    ----------
    Efron & Tibshirani 1997, J. Am. Stat. Assoc. 92:548–560; Sahiner, Chan & Hadjiiski 2008, Med. Phys. 35:1559–1570.

    Examples
    --------
    Labels that have nothing to do with the attribute, and a model that learns them by heart:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 1)), rng.integers(0, 2, 60)
    >>> found = bootstrap_632(KNeighborsClassifier(1), X, y, metric="error", replicates=50)["KNeighborsClassifier"]
    >>> found.apparent, round(found.no_information, 4)
    (0.0, 0.4978)
    >>> found.point632 < 0.4 < found.point632plus
    True
    """
    check.check_whole(replicates, "replicates")
    task = task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    experiment = Fitting.of(models, task, groups, n_jobs, progress)
    measure = measure_of(metric, several_classes=task.positive is None, larger_is_better=larger_is_better)
    splits, _ = experiment.splits(OutOfBag(stratified), int(replicates))
    everything = np.arange(task.labels.size)
    whole = Split(everything, everything, None, len(splits), len(splits))
    scored, failed, kept = without_failures(experiment.run([whole, *splits], "bootstrap"), experiment.models)
    of_model: dict[str, list[Scored]] = defaultdict(list)
    for each in scored:
        of_model[each.model].append(each)
    corrected = {name: _corrected(of_model[name], task, measure) for name in kept}
    return Bootstrap632(measure.name, corrected, tuple(each.failure for each in failed))


def _corrected(scored: Sequence[Scored], task: Task, measure: Measure) -> Corrected:
    own, *left_out = scored
    apparent = measure.of(judged(own, task), own.response)
    without = measure.of(_without_information(own, task), own.response)
    drawn = np.array([measure.of(judged(each, task), each.response) for each in left_out])
    if measure.mean_of_rows:
        out_of_bag = measure.of(_by_rows(left_out, task), own.response)
    else:
        out_of_bag = float(np.nanmean(drawn)) if not np.isnan(drawn).all() else np.nan
    return Corrected.of(apparent, out_of_bag, without, measure.sign, drawn)


def _by_rows(scored: Sequence[Scored], task: Task) -> Judged:
    """Return all out-of-bag predictions, weighted so that each row counts once."""
    rows = np.concatenate([each.split.test for each in scored])
    weight = 1 / np.bincount(rows)[rows] * (1.0 if task.weight is None else task.weight[rows])
    return of_one(task, task.labels[rows], _joined(scored), weight)


def _without_information(own: Scored, task: Task) -> Judged:
    """Return all pairs of a score and a class, weighted by class size: the no-information distribution."""
    weight = np.ones(task.labels.size, np.int64) if task.weight is None else task.weight.astype(np.float64)
    labels = np.array(task.classes, dtype=task.labels.dtype)
    total = [weight[task.labels == cls].sum() for cls in labels]
    k = len(labels)
    all_pairs = np.concatenate([of_class * weight for of_class in total])
    return of_one(task, np.repeat(labels, weight.size), _joined([own] * k), all_pairs)


def _joined(scored: Sequence[Scored]) -> Scored:
    """Concatenate one model's predictions from several splits."""
    own = [each.decisions for each in scored if each.decisions is not None]
    scores = np.concatenate([each.scores for each in scored])
    return replace(scored[0], scores=scores, decisions=np.concatenate(own) if len(own) == len(scored) else None)
