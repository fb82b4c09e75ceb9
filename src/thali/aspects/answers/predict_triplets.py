"""Predictions for triplets: the most similar pair of any set, and how similar the pairs are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import suggest
from thali.data.triplets import Triplets
from thali.data.triplets.rows import pairs_in
from thali.errors import ArgumentError, DataError
from thali.inference.numerics.ranks import average_ranks
from thali.posterior.interval import TAILS

from ..draws.pair_coordinates import pair_coordinates
from ..draws.tree import MAX_PAIRS
from ..draws.triplets import pair_similarities, parts_of, probability_blocks
from .kind import of_triplets

if TYPE_CHECKING:
    import pandas
    import xarray

Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, first, second


def predicted_pairs(tree: "xarray.DataTree", sets: Any, return_se: bool) -> Any:
    """Of each set the posterior mean probabilities of its pairs, and their Monte Carlo errors if wanted."""
    from thali.posterior.summary import mean_errors

    tree = of_triplets(tree, "predict_proba")
    start, first, second = _places_of(sets, [str(x) for x in tree["posterior"].dataset["option"].values])
    mean, errors = np.empty(len(first)), np.empty(len(first))
    for places, draws in probability_blocks(tree, start, first, second):
        mean[places] = draws.mean(axis=0)
        if return_se:
            errors[places] = mean_errors(draws.T.reshape(draws.shape[1], tree["posterior"].sizes["chain"], -1))
    found = np.split(mean, start[1:-1])
    return (found, np.split(errors, start[1:-1])) if return_se else found


def _places_of(sets: Any, labels: list[str]) -> Places:
    """The pairs of sets of labels, set after set."""
    where = {label: k for k, label in enumerate(labels)}
    if isinstance(sets, Triplets):
        for label in sets.labels:
            _known(label, where, "The data name")
        at = np.array([where[label] for label in sets.labels])
        return sets.start, *np.sort([at[sets.first], at[sets.second]], axis=0)
    if isinstance(sets, str) or not hasattr(sets, "__iter__"):
        raise ArgumentError(
            f"Give a list of sets of objects, [(a, b, c), ...], or Triplets; got {type(sets).__name__}."
        )
    sizes, sides = [], []
    for number, entry in enumerate(sets):
        if isinstance(entry, str) or not hasattr(entry, "__iter__"):
            raise ArgumentError(f"Entry {number} is {entry!r}; give sets of three objects or more, (a, b, c).")
        try:
            pairs = pairs_in(number, entry)
        except DataError as error:
            raise ArgumentError(str(error)) from None
        for pair in pairs:
            for label in pair:
                _known(label, where, f"Entry {number} names")
        sizes.append(len(pairs))
        sides += [sorted((where[a], where[b])) for a, b in pairs]
    first, second = np.array(sides, np.int64).reshape(-1, 2).T
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), first, second


def _known(label: str, where: dict[str, int], who: str) -> None:
    """Refuse an object that the model does not know."""
    if label not in where:
        raise ArgumentError(f"{who} {label!r}, which is not an object of the fit.{suggest(label, list(where))}")


def pair_ranks_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """A row a pair, the most similar first."""
    from thali._tables import Table

    tree = of_triplets(tree, "pair_ranks")
    labels = np.asarray(tree["posterior"].dataset["option"].values, dtype=str)
    first, second = np.triu_indices(len(labels), k=1)
    if len(first) > MAX_PAIRS:
        raise ArgumentError(
            f"{len(labels):,} objects have {len(first):,} pairs, of which no table of ranks is made; predict_proba "
            "compares those that matter."
        )
    columns, constant, link, _ = parts_of(tree)
    similarity = pair_similarities(columns, constant, first, second, link)
    rank = average_ranks(-similarity)
    sides = pair_coordinates("", labels, first, second)
    found: dict[str, Any] = {"a": sides["option_a"][1], "b": sides["option_b"][1]}
    for name, draws in (("similarity", similarity), ("rank", rank)):
        low, high = np.quantile(draws, TAILS, axis=0)
        found |= {name: draws.mean(axis=0), f"{name}_low": low, f"{name}_high": high}
    return Table(found).sort_values("rank", kind="stable", ignore_index=True)
