"""How many more votes tell the first options apart: what further votes would teach, simulated from
the posterior."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._posterior.certain_signs import CERTAIN

if TYPE_CHECKING:
    import pandas

FIRST = 3  # options that are to be told apart
CHANCES = (0.5, 0.9)  # of telling them apart, for which numbers of votes are reported
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # numbers of votes are these times powers of ten
_FARTHEST = 1e10  # votes
_SINGULAR = 1e-12  # share of the largest variance, below which a variance is rounding
_EQUAL = 1e-7  # difference of log worths that rounding could make


class Vote(NamedTuple):
    """One vote, or its expected outcomes."""

    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    lapse: float
    has_ties: bool


def information(difference: np.ndarray, nu: float, lapse: float) -> np.ndarray:
    """What a vote on two options is expected to say about the difference of their log worths
    (Fisher's information); NaN for nu: there are no ties."""
    from thali._inference.numerics.davidson import (
        compute_derivatives,
        compute_tie_ratio,
        split_probabilities,
    )

    q, rest = split_probabilities(difference)
    has_ties, log_nu = not np.isnan(nu), np.log(nu)
    none = Vote(np.zeros_like(q), np.zeros_like(q), np.zeros_like(q), lapse, has_ties)
    ratio = compute_tie_ratio(none, q, rest, log_nu) if has_ties else np.zeros_like(q)
    p = (1.0 - lapse) * q + lapse / 2.0
    expected = none._replace(
        wins=p / (1.0 + ratio), losses=(1.0 - p) / (1.0 + ratio), tied=ratio / (1.0 + ratio)
    )
    return -compute_derivatives(expected, q, rest, log_nu).bend


def more_votes(
    log_worths: np.ndarray,
    as_so_far: Callable[[float], np.ndarray] | None,
    nu: float,
    lapse: float,
    effect: float,
) -> "pandas.DataFrame":
    r"""The probability that options are told apart after so many more votes.

    With the differences d of the log worths of neighbours, mean m and covariance :math:`R R'` in
    the draws, n votes with the information :math:`G_n` of d leave a normal posterior of covariance
    :math:`R S R'` about

    .. math::

        m + R S \left( K K' x + K z \right), \qquad K K' = R' G_n R, \qquad S = (I + K K')^{-1}

    if :math:`m + R x` is the truth: each draw in turn, while :math:`m + R z` is another.
    "as_so_far": all pairs are compared as often, in proportion, as so far; "among_these": all votes
    are on pairs of these options, on each pair equally many, :math:`G_n = n J`, J the information
    of a vote on d. The covariance may be singular.

    Parameters
    ----------
    log_worths : (draws, options)
        Of these options, the best first.
    as_so_far : callable or None
        Returns the information of n more votes in the proportions so far; None: "as_so_far" is left
        out.
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
    from scipy.special import ndtri

    differences = -np.diff(log_worths, axis=1)
    size = differences.shape[1]
    mean = differences.mean(axis=0)
    root = _root(np.atleast_2d(np.cov(differences, rowvar=False))[::-1, ::-1])[::-1, ::-1]
    pairs = np.array(
        [[float(i <= k < j) for k in range(size)] for i, j in combinations(range(size + 1), 2)]
    )
    of_pairs = information(pairs @ mean, nu, lapse).clip(0.0) / (effect * len(pairs))
    of_vote = (pairs.T * of_pairs) @ pairs
    ways: dict[str, Callable[[float], np.ndarray]] = {"among_these": lambda n: n * of_vote}
    if as_so_far is not None:
        ways = {"as_so_far": as_so_far} | ways
    truth = _whitened(root, differences - mean)
    noise = np.roll(truth, len(truth) // 2, axis=0)
    margin = float(ndtri(CERTAIN))  # standard deviations of a difference whose sign is just certain

    def share(gained: np.ndarray) -> float:
        """Return the share of truths in which votes of that information tell all options apart."""
        known = _root(root.T @ gained @ root)
        spread = np.linalg.inv(np.eye(size) + known @ known.T)  # of eigenvalues from 0 to 1
        after = mean + (truth @ known + noise) @ known.T @ spread @ root.T
        sd = np.sqrt(np.einsum("pi,ij,pj->p", pairs @ root, spread, pairs @ root))
        return float((np.abs(after @ pairs.T) > np.maximum(margin * sd, _EQUAL)).all(axis=1).mean())

    found = {}
    for n in (0.0, *(step * 10.0**power for power in range(1, 10) for step in _STEPS), _FARTHEST):
        found[int(n)] = {name: share(gain(n)) for name, gain in ways.items()}
        if min(found[int(n)].values()) >= CHANCES[-1]:
            break
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("more_votes")


def _root(matrix: np.ndarray) -> np.ndarray:
    """Return the lower factor of a covariance; columns of directions without variance are 0."""
    root, least = np.zeros_like(matrix), _SINGULAR * matrix.diagonal().max()
    for k in range(len(matrix)):
        column = matrix[k:, k] - root[k:, :k] @ root[k, :k]
        if column[0] > least:
            root[k:, k] = column / np.sqrt(column[0])
    return root


def _whitened(root: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Solve x @ root.T = rows for an upper factor; 0 in directions without variance."""
    white = np.zeros_like(rows)
    for k in range(len(root))[::-1]:
        if root[k, k] > 0.0:
            white[:, k] = (rows[:, k] - white @ root[k]) / root[k, k]
    return white


def needed(chances: Sequence[float], numbers: Sequence[int], chance: float) -> int | None:
    """The least number of votes with that chance; None if none has it."""
    return next(
        (number for number, each in zip(numbers, chances, strict=True) if each >= chance), None
    )
