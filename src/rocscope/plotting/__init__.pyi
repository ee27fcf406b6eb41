from .curves import plot_curve as plot_curve
from .decisions import plot_campaign as plot_campaign, plot_regions as plot_regions
from .evaluation import (
    plot_critical_difference as plot_critical_difference,
    plot_drift as plot_drift,
    plot_learning_curve as plot_learning_curve,
    plot_over_time as plot_over_time,
    plot_uplift as plot_uplift,
    plot_uplift_parts as plot_uplift_parts,
)
from .figures import (
    plot_calibration as plot_calibration,
    plot_isometrics as plot_isometrics,
    plot_lift_chart as plot_lift_chart,
    plot_roc as plot_roc,
    plot_segments as plot_segments,
    plot_three as plot_three,
)
from .multiclass import (
    plot_class_calibrations as plot_class_calibrations,
    plot_class_rocs as plot_class_rocs,
    plot_confusion as plot_confusion,
    plot_pairwise_auc as plot_pairwise_auc,
    plot_simplex as plot_simplex,
)
from .theme import svg as svg
