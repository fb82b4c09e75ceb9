"""How well the answers of all other judges predict those of each judge."""

from typing import NamedTuple

import numpy as np

from ..outcomes import Counted, shares, terms, tie_ratio
from .density import Density, Rows
from .laplace import Mode


class Agreement(NamedTuple):
    """Mean log probabilities of comparisons, one a judge."""

    score: np.ndarray  # of a judge's answers as the others predict them, with d = 1
    expected: np.ndarray  # that a judge of d = 1 has on the same comparisons on average
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do


def agreement(density: Density, mode: Mode) -> Agreement:
    """The others' prediction is the mode after a step of Newton's method that takes the answers of a judge out."""
    rows = density.rows
    others = mode.point[:, None] - mode.factor.solve(density.scores_of_judges(mode.point))
    at = rows.period * density.n_options
    worths, beta = others[density.worths], others[density.beta]
    difference = worths[at + rows.first, rows.judge] - worths[at + rows.second, rows.judge]
    log_nu = others[density.nu][:, rows.judge]  # (1 or 0, rows)
    q, rest = shares(difference + (rows.x * beta[:, rows.judge].T).sum(axis=1))
    total = rows.wins + rows.losses + rows.tied

    def of_judges(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(rows.judge, each, density.n_judges) for each in (values, total)]
        return sums[0] / np.maximum(sums[1], 1e-300)

    half = np.full(len(total), 0.5)
    expected = _as_expected(rows, total, q, rest, log_nu)
    found = (terms(*each, log_nu) for each in ((rows, q, rest), (expected, q, rest), (rows, half, half)))
    return Agreement(*(of_judges(each.ravel()) for each in found))


def _as_expected(rows: Rows, total: np.ndarray, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray) -> Counted:
    """As many comparisons with the outcomes that their probabilities expect."""
    p = (1.0 - rows.lapse) * q + rows.lapse / 2.0
    ratio = tie_ratio(rows, q, rest, log_nu).ravel() if rows.has_ties else np.zeros_like(q)
    decided = total / (1.0 + ratio)
    return rows._replace(wins=decided * p, losses=decided * (1.0 - p), tied=total - decided)
