"""Predictions for pairs that a fit has not seen."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import DataError

from ..latent_features.answers.binomial import log_binomial
from .estimates import Estimates
from .fit import at_maximum
from .identify import check_identified

if TYPE_CHECKING:
    import pandas


def leave_one_out(found: Estimates) -> "pandas.DataFrame":
    """Every compared pair, predicted from a fit to the others."""
    from thali._tables import Table

    data = found.data
    predicted = np.empty(data.n_pairs)
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        a, b = data.labels[i], data.labels[j]
        try:
            others = data.without_pair(a, b)
            check_identified(found.known, others)
            fit = at_maximum(others, found.known, found.lapse)
        except DataError as error:
            raise DataError(f"Without the pair {a!r}, {b!r}: ", error) from None
        predicted[pair] = fit.probabilities(np.array([i]), np.array([j]))[0]
    table = Table(data.proportions().rename(columns={"proportion": "observed"}))
    table["predicted"] = predicted
    nll = -log_binomial(data.wins, data.losses, predicted)
    table["nll"] = nll
    table.attrs["nll"] = float(np.mean(nll))
    return table
