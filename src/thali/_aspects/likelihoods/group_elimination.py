"""Elimination by aspects for several groups, whose data are converted to one form."""

from collections.abc import Sequence
from typing import Any

from thali._data.choices import Choices

from .elimination import Elimination, convert_to_pairs, convert_to_rankings


class SetElimination(Elimination):
    """Elimination by aspects that treats all data as choices from sets.

    It does so even if a group was offered pairs only, or no aspect is shared.
    """

    def convert_data(self, data: Any) -> Any:
        """Return the data as choices from sets, whatever their form."""
        return convert_to_rankings(data)


def match_group_forms(likelihood: Elimination, datasets: Sequence[Any]) -> Elimination:
    """Return a likelihood that converts all groups' data to one form (pairs or sets)."""
    if all(not isinstance(convert_to_pairs(data), Choices) for data in datasets):
        return likelihood
    return SetElimination(likelihood.lapse, likelihood.unique, likelihood.ties)
