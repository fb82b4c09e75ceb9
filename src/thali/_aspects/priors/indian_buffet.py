"""The one-parameter Indian buffet process, a prior over any number of features."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.numerics.weight_shares import compute_shares

from .. import kernel_operations
from ..chain_state import ALPHA, FeatureState, count_options
from .shared_features import log_copy_orders, select_shared_columns

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns


@dataclass(frozen=True)
class IndianBuffet:
    r"""The Indian buffet process: any number of features, each owned by a random set of options.

    The features are an unordered Poisson process: a feature owned by exactly the set h, m = `|h|`,
    arrives at rate

    .. math:: \alpha \lambda_h, \qquad \lambda_h = (m - 1)!\,(N - m)!\,/\,N!

    so that each option owns Poisson(alpha) features and there are Poisson(alpha H_N) in all, H_N =
    1 + 1/2 + ... + 1/N.

    References
    ----------
    Griffiths & Ghahramani (2005), eq. 14; Görür, Jäkel & Rasmussen (2006), eq. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from thali.priors import IndianBuffet
    >>> IndianBuffet().sample(4, alpha=2.0, rng=np.random.default_rng(5)).shape[0]
    4
    """

    is_infinite = True
    learns_alpha = True

    def usual_columns(self, n: int) -> float:
        """Return a typical number of columns for n options, by a rule for any alpha."""
        return 1.5 * math.log2(n)

    def compiled(self, n: int) -> "Buffet":
        """Return the prior for n options as kernels read it."""
        sizes = np.arange(1, n + 1)
        log_factorial = np.concatenate([[0.0], np.cumsum(np.log(sizes))])
        log_rates = np.full(n + 1, -np.inf)
        log_rates[1:] = log_factorial[sizes - 1] + log_factorial[n - sizes] - log_factorial[n]
        return Buffet(log_rates, np.concatenate([[0.0], np.cumsum(1.0 / sizes)]))

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Draw an ownership matrix (n, K) from the prior.

        Parameters
        ----------
        n : int, at least 1
            Number of options.
        alpha : float, at least 0
            Expected number of features of each option.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of bool, shape (n, K)
            Options by features, features in random order, none without an owner.
        """
        feature_owners = []
        size_rates = 1.0 / np.arange(1, n + 1)
        for _ in range(rng.poisson(alpha * size_rates.sum())):
            n_owners = 1 + rng.choice(n, p=compute_shares(size_rates))
            is_owner = np.zeros(n, bool)
            is_owner[rng.choice(n, n_owners, replace=False)] = True
            feature_owners.append(is_owner)
        return np.array(feature_owners, bool).reshape(-1, n).T

    def log_prob(self, matrix: np.ndarray, alpha: float) -> float:
        """Return the log density of a binary matrix's columns as an unordered multiset.

        The density is with respect to the unit-rate Poisson process on patterns: the sum over
        columns of log(alpha lambda_h), minus alpha H_N.

        Parameters
        ----------
        matrix : array of 0/1, shape (N, K)
            Options by features; every column has an owner.
        alpha : float, above 0

        Returns
        -------
        float
        """
        matrix = np.asarray(matrix, bool)
        n = matrix.shape[0]
        log_rate_by_size = self.compiled(n).log_rate
        return float(
            np.sum(np.log(alpha) + log_rate_by_size[matrix.sum(0)])
            - alpha * np.sum(1.0 / np.arange(1, n + 1))
        )

    def log_prob_of_draws(self, columns: "FeatureColumns", alpha: np.ndarray) -> np.ndarray:
        """Return the log density of each draw's ownership, shape (n_draws,).

        Parameters
        ----------
        columns : Columns
            The columns of all draws.
        alpha : array (draws,)

        Returns
        -------
        array (draws,)
        """
        prior = self.compiled(columns.n_options)
        log_rates = np.log(alpha)[columns.draw] + prior.log_rate[columns.sizes]
        return columns.sum_by_draw(log_rates) - alpha * prior.harmonic[-1]

    def log_prob_shared(self, matrix: np.ndarray, alpha: float) -> float:
        """Return the log probability of the features with several owners, unordered.

        This is the sum over these columns of log(alpha lambda_h), minus alpha (H_N - 1), minus log
        K_h! for the K_h columns with the same owners.

        Parameters
        ----------
        matrix : array of 0/1, shape (N, K)
            Options by features; columns with fewer than two owners are passed over.
        alpha : float, above 0

        Returns
        -------
        float
        """
        shared_features = select_shared_columns(matrix)
        n = shared_features.shape[1]
        n_owners = np.count_nonzero(shared_features, axis=1).tolist()
        total_rate = sum(1.0 / m for m in range(2, n + 1))
        log_rates = sum(math.lgamma(m) + math.lgamma(n - m + 1) for m in n_owners)
        return (
            log_rates
            + len(n_owners) * (math.log(alpha) - math.lgamma(n + 1))
            - alpha * total_rate
            - log_copy_orders(shared_features)
        )


class Buffet(NamedTuple):
    """The Indian buffet process for n options as kernels read it."""

    log_rate: np.ndarray  # (n + 1,) by number of owners
    harmonic: np.ndarray  # (n + 1,) H_m, also the total rate of the patterns with at most m owners


@kernel_operations.log_rate.register(Buffet)
def _log_rate(prior: Buffet, b: FeatureState, k: int, m: int) -> Any:
    """Return the log rate at which features with m given owners arrive."""
    return prior.log_rate[m]


@kernel_operations.log_rate_after_toggle.register(Buffet)
def _log_rate_toggled(prior: Buffet, b: FeatureState, k: int, i: int, m: int) -> Any:
    """Return the log rate of feature k after option i is toggled, with m owners then."""
    return prior.log_rate[m]


@kernel_operations.rate_by_size_range.register(Buffet)
def _rate_between(prior: Buffet, lo: int, hi: int) -> Any:
    """Return the total rate of features with lo to hi owners, per alpha."""
    if hi < lo:
        return 0.0
    return prior.harmonic[hi] - prior.harmonic[lo - 1]


@kernel_operations.rate_single.register(Buffet)
def _rate_single(prior: Buffet, i: int) -> Any:
    """Return the rate of features with one given owner, 1 / n, per alpha."""
    return 1.0 / (prior.harmonic.size - 1)


@kernel_operations.draw_pattern.register(Buffet)
def _draw_pattern(
    prior: Buffet, rng: np.random.Generator, b: FeatureState, k: int, lo: int, hi: int
) -> Any:
    # the C(n, m) patterns of m owners have total rate 1/m
    """Draw the lo to hi owners of feature k by the prior's rates; return their number."""
    start = prior.harmonic[lo - 1]
    u = start + rng.random() * (prior.harmonic[hi] - start)
    m = find_position(prior.harmonic, u, lo, hi)
    draw_option_subset(rng, b, k, m)
    return m


@scalar
def find_position(cumulative: Any, x: Any, low: Any, high: Any) -> Any:
    """Return the first index from `low` whose entry exceeds x, else `high`."""
    while low < high:
        middle = (low + high) // 2
        if x < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@scalar
def draw_option_subset(rng: np.random.Generator, b: Any, k: Any, m: Any) -> None:
    """Draw m of the n options uniformly at random as owners of row k.

    It is drawn by the first m steps of a shuffle.
    """
    n = count_options(b)
    for i in range(n):
        b.option_order[i] = i
        b.Z[k, i] = 0.0
    for t in range(m):
        swap_position = t + draw_index(rng, n - t)
        b.option_order[t], b.option_order[swap_position] = (
            b.option_order[swap_position],
            b.option_order[t],
        )
        b.Z[k, b.option_order[t]] = 1.0


register_answers(
    Buffet,
    {
        kernel_operations.is_exchangeable: True,
        kernel_operations.keeps_empty: False,
        kernel_operations.may_flip: True,
    },
)


@kernel_operations.set_alpha.register(Buffet)
def _set_alpha(prior: Buffet, b: FeatureState, alpha: float) -> None:
    """Store alpha in the state; no rate depends on it."""
    b.real[ALPHA] = alpha
    for m in range(b.by_size.size):
        b.by_size[m] = prior.log_rate[m]


@scalar
def store_alpha(prior: Any, b: Any, alpha: Any) -> None:
    """Store alpha in the state, for priors whose stored rates do not depend on it."""
    b.real[ALPHA] = alpha


@kernel_operations.draw_alpha.register(Buffet)
def draw_gamma_alpha(
    prior: Buffet, rng: np.random.Generator, b: FeatureState, columns: int, rate: Any
) -> Any:
    """Draw alpha ~ Gamma(1 + columns, 1 + rate), given the number of features.

    The columns are a Poisson process (eq. 13).
    """
    return rng.standard_gamma(1.0 + columns) / (1.0 + rate)
