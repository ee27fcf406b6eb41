"""Draw static figures with matplotlib from computed results.

A function that draws one plot takes ``ax`` (by default a new one) and returns it. A function that draws several plots
returns the Figure. Use ``ax.lines``, ``ax.get_legend()`` and so on to change the artists.
"""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
