"""Messages about the quality of a fit: point estimates, slow temperature swaps, odd sigma."""

import numpy as np

from thali._number_format import format_percent
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.posterior_tree import Posterior
from thali.errors import Argument, Message, Setting

from ..samplers.tempering import MIN_SWAP_RATE
from .saved_posterior_layout import REACHED, RESTARTS


def build_point_check(posterior: Posterior) -> ConvergenceCheck:
    """Return the convergence check of annealed runs: how many reached the best point."""
    n_restarts = int(posterior.attributes[RESTARTS])
    n_reached = int(posterior.attributes[REACHED])
    run_text = f"reached by {n_reached} of {n_restarts} annealed runs"
    advice: tuple[object, ...] = ()
    if n_reached <= 1:
        advice = "; more runs may find a better one, so increase ", Setting("chains", n_restarts)
    return ConvergenceCheck(
        False,
        {"restarts": n_restarts, "reached": n_reached},
        Message(
            f"This is the most probable set of features found ({run_text}). It is a point estimate"
            " without uncertainty",
            *advice,
            "; for probabilities, set ",
            Setting("method", "mcmc"),
            ".",
        ),
    )


# Rates of swaps between neighbouring temperatures -------------------------------------------------


def describe_slow_swaps(posterior: Posterior) -> Message | None:
    """Return a warning about rarely accepted temperature swaps; None if they are frequent."""
    stats = posterior.stats
    if "swap_rate" not in stats:
        return None
    swap_rates = stats["swap_rate"].values
    temperatures = stats["temperature"].values
    if not np.isfinite(swap_rates).any() or np.nanmin(swap_rates) >= MIN_SWAP_RATE:
        return None
    chain_index, gap_index = np.unravel_index(np.nanargmin(swap_rates), swap_rates.shape)
    lower_temperature = temperatures[chain_index, gap_index]
    upper_temperature = temperatures[chain_index, gap_index + 1]
    return Message(
        f"Replicas at temperatures {lower_temperature:.3g} and {upper_temperature:.3g} swap in"
        f" {100 * swap_rates[chain_index, gap_index]:.2g} % of attempts (target: at least"
        f" {format_percent(MIN_SWAP_RATE)}),"
        " so few states from hot replicas reach temperature 1; increase ",
        Argument("tune"),
        ", during which temperatures are added, or start with more temperatures (",
        Argument("tempering"),
        ").",
    )


# Plausibility of a sigma that the user did not give -----------------------------------------------


MIN_NOISE, MAX_NOISE = 0.1, 0.7  # sigma as a fraction of the sd of the similarities
# the fraction that predicted held-out similarities best (benchmarks/similarity_sigma.py)
BEST_NOISE = 0.45


def describe_odd_sigma(posterior: Posterior, was_chosen: bool) -> Message | None:
    """Return a warning about an implausible sigma of similarities; None if plausible."""
    # Few similarities contain little information on their precision: noise alone explains them as
    # well as a feature for nearly every pair.
    was_learned = posterior.learned_sigma
    if not was_learned and not was_chosen:
        return None
    judgements = posterior.judgements
    similarities = posterior.similarities
    sigma = float(posterior.sigma.mean())
    typical_error = float(np.sqrt(np.mean(1.0 / judgements)))
    similarity_sd = float(np.std(similarities))
    noise_share = MAX_NOISE
    if np.ptp(similarities) > 0.0:
        noise_share = sigma * typical_error / similarity_sd
    if MIN_NOISE <= noise_share <= MAX_NOISE or (was_chosen and noise_share < MIN_NOISE):
        return None
    judgement_note = ""
    sigma_source = "cross-validated"
    if (judgements != 1).any():
        judgement_note = ", after allowing for the number of judgements of each"
    if was_learned:
        sigma_source = "estimated"
    finding_text = (
        f"The {sigma_source} sigma, {sigma:.2g}, is {100 * noise_share:.3g} % of the standard"
        f" deviation of the similarities{judgement_note}"
    )
    if noise_share > MAX_NOISE:
        return Message(
            f"{finding_text}. The features explain little. Set sigma if you know it, or a"
            " weight_prior whose mean matches the scale of the similarities."
        )
    return Message(
        f"{finding_text}. The features also fit noise, because so few judgements contain little"
        " information on their precision. Set sigma if you know it, or try ",
        Setting("sigma", float(f"{BEST_NOISE * similarity_sd / typical_error:.2g}")),
        ", which usually predicts held-out similarities best.",
    )
