"""Results of choices: of one population, of individual respondents, and of latent classes."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.subsets import select_choices
from thali._data.kinds import ONE
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.answer_checks import EqualRespondents
from thali._model.ranks import tabulate_ranks
from thali._model.stored_choices import store_pairs, store_sets
from thali._people.latent_classes import (
    align_members,
    label_free_quantities,
    membership_probabilities,
)
from thali._posterior.view import Posterior, flatten_chains

from ..draws.covariate_offsets import read_cells
from ..draws.feature_columns import read_columns
from ..draws.posterior_tree import DataPart
from ..likelihoods.answer_draws import build_choice_probabilities, build_comparison_probabilities
from ..likelihoods.choice_parts import build_data_part
from . import quantities
from .group_posterior import group_features_table
from .latent_class_predictions import (
    convert_classes_to_groups,
    list_respondent_answers,
    new_outcomes_table,
    predict_new_respondent,
)
from .log_predictive import log_predictive_by_class, log_predictive_by_respondent
from .matched_features import MatchedFeatures
from .new_respondents import log_predictive_by_individual, predict_from_population
from .posterior_results import GroupResults, IndividualResults, PosteriorResults
from .predict import outcome_draws, outcomes_table, predict_choices
from .quantities import Quantities
from .registry import load_results

if TYPE_CHECKING:
    import pandas


class SetResults(PosteriorResults):
    """Results of choices from sets of any size."""

    def _get_kind_quantities(self) -> Quantities:
        """Return the stored quantities `set_probability[a | a, b, ...]`."""
        probability = self.posterior.set_probability
        if probability is None:
            return {}
        return {
            f"set_probability[{a} | {offered}]": probability[..., place_index]
            for place_index, (a, offered) in enumerate(self.posterior.places)
        }

    def owner_quantities(self) -> Quantities:
        return quantities.shared_aspect_quantities(self.posterior)

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predict_choices(self.posterior, sets, return_se, covariates)

    def predict_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table(self.posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_by_respondent(self.posterior, choices)

    def data(self) -> Choices:
        """Return choices from sets, without respondents."""
        posterior, no_places = self.posterior, np.zeros(0, np.int64)
        sets = posterior.set_start, posterior.fixed["member"].values.copy()
        unanswered = Choices._from_fields(
            tuple(posterior.labels), (), *sets, no_places, no_places, np.zeros(0), None, None
        )
        return unanswered.with_answers(posterior.chosen)

    def build_data_part(self, counts: np.ndarray) -> DataPart:
        """Build the data part of the questions with these answer counts.

        Questions without answers are omitted.
        """
        data, answer_indices = self.data(), np.flatnonzero(counts)
        answered = select_choices(
            data,
            np.full(answer_indices.size, -1),
            *data.places_of(answer_indices),
            times=counts[answer_indices],
        )
        return build_data_part(
            store_sets(answered, self.posterior.lapse), self.posterior.has_unique
        )

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        return build_choice_probabilities(
            read_columns(posterior).take(draws), data, posterior.lapse
        )

    def predict_held_out(self, held_out: Any) -> Any:
        return outcome_draws(self.posterior, held_out)


class PairResults(SetResults):
    """Results of paired comparisons."""

    def _get_kind_quantities(self) -> Quantities:
        """Return the summary quantities of paired comparisons."""
        return quantities.pair_quantities(self.posterior)

    def data(self) -> PairedComparisons:  # type: ignore[override]
        """Return paired comparisons, without respondents."""
        cells = read_cells(self.posterior)
        counts = np.column_stack([cells[name] for name in ("wins", "ties", "losses")])
        return self._build_comparisons(counts)

    def build_data_part(self, counts: np.ndarray) -> DataPart:
        posterior = self.posterior
        counts = counts.reshape(len(read_cells(posterior)["pair"]), -1)
        if not posterior.has_ties:
            counts = np.insert(counts, 1, 0.0, axis=1)
        data = self._build_comparisons(counts)
        return build_data_part(
            store_pairs(data, posterior.lapse, posterior.has_ties), posterior.has_unique
        )

    def _build_comparisons(self, counts: np.ndarray) -> PairedComparisons:
        """Build comparisons from outcome counts (cells, 3); omit empty cells."""
        cells, has_count = read_cells(self.posterior), counts.sum(axis=1) > 0.0
        pair_indices, pair = np.unique(cells["pair"][has_count], return_inverse=True)
        first_options, second_options = (options[pair_indices] for options in self.posterior.pairs)
        wins, ties, losses = np.array(counts[has_count].T, float)
        covariates = None
        if names := tuple(self.posterior.covariates):
            option_values = np.zeros((self.posterior.n_options, len(names)))
            covariates = PairCovariates._from_fields(
                names, pair, cells["x"][has_count], option_values, wins, losses, ties, None
            )
        sums = [np.bincount(pair, counts_j, len(pair_indices)) for counts_j in (wins, losses, ties)]
        labels = tuple(self.posterior.labels)
        return PairedComparisons._from_fields(
            labels, first_options, second_options, *sums, None, None, covariates
        )

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        tie_parameter = None
        if ties:
            tie_parameter = posterior.tie[draws]
        columns, beta = read_columns(posterior).take(draws), posterior.coefficients[draws]
        return build_comparison_probabilities(columns, data, posterior.lapse, tie_parameter, beta)


class RespondentChoiceResults(IndividualResults):
    """Results of choices of respondents with individual weights."""

    def ranks(self, every_rank: bool, ci: float) -> "pandas.DataFrame":
        """Return a table of ranks by the common weights."""
        return tabulate_ranks(
            flatten_chains(self.posterior.common_worth), self.posterior.labels, every_rank, ci
        )

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predict_from_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_by_individual(self.posterior, choices)


class LatentClassResults(PosteriorResults):
    """Results of latent classes: predictions for a new respondent, checks of all."""

    def _get_kind_quantities(self) -> Quantities:
        """Return label-free quantities of classes and, with few options, of the pooled choices."""
        posterior = self.posterior
        class_rows = label_free_quantities(posterior)
        if posterior.n_options > quantities.MAX_OPTIONS:
            return class_rows
        return class_rows | self.pooled_results._get_kind_quantities()

    @cached_property
    def class_posterior(self) -> Posterior:
        """The posterior of the classes as groups, with the data of probable members."""
        posterior, pooled = self.posterior, self.pooled_results
        questions = pooled.data().questions(posterior.has_ties)
        respondent_index, answer, n_times = list_respondent_answers(posterior)
        probable_class = membership_probabilities(posterior).argmax(axis=1)[respondent_index]
        parts, place_indices = [], []
        for class_index in range(posterior.most_classes):
            counts = np.bincount(
                answer, n_times * (probable_class == class_index), len(questions.counts)
            )
            parts.append(pooled.build_data_part(counts))
            place_indices.append(
                np.flatnonzero(np.repeat(questions.sum_by_question(counts) > 0.0, questions.sizes))
            )
        return convert_classes_to_groups(posterior, parts, place_indices)

    @cached_property
    def pooled_results(self) -> Any:
        """Results of the same data without latent classes."""
        return load_results(self.posterior, ONE)

    def data(self) -> Any:
        return self.pooled_results.data()

    def group_respondents(
        self, data: Any, questions: Questions, draws: np.ndarray, ties: bool
    ) -> list[EqualRespondents]:
        """Return the members of each latent class, which change between draws."""
        all_questions = data.questions(self.posterior.has_ties)
        (respondent, answer, times) = list_respondent_answers(self.posterior)
        question = all_questions.question[answer]
        class_index, classes = align_members(self.posterior)[draws], self.class_posterior

        def count_asked(g: int) -> Callable[[slice], np.ndarray]:
            """Return a function of a question slice: times class g was asked each."""

            def count_in_slice(part: slice) -> np.ndarray:
                """Count how often each question was asked, (questions, draws)."""
                rows = np.flatnonzero((question >= part.start) & (question < part.stop))
                is_member = class_index[:, respondent[rows]] == g
                n_asked = np.zeros((part.stop - part.start, len(draws)))
                np.add.at(n_asked, question[rows] - part.start, times[rows, None] * is_member.T)
                return n_asked

            return count_in_slice

        groups = GroupResults(classes)
        return [
            EqualRespondents(
                groups.select_group(name).answer_probabilities(data, draws, ties), count_asked(g)
            )
            for g, name in enumerate(classes.groups)
        ]

    def agreement_quantities(self) -> Quantities:
        return GroupResults(self.class_posterior).agreement_quantities()

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predict_new_respondent(
            self.posterior, self.class_posterior, sets, return_se, covariates
        )

    def predict_outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return new_outcomes_table(self.posterior, self.class_posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_by_class(self.posterior, self.class_posterior, choices)

    def features(
        self,
        min_probability: float,
        similar: float | None,
        match_features: Callable[[float, float], MatchedFeatures],
        ci: float,
    ) -> "pandas.DataFrame":
        return group_features_table(self.class_posterior, min_probability, similar, ci)
