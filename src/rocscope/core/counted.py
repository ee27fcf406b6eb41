"""CountedModels: counts by model (or by segment and model), and where their rows came from."""

from typing import Any

from rocscope.core.provenance import Provenance


class CountedModels(dict[Any, Any]):
    """A dictionary from model to ThresholdCounts, or from segment to such a dictionary.

    Attributes
    ----------
    source : Provenance or None
        What was read, how many rows, and how many of them were left out.

    Examples
    --------
    >>> CountedModels({"a": 1}, Provenance(("scores.parquet",), rows_read=3)).source
    Provenance(scores.parquet, rows_read=3, rows_dropped=0)
    """

    def __init__(self, by_name: dict[Any, Any], source: Provenance | None = None) -> None:
        super().__init__(by_name)
        self.source = source
