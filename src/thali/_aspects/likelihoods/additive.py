"""Additive clustering: similarity is the sum of the weights of shared features."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from thali._argument_checks import LEAST, MOST, check_positive
from thali._compile.jit import register_answers
from thali._data.similarities import Similarities
from thali._inference.numerics.positive_weight_draws import draw_tilted_weight
from thali._inference.user_warnings import is_quiet, warn
from thali.errors import Argument, ArgumentError, DataError, DataWarning, InPython, Setting, Value

from .. import kernel_operations
from ..chain_state import BETA, FeatureState, shuffle_columns
from ..weight_priors import EXPONENTIAL, GammaWeights, NormalWeights
from .similarity_residuals import (
    CONSTANT,
    VARIANCE,
    Judgements,
    Residuals,
    arrange_squares,
    count_inner_judgements,
    draw_constant,
    draw_variance,
    fill_residuals,
    make_residual_cache,
    open_row_sums,
    row_delta,
    shift_inner,
    shift_row,
    shift_row_sums,
    squared_error,
    sum_common,
    sum_inner,
    sum_row,
)

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns
    from ..priors.prior_from_argument import FeaturePrior


LEARNED = "learned"
# The inverse Gamma prior of a learned variance: its mean is VARIANCE_SHARE times the variance of
# the similarities.
VARIANCE_SHAPE = 2.0
VARIANCE_SHARE = 0.02
# ratio of the largest similarity to the prior mean of a weight: range without a warning
MIN_LARGEST_RATIO = 0.05
MAX_LARGEST_RATIO = 25.0
# the same ratio in the default prior
LARGEST_RATIO = 10.0
DEFAULT_WEIGHT_PRIOR = (1.0, LARGEST_RATIO)  # for similarities of up to 1
# a fixed sigma below this fraction of the sd of the similarities causes a warning
MIN_SIGMA_RATIO = 0.02


@dataclass(frozen=True)
class Additive:
    r"""Additive clustering: objects are more similar the more weight they share.

    .. math:: s_{ij} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2 / n_{ij}), \qquad
        \mu_{ij} = w_0 + \sum_k w_k f_{ik} f_{jk}

    over the measured pairs i < j, each counted once, where s_ij is the mean of n_ij judgements
    (`Similarities.judgements`; 1 if not given); the diagonal is not used. The constant w_0 is added
    to all pairs and has the prior of the weights. Features of a single object do not affect the
    similarities.

    Parameters
    ----------
    sigma : float above 0, or "learned", optional
        Standard deviation of a single judgement about the similarity. "learned": with the prior
        sigma^2 ~ InverseGamma(2, 0.02 times the variance of the similarities, divided by the mean
        of 1 / n_ij). None: the sigma of the data (`Similarities.sigma`), or learned if they have
        none. (`AdditiveClustering` chooses one by cross-validation.)
    constant : bool
        Whether there is an additive constant; it is 0 otherwise.
    variance : float above 0, optional
        The prior mean of a learned sigma^2. None: 0.02 times the variance of the similarities.

    Raises
    ------
    ArgumentError
        If sigma or variance is not a number from 1e-100 to 1e100.

    References
    ----------
    Shepard & Arabie (1979); Navarro & Griffiths (2007), eq. 1 to 4, with every pair counted once.

    Examples
    --------
    >>> from thali.likelihoods import Additive
    >>> Additive(sigma=0.05)
    Additive(sigma=0.05, constant=True, variance=None)
    """

    sigma: float | Literal["learned"] | None = None
    constant: bool = True
    variance: float | None = None

    unique = False  # no object has a fixed unique feature
    takes_signed_weights = False
    # minimum shape of the weight prior: below it weights of 0 have infinite density
    min_shape: ClassVar[float] = 1.0
    needs_tempering = True  # different feature sets explain the data equally well and are far apart
    approximate = None  # chains need no other likelihood to find their start
    # stored with the draws in addition to features and weights
    parameters: ClassVar[tuple[str, ...]] = ("constant", "sigma")

    def __post_init__(self) -> None:
        """Raise ArgumentError unless `sigma` and `variance` are valid."""
        if self.sigma not in (None, LEARNED) and not (
            isinstance(self.sigma, int | float | np.number)
            and not isinstance(self.sigma, bool)
            and LEAST <= self.sigma <= MOST
        ):
            raise ArgumentError(
                Argument("sigma"),
                f", the error standard deviation of the similarities, must be a number from"
                f" {LEAST:g} to {MOST:g}, or ",
                Value("sigma", LEARNED),
                InPython(", or None"),
                f"; got {self.sigma!r}.",
            )
        if self.variance is not None:
            check_positive("variance", self.variance, "the prior mean of sigma^2")

    def check(self, prior: "FeaturePrior", data: Any) -> None:
        """Raise DataError unless the data are `Similarities`; warn of a small sigma.

        Chains mix slowly if sigma is small.
        """
        if not isinstance(data, Similarities):
            raise DataError(
                f"Additive clustering requires Similarities; got {type(data).__name__}. For"
                " triplets use thali.likelihoods.MostSimilarPair; wrap a matrix as"
                " Similarities(matrix)."
            )
        sigma = self.fixed_sigma(data)
        similarity_sd = float(np.std(data.values))
        if (
            sigma is not None
            and sigma * math.sqrt(mean_inverse_judgements(data)) < MIN_SIGMA_RATIO * similarity_sd
            and not is_quiet()
        ):
            judgement_note = ", divided by the root of the number of judgements,"
            if (data.judgements == 1).all():
                judgement_note = ""
            warn(
                DataWarning(
                    Setting("sigma", sigma),
                    f"{judgement_note} is less than {MIN_SIGMA_RATIO:g} times the standard"
                    f" deviation of the similarities, {similarity_sd:.3g}, so chains mix very"
                    " slowly; choose a larger value, or set ",
                    Setting("sigma", LEARNED),
                    " to estimate sigma.",
                )
            )

    def fixed_sigma(self, data: Similarities) -> float | None:
        """Return sigma for these data, or None if it is learned."""
        if self.sigma == LEARNED:
            return None
        if self.sigma is None:
            return data.sigma
        return float(self.sigma)

    def compiled(self, data: Similarities, weights: GammaWeights = EXPONENTIAL) -> Any:
        """Return similarities as kernels read them, and a function that makes a chain's cache.

        `weights` is the Gamma prior of weights and constant.
        """
        self._warn_of_scale(data, weights.shape, weights.rate)
        variance = self.first_variance(data)
        value, measured, share = arrange_squares(data)
        has_single_judgements = bool((data.judgements == 1).all())
        judgements = Judgements(
            value=value,
            measured=measured,
            share=share,
            pairs=float(data.values.size),
            total=float(data.judgements.sum()),
            single=has_single_judgements,
            complete=has_single_judgements
            and 2 * data.values.size == data.n_options * (data.n_options - 1),
            shape=weights.shape,
            rate=weights.rate,
            has_constant=bool(self.constant),
            learns_variance=self.fixed_sigma(data) is None,
            variance=variance,
            prior_shape=VARIANCE_SHAPE,
            prior_scale=variance * (VARIANCE_SHAPE - 1.0),
        )
        return judgements, make_residual_cache

    def _warn_of_scale(self, data: Similarities, shape: float, rate: float) -> None:
        """Warn if prior weights are much smaller or larger than the similarities."""
        max_similarity = float(np.abs(data.values).max())
        if (
            is_quiet()
            or max_similarity == 0.0
            or MIN_LARGEST_RATIO < max_similarity * rate / shape < MAX_LARGEST_RATIO
        ):
            return
        suitable_rate = LARGEST_RATIO * shape / max_similarity
        warn(
            DataWarning(
                f"The largest similarity is {max_similarity:.3g} in absolute value, but weights"
                f" have prior mean {shape / rate:.3g}, suitable for similarities of about"
                f" {LARGEST_RATIO * shape / rate:.3g}; set ",
                Setting("weight_prior", (float(f"{shape:g}"), float(f"{suitable_rate:.2g}"))),
                " for this scale, and ",
                Argument("sigma"),
                f" accordingly, or divide all similarities by {max_similarity:.3g}.",
            )
        )

    def first_variance(self, data: Similarities) -> float:
        """Return the variance of a judgement where chains start: fixed, or the prior mean.

        Chains start there. If all similarities are equal, the square of their mean replaces the
        variance.
        """
        sigma = self.fixed_sigma(data)
        if sigma is not None:
            return float(sigma) ** 2
        if self.variance is not None:
            return float(self.variance)
        similarity_variance = float(np.var(data.values))
        if np.ptp(data.values) == 0.0:
            similarity_variance = float(data.values[0]) ** 2 or 1.0
        return VARIANCE_SHARE * similarity_variance / mean_inverse_judgements(data)

    def scaled_priors(
        self, data: Similarities, factors: Iterable[float]
    ) -> Iterator[tuple[str, "Additive"]]:
        """Yield (name, likelihood) with the prior mean of sigma² times each factor."""
        if self.fixed_sigma(data) is None:
            for factor in factors:
                variance = factor * self.first_variance(data)
                yield f"mean of sigma squared x {factor:g}", replace(self, variance=variance)

    def sample_prior_parameters(
        self, data: Similarities, weights: GammaWeights | NormalWeights, rng: np.random.Generator
    ) -> dict[str, float]:
        """Sample constant and sigma from their prior."""
        prior_variance = self.first_variance(data)
        if self.fixed_sigma(data) is None:
            prior_variance *= (VARIANCE_SHAPE - 1.0) / rng.standard_gamma(VARIANCE_SHAPE)
        constant = 0.0
        if self.constant:
            constant = weights.random(rng, 1)[0]
        return {"constant": constant, "sigma": math.sqrt(prior_variance)}

    def log_parameter_prior(
        self,
        draws: Mapping[str, np.ndarray],
        data: Similarities,
        weights: GammaWeights | NormalWeights,
    ) -> dict[str, np.ndarray]:
        """Return log prior densities of the learned constant and sigma, per draw."""
        log_densities = {}
        if self.constant:
            log_densities["constant"] = weights.log_density(draws["constant"])
        if self.fixed_sigma(data) is None:
            # sigma^-2 is a Gamma variable, and |d sigma^-2 / d sigma| = 2 sigma^-3.
            precision_prior = GammaWeights(
                VARIANCE_SHAPE, self.first_variance(data) * (VARIANCE_SHAPE - 1.0)
            )
            log_densities["sigma"] = (
                precision_prior.log_density(draws["sigma"] ** -2.0)
                + math.log(2.0)
                - 3.0 * np.log(draws["sigma"])
            )
        return log_densities

    def simulate_data(
        self,
        feature_columns: "FeatureColumns",
        parameters: Mapping[str, float],
        data: Similarities,
        rng: np.random.Generator,
    ) -> Any:
        """Simulate similarities of the same pairs and judgements: Normal(μ, sigma² / n)."""
        from ..draws.fitted_similarities import compute_similarities
        from ..draws.posterior_tree import SimulatedData

        fitted = compute_similarities(
            feature_columns, parameters["constant"], data.first, data.second
        )[0]
        noise = rng.standard_normal(fitted.size)
        residual_sds = parameters["sigma"] / np.sqrt(data.judgements)
        simulated_values = fitted + residual_sds * noise
        log_density = -0.5 * float(noise @ noise) - float(
            np.log(residual_sds * np.sqrt(2.0 * np.pi)).sum()
        )
        return SimulatedData(
            data.with_values(simulated_values), {"similarity": simulated_values}, log_density
        )

    def build_posterior_part(
        self,
        feature_columns: "FeatureColumns",
        extra: dict[str, np.ndarray],
        data: Similarities,
        shape: tuple[int, int],
        dense: bool,
    ) -> Any:
        """Build the part of the posterior tree about similarities from all draws."""
        from ..draws.fitted_similarities import build_similarities_part

        return build_similarities_part(
            feature_columns,
            extra,
            data,
            shape,
            dense,
            log_constant=-0.5
            * data.values.size
            * math.log(2.0 * math.pi * self.first_variance(data))
            + 0.5 * float(np.log(data.judgements).sum()),
            has_constant=self.constant,
            is_sigma_learned=self.fixed_sigma(data) is None,
        )


def choose_weight_prior(data: Similarities) -> tuple[float, float]:
    """Return shape and rate of a Gamma weight prior that suits the similarities' range.

    Its mean is a tenth of the largest similarity.
    """
    max_similarity = float(np.abs(data.values).max())
    if max_similarity == 0.0:
        return DEFAULT_WEIGHT_PRIOR
    return 1.0, LARGEST_RATIO / max_similarity


def mean_inverse_judgements(data: Similarities) -> float:
    """Return the mean of 1 / n_ij over pairs with n_ij judgements each."""
    return float(np.mean(1.0 / data.judgements))


register_answers(
    Judgements,
    {
        kernel_operations.sees_full: True,
        kernel_operations.sees_single: False,
        kernel_operations.is_scale_free: False,
        kernel_operations.is_quick: True,  # `delta_open_member` uses stored row sums
    },
)


@kernel_operations.select_cache.register(Judgements)
def _select_cache(judgements: Judgements, caches: Residuals, t: int) -> Any:
    """Return views of the residuals of the replica at temperature t."""
    return Residuals(caches.residual[t], caches.pull[t], caches.ties[t], caches.real[t])


@kernel_operations.delta_unique.register(Judgements)
def _delta_unique(judgements: Judgements, c: Residuals, b: FeatureState, i: int, d: float) -> Any:
    """Return 0: unique weights do not affect similarities."""
    return 0.0


@kernel_operations.apply_unique.register(Judgements)
def _apply_unique(judgements: Judgements, c: Residuals, b: FeatureState, i: int, d: float) -> None:
    """Do nothing: unique weights do not affect similarities."""
    pass


@kernel_operations.delta_member.register(Judgements)
def _delta_member(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins or leaves feature k."""
    return row_delta(judgements, c, b, k, i, d)


kernel_operations.apply_member.register(Judgements)(shift_row)


kernel_operations.open_members.register(Judgements)(open_row_sums)


@kernel_operations.delta_open_member.register(Judgements)
def _delta_open_member(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the log-likelihood change of a toggle of option i, from stored row sums."""
    return d * (c.pull[i] - 0.5 * d * c.ties[i]) / c.real[VARIANCE]


@kernel_operations.apply_open_member.register(Judgements)
def _apply_open_member(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Update residuals and stored row sums after a toggle of option i."""
    shift_row(judgements, c, b, k, i, d)
    shift_row_sums(judgements, c, b, k, i, d)


@kernel_operations.weight_gradient.register(Judgements)
def _weight_gradient(judgements: Judgements, c: Residuals, b: FeatureState, k: int, i: int) -> Any:
    """Return the derivative of the log-likelihood by a weight i shares with owners of k."""
    return sum_row(c.residual, b, k, i) / c.real[VARIANCE]


@kernel_operations.weight_curvature.register(Judgements)
def _weight_curvature(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, partner: int, i: int
) -> Any:
    """Return minus the second derivative by the weights of features k and `partner`."""
    return sum_common(judgements.measured, b, k, partner, i) / c.real[VARIANCE]


@kernel_operations.delta_compensated_member.register(Judgements)
def _delta_compensated_member(
    judgements: Judgements, c: Residuals, b: FeatureState, i: int, k: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins column k and s[i] falls by d."""
    return row_delta(judgements, c, b, k, i, d)


@kernel_operations.apply_compensated_member.register(Judgements)
def _apply_compensated_member(
    judgements: Judgements, c: Residuals, b: FeatureState, i: int, k: int, d: float
) -> None:
    """Update the residuals: option i joins column k and s[i] falls by d."""
    shift_row(judgements, c, b, k, i, d)


@kernel_operations.delta_weight.register(Judgements)
@kernel_operations.delta_compensated_weight.register(Judgements)
def _delta_weight(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if the weight of feature k grows by d."""
    pairs = count_inner_judgements(judgements, b, k, m)
    return d * (sum_inner(c.residual, b, k) - 0.5 * d * pairs) / c.real[VARIANCE]


@kernel_operations.apply_weight.register(Judgements)
@kernel_operations.apply_compensated_weight.register(Judgements)
def _apply_weight(
    judgements: Judgements, c: Residuals, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the residuals of pairs of owners: the weight of feature k grows by d."""
    shift_inner(judgements, c, b, k, d)


kernel_operations.rebuild_cache.register(Judgements)(fill_residuals)


@kernel_operations.log_likelihood.register(Judgements)
def _log_likelihood(judgements: Judgements, c: Residuals, b: FeatureState) -> Any:
    # the omitted constant is the log-density of residuals of 0 under the first variance
    """Return the normal log-likelihood of the similarities, without constants."""
    variance = c.real[VARIANCE]
    return -0.5 * (
        squared_error(judgements, c) / variance
        + judgements.pairs * math.log(variance / judgements.variance)
    )


@kernel_operations.draw_weights.register(Judgements)
def _draw_weights(
    judgements: Judgements, rng: np.random.Generator, c: Residuals, b: FeatureState
) -> None:
    # w_k given all else: Gamma prior times the exponential of w B / variance - w^2 A / (2
    # variance), where A counts the judgements of pairs of owners, and B is the sum of their
    # residuals without feature k
    """Draw every weight from its full conditional: Gamma prior times a normal density."""
    precision = b.real[BETA] / c.real[VARIANCE]
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        pairs = count_inner_judgements(judgements, b, k, b.m[k])
        unexplained = sum_inner(c.residual, b, k) + b.w[k] * pairs
        w = draw_tilted_weight(
            rng, judgements.shape, judgements.rate, precision * pairs, precision * unexplained
        )
        shift_inner(judgements, c, b, k, w - b.w[k])
        b.w[k] = w


@kernel_operations.draw_parameters.register(Judgements)
def _draw_parameters(
    judgements: Judgements, rng: np.random.Generator, c: Residuals, b: FeatureState
) -> None:
    """Draw the additive constant and the variance from their full conditionals."""
    draw_constant(rng, judgements, c, b)
    draw_variance(rng, judgements, c, b)


@kernel_operations.record_parameters.register(Judgements)
def _record_parameters(
    judgements: Judgements, c: Residuals, b: FeatureState, extra: np.ndarray, draw: int
) -> None:
    """Write the constant and sigma of the state into row `draw` of the record."""
    extra[draw, CONSTANT] = c.real[CONSTANT]
    extra[draw, VARIANCE] = math.sqrt(c.real[VARIANCE])
