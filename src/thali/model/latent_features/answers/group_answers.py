"""What is said of groups of people: features with a weight in each, and checks by group."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.posterior.interval import TAILS

from .columns import columns_of
from .features import checked_probability, distinct_owners, features_table
from .group_tree import group_names, tree_of_group
from .posterior_check import check_table

if TYPE_CHECKING:
    import pandas
    import xarray

MOST_COMPARED = 4  # groups, of which every two are compared feature by feature


def group_features_table(tree: "xarray.DataTree", min_probability: float) -> "pandas.DataFrame":
    """The features with a weight in each group, in the order of `features_table`.

    Columns: members, for each group `weight[group]`, `weight_low[group]` and `weight_high[group]` given that the
    feature is there, for every two of up to four groups `P(A > B)`, copies, probability.
    """
    from thali._tables import Table

    checked_probability(min_probability)
    names = group_names(tree)
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
    return found.assign(copies=table["copies"].to_numpy(), probability=table["probability"].to_numpy())


def group_weight_draws(
    tree: "xarray.DataTree", features: "list[tuple[str, ...]]"
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of each feature the sum of the weights of its copies (group, draw), and in which draws it is."""
    names, labels = group_names(tree), [str(x) for x in tree["posterior"].dataset["option"].values]
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


def group_check_table(tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
    """The checks of all groups with a first column `group`, the worst first; attrs has the p-value of each."""
    import pandas as pd

    from thali._tables import Table

    tables = {name: check_table(tree_of_group(tree, name), random_seed) for name in group_names(tree)}
    joined = pd.concat([table.assign(group=name) for name, table in tables.items()])
    joined.insert(0, "group", joined.pop("group"))
    found = Table(joined.sort_values("p_value", kind="stable", ignore_index=True))
    first = next(iter(tables.values())).attrs
    found.attrs = first | {
        "p_value": min(1.0, len(tables) * float(np.nanmin([table.attrs["p_value"] for table in tables.values()]))),
        "p_values": {name: table.attrs["p_value"] for name, table in tables.items()},
        "expected_missed": sum(table.attrs["expected_missed"] for table in tables.values()),
    }
    return found
