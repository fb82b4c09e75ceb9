"""Parameters of a user's likelihood: numbers among the fields of the data that are learned, not
known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._arguments import positive
from thali._compile.jit import generic, part, scalar
from thali._labels import shorten
from thali.errors import ArgumentError

from .. import operations
from ..state import BETA, COLUMNS
from ..weight_priors import GammaWeights, NormalWeights
from .term_sums import seen, whole_of_state

REAL, ABOVE_ZERO, FLAT, HALF_NORMAL, LOG_NORMAL, SHARE = range(6)  # kinds of priors
MAX_LOGIT = 36.0  # of a share, which is 1 in floating-point numbers beyond
MIN_SHARE = 1.0 / (1.0 + math.exp(MAX_LOGIT))
# parameters of a Beta: smaller ones give numbers nearer 1 than MAX_LOGIT a probability that counts
MIN_BETA = 0.5
MAX_STEPS = 60  # by which the interval of a slice grows on either side
TAKEN = (
    "alpha",
    "chain",
    "draw",
    "features",
    "log_likelihood",
    "n_features",
    "option",
    "unique_weights",
    "weights",
)


@dataclass(frozen=True)
class Normal:
    r"""A normal prior of a parameter or of weights, which may then be any number.

    .. math:: \log p(x) = -\frac{(x - \mu)^2}{2 \sigma^2} - \log \sigma - \tfrac12 \log 2 \pi

    Parameters
    ----------
    mean : float
    sd : float above 0

    Raises
    ------
    ArgumentError
        If the mean is not finite, or sd not above 0.

    Examples
    --------
    >>> from thali.likelihoods import Normal
    >>> Normal(0, 2)
    Normal(mean=0, sd=2)
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        positive("sd", self.sd, "the standard deviation of a prior")
        if (
            isinstance(self.mean, bool)
            or not isinstance(self.mean, int | float)
            or not math.isfinite(self.mean)
        ):
            raise ArgumentError(
                f"`mean`, the mean of a prior, must be a finite number; got {self.mean!r}."
            )

    def coded(self) -> tuple[int, float, float]:
        """The prior as compiled code reads it."""
        return REAL, float(self.mean), float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """A value from the prior."""
        return float(rng.normal(self.mean, self.sd))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each value."""
        return self.as_weights().log_density(values)

    def as_weights(self) -> NormalWeights:
        """The same as a prior of weights."""
        return NormalWeights(float(self.mean), float(self.sd))


@dataclass(frozen=True)
class Gamma:
    r"""A Gamma prior of a parameter or of weights, which are then above 0.

    .. math:: \log p(x) = a \log b - \log \Gamma(a) + (a - 1) \log x - b x

    Parameters
    ----------
    shape, rate : float above 0
        a and b.

    Raises
    ------
    ArgumentError
        If one is not above 0.

    Examples
    --------
    >>> from thali.likelihoods import Gamma
    >>> Gamma(2, 1)
    Gamma(shape=2, rate=1)
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        positive("shape", self.shape, "a parameter of a Gamma distribution")
        positive("rate", self.rate, "a parameter of a Gamma distribution")

    def coded(self) -> tuple[int, float, float]:
        """The prior as compiled code reads it."""
        return ABOVE_ZERO, float(self.shape), float(self.rate)

    def draw(self, rng: np.random.Generator) -> float:
        """A value from the prior."""
        return float(rng.gamma(self.shape, 1.0 / self.rate))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each value; minus infinity at and below 0."""
        there = values > 0.0
        return np.where(there, self.as_weights().log_density(np.where(there, values, 1.0)), -np.inf)

    def as_weights(self) -> GammaWeights:
        """The same as a prior of weights."""
        return GammaWeights(float(self.shape), float(self.rate))


@dataclass(frozen=True)
class HalfNormal:
    r"""A half-normal prior of a parameter that is above 0, such as a standard deviation.

    .. math::

        \log p(x) = \tfrac12 \log \frac{2}{\pi} - \log \sigma - \frac{x^2}{2 \sigma^2}, \qquad x > 0

    Parameters
    ----------
    sd : float above 0
        Standard deviation of the normal distribution that is folded at 0.

    Raises
    ------
    ArgumentError
        If it is not above 0.

    Examples
    --------
    >>> from thali.likelihoods import HalfNormal
    >>> HalfNormal(2)
    HalfNormal(sd=2)
    """

    sd: float = 1.0

    def __post_init__(self) -> None:
        positive("sd", self.sd, "the standard deviation of a prior")

    def coded(self) -> tuple[int, float, float]:
        """The prior as compiled code reads it."""
        return HALF_NORMAL, 0.0, float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """A value from the prior."""
        return abs(float(rng.normal(0.0, self.sd)))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each value; minus infinity at and below 0."""
        return np.where(
            values > 0.0,
            math.log(2.0) + NormalWeights(0.0, float(self.sd)).log_density(values),
            -np.inf,
        )


@dataclass(frozen=True)
class LogNormal:
    r"""A log-normal prior of a parameter that is above 0: its logarithm is normal.

    .. math::

        \log p(x) = -\frac{(\log x - \mu)^2}{2 \sigma^2} - \log \sigma - \tfrac12 \log 2 \pi - \log
        x

    Parameters
    ----------
    mean : float
        Of the logarithm.
    sd : float above 0
        Of the logarithm.

    Raises
    ------
    ArgumentError
        If the mean is not finite, or sd not above 0.

    Examples
    --------
    >>> from thali.likelihoods import LogNormal
    >>> LogNormal(0, 0.5)
    LogNormal(mean=0, sd=0.5)
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        Normal(self.mean, self.sd)

    def coded(self) -> tuple[int, float, float]:
        """The prior as compiled code reads it."""
        return LOG_NORMAL, float(self.mean), float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """A value from the prior."""
        return float(rng.lognormal(self.mean, self.sd))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each value; minus infinity at and below 0."""
        there = values > 0.0
        logs = np.log(np.where(there, values, 1.0))
        return np.where(
            there, NormalWeights(float(self.mean), float(self.sd)).log_density(logs) - logs, -np.inf
        )


@dataclass(frozen=True)
class Beta:
    r"""A Beta prior of a parameter between 0 and 1, such as a probability.

    .. math::

        \log p(x) = (a - 1) \log x + (b - 1) \log (1 - x) - \log \mathrm{B}(a, b), \qquad 0 < x < 1

    Parameters
    ----------
    a, b : float of 0.5 or more

    Raises
    ------
    ArgumentError
        If one is below 0.5.

    Examples
    --------
    >>> from thali.likelihoods import Beta
    >>> Beta(1, 20)
    Beta(a=1, b=20)
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("a", self.a), ("b", self.b)):
            if positive(name, value, "a parameter of a Beta distribution") < MIN_BETA:
                raise ArgumentError(
                    f"`{name}`, a parameter of a Beta distribution, must be >= {MIN_BETA:g}; got"
                    f" {value!r}."
                )

    def coded(self) -> tuple[int, float, float]:
        """The prior as compiled code reads it."""
        return SHARE, float(self.a), float(self.b)

    def draw(self, rng: np.random.Generator) -> float:
        """A value from the prior."""
        return min(max(float(rng.beta(self.a, self.b)), MIN_SHARE), 1.0 - MIN_SHARE)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each value; minus infinity outside of 0 and 1."""
        from scipy.special import betaln

        there = (values > 0.0) & (values < 1.0)
        x = np.where(there, values, 0.5)
        density = (
            (self.a - 1.0) * np.log(x) + (self.b - 1.0) * np.log1p(-x) - betaln(self.a, self.b)
        )
        return np.where(there, density, -np.inf)


PRIORS = Normal, HalfNormal, LogNormal, Gamma, Beta
NAMED = "Normal, HalfNormal, LogNormal, Gamma or Beta"


def check_parameters(parameters: Any, log_prior: Any) -> None:
    """Raise ArgumentError for what is no mapping from names to priors."""
    if not isinstance(parameters, Mapping):
        raise ArgumentError(
            "`parameters` must map fields of the data to priors, such as {'intercept': Normal(0,"
            f" 2)}}; got {parameters!r}."
        )
    for name, prior in parameters.items():
        if name in TAKEN:
            raise ArgumentError(
                f"`parameters`: the name {name!r} is reserved in posteriors; rename the field."
            )
        if not isinstance(prior, PRIORS) and not (prior is None and log_prior is not None):
            raise ArgumentError(
                f"The prior of {name!r} must be {NAMED} of thali.likelihoods, or None if log_prior"
                f" is given; got {prior!r}."
            )
    if log_prior is not None and not parameters:
        raise ArgumentError("`log_prior` requires parameters; list them in `parameters`.")


def start_of(parameters: Mapping[str, Any], fields: Any, log_prior: Any) -> np.ndarray:
    """Where chains start: the values of the fields, which must be numbers that the priors allow."""
    values = []
    for name, prior in parameters.items():
        value = getattr(fields, name, None)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            known = shorten(
                [each for each in fields._fields if isinstance(getattr(fields, each), int | float)]
            )
            raise ArgumentError(
                f"The parameter {name!r} starts at the value of the data field {name!r}, which"
                " must be a single finite number; the fields with a single number are:"
                f" {known or 'none'}."
            )
        if prior is not None and not np.isfinite(prior.log_density(np.array([float(value)]))[0]):
            raise ArgumentError(
                f"The parameter {name!r} starts at {value:g}, where its prior {prior!r} has"
                " density 0; start it at a value that the prior allows."
            )
        values.append(float(value))
    if log_prior is not None and not math.isfinite(
        float(getattr(log_prior, "py_func", log_prior)(fields))
    ):
        raise ArgumentError(
            "log_prior is not finite at the values of the data; change the starting values of the"
            " parameters."
        )
    return np.array(values)


@generic
def own_log_prior(likelihood: Any) -> None:
    """The user's joint log prior of the parameters, which are fields of likelihood.data; default:
    0."""


@own_log_prior.register(object)
def _no_log_prior(likelihood: Any) -> Any:
    return 0.0


@scalar
def value_at(likelihood: Any, p: Any, x: Any) -> Any:
    """The value of parameter p at place x of the line on which it is drawn, by logit of a share,
    else by logarithm."""
    kind = likelihood.kind[p]
    if kind == SHARE:
        return 1.0 / (1.0 + math.exp(-min(max(x, -MAX_LOGIT), MAX_LOGIT)))
    return (
        math.exp(min(x, 700.0))
        if kind == ABOVE_ZERO or kind == HALF_NORMAL or kind == LOG_NORMAL
        else x
    )


@scalar
def place_of(likelihood: Any, p: Any, value: Any) -> Any:
    """The place of a value of parameter p on that line."""
    kind = likelihood.kind[p]
    if kind == SHARE:
        return min(max(math.log(value) - math.log1p(-value), -MAX_LOGIT), MAX_LOGIT)
    return (
        math.log(value)
        if kind == ABOVE_ZERO or kind == HALF_NORMAL or kind == LOG_NORMAL
        else value
    )


@part
def log_density_at(likelihood: Any, c: Any, b: Any, p: Any, x: Any) -> Any:
    """Log density of place x of parameter p given everything else, at the inverse temperature of
    the chain."""
    c.parameters[p] = value_at(likelihood, p, x)
    at = seen(likelihood, c)
    total = b.real[BETA] * whole_of_state(at, b, b.whole[COLUMNS]) + own_log_prior(at)
    kind, first, second = likelihood.kind[p], likelihood.first[p], likelihood.second[p]
    if kind == REAL or kind == LOG_NORMAL:
        total -= 0.5 * ((x - first) / second) ** 2
    elif kind == ABOVE_ZERO:
        total += first * x - second * c.parameters[p]
    elif kind == HALF_NORMAL:
        total += x - 0.5 * (c.parameters[p] / second) ** 2
    elif kind == SHARE:
        if abs(x) > MAX_LOGIT:
            return -np.inf
        total -= first * math.log1p(math.exp(-x)) + second * math.log1p(math.exp(x))
    return total


def draw_by_slices(likelihood: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """Each parameter in turn, by a slice sampler with stepping out (Neal 2003), which adapts to any
    scale."""
    for p in range(c.parameters.shape[0]):
        now = place_of(likelihood, p, c.parameters[p])
        kind = likelihood.kind[p]
        width = likelihood.second[p] if kind == REAL or kind == LOG_NORMAL else 1.0
        level = log_density_at(likelihood, c, b, p, now) - rng.standard_exponential()
        low = now - width * rng.random()
        high = low + width
        left = int(rng.random() * MAX_STEPS)
        right = MAX_STEPS - 1 - left
        while left > 0 and log_density_at(likelihood, c, b, p, low) > level:
            low -= width
            left -= 1
        while right > 0 and log_density_at(likelihood, c, b, p, high) > level:
            high += width
            right -= 1
        while True:
            drawn = low + (high - low) * rng.random()
            if log_density_at(likelihood, c, b, p, drawn) >= level or drawn == now:
                break
            if drawn < now:
                low = drawn
            else:
                high = drawn
        c.parameters[p] = value_at(likelihood, p, drawn)
    operations.rebuild_cache(likelihood, c, b)


def note_values(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write them down."""
    for p in range(c.parameters.shape[0]):
        extra[draw, p] = c.parameters[p]
