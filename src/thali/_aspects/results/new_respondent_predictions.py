"""Predictions and log probabilities for new respondents under individual weights."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import part_slice
from thali._model.labelled_option_sets import is_best_worst, set_indices
from thali._model.respondent_log_predictive import NEW_PEOPLE as PEOPLE
from thali._model.respondent_log_predictive import (
    anneal_log_mean,
    count_answers_by_respondent,
    sum_log_choices,
)
from thali._people.respondent_columns import no_covariates_error
from thali._posterior.posterior_tree import Posterior
from thali.errors import Argument, ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns
from .choice_predictions import AskedSets, build_set_probabilities
from .common_weights import MAX_NEW_PEOPLE, MIN_NEW_PEOPLE, PopulationDraws, sample_new_weights
from .weight_slopes import read_covariates, read_slopes

if TYPE_CHECKING:
    import pandas

_MIN_TOTAL = 2**15  # target of new people over all draws, up to MAX_NEW_PEOPLE per draw


def read_population(posterior: Posterior) -> PopulationDraws:
    """Read the population's common weights and their similarity kappa, per draw."""
    common_columns = read_columns(posterior.select_common())
    return PopulationDraws(common_columns, posterior.kappa.ravel(), read_slopes(posterior))


# Choice probabilities: the mean over new respondents ----------------------------------------------


def predict_from_population(
    posterior: Posterior, sets: Any, return_se: bool, covariates: Any, respondent: Any = None
) -> Any:
    """Return choice probabilities of a new respondent, averaged over the population.

    For pairs they are the probabilities of the first option; otherwise, for each set, those of its
    members or answers. `respondent` contains the covariates of the new respondent.
    """
    population = read_population(posterior)
    if respondent is not None:
        if population.slopes is None:
            raise no_covariates_error()
        population = population.shift_to_covariates(
            read_covariates(posterior).encode_respondent(respondent)
        )
    if covariates is not None:
        raise ArgumentError(
            Argument("covariates"),
            " are not available in a model of individual respondents; remove ",
            Argument("covariates"),
            ".",
        )
    asked_sets, new_respondents = AskedSets(posterior, sets), draw_new_respondents(population)
    return asked_sets.means(
        np.asarray(sum(map(asked_sets.probabilities, new_respondents)) / len(new_respondents)),
        return_se,
    )


def draw_new_respondents(population: PopulationDraws) -> list[FeatureColumns]:
    """Draw weights of several new respondents for every draw; one entry per respondent."""
    common_columns = population.common
    n_people = int(np.clip(_MIN_TOTAL // common_columns.n_draws, MIN_NEW_PEOPLE, MAX_NEW_PEOPLE))
    shared_weights = np.empty((n_people, len(common_columns.weights)))
    unique_weights = np.empty((n_people, *common_columns.unique_weights.shape))
    for draw in range(common_columns.n_draws):
        column_slice = part_slice(common_columns.column_offsets, draw)
        draw_weights = sample_new_weights(
            population, draw, common_columns.weights[column_slice], n_people
        )
        shared_weights[:, column_slice], unique_weights[:, draw] = np.split(
            draw_weights, [column_slice.stop - column_slice.start], axis=1
        )
    return [
        replace(common_columns, weights=w, unique_weights=u)
        for w, u in zip(shared_weights, unique_weights, strict=True)
    ]


# Log probability of all choices of a respondent: the integral over new respondents ----------------

_SEED = 1


def log_predictive_by_individual(posterior: Posterior, data: Any) -> "pandas.Series":
    """Return the log predictive probability of each new respondent's choices together."""
    import pandas as pd

    count_answers_by_respondent(data)  # raises for other data
    population, lapse = read_population(posterior), posterior.lapse
    n_draws = population.common.n_draws
    population = population.select_draws(np.repeat(np.arange(n_draws), -(-PEOPLE // n_draws)))
    log_means, covariates = {}, None
    if population.slopes is not None:
        covariates = read_covariates(posterior).encode_table(data.people)
    for respondent, respondent_choices in data.by_respondent().items():
        answer_counts = respondent_choices.questions().counts
        choice_indices = np.flatnonzero(answer_counts)
        options_by_set, choice_counts = (
            set_indices(respondent_choices, posterior.labels)[0],
            answer_counts[choice_indices],
        )

        def log_likelihood(
            feature_columns: FeatureColumns,
            options_by_set: Any = options_by_set,
            choice_indices: Any = choice_indices,
            choice_counts: Any = choice_counts,
        ) -> np.ndarray:
            """Return the log likelihood of the respondent's choices, (draws,)."""
            draw_probabilities = build_set_probabilities(
                feature_columns, options_by_set, is_best_worst(data), lapse
            )[0]
            return sum_log_choices(
                draw_probabilities(slice(0, feature_columns.n_draws))[:, choice_indices],
                choice_counts,
            )

        person_population = population
        if covariates is not None:
            person_population = population.shift_to_covariates(
                complete_covariates(population, covariates.loc[respondent].to_numpy())
            )
        log_means[respondent] = estimate_log_mean(
            person_population, log_likelihood, np.random.default_rng(_SEED)
        )
    return pd.Series(
        log_means, pd.Index(log_means, name="respondent"), float, name="log_predictive"
    )


def complete_covariates(population: PopulationDraws, x: np.ndarray) -> np.ndarray:
    """Return covariates for each draw, with missing ones taken from fitted respondents.

    Where `x` is NaN, the fitted respondents' covariates are used in turn.
    """
    if not np.isnan(x).any():
        return x
    assert population.slopes is not None
    fitted_covariates = population.slopes.known
    return fitted_covariates[
        np.resize(
            np.random.default_rng(_SEED).permutation(len(fitted_covariates)),
            population.common.n_draws,
        )
    ]


def estimate_log_mean(
    population: PopulationDraws,
    log_likelihood: Callable[[FeatureColumns], np.ndarray],
    rng: np.random.Generator,
) -> float:
    """Estimate the log mean likelihood over draws and new respondents.

    It is computed by annealed importance sampling.
    """
    from scipy.special import polygamma

    common_columns, kappa = population.common, population.kappa
    draw_of_column, sd_by_draw = common_columns.draw, np.sqrt(polygamma(1, kappa))
    multipliers = LogMultipliers(
        _sample_log_gammas(rng, kappa[draw_of_column]),
        _sample_log_gammas(rng, np.tile(kappa[:, None], common_columns.n_options)),
    )
    step_sds = LogMultipliers(sd_by_draw[draw_of_column], sd_by_draw[:, None])

    def propose_multipliers(
        multipliers: LogMultipliers, step: float
    ) -> tuple[LogMultipliers, np.ndarray]:
        """Propose a random-walk step; return it with its log density ratio."""
        proposal = multipliers.propose_step(rng, step, step_sds)
        return proposal, proposal.log_density(common_columns, kappa) - multipliers.log_density(
            common_columns, kappa
        )

    def select_accepted(
        is_accepted: np.ndarray, proposal: LogMultipliers, multipliers: LogMultipliers
    ) -> LogMultipliers:
        """Return the proposal where accepted, and the current state in other draws."""
        return multipliers.select_draws(is_accepted, proposal, draw_of_column)

    return anneal_log_mean(
        multipliers,
        lambda multipliers: log_likelihood(multipliers.scale_weights(common_columns)),
        propose_multipliers,
        select_accepted,
        rng,
    )


class LogMultipliers(NamedTuple):
    """Log ratios of one respondent's weights to the common weights, per draw."""

    weights: np.ndarray  # (columns,)
    unique: np.ndarray  # (draws, options)

    def scale_weights(self, common: FeatureColumns) -> FeatureColumns:
        """Return the draws with the common weights times the respondent's ratios."""
        weights = common.weights * np.exp(self.weights)
        unique_weights = common.unique_weights * np.exp(self.unique)
        return replace(common, weights=weights, unique_weights=unique_weights)

    def log_density(self, common: FeatureColumns, kappa: np.ndarray) -> np.ndarray:
        """Return the unnormalised log density under log Gamma(kappa, kappa), (draws,)."""
        unique_terms = (self.unique - np.exp(self.unique)).sum(axis=1)
        return kappa * (common.sum_by_draw(self.weights - np.exp(self.weights)) + unique_terms)

    def propose_step(
        self, rng: np.random.Generator, step: float, widths: "LogMultipliers"
    ) -> "LogMultipliers":
        """Return a random-walk proposal, `step` times the standard deviations in `widths`."""
        weight_steps = step * widths.weights * rng.standard_normal(self.weights.shape)
        return LogMultipliers(
            self.weights + weight_steps,
            self.unique + step * widths.unique * rng.standard_normal(self.unique.shape),
        )

    def select_draws(
        self, is_accepted: np.ndarray, proposal: "LogMultipliers", draw: np.ndarray
    ) -> "LogMultipliers":
        """Return the proposal in accepted draws, and these log ratios elsewhere."""
        weights = np.where(is_accepted[draw], proposal.weights, self.weights)
        return LogMultipliers(weights, np.where(is_accepted[:, None], proposal.unique, self.unique))


def _sample_log_gammas(rng: np.random.Generator, kappa: np.ndarray) -> np.ndarray:
    """Sample logarithms of Gamma(kappa, kappa), also below the smallest float."""
    return np.log(rng.gamma(kappa + 1.0)) + np.log(rng.random(kappa.shape)) / kappa - np.log(kappa)
