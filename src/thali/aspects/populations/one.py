"""Of which people the data are, and what a fit, a simulation and an evidence do for them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..samplers.task import build_task
from .groups.task import check_weights

if TYPE_CHECKING:
    import xarray

    from thali.model.evidence import EvidenceRun
    from thali.model.prior_sample import PriorSample
    from thali.posterior.evidence import LogEvidence

Parts = dict[str, Any]  # prior, likelihood, weight_prior, alpha, sampler and tempering


class Population(ABC):
    """Of which people data are: of one group, of several, or of kinds that nobody knows. It is a value.

    `given` is what `fit` takes; `data` are what the model's `_as_data` makes of it.
    """

    @abstractmethod
    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        """What `fit` was given, as the engine takes it; `convert` does this for data of one group."""

    def checked(self, data: Any) -> Any:
        """The data, after the model has counted ties and covariates, if they can be of this population."""
        return data

    @abstractmethod
    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        """What the chains run, after every check."""

    @abstractmethod
    def tree(self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]) -> "xarray.DataTree":
        """The posterior of these draws of a task."""

    @abstractmethod
    def prior_sample(self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]) -> "PriorSample":
        """A draw from the prior for each generator, and data of the same design at it."""

    @abstractmethod
    def replicates(
        self, tree: "xarray.DataTree", data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """New data at every draw of a fit, arrays (chain, draw, ...) under their names in `observed_data`."""

    @abstractmethod
    def observed(self, tree: "xarray.DataTree", data: Any, parts: Parts) -> dict[str, np.ndarray]:
        """What `observed_data` would hold after a fit to these data; nothing if they have another design."""

    @abstractmethod
    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        """The log evidence of these parts for the data."""

    def evidence_of(self, model: Any, given: Any, how: "EvidenceRun") -> "LogEvidence":
        """The log evidence of a model for what its `fit` takes."""
        data = model._as_data(given)
        return model._population(data).evidence(data, model._evidence_parts(data), how)

    def refuse_update(self) -> None:
        """Raise if further comparisons cannot be added to those of a fit."""
        return None


@dataclass(frozen=True)
class One(Population):
    """People of one group; `weights`, which say how groups differ, are refused."""

    weights: Any = None

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        found = convert(given)
        check_weights(self.weights, False)
        return found

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_task(data=data, draws=draws, tune=tune, thin=thin, **parts)

    def tree(self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]) -> "xarray.DataTree":
        from ..draws.tree import to_datatree

        learned = task.model.learn_alpha
        return to_datatree(draws, data, parts["likelihood"], learned_alpha=learned, attrs=attrs, task=task)

    def prior_sample(self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]) -> "PriorSample":
        from .prior_sample import sample_features

        return sample_features(self.task(data, 1, 0, None, parts), parts["likelihood"], data, rngs)

    def replicates(
        self, tree: "xarray.DataTree", data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        from .replicates import replicates

        return replicates(tree, parts["likelihood"], data, rng)

    def observed(self, tree: "xarray.DataTree", data: Any, parts: Parts) -> dict[str, np.ndarray]:
        from .replicates import observed_by

        if tuple(map(str, data.labels)) != tuple(map(str, tree["posterior"].dataset["option"].values)):
            return {}
        return observed_by(tree, parts["likelihood"], data)

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        from .evidence_run import constant_of, run_ladders, task_of
        from .evidence_sensitivity import sensitivity_of

        task = task_of(parts, data, how)
        found, ladders = run_ladders(task, constant_of(parts["likelihood"], [data]), how)
        if not how.sensitivity:
            return found
        return replace(found, sensitivity=sensitivity_of(found, ladders, parts, data, how))
