"""Static figures with matplotlib; nothing is computed here.

A function that draws one plot takes ``ax`` and returns it (a new one when it is left out); one that draws several
returns the Figure. Everything drawn is reached from there: ``ax.lines``, ``ax.get_legend()``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
