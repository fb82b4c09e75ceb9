"""The path from prior to posterior: the size of each step, and the evidence along it.

The lapse 1 / (1 + u) falls from 1 to that of the model. At u = 0 every task has the likelihood 1 /
J.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from thali._labels import listed

from ..state import PosteriorTarget

TAU = 0.5  # relative effective sample size to which a step goes
BISECTIONS = 30
CAP = 1e5  # from here one step leads to the end
# of respondents for whom no utility was found that satisfies all their choices
LAST_LAPSE = 1.0 / (1.0 + CAP)


def end_of(lapse: float) -> float:
    """Return the u of a lapse, infinite for 0."""
    return 1.0 / lapse - 1.0 if lapse > 0.0 else math.inf


class LapsePath:
    """Weights along the path, of hard choices with likelihoods (particles, tasks) without lapse."""

    lapse: float
    sizes: np.ndarray  # alternatives of each task
    hits: np.ndarray

    def __init__(self, lapse: float, sizes: np.ndarray, hits: np.ndarray) -> None:
        self.lapse, self.sizes, self.hits = lapse, sizes, hits

    def log_likelihood(self, u: float) -> np.ndarray:
        """Return the log-likelihood of the tasks in every particle."""
        delta = 1.0 / (1.0 + u)
        with np.errstate(divide="ignore"):
            return np.log((1.0 - delta) * self.hits + delta / self.sizes).sum(axis=1)

    def set(self, target: PosteriorTarget, tasks: slice, u: float) -> None:
        """Write a point of the path into the target."""
        target.delta[tasks] = self.lapse if u == end_of(self.lapse) else 1.0 / (1.0 + u)


def relative_size(log_weights: np.ndarray) -> float:
    """Return the effective share of the particles, (Σ w)² / (n Σ w²)."""
    top = log_weights.max()
    if top == -math.inf:
        return 0.0
    w = np.exp(log_weights - top)
    return float(w.sum() ** 2 / (len(w) * (w @ w)))


def next_point(
    log_weights: Callable[[float], np.ndarray], u: float, end: float, groups: int
) -> float:
    """Return the next point of the path: the end, or where the effective share of the particles
    falls to TAU."""
    # Beyond the cap the next point is the end, whatever the share.
    if u >= min(CAP, end):
        return end
    last = log_weights(end)
    if relative_size(last) >= TAU and (last.reshape(groups, -1).max(axis=1) > -math.inf).all():
        return end
    low, high = u, max(1e-3, 1.2 * u)
    while (share := relative_size(log_weights(high))) > TAU and high < CAP:
        low, high = high, high * 1.5
    if share > TAU:
        return min(CAP, end)
    top = high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if relative_size(log_weights(middle)) > TAU:
            low = middle
        else:
            high = middle
    return min(low if low > u else high if high > u else top, end)


def log_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the logarithm of the mean of exponentials."""
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(safe, axis) + np.log(np.exp(values - safe).mean(axis=axis))


# The evidence with its error, and sentences on whether it can be used -----------------------------


USABLE = 1.0  # standard deviation between groups up to which the evidence is usable


def pool_evidence(log_evidence: np.ndarray) -> tuple[float, float, float]:
    """Return ln of the mean of the groups' estimates, its standard error, and the sd of their
    logarithms."""
    found = float(log_mean(log_evidence))
    if found == -math.inf:
        return found, math.nan, math.nan
    sizes = np.exp(log_evidence - found)  # of mean 1
    se = float(sizes.std(ddof=1) / math.sqrt(len(log_evidence)))
    possible = np.isfinite(log_evidence).all()
    return found, se, float(log_evidence.std(ddof=1)) if possible else math.inf


def evidence_messages(log_evidence: np.ndarray, steps: int, particles: int) -> list[str]:
    """Describe the evidence and its error, and what to do where it cannot be used."""
    found, se, sd = pool_evidence(log_evidence)
    least = math.sqrt(max(steps, 1) * (1.0 / TAU - 1.0) / particles)
    ratio = sd / least
    first = (
        f"Log evidence {found:.2f} (standard error {se:.2f}). Estimates from single groups of"
        f" particles have mean {log_evidence.mean():.2f} and standard deviation {sd:.2f},"
        f" {ratio:.1f} times the minimum for {particles} particles in {steps} steps."
    )
    if sd <= USABLE:
        return [first]
    why = "use more sweeps per step" if ratio > 2.0 else "use more draws"
    return [
        first,
        f"The evidence is not usable: its standard deviation between groups exceeds {USABLE:g};"
        f" {why}.",
    ]


def lapse_messages(respondents: Sequence[int]) -> list[str]:
    """Name the respondents (numbered from 1) for whom no utility satisfies all choices."""
    if not len(respondents):
        return []
    named = listed([n + 1 for n in respondents], 10)
    word = "respondent" if len(respondents) == 1 else "respondents"
    return [
        f"No utilities that satisfy all choices were found for {word} number {named}; these keep a"
        f" lapse rate of {LAST_LAPSE:.0e}. Set the lapse rate to 0.02."
    ]
