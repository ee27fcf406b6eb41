from .class_weights import ClassWeightClassifier as ClassWeightClassifier
from .hull import HullClassifier as HullClassifier
from .resampled import ResampledClassifier as ResampledClassifier
from .threshold import ThresholdClassifier as ThresholdClassifier
from .trees import AUCTreeClassifier as AUCTreeClassifier
from .trees import SmoothedTreeClassifier as SmoothedTreeClassifier
