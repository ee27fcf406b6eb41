from .areas import compare_multiclass_auc as compare_multiclass_auc, multiclass_auc as multiclass_auc, vus as vus
from .calibration import (
    ClassRecalibrator as ClassRecalibrator,
    multiclass_brier as multiclass_brier,
    multiclass_calibration_curves as multiclass_calibration_curves,
    multiclass_calibration_error as multiclass_calibration_error,
    multiclass_decompose as multiclass_decompose,
    multiclass_log_loss as multiclass_log_loss,
    multiclass_score as multiclass_score,
    recalibrate_classes as recalibrate_classes,
)
from .class_weighting import ClassWeights as ClassWeights, class_weights as class_weights
from .confusion import ConfusionMatrix as ConfusionMatrix
from .costs import (
    CostMatrix as CostMatrix,
    compare_multiclass_costs as compare_multiclass_costs,
    reject_curve as reject_curve,
    shift_prior as shift_prior,
)
from .figures import multiclass_conditions as multiclass_conditions, multiclass_figure as multiclass_figure
from .predictions import MulticlassPredictions as MulticlassPredictions
