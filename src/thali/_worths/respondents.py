"""The scores of answers at the mode of worths, by which draws are spread to the variance over
respondents."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.answers import list_possible_answers
from thali._data.choices import Choices
from thali._model.clusters import AnswersByRespondent, group_by_respondent
from thali._model.design_effects import choose_dependence, mean_design_effect
from thali._model.respondent_scores import (
    RespondentScores,
    ScoreVariance,
    expect_answers,
    raise_improbable_variance,
)
from thali._people.populations import ADJUSTED
from thali._posterior.dependence import POWER, SCORES, Dependence

from .density import Density
from .sets import ChoiceSetDensity, iterate_answers_by_size

if TYPE_CHECKING:
    from thali._data.pairs import PairedComparisons

    from .laplace import Marginal

_CONTRASTS = 50  # options, of whose degrees of freedom the median is taken
_FARTHEST = 700.0  # change of a log worth by Student's t


class AnswerScores(NamedTuple):
    """Slopes of the log probability of every possible answer at a point."""

    matrix: Any  # sparse (answers, size)
    p: np.ndarray  # (answers,)
    sizes: np.ndarray  # answers of each question
    gradient: np.ndarray
    hessian: np.ndarray

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> "AnswerScores":
        """Return the derivatives of the log-likelihood."""
        return self

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the gradients of parts of the answers."""
        return (tally @ self.matrix).toarray()

    def expect_outcomes(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights with which squared scores of answers sum to the information of parts."""
        return expect_answers(tally, self.sizes, self.p)


def answer_scores(
    density: Density, data: "PairedComparisons | Choices", point: np.ndarray
) -> AnswerScores:
    """Return the scores of the possible answers of data, in the order of `group_by_respondent`."""
    there = density.expand(point)
    derivatives = there.gradient[:, 0], -there.curvature.assemble_dense()
    if isinstance(density, ChoiceSetDensity):
        assert isinstance(data, Choices)
        return AnswerScores(*_of_sets(density, data, point), *derivatives)
    return AnswerScores(*_of_pairs(density, point), *derivatives)


def _of_pairs(density: Density, point: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return slopes and probabilities of the first, a tie if that is an answer, and the second of
    each row."""
    from scipy.sparse import vstack

    n, has_ties = density.n_rows, density.rows.has_ties
    one, none = np.ones(n), np.zeros(n)
    # counts of wins, losses and ties
    outcomes = [(one, none, none), (none, none, one), (none, one, none)]
    if not has_ties:
        del outcomes[1]
    each = [density.with_counts(*counts) for counts in outcomes]
    order = np.arange(len(each) * n).reshape(len(each), -1).T.ravel()
    logs = np.concatenate([alone.row_log_likelihoods(point[:, None])[:, 0] for alone in each])
    matrix = vstack([alone.row_scores(point) for alone in each]).tocsr()
    return matrix[order], np.exp(logs)[order], np.full(n, len(each))


def _of_sets(
    density: ChoiceSetDensity, data: Choices, point: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return slopes and probabilities of every answer to every set; of a set with a tie of the one
    that was given."""
    sizes, start, worst = data.sizes, data.start, None
    if data.worst is not None:
        answers = list_possible_answers(start)
        set_of, best, worst = (
            np.repeat(np.arange(len(sizes)), answers.sizes),
            answers.best,
            answers.worst,
        )
    else:
        places = np.arange(len(data.members))
        best = places[(data.n_tied[data.set_of] == 1) | (places == start[data.set_of])]
        set_of = data.set_of[best]
    rows, members, tied = zip(*iterate_answers_by_size(data, set_of, best, worst), strict=True)
    zero, order = np.zeros(len(best), np.int64), np.argsort(np.concatenate(rows))
    possible = density.rows._replace(members=members, n_tied=tied, judge=zero, counts=zero + 1.0)
    alone = density.with_rows(possible)
    p = np.exp(alone.row_log_likelihoods(point[:, None])[:, 0])[order]
    p[data.n_tied[set_of] > 1] = 1.0  # the one answer of its question
    return alone.row_scores(point)[order], p, np.bincount(set_of)


class RespondentVariance(NamedTuple):
    """The variance of the scores of respondents, and its degrees of freedom."""

    scores: ScoreVariance
    root: np.ndarray  # (size, size): L with L L' the covariance of draws
    df: float
    freedom: float  # respondents less one for each contrast

    def matrix(self) -> np.ndarray:
        r"""Return the matrix that spreads deviations of covariance :math:`L L'` to :math:`L V L'`,
        V the variance."""
        variance = raise_improbable_variance(self.scores, self.df, self.freedom)
        values, vectors = np.linalg.eigh(variance)
        square_root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return self.root @ square_root @ np.linalg.inv(self.root)


def respondent_variance(
    density: Density,
    data: "PairedComparisons | Choices",
    clusters: AnswersByRespondent,
    point: np.ndarray,
    root: np.ndarray,
) -> RespondentVariance:
    """Return the variance of respondents' scores at the mode; `root`: of the covariance of
    draws."""
    n, size = density.n_options, density.size
    scores = RespondentScores(
        answer_scores(density, data, point), clusters.tally, point, point[:0], root
    )
    contrasts = np.zeros((n, size, 1))
    contrasts[:, :n, 0] = np.eye(n) - 1.0 / n
    df = float(np.median(scores.degrees_of_freedom(contrasts[:: max(1, n // _CONTRASTS)])))
    return RespondentVariance(
        scores.compute_variance(), root, df, (clusters.n_respondents - 1) / (size - 1)
    )


class Respondents(NamedTuple):
    """What is made of respondents, and the variance of their scores at the mode; None where nobody
    is known."""

    made: Dependence | None = None
    variance: RespondentVariance | None = None

    @property
    def adjusted(self) -> RespondentVariance | None:
        """The variance that results allow for; None where nothing is adjusted."""
        return self.variance if self.made is not None and self.made.model == ADJUSTED else None

    @property
    def by_scores(self) -> Dependence | None:
        """What is made of respondents where draws are spread to the variance of their scores."""
        if self.made is None or self.adjusted is None:
            return self.made
        return replace(self.made, by=SCORES, df=self.adjusted.df, share=self.adjusted.scores.share)

    @property
    def by_power(self) -> Dependence | None:
        """What is made of respondents where the likelihood is raised to a power."""
        return (
            self.made
            if self.made is None or self.adjusted is None
            else replace(self.made, by=POWER)
        )


def respondents_of(
    data: "PairedComparisons | Choices", marginal: "Marginal", people: Any, usual: str
) -> Respondents:
    """Return what is made of the respondents of data, which are as `as_likelihood` returns them."""
    density = marginal.density
    clusters = group_by_respondent(data, bool(data.n_ties) or density.rows.has_ties)
    made = choose_dependence(people, usual, data, [] if clusters is None else [clusters])
    if made is None or clusters is None:
        return Respondents(made)
    _, mode = marginal.best
    root = mode.factor.draw(np.eye(density.size))
    variance = respondent_variance(density, data, clusters, mode.point, root)
    return Respondents(replace(made, effect=mean_design_effect([variance.scores])), variance)


class SpreadPoints(NamedTuple):
    """Points (size, draws) with the variance over respondents."""

    narrow: np.ndarray  # as if it were known
    wide: np.ndarray  # as it is known to some degrees of freedom


def spread_to_respondents(
    rng: np.random.Generator,
    marginal: "Marginal",
    variance: RespondentVariance,
    points: np.ndarray,
    middle: np.ndarray,
) -> SpreadPoints:
    """Return points as uncertain about new respondents as their scores make them, about a
    middle."""
    matrix = variance.matrix()
    _, mode = marginal.best
    normal = matrix @ marginal.draw_deviations(mode, rng, points.shape[1])
    narrow = middle[:, None] + matrix @ (points - middle[:, None])
    return SpreadPoints(narrow, widened(rng, narrow, middle, normal, variance.df))


def widened(
    rng: np.random.Generator, points: np.ndarray, middle: np.ndarray, normal: np.ndarray, df: float
) -> np.ndarray:
    """Return points (size, draws) as uncertain as their covariance, known to `df` degrees of
    freedom, makes them.

    `normal`: as many deviations of the same covariance.
    """
    factor = df / rng.chisquare(df, points.shape[1])
    more = np.sqrt(np.clip(factor - 1.0, 0.0, None)) * normal
    more *= np.minimum(1.0, _FARTHEST / np.maximum(np.abs(more).max(axis=0), 1e-300))
    return middle[:, None] + np.sqrt(np.minimum(factor, 1.0)) * (points - middle[:, None]) + more
