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

    q, q_rest = split_probabilities(difference)
    has_ties = not np.isnan(nu)
    log_nu = np.log(nu)
    empty_vote = VoteOutcome(np.zeros_like(q), np.zeros_like(q), np.zeros_like(q), lapse, has_ties)
    tie_ratio = np.zeros_like(q)
    if has_ties:
        tie_ratio = compute_tie_ratio(empty_vote, q, q_rest, log_nu)
    p = mix_with_guess(q, lapse)
    expected_vote = empty_vote._replace(
        wins=p / (1.0 + tie_ratio),
        losses=(1.0 - p) / (1.0 + tie_ratio),
        tied=tie_ratio / (1.0 + tie_ratio),
    )
    return -compute_derivatives(expected_vote, q, q_rest, log_nu).bend


def forecast_separation(
    log_worths: np.ndarray,
    as_so_far: Callable[[float], np.ndarray] | None,
    nu: float,
    lapse: float,
    effect: float,
    has_pairs: bool = True,
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
    has_pairs : bool
        Whether single pairs can be compared; otherwise there is no "among_these".

    Returns
    -------
    pandas.DataFrame
        Indexed by the number of more votes, until either probability reaches .9; 0: now.
    """
    import pandas as pd

    worth_differences = -np.diff(log_worths, axis=1)
    n_differences = worth_differences.shape[1]
    mean_differences = worth_differences.mean(axis=0)
    root = _cholesky_factor(np.atleast_2d(np.cov(worth_differences, rowvar=False))[::-1, ::-1])[
        ::-1, ::-1
    ]
    pair_contrasts = np.array(
        [
            [float(i <= k < j) for k in range(n_differences)]
            for i, j in combinations(range(n_differences + 1), 2)
        ]
    )
    pair_information = vote_information(pair_contrasts @ mean_differences, nu, lapse).clip(0.0) / (
        effect * len(pair_contrasts)
    )
    mean_information = (pair_contrasts.T * pair_information) @ pair_contrasts
    gain_functions: dict[str, Callable[[float], np.ndarray]] = {
        "among_these": lambda n: n * mean_information
    }
    if as_so_far is not None:
        gain_functions = {"as_so_far": as_so_far} | gain_functions
    if not has_pairs:
        del gain_functions["among_these"]
    true_deviations = _solve_triangular(root, worth_differences - mean_differences)
    shares_by_votes = {}
    for n in (0.0, *(step * 10.0**power for power in range(1, 10) for step in _STEPS), _MAX_VOTES):
        shares_by_votes[int(n)] = {
            column_name: _share_separated(
                compute_gain(n), root, mean_differences, true_deviations, pair_contrasts
            )
            for column_name, compute_gain in gain_functions.items()
        }
        if min(shares_by_votes[int(n)].values()) >= CHANCES[-1]:
            break
    return pd.DataFrame.from_dict(shares_by_votes, orient="index").rename_axis("more_votes")


def _share_separated(
    gained_information: np.ndarray,
    root: np.ndarray,
    mean_differences: np.ndarray,
    true_deviations: np.ndarray,
    pair_contrasts: np.ndarray,
) -> float:
    """Return the share of draws in which all options separate."""
    from scipy.special import ndtri

    other_deviations = np.roll(true_deviations, len(true_deviations) // 2, axis=0)
    # standard deviations of a difference whose sign is just certain
    min_sds = float(ndtri(CERTAIN))
    information_root = _cholesky_factor(root.T @ gained_information @ root)
    # of eigenvalues from 0 to 1
    posterior_covariance = np.linalg.inv(np.eye(len(root)) + information_root @ information_root.T)
    posterior_means = (
        mean_differences
        + (true_deviations @ information_root + other_deviations)
        @ information_root.T
        @ posterior_covariance
        @ root.T
    )
    posterior_sds = np.sqrt(
        np.einsum("pi,ij,pj->p", pair_contrasts @ root, posterior_covariance, pair_contrasts @ root)
    )
    return float(
        (np.abs(posterior_means @ pair_contrasts.T) > np.maximum(min_sds * posterior_sds, _EQUAL))
        .all(axis=1)
        .mean()
    )


def _cholesky_factor(matrix: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a covariance, 0 in directions without variance."""
    root = np.zeros_like(matrix)
    min_variance = _SINGULAR * matrix.diagonal().max()
    for k in range(len(matrix)):
        remaining_column = matrix[k:, k] - root[k:, :k] @ root[k, :k]
        if remaining_column[0] > min_variance:
            root[k:, k] = remaining_column / np.sqrt(remaining_column[0])
    return root


def _solve_triangular(root: np.ndarray, right_sides: np.ndarray) -> np.ndarray:
    """Return x with x @ root.T = right_sides, 0 in directions without variance."""
    solution = np.zeros_like(right_sides)
    for k in range(len(root))[::-1]:
        if root[k, k] > 0.0:
            solution[:, k] = (right_sides[:, k] - solution @ root[k]) / root[k, k]
    return solution


def find_votes_needed(
    chances: Sequence[float], vote_numbers: Sequence[int], target_probability: float
) -> int | None:
    """Return the fewest votes whose probability reaches `target_probability`, or None."""
    return next(
        (
            n_votes
            for n_votes, probability in zip(vote_numbers, chances, strict=True)
            if probability >= target_probability
        ),
        None,
    )
