"""Access to a posterior's variables by name; no other code reads groups of its tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import (
    BEST_WORST,
    CHOICES,
    OWN,
    PAIRS,
    SIMILARITIES,
    TRIPLETS,
)
from thali._inference.index_arithmetic import part_bounds

from .respondent_dependence import Dependence, read_dependence

if TYPE_CHECKING:
    import xarray

# the group of variables that depend on the order of features, or are padded
LATENT = "latent_features"
COVARIATE = "covariate_name"  # dimension of covariates of comparisons and options


@dataclass
class PosteriorTree:
    """Read-only access to a posterior's DataTree.

    Parameters
    ----------
    tree : DataTree
        The posterior, as in `posterior_`.
    """

    tree: "xarray.DataTree"

    @property
    def draws(self) -> "xarray.Dataset":
        """Dataset of the group `posterior`."""
        return self.tree["posterior"].dataset

    @property
    def fixed(self) -> "xarray.Dataset":
        """Dataset of the group `constant_data`."""
        return self.tree["constant_data"].dataset

    @property
    def observed(self) -> "xarray.Dataset":
        """Dataset of the group `observed_data`."""
        return self.tree["observed_data"].dataset

    @property
    def stats(self) -> "xarray.Dataset":
        """Dataset of the group `sample_stats`."""
        return self.tree["sample_stats"].dataset

    @property
    def attributes(self) -> Mapping[Any, Any]:
        """Attributes of the tree, such as versions and settings."""
        return self.tree.attrs

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains, and of draws per chain."""
        return self.draws.sizes["chain"], self.draws.sizes["draw"]

    @property
    def n_draws(self) -> int:
        """Total number of draws of all chains."""
        return self.shape[0] * self.shape[1]

    @property
    def log_likelihood(self) -> np.ndarray:
        """Log-likelihood of all data at each draw, shape (chain, draw)."""
        return self.draws["log_likelihood"].values


class DataFacts(NamedTuple):
    """Properties that all posteriors of one data kind share."""

    word: str = "feature"  # word for a column
    of_choices: bool = False
    of_several: bool = False  # whether only features with several owners affect the data
    says_silent: bool = True  # whether features without data are listed, last


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
    """Named arrays of a posterior of latent features; None for what the model lacks.

    Arrays begin with the dimensions chain and draw, unless a property has one dimension of all
    draws.
    """

    @property
    def latent(self) -> "xarray.Dataset":
        """Dataset of variables whose feature or class numbers differ between draws."""
        import xarray as xr

        if LATENT in self.tree.children:
            return self.tree[LATENT].dataset
        return xr.Dataset()

    # data and respondents -------------------------------------------------------------------------

    @cached_property
    def data_kind(self) -> str:
        """Kind of data, one of `thali._data.kinds`."""
        return str(self.fixed["kind"].item())

    @property
    def facts(self) -> DataFacts:
        """Properties that all posteriors of this data kind share."""
        return FACTS[self.data_kind]

    @property
    def dependence(self) -> Dependence | None:
        """Treatment of repeated answers; None if respondents are unknown."""
        return read_dependence(self.attributes)

    @cached_property
    def labels(self) -> list[str]:
        """Labels of the options."""
        return [str(label) for label in self.draws["option"].values]

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.draws.sizes["option"]

    @property
    def respondents(self) -> list[str]:
        """Names of the respondents with individual parameters."""
        return [str(name) for name in self.draws["respondent"].values]

    # features and weights -------------------------------------------------------------------------

    @property
    def features(self) -> Any:
        """Whether each option has each feature, (chain, draw, feature, option).

        None if stored as lists of owners.
        """
        return self._get_values("features")

    @property
    def weights(self) -> np.ndarray:
        """Weight of each feature, (chain, draw, feature), padded with 0."""
        return self.latent["weights"].values

    @property
    def feature_sizes(self) -> np.ndarray:
        """Number of options with each feature, (chain, draw, feature), padded with 0."""
        return self.latent["feature_size"].values

    @property
    def owners(self) -> np.ndarray:
        """Indices of options with each feature, feature by feature, padded with -1.

        Shape (chain, draw, owner).
        """
        return self.latent["owners"].values

    @property
    def unique(self) -> Any:
        """Weight of each option's unique aspect, (chain, draw, option)."""
        return self._get_values("unique_weights")

    @property
    def n_features(self) -> np.ndarray:
        """Number of features that some option has, (chain, draw)."""
        return self.draws["n_features"].values

    @property
    def n_shared_features(self) -> Any:
        """Number of features that two or more options have, (chain, draw)."""
        return self._get_values("n_shared_features")

    @property
    def n_counted(self) -> np.ndarray:
        """Number of features that affect the data, (chain, draw)."""
        if self.n_shared_features is None:
            return self.n_features
        return self.n_shared_features

    @property
    def alpha(self) -> np.ndarray:
        """Concentration of the Indian buffet process prior, (chain, draw)."""
        return self.draws["alpha"].values

    @property
    def learned_alpha(self) -> bool:
        """Whether the concentration was inferred rather than fixed."""
        return bool(self.fixed["learned_alpha"])

    # other parameters -----------------------------------------------------------------------------

    @property
    def lapse(self) -> float:
        """Probability that a choice is made at random."""
        return float(self.fixed["lapse"])

    @property
    def has_unique(self) -> bool:
        """Whether every option has a unique aspect in addition to features."""
        return bool(self.fixed.get("unique", False))

    @property
    def has_constant(self) -> bool:
        """Whether similarities have an additive constant."""
        return bool(self.fixed["has_constant"])

    @property
    def sees_single(self) -> bool:
        """Whether features of a single option affect the likelihood."""
        return bool(self.fixed.get("sees_single", not self.facts.of_several))

    @property
    def shows_single(self) -> bool:
        """Whether results show features of a single option."""
        if self.data_kind == SIMILARITIES:
            return False
        return bool(self.fixed.get("sees_single", not self.has_unique))

    @property
    def sees_weights(self) -> bool:
        """Whether the likelihood depends on the feature weights."""
        return bool(self.fixed.get("sees_weights", True))

    def is_silent(self, n_owners: np.ndarray) -> np.ndarray:
        """Return whether the data are uninformative about features with this many options."""
        has_one_owner = n_owners == 1
        has_all_owners = n_owners == self.n_options
        if self.facts.of_choices:
            return has_all_owners | (has_one_owner & self.has_unique)
        if self.data_kind == TRIPLETS:
            return has_one_owner | (has_all_owners & (not self.has_constant))
        return np.zeros(len(n_owners), bool)

    @property
    def tie(self) -> Any:
        """Davidson's tie parameter, shape (draws,)."""
        return self._get_flat_values("tie")

    @property
    def constant(self) -> Any:
        """Additive constant of similarities, shape (draws,)."""
        return self._get_flat_values("constant")

    @property
    def sigma(self) -> Any:
        """Residual standard deviation of similarities, shape (draws,)."""
        return self._get_flat_values("sigma")

    @property
    def learned_sigma(self) -> bool:
        """Whether the residual standard deviation was inferred rather than fixed."""
        return bool(self.fixed.get("learned_sigma", False))

    @property
    def judgements(self) -> np.ndarray:
        """Number of judgements per measured similarity."""
        return self.fixed["judgements"].values

    @property
    def reliability(self) -> float:
        """Share of the variance of similarities that is not noise; NaN if unknown."""
        return float(self.fixed["reliability"].item())

    @property
    def link(self) -> str:
        """Name of the function from shared features to triplet choices."""
        return str(self.fixed["link"].item())

    @property
    def best_worst(self) -> str | None:
        """Rule of best and worst, "ranking" or "reversed"; None for other data."""
        if "best_worst" not in self.fixed:
            return None
        return str(self.fixed["best_worst"].item())

    @property
    def has_ties(self) -> bool:
        """Whether the model of comparisons includes ties."""
        return bool(self.fixed.get("has_ties", False))

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates of comparisons and options."""
        if COVARIATE not in self.fixed.coords:
            return ()
        return tuple(map(str, self.fixed[COVARIATE].values))

    @property
    def coefficients(self) -> np.ndarray:
        """Coefficients of covariates, shape (draws, covariates)."""
        if self.covariates:
            return flatten_chains(self.draws["covariate"].values)
        return np.zeros((self.n_draws, 0))

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Parameters of a custom likelihood by name, each (chain, draw)."""
        if "parameters" not in self.fixed:
            return {}
        parameter_names = str(self.fixed["parameters"].item()).split(",")
        return {name: self.draws[name].values for name in filter(None, parameter_names)}

    # observations and predictions -----------------------------------------------------------------

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of first and second option of each pair in the data."""
        return self.fixed["first"].values, self.fixed["second"].values

    @property
    def set_start(self) -> np.ndarray:
        """Index of each set's first member, or pair, shape (sets + 1,)."""
        return part_bounds(self.fixed["set_size"].values)

    @property
    def similarities(self) -> np.ndarray:
        """Measured similarities, shape (pairs,)."""
        return self.observed["similarity"].values

    @property
    def chosen(self) -> np.ndarray:
        """Count of each possible answer to each set."""
        return self.observed["chosen"].values

    @property
    def choice_probability(self) -> Any:
        """P(first option chosen), (chain, draw, pair), if stored."""
        return self._get_values("choice_probability")

    @property
    def similarity(self) -> Any:
        """Fitted similarities, (chain, draw, pair), if stored."""
        return self._get_values("similarity")

    @property
    def set_probability(self) -> Any:
        """P(chosen) of each member of each set, (chain, draw, place), if stored."""
        return self._get_values("set_probability")

    @property
    def places(self) -> list[tuple[str, str]]:
        """(option, offered options) of each member of each set."""
        return list(
            zip(self.observed["alternative"].values, self.observed["offered"].values, strict=True)
        )

    def _find_variable(self, name: str) -> "xarray.DataArray | None":
        """Return the variable `name` of the draws; None if missing."""
        if name in self.draws:
            return self.draws[name]
        if name not in self.latent:
            return None
        return self.latent[name]

    def _get_values(self, name: str) -> Any:
        """Return the array of the variable `name`; None if missing."""
        variable = self._find_variable(name)
        if variable is None:
            return None
        return variable.values

    def _get_flat_values(self, name: str) -> Any:
        """Return the variable `name` with one number per draw, (draws,); None if missing."""
        if name not in self.draws:
            return None
        return self.draws[name].values.ravel()


def flatten_chains(array: np.ndarray) -> np.ndarray:
    """Reshape an array (chain, draw, ...) to (chain * draw, ...)."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
