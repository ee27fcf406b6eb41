"""Static figures with matplotlib; nothing is computed here.

A function that draws one plot takes ``ax`` and returns it (by default a new one); one that draws several returns the
Figure. Everything drawn is reached from there: ``ax.lines``, ``ax.get_legend()``.
"""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
