"""What is known of a ranking that was counted in ranges of the score only: bins, sketches and their bounds."""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
