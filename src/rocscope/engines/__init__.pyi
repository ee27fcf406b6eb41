from .description import ColumnFacts as ColumnFacts
from .description import Description as Description
from .description import describe as describe
from .reading import read as read
from .reading import read_at_horizon as read_at_horizon
from .reading import read_counts as read_counts
from .streaming import read_sketch as read_sketch
