"""The evidence with its error, and sentences on whether it can be used."""

import math
from collections.abc import Sequence

import numpy as np

from .path import TAU, log_mean

USABLE = 1.0  # standard deviation between groups up to which the evidence is usable


def pooled(log_evidence: np.ndarray) -> tuple[float, float, float]:
    """ln of the mean of the groups' estimates, its standard error by the delta method, the sd of their logarithms."""
    groups = len(log_evidence)
    found = float(log_mean(log_evidence))
    if groups < 2 or found == -math.inf:
        return found, math.nan, math.nan
    sizes = np.exp(log_evidence - found)  # of mean 1
    se = float(sizes.std(ddof=1) / math.sqrt(groups))
    possible = np.isfinite(log_evidence).all()
    return found, se, float(log_evidence.std(ddof=1)) if possible else math.inf


def particle_messages(log_evidence: np.ndarray, steps: int, particles: int) -> list[str]:
    """Messages about the evidence from groups of particles."""
    found, se, sd = pooled(log_evidence)
    least = math.sqrt(max(steps, 1) * (1.0 / TAU - 1.0) / particles)
    ratio = sd / least
    first = (
        f"Log evidence {found:.2f} with a standard error of {se:.2f}; that of single groups has a mean of "
        f"{log_evidence.mean():.2f} and a standard deviation of {sd:.2f}, {ratio:.1f} times the least that {particles} "
        f"particles in {steps} steps allow."
    )
    if sd <= USABLE:
        return [first]
    if ratio > 10.0:
        why = "the groups sit with different sets of classes; take many more sweeps at each step"
    elif ratio > 2.0:
        why = "take more sweeps at each step"
    else:
        why = "take more particles"
    return [first, f"Evidence not usable: its standard deviation between groups is above {USABLE:g}; {why}."]


def chain_messages(log_weights: np.ndarray) -> list[str]:
    """Messages about the evidence from the weights of annealed chains."""
    found, se, sd = pooled(log_weights)
    if len(log_weights) < 2:
        return [f"Log evidence {found:.2f} from the weight of one chain, with an unknown error; take more chains."]
    first = (
        f"Log evidence {found:.2f} with a standard error of {se:.2f}, from the weights of {len(log_weights)} chains, "
        f"whose logarithms have a standard deviation of {sd:.2f}."
    )
    if sd <= USABLE:
        return [first]
    return [
        first,
        f"Evidence not usable: the standard deviation between chains is above {USABLE:g}; take more sweeps at each "
        "step, or the method smc.",
    ]


def lapse_messages(people: Sequence[int], lapse: float) -> list[str]:
    """A message that names the people (numbered from 1) for whom no utility satisfies all choices."""
    if not len(people):
        return []
    named = ", ".join(str(n + 1) for n in people[:10]) + (", ..." if len(people) > 10 else "")
    word = "respondent" if len(people) == 1 else "respondents"
    return [
        f"No utility of this model was found that satisfies all choices of {word} number {named}; a lapse of "
        f"{lapse:.0e} was kept there. Set the lapse to 0.02."
    ]
