"""What a person chooses of whom only the answers of others are known: a mixture over kinds."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError
from thali.posterior.summary import mean_errors
from thali.posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.probabilities import probability_draws
from .group_tree import tree_of_group
from .kinds_aligned import as_groups, members, number_of_kinds, order_of_kinds
from .kinds_tree import shares_of_new
from .predict import places_of

if TYPE_CHECKING:
    import xarray


def predicted_of_new(tree: "xarray.DataTree", sets: Any, return_se: bool) -> Any:
    """For pairs the probability that the first is chosen; of `Choices` out of pairs those of both."""
    places, paired = places_of(sets, [str(x) for x in tree["posterior"].dataset["option"].values])
    if any(len(each) != 2 for each in places):
        raise ArgumentError(
            "Of kinds of people pairs are predicted; for larger sets ask the model of a kind, of_kind(1)."
        )
    first, second = np.array(places, np.int64).reshape(-1, 2).T
    draws = new_person_draws(tree, first, second)
    p, chains = draws.mean(axis=0), tree["posterior"].sizes["chain"]

    def as_asked(values: np.ndarray, others: np.ndarray) -> Any:
        return values if paired else list(np.stack([values, others], axis=1))

    found = as_asked(p, 1.0 - p)
    if not return_se:
        return found
    errors = mean_errors(draws.T.reshape(len(first), chains, -1))
    return found, as_asked(errors, errors)


def new_person_draws(tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The probability that a new person chooses the first of each pair, draw by draw."""
    share, lapse = aligned_shares(tree), float(tree["constant_data"].dataset["lapse"])
    groups, found = as_groups(tree), np.zeros((len(share), len(first)))
    for g, name in enumerate(Posterior(groups).groups):
        found += share[:, g, None] * probability_draws(columns_of(tree_of_group(groups, name)), first, second, lapse)
    return found


def aligned_shares(tree: "xarray.DataTree") -> np.ndarray:
    """The probability that a new person is of each common kind (draw, kind)."""
    of, number = members(tree), number_of_kinds(tree)
    sizes = np.stack([(of == g).sum(axis=1) for g in range(number)], axis=1)
    return shares_of_new(np.take_along_axis(sizes, order_of_kinds(of, number), axis=1))
