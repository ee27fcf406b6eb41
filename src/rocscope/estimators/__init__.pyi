from .classifiers import ClassWeightClassifier as ClassWeightClassifier
from .classifiers import HullClassifier as HullClassifier
from .classifiers import ResampledClassifier as ResampledClassifier
from .classifiers import ThresholdClassifier as ThresholdClassifier
from .search import Search as Search
from .trees import AUCTreeClassifier as AUCTreeClassifier
from .trees import SmoothedTreeClassifier as SmoothedTreeClassifier
