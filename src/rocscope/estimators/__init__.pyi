from .classifiers import (
    ClassWeightClassifier as ClassWeightClassifier,
    HullClassifier as HullClassifier,
    ResampledClassifier as ResampledClassifier,
    ThresholdClassifier as ThresholdClassifier,
)
from .search import Search as Search
from .trees import AUCTreeClassifier as AUCTreeClassifier, SmoothedTreeClassifier as SmoothedTreeClassifier
