"""Rankings that are known only in ranges of the score: bins, sketches, and bounds on their figures."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
