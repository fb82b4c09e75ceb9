"""Base class of populations, which build tasks, posteriors and simulations; one group."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.simulated_data import (
    PriorSample,
    add_sample_dimensions,
    build_predictive_dataset,
    select_observed,
)
from thali._people.people_argument import check_not_groups
from thali._posterior.posterior_tree import Posterior
from thali.errors import DataError

from ..draws.covariate_offsets import read_parameter_draws
from ..draws.feature_columns import concatenate_chain_columns, read_columns
from ..draws.posterior_tree import build_datatree
from ..samplers.draw_record import RecordedDraws
from ..samplers.sampling_task import build_task
from ..samplers.sweep_bookkeeping import sample_alpha

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence_arguments import EvidenceRun
    from thali._model.simulated_data import PriorSample
    from thali._posterior.log_evidence import LogEvidence

    from ..samplers.chains import SamplingTask


TaskArguments = dict[str, Any]  # prior, likelihood, weight_prior, alpha, sampler and tempering


class Population(ABC):
    """The respondents of the data (one group, groups, latent classes), compared by value.

    `fit_data` are the data given to `fit`; `data` are these after the model's `_convert_data`.
    """

    @abstractmethod
    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        """Return the data of `fit` as models store them; `convert` converts one group's."""

    def describe_data(self, data: Any) -> str:
        """Return words for the data that a model was fitted to, for reports."""
        return str(data)

    def check_data(self, data: Any) -> Any:
        """Return the data; subclasses raise DataError if these do not suit the population."""
        return data

    @abstractmethod
    def build_task(
        self, data: Any, draws: int, tune: int, thin: Any, task_arguments: TaskArguments
    ) -> Any:
        """Check all arguments of a fit and build its sampling task."""

    @abstractmethod
    def build_tree(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> "xarray.DataTree":
        """Build the posterior tree from the draws of all chains."""

    def complete_tree(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """Return a finished fit's tree unchanged: one group has no results that need all draws."""
        return tree

    @abstractmethod
    def sample_prior(
        self, data: Any, task_arguments: TaskArguments, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        """Sample parameters from the prior once per generator, and data given them."""

    @abstractmethod
    def simulate_replicates(
        self,
        posterior: Posterior,
        data: Any,
        task_arguments: TaskArguments,
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Simulate data at every draw, as arrays (chain, draw, ...) named as in `observed_data`."""

    @abstractmethod
    def build_observed(
        self, posterior: Posterior, data: Any, task_arguments: TaskArguments
    ) -> dict[str, np.ndarray]:
        """Return the data as arrays named as in `observed_data`; {} for another design."""

    @abstractmethod
    def estimate_evidence(
        self, data: Any, task_arguments: TaskArguments, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate the log evidence of prior and likelihood (`task_arguments`) for converted"
        " data."""

    def estimate_model_evidence(
        self, model: Any, fit_data: Any, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate a model's log evidence for data that `fit` takes."""
        data = model._convert_data(fit_data)
        return model._choose_population(data).estimate_evidence(
            data, model._build_evidence_arguments(data), run_settings
        )

    def check_update(self) -> None:
        """Raise ArgumentError if new comparisons cannot be added to the fitted ones."""
        return None


@dataclass(frozen=True)
class SingleGroup(Population):
    """Population of one group; raises if `people` describes differences."""

    people: Any = None

    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        """Return the data converted; raise for data of several groups."""
        if isinstance(fit_data, Mapping):
            raise DataError(
                "A model built from a prior and a likelihood requires one group of respondents, but"
                " the data contain several; fit each group, or use EliminationByAspects or"
                " AdditiveClustering."
            )
        check_not_groups(self.people)
        return convert(fit_data)

    def build_task(
        self, data: Any, draws: int, tune: int, thin: Any, task_arguments: TaskArguments
    ) -> Any:
        """Build the sampling task of one group."""
        return build_task(data=data, draws=draws, tune=tune, thin=thin, **task_arguments)

    def build_tree(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> "xarray.DataTree":
        """Build the posterior tree of one group."""
        learns_alpha = task.model.learn_alpha
        return build_datatree(
            draws,
            data,
            task_arguments["likelihood"],
            is_alpha_learned=learns_alpha,
            attrs=attrs,
            task=task,
        )

    def sample_prior(
        self, data: Any, task_arguments: TaskArguments, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        """Sample parameters from the prior, and data given them, once per generator."""
        return sample_prior_features(
            self.build_task(data, 1, 0, None, task_arguments),
            task_arguments["likelihood"],
            data,
            rngs,
        )

    def simulate_replicates(
        self,
        posterior: Posterior,
        data: Any,
        task_arguments: TaskArguments,
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Simulate data at every draw, arrays by variable name."""
        return simulate_replicates(posterior, task_arguments["likelihood"], data, rng)

    def build_observed(
        self, posterior: Posterior, data: Any, task_arguments: TaskArguments
    ) -> dict[str, np.ndarray]:
        """Return the data as arrays by variable name."""
        if [*map(str, data.labels)] != posterior.labels:
            return {}
        return build_observed(posterior, task_arguments["likelihood"], data)

    def estimate_evidence(
        self, data: Any, task_arguments: TaskArguments, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate the log evidence of one group by tempered chains from posterior to prior."""
        from .tempered_evidence import (
            build_constant,
            build_evidence_task,
            estimate_sensitivity,
            run_ladders,
        )

        task = build_evidence_task(task_arguments, data, run_settings)
        evidence, ladders = run_ladders(
            task, build_constant(task_arguments["likelihood"], [data]), run_settings
        )
        if not run_settings.sensitivity:
            return evidence
        return replace(
            evidence,
            sensitivity=estimate_sensitivity(evidence, ladders, task_arguments, data, run_settings),
        )


# Data simulated at every draw of a posterior, by the likelihood itself ----------------------------


def simulate_replicates(
    posterior: Posterior, likelihood: Any, data: Any, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Simulate data at every draw, arrays (n_chains, n_draws, ...) by variable name."""
    feature_columns, parameter_draws = (
        read_columns(posterior),
        read_parameter_draws(posterior, likelihood.parameters),
    )
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


def build_observed(posterior: Posterior, likelihood: Any, data: Any) -> dict[str, np.ndarray]:
    """Return the fitted data as arrays by variable name; {} for another design."""
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
    task: "SamplingTask", likelihood: Any, data: Any, rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Sample features, weights and parameters of the prior, and data at each draw."""
    prior_draws, simulated_data = [], []
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
            [concatenate_draws(prior_draws)],
            data,
            likelihood,
            is_alpha_learned=task.model.learn_alpha,
        )
    )
    return build_prior_sample(
        posterior,
        [[new_data] for new_data in simulated_data],
        [(new_data.data,) for new_data in simulated_data],
    )


def build_prior_sample(
    posterior: Posterior, new_data: Sequence[Sequence[Any]], data: Sequence[tuple[Any]]
) -> PriorSample:
    """Build a `PriorSample` from prior draws and the data simulated at each.

    `data` are the new data as `fit` takes them.
    """
    observed_data = posterior.observed
    dims, log_likelihood = add_sample_dimensions(
        [sum(group.log_likelihood for group in groups) for groups in new_data]
    )
    attributes = {"description": "of the data simulated at the same draw, natural logarithm"}
    prior = posterior.draws.assign(log_likelihood=(dims, log_likelihood, attributes))
    simulated_arrays = {}
    for name in map(str, observed_data.data_vars):
        variable_draws = [
            np.concatenate([group.observed[name] for group in groups]) for groups in new_data
        ]
        simulated_arrays[name] = np.asarray(variable_draws)[None]
    predictive_dataset = build_predictive_dataset(observed_data, prior, simulated_arrays)
    fixed_datasets = {"observed_data": observed_data, "constant_data": posterior.fixed}
    return PriorSample(prior, predictive_dataset, data, fixed_datasets, posterior.latent)


def _sample_prior_draw(
    task: "SamplingTask", likelihood: Any, data: Any, rng: np.random.Generator
) -> RecordedDraws:
    """Sample features and parameters from the prior, as a chain of one draw."""
    model, n_options = task.model, task.n_options
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


def concatenate_draws(draws: Sequence[RecordedDraws]) -> RecordedDraws:
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
