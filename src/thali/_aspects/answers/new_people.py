"""What a new person chooses where everybody has weights of their own about common ones, and how
probable it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._model.log_predictive import NEW_PEOPLE as PEOPLE
from thali._model.log_predictive import (
    count_answers_by_respondent,
    estimate_log_mean,
    sum_log_choices,
)
from thali._model.option_sets import is_best_worst, set_indices
from thali._people.columns import no_covariates
from thali._posterior.view import Posterior
from thali.errors import Argument, ArgumentError

from ..draws.columns import FeatureColumns, columns_of
from .population import LEAST, NEW_PEOPLE, PopulationDraws, new_weights
from .predict import AskedSets, out_of_sets
from .slopes import covariates_in, slopes_in

if TYPE_CHECKING:
    import pandas

_NUMBERS = 2**15  # new people of all draws at least, as far as NEW_PEOPLE of a draw go


def population_in(posterior: Posterior) -> PopulationDraws:
    """What a posterior says of the people of whom everybody has weights of their own."""
    common = columns_of(posterior.of_common())
    return PopulationDraws(common, posterior.kappa.ravel(), slopes_in(posterior))


# What is chosen out of a set: the mean over new people --------------------------------------------


def predicted_of_population(
    posterior: Posterior, sets: Any, return_se: bool, covariates: Any, respondent: Any = None
) -> Any:
    """For pairs the probability that the first is chosen; otherwise, for each set, those of its
    members, or answers.

    `respondent`: what is known of the new person.
    """
    x = None
    if respondent is not None:
        if posterior.slopes is None:
            raise no_covariates()
        x = covariates_in(posterior).of_person(respondent)
    if covariates is not None:
        raise ArgumentError(
            Argument("covariates"),
            " are not available in a model of individual respondents; remove ",
            Argument("covariates"),
            ".",
        )
    asked, population = AskedSets(posterior, sets), population_in(posterior)
    people = new_people(population if x is None else population.of(x))
    return asked.means(np.asarray(sum(map(asked.probabilities, people)) / len(people)), return_se)


def new_people(population: PopulationDraws) -> list[FeatureColumns]:
    """New people of every draw: their columns, of each the first, the second, ... person of all
    draws."""
    common = population.common
    number = int(np.clip(_NUMBERS // common.n_draws, LEAST, NEW_PEOPLE))
    weights, unique = (
        np.empty((number, len(common.weights))),
        np.empty((number, *common.unique_weights.shape)),
    )
    for draw in range(common.n_draws):
        columns = slice(common.first_column[draw], common.first_column[draw + 1])
        own = new_weights(population, draw, common.weights[columns], number)
        weights[:, columns], unique[:, draw] = np.split(own, [columns.stop - columns.start], axis=1)
    return [
        replace(common, weights=w, unique_weights=u) for w, u in zip(weights, unique, strict=True)
    ]


# How probable all choices of a person together are: the integral over new people ------------------

_SEED = 1


def log_predictive_of_population(posterior: Posterior, data: Any) -> "pandas.Series":
    """The ln of the probability of everybody's choices, by respondent."""
    import pandas as pd

    count_answers_by_respondent(data)  # which refuses other data
    population, lapse = population_in(posterior), posterior.lapse
    draws = population.common.n_draws
    population = population.taken(np.repeat(np.arange(draws), -(-PEOPLE // draws)))
    found, known = (
        {},
        None if population.slopes is None else covariates_in(posterior).of_others(data.people),
    )
    for name, own in data.by_respondent().items():
        counts = own.questions().counts
        which = np.flatnonzero(counts)
        places, times = set_indices(own, posterior.labels)[0], counts[which]

        def log_likelihood(
            columns: FeatureColumns, places: Any = places, which: Any = which, times: Any = times
        ) -> np.ndarray:
            draws_of = out_of_sets(columns, places, is_best_worst(data), lapse)[0]
            return sum_log_choices(draws_of(slice(0, columns.n_draws))[:, which], times)

        of_person = (
            population
            if known is None
            else population.of(known_of(population, known.loc[name].to_numpy()))
        )
        found[name] = log_mean_of_new(of_person, log_likelihood, np.random.default_rng(_SEED))
    return pd.Series(found, pd.Index(found, name="respondent"), float, name="log_predictive")


def known_of(population: PopulationDraws, x: np.ndarray) -> np.ndarray:
    """What is known of a person; of one of whom nothing is known (NaN) what is known of those who
    answered, in turn."""
    if not np.isnan(x).any():
        return x
    assert population.slopes is not None
    known = population.slopes.known
    return known[
        np.resize(np.random.default_rng(_SEED).permutation(len(known)), population.common.n_draws)
    ]


def log_mean_of_new(
    population: PopulationDraws,
    log_likelihood: Callable[[FeatureColumns], np.ndarray],
    rng: np.random.Generator,
) -> float:
    """The ln of the mean over new people, one of each draw, of what has this logarithm."""
    from scipy.special import polygamma

    common, kappa = population.common, population.kappa
    draw, width = common.draw, np.sqrt(polygamma(1, kappa))
    logs = _Logs(
        _log_gammas(rng, kappa[draw]), _log_gammas(rng, np.tile(kappa[:, None], common.n_options))
    )
    widths = _Logs(width[draw], width[:, None])

    def move(logs: _Logs, step: float) -> tuple[_Logs, np.ndarray]:
        others = logs.moved(rng, step, widths)
        return others, others.log_density(common, kappa) - logs.log_density(common, kappa)

    def choose(accepted: np.ndarray, others: _Logs, logs: _Logs) -> _Logs:
        return logs.where(accepted, others, draw)

    return estimate_log_mean(
        logs, lambda logs: log_likelihood(logs.about(common)), move, choose, rng
    )


class _Logs(NamedTuple):
    """The logarithms of what the weights of new people are times the common ones, one person a
    draw."""

    weights: np.ndarray  # (columns,)
    unique: np.ndarray  # (draws, options)

    def about(self, common: FeatureColumns) -> FeatureColumns:
        """The columns with the weights of these people."""
        weights, unique = (
            common.weights * np.exp(self.weights),
            common.unique_weights * np.exp(self.unique),
        )
        return replace(common, weights=weights, unique_weights=unique)

    def log_density(self, common: FeatureColumns, kappa: np.ndarray) -> np.ndarray:
        """That of the logarithms of Gamma(kappa, kappa), without its constant (draws,)."""
        unique = (self.unique - np.exp(self.unique)).sum(axis=1)
        return kappa * (common.summed(self.weights - np.exp(self.weights)) + unique)

    def moved(self, rng: np.random.Generator, step: float, widths: "_Logs") -> "_Logs":
        """All of them a step of a random walk further, of as many of their own widths."""
        steps = step * widths.weights * rng.standard_normal(self.weights.shape)
        return _Logs(
            self.weights + steps,
            self.unique + step * widths.unique * rng.standard_normal(self.unique.shape),
        )

    def where(self, accepted: np.ndarray, other: "_Logs", draw: np.ndarray) -> "_Logs":
        """Those of the other in the draws that accepted it."""
        weights = np.where(accepted[draw], other.weights, self.weights)
        return _Logs(weights, np.where(accepted[:, None], other.unique, self.unique))


def _log_gammas(rng: np.random.Generator, kappa: np.ndarray) -> np.ndarray:
    """Logarithms of Gamma(kappa, kappa), also of those that are too small for a number."""
    return np.log(rng.gamma(kappa + 1.0)) + np.log(rng.random(kappa.shape)) / kappa - np.log(kappa)
