"""rocscope: from the labels and scores of classifiers to decisions.

Here are the words of every day and the topics, each a folder that names what it holds. Importing it loads NumPy and
nothing heavier; every public name is loaded when it is first used.
"""

from importlib import import_module

from rocscope._base.public_names import attach, register

register("plotting", lambda: import_module("rocscope.plotting"))
register("calibration", lambda: import_module("rocscope.calibration"))
register("areas", lambda: import_module("rocscope.inference.areas"))
register("choices", lambda: import_module("rocscope.decisions.choosing"))
register("applying", lambda: import_module("rocscope.engines.applying"))
register("verification", lambda: import_module("rocscope.decisions.verification"))
register("device", lambda: import_module("rocscope.engines.device"))
register("segments", lambda: import_module("rocscope.segments.by_segment"))

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
