"""Draws of the worths of respondents, and of new ones from the same population."""

from typing import Any, NamedTuple

import numpy as np

from thali._people.columns import RespondentCovariates, stored_covariates
from thali._posterior.view import Posterior, flat

from ..predictions import WorthDraws

# of all draws together about; of a draw at least and at most
NEW_RESPONDENTS, LEAST_NEW, MOST_NEW = 2**16, 4, 64
_SEED = 1


class RespondentDraws(NamedTuple):
    """Draws of the worths of every respondent, one draw after another, and how new respondents
    vary."""

    respondents: tuple[str, ...]
    worths: np.ndarray  # (draws, respondents, options)
    mean: np.ndarray  # (draws, 1 + covariates, options): population worths, then effects
    loadings: np.ndarray  # (draws, directions, options)
    residual: np.ndarray  # (draws,)
    known: RespondentCovariates | None

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.residual)

    @property
    def effects(self) -> np.ndarray:
        """Effects of a unit of each covariate (draws, covariates, options); none without
        covariates."""
        if self.known is None:
            return np.zeros((self.n_draws, 0, self.mean.shape[2]))
        return self.mean[:, 1:] / self.known.sd[:, None]

    def take(self, draws: Any) -> "RespondentDraws":
        """Return some of the draws."""
        parts = self.worths[draws], self.mean[draws], self.loadings[draws], self.residual[draws]
        return RespondentDraws(self.respondents, *parts, self.known)

    def means_of_new(
        self, rng: np.random.Generator, count: int, x: np.ndarray | None
    ) -> np.ndarray:
        """Return mean log worths (draws, count, options) of new respondents.

        `x` (covariates,) are theirs; None: those of the respondents of the fit, in turn.
        """
        if self.known is None:
            return np.repeat(self.mean, count, axis=1)
        rows = self.known.matrix
        if x is not None:
            return np.repeat((np.append(1.0, x) @ self.mean)[:, None], count, axis=1)
        turns = np.resize(rng.permutation(len(rows)), (self.n_draws, count))
        return rows[turns] @ self.mean

    def deviations(self, normal: np.ndarray) -> np.ndarray:
        """Return deviations (draws, count, options) of normal numbers (draws, count, directions +
        options)."""
        K = self.loadings.shape[1]
        return normal[..., :K] @ self.loadings + self.residual[:, None, None] * normal[..., K:]

    def draw_new(self, count: int, x: np.ndarray | None = None) -> np.ndarray:
        """Draw log worths (draws, count, options) of new respondents of each draw."""
        rng = np.random.default_rng(_SEED)
        mean = self.means_of_new(rng, count, x)
        normal = rng.standard_normal((self.n_draws, count, self.loadings.shape[1] + mean.shape[2]))
        return mean + self.deviations(normal)


def read_respondent_draws(posterior: Posterior) -> RespondentDraws:
    """Read the draws of a posterior."""
    draws = posterior.draws
    mean = flat(draws["log_worth"].values)[:, None]
    known = stored_covariates(posterior.fixed)
    if known is not None:
        mean = np.concatenate([mean, flat(draws["respondent_effect"].values)], axis=1)
    loadings = np.zeros((len(mean), 0, mean.shape[2]))
    if "loading" in draws:
        loadings = flat(draws["loading"].values)
    worths, residual = (
        flat(draws["respondent_log_worth"].values),
        draws["residual_spread"].values.ravel(),
    )
    return RespondentDraws(tuple(posterior.respondents), worths, mean, loadings, residual, known)


def draw_new_respondents(
    worths: WorthDraws, drawn: RespondentDraws, x: np.ndarray | None = None
) -> WorthDraws:
    """Return draws of the log worths of new respondents, over whom predictions are means, those of
    a draw in turn."""
    count = int(np.clip(NEW_RESPONDENTS // drawn.n_draws, LEAST_NEW, MOST_NEW))
    log_worths = drawn.draw_new(count, x)
    nu = None if worths.nu is None else np.repeat(worths.nu, count)
    return worths._replace(
        log_worths=log_worths.reshape(-1, log_worths.shape[2]),
        nu=nu,
        beta=np.repeat(worths.beta, count, axis=0),
    )
