"""Notes on a fit besides the agreement of its chains: a single answer, swaps of temperatures, sigma."""

import numpy as np

from thali._posterior.verdict import Verdict
from thali._posterior.view import Posterior
from thali.errors import Argument, Message, Setting

from ..samplers.tempering import LOWEST_RATE
from .stored_layout import REACHED, RESTARTS


def point_verdict(posterior: Posterior) -> Verdict:
    """How many runs found it, and what it is not."""
    restarts, reached = int(posterior.attributes[RESTARTS]), int(posterior.attributes[REACHED])
    found = f"{reached} of {restarts} annealed runs found one as probable"
    more = () if reached > 1 else (", so that more runs may find a better one: raise ", Setting("chains", restarts))
    return Verdict(
        False,
        {"restarts": restarts, "reached": reached},
        Message(
            f"This is the most probable set of features that was found ({found}), not a posterior: it says nothing of"
            " how sure a feature is",
            *more,
            "; for probabilities set ",
            Setting("method", "mcmc"),
            ".",
        ),
    )


# Rates of swaps between neighbouring temperatures ---------------------------------------------------------------------


def swap_sentence(posterior: Posterior) -> Message | None:
    """A sentence about a poor ladder of temperatures and its remedy; None if it is good or there is none."""
    stats = posterior.stats
    if "swap_rate" not in stats:
        return None
    rates, temperatures = stats["swap_rate"].values, stats["temperature"].values
    if not np.isfinite(rates).any() or np.nanmin(rates) >= LOWEST_RATE:
        return None
    chain, gap = np.unravel_index(np.nanargmin(rates), rates.shape)
    lower, upper = temperatures[chain, gap], temperatures[chain, gap + 1]
    return Message(
        f"Replicas at the temperatures {lower:.3g} and {upper:.3g} are swapped in {100 * rates[chain, gap]:.2g} % "
        f"of trials (wanted: {100 * LOWEST_RATE:.0f} %), so that few states of hot replicas reach temperature 1; "
        "raise ",
        Argument("tune"),
        ", in which the ladder grows, or start it with more temperatures (",
        Argument("tempering"),
        ").",
    )


# Whether the standard deviation of the similarities makes sense where the user did not give it ------------------------


MIN_NOISE, MAX_NOISE = 0.1, 0.7  # of the standard deviation of the similarities
USUAL = 0.45  # of it, near which similarities left out were predicted best on real data (benchmarks/learned_sigma.py)


def noise_sentence(posterior: Posterior, was_chosen: bool = False) -> Message | None:
    """A sentence about a sigma, learned or chosen by cross-validation, far from that of usual judgements; else None."""
    # Few similarities say little about their own precision: noise alone explains them as well, or a feature for
    # nearly every pair.
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
    judged = "by the numbers of judgements " if (judgements != 1).any() else ""
    how = "learned" if was_learned else "chosen by cross-validation"
    size = f"sigma was {how} as {found:.2g}, {judged}{100 * share:.3g} % of the standard deviation of the similarities"
    if share > MAX_NOISE:
        return Message(
            f"{size}: the features explain little; give sigma if you know it, or a weight_prior whose mean suits the"
            " scale of the similarities."
        )
    return Message(
        f"{size}: the features explain the noise as well, because so few judgements say little about their precision;"
        " give sigma if you know it, or try ",
        Setting("sigma", float(f"{USUAL * spread / of_typical:.2g}")),
        ", near which similarities left out are predicted best as a rule.",
    )
