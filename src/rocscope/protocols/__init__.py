"""Protocols: how rows are split into training and test rows.

Whatever cross-validates takes as its `cv` a number of folds, one of these, their names, any splitter of scikit-learn,
or pairs of row numbers.
"""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
