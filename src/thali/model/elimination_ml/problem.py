"""The log-likelihood of aspect weights given paired comparisons, with its first and second derivatives."""

from typing import Any, NamedTuple

import numpy as np

from thali.data.pairs import PairedComparisons

DENSE = 1_000_000  # entries of pairs x aspects above which the patterns are kept sparse


class Problem(NamedTuple):
    r"""Choices in P pairs, explained by the weights of K aspects and the coefficients of M further columns.

    .. math::
        \operatorname{logit} q = \ln \sum_k w_k d_k - \ln \sum_k w_k e_k + x \beta, \qquad
        p = (1 - \varepsilon) q + \varepsilon / 2

    d says which aspects the first of a pair owns alone, e those of the second.
    """

    wins: np.ndarray  # (P,) choices of the first
    losses: np.ndarray
    first: Any  # (P, K) what the first owns and the second lacks, an array or a sparse one
    second: Any
    extra: np.ndarray  # (P, M)
    lapse: float

    @property
    def n_aspects(self) -> int:
        return self.first.shape[1]


def problem(data: PairedComparisons, owners: np.ndarray, lapse: float, extra: np.ndarray | None = None) -> Problem:
    """The problem that data and owners (options by aspects) pose."""
    if extra is None:
        extra = np.zeros((data.n_pairs, 0))
    return Problem(data.wins, data.losses, *patterns(owners, data.first, data.second), extra, float(lapse))


def patterns(owners: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    """For each pair of options the aspects that its first owns and its second lacks, and the reverse."""
    if len(first) * owners.shape[1] <= DENSE:
        a, b = owners[first], owners[second]
        return (a & ~b).astype(float), (b & ~a).astype(float)
    from scipy.sparse import csr_array

    sparse = csr_array(owners.astype(float))
    a, b = sparse[first], sparse[second]
    both = a.multiply(b)
    alone = csr_array(a - both), csr_array(b - both)
    for side in alone:
        side.eliminate_zeros()
    return alone


def advantages(pose: Problem, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What speaks for the first of each pair, and for the second."""
    own = pose.first @ weights
    if len(beta):
        own = own * np.exp(pose.extra @ beta)
    return own, pose.second @ weights


def shares(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q and 1 - q, each with all its digits; a half where nothing speaks for either."""
    total = own + other
    empty = total == 0.0
    total = np.where(empty, 1.0, total)
    return np.where(empty, 0.5, own / total), np.where(empty, 0.5, other / total)


def terms(pose: Problem, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The log-likelihood of each pair, without binomial coefficients."""
    from scipy.special import xlogy

    q, rest = shares(*advantages(pose, weights, beta))
    scale, base = 1.0 - pose.lapse, pose.lapse / 2.0
    return xlogy(pose.wins, scale * q + base) + xlogy(pose.losses, scale * rest + base)


class Slopes(NamedTuple):
    """First and second derivatives by the logarithms of the weights, and by the coefficients that follow them."""

    gradient: np.ndarray
    hessian: np.ndarray
    information: np.ndarray  # expected, its diagonal alone


def slopes(pose: Problem, weights: np.ndarray, beta: np.ndarray) -> Slopes:
    """The derivatives at a point.

    With s = d w / (d'w) and t = e w / (e'w), the shares of the aspects in either side, logit q has the gradient s - t
    and the Hessian diag(s) - ss' - diag(t) + tt'.
    """
    own, other = advantages(pose, weights, beta)
    q, rest = shares(own, other)
    toward, away, bend_toward, bend_away = _by_logit(q, rest, pose.lapse)
    slope = pose.wins * toward - pose.losses * away
    bend = pose.wins * bend_toward - pose.losses * bend_away
    s = scaled(pose.first, weights, pose.first @ weights)
    t = scaled(pose.second, weights, other)
    change = s - t
    by_weights = change.T @ slope
    hessian = _gram(change, bend) - _gram(s, slope) + _gram(t, slope)
    hessian[np.diag_indices_from(hessian)] += by_weights
    expected = (pose.wins + pose.losses) * toward * away
    information = change.multiply(change).T @ expected if not isinstance(change, np.ndarray) else change.T**2 @ expected
    x = pose.extra
    if x.shape[1]:
        cross = change.T @ (bend[:, None] * x)
        hessian = np.block([[hessian, cross], [cross.T, x.T @ (bend[:, None] * x)]])
        information = np.concatenate([information, (x**2).T @ expected])
    return Slopes(np.concatenate([by_weights, x.T @ slope]), hessian, information)


def slope_at_zero(pose: Problem, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The derivative by each weight itself (not by its logarithm), which at a boundary must not be positive."""
    own, other = advantages(pose, weights, beta)
    q, rest = shares(own, other)
    scale, base = 1.0 - pose.lapse, pose.lapse / 2.0
    p, complement = scale * q + base, scale * rest + base
    with np.errstate(divide="ignore", invalid="ignore"):
        by_p = np.where(pose.wins > 0, pose.wins / p, 0.0) - np.where(pose.losses > 0, pose.losses / complement, 0.0)
        total = own + other
        by_own = np.where(total > 0, by_p * scale * rest / total, 0.0)
        by_other = np.where(total > 0, -by_p * scale * q / total, 0.0)
    factor = np.exp(pose.extra @ beta) if len(beta) else 1.0
    return pose.first.T @ (by_own * factor) + pose.second.T @ by_other


def _by_logit(q: np.ndarray, rest: np.ndarray, lapse: float) -> tuple[np.ndarray, ...]:
    """Derivatives of ln p and of -ln (1 - p) by logit q, first and second."""
    scale, base = 1.0 - lapse, lapse / 2.0
    p, complement = scale * q + base, scale * rest + base
    speed = scale * q * rest
    toward = np.where(p > 0.0, speed / np.where(p > 0.0, p, 1.0), 1.0)
    away = np.where(complement > 0.0, speed / np.where(complement > 0.0, complement, 1.0), 1.0)
    lean = rest - q
    return toward, away, toward * (lean - toward), away * (lean + away)


def scaled(pattern: Any, weights: np.ndarray, total: np.ndarray) -> Any:
    """Pattern times weights over the total of each row; zero where that is zero."""
    inverse = 1.0 / np.where(total > 0.0, total, 1.0)
    if isinstance(pattern, np.ndarray):
        return pattern * weights * inverse[:, None]
    return pattern.multiply(weights).multiply(inverse[:, None]).tocsr()


def _gram(rows: Any, weight: np.ndarray) -> np.ndarray:
    if isinstance(rows, np.ndarray):
        return rows.T @ (weight[:, None] * rows)
    return (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
