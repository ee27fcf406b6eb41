"""Learning curves: how good models are, by how many rows they were fitted to."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocscope import _validation as check
from rocscope._progress import Progress
from rocscope.core.band import Band
from rocscope.core.curve import figures
from rocscope.core.frame import frame_of
from rocscope.core.jsonable import jsonable
from rocscope.core.rows import model_name
from rocscope.errors import InputError, ModelError, RocscopeWarning
from rocscope.evaluation.evaluate import check_seed, sample_of, task_of
from rocscope.evaluation.fitting import RESPONSES, Failed, Response, Scored, fit_and_score, named_models
from rocscope.evaluation.measures import Metric, measure_of
from rocscope.evaluation.out_of_bag import judged
from rocscope.evaluation.protocols import Holdout, OutOfBag, splits_of
from rocscope.evaluation.record import Failure
from rocscope.evaluation.running import in_parallel, unweighted
from rocscope.evaluation.splits import Split

Array = NDArray[Any]
Schedule = Literal["geometric", "arithmetic"]

_FEW = 10


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """How good models are, by how many rows they were fitted to.

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
        for name in ("size", "fold", "repeat"):
            object.__setattr__(self, name, check.read_only(np.asarray(getattr(self, name))))
        object.__setattr__(self, "values", {name: check.read_only(each) for name, each in self.values.items()})

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.values)

    @property
    def runs(self) -> int:
        """Times that each size was tried."""
        return self.fold.size

    def mean(self, model: str | None = None) -> Array:
        """Return the mean over runs at each size; of those runs that have a value."""
        values = self.values[model_name(self.models, model)]
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)

    def band(self, model: str | None = None, *, share: float = 0.8) -> Band:
        """Return between which values that share of the runs lies: how much a single run varies.

        Runs share rows, so this is no confidence interval of the mean.
        """
        values = self.values[model_name(self.models, model)]
        tails = np.array([(1 - check.check_share(share, "share")) / 2, (1 + share) / 2])
        ends = np.full((2, self.size.size), np.nan)
        for column in np.flatnonzero(~np.isnan(values).all(axis=0)):
            ends[:, column] = np.nanquantile(values[:, column], tails)
        return Band(self.size, ends[0], ends[1], level=share, method=f"spread of {self.runs} runs")

    def plot(self, ax: Any = None, *, share: float | None = 0.8) -> Any:
        """Draw the means over sizes, a line a model, with the band of each; see `rocscope.plot_learning_curve`."""
        return figures().plot_learning_curve(self, ax, share=share)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each model, run and size: model, fold, repeat, size, value."""
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
        """Return sizes, values and facts, safe for JSON."""
        means = {name: self.mean(name) for name in self.models}
        failures = [vars(failure) for failure in self.failures]
        return jsonable(vars(self) | {"values": dict(self.values), "mean": means, "failures": failures})

    def __repr__(self) -> str:
        ends = ", ".join(f"{name} {self.mean(name)[0]:.4g} to {self.mean(name)[-1]:.4g}" for name in self.models)
        return f"LearningCurve({self.metric}, {self.size[0]} to {self.size[-1]} rows: {ends}; {self.runs} runs)"

    def _repr_html_(self) -> str:
        heading = "".join(f"<th>{size}</th>" for size in self.size.tolist())
        rows = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{value:.4g}</td>' for value in self.mean(name).tolist())}</tr>"
            for name in self.models
        )
        return f"<p>{escape(repr(self))}</p><table><tr><th>rows</th>{heading}</tr>{rows}</table>"


def learning_curve(
    models: Any,
    X: Any,
    y: Any,
    *,
    sizes: Schedule | Sequence[float] = "geometric",
    steps: int = 8,
    metric: Metric = "auc",
    larger_is_better: bool = True,
    cv: Any = "holdout",
    repeats: int | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    response: Response = "auto",
    n_jobs: int | None = None,
    random_state: int | None = 0,
    progress: Progress = None,
) -> LearningCurve:
    """How good models are on new rows, by how many rows they are fitted to.

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
    check.check_choice("response", response, RESPONSES)
    named = named_models(models)
    task = task_of(X, y, pos_label, sample_weight, response, check_seed(random_state))
    measure = measure_of(metric, several_classes=task.positive is None, larger_is_better=larger_is_better)
    sample = sample_of(task, groups)
    splits, title = splits_of(cv, sample, _repeats(cv) if repeats is None else repeats, task.seed)
    rows = check_sizes(sizes, steps, min(split.train.size for split in splits), len(task.classes))
    unweighted(named, task.weight is not None)
    calls = [
        (name, model, task, part)
        for split in splits
        for part in _nested(split, sample.y, rows, task.seed)
        for name, model in named.items()
    ]
    results = in_parallel(fit_and_score, calls, n_jobs, progress, "learning curve")
    values = {name: np.full((len(splits), rows.size), np.nan) for name in named}
    column = {size: place for place, size in enumerate(rows.tolist())}
    for result in results:
        if isinstance(result, Scored):
            place = column[result.split.train.size]
            values[result.model][result.split.fold, place] = measure.of(judged(result, task), result.response)
    failed = [result for result in results if isinstance(result, Failed)]
    _warn_of(failed, len(results), named)
    return LearningCurve(
        measure.name,
        measure.sign > 0,
        rows,
        {name: each for name, each in values.items() if not _always_failed(name, failed, len(splits) * rows.size)},
        np.array([split.fold for split in splits]),
        np.array([split.repeat for split in splits]),
        _by_factors(rows) if not isinstance(sizes, str) else sizes == "geometric",
        title,
        tuple(each.failure for each in failed),
    )


def _repeats(cv: Any) -> int:
    named = isinstance(cv, str) and cv in ("holdout", "out_of_bag")
    return 20 if named or isinstance(cv, Holdout | OutOfBag) else 1


def check_sizes(sizes: Any, steps: int, most: int, least: int) -> NDArray[np.intp]:
    """Return increasing numbers of training rows.

    Examples
    --------
    >>> check_sizes("arithmetic", 4, 100, 2), check_sizes("geometric", 4, 80, 2), check_sizes([0.1, 1.0], 0, 80, 2)
    (array([ 25,  50,  75, 100]), array([10, 20, 40, 80]), array([ 8, 80]))
    """
    if isinstance(sizes, str):
        check.check_choice("sizes", sizes, ("geometric", "arithmetic"))
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 2:
            raise InputError("steps", expected="a whole number of at least 2", got=repr(steps))
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
    """Return splits of one run whose training rows hold those of each smaller one."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, split.fold)))
    order = split.train[_stratified_order(classes[split.train], rng)]
    return [replace(split, train=order[:size], training_rows=size) for size in sizes.tolist()]


def _stratified_order(classes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return an order whose every beginning has about the shares of all rows, and a row of each class first."""
    place = np.empty(classes.size)
    for cls in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == cls))
        place[rows] = (np.arange(rows.size) + rng.random()) / rows.size
        place[rows[0]] -= 1
    return np.argsort(place, kind="stable")


def _by_factors(sizes: NDArray[np.intp]) -> bool:
    """Whether sizes are spaced more evenly by factors than by differences."""
    steps = [np.diff(spaced) for spaced in (np.log(sizes), sizes)]
    return sizes.size > 2 and bool(steps[0].std() / steps[0].mean() < steps[1].std() / steps[1].mean())


def _always_failed(name: str, failed: Sequence[Failed], fits: int) -> bool:
    return sum(each.failure.model == name for each in failed) == fits


def _warn_of(failed: Sequence[Failed], fits: int, models: Mapping[str, Any]) -> None:
    if failed and len(failed) == fits:
        raise ModelError(f"{failed[0].failure} (and {fits - 1} more failures)") from failed[0].cause
    for name in models:
        own = [each.failure for each in failed if each.failure.model == name]
        if own:
            count = f"{len(own)} of {fits // len(models)}"
            warnings.warn(f"no value from {count} fits: {own[0]}", RocscopeWarning, stacklevel=3)
