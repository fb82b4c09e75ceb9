r"""Cluster-robust variance of estimates: scores of respondents with unequal numbers of answers.

A respondent with much of the information pulls the estimates, so that the gradient :math:`g_s` of
the respondent's log-likelihood is too small there. With the expected information :math:`I_s` of the
respondent's answers, and a root L of the inverse Hessian, :math:`L L' = H^{-1}`,

.. math::

    M_s = L' I_s L, \qquad z_s = (1 - M_s)^{-1/2} L' g_s, \qquad
    \operatorname{cov} = L (\sum_s z_s z_s') L'

is unbiased if answers are independent, whatever the leverages :math:`M_s` (CR2). The variance of a
contrast c is then distributed as chi-square over its degrees of freedom: with :math:`b = L'c` and
:math:`p_s = M_s (1 - M_s)^{-1/2} b`

.. math:: \nu = \frac{(\sum_s b' M_s b)^2}{\sum_s (b' M_s b)^2 + \sum_{s \ne t} (p_s' p_t)^2}

if answers are independent, and the covariance of q contrasts as a Wishart matrix whose entries have
the same sum of variances. This is too many if a few respondents have most of the information and
respondents differ. If answers of a respondent have equal correlations, a score has the variance
:math:`k_s M_s` with :math:`k_s = 1 + \varphi x_s` for the share :math:`x_s` of the information
:math:`b' M_s b`, where :math:`\varphi = (\delta - 1) / \sum_s x_s^2` for the design effect
:math:`\delta` and shares of all information. Then

.. math:: \nu_\varphi = \frac{(\operatorname{tr} G)^2}{\sum_{st} G_{st}^2}, \quad
    G_{st} = \delta_{st} k_s (x_s + p_s' p_s) - (k_s + k_t - \textstyle\sum_u k_u x_u) p_s' p_t.

Degrees of freedom of a contrast are the harmonic mean of both: :math:`\nu` alone covers too little
with two respondents of 40 % each, :math:`\nu_\varphi` alone too much.
In directions in which the variance is improbably small for independent answers, the variance of
independent answers is used.

Bell & McCaffrey (2002); Pustejovsky & Tipton (2018).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from thali._inference.index_arithmetic import part_indices, repeat_indices
from thali._inference.numerics.weight_shares import divide_positive
from thali._posterior.respondent_dependence import SCORES, Dependence

from .answers_by_respondent import AnswersByRespondent

if TYPE_CHECKING:
    from scipy.sparse import csr_array


BLOCK = 2**21  # entries of an array
# leverage up to which three terms of a series give z to four digits
MAX_SERIES_LEVERAGE = 0.1037
MANY_RESPONDENTS = (
    200  # number of respondents from which on covariances between their scores are negligible
)
MIN_REST = 1e-8  # 1 - leverage, if one respondent has all information about a direction
TINY = 1e-10  # leverage of a direction without effect
MIN_VARIANCE = 1e-200  # of a contrast about which an answer says anything
MIN_HESSIAN_SHARE = 1e-6  # share of the Hessian below which the answers have no information
MAX_SERIES_ERROR = 1e-14  # of a series that is continued to the precision of floats
NO_INFORMATION = 1e-9  # share of the largest eigenvalue below which a direction has none
UNLIKELY = 0.01  # probability of so small a variance if answers are independent


class LogWeightDerivatives(NamedTuple):
    """Gradient and Hessian by log weights, and by coefficients of covariates."""

    gradient: np.ndarray
    hessian: np.ndarray
    information: np.ndarray  # expected, diagonal only


class ScoredProblem(Protocol):
    """Log-likelihood of weights and coefficients that also computes scores of outcomes."""

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Compute gradient and Hessian of the log-likelihood at this point."""
        ...

    def compute_scores(
        self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray
    ) -> np.ndarray:
        """Return the log-likelihood gradient of each row of outcome counts in `tally`."""
        ...

    def expect_outcomes(self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights of outcomes; weighted squared scores sum to the information, per row."""
        ...


class AnswerScores(NamedTuple):
    """Gradients of the log probability of every possible answer at a point."""

    matrix: Any  # sparse (answers, size)
    p: np.ndarray  # (answers,)
    sizes: np.ndarray  # answers of each question
    gradient: np.ndarray
    hessian: np.ndarray

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> "AnswerScores":
        """Return gradient and Hessian of the log-likelihood (already computed)."""
        return self

    def compute_scores(
        self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray
    ) -> np.ndarray:
        """Return log-likelihood gradients, one per row of the sparse `tally` of answers."""
        return (tally @ self.matrix).toarray()

    def expect_outcomes(self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights that make squared scores sum to the information of each `tally` row."""
        return expect_answers(tally, self.sizes, self.p)


class _RespondentBlock(NamedTuple):
    """A block of respondents, and the arrays from which their variance is computed."""

    # (respondents, outcomes): weights with which squared scores sum to the information; dense if
    # most respondents answered most questions, else sparse
    expected: Any
    given: Any  # sparse (respondents, outcomes)
    scores: np.ndarray  # (outcomes, r), per answer


class ScoreVariance(NamedTuple):
    """Covariance of respondents' scores, and its trace and rank."""

    variance: np.ndarray  # (r, r)
    # (r, r) around each respondent's share of the pull of the prior, 0 for equal answers
    about_pull: np.ndarray
    share: float  # largest share of the information from one respondent
    trace: float  # of J⁻V, with J the information of the likelihood
    rank: int  # of J
    concentration: float  # sum of squared shares of respondents in the information

    @property
    def design_effect(self) -> float:
        """Mean design effect; NaN without information on any weight."""
        if self.rank:
            return self.trace / self.rank
        return float("nan")

    @property
    def correlation(self) -> float:
        """Correlation phi of answers, at which the design effect is the observed one."""
        return float(np.fmax(self.design_effect - 1.0, 0.0)) / max(self.concentration, 1e-300)


class RespondentScores:
    """Scores (log-likelihood gradients) of S respondents, whitened by the Hessian, (S, r).

    The coordinates are a root of the inverse Hessian, `root` (parameters, r). `tally` (S, outcomes)
    is sparse.
    """

    def __init__(
        self,
        problem: ScoredProblem,
        tally: Any,
        weights: np.ndarray,
        beta: np.ndarray,
        root: np.ndarray,
    ) -> None:
        self._problem = problem
        self._tally = tally
        self._point = (weights, beta)
        self._root = root
        self._expected = problem.expect_outcomes(tally, weights, beta)
        derivatives = problem.compute_derivatives(weights, beta)
        # the sum of leverages is 1 minus the share of the prior
        self._information = -root.T @ derivatives.hessian @ root
        self._inverse = inverse_root(self._information, MIN_HESSIAN_SHARE)
        self._pull = self._inverse @ (self._inverse.T @ (root.T @ derivatives.gradient))

    @property
    def has_maximum(self) -> bool:
        """Whether the likelihood alone curves down at the mode, so that scores have a variance."""
        eigenvalues = np.linalg.eigvalsh(self._information)
        return bool(eigenvalues.min() >= -MIN_HESSIAN_SHARE * np.abs(eigenvalues).max())

    def _score_outcomes(self, outcomes: np.ndarray) -> np.ndarray:
        """Return the score of one answer with each outcome, shape (outcomes, r)."""
        from scipy.sparse import csr_array

        row_indices = np.arange(len(outcomes))
        identity_tally = csr_array(
            (np.ones(len(row_indices)), (row_indices, outcomes)),
            shape=(len(row_indices), self._tally.shape[1]),
        )
        return self._problem.compute_scores(identity_tally, *self._point) @ self._root

    def _split_respondents(self, row_size: int) -> Iterator[_RespondentBlock]:
        """Yield blocks of respondents whose arrays of `row_size` columns fit in memory."""
        entry_starts = self._expected.indptr
        is_full = 2 * entry_starts[-1] > np.prod(self._expected.shape)
        is_dense = is_full and entry_starts[-1] > BLOCK
        block_size = max(1, BLOCK // max(row_size, 1))
        if is_dense:
            block_size = BLOCK
        block_starts = np.searchsorted(entry_starts, np.arange(0, entry_starts[-1], block_size))
        for first_respondent, end_respondent in pairwise(
            np.unique([*block_starts, self._tally.shape[0]])
        ):
            expected = self._expected[first_respondent:end_respondent]
            given = self._tally[first_respondent:end_respondent]
            is_used = np.zeros(self._tally.shape[1], bool)
            is_used[expected.indices] = is_used[given.indices] = True
            outcomes = np.flatnonzero(is_used)
            expected = expected[:, outcomes]
            if is_dense:
                expected = expected.toarray()
            yield _RespondentBlock(expected, given[:, outcomes], self._score_outcomes(outcomes))

    def correct_scores(self) -> np.ndarray:
        """Return the leverage-corrected score of each respondent, to float precision, (S, r)."""
        return np.concatenate(
            [
                _remove_leverage(
                    block,
                    block.expected @ np.square(block.scores).sum(axis=1),
                    [block.given @ block.scores],
                    MAX_SERIES_ERROR,
                )[0]
                for block in self._split_respondents(self._root.shape[1])
            ]
        )

    @cached_property
    def variance(self) -> ScoreVariance:
        """Leverage-corrected covariance of respondents' scores."""
        score_squares = np.zeros_like(self._information)
        about_pull = np.zeros_like(self._information)
        max_leverage = squared_leverages = 0.0
        for block in self._split_respondents(self._root.shape[1]):
            leverage = block.expected @ np.square(block.scores).sum(axis=1)
            pulled_scores = block.expected @ (block.scores * (block.scores @ self._pull)[:, None])
            corrected_scores, corrected_pulls = _remove_leverage(
                block, leverage, [block.given @ block.scores, pulled_scores]
            )
            differences = corrected_scores - corrected_pulls
            score_squares = score_squares + corrected_scores.T @ corrected_scores
            about_pull = about_pull + differences.T @ differences
            max_leverage = max(max_leverage, leverage.max(initial=0.0))
            squared_leverages += float(leverage @ leverage)
        total_leverage = max(np.trace(self._information), 1e-100)
        trace = float((self._inverse * (score_squares @ self._inverse)).sum())
        return ScoreVariance(
            score_squares,
            about_pull,
            max_leverage / total_leverage,
            max(trace, 0.0),
            self._inverse.shape[1],
            squared_leverages / total_leverage**2,
        )

    def degrees_of_freedom(self, contrasts: np.ndarray, is_correlated: bool = True) -> np.ndarray:
        """Return degrees of freedom of the variance of each contrast set, shape (sets,).

        `contrasts` has shape (sets, parameters, q). `is_correlated`: whether the degrees of freedom
        of a single contrast allow for answers of a respondent that are correlated.
        """
        whitened_contrasts = self._root.T @ contrasts
        eigenvalues, vectors = np.linalg.eigh(
            whitened_contrasts.swapaxes(1, 2) @ self._information @ whitened_contrasts
        )
        whitened_contrasts = whitened_contrasts @ (
            vectors / np.sqrt(np.maximum(eigenvalues, 1e-300))[:, None]
        )
        # a contrast without information, as of an option that was never compared
        whitened_contrasts *= (eigenvalues > MIN_VARIANCE)[:, None]
        n_sets, _, q = whitened_contrasts.shape
        variances = np.zeros(n_sets)
        share_blocks = []
        respondent_pulls = []
        max_answers = np.diff(self._expected.indptr).max(initial=1)
        for block in self._split_respondents(max(self._root.shape[1], q * min(q, max_answers))):
            contrast_scores = np.einsum(
                "or,grq->ogq", block.scores, whitened_contrasts, optimize=True
            )
            contrast_leverages = _compute_contrast_leverages(block.expected, contrast_scores)
            if q == 1:
                share_blocks.append(contrast_leverages[..., 0, 0])
            variances += _sum_entry_variances(contrast_leverages).sum(axis=0)
            if self._tally.shape[0] < MANY_RESPONDENTS:
                for k in range(block.expected.shape[0]):
                    vectors_k, leverages = _decompose_leverage(block, k)
                    respondent_pulls.append(
                        vectors_k
                        @ (
                            (leverages * _compute_leverage_correction(leverages))[:, None]
                            * (vectors_k.T @ whitened_contrasts)
                        )
                    )
        pulls = np.array(respondent_pulls).reshape(-1, *whitened_contrasts.shape)
        if q == 1:
            shares = np.concatenate(share_blocks)
            correlations = [0.0]
            if is_correlated:
                correlations.append(self.variance.correlation)
            inverse_degrees = np.empty(n_sets)
            for g in range(n_sets):
                inverse_degrees[g] = np.mean(
                    [_invert_degrees(shares[:, g], pulls[:, g, :, 0], phi) for phi in correlations]
                )
        else:
            for k, respondent_pull in enumerate(respondent_pulls):
                variances += 2.0 * _sum_entry_variances(
                    respondent_pull.swapaxes(1, 2) @ pulls[k + 1 :]
                ).sum(axis=0)
            inverse_degrees = variances / (q * (q + 1))
        # NaN for a contrast without information; 1 if one respondent has all information
        return np.fmax(1.0 / inverse_degrees, 1.0)


def _invert_degrees(x: np.ndarray, pulls: np.ndarray, correlation: float) -> float:
    """Return 1 / degrees of freedom of a contrast at this correlation of answers."""
    # x are respondents' shares in the information; pulls (S, r) is empty for many respondents
    factors = 1.0 + correlation * x
    if len(pulls) == 0:
        variances = factors * x
        return float(divide_positive((variances**2).sum(), variances.sum() ** 2, np.nan))
    products = pulls @ pulls.T
    covariances = np.diag(factors * (x + np.diag(products))) - products * (
        factors[:, None] + factors - factors @ x
    )
    return float(divide_positive((covariances**2).sum(), np.trace(covariances) ** 2, np.nan))


def _remove_leverage(
    block: _RespondentBlock,
    leverage: np.ndarray,
    score_arrays: list[np.ndarray],
    max_error: float = MAX_SERIES_LEVERAGE**3,
) -> list[np.ndarray]:
    """Return scores times (I - leverage)^(-1/2) of each respondent, each (respondents, r)."""
    max_leverage = leverage[leverage <= MAX_SERIES_LEVERAGE].max(initial=TINY)
    n_terms = 2
    while max_leverage ** (n_terms + 1) > max_error:
        n_terms += 1
    corrected_scores = []
    for respondent_scores in score_arrays:
        corrected = respondent_scores
        term = respondent_scores
        coefficient = 1.0
        for k in range(1, n_terms + 1):
            term = _multiply_by_leverage(block, term)
            coefficient *= (2 * k - 1) / (2 * k)
            corrected = corrected + coefficient * term
        corrected_scores.append(corrected)
    for k in np.flatnonzero(leverage > MAX_SERIES_LEVERAGE).tolist():
        vectors, leverages = _decompose_leverage(block, k)
        excess_correction = _compute_leverage_correction(leverages) - 1.0
        for respondent_scores, corrected in zip(score_arrays, corrected_scores, strict=True):
            corrected[k] = respondent_scores[k] + vectors @ (
                excess_correction * (respondent_scores[k] @ vectors)
            )
    return corrected_scores


def _multiply_by_leverage(block: _RespondentBlock, vectors: np.ndarray) -> np.ndarray:
    """Return leverage matrix times vector for each respondent, (respondents, r)."""
    from scipy.sparse import csr_array

    expected = block.expected
    if isinstance(expected, np.ndarray):
        return (expected * (vectors @ block.scores.T)) @ block.scores
    respondent = part_indices(expected.indptr)
    weighted_products = np.einsum("er,er->e", block.scores[expected.indices], vectors[respondent])
    return (
        csr_array(
            (expected.data * weighted_products, expected.indices, expected.indptr),
            shape=expected.shape,
        )
        @ block.scores
    )


def _decompose_leverage(block: _RespondentBlock, respondent: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvectors (r, rank) and eigenvalues (rank,) of a respondent's leverage matrix."""
    from scipy.sparse import csr_array

    expected_counts = csr_array(block.expected[[respondent]])
    scaled_scores = np.sqrt(expected_counts.data)[:, None] * block.scores[expected_counts.indices]
    if len(scaled_scores) > scaled_scores.shape[1]:
        eigenvalues, vectors = np.linalg.eigh(scaled_scores.T @ scaled_scores)
        return vectors, np.clip(eigenvalues, 0.0, 1.0)
    eigenvalues, combinations = np.linalg.eigh(scaled_scores @ scaled_scores.T)
    is_informed = eigenvalues > TINY
    return scaled_scores.T @ (
        combinations[:, is_informed] / np.sqrt(eigenvalues[is_informed])
    ), np.minimum(eigenvalues[is_informed], 1.0)


def _compute_contrast_leverages(expected: Any, contrast_scores: np.ndarray) -> np.ndarray:
    """Return leverage matrices of contrasts (outcomes, sets, q), (respondents, sets, q, q)."""
    # With fewer than q answers per respondent: products between the answers, (respondents, sets,
    # answers, answers), with the same traces and squares.
    n_sets, q = contrast_scores.shape[1:]
    n_answers = np.diff(getattr(expected, "indptr", (0, q)))  # a dense array has at least q
    max_answers = n_answers.max(initial=0)
    if max_answers >= q:
        products = contrast_scores[..., None] * contrast_scores[..., None, :]
        return (expected @ products.reshape(len(products), -1)).reshape(-1, n_sets, q, q)
    is_answer = np.arange(max_answers) < n_answers[:, None]
    answers = np.zeros(is_answer.shape, np.int64)
    weights = np.zeros(is_answer.shape)
    answers[is_answer], weights[is_answer] = expected.indices, expected.data
    scaled_scores = np.sqrt(weights)[..., None, None] * contrast_scores[answers]
    return np.einsum("samq,sbmq->smab", scaled_scores, scaled_scores, optimize=True)


def _compute_leverage_correction(leverages: np.ndarray) -> np.ndarray:
    """Return (1 - leverage)^(-1/2); 0 for a respondent with all information."""
    remaining_share = 1.0 - leverages
    return np.where(remaining_share > MIN_REST, np.maximum(remaining_share, MIN_REST) ** -0.5, 0.0)


def _sum_entry_variances(matrices: np.ndarray) -> np.ndarray:
    """Return the summed variances of a matrix product's entries."""
    # The factors have covariances (..., q, q).
    return np.trace(matrices, axis1=-2, axis2=-1) ** 2 + (matrices * matrices.swapaxes(-1, -2)).sum(
        axis=(-1, -2)
    )


def inverse_root(information: np.ndarray, min_share: float) -> np.ndarray:
    """Return L (parameters, r) with L L' the inverse of the information matrix.

    Directions with a smaller share of information than `min_share` are left out.
    """
    eigenvalues, vectors = np.linalg.eigh(information)
    is_informed = eigenvalues > min_share * max(eigenvalues.max(initial=0.0), 1e-300)
    return vectors[:, is_informed] / np.sqrt(eigenvalues[is_informed])


def raise_improbable_variance(
    score_variance: ScoreVariance, df: float, df_per_contrast: float, independent: float = 1.0
) -> np.ndarray:
    """Return the score covariance (r, r), with improbably small variances raised.

    `independent`: the variance of independent answers. `df_per_contrast`: respondents less one, per
    contrast. If there are fewer respondents than
    contrasts, some directions have no variance; their share is in the other directions, which are
    raised less: cubes cover .87 to .94 for 2 to 5 respondents of 6 options.
    """
    from scipy.special import chdtri

    eigenvalues, vectors = np.linalg.eigh(score_variance.about_pull)
    is_unlikely = eigenvalues < independent * chdtri(df, 1.0 - UNLIKELY) / df
    min_variance = independent
    if not is_unlikely.all():
        min_variance = independent * min(1.0, df_per_contrast) ** 3
    directions = vectors[:, is_unlikely]
    eigenvalues, vectors = np.linalg.eigh(directions.T @ score_variance.variance @ directions)
    directions = directions @ vectors
    return (
        score_variance.variance
        + (directions * (np.maximum(eigenvalues, min_variance) - eigenvalues)) @ directions.T
    )


def expect_answers(tally: "csr_array", sizes: np.ndarray, p: np.ndarray) -> Any:
    """Return expected outcome counts of each respondent, sparse (respondents, outcomes)."""
    from scipy.sparse import csr_array

    outcomes = np.arange(len(p))
    question = repeat_indices(sizes)
    n_asked = tally @ csr_array((np.ones(len(p)), (outcomes, question)), shape=(len(p), len(sizes)))
    return n_asked @ csr_array((p, (question, outcomes)), shape=(len(sizes), len(p)))


class RespondentVariance(NamedTuple):
    """Variance of respondents' scores, with its degrees of freedom."""

    scores: ScoreVariance
    root: np.ndarray  # (parameters, r): L with L L' the covariance of independent answers
    degrees: np.ndarray  # degrees of freedom of each contrast
    df_per_contrast: float  # respondents less one for each contrast
    independent: float = 1.0  # variance of scores if answers are independent

    @property
    def df(self) -> float:
        """Median degrees of freedom of the contrasts."""
        return float(np.median(self.degrees))

    @property
    def score_covariance(self) -> np.ndarray:
        """Covariance V of scores (r, r), with improbably small variances raised."""
        return raise_improbable_variance(
            self.scores, self.df, self.df_per_contrast, self.independent
        )

    def expand_degrees(self, n_options: int, n_parameters: int) -> np.ndarray:
        """Return degrees of freedom of all parameters: the median, but of each option its own.

        Of more options than contrasts all have the median.
        """
        degrees = np.full(n_parameters, self.df)
        if len(self.degrees) == n_options:
            degrees[:n_options] = self.degrees
        return degrees

    def describe(self, dependence: Dependence) -> Dependence:
        """Return the treatment of respondents, marked as a variance of scores."""
        return replace(dependence, by=SCORES, df=self.df, share=self.scores.share)

    def matrix(self) -> np.ndarray:
        r"""Return the matrix that widens deviations of covariance LL' to L V L'.

        V is the variance of scores.
        """
        eigenvalues, eigenvectors = np.linalg.eigh(self.score_covariance)
        square_root = (eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ eigenvectors.T
        return self.root @ square_root @ np.linalg.inv(self.root)


def compute_score_variance(
    problem: ScoredProblem, clusters: AnswersByRespondent, weights: np.ndarray, beta: np.ndarray
) -> ScoreVariance:
    """Compute the covariance of respondents' scores, whitened to information 1."""
    inverse_hessian_root = inverse_root(
        -problem.compute_derivatives(weights, beta).hessian, NO_INFORMATION
    )
    return RespondentScores(problem, clusters.tally, weights, beta, inverse_hessian_root).variance
