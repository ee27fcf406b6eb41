"""Study planning: power and sample size for tests and confidence intervals."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
