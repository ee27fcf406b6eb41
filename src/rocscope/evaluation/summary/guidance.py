"""What is to be reported of a model that is validated, and where this package says it: STRATOS and TRIPOD+AI."""

from typing import NamedTuple


class SummaryMeasure(NamedTuple):
    """A number of the summary: its heading, its domain, and what it is where all is as it should be."""

    heading: str
    domain: str
    ideal: float | None = None


DOMAINS = ("discrimination", "calibration", "overall", "classification", "utility")
"""The five domains of the STRATOS guidance (Van Calster et al. 2025)."""

MEASURES = {
    "auc": SummaryMeasure("AUC", "discrimination", 1),
    "observed_over_expected": SummaryMeasure("O/E", "calibration", 1),
    "in_the_large": SummaryMeasure("in the large", "calibration", 0),
    "intercept": SummaryMeasure("intercept", "calibration", 0),
    "slope": SummaryMeasure("slope", "calibration", 1),
    "ici": SummaryMeasure("ICI", "calibration", 0),
    "e50": SummaryMeasure("E50", "calibration", 0),
    "e90": SummaryMeasure("E90", "calibration", 0),
    "ece": SummaryMeasure("ECE", "calibration", 0),
    "brier": SummaryMeasure("Brier", "overall", 0),
    "scaled_brier": SummaryMeasure("scaled Brier", "overall", 1),
    "brier_miscalibration": SummaryMeasure("miscalibration", "overall", 0),
    "log_loss": SummaryMeasure("log loss", "overall", 0),
    "tpr": SummaryMeasure("TPR", "classification", 1),
    "tnr": SummaryMeasure("TNR", "classification", 1),
    "precision": SummaryMeasure("precision", "classification", 1),
    "npv": SummaryMeasure("NPV", "classification", 1),
    "accuracy": SummaryMeasure("accuracy", "classification", 1),
    "net_benefit": SummaryMeasure("net benefit", "utility"),
    "expected_cost": SummaryMeasure("cost per case", "utility"),
    "miscalibration_cost": SummaryMeasure("cost of acting on p", "utility", 0),
}
"""Every number of a summary, in the order in which it is shown."""

NEEDS_PROBABILITIES = tuple(
    name
    for name, measure in MEASURES.items()
    if measure.domain in ("calibration", "overall") or name in ("net_benefit", "miscalibration_cost")
)

TRIPOD = {
    "12d": "heterogeneity of performance: how it was handled and quantified",
    "12e": "all measures used to evaluate performance (discrimination, calibration, clinical utility)",
    "14": "fairness: performance in each group that matters",
    "15": "output of the model, and how the threshold of a classification was found",
    "21": "number of participants and of outcome events in each analysis",
    "23a": "performance with confidence intervals, in key subgroups too",
    "23b": "heterogeneity of performance across clusters",
}
"""Items of TRIPOD+AI (Collins et al. 2024) that a summary can answer; the others are for authors alone."""

REFERENCES = (
    "Van Calster et al. 2025, Lancet Digital Health, performance measures in predictive AI (STRATOS)",
    "Collins et al. 2024, BMJ 385:e078378 (TRIPOD+AI)",
)


def answered(by: str | None) -> dict[str, bool]:
    """Return for each item of TRIPOD+AI whether a summary in such parts answers it."""
    parts = by is not None
    return dict.fromkeys(TRIPOD, True) | {"12d": parts, "14": by == "segment", "23b": parts}
