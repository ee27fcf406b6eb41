"""Static figures with matplotlib; nothing is computed here.

A function that draws one plot takes ``ax`` and returns it (a new one when it is left out); one that draws several
returns the Figure. Everything drawn is reached from there: ``ax.lines``, ``ax.get_legend()``.
"""

from rocscope.plotting.curves import plot_curve
from rocscope.plotting.export import svg
from rocscope.plotting.figures import plot_calibration, plot_lift_chart, plot_roc, plot_three
from rocscope.plotting.learning import plot_learning_curve
from rocscope.plotting.ranks import plot_critical_difference
from rocscope.plotting.regions import plot_regions

__all__ = [
    "plot_calibration",
    "plot_critical_difference",
    "plot_curve",
    "plot_learning_curve",
    "plot_lift_chart",
    "plot_regions",
    "plot_roc",
    "plot_three",
    "svg",
]
