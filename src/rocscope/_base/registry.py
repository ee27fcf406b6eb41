"""Hooks that let results call modules above them, such as plots and intervals."""

from collections.abc import Callable
from typing import Any, Literal

Above = Literal["plotting", "segments", "areas", "choices", "device", "applying", "calibration"]

_loaders: dict[Above, Callable[[], Any]] = {}


def register(what: Above, load: Callable[[], Any]) -> None:
    """Register how a module is loaded on first use."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Return a registered module."""
    return _loaders[what]()
