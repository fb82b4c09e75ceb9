"""Results of a posterior that depend on its data or its population: what all have, and those of
groups and people.

What depends on the kind of data stands in a file of its own; `registry` has the table of all.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.groups import GroupedData
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.answer_checks import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.predictive_check import merge_group_checks, select_draws
from thali._model.ranks import tabulate_ranks
from thali._posterior.convergence import Advice
from thali._posterior.interval import INTERVAL
from thali._posterior.view import Posterior

from ..draws.columns import columns_of
from . import quantities
from .features import add_convergence, features_table
from .groups import group_features_table
from .kind import not_of_choices
from .matched_features import Matched, matched_features, matched_table
from .options import utility_draws
from .quantities import Quantities
from .registry import answers_of
from .stored_layout import TEMPERED_LATER

if TYPE_CHECKING:
    import pandas

_TEMPERED_LATER = (
    " Without tempering the chains stayed in different sets of features, so they were"
    " restarted with tempering."
)


class DataAnswers:
    """Answers of a posterior of one kind of data; what a kind of data has no answer for is
    refused."""

    _each_is: Any = None  # what a part of several is called

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior

    def quantities(self) -> Quantities:
        """The label-free quantities, by the names of the rows of the summary."""
        posterior = self.posterior
        found = self.counted_features()
        if posterior.learned_alpha:
            found["alpha"] = posterior.alpha
        return found | {"log_likelihood": posterior.log_likelihood} | self._own_quantities()

    def counted_features(self) -> Quantities:
        """The number of features, of those that the data tell of."""
        return {"n_features": self.posterior.n_features}

    def _own_quantities(self) -> Quantities:
        raise NotImplementedError

    def judged_besides(self) -> Quantities:
        """What the agreement of chains is judged by besides the rows of the summary."""
        return self.judged_owners()

    def judged_owners(self) -> Quantities:
        """What of it says who owns which features, which all groups or kinds of people have in
        common."""
        return {}

    def judges(self, name: str) -> bool:
        """Whether a row of the summary is one of those that it is judged by."""
        return True

    def advice(self) -> Advice:
        """What helps chains that disagree."""
        attributes = self.posterior.attributes
        advice = self.remedies()
        return (
            advice._replace(note=(_TEMPERED_LATER,)) if attributes.get(TEMPERED_LATER) else advice
        )

    def remedies(self) -> Advice:
        """Remedies of chains that disagree, for this kind of data."""
        return quantities.advice_of_choices(self.posterior)

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        """What was observed against replicates of the model."""
        data, ties = self.data(), self.posterior.has_ties
        asked = data.questions(ties)
        check_unweighted(asked)
        draws = select_draws(self.posterior.n_draws, len(asked.counts))
        return check_answers(
            asked, self.respondents(data, asked, draws, ties), len(draws), random_seed, ci
        )

    def predictions(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The proportions that were observed, and what the model says of them."""
        data, draws = self.data(), np.arange(self.posterior.n_draws)
        asked = data.questions(False)
        return predict_answers(asked, self.respondents(data, asked, draws, False), len(draws), ci)

    def respondents(
        self, data: Any, asked: Questions, draws: np.ndarray, ties: bool
    ) -> list[EqualRespondents]:
        """Those who answered, by some draws, as respondents who are alike."""
        return [
            EqualRespondents.from_times(self.answer_probabilities(data, draws, ties), asked.times)
        ]

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """The probabilities of the answers to questions of these data, by some draws."""
        raise NotImplementedError

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """The probabilities of what is chosen out of sets, and their errors if asked for."""
        raise not_of_choices(self.posterior, "predict_proba")

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """The probabilities of the three outcomes of comparisons that may end in a tie."""
        raise not_of_choices(self.posterior, "predict_outcomes")

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """The logarithm of the probability of all choices of each person together."""
        raise not_of_choices(self.posterior, "log_predictive")

    def left_out(self, part: Any) -> Any:
        """What every draw predicts for data that the model was fitted without."""
        raise not_of_choices(self.posterior, "A prediction of left-out data")

    def features(
        self,
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
        ci: float,
    ) -> "pandas.DataFrame":
        """The features that are probable, with their weights; with `similar` those that `matched`
        finds."""
        if similar is None:
            return add_convergence(
                features_table(self.posterior, min_probability, ci), self.posterior
            )
        return matched_table(self.posterior, matched(similar, min_probability), ci)

    def ranks(self, every_rank: bool, ci: float) -> "pandas.DataFrame":
        """The rank of each option by utility, 1 the highest, with the probability of the first, or
        all."""
        return tabulate_ranks(
            utility_draws(columns_of(self.posterior)), self.posterior.labels, every_rank, ci
        )

    def data(self) -> Any:
        """What the model was fitted to, as far as the posterior holds it."""
        raise NotImplementedError


class OwnDataResults(DataAnswers):
    """Data of a likelihood of the user's own."""

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        raise not_of_choices(self.posterior, "check")

    def _own_quantities(self) -> Quantities:
        return quantities.of_own(self.posterior)

    def remedies(self) -> Advice:
        return quantities.advice_of_own(self.posterior)


class GroupResults(DataAnswers):
    """Several groups of people, each with data of the same kind."""

    _each_is = "group"

    def of_group(self, name: str) -> DataAnswers:
        """The results of one group."""
        return answers_of(self.posterior.of_group(name))

    def _each(self) -> dict[str, DataAnswers]:
        """The results of every group, by its name."""
        return {name: self.of_group(name) for name in self.posterior.groups}

    def _first(self) -> DataAnswers:
        """The results of the first group, which has the features of all."""
        return self.of_group(self.posterior.groups[0])

    def quantities(self) -> Quantities:
        return quantities.of_groups(
            self.posterior, {name: one.quantities() for name, one in self._each().items()}
        )

    def judged_besides(self) -> Quantities:
        return self._first().judged_owners()

    def judges(self, name: str) -> bool:
        return self._first().judges(name)

    def remedies(self) -> Advice:
        return self._first().remedies()

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        tables = {name: one.check(random_seed, ci) for name, one in self._each().items()}
        return merge_group_checks(tables, self._each_is)

    def features(
        self,
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
        ci: float,
    ) -> "pandas.DataFrame":
        return group_features_table(self.posterior, min_probability, similar, ci)

    def data(self) -> Any:
        return GroupedData({name: one.data() for name, one in self._each().items()})


class PersonResults(GroupResults):
    """People of whom everybody has weights of their own about common ones: what is of a new
    person."""

    _each_is = "respondent"

    def quantities(self) -> Quantities:
        return quantities.of_everybody(self.posterior, self._first().quantities())

    def features(
        self,
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
        ci: float,
    ) -> "pandas.DataFrame":
        common = self.posterior.of_common()
        return answers_of(common).features(
            min_probability, similar, partial(matched_features, common), ci
        )
