"""The people of the hierarchical logit in its draws, and new people of its population."""

from typing import TYPE_CHECKING

import numpy as np

from .chooser import LogitChooser

if TYPE_CHECKING:
    import xarray

    from thali.data.experiment import ChoiceExperiment

    from .coding import Coding

_MAX_TASTES = 4_000_000  # of all people in all draws
_NEWCOMERS, _DRAWS_OF_NEWCOMERS = 1_024, 1_000  # the sampling noise of a share among so many is below .016


def chooser_of(coding: "Coding", data: "ChoiceExperiment", posterior: "xarray.Dataset") -> LogitChooser:
    """The people of the data; of many people in many draws, with fewer draws."""
    beta = posterior["beta"].values
    chains, draws, people, p = beta.shape
    means, covariances = posterior["mean"].values.reshape(-1, p), posterior["covariance"].values.reshape(-1, p, p)

    def population(kept: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Tastes of new people, which have the same random numbers in every draw."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        noise = ndtri(qmc.Sobol(p, rng=rng).random(_NEWCOMERS).clip(1e-12, 1 - 1e-12))
        factors = np.linalg.cholesky(covariances[kept])
        return means[kept, None] + noise @ np.swapaxes(factors, 1, 2), np.full(_NEWCOMERS, 1.0 / _NEWCOMERS)

    chain = np.repeat(np.arange(chains), draws)
    found = LogitChooser(coding, data, beta.reshape(-1, people, p), chain, population=population)
    return found.thinned(max(40, min(len(chain), _MAX_TASTES // people)))
