from . import planning as planning, statistics as statistics
from .areas import auc_interval as auc_interval
from .bands import band as band, smooth_roc as smooth_roc
from .comparing import compare as compare, compare_curves as compare_curves, mann_whitney as mann_whitney
from .estimate import (
    Comparison as Comparison,
    Comparisons as Comparisons,
    Estimate as Estimate,
    Omnibus as Omnibus,
    adjust_p_values as adjust_p_values,
    pool as pool,
)
from .expected_costs import compare_costs as compare_costs
from .influence_estimates import estimate_of as estimate_of
from .proportions import (
    ThresholdTable as ThresholdTable,
    compare_errors as compare_errors,
    joint_region as joint_region,
    mcnemar as mcnemar,
    rate_intervals as rate_intervals,
    threshold_table as threshold_table,
)
from .resampling import bootstrap as bootstrap
