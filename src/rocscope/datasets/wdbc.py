"""Wisconsin diagnostic breast cancer, from scikit-learn."""

from typing import Any

import numpy as np

from rocscope.datasets.dataset import Dataset

_MEASURES = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
]

# A column's name in the published file, and in scikit-learn; likewise a class.
_NAMES = {"{}": "mean {}", "se_{}": "{} error", "worst_{}": "worst {}"}
_LABELS = {"malignant": "M", "benign": "B"}


def make() -> Dataset:
    """scikit-learn's rows under the names and the class labels of the published file."""
    from sklearn.datasets import load_breast_cancer

    bunch: Any = load_breast_cancer()
    column = dict(zip(bunch.feature_names.tolist(), bunch.data.T.copy(), strict=True))
    labels = np.array([_LABELS[diagnosis] for diagnosis in bunch.target_names])
    return Dataset(
        name="wdbc",
        X={
            ours.format(measure): column[theirs.format(measure)]
            for ours, theirs in _NAMES.items()
            for measure in _MEASURES
        },
        y=labels[bunch.target],
        positive="M",
        description="Breast masses by the cell nuclei in an image of a fine needle aspirate: mean, standard "
        "error (se) and worst value of ten measures; class: M is malignant, B benign.",
        source="W. N. Street, W. H. Wolberg and O. L. Mangasarian, Nuclear feature extraction for breast "
        "tumor diagnosis, SPIE 1905, 1993, 861-870; UCI Machine Learning Repository (CC BY 4.0), "
        "donors W. H. Wolberg, W. N. Street and O. L. Mangasarian, 1995.",
    )
