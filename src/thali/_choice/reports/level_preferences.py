"""Each respondent's preferences between levels at every draw, from which segments are formed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._data.experiments.product_encoding import INSIDE, Scheme
from thali._inference.index_arithmetic import part_bounds, space_evenly
from thali._inference.numerics.weight_shares import compute_shares
from thali._people.respondent_segments import Preferences, select_segment_draws

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

    from ..product_coding import Coding

_PRODUCTS = 5  # products in which levels are compared


def list_all_level_pairs(levels: Sequence[int]) -> list[tuple[int, int, int]]:
    """List (attribute, level, later level) for all pairs of levels of an attribute."""
    return [
        (i, a, b) for i, n_levels in enumerate(levels) for b in range(n_levels) for a in range(b)
    ]


def average_preferences(
    pair_preferences: Iterable[np.ndarray], levels: Sequence[int], shape: tuple[int, ...]
) -> np.ndarray:
    r"""Return each level's mean probability of being preferred, shape (..., levels).

    `pair_preferences` contains the probability of the later level of every pair.

    .. math:: v_l = \frac{1}{L - 1} \sum_{m \neq l} P(l \succ m)
    """
    first_level = part_bounds(levels)[:-1]
    preferences = np.zeros((*shape, int(np.sum(levels))))
    for (i, a, b), pair_preference in zip(
        list_all_level_pairs(levels), pair_preferences, strict=True
    ):
        preferences[..., first_level[i] + a] += (1.0 - pair_preference) / (levels[i] - 1)
        preferences[..., first_level[i] + b] += pair_preference / (levels[i] - 1)
    return preferences


def estimate_taste_preferences(
    tastes: np.ndarray, coding: "Coding", data: "ChoiceExperiment"
) -> Preferences:
    r"""Return preferences between levels from tastes (draws, respondents, p).

    The preference is the probability of choosing one of two products that differ in one attribute.

    .. math:: P(b \succ a) = 1 \Big/ \big(1 + e^{(x_a - x_b)^T \beta_n}\big)

    The products come from the data, with one level or the other. With many draws, some are used.
    """
    from scipy.special import expit

    compared_levels = list_compared_levels(data)
    # lowest code of the first attribute; 0 is the no-choice option
    first_real_code = int(data.scheme.has_inside)
    real_products = data.products[
        (data.products >= 0).all(axis=1) & (data.products[:, 0] >= first_real_code)
    ]
    if not len(real_products):
        real_products = data.products[:1]
    example_products = real_products[space_evenly(len(real_products), _PRODUCTS)]
    levels_by_attribute = list(compared_levels.values())
    n_levels = list(map(len, levels_by_attribute))

    def encode_level(i: int, level_index: int) -> np.ndarray:
        """Return the model-matrix rows of example products with this level."""
        level = levels_by_attribute[i][level_index]
        return coding.encode_codes(_set_level(example_products, data.scheme, i, level))

    def iterate_pair_preferences() -> Iterator[np.ndarray]:
        """Yield the preference for the second level of each pair."""
        for i, a, b in list_all_level_pairs(n_levels):
            matrix_differences = encode_level(i, b) - encode_level(i, a)
            distinct_differences, difference_counts = np.unique(
                matrix_differences, axis=0, return_counts=True
            )
            yield expit(tastes @ distinct_differences.T) @ compute_shares(difference_counts)

    tastes = tastes[select_segment_draws(len(tastes), data.n_respondents, sum(n_levels))]
    labels_by_attribute = data.scheme.labels
    return Preferences(
        tuple(
            (name, labels_by_attribute[name][level])
            for name, codes in compared_levels.items()
            for level in codes
        ),
        average_preferences(iterate_pair_preferences(), n_levels, tastes.shape[:2]),
        tuple(data.respondents),
    )


def list_compared_levels(data: "ChoiceExperiment") -> dict[str, list[int]]:
    """Return {attribute: levels shown}, or some levels of a measured attribute."""
    levels_by_attribute = {}
    for attribute_index, attribute in enumerate(data.attributes):
        codes = np.unique(data.products[:, attribute_index])
        levels_by_attribute[attribute] = data.scheme.select_compared_levels(
            attribute, codes[codes >= 0]
        ).tolist()
    return levels_by_attribute


def _set_level(
    products: np.ndarray, scheme: Scheme, attribute_index: int, level: int
) -> np.ndarray:
    """Return products with one attribute set to this level."""
    # The no-choice option lacks all other attributes.
    changed_products = products.copy()
    if scheme.has_inside and scheme.names[attribute_index] == INSIDE and level == 0:
        changed_products[:] = -1
    changed_products[:, attribute_index] = level
    return changed_products
