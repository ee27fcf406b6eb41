from .drift import Drift as Drift, FigureDrift as FigureDrift, SegmentDrift as SegmentDrift, drift as drift
from .expected import ExpectedPredictions as ExpectedPredictions, expected as expected
from .experiments import (
    Experiment as Experiment,
    UpliftCurve as UpliftCurve,
    UpliftPart as UpliftPart,
    UpliftTable as UpliftTable,
    from_experiment as from_experiment,
)
from .time_to_event import (
    OverTime as OverTime,
    at_horizon as at_horizon,
    concordance as concordance,
    over_time as over_time,
)
from .verification import from_verified as from_verified
