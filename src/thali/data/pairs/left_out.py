"""A pair of options all of whose comparisons a model was fitted without."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class LeftPair(NamedTuple):
    """All comparisons of a pair; those with the same covariates are a cell."""

    pair: tuple[str, str]
    counts: np.ndarray  # (cells, outcomes): the first option was chosen, neither was (if there are ties), the second
    covariates: dict[str, np.ndarray] | None = None  # of comparisons, by name one number a cell; None: there are none

    def known(self, names: Iterable[str]) -> dict[str, np.ndarray] | None:
        """Those of the covariates that have one of these names; None: the comparisons have no covariates."""
        if self.covariates is None:
            return None
        return {name: values for name, values in self.covariates.items() if name in names}
