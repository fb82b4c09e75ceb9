"""People of whom each has weights of their own: what each prefers, draw by draw."""

from typing import TYPE_CHECKING

import numpy as np

from thali.data.kinds import OF_GROUPS
from thali.errors import ArgumentError, Setting
from thali.people.individuals import individuals_table
from thali.posterior.dependence import RANDOM
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.view import Posterior

from ..draws.columns import columns_of, flat
from .features import features_table
from .groups import group_weight_draws, tree_of_group
from .kind import of_kind
from .options import shares_of

if TYPE_CHECKING:
    import pandas
    import xarray

MIN_PRESENT = 0.05  # probability of a feature whose weights are given


def of_everybody(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if people have no weights of their own."""
    if not Posterior(tree).has_individuals:
        raise ArgumentError(
            f"{what} is of models in which everybody differs, fitted with ", Setting("people", RANDOM), "."
        )
    return tree


def person_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Of choices everybody's share of each option, of other data the weight of each feature, with intervals."""
    seen = Posterior(tree)
    draws = seen.draws.sizes["chain"] * seen.draws.sizes["draw"]
    if of_kind(OF_GROUPS[seen.data_kind]).of_choices:
        labels = [str(label) for label in seen.draws["option"].values]
        return individuals_table(lambda some: shares_of_people(tree, some), draws, seen.groups, labels, "option")
    members = features_table(tree_of_group(tree, seen.groups[0]), MIN_PRESENT)["members"].tolist()
    weights, present = group_weight_draws(tree, members)
    drawn = np.stack([np.where(there, each, np.nan).T for each, there in zip(weights, present, strict=True)], axis=2)
    names = [", ".join(each) for each in members]
    return individuals_table(lambda some: drawn[:, some], draws, seen.groups, names, "feature")


def shares_of_people(tree: "xarray.DataTree", people: slice, draws: np.ndarray | None = None) -> np.ndarray:
    r"""Each option's share in the utilities of some of the people, (draws, people, options).

    .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}
    """
    seen, columns = Posterior(tree), columns_of(tree)
    draws = np.arange(columns.n_draws) if draws is None else draws
    features, _ = columns.take(draws).dense(0, len(draws))
    weights, own = seen.group_weights, seen.group_unique
    assert weights is not None
    shared = flat(weights.values)[draws][:, people, : features.shape[1]]
    return shares_of(shared @ features + (0.0 if own is None else flat(own.values)[draws][:, people]))


def population_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The share of each option by the common weights, with its interval."""
    import pandas as pd

    from thali._tables import Table

    seen = Posterior(tree)
    assert seen.common_worth is not None
    low, high = np.quantile(flat(seen.common_worth.values), TAILS, axis=0)
    labels = pd.Index([str(label) for label in seen.draws["option"].values], name="option")
    table = Table({"mean": flat(seen.common_worth.values).mean(axis=0), "low": low, "high": high}, labels)
    table.attrs["interval"] = INTERVAL
    return table
