"""What a verdict on the hierarchical logit looks at, in every draw: shares of levels among choices, level effects."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..answers.check import effect_names, level_pairs_of, levels_of_products, named_arrays, share_names

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments import ChoiceExperiment

    from ..coding import Coding


def reported(beta: np.ndarray, data: "ChoiceExperiment", coding: "Coding") -> "dict[str, xarray.DataArray]":
    r"""`share` and `effect` of every draw of tastes (chain, draw, respondent, coefficient).

    .. math::
        \text{share} = \frac1T \sum_{nt} \sum_{j} p_{ntj} 1(\text{j has the level}), \qquad
        \text{effect} = \frac1N \sum_n 1 \Big/ \big(1 + e^{-(x_b - x_a)^T \beta_n}\big)
    """
    matrix = coding.matrix(data.products)
    levels = levels_of_products(data.scheme, data.products)
    shares = np.zeros((*beta.shape[:2], levels.shape[1]))
    for person, (first, end) in enumerate(pairwise(data.first_task)):
        if end == first:
            continue
        products = data.row_product[data.first_row[first] : data.first_row[end]]
        starts = data.first_row[first:end] - data.first_row[first]
        sizes = np.diff(data.first_row[first : end + 1])
        utility = _times(beta[:, :, person], matrix[products].T)
        utility -= np.repeat(np.maximum.reduceat(utility, starts, axis=2), sizes, axis=2)
        np.exp(utility, out=utility)
        utility /= np.repeat(np.add.reduceat(utility, starts, axis=2), sizes, axis=2)
        shares += _times(utility, levels[products])
    pairs = level_pairs_of(data.scheme, np.zeros(len(data.attributes)))
    one, other = np.zeros((2, len(pairs), len(data.attributes)), np.int64)
    for number, (attribute, a, b) in enumerate(pairs):
        one[number, attribute], other[number, attribute] = b, a
    steps = coding.matrix(one) - coding.matrix(other)
    effects = np.stack([_effect(beta @ step) for step in steps], axis=-1)
    return named_arrays(shares / data.n_tasks, effects, share_names(data.scheme), effect_names(data.scheme, pairs))


def _times(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Rows (chain, draw, .) times a matrix, each in a product of its own: rounding does not know the other draws."""
    return (rows[:, :, None, :] @ matrix)[:, :, 0]


def _effect(differences: np.ndarray) -> np.ndarray:
    """The probability that the one is chosen out of two, mean over people (the last axis)."""
    from scipy.special import expit

    return expit(differences).mean(axis=-1)
