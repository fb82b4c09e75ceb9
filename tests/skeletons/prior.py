"""Skeleton of a prior: K features, each owned by each option with a known probability.

Copy this file to `src/thali/_aspects/priors/`, replace the mathematics, and name the public class
in that folder's `__init__.pyi`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thali._aspects import kernel_operations
from thali._aspects.chain_state import ALPHA, COLUMNS
from thali.errors import ArgumentError


@dataclass(frozen=True)
class CoinFlips:
    """The public class: checks its arguments, samples, and gives log-probabilities."""

    n_features: int
    share: float = 0.5
    is_infinite = False  # the number of columns is fixed
    learns_alpha = False  # there is no concentration

    def __post_init__(self):
        if not 0.0 < self.share < 1.0:
            raise ArgumentError(f"share must lie between 0 and 1; got {self.share!r}.")

    def compiled(self, n: int) -> "Flipped":
        """The prior for n options, as the samplers read it."""
        return Flipped(math.log(self.share), math.log1p(-self.share))

    def usual_columns(self, n: int) -> float:
        """The columns that n options are expected to have, by which the time of a fit is
        forecast."""
        return float(self.n_features)

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """A binary matrix (n, n_features)."""
        return rng.random((n, self.n_features)) < self.share

    def log_prob(self, matrix, alpha: float) -> float:
        """Log probability of a binary matrix with its columns in their order."""
        owned = int(np.count_nonzero(matrix))
        return owned * math.log(self.share) + (np.size(matrix) - owned) * math.log1p(-self.share)

    def log_prob_of_draws(self, columns, alpha) -> np.ndarray:
        """`log_prob` of every draw of a fit; columns without an owner are not recorded."""
        owned = columns.sum_by_draw(columns.sizes)
        every = self.n_features * columns.n_options
        return owned * math.log(self.share) + (every - owned) * math.log1p(-self.share)


class Flipped(NamedTuple):
    """What the samplers read. Never changed."""

    log_in: float
    log_out: float


def _log_rate(prior, b, k, m):
    return m * prior.log_in + (b.Z.shape[1] - 1 - m) * prior.log_out


def _set_alpha(prior, b, alpha):
    b.real[ALPHA] = alpha
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = b.m[k] * prior.log_in + (b.Z.shape[1] - 1 - b.m[k]) * prior.log_out


IMPLEMENTATIONS = {
    kernel_operations.log_rate: _log_rate,
    kernel_operations.is_exchangeable: lambda prior: False,  # True: `set_alpha` fills b.by_size
    kernel_operations.keeps_empty: lambda prior: True,
    kernel_operations.may_flip: lambda prior: True,
    kernel_operations.rate_by_size_range: lambda prior, lo, hi: 0.0,  # of infinite priors
    kernel_operations.rate_single: lambda prior, i: 0.0,
    kernel_operations.set_alpha: _set_alpha,
    kernel_operations.draw_alpha: lambda prior, rng, b, columns, rate: b.real[ALPHA],
}
for operation, implementation in IMPLEMENTATIONS.items():
    operation.register(Flipped)(implementation)
