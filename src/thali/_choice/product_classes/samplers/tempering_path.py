"""Tempering path of sequential Monte Carlo: lapse rates from 1 down, steps and evidence.

The lapse 1 / (1 + u) falls from 1 to the lapse of the model. At u = 0 every task has the likelihood
1 / J.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from thali._labels import choose_number, list_names

from ..state import PosteriorTarget

TAU = 0.5  # relative effective sample size after a step
BISECTIONS = 30
MAX_ODDS = 1e5  # beyond these odds the next step leads to the end
# for respondents without utilities that satisfy all their choices
LAST_LAPSE = 1.0 / (1.0 + MAX_ODDS)


def lapse_odds(lapse: float) -> float:
    """Return (1 - lapse) / lapse, the odds against a random choice."""
    if lapse == 0.0:
        return math.inf
    return 1.0 / lapse - 1.0


@dataclass
class LapsePath:
    """Likelihoods of particles at every lapse rate, from likelihoods without lapses."""

    lapse: float
    sizes: np.ndarray  # alternatives of each task
    hits: np.ndarray

    def log_likelihood(self, u: float) -> np.ndarray:
        """Return each particle's log-likelihood at odds u against lapses, (particles,)."""
        lapse = 1.0 / (1.0 + u)
        with np.errstate(divide="ignore"):
            return np.log((1.0 - lapse) * self.hits + lapse / self.sizes).sum(axis=1)

    def write_target(self, target: PosteriorTarget, tasks: slice, u: float) -> None:
        """Set the lapse rate of some tasks in the target to 1 / (1 + u)."""
        lapse = 1.0 / (1.0 + u)
        if u == lapse_odds(self.lapse):
            lapse = self.lapse
        target.delta[tasks] = lapse


def relative_sample_size(log_weights: np.ndarray) -> float:
    """Return the effective share of the particles, (sum w)² / (n sum w²)."""
    largest_log_weight = log_weights.max()
    if largest_log_weight == -math.inf:
        return 0.0
    w = np.exp(log_weights - largest_log_weight)
    return float(w.sum() ** 2 / (len(w) * (w @ w)))


def find_next_point(
    compute_log_weights: Callable[[float], np.ndarray], u: float, end_odds: float, groups: int
) -> float:
    """Return the next odds u against lapses, which keep enough particles effective.

    The end of the path is returned if it is reached before.
    """
    # Beyond the cap the next point is the end, whatever the share.
    if u >= min(MAX_ODDS, end_odds):
        return end_odds
    end_weights = compute_log_weights(end_odds)
    if (
        relative_sample_size(end_weights) >= TAU
        and (end_weights.reshape(groups, -1).max(axis=1) > -math.inf).all()
    ):
        return end_odds
    low_odds = u
    high_odds = max(1e-3, 1.2 * u)
    while (
        effective_share := relative_sample_size(compute_log_weights(high_odds))
    ) > TAU and high_odds < MAX_ODDS:
        low_odds = high_odds
        high_odds = high_odds * 1.5
    if effective_share > TAU:
        return min(MAX_ODDS, end_odds)
    highest_odds = high_odds
    for _ in range(BISECTIONS):
        middle_odds = 0.5 * (low_odds + high_odds)
        if relative_sample_size(compute_log_weights(middle_odds)) > TAU:
            low_odds = middle_odds
        else:
            high_odds = middle_odds
    for odds in (low_odds, high_odds):
        if odds > u:
            return min(odds, end_odds)
    return min(highest_odds, end_odds)


def log_mean_exp(exponents: np.ndarray) -> np.ndarray:
    """Return the log of the mean of exponentials over the last axis."""
    largest = exponents.max(axis=-1)
    finite_largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return finite_largest + np.log(np.exp(exponents - finite_largest[..., None]).mean(axis=-1))


# The evidence with its error, and sentences on its use --------------------------------------------


USABLE = 1.0  # standard deviation between groups up to which the evidence is usable


def pool_evidence(log_evidence: np.ndarray) -> tuple[float, float, float]:
    """Return pooled log evidence, its standard error, and sd between groups.

    The pooled evidence is ln of the mean of the groups' estimates; the sd is that of their
    logarithms.
    """
    pooled_log_evidence = float(log_mean_exp(log_evidence))
    if pooled_log_evidence == -math.inf:
        return pooled_log_evidence, math.nan, math.nan
    relative_evidence = np.exp(log_evidence - pooled_log_evidence)  # of mean 1
    std_error = float(relative_evidence.std(ddof=1) / math.sqrt(len(log_evidence)))
    if not np.isfinite(log_evidence).all():
        return pooled_log_evidence, std_error, math.inf
    return pooled_log_evidence, std_error, float(log_evidence.std(ddof=1))


def format_evidence_messages(log_evidence: np.ndarray, steps: int, particles: int) -> list[str]:
    """Return sentences on the log evidence, its error, and advice."""
    pooled_log_evidence, std_error, group_sd = pool_evidence(log_evidence)
    min_sd = math.sqrt(max(steps, 1) * (1.0 / TAU - 1.0) / particles)
    estimate_sentence = (
        f"Log marginal likelihood (evidence) {pooled_log_evidence:.2f} (standard error"
        f" {std_error:.2f}). Its estimates from independent groups of {particles} SMC particles"
        f" have mean {log_evidence.mean():.2f} and standard deviation {group_sd:.2f}; with"
        f" perfect mixing over the {steps} tempering steps, about {min_sd:.2f} would be expected."
    )
    if group_sd <= USABLE:
        return [estimate_sentence]
    advice = "use more draws"
    if group_sd > 2.0 * min_sd:
        advice = "use more sweeps per step"
    return [
        estimate_sentence,
        "The evidence is not usable: its standard deviation between groups of SMC particles exceeds"
        f" {USABLE:g}; {advice}.",
    ]


def format_lapse_messages(respondents: Sequence[int]) -> list[str]:
    """Return a sentence naming respondents whose choices no classes explain."""
    if not len(respondents):
        return []
    noun = choose_number(len(respondents), "respondent", "respondents")
    return [
        f"No utilities that satisfy all choices were found for {noun} number"
        f" {list_names([n + 1 for n in respondents], 10)}; these keep a lapse rate of"
        f" {LAST_LAPSE:.0e}. Set the lapse rate to 0.02."
    ]
