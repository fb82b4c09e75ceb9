"""Results of choices: of one population, of people with weights of their own, and of latent classes of people."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.kinds import ONE
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.answer_checks import AlikeRespondents
from thali._model.best_worst import rule_of
from thali._posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.covariates import cells_of
from ..likelihoods.answer_draws import choice_answers, comparison_answers
from . import quantities
from .data_answers import DataAnswers, GroupResults, PersonResults
from .groups import group_features_table
from .kinds_of_people import (
    aligned_members,
    answers_to_pairs,
    as_groups,
    of_kinds,
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

    names_worst = False  # whether answers name the worst of a set, too

    def _own_quantities(self) -> Quantities:
        return quantities.of_sets(self.posterior)

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
        """Choices from sets, or best and worst of them, of nobody in particular."""
        posterior, places = self.posterior, np.zeros(0, np.int64)
        worst = places if self.names_worst else None
        sets = posterior.set_start, posterior.fixed["member"].values.copy()
        empty = Choices._made_of(tuple(posterior.labels), (), *sets, places, places, np.zeros(0), worst, None)
        return empty.with_answers(posterior.chosen)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        return choice_answers(columns_of(posterior).take(draws), data, posterior.lapse, rule_of(posterior))

    def left_out(self, part: Any) -> Any:
        return outcome_draws(self.posterior, part)


class BestWorstResults(SetResults):
    """Choices of the best and the worst of sets."""

    names_worst = True

    def new_person_quantities(self) -> Quantities:
        return quantities.of_every_pair(self.posterior)


class PairResults(SetResults):
    """Paired comparisons."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_pairs(self.posterior)

    def new_person_quantities(self) -> Quantities:
        return self._own_quantities()

    def data(self) -> PairedComparisons:  # type: ignore[override]
        """Comparisons of nobody in particular, whose worths have what covariates of options add."""
        posterior = self.posterior
        cells, (first, second) = cells_of(posterior), posterior.pairs
        counts = [np.array(cells[name], float) for name in ("wins", "losses", "ties")]
        covariates = None
        if names := tuple(posterior.covariates):
            none = np.zeros((posterior.n_options, len(names)))
            covariates = PairCovariates._made_of(names, cells["pair"].copy(), cells["x"].copy(), none, *counts, None)
        sums = [np.bincount(cells["pair"], each, len(first)) for each in counts]
        sides = first.copy(), second.copy()
        return PairedComparisons._made_of(tuple(posterior.labels), *sides, *sums, None, None, covariates)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        posterior = self.posterior
        tie = posterior.tie[draws] if ties else None
        columns, beta = columns_of(posterior).take(draws), posterior.coefficients[draws]
        return comparison_answers(columns, data, posterior.lapse, tie, beta)


class ChooserResults(PersonResults):
    """Choices of people of whom everybody has weights of their own."""

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_population(self.posterior, choices)


class LatentClassResults(DataAnswers):
    """Answers of people of kinds that nobody knows: what is of a new person, and checks of all people."""

    def _own_quantities(self) -> Quantities:
        posterior = self.posterior
        found = of_kinds(posterior)
        if posterior.n_options > quantities.MAX_OPTIONS:
            return found
        return found | self.alike.new_person_quantities()

    @cached_property
    def classes(self) -> Posterior:
        """The posterior of the classes as that of groups, each with the data of its likely members."""
        return as_groups(self.posterior)

    @cached_property
    def alike(self) -> Any:
        """Results of the same data that ask nothing of classes."""
        return answers_of(self.posterior, ONE)

    def data(self) -> Any:
        return self.alike.data()

    def respondents(self, data: Any, asked: Questions, draws: np.ndarray, ties: bool) -> list[AlikeRespondents]:
        """The members of each latent class, who change from draw to draw."""
        person, question, times = _answers_of_people(self.posterior, asked)
        class_of, classes = aligned_members(self.posterior)[draws], self.classes

        def times_of(number: int) -> Callable[[slice], np.ndarray]:
            def times_asked(some: slice) -> np.ndarray:
                here = np.flatnonzero((question >= some.start) & (question < some.stop))
                is_member = class_of[:, person[here]] == number
                found = np.zeros((some.stop - some.start, len(draws)), np.int64)
                np.add.at(found, question[here] - some.start, times[here, None] * is_member.T)
                return found

            return times_asked

        groups = GroupResults(classes)
        each = [groups.of_group(name).answer_probabilities(data, draws, ties) for name in classes.groups]
        return [AlikeRespondents(probabilities, times_of(number)) for number, probabilities in enumerate(each)]

    def judged_besides(self) -> Quantities:
        return GroupResults(self.classes).judged_besides()

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_new(self.posterior, self.classes, sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table_of_new(self.posterior, self.classes, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        return log_predictive_of_kinds(self.posterior, self.classes, choices)

    def features(
        self, min_probability: float, similar: float | None, matched: Callable[[float, float], Matched], ci: float
    ) -> "pandas.DataFrame":
        return group_features_table(self.classes, min_probability, similar, ci)


def _answers_of_people(posterior: Posterior, asked: Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondents, the questions that they answered, and how often."""
    constant = posterior.fixed
    if "answer_place" not in constant:
        given = answers_to_pairs(posterior)
        return given.respondent, given.cell, given.counts.sum(axis=1).astype(np.int64)
    times = posterior.observed["answers"].values.astype(np.int64)
    return constant["answer_respondent"].values, asked.question[constant["answer_place"].values], times
