"""Posterior mean choice probabilities of any sets."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.answers import find_first_answers
from thali._data.pairs.parts import HeldOutPair
from thali._inference.indexing import part_bounds
from thali._inference.numerics.counts import compute_outcomes
from thali._model.covariates import predictor_matrix
from thali._model.option_sets import is_best_worst, pair_indices, set_indices, tabulate_outcomes
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.covariates import Lift
from ..draws.probabilities import mean_probabilities, probability_blocks, probability_draws

if TYPE_CHECKING:
    import pandas


_SETS = 200  # whose draws are held at once


def predicted_with_errors(posterior: Posterior, sets: Any, return_se: bool, covariates: Any) -> Any:
    """The probabilities of `predict_proba` by a posterior of choices, and their errors if asked
    for."""
    labels, lapse = posterior.labels, posterior.lapse
    columns, lift = columns_of(posterior), lift_for(posterior, sets, covariates)
    found = predicted(columns, labels, sets, lapse, lift)
    if not return_se:
        return found
    return found, errors_of_predictions(columns, labels, sets, lapse, posterior.shape[0], lift)


def predicted(
    columns: FeatureColumns, labels: list[str], sets: Any, lapse: float, lift: Lift | None = None
) -> "np.ndarray | list[np.ndarray]":
    """For pairs the probability of the first; otherwise, for each set, the probabilities of its
    members, or answers."""
    places, paired = set_indices(sets, labels)
    if paired:
        first, second = np.array(places, np.int64).reshape(-1, 2).T
        return mean_probabilities(columns, first, second, lapse, lift)
    from ..likelihoods.set_draws import mean_over_draws

    draws_of, first = out_of_sets(columns, places, is_best_worst(sets), lapse)
    return np.split(mean_over_draws(draws_of, columns.n_draws, int(first[-1])), first[1:-1])


class AskedSets:
    """Pairs, or larger sets of options, whose choice probabilities are asked for."""

    def __init__(self, posterior: Posterior, sets: Any) -> None:
        self.places, self.paired = set_indices(sets, posterior.labels)
        self.answers, self.lapse = is_best_worst(sets), posterior.lapse
        self.chains = posterior.shape[0]

    @property
    def pairs(self) -> np.ndarray:
        """The positions of both options, shape (2, pairs)."""
        return np.array(self.places, np.int64).reshape(-1, 2).T

    def probabilities(self, columns: FeatureColumns) -> np.ndarray:
        """Return the probabilities in each draw: of the first of each pair, or of the members, or
        answers, of sets."""
        if self.paired:
            first, second = self.pairs
            return probability_draws(columns, first, second, self.lapse)
        return out_of_sets(columns, self.places, self.answers, self.lapse)[0](
            slice(0, columns.n_draws)
        )

    def means(self, draws: np.ndarray, return_se: bool) -> Any:
        """Return the means of these probabilities, for each set, and their Monte Carlo errors if
        asked for."""
        from thali._posterior.summary import mean_errors

        found: list[Any] = [draws.mean(axis=0)]
        if return_se:
            found.append(mean_errors(draws.T.reshape(draws.shape[1], self.chains, -1)))
        if not self.paired:
            sizes = np.array([len(each) for each in self.places])
            ends = np.cumsum(sizes * (sizes - 1) if self.answers else sizes)[:-1]
            found = [np.split(values, ends) for values in found]
        return tuple(found) if return_se else found[0]


def out_of_sets(
    columns: FeatureColumns, places: list[np.ndarray], answers: bool, lapse: float
) -> tuple[Any, np.ndarray]:
    """What gives the probabilities of all members, or answers, in a slice of draws; and where those
    of a set begin."""
    from ..likelihoods.set_draws import answer_probability_draws, set_probability_draws

    start, members = part_bounds([len(each) for each in places]), np.concatenate(places)
    if not answers:
        return partial(set_probability_draws, columns, start, members, lapse), start
    return partial(answer_probability_draws, columns, start, members, lapse), find_first_answers(
        start
    )


def errors_of_predictions(
    columns: FeatureColumns,
    labels: list[str],
    sets: Any,
    lapse: float,
    chains: int,
    lift: Lift | None,
) -> "np.ndarray | list[np.ndarray]":
    """Monte Carlo standard errors of what `predicted` gives, in the same form."""
    from thali._posterior.summary import mean_errors

    places, paired = set_indices(sets, labels)
    errors, sizes = [], []
    for first in range(0, len(places), _SETS):
        some = places[first : first + _SETS]
        if paired:
            first_option, second_option = np.array(some, np.int64).reshape(-1, 2).T
            part = None if lift is None else Lift(lift.beta, lift.x[first : first + _SETS])
            draws = probability_draws(columns, first_option, second_option, lapse, part)
        else:
            draws_of, begin = out_of_sets(columns, some, is_best_worst(sets), lapse)
            draws = draws_of(slice(0, columns.n_draws))
            sizes += np.diff(begin).tolist()
        errors.append(mean_errors(draws.T.reshape(draws.shape[1], chains, -1)))
    found = np.concatenate(errors) if errors else np.empty(0)
    return found if paired else np.split(found, np.cumsum(sizes)[:-1])


def lift_for(posterior: Posterior, sets: Any, covariates: Any) -> Lift | None:
    """What covariates of a prediction do to its pairs; None if none are given."""
    if covariates is None:
        return None
    places, paired = set_indices(sets, posterior.labels)
    if not paired:
        raise ArgumentError(
            "Covariates require comparisons of two options; give pairs of labels, [(a, b), ...]."
        )
    x = predictor_matrix(covariates, posterior.covariates, len(places))
    return Lift(posterior.coefficients, x) if x.shape[1] else None


def outcomes_table(posterior: Posterior, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
    """A row a pair: a, b, p_a, p_tie, p_b."""
    labels, columns, tie = posterior.labels, columns_of(posterior), posterior.tie
    first, second = pair_indices(pairs, labels, posterior.has_ties)
    total, lift = np.zeros((len(first), 3)), lift_for(posterior, pairs, covariates)
    for draws, p, q in probability_blocks(columns, first, second, posterior.lapse, lift):
        total += compute_outcomes(p, q, tie[draws, None]).sum(axis=0)
    return tabulate_outcomes(labels, first, second, total / columns.n_draws)


# What draws predict for data that were left out of the fit ----------------------------------------


def outcome_draws(posterior: Posterior, part: HeldOutPair) -> np.ndarray:
    """The probability of each outcome of the comparisons of a pair (chain, draw, cells,
    outcomes)."""
    count, n_outcomes = part.counts.shape
    lift = lift_for(posterior, [part.pair] * count, part.known(posterior.covariates))
    draws = probability_draws(
        columns_of(posterior), *part.places(posterior.labels), posterior.lapse, lift
    )
    p = draws.reshape(*posterior.shape, count)
    if n_outcomes == 2:
        return np.stack([p, 1.0 - p], axis=-1)
    return compute_outcomes(p, 1.0 - p, posterior.tie.reshape(*posterior.shape, 1))
