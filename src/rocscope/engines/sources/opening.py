"""Open any data as a Source."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from rocscope.engines.sources.arrow import ArrowColumns
from rocscope.engines.sources.file_formats import AS_IT_TELLS, FORMATS, FileLayout, find_files, is_pipe, refuse_lakes
from rocscope.engines.sources.source import Source
from rocscope.errors import EngineError, InputError


@contextmanager
def open_source(source: Any, layout: FileLayout = AS_IT_TELLS) -> Iterator[Source]:
    """Open anything that `read` accepts; an open Source is returned unchanged."""
    with ExitStack() as stack:
        name = str(getattr(source, "name", type(source).__name__))
        if isinstance(source, str | PathLike) and is_pipe(fspath(source)):
            name = fspath(source)
            source = stack.enter_context(Path(name).open("rb"))
        elif isinstance(source, str) and source == "-":
            if sys.stdin is None:
                raise EngineError("<stdin>", expected="data on standard input", got="none: it is closed")
            source, name = sys.stdin.buffer, "<stdin>"
        if isinstance(source, str | PathLike | list | tuple):
            from rocscope.engines.sources import files

            places = cast(Sequence[Any], source) if isinstance(source, list | tuple) else [source]
            found = [path for place in places for path in find_files(_path(place), layout.format)]
            refuse_lakes(found)
            yield stack.enter_context(files.open_files(found, layout))
        elif callable(getattr(source, "read", None)):
            from rocscope.engines.sources import files

            if layout.format is None:
                hint = f"give format= {' | '.join(FORMATS)}"
                raise InputError(name, expected="the format of a stream", got="none", hint=hint)
            path = stack.enter_context(files.spooled(source, name))
            yield stack.enter_context(files.open_files([path], layout, origin=[name]))
        elif isinstance(source, ArrowColumns):
            yield source
        else:
            from rocscope.engines.sources import frames

            layout.refuse("what is no file")
            yield frames.open_mapping(source) if isinstance(source, Mapping) else frames.open_frame(source)


def _path(place: Any) -> str:
    try:
        return os.fsdecode(place)
    except TypeError:
        raise InputError("source", expected="paths of files", got=type(place).__name__) from None
