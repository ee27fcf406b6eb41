"""What is known of a ranking that was counted in ranges of the score only: bins, sketches and their bounds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
