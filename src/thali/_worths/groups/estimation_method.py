"""The method that fits worths of several groups by Markov chains."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.covariate_effects import summarise_effects
from thali._model.predictive_check import merge_group_checks
from thali._model.simulated_data import PriorSample
from thali._posterior.posterior_tree import flatten_chains
from thali.errors import ArgumentError

from ..people.estimation_method import IndividualsEngine
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


class GroupsEngine(IndividualsEngine):
    """Fits worths of several groups by chains; most results are for one group."""

    findings = "thali._worths.groups.findings"
    problem_class = GroupProblem

    def build_draws(self, model: "BradleyTerryLuce") -> WorthDraws:
        """Raise ArgumentError: worths are those of one group."""
        first_group = model._view.groups[0]
        raise ArgumentError(
            "This result is available for one group of respondents at a time; select a group"
            f" first, for example of_group({first_group!r})."
        )

    build_prediction_draws = build_draws  # type: ignore[assignment]
    get_respondent_draws = build_draws  # type: ignore[assignment]

    def select_group(self, model: Any, name: str) -> tuple[Any, WorthDraws]:
        """Return the data of one group and the draws of its worths."""
        view = model._view
        problem = model._build_problem(model._get_fit_data())
        worth_draws = flatten_chains(view.draws["group_log_worth"].sel(group=name).values)
        no_coefficients = np.zeros((view.n_draws, 0))
        return problem.singles[name], WorthDraws(
            view.labels,
            worth_draws,
            view.tie,
            no_coefficients,
            (),
            np.zeros((view.n_options, 0)),
            view.lapse,
            problem.rule,
            view.shape[0],
        )

    def get_quantities(self, model: "BradleyTerryLuce") -> Quantities:
        """Return draws of the summary rows of all groups, by name."""
        draws = model._view.draws
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

    def log_predictive(self, model: "BradleyTerryLuce", choices: Any) -> "pandas.Series":
        """Raise ArgumentError: log predictive probabilities require one group."""
        return self.get_draws(model).log_predictive(choices)

    def check_replicates(
        self,
        model: "BradleyTerryLuce",
        data: "PairedComparisons | Choices",
        random_seed: "RandomSeed",
        ci: float,
    ) -> "pandas.DataFrame":
        """Return the checks of all groups in one table."""
        groups = model._view.groups
        tables = {name: model.of_group(name).check(random_seed, ci) for name in groups}
        return merge_group_checks(tables, "group")

    def tabulate_predictions(
        self, model: "BradleyTerryLuce", data: "PairedComparisons | Choices", ci: float
    ) -> "pandas.DataFrame":
        """Return the predictions of all groups in one table."""
        import pandas as pd

        tables = {name: model.of_group(name).predictions(ci) for name in model._view.groups}
        return pd.concat(tables, names=["group"]).reset_index("group").reset_index(drop=True)

    def sample_prior(self, problem: Any, rngs: Sequence[np.random.Generator]) -> PriorSample:
        raise ArgumentError(_NO_SIMULATION)

    def simulate_data(
        self, model: "BradleyTerryLuce", problem: Any, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        raise ArgumentError(_NO_SIMULATION)


GROUPS = GroupsEngine()


def tabulate_differences(model: "BradleyTerryLuce", ci: float) -> "pandas.DataFrame":
    """Return a table of log-worth differences for every two groups and option."""
    import pandas as pd

    from thali._exportable_table import Table

    posterior = model._view
    group_names = posterior.groups
    labels = posterior.labels
    worths = flatten_chains(posterior.draws["group_log_worth"].values)
    tables_by_groups = {}
    for a, b in combinations(range(len(group_names)), 2):
        effect_columns = summarise_effects(worths[:, a] - worths[:, b], ci)
        tables_by_groups[group_names[a], group_names[b]] = pd.DataFrame(
            effect_columns, pd.Index(labels)
        )
    table = Table(pd.concat(tables_by_groups, names=["group", "other", "option"]))
    table.attrs["interval"] = ci
    return table
