"""Comparisons and choices simulated by worths: from their prior, and at draws of a fit."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._model.prior_sample import (
    PriorSample,
    add_sample_dimensions,
    build_predictive_group,
    select_observed,
)
from thali._posterior.view import Posterior

from .density import LOG_SPREAD_MEAN, LOG_SPREAD_SD, TIE_SD
from .predictions import WorthDraws

if TYPE_CHECKING:
    from .posterior import WorthProblem


def _observed_in(problem: "WorthProblem", data: Any) -> dict[str, np.ndarray]:
    """Return what is observed in data of the problem's design, under the names in
    `observed_data`."""
    if isinstance(data, Choices):
        return {"chosen": data.questions().counts}
    return {"wins": data.wins} | ({"ties": data.tied} if problem.has_ties else {})


def _simulate(
    problem: "WorthProblem", draw: WorthDraws, rng: np.random.Generator
) -> tuple[Any, float]:
    """Return new data at one draw, and their log-likelihood with coefficients."""
    asked = problem.single.questions(problem.has_ties)
    p = draw.question_probabilities(problem.single, problem.has_ties)(slice(0, len(asked.sizes)))[0]
    counts = asked.drawn(p, rng)
    return problem.single.with_answers(counts), float(
        asked.with_counts(counts).log_likelihoods(p).sum()
    )


def sample_prior(problem: "WorthProblem", rngs: Sequence[np.random.Generator]) -> PriorSample:
    """Return a draw from the prior for each generator, and data of the same design at it."""
    density, known = problem.density, problem.spread
    points, logs = np.zeros((len(rngs), density.size)), np.full((len(rngs), 4), np.nan)
    for k, rng in enumerate(rngs):
        logs[k, 0] = (
            LOG_SPREAD_MEAN + LOG_SPREAD_SD * rng.standard_normal()
            if known is None
            else math.log(known)
        )
        normal = rng.standard_normal(density.size)
        normal[density.worths] *= math.exp(logs[k, 0])
        normal[density.nu] *= TIE_SD
        points[k] = normal
    posterior = Posterior(problem.tree(points[None], logs[None], {}))
    draws = problem.draws_of(points.T, 1)
    new = [_simulate(problem, draws.take(slice(k, k + 1)), rng) for k, rng in enumerate(rngs)]
    simulated = observe_each(problem, [data for data, _ in new])
    return prior_sample_of(
        posterior, [likelihood for _, likelihood in new], simulated, [(data,) for data, _ in new]
    )


def observe_each(problem: "WorthProblem", data: Sequence[Any]) -> dict[str, np.ndarray]:
    """Return what is observed in several data sets, arrays (data sets, ...) under their names in
    `observed_data`."""
    each = [_observed_in(problem, one) for one in data]
    return {name: np.array([one[name] for one in each]) for name in each[0]}


def prior_sample_of(
    posterior: Posterior,
    log_likelihoods: Any,
    simulated: dict[str, np.ndarray],
    data: Sequence[Any],
) -> PriorSample:
    """Return draws from the prior, which `posterior` holds, with the data simulated at each, arrays
    (draws, ...)."""
    dims, values = add_sample_dimensions(log_likelihoods)
    described = {"description": "of the data simulated at the same draw, natural logarithm"}
    prior = posterior.draws.assign(log_likelihood=(dims, values, described))
    predictive = build_predictive_group(
        posterior.observed, prior, {name: each[None] for name, each in simulated.items()}
    )
    fixed = {"observed_data": posterior.observed, "constant_data": posterior.fixed}
    return PriorSample(prior, predictive, data, fixed)


def replicates(
    problem: "WorthProblem", draws: WorthDraws, shape: tuple[int, int], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return new data at every draw of a fit, arrays (chain, draw, ...) under their names in
    `observed_data`."""
    each = [_simulate(problem, draws.take(slice(k, k + 1)), rng)[0] for k in range(draws.n_draws)]
    return {
        name: values.reshape(*shape, -1) for name, values in observe_each(problem, each).items()
    }


def observed(problem: "WorthProblem", posterior: Posterior) -> dict[str, np.ndarray]:
    """Return what `observed_data` holds after a fit to these data; nothing if they have another
    design."""
    if list(problem.single.labels) != posterior.labels:
        return {}
    return select_observed(posterior, problem.groups())
