"""Elimination by aspects of several groups of people, whose likelihoods must be of one form."""

from collections.abc import Sequence
from typing import Any

from thali.data.choices import Choices
from thali.errors import DataError

from .elimination import Elimination, as_choices, as_pairs


class OutOfSets(Elimination):
    """Choices out of sets, though all that a group was offered be pairs, and though no aspect be shared."""

    def in_form(self, data: Any) -> Any:
        return as_choices(data, self.best_worst)

    def check(self, prior: Any, data: Any) -> None:
        if self.in_form(data).worst is not None:
            raise DataError(
                "Best and worst of more than three options, or by the rule of the greatest difference, are modelled for"
                " one group of people; fit each group apart."
            )
        super().check(prior, data)


def for_groups(likelihood: Elimination, parts: Sequence[Any]) -> Elimination:
    """The likelihood in which the data of all groups have one form."""
    if all(not isinstance(as_pairs(data, likelihood.best_worst), Choices) for data in parts):
        return likelihood
    return OutOfSets(likelihood.lapse, likelihood.unique, likelihood.ties, True, likelihood.best_worst)
