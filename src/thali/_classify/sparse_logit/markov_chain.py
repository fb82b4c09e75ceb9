"""Markov chains of the sparse logit: data, starting values and record."""

import math
from typing import Any

import numpy as np

from thali._inference.markov_chains import FixedChain

from .arguments import CoefficientPrior
from .covariate_columns import SparseColumns, add_intercept_column
from .gibbs_sweep import (
    ACCEPTED,
    ETA,
    INTERCEPT_VARIANCE,
    LOG_STEP,
    TRIED,
    CoefficientDraws,
    CoefficientProblem,
    CoefficientState,
    record_sweeps,
)
from .hamiltonian_moves import TrajectorySpace, allocate_trajectory_space


def build_coefficient_problem(
    matrix: Any,
    codes: np.ndarray,
    n_classes: int,
    reference_index: int,
    prior: CoefficientPrior,
    is_wide: bool | None = None,
    row_weights: np.ndarray | None = None,
    n_trajectories: int = 0,
) -> CoefficientProblem:
    """Return data and prior as the sampler and the approximations read them.

    The sampler requires a dense matrix.
    """
    covariates: Any
    if isinstance(matrix, SparseColumns):  # it contains the intercept's ones
        covariates = matrix
        is_wide = False
        n_columns, n = matrix.shape
        n_penalised = n_columns - prior.intercept
    else:
        columns = add_intercept_column(matrix, prior.intercept)
        n, n_penalised = matrix.shape
        if is_wide is None:
            is_wide = columns.shape[1] > n
        if not is_wide:
            columns = columns.T
        covariates = np.array(columns, float, order="C")
    if row_weights is None:
        row_weights = np.ones(n)
    return CoefficientProblem(
        covariates,
        np.array(codes, np.int64),
        np.array(row_weights, float),
        int(n_classes),
        int(reference_index),
        n_penalised,
        bool(is_wide),
        float(prior.shape),
        float(prior.rate),
        prior.eta is None,
        int(n_trajectories),
        np.delete(np.arange(n_classes), reference_index),
    )


def sample_start(
    problem: CoefficientProblem, eta: float | None, rng: np.random.Generator
) -> CoefficientState:
    """Return a starting state with linear predictors of about 2.

    They differ between chains.
    """
    A = problem.covariates
    columns = problem.columns
    m, n = columns.shape
    row_norm = np.sqrt((A**2).sum() / n)
    coef = rng.normal(size=(problem.classes, m)) * (2.0 / max(row_norm, 1e-100))
    coef[problem.reference] = 0.0
    predictors = np.ascontiguousarray(coef @ columns)
    variances = np.full((problem.classes, m), INTERCEPT_VARIANCE)
    real = np.zeros(4)
    real[ETA] = eta or 1.0
    real[LOG_STEP] = -1.0
    smaller_size = A.shape[0]
    return CoefficientState(
        coef,
        variances,
        predictors,
        real,
        np.empty(n),
        np.empty(n),
        np.empty_like(A),
        np.empty((smaller_size, smaller_size)),
        np.empty(smaller_size),
    )


class CoefficientChain(FixedChain):
    """One Markov chain of the coefficients with its recorded draws."""

    _PARTS = ("state", "motion", "sweeps")

    problem: "CoefficientProblem"
    state: "CoefficientState"
    motion: TrajectorySpace
    record: CoefficientDraws
    rng: np.random.Generator

    def __init__(
        self,
        problem: CoefficientProblem,
        eta: float | None,
        rng: np.random.Generator,
        draws: int,
        tune: int,
        thin: int,
    ) -> None:
        """Draw the starting state and allocate the record."""
        self.problem = problem
        self.rng = rng
        self.state = sample_start(problem, eta, rng)
        n_coefficients = 0
        n_rows = 0
        if problem.trajectories:
            n_coefficients, n_rows = problem.covariates.shape
        self.motion = allocate_trajectory_space(problem.classes, n_coefficients, n_rows)
        super().__init__(draws, tune, thin)
        self.record = CoefficientDraws(
            np.zeros((draws, *self.state.coef.shape)), np.zeros(draws), np.zeros(draws)
        )

    @property
    def scale_rate(self) -> float:
        """Acceptance rate of scale moves since tuning ended."""
        real = self.state.real
        if not real[TRIED]:
            return math.nan
        return float(real[ACCEPTED] / real[TRIED])

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        record_sweeps(
            self.rng,
            self.problem,
            self.state,
            self.motion,
            *self.record,
            self.sweeps,
            until,
            self.tune,
            self.thin,
        )
        self.sweeps = until
