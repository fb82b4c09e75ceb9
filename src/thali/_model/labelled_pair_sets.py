"""Sets of pairs of objects, of which one is the most similar, as indices."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thali._argument_checks import is_list
from thali._data.triplets import Triplets
from thali._data.triplets.triplet_tables import list_pairs
from thali._inference.index_arithmetic import part_bounds
from thali._labels import index_labels, suggest
from thali.errors import ArgumentError, DataError

# (start, first, second) -> blocks: slice of pairs, probabilities (draws, pairs)
IteratePairSets = Callable[[np.ndarray, np.ndarray, np.ndarray], Iterator[tuple[slice, np.ndarray]]]
PairSets = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, first, second


def predict_pair_sets(
    sets: Any, labels: list[str], n_chains: int, iterate_sets: IteratePairSets, return_se: bool
) -> Any:
    """Return each pair's posterior mean probability of being the most similar in its set."""
    from thali._posterior.summary_table import compute_mean_errors

    set_starts, first_objects, second_objects = index_pair_sets(sets, labels)
    mean_probability = np.empty(len(first_objects))
    mean_errors = np.empty(len(first_objects))
    for pair_slice, probability_draws in iterate_sets(set_starts, first_objects, second_objects):
        mean_probability[pair_slice] = probability_draws.mean(axis=0)
        if return_se:
            mean_errors[pair_slice] = compute_mean_errors(
                probability_draws.T.reshape(probability_draws.shape[1], n_chains, -1)
            )
    probabilities = np.split(mean_probability, set_starts[1:-1])
    if return_se:
        return probabilities, np.split(mean_errors, set_starts[1:-1])
    return probabilities


def index_pair_sets(sets: Any, labels: list[str]) -> PairSets:
    """Return the pairs of object indices of each set, from labels or `Triplets`."""
    index_of_label = index_labels(labels)
    if isinstance(sets, Triplets):
        for label in sets.labels:
            _check_known(label, index_of_label, "The data name")
        object_of_label = np.array([index_of_label[label] for label in sets.labels])
        return sets.start, *np.sort(
            [object_of_label[sets.first], object_of_label[sets.second]], axis=0
        )
    if not is_list(sets):
        raise ArgumentError(
            "Sets must be a list of sets of objects, such as [(a, b, c), ...], or Triplets; got"
            f" {type(sets).__name__}."
        )
    set_sizes = []
    pair_indices = []
    for set_index, set_entry in enumerate(sets):
        if not is_list(set_entry):
            raise ArgumentError(
                f"Entry {set_index} is {set_entry!r}; give sets of at least three objects, such as"
                " (a, b, c)."
            )
        try:
            pairs = list_pairs(set_index, set_entry)
        except DataError as error:
            raise ArgumentError(str(error)) from None
        for pair in pairs:
            for label in pair:
                _check_known(label, index_of_label, f"Entry {set_index} names")
        set_sizes.append(len(pairs))
        pair_indices += [sorted((index_of_label[a], index_of_label[b])) for a, b in pairs]
    first_objects, second_objects = np.array(pair_indices, np.int64).reshape(-1, 2).T
    return part_bounds(set_sizes), first_objects, second_objects


def _check_known(label: str, index_of_label: dict[str, int], subject: str) -> None:
    """Raise ArgumentError if a label is not one of the fitted objects."""
    if label not in index_of_label:
        raise ArgumentError(
            f"{subject} {label!r}, which is not one of the fitted objects."
            f"{suggest(label, list(index_of_label))}"
        )
