"""What a posterior answers because of its kind of data, or because its data are of several groups or kinds of people.

One class a kind of data, with the words and the tables that are its own, and one a population over them.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.data.kinds import BEST_WORST, CHOICES, OF_GROUPS, OWN, PAIR_KINDS, PAIRS, SIMILARITIES, TRIPLETS
from thali.errors import Argument, ArgumentError
from thali.posterior.view import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas
    import xarray

    from thali.posterior.verdict import Advice

    from .matching import Matched
    from .quantities import Quantities


class DataAnswers:
    """Answers of posteriors of one kind of data; what a kind of data has no answer for is refused."""

    kind: ClassVar[str]  # of `thali.data.kinds`
    word: ClassVar[str] = "feature"  # what a column is called
    counted: ClassVar[str] = "n_features"  # the variable that says how many there are
    of_several: ClassVar[bool] = False  # whether only features of several objects touch the data
    says_silent: ClassVar[bool] = True  # whether features that the data say nothing of are listed, last
    # the features that the data depend on, and the others, as a picture of their number calls them
    counts: ClassVar[tuple[str, str]] = ("with two owners or more", "all, those of one object too")
    of_choices: ClassVar[bool] = False

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        """Raise where nothing is known of the data, or they are not of one group of people."""

    def quantities(self, tree: "xarray.DataTree") -> "Quantities":
        """The label-free quantities, by the names of the rows of the summary."""
        from .quantities import of_all

        return of_all(tree, self.counted) | self._own_quantities(tree)

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        raise NotImplementedError

    def advice(self, tree: "xarray.DataTree") -> "Advice":
        """What helps chains that disagree."""
        from .quantities import advice_of_choices

        return advice_of_choices(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        """What was observed against replicates of the model."""
        of_known_data(tree, "check")
        raise NotImplementedError

    def predictions(self, tree: "xarray.DataTree") -> "pandas.DataFrame":
        """The proportions that were observed, and what the model says of them."""
        from .predicted_table import of_sets

        return of_sets(tree)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        """The probabilities of what is chosen out of sets, and their errors if asked for."""
        from .predict import predicted_with_errors

        return predicted_with_errors(of_choices(tree, "predict_proba"), sets, return_se, covariates)

    def log_predictive(self, tree: "xarray.DataTree", choices: Any) -> "pandas.Series":
        """The logarithm of the probability of all choices of each person together."""
        from .log_predictive import log_predictive_of_one

        return log_predictive_of_one(of_choices(tree, "log_predictive"), choices)

    def judged_besides(self, tree: "xarray.DataTree") -> "Quantities":
        """What the agreement of chains is judged by besides the rows of the summary."""
        return {}

    def features(
        self, tree: "xarray.DataTree", min_probability: float, similar: Any, matched: "Callable[..., Matched]"
    ) -> "pandas.DataFrame":
        """The features that are probable, with their weights; with `similar` those that `matched` finds."""
        from .features import features_table
        from .matched_features import matched_table
        from .presence import add_convergence

        if similar is None:
            return add_convergence(features_table(tree, min_probability), tree)
        return matched_table(tree, matched(similar, min_probability))

    def data(self, tree: "xarray.DataTree") -> Any:
        """What the model was fitted to, as far as the posterior holds it."""
        raise NotImplementedError

    def pointwise(self, tree: "xarray.DataTree") -> np.ndarray | None:
        """The log-likelihood of each observation (chain, draw, observation); None if it is not known."""
        from thali.posterior.stacking import pointwise

        return pointwise(tree)

    def sees_single(self, tree: "xarray.DataTree") -> bool:
        """Whether the data say something of a feature that one option has alone."""
        return not self.of_several

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        """Whether such features are shown: those of options that have a weight of their own besides are not."""
        return not bool(tree["constant_data"].dataset.get("unique", False))

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        """Whether the data say nothing of features with so many owners."""
        return np.zeros(len(size), bool)


class OfChoices(DataAnswers):
    """Choices out of sets of any size."""

    kind = CHOICES
    word = "aspect"
    of_choices = True

    def judged_besides(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_shared_aspects

        return of_shared_aspects(tree)

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_sets

        return of_sets(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check_sets import set_check_table

        return set_check_table(tree, random_seed)

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        has_own = bool(tree["constant_data"].dataset["unique"])
        return (size == tree["posterior"].sizes["option"]) | ((size == 1) & has_own)


class OfPairs(OfChoices):
    """Paired comparisons."""

    kind = PAIRS

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_pairs

        return of_pairs(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check import pair_check_table
        from .check_ties import tied_check_table

        table = tied_check_table if tree["constant_data"].dataset["has_ties"] else pair_check_table
        return table(tree, random_seed)

    def predictions(self, tree: "xarray.DataTree") -> "pandas.DataFrame":
        from .predicted_table import of_pairs

        return of_pairs(tree)


class OfBestWorst(OfChoices):
    """The best and the worst of sets."""

    kind = BEST_WORST

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check_best_worst import best_worst_check_table

        return best_worst_check_table(tree, random_seed)

    def predictions(self, tree: "xarray.DataTree") -> "pandas.DataFrame":
        from .predicted_table import of_options

        return of_options(tree)


class OfSimilarities(DataAnswers):
    """Similarities of objects, two at a time."""

    kind = SIMILARITIES
    counted = "n_shared_features"  # those of a single object are drawn from the prior
    of_several = True

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_similarities

        return of_similarities(tree)

    def advice(self, tree: "xarray.DataTree") -> "Advice":
        from .quantities import advice_of_similarities

        return advice_of_similarities(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check_similarities import similarity_check_table

        return similarity_check_table(tree, random_seed)

    def data(self, tree: "xarray.DataTree") -> Any:
        from .similarities import measured_similarities

        return measured_similarities(tree)

    def pointwise(self, tree: "xarray.DataTree") -> np.ndarray | None:
        from .similarities import fitted_draws

        data = self.data(tree)
        mean, deviation = fitted_draws(tree, data)
        return -0.5 * ((data.values - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        return False


class OfTriplets(DataAnswers):
    """Which pair of a set is the most similar."""

    kind = TRIPLETS
    of_several = True
    says_silent = False
    counts = ("that answers depend on", "all")

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_triplets

        return of_triplets(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check_triplets import triplet_check_table

        return triplet_check_table(tree, random_seed)

    def data(self, tree: "xarray.DataTree") -> Any:
        from .triplets import answered

        return answered(tree)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        from .predict_triplets import predicted_pairs

        return predicted_pairs(tree, sets, return_se)

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        has_constant = bool(tree["constant_data"].dataset["has_constant"])
        return (size == 1) | ((size == tree["posterior"].sizes["option"]) & (not has_constant))


class OfOwnData(DataAnswers):
    """Data of a likelihood of the user's own."""

    kind = OWN

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        raise ArgumentError(
            f"{what} is not there for a likelihood of your own, because thali does not know what it predicts; compute "
            "it from posterior_['posterior']['features'] and ['weights']."
        )

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_own

        return of_own(tree)

    def advice(self, tree: "xarray.DataTree") -> "Advice":
        from .quantities import advice_of_own

        return advice_of_own(tree)

    def sees_single(self, tree: "xarray.DataTree") -> bool:
        return bool(tree["constant_data"].dataset["sees_single"])

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        return bool(tree["constant_data"].dataset.get("sees_single", True))


class OfGroups(DataAnswers):
    """Several groups of people; what is not of all together is refused."""

    def __init__(self, one: DataAnswers) -> None:
        self.one = one
        self.word = one.word  # type: ignore[misc]

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        first = str(tree["posterior"].dataset["group"].values[0])
        raise ArgumentError(f"{what} is of one group of people; take the model of one, such as of_group({first!r}).")

    def quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_groups

        return of_groups(tree)

    def judged_besides(self, tree: "xarray.DataTree") -> "Quantities":
        return self.one.judged_besides(_first_group(tree))

    def advice(self, tree: "xarray.DataTree") -> "Advice":
        return self.one.advice(tree)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .posterior_check import group_check_table

        return group_check_table(tree, random_seed)

    def features(
        self, tree: "xarray.DataTree", min_probability: float, similar: Any, matched: "Callable[..., Matched]"
    ) -> "pandas.DataFrame":
        from .group_answers import group_features_table

        return group_features_table(tree, min_probability, similar)

    def data(self, tree: "xarray.DataTree") -> Any:
        from thali.data.groups import Groups

        from .group_tree import tree_of_group

        return Groups({name: self.one.data(tree_of_group(tree, name)) for name in Posterior(tree).groups})


class OfKinds(DataAnswers):
    """Paired comparisons by people of kinds that nobody knows."""

    kind = PAIR_KINDS
    word = "aspect"

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        raise ArgumentError(f"{what} is of people of one kind; take the model of one, such as of_kind(1).")

    def _own_quantities(self, tree: "xarray.DataTree") -> "Quantities":
        from .quantities import of_pairs_by_kinds

        return of_pairs_by_kinds(tree)

    def judged_besides(self, tree: "xarray.DataTree") -> "Quantities":
        from .kinds_aligned import as_groups

        groups = as_groups(tree)
        return answers_of(groups).judged_besides(groups)

    def check(self, tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
        from .check_kinds import kinds_check_table

        return kinds_check_table(tree, random_seed)

    def features(
        self, tree: "xarray.DataTree", min_probability: float, similar: Any, matched: "Callable[..., Matched]"
    ) -> "pandas.DataFrame":
        from .kinds_aligned import as_groups

        groups = as_groups(tree)
        return answers_of(groups).features(groups, min_probability, similar, matched)

    def predicted(self, tree: "xarray.DataTree", sets: Any, return_se: bool, covariates: Any) -> Any:
        from .kinds_predict import predicted_of_new

        if covariates is not None:
            raise ArgumentError(Argument("covariates"), " are unknown to models of kinds of people; leave them out.")
        return predicted_of_new(tree, sets, return_se)

    def log_predictive(self, tree: "xarray.DataTree", choices: Any) -> "pandas.Series":
        from .log_predictive import log_predictive_of_kinds

        return log_predictive_of_kinds(tree, choices)


_OF_ONE = (OfPairs(), OfChoices(), OfBestWorst(), OfSimilarities(), OfTriplets(), OfOwnData(), OfKinds())
_BY_KIND: dict[str, DataAnswers] = {each.kind: each for each in _OF_ONE}
_BY_KIND |= {grouped: OfGroups(_BY_KIND[kind]) for grouped, kind in OF_GROUPS.items()}


def answers_of(tree: "xarray.DataTree") -> DataAnswers:
    """What a posterior answers because of what it is of."""
    return _BY_KIND[Posterior(tree).data_kind]


def _first_group(tree: "xarray.DataTree") -> "xarray.DataTree":
    """The posterior of the first group."""
    from .group_tree import group_names, tree_of_group

    return tree_of_group(tree, group_names(tree)[0])


def sees_weights(tree: "xarray.DataTree") -> bool:
    """Whether the likelihood depends on the weights of features, as all do but some of a user's own."""
    return bool(tree["constant_data"].dataset.get("sees_weights", True))


def of_choices(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of choices."""
    answers = answers_of(of_known_data(tree, what))
    if not answers.of_choices:
        raise ArgumentError(
            f"{what} is for models of choices, and this one was fitted to {answers.kind}; see features(), and "
            "posterior_['posterior']['similarity'] for what it predicts."
        )
    return tree


def of_similarities(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of similarities."""
    return _of(SIMILARITIES, tree, what)


def of_triplets(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of triplets."""
    return _of(TRIPLETS, tree, what)


def of_known_data(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is of no data of one group that thali knows."""
    answers_of(tree).refuse(tree, what)
    return tree


def _of(kind: str, tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself, if it is a posterior of one group and this kind of data."""
    if (found := answers_of(of_known_data(tree, what)).kind) != kind:
        raise ArgumentError(f"{what} is for models of {kind}, and this one was fitted to {found}.")
    return tree
