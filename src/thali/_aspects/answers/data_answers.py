"""What a posterior answers because of its kind of data, or because its data are of several groups or kinds of people.

One class a kind of data, with the tables that are its own, and one a population over them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.groups import GroupedData
from thali._data.kinds import (
    BEST_WORST,
    BEST_WORST_KINDS,
    CHOICE_KINDS,
    CHOICES,
    OF_GROUPS,
    OWN,
    PAIR_KINDS,
    PAIRS,
    SIMILARITIES,
    TRIPLETS,
)
from thali._posterior.convergence import Advice
from thali._posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.similarities import measured_similarities, similarity_draws
from ..draws.triplets import answered, pair_similarities, parts_of, shared_draws
from . import quantities
from .features import add_convergence, features_table
from .groups import group_check_table, group_features_table, tree_of_common, tree_of_group
from .kind import of_choices, of_known_data
from .kinds_of_people import (
    as_groups,
    outcomes_table_of_new,
    predicted_of_new,
)
from .log_predictive import log_predictive_of_kinds, log_predictive_of_one
from .matched_features import Matched, matched_features, matched_table, similar_for
from .new_people import log_predictive_of_population, predicted_of_population
from .predict import outcomes_table, predicted_left_out, predicted_pairs, predicted_with_errors
from .quantities import Quantities
from .questions import check_table, predicted_table
from .similarity_check import similarity_check_table

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.judged import Judged
    from thali._data.similarities import Similarities
    from thali._data.triplets import Triplets

# Observations, evenly spaced, and draws of each chain, whose densities are computed where they are not stored.


class DataAnswers:
    """Answers of posteriors of one kind of data; what a kind of data has no answer for is refused."""

    counted: ClassVar[str] = "n_features"  # the variable that says how many features there are

    def quantities(self, tree: "xarray.DataTree") -> Quantities:
        """The label-free quantities, by the names of the rows of the summary."""
        return quantities.of_all(tree, self.counted) | self._own_quantities(tree)

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        raise NotImplementedError

    def judged_besides(self, tree: "xarray.DataTree") -> Quantities:
        """What the agreement of chains is judged by besides the rows of the summary."""
        return self.judged_owners(tree)

    def judged_owners(self, tree: "xarray.DataTree") -> Quantities:
        """What of it says who owns which features, which all groups or kinds of people have in common."""
        return {}

    def judges(self, tree: "xarray.DataTree", name: str) -> bool:
        """Whether a row of the summary is one of those that it is judged by."""
        return True

    def of_owners(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """A posterior of one group whose features are those of all."""
        return tree

    def advice(self, tree: "xarray.DataTree") -> Advice:
        """What helps chains that disagree."""
        return quantities.advice_of(tree, self._advice)

    def _advice(self, tree: "xarray.DataTree") -> Advice:
        return quantities.advice_of_choices(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
        """What was observed against replicates of the model."""
        return check_table(tree, random_seed)

    def predictions(self, tree: "xarray.DataTree") -> "pandas.DataFrame":
        """The proportions that were observed, and what the model says of them."""
        return predicted_table(tree)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        """The probabilities of what is chosen out of sets, and their errors if asked for."""
        return predicted_with_errors(of_choices(tree, "predict_proba"), sets, return_se, covariates)

    def outcomes(self, tree: "xarray.DataTree", pairs: Any, covariates: Any) -> "pandas.DataFrame":
        """The probabilities of the three outcomes of comparisons that may end in a tie."""
        return outcomes_table(of_choices(tree, "predict_outcomes"), pairs, covariates)

    def left_out(self, tree: "xarray.DataTree", part: Any) -> Any:
        """What draws predict for pairs that were left out of the fit."""
        return predicted_left_out(tree, part)

    def log_predictive(self, tree: "xarray.DataTree", choices: Any) -> "pandas.Series":
        """The logarithm of the probability of all choices of each person together."""
        return log_predictive_of_one(of_choices(tree, "log_predictive"), choices)

    def features(
        self,
        tree: "xarray.DataTree",
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
    ) -> "pandas.DataFrame":
        """The features that are probable, with their weights; with `similar` those that `matched` finds."""
        if similar is None:
            return add_convergence(features_table(tree, min_probability), tree)
        return matched_table(tree, matched(similar, min_probability))

    def data(self, tree: "xarray.DataTree") -> "Judged":
        """What the model was fitted to, as far as the posterior holds it."""
        raise NotImplementedError


class OfSets(DataAnswers):
    """Choices out of sets of any size."""

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_sets(tree)

    def judged_owners(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_shared_aspects(tree)


class OfPairs(OfSets):
    """Paired comparisons."""

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_pairs(tree)


class OfObjects(DataAnswers):
    """What is alike to people, who compare objects: chains are judged by what is reported of pairs, too."""

    def judged_besides(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_some_pairs(tree, "similarity", self._similarity) | self.judged_owners(tree)

    def judged_owners(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_some_pairs(tree, "shared_features", self._shared)

    def judges(self, tree: "xarray.DataTree", name: str) -> bool:
        # of many objects features are reported that were matched, of whatever owners, which pairs show
        return similar_for(tree["posterior"].sizes["option"]) is None or not name.startswith(("presence[", "weight["))

    def _similarity(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The similarity of pairs in each draw (draws, pairs)."""
        raise NotImplementedError

    def _shared(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """How many features, that the data depend on, both objects of each pair have in each draw (draws, pairs)."""
        raise NotImplementedError


class OfSimilarities(OfObjects):
    """Similarities of objects, two at a time."""

    counted = "n_shared_features"  # those of a single object are drawn from the prior

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_similarities(tree)

    def _similarity(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return similarity_draws(columns_of(tree), tree["posterior"].dataset["constant"].values, first, second)

    def _shared(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns = columns_of(tree)
        return similarity_draws(replace(columns, weights=np.ones_like(columns.weights)), 0.0, first, second)

    def _advice(self, tree: "xarray.DataTree") -> Advice:
        return quantities.advice_of_similarities(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
        return similarity_check_table(tree, random_seed)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_pairs(tree, sets, return_se)  # which refuses them

    def data(self, tree: "xarray.DataTree") -> "Similarities":
        return measured_similarities(tree)


class OfTriplets(OfObjects):
    """Which pair of a set is the most similar."""

    def _similarity(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns, constant, link, _ = parts_of(tree)
        return pair_similarities(columns, constant, first, second, link)

    def _shared(self, tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns, _, link, _ = parts_of(tree)
        return shared_draws(replace(columns, weights=np.ones_like(columns.weights)), None, first, second, link)

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_triplets(tree)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_pairs(tree, sets, return_se)

    def data(self, tree: "xarray.DataTree") -> "Triplets":
        return answered(tree)


class OfOwnData(DataAnswers):
    """Data of a likelihood of the user's own."""

    def check(self, tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
        return super().check(of_known_data(tree, "check"), random_seed)  # which refuses them

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_own(tree)

    def _advice(self, tree: "xarray.DataTree") -> Advice:
        return quantities.advice_of_own(tree)


class OfGroups(DataAnswers):
    """Several groups of people, each with data of the same kind."""

    def __init__(self, one: DataAnswers) -> None:
        self.one = one

    def quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_groups(tree, self.one.quantities)

    def judged_besides(self, tree: "xarray.DataTree") -> Quantities:
        return self.one.judged_owners(self.of_owners(tree))

    def of_owners(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        return tree_of_group(tree, Posterior(tree).groups[0])

    def judges(self, tree: "xarray.DataTree", name: str) -> bool:
        return self.one.judges(tree, name)

    def _advice(self, tree: "xarray.DataTree") -> Advice:
        return self.one._advice(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
        return group_check_table(tree, random_seed, self.one.check)

    def features(
        self,
        tree: "xarray.DataTree",
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
    ) -> "pandas.DataFrame":
        return group_features_table(tree, min_probability, similar)

    def data(self, tree: "xarray.DataTree") -> GroupedData:
        return GroupedData({name: self.one.data(tree_of_group(tree, name)) for name in Posterior(tree).groups})


class OfPeople(OfGroups):
    """People of whom everybody has weights of their own about common ones: what is of a new person."""

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        if Posterior(tree).common_worth is None:  # nobody chooses
            return super().predicted(tree, sets, return_se, covariates)
        return predicted_of_population(tree, sets, return_se, covariates)

    def log_predictive(self, tree: "xarray.DataTree", choices: Any) -> "pandas.Series":
        if Posterior(tree).common_worth is None:
            return super().log_predictive(tree, choices)
        return log_predictive_of_population(tree, choices)

    def features(
        self,
        tree: "xarray.DataTree",
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
    ) -> "pandas.DataFrame":
        common = tree_of_common(tree)
        return self.one.features(common, min_probability, similar, partial(matched_features, common))


class OfKinds(DataAnswers):
    """Answers of people of kinds that nobody knows: what is of a new person, and checks of all people."""

    def __init__(self, one: DataAnswers, of_new: Callable[["xarray.DataTree"], Quantities]) -> None:
        self.one, self.of_new = one, of_new

    def _advice(self, tree: "xarray.DataTree") -> Advice:
        return self.one._advice(tree)

    def data(self, tree: "xarray.DataTree") -> "Judged":
        return self.one.data(tree)

    def _own_quantities(self, tree: "xarray.DataTree") -> Quantities:
        return quantities.of_people(tree, self.of_new)

    def judged_besides(self, tree: "xarray.DataTree") -> Quantities:
        groups = as_groups(tree)
        return answers_of(groups).judged_besides(groups)

    def of_owners(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        groups = as_groups(tree)
        return answers_of(groups).of_owners(groups)

    def judges(self, tree: "xarray.DataTree", name: str) -> bool:
        return self.one.judges(tree, name)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_of_new(tree, sets, return_se, covariates)

    def outcomes(self, tree: "xarray.DataTree", pairs: Any, covariates: Any) -> "pandas.DataFrame":
        return outcomes_table_of_new(tree, pairs, covariates)

    def log_predictive(self, tree: "xarray.DataTree", choices: Any) -> "pandas.Series":
        return log_predictive_of_kinds(tree, choices)

    def features(
        self,
        tree: "xarray.DataTree",
        min_probability: float,
        similar: float | None,
        matched: Callable[[float, float], Matched],
    ) -> "pandas.DataFrame":
        return group_features_table(as_groups(tree), min_probability, similar)


_BY_KIND: dict[str, DataAnswers] = {
    PAIRS: OfPairs(),
    CHOICES: OfSets(),
    BEST_WORST: OfSets(),
    SIMILARITIES: OfSimilarities(),
    TRIPLETS: OfTriplets(),
    OWN: OfOwnData(),
    PAIR_KINDS: OfKinds(OfPairs(), quantities.of_pairs),
    CHOICE_KINDS: OfKinds(OfSets(), quantities.of_offered),
    BEST_WORST_KINDS: OfKinds(OfSets(), quantities.of_every_pair),
}
_BY_KIND |= {grouped: OfGroups(_BY_KIND[kind]) for grouped, kind in OF_GROUPS.items()}
_OF_PEOPLE = {grouped: OfPeople(_BY_KIND[kind]) for grouped, kind in OF_GROUPS.items()}


def answers_of(tree: "xarray.DataTree") -> DataAnswers:
    """What a posterior answers because of its data."""
    seen = Posterior(tree)
    return (_OF_PEOPLE if seen.has_individuals else _BY_KIND)[seen.data_kind]
