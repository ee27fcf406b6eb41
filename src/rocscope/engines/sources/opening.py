"""From what a user calls the data to a Source."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, cast

from rocscope.engines.sources.finding import FORMATS, find_files
from rocscope.engines.sources.source import Source
from rocscope.errors import InputError


@contextmanager
def open_source(source: Any, *, format: str | None = None) -> Iterator[Source]:
    """Open anything that `read` takes."""
    if format is not None and format not in FORMATS:
        raise InputError("format", expected=f"one of {', '.join(FORMATS)}", got=repr(format))
    name = str(getattr(source, "name", type(source).__name__))
    if isinstance(source, str) and source == "-":
        source, name = sys.stdin.buffer, "<stdin>"
    if isinstance(source, str | PathLike | list | tuple):
        from rocscope.engines.sources import files

        places = cast(Sequence[Any], source) if isinstance(source, list | tuple) else [source]
        found = [path for place in places for path in find_files(fspath(place), format)]
        yield files.open_files(found, format)
    elif callable(getattr(source, "read", None)):
        from rocscope.engines.sources import files

        if format is None:
            hint = f"give format= {' | '.join(FORMATS)}"
            raise InputError(name, expected="the format of a stream", got="none", hint=hint)
        with files.spooled(source, name) as path:
            yield files.open_files([path], format, origin=[name])
    else:
        from rocscope.engines.sources import frames

        yield frames.open_mapping(source) if isinstance(source, Mapping) else frames.open_frame(source)
