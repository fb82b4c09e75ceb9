"""Skeleton of a population: several groups of people, whose respondents are all treated equally.

Copy this file to `src/thali/_aspects/populations/NAME.py`, and name the class in
`src/thali/_aspects/populations/population_choice.py`, which chooses the population from a model's
arguments and data.

This one converts the data to one group, so that everything else is inherited from `SingleGroup`. A
population whose posterior has additional variables (weights by group, say) replaces `build_task`
(the sampling task of the chains) and `build_tree` (the posterior, which names its kind of data),
`sample_prior`, `simulate_replicates`, `build_observed` and `estimate_evidence`, or raises there;
its name is stored in the posterior, and rows of `results/result_classes.py` name the class with its
results.
"""

from collections.abc import Callable, Mapping
from typing import Any

from thali._aspects.populations.single_group import SingleGroup
from thali._data.grouped_data import GroupedData
from thali.errors import DataError


class Everybody(SingleGroup):
    """The respondents of all groups, pooled."""

    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        if not isinstance(fit_data, Mapping):
            raise DataError(
                f"The population requires data divided into groups; got {type(fit_data).__name__}."
            )
        return convert(GroupedData(fit_data).pooled())
