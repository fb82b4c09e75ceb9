"""Skeleton of a population: several groups of people, of whom everybody counts alike.

Copy this file to `src/thali/_aspects/populations/NAME.py`, and name the class in
`src/thali/_aspects/populations/populations.py`, which says what arguments of a model, or what data,
ask for it.

This one makes data of one group of what `fit` is given, so that all else is that of `One`. A
population whose posterior holds something of its own (weights by group, say) replaces `task` (what
the chains run) and `tree` (the posterior, whose kind of data it names), `prior_sample`,
`replicates`, `observed` and `evidence`, or refuses there in a sentence; its name is stored in the
posterior, and rows of `answers/registry.py` say which class has its results.
"""

from collections.abc import Callable, Mapping
from typing import Any

from thali._aspects.populations.one import One
from thali._data.groups import GroupedData
from thali.errors import DataError


class Everybody(One):
    """The people of all groups together."""

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        if not isinstance(given, Mapping):
            raise DataError(
                f"The population requires data divided into groups; got {type(given).__name__}."
            )
        return convert(GroupedData(given).pooled())
