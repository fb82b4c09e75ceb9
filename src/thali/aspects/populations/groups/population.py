"""Several groups of people: features in common, weights by group."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data import groups
from thali.errors import Argument, ArgumentError
from thali.posterior.view import Posterior

from ..groups_chain import COMMON, SIMILAR, build_group_task, check_weights, groups_of
from ..one import Parts, Population

if TYPE_CHECKING:
    import xarray

    from thali.model.evidence import EvidenceRun
    from thali.model.prior_sample import PriorSample
    from thali.posterior.evidence import LogEvidence


@dataclass(frozen=True)
class Groups(Population):
    """Several groups of people, by what their weights have to do with each other.

    With common weights the data that are fitted are those of one group, the comparisons of all people together.
    """

    weights: Any

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        found = groups_of(given, self.weights)
        check_weights(self.weights, True)
        return found.mapped(convert) if isinstance(found, groups.Groups) else convert(found)

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_group_task(data, draws, tune, thin, self.weights, **parts)

    def tree(self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]) -> "xarray.DataTree":
        from ...answers.groups import group_tree

        similar, learned = self.weights == SIMILAR, task.model.learn_alpha
        return group_tree(draws, data, parts["likelihood"], learned_alpha=learned, similar=similar, attrs=attrs)

    def prior_sample(self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]) -> "PriorSample":
        from .prior_sample import sample_groups

        return sample_groups(self.task(data, 1, 0, None, parts), parts["likelihood"], data, rngs)

    def replicates(
        self, tree: "xarray.DataTree", data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        from .prior_sample import replicates_of_groups

        return replicates_of_groups(tree, parts["likelihood"], data, rng)

    def observed(self, tree: "xarray.DataTree", data: Any, parts: Parts) -> dict[str, np.ndarray]:
        from .prior_sample import observed_by_groups

        known = tree["posterior"].dataset
        if data.names != Posterior(tree).groups or [*data.labels] != [*map(str, known["option"].values)]:
            return {}
        return observed_by_groups(tree, parts["likelihood"], data)

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        from .evidence import evidence_of_groups

        _refuse_sensitivity(how)
        return evidence_of_groups(data, self.weights, parts, how)

    def evidence_of(self, model: Any, given: Any, how: "EvidenceRun") -> "LogEvidence":
        if self.weights != COMMON:
            return super().evidence_of(model, given, how)
        from .evidence import evidence_of_pooled

        _refuse_sensitivity(how)
        apart = copy.copy(model).set_params(weights=None)._as_data(given)
        pooled = model._as_data(given)
        return evidence_of_pooled(apart, pooled, model._evidence_parts(pooled), how)


def _refuse_sensitivity(how: "EvidenceRun") -> None:
    """Refuse other priors, which are for one group."""
    if how.sensitivity:
        raise ArgumentError(Argument("sensitivity"), " is for one group of people; leave it out.")
