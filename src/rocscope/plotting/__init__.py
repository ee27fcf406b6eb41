"""Plot results with Matplotlib.

A function that draws a single plot takes an optional ``ax`` and returns the Axes. A function that draws several plots
returns the Figure. To change the style of a plot, use the returned object, for example ``ax.lines`` or
``ax.get_legend()``.
"""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
