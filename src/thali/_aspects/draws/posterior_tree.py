"""Draws of latent-feature models as a tree in the ArviZ schema."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import count_pairs
from thali._inference.threads_and_processes import choose_longest_chains
from thali._model.stored_choices import MAX_PAIRS
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali.errors import DataError

from .feature_columns import FeatureColumns, concatenate_chain_columns

if TYPE_CHECKING:
    import xarray

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._data.similarities import Similarities

    from ..samplers.chains import SamplingTask
    from ..samplers.draw_record import RecordedDraws
    from ..samplers.sampling_task import Likelihood


_VARIABLES = {
    "n_features": Variable(
        "features that at least one option has, without the fixed unique features"
    ),
    "alpha": Variable("concentration of the prior over features"),
    "log_likelihood": Variable(
        "full data set, natural logarithm, including constants such as binomial coefficients"
    ),
    "features": Variable(
        "1 if an option has a feature, else 0; padded with 0", ("feature", "option")
    ),
    "feature_size": Variable("number of options with a feature; padded with 0", ("feature",)),
    "owners": Variable(
        "option indices, feature by feature, feature_size of each; padded with -1", ("owner",)
    ),
    "weights": Variable(
        "weight of a feature; padded with 0; in elimination by aspects comparable only within a"
        " fit",
        ("feature",),
    ),
    "unique_weights": Variable(
        "weight of the unique aspect of an option; 0 without unique aspects", ("option",)
    ),
}


class SimulatedData(NamedTuple):
    """Simulated answers or similarities, and their log-likelihood."""

    data: Any  # an argument of `fit`
    observed: dict[str, np.ndarray]  # by names in the group observed_data
    log_likelihood: float  # of the simulated data, including all constants


def simulate_answers(
    data: Any, p: np.ndarray, ties: bool, rng: np.random.Generator
) -> SimulatedData:
    """Simulate answers to the questions of `data`, multinomial with probabilities p."""
    questions = data.questions(ties)
    answer_counts = questions.simulate_counts(p, rng)
    log_likelihood = questions.with_counts(answer_counts).log_likelihoods(p).sum()
    return SimulatedData(
        data.with_answers(answer_counts), {"chosen": answer_counts}, float(log_likelihood)
    )


@dataclass(frozen=True)
class DataPart:
    """Variables and datasets that one kind of data adds to the posterior tree."""

    kind: str  # data kind, from `thali._data.kinds`
    log_constant: float  # constant that the samplers omit from the log-likelihood
    variables: dict[str, Variable]  # of the draws, with the parameters of the likelihood
    # additional draws (chain, draw, ...), and their coordinates
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    coordinates: dict[Any, Any] = field(default_factory=dict)
    observed: dict[Any, Any] = field(default_factory=dict)  # group observed_data
    constants: dict[Any, Any] = field(default_factory=dict)  # group constant_data
    # an observed variable, its dimensions and its log-likelihoods (chain, draw, observation); None
    # above 2,000 pairs
    pointwise: tuple[str, tuple[str, ...], np.ndarray] | None = None
    observed_coordinates: dict[Any, Any] = field(default_factory=dict)  # of these three groups


class KeptDraws(NamedTuple):
    """Chains of a posterior, each cut to the same number of draws."""

    chains: "list[RecordedDraws]"
    draws: int

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains and of draws per chain."""
        return len(self.chains), self.draws

    def stack_chains(self, arrays: Iterable[Any]) -> np.ndarray:
        """Stack one array per chain, shape (n_chains, n_draws, ...)."""
        return np.stack([np.asarray(array)[: self.draws] for array in arrays])

    def stack_scalars(self, log_constant: float) -> dict[str, np.ndarray]:
        """Return n_features, alpha and log-likelihood of all draws, (chain, draw)."""
        arrays_by_name = {
            "n_features": [chain.n_features for chain in self.chains],
            "alpha": [chain.alpha for chain in self.chains],
            "log_likelihood": [chain.log_likelihood + log_constant for chain in self.chains],
        }
        return {name: self.stack_chains(arrays) for name, arrays in arrays_by_name.items()}


def select_kept_draws(chains: Sequence["RecordedDraws"]) -> KeptDraws:
    """Select the chains and length that keep most draws; interrupted chains are short."""
    chain_indices, n_draws = choose_longest_chains([len(chain.alpha) for chain in chains])
    if n_draws == 0:
        raise DataError(
            "no draws were kept, so there is no posterior; run the fit longer before stopping it"
        )
    return KeptDraws([chains[number] for number in chain_indices], n_draws)


def build_datatree(
    chains: Sequence["RecordedDraws"],
    data: "PairedComparisons | Choices | Similarities",
    likelihood: Any,
    *,
    is_alpha_learned: bool,
    attrs: Mapping[str, object] | None = None,
    task: "SamplingTask | None" = None,
) -> "xarray.DataTree":
    """Build the posterior tree (ArviZ schema) from all chains."""
    kept_draws = select_kept_draws(chains)
    feature_columns = concatenate_chain_columns(kept_draws.chains, kept_draws.draws)
    shape = kept_draws.shape
    labels = np.asarray(data.labels, dtype=str)
    stores_pairs = count_pairs(data.n_options) <= MAX_PAIRS
    parameter_draws = {
        name: kept_draws.stack_chains(chain.extra[name] for chain in kept_draws.chains)
        for name in kept_draws.chains[0].extra
    }
    flat_parameters = {name: array.ravel() for name, array in parameter_draws.items()}
    data_part = likelihood.build_posterior_part(
        feature_columns, flat_parameters, data, shape, stores_pairs
    )
    arrays = {
        **kept_draws.stack_scalars(data_part.log_constant),
        # other parameters are in the part
        **{name: draws for name, draws in parameter_draws.items() if name in data_part.variables},
        **encode_features(feature_columns, shape, stores_pairs),
        **data_part.arrays,
    }
    coordinates = {"option": labels, **data_part.coordinates}
    writer = DrawsWriter(build_dataset(arrays, _VARIABLES | data_part.variables, coordinates))
    writer.write_statistics(_collect_stats([chain.stats for chain in kept_draws.chains]))
    if data_part.pointwise is not None:
        name, dims, log_likelihoods = data_part.pointwise
        writer.write_log_likelihood(name, dims, log_likelihoods, data_part.observed_coordinates)
    writer.write_observed(data_part.observed, data_part.observed_coordinates)
    constants = {
        "kind": data_part.kind,
        **data_part.constants,
        "learned_alpha": bool(is_alpha_learned),
    }
    writer.write_constants(constants, data_part.observed_coordinates)
    if task is not None:
        log_priors = compute_log_priors(
            task, likelihood, data, feature_columns, arrays["alpha"].ravel(), flat_parameters
        )
        log_priors_by_chain = {name: array.reshape(shape) for name, array in log_priors.items()}
        writer.write_log_prior(log_priors_by_chain, LOG_PRIOR_NOTES)
    return writer.build(attrs or {})


def _collect_stats(stats: list[dict[Any, Any]]) -> dict[Any, Any]:
    """Stack the statistics of complete chains by name, padded along `level`."""
    stacked_stats = {}
    for statistic_name in stats[0]:
        chain_arrays = [np.asarray(chain.get(statistic_name, np.nan), float) for chain in stats]
        if chain_arrays[0].ndim == 0:
            stacked_stats[statistic_name] = ("chain", chain_arrays)
        else:
            max_levels = max(chain["temperature"].size for chain in stats)
            padded_array = np.full((len(chain_arrays), max_levels), np.nan)
            for padded_row, chain_array in zip(padded_array, chain_arrays, strict=True):
                padded_row[: chain_array.size] = chain_array
            stacked_stats[statistic_name] = (("chain", "level"), padded_array)
    return stacked_stats


def encode_features(
    feature_columns: FeatureColumns, shape: tuple[int, int], is_dense: bool
) -> dict[str, np.ndarray]:
    """Return arrays that store the features of all draws, dense or as lists."""
    if is_dense:
        features, weights = feature_columns.to_dense(0, feature_columns.n_draws)
        return {
            "features": features.reshape(*shape, *features.shape[1:]),
            "weights": weights.reshape(*shape, -1),
        }
    return _encode_owner_lists(feature_columns, shape)


def _encode_owner_lists(
    feature_columns: FeatureColumns, shape: tuple[int, int]
) -> dict[str, np.ndarray]:
    """Return features of all draws as lists of owners, padded to one length."""
    owners_per_draw = np.diff(feature_columns.owner_offsets[feature_columns.column_offsets])

    def pad_draws(values: np.ndarray, counts: np.ndarray, fill: float, dtype: type[Any]) -> Any:
        """Return one row per draw of these values, padded with `fill`."""
        padded_rows = np.full((feature_columns.n_draws, int(counts.max())), fill, dtype=dtype)
        padded_rows[np.arange(padded_rows.shape[1]) < counts[:, None]] = values
        return padded_rows.reshape(*shape, -1)

    n_features = feature_columns.n_features
    return {
        "weights": pad_draws(feature_columns.weights, n_features, 0.0, float),
        "feature_size": pad_draws(feature_columns.sizes, n_features, 0, np.int32),
        "owners": pad_draws(feature_columns.owners, owners_per_draw, -1, np.int32),
    }


# The log prior density of recorded draws, part by part --------------------------------------------


LOG_PRIOR_NOTES = {
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


def compute_log_priors(
    task: "SamplingTask",
    likelihood: "Likelihood",
    data: Any,
    feature_columns: FeatureColumns,
    alpha: np.ndarray,
    parameters: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return log prior densities by variable, each (n_draws,); a fixed alpha has none."""
    weight_prior = task.model.weights
    log_priors = {}
    if task.model.learn_alpha:
        log_priors["alpha"] = -alpha  # Gamma(1, 1)
    log_priors["features"] = task.prior.log_prob_of_draws(feature_columns, alpha)
    log_priors["weights"] = feature_columns.sum_by_draw(
        weight_prior.log_density(feature_columns.weights)
    )
    if likelihood.unique:
        log_priors["unique_weights"] = weight_prior.log_density(feature_columns.unique_weights).sum(
            axis=1
        )
    return log_priors | likelihood.log_parameter_prior(parameters, data, weight_prior)
