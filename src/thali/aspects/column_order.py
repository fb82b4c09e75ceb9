"""The order in which a pass visits the columns."""

from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import shuffle

from .state import COLUMNS


@scalar
def shuffle_columns(rng: Any, b: Any) -> Any:
    """All columns into b.order, in uniformly random order; returns how many there are.

    New columns are stored last, so the order of storage depends on weights and owners.
    """
    columns = b.whole[COLUMNS]
    for k in range(columns):
        b.order[k] = k
    shuffle(rng, b.order, columns)
    return columns
