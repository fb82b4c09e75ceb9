"""The sparse multinomial logit by a normal approximation, for many rows: the approximation, and chains of its draws."""

from functools import partial
from typing import NamedTuple

import numpy as np

from thali.errors import DataError, DataWarning, Setting
from thali.inference.independent import BLOCK, IndependentDraws
from thali.inference.warn import warn

from .approximation import Expand, NormalPosterior
from .expansion import FEW_ROWS, MANY_ROWS, expansion_at
from .laplace import laplace_posterior
from .method import ENOUGH, MOST
from .sweep import Problem
from .variational import variational_posterior


def check_size(coefficients: int, rows: float) -> None:
    """Refuse a matrix that is too large, and warn of too few rows."""
    if coefficients > MOST:
        raise DataError(
            f"A normal approximation is for at most {MOST:,} coefficients of all classes, and these are "
            f"{coefficients:,}; set ",
            Setting("method", "polya-gamma"),
            " or ",
            Setting("method", "map"),
            ".",
        )
    if rows < ENOUGH * coefficients:
        warn(
            DataWarning(
                f"{rows:g} rows are fewer than {ENOUGH} for each of {coefficients:,} coefficients, so that standard "
                "deviations by the normal approximation are too small; set ",
                Setting("method", "polya-gamma"),
                ".",
            )
        )


def normal_posterior(
    problem: Problem, eta: float | None, is_variational: bool = False, expand: Expand | None = None
) -> NormalPosterior:
    """The approximation for these data; eta is fixed, or None if it is learned.

    Where the rows are elsewhere, the problem has none, and `expand` is the expansion over them.
    """
    if expand is None:
        expand = partial(expansion_at, problem, radii=radii_for(problem, float(problem.counts.sum())))
    return (variational_posterior if is_variational else laplace_posterior)(problem, eta, expand)


def radii_for(problem: Problem, rows: float) -> int:
    """Of the rule by which the log-likelihood of so many rows is averaged."""
    coefficients = (problem.classes - 1) * problem.covariates.shape[0]
    return MANY_ROWS if rows >= ENOUGH * coefficients else FEW_ROWS


class Record(NamedTuple):
    """The draws so far, as the samplers record them."""

    coef: np.ndarray  # (draws, K, m)
    log_likelihood: np.ndarray  # (draws,)
    scales: np.ndarray  # (draws, 2)


class NormalChain(IndependentDraws):
    """Draws from the approximation; their log-likelihoods are those of the expansion."""

    scale_rate = float("nan")  # there is no such move

    def __init__(self, problem: Problem, normal: NormalPosterior, draws: int, rng: np.random.Generator) -> None:
        self.problem, self.normal = problem, normal
        super().__init__(draws, rng)
        coef = np.zeros((draws, problem.classes, problem.covariates.shape[0]))
        self.record = Record(coef, np.zeros(draws), np.zeros((draws, 2)))

    def _block(self, rng: np.random.Generator) -> Record:
        from scipy.linalg import solve_triangular

        normal, at, K = self.normal, self.normal.expansion, self.problem.classes
        white = rng.standard_normal((normal.mean.size, BLOCK))
        moved = solve_triangular(normal.factor.T, white).T
        coef = np.zeros((BLOCK, K, normal.mean.size // (K - 1)))
        coef[:, np.arange(K) != self.problem.reference] = (normal.mean + moved).reshape(BLOCK, K - 1, -1)
        gain = moved @ at.gradient - 0.5 * np.einsum("ij,ij->i", moved @ at.curvature, moved)
        place = np.searchsorted(normal.shares.cumsum(), rng.random(BLOCK))
        eta = normal.etas[np.minimum(place, len(normal.etas) - 1)]
        return Record(coef, at.log_likelihood + gain, np.column_stack([eta, np.zeros(BLOCK)]))
