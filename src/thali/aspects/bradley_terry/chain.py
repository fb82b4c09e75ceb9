"""Draws of worths as a chain, so that a fit by them runs, is stored and goes on like any other."""

from typing import Any, NamedTuple

import numpy as np

from thali.inference.chains import BLOCK, IndependentDraws

from ..samplers.draws import ChainDraws
from .laplace import NormalWorths


class Record(NamedTuple):
    """The draws so far, a row each."""

    unique_weights: np.ndarray  # (draws, options)
    tie: np.ndarray  # (draws,) nu; NaN without ties
    log_likelihood: np.ndarray  # (draws,)


class WorthChain(IndependentDraws):
    """Independent draws of worths, whose sum is that of Gamma(1, 1) variables, and of nu."""

    def __init__(self, worths: NormalWorths, draws: int, rng: np.random.Generator) -> None:
        self.worths = worths
        super().__init__(draws, rng)
        self.record = Record(np.zeros((draws, worths.density.n_options)), np.zeros(draws), np.zeros(draws))

    def _block(self, rng: np.random.Generator) -> Record:
        """The draws of a block, whose stream begins there."""
        density = self.worths.density
        points, likelihood = self.worths.draws(rng, BLOCK)
        u = points[:, : density.n_options]
        weights = np.exp(u - u.max(axis=1, keepdims=True))
        weights *= rng.standard_gamma(density.n_options, (BLOCK, 1)) / weights.sum(axis=1, keepdims=True)
        return Record(weights, np.exp(points[:, -1]) if density.has_ties else np.full(BLOCK, np.nan), likelihood)

    def draws_before(self, last: int) -> ChainDraws:
        """The draws of the record before number `last`, as those of a chain of the samplers."""
        drawn, none, count = self.drawn(self.first, last), np.zeros(0), last - self.first
        own: dict[str, Any] = {"tie": drawn["tie"]} if self.worths.density.has_ties else {}
        return ChainDraws(
            alpha=np.full(count, np.nan),
            log_likelihood=drawn["log_likelihood"],
            unique_weights=drawn["unique_weights"],
            n_features=np.zeros(count, np.int64),
            weights=none,
            sizes=none.astype(np.int64),
            owners=none.astype(np.int32),
            extra=own,
        )
