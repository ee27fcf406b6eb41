"""scipy.special, loaded on first use: loading takes a third of the time of a first choice, which needs none of it."""

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return globals().setdefault(name, getattr(special, name))
