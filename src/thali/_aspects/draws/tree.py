"""Draws of latent-feature models as a tree in the ArviZ schema: pairs of options, log prior
densities."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.threads import choose_longest_chains
from thali._model.stored_choices import MAX_PAIRS
from thali._posterior.densities import add_log_prior
from thali._posterior.store import origin, tree_of
from thali._posterior.view import parted
from thali.errors import DataError

from .columns import FeatureColumns, columns_of_chains

if TYPE_CHECKING:
    import xarray

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._data.similarities import Similarities

    from ..samplers.chains import SamplingTask
    from ..samplers.draw_record import ChainDraws


_DESCRIPTIONS = {
    "n_features": "features that at least one option has, without the fixed unique features",
    "alpha": "concentration of the prior over features",
    "log_likelihood": "full data set, natural logarithm, including constants such as binomial"
    " coefficients",
    "features": "1 if an option has a feature, else 0; padded with 0",
    "feature_size": "number of options with a feature; padded with 0",
    "owners": "option indices, feature by feature, feature_size of each; padded with -1",
    "weights": "weight of a feature; padded with 0; in elimination by aspects comparable only"
    " within a fit",
    "unique_weights": "weight of the unique aspect of an option; 0 without unique aspects",
}


@dataclass(frozen=True)
class DataPart:
    """The part of a posterior about data of one kind, from `build_posterior_part` of a likelihood.

    The datasets of the groups are given as `xarray.Dataset` takes them: variables, coordinates.
    """

    kind: str  # of the data, of `thali._data.kinds`
    log_constant: float  # what the samplers leave out of the log-likelihood of the whole data
    descriptions: dict[str, str]  # of the variables
    variables: dict[Any, Any] = field(
        default_factory=dict
    )  # further ones of the group posterior, and their coordinates
    coordinates: dict[Any, Any] = field(default_factory=dict)
    observed: dict[Any, Any] = field(default_factory=dict)  # group observed_data
    constants: dict[Any, Any] = field(default_factory=dict)  # group constant_data
    # group log_likelihood; empty above 2,000 pairs
    pointwise: dict[Any, Any] = field(default_factory=dict)
    observed_coordinates: dict[Any, Any] = field(default_factory=dict)  # of these three groups
    # the dimensions along which data stand, of which each group of people has its own
    rows: tuple[str, ...] = ()
    # (draws,) of weights and constant, where only their ratios count
    scale: np.ndarray | None = None
    common: tuple[str, ...] = ()  # variables of parameters that groups of people have in common
    # probabilities of all answers (draws, answers); None: too many
    answers: Callable[[], np.ndarray] | None = None


class KeptDraws(NamedTuple):
    """The chains that a posterior is made of, each cut to the same number of draws."""

    chains: "list[ChainDraws]"
    draws: int

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws."""
        return len(self.chains), self.draws

    def stacked(self, values: Iterable[Any]) -> np.ndarray:
        """One array of numbers a chain as one array (chain, draw, ...)."""
        return np.stack([np.asarray(value)[: self.draws] for value in values])

    def parameter(self, name: str) -> np.ndarray:
        """A parameter besides features and weights (chain, draw)."""
        return self.stacked(chain.extra[name] for chain in self.chains)

    def variables(self, log_constant: float) -> dict[Any, Any]:
        """What every posterior has; the constant is what the samplers leave out of the
        log-likelihood."""
        of_chains = {
            "n_features": [chain.n_features for chain in self.chains],
            "alpha": [chain.alpha for chain in self.chains],
            "log_likelihood": [chain.log_likelihood + log_constant for chain in self.chains],
        }
        return {
            name: (("chain", "draw"), self.stacked(values)) for name, values in of_chains.items()
        }

    def coordinates(self) -> dict[str, Any]:
        """The numbers of chains and draws."""
        return {"chain": np.arange(len(self.chains)), "draw": np.arange(self.draws)}

    def groups(
        self, variables: dict[Any, Any], coordinates: dict[Any, Any], descriptions: dict[str, str]
    ) -> "dict[str, xarray.Dataset]":
        """The groups of what was drawn, every variable with its description, and of the statistics
        of chains."""
        import xarray as xr

        drawn = xr.Dataset(variables, {**self.coordinates(), **coordinates})
        for name, variable in drawn.data_vars.items():
            variable.attrs["description"] = (_DESCRIPTIONS | descriptions)[str(name)]
        stats = _stats([chain.stats for chain in self.chains])
        return parted(drawn) | {"sample_stats": xr.Dataset(stats, {"chain": drawn["chain"]})}


def kept_draws(chains: Sequence["ChainDraws"]) -> KeptDraws:
    """Return the chains with the most draws together; interrupted ones differ in length."""
    numbers, draws = choose_longest_chains([len(chain.alpha) for chain in chains])
    if draws == 0:
        raise DataError(
            "no draws were kept, so there is no posterior; run the fit longer before stopping it"
        )
    return KeptDraws([chains[number] for number in numbers], draws)


def to_datatree(
    chains: Sequence["ChainDraws"],
    data: "PairedComparisons | Choices | Similarities",
    likelihood: Any,
    *,
    learned_alpha: bool,
    attrs: Mapping[str, object] | None = None,
    task: "SamplingTask | None" = None,
) -> "xarray.DataTree":
    """The draws of all chains as one tree in the ArviZ schema, with log prior densities if the task
    is given."""
    import xarray as xr

    kept = kept_draws(chains)
    columns, shape = columns_of_chains(*kept), kept.shape
    labels = np.asarray(data.labels, dtype=str)
    dense = data.n_options * (data.n_options - 1) // 2 <= MAX_PAIRS
    own = {name: kept.parameter(name) for name in kept.chains[0].extra}
    flat = {name: values.ravel() for name, values in own.items()}
    part = likelihood.build_posterior_part(columns, flat, data, shape, dense)
    variables = {
        **kept.variables(part.log_constant),
        # other parameters stand in the part
        **{
            name: (("chain", "draw"), values)
            for name, values in own.items()
            if name in part.descriptions
        },
        **stored_features(columns, shape, dense),
        **part.variables,
    }
    groups = kept.groups(variables, {"option": labels, **part.coordinates}, part.descriptions)
    if part.pointwise:
        # ArviZ looks for the log-likelihood of an observed variable under that variable's name.
        groups["log_likelihood"] = xr.Dataset(
            part.pointwise, {**kept.coordinates(), **part.observed_coordinates}
        )
    groups["observed_data"] = xr.Dataset(part.observed, part.observed_coordinates)
    groups["constant_data"] = xr.Dataset(
        {"kind": part.kind, **part.constants, "learned_alpha": bool(learned_alpha)},
        {**part.observed_coordinates, "option": labels},
    )
    if task is not None:
        found = log_prior_of(task, likelihood, data, columns, variables["alpha"][1].ravel(), flat)
        add_log_prior(
            groups, {name: values.reshape(shape) for name, values in found.items()}, NOTES
        )
    return tree_of(groups, {**origin(), **(attrs or {})})


def _stats(stats: list[dict[Any, Any]]) -> dict[Any, Any]:
    """Statistics of whole chains; arrays, which may differ in length, are padded with NaN along a
    dimension `level`."""
    variables = {}
    for name in stats[0]:
        values = [np.asarray(chain.get(name, np.nan), float) for chain in stats]
        if values[0].ndim == 0:
            variables[name] = ("chain", values)
        else:
            levels = max(chain["temperature"].size for chain in stats)
            padded = np.full((len(values), levels), np.nan)
            for row, value in zip(padded, values, strict=True):
                row[: value.size] = value
            variables[name] = (("chain", "level"), padded)
    return variables


def stored_features(columns: FeatureColumns, shape: tuple[int, int], dense: bool) -> dict[Any, Any]:
    """The features of all draws with their weights: owners as a matrix, or as lists where there are
    many options."""
    return _dense_features(columns, shape) if dense else _listed_features(columns, shape)


def _dense_features(columns: FeatureColumns, shape: tuple[int, int]) -> dict[Any, Any]:
    features, weights = columns.dense(0, columns.n_draws)
    return {
        "features": (
            ("chain", "draw", "feature", "option"),
            features.reshape(*shape, *features.shape[1:]),
        ),
        "weights": (("chain", "draw", "feature"), weights.reshape(*shape, -1)),
    }


def _listed_features(columns: FeatureColumns, shape: tuple[int, int]) -> dict[Any, Any]:
    owners_per_draw = np.diff(columns.first_owner[columns.first_column])

    def padded(values: Any, counts: Any, fill: Any, dtype: Any) -> Any:
        array = np.full((columns.n_draws, int(counts.max())), fill, dtype=dtype)
        array[np.arange(array.shape[1]) < counts[:, None]] = values
        return array.reshape(*shape, -1)

    by_feature, by_owner = ("chain", "draw", "feature"), ("chain", "draw", "owner")
    return {
        "weights": (by_feature, padded(columns.weights, columns.n_features, 0.0, float)),
        "feature_size": (by_feature, padded(columns.sizes, columns.n_features, 0, np.int32)),
        "owners": (by_owner, padded(columns.owners, owners_per_draw, -1, np.int32)),
    }


# The log prior density of recorded draws, part by part --------------------------------------------


NOTES = {
    "alpha": "the concentration",
    "features": "the members of all features: an unordered Poisson process under an infinite prior,"
    " else the matrix",
    "weights": "the weights of all features",
    "unique_weights": "the weights of the unique aspects",
    "constant": "the additive constant",
    "sigma": "sigma",
    "tie": "the parameter of ties",
    "covariate": "the coefficients of covariates",
}


def log_prior_of(
    task: "SamplingTask",
    likelihood: Any,
    data: Any,
    columns: FeatureColumns,
    alpha: np.ndarray,
    own: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Log prior densities of what was drawn, arrays (draws,) by the names of the variables; a fixed
    alpha has none."""
    weights = task.model.weights
    found = {}
    if task.model.learn_alpha:
        found["alpha"] = -alpha  # Gamma(1, 1)
    found["features"] = task.prior.log_prob_of_draws(columns, alpha)
    found["weights"] = columns.summed(weights.log_density(columns.weights))
    if likelihood.unique:
        found["unique_weights"] = weights.log_density(columns.unique_weights).sum(axis=1)
    return found | likelihood.log_parameter_prior(own, data, weights)
