"""What a posterior holds, by name: the model makes one view, and nobody else asks a tree for a
group."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.kinds import (
    BEST_WORST,
    CHOICES,
    GROUPS,
    ONE,
    OWN,
    PAIRS,
    PEOPLE,
    SIMILARITIES,
    TRIPLETS,
)
from thali._inference.indexing import part_bounds

from .dependence import Dependence, dependence_in
from .store import tree_of

if TYPE_CHECKING:
    import xarray

# the group of what depends on the order of features or classes, or is padded
LATENT = "latent_features"
_LATENT_DIMENSIONS = {"feature", "owner", "kind_number"}
MEMBERS = "kind"  # its variable with the class of each respondent
# In `constant_data`: GROUPS, also where each is a person, or KINDS; absent for respondents alike.
POPULATION = "population"
COVARIATE = "covariate_name"  # the dimension of covariates of comparisons and of options

_BY_GROUP = {"group_weights": "weights", "group_unique_weights": "unique_weights"}
# of all people together, where each is a group
_OF_POPULATION = (
    "common_worth",
    "common_weights",
    "common_unique_weights",
    "population_probability",
)
_OF_POPULATION += ("slopes", "unique_slopes")


class PosteriorTree:
    """A read-only view of a tree in the ArviZ schema.

    Parameters
    ----------
    tree : DataTree
        The posterior, as `posterior_` holds it.
    """

    def __init__(self, tree: "xarray.DataTree") -> None:
        self.tree = tree

    @property
    def draws(self) -> "xarray.Dataset":
        """The group `posterior`."""
        return self.tree["posterior"].dataset

    @property
    def fixed(self) -> "xarray.Dataset":
        """The group `constant_data`."""
        return self.tree["constant_data"].dataset

    @property
    def observed(self) -> "xarray.Dataset":
        """The group `observed_data`."""
        return self.tree["observed_data"].dataset

    @property
    def stats(self) -> "xarray.Dataset":
        """The group `sample_stats`."""
        return self.tree["sample_stats"].dataset

    @property
    def attributes(self) -> Mapping[Any, Any]:
        """What was noted of the run."""
        return self.tree.attrs

    @property
    def shape(self) -> tuple[int, int]:
        """How many chains there are, and draws of each."""
        return self.draws.sizes["chain"], self.draws.sizes["draw"]

    @property
    def n_draws(self) -> int:
        """How many draws all chains have together."""
        return self.shape[0] * self.shape[1]

    @property
    def log_likelihood(self) -> np.ndarray:
        """Log-likelihood of the whole data, natural logarithm (chain, draw)."""
        return self.draws["log_likelihood"].values


class DataFacts(NamedTuple):
    """What goes with data of one kind, whatever is asked of a posterior."""

    word: str = "feature"  # what a column is called
    of_choices: bool = False
    of_several: bool = False  # whether only features of several objects touch the data
    says_silent: bool = True  # whether features that the data say nothing of are listed, last


_CHOSEN = DataFacts("aspect", of_choices=True)
FACTS = {
    PAIRS: _CHOSEN,
    CHOICES: _CHOSEN,
    BEST_WORST: _CHOSEN,
    SIMILARITIES: DataFacts(of_several=True),
    TRIPLETS: DataFacts(of_several=True, says_silent=False),
    OWN: DataFacts(),
}


class Posterior(PosteriorTree):
    """The view of a posterior of latent features; what the model has not is None, else it is an
    array.

    Draws have the dimensions chain and draw first, unless a property says that they lie one after
    another.
    """

    @property
    def latent(self) -> "xarray.Dataset":
        """The group of what depends on the order of features or classes; empty without them."""
        import xarray as xr

        return self.tree[LATENT].dataset if LATENT in self.tree.children else xr.Dataset()

    def whole(self) -> "xarray.Dataset":
        """A dataset of all that was drawn, which `parted` parts again."""
        return self.draws.merge(self.latent)

    @classmethod
    def of(cls, groups: "Mapping[str, xarray.Dataset]", attributes: Mapping[Any, Any]) -> Self:
        """Return the view of a new tree of these groups."""
        return cls(tree_of(groups, attributes))

    def replaced(self, groups: "Mapping[str, xarray.Dataset]") -> Self:
        """Return the same posterior with these groups in place of its own."""
        own = {str(name): node.dataset for name, node in self.tree.children.items()}
        return self.of({**own, **groups}, self.attributes)

    def of_group(self, name: str) -> Self:
        """Return the posterior of one group, as of a model of it alone; one that is of no groups is
        that of each."""
        if not self.groups:
            return self
        g = self.groups.index(name)
        drawn = self.whole().drop_vars(_OF_POPULATION, errors="ignore")
        names = {outer: inner for outer, inner in _BY_GROUP.items() if outer in drawn}
        drawn = _rows_of(drawn.drop_vars(names.values()), g).rename(names)
        parts = [
            part
            for part in ("log_likelihood", "observed_data", "constant_data")
            if part in self.tree.children
        ]
        data = {part: _rows_of(self.tree[part].dataset, g) for part in parts}
        data["constant_data"] = data["constant_data"].drop_vars(POPULATION)
        return self.of(parted(drawn) | data | {"sample_stats": self.stats}, self.attributes)

    def of_common(self) -> Self:
        """Return the posterior of the common weights, about which those of everybody vary, as that
        of one group."""
        one = self.of_group(self.groups[0])
        common = {
            "weights": self._stored("common_weights"),
            "unique_weights": self._stored("common_unique_weights"),
        }
        drawn = one.whole().assign(
            {name: each for name, each in common.items() if each is not None}
        )
        return self.of(parted(drawn) | {"constant_data": one.fixed}, self.attributes)

    # whose data they are --------------------------------------------------------------------------

    @cached_property
    def data_kind(self) -> str:
        """The kind of data, of each group or of all respondents together: one of
        `thali._data.kinds`."""
        return str(self.fixed["kind"].item())

    @property
    def facts(self) -> DataFacts:
        """What goes with the kind of data."""
        return FACTS[self.data_kind]

    @property
    def population(self) -> str:
        """ONE, GROUPS, PEOPLE, who have weights of their own about common ones, or KINDS."""
        if self._stored("common_weights") is not None:
            return PEOPLE
        return str(self.fixed[POPULATION].item()) if POPULATION in self.fixed else ONE

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of people, or of the people; () of one group, or of kinds that
        are not known."""
        return (
            tuple(map(str, self.draws["group"].values))
            if self.population in (GROUPS, PEOPLE)
            else ()
        )

    @property
    def dependence(self) -> Dependence | None:
        """What the fit made of the answers of the same people; None where nobody knew who
        answered."""
        return dependence_in(self.attributes)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of the options."""
        return [str(label) for label in self.draws["option"].values]

    @property
    def n_options(self) -> int:
        """How many options there are."""
        return self.draws.sizes["option"]

    # latent classes -------------------------------------------------------------------------------

    @property
    def has_classes(self) -> bool:
        """Whether people are of classes that are not known."""
        return MEMBERS in self.latent

    @property
    def members(self) -> np.ndarray:
        """The class of each respondent, by the numbers of each draw, one draw after another (draws,
        respondent)."""
        return flat(self.latent[MEMBERS].values)

    @property
    def class_order(self) -> np.ndarray:
        """The number, in each draw, of the first, second, ... of the common classes (draws,
        class)."""
        return flat(self.latent["class_order"].values)

    @property
    def most_classes(self) -> int:
        """How many classes there may be."""
        return int(self.fixed["kinds"])

    @property
    def n_classes(self) -> np.ndarray:
        """How many classes somebody is in (chain, draw)."""
        return self.draws["n_classes"].values

    @property
    def respondents(self) -> list[str]:
        """The names of those who answered, whose classes are not known."""
        return [str(name) for name in self.draws["respondent"].values]

    # features and weights -------------------------------------------------------------------------

    @property
    def features(self) -> Any:
        """Owners (chain, draw, feature, option); None where they are stored as lists."""
        return self._drawn("features")

    @property
    def weights(self) -> np.ndarray:
        """Weights of the features (chain, draw, feature); padded with 0."""
        return self.latent["weights"].values

    @property
    def feature_sizes(self) -> np.ndarray:
        """How many own each feature (chain, draw, feature), where owners are stored as lists;
        padded with 0."""
        return self.latent["feature_size"].values

    @property
    def owners(self) -> np.ndarray:
        """Owners, feature after feature (chain, draw, owner), there; padded with -1."""
        return self.latent["owners"].values

    @property
    def unique(self) -> Any:
        """Weights of the options' unique aspects (chain, draw, option)."""
        return self._drawn("unique_weights")

    @property
    def n_features(self) -> np.ndarray:
        """How many features have an owner (chain, draw)."""
        return self.draws["n_features"].values

    @property
    def n_shared_features(self) -> Any:
        """How many features have two owners or more (chain, draw), where that is counted apart."""
        return self._drawn("n_shared_features")

    @property
    def n_counted(self) -> np.ndarray:
        """How many features the data depend on (chain, draw)."""
        return self.n_features if self.n_shared_features is None else self.n_shared_features

    @property
    def alpha(self) -> np.ndarray:
        """The concentration of the prior over features (chain, draw)."""
        return self.draws["alpha"].values

    @property
    def learned_alpha(self) -> bool:
        """Whether the concentration was learned."""
        return bool(self.fixed["learned_alpha"])

    @property
    def group_weights(self) -> Any:
        """Weights of the features in each group of people (chain, draw, group, feature); padded
        with 0."""
        return self._drawn("group_weights")

    @property
    def group_unique(self) -> Any:
        """Weights of the options' unique aspects in each group of people (chain, draw, group,
        option)."""
        return self._drawn("group_unique_weights")

    @property
    def kappa(self) -> Any:
        """How similar the weights of groups or kinds are (chain, draw)."""
        return self._drawn("kappa")

    @property
    def common_worth(self) -> Any:
        """Worths by the common weights (chain, draw, option), where everybody has weights of their
        own about them."""
        return self._drawn("common_worth")

    @property
    def common_weights(self) -> Any:
        """The common weights of features, as shares (chain, draw, feature), there; None without."""
        return self._drawn("common_weights")

    @property
    def slopes(self) -> Any:
        """Slopes of log weights of features in what is known of people (chain, draw, known,
        feature), there."""
        return self._drawn("slopes")

    @property
    def unique_slopes(self) -> Any:
        """Slopes of log unique weights in what is known of people (chain, draw, known, option),
        there."""
        return self._drawn("unique_slopes")

    # what the data depend on besides --------------------------------------------------------------

    @property
    def lapse(self) -> float:
        """The probability of choosing at random."""
        return float(self.fixed["lapse"])

    @property
    def has_unique(self) -> bool:
        """Whether every option has an aspect of its own besides the features."""
        return bool(self.fixed.get("unique", False))

    @property
    def has_constant(self) -> bool:
        """Whether there is an additive constant."""
        return bool(self.fixed["has_constant"])

    @property
    def sees_single(self) -> bool:
        """Whether the data say something of a feature that one option has alone."""
        return bool(self.fixed.get("sees_single", not self.facts.of_several))

    @property
    def shows_single(self) -> bool:
        """Whether such features are shown: those of options that have a weight of their own besides
        are not."""
        if self.data_kind == SIMILARITIES:
            return False
        return bool(self.fixed.get("sees_single", not self.has_unique))

    @property
    def sees_weights(self) -> bool:
        """Whether the likelihood depends on the weights of features, as all do but some of a user's
        own."""
        return bool(self.fixed.get("sees_weights", True))

    def is_silent(self, sizes: np.ndarray) -> np.ndarray:
        """Return whether the data say nothing of features with so many owners."""
        single, common = sizes == 1, sizes == self.n_options
        if self.facts.of_choices:
            return common | (single & self.has_unique)
        if self.data_kind == TRIPLETS:
            return single | (common & (not self.has_constant))
        return np.zeros(len(sizes), bool)

    @property
    def tie(self) -> Any:
        """Davidson's parameter of ties, one draw after another (draws,)."""
        return self._one_by_one("tie")

    @property
    def constant(self) -> Any:
        """The additive constant, one draw after another (draws,)."""
        return self._one_by_one("constant")

    @property
    def sigma(self) -> Any:
        """The standard deviation of a similarity, one draw after another (draws,)."""
        return self._one_by_one("sigma")

    @property
    def learned_sigma(self) -> bool:
        """Whether the standard deviation of a similarity was learned."""
        return bool(self.fixed.get("learned_sigma", False))

    @property
    def judgements(self) -> np.ndarray:
        """The number of judgements that each measured similarity is the mean of."""
        return self.fixed["judgements"].values

    @property
    def link(self) -> str:
        """How triplets depend on what objects share."""
        return str(self.fixed["link"].item())

    @property
    def best_worst(self) -> str | None:
        """By which rule the best and the worst of a set are chosen."""
        return str(self.fixed["best_worst"].item()) if "best_worst" in self.fixed else None

    @property
    def has_ties(self) -> bool:
        """Whether comparisons may end in a tie."""
        return bool(self.fixed.get("has_ties", False))

    @property
    def covariates(self) -> tuple[str, ...]:
        """The names of the covariates of comparisons and of options."""
        return (
            tuple(map(str, self.fixed[COVARIATE].values)) if COVARIATE in self.fixed.coords else ()
        )

    @property
    def coefficients(self) -> np.ndarray:
        """Their coefficients, one draw after another (draws, covariates); of no covariates (draws,
        0)."""
        return (
            flat(self.draws["covariate"].values) if self.covariates else np.zeros((self.n_draws, 0))
        )

    @property
    def known(self) -> tuple[str, ...]:
        """The columns of people on which weights depend."""
        return tuple(map(str, self.fixed["known"].values))

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The parameters of a likelihood of the user's own (chain, draw)."""
        names = str(self.fixed["parameters"].item()) if "parameters" in self.fixed else ""
        return {name: self.draws[name].values for name in filter(None, names.split(","))}

    # what was observed, and what is predicted of it -----------------------------------------------

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the second option of each pair that was compared, measured, or held by a
        set of triplets."""
        return self.fixed["first"].values, self.fixed["second"].values

    @property
    def set_start(self) -> np.ndarray:
        """Where the members, or the pairs, of each set begin (sets + 1,)."""
        return part_bounds(self.fixed["set_size"].values)

    @property
    def similarities(self) -> np.ndarray:
        """The similarities that were measured (measured pairs,)."""
        return self.observed["similarity"].values

    @property
    def chosen(self) -> np.ndarray:
        """How often each possible answer to each set was given."""
        return self.observed["chosen"].values

    @property
    def choice_probability(self) -> Any:
        """The probability that the first of each pair is chosen (chain, draw, pair), as far as they
        are stored."""
        return self._drawn("choice_probability")

    @property
    def pair_names(self) -> list[str]:
        """The names of the pairs of which probabilities are stored, "a, b"."""
        return self.draws["pair"].values.tolist()

    @property
    def population_probability(self) -> Any:
        """Choice probabilities of new people (chain, draw, pair), where everybody has weights of
        their own."""
        return self._drawn("population_probability")

    @property
    def similarity(self) -> Any:
        """Fitted similarities (chain, draw, pair), as far as they are stored."""
        return self._drawn("similarity")

    @property
    def set_probability(self) -> Any:
        """The probability of each option of each set (chain, draw, place), as far as they are
        stored."""
        return self._drawn("set_probability")

    @property
    def places(self) -> list[tuple[str, str]]:
        """The alternative at each place of each set, and the options that were offered with it."""
        return list(
            zip(self.observed["alternative"].values, self.observed["offered"].values, strict=True)
        )

    def _stored(self, name: str) -> "xarray.DataArray | None":
        """Return what was drawn under a name."""
        if name in self.draws:
            return self.draws[name]
        return self.latent[name] if name in self.latent else None

    def _drawn(self, name: str) -> Any:
        """Return the numbers that were drawn under a name."""
        found = self._stored(name)
        return None if found is None else found.values

    def _one_by_one(self, name: str) -> Any:
        """Return one number a draw (draws,)."""
        return self.draws[name].values.ravel() if name in self.draws else None


def flat(array: np.ndarray) -> np.ndarray:
    """(chain, draw, ...) to (chain * draw, ...)."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def _rows_of(dataset: "xarray.Dataset", g: int) -> "xarray.Dataset":
    """The rows of one group, and what is stored of it."""
    for dim in list(dataset.sizes):
        if f"{dim}_group" in dataset.coords:
            dataset = dataset.isel(
                {dim: np.flatnonzero(dataset[f"{dim}_group"].values == g)}
            ).drop_vars(f"{dim}_group")
    return dataset.isel(group=g).drop_vars("group") if "group" in dataset.sizes else dataset


def parted(drawn: "xarray.Dataset") -> "dict[str, xarray.Dataset]":
    """The groups of all that was drawn: what has a meaning of its own, and what depends on the
    order of features."""
    latent = [
        name
        for name, each in drawn.data_vars.items()
        if _LATENT_DIMENSIONS & set(each.dims) or name == MEMBERS
    ]
    return {"posterior": drawn.drop_vars(latent), LATENT: drawn[latent]}
