"""What a posterior answers because of its kind of data, or because its data are of several groups or kinds of people.

One class a kind of data, with the tables that are its own, and one a population over them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.groups import GroupedData
from thali._data.kinds import (
    BEST_WORST,
    CHOICES,
    OWN,
    PAIRS,
    SIMILARITIES,
    TRIPLETS,
)
from thali._posterior.convergence import Advice
from thali._posterior.interval import INTERVAL
from thali._posterior.view import GROUPS, KINDS, PEOPLE, Posterior

from ..draws.columns import columns_of
from ..draws.similarities import measured_similarities, similarity_draws
from ..draws.triplets import answered, pair_similarities, shared_draws
from . import quantities
from .features import add_convergence, features_table
from .groups import group_check_table, group_features_table
from .kind import of_choices, of_known_data
from .kinds_of_people import (
    as_groups,
    outcomes_table_of_new,
    predicted_of_new,
)
from .log_predictive import log_predictive_of_kinds, log_predictive_of_one
from .matched_features import Matched, matched_features, matched_table, similar_for
from .new_people import log_predictive_of_population, predicted_of_population
from .predict import outcomes_table, predicted_pairs, predicted_with_errors
from .quantities import Quantities
from .questions import check_table, predicted_table
from .similarity_check import similarity_check_table

if TYPE_CHECKING:
    import pandas


class DataAnswers:
    """Answers of a posterior of one kind of data; what a kind of data has no answer for is refused."""

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior

    def quantities(self) -> Quantities:
        """The label-free quantities, by the names of the rows of the summary."""
        return quantities.of_all(self.posterior) | self._own_quantities()

    def _own_quantities(self) -> Quantities:
        raise NotImplementedError

    def judged_besides(self) -> Quantities:
        """What the agreement of chains is judged by besides the rows of the summary."""
        return self.judged_owners()

    def judged_owners(self) -> Quantities:
        """What of it says who owns which features, which all groups or kinds of people have in common."""
        return {}

    def judges(self, name: str) -> bool:
        """Whether a row of the summary is one of those that it is judged by."""
        return True

    def advice(self) -> Advice:
        """What helps chains that disagree."""
        return quantities.advice_of(self.posterior)

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        """What was observed against replicates of the model."""
        return check_table(self.posterior, random_seed, ci)

    def predictions(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The proportions that were observed, and what the model says of them."""
        return predicted_table(self.posterior, ci)

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """The probabilities of what is chosen out of sets, and their errors if asked for."""
        return predicted_with_errors(of_choices(self.posterior, "predict_proba"), sets, return_se, covariates)

    def outcomes(self, pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """The probabilities of the three outcomes of comparisons that may end in a tie."""
        return outcomes_table(of_choices(self.posterior, "predict_outcomes"), pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """The logarithm of the probability of all choices of each person together."""
        return log_predictive_of_one(of_choices(self.posterior, "log_predictive"), choices)

    def features(
        self, min_probability: float, similar: float | None, matched: Callable[[float, float], Matched], ci: float
    ) -> "pandas.DataFrame":
        """The features that are probable, with their weights; with `similar` those that `matched` finds."""
        if similar is None:
            return add_convergence(features_table(self.posterior, min_probability, ci), self.posterior)
        return matched_table(self.posterior, matched(similar, min_probability), ci)

    def data(self) -> Any:
        """What the model was fitted to, as far as the posterior holds it."""
        raise NotImplementedError


class OfSets(DataAnswers):
    """Choices out of sets of any size."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_sets(self.posterior)

    def judged_owners(self) -> Quantities:
        return quantities.of_shared_aspects(self.posterior)


class OfPairs(OfSets):
    """Paired comparisons."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_pairs(self.posterior)


class OfObjects(DataAnswers):
    """What is alike to people, who compare objects: chains are judged by what is reported of pairs, too."""

    def judged_besides(self) -> Quantities:
        return quantities.of_some_pairs(self.posterior, "similarity", self._similarity) | self.judged_owners()

    def judged_owners(self) -> Quantities:
        return quantities.of_some_pairs(self.posterior, "shared_features", self._shared)

    def judges(self, name: str) -> bool:
        # of many objects features are reported that were matched, of whatever owners, which pairs show
        return similar_for(self.posterior.n_options) is None or not name.startswith(("presence[", "weight["))

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The similarity of pairs in each draw (draws, pairs)."""
        raise NotImplementedError

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """How many features, that the data depend on, both objects of each pair have in each draw (draws, pairs)."""
        raise NotImplementedError

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_pairs(self.posterior, sets, return_se)  # which refuses similarities


class OfSimilarities(OfObjects):
    """Similarities of objects, two at a time."""

    def _own_quantities(self) -> Quantities:
        return quantities.of_similarities(self.posterior)

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return similarity_draws(columns_of(self.posterior), self.posterior.constant, first, second)

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns = columns_of(self.posterior)
        return similarity_draws(replace(columns, weights=np.ones_like(columns.weights)), 0.0, first, second)

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        return similarity_check_table(self.posterior, random_seed, ci)

    def data(self) -> Any:
        return measured_similarities(self.posterior)


class OfTriplets(OfObjects):
    """Which pair of a set is the most similar."""

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        posterior = self.posterior
        return pair_similarities(columns_of(posterior), posterior.constant, first, second, posterior.link)

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns = columns_of(self.posterior)
        counted = replace(columns, weights=np.ones_like(columns.weights))
        return shared_draws(counted, None, first, second, self.posterior.link)

    def _own_quantities(self) -> Quantities:
        return quantities.of_triplets(self.posterior)

    def data(self) -> Any:
        return answered(self.posterior)


class OfOwnData(DataAnswers):
    """Data of a likelihood of the user's own."""

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        return check_table(of_known_data(self.posterior, "check"), random_seed, ci)  # which refuses them

    def _own_quantities(self) -> Quantities:
        return quantities.of_own(self.posterior)


class OfGroups(DataAnswers):
    """Several groups of people, each with data of the same kind."""

    _each_is = "group"

    def _each(self) -> dict[str, DataAnswers]:
        """The answers of every group, by its name."""
        return {name: answers_of(self.posterior.of_group(name)) for name in self.posterior.groups}

    def _first(self) -> DataAnswers:
        """The answers of the first group, which has the features of all."""
        return answers_of(self.posterior.of_group(self.posterior.groups[0]))

    def quantities(self) -> Quantities:
        return quantities.of_groups(self.posterior, {name: one.quantities() for name, one in self._each().items()})

    def judged_besides(self) -> Quantities:
        return self._first().judged_owners()

    def judges(self, name: str) -> bool:
        return self._first().judges(name)

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        tables = {name: one.check(random_seed, ci) for name, one in self._each().items()}
        return group_check_table(tables, self._each_is)

    def features(
        self, min_probability: float, similar: float | None, matched: Callable[[float, float], Matched], ci: float
    ) -> "pandas.DataFrame":
        return group_features_table(self.posterior, min_probability, similar, ci)

    def data(self) -> Any:
        return GroupedData({name: one.data() for name, one in self._each().items()})


class OfPeople(OfGroups):
    """People of whom everybody has weights of their own about common ones: what is of a new person."""

    _each_is = "respondent"

    def quantities(self) -> Quantities:
        return quantities.of_everybody(self.posterior, self._first().quantities())

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        if not self.posterior.facts.of_choices:
            return super().predicted(sets, return_se, covariates)
        return predicted_of_population(self.posterior, sets, return_se, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        if not self.posterior.facts.of_choices:
            return super().log_predictive(choices)
        return log_predictive_of_population(self.posterior, choices)

    def features(
        self, min_probability: float, similar: float | None, matched: Callable[[float, float], Matched], ci: float
    ) -> "pandas.DataFrame":
        common = self.posterior.of_common()
        return answers_of(common).features(min_probability, similar, partial(matched_features, common), ci)


class OfKinds(DataAnswers):
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


_OF_ONE: dict[str, type[DataAnswers]] = {
    PAIRS: OfPairs,
    CHOICES: OfSets,
    BEST_WORST: OfSets,
    SIMILARITIES: OfSimilarities,
    TRIPLETS: OfTriplets,
    OWN: OfOwnData,
}
_OF_SEVERAL: dict[str, type[DataAnswers]] = {GROUPS: OfGroups, PEOPLE: OfPeople, KINDS: OfKinds}


def answers_of(posterior: Posterior) -> DataAnswers:
    """What a posterior answers because of its data and people."""
    return _OF_SEVERAL.get(posterior.population, _OF_ONE[posterior.kind_of_one])(posterior)
