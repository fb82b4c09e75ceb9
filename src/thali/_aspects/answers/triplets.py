"""Results of triplets, and of choices of the most similar pair: what is predicted, ranks, and the
next question."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import is_list, whole
from thali._data.questions import AnswerProbabilities, slice_sets
from thali._data.triplets import Triplets
from thali._data.triplets.rows import list_pairs
from thali._inference.indexing import part_bounds
from thali._inference.numerics.ranks import average_ranks
from thali._labels import positions, suggest
from thali._model.next_question import (
    EVERYTHING,
    QuestionOutcomes,
    allowed_options,
    choose_questions,
    list_subsets,
    tabulate_questions,
)
from thali._model.stored_choices import MAX_PAIRS, pair_coordinates
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, DataError

from ..draws.columns import columns_of
from ..draws.triplets import (
    answered,
    mean_value,
    pair_similarities,
    probabilities_of_draws,
    shared_draws,
    triplet_blocks,
)
from .next_question import draws_for, learning_target
from .quantities import Quantities, of_presence
from .similarities import ObjectResults

if TYPE_CHECKING:
    import pandas


class TripletResults(ObjectResults):
    """Which pair of a set is the most similar."""

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        posterior = self.posterior
        return pair_similarities(
            columns_of(posterior), posterior.constant, first, second, posterior.link
        )

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns = columns_of(self.posterior)
        counted = replace(columns, weights=np.ones_like(columns.weights))
        return shared_draws(counted, None, first, second, self.posterior.link)

    def _own_quantities(self) -> Quantities:
        """`constant`, as a share of the mean value of all pairs, if there is one, and `presence[a,
        b, ...]`."""
        posterior = self.posterior
        present = of_presence(posterior, sees_single=False, sees_full=posterior.has_constant)
        if (constant := posterior.constant) is None:
            return present
        share = constant / mean_value(columns_of(posterior), constant)
        return {"constant": share.reshape(posterior.shape)} | present

    def predicted(self, sets: Any, return_se: bool, covariates: Any) -> Any:
        return predicted_pairs(self.posterior, sets, return_se)

    def data(self) -> Any:
        return answered(self.posterior)

    def answer_probabilities(self, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
        columns, link, lapse = (
            columns_of(self.posterior).take(draws),
            self.posterior.link,
            self.posterior.lapse,
        )
        constant = None if self.posterior.constant is None else self.posterior.constant[draws]

        def of_questions(some: slice) -> np.ndarray:
            start, first, second = slice_sets(data.start, some, data.first, data.second)
            p = probabilities_of_draws(columns, constant, start, first, second, link, lapse)
            return p / np.repeat(np.add.reduceat(p, start[:-1], axis=1), np.diff(start), axis=1)

        return of_questions


# The most similar pair of any set, and how similar the pairs are ----------------------------------


Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, first, second


def predicted_pairs(posterior: Posterior, sets: Any, return_se: bool) -> Any:
    """Of each set the posterior mean probabilities of its pairs, and their Monte Carlo errors if
    wanted."""
    from thali._posterior.summary import mean_errors

    start, first, second = places_of_pairs(sets, posterior.labels)
    mean, errors = np.empty(len(first)), np.empty(len(first))
    for places, draws in triplet_blocks(posterior, start, first, second):
        mean[places] = draws.mean(axis=0)
        if return_se:
            errors[places] = mean_errors(draws.T.reshape(draws.shape[1], posterior.shape[0], -1))
    found = np.split(mean, start[1:-1])
    return (found, np.split(errors, start[1:-1])) if return_se else found


def places_of_pairs(sets: Any, labels: list[str]) -> Places:
    """The pairs of sets of labels, set after set."""
    where = positions(labels)
    if isinstance(sets, Triplets):
        for label in sets.labels:
            _known(label, where, "The data name")
        at = np.array([where[label] for label in sets.labels])
        return sets.start, *np.sort([at[sets.first], at[sets.second]], axis=0)
    if not is_list(sets):
        raise ArgumentError(
            "Sets must be a list of sets of objects, [(a, b, c), ...], or Triplets; got"
            f" {type(sets).__name__}."
        )
    sizes, sides = [], []
    for number, entry in enumerate(sets):
        if not is_list(entry):
            raise ArgumentError(
                f"Entry {number} is {entry!r}; give sets of at least three objects, such as (a, b,"
                " c)."
            )
        try:
            pairs = list_pairs(number, entry)
        except DataError as error:
            raise ArgumentError(str(error)) from None
        for pair in pairs:
            for label in pair:
                _known(label, where, f"Entry {number} names")
        sizes.append(len(pairs))
        sides += [sorted((where[a], where[b])) for a, b in pairs]
    first, second = np.array(sides, np.int64).reshape(-1, 2).T
    return part_bounds(sizes), first, second


def _known(label: str, where: dict[str, int], who: str) -> None:
    """Refuse an object that the model does not know."""
    if label not in where:
        raise ArgumentError(
            f"{who} {label!r}, which is not one of the fitted objects.{suggest(label, list(where))}"
        )


def pair_ranks_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """A row a pair, the most similar first."""
    from thali._tables import Table

    labels = np.asarray(posterior.labels, dtype=str)
    first, second = np.triu_indices(len(labels), k=1)
    if len(first) > MAX_PAIRS:
        raise ArgumentError(
            f"{len(labels):,} objects have {len(first):,} pairs, too many for a table of ranks;"
            " compare selected pairs with predict_proba."
        )
    similarity = pair_similarities(
        columns_of(posterior), posterior.constant, first, second, posterior.link
    )
    rank = average_ranks(-similarity)
    sides = pair_coordinates("", labels, first, second)
    found: dict[str, Any] = {"a": sides["option_a"][1], "b": sides["option_b"][1]}
    for name, draws in (("similarity", similarity), ("rank", rank)):
        low, high = np.quantile(draws, tails_of(ci), axis=0)
        found |= {name: draws.mean(axis=0), f"{name}_low": low, f"{name}_high": high}
    table = Table(found).sort_values("rank", kind="stable", ignore_index=True)
    table.attrs["interval"] = ci
    return table


def next_triplets_table(
    posterior: Posterior, n: Any, among: Any, goal: Any, seed: Any
) -> "pandas.DataFrame":
    """A row a triplet, in the order in which they are best asked."""
    rng = np.random.default_rng(seed)
    labels = posterior.labels
    triples = list_subsets(allowed_options(among, labels, 3), 3, rng)
    columns, at = draws_for(posterior, triples.size)
    constant = None if posterior.constant is None else posterior.constant[at]
    first, second = triples[:, [0, 0, 1]].ravel(), triples[:, [1, 2, 2]].ravel()
    start = np.arange(len(triples) + 1) * 3
    p = probabilities_of_draws(
        columns, constant, start, first, second, posterior.link, posterior.lapse
    )
    chosen = choose_questions(
        QuestionOutcomes(p, start),
        learning_target(goal, columns, labels, rng, (EVERYTHING,)),
        whole("n", n, 1),
        rng,
    )
    return tabulate_questions(
        {"objects": [tuple(labels[k] for k in triples[q]) for q in chosen.questions]}, {}, chosen
    )
