"""Fits to several groups of people: features in common, weights by group."""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from thali._labels import suggest
from thali.data.groups import Groups
from thali.errors import Argument, ArgumentError

from .base import LatentFeatures
from .groups.task import COMMON, SIMILAR, build_group_task, check_weights, groups_of

if TYPE_CHECKING:
    import xarray


class ForGroups(LatentFeatures):
    """Base of the models that take a mapping from groups to their data, and have an argument `weights`."""

    weights: Any

    def _as_data(self, data: Any) -> Any:
        as_data, is_grouped = super()._as_data, isinstance(data, Mapping)
        found = groups_of(data, self.weights) if is_grouped else as_data(data)
        check_weights(self.weights, is_grouped)
        return found.mapped(as_data) if isinstance(found, Groups) else as_data(found)

    def _task_of(self, data: Any, draws: int, tune: int, thin: Any, parts: dict[str, Any]) -> Any:
        if not isinstance(data, Groups):
            return super()._task_of(data, draws, tune, thin, parts)
        return build_group_task(data, draws, tune, thin, self.weights, **parts)

    def _tree_of(self, draws: Any, source: Any, parts: dict[str, Any], task: Any, attrs: Any) -> "xarray.DataTree":
        if not isinstance(source, Groups):
            return super()._tree_of(draws, source, parts, task, attrs)
        from .answers.group_tree import group_tree

        similar, learned = self.weights == SIMILAR, task.model.learn_alpha
        return group_tree(draws, source, parts["likelihood"], learned_alpha=learned, similar=similar, attrs=attrs)

    def _prior_sample(self, rngs: Any, data: Any) -> Any:
        if not isinstance(groups := self._as_data(data), Groups):
            return super()._prior_sample(rngs, data)
        from .groups.prior_sample import sample_groups

        return sample_groups(self._task(groups, 1, 0, None), self._parts(groups)["likelihood"], groups, rngs)

    def _replicates(self, rng: Any, data: Any) -> Any:
        if not isinstance(groups := self._as_data(data), Groups):
            return super()._replicates(rng, data)
        from .groups.prior_sample import replicates_of_groups

        return replicates_of_groups(self._fitted(), self._parts(groups)["likelihood"], groups, rng)

    def _observed(self, data: Any) -> Any:
        if not isinstance(groups := self._as_data(data), Groups):
            return super()._observed(data)
        from .groups.prior_sample import observed_by_groups

        if groups.names != self.groups_ or [*groups.labels] != [*map(str, self._labels_of_fit())]:
            return {}
        return observed_by_groups(self._fitted(), self._parts(groups)["likelihood"], groups)

    def _labels_of_fit(self) -> Any:
        return self._fitted()["posterior"].dataset["option"].values

    def _evidence_of(self, data: Any, how: Any) -> Any:
        if not isinstance(data, Mapping):
            return super()._evidence_of(data, how)
        if how.sensitivity:
            raise ArgumentError(Argument("sensitivity"), " is for one group of people; leave it out.")
        from .groups.evidence import evidence_of_groups, evidence_of_pooled

        groups = copy.copy(self).set_params(weights=None)._as_data(data)
        if self.weights != COMMON:
            return evidence_of_groups(groups, self.weights, self._evidence_parts(groups), how)
        pooled = self._as_data(data)
        return evidence_of_pooled(groups, pooled, self._evidence_parts(pooled), how)

    @property
    def groups_(self) -> tuple[str, ...]:
        """The names of the groups of people that the model was fitted to; () if it was to one."""
        from .answers.group_tree import group_names, is_grouped

        tree = self._fitted()
        return tuple(group_names(tree)) if is_grouped(tree) else ()

    def of_group(self, name: Any) -> Self:
        """The fitted model of one group, which answers whatever a model of one group does: check, ranks, pictures.

        Parameters
        ----------
        name : str
            Of a group.

        Returns
        -------
        model
            Its weights are those of this group, and its features those of all groups. Weights of choices are shares of
            the group's total. It cannot go on drawing. A model with ``weights="common"`` is the same of each group.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there is no such group.
        """
        from .answers.group_tree import tree_of_group

        name = str(name)
        if self.groups_ and name not in self.groups_:
            known = ", ".join(map(repr, self.groups_[:10])) + (", ..." if len(self.groups_) > 10 else "")
            raise ArgumentError(f"There is no group {name!r}; the groups are {known}.{suggest(name, self.groups_)}")
        made = copy.copy(self)
        vars(made).pop("_state_", None)
        vars(made).pop("_summarised", None)
        made.posterior_ = tree_of_group(self._fitted(), name)
        made.fitted_to_ = f"{self.fitted_to_}; group {name}"
        return made
