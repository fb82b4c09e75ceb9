"""What a posterior of latent features holds, by name: nobody else asks a tree whether a variable is there."""

from functools import cached_property
from typing import TYPE_CHECKING

from thali._data.kinds import OF_GROUPS, OF_KINDS

from .dependence import Dependence, dependence_in

if TYPE_CHECKING:
    import numpy as np
    import xarray

LATENT = "latent_features"  # the group of what depends on the order of features or classes, or is padded
_LATENT_DIMENSIONS = {"feature", "owner", "kind_number"}
MEMBERS = "kind"  # its variable with the class of each respondent
ONE, GROUPS, KINDS = "one", "groups", "kinds"  # populations: people alike, groups of them, kinds that are not known


class Posterior:
    """A read-only view of a tree in the ArviZ schema; what the model has not is None.

    Draws have the dimensions chain and draw first, unless a property says that they lie one after another.

    Parameters
    ----------
    tree : DataTree
        The posterior of a model of latent features, as `posterior_` holds it.
    """

    def __init__(self, tree: "xarray.DataTree") -> None:
        self._tree = tree

    @cached_property
    def draws(self) -> "xarray.Dataset":
        """The group `posterior`."""
        return self._tree["posterior"].dataset

    @cached_property
    def latent(self) -> "xarray.Dataset":
        """The group of what depends on the order of features or classes."""
        return self._tree[LATENT].dataset

    def whole(self) -> "xarray.Dataset":
        """A dataset of all that was drawn, which `parted` parts again."""
        return self._tree["posterior"].to_dataset().merge(self._tree[LATENT].to_dataset())

    @cached_property
    def fixed(self) -> "xarray.Dataset":
        """The group `constant_data`."""
        return self._tree["constant_data"].dataset

    @property
    def data_kind(self) -> str:
        """The kind of data that the model was fitted to, of `thali._data.kinds`."""
        return str(self.fixed["kind"].item())

    @property
    def population(self) -> str:
        """ONE, GROUPS or KINDS."""
        if self.data_kind in OF_GROUPS:
            return GROUPS
        return KINDS if self.data_kind in OF_KINDS else ONE

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of people; () of people of one group, or of kinds that are not known."""
        return tuple(map(str, self.draws["group"].values)) if self.population == GROUPS else ()

    @property
    def dependence(self) -> Dependence | None:
        """What the fit made of the answers of the same people; None where nobody knew who answered."""
        return dependence_in(self._tree.attrs)

    @property
    def kinds(self) -> "xarray.DataArray | None":
        """Of which kind everybody is (chain, draw, respondent), where people are of kinds that are not known."""
        return self._drawn("kind")

    @property
    def best_worst(self) -> str | None:
        """By which rule the best and the worst of a set are chosen."""
        return str(self.fixed["best_worst"].item()) if "best_worst" in self.fixed else None

    @property
    def shown_size(self) -> float | None:
        """The mean number of options that a set shows; None for pairs."""
        return float(self.fixed["shown_size"].values.mean()) if "shown_size" in self.fixed else None

    @property
    def features(self) -> "xarray.DataArray | None":
        """Owners (chain, draw, feature, option); None where they are stored as lists."""
        return self._drawn("features")

    @property
    def weights(self) -> "xarray.DataArray":
        """Weights of the features (chain, draw, feature); padded with 0."""
        return self.latent["weights"]

    @property
    def feature_sizes(self) -> "xarray.DataArray":
        """How many own each feature (chain, draw, feature), where owners are stored as lists; padded with 0."""
        return self.latent["feature_size"]

    @property
    def owners(self) -> "xarray.DataArray":
        """Owners, feature after feature (chain, draw, owner), there; padded with -1."""
        return self.latent["owners"]

    @property
    def class_order(self) -> "xarray.DataArray":
        """The number, in each draw, of the first, second, ... of the common classes (chain, draw, class)."""
        return self.latent["class_order"]

    @property
    def unique(self) -> "xarray.DataArray | None":
        """Weights of the options' unique aspects (chain, draw, option)."""
        return self._drawn("unique_weights")

    @property
    def has_individuals(self) -> bool:
        """Whether everybody has weights of their own about common ones."""
        return self.common_worth is not None or self.common_weights is not None

    @property
    def group_weights(self) -> "xarray.DataArray | None":
        """Weights of the features in each group of people (chain, draw, group, feature); padded with 0."""
        return self._drawn("group_weights")

    @property
    def group_unique(self) -> "xarray.DataArray | None":
        """Weights of the options' unique aspects in each group of people (chain, draw, group, option)."""
        return self._drawn("group_unique_weights")

    @property
    def common_worth(self) -> "xarray.DataArray | None":
        """Worths by the common weights (chain, draw, option), where everybody has weights of their own about them."""
        return self._drawn("common_worth")

    @property
    def common_weights(self) -> "xarray.DataArray | None":
        """The common weights of features, as shares (chain, draw, feature), there; None without."""
        return self._drawn("common_weights")

    @property
    def common_unique_weights(self) -> "xarray.DataArray | None":
        """The common weights of unique aspects, as shares (chain, draw, option), there; None without."""
        return self._drawn("common_unique_weights")

    @property
    def population_probability(self) -> "xarray.DataArray | None":
        """Choice probabilities of new people (chain, draw, pair), there."""
        return self._drawn("population_probability")

    @property
    def slopes(self) -> "xarray.DataArray | None":
        """Slopes of log weights of features in what is known of people (chain, draw, known, feature), there."""
        return self._drawn("slopes")

    @property
    def unique_slopes(self) -> "xarray.DataArray | None":
        """Slopes of log unique weights in what is known of people (chain, draw, known, option), there."""
        return self._drawn("unique_slopes")

    @property
    def feature_kappas(self) -> "xarray.DataArray | None":
        """How alike people are in the weight of each feature (chain, draw, feature), where that differs."""
        return self._drawn("feature_kappas")

    @property
    def option_kappas(self) -> "xarray.DataArray | None":
        """How alike people are in each unique weight (chain, draw, option), there."""
        return self._drawn("option_kappas")

    @property
    def tie(self) -> "np.ndarray | None":
        """Davidson's parameter of ties, one draw after another (draws,)."""
        return self._flat("tie")

    @property
    def constant(self) -> "np.ndarray | None":
        """The additive constant, one draw after another (draws,)."""
        return self._flat("constant")

    @property
    def sigma(self) -> "np.ndarray | None":
        """The standard deviation of a similarity, one draw after another (draws,)."""
        return self._flat("sigma")

    @property
    def kappa(self) -> "xarray.DataArray | None":
        """How similar the weights of groups or kinds are."""
        return self._drawn("kappa")

    @property
    def n_shared_features(self) -> "xarray.DataArray | None":
        """How many features have two owners or more, where that is counted apart."""
        return self._drawn("n_shared_features")

    @property
    def choice_probability(self) -> "xarray.DataArray | None":
        """The probability that the first of each pair is chosen (chain, draw, pair), as far as they are stored."""
        return self._drawn("choice_probability")

    @property
    def similarity(self) -> "xarray.DataArray | None":
        """Fitted similarities (chain, draw, pair), as far as they are stored."""
        return self._drawn("similarity")

    @property
    def set_probability(self) -> "xarray.DataArray | None":
        """The probability of each option of each set (chain, draw, place), as far as they are stored."""
        return self._drawn("set_probability")

    @property
    def judgements(self) -> "np.ndarray":
        """The number of judgements that each measured similarity is the mean of."""
        return self.fixed["judgements"].values

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of a likelihood of the user's own."""
        names = str(self.fixed["parameters"].item()) if "parameters" in self.fixed else ""
        return tuple(filter(None, names.split(",")))

    def _drawn(self, name: str) -> "xarray.DataArray | None":
        if name in self.draws:
            return self.draws[name]
        return self.latent[name] if name in self.latent else None

    def _flat(self, name: str) -> "np.ndarray | None":
        return self.draws[name].values.ravel() if name in self.draws else None


def parted(drawn: "xarray.Dataset") -> "dict[str, xarray.Dataset]":
    """The groups of all that was drawn: what has a meaning of its own, and what depends on the order of features."""
    latent = [name for name, each in drawn.data_vars.items() if _LATENT_DIMENSIONS & set(each.dims) or name == MEMBERS]
    return {"posterior": drawn.drop_vars(latent), LATENT: drawn[latent]}
