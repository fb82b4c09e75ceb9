"""The method that fits worths of several groups by Markov chains."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.covariate_effects import summarise_effects
from thali._model.predictive_check import merge_group_checks
from thali._model.simulated_data import PriorSample
from thali._posterior.posterior_tree import Posterior, flatten_chains
from thali.errors import ArgumentError

from ..people.estimation_method import IndividualResults, IndividualsEngine
from ..worth_draws import MAX_RANKED_OPTIONS, Quantities, WorthDraws
from .group_posterior import GroupProblem

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._inference.random_seeds import RandomSeed

    from ..model import BradleyTerryLuce


_NO_SIMULATION = (
    "Data cannot be simulated for several groups at once; simulate one group at a time."
)


class GroupResults(IndividualResults):
    """Results of a fit of several groups; most of them are for one group."""

    def __init__(
        self, posterior: "Posterior", of_group: "Callable[[str], BradleyTerryLuce]"
    ) -> None:
        super().__init__(posterior)
        self.of_group = of_group  # returns the model of one group

    @cached_property
    def draws(self) -> WorthDraws:
        """Raise ArgumentError: worths are those of one group."""
        first_group = self.posterior.groups[0]
        raise ArgumentError(
            "This result is available for one group of respondents at a time; select a group"
            f" first, for example of_group({first_group!r})."
        )

    @cached_property
    def respondent_draws(self) -> Any:
        """Raise ArgumentError, as `draws` does."""
        return self.draws

    def select_group(self, problem: GroupProblem, name: str) -> tuple[Any, WorthDraws]:
        """Return the data of one group and the draws of its worths."""
        posterior = self.posterior
        worth_draws = flatten_chains(posterior.draws["group_log_worth"].sel(group=name).values)
        no_coefficients = np.zeros((posterior.n_draws, 0))
        return problem.singles[name], WorthDraws(
            posterior.labels,
            worth_draws,
            posterior.tie,
            no_coefficients,
            (),
            np.zeros((posterior.n_options, 0)),
            posterior.lapse,
            problem.rule,
            posterior.shape[0],
        )

    def get_quantities(self) -> Quantities:
        """Return draws of the summary rows of all groups, by name."""
        draws = self.posterior.draws
        quantities = {
            name: draws[name].values for name in ("spread_of_groups", "tie") if name in draws
        }
        worths = draws["group_log_worth"].stack(part=("group", "option"))
        if worths.sizes["part"] > MAX_RANKED_OPTIONS:
            return quantities
        quantity_names = [f"log_worth[{group}, {label}]" for group, label in worths["part"].values]
        return quantities | dict(
            zip(quantity_names, np.moveaxis(worths.values, -1, 0), strict=True)
        )

    def check_replicates(
        self, data: "PairedComparisons | Choices", random_seed: "RandomSeed", ci: float
    ) -> "pandas.DataFrame":
        """Return the checks of all groups in one table."""
        groups = self.posterior.groups
        tables = {name: self.of_group(name).check(random_seed, ci) for name in groups}
        return merge_group_checks(tables, "group")

    def tabulate_predictions(
        self, data: "PairedComparisons | Choices", ci: float
    ) -> "pandas.DataFrame":
        """Return the predictions of all groups in one table."""
        import pandas as pd

        tables = {name: self.of_group(name).predictions(ci) for name in self.posterior.groups}
        return pd.concat(tables, names=["group"]).reset_index("group").reset_index(drop=True)

    def tabulate_differences(self, ci: float) -> "pandas.DataFrame":
        """Return a table of log-worth differences for every two groups and option."""
        import pandas as pd

        from thali._exportable_table import Table

        group_names = self.posterior.groups
        worths = flatten_chains(self.posterior.draws["group_log_worth"].values)
        tables_by_groups = {}
        for a, b in combinations(range(len(group_names)), 2):
            effect_columns = summarise_effects(worths[:, a] - worths[:, b], ci)
            tables_by_groups[group_names[a], group_names[b]] = pd.DataFrame(
                effect_columns, pd.Index(self.posterior.labels)
            )
        table = Table(pd.concat(tables_by_groups, names=["group", "other", "option"]))
        table.attrs["interval"] = ci
        return table

    def simulate_data(self, problem: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise ArgumentError(_NO_SIMULATION)


class GroupsEngine(IndividualsEngine):
    """Fits worths of several groups by chains."""

    findings = "thali._worths.groups.findings"
    problem_class = GroupProblem

    def read_results(self, model: "BradleyTerryLuce") -> GroupResults:
        """Return the results of the draws of a fit."""
        return GroupResults(Posterior(model.posterior_), model.of_group)

    def sample_prior(self, problem: Any, rngs: Sequence[np.random.Generator]) -> PriorSample:
        raise ArgumentError(_NO_SIMULATION)


GROUPS = GroupsEngine()
