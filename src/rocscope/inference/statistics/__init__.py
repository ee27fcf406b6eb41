"""Statistics whose variance has a closed form, each from the counts of one model.

For `rocscope.compare(…, statistic=…)`, `rocscope.inference.estimate_of` and `rocscope.bootstrap` alike.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
