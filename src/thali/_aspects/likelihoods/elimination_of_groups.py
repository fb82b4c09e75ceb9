"""Elimination by aspects of several groups of people, whose likelihoods must be of one form."""

from collections.abc import Sequence
from typing import Any

from thali._data.choices import Choices

from .elimination import Elimination, as_choices, as_pairs


class OutOfSets(Elimination):
    """Choices out of sets, though all that a group was offered be pairs, and though no aspect be
    shared."""

    def in_form(self, data: Any) -> Any:
        return as_choices(data)


def for_groups(likelihood: Elimination, parts: Sequence[Any]) -> Elimination:
    """The likelihood in which the data of all groups have one form."""
    if all(not isinstance(as_pairs(data), Choices) for data in parts):
        return likelihood
    return OutOfSets(likelihood.lapse, likelihood.unique, likelihood.ties)
