"""The live workbench: the report's page over data of any size, with filters in SQL, on this machine only."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
