"""Prior distributions of the parameters of a user-defined likelihood, and draws of parameters."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thali._argument_checks import check_positive
from thali._compile.jit import generic, scalar
from thali._inference.numerics.slice_sampling import draw_within_steps, log_density
from thali._labels import shorten
from thali.errors import ArgumentError

from .. import kernel_operations
from ..chain_state import BETA, COLUMNS, FeatureState
from ..weight_priors import GammaWeights, NormalWeights
from .custom_term_kernels import TermSums, insert_parameters, state_log_likelihood

REAL, ABOVE_ZERO, FLAT, HALF_NORMAL, LOG_NORMAL, UNIT_INTERVAL = range(6)  # codes of priors
MAX_LOGIT = 36.0  # for larger logits a number in (0, 1) rounds to 1
MIN_UNIT = 1.0 / (1.0 + math.exp(MAX_LOGIT))
# parameters of a Beta: smaller ones give logits above MAX_LOGIT a substantial probability
MIN_BETA = 0.5
MAX_STEPS = 60  # maximum number of steps by which the interval of a slice grows
RESERVED_NAMES = (
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
    r"""A normal prior of a parameter, or of weights of either sign.

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
        check_positive("sd", self.sd, "the standard deviation of a prior")
        if (
            isinstance(self.mean, bool)
            or not isinstance(self.mean, int | float)
            or not math.isfinite(self.mean)
        ):
            raise ArgumentError(
                f"`mean`, the mean of a prior, must be a finite number; got {self.mean!r}."
            )

    def encode(self) -> tuple[int, float, float]:
        """Return the prior as (code, mean, sd), which compiled code reads."""
        return REAL, float(self.mean), float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value from the prior."""
        return float(rng.normal(self.mean, self.sd))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of each value."""
        return self.to_weight_prior().log_density(values)

    def to_weight_prior(self) -> NormalWeights:
        """Return the prior as a prior of feature weights of either sign."""
        return NormalWeights(float(self.mean), float(self.sd))


@dataclass(frozen=True)
class Gamma:
    r"""A Gamma prior of a positive parameter, or of positive weights.

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
        check_positive("shape", self.shape, "a parameter of a Gamma distribution")
        check_positive("rate", self.rate, "a parameter of a Gamma distribution")

    def encode(self) -> tuple[int, float, float]:
        """Return the prior as (code, shape, rate), which compiled code reads."""
        return ABOVE_ZERO, float(self.shape), float(self.rate)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value from the prior."""
        return float(rng.gamma(self.shape, 1.0 / self.rate))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of each value; minus infinity at and below 0."""
        is_positive = values > 0.0
        return np.where(
            is_positive,
            self.to_weight_prior().log_density(np.where(is_positive, values, 1.0)),
            -np.inf,
        )

    def to_weight_prior(self) -> GammaWeights:
        """Return the prior as a prior of positive feature weights."""
        return GammaWeights(float(self.shape), float(self.rate))


@dataclass(frozen=True)
class HalfNormal:
    r"""A half-normal prior of a positive parameter, such as a standard deviation.

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
        check_positive("sd", self.sd, "the standard deviation of a prior")

    def encode(self) -> tuple[int, float, float]:
        """Return the prior as (code, 0, sd), which compiled code reads."""
        return HALF_NORMAL, 0.0, float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value from the prior."""
        return abs(float(rng.normal(0.0, self.sd)))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of each value; minus infinity at and below 0."""
        return np.where(
            values > 0.0,
            math.log(2.0) + NormalWeights(0.0, float(self.sd)).log_density(values),
            -np.inf,
        )


@dataclass(frozen=True)
class LogNormal:
    r"""A log-normal prior of a positive parameter: its logarithm is normal.

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

    def encode(self) -> tuple[int, float, float]:
        """Return the prior as (code, mean, sd), which compiled code reads."""
        return LOG_NORMAL, float(self.mean), float(self.sd)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value from the prior."""
        return float(rng.lognormal(self.mean, self.sd))

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of each value; minus infinity at and below 0."""
        is_positive = values > 0.0
        log_values = np.log(np.where(is_positive, values, 1.0))
        return np.where(
            is_positive,
            NormalWeights(float(self.mean), float(self.sd)).log_density(log_values) - log_values,
            -np.inf,
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
            if check_positive(name, value, "a parameter of a Beta distribution") < MIN_BETA:
                raise ArgumentError(
                    f"`{name}`, a parameter of a Beta distribution, must be >= {MIN_BETA:g}; got"
                    f" {value!r}."
                )

    def encode(self) -> tuple[int, float, float]:
        """Return the prior as (code, a, b), which compiled code reads."""
        return UNIT_INTERVAL, float(self.a), float(self.b)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value from the prior."""
        return min(max(float(rng.beta(self.a, self.b)), MIN_UNIT), 1.0 - MIN_UNIT)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of each value; minus infinity outside of 0 and 1."""
        from scipy.special import betaln

        is_inside = (values > 0.0) & (values < 1.0)
        x = np.where(is_inside, values, 0.5)
        log_density = (
            (self.a - 1.0) * np.log(x) + (self.b - 1.0) * np.log1p(-x) - betaln(self.a, self.b)
        )
        return np.where(is_inside, log_density, -np.inf)


PRIORS = Normal, HalfNormal, LogNormal, Gamma, Beta
PRIOR_NAMES = "Normal, HalfNormal, LogNormal, Gamma or Beta"


def check_parameters(parameters: Mapping[str, Any], log_prior: Callable[..., Any] | None) -> None:
    """Raise ArgumentError unless `parameters` maps names to priors."""
    if not isinstance(parameters, Mapping):
        raise ArgumentError(
            "`parameters` must map fields of the data to priors, such as {'intercept': Normal(0,"
            f" 2)}}; got {parameters!r}."
        )
    for parameter_name, prior in parameters.items():
        if parameter_name in RESERVED_NAMES:
            raise ArgumentError(
                f"`parameters`: the name {parameter_name!r} is reserved in posteriors; rename the"
                " field."
            )
        if not isinstance(prior, PRIORS) and not (prior is None and log_prior is not None):
            raise ArgumentError(
                f"The prior of {parameter_name!r} must be {PRIOR_NAMES} of thali.likelihoods, or"
                f" None if log_prior is given; got {prior!r}."
            )
    if log_prior is not None and not parameters:
        raise ArgumentError("`log_prior` requires parameters; list them in `parameters`.")


def read_starting_values(
    parameters: Mapping[str, Any], fields: NamedTuple, log_prior: Callable[..., Any] | None
) -> np.ndarray:
    """Return the parameters' starting values from the fields of the user's data.

    They must be numbers that the priors allow.
    """
    starting_values = []
    for parameter_name, prior in parameters.items():
        starting_value = getattr(fields, parameter_name, None)
        if (
            isinstance(starting_value, bool)
            or not isinstance(starting_value, int | float)
            or not math.isfinite(starting_value)
        ):
            number_fields = shorten(
                [
                    field
                    for field in fields._fields
                    if isinstance(getattr(fields, field), int | float)
                ]
            )
            raise ArgumentError(
                f"The parameter {parameter_name!r} starts at the value of the data field"
                f" {parameter_name!r}, which must be a single finite number; the fields with a"
                f" single number are: {number_fields or 'none'}."
            )
        if prior is not None and not np.isfinite(
            prior.log_density(np.array([float(starting_value)]))[0]
        ):
            raise ArgumentError(
                f"The parameter {parameter_name!r} starts at {starting_value:g}, where its prior"
                f" {prior!r} has density 0; start it at a value that the prior allows."
            )
        starting_values.append(float(starting_value))
    if log_prior is not None and not math.isfinite(
        float(getattr(log_prior, "py_func", log_prior)(fields))
    ):
        raise ArgumentError(
            "log_prior is not finite at the values of the data; change the starting values of the"
            " parameters."
        )
    return np.array(starting_values)


@generic
def user_log_prior(likelihood: Any) -> Any:
    """Return the user's joint log prior of all parameters; default: 0.

    The parameters are fields of likelihood.data.
    """


@user_log_prior.register(object)
def _no_log_prior(likelihood: Any) -> Any:
    """Return 0: by default, the user adds no log prior."""
    return 0.0


@scalar
def value_on_line(likelihood: Any, p: Any, x: Any) -> Any:
    """Return parameter p from its unconstrained value x: its logit, its logarithm or itself.

    The line is the logit for numbers in (0, 1), and the logarithm for positive numbers.
    """
    code = likelihood.kind[p]
    if code == UNIT_INTERVAL:
        return 1.0 / (1.0 + math.exp(-min(max(x, -MAX_LOGIT), MAX_LOGIT)))
    if code == ABOVE_ZERO or code == HALF_NORMAL or code == LOG_NORMAL:
        return math.exp(min(x, 700.0))
    return x


@scalar
def position_on_line(likelihood: Any, p: Any, value: Any) -> Any:
    """Return a value of parameter p unconstrained: its logit, logarithm or itself."""
    code = likelihood.kind[p]
    if code == UNIT_INTERVAL:
        return min(max(math.log(value) - math.log1p(-value), -MAX_LOGIT), MAX_LOGIT)
    if code == ABOVE_ZERO or code == HALF_NORMAL or code == LOG_NORMAL:
        return math.log(value)
    return value


class ParameterLine(NamedTuple):
    """Conditional density of an unconstrained parameter, for slice sampling."""

    likelihood: Any
    c: Any
    b: Any
    p: int


@log_density.register(ParameterLine)
def _log_parameter_density(line: ParameterLine, x: float) -> Any:
    """Return the tempered log conditional density of parameter p at unconstrained x."""
    likelihood, c, b, p = line
    c.parameters[p] = value_on_line(likelihood, p, x)
    likelihood_at = insert_parameters(likelihood, c)
    total = b.real[BETA] * state_log_likelihood(
        likelihood_at, b, b.whole[COLUMNS]
    ) + user_log_prior(likelihood_at)
    code = likelihood.kind[p]
    prior_first = likelihood.first[p]
    prior_second = likelihood.second[p]
    if code == REAL or code == LOG_NORMAL:
        total -= 0.5 * ((x - prior_first) / prior_second) ** 2
    elif code == ABOVE_ZERO:
        total += prior_first * x - prior_second * c.parameters[p]
    elif code == HALF_NORMAL:
        total += x - 0.5 * (c.parameters[p] / prior_second) ** 2
    elif code == UNIT_INTERVAL:
        if abs(x) > MAX_LOGIT:
            return -np.inf
        total -= prior_first * math.log1p(math.exp(-x)) + prior_second * math.log1p(math.exp(x))
    return total


def draw_parameters_by_slice(
    likelihood: Any, rng: np.random.Generator, c: TermSums, b: FeatureState
) -> None:
    """Draw each parameter by slice sampling with stepping out (Neal 2003).

    It adapts to any scale.
    """
    for p in range(c.parameters.size):
        position = position_on_line(likelihood, p, c.parameters[p])
        code = likelihood.kind[p]
        width = 1.0
        if code == REAL or code == LOG_NORMAL:
            width = likelihood.second[p]
        line = ParameterLine(likelihood, c, b, p)
        drawn_position = draw_within_steps(rng, line, position, width, MAX_STEPS)
        c.parameters[p] = value_on_line(likelihood, p, drawn_position)
    kernel_operations.rebuild_cache(likelihood, c, b)


def record_values(
    likelihood: Any, c: TermSums, b: FeatureState, extra: np.ndarray, draw: int
) -> None:
    """Write the values of all parameters into row `draw` of the record."""
    for p in range(c.parameters.size):
        extra[draw, p] = c.parameters[p]
