"""rocscope: from the labels and scores of classifiers to decisions.

Importing it loads NumPy and nothing heavier; every public name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocscope import datasets as datasets
    from rocscope import errors as errors
    from rocscope import metrics as metrics
    from rocscope.core.binned import BinnedCounts as BinnedCounts
    from rocscope.core.campaign import Campaign as Campaign
    from rocscope.core.context import Context as Context
    from rocscope.core.counts import ThresholdCounts as ThresholdCounts
    from rocscope.core.estimate import Comparison as Comparison
    from rocscope.core.estimate import Comparisons as Comparisons
    from rocscope.core.estimate import Estimate as Estimate
    from rocscope.core.point import OperatingPoint as OperatingPoint
    from rocscope.core.predictions import Predictions as Predictions
    from rocscope.core.sketch import CountsSketch as CountsSketch
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
    from rocscope.decisions.distributions import Beta as Beta
    from rocscope.decisions.distributions import LogNormal as LogNormal
    from rocscope.decisions.h_measure import h_measure as h_measure
    from rocscope.decisions.hull import hull as hull
    from rocscope.decisions.mixture import mixture as mixture
    from rocscope.decisions.partial import partial_lift_chart as partial_lift_chart
    from rocscope.decisions.prior_shift import correct_probabilities as correct_probabilities
    from rocscope.decisions.prior_shift import estimate_prevalence as estimate_prevalence
    from rocscope.decisions.prior_shift import reweight as reweight
    from rocscope.decisions.uncertain import UncertainContext as UncertainContext
    from rocscope.decisions.uncertain import Uniform as Uniform
    from rocscope.decisions.zones import HullVertex as HullVertex
    from rocscope.engines.counting import read_counts as read_counts
    from rocscope.engines.reading import read as read
    from rocscope.engines.sketching import read_sketch as read_sketch
    from rocscope.estimators.auc_tree import AUCTreeClassifier as AUCTreeClassifier
    from rocscope.estimators.class_weights import ClassWeightClassifier as ClassWeightClassifier
    from rocscope.estimators.hull import HullClassifier as HullClassifier
    from rocscope.estimators.resampled import ResampledClassifier as ResampledClassifier
    from rocscope.estimators.smoothed_tree import SmoothedTreeClassifier as SmoothedTreeClassifier
    from rocscope.estimators.threshold import ThresholdClassifier as ThresholdClassifier
    from rocscope.evaluation import protocols as protocols
    from rocscope.evaluation.average_curve import average_curve as average_curve
    from rocscope.evaluation.compare_datasets import compare_datasets as compare_datasets
    from rocscope.evaluation.compare_folds import compare_folds as compare_folds
    from rocscope.evaluation.evaluate import evaluate as evaluate
    from rocscope.evaluation.fitted import from_estimator as from_estimator
    from rocscope.evaluation.learning_curve import learning_curve as learning_curve
    from rocscope.evaluation.optimism import optimism as optimism
    from rocscope.evaluation.out_of_bag import bootstrap_632 as bootstrap_632
    from rocscope.evaluation.practical import practical_equivalence as practical_equivalence
    from rocscope.evaluation.ranks import friedman as friedman
    from rocscope.inference import planning as planning
    from rocscope.inference.auc import auc_interval as auc_interval
    from rocscope.inference.bands import band as band
    from rocscope.inference.bootstrap import bootstrap as bootstrap
    from rocscope.inference.compare import compare as compare
    from rocscope.inference.costs import compare_costs as compare_costs
    from rocscope.inference.crisp import compare_errors as compare_errors
    from rocscope.inference.crisp import mcnemar as mcnemar
    from rocscope.inference.drift import drift as drift
    from rocscope.inference.multiplicity import adjust_p_values as adjust_p_values
    from rocscope.inference.permutation import compare_curves as compare_curves
    from rocscope.inference.proportions import joint_region as joint_region
    from rocscope.inference.proportions import rate_intervals as rate_intervals
    from rocscope.inference.rank_test import mann_whitney as mann_whitney
    from rocscope.inference.smoothing import smooth_roc as smooth_roc
    from rocscope.multiclass.auc import multiclass_auc as multiclass_auc
    from rocscope.multiclass.class_decision import ClassWeights as ClassWeights
    from rocscope.multiclass.confusion import ConfusionMatrix as ConfusionMatrix
    from rocscope.multiclass.costs import CostMatrix as CostMatrix
    from rocscope.multiclass.predictions import MulticlassPredictions as MulticlassPredictions
    from rocscope.multiclass.vus import vus as vus
    from rocscope.multiclass.weights import class_weights as class_weights
    from rocscope.plotting.figures import plot_calibration as plot_calibration
    from rocscope.plotting.figures import plot_lift_chart as plot_lift_chart
    from rocscope.plotting.figures import plot_roc as plot_roc
    from rocscope.plotting.figures import plot_three as plot_three
    from rocscope.plotting.learning import plot_learning_curve as plot_learning_curve
    from rocscope.plotting.ranks import plot_critical_difference as plot_critical_difference
    from rocscope.plotting.regions import plot_regions as plot_regions
    from rocscope.reliability.bridge import CalibrationFunction as CalibrationFunction
    from rocscope.reliability.bridge import ContinuousCalibration as ContinuousCalibration
    from rocscope.reliability.calibration import calibration as calibration
    from rocscope.reliability.cox import cox_calibration as cox_calibration
    from rocscope.reliability.discrepancy import calibration_error as calibration_error
    from rocscope.reliability.discrepancy import calibration_index as calibration_index
    from rocscope.reliability.discrepancy import smooth_calibration_error as smooth_calibration_error
    from rocscope.reliability.goodness import hosmer_lemeshow_test as hosmer_lemeshow_test
    from rocscope.reliability.goodness import miscalibration_test as miscalibration_test
    from rocscope.reliability.goodness import spiegelhalter_test as spiegelhalter_test
    from rocscope.reliability.recalibration.cross import load_recalibrator as load_recalibrator
    from rocscope.reliability.recalibration.cross import recalibrate as recalibrate
    from rocscope.reliability.recalibration.cross import recalibrator as recalibrator
    from rocscope.reliability.report import calibration_report as calibration_report
    from rocscope.reliability.scores import brier as brier
    from rocscope.reliability.scores import decompose as decompose
    from rocscope.reliability.scores import log_loss as log_loss
    from rocscope.report import Report as Report

__version__ = "0.1.0"

_HOME = {
    "AUCTreeClassifier": "estimators.auc_tree",
    "Beta": "decisions.distributions",
    "BinnedCounts": "core.binned",
    "CalibrationFunction": "reliability.bridge",
    "Campaign": "core.campaign",
    "ClassWeightClassifier": "estimators.class_weights",
    "ClassWeights": "multiclass.class_decision",
    "Comparison": "core.estimate",
    "Comparisons": "core.estimate",
    "ConfusionMatrix": "multiclass.confusion",
    "Constraint": "decisions.constraints",
    "Context": "core.context",
    "ContinuousCalibration": "reliability.bridge",
    "CostMatrix": "multiclass.costs",
    "CountsSketch": "core.sketch",
    "Decision": "decisions.decision",
    "Estimate": "core.estimate",
    "HullClassifier": "estimators.hull",
    "HullVertex": "decisions.zones",
    "LogNormal": "decisions.distributions",
    "MulticlassPredictions": "multiclass.predictions",
    "OperatingPoint": "core.point",
    "Predictions": "core.predictions",
    "Report": "report",
    "ResampledClassifier": "estimators.resampled",
    "SmoothedTreeClassifier": "estimators.smoothed_tree",
    "ThresholdClassifier": "estimators.threshold",
    "ThresholdCounts": "core.counts",
    "UncertainContext": "decisions.uncertain",
    "Uniform": "decisions.uncertain",
    "adjust_p_values": "inference.multiplicity",
    "auc": "curves.roc",
    "auc_interval": "inference.auc",
    "average_curve": "evaluation.average_curve",
    "band": "inference.bands",
    "bootstrap": "inference.bootstrap",
    "bootstrap_632": "evaluation.out_of_bag",
    "brier": "reliability.scores",
    "brier_curve": "curves.cost",
    "calibration": "reliability.calibration",
    "calibration_error": "reliability.discrepancy",
    "calibration_index": "reliability.discrepancy",
    "calibration_report": "reliability.report",
    "choose": "decisions.choose",
    "class_weights": "multiclass.weights",
    "compare": "inference.compare",
    "compare_costs": "inference.costs",
    "compare_curves": "inference.permutation",
    "compare_datasets": "evaluation.compare_datasets",
    "compare_errors": "inference.crisp",
    "compare_folds": "evaluation.compare_folds",
    "correct_probabilities": "decisions.prior_shift",
    "cost_curve": "curves.cost",
    "cox_calibration": "reliability.cox",
    "decompose": "reliability.scores",
    "det": "curves.detection",
    "estimate_prevalence": "decisions.prior_shift",
    "drift": "inference.drift",
    "friedman": "evaluation.ranks",
    "evaluate": "evaluation.evaluate",
    "from_estimator": "evaluation.fitted",
    "gain": "curves.lift",
    "h_measure": "decisions.h_measure",
    "hosmer_lemeshow_test": "reliability.goodness",
    "hull": "decisions.hull",
    "joint_region": "inference.proportions",
    "learning_curve": "evaluation.learning_curve",
    "lift": "curves.lift",
    "lift_chart": "curves.lift",
    "load_recalibrator": "reliability.recalibration.cross",
    "log_loss": "reliability.scores",
    "mann_whitney": "inference.rank_test",
    "mcnemar": "inference.crisp",
    "miscalibration_test": "reliability.goodness",
    "mixture": "decisions.mixture",
    "multiclass_auc": "multiclass.auc",
    "net_benefit": "curves.net_benefit",
    "optimism": "evaluation.optimism",
    "partial_lift_chart": "decisions.partial",
    "plan_campaign": "decisions.campaign",
    "plot_calibration": "plotting.figures",
    "plot_critical_difference": "plotting.ranks",
    "plot_learning_curve": "plotting.learning",
    "plot_lift_chart": "plotting.figures",
    "plot_regions": "plotting.regions",
    "plot_roc": "plotting.figures",
    "plot_three": "plotting.figures",
    "practical_equivalence": "evaluation.practical",
    "precision_recall": "curves.precision_recall",
    "profit": "curves.profit",
    "rate_intervals": "inference.proportions",
    "read": "engines.reading",
    "read_counts": "engines.counting",
    "read_sketch": "engines.sketching",
    "recalibrate": "reliability.recalibration.cross",
    "recalibrator": "reliability.recalibration.cross",
    "reweight": "decisions.prior_shift",
    "roc": "curves.roc",
    "smooth_calibration_error": "reliability.discrepancy",
    "smooth_roc": "inference.smoothing",
    "spiegelhalter_test": "reliability.goodness",
    "vus": "multiclass.vus",
}
_MODULES = {
    "datasets": "datasets",
    "errors": "errors",
    "metrics": "metrics",
    "planning": "inference.planning",
    "protocols": "evaluation.protocols",
}

__all__ = ["__version__", *_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rocscope.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'rocscope' has no attribute {name!r}")
    value = getattr(import_module(f"rocscope.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
