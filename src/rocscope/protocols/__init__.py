"""Protocols, which split rows into training and test rows.

The argument `cv` of functions that cross-validate accepts a number of folds, a protocol or its name, any splitter of
scikit-learn, or pairs of arrays of row numbers.
"""

from rocscope._base.public_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
