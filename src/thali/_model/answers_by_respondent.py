r"""Counts of each respondent's answers, and tests of fit that allow for dependent answers.

If the answers of a respondent depend on each other, G² is distributed as a sum of chi-square
variables, each times a design effect (Rao & Scott 1984). With the standardised residuals
:math:`z_{so} = (n_{so} - n_s p_o) / \sqrt{n p_o}` of each respondent's outcomes, and the projection
P on the parameters that one model has and another lacks, the effects are the eigenvalues of
:math:`P (\sum_s z_s z_s^T) P`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import divide_positive


class AnswersByRespondent(NamedTuple):
    """Sparse counts of each possible answer by each of S respondents."""

    tally: Any  # sparse (S, outcomes), outcomes as in a problem

    @property
    def n_respondents(self) -> int:
        """Number S of respondents with at least one answer."""
        return self.tally.shape[0]

    @property
    def n_answers(self) -> np.ndarray:
        """Number of answers of each respondent, shape (S,)."""
        return np.asarray(self.tally.sum(axis=1)).ravel()

    def residuals(self, problem: Any, p: np.ndarray) -> Iterator[np.ndarray]:
        """Yield standardised residuals of blocks of respondents, shape (respondents, outcomes).

        `p` has the fitted probability of each outcome.
        """
        first_outcomes = np.cumsum(problem.sizes) - problem.sizes
        expected = np.repeat(problem.totals, problem.sizes) * p
        for respondents in iterate_slices(self.n_respondents, len(p)):
            outcome_counts = self.tally[respondents].toarray()
            outcome_totals = np.repeat(
                np.add.reduceat(outcome_counts, first_outcomes, axis=1), problem.sizes, axis=1
            )
            differences = outcome_counts - outcome_totals * p
            yield divide_positive(differences, np.sqrt(expected))


class DesignEffect(NamedTuple):
    """Distribution of a likelihood ratio if a respondent's answers are dependent.

    It is `scale` times a chi-square variable with `df` degrees of freedom.
    """

    n_respondents: int
    mean: float  # mean design effect
    scale: float  # a, for a times chi-square with `df` degrees of freedom
    df: float

    def p_value(self, statistic: float) -> float:
        """Return P(likelihood ratio >= statistic) under dependent answers."""
        from scipy.special import chdtrc

        if self.scale > 0.0:
            return float(chdtrc(self.df, max(statistic, 0.0) / self.scale))
        return 1.0


def compute_design_effect(
    residuals: Iterable[np.ndarray],
    n_respondents: int,
    larger_columns: np.ndarray | None,
    smaller_columns: np.ndarray,
    df: int,
) -> DesignEffect:
    """Compute the design effect of the likelihood ratio between two nested models.

    Columns of `larger_columns` and `smaller_columns` span what the models can change; None: the
    saturated model.
    """
    small_basis = compute_orthonormal_basis(smaller_columns)
    large_basis = None
    if larger_columns is not None:
        large_basis = compute_orthonormal_basis(larger_columns)

    def project(residual_rows: np.ndarray) -> np.ndarray:
        """Project residual rows onto what the larger model adds to the smaller."""
        if large_basis is not None:
            residual_rows = (residual_rows @ large_basis) @ large_basis.T
        return residual_rows - (residual_rows @ small_basis) @ small_basis.T

    if n_respondents > len(smaller_columns):
        gram_matrix = sum(
            (projected_rows.T @ projected_rows for projected_rows in map(project, residuals)),
            np.zeros((len(smaller_columns), len(smaller_columns))),
        )
    else:
        projected_rows_of_all = np.concatenate(list(map(project, residuals)))
        gram_matrix = projected_rows_of_all @ projected_rows_of_all.T
    gram_matrix *= n_respondents / (n_respondents - 1.0)
    trace = float(np.trace(gram_matrix))
    squared_trace = float((gram_matrix**2).sum())
    if trace <= 0.0:
        return DesignEffect(n_respondents, 0.0, 0.0, 1.0)
    return DesignEffect(n_respondents, trace / df, squared_trace / trace, trace**2 / squared_trace)


def group_by_respondent(data: Any, ties: bool) -> AnswersByRespondent | None:
    """Count each respondent's answers; None if fewer than two respondents are identified."""
    questions = data.questions(ties)
    if questions is None:  # similarities are measured: every judgement is an outcome
        if (judgements := data.answers) is None:
            return None
        answer_respondents = judgements.respondent
        n_outcomes = len(judgements.values)
        outcome_indices = np.arange(n_outcomes)
        n_times = np.ones(n_outcomes)
    else:
        if questions.given is None:
            return None
        _, answer_respondents, outcome_indices, n_times = questions.given
        n_outcomes = len(questions.counts)
    distinct_respondents, respondent_indices = np.unique(answer_respondents, return_inverse=True)
    if len(distinct_respondents) < 2:
        return None
    from scipy.sparse import csr_array  # slow to load, and most data do not identify respondents

    return AnswersByRespondent(
        csr_array(
            (n_times.astype(float), (respondent_indices, outcome_indices)),
            shape=(len(distinct_respondents), n_outcomes),
        )
    )


def compute_orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the column space."""
    u, singular_values, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, singular_values > 1e-9 * singular_values.max(initial=0.0)]
