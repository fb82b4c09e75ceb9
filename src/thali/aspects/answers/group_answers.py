"""What is said of groups of people: features with a weight in each."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.view import Posterior

from ..draws.columns import columns_of
from .features import checked_probability, distinct_owners, features_table
from .group_tree import tree_of_group
from .kind import of_data
from .presence import add_convergence

if TYPE_CHECKING:
    import pandas
    import xarray

MOST_COMPARED = 4  # groups, of which every two are compared feature by feature


def group_features_table(
    tree: "xarray.DataTree", min_probability: float = 0.05, similar: Any = None
) -> "pandas.DataFrame":
    """The features with a weight in each group, in the order of `features_table`.

    Columns: members, for each group `weight[group]`, `weight_low[group]` and `weight_high[group]` given that the
    feature is there, for every two of up to four groups `P(A > B)`, copies, those of
    `convergence_of`, probability.
    """
    from thali._tables import Table

    checked_probability(min_probability)
    if similar is not None:
        raise ArgumentError(
            Argument("similar"),
            " is for one group of people; take the model of one, of_group(name), or of one kind, of_kind(1).",
        )
    names = Posterior(tree).groups
    table = features_table(tree_of_group(tree, names[0]), min_probability)
    drawn = group_weight_draws(tree, table["members"].tolist())
    rows = []
    for members, weights, present in zip(table["members"], *drawn, strict=True):
        row: dict[str, Any] = {"members": members}
        there = weights[:, present]
        for name, values in zip(names, there, strict=True):
            low, high = np.quantile(values, TAILS)
            row |= {f"weight[{name}]": values.mean(), f"weight_low[{name}]": low, f"weight_high[{name}]": high}
        if len(names) <= MOST_COMPARED:
            for a, b in combinations(range(len(names)), 2):
                row[f"P({names[a]} > {names[b]})"] = float(np.mean(there[a] > there[b]))
        rows.append(row)
    found = Table(rows, columns=None if rows else ["members"])
    found = found.assign(copies=table["copies"].to_numpy(), probability=table["probability"].to_numpy())
    found = add_convergence(found, tree_of_group(tree, names[0]))
    found.attrs |= {
        "groups": list(names),
        "options": int(tree["posterior"].sizes["option"]),
        "shares": not of_data(tree_of_group(tree, names[0])).of_several,
        "interval": INTERVAL,
    }
    return found


def group_weight_draws(
    tree: "xarray.DataTree", features: "list[tuple[str, ...]]"
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of each feature the sum of the weights of its copies (group, draw), and in which draws it is."""
    names, labels = Posterior(tree).groups, [str(x) for x in tree["posterior"].dataset["option"].values]
    by_group = [columns_of(tree_of_group(tree, name)) for name in names]
    first = by_group[0]
    patterns, pattern = distinct_owners(first)
    number_of = {tuple(labels[i] for i in owners): number for number, owners in enumerate(patterns)}
    weights, present = [], []
    for members in features:
        own = pattern == number_of[tuple(members)]
        draw = first.draw[own]
        weights.append(
            np.array([np.bincount(draw, columns.weights[own], minlength=first.n_draws) for columns in by_group])
        )
        present.append(np.bincount(draw, minlength=first.n_draws) > 0)
    return weights, present
