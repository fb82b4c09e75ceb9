"""Elimination by aspects of several groups of people, whose likelihoods must be of one form."""

from collections.abc import Sequence
from typing import Any

from thali._data.choices import Choices
from thali.errors import DataError

from .elimination import Elimination, as_choices, as_pairs


class OutOfSets(Elimination):
    """Choices out of sets, though all that a group was offered be pairs, and though no aspect be shared."""

    def in_form(self, data: Any) -> Any:
        return as_choices(data, self.best_worst)


class BestAndWorst(Elimination):
    """Best and worst out of sets, though those of a group be of three at most, and so rankings."""

    def in_form(self, data: Any) -> Any:
        return data

    def check(self, prior: Any, data: Any) -> None:
        if data.worst is None:
            raise DataError(
                "these are single choices, but other groups have best-worst choices; fit the two kinds of groups"
                " separately."
            )
        super().check(prior, data)


def for_groups(likelihood: Elimination, parts: Sequence[Any]) -> Elimination:
    """The likelihood in which the data of all groups have one form."""
    rule = likelihood.best_worst
    if all(not isinstance(as_pairs(data, rule), Choices) for data in parts):
        return likelihood
    if not likelihood.shared and any(
        isinstance(data, Choices) and as_choices(data, rule).worst is not None for data in parts
    ):
        return BestAndWorst(likelihood.lapse, likelihood.unique, likelihood.ties, False, rule)
    return OutOfSets(likelihood.lapse, likelihood.unique, likelihood.ties, True, rule)
