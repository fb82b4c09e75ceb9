"""The path from prior to posterior: how tasks enter the model, the size of each step, and the evidence along it.

Along the lapse path δ = 1 / (1 + u) falls from 1 to that of the model; along the logit path u is the sharpness of a
logit, which ends in the choice of the best product. At u = 0 every task has the likelihood 1 / J.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..likelihood import log_logit
from ..state import Target

TAU = 0.5  # relative effective sample size to which a step goes
BISECTIONS = 30
CAP = {"lapse": 1e5, "logit": 1e9}  # from here one step leads to the end


class LapsePath:
    """Weights along the lapse path: they depend on how many tasks of each likelihood a particle has."""

    end: float
    cap: float
    lapse: float
    sizes: np.ndarray
    counts: np.ndarray
    size: np.ndarray
    winners: np.ndarray

    def __init__(self, lapse: float, others: np.ndarray) -> None:
        self.end = 1.0 / lapse - 1.0 if lapse > 0.0 else math.inf
        self.cap, self.lapse = CAP["lapse"], lapse
        self.sizes = others + 1

    def see(self, hits: np.ndarray, differences: np.ndarray) -> None:
        """Store the likelihoods (particles, tasks) at the current values."""
        most = int(self.sizes.max()) + 1
        with np.errstate(divide="ignore"):
            winners = np.where(hits > 0.0, np.rint(1.0 / hits), 0.0).astype(np.int64)
        kind = self.sizes * most + winners + np.arange(len(hits))[:, None] * most * most
        counts = np.bincount(kind.ravel(), minlength=len(hits) * most * most).reshape(len(hits), -1)
        used = np.flatnonzero(counts.any(axis=0))
        self.counts = counts[:, used]
        self.size, self.winners = used // most, used % most

    def log_likelihood(self, u: float) -> np.ndarray:
        """ln of the likelihood of the block in every particle."""
        delta = 1.0 / (1.0 + u)
        with np.errstate(divide="ignore"):
            hit = np.where(self.winners > 0, 1.0 / self.winners, 0.0)
            logs = np.log((1.0 - delta) * hit + delta / self.size)
        possible = logs > -math.inf
        total = self.counts[:, possible] @ logs[possible]
        total[self.counts[:, ~possible].any(axis=1)] = -math.inf
        return total

    def set(self, target: Target, tasks: slice, u: float) -> None:
        """Write the current point of the path into the target."""
        target.delta[tasks] = self.lapse if u == self.end else 1.0 / (1.0 + u)


class LogitPath:
    """Weights along the logit path, at a fixed lapse."""

    cap: float
    end: float
    lapse: float
    differences: np.ndarray
    hits: np.ndarray

    def __init__(self, lapse: float, others: np.ndarray) -> None:
        self.end, self.cap, self.lapse = math.inf, CAP["logit"], lapse
        self.others = others

    def see(self, hits: np.ndarray, differences: np.ndarray) -> None:
        """Store the likelihoods and the differences of utility at the current values."""
        self.hits, self.differences = hits, differences

    def log_likelihood(self, u: float) -> np.ndarray:
        """ln of the likelihood of the block in every particle."""
        out = np.empty(len(self.hits))
        log_logit(self.hits, self.differences, self.others, float(u), self.lapse, out)
        return out

    def set(self, target: Target, tasks: slice, u: float) -> None:
        """Write the current point of the path into the target."""
        target.sharpness[tasks] = u
        target.delta[tasks] = self.lapse


PATHS: dict[str, type[LapsePath] | type[LogitPath]] = {"lapse": LapsePath, "logit": LogitPath}


def relative_size(log_weights: np.ndarray) -> float:
    """Effective share of the particles, (Σ w)² / (n Σ w²)."""
    top = log_weights.max()
    if top == -math.inf:
        return 0.0
    w = np.exp(log_weights - top)
    return float(w.sum() ** 2 / (len(w) * (w @ w)))


def next_point(
    log_weights: Callable[[float], np.ndarray], u: float, end: float, cap: float, groups: int, gentle: bool
) -> float:
    """The next point of the path: the end, or where the effective share of `log_weights(point)` falls to TAU."""
    # `gentle` is for many tasks at once, which a small step may change much. Beyond the cap the next point is the end,
    # whatever the share.
    if u >= min(cap, end):
        return end
    last = log_weights(end)
    if relative_size(last) >= TAU and (last.reshape(groups, -1).max(axis=1) > -math.inf).all():
        return end
    low, high = u, max(1e-3, 1.2 * u) if gentle else max(0.5, 2.0 * u)
    while (share := relative_size(log_weights(high))) > TAU and high < cap:
        low, high = high, high * (1.5 if gentle else 3.0)
    if share > TAU:
        return min(cap, end)
    top = high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if relative_size(log_weights(middle)) > TAU:
            low = middle
        else:
            high = middle
    return min(low if low > u else high if high > u else top, end)


def log_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """ln of the mean of exponentials."""
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(safe, axis) + np.log(np.exp(values - safe).mean(axis=axis))


# The evidence with its error, and sentences on whether it can be used -------------------------------------------------


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
