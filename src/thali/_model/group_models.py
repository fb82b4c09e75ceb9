"""Models of several groups of respondents: the model of one group."""

from typing import TYPE_CHECKING, Any, Self

from thali._labels import shorten, suggest
from thali._people.populations import Groups
from thali.errors import ArgumentError, Setting

from .requirements import requires


def groups(model: Any, name: str) -> None:
    """Require draws of several groups of respondents, or of groups that have all in common."""
    if not model._groups and not isinstance(model.get_params().get("people"), Groups):
        raise ArgumentError(
            f"{name} requires several groups of respondents; refit with ",
            Setting("people", Groups()),
            ".",
        )


class HasGroups:
    """Base of models that may be fitted with `people=Groups(...)`."""

    if TYPE_CHECKING:

        @property
        def _view(self) -> Any: ...

    _part_of_group: Any  # (name) -> the fitted model of one group

    @property
    def _groups(self) -> tuple[str, ...]:
        """The names of the groups of the fit, () after a fit to one group."""
        return self._view.groups

    @requires(groups)
    def of_group(self, name: Any) -> Self:
        """Return the fitted model of one group.

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
        known_groups = self._groups
        if known_groups and name not in known_groups:
            raise ArgumentError(
                f"There is no group {name!r}; the groups are {shorten(known_groups, 10)}."
                f"{suggest(name, known_groups)}"
            )
        return self._part_of_group(name)
