from .description import ColumnFacts as ColumnFacts, Description as Description, describe as describe
from .reading import read as read, read_at_horizon as read_at_horizon, read_counts as read_counts
from .streaming import read_sketch as read_sketch
