"""Learning curves, and the .632 and .632+ bootstrap.

Both functions fit models to a subset of the rows and evaluate the models on other rows.

- `learning_curve` computes performance as a function of the number of training rows. In each run, all models and sizes
  have the same test rows, and each training set contains all smaller training sets.
- `bootstrap_632` corrects the bias of the bootstrap. A bootstrap sample contains 1 − 1/e ≈ 63.2% of the distinct rows,
  so the performance on the rows outside the sample is pessimistic. The performance on the training rows is optimistic.
  The estimates are combinations of these two. Equation numbers in comments refer to Efron & Tibshirani 1997.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rocscope._base import validation as check
from rocscope._base.arrays import Array, Indices
from rocscope._base.contract import contract
from rocscope._base.progress import Progress
from rocscope._base.public_names import reach
from rocscope.core import Band, Result, html_table, jsonable, model_name, number
from rocscope.errors import ColumnError, InputError, warn
from rocscope.evaluation import fitting
from rocscope.evaluation.measures import Measure, Metric, measure_of
from rocscope.protocols.splitters import Holdout, OutOfBag, Split


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """Performance of models as a function of the number of training rows.

    Attributes
    ----------
    metric : str
        Name of the metric.
    larger_is_better : bool
        True if large values of the metric are good.
    size : array of k int
        Numbers of training rows.
    values : mapping from model name to array of runs × k
        Metric on the test rows, for each run and each size. NaN if the metric is undefined or the model failed.
    training : mapping like `values`
        Metric on the training rows; empty unless ``return_train_score=True``.
    fold, repeat : arrays of runs
        Number of the fold and of the repeat of each run.
    logarithmic : bool
        True if neighbouring sizes have equal ratios. Plots then have a logarithmic axis.
    protocol : str
        Description of the splits into training and test rows.
    failures : tuple of Failure
        Errors of models in single fits.
    """

    metric: str
    larger_is_better: bool
    size: Indices
    values: Mapping[str, Array]
    fold: Indices
    repeat: Indices
    logarithmic: bool
    protocol: str
    failures: tuple[fitting.Failure, ...] = ()
    training: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("size", "fold", "repeat"):
            check.set_fields(self, **{name: check.read_only(np.asarray(getattr(self, name)))})
        for name in ("values", "training"):
            check.set_fields(
                self, **{name: {model: check.read_only(runs) for model, runs in getattr(self, name).items()}}
            )

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.values)

    @property
    def runs(self) -> int:
        """Number of runs for each number of training rows."""
        return self.fold.size

    def mean(self, model: str | None = None, *, training: bool = False) -> Array:
        """Return the mean of the metric over runs, for each number of training rows.

        Runs in which the metric is NaN are omitted.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model.
        training : bool
            If True, return means of the metric on the training rows.

        Raises
        ------
        InputError
            If `training` is True, but the learning curve has no values on the training rows.
        """
        if training and not self.training:
            hint = "call learning_curve with return_train_score=True"
            expected, got = "a curve with values on the training rows", "a curve without these values"
            raise InputError("training=True", expected=expected, got=got, hint=hint)
        values = (self.training if training else self.values)[model_name(self.models, model)]
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)

    def band(self, model: str | None = None, *, share: float = 0.8) -> Band:
        """Return the band that contains the value of another run on the same data with probability `share`.

        The limits are quantiles over the n runs, at rank (n + 1)·p for the probability p. The probability is exact if
        there are enough runs (nine for a share of 80%). With fewer runs, the limits are the smallest and the largest
        value. The band is not a confidence interval of the mean, because the runs share rows.

        Parameters
        ----------
        model : str, optional
            Name of the model. By default, the only model of the predictions.
        share : float
            Probability, between 0 and 1.

        Raises
        ------
        ColumnError
            If the model is unknown, or if there are several models and none is named.

        Examples
        --------
        With two runs, the limits are the smallest and the largest value:

        >>> values = {"tree": np.array([[0.6, 0.7], [0.5, 0.9]])}
        >>> band = LearningCurve("auc", True, [10, 20], values, [0, 1], [0, 0], True, "holdout").band()
        >>> band.low, band.high
        (array([0.5, 0.7]), array([0.6, 0.9]))
        """
        values = self.values[model_name(self.models, model)]
        tails = np.array([(1 - check.check_share(share, "share")) / 2, (1 + share) / 2])
        ends = np.full((2, self.size.size), np.nan)
        for column in np.flatnonzero(~np.isnan(values).all(axis=0)):
            # "weibull" is the quantile at rank (n + 1)·p, limited to the smallest and the largest value.
            ends[:, column] = np.nanquantile(values[:, column], tails, method="weibull")
        return Band(self.size, ends[0], ends[1], level=share, method=f"spread of {self.runs} runs")

    def plot(self, ax: Any = None, *, share: float | None = 0.8, label: str | Sequence[str] | None = None) -> Any:
        """Draw the mean and the band of each model; see `rocscope.plotting.plot_learning_curve`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default, a new figure is created.
        share : float or None
            Probability of the band. None draws no band.
        label : str or sequence of str, optional
            Legend labels, one per model.
        """
        return reach("plotting").plot_learning_curve(self, ax, share=share, label=label)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row for each combination of model, run and number of training rows.

        The column `value` is the metric on the test rows, and `training` the metric on the training rows, if available.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the data frame.

        Examples
        --------
        >>> curve = LearningCurve("auc", True, [10, 20], {"tree": np.array([[0.6, 0.7]])}, [0], [0], True, "holdout")
        >>> curve.to_frame()
          model  fold  repeat  size  value
        0  tree     0       0    10    0.6
        1  tree     0       0    20    0.7
        """
        k, m = self.size.size, len(self.models)
        columns = {
            "model": np.repeat(self.models, self.runs * k),
            "fold": np.tile(np.repeat(self.fold, k), m),
            "repeat": np.tile(np.repeat(self.repeat, k), m),
            "size": np.tile(self.size, self.runs * m),
            "value": np.concatenate([values.ravel() for values in self.values.values()]),
        }
        if self.training:
            columns["training"] = np.concatenate([self.training[name].ravel() for name in self.models])
        return check.frame_of(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON with the attributes and the means over runs.

        Examples
        --------
        >>> values = {"tree": np.array([[0.6, 0.7], [0.5, 0.9]])}
        >>> LearningCurve("auc", True, [10, 20], values, [0, 1], [0, 0], True, "holdout").to_dict()["mean"]
        {'tree': [0.55, 0.8]}
        """
        return super().to_dict() | {"mean": jsonable({name: self.mean(name) for name in self.models})}

    def __repr__(self) -> str:
        ends = []
        for name in self.models:
            mean = self.mean(name)
            ends.append(f"{name} {mean[0]:.4g} to {mean[-1]:.4g}")
        sizes = f"{self.size[0]} to {self.size[-1]} rows"
        return f"LearningCurve({self.metric}, {sizes}: {', '.join(ends)}; {self.runs} runs)"

    def _repr_html_(self) -> str:
        rows = [(name, *(f"{value:.4g}" for value in self.mean(name))) for name in self.models]
        return super()._repr_html_() + html_table(rows, ("rows", *self.size))


@dataclass(frozen=True)
class _TrainingScorer:
    """Scorer that computes the metric of a learning curve for a fitted model."""

    measure: Measure
    task: fitting.Task

    def __call__(self, _fitted: Any, scored: fitting.Scored, rows: fitting.TestRows) -> float:
        predictions = fitting.predictions_of_model(self.task, rows.labels, scored, rows.weight)
        return self.measure.of(predictions, scored.response)


Schedule = Literal["geometric", "arithmetic"]

_FIRST_SIZE = 10  # smallest number of training rows of a geometric curve: a choice


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
    response: fitting.Response = "auto",
    return_train_score: bool = False,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> LearningCurve:
    """Estimate performance on unseen rows as a function of the number of training rows.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    sizes : {"geometric", "arithmetic"}, or increasing numbers of rows, or increasing shares of the training rows
        Numbers of training rows. "geometric" means equal ratios between neighbouring sizes, from 10 rows to all
        training rows. "arithmetic" means equal differences between neighbouring sizes.
    steps : int
        Number of sizes if `sizes` is "geometric" or "arithmetic".
    metric, larger_is_better : see `bootstrap_632`
    cv, repeats : see `evaluate`
        Cross-validation protocol; each split is one run. By default, holdouts and the bootstrap have 20 repeats, and
        other protocols have one repeat.
    return_train_score : bool
        If True, also evaluate each model on its training rows.

    Returns
    -------
    LearningCurve
        Metric of each model for each run and each number of training rows.

    Raises
    ------
    InputError
        If the sizes do not increase. If a size is below the number of classes or above the number of training rows.
    ModelError
        If every model fails at every size.

    Warns
    -----
    RocscopeWarning
        If a model fails at some sizes. The value of the metric is NaN at these sizes.

    See Also
    --------
    evaluate, bootstrap_632, plot_learning_curve

    Notes
    -----
    In each run, all models and sizes have the same test rows, and each training set contains all smaller training sets.
    Training rows are stratified by class. Every training set has at least one row of each class, so very small training
    sets can have a different class balance.

    With ``return_train_score=True``, compare the curve on the training rows with the curve on the test rows. If both
    converge to a poor value, the model is too simple (bias). If a gap between them remains, the model is too flexible
    for the number of training rows (variance).

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
    task = fitting.task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    measure = measure_of(metric, several_classes=task.positive is None, larger_is_better=larger_is_better)
    if return_train_score:
        task = replace(task, scorers={measure.name: _TrainingScorer(measure, task)}, with_training=True)
    experiment = fitting.Fitting.of(models, task, groups, n_jobs, progress)
    if repeats is None:
        # A single random holdout or bootstrap sample varies too much; other protocols test every row once.
        random_split = cv in ("holdout", "out_of_bag") if isinstance(cv, str) else isinstance(cv, Holdout | OutOfBag)
        repeats = 20 if random_split else 1
    splits, title = experiment.splits(cv, repeats)
    smallest_training_set = min(split.train.size for split in splits)
    size = _check_sizes(sizes, steps, smallest_training_set, len(task.classes))
    nested = []
    for split in splits:
        rng = np.random.default_rng(np.random.SeedSequence(task.seed, spawn_key=(2, split.fold)))
        order = split.train[_stratified_order(experiment.sample.y[split.train], rng)]
        nested += [replace(split, train=order[:k], training_rows=k) for k in size.tolist()]
    values = {name: np.full((len(splits), size.size), np.nan) for name in experiment.models}
    training = {name: runs.copy() for name, runs in values.items()} if return_train_score else {}
    failed = []
    for result in experiment.run(nested, "learning curve"):
        if isinstance(result, fitting.Failed):
            failed.append(result)
            continue
        column = np.searchsorted(size, result.split.train.size)
        preds = fitting.predictions_of_split(result, task)
        values[result.model][result.split.fold, column] = measure.of(preds, result.response)
        on_training = result.training_values.get(measure.name)
        if isinstance(on_training, float):  # the text of an error otherwise
            training[result.model][result.split.fold, column] = on_training
    if len(failed) == len(nested) * len(experiment.models):
        fitting.raise_first(failed)
    for name in experiment.models:
        failures = [fit.failure for fit in failed if fit.failure.model == name]
        if failures:
            warn(f"{len(failures)} of {len(nested)} fits failed, the first: {failures[0]}")
        if len(failures) == len(nested):
            del values[name]
            training.pop(name, None)
    return LearningCurve(
        measure.name,
        measure.sign > 0,
        size,
        values,
        np.array([split.fold for split in splits]),
        np.array([split.repeat for split in splits]),
        sizes == "geometric" if isinstance(sizes, str) else _spaced_by_factors(size),
        title,
        tuple(fit.failure for fit in failed),
        training,
    )


def _check_sizes(sizes: Any, steps: int, most: int, least: int) -> Indices:
    """Check the argument `sizes` and return the increasing numbers of training rows.

    Examples
    --------
    >>> _check_sizes("arithmetic", 4, 100, 2), _check_sizes("geometric", 4, 80, 2), _check_sizes([0.1, 1.0], 0, 80, 2)
    (array([ 25,  50,  75, 100]), array([10, 20, 40, 80]), array([ 8, 80]))
    """
    if isinstance(sizes, str):
        check.check_choice("sizes", sizes, ("geometric", "arithmetic"))
        check.check_whole(steps, "steps", 2)
        if sizes == "geometric":
            spaced = np.geomspace(max(least, min(_FIRST_SIZE, most // 2)), most, steps)
        else:
            spaced = np.linspace(most / steps, most, steps)
        return np.unique(np.maximum(np.rint(spaced), least).astype(np.intp))
    given = check.check_column(sizes, "sizes")
    if given.dtype.kind not in "iuf":
        raise InputError("sizes", expected="numbers or shares of rows", got=f"values of type {given.dtype}")
    are_shares = given.dtype.kind == "f" and (given <= 1).all()
    rows = np.rint(given * most) if are_shares else given
    if (rows % 1).any() or (np.diff(rows) <= 0).any() or rows[0] < least or rows[-1] > most:
        expected = f"increasing whole numbers from {least} (number of classes) to {most} (number of training rows)"
        raise InputError("sizes", expected=expected, got=check.listing(rows.tolist()))
    return rows.astype(np.intp)


def _stratified_order(classes: Indices, rng: np.random.Generator) -> Indices:
    """Return a random order of rows that starts with one row per class and stays approximately stratified."""
    position = np.empty(classes.size)
    for cls in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == cls))
        # Systematic sampling: the rows of a class are evenly spaced in [0, 1) from a random start.
        position[rows] = (np.arange(rows.size) + rng.random()) / rows.size
        position[rows[0]] -= 1  # one row of each class comes first
    return np.argsort(position, kind="stable")


def _spaced_by_factors(sizes: Indices) -> bool:
    """Return True if the sizes are spaced more evenly on a logarithmic scale than on a linear scale."""
    if sizes.size <= 2:
        return False
    steps, factors = np.diff(sizes), np.diff(np.log(sizes))
    return bool(factors.std() / factors.mean() < steps.std() / steps.mean())


_DISTINCT = 0.632
"""Expected share of all rows that occur in a bootstrap sample, about 1 − 1/e."""


@dataclass(frozen=True, eq=False, repr=False)
class Corrected(Result):
    """Bootstrap estimates of the performance of one model.

    Attributes
    ----------
    apparent : float
        Performance on the training rows.
    out_of_bag : float
        Performance on the rows outside the bootstrap samples.
    no_information : float
        Performance that the scores would have if they were independent of the labels.
    relative_overfitting : float
        Relative overfitting rate. It is 0 if `out_of_bag` equals `apparent`, and 1 if it equals `no_information`.
    point632, point632plus : float
        The .632 estimate and the .632+ estimate.
    replicates : array
        Performance on the rows outside each bootstrap sample; NaN if undefined.
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
        """Compute the .632 and .632+ estimates. `sign` is −1 if small values of the metric are good."""
        overfitting = _relative_overfitting(apparent, out_of_bag, no_information, sign)
        # B′, the better of B and G (eq. 31).
        clipped = sign * max(sign * out_of_bag, sign * no_information)
        point632 = (1 - _DISTINCT) * apparent + _DISTINCT * out_of_bag
        share = (1 - _DISTINCT) * _DISTINCT * overfitting / (1 - (1 - _DISTINCT) * overfitting)
        plus = point632 + (clipped - apparent) * share  # eq. 32
        columns = check.read_only(np.asarray(replicates, dtype=np.float64))
        return cls(apparent, out_of_bag, no_information, overfitting, point632, plus, columns)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value:.4g}" for name, value in vars(self).items() if name != "replicates")
        return f"Corrected({facts})"


def _relative_overfitting(apparent: float, out_of_bag: float, no_information: float, sign: int = -1) -> float:
    """Return the relative overfitting rate, from 0 (no overfitting) to 1 (as good as no information).

    Examples
    --------
    The error rate is 0.1 on the training rows, 0.3 on other rows, and 0.5 without information:

    >>> round(_relative_overfitting(0.1, 0.3, 0.5), 12)
    0.5
    """
    loss = sign * (apparent - out_of_bag)
    largest_loss = sign * (apparent - no_information)
    if np.isnan(loss) or np.isnan(largest_loss):
        return np.nan
    if loss <= 0 or largest_loss <= 0:
        return 0.0
    return min(loss / largest_loss, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap632(Mapping[str, Corrected], Result):
    """Bootstrap estimates of the performance of each model; a mapping from model name to `Corrected`.

    Attributes
    ----------
    metric : str
        Name of the metric.
    models : dict from model name to Corrected
        Estimates for each model.
    failures : tuple of Failure
        Errors of models that are omitted.
    """

    _content = ("metric", "models", "failures")

    metric: str
    models: Mapping[str, Corrected]
    failures: tuple[fitting.Failure, ...] = ()

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
        rows = []
        for model, corrected in self.models.items():
            rows.append((model, *(f"{getattr(corrected, name):.4g}" for name in names)))
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
    response: fitting.Response = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = None,
) -> Bootstrap632:
    """Estimate the performance of models on new data by the .632 and .632+ bootstrap.

    Parameters
    ----------
    models, X, y, groups, sample_weight, pos_label, response, n_jobs, random_state, progress : see `evaluate`
    metric : str, Context, CostMatrix or function
        Metric to estimate. "auc", "average_precision", "brier" and "log_loss" are computed from the scores. A metric of
        `rocscope.metrics`, and the expected cost with a Context, are computed from the predicted labels. For more than
        two classes, pass "auc" (Hand & Till), a metric of `multiclass_figure` such as "macro_recall" or "rps", or a
        CostMatrix for the expected cost. A function receives the Predictions of one model and returns a number.
    larger_is_better : bool, optional
        Pass False if the metric is a function and small values are good. The direction of named metrics is known.
    replicates : int
        Number of bootstrap samples. Each model is fitted to each sample.
    stratified : bool
        If True, resample within each class.

    Returns
    -------
    Bootstrap632
        Apparent performance, out-of-bag performance, .632 estimate and .632+ estimate of each model.

    Raises
    ------
    InputError, ModelError
        See `evaluate`.

    See Also
    --------
    evaluate, learning_curve

    Notes
    -----
    Let A be the apparent value of the metric, B the out-of-bag value, and G the value without information.

    - The relative overfitting rate is R = (B − A)/(G − A). It is 0 if B or G is not worse than A, and at most 1.
    - The .632 estimate is 0.368·A + 0.632·B.
    - The .632+ estimate is the .632 estimate plus (B′ − A)·0.368·0.632·R/(1 − 0.368·R), where B′ is the better of B and
      G (eq. 31 and 32). For B between A and G, this equals (1 − w)·A + w·B with w = 0.632/(1 − 0.368·R).

    A model with apparent performance A was fitted to all rows. A model in B was fitted to a bootstrap sample, which
    contains about 63% of the distinct rows. The .632 estimate is too optimistic for models that fit their training rows
    perfectly. The .632+ estimate corrects this.

    Metrics for which large values are good are not converted to losses. Only the choice of B′ depends on the direction.

    If the metric is a mean over rows ("error", "accuracy", "brier", "log_loss"), B is the leave-one-out bootstrap: the
    loss of each row is averaged over the samples without this row, and then over rows (eq. 15 to 17). Any other metric
    is computed on the rows outside each sample, and averaged over samples (Sahiner, Chan & Hadjiiski 2008 for the AUC).
    G is the metric over all combinations of a label and a score (eq. 27). For the AUC, G is 1/2.

    References
    ----------
    Efron & Tibshirani 1997, J. Am. Stat. Assoc. 92:548–560; Sahiner, Chan & Hadjiiski 2008, Med. Phys. 35:1559–1570.

    Examples
    --------
    The labels are independent of the feature, and the model memorises the training rows:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 1)), rng.integers(0, 2, 60)
    >>> error = bootstrap_632(KNeighborsClassifier(1), X, y, metric="error", replicates=50)["KNeighborsClassifier"]
    >>> error.apparent, round(error.no_information, 4)
    (0.0, 0.4978)
    >>> error.point632 < 0.4 < error.point632plus
    True
    """
    check.check_whole(replicates, "replicates")
    task = fitting.task_of(X, y, pos_label, sample_weight, response, check.seed_of(random_state))
    experiment = fitting.Fitting.of(models, task, groups, n_jobs, progress)
    measure = measure_of(metric, several_classes=task.positive is None, larger_is_better=larger_is_better)
    splits, _ = experiment.splits(OutOfBag(stratified), int(replicates))
    # The first split fits and evaluates on all rows, for the apparent performance.
    everything = np.arange(task.labels.size)
    apparent_split = Split(everything, everything, None, len(splits), len(splits))
    results = experiment.run([apparent_split, *splits], "bootstrap")
    scored, failed, kept = fitting.without_failures(results, experiment.models)
    corrected = {}
    for name in kept:
        corrected[name] = _corrected([fit for fit in scored if fit.model == name], task, measure)
    return Bootstrap632(measure.name, corrected, tuple(fit.failure for fit in failed))


def _corrected(scored: Sequence[fitting.Scored], task: fitting.Task, measure: Measure) -> Corrected:
    """Return the estimates of one model.

    The first entry of `scored` comes from the fit to all rows, and the others from the fits to bootstrap samples.
    """
    on_all_rows, *samples = scored
    apparent = measure.of(fitting.predictions_of_split(on_all_rows, task), on_all_rows.response)
    # No information (eq. 27): combine every score with every label, with classes weighted by size.
    weight = np.ones(task.labels.size, np.int64) if task.weight is None else task.weight.astype(np.float64)
    classes = np.array(task.classes, dtype=task.labels.dtype)
    pair_weight = np.concatenate([weight[task.labels == label].sum() * weight for label in classes])
    every_pair = _joined([on_all_rows] * len(classes))
    pairs = fitting.predictions_of_model(task, np.repeat(classes, weight.size), every_pair, pair_weight)
    no_information = measure.of(pairs, on_all_rows.response)
    replicates = np.array([measure.of(fitting.predictions_of_split(fit, task), fit.response) for fit in samples])
    if measure.mean_of_rows:
        # Leave-one-out bootstrap (eq. 15 to 17): each row's mean loss over the samples without it, then their mean.
        rows = np.concatenate([fit.split.test for fit in samples])
        row_weight = 1 / np.bincount(rows)[rows] * (1.0 if task.weight is None else task.weight[rows])
        held_out = fitting.predictions_of_model(task, task.labels[rows], _joined(samples), row_weight)
        out_of_bag = measure.of(held_out, on_all_rows.response)
    elif np.isnan(replicates).all():
        out_of_bag = np.nan
    else:
        out_of_bag = float(np.nanmean(replicates))
    return Corrected.of(apparent, out_of_bag, no_information, measure.sign, replicates)


def _joined(scored: Sequence[fitting.Scored]) -> fitting.Scored:
    """Concatenate the predictions of one model from several splits."""
    scores = np.concatenate([fit.scores for fit in scored])
    return replace(scored[0], scores=scores, decisions=fitting.joined_labels(scored))
