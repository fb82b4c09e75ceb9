"""The log evidence of a model: its value, its error, and whether it can be used."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import check_open_interval
from thali._described import Described, Description, as_text
from thali._digits import format_percent
from thali._inference.mbar import estimate_constants
from thali.errors import Argument, Message, Remedy

from .convergence import ConvergenceCheck
from .interval import INTERVAL, interval_name

if TYPE_CHECKING:
    import pandas

BLOCKS = 10  # of successive draws of a chain, by which its own error is known
CHAINS = 12  # from which on errors are those between chains; of fewer, those between blocks
MAX_DEVIATION = 4.0  # own errors by which the estimate of a chain may differ from that of all
DRIFT = 4.0  # errors by which the first fifth of the draws may differ from the second half
MIN_SWAPS = 0.05  # share of accepted swaps between neighbouring temperatures
WITHIN = 4.0  # standard errors, beside the bias, by which the integral may differ from the value


@dataclass(frozen=True)
class Thermodynamic:
    r"""The log evidence as the integral of the mean log-likelihood over inverse temperatures.

    With E, V and K the mean, the variance and the third cumulant of the log-likelihood at an
    inverse temperature, of which each is the derivative of the one before, the gaps
    :math:`\Delta_t` of the path give

    .. math::

        \sum_t \Bigl( \Delta_t \frac{E_t + E_{t+1}}{2} - \Delta_t^2 \frac{V_t - V_{t+1}}{12} \Bigr),

    the trapezoids and their second-order term, and, to the next order, a bias that is at most about

    .. math::

        \sum_t \Bigl| \Delta_t^3 \frac{K_t
        + K_{t+1}}{120} - \Delta_t^2 \frac{V_t - V_{t+1}}{60} \Bigr|.

    Attributes
    ----------
    value : float
    standard_error : float
        Between chains.
    bias : float
        What the gaps may add or take away.
    difference : float
        The value less the log evidence by the multistate acceptance ratio.
    difference_se : float
        Its standard error, which is small because both are of the same draws.

    References
    ----------
    Gelman & Meng (1998), Simulating normalizing constants; the rules are those of Hermite
    interpolation with one derivative and with two.
    """

    value: float
    standard_error: float
    bias: float
    difference: float
    difference_se: float

    @property
    def agrees(self) -> bool:
        """Whether the difference lies within four of its standard errors and the bias."""
        return abs(self.difference) <= WITHIN * self.difference_se + self.bias

    def __str__(self) -> str:
        return (
            f"{self.value:.2f} (standard error {self.standard_error:.3f}, bias up to"
            f" {self.bias:.3f}), {'in agreement' if self.agrees else 'not in agreement'}"
        )


@dataclass(frozen=True, repr=False, eq=False)
class LogEvidence(Described):
    r"""The log evidence of a model, as `log_evidence` of the model returns it; `print` shows it
    with its check.

    .. math:: \log p(\text{data}) = \log \int p(\text{data} \mid \theta)\, p(\theta)\, d\theta

    Attributes
    ----------
    value : float
        Natural logarithm, no constant of the data left out (binomial coefficients included).
    standard_error : float
    df : float
        Degrees of freedom of the standard error; infinite where it is exact.
    usable : bool
        Whether the convergence check allows to use the value.
    convergence : ConvergenceCheck
        Facts, and a sentence that says what to do otherwise.
    estimates : ndarray (chains,)
        The estimate of each independent chain.
    path : pandas.DataFrame
        A row a temperature, from the posterior (inverse temperature 1) to the prior (0):
        inverse_temperature, log_likelihood (mean under that power of the likelihood),
        log_likelihood_sd, log_evidence (log of the integral of prior x likelihood to that power)
        and swap_rate with the next row. Empty where the value was not found along temperatures.
    sensitivity : pandas.DataFrame or None
        With ``sensitivity=True`` a row a change of the prior: log_evidence, std_error and
        difference.
    thermodynamic : Thermodynamic or None
        The value by thermodynamic integration, for a check: `.value`, `.standard_error`, `.bias`,
        `.difference` from the value above, and whether it `.agrees`. Missing where a draw from the
        prior has a likelihood of 0, of a single chain, and where the value was not found along
        temperatures.

    Examples
    --------
    >>> import numpy as np, thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.PairedComparisons(np.array([[0, 3], [1, 0]])),
    ...     draws=50,
    ...     tune=50,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> found = model.log_evidence(draws=100, tune=50, random_seed=1, progressbar=False)
    >>> bool(abs(found.value - np.log(4 / 20)) < 0.2)  # 4 x Beta(4, 2), and a lapse of .01
    True
    """

    value: float
    standard_error: float
    df: float
    convergence: ConvergenceCheck
    estimates: np.ndarray
    path: "pandas.DataFrame"
    sensitivity: "pandas.DataFrame | None" = None
    thermodynamic: Thermodynamic | None = None

    @property
    def usable(self) -> bool:
        """Whether the convergence check allows to use the value."""
        return self.convergence.agrees

    def interval(self, probability: float = INTERVAL) -> tuple[float, float]:
        """The interval that holds the log evidence with this probability, by Student's t.

        Parameters
        ----------
        probability : float between 0 and 1

        Returns
        -------
        (low, high)

        Raises
        ------
        ArgumentError
            If the probability is not between 0 and 1.
        """
        from scipy.special import stdtrit

        wanted = check_open_interval("probability", probability, "that of the interval")
        half = (
            self.standard_error * float(stdtrit(self.df, 0.5 + 0.5 * wanted))
            if self.standard_error
            else 0.0
        )
        return self.value - half, self.value + half

    def _description(self) -> Description:
        low, high = self.interval()
        facts = [("standard error", f"{self.standard_error:.3f} ({self.df:g} degrees of freedom)")]
        facts += [(f"{interval_name()}", f"{low:.2f} to {high:.2f}")]
        if self.thermodynamic is not None:
            facts += [("thermodynamic", str(self.thermodynamic))]
        return Description(
            f"Log evidence {self.value:.2f}",
            tuple(facts),
            table=self.sensitivity,
            note=str(self.convergence),
            good=self.usable,
        )

    def __str__(self) -> str:
        return as_text(self._description())

    __repr__ = __str__


def along_temperatures(
    beta: np.ndarray, energies: np.ndarray, swap_rates: np.ndarray, log_constant: float
) -> LogEvidence:
    """The log evidence from log-likelihoods (chains, draws, temperatures) of independent chains."""
    import pandas as pd

    chains, draws, _ = energies.shape
    blocks = min(BLOCKS, draws)
    found = estimate_constants(beta, energies, blocks)
    influence = found.influence[..., 0]
    value, of_chain = float(found.log_z[0]) + log_constant, influence.sum(axis=1)
    error, df = standard_error_of(influence)
    with np.errstate(invalid="ignore"):
        mean, sd = energies.mean(axis=(0, 1)) + log_constant, energies.std(axis=(0, 1))
    path = pd.DataFrame(
        {
            "inverse_temperature": beta,
            "log_likelihood": mean,
            "log_likelihood_sd": sd,
            "log_evidence": found.log_z + beta * log_constant,
            "swap_rate": np.append(swap_rates, np.nan),
        }
    )
    facts = {
        "chains": chains,
        "draws": draws,
        "temperatures": beta.size,
        "swap_rate": float(swap_rates.min()),
        "apart": chain_deviation(influence),
        "drift": _drift(influence),
    }
    estimates = value + chains * of_chain
    integral = integrated(beta, energies, log_constant, value, estimates)
    return LogEvidence(value, error, df, _judged(facts), estimates, path, None, integral)


def standard_error_of(influence: np.ndarray) -> tuple[float, float]:
    """The standard error and its degrees of freedom, from the influence of blocks of draws (chains,
    blocks).

    Chains are independent, and blocks nearly so. Of a dozen chains or more the error is the larger
    one of that between chains and that within them, since a dozen may happen to lie close together.
    """
    chains, blocks = influence.shape
    if chains < CHAINS:
        return math.sqrt(
            float((influence**2).sum()) / (1.0 - 1.0 / influence.size)
        ), influence.size - 1.0
    of_chain = influence.sum(axis=1)
    between = math.sqrt(float(of_chain @ of_chain) / (1.0 - 1.0 / chains))
    return max(
        (between, chains - 1.0),
        (math.sqrt(influence.size * _within(influence)), chains * (blocks - 1.0)),
    )


def chain_deviation(influence: np.ndarray) -> float:
    """By how many of its own errors a chain differs at most, from the influence of blocks of draws
    (chains, blocks)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(
            np.abs(influence.sum(axis=1)).max() / np.sqrt(influence.shape[1] * _within(influence))
        )


def _within(influence: np.ndarray) -> Any:
    """The variance of the influence of a block about that of its chain."""
    return influence.var(axis=1, ddof=1).mean()


def _drift(influence: np.ndarray) -> float:
    """By how many errors the first fifth of the draws differs from the second half."""
    # Chains that begin elsewhere, all alike, agree with each other.
    chains, blocks = influence.shape
    early, late = blocks // 5, blocks // 2
    difference = influence[:, :early].mean(axis=1) - influence[:, -late:].mean(axis=1)
    variance = (
        difference.var(ddof=1)
        if chains >= CHAINS
        else _within(influence) * (1.0 / early + 1.0 / late)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.abs(difference.sum()) / np.sqrt(chains * variance))


def _judged(facts: dict[str, Any]) -> ConvergenceCheck:
    """Whether the chains agree, within their own errors, do not drift, and swap between
    temperatures."""
    of_chains = (
        f"{facts['chains']} chains of {facts['draws']:,} draws at {facts['temperatures']}"
        " temperatures"
    )
    more = Remedy("draws", 4 * facts["draws"])
    if not facts["swap_rate"] >= MIN_SWAPS:
        sentence = (
            f"The log evidence is not usable: adjacent temperatures of {of_chains} swap in"
            f" {format_percent(facts['swap_rate'])} of attempts (target: at least"
            f" {format_percent(MIN_SWAPS)}); repeat with ",
            more,
            ", which also improves the choice of temperatures.",
        )
    elif not facts["apart"] <= MAX_DEVIATION:
        sentence = (
            f"The log evidence is not usable: the {of_chains} differ by up to {facts['apart']:.1f}"
            f" standard errors (target: at most {MAX_DEVIATION:g}), so they explored different"
            " features; repeat with ",
            more,
            ".",
        )
    elif not facts["drift"] <= DRIFT:
        sentence = (
            f"The log evidence is not usable: the {of_chains} still depend on their starting"
            " points: the first fifth of the draws differs from the second half by"
            f" {facts['drift']:.1f} standard errors (target: at most {DRIFT:g}); repeat with ",
            more,
            " and increase ",
            Argument("tune"),
            " likewise.",
        )
    else:
        sentence = (
            f"The {of_chains} agree: they differ by at most {facts['apart']:.1f} standard errors"
            f" (target: at most {MAX_DEVIATION:g}), do not drift, and adjacent temperatures swap"
            f" in at least {format_percent(facts['swap_rate'])} of attempts (target: at least"
            f" {format_percent(MIN_SWAPS)}).",
        )
        return ConvergenceCheck(True, facts, Message(*sentence))
    return ConvergenceCheck(False, facts, Message(*sentence))


# Thermodynamic integration along temperatures: a check of the log evidence by other means ---------


def integrated(
    beta: np.ndarray, energies: np.ndarray, log_constant: float, value: float, estimates: np.ndarray
) -> Thermodynamic | None:
    """The integral, and how it differs from a value; None of one chain, and where the prior draws a
    likelihood of 0."""
    gaps, chains = -np.diff(beta), len(energies)
    if chains < 2 or not np.isfinite(energies).all():
        return None
    cumulants = cumulants_of(energies.reshape(1, -1, beta.size))
    integral = float(integral_of(gaps, cumulants)[0]) + log_constant
    of_chain = integral_of(gaps, cumulants_of(energies)) + log_constant
    bias = float(np.abs(next_order_of(gaps, cumulants)).sum())
    error, difference_error = (
        float(each.std(ddof=1) / math.sqrt(chains)) for each in (of_chain, of_chain - estimates)
    )
    return Thermodynamic(integral, error, bias, integral - value, difference_error)


def cumulants_of(energies: np.ndarray) -> np.ndarray:
    """Mean, variance and third cumulant (3, chains, temperatures) of log-likelihoods (chains,
    draws, temperatures)."""
    mean = energies.mean(axis=1)
    centred = energies - mean[:, None]
    return np.stack([mean, (centred**2).mean(axis=1), (centred**3).mean(axis=1)])


def integral_of(gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """The trapezoids and their second-order term, of cumulants (3, chains, temperatures):
    (chains,)."""
    mean, variance, _ = cumulants
    trapezoids = gaps * (mean[:, 1:] + mean[:, :-1]) / 2.0
    return (trapezoids + gaps**2 * np.diff(variance, axis=1) / 12.0).sum(axis=1)


def next_order_of(gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """What the third cumulant adds to that in each gap, of cumulants (3, chains, temperatures)."""
    _, variance, third = cumulants
    return (
        gaps**3 * (third[:, 1:] + third[:, :-1]) / 120.0
        + gaps**2 * np.diff(variance, axis=1) / 60.0
    )
