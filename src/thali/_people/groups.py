"""Models of several groups of respondents: the model of one group."""

from typing import Any, Self

from thali._labels import shorten, suggest
from thali.errors import ArgumentError


class HasGroups:
    """Base of models that may be fitted with `people=Groups(...)`."""

    _view: Any
    _part_of_group: Any  # (name) -> the fitted model of one group

    @property
    def groups_(self) -> tuple[str, ...]:
        """The names of the groups of people that the model was fitted to; () if it was to one."""
        return self._view.groups

    def of_group(self, name: Any) -> Self:
        """The fitted model of one group, which answers whatever a model of one group does: check,
        ranks, pictures.

        Parameters
        ----------
        name : str
            Of a group.

        Returns
        -------
        model
            Its weights or worths are those of this group, and its features those of all groups.
            Weights of aspects are shares of the group's total. It cannot go on drawing. A model
            with ``people=Groups("common")`` is the same of each group.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there is no such group.
        """
        name = str(name)
        groups = self.groups_
        if groups and name not in groups:
            known = shorten(groups, 10)
            raise ArgumentError(
                f"There is no group {name!r}; the groups are {known}.{suggest(name, groups)}"
            )
        return self._part_of_group(name)
