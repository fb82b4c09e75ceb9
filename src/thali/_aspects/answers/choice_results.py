"""Results of choices: of one population, of people with weights of their own, and of latent classes
of people."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.parts import select_choices
from thali._data.kinds import ONE
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.answer_checks import EqualRespondents
from thali._model.ranks import tabulate_ranks
from thali._model.stored_choices import store_pairs, store_sets
from thali._people.latent_classes import aligned_members, label_free_quantities, memberships
from thali._posterior.view import Posterior, flat

from ..draws.columns import columns_of
from ..draws.covariates import cells_of
from ..draws.tree import DataPart
from ..likelihoods.answer_draws import choice_answers, comparison_answers
from ..likelihoods.choice_parts import part_of_data
from . import quantities
from .data_answers import DataAnswers, GroupResults, PersonResults
from .groups import group_features_table
from .kinds_of_people import (
    answers_of_people,
    as_groups,
    outcomes_table_of_new,
    predicted_of_new,
)
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
        return quantities.of_offered(self.posterior)

    def new_person_quantities(self) -> Quantities:
        """Quantities of a person of whom only the answers of others are known."""
        return quantities.of_offered(self.posterior)

    def judged_owners(self) -> Quantities:
        return quantities.of_shared_aspects(self.posterior)

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_with_errors(self.posterior, sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table(self.posterior, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_one(self.posterior, choices)

    def data(self) -> Choices:
        """Choices from sets of nobody in particular."""
        posterior, places = self.posterior, np.zeros(0, np.int64)
        sets = posterior.set_start, posterior.fixed["member"].values.copy()
        empty = Choices._from_fields(
            tuple(posterior.labels), (), *sets, places, places, np.zeros(0), None, None
        )
        return empty.with_answers(posterior.chosen)

    def stored(self, counts: np.ndarray) -> DataPart:
        """Return what a posterior holds of the same questions with these counts, without those that
        nobody answered."""
        data, given = self.data(), np.flatnonzero(counts)
        answered = select_choices(
            data, np.full(given.size, -1), *data.places_of(given), times=counts[given]
        )
        return part_of_data(store_sets(answered, self.posterior.lapse), self.posterior.has_unique)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        return choice_answers(columns_of(posterior).take(draws), data, posterior.lapse)

    def left_out(self, part: Any) -> Any:
        return outcome_draws(self.posterior, part)


class PairResults(SetResults):
    """Paired comparisons."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_pairs(self.posterior)

    def new_person_quantities(self) -> Quantities:
        return self._own_quantities()

    def data(self) -> PairedComparisons:  # type: ignore[override]
        """Make paired comparisons whose respondents are unknown."""
        cells = cells_of(self.posterior)
        counts = np.column_stack([cells[name] for name in ("wins", "ties", "losses")])
        return self._comparisons(counts)

    def stored(self, counts: np.ndarray) -> DataPart:
        posterior = self.posterior
        counts = counts.reshape(len(cells_of(posterior)["pair"]), -1)
        if not posterior.has_ties:
            counts = np.insert(counts, 1, 0.0, axis=1)
        data = self._comparisons(counts)
        return part_of_data(
            store_pairs(data, posterior.lapse, posterior.has_ties), posterior.has_unique
        )

    def _comparisons(self, counts: np.ndarray) -> PairedComparisons:
        """Return the comparisons with these counts of each cell (cells, 3), without cells that have
        none."""
        cells, kept = cells_of(self.posterior), counts.sum(axis=1) > 0.0
        compared, pair = np.unique(cells["pair"][kept], return_inverse=True)
        first, second = (side[compared] for side in self.posterior.pairs)
        wins, tied, losses = np.array(counts[kept].T, float)
        covariates = None
        if names := tuple(self.posterior.covariates):
            options = np.zeros((self.posterior.n_options, len(names)))
            covariates = PairCovariates._from_fields(
                names, pair, cells["x"][kept], options, wins, losses, tied, None
            )
        sums = [np.bincount(pair, each, len(compared)) for each in (wins, losses, tied)]
        labels = tuple(self.posterior.labels)
        return PairedComparisons._from_fields(labels, first, second, *sums, None, None, covariates)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        tie = posterior.tie[draws] if ties else None
        columns, beta = columns_of(posterior).take(draws), posterior.coefficients[draws]
        return comparison_answers(columns, data, posterior.lapse, tie, beta)


class ChooserResults(PersonResults):
    """Choices of people of whom everybody has weights of their own."""

    def ranks(self, every_rank: bool, ci: float) -> "pandas.DataFrame":
        """The ranks by the common weights."""
        return tabulate_ranks(
            flat(self.posterior.common_worth), self.posterior.labels, every_rank, ci
        )

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_population(self.posterior, choices)


class LatentClassResults(DataAnswers):
    """Answers of people of kinds that nobody knows: what is of a new person, and checks of all
    people."""

    def _own_quantities(self) -> Quantities:
        posterior = self.posterior
        found = label_free_quantities(posterior)
        if posterior.n_options > quantities.MAX_OPTIONS:
            return found
        return found | self.alike.new_person_quantities()

    @cached_property
    def classes(self) -> Posterior:
        """The posterior of the classes as that of groups, each with the data of its likely
        members."""
        posterior, alike = self.posterior, self.alike
        asked = alike.data().questions(posterior.has_ties)
        person, answer, times = answers_of_people(posterior)
        likely = memberships(posterior).argmax(axis=1)[person]
        parts, kept = [], []
        for number in range(posterior.most_classes):
            counts = np.bincount(answer, times * (likely == number), len(asked.counts))
            parts.append(alike.stored(counts))
            kept.append(np.flatnonzero(np.repeat(asked.summed(counts) > 0.0, asked.sizes)))
        return as_groups(posterior, parts, kept)

    @cached_property
    def alike(self) -> Any:
        """Results of the same data that ask nothing of classes."""
        return answers_of(self.posterior, ONE)

    def data(self) -> Any:
        return self.alike.data()

    def respondents(
        self, data: Any, asked: Questions, draws: np.ndarray, ties: bool
    ) -> list[EqualRespondents]:
        """The members of each latent class, who change from draw to draw."""
        stored = data.questions(self.posterior.has_ties)
        (person, answer, times) = answers_of_people(self.posterior)
        question = stored.question[answer]
        class_of, classes = aligned_members(self.posterior)[draws], self.classes

        def times_of(number: int) -> Callable[[slice], np.ndarray]:
            def times_asked(some: slice) -> np.ndarray:
                here = np.flatnonzero((question >= some.start) & (question < some.stop))
                is_member = class_of[:, person[here]] == number
                found = np.zeros((some.stop - some.start, len(draws)))
                np.add.at(found, question[here] - some.start, times[here, None] * is_member.T)
                return found

            return times_asked

        groups = GroupResults(classes)
        each = [
            groups.of_group(name).answer_probabilities(data, draws, ties) for name in classes.groups
        ]
        return [
            EqualRespondents(probabilities, times_of(number))
            for number, probabilities in enumerate(each)
        ]

    def judged_besides(self) -> Quantities:
        return GroupResults(self.classes).judged_besides()

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_new(self.posterior, self.classes, sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table_of_new(self.posterior, self.classes, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_kinds(self.posterior, self.classes, choices)

    def features(
        self,
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
        ci: float,
    ) -> "pandas.DataFrame":
        return group_features_table(self.classes, min_probability, similar, ci)
