from .sample_size import (
    Pilot as Pilot,
    StudyPlan as StudyPlan,
    auc_power as auc_power,
    auc_sample_size as auc_sample_size,
    auc_variance as auc_variance,
    auc_width_sample_size as auc_width_sample_size,
    comparison_power as comparison_power,
    comparison_sample_size as comparison_sample_size,
    detectable_auc as detectable_auc,
    rate_sample_size as rate_sample_size,
)
