"""Models of several groups of respondents, and the model of one group."""

from typing import TYPE_CHECKING, Any, Self

from thali._labels import shorten, suggest
from thali._people.people_argument import Groups
from thali.errors import ArgumentError, Setting

from .method_requirements import requires


def require_groups(model: Any, name: str) -> None:
    """Raise ArgumentError if the fit has fewer than two groups of respondents."""
    if not model._groups and not isinstance(model.get_params().get("people"), Groups):
        raise ArgumentError(
            f"{name} requires several groups of respondents; refit with ",
            Setting("people", Groups()),
            ".",
        )


class MultiGroupModel:
    """Base class of models that can be fitted to several groups of respondents."""

    if TYPE_CHECKING:

        @property
        def _view(self) -> Any: ...

    _copy_for_group: Any  # (name) -> the fitted model of one group

    @property
    def _groups(self) -> tuple[str, ...]:
        """Names of the respondent groups; () if there is only one."""
        return self._view.groups

    @requires(require_groups)
    def of_group(self, name: Any) -> Self:
        """Return the fitted model restricted to the respondent group `name`.

        Parameters
        ----------
        name : str
            Name of a group.

        Returns
        -------
        model
            Its weights or worths belong to this group, its features to all groups. Weights of
            aspects are shares of the group's total. It cannot continue drawing. Models with
            ``people=Groups("common")`` are equal for all groups.

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
        return self._copy_for_group(name)
