"""Results of choices: of one population, of people with weights of their own, and of latent classes of people."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import quantities
from .data_answers import DataAnswers, PersonResults
from .groups import group_features_table
from .kinds_of_people import as_groups, outcomes_table_of_new, predicted_of_new
from .log_predictive import log_predictive_of_kinds, log_predictive_of_one
from .matched_features import Matched
from .new_people import log_predictive_of_population, predicted_of_population
from .predict import outcome_draws, outcomes_table, predicted_with_errors
from .quantities import Quantities
from .registry import answers_of

if TYPE_CHECKING:
    import pandas


class SetResults(DataAnswers):
    """Choices out of sets of any size."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_sets(self.posterior)

    def judged_owners(self) -> Quantities:
        return quantities.of_shared_aspects(self.posterior)

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_with_errors(self.posterior, sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table(self.posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_one(self.posterior, choices)

    def left_out(self, part: Any) -> Any:
        return outcome_draws(self.posterior, part)


class PairResults(SetResults):
    """Paired comparisons."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_pairs(self.posterior)


class ChooserResults(PersonResults):
    """Choices of people of whom everybody has weights of their own."""

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_population(self.posterior, choices)


class LatentClassResults(DataAnswers):
    """Answers of people of kinds that nobody knows: what is of a new person, and checks of all people."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_people(self.posterior)

    def judged_besides(self) -> Quantities:
        return answers_of(as_groups(self.posterior)).judged_besides()

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_new(self.posterior, sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table_of_new(self.posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_kinds(self.posterior, choices)

    def features(
        self, min_probability: float, similar: float | None, matched: Callable[[float, float], Matched], ci: float
    ) -> "pandas.DataFrame":
        return group_features_table(as_groups(self.posterior), min_probability, similar, ci)
