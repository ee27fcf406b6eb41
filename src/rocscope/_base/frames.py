"""Named columns as a data frame of the caller's library."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rocscope._base import validation as check
from rocscope.errors import MissingDependencyError

_INSTALL = {
    "pandas": "pip install 'rocscope[pandas]'",
    "polars": "pip install 'rocscope[polars]'",
    "pyarrow": "pip install pyarrow",
}


def frame_of(columns: Mapping[str, Any], backend: str) -> Any:
    """Return named columns as a frame of "pandas", "polars" or "pyarrow".

    Examples
    --------
    >>> frame_of({"x": [1, 2]}, "polars").columns
    ['x']
    """
    import narwhals as nw

    check.check_choice("backend", backend, tuple(_INSTALL))
    try:
        import_module(backend)
        return nw.from_dict(dict(columns), backend=backend).to_native()  # pyright: ignore[reportArgumentType]
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"to_frame(backend={backend!r})", expected=f"{backend} to be installed", hint=_INSTALL[backend]
        ) from error
