"""Variance of respondents' scores at the mode, and draws widened by it (sandwich)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.respondent_answers import Answers, list_possible_answers
from thali._inference.user_warnings import warn
from thali._model.answers_by_respondent import AnswersByRespondent, group_by_respondent
from thali._model.cluster_robust_variance import (
    AnswerScores,
    RespondentScores,
    RespondentVariance,
)
from thali._model.dependent_answers import choose_dependence
from thali._people.people_argument import ADJUSTED
from thali._posterior.respondent_dependence import INDEPENDENT, POWER, Dependence
from thali.errors import Argument, EstimateWarning

from .posterior_density import Density
from .set_choice_density import ChoiceSetDensity, iterate_answers_by_size

if TYPE_CHECKING:
    from thali._data.pairs import PairedComparisons

    from .laplace_approximation import Marginal

_MAX_CONTRASTS = 50  # options whose degrees of freedom give the median
_MAX_SHARES = 20_000_000  # respondents times contrasts
_MAX_CHANGE = 700.0  # of a log worth by Student's t


def compute_answer_scores(
    density: Density, data: "PairedComparisons | Choices", point: np.ndarray
) -> AnswerScores:
    """Return gradients of all possible answers, in the order of `group_by_respondent`."""
    expansion = density.expand(point)
    if isinstance(density, ChoiceSetDensity):
        assert isinstance(data, Choices)
        scores, p, set_sizes = _score_set_answers(density, data, point)
    else:
        scores, p, set_sizes = _score_pair_answers(density, point)
    if not density.has_deviations:
        scores = (scores * density.is_free).tocsr()
    return AnswerScores(
        scores, p, set_sizes, expansion.gradient[:, 0], -expansion.curvature.assemble_dense()
    )


def _score_pair_answers(density: Density, point: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return gradients, probabilities (rows: each pair's outcomes) and outcomes per pair."""
    from scipy.sparse import vstack

    n = density.n_rows
    has_ties = density.rows.has_ties
    ones = np.ones(n)
    zeros = np.zeros(n)
    # counts of wins, losses and ties
    outcome_counts = [(ones, zeros, zeros), (zeros, zeros, ones), (zeros, ones, zeros)]
    if not has_ties:
        del outcome_counts[1]
    densities = [density.with_counts(*counts) for counts in outcome_counts]
    row_order = np.arange(len(densities) * n).reshape(len(densities), -1).T.ravel()
    log_probabilities = np.concatenate(
        [d.row_log_likelihoods(point[:, None])[:, 0] for d in densities]
    )
    score_matrix = vstack([d.row_scores(point) for d in densities]).tocsr()
    return score_matrix[row_order], np.exp(log_probabilities)[row_order], np.full(n, len(densities))


def _score_set_answers(
    density: ChoiceSetDensity, data: Choices, point: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return gradients and probabilities of all answers to all sets, and answers per set."""
    # A set with a tie has only its given answer.
    set_sizes = data.sizes
    set_starts = data.start
    worst_positions = None
    if data.worst is not None:
        answers = list_possible_answers(set_starts)
        set_of_answer = np.repeat(np.arange(len(set_sizes)), answers.sizes)
        best_positions = answers.best
        worst_positions = answers.worst
    else:
        positions = np.arange(len(data.members))
        best_positions = positions[
            (data.n_tied[data.set_of] == 1) | (positions == set_starts[data.set_of])
        ]
        set_of_answer = data.set_of[best_positions]
    row_blocks, member_blocks, tied_counts = zip(
        *iterate_answers_by_size(data, set_of_answer, best_positions, worst_positions), strict=True
    )
    zeros = np.zeros(len(best_positions), np.int64)
    row_order = np.argsort(np.concatenate(row_blocks))
    possible_answers = density.rows._replace(
        members=member_blocks, n_tied=tied_counts, judge=zeros, counts=zeros + 1.0
    )
    answer_density = density.with_rows(possible_answers)
    p = np.exp(answer_density.row_log_likelihoods(point[:, None])[:, 0])[row_order]
    p[data.n_tied[set_of_answer] > 1] = 1.0  # the one answer of its question
    return answer_density.row_scores(point)[row_order], p, np.bincount(set_of_answer)


def estimate_respondent_variance(
    density: Density,
    data: "PairedComparisons | Choices",
    clusters: AnswersByRespondent,
    point: np.ndarray,
    covariance_root: np.ndarray,
) -> RespondentVariance | None:
    """Estimate the variance of respondents' scores at the mode; None if it cannot be estimated.

    `covariance_root` is that of the covariance of draws.
    """
    n = density.n_options
    scores = RespondentScores(
        compute_answer_scores(density, data, point),
        clusters.tally,
        point,
        point[:0],
        covariance_root,
    )
    if not scores.has_maximum:  # with frequent lapses
        return None
    n_contrasts = min(_MAX_CONTRASTS, 1 + _MAX_SHARES // clusters.n_respondents)
    contrasts = density.option_contrasts[..., None]
    independent = 1.0
    answers = data.answers
    if isinstance(answers, Answers) and data.scores is not None:
        # equal scores that count half do not vary
        independent = float(((answers.wins - answers.losses) ** 2 + answers.tied).mean())
    return RespondentVariance(
        scores.variance,
        covariance_root,
        scores.degrees_of_freedom(contrasts[:: max(1, n // n_contrasts)]),
        (clusters.n_respondents - 1) / density.n_identified,
        independent,
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
        """`dependence`, marked as a variance of scores if draws are widened by it."""
        if self.dependence is None or self.adjusted_variance is None:
            return self.dependence
        return self.adjusted_variance.describe(self.dependence)

    @property
    def power_dependence(self) -> Dependence | None:
        """`dependence`, marked as a power of the likelihood if draws would be widened."""
        if self.dependence is None or self.adjusted_variance is None:
            return self.dependence
        return replace(self.dependence, by=POWER)


def build_adjustment(
    data: "PairedComparisons | Choices",
    marginal: "Marginal",
    people: str | None,
    default_adjustment: str,
) -> RespondentAdjustment:
    """Return the correction for repeated answers of respondents in these data."""
    density = marginal.density
    clusters = group_by_respondent(data, bool(data.n_ties) or density.rows.has_ties)
    dependence = choose_dependence(people, default_adjustment, data, clusters)
    if dependence is None or clusters is None:
        return RespondentAdjustment(dependence)
    _, mode = marginal.best
    covariance_root = mode.factor.draw(np.eye(density.size))
    variance = estimate_respondent_variance(density, data, clusters, mode.point, covariance_root)
    if variance is None:
        if dependence.model == ADJUSTED:
            warn(
                EstimateWarning(
                    "Intervals do not allow for repeated answers of a respondent: with so many"
                    " lapses, answers contain too little information to estimate their dependence;"
                    " check ",
                    Argument("lapse"),
                    ".",
                )
            )
            dependence = replace(dependence, model=INDEPENDENT)
        return RespondentAdjustment(dependence)
    return RespondentAdjustment(replace(dependence, effect=variance.scores.design_effect), variance)


class WidenedPoints(NamedTuple):
    """Parameter vectors (size, n_draws), widened by the variance over respondents."""

    narrow: np.ndarray  # normal, with the variance treated as known
    wide: np.ndarray  # Student's t, with the degrees of freedom of each option


def widen_points(
    rng: np.random.Generator,
    marginal: "Marginal",
    variance: RespondentVariance,
    points: np.ndarray,
    centre: np.ndarray,
) -> WidenedPoints:
    """Return parameter vectors widened around `centre` for respondents' dependence."""
    from scipy.special import chdtri

    density = marginal.density
    widening_matrix = variance.matrix()
    centre_column = centre[:, None]
    degrees = variance.expand_degrees(density.n_options, density.size)[:, None]
    _, mode = marginal.best
    deviations = widening_matrix @ marginal.draw_deviations(mode, rng, points.shape[1])
    narrow_points = centre_column + widening_matrix @ (points - centre_column)
    # one quantile for all parameters, so that draws stay correlated
    variance_factor = degrees / chdtri(degrees, rng.random(points.shape[1]))
    added_deviations = np.sqrt(np.clip(variance_factor - 1.0, 0.0, None)) * deviations
    added_deviations *= np.minimum(
        1.0, _MAX_CHANGE / np.maximum(np.abs(added_deviations).max(axis=0), 1e-300)
    )
    wide_points = (
        centre_column
        + np.sqrt(np.minimum(variance_factor, 1.0)) * (narrow_points - centre_column)
        + added_deviations
    )
    return WidenedPoints(narrow_points, wide_points)
