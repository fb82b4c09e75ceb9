"""Results of triplets: predicted pairs, ranks of pairs, and the next question."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.questions import AnswerProbabilities, slice_sets
from thali._inference.numerics.ranks import average_ranks
from thali._model.labelled_pair_sets import predict_pair_sets
from thali._model.stored_choices import MAX_PAIRS, pair_coordinates
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from ..draws.feature_columns import read_columns
from ..draws.triplet_probabilities import (
    compute_mean_weight,
    compute_pair_similarities,
    compute_shared_weights,
    compute_triplet_probabilities,
    iterate_triplet_sets,
    read_triplets,
)
from .similarity_results import ObjectResults
from .summary_quantities import Quantities

if TYPE_CHECKING:
    import pandas


class TripletResults(ObjectResults):
    """Results of a posterior fitted to choices of the most similar pair of a set."""

    def _compute_similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the fitted similarity of pairs of objects, (n_draws, n_pairs)."""
        posterior = self.posterior
        return compute_pair_similarities(
            read_columns(posterior), posterior.constant, first, second, posterior.link
        )

    def _count_shared_features(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Count the features that both objects of a pair own, (n_draws, n_pairs)."""
        feature_columns = read_columns(self.posterior)
        unweighted_columns = replace(feature_columns, weights=np.ones_like(feature_columns.weights))
        return compute_shared_weights(unweighted_columns, None, first, second, self.posterior.link)

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of `constant` relative to the mean similarity, and of presence."""
        posterior = self.posterior
        presence = self._get_presence()
        if (constant := posterior.constant) is None:
            return presence
        relative_constant = constant / compute_mean_weight(read_columns(posterior), constant)
        return {"constant": relative_constant.reshape(posterior.shape)} | presence

    def predict_proba(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        """Return the probability that each pair of a set is the most similar."""
        posterior = self.posterior
        return predict_pair_sets(
            sets,
            posterior.labels,
            posterior.shape[0],
            partial(iterate_triplet_sets, posterior),
            return_se,
        )

    def data(self) -> Any:
        """Return the fitted `Triplets`."""
        return read_triplets(self.posterior)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        """Return a function from a slice of questions to answer probabilities at `draws`."""
        feature_columns = read_columns(self.posterior).take(draws)
        link = self.posterior.link
        lapse = self.posterior.lapse
        constant = self.posterior.constant
        if constant is not None:
            constant = constant[draws]

        def compute_slice(questions: slice) -> np.ndarray:
            """Return answer probabilities of these questions, shape (n_draws, n_answers)."""
            set_starts, first_objects, second_objects = slice_sets(
                data.start, questions, data.first, data.second
            )
            pair_probabilities = compute_triplet_probabilities(
                feature_columns, constant, set_starts, first_objects, second_objects, link, lapse
            )
            return pair_probabilities / np.repeat(
                np.add.reduceat(pair_probabilities, set_starts[:-1], axis=1),
                np.diff(set_starts),
                axis=1,
            )

        return compute_slice


# Predictions and ranks of pairs -------------------------------------------------------------------


def pair_ranks_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return a table of pairs with similarity and rank, the most similar first."""
    from thali._exportable_table import Table

    labels = np.asarray(posterior.labels, dtype=str)
    first_objects, second_objects = np.triu_indices(len(labels), k=1)
    if len(first_objects) > MAX_PAIRS:
        raise ArgumentError(
            f"{len(labels):,} objects have {len(first_objects):,} pairs, too many for a table of"
            " ranks; compare selected pairs with predict_proba."
        )
    similarity = compute_pair_similarities(
        read_columns(posterior), posterior.constant, first_objects, second_objects, posterior.link
    )
    ranks = average_ranks(-similarity)
    coordinates = pair_coordinates("", labels, first_objects, second_objects)
    table_columns: dict[str, Any] = {
        "a": coordinates["option_a"][1],
        "b": coordinates["option_b"][1],
    }
    for quantity_name, quantity_draws in (("similarity", similarity), ("rank", ranks)):
        low, high = compute_interval(quantity_draws, ci)
        table_columns |= {
            quantity_name: quantity_draws.mean(axis=0),
            f"{quantity_name}_low": low,
            f"{quantity_name}_high": high,
        }
    ranks_table = Table(table_columns).sort_values("rank", kind="stable", ignore_index=True)
    ranks_table.attrs["interval"] = ci
    return ranks_table
