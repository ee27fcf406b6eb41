"""Plain data that any JSON reader takes."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def jsonable(value: Any) -> Any:
    """Return `value` as lists, dicts, strings and numbers; NaN and infinities become None.

    Anything with a `to_dict` becomes what that returns.

    Examples
    --------
    >>> jsonable({"threshold": np.array([np.inf, 0.5]), "n": np.int64(3)})
    {'threshold': [None, 0.5], 'n': 3}
    """
    if hasattr(value, "to_dict"):
        return jsonable(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in cast(list[Any], value)]
    if isinstance(value, np.ndarray):
        return jsonable(cast(list[Any], value.tolist()))
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
