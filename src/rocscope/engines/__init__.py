"""Where rows come from: files, streams, data frames, databases."""

from rocscope.engines.counting import read_counts
from rocscope.engines.description import ColumnFacts, Description, describe
from rocscope.engines.reading import read

__all__ = ["ColumnFacts", "Description", "describe", "read", "read_counts"]
