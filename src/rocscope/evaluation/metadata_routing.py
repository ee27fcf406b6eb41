"""Route weights and groups to the `fit` of a model, under the names that it takes them by."""

from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Any

from rocscope._base.arrays import Array
from rocscope.errors import ModelError, warn

_STOPS_BEYOND = 10_000
"""Rows from which on scikit-learn's histogram boosting stops early unless told otherwise."""


def fit_arguments(
    models: Mapping[str, Any], weight: Array | None, groups: Array | None = None
) -> dict[str, dict[str, Any]]:
    """Return the arguments that pass weights and groups to each model's `fit`.

    Raises
    ------
    ModelError
        If metadata routing is on and a part of a model does not state whether it asks for them.

    Warns
    -----
    RocscopeWarning
        Of models that take no weights, and of inner folds that tear groups apart.
    """
    given = {name: each for name, each in (("sample_weight", weight), ("groups", groups)) if each is not None}
    found = {name: _arguments(name, model, given) if given else {} for name, model in models.items()}
    if without := unweighted(found, weight):
        warn(f"fitted without the sample weights, which they do not take: {', '.join(without)}")
    if groups is None:
        return found
    for name, model in models.items():
        torn = list(_tearing(model, _brings(found[name], groups)))
        if torn:
            hint = _hint(model)
            warn(f"model {name!r}: groups are in training and test of its inner folds, {', '.join(torn)}; {hint}")
        for each in _stopping(model, groups.size):
            hint = "the rows that it stops by hold groups of the training rows; turn early stopping off"
            warn(f"model {name!r}: {each} parts groups; {hint}")
    return found


def unweighted(arguments: Mapping[str, Mapping[str, Any]], weight: Array | None) -> tuple[str, ...]:
    """Return the models whose fit does not receive the weights."""
    return () if weight is None else tuple(name for name, own in arguments.items() if not _brings(own, weight))


def _brings(arguments: Mapping[str, Any], column: Array | None) -> bool:
    return any(each is column for each in arguments.values())


def _routes() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing"))


def _arguments(name: str, model: Any, given: Mapping[str, Array]) -> dict[str, Any]:
    """Return the arguments according to scikit-learn's metadata routing, in which the model declares its requests."""
    if _routes():
        return _routed(name, model, given)
    own = {"sample_weight": _weight_name(model), "groups": _groups_name(model)}
    return {taken: column for what, column in given.items() if (taken := own[what])}


def _routed(name: str, model: Any, given: Mapping[str, Array]) -> dict[str, Any]:
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="rocscope.evaluate").add(model=model, method_mapping=mapping)
    found: dict[str, Any] = {}
    for what, column in given.items():
        try:
            found |= process_routing(router, "fit", **{what: column})["model"]["fit"]
        except TypeError:  # no part of it asks for them
            continue
        except ValueError as error:
            raise ModelError(f"model {name!r}: {str(error).splitlines()[0]}") from error
    return found


def _weight_name(model: Any) -> str | None:
    if steps := getattr(model, "steps", None):
        return _of_last(steps, _weight_name)
    taken = signature(model.fit).parameters
    if "sample_weight" in taken:
        return "sample_weight"
    if not any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return None
    inner = getattr(model, "estimator", None)  # of a search, which hands its arguments to what it fits
    if inner is not None:
        return _weight_name(inner)
    members = list(_members(model))  # of a vote or a stack, which hands them to all
    return "sample_weight" if members and all(_weight_name(each) == "sample_weight" for each in members) else None


def _groups_name(model: Any) -> str | None:
    if steps := getattr(model, "steps", None):
        return _of_last(steps, _groups_name)
    search = hasattr(model, "refit") and _asks_for_groups(getattr(model, "cv", None))
    return "groups" if search or "groups" in signature(model.fit).parameters else None


def _of_last(steps: Any, name_of: Any) -> str | None:
    inner = name_of(steps[-1][1])
    return inner and f"{steps[-1][0]}__{inner}"


def _asks_for_groups(splitter: Any) -> bool:
    """Whether a scikit-learn splitter keeps groups together."""
    if not hasattr(splitter, "get_metadata_routing"):
        return False
    return splitter.get_metadata_routing().split.requests.get("groups") is True


def _tearing(model: Any, reached: bool) -> Iterator[str]:
    """Yield the nested models whose own folds split groups; `reached` is True if groups are passed to the model."""
    cv = getattr(model, "cv", "prefit")
    keeps = getattr(model, "keeps_groups", False)
    if cv != "prefit" and not (reached and (keeps or _asks_for_groups(cv))):
        yield f"{type(model).__name__}(cv={cv!r})"
    members = list(_members(model))
    for place, inner in enumerate(members):
        last = hasattr(model, "steps") and place == len(members) - 1
        yield from _tearing(inner, reached and (keeps or last or _routes()))


def _hint(model: Any) -> str:
    """Return what would keep groups together: a splitter for them may be there, but groups do not reach it."""
    for each in _everywhere(model):
        if _asks_for_groups(getattr(each, "cv", None)):
            if _routes() or hasattr(each, "final_estimator"):
                return f"{type(each).__name__} passes no groups on to its splitter; pass the pairs of rows as its cv"
            return "sklearn.set_config(enable_metadata_routing=True) lets groups reach its splitter"
    return "give it a splitter for groups, such as GroupKFold, in a place that groups reach"


def _stopping(model: Any, n: int) -> Iterator[str]:
    """Yield the models in a model that hold out single rows to stop by."""
    for each in _everywhere(model):
        early = getattr(each, "early_stopping", False)
        if early is True or (early == "auto" and n > _STOPS_BEYOND):
            yield f"{type(each).__name__}(early_stopping={early!r})"
        elif getattr(each, "n_iter_no_change", None) is not None and not hasattr(each, "early_stopping"):
            yield f"{type(each).__name__}(n_iter_no_change={each.n_iter_no_change!r})"


def _everywhere(model: Any) -> Iterator[Any]:
    """Yield a model and all that it is made of."""
    yield model
    for inner in _members(model):
        yield from _everywhere(inner)


def _members(model: Any) -> Iterator[Any]:
    """Yield the models that a model consists of."""
    named = [*(getattr(model, "estimators", None) or ()), *(getattr(model, "steps", None) or ())]
    alone = [getattr(model, name, None) for name in ("estimator", "final_estimator")]
    yield from (each for each in [*(each[1] for each in named), *alone] if hasattr(each, "fit"))
