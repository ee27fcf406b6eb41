from .by_segment import compare_segments as compare_segments
from .segmented_counts import SegmentedCounts as SegmentedCounts
