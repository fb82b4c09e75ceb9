"""The people of the hierarchical logit in its draws, and new people of its population."""

from typing import TYPE_CHECKING

import numpy as np

from .chooser import LogitChooser

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments import ChoiceExperiment

    from ..coding import Coding
    from .hierarchical_tastes import Population

_MAX_TASTES = 4_000_000  # of all people in all draws
_NEWCOMERS = 1_024  # the sampling noise of a share among so many is below .016


def chooser_of(
    coding: "Coding",
    data: "ChoiceExperiment",
    posterior: "xarray.Dataset",
    of_new: "Population",
    directions: np.ndarray,
) -> LogitChooser:
    """The people of the data; of many people in many draws, with fewer draws."""
    beta = posterior["beta"].values
    chains, draws, people, p = beta.shape

    def population(kept: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Tastes of new people, which have the same random numbers in every draw."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        noise = ndtri(qmc.Sobol(p, rng=rng).random(_NEWCOMERS).clip(1e-12, 1 - 1e-12))
        like = np.arange(_NEWCOMERS) * of_new.people // _NEWCOMERS
        return of_new.tastes(kept, noise[None], like[None]), np.full(_NEWCOMERS, 1.0 / _NEWCOMERS)

    chain = np.repeat(np.arange(chains), draws)
    tastes = beta.reshape(-1, people, p)
    found = LogitChooser(coding, data, tastes, chain, population=population, directions=directions)
    return found.thinned(max(40, min(len(chain), _MAX_TASTES // people)))
