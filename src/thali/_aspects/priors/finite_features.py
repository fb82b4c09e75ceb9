"""A fixed number of features with random owners: a beta-Bernoulli prior.

Its limit is the Indian buffet process.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar
from thali._inference.numerics.slice_sampling import draw_on_line, log_density
from thali.errors import ArgumentError

from .. import kernel_operations
from ..chain_state import ALPHA, COLUMNS, FeatureState
from .shared_features import log_copy_orders, select_shared_columns

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns


@dataclass(frozen=True)
class FiniteFeatures:
    r"""K features; feature k is owned by each option with probability pi_k ~ Beta(alpha/K, 1).

    With pi integrated out a feature owned by the set h, m = `|h|`, has probability

    .. math::

        P(h) = \frac{\alpha}{K} \frac{\Gamma(m + \alpha/K)\,\Gamma(N - m + 1)}{\Gamma(N + 1
        + \alpha/K)}

    Parameters
    ----------
    n_features : int, at least 1

    References
    ----------
    Griffiths & Ghahramani (2005), eq. 10; Görür, Jäkel & Rasmussen (2006), eq. 6.

    Examples
    --------
    >>> import numpy as np
    >>> from thali.priors import FiniteFeatures
    >>> FiniteFeatures(3).sample(4, alpha=2.0, rng=np.random.default_rng(5)).shape
    (4, 3)
    """

    n_features: int
    is_infinite = False
    learns_alpha = True

    def __post_init__(self) -> None:
        if not (isinstance(self.n_features, int | np.integer) and self.n_features >= 1):
            raise ArgumentError(
                f"The number of features must be an integer >= 1; got {self.n_features!r}."
            )

    def usual_columns(self, n: int) -> float:
        """Return K, the number of features of a state."""
        return float(self.n_features)

    def compiled(self, n: int) -> "OpenColumns":
        """Return the prior for n options as kernels read it."""
        return OpenColumns(int(self.n_features))

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Draw an ownership matrix (n, K) from the prior.

        Parameters
        ----------
        n : int, at least 1
            Number of options.
        alpha : float, above 0
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of bool, shape (n, n_features)
            Columns may be empty.
        """
        return rng.random((n, self.n_features)) < rng.beta(
            alpha / self.n_features, 1.0, self.n_features
        )

    def log_prob(self, matrix: np.ndarray, alpha: float) -> float:
        """Return the log probability of an ownership matrix with ordered columns.

        Parameters
        ----------
        matrix : array of 0/1, shape (N, n_features)
        alpha : float, above 0

        Returns
        -------
        float
        """
        matrix = np.asarray(matrix, bool)
        return float(
            sum(
                log_column_probability(alpha / self.n_features, matrix.shape[0], m)
                for m in matrix.sum(0)
            )
        )

    def log_prob_of_draws(self, columns: "FeatureColumns", alpha: np.ndarray) -> np.ndarray:
        """Return the log probability of each draw's ownership, unrecorded empty columns too.

        Parameters
        ----------
        columns : Columns
            The columns of all draws.
        alpha : array (draws,)

        Returns
        -------
        array (draws,)
        """
        from scipy.special import gammaln

        a = alpha / self.n_features
        n = columns.n_options

        def log_p(a: np.ndarray, m: np.ndarray | int) -> np.ndarray:
            """Return the log probability of features with m owners, for each alpha."""
            return np.log(a) + gammaln(m + a) + gammaln(n - m + 1.0) - gammaln(n + 1.0 + a)

        return columns.sum_by_draw(log_p(a[columns.draw], columns.sizes)) + (
            self.n_features - columns.n_features
        ) * log_p(a, 0)

    def log_prob_shared(self, matrix: np.ndarray, alpha: float) -> float:
        r"""Return the log probability of the features with several owners, unordered.

        .. math::

            \frac{K!}{(K - m)! \prod_h K_h!} \; q^{K - m} \prod_k P(h_k), \qquad
            q = P(\emptyset) + N P(\{1\})

        for m such columns, of which K_h have the owners h.

        Parameters
        ----------
        matrix : array of 0/1, shape (N, K)
            Options by features; columns with fewer than two owners are passed over.
        alpha : float, above 0

        Returns
        -------
        float
            Minus infinity if there are more than `n_features` such columns.
        """
        shared_features = select_shared_columns(matrix)
        m = len(shared_features)
        n = shared_features.shape[1]
        a = alpha / self.n_features
        n_others = int(self.n_features) - m
        if n_others < 0:
            return -math.inf
        log_other = math.log(
            math.exp(log_column_probability(a, n, 0))
            + n * math.exp(log_column_probability(a, n, 1))
        )
        log_orders = (
            math.lgamma(self.n_features + 1.0)
            - math.lgamma(n_others + 1.0)
            - log_copy_orders(shared_features)
        )
        n_owners = np.count_nonzero(shared_features, axis=1).tolist()
        return (
            log_orders
            + n_others * log_other
            + sum(log_column_probability(a, n, size) for size in n_owners)
        )


class OpenColumns(NamedTuple):
    """The beta-Bernoulli prior of K features as kernels read it."""

    count: int  # type: ignore[override]


@scalar
def log_column_probability(a: Any, n: Any, m: Any) -> Any:
    """Return the log probability of a feature with m given owners of n; a = alpha / K."""
    return math.log(a) + math.lgamma(m + a) + math.lgamma(n - m + 1.0) - math.lgamma(n + 1.0 + a)


@kernel_operations.log_rate.register(OpenColumns)
def _log_rate(prior: OpenColumns, b: FeatureState, k: int, m: int) -> Any:
    """Return the log probability of a feature with m owners."""
    return b.by_size[m]


@kernel_operations.log_rate_after_toggle.register(OpenColumns)
def _log_rate_toggled(prior: OpenColumns, b: FeatureState, k: int, i: int, m: int) -> Any:
    """Return the log probability of a feature that has m owners after a toggle."""
    return b.by_size[m]


register_answers(
    OpenColumns,
    {
        kernel_operations.is_exchangeable: True,
        kernel_operations.keeps_empty: True,
        kernel_operations.may_flip: True,
    },
)


@kernel_operations.set_alpha.register(OpenColumns)
def _set_alpha(prior: OpenColumns, b: FeatureState, alpha: float) -> None:
    """Store alpha and update the stored log probabilities by number of owners."""
    b.real[ALPHA] = alpha
    n = b.by_size.size - 1
    for m in range(n + 1):
        b.by_size[m] = log_column_probability(alpha / prior.count, n, m)
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = b.by_size[b.m[k]]


class AlphaDensity(NamedTuple):
    """Log density of log alpha given the owners in a state, for slice sampling."""

    prior: Any
    state: Any


@log_density.register(AlphaDensity)
def _log_alpha_density(line: AlphaDensity, log_alpha: float) -> Any:
    """Return log p(log alpha | owners) up to a constant; `line` is prior and state."""
    prior, b = line
    alpha = math.exp(log_alpha)
    n = b.by_size.size - 1
    density = log_alpha - alpha
    for k in range(b.whole[COLUMNS]):
        density += log_column_probability(alpha / prior.count, n, b.m[k])
    return density


@kernel_operations.draw_alpha.register(OpenColumns)
def _draw_alpha(
    prior: OpenColumns, rng: np.random.Generator, b: FeatureState, columns: int, rate: float
) -> Any:
    """Draw alpha given the owners, by slice sampling of log alpha."""
    return math.exp(draw_on_line(rng, AlphaDensity(prior, b), math.log(b.real[ALPHA]), 1.0))
