"""Data simulated from the posterior or the prior of a model, by its likelihood."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.simulated_data import (
    PriorSample,
    add_sample_dimensions,
    build_predictive_dataset,
    select_observed,
)
from thali._posterior.posterior_tree import Posterior

from .draws.covariate_offsets import read_parameter_draws
from .draws.feature_columns import concatenate_chain_columns, read_columns
from .draws.posterior_tree import build_datatree
from .samplers.draw_record import RecordedDraws
from .samplers.sweep_bookkeeping import sample_alpha

if TYPE_CHECKING:
    from .samplers.sampling_task import Likelihood, SamplingTask


# Data simulated at every draw of a posterior, by the likelihood itself ----------------------------


def simulate_replicates(
    posterior: Posterior, likelihood: "Likelihood", data: Any, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Simulate data at every draw, arrays (n_chains, n_draws, ...) by variable name."""
    feature_columns = read_columns(posterior)
    parameter_draws = read_parameter_draws(posterior, likelihood.parameters)
    replicates = []
    for draw in range(feature_columns.n_draws):
        draw_parameters = {
            variable_name: variable_draws[draw]
            for variable_name, variable_draws in parameter_draws.items()
        }
        new_data = likelihood.simulate_data(
            feature_columns.select_draw(draw), draw_parameters, data, rng
        )
        replicates.append(new_data.observed)
    replicate_arrays = {}
    for variable_name in replicates[0]:
        variable_draws = np.asarray([replicate[variable_name] for replicate in replicates])
        replicate_arrays[variable_name] = variable_draws.reshape(
            *posterior.shape, *variable_draws.shape[1:]
        )
    return replicate_arrays


def build_observed(
    posterior: Posterior, likelihood: "Likelihood", data: Any
) -> dict[str, np.ndarray]:
    """Return the fitted data as arrays by variable name; {} for another design."""
    if [*map(str, data.labels)] != posterior.labels:
        return {}
    first_parameters = {
        name: values[:1]
        for name, values in read_parameter_draws(posterior, likelihood.parameters).items()
    }
    data_part = likelihood.build_posterior_part(
        read_columns(posterior).select_draw(0), first_parameters, data, (1, 1), False
    )
    return select_observed(posterior, data_part)


# Draws from the prior: any prior over features, joined with any likelihood ------------------------


def sample_prior_features(
    task: "SamplingTask", likelihood: "Likelihood", data: Any, rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Sample features, weights and parameters of the prior, and data at each draw."""
    prior_draws = []
    simulated_data = []
    for rng in rngs:
        prior_draw = _sample_prior_draw(task, likelihood, data, rng)
        prior_draws.append(prior_draw)
        parameter_values = {name: array[0] for name, array in prior_draw.extra.items()}
        simulated_data.append(
            likelihood.simulate_data(
                concatenate_chain_columns([prior_draw], 1), parameter_values, data, rng
            )
        )
    posterior = Posterior(
        build_datatree(
            [_concatenate_draws(prior_draws)],
            data,
            likelihood,
            is_alpha_learned=task.model.learn_alpha,
        )
    )
    observed_data = posterior.observed
    dims, log_likelihood = add_sample_dimensions(
        [new_data.log_likelihood for new_data in simulated_data]
    )
    attributes = {"description": "of the data simulated at the same draw, natural logarithm"}
    prior = posterior.draws.assign(log_likelihood=(dims, log_likelihood, attributes))
    simulated_arrays = {
        name: np.asarray([new_data.observed[name] for new_data in simulated_data])[None]
        for name in map(str, observed_data.data_vars)
    }
    return PriorSample(
        prior,
        build_predictive_dataset(observed_data, prior, simulated_arrays),
        [(new_data.data,) for new_data in simulated_data],
        {"observed_data": observed_data, "constant_data": posterior.fixed},
        posterior.latent,
    )


def _sample_prior_draw(
    task: "SamplingTask", likelihood: "Likelihood", data: Any, rng: np.random.Generator
) -> RecordedDraws:
    """Sample features and parameters from the prior, as a chain of one draw."""
    model = task.model
    n_options = task.n_options
    alpha = sample_alpha(rng, task.alpha)
    owners_by_feature = task.prior.sample(n_options, alpha, rng).T
    owners_by_feature = owners_by_feature[owners_by_feature.any(axis=1)]
    weights = model.weights.random(rng, len(owners_by_feature))
    unique_weights = np.zeros(n_options)
    if likelihood.unique:
        unique_weights = model.weights.random(rng, n_options)
    parameter_values = likelihood.sample_prior_parameters(data, model.weights, rng)
    return RecordedDraws(
        alpha=np.array([alpha], float),
        log_likelihood=np.zeros(1),
        unique_weights=unique_weights[None],
        n_features=np.array([len(owners_by_feature)]),
        weights=weights,
        sizes=owners_by_feature.sum(axis=1),
        owners=np.nonzero(owners_by_feature)[1].astype(np.int32),
        extra={name: np.array([parameter]) for name, parameter in parameter_values.items()},
    )


def _concatenate_draws(draws: Sequence[RecordedDraws]) -> RecordedDraws:
    """Concatenate the recorded draws of several chains into one chain."""
    arrays_by_name: dict[str, Any] = {
        array_field.name: np.concatenate([getattr(draw, array_field.name) for draw in draws])
        for array_field in fields(RecordedDraws)
        if array_field.name not in ("extra", "stats")
    }
    parameter_draws = {
        name: np.concatenate([draw.extra[name] for draw in draws]) for name in draws[0].extra
    }
    return RecordedDraws(**arrays_by_name, extra=parameter_draws)
