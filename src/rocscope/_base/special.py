"""scipy.special, loaded when it is first used: that takes a third of the time of a first choice, which needs none."""

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return globals().setdefault(name, getattr(special, name))
