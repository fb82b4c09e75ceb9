"""How well the answers of all other judges predict those of each judge."""

from typing import NamedTuple

import numpy as np

from .density import Density
from .laplace import Mode


class Agreement(NamedTuple):
    """Mean log probabilities of comparisons, one a judge."""

    score: np.ndarray  # of a judge's answers as the others predict them, with d = 1
    expected: np.ndarray  # that a judge of d = 1 has on the same comparisons on average
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do


def agreement(density: Density, mode: Mode) -> Agreement:
    """The others' prediction is the mode after a step of Newton's method that takes the answers of a judge out."""
    others = mode.point[:, None] - mode.factor.solve(density.scores_of_judges(mode.point))
    found, judge = density.predicted(others), density.rows.judge

    def of_judges(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(judge, each, density.n_judges) for each in (values, found.total)]
        return sums[0] / np.maximum(sums[1], 1e-300)

    return Agreement(*map(of_judges, found[:3]))
