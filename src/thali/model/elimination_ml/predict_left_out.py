"""Predictions for pairs that a fit has not seen."""

from typing import TYPE_CHECKING

import numpy as np

from thali.data.choices import Choices
from thali.errors import DataError

from ..latent_features.answers.binomial import log_binomial
from ..latent_features.answers.ties import log_multinomial, outcomes
from .estimates import Estimates
from .fit import at_maximum
from .identify import check_identified

if TYPE_CHECKING:
    import pandas


def leave_one_out(found: Estimates) -> "pandas.DataFrame":
    """Every compared pair, predicted from a fit to the others."""
    from thali._tables import Table

    data = found.data
    if isinstance(data, Choices):
        raise DataError("leave_one_out is for pairs; compare leaves choices out of sets out.")
    ties = found.tie is not None
    predicted, tie = np.empty((2, data.n_pairs))
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        a, b = data.labels[i], data.labels[j]
        try:
            others = data.without_pair(a, b)
            check_identified(found.known, others)
            fit = at_maximum(others, found.known, found.lapse, ties and others.n_ties > 0)
        except DataError as error:
            raise DataError(f"Without the pair {a!r}, {b!r}: ", error) from None
        predicted[pair] = fit.probabilities(np.array([i]), np.array([j]))[0]
        tie[pair] = fit.tie or 0.0
    table = Table(data.proportions().rename(columns={"proportion": "observed"}))
    table["predicted"] = predicted
    if ties:
        nll = -log_multinomial(data.wins, data.tied, data.losses, outcomes(predicted, 1.0 - predicted, tie))
    else:
        nll = -log_binomial(data.wins, data.losses, predicted)
    table["nll"] = nll
    table.attrs["nll"] = float(np.mean(nll))
    return table
