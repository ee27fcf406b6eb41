from .auc_tree import AUCTreeClassifier as AUCTreeClassifier
from .class_weights import ClassWeightClassifier as ClassWeightClassifier
from .hull import HullClassifier as HullClassifier
from .resampled import ResampledClassifier as ResampledClassifier
from .smoothed_tree import SmoothedTreeClassifier as SmoothedTreeClassifier
from .threshold import ThresholdClassifier as ThresholdClassifier
