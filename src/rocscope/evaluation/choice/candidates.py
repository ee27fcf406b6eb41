"""Candidates: the models that a choice is made among, each setting of a search one of them."""

from typing import Any

from rocscope.evaluation.fitting import named_models


def candidates(models: Any, seed: int) -> dict[str, Any]:
    """Return models by name, and in place of a search of scikit-learn its estimator at each of its settings.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> list(candidates({"near": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]})}, 0))
    ['near, n_neighbors=1', 'near, n_neighbors=5']
    """
    found: dict[str, Any] = {}
    for name, model in named_models(models).items():
        for setting in _settings(model, seed):
            told = [f"{parameter}={value!r}" for parameter, value in setting.items()]
            found[", ".join([name, *told])] = _at(model.estimator, setting) if setting else model
    return found


def _settings(model: Any, seed: int) -> list[dict[str, Any]]:
    """Return the settings of a search that is to be fitted; one without parameters of anything else."""
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    if hasattr(model, "param_grid"):
        return list(ParameterGrid(model.param_grid))
    if hasattr(model, "param_distributions") and isinstance(getattr(model, "n_iter", None), int):
        own = model.random_state
        return list(
            ParameterSampler(model.param_distributions, model.n_iter, random_state=seed if own is None else own)
        )
    return [{}]


def _at(estimator: Any, setting: dict[str, Any]) -> Any:
    from sklearn.base import clone

    copy: Any = clone(estimator)
    return copy.set_params(**{name: clone(value, safe=False) for name, value in setting.items()})
