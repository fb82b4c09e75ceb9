"""Skeleton of a likelihood: each option has a rating, Normal around the summed weight of its
features.

r_i ~ Normal(sum_k w_k z_ik, 1). Copy this file to `src/thali/_aspects/likelihoods/`, replace the
mathematics, and name the public class in that folder's `__init__.pyi`; `docs/house/adding.md`
says what else belongs to it.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS
from thali._aspects.draws.posterior_tree import SimulatedData
from thali._aspects.likelihoods.custom_posterior_parts import build_custom_part
from thali._aspects.weight_priors import EXPONENTIAL
from thali._compile.jit import scalar, vectorised
from thali._data.custom_data import Observed
from thali.errors import DataError

_CONSTANT = -0.5 * math.log(2.0 * math.pi)  # of one option's log-likelihood


class RatingData(NamedTuple):
    """The data of the user."""

    rating: np.ndarray  # (n,)
    labels: tuple


class Rated(NamedTuple):
    """The data as the samplers read them. Never changed."""

    rating: np.ndarray  # (n,)


class RatingCache(NamedTuple):
    """The cache of a chain: updated by every accepted move."""

    mean: np.ndarray  # (n,) summed weight of the features of each option


@dataclass(frozen=True)
class Ratings:
    """The public class: checks arguments and data, and makes what the samplers read."""

    unique = False  # options have no fixed unique feature, so no compensated move is made
    takes_signed_weights = False
    min_shape = 0.1  # of the Gamma prior of the weights
    needs_tempering = False
    parameters = ()  # names of the likelihood's own parameters
    has_published_sampler = False
    approximate = None  # no other likelihood by which chains find their start

    def wrap_data(self, data) -> Observed:
        """The data as models take them."""
        return data if isinstance(data, Observed) else Observed(data)

    def check(self, prior, data) -> None:
        """Raise DataError for unusable data; the samplers look at nothing again."""
        observed = self.wrap_data(data)
        rating, n = np.asarray(observed.fields.rating, float), len(observed.labels)
        if rating.shape != (n,):
            raise DataError(
                f"rating has shape {rating.shape} but there are {n} labels; give each option one"
                " rating."
            )
        if not np.isfinite(rating).all():
            raise DataError("rating contains values that are not finite; remove these options.")

    def compiled(self, data, weights=EXPONENTIAL):
        """The data as the samplers read them, and a function that makes a chain's cache."""
        rating = np.ascontiguousarray(self.wrap_data(data).fields.rating, np.float64)
        return Rated(rating), lambda rated: RatingCache(np.zeros(rated.rating.size))

    def sample_prior_parameters(self, data, weights, rng) -> dict[str, float]:
        """The likelihood's own parameters, drawn from their prior."""
        return {}

    def log_parameter_prior(self, own, data, weights) -> dict[str, np.ndarray]:
        """Log prior densities (draws,) of the likelihood's own parameters, of which `own` has the
        draws."""
        return {}

    def simulate_data(self, columns, parameters, data, rng):
        """Data of the same design, drawn at one draw's features and weights."""
        owners, weights = columns.to_dense(0, 1)
        mean = weights[0] @ owners[0]
        rating = rng.normal(mean)
        old = self.wrap_data(data).original
        log_likelihood = _CONSTANT * rating.size - 0.5 * float(((rating - mean) ** 2).sum())
        return SimulatedData(old._replace(rating=rating), {"data.rating": rating}, log_likelihood)

    def build_posterior_part(self, columns, extra, data, shape, dense):
        """The part of the posterior tree about the data, with what `_log_likelihood` leaves out."""
        observed = self.wrap_data(data)
        return replace(
            build_custom_part(observed, True), log_constant=_CONSTANT * len(observed.labels)
        )


@scalar
def log_term(rated, c, i, d):
    """Change of option i's term if its mean grows by d."""
    residual = rated.rating[i] - c.mean[i]
    return d * residual - 0.5 * d * d


@vectorised
def owners_delta(rated, c, b, k, d):
    total = 0.0
    for i in range(rated.rating.shape[0]):
        total += log_term(rated, c, i, d * b.Z[k, i])
    return total


def _yes(rated):
    return True


def _no(rated):
    return False


def _delta_member(rated, c, b, k, i, d):
    return log_term(rated, c, i, d)


def _apply_member(rated, c, b, k, i, d):
    c.mean[i] += d


def _delta_weight(rated, c, b, k, m, d):
    return owners_delta(rated, c, b, k, d)


def _apply_weight(rated, c, b, k, m, d):
    for i in range(rated.rating.shape[0]):
        c.mean[i] += d * b.Z[k, i]


def _delta_transfer(rated, c, b, k, other, d):
    return 0.0  # what an owner of `other` gains from one column it loses from the other


def _apply_transfer(rated, c, b, k, other, d):
    pass


def _delta_own(rated, c, b, i, d):
    return -np.inf  # never called: there are no unique weights


def _delta_compensated(rated, c, b, i, k, d):
    return -np.inf  # never called, and the arguments of the other compensated changes are as many


def _delta_block(rated, c, b, i, size, code, mass):
    return -np.inf  # never called


def _apply_scale(rated, c, b, factor):
    for i in range(rated.rating.shape[0]):
        c.mean[i] *= factor


def _rebuild(rated, c, b):
    for i in range(rated.rating.shape[0]):
        c.mean[i] = 0.0
        for k in range(b.whole[COLUMNS]):
            c.mean[i] += b.w[k] * b.Z[k, i]


def _log_likelihood(rated, c, b):
    total = 0.0
    for i in range(rated.rating.shape[0]):
        total -= 0.5 * (rated.rating[i] - c.mean[i]) ** 2
    return total


def _cache_at(rated, caches, t):
    return RatingCache(caches.mean[t])


IMPLEMENTATIONS = {
    kernel_operations.sees_full: _yes,
    kernel_operations.is_scale_free: _no,
    kernel_operations.select_cache: _cache_at,
    kernel_operations.rebuild_cache: _rebuild,
    kernel_operations.log_likelihood: _log_likelihood,
    kernel_operations.delta_member: _delta_member,
    kernel_operations.apply_member: _apply_member,
    kernel_operations.delta_weight: _delta_weight,
    kernel_operations.apply_weight: _apply_weight,
    kernel_operations.delta_transfer: _delta_transfer,
    kernel_operations.apply_transfer: _apply_transfer,
    kernel_operations.apply_scale: _apply_scale,
    kernel_operations.delta_unique: _delta_own,
    kernel_operations.apply_unique: _delta_own,
    kernel_operations.delta_compensated_member: _delta_compensated,
    kernel_operations.apply_compensated_member: _delta_compensated,
    kernel_operations.delta_compensated_weight: _delta_compensated,
    kernel_operations.apply_compensated_weight: _delta_compensated,
    kernel_operations.delta_block: _delta_block,
    kernel_operations.apply_block: _delta_block,
}
for operation, implementation in IMPLEMENTATIONS.items():
    operation.register(Rated)(implementation)
