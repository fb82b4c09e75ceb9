"""Posterior of worths of several groups: data, settings, chains and tree of draws.

A group is a person of `thali._worths.people` without directions if worths are similar, and a class
of `thali._worths.latent_classes` whose members are known if they are free.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.grouped_data import GroupedData
from thali._people.people_argument import COMMON, SIMILAR, Groups
from thali._posterior.draws_writer import Variable

from ..density_from_data import convert_for_likelihood, keep_single_choices
from ..latent_classes.chain import WorthClassChain, list_all_options
from ..latent_classes.gibbs_sweep import ClassRecord
from ..people.answer_table import tabulate_groups
from ..people.chain import PeopleChain
from ..people.gibbs_sweep import PeopleRecord
from ..people.individual_posterior import refuse_answers
from ..population_posterior import FULL_LIKELIHOOD, TIE, WorthProblem

if TYPE_CHECKING:
    import xarray

_VARIABLES = {
    "group_log_worth": Variable(
        "log worth of an option in each group, with a mean of 0 over options", ("group", "option")
    ),
    "spread": Variable(
        "standard deviation of log worths; of similar groups that of the common ones"
    ),
    "spread_of_groups": Variable(
        "standard deviation of log worths of groups around the common ones"
    ),
    "log_likelihood": FULL_LIKELIHOOD,
    "tie": TIE,
}


class GroupProblem(WorthProblem):
    """Data of several groups of respondents, and the settings of a fit."""

    variables = _VARIABLES

    def __init__(
        self,
        data: GroupedData,
        lapse: float,
        has_ties: bool,
        rule: str,
        spread: float | None,
        people: Groups,
    ) -> None:
        """Check that the data suit groups; tabulate answers by group."""
        pooled_data = data.pooled()
        refuse_answers(pooled_data, rule, people, Groups(COMMON))
        super().__init__(pooled_data, lapse, has_ties, rule, spread)
        self.names = data.names
        self.is_similar = people.weights == SIMILAR
        self.record_class: Any = ClassRecord
        if self.is_similar:
            self.record_class = PeopleRecord
        group_data = [convert_for_likelihood(part, rule) for part in data.data]
        self.table = tabulate_groups(group_data, rule, lapse, has_ties)
        self.singles = dict(zip(data.names, map(keep_single_choices, data.data), strict=True))

    def build_chain(self, draws: int, tune: int, thin: int, rng: np.random.Generator) -> Any:
        """Build a chain with random starting values."""
        if self.is_similar:
            return PeopleChain(self.table, self.spread, 0, draws, tune, thin, rng)
        answers_of_groups = list_all_options(self.table)
        return WorthClassChain(
            answers_of_groups,
            len(self.names),
            False,
            self.spread,
            draws,
            tune,
            thin,
            rng,
            are_known=True,
        )

    def build_tree_from_records(
        self, records: list[Any], attributes: dict[str, Any]
    ) -> "xarray.DataTree":
        """Build the posterior tree from the records of all chains."""
        field_names = "worths", "log_sds", "log_tie", "log_likelihood"
        worths, log_sds, log_tie, log_likelihood = (
            np.stack([getattr(record, name) for record in records]) for name in field_names
        )
        questions_of_groups = [single.questions(self.has_ties) for single in self.singles.values()]
        log_coefficients = sum(float(dims.log_coefficients().sum()) for dims in questions_of_groups)
        arrays = {
            "group_log_worth": worths.astype(float),
            "spread": np.exp(log_sds[..., 0]),
            "log_likelihood": log_likelihood + log_coefficients,
        }
        if self.is_similar:
            arrays["spread_of_groups"] = np.exp(log_sds[..., 1])
        coordinates = {"group": np.asarray(self.names, dtype=str)}
        return self.build_tree_from_arrays(
            arrays, coordinates, log_tie, self.build_data_groups(), attributes
        )
