"""Notes on a fit besides the agreement of its chains: a single answer, swaps of temperatures,
sigma."""

import numpy as np

from thali._digits import percent
from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.view import Posterior
from thali.errors import Argument, Message, Setting

from ..samplers.tempering import MIN_SWAP_RATE
from .stored_layout import REACHED, RESTARTS


def point_convergence(posterior: Posterior) -> ConvergenceCheck:
    """How many runs found it, and what it is not."""
    restarts, reached = int(posterior.attributes[RESTARTS]), int(posterior.attributes[REACHED])
    found = f"reached by {reached} of {restarts} annealed runs"
    more = (
        ()
        if reached > 1
        else ("; more runs may find a better one, so increase ", Setting("chains", restarts))
    )
    return ConvergenceCheck(
        False,
        {"restarts": restarts, "reached": reached},
        Message(
            f"This is the most probable set of features found ({found}). It is a point estimate"
            " without uncertainty",
            *more,
            "; for probabilities, set ",
            Setting("method", "mcmc"),
            ".",
        ),
    )


# Rates of swaps between neighbouring temperatures -------------------------------------------------


def swap_sentence(posterior: Posterior) -> Message | None:
    """A sentence about a poor ladder of temperatures and its remedy; None if it is good or there is
    none."""
    stats = posterior.stats
    if "swap_rate" not in stats:
        return None
    rates, temperatures = stats["swap_rate"].values, stats["temperature"].values
    if not np.isfinite(rates).any() or np.nanmin(rates) >= MIN_SWAP_RATE:
        return None
    chain, gap = np.unravel_index(np.nanargmin(rates), rates.shape)
    lower, upper = temperatures[chain, gap], temperatures[chain, gap + 1]
    return Message(
        f"Replicas at temperatures {lower:.3g} and {upper:.3g} swap in"
        f" {100 * rates[chain, gap]:.2g} % of attempts (target: at least {percent(MIN_SWAP_RATE)}),"
        " so few states from hot replicas reach temperature 1; increase ",
        Argument("tune"),
        ", during which temperatures are added, or start with more temperatures (",
        Argument("tempering"),
        ").",
    )


# Whether the standard deviation of the similarities makes sense where the user did not give it ----


MIN_NOISE, MAX_NOISE = 0.1, 0.7  # of the standard deviation of the similarities
# of it, near which similarities left out were predicted best on real data
# (benchmarks/learned_sigma.py)
USUAL = 0.45


def noise_sentence(posterior: Posterior, was_chosen: bool) -> Message | None:
    """A sentence about a sigma, learned or chosen by cross-validation, far from that of usual
    judgements; else None."""
    # Few similarities say little about their own precision: noise alone explains them as well, or a
    # feature for nearly every pair.
    was_learned = posterior.learned_sigma
    if not was_learned and not was_chosen:
        return None
    judgements, similarities = posterior.judgements, posterior.similarities
    found = float(posterior.sigma.mean())
    of_typical = float(np.sqrt(np.mean(1.0 / judgements)))
    spread = float(np.std(similarities))
    share = found * of_typical / spread if np.ptp(similarities) > 0.0 else MAX_NOISE
    if MIN_NOISE <= share <= MAX_NOISE or (was_chosen and share < MIN_NOISE):
        return None
    judged = " (given the numbers of judgements)" if (judgements != 1).any() else ""
    how = "estimated" if was_learned else "cross-validated"
    size = (
        f"The {how} sigma, {found:.2g}, is {100 * share:.3g} % of the standard deviation of the"
        f" similarities{judged}"
    )
    if share > MAX_NOISE:
        return Message(
            f"{size}. The features explain little. Set sigma if you know it, or a weight_prior"
            " whose mean matches the scale of the similarities."
        )
    return Message(
        f"{size}. The features also fit noise, because so few judgements contain little"
        " information on their precision. Set sigma if you know it, or try ",
        Setting("sigma", float(f"{USUAL * spread / of_typical:.2g}")),
        ", which usually predicts held-out similarities best.",
    )
