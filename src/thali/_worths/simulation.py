"""Simulated comparisons and choices, from the prior or from posterior draws."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._model.simulated_data import (
    PriorSample,
    add_sample_dimensions,
    build_predictive_dataset,
    select_observed,
)
from thali._posterior.posterior_tree import Posterior

from .posterior_density import TIE_SD
from .spread_prior import draw_log_spread
from .worth_draws import WorthDraws

if TYPE_CHECKING:
    from thali._data.pairs import PairedComparisons

    from .population_posterior import WorthProblem


def _build_observed_variables(
    problem: "WorthProblem", data: "PairedComparisons | Choices"
) -> dict[str, np.ndarray]:
    """Return counts of choices, or of wins and ties, as variables by name."""
    if isinstance(data, Choices):
        return {"chosen": data.questions().counts}
    if not problem.has_ties:
        return {"wins": data.wins}
    return {"wins": data.wins, "ties": data.tied}


def _simulate_data(
    problem: "WorthProblem", draw: WorthDraws, rng: np.random.Generator
) -> tuple[Any, float]:
    """Simulate data of the same design at one draw; return their log-likelihood too."""
    questions = problem.single_data.questions(problem.has_ties)
    p = draw.question_probabilities(problem.single_data, problem.has_ties)(
        slice(0, len(questions.sizes))
    )[0]
    answer_counts = questions.simulate_counts(p, rng)
    return problem.single_data.with_answers(answer_counts), float(
        questions.with_counts(answer_counts).log_likelihoods(p).sum()
    )


def sample_log_spread(rng: np.random.Generator, spread: float | None) -> float:
    """Return the log prior sd of worths, fixed or sampled from its prior."""
    if spread is not None:
        return math.log(spread)
    return draw_log_spread(rng)


def sample_worths_prior(
    problem: "WorthProblem", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Sample worths from the prior and data given them, once per generator."""
    density = problem.density
    spread = problem.spread
    points = np.zeros((len(rngs), density.size))
    log_sds = np.full((len(rngs), 4), np.nan)
    for k, rng in enumerate(rngs):
        log_sds[k, 0] = sample_log_spread(rng, spread)
        parameter_vector = rng.standard_normal(density.size)
        parameter_vector[density.worths] *= math.exp(log_sds[k, 0])
        parameter_vector[density.nu] *= TIE_SD
        points[k] = parameter_vector
    posterior = Posterior(problem.build_tree(points[None], log_sds[None], {}))
    draws = problem.build_draws(points.T, 1)
    data_sets = []
    log_likelihoods = []
    for k, rng in enumerate(rngs):
        data, log_likelihood = _simulate_data(problem, draws.take(slice(k, k + 1)), rng)
        data_sets.append(data)
        log_likelihoods.append(log_likelihood)
    simulated_variables = observe_each(problem, data_sets)
    return build_prior_sample(
        posterior, log_likelihoods, simulated_variables, [(data,) for data in data_sets]
    )


def observe_each(problem: "WorthProblem", data: Sequence[Any]) -> dict[str, np.ndarray]:
    """Return several data sets as variables of `observed_data`, stacked."""
    observed_variables = [_build_observed_variables(problem, data_set) for data_set in data]
    return {
        name: np.array([arrays[name] for arrays in observed_variables])
        for name in observed_variables[0]
    }


def build_prior_sample(
    posterior: Posterior,
    log_likelihoods: Sequence[float] | np.ndarray,
    simulated_variables: dict[str, np.ndarray],
    data: Sequence[Any],
) -> PriorSample:
    """Build a `PriorSample` from prior draws and the data simulated at each."""
    dims, log_likelihood = add_sample_dimensions(log_likelihoods)
    log_likelihood_attributes = {
        "description": "of the data simulated at the same draw, natural logarithm"
    }
    prior = posterior.draws.assign(log_likelihood=(dims, log_likelihood, log_likelihood_attributes))
    predictive_dataset = build_predictive_dataset(
        posterior.observed,
        prior,
        {name: arrays[None] for name, arrays in simulated_variables.items()},
    )
    data_groups = {"observed_data": posterior.observed, "constant_data": posterior.fixed}
    return PriorSample(prior, predictive_dataset, data, data_groups, posterior.latent)


def simulate_replicates(
    problem: "WorthProblem", draws: WorthDraws, shape: tuple[int, int], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Simulate data at every draw, arrays (chain, draw, ...) by variable name."""
    data_sets = [
        _simulate_data(problem, draws.take(slice(k, k + 1)), rng)[0] for k in range(draws.n_draws)
    ]
    return {
        name: arrays.reshape(*shape, -1)
        for name, arrays in observe_each(problem, data_sets).items()
    }


def observe_design(problem: "WorthProblem", posterior: Posterior) -> dict[str, np.ndarray]:
    """Return the fitted data as variables of `observed_data`; {} for another design."""
    if list(problem.single_data.labels) != posterior.labels:
        return {}
    return select_observed(posterior, problem.build_data_groups())
