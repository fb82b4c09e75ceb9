"""Of which people the data are, and what a fit, a simulation and an evidence do for them: of one
group."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.prior_sample import (
    PriorSample,
    add_sample_dimensions,
    build_predictive_group,
    select_observed,
)
from thali._people.populations import refuse_one_group
from thali._posterior.view import Posterior

from ..draws.columns import columns_of, columns_of_chains
from ..draws.covariates import own_draws
from ..draws.tree import to_datatree
from ..samplers.draw_record import ChainDraws
from ..samplers.task import build_task
from .modelled import refuse_groups_of_own

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence import EvidenceRun
    from thali._model.prior_sample import PriorSample
    from thali._posterior.evidence import LogEvidence

    from ..samplers.chains import SamplingTask


Parts = dict[str, Any]  # prior, likelihood, weight_prior, alpha, sampler and tempering


class Population(ABC):
    """Of which people data are: of one group, of several, or of kinds that nobody knows. It is a
    value.

    `given` is what `fit` takes; `data` are what the model's `_convert_data` makes of it.
    """

    @abstractmethod
    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        """What `fit` was given, as the engine takes it; `convert` does this for data of one
        group."""

    def in_words(self, data: Any) -> str:
        """What a report says that a model was fitted to."""
        return str(data)

    def checked(self, data: Any) -> Any:
        """The data, after the model has counted ties and covariates, if they can be of this
        population."""
        return data

    @abstractmethod
    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        """What the chains run, after every check."""

    @abstractmethod
    def tree(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> "xarray.DataTree":
        """The posterior of these draws of a task."""

    def completed(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """The posterior of a fit that ends, with what follows from all of its draws together."""
        return tree

    @abstractmethod
    def prior_sample(
        self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        """A draw from the prior for each generator, and data of the same design at it."""

    @abstractmethod
    def replicates(
        self, posterior: Posterior, data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """New data at every draw of a fit, arrays (chain, draw, ...) under their names in
        `observed_data`."""

    @abstractmethod
    def observed(self, posterior: Posterior, data: Any, parts: Parts) -> dict[str, np.ndarray]:
        """What `observed_data` would hold after a fit to these data; nothing if they have another
        design."""

    @abstractmethod
    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        """The log evidence of these parts for the data."""

    def evidence_of(self, model: Any, given: Any, how: "EvidenceRun") -> "LogEvidence":
        """The log evidence of a model for what its `fit` takes."""
        data = model._convert_data(given)
        return model._population(data).evidence(data, model._evidence_parts(data), how)

    def refuse_update(self) -> None:
        """Raise if further comparisons cannot be added to those of a fit."""
        return None


@dataclass(frozen=True)
class One(Population):
    """People of one group; the argument `people` is refused where it says how groups differ."""

    people: Any = None

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        if isinstance(given, Mapping):
            refuse_groups_of_own()
        refuse_one_group(self.people)
        return convert(given)

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_task(data=data, draws=draws, tune=tune, thin=thin, **parts)

    def tree(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> "xarray.DataTree":
        from ..draws.tree import to_datatree

        learned = task.model.learn_alpha
        return to_datatree(
            draws, data, parts["likelihood"], learned_alpha=learned, attrs=attrs, task=task
        )

    def prior_sample(
        self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":

        return sample_features(self.task(data, 1, 0, None, parts), parts["likelihood"], data, rngs)

    def replicates(
        self, posterior: Posterior, data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:

        return replicates(posterior, parts["likelihood"], data, rng)

    def observed(self, posterior: Posterior, data: Any, parts: Parts) -> dict[str, np.ndarray]:

        if [*map(str, data.labels)] != posterior.labels:
            return {}
        return observed_by(posterior, parts["likelihood"], data)

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        from .evidence import constant_of, run_ladders, sensitivity_of, task_of

        task = task_of(parts, data, how)
        found, ladders = run_ladders(task, constant_of(parts["likelihood"], [data]), how)
        if not how.sensitivity:
            return found
        return replace(found, sensitivity=sensitivity_of(found, ladders, parts, data, how))


# Data simulated at every draw of a posterior, by the likelihood itself ----------------------------


def replicates(
    posterior: Posterior, likelihood: Any, data: Any, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Arrays (chain, draw, ...) under the names of the group observed_data."""
    columns, own = columns_of(posterior), own_draws(posterior, likelihood.parameters)
    drawn = [
        likelihood.simulate_data(
            columns.at(draw), {name: values[draw] for name, values in own.items()}, data, rng
        ).observed
        for draw in range(columns.n_draws)
    ]
    arrays = {name: np.asarray([each[name] for each in drawn]) for name in drawn[0]}
    return {
        name: values.reshape(*posterior.shape, *values.shape[1:]) for name, values in arrays.items()
    }


def observed_by(posterior: Posterior, likelihood: Any, data: Any) -> dict[str, np.ndarray]:
    """What the group observed_data of a fit to these data holds; nothing if they have another
    design."""
    own = {name: values[:1] for name, values in own_draws(posterior, likelihood.parameters).items()}
    part = likelihood.build_posterior_part(columns_of(posterior).at(0), own, data, (1, 1), False)
    return select_observed(posterior, part)


# Draws from the prior: any prior over features, joined with any likelihood ------------------------


def sample_features(
    task: "SamplingTask", likelihood: Any, data: Any, rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Features, weights and the likelihood's own parameters, and data simulated at each of them."""
    drawn, new = [], []
    for rng in rngs:
        one = _one_draw(task, likelihood, data, rng)
        drawn.append(one)
        new.append(
            likelihood.simulate_data(
                columns_of_chains([one], 1), {k: v[0] for k, v in one.extra.items()}, data, rng
            )
        )
    posterior = Posterior(
        to_datatree([joined(drawn)], data, likelihood, learned_alpha=task.model.learn_alpha)
    )
    return simulated_sample(posterior, [[each] for each in new], [(each.data,) for each in new])


def simulated_sample(
    posterior: Posterior, new: Sequence[Sequence[Any]], data: Sequence[tuple[Any]]
) -> PriorSample:
    """Draws from the prior, and the new data of all groups that were simulated at each; `data`: as
    `fit` takes them."""
    observed, (dims, logs) = (
        posterior.observed,
        add_sample_dimensions([sum(each.log_likelihood for each in parts) for parts in new]),
    )
    described = {"description": "of the data simulated at the same draw, natural logarithm"}
    prior = posterior.draws.assign(log_likelihood=(dims, logs, described))
    simulated = {
        name: np.asarray(
            [np.concatenate([each.observed[name] for each in parts]) for parts in new]
        )[None]
        for name in map(str, observed.data_vars)
    }
    predictive = build_predictive_group(observed, prior, simulated)
    fixed = {"observed_data": observed, "constant_data": posterior.fixed}
    return PriorSample(prior, predictive, data, fixed, posterior.latent)


def _one_draw(
    task: "SamplingTask", likelihood: Any, data: Any, rng: np.random.Generator
) -> ChainDraws:
    """One draw, as a chain of one draw."""
    model, n = task.model, task.n_options
    alpha = rng.standard_exponential() if task.alpha is None else task.alpha
    columns = task.prior.sample(n, alpha, rng).T
    columns = columns[columns.any(axis=1)]
    weights = model.weights.random(rng, len(columns))
    unique = model.weights.random(rng, n) if likelihood.unique else np.zeros(n)
    own = likelihood.sample_prior_parameters(data, model.weights, rng)
    return ChainDraws(
        alpha=np.array([alpha], float),
        log_likelihood=np.zeros(1),
        unique_weights=unique[None],
        n_features=np.array([len(columns)]),
        weights=weights,
        sizes=columns.sum(axis=1),
        owners=np.nonzero(columns)[1].astype(np.int32),
        extra={name: np.array([value]) for name, value in own.items()},
    )


def joined(draws: Sequence[ChainDraws]) -> ChainDraws:
    """Draws one after the other, as one chain."""
    arrays: dict[str, Any] = {
        part.name: np.concatenate([getattr(draw, part.name) for draw in draws])
        for part in fields(ChainDraws)
        if part.name not in ("extra", "stats")
    }
    extra = {name: np.concatenate([draw.extra[name] for draw in draws]) for name in draws[0].extra}
    return ChainDraws(**arrays, extra=extra)
