"""Expected scores of a Bayes classifier, from probabilities instead of drawn labels."""

from __future__ import annotations

import numpy as np

from hyperdfs.datasets.base import FloatArray, IntArray

# Above the error of the tabulated posteriors.
_TIE = 1e-5


def expected_confusions(posterior: FloatArray, truth: FloatArray) -> FloatArray:
    """Expected counts ``[way to break ties, predicted, true]`` of the class of largest posterior.

    ``truth`` is p(y | all features): the label's own noise is averaged out (Rao-Blackwell), and a
    wrong ``posterior`` still loses, because it does not score itself. Both ``(n, C)``.

    A branch of which nothing is known ties in all its rows at once. Every choice is then optimal
    for accuracy but not for macro-F1, so C + 1 ways are counted: favour one class, or share evenly.
    """
    n_classes = truth.shape[1]
    tied = posterior >= posterior.max(axis=1, keepdims=True) - _TIE
    clear = tied.sum(axis=1) == 1
    decided = _count(tied[clear].argmax(axis=1), truth[clear])
    rows, weights = tied[~clear], truth[~clear]
    counts = []
    for favoured in range(n_classes):
        priority = np.roll(np.arange(n_classes), -favoured)
        counts.append(decided + _count(priority[rows[:, priority].argmax(axis=1)], weights))
    return np.stack([*counts, np.mean(counts, axis=0)])


def _count(predicted: IntArray, truth: FloatArray) -> FloatArray:
    return np.stack([truth[predicted == k].sum(axis=0) for k in range(truth.shape[1])])


def best_macro_f1(confusions: FloatArray) -> float:
    """Macro-F1 in percent under the best way to break ties; an absent class scores 0."""
    total = confusions.sum(axis=1) + confusions.sum(axis=2)
    hits = 2.0 * np.diagonal(confusions, axis1=1, axis2=2)
    f1 = np.divide(hits, total, out=np.zeros_like(total), where=total > 0)
    return float(100.0 * f1.mean(axis=1).max())


def bayes_macro_f1(posterior: FloatArray, truth: FloatArray) -> float:
    """Expected macro-F1 in percent when p(y | x_S) predicts and p(y | x) is the truth."""
    return best_macro_f1(expected_confusions(posterior, truth))
