"""The posterior predictive check, of paired comparisons, choices, best and worst, similarities, or triplets."""

from typing import TYPE_CHECKING, Any

from thali.data.kinds import BEST_WORST, CHOICES, SIMILARITIES, TRIPLETS

from .check import pair_check_table
from .check_best_worst import best_worst_check_table
from .check_sets import set_check_table
from .check_similarities import similarity_check_table
from .check_ties import tied_check_table
from .check_triplets import triplet_check_table
from .kind import kind_of, of_known_data

if TYPE_CHECKING:
    import pandas
    import xarray


def check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """What was observed against replicates of the model: a row a pair, or a member of a set."""
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
