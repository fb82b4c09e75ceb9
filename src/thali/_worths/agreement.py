"""How well the answers of all other judges predict those of each judge."""

from typing import NamedTuple

import numpy as np

from .laplace import Marginal, highest

# judges, and these times rows, up to which all is fitted again without each of them
_FEW, _REFITTED = 50, 500_000


class JudgeAgreement(NamedTuple):
    """Mean log probabilities of comparisons, one a judge."""

    score: np.ndarray  # of a judge's answers as the others predict them, with d = 1
    expected: np.ndarray  # that a judge of d = 1 has on the same comparisons on average
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do


def agreement(marginal: Marginal) -> JudgeAgreement:
    """The others' prediction is the mode without the answers of a judge; of many judges or rows,
    after a step of Newton's method that takes these out, which is near where a judge has a small
    share of them."""
    density, judge, (spreads, mode) = marginal.density, marginal.density.rows.judge, marginal.best
    if density.n_judges <= _FEW and density.n_judges * len(judge) <= _REFITTED:
        parts = [density.raise_to_power(judge != number) for number in range(density.n_judges)]
        others = np.column_stack([highest(each, spreads, mode.point).point for each in parts])
    else:
        others = mode.point[:, None] - mode.factor.solve(density.judge_scores(mode.point))
    found = density.predict_judges(others)

    def of_judges(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(judge, each, density.n_judges) for each in (values, found.total)]
        return sums[0] / np.maximum(sums[1], 1e-300)

    return JudgeAgreement(*map(of_judges, found[:3]))
