"""rocscope: from the labels and scores of classifiers to decisions.

Importing it loads NumPy and nothing heavier; every public name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocscope import datasets as datasets
    from rocscope import errors as errors
    from rocscope import metrics as metrics
    from rocscope.core.campaign import Campaign as Campaign
    from rocscope.core.context import Context as Context
    from rocscope.core.counts import ThresholdCounts as ThresholdCounts
    from rocscope.core.point import OperatingPoint as OperatingPoint
    from rocscope.core.predictions import Predictions as Predictions
    from rocscope.curves.cost import brier_curve as brier_curve
    from rocscope.curves.cost import cost_curve as cost_curve
    from rocscope.curves.detection import det as det
    from rocscope.curves.lift import gain as gain
    from rocscope.curves.lift import lift as lift
    from rocscope.curves.lift import lift_chart as lift_chart
    from rocscope.curves.net_benefit import net_benefit as net_benefit
    from rocscope.curves.precision_recall import precision_recall as precision_recall
    from rocscope.curves.profit import profit as profit
    from rocscope.curves.roc import auc as auc
    from rocscope.curves.roc import roc as roc
    from rocscope.decisions.campaign import plan_campaign as plan_campaign
    from rocscope.decisions.choose import choose as choose
    from rocscope.decisions.constraints import Constraint as Constraint
    from rocscope.decisions.decision import Decision as Decision
    from rocscope.decisions.h_measure import h_measure as h_measure
    from rocscope.decisions.hull import hull as hull
    from rocscope.decisions.mixture import mixture as mixture
    from rocscope.decisions.partial import partial_lift_chart as partial_lift_chart
    from rocscope.decisions.prior_shift import correct_probabilities as correct_probabilities
    from rocscope.decisions.prior_shift import estimate_prevalence as estimate_prevalence
    from rocscope.decisions.prior_shift import reweight as reweight
    from rocscope.decisions.uncertain import Beta as Beta
    from rocscope.decisions.uncertain import LogNormal as LogNormal
    from rocscope.decisions.uncertain import UncertainContext as UncertainContext
    from rocscope.decisions.uncertain import Uniform as Uniform
    from rocscope.decisions.zones import HullVertex as HullVertex
    from rocscope.engines.reading import read as read
    from rocscope.plotting.figures import plot_calibration as plot_calibration
    from rocscope.plotting.figures import plot_lift_chart as plot_lift_chart
    from rocscope.plotting.figures import plot_roc as plot_roc
    from rocscope.plotting.figures import plot_three as plot_three
    from rocscope.reliability.bins import calibration as calibration
    from rocscope.report import Report as Report

__version__ = "0.1.0"

_HOME = {
    "Beta": "decisions.uncertain",
    "Campaign": "core.campaign",
    "Constraint": "decisions.constraints",
    "Context": "core.context",
    "Decision": "decisions.decision",
    "HullVertex": "decisions.zones",
    "LogNormal": "decisions.uncertain",
    "OperatingPoint": "core.point",
    "Predictions": "core.predictions",
    "Report": "report",
    "ThresholdCounts": "core.counts",
    "UncertainContext": "decisions.uncertain",
    "Uniform": "decisions.uncertain",
    "auc": "curves.roc",
    "brier_curve": "curves.cost",
    "calibration": "reliability.bins",
    "choose": "decisions.choose",
    "correct_probabilities": "decisions.prior_shift",
    "cost_curve": "curves.cost",
    "det": "curves.detection",
    "estimate_prevalence": "decisions.prior_shift",
    "gain": "curves.lift",
    "h_measure": "decisions.h_measure",
    "hull": "decisions.hull",
    "lift": "curves.lift",
    "lift_chart": "curves.lift",
    "mixture": "decisions.mixture",
    "net_benefit": "curves.net_benefit",
    "partial_lift_chart": "decisions.partial",
    "plan_campaign": "decisions.campaign",
    "plot_calibration": "plotting.figures",
    "plot_lift_chart": "plotting.figures",
    "plot_roc": "plotting.figures",
    "plot_three": "plotting.figures",
    "precision_recall": "curves.precision_recall",
    "profit": "curves.profit",
    "read": "engines.reading",
    "reweight": "decisions.prior_shift",
    "roc": "curves.roc",
}
_MODULES = ("datasets", "errors", "metrics")

__all__ = ["__version__", *_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rocscope.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'rocscope' has no attribute {name!r}")
    value = getattr(import_module(f"rocscope.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
