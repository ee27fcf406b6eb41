"""rocscope: from the labels and scores of classifiers to decisions.

Here are the words of every day and the topics, each a folder that names what it holds. Importing it loads NumPy and
nothing heavier; every public name is loaded when it is first used.
"""

from importlib import import_module

import lazy_loader

from rocscope import _hooks

_hooks.register("plotting", lambda: import_module("rocscope.plotting"))
_hooks.register("areas", lambda: import_module("rocscope.inference.areas.auc"))
_hooks.register("device", lambda: import_module("rocscope.engines.device"))
_hooks.register("groups", lambda: import_module("rocscope.evaluation.groups.counting"))

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
