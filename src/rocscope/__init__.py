"""rocscope: from the labels and scores of classifiers to decisions.

Here are the words of every day and the topics, each a folder that names what it holds. Importing it loads NumPy and
nothing heavier; every public name is loaded when it is first used.
"""

from importlib import import_module

from rocscope._base.public_names import attach, register

# What a lower layer calls of a higher one, which it may not import: who calls it, and why.
# Curves, plans, uplift and learning curves have a method plot().
register("plotting", lambda: import_module("rocscope.plotting"))
# figures.registry: figures of probabilities, such as the calibration error, have one name each beside all others.
register("calibration", lambda: import_module("rocscope.calibration"))
# curves: the text of a ROC curve names the interval of its area.
register("auc_intervals", lambda: import_module("rocscope.inference.areas"))
# inference.expected_costs: each model is compared at the cheapest threshold, where none is given.
register("choosing", lambda: import_module("rocscope.decisions.choosing"))
# decisions.plan: a plan applies itself to files and tables, which the engines read.
register("plan_application", lambda: import_module("rocscope.engines.applying"))
# decisions.plan: a plan verifies itself with what made it, all of which import plans.
register("plan_verification", lambda: import_module("rocscope.decisions.verification"))
# core.counts: rows in the memory of a GPU are ranked there.
register("gpu_ranking", lambda: import_module("rocscope.engines.device"))
# core.predictions: rows are counted by segment.
register("by_segment", lambda: import_module("rocscope.segments.by_segment"))
# decisions.loading and monitoring: plans of several classes are loaded and monitored like those of two.
register("class_monitoring", lambda: import_module("rocscope.multiclass.monitoring"))
# decisions.monitoring: other plans than decisions of one threshold.
register("plan_monitoring", lambda: import_module("rocscope.outcomes.plan_monitoring"))

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__)
