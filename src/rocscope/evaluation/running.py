"""Running all fits of an evaluation, one after the other or side by side, with the same result."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from rocscope._progress import Progress, track
from rocscope.errors import ModelError, warn
from rocscope.evaluation.fitting import Failed, takes_weights

T = TypeVar("T")


def in_parallel(
    work: Callable[..., T], calls: Sequence[tuple[Any, ...]], n_jobs: int | None, progress: Progress, what: str
) -> list[T]:
    """Return what `work` makes of each tuple of arguments, in their order."""
    from sklearn.utils.parallel import Parallel, delayed

    done: Any = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(work)(*call) for call in calls)
    return list(track(done, len(calls), progress, what))


def without_failures(results: Iterable[Any], models: Iterable[str]) -> tuple[list[Any], list[Failed], list[str]]:
    """Return the results of models that never failed, the failures, and the names of those models.

    Raises
    ------
    ModelError
        If every model failed.
    """
    results = list(results)
    failed = [result for result in results if isinstance(result, Failed)]
    lost = {each.failure.model for each in failed}
    kept = [name for name in models if name not in lost]
    if not kept:
        raise_first(failed)
    for name in sorted(lost):
        own = [each.failure for each in failed if each.failure.model == name]
        warn(f"left out, failed in {len(own)} fits: {own[0]}; see predictions.source.failures")
    return [r for r in results if not isinstance(r, Failed) and r.model not in lost], failed, kept


def raise_first(failed: Sequence[Failed]) -> NoReturn:
    """Raise the first of failures that leave nothing to return."""
    more = f" (and {len(failed) - 1} more failures)" if len(failed) > 1 else ""
    raise ModelError(f"{failed[0].failure}{more}") from failed[0].cause


def unweighted(models: Mapping[str, Any], weighted: bool) -> tuple[str, ...]:
    """Return, and warn of, the models that take no sample weights."""
    if not weighted:
        return ()
    names = tuple(name for name, model in models.items() if not takes_weights(name, model))
    if names:
        warn(f"fitted without the sample weights, which they do not take: {', '.join(names)}")
    return names
