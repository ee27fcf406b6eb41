from .bridge import CalibrationFunction as CalibrationFunction, ContinuousCalibration as ContinuousCalibration
from .cost_of_miscalibration import (
    MiscalibrationCostCurve as MiscalibrationCostCurve,
    miscalibration_cost as miscalibration_cost,
)
from .curve import calibration_curve as calibration_curve
from .distances import (
    calibration_error as calibration_error,
    calibration_index as calibration_index,
    smooth_calibration_error as smooth_calibration_error,
)
from .goodness_of_fit import (
    cox_calibration as cox_calibration,
    hosmer_lemeshow_test as hosmer_lemeshow_test,
    miscalibration_test as miscalibration_test,
    spiegelhalter_test as spiegelhalter_test,
)
from .recalibration import (
    load_recalibrator as load_recalibrator,
    recalibrate as recalibrate,
    recalibrator as recalibrator,
)
from .report import calibration_report as calibration_report, val_prob as val_prob
from .scoring_rules import brier as brier, decompose as decompose, log_loss as log_loss
