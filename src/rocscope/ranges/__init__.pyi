from .binned import BinnedCounts as BinnedCounts
from .sketch import CountsSketch as CountsSketch
