from . import (
    calibration as calibration,
    curves as curves,
    datasets as datasets,
    decisions as decisions,
    engines as engines,
    errors as errors,
    estimators as estimators,
    evaluation as evaluation,
    inference as inference,
    metrics as metrics,
    multiclass as multiclass,
    outcomes as outcomes,
    plotting as plotting,
    ranges as ranges,
    segments as segments,
)
from .calibration.curve import calibration_curve as calibration_curve
from .core.context import Campaign as Campaign, Context as Context
from .core.counts import OperatingPoint as OperatingPoint, ThresholdCounts as ThresholdCounts
from .core.predictions import Predictions as Predictions
from .curves.cost_curves import cost_curve as cost_curve, net_benefit as net_benefit
from .curves.profit_curve import profit as profit
from .curves.rate_curves import (
    auc as auc,
    det as det,
    gain as gain,
    lift as lift,
    lift_chart as lift_chart,
    precision_recall as precision_recall,
    roc as roc,
)
from .decisions.allocating import allocate as allocate
from .decisions.campaign import plan_campaign as plan_campaign
from .decisions.choosing import choose as choose
from .decisions.decision import Decision as Decision
from .decisions.loading import load_plan as load_plan
from .decisions.model_hull import hull as hull
from .decisions.monitoring import monitor as monitor
from .decisions.randomized import Review as Review
from .engines.reading import read as read, read_counts as read_counts
from .evaluation.evaluating import evaluate as evaluate
from .evaluation.scorer import scorer as scorer
from .evaluation.summary import summary as summary
from .inference.areas import auc_interval as auc_interval
from .inference.comparing import compare as compare
from .inference.resampling import bootstrap as bootstrap
from .outcomes.drift import drift as drift
from .outcomes.expected import expected as expected
from .report import Report as Report
from .workbench.exploring import explore as explore

__version__: str
