"""Running the fits of all models on all splits, one after the other or side by side, with the same result."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

from rocscope import _validation as check
from rocscope._progress import Progress, track
from rocscope.errors import ModelError, warn
from rocscope.evaluation.arguments import fit_arguments
from rocscope.evaluation.fitting import Failed, attempt, named_models
from rocscope.evaluation.task import Task, sample_of
from rocscope.protocols.cv import splits_of
from rocscope.protocols.splits import Split, SplitRows


@dataclass(frozen=True)
class Experiment:
    """Models, the rows that they are fitted to and judged on, and how their fits run."""

    models: Mapping[str, Any]
    task: Task
    sample: SplitRows
    n_jobs: int | None = None
    progress: Progress = False

    @classmethod
    def of(cls, models: Any, task: Task, groups: Any, n_jobs: int | None, progress: Progress) -> Self:
        """Check what all functions take that fit models; see `rocscope.evaluate`."""
        named = named_models(models)
        groups = None if groups is None else check.check_column(groups, "groups", task.labels.size)
        sample = sample_of(task, groups)
        return cls(named, replace(task, arguments=fit_arguments(named, task.weight, groups)), sample, n_jobs, progress)

    def splits(self, cv: Any, repeats: int = 1) -> tuple[list[Split], str]:
        """Return the splits of whatever `cv` may be, and the protocol in words."""
        return splits_of(cv, self.sample, repeats, self.task.seed)

    def run(self, splits: Iterable[Split], what: str, work: Callable[..., Any] = attempt) -> list[Any]:
        """Return what `work` makes of each split and model, in their order."""
        from sklearn.utils.parallel import Parallel, delayed

        calls = [(name, model, self.task, split) for split in splits for name, model in self.models.items()]
        done: Any = Parallel(n_jobs=self.n_jobs, return_as="generator")(delayed(work)(*call) for call in calls)
        return list(track(done, len(calls), self.progress, what))


def without_failures(results: Sequence[Any], models: Iterable[str]) -> tuple[list[Any], list[Failed], list[str]]:
    """Return the results of models that never failed, the failures, and the names of those models.

    Raises
    ------
    ModelError
        If every model failed.
    """
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
