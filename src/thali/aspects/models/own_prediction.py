"""Predictions of a user's likelihood: the mean over draws of the user's own function."""

from typing import Any

import numpy as np

from thali.errors import ArgumentError, DataError
from thali.model.saved import NotSaved

from ..draws.columns import columns_of
from ..likelihoods.custom import Custom
from ..likelihoods.own_data import predicted_by_draws


def prediction_mean(tree: Any, likelihood: Any, data: Any) -> np.ndarray:
    """The posterior mean of `predict` for these data."""
    if not isinstance(likelihood, Custom) or likelihood.predict is None or isinstance(likelihood.predict, NotSaved):
        raise ArgumentError(
            "predict is there for a likelihood of your own that says how: Custom(..., predict=function of (data, "
            "features, weights)); files do not hold functions, so give it again after load. See also predict_proba."
        )
    observed, posterior = likelihood.observed(data), tree["posterior"].dataset
    if observed.labels != tuple(map(str, posterior["option"].values)):
        raise DataError("predict needs data with the labels of the fit, in the same order.")
    own = {name: posterior[name].values.ravel() for name in likelihood.parameters}
    found = predicted_by_draws(likelihood, observed, columns_of(tree), own)
    return np.mean(found, axis=0)
