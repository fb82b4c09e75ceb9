"""Random rows of the design."""

from typing import Any

import numpy as np

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import index


@scalar
def row_with(rng: np.random.Generator, codes: Any, rows: Any, i: Any, least: Any) -> Any:
    """A random row of the design in which attribute i has a level of `least` or more."""
    while True:
        product = rows[index(rng, rows.shape[0])]
        if codes[product, i] >= least:
            return product
