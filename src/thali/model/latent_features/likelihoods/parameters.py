"""Parameters of a user's likelihood: numbers among the fields of the data that are learned, not known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._arguments import positive
from thali.compile.jit import generic, part, scalar
from thali.errors import ArgumentError

from .. import operations
from ..state import BETA, COLUMNS
from ..weight_priors import GammaWeights, NormalWeights
from .term_sums import seen, whole_of_state

REAL, ABOVE_ZERO, FLAT = range(3)  # kinds of priors
MOST_STEPS = 60  # by which the interval of a slice grows on either side
TAKEN = ("alpha", "chain", "draw", "features", "log_likelihood", "n_features", "option", "unique_weights", "weights")


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
        if isinstance(self.mean, bool) or not isinstance(self.mean, int | float) or not math.isfinite(self.mean):
            raise ArgumentError(f"mean is the mean of a prior and must be a finite number; got {self.mean!r}.")

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


def check_parameters(parameters: Any, log_prior: Any) -> None:
    """Raise ArgumentError for what is no mapping from names to priors."""
    if not isinstance(parameters, Mapping):
        raise ArgumentError(
            "parameters must be a mapping from names of fields of the data to their priors, such as "
            f"{{'intercept': Normal(0, 2)}}; got {parameters!r}."
        )
    for name, prior in parameters.items():
        if name in TAKEN:
            raise ArgumentError(f"parameters: {name!r} is what a posterior calls something else; rename the field.")
        if not isinstance(prior, Normal | Gamma) and not (prior is None and log_prior is not None):
            raise ArgumentError(
                f"The prior of {name!r} must be Normal(mean, sd) or Gamma(shape, rate) of thali.likelihoods, or None "
                f"beside log_prior; got {prior!r}."
            )
    if log_prior is not None and not parameters:
        raise ArgumentError("log_prior is the prior of parameters, and there are none; name them in parameters.")


def start_of(parameters: Mapping[str, Any], fields: Any, log_prior: Any) -> np.ndarray:
    """Where chains start: the values of the fields, which must be numbers that the priors allow."""
    values = []
    for name, prior in parameters.items():
        value = getattr(fields, name, None)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            known = ", ".join(each for each in fields._fields if isinstance(getattr(fields, each), int | float))
            raise ArgumentError(
                f"The parameter {name!r} must be a finite number among the fields of the data, at which the chains "
                f"start; numbers are {known or 'none of them'}."
            )
        if prior is not None and not np.isfinite(prior.log_density(np.array([float(value)]))[0]):
            raise ArgumentError(
                f"The parameter {name!r} starts at {value:g}, where its prior {prior!r} has no density; give the field "
                "a value that the prior allows."
            )
        values.append(float(value))
    if log_prior is not None and not math.isfinite(float(getattr(log_prior, "py_func", log_prior)(fields))):
        raise ArgumentError(
            "log_prior is not finite at the values of the data; give the parameters others to start at."
        )
    return np.array(values)


@generic
def own_log_prior(likelihood: Any) -> None:
    """The user's joint log prior of the parameters, which are fields of likelihood.data; default: 0."""


@own_log_prior.register(object)
def _no_log_prior(likelihood: Any) -> Any:
    return 0.0


@scalar
def value_at(likelihood: Any, p: Any, x: Any) -> Any:
    """The value of parameter p at place x of the line on which it is drawn."""
    return math.exp(min(x, 700.0)) if likelihood.kind[p] == ABOVE_ZERO else x


@part
def log_density_at(likelihood: Any, c: Any, b: Any, p: Any, x: Any) -> Any:
    """Log density of place x of parameter p given everything else, at the inverse temperature of the chain."""
    c.parameters[p] = value_at(likelihood, p, x)
    at = seen(likelihood, c)
    total = b.real[BETA] * whole_of_state(at, b, b.whole[COLUMNS]) + own_log_prior(at)
    if likelihood.kind[p] == REAL:
        total -= 0.5 * ((x - likelihood.first[p]) / likelihood.second[p]) ** 2
    elif likelihood.kind[p] == ABOVE_ZERO:
        total += likelihood.first[p] * x - likelihood.second[p] * c.parameters[p]
    return total


def draw_by_slices(likelihood: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """Each parameter in turn, by a slice sampler with stepping out (Neal 2003), which adapts to any scale."""
    for p in range(c.parameters.shape[0]):
        now = math.log(c.parameters[p]) if likelihood.kind[p] == ABOVE_ZERO else c.parameters[p]
        width = likelihood.second[p] if likelihood.kind[p] == REAL else 1.0
        level = log_density_at(likelihood, c, b, p, now) - rng.standard_exponential()
        low = now - width * rng.random()
        high = low + width
        left = int(rng.random() * MOST_STEPS)
        right = MOST_STEPS - 1 - left
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
    operations.rebuild(likelihood, c, b)


def note_values(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write them down."""
    for p in range(c.parameters.shape[0]):
        extra[draw, p] = c.parameters[p]
