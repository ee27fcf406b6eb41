"""Names of types that the whole package uses."""

from typing import Any, Literal

from numpy.typing import NDArray

Array = NDArray[Any]
Ties = Literal["half", "lower", "upper"]
