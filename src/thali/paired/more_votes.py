"""How many more votes tell the first options apart: what further votes would teach, simulated from the posterior."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali.posterior.surely import CERTAIN

if TYPE_CHECKING:
    import pandas

FIRST = 3  # options that are to be told apart
CHANCES = (0.5, 0.9)  # of telling them apart, for which numbers of votes are reported
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # numbers of votes are these times powers of ten
_FARTHEST = 1e4  # times the votes so far


class Vote(NamedTuple):
    """One vote, or its expected outcomes."""

    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    lapse: float
    has_ties: bool


def information(difference: np.ndarray, nu: float, lapse: float) -> np.ndarray:
    """What a vote on two options is expected to say about the difference of their log worths (Fisher's information);
    NaN for nu: there are no ties."""
    from thali.aspects.outcomes import shares, slopes, tie_ratio

    q, rest = shares(difference)
    has_ties, log_nu = not np.isnan(nu), np.log(nu)
    none = Vote(np.zeros_like(q), np.zeros_like(q), np.zeros_like(q), lapse, has_ties)
    ratio = tie_ratio(none, q, rest, log_nu) if has_ties else np.zeros_like(q)
    p = (1.0 - lapse) * q + lapse / 2.0
    expected = none._replace(wins=p / (1.0 + ratio), losses=(1.0 - p) / (1.0 + ratio), tied=ratio / (1.0 + ratio))
    return -slopes(expected, q, rest, log_nu).bend


def more_votes(
    log_worths: np.ndarray, votes: float | None, nu: float, lapse: float, effect: float
) -> "pandas.DataFrame":
    r"""The probability that options are told apart after so many more votes.

    With the differences d of the log worths of neighbours, mean m and precision :math:`\Lambda` in the draws, and J
    the information of a vote on d, n votes leave a normal posterior of precision :math:`\Lambda + n J` about

    .. math:: m + (\Lambda + n J)^{-1} \left( n J (d^* - m) + (n J)^{1/2} z \right)

    if :math:`d^*` is the truth: each draw in turn, while z is another draw without mean and covariance. "as_so_far":
    all pairs are compared as often, in proportion, as so far, :math:`J = \Lambda / N` after N votes; "among_these": all
    votes are on pairs of these options, on each pair equally many.

    Parameters
    ----------
    log_worths : (draws, options)
        Of these options, the best first.
    votes : float or None
        Made so far; None: "as_so_far" is left out.
    nu : float
        Of ties; NaN without.
    lapse : float
    effect : float
        The design effect, by which the answers of people say less than independent ones.

    Returns
    -------
    pandas.DataFrame
        Indexed by the number of more votes, up to which either probability reaches .9; 0: now.
    """
    import pandas as pd

    differences = -np.diff(log_worths, axis=1)
    size = differences.shape[1]
    mean = differences.mean(axis=0)
    precision = np.linalg.inv(np.atleast_2d(np.cov(differences, rowvar=False)))
    pairs = np.array([[float(i <= k < j) for k in range(size)] for i, j in combinations(range(size + 1), 2)])
    own = information(pairs @ mean, nu, lapse) / effect
    ways = {"among_these": (pairs.T * own) @ pairs / len(pairs)}
    if votes is not None:
        ways = {"as_so_far": precision / votes} | ways
    truth = differences - mean
    normal = np.roll(truth, len(truth) // 2, axis=0) @ np.linalg.cholesky(precision)
    margin = _margin()

    def told_apart(after: np.ndarray, spread: np.ndarray) -> float:
        sd = np.sqrt(np.einsum("pi,ij,pj->p", pairs, spread, pairs))
        return float((np.abs(after @ pairs.T) > margin * sd).all(axis=1).mean())

    def share(n: float, of_vote: np.ndarray) -> float:
        known = n * of_vote
        spread = np.linalg.inv(precision + known)
        return told_apart(mean + (truth @ known + normal @ np.linalg.cholesky(known).T) @ spread, spread)

    now = told_apart(mean[None], np.linalg.inv(precision))
    found, open_ = {0: dict.fromkeys(ways, now)}, [] if now else list(ways)
    numbers = (step * 10.0**power for power in range(1, 16) for step in _STEPS)
    for n in numbers:
        if not open_ or n > _FARTHEST * max(votes or 0.0, 1e5):
            break
        found[int(n)] = {name: share(n, ways[name]) for name in ways}
        open_ = [name for name in ways if found[int(n)][name] < CHANCES[-1]]
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("more_votes")


def _margin() -> float:
    """How many standard deviations a difference is from 0 whose sign is just certain."""
    from scipy.special import ndtri

    return float(ndtri(CERTAIN))


def needed(chances: Sequence[float], numbers: Sequence[int], chance: float) -> int | None:
    """The least number of votes with that chance; None if none has it."""
    return next((number for number, each in zip(numbers, chances, strict=True) if each >= chance), None)
