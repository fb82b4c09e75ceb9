r"""The variance of estimates over respondents who answered unequally often, and its degrees of
freedom.

A respondent with much of the information pulls the estimates, so that the gradient :math:`g_s` of
the respondent's log-likelihood is too small there. With the information :math:`I_s` that the
respondent's answers are expected to have, and a root L of the inverse Hessian, :math:`L L' =
H^{-1}`,

.. math::

    M_s = L' I_s L, \qquad z_s = (1 - M_s)^{-1/2} L' g_s, \qquad
    \operatorname{cov} = L (\sum_s z_s z_s') L'

is unbiased if answers are independent, whatever the leverages :math:`M_s` (CR2). The variance of a
contrast c is then distributed as chi-square over its degrees of freedom: with :math:`b = L'c` and
:math:`p_s = M_s (1 - M_s)^{-1/2} b`

.. math:: \nu = \frac{(\sum_s b' M_s b)^2}{\sum_s (b' M_s b)^2 + \sum_{s \ne t} (p_s' p_t)^2}

and the covariance of q contrasts as a Wishart matrix whose entries have the same sum of variances.
Directions in which the variance is improbably small, if answers were independent, get that of
independent answers.

Bell & McCaffrey (2002); Pustejovsky & Tipton (2018).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from .clusters import AnswersByRespondent

BLOCK = 2**21  # entries of an array
# leverage up to which three terms of a series give z to four digits; that of no equal shares
LIGHT = 0.1037
MANY = 200  # respondents from which on covariances between their scores are negligible
ALONE = 1e-8  # 1 - leverage of a direction of which one respondent has all information
TINY = 1e-10  # leverage of a direction that changes nothing
LEAST = 1e-6  # share of the Hessian below which the answers have no information
NO_INFORMATION = 1e-9  # share of the largest eigenvalue below which a direction has none
UNLIKELY = 0.01  # probability of so small a variance if answers are independent


class LogWeightDerivatives(NamedTuple):
    """First and second derivatives by the logarithms of the weights, and by the coefficients that
    follow them."""

    gradient: np.ndarray
    hessian: np.ndarray
    information: np.ndarray  # expected, its diagonal alone


class ScoredProblem(Protocol):
    """A log-likelihood of weights and coefficients, whose outcomes have slopes."""

    def slopes(self, weights: np.ndarray, beta: np.ndarray) -> Any:
        """The gradient and the Hessian."""
        ...

    def scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The gradients of parts of the outcomes."""
        ...

    def expected(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Weights with which squared scores of outcomes sum to the information of parts."""
        ...


class _RespondentBlock(NamedTuple):
    """Some of the respondents, with what their variance is computed from."""

    # sparse (respondents, outcomes): weights with which squared scores sum to the information
    expected: Any
    given: Any  # sparse (respondents, outcomes)
    scores: np.ndarray  # (outcomes, r) of one answer


class ScoreVariance(NamedTuple):
    """The variance of the scores of respondents."""

    variance: np.ndarray  # (r, r)
    # (r, r) about each respondent's share of what the prior pulls, 0 of equal answers
    about_pull: np.ndarray
    share: float  # largest share of the information that is of one respondent
    trace: float  # of J⁻V, with J the information of the likelihood
    rank: int  # of J


class RespondentScores:
    """The scores of S respondents at a point, in the r coordinates of a root of the inverse Hessian
    there.

    `tally` (S, outcomes) is sparse; `root` (parameters, r).
    """

    def __init__(
        self,
        pose: ScoredProblem,
        tally: Any,
        weights: np.ndarray,
        beta: np.ndarray,
        root: np.ndarray,
    ) -> None:
        self._pose, self._tally, self._point, self._root = pose, tally, (weights, beta), root
        self._expected = pose.expected(tally, weights, beta)
        slopes = pose.slopes(weights, beta)
        # the sum of leverages: 1 less what the prior adds
        self._information = -root.T @ slopes.hessian @ root
        self._inverse = inverse_root(self._information, LEAST)
        self._pull = self._inverse @ (self._inverse.T @ (root.T @ slopes.gradient))

    def _scores(self, outcomes: np.ndarray) -> np.ndarray:
        """Return the scores of one answer each, shape (outcomes, r)."""
        from scipy.sparse import csr_array

        rows = np.arange(len(outcomes))
        once = csr_array(
            (np.ones(len(rows)), (rows, outcomes)), shape=(len(rows), self._tally.shape[1])
        )
        return self._pose.scores(once, *self._point) @ self._root

    def _blocks(self) -> Iterator[_RespondentBlock]:
        """Yield blocks of respondents that fit in memory."""
        places, step = self._expected.indptr, max(1, BLOCK // max(self._root.shape[1], 1))
        starts = np.searchsorted(places, np.arange(0, places[-1], step))
        for begin, end in pairwise(np.unique([*starts, self._tally.shape[0]])):
            expected, given = self._expected[begin:end], self._tally[begin:end]
            outcomes = np.union1d(expected.indices, given.indices)
            yield _RespondentBlock(
                expected[:, outcomes], given[:, outcomes], self._scores(outcomes)
            )

    def variance(self) -> ScoreVariance:
        """Return the variance of the scores."""
        squares, about_pull, most = (
            np.zeros_like(self._information),
            np.zeros_like(self._information),
            0.0,
        )
        for block in self._blocks():
            leverage = block.expected @ np.square(block.scores).sum(axis=1)
            pulls = block.expected @ (block.scores * (block.scores @ self._pull)[:, None])
            z, pulled = _remove_leverage(block, leverage, [block.given @ block.scores, pulls])
            rest = z - pulled
            squares, about_pull = squares + z.T @ z, about_pull + rest.T @ rest
            most = max(most, leverage.max(initial=0.0))
        share = most / max(np.trace(self._information), 1e-300)
        trace = float((self._inverse * (squares @ self._inverse)).sum())
        return ScoreVariance(squares, about_pull, share, max(trace, 0.0), self._inverse.shape[1])

    def degrees(self, contrasts: np.ndarray) -> np.ndarray:
        """Return the degrees of freedom of sets of q contrasts (sets, parameters, q), of rank q;
        shape (sets,)."""
        sides = self._root.T @ contrasts
        values, vectors = np.linalg.eigh(sides.swapaxes(1, 2) @ self._information @ sides)
        sides = sides @ (vectors / np.sqrt(np.maximum(values, 1e-300))[:, None])
        sets, _, q = sides.shape
        variances, pulls = np.zeros(sets), []
        for block in self._blocks():
            along = np.einsum("or,grq->ogq", block.scores, sides)
            squares = (along[..., None] * along[..., None, :]).reshape(len(along), -1)
            variances += _sum_entry_variances(
                (block.expected @ squares).reshape(-1, sets, q, q)
            ).sum(axis=0)
            if self._tally.shape[0] < MANY:
                for k in range(block.expected.shape[0]):
                    own, shares = _leverage(block, k)
                    pulls.append(
                        own @ ((shares * _inverse_root_of_rest(shares))[:, None] * (own.T @ sides))
                    )
        together = np.array(pulls)
        for k, pull in enumerate(pulls):
            variances += 2.0 * _sum_entry_variances(pull.swapaxes(1, 2) @ together[k + 1 :]).sum(
                axis=0
            )
        return q * (q + 1) / variances


def _remove_leverage(
    block: _RespondentBlock, leverage: np.ndarray, scores: list[np.ndarray]
) -> list[np.ndarray]:
    """Return z for each of several scores of each respondent, shape (respondents, r)."""
    found = []
    for each in scores:
        first = _multiply_by_leverage(block, each)
        found.append(each + first / 2 + 3 / 8 * _multiply_by_leverage(block, first))
    for k in np.flatnonzero(leverage > LIGHT).tolist():
        vectors, shares = _leverage(block, k)
        growth = _inverse_root_of_rest(shares) - 1.0
        for each, z in zip(scores, found, strict=True):
            z[k] = each[k] + vectors @ (growth * (each[k] @ vectors))
    return found


def _multiply_by_leverage(block: _RespondentBlock, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each respondent's leverage and vector, shape (respondents, r)."""
    from scipy.sparse import csr_array

    expected = block.expected
    respondent = np.repeat(np.arange(len(vectors)), np.diff(expected.indptr))
    along = np.einsum("er,er->e", block.scores[expected.indices], vectors[respondent])
    return (
        csr_array((expected.data * along, expected.indices, expected.indptr), shape=expected.shape)
        @ block.scores
    )


def _leverage(block: _RespondentBlock, respondent: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvectors (r, rank) and eigenvalues (rank,) of the leverage of a respondent."""
    row = block.expected[[respondent]]
    rows = np.sqrt(row.data)[:, None] * block.scores[row.indices]
    if len(rows) > rows.shape[1]:
        shares, vectors = np.linalg.eigh(rows.T @ rows)
        return vectors, np.clip(shares, 0.0, 1.0)
    shares, combined = np.linalg.eigh(rows @ rows.T)
    some = shares > TINY
    return rows.T @ (combined[:, some] / np.sqrt(shares[some])), np.minimum(shares[some], 1.0)


def _inverse_root_of_rest(shares: np.ndarray) -> np.ndarray:
    """Return (1 - leverage)^(-1/2), by which scores grow; 0 where no other respondent has
    information."""
    rest = 1.0 - shares
    return np.where(rest > ALONE, np.maximum(rest, ALONE) ** -0.5, 0.0)


def _sum_entry_variances(matrices: np.ndarray) -> np.ndarray:
    """Return the sum of the variances of the entries of a product, given covariances (..., q, q) of
    its factors."""
    return np.trace(matrices, axis1=-2, axis2=-1) ** 2 + (matrices * matrices.swapaxes(-1, -2)).sum(
        axis=(-1, -2)
    )


def inverse_root(information: np.ndarray, least: float) -> np.ndarray:
    """Return L (parameters, r), with L L' the inverse where there is more than a share of the most
    information."""
    values, vectors = np.linalg.eigh(information)
    informed = values > least * max(values.max(initial=0.0), 1e-300)
    return vectors[:, informed] / np.sqrt(values[informed])


def raise_improbable_variance(found: ScoreVariance, df: float, freedom: float) -> np.ndarray:
    """Return the variance of scores, raised to that of independent answers in directions where it
    is improbably small.

    `freedom`: respondents less one for each contrast. Fewer of them than contrasts leave directions
    without variance, whose part is in the others, so that they get less: cubes cover .87 to .94 for
    2 to 5 respondents of 6 options.
    """
    from scipy.special import chdtri

    values, vectors = np.linalg.eigh(found.about_pull)
    unlikely = values < chdtri(df, 1.0 - UNLIKELY) / df
    least = 1.0 if unlikely.all() else min(1.0, freedom) ** 3
    inside = vectors[:, unlikely]
    values, vectors = np.linalg.eigh(inside.T @ found.variance @ inside)
    inside = inside @ vectors
    return found.variance + (inside * (np.maximum(values, least) - values)) @ inside.T


def expected_answers(tally: Any, sizes: np.ndarray, p: np.ndarray) -> Any:
    """Return how often each outcome was to be expected of each respondent; sparse (respondents,
    outcomes)."""
    from scipy.sparse import csr_array

    outcomes, question = np.arange(len(p)), np.repeat(np.arange(len(sizes)), sizes)
    asked = tally @ csr_array((np.ones(len(p)), (outcomes, question)), shape=(len(p), len(sizes)))
    return asked @ csr_array((p, (question, outcomes)), shape=(len(sizes), len(p)))


def scores_at(
    pose: ScoredProblem, clusters: AnswersByRespondent, weights: np.ndarray, beta: np.ndarray
) -> ScoreVariance:
    """Return the variance of respondents' scores at a point, in coordinates in which the
    information is 1."""
    root = inverse_root(-pose.slopes(weights, beta).hessian, NO_INFORMATION)
    return RespondentScores(pose, clusters.tally, weights, beta, root).variance()
