"""Variance of respondents' scores at the mode, and draws widened by it (sandwich)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.respondent_answers import list_possible_answers
from thali._model.answers_by_respondent import AnswersByRespondent, group_by_respondent
from thali._model.cluster_robust_variance import (
    RespondentScores,
    ScoreVariance,
    expect_answers,
    raise_improbable_variance,
)
from thali._model.dependent_answers import choose_dependence, mean_design_effect
from thali._people.people_argument import ADJUSTED
from thali._posterior.respondent_dependence import POWER, SCORES, Dependence

from .density import Density
from .set_density import ChoiceSetDensity, iterate_answers_by_size

if TYPE_CHECKING:
    from thali._data.pairs import PairedComparisons

    from .laplace import Marginal

_MAX_CONTRASTS = 50  # options whose degrees of freedom give the median
_MAX_CHANGE = 700.0  # of a log worth by Student's t


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

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return log-likelihood gradients, one per row of the sparse `tally` of answers."""
        return (tally @ self.matrix).toarray()

    def expect_outcomes(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights that make squared scores sum to the information of each `tally` row."""
        return expect_answers(tally, self.sizes, self.p)


def compute_answer_scores(
    density: Density, data: "PairedComparisons | Choices", point: np.ndarray
) -> AnswerScores:
    """Return gradients of all possible answers, in the order of `group_by_respondent`."""
    expansion = density.expand(point)
    derivatives = expansion.gradient[:, 0], -expansion.curvature.assemble_dense()
    if isinstance(density, ChoiceSetDensity):
        assert isinstance(data, Choices)
        return AnswerScores(*_score_set_answers(density, data, point), *derivatives)
    return AnswerScores(*_score_pair_answers(density, point), *derivatives)


def _score_pair_answers(density: Density, point: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return gradients and probabilities of first, tie and second for each row."""
    from scipy.sparse import vstack

    n, has_ties = density.n_rows, density.rows.has_ties
    ones, zeros = np.ones(n), np.zeros(n)
    # counts of wins, losses and ties
    outcomes = [(ones, zeros, zeros), (zeros, zeros, ones), (zeros, ones, zeros)]
    if not has_ties:
        del outcomes[1]
    densities = [density.with_counts(*counts) for counts in outcomes]
    order = np.arange(len(densities) * n).reshape(len(densities), -1).T.ravel()
    log_p = np.concatenate([d.row_log_likelihoods(point[:, None])[:, 0] for d in densities])
    matrix = vstack([d.row_scores(point) for d in densities]).tocsr()
    return matrix[order], np.exp(log_p)[order], np.full(n, len(densities))


def _score_set_answers(
    density: ChoiceSetDensity, data: Choices, point: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return gradients and probabilities of all answers to all sets."""
    # A set with a tie has only its given answer.
    sizes, start, worst = data.sizes, data.start, None
    if data.worst is not None:
        answers = list_possible_answers(start)
        set_of = np.repeat(np.arange(len(sizes)), answers.sizes)
        best, worst = answers.best, answers.worst
    else:
        positions = np.arange(len(data.members))
        best = positions[(data.n_tied[data.set_of] == 1) | (positions == start[data.set_of])]
        set_of = data.set_of[best]
    rows, members, tied = zip(*iterate_answers_by_size(data, set_of, best, worst), strict=True)
    zero, order = np.zeros(len(best), np.int64), np.argsort(np.concatenate(rows))
    possible = density.rows._replace(members=members, n_tied=tied, judge=zero, counts=zero + 1.0)
    by_answer = density.with_rows(possible)
    p = np.exp(by_answer.row_log_likelihoods(point[:, None])[:, 0])[order]
    p[data.n_tied[set_of] > 1] = 1.0  # the one answer of its question
    return by_answer.row_scores(point)[order], p, np.bincount(set_of)


class RespondentVariance(NamedTuple):
    """Variance of respondents' scores, with its degrees of freedom."""

    scores: ScoreVariance
    root: np.ndarray  # (size, size): L with L L' the covariance of draws
    df: float
    freedom: float  # respondents less one for each contrast

    def matrix(self) -> np.ndarray:
        r"""Return the matrix that widens deviations of covariance LL' to L V L'.

        V is the variance of scores.
        """
        variance = raise_improbable_variance(self.scores, self.df, self.freedom)
        values, vectors = np.linalg.eigh(variance)
        square_root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return self.root @ square_root @ np.linalg.inv(self.root)


def estimate_respondent_variance(
    density: Density,
    data: "PairedComparisons | Choices",
    clusters: AnswersByRespondent,
    point: np.ndarray,
    root: np.ndarray,
) -> RespondentVariance:
    """Estimate the variance of respondents' scores at the mode.

    `root` is that of the covariance of draws.
    """
    n, size = density.n_options, density.size
    scores = RespondentScores(
        compute_answer_scores(density, data, point), clusters.tally, point, point[:0], root
    )
    contrasts = np.zeros((n, size, 1))
    contrasts[:, :n, 0] = np.eye(n) - 1.0 / n
    df = float(np.median(scores.degrees_of_freedom(contrasts[:: max(1, n // _MAX_CONTRASTS)])))
    return RespondentVariance(
        scores.compute_variance(), root, df, (clusters.n_respondents - 1) / (size - 1)
    )


class RespondentAdjustment(NamedTuple):
    """Correction for repeated answers of respondents, and the variance of their scores.

    Both are None without respondents.
    """

    dependence: Dependence | None = None
    variance: RespondentVariance | None = None

    @property
    def adjusted_variance(self) -> RespondentVariance | None:
        """Variance by which draws are widened; None if they are not."""
        if self.dependence is None or self.dependence.model != ADJUSTED:
            return None
        return self.variance

    @property
    def score_dependence(self) -> Dependence | None:
        """Description of the correction, if it widens draws by the variance of scores."""
        if self.dependence is None or self.adjusted_variance is None:
            return self.dependence
        return replace(
            self.dependence,
            by=SCORES,
            df=self.adjusted_variance.df,
            share=self.adjusted_variance.scores.share,
        )

    @property
    def power_dependence(self) -> Dependence | None:
        """Description of the correction, if it raises the likelihood to a power."""
        if self.dependence is None or self.adjusted_variance is None:
            return self.dependence
        return replace(self.dependence, by=POWER)


def build_adjustment(
    data: "PairedComparisons | Choices", marginal: "Marginal", people: Any, default_adjustment: str
) -> RespondentAdjustment:
    """Return the correction for repeated answers of respondents in these data."""
    density = marginal.density
    clusters = group_by_respondent(data, bool(data.n_ties) or density.rows.has_ties)
    known_clusters = []
    if clusters is not None:
        known_clusters.append(clusters)
    dependence = choose_dependence(people, default_adjustment, data, known_clusters)
    if dependence is None or clusters is None:
        return RespondentAdjustment(dependence)
    _, mode = marginal.best
    root = mode.factor.draw(np.eye(density.size))
    variance = estimate_respondent_variance(density, data, clusters, mode.point, root)
    return RespondentAdjustment(
        replace(dependence, effect=mean_design_effect([variance.scores])), variance
    )


class WidenedPoints(NamedTuple):
    """Parameter vectors (size, n_draws), widened by the variance over respondents."""

    narrow: np.ndarray  # normal, with the variance treated as known
    wide: np.ndarray  # Student's t, with its degrees of freedom


def widen_points(
    rng: np.random.Generator,
    marginal: "Marginal",
    variance: RespondentVariance,
    points: np.ndarray,
    centre: np.ndarray,
) -> WidenedPoints:
    """Return parameter vectors widened around `centre` for respondents' dependence."""
    matrix, df, level = variance.matrix(), variance.df, centre[:, None]
    _, mode = marginal.best
    deviations = matrix @ marginal.draw_deviations(mode, rng, points.shape[1])
    narrow = level + matrix @ (points - level)
    factor = df / rng.chisquare(df, points.shape[1])
    added = np.sqrt(np.clip(factor - 1.0, 0.0, None)) * deviations
    added *= np.minimum(1.0, _MAX_CHANGE / np.maximum(np.abs(added).max(axis=0), 1e-300))
    wide = level + np.sqrt(np.minimum(factor, 1.0)) * (narrow - level) + added
    return WidenedPoints(narrow, wide)
