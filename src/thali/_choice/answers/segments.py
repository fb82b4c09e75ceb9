"""Preferences of everybody between levels, draw by draw, by which `segments` of people are made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.scheme import INSIDE
from thali._inference.indexing import part_bounds, space_evenly
from thali._people.segments import Preferences, select_segment_draws

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

    from ..coding import Coding

_PRODUCTS = 5  # that a level is put into


def pairs_of_levels(levels: Sequence[int]) -> list[tuple[int, int, int]]:
    """(attribute, level, later level): every pair."""
    return [(i, a, b) for i, number in enumerate(levels) for b in range(number) for a in range(b)]


def by_levels(
    by_pair: Iterable[np.ndarray], levels: Sequence[int], shape: tuple[int, ...]
) -> np.ndarray:
    r"""Mean preference for each level (last axis) over the others, from those for the later level
    of every pair.

    .. math:: v_l = \frac{1}{L - 1} \sum_{m \neq l} P(l \succ m)
    """
    first = part_bounds(levels)[:-1]
    found = np.zeros((*shape, int(np.sum(levels))))
    for (i, a, b), preferred in zip(pairs_of_levels(levels), by_pair, strict=True):
        found[..., first[i] + a] += (1.0 - preferred) / (levels[i] - 1)
        found[..., first[i] + b] += preferred / (levels[i] - 1)
    return found


def of_tastes(tastes: np.ndarray, coding: "Coding", data: "ChoiceExperiment") -> Preferences:
    r"""Preferences of tastes (draws, people, p): the probability of one of two products that differ
    in one attribute.

    .. math:: P(b \succ a) = 1 \Big/ \big(1 + e^{(x_a - x_b)^T \beta_n}\big)

    The products are those of the data, which are given one level or the other. Of many draws some
    are taken.
    """
    from scipy.special import expit

    seen = compared_levels(data)
    # number of the first attribute; 0: the no-choice option
    first_real = int(data.scheme.has_inside)
    real = data.products[(data.products >= 0).all(axis=1) & (data.products[:, 0] >= first_real)]
    real = data.products[:1] if not len(real) else real
    products = real[space_evenly(len(real), _PRODUCTS)]
    numbers, own = [len(each) for each in seen.values()], list(seen.values())

    def by_pair() -> Iterator[np.ndarray]:
        for i, a, b in pairs_of_levels(numbers):
            one, other = (_with_level(products, data.scheme, i, own[i][place]) for place in (b, a))
            steps, times = np.unique(
                coding.encode_codes(one) - coding.encode_codes(other), axis=0, return_counts=True
            )
            yield expit(tastes @ steps.T) @ (times / times.sum())

    tastes = tastes[select_segment_draws(len(tastes), data.n_respondents, sum(numbers))]
    labels = data.scheme.labels
    named = [(name, labels[name][level]) for name, kept in seen.items() for level in kept]
    return Preferences(
        tuple(named), by_levels(by_pair(), numbers, tastes.shape[:2]), tuple(data.respondents)
    )


def compared_levels(data: "ChoiceExperiment") -> Mapping[str, list[int]]:
    """Attribute -> its levels that some product has, or, of a measured one, some of them."""
    found = {}
    for place, name in enumerate(data.attributes):
        own = np.unique(data.products[:, place])
        found[name] = data.scheme.compared(name, own[own >= 0]).tolist()
    return found


def _with_level(products: np.ndarray, scheme: Any, place: int, level: int) -> np.ndarray:
    """The products with a level of an attribute; the no-choice option lacks every other
    attribute."""
    changed = products.copy()
    if scheme.has_inside and scheme.names[place] == INSIDE and level == 0:
        changed[:] = -1
    changed[:, place] = level
    return changed
