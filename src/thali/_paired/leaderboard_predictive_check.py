"""Posterior predictive check of a leaderboard: observed proportions against replicates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices.data_subsets import drop_tied_sets
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import CovariateCells
from thali._data.pairs.data_subsets import build_questions
from thali._data.questions import AnswerProbabilities, Questions
from thali._inference.numerics.weight_shares import mix_with_guess, stack_outcomes
from thali._model.predicted_answers import EqualRespondents, check_answers, check_unweighted
from thali.errors import DataError

from .worth_estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._worths.posterior_density import Density

# maximum of distinct comparisons, or sets times judges; above, the check takes longer than the
# leaderboard
_MAX_ROWS = 100_000
# answers in all replicates; maximum and minimum of draws
_MAX_ANSWERS = 2_000_000
_MAX_DRAWS = 1_000
_MIN_DRAWS = 100


def check_votes(estimates: WorthEstimates) -> "pandas.DataFrame":
    """Return a table of observed proportions against posterior replicates.

    Raises
    ------
    DataError
        If counts are fractional, or there are too many different comparisons.
    """
    assert estimates.pose is not None and estimates.points is not None
    density = estimates.pose.density
    data = estimates.pose.data
    settings = estimates.pose.settings
    if density.n_rows > _MAX_ROWS:
        raise DataError(
            f"The check is limited to {_MAX_ROWS:,} different comparisons, but there are"
            f" {density.n_rows:,}."
        )
    n_draws = estimates.points.shape[1]
    n_selected = min(n_draws, max(_MIN_DRAWS, min(_MAX_DRAWS, _MAX_ANSWERS // density.n_rows)))
    points = estimates.points[:, np.arange(n_selected) * n_draws // n_selected]
    if isinstance(data, PairedComparisons):
        questions, respondent_groups = _check_pairs(data, density, points)
    else:
        questions, respondent_groups = _check_sets(data, density, points)
    check_unweighted(questions)
    return check_answers(
        questions, respondent_groups, n_selected, settings.random_seed, settings.ci
    )


def _check_pairs(
    data: PairedComparisons, density: "Density", points: np.ndarray
) -> tuple[Questions, list[EqualRespondents]]:
    """Return each compared pair as a question, with answer probabilities and counts."""
    pair_keys = data.n_options * data.first + data.second
    pair_of_row = np.searchsorted(
        pair_keys, data.n_options * density.rows.first + density.rows.second
    )
    density = density.select_rows(np.argsort(pair_of_row, kind="stable"))
    rows = density.rows
    cells = CovariateCells(
        np.sort(pair_of_row),
        rows.first,
        rows.second,
        rows.wins,
        rows.losses,
        rows.tied,
        rows.x,
        None,
    )
    outcome_names = ("wins", "losses")
    if rows.has_ties:
        outcome_names = ("wins", "tied", "losses")
    questions = build_questions(data, outcome_names, cells)
    return questions, [
        EqualRespondents.from_times(_make_pair_probabilities(density, points), questions.times)
    ]


def _make_pair_probabilities(density: "Density", points: np.ndarray) -> AnswerProbabilities:
    """Return a function from a slice of pairs to outcome probabilities by draw."""
    from thali._inference.numerics.davidson_ties import compute_win_tie_loss

    lapse = density.rows.lapse
    has_ties = density.rows.has_ties

    def compute_slice(row_slice: slice) -> np.ndarray:
        """Return outcome probabilities of these pairs, (draws, outcomes)."""
        block_density = density.select_rows(row_slice)
        comparisons = [
            block_density.compare_at_points(block, points)
            for block in block_density.split_rows(points.shape[1])
        ]
        p = mix_with_guess(
            np.concatenate([block.split_probabilities()[0] for block in comparisons]).T, lapse
        )
        if has_ties:
            log_nu = np.concatenate([block.log_nu for block in comparisons]).T
            outcome_probabilities = compute_win_tie_loss(p, 1.0 - p, np.exp(log_nu))
        else:
            outcome_probabilities = stack_outcomes(p)
        return outcome_probabilities.reshape(len(p), -1)

    return compute_slice


def _check_sets(
    data: "Choices", density: Any, points: np.ndarray
) -> tuple[Questions, list[EqualRespondents]]:
    """Return each set as a question, with answer probabilities and counts by judge."""
    data = drop_tied_sets(data)
    questions = data.questions()
    log_worths = points[density.worths]
    if not density.n_judges:
        return questions, [
            EqualRespondents.from_times(
                _make_set_probabilities(density, data, log_worths), questions.times
            )
        ]
    set_counts = np.zeros((density.n_judges, len(questions.sizes)))
    if set_counts.size > _MAX_ROWS:
        raise DataError(
            f"The check is limited to {_MAX_ROWS:,} sets times judges, but there are"
            f" {set_counts.size:,}."
        )
    np.add.at(set_counts, (data.respondent, data.set_of[data.choice]), data.times)
    judge_weights = zip(np.exp(density.log_discriminations(points)), set_counts, strict=True)
    return questions, [
        EqualRespondents.from_times(
            _make_set_probabilities(density, data, d * log_worths), judge_times
        )
        for d, judge_times in judge_weights
    ]


def _make_set_probabilities(
    density: Any, data: "Choices", log_worths: np.ndarray
) -> AnswerProbabilities:
    """Return a function from a slice of sets to answer probabilities by draw."""
    from thali._worths.worth_draws import WorthDraws

    no_covariates = np.zeros((log_worths.shape[1], 0))
    return WorthDraws(
        list(data.labels),
        log_worths.T,
        None,
        no_covariates,
        (),
        no_covariates,
        density.rows.lapse,
        density.rows.rule,
        1,
    ).question_probabilities(data, False)
