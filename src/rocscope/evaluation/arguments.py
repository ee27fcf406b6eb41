"""What the fit of a model is given beside rows and labels: weights, under whatever name it takes them."""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from rocscope._types import Array
from rocscope.errors import ModelError, warn


def fit_arguments(models: Mapping[str, Any], weight: Array | None) -> dict[str, dict[str, Any]]:
    """Return the arguments of each model's `fit` that bring the weights to it; warn of models that take none.

    Raises
    ------
    ModelError
        If metadata routing is on and a part of a model does not say whether it asks for them.
    """
    if weight is None:
        return {name: {} for name in models}
    found = {name: _weight_arguments(name, model, weight) for name, model in models.items()}
    without = unweighted(found)
    if without:
        warn(f"fitted without the sample weights, which they do not take: {', '.join(without)}")
    return found


def unweighted(arguments: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the models whose fit gets nothing beside rows and labels."""
    return tuple(name for name, own in arguments.items() if not own)


def _weight_arguments(name: str, model: Any, weight: Array) -> dict[str, Any]:
    """With scikit-learn's metadata routing it is the model that says which of its parts asks for weights."""
    from sklearn import get_config

    if not get_config().get("enable_metadata_routing"):
        parameter = _weight_name(model)
        return {} if parameter is None else {parameter: weight}
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="rocscope.evaluate").add(model=model, method_mapping=mapping)
    try:
        return process_routing(router, "fit", sample_weight=weight)["model"]["fit"]
    except TypeError:  # no part of it asks for weights
        return {}
    except ValueError as error:
        raise ModelError(f"model {name!r}: {str(error).splitlines()[0]}") from error


def _weight_name(model: Any) -> str | None:
    steps = getattr(model, "steps", None)
    if steps:
        inner = _weight_name(steps[-1][1])
        return inner and f"{steps[-1][0]}__{inner}"
    taken = signature(model.fit).parameters
    if "sample_weight" in taken:
        return "sample_weight"
    passes_on = any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())
    inner = getattr(model, "estimator", None)  # of a search, which hands its arguments to what it fits
    return _weight_name(inner) if passes_on and inner is not None else None
