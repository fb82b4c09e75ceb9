"""Log evidence (marginal likelihood) from tempered log-likelihoods, with checks."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_open_interval
from thali._inference.mbar import estimate_constants
from thali._number_format import format_percent
from thali._object_descriptions import Description, PrintedObject
from thali._printed_result import printed_dataclass
from thali.errors import Argument, Message, Remedy

from .convergence_check import ConvergenceCheck
from .posterior_interval import INTERVAL, describe_interval

if TYPE_CHECKING:
    import pandas

BLOCKS = 10  # blocks of successive draws per chain, for its standard error
CHAINS = 12  # from here on errors are estimated between chains, else between blocks
MAX_DEVIATION = 4.0  # maximum difference of a chain from the mean, in standard errors
DRIFT = 4.0  # maximum difference of the first fifth from the last half, in standard errors
MIN_SWAPS = 0.05  # minimum share of accepted swaps between neighbouring temperatures
WITHIN = 4.0  # maximum difference of the integral from the value, in standard errors, plus the bias


@dataclass(frozen=True)
class ThermodynamicIntegral:
    r"""Log evidence by thermodynamic integration over inverse temperatures.

    With E, V and K the mean, the variance and the third cumulant of the log-likelihood at an
    inverse temperature, each the derivative of the one before, the gaps
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
        Standard error between chains.
    bias : float
        Maximum bias due to the gaps.
    difference : float
        The value less the log evidence by the multistate acceptance ratio.
    difference_se : float
        Its standard error, which is small because both use the same draws.

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
        """Whether both estimates differ by at most four standard errors plus the bias."""
        return abs(self.difference) <= WITHIN * self.difference_se + self.bias

    def __str__(self) -> str:
        text = (
            f"{self.value:.2f} (standard error {self.standard_error:.3f}, bias up to"
            f" {self.bias:.3f})"
        )
        if self.agrees:
            return f"{text}, in agreement"
        return f"{text}, not in agreement"


@printed_dataclass
class LogEvidence(PrintedObject):
    r"""Log evidence of a model with its checks, as `log_evidence` returns it.

    .. math:: \log p(\text{data}) = \log \int p(\text{data} \mid \theta)\, p(\theta)\, d\theta

    Attributes
    ----------
    value : float
        Natural logarithm, with all constants (binomial coefficients included).
    standard_error : float
    df : float
        Degrees of freedom of the standard error; infinite if it is exact.
    usable : bool
        Whether the convergence check allows to use the value.
    convergence : ConvergenceCheck
        Facts, and a sentence with remedies.
    estimates : ndarray (chains,)
        The estimate of each independent chain.
    path : pandas.DataFrame
        One row per temperature, from the posterior (inverse temperature 1) to the prior (0):
        inverse_temperature, log_likelihood (mean under that power of the likelihood),
        log_likelihood_sd, log_evidence (log of the integral of prior x likelihood to that power)
        and swap_rate with the next row. Empty if the method uses no temperatures.
    sensitivity : pandas.DataFrame or None
        With ``sensitivity=True``, one row per change of the prior: log_evidence, std_error and
        difference.
    thermodynamic : ThermodynamicIntegral or None
        The value by thermodynamic integration, for a check: `.value`, `.standard_error`, `.bias`,
        `.difference` from the value above, and whether it `.agrees`. None if a draw from the prior
        has a likelihood of 0, for a single chain, and if the method uses no temperatures.

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
    thermodynamic: ThermodynamicIntegral | None = None

    @property
    def usable(self) -> bool:
        """Whether the convergence check passed, so that the value may be used."""
        return self.convergence.agrees

    def interval(self, probability: float = INTERVAL) -> tuple[float, float]:
        """Return the interval that contains the log evidence with this probability, by Student's t.

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

        level = check_open_interval("probability", probability, "that of the interval")
        half_width = 0.0
        if self.standard_error:
            half_width = self.standard_error * float(stdtrit(self.df, 0.5 + 0.5 * level))
        return self.value - half_width, self.value + half_width

    def _description(self) -> Description:
        """Return what `print` shows: value, standard error, interval, checks."""
        low, high = self.interval()
        facts = [("standard error", f"{self.standard_error:.3f} ({self.df:g} degrees of freedom)")]
        facts += [(f"{describe_interval()}", f"{low:.2f} to {high:.2f}")]
        if self.thermodynamic is not None:
            facts += [("thermodynamic", str(self.thermodynamic))]
        return Description(
            f"Log evidence {self.value:.2f}",
            tuple(facts),
            table=self.sensitivity,
            note=str(self.convergence),
            good=self.usable,
        )


def estimate_log_evidence(
    inverse_temperatures: np.ndarray,
    log_likelihoods: np.ndarray,
    swap_rates: np.ndarray,
    log_constant: float,
) -> LogEvidence:
    """Estimate the log evidence from log-likelihoods (chains, draws, temperatures)."""
    import pandas as pd

    n_chains, n_draws, _ = log_likelihoods.shape
    constants = estimate_constants(inverse_temperatures, log_likelihoods, min(BLOCKS, n_draws))
    influence = constants.influence[..., 0]
    log_evidence = float(constants.log_z[0]) + log_constant
    chain_influence = influence.sum(axis=1)
    standard_error, df = compute_influence_error(influence)
    with np.errstate(invalid="ignore"):
        mean_log_likelihood = log_likelihoods.mean(axis=(0, 1)) + log_constant
        sd_log_likelihood = log_likelihoods.std(axis=(0, 1))
    path = pd.DataFrame(
        {
            "inverse_temperature": inverse_temperatures,
            "log_likelihood": mean_log_likelihood,
            "log_likelihood_sd": sd_log_likelihood,
            "log_evidence": constants.log_z + inverse_temperatures * log_constant,
            "swap_rate": np.append(swap_rates, np.nan),
        }
    )
    facts = {
        "chains": n_chains,
        "draws": n_draws,
        "temperatures": inverse_temperatures.size,
        "swap_rate": float(swap_rates.min()),
        "apart": compute_chain_deviation(influence),
        "drift": _compute_drift(influence),
    }
    estimates = log_evidence + n_chains * chain_influence
    integral = integrate_log_likelihood(
        inverse_temperatures, log_likelihoods, log_constant, log_evidence, estimates
    )
    return LogEvidence(
        log_evidence, standard_error, df, _assess_chains(facts), estimates, path, None, integral
    )


def compute_influence_error(influence: np.ndarray) -> tuple[float, float]:
    """Return standard error and degrees of freedom of the log evidence, from influences of blocks.

    Chains are independent, and blocks nearly so. For a dozen chains or more, the larger of the
    errors between and within chains is used, because a dozen chains may be close together by
    chance.
    """
    n_chains, n_blocks = influence.shape
    if n_chains < CHAINS:
        return math.sqrt(
            float((influence**2).sum()) / (1.0 - 1.0 / influence.size)
        ), influence.size - 1.0
    chain_influence = influence.sum(axis=1)
    between_chains = math.sqrt(float(chain_influence @ chain_influence) / (1.0 - 1.0 / n_chains))
    return max(
        (between_chains, n_chains - 1.0),
        (
            math.sqrt(influence.size * _compute_variance_within_chains(influence)),
            n_chains * (n_blocks - 1.0),
        ),
    )


def compute_chain_deviation(influence: np.ndarray) -> float:
    """Return the largest deviation of one chain's estimate, in standard errors.

    `influence` has the influence of blocks of draws, shape (chains, blocks).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(
            np.abs(influence.sum(axis=1)).max()
            / np.sqrt(influence.shape[1] * _compute_variance_within_chains(influence))
        )


def _compute_variance_within_chains(influence: np.ndarray) -> Any:
    """Return the variance of the influences of blocks, within chains."""
    return influence.var(axis=1, ddof=1).mean()


def _compute_drift(influence: np.ndarray) -> float:
    """Return |z| of the difference between early and late draws, from influences of blocks."""
    # Chains started from one point agree trivially, so compare early and late draws.
    n_chains, n_blocks = influence.shape
    n_early = n_blocks // 5
    n_late = n_blocks // 2
    differences = influence[:, :n_early].mean(axis=1) - influence[:, -n_late:].mean(axis=1)
    if n_chains >= CHAINS:
        variance = differences.var(ddof=1)
    else:
        variance = _compute_variance_within_chains(influence) * (1.0 / n_early + 1.0 / n_late)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.abs(differences.sum()) / np.sqrt(n_chains * variance))


def _assess_chains(facts: dict[str, Any]) -> ConvergenceCheck:
    """Return the check of agreement of chains, drift, and swap rates of temperatures."""
    chains_text = (
        f"{facts['chains']} chains of {facts['draws']:,} draws at {facts['temperatures']}"
        " temperatures"
    )
    swaps_text = f"{format_percent(facts['swap_rate'])} of attempts (target: at least"
    swaps_text += f" {format_percent(MIN_SWAPS)})"
    ending: tuple[Any, ...] = (".",)
    if not facts["swap_rate"] >= MIN_SWAPS:
        fault = f"in {chains_text}, adjacent temperatures swap in only {swaps_text}"
        ending = (", which also improves the choice of temperatures.",)
    elif not facts["apart"] <= MAX_DEVIATION:
        fault = (
            f"the {chains_text} differ by up to {facts['apart']:.1f} standard errors (target: at"
            f" most {MAX_DEVIATION:g}), so they explored different features"
        )
    elif not facts["drift"] <= DRIFT:
        fault = (
            f"the {chains_text} still depend on their starting points: the first fifth of the draws"
            f" differs from the second half by {facts['drift']:.1f} standard errors (target: at"
            f" most {DRIFT:g})"
        )
        ending = (" and increase ", Argument("tune"), " in proportion.")
    else:
        agreement = (
            f"The {chains_text} agree: they differ by at most {facts['apart']:.1f} standard errors"
            f" (target: at most {MAX_DEVIATION:g}), do not drift, and adjacent temperatures swap"
            f" in at least {swaps_text}."
        )
        return ConvergenceCheck(True, facts, Message(agreement))
    remedy = Remedy("draws", 4 * facts["draws"])
    message = Message(f"The log evidence is not usable: {fault}; repeat with ", remedy, *ending)
    return ConvergenceCheck(False, facts, message)


# Thermodynamic integration along temperatures, an independent check of the log evidence -----------


def integrate_log_likelihood(
    inverse_temperatures: np.ndarray,
    log_likelihoods: np.ndarray,
    log_constant: float,
    log_evidence: float,
    evidence_by_chain: np.ndarray,
) -> ThermodynamicIntegral | None:
    """Integrate the mean log-likelihood over inverse temperatures; compare with `log_evidence`.

    None for one chain, and if a draw from the prior has a likelihood of 0.
    """
    temperature_gaps = -np.diff(inverse_temperatures)
    n_chains = len(log_likelihoods)
    if n_chains < 2 or not np.isfinite(log_likelihoods).all():
        return None
    cumulants = compute_cumulants(log_likelihoods.reshape(1, -1, inverse_temperatures.size))
    integral = float(integrate_trapezoids(temperature_gaps, cumulants)[0]) + log_constant
    integral_by_chain = (
        integrate_trapezoids(temperature_gaps, compute_cumulants(log_likelihoods)) + log_constant
    )
    bias = float(np.abs(compute_next_order_terms(temperature_gaps, cumulants)).sum())
    standard_error, difference_error = (
        float(estimates_by_chain.std(ddof=1) / math.sqrt(n_chains))
        for estimates_by_chain in (integral_by_chain, integral_by_chain - evidence_by_chain)
    )
    return ThermodynamicIntegral(
        integral, standard_error, bias, integral - log_evidence, difference_error
    )


def compute_cumulants(log_likelihoods: np.ndarray) -> np.ndarray:
    """Return mean, variance, third cumulant of log-likelihoods, (3, chains, temperatures)."""
    mean = log_likelihoods.mean(axis=1)
    centred = log_likelihoods - mean[:, None]
    return np.stack([mean, (centred**2).mean(axis=1), (centred**3).mean(axis=1)])


def integrate_trapezoids(temperature_gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """Return trapezoid sums with second-order correction, shape (chains,).

    `cumulants` has shape (3, chains, temperatures).
    """
    mean, variance, _ = cumulants
    trapezoids = temperature_gaps * (mean[:, 1:] + mean[:, :-1]) / 2.0
    return (trapezoids + temperature_gaps**2 * np.diff(variance, axis=1) / 12.0).sum(axis=1)


def compute_next_order_terms(temperature_gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """Return the third-order error term of each gap between temperatures."""
    _, variance, third_cumulant = cumulants
    return (
        temperature_gaps**3 * (third_cumulant[:, 1:] + third_cumulant[:, :-1]) / 120.0
        + temperature_gaps**2 * np.diff(variance, axis=1) / 60.0
    )
