"""Chains of the sparse multinomial logit: starting values and recorded draws."""

from typing import Any, NamedTuple

import numpy as np

from thali._inference.chains import FixedChain

from .arguments import CoefficientPrior, SparseColumns
from .horseshoe import SLAB_SQUARE, TAU_SQUARE
from .sweep import (
    ACCEPTED,
    ETA,
    HORSESHOE,
    INTERCEPT_VARIANCE,
    LAPLACE,
    LOG_STEP,
    TRIED,
    CoefficientProblem,
    CoefficientState,
    run,
)
from .trajectory import TrajectorySpace, motion_of

PRIORS = {"laplace": LAPLACE, "horseshoe": HORSESHOE}
# of the horseshoe: Student's t that the largest coefficients come from
SLAB_DF, SLAB_SCALE = 4.0, 2.5


def problem_of(
    matrix: Any,
    codes: Any,
    classes: int,
    reference: int,
    prior: CoefficientPrior,
    wide: Any = None,
    counts: Any = None,
    trajectories: int = 0,
) -> CoefficientProblem:
    """Data and prior in the form that the sweeps read, or, of a sparse matrix, the normal
    approximations."""
    covariates: Any
    if isinstance(matrix, SparseColumns):  # which has the intercept's ones
        covariates, wide, (size, n) = matrix, False, matrix.shape
        penalised = size - prior.intercept
    else:
        full = np.column_stack([matrix, np.ones(len(matrix))]) if prior.intercept else matrix
        n, penalised = len(full), matrix.shape[1]
        wide = full.shape[1] > n if wide is None else wide
        covariates = np.array(full if wide else full.T, float, order="C")
    return CoefficientProblem(
        covariates,
        np.array(codes, np.int64),
        np.ones(n) if counts is None else np.array(counts, float),
        int(classes),
        int(reference),
        penalised,
        bool(wide),
        float(prior.shape),
        float(prior.rate),
        prior.eta is None,
        PRIORS[prior.name],
        float(prior.global_scale),
        SLAB_DF,
        SLAB_SCALE,
        int(trajectories),
    )


def start_of(
    problem: CoefficientProblem, eta: float | None, rng: np.random.Generator
) -> CoefficientState:
    """Starting values: coefficients that give linear predictors of about 2, different in every
    chain."""
    A = problem.covariates
    m, n = A.shape[::-1] if problem.wide else A.shape
    free = np.arange(problem.classes) != problem.reference
    size = np.sqrt((A**2).sum() / n)
    coef = np.where(
        free[:, None], rng.normal(size=(problem.classes, m)) * (2.0 / max(size, 1e-100)), 0.0
    )
    linear = np.ascontiguousarray(coef @ (A.T if problem.wide else A))
    variance = np.full((problem.classes, m), INTERCEPT_VARIANCE)
    real = np.zeros(6)
    real[ETA] = 1.0 if eta is None else eta
    real[LOG_STEP] = -1.0
    real[TAU_SQUARE] = problem.global_scale**2
    real[SLAB_SQUARE] = problem.slab_scale**2
    spread = np.full_like(variance, real[TAU_SQUARE])
    side = A.shape[0]
    room = np.empty(n), np.empty(n), np.empty_like(A), np.empty((side, side)), np.empty(side)
    return CoefficientState(coef, variance, spread, linear, real, *room)


class CoefficientDraws(NamedTuple):
    """Room for the draws of a chain."""

    coef: np.ndarray  # (draws, K, m)
    log_likelihood: np.ndarray  # (draws,)
    scales: np.ndarray  # (draws, 2): eta; of the horseshoe tau and c


class CoefficientChain(FixedChain):
    """One chain: its state, its record, and how far it is."""

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
        self.problem, self.rng = problem, rng
        self.state = start_of(problem, eta, rng)
        moved = problem.covariates.shape if problem.trajectories else (0, 0)
        self.motion = motion_of(problem.classes, *moved)
        super().__init__(draws, tune, thin)
        self.record = CoefficientDraws(
            np.zeros((draws, *self.state.coef.shape)), np.zeros(draws), np.zeros((draws, 2))
        )

    @property
    def scale_rate(self) -> float:
        """Share of the scale moves accepted since tuning ended."""
        real = self.state.real
        return float(real[ACCEPTED] / real[TRIED]) if real[TRIED] else float("nan")

    def run_until(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(
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
