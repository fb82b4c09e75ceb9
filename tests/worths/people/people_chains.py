"""Chains of people without a model around them, and what their draws say in standard units."""

from typing import NamedTuple

import numpy as np
from helpers.naive.worths_of_people import EFFECT_SD, TIE_SD, Variables
from people_problems import Study, build_table
from scipy.stats import halfnorm, norm

from thali._worths.people.chain import PeopleChain


class PeopleDraws(NamedTuple):
    """Records of chains, (chain, draw, ...)."""

    population: np.ndarray
    loadings: np.ndarray
    log_s: np.ndarray
    log_sigma: np.ndarray
    log_loading_sd: np.ndarray
    log_tie: np.ndarray
    log_likelihood: np.ndarray
    worths: np.ndarray


def stack_records(chains: list[PeopleChain], shape: tuple[int, int] | None = None) -> PeopleDraws:
    """Return the records of chains; if a shape is given, draws of all chains in this shape."""
    names = "mean", "loadings", "log_sds", "log_tie", "log_likelihood", "worths"
    of_chains = [
        np.stack([getattr(chain.record, name) for chain in chains]).astype(float) for name in names
    ]
    if shape is not None:
        of_chains = [values.reshape(*shape, *values.shape[2:]) for values in of_chains]
    population, loadings, log_sds, log_tie, log_likelihood, worths = of_chains
    return PeopleDraws(
        population, loadings, *np.moveaxis(log_sds, -1, 0), log_tie, log_likelihood, worths
    )


def set_state(chain: PeopleChain, variables: Variables) -> None:
    """Set the state of a chain."""
    state, table = chain.state, chain.table
    state.mean[:] = np.vstack([variables.population, variables.loadings])
    state.z[:, table.x.shape[1] :] = variables.directions
    state.log_sds[:] = np.log([variables.s, variables.sigma, variables.loading_sd])
    state.nu[:] = variables.nu or 1.0
    for p, worths in enumerate(variables.worths):
        seen = slice(table.first_option[p], table.first_option[p + 1])
        state.u[seen] = worths[table.option[seen]] - worths[table.option[seen]].mean()


def run_chains(
    study: Study,
    seed: int,
    n_directions: int = 0,
    draws: int = 500,
    tune: int = 300,
    thin: int = 1,
    n_chains: int = 4,
) -> PeopleDraws:
    """Return draws of chains that are run one after the other."""
    table = build_table(study)
    chains = [
        PeopleChain(table, None, n_directions, draws, tune, thin, rng)
        for rng in np.random.default_rng(seed).spawn(n_chains)
    ]
    for chain in chains:
        chain.run_until(chain.total)
    return stack_records(chains)


def spread_between_people(draws: PeopleDraws) -> np.ndarray:
    """Return the root of sigma^2 plus the mean over options of the centred W'W."""
    loadings = draws.loadings - draws.loadings.mean(axis=-1, keepdims=True)
    n = loadings.shape[-1]
    return np.sqrt(np.exp(2.0 * draws.log_sigma) + (loadings**2).sum(axis=(-2, -1)) / (n - 1))


def standardise(draws: PeopleDraws, study: Study) -> dict[str, np.ndarray]:
    """Return quantities that are standard normal under the prior, each given those before it, by
    name."""
    sigma, loading_sd = np.exp(draws.log_sigma), np.exp(draws.log_loading_sd)
    x = np.append(1.0, study.x[0])
    between = draws.population[..., 0] - draws.population[..., 1]
    apart = draws.loadings[..., 0] - draws.loadings[..., 1]
    difference = draws.worths[..., 0, 0] - draws.worths[..., 0, 1] - between @ x
    scores = {
        "s": draws.log_s - np.log(1.3),
        "sigma": standardise_half_normal(sigma),
        "worth": draws.population[..., 0, 0] / np.exp(draws.log_s),
        "last worth": draws.population[..., 0, -1] / np.exp(draws.log_s),
        "person": difference / np.sqrt(2.0 * sigma**2 + (apart**2).sum(axis=-1)),
    }
    if study.x.shape[1]:
        scores["effect"] = draws.population[..., 1, 0] / EFFECT_SD
    if draws.loadings.shape[-2]:
        scores["lambda"] = standardise_half_normal(loading_sd)
        scores["loading"] = draws.loadings[..., 0, 0] / loading_sd
    if study.has_ties:
        scores["tie"] = draws.log_tie / TIE_SD
    return scores


def standardise_half_normal(x: np.ndarray) -> np.ndarray:
    """Return standard normal numbers from half-normal ones, monotonically."""
    return norm.ppf(halfnorm.cdf(x).clip(1e-15, 1.0 - 1e-15))
