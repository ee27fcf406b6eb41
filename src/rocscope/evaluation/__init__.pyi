from .averaging import average_curve as average_curve
from .comparison import (
    compare_datasets as compare_datasets,
    compare_folds as compare_folds,
    friedman as friedman,
    practical_equivalence as practical_equivalence,
)
from .evaluating import evaluate as evaluate, from_estimator as from_estimator, optimism as optimism
from .learning import bootstrap_632 as bootstrap_632, learning_curve as learning_curve
from .nested import nested_cross_validation as nested_cross_validation
