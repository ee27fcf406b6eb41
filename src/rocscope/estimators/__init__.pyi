from .class_balance import ClassWeightClassifier as ClassWeightClassifier
from .class_balance import ResampledClassifier as ResampledClassifier
from .hull import HullClassifier as HullClassifier
from .search import Search as Search
from .threshold import ThresholdClassifier as ThresholdClassifier
from .trees import AUCTreeClassifier as AUCTreeClassifier
from .trees import SmoothedTreeClassifier as SmoothedTreeClassifier
