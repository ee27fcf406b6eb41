"""Naive Bayes on attributes of any kind, for trials with the data sets of the papers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10


@dataclass(frozen=True)
class Encoder:
    """From the values of one attribute, as text, to codes below `size`; the last one is for what was not seen."""

    encode: Callable[[np.ndarray], np.ndarray]
    size: int


def learn_encoder(column: np.ndarray) -> Encoder:
    """Return the distinct values as codes; ten bins of equally many rows where there are more than ten numbers."""
    values = np.unique(column)
    numbers = _numbers(values)
    if numbers is not None and numbers.size > BINS:
        edges = np.unique(np.quantile(_numbers(column), np.linspace(0, 1, BINS + 1)[1:-1]))

        def into_bins(wanted: np.ndarray) -> np.ndarray:
            missing = wanted == ""
            codes = np.searchsorted(edges, np.where(missing, "0", wanted).astype(float), side="right")
            return np.where(missing, edges.size + 1, codes)

        return Encoder(into_bins, edges.size + 2)

    def by_value(wanted: np.ndarray) -> np.ndarray:
        place = np.searchsorted(values, wanted).clip(max=values.size - 1)
        return np.where(values[place] == wanted, place, values.size)

    return Encoder(by_value, values.size + 1)


def _numbers(column: np.ndarray) -> np.ndarray | None:
    try:
        return column[column != ""].astype(float)
    except ValueError:
        return None


class NaiveBayes:
    """Class probabilities from the counts of attribute values, each with one case more (Laplace)."""

    def __init__(self, attributes: Sequence[np.ndarray], y: np.ndarray, k: int) -> None:
        self.encoders = [learn_encoder(column) for column in attributes]
        self.log_prior = np.log(np.bincount(y, minlength=k) + 1.0)
        self.log_share = []
        for encoder, column in zip(self.encoders, attributes, strict=True):
            counts = np.ones((k, encoder.size))
            np.add.at(counts, (y, encoder.encode(column)), 1)
            self.log_share.append(np.log(counts / counts.sum(axis=1, keepdims=True)))

    def probabilities(self, attributes: Sequence[np.ndarray]) -> np.ndarray:
        """Return n × k probabilities."""
        score = np.tile(self.log_prior, (attributes[0].size, 1))
        for encoder, share, column in zip(self.encoders, self.log_share, attributes, strict=True):
            score += share[:, encoder.encode(column)].T
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return score / score.sum(axis=1, keepdims=True)
