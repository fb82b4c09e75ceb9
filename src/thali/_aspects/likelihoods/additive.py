"""Additive clustering: similarity is the sum of the weights of the features that two objects
share."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from thali._arguments import LEAST, MOST, check_positive
from thali._data.similarities import Similarities
from thali._inference.numerics.truncated import draw_tilted_weight
from thali._inference.warn import is_quiet, warn
from thali.errors import Argument, ArgumentError, DataError, DataWarning, InPython, Setting, Value

from .. import operations
from ..state import BETA, COLUMNS, shuffle_columns
from ..weight_priors import EXPONENTIAL, GammaWeights
from .residuals import (
    CONSTANT,
    VARIANCE,
    Judgements,
    Residuals,
    common_sum,
    draw_constant,
    draw_variance,
    empty_cache,
    fill,
    inner_pairs,
    inner_shift,
    inner_sum,
    lay_out,
    open_row_sums,
    row_gain,
    row_shift,
    row_sum,
    shift_row_sums,
    squared_error,
)

LEARNED = "learned"
# The inverse Gamma prior of a learned variance: its mean is VARIANCE_SHARE times the variance of
# the similarities.
VARIANCE_SHAPE, VARIANCE_SHARE = 2.0, 0.02
# prior means of a weight that the largest similarity should be worth
MIN_WORTH, MAX_WORTH = 0.05, 25.0
# prior means of a weight that the largest similarity is worth unless the user says otherwise
WORTH = 10.0
USUAL_PRIOR = (1.0, WORTH)  # for similarities of up to 1
# share of the standard deviation of the similarities below which a fixed sigma is warned of
SMALL = 0.02


@dataclass(frozen=True)
class Additive:
    r"""Additive clustering: the more weight two objects share, the more similar they are.

    .. math:: s_{ij} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2 / n_{ij}), \qquad
        \mu_{ij} = w_0 + \sum_k w_k f_{ik} f_{jk}

    over the measured pairs i < j, each counted once, where s_ij is the mean of n_ij judgements
    (`Similarities.judgements`; 1 if nothing is known of them); the diagonal plays no part. The
    constant w_0 belongs to all pairs and has the prior of the weights. Features of a single object
    do not touch the similarities.

    Parameters
    ----------
    sigma : float above 0, or "learned", optional
        Standard deviation of a single judgement about the similarity. "learned": with the prior
        sigma^2 ~ InverseGamma(2, 0.02 times the variance of the similarities, divided by the mean
        of 1 / n_ij). None: that of the data (`Similarities.sigma`), or else it is learned.
        (`AdditiveClustering` chooses one by cross-validation.)
    constant : bool
        Whether there is an additive constant; it is 0 otherwise.
    variance : float above 0, optional
        The prior mean of sigma^2 where it is learned. None: 0.02 times the variance of the
        similarities.

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
    # of the weight prior: below it weights of 0 have infinite density
    least_shape: ClassVar[float] = 1.0
    tempers = True  # families of features that explain the data alike are far apart
    approximate = None  # chains need no other likelihood to find their start
    # stored with the draws in addition to features and weights
    parameters: ClassVar[tuple[str, ...]] = ("constant", "sigma")
    common_parameters: ClassVar[tuple[str, ...]] = ()  # of several groups of people

    def __post_init__(self) -> None:
        if self.sigma not in (None, LEARNED) and not (
            isinstance(self.sigma, int | float | np.number)
            and not isinstance(self.sigma, bool)
            and LEAST <= self.sigma <= MOST
        ):
            raise ArgumentError(
                Argument("sigma"),
                f", the standard deviation of a similarity, must be a number from {LEAST:g} to"
                f" {MOST:g} or ",
                Value("sigma", LEARNED),
                InPython(", or None"),
                f"; got {self.sigma!r}.",
            )
        if self.variance is not None:
            check_positive("variance", self.variance, "the prior mean of sigma^2")

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind, and warn of a sigma that leaves the sampler no
        room to move."""
        if not isinstance(data, Similarities):
            raise DataError(
                f"Additive clustering requires Similarities; got {type(data).__name__}. For"
                " triplets use thali.likelihoods.MostSimilarPair; wrap a matrix as"
                " Similarities(matrix)."
            )
        sigma, spread = self.fixed_sigma(data), float(np.std(data.values))
        if (
            sigma is not None
            and sigma * math.sqrt(mean_share(data)) < SMALL * spread
            and not is_quiet()
        ):
            judged = (
                ""
                if (data.judgements == 1).all()
                else ", divided by the root of the number of judgements,"
            )
            warn(
                DataWarning(
                    Setting("sigma", sigma),
                    f"{judged} is less than {SMALL:g} times the standard deviation of the"
                    f" similarities, {spread:.3g}, so chains mix very slowly; choose a larger"
                    " value, or set ",
                    Setting("sigma", LEARNED),
                    " to estimate sigma.",
                )
            )

    def fixed_sigma(self, data: Any) -> float | None:
        """The standard deviation that is used with these data, or None if it is learned."""
        if self.sigma == LEARNED:
            return None
        return float(self.sigma) if self.sigma is not None else data.sigma

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        """The likelihood of similarities, as the samplers read it, and a function that makes a
        chain's cache.

        `weights` is the Gamma prior of weights and constant.
        """
        self._warn_of_scale(data, weights.shape, weights.rate)
        variance = self.first_variance(data)
        value, measured, share = lay_out(data)
        single = bool((data.judgements == 1).all())
        judgements = Judgements(
            value=value,
            measured=measured,
            share=share,
            pairs=float(data.values.size),
            total=float(data.judgements.sum()),
            single=single,
            complete=single and 2 * data.values.size == data.n_options * (data.n_options - 1),
            shape=weights.shape,
            rate=weights.rate,
            has_constant=bool(self.constant),
            learns_variance=self.fixed_sigma(data) is None,
            variance=variance,
            prior_shape=VARIANCE_SHAPE,
            prior_scale=variance * (VARIANCE_SHAPE - 1.0),
        )
        return judgements, empty_cache

    def _warn_of_scale(self, data: Any, shape: float, rate: float) -> None:
        """Warn of a weight prior whose weights are much smaller or larger than the similarities."""
        largest = float(np.abs(data.values).max())
        if is_quiet() or largest == 0.0 or MIN_WORTH < largest * rate / shape < MAX_WORTH:
            return
        suited = WORTH * shape / largest
        warn(
            DataWarning(
                f"The largest similarity is {largest:.3g} in absolute value, but weights have"
                f" prior mean {shape / rate:.3g}, suitable for similarities of about"
                f" {WORTH * shape / rate:.3g}; set ",
                Setting("weight_prior", (float(f"{shape:g}"), float(f"{suited:.2g}"))),
                " for this scale, and ",
                Argument("sigma"),
                f" accordingly, or divide all similarities by {largest:.3g}.",
            )
        )

    def first_variance(self, data: Any) -> float:
        """Where a chain starts: the fixed variance of a judgement, or the prior mean of a learned
        one.

        If all similarities are equal, the square of their mean replaces the variance.
        """
        sigma = self.fixed_sigma(data)
        if sigma is not None:
            return float(sigma) ** 2
        if self.variance is not None:
            return float(self.variance)
        varied = np.ptp(data.values) > 0.0
        spread = float(np.var(data.values)) if varied else float(data.values[0]) ** 2 or 1.0
        return VARIANCE_SHARE * spread / mean_share(data)

    def held_to(self, data: Any) -> "Additive":
        """The same likelihood with the prior of sigma fixed to the one for these data."""
        return (
            self
            if self.fixed_sigma(data) is not None
            else replace(self, variance=self.first_variance(data))
        )

    def scaled_priors(
        self, data: Any, factors: Iterable[float]
    ) -> Iterator[tuple[str, "Additive"]]:
        """The same likelihood with the prior mean of a learned sigma² multiplied, and a name for
        each."""
        if self.fixed_sigma(data) is None:
            for factor in factors:
                variance = factor * self.first_variance(data)
                yield f"mean of sigma squared x {factor:g}", replace(self, variance=variance)

    def prior_parameters(
        self, data: Any, weights: Any, rng: np.random.Generator
    ) -> dict[str, float]:
        """Parameters other than features and weights, from their prior: constant and sigma."""
        variance = self.first_variance(data)
        if self.fixed_sigma(data) is None:
            variance *= (VARIANCE_SHAPE - 1.0) / rng.standard_gamma(VARIANCE_SHAPE)
        return {
            "constant": weights.random(rng, 1)[0] if self.constant else 0.0,
            "sigma": math.sqrt(variance),
        }

    def log_prior_of_parameters(self, own: Any, data: Any, weights: Any) -> dict[str, np.ndarray]:
        """Log prior densities of what is learned of constant and sigma, draw by draw."""
        found = {"constant": weights.log_density(own["constant"])} if self.constant else {}
        if self.fixed_sigma(data) is None:
            # sigma^-2 is a Gamma variable, and |d sigma^-2 / d sigma| = 2 sigma^-3.
            precision = GammaWeights(
                VARIANCE_SHAPE, self.first_variance(data) * (VARIANCE_SHAPE - 1.0)
            )
            found["sigma"] = (
                precision.log_density(own["sigma"] ** -2.0)
                + math.log(2.0)
                - 3.0 * np.log(own["sigma"])
            )
        return found

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Every measured pair is measured again, by as many judgements: Normal(μ, sigma² / n)."""
        from ..draws.similarities import compute_similarities
        from .new_data import NewData

        fitted = compute_similarities(columns, parameters["constant"], data.first, data.second)[0]
        noise = rng.standard_normal(fitted.size)
        deviations = parameters["sigma"] / np.sqrt(data.judgements)
        values = fitted + deviations * noise
        found = -0.5 * float(noise @ noise) - float(np.log(deviations * np.sqrt(2.0 * np.pi)).sum())
        return NewData(data.with_values(values), {"similarity": values}, found)

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """What draws say about the data, for the posterior tree."""
        from ..draws.similarities import build_similarities_part

        return build_similarities_part(
            columns,
            extra,
            data,
            shape,
            dense,
            log_constant=-0.5
            * data.values.size
            * math.log(2.0 * math.pi * self.first_variance(data))
            + 0.5 * float(np.log(data.judgements).sum()),
            has_constant=self.constant,
            learned_sigma=self.fixed_sigma(data) is None,
        )


def suited_prior(data: Any) -> tuple[float, float]:
    """Shape and rate of a Gamma prior of weights that suits the scale: as mean a tenth of the
    largest similarity."""
    largest = float(np.abs(data.values).max())
    return (1.0, WORTH / largest) if largest > 0.0 else USUAL_PRIOR


def mean_share(data: Any) -> float:
    """The mean of 1 / n_ij over the pairs: the variance of a typical similarity, as a share of that
    of a judgement."""
    return float(np.mean(1.0 / data.judgements))


@operations.sees_full.register(Judgements)
def _sees_full(judgements: Any) -> Any:
    return True


@operations.sees_single.register(Judgements)
def _sees_single(judgements: Any) -> Any:
    return False


@operations.is_scale_free.register(Judgements)
def _is_scale_free(judgements: Any) -> Any:
    return False


@operations.cache_at.register(Judgements)
def _cache_at(judgements: Any, caches: Any, t: Any) -> Any:
    return Residuals(caches.residual[t], caches.pull[t], caches.ties[t], caches.real[t])


@operations.delta_unique.register(Judgements)
def _delta_own(judgements: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    return 0.0


@operations.apply_unique.register(Judgements)
def _apply_own(judgements: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    pass


@operations.delta_member.register(Judgements)
def _delta_member(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return row_gain(judgements, c, b, k, i, d)


@operations.apply_member.register(Judgements)
def _apply_member(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    row_shift(judgements, c, b, k, i, d)


@operations.is_quick.register(Judgements)
def _is_quick(judgements: Any) -> Any:
    return True


@operations.open_members.register(Judgements)
def _open_members(judgements: Any, c: Any, b: Any, k: Any) -> None:
    open_row_sums(judgements, c, b, k)


@operations.delta_open_member.register(Judgements)
def _delta_joined(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return d * (c.pull[i] - 0.5 * d * c.ties[i]) / c.real[VARIANCE]


@operations.apply_open_member.register(Judgements)
def _apply_joined(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    row_shift(judgements, c, b, k, i, d)
    shift_row_sums(judgements, c, b, k, i, d)


@operations.weight_gradient.register(Judgements)
def _pull_on(judgements: Any, c: Any, b: Any, k: Any, i: Any) -> Any:
    return row_sum(c.residual, b, k, i) / c.real[VARIANCE]


@operations.weight_curvature.register(Judgements)
def _stiffness_of(judgements: Any, c: Any, b: Any, k: Any, other: Any, i: Any) -> Any:
    return common_sum(judgements.measured, b, k, other, i) / c.real[VARIANCE]


@operations.delta_compensated_member.register(Judgements)
def _delta_compensated_member(judgements: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> Any:
    return row_gain(judgements, c, b, k, i, d)


@operations.apply_compensated_member.register(Judgements)
def _apply_compensated_member(judgements: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    row_shift(judgements, c, b, k, i, d)


@operations.delta_weight.register(Judgements)
@operations.delta_compensated_weight.register(Judgements)
def _delta_weight(judgements: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    pairs = inner_pairs(judgements, b, k, m)
    return d * (inner_sum(c.residual, b, k) - 0.5 * d * pairs) / c.real[VARIANCE]


@operations.apply_weight.register(Judgements)
@operations.apply_compensated_weight.register(Judgements)
def _apply_weight(judgements: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    inner_shift(judgements, c, b, k, d)


@operations.rebuild_cache.register(Judgements)
def _rebuild(judgements: Any, c: Any, b: Any) -> None:
    fill(judgements, c, b, b.whole[COLUMNS])


@operations.log_likelihood.register(Judgements)
def _log_likelihood(judgements: Any, c: Any, b: Any) -> Any:
    # what is left out is the log-density of residuals of 0 under the first variance
    variance = c.real[VARIANCE]
    return -0.5 * (
        squared_error(judgements, c) / variance
        + judgements.pairs * math.log(variance / judgements.variance)
    )


@operations.draw_weights.register(Judgements)
def _draw_weights(judgements: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    # w_k given all else: Gamma prior times the exponential of w B / variance - w^2 A / (2
    # variance), where A counts the judgements of pairs of owners and B sums what the others leave
    # unexplained of them
    precision = b.real[BETA] / c.real[VARIANCE]
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        pairs = inner_pairs(judgements, b, k, b.m[k])
        unexplained = inner_sum(c.residual, b, k) + b.w[k] * pairs
        w = draw_tilted_weight(
            rng, judgements.shape, judgements.rate, precision * pairs, precision * unexplained
        )
        inner_shift(judgements, c, b, k, w - b.w[k])
        b.w[k] = w


@operations.draw_parameters.register(Judgements)
def _draw_parameters(judgements: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    draw_constant(rng, judgements, c, b)
    draw_variance(rng, judgements, c, b)


@operations.record_parameters.register(Judgements)
def _note_parameters(judgements: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    extra[draw, CONSTANT] = c.real[CONSTANT]
    extra[draw, VARIANCE] = math.sqrt(c.real[VARIANCE])
