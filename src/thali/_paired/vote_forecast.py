"""Forecast of how more votes separate the leading options, by simulation."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import mix_with_guess
from thali._posterior.effects_with_certain_sign import CERTAIN

if TYPE_CHECKING:
    import pandas

FIRST = 3  # number of options to separate
CHANCES = (0.5, 0.9)  # probabilities of separation for which numbers of votes are reported
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # numbers of votes: these times powers of ten
_MAX_VOTES = 1e10  # votes
_SINGULAR = 1e-12  # share of the largest variance below which a variance is 0
_EQUAL = 1e-7  # difference of log worths within rounding error


class VoteOutcome(NamedTuple):
    """One vote, or its expected outcomes, as counts."""

    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    lapse: float
    has_ties: bool


def vote_information(difference: np.ndarray, nu: float, lapse: float) -> np.ndarray:
    """Return the Fisher information of a vote on a difference of log worths.

    NaN for nu: no ties.
    """
    from thali._inference.numerics.davidson_likelihood import (
        compute_derivatives,
        compute_tie_ratio,
        split_probabilities,
    )

    q, rest = split_probabilities(difference)
    has_ties = not np.isnan(nu)
    log_nu = np.log(nu)
    no_vote = VoteOutcome(np.zeros_like(q), np.zeros_like(q), np.zeros_like(q), lapse, has_ties)
    ratio = np.zeros_like(q)
    if has_ties:
        ratio = compute_tie_ratio(no_vote, q, rest, log_nu)
    p = mix_with_guess(q, lapse)
    expected = no_vote._replace(
        wins=p / (1.0 + ratio), losses=(1.0 - p) / (1.0 + ratio), tied=ratio / (1.0 + ratio)
    )
    return -compute_derivatives(expected, q, rest, log_nu).bend


def forecast_separation(
    log_worths: np.ndarray,
    as_so_far: Callable[[float], np.ndarray] | None,
    nu: float,
    lapse: float,
    effect: float,
) -> "pandas.DataFrame":
    r"""Return a table: probability that options separate after n more votes.

    With the differences d of the log worths of neighbours, with mean m and covariance :math:`R R'`
    in the draws, n votes with the information :math:`G_n` on d result in a normal posterior of
    covariance :math:`R S R'` around

    .. math::

        m + R S \left( K K' x + K z \right), \qquad K K' = R' G_n R, \qquad S = (I + K K')^{-1}

    if the truth is :math:`m + R x`, for each draw in turn; :math:`m + R z` is another draw.
    "as_so_far": pairs are compared in the current proportions; "among_these": all votes are on
    pairs of these options, equally often, :math:`G_n = n J` with the information J of a vote on d.
    The covariance may be singular.

    Parameters
    ----------
    log_worths : (draws, options)
        Log worths of these options, the best first.
    as_so_far : callable or None
        Returns the information of n more votes in the current proportions; None: no "as_so_far".
    nu : float
        Parameter of ties; NaN without ties.
    lapse : float
    effect : float
        The design effect: the factor by which answers are less informative than independent ones.

    Returns
    -------
    pandas.DataFrame
        Indexed by the number of more votes, until either probability reaches .9; 0: now.
    """
    import pandas as pd
    from scipy.special import ndtri

    differences = -np.diff(log_worths, axis=1)
    size = differences.shape[1]
    mean = differences.mean(axis=0)
    root = _cholesky_factor(np.atleast_2d(np.cov(differences, rowvar=False))[::-1, ::-1])[
        ::-1, ::-1
    ]
    pairs = np.array(
        [[float(i <= k < j) for k in range(size)] for i, j in combinations(range(size + 1), 2)]
    )
    pair_information = vote_information(pairs @ mean, nu, lapse).clip(0.0) / (effect * len(pairs))
    mean_information = (pairs.T * pair_information) @ pairs
    gain_functions: dict[str, Callable[[float], np.ndarray]] = {
        "among_these": lambda n: n * mean_information
    }
    if as_so_far is not None:
        gain_functions = {"as_so_far": as_so_far} | gain_functions
    truth = _solve_triangular(root, differences - mean)
    noise = np.roll(truth, len(truth) // 2, axis=0)
    margin = float(ndtri(CERTAIN))  # standard deviations of a difference whose sign is just certain

    def share_separated(gained: np.ndarray) -> float:
        """Return the share of draws in which all options separate."""
        information_root = _cholesky_factor(root.T @ gained @ root)
        spread = np.linalg.inv(
            np.eye(size) + information_root @ information_root.T
        )  # of eigenvalues from 0 to 1
        posterior_means = (
            mean + (truth @ information_root + noise) @ information_root.T @ spread @ root.T
        )
        sd = np.sqrt(np.einsum("pi,ij,pj->p", pairs @ root, spread, pairs @ root))
        return float(
            (np.abs(posterior_means @ pairs.T) > np.maximum(margin * sd, _EQUAL)).all(axis=1).mean()
        )

    shares_by_votes = {}
    for n in (0.0, *(step * 10.0**power for power in range(1, 10) for step in _STEPS), _MAX_VOTES):
        shares_by_votes[int(n)] = {
            name: share_separated(gain(n)) for name, gain in gain_functions.items()
        }
        if min(shares_by_votes[int(n)].values()) >= CHANCES[-1]:
            break
    return pd.DataFrame.from_dict(shares_by_votes, orient="index").rename_axis("more_votes")


def _cholesky_factor(matrix: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a covariance, 0 in directions without variance."""
    root = np.zeros_like(matrix)
    min_variance = _SINGULAR * matrix.diagonal().max()
    for k in range(len(matrix)):
        column = matrix[k:, k] - root[k:, :k] @ root[k, :k]
        if column[0] > min_variance:
            root[k:, k] = column / np.sqrt(column[0])
    return root


def _solve_triangular(root: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return x with x @ root.T = rows, 0 in directions without variance."""
    solution = np.zeros_like(rows)
    for k in range(len(root))[::-1]:
        if root[k, k] > 0.0:
            solution[:, k] = (rows[:, k] - solution @ root[k]) / root[k, k]
    return solution


def find_votes_needed(
    chances: Sequence[float], numbers: Sequence[int], target: float
) -> int | None:
    """Return the fewest votes whose probability reaches `target`, or None."""
    return next(
        (
            number
            for number, probability in zip(numbers, chances, strict=True)
            if probability >= target
        ),
        None,
    )
