# pyright: reportUnusedImport=false
"""Predictions, counts at thresholds, their ranking, contexts, and results."""

from rocscope.core.context import CELLS, Campaign, Context, decimal
from rocscope.core.counts import CumulativeCounts, OperatingPoint, ThresholdCounts
from rocscope.core.predictions import (
    CountedModels,
    Predictions,
    Provenance,
    Weights,
    independent_units,
    model_name,
    require_kinds,
)
from rocscope.core.ranking import Levels
from rocscope.core.result import Band, CallableFloat, Result, html_table, jsonable, number
