"""Hooks that let results call modules above them, such as plots and intervals."""

from collections.abc import Callable
from typing import Any, Literal

Above = Literal["plotting", "segments", "areas", "choices", "device", "applying", "calibration"]

_loaders: dict[Above, Callable[[], Any]] = {}


def register(what: Above, load: Callable[[], Any]) -> None:
    """Say how a module is loaded, once it is needed."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Return a module that was registered."""
    return _loaders[what]()
