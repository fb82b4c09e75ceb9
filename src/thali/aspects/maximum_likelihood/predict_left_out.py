"""Predictions for pairs that a fit has not seen."""

from typing import TYPE_CHECKING

import numpy as np

from thali.data.choices import Choices
from thali.errors import DataError

from ..draws.counts import log_outcome_coefficient, outcomes
from .covariates import LinearEstimates
from .estimates import Estimates
from .fit import at_maximum
from .identify import check_identified

if TYPE_CHECKING:
    import pandas


def leave_one_out(found: Estimates) -> "pandas.DataFrame":
    """Every compared pair, predicted from a fit to the others."""
    from scipy.special import xlogy

    from thali._tables import Table

    data = found.data
    if isinstance(data, Choices):
        raise DataError("leave_one_out is for pairs; compare leaves choices out of sets out.")
    ties, cells = found.tie is not None, data.cells
    own = np.zeros((len(cells.pair), 0)) if data.covariates is None else data.covariates.values
    predicted, nll = np.empty((2, data.n_pairs))
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        a, b = data.labels[i], data.labels[j]
        try:
            others = data.without_pair(a, b)
            if not isinstance(found, LinearEstimates):
                check_identified(found.known, others)
            fit = at_maximum(others, found.known, found.lapse, ties and others.n_ties > 0)
        except DataError as error:
            raise DataError(f"Without the pair {a!r}, {b!r}: ", error) from None
        rows = cells.pair == pair
        p = fit.probabilities(cells.first[rows], cells.second[rows], own[rows])
        counts = np.stack([cells.wins[rows], cells.tied[rows], cells.losses[rows]], axis=1)
        wins, tied, losses = counts.sum(axis=0)
        predicted[pair] = p @ counts.sum(axis=1) / counts.sum()
        of_outcome = outcomes(p, 1.0 - p, (fit.tie or 0.0) if ties else 0.0)
        nll[pair] = -log_outcome_coefficient(wins, tied, losses) - xlogy(counts, of_outcome).sum()
    table = Table(data.proportions().rename(columns={"proportion": "observed"}))
    table["predicted"] = predicted
    table["nll"] = nll
    table.attrs["nll"] = float(np.mean(nll))
    return table
