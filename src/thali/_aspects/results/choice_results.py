"""Results of choices: pairs, and sets of any size."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.base_classes import build_from_fields
from thali._data.choices import Choices
from thali._data.choices.data_subsets import select_choices
from thali._data.option_covariates import CovariateColumns
from thali._data.pairs import PairedComparisons
from thali._data.pairs.comparison_rows import ComparisonRows, build_fields
from thali._data.questions import AnswerProbabilities
from thali._model.stored_choices import store_pairs, store_sets

from ..draws.covariate_offsets import read_cells
from ..draws.feature_columns import read_columns
from ..draws.posterior_tree import DataPart
from ..likelihoods.answer_probabilities import (
    build_choice_probabilities,
    build_comparison_probabilities,
)
from ..likelihoods.choice_posterior_parts import build_data_part
from . import summary_quantities
from .choice_predictions import outcome_draws, outcomes_table, predict_choices
from .log_predictive_probability import log_predictive_by_respondent
from .posterior_results import PosteriorResults
from .summary_quantities import Quantities

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.data_subsets import HeldOutPair


class SetResults(PosteriorResults):
    """Results of a posterior fitted to choices from sets of any size."""

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of `set_probability[a | a, b, ...]`, each of shape (n_chains, n_draws)."""
        probability = self.posterior.set_probability
        if probability is None:
            return {}
        return {
            f"set_probability[{a} | {offered}]": probability[..., place_index]
            for place_index, (a, offered) in enumerate(self.posterior.places)
        }

    def table_quantities(self) -> Quantities:
        """Return draws of weights, and of the presence of each probable aspect, by row name."""
        return super().table_quantities() | summary_quantities.presence_quantities(self.posterior)

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return choice probabilities of each set, and Monte Carlo errors if `return_se`."""
        return predict_choices(self.posterior, sets, return_se, covariates)

    def predict_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """Return a table of win, tie and loss probabilities, one row per pair."""
        return outcomes_table(self.posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return the log probability of all choices of each respondent together."""
        return log_predictive_by_respondent(self.posterior, choices)

    def data(self) -> Choices:
        """Return the fitted `Choices`, without their respondents."""
        posterior = self.posterior
        no_indices = np.zeros(0, np.int64)
        unanswered_choices = build_from_fields(
            Choices,
            tuple(posterior.labels),
            (),
            posterior.set_start,
            posterior.fixed["member"].values.copy(),
            no_indices,
            no_indices,
            np.zeros(0),
            None,
            None,
        )
        return unanswered_choices.with_answers(posterior.chosen)

    def build_data_part(self, counts: np.ndarray) -> DataPart:
        """Build the part of a posterior tree for the choices counted in `counts`.

        Questions without answers are omitted.
        """
        choices = self.data()
        answer_indices = np.flatnonzero(counts)
        answered_choices = select_choices(
            choices,
            np.full(answer_indices.size, -1),
            *choices.places_of(answer_indices),
            times=counts[answer_indices],
        )
        return build_data_part(
            store_sets(answered_choices, self.posterior.lapse), self.posterior.has_unique
        )

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """Return a function from a slice of sets to choice probabilities at `draws`."""
        posterior = self.posterior
        return build_choice_probabilities(
            read_columns(posterior).take(draws), data, posterior.lapse
        )

    def predict_held_out(self, held_out: "HeldOutPair") -> Any:
        """Return outcome probabilities of a held-out pair at every draw."""
        return outcome_draws(self.posterior, held_out)


class PairResults(SetResults):
    """Results of a posterior fitted to paired comparisons."""

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of the choice probability of each compared pair, by summary row."""
        return summary_quantities.pair_quantities(self.posterior)

    def data(self) -> PairedComparisons:  # type: ignore[override]
        """Return the fitted `PairedComparisons`, without their respondents."""
        comparison_cells = read_cells(self.posterior)
        outcome_counts = np.column_stack(
            [comparison_cells[name] for name in ("wins", "ties", "losses")]
        )
        return self._build_comparisons(outcome_counts)

    def build_data_part(self, counts: np.ndarray) -> DataPart:
        """Build the part of a posterior tree for the comparisons counted in `counts`."""
        posterior = self.posterior
        counts = counts.reshape(len(read_cells(posterior)["pair"]), -1)
        if not posterior.has_ties:
            counts = np.insert(counts, 1, 0.0, axis=1)
        comparisons = self._build_comparisons(counts)
        return build_data_part(
            store_pairs(comparisons, posterior.lapse, posterior.has_ties), posterior.has_unique
        )

    def _build_comparisons(self, counts: np.ndarray) -> PairedComparisons:
        """Build `PairedComparisons` from counts of win, tie and loss, omitting zero rows."""
        posterior = self.posterior
        comparison_cells = read_cells(posterior)
        first, second = (options[comparison_cells["pair"]] for options in posterior.pairs)
        columns = None
        if posterior.covariates:
            columns = CovariateColumns(tuple(posterior.covariates), comparison_cells["x"])
        wins, ties, losses = np.array(counts.T, float)
        rows = ComparisonRows(first, second, np.stack([wins, losses, ties]), covariates=columns)
        return build_from_fields(PairedComparisons, *build_fields(tuple(posterior.labels), rows))

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """Return a function from a slice of questions to outcome probabilities at `draws`."""
        posterior = self.posterior
        tie_parameter = None
        if ties:
            tie_parameter = posterior.tie[draws]
        feature_columns = read_columns(posterior).take(draws)
        coefficients = posterior.coefficients[draws]
        return build_comparison_probabilities(
            feature_columns, data, posterior.lapse, tie_parameter, coefficients
        )
