"""Agreement of each judge with the others: predictive log probabilities of the answers."""

from typing import NamedTuple

import numpy as np

from .laplace_approximation import Marginal, find_mode
from .posterior_density import Density

# limits of judges, and of judges times rows, for separate fits without each judge
_MAX_REFITTED_JUDGES = 50
_MAX_REFITTED_ROWS = 500_000


class JudgeAgreement(NamedTuple):
    """Mean log probabilities of each judge's answers: predicted, expected, by chance."""

    score: np.ndarray  # of the judge's answers, predicted from the other judges with d = 1
    expected: np.ndarray  # mean score of a judge with d = 1 on the same comparisons
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do


def measure_agreement(marginal: Marginal) -> JudgeAgreement:
    """Measure how well worths from the other judges predict each judge's answers.

    The prediction is the mode without the answers of a judge, but with its log nu. With many judges
    or rows, it is a Newton step from the mode of all answers, which is close if each judge has a
    small share of them.
    """
    density = marginal.density
    judge_of_row = marginal.density.rows.judge
    spreads, mode = marginal.best
    if (
        density.n_judges <= _MAX_REFITTED_JUDGES
        and density.n_judges * len(judge_of_row) <= _MAX_REFITTED_ROWS
    ):
        densities_without_judge = [
            density.raise_to_power(judge_of_row != j) for j in range(density.n_judges)
        ]
        points_without_judge = np.column_stack(
            [find_mode(part, spreads, mode.point).point for part in densities_without_judge]
        )
    else:
        points_without_judge = mode.point[:, None] - mode.factor.solve(
            density.judge_scores(mode.point)
        )
    # how often a judge ties says nothing about agreement
    points_without_judge[density.nu] = mode.point[density.nu, None]
    return average_predictions(density, points_without_judge)


def average_predictions(density: Density, points: np.ndarray) -> JudgeAgreement:
    """Average the log probabilities of each judge's answers at a point per judge."""
    judge_of_row = density.rows.judge
    predictions = density.predict_judges(points)
    n_answers = np.bincount(judge_of_row, predictions.total, density.n_judges)

    def average_by_judge(values: np.ndarray) -> np.ndarray:
        """Average one value per row over each judge's answers, shape (n_judges,)."""
        return np.bincount(judge_of_row, values, density.n_judges) / np.maximum(n_answers, 1e-300)

    return JudgeAgreement(*map(average_by_judge, predictions[:3]))
