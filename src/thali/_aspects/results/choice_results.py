"""Results of choices: of one population, of individual respondents, and of latent classes."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.data_subsets import select_choices
from thali._data.kinds import ONE
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.predicted_answers import EqualRespondents
from thali._model.rank_table import tabulate_ranks
from thali._model.stored_choices import store_pairs, store_sets
from thali._people.latent_class_results import (
    align_members,
    list_label_free_quantities,
    membership_probabilities,
)
from thali._posterior.posterior_tree import Posterior, flatten_chains

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
from .group_posterior_tree import group_features_table
from .latent_class_predictions import (
    convert_classes_to_groups,
    list_respondent_answers,
    new_outcomes_table,
    predict_new_respondent,
)
from .log_predictive_probability import log_predictive_by_class, log_predictive_by_respondent
from .matched_features import MatchedFeatures
from .new_respondent_predictions import log_predictive_by_individual, predict_from_population
from .posterior_results import GroupResults, IndividualResults, PosteriorResults
from .result_classes import load_results
from .summary_quantities import Quantities

if TYPE_CHECKING:
    import pandas


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

    def owner_quantities(self) -> Quantities:
        """Return draws of the presence of each probable shared aspect, by row name."""
        return summary_quantities.shared_aspect_quantities(self.posterior)

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
        posterior, no_indices = self.posterior, np.zeros(0, np.int64)
        set_fields = posterior.set_start, posterior.fixed["member"].values.copy()
        unanswered_choices = Choices._from_fields(
            tuple(posterior.labels),
            (),
            *set_fields,
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
        choices, answer_indices = self.data(), np.flatnonzero(counts)
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

    def predict_held_out(self, held_out: Any) -> Any:
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
        comparison_cells, has_count = read_cells(self.posterior), counts.sum(axis=1) > 0.0
        pair_indices, pair_of_cell = np.unique(
            comparison_cells["pair"][has_count], return_inverse=True
        )
        first_options, second_options = (options[pair_indices] for options in self.posterior.pairs)
        wins, ties, losses = np.array(counts[has_count].T, float)
        covariates = None
        if covariate_names := tuple(self.posterior.covariates):
            option_values = np.zeros((self.posterior.n_options, len(covariate_names)))
            covariates = PairCovariates._from_fields(
                covariate_names,
                pair_of_cell,
                comparison_cells["x"][has_count],
                option_values,
                wins,
                losses,
                ties,
                None,
            )
        outcome_sums = [
            np.bincount(pair_of_cell, counts_j, len(pair_indices))
            for counts_j in (wins, losses, ties)
        ]
        labels = tuple(self.posterior.labels)
        return PairedComparisons._from_fields(
            labels, first_options, second_options, *outcome_sums, None, None, covariates
        )

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """Return a function from a slice of questions to outcome probabilities at `draws`."""
        posterior = self.posterior
        tie_parameter = None
        if ties:
            tie_parameter = posterior.tie[draws]
        feature_columns, coefficients = (
            read_columns(posterior).take(draws),
            posterior.coefficients[draws],
        )
        return build_comparison_probabilities(
            feature_columns, data, posterior.lapse, tie_parameter, coefficients
        )


class RespondentChoiceResults(IndividualResults):
    """Results of a posterior of choices in which respondents have individual weights."""

    def ranks(self, every_rank: bool, ci: float) -> "pandas.DataFrame":
        """Return a table of option ranks by the population's common weights."""
        return tabulate_ranks(
            flatten_chains(self.posterior.common_worth), self.posterior.labels, every_rank, ci
        )

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return choice probabilities of a new respondent from the population."""
        return predict_from_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return log predictive probability of each new respondent's choices."""
        return log_predictive_by_individual(self.posterior, choices)


class LatentClassResults(PosteriorResults):
    """Results of a posterior of latent classes of respondents."""

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of rows about classes, and of choice probabilities if options are few."""
        posterior = self.posterior
        class_rows = list_label_free_quantities(posterior)
        if posterior.n_options > summary_quantities.MAX_OPTIONS:
            return class_rows
        return class_rows | self.pooled_results._get_kind_quantities()

    @cached_property
    def class_posterior(self) -> Posterior:
        """The posterior with each latent class as a group of respondents."""
        posterior, pooled_results = self.posterior, self.pooled_results
        questions = pooled_results.data().questions(posterior.has_ties)
        respondent_index, answer_index, answer_times = list_respondent_answers(posterior)
        probable_class = membership_probabilities(posterior).argmax(axis=1)[respondent_index]
        data_parts, place_indices = [], []
        for class_index in range(posterior.max_classes):
            class_counts = np.bincount(
                answer_index, answer_times * (probable_class == class_index), len(questions.counts)
            )
            data_parts.append(pooled_results.build_data_part(class_counts))
            place_indices.append(
                np.flatnonzero(
                    np.repeat(questions.sum_by_question(class_counts) > 0.0, questions.sizes)
                )
            )
        return convert_classes_to_groups(posterior, data_parts, place_indices)

    @cached_property
    def pooled_results(self) -> Any:
        """Results read as one population, from variables averaged over the classes."""
        return load_results(self.posterior, ONE)

    def data(self) -> Any:
        """Return the fitted data as the results of one population read them."""
        return self.pooled_results.data()

    def group_respondents(
        self, data: Any, questions: Questions, draws: np.ndarray, ties: bool
    ) -> list[EqualRespondents]:
        """Return one `EqualRespondents` per latent class, whose members change between draws."""
        all_questions = data.questions(self.posterior.has_ties)
        (respondent_index, answer_index, answer_times) = list_respondent_answers(self.posterior)
        question_index = all_questions.question[answer_index]
        class_index, class_posterior = align_members(self.posterior)[draws], self.class_posterior

        def count_asked(g: int) -> Callable[[slice], np.ndarray]:
            """Return a function that counts how often members of class g were asked."""

            def count_in_slice(question_slice: slice) -> np.ndarray:
                """Count how often each question was asked, shape (n_questions, n_draws)."""
                answer_rows = np.flatnonzero(
                    (question_index >= question_slice.start)
                    & (question_index < question_slice.stop)
                )
                is_member = class_index[:, respondent_index[answer_rows]] == g
                n_asked = np.zeros((question_slice.stop - question_slice.start, len(draws)))
                np.add.at(
                    n_asked,
                    question_index[answer_rows] - question_slice.start,
                    answer_times[answer_rows, None] * is_member.T,
                )
                return n_asked

            return count_in_slice

        group_results = GroupResults(class_posterior)
        return [
            EqualRespondents(
                group_results.select_group(name).answer_probabilities(data, draws, ties),
                count_asked(g),
            )
            for g, name in enumerate(class_posterior.groups)
        ]

    def agreement_quantities(self) -> Quantities:
        """Return draws of further rows whose convergence is checked."""
        return GroupResults(self.class_posterior).agreement_quantities()

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return choice probabilities of a new respondent, averaged over classes."""
        return predict_new_respondent(
            self.posterior, self.class_posterior, sets, return_se, covariates
        )

    def predict_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """Return a new respondent's win, tie and loss probabilities, averaged over classes."""
        return new_outcomes_table(self.posterior, self.class_posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """Return log predictive probability of each new respondent's choices, over classes."""
        return log_predictive_by_class(self.posterior, self.class_posterior, choices)

    def features(
        self,
        min_probability: float,
        similar: float | None,
        match_features: Callable[[float, float], MatchedFeatures],
        ci: float,
    ) -> "pandas.DataFrame":
        """Return a table of probable features with their weights in each class."""
        return group_features_table(self.class_posterior, min_probability, similar, ci)
