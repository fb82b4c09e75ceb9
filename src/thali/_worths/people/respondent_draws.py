"""Posterior draws of respondents' worths, and of new respondents from the population."""

from typing import NamedTuple

import numpy as np

from thali._people.respondent_columns import RespondentCovariates, read_stored_covariates
from thali._posterior.posterior_tree import Posterior, flatten_chains

from ..worth_draws import WorthDraws

# new respondents: of all draws together about; of each draw at least and at most
NEW_RESPONDENTS = 2**16
MIN_NEW = 4
MAX_NEW = 64
_SEED = 1


class RespondentDraws(NamedTuple):
    """Draws of all respondents' worths, and of the population they come from."""

    respondents: tuple[str, ...]
    worths: np.ndarray  # (draws, respondents, options)
    mean: np.ndarray  # (draws, 1 + covariates, options): population worths, then effects
    loadings: np.ndarray  # (draws, directions, options)
    residual: np.ndarray  # (draws,)
    covariates: RespondentCovariates | None

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return len(self.residual)

    @property
    def effects(self) -> np.ndarray:
        """Effects of one unit of each covariate, (n_draws, n_covariates, n_options)."""
        if self.covariates is None:
            return np.zeros((self.n_draws, 0, self.mean.shape[2]))
        return self.mean[:, 1:] / self.covariates.sd[:, None]

    def take(self, draw_indices: np.ndarray | slice) -> "RespondentDraws":
        """Return the draws with these indices."""
        return RespondentDraws(
            self.respondents,
            self.worths[draw_indices],
            self.mean[draw_indices],
            self.loadings[draw_indices],
            self.residual[draw_indices],
            self.covariates,
        )

    def draw_new_means(
        self, rng: np.random.Generator, n_new: int, x: np.ndarray | None
    ) -> np.ndarray:
        """Draw mean log worths of new respondents, (n_draws, count, n_options).

        `x` (covariates,) are their covariates; None: those of the respondents of the fit, in turn.
        """
        if self.covariates is None:
            return np.repeat(self.mean, n_new, axis=1)
        known_rows = self.covariates.matrix
        if x is not None:
            return np.repeat((np.append(1.0, x) @ self.mean)[:, None], n_new, axis=1)
        row_indices = np.resize(rng.permutation(len(known_rows)), (self.n_draws, n_new))
        return known_rows[row_indices] @ self.mean

    def scale_deviations(self, standard_normals: np.ndarray) -> np.ndarray:
        """Return deviations of worths from standard normals (draws, count, ...).

        The deviations are (draws, count, options).
        """
        K = self.loadings.shape[1]
        return (
            standard_normals[..., :K] @ self.loadings
            + self.residual[:, None, None] * standard_normals[..., K:]
        )

    def draw_new(self, n_new: int, x: np.ndarray | None = None) -> np.ndarray:
        """Draw log worths of new respondents, (n_draws, count, n_options)."""
        rng = np.random.default_rng(_SEED)
        new_means = self.draw_new_means(rng, n_new, x)
        standard_normals = rng.standard_normal(
            (self.n_draws, n_new, self.loadings.shape[1] + new_means.shape[2])
        )
        return new_means + self.scale_deviations(standard_normals)


def read_respondent_draws(posterior: Posterior) -> RespondentDraws:
    """Read the draws of all respondents' worths from a posterior."""
    posterior_draws = posterior.draws
    population_means = flatten_chains(posterior_draws["log_worth"].values)[:, None]
    covariates = read_stored_covariates(posterior.fixed)
    if covariates is not None:
        population_means = np.concatenate(
            [population_means, flatten_chains(posterior_draws["respondent_effect"].values)], axis=1
        )
    loadings = np.zeros((len(population_means), 0, population_means.shape[2]))
    if "loading" in posterior_draws:
        loadings = flatten_chains(posterior_draws["loading"].values)
    worths = flatten_chains(posterior_draws["respondent_log_worth"].values)
    residual_sds = posterior_draws["residual_spread"].values.ravel()
    return RespondentDraws(
        tuple(posterior.respondents), worths, population_means, loadings, residual_sds, covariates
    )


def draw_new_respondents(
    worths: WorthDraws, respondent_draws: RespondentDraws, x: np.ndarray | None = None
) -> WorthDraws:
    """Return log worths of new respondents as draws, for predictions.

    Each draw has several new respondents, in turn.
    """
    n_new = int(np.clip(NEW_RESPONDENTS // respondent_draws.n_draws, MIN_NEW, MAX_NEW))
    log_worths = respondent_draws.draw_new(n_new, x)
    repeated_draws = worths.take(np.repeat(np.arange(worths.n_draws), n_new))
    return repeated_draws._replace(log_worths=log_worths.reshape(-1, log_worths.shape[2]))
