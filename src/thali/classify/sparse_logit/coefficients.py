"""The table of the coefficients of a sparse multinomial logit."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError
from thali.posterior.interval import TAILS

if TYPE_CHECKING:
    import pandas


def coefficients(model: Any, delta: Any) -> "pandas.DataFrame":
    """Mean, sd, interval, P(|coef| > delta), P(coef > 0) of every coefficient; see `model.coefficients`."""
    from thali._tables import Table

    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0.0 <= delta < math.inf:
        raise ArgumentError(Argument("delta"), f" must be a number of 0 or more; got {delta!r}.")
    values = model._fitted()["posterior"].dataset["coef"]
    draws = values.to_numpy().reshape(-1, values.shape[2] * values.shape[3])
    low, high = np.quantile(draws, TAILS, axis=0)
    table = {
        "class": np.repeat(values["class"].to_numpy(), values.shape[3]),
        "covariate": np.tile(values["covariate"].to_numpy(), values.shape[2]),
        "coef": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "low": low,
        "high": high,
        "probability": (np.abs(draws) > delta).mean(axis=0),
        "positive": (draws > 0.0).mean(axis=0),
        "excludes_0": (low > 0.0) | (high < 0.0),
        "original": model.coef_[:, model._standard_.varies].ravel(),
    }
    frame = Table(table)
    order = np.lexsort((-np.abs(table["coef"]), -table["probability"]))
    return frame.iloc[order].reset_index(drop=True)
