"""The posterior predictive check, of paired comparisons or of choices out of sets."""

from typing import TYPE_CHECKING, Any

from thali.data.kinds import CHOICES

from .check import pair_check_table
from .check_sets import set_check_table
from .kind import kind_of

if TYPE_CHECKING:
    import pandas
    import xarray


def check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Observed proportions against replicates of the model: a row a compared pair, or a member of a set."""
    of_kind = set_check_table if kind_of(tree) == CHOICES else pair_check_table
    return of_kind(tree, random_seed)
