"""Posterior draws of respondents' worths, and of new respondents from the population."""

from typing import Any, NamedTuple

import numpy as np

from thali._people.respondent_columns import RespondentCovariates, read_stored_covariates
from thali._posterior.posterior_tree import Posterior, flatten_chains

from ..worth_draws import WorthDraws

# new respondents: of all draws together about; of each draw at least and at most
NEW_RESPONDENTS, MIN_NEW, MAX_NEW = 2**16, 4, 64
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

    def take(self, draws: Any) -> "RespondentDraws":
        """Return these draws only, by number."""
        parts = self.worths[draws], self.mean[draws], self.loadings[draws], self.residual[draws]
        return RespondentDraws(self.respondents, *parts, self.covariates)

    def draw_new_means(
        self, rng: np.random.Generator, count: int, x: np.ndarray | None
    ) -> np.ndarray:
        """Draw mean log worths of new respondents, (n_draws, count, n_options).

        `x` (covariates,) are their covariates; None: those of the respondents of the fit, in turn.
        """
        if self.covariates is None:
            return np.repeat(self.mean, count, axis=1)
        rows = self.covariates.matrix
        if x is not None:
            return np.repeat((np.append(1.0, x) @ self.mean)[:, None], count, axis=1)
        turns = np.resize(rng.permutation(len(rows)), (self.n_draws, count))
        return rows[turns] @ self.mean

    def scale_deviations(self, normal: np.ndarray) -> np.ndarray:
        """Return deviations of worths from standard normals (draws, count, ...).

        The deviations are (draws, count, options).
        """
        K = self.loadings.shape[1]
        return normal[..., :K] @ self.loadings + self.residual[:, None, None] * normal[..., K:]

    def draw_new(self, count: int, x: np.ndarray | None = None) -> np.ndarray:
        """Draw log worths of new respondents, (n_draws, count, n_options)."""
        rng = np.random.default_rng(_SEED)
        mean = self.draw_new_means(rng, count, x)
        normal = rng.standard_normal((self.n_draws, count, self.loadings.shape[1] + mean.shape[2]))
        return mean + self.scale_deviations(normal)


def read_respondent_draws(posterior: Posterior) -> RespondentDraws:
    """Read the draws of all respondents' worths from a posterior."""
    draws = posterior.draws
    mean = flatten_chains(draws["log_worth"].values)[:, None]
    covariates = read_stored_covariates(posterior.fixed)
    if covariates is not None:
        mean = np.concatenate([mean, flatten_chains(draws["respondent_effect"].values)], axis=1)
    loadings = np.zeros((len(mean), 0, mean.shape[2]))
    if "loading" in draws:
        loadings = flatten_chains(draws["loading"].values)
    worths = flatten_chains(draws["respondent_log_worth"].values)
    residual = draws["residual_spread"].values.ravel()
    return RespondentDraws(
        tuple(posterior.respondents), worths, mean, loadings, residual, covariates
    )


def draw_new_respondents(
    worths: WorthDraws, respondent_draws: RespondentDraws, x: np.ndarray | None = None
) -> WorthDraws:
    """Return log worths of new respondents as draws, for predictions.

    Each draw has several new respondents, in turn.
    """
    count = int(np.clip(NEW_RESPONDENTS // respondent_draws.n_draws, MIN_NEW, MAX_NEW))
    log_worths = respondent_draws.draw_new(count, x)
    repeated = worths.take(np.repeat(np.arange(worths.n_draws), count))
    return repeated._replace(log_worths=log_worths.reshape(-1, log_worths.shape[2]))
