"""The hooks by which a result reaches what is above it: the package that draws it, its area's interval, …"""

from collections.abc import Callable
from typing import Any, Literal

Above = Literal["plotting", "groups", "areas", "device"]

_loaders: dict[Above, Callable[[], Any]] = {}


def register(what: Above, load: Callable[[], Any]) -> None:
    """Say how a module is loaded, once it is needed."""
    _loaders[what] = load


def reach(what: Above) -> Any:
    """Return a module that was registered."""
    return _loaders[what]()
