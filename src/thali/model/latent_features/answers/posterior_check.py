"""The posterior predictive check, of paired comparisons, choices, best and worst, similarities, or triplets."""

import math
from typing import TYPE_CHECKING, Any

from thali.data.kinds import BEST_WORST, CHOICES, SIMILARITIES, TRIPLETS

from .check import pair_check_table
from .check_best_worst import best_worst_check_table
from .check_kinds import kinds_check_table
from .check_sets import set_check_table
from .check_similarities import similarity_check_table
from .check_ties import tied_check_table
from .check_triplets import triplet_check_table
from .group_tree import group_names, is_grouped, tree_of_group
from .kind import kind_of, of_known_data
from .kinds_aligned import is_of_kinds

if TYPE_CHECKING:
    import pandas
    import xarray


def check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """What was observed against replicates of the model: a row a pair, or a member of a set."""
    if is_of_kinds(tree):
        return kinds_check_table(tree, random_seed)
    if is_grouped(tree):
        return group_check_table(tree, random_seed)
    tree = of_known_data(tree, "check")
    if kind_of(tree) == SIMILARITIES:
        return similarity_check_table(tree, random_seed)
    if kind_of(tree) == TRIPLETS:
        return triplet_check_table(tree, random_seed)
    if kind_of(tree) == BEST_WORST:
        return best_worst_check_table(tree, random_seed)
    if kind_of(tree) == CHOICES:
        return set_check_table(tree, random_seed)
    of_pairs = tied_check_table if tree["constant_data"].dataset["has_ties"] else pair_check_table
    return of_pairs(tree, random_seed)


def group_check_table(tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
    """The checks of all groups with a first column `group`, the worst first.

    ``attrs["p_values"]`` has the overall p-value of each group, ``attrs["p_value"]`` the smallest times their number.
    """
    import pandas as pd

    from thali._tables import Table

    tables = {name: check_table(tree_of_group(tree, name), random_seed) for name in group_names(tree)}
    joined = pd.concat([table.assign(group=name) for name, table in tables.items()])
    joined.insert(0, "group", joined.pop("group"))
    found = Table(joined.sort_values("p_value", kind="stable", ignore_index=True))
    first = next(iter(tables.values())).attrs
    p_values = {name: float(table.attrs["p_value"]) for name, table in tables.items()}
    known = [p for p in p_values.values() if not math.isnan(p)]
    found.attrs = first | {
        "p_value": min(1.0, len(known) * min(known)) if known else math.nan,
        "p_values": p_values,
        "expected_missed": sum(table.attrs["expected_missed"] for table in tables.values()),
    }
    return found
