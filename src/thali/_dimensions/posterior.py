"""Posterior of non-negative dimensions: its tree, similarities, predictions and tables."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._inference.index_arithmetic import count_pairs, iterate_slices, repeat_indices
from thali._inference.markov_chains import cut_records
from thali._inference.numerics.log_densities import log_normal_density
from thali._model.pair_quantities import select_spaced_pairs
from thali._model.stored_choices import MAX_PAIRS, StoredData, pair_coordinates
from thali._posterior.datatree_files import MAX_POINTWISE, can_store_pointwise
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import LATENT, PosteriorTree, flatten_chains
from thali.errors import DataError

from .chain import MIN_HEIGHT, DimensionChain, DimensionProblem, multiply_rows

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.similarities import Similarities

MIN_PROBABILITY = 1e-300  # replaces a probability of 0, so that its logarithm is finite
RECURRING = 0.8  # mean correlation with the best match in other restarts, from which it recurs
_VARIABLES = {
    "n_dimensions": Variable("dimensions in which some object is above the threshold"),
    "log_likelihood": Variable(
        "full data set, natural logarithm, including multinomial coefficients"
    ),
    "constant": Variable("similarity of objects that share no dimension"),
    "sigma": Variable(
        "standard deviation of a similarity around its fitted value, for one judgement"
    ),
    "coordinates": Variable(
        "value of each object on each dimension, in the order of the restart; 0 if not used",
        ("option", "dimension"),
    ),
}


def build_posterior_tree(
    chains: Sequence[DimensionChain], data: Any, problem: DimensionProblem
) -> "xarray.DataTree":
    """Build the tree of the recorded draws in the ArviZ schema."""
    kept_chains, records = cut_records(chains)
    arrays = {name: np.stack([record[name] for record in records]) for name in records[0]}
    n_used = max(int((arrays["coordinates"] > 0.0).any(axis=(0, 1, 2)).sum()), 1)
    coordinates = arrays["coordinates"][..., :n_used]
    height = MIN_HEIGHT * np.sqrt(problem.unit)
    variables = {
        "n_dimensions": (coordinates.max(axis=2) >= height).sum(axis=2),
        "log_likelihood": arrays["log_likelihood"],
    }
    if data.kind == SIMILARITIES:
        variables |= {"constant": arrays["constant"], "sigma": arrays["sigma"]}
    else:
        variables["log_likelihood"] += data.questions().log_coefficients().sum()
    attributes: dict[Any, Any] = {"thin": kept_chains[0].thin, "tuning_steps": kept_chains[0].tune}
    writer = _write_draws(variables | {"coordinates": coordinates}, data.labels)
    constants = {"kind": data.kind, "lapse": problem.lapse}
    writer.write_constants(constants, {})
    posterior = DimensionPosterior(writer.build(attributes))
    if not can_store_pointwise(len(data.first), posterior.n_draws):
        return posterior.tree
    stored = store_data(data)
    writer.write_observed(stored.observed, stored.coordinates)
    writer.write_constants(constants | stored.constants, {})
    if len(data.first) <= MAX_PAIRS:
        name, dim, terms = _compute_pointwise(posterior, data)
        total = writer.draws["log_likelihood"].copy(data=terms.sum(axis=2))  # of rounded numbers
        writer.groups["posterior"] = writer.draws.assign(log_likelihood=total)
        writer.write_log_likelihood(name, (dim,), terms, {})
    return writer.build(attributes)


def store_data(data: Any) -> StoredData:
    """Return triplets or similarities as data to store in a posterior."""
    labels = np.asarray(data.labels, dtype=str)
    if data.kind == SIMILARITIES:
        pairs = "measured_pair"
        return StoredData(
            SIMILARITIES,
            np.zeros(data.n_pairs),
            {"similarity": (pairs, data.values)},
            {
                "first": (pairs, data.first),
                "second": (pairs, data.second),
                "judgements": (pairs, data.judgements),
            },
            pair_coordinates(pairs, labels, data.first, data.second),
        )
    coefficients = data.questions().log_coefficients()
    return StoredData(
        TRIPLETS,
        coefficients,
        {"chosen": ("place", data.counts)},
        {
            "set_size": ("set", data.sizes),
            "log_multinomial_coefficient": ("set", coefficients),
            "first": ("place", data.first),
            "second": ("place", data.second),
        },
        {},
    )


def _compute_pointwise(posterior: "DimensionPosterior", data: Any) -> tuple[str, str, np.ndarray]:
    """Return name, dimension and log-likelihood (chain, draw, observation) of the data."""
    if data.kind == SIMILARITIES:
        name = "similarity"
        dim = "measured_pair"
        terms = log_normal_density(data.values, *posterior.predict_similarities(data))
    else:
        name = "chosen"
        dim = "set"
        probabilities = posterior.compute_answers(slice(None), data.start, data.first, data.second)
        terms = data.questions().log_likelihoods(np.maximum(probabilities, MIN_PROBABILITY))
    return name, dim, terms.reshape(*posterior.shape, -1)


def build_embedding_tree(
    matrix: np.ndarray, labels: Sequence[str], lapse: float
) -> "xarray.DataTree":
    """Build the tree of a ready-made embedding (objects, dimensions), as a single draw."""
    arrays = {
        "n_dimensions": np.array([[matrix.any(axis=0).sum()]]),
        "coordinates": matrix.astype(np.float32)[None, None],
    }
    writer = _write_draws(arrays, labels)
    writer.write_constants({"kind": TRIPLETS, "lapse": lapse}, {})
    return writer.build({})


def _write_draws(arrays: dict[str, np.ndarray], labels: Sequence[str]) -> DrawsWriter:
    """Begin a tree with draws (chain, draw, ...) for these objects."""
    return DrawsWriter(build_dataset(arrays, _VARIABLES, {"option": np.asarray(labels, dtype=str)}))


class DimensionPosterior(PosteriorTree):
    """Named arrays of a posterior of dimensions."""

    @property
    def data_kind(self) -> str:
        """Kind of the data, one of `thali._data.kinds`."""
        return str(self.fixed["kind"].item())

    @property
    def observed(self) -> "xarray.Dataset":
        """Dataset of the group `observed_data`; raise DataError if the data are not stored."""
        if "observed_data" not in self.tree.children:
            raise DataError(
                "posterior_predictive requires the observed data, which this posterior does not"
                f" contain: it comes from an embedding, or would have more than {MAX_POINTWISE:,}"
                " numbers (observations times draws). Fit with fewer draws."
            )
        return super().observed

    @cached_property
    def labels(self) -> list[str]:
        """Labels of the objects."""
        return [str(label) for label in self.draws["option"].values]

    @property
    def n_options(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def lapse(self) -> float:
        """Probability of a random answer."""
        return float(self.fixed["lapse"])

    @property
    def coordinates(self) -> np.ndarray:
        """Values of objects on dimensions, (chain, draw, object, dimension)."""
        return self.tree[LATENT].dataset["coordinates"].values

    @cached_property
    def levels(self) -> np.ndarray:
        """Number of each draw that is added to the products of coordinates, (draws,).

        For similarities it is the constant. Answers to triplets do not depend on a number that all
        similarities have in common, so it is minus the mean of the products of all pairs.
        """
        if self.data_kind == SIMILARITIES:
            return self.draws["constant"].values.ravel()
        coordinates = flatten_chains(self.coordinates).astype(float)
        n_objects = coordinates.shape[1]
        sums = (coordinates.sum(axis=1) ** 2).sum(axis=1) - (coordinates**2).sum(axis=(1, 2))
        return -0.5 * sums / count_pairs(n_objects)

    @property
    def sigma(self) -> np.ndarray:
        """Standard deviation of a similarity at each draw, (draws,)."""
        return self.draws["sigma"].values.ravel()

    def fit_similarities(
        self, draw_indices: np.ndarray | slice, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        """Return the fitted similarity of pairs of objects, (draws, pairs)."""
        coordinates = flatten_chains(self.coordinates)[draw_indices]
        products = np.stack([multiply_rows(x, first, second) for x in coordinates])
        return products + self.levels[draw_indices][:, None]

    def predict_similarities(self, data: "Similarities") -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of measured similarities, both (draws, pairs)."""
        fitted = self.fit_similarities(slice(None), data.first, data.second)
        return fitted, self.sigma[:, None] / np.sqrt(data.judgements)

    def compute_answers(
        self,
        draw_indices: np.ndarray | slice,
        start: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
    ) -> np.ndarray:
        """Return the probability of each pair of each set, (draws, pairs)."""
        similarities = self.fit_similarities(draw_indices, first, second)
        set_of_pair = repeat_indices(np.diff(start))
        tops = np.maximum.reduceat(similarities, start[:-1], axis=1)
        shares = np.exp(similarities - tops[:, set_of_pair])
        shares /= np.add.reduceat(shares, start[:-1], axis=1)[:, set_of_pair]
        return (1.0 - self.lapse) * shares + self.lapse / np.diff(start)[set_of_pair]

    def iterate_answers(
        self, start: np.ndarray, first: np.ndarray, second: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of whole sets: the slice of their pairs, and probabilities by draw."""
        sizes = np.diff(start)
        for sets in iterate_slices(len(sizes), self.n_draws * int(sizes.max(initial=1))):
            pairs = slice(int(start[sets.start]), int(start[sets.stop]))
            block_start = start[sets.start : sets.stop + 1] - start[sets.start]
            yield pairs, self.compute_answers(slice(None), block_start, first[pairs], second[pairs])

    def compute_share_between(self) -> float:
        """Return the mean share, over pairs, of the variance of similarities between chains."""
        first, second = select_spaced_pairs(self)
        similarities = self.fit_similarities(slice(None), first, second).reshape(*self.shape, -1)
        # a single draw per chain has no variance within: all of it is between
        within = similarities.var(axis=1, ddof=min(1, self.shape[1] - 1)).mean(axis=0)
        between = similarities.mean(axis=1).var(axis=0, ddof=1)
        # the means of a chain vary as well if the chains agree
        total = np.maximum(within + between, 1e-300)
        return float((between / total).mean())

    @cached_property
    def matched(self) -> "MatchedDimensions":
        """Dimensions of the most probable restart, with their recurrence in the others."""
        return match_dimensions(self.coordinates, self.draws.get("log_likelihood"))


class MatchedDimensions(NamedTuple):
    """Dimensions of one restart, the heaviest first."""

    draws: np.ndarray  # (draws, objects, dimensions) of this restart
    means: np.ndarray  # (objects, dimensions)
    reproducibility: np.ndarray  # (dimensions,); NaN for a single restart


def match_dimensions(coordinates: np.ndarray, log_likelihood: Any) -> MatchedDimensions:
    """Return the dimensions of the restart of the largest mean log-likelihood.

    The reproducibility of a dimension is its correlation with the most similar dimension of each
    other restart, averaged by Fisher's z (Hebart et al. 2020).
    """
    reference = 0
    if len(coordinates) > 1:
        reference = int(np.asarray(log_likelihood).mean(axis=1).argmax())
    means = coordinates.mean(axis=1, dtype=float)
    weights = means[reference].sum(axis=0)
    order = np.argsort(-weights, kind="stable")[: max(int((weights > 0.0).sum()), 1)]
    own_means = means[reference][:, order]
    best_matches = []
    for chain, other_means in enumerate(means):
        if chain != reference:
            best_matches.append(correlate_columns(own_means, other_means).max(axis=1))
    reproducibility = np.full(len(order), np.nan)
    if best_matches:
        z = np.arctanh(np.clip(best_matches, -0.999999, 0.999999))
        reproducibility = np.tanh(z.mean(axis=0))
    return MatchedDimensions(coordinates[reference][..., order], own_means, reproducibility)


def correlate_columns(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return correlations of the columns of two matrices; 0 for constant columns."""

    def standardise(matrix: np.ndarray) -> np.ndarray:
        """Return columns of mean 0 and length 1."""
        deviations = matrix - matrix.mean(axis=0)
        lengths = np.sqrt((deviations**2).sum(axis=0))
        return deviations / np.where(lengths > 0.0, lengths, 1.0)

    return standardise(first).T @ standardise(second)


def tabulate_dimensions(posterior: DimensionPosterior, ci: float | None) -> "pandas.DataFrame":
    """Return the objects by dimensions; with `ci` one row per object and dimension."""
    import pandas as pd

    from thali._exportable_table import Table

    matched = posterior.matched
    numbers = pd.RangeIndex(1, matched.means.shape[1] + 1, name="dimension")
    objects = pd.Index(posterior.labels, name="object")
    if ci is None:
        matrix = Table(pd.DataFrame(matched.means, objects, numbers))
        matrix.attrs["reproducibility"] = dict(
            zip(numbers.tolist(), matched.reproducibility.tolist(), strict=True)
        )
        return matrix
    low, high = compute_interval(matched.draws, ci)
    index = pd.MultiIndex.from_product([objects, numbers])
    columns = {"value": matched.means.ravel(), "low": low.ravel(), "high": high.ravel()}
    table = Table(pd.DataFrame(columns, index).reset_index())
    table.attrs["interval"] = ci
    return table


def tabulate_top_objects(posterior: DimensionPosterior, k: int) -> "pandas.DataFrame":
    """Return one row per dimension: weight, reproducibility and its k highest objects."""
    import pandas as pd

    from thali._exportable_table import Table

    matched = posterior.matched
    order = np.argsort(-matched.means, axis=0, kind="stable")[:k]
    labels = np.array(posterior.labels, dtype=object)
    columns = {
        "weight": matched.means.sum(axis=0),
        "reproducibility": matched.reproducibility,
        "recurs": matched.reproducibility >= RECURRING,
        "objects": [tuple(labels[column]) for column in order.T],
    }
    numbers = pd.RangeIndex(1, matched.means.shape[1] + 1, name="dimension")
    return Table(pd.DataFrame(columns, numbers))


def compute_similarity_matrices(posterior: DimensionPosterior, ci: float) -> np.ndarray:
    """Return mean, low and high of the similarity of all pairs, (3, objects, objects)."""
    n = len(posterior.labels)
    matrices = np.full((3, n, n), np.nan)
    first, second = np.triu_indices(n, k=1)
    for pairs in iterate_slices(len(first), posterior.n_draws):
        i = first[pairs]
        j = second[pairs]
        similarities = posterior.fit_similarities(slice(None), i, j)
        summaries = [similarities.mean(axis=0), *compute_interval(similarities, ci)]
        matrices[:, i, j] = matrices[:, j, i] = summaries
    return matrices
